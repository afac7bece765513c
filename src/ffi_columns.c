#include "ffi.h"

/* Standard deviations with n - 1; 0 for a single row. */
SEXP ffi_column_sd(SEXP x, SEXP center)
{
  size_t n, d;
  const double *v = ffi_matrix(x, &n, &d, "x"), *mean = ffi_optional(center, d, "center");
  ffi_assert(mean != NULL, "center");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)d));
  for (size_t k = 0; k < d; k++)
    REAL(out)[k] = ke_column_sd(v + k * n, n, mean[k]);
  UNPROTECT(1);
  return out;
}

SEXP ffi_all_finite(SEXP x)
{
  const size_t piece = (size_t)1 << 22;
  int finite = 1;
  ffi_assert(TYPEOF(x) == REALSXP, "x");
  for (size_t i = 0, n = (size_t)XLENGTH(x); finite && i < n; i += piece) {
    R_CheckUserInterrupt();
    finite = ke_all_finite(REAL(x) + i, ke_smaller(piece, n - i));
  }
  return Rf_ScalarLogical(finite);
}

/* What may be taken from each column without losing a digit. */
SEXP ffi_exact_shift(SEXP x)
{
  size_t n, d;
  const double *v = ffi_matrix(x, &n, &d, "x");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)d));
  const size_t step = ke_batch(64.0 * (double)(n + 1));
  for (size_t k = 0; k < d; k++) {
    if (k % step == 0)
      R_CheckUserInterrupt();
    REAL(out)[k] = n > 0 ? ke_exact_shift(v + k * n, n) : 0.0;
  }
  UNPROTECT(1);
  return out;
}

/* `sums` (2 x d: high and low parts) with the columns of x added. */
SEXP ffi_add_columns(SEXP sums, SEXP x)
{
  size_t n, d, two, width;
  const double *v = ffi_matrix(x, &n, &d, "x"), *from = ffi_matrix(sums, &two, &width, "sums");
  ffi_assert(two == 2 && width == d, "sums");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, 2, (int)d));
  for (size_t k = 0; k < d; k++) {
    ke_long_sum sum = {from[2 * k], from[2 * k + 1]};
    ke_sum_column(v + k * n, n, &sum);
    REAL(out)[2 * k] = sum.high;
    REAL(out)[2 * k + 1] = sum.low;
  }
  UNPROTECT(1);
  return out;
}

/* A shift for each column of n values with these sums. */
SEXP ffi_shift_of(SEXP sums, SEXP n)
{
  size_t two, d;
  const double *from = ffi_matrix(sums, &two, &d, "sums");
  ffi_assert(two == 2 && Rf_asReal(n) > 0.0, "sums");
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)d);
  for (size_t k = 0; k < d; k++) {
    const ke_long_sum sum = {from[2 * k], from[2 * k + 1]};
    REAL(out)[k] = ke_shift_of(sum, Rf_asReal(n));
  }
  return out;
}

/* Whether it can be taken from these rows without losing a digit, for each column. */
SEXP ffi_shifts_exactly(SEXP x, SEXP shift)
{
  size_t n, d;
  const double *v = ffi_matrix(x, &n, &d, "x"), *by = ffi_optional(shift, d, "shift");
  ffi_assert(by != NULL, "shift");
  SEXP out = Rf_allocVector(LGLSXP, (R_xlen_t)d);
  for (size_t k = 0; k < d; k++)
    LOGICAL(out)[k] = ke_shifts_exactly(v + k * n, n, by[k]);
  return out;
}

/* Column k of rows (ffi_scaled()) as numbers: in `room` (n) where they have to be scaled. */
static const double *scaled_column(const double *values, size_t n, const ke_transform *how,
                                   size_t k, double *room)
{
  if (!how->scale)
    return values + k * n;
  ke_scale_column(values + k * n, n, how->center[k], how->scale[k], room);
  return room;
}

SEXP ffi_scale_columns(SEXP x, SEXP center, SEXP scale)
{
  size_t n, d;
  ke_transform first;
  const double *v = ffi_scaled(x, &n, &d, &first);
  const double *mean = ffi_optional(center, d, "center"), *sd = ffi_optional(scale, d, "scale");
  ffi_assert(mean && sd, "scaling");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)d));
  for (size_t k = 0; k < d; k++) {
    double *to = REAL(out) + k * n;
    ke_scale_column(scaled_column(v, n, &first, k, to), n, mean[k], sd[k], to);
  }
  Rf_setAttrib(out, R_DimNamesSymbol,
               Rf_getAttrib(first.scale ? ffi_element(x, "x") : x, R_DimNamesSymbol));
  UNPROTECT(1);
  return out;
}

/* Columns of z by number, each times its weight. */
SEXP ffi_weighted_columns(SEXP z, SEXP columns, SEXP weights)
{
  size_t n, d, count;
  ke_transform first;
  const double *from = ffi_scaled(z, &n, &d, &first);
  const size_t *column = ffi_index(columns, d, &count);
  const double *w = ffi_optional(weights, count, "weights");
  ffi_assert(w != NULL, "weights");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)count));
  for (size_t k = 0; k < count; k++) {
    double *to = REAL(out) + k * n;
    const double *numbers = scaled_column(from, n, &first, column[k], to);
    for (size_t i = 0; i < n; i++)
      to[i] = numbers[i] * w[k];
  }
  UNPROTECT(1);
  return out;
}

/* gap and largest of a square matrix, see ke_symmetry(). */
SEXP ffi_symmetry(SEXP K)
{
  size_t n, m;
  const char *names[] = {"gap", "largest", ""};
  const double *k = ffi_matrix(K, &n, &m, "K");
  double gap, largest;
  ffi_assert(n == m, "K");
  const ke_env env = ffi_env_serial();
  ke_symmetry(k, n, &gap, &largest, &env);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarReal(gap));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(largest));
  UNPROTECT(1);
  return out;
}

/* Distances between rows in the order of dist(). */
SEXP ffi_distances(SEXP x)
{
  size_t n, d;
  const double *v = ffi_matrix(x, &n, &d, "x");
  ffi_assert(n > 0, "x");
  const ke_env env = ffi_env_serial();
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n * (n - 1) / 2)));
  ke_distances(v, n, d, REAL(out), &env);
  UNPROTECT(1);
  return out;
}
