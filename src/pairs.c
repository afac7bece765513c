/* Pairs of the dual program (dual.c): sequential minimal optimisation.
 *
 * With the gradient g = q - Kb, raise the i of largest g among those that may grow and lower the j
 * that promises the largest gain (g_i - g_j)^2 / (2 eta), eta = K_ii + K_jj - 2 K_ij (second-order
 * choice: Fan, Chen and Lin, JMLR 6, 2005). O(n) a step.
 */
#include "simd.h"
#include "solver.h"

#include <float.h>
#include <math.h>

size_t ke_pair_batch(const ke_solver *s)
{
  const size_t n = s->p->n > 1 ? s->p->n : 1, wanted = 32 + n / 8,
               most = 16 + ke_batch(25.0 * (double)n);
  return ke_smaller(wanted, most);
}

double ke_pair_cost(const ke_solver *s) { return 3.0 * (double)s->p->n; }

/* A running maximum with its place: four lanes, joined at the end, the first place on ties. */
typedef struct {
  v4 best, at;
} lanes;

typedef struct {
  double value;
  size_t at; /* n where there is none */
} peak;

INLINE void watch(lanes *l, const v4 *value, const v4 *place)
{
  const l4 mask = *value > l->best;
  l->best = SELECT(mask, *value, l->best);
  l->at = SELECT(mask, *place, l->at);
}

static peak join(const lanes *l, double least, size_t n)
{
  peak p = {least, n};
  for (int k = 0; k < 4; k++)
    if (l->best[k] > p.value ||
        (l->best[k] == p.value && l->best[k] > least && (size_t)l->at[k] < p.at)) {
      p.value = l->best[k];
      p.at = (size_t)l->at[k];
    }
  return p;
}

static void offer(peak *p, double value, size_t at)
{
  if (value > p->value) {
    p->value = value;
    p->at = at;
  }
}

#define FIRST_PLACES ((v4){0.0, 1.0, 2.0, 3.0})

/* g -= t (ki - kj); finds the largest g that may rise. */
typedef struct {
  size_t n;
  double *g;
  const double *rise, *ki, *kj;
  double t;
} update;

INLINE void shift_body(const update *u, peak *out)
{
  size_t k = 0;
  lanes l = {SPLAT(-INFINITY), SPLAT(0.0)};
  v4 place = FIRST_PLACES;
  for (; k + 4 <= u->n; k += 4, place += 4.0) {
    const v4 g = LOAD(u->g + k) - u->t * (LOAD(u->ki + k) - LOAD(u->kj + k));
    const v4 v = g + LOAD(u->rise + k);
    STORE(u->g + k, g);
    watch(&l, &v, &place);
  }
  *out = join(&l, -INFINITY, u->n);
  for (; k < u->n; k++) {
    u->g[k] -= u->t * (u->ki[k] - u->kj[k]);
    offer(out, u->g[k] + u->rise[k], k);
  }
}

DEFINE_DISPATCHED(static, shift, (const update *u, peak *out), (u, out))

/* Finds the variable whose lowering against i gains most; flat directions count as steep. */
typedef struct {
  size_t n;
  const double *g, *fall, *ki, *diagonal;
  double gi, kii, floor;
} search;

INLINE void partner_body(const search *s, peak *out)
{
  size_t k = 0;
  lanes l = {SPLAT(0.0), SPLAT(0.0)};
  v4 place = FIRST_PLACES;
  const v4 none = SPLAT(0.0), floor = SPLAT(s->floor);
  for (; k + 4 <= s->n; k += 4, place += 4.0) {
    const v4 eta = (s->kii + LOAD(s->diagonal + k)) - 2.0 * LOAD(s->ki + k);
    v4 rise = s->gi - (LOAD(s->g + k) + LOAD(s->fall + k));
    rise = SELECT(rise > none, rise, none);
    const v4 gain = rise * rise / SELECT(eta > floor, eta, floor);
    watch(&l, &gain, &place);
  }
  *out = join(&l, 0.0, s->n);
  for (; k < s->n; k++) {
    const double eta = s->kii + s->diagonal[k] - 2.0 * s->ki[k];
    const double rise = s->gi - (s->g[k] + s->fall[k]);
    if (rise > 0.0)
      offer(out, rise * rise / (eta > s->floor ? eta : s->floor), k);
  }
}

DEFINE_DISPATCHED(static, partner, (const search *s, peak *out), (s, out))

static size_t find_partner(ke_solver *s, size_t i)
{
  peak best;
  const search q = {s->p->n,     s->g,    s->fall,        ke_dual_column(s, i),
                    s->diagonal, s->g[i], s->diagonal[i], DBL_EPSILON * s->top + DBL_MIN};
  partner(&q, &best);
  return best.at;
}

/* Moves b from j to i as far as curvature and bounds allow, and finds the next riser. A curvature
 * below the rounding of what it is a difference of has no digit: then the bounds decide, as with
 * none, and the gap says how good that was. */
static ke_outcome step_pair(ke_solver *s, size_t i, size_t j, size_t *next)
{
  const ke_dual *p = s->p;
  const double *ki = ke_dual_column(s, i), *kj = ke_dual_column(s, j),
               sum = s->diagonal[i] + s->diagonal[j];
  const double eta = sum - 2.0 * ki[j];
  const double room_i = p->upper[i] - s->b[i], room_j = s->b[j] - p->lower[j];
  const double bound = room_i < room_j ? room_i : room_j;
  double t = eta > 4.0 * DBL_EPSILON * sum ? (s->g[i] - s->g[j]) / eta : INFINITY;
  if (t == INFINITY && bound == INFINITY)
    return KE_UNBOUNDED;
  t = t < bound ? t : bound;
  if (s->b[i] + t == s->b[i] && s->b[j] - t == s->b[j])
    return KE_STUCK;
  ke_dual_put(s, i, t == room_i ? p->upper[i] : s->b[i] + t);
  ke_dual_put(s, j, t == room_j ? p->lower[j] : s->b[j] - t);
  peak top;
  const update u = {p->n, s->g, s->rise, ki, kj, t};
  shift(&u, &top);
  *next = top.at;
  return KE_MOVED;
}

static size_t first_riser(ke_solver *s)
{
  peak top;
  const update nothing = {s->p->n, s->g, s->rise, s->diagonal, s->diagonal, 0.0};
  shift(&nothing, &top);
  return top.at;
}

ke_outcome ke_pair_run(ke_solver *s, size_t *done)
{
  size_t i = first_riser(s);
  for (size_t k = 0; k < s->batch; k++) {
    const size_t j = i < s->p->n ? find_partner(s, i) : i;
    if (j == s->p->n)
      return KE_STUCK;
    const ke_outcome o = step_pair(s, i, j, &i);
    if (o != KE_MOVED)
      return o;
    ++*done;
  }
  s->credit += (double)s->batch * ke_pair_cost(s);
  return KE_MOVED;
}
