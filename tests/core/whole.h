/* Whole Gram matrices of rows, by the source that they are. */
#ifndef WHOLE_H
#define WHOLE_H

#include "kernelect.h"

#include <stdlib.h>

static inline void whole_gram(const ke_kernel *kernel, const ke_rows *rows, double *out,
                              const ke_env *env)
{
  double *state = (double *)malloc(ke_source_rows_state(rows) * sizeof(double));
  const ke_source s = ke_source_rows(kernel, rows, state);
  ke_gram(&s, out, env);
  free(state);
}

static inline void whole_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b,
                               double *out, const ke_env *env)
{
  double *state = (double *)malloc(ke_source_cross_state() * sizeof(double));
  const ke_source s = ke_source_cross(kernel, a, b, state);
  ke_gram(&s, out, env);
  free(state);
}

#endif
