#include "ffi.h"

/* A column of numbers a column of data: n, shift, unit, high and low parts of both sums. */
#define PARTS 7

static void store(ke_moments m, double *to)
{
  const double parts[PARTS] = {m.n,       m.shift,        m.unit,       m.sum.high,
                               m.sum.low, m.squares.high, m.squares.low};
  for (size_t i = 0; i < PARTS; i++)
    to[i] = parts[i];
}

static ke_moments restore(const double *p)
{
  return (ke_moments){p[0], p[1], p[2], {p[3], p[4]}, {p[5], p[6]}};
}

SEXP ffi_column_moments(SEXP x)
{
  size_t n, d;
  const double *v = ffi_matrix(x, &n, &d, "x");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, PARTS, (int)d));
  for (size_t k = 0; k < d; k++)
    store(ke_column_moments(v + k * n, n), REAL(out) + k * PARTS);
  UNPROTECT(1);
  return out;
}

/* Of rows below each other. */
SEXP ffi_join_moments(SEXP a, SEXP b)
{
  size_t rows, d, rows_b, d_b;
  const double *above = ffi_matrix(a, &rows, &d, "a"), *below = ffi_matrix(b, &rows_b, &d_b, "b");
  ffi_assert(rows == PARTS && rows_b == PARTS && d == d_b, "moments");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, PARTS, (int)d));
  for (size_t k = 0; k < d * PARTS; k += PARTS)
    store(ke_join_moments(restore(above + k), restore(below + k)), REAL(out) + k);
  UNPROTECT(1);
  return out;
}

/* Fields: center, spread. */
SEXP ffi_mean_and_sd(SEXP moments)
{
  const char *names[] = {"center", "spread", ""};
  size_t rows, d;
  const double *m = ffi_matrix(moments, &rows, &d, "moments");
  ffi_assert(rows == PARTS, "moments");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  double *mean = REAL(SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, (R_xlen_t)d)));
  double *sd = REAL(SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)d)));
  for (size_t k = 0; k < d; k++)
    ke_mean_and_sd(restore(m + k * PARTS), mean + k, sd + k);
  UNPROTECT(1);
  return out;
}
