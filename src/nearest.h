/* Nearest rows, and errors of nearest-neighbour classification (nearest.c). */
#ifndef KERNELECT_NEAREST_H
#define KERNELECT_NEAREST_H

#include "gram.h"

/* Nearest rows of each class: entry i + k queries->n is that of query i in class k; a row number
 * of rows->n means that there is none. Distances within `rounding` of the least one (distances,
 * not their squares) are equal: the lowest row wins. */
typedef struct {
  const ke_rows *queries, *rows;
  const int *label; /* class of every row, from 0; NULL: all are of class 0 */
  size_t classes;
  int self; /* query i is row i, which does not count as its own neighbour */
  double rounding;
  double *distance;    /* lent: queries->n x classes; squared, the least one */
  double *limit;       /* the same */
  size_t *nearest;     /* the same */
  unsigned char *tied; /* the same */
} ke_nearest;

/* work: threads x KE_TILE x KE_TILE doubles. */
void ke_find_nearest(ke_nearest *p, double *work, const ke_env *env);

#define KE_QUERIES 16 /* rows left out that are taken together */

/* Nearest-neighbour classification in the first 1, 2, ..., d coordinates, leaving one out. */
typedef struct {
  size_t n, d;
  const double *rows;     /* n x d, sorted by class */
  const int *label;       /* n, from 0 */
  const size_t *start;    /* classes + 1: first row of each class, and n */
  const size_t *number;   /* n: row numbers before sorting, by which ties of votes are broken */
  const double *rounding; /* d: distances in so many coordinates that are this close are equal */
} ke_nested;

/* errors[t]: rows misclassified by the others with t + 1 coordinates. distance: KE_QUERIES x n
 * lent. */
void ke_nested_errors(const ke_nested *p, double *distance, size_t *errors, const ke_env *env);

#endif
