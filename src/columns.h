/* Columns of data: spread and scaling (columns.c). */
#ifndef KERNELECT_COLUMNS_H
#define KERNELECT_COLUMNS_H

#include <stddef.h>

/* Standard deviation with n - 1 about `mean`; 0 for a single value or a constant. */
double ke_column_sd(const double *x, size_t n, double mean);

/* out[i] = (x[i] - centre) / scale */
void ke_scale_column(const double *x, size_t n, double centre, double scale, double *out);

#endif
