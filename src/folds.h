/* Least squares on a basis without some of the rows at once (folds.c). */
#ifndef KERNELECT_FOLDS_H
#define KERNELECT_FOLDS_H

#include "regress.h"

/* What leaving out folds needs of the fit of a ridge, at a size. */
typedef struct {
  const ke_regression *g; /* after ke_regress(), without ridge */
  size_t size;
  double ridge; /* positive */
  double *q;    /* n x (size + 1): H = q q' is the hat matrix of rows times the root of weights */
  double *residual; /* n x k: of those rows */
  double *work;     /* 2 x size x size, and (size + 1) x k */
} ke_hat;

/* Fill q and residual; 0 when the ridge is nothing beside the columns. */
int ke_find_hat(const ke_hat *h, const ke_env *env);

/* Residuals (m x k) of `rows` (m of them) from the fit without them, times the root of weights.
 * work: m x (size + 1) + s x s + (size + 1) x k, s the smaller of m and size + 1; pivot: s. 0 when
 * there is no such fit. */
int ke_without_rows(const ke_hat *h, const size_t *rows, size_t m, double *out, double *work,
                    int *pivot, const ke_env *env);

#endif
