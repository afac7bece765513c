/* Short vectors by plain loops: summed from the first element on, whatever the BLAS. */
#ifndef KERNELECT_VECTOR_H
#define KERNELECT_VECTOR_H

#include <stddef.h>

static inline void ke_clear(double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = 0.0;
}

static inline double ke_dot(const double *a, const double *b, size_t n)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* a += by b */
static inline void ke_add_scaled(double *a, size_t n, double by, const double *b)
{
  for (size_t i = 0; i < n; i++)
    a[i] += by * b[i];
}

#endif
