/* The BLAS, one call a product: what the core's own products are compared with. */
#ifndef ONE_CALL_H
#define ONE_CALL_H

#include "blas.h"

/* C (m x n) = alpha op(A) op(B) + beta C */
static inline void blas_gemm(char ta, char tb, size_t m, size_t n, size_t k, double alpha,
                             const double *a, size_t lda, const double *b, size_t ldb, double beta,
                             double *c, size_t ldc)
{
  int im = (int)m, in = (int)n, ik = (int)k, ia = (int)lda, ib = (int)ldb, ic = (int)ldc;
  F77_CALL(dgemm)(&ta, &tb, &im, &in, &ik, &alpha, a, &ia, b, &ib, &beta, c, &ic FCONE FCONE);
}

/* y = alpha op(A) x + beta y, A m x n */
static inline void blas_gemv(char ta, size_t m, size_t n, double alpha, const double *a, size_t lda,
                             const double *x, size_t incx, double beta, double *y)
{
  int im = (int)m, in = (int)n, ia = (int)lda, ix = (int)incx, iy = 1;
  F77_CALL(dgemv)(&ta, &im, &in, &alpha, a, &ia, x, &ix, &beta, y, &iy FCONE);
}

/* Upper triangle of C (n x n) = A'A + beta C, A m x n */
static inline void blas_syrk_upper(size_t n, size_t m, const double *a, size_t lda, double beta,
                                   double *c, size_t ldc)
{
  int in = (int)n, im = (int)m, ia = (int)lda, ic = (int)ldc;
  double one = 1.0;
  F77_CALL(dsyrk)("U", "T", &in, &im, &one, a, &ia, &beta, c, &ic FCONE FCONE);
}

/* B (m x n) = B R^{-1}, R n x n upper triangular */
static inline void blas_trsm_right_upper(size_t m, size_t n, const double *r, size_t ldr, double *b,
                                         size_t ldb)
{
  int im = (int)m, in = (int)n, ir = (int)ldr, ib = (int)ldb;
  double one = 1.0;
  F77_CALL(dtrsm)("R", "U", "N", "N", &im, &in, &one, r, &ir, b, &ib FCONE FCONE FCONE FCONE);
}

#endif
