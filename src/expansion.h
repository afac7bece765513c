/* Fitted functions on kernel values against a few kept rows (expansion.c). */
#ifndef KERNELECT_EXPANSION_H
#define KERNELECT_EXPANSION_H

#include "source.h"

/* What is worked out for new rows x: kernel values k(v_j, x) against L kept rows, centred where
 * `centres` is not 0; then, one after the other and each unless NULL,
 *   factor  coordinates z = C^{-1} k, C lower triangular (L rows of L),
 *   dual    linear functions sum_j dual_j z_j + offset (k rows of L).
 * With `residual` the answer is k(x, x) - |z|^2 instead, at least 0. */
typedef struct {
  size_t L, centres;
  /* values from rows: those kept, the L first and then those whose mean is the centre; new rows are
   * scaled by `how` and packed like the kept ones */
  const ke_kernel *kernel;
  const ke_rows *kept;
  size_t d; /* columns of new rows */
  ke_transform how;
  /* or values of a source, new rows by kept ones; or values at hand; then kernel is NULL, and
   * k(x, x) is given where a residual is wanted */
  const ke_source *source;
  const double *given, *diagonal;
  /* centring takes mean_b k(b, x) + column_j off k(v_j, x), and twice the mean, less `constant`,
   * off k(x, x) */
  const double *column;
  double constant;
  const ke_rows *factor, *dual;
  const double *offset;
  int residual;
} ke_expansion;

/* Columns of the answer. */
size_t ke_expansion_width(const ke_expansion *e);

/* out (n x width) for rows x (n x d; NULL where values are given), tile by tile: the n x L matrix
 * is never held. KE_NOT_FINITE when a value overflows. work: ke_expansion_work() doubles.
 */
size_t ke_expansion_work(const ke_expansion *e, size_t n, const ke_env *env);
ke_status ke_expand(const ke_expansion *e, const double *x, size_t n, double *out, double *work,
                    const ke_env *env);

#endif
