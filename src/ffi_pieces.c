#include "ffi.h"

#include <string.h>

/* The upper Cholesky factor of a symmetric matrix; NULL when it is not positive definite. */
SEXP ffi_cholesky(SEXP a, SEXP threads)
{
  size_t n, m;
  const double *values = ffi_matrix(a, &n, &m, "matrix");
  ffi_assert(n == m && n > 0, "matrix");
  const ke_env env = ffi_env(threads);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
  double *r = REAL(out);
  for (size_t j = 0; j < n; j++) {
    memcpy(r + j * n, values + j * n, (j + 1) * sizeof(double));
    memset(r + j * n + j + 1, 0, (n - j - 1) * sizeof(double));
  }
  const int good = ke_cholesky_upper(n, r, n, &env);
  UNPROTECT(1);
  return good ? out : R_NilValue;
}

/* The solution of a x = b for a vector b; NULL when a is singular to rounding. */
SEXP ffi_solve(SEXP a, SEXP b)
{
  size_t n, m;
  const double *values = ffi_matrix(a, &n, &m, "matrix"), *right = ffi_optional(b, n, "b");
  ffi_assert(n == m && n > 0 && right != NULL, "matrix");
  const ke_env env = ffi_env_serial();
  double *lu = ffi_doubles(n * n);
  memcpy(lu, values, n * n * sizeof(double));
  SEXP out = PROTECT(ffi_vector(right, n));
  const int good =
      ke_solve(n, 1, lu, REAL(out), ffi_doubles(4 * n), (int *)ffi_alloc(2 * n, sizeof(int)), &env);
  UNPROTECT(1);
  return good ? out : R_NilValue;
}

/* a b */
SEXP ffi_product(SEXP a, SEXP b, SEXP threads)
{
  size_t n, inner, rows, m;
  const double *left = ffi_matrix(a, &n, &inner, "matrix"), *right = ffi_matrix(b, &rows, &m, "b");
  ffi_assert(rows == inner && n > 0 && inner > 0 && m > 0, "dimensions");
  const ke_env env = ffi_env(threads);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)m));
  ke_add_multiple(1.0, (ke_dense){(double *)left, n, inner, n},
                  (ke_dense){(double *)right, inner, m, inner}, 0.0, (ke_dense){REAL(out), n, m, n},
                  &env);
  UNPROTECT(1);
  return out;
}

/* (b - center) R^{-1}, R upper triangular. */
SEXP ffi_divide_upper(SEXP b, SEXP center, SEXP r)
{
  size_t m, n, rows, columns;
  const double *values = ffi_matrix(b, &m, &n, "matrix");
  const double *factor = ffi_matrix(r, &rows, &columns, "factor");
  const double *mean = ffi_optional(center, n, "center");
  ffi_assert(rows == n && columns == n && mean, "dimensions");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)m, (int)n));
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < m; i++)
      REAL(out)[i + j * m] = values[i + j * m] - mean[j];
  ke_divide_upper(m, n, factor, n, REAL(out), m, &env);
  UNPROTECT(1);
  return out;
}

/* R^{-1} b, R upper triangular. */
SEXP ffi_solve_upper(SEXP r, SEXP b, SEXP threads)
{
  size_t n, m, rows, k;
  const double *factor = ffi_matrix(r, &n, &m, "factor"), *right = ffi_matrix(b, &rows, &k, "b");
  ffi_assert(n == m && rows == n && n > 0 && k > 0, "dimensions");
  const ke_env env = ffi_env(threads);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)k));
  memcpy(REAL(out), right, n * k * sizeof(double));
  ke_solve_upper(0, n, k, factor, n, REAL(out), &env);
  UNPROTECT(1);
  return out;
}
