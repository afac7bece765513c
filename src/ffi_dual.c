#include "ffi.h"

#include <string.h>

/* Columns of a source as they are asked for. */
typedef struct {
  ke_source source;
  ke_env env;
} column_source;

static void source_column(void *data, size_t j, double *out)
{
  const column_source *c = (const column_source *)data;
  ke_source_columns(&c->source, &j, 1, out, c->source.n, &c->env);
}

/* source: as for ffi_source() */
static void set_rows(ke_dual *problem, SEXP source)
{
  column_source *c = (column_source *)R_alloc(1, sizeof(column_source));
  c->env = ffi_env_serial();
  (void)ffi_source(source, &c->source); /* the solver sees an overflow itself */
  ffi_assert(c->source.symmetric, "source");
  double *diagonal = ffi_doubles(c->source.n);
  c->source.does->diagonal(c->source.self, diagonal);
  problem->n = c->source.n;
  problem->column = source_column;
  problem->data = c;
  problem->diagonal = diagonal;
}

static void set_matrix(ke_dual *problem, SEXP source)
{
  size_t columns;
  problem->k = ffi_matrix(source, &problem->n, &columns, "K");
  problem->ldk = problem->n;
  ffi_assert(columns == problem->n, "K");
}

/* Faces as wide as is any use, a cache of at most `bytes`. */
static void lend_work(ke_dual_control *control, const ke_dual *problem, double bytes)
{
  const size_t n = problem->n, most = 1000;
  const double fit = bytes / (8.0 * (double)n);
  control->face = ke_smaller(n, most);
  control->columns = problem->k ? 0 : (size_t)fmax(2.0, fmin(fit, (double)n));
  control->doubles = ffi_doubles(ke_dual_doubles(n, control->columns, control->face));
  control->indices = ffi_sizes(ke_dual_indices(n, control->columns));
}

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

static const double *vector_of(SEXP list, const char *name, size_t n)
{
  const double *v = ffi_optional(ffi_element(list, name), n, name);
  ffi_assert(v != NULL, name);
  return v;
}

/* problem: linear, lower, upper, start (n each), total; control: tol, max_iter, cache (bytes) */
SEXP ffi_dual(SEXP source, SEXP problem, SEXP control)
{
  ke_dual p;
  memset(&p, 0, sizeof p);
  ffi_assert(TYPEOF(problem) == VECSXP && TYPEOF(control) == VECSXP, "problem");
  if (TYPEOF(source) == VECSXP)
    set_rows(&p, source);
  else
    set_matrix(&p, source);
  const size_t n = p.n;
  ffi_assert(n > 0, "rows");
  p.linear = vector_of(problem, "linear", n);
  p.lower = vector_of(problem, "lower", n);
  p.upper = vector_of(problem, "upper", n);
  p.total = ffi_number(problem, "total");
  ke_dual_control settings = {0};
  settings.tol = ffi_number(control, "tol");
  settings.max_iter = (size_t)ffi_number(control, "max_iter");
  lend_work(&settings, &p, ffi_number(control, "cache"));

  SEXP solution = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  SEXP gradient = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  memcpy(REAL(solution), vector_of(problem, "start", n), n * sizeof(double));
  const ke_env env = ffi_env_serial();
  ke_dual_result result;
  const ke_status status =
      ke_dual_solve(&p, &settings, REAL(solution), REAL(gradient), &result, &env);
  SEXP out = pack_result(solution, gradient, &result, status);
  UNPROTECT(2);
  return out;
}
