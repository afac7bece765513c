/* The dual solver (dual.c, pairs.c, face.c). */
#ifndef KERNELECT_DUAL_H
#define KERNELECT_DUAL_H

#include "env.h"

/* Minimise 1/2 b'Kb - linear'b over lower <= b <= upper with sum(b) = total; K symmetric and
 * positive semi-definite. Bounds may be infinite. With g in {-1, 1}:
 *   support vector machine  linear = g, bounds [0, C] where g = 1 and [-C, 0] where g = -1,
 *                           total 0; b = g * lambda; hard margin is C = Inf
 *   enclosing sphere        linear = diag(K) / 2, bounds [0, 1], total 1; the squared radius
 *                           is -2 times the value
 * K is n x n, leading dimension ldk; working.h solves without holding it. */
typedef struct {
  size_t n;
  const double *k;
  size_t ldk;
  const double *linear, *lower, *upper; /* n each */
  double total;
} ke_dual;

/* Stop: duality gap <= tol * scale (plus what rounding of K b hides), seen on a freshly computed
 * gradient; or 1e-8 * scale where rounding allows no further step; or once the gap has fallen to
 * `share` of that of the start (0: never). `face`: the largest rank of K on the free variables at
 * which they still move together; 0: pairs only. */
typedef struct {
  double tol, share;
  size_t max_iter;
  size_t face;
  double *doubles; /* ke_dual_doubles() */
  size_t *indices; /* ke_dual_indices() */
} ke_dual_control;

typedef struct {
  double value;      /* of the minimised function */
  double gap;        /* proven distance from the optimum; may be Inf */
  double scale;      /* what the gap is measured by: sum |linear b| + 1/2 b'Kb */
  double violation;  /* of the optimality conditions: largest rise minus smallest fall */
  double intercept;  /* multiplier of the sum: mean gradient of the free variables, |b| weighted */
  double middle;     /* between the largest rise and the smallest fall */
  size_t iterations; /* pair steps */
  size_t faces;      /* face steps */
} ke_dual_result;

size_t ke_dual_doubles(size_t n, size_t face);
size_t ke_dual_indices(size_t n);

/* `b` (n): the start in (made feasible first, any values; zeros are a cold start), the solution
 * out. `gradient` (n): linear - K b out. KE_OK: solved; KE_INFEASIBLE: unbounded (a hard margin
 * that cannot be had) or no b in the bounds has that sum; KE_NOT_CONVERGED: max_iter reached or
 * rounding allows no further step, best b returned; KE_NOT_FINITE: K or linear is not finite. */
ke_status ke_dual_solve(const ke_dual *problem, const ke_dual_control *control, double *b,
                        double *gradient, ke_dual_result *result, const ke_env *env);

#endif
