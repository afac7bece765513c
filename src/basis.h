/* The basis engine: its head (basis.c) and pivot rules (rules.c), on bodies of rows (bodies.h). */
#ifndef KERNELECT_BASIS_H
#define KERNELECT_BASIS_H

#include "bodies.h"

#define KE_SLACK 16     /* keys within the rounding of this many units are equal too */
#define KE_MAGNIFIED 8  /* units of rounding, magnified, below which a residual is noise */
#define KE_PROPOSALS 64 /* rows that random pivoting draws at a time */

typedef enum { KE_FVS, KE_CHOLESKY, KE_KOBL, KE_KGS, KE_RANDOM } ke_method;
typedef enum { KE_GOES_ON, KE_STOP_RANK, KE_STOP_TOL, KE_STOP_THRESHOLD, KE_STOP_SIZE } ke_stop;

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

/* What a rule remembers. */
typedef struct {
  ke_proposal proposed;  /* row and key lent, as long as the bodies' proposals may be */
  double *keys;          /* greedy: lent, as those */
  double excluded;       /* greedy: largest key of a row that is no candidate, */
  size_t first_excluded; /* and the lowest row that may tie with it */
  size_t cursor;         /* in order: the first row not yet proposed */
  size_t *sequence;      /* lent, as the pool: random: candidate numbers as drawn; greedy: the
                            first pick */
  double *before;        /* lent, as the pool: random: residuals at the start of the round */
  size_t drawn;          /* candidates or draws of this round considered so far */
  /* lent to an unpivoted rule, else NULL: rows of the picks in the factor, packed one after the
   * other, capacity (capacity + 1) / 2; and capacity */
  double *triangle, *solution;
} ke_rule_state;

/* How far picks may have magnified rounding. */
typedef struct {
  double sum, tentative; /* of `spread` over the picks; as far as the candidates know it */
} ke_spread;

struct ke_basis {
  const ke_rule *rule;
  size_t limit; /* largest size */
  double tol;
  const double *threshold; /* limit + 1, or NULL */
  size_t forced;           /* first pick, or n when free */
  ke_bodies bodies;
  size_t capacity; /* columns of the panel, at least min(limit, size + KE_BLOCK) */
  ke_pool pool;
  ke_rule_state state;
  ke_start start;
  ke_judge judge;
  ke_spread spread;
  size_t *index; /* lent, limit: the picks */
  ke_pick *path; /* lent, limit */
  size_t size, updates;
  ke_stop stop;
};

/* Start (diagonal, weights, residuals, totals), then run until a stop, or KE_FULL (enlarge
 * factor, panel, work, triangle, solution and capacity and call again). */
ke_status ke_basis_start(ke_basis *b, const ke_env *env);
ke_status ke_basis_run(ke_basis *b, const ke_env *env);

/* Candidates considered between two looks at an interrupt. */
size_t ke_picks_at_a_time(const ke_basis *b);

/* Of rows[0..count) (or all when NULL) the one of best mean normalised fitness; n where none of
 * them has a length: then the first pick is free.
 * work: n (or count) doubles and what the bodies need for `first`. */
size_t ke_first_fvs(ke_basis *b, const size_t *rows, size_t count, double *work, const ke_env *env);

#endif
