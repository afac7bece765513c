/* Exact leave-one-out for every size, at the ridge of the regression (nested.c). */
#ifndef KERNELECT_NESTED_H
#define KERNELECT_NESTED_H

#include "loo.h"

/* Whether a row has leverage 1 (to 1e-10) with all `size` columns. */
int ke_leverage_one(const ke_loo *s, const ke_env *env);

/* What the limit of a vanishing ridge needs, t (size x size): see nested.c. */
void ke_nested_inverse(const ke_regression *g, size_t size, double *t, const ke_env *env);

/* loss and error: one for each of 1 ... size columns. `inverse` from ke_nested_inverse(), or NULL
 * when no row has leverage 1. */
size_t ke_nested_work(size_t size, size_t k, int threads);
void ke_nested_loo(const ke_loo *s, const double *inverse, const ke_env *env);

#endif
