/* Eigenvalues and vectors of a symmetric matrix (eigen.c). */
#ifndef KERNELECT_EIGEN_H
#define KERNELECT_EIGEN_H

#include "env.h"

/* `least` times the largest absolute value, they being in order; of -Inf that. */
double ke_eigen_floor(const double *values, size_t n, double least);

/* A = V diag(values) V', A n x n (its lower triangle is read; overwritten), values decreasing, V
 * (n x n) in `vectors`: of values not above ke_eigen_floor() the vectors are left undefined.
 * `work`: ke_eigen_work(n) doubles, `whole`: ke_eigen_whole(n) ints. KE_NOT_FINITE when the
 * iteration fails. */
size_t ke_eigen_work(size_t n);
size_t ke_eigen_whole(size_t n);
ke_status ke_symmetric_eigen(size_t n, double *a, double least, double *values, double *vectors,
                             double *work, int *whole, const ke_env *env);

#endif
