/* The contract of the core: plain C99, BLAS and LAPACK, no R objects.
 *
 * The core never allocates: the caller lends every array, its size noted beside it.
 * Matrices are column-major. Products of dimensions are size_t. Inputs are trusted
 * (the R side checks them); what can go wrong numerically comes back as a ke_status.
 */
#ifndef KERNELECT_H
#define KERNELECT_H

#include <stddef.h>

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
 * pieces of work of at most some milliseconds. Both callbacks may be NULL. */
typedef struct {
  int threads;
  void (*check)(void *data);
  double (*uniform)(void *data); /* a draw from (0, 1) */
  void *data;
} ke_env;

void ke_check(const ke_env *env);

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

/* Fill `rows` (arrays lent, n and d set) from x (n x d, leading dimension ldx). `shift`
 * and `weights` have length d or are NULL: stored value (x - shift) * weight. */
void ke_pack(const double *x, size_t ldx, const double *shift, const double *weights,
             ke_rows *rows);

/* Copy rows index[0..m) of `from` into `to` (arrays lent for m rows). */
void ke_gather(const ke_rows *from, const size_t *index, size_t m, ke_rows *to);

/* Inner products of rows i0..i0+m of a with rows j0..j0+k of b into out (m x k, ldo).
 * i0 and j0 are multiples of KE_PANEL. Each entry is one running sum over the columns:
 * it does not depend on the tile, the threads or the BLAS. */
void ke_inner(const ke_rows *a, size_t i0, size_t m, const ke_rows *b, size_t j0, size_t k,
              double *out, size_t ldo);

/* Kernel values of the same tile; each entry is the same whatever the tile. */
void ke_tile(const ke_kernel *kernel, const ke_rows *a, size_t i0, size_t m, const ke_rows *b,
             size_t j0, size_t k, double *out, size_t ldo);

/* k(x, x) for every row, out length n. */
void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out);

/* ---- Gram matrices (gram.c) --------------------------------------------------- */

/* Rows and columns of the tiles that gram.c and the streams work in. */
#define KE_TILE 240

/* All of K(a, b): a->n x b->n. */
void ke_gram_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b, double *out,
                   const ke_env *env);

/* K(a, a), exactly symmetric, half of it computed. */
void ke_gram(const ke_kernel *kernel, const ke_rows *a, double *out, const ke_env *env);

#endif
