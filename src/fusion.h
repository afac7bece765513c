/* Weighted sums of kernel matrices (fusion.c). */
#ifndef KERNELECT_FUSION_H
#define KERNELECT_FUSION_H

#include "env.h"

/* out (n x n) = sum of weights[m] k[m] over `count` matrices, n x n each. */
void ke_fuse(const double *const *k, const double *weights, size_t count, size_t n, double *out,
             const ke_env *env);

/* out (n x n) = sqrt(w_i w_j) (k_ij - means_i - means_j + c) + nu on the diagonal; `means` = K w
 * over the sum of w, c their weighted mean. */
void ke_centred_system(const double *k, const double *w, const double *means, double nu, size_t n,
                       double *out, const ke_env *env);

/* a'Ka, K n x n. */
double ke_quadratic_form(const double *k, size_t n, const double *a);

#endif
