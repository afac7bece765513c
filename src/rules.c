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
#include "selection.h"

#include <float.h>
#include <string.h>

static double candidate_key(const ke_basis *b, size_t c)
{
  return ke_key(&b->judge, b->pool.left[c], b->pool.gained[c], b->pool.weight[c]);
}

/* ---- greedy ----------------------------------------------------------------------- */

/* The lowest row, by its place in the proposal, within a tie of the best key. */
static size_t best_proposed(const ke_basis *b)
{
  const ke_proposal *p = &b->state.proposed;
  double best = 0.0;
  for (size_t i = 0; i < p->count; i++)
    best = p->key[i] > best ? p->key[i] : best;
  const double tied = ke_tie_with(&b->judge, best);
  size_t i = 0;
  while (p->key[i] < tied)
    i++;
  return i;
}

static size_t place_of(const ke_proposal *p, size_t row)
{
  size_t i = 0;
  while (p->row[i] != row)
    i++;
  return i;
}

/* The lowest row that is no candidate and may be within a tie of the largest key of those. Keys
 * only fall, so a candidate below that row wins a tie for certain. */
static size_t first_excluded(const ke_basis *b)
{
  const ke_proposal *p = &b->state.proposed;
  const double tied = ke_tie_with(&b->judge, b->state.excluded);
  size_t c = 0, lowest = b->bodies.n;
  for (size_t i = 0; i < p->count + p->steps; i++) {
    if (c < b->pool.count && i < p->count && b->pool.row[c] == p->row[i])
      c++;
    else if (p->key[i] >= tied && p->row[i] < lowest)
      lowest = p->row[i];
  }
  return lowest;
}

/* Candidates in row order: all rows above the cut, and enough of those at it. `sequence[0]`
 * becomes the candidate number of `pick`, which must be among them. */
static void greedy_collect(ke_basis *b, size_t pick, double cut)
{
  const ke_proposal *p = &b->state.proposed;
  size_t above = 0;
  for (size_t i = 0; i < p->count; i++)
    above += p->key[i] > cut || i == pick;
  size_t spare = b->pool.most > above ? b->pool.most - above : 0;
  b->pool.count = 0;
  b->state.excluded = p->outside;
  for (size_t i = 0; i < p->count; i++) {
    const double k = p->key[i];
    const int tied = k == cut && k > 0.0 && i != pick && spare > 0;
    if (tied)
      spare--;
    if (i == pick)
      b->state.sequence[0] = b->pool.count;
    if (i == pick || tied || (k > cut && b->pool.count < b->pool.most))
      b->pool.row[b->pool.count++] = p->row[i];
    else
      b->state.excluded = k > b->state.excluded ? k : b->state.excluded;
  }
  b->state.first_excluded = first_excluded(b);
}

/* The most-th largest key proposed, or 0. */
static double cut_of(ke_basis *b)
{
  const ke_proposal *p = &b->state.proposed;
  if (p->count <= b->pool.most)
    return 0.0;
  memcpy(b->state.keys, p->key, p->count * sizeof(double));
  return ke_select_largest(b->state.keys, p->count, b->pool.most - 1).value;
}

static void greedy_propose(ke_basis *b, const ke_env *env)
{
  ke_proposal *p = &b->state.proposed;
  const size_t n = b->bodies.n, forced = b->size == 0 ? b->forced : n;
  const ke_wish wish = {b->judge, 0, b->pool.most, 0, forced};
  b->bodies.does->propose(b->bodies.self, &wish, p, env);
  greedy_collect(b, forced < n ? place_of(p, forced) : best_proposed(b), cut_of(b));
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
  while (candidate_key(b, c) < ke_tie_with(&b->judge, *best))
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
  return ke_tie_with(&b->judge, best) > b->state.excluded ||
         b->pool.row[*c] < b->state.first_excluded;
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
  ke_proposal *p = &b->state.proposed;
  const size_t most = ke_smaller(b->pool.most, KE_BLOCK);
  const ke_wish wish = {b->judge, 1, most, b->state.cursor, b->bodies.n};
  b->bodies.does->propose(b->bodies.self, &wish, p, env);
  b->state.drawn = 0;
  b->pool.count = ke_smaller(p->count, most);
  memcpy(b->pool.row, p->row, b->pool.count * sizeof(size_t));
  b->state.cursor = b->pool.count < most ? b->bodies.n : b->pool.row[most - 1] + 1;
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
  double target[KE_PROPOSALS];
  size_t row[KE_PROPOSALS];
  const double sum = b->bodies.does->weigh(b->bodies.self, &b->judge, env);
  for (size_t k = 0; k < KE_PROPOSALS; k++)
    target[k] = env->uniform(env->data) * sum;
  b->bodies.does->find(b->bodies.self, &b->judge, target, KE_PROPOSALS, row, env);
  b->pool.count = 0;
  b->state.drawn = 0;
  for (size_t k = 0; k < KE_PROPOSALS; k++)
    b->state.sequence[k] = candidate_number(b, row[k]);
}

static int random_next(ke_basis *b, const ke_env *env, size_t *c)
{
  while (b->state.drawn < KE_PROPOSALS) {
    const size_t i = b->state.sequence[b->state.drawn++];
    if (env->uniform(env->data) * b->state.before[i] < candidate_key(b, i)) {
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
