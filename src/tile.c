/* Kernels of any kind by the table of kernel.c: the properties of sums and products follow from
 * those of their parts, and so do their slopes, the tiles of their values and their diagonals.
 *
 *   k = scale (k1 o k2 o ...),   k' = scale (chain of (k1, k1'), (k2, k2'), ...)
 *
 * Each part reads its own block of the packed columns. A tile of a leaf costs its inner products
 * and one finish a column; combined ones hold one piece of a tile a level on the stack.
 */
#include "kernel.h"

#include <math.h>
#include <string.h>

/* ---- properties of a kernel and its parts ---------------------------------------------------- */

size_t ke_kernel_blocks(const ke_kernel *kernel) { return kernel->blocks ? kernel->blocks : 1; }

size_t ke_depth(const ke_kernel *kernel)
{
  size_t below = 0;
  for (size_t q = 0; q < kernel->parts; q++) {
    const size_t here = 1 + ke_depth(&kernel->part[q]);
    below = here > below ? here : below;
  }
  return below;
}

#define PER_ENTRY 64 /* flops that do not depend on the columns */

size_t ke_cost(const ke_kernel *kernel, size_t d)
{
  size_t sum = 0;
  if (!kernel->parts)
    return kernel->type->cost * d + PER_ENTRY;
  for (size_t q = 0; q < kernel->parts; q++)
    sum += ke_cost(&kernel->part[q], d);
  return sum;
}

/* Whether a property holds for all parts. */
static int all(int (*holds)(const ke_kernel *), const ke_kernel *kernel)
{
  for (size_t q = 0; q < kernel->parts; q++)
    if (!holds(&kernel->part[q]))
      return 0;
  return 1;
}

int ke_is_distance(const ke_kernel *kernel)
{
  return kernel->parts ? all(ke_is_distance, kernel) : kernel->type->distance;
}

int ke_is_linear(const ke_kernel *kernel) { return !kernel->parts && !kernel->type->finish; }

int ke_is_smooth(const ke_kernel *kernel)
{
  return kernel->parts ? all(ke_is_smooth, kernel) : kernel->type->slope != NULL;
}

static int is_not_kinked(const ke_kernel *kernel)
{
  return kernel->parts ? all(is_not_kinked, kernel) : !kernel->type->kinked;
}

int ke_is_kinked(const ke_kernel *kernel) { return !is_not_kinked(kernel); }

int ke_is_proportional(const ke_kernel *kernel)
{
  return !kernel->parts && kernel->type->proportion;
}

int ke_multiplies(const ke_kernel *kernel)
{
  if (!kernel->parts)
    return kernel->type->multiplies;
  return kernel->type->multiplies && kernel->scale == 1.0 && all(ke_multiplies, kernel);
}

int ke_block_is_distance(const ke_kernel *kernel, size_t block)
{
  return kernel->blocks ? kernel->look[block].distance : ke_is_distance(kernel);
}

static double bound(const ke_kernel *kernel, const ke_rows *rows)
{
  if (!kernel->parts) {
    const ke_rows own = ke_block(rows, kernel->block);
    return kernel->type->bound(kernel, &own);
  }
  double total = bound(&kernel->part[0], rows);
  for (size_t q = 1; q < kernel->parts; q++) {
    const double next = bound(&kernel->part[q], rows);
    /* a part that overflows is not made good by one that vanishes */
    if (isfinite(total) && isfinite(next))
      kernel->type->combine(&total, &next, 1);
    else
      total = INFINITY;
  }
  return fabs(kernel->scale) * total;
}

int ke_within_range(const ke_kernel *kernel, const ke_rows *rows)
{
  return isfinite(bound(kernel, rows));
}

/* A run of rows at a time. */
static void pack_runs(const double *x, size_t ldx, const ke_transform *how, const double *weights,
                      const ke_rows *rows, const ke_env *env)
{
  const size_t run = ke_padded(ke_batch(KE_FRESH * (double)(rows->d + 1)));
  for (size_t i = 0; i < rows->n; i += run) {
    ke_rows part = *rows;
    if (env && i > 0)
      ke_check(env);
    part.n = ke_smaller(run, rows->n - i);
    part.panel = ke_row(rows, i);
    part.norm = rows->norm + i;
    ke_pack(x + i, ldx, how, &part);
    if (weights)
      ke_rescale(weights, &part);
  }
}

void ke_pack_for(const ke_kernel *kernel, const double *x, size_t ldx, ke_transform how,
                 ke_rows *rows, const ke_env *env)
{
  const double *shift = how.shift;
  for (size_t b = 0; b < ke_kernel_blocks(kernel); b++) {
    const ke_rows block = ke_block(rows, b);
    how.shift = ke_block_is_distance(kernel, b) ? shift : NULL;
    pack_runs(x, ldx, &how, kernel->blocks ? kernel->look[b].weights : NULL, &block, env);
  }
}

/* ---- columns ------------------------------------------------------------------------------ */

ke_column ke_column_of(const ke_kernel *kernel, const ke_rows *a, size_t i0, const ke_rows *b,
                       size_t j)
{
  const ke_column c = {kernel,     a,   b,        i0,   0,    j,   a->norm + i0,
                       b->norm[j], 0.0, SIZE_MAX, NULL, NULL, NULL};
  return c;
}

void ke_finish(const ke_column *c)
{
  if (c->kernel->type->finish)
    c->kernel->type->finish(c);
}

void ke_slope(const ke_column *c, const double *inner, double *slope)
{
  c->kernel->type->slope(c, inner, slope);
}

size_t ke_slopes_work(const ke_kernel *kernel, size_t ld)
{
  return ke_depth(kernel) * (1 + ke_kernel_blocks(kernel)) * ld;
}

static void slopes_of_leaf(const ke_kernel *kernel, const ke_strip_column *s, double *value,
                           double *slope)
{
  const size_t at = kernel->block * s->ld, from = kernel->block * s->apart;
  const ke_rows a = ke_block(s->a, kernel->block), b = ke_block(s->b, kernel->block);
  ke_column c = ke_column_of(kernel, &a, s->i0, &b, s->j);
  c.m = s->m;
  c.g = value;
  memcpy(value, s->inner + from, s->m * sizeof(double));
  memset(slope, 0, ke_kernel_blocks(s->kernel) * s->ld * sizeof(double));
  ke_finish(&c);
  ke_slope(&c, s->inner + from, slope + at);
}

/* From the leaves up: the slopes of a kernel follow from values and slopes of its parts. */
static void slopes_of(const ke_kernel *kernel, const ke_strip_column *s, double *value,
                      double *slope, double *work)
{
  const size_t blocks = ke_kernel_blocks(s->kernel), ld = s->ld;
  double *other = work, *others = work + ld, *next = others + blocks * ld;
  if (!kernel->parts) {
    slopes_of_leaf(kernel, s, value, slope);
    return;
  }
  slopes_of(&kernel->part[0], s, value, slope, work);
  for (size_t q = 1; q < kernel->parts; q++) {
    slopes_of(&kernel->part[q], s, other, others, next);
    for (size_t b = 0; b < blocks; b++)
      kernel->type->chain(value, slope + b * ld, other, others + b * ld, s->m);
    kernel->type->combine(value, other, s->m);
  }
  for (size_t i = 0; i < s->m; i++) {
    value[i] *= kernel->scale;
    for (size_t b = 0; b < blocks; b++)
      slope[i + b * ld] *= kernel->scale;
  }
}

void ke_slopes(const ke_strip_column *c, double *value, double *slope, double *work)
{
  slopes_of(c->kernel, c, value, slope, work);
}

/* ---- tiles -------------------------------------------------------------------------------- */

static void leaf_tile(const ke_kernel *kernel, const ke_place *t, double *out, size_t ldo)
{
  const ke_rows a = ke_block((const ke_rows *)t->a, kernel->block);
  const ke_rows b = ke_block((const ke_rows *)t->b, kernel->block);
  const double top = ke_largest(a.norm + t->i0, t->m);
  /* One panel of columns at a time stays in the first cache between the two steps. */
  const size_t group = a.d <= KE_PARTIAL ? KE_PANEL : t->k;
  for (size_t j = 0; j < t->k; j += group) {
    const size_t cols = ke_smaller(group, t->k - j);
    if (!kernel->type->by_column)
      ke_inner(&a, t->i0, t->m, &b, t->j0 + j, cols, out + j * ldo, ldo);
    for (size_t q = 0; q < cols; q++) {
      ke_column c = ke_column_of(kernel, &a, t->i0, &b, t->j0 + j + q);
      c.m = t->m;
      c.top = top;
      c.g = out + (j + q) * ldo;
      ke_finish(&c);
    }
  }
}

/* Pieces of a tile whose parts are held beside each other: whole register blocks. */
#define PIECE_ROWS 96
#define PIECE_COLS 32

static void combined_piece(const ke_kernel *kernel, const ke_place *t, double *out, size_t ldo)
{
  double other[PIECE_ROWS * PIECE_COLS];
  ke_place_tile(&kernel->part[0], t, out, ldo);
  for (size_t q = 1; q < kernel->parts; q++) {
    ke_place_tile(&kernel->part[q], t, other, PIECE_ROWS);
    for (size_t j = 0; j < t->k; j++)
      kernel->type->combine(out + j * ldo, other + j * PIECE_ROWS, t->m);
  }
  if (kernel->scale == 1.0)
    return;
  for (size_t j = 0; j < t->k; j++)
    for (size_t i = 0; i < t->m; i++)
      out[i + j * ldo] *= kernel->scale;
}

void ke_place_tile(const ke_kernel *kernel, const ke_place *t, double *out, size_t ldo)
{
  if (!kernel->parts) {
    t->leaf(kernel, t, out, ldo);
    return;
  }
  for (size_t j = 0; j < t->k; j += PIECE_COLS)
    for (size_t i = 0; i < t->m; i += PIECE_ROWS) {
      ke_place piece = *t;
      piece.i0 += i;
      piece.j0 += j;
      piece.m = ke_smaller(PIECE_ROWS, t->m - i);
      piece.k = ke_smaller(PIECE_COLS, t->k - j);
      combined_piece(kernel, &piece, out + i + j * ldo, ldo);
    }
}

void ke_tile(const ke_kernel *kernel, ke_range a, ke_range b, double *out, size_t ldo)
{
  const ke_place t = {a.rows, b.rows, a.first, a.count, b.first, b.count, leaf_tile};
  ke_place_tile(kernel, &t, out, ldo);
}

/* ---- diagonals ------------------------------------------------------------------------------ */

static void diagonal_of(const ke_kernel *kernel, const ke_rows *rows, size_t i0, size_t m,
                        double *out);

static double on_diagonal(const ke_kernel *kernel, const ke_rows *own, size_t i)
{
  const double nothing = 0.0;
  double value = kernel->type->distance ? nothing : own->norm[i];
  ke_column c = ke_column_of(kernel, own, i, own, i);
  if (kernel->type->distance) {
    c.other = nothing;
    c.norm = &nothing;
  }
  c.m = 1;
  c.g = &value;
  ke_finish(&c);
  return value;
}

/* A row is at no distance from itself, whatever its length: the value is that of the first. */
static void leaf_diagonal(const ke_kernel *kernel, const ke_rows *rows, size_t i0, size_t m,
                          double *out)
{
  const ke_rows own = ke_block(rows, kernel->block);
  const double first = on_diagonal(kernel, &own, i0);
  for (size_t i = 0; i < m; i++)
    out[i] = kernel->type->distance ? first : on_diagonal(kernel, &own, i0 + i);
}

static void combined_diagonal(const ke_kernel *kernel, const ke_rows *rows, size_t i0, size_t m,
                              double *out)
{
  double other[PIECE_ROWS];
  diagonal_of(&kernel->part[0], rows, i0, m, out);
  for (size_t q = 1; q < kernel->parts; q++) {
    diagonal_of(&kernel->part[q], rows, i0, m, other);
    kernel->type->combine(out, other, m);
  }
  for (size_t i = 0; i < m; i++)
    out[i] *= kernel->scale;
}

/* m is at most PIECE_ROWS */
static void diagonal_of(const ke_kernel *kernel, const ke_rows *rows, size_t i0, size_t m,
                        double *out)
{
  (kernel->parts ? combined_diagonal : leaf_diagonal)(kernel, rows, i0, m, out);
}

void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out)
{
  for (size_t i = 0; i < rows->n; i += PIECE_ROWS)
    diagonal_of(kernel, rows, i, ke_smaller(PIECE_ROWS, rows->n - i), out + i);
}
