/* The dual program of a matrix that is never held (working.c). */
#ifndef KERNELECT_WORKING_H
#define KERNELECT_WORKING_H

#include "dual.h"
#include "source.h"

/* K = sum over `terms` sources of weight[t] times source[t], plus `noise` on the diagonal; the
 * other fields of `problem` as for ke_dual_solve() (its k is not read). */
typedef struct {
  ke_dual problem;
  const ke_source *source;
  const double *weight;
  size_t terms;
  double noise;
} ke_working;

/* Stop: duality gap <= tol * scale, or `max_iter` working sets. `size`: variables of a working set,
 * at least 16 or n. `columns`: how many columns are kept, at least `size`. */
typedef struct {
  double tol;
  size_t max_iter, size, columns;
  double *doubles; /* ke_working_doubles() */
  size_t *indices; /* ke_working_indices() */
} ke_working_control;

size_t ke_working_doubles(size_t n, const ke_working_control *control);
size_t ke_working_indices(size_t n, const ke_working_control *control);

/* As ke_dual_solve(); `iterations` counts pairs and `faces` working sets. */
ke_status ke_working_solve(const ke_working *p, const ke_working_control *control, double *b,
                           double *gradient, ke_dual_result *result, const ke_env *env);

#endif
