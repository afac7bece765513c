/* Fitted functions on kernel values against a few kept rows, for many new rows.
 *
 * A tile is some tens of new rows by all kept ones, small enough for the second cache. It is
 * filled with kernel values, centred, turned into coordinates by forward substitution in blocks
 * (what the finished columns take off a block is one product, so nearly all work is level 3), and
 * multiplied by the dual coefficients. All products are those of packed rows: no answer depends on
 * the tile, the threads or the BLAS. Cost per row: L (2 d flops + a kernel value), L^2 for
 * coordinates, 2 L k for k functions. */
#include "expansion.h"

#include "columns.h"
#include "simd.h"
#include "threads.h"

#include <math.h>
#include <string.h>

#define TILE_VALUES 65536 /* of a tile: half a megabyte */
#define BLOCK 32          /* columns of a block of the substitution; a multiple of KE_PANEL */
#define FEW 4             /* functions not worth packing the values for */

static size_t columns_of(const ke_expansion *e) { return e->L + e->centres; }

/* Rows of a tile of n in all, a multiple of KE_PANEL. */
static size_t tile_rows(const ke_expansion *e, size_t n)
{
  const size_t rows = TILE_VALUES / columns_of(e);
  return ke_smaller(rows > 240  ? 240
                    : rows < 32 ? 32
                                : rows / KE_PANEL * KE_PANEL,
                    n > 0 ? ke_padded(n) : KE_PANEL);
}

size_t ke_expansion_width(const ke_expansion *e)
{
  return e->residual ? 1 : e->dual ? e->dual->n : e->L;
}

/* ---- what a worker has to itself ------------------------------------------------------------ */

typedef struct {
  ke_rows rows;   /* the new rows, packed */
  double *values; /* m x (L + centres) */
  double *panels; /* the first L columns of values, packed */
  double *part;   /* m x BLOCK */
  double *own;    /* m: mean kernel value against the centre, then k(x, x) */
  double *bad;    /* NaN once a value was not finite, else 0 */
} room;

static double *take(double **work, size_t count)
{
  double *here = *work;
  *work += count;
  return here;
}

/* Blocks of columns that packed rows have. */
static size_t blocks_of(const ke_expansion *e) { return e->kernel ? ke_blocks(e->kept) : 0; }

static room room_of(const ke_expansion *e, size_t m, double *work)
{
  const size_t packed = e->kernel ? e->kept->d : 0;
  room r;
  r.rows = e->kernel ? *e->kept : (ke_rows){0};
  r.bad = take(&work, 1);
  r.own = take(&work, 2 * m);
  r.rows.norm = take(&work, m * blocks_of(e));
  r.rows.panel = take(&work, m * packed);
  r.values = take(&work, m * columns_of(e));
  r.panels = take(&work, m * e->L);
  r.part = take(&work, m * BLOCK);
  return r;
}

static size_t room_size(const ke_expansion *e, size_t m)
{
  const size_t packed = e->kernel ? e->kept->d : 0;
  return m * (2 + blocks_of(e) + packed + columns_of(e) + e->L + BLOCK) + 1;
}

static size_t tiles_of(const ke_expansion *e, size_t n)
{
  return (n + tile_rows(e, n) - 1) / tile_rows(e, n);
}

static size_t rooms(const ke_expansion *e, size_t n, const ke_env *env)
{
  return ke_workers(env, tiles_of(e, n), INFINITY);
}

size_t ke_expansion_work(const ke_expansion *e, size_t n, const ke_env *env)
{
  return room_size(e, tile_rows(e, n)) * rooms(e, n, env);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Rows i0 .. i0 + m of what is to be expanded; `ld` is m filled up to whole panels. */
typedef struct {
  const ke_expansion *e;
  const double *x;
  size_t n, i0, m, ld;
  double *out;
  room r;
} tile;

static void pack_new_rows(tile *t)
{
  const ke_expansion *e = t->e;
  t->r.rows.n = t->m;
  ke_pack_for(e->kernel, t->x + t->i0, t->n, e->how, &t->r.rows, NULL);
  for (size_t i = 0; i < blocks_of(e) * t->ld; i++)
    *t->r.bad += 4.0 * t->r.rows.norm[i] - 4.0 * t->r.rows.norm[i];
}

static void fill_values(tile *t)
{
  const ke_expansion *e = t->e;
  if (e->kernel) {
    pack_new_rows(t);
    ke_tile(e->kernel, (ke_range){&t->r.rows, 0, t->ld}, (ke_range){e->kept, 0, columns_of(e)},
            t->r.values, t->ld);
    return;
  }
  if (e->source)
    e->source->does->tile(e->source->self, t->i0, t->m, 0, columns_of(e), t->r.values, t->ld);
  for (size_t j = 0; j < columns_of(e); j++) {
    double *to = t->r.values + j * t->ld;
    if (e->given)
      memcpy(to, e->given + t->i0 + j * t->n, t->m * sizeof(double));
    for (size_t i = t->m; i < t->ld; i++)
      to[i] = 0.0;
  }
}

static void centre_values(tile *t)
{
  const ke_expansion *e = t->e;
  for (size_t i = 0; i < t->ld; i++) {
    double sum = 0.0;
    for (size_t j = e->L; j < columns_of(e); j++)
      sum += t->r.values[i + j * t->ld];
    t->r.own[i] = sum / (double)e->centres;
  }
  for (size_t j = 0; j < e->L; j++)
    for (size_t i = 0; i < t->ld; i++)
      t->r.values[i + j * t->ld] = t->r.values[i + j * t->ld] - t->r.own[i] - e->column[j];
}

/* Columns j0 .. j1 of the values into their places in the panels. */
static void pack_values(const tile *t, size_t j0, size_t j1)
{
  for (size_t i = 0; i < t->ld; i += KE_PANEL)
    for (size_t j = j0; j < j1; j++)
      STORE(t->r.panels + i * t->e->L + j * KE_PANEL, LOAD(t->r.values + i + j * t->ld));
}

/* y -= f x, n a multiple of 4 */
INLINE void take_off_body(double *y, const double *x, double f, size_t n)
{
  for (size_t i = 0; i < n; i += 4)
    STORE(y + i, LOAD(y + i) - f * LOAD(x + i));
}

DEFINE_DISPATCHED(static, take_off, (double *y, const double *x, double f, size_t n), (y, x, f, n))

/* Forward substitution within columns j0 .. j1 of the values. */
static void substitute(const tile *t, size_t j0, size_t j1)
{
  for (size_t j = j0; j < j1; j++) {
    const double *row = ke_row(t->e->factor, j);
    double *z = t->r.values + j * t->ld;
    for (size_t i = j0; i < j; i++)
      take_off(z, t->r.values + i * t->ld, row[i * KE_PANEL], t->ld);
    for (size_t i = 0; i < t->ld; i++)
      z[i] /= row[j * KE_PANEL];
  }
}

static ke_rows packed_values(const tile *t)
{
  const ke_rows rows = {.n = t->ld, .d = t->e->L, .panel = t->r.panels};
  return rows;
}

static void to_coordinates(const tile *t)
{
  const size_t L = t->e->L;
  const ke_rows z = packed_values(t);
  for (size_t j0 = 0; j0 < L; j0 += BLOCK) {
    const size_t j1 = ke_smaller(j0 + BLOCK, L);
    const ke_rows block = {.n = j1 - j0, .d = L, .panel = t->e->factor->panel + j0 * L};
    if (j0 > 0) {
      ke_product(&z, &block, j0, t->r.part, t->ld);
      take_off(t->r.values + j0 * t->ld, t->r.part, 1.0, (j1 - j0) * t->ld);
    }
    substitute(t, j0, j1);
    pack_values(t, j0, j1);
  }
}

static void to_residuals(const tile *t)
{
  const ke_expansion *e = t->e;
  double *own = t->r.own + t->ld;
  if (e->kernel)
    ke_diagonal(e->kernel, &t->r.rows, own);
  else
    memcpy(own, e->diagonal + t->i0, t->m * sizeof(double));
  for (size_t i = 0; i < t->m; i++) {
    long double inside = 0.0L; /* the difference is small: no digit to lose */
    for (size_t j = 0; j < e->L; j++)
      inside += t->r.values[i + j * t->ld] * t->r.values[i + j * t->ld];
    const double all = e->centres ? own[i] - 2.0 * t->r.own[i] + e->constant : own[i];
    const double left = all - (double)inside;
    t->out[t->i0 + i] = left < 0.0 ? 0.0 : left; /* NaN stays */
  }
}

/* One function column by column: the sums of ke_product() in the same order. */
static void sum_up(const tile *t, const double *dual, double *out)
{
  for (size_t k0 = 0; k0 < t->e->L; k0 += KE_PARTIAL) {
    memset(t->r.part, 0, t->ld * sizeof(double));
    for (size_t j = k0; j < ke_smaller(k0 + KE_PARTIAL, t->e->L); j++)
      take_off(t->r.part, t->r.values + j * t->ld, -dual[j * KE_PANEL], t->ld);
    for (size_t i = 0; i < t->m; i++)
      out[i] = k0 > 0 ? out[i] + t->r.part[i] : t->r.part[i];
  }
}

static void multiply(const tile *t)
{
  const ke_expansion *e = t->e;
  ke_rows z = packed_values(t);
  z.n = t->m;
  if (!e->factor)
    pack_values(t, 0, e->L);
  ke_product(&z, e->dual, e->L, t->out + t->i0, t->n);
}

static void to_functions(const tile *t)
{
  const ke_expansion *e = t->e;
  if (e->factor || e->dual->n > FEW)
    multiply(t);
  else
    for (size_t c = 0; c < e->dual->n; c++)
      sum_up(t, ke_row(e->dual, c), t->out + t->i0 + c * t->n);
  if (e->offset)
    for (size_t c = 0; c < e->dual->n; c++)
      for (size_t i = 0; i < t->m; i++)
        t->out[t->i0 + i + c * t->n] += e->offset[c];
}

static void to_answer(const tile *t)
{
  if (t->e->residual) {
    to_residuals(t);
  } else if (t->e->dual) {
    to_functions(t);
  } else {
    for (size_t j = 0; j < t->e->L; j++)
      memcpy(t->out + t->i0 + j * t->n, t->r.values + j * t->ld, t->m * sizeof(double));
  }
  for (size_t j = 0; j < ke_expansion_width(t->e); j++)
    if (!ke_all_finite(t->out + t->i0 + j * t->n, t->m))
      *t->r.bad = NAN;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

typedef struct {
  const ke_expansion *e;
  const double *x;
  size_t n, rows; /* in all; of a tile */
  double *out, *work;
} job;

static void expand_tile(void *data, size_t item, size_t worker)
{
  const job *j = (const job *)data;
  const size_t i0 = item * j->rows, m = ke_smaller(j->rows, j->n - i0);
  tile t = {j->e, j->x, j->n, i0, m, ke_padded(m), j->out, {{0}, 0, 0, 0, 0, 0}};
  t.r = room_of(j->e, j->rows, j->work + worker * room_size(j->e, j->rows));
  fill_values(&t);
  if (j->e->centres)
    centre_values(&t);
  if (j->e->factor)
    to_coordinates(&t);
  to_answer(&t);
}

static double row_flops(const ke_expansion *e)
{
  const double L = (double)e->L, value = e->kernel   ? (double)ke_cost(e->kernel, e->d)
                                         : e->source ? e->source->cost
                                                     : 1.0;
  const double functions = e->dual ? 2.0 * (double)ke_padded(e->dual->n) : 0.0;
  return value * (double)columns_of(e) + (e->factor ? L * L : 0.0) + functions * L;
}

ke_status ke_expand(const ke_expansion *e, const double *x, size_t n, double *out, double *work,
                    const ke_env *env)
{
  const size_t tiles = tiles_of(e, n), all = rooms(e, n, env);
  const size_t rows = tile_rows(e, n), size = room_size(e, rows);
  const double flops = (double)rows * row_flops(e),
               fresh = (double)rows * (double)ke_expansion_width(e);
  job j = {e, x, n, rows, out, work};
  double bad = 0.0;
  for (size_t w = 0; w < all; w++)
    *room_of(e, rows, work + w * size).bad = 0.0;
  ke_check(env);
  ke_share(env, tiles, flops + KE_FRESH * fresh, expand_tile, &j);
  for (size_t w = 0; w < all; w++)
    bad += *room_of(e, rows, work + w * size).bad;
  return bad == 0.0 ? KE_OK : KE_NOT_FINITE;
}
