/* Residuals of rows from the fit without them, a fold at a time, exactly.
 *
 * With H = q q' the hat matrix (of rows times the roots of their weights) they are
 * (I - H[f, f])^{-1} e[f], solved on the rows of the fold or on the coordinates, whichever are
 * fewer. Z = Q R is known without ridge; with it q = Q R U^{-1}, U'U = R'R + ridge, and beside it
 * the column of the intercept. Cost n size^2 for q, and that again for all folds. */
#include "folds.h"

#include "pieces.h"
#include "threads.h"

#include <math.h>
#include <string.h>

static double root_of(const ke_regression *g, size_t i)
{
  return g->weight ? sqrt(g->weight[i]) : 1.0;
}

/* R of the first columns; one that depends on those before it has no length of its own. */
static void copy_factor(const ke_regression *g, size_t size, double *r)
{
  for (size_t l = 0; l < size; l++) {
    memset(r + l * size, 0, size * sizeof(double));
    memcpy(r + l * size, g->r + l * g->L, (l + 1) * sizeof(double));
    if (g->dependent[l])
      r[l * (size + 1)] = 0.0;
  }
}

/* What turns Q into q, in the first half of the work. */
static int find_turn(const ke_hat *h, const ke_env *env)
{
  const size_t size = h->size;
  double *turn = h->work, *normal = turn + size * size;
  copy_factor(h->g, size, turn);
  ke_crossprod_upper(size, size, turn, size, 0.0, normal, size, env);
  for (size_t l = 0; l < size; l++)
    normal[l * (size + 1)] += h->ridge;
  if (!ke_cholesky_upper(size, normal, size, env))
    return 0;
  ke_divide_upper(size, size, normal, size, turn, size, env);
  return 1;
}

/* Columns of a times the root of weights. */
static void weigh(const ke_regression *g, double *a, size_t columns)
{
  for (size_t l = 0; g->weight && l < columns; l++)
    for (size_t i = 0; i < g->n; i++)
      a[i + l * g->n] *= root_of(g, i);
}

int ke_find_hat(const ke_hat *h, const ke_env *env)
{
  const ke_regression *g = h->g;
  const size_t n = g->n, size = h->size, k = g->k;
  const ke_dense q = {h->q, n, size + 1, n}, e = {h->residual, n, k, n};
  double *c = h->work + 2 * size * size;
  if (!find_turn(h, env))
    return 0;
  ke_add_multiple(1.0, (ke_dense){g->z, n, size, n}, (ke_dense){h->work, size, size, size}, 0.0,
                  (ke_dense){h->q, n, size, n}, env);
  for (size_t i = 0; i < n; i++)
    h->q[i + size * n] = g->intercept ? 1.0 / sqrt(g->total) : 0.0;
  memcpy(h->residual, g->y, n * k * sizeof(double));
  weigh(g, h->q, size + 1);
  weigh(g, h->residual, k);
  ke_product_transposed(q, e, 0.0, c, env);
  ke_take_product(q, c, e, env);
  return 1;
}

/* a = I - q'q, of which the upper triangle is wanted, or all. */
static void complement(ke_dense q, double *a, int all, const ke_env *env)
{
  const size_t n = q.columns;
  ke_crossprod_upper(n, q.rows, q.at, q.ld, 0.0, a, n, env);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i <= j; i++) {
      a[i + j * n] = (double)(i == j) - a[i + j * n];
      if (all)
        a[j + i * n] = a[i + j * n];
    }
}

/* b = (I - q'q)^{-1} b. That is positive definite, but perhaps not to rounding: then whatever
 * elimination makes of it. */
static int solve_complement(ke_dense q, size_t k, double *b, double *a, int *pivot,
                            const ke_env *env)
{
  const size_t n = q.columns;
  complement(q, a, 0, env);
  if (ke_cholesky_upper(n, a, n, env)) {
    ke_solve_upper(1, n, k, a, n, b, env);
    ke_solve_upper(0, n, k, a, n, b, env);
    return 1;
  }
  complement(q, a, 1, env);
  return ke_solve_any(n, k, a, b, pivot, env);
}

/* On the coordinates: (I - q q')^{-1} = I + q (I - q'q)^{-1} q'. */
static int solve_columns(ke_dense q, size_t k, double *e, double *a, int *pivot, const ke_env *env)
{
  const size_t s = q.columns;
  double *b = a + s * s;
  const ke_dense rows = {e, q.rows, k, q.rows};
  ke_product_transposed(q, rows, 0.0, b, env);
  if (!solve_complement(q, k, b, a, pivot, env))
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
  int lost;    /* there is a fold that cannot be left out */
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
static void gather(const ke_folds *f, const size_t *rows, ke_dense to, int turned)
{
  const size_t n = f->h->g->n, m = turned ? to.columns : to.rows, s = f->h->size + 1;
  for (size_t l = 0; l < s; l++)
    for (size_t i = 0; i < m; i++)
      to.at[turned ? l + i * s : i + l * m] = f->h->q[rows[i] + l * n];
}

static void leave_out(void *data, size_t item, size_t worker)
{
  crew *c = (crew *)data;
  const ke_folds *f = c->f;
  const ke_regression *g = f->h->g;
  const size_t *rows = f->rows + f->first[item], m = f->first[item + 1] - f->first[item],
               s = f->h->size + 1;
  const int few = m <= s;
  double *e = f->work + worker * c->each, *own = e + m * g->k, *a = own + m * s;
  const ke_dense q = few ? (ke_dense){own, s, m, s} : (ke_dense){own, m, s, m};
  gather(f, rows, q, few);
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < m; i++)
      e[i + j * m] = f->h->residual[rows[i] + j * g->n];
  if (!(few ? solve_complement : solve_columns)(q, g->k, e, a, f->pivot + worker * s, c->env))
    __atomic_store_n(&c->lost, 1, __ATOMIC_RELAXED);
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < m; i++)
      f->out[rows[i] + j * g->n] = e[i + j * m] / root_of(g, rows[i]);
}

/* Threads share the folds; where one of them is long enough to be looked at for interrupts, what
 * is to be done for it. */
int ke_without_folds(const ke_folds *f, const ke_env *env)
{
  const size_t most = most_rows(f), s = f->h->size + 1;
  const double flops = 2.0 * (double)most * (double)s * (double)ke_smaller(most, s);
  const ke_env alone = {.threads = 1};
  crew c = {f, flops < KE_PATIENCE ? &alone : env, ke_folds_work(f), 0};
  if (flops < KE_PATIENCE) {
    ke_share(env, f->count, flops, leave_out, &c);
    return !c.lost;
  }
  for (size_t i = 0; i < f->count && !c.lost; i++) {
    ke_check(env);
    leave_out(&c, i, 0);
  }
  return !c.lost;
}
