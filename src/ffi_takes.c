#include "ffi.h"

static size_t count_classes(const int *label, size_t n)
{
  int last = -1;
  for (size_t j = 0; j < n; j++)
    last = label[j] > last ? label[j] : last;
  return (size_t)(last + 1);
}

static ke_ensemble lend_ensemble(const ke_votes *v)
{
  const size_t sets = v->classes * v->words;
  ke_ensemble e = {v, KE_FORWARD, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  e.count = (int *)R_alloc(v->n * v->classes, sizeof(int));
  e.half = (uint64_t *)R_alloc(sets, sizeof(uint64_t));
  e.whole = (uint64_t *)R_alloc(sets, sizeof(uint64_t));
  e.weight = ffi_doubles(v->n);
  e.used = (unsigned char *)R_alloc(v->d, 1);
  return e;
}

/* list(order, error): how 0 forward, 1 as printed, 2 along `order`. */
SEXP ffi_kffs(SEXP z, SEXP label, SEXP how, SEXP order, SEXP verbose)
{
  ke_env env = ffi_env_serial();
  ffi_show_progress(&env, verbose);
  ke_votes v = {0, 0, 0, 0, NULL, NULL};
  const double *values = ffi_matrix(z, &v.n, &v.d, "z");
  v.words = ke_words(v.n);
  v.label = ffi_labels(label, v.n, SIZE_MAX);
  v.classes = count_classes(v.label, v.n);
  ffi_assert(v.n > 0 && v.d > 0 && v.classes > 0, "z");
  v.bits = (uint64_t *)R_alloc(v.d * v.classes * v.words, sizeof(uint64_t));
  double *work = ffi_doubles(2 * v.classes);
  ke_weak_votes(values, &v, work, &env);

  ke_ensemble e = lend_ensemble(&v);
  e.how = (ke_selection)Rf_asInteger(how);
  size_t given = v.d;
  e.order = e.how == KE_GIVEN ? ffi_index(order, v.d, &given) : ffi_sizes(v.d);
  ffi_assert(given == v.d, "order");
  const char *names[] = {"order", "error", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)v.d));
  e.error = REAL(VECTOR_ELT(out, 1));
  ke_kffs(&e, &env);
  SET_VECTOR_ELT(out, 0, ffi_row_numbers(e.order, v.d, v.d));
  UNPROTECT(1);
  return out;
}

static SEXP find_nearest(const ke_rows *queries, const ke_rows *rows, const int *label,
                         const ke_env *env)
{
  const size_t count = label ? 2 * queries->n : queries->n;
  ke_nearest p = {queries, rows, label, label != NULL, NULL, NULL};
  p.distance = ffi_doubles(count);
  p.nearest = ffi_sizes(count);
  double *work = ffi_doubles((size_t)env->threads * KE_TILE * KE_TILE);
  ke_find_nearest(&p, work, env);
  return ffi_row_numbers(p.nearest, count, rows->n);
}

/* For each row of x the number of the nearest row of z. */
SEXP ffi_nearest(SEXP x, SEXP z, SEXP shift, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  const ke_rows queries = ffi_rows(x, shift, R_NilValue), rows = ffi_rows(z, shift, R_NilValue);
  ffi_assert(queries.d == rows.d && rows.n > 0, "columns of x and z");
  return find_nearest(&queries, &rows, NULL, &env);
}

/* For each row the nearest other row of its class, then for each that of another class. */
SEXP ffi_hits_misses(SEXP z, SEXP label, SEXP shift, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  const ke_rows rows = ffi_rows(z, shift, R_NilValue);
  return find_nearest(&rows, &rows, ffi_labels(label, rows.n, SIZE_MAX), &env);
}

/* start[k]: first row of class k among sorted labels (asserted). */
static size_t *class_starts(const int *label, size_t n, size_t classes)
{
  size_t *start = ffi_sizes(classes + 1);
  size_t k = 0;
  for (size_t j = 0; j < n; j++) {
    ffi_assert(j == 0 || label[j] >= label[j - 1], "sorted labels");
    while (k <= (size_t)label[j])
      start[k++] = j;
  }
  while (k <= classes)
    start[k++] = n;
  return start;
}

/* Misclassified rows, each left out in turn, for 1, 2, ... columns. */
SEXP ffi_nested_errors(SEXP rows, SEXP label, SEXP number, SEXP threads, SEXP verbose)
{
  ke_env env = ffi_env(threads);
  ffi_show_progress(&env, verbose);
  ke_nested p = {0};
  size_t count;
  p.rows = ffi_matrix(rows, &p.n, &p.d, "rows");
  p.label = ffi_labels(label, p.n, SIZE_MAX);
  p.start = class_starts(p.label, p.n, count_classes(p.label, p.n));
  p.number = ffi_index(number, p.n, &count);
  ffi_assert(count == p.n, "row numbers");
  double *distance = ffi_doubles(KE_QUERIES * p.n);
  size_t *errors = ffi_sizes(p.d);
  ke_nested_errors(&p, distance, errors, &env);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)p.d));
  for (size_t t = 0; t < p.d; t++)
    REAL(out)[t] = (double)errors[t];
  UNPROTECT(1);
  return out;
}

/* Columns of z by number, each times its weight. */
SEXP ffi_weighted_columns(SEXP z, SEXP columns, SEXP weights)
{
  size_t n, d, count;
  const double *from = ffi_matrix(z, &n, &d, "z");
  const size_t *column = ffi_index(columns, d, &count);
  const double *w = ffi_optional(weights, count, "weights");
  ffi_assert(w != NULL, "weights");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)count));
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < n; i++)
      REAL(out)[i + k * n] = from[i + column[k] * n] * w[k];
  UNPROTECT(1);
  return out;
}
