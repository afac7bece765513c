/* Sources: a positive semi-definite matrix by its parts. From packed rows and a kernel, from a
 * matrix at hand, from a callback, and centred on top of any of them:
 *
 *   k~_ij = k_ij - u_i - u_j + c,   u_i = mean_b k_ib,   c = mean_ab k_ab
 *
 * (Baudat & Anouar 2003, Appendix A), a and b running over the few rows whose mean is the centre.
 * Passes over them are in stream.c.
 */
#include "source.h"

#include <math.h>
#include <string.h>

/* Doubles that hold so many bytes. */
static size_t doubles(size_t bytes) { return (bytes + sizeof(double) - 1) / sizeof(double); }

/* Rows of each set, by number. */
typedef struct {
  const size_t *index[KE_SETS];
  size_t count[KE_SETS];
} members;

static void remember(members *m, int set, const size_t *index, size_t count)
{
  m->index[set] = index;
  m->count[set] = count;
}

/* ---- from rows ----------------------------------------------------------------- */

typedef struct {
  ke_kernel kernel;
  const ke_rows *rows;
  ke_rows set[KE_SETS];
} rows_self;

/* Picks may be rows of others (ke_source_host), candidates are the source's own. */
size_t ke_set_size(int set, size_t n)
{
  const size_t most[KE_SETS] = {ke_smaller(KE_CANDIDATES_MAX, n), KE_BLOCK, 1};
  return most[set];
}

static void rows_diagonal(const void *self, double *out)
{
  const rows_self *s = (const rows_self *)self;
  ke_diagonal(&s->kernel, s->rows, out);
}

static void rows_gather(void *self, int set, const size_t *index, size_t m)
{
  rows_self *s = (rows_self *)self;
  ke_gather(s->rows, index, m, &s->set[set]);
}

static void rows_against(const void *self, int set, size_t i0, size_t m, double *out, size_t ldo)
{
  const rows_self *s = (const rows_self *)self;
  ke_tile(&s->kernel, (ke_range){s->rows, i0, m}, (ke_range){&s->set[set], 0, s->set[set].n}, out,
          ldo);
}

static void rows_between(const void *self, int rows, int cols, double *out, size_t ldo)
{
  const rows_self *s = (const rows_self *)self;
  ke_tile(&s->kernel, (ke_range){&s->set[rows], 0, s->set[rows].n},
          (ke_range){&s->set[cols], 0, s->set[cols].n}, out, ldo);
}

static void rows_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                      size_t ldo)
{
  const rows_self *s = (const rows_self *)self;
  ke_tile(&s->kernel, (ke_range){s->rows, i0, m}, (ke_range){s->rows, j0, k}, out, ldo);
}

static ke_ahead rows_reads(const void *self, size_t i0, size_t m)
{
  const ke_rows *rows = ((const rows_self *)self)->rows;
  const ke_ahead all = {rows->panel + i0 * ke_stride(rows), 0, m * ke_stride(rows), 1};
  return all;
}

static size_t set_doubles(const ke_rows *rows, int set)
{
  const size_t most = ke_set_size(set, rows->n);
  return ke_panel_size(most, rows->d) + ke_blocks(rows) * ke_padded(most);
}

size_t ke_source_rows_state(const ke_rows *rows)
{
  size_t count = doubles(sizeof(rows_self));
  for (int set = 0; set < KE_SETS; set++)
    count += set_doubles(rows, set);
  return count;
}

ke_source ke_source_rows(const ke_kernel *kernel, const ke_rows *rows, double *state)
{
  static const ke_operations does = {rows_diagonal, rows_diagonal, rows_gather, rows_against,
                                     rows_between,  rows_tile,     rows_reads};
  rows_self *self = (rows_self *)state;
  double *next = state + doubles(sizeof *self);
  self->kernel = *kernel;
  self->rows = rows;
  for (int set = 0; set < KE_SETS; set++) {
    const ke_rows empty = {0,    rows->d,
                           next, next + ke_panel_size(ke_set_size(set, rows->n), rows->d),
                           0,    ke_blocks(rows)};
    self->set[set] = empty;
    next += set_doubles(rows, set);
  }
  const ke_source s = {.does = &does,
                       .self = self,
                       .n = rows->n,
                       .columns = rows->n,
                       .symmetric = 1,
                       .cost = (double)ke_cost(kernel, rows->d / ke_blocks(rows)),
                       .parallel = 1,
                       .cancels = !ke_is_distance(kernel)};
  return s;
}

void ke_source_host(ke_source *s, int set, const ke_rows *from, const size_t *index, size_t m)
{
  rows_self *self = (rows_self *)s->self;
  ke_gather(from, index, m, &self->set[set]);
}

/* ---- between two sets of rows -------------------------------------------------- */

typedef struct {
  ke_kernel kernel;
  const ke_rows *a, *b;
} cross_self;

static void cross_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                       size_t ldo)
{
  const cross_self *s = (const cross_self *)self;
  ke_tile(&s->kernel, (ke_range){s->a, i0, m}, (ke_range){s->b, j0, k}, out, ldo);
}

size_t ke_source_cross_state(void) { return doubles(sizeof(cross_self)); }

ke_source ke_source_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b,
                          double *state)
{
  static const ke_operations does = {.tile = cross_tile};
  cross_self *self = (cross_self *)state;
  self->kernel = *kernel;
  self->a = a;
  self->b = b;
  const ke_source s = {.does = &does,
                       .self = self,
                       .n = a->n,
                       .columns = b->n,
                       .cost = (double)ke_cost(kernel, a->d / ke_blocks(a)),
                       .parallel = 1};
  return s;
}

/* ---- from a matrix -------------------------------------------------------------- */

typedef struct {
  members sets;
  const double *matrix;
  size_t n;
} matrix_self;

static void matrix_diagonal(const void *self, double *out)
{
  const matrix_self *s = (const matrix_self *)self;
  for (size_t i = 0; i < s->n; i++)
    out[i] = s->matrix[i * (s->n + 1)];
}

static void matrix_gather(void *self, int set, const size_t *index, size_t m)
{
  remember(&((matrix_self *)self)->sets, set, index, m);
}

static void matrix_against(const void *self, int set, size_t i0, size_t m, double *out, size_t ldo)
{
  const matrix_self *s = (const matrix_self *)self;
  for (size_t j = 0; j < s->sets.count[set]; j++)
    memcpy(out + j * ldo, s->matrix + i0 + s->sets.index[set][j] * s->n, m * sizeof(double));
}

static void matrix_between(const void *self, int rows, int cols, double *out, size_t ldo)
{
  const matrix_self *s = (const matrix_self *)self;
  for (size_t j = 0; j < s->sets.count[cols]; j++)
    for (size_t i = 0; i < s->sets.count[rows]; i++)
      out[i + j * ldo] = s->matrix[s->sets.index[rows][i] + s->sets.index[cols][j] * s->n];
}

static void matrix_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                        size_t ldo)
{
  const matrix_self *s = (const matrix_self *)self;
  for (size_t j = 0; j < k; j++)
    memcpy(out + j * ldo, s->matrix + i0 + (j0 + j) * s->n, m * sizeof(double));
}

size_t ke_source_matrix_state(void) { return doubles(sizeof(matrix_self)); }

ke_source ke_source_matrix(const double *matrix, size_t n, double *state)
{
  static const ke_operations does = {
      matrix_diagonal, matrix_diagonal, matrix_gather, matrix_against,
      matrix_between,  matrix_tile,     NULL};
  matrix_self *self = (matrix_self *)state;
  memset(self, 0, sizeof *self);
  self->matrix = matrix;
  self->n = n;
  const ke_source s = {.does = &does,
                       .self = self,
                       .n = n,
                       .columns = n,
                       .symmetric = 1,
                       .cost = 64.0,
                       .parallel = 1};
  return s;
}

/* ---- from a callback ------------------------------------------------------------- */

typedef struct {
  members sets;
  ke_entries entries;
  void *data;
  const double *diagonal;
  size_t n;
  size_t *number; /* 0 .. n - 1 */
} callback_self;

static void callback_diagonal(const void *self, double *out)
{
  const callback_self *s = (const callback_self *)self;
  memcpy(out, s->diagonal, s->n * sizeof(double));
}

static void callback_gather(void *self, int set, const size_t *index, size_t m)
{
  remember(&((callback_self *)self)->sets, set, index, m);
}

static void callback_against(const void *self, int set, size_t i0, size_t m, double *out,
                             size_t ldo)
{
  const callback_self *s = (const callback_self *)self;
  s->entries(s->data, s->number + i0, m, s->sets.index[set], s->sets.count[set], out, ldo);
}

static void callback_between(const void *self, int rows, int cols, double *out, size_t ldo)
{
  const callback_self *s = (const callback_self *)self;
  s->entries(s->data, s->sets.index[rows], s->sets.count[rows], s->sets.index[cols],
             s->sets.count[cols], out, ldo);
}

static void callback_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                          size_t ldo)
{
  const callback_self *s = (const callback_self *)self;
  s->entries(s->data, s->number + i0, m, s->number + j0, k, out, ldo);
}

size_t ke_source_callback_state(size_t n)
{
  return doubles(sizeof(callback_self)) + doubles(n * sizeof(size_t));
}

ke_source ke_source_callback(ke_entries entries, void *data, const double *diagonal, size_t n,
                             double *state)
{
  static const ke_operations does = {callback_diagonal,
                                     callback_diagonal,
                                     callback_gather,
                                     callback_against,
                                     callback_between,
                                     callback_tile,
                                     NULL};
  callback_self *self = (callback_self *)state;
  memset(self, 0, sizeof *self);
  self->entries = entries;
  self->data = data;
  self->diagonal = diagonal;
  self->n = n;
  self->number = (size_t *)(void *)(state + doubles(sizeof *self));
  for (size_t i = 0; i < n; i++)
    self->number[i] = i;
  const ke_source s = {
      .does = &does, .self = self, .n = n, .columns = n, .symmetric = 1, .cost = 64.0};
  return s;
}

/* ---- centred ----------------------------------------------------------------------- */

typedef struct {
  members sets;
  ke_source inner;
  const double *shift;
  double constant;
} centred_self;

static void centred_diagonal(const void *self, double *out)
{
  const centred_self *s = (const centred_self *)self;
  s->inner.does->diagonal(s->inner.self, out);
  for (size_t i = 0; i < s->inner.n; i++)
    out[i] += s->constant - 2.0 * s->shift[i];
}

/* A centred entry is a difference of larger ones and carries their rounding. */
static void centred_magnitude(const void *self, double *out)
{
  const centred_self *s = (const centred_self *)self;
  s->inner.does->magnitude(s->inner.self, out);
  for (size_t i = 0; i < s->inner.n; i++) {
    const double own = out[i] + (s->constant - 2.0 * s->shift[i]);
    out[i] = fmax(fmax(out[i], s->constant), own);
  }
}

static void centred_gather(void *self, int set, const size_t *index, size_t m)
{
  centred_self *s = (centred_self *)self;
  remember(&s->sets, set, index, m);
  s->inner.does->gather(s->inner.self, set, index, m);
}

static void centred_against(const void *self, int set, size_t i0, size_t m, double *out, size_t ldo)
{
  const centred_self *s = (const centred_self *)self;
  s->inner.does->against(s->inner.self, set, i0, m, out, ldo);
  for (size_t j = 0; j < s->sets.count[set]; j++) {
    const double column = s->shift[s->sets.index[set][j]] - s->constant;
    for (size_t i = 0; i < m; i++)
      out[i + j * ldo] -= s->shift[i0 + i] + column;
  }
}

static void centred_between(const void *self, int rows, int cols, double *out, size_t ldo)
{
  const centred_self *s = (const centred_self *)self;
  s->inner.does->between(s->inner.self, rows, cols, out, ldo);
  for (size_t j = 0; j < s->sets.count[cols]; j++) {
    const double column = s->shift[s->sets.index[cols][j]] - s->constant;
    for (size_t i = 0; i < s->sets.count[rows]; i++)
      out[i + j * ldo] -= s->shift[s->sets.index[rows][i]] + column;
  }
}

static void centred_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                         size_t ldo)
{
  const centred_self *s = (const centred_self *)self;
  s->inner.does->tile(s->inner.self, i0, m, j0, k, out, ldo);
  for (size_t j = 0; j < k; j++) {
    const double column = s->shift[j0 + j] - s->constant;
    for (size_t i = 0; i < m; i++)
      out[i + j * ldo] -= s->shift[i0 + i] + column;
  }
}

static ke_ahead centred_reads(const void *self, size_t i0, size_t m)
{
  const ke_source *inner = &((const centred_self *)self)->inner;
  const ke_ahead none = {NULL, 0, 0, 0};
  return inner->does->reads ? inner->does->reads(inner->self, i0, m) : none;
}

size_t ke_source_centred_state(void) { return doubles(sizeof(centred_self)); }

ke_source ke_source_centred(const ke_source *inner, const double *shift, double constant,
                            double *state)
{
  static const ke_operations does = {centred_diagonal, centred_magnitude, centred_gather,
                                     centred_against,  centred_between,   centred_tile,
                                     centred_reads};
  centred_self *self = (centred_self *)state;
  memset(self, 0, sizeof *self);
  self->inner = *inner;
  self->shift = shift;
  self->constant = constant;
  ke_source s = *inner;
  s.does = &does;
  s.self = self;
  s.cancels = s.centred = 1;
  return s;
}

ke_env ke_source_env(const ke_source *s, const ke_env *env)
{
  ke_env crew = *env;
  crew.threads = s->parallel ? env->threads : 1;
  return crew;
}
