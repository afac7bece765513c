/* Exact leave-one-out for every ridge, at one size; the regression has ridge 0 (ridges.c). */
#ifndef KERNELECT_RIDGES_H
#define KERNELECT_RIDGES_H

#include "bidiagonal.h"
#include "loo.h"

/* loss and error: one for each of `count` positive ridges. Doubles of work: as `o` is, but for
 * that. `next`: a factor of the same regression to be made bidiagonal as well, while threads are
 * busy with the rows; or NULL. */
size_t ke_ridge_work(const ke_loo *o, size_t count, int threads);
void ke_ridge_loo(const ke_loo *o, const ke_bidiagonal *b, const double *ridge, size_t count,
                  ke_bidiagonal *next, const ke_env *env);

/* What turns rows of Q into those of q, where q q' is what they add to the hat matrix at a ridge.
 * out: size x size, work: 4 size. */
void ke_ridge_turn(const ke_bidiagonal *b, double ridge, double *out, double *work,
                   const ke_env *env);

#endif
