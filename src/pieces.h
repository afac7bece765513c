/* Dense products and factorisations in pieces, between which an interrupt is answered
 * and which threads share (pieces.c): none is summed by two, so that results do not depend on them.
 */
#ifndef KERNELECT_PIECES_H
#define KERNELECT_PIECES_H

#include "dense.h"
#include "env.h"

/* Upper triangle of C (n x n) = A'A + beta C, A m x n. */
void ke_crossprod_upper(size_t n, size_t m, const double *a, size_t lda, double beta, double *c,
                        size_t ldc, const ke_env *env);

/* C = alpha A B + beta C. */
void ke_add_multiple(double alpha, ke_dense a, ke_dense b, double beta, ke_dense c,
                     const ke_env *env);

/* W = A'B + beta W, and B = B - A W; W has the columns of A as rows, without gaps. */
void ke_product_transposed(ke_dense a, ke_dense b, double beta, double *w, const ke_env *env);
void ke_take_product(ke_dense a, const double *w, ke_dense b, const ke_env *env);

/* B (m x n) = B R^{-1}, R n x n upper triangular. */
void ke_divide_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                     const ke_env *env);

/* B (n x k) = R^{-1} B, or R'^{-1} B where `turned`. */
void ke_solve_upper(int turned, size_t n, size_t k, const double *r, size_t ldr, double *b,
                    const ke_env *env);

/* B (m x n) = B R. */
void ke_times_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                    const ke_env *env);

/* R (n x n, upper triangular, zeros below) = S R, S upper triangular. */
void ke_multiply_upper(size_t n, const double *s, size_t lds, double *r, size_t ldr,
                       const ke_env *env);

/* Upper triangle of A (n x n) = its Cholesky factor; 0 when A is not positive definite. The rest of
 * A is neither read nor written. */
int ke_cholesky_upper(size_t n, double *a, size_t lda, const ke_env *env);

/* B (n x k) = A^{-1} B, few columns; A (n x n) is lost. 0 when A is singular to rounding. work: 4
 * n, whole: 2 n. */
int ke_solve(size_t n, size_t k, double *a, double *b, double *work, int *whole, const ke_env *env);

#endif
