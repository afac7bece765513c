/* The product with a centred Gram matrix that is never formed: with H = I - 11'/n,
 * H K H v is K applied to v less its column means, less the column means of the result. */
#include "blas.h"
#include "kernelect.h"

static void centre_column(double *column, size_t n, double *mean)
{
  double total = 0.0, rest = 0.0;
  for (size_t i = 0; i < n; i++)
    total += column[i];
  const double first = total / (double)n;
  for (size_t i = 0; i < n; i++) {
    column[i] -= first;
    rest += column[i];
  }
  *mean = first + rest / (double)n;
}

void ke_centre_columns(double *z, size_t n, size_t L, double *mean, const ke_env *env)
{
  for (size_t l = 0; l < L; l++) {
    centre_column(z + l * n, n, &mean[l]);
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
    const size_t m = i + width < n ? width : n - i, below = n - i - m;
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
  double mean;
  for (size_t j = 0; centre && j < k; j++)
    centre_column(v + j * n, n, &mean);
  for (size_t i = 0; i < n * k; i++)
    out[i] = 0.0;
  symmetric_product(K, n, v, k, out, env);
  for (size_t j = 0; centre && j < k; j++)
    centre_column(out + j * n, n, &mean);
}
