/* Matrices that are never held, and their sums (source.c). */
#ifndef KERNELECT_SOURCE_H
#define KERNELECT_SOURCE_H

#include "gram.h"

#define KE_TIE 1e-10 /* keys within this of the best are equal: lowest row wins */

/* A positive semi-definite matrix that is never held: the basis engine asks for its
 * diagonal, for tiles, and for the columns of a few gathered rows. */
enum { KE_CANDIDATES, KE_PICKS, KE_SINGLE, KE_SETS };

typedef struct ke_source ke_source;
struct ke_source {
  size_t n, width; /* rows; columns of the data behind an entry, a measure of its cost */
  void (*diagonal)(const ke_source *s, double *out);
  /* keep rows index[0..m) as a set; m is at most what the set was lent for */
  void (*gather)(ke_source *s, int set, const size_t *index, size_t m);
  /* rows i0..i0+m (i0 a multiple of KE_PANEL) by the members of a set */
  void (*against)(const ke_source *s, int set, size_t i0, size_t m, double *out, size_t ldo);
  /* members of set `rows` by members of set `cols` */
  void (*between)(const ke_source *s, int rows, int cols, double *out, size_t ldo);
  void (*tile)(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
               size_t ldo);
  int parallel; /* may be called from several threads at once */
  int cancels;  /* entries near zero are differences of larger numbers: zero is not exact */
  const size_t *index[KE_SETS]; /* members of the sets */
  size_t count[KE_SETS];
  /* from data */
  ke_kernel kernel;
  const ke_rows *rows;
  ke_rows set[KE_SETS];
  /* from a given matrix, n x n */
  const double *matrix;
  /* from elsewhere: a callback for K[i, j] with row numbers i, j (0-based) */
  void (*block)(void *data, const size_t *i, size_t m, const size_t *j, size_t k, double *out,
                size_t ldo);
  void *data;
  const double *given_diagonal;
  size_t *row_numbers; /* 0 .. n-1 */
  /* centred: k_ij - shift_i - shift_j + constant, on top of `inner` */
  ke_source *inner;
  const double *shift;
  double constant;
};

/* The surroundings for work on this source: one thread where it takes no more. */
ke_env ke_source_env(const ke_source *s, const ke_env *env);

/* Sources; the caller lends what the struct points to (set[] for data). */
ke_source ke_source_data(const ke_kernel *kernel, const ke_rows *rows);
ke_source ke_source_matrix(const double *matrix, size_t n);
ke_source ke_source_callback(size_t n);
ke_source ke_source_centred(ke_source *inner, const double *shift, double constant);

/* sums[i] = sum_j w_j k_ij, or w_j k_ij^2 when `square`. One pass over half
 * of the matrix. work: ke_row_sums_work(n, threads) doubles. */
size_t ke_row_sums_work(size_t n, int threads);
void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env);

/* The `count` rows nearest to the mean of all rows in the kernel space, nearest first, ties to
 * the lowest row. work: 2 n + ke_row_sums_work(n, threads) doubles. */
void ke_nearest_to_centre(const ke_source *s, size_t count, size_t *rows, double *work,
                          const ke_env *env);

/* shift[i] = mean over rows[0..count) of k_i,row, and the mean of those over the rows
 * themselves. work: KE_TILE * count doubles. */
double ke_centre_shift(ke_source *s, const size_t *rows, size_t count, double *shift, double *work,
                       const ke_env *env);

#endif
