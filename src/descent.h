/* Coordinate descent on a quadratic program whose matrix has a factor (descent.c). */
#ifndef KERNELECT_DESCENT_H
#define KERNELECT_DESCENT_H

#include "env.h"

/* Minimise 1/2 b'(K + spread 11')b - (linear - level)'b over lower <= b <= upper, K_ij = sum_l
 * scale_l z_li z_lj: with level raised by spread sum(b) from solution to solution, sum(b) goes to
 * 0. */
typedef struct {
  size_t n, d;
  const double *z;                      /* d x n: a column a row of the data */
  const double *scale;                  /* d */
  const double *diagonal;               /* n: K_ii */
  const double *linear, *lower, *upper; /* n each */
  double level, spread;
} ke_descent;

/* One visit to each of the `count` rows of `order` (0, 1, ...) in turn, each put to its minimum.
 * b (n), v (d: scale times z b) and *sum (of b) go along; slope (n) gets what each row saw of its
 * gradient. Returns the largest violation of the optimality conditions met. */
double ke_descend(const ke_descent *p, const int *order, size_t count, double *b, double *v,
                  double *sum, double *slope, const ke_env *env);

#endif
