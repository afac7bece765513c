/* Least squares on a basis without some of the rows at once (folds.c). */
#ifndef KERNELECT_FOLDS_H
#define KERNELECT_FOLDS_H

#include "regress.h"

/* What leaving out folds needs of the fit of a ridge, at a size. */
typedef struct {
  const ke_regression *g; /* after ke_regress(), without ridge */
  size_t size;
  const double *turn; /* size x size, times its transpose R (R'R + ridge)^{-1} R' */
  double *q; /* n x (size + 1): H = q q' is the hat matrix of rows times the root of weights */
  double *residual; /* n x k: of those rows */
  double *work;     /* (size + 1) x k */
} ke_hat;

/* Fill q and residual. */
void ke_find_hat(const ke_hat *h, const ke_env *env);

/* Rows of every fold, one fold after the other. */
typedef struct {
  const ke_hat *h;
  size_t count;               /* folds */
  const size_t *first, *rows; /* fold i: rows[first[i]] to rows[first[i + 1] - 1] */
  double *out;                /* n x k */
  double *work;               /* ke_folds_work() doubles a thread */
} ke_folds;

size_t ke_folds_work(const ke_folds *f);

/* Residuals of the rows of every fold from the fit without it; NaN for a fold whose rows hold all
 * but 1e-6 of a direction, and with it the digits. */
void ke_without_folds(const ke_folds *f, const ke_env *env);

#endif
