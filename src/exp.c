/* The exponential of many numbers. */
#include "exp.h"

#include "exp_vector.h"

#include <string.h>

INLINE void ke_exp_body(const double *x, double *out, size_t n)
{
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v4 v = LOAD(x + i);
    exp_any_v4(&v);
    STORE(out + i, v);
  }
  if (i < n) {
    v4 v = {0};
    memcpy(&v, x + i, (n - i) * sizeof(double));
    exp_any_v4(&v);
    memcpy(out + i, &v, (n - i) * sizeof(double));
  }
}

#if DISPATCH
WIDE_TARGET static void ke_exp_wide(const double *x, double *out, size_t n)
{
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    v8 v = LOAD_8(x + i);
    exp_any_v8(&v);
    STORE_8(out + i, v);
  }
  ke_exp_body(x + i, out + i, n - i);
}
#endif

DEFINE_DISPATCHED_WIDE(, ke_exp, (const double *x, double *out, size_t n), (x, out, n))
