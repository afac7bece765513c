/* A body of rows (body.c): what the engine keeps of every row, and how it is brought up to date.
 *
 * The head of the engine (basis.h) sees of all rows only what it asks for here, so a body may
 * hold a part of the rows, and live elsewhere. */
#ifndef KERNELECT_BODY_H
#define KERNELECT_BODY_H

#include "source.h"

#define KE_CHUNK 4800    /* rows brought up to date at a time, a multiple of KE_TILE */
#define KE_NEGATIVE 1e-8 /* below minus this share of the largest diagonal: indefinite */

/* What is known of all rows after a pick. */
typedef struct {
  double pivot;  /* residual of the picked row before the pick */
  double trace;  /* sum of residuals */
  double scaled; /* sum of residual / diagonal over the rows that count */
  double norm;   /* sum of square roots of residuals */
  double best;   /* largest residual left, times its row's weight */
  double spread; /* largest multiple, squared, of the pick in another row; 0 if not asked for */
  double lowest; /* lowest residual before it was floored at zero */
} ke_pick;

/* Arrays are lent, n doubles each. */
typedef struct {
  const ke_source *source;
  size_t n;
  double *diagonal;
  double *inverse;   /* 1 / diagonal; 0 for rows without length, which do not count */
  double *weight;    /* a residual times this is what the rank is judged by */
  double *residual;  /* diagonal - |row of the factor|^2, floored at zero */
  double *explained; /* the latter, summed; for a normalised rule only, else NULL */
  double *factor;    /* n x capacity, leading dimension n */
  size_t capacity;
  double *work; /* ke_body_work(capacity, threads) */
} ke_body;

size_t ke_body_work(size_t capacity, int threads);

/* What is known of all rows at the start. */
typedef struct {
  double top;     /* largest magnitude behind a diagonal entry */
  double trace;   /* sum of the diagonal over the rows that count */
  double counted; /* their number */
} ke_start;

/* Diagonal, weights and residuals. work: n doubles. KE_NOT_FINITE, or KE_INDEFINITE where the
 * diagonal is clearly negative. */
ke_status ke_body_start(ke_body *body, int normalised, double *work, ke_start *start);

/* Rows index[0..count): their rows of the factor's first `size` columns into panel (leading
 * dimension ld), residuals into left, and what is explained into gained (0 where not kept). */
void ke_body_rows(const ke_body *body, const size_t *index, size_t count, size_t size,
                  double *panel, size_t ld, double *left, double *gained);

/* A round of picks, which all rows are told of. */
typedef struct {
  size_t size, picks;  /* columns of the factor before, and new ones */
  const size_t *index; /* picks: their row numbers */
  const double *panel; /* size + picks columns, leading dimension ld: rows of the factor, */
  size_t ld;
  const size_t *chosen; /* picks: which of them belong to the picks */
  int spreads;          /* whether `spread` is asked for */
  ke_pick *path;        /* picks: pivots in, totals out */
} ke_round;

void ke_body_update(ke_body *body, const ke_round *round, const ke_env *env);

/* Rows of a chunk between two looks at an interrupt, for so many columns on top of `size`. */
size_t ke_chunk_rows(const ke_body *body, size_t size, size_t columns);

#endif
