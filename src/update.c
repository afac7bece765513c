/* All rows brought up to date after a round of picks P:
 *
 *   F[, new] = (K[, P] - F F_P') L_P^{-T},   L_P the Cholesky factor of the picks' residual block,
 *
 * and what each new column takes off the residuals. A tile of rows goes through every step while
 * it is in cache: kernel values, the product with the old columns, then the triangular solve,
 * four columns at a time, which is the same product with the columns just made. Tiles are shared
 * among threads; each leaves its totals in a slot, and slots are added in order, so nothing
 * depends on the threads. Cost 2 n |P| (d + L + |P|/2) flops.
 */
#include "basis.h"

#include "simd.h"
#include "threads.h"

#include <math.h>
#include <string.h>
#if DISPATCH
#include <immintrin.h>
#endif

#define TILES (KE_CHUNK / KE_TILE)

/* ---- layout of the lent array --------------------------------------------------------- */

/* Rows of the picks with their sign turned, in old and in new columns; totals of each tile. */
typedef struct {
  ke_rows old, fresh;
  ke_pick *slots; /* TILES x KE_BLOCK */
} round_rows;

/* A thread's tile, packed. */
typedef struct {
  ke_rows old, fresh;
} tile_rows;

static size_t slot_doubles(void) { return TILES * KE_BLOCK * sizeof(ke_pick) / sizeof(double); }

static size_t tile_doubles(size_t capacity) { return KE_TILE * (capacity + KE_BLOCK); }

size_t ke_update_work(size_t capacity, int threads)
{
  return KE_BLOCK * (capacity + KE_BLOCK) + slot_doubles() +
         (size_t)threads * tile_doubles(capacity);
}

static round_rows round_of(const ke_basis *b)
{
  double *p = b->work;
  const round_rows r = {{b->picks, b->size, p, NULL},
                        {b->picks, b->picks, p + KE_BLOCK * b->capacity, NULL},
                        (ke_pick *)(p + KE_BLOCK * (b->capacity + KE_BLOCK))};
  return r;
}

static tile_rows tile_of(const ke_basis *b, size_t thread, size_t m)
{
  double *p = b->work + ke_update_work(b->capacity, 0) + thread * tile_doubles(b->capacity);
  const tile_rows t = {{m, b->size, p, NULL}, {m, b->picks, p + KE_TILE * b->capacity, NULL}};
  return t;
}

/* ---- the picks ------------------------------------------------------------------------- */

/* Entry of L_P: pick p, new column l. */
static double triangle_entry(const ke_basis *b, size_t p, size_t l)
{
  return b->panel[b->chosen[p] + (b->size + l) * b->most];
}

static void collect_picks(const ke_basis *b, const round_rows *r)
{
  memset(r->old.panel, 0, ke_panel_size(b->picks, b->size) * sizeof(double));
  memset(r->fresh.panel, 0, ke_panel_size(b->picks, b->picks) * sizeof(double));
  for (size_t p = 0; p < b->picks; p++) {
    const double *row = b->panel + b->chosen[p];
    double *old = ke_row(&r->old, p), *fresh = ke_row(&r->fresh, p);
    for (size_t l = 0; l < b->size; l++)
      old[l * KE_PANEL] = -row[l * b->most];
    for (size_t l = 0; l < p; l++)
      fresh[l * KE_PANEL] = -triangle_entry(b, p, l);
  }
}

/* ---- one tile ---------------------------------------------------------------------------- */

/* Up to four new columns of a tile, the earlier ones already taken off: what is left of the
 * solve, and their copy in the packed tile. */
typedef struct {
  size_t m, ld;
  double *column;                                         /* ld apart */
  double l10, l20, l21, l30, l31, l32, inverse[KE_PANEL]; /* of L_P, and its diagonal inverted */
  double *panel;
  size_t stride; /* between panels */
} solving;

/* Four rows by four columns in place. */
INLINE void solve_four(const solving *s, v4 x[KE_PANEL])
{
  x[0] *= s->inverse[0];
  x[1] = (x[1] - x[0] * s->l10) * s->inverse[1];
  x[2] = (x[2] - x[0] * s->l20 - x[1] * s->l21) * s->inverse[2];
  x[3] = (x[3] - x[0] * s->l30 - x[1] * s->l31 - x[2] * s->l32) * s->inverse[3];
}

INLINE void solve_body(const solving *s, size_t columns)
{
  for (size_t i = 0; i < s->m; i += KE_PANEL) {
    double *at = s->column + i, *packed = s->panel + i / KE_PANEL * s->stride;
    const size_t live = ke_smaller(KE_PANEL, s->m - i);
    v4 x[KE_PANEL] = {{0}};
    if (live == KE_PANEL && columns == KE_PANEL) {
      x[0] = LOAD(at), x[1] = LOAD(at + s->ld), x[2] = LOAD(at + 2 * s->ld),
      x[3] = LOAD(at + 3 * s->ld);
      solve_four(s, x);
      STORE(at, x[0]), STORE(at + s->ld, x[1]), STORE(at + 2 * s->ld, x[2]),
          STORE(at + 3 * s->ld, x[3]);
      STORE(packed, x[0]), STORE(packed + 4, x[1]), STORE(packed + 8, x[2]),
          STORE(packed + 12, x[3]);
    } else {
      for (size_t c = 0; c < columns; c++)
        memcpy(&x[c], at + c * s->ld, live * sizeof(double));
      solve_four(s, x);
      for (size_t c = 0; c < columns; c++)
        memcpy(at + c * s->ld, &x[c], live * sizeof(double));
      memcpy(packed, x, columns * sizeof(v4));
    }
  }
}

DEFINE_DISPATCHED(static, solve, (const solving *s, size_t columns), (s, columns))

/* The entry of L_P, or of the unit matrix beyond its end. */
static double bordered(const ke_basis *b, size_t p, size_t l)
{
  return p < b->picks ? triangle_entry(b, p, l) : p == l ? 1.0 : 0.0;
}

static void solve_tile(const ke_basis *b, const round_rows *r, const ke_rows *made, double *fresh)
{
  for (size_t j = 0; j < b->picks; j += KE_PANEL) {
    const size_t columns = ke_smaller(KE_PANEL, b->picks - j);
    const ke_rows picks = {columns, b->picks, r->fresh.panel + j * b->picks, NULL};
    if (j > 0)
      ke_add_product(made, &picks, j, fresh + j * b->n, b->n);
    solving s = {made->n,
                 b->n,
                 fresh + j * b->n,
                 bordered(b, j + 1, j),
                 bordered(b, j + 2, j),
                 bordered(b, j + 2, j + 1),
                 bordered(b, j + 3, j),
                 bordered(b, j + 3, j + 1),
                 bordered(b, j + 3, j + 2),
                 {0},
                 made->panel + j * KE_PANEL,
                 KE_PANEL * b->picks};
    for (size_t c = 0; c < KE_PANEL; c++)
      s.inverse[c] = 1.0 / bordered(b, j + c, j + c);
    solve(&s, columns);
  }
}

/* One new column of the factor on some rows: what it takes off their residuals. */
typedef struct {
  size_t rows;
  const double *column, *weight, *inverse;
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
    p->trace += kept;
    p->scaled += kept * s->inverse[i];
  }
}

INLINE void lower_residuals_body(const step *s)
{
  ke_pick *p = s->totals;
  v4 trace = {0}, scaled = {0}, best = {0}, lowest = {0};
  size_t i = 0;
  for (; i + 4 <= s->rows; i += 4) {
    const v4 entry = LOAD(s->column + i), rest = LOAD(s->residual + i) - entry * entry;
    const v4 kept = (v4)((l4)rest & (rest > 0.0)), key = kept * LOAD(s->weight + i);
    STORE(s->residual + i, kept);
    lowest = SELECT(rest < lowest, rest, lowest);
    best = SELECT(key > best, key, best);
    trace += kept;
    scaled += kept * LOAD(s->inverse + i);
  }
  for (int k = 0; k < 4; k++) {
    p->lowest = fmin(p->lowest, lowest[k]);
    p->best = fmax(p->best, best[k]);
  }
  p->trace += sum_v4(&trace);
  p->scaled += sum_v4(&scaled);
  lower_rest(s, i);
}

DEFINE_DISPATCHED(static, lower_residuals, (const step *s), (s))

/* Sum of square roots of n numbers that are not negative. The library's sqrt() looks at each for
 * errno; the instruction takes four at a time. */
static double sum_of_roots_base(const double *x, size_t n)
{
  double s[4] = {0.0};
  for (size_t i = 0; i < n; i++)
    s[i % 4] += sqrt(x[i]);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

#if DISPATCH
FAST_TARGET static double sum_of_roots_fast(const double *x, size_t n)
{
  v4 sum = {0}, last = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    sum += (v4)_mm256_sqrt_pd((__m256d)LOAD(x + i));
  memcpy(&last, x + i, (n - i) * sizeof(double));
  sum += (v4)_mm256_sqrt_pd((__m256d)last);
  return sum_v4(&sum);
}
#endif

static double sum_of_roots(const double *x, size_t n)
{
#if DISPATCH
  if (HAS_FAST())
    return sum_of_roots_fast(x, n);
#endif
  return sum_of_roots_base(x, n);
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
static void lower_by_column(const ke_basis *b, size_t l, size_t i0, size_t m, ke_pick *totals)
{
  const size_t row = b->index[b->size + l];
  double *column = b->factor + (b->size + l) * b->n + i0;
  const int here = row >= i0 && row < i0 + m;
  const double own = here ? column[row - i0] : 0.0;
  if (here) /* its own pivot leaves exactly nothing */
    b->residual[row] = column[row - i0] = 0.0;
  const step s = {m, column, b->weight + i0, b->inverse + i0, b->residual + i0, totals};
  lower_residuals(&s);
  totals->norm += sum_of_roots(s.residual, m);
  if (here)
    column[row - i0] = own;
  if (b->explained)
    add_squares(column, m, b->explained + i0);
  if (ke_may_spread(b))
    totals->spread =
        largest_share(column, b->weight + i0, m) / (b->path[b->size + l].pivot * b->weight[row]);
}

static void update_tile(const ke_basis *b, const round_rows *r, size_t i0, size_t m,
                        const tile_rows *t, ke_pick *totals)
{
  double *fresh = b->factor + b->size * b->n + i0;
  b->source->against(b->source, KE_PICKS, i0, m, fresh, b->n);
  if (b->size > 0) {
    ke_panels(b->factor + i0, b->n, NULL, NULL, &t->old);
    ke_add_product(&t->old, &r->old, b->size, fresh, b->n);
  }
  solve_tile(b, r, &t->fresh, fresh);
  memset(totals, 0, b->picks * sizeof *totals);
  for (size_t l = 0; l < b->picks; l++)
    lower_by_column(b, l, i0, m, totals + l);
}

/* ---- all tiles ----------------------------------------------------------------------------- */

static void add_totals(ke_pick *path, const ke_pick *tile)
{
  path->trace += tile->trace;
  path->scaled += tile->scaled;
  path->norm += tile->norm;
  path->best = fmax(path->best, tile->best);
  path->lowest = fmin(path->lowest, tile->lowest);
  path->spread = fmax(path->spread, tile->spread);
}

/* Rows i0 .. i0 + m, a tile an item. */
typedef struct {
  const ke_basis *b;
  const round_rows *r;
  size_t i0, m;
} chunk;

static void chunk_tile(void *data, size_t q, size_t worker)
{
  const chunk *c = (const chunk *)data;
  const size_t i = q * KE_TILE, rows = ke_smaller(KE_TILE, c->m - i);
  const tile_rows t = tile_of(c->b, worker, rows);
  update_tile(c->b, c->r, c->i0 + i, rows, &t, c->r->slots + q * KE_BLOCK);
}

static double row_flops(const ke_basis *b, size_t columns)
{
  return (double)columns * (double)(2 * b->source->width + 2 * b->size + 64);
}

static void update_chunk(ke_basis *b, const round_rows *r, size_t i0, size_t m, const ke_env *env)
{
  const size_t tiles = (m + KE_TILE - 1) / KE_TILE;
  const ke_env crew = ke_source_env(b->source, env);
  chunk c = {b, r, i0, m};
  ke_share(&crew, tiles, KE_TILE * row_flops(b, b->picks), chunk_tile, &c);
  for (size_t q = 0; q < tiles; q++)
    for (size_t l = 0; l < b->picks; l++)
      add_totals(&b->path[b->size + l], &r->slots[q * KE_BLOCK + l]);
}

/* The fewer the more work a row is, so that an interrupt is answered in time. It must not depend
 * on the threads. */
size_t ke_chunk_rows(const ke_basis *b, size_t columns)
{
  const size_t tiles = ke_batch(KE_TILE * row_flops(b, columns));
  return tiles < 2 ? 2 * KE_TILE : ke_smaller(tiles * KE_TILE, KE_CHUNK);
}

typedef struct {
  const ke_source *s;
  size_t i0, m, ldo;
  double *out;
} columns;

static void columns_tile(void *data, size_t t, size_t worker)
{
  const columns *c = (const columns *)data;
  const size_t i = t * KE_TILE;
  (void)worker;
  c->s->against(c->s, KE_PICKS, c->i0 + i, ke_smaller(KE_TILE, c->m - i), c->out + i, c->ldo);
}

void ke_columns(const ke_source *s, size_t i0, size_t m, double *out, size_t ldo, const ke_env *env)
{
  const ke_env crew = ke_source_env(s, env);
  columns c = {s, i0, m, ldo, out};
  const double flops = KE_TILE * (double)s->count[KE_PICKS] * (double)(2 * s->width + 64);
  ke_share(&crew, (m + KE_TILE - 1) / KE_TILE, flops, columns_tile, &c);
}

void ke_update(ke_basis *b, const ke_env *env)
{
  const round_rows r = round_of(b);
  const size_t chunk = ke_chunk_rows(b, b->picks);
  collect_picks(b, &r);
  for (size_t p = 0; p < b->picks; p++) {
    ke_pick *path = &b->path[b->size + p];
    path->trace = path->scaled = path->norm = path->best = path->lowest = path->spread = 0.0;
  }
  b->source->gather(b->source, KE_PICKS, b->index + b->size, b->picks);
  for (size_t i0 = 0; i0 < b->n; i0 += chunk) {
    ke_check(env);
    update_chunk(b, &r, i0, ke_smaller(chunk, b->n - i0), env);
  }
  b->updates++;
}
