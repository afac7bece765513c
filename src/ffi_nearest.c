#include "ffi.h"

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
  p.start = class_starts(p.label, p.n, ffi_count_classes(p.label, p.n));
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
