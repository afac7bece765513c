/* Kernel values from inner products or distances, on packed rows: every type of kernel is a row of
 * the table below, and this is the only file of the core that knows one by name.
 *
 *   linear      <x,z>                      polynomial  (scale <x,z> + offset)^degree
 *   rbf         exp(-scale |x-z|^2)        sigmoid     tanh(scale <x,z> + offset)
 *   laplace     exp(-scale |x-z|)          spline      prod_d 1 + xz + xz m - (x+z)/2 m^2 + m^3/3,
 *   sum         scale (k1 + k2 + ...)                  m = min(x_d, z_d)
 *   product     scale k1 k2 ...
 *
 * Squared distances come as |x|^2 + |z|^2 - 2 <x,z>.
 */
#include "kernel.h"

#include "exp.h"
#include "exp_vector.h"
#include "roots.h"

#include <math.h>
#include <string.h>

static double distance2_long_hand(const ke_column *c, size_t i)
{
  if (c->distance2)
    return c->distance2(c, i);
  const size_t d = c->a->d;
  const double *x = ke_row(c->a, c->i0 + i), *z = ke_row(c->b, c->j);
  double total = 0.0;
  for (size_t k0 = 0; k0 < d; k0 += KE_PARTIAL) {
    double sum = 0.0;
    for (size_t k = k0; k < d && k < k0 + KE_PARTIAL; k++) {
      const double diff = k == c->without ? 0.0 : x[k * KE_PANEL] - z[k * KE_PANEL];
      sum += diff * diff;
    }
    total += sum;
  }
  return total;
}

/* g <- exp(-scale (norm + other - 2 g)), for exponents within the range of exp_normal. */
#define DEFINE_RBF(scope, v, u)                                                                    \
  scope void rbf_##v(v *g, const v *norm, double other, double scale)                              \
  {                                                                                                \
    v d2 = (*norm + other) - 2.0 * *g;                                                             \
    d2 = (v)((u)d2 & ~(u)(d2 < 0.0));                                                              \
    *g = d2 * -scale;                                                                              \
    exp_normal_##v(g);                                                                             \
  }

DEFINE_RBF(INLINE, v4, u4)

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

#if DISPATCH
DEFINE_RBF(WIDE_INLINE, v8, u8)

WIDE_TARGET static void rbf_column_wide(double *g, const double *norm, size_t m, double other,
                                        double scale)
{
  size_t i = 0;
  for (; i + 8 <= m; i += 8) {
    v8 v = LOAD_8(g + i), lengths = LOAD_8(norm + i);
    rbf_v8(&v, &lengths, other, scale);
    STORE_8(g + i, v);
  }
  rbf_column_body(g + i, norm + i, m - i, other, scale);
}
#endif

DEFINE_DISPATCHED_WIDE(static, rbf_column,
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
 * at least -500, as |x - z|^2 <= 2 |x|^2 + 2 |z|^2. A lower one, and a higher bound of what is
 * negligible, only mean more differences.) */
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
 * it would reach the twelfth digit (more than that only means more differences). A distance that
 * cancels to zero is one of those. */
#define NEAR 2e-3

static double laplace_distance(const ke_column *c, size_t i, double inner)
{
  const double total = c->norm[i] + c->other, near = NEAR * c->kernel->scale * total;
  const double far = NEGLIGIBLE / c->kernel->scale;
  double d2 = total - 2.0 * inner;
  if (d2 < near * near && d2 < far * far + 1e-12 * total)
    d2 = distance2_long_hand(c, i);
  return sqrt(d2 > 0.0 ? d2 : 0.0);
}

/* Values of whole fours of rows, where no exponent is below -700; how many rows that is. */
INLINE size_t laplace_fours(const ke_column *c, void (*roots)(v4 *))
{
  const double scale = c->kernel->scale, nearness = NEAR * scale;
  size_t i = 0;
  for (; i + 4 <= c->m; i += 4) {
    const v4 total = LOAD(c->norm + i) + c->other, near = nearness * total;
    v4 v = total - 2.0 * LOAD(c->g + i);
    const l4 close = v < near * near;
    if (close[0] | close[1] | close[2] | close[3])
      for (size_t r = 0; r < 4; r++)
        v[r] = close[r] ? distance2_long_hand(c, i + r) : v[r];
    v = (v4)((l4)v & (v > 0.0));
    roots(&v);
    v *= -scale;
    exp_normal_v4(&v);
    STORE(c->g + i, v);
  }
  return i;
}

static size_t laplace_base(const ke_column *c) { return laplace_fours(c, roots_base); }

#if DISPATCH
FAST_TARGET static size_t laplace_fast(const ke_column *c) { return laplace_fours(c, roots_fast); }
#else
#define laplace_fast laplace_base
#endif

static void finish_laplace(const ke_column *c)
{
  const double top = c->top > 0.0 ? c->top : ke_largest(c->norm, c->m);
  const double scale = c->kernel->scale, lowest = 2.0 * scale * scale * (top + c->other);
  size_t i = 0;
  if (lowest <= 700.0 * 700.0)
    i = HAS_FAST() ? laplace_fast(c) : laplace_base(c);
  const size_t done = i;
  for (; i < c->m; i++)
    c->g[i] = -scale * laplace_distance(c, i, c->g[i]);
  ke_exp(c->g + done, c->g + done, c->m - done);
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

/* ---- slopes ---------------------------------------------------------------------------- */

static void slope_linear(const ke_column *c, const double *inner, double *slope)
{
  (void)inner;
  for (size_t i = 0; i < c->m; i++)
    slope[i] = 1.0;
}

static double proportion_rbf(const ke_kernel *kernel) { return -kernel->scale; }

static void slope_rbf(const ke_column *c, const double *inner, double *slope)
{
  (void)inner;
  for (size_t i = 0; i < c->m; i++)
    slope[i] = -c->kernel->scale * c->g[i];
}

static void slope_laplace(const ke_column *c, const double *inner, double *slope)
{
  for (size_t i = 0; i < c->m; i++) {
    const double distance = laplace_distance(c, i, inner[i]);
    slope[i] = distance > 0.0 ? -c->kernel->scale * c->g[i] / (2.0 * distance) : 0.0;
  }
}

static void slope_polynomial(const ke_column *c, const double *inner, double *slope)
{
  const ke_kernel *k = c->kernel;
  for (size_t i = 0; i < c->m; i++)
    slope[i] = k->degree * k->scale * power(k->scale * inner[i] + k->offset, k->degree - 1.0);
}

static void slope_sigmoid(const ke_column *c, const double *inner, double *slope)
{
  (void)inner;
  for (size_t i = 0; i < c->m; i++)
    slope[i] = c->kernel->scale * (1.0 - c->g[i] * c->g[i]);
}

/* ---- bounds ---------------------------------------------------------------------------- */

/* Largest squared length, INFINITY where one is not finite. */
static double longest(const ke_rows *rows)
{
  double most = 0.0;
  for (size_t i = 0; i < rows->n; i++) {
    if (!isfinite(rows->norm[i]))
      return INFINITY;
    most = rows->norm[i] > most ? rows->norm[i] : most;
  }
  return most;
}

/* A squared distance is at most four times the largest squared length. */
static double bound_linear(const ke_kernel *kernel, const ke_rows *rows)
{
  (void)kernel;
  return 4.0 * longest(rows);
}

static double bound_one(const ke_kernel *kernel, const ke_rows *rows)
{
  return isfinite(bound_linear(kernel, rows)) ? 1.0 : INFINITY;
}

static double bound_polynomial(const ke_kernel *kernel, const ke_rows *rows)
{
  return pow(fabs(kernel->scale) * longest(rows) + fabs(kernel->offset), kernel->degree);
}

/* A product over columns, each factor at most 1 + r^2 + 7/3 r^3 with r the larger of |x| and |z|;
 * on data >= 0 the Cauchy-Schwarz inequality gives a closer bound from the diagonal. */
static double bound_spline(const ke_kernel *kernel, const ke_rows *rows)
{
  double wide = 0.0, tight = 0.0, least = 0.0;
  if (!isfinite(bound_linear(kernel, rows)))
    return INFINITY;
  for (size_t i = 0; i < rows->n; i++) {
    const double *x = ke_row(rows, i);
    double any = 0.0, own = 0.0;
    for (size_t k = 0; k < rows->d * KE_PANEL; k += KE_PANEL) {
      const double r = fabs(x[k]);
      least = x[k] < least ? x[k] : least;
      any += log(1.0 + r * r + 7.0 / 3.0 * r * r * r);
      own += log(1.0 + r * r + r * r * r / 3.0);
    }
    wide = any > wide ? any : wide;
    tight = own > tight ? own : tight;
  }
  const double exponent = least < 0.0 ? 2.0 * wide : tight;
  return exponent < 709.0 ? exp(exponent) : INFINITY;
}

/* ---- sums and products ------------------------------------------------------------------- */

static void combine_sum(double *value, const double *other, size_t n)
{
  for (size_t i = 0; i < n; i++)
    value[i] += other[i];
}

static void chain_sum(const double *value, double *slope, const double *other, const double *others,
                      size_t n)
{
  (void)value, (void)other;
  combine_sum(slope, others, n);
}

static void combine_product(double *value, const double *other, size_t n)
{
  for (size_t i = 0; i < n; i++)
    value[i] *= other[i];
}

static void chain_product(const double *value, double *slope, const double *other,
                          const double *others, size_t n)
{
  for (size_t i = 0; i < n; i++)
    slope[i] = slope[i] * other[i] + value[i] * others[i];
}

/* ---- the table --------------------------------------------------------------------------- */

static const ke_kernel_type types[] = {
    {.name = "linear", .slope = slope_linear, .bound = bound_linear, .cost = 2},
    {.name = "rbf",
     .finish = finish_rbf,
     .slope = slope_rbf,
     .proportion = proportion_rbf,
     .bound = bound_one,
     .cost = 2,
     .distance = 1,
     .multiplies = 1},
    {.name = "laplace",
     .finish = finish_laplace,
     .slope = slope_laplace,
     .bound = bound_one,
     .cost = 2,
     .distance = 1,
     .kinked = 1},
    {.name = "polynomial",
     .finish = finish_polynomial,
     .slope = slope_polynomial,
     .bound = bound_polynomial,
     .cost = 2},
    {.name = "sigmoid",
     .finish = finish_sigmoid,
     .slope = slope_sigmoid,
     .bound = bound_one,
     .cost = 2},
    {.name = "spline",
     .finish = finish_spline,
     .bound = bound_spline,
     .cost = 32,
     .multiplies = 1,
     .by_column = 1},
    {.name = "sum", .combine = combine_sum, .chain = chain_sum},
    {.name = "product", .combine = combine_product, .chain = chain_product, .multiplies = 1},
};

const ke_kernel_type *ke_kernel_named(const char *name)
{
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    if (strcmp(types[t].name, name) == 0)
      return &types[t];
  return NULL;
}
