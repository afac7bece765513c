/* sum_ij G_ij dk_ij / dv_e for every column e, v = w^2 the squared scale factors. With H the slope
 * of the kernel by the inner products or squared distances of a block of columns weighted by u and
 * P = G o H, a block adds
 *
 *   inner product   u_e^2 sum_ij P_ij x_ie x_je
 *   distance        u_e^2 sum_ij P_ij (x_ie - x_je)^2
 *
 * on unweighted x. Pairs of rows are taken once, P_ij + P_ji, in strips of STRIP rows; columns
 * whose scale factor is zero have no part in H. Threads share the columns, never a sum. Cost n^2 /
 * 2 (3 d flops + one value and slope of the columns that have a part) a block.
 */
#include "gradient.h"

#include "simd.h"
#include "threads.h"

#include <string.h>

#define STRIP 32 /* rows of P at a time, */
#define SPAN 96  /* and columns: they stay in the nearest cache */
#define GROUP 32 /* columns of x a thread takes at a time */

size_t ke_gradient_work(const ke_gradient *g)
{
  const size_t blocks = ke_kernel_blocks(&g->kernel);
  return STRIP * (blocks * (g->n + KE_PANEL + 1) + 1) + ke_slopes_work(&g->kernel, STRIP);
}

/* What rows i and j of G weigh together, in the triangle on and below the diagonal. */
static double pair_weight(const ke_gradient *g, size_t i, size_t j)
{
  const double *G = g->coefficients;
  return j < i ? G[i + j * g->n] + G[j + i * g->n] : j == i ? G[i + i * g->n] : 0.0;
}

/* P of rows i0 .. i0 + m and columns up to i0 + m, zeros below: column j of block q at
 * p + (j + q n) STRIP. */
static void fill_strip(const ke_gradient *g, size_t i0, size_t m, double *p)
{
  const size_t n = g->n, blocks = ke_kernel_blocks(&g->kernel), apart = KE_PANEL * STRIP;
  double *inner = p + blocks * n * STRIP, *slope = inner + blocks * apart;
  double *value = slope + blocks * STRIP, *work = value + STRIP;
  for (size_t j = 0; j < i0 + m; j++) {
    for (size_t q = 0; j % KE_PANEL == 0 && q < blocks; q++) {
      const ke_rows rows = ke_block(&g->rows, q);
      ke_inner(&rows, i0, m, &rows, j, ke_smaller(KE_PANEL, n - j), inner + q * apart, STRIP);
    }
    const ke_strip_column c = {
        &g->kernel, &g->rows, &g->rows, i0, m, j, inner + j % KE_PANEL * STRIP, apart, STRIP};
    ke_slopes(&c, value, slope, work);
    for (size_t q = 0; q < blocks; q++)
      for (size_t i = 0; i < STRIP; i++)
        p[i + (j + q * n) * STRIP] = i < m ? slope[i + q * STRIP] * pair_weight(g, i0 + i, j) : 0.0;
  }
}

/* P of one block, the rows it has, and whose columns it weighs. */
typedef struct {
  const ke_gradient *g;
  const double *p, *weights; /* weights of the block, or NULL */
  size_t i0, m;
  int distance;
  double *out;
} strip;

/* What four rows add to a sum: P_ij x_i x_j, or P_ij (x_i - x_j)^2: differences, however far off x
 * is. */
INLINE void add_four(v4 *sum, const double *p, const v4 *own, double x, int distance)
{
  const v4 gap = *own - x;
  *sum += LOAD(p) * (distance ? gap * gap : *own * x);
}

/* Their sum over rows own[0 .. STRIP), which stay in registers, and columns x[0 .. count); four
 * sums overlap. */
INLINE double form_of(const double *p, const double *own, const double *x, size_t count,
                      int distance)
{
  const v4 a = LOAD(own), b = LOAD(own + 4), c = LOAD(own + 8), d = LOAD(own + 12);
  const v4 e = LOAD(own + 16), f = LOAD(own + 20), g = LOAD(own + 24), h = LOAD(own + 28);
  v4 first = {0}, second = {0}, third = {0}, fourth = {0};
  for (size_t j = 0; j < count; j++, p += STRIP) {
    add_four(&first, p, &a, x[j], distance);
    add_four(&second, p + 4, &b, x[j], distance);
    add_four(&third, p + 8, &c, x[j], distance);
    add_four(&fourth, p + 12, &d, x[j], distance);
    add_four(&first, p + 16, &e, x[j], distance);
    add_four(&second, p + 20, &f, x[j], distance);
    add_four(&third, p + 24, &g, x[j], distance);
    add_four(&fourth, p + 28, &h, x[j], distance);
  }
  const v4 all = (first + second) + (third + fourth);
  return sum_v4(&all);
}

INLINE void strip_form_body(const double *p, const double *own, const double *x, size_t count,
                            int distance, double *out)
{
  *out += distance ? form_of(p, own, x, count, 1) : form_of(p, own, x, count, 0);
}

DEFINE_DISPATCHED(static, strip_form,
                  (const double *p, const double *own, const double *x, size_t count, int distance,
                   double *out),
                  (p, own, x, count, distance, out))

/* A group of columns against all of a strip, a span of it at a time. */
static void add_group(void *data, size_t item, size_t worker)
{
  const strip *s = (const strip *)data;
  const size_t n = s->g->n, e0 = item * GROUP, end = s->i0 + s->m;
  const size_t columns = ke_smaller(GROUP, s->g->d - e0);
  double own[GROUP * STRIP] = {0.0}, form[GROUP] = {0.0};
  (void)worker;
  for (size_t e = 0; e < columns; e++)
    memcpy(own + e * STRIP, s->g->x + (e0 + e) * n + s->i0, s->m * sizeof(double));
  for (size_t j = 0; j < end; j += SPAN)
    for (size_t e = 0; e < columns; e++)
      strip_form(s->p + j * STRIP, own + e * STRIP, s->g->x + (e0 + e) * n + j,
                 ke_smaller(SPAN, end - j), s->distance, &form[e]);
  for (size_t e = 0; e < columns; e++) {
    const double u = s->weights ? s->weights[e0 + e] : 1.0;
    s->out[e0 + e] += u * u * form[e];
  }
}

static void add_block(strip *s, const ke_env *env)
{
  const double flops = 3.0 * GROUP * STRIP * (double)(s->i0 + s->m);
  ke_share(env, (s->g->d + GROUP - 1) / GROUP, flops, add_group, s);
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
      strip s = {g,  g->work + q * n * STRIP, weights, i0, m, ke_block_is_distance(&g->kernel, q),
                 out};
      add_block(&s, env);
    }
  }
}
