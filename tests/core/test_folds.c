/* folds.c: residuals of rows from the fit without them, against refitting by the normal equations.
 */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 60
#define L 5
#define K 2
#define S (L + 1)

/* Rows first .. first + m are left out. */
typedef struct {
  const double *z, *y, *weight; /* weight may be NULL */
  double ridge;
  size_t first, m;
} problem;

static double weight_of(const problem *p, size_t i) { return p->weight ? p->weight[i] : 1.0; }

static double entry(const problem *p, size_t i, size_t l)
{
  return l == 0 ? 1.0 : p->z[i + (l - 1) * N];
}

/* Intercept and coefficients of the other rows. */
static void refit(const problem *p, double *b)
{
  double a[S * S] = {0};
  int pivot[S];
  const ke_env env = {.threads = 1};
  memset(b, 0, S * K * sizeof(double));
  for (size_t i = 0; i < N; i++) {
    if (i >= p->first && i < p->first + p->m)
      continue;
    for (size_t l = 0; l < S; l++) {
      const double x = weight_of(p, i) * entry(p, i, l);
      for (size_t q = 0; q < S; q++)
        a[q + l * S] += x * entry(p, i, q);
      for (size_t j = 0; j < K; j++)
        b[l + j * S] += x * p->y[i + j * N];
    }
  }
  for (size_t l = 1; l < S; l++)
    a[l * (S + 1)] += p->ridge;
  ke_solve_any(S, K, a, b, pivot, &env);
}

/* Largest difference of the residuals of the rows left out. */
static double gap(const problem *p)
{
  double q[N * L], mean[L], y[N * K], y_mean[K], r[L * L], c[L * K], extra[L * L], own[L * (L + 1)];
  double hat[N * S], residual[N * K], work[2 * L * L + S * K], left[N * K], b[S * K], most = 0.0;
  double space[N * S + S * (S + K)];
  int dependent[L], pivot[S];
  size_t rows[N];
  const ke_env env = {.threads = 2};
  memcpy(y, p->y, sizeof y);
  ke_regression g = {N, L,      K, 0.0, 1,         p->weight, p->z,  q,   mean,
                     y, y_mean, r, c,   dependent, NULL,      extra, own, 0.0};
  ke_regress(&g, &env);
  const ke_hat h = {&g, L, p->ridge, hat, residual, work};
  for (size_t i = 0; i < p->m; i++)
    rows[i] = p->first + i;
  if (!ke_find_hat(&h, &env) || !ke_without_rows(&h, rows, p->m, left, space, pivot, &env))
    return INFINITY;
  refit(p, b);
  for (size_t j = 0; j < K; j++)
    for (size_t i = 0; i < p->m; i++) {
      double value = p->y[rows[i] + j * N];
      for (size_t l = 0; l < S; l++)
        value -= entry(p, rows[i], l) * b[l + j * S];
      most = fmax(most, fabs(left[i + j * p->m] - sqrt(weight_of(p, rows[i])) * value));
    }
  return most;
}

/* Folds of fewer rows than coordinates, of more, and of one row. */
static void folds_left_out_are_those_of_refitting(void)
{
  const size_t sizes[] = {1, 4, S, S + 1, 30};
  double *z = draw_many(N * L, 1), *y = draw_many(N * K, 2), weight[N];
  for (size_t i = 0; i < N; i++)
    weight[i] = 1.0 + (double)(i % 3);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const problem plain = {z, y, NULL, 0.3, 7, sizes[s]},
                  weighted = {z, y, weight, 2.0, 7, sizes[s]};
    mu_assert(gap(&plain) < 1e-10);
    mu_assert(gap(&weighted) < 1e-10);
  }
  free(z);
  free(y);
}

int main(void)
{
  mu_run(folds_left_out_are_those_of_refitting);
  return mu_report();
}
