/* What kernel fusion does with the Gram matrices of a list, apart from solving:
 *   sum_i r_i K_i,  its centred system  and  a'K_i a.  Cost n^2 a matrix; for the form, n times the
 * nonzeros of a. */
#include "fusion.h"

#include <math.h>

void ke_fuse(const double *const *k, const double *weights, size_t count, size_t n, double *out,
             const ke_env *env)
{
  for (size_t j = 0; j < n; j++) {
    double *column = out + j * n;
    for (size_t i = 0; i < n; i++)
      column[i] = 0.0;
    for (size_t m = 0; m < count; m++) {
      const double *from = k[m] + j * n, w = weights[m];
      for (size_t i = 0; w != 0.0 && i < n; i++)
        column[i] += w * from[i];
    }
    if (j % 64 == 0)
      ke_check(env);
  }
}

void ke_centred_system(const double *k, const double *w, const double *means, double nu, size_t n,
                       double *out, const ke_env *env)
{
  double total = 0.0, middle = 0.0;
  for (size_t i = 0; i < n; i++) {
    total += w[i];
    middle += w[i] * means[i];
  }
  middle /= total;
  for (size_t j = 0; j < n; j++) {
    const double *from = k + j * n, shift = means[j] - middle;
    double *to = out + j * n;
    for (size_t i = 0; i < n; i++)
      to[i] = sqrt(w[i] * w[j]) * (from[i] - (means[i] + shift));
    to[j] += nu;
    if (j % 64 == 0)
      ke_check(env);
  }
}

double ke_quadratic_form(const double *k, size_t n, const double *a)
{
  double sum = 0.0;
  for (size_t j = 0; j < n; j++) {
    if (a[j] == 0.0)
      continue;
    const double *column = k + j * n;
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
      for (size_t l = 0; l < 4; l++)
        part[l] += column[i + l] * a[i + l];
    for (; i < n; i++)
      part[0] += column[i] * a[i];
    sum += a[j] * ((part[0] + part[1]) + (part[2] + part[3]));
  }
  return sum;
}
