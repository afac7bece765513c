/* How probable decisions make the classes (softmax.c). */
#ifndef KERNELECT_SOFTMAX_H
#define KERNELECT_SOFTMAX_H

#include "env.h"

/* p(class c of row i) is proportional to exp(b_0 d_ic + b_c). */
typedef struct {
  size_t n, k;           /* rows, classes */
  const double *d;       /* n x k: decisions */
  const double *weights; /* n */
  const int *label;      /* n: 0 ... k - 1, or -1 for none of them */
  double penalty;        /* half of it times |b|^2 joins the loss */
} ke_softmax;

/* At some b: the weighted log loss, and its derivatives. */
typedef struct {
  double loss, *gradient, *hessian; /* k + 1; k + 1 squared */
} ke_bend;

size_t ke_softmax_work(size_t n, size_t k, int threads);

/* b: k + 1. work: ke_softmax_work() doubles. */
void ke_softmax_at(const ke_softmax *s, const double *b, double *work, ke_bend *out,
                   const ke_env *env);

#endif
