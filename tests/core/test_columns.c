/* columns.c: a matrix across its diagonal, distances between rows. */
#include "count.h"
#include "draw.h"
#include "minunit.h"

static void symmetry_is_that_of_the_plain_loop(void)
{
  const size_t n = 131;
  double *k = draw_many(n * n, 3), gap, largest;
  tally t;
  const ke_env env = counting(&t, 1);
  double expected_gap = 0.0, expected = 0.0;
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      expected_gap = fmax(expected_gap, fabs(k[i + j * n] - k[j + i * n]));
      expected = fmax(expected, fabs(k[i + j * n]));
    }
  ke_symmetry(k, n, &gap, &largest, &env);
  const int same = gap == expected_gap && largest == expected && t.checks == steps(n, 64);
  k[5 + 130 * n] = NAN;
  ke_symmetry(k, n, &gap, &largest, &env);
  const int told = largest == INFINITY;
  free(k);
  mu_assert(same);
  mu_assert(told);
}

static void a_symmetric_matrix_has_no_gap(void)
{
  const double k[] = {1.0, -3.0, -3.0, 2.0};
  const ke_env env = {.threads = 1};
  double gap, largest;
  ke_symmetry(k, 2, &gap, &largest, &env);
  mu_assert(gap == 0.0 && largest == 3.0);
}

static void one_value_that_is_not_finite_is_found_wherever_it_stands(void)
{
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t n = 0; n <= 37; n++) {
    double *x = draw_many(n + 1, 7);
    x[n] = NAN; /* beyond the end */
    mu_assert(ke_all_finite(x, n));
    for (size_t i = 0; i < n; i++) {
      const double before = x[i];
      x[i] = bad[i % 3];
      mu_assert(!ke_all_finite(x, n));
      x[i] = i % 2 ? 1.7e308 : 5e-324; /* no sum may overflow */
      mu_assert(ke_all_finite(x, n));
      x[i] = before;
    }
    free(x);
  }
}

/* Four units of the mean's rounding. */
static void a_constant_column_has_no_spread(void)
{
  const double eps = 0x1p-52;
  for (int k = 4; k <= 8; k++) {
    const double x[] = {1.0, 1.0 + k * eps}, mean = 1.0 + k * eps / 2.0;
    const double sd = ke_column_sd(x, 2, mean), expected = k * eps / sqrt(2.0);
    mu_assert(k <= 5 ? sd == 0.0 : fabs(sd - expected) <= 1e-3 * expected);
  }
}

static void distances_are_those_of_the_plain_loop(void)
{
  const size_t sizes[][2] = {{1, 3}, {2, 1}, {18, 33}, {37, 70}};
  for (size_t s = 0; s < 4; s++) {
    const size_t n = sizes[s][0], d = sizes[s][1];
    double *x = draw_many(n * d, 5), *out = calloc(n * n, sizeof *out), worst = 0.0;
    tally t;
    const ke_env env = counting(&t, 1);
    ke_distances(x, n, d, out, &env);
    size_t p = 0;
    for (size_t j = 0; j < n; j++)
      for (size_t i = j + 1; i < n; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < d; k++)
          sum += (x[i + k * n] - x[j + k * n]) * (x[i + k * n] - x[j + k * n]);
        worst = fmax(worst, fabs(out[p++] / sqrt(sum) - 1.0));
      }
    const int spilt = out[p] != 0.0;
    free(x);
    free(out);
    mu_assert(worst < 1e-14 && !spilt);
    mu_assert(t.checks == steps(n, 16));
  }
}

int main(void)
{
  mu_run(distances_are_those_of_the_plain_loop);
  mu_run(one_value_that_is_not_finite_is_found_wherever_it_stands);
  mu_run(a_constant_column_has_no_spread);
  mu_run(symmetry_is_that_of_the_plain_loop);
  mu_run(a_symmetric_matrix_has_no_gap);
  return mu_report();
}
