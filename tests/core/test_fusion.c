/* fusion.c: weighted sums of matrices and quadratic forms against plain loops. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>

enum { N = 150, MATRICES = 3, COLUMNS = 64 /* between two looks for an interrupt */ };

static void fused_matrices_are_weighted_sums(void)
{
  double *k[MATRICES], *out = malloc(N * N * sizeof *out), worst = 0.0;
  const double weights[MATRICES] = {0.5, 0.0, -2.0};
  for (size_t m = 0; m < MATRICES; m++)
    k[m] = draw_many(N * N, m + 1);
  const double *const given[MATRICES] = {k[0], k[1], k[2]};
  tally t;
  const ke_env env = counting(&t, 1);
  ke_fuse(given, weights, MATRICES, N, out, &env);
  for (size_t i = 0; i < N * N; i++)
    worst = fmax(worst, fabs(out[i] - (0.5 * k[0][i] - 2.0 * k[2][i])));
  for (size_t m = 0; m < MATRICES; m++)
    free(k[m]);
  free(out);
  mu_assert(worst <= 1e-15);
  mu_assert(t.checks == steps(N, COLUMNS));
}

static void forms_are_double_sums(void)
{
  double *k = draw_many(N * N, 5), *a = draw_many(N, 6), sum = 0.0;
  a[3] = 0.0;
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      sum += a[i] * k[i + j * N] * a[j];
  const double form = ke_quadratic_form(k, N, a);
  free(k);
  free(a);
  mu_near(form, sum, 1e-12);
}

/* H = I - 1 w' / sum(w) on both sides, entry by entry. */
static void centred_systems_have_weighted_means_taken_out(void)
{
  double *k = draw_many(N * N, 5), *w = draw_many(N, 6), *out = malloc(N * N * sizeof *out);
  double means[N] = {0.0}, total = 0.0, middle = 0.0, worst = 0.0;
  for (size_t i = 0; i < N; i++)
    total += w[i] = i % 7 ? fabs(w[i]) : 0.0;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < i; j++)
      k[i + j * N] = k[j + i * N];
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      means[i] += k[i + j * N] * w[j] / total;
      middle += w[i] * k[i + j * N] * w[j] / (total * total);
    }
  tally t;
  const ke_env env = counting(&t, 1);
  ke_centred_system(k, w, means, 0.25, N, out, &env);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      const double centred = k[i + j * N] - means[i] - means[j] + middle;
      worst = fmax(worst, fabs(out[i + j * N] - sqrt(w[i] * w[j]) * centred - (i == j) * 0.25));
    }
  free(k), free(w), free(out);
  mu_assert(worst <= 1e-13);
  mu_assert(t.checks == steps(N, COLUMNS));
}

int main(void)
{
  mu_run(fused_matrices_are_weighted_sums);
  mu_run(forms_are_double_sums);
  mu_run(centred_systems_have_weighted_means_taken_out);
  return mu_report();
}
