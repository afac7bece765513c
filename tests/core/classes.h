/* Rows of three classes, for tests of neighbours and votes. */
#ifndef CLASSES_H
#define CLASSES_H

#include "draw.h"
#include "kernelect.h"

enum { N = 301, D = 7, CLASSES = 3 };

static double z[N * D];
static int label[N];
static const ke_env env = {.threads = 1};

/* Rows sorted by class, a few of them repeated in other classes. */
static void fill(void)
{
  uint64_t state = 1;
  for (size_t i = 0; i < N; i++) {
    label[i] = (int)(i * CLASSES / N);
    for (size_t k = 0; k < D; k++)
      z[i + k * N] = draw(&state) + (k == 2 ? label[i] : 0.0);
  }
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < D; k++)
      z[150 + i + k * N] = z[280 + i + k * N] = z[i + k * N];
}

#endif
