/* Derivatives of sums of kernel values by scale factors (gradient.c). */
#ifndef KERNELECT_GRADIENT_H
#define KERNELECT_GRADIENT_H

#include "kernel.h"

typedef struct {
  ke_kernel kernel; /* one that has slopes */
  size_t n, d;
  const double *x;            /* n x d, not weighted */
  ke_rows rows;               /* x times scale factors w, packed for the kernel; columns whose
                                 factor is zero may be left out */
  const double *coefficients; /* n x n */
  double *work;               /* ke_gradient_work() */
} ke_gradient;

size_t ke_gradient_work(const ke_gradient *g);

/* out[e] (length d) = sum_ij coefficients_ij dk(x_i, x_j) / dv_e, v = w^2. */
void ke_scale_gradient(const ke_gradient *g, double *out, const ke_env *env);

#endif
