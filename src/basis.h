/* The basis engine (basis.c, update.c, rules.c). */
#ifndef KERNELECT_BASIS_H
#define KERNELECT_BASIS_H

#include "source.h"

#define KE_SLACK 16      /* keys within the rounding of this many units are equal too */
#define KE_MAGNIFIED 8   /* units of rounding, magnified, below which a residual is noise */
#define KE_NEGATIVE 1e-8 /* below minus this share of the largest diagonal: indefinite */
#define KE_BLOCK 128     /* most picks between two updates of all rows */
#define KE_CANDIDATES_MAX 256
#define KE_PROPOSALS 64 /* rows that random pivoting draws at a time */
#define KE_CHUNK 4800   /* rows brought up to date at a time, a multiple of KE_TILE */

typedef enum { KE_FVS, KE_CHOLESKY, KE_KOBL, KE_KGS, KE_RANDOM } ke_method;
typedef enum { KE_GOES_ON, KE_STOP_RANK, KE_STOP_TOL, KE_STOP_THRESHOLD, KE_STOP_SIZE } ke_stop;

/* What is known of all rows after a pick. */
typedef struct {
  double pivot;  /* residual of the picked row before the pick */
  double trace;  /* sum of residuals */
  double scaled; /* sum of residual / diagonal over the rows that count */
  double norm;   /* sum of square roots of residuals */
  double best;   /* largest residual left (normalised rule: residual / diagonal) */
  double spread; /* largest multiple, squared, of the pick in another row (centred, normalised) */
  double lowest; /* lowest residual before it was floored at zero */
} ke_pick;

typedef struct ke_basis ke_basis;

/* A pivot rule proposes candidates and picks among them until it wants all rows brought up
 * to date; it also says when the path is long enough. */
typedef struct {
  void (*propose)(ke_basis *b, const ke_env *env);
  int (*next)(ke_basis *b, const ke_env *env, size_t *c); /* 0: no further pick this round */
  int (*enough)(const ke_basis *b, const ke_pick *pick);
  int normalised; /* judges residual / diagonal */
  int unpivoted;  /* takes small pivots first: must know how far they magnify rounding */
  int has_threshold;
} ke_rule;

const ke_rule *ke_rule_of(ke_method method);

struct ke_basis {
  ke_source *source;
  const ke_rule *rule;
  size_t n, limit, most; /* rows, largest size, most candidates (random: >= min(n, KE_PROPOSALS)) */
  double tol;
  const double *threshold; /* limit + 1, or NULL */
  size_t forced;           /* first pick, or n when free */
  /* lent: n each */
  double *diagonal, *inverse, *weight, *residual, *keys, *sorted;
  double *explained; /* n, for a normalised rule only, else NULL: diagonal - residual, summed */
  /* lent: n x capacity; capacity at least min(limit, size + KE_BLOCK) or KE_FULL is returned */
  double *factor;
  size_t capacity;
  /* lent: limit each */
  size_t *index;
  ke_pick *path;
  /* lent: most (at least KE_BLOCK) each; panel most x capacity */
  size_t *candidate, *sequence;
  double *left, *gained, *panel;
  size_t *chosen; /* KE_BLOCK: candidate numbers of this round's picks */
  double *work;   /* ke_update_work(capacity, threads): what bringing all rows up to date takes */
  /* lent to an unpivoted rule, else NULL: rows of the picks in the factor, packed one after the
   * other, capacity (capacity + 1) / 2; and capacity */
  double *triangle, *solution;
  /* state */
  size_t size, picks, count, cursor, drawn, updates, outside_row;
  double outside, top, trace, counted, floor, slack, blind;
  double spread, tentative; /* sum of `spread` over the picks; as far as the candidates know it */
  ke_stop stop;
};

/* Start (diagonal, weights, residuals, totals), then run until a stop, or KE_FULL (enlarge
 * factor, panel, work, triangle, solution and capacity and call again), or KE_INDEFINITE (negative
 * diagonal). */
ke_status ke_basis_start(ke_basis *b);
ke_status ke_basis_run(ke_basis *b, const ke_env *env);

/* Whether a pick may be far shorter than other rows: fvs with a centre. */
int ke_may_spread(const ke_basis *b);

/* All rows brought up to date after a round of picks, and the picks' totals (update.c). */
size_t ke_update_work(size_t capacity, int threads);
void ke_update(ke_basis *b, const ke_env *env);

/* Rows of a chunk between two looks at an interrupt, for so many columns; and the kernel values
 * of rows i0 .. i0 + m against the set KE_PICKS, which threads share. */
size_t ke_chunk_rows(const ke_basis *b, size_t columns);
void ke_columns(const ke_source *s, size_t i0, size_t m, double *out, size_t ldo,
                const ke_env *env);

/* Of rows[0..count) (or all when NULL) the one of best mean normalised fitness.
 * work: n + max(ke_row_sums_work, KE_CHUNK * KE_BLOCK) doubles. */
size_t ke_first_fvs(ke_basis *b, const size_t *rows, size_t count, double *work, const ke_env *env);

#endif
