#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 75, D = 5 };

static double kt[D], kk[D];

static ke_rows lend(size_t n, size_t d)
{
  const ke_rows rows = {.n = n,
                        .d = d,
                        .panel = malloc(ke_panel_size(n, d) * sizeof(double)),
                        .norm = malloc(ke_padded(n) * sizeof(double))};
  return rows;
}

/* Columns 1 and 3 of x. */
static ke_rows pack_set(const double *x)
{
  double set[2 * N];
  memcpy(set, x + N, N * sizeof(double));
  memcpy(set + N, x + 3 * N, N * sizeof(double));
  ke_rows rows = lend(N, 2);
  ke_pack(set, N, NULL, &rows);
  return rows;
}

static void give_back(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

/* Sums of the set {1, 3} with column e flipped, from single values. */
static void naive(const double *x, const double *u, const double *chosen, double gamma, size_t e,
                  double sums[2])
{
  sums[0] = sums[1] = 0.0;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      double distance = 0.0;
      for (size_t c = 0; c < D; c++) {
        const double gap = x[i + c * N] - x[j + c * N];
        distance += (chosen[c] != 0.0) != (c == e) ? gap * gap : 0.0;
      }
      sums[0] += u[i] * u[j] * exp(-gamma * distance);
      sums[1] += exp(-2.0 * gamma * distance);
    }
}

static void flipped_sets_match(void)
{
  const double chosen[D] = {0.0, 1.0, 0.0, 1.0, 0.0}, gamma[D] = {0.5, 2.0, 0.0, 0.1, 30.0};
  double *x = draw_many(N * D, 5), *u = draw_many(N, 6), sums[2];
  for (int threads = 1; threads <= 2; threads++) {
    tally t;
    const ke_env env = counting(&t, threads);
    ke_flip f = {.n = N, .d = D, .x = x, .chosen = chosen, .gamma = gamma};
    f.target = lend(N, 1), f.rows = pack_set(x);
    ke_panels(u, N, NULL, &f.target);
    double *work = malloc(ke_flip_work() * sizeof(double));
    ke_flip_sums(&f, kt, kk, work, &env);
    mu_assert(t.checks == half_square(steps(N, KE_FLIP_TILE)));
    for (size_t e = 0; e < D; e++) {
      naive(x, u, chosen, gamma[e], e, sums);
      mu_near(kt[e], gamma[e] > 0.0 ? sums[0] : 0.0, 1e-11 * N * N);
      mu_near(kk[e], gamma[e] > 0.0 ? sums[1] : 0.0, 1e-11 * N * N);
    }
    free(work), give_back(&f.target), give_back(&f.rows);
  }
  free(x), free(u);
}

/* In single precision, columns added: not far off, the same for any number of threads. */
static void rough_sums_are_near(void)
{
  const double chosen[D] = {0.0, 1.0, 0.0, 1.0, 0.0}, gamma[D] = {0.5, 0.0, 0.2, 0.0, 30.0};
  double *x = draw_many(N * D, 5), *u = draw_many(N, 6), sums[2], first[2 * D];
  for (int threads = 1; threads <= 2; threads++) {
    tally t;
    const ke_env env = counting(&t, threads);
    ke_flip f = {.n = N, .d = D, .x = x, .chosen = chosen, .gamma = gamma, .rough = 1};
    f.target = lend(N, 1), f.rows = pack_set(x);
    ke_panels(u, N, NULL, &f.target);
    double *work = malloc(ke_flip_work() * sizeof(double));
    ke_flip_sums(&f, kt, kk, work, &env);
    for (size_t e = 0; e < D; e++) {
      naive(x, u, chosen, gamma[e], e, sums);
      mu_near(kt[e], gamma[e] > 0.0 ? sums[0] : 0.0, 1e-6 * N * N);
      mu_near(kk[e], gamma[e] > 0.0 ? sums[1] : 0.0, 1e-6 * N * N);
      mu_assert(threads == 1 || (kt[e] == first[e] && kk[e] == first[D + e]));
      first[e] = kt[e], first[D + e] = kk[e];
    }
    free(work), give_back(&f.target), give_back(&f.rows);
  }
  free(x), free(u);
}

/* 32 flops a value: MANY columns on a tile of 64^2 are beyond KE_PATIENCE, half of them are not. */
static void many_columns_are_taken_in_portions(void)
{
  enum { ROWS = 70, MANY = 1500 };
  double *x = calloc(ROWS * MANY, sizeof *x), *zero = calloc(MANY, sizeof *zero);
  double *out = malloc(2 * MANY * sizeof(double)), *u = draw_many(ROWS, 6);
  tally t;
  const ke_env env = counting(&t, 1);
  ke_flip f = {.n = ROWS, .d = MANY, .x = x, .chosen = zero, .gamma = zero};
  f.target = lend(ROWS, 1), f.rows = lend(ROWS, 1);
  ke_pack(x, ROWS, NULL, &f.rows);
  ke_panels(u, ROWS, NULL, &f.target);
  double *work = malloc(ke_flip_work() * sizeof(double));
  ke_flip_sums(&f, out, out + MANY, work, &env);
  mu_assert(t.checks == 2 + 2); /* one whole tile, two small ones */
  free(x), free(zero), free(out), free(u), free(work), give_back(&f.target), give_back(&f.rows);
}

int main(void)
{
  mu_run(flipped_sets_match);
  mu_run(rough_sums_are_near);
  mu_run(many_columns_are_taken_in_portions);
  return mu_report();
}
