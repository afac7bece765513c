/* Least squares on a basis (regress.c). */
#ifndef KERNELECT_REGRESS_H
#define KERNELECT_REGRESS_H

#include "env.h"

/* Least squares of y on the first 1, 2, ..., L columns of z, with intercept and ridge. */
typedef struct {
  size_t n, L, k;
  double ridge;
  double *z;      /* n x L: in coordinates, out Q */
  double *mean;   /* out, L: column means of z */
  double *y;      /* n x k: in responses, out less their means */
  double *y_mean; /* out, k */
  double *r;      /* out, L x L upper triangular: [z - mean; sqrt(ridge) I] = [Q; *] R */
  double *c;      /* out, L x k: Q'y; coefficients of size l are R[l, l]^{-1} c[l, ] */
  double *extra;  /* work, L x L: the rows * */
  double *work;   /* work, L x (L + 1) */
} ke_regression;

void ke_regress(ke_regression *g, const ke_env *env);

/* error[l]: leave-one-out error with the first l + 1 columns, the mean squared error or, with
 * label (the class 0..k-1 of every row; y its indicators), the share of wrong classes; NaN where
 * a leverage is 1. After ke_regress(). work: KE_LOO_ROWS * (k + 1) doubles. */
#define KE_LOO_ROWS 512
void ke_leave_one_out(const ke_regression *g, const int *label, double *error, double *work,
                      const ke_env *env);

#endif
