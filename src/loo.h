/* Exact leave-one-out of least squares on a basis (loo.c). */
#ifndef KERNELECT_LOO_H
#define KERNELECT_LOO_H

#include "bidiagonal.h"

/* Rows at a time. */
#define KE_LOO_ROWS 128

/* What is known of every row: with the last size asked for, or with each ridge in turn. Left out is
 * one unit of the row's weight, or all of it if that is less. */
typedef struct {
  double *residual; /* n x k */
  double *left_out; /* n x k: response less the prediction of the fit without the row */
  double *left;     /* n: one less the leverage of what is left out */
} ke_loo_rows;

typedef struct {
  const ke_regression *g; /* after ke_regress(); here g->z is Q */
  size_t size;            /* the first `size` columns are used */
  const int *label;       /* n: class 0 ... k - 1, y being the indicators; or NULL */
  double *loss;           /* out: mean squared error (over responses; summed over classes) */
  double *error;          /* out: the same, or share of wrong classes */
  ke_loo_rows rows;       /* out, where residual is not NULL */
  double *work;           /* ke_nested_work() or ke_ridge_work() doubles */
} ke_loo;

/* ---- every size, at the ridge of g ---- */

/* Whether a row has leverage 1 (to 1e-10) with all `size` columns. */
int ke_leverage_one(const ke_loo *s);

/* What the limit of a vanishing ridge needs, t (size x size): see loo.c. */
void ke_nested_inverse(const ke_regression *g, size_t size, double *t, const ke_env *env);

/* loss and error: one for each of 1 ... size columns. `inverse` from ke_nested_inverse(), or NULL
 * when no row has leverage 1. */
size_t ke_nested_work(size_t size, size_t k, int threads);
void ke_nested_loo(const ke_loo *s, const double *inverse, const ke_env *env);

/* ---- every ridge, at one size; g has ridge 0 ---- */

/* loss and error: one for each of `count` positive ridges. */
size_t ke_ridge_work(size_t size, size_t k, size_t count, int threads);
void ke_ridge_loo(const ke_loo *s, const ke_bidiagonal *b, const double *ridge, size_t count,
                  const ke_env *env);

#endif
