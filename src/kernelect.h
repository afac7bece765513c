/* The contract of the core: plain C99, BLAS and LAPACK, no R objects.
 *
 * The core never allocates: the caller lends every array, its size noted beside it.
 * Matrices are column-major. Products of dimensions are size_t. Inputs are trusted
 * (the R side checks them); what can go wrong numerically comes back as a ke_status.
 */
#ifndef KERNELECT_H
#define KERNELECT_H

#include <stddef.h>
#include <stdint.h>

static inline size_t ke_smaller(size_t a, size_t b) { return a < b ? a : b; }

typedef enum {
  KE_OK = 0,
  KE_FULL,          /* basis engine: factor has no column left; enlarge and call again */
  KE_INDEFINITE,    /* a residual or diagonal fell clearly below zero */
  KE_NOT_CONVERGED, /* iteration limit reached before the stopping rule held */
  KE_INFEASIBLE,    /* hard-margin dual is unbounded: the classes cannot be separated */
  KE_NOT_FINITE     /* NaN or Inf met during the computation */
} ke_status;

/* What the surroundings lend to the core. `check` answers an interrupt and may not
 * return (it may jump out): so it is only called outside parallel regions, and between
 * pieces of work of at most some milliseconds. Callbacks may be NULL. */
typedef struct {
  int threads;
  void (*check)(void *data);
  double (*uniform)(void *data); /* a draw from (0, 1) */
  void *data;
  void (*progress)(void *data, double share); /* of the work done, in [0, 1] */
} ke_env;

void ke_check(const ke_env *env);
void ke_progress(const ke_env *env, double share);

/* ---- kernels (kernel.c) ------------------------------------------------------- */

typedef enum { KE_LINEAR, KE_RBF, KE_LAPLACE, KE_POLYNOMIAL, KE_SIGMOID, KE_SPLINE } ke_kernel_type;

/* rbf exp(-scale d^2); laplace exp(-scale d); polynomial (scale <x,z> + offset)^degree;
 * sigmoid tanh(scale <x,z> + offset); linear and spline have no parameter. */
typedef struct {
  ke_kernel_type type;
  double scale, offset, degree;
} ke_kernel;

/* Whether values depend on differences of rows only, so that data may be centred. */
int ke_is_distance(const ke_kernel *kernel);

/* out[i] = exp(x[i]), relative error below 1e-15; x and out may be the same array. */
void ke_exp(const double *x, double *out, size_t n);

/* Rows made ready for tiles: shifted, weighted, and stored in panels of KE_PANEL rows
 * (panel p holds, for each column in turn, rows KE_PANEL p ... KE_PANEL p + 3; the last
 * panel is filled up with zeros). `norm` holds squared lengths, summed in the same order
 * as inner products, so that identical rows are at distance exactly zero. */
#define KE_PANEL 4
typedef struct {
  size_t n, d;
  double *panel; /* ke_panel_size(n, d) */
  double *norm;  /* ke_padded(n) */
} ke_rows;

size_t ke_padded(size_t n);
size_t ke_panel_size(size_t n, size_t d);

/* The first value of a row; the others follow KE_PANEL apart. */
static inline double *ke_row(const ke_rows *rows, size_t i)
{
  return rows->panel + i / KE_PANEL * KE_PANEL * rows->d + i % KE_PANEL;
}

/* Fill `rows` (arrays lent, n and d set) from x (n x d, leading dimension ldx). `shift`
 * and `weights` have length d or are NULL: stored value (x - shift) * weight. */
void ke_pack(const double *x, size_t ldx, const double *shift, const double *weights,
             ke_rows *rows);

/* The same without the squared lengths. */
void ke_panels(const double *x, size_t ldx, const double *shift, const double *weights,
               const ke_rows *rows);

/* Copy rows index[0..m) of `from` into `to` (arrays lent for m rows). */
void ke_gather(const ke_rows *from, const size_t *index, size_t m, ke_rows *to);

/* Inner products of rows i0..i0+m of a with rows j0..j0+k of b into out (m x k, ldo).
 * i0 and j0 are multiples of KE_PANEL. Each entry is summed over the columns in one fixed
 * order: it does not depend on the tile, the threads or the BLAS. */
void ke_inner(const ke_rows *a, size_t i0, size_t m, const ke_rows *b, size_t j0, size_t k,
              double *out, size_t ldo);

/* out (a->n x b->n, ldo) = a b' over the first `count` columns of each; a and b may have
 * different d. */
void ke_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo);

/* The same added to out; a and b have rows, count is not 0. */
void ke_add_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo);

/* One column of a tile: rows i0 .. i0 + m of a against row j of b. `g` (length m) holds inner
 * products and becomes kernel values. Squared lengths are read from `norm` and `other`, so
 * that a caller can take one column of the data, `without`, out of g and lengths. */
typedef struct {
  const ke_kernel *kernel;
  const ke_rows *a, *b;
  size_t i0, m, j;
  const double *norm; /* m, of the rows of a */
  double other;       /* of row j of b */
  double top;         /* largest of norm, or 0: not known yet */
  size_t without;     /* SIZE_MAX: none */
  double *g;
} ke_column;

/* A column of the rows as they are; m and g are still to be set. */
ke_column ke_column_of(const ke_kernel *kernel, const ke_rows *a, size_t i0, const ke_rows *b,
                       size_t j);

void ke_finish(const ke_column *c);

/* Largest of n values, or 0 when all are negative. */
double ke_largest(const double *x, size_t n);

/* slope[i] (length m) = derivative of the kernel value g[i] by the squared distance (laplace; 0
 * at distance 0, where nothing depends on the columns) or by the inner product (linear,
 * polynomial, sigmoid), `inner` being what g held before ke_finish(). Not for rbf, whose slope
 * is -scale g, nor spline. */
void ke_slope(const ke_column *c, const double *inner, double *slope);

/* Kernel values of the same tile; each entry is the same whatever the tile. */
void ke_tile(const ke_kernel *kernel, const ke_rows *a, size_t i0, size_t m, const ke_rows *b,
             size_t j0, size_t k, double *out, size_t ldo);

/* k(x, x) for every row, out length n. */
void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out);

/* ---- Gram matrices (gram.c) --------------------------------------------------- */

/* Rows and columns of the tiles that streams over a Gram matrix work in. */
#define KE_TILE 240

/* All of K(a, b): a->n x b->n. */
void ke_gram_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b, double *out,
                   const ke_env *env);

/* K(a, a), exactly symmetric, half of it computed. */
void ke_gram(const ke_kernel *kernel, const ke_rows *a, double *out, const ke_env *env);

/* ---- column sources (source.c) ------------------------------------------------ */

/* A positive semi-definite matrix that is never held: the basis engine asks for its
 * diagonal, for tiles, and for the columns of a few gathered rows. */
enum { KE_CANDIDATES, KE_PICKS, KE_SINGLE, KE_SETS };

typedef struct ke_source ke_source;
struct ke_source {
  size_t n, width; /* rows; columns of the data behind an entry, a measure of its cost */
  void (*diagonal)(const ke_source *s, double *out);
  /* keep rows index[0..m) as a set; m is at most what the set was lent for */
  void (*gather)(ke_source *s, int set, const size_t *index, size_t m);
  /* rows i0..i0+m (i0 a multiple of KE_PANEL) by the members of a set */
  void (*against)(const ke_source *s, int set, size_t i0, size_t m, double *out, size_t ldo);
  /* members of set `rows` by members of set `cols` */
  void (*between)(const ke_source *s, int rows, int cols, double *out, size_t ldo);
  void (*tile)(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
               size_t ldo);
  int parallel; /* may be called from several threads at once */
  int cancels;  /* entries near zero are differences of larger numbers: zero is not exact */
  const size_t *index[KE_SETS]; /* members of the sets */
  size_t count[KE_SETS];
  /* from data */
  ke_kernel kernel;
  const ke_rows *rows;
  ke_rows set[KE_SETS];
  /* from a given matrix, n x n */
  const double *matrix;
  /* from elsewhere: a callback for K[i, j] with row numbers i, j (0-based) */
  void (*block)(void *data, const size_t *i, size_t m, const size_t *j, size_t k, double *out,
                size_t ldo);
  void *data;
  const double *given_diagonal;
  size_t *row_numbers; /* 0 .. n-1 */
  /* centred: k_ij - shift_i - shift_j + constant, on top of `inner` */
  ke_source *inner;
  const double *shift;
  double constant;
};

/* Sources; the caller lends what the struct points to (set[] for data). */
ke_source ke_source_data(const ke_kernel *kernel, const ke_rows *rows);
ke_source ke_source_matrix(const double *matrix, size_t n);
ke_source ke_source_callback(size_t n);
ke_source ke_source_centred(ke_source *inner, const double *shift, double constant);

/* sums[i] = sum_j w_j k_ij, or w_j k_ij^2 when `square`. One pass over half
 * of the matrix. work: ke_row_sums_work(n, threads) doubles. */
size_t ke_row_sums_work(size_t n, int threads);
void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env);

/* The `count` rows nearest to the mean of all rows in the kernel space, nearest first, ties to
 * the lowest row. work: 2 n + ke_row_sums_work(n, threads) doubles. */
void ke_nearest_to_centre(const ke_source *s, size_t count, size_t *rows, double *work,
                          const ke_env *env);

/* shift[i] = mean over rows[0..count) of k_i,row, and the mean of those over the rows
 * themselves. work: KE_TILE * count doubles. */
double ke_centre_shift(ke_source *s, const size_t *rows, size_t count, double *shift, double *work,
                       const ke_env *env);

/* ---- the basis engine (basis.c, update.c, rules.c) --------------------------------------- */

#define KE_TIE 1e-10     /* keys within this of the best are equal: lowest row wins */
#define KE_SLACK 16      /* and so are those within the rounding of this many units */
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
/* ---- dual solver (dual.c) ------------------------------------------------------- */

/* Minimise 1/2 b'Kb - linear'b over lower <= b <= upper with sum(b) = total; K symmetric and
 * positive semi-definite. Bounds may be infinite. With g in {-1, 1}:
 *   support vector machine  linear = g, bounds [0, C] where g = 1 and [-C, 0] where g = -1,
 *                           total 0; b = g * lambda; hard margin is C = Inf
 *   enclosing sphere        linear = diag(K) / 2, bounds [0, 1], total 1; the squared radius
 *                           is -2 times the value
 * K is read column by column: from `k` (n x n, leading dimension ldk), or where that is NULL
 * from `column`, which writes column j (n values), beside `diagonal` (n; may be NULL with k). */
typedef struct {
  size_t n;
  const double *k;
  size_t ldk;
  void (*column)(void *data, size_t j, double *out);
  void *data;
  const double *diagonal;
  const double *linear, *lower, *upper; /* n each */
  double total;
} ke_dual;

/* Stop: duality gap <= tol * scale (plus what rounding of K b hides), seen on a freshly computed
 * gradient; or 1e-8 * scale where rounding allows no further step.
 * `columns` (at least 2, used where k is NULL): how many columns the cache holds. `face`: the
 * largest rank of K on the free variables at which they still move together; 0: pairs only. */
typedef struct {
  double tol;
  size_t max_iter;
  size_t columns, face;
  double *doubles; /* ke_dual_doubles() */
  size_t *indices; /* ke_dual_indices() */
} ke_dual_control;

typedef struct {
  double value;      /* of the minimised function */
  double gap;        /* proven distance from the optimum; may be Inf */
  double scale;      /* what the gap is measured by: sum |linear b| + 1/2 b'Kb */
  double violation;  /* of the optimality conditions: largest rise minus smallest fall */
  double intercept;  /* multiplier of the sum: mean gradient of the free variables, |b| weighted */
  size_t iterations; /* pair steps */
  size_t faces;      /* face steps */
} ke_dual_result;

size_t ke_dual_doubles(size_t n, size_t columns, size_t face);
size_t ke_dual_indices(size_t n, size_t columns);

/* `b` (n): the start in (made feasible first, any values; zeros are a cold start), the solution
 * out. `gradient` (n): linear - K b out. KE_OK: solved; KE_INFEASIBLE: unbounded (a hard margin
 * that cannot be had) or no b in the bounds has that sum; KE_NOT_CONVERGED: max_iter reached or
 * rounding allows no further step, best b returned; KE_NOT_FINITE: K or linear is not finite. */
ke_status ke_dual_solve(const ke_dual *problem, const ke_dual_control *control, double *b,
                        double *gradient, ke_dual_result *result, const ke_env *env);
/* ---- criteria of a scaled kernel (criterion.c) ---------------------------------- */

/* What a Gram matrix K is judged by, T being a target constant on blocks of classes:
 * product <K,T>; alignment <K,T> / (constant |K|), constant = |T|; separability
 * (<K,T> - <K,1>/n) / (tr K - <K,T> + constant), T being 1/n_c within class c, else 0. */
typedef enum { KE_PRODUCT, KE_ALIGNMENT, KE_SEPARABILITY } ke_criterion_type;

/* Rows of a strip, which runs over the columns of one block; block is a multiple of it. */
#define KE_STRIP 48

typedef struct {
  ke_criterion_type type;
  ke_kernel kernel; /* not spline */
  size_t n, d, classes, block;
  const double *x;      /* n x d, not weighted; small offsets make exact gradients */
  const int *label;     /* n, from 0 */
  const double *target; /* classes x classes, symmetric */
  double constant;
  double *table;  /* lent by ke_criterion_open() from here on: targets of rows by class */
  ke_rows rows;   /* weighted rows */
  double *across; /* columns of x (and a column of ones) packed as rows, block by block */
  double *sums;   /* totals, rows and columns, then one slot a strip of a batch */
  double *buffer; /* one a thread */
} ke_criterion;

/* Doubles that `work` must hold. */
size_t ke_criterion_work(const ke_criterion *c, const ke_env *env);

/* Lay out `work` and do what does not depend on the weights. */
void ke_criterion_open(ke_criterion *c, double *work, const ke_env *env);

/* Criterion of k(w o x, w o z) and its gradient (length d) by v = w^2, for weights w (length
 * d). KE_NOT_FINITE when the value is not a number. */
ke_status ke_criterion_evaluate(ke_criterion *c, const double *w, double *value, double *gradient,
                                const ke_env *env);

/* ---- maximisation over scale factors (ascent.c) ----------------------------------- */

/* Anything with a value and a gradient by v = w^2. */
typedef struct {
  size_t d;
  ke_status (*evaluate)(void *data, const double *w, double *value, double *gradient);
  void *data;
} ke_objective;

/* In: limits. Out: where the search ended, and its path from the start (element 0) on. */
typedef struct {
  size_t max_iter;
  double tol; /* stop at a relative change of the value below this */
  int kinked; /* the gradient may be blind at zero, as that of a laplace kernel */
  double value;
  double *gradient; /* d, by v */
  double *values;   /* max_iter + 1 */
  double *steps;    /* max_iter + 1: lengths of the moves of w */
  size_t iterations;
} ke_search;

#define KE_MEMORY 10

/* Doubles that `work` must hold for either. */
size_t ke_search_work(size_t d);

/* Both start from w (length d, >= 0) and leave the best point there. KE_NOT_CONVERGED: the
 * limit came first. KE_NOT_FINITE: the value at the start is not a number. */
ke_status ke_lbfgs(const ke_objective *f, ke_search *s, double *w, double *work);
ke_status ke_ascend(const ke_objective *f, ke_search *s, double *w, double *work);

/* ---- searches over sets of columns (subset.c) ---------------------------------------- */

/* Rows and columns of a tile of column kernels. */
#define KE_SUBSET_TILE 32

/* The one-column kernel of column e is `kernel` on that column alone. */
typedef struct {
  ke_kernel kernel;
  size_t n, d, classes;
  const double *x;       /* n x d */
  const int *label;      /* n, from 0 */
  const double *target;  /* classes x classes, symmetric */
  const ke_rows *column; /* d: each column packed by itself */
  ke_rows rows;          /* all columns, lent for ke_pack() */
} ke_subset;

/* Doubles that `work` must hold for any of the three. */
size_t ke_subset_work(size_t d, const ke_env *env);

/* For every pair of columns (e, f) the product kernel's <K,T> into kt and <K,K> into kk, both
 * (d + 1) x (d + 1); row and column d stand for the constant 1, so hold single columns. */
void ke_subset_pairs(const ke_subset *s, double *kt, double *kk, double *work, const ke_env *env);

/* The same sums (length d) for the product kernel of the columns chosen (1 in `chosen`, length
 * d, else 0) and one more, for every column not chosen. */
void ke_subset_extend(ke_subset *s, const double *chosen, double *kt, double *kk, double *work,
                      const ke_env *env);

/* <K,T> (length d) of `kernel` on the columns chosen but one, for every column chosen. */
void ke_subset_reduce(ke_subset *s, const double *chosen, double *kt, double *work,
                      const ke_env *env);

/* ---- models on a basis (regress.c, spectrum.c) ---------------------------------- */

/* Subtract from every column of z (n x L) its mean, which goes to mean (length L). */
void ke_centre_columns(double *z, size_t n, size_t L, double *mean, const ke_env *env);

/* The same (where `centre`), and out (L x L) = z'z of what is left. */
void ke_centred_crossprod(double *z, size_t n, size_t L, int centre, double *mean, double *out,
                          const ke_env *env);

/* Largest and smallest value of every column of z v, in the two columns of range (k x 2): z n x L,
 * v L x k. work: KE_EXTREME_ROWS x k doubles. */
#define KE_EXTREME_ROWS 512
void ke_extremes(const double *z, size_t n, size_t L, const double *v, size_t k, double *range,
                 double *work, const ke_env *env);

/* out = H K H v with H = I - 11'/n when `centre`, else K v; K n x n symmetric, v and out n x k.
 * v is overwritten by H v. */
void ke_gram_product(const double *K, size_t n, double *v, size_t k, int centre, double *out,
                     const ke_env *env);

/* Least squares of y on the first 1, 2, ..., L columns of z, with intercept and ridge. */
typedef struct {
  size_t n, L, k;
  double ridge;
  double *z;      /* n x L: in coordinates, out Q */
  double *mean;   /* out, L: column means of z */
  double *y;      /* n x k: in responses, out less their means */
  double *y_mean; /* out, k */
  double *r;      /* out, L x L upper triangular: [z - mean; sqrt(ridge) I] = [Q; *] R */
  double *c;      /* out, L x k: Q'y; coefficients of size l are R[l, l]^{-1} c[l, ] */
  double *extra;  /* work, L x L: the rows * */
  double *work;   /* work, L x (L + 1) */
} ke_regression;

void ke_regress(ke_regression *g, const ke_env *env);

/* error[l]: leave-one-out error with the first l + 1 columns, the mean squared error or, with
 * label (the class 0..k-1 of every row; y its indicators), the share of wrong classes; NaN where
 * a leverage is 1. After ke_regress(). work: KE_LOO_ROWS * (k + 1) doubles. */
#define KE_LOO_ROWS 512
void ke_leave_one_out(const ke_regression *g, const int *label, double *error, double *work,
                      const ke_env *env);
/* ---- directions that discriminate (takes.c) ------------------------------------- */

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

/* Nearest rows, ties to the lowest. With `label` (queries are the rows then) entry i is the
 * nearest row of the same class and entry i + queries->n that of another class; a row number
 * of rows->n means that there is none. */
typedef struct {
  const ke_rows *queries, *rows;
  const int *label; /* or NULL */
  int self;         /* query i is row i, which does not count as its own neighbour */
  double *distance; /* lent: queries->n, twice with labels; squared */
  size_t *nearest;  /* the same */
} ke_nearest;

/* work: threads x KE_TILE x KE_TILE doubles. */
void ke_find_nearest(ke_nearest *p, double *work, const ke_env *env);

#define KE_QUERIES 16 /* rows left out that are taken together */

/* Nearest-neighbour classification in the first 1, 2, ..., d coordinates, leaving one out. */
typedef struct {
  size_t n, d;
  const double *rows;   /* n x d, sorted by class */
  const int *label;     /* n, from 0 */
  const size_t *start;  /* classes + 1: first row of each class, and n */
  const size_t *number; /* n: row numbers before sorting, by which ties are broken */
} ke_nested;

/* errors[t]: rows misclassified by the others with t + 1 coordinates. distance: KE_QUERIES x n
 * lent. */
void ke_nested_errors(const ke_nested *p, double *distance, size_t *errors, const ke_env *env);

/* ---- kernel fusion (fusion.c) ----------------------------------------------------- */

/* out (n x n) = sum of weights[m] k[m] over `count` matrices, n x n each. */
void ke_fuse(const double *const *k, const double *weights, size_t count, size_t n, double *out,
             const ke_env *env);

/* a'Ka, K n x n. */
double ke_quadratic_form(const double *k, size_t n, const double *a);

#endif
