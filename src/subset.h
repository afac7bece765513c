/* Searches over sets of columns (subset.c). */
#ifndef KERNELECT_SUBSET_H
#define KERNELECT_SUBSET_H

#include "kernel.h"

/* Rows and columns of a tile of column kernels. */
#define KE_SUBSET_TILE 32

/* The one-column kernel of column e is `kernel` on that column alone. Rows and columns are packed
 * for the blocks of the kernel. */
typedef struct {
  ke_kernel kernel;
  size_t n, d;
  const double *x;       /* n x d */
  ke_rows target;        /* rows of U, the target being T = U U' */
  const ke_rows *column; /* d: each column packed by itself */
  ke_rows rows;          /* all columns, lent for ke_pack() */
} ke_subset;

/* Doubles that `work` must hold for any of the three. */
size_t ke_subset_work(size_t d, const ke_env *env);

/* For every pair of columns (e, f) the product kernel's <K,T> into kt and <K,K> into kk, both
 * (d + 1) x (d + 1); row and column d stand for the constant 1, so hold single columns. */
void ke_subset_pairs(const ke_subset *s, double *kt, double *kk, double *work, const ke_env *env);

/* The same sums (length d) for the product kernel of the columns chosen (1 in `chosen`, length
 * d, else 0) and one more, for every column not chosen. */
void ke_subset_extend(ke_subset *s, const double *chosen, double *kt, double *kk, double *work,
                      const ke_env *env);

/* <K,T> (length d) of `kernel` (without parts) on the columns chosen but one, for every column
 * chosen. */
void ke_subset_reduce(ke_subset *s, const double *chosen, double *kt, double *work,
                      const ke_env *env);

#endif
