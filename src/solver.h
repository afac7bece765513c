/* What the parts of the dual solver share: dual.c (pairs, optimality) and face.c. */
#ifndef KERNELECT_SOLVER_H
#define KERNELECT_SOLVER_H

#include "dual.h"

#define NOWHERE ((size_t)-1)

typedef struct {
  const ke_dual *p;
  const ke_env *env;
  double *b, *g;
  double *rise; /* 0 where b may grow, else -Inf */
  double *fall; /* 0 where b may shrink, else Inf */
  double *diagonal;
  double top; /* largest diagonal entry */
  /* cache of columns */
  size_t columns, clock;
  double *store;
  size_t *slot, *owner, *stamp; /* n, columns, columns */
  /* faces: free[0..rank) are independent, free[rank..m) depend on them, `pin` carries the sum */
  size_t face, m, rank, pin;
  double *l, *d, *residual, *pinned; /* n x face, n, n, n */
  size_t *free;                      /* n */
  double credit;                     /* work done in pairs and not yet matched by faces */
  size_t batch;                      /* pairs between faces */
} ke_solver;

typedef enum { KE_MOVED, KE_STUCK, KE_UNBOUNDED } ke_outcome;

/* Column j of K; the last two asked for stay valid. */
const double *ke_dual_column(ke_solver *s, size_t j);

/* b_i = value, and whether it may still grow or shrink. */
void ke_dual_put(ke_solver *s, size_t i, double value);

/* Lists the free variables; the one farthest from its bounds becomes the pin. */
void ke_face_list(ke_solver *s);

/* Work of one face, in flops. */
double ke_face_cost(const ke_solver *s);

/* Faces, once the pairs have earned the first, until one is not cut short by a bound. */
ke_outcome ke_face_run(ke_solver *s, size_t *done, double *spent);

#endif
