/* Pivot and stop rules of the basis engine. A rule proposes candidates, picks among them while
 * its choice is certain without the other rows, and judges the path after each pick.
 *
 * Greedy rules (fvs, cholesky, kobl) want the row of largest key. For fvs, which asks for the
 * lowest local fitness J, the key is (1 - J) / J: the same order, and ties relative to J where J
 * is small and to 1 - J where that is. Keys only fall, so as long as the best candidate exceeds
 * the largest key of the others (or wins the tie), it is the best of all rows.
 * kgs: rows in their order; whether one depends on its forerunners needs no other row.
 * random: proposals drawn from the residuals at the start of a round, kept with probability
 * (residual now) / (residual then): exactly the sequential law.
 */
#include "basis.h"

#include "blas.h"

#include <float.h>
#include <string.h>

static double key(const ke_basis *b, size_t row, double residual, double explained)
{
  if (residual * b->body.weight[row] <= b->limits.floor)
    return 0.0;
  if (!b->rule->normalised)
    return residual;
  if (explained * b->body.weight[row] <= b->limits.noise)
    return DBL_MAX;
  const double ratio = residual / explained;
  return ratio < DBL_MAX ? ratio : DBL_MAX;
}

/* Keys from here up tie with the best. Never down to 0: that is a row out of the game. */
static double tie_with(const ke_basis *b, double best)
{
  return best * (1.0 - KE_TIE) - b->limits.slack;
}

static double row_key(const ke_basis *b, size_t i)
{
  return key(b, i, b->body.residual[i], b->body.explained ? b->body.explained[i] : 0.0);
}

static double candidate_key(const ke_basis *b, size_t c)
{
  return key(b, b->pool.row[c], b->pool.left[c], b->body.explained ? b->pool.gained[c] : 0.0);
}

/* ---- greedy ----------------------------------------------------------------------- */

/* The rank-th largest of x (0-based); x is reordered (Hoare's selection). */
static double select_largest(double *x, size_t n, size_t rank)
{
  ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)rank;
  while (low < high) {
    const double pivot = x[k];
    ptrdiff_t i = low, j = high;
    do {
      while (x[i] > pivot)
        i++;
      while (x[j] < pivot)
        j--;
      if (i <= j) {
        const double swap = x[i];
        x[i++] = x[j];
        x[j--] = swap;
      }
    } while (i <= j);
    if (j < k)
      low = i;
    if (k < i)
      high = j;
  }
  return x[k];
}

/* The lowest row within a tie of the best key. */
static size_t best_row(const ke_basis *b)
{
  double best = 0.0;
  for (size_t i = 0; i < b->body.n; i++)
    best = b->state.keys[i] > best ? b->state.keys[i] : best;
  const double tied = tie_with(b, best);
  size_t i = 0;
  while (b->state.keys[i] < tied)
    i++;
  return i;
}

/* The lowest row that is no candidate and may be within a tie of the largest key of those. Keys
 * only fall, so a candidate below that row wins a tie for certain. */
static size_t first_excluded(const ke_basis *b)
{
  const double tied = tie_with(b, b->state.excluded);
  size_t c = 0;
  for (size_t i = 0; i < b->body.n; i++) {
    if (c < b->pool.count && b->pool.row[c] == i)
      c++;
    else if (b->state.keys[i] >= tied)
      return i;
  }
  return b->body.n;
}

/* Candidates in row order: all rows above the cut, and enough of those at it. `sequence[0]`
 * becomes the candidate number of `pick`, which must be among them. */
static void greedy_collect(ke_basis *b, size_t pick, double cut)
{
  size_t above = 0;
  for (size_t i = 0; i < b->body.n; i++)
    above += b->state.keys[i] > cut || i == pick;
  size_t spare = b->pool.most > above ? b->pool.most - above : 0;
  b->pool.count = 0;
  b->state.excluded = 0.0;
  for (size_t i = 0; i < b->body.n; i++) {
    const double k = b->state.keys[i];
    const int tied = k == cut && k > 0.0 && i != pick && spare > 0;
    if (tied)
      spare--;
    if (i == pick)
      b->state.sequence[0] = b->pool.count;
    if (i == pick || tied || (k > cut && b->pool.count < b->pool.most))
      b->pool.row[b->pool.count++] = i;
    else
      b->state.excluded = k > b->state.excluded ? k : b->state.excluded;
  }
  b->state.first_excluded = first_excluded(b);
}

static void greedy_propose(ke_basis *b, const ke_env *env)
{
  (void)env;
  for (size_t i = 0; i < b->body.n; i++)
    b->state.keys[i] = row_key(b, i);
  const size_t pick = b->size == 0 && b->forced < b->body.n ? b->forced : best_row(b);
  double cut = 0.0;
  if (b->pool.most < b->body.n) {
    memcpy(b->state.sorted, b->state.keys, b->body.n * sizeof(double));
    cut = select_largest(b->state.sorted, b->body.n, b->pool.most - 1);
  }
  greedy_collect(b, pick, cut);
}

/* The lowest candidate within a tie of the best. */
static size_t best_candidate(const ke_basis *b, double *best)
{
  *best = 0.0;
  for (size_t c = 0; c < b->pool.count; c++) {
    const double k = candidate_key(b, c);
    *best = k > *best ? k : *best;
  }
  size_t c = 0;
  while (candidate_key(b, c) < tie_with(b, *best))
    c++;
  return c;
}

static int greedy_next(ke_basis *b, const ke_env *env, size_t *c)
{
  (void)env;
  if (b->pool.picks == 0) { /* all rows are up to date: the pick is the best of all */
    *c = b->state.sequence[0];
    return 1;
  }
  double best;
  *c = best_candidate(b, &best);
  if (best <= 0.0 || best < b->state.excluded)
    return 0;
  return tie_with(b, best) > b->state.excluded || b->pool.row[*c] < b->state.first_excluded;
}

/* ---- in order ---------------------------------------------------------------------- */

/* Whether a residual is more than rounding. Row = sum of a_l times the picks, and rounding of the
 * kernel values reaches its residual magnified by 1 + |a|^2. A greedy rule keeps |a| small; rows
 * taken in order may be close to dependent, and then the residuals of others have no digits. */
static int stands_out(const ke_basis *b, size_t c)
{
  const size_t done = b->size + b->pool.picks;
  double magnified = 1.0;
  for (size_t l = 0; l < done; l++)
    b->state.solution[l] = b->pool.panel[c + l * b->pool.most];
  ke_tpsv_upper(done, b->state.triangle, b->state.solution);
  for (size_t l = 0; l < done; l++)
    magnified += b->state.solution[l] * b->state.solution[l];
  return b->pool.left[c] > KE_MAGNIFIED * DBL_EPSILON * b->start.top * magnified;
}

static void order_propose(ke_basis *b, const ke_env *env)
{
  (void)env;
  b->pool.count = 0;
  b->state.drawn = 0;
  const size_t most = ke_smaller(b->pool.most, KE_BLOCK);
  for (; b->state.cursor < b->body.n && b->pool.count < most; b->state.cursor++)
    if (row_key(b, b->state.cursor) > 0.0)
      b->pool.row[b->pool.count++] = b->state.cursor;
}

static int order_next(ke_basis *b, const ke_env *env, size_t *c)
{
  for (; b->state.drawn < b->pool.count; b->state.drawn++) {
    const size_t i = b->state.drawn;
    if (i % ke_picks_at_a_time(b) == 0) /* what follows costs as much as a pick */
      ke_check(env);
    if (candidate_key(b, i) > 0.0 && stands_out(b, i)) {
      b->state.drawn++;
      *c = i;
      return 1;
    }
  }
  return 0;
}

/* ---- random -------------------------------------------------------------------------- */

/* keys becomes the running sum of the residuals that may still be picked. */
static double running_sum(ke_basis *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < b->body.n; i++) {
    sum += row_key(b, i);
    b->state.keys[i] = sum;
  }
  return sum;
}

static size_t find_row(const double *running, size_t n, double target)
{
  size_t low = 0, high = n - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (running[middle] > target)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static size_t candidate_number(ke_basis *b, size_t row)
{
  for (size_t c = 0; c < b->pool.count; c++)
    if (b->pool.row[c] == row)
      return c;
  b->pool.row[b->pool.count] = row;
  return b->pool.count++;
}

static void random_propose(ke_basis *b, const ke_env *env)
{
  const double sum = running_sum(b);
  b->pool.count = 0;
  b->state.drawn = 0;
  for (size_t k = 0; k < KE_PROPOSALS; k++) {
    size_t row = find_row(b->state.keys, b->body.n, env->uniform(env->data) * sum);
    while (row > 0 && row_key(b, row) <= 0.0) /* rounding at the very end of the sum */
      row--;
    b->state.sequence[k] = candidate_number(b, row);
  }
}

static int random_next(ke_basis *b, const ke_env *env, size_t *c)
{
  while (b->state.drawn < KE_PROPOSALS) {
    const size_t i = b->state.sequence[b->state.drawn++];
    const double then = b->body.residual[b->pool.row[i]];
    if (env->uniform(env->data) * then < candidate_key(b, i)) {
      *c = i;
      return 1;
    }
  }
  return 0;
}

/* ---- when the path is long enough -------------------------------------------------------- */

static int enough_fitness(const ke_basis *b, const ke_pick *pick)
{
  return pick->scaled <= b->tol * b->start.counted;
}

static int enough_trace(const ke_basis *b, const ke_pick *pick)
{
  return pick->trace <= b->tol * b->start.trace;
}

static int never_enough(const ke_basis *b, const ke_pick *pick)
{
  (void)b;
  (void)pick;
  return 0;
}

const ke_rule *ke_rule_of(ke_method method)
{
  static const ke_rule rules[] = {
      [KE_FVS] = {greedy_propose, greedy_next, enough_fitness, 1, 0, 0},
      [KE_CHOLESKY] = {greedy_propose, greedy_next, enough_trace, 0, 0, 0},
      [KE_KOBL] = {greedy_propose, greedy_next, never_enough, 0, 0, 1},
      [KE_KGS] = {order_propose, order_next, never_enough, 0, 1, 0},
      [KE_RANDOM] = {random_propose, random_next, enough_trace, 0, 0, 0},
  };
  return &rules[method];
}
