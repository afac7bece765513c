/* Exact leave-one-out of least squares at one size, for every ridge (see loo.c).
 *
 * M = R R' = P B'B P' with B upper bidiagonal (Elden 1977). With u = P'q of a row and
 * U'U = B'B + ridge, U upper bidiagonal by O(size) rotations, and t = U^{-T} u:
 *   1 - m h = (1 - m / sum(w) - m |u|^2) + m ridge |t|^2
 *   e       = (yc - u'P'c) + ridge t'U^{-T}P'c
 * sums without cancellation, so small ridges keep their digits. A size costs a product of
 * n x size x size, each ridge O(n size). */
#include "ridges.h"

#include "blas.h"
#include "pieces.h"
#include "simd.h"
#include "threads.h"
#include "vector.h"

#include <math.h>
#include <string.h>

/* U of one ridge, ready for U^{-T}, and U^{-T} P'c. */
typedef struct {
  double ridge;
  double *by, *back; /* size: 1 / diagonal; element above it / diagonal */
  double *c;         /* size x k */
} factor;

/* Rows turned at a time: what they take stays at hand. */
static size_t turned_rows(size_t size)
{
  const size_t blocks = ((size_t)1 << 19) / size / KE_LOO_ROWS;
  return KE_LOO_ROWS * (blocks < 4 ? 4 : ke_smaller(blocks, KE_LOO_BLOCKS / 2));
}

static size_t ridge_each(size_t size, size_t k)
{
  return ke_loo_own(k) + KE_LOO_ROWS * (size + 1 + k + 1);
}

size_t ke_ridge_work(size_t size, size_t k, size_t count, int threads)
{
  return ke_loo_slots(count) + size * k + turned_rows(size) * size + count * size * (2 + k) +
         (size_t)threads * ridge_each(size, k);
}

/* Rotate sqrt(ridge) I into B, column by column; what a rotation leaves below joins the next. */
static void rotate_in(const ke_bidiagonal *b, const factor *f)
{
  const double root = sqrt(f->ridge);
  double below = root, over = 0.0;
  for (size_t j = 0; j < b->size; j++) {
    const double rho = hypot(b->diagonal[j], below), cosine = b->diagonal[j] / rho,
                 sine = below / rho;
    f->by[j] = 1.0 / rho;
    f->back[j] = over / rho;
    over = cosine * b->over[j];
    below = hypot(sine * b->over[j], root);
  }
}

static void solve_factor(const factor *f, double *x, size_t size)
{
  for (size_t j = 0; j < size; j++)
    x[j] = x[j] * f->by[j] - (j > 0 ? f->back[j] * x[j - 1] : 0.0);
}

static factor factor_in(double *memory, double ridge, size_t size)
{
  const factor f = {ridge, memory, memory + size, memory + 2 * size};
  return f;
}

static void fill_factor(const ke_bidiagonal *b, const double *c, size_t k, const factor *f)
{
  const size_t size = b->size;
  rotate_in(b, f);
  memcpy(f->c, c, size * k * sizeof(double));
  for (size_t j = 0; j < k; j++)
    solve_factor(f, f->c + j * size, size);
}

/* Rows turned, u (a column is ld long), and e and left at a ridge of zero. */
static void start_turned(const ke_regression *g, const double *c, size_t size,
                         const ke_loo_block *s, const double *u, size_t ld)
{
  const size_t m = s->m;
  ke_loo_start(g, s);
  ke_gemm('N', 'N', m, g->k, size, -1.0, u, ld, c, size, 1.0, s->e, m);
  for (size_t l = 0; l < size; l++)
    for (size_t i = 0; i < m; i++)
      s->left[i] -= ke_loo_unit(g, s->i0 + i) * u[i + l * ld] * u[i + l * ld];
  for (size_t i = 0; i < m; i++)
    s->left[i] = fmax(s->left[i], 0.0);
}

/* t = by u - back before, and its square added to length: one element of U^{-T} u of m rows. */
INLINE void next_element_body(double by, double back, const double *u, const double *before,
                              double *t, double *length, size_t m)
{
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const v4 value = SPLAT(by) * LOAD(u + i) - SPLAT(back) * LOAD(before + i);
    STORE(t + i, value);
    STORE(length + i, LOAD(length + i) + value * value);
  }
  for (; i < m; i++) {
    t[i] = by * u[i] - back * before[i];
    length[i] += t[i] * t[i];
  }
}

DEFINE_DISPATCHED(static, next_element,
                  (double by, double back, const double *u, const double *before, double *t,
                   double *length, size_t m),
                  (by, back, u, before, t, length, m))

/* Rows of u (a column is ld long) and their t = U^{-T} u (m x size). */
typedef struct {
  const double *u;
  size_t ld, m;
  double *t;
} rows_turned;

/* length = |t|^2 and sum (m x k) = t'c of every row. */
static void penalised_sums(const factor *f, const rows_turned *r, const ke_loo *o, double *length,
                           double *sum)
{
  const size_t size = o->size, k = o->g->k, m = r->m;
  double *t = r->t;
  ke_clear(length, m);
  for (size_t l = 0; l < size; l++) /* back is 0 for the first */
    next_element(f->by[l], f->back[l], r->u + l * r->ld, l > 0 ? t + (l - 1) * m : r->u, t + l * m,
                 length, m);
  ke_gemm('N', 'N', m, k, size, 1.0, t, m, f->c, size, 0.0, sum, m);
}

/* s at a ridge of zero becomes `with` at the ridge of f. */
static void add_penalty(const ke_regression *g, const factor *f, const double *length,
                        const double *sum, const ke_loo_block *s, const ke_loo_block *with)
{
  for (size_t i = 0; i < s->m; i++)
    with->left[i] = s->left[i] + ke_loo_unit(g, s->i0 + i) * f->ridge * length[i];
  for (size_t i = 0; i < s->m * g->k; i++)
    with->e[i] = s->e[i] + f->ridge * sum[i];
}

typedef struct {
  ke_loo_crew c;
  const double *ridge;
  double *turned, *factors, *u; /* P'c; of every ridge; rows times P, a column ld long */
  size_t ld;
} ridge_crew;

static void ridge_block(void *data, size_t item, size_t worker)
{
  const ridge_crew *w = (const ridge_crew *)data;
  const ke_loo *o = w->c.o;
  const size_t size = o->size, k = o->g->k, one = size * (2 + k);
  double *after;
  const ke_loo_block s = ke_loo_take(&w->c, item, worker, &after);
  double *length = after + KE_LOO_ROWS * size, *sum = length + KE_LOO_ROWS;
  const rows_turned rows = {w->u + item * KE_LOO_ROWS, w->ld, s.m, after};
  const ke_loo_block with = {s.i0, s.m, sum, s.v, sum + KE_LOO_ROWS * k, s.loss, s.error};
  start_turned(o->g, w->turned, size, &s, rows.u, rows.ld);
  for (size_t r = 0; r < w->c.count; r++) {
    const factor f = factor_in(w->factors + r * one, w->ridge[r], size);
    penalised_sums(&f, &rows, o, length, sum);
    add_penalty(o->g, &f, length, sum, &s, &with);
    ke_loo_divide(o->g, &with);
    ke_loo_add_scores(o, &with, r);
    ke_loo_keep_rows(o, &with, r);
  }
}

/* The rows that w says to begin with, `m` of them. */
static void ridge_rows(const ridge_crew *w, const ke_bidiagonal *b, size_t m, const ke_env *env)
{
  const ke_regression *g = w->c.o->g;
  const size_t size = b->size, blocks = (m + KE_LOO_ROWS - 1) / KE_LOO_ROWS;
  const double flops = KE_LOO_ROWS * (double)size * (double)w->c.count * (2.0 * (double)g->k + 6.0);
  ke_add_multiple(1.0, (ke_dense){g->z + w->c.first, m, size, g->n},
                  (ke_dense){b->p, size, size, size}, 0.0, (ke_dense){w->u, m, size, w->ld}, env);
  ke_share_portions(env, blocks, flops, ridge_block, (void *)w);
  ke_loo_add_slots(&w->c, blocks);
}

void ke_ridge_loo(const ke_loo *o, const ke_bidiagonal *b, const double *ridge, size_t count,
                  const ke_env *env)
{
  const ke_regression *g = o->g;
  const size_t size = b->size, k = g->k, step = turned_rows(size), one = size * (2 + k);
  double *turned = o->work + ke_loo_slots(count), *factors = turned + size * k,
         *u = factors + count * one, *own = u + step * size;
  ridge_crew w = {
      {o, 0, count, o->work, own, ridge_each(size, k)}, ridge, turned, factors, u, step};
  ke_loo_clear_scores(o, count);
  ke_gemm('T', 'N', size, k, size, 1.0, b->p, size, g->c, g->L, 0.0, turned, size);
  for (size_t r = 0; r < count; r++) {
    const factor f = factor_in(factors + r * one, ridge[r], size);
    fill_factor(b, turned, k, &f);
  }
  for (; w.c.first < g->n; w.c.first += step) {
    ridge_rows(&w, b, ke_smaller(step, g->n - w.c.first), env);
    ke_check(env);
  }
  ke_loo_mean_scores(o, count);
}
