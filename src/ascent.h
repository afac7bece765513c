/* Maximisation over scale factors (ascent.c). */
#ifndef KERNELECT_ASCENT_H
#define KERNELECT_ASCENT_H

#include "env.h"

/* Anything with a value and a gradient by v = w^2. */
typedef struct {
  size_t d;
  ke_status (*evaluate)(void *data, const double *w, double *value, double *gradient);
  void *data;
} ke_objective;

/* In: limits. Out: where the search ended, and its path from the start (element 0) on. */
typedef struct {
  size_t max_iter;
  double tol; /* stop at a relative change of the value below this */
  int kinked; /* the gradient may be blind at zero, as that of a laplace kernel */
  double value;
  double *gradient; /* d, by v */
  double *values;   /* max_iter + 1 */
  double *steps;    /* max_iter + 1: lengths of the moves of w */
  size_t iterations;
} ke_search;

#define KE_MEMORY 20

/* Doubles that `work` must hold for either. */
size_t ke_search_work(size_t d);

/* Both start from w (length d, >= 0) and leave the best point there. KE_NOT_CONVERGED: the
 * limit came first. KE_NOT_FINITE: the value at the start is not a number. */
ke_status ke_lbfgs(const ke_objective *f, ke_search *s, double *w, double *work);
ke_status ke_ascend(const ke_objective *f, ke_search *s, double *w, double *work);

#endif
