#include "ffi.h"

#include <string.h>

/* The factor U of the target, a row for each of n. */
const double *ffi_target(SEXP u, size_t n, size_t *rank)
{
  size_t rows;
  const double *values = ffi_matrix(u, &rows, rank, "target");
  ffi_assert(rows == n && *rank > 0, "target");
  return values;
}

/* spec: type, constant, block; where work is shared also share (from 0) and shares */
static ke_criterion criterion_of(SEXP x, SEXP u, SEXP spec, SEXP kernel, const ke_env *env)
{
  ke_criterion c;
  memset(&c, 0, sizeof c);
  static const char *const types[] = {[KE_PRODUCT] = "product",
                                      [KE_ALIGNMENT] = "alignment",
                                      [KE_SEPARABILITY] = "separability",
                                      NULL};
  ffi_assert(TYPEOF(spec) == VECSXP, "criterion");
  c.type = (ke_criterion_type)ffi_choice(ffi_element(spec, "type"), types, "criterion");
  c.constant = ffi_number(spec, "constant");
  if (ffi_element(spec, "shares") != R_NilValue) {
    c.share = ffi_count(spec, "share");
    c.shares = ffi_count(spec, "shares");
    ffi_assert(c.share < c.shares, "share");
  }
  c.x = ffi_matrix(x, &c.n, &c.d, "x");
  c.kernel = ffi_kernel(kernel, c.d);
  c.u = ffi_target(u, c.n, &c.rank);
  const size_t most = (c.n + KE_STRIP - 1) / KE_STRIP * KE_STRIP;
  const double block = ffi_number(spec, "block");
  ffi_assert(block >= 1 && c.n > 0 && ke_is_smooth(&c.kernel), "block");
  c.block = block < (double)most ? ((size_t)block + KE_STRIP - 1) / KE_STRIP * KE_STRIP : most;
  double *work = ffi_doubles(ke_criterion_work(&c, env));
  ke_criterion_open(&c, work, env);
  return c;
}

static SEXP value_and_gradient(double value, const double *gradient, size_t d)
{
  const char *const names[] = {"value", "gradient"};
  const SEXP values[] = {PROTECT(Rf_ScalarReal(value)), PROTECT(ffi_vector(gradient, d))};
  SEXP out = ffi_named_list(2, names, values);
  UNPROTECT(2);
  return out;
}

/* What a share of the pairs of rows adds to the criterion. */
SEXP ffi_criterion_forms(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_criterion c = criterion_of(x, u, spec, kernel, &env);
  const double *w = ffi_optional(weights, c.d, "weights");
  ffi_assert(w != NULL, "weights");
  double *forms = ffi_doubles(ke_criterion_forms_size(&c));
  ke_criterion_forms(&c, w, forms, &env);
  return ffi_vector(forms, ke_criterion_forms_size(&c));
}

/* Value and gradient from the sum of all shares. */
SEXP ffi_criterion_finish(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP forms)
{
  const ke_env env = ffi_env_serial();
  ke_criterion c = criterion_of(x, u, spec, kernel, &env);
  const double *w = ffi_optional(weights, c.d, "weights"),
               *sums = ffi_optional(forms, ke_criterion_forms_size(&c), "forms");
  ffi_assert(w != NULL && sums != NULL, "weights");
  double *gradient = ffi_doubles(c.d), value;
  ke_criterion_weigh(&c, w);
  ke_criterion_finish(&c, sums, &value, gradient);
  return value_and_gradient(value, gradient, c.d);
}

/* Value and gradient (by v = w^2) for scale factors w. */
SEXP ffi_criterion(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_criterion c = criterion_of(x, u, spec, kernel, &env);
  const double *w = ffi_optional(weights, c.d, "weights");
  ffi_assert(w != NULL, "weights");
  double *gradient = ffi_doubles(c.d), value;
  ke_criterion_evaluate(&c, w, &value, gradient, &env);
  return value_and_gradient(value, gradient, c.d);
}

typedef struct {
  ke_criterion *criterion;
  const ke_env *env;
} objective_data;

static ke_status evaluate(void *data, const double *w, double *value, double *gradient)
{
  const objective_data *o = data;
  return ke_criterion_evaluate(o->criterion, w, value, gradient, o->env);
}

SEXP ffi_maximise(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP start, SEXP control, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_criterion c = criterion_of(x, u, spec, kernel, &env);
  objective_data data = {&c, &env};
  const ke_objective f = {c.d, evaluate, &data};
  return ffi_search(&f, start, control);
}
