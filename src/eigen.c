/* Eigenvalues and vectors of a symmetric matrix, in steps between which an interrupt is answered:
 * Householder reflections make it tridiagonal, panel by panel; that is taken apart by divide and
 * conquer (conquer.c); the reflections are applied to the vectors that are wanted, some columns at
 * a time. */
#include "eigen.h"

#include "blas.h"
#include "conquer.h"

#include <math.h>

#define PANEL 16 /* columns reduced at a time: each reads the whole rest of the matrix */
#define LAST 48  /* what is left is reduced in one call */
#define COLUMNS 16
#define LWORK 64 /* times n or COLUMNS: what dormtr likes */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t ke_eigen_work(size_t n)
{
  return larger(ke_tridiagonal_work(n), (PANEL + LWORK) * larger(n, COLUMNS)) + 2 * n;
}

size_t ke_eigen_whole(size_t n) { return ke_tridiagonal_whole(n); }

/* C -= V W' + W V' on and below the diagonal of C (m x m), V and W m x PANEL. */
static void update_rest(size_t m, const double *v, size_t ldv, const double *w, size_t ldw,
                        double *c, const ke_env *env)
{
  const size_t least = ke_batch(16.0 * PANEL * (double)m), width = larger(least, COLUMNS);
  for (size_t j = 0; j < m; j += width) {
    const size_t k = ke_smaller(width, m - j);
    double *at = c + j * (ldv + 1);
    ke_gemm('N', 'T', m - j, k, PANEL, -1.0, v + j, ldv, w + j, ldw, 1.0, at, ldv);
    ke_gemm('N', 'T', m - j, k, PANEL, -1.0, w + j, ldw, v + j, ldv, 1.0, at, ldv);
    ke_check(env);
  }
}

/* d and e: the diagonal and what is beside it; reflections stay in a and tau. */
static void tridiagonalise(size_t n, double *a, double *d, double *e, double *tau, double *w,
                           const ke_env *env)
{
  size_t i = 0;
  for (; i + LAST < n; i += PANEL) {
    double *corner = a + i * (n + 1);
    ke_check(env);
    ke_latrd_lower(n - i, PANEL, corner, n, e + i, tau + i, w, n);
    update_rest(n - i - PANEL, corner + PANEL, n, w + PANEL, n, corner + PANEL * (n + 1), env);
    for (size_t j = i; j < i + PANEL; j++) {
      a[j + 1 + j * n] = e[j];
      d[j] = a[j * (n + 1)];
    }
  }
  ke_sytd2_lower(n - i, a + i * (n + 1), n, d + i, e + i, tau + i);
}

/* Columns [from, n) of the vectors, of the tridiagonal matrix so far. */
static void turn_back(size_t n, size_t from, const double *a, const double *tau, double *vectors,
                      double *work, const ke_env *env)
{
  const size_t width = larger(ke_batch(8.0 * (double)n * (double)n), COLUMNS);
  for (size_t j = from; j < n; j += width) {
    const size_t k = ke_smaller(width, n - j);
    ke_check(env);
    ke_ormtr_lower(n, k, a, n, tau, vectors + j * n, n, work, LWORK * larger(n, COLUMNS));
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

ke_status ke_symmetric_eigen(size_t n, double *a, double least, double *values, double *vectors,
                             double *work, int *whole, const ke_env *env)
{
  double *e = work, *tau = work + n, *rest = work + 2 * n;
  tridiagonalise(n, a, values, e, tau, rest, env);
  ke_check(env);
  if (!ke_tridiagonal_eigen(n, values, e, vectors, rest, whole, env))
    return KE_NOT_FINITE;
  const double floor = least * fmax(fabs(values[0]), fabs(values[n - 1]));
  size_t from = 0;
  while (from < n && !(values[from] > floor))
    from++;
  turn_back(n, from, a, tau, vectors, rest, env);
  reverse(values, n, 1);
  reverse(vectors, n, n);
  return KE_OK;
}
