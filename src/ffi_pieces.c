#include "ffi.h"

#include <string.h>

/* The upper Cholesky factor of a symmetric matrix; NULL when it is not positive definite. */
SEXP ffi_cholesky(SEXP a)
{
  size_t n, m;
  const double *values = ffi_matrix(a, &n, &m, "matrix");
  ffi_assert(n == m && n > 0, "matrix");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
  double *r = REAL(out);
  for (size_t j = 0; j < n; j++) {
    memcpy(r + j * n, values + j * n, (j + 1) * sizeof(double));
    memset(r + j * n + j + 1, 0, (n - j - 1) * sizeof(double));
  }
  const int good = ke_cholesky_upper(n, r, n, &env);
  UNPROTECT(1);
  return good ? out : R_NilValue;
}
