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

/* sum_ij P_ij x_i x_j of one column x, or P_ij (x_i - x_j)^2. */
static double strip_form(const double *p, const double *x, size_t n, size_t i0, size_t m,
                         int distance)
{
  double sum = 0.0;
  for (size_t j = 0; j < n; j++) {
    double part = 0.0;
    for (size_t i = 0; i < m; i++) {
      const double gap = x[i0 + i] - x[j];
      part += p[i + j * STRIP] * (distance ? gap * gap : x[i0 + i] * x[j]);
    }
    sum += part;
  }
  return sum;
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
      const double *weights = g->kernel.blocks ? g->kernel.look[q].weights : NULL;
      const int distance = ke_block_is_distance(&g->kernel, q);
      ke_check(env);
      for (size_t e = 0; e < g->d; e++)
        out[e] += (weights ? weights[e] * weights[e] : 1.0) *
                  strip_form(g->work + q * n * STRIP, g->x + e * n, n, i0, m, distance);
    }
  }
}
