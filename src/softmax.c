/* How probable decisions make the classes: the weighted log loss and its derivatives.
 *
 * With v_c = b_0 d_c + b_c and p = softmax(v) of a row, mean = sum_c p_c d_c, y its class:
 *   loss      log(sum_c exp(v_c)) - v_y
 *   gradient  mean - d_y;  p_c - [c = y]
 *   Hessian   sum_c p_c (d_c - mean) d_c;  p_c (d_c - mean);  p_c [c = e] - p_c p_e
 * Rows come in tiles, so that exp has many at a time. Cost O(k^2) a row. */
#include "softmax.h"

#include "exp.h"
#include "vector.h"

#include <math.h>

#define ROWS 64 /* of a tile */

typedef struct {
  const ke_softmax *s;
  size_t i0, m;
  double *p;                /* m x k: values, then probabilities */
  double *top, *sum, *mean; /* m */
} tile;

size_t ke_softmax_work(size_t k) { return ROWS * (k + 3); }

static const double *decisions(const tile *t, size_t c) { return t->s->d + t->i0 + c * t->s->n; }

static void fill_values(const tile *t, const double *b)
{
  const size_t m = t->m;
  for (size_t c = 0; c < t->s->k; c++) {
    const double *d = decisions(t, c);
    for (size_t i = 0; i < m; i++) {
      const double value = b[0] * d[i] + b[1 + c];
      t->p[i + c * m] = value;
      t->top[i] = c == 0 || value > t->top[i] ? value : t->top[i];
    }
  }
}

/* Before the values become probabilities. */
static double own_values(const tile *t)
{
  double sum = 0.0;
  for (size_t i = 0; i < t->m; i++) {
    const int y = t->s->label[t->i0 + i];
    sum += t->s->weights[t->i0 + i] * (t->top[i] - (y < 0 ? 0.0 : t->p[i + (size_t)y * t->m]));
  }
  return sum;
}

static void make_probabilities(const tile *t)
{
  const size_t m = t->m, k = t->s->k;
  for (size_t c = 0; c < k; c++)
    ke_add_scaled(t->p + c * m, m, -1.0, t->top);
  ke_exp(t->p, t->p, m * k);
  ke_clear(t->sum, m);
  for (size_t c = 0; c < k; c++)
    ke_add_scaled(t->sum, m, 1.0, t->p + c * m);
  ke_clear(t->mean, m);
  for (size_t c = 0; c < k; c++)
    for (size_t i = 0; i < m; i++) {
      t->p[i + c * m] /= t->sum[i];
      t->mean[i] += t->p[i + c * m] * decisions(t, c)[i];
    }
}

static double sum_of_logs(const tile *t)
{
  double sum = 0.0;
  for (size_t i = 0; i < t->m; i++)
    sum += t->s->weights[t->i0 + i] * log(t->sum[i]);
  return sum;
}

/* What the class of a row takes off. */
static void add_own(const tile *t, double *gradient)
{
  for (size_t i = 0; i < t->m; i++) {
    const double w = t->s->weights[t->i0 + i];
    const int y = t->s->label[t->i0 + i];
    gradient[0] += w * t->mean[i];
    if (y >= 0) {
      gradient[0] -= w * decisions(t, (size_t)y)[i];
      gradient[1 + y] -= w;
    }
  }
}

/* Of class c: its gradient, and its column of the Hessian down to the diagonal. */
static void add_class(const tile *t, size_t c, ke_bend *out)
{
  const size_t m = t->m;
  const double *p = t->p + c * m, *d = decisions(t, c);
  double *column = out->hessian + (1 + c) * (t->s->k + 1);
  for (size_t i = 0; i < m; i++) {
    const double share = t->s->weights[t->i0 + i] * p[i], off = share * (d[i] - t->mean[i]);
    out->gradient[1 + c] += share;
    out->hessian[0] += off * d[i];
    column[0] += off;
    column[1 + c] += share;
    for (size_t e = 0; e <= c; e++)
      column[1 + e] -= share * t->p[i + e * m];
  }
}

static void add_tile(const tile *t, const double *b, ke_bend *out)
{
  fill_values(t, b);
  out->loss += own_values(t);
  make_probabilities(t);
  out->loss += sum_of_logs(t);
  add_own(t, out->gradient);
  for (size_t c = 0; c < t->s->k; c++)
    add_class(t, c, out);
}

static void add_penalty(const ke_softmax *s, const double *b, ke_bend *out)
{
  const size_t size = s->k + 1;
  for (size_t q = 0; q < size; q++) {
    out->loss += s->penalty * b[q] * b[q] / 2.0;
    out->gradient[q] += s->penalty * b[q];
    out->hessian[q * (size + 1)] += s->penalty;
    for (size_t e = 0; e < q; e++)
      out->hessian[q + e * size] = out->hessian[e + q * size];
  }
}

void ke_softmax_at(const ke_softmax *s, const double *b, double *work, ke_bend *out,
                   const ke_env *env)
{
  const size_t size = s->k + 1;
  const size_t tiles = ke_batch(ROWS * (double)s->k * (30.0 + (double)s->k));
  tile t = {s, 0, 0, work + 3 * ROWS, work, work + ROWS, work + 2 * ROWS};
  out->loss = 0.0;
  ke_clear(out->gradient, size);
  ke_clear(out->hessian, size * size);
  for (; t.i0 < s->n; t.i0 += ROWS) {
    t.m = ke_smaller(ROWS, s->n - t.i0);
    add_tile(&t, b, out);
    if (t.i0 / ROWS % tiles == tiles - 1)
      ke_check(env);
  }
  add_penalty(s, b, out);
}
