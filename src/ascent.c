/* Maximisation of a criterion over scale factors w >= 0.
 *
 * ke_lbfgs: limited-memory BFGS in v = w^2 >= 0. Coordinates at zero whose gradient points
 * outwards are held; the two-loop recursion runs on the others; steps are projected on the
 * bound and shortened until the value rises enough (Armijo). In v zero is not absorbing: the
 * gradient by v brings a column back, the one by w could not. Scale factors end up to a million
 * times apart, so the recursion starts from a metric that grows with v. The search stops where
 * neither the value changes nor the projected gradient promises a change. But a function of
 * distances, not their squares, has a kink at zero wherever rows are equal in the other columns, to
 * which the gradient is blind, and bends without bound beside it: where that stops the search, it
 * goes on with the least coordinates held. ke_ascend: plain gradient ascent in w with backtracking;
 * a step is cut so that every w stays within [w/10, 10 w], which keeps the order of the weights
 * that the gradient gives. Both see a value and a gradient, never a kernel. Memory O(d KE_MEMORY).
 * Ramona, Richard and David, Algorithm 1; Nocedal and Wright (2006), sections 7.2, 16.7.
 */

#include "ascent.h"

#include "vector.h"

#include <math.h>
#include <string.h>

#define SUFFICIENT 1e-4 /* share of the promised rise that a step must bring */
#define PATIENCE 3      /* small changes in a row before a search stops */
#define REACH 0.1       /* of the first step, relative to the largest v */
#define FLOOR 3e-3      /* share of the largest v that counts as the size of a smaller one */
#define PROMISE 100     /* times tol: relative change that the projected gradient may promise */
#define RISING 1e-15    /* relative rise that rounding of the value would hide */
#define SHORTEST 1e-14  /* step, relative to the first one tried, where backtracking gives up */

/* Both only choose the way: where a search ends is judged by the rise and the gradient. */
#define CURVED 1e-10 /* cosine of move and turn below which a pair is rounding, not curvature */
#define KINKS 1e-4   /* share of the largest v up to which a kinked search holds coordinates */

static double largest(const double *x, size_t n)
{
  double best = 0.0;
  for (size_t i = 0; i < n; i++)
    best = fabs(x[i]) > best ? fabs(x[i]) : best;
  return best;
}

static void roots(const double *v, double *w, size_t d)
{
  for (size_t i = 0; i < d; i++)
    w[i] = sqrt(v[i]);
}

static int small_change(double before, double after, double tol)
{
  return fabs(after - before) <= tol * fabs(after);
}

static void record(ke_search *s, const double *before, const double *after, size_t d)
{
  double sum = 0.0;
  for (size_t i = 0; i < d; i++)
    sum += (after[i] - before[i]) * (after[i] - before[i]);
  s->iterations++;
  s->values[s->iterations] = s->value;
  s->steps[s->iterations] = sqrt(sum);
}

static ke_status begin(const ke_objective *f, ke_search *s, const double *w)
{
  const ke_status status = f->evaluate(f->data, w, &s->value, s->gradient);
  s->iterations = 0;
  s->values[0] = s->value;
  s->steps[0] = 0.0;
  return status;
}

/* ---- limited-memory BFGS ------------------------------------------------------------ */

typedef struct {
  size_t d, stored, next;
  double reach; /* of a step without memory, relative to the largest v */
  double hold;  /* coordinates up to this stay where they are; 0: none does */
  double *v, *trial, *trial_w, *trial_gradient, *direction, *metric; /* d */
  double *move, *turn; /* d x KE_MEMORY: changes of v and of -gradient */
} memory;

size_t ke_search_work(size_t d) { return d * (6 + 2 * KE_MEMORY); }

static memory memory_at(double *work, size_t d)
{
  const memory m = {d,
                    0,
                    0,
                    REACH,
                    0.0,
                    work,
                    work + d,
                    work + 2 * d,
                    work + 3 * d,
                    work + 4 * d,
                    work + 5 * d,
                    work + 6 * d,
                    work + (6 + KE_MEMORY) * d};
  return m;
}

/* Inner product over the coordinates that may move: where `free` is not zero. */
static double free_dot(const double *a, const double *b, const double *free, size_t d)
{
  double sum = 0.0;
  for (size_t i = 0; i < d; i++)
    sum += free[i] != 0.0 ? a[i] * b[i] : 0.0;
  return sum;
}

/* |a|^2 in the metric, over the same. */
static double metric_square(const memory *m, const double *a, const double *free)
{
  double sum = 0.0;
  for (size_t i = 0; i < m->d; i++)
    sum += free[i] != 0.0 ? m->metric[i] * a[i] * a[i] : 0.0;
  return sum;
}

static size_t pair_at(const memory *m, size_t age)
{
  return (m->next + KE_MEMORY - 1 - age) % KE_MEMORY;
}

/* Size of a coordinate: what its move is measured by. */
static double size_of(double v, double top) { return v + FLOOR * top; }

/* Between the metric of log v (power 2) and that of w (power 1): both ends take more steps, the
 * first where all are alike, the second where they are far apart. */
static void set_metric(memory *m)
{
  const double top = largest(m->v, m->d);
  for (size_t i = 0; i < m->d; i++) {
    const double size = size_of(m->v[i], top);
    m->metric[i] = size * sqrt(size);
  }
}

/* Largest change of the value, to first order, that one coordinate promises if it moves by its
 * own size, inside the bound. */
static double promise(const memory *m, const double *gradient)
{
  const double top = largest(m->v, m->d);
  double most = 0.0;
  for (size_t i = 0; i < m->d; i++) {
    const double change =
        gradient[i] > 0.0 ? gradient[i] * size_of(m->v[i], top) : -gradient[i] * m->v[i];
    most = change > most ? change : most;
  }
  return most;
}

/* direction (holding the gradient, 0 where held) becomes the quasi-Newton direction; pairs
 * without curvature among the free coordinates are passed over. 0 when none has any. */
static int two_loop(memory *m, const double *free)
{
  double share[KE_MEMORY] = {0}, curve[KE_MEMORY], scale = 0.0;
  double *q = m->direction;
  for (size_t age = 0; age < m->stored; age++) {
    const double *s = m->move + pair_at(m, age) * m->d, *y = m->turn + pair_at(m, age) * m->d;
    const double lengths = free_dot(s, s, free, m->d) * free_dot(y, y, free, m->d);
    curve[age] = free_dot(s, y, free, m->d);
    if (!(curve[age] > CURVED * sqrt(lengths))) {
      curve[age] = 0.0;
      continue;
    }
    if (scale == 0.0)
      scale = curve[age] / metric_square(m, y, free);
    share[age] = free_dot(s, q, free, m->d) / curve[age];
    for (size_t i = 0; i < m->d; i++)
      q[i] -= free[i] != 0.0 ? share[age] * y[i] : 0.0;
  }
  if (scale == 0.0)
    return 0;
  for (size_t i = 0; i < m->d; i++)
    q[i] *= scale * m->metric[i];
  for (size_t age = m->stored; age-- > 0;) {
    if (curve[age] == 0.0)
      continue;
    const double *s = m->move + pair_at(m, age) * m->d, *y = m->turn + pair_at(m, age) * m->d;
    const double gap = share[age] - free_dot(y, q, free, m->d) / curve[age];
    for (size_t i = 0; i < m->d; i++)
      q[i] += free[i] != 0.0 ? gap * s[i] : 0.0;
  }
  return 1;
}

/* The free gradient; `trial` marks the free coordinates meanwhile. */
static void free_gradient(memory *m, const double *gradient)
{
  for (size_t i = 0; i < m->d; i++) {
    m->trial[i] = m->v[i] > m->hold || (gradient[i] > 0.0 && m->hold == 0.0) ? 1.0 : 0.0;
    m->direction[i] = m->trial[i] != 0.0 ? gradient[i] : 0.0;
  }
}

/* The kind of direction: none (0), quasi-Newton (1), or the gradient (2), where the function
 * bends upwards or nothing is known yet; that one is as long as `reach` allows. */
static int set_direction(memory *m, const double *gradient)
{
  free_gradient(m, gradient);
  if (!(largest(m->direction, m->d) > 0.0))
    return 0;
  set_metric(m);
  if (m->stored) {
    if (two_loop(m, m->trial) && ke_dot(m->direction, gradient, m->d) > 0.0)
      return 1;
    free_gradient(m, gradient);
  }
  for (size_t i = 0; i < m->d; i++)
    m->direction[i] *= m->metric[i];
  const double scale = m->reach * largest(m->v, m->d) / largest(m->direction, m->d);
  for (size_t i = 0; i < m->d; i++)
    m->direction[i] *= scale;
  return 2;
}

/* Backtrack along the projected direction: the share of it with enough rise, 0 when none. */
static double line_search(const ke_objective *f, const ke_search *s, memory *m, double *value)
{
  for (double t = 1.0; t > SHORTEST; t *= 0.5) {
    double promised = 0.0;
    for (size_t i = 0; i < m->d; i++) {
      const double to = m->v[i] + t * m->direction[i];
      m->trial[i] = to > 0.0 ? to : 0.0;
      promised += s->gradient[i] * (m->trial[i] - m->v[i]);
    }
    roots(m->trial, m->trial_w, m->d);
    if (f->evaluate(f->data, m->trial_w, value, m->trial_gradient) == KE_OK &&
        *value >= s->value + SUFFICIENT * promised && *value > s->value)
      return t;
    if (promised <= RISING * fabs(s->value))
      break;
  }
  return 0.0;
}

static void accept(ke_search *s, memory *m, double *w, double value)
{
  double *move = m->move + m->next * m->d, *turn = m->turn + m->next * m->d;
  for (size_t i = 0; i < m->d; i++) {
    move[i] = m->trial[i] - m->v[i];
    turn[i] = s->gradient[i] - m->trial_gradient[i];
  }
  m->next = (m->next + 1) % KE_MEMORY;
  m->stored = m->stored < KE_MEMORY ? m->stored + 1 : KE_MEMORY;
  s->value = value;
  record(s, w, m->trial_w, m->d);
  memcpy(s->gradient, m->trial_gradient, m->d * sizeof(double));
  memcpy(m->v, m->trial, m->d * sizeof(double));
  memcpy(w, m->trial_w, m->d * sizeof(double));
}

/* Another start where a kinked search was stopped, unless the last one brought too little. */
static int start_again(const ke_search *s, memory *m, double *last)
{
  if (!s->kinked || !(s->value - *last > PATIENCE * s->tol * fabs(s->value)))
    return 0;
  m->hold = KINKS * largest(m->v, m->d);
  m->stored = 0;
  m->reach = REACH;
  *last = s->value;
  return 1;
}

/* Whether the gradient agrees that this is the top; a kinked function has none that could. */
static int settled(const ke_search *s, const memory *m)
{
  return s->kinked || promise(m, s->gradient) <= PROMISE * s->tol * fabs(s->value);
}

ke_status ke_lbfgs(const ke_objective *f, ke_search *s, double *w, double *work)
{
  double last = -HUGE_VAL; /* value at the last start */
  memory m = memory_at(work, f->d);
  for (size_t i = 0; i < f->d; i++)
    m.v[i] = w[i] * w[i];
  const ke_status status = begin(f, s, w);
  if (status != KE_OK)
    return status;
  for (int small = 0; s->iterations < s->max_iter;) {
    double value = 0.0;
    const int kind = set_direction(&m, s->gradient);
    if (kind == 0)
      return KE_OK;
    const double share = line_search(f, s, &m, &value);
    if (share == 0.0 && kind == 2 && !start_again(s, &m, &last))
      return KE_OK; /* not even the gradient leads up: rounding has the last word */
    if (share == 0.0) {
      m.stored = 0;
      continue;
    }
    if (kind == 2)
      m.reach = share == 1.0 && m.reach < 0.5 ? 2.0 * m.reach : share * m.reach;
    small = small_change(s->value, value, s->tol) ? small + 1 : 0;
    accept(s, &m, w, value);
    if (small < PATIENCE || !settled(s, &m))
      continue;
    if (!start_again(s, &m, &last))
      return KE_OK;
    small = 0;
  }
  return KE_NOT_CONVERGED;
}

/* ---- plain gradient ascent ----------------------------------------------------------- */

/* Longest step along g (by w) that keeps every w within [w/10, 10 w]. */
static double longest_step(const double *w, const double *g, size_t d)
{
  double longest = HUGE_VAL;
  for (size_t i = 0; i < d; i++) {
    const double room =
        g[i] < 0.0 ? 0.9 * w[i] / -g[i] : (g[i] > 0.0 ? 9.0 * w[i] / g[i] : HUGE_VAL);
    longest = room < longest ? room : longest;
  }
  return longest;
}

ke_status ke_ascend(const ke_objective *f, ke_search *s, double *w, double *work)
{
  const size_t d = f->d;
  double *g = work, *trial = work + d, *trial_gradient = work + 2 * d, step = HUGE_VAL;
  const ke_status status = begin(f, s, w);
  if (status != KE_OK)
    return status;
  for (int small = 0; s->iterations < s->max_iter;) {
    double value = s->value;
    for (size_t i = 0; i < d; i++)
      g[i] = 2.0 * w[i] * s->gradient[i];
    const double slope = ke_dot(g, g, d), cap = longest_step(w, g, d);
    step = 2.0 * step < cap ? 2.0 * step : cap;
    if (!isfinite(slope))
      return KE_NOT_FINITE;
    if (slope == 0.0 || !isfinite(step))
      return KE_OK;
    for (const double shortest = step * SHORTEST;; step *= 0.5) {
      if (step <= shortest) /* or both are zero */
        return KE_OK;
      for (size_t i = 0; i < d; i++)
        trial[i] = w[i] + step * g[i];
      if (f->evaluate(f->data, trial, &value, trial_gradient) == KE_OK &&
          value >= s->value + SUFFICIENT * step * slope)
        break;
    }
    small = small_change(s->value, value, s->tol) ? small + 1 : 0;
    s->value = value;
    record(s, w, trial, d);
    memcpy(w, trial, d * sizeof(double));
    memcpy(s->gradient, trial_gradient, d * sizeof(double));
    if (small == PATIENCE)
      return KE_OK;
  }
  return KE_NOT_CONVERGED;
}
