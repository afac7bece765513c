/* Quadratic programs with boxes and one sum:
 *
 *   minimise f(b) = 1/2 b'Kb - q'b,   sum(b) = total,   lower <= b <= upper
 *
 * Pairs (SMO): with the gradient g = q - Kb, raise the i of largest g among those that may
 * grow and lower the j that promises the largest gain (g_i - g_j)^2 / (2 eta), eta = K_ii +
 * K_jj - 2 K_ij (second-order choice: Fan, Chen and Lin, JMLR 6, 2005). O(n) a step.
 *
 * Faces: pairs creep once the free variables are known but K is ill-conditioned on them, and
 * on a hard margin that does not exist they creep for ever. So when pairs have cost as much as
 * it would, all m free variables move at once to the minimum on their face, by a pivoted
 * Cholesky factor of K on their differences, O(m rank^2). Variables beyond the rank make rays:
 * directions with K d = 0. Along a ray on which f falls, b moves until a bound stops it, at no
 * cost in g; a ray that no bound stops proves the program unbounded.
 *
 * Gap: for any mu and theta, w = theta b is a point of the dual program, r = q - theta (Kb + mu)
 * and gap = 1/2 (theta - 1)^2 b'Kb + sum_i max_c (c - b_i) r_i, c in [lower_i, upper_i]: every
 * term is >= 0. theta > 1 only where infinite bounds ask for r_i <= 0 (a rescaled margin).
 */
#include "kernelect.h"

#include "blas.h"
#include "simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Relative gap that counts as solved where rounding allows no further step: none at all, or
 * none that shows in the value, so many batches in a row. */
#define ROUNDED 1e-8
#define IDLE 20
#define NOWHERE ((size_t)-1)

typedef struct {
  const ke_dual *p;
  const ke_env *env;
  double *b, *g;
  double *rise; /* 0 where b may grow, else -Inf */
  double *fall; /* 0 where b may shrink, else Inf */
  double *diagonal;
  double top; /* largest diagonal entry */
  /* cache of columns */
  size_t columns, clock;
  double *store;
  size_t *slot, *owner, *stamp; /* n, columns, columns */
  /* faces: free[0..rank) are independent, free[rank..m) depend on them, `pin` carries the sum */
  size_t face, m, rank, pin;
  double *l, *d, *residual, *pinned; /* n x face, n, n, n */
  size_t *free;                      /* n */
  double credit;                     /* work done in pairs and not yet matched by faces */
  size_t batch;                      /* pairs between faces */
} state;

typedef enum { MOVED, STUCK, UNBOUNDED } outcome;

size_t ke_dual_doubles(size_t n, size_t columns, size_t face)
{
  return n * (6 + columns + face);
}

size_t ke_dual_indices(size_t n, size_t columns)
{
  return 2 * n + 2 * columns;
}

static void lend(state *s, const ke_dual_control *control)
{
  const size_t n = s->p->n;
  s->columns = s->p->k ? 0 : control->columns;
  s->face = control->face;
  double *at = control->doubles;
  s->rise = at, at += n;
  s->fall = at, at += n;
  s->diagonal = at, at += n;
  s->d = at, at += n;
  s->store = at, at += n * s->columns;
  s->residual = at, at += n;
  s->pinned = at, at += n;
  s->l = at;
  s->free = control->indices;
  s->slot = s->free + n;
  s->owner = s->slot + n;
  s->stamp = s->owner + s->columns;
}

/* ---- columns -------------------------------------------------------------------- */

static size_t oldest(const state *s)
{
  size_t best = 0;
  for (size_t c = 1; c < s->columns; c++)
    if (s->stamp[c] < s->stamp[best])
      best = c;
  return best;
}

/* Column j of K; the last two asked for stay valid. */
static const double *column(state *s, size_t j)
{
  const size_t n = s->p->n;
  if (s->p->k)
    return s->p->k + j * s->p->ldk;
  if (s->slot[j] == NOWHERE) {
    const size_t c = oldest(s);
    if (s->owner[c] != NOWHERE)
      s->slot[s->owner[c]] = NOWHERE;
    ke_check(s->env);
    s->p->column(s->p->data, j, s->store + c * n);
    s->owner[c] = j;
    s->slot[j] = c;
  }
  s->stamp[s->slot[j]] = ++s->clock;
  return s->store + s->slot[j] * n;
}

static void empty_cache(state *s)
{
  s->clock = 0;
  for (size_t j = 0; j < s->p->n; j++)
    s->slot[j] = NOWHERE;
  for (size_t c = 0; c < s->columns; c++) {
    s->owner[c] = NOWHERE;
    s->stamp[c] = 0;
  }
}

static void read_diagonal(state *s)
{
  const ke_dual *p = s->p;
  s->top = 0.0;
  for (size_t i = 0; i < p->n; i++) {
    s->diagonal[i] = p->diagonal ? p->diagonal[i] : p->k[i + i * p->ldk];
    s->top = fmax(s->top, s->diagonal[i]);
  }
}

/* g = q - K b */
static void fresh_gradient(state *s)
{
  const size_t n = s->p->n;
  size_t used = 0;
  memcpy(s->g, s->p->linear, n * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    if (s->b[j] == 0.0)
      continue;
    const double *k = column(s, j), b = s->b[j];
    for (size_t i = 0; i < n; i++)
      s->g[i] -= b * k[i];
    if (++used % 64 == 0)
      ke_check(s->env);
  }
}

/* ---- start ------------------------------------------------------------------------ */

static void mark(state *s, size_t i)
{
  s->rise[i] = s->b[i] < s->p->upper[i] ? 0.0 : -INFINITY;
  s->fall[i] = s->b[i] > s->p->lower[i] ? 0.0 : INFINITY;
}

/* Puts b into its bounds and then, from the first variable on, corrects the sum. */
static int make_feasible(state *s)
{
  const ke_dual *p = s->p;
  double missing = p->total, size = fabs(p->total);
  for (size_t i = 0; i < p->n; i++) {
    s->b[i] = fmin(fmax(s->b[i], p->lower[i]), p->upper[i]);
    missing -= s->b[i];
    size += fabs(s->b[i]);
  }
  for (size_t i = 0; i < p->n && missing != 0.0; i++) {
    const double b = fmin(fmax(s->b[i] + missing, p->lower[i]), p->upper[i]);
    missing -= b - s->b[i];
    s->b[i] = b;
  }
  return fabs(missing) <= (double)p->n * DBL_EPSILON * size;
}

/* q'b, sum |q b|, b'Kb from the gradient, and sum |b|. */
typedef struct {
  double qb, size, bkb, total;
} moments;

static moments measure(const state *s)
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

static double current_value(const state *s)
{
  const moments m = measure(s);
  return 0.5 * m.bkb - m.qb;
}

/* A start that is right but for its size: the best multiple of b that the bounds allow. */
static void rescale_start(state *s)
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

/* Pairs between two looks at the gap: few enough for an interrupt to be answered at once. */
static size_t longest_batch(const state *s)
{
  const size_t n = s->p->n > 1 ? s->p->n : 1, wanted = 32 + n / 8, most = 16 + 10000000 / n;
  return wanted < most ? wanted : most;
}

static int prepare(state *s)
{
  read_diagonal(s);
  empty_cache(s);
  if (!make_feasible(s))
    return 0;
  fresh_gradient(s);
  rescale_start(s);
  for (size_t i = 0; i < s->p->n; i++)
    mark(s, i);
  s->rank = s->face;
  s->batch = longest_batch(s);
  return 1;
}

/* ---- pairs ------------------------------------------------------------------------- */

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
    if (l->best[k] > p.value || (l->best[k] == p.value && l->best[k] > least &&
                                 (size_t)l->at[k] < p.at)) {
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

static size_t find_partner(state *s, size_t i)
{
  peak best;
  const search q = {s->p->n,     s->g,    s->fall,          column(s, i),
                    s->diagonal, s->g[i], s->diagonal[i], DBL_EPSILON * s->top + DBL_MIN};
  partner(&q, &best);
  return best.at;
}

static void put(state *s, size_t i, double value)
{
  s->b[i] = value;
  mark(s, i);
}

/* Moves b from j to i as far as curvature and bounds allow, and finds the next riser. */
static outcome step_pair(state *s, size_t i, size_t j, size_t *next)
{
  const ke_dual *p = s->p;
  const double *ki = column(s, i), *kj = column(s, j), sum = s->diagonal[i] + s->diagonal[j];
  const double eta = sum - 2.0 * ki[j];
  const double room_i = p->upper[i] - s->b[i], room_j = s->b[j] - p->lower[j];
  const double bound = room_i < room_j ? room_i : room_j;
  double t = eta > 4.0 * DBL_EPSILON * sum ? (s->g[i] - s->g[j]) / eta : INFINITY;
  if (t == INFINITY && bound == INFINITY)
    return UNBOUNDED;
  t = t < bound ? t : bound;
  if (s->b[i] + t == s->b[i] && s->b[j] - t == s->b[j])
    return STUCK;
  put(s, i, t == room_i ? p->upper[i] : s->b[i] + t);
  put(s, j, t == room_j ? p->lower[j] : s->b[j] - t);
  peak top;
  const update u = {p->n, s->g, s->rise, ki, kj, t};
  shift(&u, &top);
  *next = top.at;
  return MOVED;
}

static size_t first_riser(state *s)
{
  peak top;
  const update nothing = {s->p->n, s->g, s->rise, s->diagonal, s->diagonal, 0.0};
  shift(&nothing, &top);
  return top.at;
}

/* Work in units of about one flop; a pair reads two columns and four vectors. */
static double pair_cost(const state *s)
{
  return 3.0 * (double)s->p->n;
}

static outcome run_pairs(state *s, size_t *done)
{
  size_t i = first_riser(s);
  for (size_t k = 0; k < s->batch; k++) {
    const size_t j = i < s->p->n ? find_partner(s, i) : i;
    if (j == s->p->n)
      return STUCK;
    const outcome o = step_pair(s, i, j, &i);
    if (o != MOVED)
      return o;
    ++*done;
  }
  s->credit += (double)s->batch * pair_cost(s);
  return MOVED;
}

/* ---- faces --------------------------------------------------------------------------- */

static double room_of(const state *s, size_t i)
{
  return fmin(s->b[i] - s->p->lower[i], s->p->upper[i] - s->b[i]);
}

/* Lists the free variables; the one farthest from its bounds becomes the pin. */
static void list_free(state *s)
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

static double face_cost(const state *s)
{
  const double m = (double)s->m, n = (double)s->p->n, r = (double)(s->rank < s->m ? s->rank : s->m);
  return m * r * (r + 16.0) + 2.0 * n * r;
}

static void swap_rows(state *s, size_t i, size_t j, size_t columns)
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

static size_t largest_residual(const state *s, size_t from)
{
  size_t best = from;
  for (size_t i = from + 1; i < s->m; i++)
    if (s->residual[i] > s->residual[best])
      best = i;
  return best;
}

/* Column k of the factor, of H_ij = K_ij - K_ip - K_jp + K_pp with p the pin. */
static void factor_column(state *s, size_t k)
{
  const size_t ld = s->p->n, rest = s->m - k - 1;
  const double *kk = column(s, s->free[k]), root = sqrt(s->residual[k]);
  const double base = s->diagonal[s->pin] - s->pinned[k];
  double *l = s->l + k * ld;
  l[k] = root;
  for (size_t i = k + 1; i < s->m; i++)
    l[i] = kk[s->free[i]] - s->pinned[i] + base;
  if (rest && k)
    ke_gemv('N', rest, k, -1.0, s->l + k + 1, ld, s->l + k, ld, 1.0, l + k + 1);
  for (size_t i = k + 1; i < s->m; i++) {
    l[i] /= root;
    s->residual[i] -= l[i] * l[i];
  }
}

/* Factorises the face; 0 if its rank is beyond what was lent. */
static int factor_face(state *s)
{
  const double tol = 4.0 * (double)(s->m + 1) * DBL_EPSILON * s->top;
  const double *kp = column(s, s->pin);
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
static int face_direction(state *s)
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
    ke_gemv('N', flat, rank, -1.0, s->l + rank, ld, d, 1, 1.0, d + rank);
  for (size_t k = rank; k < s->m; k++)
    steep = fmax(steep, fabs(d[k]));
  const int ray = steep > 1e-8 * size;
  if (ray && rank)
    ke_gemv('T', flat, rank, -1.0, s->l + rank, ld, d + rank, 1, 0.0, d);
  if (!ray)
    memset(d + rank, 0, flat * sizeof(double));
  ke_trsv_lower('T', rank, s->l, ld, d);
  return ray;
}

static double pin_direction(const state *s)
{
  double sum = 0.0;
  for (size_t k = 0; k < s->m; k++)
    sum -= s->d[k];
  return sum;
}

static double room_along(const state *s, size_t i, double d)
{
  if (d == 0.0)
    return INFINITY;
  return ((d > 0.0 ? s->p->upper[i] : s->p->lower[i]) - s->b[i]) / d;
}

/* How far along d the bounds allow; `first` is the place in `free` that stops it, m the pin. */
static double face_room(const state *s, double pin, size_t *first)
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
static double slide(state *s, size_t i, double d, double t, int stops)
{
  const double old = s->b[i], bound = d > 0.0 ? s->p->upper[i] : s->p->lower[i];
  const double to = old + t * d;
  put(s, i, stops || (d > 0.0 ? to > bound : to < bound) ? bound : to);
  return s->b[i] - old;
}

static void lower_gradient(state *s, size_t i, double step)
{
  const double *k = column(s, i);
  for (size_t l = 0; step != 0.0 && l < s->p->n; l++)
    s->g[l] -= step * k[l];
}

/* Rays change no gradient, steps to the minimum move the independent variables only. */
static void move_face(state *s, double pin, double t, size_t first, int ray)
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

/* Whether a ray is flat beyond doubt. */
static int is_flat(state *s, double pin)
{
  double dkd = 0.0, size = fabs(pin);
  s->free[s->m] = s->pin;
  s->d[s->m] = pin;
  for (size_t k = 0; k <= s->m; k++) {
    const double *ki = column(s, s->free[k]);
    double sum = 0.0;
    for (size_t l = 0; l <= s->m; l++)
      sum += ki[s->free[l]] * s->d[l];
    dkd += sum * s->d[k];
    size += fabs(s->d[k]);
  }
  return dkd <= 1e-11 * s->top * size * size;
}

/* Steps on one factor of the face. MOVED: a bound was met, the face is a smaller one now. */
static outcome walk_face(state *s)
{
  for (;;) {
    size_t first;
    const int ray = face_direction(s);
    const double pin = pin_direction(s), room = face_room(s, pin, &first);
    if (isnan(pin) || (!ray && isnan(room)))
      return STUCK;
    if (ray && room == INFINITY)
      return is_flat(s, pin) ? UNBOUNDED : STUCK;
    const int stopped = ray || room < 1.0;
    move_face(s, pin, stopped ? room : 1.0, stopped ? first : NOWHERE, ray);
    if (!stopped)
      return STUCK;
    if (first < s->rank || first == s->m)
      return MOVED;
    swap_rows(s, first, s->m - 1, s->rank);
    s->m--;
  }
}

/* Faces, once the pairs have earned the first, until one is not cut short by a bound. */
static outcome run_faces(state *s, size_t *done, double *spent)
{
  outcome o = MOVED;
  *spent = 0.0;
  while (o == MOVED) {
    list_free(s);
    const double cost = face_cost(s);
    if (s->m < 1 || !s->face || (*spent == 0.0 && cost > s->credit))
      return MOVED;
    ke_check(s->env);
    *spent += cost;
    o = factor_face(s) ? walk_face(s) : STUCK;
    ++*done;
  }
  return o;
}

/* ---- optimality ---------------------------------------------------------------------- */

static double middle(const state *s, double *violation)
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
static double margin_scale(const state *s, double mu)
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

static double find_gap(const state *s, double mu, double bkb)
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
static double find_intercept(const state *s, double otherwise)
{
  double sum = 0.0, weight = 0.0;
  for (size_t i = 0; i < s->p->n; i++)
    if (s->rise[i] == 0.0 && s->fall[i] == 0.0) {
      sum += fabs(s->b[i]) * s->g[i];
      weight += fabs(s->b[i]);
    }
  return weight > 0.0 ? sum / weight : otherwise;
}

/* Fills the result; the status is KE_OK, KE_NOT_CONVERGED or KE_NOT_FINITE. */
static ke_status judge(const state *s, double tol, ke_dual_result *result)
{
  const moments m = measure(s);
  const double mu = middle(s, &result->violation);
  result->value = 0.5 * m.bkb - m.qb;
  result->gap = find_gap(s, mu, m.bkb);
  result->intercept = find_intercept(s, mu);
  if (!isfinite(result->value) || isnan(result->gap))
    return KE_NOT_FINITE;
  result->scale = m.size + 0.5 * fabs(m.bkb);
  /* the gradient is known to about eps * top * sum |b|, and the gap no better than that allows */
  const double blur = DBL_EPSILON / 4.0 * s->top * m.total * m.total;
  return result->gap <= tol * result->scale + blur || result->violation <= 0.0 ? KE_OK
                                                                              : KE_NOT_CONVERGED;
}

/* A hard margin whose classes come closer than rounding can tell. */
static int has_no_margin(const state *s)
{
  double size = 0.0;
  int open = 0;
  for (size_t i = 0; i < s->p->n; i++) {
    size += fabs(s->b[i]);
    open = open || !isfinite(s->p->upper[i]) || !isfinite(s->p->lower[i]);
  }
  return open && s->p->total == 0.0 && measure(s).bkb < DBL_EPSILON * s->top * size * size;
}

/* A batch of pairs and then faces. Whichever lowered the function more for its work is given
 * more of it the next time: faces repay their debt in pairs only if they were the worse. */
static outcome advance(state *s, double value, ke_dual_result *result)
{
  const size_t longest = longest_batch(s);
  const outcome o = run_pairs(s, &result->iterations);
  if (o != MOVED)
    return o;
  const double between = current_value(s);
  double spent;
  if (run_faces(s, &result->faces, &spent) == UNBOUNDED)
    return UNBOUNDED;
  if (spent == 0.0)
    return MOVED;
  const double by_pairs = (value - between) / ((double)s->batch * pair_cost(s));
  if ((between - current_value(s)) / spent >= by_pairs) {
    s->batch = s->batch / 2 > 8 ? s->batch / 2 : 8;
  } else {
    s->batch = 2 * s->batch < longest ? 2 * s->batch : longest;
    s->credit -= fmin(spent, 8.0 * face_cost(s)); /* a long walk must not ban the next one */
  }
  return MOVED;
}

/* A warm start has most free variables right: its first face comes without delay, if pairs would
 * be expected to cost as much. */
static void trust_start(state *s)
{
  list_free(s);
  s->credit = s->m > 1 ? 8.0 * (double)s->p->n * pair_cost(s) : 0.0;
}

static ke_status settle(state *s, const ke_dual_control *control, ke_dual_result *result)
{
  ke_status status = judge(s, control->tol, result);
  int fresh = 1, stuck = 0, idle = 0;
  while (status != KE_NOT_FINITE) {
    const int ended = stuck || idle >= IDLE;
    if (status == KE_OK || ended) {
      if (fresh)
        return ended && result->gap <= ROUNDED * result->scale ? KE_OK : status;
      fresh_gradient(s);
      fresh = 1, stuck = 0;
      status = judge(s, control->tol, result);
      continue;
    }
    if (result->iterations >= control->max_iter)
      return status;
    const size_t before = result->iterations + result->faces;
    const double value = result->value;
    const outcome o = advance(s, value, result);
    stuck = o == STUCK;
    fresh = fresh && result->iterations + result->faces == before;
    ke_check(s->env);
    status = judge(s, control->tol, result);
    idle = value - result->value > 4.0 * DBL_EPSILON * fabs(value) ? 0 : idle + 1;
    if (o == UNBOUNDED || (status == KE_NOT_CONVERGED && has_no_margin(s)))
      return KE_INFEASIBLE;
  }
  return status;
}

ke_status ke_dual_solve(const ke_dual *problem, const ke_dual_control *control, double *b,
                        double *gradient, ke_dual_result *result, const ke_env *env)
{
  state s = {0};
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
