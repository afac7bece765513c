#include "ffi.h"

#include <string.h>

int ffi_is_sparse(SEXP x) { return TYPEOF(x) == VECSXP && Rf_inherits(x, "kernelect_sparse"); }

/* An integer vector of a list, `count` long unless that is SIZE_MAX. */
static const int *integers(SEXP list, const char *name, size_t count)
{
  SEXP v = ffi_element(list, name);
  ffi_assert(TYPEOF(v) == INTSXP && (count == SIZE_MAX || (size_t)XLENGTH(v) == count), name);
  return INTEGER_RO(v);
}

static size_t extent(SEXP x, int which)
{
  const int size = integers(x, "size", 2)[which];
  ffi_assert(size >= 0, "size");
  return (size_t)size;
}

size_t ffi_width(SEXP x)
{
  size_t n, d;
  ke_transform how;
  if (ffi_is_sparse(x))
    return extent(x, 1);
  ffi_scaled(x, &n, &d, &how);
  return d;
}

/* Entries lie where the core may look. */
static void check_places(const ke_sparse *s, size_t entries)
{
  ffi_assert(s->start[0] == 0 && (size_t)s->start[s->n] == entries, "start");
  for (size_t i = 0; i < s->n; i++)
    ffi_assert(s->start[i] <= s->start[i + 1], "start");
  for (size_t e = 0; e < entries; e++)
    ffi_assert(s->column[e] >= 0 && (size_t)s->column[e] < s->d, "column");
}

const ke_sparse *ffi_sparse(SEXP x, const ke_kernel *kernel, int compared)
{
  SEXP value = ffi_element(x, "value");
  ffi_assert(ffi_is_sparse(x) && TYPEOF(value) == REALSXP, "sparse rows");
  const size_t entries = (size_t)XLENGTH(value), n = extent(x, 0), d = extent(x, 1);
  ke_sparse *s = (ke_sparse *)ffi_alloc(1, sizeof(ke_sparse));
  *s = (ke_sparse){.n = n, .d = d, .blocks = ke_kernel_blocks(kernel), .apart = entries};
  s->start = (int *)integers(x, "start", n + 1); /* read only, here and in the core */
  s->column = (int *)integers(x, "column", entries);
  check_places(s, entries);
  s->value = ffi_doubles(s->blocks * entries);
  if (compared) {
    s->entry = ffi_doubles(s->blocks * entries);
    s->row = (int *)ffi_alloc(entries, sizeof(int));
    s->first = (int *)ffi_alloc(d + 1, sizeof(int));
  }
  s->norm = ffi_doubles(s->blocks * ke_padded(n));
  const ke_env env = ffi_env_serial();
  ke_sparse_fill(kernel, REAL_RO(value), s, &env);
  return s;
}

/* Sums of `value`, one an entry of sparse rows x, over the entries of each column. */
SEXP ffi_sparse_sums(SEXP x, SEXP value)
{
  ffi_assert(ffi_is_sparse(x) && TYPEOF(value) == REALSXP, "sparse rows");
  const size_t entries = (size_t)XLENGTH(value), d = extent(x, 1);
  const ke_env env = ffi_env_serial();
  const int *column = integers(x, "column", entries);
  for (size_t e = 0; e < entries; e++)
    ffi_assert(column[e] >= 0 && (size_t)column[e] < d, "column");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)d));
  memset(REAL(out), 0, d * sizeof(double));
  ke_sparse_sums(column, REAL_RO(value), entries, REAL(out), &env);
  UNPROTECT(1);
  return out;
}
