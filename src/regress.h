/* Least squares on a basis (regress.c). */
#ifndef KERNELECT_REGRESS_H
#define KERNELECT_REGRESS_H

#include "env.h"

/* Least squares of y on the first 1, 2, ..., L columns of z, with ridge, case weights and (if
 * asked for) an intercept. */
typedef struct {
  size_t n, L, k;
  double ridge;
  int intercept;        /* whether z and y are centred */
  const double *weight; /* n, positive, or NULL: all 1 */
  const double *from;   /* n x L: coordinates z; may be where Q goes */
  double *z;            /* out, n x L: Q, its rows divided by the root of the weight */
  double *mean;         /* out, L: (weighted) column means of z, or 0 */
  double *y;            /* n x k: in responses, out less their means */
  double *y_mean;       /* out, k */
  double *r;      /* out, L x L upper triangular: [root w (z - mean); root ridge I] = [Q; *] R */
  double *c;      /* out, L x k: coefficients of size l are R[l, l]^{-1} c[l, ] */
  int *dependent; /* out, L: whether a column of z adds nothing to those before it; its column of Q
                     is zero then, with a unit on the diagonal of R */
  double *rest;   /* out, L x L upper triangular: Q is z rest^{-1}, for those who multiply it by
                     something else anyway; or NULL: z is Q */
  double *extra;  /* work, L x L: the rows * */
  double *work;   /* work, L x (L + 1) */
  double total;   /* out: sum of the weights */
} ke_regression;

void ke_regress(ke_regression *g, const ke_env *env);

#endif
