/* folds.c: residuals of rows from the fit without them, against refitting by the normal equations.
 */
#include "count.h"
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
  double a[S * S] = {0}, work[4 * S];
  int whole[2 * S];
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
  ke_solve(S, K, a, b, work, whole, &env);
}

/* Rows first .. first + m are a fold, those before them and those after them one each. */
static size_t cut(const problem *p, size_t *first, size_t *rows)
{
  const size_t ends[] = {p->first, p->first + p->m, N};
  for (size_t i = 0; i < N; i++)
    rows[i] = i;
  first[0] = 0;
  memcpy(first + 1, ends, sizeof ends);
  return 3;
}

/* R U^{-1}, U'U = R'R + ridge. */
static void find_turn(const ke_regression *g, double ridge, double *turn, const ke_env *env)
{
  double normal[L * L];
  memcpy(turn, g->r, sizeof normal);
  ke_crossprod_upper(L, L, turn, L, 0.0, normal, L, env);
  for (size_t l = 0; l < L; l++)
    normal[l * (L + 1)] += ridge;
  ke_cholesky_upper(L, normal, L, env);
  ke_divide_upper(L, L, normal, L, turn, L, env);
}

/* Residuals from the fits without each fold; 0 where work is not what it is said to be. */
static int leave_out(const problem *p, int threads, double *left)
{
  double q[N * L], mean[L], y[N * K], y_mean[K], r[L * L], c[L * K], extra[L * L], own[L * (L + 1)];
  double turn[L * L], hat[N * S], residual[N * K], work[S * K],
      space[2 * (N * (S + K) + S * (S + K))];
  int dependent[L];
  size_t rows[N], first[4];
  const ke_env env = {.threads = threads};
  memcpy(y, p->y, sizeof y);
  ke_regression g = {N, L,      K, 0.0, 1,         p->weight, p->z,  q,   mean,
                     y, y_mean, r, c,   dependent, NULL,      extra, own, 0.0};
  ke_regress(&g, &env);
  find_turn(&g, p->ridge, turn, &env);
  const ke_hat h = {&g, L, turn, hat, residual, work};
  const ke_folds f = {&h, cut(p, first, rows), first, rows, left, space};
  ke_find_hat(&h, &env);
  ke_without_folds(&f, &env);
  return ke_folds_work(&f) <= sizeof space / sizeof *space / 2;
}

/* Largest difference of the residuals of the rows left out. */
static double gap(const problem *p)
{
  double left[N * K], b[S * K], most = 0.0;
  if (!leave_out(p, 1, left))
    return INFINITY;
  refit(p, b);
  for (size_t j = 0; j < K; j++)
    for (size_t i = p->first; i < p->first + p->m; i++) {
      double value = p->y[i + j * N];
      for (size_t l = 0; l < S; l++)
        value -= entry(p, i, l) * b[l + j * S];
      most = fmax(most, fabs(left[i + j * N] - value));
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

static void threads_share_folds_and_change_nothing(void)
{
  double *z = draw_many(N * L, 1), *y = draw_many(N * K, 2), one[N * K], two[N * K];
  const problem p = {z, y, NULL, 0.3, 20, 25};
  mu_assert(leave_out(&p, 1, one) && leave_out(&p, 2, two));
  mu_assert(memcmp(one, two, sizeof one) == 0);
  free(z);
  free(y);
}

/* The first column is that of one row alone: it has all there is of a direction, but for the ridge.
 */
static void folds_that_lose_a_direction_say_so(void)
{
  double *z = draw_many(N * L, 1), *y = draw_many(N * K, 2), left[N * K];
  for (size_t i = 0; i < N; i++)
    z[i] = i == 9 ? 1.0 : 0.0;
  for (int much = 0; much <= 1; much++) {
    for (size_t m = 4; m <= 30; m += 26) { /* on rows, and on columns */
      const problem p = {z, y, NULL, much ? 1e-3 : 1e-9, 7, m};
      mu_assert(leave_out(&p, 1, left));
      for (size_t i = 0; i < N; i++)
        mu_assert(isnan(left[i]) == (!much && i >= 7 && i < 7 + m));
    }
  }
  free(z);
  free(y);
}

/* Folds of one row, of many coordinates that lie apart. */
static void rows_that_lie_apart_are_looked_at_for_interrupts(void)
{
  enum { ROWS = 40000, SIZE = 100 };
  double *q = calloc((size_t)ROWS * (SIZE + 1), sizeof *q), *e = calloc(ROWS, sizeof *e);
  size_t *first = malloc((ROWS + 1) * sizeof *first);
  for (size_t i = 0; i <= ROWS; i++)
    first[i] = i;
  tally t;
  const ke_env env = counting(&t, 1);
  ke_regression g;
  memset(&g, 0, sizeof g);
  g.n = ROWS, g.k = 1;
  const ke_hat h = {&g, SIZE, NULL, q, e, NULL};
  ke_folds f = {&h, ROWS, first, first, malloc(ROWS * sizeof(double)), NULL};
  f.work = malloc(ke_folds_work(&f) * sizeof(double));
  ke_without_folds(&f, &env);
  mu_assert(t.checks == ROWS / ke_batch((SIZE + 1) * (2.0 + 64.0)));
  free(q), free(e), free(first), free(f.out), free(f.work);
}

int main(void)
{
  mu_run(folds_that_lose_a_direction_say_so);
  mu_run(rows_that_lie_apart_are_looked_at_for_interrupts);
  mu_run(threads_share_folds_and_change_nothing);
  mu_run(folds_left_out_are_those_of_refitting);
  return mu_report();
}
