/* Dense products and factorisations in pieces, each below some tens of milliseconds, which is still
 * level 3. What is small is one call, as it would be without this file. */
#include "pieces.h"

#include "blas.h"
#include "threads.h"

#include <float.h>

#define BLOCK KE_SIDE
#define ROWS 2048          /* of a sum at a time */
#define SIDE KE_SIDE       /* rows and columns of a block, at most */
#define FEW 24             /* rows that are worth packing a triangle for */
#define TALL (3 * KE_SIDE) /* rows of a block of a tall matrix, at most */
#define EVEN 24            /* rows that registers hold at a time where there are most */

/* Items of `flops` each in a piece, at least `least`. */
static size_t in_piece(double flops, size_t least)
{
  const size_t count = ke_batch(flops);
  return count < least ? least : count;
}

static size_t parts(size_t n, size_t width) { return (n + width - 1) / width; }

/* The upper triangle by blocks: none is added up by two threads. */
typedef struct {
  ke_dense a, c;
  size_t width;
  double beta;
} triangle;

/* Those above the diagonal first: they are twice the work. */
static void triangle_block(void *data, size_t item, size_t worker)
{
  const triangle *t = (const triangle *)data;
  const size_t n = t->a.columns, side = parts(n, t->width), above = side * (side - 1) / 2;
  size_t q = 1;
  (void)worker;
  if (item >= above) {
    const size_t j = (item - above) * t->width, wide = ke_smaller(t->width, n - j);
    ke_syrk_upper(1.0, ke_part(t->a, 0, j, t->a.rows, wide), t->beta,
                  ke_part(t->c, j, j, wide, wide));
    return;
  }
  while (q * (q + 1) / 2 <= item)
    q++;
  const size_t i = (item - q * (q - 1) / 2) * t->width, j = q * t->width,
               wide = ke_smaller(t->width, n - j);
  ke_gemm('T', 'N', 1.0, ke_part(t->a, 0, i, t->a.rows, t->width),
          ke_part(t->a, 0, j, t->a.rows, wide), t->beta, ke_part(t->c, i, j, t->width, wide));
}

/* Two blocks a side at least, for two threads, where that is no loss for one. */
static size_t triangle_width(size_t n)
{
  const size_t side = n < SIDE ? 1 : n < 2 * SIDE ? 2 : parts(n, SIDE);
  return parts(parts(n, side), EVEN) * EVEN;
}

void ke_crossprod_upper(size_t n, size_t m, const double *a, size_t lda, double beta, double *c,
                        size_t ldc, const ke_env *env)
{
  triangle t = {{(double *)a, m, n, lda}, {c, n, n, ldc}, triangle_width(n), beta};
  const size_t side = n > 0 ? parts(n, t.width) : 0;
  for (size_t i = 0; i == 0 || i < m; i += ROWS) { /* no rows at all still mean beta C */
    const size_t rows = ke_smaller(ROWS, m - i);
    if (i > 0)
      ke_check(env);
    t.a = ke_part((ke_dense){(double *)a, m, n, lda}, i, 0, rows, n);
    t.beta = i > 0 ? 1.0 : beta;
    ke_share(env, side * (side + 1) / 2, 2.0 * (double)t.width * (double)t.width * (double)rows,
             triangle_block, &t);
  }
}

/* C = alpha op(A) B + beta C, by blocks of C. */
typedef struct {
  char turned; /* 'T': A is used transposed */
  ke_dense a, b, c;
  double alpha, beta;
  size_t high, wide; /* rows and columns of a block */
} blocks;

static void product_block(void *data, size_t item, size_t worker)
{
  const blocks *p = (const blocks *)data;
  const size_t down = parts(p->c.rows, p->high), terms = p->b.rows;
  const size_t i = item % down * p->high, j = item / down * p->wide;
  const size_t high = ke_smaller(p->high, p->c.rows - i),
               wide = ke_smaller(p->wide, p->c.columns - j);
  const ke_dense a =
      p->turned == 'T' ? ke_part(p->a, 0, i, terms, high) : ke_part(p->a, i, 0, high, terms);
  (void)worker;
  ke_gemm(p->turned, 'N', p->alpha, a, ke_part(p->b, 0, j, terms, wide), p->beta,
          ke_part(p->c, i, j, high, wide));
}

static void share_blocks(blocks *p, const ke_env *env)
{
  const double flops = 2.0 * (double)p->high * (double)p->wide * (double)p->b.rows;
  ke_share(env, parts(p->c.rows, p->high) * parts(p->c.columns, p->wide), flops, product_block, p);
}

void ke_add_multiple(double alpha, ke_dense a, ke_dense b, double beta, ke_dense c,
                     const ke_env *env)
{
  blocks p = {'N', a, b, c, alpha, beta, TALL, SIDE};
  share_blocks(&p, env);
}

void ke_product_transposed(ke_dense a, ke_dense b, double beta, double *w, const ke_env *env)
{
  const ke_dense c = {w, a.columns, b.columns, a.columns};
  blocks p = {'T', a, b, c, 1.0, beta, SIDE, SIDE};
  for (size_t i = 0; i == 0 || i < a.rows; i += ROWS) {
    if (i > 0)
      ke_check(env);
    const size_t rows = ke_smaller(ROWS, a.rows - i);
    p.a = ke_part(a, i, 0, rows, a.columns);
    p.b = ke_part(b, i, 0, rows, b.columns);
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
  ke_dense r, b;
  size_t rows, columns, first;
} division;

static void divide_rows(void *data, size_t item, size_t worker)
{
  const division *d = (const division *)data;
  const size_t i = item * d->rows, m = ke_smaller(d->rows, d->b.rows - i);
  const size_t j = d->first, k = ke_smaller(d->columns, d->b.columns - j);
  const ke_dense own = ke_part(d->b, i, j, m, k);
  (void)worker;
  if (j > 0)
    ke_gemm('N', 'N', -1.0, ke_part(d->b, i, 0, m, j), ke_part(d->r, 0, j, j, k), 1.0, own);
  ke_trsm_right_upper(ke_part(d->r, j, j, k, k), own);
}

/* All columns at once, unless that is long for the fewest rows that are worth a call. */
void ke_divide_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                     const ke_env *env)
{
  const size_t rows = in_piece(0.5 * (double)n * (double)n, 1);
  const int whole = rows >= 64;
  division d = {{(double *)r, n, n, ldr},
                {b, m, n, ldb},
                whole ? ke_smaller(rows, TALL) : TALL,
                whole ? n : SIDE,
                0};
  for (; d.first < n; d.first += d.columns) {
    const double taken = 2.0 * (double)d.first + (double)d.columns;
    if (d.first > 0)
      ke_check(env);
    ke_share(env, parts(m, d.rows), (double)d.rows * (double)d.columns * taken, divide_rows, &d);
  }
}

/* Some columns of R^{-1} B or R'^{-1} B an item. */
typedef struct {
  char turned;
  ke_dense r, b;
  size_t wide;
} solution;

static void solve_some(void *data, size_t item, size_t worker)
{
  const solution *s = (const solution *)data;
  const size_t j = item * s->wide, count = ke_smaller(s->wide, s->b.columns - j);
  (void)worker;
  ke_trsm_left_upper(s->turned, s->r, ke_part(s->b, 0, j, s->b.rows, count));
}

void ke_solve_upper(int turned, size_t n, size_t k, const double *r, size_t ldr, double *b,
                    const ke_env *env)
{
  const double flops = (double)n * (double)n;
  solution s = {turned ? 'T' : 'N',
                {(double *)r, n, n, ldr},
                {b, n, k, n},
                ke_smaller(in_piece(flops, 8), SIDE)};
  ke_share(env, parts(k, s.wide), (double)s.wide * flops, solve_some, &s);
}

static void multiply_rows(void *data, size_t item, size_t worker)
{
  const division *d = (const division *)data;
  const size_t i = item * d->rows;
  (void)worker;
  ke_trmm_right_upper(d->r, ke_part(d->b, i, 0, ke_smaller(d->rows, d->b.rows - i), d->columns));
}

void ke_times_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                    const ke_env *env)
{
  const double flops = (double)n * (double)n;
  division d = {
      {(double *)r, n, n, ldr}, {b, m, n, ldb}, ke_smaller(in_piece(flops, FEW), TALL), n, 0};
  ke_share(env, parts(m, d.rows), (double)d.rows * flops, multiply_rows, &d);
}

/* Column j of R has j + 1 rows. */
void ke_multiply_upper(size_t n, const double *s, size_t lds, double *r, size_t ldr,
                       const ke_env *env)
{
  const size_t columns = ke_smaller(in_piece((double)n * (double)n, 8), SIDE);
  const ke_dense factor = {(double *)s, n, n, lds}, product = {r, n, n, ldr};
  for (size_t j = 0; j < n; j += columns) {
    const size_t k = ke_smaller(columns, n - j);
    if (j > 0)
      ke_check(env);
    ke_trmm_left_upper(ke_part(factor, 0, 0, j + k, j + k), ke_part(product, 0, j, j + k, k));
  }
}

/* Rows j .. j + k of the factor are known: take R_J' R_J off the triangle below them. */
typedef struct {
  ke_dense a;
  size_t j, k;
} elimination;

/* The last columns first: they are the longest. What lies below the diagonal stays as it is. */
static void eliminate_columns(void *data, size_t item, size_t worker)
{
  const elimination *e = (const elimination *)data;
  const size_t n = e->a.columns, start = e->j + e->k, rest = n - start;
  const size_t c = start + (parts(rest, BLOCK) - 1 - item) * BLOCK;
  const size_t width = ke_smaller(BLOCK, n - c);
  const ke_dense known = ke_part(e->a, e->j, c, e->k, width);
  (void)worker;
  if (c > start)
    ke_gemm('T', 'N', -1.0, ke_part(e->a, e->j, start, e->k, c - start), known, 1.0,
            ke_part(e->a, start, c, c - start, width));
  ke_syrk_upper(-1.0, known, 1.0, ke_part(e->a, c, c, width, width));
}

static void update_rest(elimination e, const ke_env *env)
{
  const size_t rest = e.a.columns - e.j - e.k;
  ke_share(env, parts(rest, BLOCK), (double)BLOCK * (double)rest * (double)e.k, eliminate_columns,
           &e);
  ke_check(env);
}

int ke_cholesky_upper(size_t n, double *a, size_t lda, const ke_env *env)
{
  const ke_dense all = {a, n, n, lda};
  if (in_piece((double)n * (double)n / 3.0, 1) >= n)
    return ke_potrf_upper(all);
  for (size_t j = 0; j < n; j += BLOCK) {
    const size_t k = ke_smaller(BLOCK, n - j), rest = n - j - k;
    const ke_dense corner = ke_part(all, j, j, k, k);
    if (!ke_potrf_upper(corner))
      return 0;
    if (rest > 0) {
      ke_trsm_left_upper('T', corner, ke_part(all, j, j + k, k, rest));
      update_rest((elimination){all, j, k}, env);
    }
  }
  return 1;
}

/* Gaussian elimination, a panel of columns at a time; A = P L U. */
static int eliminate(size_t n, double *a, int *pivot, const ke_env *env)
{
  for (size_t j = 0; j < n; j += BLOCK) {
    const size_t k = ke_smaller(BLOCK, n - j), start = j + k, rest = n - start;
    const ke_dense corner = {a + j * (n + 1), k, k, n}, beside = {corner.at + k * n, k, rest, n};
    ke_check(env);
    if (!ke_getrf(n - j, k, corner.at, n, pivot + j))
      return 0;
    for (size_t i = j; i < start; i++)
      pivot[i] += (int)j;
    ke_laswp(j, a, n, j, k, pivot);
    ke_laswp(rest, a + start * n, n, j, k, pivot);
    ke_trsm_left_unit_lower(corner, beside);
    ke_add_multiple(-1.0, (ke_dense){corner.at + k, rest, k, n}, beside, 1.0,
                    (ke_dense){corner.at + k * (n + 1), rest, rest, n}, env);
  }
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
