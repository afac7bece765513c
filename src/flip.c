/* Neighbours of a set of columns under an RBF kernel whose width follows the set.
 *
 * With D_ij the squared distance of two rows on the set S and d_e that on column e alone, the
 * kernel on S with e flipped is
 *   exp(-gamma_e (D_ij + d_e,ij^2))  if e is added,   exp(-gamma_e (D_ij - d_e,ij^2))  if taken
 * out, so each column costs one exponential a pair of rows whatever its width, and forward
 * selection and backward elimination are one sweep over tiles. Tiles on the diagonal count once,
 * others twice. Threads divide the columns, never a sum. Nothing of size n^2 is held; cost n^2 d /
 * 2 values.
 */
#include "exp.h"
#include "kernelect.h"
#include "simd.h"
#include "threads.h"

#include <string.h>
#define CELLS (KE_FLIP_TILE * KE_FLIP_TILE)
#define NEAR 8     /* columns of a tile whose values stay in the nearest cache */
#define FLOPS 32.0 /* of a value: difference, exponential, two sums */

typedef struct {
  ke_flip *f;
  size_t i0, m, j0, k;
  double share;
  double *sums[2];
  double *target, *base, *own; /* own: KE_FLIP_TILE x NEAR a worker */
} flip_tile;

size_t ke_flip_work(const ke_env *env)
{
  return 2 * CELLS + (size_t)env->threads * KE_FLIP_TILE * NEAR;
}

/* out = -gamma (base + sign (x_i - z)^2) for a column of the tile, nothing below distance zero. */
INLINE void exponents_body(const double *base, const double *x, double z, double sign, double gamma,
                           size_t m, double *out)
{
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const v4 gap = LOAD(x + i) - SPLAT(z), distance = LOAD(base + i) + sign * (gap * gap);
    STORE(out + i, -gamma * SELECT(distance > 0.0, distance, SPLAT(0.0)));
  }
  for (; i < m; i++) {
    const double gap = x[i] - z, distance = base[i] + sign * (gap * gap);
    out[i] = distance > 0.0 ? -gamma * distance : 0.0;
  }
}

DEFINE_DISPATCHED(static, exponents,
                  (const double *base, const double *x, double z, double sign, double gamma,
                   size_t m, double *out),
                  (base, x, z, sign, gamma, m, out))

INLINE void add_sums_body(const double *target, const double *k, size_t count, double *sums)
{
  v4 kt = {0}, kk = {0};
  size_t p = 0;
  for (; p + 4 <= count; p += 4) {
    kt += LOAD(target + p) * LOAD(k + p);
    kk += LOAD(k + p) * LOAD(k + p);
  }
  sums[0] += sum_v4(&kt), sums[1] += sum_v4(&kk);
  for (; p < count; p++)
    sums[0] += target[p] * k[p], sums[1] += k[p] * k[p];
}

DEFINE_DISPATCHED(static, add_sums,
                  (const double *target, const double *k, size_t count, double *sums),
                  (target, k, count, sums))

static void flip_column(void *data, size_t e, size_t worker)
{
  const flip_tile *t = (const flip_tile *)data;
  const ke_flip *f = t->f;
  if (!(f->gamma[e] > 0.0))
    return;
  const double *x = f->x + e * f->n, sign = f->chosen[e] != 0.0 ? -1.0 : 1.0;
  double *cells = t->own + worker * KE_FLIP_TILE * NEAR, sums[2] = {0.0, 0.0};
  for (size_t j0 = 0; j0 < t->k; j0 += NEAR) {
    const size_t k = ke_smaller(NEAR, t->k - j0), at = j0 * t->m;
    for (size_t j = 0; j < k; j++)
      exponents(t->base + at + j * t->m, x + t->i0, x[t->j0 + j0 + j], sign, f->gamma[e], t->m,
                cells + j * t->m);
    ke_exp(cells, cells, t->m * k);
    add_sums(t->target + at, cells, t->m * k, sums);
  }
  t->sums[0][e] += t->share * sums[0];
  t->sums[1][e] += t->share * sums[1];
}

/* Squared distances on the set; rows that are equal there are at distance exactly zero. */
static void set_distances(const flip_tile *t)
{
  const ke_rows *rows = &t->f->rows;
  ke_inner(rows, t->i0, t->m, rows, t->j0, t->k, t->base, t->m);
  for (size_t j = 0; j < t->k; j++)
    for (size_t i = 0; i < t->m; i++) {
      double *to = t->base + i + j * t->m;
      *to = (rows->norm[t->i0 + i] - *to) + (rows->norm[t->j0 + j] - *to);
    }
}

/* With many columns a tile is made smaller, so that an interrupt is answered in time. */
static size_t tile_edge(size_t d)
{
  size_t edge = KE_FLIP_TILE;
  while (edge > KE_PANEL && FLOPS * (double)(edge * edge) * (double)d > KE_PATIENCE)
    edge /= 2;
  return edge;
}

void ke_flip_sums(ke_flip *f, double *kt, double *kk, double *work, const ke_env *env)
{
  const size_t edge = tile_edge(f->d);
  memset(kt, 0, f->d * sizeof(double));
  memset(kk, 0, f->d * sizeof(double));
  ke_pack(f->x, f->n, &(ke_transform){.weights = f->chosen}, &f->rows);
  for (size_t j0 = 0; j0 < f->n; j0 += edge)
    for (size_t i0 = j0; i0 < f->n; i0 += edge) {
      flip_tile t = {f,
                     i0,
                     ke_smaller(edge, f->n - i0),
                     j0,
                     ke_smaller(edge, f->n - j0),
                     i0 == j0 ? 1.0 : 2.0,
                     {kt, kk},
                     work,
                     work + CELLS,
                     work + 2 * CELLS};
      ke_check(env);
      ke_inner(&f->target, i0, t.m, &f->target, j0, t.k, t.target, t.m);
      set_distances(&t);
      ke_share(env, f->d, FLOPS * (double)(t.m * t.k), flip_column, &t);
    }
}
