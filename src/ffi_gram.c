#include "ffi.h"

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
