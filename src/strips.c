/* The sums that criteria of a scaled kernel and their gradients are made of, in one pass over half
 * the tiles: for P = T o H and P = F o H (see criterion.c) x_d' P x_d and the row sums P 1, from
 * two products P X a strip.
 *
 * Strips of KE_STRIP rows run over the columns of a block up to the diagonal; what lies on the
 * diagonal square counts half, and all totals count twice. Results do not depend on the threads:
 * strips leave their sums in slots, added in order.
 * Cost 3 n^2 d flops and n^2/2 kernel values; memory O(n d).
 */
#include "strips.h"

#include "threads.h"
#include "simd.h"

#include <string.h>

#define FAMILIES 2
#define SLOTS 128    /* most strips that are shared at a time, */
#define ROOM 1048576 /* and most doubles of sums that they may take */

/* Families of P, one for each block of columns that the kernel looks at. */
static size_t families(const ke_criterion *c) { return FAMILIES * ke_kernel_blocks(&c->kernel); }

/* Those that the criterion asks for: the first comes for all blocks, then the second. */
static size_t wanted(const ke_criterion *c)
{
  return c->type == KE_PRODUCT ? ke_kernel_blocks(&c->kernel) : families(c);
}

int ke_family_is_distance(const ke_criterion *c, size_t family)
{
  return ke_block_is_distance(&c->kernel, family % ke_kernel_blocks(&c->kernel));
}

/* Rows of `across`: the columns of x, one of ones for row sums of P, and zeros up to a whole
 * panel. */
static size_t across_rows(const ke_criterion *c)
{
  int ones = 0;
  for (size_t b = 0; b < ke_kernel_blocks(&c->kernel); b++)
    ones = ones || ke_family_is_distance(c, b);
  return ke_padded(c->d + (size_t)ones);
}

/* ---- layout of the lent arrays ----------------------------------------------------- */

/* Sums of a strip: <K,T> and <K,F>; then for each family x_d' P x_d, row sums and column sums. */
typedef struct {
  double *value; /* FAMILIES */
  double *first; /* of the families' sums */
} strip_sums;

static size_t sums_size(const ke_criterion *c) { return c->d + KE_STRIP + c->block; }

static size_t slot_size(const ke_criterion *c) { return FAMILIES + families(c) * sums_size(c); }

static strip_sums slot_at(double *p)
{
  const strip_sums s = {p, p + FAMILIES};
  return s;
}

static double *squares_of(const ke_criterion *c, const strip_sums *s, size_t family)
{
  return s->first + family * sums_size(c);
}

static double *rows_of(const ke_criterion *c, const strip_sums *s, size_t family)
{
  return squares_of(c, s, family) + c->d;
}

static double *columns_of(const ke_criterion *c, const strip_sums *s, size_t family)
{
  return rows_of(c, s, family) + KE_STRIP;
}

/* Totals: values, then for each family squares (d) and row sums of the whole P (n). */
static size_t total_size(const ke_criterion *c) { return FAMILIES + families(c) * (c->d + c->n); }

double *ke_family_sums(const ke_criterion *c, size_t family)
{
  return c->sums + FAMILIES + family * (c->d + c->n);
}

/* A panel of P for each family, four columns of inner products for each block, values, slopes,
 * what these are made in, and a product. */
typedef struct {
  double *panel;   /* KE_STRIP x block, for each family */
  double *inner;   /* KE_STRIP x KE_PANEL, for each block */
  double *target;  /* KE_STRIP x KE_PANEL */
  double *value;   /* KE_STRIP */
  double *slope;   /* KE_STRIP, for each block */
  double *product; /* KE_STRIP x across_rows */
  double *work;
} strip_buffer;

static size_t buffer_size(const ke_criterion *c)
{
  const size_t blocks = ke_kernel_blocks(&c->kernel);
  return KE_STRIP * (families(c) * c->block + (blocks + 1) * (KE_PANEL + 1) + across_rows(c)) +
         ke_slopes_work(&c->kernel, KE_STRIP);
}

static strip_buffer buffer_at(const ke_criterion *c, double *p)
{
  const size_t blocks = ke_kernel_blocks(&c->kernel);
  strip_buffer b = {.panel = p};
  b.inner = b.panel + families(c) * KE_STRIP * c->block;
  b.target = b.inner + blocks * KE_STRIP * KE_PANEL;
  b.value = b.target + KE_STRIP * KE_PANEL;
  b.slope = b.value + KE_STRIP;
  b.product = b.slope + blocks * KE_STRIP;
  b.work = b.product + KE_STRIP * across_rows(c);
  return b;
}

/* Of a strip: inner products, kernel values, and the products of both families with the data. */
static double strip_flops(const ke_criterion *c)
{
  return KE_STRIP * (double)c->block *
         (double)(ke_cost(&c->kernel, c->d) + 2 * families(c) * across_rows(c));
}

/* A strip at least for every thread, though its sums be many. */
static size_t slots(const ke_criterion *c, const ke_env *env)
{
  const size_t most = ke_smaller(SLOTS, ROOM / slot_size(c)), threads = (size_t)env->threads;
  return most > threads ? most : threads;
}

size_t ke_criterion_work(const ke_criterion *c, const ke_env *env)
{
  const size_t padded = ke_padded(c->n), blocks = ke_kernel_blocks(&c->kernel);
  return ke_panel_size(c->n, c->rank) + blocks * (ke_panel_size(c->n, c->d) + padded) +
         across_rows(c) * c->n + total_size(c) + slots(c, env) * slot_size(c) +
         ke_criterion_forms_size(c) + (size_t)env->threads * buffer_size(c);
}

/* ---- what does not depend on the weights --------------------------------------------- */

static ke_rows across_block(const ke_criterion *c, size_t j0)
{
  const size_t rows = across_rows(c);
  const ke_rows r = {rows, ke_smaller(c->block, c->n - j0), c->across + rows * j0, NULL, 0, 0};
  return r;
}

static void fill_across(ke_criterion *c)
{
  for (size_t j0 = 0; j0 < c->n; j0 += c->block) {
    const ke_rows block = across_block(c, j0);
    for (size_t e = 0; e < block.n; e++) {
      double *to = ke_row(&block, e);
      for (size_t j = 0; j < block.d; j++)
        to[j * KE_PANEL] = e < c->d ? c->x[j0 + j + e * c->n] : (e == c->d ? 1.0 : 0.0);
    }
  }
}

void ke_criterion_open(ke_criterion *c, double *work, const ke_env *env)
{
  const size_t padded = ke_padded(c->n), blocks = ke_kernel_blocks(&c->kernel);
  const ke_rows target = {c->n, c->rank, work, NULL, 0, 0};
  c->target = target;
  c->rows.n = c->n;
  c->rows.d = blocks * c->d;
  c->rows.blocks = blocks;
  c->rows.panel = work + ke_panel_size(c->n, c->rank);
  c->rows.norm = c->rows.panel + blocks * ke_panel_size(c->n, c->d);
  c->across = c->rows.norm + blocks * padded;
  c->sums = c->across + across_rows(c) * c->n;
  c->forms = c->sums + total_size(c) + slots(c, env) * slot_size(c);
  c->buffer = c->forms + ke_criterion_forms_size(c);
  ke_panels(c->u, c->n, NULL, &c->target);
  fill_across(c);
}

/* ---- one strip ----------------------------------------------------------------------- */

/* One column of a strip: P of both families into their panels, and its sums. */
typedef struct {
  const double *value, *slope, *target;
  double share; /* 1/2 on the diagonal square */
  int squared;  /* F = K rather than 1 */
  double *panel[FAMILIES];
  size_t panels, stride;
  double *sums, *column[FAMILIES]; /* sums: FAMILIES */
} weighing;

INLINE void weigh_body(const weighing *w)
{
  v4 kt = {0}, kf = {0}, column0 = {0}, column1 = {0};
  for (size_t p = 0; p < w->panels; p++) {
    const v4 k = LOAD(w->value + 4 * p), t = LOAD(w->target + 4 * p);
    const v4 h = LOAD(w->slope + 4 * p) * w->share, f = w->squared ? k : SPLAT(1.0);
    const v4 p0 = t * h, p1 = f * h;
    STORE(w->panel[0] + p * w->stride, p0);
    STORE(w->panel[1] + p * w->stride, p1);
    column0 += p0, column1 += p1;
    kt += t * k, kf += f * k;
  }
  w->sums[0] += w->share * sum_v4(&kt);
  w->sums[1] += w->share * sum_v4(&kf);
  *w->column[0] = sum_v4(&column0);
  *w->column[1] = sum_v4(&column1);
}

DEFINE_DISPATCHED(static, weigh, (const weighing *w), (w))

/* out[e] = sum over the strip's rows of x_ie y_ie, for columns e < d. */
INLINE void column_dots_body(const double *x, size_t ldx, const double *y, size_t m, size_t d,
                             double *out)
{
  for (size_t e = 0; e < d; e++, x += ldx, y += KE_STRIP) {
    v4 sum = {0};
    size_t i = 0;
    for (; i + 4 <= m; i += 4)
      sum += LOAD(x + i) * LOAD(y + i);
    double total = sum_v4(&sum);
    for (; i < m; i++)
      total += x[i] * y[i];
    out[e] = total;
  }
}

DEFINE_DISPATCHED(static, column_dots,
                  (const double *x, size_t ldx, const double *y, size_t m, size_t d, double *out),
                  (x, ldx, y, m, d, out))

/* Where a strip lies: rows i0 .. i0 + m, columns j0 .. j0 + k. */
typedef struct {
  size_t i0, m, j0, k;
  double top; /* largest squared length of its rows */
} strip;

static strip strip_at(const ke_criterion *c, size_t i0, size_t j0)
{
  strip s = {i0, ke_smaller(KE_STRIP, c->n - i0), j0, ke_smaller(c->block, c->n - j0), 0.0};
  s.k = ke_smaller(s.k, i0 + s.m - j0);
  s.top = ke_largest(c->rows.norm + i0, s.m);
  return s;
}

typedef struct {
  double *value;
  const double *slope;
} column_values;

/* Values of column j of the block and its slopes. Where the two are proportional the slopes are the
 * values themselves, and these take the place of the inner products. */
static column_values value_and_slope(const ke_criterion *c, const strip *s, size_t j,
                                     const strip_buffer *b)
{
  double *inner = b->inner + j % KE_PANEL * KE_STRIP;
  column_values v = {b->value, b->slope};
  if (ke_is_proportional(&c->kernel)) {
    v.slope = v.value = inner;
    ke_column column = ke_column_of(&c->kernel, &c->rows, s->i0, &c->rows, s->j0 + j);
    column.m = s->m;
    column.top = s->top;
    column.g = inner;
    ke_finish(&column);
  } else {
    const ke_strip_column column = {&c->kernel, &c->rows,  &c->rows, s->i0,
                                    s->m,       s->j0 + j, inner,    KE_STRIP * KE_PANEL,
                                    KE_STRIP};
    ke_slopes(&column, b->value, b->slope, b->work);
  }
  for (size_t i = s->m; i < ke_padded(s->m); i++) {
    v.value[i] = 0.0;
    for (size_t q = 0; q < ke_kernel_blocks(&c->kernel); q++)
      b->slope[i + q * KE_STRIP] = 0.0;
  }
  return v;
}

/* Column j of the panels of all families. The sums of values come with each block again. */
static void weigh_column(const ke_criterion *c, const strip *s, size_t j, column_values v,
                         const strip_buffer *b, const strip_sums *out)
{
  const size_t blocks = ke_kernel_blocks(&c->kernel);
  for (size_t q = 0; q < blocks; q++) {
    double again[FAMILIES] = {0.0, 0.0};
    double *panel = b->panel + q * KE_STRIP * c->block + j * KE_PANEL;
    const weighing w = {v.value,
                        v.slope + q * KE_STRIP,
                        b->target + j % KE_PANEL * KE_STRIP,
                        s->j0 + j < s->i0 ? 1.0 : 0.5,
                        c->type == KE_ALIGNMENT,
                        {panel, panel + blocks * KE_STRIP * c->block},
                        ke_padded(s->m) / KE_PANEL,
                        c->block * KE_PANEL,
                        q == 0 ? out->value : again,
                        {columns_of(c, out, q) + j, columns_of(c, out, blocks + q) + j}};
    weigh(&w);
  }
}

/* Inner products and targets of the next columns of a strip, from j on. Targets of rows that fill
 * up the last panel must not be left from another strip: the values there are zero, but zero times
 * infinity is not. */
static void fill_inner(const ke_criterion *c, const strip *s, const strip_buffer *b, size_t j)
{
  const size_t k = ke_smaller(KE_PANEL, s->k - j);
  for (size_t q = 0; q < ke_kernel_blocks(&c->kernel); q++) {
    const ke_rows rows = ke_block(&c->rows, q);
    ke_inner(&rows, s->i0, s->m, &rows, s->j0 + j, k, b->inner + q * KE_STRIP * KE_PANEL, KE_STRIP);
  }
  ke_inner(&c->target, s->i0, s->m, &c->target, s->j0 + j, k, b->target, KE_STRIP);
  for (size_t q = 0; q < k; q++)
    for (size_t i = s->m; i < ke_padded(s->m); i++)
      b->target[i + q * KE_STRIP] = 0.0;
}

static void fill_panels(const ke_criterion *c, const strip *s, const strip_buffer *b,
                        const strip_sums *out)
{
  for (size_t j = 0; j < s->k; j++) {
    if (j % KE_PANEL == 0)
      fill_inner(c, s, b, j);
    weigh_column(c, s, j, value_and_slope(c, s, j, b), b, out);
  }
}

static void sum_strip(const ke_criterion *c, const strip *s, const strip_buffer *b,
                      const strip_sums *out)
{
  const ke_rows across = across_block(c, s->j0);
  out->value[0] = out->value[1] = 0.0;
  fill_panels(c, s, b, out);
  for (size_t f = 0; f < wanted(c); f++) {
    const ke_rows p = {s->m, c->block, b->panel + f * KE_STRIP * c->block, NULL, 0, 0};
    ke_product(&p, &across, s->k, b->product, KE_STRIP);
    column_dots(c->x + s->i0, c->n, b->product, s->m, c->d, squares_of(c, out, f));
    if (ke_family_is_distance(c, f))
      memcpy(rows_of(c, out, f), b->product + c->d * KE_STRIP, s->m * sizeof(double));
  }
}

/* ---- all strips ------------------------------------------------------------------------ */

static void add(const double *from, double *to, size_t n)
{
  for (size_t i = 0; i < n; i++)
    to[i] += from[i];
}

static void add_slot(const ke_criterion *c, const strip *s, const strip_sums *slot)
{
  add(slot->value, c->sums, FAMILIES);
  for (size_t f = 0; f < wanted(c); f++) {
    double *square = ke_family_sums(c, f), *rows = square + c->d;
    add(squares_of(c, slot, f), square, c->d);
    if (ke_family_is_distance(c, f)) {
      add(rows_of(c, slot, f), rows + s->i0, s->m);
      add(columns_of(c, slot, f), rows + s->j0, s->k);
    }
  }
}

/* Every `apart`-th strip from `first` on of the block of columns at j0, then of those after it, a
 * slot each. */
typedef struct {
  const ke_criterion *c;
  size_t j0, first, apart;
} batch;

/* Strips are dealt out one by one: whose a strip is must not depend on the threads, which may
 * differ between those who share the work. */
static batch batch_at(const ke_criterion *c, size_t j0)
{
  const size_t shares = c->shares > 1 ? c->shares : 1, first = j0 / KE_STRIP;
  const batch b = {c, j0, first + (c->share + shares - first % shares) % shares, shares};
  return b;
}

/* Those left of the block. */
static size_t strips_left(const batch *b)
{
  const size_t strips = (b->c->n + KE_STRIP - 1) / KE_STRIP;
  return b->first < strips ? (strips - b->first + b->apart - 1) / b->apart : 0;
}

/* q strips further on, of which there are more. */
static batch further(batch b, size_t q)
{
  for (size_t left = strips_left(&b); q >= left; left = strips_left(&b)) {
    q -= left;
    b = batch_at(b.c, b.j0 + b.c->block);
  }
  b.first += q * b.apart;
  return b;
}

static strip batch_strip(const batch *b, size_t q)
{
  const batch here = further(*b, q);
  return strip_at(b->c, here.first * KE_STRIP, here.j0);
}

static strip_sums batch_slot(const batch *b, size_t q)
{
  return slot_at(b->c->sums + total_size(b->c) + q * slot_size(b->c));
}

static void fill_slot(void *data, size_t q, size_t worker)
{
  const batch *b = (const batch *)data;
  const strip s = batch_strip(b, q);
  const strip_buffer own = buffer_at(b->c, b->c->buffer + worker * buffer_size(b->c));
  const strip_sums out = batch_slot(b, q);
  sum_strip(b->c, &s, &own, &out);
}

static void sum_batch(batch *b, size_t count, const ke_env *env)
{
  ke_share(env, count, strip_flops(b->c), fill_slot, b);
  for (size_t q = 0; q < count; q++) {
    const strip s = batch_strip(b, q);
    const strip_sums out = batch_slot(b, q);
    add_slot(b->c, &s, &out);
  }
}

void ke_strips_sum(ke_criterion *c, const ke_env *env)
{
  const size_t step = slots(c, env);
  size_t all = 0;
  memset(c->sums, 0, total_size(c) * sizeof(double));
  for (size_t j0 = 0; j0 < c->n; j0 += c->block) {
    const batch b = batch_at(c, j0);
    all += strips_left(&b);
  }
  for (size_t done = 0; done < all; done += step) {
    batch b = further(batch_at(c, 0), done);
    ke_check(env);
    sum_batch(&b, ke_smaller(step, all - done), env);
  }
}
