#include "ffi.h"

#include <math.h>
#include <string.h>

/* Values and vectors of a symmetric matrix, the latter of values above `least` times the largest
 * absolute one only. Or the name of a status. */
SEXP ffi_eigen(SEXP a, SEXP least)
{
  const char *names[] = {"values", "vectors", ""};
  size_t n, m;
  const double *matrix = ffi_matrix(a, &n, &m, "matrix");
  ffi_assert(n == m && n > 0, "matrix");
  const ke_env env = ffi_env_serial();
  const double floor = Rf_asReal(least);
  double *copy = ffi_doubles(n * n), *vectors = ffi_doubles(n * n);
  memcpy(copy, matrix, n * n * sizeof(double));
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)n));
  double *values = REAL(VECTOR_ELT(out, 0));
  int *whole = (int *)ffi_alloc(ke_eigen_whole(n), sizeof(int));
  const ke_status status = ke_symmetric_eigen(n, copy, floor, values, vectors,
                                              ffi_doubles(ke_eigen_work(n)), whole, &env);
  size_t kept = 0;
  while (kept < n && values[kept] > ke_eigen_floor(values, n, floor))
    kept++;
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)n, (int)kept));
  memcpy(REAL(VECTOR_ELT(out, 1)), vectors, n * kept * sizeof(double));
  UNPROTECT(1);
  return status == KE_OK ? out : ffi_status(status);
}
