/* kernel.c: kernel values against long-hand sums. */
#include "draw.h"
#include "kernels.h"
#include "minunit.h"
#include "pack.h"

#include <string.h>

static double long_value(const ke_kernel *kernel, const ke_rows *a, size_t i, const ke_rows *b,
                         size_t j)
{
  const long double inner = long_inner(a, i, b, j), scale = kernel->scale;
  long double d2 = 0.0L, product = 1.0L;
  for (size_t k = 0; k < a->d; k++) {
    const long double x = at(a, i, k), z = at(b, j, k), low = x < z ? x : z;
    d2 += (x - z) * (x - z);
    product *= 1.0L + x * z + x * z * low - (x + z) / 2.0L * low * low + low * low * low / 3.0L;
  }
  const char *name = kernel->type->name;
  if (strcmp(name, "linear") == 0)
    return (double)inner;
  if (strcmp(name, "rbf") == 0)
    return (double)expl(-scale * d2);
  if (strcmp(name, "laplace") == 0)
    return (double)expl(-scale * sqrtl(d2));
  if (strcmp(name, "polynomial") == 0)
    return (double)powl(scale * inner + kernel->offset, kernel->degree);
  if (strcmp(name, "sigmoid") == 0)
    return (double)tanhl(scale * inner + kernel->offset);
  return strcmp(name, "spline") == 0 ? (double)product : NAN;
}

enum { KERNELS = 9 };
static ke_kernel kernels[KERNELS];

static void fill(void)
{
  const ke_kernel made[KERNELS] = {
      kernel_of("linear", 0.0, 0.0, 0.0),     kernel_of("rbf", 0.3, 0.0, 0.0),
      kernel_of("rbf", 400.0, 0.0, 0.0),      kernel_of("laplace", 0.7, 0.0, 0.0),
      kernel_of("laplace", 60.0, 0.0, 0.0),   kernel_of("polynomial", 0.5, 1.0, 3.0),
      kernel_of("polynomial", 0.3, 0.1, 7.0), kernel_of("sigmoid", 0.2, -0.1, 0.0),
      kernel_of("spline", 0.0, 0.0, 0.0)};
  memcpy(kernels, made, sizeof made);
}

/* A tile m x k with guards around it: the values are right and nothing else is touched. */
static int tile_is_right(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b)
{
  const size_t m = a->n, k = b->n, ld = m + 3;
  const double least = ke_is_distance(kernel) ? 1e-290 : 1.0; /* others pass through zero */
  double *out = malloc((ld * k + 1) * sizeof *out);
  int good = 1;
  for (size_t i = 0; i <= ld * k; i++)
    out[i] = -7.0;
  ke_tile(kernel, a, 0, m, b, 0, k, out, ld);
  for (size_t j = 0; j < k; j++) {
    for (size_t i = 0; i < m; i++) {
      const double exact = long_value(kernel, a, i, b, j);
      good = good && fabs(out[i + j * ld] - exact) <= 1e-12 * fmax(fabs(exact), least);
    }
    for (size_t i = m; i < ld; i++)
      good = good && out[i + j * ld] == -7.0;
  }
  good = good && out[ld * k] == -7.0;
  free(out);
  return good;
}

static void tiles_agree_with_long_hand(void)
{
  const size_t rows[] = {1, 3, 4, 5, 11, 12, 13, 16, 25}, columns[] = {1, 2, 7, 255, 256, 257, 600};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      const size_t d = columns[c], n = rows[r], m = rows[(r + 4) % 9];
      double *x = draw_many(n * d, 10 + r), *z = draw_many(m * d, 20 + c);
      for (size_t i = 0; i < d * (d > 100); i++) { /* keep products of many columns in range */
        for (size_t q = 0; q < n; q++)
          x[q + i * n] /= sqrt((double)d);
        for (size_t q = 0; q < m; q++)
          z[q + i * m] = fabs(z[q + i * m]) / sqrt((double)d);
      }
      ke_rows a = packed(x, n, d), b = packed(z, m, d);
      for (size_t q = 0; q < KERNELS; q++)
        mu_assert(tile_is_right(&kernels[q], &a, &b));
      release(&a);
      release(&b);
      free(x);
      free(z);
    }
}

static void identical_rows_are_at_distance_zero(void)
{
  enum { N = 30 };
  const size_t columns[] = {1, 3, 40, 300};
  for (size_t c = 0; c < 4; c++) {
    const size_t d = columns[c];
    double *x = draw_many(N * d, 77 + c), out[N * N];
    for (size_t k = 0; k < d; k++)
      x[4 + k * N] = x[13 + k * N] = x[29 + k * N] = x[k * N];
    ke_rows a = packed(x, N, d);
    for (size_t q = 1; q <= 4; q++) { /* the distance kernels */
      ke_tile(&kernels[q], &a, 0, N, &a, 0, N, out, N);
      const size_t copy[] = {0, 4, 13, 29};
      for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
          mu_assert(out[copy[i] + copy[j] * N] == 1.0);
      for (size_t i = 0; i < N; i++)
        mu_assert(out[i * (N + 1)] == 1.0);
    }
    release(&a);
    free(x);
  }
}

/* Distances that cancel to nothing in |x|^2 + |z|^2 - 2 <x,z>. */
static void near_duplicates_keep_their_distance(void)
{
  enum { N = 12, D = 6 };
  double *x = draw_many(N * D, 5);
  for (size_t i = 1; i < N; i++)
    for (size_t k = 0; k < D; k++)
      x[i + k * N] = x[k * N] + pow(10.0, -(double)i) * (double)(k + 1);
  ke_rows a = packed(x, N, D);
  for (size_t q = 1; q <= 4; q++)
    mu_assert(tile_is_right(&kernels[q], &a, &a));
  release(&a);
  free(x);
}

static void diagonals_are_those_of_tiles(void)
{
  enum { N = 23, D = 5 };
  double *x = draw_many(N * D, 3), out[N * N], diagonal[N];
  ke_rows a = packed(x, N, D);
  for (size_t q = 0; q < KERNELS; q++) {
    ke_tile(&kernels[q], &a, 0, N, &a, 0, N, out, N);
    ke_diagonal(&kernels[q], &a, diagonal);
    for (size_t i = 0; i < N; i++)
      mu_assert(diagonal[i] == out[i * (N + 1)]);
  }
  release(&a);
  free(x);
}

int main(void)
{
  fill();
  mu_run(tiles_agree_with_long_hand);
  mu_run(identical_rows_are_at_distance_zero);
  mu_run(near_duplicates_keep_their_distance);
  mu_run(diagonals_are_those_of_tiles);
  return mu_report();
}
