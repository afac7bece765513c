/* Kernel values from inner products or distances, on packed rows.
 *
 *   linear      <x,z>                      polynomial  (scale <x,z> + offset)^degree
 *   rbf         exp(-scale |x-z|^2)        sigmoid     tanh(scale <x,z> + offset)
 *   laplace     exp(-scale |x-z|)          spline      prod_d 1 + xz + xz m - (x+z)/2 m^2 + m^3/3,
 *                                                      m = min(x_d, z_d)
 *
 * Squared distances come as |x|^2 + |z|^2 - 2 <x,z>.
 */
#include "kernel.h"

#include "exp.h"
#include "exp_v4.h"

#include <math.h>
#include <string.h>

int ke_is_distance(const ke_kernel *kernel)
{
  return kernel->type == KE_RBF || kernel->type == KE_LAPLACE;
}

static double distance2_long_hand(const ke_column *c, size_t i)
{
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
  const size_t group = a->d <= KE_PARTIAL ? KE_PANEL : k;
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
