#include "ffi.h"

#include <string.h>

/* A named list; the values are protected by the caller. */
static SEXP named_list(int count, const char *const names[], const SEXP values[])
{
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count)),
       labels = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++) {
    SET_VECTOR_ELT(list, i, values[i]);
    SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
  }
  Rf_setAttrib(list, R_NamesSymbol, labels);
  UNPROTECT(2);
  return list;
}

static SEXP vector_of(const double *from, size_t n)
{
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
  memcpy(REAL(out), from, n * sizeof(double));
  return out;
}

/* The factor U of the target, a row for each of n. */
static const double *target_factor(SEXP u, size_t n, size_t *rank)
{
  size_t rows;
  const double *values = ffi_matrix(u, &rows, rank, "target");
  ffi_assert(rows == n && *rank > 0, "target");
  return values;
}

/* spec: type, constant, block */
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
  c.x = ffi_matrix(x, &c.n, &c.d, "x");
  c.kernel = ffi_kernel(kernel, c.d);
  c.u = target_factor(u, c.n, &c.rank);
  const size_t most = (c.n + KE_STRIP - 1) / KE_STRIP * KE_STRIP;
  const double block = ffi_number(spec, "block");
  ffi_assert(block >= 1 && c.n > 0 && ke_is_smooth(&c.kernel), "block");
  c.block = block < (double)most ? ((size_t)block + KE_STRIP - 1) / KE_STRIP * KE_STRIP : most;
  double *work = ffi_doubles(ke_criterion_work(&c, env));
  ke_criterion_open(&c, work, env);
  return c;
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
  const char *const names[] = {"value", "gradient"};
  const SEXP values[] = {PROTECT(Rf_ScalarReal(value)), PROTECT(vector_of(gradient, c.d))};
  SEXP out = named_list(2, names, values);
  UNPROTECT(2);
  return out;
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

static SEXP search_result(const ke_search *s, const double *w, size_t d, ke_status status)
{
  const char *const names[] = {"weights", "value", "gradient", "values", "steps", "status"};
  const SEXP values[] = {PROTECT(vector_of(w, d)),
                         PROTECT(Rf_ScalarReal(s->value)),
                         PROTECT(vector_of(s->gradient, d)),
                         PROTECT(vector_of(s->values, s->iterations + 1)),
                         PROTECT(vector_of(s->steps, s->iterations + 1)),
                         PROTECT(ffi_status(status))};
  SEXP out = named_list(6, names, values);
  UNPROTECT(6);
  return out;
}

/* control: optimizer ("lbfgs" or "ascent"), max_iter, tol, kinked (1 or 0) */
static SEXP run_search(const ke_objective *f, SEXP start, SEXP control)
{
  const double *from = ffi_optional(start, f->d, "start");
  ffi_assert(from != NULL && TYPEOF(control) == VECSXP, "control");
  static const char *const optimizers[] = {"lbfgs", "ascent", NULL};
  const int plain = ffi_choice(ffi_element(control, "optimizer"), optimizers, "optimizer");
  const size_t max_iter = (size_t)ffi_number(control, "max_iter");
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

SEXP ffi_maximise(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP start, SEXP control, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_criterion c = criterion_of(x, u, spec, kernel, &env);
  objective_data data = {&c, &env};
  const ke_objective f = {c.d, evaluate, &data};
  return run_search(&f, start, control);
}

typedef struct {
  SEXP function, environment;
  size_t d;
} function_data;

/* An R function of w that returns the value followed by the gradient by v. */
static ke_status evaluate_function(void *data, const double *w, double *value, double *gradient)
{
  const function_data *o = data;
  SEXP call = PROTECT(Rf_lang2(o->function, PROTECT(vector_of(w, o->d))));
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
  return run_search(&f, start, control);
}

/* ---- searches over sets of columns ------------------------------------------------------- */

static ke_rows target_rows(SEXP u, size_t n)
{
  size_t rank;
  const double *values = target_factor(u, n, &rank);
  ke_rows rows = ffi_rows_lend(n, rank, 1);
  ke_panels(values, n, NULL, NULL, &rows);
  return rows;
}

static ke_subset subset_of(SEXP x, SEXP u, SEXP kernel)
{
  ke_subset s;
  memset(&s, 0, sizeof s);
  s.x = ffi_matrix(x, &s.n, &s.d, "x");
  s.kernel = ffi_kernel(kernel, s.d);
  s.target = target_rows(u, s.n);
  s.rows = ffi_rows_lend(s.n, s.d, ke_kernel_blocks(&s.kernel));
  return s;
}

/* Each column by itself, for all blocks of the kernel. */
static void pack_columns(ke_subset *s)
{
  const size_t blocks = ke_kernel_blocks(&s->kernel);
  ke_rows *column = (ke_rows *)R_alloc(s->d, sizeof(ke_rows));
  for (size_t e = 0; e < s->d; e++) {
    column[e] = ffi_rows_lend(s->n, 1, blocks);
    for (size_t b = 0; b < blocks; b++) {
      const double *weights = s->kernel.look[b].weights;
      ke_rows part = ke_block(&column[e], b);
      ke_pack(s->x + e * s->n, s->n, NULL, weights ? weights + e : NULL, &part);
    }
  }
  s->column = column;
}

static SEXP subset_result(SEXP kt, SEXP kk)
{
  const char *const names[] = {"target", "self"};
  const SEXP values[] = {kt, kk};
  return named_list(2, names, values);
}

SEXP ffi_subset_pairs(SEXP x, SEXP u, SEXP kernel, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_subset s = subset_of(x, u, kernel);
  pack_columns(&s);
  double *work = ffi_doubles(ke_subset_work(s.d, &env));
  const int rows = (int)s.d + 1;
  SEXP kt = PROTECT(Rf_allocMatrix(REALSXP, rows, rows));
  SEXP kk = PROTECT(Rf_allocMatrix(REALSXP, rows, rows));
  ke_subset_pairs(&s, REAL(kt), REAL(kk), work, &env);
  SEXP out = subset_result(kt, kk);
  UNPROTECT(2);
  return out;
}

SEXP ffi_subset_extend(SEXP x, SEXP u, SEXP kernel, SEXP chosen, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_subset s = subset_of(x, u, kernel);
  pack_columns(&s);
  double *work = ffi_doubles(ke_subset_work(s.d, &env));
  SEXP kt = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)s.d));
  SEXP kk = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)s.d));
  ffi_assert(chosen != R_NilValue, "chosen");
  ke_subset_extend(&s, ffi_optional(chosen, s.d, "chosen"), REAL(kt), REAL(kk), work, &env);
  SEXP out = subset_result(kt, kk);
  UNPROTECT(2);
  return out;
}

SEXP ffi_subset_reduce(SEXP x, SEXP u, SEXP kernel, SEXP chosen, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_subset s = subset_of(x, u, kernel);
  ffi_assert(s.kernel.parts == 0 && s.kernel.look[0].weights == NULL, "kernel of parts");
  double *work = ffi_doubles(ke_subset_work(s.d, &env));
  SEXP kt = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)s.d));
  ffi_assert(chosen != R_NilValue, "chosen");
  ke_subset_reduce(&s, ffi_optional(chosen, s.d, "chosen"), REAL(kt), work, &env);
  UNPROTECT(1);
  return kt;
}

/* Sums for sets with one column flipped, the width given for each; see flip.h. */
SEXP ffi_flip_sums(SEXP x, SEXP u, SEXP chosen, SEXP gamma, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_flip f;
  memset(&f, 0, sizeof f);
  f.x = ffi_matrix(x, &f.n, &f.d, "x");
  f.target = target_rows(u, f.n);
  f.rows = ffi_rows_lend(f.n, f.d, 1);
  f.chosen = ffi_optional(chosen, f.d, "chosen");
  f.gamma = ffi_optional(gamma, f.d, "gamma");
  ffi_assert(f.chosen != NULL && f.gamma != NULL, "set");
  double *work = ffi_doubles(ke_flip_work(&env));
  SEXP kt = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)f.d));
  SEXP kk = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)f.d));
  ke_flip_sums(&f, REAL(kt), REAL(kk), work, &env);
  SEXP out = subset_result(kt, kk);
  UNPROTECT(2);
  return out;
}
