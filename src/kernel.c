/* Kernel values from inner products or distances, on packed rows; a vectorised exp.
 *
 *   linear      <x,z>                      polynomial  (scale <x,z> + offset)^degree
 *   rbf         exp(-scale |x-z|^2)        sigmoid     tanh(scale <x,z> + offset)
 *   laplace     exp(-scale |x-z|)          spline      prod_d 1 + xz + xz m - (x+z)/2 m^2 + m^3/3,
 *                                                      m = min(x_d, z_d)
 *
 * Squared distances come as |x|^2 + |z|^2 - 2 <x,z>. Inner products are our own rather than
 * the BLAS's: each is summed over the columns in one fixed order, the same in any tile and on
 * any thread, so identical rows are at distance exactly 0, matrices are exactly symmetric, and
 * nothing depends on which BLAS is installed. Register block: three panels by one (12 x 4).
 * Cost 2 n m d flops at close to the machine's peak.
 */
#include "kernelect.h"

#include "simd.h"

#include <math.h>
#include <string.h>

/* Columns in one partial sum: keeps both panels in cache, and the sums accurate. */
#define KC 256
#define STRIP 3

size_t ke_padded(size_t n) { return (n + KE_PANEL - 1) / KE_PANEL * KE_PANEL; }

size_t ke_panel_size(size_t n, size_t d) { return ke_padded(n) * d; }

int ke_is_distance(const ke_kernel *kernel)
{
  return kernel->type == KE_RBF || kernel->type == KE_LAPLACE;
}

void ke_check(const ke_env *env)
{
  if (env->check)
    env->check(env->data);
}

void ke_progress(const ke_env *env, double share)
{
  if (env->progress)
    env->progress(env->data, share);
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
} tile;

INLINE void inner_range_body(const tile *t, size_t k0, size_t count)
{
  const int add = t->add || k0 > 0;
  const size_t width = KE_PANEL * t->a->d, panels = ke_padded(t->m) / KE_PANEL;
  const double *base_a = t->a->panel + t->i0 * t->a->d + k0 * KE_PANEL;
  double edge[KE_PANEL * STRIP * KE_PANEL];
  for (size_t j = 0; j < t->k; j += KE_PANEL) {
    const double *b = t->b->panel + (t->j0 + j) * t->b->d + k0 * KE_PANEL;
    const size_t cols = ke_smaller(KE_PANEL, t->k - j);
    for (size_t p = 0; p < panels; p += STRIP) {
      const double *a[STRIP];
      for (size_t s = 0; s < STRIP; s++) /* beyond the end: compute the last panel again */
        a[s] = base_a + (p + s < panels ? p + s : panels - 1) * width;
      const size_t i = p * KE_PANEL, ldc = KE_PANEL * STRIP;
      const size_t rows = ke_smaller(ldc, t->m - i);
      double *c = t->out + i + j * t->ldo;
      if (rows == ldc && cols == KE_PANEL) {
        block_12x4(a, b, count, c, t->ldo, add);
      } else {
        memset(edge, 0, sizeof edge);
        if (add)
          copy_block(c, t->ldo, edge, ldc, rows, cols);
        block_12x4(a, b, count, edge, ldc, add);
        copy_block(edge, ldc, c, t->ldo, rows, cols);
      }
    }
  }
}

DEFINE_DISPATCHED(static, inner_range, (const tile *t, size_t k0, size_t count), (t, k0, count))

/* The sums run over the first d columns. */
static void inner_tile(const tile *t, size_t d)
{
  for (size_t k0 = 0; k0 < d || k0 == 0; k0 += KC)
    inner_range(t, k0, ke_smaller(KC, d - k0));
}

void ke_inner(const ke_rows *a, size_t i0, size_t m, const ke_rows *b, size_t j0, size_t k,
              double *out, size_t ldo)
{
  if (m == 0 || k == 0)
    return;
  const tile t = {a, b, i0, m, j0, k, out, ldo, 0};
  inner_tile(&t, a->d);
}

void ke_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo)
{
  if (a->n == 0 || b->n == 0)
    return;
  const tile t = {a, b, 0, a->n, 0, b->n, out, ldo, 0};
  inner_tile(&t, count);
}

void ke_add_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo)
{
  const tile t = {a, b, 0, a->n, 0, b->n, out, ldo, 1};
  inner_tile(&t, count);
}

/* ---- packing --------------------------------------------------------------------- */

/* Squared lengths by the very code that makes inner products. */
static void fill_norms(ke_rows *rows)
{
  double block[KE_PANEL * KE_PANEL];
  for (size_t i = 0; i < ke_padded(rows->n); i += KE_PANEL) {
    const tile t = {rows, rows, i, KE_PANEL, i, KE_PANEL, block, KE_PANEL, 0};
    inner_tile(&t, rows->d);
    for (size_t r = 0; r < KE_PANEL; r++)
      rows->norm[i + r] = block[r * (KE_PANEL + 1)];
  }
}

/* Columns packed at a time: few enough to stay in the cache. */
#define PACKED 16

/* Rows i .. i + live of one column into their place in a panel. */
static void pack_four(const double *x, size_t live, double shift, double weight, double *panel)
{
  if (live == KE_PANEL)
    STORE(panel, (LOAD(x) - shift) * weight);
  else
    for (size_t r = 0; r < KE_PANEL; r++)
      panel[r] = r < live ? (x[r] - shift) * weight : 0.0;
}

void ke_panels(const double *x, size_t ldx, const double *shift, const double *weights,
               const ke_rows *rows)
{
  const size_t n = rows->n, d = rows->d;
  for (size_t k0 = 0; k0 < d; k0 += PACKED) {
    const size_t k1 = ke_smaller(d, k0 + PACKED);
    for (size_t i = 0; i < n; i += KE_PANEL)
      for (size_t k = k0; k < k1; k++)
        pack_four(x + i + k * ldx, ke_smaller(KE_PANEL, n - i), shift ? shift[k] : 0.0,
                  weights ? weights[k] : 1.0, rows->panel + i * d + k * KE_PANEL);
  }
}

void ke_pack(const double *x, size_t ldx, const double *shift, const double *weights, ke_rows *rows)
{
  ke_panels(x, ldx, shift, weights, rows);
  fill_norms(rows);
}

void ke_gather(const ke_rows *from, const size_t *index, size_t m, ke_rows *to)
{
  const size_t d = from->d;
  to->n = m;
  to->d = d;
  memset(to->panel, 0, ke_panel_size(m, d) * sizeof(double));
  memset(to->norm, 0, ke_padded(m) * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    const double *src = ke_row(from, index[i]);
    double *dst = ke_row(to, i);
    for (size_t k = 0; k < d; k++)
      dst[k * KE_PANEL] = src[k * KE_PANEL];
    to->norm[i] = from->norm[index[i]];
  }
}

/* ---- exp --------------------------------------------------------------------------- */

/* exp(x) = 2^n exp(r), n = round(x / log 2), |r| <= log(2)/2, Taylor to degree 13. Adding
 * 1.5 * 2^52 rounds to an integer and leaves it in the low bits of `shifted`. */
#define ROUNDER 0x1.8p52

INLINE void exp_parts(const v4 *x, v4 *shifted, v4 *q)
{
  *shifted = *x * 0x1.71547652b82fep0 + ROUNDER;
  const v4 n = *shifted - ROUNDER;
  const v4 r = (*x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  /* even and odd powers apart: two short chains instead of one long one */
  const v4 r2 = r * r;
  v4 even = SPLAT(1.0 / 479001600.0), odd = SPLAT(1.0 / 6227020800.0);
  even = even * r2 + 1.0 / 3628800.0, odd = odd * r2 + 1.0 / 39916800.0;
  even = even * r2 + 1.0 / 40320.0, odd = odd * r2 + 1.0 / 362880.0;
  even = even * r2 + 1.0 / 720.0, odd = odd * r2 + 1.0 / 5040.0;
  even = even * r2 + 1.0 / 24.0, odd = odd * r2 + 1.0 / 120.0;
  even = even * r2 + 0.5, odd = odd * r2 + 1.0 / 6.0;
  v4 p = odd * r + even;
  p = p * r2 + r;
  *q = p + 1.0;
}

/* For |x| <= 700, where the result is normal: n is added to the exponent of exp(r). */
INLINE void exp_normal_v4(v4 *value)
{
  v4 shifted, q;
  exp_parts(value, &shifted, &q);
  *value = (v4)((u4)q + ((u4)shifted << 52));
}

/* For any x. The power of two is applied in two halves, so that results below 2^-1022 are
 * rounded once, rightly. */
INLINE void exp_v4(v4 *value)
{
  const v4 bound = SPLAT(800.0);
  v4 x = *value, shifted, q;
  x = SELECT(x < -bound, -bound, x);
  x = SELECT(x > bound, bound, x);
  exp_parts(&x, &shifted, &q);
  const v4 n = shifted - ROUNDER, half = n * 0.5 + ROUNDER, rest = (n - (half - ROUNDER)) + ROUNDER;
  const v4 scale1 = (v4)(((u4)half + 1023) << 52), scale2 = (v4)(((u4)rest + 1023) << 52);
  *value = q * scale1 * scale2;
}

INLINE void exp_body(const double *x, double *out, size_t n)
{
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v4 v = LOAD(x + i);
    exp_v4(&v);
    STORE(out + i, v);
  }
  if (i < n) {
    v4 v = {0};
    memcpy(&v, x + i, (n - i) * sizeof(double));
    exp_v4(&v);
    memcpy(out + i, &v, (n - i) * sizeof(double));
  }
}

#define ke_exp_body exp_body
DEFINE_DISPATCHED(, ke_exp, (const double *x, double *out, size_t n), (x, out, n))

/* ---- from inner products to kernel values ------------------------------------------- */

static double distance2_long_hand(const ke_column *c, size_t i)
{
  const size_t d = c->a->d;
  const double *x = ke_row(c->a, c->i0 + i), *z = ke_row(c->b, c->j);
  double total = 0.0;
  for (size_t k0 = 0; k0 < d; k0 += KC) {
    double sum = 0.0;
    for (size_t k = k0; k < d && k < k0 + KC; k++) {
      const double diff = k == c->without ? 0.0 : x[k * KE_PANEL] - z[k * KE_PANEL];
      sum += diff * diff;
    }
    total += sum;
  }
  return total;
}

/* g <- exp(-scale (norm + other - 2 g)), for exponents within the range of exp_normal_v4. */
INLINE void rbf_v4(v4 *g, const v4 *norm, double other, double scale)
{
  v4 d2 = (*norm + other) - 2.0 * *g;
  d2 = (v4)((l4)d2 & ~(d2 < 0.0));
  *g = d2 * -scale;
  exp_normal_v4(g);
}

INLINE void rbf_column_body(double *g, const double *norm, size_t m, double other, double scale)
{
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    v4 v = LOAD(g + i), lengths = LOAD(norm + i);
    rbf_v4(&v, &lengths, other, scale);
    STORE(g + i, v);
  }
  if (i < m) {
    v4 v = {0}, lengths = {0};
    memcpy(&v, g + i, (m - i) * sizeof(double));
    memcpy(&lengths, norm + i, (m - i) * sizeof(double));
    rbf_v4(&v, &lengths, other, scale);
    memcpy(g + i, &v, (m - i) * sizeof(double));
  }
}

DEFINE_DISPATCHED(static, rbf_column,
                  (double *g, const double *norm, size_t m, double other, double scale),
                  (g, norm, m, other, scale))

INLINE void raise_to_largest_body(const double *x, size_t n, double *out)
{
  v4 best = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v4 v = LOAD(x + i);
    best = SELECT(v > best, v, best);
  }
  for (size_t r = 0; r < 4; r++)
    *out = best[r] > *out ? best[r] : *out;
  for (; i < n; i++)
    *out = x[i] > *out ? x[i] : *out;
}

DEFINE_DISPATCHED(static, raise_to_largest, (const double *x, size_t n, double *out), (x, n, out))

double ke_largest(const double *x, size_t n)
{
  double best = 0.0;
  raise_to_largest(x, n, &best);
  return best;
}

/* An expanded distance carries an error of a few eps (|x|^2 + |z|^2). Where scale times that
 * would show in the twelfth digit of a value that is not itself negligible (exp(-746) is 0),
 * the distance is taken from the differences instead. (Up to the safe exponent -scale d^2 is
 * at least -500, as |x - z|^2 <= 2 |x|^2 + 2 |z|^2.) */
#define SAFE_EXPONENT 250.0
#define NEGLIGIBLE 746.0

static void finish_rbf(const ke_column *c)
{
  const double *norm = c->norm, other = c->other, scale = c->kernel->scale;
  const double top = c->top > 0.0 ? c->top : ke_largest(norm, c->m);
  if (scale * (top + other) <= SAFE_EXPONENT) {
    rbf_column(c->g, norm, c->m, other, scale);
    return;
  }
  for (size_t i = 0; i < c->m; i++) {
    const double total = norm[i] + other;
    double d2 = total - 2.0 * c->g[i];
    if (scale * total > SAFE_EXPONENT && scale * d2 < NEGLIGIBLE + 1e-12 * scale * total)
      d2 = distance2_long_hand(c, i);
    c->g[i] = -scale * (d2 > 0.0 ? d2 : 0.0);
  }
  ke_exp(c->g, c->g, c->m);
}

/* The square root magnifies the error of a small distance: below 2e-3 scale (|x|^2 + |z|^2)
 * it would reach the twelfth digit. A distance that cancels to zero is one of those. */
static double laplace_distance(const ke_column *c, size_t i, double inner)
{
  const double total = c->norm[i] + c->other, near = 2e-3 * c->kernel->scale * total;
  const double far = NEGLIGIBLE / c->kernel->scale;
  double d2 = total - 2.0 * inner;
  if (d2 < near * near && d2 < far * far + 1e-12 * total)
    d2 = distance2_long_hand(c, i);
  return sqrt(d2 > 0.0 ? d2 : 0.0);
}

static void finish_laplace(const ke_column *c)
{
  for (size_t i = 0; i < c->m; i++)
    c->g[i] = -c->kernel->scale * laplace_distance(c, i, c->g[i]);
  ke_exp(c->g, c->g, c->m);
}

static double power(double base, double degree)
{
  double result = 1.0;
  for (unsigned e = (unsigned)degree; e; e >>= 1, base *= base)
    if (e & 1u)
      result *= base;
  return result;
}

static void finish_polynomial(const ke_column *c)
{
  const ke_kernel *k = c->kernel;
  for (size_t i = 0; i < c->m; i++)
    c->g[i] = power(k->scale * c->g[i] + k->offset, k->degree);
}

static void finish_sigmoid(const ke_column *c)
{
  for (size_t i = 0; i < c->m; i++)
    c->g[i] = tanh(c->kernel->scale * c->g[i] + c->kernel->offset);
}

static double spline_value(const double *x, const double *z, size_t d)
{
  double product = 1.0;
  for (size_t k = 0; k < d * KE_PANEL; k += KE_PANEL) {
    const double xz = x[k] * z[k], low = x[k] < z[k] ? x[k] : z[k];
    product *= 1.0 + xz + xz * low - (x[k] + z[k]) / 2.0 * low * low + low * low * low / 3.0;
  }
  return product;
}

static void finish_spline(const ke_column *c)
{
  const double *z = ke_row(c->b, c->j);
  for (size_t i = 0; i < c->m; i++)
    c->g[i] = spline_value(ke_row(c->a, c->i0 + i), z, c->a->d);
}

void ke_finish(const ke_column *c)
{
  switch (c->kernel->type) {
  case KE_LINEAR: break;
  case KE_RBF: finish_rbf(c); break;
  case KE_LAPLACE: finish_laplace(c); break;
  case KE_POLYNOMIAL: finish_polynomial(c); break;
  case KE_SIGMOID: finish_sigmoid(c); break;
  case KE_SPLINE: finish_spline(c); break;
  }
}

ke_column ke_column_of(const ke_kernel *kernel, const ke_rows *a, size_t i0, const ke_rows *b,
                       size_t j)
{
  const ke_column c = {kernel, a, b, i0, 0, j, a->norm + i0, b->norm[j], 0.0, SIZE_MAX, NULL};
  return c;
}

static double slope_laplace(const ke_column *c, size_t i, double inner)
{
  const double distance = laplace_distance(c, i, inner);
  return distance > 0.0 ? -c->kernel->scale * c->g[i] / (2.0 * distance) : 0.0;
}

void ke_slope(const ke_column *c, const double *inner, double *slope)
{
  const ke_kernel *k = c->kernel;
  for (size_t i = 0; i < c->m; i++)
    switch (k->type) {
    case KE_LAPLACE: slope[i] = slope_laplace(c, i, inner[i]); break;
    case KE_POLYNOMIAL:
      slope[i] = k->degree * k->scale * power(k->scale * inner[i] + k->offset, k->degree - 1.0);
      break;
    case KE_SIGMOID: slope[i] = k->scale * (1.0 - c->g[i] * c->g[i]); break;
    default: slope[i] = 1.0;
    }
}

void ke_tile(const ke_kernel *kernel, const ke_rows *a, size_t i0, size_t m, const ke_rows *b,
             size_t j0, size_t k, double *out, size_t ldo)
{
  /* One panel of columns at a time stays in the first cache between the two steps. */
  const size_t group = a->d <= KC ? KE_PANEL : k;
  for (size_t j = 0; j < k; j += group) {
    const size_t cols = ke_smaller(group, k - j);
    if (kernel->type != KE_SPLINE)
      ke_inner(a, i0, m, b, j0 + j, cols, out + j * ldo, ldo);
    for (size_t q = 0; q < cols; q++) {
      ke_column c = ke_column_of(kernel, a, i0, b, j0 + j + q);
      c.m = m;
      c.g = out + (j + q) * ldo;
      ke_finish(&c);
    }
  }
}

void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out)
{
  for (size_t i = 0; i < rows->n; i++) {
    out[i] = rows->norm[i];
    ke_column c = ke_column_of(kernel, rows, i, rows, i);
    c.m = 1;
    c.g = out + i;
    ke_finish(&c);
  }
}
