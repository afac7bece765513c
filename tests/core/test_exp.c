/* exp.c against expl(). */
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

static double worst_exp_error(double from, double to, size_t n)
{
  double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), worst = 0.0;
  for (size_t i = 0; i < n; i++)
    x[i] = from + (to - from) * (double)i / (double)(n - 1);
  ke_exp(x, y, n);
  for (size_t i = 0; i < n; i++) {
    const long double exact = expl((long double)x[i]);
    const double error = (double)fabsl(((long double)y[i] - exact) / exact);
    worst = error > worst ? error : worst;
  }
  free(x);
  free(y);
  return worst;
}

static void exp_is_accurate(void)
{
  mu_assert(worst_exp_error(-700.0, 0.0, 700001) < 1e-15);
  mu_assert(worst_exp_error(-1.0, 1.0, 100001) < 1e-15);
  mu_assert(worst_exp_error(0.0, 700.0, 100001) < 1e-15);
  mu_assert(worst_exp_error(-1e-10, 1e-10, 1001) < 1e-15);
}

static double exp_of(double x)
{
  double y;
  ke_exp(&x, &y, 1);
  return y;
}

static void exp_is_right_at_the_ends(void)
{
  mu_assert(exp_of(0.0) == 1.0);
  mu_assert(exp_of(-0.0) == 1.0);
  mu_assert(exp_of(-INFINITY) == 0.0);
  mu_assert(exp_of(INFINITY) == INFINITY);
  mu_assert(exp_of(-1e300) == 0.0);
  mu_assert(exp_of(710.0) == INFINITY);
  mu_assert(exp_of(-746.0) == 0.0);
  mu_assert(exp_of(5e-324) == 1.0 && exp_of(-5e-324) == 1.0);
  mu_assert(isnan(exp_of(NAN)));
}

/* Below 2^-1022 results lose digits but no more than half a unit in the last place does. */
static void exp_of_denormals_is_rounded_once(void)
{
  for (double x = -745.1; x < -708.0; x += 0.037) {
    const double error = fabs(exp_of(x) - exp(x));
    mu_assert(error <= fmax(4.9406564584124654e-324, 1e-15 * exp(x)));
  }
}

static void exp_does_not_depend_on_place_or_length(void)
{
  double x[11], y[11];
  for (size_t i = 0; i < 11; i++)
    x[i] = -0.37 * (double)i - 1.0;
  for (size_t n = 1; n <= 11; n++) {
    memset(y, 0, sizeof y);
    ke_exp(x, y, n);
    for (size_t i = 0; i < 11; i++)
      mu_assert(y[i] == (i < n ? exp_of(x[i]) : 0.0));
  }
  memcpy(y, x, sizeof y);
  ke_exp(y, y, 11); /* in place */
  for (size_t i = 0; i < 11; i++)
    mu_assert(y[i] == exp_of(x[i]));
}

int main(void)
{
  mu_run(exp_is_accurate);
  mu_run(exp_is_right_at_the_ends);
  mu_run(exp_of_denormals_is_rounded_once);
  mu_run(exp_does_not_depend_on_place_or_length);
  return mu_report();
}
