/* Four doubles at a time by the compiler's vector extension, and one source compiled twice:
 * for the baseline and for AVX2 + FMA, chosen at run time. */
#ifndef KERNELECT_SIMD_H
#define KERNELECT_SIMD_H

#include "env.h"

typedef double v4 __attribute__((vector_size(32)));
typedef double v4_loose __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t l4 __attribute__((vector_size(32)));
typedef uint64_t u4 __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

/* GCC on Windows misaligns AVX spills, so it keeps the baseline; KE_PLAIN is for tests of it. */
#if defined(__x86_64__) && !defined(_WIN32) && !defined(KE_PLAIN)
#define DISPATCH 1
#define FAST_TARGET __attribute__((target("avx2,fma")))
#define HAS_FAST() (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
/* Eight at a time, in the few loops where that is worth a version of its own: inner products and
 * exponentials, which give the same numbers. KE_NARROW is for tests without it. */
typedef double v8 __attribute__((vector_size(64)));
typedef double v8_loose __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint64_t u8 __attribute__((vector_size(64)));
#define LOAD_8(p) ((v8)(*(const v8_loose *)(p)))
#define STORE_8(p, v) (*(v8_loose *)(p) = (v8_loose)(v))
#define WIDE_TARGET __attribute__((target("avx512f,avx2,fma")))
#define WIDE_INLINE WIDE_TARGET static inline __attribute__((always_inline))
#ifdef KE_NARROW
#define HAS_WIDE() 0
#else
#define HAS_WIDE() (HAS_FAST() && __builtin_cpu_supports("avx512f"))
#endif
#else
#define DISPATCH 0
#define HAS_FAST() 0
#endif

/* Defines `name` from the always-inlined `name##_body`, dispatched; or also to `name##_wide`, for
 * AVX-512. */
#if DISPATCH
#define DEFINE_VERSIONS(name, params, args)                                                        \
  FAST_TARGET static void name##_fast params { name##_body args; }                                 \
  static void name##_base params { name##_body args; }
#define DEFINE_DISPATCHED(scope, name, params, args)                                               \
  DEFINE_VERSIONS(name, params, args)                                                              \
  scope void name params                                                                           \
  {                                                                                                \
    if (HAS_FAST())                                                                                \
      name##_fast args;                                                                            \
    else                                                                                           \
      name##_base args;                                                                            \
  }
#define DEFINE_DISPATCHED_WIDE(scope, name, params, args)                                          \
  DEFINE_VERSIONS(name, params, args)                                                              \
  scope void name params                                                                           \
  {                                                                                                \
    if (HAS_WIDE())                                                                                \
      name##_wide args;                                                                            \
    else if (HAS_FAST())                                                                           \
      name##_fast args;                                                                            \
    else                                                                                           \
      name##_base args;                                                                            \
  }
#else
#define DEFINE_DISPATCHED(scope, name, params, args)                                               \
  scope void name params { name##_body args; }
#define DEFINE_DISPATCHED_WIDE DEFINE_DISPATCHED
#endif

#define LOAD(p) ((v4)(*(const v4_loose *)(p)))
#define STORE(p, v) (*(v4_loose *)(p) = (v4_loose)(v))
#define SPLAT(x) ((v4){(x), (x), (x), (x)})
#define CHOOSE(v, u, mask, yes, no) ((v)(((u)(mask) & (u)(yes)) | (~(u)(mask) & (u)(no))))
#define SELECT(mask, yes, no) CHOOSE(v4, u4, mask, yes, no)

INLINE double sum_v4(const v4 *x) { return ((*x)[0] + (*x)[1]) + ((*x)[2] + (*x)[3]); }

#endif
