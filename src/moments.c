/* Means and deviations of columns that come in pieces.
 *
 * With t = (x - s) / u, s the first value and u a power of two, S1 = sum t and S2 = sum t^2 are
 * added up to twice the digits (Dekker 1971; Ogita, Rump and Oishi 2005):
 *   mean = s + u S1 / n,   sd = u sqrt((S2 - S1^2 / n) / (n - 1)).
 * A piece with another shift s' joins by d = (s' - s) / u: S1' + n' d and S2' + 2 d S1' + n' d^2.
 * All this is exact to some 2^-100 of the spread, so that a result which is rounded to a double
 * does not tell how the rows were cut, nor who added them. Cost O(n) a column. */
#include "moments.h"

#include "simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A product that joins a sum before it is rounded would make the rests below wrong. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

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

/* *most: the largest |x - from|. */
INLINE void largest_distance_body(const double *x, size_t n, double from, double *most)
{
  v4 large = SPLAT(0.0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v4 off = LOAD(x + i) - from, size = (v4)((u4)off & (UINT64_MAX >> 1));
    large = SELECT(size > large, size, large);
  }
  *most = 0.0;
  for (size_t k = 0; k < 4; k++)
    *most = large[k] > *most ? large[k] : *most;
  for (; i < n; i++)
    *most = fabs(x[i] - from) > *most ? fabs(x[i] - from) : *most;
}

DEFINE_DISPATCHED(static, largest_distance, (const double *x, size_t n, double from, double *most),
                  (x, n, from, most))

/* Four twofold sums side by side. */
typedef struct {
  v4 high, low;
} twofold_v4;

INLINE void add_v4(twofold_v4 *a, const v4 *high, const v4 *low)
{
  const v4 s = a->high + *high, back = s - a->high;
  const v4 rest = ((a->high - (s - back)) + (*high - back)) + (a->low + *low);
  a->high = s + rest;
  a->low = rest - (a->high - s);
}

/* t = (x - shift) by, with its rest, and t^2 likewise; cut off at 26 bits the square is exact. */
INLINE void add_values(const v4 *x, const ke_moments *m, twofold_v4 *sum, twofold_v4 *squares)
{
  const v4 from = SPLAT(m->shift), by = SPLAT(1.0 / m->unit);
  const v4 d = *x - from, back = d - *x;
  const v4 t = d * by, rest = ((*x - (d - back)) - (from + back)) * by;
  const v4 upper = (v4)((u4)t & ~(uint64_t)0x7ffffff), lower = t - upper;
  const v4 square = t * t;
  const v4 below = ((upper * upper - square) + 2.0 * upper * lower) + lower * lower;
  const v4 all_below = below + 2.0 * t * rest;
  add_v4(sum, &t, &rest);
  add_v4(squares, &square, &all_below);
}

static void join(const twofold_v4 *lanes, ke_twofold *sum)
{
  for (size_t k = 0; k < 4; k++)
    *sum = add(*sum, (ke_twofold){lanes->high[k], lanes->low[k]});
}

/* Two vectors side by side: one would wait for itself. */
INLINE void add_column_body(const double *x, size_t n, ke_moments *m)
{
  const twofold_v4 zero = {SPLAT(0.0), SPLAT(0.0)};
  twofold_v4 sum = zero, squares = zero, other_sum = zero, other_squares = zero;
  v4 part[2];
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    part[0] = LOAD(x + i);
    part[1] = LOAD(x + i + 4);
    add_values(part, m, &sum, &squares);
    add_values(part + 1, m, &other_sum, &other_squares);
  }
  part[0] = part[1] = SPLAT(m->shift); /* lanes beyond the end add nothing */
  memcpy(part, x + i, (n - i) * sizeof(double));
  add_values(part, m, &sum, &squares);
  add_values(part + 1, m, &other_sum, &other_squares);
  join(&sum, &m->sum);
  join(&other_sum, &m->sum);
  join(&squares, &m->squares);
  join(&other_squares, &m->squares);
}

DEFINE_DISPATCHED(static, add_column, (const double *x, size_t n, ke_moments *m), (x, n, m))

ke_moments ke_column_moments(const double *x, size_t n)
{
  ke_moments m = {(double)n, n > 0 ? x[0] : 0.0, 1.0, {0.0, 0.0}, {0.0, 0.0}};
  double most;
  largest_distance(x, n, m.shift, &most);
  m.unit = power_above(most);
  add_column(x, n, &m);
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
