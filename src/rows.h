/* Packed rows and their inner products (rows.c). */
#ifndef KERNELECT_ROWS_H
#define KERNELECT_ROWS_H

#include "env.h"

/* Columns in one partial sum: keeps both panels in cache, and the sums accurate. */
#define KE_PARTIAL 256

/* Rows made ready for tiles: shifted, weighted, and stored in panels of KE_PANEL rows
 * (panel p holds, for each column in turn, rows KE_PANEL p ... KE_PANEL p + 3; the last
 * panel is filled up with zeros). `norm` holds squared lengths, summed in the same order
 * as inner products, so that identical rows are at distance exactly zero. */
#define KE_PANEL 4
typedef struct {
  size_t n, d;
  double *panel; /* ke_panel_size(n, d) */
  double *norm;  /* ke_padded(n), for each block */
  size_t stride; /* columns that a panel has room for; 0: d */
  size_t blocks; /* equal parts of the columns with lengths of their own; 0: one */
} ke_rows;

/* Rows first .. first + count, `first` a multiple of KE_PANEL. */
typedef struct {
  const ke_rows *rows;
  size_t first, count;
} ke_range;

size_t ke_padded(size_t n);
size_t ke_panel_size(size_t n, size_t d);

static inline size_t ke_stride(const ke_rows *rows)
{
  return rows->stride ? rows->stride : rows->d;
}

static inline size_t ke_blocks(const ke_rows *rows) { return rows->blocks ? rows->blocks : 1; }

/* The columns of one block as rows, in the same memory. */
ke_rows ke_block(const ke_rows *rows, size_t block);

/* The first value of a row; the others follow KE_PANEL apart. */
static inline double *ke_row(const ke_rows *rows, size_t i)
{
  return rows->panel + i / KE_PANEL * KE_PANEL * ke_stride(rows) + i % KE_PANEL;
}

/* What becomes of a column while it is packed: ((x - center) / scale - shift) * weight. Each has
 * length d or is NULL, which leaves that step out; center and scale go together. */
typedef struct {
  const double *center, *scale, *shift, *weights;
} ke_transform;

/* Fill `rows` (arrays lent, n and d set) from x (n x d, leading dimension ldx); `how` NULL: as they
 * are. */
void ke_pack(const double *x, size_t ldx, const ke_transform *how, ke_rows *rows);

/* The same without the squared lengths. */
void ke_panels(const double *x, size_t ldx, const ke_transform *how, const ke_rows *rows);

/* Stored values times `factors` (length d), and their squared lengths. */
void ke_rescale(const double *factors, ke_rows *rows);

/* Copy rows index[0..m) of `from` into `to` (arrays lent for m rows). */
void ke_gather(const ke_rows *from, const size_t *index, size_t m, ke_rows *to);

/* Inner products of rows i0..i0+m of a with rows j0..j0+k of b into out (m x k, ldo).
 * i0 and j0 are multiples of KE_PANEL. Each entry is summed over the columns in one fixed
 * order: it does not depend on the tile, the threads or the BLAS. */
void ke_inner(const ke_rows *a, size_t i0, size_t m, const ke_rows *b, size_t j0, size_t k,
              double *out, size_t ldo);

/* out (a->n x b->n, ldo) = a b' over the first `count` columns of each; a and b may have
 * different d. */
void ke_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo);

/* Columns of numbers, ld apart, that will be wanted next and may be far away: they are asked for
 * while others are worked on. x NULL: none. */
typedef struct {
  const double *x;
  size_t ld, rows, columns;
} ke_ahead;

/* The same added to out; a and b have rows, count is not 0. `ahead` is NULL, or ends with one that
 * asks for none. */
void ke_add_product(const ke_rows *a, const ke_rows *b, size_t count, double *out, size_t ldo,
                    const ke_ahead *ahead);

#endif
