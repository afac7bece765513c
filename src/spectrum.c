/* What eigenproblems need of matrices that are too large to copy.
 * Coordinates z (n x L): column means, z'z about them, and the range of z v.
 * A centred Gram matrix that is never formed: with H = I - 11'/n, H K H v is K applied to v less
 * its column means, less the column means of the result. */
#include "spectrum.h"

#include "dense.h"
#include "pieces.h"

#include <math.h>

/* Four running sums: faster than one, and closer to the truth. */
static double column_mean(const double *column, size_t n)
{
  double total[4] = {0.0, 0.0, 0.0, 0.0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t k = 0; k < 4; k++)
      total[k] += column[i + k];
  for (; i < n; i++)
    total[0] += column[i];
  return ((total[0] + total[1]) + (total[2] + total[3])) / (double)n;
}

static double centre_column(double *column, size_t n)
{
  const double mean = column_mean(column, n);
  for (size_t i = 0; i < n; i++)
    column[i] -= mean;
  return mean;
}

void ke_centre_columns(double *z, size_t n, size_t L, double *mean, const ke_env *env)
{
  for (size_t l = 0; l < L; l++) {
    mean[l] = centre_column(z + l * n, n);
    ke_check(env);
  }
}

/* Rows that stay in cache between being centred and multiplied. */
static size_t rows_in_cache(size_t L)
{
  const size_t rows = ((size_t)1 << 18) / (L + 1);
  return rows < 256 ? 256 : rows;
}

void ke_column_means(const double *z, size_t n, size_t L, double *mean, const ke_env *env)
{
  const size_t step = ke_batch((double)n);
  for (size_t l = 0; l < L; l++) {
    if (l % step == 0)
      ke_check(env);
    mean[l] = column_mean(z + l * n, n);
  }
}

#define ROWS_OF_SUMS 2048 /* their sums stay in cache */

/* Squares of the columns [from, upto) of m rows on top of `before`, or of nothing. */
static void add_squares(const double *z, size_t n, size_t from, size_t upto, size_t m,
                        const double *before, double *out)
{
  for (size_t r = 0; r < m; r++)
    out[r] = before ? before[r] : 0.0;
  for (size_t l = from; l < upto; l++)
    for (size_t r = 0; r < m; r++)
      out[r] += z[r + l * n] * z[r + l * n];
}

void ke_row_squares(const double *z, size_t n, const size_t *sizes, size_t count, double *out,
                    const ke_env *env)
{
  for (size_t i = 0; i < n; i += ROWS_OF_SUMS) {
    const size_t m = ke_smaller(ROWS_OF_SUMS, n - i);
    for (size_t s = 0; s < count; s++)
      add_squares(z + i, n, s > 0 ? sizes[s - 1] : 0, sizes[s], m,
                  s > 0 ? out + i + (s - 1) * n : NULL, out + i + s * n);
    ke_check(env);
  }
}

/* Rows i .. i + m less the means: in `work` (m x L), or where they are. */
static const double *centred_rows(const ke_coordinates *c, size_t i, size_t m, double *work,
                                  size_t *ld)
{
  *ld = c->mean ? m : c->n;
  if (!c->mean)
    return c->z + i;
  for (size_t l = 0; l < c->L; l++)
    for (size_t r = 0; r < m; r++)
      work[r + l * m] = c->z[i + r + l * c->n] - c->mean[l];
  return work;
}

size_t ke_crossprod_work(size_t L) { return rows_in_cache(L) * L; }

void ke_centred_crossprod(const ke_coordinates *c, double *out, double *work, const ke_env *env)
{
  const size_t n = c->n, L = c->L, step = rows_in_cache(L);
  for (size_t i = 0; i < n; i += step) {
    const size_t m = ke_smaller(step, n - i);
    size_t ld;
    const double *rows = centred_rows(c, i, m, work, &ld);
    ke_crossprod_upper(L, m, rows, ld, i > 0 ? 1.0 : 0.0, out, L, env);
    ke_check(env);
  }
  for (size_t j = 0; j < L; j++)
    for (size_t i = j + 1; i < L; i++)
      out[i + j * L] = out[j + i * L];
}

void ke_extremes(const ke_coordinates *c, const double *v, size_t k, double *range, double *work,
                 const ke_env *env)
{
  double *top = range, *low = range + k, *product = work + KE_EXTREME_ROWS * c->L;
  for (size_t j = 0; j < k; j++) {
    top[j] = -INFINITY;
    low[j] = INFINITY;
  }
  for (size_t i = 0; i < c->n; i += KE_EXTREME_ROWS) {
    const size_t m = ke_smaller(KE_EXTREME_ROWS, c->n - i);
    size_t ld;
    const double *rows = centred_rows(c, i, m, work, &ld);
    ke_gemm('N', 'N', 1.0, (ke_dense){(double *)rows, m, c->L, ld},
            (ke_dense){(double *)v, c->L, k, c->L}, 0.0, (ke_dense){product, m, k, m});
    for (size_t j = 0; j < k; j++)
      for (size_t r = j * m; r < (j + 1) * m; r++) {
        top[j] = product[r] > top[j] ? product[r] : top[j];
        low[j] = product[r] < low[j] ? product[r] : low[j];
      }
    ke_check(env);
  }
}

/* out += K v, reading one triangle of K: a panel of columns, still in cache, serves the rows
 * below it and, transposed, its own rows. */
static void symmetric_product(const double *K, size_t n, const double *v, size_t k, double *out,
                              const ke_env *env)
{
  const size_t width = 64;
  for (size_t i = 0; i < n; i += width) {
    const size_t m = ke_smaller(width, n - i), below = n - i - m;
    const ke_dense panel = {(double *)K + i * (n + 1), n - i, m, n},
                   from = {(double *)v + i, n - i, k, n}, to = {out + i, n - i, k, n};
    ke_gemm('N', 'N', 1.0, panel, ke_part(from, 0, 0, m, k), 1.0, to);
    if (below > 0)
      ke_gemm('T', 'N', 1.0, ke_part(panel, m, 0, below, m), ke_part(from, m, 0, below, k), 1.0,
              ke_part(to, 0, 0, m, k));
    ke_check(env);
  }
}

void ke_gram_product(const double *K, size_t n, double *v, size_t k, int centre, double *out,
                     const ke_env *env)
{
  for (size_t j = 0; centre && j < k; j++)
    (void)centre_column(v + j * n, n);
  for (size_t i = 0; i < n * k; i++)
    out[i] = 0.0;
  symmetric_product(K, n, v, k, out, env);
  for (size_t j = 0; centre && j < k; j++)
    (void)centre_column(out + j * n, n);
}
