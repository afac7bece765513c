/* Quadratic programs with boxes and one sum:
 *
 *   minimise f(b) = 1/2 b'Kb - q'b,   sum(b) = total,   lower <= b <= upper
 *
 * Pairs (pairs.c): one variable grows and one shrinks, the two that promise most.
 *
 * Faces (face.c): when pairs have cost as much as it would, all free variables move at once to
 * the minimum on their face.
 *
 * Gap: for any mu and theta, w = theta b is a point of the dual program, r = q - theta (Kb + mu)
 * and gap = 1/2 (theta - 1)^2 b'Kb + sum_i max_c (c - b_i) r_i, c in [lower_i, upper_i]: every
 * term is >= 0. theta > 1 only where infinite bounds ask for r_i <= 0 (a rescaled margin).
 */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rounding allows no further step where none shows in the value, so many batches in a row. */
#define IDLE 20

size_t ke_dual_doubles(size_t n, size_t face) { return n * (6 + face); }

size_t ke_dual_indices(size_t n) { return n; }

static void lend(ke_solver *s, const ke_dual_control *control)
{
  const size_t n = s->p->n;
  s->face = control->face;
  double *at = control->doubles;
  s->rise = at, at += n;
  s->fall = at, at += n;
  s->diagonal = at, at += n;
  s->d = at, at += n;
  s->residual = at, at += n;
  s->pinned = at, at += n;
  s->l = at;
  s->free = control->indices;
}

static void read_diagonal(ke_solver *s)
{
  const ke_dual *p = s->p;
  s->top = 0.0;
  for (size_t i = 0; i < p->n; i++) {
    s->diagonal[i] = p->k[i + i * p->ldk];
    s->top = fmax(s->top, s->diagonal[i]);
  }
}

/* g = q - K b */
static void fresh_gradient(ke_solver *s)
{
  const size_t n = s->p->n;
  size_t used = 0;
  memcpy(s->g, s->p->linear, n * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    if (s->b[j] == 0.0)
      continue;
    const double *k = ke_dual_column(s, j), b = s->b[j];
    for (size_t i = 0; i < n; i++)
      s->g[i] -= b * k[i];
    if (++used % 64 == 0)
      ke_check(s->env);
  }
}

/* ---- start ------------------------------------------------------------------------ */

static void mark(ke_solver *s, size_t i)
{
  s->rise[i] = s->b[i] < s->p->upper[i] ? 0.0 : -INFINITY;
  s->fall[i] = s->b[i] > s->p->lower[i] ? 0.0 : INFINITY;
}

void ke_dual_put(ke_solver *s, size_t i, double value)
{
  s->b[i] = value;
  mark(s, i);
}

/* Moves variables by what the sum is missing, from the first on; where `inside`, only those between
 * their bounds. */
static double hand_out(ke_solver *s, double missing, int inside)
{
  const ke_dual *p = s->p;
  for (size_t i = 0; i < p->n && missing != 0.0; i++) {
    if (inside && !(s->b[i] > p->lower[i] && s->b[i] < p->upper[i]))
      continue;
    const double b = fmin(fmax(s->b[i] + missing, p->lower[i]), p->upper[i]);
    missing -= b - s->b[i];
    s->b[i] = b;
  }
  return missing;
}

/* A sum that is right to rounding is right: a variable moved off its bound by that would count as
 * free. */
int ke_dual_make_feasible(ke_solver *s)
{
  const ke_dual *p = s->p;
  double missing = p->total, size = fabs(p->total);
  for (size_t i = 0; i < p->n; i++) {
    s->b[i] = fmin(fmax(s->b[i], p->lower[i]), p->upper[i]);
    missing -= s->b[i];
    size += fabs(s->b[i]);
  }
  const double rounding = (double)p->n * DBL_EPSILON * size;
  if (fabs(missing) > rounding)
    missing = hand_out(s, hand_out(s, missing, 1), 0);
  return fabs(missing) <= rounding;
}

/* q'b, sum |q b|, b'Kb from the gradient, and sum |b|. */
typedef struct {
  double qb, size, bkb, total;
} moments;

static moments measure(const ke_solver *s)
{
  moments m = {0.0, 0.0, 0.0, 0.0};
  const double *q = s->p->linear;
  for (size_t i = 0; i < s->p->n; i++) {
    m.qb += q[i] * s->b[i];
    m.size += fabs(q[i] * s->b[i]);
    m.bkb += s->b[i] * (q[i] - s->g[i]);
    m.total += fabs(s->b[i]);
  }
  return m;
}

static double current_value(const ke_solver *s)
{
  const moments m = measure(s);
  return 0.5 * m.bkb - m.qb;
}

/* A start that is right but for its size: the best multiple of b that the bounds allow. */
static void rescale_start(ke_solver *s)
{
  const ke_dual *p = s->p;
  const moments m = measure(s);
  if (p->total != 0.0 || !(m.bkb > 0.0) || !(m.qb > 0.0))
    return;
  double factor = m.qb / m.bkb;
  for (size_t i = 0; i < p->n; i++) {
    if (p->lower[i] > 0.0 || p->upper[i] < 0.0)
      return;
    if (factor * s->b[i] > p->upper[i])
      factor = p->upper[i] / s->b[i];
    else if (factor * s->b[i] < p->lower[i])
      factor = p->lower[i] / s->b[i];
  }
  for (size_t i = 0; i < p->n; i++) {
    s->g[i] = p->linear[i] - factor * (p->linear[i] - s->g[i]);
    s->b[i] = fmin(fmax(factor * s->b[i], p->lower[i]), p->upper[i]);
  }
}

static int prepare(ke_solver *s)
{
  read_diagonal(s);
  if (!ke_dual_make_feasible(s))
    return 0;
  fresh_gradient(s);
  rescale_start(s);
  for (size_t i = 0; i < s->p->n; i++)
    mark(s, i);
  s->rank = s->face;
  s->batch = ke_pair_batch(s);
  return 1;
}

/* ---- optimality ---------------------------------------------------------------------- */

static double middle(const ke_solver *s, double *violation)
{
  double up = -INFINITY, down = INFINITY;
  for (size_t i = 0; i < s->p->n; i++) {
    up = fmax(up, s->g[i] + s->rise[i]);
    down = fmin(down, s->g[i] + s->fall[i]);
  }
  *violation = up - down;
  if (!isfinite(up))
    return isfinite(down) ? down : 0.0;
  return isfinite(down) ? up + (down - up) / 2.0 : up;
}

/* Smallest theta >= 1 at which all infinite bounds are respected; Inf if there is none. */
static double margin_scale(const ke_solver *s, double mu)
{
  const ke_dual *p = s->p;
  double theta = 1.0;
  for (size_t i = 0; i < p->n; i++) {
    const double e = s->g[i] - mu, q = p->linear[i];
    if (e > 0.0 && p->upper[i] == INFINITY)
      theta = fmax(theta, q > e ? q / (q - e) : INFINITY);
    else if (e < 0.0 && p->lower[i] == -INFINITY)
      theta = fmax(theta, q < e ? q / (q - e) : INFINITY);
  }
  return theta;
}

static double find_gap(const ke_solver *s, double mu, double bkb)
{
  const ke_dual *p = s->p;
  const double theta = margin_scale(s, mu);
  if (theta == INFINITY)
    return INFINITY;
  double gap = 0.5 * (theta - 1.0) * (theta - 1.0) * bkb;
  for (size_t i = 0; i < p->n; i++) {
    const double r = (1.0 - theta) * p->linear[i] + theta * (s->g[i] - mu);
    const double bound = r > 0.0 ? p->upper[i] : p->lower[i];
    if (isfinite(bound))
      gap += r * (bound - s->b[i]);
  }
  return gap;
}

/* Mean gradient over the free variables (eq 15 of the fusion paper for a hard margin). */
static double find_intercept(const ke_solver *s, double otherwise)
{
  double sum = 0.0, weight = 0.0;
  for (size_t i = 0; i < s->p->n; i++)
    if (s->rise[i] == 0.0 && s->fall[i] == 0.0) {
      sum += fabs(s->b[i]) * s->g[i];
      weight += fabs(s->b[i]);
    }
  return weight > 0.0 ? sum / weight : otherwise;
}

ke_status ke_dual_judge(const ke_solver *s, double tol, ke_dual_result *result)
{
  const moments m = measure(s);
  const double mu = middle(s, &result->violation);
  result->value = 0.5 * m.bkb - m.qb;
  result->gap = find_gap(s, mu, m.bkb);
  result->intercept = find_intercept(s, mu);
  result->middle = mu;
  if (!isfinite(result->value) || isnan(result->gap))
    return KE_NOT_FINITE;
  result->scale = m.size + 0.5 * fabs(m.bkb);
  /* the gradient is known to about eps * top * sum |b|, and the gap no better than that allows:
   * without this allowance a solution that is exact to rounding would be called not converged */
  const double blur = DBL_EPSILON / 4.0 * s->top * m.total * m.total;
  return result->gap <= tol * result->scale + blur || result->violation <= 0.0 ? KE_OK
                                                                               : KE_NOT_CONVERGED;
}

/* A batch of pairs and then faces. Whichever lowered the function more for its work is given
 * more of it the next time: faces repay their debt in pairs only if they were the worse. */
static ke_outcome advance(ke_solver *s, double value, ke_dual_result *result)
{
  const size_t longest = ke_pair_batch(s);
  const ke_outcome o = ke_pair_run(s, &result->iterations);
  if (o != KE_MOVED)
    return o;
  const double between = current_value(s);
  double spent;
  if (ke_face_run(s, &result->faces, &spent) == KE_UNBOUNDED)
    return KE_UNBOUNDED;
  if (spent == 0.0)
    return KE_MOVED;
  const double by_pairs = (value - between) / ((double)s->batch * ke_pair_cost(s));
  if ((between - current_value(s)) / spent >= by_pairs) {
    s->batch = s->batch / 2 > 8 ? s->batch / 2 : 8;
  } else {
    s->batch = ke_smaller(2 * s->batch, longest);
    s->credit -= fmin(spent, 8.0 * ke_face_cost(s)); /* a long walk must not ban the next one */
  }
  return KE_MOVED;
}

/* A warm start has most free variables right: its first face comes without delay, if pairs would
 * be expected to cost as much. */
static void trust_start(ke_solver *s)
{
  ke_face_list(s);
  s->credit = s->m > 1 ? 8.0 * (double)s->p->n * ke_pair_cost(s) : 0.0;
}

static ke_status settle(ke_solver *s, const ke_dual_control *control, ke_dual_result *result)
{
  ke_status status = ke_dual_judge(s, control->tol, result);
  const double enough = isfinite(result->gap) ? control->share * result->gap : 0.0;
  int fresh = 1, stuck = 0, idle = 0;
  while (status != KE_NOT_FINITE) {
    if (result->gap <= enough)
      return KE_OK;
    const int ended = stuck || idle >= IDLE;
    if (status == KE_OK || ended) {
      if (fresh)
        return ended && result->gap <= KE_ROUNDED * result->scale ? KE_OK : status;
      fresh_gradient(s);
      fresh = 1, stuck = 0;
      status = ke_dual_judge(s, control->tol, result);
      continue;
    }
    if (result->iterations >= control->max_iter)
      return status;
    const size_t before = result->iterations + result->faces;
    const double value = result->value;
    const ke_outcome o = advance(s, value, result);
    stuck = o == KE_STUCK;
    fresh = fresh && result->iterations + result->faces == before;
    ke_check(s->env);
    status = ke_dual_judge(s, control->tol, result);
    idle = value - result->value > 4.0 * DBL_EPSILON * fabs(value) ? 0 : idle + 1;
    if (o == KE_UNBOUNDED)
      return KE_INFEASIBLE;
  }
  return status;
}

ke_status ke_dual_solve(const ke_dual *problem, const ke_dual_control *control, double *b,
                        double *gradient, ke_dual_result *result, const ke_env *env)
{
  ke_solver s = {0};
  s.p = problem;
  s.env = env;
  s.b = b;
  s.g = gradient;
  memset(result, 0, sizeof *result);
  lend(&s, control);
  if (!prepare(&s))
    return KE_INFEASIBLE;
  trust_start(&s);
  return settle(&s, control, result);
}
