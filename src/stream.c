/* Passes over a matrix that is never held: columns of it, sums of its rows, the rows nearest to its
 * centre and what centring takes from each entry.
 *
 *   sums_i = sum_j w_j k_ij (or k_ij^2)         n^2 / 2 entries, a tile a thread
 *   |phi_i - mean|^2 = k_ii - 2 mean_j k_ij + constant
 *   u_i = mean_b k_ib,   c = mean_b u_b         b over the rows of the centre
 *
 * Sums are added in an order of their own, whatever the threads.
 */
#include "stream.h"

#include "threads.h"

#include <math.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------- */

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
  ke_share(&crew, (m + KE_TILE - 1) / KE_TILE, KE_TILE * (double)count * (s->cost + KE_FRESH),
           columns_tile, &c);
}

void ke_source_columns(const ke_source *s, const size_t *index, size_t count, double *out,
                       size_t ldo, const ke_env *env)
{
  s->does->gather(s->self, KE_PICKS, index, count);
  ke_check(env);
  ke_columns(s, count, 0, s->n, out, ldo, env);
}

/* ---- one pass over half of the matrix ------------------------------------------------ */

size_t ke_row_sums_work(size_t n, int threads)
{
  const size_t tiles = (n + KE_TILE - 1) / KE_TILE;
  return (size_t)threads * KE_TILE * KE_TILE + tiles * KE_TILE;
}

/* Entries of the tile (or their squares, a factor at a time: weights undo what would leave the
 * range) times the weights: onto the rows, and (below the diagonal) the columns. Four running sums
 * fix the order of additions and still let them overlap. */
static inline double weighed(double k, double w, int square) { return square ? k * w * k : k * w; }

static inline void add_entries(const double *tile, size_t m, size_t k, const double *wi,
                               const double *wj, double *rows, double *cols, int square)
{
  for (size_t j = 0; j < k; j++) {
    const double *t = tile + j * KE_TILE, w = wj[j];
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= m; i += 4)
      for (size_t q = 0; q < 4; q++) {
        rows[i + q] += weighed(t[i + q], w, square);
        s[q] += weighed(t[i + q], wi[i + q], square);
      }
    for (; i < m; i++) {
      rows[i] += weighed(t[i], w, square);
      s[0] += weighed(t[i], wi[i], square);
    }
    if (cols)
      cols[j] = (s[0] + s[1]) + (s[2] + s[3]);
  }
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
  double *cols = i > p->j ? p->part + t * KE_TILE : NULL;
  if (p->square)
    add_entries(buffer, m, p->k, p->w + i, p->w + p->j, p->sums + i, cols, 1);
  else
    add_entries(buffer, m, p->k, p->w + i, p->w + p->j, p->sums + i, cols, 0);
}

void ke_row_sums(const ke_source *s, int square, const double *w, double *sums, double *work,
                 const ke_env *env)
{
  const size_t n = s->n, tiles = (n + KE_TILE - 1) / KE_TILE;
  const double flops = KE_TILE * KE_TILE * s->cost;
  const ke_env crew = ke_source_env(s, env);
  double *part = work + (size_t)env->threads * KE_TILE * KE_TILE;
  memset(sums, 0, n * sizeof(double));
  for (size_t b = 0; b < tiles; b++) {
    const size_t j = b * KE_TILE;
    strip p = {s, w, sums, part, work, j, ke_smaller(KE_TILE, n - j), b, square};
    ke_check(env);
    ke_share(&crew, tiles - b, flops, strip_tile, &p);
    for (size_t t = b + 1; t < tiles; t++) /* in a fixed order, whatever the threads */
      for (size_t q = 0; q < p.k; q++)
        sums[j + q] += part[t * KE_TILE + q];
  }
}

/* ---- the centre -------------------------------------------------------------------------- */

/* Squared distance to the mean, less a constant: k_ii - 2 mean_j k_ij. */
static double distances_to_centre(const ke_source *s, const double *times, double *distance,
                                  double *work, const ke_env *env)
{
  const size_t n = s->n;
  double *share = work, all = 0.0, top = 0.0;
  for (size_t i = 0; i < n; i++)
    all += times ? times[i] : 1.0;
  for (size_t i = 0; i < n; i++)
    share[i] = -2.0 * (times ? times[i] : 1.0) / all;
  ke_row_sums(s, 0, share, distance, work + n, env);
  s->does->diagonal(s->self, share);
  for (size_t i = 0; i < n; i++) {
    distance[i] += share[i];
    top = share[i] > top ? share[i] : top;
  }
  return top;
}

void ke_nearest_to_centre(const ke_source *s, const double *times, size_t count, size_t *rows,
                          double *work, const ke_env *env)
{
  const size_t n = s->n;
  double *distance = work;
  const double top = distances_to_centre(s, times, distance, work + n, env);
  for (size_t c = 0; c < count;) {
    double least = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
      least = distance[i] < least ? distance[i] : least;
    size_t i = 0;
    while (distance[i] > least + KE_TIE * top)
      i++;
    distance[i] = HUGE_VAL;
    rows[c++] = i;
    for (double left = times ? times[i] - 1.0 : 0.0; left >= 1.0 && c < count; left -= 1.0)
      rows[c++] = i;
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
