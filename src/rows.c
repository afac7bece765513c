/* Packed rows and their inner products.
 *
 * Inner products are our own rather than the BLAS's: each is summed over the columns in one
 * fixed order, the same in any tile and on any thread, so identical rows are at distance exactly
 * 0, matrices are exactly symmetric, and nothing depends on which BLAS is installed. Register
 * block: three panels by one (12 x 4), with AVX-512 six by two (24 x 8): an entry is the same sum
 * in both. Cost 2 n m d flops at close to the machine's peak.
 */
#include "rows.h"

#include "simd.h"

#include <string.h>
#if DISPATCH
#include <immintrin.h>
#endif

#define STRIP 3

size_t ke_padded(size_t n) { return (n + KE_PANEL - 1) / KE_PANEL * KE_PANEL; }

size_t ke_panel_size(size_t n, size_t d) { return ke_padded(n) * d; }

ke_rows ke_block(const ke_rows *rows, size_t block)
{
  const size_t d = rows->d / ke_blocks(rows);
  const ke_rows part = {rows->n,
                        d,
                        rows->panel + block * d * KE_PANEL,
                        rows->norm + block * ke_padded(rows->n),
                        ke_stride(rows),
                        1};
  return part;
}

/* ---- inner products ------------------------------------------------------------ */

/* 12 x 4 block over `count` columns: rows of three panels a[], columns of one panel b. Each
 * call sums from zero and adds the total to what was there: with hundreds of terms a sum of
 * partial sums is more accurate than one long running sum. */
INLINE void block_12x4(const double *const a[STRIP], const double *b, size_t count, double *c,
                       size_t ldc, int accumulate)
{
  v4 c00 = {0}, c10 = {0}, c20 = {0}, c01 = {0}, c11 = {0}, c21 = {0};
  v4 c02 = {0}, c12 = {0}, c22 = {0}, c03 = {0}, c13 = {0}, c23 = {0};
  const double *p0 = a[0], *p1 = a[1], *p2 = a[2];
  for (size_t k = 0; k < count; k++, p0 += 4, p1 += 4, p2 += 4, b += 4) {
    const v4 a0 = LOAD(p0), a1 = LOAD(p1), a2 = LOAD(p2);
    v4 t = SPLAT(b[0]);
    c00 += a0 * t, c10 += a1 * t, c20 += a2 * t;
    t = SPLAT(b[1]);
    c01 += a0 * t, c11 += a1 * t, c21 += a2 * t;
    t = SPLAT(b[2]);
    c02 += a0 * t, c12 += a1 * t, c22 += a2 * t;
    t = SPLAT(b[3]);
    c03 += a0 * t, c13 += a1 * t, c23 += a2 * t;
  }
  if (accumulate) {
    c00 += LOAD(c), c10 += LOAD(c + 4), c20 += LOAD(c + 8);
    c01 += LOAD(c + ldc), c11 += LOAD(c + ldc + 4), c21 += LOAD(c + ldc + 8);
    c02 += LOAD(c + 2 * ldc), c12 += LOAD(c + 2 * ldc + 4), c22 += LOAD(c + 2 * ldc + 8);
    c03 += LOAD(c + 3 * ldc), c13 += LOAD(c + 3 * ldc + 4), c23 += LOAD(c + 3 * ldc + 8);
  }
  STORE(c, c00), STORE(c + 4, c10), STORE(c + 8, c20);
  STORE(c + ldc, c01), STORE(c + ldc + 4, c11), STORE(c + ldc + 8, c21);
  STORE(c + 2 * ldc, c02), STORE(c + 2 * ldc + 4, c12), STORE(c + 2 * ldc + 8, c22);
  STORE(c + 3 * ldc, c03), STORE(c + 3 * ldc + 4, c13), STORE(c + 3 * ldc + 8, c23);
}

typedef double v2 __attribute__((vector_size(16)));
typedef double v2_loose __attribute__((vector_size(16), aligned(8), may_alias));
#define LOAD_2(p) ((v2)(*(const v2_loose *)(p)))

INLINE void store_column(double *c, v2 low, v2 high, int accumulate)
{
  *(v2_loose *)c = accumulate ? low + LOAD_2(c) : low;
  *(v2_loose *)(c + 2) = accumulate ? high + LOAD_2(c + 2) : high;
}

/* One panel by one, the same sums in the same order; four doubles at a time would go through memory
 * where registers hold two. */
INLINE void block_4x4(const double *a, const double *b, size_t count, double *c, size_t ldc,
                      int accumulate)
{
  v2 c00 = {0}, c10 = {0}, c01 = {0}, c11 = {0}, c02 = {0}, c12 = {0}, c03 = {0}, c13 = {0};
  for (size_t k = 0; k < count; k++, a += 4, b += 4) {
    const v2 a0 = LOAD_2(a), a1 = LOAD_2(a + 2);
    c00 += a0 * b[0], c10 += a1 * b[0];
    c01 += a0 * b[1], c11 += a1 * b[1];
    c02 += a0 * b[2], c12 += a1 * b[2];
    c03 += a0 * b[3], c13 += a1 * b[3];
  }
  store_column(c, c00, c10, accumulate);
  store_column(c + ldc, c01, c11, accumulate);
  store_column(c + 2 * ldc, c02, c12, accumulate);
  store_column(c + 3 * ldc, c03, c13, accumulate);
}

/* Sums of 12 x 4 must stay in registers: with too few of them, 4 x 4 three times. */
INLINE void block(const double *const a[STRIP], const double *b, size_t count, double *c,
                  size_t ldc, int accumulate, int roomy)
{
  if (roomy) {
    block_12x4(a, b, count, c, ldc, accumulate);
    return;
  }
  for (size_t s = 0; s < STRIP; s++)
    block_4x4(a[s], b, count, c + s * KE_PANEL, ldc, accumulate);
}

INLINE void copy_block(const double *from, size_t ldf, double *to, size_t ldt, size_t m, size_t k)
{
  for (size_t j = 0; j < k; j++)
    memcpy(to + j * ldt, from + j * ldf, m * sizeof(double));
}

/* A tile of inner products. */
typedef struct {
  const ke_rows *a, *b;
  size_t i0, m, j0, k;
  double *out;
  size_t ldo;
  int add; /* to what is there */
  const ke_ahead *ahead;
} tile;

#define LINE 8 /* numbers that memory sends at a time, or some of them */

/* Share number q of so many, into the second cache. */
INLINE void ask_for(const ke_ahead *a, size_t q, size_t shares)
{
  const size_t lines = (a->rows + LINE - 1) / LINE, total = lines * a->columns;
  const size_t from = total * q / shares, to = total * (q + 1) / shares;
  const double *column = a->x + from / lines * a->ld;
  for (size_t k = from, l = from % lines; k < to; k++) {
    __builtin_prefetch(column + l * LINE, 0, 2);
    if (++l == lines)
      l = 0, column += a->ld;
  }
}

INLINE void inner_range_body(const tile *t, size_t k0, size_t count, int roomy)
{
  const int add = t->add || k0 > 0;
  const size_t width = KE_PANEL * ke_stride(t->a), panels = ke_padded(t->m) / KE_PANEL;
  const double *base_a = t->a->panel + t->i0 * ke_stride(t->a) + k0 * KE_PANEL;
  const size_t strips = (panels + STRIP - 1) / STRIP, shares = ke_padded(t->k) / KE_PANEL * strips;
  double edge[KE_PANEL * STRIP * KE_PANEL];
  for (size_t j = 0; j < t->k; j += KE_PANEL) {
    const double *b = t->b->panel + (t->j0 + j) * ke_stride(t->b) + k0 * KE_PANEL;
    const size_t cols = ke_smaller(KE_PANEL, t->k - j);
    for (size_t p = 0; p < panels; p += STRIP) {
      const double *a[STRIP];
      for (size_t s = 0; s < STRIP; s++) /* beyond the end: compute the last panel again */
        a[s] = base_a + (p + s < panels ? p + s : panels - 1) * width;
      const size_t i = p * KE_PANEL, ldc = KE_PANEL * STRIP;
      const size_t rows = ke_smaller(ldc, t->m - i);
      double *c = t->out + i + j * t->ldo;
      for (const ke_ahead *next = t->ahead; next && next->x && k0 == 0; next++)
        ask_for(next, j / KE_PANEL * strips + p / STRIP, shares);
      if (rows == ldc && cols == KE_PANEL) {
        block(a, b, count, c, t->ldo, add, roomy);
      } else {
        memset(edge, 0, sizeof edge);
        if (add)
          copy_block(c, t->ldo, edge, ldc, rows, cols);
        block(a, b, count, edge, ldc, add, roomy);
        copy_block(edge, ldc, c, t->ldo, rows, cols);
      }
    }
  }
}

#if defined(__aarch64__)
#define ROOMY 1 /* 32 registers of two doubles */
#else
#define ROOMY 0 /* 16 of two, without AVX */
#endif

static void inner_range_base(const tile *t, size_t k0, size_t count)
{
  inner_range_body(t, k0, count, ROOMY);
}

#if DISPATCH
FAST_TARGET static void inner_range_fast(const tile *t, size_t k0, size_t count)
{
  inner_range_body(t, k0, count, 1);
}
#endif

#if DISPATCH
#define WIDE_ROWS 24
#define WIDE_COLUMNS 8

/* Twenty-four rows of one column of the block: three sums of eight. */
typedef struct {
  v8 top, middle, bottom;
} wide_column;

WIDE_INLINE v8 two_panels(const double *low, const double *high)
{
  return (v8)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(low)), _mm256_loadu_pd(high),
                                1);
}

WIDE_INLINE void add_wide(wide_column *c, const wide_column *a, double b)
{
  c->top += a->top * b, c->middle += a->middle * b, c->bottom += a->bottom * b;
}

WIDE_INLINE void store_wide(double *c, wide_column x, int accumulate)
{
  STORE_8(c, accumulate ? x.top + LOAD_8(c) : x.top);
  STORE_8(c + 8, accumulate ? x.middle + LOAD_8(c + 8) : x.middle);
  STORE_8(c + 16, accumulate ? x.bottom + LOAD_8(c + 16) : x.bottom);
}

/* The columns of one panel. */
typedef struct {
  wide_column c0, c1, c2, c3;
} wide_panel;

WIDE_INLINE void add_panel(wide_panel *c, const wide_column *a, const double *b)
{
  add_wide(&c->c0, a, b[0]), add_wide(&c->c1, a, b[1]);
  add_wide(&c->c2, a, b[2]), add_wide(&c->c3, a, b[3]);
}

WIDE_INLINE void store_panel(double *c, size_t ldc, const wide_panel *x, int accumulate)
{
  store_wide(c, x->c0, accumulate), store_wide(c + ldc, x->c1, accumulate);
  store_wide(c + 2 * ldc, x->c2, accumulate), store_wide(c + 3 * ldc, x->c3, accumulate);
}

typedef struct {
  const double *at;
  size_t apart; /* from one panel to the next */
} panels;

/* Six panels of a, and two of b (`both`) or one. */
WIDE_INLINE void block_24(panels a, panels b, int both, size_t count, double *c, size_t ldc,
                          int accumulate)
{
  const wide_column none = {{0}, {0}, {0}};
  wide_panel first = {none, none, none, none}, second = first;
  for (size_t k = 0; k < count; k++, a.at += KE_PANEL, b.at += KE_PANEL) {
    const wide_column x = {two_panels(a.at, a.at + a.apart),
                           two_panels(a.at + 2 * a.apart, a.at + 3 * a.apart),
                           two_panels(a.at + 4 * a.apart, a.at + 5 * a.apart)};
    add_panel(&first, &x, b.at);
    if (both)
      add_panel(&second, &x, b.at + b.apart);
  }
  store_panel(c, ldc, &first, accumulate);
  if (both)
    store_panel(c + KE_PANEL * ldc, ldc, &second, accumulate);
}

/* The whole blocks of a tile, of `rows` by `columns`: whole panels, of which the last may be by
 * itself. */
WIDE_TARGET static void wide_blocks(const tile *t, size_t rows, size_t columns, size_t k0,
                                    size_t count)
{
  const int add = t->add || k0 > 0;
  const size_t width = KE_PANEL * ke_stride(t->a), next = KE_PANEL * ke_stride(t->b);
  const size_t high = rows / WIDE_ROWS, wide = (columns + KE_PANEL) / WIDE_COLUMNS;
  const double *a = t->a->panel + t->i0 * ke_stride(t->a) + k0 * KE_PANEL,
               *b = t->b->panel + t->j0 * ke_stride(t->b) + k0 * KE_PANEL;
  for (size_t q = 0; q < high * wide; q++) {
    const size_t i = q % high * WIDE_ROWS, j = q / high * WIDE_COLUMNS;
    const panels left = {a + i / KE_PANEL * width, width}, right = {b + j / KE_PANEL * next, next};
    double *c = t->out + i + j * t->ldo;
    for (const ke_ahead *ahead = t->ahead; ahead && ahead->x && k0 == 0; ahead++)
      ask_for(ahead, q, high * wide);
    if (j + WIDE_COLUMNS <= columns)
      block_24(left, right, 1, count, c, t->ldo, add);
    else
      block_24(left, right, 0, count, c, t->ldo, add);
  }
}

/* The rows, or the columns, that are left are a tile of their own. */
static void inner_range_wide(const tile *t, size_t k0, size_t count)
{
  const size_t rows = t->m - t->m % WIDE_ROWS, columns = t->k - t->k % KE_PANEL;
  tile below = *t, beside = *t;
  wide_blocks(t, rows, columns, k0, count);
  below.i0 += rows, below.m -= rows, below.out += rows;
  below.k = columns;
  beside.j0 += columns, beside.k -= columns, beside.out += columns * t->ldo;
  if (rows > 0 && columns > 0)
    below.ahead = beside.ahead = NULL;
  if (below.m > 0 && below.k > 0)
    inner_range_fast(&below, k0, count);
  if (beside.k > 0)
    inner_range_fast(&beside, k0, count);
}
#endif

static void inner_range(const tile *t, size_t k0, size_t count)
{
#if DISPATCH
  if (HAS_FAST()) {
    (HAS_WIDE() ? inner_range_wide : inner_range_fast)(t, k0, count);
    return;
  }
#endif
  inner_range_base(t, k0, count);
}

/* The sums run over the first d columns. */
static void inner_tile(const tile *t, size_t d)
{
  for (size_t k0 = 0; k0 < d || k0 == 0; k0 += KE_PARTIAL)
    inner_range(t, k0, ke_smaller(KE_PARTIAL, d - k0));
}

void ke_inner(const ke_rows *a, size_t i0, size_t m, const ke_rows *b, size_t j0, size_t k,
              double *out, size_t ldo)
{
  if (m == 0 || k == 0)
    return;
  const tile t = {a, b, i0, m, j0, k, out, ldo, 0, NULL};
  inner_tile(&t, a->d);
}

void ke_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo)
{
  if (a->n == 0 || b->n == 0)
    return;
  const tile t = {a, b, 0, a->n, 0, b->n, out, ldo, 0, NULL};
  inner_tile(&t, count);
}

void ke_add_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo,
                    const ke_ahead *ahead)
{
  const tile t = {a, b, 0, a->n, 0, b->n, out, ldo, 1, ahead};
  inner_tile(&t, count);
}

/* ---- packing --------------------------------------------------------------------- */

/* Squared lengths by the very code that makes inner products. */
static void fill_norms(ke_rows *rows)
{
  double block[KE_PANEL * KE_PANEL];
  for (size_t i = 0; i < ke_padded(rows->n); i += KE_PANEL) {
    const tile t = {rows, rows, i, KE_PANEL, i, KE_PANEL, block, KE_PANEL, 0, NULL};
    inner_tile(&t, rows->d);
    for (size_t r = 0; r < KE_PANEL; r++)
      rows->norm[i + r] = block[r * (KE_PANEL + 1)];
  }
}

/* Columns packed at a time: few enough to stay in the cache. */
#define PACKED 16

/* Four rows of column k. */
INLINE void transform(v4 *x, const ke_transform *how, size_t k)
{
  if (how->scale)
    *x = (*x - how->center[k]) / how->scale[k];
  if (how->shift)
    *x = *x - how->shift[k];
  if (how->weights)
    *x = *x * how->weights[k];
}

/* Rows i .. i + live of column k into their place in a panel. */
INLINE void pack_four(const double *x, size_t live, const ke_transform *how, size_t k,
                      double *panel)
{
  v4 four = {0};
  if (live == KE_PANEL)
    four = LOAD(x);
  else
    memcpy(&four, x, live * sizeof(double));
  transform(&four, how, k);
  STORE(panel, four);
  for (size_t r = live; r < KE_PANEL; r++)
    panel[r] = 0.0;
}

/* Columns k .. k + 4 of whole panels as they are. They may lie far apart and out of cache: the four
 * after them are asked for in time. */
INLINE void copy_panels(const double *x, size_t ldx, const ke_rows *rows, size_t k)
{
  const double *c[KE_PANEL] = {x + k * ldx, x + (k + 1) * ldx, x + (k + 2) * ldx,
                               x + (k + 3) * ldx};
  const size_t apart = KE_PANEL * ke_stride(rows), next = k + 2 * KE_PANEL <= rows->d ? 4 * ldx : 0;
  double *panel = rows->panel + k * KE_PANEL;
  for (size_t i = 0; i + KE_PANEL <= rows->n; i += KE_PANEL, panel += apart)
    for (size_t q = 0; q < KE_PANEL; q++) {
      __builtin_prefetch(c[q] + next + i);
      STORE(panel + q * KE_PANEL, LOAD(c[q] + i));
    }
}

INLINE void ke_panels_body(const double *x, size_t ldx, const ke_transform *how,
                           const ke_rows *rows)
{
  static const ke_transform as_they_are = {0};
  const size_t n = rows->n, d = rows->d;
  const size_t columns = how ? 0 : d / KE_PANEL * KE_PANEL, whole = n / KE_PANEL * KE_PANEL;
  for (size_t k = 0; k < columns; k += KE_PANEL)
    copy_panels(x, ldx, rows, k);
  how = how ? how : &as_they_are;
  for (size_t k0 = 0; k0 < d; k0 += PACKED) {
    const size_t k1 = ke_smaller(d, k0 + PACKED);
    for (size_t i = k1 <= columns ? whole : 0; i < n; i += KE_PANEL)
      for (size_t k = k0; k < k1; k++)
        pack_four(x + i + k * ldx, ke_smaller(KE_PANEL, n - i), how, k,
                  rows->panel + i * ke_stride(rows) + k * KE_PANEL);
  }
}

DEFINE_DISPATCHED(, ke_panels,
                  (const double *x, size_t ldx, const ke_transform *how, const ke_rows *rows),
                  (x, ldx, how, rows))

void ke_pack(const double *x, size_t ldx, const ke_transform *how, ke_rows *rows)
{
  ke_panels(x, ldx, how, rows);
  fill_norms(rows);
}

void ke_rescale(const double *factors, ke_rows *rows)
{
  for (size_t i = 0; i < ke_padded(rows->n); i += KE_PANEL)
    for (size_t k = 0; k < rows->d; k++) {
      double *four = ke_row(rows, i) + k * KE_PANEL;
      STORE(four, LOAD(four) * factors[k]);
    }
  fill_norms(rows);
}

void ke_gather(const ke_rows *from, const size_t *index, size_t m, ke_rows *to)
{
  const size_t d = from->d, blocks = ke_blocks(from), padded = ke_padded(m);
  to->n = m;
  to->d = d;
  to->blocks = blocks;
  memset(to->panel, 0, ke_panel_size(m, d) * sizeof(double));
  memset(to->norm, 0, blocks * padded * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    const double *src = ke_row(from, index[i]);
    double *dst = ke_row(to, i);
    for (size_t k = 0; k < d; k++)
      dst[k * KE_PANEL] = src[k * KE_PANEL];
    for (size_t b = 0; b < blocks; b++)
      to->norm[i + b * padded] = from->norm[index[i] + b * ke_padded(from->n)];
  }
}
