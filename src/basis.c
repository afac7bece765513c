/* The pivoted engine: which rows span the kernel space.
 *
 * Partial pivoted Cholesky K ~ F F', F n x L, residual r_i = k_ii - |F_i|^2. A round takes a few
 * candidates (rules.c), pivots among them alone, and then brings all n rows up to date at once:
 *
 *   F[, new] = (K[, P] - F F_P') L_P^{-T},   L_P the Cholesky factor of the picks' residual block.
 *
 * So nearly all work is matrix products: n L (2 d + L) flops in all, n L doubles of memory. Every
 * pick is the one that column-by-column pivoting would make. Residuals are floored at zero and a
 * picked row has residual zero, so it is never picked again; the numerical rank ends the path.
 */
#include "blas.h"
#include "kernelect.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rows without length (the centre itself among them) have no angle: they do not count and are
 * never picked. Otherwise `inverse` is 1 / k_ii, and `weight` turns a residual into its key. */
static void set_weights(ke_basis *b, double top)
{
  const double none = (double)b->n * DBL_EPSILON * top;
  b->counted = b->trace = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    const int counts = b->diagonal[i] > none;
    b->residual[i] = counts ? b->diagonal[i] : 0.0;
    b->inverse[i] = counts ? 1.0 / b->diagonal[i] : 0.0;
    b->weight[i] = b->rule->normalised ? b->inverse[i] : 1.0;
    b->counted += counts;
    b->trace += b->residual[i];
    if (b->explained)
      b->explained[i] = 0.0;
  }
}

ke_status ke_basis_start(ke_basis *b)
{
  b->source->diagonal(b->source, b->diagonal);
  double top = 0.0, bottom = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    const double k = b->diagonal[i];
    if (!isfinite(k))
      return KE_NOT_FINITE;
    top = k > top ? k : top;
    bottom = k < bottom ? k : bottom;
  }
  if (bottom < -KE_NEGATIVE * top)
    return KE_INDEFINITE;
  set_weights(b, top);
  b->top = top;
  b->floor = (double)b->n * DBL_EPSILON * (b->rule->normalised ? 1.0 : top);
  b->size = b->picks = b->cursor = b->updates = 0;
  b->stop = b->counted > 0.0 ? KE_GOES_ON : KE_STOP_RANK;
  return KE_OK;
}

/* ---- among the candidates ------------------------------------------------------------ */

static void gather_panel(ke_basis *b)
{
  for (size_t l = 0; l < b->size; l++)
    for (size_t c = 0; c < b->count; c++)
      b->panel[c + l * b->most] = b->factor[b->candidate[c] + l * b->n];
  for (size_t c = 0; c < b->count; c++) {
    b->left[c] = b->residual[b->candidate[c]];
    b->gained[c] = b->explained ? b->explained[b->candidate[c]] : 0.0;
  }
}

/* One Cholesky step among the candidates: pivot c, column size + picks of the panel. */
static void eliminate(ke_basis *b, size_t c)
{
  const size_t done = b->size + b->picks;
  double *column = b->panel + done * b->most;
  b->source->gather(b->source, KE_SINGLE, b->candidate + c, 1);
  b->source->between(b->source, KE_CANDIDATES, KE_SINGLE, column, b->most);
  if (done > 0)
    ke_gemv('N', b->count, done, -1.0, b->panel, b->most, b->panel + c, b->most, 1.0, column);
  const double root = sqrt(b->left[c]);
  for (size_t i = 0; i < b->count; i++) {
    column[i] /= root;
    const double rest = b->left[i] - column[i] * column[i];
    b->gained[i] += column[i] * column[i];
    b->left[i] = rest > 0.0 ? rest : 0.0;
  }
  column[c] = root;
  b->left[c] = 0.0;
}

static void pick_among_candidates(ke_basis *b, const ke_env *env)
{
  const size_t room = b->limit - b->size < KE_BLOCK ? b->limit - b->size : KE_BLOCK;
  size_t c;
  b->source->gather(b->source, KE_CANDIDATES, b->candidate, b->count);
  gather_panel(b);
  b->picks = 0;
  while (b->picks < room && b->rule->next(b, env, &c)) {
    b->path[b->size + b->picks].pivot = b->left[c];
    b->index[b->size + b->picks] = b->candidate[c];
    eliminate(b, c);
    b->chosen[b->picks++] = c;
    if (b->picks % 8 == 0)
      ke_check(env);
  }
}

/* ---- all rows --------------------------------------------------------------------------- */

/* Kernel values of rows i0 .. i0 + m against the picks, by tiles so that threads may share. */
static void kernel_columns(const ke_basis *b, size_t i0, size_t m, double *out, const ke_env *env)
{
  const size_t tiles = (m + KE_TILE - 1) / KE_TILE;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(env->threads)                            \
    if (env->threads > 1 && b->source->parallel)
#endif
  for (size_t t = 0; t < tiles; t++) {
    const size_t i = t * KE_TILE, rows = m - i < KE_TILE ? m - i : KE_TILE;
    b->source->against(b->source, KE_PICKS, i0 + i, rows, out + i, b->n);
  }
  (void)env;
}

/* Take one new column off the residuals of rows i0 .. i0 + m and add to its totals. */
static void lower_residuals(ke_basis *b, size_t i0, size_t m, const double *column, ke_pick *p)
{
  double *r = b->residual + i0;
  const double *w = b->weight + i0, *inverse = b->inverse + i0;
  for (size_t i = 0; i < m; i++) {
    double rest = r[i] - column[i] * column[i];
    p->lowest = rest < p->lowest ? rest : p->lowest;
    rest = rest > 0.0 ? rest : 0.0;
    r[i] = rest;
    p->trace += rest;
    p->scaled += rest * inverse[i];
    p->norm += sqrt(rest);
    p->best = rest * w[i] > p->best ? rest * w[i] : p->best;
  }
}

static void add_squares(const double *column, size_t m, double *explained)
{
  for (size_t i = 0; i < m; i++)
    explained[i] += column[i] * column[i];
}

static void update_chunk(ke_basis *b, size_t i0, size_t m, const ke_env *env)
{
  double *fresh = b->factor + b->size * b->n + i0;
  kernel_columns(b, i0, m, fresh, env);
  if (b->size > 0)
    ke_gemm('N', 'T', m, b->picks, b->size, -1.0, b->factor + i0, b->n, b->picked_rows, KE_BLOCK,
            1.0, fresh, b->n);
  ke_trsm_right_lower_t(m, b->picks, b->square, KE_BLOCK, fresh, b->n);
  for (size_t l = 0; l < b->picks; l++) {
    const size_t row = b->index[b->size + l];
    lower_residuals(b, i0, m, fresh + l * b->n, &b->path[b->size + l]);
    if (b->explained)
      add_squares(fresh + l * b->n, m, b->explained + i0);
    if (row >= i0 && row < i0 + m)
      b->residual[row] = 0.0;
  }
}

/* The picks' own rows of the panel are what the update needs: F_P and L_P. */
static void collect_picks(ke_basis *b)
{
  for (size_t p = 0; p < b->picks; p++) {
    const double *row = b->panel + b->chosen[p];
    for (size_t l = 0; l < b->size; l++)
      b->picked_rows[p + l * KE_BLOCK] = row[l * b->most];
    for (size_t l = 0; l <= p; l++)
      b->square[p + l * KE_BLOCK] = row[(b->size + l) * b->most];
    ke_pick *path = &b->path[b->size + p];
    path->trace = path->scaled = path->norm = path->best = path->lowest = 0.0;
  }
}

static void update_all_rows(ke_basis *b, const ke_env *env)
{
  collect_picks(b);
  b->source->gather(b->source, KE_PICKS, b->index + b->size, b->picks);
  for (size_t i0 = 0; i0 < b->n; i0 += KE_CHUNK) {
    ke_check(env);
    update_chunk(b, i0, b->n - i0 < KE_CHUNK ? b->n - i0 : KE_CHUNK, env);
  }
  b->updates++;
}

/* ---- stops -------------------------------------------------------------------------------- */

static ke_stop judge(const ke_basis *b, const ke_pick *pick, size_t size)
{
  if (pick->best <= b->floor)
    return KE_STOP_RANK;
  if (b->rule->enough(b, pick))
    return KE_STOP_TOL;
  if (b->rule->has_threshold &&
      sqrt(pick->best) / sqrt(b->path[0].pivot) < b->threshold[size])
    return KE_STOP_THRESHOLD;
  return size == b->limit ? KE_STOP_SIZE : KE_GOES_ON;
}

ke_status ke_basis_run(ke_basis *b, const ke_env *env)
{
  while (b->stop == KE_GOES_ON) {
    const size_t wanted = b->limit - b->size < KE_BLOCK ? b->limit - b->size : KE_BLOCK;
    if (b->capacity - b->size < wanted)
      return KE_FULL;
    ke_check(env);
    b->rule->propose(b, env);
    pick_among_candidates(b, env);
    if (b->count == 0) /* kgs at the last row: what rounding left is no direction */
      b->stop = KE_STOP_RANK;
    if (b->picks == 0)
      continue;
    update_all_rows(b, env);
    for (size_t p = 0; p < b->picks && b->stop == KE_GOES_ON; p++) {
      b->stop = judge(b, &b->path[b->size], b->size + 1);
      b->size++;
    }
    ke_progress(env, b->stop == KE_GOES_ON ? (double)b->size / (double)b->limit : 1.0);
  }
  return KE_OK;
}

/* ---- first pick of fvs ---------------------------------------------------------------------- */

/* Fitness of one row as a basis of its own, over all rows: sum_j k_ij^2 / (k_ii k_jj). */
static void fitness_of_block(ke_basis *b, const size_t *rows, size_t count, double *fitness,
                             double *work, const ke_env *env)
{
  memset(fitness, 0, count * sizeof(double));
  b->source->gather(b->source, KE_PICKS, rows, count);
  for (size_t i0 = 0; i0 < b->n; i0 += KE_CHUNK) {
    const size_t m = b->n - i0 < KE_CHUNK ? b->n - i0 : KE_CHUNK;
    ke_check(env);
    for (size_t i = 0; i < m; i += KE_TILE)
      b->source->against(b->source, KE_PICKS, i0 + i, m - i < KE_TILE ? m - i : KE_TILE, work + i,
                         KE_CHUNK);
    for (size_t j = 0; j < count; j++)
      for (size_t i = 0; i < m; i++)
        fitness[j] += work[i + j * KE_CHUNK] * work[i + j * KE_CHUNK] * b->inverse[i0 + i];
  }
}

static size_t lowest_best(const double *fitness, const size_t *rows, size_t count)
{
  double best = 0.0;
  for (size_t j = 0; j < count; j++)
    best = fitness[j] > best ? fitness[j] : best;
  size_t j = 0;
  while (fitness[j] < best * (1.0 - KE_TIE))
    j++;
  return rows ? rows[j] : j;
}

size_t ke_first_fvs(ke_basis *b, const size_t *rows, size_t count, double *work, const ke_env *env)
{
  double *fitness = work, *rest = work + b->n;
  if (!rows)
    ke_row_sums(b->source, 1, b->inverse, fitness, rest, env);
  else
    for (size_t j = 0; j < count; j += KE_BLOCK)
      fitness_of_block(b, rows + j, count - j < KE_BLOCK ? count - j : KE_BLOCK, fitness + j, rest,
                       env);
  for (size_t j = 0; j < (rows ? count : b->n); j++)
    fitness[j] *= b->inverse[rows ? rows[j] : j];
  return lowest_best(fitness, rows, rows ? count : b->n);
}
