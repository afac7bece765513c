#include "ffi.h"

/* The columns (`transposed`) or rows of a matrix with L of them the other way, packed. */
static const ke_rows *packed(SEXP m, size_t L, int transposed)
{
  if (m == R_NilValue)
    return NULL;
  size_t n, d;
  const double *values = ffi_matrix(m, &n, &d, "coefficients");
  ffi_assert((transposed ? n : d) == L, "coefficients");
  ke_rows *rows = (ke_rows *)ffi_alloc(1, sizeof(ke_rows));
  *rows = ffi_rows_alloc(transposed ? d : n, L, 1);
  if (transposed) {
    double *turned = ffi_doubles(n * d);
    for (size_t j = 0; j < d; j++)
      for (size_t i = 0; i < n; i++)
        turned[j + i * d] = values[i + j * n];
    values = turned;
  }
  ke_panels(values, rows->n, NULL, rows);
  return rows;
}

/* Kernel values by new rows and kept ones. */
static void from_rows(ke_expansion *e, SEXP kept, size_t d)
{
  ke_kernel *kernel = (ke_kernel *)ffi_alloc(1, sizeof(ke_kernel));
  ke_rows *rows = (ke_rows *)ffi_alloc(1, sizeof(ke_rows));
  SEXP vectors = ffi_element(kept, "vectors");
  SEXP shift = ffi_element(kept, "shift");
  size_t n, width;
  ffi_matrix(vectors, &n, &width, "vectors");
  ffi_assert(width == d && n > e->centres, "columns of new rows");
  *kernel = ffi_kernel(ffi_element(kept, "kernel"), d);
  *rows = ffi_rows_for(vectors, shift, kernel);
  e->kernel = kernel;
  e->kept = rows;
  e->d = d;
  e->L = rows->n - e->centres;
  e->how = ffi_transform(kept, d);
}

/* Whether no squared distance from such rows overflows. */
static int are_finite(const ke_sparse *rows)
{
  int finite = 1;
  for (size_t i = 0; i < rows->blocks * ke_padded(rows->n); i++)
    finite = finite && R_FINITE(4.0 * rows->norm[i]);
  return finite;
}

/* The same of sparse rows, which are scaled already; the answer is the new ones. */
static const ke_sparse *from_sparse(ke_expansion *e, SEXP x, SEXP kept)
{
  SEXP vectors = ffi_element(kept, "vectors");
  const ke_kernel kernel = ffi_kernel(ffi_element(kept, "kernel"), ffi_width(x));
  ffi_assert(ffi_width(vectors) == ffi_width(x), "columns of new rows");
  const ke_sparse *rows = ffi_sparse(x, &kernel, 0), *own = ffi_sparse(vectors, &kernel, 1);
  ke_source *source = (ke_source *)ffi_alloc(1, sizeof(ke_source));
  *source = ke_source_sparse_cross(&kernel, rows, own, ffi_doubles(ke_source_sparse_cross_state()));
  ffi_assert(own->n > e->centres, "columns of new rows");
  e->source = source;
  e->L = own->n - e->centres;
  double *diagonal = ffi_doubles(rows->n);
  source->does->diagonal(source->self, diagonal);
  e->diagonal = diagonal;
  return rows;
}

/* `x`: new rows, or with `kept` NULL their kernel values. `what`: see ke_expansion. Or the
 * name of a status. */
SEXP ffi_expand(SEXP x, SEXP kept, SEXP what, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  const int sparse = ffi_is_sparse(x);
  size_t n, d;
  const double *values = sparse ? NULL : ffi_matrix(x, &n, &d, "x");
  ke_expansion e = {0};
  e.centres = (size_t)Rf_asInteger(ffi_element(what, "centres"));
  if (sparse) {
    const ke_sparse *rows = from_sparse(&e, x, kept);
    if (!are_finite(rows))
      return ffi_status(KE_NOT_FINITE);
    n = rows->n;
  } else if (kept != R_NilValue) {
    from_rows(&e, kept, d);
  } else {
    ffi_assert(d > e.centres, "kernel values");
    e.L = d - e.centres;
    e.given = values;
  }
  e.residual = Rf_asLogical(ffi_element(what, "residual")) == TRUE;
  e.column = ffi_optional(ffi_element(what, "column"), e.L, "centring");
  e.constant = Rf_asReal(ffi_element(what, "constant"));
  if (!sparse)
    e.diagonal = ffi_optional(ffi_element(what, "diagonal"), n, "diagonal");
  e.factor = packed(ffi_element(what, "factor"), e.L, 0);
  e.dual = packed(ffi_element(what, "dual"), e.L, 1);
  ffi_assert(!e.factor || e.factor->n == e.L, "factor");
  ffi_assert(!e.centres || e.column, "centring");
  ffi_assert(!e.residual || kept != R_NilValue || e.diagonal, "diagonal");
  e.offset = ffi_optional(ffi_element(what, "offset"), e.dual ? e.dual->n : 0, "offset");
  const size_t width = ke_expansion_width(&e);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)width));
  ffi_take_pages(REAL(out), n * width * sizeof(double), &env);
  double *work = ffi_doubles(ke_expansion_work(&e, n, &env));
  const ke_status status = ke_expand(&e, values, n, REAL(out), work, &env);
  UNPROTECT(1);
  return status == KE_OK ? out : ffi_status(status);
}
