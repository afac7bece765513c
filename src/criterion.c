/* Criteria of a scaled kernel with their gradients, in one pass over half the tiles.
 *
 * With K = k(w o x_i, w o x_j), v = w^2, T = U U' a target of low rank and F = K
 * (alignment) or 1 (separability), every criterion is a function of <K,T>, <K,F> and tr K.
 * With H the slope of the kernel by the inner product or squared distance, the derivatives
 * by v_d need, for P = T o H and P = F o H,
 *
 *   inner product   sum_ij P_ij x_id x_jd         = x_d' P x_d
 *   distance        sum_ij P_ij (x_id - x_jd)^2   = 2 (sum_i r_i x_id^2 - x_d' P x_d),  r = P 1
 *
 * so a strip of K serves all columns by two products P X (strips.c): no derivative matrix exists
 * and nothing of size n^2 is held. Cost 3 n^2 d flops and n^2/2 kernel values; memory O(n d).
 * Ramona, Richard and David, eqs 3-10, 15-18, 22-24.
 */
#include "strips.h"

#include <math.h>
#include <string.h>

static double slope_factor(const ke_kernel *kernel)
{
  return ke_is_proportional(kernel) ? kernel->type->proportion(kernel) : 1.0;
}

static double squared_weight(const ke_criterion *c, size_t family, size_t d)
{
  const ke_kernel *k = &c->kernel;
  const double *w = k->blocks ? k->look[family % k->blocks].weights : NULL;
  return w ? w[d] * w[d] : 1.0;
}

/* ke_family_sums(family)[d] becomes what its block adds to the derivative by v_d of <K,T> or of
 * half <K,K>, <K,1>. */
static void finish_block(const ke_criterion *c, size_t family)
{
  double *square = ke_family_sums(c, family);
  const double *rows = square + c->d, factor = 2.0 * slope_factor(&c->kernel);
  for (size_t d = 0; d < c->d; d++) {
    if (ke_family_is_distance(c, family)) {
      const double *x = c->x + d * c->n;
      double sum = 0.0;
      for (size_t i = 0; i < c->n; i++)
        sum += rows[i] * x[i] * x[i];
      square[d] = sum - 2.0 * square[d];
    }
    square[d] *= factor * squared_weight(c, family, d);
  }
}

/* The derivatives of <K,T> (family 0) or of half <K,K>, <K,1> (1): those of its first block, to
 * which the others are added. */
static double *finish_family(const ke_criterion *c, size_t family)
{
  const size_t blocks = ke_kernel_blocks(&c->kernel), first = family * blocks;
  for (size_t q = 0; q < blocks; q++) {
    finish_block(c, first + q);
    for (size_t d = 0; q > 0 && d < c->d; d++)
      ke_family_sums(c, first)[d] += ke_family_sums(c, first + q)[d];
  }
  return ke_family_sums(c, first);
}

/* The slope of k(x_i, x_i) by each block's squared lengths, and that value. */
static double own_slopes(const ke_criterion *c, size_t i, double *slope)
{
  const size_t blocks = ke_kernel_blocks(&c->kernel), padded = ke_padded(c->n);
  double *inner = slope + blocks, *work = inner + blocks, value;
  for (size_t q = 0; q < blocks; q++)
    inner[q] = c->rows.norm[i + q * padded];
  const ke_strip_column column = {&c->kernel, &c->rows, &c->rows, i, 1, i, inner, 1, 1};
  ke_slopes(&column, &value, slope, work);
  return value;
}

/* tr K; its derivatives are added to gradient. Distances of a row to itself stay zero. */
static double trace(const ke_criterion *c, double *gradient)
{
  double sum = 0.0, *slope = c->buffer;
  for (size_t i = 0; i < c->n; i++) {
    sum += own_slopes(c, i, slope);
    for (size_t q = 0; q < ke_kernel_blocks(&c->kernel); q++) {
      if (ke_family_is_distance(c, q))
        continue;
      for (size_t d = 0; d < c->d; d++)
        gradient[d] += slope[q] * squared_weight(c, q, d) * c->x[i + d * c->n] * c->x[i + d * c->n];
    }
  }
  return sum;
}

static double finish_alignment(const ke_criterion *c, double *gradient)
{
  const double kt = 2.0 * c->sums[0], kk = 2.0 * c->sums[1], norm = c->constant * sqrt(kk);
  const double *by_t = finish_family(c, 0), *by_k = finish_family(c, 1);
  for (size_t d = 0; d < c->d; d++)
    gradient[d] = by_t[d] / norm - kt / norm * by_k[d] / kk;
  return kt / norm;
}

static double finish_separability(const ke_criterion *c, double *gradient)
{
  const double *by_t = finish_family(c, 0), *by_one = finish_family(c, 1), n = (double)c->n;
  memset(gradient, 0, c->d * sizeof(double));
  const double within = 2.0 * c->sums[0], all = 2.0 * c->sums[1];
  const double below = trace(c, gradient) - within + c->constant,
               value = (within - all / n) / below;
  for (size_t d = 0; d < c->d; d++)
    gradient[d] = (by_t[d] - by_one[d] / n - value * (gradient[d] - by_t[d])) / below;
  return value;
}

static double finish_product(const ke_criterion *c, double *gradient)
{
  memcpy(gradient, finish_family(c, 0), c->d * sizeof(double));
  return 2.0 * c->sums[0];
}

ke_status ke_criterion_evaluate(ke_criterion *c, const double *w, double *value, double *gradient,
                                const ke_env *env)
{
  ke_pack_for(&c->kernel, c->x, c->n, NULL, w, &c->rows);
  ke_strips_sum(c, env);
  switch (c->type) {
  case KE_ALIGNMENT: *value = finish_alignment(c, gradient); break;
  case KE_SEPARABILITY: *value = finish_separability(c, gradient); break;
  default: *value = finish_product(c, gradient);
  }
  return isfinite(*value) ? KE_OK : KE_NOT_FINITE;
}
