#include "ffi.h"

#include <string.h>

static ke_rows target_rows(SEXP u, size_t n)
{
  size_t rank;
  const double *values = ffi_target(u, n, &rank);
  ke_rows rows = ffi_rows_alloc(n, rank, 1);
  ke_panels(values, n, NULL, &rows);
  return rows;
}

static ke_subset subset_of(SEXP x, SEXP u, SEXP kernel)
{
  ke_subset s;
  memset(&s, 0, sizeof s);
  s.x = ffi_matrix(x, &s.n, &s.d, "x");
  s.kernel = ffi_kernel(kernel, s.d);
  s.target = target_rows(u, s.n);
  s.rows = ffi_rows_alloc(s.n, s.d, ke_kernel_blocks(&s.kernel));
  return s;
}

/* Each column by itself, for all blocks of the kernel. */
static void pack_columns(ke_subset *s)
{
  const size_t blocks = ke_kernel_blocks(&s->kernel);
  ke_rows *column = (ke_rows *)R_alloc(s->d, sizeof(ke_rows));
  for (size_t e = 0; e < s->d; e++) {
    column[e] = ffi_rows_alloc(s->n, 1, blocks);
    for (size_t b = 0; b < blocks; b++) {
      const double *weights = s->kernel.look[b].weights;
      ke_rows part = ke_block(&column[e], b);
      const ke_transform how = {.weights = weights ? weights + e : NULL};
      ke_pack(s->x + e * s->n, s->n, &how, &part);
    }
  }
  s->column = column;
}

static SEXP subset_result(SEXP kt, SEXP kk)
{
  const char *const names[] = {"target", "self"};
  const SEXP values[] = {kt, kk};
  return ffi_named_list(2, names, values);
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
  ffi_assert(!s.kernel.type->by_column, "kernel by columns");
  double *work = ffi_doubles(ke_subset_work(s.d, &env));
  SEXP kt = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)s.d));
  ffi_assert(chosen != R_NilValue, "chosen");
  ke_subset_reduce(&s, ffi_optional(chosen, s.d, "chosen"), REAL(kt), work, &env);
  UNPROTECT(1);
  return kt;
}

/* The columns of the set, packed; one of zeros where there is none. */
static ke_rows rows_of_set(const double *x, size_t n, size_t d, const double *chosen)
{
  size_t members = 0;
  for (size_t e = 0; e < d; e++)
    members += chosen[e] != 0.0;
  const size_t columns = members > 0 ? members : 1;
  double *set = ffi_doubles(n * columns), *to = set;
  memset(set, 0, n * columns * sizeof(double));
  for (size_t e = 0; e < d; e++)
    if (chosen[e] != 0.0) {
      memcpy(to, x + e * n, n * sizeof(double));
      to += n;
    }
  ke_rows rows = ffi_rows_alloc(n, columns, 1);
  ke_pack(set, n, NULL, &rows);
  return rows;
}

/* Sums for sets with one column flipped, the width given for each; see flip.h. */
SEXP ffi_flip_sums(SEXP x, SEXP u, SEXP chosen, SEXP gamma, SEXP rough, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_flip f;
  memset(&f, 0, sizeof f);
  f.x = ffi_matrix(x, &f.n, &f.d, "x");
  f.target = target_rows(u, f.n);
  f.chosen = ffi_optional(chosen, f.d, "chosen");
  f.gamma = ffi_optional(gamma, f.d, "gamma");
  ffi_assert(f.chosen != NULL && f.gamma != NULL, "set");
  f.rows = rows_of_set(f.x, f.n, f.d, f.chosen);
  f.rough = Rf_asLogical(rough) == TRUE;
  double *work = ffi_doubles(ke_flip_work());
  SEXP kt = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)f.d));
  SEXP kk = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)f.d));
  ke_flip_sums(&f, REAL(kt), REAL(kk), work, &env);
  SEXP out = subset_result(kt, kk);
  UNPROTECT(2);
  return out;
}
