/* The exponential of many numbers (exp.c). */
#ifndef KERNELECT_EXP_H
#define KERNELECT_EXP_H

#include <stddef.h>

/* out[i] = exp(x[i]), relative error below 1e-15; x and out may be the same array. */
void ke_exp(const double *x, double *out, size_t n);

#endif
