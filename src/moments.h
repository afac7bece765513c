/* Means and deviations of columns that come in pieces (moments.c). */
#ifndef KERNELECT_MOMENTS_H
#define KERNELECT_MOMENTS_H

#include "env.h"

/* A sum to twice the digits of a double. */
typedef struct {
  double high, low;
} ke_twofold;

/* Of n values x: the sums of t = (x - shift) / unit and of t^2. */
typedef struct {
  double n, shift, unit; /* unit: a power of two, at least every |x - shift| */
  ke_twofold sum, squares;
} ke_moments;

/* Of a column, n >= 0. */
ke_moments ke_column_moments(const double *x, size_t n);

/* Of two columns, one below the other. */
ke_moments ke_join_moments(ke_moments a, ke_moments b);

/* Mean and standard deviation (divisor n - 1; 0 for a constant column and for a single value). Once
 * rounded they are the same whatever the pieces and their order were. */
void ke_mean_and_sd(ke_moments m, double *mean, double *sd);

#endif
