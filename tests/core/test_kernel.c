/* kernel.c: kernel values against long-hand sums. */
#include "count.h"
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
  ke_tile(kernel, (ke_range){a, 0, m}, (ke_range){b, 0, k}, out, ld);
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
      ke_tile(&kernels[q], (ke_range){&a, 0, N}, (ke_range){&a, 0, N}, out, N);
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

/* Down to exp(-667), of rows whose lengths hide their distances, and distances of which rounding
 * alone would make more than is negligible. */
static void small_values_keep_their_digits_at_any_offset(void)
{
  enum { N = 24, D = 2 };
  const double offset[] = {1e4 / 3.0, 1e8 / 3.0, 1e11 / 3.0};
  const ke_kernel far[] = {kernel_of("rbf", 1.0, 0.0, 0.0), kernel_of("laplace", 20.0, 0.0, 0.0)};
  double x[N * D];
  for (size_t o = 0; o < sizeof offset / sizeof *offset; o++) {
    for (size_t i = 0; i < N * D; i++)
      x[i] = offset[o] + (double)(i % N);
    ke_rows a = packed(x, N, D);
    for (size_t q = 0; q < 2; q++)
      mu_assert(tile_is_right(&far[q], &a, &a));
    release(&a);
  }
}

/* Around exp(-700), where whole fours are no longer taken at once, and down to zero. */
static void laplace_values_are_right_down_to_nothing(void)
{
  enum { N = 64 };
  const ke_kernel kernel = kernel_of("laplace", 1.0, 0.0, 0.0);
  double x[N], out[N];
  for (size_t i = 0; i < N; i++)
    x[i] = 340.0 + 0.5 * (double)i;
  ke_rows a = packed(x, N, 1);
  for (size_t i = 0; i < N; i++) {
    double opposite = -x[i];
    ke_rows b = packed(&opposite, 1, 1);
    for (size_t m = 1; m <= N; m++) {
      ke_tile(&kernel, (ke_range){&a, 0, m}, (ke_range){&b, 0, 1}, out, N);
      const long double exact = expl(-(long double)(x[m - 1] + x[i]));
      mu_assert(fabs((double)(out[m - 1] - exact)) <= (double)(1e-13L * exact) + 5e-324);
    }
    release(&b);
  }
  release(&a);
}

static void diagonals_are_those_of_tiles(void)
{
  enum { N = 23, D = 5 };
  double *x = draw_many(N * D, 3), out[N * N], diagonal[N];
  ke_rows a = packed(x, N, D);
  for (size_t q = 0; q < KERNELS; q++) {
    ke_tile(&kernels[q], (ke_range){&a, 0, N}, (ke_range){&a, 0, N}, out, N);
    ke_diagonal(&kernels[q], &a, diagonal);
    for (size_t i = 0; i < N; i++)
      mu_assert(diagonal[i] == out[i * (N + 1)]);
  }
  release(&a);
  free(x);
}

/* ---- sums and products --------------------------------------------------------------------- */

enum { ROWS = 230, WIDTH = 5 };

/* (rbf + 2 linear) * laplace, the linear kernel on weighted columns. */
typedef struct {
  ke_kernel two[1], sum[2], whole;
  ke_kernel product[2];
  ke_look look[3];
  double weights[WIDTH];
} expression;

static void build(expression *e)
{
  for (size_t k = 0; k < WIDTH; k++)
    e->weights[k] = 0.5 + (double)k;
  e->two[0] = kernel_of("linear", 0.0, 0.0, 0.0);
  e->two[0].block = 1;
  e->sum[0] = kernel_of("rbf", 0.3, 0.0, 0.0);
  e->sum[1] = kernel_of_parts("product", 2.0, e->two, 1, NULL, 0);
  e->product[0] = kernel_of_parts("sum", 1.0, e->sum, 2, NULL, 0);
  e->product[1] = kernel_of("laplace", 0.7, 0.0, 0.0);
  const ke_look look[] = {{NULL, 1}, {e->weights, 0}};
  memcpy(e->look, look, sizeof look);
  e->whole = kernel_of_parts("product", 1.0, e->product, 2, e->look, 2);
}

static double expected(const expression *e, const ke_rows *a, size_t i, const ke_rows *b, size_t j)
{
  double inner = 0.0;
  for (size_t k = 0; k < WIDTH; k++)
    inner += e->weights[k] * e->weights[k] * at(a, i, k) * at(b, j, k);
  return (long_value(&e->sum[0], a, i, b, j) + 2.0 * inner) *
         long_value(&e->product[1], a, i, b, j);
}

static ke_rows packed_for(const ke_kernel *kernel, const double *x, size_t n, size_t d)
{
  ke_rows rows = {n, 2 * d, NULL, NULL, 0, 2};
  rows.panel = malloc(ke_panel_size(n, rows.d) * sizeof(double));
  rows.norm = malloc(2 * ke_padded(n) * sizeof(double));
  ke_pack_for(kernel, x, n, (ke_transform){0}, &rows, NULL);
  return rows;
}

static void combined_tiles_agree_with_long_hand(void)
{
  static double out[ROWS * ROWS];
  double *x = draw_many(ROWS * WIDTH, 9), diagonal[ROWS];
  expression e;
  build(&e);
  ke_rows plain = packed(x, ROWS, WIDTH), rows = packed_for(&e.whole, x, ROWS, WIDTH);
  ke_tile(&e.whole, (ke_range){&rows, 0, ROWS}, (ke_range){&rows, 0, ROWS}, out, ROWS);
  ke_diagonal(&e.whole, &rows, diagonal);
  int good = 1, symmetric = 1;
  for (size_t j = 0; j < ROWS; j++) {
    symmetric = symmetric && diagonal[j] == out[j * (ROWS + 1)];
    for (size_t i = 0; i < ROWS; i++) {
      const double exact = expected(&e, &plain, i, &plain, j);
      good = good && fabs(out[i + j * ROWS] - exact) <= 1e-12 * fmax(1.0, fabs(exact));
      symmetric = symmetric && out[i + j * ROWS] == out[j + i * ROWS];
    }
  }
  /* and any tile repeats the entries, of gathered rows too */
  double part[40 * 17];
  size_t index[40];
  for (size_t i = 0; i < 40; i++)
    index[i] = 3 * i + 1;
  ke_rows some = packed_for(&e.whole, x, 40, WIDTH);
  ke_gather(&rows, index, 40, &some);
  ke_tile(&e.whole, (ke_range){&some, 0, 40}, (ke_range){&rows, 100, 17}, part, 40);
  int same = 1;
  for (size_t j = 0; j < 17; j++)
    for (size_t i = 0; i < 40; i++)
      same = same && part[i + j * 40] == out[index[i] + (100 + j) * ROWS];
  release(&plain), release(&rows), release(&some);
  free(x);
  mu_assert(good);
  mu_assert(symmetric);
  mu_assert(same);
}

static void properties_follow_from_the_parts(void)
{
  expression e;
  build(&e);
  mu_assert(ke_depth(&e.whole) == 3 && ke_depth(&e.sum[0]) == 0);
  mu_assert(!ke_is_distance(&e.whole) && ke_is_distance(&e.sum[0]));
  mu_assert(ke_is_smooth(&e.whole) && ke_is_kinked(&e.whole) && !ke_is_kinked(&e.product[0]));
  mu_assert(!ke_multiplies(&e.whole) && ke_multiplies(&e.sum[0]) && !ke_multiplies(&e.sum[1]));
  mu_assert(ke_cost(&e.whole, 10) == 3 * ke_cost(&e.sum[0], 10));
  mu_assert(ke_block_is_distance(&e.whole, 0) && !ke_block_is_distance(&e.whole, 1));
  e.sum[1] = kernel_of("spline", 0.0, 0.0, 0.0);
  mu_assert(!ke_is_smooth(&e.whole));
  const ke_kernel both[] = {kernel_of("rbf", 1.0, 0.0, 0.0), kernel_of("spline", 0.0, 0.0, 0.0)};
  const ke_kernel product = kernel_of_parts("product", 1.0, both, 2, NULL, 0);
  mu_assert(ke_multiplies(&product));
  mu_assert(ke_kernel_named("none") == NULL);
}

/* A bound that overflows in a part is one of the whole, whatever the others are. */
static void ranges_are_those_of_the_parts(void)
{
  const double x[] = {1e60, 1.0};
  ke_kernel parts[] = {kernel_of("polynomial", 1.0, 0.0, 3.0), kernel_of("rbf", 1.0, 0.0, 0.0)};
  const ke_kernel sum = kernel_of_parts("sum", 1.0, parts, 2, NULL, 0);
  const ke_kernel product = kernel_of_parts("product", 1e-300, parts, 2, NULL, 0);
  ke_rows rows = packed(x, 2, 1);
  mu_assert(!ke_within_range(&sum, &rows) && !ke_within_range(&product, &rows));
  parts[0].degree = 2.0;
  mu_assert(ke_within_range(&sum, &rows) && ke_within_range(&product, &rows));
  release(&rows);
}

/* ---- a new kernel is one row of a table ------------------------------------------------------ */

/* 1 / (1 + scale |x - z|^2) */
static void finish_cauchy(const ke_column *c)
{
  for (size_t i = 0; i < c->m; i++)
    c->g[i] = 1.0 / (1.0 + c->kernel->scale * (c->norm[i] + c->other - 2.0 * c->g[i]));
}

static void slope_cauchy(const ke_column *c, const double *inner, double *slope)
{
  (void)inner;
  for (size_t i = 0; i < c->m; i++)
    slope[i] = -c->kernel->scale * c->g[i] * c->g[i];
}

static double bound_cauchy(const ke_kernel *kernel, const ke_rows *rows)
{
  (void)kernel, (void)rows;
  return 1.0;
}

static const ke_kernel_type cauchy = {.name = "cauchy",
                                      .finish = finish_cauchy,
                                      .slope = slope_cauchy,
                                      .bound = bound_cauchy,
                                      .cost = 2,
                                      .distance = 1};

static double cauchy_at(const double *x, size_t n, size_t i, size_t j, const double *v)
{
  double d2 = 0.0;
  for (size_t k = 0; k < WIDTH; k++)
    d2 += v[k] * (x[i + k * n] - x[j + k * n]) * (x[i + k * n] - x[j + k * n]);
  return 1.0 / (1.0 + 0.4 * d2);
}

static void a_new_kernel_works_everywhere(void)
{
  enum { N = 61 };
  const ke_env env = {.threads = 1};
  const ke_kernel kernel = {.type = &cauchy, .scale = 0.4};
  double *x = draw_many(N * WIDTH, 4), v[WIDTH] = {1.0, 1.0, 1.0, 1.0, 1.0};
  static double K[N * N];
  ke_rows rows = packed(x, N, WIDTH);
  ke_source s =
      ke_source_rows(&kernel, &rows, malloc(ke_source_rows_state(&rows) * sizeof(double)));
  ke_gram(&s, K, &env);
  int good = ke_is_distance(&kernel) && ke_is_smooth(&kernel);
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      good = good && fabs(K[i + j * N] - cauchy_at(x, N, i, j, v)) < 1e-14;

  /* and its scale factors have a gradient */
  double *ones = malloc(N * N * sizeof(double)), gradient[WIDTH];
  for (size_t i = 0; i < N * N; i++)
    ones[i] = 1.0;
  ke_gradient g = {
      .kernel = kernel, .n = N, .d = WIDTH, .x = x, .rows = rows, .coefficients = ones};
  g.work = malloc(ke_gradient_work(&g) * sizeof(double));
  ke_scale_gradient(&g, gradient, &env);
  double up = 0.0, down = 0.0, h = 1e-5;
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++) {
      v[2] = 1.0 + h;
      up += cauchy_at(x, N, i, j, v);
      v[2] = 1.0 - h;
      down += cauchy_at(x, N, i, j, v);
    }
  free(g.work), free(ones), free(s.self), free(x);
  release(&rows);
  mu_assert(good);
  mu_near(gradient[2], (up - down) / (2.0 * h), 1e-6);
}

/* Three runs of rows, the last of an odd number, are those of one go. */
static void long_tables_are_packed_between_looks(void)
{
  enum { D = 999, RUN = 1564 }; /* KE_PATIENCE / KE_FRESH / (D + 1), in fours */
  const size_t n = 2 * RUN + 3, size = ke_panel_size(n, D);
  const double shift = 0.25;
  double *x = draw_many(n * D, 91), *shifts = malloc(D * sizeof(double));
  ke_rows whole = {n, D, malloc(size * sizeof(double)), malloc(ke_padded(n) * sizeof(double)),
                   0, 0};
  ke_rows runs = {n, D, malloc(size * sizeof(double)), malloc(ke_padded(n) * sizeof(double)), 0, 0};
  tally t;
  const ke_env env = counting(&t, 1);
  for (size_t k = 0; k < D; k++)
    shifts[k] = shift;
  const ke_transform how = {.shift = shifts};
  ke_pack(x, n, &how, &whole);
  ke_pack_for(&kernels[1], x, n, how, &runs, &env);
  mu_assert(memcmp(whole.panel, runs.panel, size * sizeof(double)) == 0);
  mu_assert(memcmp(whole.norm, runs.norm, ke_padded(n) * sizeof(double)) == 0);
  mu_assert(t.checks == 2);
  free(x), free(shifts);
  release(&whole);
  release(&runs);
}

int main(void)
{
  fill();
  mu_run(tiles_agree_with_long_hand);
  mu_run(identical_rows_are_at_distance_zero);
  mu_run(near_duplicates_keep_their_distance);
  mu_run(small_values_keep_their_digits_at_any_offset);
  mu_run(laplace_values_are_right_down_to_nothing);
  mu_run(diagonals_are_those_of_tiles);
  mu_run(combined_tiles_agree_with_long_hand);
  mu_run(properties_follow_from_the_parts);
  mu_run(ranges_are_those_of_the_parts);
  mu_run(a_new_kernel_works_everywhere);
  mu_run(long_tables_are_packed_between_looks);
  return mu_report();
}
