/* Products of reflections as I - V T V' (Schreiber and Van Loan 1989): T_jj = tau_j and
 * T_{<j, j} = -tau_j T_{<j, <j} (V'v_j)_{<j}. To apply so many at once is two products of
 * matrices. */
#include "reflect.h"

#include "blas.h"
#include "vector.h"

double ke_reflection(size_t count, double *alpha, double *x, size_t apart, double *value)
{
  double tau = 0.0;
  ke_larfg(count, alpha, x, apart, &tau);
  *value = *alpha;
  *alpha = 1.0;
  return tau;
}

static void fill_triangle(const ke_reflections *h, const double *tau)
{
  const size_t k = h->v.columns;
  const ke_dense t = {h->t, k, k, k};
  double inner[KE_REFLECTIONS];
  ke_syrk_upper(1.0, h->v, 0.0, t);
  for (size_t j = 0; j < k; j++) {
    double *column = h->t + j * k;
    for (size_t i = 0; i < j; i++)
      inner[i] = column[i];
    ke_gemv('N', -tau[j], ke_part(t, 0, 0, j, j), inner, 1, 0.0, column);
    column[j] = tau[j];
    ke_clear(column + j + 1, k - j - 1);
  }
}

void ke_collect_reflections(const ke_reflections *h, const double *from, size_t ld, int turned,
                            const double *tau)
{
  for (size_t j = 0; j < h->v.columns; j++) {
    double *v = h->v.at + j * h->v.ld;
    ke_clear(v, j);
    v[j] = 1.0;
    for (size_t i = j + 1; i < h->v.rows; i++)
      v[i] = turned ? from[j + i * ld] : from[i + j * ld];
  }
  fill_triangle(h, tau);
}

void ke_reflect(const ke_reflections *h, ke_dense c, double *work)
{
  const size_t k = h->v.columns;
  const ke_dense w = {work, k, c.columns, k}, t = {h->t, k, k, k};
  ke_gemm('T', 'N', 1.0, h->v, c, 0.0, w);
  ke_trmm_left_upper(t, w);
  ke_gemm('N', 'N', -1.0, h->v, w, 1.0, c);
}
