/* Glue of least squares and its leave-one-out (regress.c, nested.c, ridges.c). */
#include "ffi.h"

#include <string.h>

static double *new_element(SEXP list, int at, size_t rows, size_t columns)
{
  SEXP value = Rf_allocMatrix(REALSXP, (int)rows, (int)columns);
  SET_VECTOR_ELT(list, at, value);
  return REAL(value);
}

static double *copy_into(double *to, const double *from, size_t count)
{
  memcpy(to, from, count * sizeof(double));
  return to;
}

/* Fields: q (n x L), y (n x k, centred), r, c, center, mean, weights, intercept, dependent (of
 * every column), threads, and where asked for the `rest` of a division of q that is not done yet.
 * `to`: the matrix that Q goes to. */
static SEXP regress(SEXP z, SEXP y, SEXP ridge, SEXP weights, SEXP threads, int intercept, int rest,
                    SEXP to)
{
  const char *names[] = {"q",       "y",         "r",         "c",       "center", "mean",
                         "weights", "intercept", "dependent", "threads", "rest",   ""};
  ke_regression g = {0};
  size_t rows;
  g.from = ffi_matrix(z, &g.n, &g.L, "coordinates");
  const double *response = ffi_matrix(y, &rows, &g.k, "y");
  ffi_assert(rows == g.n && g.L > 0, "dimensions");
  g.weight = ffi_optional(weights, g.n, "weights");
  g.intercept = intercept;
  g.ridge = Rf_asReal(ridge);
  const ke_env env = ffi_env(threads);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, to);
  g.z = REAL(to);
  g.y = copy_into(new_element(out, 1, g.n, g.k), response, g.n * g.k);
  g.r = new_element(out, 2, g.L, g.L);
  g.c = new_element(out, 3, g.L, g.k);
  SET_VECTOR_ELT(out, 4, Rf_allocVector(REALSXP, (R_xlen_t)g.L));
  SET_VECTOR_ELT(out, 5, Rf_allocVector(REALSXP, (R_xlen_t)g.k));
  SET_VECTOR_ELT(out, 6, weights);
  SET_VECTOR_ELT(out, 7, Rf_ScalarLogical(g.intercept));
  SET_VECTOR_ELT(out, 8, Rf_allocVector(LGLSXP, (R_xlen_t)g.L));
  SET_VECTOR_ELT(out, 9, threads);
  g.rest = rest ? new_element(out, 10, g.L, g.L) : NULL;
  g.mean = REAL(VECTOR_ELT(out, 4));
  g.y_mean = REAL(VECTOR_ELT(out, 5));
  g.extra = ffi_doubles(g.L * g.L);
  g.work = ffi_doubles(g.L * (g.L + 1));
  g.dependent = LOGICAL(VECTOR_ELT(out, 8));
  ke_regress(&g, &env);
  UNPROTECT(1);
  return out;
}

SEXP ffi_regress(SEXP z, SEXP y, SEXP ridge, SEXP weights, SEXP intercept, SEXP threads)
{
  size_t n, L;
  ffi_matrix(z, &n, &L, "coordinates");
  SEXP q = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)L));
  ffi_large_pages(REAL(q), n * L * sizeof(double));
  SEXP out = regress(z, y, ridge, weights, threads, Rf_asLogical(intercept), 0, q);
  UNPROTECT(1);
  return out;
}

/* The same for a caller that owns z: Q takes its place, and no second matrix of that size. */
SEXP ffi_regress_over(SEXP z, SEXP y, SEXP ridge, SEXP weights, SEXP threads, SEXP rest)
{
  return regress(z, y, ridge, weights, threads, 1, Rf_asLogical(rest) == TRUE, z);
}

static double sum_of(const double *weight, size_t n)
{
  double total = 0.0;
  for (size_t i = 0; weight && i < n; i++)
    total += weight[i];
  return weight ? total : (double)n;
}

/* The result of ffi_regress(), read again: all its rows, or some of them with `total`, the sum of
 * the weights of all. */
ke_regression ffi_regression(SEXP fit)
{
  ke_regression g;
  size_t rows, columns;
  SEXP dependent = ffi_element(fit, "dependent"), total = ffi_element(fit, "total");
  memset(&g, 0, sizeof g);
  g.z = (double *)ffi_matrix(ffi_element(fit, "q"), &g.n, &g.L, "q");
  g.y = (double *)ffi_matrix(ffi_element(fit, "y"), &rows, &g.k, "y");
  ffi_assert(rows == g.n, "dimensions");
  g.r = (double *)ffi_matrix(ffi_element(fit, "r"), &rows, &columns, "r");
  ffi_assert(rows == g.L && columns == g.L, "r");
  g.c = (double *)ffi_matrix(ffi_element(fit, "c"), &rows, &columns, "c");
  ffi_assert(rows == g.L && columns == g.k, "c");
  g.weight = ffi_optional(ffi_element(fit, "weights"), g.n, "weights");
  g.intercept = Rf_asLogical(ffi_element(fit, "intercept"));
  ffi_assert(TYPEOF(dependent) == LGLSXP && (size_t)XLENGTH(dependent) == g.L, "dependent");
  g.dependent = LOGICAL(dependent);
  if (ffi_element(fit, "rest") != R_NilValue) {
    g.rest = (double *)ffi_matrix(ffi_element(fit, "rest"), &rows, &columns, "rest");
    ffi_assert(rows == g.L && columns == g.L, "rest");
  }
  g.total = total == R_NilValue ? sum_of(g.weight, g.n) : Rf_asReal(total);
  return g;
}

/* Fields: loss, error (`count` each); residual, left_out (n x k) and left (n), `kept` times side by
 * side. */
static SEXP pack(ke_loo *o, size_t count, size_t kept)
{
  const char *names[] = {"loss", "error", "residual", "left_out", "left", ""};
  const size_t n = o->g->n, k = o->g->k;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)count));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)count));
  o->loss = REAL(VECTOR_ELT(out, 0));
  o->error = REAL(VECTOR_ELT(out, 1));
  o->rows.residual = o->rows.left_out = o->rows.left = NULL;
  if (kept > 0) {
    o->rows.residual = new_element(out, 2, n, k * kept);
    o->rows.left_out = new_element(out, 3, n, k * kept);
    SET_VECTOR_ELT(out, 4, Rf_allocVector(REALSXP, (R_xlen_t)(n * kept)));
    o->rows.left = REAL(VECTOR_ELT(out, 4));
  }
  UNPROTECT(1);
  return out;
}

/* As many threads as the fit was given. */
ke_env ffi_regression_env(SEXP fit)
{
  SEXP threads = ffi_element(fit, "threads");
  return threads == R_NilValue ? ffi_env_serial() : ffi_env(threads);
}

static ke_loo problem(const ke_regression *g, SEXP size, SEXP label)
{
  ke_loo o;
  const double asked = Rf_asReal(size);
  ffi_assert(asked >= 1.0 && asked <= (double)g->L, "size");
  memset(&o, 0, sizeof o);
  o.g = g;
  o.size = (size_t)asked;
  o.label = label == R_NilValue ? NULL : ffi_labels(label, g->n, g->k);
  return o;
}

/* Leave-one-out for every number of columns up to `size`, at the ridge of `fit`. */
SEXP ffi_nested_loo(SEXP fit, SEXP size, SEXP label, SEXP keep)
{
  const ke_regression g = ffi_regression(fit);
  ke_loo o = problem(&g, size, label);
  const ke_env env = ffi_regression_env(fit);
  ffi_assert(!g.rest, "rest");
  SEXP out = PROTECT(pack(&o, o.size, Rf_asLogical(keep) ? 1 : 0));
  double *inverse = NULL;
  o.work = ffi_doubles(ke_nested_work(o.size, g.k, env.threads));
  if (ke_leverage_one(&o, &env)) {
    inverse = ffi_doubles(o.size * o.size);
    ke_nested_inverse(&g, o.size, inverse, &env);
  }
  ke_nested_loo(&o, inverse, &env);
  UNPROTECT(1);
  return out;
}

/* A place for what every ridge with `size` columns needs: `p`, `diagonal`, `over`. */
static SEXP new_turned(size_t size)
{
  const char *names[] = {"p", "diagonal", "over", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  new_element(out, 0, size, size);
  for (int i = 1; i < 3; i++)
    SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, (R_xlen_t)size));
  UNPROTECT(1);
  return out;
}

static ke_bidiagonal unpack_bidiagonal(SEXP turned)
{
  size_t rows, columns;
  ke_bidiagonal b;
  memset(&b, 0, sizeof b);
  b.p = (double *)ffi_matrix(ffi_element(turned, "p"), &rows, &columns, "p");
  ffi_assert(rows == columns && rows > 0, "p");
  b.size = rows;
  b.diagonal = (double *)ffi_field(turned, "diagonal", rows);
  b.over = (double *)ffi_field(turned, "over", rows);
  return b;
}

static ke_bidiagonal lend_work(SEXP turned)
{
  ke_bidiagonal b = unpack_bidiagonal(turned);
  b.a = ffi_doubles(b.size * b.size);
  b.work = ffi_doubles(ke_bidiagonal_work(b.size));
  return b;
}

SEXP ffi_bidiagonalise(SEXP fit, SEXP size)
{
  const ke_regression g = ffi_regression(fit);
  const ke_env env = ffi_regression_env(fit);
  SEXP out = PROTECT(new_turned(problem(&g, size, R_NilValue).size));
  ke_bidiagonal b = lend_work(out);
  ke_bidiagonalise(&g, &b, &env);
  UNPROTECT(1);
  return out;
}

/* `turned` may have `rows` (n x size): the place for rows of Q turned, which may be that of q, or
 * those themselves where they are `known`. */
static void unpack_turned(SEXP turned, ke_loo *o)
{
  size_t n, size;
  SEXP rows = ffi_element(turned, "rows");
  if (rows == R_NilValue)
    return;
  o->turned = (double *)ffi_matrix(rows, &n, &size, "rows");
  ffi_assert(n == o->g->n && size == o->size, "rows");
  o->known = Rf_asLogical(ffi_element(turned, "known")) == TRUE;
}

/* Leave-one-out for every one of `ridges` with as many columns as `turned` has, from
 * ffi_bidiagonalise(); `fit` has no ridge. */
SEXP ffi_ridge_loo(SEXP fit, SEXP turned, SEXP label, SEXP keep, SEXP ridges)
{
  const ke_regression g = ffi_regression(fit);
  ke_bidiagonal b = unpack_bidiagonal(turned);
  SEXP size = PROTECT(Rf_ScalarReal((double)b.size));
  ke_loo o = problem(&g, size, label);
  const ke_env env = ffi_regression_env(fit);
  const size_t count = (size_t)XLENGTH(ridges);
  ffi_assert(TYPEOF(ridges) == REALSXP && count > 0, "ridges");
  unpack_turned(turned, &o);
  b.a = g.rest ? ffi_doubles(b.size * b.size) : NULL;
  SEXP out = PROTECT(pack(&o, count, Rf_asLogical(keep) ? count : 0));
  o.work = ffi_doubles(ke_ridge_work(&o, count, env.threads));
  ke_ridge_loo(&o, &b, REAL(ridges), count, NULL, &env);
  UNPROTECT(2);
  return out;
}

/* What turns rows of q (of the fit that `turned` is from) at a ridge, see ffi_without_folds(). */
SEXP ffi_ridge_turn(SEXP turned, SEXP ridge)
{
  const ke_bidiagonal b = unpack_bidiagonal(turned);
  const ke_env env = ffi_env_serial();
  const double by = Rf_asReal(ridge);
  ffi_assert(by > 0.0, "ridge");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)b.size, (int)b.size));
  ke_ridge_turn(&b, by, REAL(out), ffi_doubles(4 * b.size), &env);
  UNPROTECT(1);
  return out;
}

static double least_of(const double *values, size_t count)
{
  double least = INFINITY;
  for (size_t i = 0; i < count; i++)
    least = values[i] < least ? values[i] : least;
  return least;
}

/* The same of several sizes at once, growing. Fields: loss, error (ridges x sizes); `kept`, the
 * first size of least loss, and its `turned`. */
SEXP ffi_ridge_sizes(SEXP fit, SEXP sizes, SEXP label, SEXP ridges)
{
  const char *names[] = {"loss", "error", "kept", "turned", ""};
  const ke_regression g = ffi_regression(fit);
  const ke_env env = ffi_regression_env(fit);
  const size_t count = (size_t)XLENGTH(ridges), several = (size_t)XLENGTH(sizes);
  ffi_assert(TYPEOF(ridges) == REALSXP && count > 0, "ridges");
  ffi_assert(TYPEOF(sizes) == REALSXP && several > 0, "sizes");
  ke_loo o = problem(&g, sizes, label);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  double *loss = new_element(out, 0, count, several), *error = new_element(out, 1, count, several);
  PROTECT_INDEX of_now, of_next;
  SEXP now, next;
  PROTECT_WITH_INDEX(now = new_turned(o.size), &of_now);
  PROTECT_WITH_INDEX(next = now, &of_next);
  double least = INFINITY;
  const ffi_mark before = ffi_mark_memory();
  ke_bidiagonal b = lend_work(now), after;
  ke_bidiagonalise(&g, &b, &env);
  ffi_return_to(before);
  for (size_t i = 0; i < several; i++) {
    const int last = i + 1 == several;
    if (!last) {
      const double asked = REAL(sizes)[i + 1];
      ffi_assert(asked > (double)o.size && asked <= (double)g.L, "sizes");
      REPROTECT(next = new_turned((size_t)asked), of_next);
      after = lend_work(next);
    }
    b.a = g.rest ? ffi_doubles(o.size * o.size) : NULL;
    o.loss = loss + i * count;
    o.error = error + i * count;
    o.work = ffi_doubles(ke_ridge_work(&o, count, env.threads));
    ke_ridge_loo(&o, &b, REAL(ridges), count, last ? NULL : &after, &env);
    if (i == 0 || least_of(o.loss, count) < least) {
      least = least_of(o.loss, count);
      SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)o.size));
      SET_VECTOR_ELT(out, 3, now);
    }
    ffi_return_to(before);
    REPROTECT(now = next, of_now);
    b = unpack_bidiagonal(now);
    o.size = b.size;
  }
  UNPROTECT(3);
  return out;
}
