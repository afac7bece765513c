/* Exact leave-one-out of least squares on a basis: what nested.c (every size) and ridges.c (every
 * ridge) share (loo.c). */
#ifndef KERNELECT_LOO_H
#define KERNELECT_LOO_H

#include "regress.h"

#include <math.h>

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
  double *turned;         /* n x size, or NULL: out, rows of Q turned (ridges.c); may be g->z */
  int known;              /* whether they are already there */
  double *work;           /* ke_nested_work() or ke_ridge_work() doubles */
} ke_loo;

/* ---- blocks of rows, for the two ---- */

#define KE_LOO_ROWS 96 /* rows at a time: whole blocks of inner products */

/* m rows from i0 on: e residuals, v left-out residuals, left = 1 - leverage. */
typedef struct {
  size_t i0, m;
  double *e, *v, *left; /* m x k, m x k, m */
  double *loss, *error; /* its own share, of every size or ridge */
} ke_loo_block;

/* Blocks from `first` on. Each leaves its share of the scores in a slot, and slots are added in
 * order: so nothing depends on the threads. */
typedef struct {
  const ke_loo *o;
  size_t first, count; /* the first row; scores of a kind */
  double *slots, *own; /* ke_loo_slots(); `each` doubles of work a worker */
  size_t each;
} ke_loo_crew;

/* Doubles for `count` scores of either kind of so many blocks that threads share at a time. */
size_t ke_loo_slots(size_t blocks, size_t count);

/* Doubles of a worker that e, v and left of a block take. */
static inline size_t ke_loo_own(size_t k) { return KE_LOO_ROWS * (2 * k + 1); }

static inline double ke_loo_weight(const ke_regression *g, size_t i)
{
  return g->weight ? g->weight[i] : 1.0;
}

/* The weight that is left out. */
static inline double ke_loo_unit(const ke_regression *g, size_t i)
{
  return fmin(1.0, ke_loo_weight(g, i));
}

/* Block `item`, its scores zero, and the work of its worker behind what the block itself needs. */
ke_loo_block ke_loo_take(const ke_loo_crew *c, size_t item, size_t worker, double **after);

/* e and left of the fit of the means alone. */
void ke_loo_start(const ke_regression *g, const ke_loo_block *s);

/* v = e / left */
void ke_loo_divide(const ke_regression *g, const ke_loo_block *s);

/* Scores of v into the slot, as those of size or ridge `at`. */
void ke_loo_add_scores(const ke_loo *o, const ke_loo_block *s, size_t at);

/* e, v and left out, as those of ridge `at`, of 0 where only one is kept. */
void ke_loo_keep_rows(const ke_loo *o, const ke_loo_block *s, size_t at);

/* Sums of `count` scores of a kind: none yet; those of so many blocks; means, once all are in. */
void ke_loo_clear_scores(const ke_loo *o, size_t count);
void ke_loo_add_slots(const ke_loo_crew *c, size_t blocks);
void ke_loo_mean_scores(const ke_loo *o, size_t count);

#endif
