/* Columns of data: spread and scaling (columns.c). */
#ifndef KERNELECT_COLUMNS_H
#define KERNELECT_COLUMNS_H

#include "env.h"

/* Standard deviation with n - 1 about `mean`; 0 for a single value or a constant. */
double ke_column_sd(const double *x, size_t n, double mean);

/* Whether no value is NaN or infinite. */
int ke_all_finite(const double *x, size_t n);

/* A number near the mean that can be taken from every value without rounding, else 0: a common
 * offset goes, and no digit with it. */
double ke_exact_shift(const double *x, size_t n);

/* The same from parts of a column: their sum, to twice the digits; what it suggests for all n
 * values; and whether that can be taken from every value of a part. */
typedef struct {
  double high, low;
} ke_long_sum;

void ke_sum_column(const double *x, size_t n, ke_long_sum *sum);
double ke_shift_of(ke_long_sum sum, double n);
int ke_shifts_exactly(const double *x, size_t n, double shift);

/* out[i] = (x[i] - centre) / scale */
void ke_scale_column(const double *x, size_t n, double centre, double scale, double *out);

/* Largest |k_ij - k_ji| and largest |k_ij| of a matrix (n x n), the latter INFINITY where an entry
 * is not finite; one pass. */
void ke_symmetry(const double *k, size_t n, double *gap, double *largest, const ke_env *env);

/* Euclidean distances of each row of x (n x d) to those after it, n (n - 1) / 2 of them in the
 * order of row pairs (1,2), (1,3), ...; each from its differences, whatever cancels. */
void ke_distances(const double *x, size_t n, size_t d, double *out, const ke_env *env);

#endif
