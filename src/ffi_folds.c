#include "ffi.h"

#include <math.h>
#include <string.h>

/* Row numbers of fold f, from 0. */
static size_t rows_of_fold(const int *fold, size_t n, int f, size_t *rows)
{
  size_t m = 0;
  for (size_t i = 0; i < n; i++)
    if (fold[i] == f)
      rows[m++] = i;
  return m;
}

/* Rows of the largest fold; folds are numbered from 1. */
static size_t largest_fold(SEXP folds, size_t n, size_t *counts)
{
  size_t most = 0;
  for (R_xlen_t a = 0; a < XLENGTH(folds); a++) {
    SEXP fold = VECTOR_ELT(folds, a);
    ffi_assert(TYPEOF(fold) == INTSXP && (size_t)XLENGTH(fold) == n, "folds");
    memset(counts, 0, n * sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
      const int f = INTEGER(fold)[i];
      ffi_assert(f >= 1 && (size_t)f <= n, "folds");
      counts[f - 1]++;
      most = counts[f - 1] > most ? counts[f - 1] : most;
    }
  }
  return most;
}

typedef struct {
  const ke_hat *h;
  size_t *rows;
  double *left, *work;
  int *pivot;
} lent;

/* One assignment; 0 where a fold cannot be left out. */
static int leave_out(const lent *w, const int *fold, double *out, const ke_env *env)
{
  const ke_regression *g = w->h->g;
  for (size_t f = 1; f <= g->n; f++) {
    const size_t m = rows_of_fold(fold, g->n, (int)f, w->rows);
    if (m == 0)
      break;
    if (!ke_without_rows(w->h, w->rows, m, w->left, w->work, w->pivot, env))
      return 0;
    for (size_t j = 0; j < g->k; j++)
      for (size_t i = 0; i < m; i++)
        out[w->rows[i] + j * g->n] =
            w->left[i + j * m] / (g->weight ? sqrt(g->weight[w->rows[i]]) : 1.0);
  }
  return 1;
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
  size_t *rows = (size_t *)ffi_alloc(n, sizeof(size_t));
  const size_t most = largest_fold(folds, n, rows);
  const ke_hat h = {&g,
                    s,
                    penalty,
                    ffi_doubles(n * (s + 1)),
                    ffi_doubles(n * k),
                    ffi_doubles(2 * s * s + (s + 1) * k)};
  const lent w = {&h, rows, ffi_doubles(most * k),
                  ffi_doubles(most * (s + 1) + (s + 1) * (s + 1 + k)),
                  (int *)ffi_alloc(s + 1, sizeof(int))};
  SEXP out = PROTECT(Rf_allocVector(VECSXP, XLENGTH(folds)));
  int good = ke_find_hat(&h, &env);
  for (R_xlen_t a = 0; good && a < XLENGTH(folds); a++) {
    SET_VECTOR_ELT(out, a, Rf_allocMatrix(REALSXP, (int)n, (int)k));
    good = leave_out(&w, INTEGER(VECTOR_ELT(folds, a)), REAL(VECTOR_ELT(out, a)), &env);
  }
  UNPROTECT(1);
  return good ? out : R_NilValue;
}
