/* The messages between the head of the engine and the bodies of rows (bodies.c).
 *
 * All that the head (basis.h) learns of the rows comes through these operations on a state of its
 * own, so that one body in memory, a file read in parts and a cluster look alike. */
#ifndef KERNELECT_BODIES_H
#define KERNELECT_BODIES_H

#include "propose.h"

/* What is known of all rows at the start. */
typedef struct {
  double top;     /* largest magnitude behind a diagonal entry */
  double trace;   /* sum of the diagonal over the rows that count */
  double counted; /* their number, */
  double rows;    /* and that of all rows; each as often as it counts */
  double cost;    /* of the source, as the two that follow */
  int cancels, centred;
} ke_start;

/* The rows that a round pivots among. Lent: at least KE_BLOCK and `most` each. */
typedef struct {
  size_t most;    /* at most KE_CANDIDATES_MAX; for random at least min(n, KE_PROPOSALS) */
  size_t count;   /* this round */
  size_t *row;    /* row numbers */
  double *left;   /* residuals */
  double *gained; /* what is explained */
  double *weight; /* as in ke_body */
  double *panel;  /* most x capacity: rows of the factor */
  size_t *chosen; /* KE_BLOCK: candidate numbers of this round's picks, */
  size_t picks;   /* how many */
} ke_pool;

typedef struct {
  /* KE_NOT_FINITE, or KE_INDEFINITE where the diagonal is clearly negative */
  ke_status (*start)(void *self, int normalised, ke_start *out, const ke_env *env);
  /* fitness[j] = sum_i k_ij^2 / (k_ii k_jj) over all rows i, as often as they count, for
   * rows[0..count) or all (NULL); 0 may stand for what is less than the best */
  void (*first)(void *self, const size_t *rows, size_t count, double *fitness, double *work,
                const ke_env *env);
  void (*propose)(void *self, const ke_wish *wish, ke_proposal *out, const ke_env *env);
  /* the sum of all keys; then the rows at which the running sum exceeds each target */
  double (*weigh)(void *self, const ke_judge *judge, const ke_env *env);
  void (*find)(void *self, const ke_judge *judge, const double *target, size_t count, size_t *row,
               const ke_env *env);
  /* fill left, gained, weight and `size` columns of the panel for the candidates in pool->row */
  void (*rows)(void *self, size_t size, ke_pool *pool, const ke_env *env);
  /* kernel values of the candidates with number c among them */
  void (*column)(void *self, const ke_pool *pool, size_t c, double *out);
  /* bring all rows up to date; path: the round's picks, pivots in, totals out, `spread` not yet
   * divided by the pivot */
  void (*update)(void *self, const ke_round *round, ke_pick *path, const ke_env *env);
} ke_messages;

typedef struct {
  const ke_messages *does;
  void *self;
  size_t n; /* rows in all */
} ke_bodies;

/* One body that holds all rows. `self` lives as long as the engine. */
typedef struct {
  ke_body body;
  double *sums;     /* lent, KE_RUNGS * KE_SUMS * KE_BLOCK */
  ke_pick *extreme; /* lent, KE_BLOCK */
} ke_one_body;

ke_bodies ke_bodies_one(ke_one_body *one);

#endif
