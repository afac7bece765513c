/* Columns of data. */
#include "columns.h"

#include "simd.h"

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

/* What is not finite leaves NaN when it is taken from itself. */
INLINE void doubt_body(const double *x, size_t n, double *out)
{
  v4 doubt[4] = {{0}};
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (size_t k = 0; k < 4; k++)
      doubt[k] += LOAD(x + i + 4 * k) - LOAD(x + i + 4 * k);
  doubt[0] += (doubt[1] + doubt[2]) + doubt[3];
  *out = sum_v4(doubt);
  for (; i < n; i++)
    *out += x[i] - x[i];
}

DEFINE_DISPATCHED(static, doubt, (const double *x, size_t n, double *out), (x, n, out))

int ke_all_finite(const double *x, size_t n)
{
  double sum;
  doubt(x, n, &sum);
  return sum == 0.0;
}

/* Whether a - b is exact: the error of a difference is itself a number (Knuth, Dekker). */
static int is_exact_difference(double a, double b)
{
  const double s = a - b, back = s - a;
  return (a - (s - back)) - (b + back) == 0.0;
}

/* The error of each addition is added up beside the sum (Knuth; Ogita, Rump and Oishi), so that
 * the order in which rows and parts come hardly matters: it is gone once the mean is rounded. */
void ke_sum_column(const double *x, size_t n, ke_long_sum *sum)
{
  double high = sum->high, low = sum->low;
  for (size_t i = 0; i < n; i++) {
    const double s = high + x[i], back = s - high;
    low += (high - (s - back)) + (x[i] - back);
    high = s;
  }
  sum->high = high;
  sum->low = low;
}

/* Few digits: then whole numbers and the like stay exact whatever their mean is. */
double ke_shift_of(ke_long_sum sum, double n)
{
  const double mean = (sum.high + sum.low) / n;
  return fabs(mean) < FLT_MAX ? (double)(float)mean : 0.0;
}

int ke_shifts_exactly(const double *x, size_t n, double shift)
{
  for (size_t i = 0; i < n; i++)
    if (!is_exact_difference(x[i], shift))
      return 0;
  return 1;
}

double ke_exact_shift(const double *x, size_t n)
{
  ke_long_sum sum = {0.0, 0.0};
  ke_sum_column(x, n, &sum);
  const double shift = ke_shift_of(sum, (double)n);
  return ke_shifts_exactly(x, n, shift) ? shift : 0.0;
}

void ke_scale_column(const double *x, size_t n, double centre, double scale, double *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (x[i] - centre) / scale;
}

#define SQUARE 64 /* edge of what is read at a time, there and across the diagonal */

typedef struct {
  double gap, largest, odd; /* odd: 0, or NaN where an entry is not finite */
} comparison;

static void compare_square(const double *k, size_t n, size_t i0, size_t j0, comparison *c)
{
  for (size_t j = j0; j < n && j < j0 + SQUARE; j++)
    for (size_t i = i0; i < n && i < i0 + SQUARE; i++) {
      const double a = k[i + j * n], b = k[j + i * n];
      c->gap = fabs(a - b) > c->gap ? fabs(a - b) : c->gap;
      c->largest = fabs(a) > c->largest ? fabs(a) : c->largest;
      c->largest = fabs(b) > c->largest ? fabs(b) : c->largest;
      c->odd += (a - a) + (b - b);
    }
}

void ke_symmetry(const double *k, size_t n, double *gap, double *largest, const ke_env *env)
{
  comparison c = {0.0, 0.0, 0.0};
  for (size_t j0 = 0; j0 < n; j0 += SQUARE) {
    ke_check(env);
    for (size_t i0 = j0; i0 < n; i0 += SQUARE)
      compare_square(k, n, i0, j0, &c);
  }
  *gap = c.gap;
  *largest = c.odd == 0.0 ? c.largest : INFINITY;
}

/* ---- distances between rows ---------------------------------------------------------------- */

#define ROWS 16    /* whose distances are summed together, */
#define COLUMNS 32 /* over so many columns, which stay in a cache meanwhile */

INLINE void add_squares_body(const double *x, double from, size_t n, double *out)
{
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v4 diff = LOAD(x + i) - from;
    STORE(out + i, LOAD(out + i) + diff * diff);
  }
  for (; i < n; i++)
    out[i] += (x[i] - from) * (x[i] - from);
}

DEFINE_DISPATCHED(static, add_squares, (const double *x, double from, size_t n, double *out),
                  (x, from, n, out))

/* Where the distances of row j to those after it begin. */
static double *distances_of(double *out, size_t j, size_t n)
{
  return out + j * n - j * (j + 1) / 2;
}

void ke_distances(const double *x, size_t n, size_t d, double *out, const ke_env *env)
{
  const size_t count = n * (n - 1) / 2;
  for (size_t p = 0; p < count; p++)
    out[p] = 0.0;
  for (size_t j0 = 0; j0 < n; j0 += ROWS) {
    ke_check(env);
    for (size_t k0 = 0; k0 < d; k0 += COLUMNS)
      for (size_t j = j0; j < ke_smaller(j0 + ROWS, n); j++)
        for (size_t k = k0; k < ke_smaller(k0 + COLUMNS, d); k++)
          add_squares(x + k * n + j + 1, x[k * n + j], n - j - 1, distances_of(out, j, n));
  }
  for (size_t p = 0; p < count; p++)
    out[p] = sqrt(out[p]);
}
