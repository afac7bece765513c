#include "ffi.h"

/* For each row of x, in each class of the rows of z, the number of the nearest row (NA: none) and
 * its squared distance: list(row, distance), matrices with a column a class. `label` NULL: all are
 * one class. z NULL: the other rows of x. */
SEXP ffi_nearest(SEXP x, SEXP z, SEXP label, SEXP shift, SEXP rounding, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  const int self = Rf_isNull(z);
  const ke_rows queries = ffi_rows(x, shift);
  const ke_rows rows = self ? queries : ffi_rows(z, shift);
  ffi_assert(queries.d == rows.d && rows.n > 0, "columns of x and z");
  ke_nearest p = {.queries = &queries, .rows = &rows, .classes = 1, .self = self};
  if (!Rf_isNull(label)) {
    p.label = ffi_labels(label, rows.n, SIZE_MAX);
    p.classes = ffi_count_classes(p.label, rows.n);
  }
  p.rounding = Rf_asReal(rounding);
  const size_t count = queries.n * p.classes;
  const char *names[] = {"row", "distance", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 1, Rf_allocMatrix(REALSXP, (int)queries.n, (int)p.classes));
  p.distance = REAL(VECTOR_ELT(out, 1));
  p.limit = ffi_doubles(count);
  p.nearest = ffi_sizes(count);
  p.tied = (unsigned char *)ffi_alloc(count, 1);
  double *work = ffi_doubles((size_t)env.threads * KE_TILE * KE_TILE);
  ke_find_nearest(&p, work, &env);
  SEXP row = ffi_row_numbers(p.nearest, count, rows.n);
  SET_VECTOR_ELT(out, 0, row);
  Rf_setAttrib(row, R_DimSymbol, Rf_getAttrib(VECTOR_ELT(out, 1), R_DimSymbol));
  UNPROTECT(1);
  return out;
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
SEXP ffi_nested_errors(SEXP rows, SEXP label, SEXP number, SEXP rounding, SEXP threads,
                       SEXP verbose)
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
  p.rounding = ffi_optional(rounding, p.d, "rounding");
  ffi_assert(p.rounding != NULL, "rounding");
  double *distance = ffi_doubles(KE_QUERIES * p.n);
  size_t *errors = ffi_sizes(p.d);
  ke_nested_errors(&p, distance, errors, &env);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)p.d));
  for (size_t t = 0; t < p.d; t++)
    REAL(out)[t] = (double)errors[t];
  UNPROTECT(1);
  return out;
}
