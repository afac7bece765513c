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
 * assignment; NaN for a fold that must be left out by refitting. `fit` is that of ffi_regress()
 * without ridge, `turn` that of its first columns at the ridge (folds.h). */
SEXP ffi_without_folds(SEXP fit, SEXP turn, SEXP folds)
{
  const ke_regression g = ffi_regression(fit);
  const ke_env env = ffi_regression_env(fit);
  ke_hat h = {.g = &g};
  size_t rows_of_turn;
  h.turn = ffi_matrix(turn, &rows_of_turn, &h.size, "turn");
  ffi_assert(rows_of_turn == h.size && h.size > 0 && h.size <= g.L && !g.rest, "turn");
  ffi_assert(TYPEOF(folds) == VECSXP, "folds");
  const size_t n = g.n, k = g.k, s = h.size;
  h.q = ffi_doubles(n * (s + 1));
  h.residual = ffi_doubles(n * k);
  h.work = ffi_doubles((s + 1) * k);
  size_t *first = ffi_sizes(n + 1), *rows = ffi_sizes(n);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, XLENGTH(folds)));
  ke_find_hat(&h, &env);
  for (R_xlen_t a = 0; a < XLENGTH(folds); a++) {
    const ffi_mark before = ffi_mark_memory();
    ke_folds f = {&h, sort_folds(VECTOR_ELT(folds, a), n, first, rows), first, rows, NULL, NULL};
    f.out = REAL(SET_VECTOR_ELT(out, a, Rf_allocMatrix(REALSXP, (int)n, (int)k)));
    f.work = ffi_doubles(ke_folds_work(&f) * (size_t)env.threads);
    ke_without_folds(&f, &env);
    ffi_return_to(before);
  }
  UNPROTECT(1);
  return out;
}
