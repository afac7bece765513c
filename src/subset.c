/* Searches over sets of columns, streamed in tiles of KE_SUBSET_TILE^2 pairs of rows.
 *
 * With a_e(i,j) the kernel on column e alone, the product kernel of e and f has
 *   <K,T> = sum_p t_p a_pe a_pf,   <K,K> = sum_p a_pe^2 a_pf^2,   p running over pairs (i,j),
 * so all pairs of columns are scanned by two matrix products of a tile of column kernels,
 * n^2 d^2 flops in all. Extending a chosen set by one column, or leaving one out, costs one
 * kernel value a pair of rows and candidate. Tiles on the diagonal count half, all totals
 * twice. Threads divide the columns, never a sum. Nothing of size n^2 is held.
 * HSIC by leaving out: Song, Smola, Gretton, Bedo and Borgwardt (2012), backward elimination.
 */
#include "subset.h"

#include "threads.h"
#include "simd.h"

#include <string.h>
#define CELLS (KE_SUBSET_TILE * KE_SUBSET_TILE)
#define GROUP 24 /* columns of the product one thread takes at a time: whole register blocks */

/* A tile: rows i0 .. i0 + m against rows j0 .. j0 + k; it counts `share`. */
typedef struct {
  size_t i0, m, j0, k;
  double share;
} tile;

static tile tile_at(const ke_subset *s, size_t edge, size_t i0, size_t j0)
{
  const tile t = {i0, ke_smaller(edge, s->n - i0), j0, ke_smaller(edge, s->n - j0),
                  i0 == j0 ? 1.0 : 2.0};
  return t;
}

/* Targets of the tile's cells, times its share. */
static void fill_target(const ke_subset *s, const tile *t, double *target)
{
  ke_inner(&s->target, t->i0, t->m, &s->target, t->j0, t->k, target, t->m);
  for (size_t p = 0; p < t->m * t->k; p++)
    target[p] *= t->share;
}

size_t ke_subset_work(size_t d, const ke_env *env)
{
  const size_t panels = 2 * ke_padded(d + 1) * CELLS, product = GROUP * ke_padded(d + 1);
  return panels + (size_t)env->threads * (product + 2 * CELLS) + 2 * CELLS;
}

/* ---- all pairs of columns --------------------------------------------------------------- */

/* Column e of the tile into its place in the panels: its kernel, and that times the target. */
static void fill_column(const ke_subset *s, const tile *t, size_t e, const double *target,
                        double *cells, const ke_rows panels[2])
{
  const size_t count = t->m * t->k;
  double *plain = ke_row(&panels[0], e), *weighted = ke_row(&panels[1], e);
  if (e < s->d)
    ke_tile(&s->kernel, (ke_range){&s->column[e], t->i0, t->m},
            (ke_range){&s->column[e], t->j0, t->k}, cells, t->m);
  for (size_t p = 0; p < count; p++) {
    const double value = e < s->d ? cells[p] : (e == s->d ? 1.0 : 0.0);
    plain[p * KE_PANEL] = value;
    weighted[p * KE_PANEL] = value * target[p];
  }
}

/* Rows first .. of a'b over the tile's cells, times factor, added to total: what lies on or below
 * the diagonal, as b'a is the same. */
static void add_products(const ke_rows *a, const ke_rows *b, const tile *t, size_t first,
                         double factor, double *product, double *total)
{
  const size_t rows = ke_smaller(GROUP, a->n - first);
  const ke_rows part = {rows, CELLS, a->panel + first * CELLS, NULL, 0, 0};
  const ke_rows up_to = {first + rows, CELLS, b->panel, NULL, 0, 0};
  ke_product(&part, &up_to, t->m * t->k, product, GROUP);
  for (size_t f = 0; f < up_to.n; f++)
    for (size_t e = 0; e < rows; e++)
      total[first + e + f * b->n] += factor * product[e + f * GROUP];
}

static void mirror(double *total, size_t n)
{
  for (size_t f = 0; f < n; f++)
    for (size_t e = 0; e < f; e++)
      total[e + f * n] = total[f + e * n];
}

INLINE void square_body(double *x, size_t n)
{
  for (size_t i = 0; i + 4 <= n; i += 4) {
    const v4 v = LOAD(x + i);
    STORE(x + i, v * v);
  }
}

DEFINE_DISPATCHED(static, square, (double *x, size_t n), (x, n))

/* One tile of the scan; `panels` hold its column kernels, plain and times the target. */
typedef struct {
  const ke_subset *s;
  const tile *t;
  const ke_rows *panels;
  double **totals;
  double *target, *work;
  size_t each; /* of the work is a worker's own */
} scan;

static void scan_column(void *data, size_t e, size_t worker)
{
  const scan *c = (const scan *)data;
  fill_column(c->s, c->t, e, c->target, c->work + worker * c->each, c->panels);
}

static void scan_target(void *data, size_t group, size_t worker)
{
  const scan *c = (const scan *)data;
  add_products(&c->panels[1], &c->panels[0], c->t, group * GROUP, 1.0, c->work + worker * c->each,
               c->totals[0]);
}

static void scan_self(void *data, size_t group, size_t worker)
{
  const scan *c = (const scan *)data;
  add_products(&c->panels[0], &c->panels[0], c->t, group * GROUP, c->t->share,
               c->work + worker * c->each, c->totals[1]);
}

static void scan_tile(scan *c, const ke_env *env)
{
  const size_t rows = c->s->d + 1, padded = ke_padded(rows), groups = (rows + GROUP - 1) / GROUP;
  const double cells = (double)(c->t->m * c->t->k), product = 2.0 * GROUP * (double)rows * cells;
  fill_target(c->s, c->t, c->target);
  ke_share(env, padded, 64.0 * cells, scan_column, c);
  ke_share(env, groups, product, scan_target, c);
  for (size_t e = 0; e < padded; e += KE_PANEL)
    square(c->panels[0].panel + e * CELLS, c->t->m * c->t->k * KE_PANEL);
  ke_share(env, groups, product, scan_self, c);
}

void ke_subset_pairs(const ke_subset *s, double *kt, double *kk, double *work, const ke_env *env)
{
  const size_t rows = s->d + 1, padded = ke_padded(rows);
  const ke_rows panels[2] = {{rows, CELLS, work, NULL, 0, 0},
                             {rows, CELLS, work + padded * CELLS, NULL, 0, 0}};
  double *totals[2] = {kt, kk}, *own = work + 2 * padded * CELLS;
  const size_t each = GROUP * padded + 2 * CELLS;
  memset(kt, 0, rows * rows * sizeof(double));
  memset(kk, 0, rows * rows * sizeof(double));
  for (size_t j0 = 0; j0 < s->n; j0 += KE_SUBSET_TILE)
    for (size_t i0 = j0; i0 < s->n; i0 += KE_SUBSET_TILE) {
      ke_check(env);
      const tile t = tile_at(s, KE_SUBSET_TILE, i0, j0);
      scan c = {s, &t, panels, totals, own + (size_t)env->threads * each, own, each};
      scan_tile(&c, env);
    }
  mirror(kt, rows);
  mirror(kk, rows);
}

/* ---- one column more ------------------------------------------------------------------------ */

/* kernel on the chosen columns together: the product of the column kernels where that is the
 * same, else multiplied out. */
static void chosen_product(const ke_subset *s, const tile *t, const double *chosen, double *cells,
                           double *out)
{
  const size_t count = t->m * t->k;
  if (ke_multiplies(&s->kernel)) {
    ke_tile(&s->kernel, (ke_range){&s->rows, t->i0, t->m}, (ke_range){&s->rows, t->j0, t->k}, out,
            t->m);
    return;
  }
  for (size_t p = 0; p < count; p++)
    out[p] = 1.0;
  for (size_t e = 0; e < s->d; e++) {
    if (chosen[e] == 0.0)
      continue;
    ke_tile(&s->kernel, (ke_range){&s->column[e], t->i0, t->m},
            (ke_range){&s->column[e], t->j0, t->k}, cells, t->m);
    for (size_t p = 0; p < count; p++)
      out[p] *= cells[p];
  }
}

/* sums[0] += target . (base o cells), sums[1] += |base o cells|^2 */
INLINE void extend_sums_body(const double *target, const double *base, const double *cells,
                             size_t count, double *sums)
{
  v4 kt = {0}, kk = {0};
  size_t p = 0;
  for (; p + 4 <= count; p += 4) {
    const v4 k = LOAD(base + p) * LOAD(cells + p);
    kt += LOAD(target + p) * k;
    kk += k * k;
  }
  for (size_t r = 0; r < 4; r++)
    sums[0] += kt[r], sums[1] += kk[r];
  for (; p < count; p++) {
    const double k = base[p] * cells[p];
    sums[0] += target[p] * k, sums[1] += k * k;
  }
}

DEFINE_DISPATCHED(static, extend_sums,
                  (const double *target, const double *base, const double *cells, size_t count,
                   double *sums),
                  (target, base, cells, count, sums))

/* A tile; a column is an item. */
typedef struct {
  const ke_subset *s;
  const tile *t;
  const double *chosen;
  double *sums[2];
  double *target, *base, *own; /* base: of the chosen columns; own: CELLS a worker */
} choice;

static void extend_by(void *data, size_t e, size_t worker)
{
  const choice *c = (const choice *)data;
  const tile *t = c->t;
  const ke_rows *column = &c->s->column[e];
  double *cells = c->own + worker * CELLS, sum[2] = {0.0, 0.0};
  if (c->chosen[e] != 0.0)
    return;
  ke_tile(&c->s->kernel, (ke_range){column, t->i0, t->m}, (ke_range){column, t->j0, t->k}, cells,
          t->m);
  extend_sums(c->target, c->base, cells, t->m * t->k, sum);
  c->sums[0][e] += sum[0];
  c->sums[1][e] += t->share * sum[1];
}

static void extend_tile(choice *c, const ke_env *env)
{
  fill_target(c->s, c->t, c->target);
  chosen_product(c->s, c->t, c->chosen, c->own, c->base);
  ke_share(env, c->s->d, 64.0 * (double)(c->t->m * c->t->k), extend_by, c);
}

void ke_subset_extend(ke_subset *s, const double *chosen, double *kt, double *kk, double *work,
                      const ke_env *env)
{
  memset(kt, 0, s->d * sizeof(double));
  memset(kk, 0, s->d * sizeof(double));
  ke_pack_for(&s->kernel, s->x, s->n, (ke_transform){.weights = chosen}, &s->rows, env);
  for (size_t j0 = 0; j0 < s->n; j0 += KE_SUBSET_TILE)
    for (size_t i0 = j0; i0 < s->n; i0 += KE_SUBSET_TILE) {
      ke_check(env);
      const tile t = tile_at(s, KE_SUBSET_TILE, i0, j0);
      choice c = {s, &t, chosen, {kt, kk}, work, work + CELLS, work + 2 * CELLS};
      extend_tile(&c, env);
    }
}

/* ---- one column less ------------------------------------------------------------------------- */

/* target . k over the tile for the kernel without column e, from inner products with it. */
static double sum_without(const ke_subset *s, const tile *t, size_t e, const double *inner,
                          const double *target)
{
  const double *x = s->x + e * s->n;
  double norm[KE_SUBSET_TILE], cells[KE_SUBSET_TILE], sum = 0.0;
  for (size_t i = 0; i < t->m; i++)
    norm[i] = s->rows.norm[t->i0 + i] - x[t->i0 + i] * x[t->i0 + i];
  const double top = ke_largest(norm, t->m);
  for (size_t j = 0; j < t->k; j++) {
    const double own = x[t->j0 + j];
    ke_column c = ke_column_of(&s->kernel, &s->rows, t->i0, &s->rows, t->j0 + j);
    c.m = t->m;
    c.norm = norm;
    c.top = top;
    c.other -= own * own;
    c.without = e;
    c.g = cells;
    for (size_t i = 0; i < t->m; i++)
      cells[i] = inner[i + j * t->m] - x[t->i0 + i] * own;
    ke_finish(&c);
    for (size_t i = 0; i < t->m; i++)
      sum += target[i + j * t->m] * cells[i];
  }
  return sum;
}

static void reduce_by(void *data, size_t e, size_t worker)
{
  const choice *c = (const choice *)data;
  (void)worker;
  if (c->chosen[e] != 0.0)
    c->sums[0][e] += sum_without(c->s, c->t, e, c->base, c->target);
}

static void reduce_tile(choice *c, const ke_env *env)
{
  const tile *t = c->t;
  fill_target(c->s, t, c->target);
  ke_inner(&c->s->rows, t->i0, t->m, &c->s->rows, t->j0, t->k, c->base, t->m);
  ke_share(env, c->s->d, 64.0 * (double)(t->m * t->k), reduce_by, c);
}

void ke_subset_reduce(ke_subset *s, const double *chosen, double *kt, double *work,
                      const ke_env *env)
{
  memset(kt, 0, s->d * sizeof(double));
  ke_pack(s->x, s->n, &(ke_transform){.weights = chosen}, &s->rows);
  for (size_t j0 = 0; j0 < s->n; j0 += KE_SUBSET_TILE)
    for (size_t i0 = j0; i0 < s->n; i0 += KE_SUBSET_TILE) {
      ke_check(env);
      const tile t = tile_at(s, KE_SUBSET_TILE, i0, j0);
      choice c = {s, &t, chosen, {kt, NULL}, work, work + CELLS, NULL};
      reduce_tile(&c, env);
    }
}
