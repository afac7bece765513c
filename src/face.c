/* Faces of the dual program (dual.c): a step of all free variables at once.
 *
 * Pairs creep once the free variables are known but K is ill-conditioned on them, and
 * on a hard margin that does not exist they creep for ever. So when pairs have cost as much as
 * it would, all m free variables move at once to the minimum on their face, by a pivoted
 * Cholesky factor of K on their differences, O(m rank^2). Variables beyond the rank make rays:
 * directions with K d = 0. Along a ray on which f falls, b moves until a bound stops it, at no
 * cost in g; a ray that no bound stops proves the program unbounded.
 */
#include "blas.h"
#include "dense.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double room_of(const ke_solver *s, size_t i)
{
  return fmin(s->b[i] - s->p->lower[i], s->p->upper[i] - s->b[i]);
}

void ke_face_list(ke_solver *s)
{
  size_t at = 0;
  s->m = 0;
  for (size_t i = 0; i < s->p->n; i++)
    if (s->rise[i] == 0.0 && s->fall[i] == 0.0) {
      if (s->m && room_of(s, i) > room_of(s, s->free[at]))
        at = s->m;
      s->free[s->m++] = i;
    }
  if (s->m) {
    s->pin = s->free[at];
    s->free[at] = s->free[--s->m];
  }
}

double ke_face_cost(const ke_solver *s)
{
  const double m = (double)s->m, n = (double)s->p->n, r = (double)ke_smaller(s->rank, s->m);
  return m * r * (r + 16.0) + 2.0 * n * r;
}

static void swap_rows(ke_solver *s, size_t i, size_t j, size_t columns)
{
  const size_t ld = s->p->n, f = s->free[i];
  const double r = s->residual[i], p = s->pinned[i];
  s->free[i] = s->free[j], s->free[j] = f;
  s->residual[i] = s->residual[j], s->residual[j] = r;
  s->pinned[i] = s->pinned[j], s->pinned[j] = p;
  for (size_t k = 0; k < columns; k++) {
    const double v = s->l[i + k * ld];
    s->l[i + k * ld] = s->l[j + k * ld];
    s->l[j + k * ld] = v;
  }
}

static size_t largest_residual(const ke_solver *s, size_t from)
{
  size_t best = from;
  for (size_t i = from + 1; i < s->m; i++)
    if (s->residual[i] > s->residual[best])
      best = i;
  return best;
}

/* Column k of the factor, of H_ij = K_ij - K_ip - K_jp + K_pp with p the pin. */
static void factor_column(ke_solver *s, size_t k)
{
  const size_t ld = s->p->n, rest = s->m - k - 1;
  const double *kk = ke_dual_column(s, s->free[k]), root = sqrt(s->residual[k]);
  const double base = s->diagonal[s->pin] - s->pinned[k];
  double *l = s->l + k * ld;
  l[k] = root;
  for (size_t i = k + 1; i < s->m; i++)
    l[i] = kk[s->free[i]] - s->pinned[i] + base;
  if (rest && k)
    ke_gemv('N', -1.0, (ke_dense){s->l + k + 1, rest, k, ld}, s->l + k, ld, 1.0, l + k + 1);
  for (size_t i = k + 1; i < s->m; i++) {
    l[i] /= root;
    s->residual[i] -= l[i] * l[i];
  }
}

/* Factorises the face; 0 if its rank is beyond what was lent. */
static int factor_face(ke_solver *s)
{
  const double tol = 4.0 * (double)(s->m + 1) * DBL_EPSILON * s->top;
  const double *kp = ke_dual_column(s, s->pin);
  for (size_t i = 0; i < s->m; i++) {
    const size_t f = s->free[i];
    s->pinned[i] = kp[f];
    s->residual[i] = s->diagonal[f] - 2.0 * kp[f] + s->diagonal[s->pin];
  }
  for (s->rank = 0; s->rank < s->m; s->rank++) {
    const size_t best = largest_residual(s, s->rank);
    if (!(s->residual[best] > tol))
      break;
    if (s->rank == s->face)
      return 0;
    swap_rows(s, s->rank, best, s->rank);
    factor_column(s, s->rank);
    if (s->rank % 64 == 0)
      ke_check(s->env);
  }
  return 1;
}

/* Direction into d: the fall along all rays (1) or, where there is none, the step to the
 * minimum on the face (0). */
static int face_direction(ke_solver *s)
{
  const size_t ld = s->p->n, rank = s->rank, flat = s->m - rank;
  const double pin = s->g[s->pin];
  double *d = s->d, size = fabs(pin), steep = 0.0;
  for (size_t k = 0; k < s->m; k++) {
    d[k] = s->g[s->free[k]] - pin;
    size = fmax(size, fabs(d[k] + pin));
  }
  ke_trsv_lower('N', rank, s->l, ld, d);
  if (flat && rank)
    ke_gemv('N', -1.0, (ke_dense){s->l + rank, flat, rank, ld}, d, 1, 1.0, d + rank);
  for (size_t k = rank; k < s->m; k++)
    steep = fmax(steep, fabs(d[k]));
  const int ray = steep > 1e-8 * size;
  if (ray && rank)
    ke_gemv('T', -1.0, (ke_dense){s->l + rank, flat, rank, ld}, d + rank, 1, 0.0, d);
  if (!ray)
    memset(d + rank, 0, flat * sizeof(double));
  ke_trsv_lower('T', rank, s->l, ld, d);
  return ray;
}

static double pin_direction(const ke_solver *s)
{
  double sum = 0.0;
  for (size_t k = 0; k < s->m; k++)
    sum -= s->d[k];
  return sum;
}

static double room_along(const ke_solver *s, size_t i, double d)
{
  if (d == 0.0)
    return INFINITY;
  return ((d > 0.0 ? s->p->upper[i] : s->p->lower[i]) - s->b[i]) / d;
}

/* How far along d the bounds allow; `first` is the place in `free` that stops it, m the pin. */
static double face_room(const ke_solver *s, double pin, size_t *first)
{
  double room = room_along(s, s->pin, pin);
  *first = s->m;
  for (size_t k = 0; k < s->m; k++) {
    const double t = room_along(s, s->free[k], s->d[k]);
    if (t < room) {
      room = t;
      *first = k;
    }
  }
  return room;
}

/* b_i += t d, held inside its bounds; onto the bound if this one stops the step. */
static double slide(ke_solver *s, size_t i, double d, double t, int stops)
{
  const double old = s->b[i], bound = d > 0.0 ? s->p->upper[i] : s->p->lower[i];
  const double to = old + t * d;
  ke_dual_put(s, i, stops || (d > 0.0 ? to > bound : to < bound) ? bound : to);
  return s->b[i] - old;
}

static void lower_gradient(ke_solver *s, size_t i, double step)
{
  const double *k = ke_dual_column(s, i);
  for (size_t l = 0; step != 0.0 && l < s->p->n; l++)
    s->g[l] -= step * k[l];
}

/* Rays change no gradient, steps to the minimum move the independent variables only. */
static void move_face(ke_solver *s, double pin, double t, size_t first, int ray)
{
  for (size_t k = 0; k < s->m; k++) {
    const double step = slide(s, s->free[k], s->d[k], t, k == first);
    if (!ray)
      lower_gradient(s, s->free[k], step);
  }
  const double step = slide(s, s->pin, pin, t, first == s->m);
  if (!ray)
    lower_gradient(s, s->pin, step);
}

/* Whether a ray is flat beyond doubt. The thresholds of this file decide how the next step is made,
 * along a ray, to a minimum or by a pair: each is one down hill, and the gap judges the end. */
static int is_flat(ke_solver *s, double pin)
{
  double dkd = 0.0, size = fabs(pin);
  s->free[s->m] = s->pin;
  s->d[s->m] = pin;
  for (size_t k = 0; k <= s->m; k++) {
    const double *ki = ke_dual_column(s, s->free[k]);
    double sum = 0.0;
    for (size_t l = 0; l <= s->m; l++)
      sum += ki[s->free[l]] * s->d[l];
    dkd += sum * s->d[k];
    size += fabs(s->d[k]);
  }
  return dkd <= 1e-11 * s->top * size * size;
}

/* Steps on one factor of the face. KE_MOVED: a bound was met, the face is a smaller one now. */
static ke_outcome walk_face(ke_solver *s)
{
  for (;;) {
    size_t first;
    const int ray = face_direction(s);
    const double pin = pin_direction(s), room = face_room(s, pin, &first);
    if (isnan(pin) || (!ray && isnan(room)))
      return KE_STUCK;
    if (ray && room == INFINITY)
      return is_flat(s, pin) ? KE_UNBOUNDED : KE_STUCK;
    const int stopped = ray || room < 1.0;
    move_face(s, pin, stopped ? room : 1.0, stopped ? first : NOWHERE, ray);
    if (!stopped)
      return KE_STUCK;
    if (first < s->rank || first == s->m)
      return KE_MOVED;
    swap_rows(s, first, s->m - 1, s->rank);
    s->m--;
  }
}

ke_outcome ke_face_run(ke_solver *s, size_t *done, double *spent)
{
  ke_outcome o = KE_MOVED;
  *spent = 0.0;
  while (o == KE_MOVED) {
    ke_face_list(s);
    const double cost = ke_face_cost(s);
    if (s->m < 1 || !s->face || (*spent == 0.0 && cost > s->credit))
      return KE_MOVED;
    ke_check(s->env);
    *spent += cost;
    o = factor_face(s) ? walk_face(s) : KE_STUCK;
    ++*done;
  }
  return o;
}
