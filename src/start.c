/* How a body of rows begins: diagonal, weights and residuals; and how well a row stands for all of
 * them, for the first pick of fvs:
 *
 *   sum_j k_ij^2 / k_jj over the body's rows j, a tile a thread, tiles added in order.
 */
#include "body.h"

#include "simd.h"
#include "threads.h"
#include "vector.h"

#include <float.h>
#include <math.h>

#define TILES (KE_CHUNK / KE_TILE)

/* ---- the start -------------------------------------------------------------------------- */

size_t ke_body_tiles(const ke_body *b) { return (b->n + KE_TILE - 1) / KE_TILE; }

/* Rows without length (the centre itself among them) have no angle: they do not count and are
 * never picked. What counts as zero is relative to the magnitude h behind each entry. */
static double set_weights(ke_body *b, int normalised, const double *h, size_t i0, size_t i1)
{
  double counted = 0.0;
  for (size_t i = i0; i < i1; i++) {
    const int counts = b->diagonal[i] > (double)b->whole * DBL_EPSILON * h[i];
    b->residual[i] = counts ? b->diagonal[i] : 0.0;
    b->inverse[i] = counts ? ke_times(b, i) / b->diagonal[i] : 0.0;
    b->weight[i] = normalised ? (counts ? 1.0 / h[i] : 0.0) : 1.0;
    counted += counts ? ke_times(b, i) : 0.0;
    if (b->explained)
      b->explained[i] = 0.0;
  }
  return counted;
}

static void set_tiles(ke_body *b, int normalised, ke_beginning *out)
{
  out->counted = out->rows = 0.0;
  for (size_t t = 0; t < ke_body_tiles(b); t++) {
    const size_t i0 = t * KE_TILE, i1 = ke_smaller(b->n, i0 + KE_TILE);
    double trace = 0.0;
    out->counted += set_weights(b, normalised, b->keys, i0, i1);
    for (size_t i = i0; i < i1; i++) {
      trace += ke_times(b, i) * b->residual[i];
      out->rows += ke_times(b, i);
    }
    ke_ladder_add(&out->trace, b->first / KE_TILE + t, 1, &trace);
  }
}

ke_status ke_body_start(ke_body *b, int normalised, ke_beginning *out)
{
  const ke_source *s = b->source;
  out->bottom = out->top = 0.0;
  s->does->diagonal(s->self, b->diagonal);
  for (size_t i = 0; i < b->n; i++) {
    if (!isfinite(b->diagonal[i]))
      return KE_NOT_FINITE;
    out->bottom = b->diagonal[i] < out->bottom ? b->diagonal[i] : out->bottom;
  }
  s->does->magnitude(s->self, b->keys);
  for (size_t i = 0; i < b->n; i++)
    out->top = b->keys[i] > out->top ? b->keys[i] : out->top;
  set_tiles(b, normalised, out);
  return KE_OK;
}

/* ---- fitness ------------------------------------------------------------------------------ */

/* sum of x w x (a square alone might leave the range): four running sums fix the order of additions
 * and still let them overlap. */
INLINE void weighted_squares_body(const double *x, const double *w, size_t n, double *out)
{
  v4 sum = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    sum += LOAD(x + i) * LOAD(w + i) * LOAD(x + i);
  for (; i < n; i++)
    sum[0] += x[i] * w[i] * x[i];
  *out = sum_v4(&sum);
}

DEFINE_DISPATCHED(static, weighted_squares,
                  (const double *x, const double *w, size_t n, double *out), (x, w, n, out))

/* Sums of each tile, and a tile for each thread. */
size_t ke_fitness_work(int threads) { return (TILES + (size_t)threads * KE_TILE) * KE_BLOCK; }

typedef struct {
  const ke_body *b;
  size_t count, i0, slice; /* columns; first row; rows of a tile */
  double *sums, *tiles;
} fitness;

#define STEP 89 /* slices begin elsewhere in every tile: rows may come in periods */

static void fitness_of_tile(void *data, size_t q, size_t worker)
{
  const fitness *f = (const fitness *)data;
  const size_t start = f->i0 + q * KE_TILE, whole = ke_smaller(KE_TILE, f->b->n - start),
               m = ke_smaller(f->slice, whole), places = (whole - m) / KE_PANEL + 1,
               i = start + start / KE_TILE * STEP % places * KE_PANEL;
  double *tile = f->tiles + worker * KE_TILE * KE_BLOCK;
  f->b->source->does->against(f->b->source->self, KE_PICKS, i, m, tile, KE_TILE);
  for (size_t j = 0; j < f->count; j++)
    weighted_squares(tile + j * KE_TILE, f->b->inverse + i, m, f->sums + q * f->count + j);
}

void ke_body_fitness(const ke_body *b, size_t count, size_t slice, ke_ladder *out, double *squares,
                     double *work, const ke_env *env)
{
  const ke_env crew = ke_source_env(b->source, env);
  fitness f = {b, count, 0, slice, work, work + TILES * KE_BLOCK};
  ke_clear(squares, squares ? count : 0);
  for (; f.i0 < b->n; f.i0 += KE_CHUNK) {
    const size_t tiles = (ke_smaller(KE_CHUNK, b->n - f.i0) + KE_TILE - 1) / KE_TILE;
    ke_check(env);
    ke_share(&crew, tiles, (double)(slice * count) * b->source->cost, fitness_of_tile, &f);
    for (size_t q = 0; q < tiles; q++) {
      const double *sums = f.sums + q * count;
      ke_ladder_add(out, (b->first + f.i0) / KE_TILE + q, 1, sums);
      for (size_t j = 0; squares && j < count; j++)
        squares[j] += sums[j] * sums[j];
    }
  }
}
