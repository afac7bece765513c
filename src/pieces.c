/* Dense products and factorisations in pieces.
 *
 * One call of BLAS or LAPACK cannot be interrupted, and with the reference BLAS a large one takes
 * minutes. Here each call stays below some tens of milliseconds (of a fast BLAS: a few), which is
 * still level 3. What is small is one call, as it would be without this file. */
#include "pieces.h"

#include "blas.h"

#include <float.h>

#define BLOCK 64

/* Items of `flops` each in a piece, at least `least`. The reference BLAS is ten times slower than
 * what KE_PATIENCE reckons with. */
static size_t in_piece(double flops, size_t least)
{
  const size_t count = ke_batch(4.0 * flops);
  return count < least ? least : count;
}

void ke_crossprod_upper(size_t n, size_t m, const double *a, size_t lda, double beta, double *c,
                        size_t ldc, const ke_env *env)
{
  const size_t columns = in_piece(2.0 * (double)n * (double)m, 16);
  if (columns >= n) {
    ke_syrk_upper(n, m, a, lda, beta, c, ldc);
    return;
  }
  for (size_t j = 0; j < n; j += columns) {
    const size_t k = ke_smaller(columns, n - j);
    if (j > 0)
      ke_gemm('T', 'N', j, k, m, 1.0, a, lda, a + j * lda, lda, beta, c + j * ldc, ldc);
    ke_syrk_upper(k, m, a + j * lda, lda, beta, c + j * (ldc + 1), ldc);
    ke_check(env);
  }
}

void ke_product_transposed(ke_dense a, ke_dense b, double beta, double *w, const ke_env *env)
{
  const size_t m = a.columns, k = b.columns, n = a.rows;
  const size_t rows = in_piece(2.0 * (double)m * (double)k, 64);
  for (size_t i = 0; i < n; i += rows) {
    if (i > 0)
      ke_check(env);
    ke_gemm('T', 'N', m, k, ke_smaller(rows, n - i), 1.0, a.at + i, a.ld, b.at + i, b.ld,
            i > 0 ? 1.0 : beta, w, m);
  }
}

void ke_take_product(ke_dense a, const double *w, ke_dense b, const ke_env *env)
{
  const size_t m = a.columns, k = b.columns, n = a.rows;
  const size_t rows = in_piece(2.0 * (double)m * (double)k, 64);
  for (size_t i = 0; i < n; i += rows) {
    if (i > 0)
      ke_check(env);
    ke_gemm('N', 'N', ke_smaller(rows, n - i), k, m, -1.0, a.at + i, a.ld, w, m, 1.0, b.at + i,
            b.ld);
  }
}

/* The columns before a block, already divided, are taken off it at once. */
void ke_divide_upper(size_t m, size_t n, const double *r, size_t ldr, double *b, size_t ldb,
                     const ke_env *env)
{
  const size_t columns = in_piece(2.0 * (double)n * (double)m, 16);
  for (size_t j = 0; j < n; j += columns) {
    const size_t k = ke_smaller(columns, n - j);
    if (j > 0) {
      ke_check(env);
      ke_gemm('N', 'N', m, k, j, -1.0, b, ldb, r + j * ldr, ldr, 1.0, b + j * ldb, ldb);
    }
    ke_trsm_right_upper(m, k, r + j * (ldr + 1), ldr, b + j * ldb, ldb);
  }
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
static void update_rest(size_t n, size_t j, size_t k, double *a, size_t lda, const ke_env *env)
{
  const size_t start = j + k;
  const size_t columns = in_piece(2.0 * (double)k * (double)(n - start + 1), 16);
  for (size_t c = start; c < n; c += columns) {
    const size_t width = ke_smaller(columns, n - c), rows = c + width - start;
    ke_gemm('T', 'N', rows, width, k, -1.0, a + j + start * lda, lda, a + j + c * lda, lda, 1.0,
            a + start + c * lda, lda);
    ke_check(env);
  }
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
    const size_t columns = in_piece(2.0 * (double)k * (double)(rest + 1), 16);
    for (size_t c = 0; c < rest; c += columns) {
      ke_gemm('N', 'N', rest, ke_smaller(columns, rest - c), k, -1.0, corner + k, n,
              corner + (k + c) * n, n, 1.0, corner + k + (k + c) * n, n);
      ke_check(env);
    }
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
