/* The basis engine: its head (basis.c) and pivot rules (rules.c), on a body of rows (body.h). */
#ifndef KERNELECT_BASIS_H
#define KERNELECT_BASIS_H

#include "body.h"

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

/* The rows that a round pivots among. Lent: at least KE_BLOCK and `most` each. */
typedef struct {
  size_t most;    /* at most KE_CANDIDATES_MAX; for random at least min(n, KE_PROPOSALS) */
  size_t count;   /* this round */
  size_t *row;    /* row numbers */
  double *left;   /* residuals */
  double *gained; /* what is explained */
  double *panel;  /* most x capacity: rows of the factor */
  size_t *chosen; /* KE_BLOCK: candidate numbers of this round's picks, */
  size_t picks;   /* how many */
} ke_pool;

/* What a rule remembers. */
typedef struct {
  double *keys, *sorted; /* lent, n each: greedy keys and their copy; random: running sum */
  double excluded;       /* greedy: largest key of a row that is no candidate, */
  size_t first_excluded; /* and the lowest row that may tie with it */
  size_t cursor;         /* in order: the first row not yet proposed */
  size_t *sequence;      /* lent, as the pool: random: candidate numbers as drawn; greedy: the
                            first pick */
  size_t drawn;          /* candidates or draws of this round considered so far */
  /* lent to an unpivoted rule, else NULL: rows of the picks in the factor, packed one after the
   * other, capacity (capacity + 1) / 2; and capacity */
  double *triangle, *solution;
} ke_rule_state;

/* What counts as nothing, and as equal. */
typedef struct {
  double floor;             /* a weighted residual up to this is none */
  double slack;             /* keys as close as this are equal */
  double noise;             /* a weighted explained share up to this is none */
  double spread, tentative; /* sum of `spread` over the picks; as far as the candidates know it */
} ke_limits;

struct ke_basis {
  const ke_rule *rule;
  size_t limit; /* largest size */
  double tol;
  const double *threshold; /* limit + 1, or NULL */
  size_t forced;           /* first pick, or n when free */
  ke_body body;            /* capacity at least min(limit, size + KE_BLOCK) */
  ke_pool pool;
  ke_rule_state state;
  ke_start start;
  ke_limits limits;
  size_t *index; /* lent, limit: the picks */
  ke_pick *path; /* lent, limit */
  size_t size, updates;
  ke_stop stop;
};

/* Start (diagonal, weights, residuals, totals), then run until a stop, or KE_FULL (enlarge
 * factor, panel, work, triangle, solution and capacity and call again). */
ke_status ke_basis_start(ke_basis *b);
ke_status ke_basis_run(ke_basis *b, const ke_env *env);

/* Candidates considered between two looks at an interrupt. */
size_t ke_picks_at_a_time(const ke_basis *b);

/* Of rows[0..count) (or all when NULL) the one of best mean normalised fitness.
 * work: n + max(ke_row_sums_work, KE_CHUNK * KE_BLOCK) doubles. */
size_t ke_first_fvs(ke_basis *b, const size_t *rows, size_t count, double *work, const ke_env *env);

#endif
