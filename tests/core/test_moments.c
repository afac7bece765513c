/* moments.c: the same mean and deviation whatever the pieces and their order, to the last bit. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <float.h>
#include <string.h>

typedef struct {
  double mean, sd;
} answer;

static answer of_whole(const double *x, size_t n)
{
  answer a;
  ke_mean_and_sd(ke_column_moments(x, n), &a.mean, &a.sd);
  return a;
}

/* By pieces of `step` values, joined from the last to the first where `backwards`. */
static answer of_pieces(const double *x, size_t n, size_t step, int backwards)
{
  ke_moments known = ke_column_moments(x, 0);
  const size_t pieces = (n + step - 1) / step;
  for (size_t p = 0; p < pieces; p++) {
    const size_t i = (backwards ? pieces - 1 - p : p) * step;
    known = ke_join_moments(known, ke_column_moments(x + i, ke_smaller(step, n - i)));
  }
  answer a;
  ke_mean_and_sd(known, &a.mean, &a.sd);
  return a;
}

static void cuts_do_not_matter(void)
{
  const double offsets[] = {0.0, 1.0, 1e3, -1e9, 3e15}, spreads[] = {1.0, 1e-3, 1e5, 1e150, 1e-150};
  for (size_t k = 0; k < 25; k++) {
    const size_t n = 1 + 211 * (k % 7);
    double *x = draw_many(n, 40 + k);
    for (size_t i = 0; i < n; i++)
      x[i] = offsets[k % 5] + spreads[k / 5] * x[i];
    const answer whole = of_whole(x, n);
    for (size_t step = 1; step <= n; step = 2 * step + 5)
      for (int backwards = 0; backwards < 2; backwards++) {
        const answer cut = of_pieces(x, n, step, backwards);
        mu_assert(cut.mean == whole.mean && cut.sd == whole.sd);
      }
    free(x);
  }
}

static void answers_are_those_of_long_sums(void)
{
  const size_t n = 1000;
  double *x = draw_many(n, 3);
  long double sum = 0.0L, squares = 0.0L;
  for (size_t i = 0; i < n; i++)
    sum += (x[i] = 1e4 + x[i]);
  for (size_t i = 0; i < n; i++)
    squares += ((long double)x[i] - sum / n) * ((long double)x[i] - sum / n);
  const answer a = of_whole(x, n);
  mu_near(a.mean, (double)(sum / n), 4 * DBL_EPSILON);
  mu_near(a.sd, (double)sqrtl(squares / (n - 1)), 4 * DBL_EPSILON);
  free(x);
}

static void a_constant_column_has_no_spread(void)
{
  double x[5] = {0.1, 0.1, 0.1, 0.1, 0.1}, one = 7.0;
  mu_assert(of_whole(x, 5).sd == 0.0 && of_whole(x, 5).mean == 0.1);
  mu_assert(of_pieces(x, 5, 2, 0).sd == 0.0);
  mu_assert(of_whole(&one, 1).sd == 0.0 && of_whole(&one, 1).mean == 7.0);
}

/* Four units of the mean's rounding, as for columns in memory. */
static void what_rounding_leaves_is_no_spread(void)
{
  for (int k = 4; k <= 8; k++) {
    double x[] = {1.0, 1.0 + k * DBL_EPSILON};
    const double sd = of_whole(x, 2).sd, expected = k * DBL_EPSILON / sqrt(2.0);
    mu_assert(k <= 5 ? sd == 0.0 : fabs(sd - expected) <= 1e-3 * expected);
  }
}

static void symmetric_values_have_mean_zero(void)
{
  double x[6] = {0.1, -0.1, 0.3, -0.3, 0.7, -0.7};
  for (size_t step = 1; step <= 6; step++)
    mu_assert(of_pieces(x, 6, step, 0).mean == 0.0);
}

static void what_is_not_finite_is_told(void)
{
  double large[2] = {DBL_MAX, -DBL_MAX}, odd[3] = {1.0, NAN, 2.0};
  mu_assert(!isfinite(of_whole(large, 2).sd));
  mu_assert(!isfinite(of_whole(odd, 3).mean));
}

int main(void)
{
  mu_run(cuts_do_not_matter);
  mu_run(answers_are_those_of_long_sums);
  mu_run(a_constant_column_has_no_spread);
  mu_run(what_rounding_leaves_is_no_spread);
  mu_run(symmetric_values_have_mean_zero);
  mu_run(what_is_not_finite_is_told);
  return mu_report();
}
