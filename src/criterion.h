/* Criteria of a scaled kernel and their gradients (criterion.c, strips.c). */
#ifndef KERNELECT_CRITERION_H
#define KERNELECT_CRITERION_H

#include "kernel.h"

/* What a Gram matrix K is judged by, T = U U' being a target of low rank:
 * product <K,T>; alignment <K,T> / (constant |K|), constant = |T|; separability
 * (<K,T> - <K,1>/n) / (tr K - <K,T> + constant), T being 1/n_c within class c, else 0. */
typedef enum { KE_PRODUCT, KE_ALIGNMENT, KE_SEPARABILITY } ke_criterion_type;

/* Rows of a strip, which runs over the columns of one block; block is a multiple of it. */
#define KE_STRIP 48

typedef struct {
  ke_criterion_type type;
  ke_kernel kernel; /* one that has slopes */
  size_t n, d, rank, block;
  const double *x; /* n x d, not weighted; small offsets make exact gradients */
  const double *u; /* n x rank */
  double constant;
  size_t share, shares; /* which part of the pairs of rows is summed, of how many (0: all) */
  ke_rows target;       /* lent by ke_criterion_open() from here on: rows of U */
  ke_rows rows;         /* weighted rows, packed for the blocks of the kernel */
  double *across;       /* columns of x (and a column of ones) packed as rows, block by block */
  double *sums;         /* totals, rows and columns, then one slot a strip of a batch */
  double *buffer;       /* one a thread */
  double *forms;        /* of the last evaluation */
} ke_criterion;

/* Doubles that `work` must hold. */
size_t ke_criterion_work(const ke_criterion *c, const ke_env *env);

/* Lay out `work` and do what does not depend on the weights. */
void ke_criterion_open(ke_criterion *c, double *work, const ke_env *env);

/* What a criterion is made of, for the share of the pairs of rows: <K,T>, <K,F>, then the
 * derivatives of either (d each) by v. Sums of all shares are those of the whole. */
size_t ke_criterion_forms_size(const ke_criterion *c);
void ke_criterion_forms(ke_criterion *c, const double *w, double *forms, const ke_env *env);

/* The criterion and its gradient from those of the whole; the rows are packed with w. */
ke_status ke_criterion_finish(ke_criterion *c, const double *forms, double *value,
                              double *gradient);

/* Criterion of k(w o x, w o z) and its gradient (length d) by v = w^2, for weights w (length
 * d). KE_NOT_FINITE when the value is not a number. */
ke_status ke_criterion_evaluate(ke_criterion *c, const double *w, double *value, double *gradient,
                                const ke_env *env);

/* Pack the rows with scale factors w. */
void ke_criterion_weigh(ke_criterion *c, const double *w);

#endif
