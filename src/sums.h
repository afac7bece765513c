/* Sums over tiles of rows, the same bit for bit whoever adds them up (sums.c).
 *
 * Tiles 0, 1, 2, ... are the leaves of a binary tree: two neighbours of 2^k tiles each, the first
 * starting at a multiple of 2^(k+1), are added to one of 2^(k+1). Whoever holds a run of tiles adds
 * up what is complete within it and hands on the few nodes that remain; joined in order they
 * complete each other. So the order of additions depends on the number of tiles alone. */
#ifndef KERNELECT_SUMS_H
#define KERNELECT_SUMS_H

#include <stddef.h>

#define KE_RUNGS 96 /* nodes that a run of less than 2^46 tiles may leave, and one more */

typedef struct {
  size_t width; /* sums side by side */
  size_t count; /* nodes held, in order: */
  size_t start[KE_RUNGS], tiles[KE_RUNGS];
  double *value; /* lent, KE_RUNGS x width, a node after the other */
} ke_ladder;

ke_ladder ke_new_ladder(size_t width, double *value);

/* The next node: `tiles` tiles (a power of two) from `start` on. */
void ke_ladder_add(ke_ladder *l, size_t start, size_t tiles, const double *value);

/* What is held, added up: the sums of all once every tile is in. */
void ke_ladder_total(const ke_ladder *l, double *out);

/* Nodes in order, with their sums. */
typedef struct {
  const size_t *start; /* count + 1: the last is the end; NULL: single tiles */
  const double *value;
  size_t count;
} ke_nodes;

/* The node at which the running sum exceeds *target, which becomes what is left for it. Only nodes
 * of positive sum are found, where there is one. */
size_t ke_locate(const ke_nodes *nodes, double *target);

#endif
