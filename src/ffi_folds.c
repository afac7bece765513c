#include "ffi.h"

/* Rows by fold, numbered from 1 without a gap, in their order within each; the number of folds. */
static size_t sort_folds(SEXP fold, size_t n, size_t *first, size_t *rows)
{
  size_t count = 0;
  ffi_assert(TYPEOF(fold) == INTSXP && (size_t)XLENGTH(fold) == n, "folds");
  for (size_t f = 0; f <= n; f++)
    first[f] = 0;
  for (size_t i = 0; i < n; i++) {
    const int f = INTEGER(fold)[i];
    ffi_assert(f >= 1 && (size_t)f <= n, "folds");
    first[f]++;
    count = (size_t)f > count ? (size_t)f : count;
  }
  for (size_t f = 1; f <= count; f++) {
    ffi_assert(first[f] > 0, "folds");
    first[f] += first[f - 1];
  }
  for (size_t i = n; i-- > 0;)
    rows[--first[INTEGER(fold)[i]]] = i;
  for (size_t f = 0; f < count; f++)
    first[f] = first[f + 1];
  first[count] = n;
  return count;
}

/* Residuals of every row from the fit without its fold (1, 2, ..., none empty), a matrix for each
 * assignment; NULL where one cannot be left out. `fit` is that of ffi_regress() without ridge. */
SEXP ffi_without_folds(SEXP fit, SEXP size, SEXP ridge, SEXP folds)
{
  const ke_regression g = ffi_regression(fit);
  const ke_env env = ffi_regression_env(fit);
  const double asked = Rf_asReal(size), penalty = Rf_asReal(ridge);
  ffi_assert(asked >= 1.0 && asked <= (double)g.L, "size");
  ffi_assert(penalty > 0.0 && !g.rest, "ridge");
  ffi_assert(TYPEOF(folds) == VECSXP, "folds");
  const size_t n = g.n, k = g.k, s = (size_t)asked;
  const ke_hat h = {&g,
                    s,
                    penalty,
                    ffi_doubles(n * (s + 1)),
                    ffi_doubles(n * k),
                    ffi_doubles(2 * s * s + (s + 1) * k)};
  size_t *first = ffi_sizes(n + 1), *rows = ffi_sizes(n);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, XLENGTH(folds)));
  int good = ke_find_hat(&h, &env);
  for (R_xlen_t a = 0; good && a < XLENGTH(folds); a++) {
    const void *before = vmaxget();
    ke_folds f = {&h,
                  sort_folds(VECTOR_ELT(folds, a), n, first, rows),
                  first,
                  rows,
                  NULL,
                  NULL,
                  (int *)ffi_alloc((s + 1) * (size_t)env.threads, sizeof(int))};
    f.out = REAL(SET_VECTOR_ELT(out, a, Rf_allocMatrix(REALSXP, (int)n, (int)k)));
    f.work = ffi_doubles(ke_folds_work(&f) * (size_t)env.threads);
    good = ke_without_folds(&f, &env);
    vmaxset(before);
  }
  UNPROTECT(1);
  return good ? out : R_NilValue;
}
