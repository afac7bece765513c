/* Kernels and tiles of their values (kernel.c). */
#ifndef KERNELECT_KERNEL_H
#define KERNELECT_KERNEL_H

#include "rows.h"

typedef enum { KE_LINEAR, KE_RBF, KE_LAPLACE, KE_POLYNOMIAL, KE_SIGMOID, KE_SPLINE } ke_kernel_type;

/* rbf exp(-scale d^2); laplace exp(-scale d); polynomial (scale <x,z> + offset)^degree;
 * sigmoid tanh(scale <x,z> + offset); linear and spline have no parameter. */
typedef struct {
  ke_kernel_type type;
  double scale, offset, degree;
} ke_kernel;

/* Whether values depend on differences of rows only, so that data may be centred. */
int ke_is_distance(const ke_kernel *kernel);

/* One column of a tile: rows i0 .. i0 + m of a against row j of b. `g` (length m) holds inner
 * products and becomes kernel values. Squared lengths are read from `norm` and `other`, so
 * that a caller can take one column of the data, `without`, out of g and lengths. */
typedef struct {
  const ke_kernel *kernel;
  const ke_rows *a, *b;
  size_t i0, m, j;
  const double *norm; /* m, of the rows of a */
  double other;       /* of row j of b */
  double top;         /* largest of norm, or 0: not known yet */
  size_t without;     /* SIZE_MAX: none */
  double *g;
} ke_column;

/* A column of the rows as they are; m and g are still to be set. */
ke_column ke_column_of(const ke_kernel *kernel, const ke_rows *a, size_t i0, const ke_rows *b,
                       size_t j);

void ke_finish(const ke_column *c);

/* Largest of n values, or 0 when all are negative. */
double ke_largest(const double *x, size_t n);

/* slope[i] (length m) = derivative of the kernel value g[i] by the squared distance (laplace; 0
 * at distance 0, where nothing depends on the columns) or by the inner product (linear,
 * polynomial, sigmoid), `inner` being what g held before ke_finish(). Not for rbf, whose slope
 * is -scale g, nor spline. */
void ke_slope(const ke_column *c, const double *inner, double *slope);

/* Kernel values of the same tile; each entry is the same whatever the tile. */
void ke_tile(const ke_kernel *kernel, const ke_rows *a, size_t i0, size_t m, const ke_rows *b,
             size_t j0, size_t k, double *out, size_t ldo);

/* k(x, x) for every row, out length n. */
void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out);

#endif
