/* Exact leave-one-out of least squares at one size, for every ridge (see loo.c).
 *
 * M = R R' = P B'B P' with B upper bidiagonal (Elden 1977). With u = P'q of a row and
 * U'U = B'B + ridge, U upper bidiagonal by O(size) rotations, and t = U^{-T} u:
 *   1 - m h = (1 - m / sum(w) - m |u|^2) + m ridge |t|^2
 *   e       = (yc - u'P'c) + ridge t'U^{-T}P'c
 * sums without cancellation, so small ridges keep their digits. A size costs a product of
 * n x size x size, each ridge O(n size). Threads share blocks of rows: each is turned into u and
 * seen by every ridge while it is at hand. */
#include "ridges.h"

#include "dense.h"
#include "pieces.h"
#include "simd.h"
#include "threads.h"
#include "vector.h"

#include <math.h>
#include <string.h>

#define EIGHT 8     /* rows whose sums fit in the registers */
#define SIXTEEN 16  /* the same where these are twice as wide */
#define SCORES 32.0 /* flops that the scores of a row and ridge are worth */

/* U of one ridge, ready for U^{-T}, and U^{-T} P'c. */
typedef struct {
  double ridge;
  double *by, *back; /* size: 1 / diagonal; element above it / diagonal */
  double *c;         /* size x k */
} factor;

#ifndef KE_LONG                     /* tests call less long */
#define KE_LONG (4.0 * KE_PATIENCE) /* flops: more are too many for an item */
#endif
#define BLOCKS ((size_t)4096)     /* that threads share at a time, at most */
#define AT_HAND ((size_t)1 << 19) /* numbers that a cache keeps from one step to the next */

static double turn_flops(size_t size) { return 2.0 * KE_LOO_ROWS * (double)size * (double)size; }

/* Who turns a block: whoever takes it, unless it is turned already or that would take long. */
static int turns_itself(const ke_loo *o) { return !o->known && turn_flops(o->size) <= KE_LONG; }

static int turned_before(const ke_loo *o) { return !o->known && !turns_itself(o); }

/* Blocks at a time: those that are turned before must stay at hand. */
static size_t blocks_at_once(const ke_loo *o)
{
  const size_t all = (o->g->n + KE_LOO_ROWS - 1) / KE_LOO_ROWS,
               turned = AT_HAND / o->size / KE_LOO_ROWS,
               most = turned_before(o) ? ke_smaller(turned, BLOCKS) : BLOCKS;
  return ke_smaller(all, most < 4 ? 4 : most);
}

/* Doubles for what turns rows, where that is made ready; or for rows that are turned before. */
static size_t turned_length(const ke_loo *o)
{
  if (turned_before(o))
    return blocks_at_once(o) * KE_LOO_ROWS * o->size;
  return turns_itself(o) ? ke_panel_size(o->size, o->size) : 0;
}

static size_t ridge_each(const ke_loo *o)
{
  const size_t packed = turns_itself(o) ? o->size : 0;
  return ke_loo_own(o->g->k) + KE_LOO_ROWS * (o->size + packed + 2 * o->g->k + 2);
}

static size_t factor_length(size_t size, size_t k) { return size * (2 + k); }

size_t ke_ridge_work(const ke_loo *o, size_t count, int threads)
{
  const size_t size = o->size, k = o->g->k;
  return ke_loo_slots(blocks_at_once(o), count) + turned_length(o) +
         (count + 1) * factor_length(size, k) + (size_t)threads * ridge_each(o);
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

static void fill_factor(const ke_bidiagonal *b, const double *c, size_t k, const factor *f)
{
  const size_t size = b->size;
  rotate_in(b, f);
  memcpy(f->c, c, size * k * sizeof(double));
  for (size_t j = 0; j < k; j++)
    solve_factor(f, f->c + j * size, size);
}

/* Of no ridge, with which t is u: its c is P'c. */
static void fill_plain(const ke_regression *g, const ke_bidiagonal *b, const factor *f,
                       const ke_env *env)
{
  const size_t size = b->size;
  for (size_t l = 0; l < size; l++)
    f->by[l] = 1.0;
  ke_clear(f->back, size);
  ke_product_transposed((ke_dense){b->p, size, size, size}, (ke_dense){g->c, size, g->k, g->L}, 0.0,
                        f->c, env);
}

/* A block of rows of u, KE_LOO_ROWS from one column to the next; zeros up to a whole sixteen. */
typedef struct {
  double *u;
  size_t m, size;
} rows_turned;

static void fill_up(const rows_turned *r)
{
  for (size_t l = 0; r->m % SIXTEEN > 0 && l < r->size; l++)
    ke_clear(r->u + r->m + l * KE_LOO_ROWS, SIXTEEN - r->m % SIXTEEN);
}

static void copy_rows(const double *from, size_t ldf, double *to, size_t ldt, size_t m, size_t size)
{
  for (size_t l = 0; l < size; l++)
    memcpy(to + l * ldt, from + l * ldf, m * sizeof(double));
}

/* Two vectors of rows of u, in which t lives in registers alone: |t|^2, and t'c for one response or
 * two. What waits for the last t comes first, for compilers to fuse that with the subtraction. */
#define DEFINE_SUMS(kind, name, vec, LOAD_ROWS, STORE_ROWS)                                        \
  kind void name(const factor *f, const double *c, const double *u, size_t size, int two,          \
                 double *length, double *sum)                                                      \
  {                                                                                                \
    const size_t half = sizeof(vec) / sizeof(double);                                              \
    vec t = {0}, s = t, length_t = t, length_s = t, first_t = t, first_s = t, second_t = t,        \
        second_s = t;                                                                              \
    for (size_t l = 0; l < size; l++, u += KE_LOO_ROWS) {                                          \
      const vec from_t = f->back[l] * t, from_s = f->back[l] * s;                                  \
      t = f->by[l] * LOAD_ROWS(u) - from_t;                                                        \
      s = f->by[l] * LOAD_ROWS(u + half) - from_s;                                                 \
      length_t += t * t, length_s += s * s;                                                        \
      first_t += c[l] * t, first_s += c[l] * s;                                                    \
      if (two)                                                                                     \
        second_t += c[l + size] * t, second_s += c[l + size] * s;                                  \
    }                                                                                              \
    STORE_ROWS(length, length_t), STORE_ROWS(length + half, length_s);                             \
    STORE_ROWS(sum, first_t), STORE_ROWS(sum + half, first_s);                                     \
    if (two) {                                                                                     \
      STORE_ROWS(sum + KE_LOO_ROWS, second_t);                                                     \
      STORE_ROWS(sum + KE_LOO_ROWS + half, second_s);                                              \
    }                                                                                              \
  }

/* length = |t|^2 and sum = t'c of every row, t = U^{-T} u; columns of both are KE_LOO_ROWS long. */
#define DEFINE_TURNED(kind, name, sums, rows)                                                      \
  kind void name(const factor *f, const rows_turned *r, size_t k, double *length, double *sum)     \
  {                                                                                                \
    for (size_t j = 0; j < k; j += 2)                                                              \
      for (size_t i = 0; i < r->m; i += rows) {                                                    \
        const double *c = f->c + j * r->size, *u = r->u + i;                                       \
        double *into = sum + i + j * KE_LOO_ROWS;                                                  \
        if (j + 1 < k)                                                                             \
          sums(f, c, u, r->size, 1, length + i, into);                                             \
        else                                                                                       \
          sums(f, c, u, r->size, 0, length + i, into);                                             \
      }                                                                                            \
  }

DEFINE_SUMS(INLINE, sum_eight, v4, LOAD, STORE)
DEFINE_TURNED(INLINE, turned_sums_body, sum_eight, EIGHT)
#if DISPATCH
DEFINE_SUMS(WIDE_INLINE, sum_sixteen, v8, LOAD_8, STORE_8)
DEFINE_TURNED(WIDE_TARGET static, turned_sums_wide, sum_sixteen, SIXTEEN)
#endif

DEFINE_DISPATCHED_WIDE(static, turned_sums,
                       (const factor *f, const rows_turned *r, size_t k, double *length,
                        double *sum),
                       (f, r, k, length, sum))

/* e and left at a ridge of zero, from the sums of no ridge. */
static void start_turned(const ke_regression *g, const double *length, const double *sum,
                         const ke_loo_block *s)
{
  ke_loo_start(g, s);
  for (size_t i = 0; i < s->m; i++)
    s->left[i] = fmax(s->left[i] - ke_loo_unit(g, s->i0 + i) * length[i], 0.0);
  for (size_t j = 0; j < g->k; j++)
    ke_add_scaled(s->e + j * s->m, s->m, -1.0, sum + j * KE_LOO_ROWS);
}

/* s at a ridge of zero becomes `with` at the ridge of f. */
static void add_penalty(const ke_regression *g, const factor *f, const double *length,
                        const double *sum, const ke_loo_block *s, const ke_loo_block *with)
{
  for (size_t i = 0; i < s->m; i++)
    with->left[i] = s->left[i] + ke_loo_unit(g, s->i0 + i) * f->ridge * length[i];
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < s->m; i++)
      with->e[i + j * s->m] = s->e[i + j * s->m] + f->ridge * sum[i + j * KE_LOO_ROWS];
}

typedef struct {
  ke_loo_crew c;
  const double *ridge;
  double *factors; /* of every ridge and of none */
  const double *p; /* size x size: what turns rows of z */
  ke_rows ready;   /* the same made ready, for rows that are turned one block at a time; */
  const double *u; /* or turned rows, from row `first` on, a column ld long */
  size_t ld;
  ke_bidiagonal *next;
} ridge_crew;

/* P, or where a division of z is still to be done that and P at once. */
static const double *find_turn(const ke_regression *g, const ke_bidiagonal *b, const ke_env *env)
{
  if (!g->rest)
    return b->p;
  memcpy(b->a, b->p, b->size * b->size * sizeof(double));
  ke_solve_upper(0, b->size, b->size, g->rest, g->L, b->a, env);
  return b->a;
}

/* Of ridge `at`; behind the last, of none. */
static factor factor_at(const ridge_crew *w, size_t at)
{
  const size_t size = w->c.o->size;
  double *memory = w->factors + at * factor_length(size, w->c.o->g->k);
  const factor f = {at < w->c.count ? w->ridge[at] : 0.0, memory, memory + size, memory + 2 * size};
  return f;
}

/* The rows of a block, turned; `work`: as many numbers again, where they are not yet. */
static void take_turned(const ridge_crew *w, size_t item, const rows_turned *r, double *work)
{
  const ke_loo *o = w->c.o;
  const size_t n = o->g->n, i0 = w->c.first + item * KE_LOO_ROWS;
  if (w->u) {
    copy_rows(w->u + item * KE_LOO_ROWS, w->ld, r->u, KE_LOO_ROWS, r->m, r->size);
  } else {
    ke_times_ready((ke_dense){o->g->z + i0, r->m, r->size, n}, &w->ready, work,
                   (ke_dense){r->u, r->m, r->size, KE_LOO_ROWS});
    if (o->turned)
      copy_rows(r->u, KE_LOO_ROWS, o->turned + i0, n, r->m, r->size);
  }
  fill_up(r);
}

static void ridge_block(void *data, size_t item, size_t worker)
{
  const ridge_crew *w = (const ridge_crew *)data;
  const ke_loo *o = w->c.o;
  const size_t k = o->g->k;
  double *u;
  const ke_loo_block s = ke_loo_take(&w->c, item, worker, &u);
  double *length = u + KE_LOO_ROWS * o->size, *sum = length + KE_LOO_ROWS,
         *e = sum + KE_LOO_ROWS * k, *left = e + KE_LOO_ROWS * k;
  const rows_turned rows = {u, s.m, o->size};
  const ke_loo_block with = {s.i0, s.m, e, s.v, left, s.loss, s.error};
  const factor none = factor_at(w, w->c.count);
  take_turned(w, item, &rows, left + KE_LOO_ROWS);
  turned_sums(&none, &rows, k, length, sum);
  start_turned(o->g, length, sum, &s);
  for (size_t r = 0; r < w->c.count; r++) {
    const factor f = factor_at(w, r);
    turned_sums(&f, &rows, k, length, sum);
    add_penalty(o->g, &f, length, sum, &s, &with);
    ke_loo_divide(o->g, &with);
    ke_loo_add_scores(o, &with, r);
    ke_loo_keep_rows(o, &with, r);
  }
}

/* Turn the rows that w says to begin with, `m` of them, in pieces into `u`. */
static void turn_rows(const ridge_crew *w, size_t m, double *u, const ke_env *env)
{
  const ke_loo *o = w->c.o;
  const size_t n = o->g->n, size = o->size;
  ke_add_multiple(1.0, (ke_dense){o->g->z + w->c.first, m, size, n},
                  (ke_dense){(double *)w->p, size, size, size}, 0.0, (ke_dense){u, m, size, w->ld},
                  env);
  if (o->turned)
    copy_rows(u, w->ld, o->turned + w->c.first, n, m, size);
}

static void make_next(void *data, const ke_env *env)
{
  const ridge_crew *w = (const ridge_crew *)data;
  ke_bidiagonalise(w->c.o->g, w->next, env);
}

/* Blocks of rows from `first` on; and the next factor, where the caller is done with it before the
 * others with those, or else before. */
static void ridge_rows(ridge_crew *w, size_t blocks, const ke_env *env)
{
  const ke_loo *o = w->c.o;
  const double each = (double)o->size * (2.0 * (double)o->g->k + 6.0) + SCORES * (double)o->g->k,
               flops = KE_LOO_ROWS * (double)w->c.count * each +
                       (turns_itself(o) ? turn_flops(o->size) : 0.0);
  const double others = (double)(ke_workers(env, blocks, flops) - 1);
  if (w->next && ke_bidiagonal_flops(w->next->size) * others > (double)blocks * flops) {
    make_next(w, env);
    w->next = NULL;
  }
  if (w->next)
    ke_share_beside(env, blocks, flops, ridge_block, make_next, w);
  else
    ke_share_often(env, blocks, flops, ridge_block, w);
  w->next = NULL;
  ke_loo_add_slots(&w->c, blocks);
}

static void fill_factors(const ridge_crew *w, const ke_bidiagonal *b, const ke_env *env)
{
  const ke_regression *g = w->c.o->g;
  const factor none = factor_at(w, w->c.count);
  fill_plain(g, b, &none, env);
  for (size_t r = 0; r < w->c.count; r++) {
    const factor f = factor_at(w, r);
    fill_factor(b, none.c, g->k, &f);
  }
}

void ke_ridge_loo(const ke_loo *o, const ke_bidiagonal *b, const double *ridge, size_t count,
                  ke_bidiagonal *next, const ke_env *env)
{
  const ke_regression *g = o->g;
  const size_t size = b->size, blocks = blocks_at_once(o), step = blocks * KE_LOO_ROWS;
  double *turned = o->work + ke_loo_slots(blocks, count), *factors = turned + turned_length(o),
         *own = factors + (count + 1) * factor_length(size, g->k);
  ridge_crew w = {.c = {o, 0, count, o->work, own, ridge_each(o)},
                  .ridge = ridge,
                  .factors = factors,
                  .p = find_turn(g, b, env),
                  .ld = o->known ? g->n : step,
                  .next = next};
  if (turns_itself(o))
    w.ready = ke_make_ready((ke_dense){(double *)w.p, size, size, size}, turned);
  ke_loo_clear_scores(o, count);
  fill_factors(&w, b, env);
  for (; w.c.first < g->n; w.c.first += step) {
    const size_t m = ke_smaller(step, g->n - w.c.first);
    w.u = o->known ? o->turned + w.c.first : turned_before(o) ? turned : NULL;
    if (turned_before(o))
      turn_rows(&w, m, turned, env);
    ridge_rows(&w, (m + KE_LOO_ROWS - 1) / KE_LOO_ROWS, env);
    ke_check(env);
  }
  ke_loo_mean_scores(o, count);
}

/* ---- the hat matrix -----------------------------------------------------------------------------
 */

/* Q R (R'R + ridge)^{-1} R'Q' = (Q P) A L^{-1} L^{-T} A' (Q P)' with A = B' and L'L = A'A + ridge.
 * A is lower bidiagonal: from the last column on it is upper bidiagonal, as rotations want it. */
void ke_ridge_turn(const ke_bidiagonal *b, double ridge, double *out, double *work,
                   const ke_env *env)
{
  const size_t m = b->size, between = ke_batch(KE_FRESH * (double)m);
  double *diagonal = work, *over = work + m;
  const factor f = {ridge, work + 2 * m, work + 3 * m, NULL};
  for (size_t j = 0; j < m; j++) {
    diagonal[j] = b->diagonal[m - 1 - j];
    over[j] = j + 1 < m ? b->over[m - 2 - j] : 0.0;
  }
  rotate_in(&(ke_bidiagonal){.size = m, .diagonal = diagonal, .over = over}, &f);
  for (size_t j = 0; j < m; j++) {
    const double *p = b->p + (m - 1 - j) * m;
    double *to = out + j * m;
    for (size_t i = 0; i < m; i++)
      to[i] = f.by[j] * diagonal[j] * p[i];
    if (j > 0) {
      ke_add_scaled(to, m, f.by[j] * over[j - 1], p + m);
      ke_add_scaled(to, m, -f.back[j], to - m);
    }
    if (j % between == between - 1)
      ke_check(env);
  }
}
