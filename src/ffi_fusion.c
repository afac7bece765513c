#include "ffi.h"

/* The matrices of a list, all n x n. */
static const double **gram_pointers(SEXP grams, size_t *n)
{
  ffi_assert(TYPEOF(grams) == VECSXP && XLENGTH(grams) > 0, "grams");
  const size_t count = (size_t)XLENGTH(grams);
  const double **out = (const double **)R_alloc(count, sizeof(double *));
  for (size_t m = 0; m < count; m++) {
    size_t rows, columns;
    out[m] = ffi_matrix(VECTOR_ELT(grams, (R_xlen_t)m), &rows, &columns, "gram");
    *n = m ? *n : rows;
    ffi_assert(rows == *n && columns == *n, "gram");
  }
  return out;
}

SEXP ffi_fuse(SEXP grams, SEXP weights)
{
  size_t n;
  const double **k = gram_pointers(grams, &n);
  const size_t count = (size_t)XLENGTH(grams);
  const double *w = ffi_optional(weights, count, "weights");
  ffi_assert(w != NULL, "weights");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
  ffi_large_pages(REAL(out), n * n * sizeof(double));
  ke_fuse(k, w, count, n, REAL(out), &env);
  UNPROTECT(1);
  return out;
}

SEXP ffi_centred_system(SEXP K, SEXP w, SEXP means, SEXP nu)
{
  size_t n, columns;
  const double *k = ffi_matrix(K, &n, &columns, "K");
  ffi_assert(columns == n, "K");
  const double *cases = ffi_optional(w, n, "w"), *m = ffi_optional(means, n, "means");
  ffi_assert(cases != NULL && m != NULL, "w");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
  ke_centred_system(k, cases, m, Rf_asReal(nu), n, REAL(out), &env);
  UNPROTECT(1);
  return out;
}

/* sum over the columns of `a` of a'Ka, for every matrix of the list */
SEXP ffi_forms(SEXP grams, SEXP a)
{
  size_t n = 0, rows, columns;
  const double **k = gram_pointers(grams, &n);
  const double *v = ffi_matrix(a, &rows, &columns, "a");
  ffi_assert(rows == n, "a");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(grams)));
  for (R_xlen_t m = 0; m < XLENGTH(grams); m++) {
    R_CheckUserInterrupt();
    double sum = 0.0;
    for (size_t c = 0; c < columns; c++)
      sum += ke_quadratic_form(k[m], n, v + c * n);
    REAL(out)[m] = sum;
  }
  UNPROTECT(1);
  return out;
}
