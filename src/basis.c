/* The pivoted engine: which rows span the kernel space.
 *
 * Partial pivoted Cholesky K ~ F F', F n x L, residual r_i = k_ii - |F_i|^2. A round takes a few
 * candidates (rules.c), pivots among them alone, and then brings all n rows up to date at once:
 *
 *   F[, new] = (K[, P] - F F_P') L_P^{-T},   L_P the Cholesky factor of the picks' residual block.
 *
 * So nearly all work is matrix products (update.c): n L (2 d + L) flops in all, n L doubles of
 * memory. Every pick is the one that column-by-column pivoting would make. Residuals are floored at
 * zero and a picked row has residual zero, so it is never picked again; the numerical rank ends the
 * path.
 */
#include "basis.h"

#include "simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The magnitude h_i behind each diagonal entry. A centred entry is a difference of larger ones
 * and carries their rounding, so what counts as zero is relative to those. Returns the largest. */
static double set_magnitudes(const ke_basis *b, double *h)
{
  const ke_source *inner = b->source->inner;
  double top = 0.0;
  if (inner)
    inner->diagonal(inner, h);
  for (size_t i = 0; i < b->n; i++) {
    h[i] = inner ? fmax(fmax(h[i], b->source->constant), b->diagonal[i]) : b->diagonal[i];
    top = h[i] > top ? h[i] : top;
  }
  return top;
}

/* Rows without length (the centre itself among them) have no angle: they do not count and are
 * never picked. Otherwise `inverse` is 1 / k_ii, and a residual times `weight` is what the rank
 * is judged by. */
static void set_weights(ke_basis *b, const double *h)
{
  b->counted = b->trace = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    const int counts = b->diagonal[i] > (double)b->n * DBL_EPSILON * h[i];
    b->residual[i] = counts ? b->diagonal[i] : 0.0;
    b->inverse[i] = counts ? 1.0 / b->diagonal[i] : 0.0;
    b->weight[i] = b->rule->normalised ? (counts ? 1.0 / h[i] : 0.0) : 1.0;
    b->counted += counts;
    b->trace += b->residual[i];
    if (b->explained)
      b->explained[i] = 0.0;
  }
}

/* What counts as no residual. A row is a_l times the picks and what they leave, so rounding of
 * kernel values reaches its residual magnified by |a|^2. Pivots taken in falling order keep a
 * small; but near the centre a row of low fitness may be far shorter than the others, and a pick
 * like that stretches its rounding over all of them. */
static void set_floor(ke_basis *b, double spread)
{
  const double unit = DBL_EPSILON * (b->rule->normalised ? 1.0 : b->top);
  b->floor = fmax((double)b->n, spread > 0.0 ? KE_MAGNIFIED * (1.0 + spread) : 0.0) * unit;
}

ke_status ke_basis_start(ke_basis *b)
{
  b->source->diagonal(b->source, b->diagonal);
  double bottom = 0.0;
  for (size_t i = 0; i < b->n; i++) {
    if (!isfinite(b->diagonal[i]))
      return KE_NOT_FINITE;
    bottom = b->diagonal[i] < bottom ? b->diagonal[i] : bottom;
  }
  b->top = set_magnitudes(b, b->keys);
  if (bottom < -KE_NEGATIVE * b->top)
    return KE_INDEFINITE;
  set_weights(b, b->keys);
  const double eps = DBL_EPSILON * (b->rule->normalised ? 1.0 : b->top);
  b->spread = 0.0;
  set_floor(b, 0.0);
  b->slack = (b->n < 2 * KE_SLACK ? (double)b->n / 2.0 : KE_SLACK) * eps;
  b->blind = b->source->cancels ? KE_SLACK * DBL_EPSILON * KE_SLACK * DBL_EPSILON : 0.0;
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

int ke_may_spread(const ke_basis *b) { return b->rule->normalised && b->source->inner; }

/* Raise the floor for the next picks by what is known of this one: the candidates' multiples. */
static void raise_floor(ke_basis *b, size_t c, const double *column)
{
  const double own = column[c] * column[c] * b->weight[b->candidate[c]];
  double most = 0.0;
  for (size_t i = 0; i < b->count; i++)
    most = fmax(most, column[i] * column[i] * b->weight[b->candidate[i]]);
  b->tentative += most / own;
  set_floor(b, b->tentative);
}

/* One Cholesky step among the candidates: pivot c, column size + picks of the panel. */
static void eliminate(ke_basis *b, size_t c)
{
  const size_t done = b->size + b->picks;
  double *column = b->panel + done * b->most;
  b->source->gather(b->source, KE_SINGLE, b->candidate + c, 1);
  b->source->between(b->source, KE_CANDIDATES, KE_SINGLE, column, b->most);
  subtract_products(b->panel, b->most, b->count, done, b->panel + c, column);
  const double root = sqrt(b->left[c]);
  for (size_t i = 0; i < b->count; i++) {
    column[i] /= root;
    const double rest = b->left[i] - column[i] * column[i];
    b->gained[i] += column[i] * column[i];
    b->left[i] = rest > 0.0 ? rest : 0.0;
  }
  column[c] = root;
  b->left[c] = 0.0;
  if (ke_may_spread(b))
    raise_floor(b, c, column);
  for (size_t l = 0; b->triangle && l <= done; l++)
    b->triangle[done * (done + 1) / 2 + l] = b->panel[c + l * b->most];
}

static void pick_among_candidates(ke_basis *b, const ke_env *env)
{
  const size_t room = ke_smaller(KE_BLOCK, b->limit - b->size);
  size_t c;
  b->source->gather(b->source, KE_CANDIDATES, b->candidate, b->count);
  gather_panel(b);
  b->picks = 0;
  b->tentative = b->spread;
  while (b->picks < room && b->rule->next(b, env, &c)) {
    b->path[b->size + b->picks].pivot = b->left[c];
    b->index[b->size + b->picks] = b->candidate[c];
    eliminate(b, c);
    b->chosen[b->picks++] = c;
    if (b->picks % 8 == 0)
      ke_check(env);
  }
}

/* ---- stops -------------------------------------------------------------------------------- */

static ke_stop judge(const ke_basis *b, const ke_pick *pick, size_t size)
{
  if (pick->best <= b->floor)
    return KE_STOP_RANK;
  if (b->rule->enough(b, pick))
    return KE_STOP_TOL;
  if (b->rule->has_threshold && sqrt(pick->best) / sqrt(b->path[0].pivot) < b->threshold[size])
    return KE_STOP_THRESHOLD;
  return size == b->limit ? KE_STOP_SIZE : KE_GOES_ON;
}

ke_status ke_basis_run(ke_basis *b, const ke_env *env)
{
  while (b->stop == KE_GOES_ON) {
    const size_t wanted = ke_smaller(KE_BLOCK, b->limit - b->size);
    if (b->capacity - b->size < wanted)
      return KE_FULL;
    ke_check(env);
    b->rule->propose(b, env);
    pick_among_candidates(b, env);
    if (b->count == 0) /* kgs at the last row: what rounding left is no direction */
      b->stop = KE_STOP_RANK;
    if (b->picks == 0)
      continue;
    ke_update(b, env);
    for (size_t p = 0; p < b->picks && b->stop == KE_GOES_ON; p++) {
      b->spread += b->path[b->size].spread;
      set_floor(b, b->spread);
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
  const size_t step = ke_chunk_rows(b, count);
  memset(fitness, 0, count * sizeof(double));
  b->source->gather(b->source, KE_PICKS, rows, count);
  for (size_t i0 = 0; i0 < b->n; i0 += step) {
    const size_t m = ke_smaller(step, b->n - i0);
    ke_check(env);
    ke_columns(b->source, i0, m, work, KE_CHUNK, env);
    for (size_t j = 0; j < count; j++)
      fitness[j] += weighted_squares(work + j * KE_CHUNK, b->inverse + i0, m);
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
      fitness_of_block(b, rows + j, ke_smaller(KE_BLOCK, count - j), fitness + j, rest, env);
  for (size_t j = 0; j < (rows ? count : b->n); j++)
    fitness[j] *= b->inverse[rows ? rows[j] : j];
  return lowest_best(fitness, rows, rows ? count : b->n);
}
