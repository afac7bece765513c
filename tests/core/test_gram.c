/* gram.c: whole matrices are their tiles, exactly symmetric, on any number of threads. */
#include "count.h"
#include "draw.h"
#include "kernels.h"
#include "minunit.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS = 9 };
static ke_kernel kernels[KERNELS], parts[3];

static void fill(void)
{
  const ke_kernel made[KERNELS] = {kernel_of("linear", 0.0, 0.0, 0.0),
                                   kernel_of("rbf", 0.3, 0.0, 0.0),
                                   kernel_of("rbf", 400.0, 0.0, 0.0),
                                   kernel_of("laplace", 0.7, 0.0, 0.0),
                                   kernel_of("polynomial", 0.5, 1.0, 3.0),
                                   kernel_of("sigmoid", 0.2, -0.1, 0.0),
                                   kernel_of("spline", 0.0, 0.0, 0.0),
                                   kernel_of_parts("sum", 2.0, parts, 3, NULL, 0),
                                   kernel_of_parts("product", 1.0, parts, 3, NULL, 0)};
  memcpy(kernels, made, sizeof made);
  parts[0] = made[1], parts[1] = made[3], parts[2] = made[4];
}

static ke_rows random_rows(size_t n, size_t d, uint64_t seed)
{
  double *x = draw_many(n * d, seed);
  ke_rows rows = {n, d, NULL, NULL, 0, 0};
  rows.panel = malloc((ke_panel_size(n, d) + 1) * sizeof(double));
  rows.norm = malloc((ke_padded(n) + 1) * sizeof(double));
  ke_pack(x, n, NULL, &rows);
  free(x);
  return rows;
}

static void release(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

static ke_env with_threads(int threads)
{
  ke_env env = {0};
  env.threads = threads;
  return env;
}

/* K(a, a) and K(a, b) against one ke_tile over everything. */
static int matrices_are_tiles(const ke_kernel *kernel, size_t n, size_t m, size_t d, int threads)
{
  const ke_env env = with_threads(threads);
  ke_rows a = random_rows(n, d, n), b = random_rows(m, d, m + 1000);
  const size_t larger = n > m ? n : m;
  double *fast = malloc(n * larger * sizeof *fast), *slow = malloc(n * larger * sizeof *slow);
  whole_gram(kernel, &a, fast, &env);
  ke_tile(kernel, (ke_range){&a, 0, n}, (ke_range){&a, 0, n}, slow, n);
  int same = memcmp(fast, slow, n * n * sizeof *fast) == 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      same = same && fast[i + j * n] == fast[j + i * n];
  whole_cross(kernel, &a, &b, fast, &env);
  ke_tile(kernel, (ke_range){&a, 0, n}, (ke_range){&b, 0, m}, slow, n);
  same = same && memcmp(fast, slow, n * m * sizeof *fast) == 0;
  release(&a);
  release(&b);
  free(fast);
  free(slow);
  return same;
}

static void whole_matrices_are_their_tiles(void)
{
  const size_t sizes[] = {1, 5, 95, 96, 97, 190, 193, 485};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t q = 0; q < KERNELS; q++)
      mu_assert(matrices_are_tiles(&kernels[q], sizes[s], sizes[7 - s], 3, 1));
}

static void many_columns_come_in_pieces(void)
{
  for (size_t q = 0; q < KERNELS; q++) {
    mu_assert(matrices_are_tiles(&kernels[q], 245, 13, 257, 1));
    mu_assert(matrices_are_tiles(&kernels[q], 7, 242, 600, 1));
  }
}

static void threads_do_not_change_a_bit(void)
{
  for (size_t q = 0; q < KERNELS; q++)
    mu_assert(matrices_are_tiles(&kernels[q], 491, 300, 5, 2));
}

enum { EDGE = 96 /* of a tile */, WIDE = 2400, TILES_IF_WIDE = 2 /* between two looks */ };

/* Small matrices take one look; wide data mean more work a tile, so more looks. */
static void interrupts_are_looked_for(void)
{
  const size_t n = 500, count = half_square(steps(n, EDGE));
  ke_rows a = random_rows(n, 2, 1), b = random_rows(n, WIDE, 1);
  double *out = malloc(n * n * sizeof *out);
  tally narrow, wide;
  ke_env env = counting(&narrow, 1);
  whole_gram(&kernels[1], &a, out, &env);
  env = counting(&wide, 1);
  whole_gram(&kernels[1], &b, out, &env);
  release(&a);
  release(&b);
  free(out);
  mu_assert(narrow.checks == 1);
  mu_assert(wide.checks == 1 + count / TILES_IF_WIDE);
}

static void interrupts_are_looked_for_between_two_sets(void)
{
  const size_t n = 500, m = 200, few = 3;
  ke_rows a = random_rows(n, 2, 1), b = random_rows(m, 2, 2), c = random_rows(n, WIDE, 3),
          d = random_rows(few, WIDE, 4);
  double *out = malloc(n * m * sizeof *out);
  tally narrow, wide;
  ke_env env = counting(&narrow, 1);
  whole_cross(&kernels[1], &a, &b, out, &env);
  env = counting(&wide, 1);
  whole_cross(&kernels[1], &c, &d, out, &env);
  release(&a);
  release(&b);
  release(&c);
  release(&d);
  free(out);
  mu_assert(narrow.checks == 1);
  mu_assert(wide.checks == 1 + steps(n, EDGE) / TILES_IF_WIDE);
}

int main(void)
{
  fill();
  mu_run(whole_matrices_are_their_tiles);
  mu_run(many_columns_come_in_pieces);
  mu_run(threads_do_not_change_a_bit);
  mu_run(interrupts_are_looked_for);
  mu_run(interrupts_are_looked_for_between_two_sets);
  return mu_report();
}
