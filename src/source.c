/* Column sources: a positive semi-definite matrix by its parts. From packed data and a kernel,
 * from a matrix at hand, from a callback, and centred on top of any of them:
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

static void remember(ke_source *s, int set, const size_t *index, size_t m)
{
  s->index[set] = index;
  s->count[set] = m;
}

/* ---- from data ----------------------------------------------------------------- */

static void data_diagonal(const ke_source *s, double *out)
{
  ke_diagonal(&s->kernel, s->rows, out);
}

static void data_gather(ke_source *s, int set, const size_t *index, size_t m)
{
  remember(s, set, index, m);
  ke_gather(s->rows, index, m, &s->set[set]);
}

static void data_against(const ke_source *s, int set, size_t i0, size_t m, double *out, size_t ldo)
{
  ke_tile(&s->kernel, s->rows, i0, m, &s->set[set], 0, s->count[set], out, ldo);
}

static void data_between(const ke_source *s, int rows, int cols, double *out, size_t ldo)
{
  ke_tile(&s->kernel, &s->set[rows], 0, s->count[rows], &s->set[cols], 0, s->count[cols], out, ldo);
}

static void data_tile(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
                      size_t ldo)
{
  ke_tile(&s->kernel, s->rows, i0, m, s->rows, j0, k, out, ldo);
}

ke_source ke_source_data(const ke_kernel *kernel, const ke_rows *rows)
{
  const ke_source s = {
      .n = rows->n,
      .width = rows->d,
      .kernel = *kernel,
      .rows = rows,
      .parallel = 1,
      .cancels = !ke_is_distance(kernel),
      .diagonal = data_diagonal,
      .gather = data_gather,
      .against = data_against,
      .between = data_between,
      .tile = data_tile,
  };
  return s;
}

/* ---- from a matrix -------------------------------------------------------------- */

static void matrix_diagonal(const ke_source *s, double *out)
{
  for (size_t i = 0; i < s->n; i++)
    out[i] = s->matrix[i * (s->n + 1)];
}

static void matrix_against(const ke_source *s, int set, size_t i0, size_t m, double *out,
                           size_t ldo)
{
  for (size_t j = 0; j < s->count[set]; j++)
    memcpy(out + j * ldo, s->matrix + i0 + s->index[set][j] * s->n, m * sizeof(double));
}

static void matrix_between(const ke_source *s, int rows, int cols, double *out, size_t ldo)
{
  for (size_t j = 0; j < s->count[cols]; j++)
    for (size_t i = 0; i < s->count[rows]; i++)
      out[i + j * ldo] = s->matrix[s->index[rows][i] + s->index[cols][j] * s->n];
}

static void matrix_tile(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
                        size_t ldo)
{
  for (size_t j = 0; j < k; j++)
    memcpy(out + j * ldo, s->matrix + i0 + (j0 + j) * s->n, m * sizeof(double));
}

ke_source ke_source_matrix(const double *matrix, size_t n)
{
  const ke_source s = {
      .n = n,
      .matrix = matrix,
      .parallel = 1,
      .diagonal = matrix_diagonal,
      .gather = remember,
      .against = matrix_against,
      .between = matrix_between,
      .tile = matrix_tile,
  };
  return s;
}

/* ---- from a callback ------------------------------------------------------------- */

static void callback_diagonal(const ke_source *s, double *out)
{
  memcpy(out, s->given_diagonal, s->n * sizeof(double));
}

static void callback_against(const ke_source *s, int set, size_t i0, size_t m, double *out,
                             size_t ldo)
{
  s->block(s->data, s->row_numbers + i0, m, s->index[set], s->count[set], out, ldo);
}

static void callback_between(const ke_source *s, int rows, int cols, double *out, size_t ldo)
{
  s->block(s->data, s->index[rows], s->count[rows], s->index[cols], s->count[cols], out, ldo);
}

static void callback_tile(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
                          size_t ldo)
{
  s->block(s->data, s->row_numbers + i0, m, s->row_numbers + j0, k, out, ldo);
}

ke_source ke_source_callback(size_t n)
{
  const ke_source s = {
      .n = n,
      .diagonal = callback_diagonal,
      .gather = remember,
      .against = callback_against,
      .between = callback_between,
      .tile = callback_tile,
  };
  return s;
}

/* ---- centred ----------------------------------------------------------------------- */

static void centred_diagonal(const ke_source *s, double *out)
{
  s->inner->diagonal(s->inner, out);
  for (size_t i = 0; i < s->n; i++)
    out[i] += s->constant - 2.0 * s->shift[i];
}

static void centred_gather(ke_source *s, int set, const size_t *index, size_t m)
{
  remember(s, set, index, m);
  s->inner->gather(s->inner, set, index, m);
}

static void centred_against(const ke_source *s, int set, size_t i0, size_t m, double *out,
                            size_t ldo)
{
  s->inner->against(s->inner, set, i0, m, out, ldo);
  for (size_t j = 0; j < s->count[set]; j++) {
    const double column = s->shift[s->index[set][j]] - s->constant;
    for (size_t i = 0; i < m; i++)
      out[i + j * ldo] -= s->shift[i0 + i] + column;
  }
}

static void centred_between(const ke_source *s, int rows, int cols, double *out, size_t ldo)
{
  s->inner->between(s->inner, rows, cols, out, ldo);
  for (size_t j = 0; j < s->count[cols]; j++) {
    const double column = s->shift[s->index[cols][j]] - s->constant;
    for (size_t i = 0; i < s->count[rows]; i++)
      out[i + j * ldo] -= s->shift[s->index[rows][i]] + column;
  }
}

static void centred_tile(const ke_source *s, size_t i0, size_t m, size_t j0, size_t k, double *out,
                         size_t ldo)
{
  s->inner->tile(s->inner, i0, m, j0, k, out, ldo);
  for (size_t j = 0; j < k; j++) {
    const double column = s->shift[j0 + j] - s->constant;
    for (size_t i = 0; i < m; i++)
      out[i + j * ldo] -= s->shift[i0 + i] + column;
  }
}

ke_source ke_source_centred(ke_source *inner, const double *shift, double constant)
{
  const ke_source s = {
      .n = inner->n,
      .width = inner->width,
      .inner = inner,
      .shift = shift,
      .constant = constant,
      .parallel = inner->parallel,
      .cancels = 1,
      .diagonal = centred_diagonal,
      .gather = centred_gather,
      .against = centred_against,
      .between = centred_between,
      .tile = centred_tile,
  };
  return s;
}

/* ---- one pass over half of the matrix ------------------------------------------------ */

ke_env ke_source_env(const ke_source *s, const ke_env *env)
{
  ke_env crew = *env;
  crew.threads = s->parallel ? env->threads : 1;
  return crew;
}

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
  p->s->tile(p->s, i, m, p->j, p->k, buffer, KE_TILE);
  if (p->square)
    square_entries(buffer, m, p->k);
  add_tile(buffer, m, p->k, p->w + i, p->w + p->j, p->sums + i,
           i > p->j ? p->part + t * KE_TILE : NULL);
}

void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env)
{
  const size_t n = s->n, tiles = (n + KE_TILE - 1) / KE_TILE;
  const double flops = KE_TILE * KE_TILE * (double)(2 * s->width + 64);
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
  s->diagonal(s, ones);
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

double ke_centre_shift(ke_source *s, const size_t *rows, size_t count, double *shift, double *work,
                       const ke_env *env)
{
  s->gather(s, KE_PICKS, rows, count);
  for (size_t i0 = 0; i0 < s->n; i0 += KE_TILE) {
    const size_t m = ke_smaller(KE_TILE, s->n - i0);
    ke_check(env);
    s->against(s, KE_PICKS, i0, m, work, KE_TILE);
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
