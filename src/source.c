/* Sources: a positive semi-definite matrix by its parts. From packed rows and a kernel, from a
 * matrix at hand, from a callback, and centred on top of any of them:
 *
 *   k~_ij = k_ij - u_i - u_j + c,   u_i = mean_b k_ib,   c = mean_ab k_ab
 *
 * (Baudat & Anouar 2003, Appendix A), a and b running over the few rows whose mean is the centre.
 * Also the one pass over half of the matrix that both the centre and the first pick of fvs need.
 */
#include "source.h"

#include "threads.h"

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

static const size_t set_size[KE_SETS] = {KE_CANDIDATES_MAX, KE_BLOCK, 1};

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

static size_t set_doubles(const ke_rows *rows, int set)
{
  return ke_panel_size(set_size[set], rows->d) + ke_blocks(rows) * ke_padded(set_size[set]);
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
  static const ke_operations does = {rows_diagonal, rows_diagonal, rows_gather,
                                     rows_against,  rows_between,  rows_tile};
  rows_self *self = (rows_self *)state;
  double *next = state + doubles(sizeof *self);
  self->kernel = *kernel;
  self->rows = rows;
  for (int set = 0; set < KE_SETS; set++) {
    const ke_rows empty = {0, rows->d,        next, next + ke_panel_size(set_size[set], rows->d),
                           0, ke_blocks(rows)};
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
  static const ke_operations does = {matrix_diagonal, matrix_diagonal, matrix_gather,
                                     matrix_against,  matrix_between,  matrix_tile};
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
  static const ke_operations does = {callback_diagonal, callback_diagonal, callback_gather,
                                     callback_against,  callback_between,  callback_tile};
  callback_self *self = (callback_self *)state;
  memset(self, 0, sizeof *self);
  self->entries = entries;
  self->data = data;
  self->diagonal = diagonal;
  self->n = n;
  self->number = (size_t *)(state + doubles(sizeof *self));
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

size_t ke_source_centred_state(void) { return doubles(sizeof(centred_self)); }

ke_source ke_source_centred(const ke_source *inner, const double *shift, double constant,
                            double *state)
{
  static const ke_operations does = {centred_diagonal, centred_magnitude, centred_gather,
                                     centred_against,  centred_between,   centred_tile};
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

/* ---- columns ------------------------------------------------------------------------- */

ke_env ke_source_env(const ke_source *s, const ke_env *env)
{
  ke_env crew = *env;
  crew.threads = s->parallel ? env->threads : 1;
  return crew;
}

typedef struct {
  const ke_source *s;
  size_t i0, m, ldo;
  double *out;
} columns;

static void columns_tile(void *data, size_t t, size_t worker)
{
  const columns *c = (const columns *)data;
  const size_t i = t * KE_TILE;
  (void)worker;
  c->s->does->against(c->s->self, KE_PICKS, c->i0 + i, ke_smaller(KE_TILE, c->m - i), c->out + i,
                      c->ldo);
}

void ke_columns(const ke_source *s, size_t count, size_t i0, size_t m, double *out, size_t ldo,
                const ke_env *env)
{
  const ke_env crew = ke_source_env(s, env);
  columns c = {s, i0, m, ldo, out};
  ke_share(&crew, (m + KE_TILE - 1) / KE_TILE, KE_TILE * (double)count * s->cost, columns_tile, &c);
}

void ke_source_columns(const ke_source *s, const size_t *index, size_t count, double *out,
                       size_t ldo, const ke_env *env)
{
  const size_t step = KE_TILE * ke_batch(KE_TILE * (double)count * s->cost);
  s->does->gather(s->self, KE_PICKS, index, count);
  for (size_t i0 = 0; i0 < s->n; i0 += step) {
    ke_check(env);
    ke_columns(s, count, i0, ke_smaller(step, s->n - i0), out + i0, ldo, env);
  }
}

/* ---- one pass over half of the matrix ------------------------------------------------ */

size_t ke_row_sums_work(size_t n, int threads)
{
  const size_t tiles = (n + KE_TILE - 1) / KE_TILE;
  return (size_t)threads * KE_TILE * KE_TILE + tiles * KE_TILE;
}

/* Entries of the tile times the weights: onto the rows, and (below the diagonal) the columns.
 * Four running sums fix the order of additions and still let them overlap. */
static void add_tile(double *tile, size_t m, size_t k, const double *wi, const double *wj,
                     double *rows, double *cols)
{
  for (size_t j = 0; j < k; j++) {
    const double *t = tile + j * KE_TILE, w = wj[j];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    size_t i = 0;
    for (; i + 4 <= m; i += 4) {
      rows[i] += t[i] * w, s0 += t[i] * wi[i];
      rows[i + 1] += t[i + 1] * w, s1 += t[i + 1] * wi[i + 1];
      rows[i + 2] += t[i + 2] * w, s2 += t[i + 2] * wi[i + 2];
      rows[i + 3] += t[i + 3] * w, s3 += t[i + 3] * wi[i + 3];
    }
    for (; i < m; i++)
      rows[i] += t[i] * w, s0 += t[i] * wi[i];
    if (cols)
      cols[j] = (s0 + s1) + (s2 + s3);
  }
}

static void square_entries(double *tile, size_t m, size_t k)
{
  for (size_t j = 0; j < k; j++)
    for (size_t i = 0; i < m; i++)
      tile[i + j * KE_TILE] *= tile[i + j * KE_TILE];
}

/* The tile of block row t in the block column starting at j; its column sums go to `part`. */
typedef struct {
  const ke_source *s;
  const double *w;
  double *sums, *part, *buffers;
  size_t j, k, first;
  int square;
} strip;

static void strip_tile(void *data, size_t item, size_t worker)
{
  const strip *p = (const strip *)data;
  const size_t t = p->first + item, i = t * KE_TILE, n = p->s->n, m = ke_smaller(KE_TILE, n - i);
  double *buffer = p->buffers + worker * KE_TILE * KE_TILE;
  p->s->does->tile(p->s->self, i, m, p->j, p->k, buffer, KE_TILE);
  if (p->square)
    square_entries(buffer, m, p->k);
  add_tile(buffer, m, p->k, p->w + i, p->w + p->j, p->sums + i,
           i > p->j ? p->part + t * KE_TILE : NULL);
}

void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env)
{
  const size_t n = s->n, tiles = (n + KE_TILE - 1) / KE_TILE;
  const double flops = KE_TILE * KE_TILE * s->cost;
  const size_t step = ke_batch(flops);
  const ke_env crew = ke_source_env(s, env);
  double *part = work + (size_t)env->threads * KE_TILE * KE_TILE;
  memset(sums, 0, n * sizeof(double));
  for (size_t b = 0; b < tiles; b++) {
    const size_t j = b * KE_TILE;
    strip p = {s, w, sums, part, work, j, ke_smaller(KE_TILE, n - j), b, square};
    for (; p.first < tiles; p.first += step) {
      ke_check(env);
      ke_share(&crew, ke_smaller(step, tiles - p.first), flops, strip_tile, &p);
    }
    for (size_t t = b + 1; t < tiles; t++) /* in a fixed order, whatever the threads */
      for (size_t q = 0; q < p.k; q++)
        sums[j + q] += part[t * KE_TILE + q];
  }
}

/* ---- the centre -------------------------------------------------------------------------- */

/* Squared distance to the mean, less a constant: k_ii - 2 mean_j k_ij. */
void ke_nearest_to_centre(const ke_source *s, size_t count, size_t *rows, double *work,
                          const ke_env *env)
{
  const size_t n = s->n;
  double *ones = work, *distance = work + n, top = 0.0;
  for (size_t i = 0; i < n; i++)
    ones[i] = -2.0 / (double)n;
  ke_row_sums(s, 0, ones, distance, work + 2 * n, env);
  s->does->diagonal(s->self, ones);
  for (size_t i = 0; i < n; i++) {
    distance[i] += ones[i];
    top = ones[i] > top ? ones[i] : top;
  }
  for (size_t c = 0; c < count; c++) {
    double least = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
      least = distance[i] < least ? distance[i] : least;
    size_t i = 0;
    while (distance[i] > least + KE_TIE * top)
      i++;
    rows[c] = i;
    distance[i] = HUGE_VAL;
  }
}

double ke_centre_shift(const ke_source *s, const size_t *rows, size_t count, double *shift,
                       double *work, const ke_env *env)
{
  s->does->gather(s->self, KE_PICKS, rows, count);
  for (size_t i0 = 0; i0 < s->n; i0 += KE_TILE) {
    const size_t m = ke_smaller(KE_TILE, s->n - i0);
    ke_check(env);
    s->does->against(s->self, KE_PICKS, i0, m, work, KE_TILE);
    for (size_t i = 0; i < m; i++) {
      double sum = 0.0;
      for (size_t c = 0; c < count; c++)
        sum += work[i + c * KE_TILE];
      shift[i0 + i] = sum / (double)count;
    }
  }
  double mean = 0.0;
  for (size_t c = 0; c < count; c++)
    mean += shift[rows[c]] / (double)count;
  return mean;
}
