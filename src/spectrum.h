/* What spectra of kernel matrices are computed from (spectrum.c). */
#ifndef KERNELECT_SPECTRUM_H
#define KERNELECT_SPECTRUM_H

#include "env.h"

/* Subtract from every column of z (n x L) its mean, which goes to mean (length L). */
void ke_centre_columns(double *z, size_t n, size_t L, double *mean, const ke_env *env);

/* Coordinates z (n x L), and their column means (NULL: they are taken as they are). */
typedef struct {
  size_t n, L;
  const double *z, *mean;
} ke_coordinates;

void ke_column_means(const double *z, size_t n, size_t L, double *mean, const ke_env *env);

/* out (n x count) = squared length of every row of z (n rows) in its first sizes[0], sizes[1], ...
 * columns, which increase. */
void ke_row_squares(const double *z, size_t n, const size_t *sizes, size_t count, double *out,
                    const ke_env *env);

/* out (L x L) = (z - mean)'(z - mean). work: ke_crossprod_work(L) doubles. */
size_t ke_crossprod_work(size_t L);
void ke_centred_crossprod(const ke_coordinates *c, double *out, double *work, const ke_env *env);

/* Largest and smallest value of every column of (z - mean) v, in the two columns of range (k x 2);
 * v L x k. work: KE_EXTREME_ROWS x (k + L) doubles. */
#define KE_EXTREME_ROWS 512
void ke_extremes(const ke_coordinates *c, const double *v, size_t k, double *range, double *work,
                 const ke_env *env);

/* out = H K H v with H = I - 11'/n when `centre`, else K v; K n x n symmetric, v and out n x k.
 * v is overwritten by H v. */
void ke_gram_product(const double *K, size_t n, double *v, size_t k, int centre, double *out,
                     const ke_env *env);

#endif
