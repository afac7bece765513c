/* The pivoted engine: which rows span the kernel space.
 *
 * Partial pivoted Cholesky K ~ F F', F n x L, residual r_i = k_ii - |F_i|^2. A round takes a few
 * candidates (rules.c), pivots among them alone, and then brings all n rows up to date at once:
 *
 *   F[, new] = (K[, P] - F F_P') L_P^{-T},   L_P the Cholesky factor of the picks' residual block.
 *
 * So nearly all work is matrix products (body.c): n L (2 d + L) flops in all, n L doubles of
 * memory. Every pick is the one that column-by-column pivoting would make. Residuals are floored at
 * zero and a picked row has residual zero, so it is never picked again; the numerical rank ends the
 * path.
 */
#include "basis.h"

#include "simd.h"
#include "stream.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What counts as no residual. A row is a_l times the picks and what they leave, so rounding of
 * kernel values reaches its residual magnified by |a|^2. Pivots taken in falling order keep a
 * small; but near the centre a row of low fitness may be far shorter than the others, and a pick
 * like that stretches its rounding over all of them. */
static void set_floor(ke_basis *b, double spread)
{
  const double unit = DBL_EPSILON * (b->rule->normalised ? 1.0 : b->start.top);
  b->limits.floor =
      fmax((double)b->body.n, spread > 0.0 ? KE_MAGNIFIED * (1.0 + spread) : 0.0) * unit;
}

ke_status ke_basis_start(ke_basis *b)
{
  const ke_status status = ke_body_start(&b->body, b->rule->normalised, b->state.keys, &b->start);
  if (status != KE_OK)
    return status;
  const double eps = DBL_EPSILON * (b->rule->normalised ? 1.0 : b->start.top);
  b->limits.spread = 0.0;
  set_floor(b, 0.0);
  b->limits.slack = (b->body.n < 2 * KE_SLACK ? (double)b->body.n / 2.0 : KE_SLACK) * eps;
  b->limits.noise = b->body.source->cancels ? KE_SLACK * DBL_EPSILON * KE_SLACK * DBL_EPSILON : 0.0;
  b->size = b->pool.picks = b->state.cursor = b->updates = 0;
  b->stop = b->start.counted > 0.0 ? KE_GOES_ON : KE_STOP_RANK;
  return KE_OK;
}

/* ---- among the candidates ------------------------------------------------------------ */

/* column -= panel row', row being one of the panel's own; four columns of the panel at a time. */
INLINE void subtract_products_body(const double *panel, size_t ld, size_t rows, size_t columns,
                                   const double *row, double *column)
{
  for (size_t l = 0; l < columns; l += 4) {
    const double *p[4];
    double w[4];
    for (size_t q = 0; q < 4; q++) {
      const size_t at = l + q < columns ? l + q : l;
      p[q] = panel + at * ld;
      w[q] = l + q < columns ? row[at * ld] : 0.0;
    }
    size_t i = 0;
    for (; i + 4 <= rows; i += 4)
      STORE(column + i, LOAD(column + i) - (LOAD(p[0] + i) * w[0] + LOAD(p[1] + i) * w[1]) -
                            (LOAD(p[2] + i) * w[2] + LOAD(p[3] + i) * w[3]));
    for (; i < rows; i++)
      column[i] = column[i] - (p[0][i] * w[0] + p[1][i] * w[1]) - (p[2][i] * w[2] + p[3][i] * w[3]);
  }
}

DEFINE_DISPATCHED(static, subtract_products,
                  (const double *panel, size_t ld, size_t rows, size_t columns, const double *row,
                   double *column),
                  (panel, ld, rows, columns, row, column))

/* Whether a pick may be far shorter than other rows: fvs with a centre. */
static int may_spread(const ke_basis *b) { return b->rule->normalised && b->body.source->centred; }

/* Raise the floor for the next picks by what is known of this one: the candidates' multiples. */
static void raise_floor(ke_basis *b, size_t c, const double *column)
{
  const double own = column[c] * column[c] * b->body.weight[b->pool.row[c]];
  double most = 0.0;
  for (size_t i = 0; i < b->pool.count; i++)
    most = fmax(most, column[i] * column[i] * b->body.weight[b->pool.row[i]]);
  b->limits.tentative += most / own;
  set_floor(b, b->limits.tentative);
}

/* One Cholesky step among the candidates: pivot c, column size + picks of the panel. */
static void eliminate(ke_basis *b, size_t c)
{
  const size_t done = b->size + b->pool.picks;
  double *column = b->pool.panel + done * b->pool.most;
  b->body.source->does->gather(b->body.source->self, KE_SINGLE, b->pool.row + c, 1);
  b->body.source->does->between(b->body.source->self, KE_CANDIDATES, KE_SINGLE, column,
                                b->pool.most);
  subtract_products(b->pool.panel, b->pool.most, b->pool.count, done, b->pool.panel + c, column);
  const double root = sqrt(b->pool.left[c]);
  for (size_t i = 0; i < b->pool.count; i++) {
    column[i] /= root;
    const double rest = b->pool.left[i] - column[i] * column[i];
    b->pool.gained[i] += column[i] * column[i];
    b->pool.left[i] = rest > 0.0 ? rest : 0.0;
  }
  column[c] = root;
  b->pool.left[c] = 0.0;
  if (may_spread(b))
    raise_floor(b, c, column);
  for (size_t l = 0; b->state.triangle && l <= done; l++)
    b->state.triangle[done * (done + 1) / 2 + l] = b->pool.panel[c + l * b->pool.most];
}

/* A pick among the candidates, or for an unpivoted rule the triangular solve that judges one. */
size_t ke_picks_at_a_time(const ke_basis *b)
{
  const double done = (double)(b->size + b->pool.picks);
  return ke_batch((double)b->pool.count * (b->body.source->cost + 2.0 * done) + done * done);
}

static void pick_among_candidates(ke_basis *b, const ke_env *env)
{
  const size_t most = ke_smaller(KE_BLOCK, b->limit - b->size);
  size_t c;
  b->body.source->does->gather(b->body.source->self, KE_CANDIDATES, b->pool.row, b->pool.count);
  ke_body_rows(&b->body, b->pool.row, b->pool.count, b->size, b->pool.panel, b->pool.most,
               b->pool.left, b->pool.gained);
  b->pool.picks = 0;
  b->limits.tentative = b->limits.spread;
  while (b->pool.picks < most && b->rule->next(b, env, &c)) {
    b->path[b->size + b->pool.picks].pivot = b->pool.left[c];
    b->index[b->size + b->pool.picks] = b->pool.row[c];
    eliminate(b, c);
    b->pool.chosen[b->pool.picks++] = c;
    if (b->pool.picks % ke_picks_at_a_time(b) == 0)
      ke_check(env);
  }
}

/* ---- stops -------------------------------------------------------------------------------- */

static ke_stop judge(const ke_basis *b, const ke_pick *pick, size_t size)
{
  if (pick->best <= b->limits.floor)
    return KE_STOP_RANK;
  if (b->rule->enough(b, pick))
    return KE_STOP_TOL;
  if (b->rule->has_threshold && sqrt(pick->best) / sqrt(b->path[0].pivot) < b->threshold[size])
    return KE_STOP_THRESHOLD;
  return size == b->limit ? KE_STOP_SIZE : KE_GOES_ON;
}

static void update_rows(ke_basis *b, const ke_env *env)
{
  const ke_round round = {.size = b->size,
                          .picks = b->pool.picks,
                          .index = b->index + b->size,
                          .panel = b->pool.panel,
                          .ld = b->pool.most,
                          .chosen = b->pool.chosen,
                          .spreads = may_spread(b),
                          .path = b->path + b->size};
  ke_body_update(&b->body, &round, env);
  b->updates++;
}

ke_status ke_basis_run(ke_basis *b, const ke_env *env)
{
  while (b->stop == KE_GOES_ON) {
    const size_t wanted = ke_smaller(KE_BLOCK, b->limit - b->size);
    if (b->body.capacity - b->size < wanted)
      return KE_FULL;
    ke_check(env);
    b->rule->propose(b, env);
    pick_among_candidates(b, env);
    if (b->pool.count == 0) /* kgs at the last row: what rounding left is no direction */
      b->stop = KE_STOP_RANK;
    if (b->pool.picks == 0)
      continue;
    update_rows(b, env);
    for (size_t p = 0; p < b->pool.picks && b->stop == KE_GOES_ON; p++) {
      b->limits.spread += b->path[b->size].spread;
      set_floor(b, b->limits.spread);
      b->stop = judge(b, &b->path[b->size], b->size + 1);
      b->size++;
    }
    ke_progress(env, b->stop == KE_GOES_ON ? (double)b->size / (double)b->limit : 1.0);
  }
  return KE_OK;
}

/* ---- first pick of fvs ---------------------------------------------------------------------- */

/* Four running sums fix the order of additions and still let them overlap. */
static double weighted_squares(const double *x, const double *w, size_t n)
{
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += x[i] * x[i] * w[i];
    s1 += x[i + 1] * x[i + 1] * w[i + 1];
    s2 += x[i + 2] * x[i + 2] * w[i + 2];
    s3 += x[i + 3] * x[i + 3] * w[i + 3];
  }
  for (; i < n; i++)
    s0 += x[i] * x[i] * w[i];
  return (s0 + s1) + (s2 + s3);
}

/* Fitness of one row as a basis of its own, over all rows: sum_j k_ij^2 / (k_ii k_jj). */
static void fitness_of_block(ke_basis *b, const size_t *rows, size_t count, double *fitness,
                             double *work, const ke_env *env)
{
  const size_t step = ke_chunk_rows(&b->body, 0, count);
  memset(fitness, 0, count * sizeof(double));
  b->body.source->does->gather(b->body.source->self, KE_PICKS, rows, count);
  for (size_t i0 = 0; i0 < b->body.n; i0 += step) {
    const size_t m = ke_smaller(step, b->body.n - i0);
    ke_check(env);
    ke_columns(b->body.source, count, i0, m, work, KE_CHUNK, env);
    for (size_t j = 0; j < count; j++)
      fitness[j] += weighted_squares(work + j * KE_CHUNK, b->body.inverse + i0, m);
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
  double *fitness = work, *rest = work + b->body.n;
  if (!rows)
    ke_row_sums(b->body.source, 1, b->body.inverse, fitness, rest, env);
  else
    for (size_t j = 0; j < count; j += KE_BLOCK)
      fitness_of_block(b, rows + j, ke_smaller(KE_BLOCK, count - j), fitness + j, rest, env);
  for (size_t j = 0; j < (rows ? count : b->body.n); j++)
    fitness[j] *= b->body.inverse[rows ? rows[j] : j];
  return lowest_best(fitness, rows, rows ? count : b->body.n);
}
