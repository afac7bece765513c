#include "ffi.h"

#include <math.h>
#include <string.h>

static SEXP pack_result(SEXP solution, SEXP gradient, const ke_dual_result *r, ke_status status)
{
  const char *names[] = {"solution",  "gradient",   "value", "gap",    "scale", "violation",
                         "intercept", "iterations", "faces", "status", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, solution);
  SET_VECTOR_ELT(out, 1, gradient);
  const double numbers[] = {r->value,        r->gap,       r->scale,
                            r->violation,    r->intercept, (double)r->iterations,
                            (double)r->faces};
  for (int i = 0; i < 7; i++)
    SET_VECTOR_ELT(out, 2 + i, Rf_ScalarReal(numbers[i]));
  SET_VECTOR_ELT(out, 9, ffi_status(status));
  UNPROTECT(1);
  return out;
}

static ke_dual read_problem(SEXP problem, size_t n)
{
  ffi_assert(TYPEOF(problem) == VECSXP && n > 0, "problem");
  const ke_dual p = {.n = n,
                     .ldk = n,
                     .linear = ffi_field(problem, "linear", n),
                     .lower = ffi_field(problem, "lower", n),
                     .upper = ffi_field(problem, "upper", n),
                     .total = ffi_number(problem, "total")};
  return p;
}

static SEXP start_of(SEXP problem, size_t n)
{
  SEXP solution = Rf_allocVector(REALSXP, (R_xlen_t)n);
  memcpy(REAL(solution), ffi_field(problem, "start", n), n * sizeof(double));
  return solution;
}

/* problem: linear, lower, upper, start (n each), total; control: tol, max_iter */
SEXP ffi_dual(SEXP K, SEXP problem, SEXP control)
{
  size_t n, columns;
  const double *k = ffi_matrix(K, &n, &columns, "K");
  ffi_assert(columns == n && TYPEOF(control) == VECSXP, "K");
  ke_dual p = read_problem(problem, n);
  p.k = k;
  /* faces as wide as is any use */
  ke_dual_control settings = {.tol = ffi_number(control, "tol"), .face = ke_smaller(n, 1000)};
  settings.max_iter = ffi_count(control, "max_iter");
  settings.doubles = ffi_doubles(ke_dual_doubles(n, settings.face));
  settings.indices = ffi_sizes(ke_dual_indices(n));
  SEXP solution = PROTECT(start_of(problem, n));
  SEXP gradient = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  const ke_env env = ffi_env_serial();
  ke_dual_result result;
  const ke_status status =
      ke_dual_solve(&p, &settings, REAL(solution), REAL(gradient), &result, &env);
  SEXP out = pack_result(solution, gradient, &result, status);
  UNPROTECT(2);
  return out;
}

/* A status in place of a solution. */
static SEXP no_result(ke_status status)
{
  const char *names[] = {"status", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_status(status));
  UNPROTECT(1);
  return out;
}

/* sources: a list, each as for ffi_source(), with their weights and `noise` on the diagonal;
 * control also: size of a working set, cache (bytes), threads */
SEXP ffi_working(SEXP sources, SEXP problem, SEXP control)
{
  ffi_assert(TYPEOF(sources) == VECSXP && TYPEOF(control) == VECSXP, "sources");
  SEXP terms = ffi_element(sources, "terms");
  ffi_assert(TYPEOF(terms) == VECSXP && XLENGTH(terms) > 0, "terms");
  ke_working w = {.terms = (size_t)XLENGTH(terms), .noise = ffi_number(sources, "noise")};
  ke_source *source = (ke_source *)R_alloc(w.terms, sizeof(ke_source));
  for (size_t t = 0; t < w.terms; t++) {
    const ke_status status = ffi_source(VECTOR_ELT(terms, (R_xlen_t)t), &source[t]);
    if (status != KE_OK)
      return no_result(status);
    ffi_assert(source[t].symmetric && source[t].n == source[0].n, "terms");
  }
  const size_t n = source[0].n;
  w.source = source;
  w.weight = ffi_field(sources, "weights", w.terms);
  w.problem = read_problem(problem, n);
  ke_working_control settings = {.tol = ffi_number(control, "tol")};
  settings.max_iter = ffi_count(control, "max_iter");
  settings.size = ke_smaller(n, ffi_size(fmax(16.0, ffi_number(control, "size")), "size"));
  const double fit = ffi_number(control, "cache") / (8.0 * (double)n);
  settings.columns = (size_t)fmin((double)n, fmax((double)settings.size, fit));
  settings.doubles = ffi_doubles(ke_working_doubles(n, &settings));
  settings.indices = ffi_sizes(ke_working_indices(n, &settings));
  SEXP solution = PROTECT(start_of(problem, n));
  SEXP gradient = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  const ke_env env = ffi_env(ffi_element(control, "threads"));
  ke_dual_result result;
  const ke_status status =
      ke_working_solve(&w, &settings, REAL(solution), REAL(gradient), &result, &env);
  SEXP out = pack_result(solution, gradient, &result, status);
  UNPROTECT(2);
  return out;
}

/* sum over the columns of `a` of a'Ka of a source that is not held; NaN where values overflow */
SEXP ffi_source_form(SEXP list, SEXP a, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_source s;
  if (ffi_source(list, &s) != KE_OK)
    return Rf_ScalarReal(R_NaN);
  size_t rows, columns;
  const double *v = ffi_matrix(a, &rows, &columns, "a");
  ffi_assert(s.symmetric && rows == s.n, "a");
  double *sums = ffi_doubles(s.n), *work = ffi_doubles(ke_row_sums_work(s.n, env.threads));
  double form = 0.0;
  for (size_t c = 0; c < columns; c++) {
    ke_row_sums(&s, 0, v + c * rows, sums, work, &env);
    for (size_t i = 0; i < rows; i++)
      form += v[i + c * rows] * sums[i];
  }
  return Rf_ScalarReal(form);
}
