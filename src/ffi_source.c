#include "ffi.h"

#include <string.h>

/* data is an R function of two vectors of row numbers that returns a checked matrix */
static void call_function(void *data, const size_t *i, size_t m, const size_t *j, size_t k,
                          double *out, size_t ldo)
{
  SEXP rows = PROTECT(ffi_row_numbers(i, m, SIZE_MAX));
  SEXP cols = PROTECT(ffi_row_numbers(j, k, SIZE_MAX));
  SEXP call = PROTECT(Rf_lang3((SEXP)data, rows, cols));
  SEXP value = PROTECT(Rf_eval(call, R_BaseEnv));
  ffi_assert(TYPEOF(value) == REALSXP && (size_t)XLENGTH(value) == m * k, "kernel block");
  for (size_t q = 0; q < k; q++)
    memcpy(out + q * ldo, REAL(value) + q * m, m * sizeof(double));
  UNPROTECT(4);
}

static ke_source source_of_function(SEXP list)
{
  SEXP f = ffi_element(list, "f"), diagonal = ffi_element(list, "diagonal");
  ffi_assert(Rf_isFunction(f) && TYPEOF(diagonal) == REALSXP, "kernel function");
  const size_t n = (size_t)XLENGTH(diagonal);
  return ke_source_callback(call_function, f, REAL(diagonal), n,
                            ffi_doubles(ke_source_callback_state(n)));
}

static ke_source source_of_matrix(SEXP K)
{
  size_t n, m;
  const double *values = ffi_matrix(K, &n, &m, "K");
  ffi_assert(n == m, "K");
  return ke_source_matrix(values, n, ffi_doubles(ke_source_matrix_state()));
}

static const ke_rows *rows_of(SEXP list, const char *name, const ke_kernel *kernel)
{
  ke_rows *rows = (ke_rows *)R_alloc(1, sizeof(ke_rows));
  *rows = ffi_rows_for(ffi_element(list, name), ffi_element(list, "shift"), kernel);
  return rows;
}

static ke_status source_of_sparse(SEXP x, SEXP z, const ke_kernel *kernel, ke_source *s)
{
  const ke_sparse *a = ffi_sparse(x, kernel, z == R_NilValue), *b = a;
  if (z == R_NilValue) {
    *s = ke_source_sparse(kernel, a, ffi_doubles(ke_source_sparse_state(a)));
  } else {
    b = ffi_sparse(z, kernel, 1);
    *s = ke_source_sparse_cross(kernel, a, b, ffi_doubles(ke_source_sparse_cross_state()));
  }
  return ke_sparse_within_range(kernel, a) && ke_sparse_within_range(kernel, b) ? KE_OK
                                                                                : KE_NOT_FINITE;
}

static ke_status source_of_rows(SEXP list, ke_source *s)
{
  SEXP x = ffi_element(list, "x"), z = ffi_element(list, "z");
  const size_t d = ffi_width(x);
  const ke_kernel kernel = ffi_kernel(ffi_element(list, "kernel"), d);
  ffi_assert(z == R_NilValue || ffi_width(z) == d, "columns of x and z");
  if (ffi_is_sparse(x))
    return source_of_sparse(x, z, &kernel, s);
  const ke_rows *a = rows_of(list, "x", &kernel);
  if (z == R_NilValue) {
    *s = ke_source_rows(&kernel, a, ffi_doubles(ke_source_rows_state(a)));
    return ke_within_range(&kernel, a) ? KE_OK : KE_NOT_FINITE;
  }
  const ke_rows *b = rows_of(list, "z", &kernel);
  *s = ke_source_cross(&kernel, a, b, ffi_doubles(ke_source_cross_state()));
  return ke_within_range(&kernel, a) && ke_within_range(&kernel, b) ? KE_OK : KE_NOT_FINITE;
}

ke_status ffi_source(SEXP list, ke_source *s)
{
  ffi_assert(TYPEOF(list) == VECSXP, "source");
  if (ffi_element(list, "K") != R_NilValue)
    *s = source_of_matrix(ffi_element(list, "K"));
  else if (ffi_element(list, "f") != R_NilValue)
    *s = source_of_function(list);
  else
    return source_of_rows(list, s);
  return KE_OK;
}
