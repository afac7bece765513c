/* Square roots of four numbers that are not negative, for loops that go on with them. The library's
 * sqrt() looks at each for errno; the instruction takes as many as it can at a time. */
#ifndef KERNELECT_ROOTS_H
#define KERNELECT_ROOTS_H

#include "simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline void roots_base(v4 *x)
{
  __m128d low = {(*x)[0], (*x)[1]}, high = {(*x)[2], (*x)[3]};
  low = _mm_sqrt_pd(low), high = _mm_sqrt_pd(high);
  *x = (v4){low[0], low[1], high[0], high[1]};
}
#else
#include <math.h>

static inline void roots_base(v4 *x)
{
  for (int k = 0; k < 4; k++)
    (*x)[k] = sqrt((*x)[k]);
}
#endif

#if DISPATCH
FAST_TARGET static inline void roots_fast(v4 *x) { *x = (v4)_mm256_sqrt_pd((__m256d)*x); }
#endif

#endif
