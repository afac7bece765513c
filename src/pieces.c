/* Dense products and factorisations in pieces.
 *
 * One call of BLAS or LAPACK cannot be interrupted, and with the reference BLAS a large one takes
 * minutes. Here each call stays below some tens of milliseconds (of a fast BLAS: a few), which is
 * still level 3. What is small is one call, as it would be without this file. */
#include "pieces.h"

#include "blas.h"
#include "threads.h"

#include <float.h>

#define BLOCK 64

/* Items of `flops` each in a piece, at least `least`. The reference BLAS is ten times slower than
 * what KE_PATIENCE reckons with. */
static size_t in_piece(double flops, size_t least)
{
  const size_t count = ke_batch(4.0 * flops);
  return count < least ? least : count;
}

#define ROWS 2048 /* of a sum at a time */
#define SIDE 112  /* rows and columns of a block, at most */
#define TALL 256  /* rows of a block of a tall matrix, at most */

static size_t parts(size_t n, size_t width) { return (n + width - 1) / width; }

/* The upper triangle by blocks: none is added up by two threads. */
typedef struct {
  size_t n, m, lda, ldc, width;
  const double *a;
  double beta, *c;
} triangle;

/* Those above the diagonal first: they are twice the work. */
static void triangle_block(void *data, size_t item, size_t worker)
{
  const triangle *t = (const triangle *)data;
  const size_t side = parts(t->n, t->width), above = side * (side - 1) / 2;
  size_t q = 1;
  (void)worker;
  if (item >= above) {
    const size_t j = (item - above) * t->width;
    ke_syrk_upper(ke_smaller(t->width, t->n - j), t->m, t->a + j * t->lda, t->lda, t->beta,
                  t->c + j * (t->ldc + 1), t->ldc);
    return;
  }
  while (q * (q + 1) / 2 <= item)
    q++;
  const size_t i = (item - q * (q - 1) / 2) * t->width, j = q * t->width;
  ke_gemm('T', 'N', t->width, ke_smaller(t->width, t->n - j), t->m, 1.0, t->a + i * t->lda, t->lda,
          t->a + j * t->lda, t->lda, t->beta, t->c + i + j * t->ldc, t->ldc);
}

/* Two blocks a side at least, for two threads, where that is no loss for one. */
static size_t triangle_width(size_t n)
{
  const size_t side = n < SIDE ? 1 : n < 2 * SIDE ? 2 : parts(n, SIDE);
  return parts(n, side);
}

void ke_crossprod_upper(size_t n, size_t m, const double *a, size_t lda, double beta, double *c,
                        size_t ldc, const ke_env *env)
{
  triangle t = {n, m, lda, ldc, triangle_width(n), a, beta, c};
  const size_t side = parts(n, t.width);
  for (size_t i = 0; i < m; i += ROWS) {
    if (i > 0)
      ke_check(env);
    t.m = ke_smaller(ROWS, m - i);
    t.a = a + i;
    t.beta = i > 0 ? 1.0 : beta;
    ke_share_blas(env, side * (side + 1) / 2, 2.0 * (double)t.width * (double)t.width * (double)t.m,
                  triangle_block, &t);
  }
}

/* C = alpha op(A) B + beta C, by blocks of C. */
typedef struct {
  char turned; /* 'T': A is used transposed */
  ke_dense a, b, c;
  double alpha, beta;
  size_t inner, high, wide; /* terms of a sum; rows and columns of a block */
} blocks;

static void product_block(void *data, size_t item, size_t worker)
{
  const blocks *p = (const blocks *)data;
  const size_t down = parts(p->c.rows, p->high);
  const size_t i = item % down * p->high, j = item / down * p->wide;
  const size_t from = p->turned == 'T' ? i * p->a.ld : i;
  (void)worker;
  ke_gemm(p->turned, 'N', ke_smaller(p->high, p->c.rows - i), ke_smaller(p->wide, p->c.columns - j),
          p->inner, p->alpha, p->a.at + from, p->a.ld, p->b.at + j * p->b.ld, p->b.ld, p->beta,
          p->c.at + i + j * p->c.ld, p->c.ld);
}

static void share_blocks(blocks *p, const ke_env *env)
{
  const double flops = 2.0 * (double)p->high * (double)p->wide * (double)p->inner;
  ke_share_blas(env, parts(p->c.rows, p->high) * parts(p->c.columns, p->wide), flops, product_block,
                p);
}

void ke_add_multiple(double alpha, ke_dense a, ke_dense b, double beta, ke_dense c,
                     const ke_env *env)
{
  blocks p = {'N', a, b, c, alpha, beta, a.columns, TALL, SIDE};
  share_blocks(&p, env);
}

void ke_product_transposed(ke_dense a, ke_dense b, double beta, double *w, const ke_env *env)
{
  const ke_dense c = {w, a.columns, b.columns, a.columns};
  blocks p = {'T', a, b, c, 1.0, beta, 0, SIDE, SIDE};
  for (size_t i = 0; i < a.rows; i += ROWS) {
    if (i > 0)
      ke_check(env);
    p.a.at = a.at + i;
    p.b.at = b.at + i;
    p.inner = ke_smaller(ROWS, a.rows - i);
    p.beta = i > 0 ? 1.0 : beta;
    share_blocks(&p, env);
  }
}

void ke_take_product(ke_dense a, const double *w, ke_dense b, const ke_env *env)
{
  const ke_dense factor = {(double *)w, a.columns, b.columns, a.columns};
  ke_add_multiple(-1.0, a, factor, 1.0, b, env);
}

/* Columns `first` and on of some rows; the columns before them, already divided, are taken off. */
typedef struct {
  size_t m, n, ldr, ldb, rows, columns, first;
  const double *r;
  double *b;
} division;

static void divide_rows(void *data, size_t item, size_t worker)
{
  const division *d = (const division *)data;
  const size_t i = item * d->rows, m = ke_smaller(d->rows, d->m - i);
  const size_t j = d->first, k = ke_smaller(d->columns, d->n - j);
  double *b = d->b + i;
  (void)worker;
  if (j > 0)
    ke_gemm('N', 'N', m, k, j, -1.0, b, d->ldb, d->r + j * d->ldr, d->ldr, 1.0, b + j * d->ldb,
            d->ldb);
  ke_trsm_right_upper(m, k, d->r + j * (d->ldr + 1), d->ldr, b + j * d->ldb, d->ldb);
}

/* All columns at once, unless that is long for the fewest rows that are worth a call. */
void ke_divide_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                     const ke_env *env)
{
  const size_t rows = in_piece(0.5 * (double)n * (double)n, 1);
  const int whole = rows >= 64;
  division d = {m, n, ldr, ldb, whole ? ke_smaller(rows, TALL) : TALL, whole ? n : SIDE, 0, r, b};
  for (; d.first < n; d.first += d.columns) {
    const double taken = 2.0 * (double)d.first + (double)d.columns;
    if (d.first > 0)
      ke_check(env);
    ke_share_blas(env, parts(m, d.rows), (double)d.rows * (double)d.columns * taken, divide_rows,
                  &d);
  }
}

/* Some columns of R^{-1} B or R'^{-1} B an item. */
typedef struct {
  int turned;
  size_t n, k, ldr, wide;
  const double *r;
  double *b;
} solution;

static void solve_some(void *data, size_t item, size_t worker)
{
  const solution *s = (const solution *)data;
  const size_t j = item * s->wide, count = ke_smaller(s->wide, s->k - j);
  (void)worker;
  (s->turned ? ke_trsm_left_upper_transposed : ke_trsm_left_upper)(s->n, count, s->r, s->ldr,
                                                                   s->b + j * s->n, s->n);
}

void ke_solve_upper(int turned, size_t n, size_t k, const double *r, size_t ldr, double *b,
                    const ke_env *env)
{
  const double flops = (double)n * (double)n;
  solution s = {turned, n, k, ldr, ke_smaller(in_piece(flops, 8), SIDE), r, b};
  ke_share_blas(env, parts(k, s.wide), (double)s.wide * flops, solve_some, &s);
}

static void multiply_rows(void *data, size_t item, size_t worker)
{
  const division *d = (const division *)data;
  const size_t i = item * d->rows;
  (void)worker;
  ke_trmm_right_upper(ke_smaller(d->rows, d->m - i), d->n, d->r, d->ldr, d->b + i, d->ldb);
}

void ke_times_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                    const ke_env *env)
{
  const double flops = (double)n * (double)n;
  division d = {m, n, ldr, ldb, ke_smaller(in_piece(flops, 1), TALL), n, 0, r, b};
  ke_share_blas(env, parts(m, d.rows), (double)d.rows * flops, multiply_rows, &d);
}

/* Column j of R has j + 1 rows. */
void ke_multiply_upper(size_t n, const double *s, size_t lds, double *r, size_t ldr,
                       const ke_env *env)
{
  const size_t columns = in_piece((double)n * (double)n, 8);
  for (size_t j = 0; j < n; j += columns) {
    const size_t k = ke_smaller(columns, n - j);
    if (j > 0)
      ke_check(env);
    ke_trmm_left_upper(j + k, k, s, lds, r + j * ldr, ldr);
  }
}

/* Rows j .. j + k of the factor are known: take R_J' R_J off the triangle below them. */
typedef struct {
  size_t n, j, k, lda;
  double *a;
} elimination;

/* The last columns first: they are the longest. What lies below the diagonal stays as it is. */
static void eliminate_columns(void *data, size_t item, size_t worker)
{
  const elimination *e = (const elimination *)data;
  const size_t start = e->j + e->k, rest = e->n - start;
  const size_t c = start + (parts(rest, BLOCK) - 1 - item) * BLOCK;
  const size_t width = ke_smaller(BLOCK, e->n - c);
  const double *known = e->a + e->j + c * e->lda;
  (void)worker;
  if (c > start)
    ke_gemm('T', 'N', c - start, width, e->k, -1.0, e->a + e->j + start * e->lda, e->lda, known,
            e->lda, 1.0, e->a + start + c * e->lda, e->lda);
  ke_take_squares_upper(width, e->k, known, e->lda, e->a + c * (e->lda + 1), e->lda);
}

static void update_rest(size_t n, size_t j, size_t k, double *a, size_t lda, const ke_env *env)
{
  elimination e = {n, j, k, lda, a};
  const size_t rest = n - j - k;
  ke_share_blas(env, parts(rest, BLOCK), (double)BLOCK * (double)rest * (double)k,
                eliminate_columns, &e);
  ke_check(env);
}

int ke_cholesky_upper(size_t n, double *a, size_t lda, const ke_env *env)
{
  if (in_piece((double)n * (double)n / 3.0, 1) >= n)
    return ke_potrf_upper(n, a, lda);
  for (size_t j = 0; j < n; j += BLOCK) {
    const size_t k = ke_smaller(BLOCK, n - j), rest = n - j - k;
    double *corner = a + j * (lda + 1);
    if (!ke_potrf_upper(k, corner, lda))
      return 0;
    if (rest > 0) {
      ke_trsm_left_upper_transposed(k, rest, corner, lda, corner + k * lda, lda);
      update_rest(n, j, k, a, lda, env);
    }
  }
  return 1;
}

/* Gaussian elimination, a panel of columns at a time; A = P L U. */
static int eliminate(size_t n, double *a, int *pivot, const ke_env *env)
{
  for (size_t j = 0; j < n; j += BLOCK) {
    const size_t k = ke_smaller(BLOCK, n - j), start = j + k, rest = n - start;
    double *corner = a + j * (n + 1);
    ke_check(env);
    if (!ke_getrf(n - j, k, corner, n, pivot + j))
      return 0;
    for (size_t i = j; i < start; i++)
      pivot[i] += (int)j;
    ke_laswp(j, a, n, j, k, pivot);
    ke_laswp(rest, a + start * n, n, j, k, pivot);
    ke_trsm_left_unit_lower(k, rest, corner, n, corner + k * n, n);
    ke_add_multiple(-1.0, (ke_dense){corner + k, rest, k, n},
                    (ke_dense){corner + k * n, k, rest, n}, 1.0,
                    (ke_dense){corner + k * (n + 1), rest, rest, n}, env);
  }
  return 1;
}

int ke_solve_any(size_t n, size_t k, double *a, double *b, int *pivot, const ke_env *env)
{
  if (!eliminate(n, a, pivot, env))
    return 0;
  ke_getrs(n, k, a, n, pivot, b, n);
  return 1;
}

int ke_solve(size_t n, size_t k, double *a, double *b, double *work, int *whole, const ke_env *env)
{
  const double norm = ke_norm_one(n, a, n);
  if (!eliminate(n, a, whole, env))
    return 0;
  if (!(ke_condition(n, a, n, norm, work, whole + n) >= DBL_EPSILON))
    return 0;
  ke_getrs(n, k, a, n, whole, b, n);
  return 1;
}
