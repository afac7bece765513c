#include "classes.h"
#include "count.h"
#include "kernelect.h"
#include "minunit.h"
#include "pack.h"

#include <stdlib.h>

static double distance2(size_t i, size_t j, size_t d)
{
  double sum = 0.0;
  for (size_t k = 0; k < d; k++)
    sum += (z[i + k * N] - z[j + k * N]) * (z[i + k * N] - z[j + k * N]);
  return sum;
}

/* Nearest other row of class k (-1: of any) by the plain loop; distances within `rounding` of the
 * least are equal, the lowest row wins. */
static size_t plain_nearest(size_t i, size_t d, int k, double rounding)
{
  double low = INFINITY;
  for (size_t j = 0; j < N; j++)
    if (j != i && (k < 0 || label[j] == k))
      low = fmin(low, distance2(i, j, d));
  for (size_t j = 0; j < N; j++)
    if (j != i && (k < 0 || label[j] == k) && sqrt(distance2(i, j, d)) <= sqrt(low) + rounding)
      return j;
  return N;
}

static ke_rows pack(void)
{
  ke_rows rows = {N, D, NULL, NULL, 0, 0};
  rows.panel = malloc(ke_panel_size(N, D) * sizeof(double));
  rows.norm = malloc(ke_padded(N) * sizeof(double));
  ke_pack(z, N, NULL, &rows);
  return rows;
}

/* Room for the answers of n queries in `classes` classes. */
static ke_nearest lend_nearest(const ke_rows *rows, const int *of, size_t classes, double rounding)
{
  const size_t count = rows->n * classes;
  ke_nearest p = {.queries = rows, .rows = rows, .label = of, .classes = classes, .self = 1};
  p.rounding = rounding;
  p.distance = malloc(2 * count * sizeof(double));
  p.limit = p.distance + count;
  p.nearest = malloc(count * sizeof(size_t));
  p.tied = malloc(count);
  return p;
}

static void give_back(ke_nearest *p) { free(p->distance), free(p->nearest), free(p->tied); }

static size_t count_wrong(double rounding, int threads)
{
  ke_rows rows = pack();
  size_t wrong = 0;
  const ke_env several = {.threads = threads};
  double *work = malloc((size_t)threads * KE_TILE * KE_TILE * sizeof(double));
  ke_nearest p = lend_nearest(&rows, label, CLASSES, rounding),
             any = lend_nearest(&rows, NULL, 1, rounding);
  ke_find_nearest(&p, work, &several);
  ke_find_nearest(&any, work, &several);
  for (size_t i = 0; i < N; i++) {
    for (size_t k = 0; k < CLASSES; k++)
      wrong +=
          p.nearest[i + k * N] != plain_nearest(i, D, (int)k, rounding) ||
          fabs(p.distance[i + k * N] - distance2(i, plain_nearest(i, D, (int)k, 0.0), D)) > 1e-12;
    wrong += any.nearest[i] != plain_nearest(i, D, -1, rounding);
  }
  give_back(&p), give_back(&any);
  free(rows.panel), free(rows.norm), free(work);
  return wrong;
}

static void nearest_rows_match_the_plain_loop(void)
{
  for (int threads = 1; threads <= 2; threads++) {
    mu_assert(count_wrong(0.0, threads) == 0);
    mu_assert(count_wrong(0.05, threads) == 0); /* many ties */
    mu_assert(count_wrong(1e3, threads) == 0);  /* all are equal: the lowest row */
  }
}

/* Far from the origin inner products say little about distances: the nearest are exact still. */
static void nearest_rows_are_exact_far_from_the_origin(void)
{
  enum { M = 60 };
  double far[M], *work = malloc(KE_TILE * KE_TILE * sizeof(double));
  size_t wrong = 0;
  uint64_t state = 3;
  for (size_t i = 0; i < M; i++)
    far[i] = 1e6 + 1e-4 * draw(&state);
  ke_rows rows = {
      M, 1, malloc(ke_panel_size(M, 1) * sizeof(double)), malloc(ke_padded(M) * sizeof(double)),
      0, 0};
  ke_pack(far, M, NULL, &rows);
  ke_nearest p = lend_nearest(&rows, NULL, 1, 0.0);
  ke_find_nearest(&p, work, &env);
  for (size_t i = 0; i < M; i++)
    for (size_t j = 0; j < M; j++)
      wrong += j != i && fabs(far[j] - far[i]) < fabs(far[p.nearest[i]] - far[i]);
  give_back(&p);
  free(rows.panel), free(rows.norm), free(work);
  mu_assert(wrong == 0);
}

/* The class of most of the rows that are as near to row i as the nearest, of the lowest row if
 * several have as many. */
static int plain_vote(size_t i, size_t d, double rounding)
{
  size_t votes[CLASSES] = {0}, first[CLASSES];
  const double least = distance2(i, plain_nearest(i, d, -1, 0.0), d);
  const double limit = least + rounding * (2.0 * sqrt(least) + rounding);
  for (size_t j = N; j-- > 0;)
    if (j != i && distance2(i, j, d) <= limit) {
      votes[label[j]]++;
      first[label[j]] = j;
    }
  int best = -1;
  for (int k = 0; k < CLASSES; k++)
    if (votes[k] &&
        (best < 0 || votes[k] > votes[best] || (votes[k] == votes[best] && first[k] < first[best])))
      best = k;
  return best;
}

static void nested_errors_match_the_plain_loop(void)
{
  size_t start[CLASSES + 1] = {0, 0, 0, N}, number[N], errors[D];
  for (size_t i = 0; i < N; i++)
    number[i] = i;
  for (size_t i = N; i-- > 0;)
    start[label[i]] = i;
  for (double rounding = 0.0; rounding < 0.2; rounding += 0.15) {
    double allowed[D];
    for (size_t d = 0; d < D; d++)
      allowed[d] = rounding * (double)(d + 1) / D;
    const ke_nested p = {N, D, z, label, start, number, allowed};
    double *distance = malloc(KE_QUERIES * N * sizeof(double));
    ke_nested_errors(&p, distance, errors, &env);
    free(distance);
    for (size_t d = 1; d <= D; d++) {
      size_t wrong = 0;
      for (size_t i = 0; i < N; i++)
        wrong += plain_vote(i, d, allowed[d - 1]) != label[i];
      mu_assert(errors[d - 1] == wrong);
    }
  }
}

/* ---- looks for an interrupt and progress --------------------------------------------------- */

enum {
  FEW = 40,             /* rows, */
  MANY = 70,            /* and directions */
  EVERY_DIRECTIONS = 16 /* by which distances grow */
};

/* Wide rows cost so much that each tile of the caller is followed by a look. */
static void neighbours_look_for_interrupts(void)
{
  enum { WIDE = 2000 };
  double *values = draw_many(N * WIDE, 5);
  ke_rows rows = packed(values, N, WIDE);
  double *work = malloc(2 * KE_TILE * KE_TILE * sizeof(double));
  size_t checks[2];
  ke_nearest p = lend_nearest(&rows, NULL, 1, 0.0);
  for (int threads = 1; threads <= 2; threads++) {
    tally t;
    const ke_env counted = counting(&t, threads);
    ke_find_nearest(&p, work, &counted);
    checks[threads - 1] = t.checks;
  }
  give_back(&p);
  free(values), free(rows.panel), free(rows.norm), free(work);
  mu_assert(checks[0] == steps(N, KE_TILE) * (1 + steps(N, KE_TILE)));
  mu_assert(checks[1] >= steps(N, KE_TILE) && checks[1] <= checks[0]);
}

static void nested_sizes_look_for_interrupts_and_report(void)
{
  double *rows = draw_many(FEW * MANY, 2), distance[KE_QUERIES * FEW], allowed[MANY] = {0.0};
  int one_class[FEW] = {0};
  const size_t start[] = {0, FEW};
  size_t number[FEW], errors[MANY];
  for (size_t i = 0; i < FEW; i++)
    number[i] = i;
  const ke_nested p = {FEW, MANY, rows, one_class, start, number, allowed};
  tally t;
  const ke_env counted = counting(&t, 1);
  ke_nested_errors(&p, distance, errors, &counted);
  free(rows);
  mu_assert(t.checks == steps(FEW, KE_QUERIES) * steps(MANY, EVERY_DIRECTIONS));
  mu_assert(t.reports == steps(FEW, KE_QUERIES) && t.share == 1.0 && !t.astray);
}

int main(void)
{
  fill();
  mu_run(nearest_rows_match_the_plain_loop);
  mu_run(nearest_rows_are_exact_far_from_the_origin);
  mu_run(nested_errors_match_the_plain_loop);
  mu_run(neighbours_look_for_interrupts);
  mu_run(nested_sizes_look_for_interrupts_and_report);
  return mu_report();
}
