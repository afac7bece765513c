/* Exact leave-one-out of least squares on nested columns: for every size, and for every ridge.
 *
 * With e the residual of a row and h the leverage of a unit of its weight (see regress.c), the
 * residual of the fit without m units of it is e / (1 - m h); here m = min(1, weight), so that a
 * row of weight 3 is treated as each of three copies.
 *
 * Leverage 1. As the ridge goes to 0 numerator and denominator both vanish for a row that alone
 * fixes a direction. Their ratio tends to <a, x> / (m <x, x>), a and x being the coefficients of
 * smallest norm that fit y and the row's own indicator. Both are sums over columns of R^{-1}, from
 * which null directions (of dependent columns) are projected out; so they grow with the size, at
 * O(size) a row. Beyond a leverage of 1 - 1e-10 rounding leaves e / (1 - h) no digits, and this
 * limit is taken; below it the relative error is some eps / (1 - h).
 *
 * Ridges. M = R R' = P B'B P' with B upper bidiagonal (Elden 1977). With u = P'q of a row and
 * U'U = B'B + ridge, U upper bidiagonal by O(size) rotations, and t = U^{-T} u:
 *   1 - m h = (1 - m / sum(w) - m |u|^2) + m ridge |t|^2
 *   e       = (yc - u'P'c) + ridge t'U^{-T}P'c
 * sums without cancellation, so small ridges keep their digits. A size costs a product of
 * n x size x size, each ridge O(n size). */
#include "loo.h"

#include "blas.h"
#include "simd.h"

#include <math.h>
#include <string.h>

#define LEVERAGE_ONE 1e-10 /* what is left of 1 counts as nothing */
#define PANEL 32           /* rows and columns made bidiagonal at once */
#define WORTH_PANELS 128   /* of what is left */

/* m rows from i0 on: e residuals, v left-out residuals, left = 1 - leverage. */
typedef struct {
  size_t i0, m;
  double *e, *v, *left; /* m x k, m x k, m */
} block;

static double weight_of(const ke_regression *g, size_t i) { return g->weight ? g->weight[i] : 1.0; }

/* The weight that is left out. */
static double unit_of(const ke_regression *g, size_t i) { return fmin(1.0, weight_of(g, i)); }

static void clear(double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = 0.0;
}

static double dot(const double *a, const double *b, size_t n)
{
  double total = 0.0;
  for (size_t i = 0; i < n; i++)
    total += a[i] * b[i];
  return total;
}

static void add_multiple(double *a, size_t n, double by, const double *b)
{
  for (size_t i = 0; i < n; i++)
    a[i] += by * b[i];
}

/* ---- scores -----------------------------------------------------------------------------------
 */

static int is_wrong(const block *s, size_t i, size_t k, size_t own)
{
  size_t best = 0;
  double most = -INFINITY;
  for (size_t j = 0; j < k; j++) {
    const double value = (double)(j == own) - s->v[i + j * s->m];
    best = value > most ? j : best;
    most = value > most ? value : most;
  }
  return best != own;
}

static void add_scores(const ke_loo *o, const block *s, size_t at)
{
  const size_t k = o->g->k;
  for (size_t i = 0; i < s->m; i++) {
    const double w = weight_of(o->g, s->i0 + i);
    double squares = 0.0;
    for (size_t j = 0; j < k; j++)
      squares += s->v[i + j * s->m] * s->v[i + j * s->m];
    o->loss[at] += w * squares;
    if (o->label && is_wrong(s, i, k, (size_t)o->label[s->i0 + i]))
      o->error[at] += w;
  }
}

static void mean_scores(const ke_loo *o, size_t count)
{
  for (size_t at = 0; at < count; at++) {
    o->loss[at] /= o->g->total * (o->label ? 1.0 : (double)o->g->k);
    o->error[at] = o->label ? o->error[at] / o->g->total : o->loss[at];
  }
}

/* As those of ridge `at`, of 0 where only one is kept. */
static void keep_rows(const ke_loo *o, const block *s, size_t at)
{
  const size_t n = o->g->n, k = o->g->k, first = s->i0 + at * k * n;
  if (!o->rows.residual)
    return;
  memcpy(o->rows.left + s->i0 + at * n, s->left, s->m * sizeof(double));
  for (size_t j = 0; j < k; j++) {
    memcpy(o->rows.residual + first + j * n, s->e + j * s->m, s->m * sizeof(double));
    memcpy(o->rows.left_out + first + j * n, s->v + j * s->m, s->m * sizeof(double));
  }
}

static void divide_residuals(const ke_regression *g, const block *s)
{
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < s->m; i++)
      s->v[i + j * s->m] = s->e[i + j * s->m] / s->left[i];
}

/* The fit of the means alone. */
static void start_rows(const ke_regression *g, const block *s)
{
  const double share = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] = 1.0 - unit_of(g, s->i0 + i) * share;
  for (size_t j = 0; j < g->k; j++)
    memcpy(s->e + j * s->m, g->y + s->i0 + j * g->n, s->m * sizeof(double));
}

static block take_block(const ke_loo *o, size_t i0)
{
  const size_t m = ke_smaller(KE_LOO_ROWS, o->g->n - i0), k = o->g->k;
  const block s = {i0, m, o->work, o->work + KE_LOO_ROWS * k, o->work + 2 * KE_LOO_ROWS * k};
  return s;
}

/* ---- every size -------------------------------------------------------------------------------
 */

/* Rows of a block with leverage 1 at the last size: x (size each) and a (size x k), see above. */
typedef struct {
  size_t count;
  double *x, *a;
  size_t *row;
} limits;

size_t ke_nested_work(size_t size, size_t k)
{
  return KE_LOO_ROWS * (2 * k + 1) + KE_LOO_ROWS * (size + 1) + size * k;
}

static void add_column(const ke_regression *g, size_t l, const block *s)
{
  const double *q = g->z + s->i0 + l * g->n;
  for (size_t i = 0; i < s->m; i++)
    s->left[i] -= unit_of(g, s->i0 + i) * q[i] * q[i];
  for (size_t j = 0; j < g->k; j++)
    add_multiple(s->e + j * s->m, s->m, -g->c[l + j * g->L], q);
}

static double left_at_last(const ke_regression *g, size_t size, size_t i)
{
  double h = g->intercept ? 1.0 / g->total : 0.0;
  for (size_t l = 0; l < size; l++)
    h += g->z[i + l * g->n] * g->z[i + l * g->n];
  return 1.0 - unit_of(g, i) * h;
}

int ke_leverage_one(const ke_loo *s)
{
  for (size_t i = 0; i < s->g->n; i++)
    if (left_at_last(s->g, s->size, i) <= LEVERAGE_ONE)
      return 1;
  return 0;
}

/* Take the null directions among the first l columns of t out of column l. */
static void project(const ke_regression *g, double *t, size_t size, size_t l)
{
  for (int sweep = 0; sweep < 2; sweep++)
    for (size_t j = 0; j < l; j++)
      if (g->dependent[j])
        add_multiple(t + l * size, size, -dot(t + l * size, t + j * size, size), t + j * size);
}

/* Column l: of R^{-1}, null directions projected out; or, for a dependent column, the null
 * direction that it adds, of length 1 and orthogonal to the others. */
void ke_nested_inverse(const ke_regression *g, size_t size, double *t, const ke_env *env)
{
  clear(t, size * size);
  for (size_t l = 0; l < size; l++) {
    double *column = t + l * size;
    const double *r = g->r + l * g->L;
    if (l > 0)
      ke_gemv('N', l, l, -1.0, t, size, r, 1, 0.0, column);
    column[l] = 1.0;
    project(g, t, size, l);
    const double by = g->dependent[l] ? sqrt(dot(column, column, size)) : r[l];
    for (size_t i = 0; i <= l; i++)
      column[i] /= by;
    ke_check(env);
  }
}

static limits find_limits(const ke_loo *o, const block *s, size_t *row)
{
  double *after = s->left + KE_LOO_ROWS;
  limits found = {0, after, after + KE_LOO_ROWS * o->size, row};
  for (size_t i = 0; i < s->m; i++)
    if (left_at_last(o->g, o->size, s->i0 + i) <= LEVERAGE_ONE)
      row[found.count++] = i;
  clear(found.x, found.count * o->size);
  clear(found.a, o->size * o->g->k);
  return found;
}

/* Column l joins: coefficients grow by a multiple of t, or lose the null direction t. */
static void grow(double *x, const double *t, size_t size, int null, double by)
{
  add_multiple(x, size, null ? -dot(x, t, size) : by, t);
}

static void grow_limits(const ke_loo *o, const block *s, const limits *f, const double *t, size_t l)
{
  const ke_regression *g = o->g;
  const int null = g->dependent[l];
  for (size_t i = 0; i < f->count; i++)
    grow(f->x + i * o->size, t, o->size, null, g->z[s->i0 + f->row[i] + l * g->n]);
  for (size_t j = 0; j < g->k; j++)
    grow(f->a + j * o->size, t, o->size, null, g->c[l + j * g->L]);
}

static void take_limits(const ke_loo *o, const block *s, const limits *f)
{
  for (size_t r = 0; r < f->count; r++) {
    const size_t i = f->row[r], size = o->size;
    const double *x = f->x + r * size;
    if (s->left[i] > LEVERAGE_ONE)
      continue;
    const double length = unit_of(o->g, s->i0 + i) * dot(x, x, size);
    for (size_t j = 0; j < o->g->k; j++)
      s->v[i + j * s->m] = dot(x, f->a + j * size, size) / length;
  }
}

static void nested_block(const ke_loo *o, const block *s, const double *inverse, const ke_env *env)
{
  size_t row[KE_LOO_ROWS];
  limits f = {0, NULL, NULL, row};
  if (inverse)
    f = find_limits(o, s, row);
  start_rows(o->g, s);
  for (size_t l = 0; l < o->size; l++) {
    add_column(o->g, l, s);
    divide_residuals(o->g, s);
    if (f.count > 0) {
      grow_limits(o, s, &f, inverse + l * o->size, l);
      take_limits(o, s, &f);
      ke_check(env);
    }
    add_scores(o, s, l);
  }
  keep_rows(o, s, 0);
}

void ke_nested_loo(const ke_loo *o, const double *inverse, const ke_env *env)
{
  clear(o->loss, o->size);
  clear(o->error, o->size);
  for (size_t i = 0; i < o->g->n; i += KE_LOO_ROWS) {
    const block s = take_block(o, i);
    nested_block(o, &s, inverse, env);
    ke_check(env);
  }
  mean_scores(o, o->size);
}

/* ---- every ridge ------------------------------------------------------------------------------
 */

/* A reflection I - tau v v' with v = (1, x / scale) that makes (alpha, x) a multiple of the first
 * unit vector, which goes to *value; x (count - 1 values, inc apart) becomes the rest of v. */
static double reflection(size_t count, double *alpha, double *x, size_t inc, double *value)
{
  double tau = 0.0;
  ke_larfg(count, alpha, x, inc, &tau);
  *value = *alpha;
  *alpha = 1.0;
  return tau;
}

static void transposed_factor(const ke_regression *g, ke_bidiagonal *b)
{
  const size_t m = b->size;
  clear(b->a, m * m);
  for (size_t l = 0; l < m; l++) {
    const int dependent = g->dependent[l];
    for (size_t i = 0; i <= l; i++)
      b->a[l + i * m] = dependent && i == l ? 0.0 : g->r[i + l * g->L];
  }
}

size_t ke_bidiagonal_work(size_t size) { return 2 * size + (2 * size + PANEL) * PANEL; }

/* P is the product of the reflections of rows, whose vectors lie right of the diagonal of a. Panels
 * of them are applied at once, the last first. */
static void form_p(ke_bidiagonal *b, const double *tau, const ke_env *env)
{
  const size_t m = b->size, panels = (m - 1 + PANEL - 1) / PANEL;
  double *t = b->work + 2 * m, *work = t + PANEL * PANEL;
  clear(b->p, m * m);
  for (size_t i = 0; i < m; i++)
    b->p[i + i * m] = 1.0;
  for (size_t q = panels; q-- > 0;) {
    const size_t j = q * PANEL, rest = m - 1 - j;
    ke_larfb_rows(rest, rest, ke_smaller(PANEL, rest), b->a + j + (j + 1) * m, m, tau + j,
                  b->p + (j + 1) * (m + 1), m, t, work);
    ke_check(env);
  }
}

/* Row and column j by reflections of the whole rest. */
static void reduce_one(ke_bidiagonal *b, size_t j, double *tau, double *work)
{
  const size_t m = b->size, rest = m - 1 - j, next = j + 1 < m ? j + 1 : j;
  double *a = b->a, *corner = a + j * (m + 1), *right = a + j + next * m;
  const double t = reflection(m - j, corner, a + next + j * m, 1, b->diagonal + j);
  b->over[j] = tau[j] = 0.0;
  if (rest == 0)
    return;
  ke_larf('L', m - j, rest, corner, 1, t, right, m, work);
  tau[j] = reflection(rest, right, a + j + ke_smaller(j + 2, m - 1) * m, m, b->over + j);
  ke_larf('R', m - next, rest, right, m, tau[j], a + next * (m + 1), m, work);
}

/* A panel of rows and columns from j on; the rest is brought up to date by two products. */
static void reduce_panel(ke_bidiagonal *b, size_t j, double *tau, double *work)
{
  const size_t m = b->size, left = m - j, rest = left - PANEL;
  double *corner = b->a + j * (m + 1), *x = work, *y = x + left * PANEL;
  double *inner = corner + PANEL * (m + 1), other[PANEL];
  ke_labrd(left, PANEL, corner, m, b->diagonal + j, b->over + j, other, tau + j, x, y);
  ke_gemm('N', 'T', rest, rest, PANEL, -1.0, corner + PANEL, m, y + PANEL, left, 1.0, inner, m);
  ke_gemm('N', 'N', rest, rest, PANEL, -1.0, x + PANEL, left, corner + PANEL * m, m, 1.0, inner, m);
}

void ke_bidiagonalise(const ke_regression *g, ke_bidiagonal *b, const ke_env *env)
{
  const size_t m = b->size;
  double *tau = b->work, *work = b->work + m;
  size_t j = 0;
  transposed_factor(g, b);
  for (; m - j > WORTH_PANELS; j += PANEL) {
    reduce_panel(b, j, tau, work);
    ke_check(env);
  }
  for (; j < m; j++) {
    reduce_one(b, j, tau, work);
    ke_check(env);
  }
  form_p(b, tau, env);
}

/* U of one ridge, ready for U^{-T}, and U^{-T} P'c. */
typedef struct {
  double ridge;
  double *by, *back; /* size: 1 / diagonal; element above it / diagonal */
  double *c;         /* size x k */
} factor;

size_t ke_ridge_work(size_t size, size_t k, size_t count)
{
  return KE_LOO_ROWS * (2 * k + 1) + KE_LOO_ROWS * (2 * size + 1 + k + 1) + size * k +
         count * size * (2 + k);
}

/* Rotate sqrt(ridge) I into B, column by column; what a rotation leaves below joins the next. */
static void rotate_in(const ke_bidiagonal *b, const factor *f)
{
  const double root = sqrt(f->ridge);
  double below = root, over = 0.0;
  for (size_t j = 0; j < b->size; j++) {
    const double rho = hypot(b->diagonal[j], below), cosine = b->diagonal[j] / rho,
                 sine = below / rho;
    f->by[j] = 1.0 / rho;
    f->back[j] = over / rho;
    over = cosine * b->over[j];
    below = hypot(sine * b->over[j], root);
  }
}

static void solve_factor(const factor *f, double *x, size_t size)
{
  for (size_t j = 0; j < size; j++)
    x[j] = x[j] * f->by[j] - (j > 0 ? f->back[j] * x[j - 1] : 0.0);
}

static factor factor_in(double *memory, double ridge, size_t size)
{
  const factor f = {ridge, memory, memory + size, memory + 2 * size};
  return f;
}

static void fill_factor(const ke_bidiagonal *b, const double *c, size_t k, const factor *f)
{
  const size_t size = b->size;
  rotate_in(b, f);
  memcpy(f->c, c, size * k * sizeof(double));
  for (size_t j = 0; j < k; j++)
    solve_factor(f, f->c + j * size, size);
}

/* Columns of a product between two interrupt checks. */
static size_t columns_at_a_time(size_t size)
{
  const size_t columns = ke_batch(2.0 * KE_LOO_ROWS * (double)size);
  return columns < 8 ? 8 : columns;
}

/* Rows of a block turned: u (m x size), e and left at a ridge of zero. */
static void turn_rows(const ke_regression *g, const ke_bidiagonal *b, const double *c,
                      const block *s, double *u, const ke_env *env)
{
  const size_t m = s->m, size = b->size, step = columns_at_a_time(size);
  for (size_t l = 0; l < size; l += step) {
    ke_gemm('N', 'N', m, ke_smaller(step, size - l), size, 1.0, g->z + s->i0, g->n, b->p + l * size,
            size, 0.0, u + l * m, m);
    ke_check(env);
  }
  start_rows(g, s);
  ke_gemm('N', 'N', m, g->k, size, -1.0, u, m, c, size, 1.0, s->e, m);
  for (size_t l = 0; l < size; l++)
    for (size_t i = 0; i < m; i++)
      s->left[i] -= unit_of(g, s->i0 + i) * u[i + l * m] * u[i + l * m];
  for (size_t i = 0; i < m; i++)
    s->left[i] = fmax(s->left[i], 0.0);
}

/* t = by u - back before, and its square added to length: one element of U^{-T} u of m rows. */
INLINE void next_element_body(double by, double back, const double *u, const double *before,
                              double *t, double *length, size_t m)
{
  size_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const v4 value = SPLAT(by) * LOAD(u + i) - SPLAT(back) * LOAD(before + i);
    STORE(t + i, value);
    STORE(length + i, LOAD(length + i) + value * value);
  }
  for (; i < m; i++) {
    t[i] = by * u[i] - back * before[i];
    length[i] += t[i] * t[i];
  }
}

DEFINE_DISPATCHED(static, next_element,
                  (double by, double back, const double *u, const double *before, double *t,
                   double *length, size_t m),
                  (by, back, u, before, t, length, m))

/* length = |t|^2 and sum (m x k) = t'c of every row of u, t = U^{-T} u (m x size). */
static void penalised_sums(const factor *f, const double *u, const ke_loo *o, size_t m, double *t,
                           double *length, double *sum)
{
  const size_t size = o->size, k = o->g->k;
  clear(length, m);
  for (size_t l = 0; l < size; l++) /* back is 0 for the first */
    next_element(f->by[l], f->back[l], u + l * m, l > 0 ? t + (l - 1) * m : u, t + l * m, length,
                 m);
  ke_gemm('N', 'N', m, k, size, 1.0, t, m, f->c, size, 0.0, sum, m);
}

/* s at a ridge of zero becomes `with` at the ridge of f. */
static void add_penalty(const ke_regression *g, const factor *f, const double *length,
                        const double *sum, const block *s, const block *with)
{
  for (size_t i = 0; i < s->m; i++)
    with->left[i] = s->left[i] + unit_of(g, s->i0 + i) * f->ridge * length[i];
  for (size_t i = 0; i < s->m * g->k; i++)
    with->e[i] = s->e[i] + f->ridge * sum[i];
}

void ke_ridge_loo(const ke_loo *o, const ke_bidiagonal *b, const double *ridge, size_t count,
                  const ke_env *env)
{
  const ke_regression *g = o->g;
  const size_t size = b->size, k = g->k, one = size * (2 + k);
  double *turned = o->work + KE_LOO_ROWS * (2 * k + 1), *u = turned + size * k,
         *t = u + KE_LOO_ROWS * size, *length = t + KE_LOO_ROWS * size, *sum = length + KE_LOO_ROWS,
         *left = sum + KE_LOO_ROWS * k, *factors = left + KE_LOO_ROWS;
  clear(o->loss, count);
  clear(o->error, count);
  ke_gemm('T', 'N', size, k, size, 1.0, b->p, size, g->c, g->L, 0.0, turned, size);
  for (size_t r = 0; r < count; r++) {
    const factor f = factor_in(factors + r * one, ridge[r], size);
    fill_factor(b, turned, k, &f);
  }
  for (size_t i = 0; i < g->n; i += KE_LOO_ROWS) {
    const block s = take_block(o, i), with = {s.i0, s.m, sum, s.v, left};
    turn_rows(g, b, turned, &s, u, env);
    for (size_t r = 0; r < count; r++) {
      const factor f = factor_in(factors + r * one, ridge[r], size);
      penalised_sums(&f, u, o, s.m, t, length, sum);
      add_penalty(g, &f, length, sum, &s, &with);
      divide_residuals(g, &with);
      add_scores(o, &with, r);
      keep_rows(o, &with, r);
      ke_check(env);
    }
  }
  mean_scores(o, count);
}
