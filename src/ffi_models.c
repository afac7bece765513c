#include "ffi.h"

#include <string.h>

static SEXP matrix_of(size_t rows, size_t columns)
{
  return Rf_allocMatrix(REALSXP, (int)rows, (int)columns);
}

/* Column means and z'z; z itself is centred in place, so it must belong to the caller alone. */
SEXP ffi_centred_crossprod(SEXP z, SEXP centre)
{
  const char *names[] = {"mean", "crossprod", ""};
  size_t n, L;
  ffi_matrix(z, &n, &L, "coordinates");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)L));
  SET_VECTOR_ELT(out, 1, matrix_of(L, L));
  ke_centred_crossprod(REAL(z), n, L, Rf_asLogical(centre), REAL(VECTOR_ELT(out, 0)),
                       REAL(VECTOR_ELT(out, 1)), &env);
  UNPROTECT(1);
  return out;
}

/* Largest and smallest value of every column of z v, a column each. */
SEXP ffi_extremes(SEXP z, SEXP v)
{
  size_t n, L, rows, k;
  const double *left = ffi_matrix(z, &n, &L, "coordinates"),
               *right = ffi_matrix(v, &rows, &k, "vectors");
  ffi_assert(rows == L, "dimensions");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(matrix_of(k, 2));
  ke_extremes(left, n, L, right, k, REAL(out), ffi_doubles(KE_EXTREME_ROWS * k), &env);
  UNPROTECT(1);
  return out;
}

SEXP ffi_gram_product(SEXP K, SEXP v, SEXP centre)
{
  size_t n, m, rows, k;
  const double *gram = ffi_matrix(K, &n, &m, "K"), *vectors = ffi_matrix(v, &rows, &k, "vectors");
  ffi_assert(n == m && rows == n, "dimensions");
  const ke_env env = ffi_env_serial();
  double *copy = ffi_doubles(n * k);
  memcpy(copy, vectors, n * k * sizeof(double));
  SEXP out = PROTECT(matrix_of(n, k));
  ke_gram_product(gram, n, copy, k, Rf_asLogical(centre), REAL(out), &env);
  UNPROTECT(1);
  return out;
}
