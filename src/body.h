/* A body of rows (start.c, body.c; propose.h): what the engine keeps of some rows, and how they are
 * brought up to date.
 *
 * A body knows its own rows and what it is told of the picks: it may hold all rows or a part, in
 * memory, read again from a file, or on another machine. Parts begin at multiples of KE_TILE. */
#ifndef KERNELECT_BODY_H
#define KERNELECT_BODY_H

#include "source.h"
#include "sums.h"

#define KE_CHUNK 38400   /* most rows brought up to date at a time, a multiple of KE_TILE */
#define KE_NEGATIVE 1e-8 /* below minus this share of the largest diagonal: indefinite */

/* What is known of all rows after a pick. */
typedef struct {
  double pivot;  /* residual of the picked row before the pick */
  double trace;  /* sum of residuals, each as often as its row counts, */
  double scaled; /* of residual / diagonal over the rows that count, */
  double norm;   /* and of square roots of residuals */
  double best;   /* largest residual left, times its row's weight */
  double spread; /* largest multiple, squared, of the pick in another row; 0 if not asked for */
  double lowest; /* lowest residual before it was floored at zero */
} ke_pick;

enum { KE_TRACE, KE_SCALED, KE_NORM, KE_SUMS }; /* the sums among them */

/* Arrays are lent, n doubles each. */
typedef struct {
  const ke_source *source; /* its rows are the body's */
  size_t n;
  size_t first;        /* number of its first row among all, a multiple of KE_TILE */
  size_t whole;        /* how many rows there are in all */
  const double *times; /* how often each row counts in sums over rows, positive; NULL: once */
  double *diagonal;    /* at the start only */
  double *inverse;     /* times / diagonal; 0 for rows without length, which do not count */
  double *weight;      /* a residual times this is what the rank is judged by */
  double *residual;    /* diagonal - |row of the factor|^2, floored at zero */
  double *explained;   /* the latter, summed; for a normalised rule only, else NULL */
  double *keys;        /* work space of the start and of proposals, */
  double *sorted;      /* and more of it */
  double *factor;      /* n x capacity, leading dimension n */
  size_t capacity;
  double *work; /* ke_body_work(capacity, threads) */
} ke_body;

size_t ke_body_work(size_t capacity, int threads);

/* Tiles of a body. */
size_t ke_body_tiles(const ke_body *body);

/* How often row i of a body counts. */
static inline double ke_times(const ke_body *body, size_t i)
{
  return body->times ? body->times[i] : 1.0;
}

/* ---- start ---------------------------------------------------------------------------- */

typedef struct {
  double top, bottom; /* largest magnitude behind a diagonal entry, lowest entry (at most 0) */
  double counted;     /* rows that count: those that have a length, */
  double rows;        /* and all of them */
  ke_ladder trace;    /* their diagonal; width 1 */
} ke_beginning;

/* Diagonal, weights and residuals. KE_NOT_FINITE where the diagonal is not. */
ke_status ke_body_start(ke_body *body, int normalised, ke_beginning *out);

/* sum_j k_ij^2 / k_jj over `slice` of the body's rows j in each tile (KE_TILE: all) for each of the
 * `count` rows i in set KE_PICKS, into a ladder of width `count`; the sum of its tiles' squares
 * into `squares`, unless that is NULL. work: ke_fitness_work(threads) doubles. */
size_t ke_fitness_work(int threads);
void ke_body_fitness(const ke_body *body, size_t count, size_t slice, ke_ladder *out,
                     double *squares, double *work, const ke_env *env);

/* ---- update ------------------------------------------------------------------------------- */

/* A round of picks, which all rows are told of. Set KE_PICKS of the source holds them. */
typedef struct {
  size_t size, picks;  /* columns of the factor before, and new ones */
  const size_t *index; /* picks: their numbers among all rows */
  const double *panel; /* size + picks columns, leading dimension ld: rows of the factor, */
  size_t ld;
  const size_t *chosen; /* picks: which of them belong to the picks */
  int spreads;          /* whether `spread` is asked for */
} ke_round;

/* What an update tells of all rows of a body, pick by pick. */
typedef struct {
  ke_ladder sums;   /* width KE_SUMS * picks */
  ke_pick *extreme; /* lent, picks: best, lowest and (not divided by the pivot) spread */
} ke_totals;

ke_totals ke_new_totals(size_t picks, double *sums, ke_pick *extreme);

/* Those of one tile or body; the other way round, the totals of all rows beside the pivots. */
void ke_add_extreme(ke_pick *extreme, const ke_pick *other);
void ke_totals_to_path(const ke_totals *totals, size_t picks, ke_pick *path);

/* Without `totals` only the factor is made, again: residuals are up to date. */
void ke_body_update(ke_body *body, const ke_round *round, ke_totals *totals, const ke_env *env);

#endif
