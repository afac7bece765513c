/* The factor of least squares made bidiagonal (bidiagonal.c). */
#ifndef KERNELECT_BIDIAGONAL_H
#define KERNELECT_BIDIAGONAL_H

#include "regress.h"

/* R' = V B P' with R of the first `size` columns, V and P orthogonal, B upper bidiagonal. */
typedef struct {
  size_t size;
  double *a;               /* work, size x size (ke_ridge_loo(): where the fit has a `rest`) */
  double *p;               /* out, size x size */
  double *diagonal, *over; /* out, size each; over[j] is right of diagonal[j] */
  double *work;            /* ke_bidiagonal_work() doubles */
} ke_bidiagonal;

size_t ke_bidiagonal_work(size_t size);
double ke_bidiagonal_flops(size_t size); /* as long as so many of products take */
void ke_bidiagonalise(const ke_regression *g, ke_bidiagonal *b, const ke_env *env);

#endif
