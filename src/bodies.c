/* Messages answered by one body that holds all rows. */
#include "bodies.h"

#include "stream.h"

#include <math.h>

static ke_status one_start(void *self, int normalised, ke_start *out, const ke_env *env)
{
  ke_one_body *one = (ke_one_body *)self;
  const ke_source *s = one->body.source;
  double value[KE_RUNGS];
  ke_beginning begin = {.trace = ke_new_ladder(1, value)};
  (void)env;
  const ke_status status = ke_body_start(&one->body, normalised, &begin);
  if (status != KE_OK)
    return status;
  out->top = begin.top;
  out->counted = begin.counted;
  out->rows = begin.rows;
  ke_ladder_total(&begin.trace, &out->trace);
  out->cost = s->cost;
  out->cancels = s->cancels;
  out->centred = s->centred;
  return begin.bottom < -KE_NEGATIVE * begin.top ? KE_INDEFINITE : KE_OK;
}

/* ---- fitness ------------------------------------------------------------------------------ */

#define ENOUGH ((size_t)65536) /* rows that tell most of the searched ones from the best */
#define ERRORS 6.0             /* standard errors beyond which nothing is left to chance */

/* Rows of a tile to look at before all of them; all at once where they are few, or where some count
 * more than others: then a sample tells too little. */
static size_t slice_of(const ke_body *b)
{
  return b->n < 8 * ENOUGH || b->times ? KE_TILE : (KE_TILE * ENOUGH / b->n / 8 + 1) * 8;
}

/* 1 / diagonal, or 0. */
static double inverse_of(const ke_body *b, size_t i) { return b->inverse[i] / ke_times(b, i); }

/* Of at most KE_BLOCK rows; `squares` of what tiles add to it, or NULL. */
static void block_fitness(ke_one_body *one, const size_t *rows, size_t count, size_t slice,
                          double *out, double *squares, double *work, const ke_env *env)
{
  const ke_body *b = &one->body;
  ke_ladder sums = ke_new_ladder(count, one->sums);
  b->source->does->gather(b->source->self, KE_PICKS, rows, count);
  ke_body_fitness(b, count, slice, &sums, squares, work, env);
  ke_ladder_total(&sums, out);
  for (size_t j = 0; j < count; j++) {
    const double inverse = inverse_of(b, rows[j]);
    out[j] *= inverse;
    if (squares)
      squares[j] *= inverse * inverse;
  }
}

/* The most that each of the rows may have, from a sample; the answer is what the best has at least.
 * Rows of a tile may be near each other, so it is tiles that count as independent: their sums, of
 * terms between 0 and 1, vary as they are seen to, but no less than terms by themselves might. */
static double sample_fitness(ke_one_body *one, const size_t *rows, size_t count, size_t slice,
                             double *most, double *work, const ke_env *env)
{
  const double tiles = (double)ke_body_tiles(&one->body);
  double squares[KE_BLOCK], least = 0.0;
  for (size_t j = 0; j < count; j += KE_BLOCK) {
    const size_t m = ke_smaller(KE_BLOCK, count - j);
    block_fitness(one, rows + j, m, slice, most + j, squares, work, env);
    for (size_t k = 0; k < m; k++) {
      const double sum = most[j + k], spread = squares[k] - sum * sum / tiles,
                   error = isfinite(spread) ? ERRORS * sqrt(fmax(spread, sum)) : INFINITY;
      least = fmax(least, sum - error);
      most[j + k] = sum + error + ERRORS * ERRORS * (double)slice;
    }
  }
  return least;
}

/* Rows that a sample shows to fall short of the best have fitness 0. */
static void searched_fitness(ke_one_body *one, const size_t *rows, size_t count, double *fitness,
                             double *work, const ke_env *env)
{
  const size_t slice = slice_of(&one->body);
  const int sampled = slice < KE_TILE;
  const double least = sampled ? sample_fitness(one, rows, count, slice, fitness, work, env) : 0.0;
  for (size_t j = 0; j < count;) {
    size_t m = 0, at[KE_BLOCK], row[KE_BLOCK];
    double value[KE_BLOCK];
    for (; j < count && m < KE_BLOCK; j++) {
      if (!sampled || fitness[j] >= least) {
        at[m] = j;
        row[m++] = rows[j];
      }
      fitness[j] = 0.0;
    }
    if (m > 0)
      block_fitness(one, row, m, KE_TILE, value, NULL, work, env);
    for (size_t k = 0; k < m; k++)
      fitness[at[k]] = value[k];
  }
}

/* work: max(ke_row_sums_work, ke_fitness_work) doubles. */
static void one_first(void *self, const size_t *rows, size_t count, double *fitness, double *work,
                      const ke_env *env)
{
  ke_one_body *one = (ke_one_body *)self;
  const ke_body *b = &one->body;
  if (rows) {
    searched_fitness(one, rows, count, fitness, work, env);
    return;
  }
  ke_row_sums(b->source, 1, b->inverse, fitness, work, env);
  for (size_t j = 0; j < b->n; j++)
    fitness[j] *= inverse_of(b, j);
}

static void one_propose(void *self, const ke_wish *wish, ke_proposal *out, const ke_env *env)
{
  (void)env;
  ke_body_propose(&((ke_one_body *)self)->body, wish, out);
}

static double one_weigh(void *self, const ke_judge *judge, const ke_env *env)
{
  double value[KE_RUNGS], sum;
  ke_ladder sums = ke_new_ladder(1, value);
  (void)env;
  ke_body_weigh(&((ke_one_body *)self)->body, judge, &sums);
  ke_ladder_total(&sums, &sum);
  return sum;
}

static void one_find(void *self, const ke_judge *judge, const double *target, size_t count,
                     size_t *row, const ke_env *env)
{
  const ke_body *b = &((ke_one_body *)self)->body;
  (void)env;
  for (size_t k = 0; k < count; k++)
    row[k] = ke_body_find(b, judge, 0, ke_body_tiles(b), target[k]);
}

static void one_rows(void *self, size_t size, ke_pool *pool, const ke_env *env)
{
  const ke_body *b = &((ke_one_body *)self)->body;
  (void)env;
  b->source->does->gather(b->source->self, KE_CANDIDATES, pool->row, pool->count);
  ke_body_rows(b, pool->row, pool->count, size, pool->panel, pool->most, pool->left, pool->gained);
  for (size_t c = 0; c < pool->count; c++)
    pool->weight[c] = b->weight[pool->row[c]];
}

static void one_column(void *self, const ke_pool *pool, size_t c, double *out)
{
  const ke_source *s = ((ke_one_body *)self)->body.source;
  s->does->gather(s->self, KE_SINGLE, pool->row + c, 1);
  s->does->between(s->self, KE_CANDIDATES, KE_SINGLE, out, pool->most);
}

static void one_update(void *self, const ke_round *round, ke_pick *path, const ke_env *env)
{
  ke_one_body *one = (ke_one_body *)self;
  const ke_source *s = one->body.source;
  ke_totals totals = ke_new_totals(round->picks, one->sums, one->extreme);
  s->does->gather(s->self, KE_PICKS, round->index, round->picks);
  ke_body_update(&one->body, round, &totals, env);
  ke_totals_to_path(&totals, round->picks, path);
}

ke_bodies ke_bodies_one(ke_one_body *one)
{
  static const ke_messages does = {one_start, one_first, one_propose, one_weigh,
                                   one_find,  one_rows,  one_column,  one_update};
  one->body.first = 0;
  one->body.whole = one->body.n;
  const ke_bodies bodies = {&does, one, one->body.n};
  return bodies;
}
