/* Weighted sums of kernel matrices (fusion.c). */
#ifndef KERNELECT_FUSION_H
#define KERNELECT_FUSION_H

#include "env.h"

/* out (n x n) = sum of weights[m] k[m] over `count` matrices, n x n each. */
void ke_fuse(const double *const *k, const double *weights, size_t count, size_t n, double *out,
             const ke_env *env);

/* a'Ka, K n x n. */
double ke_quadratic_form(const double *k, size_t n, const double *a);

#endif
