/* Directions that discriminate, by votes (votes.c). */
#ifndef KERNELECT_VOTES_H
#define KERNELECT_VOTES_H

#include "env.h"

/* Votes of d one-direction learners on n rows as bit sets: bit j of set (i, k) says that
 * learner i puts row j into class k. */
typedef struct {
  size_t n, d, classes, words; /* words = ke_words(n) */
  const int *label;            /* n: true classes, 0 ... classes - 1 */
  uint64_t *bits;              /* d x classes x words */
} ke_votes;

size_t ke_words(size_t n);

/* Fill the votes from coordinates z (n x d) by least squares. work: 2 classes doubles. */
void ke_weak_votes(const double *z, ke_votes *v, double *work, const ke_env *env);

/* Forward selection, the paper's literal rule, or the errors along a given order. */
typedef enum { KE_FORWARD, KE_PRINTED, KE_GIVEN } ke_selection;

typedef struct {
  const ke_votes *votes;
  ke_selection how;
  /* lent */
  int *count;             /* n x classes: votes of the ensemble */
  uint64_t *half, *whole; /* classes x words each */
  double *weight;         /* n, for KE_PRINTED only */
  unsigned char *used;    /* d */
  /* results: the direction added in each of d rounds (KE_GIVEN: an input), and the error
   * of the ensemble after it */
  size_t *order; /* d */
  double *error; /* d */
} ke_ensemble;

void ke_kffs(ke_ensemble *e, const ke_env *env);

#endif
