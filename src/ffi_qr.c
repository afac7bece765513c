#include "ffi.h"

#include <math.h>
#include <string.h>

#define SLAB 512 /* rows that join at a time: they stay in the cache */

/* A copy of R (p x p), which may be NULL, and room for rows that join it. */
static ke_qr grown(SEXP r, size_t p, size_t rows, SEXP out)
{
  size_t height = 0, width = 0;
  const double *old = r == R_NilValue ? NULL : ffi_matrix(r, &height, &width, "r");
  ffi_assert(!old || (height == p && width == p), "dimensions");
  const ke_qr q = {p, rows, REAL(out), ffi_doubles(rows * p), ffi_doubles(ke_qr_work(p))};
  if (old)
    memcpy(q.r, old, p * p * sizeof(double));
  else
    memset(q.r, 0, p * p * sizeof(double));
  return q;
}

/* R (p x p, upper triangular) with the rows of a matrix (m x p) joined; R may be NULL. */
SEXP ffi_qr_append(SEXP r, SEXP rows)
{
  size_t m, p;
  const double *from = ffi_matrix(rows, &m, &p, "rows");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)p, (int)p));
  const ke_qr q = grown(r, p, m, out);
  memcpy(q.rows, from, m * p * sizeof(double));
  ke_qr_append(&q, &env);
  UNPROTECT(1);
  return out;
}

/* Rows [i, i + m) of a column of n, times the roots of their weights. */
static void slab_column(const double *column, size_t m, const double *weight, double *out)
{
  for (size_t k = 0; k < m; k++)
    out[k] = (column ? column[k] : 1.0) * (weight ? sqrt(weight[k]) : 1.0);
}

/* R of [1 z y], rows times the roots of their weights (or NULL), joined to R (or NULL). */
SEXP ffi_qr_regression(SEXP r, SEXP z, SEXP y, SEXP weights)
{
  size_t n, L, rows, k;
  const double *left = ffi_matrix(z, &n, &L, "z"), *right = ffi_matrix(y, &rows, &k, "y");
  const double *weight = ffi_optional(weights, n, "weights");
  ffi_assert(rows == n, "dimensions");
  const size_t p = 1 + L + k;
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)p, (int)p));
  ke_qr q = grown(r, p, ke_smaller(SLAB, n), out);
  for (size_t i = 0; i < n; i += SLAB) {
    const size_t m = q.m = ke_smaller(SLAB, n - i);
    const double *w = weight ? weight + i : NULL;
    slab_column(NULL, m, w, q.rows);
    for (size_t l = 0; l < L; l++)
      slab_column(left + l * n + i, m, w, q.rows + (1 + l) * m);
    for (size_t l = 0; l < k; l++)
      slab_column(right + l * n + i, m, w, q.rows + (1 + L + l) * m);
    ke_qr_append(&q, &env);
  }
  UNPROTECT(1);
  return out;
}
