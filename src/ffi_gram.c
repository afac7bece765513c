#include "ffi.h"

#include <math.h>

/* The spline kernel is a product over columns, each factor at most 1 + r^2 + 7/3 r^3 with r
 * the larger of |x| and |z|; on data >= 0 the Cauchy-Schwarz inequality gives a closer bound
 * from the diagonal. Both in logarithms. */
static int spline_within_range(const ke_rows *rows)
{
  double wide = 0.0, tight = 0.0, least = 0.0;
  for (size_t i = 0; i < rows->n; i++) {
    const double *x = ke_row(rows, i);
    double any = 0.0, own = 0.0;
    for (size_t k = 0; k < rows->d * KE_PANEL; k += KE_PANEL) {
      const double r = fabs(x[k]);
      least = x[k] < least ? x[k] : least;
      any += log(1.0 + r * r + 7.0 / 3.0 * r * r * r);
      own += log(1.0 + r * r + r * r * r / 3.0);
    }
    wide = any > wide ? any : wide;
    tight = own > tight ? own : tight;
  }
  return (least < 0.0 ? 2.0 * wide : tight) < 709.0;
}

/* Whether no kernel value between rows up to this length can overflow. */
int ffi_within_range(const ke_kernel *kernel, const ke_rows *rows)
{
  double longest = 0.0;
  for (size_t i = 0; i < rows->n; i++) {
    if (!isfinite(rows->norm[i]))
      return 0;
    longest = rows->norm[i] > longest ? rows->norm[i] : longest;
  }
  if (kernel->type == KE_POLYNOMIAL)
    return isfinite(pow(kernel->scale * longest + fabs(kernel->offset), kernel->degree));
  if (kernel->type == KE_SPLINE && !spline_within_range(rows))
    return 0;
  return isfinite(4.0 * longest);
}

/* All of a source, or the name of a status. */
SEXP ffi_gram(SEXP source, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_source s;
  const ke_status status = ffi_source(source, &s);
  if (status != KE_OK)
    return ffi_status(status);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)s.n, (int)s.columns));
  ffi_large_pages(REAL(out), s.n * s.columns * sizeof(double));
  ke_gram(&s, REAL(out), &env);
  UNPROTECT(1);
  return out;
}
