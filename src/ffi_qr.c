#include "ffi.h"

#include <string.h>

/* R (p x p, upper triangular) with the rows of a matrix (m x p) joined; R may be NULL. */
SEXP ffi_qr_append(SEXP r, SEXP rows)
{
  size_t m, p, height = 0, width = 0;
  const double *from = ffi_matrix(rows, &m, &p, "rows");
  const double *old = r == R_NilValue ? NULL : ffi_matrix(r, &height, &width, "r");
  ffi_assert(!old || (height == p && width == p), "dimensions");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)p, (int)p));
  const ke_qr q = {p, m, REAL(out), ffi_doubles(m * p), ffi_doubles(ke_qr_work(p))};
  if (old)
    memcpy(q.r, old, p * p * sizeof(double));
  else
    memset(q.r, 0, p * p * sizeof(double));
  memcpy(q.rows, from, m * p * sizeof(double));
  ke_qr_append(&q, &env);
  UNPROTECT(1);
  return out;
}
