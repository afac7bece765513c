/* Matrices by their parts, never held (source.c).
 *
 * A source is what any matrix must offer to be used here: operations on a state of its own. The
 * engines know nothing else of it, so rows in another form (sparse, on disk, elsewhere) are a new
 * constructor and no more. */
#ifndef KERNELECT_SOURCE_H
#define KERNELECT_SOURCE_H

#include "env.h"
#include "kernel.h"

#define KE_TIE 1e-10 /* keys within this of the best are equal: lowest row wins */

/* Rows and columns of the tiles that streams over a matrix work in. */
#define KE_TILE 240

/* Sets of rows that a source of n rows keeps at hand, and how many rows each may have. */
enum { KE_CANDIDATES, KE_PICKS, KE_SINGLE, KE_SETS };
#define KE_CANDIDATES_MAX 1024
#define KE_BLOCK 128
size_t ke_set_size(int set, size_t n);

typedef struct {
  void (*diagonal)(const void *self, double *out);
  /* the magnitude behind each diagonal entry, whose rounding it carries: its own, or that of the
   * larger numbers it is a difference of */
  void (*magnitude)(const void *self, double *out);
  /* keep rows index[0..m) as a set */
  void (*gather)(void *self, int set, const size_t *index, size_t m);
  /* rows i0..i0+m (i0 a multiple of KE_PANEL) by the members of a set */
  void (*against)(const void *self, int set, size_t i0, size_t m, double *out, size_t ldo);
  /* members of set `rows` by members of set `cols` */
  void (*between)(const void *self, int rows, int cols, double *out, size_t ldo);
  /* rows i0..i0+m by columns j0..j0+k (both multiples of KE_PANEL) */
  void (*tile)(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out, size_t ldo);
  /* what `against` will read of rows i0..i0+m, m not 0; NULL: not known */
  ke_ahead (*reads)(const void *self, size_t i0, size_t m);
} ke_operations;

typedef struct {
  const ke_operations *does;
  void *self;
  size_t n, columns; /* columns are the rows again where it is symmetric */
  int symmetric;
  double cost;  /* flops an entry */
  int parallel; /* may be called from several threads at once, gather excepted */
  int cancels;  /* entries near zero are differences of larger numbers: zero is not exact */
  int centred;  /* some rows may be far shorter than others */
} ke_source;

/* Constructors. `state` holds as many doubles as the function beside each says. */

/* A kernel between the rows. */
size_t ke_source_rows_state(const ke_rows *rows);
ke_source ke_source_rows(const ke_kernel *kernel, const ke_rows *rows, double *state);

/* Rows index[0..m) from elsewhere, packed for the same kernel, as a set of such a source. */
void ke_source_host(ke_source *s, int set, const ke_rows *from, const size_t *index, size_t m);

/* A kernel between two sets of rows; it has tiles only. */
size_t ke_source_cross_state(void);
ke_source ke_source_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b,
                          double *state);

/* A matrix, n x n. */
size_t ke_source_matrix_state(void);
ke_source ke_source_matrix(const double *matrix, size_t n, double *state);

/* Entries between row numbers i and j (0-based) from elsewhere, one caller at a time. */
typedef void (*ke_entries)(void *data, const size_t *i, size_t m, const size_t *j, size_t k,
                           double *out, size_t ldo);
size_t ke_source_callback_state(size_t n);
ke_source ke_source_callback(ke_entries entries, void *data, const double *diagonal, size_t n,
                             double *state);

/* k_ij - shift_i - shift_j + constant on top of another source. */
size_t ke_source_centred_state(void);
ke_source ke_source_centred(const ke_source *inner, const double *shift, double constant,
                            double *state);

/* The surroundings for work on this source: one thread where it takes no more. */
ke_env ke_source_env(const ke_source *s, const ke_env *env);

#endif
