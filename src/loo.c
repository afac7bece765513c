/* Exact leave-one-out of least squares on nested columns: for every size, and for every ridge.
 *
 * With e the residual of a row and h the leverage of a unit of its weight (see regress.c), the
 * residual of the fit without m units of it is e / (1 - m h); here m = min(1, weight), so that a
 * row of weight 3 is treated as each of three copies.
 *
 * Leverage 1. As the ridge goes to 0 numerator and denominator both vanish for a row that alone
 * fixes a direction. Their ratio tends to <a, x> / (m <x, x>), a and x being the coefficients of
 * smallest norm that fit y and the row's own indicator. Both are sums over columns of R^{-1}, from
 * which null directions (of dependent columns) are projected out; so they grow with the size, at
 * O(size) a row. Beyond a leverage of 1 - 1e-10 rounding leaves e / (1 - h) no digits, and this
 * limit is taken; below it the relative error is some eps / (1 - h).
 *
 * Ridges. M = R R' = P B'B P' with B upper bidiagonal (Elden 1977). With u = P'q of a row and
 * U'U = B'B + ridge, U upper bidiagonal by O(size) rotations, and t = U^{-T} u:
 *   1 - m h = (1 - m / sum(w) - m |u|^2) + m ridge |t|^2
 *   e       = (yc - u'P'c) + ridge t'U^{-T}P'c
 * sums without cancellation, so small ridges keep their digits. A size costs a product of
 * n x size x size, each ridge O(n size). */
#include "loo.h"

#include "blas.h"
#include "pieces.h"
#include "simd.h"
#include "threads.h"

#include <math.h>
#include <string.h>

#define LEVERAGE_ONE 1e-10 /* what is left of 1 counts as nothing */

/* m rows from i0 on: e residuals, v left-out residuals, left = 1 - leverage. */
typedef struct {
  size_t i0, m;
  double *e, *v, *left; /* m x k, m x k, m */
  double *loss, *error; /* its own share, of every size or ridge */
} block;

#define SLOTS 32 /* blocks that threads share at a time */

/* Blocks from `first` on. Each leaves its share of the scores in a slot, and slots are added in
 * order: so nothing depends on the threads. */
typedef struct {
  const ke_loo *o;
  size_t first, count; /* the first row; scores of a kind */
  double *slots, *own; /* SLOTS x 2 x count; `each` doubles of work a worker */
  size_t each;
} crew;

static size_t slot_doubles(size_t count) { return SLOTS * 2 * count; }

static double weight_of(const ke_regression *g, size_t i) { return g->weight ? g->weight[i] : 1.0; }

/* The weight that is left out. */
static double unit_of(const ke_regression *g, size_t i) { return fmin(1.0, weight_of(g, i)); }

static void clear(double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = 0.0;
}

static double dot(const double *a, const double *b, size_t n)
{
  double total = 0.0;
  for (size_t i = 0; i < n; i++)
    total += a[i] * b[i];
  return total;
}

static void add_multiple(double *a, size_t n, double by, const double *b)
{
  for (size_t i = 0; i < n; i++)
    a[i] += by * b[i];
}

/* ---- scores -----------------------------------------------------------------------------------
 */

static int is_wrong(const block *s, size_t i, size_t k, size_t own)
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

static void add_scores(const ke_loo *o, const block *s, size_t at)
{
  const size_t k = o->g->k;
  for (size_t i = 0; i < s->m; i++) {
    const double w = weight_of(o->g, s->i0 + i);
    double squares = 0.0;
    for (size_t j = 0; j < k; j++)
      squares += s->v[i + j * s->m] * s->v[i + j * s->m];
    s->loss[at] += w * squares;
    if (o->label && is_wrong(s, i, k, (size_t)o->label[s->i0 + i]))
      s->error[at] += w;
  }
}

static void mean_scores(const ke_loo *o, size_t count)
{
  for (size_t at = 0; at < count; at++) {
    o->loss[at] /= o->g->total * (o->label ? 1.0 : (double)o->g->k);
    o->error[at] = o->label ? o->error[at] / o->g->total : o->loss[at];
  }
}

/* As those of ridge `at`, of 0 where only one is kept. */
static void keep_rows(const ke_loo *o, const block *s, size_t at)
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

static void divide_residuals(const ke_regression *g, const block *s)
{
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < s->m; i++)
      s->v[i + j * s->m] = s->e[i + j * s->m] / s->left[i];
}

/* The fit of the means alone. */
static void start_rows(const ke_regression *g, const block *s)
{
  const double share = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] = 1.0 - unit_of(g, s->i0 + i) * share;
  for (size_t j = 0; j < g->k; j++)
    memcpy(s->e + j * s->m, g->y + s->i0 + j * g->n, s->m * sizeof(double));
}

/* Block `item`, and the work of its worker behind what the block itself needs. */
static block take_block(const crew *c, size_t item, size_t worker, double **after)
{
  const size_t i0 = c->first + item * KE_LOO_ROWS, k = c->o->g->k;
  double *own = c->own + worker * c->each, *slot = c->slots + item * 2 * c->count;
  const block s = {i0,
                   ke_smaller(KE_LOO_ROWS, c->o->g->n - i0),
                   own,
                   own + KE_LOO_ROWS * k,
                   own + 2 * KE_LOO_ROWS * k,
                   slot,
                   slot + c->count};
  clear(slot, 2 * c->count);
  *after = own + KE_LOO_ROWS * (2 * k + 1);
  return s;
}

static void add_slots(const crew *c, size_t blocks)
{
  for (size_t b = 0; b < blocks; b++) {
    const double *slot = c->slots + b * 2 * c->count;
    add_multiple(c->o->loss, c->count, 1.0, slot);
    add_multiple(c->o->error, c->count, 1.0, slot + c->count);
  }
}

/* ---- every size -------------------------------------------------------------------------------
 */

/* Rows of a block with leverage 1 at the last size: x (size each) and a (size x k), see above. */
typedef struct {
  size_t count;
  double *x, *a;
  size_t *row;
} limits;

static size_t nested_each(size_t size, size_t k)
{
  return KE_LOO_ROWS * (2 * k + 1) + KE_LOO_ROWS * (size + 1) + size * k;
}

size_t ke_nested_work(size_t size, size_t k, int threads)
{
  return slot_doubles(size) + (size_t)threads * nested_each(size, k);
}

static void add_column(const ke_regression *g, size_t l, const block *s)
{
  const double *q = g->z + s->i0 + l * g->n;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] -= unit_of(g, s->i0 + i) * q[i] * q[i];
  for (size_t j = 0; j < g->k; j++)
    add_multiple(s->e + j * s->m, s->m, -g->c[l + j * g->L], q);
}

static double left_at_last(const ke_regression *g, size_t size, size_t i)
{
  double h = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t l = 0; l < size; l++)
    h += g->z[i + l * g->n] * g->z[i + l * g->n];
  return 1.0 - unit_of(g, i) * h;
}

int ke_leverage_one(const ke_loo *s)
{
  for (size_t i = 0; i < s->g->n; i++)
    if (left_at_last(s->g, s->size, i) <= LEVERAGE_ONE)
      return 1;
  return 0;
}

/* Take the null directions among the first l columns of t out of column l. */
static void project(const ke_regression *g, double *t, size_t size, size_t l)
{
  for (int sweep = 0; sweep < 2; sweep++)
    for (size_t j = 0; j < l; j++)
      if (g->dependent[j])
        add_multiple(t + l * size, size, -dot(t + l * size, t + j * size, size), t + j * size);
}

/* Column l: of R^{-1}, null directions projected out; or, for a dependent column, the null
 * direction that it adds, of length 1 and orthogonal to the others. */
void ke_nested_inverse(const ke_regression *g, size_t size, double *t, const ke_env *env)
{
  clear(t, size * size);
  for (size_t l = 0; l < size; l++) {
    double *column = t + l * size;
    const double *r = g->r + l * g->L;
    if (l > 0)
      ke_gemv('N', l, l, -1.0, t, size, r, 1, 0.0, column);
    column[l] = 1.0;
    project(g, t, size, l);
    const double by = g->dependent[l] ? sqrt(dot(column, column, size)) : r[l];
    for (size_t i = 0; i <= l; i++)
      column[i] /= by;
    ke_check(env);
  }
}

static limits find_limits(const ke_loo *o, const block *s, size_t *row, double *after)
{
  limits found = {0, after, after + KE_LOO_ROWS * o->size, row};
  for (size_t i = 0; i < s->m; i++)
    if (left_at_last(o->g, o->size, s->i0 + i) <= LEVERAGE_ONE)
      row[found.count++] = i;
  clear(found.x, found.count * o->size);
  clear(found.a, o->size * o->g->k);
  return found;
}

/* Column l joins: coefficients grow by a multiple of t, or lose the null direction t. */
static void grow(double *x, const double *t, size_t size, int null, double by)
{
  add_multiple(x, size, null ? -dot(x, t, size) : by, t);
}

static void grow_limits(const ke_loo *o, const block *s, const limits *f, const double *t, size_t l)
{
  const ke_regression *g = o->g;
  const int null = g->dependent[l];
  for (size_t i = 0; i < f->count; i++)
    grow(f->x + i * o->size, t, o->size, null, g->z[s->i0 + f->row[i] + l * g->n]);
  for (size_t j = 0; j < g->k; j++)
    grow(f->a + j * o->size, t, o->size, null, g->c[l + j * g->L]);
}

static void take_limits(const ke_loo *o, const block *s, const limits *f)
{
  for (size_t r = 0; r < f->count; r++) {
    const size_t i = f->row[r], size = o->size;
    const double *x = f->x + r * size;
    if (s->left[i] > LEVERAGE_ONE)
      continue;
    const double length = unit_of(o->g, s->i0 + i) * dot(x, x, size);
    for (size_t j = 0; j < o->g->k; j++)
      s->v[i + j * s->m] = dot(x, f->a + j * size, size) / length;
  }
}

typedef struct {
  crew c;
  const double *inverse; /* or NULL */
  const ke_env *env;     /* where one thread does all */
} nested_crew;

static void nested_block(void *data, size_t item, size_t worker)
{
  const nested_crew *w = (const nested_crew *)data;
  const ke_loo *o = w->c.o;
  double *after;
  const block s = take_block(&w->c, item, worker, &after);
  size_t row[KE_LOO_ROWS];
  limits f = {0, NULL, NULL, row};
  if (w->inverse)
    f = find_limits(o, &s, row, after);
  start_rows(o->g, &s);
  for (size_t l = 0; l < o->size; l++) {
    add_column(o->g, l, &s);
    divide_residuals(o->g, &s);
    if (f.count > 0) {
      grow_limits(o, &s, &f, w->inverse + l * o->size, l);
      take_limits(o, &s, &f);
      ke_check(w->env);
    }
    add_scores(o, &s, l);
  }
  keep_rows(o, &s, 0);
}

void ke_nested_loo(const ke_loo *o, const double *inverse, const ke_env *env)
{
  const size_t n = o->g->n, k = o->g->k;
  const double flops = KE_LOO_ROWS * (double)o->size * (6.0 * (double)k + 4.0);
  ke_env all = *env;
  nested_crew w = {
      {o, 0, o->size, o->work, o->work + slot_doubles(o->size), nested_each(o->size, k)},
      inverse,
      env};
  if (inverse) /* a block may take long, and is interrupted */
    all.threads = 1;
  clear(o->loss, o->size);
  clear(o->error, o->size);
  for (; w.c.first < n; w.c.first += SLOTS * KE_LOO_ROWS) {
    const size_t rows = ke_smaller(SLOTS * KE_LOO_ROWS, n - w.c.first);
    const size_t blocks = (rows + KE_LOO_ROWS - 1) / KE_LOO_ROWS;
    ke_share_portions(&all, blocks, flops, nested_block, &w);
    add_slots(&w.c, blocks);
    ke_check(env);
  }
  mean_scores(o, o->size);
}

/* ---- every ridge ------------------------------------------------------------------------------
 */

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
  return KE_LOO_ROWS * (blocks < 4 ? 4 : ke_smaller(blocks, SLOTS / 2));
}

static size_t ridge_each(size_t size, size_t k)
{
  return KE_LOO_ROWS * (2 * k + 1) + KE_LOO_ROWS * (size + 1 + k + 1);
}

size_t ke_ridge_work(size_t size, size_t k, size_t count, int threads)
{
  return slot_doubles(count) + size * k + turned_rows(size) * size + count * size * (2 + k) +
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
static void start_turned(const ke_regression *g, const double *c, size_t size, const block *s,
                         const double *u, size_t ld)
{
  const size_t m = s->m;
  start_rows(g, s);
  ke_gemm('N', 'N', m, g->k, size, -1.0, u, ld, c, size, 1.0, s->e, m);
  for (size_t l = 0; l < size; l++)
    for (size_t i = 0; i < m; i++)
      s->left[i] -= unit_of(g, s->i0 + i) * u[i + l * ld] * u[i + l * ld];
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
  clear(length, m);
  for (size_t l = 0; l < size; l++) /* back is 0 for the first */
    next_element(f->by[l], f->back[l], r->u + l * r->ld, l > 0 ? t + (l - 1) * m : r->u, t + l * m,
                 length, m);
  ke_gemm('N', 'N', m, k, size, 1.0, t, m, f->c, size, 0.0, sum, m);
}

/* s at a ridge of zero becomes `with` at the ridge of f. */
static void add_penalty(const ke_regression *g, const factor *f, const double *length,
                        const double *sum, const block *s, const block *with)
{
  for (size_t i = 0; i < s->m; i++)
    with->left[i] = s->left[i] + unit_of(g, s->i0 + i) * f->ridge * length[i];
  for (size_t i = 0; i < s->m * g->k; i++)
    with->e[i] = s->e[i] + f->ridge * sum[i];
}

typedef struct {
  crew c;
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
  const block s = take_block(&w->c, item, worker, &after);
  double *length = after + KE_LOO_ROWS * size, *sum = length + KE_LOO_ROWS;
  const rows_turned rows = {w->u + item * KE_LOO_ROWS, w->ld, s.m, after};
  const block with = {s.i0, s.m, sum, s.v, sum + KE_LOO_ROWS * k, s.loss, s.error};
  start_turned(o->g, w->turned, size, &s, rows.u, rows.ld);
  for (size_t r = 0; r < w->c.count; r++) {
    const factor f = factor_in(w->factors + r * one, w->ridge[r], size);
    penalised_sums(&f, &rows, o, length, sum);
    add_penalty(o->g, &f, length, sum, &s, &with);
    divide_residuals(o->g, &with);
    add_scores(o, &with, r);
    keep_rows(o, &with, r);
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
  add_slots(&w->c, blocks);
}

void ke_ridge_loo(const ke_loo *o, const ke_bidiagonal *b, const double *ridge, size_t count,
                  const ke_env *env)
{
  const ke_regression *g = o->g;
  const size_t size = b->size, k = g->k, step = turned_rows(size), one = size * (2 + k);
  double *turned = o->work + slot_doubles(count), *factors = turned + size * k,
         *u = factors + count * one, *own = u + step * size;
  ridge_crew w = {
      {o, 0, count, o->work, own, ridge_each(size, k)}, ridge, turned, factors, u, step};
  clear(o->loss, count);
  clear(o->error, count);
  ke_gemm('T', 'N', size, k, size, 1.0, b->p, size, g->c, g->L, 0.0, turned, size);
  for (size_t r = 0; r < count; r++) {
    const factor f = factor_in(factors + r * one, ridge[r], size);
    fill_factor(b, turned, k, &f);
  }
  for (; w.c.first < g->n; w.c.first += step) {
    ridge_rows(&w, b, ke_smaller(step, g->n - w.c.first), env);
    ke_check(env);
  }
  mean_scores(o, count);
}
