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
  ffi_source(source, &c->source); /* an overflow shows in the solver */
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
  SET_VECTOR_ELT(out, 9, Rf_ScalarInteger((int)status));
  UNPROTECT(1);
  return out;
}

/* vectors: n x 4, columns linear, lower, upper, start; control: total, tol, max_iter, bytes */
SEXP ffi_dual(SEXP source, SEXP vectors, SEXP control)
{
  ke_dual problem;
  memset(&problem, 0, sizeof problem);
  if (TYPEOF(source) == VECSXP)
    set_rows(&problem, source);
  else
    set_matrix(&problem, source);
  size_t n, columns;
  const double *v = ffi_matrix(vectors, &n, &columns, "vectors");
  ffi_assert(n == problem.n && n > 0 && columns == 4, "vectors");
  ffi_assert(TYPEOF(control) == REALSXP && XLENGTH(control) == 4, "control");
  problem.linear = v;
  problem.lower = v + n;
  problem.upper = v + 2 * n;
  problem.total = REAL(control)[0];
  ke_dual_control settings = {0};
  settings.tol = REAL(control)[1];
  settings.max_iter = (size_t)REAL(control)[2];
  lend_work(&settings, &problem, REAL(control)[3]);

  SEXP solution = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  SEXP gradient = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  memcpy(REAL(solution), v + 3 * n, n * sizeof(double));
  const ke_env env = ffi_env_serial();
  ke_dual_result result;
  const ke_status status =
      ke_dual_solve(&problem, &settings, REAL(solution), REAL(gradient), &result, &env);
  SEXP out = pack_result(solution, gradient, &result, status);
  UNPROTECT(2);
  return out;
}
