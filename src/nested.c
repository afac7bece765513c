/* Exact leave-one-out of least squares on nested columns, for every size (see loo.c).
 *
 * Leverage 1. As the ridge goes to 0 numerator and denominator both vanish for a row that alone
 * fixes a direction. Their ratio tends to <a, x> / (m <x, x>), a and x being the coefficients of
 * smallest norm that fit y and the row's own indicator. Both are sums over columns of R^{-1}, from
 * which null directions (of dependent columns) are projected out; so they grow with the size, at
 * O(size) a row. Beyond a leverage of 1 - 1e-10 rounding leaves e / (1 - h) no digits, and this
 * limit is taken; below it the relative error is some eps / (1 - h). */
#include "nested.h"

#include "dense.h"
#include "threads.h"
#include "vector.h"

#include <math.h>

#define LEVERAGE_ONE 1e-10 /* what is left of 1 counts as nothing */
#define BLOCKS 32          /* that threads share at a time */

/* Rows of a block with leverage 1 at the last size: x (size each) and a (size x k), see above. */
typedef struct {
  size_t count;
  double *x, *a;
  size_t *row;
} limits;

static size_t nested_each(size_t size, size_t k)
{
  return ke_loo_own(k) + KE_LOO_ROWS * (size + 1) + size * k;
}

size_t ke_nested_work(size_t size, size_t k, int threads)
{
  return ke_loo_slots(BLOCKS, size) + (size_t)threads * nested_each(size, k);
}

static void add_column(const ke_regression *g, size_t l, const ke_loo_block *s)
{
  const double *q = g->z + s->i0 + l * g->n;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] -= ke_loo_unit(g, s->i0 + i) * q[i] * q[i];
  for (size_t j = 0; j < g->k; j++)
    ke_add_scaled(s->e + j * s->m, s->m, -g->c[l + j * g->L], q);
}

static double left_at_last(const ke_regression *g, size_t size, size_t i)
{
  double h = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t l = 0; l < size; l++)
    h += g->z[i + l * g->n] * g->z[i + l * g->n];
  return 1.0 - ke_loo_unit(g, i) * h;
}

int ke_leverage_one(const ke_loo *s, const ke_env *env)
{
  const size_t step = ke_batch(16.0 * (double)s->size); /* numbers lie n apart: memory's pace */
  for (size_t i = 0; i < s->g->n; i++) {
    if (left_at_last(s->g, s->size, i) <= LEVERAGE_ONE)
      return 1;
    if (i % step == step - 1)
      ke_check(env);
  }
  return 0;
}

/* Take the null directions among the first l columns of t out of column l. */
static void project(const ke_regression *g, double *t, size_t size, size_t l)
{
  for (int sweep = 0; sweep < 2; sweep++)
    for (size_t j = 0; j < l; j++)
      if (g->dependent[j])
        ke_add_scaled(t + l * size, size, -ke_dot(t + l * size, t + j * size, size), t + j * size);
}

/* Column l: of R^{-1}, null directions projected out; or, for a dependent column, the null
 * direction that it adds, of length 1 and orthogonal to the others. */
void ke_nested_inverse(const ke_regression *g, size_t size, double *t, const ke_env *env)
{
  ke_clear(t, size * size);
  for (size_t l = 0; l < size; l++) {
    double *column = t + l * size;
    const double *r = g->r + l * g->L;
    if (l > 0)
      ke_gemv('N', -1.0, (ke_dense){t, l, l, size}, r, 1, 0.0, column);
    column[l] = 1.0;
    project(g, t, size, l);
    const double by = g->dependent[l] ? sqrt(ke_dot(column, column, size)) : r[l];
    for (size_t i = 0; i <= l; i++)
      column[i] /= by;
    ke_check(env);
  }
}

static limits find_limits(const ke_loo *o, const ke_loo_block *s, size_t *row, double *after)
{
  limits found = {0, after, after + KE_LOO_ROWS * o->size, row};
  for (size_t i = 0; i < s->m; i++)
    if (left_at_last(o->g, o->size, s->i0 + i) <= LEVERAGE_ONE)
      row[found.count++] = i;
  ke_clear(found.x, found.count * o->size);
  ke_clear(found.a, o->size * o->g->k);
  return found;
}

/* Column l joins: coefficients grow by a multiple of t, or lose the null direction t. */
static void grow(double *x, const double *t, size_t size, int null, double by)
{
  ke_add_scaled(x, size, null ? -ke_dot(x, t, size) : by, t);
}

static void grow_limits(const ke_loo *o, const ke_loo_block *s, const limits *f, const double *t,
                        size_t l)
{
  const ke_regression *g = o->g;
  const int null = g->dependent[l];
  for (size_t i = 0; i < f->count; i++)
    grow(f->x + i * o->size, t, o->size, null, g->z[s->i0 + f->row[i] + l * g->n]);
  for (size_t j = 0; j < g->k; j++)
    grow(f->a + j * o->size, t, o->size, null, g->c[l + j * g->L]);
}

static void take_limits(const ke_loo *o, const ke_loo_block *s, const limits *f)
{
  for (size_t r = 0; r < f->count; r++) {
    const size_t i = f->row[r], size = o->size;
    const double *x = f->x + r * size;
    if (s->left[i] > LEVERAGE_ONE)
      continue;
    const double length = ke_loo_unit(o->g, s->i0 + i) * ke_dot(x, x, size);
    for (size_t j = 0; j < o->g->k; j++)
      s->v[i + j * s->m] = ke_dot(x, f->a + j * size, size) / length;
  }
}

typedef struct {
  ke_loo_crew c;
  const double *inverse; /* or NULL */
  const ke_env *env;     /* where one thread does all */
} nested_crew;

static void nested_block(void *data, size_t item, size_t worker)
{
  const nested_crew *w = (const nested_crew *)data;
  const ke_loo *o = w->c.o;
  double *after;
  const ke_loo_block s = ke_loo_take(&w->c, item, worker, &after);
  size_t row[KE_LOO_ROWS];
  limits f = {0, NULL, NULL, row};
  if (w->inverse)
    f = find_limits(o, &s, row, after);
  ke_loo_start(o->g, &s);
  for (size_t l = 0; l < o->size; l++) {
    add_column(o->g, l, &s);
    ke_loo_divide(o->g, &s);
    if (f.count > 0) {
      grow_limits(o, &s, &f, w->inverse + l * o->size, l);
      take_limits(o, &s, &f);
      ke_check(w->env);
    }
    ke_loo_add_scores(o, &s, l);
  }
  ke_loo_keep_rows(o, &s, 0);
}

void ke_nested_loo(const ke_loo *o, const double *inverse, const ke_env *env)
{
  const size_t n = o->g->n, k = o->g->k;
  const double flops = KE_LOO_ROWS * (double)o->size * (6.0 * (double)k + 4.0);
  ke_env all = *env;
  nested_crew w = {
      {o, 0, o->size, o->work, o->work + ke_loo_slots(BLOCKS, o->size), nested_each(o->size, k)},
      inverse,
      env};
  if (inverse) /* a block may take long, and is interrupted */
    all.threads = 1;
  ke_loo_clear_scores(o, o->size);
  for (; w.c.first < n; w.c.first += BLOCKS * KE_LOO_ROWS) {
    const size_t rows = ke_smaller(BLOCKS * KE_LOO_ROWS, n - w.c.first);
    const size_t blocks = (rows + KE_LOO_ROWS - 1) / KE_LOO_ROWS;
    ke_share_often(&all, blocks, flops, nested_block, &w);
    ke_loo_add_slots(&w.c, blocks);
    ke_check(env);
  }
  ke_loo_mean_scores(o, o->size);
}
