/* eigen.c: A V = V D, V orthonormal, for sizes around the panels, and interrupts are looked for. */
#include "blas.h"
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

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
    ke_gemm('T', 'N', n, n, n, 1.0, b, n, b, n, 0.0, a, n);
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
  ke_gemm('N', 'N', n, kept, n, 1.0, a, n, v, n, 0.0, av, n);
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

int main(void)
{
  mu_run(matrices_are_taken_apart);
  return mu_report();
}
