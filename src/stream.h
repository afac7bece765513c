/* Passes over a source (stream.c). */
#ifndef KERNELECT_STREAM_H
#define KERNELECT_STREAM_H

#include "source.h"

/* Rows i0 .. i0 + m against the members of set KE_PICKS, of which there are `count`; threads
 * share them. */
void ke_columns(const ke_source *s, size_t count, size_t i0, size_t m, double *out, size_t ldo,
                const ke_env *env);

/* The same for all rows and the columns index[0..count), count at most KE_BLOCK, in pieces between
 * which an interrupt is looked at. */
void ke_source_columns(const ke_source *s, const size_t *index, size_t count, double *out,
                       size_t ldo, const ke_env *env);

/* sums[i] = sum_j w_j k_ij, or w_j k_ij^2 when `square`. One pass over half
 * of the matrix. work: ke_row_sums_work(n, threads) doubles. */
size_t ke_row_sums_work(size_t n, int threads);
void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env);

/* The `count` rows nearest to the mean of all rows in the kernel space, nearest first, ties to
 * the lowest row; one that counts several times stands there as often. times: n, positive, or NULL.
 * work: 2 n + ke_row_sums_work(n, threads) doubles. */
void ke_nearest_to_centre(const ke_source *s, const double *times, size_t count, size_t *rows,
                          double *work, const ke_env *env);

/* shift[i] = mean over rows[0..count) of k_i,row, and the mean of those over the rows
 * themselves. work: KE_TILE * count doubles. */
double ke_centre_shift(const ke_source *s, const size_t *rows, size_t count, double *shift,
                       double *work, const ke_env *env);

#endif
