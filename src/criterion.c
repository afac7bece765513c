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

/* <K,T>, <K,F> and their derivatives, in the order of the forms. */
typedef struct {
  double kt, kf;
  const double *by_t, *by_f;
} parts;

static parts parts_of(const ke_criterion *c, const double *forms)
{
  const parts p = {forms[0], forms[1], forms + 2, forms + 2 + c->d};
  return p;
}

static double finish_alignment(const ke_criterion *c, parts p, double *gradient)
{
  const double norm = c->constant * sqrt(p.kf);
  for (size_t d = 0; d < c->d; d++)
    gradient[d] = p.by_t[d] / norm - p.kt / norm * p.by_f[d] / p.kf;
  return p.kt / norm;
}

static double finish_separability(const ke_criterion *c, parts p, double *gradient)
{
  const double n = (double)c->n;
  memset(gradient, 0, c->d * sizeof(double));
  const double below = trace(c, gradient) - p.kt + c->constant, value = (p.kt - p.kf / n) / below;
  for (size_t d = 0; d < c->d; d++)
    gradient[d] = (p.by_t[d] - p.by_f[d] / n - value * (gradient[d] - p.by_t[d])) / below;
  return value;
}

size_t ke_criterion_forms_size(const ke_criterion *c) { return 2 + 2 * c->d; }

void ke_criterion_weigh(ke_criterion *c, const double *w)
{
  ke_pack_for(&c->kernel, c->x, c->n, (ke_transform){.weights = w}, &c->rows, NULL);
}

void ke_criterion_forms(ke_criterion *c, const double *w, double *forms, const ke_env *env)
{
  ke_criterion_weigh(c, w);
  ke_strips_sum(c, env);
  memset(forms, 0, ke_criterion_forms_size(c) * sizeof(double));
  forms[0] = 2.0 * c->sums[0];
  memcpy(forms + 2, finish_family(c, 0), c->d * sizeof(double));
  if (c->type == KE_PRODUCT)
    return;
  forms[1] = 2.0 * c->sums[1];
  memcpy(forms + 2 + c->d, finish_family(c, 1), c->d * sizeof(double));
}

ke_status ke_criterion_finish(ke_criterion *c, const double *forms, double *value, double *gradient)
{
  const parts p = parts_of(c, forms);
  switch (c->type) {
  case KE_ALIGNMENT: *value = finish_alignment(c, p, gradient); break;
  case KE_SEPARABILITY: *value = finish_separability(c, p, gradient); break;
  default: memcpy(gradient, p.by_t, c->d * sizeof(double)); *value = p.kt;
  }
  return isfinite(*value) ? KE_OK : KE_NOT_FINITE;
}

ke_status ke_criterion_evaluate(ke_criterion *c, const double *w, double *value, double *gradient,
                                const ke_env *env)
{
  ke_criterion_forms(c, w, c->forms, env);
  return ke_criterion_finish(c, c->forms, value, gradient);
}
