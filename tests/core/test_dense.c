/* dense.c, triangle.c: products and factors are those of plain loops, whatever the sizes; what is
 * beyond a matrix or below a diagonal stays as it is. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <string.h>

#define GUARD 5 /* rows beyond every matrix */

static ke_dense draw_dense(size_t rows, size_t columns, uint64_t seed)
{
  const size_t ld = rows + GUARD;
  const ke_dense a = {draw_many(ld * (columns + 1), seed), rows, columns, ld};
  return a;
}

static ke_dense copy_of(ke_dense a)
{
  ke_dense to = draw_dense(a.rows, a.columns, 0);
  memcpy(to.at, a.at, a.ld * (a.columns + 1) * sizeof(double));
  return to;
}

/* Upper triangular, with a large diagonal; noise below it. */
static ke_dense draw_upper(size_t n, uint64_t seed)
{
  ke_dense r = draw_dense(n, n, seed);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i <= j; i++)
      r.at[i + j * r.ld] = i == j ? 2.0 + 0.1 * (double)(j % 3) : r.at[i + j * r.ld] / (double)n;
  return r;
}

static double entry(ke_dense a, size_t i, size_t j) { return a.at[i + j * a.ld]; }

static double upper_entry(ke_dense r, size_t i, size_t j) { return i > j ? 0.0 : entry(r, i, j); }

/* Largest difference of all there is, guards too. */
static double apart(ke_dense a, ke_dense b)
{
  double most = 0.0;
  for (size_t k = 0; k < a.ld * (a.columns + 1); k++)
    most = fmax(most, fabs(a.at[k] - b.at[k]));
  return most;
}

static void naive_gemm(char ta, char tb, double alpha, ke_dense a, ke_dense b, double beta,
                       ke_dense c)
{
  const size_t terms = ta == 'T' ? a.rows : a.columns;
  for (size_t j = 0; j < c.columns; j++)
    for (size_t i = 0; i < c.rows; i++) {
      double sum = 0.0;
      for (size_t k = 0; k < terms; k++)
        sum += (ta == 'T' ? entry(a, k, i) : entry(a, i, k)) *
               (tb == 'T' ? entry(b, j, k) : entry(b, k, j));
      c.at[i + j * c.ld] = alpha * sum + (beta == 0.0 ? 0.0 : beta * entry(c, i, j));
    }
}

static double gemm_gap(const char *op, const size_t size[3], double alpha, double beta)
{
  const size_t m = size[0], n = size[1], k = size[2];
  ke_dense a = op[0] == 'T' ? draw_dense(k, m, 1) : draw_dense(m, k, 1);
  ke_dense b = op[1] == 'T' ? draw_dense(n, k, 2) : draw_dense(k, n, 2);
  ke_dense c = draw_dense(m, n, 3), slow = copy_of(c);
  ke_gemm(op[0], op[1], alpha, a, b, beta, c);
  naive_gemm(op[0], op[1], alpha, a, b, beta, slow);
  const double gap = apart(c, slow);
  free(a.at), free(b.at), free(c.at), free(slow.at);
  return gap;
}

/* One below, at and above every block. */
static void products_are_those_of_plain_loops(void)
{
  static const size_t sizes[][3] = {{1, 1, 1},    {3, 2, 5},       {5, 3, 40},    {12, 4, 9},
                                    {13, 5, 8},   {95, 96, 255},   {96, 97, 256}, {97, 95, 257},
                                    {200, 7, 30}, {193, 101, 513}, {100, 100, 0}};
  static const char *const ops[] = {"NN", "NT", "TN", "TT"};
  static const double factors[][2] = {{1.0, 0.0}, {-1.0, 1.0}, {0.5, -0.25}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t o = 0; o < 4; o++)
      for (size_t f = 0; f < 3; f++)
        mu_assert(gemm_gap(ops[o], sizes[s], factors[f][0], factors[f][1]) < 1e-12);
}

/* What is multiplied by zero does not count, be it no number. */
static void no_share_of_what_was_there_is_none(void)
{
  double a[] = {1.0, 2.0}, b[] = {3.0}, c[] = {NAN, NAN}, wide[] = {1, 2, 3, 4},
         out[] = {NAN, NAN, NAN, NAN};
  ke_gemm('N', 'N', 1.0, (ke_dense){a, 2, 1, 2}, (ke_dense){b, 1, 1, 1}, 0.0,
          (ke_dense){c, 2, 1, 2});
  mu_assert(c[0] == 3.0 && c[1] == 6.0);
  ke_gemm('N', 'N', 1.0, (ke_dense){b, 1, 1, 1}, (ke_dense){wide, 1, 4, 1}, 0.0,
          (ke_dense){out, 1, 4, 1});
  mu_assert(out[0] == 3.0 && out[3] == 12.0);
}

static double gemv_gap(char t, size_t m, size_t n, size_t step)
{
  ke_dense a = draw_dense(m, n, 4), x = draw_dense((t == 'T' ? m : n) * step, 1, 5);
  ke_dense y = draw_dense(t == 'T' ? n : m, 1, 6), slow = copy_of(y);
  ke_dense taken = draw_dense(t == 'T' ? m : n, 1, 7);
  for (size_t i = 0; i < taken.rows; i++)
    taken.at[i] = x.at[i * step];
  ke_gemv(t, -0.5, a, x.at, step, 2.0, y.at);
  naive_gemm(t, 'N', -0.5, a, taken, 2.0, slow);
  const double gap = apart(y, slow);
  free(a.at), free(x.at), free(y.at), free(slow.at), free(taken.at);
  return gap;
}

static void matrices_times_vectors_are_those_of_plain_loops(void)
{
  static const size_t sizes[] = {1, 3, 4, 5, 7, 96, 97, 203};
  for (size_t i = 0; i < 8; i++)
    for (size_t j = 0; j < 8; j++)
      for (size_t step = 1; step < 4; step += 2) {
        mu_assert(gemv_gap('N', sizes[i], sizes[j], step) < 1e-12);
        mu_assert(gemv_gap('T', sizes[i], sizes[j], step) < 1e-12);
      }
}

static double syrk_gap(size_t m, size_t n)
{
  ke_dense a = draw_dense(m, n, 7), c = draw_dense(n, n, 8), all = copy_of(c), slow = copy_of(c);
  naive_gemm('T', 'N', -2.0, a, a, 0.5, all);
  for (size_t j = 0; j < n; j++)
    memcpy(slow.at + j * slow.ld, all.at + j * all.ld, (j + 1) * sizeof(double));
  ke_syrk_upper(-2.0, a, 0.5, c);
  const double gap = apart(c, slow);
  free(a.at), free(c.at), free(all.at), free(slow.at);
  return gap;
}

static void squares_fill_the_upper_triangle_alone(void)
{
  static const size_t sizes[] = {1, 5, 12, 13, 96, 97, 210};
  for (size_t i = 0; i < 7; i++) {
    mu_assert(syrk_gap(40, sizes[i]) < 1e-12);
    mu_assert(syrk_gap(300, sizes[i]) < 1e-11);
  }
}

/* R as a whole matrix, zero below the diagonal. */
static ke_dense whole(ke_dense r)
{
  ke_dense out = copy_of(r);
  for (size_t j = 0; j < r.columns; j++)
    for (size_t i = 0; i < r.rows; i++)
      out.at[i + j * out.ld] = upper_entry(r, i, j);
  return out;
}

typedef struct {
  ke_dense r, full, b, x, back;
  size_t k;
} system_of;

static system_of draw_system(size_t n, size_t k, int on_right)
{
  system_of s;
  s.r = draw_upper(n, 9);
  s.full = whole(s.r);
  s.b = on_right ? draw_dense(k, n, 10) : draw_dense(n, k, 10);
  s.x = copy_of(s.b);
  s.back = copy_of(s.b);
  s.k = k;
  return s;
}

static double end_system(system_of s, double gap)
{
  free(s.r.at), free(s.full.at), free(s.b.at), free(s.x.at), free(s.back.at);
  return gap;
}

/* A division is right if multiplying it out gives what was divided. */
static double right_gap(size_t n, size_t k)
{
  system_of s = draw_system(n, k, 1);
  ke_trsm_right_upper(s.r, s.x);
  naive_gemm('N', 'N', 1.0, s.x, s.full, 0.0, s.back);
  double gap = apart(s.back, s.b);
  ke_trmm_right_upper(s.r, s.x);
  gap = fmax(gap, apart(s.x, s.b));
  return end_system(s, gap);
}

static double left_gap(size_t n, size_t k)
{
  system_of s = draw_system(n, k, 0);
  ke_trsm_left_upper('N', s.r, s.x);
  naive_gemm('N', 'N', 1.0, s.full, s.x, 0.0, s.back);
  double gap = apart(s.back, s.b);
  ke_trmm_left_upper(s.r, s.x);
  gap = fmax(gap, apart(s.x, s.b));
  ke_trsm_left_upper('T', s.r, s.x);
  naive_gemm('T', 'N', 1.0, s.full, s.x, 0.0, s.back);
  gap = fmax(gap, apart(s.back, s.b));
  return end_system(s, gap);
}

static double unit_gap(size_t n, size_t k)
{
  system_of s = draw_system(n, k, 0);
  ke_dense l = copy_of(s.r);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      l.at[i + j * l.ld] = i > j ? entry(s.r, j, i) : 7.0; /* never looked at */
      s.full.at[i + j * s.full.ld] = i > j ? entry(s.r, j, i) : (double)(i == j);
    }
  ke_trsm_left_unit_lower(l, s.x);
  naive_gemm('N', 'N', 1.0, s.full, s.x, 0.0, s.back);
  const double gap = apart(s.back, s.b);
  free(l.at);
  return end_system(s, gap);
}

static void triangular_factors_divide_and_multiply(void)
{
  static const size_t sizes[] = {1, 3, 4, 7, 15, 16, 17, 33, 64, 150};
  for (size_t i = 0; i < 10; i++)
    for (size_t k = 1; k < 120; k = 2 * k + 5) {
      mu_assert(right_gap(sizes[i], k) < 1e-12);
      mu_assert(left_gap(sizes[i], k) < 1e-12);
      mu_assert(unit_gap(sizes[i], k) < 1e-11);
    }
}

static void cholesky_factors_multiply_to_what_they_are_of(void)
{
  static const size_t sizes[] = {1, 5, 16, 17, 40, 130};
  for (size_t s = 0; s < 6; s++) {
    const size_t n = sizes[s];
    ke_dense r = draw_upper(n, 11), full = whole(r), a = copy_of(r), kept;
    ke_syrk_upper(1.0, full, 0.0, a);
    kept = copy_of(a);
    const int good = ke_potrf_upper(a);
    const double gap = apart(a, r);
    kept.at[(n - 1) * (kept.ld + 1)] = -1.0;
    const int bad = ke_potrf_upper(kept);
    free(r.at), free(full.at), free(a.at), free(kept.at);
    mu_assert(good && gap < 1e-12 && !bad);
  }
}

int main(void)
{
  mu_run(products_are_those_of_plain_loops);
  mu_run(no_share_of_what_was_there_is_none);
  mu_run(matrices_times_vectors_are_those_of_plain_loops);
  mu_run(squares_fill_the_upper_triangle_alone);
  mu_run(triangular_factors_divide_and_multiply);
  mu_run(cholesky_factors_multiply_to_what_they_are_of);
  return mu_report();
}
