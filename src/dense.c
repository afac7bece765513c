/* C = alpha op(A) op(B) + beta C in blocks of KE_SIDE x KE_SIDE x TERMS, packed as rows are
 * (rows.c): the register block there does the work. 2 m n k flops; packing costs a few percent of
 * them. Blocks lie on the stack. */
#include "dense.h"

#include "rows.h"
#include "simd.h"
#include "vector.h"

#define TERMS KE_PARTIAL
#define NARROW 4 /* columns of C: fewer are not worth packing A for */

/* ---- vectors ------------------------------------------------------------------------------- */

/* y += A x */
INLINE void add_columns_body(ke_dense a, const double *x, double *y)
{
  size_t j = 0;
  for (; j + 4 <= a.columns; j += 4) {
    const double *p = a.at + j * a.ld, *q = p + a.ld, *r = q + a.ld, *s = r + a.ld;
    const v4 x0 = SPLAT(x[j]), x1 = SPLAT(x[j + 1]), x2 = SPLAT(x[j + 2]), x3 = SPLAT(x[j + 3]);
    size_t i = 0;
    for (; i + 4 <= a.rows; i += 4)
      STORE(y + i, LOAD(y + i) + LOAD(p + i) * x0 + LOAD(q + i) * x1 + LOAD(r + i) * x2 +
                       LOAD(s + i) * x3);
    for (; i < a.rows; i++)
      y[i] = y[i] + p[i] * x0[0] + q[i] * x1[0] + r[i] * x2[0] + s[i] * x3[0];
  }
  for (; j < a.columns; j++)
    ke_add_scaled(y, a.rows, x[j], a.at + j * a.ld);
}

DEFINE_DISPATCHED(static, add_columns, (ke_dense a, const double *x, double *y), (a, x, y))

INLINE double dot_columns(const double *a, const double *b, size_t n)
{
  v4 sum = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    sum += LOAD(a + i) * LOAD(b + i);
  return sum_v4(&sum) + ke_dot(a + i, b + i, n - i);
}

/* y += alpha A'x */
INLINE void add_dots_body(double alpha, ke_dense a, const double *x, double *y)
{
  size_t j = 0;
  for (; j + 4 <= a.columns; j += 4) {
    const double *p = a.at + j * a.ld, *q = p + a.ld, *r = q + a.ld, *s = r + a.ld;
    v4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t i = 0;
    for (; i + 4 <= a.rows; i += 4) {
      const v4 by = LOAD(x + i);
      s0 += LOAD(p + i) * by, s1 += LOAD(q + i) * by;
      s2 += LOAD(r + i) * by, s3 += LOAD(s + i) * by;
    }
    const size_t rest = a.rows - i;
    y[j] += alpha * (sum_v4(&s0) + ke_dot(p + i, x + i, rest));
    y[j + 1] += alpha * (sum_v4(&s1) + ke_dot(q + i, x + i, rest));
    y[j + 2] += alpha * (sum_v4(&s2) + ke_dot(r + i, x + i, rest));
    y[j + 3] += alpha * (sum_v4(&s3) + ke_dot(s + i, x + i, rest));
  }
  for (; j < a.columns; j++)
    y[j] += alpha * dot_columns(a.at + j * a.ld, x, a.rows);
}

DEFINE_DISPATCHED(static, add_dots, (double alpha, ke_dense a, const double *x, double *y),
                  (alpha, a, x, y))

/* Times beta; what was there does not matter where that is 0. */
static void scale(double beta, double *y, size_t n)
{
  if (beta == 0.0)
    ke_clear(y, n);
  for (size_t i = 0; beta != 0.0 && beta != 1.0 && i < n; i++)
    y[i] *= beta;
}

/* Some columns at a time: their factors are multiplied by alpha. */
static void add_product(double alpha, ke_dense a, const double *x, size_t apart, double *y)
{
  double some[KE_SIDE];
  for (size_t j = 0; j < a.columns; j += KE_SIDE) {
    const size_t k = ke_smaller(KE_SIDE, a.columns - j);
    for (size_t l = 0; l < k; l++)
      some[l] = alpha * x[(j + l) * apart];
    add_columns(ke_part(a, 0, j, a.rows, k), some, y);
  }
}

void ke_gemv(char ta, double alpha, ke_dense a, const double *x, size_t apart, double beta,
             double *y)
{
  double some[KE_SIDE];
  scale(beta, y, ta == 'T' ? a.columns : a.rows);
  if (ta == 'N') {
    add_product(alpha, a, x, apart, y);
    return;
  }
  if (apart == 1) {
    add_dots(alpha, a, x, y);
    return;
  }
  for (size_t i = 0; i < a.rows; i += KE_SIDE) {
    const size_t m = ke_smaller(KE_SIDE, a.rows - i);
    for (size_t l = 0; l < m; l++)
      some[l] = x[(i + l) * apart];
    add_dots(alpha, ke_part(a, i, 0, m, a.columns), some, y);
  }
}

/* ---- matrices ------------------------------------------------------------------------------- */

/* Columns of x, ldx apart, as rows: four of them side by side. */
INLINE void pack_columns_body(const double *x, size_t ldx, const ke_rows *rows)
{
  size_t i = 0;
  for (; i + KE_PANEL <= rows->n; i += KE_PANEL) {
    const double *p = x + i * ldx, *q = p + ldx, *r = q + ldx, *s = r + ldx;
    double *panel = rows->panel + i * rows->d;
    for (size_t k = 0; k < rows->d; k++)
      STORE(panel + k * KE_PANEL, ((v4){p[k], q[k], r[k], s[k]}));
  }
  if (i == rows->n)
    return;
  ke_clear(rows->panel + i * rows->d, KE_PANEL * rows->d);
  for (size_t c = i; c < rows->n; c++)
    for (size_t k = 0; k < rows->d; k++)
      rows->panel[i * rows->d + k * KE_PANEL + (c - i)] = x[k + c * ldx];
}

DEFINE_DISPATCHED(static, pack_columns, (const double *x, size_t ldx, const ke_rows *rows),
                  (x, ldx, rows))

/* n rows of a matrix from row i on, or of its transpose, over d terms from term k on. */
static ke_rows pack(int turned, ke_dense a, size_t i, size_t n, size_t k, size_t d, double *panel)
{
  const ke_rows rows = {n, d, panel, NULL, 0, 0};
  if (turned)
    pack_columns(a.at + k + i * a.ld, a.ld, &rows);
  else
    ke_panels(a.at + i + k * a.ld, a.ld, NULL, &rows);
  return rows;
}

/* op(A) op(B): what both have in common is the number of terms. */
typedef struct {
  int turned_a, turned_b; /* whether rows of op(A), columns of op(B), are columns as they lie */
  double alpha;
  ke_dense a, b, c;
} product;

/* Columns j .. j + n of C, terms k .. k + d; `add` to what is there. */
static void multiply_block(const product *p, size_t j, size_t k, size_t d, int add)
{
  double left[KE_SIDE * TERMS], right[KE_SIDE * TERMS];
  const size_t n = ke_smaller(KE_SIDE, p->c.columns - j);
  const ke_rows b = pack(p->turned_b, p->b, j, n, k, d, right);
  if (p->alpha != 1.0)
    scale(p->alpha, right, ke_panel_size(n, d));
  for (size_t i = 0; i < p->c.rows; i += KE_SIDE) {
    const ke_rows a = pack(p->turned_a, p->a, i, ke_smaller(KE_SIDE, p->c.rows - i), k, d, left);
    double *out = p->c.at + i + j * p->c.ld;
    if (add)
      ke_add_product(&a, &b, d, out, p->c.ld, NULL);
    else
      ke_product(&a, &b, d, out, p->c.ld);
  }
}

void ke_gemm(char ta, char tb, double alpha, ke_dense a, ke_dense b, double beta, ke_dense c)
{
  const product p = {ta == 'T', tb == 'N', alpha, a, b, c};
  const size_t terms = ta == 'T' ? a.rows : a.columns;
  if (c.columns < NARROW && tb == 'N') {
    for (size_t j = 0; j < c.columns; j++)
      ke_gemv(ta, alpha, a, b.at + j * b.ld, 1, beta, c.at + j * c.ld);
    return;
  }
  for (size_t j = 0; j < c.columns && (terms == 0 || (beta != 0.0 && beta != 1.0)); j++)
    scale(beta, c.at + j * c.ld, c.rows);
  for (size_t k = 0; k < terms; k += TERMS)
    for (size_t j = 0; j < c.columns; j += KE_SIDE)
      multiply_block(&p, j, k, ke_smaller(TERMS, terms - k), k > 0 || beta != 0.0);
}

ke_rows ke_make_ready(ke_dense b, double *panel)
{
  return pack(1, b, 0, b.columns, 0, b.rows, panel);
}

void ke_times_ready(ke_dense a, const ke_rows *b, double *work, ke_dense c)
{
  const ke_rows rows = pack(0, a, 0, a.rows, 0, a.columns, work);
  ke_product(&rows, b, a.columns, c.at, c.ld);
}

/* ---- the upper triangle of A'A ----------------------------------------------------------------
 */

#define STEP 12 /* columns of it at a time, of which what is below the diagonal is dropped */

/* c += alpha times the products of packed columns. */
static void add_triangle(const ke_rows *packed, double alpha, ke_dense c)
{
  double block[KE_SIDE * STEP];
  for (size_t j = 0; j < packed->n; j += STEP) {
    const size_t wide = ke_smaller(STEP, packed->n - j);
    const ke_rows up_to = {j + wide, packed->d, packed->panel, NULL, 0, 0},
                  own = {wide, packed->d, packed->panel + j * packed->d, NULL, 0, 0};
    ke_product(&up_to, &own, packed->d, block, KE_SIDE);
    for (size_t l = 0; l < wide; l++)
      ke_add_scaled(c.at + (j + l) * c.ld, j + l + 1, alpha, block + l * KE_SIDE);
  }
}

void ke_syrk_upper(double alpha, ke_dense a, double beta, ke_dense c)
{
  double panel[KE_SIDE * TERMS];
  for (size_t j = 0; j < a.columns; j++)
    scale(beta, c.at + j * c.ld, j + 1);
  for (size_t j = 0; j < a.columns; j += KE_SIDE) {
    const size_t wide = ke_smaller(KE_SIDE, a.columns - j);
    const ke_dense own = ke_part(a, 0, j, a.rows, wide);
    if (j > 0)
      ke_gemm('T', 'N', alpha, ke_part(a, 0, 0, a.rows, j), own, 1.0, ke_part(c, 0, j, j, wide));
    for (size_t k = 0; k < a.rows; k += TERMS) {
      const ke_rows packed = pack(1, own, 0, wide, k, ke_smaller(TERMS, a.rows - k), panel);
      add_triangle(&packed, alpha, ke_part(c, j, j, wide, wide));
    }
  }
}
