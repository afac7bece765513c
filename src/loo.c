/* Exact leave-one-out of least squares: scores of blocks of rows, which nested.c (every size) and
 * ridges.c (every ridge) fill.
 *
 * With e the residual of a row and h the leverage of a unit of its weight (see regress.c), the
 * residual of the fit without m units of it is e / (1 - m h); here m = min(1, weight), so that a
 * row of weight 3 is treated as each of three copies. */
#include "loo.h"

#include "vector.h"

#include <string.h>

size_t ke_loo_slots(size_t blocks, size_t count) { return blocks * 2 * count; }

static int is_wrong(const ke_loo_block *s, size_t i, size_t k, size_t own)
{
  size_t best = 0;
  double most = -INFINITY;
  for (size_t j = 0; j < k; j++) {
    const double value = (double)(j == own) - s->v[i + j * s->m];
    best = value > most ? j : best;
    most = value > most ? value : most;
  }
  return best != own;
}

void ke_loo_add_scores(const ke_loo *o, const ke_loo_block *s, size_t at)
{
  const size_t k = o->g->k;
  for (size_t i = 0; i < s->m; i++) {
    const double w = ke_loo_weight(o->g, s->i0 + i);
    double squares = 0.0;
    for (size_t j = 0; j < k; j++)
      squares += s->v[i + j * s->m] * s->v[i + j * s->m];
    s->loss[at] += w * squares;
    if (o->label && is_wrong(s, i, k, (size_t)o->label[s->i0 + i]))
      s->error[at] += w;
  }
}

void ke_loo_clear_scores(const ke_loo *o, size_t count)
{
  ke_clear(o->loss, count);
  ke_clear(o->error, count);
}

void ke_loo_mean_scores(const ke_loo *o, size_t count)
{
  for (size_t at = 0; at < count; at++) {
    o->loss[at] /= o->g->total * (o->label ? 1.0 : (double)o->g->k);
    o->error[at] = o->label ? o->error[at] / o->g->total : o->loss[at];
  }
}

void ke_loo_keep_rows(const ke_loo *o, const ke_loo_block *s, size_t at)
{
  const size_t n = o->g->n, k = o->g->k, first = s->i0 + at * k * n;
  if (!o->rows.residual)
    return;
  memcpy(o->rows.left + s->i0 + at * n, s->left, s->m * sizeof(double));
  for (size_t j = 0; j < k; j++) {
    memcpy(o->rows.residual + first + j * n, s->e + j * s->m, s->m * sizeof(double));
    memcpy(o->rows.left_out + first + j * n, s->v + j * s->m, s->m * sizeof(double));
  }
}

void ke_loo_divide(const ke_regression *g, const ke_loo_block *s)
{
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < s->m; i++)
      s->v[i + j * s->m] = s->e[i + j * s->m] / s->left[i];
}

void ke_loo_start(const ke_regression *g, const ke_loo_block *s)
{
  const double share = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] = 1.0 - ke_loo_unit(g, s->i0 + i) * share;
  for (size_t j = 0; j < g->k; j++)
    memcpy(s->e + j * s->m, g->y + s->i0 + j * g->n, s->m * sizeof(double));
}

ke_loo_block ke_loo_take(const ke_loo_crew *c, size_t item, size_t worker, double **after)
{
  const size_t i0 = c->first + item * KE_LOO_ROWS, k = c->o->g->k;
  double *own = c->own + worker * c->each, *slot = c->slots + item * 2 * c->count;
  const ke_loo_block s = {i0,
                          ke_smaller(KE_LOO_ROWS, c->o->g->n - i0),
                          own,
                          own + KE_LOO_ROWS * k,
                          own + 2 * KE_LOO_ROWS * k,
                          slot,
                          slot + c->count};
  ke_clear(slot, 2 * c->count);
  *after = own + ke_loo_own(k);
  return s;
}

void ke_loo_add_slots(const ke_loo_crew *c, size_t blocks)
{
  for (size_t b = 0; b < blocks; b++) {
    const double *slot = c->slots + b * 2 * c->count;
    ke_add_scaled(c->o->loss, c->count, 1.0, slot);
    ke_add_scaled(c->o->error, c->count, 1.0, slot + c->count);
  }
}
