#include "ffi.h"

#include <string.h>

static SEXP search_result(const ke_search *s, const double *w, size_t d, ke_status status)
{
  const char *const names[] = {"weights", "value", "gradient", "values", "steps", "status"};
  const SEXP values[] = {PROTECT(ffi_vector(w, d)),
                         PROTECT(Rf_ScalarReal(s->value)),
                         PROTECT(ffi_vector(s->gradient, d)),
                         PROTECT(ffi_vector(s->values, s->iterations + 1)),
                         PROTECT(ffi_vector(s->steps, s->iterations + 1)),
                         PROTECT(ffi_status(status))};
  SEXP out = ffi_named_list(6, names, values);
  UNPROTECT(6);
  return out;
}

/* control: optimizer ("lbfgs" or "ascent"), max_iter, tol, kinked (1 or 0) */
SEXP ffi_search(const ke_objective *f, SEXP start, SEXP control)
{
  const double *from = ffi_optional(start, f->d, "start");
  ffi_assert(from != NULL && TYPEOF(control) == VECSXP, "control");
  static const char *const optimizers[] = {"lbfgs", "ascent", NULL};
  const int plain = ffi_choice(ffi_element(control, "optimizer"), optimizers, "optimizer");
  const size_t max_iter = ffi_count(control, "max_iter");
  double *w = ffi_doubles(f->d);
  memcpy(w, from, f->d * sizeof(double));
  ke_search s = {.max_iter = max_iter,
                 .tol = ffi_number(control, "tol"),
                 .kinked = ffi_number(control, "kinked") != 0.0};
  s.gradient = ffi_doubles(f->d);
  s.values = ffi_doubles(max_iter + 1);
  s.steps = ffi_doubles(max_iter + 1);
  double *work = ffi_doubles(ke_search_work(f->d));
  const ke_status status = (plain ? ke_ascend : ke_lbfgs)(f, &s, w, work);
  return search_result(&s, w, f->d, status);
}

typedef struct {
  SEXP function, environment;
  size_t d;
} function_data;

/* An R function of w that returns the value followed by the gradient by v. */
static ke_status evaluate_function(void *data, const double *w, double *value, double *gradient)
{
  const function_data *o = data;
  SEXP call = PROTECT(Rf_lang2(o->function, PROTECT(ffi_vector(w, o->d))));
  SEXP result = PROTECT(Rf_eval(call, o->environment));
  ffi_assert(TYPEOF(result) == REALSXP && (size_t)XLENGTH(result) == o->d + 1, "objective");
  *value = REAL(result)[0];
  memcpy(gradient, REAL(result) + 1, o->d * sizeof(double));
  UNPROTECT(3);
  R_CheckUserInterrupt();
  return R_FINITE(*value) ? KE_OK : KE_NOT_FINITE;
}

SEXP ffi_maximise_function(SEXP function, SEXP environment, SEXP start, SEXP control)
{
  ffi_assert(Rf_isFunction(function) && Rf_isEnvironment(environment), "function");
  function_data data = {function, environment, (size_t)XLENGTH(start)};
  const ke_objective f = {data.d, evaluate_function, &data};
  return ffi_search(&f, start, control);
}
