/* Glue of coordinate descent (descent.c). */
#include "ffi.h"

#include <string.h>

static double *copy_vector(SEXP list, int at, const double *from, size_t n)
{
  SET_VECTOR_ELT(list, at, Rf_allocVector(REALSXP, (R_xlen_t)n));
  double *to = REAL(VECTOR_ELT(list, at));
  if (from)
    memcpy(to, from, n * sizeof(double));
  else
    memset(to, 0, n * sizeof(double));
  return to;
}

/* `problem`: z, scale, diagonal, linear, lower, upper, level, spread; `state`: b, v, sum; `order`:
 * rows 0, 1, ... in the order of their visits, `sweeps` times. Fields: b, v, slope, sum,
 * violation (of the last sweep). */
SEXP ffi_descend(SEXP problem, SEXP state, SEXP order, SEXP sweeps)
{
  const char *names[] = {"b", "v", "slope", "sum", "violation", ""};
  const ke_env env = ffi_env_serial();
  ke_descent p;
  p.z = ffi_matrix(ffi_element(problem, "z"), &p.d, &p.n, "z");
  p.scale = ffi_field(problem, "scale", p.d);
  p.diagonal = ffi_field(problem, "diagonal", p.n);
  p.linear = ffi_field(problem, "linear", p.n);
  p.lower = ffi_field(problem, "lower", p.n);
  p.upper = ffi_field(problem, "upper", p.n);
  p.level = Rf_asReal(ffi_element(problem, "level"));
  p.spread = Rf_asReal(ffi_element(problem, "spread"));
  ffi_assert(TYPEOF(order) == INTSXP, "order");
  const size_t count = (size_t)XLENGTH(order);
  for (size_t i = 0; i < count; i++)
    ffi_assert(INTEGER(order)[i] >= 0 && (size_t)INTEGER(order)[i] < p.n, "order");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  double *b = copy_vector(out, 0, ffi_field(state, "b", p.n), p.n);
  double *v = copy_vector(out, 1, ffi_field(state, "v", p.d), p.d);
  double *slope = copy_vector(out, 2, NULL, p.n);
  double sum = Rf_asReal(ffi_element(state, "sum")), worst = 0.0;
  for (int i = 0; i < Rf_asInteger(sweeps); i++)
    worst = ke_descend(&p, INTEGER(order), count, b, v, &sum, slope, &env);
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(sum));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal(worst));
  UNPROTECT(1);
  return out;
}
