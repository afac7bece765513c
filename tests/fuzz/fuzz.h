/* What all fuzz targets share: a stream of small numbers, sizes and hostile doubles from the
 * fuzzer's bytes, and exact-size allocations, so that the sanitizer sees one element too far. */
#ifndef KERNELECT_FUZZ_H
#define KERNELECT_FUZZ_H

#include "kernelect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const uint8_t *at;
  size_t left;
} fuzz_bytes;

static inline unsigned fuzz_byte(fuzz_bytes *f)
{
  if (f->left == 0)
    return 0;
  f->left--;
  return *f->at++;
}

/* low ... high */
static inline size_t fuzz_size(fuzz_bytes *f, size_t low, size_t high)
{
  const size_t v = fuzz_byte(f) | (size_t)fuzz_byte(f) << 8;
  return low + v % (high - low + 1);
}

/* Mostly small numbers with many repetitions, now and then one that should not be there. */
static inline double fuzz_double(fuzz_bytes *f, int hostile)
{
  static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-310, 1e154, 1e-160};
  const unsigned b = fuzz_byte(f);
  if (hostile && b >= 248)
    return odd[b - 248];
  return ((double)b - 124.0) / 16.0;
}

static inline double *fuzz_doubles(size_t n) { return (double *)calloc(n ? n : 1, sizeof(double)); }

static inline double *fuzz_fill(fuzz_bytes *f, size_t n, int hostile)
{
  double *out = fuzz_doubles(n);
  for (size_t i = 0; i < n; i++)
    out[i] = fuzz_double(f, hostile);
  return out;
}

static inline size_t *fuzz_indices(size_t n) { return (size_t *)calloc(n ? n : 1, sizeof(size_t)); }

static inline ke_rows fuzz_lend(size_t n, size_t d)
{
  ke_rows rows = {n, d, fuzz_doubles(ke_panel_size(n, d)), fuzz_doubles(ke_padded(n)), 0, 0};
  return rows;
}

static inline void fuzz_free_rows(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

/* One of the first `types`, which go from the most to the least orderly. */
static inline ke_kernel fuzz_kernel(fuzz_bytes *f, int types)
{
  static const char *const names[] = {"linear",     "rbf",     "laplace",
                                      "polynomial", "sigmoid", "spline"};
  ke_kernel k = {.type = ke_kernel_named(names[fuzz_byte(f) % (unsigned)types])};
  k.scale = (double)(1 + fuzz_byte(f)) / 64.0;
  k.offset = (double)fuzz_byte(f) / 64.0;
  k.degree = (double)(1 + fuzz_byte(f) % 5);
  return k;
}

static inline double fuzz_uniform(void *data)
{
  uint64_t *state = (uint64_t *)data;
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(*state >> 12) + 0.5) * 0x1p-52;
}

/* A broken promise ends the run as a crash does. */
#define fuzz_promise(holds)                                                                        \
  do {                                                                                             \
    if (!(holds)) {                                                                                \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #holds);                          \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
