#include "ffi.h"

#include <string.h>

/* A kernel being unpacked: the blocks of columns that its leaves look at, each once. */
typedef struct {
  size_t d, blocks;
  ke_look *look;
} unpacking;

static size_t count_leaves(SEXP spec, size_t depth)
{
  SEXP parts = ffi_element(spec, "parts");
  size_t sum = 0;
  ffi_assert(depth <= KE_DEPTH, "depth of a kernel");
  if (parts == R_NilValue)
    return 1;
  ffi_assert(TYPEOF(parts) == VECSXP && XLENGTH(parts) > 0, "parts of a kernel");
  for (R_xlen_t q = 0; q < XLENGTH(parts); q++)
    sum += count_leaves(VECTOR_ELT(parts, q), depth + 1);
  return sum;
}

static int same_weights(const double *a, const double *b, size_t d)
{
  return a == b || (a && b && memcmp(a, b, d * sizeof(double)) == 0);
}

/* Leaves that are weighted alike and centred alike share their columns. */
static size_t block_of(unpacking *u, const double *weights, int distance)
{
  for (size_t b = 0; b < u->blocks; b++)
    if (u->look[b].distance == distance && same_weights(u->look[b].weights, weights, u->d))
      return b;
  const ke_look look = {weights, distance};
  u->look[u->blocks] = look;
  return u->blocks++;
}

static double number_or(SEXP spec, const char *name, double otherwise)
{
  return ffi_element(spec, name) == R_NilValue ? otherwise : ffi_number(spec, name);
}

static ke_kernel unpack(SEXP spec, unpacking *u)
{
  SEXP name = ffi_element(spec, "type"), parts = ffi_element(spec, "parts");
  ffi_assert(TYPEOF(name) == STRSXP && XLENGTH(name) == 1, "kernel type");
  ke_kernel k;
  memset(&k, 0, sizeof k);
  k.type = ke_kernel_named(CHAR(STRING_ELT(name, 0)));
  ffi_assert(k.type != NULL, "kernel type");
  ffi_assert((k.type->combine != NULL) == (parts != R_NilValue), "parts of a kernel");
  k.scale = number_or(spec, "scale", 1.0);
  k.offset = number_or(spec, "offset", 0.0);
  k.degree = number_or(spec, "degree", 1.0);
  if (parts == R_NilValue) {
    SEXP weights = u->d == SIZE_MAX ? R_NilValue : ffi_element(spec, "weights");
    k.block = block_of(u, ffi_optional(weights, u->d, "kernel weights"), k.type->distance);
    return k;
  }
  k.parts = (size_t)XLENGTH(parts);
  ke_kernel *part = (ke_kernel *)ffi_alloc(k.parts, sizeof(ke_kernel));
  for (size_t q = 0; q < k.parts; q++)
    part[q] = unpack(VECTOR_ELT(parts, (R_xlen_t)q), u);
  k.part = part;
  return k;
}

ke_kernel ffi_kernel(SEXP spec, size_t d)
{
  unpacking u = {d, 0, NULL};
  u.look = (ke_look *)ffi_alloc(count_leaves(spec, 0), sizeof(ke_look));
  ke_kernel kernel = unpack(spec, &u);
  kernel.blocks = u.blocks;
  kernel.look = u.look;
  return kernel;
}

ke_rows ffi_rows_for(SEXP x, SEXP shift, const ke_kernel *kernel)
{
  size_t n, d;
  ke_transform how;
  const double *values = ffi_scaled(x, &n, &d, &how);
  ke_rows rows = ffi_rows_alloc(n, d, ke_kernel_blocks(kernel));
  const ke_env env = ffi_env_serial();
  how.shift = ffi_optional(shift, d, "shift");
  ke_pack_for(kernel, values, n, how, &rows, &env);
  return rows;
}

#define ROWS 4096 /* packed at a time: the first touch of a copy of all would take long */

static SEXP diagonal(SEXP x, const ke_kernel *kernel)
{
  size_t n, d;
  ke_transform how;
  const double *values = ffi_scaled(x, &n, &d, &how);
  const ke_env env = ffi_env_serial();
  ke_rows rows = ffi_rows_alloc(ke_smaller(ROWS, n), d, ke_kernel_blocks(kernel));
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
  for (size_t i = 0; i < n; i += ROWS) {
    rows.n = ke_smaller(ROWS, n - i);
    ke_pack_for(kernel, values + i, n, how, &rows, &env);
    ke_diagonal(kernel, &rows, REAL(out) + i);
    ke_check(&env);
  }
  UNPROTECT(1);
  return out;
}

/* k(x, x) of every row. */
SEXP ffi_diagonal(SEXP x, SEXP kernel)
{
  const ke_kernel k = ffi_kernel(kernel, ffi_width(x));
  if (!ffi_is_sparse(x))
    return diagonal(x, &k);
  const ke_sparse *sparse = ffi_sparse(x, &k, 0);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)sparse->n));
  ke_sparse_diagonal(&k, sparse, REAL(out));
  UNPROTECT(1);
  return out;
}

/* Columns at[0 .. count) of x (n rows each), or of one row of numbers; NULL stays NULL. */
static const double *columns_at(const double *x, size_t n, const size_t *at, size_t count)
{
  if (!x)
    return NULL;
  double *some = ffi_doubles(n * count);
  for (size_t k = 0; k < count; k++)
    memcpy(some + k * n, x + at[k] * n, n * sizeof(double));
  return some;
}

/* x times scale factors `w` (NULL: ones) packed for the kernel, without the columns that they take
 * away: of many that a search starts with few stay. */
static ke_rows pack_live(ke_kernel kernel, const double *x, size_t n, size_t d, const double *w,
                         const ke_env *env)
{
  size_t *live = ffi_sizes(d), count = 0;
  ke_look *look = (ke_look *)ffi_alloc(kernel.blocks, sizeof(ke_look));
  for (size_t k = 0; k < d; k++)
    if (!w || w[k] != 0.0)
      live[count++] = k;
  for (size_t q = 0; q < kernel.blocks; q++) {
    look[q] = kernel.look[q];
    look[q].weights = columns_at(look[q].weights, 1, live, count);
  }
  kernel.look = look;
  ke_rows rows = ffi_rows_alloc(n, count, ke_kernel_blocks(&kernel));
  const ke_transform how = {.weights = columns_at(w, 1, live, count)};
  ke_pack_for(&kernel, count < d ? columns_at(x, n, live, count) : x, n, how, &rows, env);
  return rows;
}

/* sum_ij G_ij dk_ij / dv_d for scale factors w = sqrt(v). */
SEXP ffi_scale_gradient(SEXP x, SEXP kernel, SEXP weights, SEXP coefficients, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_gradient g;
  size_t rows, columns;
  memset(&g, 0, sizeof g);
  g.x = ffi_matrix(x, &g.n, &g.d, "x");
  g.kernel = ffi_kernel(kernel, g.d);
  g.coefficients = ffi_matrix(coefficients, &rows, &columns, "coefficients");
  ffi_assert(rows == g.n && columns == g.n && ke_is_smooth(&g.kernel), "coefficients");
  g.rows = pack_live(g.kernel, g.x, g.n, g.d, ffi_optional(weights, g.d, "weights"), &env);
  g.work = ffi_doubles(ke_gradient_work(&g));
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)g.d));
  ke_scale_gradient(&g, REAL(out), &env);
  UNPROTECT(1);
  return out;
}

/* Properties by name; they do not depend on weights. */
SEXP ffi_kernel_traits(SEXP kernel)
{
  const ke_kernel k = ffi_kernel(kernel, SIZE_MAX);
  const char *names[] = {"distance", "linear", "smooth", "kinked", "multiplies", "whole", ""};
  const int traits[] = {ke_is_distance(&k), ke_is_linear(&k),  ke_is_smooth(&k),
                        ke_is_kinked(&k),   ke_multiplies(&k), k.parts == 0};
  SEXP out = PROTECT(Rf_mkNamed(LGLSXP, names));
  for (int i = 0; i < 6; i++)
    LOGICAL(out)[i] = traits[i] != 0;
  UNPROTECT(1);
  return out;
}
