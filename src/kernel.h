/* Kernels (kernel.c) and tiles of their values (tile.c). */
#ifndef KERNELECT_KERNEL_H
#define KERNELECT_KERNEL_H

#include "rows.h"

typedef struct ke_kernel ke_kernel;
typedef struct ke_column ke_column;

/* A row of the table of kernels: all that the core knows of a type. A kernel of parts (a sum, a
 * product) has `combine` and `chain` only; its other properties follow from those of its parts. */
typedef struct {
  const char *name;
  /* inner products in c->g become kernel values; NULL: they are */
  void (*finish)(const ke_column *c);
  /* slope[i] (length m) = derivative of the value c->g[i] by the squared distance (`distance`; 0
   * at distance 0, where nothing depends on the columns) or by the inner product, `inner` being
   * what g held before; NULL: there is none */
  void (*slope)(const ke_column *c, const double *inner, double *slope);
  /* slope / value where that is a constant, else NULL */
  double (*proportion)(const ke_kernel *kernel);
  /* no value between such rows is larger; INFINITY: one might overflow */
  double (*bound)(const ke_kernel *kernel, const ke_rows *rows);
  size_t cost;    /* flops a column and entry */
  int distance;   /* depends on differences of rows only, so that data may be centred */
  int multiplies; /* on some columns it is the product of its values on each of them */
  int by_column;  /* reads the rows themselves rather than inner products */
  int kinked;     /* the slope by a squared scale factor is not bounded */
  /* value o= other, n numbers; and slopes of that from the slopes of both (before it) */
  void (*combine)(double *value, const double *other, size_t n);
  void (*chain)(const double *value, double *slope, const double *other, const double *others,
                size_t n);
} ke_kernel_type;

/* The entry of that name, or NULL. */
const ke_kernel_type *ke_kernel_named(const char *name);

/* Scale factors of the columns (NULL: ones) that a block of packed rows was made with, beside
 * those of the caller; and whether its rows may be centred. */
typedef struct {
  const double *weights;
  int distance;
} ke_look;

/* rbf exp(-scale d^2); laplace exp(-scale d); polynomial (scale <x,z> + offset)^degree;
 * sigmoid tanh(scale <x,z> + offset); linear and spline have no parameter; a sum or product of
 * its parts, times scale. */
struct ke_kernel {
  const ke_kernel_type *type;
  double scale, offset, degree;
  size_t block; /* of the packed columns: those that it sees */
  size_t parts; /* 0: none */
  const ke_kernel *part;
  /* of the whole kernel: what its blocks are; 0: one, not weighted */
  size_t blocks;
  const ke_look *look;
};

/* Most levels of sums and products within each other: each takes a tile of the stack. */
#define KE_DEPTH 20

/* The blocks that rows packed for a kernel have, and the properties of a kernel. */
size_t ke_kernel_blocks(const ke_kernel *kernel);
size_t ke_depth(const ke_kernel *kernel);          /* 0 without parts */
size_t ke_cost(const ke_kernel *kernel, size_t d); /* flops an entry, of d columns */
int ke_is_distance(const ke_kernel *kernel);
int ke_is_linear(const ke_kernel *kernel);
int ke_is_smooth(const ke_kernel *kernel); /* has slopes */
int ke_is_kinked(const ke_kernel *kernel);
int ke_is_proportional(const ke_kernel *kernel); /* slopes are values times a constant */
int ke_multiplies(const ke_kernel *kernel);

/* Whether a block of columns is looked at through distances. */
int ke_block_is_distance(const ke_kernel *kernel, size_t block);

/* Whether no kernel value between rows of these lengths can overflow. */
int ke_within_range(const ke_kernel *kernel, const ke_rows *rows);

/* Rows (arrays lent for all blocks, n, d and blocks set) from x (n x d / blocks, leading
 * dimension ldx), transformed by `how` and, in each block, times the weights of the block; only
 * what may be centred is shifted. `env` NULL: no looks at an interrupt. */
void ke_pack_for(const ke_kernel *kernel, const double *x, size_t ldx, ke_transform how,
                 ke_rows *rows, const ke_env *env);

/* One column of a tile: rows i0 .. i0 + m of a against row j of b, one block each. `g` (length m)
 * holds inner products and becomes kernel values. Squared lengths are read from `norm` and
 * `other`, so that a caller can take one column of the data, `without`, out of g and lengths. */
struct ke_column {
  const ke_kernel *kernel; /* without parts */
  const ke_rows *a, *b;
  size_t i0, m, j;
  const double *norm; /* m, of the rows of a */
  double other;       /* of row j of b */
  double top;         /* largest of norm, or 0: not known yet */
  size_t without;     /* SIZE_MAX: none */
  double *g;
  /* squared distance of row i0 + i to row j by their differences, of rows that are not packed and
   * known by `pair`; NULL: those of a and b */
  double (*distance2)(const ke_column *c, size_t i);
  const void *pair;
};

/* A column of the rows as they are; m and g are still to be set. */
ke_column ke_column_of(const ke_kernel *kernel, const ke_rows *a, size_t i0, const ke_rows *b,
                       size_t j);

void ke_finish(const ke_column *c);
void ke_slope(const ke_column *c, const double *inner, double *slope);

/* Largest of n values, or 0 when all are negative. */
double ke_largest(const double *x, size_t n);

/* One column of a tile for a kernel of any kind: rows i0 .. i0 + m of a against row j of b, whose
 * inner products in block q are inner + q * apart. */
typedef struct {
  const ke_kernel *kernel;
  const ke_rows *a, *b;
  size_t i0, m, j;
  const double *inner;
  size_t apart, ld;
} ke_strip_column;

/* Kernel values (m) and their slopes by the squared distances or inner products of each block
 * (block q at slope + q * ld). work: ke_slopes_work() doubles. */
size_t ke_slopes_work(const ke_kernel *kernel, size_t ld);
void ke_slopes(const ke_strip_column *c, double *value, double *slope, double *work);

/* Where a tile lies: rows i0 .. i0 + m of a, j0 .. j0 + k of b, in whatever form a kernel without
 * parts finds its values there. */
typedef struct ke_place {
  const void *a, *b;
  size_t i0, m, j0, k;
  void (*leaf)(const ke_kernel *kernel, const struct ke_place *t, double *out, size_t ldo);
} ke_place;

/* Values of a kernel of any kind from those of its leaves. */
void ke_place_tile(const ke_kernel *kernel, const ke_place *t, double *out, size_t ldo);

/* Kernel values of some rows with others; each entry is the same whatever the tile. */
void ke_tile(const ke_kernel *kernel, ke_range a, ke_range b, double *out, size_t ldo);

/* k(x, x) for every row, out length n. Kernels that do not read columns one by one need the
 * squared lengths only. */
void ke_diagonal(const ke_kernel *kernel, const ke_rows *rows, double *out);

#endif
