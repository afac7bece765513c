/* Residuals of rows from the fit without them, a fold at a time, exactly.
 *
 * With H = q q' the hat matrix (of rows times the roots of their weights) they are
 * (I - H[f, f])^{-1} e[f], solved on the rows of the fold or on the coordinates, whichever are
 * fewer. Z = Q R is known without ridge; with it q = Q T, T T' = R (R'R + ridge)^{-1} R', and
 * beside it the column of the intercept. Cost n size^2 for q, and that again for all folds. */
#include "folds.h"

#include "pieces.h"
#include "threads.h"

#include <math.h>
#include <string.h>

#define ROOTS 256 /* of weights at a time */
#define LEFT 1e-6 /* of a direction: of less too few digits are left */

/* Rows of a (n x columns) times the roots of their weights. */
static void weigh(const ke_regression *g, double *a, size_t columns, const ke_env *env)
{
  const size_t between = ke_batch(4.0 * ROOTS * (double)columns);
  double root[ROOTS];
  for (size_t i0 = 0; g->weight && i0 < g->n; i0 += ROOTS) {
    const size_t m = ke_smaller(ROOTS, g->n - i0);
    for (size_t i = 0; i < m; i++)
      root[i] = sqrt(g->weight[i0 + i]);
    for (size_t l = 0; l < columns; l++)
      for (size_t i = 0; i < m; i++)
        a[i0 + i + l * g->n] *= root[i];
    if (i0 / ROOTS % between == between - 1)
      ke_check(env);
  }
}

void ke_find_hat(const ke_hat *h, const ke_env *env)
{
  const ke_regression *g = h->g;
  const size_t n = g->n, size = h->size, k = g->k;
  const ke_dense q = {h->q, n, size + 1, n}, e = {h->residual, n, k, n};
  ke_add_multiple(1.0, (ke_dense){g->z, n, size, n},
                  (ke_dense){(double *)h->turn, size, size, size}, 0.0,
                  (ke_dense){h->q, n, size, n}, env);
  for (size_t i = 0; i < n; i++)
    h->q[i + size * n] = g->intercept ? 1.0 / sqrt(g->total) : 0.0;
  memcpy(h->residual, g->y, n * k * sizeof(double));
  weigh(g, h->q, size + 1, env);
  weigh(g, h->residual, k, env);
  ke_product_transposed(q, e, 0.0, h->work, env);
  ke_take_product(q, h->work, e, env);
}

/* The upper triangle of a = I - q'q. */
static void complement(ke_dense q, double *a, const ke_env *env)
{
  const size_t n = q.columns;
  ke_crossprod_upper(n, q.rows, q.at, q.ld, 0.0, a, n, env);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i <= j; i++)
      a[i + j * n] = (double)(i == j) - a[i + j * n];
}

/* b = (I - q'q)^{-1} b; 0 where too little is left of some direction. */
static int solve_complement(ke_dense q, size_t k, double *b, double *a, const ke_env *env)
{
  const size_t n = q.columns;
  complement(q, a, env);
  if (!ke_cholesky_upper(n, a, n, env))
    return 0;
  for (size_t j = 0; j < n; j++)
    if (!(a[j * (n + 1)] * a[j * (n + 1)] > LEFT))
      return 0;
  ke_solve_upper(1, n, k, a, n, b, env);
  ke_solve_upper(0, n, k, a, n, b, env);
  return 1;
}

/* On the coordinates: (I - q q')^{-1} = I + q (I - q'q)^{-1} q'. */
static int solve_columns(ke_dense q, size_t k, double *e, double *a, const ke_env *env)
{
  const size_t s = q.columns;
  double *b = a + s * s;
  const ke_dense rows = {e, q.rows, k, q.rows};
  ke_product_transposed(q, rows, 0.0, b, env);
  if (!solve_complement(q, k, b, a, env))
    return 0;
  ke_add_multiple(1.0, q, (ke_dense){b, s, k, s}, 1.0, rows, env);
  return 1;
}

/* ---- the folds ---------------------------------------------------------------------------------
 */

/* Whoever works has memory of its own; `env` is what a fold itself may use of the surroundings. */
typedef struct {
  const ke_folds *f;
  const ke_env *env;
  size_t each; /* doubles of a worker */
} crew;

/* What a fold of m rows may need, its answer included. */
static size_t fold_work(const ke_hat *h, size_t m)
{
  const size_t s = h->size + 1, k = h->g->k;
  return m * (s + k) + s * (s + k);
}

static size_t most_rows(const ke_folds *f)
{
  size_t most = 0;
  for (size_t i = 0; i < f->count; i++)
    most = f->first[i + 1] - f->first[i] > most ? f->first[i + 1] - f->first[i] : most;
  return most;
}

size_t ke_folds_work(const ke_folds *f) { return fold_work(f->h, most_rows(f)); }

/* Rows of q as rows, or where they are few as columns. */
static void gather(const ke_folds *f, const size_t *rows, ke_dense to, int turned,
                   const ke_env *env)
{
  const size_t n = f->h->g->n, m = turned ? to.columns : to.rows, s = f->h->size + 1,
               between = ke_batch(KE_FRESH * (double)m);
  for (size_t l = 0; l < s; l++) {
    for (size_t i = 0; i < m; i++)
      to.at[turned ? l + i * s : i + l * m] = f->h->q[rows[i] + l * n];
    if (l % between == between - 1)
      ke_check(env);
  }
}

static void leave_out(void *data, size_t item, size_t worker)
{
  const crew *c = (const crew *)data;
  const ke_folds *f = c->f;
  const ke_regression *g = f->h->g;
  const size_t *rows = f->rows + f->first[item], m = f->first[item + 1] - f->first[item],
               s = f->h->size + 1;
  const int few = m <= s;
  double *e = f->work + worker * c->each, *own = e + m * g->k, *a = own + m * s;
  const ke_dense q = few ? (ke_dense){own, s, m, s} : (ke_dense){own, m, s, m};
  gather(f, rows, q, few, c->env);
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < m; i++)
      e[i + j * m] = f->h->residual[rows[i] + j * g->n];
  const int good = (few ? solve_complement : solve_columns)(q, g->k, e, a, c->env);
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < m; i++) {
      const double root = g->weight ? sqrt(g->weight[rows[i]]) : 1.0;
      f->out[rows[i] + j * g->n] = good ? e[i + j * m] / root : NAN;
    }
}

/* Threads share the folds; where one of them is long enough to be looked at for interrupts, what
 * is to be done for it. Rows of q lie far apart. */
void ke_without_folds(const ke_folds *f, const ke_env *env)
{
  const double most = (double)most_rows(f), s = (double)f->h->size + 1.0;
  const double flops = most * s * (2.0 * fmin(most, s) + KE_FRESH);
  const ke_env alone = {.threads = 1};
  crew c = {f, flops < KE_PATIENCE ? &alone : env, ke_folds_work(f)};
  if (flops < KE_PATIENCE) {
    ke_share(env, f->count, flops, leave_out, &c);
    return;
  }
  for (size_t i = 0; i < f->count; i++) {
    ke_check(env);
    leave_out(&c, i, 0);
  }
}
