/* Least squares on nested columns, for every number of them at once.
 *
 * Minimise sum_i w_i |y_i - b - z_i a|^2 + ridge |a|^2 over b and a. The best b centres y and Z at
 * their weighted means; the rest is least squares on the augmented rows
 * A = [W^(1/2) Zc; sqrt(ridge) I], with zero responses below. A = [Q; *] R, R upper triangular.
 * Column l of A has no entry in the augmented rows after l, so the first l columns of Q and R solve
 * the problem with the first l columns of Z, for all l. Q is handed out as W^(-1/2) Q: then
 *   residuals   e_l = yc - sum_{j <= l} q_j c_j,  c = Q'Wyc
 *   leverages   h_l = 1/sum(w) + sum_{j <= l} q_j^2, of a unit of weight.
 *
 * R comes from Cholesky of A'A, twice, which is orthogonal to rounding while no column depends on
 * the others to more than half the digits (once, where none depends on them much); otherwise from
 * Gram-Schmidt by panels, each column swept twice. A dependent column then becomes zero, with a
 * unit in R. Cost O(n L^2), level 3. */
#include "regress.h"

#include "pieces.h"
#include "spectrum.h"
#include "threads.h"
#include "vector.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-10 /* shorter than this share of its column: dependent */
/* The next two only choose between two ways to the same factor: what passes the first wrongly fails
 * the second, and any second pass from less than 1 off is right to rounding. */
#define DOUBTFUL 1e-10 /* square of the share from which Cholesky is trusted */
#define UNTRUE 1e-3    /* off the identity by more after one pass: it divided by rounding */
#define EXACT 1e-13    /* off by less: a second pass would change nothing */
#define EVEN 100.0     /* times a few eps is what one pass is off by at most: see is_even() */
#define PANEL 32

#define ROWS 2048 /* divided and multiplied while they are at hand */

/* z divided by r, unless that is NULL; and the inner products after it, of the columns with each
 * other and with y, unless `out` is NULL. */
static void divide_columns(const ke_regression *g, const double *r, double *out, const ke_env *env)
{
  const size_t n = g->n, L = g->L;
  for (size_t i = 0; i < n; i += ROWS) {
    const size_t m = ke_smaller(ROWS, n - i);
    const double more = i > 0 ? 1.0 : 0.0;
    if (r)
      ke_divide_upper(m, L, r, L, g->z + i, n, env);
    if (out) {
      ke_crossprod_upper(L, m, g->z + i, n, more, out, L, env);
      ke_product_transposed((ke_dense){g->z + i, m, L, n}, (ke_dense){g->y + i, m, g->k, n}, more,
                            g->c, env);
    }
    ke_check(env);
  }
}

/* The augmented rows before anything was done to them. */
static void start_extra(const ke_regression *g)
{
  ke_clear(g->extra, g->L * g->L);
  for (size_t l = 0; l < g->L; l++)
    g->extra[l + l * g->L] = sqrt(g->ridge);
}

/* Squared length of column l before it was centred, with its augmented row. */
static double full_length(const ke_regression *g, size_t l, double centred)
{
  return centred + g->total * g->mean[l] * g->mean[l];
}

/* R of A'A; 0 when a column is too nearly dependent for that. */
static int cholesky_once(const ke_regression *g, const ke_env *env)
{
  const size_t L = g->L;
  double *length = g->work;
  ke_clear(g->r, L * L); /* below the diagonal, too */
  divide_columns(g, NULL, g->r, env);
  for (size_t l = 0; l < L; l++) {
    g->r[l + l * L] += g->ridge;
    length[l] = full_length(g, l, g->r[l + l * L]);
  }
  if (!ke_cholesky_upper(L, g->r, L, env))
    return 0;
  for (size_t l = 0; l < L; l++)
    if (!(g->r[l + l * L] * g->r[l + l * L] > DOUBTFUL * length[l]))
      return 0;
  return 1;
}

/* Whether z R^{-1} is orthogonal to rounding without a look: with columns of length one, inner
 * products are off by some eps each, and those of z R^{-1} by that times the squared lengths of the
 * columns of R^{-1}. The diagonal tells most of those that are too long. */
static int is_even(const ke_regression *g, const ke_env *env)
{
  const size_t L = g->L;
  double *inverse = g->work, *length = g->work + L * L;
  for (size_t l = 0; l < L; l++) {
    const double *column = g->r + l * L;
    length[l] = ke_dot(column, column, l + 1);
    if (!(length[l] <= EVEN * column[l] * column[l]))
      return 0;
  }
  ke_clear(inverse, L * L);
  for (size_t l = 0; l < L; l++)
    inverse[l + l * L] = 1.0;
  ke_divide_upper(L, L, g->r, L, inverse, L, env);
  for (size_t l = 0; l < L; l++) {
    double squares = 0.0;
    for (size_t i = 0; i <= l; i++)
      squares += length[i] * inverse[i + l * L] * inverse[i + l * L];
    if (!(squares <= EVEN))
      return 0;
  }
  return 1;
}

static double off_identity(const double *s, size_t L)
{
  double worst = 0.0;
  for (size_t j = 0; j < L; j++)
    for (size_t i = 0; i <= j; i++)
      worst = fmax(worst, fabs(s[i + j * L] - (i == j)));
  return worst;
}

/* The second division, by s: of the rows only where nobody takes that over. */
static void divide_again(const ke_regression *g, const double *s, const ke_env *env)
{
  if (!g->rest)
    divide_columns(g, s, NULL, env);
  ke_solve_upper(1, g->L, g->k, s, g->L, g->c, env);
  ke_multiply_upper(g->L, s, g->L, g->r, g->L, env);
}

/* Q is z. */
static void leave_no_rest(const ke_regression *g)
{
  if (g->rest)
    ke_clear(g->rest, g->L * g->L);
  for (size_t l = 0; g->rest && l < g->L; l++)
    g->rest[l + l * g->L] = 1.0;
}

/* R and c; 0 when that is not to be trusted, and z is as it was then, to rounding. */
static int by_cholesky(const ke_regression *g, const ke_env *env)
{
  const size_t L = g->L;
  double *s = g->rest ? g->rest : g->work;
  leave_no_rest(g); /* zeros below the diagonal */
  if (!cholesky_once(g, env))
    return 0;
  if (g->rest && g->ridge == 0.0 && is_even(g, env)) {
    memcpy(g->rest, g->r, L * L * sizeof(double));
    ke_solve_upper(1, L, g->k, g->r, L, g->c, env);
    return 1;
  }
  divide_columns(g, g->r, s, env);
  if (g->ridge > 0.0) {
    start_extra(g);
    ke_divide_upper(L, L, g->r, L, g->extra, L, env);
    ke_crossprod_upper(L, L, g->extra, L, 1.0, s, L, env);
  }
  const double off = off_identity(s, L);
  if (off > UNTRUE || (off > EXACT && !ke_cholesky_upper(L, s, L, env))) {
    ke_times_upper(g->n, L, g->r, L, g->z, g->n, env);
    return 0;
  }
  if (off > EXACT)
    divide_again(g, s, env);
  else
    leave_no_rest(g);
  return 1;
}

/* Take the columns [from, upto) of Q out of `count` columns from p on, and note how much. */
static void sweep(const ke_regression *g, size_t from, size_t upto, size_t p, size_t count,
                  const ke_env *env)
{
  const size_t n = g->n, L = g->L, m = upto - from;
  double *w = g->work, *z = g->z, *extra = g->extra;
  const int ridged = g->ridge > 0.0;
  if (m == 0)
    return;
  ke_product_transposed((ke_dense){z + from * n, n, m, n}, (ke_dense){z + p * n, n, count, n}, 0.0,
                        w, env);
  if (ridged)
    ke_product_transposed((ke_dense){extra + from * L, L, m, L},
                          (ke_dense){extra + p * L, L, count, L}, 1.0, w, env);
  ke_take_product((ke_dense){z + from * n, n, m, n}, w, (ke_dense){z + p * n, n, count, n}, env);
  if (ridged)
    ke_take_product((ke_dense){extra + from * L, L, m, L}, w,
                    (ke_dense){extra + p * L, L, count, L}, env);
  for (size_t j = 0; j < count; j++)
    for (size_t i = 0; i < m; i++)
      g->r[from + i + (p + j) * L] += w[i + j * m];
}

static double squares(const double *a, size_t n) { return ke_dot(a, a, n); }

static void divide(double *a, size_t n, double by)
{
  for (size_t i = 0; i < n; i++)
    a[i] = by > 0.0 ? a[i] / by : 0.0;
}

static void normalise(const ke_regression *g, size_t l, double length)
{
  const size_t n = g->n, L = g->L;
  double norm = sqrt(squares(g->z + l * n, n) + squares(g->extra + l * L, L));
  if (norm <= DEPENDENT * sqrt(length))
    norm = 0.0;
  divide(g->z + l * n, n, norm);
  divide(g->extra + l * L, L, norm);
  g->r[l + l * L] = norm > 0.0 ? norm : 1.0;
}

/* Centring took the constant out of every column. Where the rows leave no other direction, rounding
 * magnified by the sweeps would bring it back, as a column of its own. */
static void recentre(const ke_regression *g, double *column)
{
  double sum = 0.0;
  if (!g->intercept)
    return;
  for (size_t i = 0; i < g->n; i++)
    sum += column[i] * (g->weight ? sqrt(g->weight[i]) : 1.0);
  for (size_t i = 0; i < g->n; i++)
    column[i] -= sum / g->total * (g->weight ? sqrt(g->weight[i]) : 1.0);
}

static void by_gram_schmidt(const ke_regression *g, const ke_env *env)
{
  const size_t n = g->n, L = g->L;
  double *length = g->work + L * L;
  ke_clear(g->r, L * L);
  start_extra(g);
  for (size_t l = 0; l < L; l++)
    length[l] = full_length(g, l, squares(g->z + l * n, n) + g->ridge);
  for (size_t p = 0; p < L; p += PANEL) {
    const size_t end = ke_smaller(p + PANEL, L);
    sweep(g, 0, p, p, end - p, env);
    sweep(g, 0, p, p, end - p, env);
    for (size_t l = p; l < end; l++) {
      const double before = squares(g->z + l * n, n);
      sweep(g, p, l, l, 1, env);
      /* what little is left of a column may point back to the columns before the panel */
      sweep(g, squares(g->z + l * n, n) < 0.01 * before ? 0 : p, l, l, 1, env);
      recentre(g, g->z + l * n);
      normalise(g, l, length[l]);
    }
    ke_check(env);
  }
  leave_no_rest(g);
  ke_product_transposed((ke_dense){g->z, n, L, n}, (ke_dense){g->y, n, g->k, n}, 0.0, g->c, env);
}

/* ---- weights and means ------------------------------------------------------------------------
 */

static double total_weight(const ke_regression *g)
{
  double total = 0.0;
  for (size_t i = 0; g->weight && i < g->n; i++)
    total += g->weight[i];
  return g->weight ? total : (double)g->n;
}

static void centre_weighted(const ke_regression *g, double *column, double *mean)
{
  double sum = 0.0;
  for (size_t i = 0; i < g->n; i++)
    sum += g->weight[i] * column[i];
  *mean = sum / g->total;
  for (size_t i = 0; i < g->n; i++)
    column[i] -= *mean;
}

static void centre(const ke_regression *g, double *a, size_t columns, double *mean,
                   const ke_env *env)
{
  ke_clear(mean, columns);
  if (!g->intercept)
    return;
  if (!g->weight) {
    ke_centre_columns(a, g->n, columns, mean, env);
    return;
  }
  for (size_t l = 0; l < columns; l++) {
    centre_weighted(g, a + l * g->n, mean + l);
    ke_check(env);
  }
}

/* Rows times the root of their weight, or divided by it. */
static void weigh_rows(const ke_regression *g, double *a, size_t columns, int divided,
                       const ke_env *env)
{
  for (size_t l = 0; g->weight && l < columns; l++) {
    for (size_t i = 0; i < g->n; i++) {
      const double root = sqrt(g->weight[i]);
      a[i + l * g->n] = divided ? a[i + l * g->n] / root : a[i + l * g->n] * root;
    }
    ke_check(env);
  }
}

/* z from its source, centred and weighed, a column at a time while it is at hand. */
static void take_column(void *data, size_t l, size_t worker)
{
  const ke_regression *g = (const ke_regression *)data;
  const ke_env alone = {.threads = 1};
  double *column = g->z + l * g->n;
  (void)worker;
  if (g->from != g->z)
    memcpy(column, g->from + l * g->n, g->n * sizeof(double));
  centre(g, column, 1, g->mean + l, &alone);
  weigh_rows(g, column, 1, 0, &alone);
}

static void take_coordinates(ke_regression *g, const ke_env *env)
{
  ke_share_often(env, g->L, 4.0 * (double)g->n, take_column, g);
}

static int is_zero(const double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (a[i] != 0.0)
      return 0;
  return 1;
}

void ke_regress(ke_regression *g, const ke_env *env)
{
  g->total = total_weight(g);
  take_coordinates(g, env);
  centre(g, g->y, g->k, g->y_mean, env);
  weigh_rows(g, g->y, g->k, 0, env);
  if (!by_cholesky(g, env))
    by_gram_schmidt(g, env);
  for (size_t l = 0; l < g->L; l++)
    g->dependent[l] = is_zero(g->z + l * g->n, g->n);
  weigh_rows(g, g->z, g->L, 1, env);
  weigh_rows(g, g->y, g->k, 1, env);
}
