/* Neighbours of a set of columns under an RBF kernel whose width follows the set.
 *
 * With D_ij the squared distance of two rows on the set S and d_e that on column e alone, the
 * kernel on S with e flipped is
 *   exp(-gamma_e (D_ij + d_e,ij^2))  if e is added,   exp(-gamma_e (D_ij - d_e,ij^2))  if taken
 * out, so each column costs one exponential a pair of rows whatever its width, and forward
 * selection and backward elimination are one sweep over tiles. A pair of rows is taken once and
 * counts twice; of a row with itself the value is 1. Threads divide the columns, never a sum.
 * Nothing of size n^2 is held; cost n^2 d / 2 values.
 *
 * In single precision (`rough`) that takes a third of the time. With X the largest |x_ie|, a value
 * is off by at most 1e-6 (1 + X sqrt(gamma_e)): by 7 eps of the exponent and by that of rows far
 * from zero, 4 eps X gamma times their gap, neither of which is large where the exponential is not
 * small, and by 8 eps of the exponential. Rounding while FEW rows are summed is at most 4e-6 of the
 * sum of absolute values. All that where X^2 is below 1e30 / (largest gamma): beyond, floats end.
 */
#include "exp_vector.h"
#include "kernelect.h"
#include "simd.h"
#include "threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define CELLS (KE_FLIP_TILE * KE_FLIP_TILE)
#define FLOPS 32.0 /* of a value: difference, exponential, two sums */

typedef struct {
  const ke_flip *f;
  size_t i0, m, j0, k;
  double *sums[2];
  double *target, *base;
  float *rough[2]; /* base and target in single precision */
  double unit, by; /* what lengths and targets are multiplied by there */
} flip_tile;

size_t ke_flip_work(void) { return 3 * CELLS; }

/* A column of a tile, values i .. m against one: exp(-gamma (base + sign (x_i - z)^2)), nothing
 * below distance zero, times the target and squared. */
typedef struct {
  const double *base, *target, *x;
  double z, sign, gamma;
} cells;

#define LEAST -700.0 /* of exponents, for exp_normal_v4(): nothing beside the diagonal */

#define DEFINE_VALUE(scope, v, u)                                                                  \
  scope void value_##v(const cells *c, const v *base, const v *x, v *value)                        \
  {                                                                                                \
    const v gap = *x - c->z;                                                                       \
    v distance = *base + c->sign * (gap * gap);                                                    \
    distance = (v)((u)distance & (u)(distance > 0.0));                                             \
    *value = -c->gamma * distance;                                                                 \
    *value = CHOOSE(v, u, *value > LEAST, *value, (v){0} + LEAST);                                 \
    exp_normal_##v(value);                                                                         \
  }

DEFINE_VALUE(INLINE, v4, u4)

INLINE void add_values(const v4 *value, const v4 *target, v4 sums[2])
{
  sums[0] += *target * *value;
  sums[1] += *value * *value;
}

INLINE void add_cells_body(const cells *c, size_t i, size_t m, v4 totals[2])
{
  v4 sums[2] = {totals[0], totals[1]};
  for (; i + 4 <= m; i += 4) {
    const v4 base = LOAD(c->base + i), x = LOAD(c->x + i), target = LOAD(c->target + i);
    v4 value;
    value_v4(c, &base, &x, &value);
    add_values(&value, &target, sums);
  }
  if (i < m) { /* what is beyond the end is far away */
    v4 base = SPLAT(HUGE_VAL), x = SPLAT(c->z), target = {0};
    memcpy(&base, c->base + i, (m - i) * sizeof(double));
    memcpy(&x, c->x + i, (m - i) * sizeof(double));
    memcpy(&target, c->target + i, (m - i) * sizeof(double));
    v4 value;
    value_v4(c, &base, &x, &value);
    add_values(&value, &target, sums);
  }
  totals[0] = sums[0], totals[1] = sums[1];
}

#if DISPATCH
DEFINE_VALUE(WIDE_INLINE, v8, u8)

/* Eight values at a time, added four by four as without AVX-512. */
WIDE_TARGET static void add_cells_wide(const cells *c, size_t i, size_t m, v4 totals[2])
{
  v4 sums[2] = {totals[0], totals[1]};
  for (; i + 8 <= m; i += 8) {
    const v8 base = LOAD_8(c->base + i), x = LOAD_8(c->x + i);
    v8 value;
    value_v8(c, &base, &x, &value);
    const v4 low = LOAD(c->target + i), high = LOAD(c->target + i + 4);
    const v4 first = {value[0], value[1], value[2], value[3]},
             second = {value[4], value[5], value[6], value[7]};
    add_values(&first, &low, sums);
    add_values(&second, &high, sums);
  }
  totals[0] = sums[0], totals[1] = sums[1];
  add_cells_body(c, i, m, totals);
}
#endif

DEFINE_DISPATCHED_WIDE(static, add_cells, (const cells *c, size_t i, size_t m, v4 totals[2]),
                       (c, i, m, totals))

static void flip_column(void *data, size_t e, size_t worker)
{
  const flip_tile *t = (const flip_tile *)data;
  const ke_flip *f = t->f;
  (void)worker;
  if (!(f->gamma[e] > 0.0))
    return;
  const double *x = f->x + e * f->n, sign = f->chosen[e] != 0.0 ? -1.0 : 1.0;
  v4 sums[2] = {{0}};
  for (size_t j = 0; j < t->k; j++) {
    const size_t at = j * t->m;
    const cells c = {t->base + at, t->target + at, x + t->i0, x[t->j0 + j], sign, f->gamma[e]};
    add_cells(&c, t->i0 == t->j0 ? j / 4 * 4 : 0, t->m, sums);
  }
  t->sums[0][e] += 2.0 * sum_v4(&sums[0]);
  t->sums[1][e] += 2.0 * sum_v4(&sums[1]);
}

/* ---- single precision ------------------------------------------------------------------------ */

typedef float f8 __attribute__((vector_size(32)));
typedef int32_t i8 __attribute__((vector_size(32)));

/* The same as cells; rows are KE_FLIP_TILE long, and what is beyond their end far away. */
typedef struct {
  const float *base, *target, *x;
  size_t end; /* of the values, a multiple of 16 */
  float z, gamma;
} rough_cells;

/* exp() by its powers up to the sixth, between powers of two; sums as those of add_values(). What
 * is below exp(-40) is nothing beside the bound, and its square would be slow to work with. */
#define DEFINE_ROUGH(scope, v, u)                                                                  \
  scope void rough_##v(const rough_cells *c, size_t i, v sums[2])                                  \
  {                                                                                                \
    v base, x, target;                                                                             \
    memcpy(&base, c->base + i, sizeof base);                                                       \
    memcpy(&x, c->x + i, sizeof x);                                                                \
    memcpy(&target, c->target + i, sizeof target);                                                 \
    const v gap = x - c->z, least = (v){0} - 40.0f;                                                \
    v value = -c->gamma * (base + gap * gap);                                                      \
    value = CHOOSE(v, u, value > least, value, least);                                             \
    const v shifted = value * 0x1.715476p0f + 0x1.8p23f, n = shifted - 0x1.8p23f;                  \
    const v r = (value - n * 0x1.63p-1f) + n * 0x1.bd0106p-13f;                                    \
    v p = r * (1.0f / 720.0f) + 1.0f / 120.0f;                                                     \
    p = p * r + 1.0f / 24.0f, p = p * r + 1.0f / 6.0f, p = p * r + 0.5f;                           \
    p = (p * r + 1.0f) * r + 1.0f;                                                                 \
    value = (v)((u)p + ((u)shifted << 23));                                                        \
    sums[0] += target * value;                                                                     \
    sums[1] += value * value;                                                                      \
  }

DEFINE_ROUGH(INLINE, f8, i8)

#define FEW 8 /* rows of a tile whose sums are still in single precision */

/* The values from `from` on of FEW rows, or fewer. */
INLINE void add_rough_body(const rough_cells *c, size_t rows, const float *z, size_t from,
                           double totals[2])
{
  f8 sums[2] = {{0}};
  for (size_t j = 0; j < rows; j++) {
    const size_t at = j * KE_FLIP_TILE;
    const rough_cells row = {c->base + at, c->target + at, c->x, c->end, z[j], c->gamma};
    for (size_t i = from; i < c->end; i += 8)
      rough_f8(&row, i, sums);
  }
  for (size_t r = 0; r < 8; r++)
    totals[0] += (double)sums[0][r], totals[1] += (double)sums[1][r];
}

#if DISPATCH
typedef float f16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));

DEFINE_ROUGH(WIDE_INLINE, f16, i16)

WIDE_TARGET static void add_rough_wide(const rough_cells *c, size_t rows, const float *z,
                                       size_t from, double totals[2])
{
  f16 sums[2] = {{0}};
  for (size_t j = 0; j < rows; j++) {
    const size_t at = j * KE_FLIP_TILE;
    const rough_cells row = {c->base + at, c->target + at, c->x, c->end, z[j], c->gamma};
    for (size_t i = from / 16 * 16; i < c->end; i += 16)
      rough_f16(&row, i, sums);
  }
  for (size_t r = 0; r < 16; r++)
    totals[0] += (double)sums[0][r], totals[1] += (double)sums[1][r];
}
#endif

DEFINE_DISPATCHED_WIDE(static, add_rough,
                       (const rough_cells *c, size_t rows, const float *z, size_t from,
                        double totals[2]),
                       (c, rows, z, from, totals))

typedef float f4 __attribute__((vector_size(16)));

/* Zero beyond the end. */
INLINE void to_single_body(const double *from, size_t count, double by, float *to)
{
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const f4 four = __builtin_convertvector(by * LOAD(from + i), f4);
    memcpy(to + i, &four, sizeof four);
  }
  for (; i < KE_FLIP_TILE; i++)
    to[i] = i < count ? (float)(by * from[i]) : 0.0f;
}

DEFINE_DISPATCHED(static, to_single, (const double *from, size_t count, double by, float *to),
                  (from, count, by, to))

/* A power of two near `most` to the given power: floats reach no farther than from 1e-38 to 1e38.
 */
static double two_near(double most, double power)
{
  return most >= DBL_MIN && most <= DBL_MAX ? ldexp(1.0, (int)(power * ilogb(most))) : 1.0;
}

/* Distances and targets of a tile as rough_cells has them. */
static void make_rough(const flip_tile *t)
{
  for (size_t j = 0; j < t->k; j++) {
    float *base = t->rough[0] + j * KE_FLIP_TILE;
    to_single(t->base + j * t->m, t->m, t->unit * t->unit, base);
    to_single(t->target + j * t->m, t->m, t->by, t->rough[1] + j * KE_FLIP_TILE);
    for (size_t i = t->m; i < KE_FLIP_TILE; i++)
      base[i] = HUGE_VALF;
  }
}

/* A column that is added: see flip_column(). */
static void rough_column(void *data, size_t e, size_t worker)
{
  const flip_tile *t = (const flip_tile *)data;
  const ke_flip *f = t->f;
  (void)worker;
  if (!(f->gamma[e] > 0.0))
    return;
  const size_t end = (t->m + 15) / 16 * 16;
  const float gamma = (float)(f->gamma[e] / t->unit / t->unit);
  float x[KE_FLIP_TILE], z[KE_FLIP_TILE];
  double sums[2] = {0.0, 0.0};
  to_single(f->x + e * f->n + t->i0, t->m, t->unit, x);
  to_single(f->x + e * f->n + t->j0, t->k, t->unit, z);
  for (size_t j = 0; j < t->k; j += FEW) {
    const size_t at = j * KE_FLIP_TILE;
    const rough_cells c = {t->rough[0] + at, t->rough[1] + at, x, end, 0.0f, gamma};
    add_rough(&c, ke_smaller(FEW, t->k - j), z + j, t->i0 == t->j0 ? j : 0, sums);
  }
  t->sums[0][e] += 2.0 / t->by * sums[0];
  t->sums[1][e] += 2.0 * sums[1];
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Squared distances on the set; rows that are equal there are at distance exactly zero. Pairs that
 * come elsewhere, on and above the diagonal, are too far apart to count. */
static void set_distances(const flip_tile *t)
{
  const ke_rows *rows = &t->f->rows;
  ke_inner(rows, t->i0, t->m, rows, t->j0, t->k, t->base, t->m);
  for (size_t j = 0; j < t->k; j++)
    for (size_t i = 0; i < t->m; i++) {
      double *to = t->base + i + j * t->m;
      *to = t->i0 + i <= t->j0 + j ? HUGE_VAL
                                   : (rows->norm[t->i0 + i] - *to) + (rows->norm[t->j0 + j] - *to);
    }
}

/* What rows have with themselves, where a column is wanted; the answer is the largest of their
 * targets, which no other target exceeds. */
static double start_sums(const ke_flip *f, double *kt, double *kk)
{
  double own = 0.0, most = 0.0, block[KE_PANEL * KE_PANEL];
  for (size_t i = 0; i < f->n; i += KE_PANEL) {
    const size_t m = ke_smaller(KE_PANEL, f->n - i);
    ke_inner(&f->target, i, m, &f->target, i, m, block, KE_PANEL);
    for (size_t q = 0; q < m; q++) {
      own += block[q * (KE_PANEL + 1)];
      most = fmax(most, block[q * (KE_PANEL + 1)]);
    }
  }
  for (size_t e = 0; e < f->d; e++) {
    kt[e] = f->gamma[e] > 0.0 ? own : 0.0;
    kk[e] = f->gamma[e] > 0.0 ? (double)f->n : 0.0;
  }
  return most;
}

void ke_flip_sums(const ke_flip *f, double *kt, double *kk, double *work, const ke_env *env)
{
  const double most = start_sums(f, kt, kk),
               unit = f->rough ? two_near(ke_largest(f->gamma, f->d), 0.5) : 1.0,
               by = f->rough ? two_near(most, -1.0) : 1.0;
  float *single = (float *)(void *)(work + 2 * CELLS); /* aligned for more than that */
  for (size_t j0 = 0; j0 < f->n; j0 += KE_FLIP_TILE)
    for (size_t i0 = j0; i0 < f->n; i0 += KE_FLIP_TILE) {
      flip_tile t = {f,
                     i0,
                     ke_smaller(KE_FLIP_TILE, f->n - i0),
                     j0,
                     ke_smaller(KE_FLIP_TILE, f->n - j0),
                     {kt, kk},
                     work,
                     work + CELLS,
                     {single, single + CELLS},
                     unit,
                     by};
      ke_inner(&f->target, i0, t.m, &f->target, j0, t.k, t.target, t.m);
      set_distances(&t);
      ke_check(env);
      if (f->rough)
        make_rough(&t);
      ke_share(env, f->d, FLOPS * (double)(t.m * t.k), f->rough ? rough_column : flip_column, &t);
    }
}
