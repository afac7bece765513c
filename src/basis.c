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
  b->judge.floor =
      fmax((double)b->bodies.n, spread > 0.0 ? KE_MAGNIFIED * (1.0 + spread) : 0.0) * unit;
}

ke_status ke_basis_start(ke_basis *b, const ke_env *env)
{
  const size_t n = b->bodies.n;
  const ke_status status =
      b->bodies.does->start(b->bodies.self, b->rule->normalised, &b->start, env);
  if (status != KE_OK)
    return status;
  const double eps = DBL_EPSILON * (b->rule->normalised ? 1.0 : b->start.top);
  b->judge.normalised = b->rule->normalised;
  b->spread.sum = 0.0;
  set_floor(b, 0.0);
  b->judge.slack = (n < 2 * KE_SLACK ? (double)n / 2.0 : KE_SLACK) * eps;
  b->judge.noise = b->start.cancels ? KE_SLACK * DBL_EPSILON * KE_SLACK * DBL_EPSILON : 0.0;
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
static int may_spread(const ke_basis *b) { return b->rule->normalised && b->start.centred; }

/* Raise the floor for the next picks by what is known of this one: the candidates' multiples. */
static void raise_floor(ke_basis *b, size_t c, const double *column)
{
  const double own = column[c] * column[c] * b->pool.weight[c];
  double most = 0.0;
  for (size_t i = 0; i < b->pool.count; i++)
    most = fmax(most, column[i] * column[i] * b->pool.weight[i]);
  b->spread.tentative += most / own;
  set_floor(b, b->spread.tentative);
}

/* One Cholesky step among the candidates: pivot c, column size + picks of the panel. */
static void eliminate(ke_basis *b, size_t c)
{
  const size_t done = b->size + b->pool.picks;
  double *column = b->pool.panel + done * b->pool.most;
  b->bodies.does->column(b->bodies.self, &b->pool, c, column);
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
  return ke_batch((double)b->pool.count * (b->start.cost + 2.0 * done) + done * done);
}

static void pick_among_candidates(ke_basis *b, const ke_env *env)
{
  const size_t most = ke_smaller(KE_BLOCK, b->limit - b->size);
  size_t c;
  b->bodies.does->rows(b->bodies.self, b->size, &b->pool, env);
  memcpy(b->state.before, b->pool.left, b->pool.count * sizeof(double));
  b->pool.picks = 0;
  b->spread.tentative = b->spread.sum;
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
  if (pick->best <= b->judge.floor)
    return KE_STOP_RANK;
  if (b->rule->enough(b, pick))
    return KE_STOP_TOL;
  if (b->rule->has_threshold && sqrt(pick->best) / sqrt(b->path[0].pivot) < b->threshold[size])
    return KE_STOP_THRESHOLD;
  return size == b->limit ? KE_STOP_SIZE : KE_GOES_ON;
}

static void update_rows(ke_basis *b, const ke_env *env)
{
  ke_pick *path = b->path + b->size;
  const ke_round round = {.size = b->size,
                          .picks = b->pool.picks,
                          .index = b->index + b->size,
                          .panel = b->pool.panel,
                          .ld = b->pool.most,
                          .chosen = b->pool.chosen,
                          .spreads = may_spread(b)};
  b->bodies.does->update(b->bodies.self, &round, path, env);
  for (size_t p = 0; round.spreads && p < round.picks; p++)
    path[p].spread /= path[p].pivot * b->pool.weight[b->pool.chosen[p]];
  b->updates++;
}

ke_status ke_basis_run(ke_basis *b, const ke_env *env)
{
  while (b->stop == KE_GOES_ON) {
    const size_t wanted = ke_smaller(KE_BLOCK, b->limit - b->size);
    if (b->capacity - b->size < wanted)
      return KE_FULL;
    ke_check(env);
    b->rule->propose(b, env);
    if (b->pool.count == 0) { /* kgs at the last row: what rounding left is no direction */
      b->stop = KE_STOP_RANK;
      break;
    }
    pick_among_candidates(b, env);
    if (b->pool.picks == 0)
      continue;
    update_rows(b, env);
    for (size_t p = 0; p < b->pool.picks && b->stop == KE_GOES_ON; p++) {
      b->spread.sum += b->path[b->size].spread;
      set_floor(b, b->spread.sum);
      b->stop = judge(b, &b->path[b->size], b->size + 1);
      b->size++;
    }
    ke_progress(env, b->stop == KE_GOES_ON ? (double)b->size / (double)b->limit : 1.0);
  }
  return KE_OK;
}

/* ---- first pick of fvs ---------------------------------------------------------------------- */

/* The lowest place of the best fitness; `count` where no row has any. */
static size_t lowest_best(const double *fitness, size_t count)
{
  double best = 0.0;
  for (size_t j = 0; j < count; j++)
    best = fitness[j] > best ? fitness[j] : best;
  size_t j = best > 0.0 ? 0 : count;
  while (j < count && fitness[j] < best * (1.0 - KE_TIE))
    j++;
  return j;
}

size_t ke_first_fvs(ke_basis *b, const size_t *rows, size_t count, double *work, const ke_env *env)
{
  const size_t n = b->bodies.n, searched = rows ? count : n;
  b->bodies.does->first(b->bodies.self, rows, count, work, work + searched, env);
  const size_t best = lowest_best(work, searched);
  return best == searched ? n : rows ? rows[best] : best;
}
