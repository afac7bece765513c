/* An RBF kernel whose width follows its set of columns (flip.c). */
#ifndef KERNELECT_FLIP_H
#define KERNELECT_FLIP_H

#include "env.h"
#include "rows.h"

/* Rows and columns of a tile, at most. */
#define KE_FLIP_TILE 64

typedef struct {
  size_t n, d;
  const double *x;      /* n x d */
  ke_rows target;       /* rows of U, the target being T = U U' */
  const double *chosen; /* d: 1 for the columns of the set, else 0 */
  const double *gamma;  /* d: of the kernel on the set with that column flipped; 0: not wanted */
  ke_rows rows;         /* of the columns of the set, at least one (of zeros, where it is empty) */
  int rough;            /* in single precision (flip.c says how far off); only columns are added */
} ke_flip;

/* Doubles that `work` must hold. */
size_t ke_flip_work(void);

/* For every column wanted the set with that column added or, if it is a member, taken out: <K,T>
 * into kt and <K,K> into kk (d each; 0 for the others), K = exp(-gamma distance^2). */
void ke_flip_sums(const ke_flip *f, double *kt, double *kk, double *work, const ke_env *env);

#endif
