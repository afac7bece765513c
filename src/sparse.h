/* Rows that are mostly zero, and kernels between them (sparse.c). */
#ifndef KERNELECT_SPARSE_H
#define KERNELECT_SPARSE_H

#include "source.h"

/* n rows of d columns by their entries, row by row and once more column by column. Whoever calls
 * lends the arrays; there are fewer than 2^31 entries. Values are held once for each block of
 * columns that a kernel looks at, `apart` from one block to the next. */
typedef struct {
  size_t n, d, blocks, apart;
  int *start;    /* n + 1: the entries of row i are start[i] .. start[i + 1] */
  int *column;   /* of each entry, ascending within a row, each once */
  double *value; /* blocks x apart */
  int *first;    /* d + 1: the entries of column c are first[c] .. first[c + 1]; NULL, like the next
                  * two, where no rows are compared with these */
  int *row;      /* of each entry, ascending within a column */
  double *entry; /* blocks x apart: the values again, by columns */
  double *norm;  /* ke_padded(n) for each block: squared lengths */
} ke_sparse;

/* Entries of all rows, and of the one that has most. */
size_t ke_sparse_entries(const ke_sparse *rows);
size_t ke_sparse_longest(const ke_sparse *rows);

/* Make rows whose start and column are filled ready for a kernel: `values`, one an entry, times
 * the scale factors of each block, the entries by columns, the squared lengths. */
void ke_sparse_fill(const ke_kernel *kernel, const double *values, ke_sparse *rows,
                    const ke_env *env);

/* Add the values of entries in each column to out. */
void ke_sparse_sums(const int *column, const double *value, size_t count, double *out,
                    const ke_env *env);

/* Whether no kernel value between such rows can overflow; k(x, x) of every row. */
int ke_sparse_within_range(const ke_kernel *kernel, const ke_sparse *rows);
void ke_sparse_diagonal(const ke_kernel *kernel, const ke_sparse *rows, double *out);

/* Rows first .. first + count. */
typedef struct {
  const ke_sparse *rows;
  size_t first, count;
} ke_sparse_range;

/* Kernel values of some rows with others; each entry is summed over the columns in one order, so it
 * is the same whatever the tile. Not for kernels that read columns one by one (`by_column`). */
void ke_sparse_tile(const ke_kernel *kernel, ke_sparse_range a, ke_sparse_range b, double *out,
                    size_t ldo);

/* Sources, as those of packed rows (source.h). Rows of a set must be distinct. */
size_t ke_source_sparse_state(const ke_sparse *rows);
ke_source ke_source_sparse(const ke_kernel *kernel, const ke_sparse *rows, double *state);
size_t ke_source_sparse_cross_state(void);
ke_source ke_source_sparse_cross(const ke_kernel *kernel, const ke_sparse *a, const ke_sparse *b,
                                 double *state);

#endif
