/* Eigenvalues and vectors of a symmetric matrix, in steps between which an interrupt is answered:
 * Householder reflections make it tridiagonal, panel by panel; that is taken apart by divide and
 * conquer (conquer.c); the reflections are applied to the vectors that are wanted, some columns at
 * a time. */
#include "eigen.h"

#include "blas.h"
#include "conquer.h"
#include "reflect.h"

#include <math.h>

#define PANEL                                                                                      \
  KE_REFLECTIONS /* columns reduced at a time: each reads the whole rest of the matrix */
#define LAST 48  /* what is left is reduced in one call */
#define STRIP 32 /* columns of a symmetric matrix that are read once for both sides */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t ke_eigen_work(size_t n)
{
  return larger(ke_tridiagonal_work(n), PANEL * (n + PANEL + KE_SIDE)) + 2 * n;
}

size_t ke_eigen_whole(size_t n) { return ke_tridiagonal_whole(n); }

/* C -= V W' + W V' on and below the diagonal of C (m x m), V and W m x PANEL. */
static void update_rest(ke_dense v, ke_dense w, ke_dense c, const ke_env *env)
{
  const size_t m = c.columns;
  for (size_t j = 0; j < m; j += KE_SIDE) {
    const size_t k = ke_smaller(KE_SIDE, m - j);
    const ke_dense at = ke_part(c, j, j, m - j, k);
    ke_gemm('N', 'T', -1.0, ke_part(v, j, 0, m - j, PANEL), ke_part(w, j, 0, k, PANEL), 1.0, at);
    ke_gemm('N', 'T', -1.0, ke_part(w, j, 0, m - j, PANEL), ke_part(v, j, 0, k, PANEL), 1.0, at);
    ke_check(env);
  }
}

/* y += A x for the columns of A from its diagonal down. */
static void add_strip(ke_dense a, const double *x, double *y)
{
  const size_t k = a.columns, below = a.rows - k;
  const ke_dense rest = ke_part(a, k, 0, below, k);
  for (size_t j = 0; j < k; j++) {
    y[j] += a.at[j + j * a.ld] * x[j];
    for (size_t i = j + 1; i < k; i++) {
      y[i] += a.at[i + j * a.ld] * x[j];
      y[j] += a.at[i + j * a.ld] * x[i];
    }
  }
  ke_gemv('N', 1.0, rest, x, 1, 1.0, y + k);
  ke_gemv('T', 1.0, rest, x + k, 1, 1.0, y);
}

/* y = A x, A symmetric, its lower triangle known. */
static void symmetric_product(ke_dense a, const double *x, double *y)
{
  for (size_t i = 0; i < a.rows; i++)
    y[i] = 0.0;
  for (size_t j = 0; j < a.columns; j += STRIP)
    add_strip(ke_part(a, j, j, a.rows - j, ke_smaller(STRIP, a.columns - j)), x + j, y + j);
}

/* out -= A (B'v) */
static void take_off(ke_dense a, ke_dense b, const double *v, double *out)
{
  double along[PANEL];
  ke_gemv('T', 1.0, b, v, 1, 0.0, along);
  ke_gemv('N', -1.0, a, along, 1, 1.0, out);
}

/* Column i of w: with v the vector of the reflection, tau (A v - ...) less half of its part along
 * v, so that V W' + W V' is what the reflection takes off. */
static void fill_partner(ke_dense a, ke_dense w, size_t i, double tau)
{
  const size_t rest = a.rows - i - 1;
  const double *v = a.at + i + 1 + i * a.ld;
  double *out = w.at + i + 1 + i * w.ld, along = 0.0;
  const ke_dense before = ke_part(a, i + 1, 0, rest, i), partners = ke_part(w, i + 1, 0, rest, i);
  symmetric_product(ke_part(a, i + 1, i + 1, rest, rest), v, out);
  take_off(before, partners, v, out);
  take_off(partners, before, v, out);
  for (size_t k = 0; k < rest; k++) {
    out[k] *= tau;
    along += out[k] * v[k];
  }
  for (size_t k = 0; k < rest; k++)
    out[k] -= 0.5 * tau * along * v[k];
}

/* The first PANEL columns of a, each brought up to date and reflected. */
static void reduce_panel(ke_dense a, ke_dense w, double *e, double *tau, const ke_env *env)
{
  for (size_t i = 0; i < PANEL; i++) {
    double *column = a.at + i * (a.ld + 1);
    const size_t high = a.rows - i;
    ke_gemv('N', -1.0, ke_part(a, i, 0, high, i), w.at + i, w.ld, 1.0, column);
    ke_gemv('N', -1.0, ke_part(w, i, 0, high, i), a.at + i, a.ld, 1.0, column);
    tau[i] = ke_reflection(high - 1, column + 1, column + 2, 1, e + i);
    fill_partner(a, w, i, tau[i]);
    ke_check(env);
  }
}

/* d and e: the diagonal and what is beside it; reflections stay in a and tau. */
static void tridiagonalise(size_t n, double *a, double *d, double *e, double *tau, double *work,
                           const ke_env *env)
{
  size_t i = 0;
  for (; i + LAST < n; i += PANEL) {
    const size_t left = n - i, rest = left - PANEL;
    const ke_dense corner = {a + i * (n + 1), left, left, n}, w = {work, left, PANEL, left};
    reduce_panel(corner, w, e + i, tau + i, env);
    update_rest(ke_part(corner, PANEL, 0, rest, PANEL), ke_part(w, PANEL, 0, rest, PANEL),
                ke_part(corner, PANEL, PANEL, rest, rest), env);
    for (size_t j = i; j < i + PANEL; j++)
      d[j] = a[j * (n + 1)];
  }
  ke_sytd2_lower(n - i, a + i * (n + 1), n, d + i, e + i, tau + i);
}

/* Columns [from, n) of the vectors, of the tridiagonal matrix so far: the last panel of reflections
 * first. */
static void turn_back(size_t n, size_t from, const double *a, const double *tau, double *vectors,
                      double *work, const ke_env *env)
{
  double *t = work + n * PANEL, *room = t + PANEL * PANEL;
  for (size_t q = (n - 1 + PANEL - 1) / PANEL; q-- > 0;) {
    const size_t i = q * PANEL, rest = n - 1 - i;
    const ke_reflections h = {{work, rest, ke_smaller(PANEL, rest), rest}, t};
    ke_collect_reflections(&h, a + i + 1 + i * n, n, 0, tau + i);
    for (size_t j = from; j < n; j += KE_SIDE) {
      const size_t k = ke_smaller(KE_SIDE, n - j);
      ke_reflect(&h, (ke_dense){vectors + i + 1 + j * n, rest, k, n}, room);
      ke_check(env);
    }
  }
}

static void reverse(double *v, size_t n, size_t size)
{
  for (size_t i = 0; i < n / 2; i++)
    for (size_t r = 0; r < size; r++) {
      const double kept = v[r + i * size];
      v[r + i * size] = v[r + (n - 1 - i) * size];
      v[r + (n - 1 - i) * size] = kept;
    }
}

double ke_eigen_floor(const double *values, size_t n, double least)
{
  return least == -INFINITY ? least : least * fmax(fabs(values[0]), fabs(values[n - 1]));
}

ke_status ke_symmetric_eigen(size_t n, double *a, double least, double *values, double *vectors,
                             double *work, int *whole, const ke_env *env)
{
  double *e = work, *tau = work + n, *rest = work + 2 * n;
  tridiagonalise(n, a, values, e, tau, rest, env);
  ke_check(env);
  if (!ke_tridiagonal_eigen(n, values, e, vectors, rest, whole, env))
    return KE_NOT_FINITE;
  const double floor = ke_eigen_floor(values, n, least);
  size_t from = 0;
  while (from < n && !(values[from] > floor))
    from++;
  turn_back(n, from, a, tau, vectors, rest, env);
  reverse(values, n, 1);
  reverse(vectors, n, n);
  return KE_OK;
}
