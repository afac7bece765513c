/* What a body proposes to pivot among, and which of its rows a draw falls on (propose.c). */
#ifndef KERNELECT_PROPOSE_H
#define KERNELECT_PROPOSE_H

#include "body.h"

/* What counts as nothing, and as equal. */
typedef struct {
  int normalised; /* keys are residual / explained, else residuals */
  double floor;   /* a weighted residual up to this is none */
  double slack;   /* keys as close as this are equal */
  double noise;   /* a weighted explained share up to this is none */
} ke_judge;

/* What a rule wants the largest of; 0: a row out of the game. */
double ke_key(const ke_judge *judge, double residual, double explained, double weight);

/* Keys from here up tie with the best. */
double ke_tie_with(const ke_judge *judge, double best);

typedef struct {
  ke_judge judge;
  int in_order;  /* the first rows of positive key from `from` on, else those of largest key */
  size_t most;   /* how many */
  size_t from;   /* a row number among all, */
  size_t forced; /* and one that must be proposed; `whole`: none */
} ke_wish;

/* Rows (numbers among all) and their keys. First those proposed, in row order: the `most` best
 * (ties to the lowest row), the forced one, and every row of larger key than all before it that
 * ties with the body's best, so that whatever the best of all bodies is, the lowest row in a tie
 * with it is here. Then the steps: of the rows that were not proposed, each of larger key than all
 * before it that ties with `outside`, their largest. */
typedef struct {
  size_t count, steps;
  size_t *row; /* lent, with `key`: n each */
  double *key;
  double outside;
} ke_proposal;

void ke_body_propose(const ke_body *body, const ke_wish *wish, ke_proposal *out);

/* Sums of keys, each as often as its row counts, tile by tile in body->sorted; and the row, by its
 * number among all, at which their running sum in `tiles` tiles from `start` on (both among all)
 * exceeds `target`. */
void ke_body_weigh(const ke_body *body, const ke_judge *judge, ke_ladder *out);
size_t ke_body_find(const ke_body *body, const ke_judge *judge, size_t start, size_t tiles,
                    double target);

/* Rows index[0..count), by their numbers among all: their rows of the factor's first `size` columns
 * into panel (leading dimension ld), residuals into left, what is explained into gained (0 where
 * not kept). */
void ke_body_rows(const ke_body *body, const size_t *index, size_t count, size_t size,
                  double *panel, size_t ld, double *left, double *gained);

#endif
