/* exp of four numbers at a time, for loops that go on with them. */
#ifndef KERNELECT_EXP_V4_H
#define KERNELECT_EXP_V4_H

#include "simd.h"

/* exp(x) = 2^n exp(r), n = round(x / log 2), |r| <= log(2)/2, Taylor to degree 13. Adding
 * 1.5 * 2^52 rounds to an integer and leaves it in the low bits of `shifted`. */
#define ROUNDER 0x1.8p52

INLINE void exp_parts(const v4 *x, v4 *shifted, v4 *q)
{
  *shifted = *x * 0x1.71547652b82fep0 + ROUNDER;
  const v4 n = *shifted - ROUNDER;
  const v4 r = (*x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  /* even and odd powers apart: two short chains instead of one long one */
  const v4 r2 = r * r;
  v4 even = SPLAT(1.0 / 479001600.0), odd = SPLAT(1.0 / 6227020800.0);
  even = even * r2 + 1.0 / 3628800.0, odd = odd * r2 + 1.0 / 39916800.0;
  even = even * r2 + 1.0 / 40320.0, odd = odd * r2 + 1.0 / 362880.0;
  even = even * r2 + 1.0 / 720.0, odd = odd * r2 + 1.0 / 5040.0;
  even = even * r2 + 1.0 / 24.0, odd = odd * r2 + 1.0 / 120.0;
  even = even * r2 + 0.5, odd = odd * r2 + 1.0 / 6.0;
  v4 p = odd * r + even;
  p = p * r2 + r;
  *q = p + 1.0;
}

/* For |x| <= 700, where the result is normal: n is added to the exponent of exp(r). */
INLINE void exp_normal_v4(v4 *value)
{
  v4 shifted, q;
  exp_parts(value, &shifted, &q);
  *value = (v4)((u4)q + ((u4)shifted << 52));
}

/* For any x. The power of two is applied in two halves, so that results below 2^-1022 are
 * rounded once, rightly. */
INLINE void exp_v4(v4 *value)
{
  const v4 bound = SPLAT(800.0);
  v4 x = *value, shifted, q;
  x = SELECT(x < -bound, -bound, x);
  x = SELECT(x > bound, bound, x);
  exp_parts(&x, &shifted, &q);
  const v4 n = shifted - ROUNDER, half = n * 0.5 + ROUNDER, rest = (n - (half - ROUNDER)) + ROUNDER;
  const v4 scale1 = (v4)(((u4)half + 1023) << 52), scale2 = (v4)(((u4)rest + 1023) << 52);
  *value = q * scale1 * scale2;
}

#endif
