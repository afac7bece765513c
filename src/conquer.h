/* Eigenvalues and vectors of a tridiagonal matrix (conquer.c). */
#ifndef KERNELECT_CONQUER_H
#define KERNELECT_CONQUER_H

#include "env.h"

/* T = Q diag(d) Q', d (n) in the diagonal and out the values, ascending; e (n - 1) what is beside
 * it, lost; q (n x n) the vectors. `work`: ke_tridiagonal_work(n) doubles, `whole`:
 * ke_tridiagonal_whole(n) ints. 0 when the iteration fails, as it does on what is not finite. */
size_t ke_tridiagonal_work(size_t n);
size_t ke_tridiagonal_whole(size_t n);
int ke_tridiagonal_eigen(size_t n, double *d, double *e, double *q, double *work, int *whole,
                         const ke_env *env);

#endif
