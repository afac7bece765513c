/* Columns of data. */
#include "columns.h"

#include <float.h>
#include <math.h>

static double largest_deviation(const double *x, size_t n, double mean)
{
  double most = 0.0;
  for (size_t i = 0; i < n; i++)
    most = fabs(x[i] - mean) > most ? fabs(x[i] - mean) : most;
  return most;
}

/* By two passes, on deviations relative to the largest so that no square leaves the range. */
double ke_column_sd(const double *x, size_t n, double mean)
{
  const double most = largest_deviation(x, n, mean);
  if (n < 2 || most == 0.0 || !isfinite(most))
    return n < 2 ? 0.0 : most;
  double sum = 0.0, drift = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double diff = (x[i] - mean) / most;
    sum += diff * diff;
    drift += diff;
  }
  const double left = (sum - drift * drift / (double)n) / (double)(n - 1);
  const double sd = most * sqrt(left < 0.0 ? 0.0 : left);
  /* a constant column leaves only what the rounding of its mean put there */
  return sd <= 4.0 * DBL_EPSILON * fabs(mean) ? 0.0 : sd;
}

void ke_scale_column(const double *x, size_t n, double centre, double scale, double *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (x[i] - centre) / scale;
}
