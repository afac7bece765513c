/* Sums over the strips of a scaled Gram matrix (strips.c), for criterion.c alone. */
#ifndef KERNELECT_STRIPS_H
#define KERNELECT_STRIPS_H

#include "criterion.h"

/* There are two families of P, T o H and F o H, each with a member for every block of columns that
 * the kernel looks at: first those of T o H, then those of F o H. */

/* Whether the block of this member is looked at through distances. */
int ke_family_is_distance(const ke_criterion *c, size_t family);

/* Its totals: x_d' P x_d (d), then the row sums of P (n), each over half of the matrix. The values
 * before all of them, c->sums[0] and [1], are half <K,T> and <K,F>. */
double *ke_family_sums(const ke_criterion *c, size_t family);

/* All totals for the rows packed in c. */
void ke_strips_sum(ke_criterion *c, const ke_env *env);

#endif
