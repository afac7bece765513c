/* gradient.c: derivatives by squared scale factors against the formulas, pair by pair. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "kernels.h"
#include "minunit.h"
#include "pack.h"

enum { N = 150, D = 3 };

static const double scale = 0.4, offset = 0.7;

/* dk(x_i, x_j) / dv_e at scale factors of one, of (scale <x, z> + offset)^2 or
 * exp(-scale |x - z|^2). */
static double slope(const double *x, size_t i, size_t j, size_t e, int distance)
{
  double inner = 0.0, apart = 0.0;
  for (size_t k = 0; k < D; k++) {
    const double gap = x[i + k * N] - x[j + k * N];
    inner += x[i + k * N] * x[j + k * N];
    apart += gap * gap;
  }
  const double gap = x[i + e * N] - x[j + e * N];
  if (distance)
    return -scale * exp(-scale * apart) * gap * gap;
  return 2.0 * scale * (scale * inner + offset) * x[i + e * N] * x[j + e * N];
}

static void compare(const char *name, int distance)
{
  double *x = draw_many(N * D, 1), *coefficients = draw_many(N * N, 2), out[D];
  ke_rows rows = packed(x, N, D);
  ke_gradient g = {kernel_of(name, scale, offset, 2.0), N, D, x, rows, coefficients, NULL};
  tally looks;
  const ke_env env = counting(&looks, 1);
  g.work = malloc(ke_gradient_work(&g) * sizeof(double));
  ke_scale_gradient(&g, out, &env);
  for (size_t e = 0; e < D; e++) {
    double sum = 0.0;
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++)
        sum += coefficients[i + j * N] * slope(x, i, j, e, distance);
    mu_near(out[e], sum, 1e-11);
  }
  mu_assert(looks.checks >= 2);
  free(x), free(coefficients), free(g.work);
  release(&rows);
}

static void slopes_add_up_to_the_formulas(void)
{
  compare("polynomial", 0);
  compare("rbf", 1);
}

int main(void)
{
  mu_run(slopes_add_up_to_the_formulas);
  return mu_report();
}
