/* Proposals of parts, joined, are those of the whole: best rows, ties, what is left out. */
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 4 * KE_TILE + 17, MOST = 20 };

static double residual[N], weight[N], keys[N], sorted[N];

static ke_body body_of(size_t first, size_t n)
{
  ke_body b;
  memset(&b, 0, sizeof b);
  b.n = n, b.first = first, b.whole = N;
  b.residual = residual + first, b.weight = weight + first;
  b.keys = keys, b.sorted = sorted;
  return b;
}

/* Many rows tie, some within a hair. */
static void fill(int kind)
{
  for (size_t i = 0; i < N; i++) {
    const double base = (double)(i * 37 % (kind == 0 ? N : 11)) / 11.0;
    residual[i] = kind == 2 ? 1.0 + 1e-13 * (double)(i % 50) : base;
    weight[i] = 1.0;
  }
}

static const ke_judge judge = {0, 1e-3, 1e-15, 0.0};

static int is_listed(const ke_proposal *p, size_t row)
{
  for (size_t i = 0; i < p->count; i++)
    if (p->row[i] == row)
      return 1;
  return 0;
}

/* The lowest row of key at least `least`, among all or those not proposed. */
static size_t lowest(const ke_proposal *without, double least)
{
  for (size_t i = 0; i < N; i++)
    if (residual[i] >= least && !(without && is_listed(without, i)))
      return i;
  return N;
}

static void test_the_best_and_the_records_are_proposed(void)
{
  size_t row[N];
  double key[N];
  for (int kind = 0; kind < 3; kind++) {
    fill(kind);
    const ke_body b = body_of(0, N);
    const ke_wish wish = {judge, 0, MOST, 0, N};
    ke_proposal p = {.row = row, .key = key};
    ke_body_propose(&b, &wish, &p);
    double best = 0.0, outside = 0.0, least = HUGE_VAL;
    for (size_t i = 0; i < N; i++) {
      best = fmax(best, residual[i]);
      outside = is_listed(&p, i) ? outside : fmax(outside, residual[i]);
    }
    for (size_t i = 0; i < p.count; i++) {
      mu_assert(key[i] == residual[row[i]] && (i == 0 || row[i] > row[i - 1]));
      least = fmin(least, key[i]);
    }
    mu_assert(p.count >= MOST && p.outside == outside && outside <= best);
    mu_assert(is_listed(&p, lowest(NULL, ke_tie_with(&judge, best))));
    mu_assert(p.steps > 0 && row[p.count] == lowest(&p, ke_tie_with(&judge, outside)));
    mu_assert(key[p.count + p.steps - 1] == outside);
  }
}

/* Whatever key another body may have, the lowest row within a tie of it is told. */
static void test_records_answer_for_any_larger_key(void)
{
  size_t row[N];
  double key[N];
  fill(2);
  const ke_body b = body_of(0, N);
  const ke_wish wish = {judge, 0, 1, 0, N};
  ke_proposal p = {.row = row, .key = key};
  ke_body_propose(&b, &wish, &p);
  for (int k = 0; k < 50; k++) {
    const double least = 1.0 + 1e-13 * (double)k;
    size_t found = N;
    for (size_t i = 0; i < p.count + p.steps; i++)
      found = key[i] >= least && row[i] < found ? row[i] : found;
    mu_assert(found == lowest(NULL, least));
  }
}

static void test_a_forced_row_is_proposed_and_order_is_kept(void)
{
  size_t row[N];
  double key[N];
  fill(1);
  const ke_body b = body_of(2 * KE_TILE, KE_TILE);
  const ke_wish forced = {judge, 0, 1, 0, 2 * KE_TILE + 11};
  ke_proposal p = {.row = row, .key = key};
  ke_body_propose(&b, &forced, &p);
  mu_assert(is_listed(&p, 2 * KE_TILE + 11));
  const ke_wish order = {judge, 1, 5, 2 * KE_TILE + 3, N};
  ke_body_propose(&b, &order, &p);
  mu_assert(p.count == 5 && p.steps == 0);
  size_t next = 2 * KE_TILE + 3;
  for (size_t i = 0; i < p.count; i++, next++) {
    while (residual[next] <= judge.floor)
      next++;
    mu_assert(row[i] == next);
  }
  const ke_wish before = {judge, 1, 5, 0, N}, after = {judge, 1, 5, N, N};
  ke_body_propose(&b, &before, &p);
  mu_assert(row[0] >= 2 * KE_TILE && p.count == 5);
  ke_body_propose(&b, &after, &p);
  mu_assert(p.count == 0);
}

/* The row where the running sum passes the target. */
static void test_draws_fall_on_rows_by_their_keys(void)
{
  double value[KE_RUNGS], sum, running = 0.0;
  for (size_t i = 0; i < N; i++)
    residual[i] = (double)(i % 4); /* whole numbers: no rounding */
  const ke_body b = body_of(0, N);
  ke_ladder l = ke_new_ladder(1, value);
  ke_body_weigh(&b, &judge, &l);
  ke_ladder_total(&l, &sum);
  for (size_t i = 0; i < N; i++) {
    for (double in = 0.0; in < residual[i]; in += 1.0)
      mu_assert(ke_body_find(&b, &judge, 0, ke_body_tiles(&b), running + in) == i);
    running += residual[i];
  }
  mu_assert(sum == running);
  const size_t last = ke_body_find(&b, &judge, 0, ke_body_tiles(&b), sum);
  mu_assert(last < N && residual[last] > 0.0);
}

static void test_keys_are_residuals_or_ratios(void)
{
  const ke_judge ratio = {1, 1e-3, 0.0, 1e-6};
  mu_assert(ke_key(&judge, 0.5, 0.0, 1.0) == 0.5);
  mu_assert(ke_key(&judge, 1e-3, 0.0, 1.0) == 0.0);
  mu_assert(ke_key(&ratio, 0.5, 0.25, 1.0) == 2.0);
  mu_assert(ke_key(&ratio, 0.5, 1e-6, 1.0) == DBL_MAX);
  mu_assert(ke_key(&ratio, 5e-4, 0.25, 1.0) == 0.0);
  mu_assert(ke_tie_with(&judge, 1.0) < 1.0 && ke_tie_with(&judge, 1.0) > 1.0 - 2.0 * KE_TIE);
}

int main(void)
{
  mu_run(test_the_best_and_the_records_are_proposed);
  mu_run(test_records_answer_for_any_larger_key);
  mu_run(test_a_forced_row_is_proposed_and_order_is_kept);
  mu_run(test_draws_fall_on_rows_by_their_keys);
  mu_run(test_keys_are_residuals_or_ratios);
  return mu_report();
}
