/* Nearest rows.
 *
 * Tiles of inner products give squared distances good to rounding; every
 * row that could be nearest within that rounding is measured again, coordinate by coordinate,
 * so the answer is that of the plain loop. Coordinates are rounded themselves: distances that
 * differ by no more than that are equal, and the lowest row of these is taken, so that the choice
 * is not that of a BLAS. A query for which that came up is looked through once more.
 * Where classes are asked for, rows that are equally near vote.
 *
 * Nested sizes: adding a direction adds (s_i - s_j)^2 to all distances of a few rows left out:
 * O(n^2 d) in all, memory KE_QUERIES n. */
#include "nearest.h"

#include "simd.h"
#include "threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squared distance coordinate by coordinate. */
static double distance2(const ke_rows *a, size_t i, const ke_rows *b, size_t j)
{
  const double *x = ke_row(a, i), *z = ke_row(b, j);
  double sum = 0.0;
  for (size_t k = 0; k < a->d; k++) {
    const double gap = x[k * KE_PANEL] - z[k * KE_PANEL];
    sum += gap * gap;
  }
  return sum;
}

/* The largest squared distance that counts as equal to `least`. */
static double equal_up_to(double least, double rounding)
{
  return least + rounding * (2.0 * sqrt(least) + rounding);
}

static size_t class_of(const ke_nearest *p, size_t row)
{
  return p->label ? (size_t)p->label[row] : 0;
}

/* Row j is nearer than what entry `at` holds: a tie if that is still as near. */
static void replace(ke_nearest *p, size_t at, size_t j, double distance)
{
  const double limit = equal_up_to(distance, p->rounding);
  p->tied[at] = p->distance[at] <= limit;
  p->distance[at] = distance;
  p->limit[at] = limit;
  p->nearest[at] = j;
}

/* Query i against rows j0 .. j0 + k, whose inner products with it are g[0], g[ld], ... */
static void scan(ke_nearest *p, size_t i, size_t j0, size_t k, const double *g, size_t ld)
{
  /* rounding of an expanded distance; more of it only means more exact ones */
  const double slack = ((double)p->rows->d + 8.0) * DBL_EPSILON;
  for (size_t c = 0; c < k; c++) {
    const size_t j = j0 + c, at = i + class_of(p, j) * p->queries->n;
    if (p->self && i == j)
      continue;
    const double lengths = p->queries->norm[i] + p->rows->norm[j];
    if ((lengths - 2.0 * g[c * ld]) - slack * lengths > p->distance[at])
      continue;
    const double exact = distance2(p->queries, i, p->rows, j);
    if (exact < p->distance[at])
      replace(p, at, j, exact);
  }
}

/* Of the rows that are equally near the lowest. */
static void settle_tie(ke_nearest *p, size_t i, size_t class)
{
  const size_t at = i + class * p->queries->n;
  for (size_t j = 0; j < p->nearest[at]; j++)
    if (class_of(p, j) == class && !(p->self && i == j) &&
        distance2(p->queries, i, p->rows, j) <= p->limit[at])
      p->nearest[at] = j;
}

static void settle_ties(ke_nearest *p, const ke_env *env)
{
  const size_t m = p->queries->n;
  for (size_t k = 0; k < p->classes; k++)
    for (size_t i = 0; i < m; i++)
      if (p->tied[i + k * m]) {
        ke_check(env);
        settle_tie(p, i, k);
      }
}

static void start_empty(ke_nearest *p)
{
  for (size_t i = 0; i < p->queries->n * p->classes; i++) {
    p->distance[i] = p->limit[i] = INFINITY;
    p->nearest[i] = p->rows->n;
    p->tied[i] = 0;
  }
}

/* Queries by tiles from `first` on, an item each, against rows j0 .. j0 + count. */
typedef struct {
  ke_nearest *p;
  size_t j0, count;
  double *work;
} sweep;

static void sweep_tile(void *data, size_t item, size_t worker)
{
  const sweep *s = (const sweep *)data;
  ke_nearest *p = s->p;
  const size_t i0 = item * KE_TILE, m = ke_smaller(KE_TILE, p->queries->n - i0);
  double *g = s->work + worker * KE_TILE * KE_TILE;
  for (size_t j = s->j0; j < s->j0 + s->count; j += KE_TILE) {
    const size_t k = ke_smaller(KE_TILE, s->j0 + s->count - j);
    ke_inner(p->queries, i0, m, p->rows, j, k, g, KE_TILE);
    for (size_t i = 0; i < m; i++)
      scan(p, i0 + i, j, k, g + i, KE_TILE);
  }
}

#define SPAN 16 /* tiles of rows that a tile of queries meets at a time */

void ke_find_nearest(ke_nearest *p, double *work, const ke_env *env)
{
  const size_t m = p->queries->n, n = p->rows->n;
  const size_t tiles = (m + KE_TILE - 1) / KE_TILE;
  const double flops = KE_TILE * KE_TILE * (double)(2 * p->rows->d + 16);
  const size_t span = KE_TILE * ke_smaller(SPAN, ke_batch(flops));
  start_empty(p);
  for (size_t j0 = 0; j0 < n; j0 += span) {
    const size_t count = ke_smaller(span, n - j0);
    sweep s = {p, j0, count, work};
    ke_check(env);
    ke_share(env, tiles, flops * (double)count / KE_TILE, sweep_tile, &s);
  }
  settle_ties(p, env);
}

/* ---- nested sizes -------------------------------------------------------------------- */

#define DIRECTIONS 16 /* taken together, so that their columns stay in the cache */

INLINE void advance_v4(v4 *distance, const v4 *column, double at, v4 *low)
{
  const v4 gap = *column - at;
  *distance += gap * gap;
  *low = SELECT(*distance < *low, *distance, *low);
}

/* distance[j] += (column[j] - at)^2 for j < n, and the `lowest` of these. The last few rows take
 * the same way as the others, so that identical rows stay at identical distances. */
INLINE void advance_body(double *distance, const double *column, double at, size_t n,
                         double *lowest)
{
  v4 low = SPLAT(INFINITY);
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    v4 sum = LOAD(distance + j), values = LOAD(column + j);
    advance_v4(&sum, &values, at, &low);
    STORE(distance + j, sum);
  }
  if (j < n) {
    v4 sum = SPLAT(INFINITY), values = SPLAT(at);
    memcpy(&sum, distance + j, (n - j) * sizeof(double));
    memcpy(&values, column + j, (n - j) * sizeof(double));
    advance_v4(&sum, &values, at, &low);
    memcpy(distance + j, &sum, (n - j) * sizeof(double));
  }
  *lowest = fmin(fmin(low[0], low[1]), fmin(low[2], low[3]));
}

DEFINE_DISPATCHED(static, advance,
                  (double *distance, const double *column, double at, size_t n, double *lowest),
                  (distance, column, at, n, lowest))

/* Votes of rows j0 .. j1 within distance `limit`, and the `lowest` number among them. */
static size_t votes_near(const ke_nested *p, const double *distance, double limit, size_t j0,
                         size_t j1, size_t *lowest)
{
  size_t votes = 0;
  *lowest = (size_t)-1;
  for (size_t j = j0; j < j1; j++)
    if (distance[j] <= limit) {
      votes++;
      if (p->number[j] < *lowest)
        *lowest = p->number[j];
    }
  return votes;
}

/* Whether of the rows within distance `limit` most are of a class other than `own`; of classes with
 * as many votes that of the lowest row number wins. */
static int vote_is_lost(const ke_nested *p, const double *distance, double limit, size_t own)
{
  size_t winner = own, most = 0, first = (size_t)-1;
  for (size_t k = 0; p->start[k] < p->n; k++) {
    size_t lowest;
    const size_t votes = votes_near(p, distance, limit, p->start[k], p->start[k + 1], &lowest);
    if (votes > most || (votes == most && lowest < first)) {
      winner = k;
      most = votes;
      first = lowest;
    }
  }
  return winner != own;
}

/* Row i left out: distances brought from direction t0 to t1, an error or not at each. */
static void follow(const ke_nested *p, size_t i, size_t t0, size_t t1, double *distance,
                   unsigned char *wrong)
{
  const size_t class = (size_t)p->label[i], from = p->start[class], to = p->start[class + 1];
  for (size_t t = t0; t < t1; t++) {
    const double *column = p->rows + t * p->n, at = column[i];
    double before, own, after;
    advance(distance, column, at, from, &before);
    advance(distance + from, column + from, at, to - from, &own);
    advance(distance + to, column + to, at, p->n - to, &after);
    const double other = fmin(before, after);
    const double limit = equal_up_to(fmin(own, other), p->rounding[t]);
    wrong[t - t0] = own > limit || (other <= limit && vote_is_lost(p, distance, limit, class));
  }
}

/* Rows i0, i0 + 1, ... left out, an item each. */
typedef struct {
  const ke_nested *p;
  size_t i0, t0, t1;
  double *distance;
  unsigned char (*wrong)[DIRECTIONS];
} leaving;

static void leave_out(void *data, size_t i, size_t worker)
{
  const leaving *l = (const leaving *)data;
  (void)worker;
  follow(l->p, l->i0 + i, l->t0, l->t1, l->distance + i * l->p->n, l->wrong[i]);
}

void ke_nested_errors(const ke_nested *p, double *distance, size_t *errors, const ke_env *env)
{
  unsigned char wrong[KE_QUERIES][DIRECTIONS];
  memset(errors, 0, p->d * sizeof(size_t));
  for (size_t i0 = 0; i0 < p->n; i0 += KE_QUERIES) {
    const size_t count = ke_smaller(KE_QUERIES, p->n - i0);
    memset(distance, 0, count * p->n * sizeof(double));
    for (size_t i = 0; i < count; i++)
      distance[i * p->n + i0 + i] = INFINITY;
    for (size_t t0 = 0; t0 < p->d; t0 += DIRECTIONS) {
      ke_check(env);
      const size_t t1 = t0 + ke_smaller(DIRECTIONS, p->d - t0);
      leaving l = {p, i0, t0, t1, distance, wrong};
      ke_share(env, count, 8.0 * (double)(p->n * (t1 - t0)), leave_out, &l);
      for (size_t i = 0; i < count; i++)
        for (size_t t = t0; t < t1; t++)
          errors[t] += wrong[i][t - t0];
    }
    ke_progress(env, (double)(i0 + count) / (double)p->n);
  }
}
