/* How probable decisions make the classes: the weighted log loss and its derivatives.
 *
 * With v_c = b_0 d_c + b_c and p = softmax(v) of a row, mean = sum_c p_c d_c, y its class:
 *   loss      log(sum_c exp(v_c)) - v_y
 *   gradient  mean - d_y;  p_c - [c = y]
 *   Hessian   sum_c p_c (d_c - mean) d_c;  p_c (d_c - mean);  p_c [c = e] - p_c p_e
 * Rows come in tiles, so that exp has many at a time, and tiles in blocks, each with sums of its
 * own, added in order: so nothing depends on the threads that share them. Cost O(k^2) a row. */
#include "softmax.h"

#include "exp.h"
#include "simd.h"
#include "threads.h"
#include "vector.h"

#include <math.h>
#include <string.h>

#define ROWS 64                   /* of a tile */
#define TILES ((size_t)32)        /* of a block, where that is not too long a wait */
#define AT_HAND ((size_t)1 << 18) /* numbers of the sums of blocks that are out at a time */

/* Behind the last row its columns have zeros, and weights of zero. */
typedef struct {
  const ke_softmax *s;
  size_t i0, m;
  double *w, *d;                    /* weights and decisions: ROWS, ROWS x k */
  double *p;                        /* ROWS x k: values, then probabilities */
  double *top, *sum, *mean, *share; /* ROWS */
} tile;

static size_t tile_work(size_t k) { return ROWS * (2 * k + 5); }

static double tile_flops(size_t k) { return ROWS * (double)k * (30.0 + (double)k); }

static tile place_tile(const ke_softmax *s, double *work)
{
  double *d = work + 5 * ROWS;
  const tile t = {s,
                  0,
                  0,
                  work,
                  d,
                  d + ROWS * s->k,
                  work + ROWS,
                  work + 2 * ROWS,
                  work + 3 * ROWS,
                  work + 4 * ROWS};
  return t;
}

static void take_column(const tile *t, const double *from, double *to)
{
  memcpy(to, from + t->i0, t->m * sizeof(double));
  ke_clear(to + t->m, ROWS - t->m);
}

static void take_rows(tile *t, size_t i0)
{
  t->i0 = i0;
  t->m = ke_smaller(ROWS, t->s->n - i0);
  take_column(t, t->s->weights, t->w);
  for (size_t c = 0; c < t->s->k; c++)
    take_column(t, t->s->d + c * t->s->n, t->d + c * ROWS);
}

INLINE void fill_values_body(const tile *t, const double *b)
{
  for (size_t c = 0; c < t->s->k; c++)
    for (size_t i = 0; i < ROWS; i += 4) {
      const v4 value = b[0] * LOAD(t->d + i + c * ROWS) + b[1 + c], top = LOAD(t->top + i);
      STORE(t->p + i + c * ROWS, value);
      STORE(t->top + i, c == 0 ? value : SELECT(value > top, value, top));
    }
}

DEFINE_DISPATCHED(static, fill_values, (const tile *t, const double *b), (t, b))

/* Before the values become probabilities. */
static double own_values(const tile *t)
{
  double sum = 0.0;
  for (size_t i = 0; i < t->m; i++) {
    const int y = t->s->label[t->i0 + i];
    sum += t->w[i] * (t->top[i] - (y < 0 ? 0.0 : t->p[i + (size_t)y * ROWS]));
  }
  return sum;
}

INLINE void divide_by_sums_body(const tile *t)
{
  for (size_t i = 0; i < ROWS; i += 4) {
    v4 sum = SPLAT(0.0), mean = sum;
    for (size_t c = 0; c < t->s->k; c++)
      sum += LOAD(t->p + i + c * ROWS);
    STORE(t->sum + i, sum);
    for (size_t c = 0; c < t->s->k; c++) {
      const v4 p = LOAD(t->p + i + c * ROWS) / sum;
      STORE(t->p + i + c * ROWS, p);
      mean += p * LOAD(t->d + i + c * ROWS);
    }
    STORE(t->mean + i, mean);
  }
}

DEFINE_DISPATCHED(static, divide_by_sums, (const tile *t), (t))

static void make_probabilities(const tile *t)
{
  for (size_t c = 0; c < t->s->k; c++)
    ke_add_scaled(t->p + c * ROWS, ROWS, -1.0, t->top);
  ke_exp(t->p, t->p, ROWS * t->s->k);
  divide_by_sums(t);
}

static double sum_of_logs(const tile *t)
{
  double sum = 0.0;
  for (size_t i = 0; i < t->m; i++)
    sum += t->w[i] * log(t->sum[i]);
  return sum;
}

/* What the class of a row takes off. */
static void add_own(const tile *t, double *gradient)
{
  for (size_t i = 0; i < t->m; i++) {
    const int y = t->s->label[t->i0 + i];
    gradient[0] += t->w[i] * t->mean[i];
    if (y >= 0) {
      gradient[0] -= t->w[i] * t->d[i + (size_t)y * ROWS];
      gradient[1 + y] -= t->w[i];
    }
  }
}

/* Of class c: its gradient, and its column of the Hessian down to the diagonal. */
INLINE void add_class_body(const tile *t, size_t c, const ke_bend *out)
{
  double *column = out->hessian + (1 + c) * (t->s->k + 1);
  v4 all = SPLAT(0.0), bend = all, slope = all;
  for (size_t i = 0; i < ROWS; i += 4) {
    const v4 d = LOAD(t->d + i + c * ROWS), share = LOAD(t->w + i) * LOAD(t->p + i + c * ROWS),
             off = share * (d - LOAD(t->mean + i));
    STORE(t->share + i, share);
    all += share;
    slope += off;
    bend += off * d;
  }
  out->gradient[1 + c] += sum_v4(&all);
  out->hessian[0] += sum_v4(&bend);
  column[0] += sum_v4(&slope);
  column[1 + c] += sum_v4(&all);
  for (size_t e = 0; e <= c; e++) {
    v4 both = SPLAT(0.0);
    for (size_t i = 0; i < ROWS; i += 4)
      both += LOAD(t->share + i) * LOAD(t->p + i + e * ROWS);
    column[1 + e] -= sum_v4(&both);
  }
}

DEFINE_DISPATCHED(static, add_class, (const tile *t, size_t c, const ke_bend *out), (t, c, out))

static void add_tile(const tile *t, const double *b, ke_bend *out)
{
  fill_values(t, b);
  out->loss += own_values(t);
  make_probabilities(t);
  out->loss += sum_of_logs(t);
  add_own(t, out->gradient);
  for (size_t c = 0; c < t->s->k; c++)
    add_class(t, c, out);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct {
  const ke_softmax *s;
  const double *b;
  size_t first, rows, width; /* first row; rows of a block; its sums: loss, gradient, Hessian */
  double *sums, *own;        /* `width` a block, tile_work() a worker */
} crew;

static size_t sums_width(size_t k) { return 1 + (k + 1) * (k + 2); }

static size_t block_rows(size_t k) { return ROWS * ke_smaller(TILES, ke_batch(tile_flops(k))); }

/* Blocks that are out at a time. */
static size_t most_blocks(size_t n, size_t k)
{
  const size_t all = (n + block_rows(k) - 1) / block_rows(k), few = AT_HAND / sums_width(k);
  return ke_smaller(all, few > 0 ? few : 1);
}

size_t ke_softmax_work(size_t n, size_t k, int threads)
{
  return most_blocks(n, k) * sums_width(k) + (size_t)threads * tile_work(k);
}

static void add_block(void *data, size_t item, size_t worker)
{
  const crew *w = (const crew *)data;
  const size_t from = w->first + item * w->rows, end = ke_smaller(from + w->rows, w->s->n);
  double *sums = w->sums + item * w->width;
  ke_bend out = {0.0, sums + 1, sums + 2 + w->s->k};
  tile t = place_tile(w->s, w->own + worker * tile_work(w->s->k));
  ke_clear(sums, w->width);
  for (size_t i0 = from; i0 < end; i0 += ROWS) {
    take_rows(&t, i0);
    add_tile(&t, w->b, &out);
  }
  sums[0] = out.loss;
}

static void add_sums(const crew *w, size_t blocks, ke_bend *out)
{
  const size_t size = w->s->k + 1;
  for (size_t item = 0; item < blocks; item++) {
    const double *sums = w->sums + item * w->width;
    out->loss += sums[0];
    ke_add_scaled(out->gradient, size, 1.0, sums + 1);
    ke_add_scaled(out->hessian, size * size, 1.0, sums + 1 + size);
  }
}

static void add_penalty(const ke_softmax *s, const double *b, ke_bend *out)
{
  const size_t size = s->k + 1;
  for (size_t q = 0; q < size; q++) {
    out->loss += s->penalty * b[q] * b[q] / 2.0;
    out->gradient[q] += s->penalty * b[q];
    out->hessian[q * (size + 1)] += s->penalty;
    for (size_t e = 0; e < q; e++)
      out->hessian[q + e * size] = out->hessian[e + q * size];
  }
}

void ke_softmax_at(const ke_softmax *s, const double *b, double *work, ke_bend *out,
                   const ke_env *env)
{
  const size_t size = s->k + 1, most = most_blocks(s->n, s->k), rows = block_rows(s->k);
  const double flops = tile_flops(s->k) * (double)(rows / ROWS);
  crew w = {s, b, 0, rows, sums_width(s->k), work, work + most * sums_width(s->k)};
  out->loss = 0.0;
  ke_clear(out->gradient, size);
  ke_clear(out->hessian, size * size);
  for (; w.first < s->n; w.first += most * rows) {
    const size_t blocks = ke_smaller(most, (s->n - w.first + rows - 1) / rows);
    ke_share(env, blocks, flops, add_block, &w);
    add_sums(&w, blocks, out);
    ke_check(env);
  }
  add_penalty(s, b, out);
}
