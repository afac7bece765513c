/* Coordinate descent on the dual of a support vector machine whose kernel matrix is
 * Z' diag(scale) Z (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008): with v = scale Z b at
 * hand a row's gradient is one inner product, and its step one addition, O(d) each; a pass over n
 * rows costs n d and needs no matrix of n x n. */
#include "descent.h"

#include "simd.h"

#include <math.h>

INLINE void inner_body(const double *a, const double *b, size_t n, double *out)
{
  v4 x = {0}, y = {0};
  double rest = 0.0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    x += LOAD(a + i) * LOAD(b + i);
    y += LOAD(a + i + 4) * LOAD(b + i + 4);
  }
  for (; i < n; i++)
    rest += a[i] * b[i];
  x += y;
  *out = sum_v4(&x) + rest;
}

DEFINE_DISPATCHED(static, inner, (const double *a, const double *b, size_t n, double *out),
                  (a, b, n, out))

/* v += by scale a */
INLINE void add_scaled_body(double by, const double *scale, const double *a, double *v, size_t n)
{
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    STORE(v + i, LOAD(v + i) + SPLAT(by) * LOAD(scale + i) * LOAD(a + i));
  for (; i < n; i++)
    v[i] += by * scale[i] * a[i];
}

DEFINE_DISPATCHED(static, add_scaled,
                  (double by, const double *scale, const double *a, double *v, size_t n),
                  (by, scale, a, v, n))

static double violation_of(const ke_descent *p, size_t j, double b, double slope)
{
  if ((slope > 0.0 && b >= p->upper[j]) || (slope < 0.0 && b <= p->lower[j]))
    return 0.0;
  return fabs(slope);
}

double ke_descend(const ke_descent *p, const int *order, size_t count, double *b, double *v,
                  double *sum, double *slope, const ke_env *env)
{
  const size_t between = ke_batch(4.0 * (double)p->d);
  double worst = 0.0;
  for (size_t i = 0; i < count; i++) {
    const size_t j = (size_t)order[i];
    const double *z = p->z + j * p->d;
    double seen;
    inner(z, v, p->d, &seen);
    slope[j] = p->linear[j] - p->level - p->spread * *sum - seen;
    worst = fmax(worst, violation_of(p, j, b[j], slope[j]));
    const double moved = b[j] + slope[j] / (p->diagonal[j] + p->spread);
    const double by = fmin(fmax(moved, p->lower[j]), p->upper[j]) - b[j];
    if (by != 0.0) {
      add_scaled(by, p->scale, z, v, p->d);
      b[j] += by;
      *sum += by;
    }
    if ((i + 1) % between == 0)
      ke_check(env);
  }
  return worst;
}
