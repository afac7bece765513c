/* exp of four numbers at a time, or of eight, for loops that go on with them. */
#ifndef KERNELECT_EXP_VECTOR_H
#define KERNELECT_EXP_VECTOR_H

#include "simd.h"

#define ROUNDER 0x1.8p52

/* exp_parts: exp(x) = 2^n exp(r), n = round(x / log 2), |r| <= log(2)/2, Taylor to degree 13.
 * Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits of `shifted`. Even and odd
 * powers apart: two short chains instead of one long one.
 *
 * exp_normal: for |x| <= 700, where the result is normal: n is added to the exponent of exp(r).
 *
 * exp_any: for any x. The power of two is applied in two halves, so that results below 2^-1022 are
 * rounded once, rightly. */
#define DEFINE_EXP(scope, v, u)                                                                    \
  scope void exp_parts_##v(const v *x, v *shifted, v *q)                                           \
  {                                                                                                \
    *shifted = *x * 0x1.71547652b82fep0 + ROUNDER;                                                 \
    const v n = *shifted - ROUNDER;                                                                \
    const v r = (*x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33, r2 = r * r;                \
    v even = r2 * (1.0 / 479001600.0) + 1.0 / 3628800.0;                                           \
    v odd = r2 * (1.0 / 6227020800.0) + 1.0 / 39916800.0;                                          \
    even = even * r2 + 1.0 / 40320.0, odd = odd * r2 + 1.0 / 362880.0;                             \
    even = even * r2 + 1.0 / 720.0, odd = odd * r2 + 1.0 / 5040.0;                                 \
    even = even * r2 + 1.0 / 24.0, odd = odd * r2 + 1.0 / 120.0;                                   \
    even = even * r2 + 0.5, odd = odd * r2 + 1.0 / 6.0;                                            \
    v p = odd * r + even;                                                                          \
    p = p * r2 + r;                                                                                \
    *q = p + 1.0;                                                                                  \
  }                                                                                                \
  scope void exp_normal_##v(v *value)                                                              \
  {                                                                                                \
    v shifted, q;                                                                                  \
    exp_parts_##v(value, &shifted, &q);                                                            \
    *value = (v)((u)q + ((u)shifted << 52));                                                       \
  }                                                                                                \
  scope void exp_any_##v(v *value)                                                                 \
  {                                                                                                \
    const v bound = (v){0} + 800.0;                                                                \
    v x = *value, shifted, q;                                                                      \
    x = CHOOSE(v, u, x < -bound, -bound, x);                                                       \
    x = CHOOSE(v, u, x > bound, bound, x);                                                         \
    exp_parts_##v(&x, &shifted, &q);                                                               \
    const v n = shifted - ROUNDER, half = n * 0.5 + ROUNDER;                                       \
    const v rest = (n - (half - ROUNDER)) + ROUNDER;                                               \
    *value = q * (v)(((u)half + 1023) << 52) * (v)(((u)rest + 1023) << 52);                        \
  }

DEFINE_EXP(INLINE, v4, u4)
#if DISPATCH
DEFINE_EXP(WIDE_INLINE, v8, u8)
#endif

#endif
