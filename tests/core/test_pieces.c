/* pieces.c: products and factorisations in pieces are those of one call, and are interrupted. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"
#include "one_call.h"

#include <stdlib.h>
#include <string.h>

static double *copy(const double *from, size_t count)
{
  double *to = malloc(count * sizeof *to);
  memcpy(to, from, count * sizeof *to);
  return to;
}

/* Largest difference of the upper triangles of two n x n matrices. */
static double upper_gap(const double *a, const double *b, size_t n)
{
  double gap = 0.0;
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i <= j; i++)
      gap = fmax(gap, fabs(a[i + j * n] - b[i + j * n]));
  return gap;
}

/* Whether all below the diagonal of a is `value`. */
static int below_is(const double *a, size_t n, double value)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++)
      if (a[i + j * n] != value)
        return 0;
  return 1;
}

static double gap(const double *a, const double *b, size_t count)
{
  double most = 0.0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* A factor that divides well: upper triangular, large diagonal. */
static double *upper(size_t n, uint64_t seed)
{
  double *r = draw_many(n * n, seed);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++)
      r[i + j * n] = i > j ? 0.0 : i == j ? 2.0 : r[i + j * n] / (double)n;
  return r;
}

static double crossprod_gap(size_t n, size_t m, size_t *checks)
{
  tally seen = {0};
  const ke_env env = counting(&seen, 1);
  double *a = draw_many(n * m, 1), *c = draw_many(n * n, 2), *once = copy(c, n * n);
  ke_crossprod_upper(n, m, a, m, 0.5, c, n, &env);
  blas_syrk_upper(n, m, a, m, 0.5, once, n);
  const double found = upper_gap(c, once, n);
  *checks = (size_t)seen.checks;
  free(a);
  free(c);
  free(once);
  return found;
}

static void cross_products_are_those_of_one_call(void)
{
  size_t checks;
  mu_assert(crossprod_gap(7, 9, &checks) == 0.0 && checks == 0);
  mu_assert(crossprod_gap(300, 3000, &checks) < 1e-11 && checks > 0);
}

static void cholesky_factors_are_those_of_one_call(void)
{
  const size_t sizes[] = {1, 5, 64, 700};
  for (size_t s = 0; s < 4; s++) {
    const size_t n = sizes[s];
    tally seen = {0};
    const ke_env env = counting(&seen, 1);
    double *r = upper(n, 3), *a = calloc(n * n, sizeof *a);
    for (size_t i = 0; i < n * n; i++)
      a[i] = 7.0;
    blas_syrk_upper(n, n, r, n, 0.0, a, n);
    const int good = ke_cholesky_upper(n, a, n, &env), alone = below_is(a, n, 7.0);
    const double off = upper_gap(a, r, n);
    blas_syrk_upper(n, n, r, n, 0.0, a, n);
    a[(n - 1) * (n + 1)] = -1.0;
    const int bad = ke_cholesky_upper(n, a, n, &env);
    free(r);
    free(a);
    mu_assert(good && off < 1e-12 && !bad);
    mu_assert(alone);
    mu_assert((seen.checks > 0) == (n > 64));
  }
}

/* So wide that a few rows against the whole factor would be one long call. */
static void a_wide_factor_divides_some_columns_at_a_time(void)
{
  const size_t n = 2000, m = 20;
  tally seen = {0};
  const ke_env env = counting(&seen, 1);
  double *r = upper(n, 7), *b = draw_many(m * n, 8);
  double *divided = copy(b, m * n), *once = copy(b, m * n);
  ke_divide_upper(m, n, r, n, divided, m, &env);
  blas_trsm_right_upper(m, n, r, n, once, m);
  const double off = gap(divided, once, m * n);
  free(r);
  free(b);
  free(divided);
  free(once);
  mu_assert(off < 1e-12);
  mu_assert(seen.checks > 10);
}

static void triangular_factors_divide_and_multiply(void)
{
  const size_t n = 500, m = 300;
  tally seen = {0};
  const ke_env env = counting(&seen, 1);
  double *r = upper(n, 4), *s = upper(n, 5), *b = draw_many(m * n, 6);
  double *divided = copy(b, m * n), *product = copy(r, n * n), *once = copy(r, n * n);
  ke_divide_upper(m, n, r, n, divided, m, &env);
  double *back = calloc(m * n, sizeof *back);
  blas_gemm('N', 'N', m, n, n, 1.0, divided, m, r, n, 0.0, back, m);
  ke_times_upper(m, n, r, n, divided, m, &env);
  ke_multiply_upper(n, s, n, product, n, &env);
  blas_gemm('N', 'N', n, n, n, 1.0, s, n, r, n, 0.0, once, n);
  const double first = gap(back, b, m * n), second = upper_gap(product, once, n);
  const double undone = gap(divided, b, m * n);
  free(r);
  free(s);
  free(b);
  free(divided);
  free(product);
  free(once);
  free(back);
  mu_assert(first < 1e-12 && second < 1e-12 && undone < 1e-12);
  mu_assert(seen.checks > 1);
}

static void products_by_rows_are_those_of_one_call(void)
{
  const size_t n = 40000, m = 50, k = 30;
  tally seen = {0};
  const ke_env env = counting(&seen, 1);
  double *a = draw_many(n * m, 7), *b = draw_many(n * k, 8), *w = draw_many(m * k, 9);
  double *w_once = copy(w, m * k), *b_once = copy(b, n * k);
  ke_product_transposed((ke_dense){a, n, m, n}, (ke_dense){b, n, k, n}, 0.5, w, &env);
  blas_gemm('T', 'N', m, k, n, 1.0, a, n, b_once, n, 0.5, w_once, m);
  const double first = gap(w, w_once, m * k);
  ke_take_product((ke_dense){a, n, m, n}, w_once, (ke_dense){b, n, k, n}, &env);
  blas_gemm('N', 'N', n, k, m, -1.0, a, n, w_once, m, 1.0, b_once, n);
  const double second = gap(b, b_once, n * k);
  free(a);
  free(b);
  free(w);
  free(w_once);
  free(b_once);
  mu_assert(first < 1e-9 && second < 1e-9);
  mu_assert(seen.checks > 1);
}

/* A diagonal below rounding makes a matrix singular; above it the solution has its digits. */
static void systems_are_solved_in_pieces(void)
{
  const size_t sizes[] = {1, 40, 64, 65, 700};
  for (size_t s = 0; s < 5; s++) {
    const size_t n = sizes[s];
    tally seen = {0};
    const ke_env env = counting(&seen, 1);
    double *a = draw_many(n * n, 11), *x = draw_many(n, 12), *b = calloc(n, sizeof *b);
    double *work = calloc(4 * n, sizeof *work), *lu = copy(a, n * n);
    int *whole = calloc(2 * n, sizeof *whole);
    blas_gemv('N', n, n, 1.0, a, n, x, 1, 0.0, b);
    const int good = ke_solve(n, 1, lu, b, work, whole, &env);
    const double off = gap(b, x, n);
    for (size_t j = 0; j < n; j++) /* the last row is the first again */
      a[n - 1 + j * n] = n > 1 ? a[j * n] : 0.0;
    const int bad = ke_solve(n, 1, a, b, work, whole, &env);
    free(a);
    free(x);
    free(b);
    free(work);
    free(lu);
    free(whole);
    mu_assert(good && off < 1e-8 && !bad);
    mu_assert(seen.checks >= steps(n, 64));
  }
}

static void a_nearly_singular_system_is_told_from_a_singular_one(void)
{
  const ke_env env = {.threads = 1};
  double work[8];
  int whole[4];
  for (int p = 50; p <= 54; p += 4) {
    double a[] = {1.0, 0.0, 0.0, ldexp(1.0, -p)}, b[] = {1.0, ldexp(1.0, -p)};
    const int good = ke_solve(2, 1, a, b, work, whole, &env);
    mu_assert(good == (p < 52));
    mu_assert(!good || (b[0] == 1.0 && b[1] == 1.0));
  }
}

/* Wherever they stand among others, and however many there are. */
static void equal_rows_are_divided_alike(void)
{
  enum { M = 21, N = 41 };
  const ke_env env = {.threads = 1};
  double *r = upper(N, 7), *row = draw_many(N, 8), b[M * N];
  int alike = 1;
  for (size_t m = 2; m <= M; m++) {
    for (size_t i = 0; i < m * N; i++)
      b[i] = row[i / m];
    ke_divide_upper(m, N, r, N, b, m, &env);
    for (size_t i = 0; i < m * N; i++)
      alike = alike && b[i] == b[i / m * m];
  }
  free(r), free(row);
  mu_assert(alike);
}

static void matrices_without_rows_or_columns_are_products_too(void)
{
  const ke_env env = {.threads = 1};
  const double a[4] = {1.0, 2.0, 3.0, 4.0};
  double c[4] = {5.0, 6.0, 7.0, 8.0};
  ke_crossprod_upper(0, 2, a, 2, 0.0, c, 1, &env);
  ke_crossprod_upper(2, 0, a, 1, 3.0, c, 2, &env);
  mu_assert(c[0] == 15.0 && c[1] == 6.0 && c[2] == 21.0 && c[3] == 24.0);
  ke_product_transposed((ke_dense){(double *)a, 0, 2, 1}, (ke_dense){(double *)a, 0, 2, 1}, 0.0, c,
                        &env);
  mu_assert(c[0] == 0.0 && c[1] == 0.0 && c[2] == 0.0 && c[3] == 0.0);
}

int main(void)
{
  mu_run(systems_are_solved_in_pieces);
  mu_run(a_nearly_singular_system_is_told_from_a_singular_one);
  mu_run(cross_products_are_those_of_one_call);
  mu_run(cholesky_factors_are_those_of_one_call);
  mu_run(a_wide_factor_divides_some_columns_at_a_time);
  mu_run(triangular_factors_divide_and_multiply);
  mu_run(products_by_rows_are_those_of_one_call);
  mu_run(equal_rows_are_divided_alike);
  mu_run(matrices_without_rows_or_columns_are_products_too);
  return mu_report();
}
