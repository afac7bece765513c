/* Gram matrices (gram.c). */
#ifndef KERNELECT_GRAM_H
#define KERNELECT_GRAM_H

#include "kernel.h"

/* Rows and columns of the tiles that streams over a Gram matrix work in. */
#define KE_TILE 240

/* All of K(a, b): a->n x b->n. */
void ke_gram_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b, double *out,
                   const ke_env *env);

/* K(a, a), exactly symmetric, half of it computed. */
void ke_gram(const ke_kernel *kernel, const ke_rows *a, double *out, const ke_env *env);

#endif
