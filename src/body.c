/* A body of rows, and all of them brought up to date after a round of picks P:
 *
 *   F[, new] = (K[, P] - F F_P') L_P^{-T},   L_P the Cholesky factor of the picks' residual block,
 *
 * and what each new column takes off the residuals. A tile of rows goes through every step while
 * it is in cache: kernel values, the product with the old columns, then the triangular solve,
 * four columns at a time, which is the same product with the columns just made. Tiles are shared
 * among threads; each leaves its totals in a slot, and slots are added in order, so nothing
 * depends on the threads. Cost 2 n |P| (d + L + |P|/2) flops.
 */
#include "body.h"

#include "roots.h"
#include "simd.h"
#include "stream.h"
#include "threads.h"

#include <math.h>
#include <string.h>

#define TILES (KE_CHUNK / KE_TILE)

/* ---- layout of the workspace ------------------------------------------------------------- */

/* Rows of the picks with their sign turned, in old and in new columns; totals of each tile. */
typedef struct {
  ke_rows old, fresh;
  ke_pick *slots; /* TILES x KE_BLOCK */
} packed_round;

/* A thread's tile: packed, and its new columns, KE_TILE apart. They go through every step here,
 * close together, and into the factor at the end: there each lies in a page of its own. */
typedef struct {
  ke_rows old, fresh;
  double *columns;
} tile_rows;

static size_t slot_doubles(void) { return TILES * KE_BLOCK * sizeof(ke_pick) / sizeof(double); }

static size_t tile_doubles(size_t capacity) { return KE_TILE * (capacity + 2 * KE_BLOCK); }

size_t ke_body_work(size_t capacity, int threads)
{
  return KE_BLOCK * (capacity + KE_BLOCK) + slot_doubles() +
         (size_t)threads * tile_doubles(capacity);
}

static packed_round pack_round(const ke_body *b, const ke_round *r)
{
  double *p = b->work;
  const packed_round out = {{r->picks, r->size, p, NULL, 0, 0},
                            {r->picks, r->picks, p + KE_BLOCK * b->capacity, NULL, 0, 0},
                            (ke_pick *)(p + KE_BLOCK * (b->capacity + KE_BLOCK))};
  return out;
}

static tile_rows tile_of(const ke_body *b, const ke_round *r, size_t thread, size_t m)
{
  double *p = b->work + ke_body_work(b->capacity, 0) + thread * tile_doubles(b->capacity);
  const tile_rows t = {{m, r->size, p, NULL, 0, 0},
                       {m, r->picks, p + KE_TILE * b->capacity, NULL, 0, 0},
                       p + KE_TILE * (b->capacity + KE_BLOCK)};
  return t;
}

/* ---- the picks ------------------------------------------------------------------------- */

/* Entry of L_P: pick p, new column l. */
static double triangle_entry(const ke_round *r, size_t p, size_t l)
{
  return r->panel[r->chosen[p] + (r->size + l) * r->ld];
}

static void collect_picks(const ke_round *r, const packed_round *to)
{
  memset(to->old.panel, 0, ke_panel_size(r->picks, r->size) * sizeof(double));
  memset(to->fresh.panel, 0, ke_panel_size(r->picks, r->picks) * sizeof(double));
  for (size_t p = 0; p < r->picks; p++) {
    const double *row = r->panel + r->chosen[p];
    double *old = ke_row(&to->old, p), *fresh = ke_row(&to->fresh, p);
    for (size_t l = 0; l < r->size; l++)
      old[l * KE_PANEL] = -row[l * r->ld];
    for (size_t l = 0; l < p; l++)
      fresh[l * KE_PANEL] = -triangle_entry(r, p, l);
  }
}

/* ---- one tile ---------------------------------------------------------------------------- */

/* Four new columns of a tile, the earlier ones already taken off: what is left of the solve, and
 * their copy in the packed tile. */
typedef struct {
  size_t m;
  double *column;                                         /* KE_TILE apart */
  double l10, l20, l21, l30, l31, l32, inverse[KE_PANEL]; /* of L_P, and its diagonal inverted */
  double *panel;                                          /* NULL: nobody will ask for it */
  size_t stride;                                          /* between panels */
} solving;

/* Four rows by four columns in place. */
INLINE void solve_four(const solving *s, v4 x[KE_PANEL])
{
  x[0] *= s->inverse[0];
  x[1] = (x[1] - x[0] * s->l10) * s->inverse[1];
  x[2] = (x[2] - x[0] * s->l20 - x[1] * s->l21) * s->inverse[2];
  x[3] = (x[3] - x[0] * s->l30 - x[1] * s->l31 - x[2] * s->l32) * s->inverse[3];
}

INLINE void solve_body(const solving *s)
{
  for (size_t i = 0; i < s->m; i += KE_PANEL) {
    double *at = s->column + i;
    v4 x[KE_PANEL] = {LOAD(at), LOAD(at + KE_TILE), LOAD(at + 2 * KE_TILE), LOAD(at + 3 * KE_TILE)};
    solve_four(s, x);
    STORE(at, x[0]), STORE(at + KE_TILE, x[1]);
    STORE(at + 2 * KE_TILE, x[2]), STORE(at + 3 * KE_TILE, x[3]);
    if (s->panel) {
      double *packed = s->panel + i / KE_PANEL * s->stride;
      STORE(packed, x[0]), STORE(packed + 4, x[1]);
      STORE(packed + 8, x[2]), STORE(packed + 12, x[3]);
    }
  }
}

DEFINE_DISPATCHED(static, solve, (const solving *s), (s))

/* The entry of L_P, or of the unit matrix beyond its end. */
static double bordered(const ke_round *r, size_t p, size_t l)
{
  return p < r->picks ? triangle_entry(r, p, l) : p == l ? 1.0 : 0.0;
}

/* What fills the new columns up to whole panels is zero: every step takes four by four. */
static void fill_up(const tile_rows *t)
{
  const size_t rows = ke_padded(t->fresh.n), columns = ke_padded(t->fresh.d);
  for (size_t l = 0; l < columns; l++) {
    const size_t from = l < t->fresh.d ? t->fresh.n : 0;
    memset(t->columns + l * KE_TILE + from, 0, (rows - from) * sizeof(double));
  }
}

static void solve_tile(const ke_round *r, const ke_rows *triangle, const tile_rows *t)
{
  const ke_rows *made = &t->fresh;
  for (size_t j = 0; j < r->picks; j += KE_PANEL) {
    const ke_rows picks = {KE_PANEL, r->picks, triangle->panel + j * r->picks, NULL, 0, 0};
    const int last = j + KE_PANEL >= r->picks;
    if (j > 0)
      ke_add_product(made, &picks, j, t->columns + j * KE_TILE, KE_TILE, NULL);
    solving s = {made->n,
                 t->columns + j * KE_TILE,
                 bordered(r, j + 1, j),
                 bordered(r, j + 2, j),
                 bordered(r, j + 2, j + 1),
                 bordered(r, j + 3, j),
                 bordered(r, j + 3, j + 1),
                 bordered(r, j + 3, j + 2),
                 {0},
                 last ? NULL : made->panel + j * KE_PANEL,
                 KE_PANEL * r->picks};
    for (size_t c = 0; c < KE_PANEL; c++)
      s.inverse[c] = 1.0 / bordered(r, j + c, j + c);
    solve(&s);
  }
}

/* One new column of the factor on some rows: what it takes off their residuals. */
typedef struct {
  size_t rows;
  const double *column, *weight, *inverse, *times; /* times or NULL */
  double *residual;
  ke_pick *totals;
} step;

static void lower_rest(const step *s, size_t i)
{
  ke_pick *p = s->totals;
  for (; i < s->rows; i++) {
    const double rest = s->residual[i] - s->column[i] * s->column[i];
    const double kept = rest > 0.0 ? rest : 0.0;
    s->residual[i] = kept;
    p->lowest = fmin(p->lowest, rest);
    p->best = fmax(p->best, kept * s->weight[i]);
    p->trace += s->times ? s->times[i] * kept : kept;
    p->scaled += kept * s->inverse[i];
  }
}

static void lower_counted(const step *s)
{
  lower_rest(s, 0);
  for (size_t i = 0; i < s->rows; i++)
    s->totals->norm += s->times[i] * sqrt(s->residual[i]);
}

/* Roots are slow, but leave the processor free for all the rest. */
INLINE void lower_residuals_body(const step *s, void (*roots)(v4 *))
{
  ke_pick *p = s->totals;
  v4 trace = {0}, scaled = {0}, best = {0}, lowest = {0}, norm = {0}, root = {0};
  size_t i = 0;
  for (; i + 4 <= s->rows; i += 4) {
    const v4 entry = LOAD(s->column + i), rest = LOAD(s->residual + i) - entry * entry;
    const v4 kept = (v4)((l4)rest & (rest > 0.0)), key = kept * LOAD(s->weight + i);
    STORE(s->residual + i, kept);
    lowest = SELECT(rest < lowest, rest, lowest);
    best = SELECT(key > best, key, best);
    trace += kept;
    scaled += kept * LOAD(s->inverse + i);
    root = kept;
    roots(&root);
    norm += root;
  }
  for (int k = 0; k < 4; k++) {
    p->lowest = lowest[k] < p->lowest ? lowest[k] : p->lowest;
    p->best = best[k] > p->best ? best[k] : p->best;
  }
  p->trace += sum_v4(&trace);
  p->scaled += sum_v4(&scaled);
  lower_rest(s, i);
  root = (v4){0};
  memcpy(&root, s->residual + i, (s->rows - i) * sizeof(double));
  roots(&root);
  norm += root;
  p->norm += sum_v4(&norm);
}

static void lower_residuals_base(const step *s) { lower_residuals_body(s, roots_base); }

#if DISPATCH
FAST_TARGET static void lower_residuals_fast(const step *s) { lower_residuals_body(s, roots_fast); }
#endif

static void lower_residuals(const step *s)
{
  if (s->times) {
    lower_counted(s);
    return;
  }
#if DISPATCH
  if (HAS_FAST()) {
    lower_residuals_fast(s);
    return;
  }
#endif
  lower_residuals_base(s);
}

static void add_squares(const double *column, size_t m, double *explained)
{
  for (size_t i = 0; i < m; i++)
    explained[i] += column[i] * column[i];
}

static double largest_share(const double *column, const double *weight, size_t m)
{
  double most = 0.0;
  for (size_t i = 0; i < m; i++) {
    const double share = column[i] * column[i] * weight[i];
    most = share > most ? share : most;
  }
  return most;
}

/* Column l of the new ones on rows i0 .. i0 + m. */
static void lower_by_column(const ke_body *b, const ke_round *r, size_t l, size_t i0, size_t m,
                            double *column, ke_pick *totals)
{
  const size_t row = r->index[l] - b->first; /* beyond all of them where it is not here */
  const int here = row >= i0 && row < i0 + m;
  const double own = here ? column[row - i0] : 0.0;
  if (here) /* its own pivot leaves exactly nothing */
    b->residual[row] = column[row - i0] = 0.0;
  const double *times = b->times ? b->times + i0 : NULL;
  const step s = {m, column, b->weight + i0, b->inverse + i0, times, b->residual + i0, totals};
  lower_residuals(&s);
  if (here)
    column[row - i0] = own;
  if (b->explained)
    add_squares(column, m, b->explained + i0);
  if (r->spreads)
    totals->spread = largest_share(column, b->weight + i0, m);
}

/* Rows i0 .. i0 + m, a tile an item. */
typedef struct {
  const ke_body *b;
  const ke_round *r;
  packed_round packed;
  ke_totals *totals; /* or NULL */
  size_t i0, m, workers;
} chunk;

/* What the tile at row i will read, if there is one. */
static void look_ahead(const ke_body *b, size_t size, size_t i, ke_ahead ahead[3])
{
  const ke_source *s = b->source;
  memset(ahead, 0, 3 * sizeof *ahead);
  if (i >= b->n)
    return;
  const size_t m = ke_smaller(KE_TILE, b->n - i);
  const ke_ahead old = {b->factor + i, b->n, m, size};
  ahead[0] = old;
  if (s->does->reads)
    ahead[1] = s->does->reads(s->self, i, m);
}

static void update_tile(void *data, size_t q, size_t worker)
{
  const chunk *c = (const chunk *)data;
  const ke_body *b = c->b;
  const ke_round *r = c->r;
  const size_t i = c->i0 + q * KE_TILE, m = ke_smaller(KE_TILE, c->m - q * KE_TILE);
  const tile_rows t = tile_of(b, r, worker, m);
  ke_pick *slot = c->packed.slots + q * KE_BLOCK;
  b->source->does->against(b->source->self, KE_PICKS, i, m, t.columns, KE_TILE);
  fill_up(&t);
  if (r->size > 0) {
    ke_ahead ahead[3];
    look_ahead(b, r->size, i + c->workers * KE_TILE, ahead);
    ke_panels(b->factor + i, b->n, NULL, &t.old);
    ke_add_product(&t.old, &c->packed.old, r->size, t.columns, KE_TILE, ahead);
  }
  solve_tile(r, &c->packed.fresh, &t);
  memset(slot, 0, r->picks * sizeof *slot);
  for (size_t l = 0; l < r->picks; l++) {
    double *column = t.columns + l * KE_TILE;
    memcpy(b->factor + (r->size + l) * b->n + i, column, m * sizeof(double));
    if (c->totals)
      lower_by_column(b, r, l, i, m, column, slot + l);
  }
}

/* ---- all tiles ----------------------------------------------------------------------------- */

ke_totals ke_new_totals(size_t picks, double *sums, ke_pick *extreme)
{
  const ke_totals totals = {ke_new_ladder(KE_SUMS * picks, sums), extreme};
  memset(extreme, 0, picks * sizeof *extreme);
  return totals;
}

void ke_add_extreme(ke_pick *extreme, const ke_pick *other)
{
  extreme->best = fmax(extreme->best, other->best);
  extreme->lowest = fmin(extreme->lowest, other->lowest);
  extreme->spread = fmax(extreme->spread, other->spread);
}

static void add_tile(ke_totals *totals, size_t picks, const ke_pick *slot, size_t tile)
{
  double sums[KE_SUMS * KE_BLOCK];
  for (size_t l = 0; l < picks; l++) {
    double *of = sums + l * KE_SUMS;
    of[KE_TRACE] = slot[l].trace;
    of[KE_SCALED] = slot[l].scaled;
    of[KE_NORM] = slot[l].norm;
    ke_add_extreme(&totals->extreme[l], &slot[l]);
  }
  ke_ladder_add(&totals->sums, tile, 1, sums);
}

void ke_totals_to_path(const ke_totals *totals, size_t picks, ke_pick *path)
{
  double sums[KE_SUMS * KE_BLOCK];
  ke_ladder_total(&totals->sums, sums);
  for (size_t l = 0; l < picks; l++) {
    const double *of = sums + l * KE_SUMS;
    const ke_pick all = {.pivot = path[l].pivot,
                         .trace = of[KE_TRACE],
                         .scaled = of[KE_SCALED],
                         .norm = of[KE_NORM],
                         .best = totals->extreme[l].best,
                         .lowest = totals->extreme[l].lowest,
                         .spread = totals->extreme[l].spread};
    path[l] = all;
  }
}

static void update_chunk(chunk *c, const ke_env *env)
{
  const size_t tiles = (c->m + KE_TILE - 1) / KE_TILE;
  const ke_round *r = c->r;
  const ke_env crew = ke_source_env(c->b->source, env);
  const double entry = c->b->source->cost + 2.0 * (double)r->size + KE_FRESH;
  const double flops = KE_TILE * (double)r->picks * entry;
  c->workers = ke_workers(&crew, tiles, flops);
  ke_share(&crew, tiles, flops, update_tile, c);
  for (size_t q = 0; c->totals && q < tiles; q++)
    add_tile(c->totals, r->picks, c->packed.slots + q * KE_BLOCK,
             (c->b->first + c->i0) / KE_TILE + q);
}

void ke_body_update(ke_body *b, const ke_round *r, ke_totals *totals, const ke_env *env)
{
  chunk c = {b, r, pack_round(b, r), totals, 0, 0, 1};
  collect_picks(r, &c.packed);
  for (; c.i0 < b->n; c.i0 += KE_CHUNK) {
    c.m = ke_smaller(KE_CHUNK, b->n - c.i0);
    ke_check(env);
    update_chunk(&c, env);
  }
}
