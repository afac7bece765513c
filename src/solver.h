/* What the parts of the dual solver share: dual.c (start, optimality), pairs.c, face.c and
 * working.c. */
#ifndef KERNELECT_SOLVER_H
#define KERNELECT_SOLVER_H

#include "dual.h"

#define NOWHERE ((size_t)-1)

/* Relative gap that counts as solved where rounding allows no further step; what is farther off
 * says that it did not converge. Rounding itself leaves some 1e-15 of the scale times the
 * conditioning. */
#define KE_ROUNDED 1e-8

typedef struct {
  const ke_dual *p;
  const ke_env *env;
  double *b, *g;
  double *rise; /* 0 where b may grow, else -Inf */
  double *fall; /* 0 where b may shrink, else Inf */
  double *diagonal;
  double top; /* largest diagonal entry */
  /* faces: free[0..rank) are independent, free[rank..m) depend on them, `pin` carries the sum */
  size_t face, m, rank, pin;
  double *l, *d, *residual, *pinned; /* n x face, n, n, n */
  size_t *free;                      /* n */
  double credit;                     /* work done in pairs and not yet matched by faces */
  size_t batch;                      /* pairs between faces */
} ke_solver;

typedef enum { KE_MOVED, KE_STUCK, KE_UNBOUNDED } ke_outcome;

/* Column j of K. */
static inline const double *ke_dual_column(const ke_solver *s, size_t j)
{
  return s->p->k + j * s->p->ldk;
}

/* Puts b into its bounds and then, from the first variable on, corrects the sum; 0 if none has it.
 */
int ke_dual_make_feasible(ke_solver *s);

/* Fills the result; the status is KE_OK, KE_NOT_CONVERGED or KE_NOT_FINITE. */
ke_status ke_dual_judge(const ke_solver *s, double tol, ke_dual_result *result);

/* b_i = value, and whether it may still grow or shrink. */
void ke_dual_put(ke_solver *s, size_t i, double value);

/* Pairs between two looks at the gap: few enough for an interrupt to be answered at once. */
size_t ke_pair_batch(const ke_solver *s);

/* Work of one pair, in flops: it reads two columns and four vectors. */
double ke_pair_cost(const ke_solver *s);

/* A batch of pairs, the steps made counted in `done`. */
ke_outcome ke_pair_run(ke_solver *s, size_t *done);

/* Lists the free variables; the one farthest from its bounds becomes the pin. */
void ke_face_list(ke_solver *s);

/* Work of one face, in flops. */
double ke_face_cost(const ke_solver *s);

/* Faces, once the pairs have earned the first, until one is not cut short by a bound. */
ke_outcome ke_face_run(ke_solver *s, size_t *done, double *spent);

#endif
