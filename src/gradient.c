/* sum_ij G_ij dk_ij / dv_e for every column e, v = w^2 the squared scale factors. With H the slope
 * of the kernel by the inner products or squared distances of a block of columns weighted by u and
 * P = G o H, a block adds
 *
 *   inner product   u_e^2 sum_ij P_ij x_ie x_je
 *   distance        u_e^2 sum_ij P_ij (x_ie - x_je)^2
 *
 * in strips of STRIP rows, on unweighted x. Cost n^2 (4 d flops + one value and slope) a block.
 */
#include "gradient.h"

#include "simd.h"

#include <string.h>

#define STRIP 48

size_t ke_gradient_work(const ke_gradient *g)
{
  const size_t blocks = ke_kernel_blocks(&g->kernel);
  return STRIP * (blocks * (g->n + KE_PANEL + 1) + 1) + ke_slopes_work(&g->kernel, STRIP);
}

/* P of rows i0 .. i0 + m: column j of block q at p + (j + q n) STRIP. */
static void fill_strip(const ke_gradient *g, size_t i0, size_t m, double *p)
{
  const size_t n = g->n, blocks = ke_kernel_blocks(&g->kernel), apart = KE_PANEL * STRIP;
  double *inner = p + blocks * n * STRIP, *slope = inner + blocks * apart;
  double *value = slope + blocks * STRIP, *work = value + STRIP;
  for (size_t j = 0; j < n; j++) {
    for (size_t q = 0; j % KE_PANEL == 0 && q < blocks; q++) {
      const ke_rows rows = ke_block(&g->rows, q);
      ke_inner(&rows, i0, m, &rows, j, ke_smaller(KE_PANEL, n - j), inner + q * apart, STRIP);
    }
    const ke_strip_column c = {
        &g->kernel, &g->rows, &g->rows, i0, m, j, inner + j % KE_PANEL * STRIP, apart, STRIP};
    ke_slopes(&c, value, slope, work);
    for (size_t q = 0; q < blocks; q++)
      for (size_t i = 0; i < m; i++)
        p[i + (j + q * n) * STRIP] = slope[i + q * STRIP] * g->coefficients[i0 + i + j * n];
  }
}

/* P of one block, and the rows it has. */
typedef struct {
  const double *p;
  size_t n, i0, m;
  int distance;
} strip;

/* sum_ij P_ij x_i x_j of one column x, or P_ij (x_i - x_j)^2: differences, however far off x is. */
INLINE double form_of(const strip *s, const double *x, int distance)
{
  const double *own = x + s->i0;
  v4 even = SPLAT(0.0), odd = SPLAT(0.0);
  double rest = 0.0;
  for (size_t j = 0; j < s->n; j++) {
    const double *p = s->p + j * STRIP;
    size_t i = 0;
    for (; i + 8 <= s->m; i += 8) {
      const v4 a = LOAD(own + i), b = LOAD(own + i + 4), gap_a = a - x[j], gap_b = b - x[j];
      even += LOAD(p + i) * (distance ? gap_a * gap_a : a * x[j]);
      odd += LOAD(p + i + 4) * (distance ? gap_b * gap_b : b * x[j]);
    }
    for (; i < s->m; i++)
      rest += p[i] * (distance ? (own[i] - x[j]) * (own[i] - x[j]) : own[i] * x[j]);
  }
  const v4 both = even + odd;
  return sum_v4(&both) + rest;
}

INLINE void strip_form_body(const strip *s, const double *x, double *out)
{
  *out = s->distance ? form_of(s, x, 1) : form_of(s, x, 0);
}

DEFINE_DISPATCHED(static, strip_form, (const strip *s, const double *x, double *out), (s, x, out))

static void add_block(const ke_gradient *g, const strip *s, const double *weights, double *out,
                      const ke_env *env)
{
  const size_t columns = ke_batch(4.0 * (double)s->m * (double)s->n);
  for (size_t e = 0; e < g->d; e++) {
    double form;
    if (e % columns == 0)
      ke_check(env);
    strip_form(s, g->x + e * g->n, &form);
    out[e] += (weights ? weights[e] * weights[e] : 1.0) * form;
  }
}

void ke_scale_gradient(const ke_gradient *g, double *out, const ke_env *env)
{
  const size_t n = g->n;
  memset(out, 0, g->d * sizeof(double));
  for (size_t i0 = 0; i0 < n; i0 += STRIP) {
    const size_t m = ke_smaller(STRIP, n - i0);
    ke_check(env);
    fill_strip(g, i0, m, g->work);
    for (size_t q = 0; q < ke_kernel_blocks(&g->kernel); q++) {
      const strip s = {g->work + q * n * STRIP, n, i0, m, ke_block_is_distance(&g->kernel, q)};
      add_block(g, &s, g->kernel.blocks ? g->kernel.look[q].weights : NULL, out, env);
    }
  }
}
