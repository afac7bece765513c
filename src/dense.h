/* Dense matrices: products by the core's own inner products (dense.c), and triangular factors by
 * those (triangle.c). A fast BLAS is no faster, R's own takes eight times as long; and nothing
 * depends on which one is installed. Each call is one piece of work: pieces.h has what is long. */
#ifndef KERNELECT_DENSE_H
#define KERNELECT_DENSE_H

#include "rows.h"

#include <stddef.h>

/* A matrix with its leading dimension. What is only read is not written to. */
typedef struct {
  double *at;
  size_t rows, columns, ld;
} ke_dense;

/* Rows and columns of C that are multiplied at a time: whole blocks are best. */
#define KE_SIDE 96

/* The part of so many rows and columns from (i, j) on. */
static inline ke_dense ke_part(ke_dense a, size_t i, size_t j, size_t rows, size_t columns)
{
  const ke_dense part = {a.at + i + j * a.ld, rows, columns, a.ld};
  return part;
}

/* C = alpha op(A) op(B) + beta C; op is the matrix itself ('N') or transposed ('T'). */
void ke_gemm(char ta, char tb, double alpha, ke_dense a, ke_dense b, double beta, ke_dense c);

/* B made ready once for many products, in ke_panel_size(columns, rows) numbers of `panel`; and
 * C = A B, in ke_panel_size(rows, columns) numbers of A's for work: the same bits as above. */
ke_rows ke_make_ready(ke_dense b, double *panel);
void ke_times_ready(ke_dense a, const ke_rows *b, double *work, ke_dense c);

/* y = alpha op(A) x + beta y, the values of x `apart`. */
void ke_gemv(char ta, double alpha, ke_dense a, const double *x, size_t apart, double beta,
             double *y);

/* Upper triangle of C = alpha A'A + beta C. */
void ke_syrk_upper(double alpha, ke_dense a, double beta, ke_dense c);

/* With R upper triangular, what is below its diagonal being neither read nor written: */
void ke_trsm_right_upper(ke_dense r, ke_dense b);        /* B = B R^{-1} */
void ke_trsm_left_upper(char t, ke_dense r, ke_dense b); /* B = R^{-1} B, or R'^{-1} B */
void ke_trmm_right_upper(ke_dense r, ke_dense b);        /* B = B R */
void ke_trmm_left_upper(ke_dense r, ke_dense b);         /* B = R B */
void ke_trsm_left_unit_lower(ke_dense l, ke_dense b);    /* B = L^{-1} B, L with a unit diagonal */
int ke_potrf_upper(ke_dense a); /* A = its Cholesky factor; 0: A is not positive definite */

#endif
