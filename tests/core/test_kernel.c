/* kernel.c: exp, packing, inner products and kernel values against long-hand sums. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

/* ---- exp ------------------------------------------------------------------------ */

static double worst_exp_error(double from, double to, size_t n)
{
  double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), worst = 0.0;
  for (size_t i = 0; i < n; i++)
    x[i] = from + (to - from) * (double)i / (double)(n - 1);
  ke_exp(x, y, n);
  for (size_t i = 0; i < n; i++) {
    const long double exact = expl((long double)x[i]);
    const double error = (double)fabsl(((long double)y[i] - exact) / exact);
    worst = error > worst ? error : worst;
  }
  free(x);
  free(y);
  return worst;
}

static void exp_is_accurate(void)
{
  mu_assert(worst_exp_error(-700.0, 0.0, 700001) < 1e-15);
  mu_assert(worst_exp_error(-1.0, 1.0, 100001) < 1e-15);
  mu_assert(worst_exp_error(0.0, 700.0, 100001) < 1e-15);
  mu_assert(worst_exp_error(-1e-10, 1e-10, 1001) < 1e-15);
}

static double exp_of(double x)
{
  double y;
  ke_exp(&x, &y, 1);
  return y;
}

static void exp_is_right_at_the_ends(void)
{
  mu_assert(exp_of(0.0) == 1.0);
  mu_assert(exp_of(-0.0) == 1.0);
  mu_assert(exp_of(-INFINITY) == 0.0);
  mu_assert(exp_of(INFINITY) == INFINITY);
  mu_assert(exp_of(-1e300) == 0.0);
  mu_assert(exp_of(710.0) == INFINITY);
  mu_assert(exp_of(-746.0) == 0.0);
  mu_assert(exp_of(5e-324) == 1.0 && exp_of(-5e-324) == 1.0);
  mu_assert(isnan(exp_of(NAN)));
}

/* Below 2^-1022 results lose digits but no more than half a unit in the last place does. */
static void exp_of_denormals_is_rounded_once(void)
{
  for (double x = -745.1; x < -708.0; x += 0.037) {
    const double error = fabs(exp_of(x) - exp(x));
    mu_assert(error <= fmax(4.9406564584124654e-324, 1e-15 * exp(x)));
  }
}

static void exp_does_not_depend_on_place_or_length(void)
{
  double x[11], y[11];
  for (size_t i = 0; i < 11; i++)
    x[i] = -0.37 * (double)i - 1.0;
  for (size_t n = 1; n <= 11; n++) {
    memset(y, 0, sizeof y);
    ke_exp(x, y, n);
    for (size_t i = 0; i < 11; i++)
      mu_assert(y[i] == (i < n ? exp_of(x[i]) : 0.0));
  }
  memcpy(y, x, sizeof y);
  ke_exp(y, y, 11); /* in place */
  for (size_t i = 0; i < 11; i++)
    mu_assert(y[i] == exp_of(x[i]));
}

/* ---- packed rows ------------------------------------------------------------------ */

static ke_rows lend(size_t n, size_t d)
{
  ke_rows rows = {n, d, NULL, NULL};
  rows.panel = malloc((ke_panel_size(n, d) + 1) * sizeof(double));
  rows.norm = malloc((ke_padded(n) + 1) * sizeof(double));
  return rows;
}

static ke_rows packed(const double *x, size_t n, size_t d)
{
  ke_rows rows = lend(n, d);
  ke_pack(x, n, NULL, NULL, &rows);
  return rows;
}

static void release(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

static double at(const ke_rows *rows, size_t i, size_t k)
{
  return rows->panel[i / KE_PANEL * KE_PANEL * rows->d + k * KE_PANEL + i % KE_PANEL];
}

static void sizes_are_whole_panels(void)
{
  mu_assert(ke_padded(0) == 0 && ke_padded(1) == 4 && ke_padded(4) == 4 && ke_padded(5) == 8);
  mu_assert(ke_panel_size(5, 3) == 24 && ke_panel_size(5, 0) == 0);
  /* the largest matrices R can hold: beyond 32 bits, within size_t */
  mu_assert(ke_panel_size(2147483647u, 2147483647u) == (size_t)2147483648u * (size_t)2147483647u);
}

static void packing_shifts_and_weighs(void)
{
  enum { N = 6, D = 3, LD = 8 };
  double *x = draw_many(LD * D, 1);
  const double shift[D] = {1.0, -2.0, 0.5}, weights[D] = {2.0, 0.0, -3.0};
  ke_rows rows = lend(N, D);
  ke_pack(x, LD, shift, weights, &rows);
  for (size_t i = 0; i < ke_padded(N); i++) {
    double norm = 0.0;
    for (size_t k = 0; k < D; k++) {
      const double value = i < N ? (x[i + k * LD] - shift[k]) * weights[k] : 0.0;
      mu_assert(at(&rows, i, k) == value);
      norm += value * value;
    }
    mu_near(rows.norm[i], norm, 1e-15);
  }
  release(&rows);
  free(x);
}

static void gathered_rows_are_the_rows(void)
{
  enum { N = 11, D = 5, M = 6 };
  const size_t index[M] = {10, 0, 3, 3, 7, 4};
  double *x = draw_many(N * D, 2);
  ke_rows from = packed(x, N, D), to = lend(M, D);
  ke_gather(&from, index, M, &to);
  for (size_t i = 0; i < ke_padded(M); i++)
    for (size_t k = 0; k < D; k++)
      mu_assert(at(&to, i, k) == (i < M ? at(&from, index[i], k) : 0.0));
  for (size_t i = 0; i < M; i++)
    mu_assert(to.norm[i] == from.norm[index[i]]);
  release(&from);
  release(&to);
  free(x);
}

/* ---- inner products and kernel values ------------------------------------------------ */

static long double long_inner(const ke_rows *a, size_t i, const ke_rows *b, size_t j)
{
  long double sum = 0.0L;
  for (size_t k = 0; k < a->d; k++)
    sum += (long double)at(a, i, k) * (long double)at(b, j, k);
  return sum;
}

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
  switch (kernel->type) {
  case KE_LINEAR: return (double)inner;
  case KE_RBF: return (double)expl(-scale * d2);
  case KE_LAPLACE: return (double)expl(-scale * sqrtl(d2));
  case KE_POLYNOMIAL: return (double)powl(scale * inner + kernel->offset, kernel->degree);
  case KE_SIGMOID: return (double)tanhl(scale * inner + kernel->offset);
  case KE_SPLINE: return (double)product;
  }
  return NAN;
}

static const ke_kernel kernels[] = {
    {KE_LINEAR, 0.0, 0.0, 0.0},     {KE_RBF, 0.3, 0.0, 0.0},      {KE_RBF, 400.0, 0.0, 0.0},
    {KE_LAPLACE, 0.7, 0.0, 0.0},    {KE_LAPLACE, 60.0, 0.0, 0.0}, {KE_POLYNOMIAL, 0.5, 1.0, 3.0},
    {KE_POLYNOMIAL, 0.3, 0.1, 7.0}, {KE_SIGMOID, 0.2, -0.1, 0.0}, {KE_SPLINE, 0.0, 0.0, 0.0}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

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

static void inner_products_are_accurate(void)
{
  enum { N = 9 };
  const size_t columns[] = {1, 20, 300, 5000};
  for (size_t c = 0; c < 4; c++) {
    const size_t d = columns[c];
    double *x = draw_many(N * d, c), out[N * N];
    ke_rows a = packed(x, N, d);
    ke_inner(&a, 0, N, &a, 0, N, out, N);
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++) {
        const double size = sqrt(a.norm[i] * a.norm[j]);
        mu_assert(fabs(out[i + j * N] - (double)long_inner(&a, i, &a, j)) <= 1e-14 * size);
        mu_assert(out[i + j * N] == out[j + i * N]);
      }
    for (size_t i = 0; i < N; i++)
      mu_assert(out[i * (N + 1)] == a.norm[i]);
    release(&a);
    free(x);
  }
}

static void no_columns_mean_zero(void)
{
  double none = 0.0, out[4] = {9.0, 9.0, 9.0, 9.0};
  ke_rows a = packed(&none, 2, 0);
  ke_inner(&a, 0, 2, &a, 0, 2, out, 2);
  for (size_t i = 0; i < 4; i++)
    mu_assert(out[i] == 0.0);
  ke_inner(&a, 0, 0, &a, 0, 2, out, 2);
  ke_inner(&a, 0, 2, &a, 0, 0, out, 2);
  release(&a);
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
  mu_run(exp_is_accurate);
  mu_run(exp_is_right_at_the_ends);
  mu_run(exp_of_denormals_is_rounded_once);
  mu_run(exp_does_not_depend_on_place_or_length);
  mu_run(sizes_are_whole_panels);
  mu_run(packing_shifts_and_weighs);
  mu_run(gathered_rows_are_the_rows);
  mu_run(tiles_agree_with_long_hand);
  mu_run(inner_products_are_accurate);
  mu_run(no_columns_mean_zero);
  mu_run(identical_rows_are_at_distance_zero);
  mu_run(near_duplicates_keep_their_distance);
  mu_run(diagonals_are_those_of_tiles);
  return mu_report();
}
