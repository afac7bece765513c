#include "ffi.h"

/* Classes from 1; 0 for a row of none of them. */
static const int *labels_or_none(SEXP label, size_t n, size_t k)
{
  ffi_assert(TYPEOF(label) == INTSXP && (size_t)XLENGTH(label) == n, "labels");
  int *out = (int *)ffi_alloc(n, sizeof(int));
  for (size_t i = 0; i < n; i++) {
    const int from_one = INTEGER(label)[i];
    ffi_assert(from_one >= 0 && (size_t)from_one <= k, "label out of range");
    out[i] = from_one - 1;
  }
  return out;
}

/* Loss, gradient and hessian of slope and offsets b. */
SEXP ffi_softmax(SEXP decisions, SEXP label, SEXP weights, SEXP b, SEXP penalty, SEXP threads)
{
  const char *names[] = {"loss", "gradient", "hessian", ""};
  const ke_env env = ffi_env(threads);
  ke_softmax s;
  ke_bend at;
  s.d = ffi_matrix(decisions, &s.n, &s.k, "decisions");
  s.label = labels_or_none(label, s.n, s.k);
  s.weights = ffi_optional(weights, s.n, "weights");
  const double *place = ffi_optional(b, s.k + 1, "b");
  s.penalty = Rf_asReal(penalty);
  ffi_assert(s.weights && place && s.k > 0 && s.penalty >= 0.0, "b");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  at.gradient = REAL(SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)s.k + 1)));
  at.hessian = REAL(SET_VECTOR_ELT(out, 2, Rf_allocMatrix(REALSXP, (int)s.k + 1, (int)s.k + 1)));
  ke_softmax_at(&s, place, ffi_doubles(ke_softmax_work(s.n, s.k, env.threads)), &at, &env);
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(at.loss));
  UNPROTECT(1);
  return out;
}
