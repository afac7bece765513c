/* Means and deviations of columns that come in pieces.
 *
 * With t = (x - s) / u, s the first value and u a power of two, S1 = sum t and S2 = sum t^2 are
 * added up to twice the digits (Dekker 1971; Ogita, Rump and Oishi 2005):
 *   mean = s + u S1 / n,   sd = u sqrt((S2 - S1^2 / n) / (n - 1)).
 * A piece with another shift s' joins by d = (s' - s) / u: S1' + n' d and S2' + 2 d S1' + n' d^2.
 * All this is exact to some 2^-100 of the spread, so that a result which is rounded to a double
 * does not tell how the rows were cut, nor who added them. Cost O(n) a column. */
#include "moments.h"

#include <float.h>
#include <math.h>

#define LANES 4

static ke_twofold sum_of(double a, double b)
{
  const double s = a + b, back = s - a;
  return (ke_twofold){s, (a - (s - back)) + (b - back)};
}

/* The high half of a, which fits in 26 bits. */
static double upper_half(double a)
{
  const double c = 134217729.0 * a; /* 2^27 + 1 */
  return c - (c - a);
}

static ke_twofold product_of(double a, double b)
{
  const double p = a * b, ah = upper_half(a), bh = upper_half(b), al = a - ah, bl = b - bh;
  return (ke_twofold){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static ke_twofold add(ke_twofold a, ke_twofold b)
{
  const ke_twofold s = sum_of(a.high, b.high);
  return sum_of(s.high, s.low + (a.low + b.low));
}

static ke_twofold times(ke_twofold a, ke_twofold b)
{
  const ke_twofold p = product_of(a.high, b.high);
  return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static ke_twofold scaled(ke_twofold a, double power_of_two)
{
  return (ke_twofold){a.high * power_of_two, a.low * power_of_two};
}

static ke_twofold divided(ke_twofold a, double n)
{
  const double q = a.high / n;
  const ke_twofold back = product_of(q, n);
  return sum_of(q, ((a.high - back.high) - back.low + a.low) / n);
}

/* A power of two of at least |x|, as small as squares of its inverse allow. Infinity and what is
 * not a number stay what they are. */
static double power_above(double x)
{
  int e = -500;
  if (!isfinite(x))
    return x;
  if (x > 0.0)
    (void)frexp(x, &e);
  return ldexp(1.0, e < -500 ? -500 : e > 1023 ? 1023 : e);
}

static double largest_distance(const double *x, size_t n, double from)
{
  double most = 0.0;
  for (size_t i = 0; i < n; i++)
    most = fabs(x[i] - from) > most ? fabs(x[i] - from) : most;
  return most;
}

static void add_value(double x, double shift, double by, ke_twofold *sum, ke_twofold *squares)
{
  const ke_twofold t = scaled(sum_of(x, -shift), by);
  *sum = add(*sum, t);
  *squares = add(*squares, times(t, t));
}

ke_moments ke_column_moments(const double *x, size_t n)
{
  ke_moments m = {(double)n, n > 0 ? x[0] : 0.0, 1.0, {0.0, 0.0}, {0.0, 0.0}};
  ke_twofold sum[LANES] = {{0.0, 0.0}}, squares[LANES] = {{0.0, 0.0}};
  size_t i = 0;
  m.unit = power_above(largest_distance(x, n, m.shift));
  for (; i + LANES <= n; i += LANES)
    for (size_t k = 0; k < LANES; k++)
      add_value(x[i + k], m.shift, 1.0 / m.unit, sum + k, squares + k);
  for (; i < n; i++)
    add_value(x[i], m.shift, 1.0 / m.unit, sum, squares);
  for (size_t k = 0; k < LANES; k++) {
    m.sum = add(m.sum, sum[k]);
    m.squares = add(m.squares, squares[k]);
  }
  return m;
}

static void change_unit(ke_moments *m, double unit)
{
  const double by = m->unit / unit;
  m->sum = scaled(m->sum, by);
  m->squares = scaled(scaled(m->squares, by), by);
  m->unit = unit;
}

/* b becomes sums about the shift of a, in the unit of a. */
static void change_shift(ke_moments *b, const ke_moments *a)
{
  const ke_twofold d = scaled(sum_of(b->shift, -a->shift), 1.0 / a->unit), n = {b->n, 0.0},
                   twice = {2.0, 0.0}, part = times(n, d);
  b->squares = add(b->squares, add(times(times(twice, d), b->sum), times(part, d)));
  b->sum = add(b->sum, part);
}

ke_moments ke_join_moments(ke_moments a, ke_moments b)
{
  if (a.n == 0.0 || b.n == 0.0)
    return a.n == 0.0 ? b : a;
  double unit = power_above(fabs(b.shift - a.shift));
  unit = unit < a.unit ? a.unit : unit;
  unit = unit < b.unit ? b.unit : unit;
  change_unit(&a, unit);
  change_unit(&b, unit);
  change_shift(&b, &a);
  a.n += b.n;
  a.sum = add(a.sum, b.sum);
  a.squares = add(a.squares, b.squares);
  return a;
}

void ke_mean_and_sd(ke_moments m, double *mean, double *sd)
{
  const ke_twofold q = scaled(divided(m.sum, m.n), m.unit), start = sum_of(m.shift, q.high);
  /* digits below 2^-90 of the spread are not known */
  const double value = start.high + (start.low + q.low), floor = ldexp(m.unit, -38);
  *mean = fabs(value) < floor ? (value + floor) - floor : value;
  *sd = 0.0;
  if (m.n < 2.0)
    return;
  const ke_twofold square = divided(times(m.sum, m.sum), m.n);
  const ke_twofold left = add(m.squares, scaled(square, -1.0));
  const double value_sd = m.unit * sqrt(left.high > 0.0 ? left.high / (m.n - 1.0) : 0.0);
  /* a constant column leaves only what rounding put there; what is not a number stays that */
  *sd = value_sd <= 4.0 * DBL_EPSILON * fabs(*mean) ? 0.0 : value_sd;
  if (!(left.high == left.high))
    *sd = left.high;
}
