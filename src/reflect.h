/* Householder reflections, many at a time (reflect.c). */
#ifndef KERNELECT_REFLECT_H
#define KERNELECT_REFLECT_H

#include "dense.h"

#define KE_REFLECTIONS 32 /* of a panel, at most */

/* The product (I - tau_0 v_0 v_0') (I - tau_1 v_1 v_1') ... = I - V T V'; arrays lent. */
typedef struct {
  ke_dense v; /* a reflection a column: zeros, a 1 in row number column, the rest */
  double *t;  /* upper triangular, as wide as v */
} ke_reflections;

/* A reflection that makes (alpha, x) a multiple of the first unit vector, which goes to *value: of
 * its vector the first element becomes 1, the others, `apart`, take the place of x. Its tau. */
double ke_reflection(size_t count, double *alpha, double *x, size_t apart, double *value);

/* Vectors into their columns: what lies below the diagonal of `from` (rows x columns), or, turned,
 * what lies right of it (columns x rows); then T. */
void ke_collect_reflections(const ke_reflections *h, const double *from, size_t ld, int turned,
                            const double *tau);

/* C = (I - V T V') C; work: columns of V times columns of C */
void ke_reflect(const ke_reflections *h, ke_dense c, double *work);

#endif
