/* eigen.c: A V = V D, V orthonormal, for sizes around the panels, and interrupts are looked for. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"
#include "one_call.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t n, checks;
  double residual, skew;
  int falling;
} finding;

/* A = B'B, or B + B' where indefinite. */
static double *symmetric(size_t n, int indefinite)
{
  double *b = draw_many(n * n, n + 1), *a = malloc(n * n * sizeof *a);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++)
      a[i + j * n] = b[i + j * n] + b[j + i * n];
  if (!indefinite)
    blas_gemm('T', 'N', n, n, n, 1.0, b, n, b, n, 0.0, a, n);
  free(b);
  return a;
}

static finding decompose(size_t n, int indefinite, double least)
{
  finding f = {n, 0, 0.0, 0.0, 1};
  tally seen;
  const ke_env env = counting(&seen, 1);
  double *a = symmetric(n, indefinite), *copy = malloc(n * n * sizeof *copy);
  double *values = malloc(n * sizeof *values), *v = malloc(n * n * sizeof *v);
  double *work = malloc(ke_eigen_work(n) * sizeof *work), *av = malloc(n * n * sizeof *av);
  int *whole = malloc(ke_eigen_whole(n) * sizeof *whole);
  memcpy(copy, a, n * n * sizeof *a);
  const ke_status status = ke_symmetric_eigen(n, copy, least, values, v, work, whole, &env);
  size_t kept = 0;
  while (kept < n && values[kept] > least * fmax(fabs(values[0]), fabs(values[n - 1])))
    kept++;
  blas_gemm('N', 'N', n, kept, n, 1.0, a, n, v, n, 0.0, av, n);
  for (size_t j = 0; j < kept; j++) {
    f.falling = f.falling && (j == 0 || values[j] <= values[j - 1]);
    for (size_t i = 0; i < n; i++)
      f.residual = fmax(f.residual, fabs(av[i + j * n] - values[j] * v[i + j * n]) / values[0]);
    for (size_t l = 0; l <= j; l++) {
      double dot = 0.0;
      for (size_t i = 0; i < n; i++)
        dot += v[i + j * n] * v[i + l * n];
      f.skew = fmax(f.skew, fabs(dot - (l == j)));
    }
  }
  f.checks = status == KE_OK ? seen.checks : 0;
  double *all[] = {a, copy, values, v, work, av};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  free(whole);
  return f;
}

static void matrices_are_taken_apart(void)
{
  const size_t sizes[] = {1, 2, 3, 16, 47, 48, 49, 64, 65, 130};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int indefinite = 0; indefinite < 2; indefinite++) {
      const finding f = decompose(sizes[s], indefinite, indefinite ? -2.0 : 1e-13);
      mu_assert(f.residual < 1e-13 && f.skew < 1e-13 && f.falling && f.checks > 0);
    }
}

/* The worst of residuals and of skewness of T = Q D Q', and how often interrupts were looked for.
 */
static finding take_apart(size_t n, const double *d, const double *e)
{
  finding f = {n, 0, 0.0, 0.0, 1};
  tally seen;
  const ke_env env = counting(&seen, 1);
  double *value = malloc(n * sizeof *value), *beside = malloc(n * sizeof *beside);
  double *q = malloc(n * n * sizeof *q), *qq = malloc(n * n * sizeof *qq), size = 0.0;
  double *work = malloc(ke_tridiagonal_work(n) * sizeof *work);
  int *whole = malloc(ke_tridiagonal_whole(n) * sizeof *whole);
  memcpy(value, d, n * sizeof *d);
  memcpy(beside, e, (n - 1) * sizeof *e);
  f.falling = ke_tridiagonal_eigen(n, value, beside, q, work, whole, &env);
  for (size_t i = 0; i < n; i++)
    size = fmax(size, fmax(fabs(d[i]), i + 1 < n ? fabs(e[i]) : 0.0));
  for (size_t j = 0; f.falling && j < n; j++) {
    const double *v = q + j * n;
    f.falling = f.falling && (j == 0 || value[j] >= value[j - 1]); /* rising here */
    for (size_t i = 0; i < n; i++) {
      const double before = i > 0 ? e[i - 1] * v[i - 1] : 0.0;
      const double after = i + 1 < n ? e[i] * v[i + 1] : 0.0;
      f.residual = fmax(f.residual, fabs(before + d[i] * v[i] + after - value[j] * v[i]) / size);
    }
  }
  blas_gemm('T', 'N', n, n, n, 1.0, q, n, q, n, 0.0, qq, n);
  for (size_t i = 0; i < n * n; i++)
    f.skew = fmax(f.skew, fabs(qq[i] - (i % (n + 1) == 0)));
  f.checks = seen.checks;
  double *all[] = {value, beside, q, qq, work};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  free(whole);
  return f;
}

/* Spectra that deflate wholly, partly, by rotations across the halves, and not at all. */
static void tridiagonal_matrices_are_taken_apart(void)
{
  const size_t sizes[] = {1, 2, 3, 31, 32, 33, 65, 200, 501};
  double *d = malloc(501 * sizeof *d), *e = malloc(501 * sizeof *e);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int kind = 0; kind < 8; kind++) {
      const size_t n = sizes[s];
      uint64_t seed = 7;
      for (size_t i = 0; i < n; i++) {
        const double t = (double)i, far = fabs(t - (double)(n / 2));
        const double random = draw(&seed), other = draw(&seed);
        const double diagonal[] = {2.0, 0.0, random, far, far, ldexp(1.0, -(int)(i % 900)),
                                   1.0, 0.0};
        const double off[] = {-1.0, sqrt((t + 1.0) / (double)n), other,
                              1.0,  i % 21 == 20 ? 1e-8 : 1.0,   ldexp(1.0, -(int)(i % 900) - 1),
                              0.0,  i % 2 ? 1e-9 : -1.0};
        d[i] = diagonal[kind] * (kind == 2 ? 1e150 : 1.0);
        e[i] = off[kind] * (kind == 2 ? 1e150 : 1.0);
      }
      const finding f = take_apart(n, d, e);
      mu_assert(f.falling && f.residual < 1e-14 * (double)(n + 20));
      mu_assert(f.skew < 1e-14 * (double)(n + 20));
      mu_assert((f.checks > 0) == (n > 32) || kind > 1);
    }
  free(d);
  free(e);
}

static void the_second_difference_has_its_known_values(void)
{
  double d[100], e[100], *q = malloc(10000 * sizeof *q);
  double *work = malloc(ke_tridiagonal_work(100) * sizeof *work);
  int *whole = malloc(ke_tridiagonal_whole(100) * sizeof *whole);
  const ke_env env = {.threads = 1};
  for (size_t i = 0; i < 100; i++)
    d[i] = 2.0, e[i] = -1.0;
  const int good = ke_tridiagonal_eigen(100, d, e, q, work, whole, &env);
  double off = 0.0;
  for (size_t i = 0; i < 100; i++)
    off = fmax(off, fabs(d[i] - 2.0 + 2.0 * cos((double)(i + 1) * acos(-1.0) / 101.0)));
  d[3] = NAN;
  const int bad = ke_tridiagonal_eigen(100, d, e, q, work, whole, &env);
  free(q);
  free(work);
  free(whole);
  mu_assert(good && off < 1e-14);
  mu_assert(!bad);
}

int main(void)
{
  mu_run(tridiagonal_matrices_are_taken_apart);
  mu_run(the_second_difference_has_its_known_values);
  mu_run(matrices_are_taken_apart);
  return mu_report();
}
