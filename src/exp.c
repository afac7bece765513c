/* The exponential of many numbers. */
#include "exp.h"

#include "exp_v4.h"

#include <string.h>

INLINE void exp_body(const double *x, double *out, size_t n)
{
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v4 v = LOAD(x + i);
    exp_v4(&v);
    STORE(out + i, v);
  }
  if (i < n) {
    v4 v = {0};
    memcpy(&v, x + i, (n - i) * sizeof(double));
    exp_v4(&v);
    memcpy(out + i, &v, (n - i) * sizeof(double));
  }
}

#define ke_exp_body exp_body
DEFINE_DISPATCHED(, ke_exp, (const double *x, double *out, size_t n), (x, out, n))
