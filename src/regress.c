/* Least squares on nested columns and exact leave-one-out errors for every number of them.
 *
 * Minimise |y - b - Z a|^2 + ridge |a|^2 over b and a. The best b centres y and Z; the rest is
 * least squares on the augmented rows A = [Zc; sqrt(ridge) I], with zero responses below.
 * A = [Q; *] R, R upper triangular. Column l of A has no entry in the augmented rows after l, so
 * the first l columns of Q and R solve the problem with the first l columns of Z, for all l:
 *   residuals   e_l = yc - sum_{j <= l} q_j c_j,  c = Q'yc
 *   leverages   h_l = 1/n + sum_{j <= l} q_j^2
 *   left out    e_il / (1 - h_il), since a row of an (augmented) least squares problem is deleted.
 *
 * R comes from Cholesky of A'A, twice, which is orthogonal to rounding while no column depends on
 * the others to more than half the digits; otherwise from Gram-Schmidt by panels, each column
 * swept twice. A dependent column then becomes zero, with a unit in R. Cost O(n L^2), level 3. */
#include "regress.h"

#include "blas.h"
#include "spectrum.h"

#include <math.h>

#define DEPENDENT 1e-10 /* shorter than this share of its column: dependent */
#define DOUBTFUL 1e-10  /* square of the share from which Cholesky is trusted */
#define PANEL 32

/* Rows worked on between two interrupt checks. */
static size_t rows_at_a_time(size_t L)
{
  const size_t rows = ((size_t)1 << 28) / (L * L + 1);
  return rows < 512 ? 512 : rows;
}

static void inner_products(const ke_regression *g, double *out, const ke_env *env)
{
  const size_t n = g->n, L = g->L, step = rows_at_a_time(L);
  for (size_t i = 0; i < n; i += step) {
    ke_syrk_upper(L, ke_smaller(step, n - i), g->z + i, n, i > 0 ? 1.0 : 0.0, out, L);
    ke_check(env);
  }
}

static void divide_columns(const ke_regression *g, const double *r, const ke_env *env)
{
  const size_t n = g->n, L = g->L, step = rows_at_a_time(L);
  for (size_t i = 0; i < n; i += step) {
    ke_trsm_right_upper(ke_smaller(step, n - i), L, r, L, g->z + i, n);
    ke_check(env);
  }
}

static void clear(double *a, size_t n)
{
  for (size_t i = 0; i < n; i++)
    a[i] = 0.0;
}

/* The augmented rows before anything was done to them. */
static void start_extra(const ke_regression *g)
{
  clear(g->extra, g->L * g->L);
  for (size_t l = 0; l < g->L; l++)
    g->extra[l + l * g->L] = sqrt(g->ridge);
}

/* Squared length of column l before it was centred, with its augmented row. */
static double full_length(const ke_regression *g, size_t l, double centred)
{
  return centred + (double)g->n * g->mean[l] * g->mean[l];
}

/* R of A'A; 0 when a column is too nearly dependent for that. */
static int cholesky_once(const ke_regression *g, const ke_env *env)
{
  const size_t L = g->L;
  double *length = g->work;
  clear(g->r, L * L); /* below the diagonal, too */
  inner_products(g, g->r, env);
  for (size_t l = 0; l < L; l++) {
    g->r[l + l * L] += g->ridge;
    length[l] = full_length(g, l, g->r[l + l * L]);
  }
  if (!ke_potrf_upper(L, g->r, L))
    return 0;
  for (size_t l = 0; l < L; l++)
    if (!(g->r[l + l * L] * g->r[l + l * L] > DOUBTFUL * length[l]))
      return 0;
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

static int by_cholesky(const ke_regression *g, const ke_env *env)
{
  const size_t L = g->L;
  double *s = g->work;
  if (!cholesky_once(g, env))
    return 0;
  divide_columns(g, g->r, env);
  inner_products(g, s, env);
  if (g->ridge > 0.0) {
    start_extra(g);
    ke_trsm_right_upper(L, L, g->r, L, g->extra, L);
    ke_syrk_upper(L, L, g->extra, L, 1.0, s, L);
  }
  if (off_identity(s, L) > 1e-13 && ke_potrf_upper(L, s, L)) {
    divide_columns(g, s, env);
    ke_trmm_left_upper(L, L, s, L, g->r, L);
  }
  return 1;
}

/* Take the columns [from, upto) of Q out of `count` columns from p on, and note how much. */
static void sweep(const ke_regression *g, size_t from, size_t upto, size_t p, size_t count)
{
  const size_t n = g->n, L = g->L, m = upto - from;
  double *w = g->work, *z = g->z, *extra = g->extra;
  const int ridged = g->ridge > 0.0;
  if (m == 0)
    return;
  ke_gemm('T', 'N', m, count, n, 1.0, z + from * n, n, z + p * n, n, 0.0, w, m);
  if (ridged)
    ke_gemm('T', 'N', m, count, L, 1.0, extra + from * L, L, extra + p * L, L, 1.0, w, m);
  ke_gemm('N', 'N', n, count, m, -1.0, z + from * n, n, w, m, 1.0, z + p * n, n);
  if (ridged)
    ke_gemm('N', 'N', L, count, m, -1.0, extra + from * L, L, w, m, 1.0, extra + p * L, L);
  for (size_t j = 0; j < count; j++)
    for (size_t i = 0; i < m; i++)
      g->r[from + i + (p + j) * L] += w[i + j * m];
}

static double squares(const double *a, size_t n)
{
  double total = 0.0;
  for (size_t i = 0; i < n; i++)
    total += a[i] * a[i];
  return total;
}

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

static void by_gram_schmidt(const ke_regression *g, const ke_env *env)
{
  const size_t n = g->n, L = g->L;
  double *length = g->work + L * L;
  clear(g->r, L * L);
  start_extra(g);
  for (size_t l = 0; l < L; l++)
    length[l] = full_length(g, l, squares(g->z + l * n, n) + g->ridge);
  for (size_t p = 0; p < L; p += PANEL) {
    const size_t end = ke_smaller(p + PANEL, L);
    sweep(g, 0, p, p, end - p);
    sweep(g, 0, p, p, end - p);
    for (size_t l = p; l < end; l++) {
      const double before = squares(g->z + l * n, n);
      sweep(g, p, l, l, 1);
      /* what little is left of a column may point back to the columns before the panel */
      sweep(g, squares(g->z + l * n, n) < 0.01 * before ? 0 : p, l, l, 1);
      normalise(g, l, length[l]);
    }
    ke_check(env);
  }
}

void ke_regress(ke_regression *g, const ke_env *env)
{
  ke_centre_columns(g->z, g->n, g->L, g->mean, env);
  ke_centre_columns(g->y, g->n, g->k, g->y_mean, env);
  if (!by_cholesky(g, env))
    by_gram_schmidt(g, env);
  ke_gemm('T', 'N', g->L, g->k, g->n, 1.0, g->z, g->n, g->y, g->n, 0.0, g->c, g->L);
}

/* ---- leave-one-out ------------------------------------------------------------------------ */

/* m rows from i0 on: what the errors sum up, with e the residuals and left = 1 - leverage. */
typedef struct {
  size_t i0, m;
  double *e, *left; /* m x k, m */
} loo_rows;

static double squared_errors(const loo_rows *s, size_t k)
{
  double total = 0.0;
  for (size_t j = 0; j < k; j++)
    for (size_t i = 0; i < s->m; i++) {
      const double error = s->e[i + j * s->m] / s->left[i];
      total += error * error;
    }
  return total / (double)k;
}

static double wrong_classes(const loo_rows *s, size_t k, const int *label)
{
  size_t wrong = 0;
  for (size_t i = 0; i < s->m; i++) {
    const size_t own = (size_t)label[s->i0 + i];
    size_t best = 0;
    double most = -INFINITY;
    for (size_t j = 0; j < k; j++) {
      const double value = (double)(j == own) - s->e[i + j * s->m] / s->left[i];
      if (value > most) {
        most = value;
        best = j;
      }
    }
    wrong += best != own;
  }
  return (double)wrong;
}

/* Add column l: residuals and leverages move on. Returns the least of `left`. */
static double add_column(const ke_regression *g, size_t l, const loo_rows *s)
{
  const double *q = g->z + s->i0 + l * g->n;
  double least = INFINITY;
  for (size_t i = 0; i < s->m; i++) {
    s->left[i] -= q[i] * q[i];
    least = s->left[i] < least ? s->left[i] : least;
  }
  for (size_t j = 0; j < g->k; j++) {
    const double c = g->c[l + j * g->L];
    double *e = s->e + j * s->m;
    for (size_t i = 0; i < s->m; i++)
      e[i] -= q[i] * c;
  }
  return least;
}

static void score_rows(const ke_regression *g, const int *label, const loo_rows *s, double *error)
{
  for (size_t i = 0; i < s->m; i++)
    s->left[i] = 1.0 - 1.0 / (double)g->n;
  for (size_t j = 0; j < g->k; j++)
    for (size_t i = 0; i < s->m; i++)
      s->e[i + j * s->m] = g->y[s->i0 + i + j * g->n];
  for (size_t l = 0; l < g->L; l++) {
    if (add_column(g, l, s) <= DEPENDENT)
      error[l] = NAN;
    else
      error[l] += label ? wrong_classes(s, g->k, label) : squared_errors(s, g->k);
  }
}

void ke_leave_one_out(const ke_regression *g, const int *label, double *error, double *work,
                      const ke_env *env)
{
  clear(error, g->L);
  for (size_t i = 0; i < g->n; i += KE_LOO_ROWS) {
    const size_t m = ke_smaller(KE_LOO_ROWS, g->n - i);
    const loo_rows s = {i, m, work, work + KE_LOO_ROWS * g->k};
    score_rows(g, label, &s, error);
    ke_check(env);
  }
  for (size_t l = 0; l < g->L; l++)
    error[l] /= (double)g->n;
}
