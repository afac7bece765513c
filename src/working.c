/* The dual program (dual.h) of a matrix that is never held, by working sets:
 *
 *   take the variables that break the optimality conditions most, and those taken last;
 *   solve the program in them alone (dual.c, with its faces), the others held;
 *   bring the gradient of all rows up to date, g -= K_W (change of b_W).
 *
 * Columns of K are made by the block, so that kernel values cost what tiles cost, and the last
 * ones used are kept. A round takes O(n size) beside its new columns; memory n (columns + 2
 * KE_BLOCK). New variables replace at most half of a set: what was learned about the others is kept
 * (Joachims 1999; Wen, Shi, Li, He and Chen, ThunderSVM, JMLR 19, 2018). */
#include "working.h"

#include "solver.h"
#include "stream.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The share of its first gap at which a working set is solved well enough: the others move it. This
 * and the tolerance of a set only decide how the work is shared between sets and rounds: the end is
 * judged on all rows. */
#define ENOUGH 0.05

/* Rounds without a fall of the value that shows, for each time that sets go into all rows: rounding
 * allows no further one. More, or a finer look at the fall, only delay what the gap then says. */
#define IDLE 20

typedef struct {
  const ke_working *w;
  ke_solver s; /* b, gradient, and what may rise and fall */
  const ke_env *env;
  size_t columns, clock;
  double *store, *block, *part; /* n x columns, n x KE_BLOCK twice */
  size_t *slot, *owner, *stamp; /* n, columns, columns */
  size_t size, m;               /* of a working set: at most, and now */
  size_t *set, *heap;           /* size, newest first; size */
  double *sub, *vectors, *room; /* size x size; 5 x size; for the solver of a set */
  size_t *indices;
} crew;

size_t ke_working_doubles(size_t n, const ke_working_control *c)
{
  const size_t q = c->size;
  return n * (2 + c->columns + 2 * KE_BLOCK) + q * (q + 5) + ke_dual_doubles(q, q);
}

size_t ke_working_indices(size_t n, const ke_working_control *c)
{
  return n + 2 * c->columns + 2 * c->size + ke_dual_indices(c->size);
}

static void lend(crew *c, const ke_working_control *control)
{
  const size_t n = c->w->problem.n, q = control->size;
  c->columns = control->columns;
  c->size = q;
  double *at = control->doubles;
  c->s.rise = at, at += n;
  c->s.fall = at, at += n;
  c->store = at, at += n * c->columns;
  c->block = at, at += n * KE_BLOCK;
  c->part = at, at += n * KE_BLOCK;
  c->sub = at, at += q * q;
  c->vectors = at, at += 5 * q;
  c->room = at;
  c->slot = control->indices;
  c->owner = c->slot + n;
  c->stamp = c->owner + c->columns;
  c->set = c->stamp + c->columns;
  c->heap = c->set + q;
  c->indices = c->heap + q;
}

/* ---- columns ------------------------------------------------------------------------ */

/* Columns index[0..count) into `block`. */
static void make_columns(crew *c, const size_t *index, size_t count)
{
  const ke_working *w = c->w;
  const size_t n = w->problem.n;
  memset(c->block, 0, n * count * sizeof(double));
  for (size_t t = 0; t < w->terms; t++) {
    ke_source_columns(&w->source[t], index, count, c->part, n, c->env);
    for (size_t i = 0; i < n * count; i++)
      c->block[i] += w->weight[t] * c->part[i];
  }
  for (size_t k = 0; k < count; k++)
    c->block[index[k] + k * n] += w->noise;
}

static size_t oldest(const crew *c)
{
  size_t best = 0;
  for (size_t k = 1; k < c->columns; k++)
    if (c->stamp[k] < c->stamp[best])
      best = k;
  return best;
}

static void keep_column(crew *c, size_t j, const double *values)
{
  const size_t n = c->w->problem.n, at = oldest(c);
  if (c->owner[at] != NOWHERE)
    c->slot[c->owner[at]] = NOWHERE;
  memcpy(c->store + at * n, values, n * sizeof(double));
  c->owner[at] = j;
  c->slot[j] = at;
  c->stamp[at] = c->clock;
}

/* Columns of the working set at hand, all stamped with this round. */
static void fetch_set(crew *c)
{
  const size_t n = c->w->problem.n;
  size_t missing[KE_BLOCK], count = 0;
  c->clock++;
  for (size_t k = 0; k < c->m; k++)
    if (c->slot[c->set[k]] != NOWHERE)
      c->stamp[c->slot[c->set[k]]] = c->clock;
  for (size_t k = 0; k <= c->m; k++) {
    if (k < c->m && c->slot[c->set[k]] == NOWHERE)
      missing[count++] = c->set[k];
    if (count == KE_BLOCK || (k == c->m && count)) {
      make_columns(c, missing, count);
      for (size_t j = 0; j < count; j++)
        keep_column(c, missing[j], c->block + j * n);
      count = 0;
    }
  }
}

static const double *column_of(const crew *c, size_t k)
{
  return c->store + c->slot[c->set[k]] * c->w->problem.n;
}

static void lower_gradient(double *g, const double *column, double step, size_t n)
{
  for (size_t i = 0; i < n; i++)
    g[i] -= step * column[i];
}

/* g = q - K b for a start that is not zero. */
static void first_gradient(crew *c)
{
  const size_t n = c->w->problem.n;
  size_t index[KE_BLOCK], count = 0;
  memcpy(c->s.g, c->w->problem.linear, n * sizeof(double));
  for (size_t j = 0; j <= n; j++) {
    if (j < n && c->s.b[j] != 0.0)
      index[count++] = j;
    if (count == KE_BLOCK || (j == n && count)) {
      make_columns(c, index, count);
      for (size_t k = 0; k < count; k++)
        lower_gradient(c->s.g, c->block + k * n, c->s.b[index[k]], n);
      count = 0;
    }
  }
}

/* ---- which variables ------------------------------------------------------------------- */

/* How much variable i calls for a rise (sign 1) or a fall (sign -1); -Inf where it cannot. */
static double call_of(const crew *c, size_t i, double sign)
{
  return sign > 0.0 ? c->s.g[i] + c->s.rise[i] : -(c->s.g[i] + c->s.fall[i]);
}

/* Whether i calls louder than j; of equal ones the lower row. */
static int louder(const crew *c, size_t i, size_t j, double sign)
{
  const double a = call_of(c, i, sign), b = call_of(c, j, sign);
  return a > b || (a == b && i < j);
}

/* Restores the heap (quietest on top) from place k downwards. */
static void sift(crew *c, size_t k, size_t count, double sign)
{
  for (size_t child = 2 * k + 1; child < count; k = child, child = 2 * k + 1) {
    if (child + 1 < count && louder(c, c->heap[child], c->heap[child + 1], sign))
      child++;
    if (!louder(c, c->heap[k], c->heap[child], sign))
      return;
    const size_t swap = c->heap[k];
    c->heap[k] = c->heap[child];
    c->heap[child] = swap;
  }
}

/* The `most` loudest variables into the heap, of those that may move and break the conditions;
 * returns how many. */
static size_t find_loudest(crew *c, size_t most, double middle, double sign)
{
  size_t count = 0;
  for (size_t i = 0; i < c->w->problem.n; i++) {
    if (!(call_of(c, i, sign) > sign * middle))
      continue;
    if (count < most) {
      c->heap[count++] = i;
      for (size_t k = count / 2; count == most && k-- > 0;)
        sift(c, k, count, sign);
    } else if (louder(c, i, c->heap[0], sign)) {
      c->heap[0] = i;
      sift(c, 0, count, sign);
    }
  }
  return count;
}

static int is_member(const crew *c, size_t i)
{
  for (size_t k = 0; k < c->m; k++)
    if (c->set[k] == i)
      return 1;
  return 0;
}

/* Puts those of heap[0..count) that are not in the set in front of it; the oldest fall out. */
static void join(crew *c, size_t count)
{
  size_t fresh = 0;
  for (size_t k = 0; k < count; k++)
    if (!is_member(c, c->heap[k]))
      c->heap[fresh++] = c->heap[k];
  const size_t stay = ke_smaller(c->m, c->size - fresh);
  memmove(c->set + fresh, c->set, stay * sizeof(size_t));
  memcpy(c->set, c->heap, fresh * sizeof(size_t));
  c->m = fresh + stay;
}

static void choose_set(crew *c, double middle)
{
  const size_t most = c->size / 4 ? c->size / 4 : 1;
  join(c, find_loudest(c, most, middle, 1.0));
  join(c, find_loudest(c, most, middle, -1.0));
}

/* ---- one round --------------------------------------------------------------------------- */

/* The program in the variables of the set alone. */
static ke_dual sub_problem(crew *c)
{
  const ke_dual *p = &c->w->problem;
  const size_t m = c->m;
  double *linear = c->vectors, *lower = linear + m, *upper = lower + m, *b = upper + m;
  double total = 0.0;
  for (size_t k = 0; k < m; k++) {
    const double *column = column_of(c, k);
    for (size_t l = 0; l < m; l++)
      c->sub[l + k * m] = column[c->set[l]];
    lower[k] = p->lower[c->set[k]];
    upper[k] = p->upper[c->set[k]];
    b[k] = c->s.b[c->set[k]];
    total += b[k];
  }
  for (size_t k = 0; k < m; k++) {
    linear[k] = c->s.g[c->set[k]];
    for (size_t l = 0; l < m; l++)
      linear[k] += c->sub[k + l * m] * b[l];
  }
  const ke_dual sub = {m, c->sub, m, linear, lower, upper, total};
  return sub;
}

/* Solves the set and moves to its solution. */
static ke_status move_set(crew *c, double tol, size_t *pairs)
{
  const size_t n = c->w->problem.n, m = c->m;
  const ke_dual sub = sub_problem(c);
  double *b = c->vectors + 3 * m, *g = b + m;
  const ke_dual_control control = {.tol = 0.1 * tol * (double)m / (double)n,
                                   .share = ENOUGH,
                                   .max_iter = 1000 * m,
                                   .face = m,
                                   .doubles = c->room,
                                   .indices = c->indices};
  ke_dual_result inner;
  const ke_status status = ke_dual_solve(&sub, &control, b, g, &inner, c->env);
  *pairs += inner.iterations;
  if (status == KE_NOT_FINITE || status == KE_INFEASIBLE)
    return status;
  for (size_t k = 0; k < m; k++) {
    const double step = b[k] - c->s.b[c->set[k]];
    if (step != 0.0)
      lower_gradient(c->s.g, column_of(c, k), step, n);
    ke_dual_put(&c->s, c->set[k], b[k]);
  }
  return KE_OK;
}

static int prepare(crew *c)
{
  const size_t n = c->w->problem.n;
  for (size_t j = 0; j < n; j++)
    c->slot[j] = NOWHERE;
  for (size_t k = 0; k < c->columns; k++) {
    c->owner[k] = NOWHERE;
    c->stamp[k] = 0;
  }
  if (!ke_dual_make_feasible(&c->s))
    return 0;
  first_gradient(c);
  for (size_t i = 0; i < n; i++)
    ke_dual_put(&c->s, i, c->s.b[i]);
  return 1;
}

ke_status ke_working_solve(const ke_working *p, const ke_working_control *control, double *b,
                           double *gradient, ke_dual_result *result, const ke_env *env)
{
  crew c = {.w = p, .env = env};
  c.s.p = &p->problem;
  c.s.env = env;
  c.s.b = b;
  c.s.g = gradient;
  memset(result, 0, sizeof *result);
  lend(&c, control);
  if (!prepare(&c))
    return KE_INFEASIBLE;
  ke_status status = ke_dual_judge(&c.s, control->tol, result);
  const size_t patience = IDLE * (1 + p->problem.n / control->size);
  for (size_t idle = 0;
       status == KE_NOT_CONVERGED && idle < patience && result->faces < control->max_iter;) {
    const double value = result->value;
    ke_check(env);
    choose_set(&c, result->middle);
    fetch_set(&c);
    status = move_set(&c, control->tol, &result->iterations);
    if (status != KE_OK)
      return status;
    result->faces++;
    status = ke_dual_judge(&c.s, control->tol, result);
    idle = value - result->value > 4.0 * DBL_EPSILON * fabs(value) ? 0 : idle + 1;
    if (idle == patience && result->gap <= KE_ROUNDED * result->scale)
      status = KE_OK;
  }
  return status;
}
