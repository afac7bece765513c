#include "ffi.h"

#include <string.h>

static SEXP matrix_of(size_t rows, size_t columns)
{
  return Rf_allocMatrix(REALSXP, (int)rows, (int)columns);
}

/* Column means (zeros unless `centre`), and the cross-products of what is left without them. */
SEXP ffi_centred_crossprod(SEXP z, SEXP centre, SEXP threads)
{
  const char *names[] = {"mean", "crossprod", ""};
  ke_coordinates c = {0};
  c.z = ffi_matrix(z, &c.n, &c.L, "coordinates");
  const ke_env env = ffi_env(threads);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP mean = SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)c.L));
  SEXP products = SET_VECTOR_ELT(out, 1, matrix_of(c.L, c.L));
  memset(REAL(mean), 0, c.L * sizeof(double));
  if (Rf_asLogical(centre) == TRUE) {
    ke_column_means(c.z, c.n, c.L, REAL(mean), &env);
    c.mean = REAL(mean);
  }
  ke_centred_crossprod(&c, REAL(products), ffi_doubles(ke_crossprod_work(c.L)), &env);
  UNPROTECT(1);
  return out;
}

/* Squared lengths of the rows in the first columns: a column of the answer for each of `sizes`,
 * which increase. */
SEXP ffi_row_squares(SEXP z, SEXP sizes)
{
  size_t n, L;
  const double *rows = ffi_matrix(z, &n, &L, "coordinates");
  ffi_assert(TYPEOF(sizes) == REALSXP, "sizes");
  const size_t count = (size_t)XLENGTH(sizes);
  size_t *upto = ffi_sizes(count);
  for (size_t s = 0; s < count; s++) {
    upto[s] = ffi_size(REAL(sizes)[s], "sizes");
    ffi_assert(upto[s] <= L && (s == 0 || upto[s] > upto[s - 1]), "sizes");
  }
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(matrix_of(n, count));
  ke_row_squares(rows, n, upto, count, REAL(out), &env);
  UNPROTECT(1);
  return out;
}

/* Largest and smallest value of every column of (z - mean) v, a column each; mean may be NULL. */
SEXP ffi_extremes(SEXP z, SEXP mean, SEXP v)
{
  size_t rows, k;
  ke_coordinates c = {0};
  c.z = ffi_matrix(z, &c.n, &c.L, "coordinates");
  c.mean = ffi_optional(mean, c.L, "mean");
  const double *vectors = ffi_matrix(v, &rows, &k, "vectors");
  ffi_assert(rows == c.L, "dimensions");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(matrix_of(k, 2));
  ke_extremes(&c, vectors, k, REAL(out), ffi_doubles(KE_EXTREME_ROWS * (k + c.L)), &env);
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
