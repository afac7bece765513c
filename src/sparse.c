/* Sparse rows: kernel values from inner products over the entries that two rows share.
 *
 * A row x_i meets many rows z_j at once: for each entry of x_i in column c the entries of all z_j
 * in that column are at hand, and
 *
 *   g_ij += x_ic z_jc,   c in ascending order,
 *
 * so the cost is that of the products that are not zero, and of looking at the entries of x_i once.
 * Each g_ij is summed in the same order by the same code whatever the rows beside it: identical
 * rows are at distance exactly 0 and matrices are exactly symmetric. Squared distances are |x|^2 +
 * |z|^2
 * - 2 g or, where that would lose digits, the sum of squared differences over the entries of both.
 * No column is centred, which would fill it.
 */
#include "sparse.h"

#include <stdint.h>
#include <string.h>

size_t ke_sparse_entries(const ke_sparse *rows) { return (size_t)rows->start[rows->n]; }

static size_t length_of(const ke_sparse *rows, size_t i)
{
  return (size_t)(rows->start[i + 1] - rows->start[i]);
}

size_t ke_sparse_longest(const ke_sparse *rows)
{
  size_t most = 0;
  for (size_t i = 0; i < rows->n; i++)
    most = length_of(rows, i) > most ? length_of(rows, i) : most;
  return most;
}

/* ---- inner products ---------------------------------------------------------------------- */

/* Rows and columns of the sums that are held at a time. */
#define ROWS 8
#define COLUMNS 256

/* The first of entries low .. high of a column that belongs to row j or a later one. */
static int entry_from(const int *row, int low, int high, size_t j)
{
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if ((size_t)row[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* sum[q] += <row i of a, row j0 + q of b> in a block, q < k. */
static void add_row(const ke_sparse *a, size_t i, const ke_sparse *b, size_t j0, size_t k,
                    size_t block, double *sum)
{
  const double *value = a->value + block * a->apart, *entry = b->entry + block * b->apart;
  const int all = j0 == 0 && k == b->n;
  for (int e = a->start[i]; e < a->start[i + 1]; e++) {
    int at = b->first[a->column[e]], end = b->first[a->column[e] + 1];
    if (!all && at < end) {
      at = entry_from(b->row, at, end, j0);
      end = entry_from(b->row, at, end, j0 + k);
    }
    for (; at < end; at++)
      sum[(size_t)b->row[at] - j0] += value[e] * entry[at];
  }
}

/* <row i, row i>, added up as add_row() does. */
static double squared_length(const ke_sparse *rows, size_t i, size_t block)
{
  const double *value = rows->value + block * rows->apart;
  double sum = 0.0;
  for (int e = rows->start[i]; e < rows->start[i + 1]; e++)
    sum += value[e] * value[e];
  return sum;
}

static void inner(const ke_place *t, size_t block, double *out, size_t ldo)
{
  const ke_sparse *a = (const ke_sparse *)t->a, *b = (const ke_sparse *)t->b;
  double sum[ROWS * COLUMNS];
  for (size_t j = 0; j < t->k; j += COLUMNS) {
    const size_t cols = ke_smaller(COLUMNS, t->k - j);
    for (size_t i = 0; i < t->m; i += ROWS) {
      const size_t rows = ke_smaller(ROWS, t->m - i);
      memset(sum, 0, sizeof sum);
      for (size_t r = 0; r < rows; r++)
        add_row(a, t->i0 + i + r, b, t->j0 + j, cols, block, sum + r * COLUMNS);
      for (size_t q = 0; q < cols; q++)
        for (size_t r = 0; r < rows; r++)
          out[i + r + (j + q) * ldo] = sum[q + r * COLUMNS];
    }
  }
}

/* ---- making rows ready --------------------------------------------------------------------- */

/* Entries until the next look at an interrupt; without `env` there is none. */
typedef struct {
  const ke_env *env;
  size_t left;
} patience;

static void spend(patience *p, size_t entries)
{
  if (entries < p->left) {
    p->left -= entries;
    return;
  }
  p->left = ke_batch(KE_FRESH);
  if (p->env)
    ke_check(p->env);
}

/* Row i to its places in the columns, of which `first` has the next free one. */
static void place_row(ke_sparse *rows, size_t i)
{
  for (int e = rows->start[i]; e < rows->start[i + 1]; e++) {
    const int at = rows->first[rows->column[e]]++;
    rows->row[at] = (int)i;
    for (size_t b = 0; b < rows->blocks; b++)
      rows->entry[(size_t)at + b * rows->apart] = rows->value[(size_t)e + b * rows->apart];
  }
}

/* The entries by columns, from those by rows: within a column rows come in order. */
static void index_columns(ke_sparse *rows, patience *p)
{
  const size_t count = ke_sparse_entries(rows), d = rows->d;
  int *first = rows->first;
  memset(first, 0, (d + 1) * sizeof(int));
  for (size_t e = 0; e < count; e++, spend(p, 1))
    first[rows->column[e] + 1]++;
  for (size_t c = 0; c < d; c++)
    first[c + 1] += first[c];
  for (size_t i = 0; i < rows->n; i++) {
    place_row(rows, i);
    spend(p, rows->blocks * length_of(rows, i));
  }
  for (size_t c = d; c > 0; c--) /* each was moved to where the next one starts */
    first[c] = first[c - 1];
  first[0] = 0;
}

void ke_sparse_fill(const ke_kernel *kernel, const double *values, ke_sparse *rows,
                    const ke_env *env)
{
  const size_t count = ke_sparse_entries(rows), padded = ke_padded(rows->n);
  patience p = {env, ke_batch(KE_FRESH)};
  for (size_t b = 0; b < rows->blocks; b++) {
    const double *w = kernel->blocks ? kernel->look[b].weights : NULL;
    double *to = rows->value + b * rows->apart;
    for (size_t e = 0; e < count; e++, spend(&p, 1))
      to[e] = w ? values[e] * w[rows->column[e]] : values[e];
  }
  if (rows->first)
    index_columns(rows, &p);
  memset(rows->norm, 0, rows->blocks * padded * sizeof(double));
  for (size_t b = 0; b < rows->blocks; b++)
    for (size_t i = 0; i < rows->n; i++) {
      rows->norm[i + b * padded] = squared_length(rows, i, b);
      spend(&p, length_of(rows, i));
    }
}

void ke_sparse_sums(const int *column, const double *value, size_t count, double *out,
                    const ke_env *env)
{
  const size_t some = ke_batch(KE_FRESH);
  for (size_t e = 0; e < count; e++) {
    out[column[e]] += value[e];
    if ((e + 1) % some == 0)
      ke_check(env);
  }
}

/* Copy rows index[0..m) of `from` into `to`, with their lengths. */
static void gather(const ke_sparse *from, const size_t *index, size_t m, ke_sparse *to)
{
  const size_t padded = ke_padded(m);
  to->n = m;
  to->start[0] = 0;
  memset(to->norm, 0, to->blocks * padded * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    const size_t count = length_of(from, index[i]);
    const size_t at = (size_t)to->start[i], source = (size_t)from->start[index[i]];
    to->start[i + 1] = (int)(at + count);
    memcpy(to->column + at, from->column + source, count * sizeof(int));
    for (size_t b = 0; b < to->blocks; b++) {
      memcpy(to->value + at + b * to->apart, from->value + source + b * from->apart,
             count * sizeof(double));
      to->norm[i + b * padded] = from->norm[index[i] + b * ke_padded(from->n)];
    }
  }
  patience all = {NULL, SIZE_MAX}; /* a few rows */
  index_columns(to, &all);
}

/* ---- kernel values ------------------------------------------------------------------------- */

/* What kernels ask of lengths alone they ask of these. */
static ke_rows lengths(const ke_sparse *rows)
{
  const ke_rows only = {.n = rows->n, .norm = rows->norm, .blocks = rows->blocks};
  return only;
}

int ke_sparse_within_range(const ke_kernel *kernel, const ke_sparse *rows)
{
  const ke_rows only = lengths(rows);
  return ke_within_range(kernel, &only);
}

void ke_sparse_diagonal(const ke_kernel *kernel, const ke_sparse *rows, double *out)
{
  const ke_rows only = lengths(rows);
  ke_diagonal(kernel, &only, out);
}

typedef struct {
  const ke_sparse *a, *b;
  size_t block;
} pair;

/* Squared distance by the differences, over the columns in which either row has an entry. */
static double distance2(const ke_column *c, size_t i)
{
  const pair *p = (const pair *)c->pair;
  const double *x = p->a->value + p->block * p->a->apart, *z = p->b->value + p->block * p->b->apart;
  int e = p->a->start[c->i0 + i], f = p->b->start[c->j];
  const int e1 = p->a->start[c->i0 + i + 1], f1 = p->b->start[c->j + 1];
  double sum = 0.0;
  while (e < e1 || f < f1) {
    const int here = e < e1 ? p->a->column[e] : INT32_MAX;
    const int there = f < f1 ? p->b->column[f] : INT32_MAX;
    double diff = 0.0;
    if (here <= there)
      diff = x[e++];
    if (there <= here)
      diff -= z[f++];
    sum += diff * diff;
  }
  return sum;
}

static void leaf_tile(const ke_kernel *kernel, const ke_place *t, double *out, size_t ldo)
{
  const pair p = {(const ke_sparse *)t->a, (const ke_sparse *)t->b, kernel->block};
  const double *own = p.a->norm + p.block * ke_padded(p.a->n) + t->i0;
  const double *other = p.b->norm + p.block * ke_padded(p.b->n) + t->j0;
  inner(t, p.block, out, ldo);
  for (size_t q = 0; q < t->k; q++) {
    const ke_column c = {.kernel = kernel,
                         .i0 = t->i0,
                         .m = t->m,
                         .j = t->j0 + q,
                         .norm = own,
                         .other = other[q],
                         .without = SIZE_MAX,
                         .g = out + q * ldo,
                         .distance2 = distance2,
                         .pair = &p};
    ke_finish(&c);
  }
}

void ke_sparse_tile(const ke_kernel *kernel, ke_sparse_range a, ke_sparse_range b, double *out,
                    size_t ldo)
{
  const ke_place t = {a.rows, b.rows, a.first, a.count, b.first, b.count, leaf_tile};
  ke_place_tile(kernel, &t, out, ldo);
}

/* ---- a source from them --------------------------------------------------------------------- */

typedef struct {
  ke_kernel kernel;
  const ke_sparse *rows;
  ke_sparse set[KE_SETS];
} sparse_self;

static void sparse_diagonal(const void *self, double *out)
{
  const sparse_self *s = (const sparse_self *)self;
  ke_sparse_diagonal(&s->kernel, s->rows, out);
}

static void sparse_gather(void *self, int set, const size_t *index, size_t m)
{
  sparse_self *s = (sparse_self *)self;
  gather(s->rows, index, m, &s->set[set]);
}

static ke_sparse_range all_of(const ke_sparse *rows)
{
  const ke_sparse_range range = {rows, 0, rows->n};
  return range;
}

static void sparse_against(const void *self, int set, size_t i0, size_t m, double *out, size_t ldo)
{
  const sparse_self *s = (const sparse_self *)self;
  ke_sparse_tile(&s->kernel, (ke_sparse_range){s->rows, i0, m}, all_of(&s->set[set]), out, ldo);
}

static void sparse_between(const void *self, int rows, int cols, double *out, size_t ldo)
{
  const sparse_self *s = (const sparse_self *)self;
  ke_sparse_tile(&s->kernel, all_of(&s->set[rows]), all_of(&s->set[cols]), out, ldo);
}

static void sparse_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                        size_t ldo)
{
  const sparse_self *s = (const sparse_self *)self;
  ke_sparse_tile(&s->kernel, (ke_sparse_range){s->rows, i0, m}, (ke_sparse_range){s->rows, j0, k},
                 out, ldo);
}

/* Doubles that hold so many whole numbers. */
static size_t whole_numbers(size_t count)
{
  return (count * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

/* Entries that the rows of a set can have, being distinct. */
static size_t set_entries(const ke_sparse *rows, int set)
{
  return ke_smaller(ke_set_size(set, rows->n) * ke_sparse_longest(rows), ke_sparse_entries(rows));
}

/* The arrays of a set from `memory` on, which is moved behind them; NULL only measures. */
static ke_sparse lend_set(const ke_sparse *rows, int set, double *memory, size_t *used)
{
  const size_t most = ke_set_size(set, rows->n), count = set_entries(rows, set),
               blocks = rows->blocks;
  const size_t need[] = {blocks * count,          blocks * count,       blocks * ke_padded(most),
                         whole_numbers(most + 1), whole_numbers(count), whole_numbers(rows->d + 1),
                         whole_numbers(count)};
  void *part[sizeof need / sizeof *need]; /* of values or of whole numbers */
  for (size_t p = 0; p < sizeof need / sizeof *need; p++) {
    part[p] = memory ? memory + *used : NULL;
    *used += need[p];
  }
  const ke_sparse s = {0,       rows->d, blocks,  count,   part[3], part[4],
                       part[0], part[5], part[6], part[1], part[2]};
  return s;
}

static size_t self_doubles(void)
{
  return (sizeof(sparse_self) + sizeof(double) - 1) / sizeof(double);
}

size_t ke_source_sparse_state(const ke_sparse *rows)
{
  size_t count = self_doubles();
  for (int set = 0; set < KE_SETS; set++)
    lend_set(rows, set, NULL, &count);
  return count;
}

/* Flops an entry: of a kernel on as many columns as a row has entries. */
static double cost_of(const ke_kernel *kernel, const ke_sparse *rows)
{
  return (double)ke_cost(kernel, ke_sparse_entries(rows) / (rows->n ? rows->n : 1) + 1);
}

ke_source ke_source_sparse(const ke_kernel *kernel, const ke_sparse *rows, double *state)
{
  static const ke_operations does = {
      sparse_diagonal, sparse_diagonal, sparse_gather, sparse_against,
      sparse_between,  sparse_tile,     NULL};
  sparse_self *self = (sparse_self *)state;
  size_t used = self_doubles();
  self->kernel = *kernel;
  self->rows = rows;
  for (int set = 0; set < KE_SETS; set++)
    self->set[set] = lend_set(rows, set, state, &used);
  const ke_source s = {.does = &does,
                       .self = self,
                       .n = rows->n,
                       .columns = rows->n,
                       .symmetric = 1,
                       .cost = cost_of(kernel, rows),
                       .parallel = 1,
                       .cancels = !ke_is_distance(kernel)};
  return s;
}

/* ---- between two sets of rows ---------------------------------------------------------------- */

typedef struct {
  ke_kernel kernel;
  const ke_sparse *a, *b;
} cross_self;

static void cross_diagonal(const void *self, double *out)
{
  const cross_self *s = (const cross_self *)self;
  ke_sparse_diagonal(&s->kernel, s->a, out);
}

static void cross_tile(const void *self, size_t i0, size_t m, size_t j0, size_t k, double *out,
                       size_t ldo)
{
  const cross_self *s = (const cross_self *)self;
  ke_sparse_tile(&s->kernel, (ke_sparse_range){s->a, i0, m}, (ke_sparse_range){s->b, j0, k}, out,
                 ldo);
}

size_t ke_source_sparse_cross_state(void)
{
  return (sizeof(cross_self) + sizeof(double) - 1) / sizeof(double);
}

ke_source ke_source_sparse_cross(const ke_kernel *kernel, const ke_sparse *a, const ke_sparse *b,
                                 double *state)
{
  static const ke_operations does = {.diagonal = cross_diagonal, .tile = cross_tile};
  cross_self *self = (cross_self *)state;
  self->kernel = *kernel;
  self->a = a;
  self->b = b;
  const ke_source s = {.does = &does,
                       .self = self,
                       .n = a->n,
                       .columns = b->n,
                       .cost = cost_of(kernel, a),
                       .parallel = 1};
  return s;
}
