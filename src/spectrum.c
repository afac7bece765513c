/* What eigenproblems need of matrices that are too large to copy.
 * Coordinates z (n x L): column means, z'z about them, and the range of z v.
 * A centred Gram matrix that is never formed: with H = I - 11'/n, H K H v is K applied to v less
 * its column means, less the column means of the result. */
#include "spectrum.h"

#include "blas.h"

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

void ke_centred_crossprod(double *z, size_t n, size_t L, int centre, double *mean, double *out,
                          const ke_env *env)
{
  const size_t step = rows_in_cache(L);
  for (size_t l = 0; l < L; l++) {
    mean[l] = centre ? column_mean(z + l * n, n) : 0.0;
    if (l % 16 == 0)
      ke_check(env);
  }
  for (size_t i = 0; i < n; i += step) {
    const size_t m = ke_smaller(step, n - i);
    for (size_t l = 0; centre && l < L; l++)
      for (size_t r = i; r < i + m; r++)
        z[r + l * n] -= mean[l];
    ke_syrk_upper(L, m, z + i, n, i > 0 ? 1.0 : 0.0, out, L);
    ke_check(env);
  }
  for (size_t j = 0; j < L; j++)
    for (size_t i = j + 1; i < L; i++)
      out[i + j * L] = out[j + i * L];
}

void ke_extremes(const double *z, size_t n, size_t L, const double *v, size_t k, double *range,
                 double *work, const ke_env *env)
{
  double *top = range, *low = range + k;
  for (size_t j = 0; j < k; j++) {
    top[j] = -INFINITY;
    low[j] = INFINITY;
  }
  for (size_t i = 0; i < n; i += KE_EXTREME_ROWS) {
    const size_t m = ke_smaller(KE_EXTREME_ROWS, n - i);
    ke_gemm('N', 'N', m, k, L, 1.0, z + i, n, v, L, 0.0, work, m);
    for (size_t j = 0; j < k; j++)
      for (size_t r = j * m; r < (j + 1) * m; r++) {
        top[j] = work[r] > top[j] ? work[r] : top[j];
        low[j] = work[r] < low[j] ? work[r] : low[j];
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
    const double *panel = K + i + i * n;
    ke_gemm('N', 'N', m + below, k, m, 1.0, panel, n, v + i, n, 1.0, out + i, n);
    if (below > 0)
      ke_gemm('T', 'N', m, k, below, 1.0, panel + m, n, v + i + m, n, 1.0, out + i, n);
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
