/* bidiagonal.c: R R' = P B'B P' with P orthogonal, whatever the size and the threads. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"
#include "one_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* P, and B'B from its two diagonals, in units of some number. */
typedef struct {
  double *p, *inner;
} turned;

static turned turn(double *r, size_t m, int threads, double unit)
{
  int *dependent = calloc(m, sizeof(int));
  const ke_regression g = {.L = m, .r = r, .dependent = dependent};
  const ke_env env = {.threads = threads};
  turned out = {malloc(m * m * sizeof(double)), calloc(m * m, sizeof(double))};
  double *diagonal = malloc(2 * m * sizeof(double)), *over = diagonal + m;
  ke_bidiagonal b = {m,     malloc(m * m * sizeof(double)),
                     out.p, diagonal,
                     over,  malloc(ke_bidiagonal_work(m) * sizeof(double))};
  ke_bidiagonalise(&g, &b, &env);
  for (size_t j = 0; j < 2 * m; j++)
    diagonal[j] /= unit;
  for (size_t j = 0; j < m; j++) {
    const double above = j > 0 ? over[j - 1] : 0.0;
    out.inner[j * (m + 1)] = diagonal[j] * diagonal[j] + above * above;
    if (j > 0)
      out.inner[j - 1 + j * m] = out.inner[j + (j - 1) * m] = diagonal[j - 1] * above;
  }
  free(dependent);
  free(diagonal);
  free(b.a);
  free(b.work);
  return out;
}

/* fmax() would pass over NaN. */
static double larger(double most, double x) { return x <= most || isnan(most) ? most : x; }

/* Largest entry of P'P - I and of P B'B P' - R R'. */
static double gap(const turned *t, const double *r, size_t m)
{
  double *left = calloc(m * m, sizeof(double)), *right = calloc(m * m, sizeof(double)), most = 0.0;
  blas_gemm('T', 'N', m, m, m, 1.0, t->p, m, t->p, m, 0.0, left, m);
  for (size_t i = 0; i < m * m; i++)
    most = larger(most, fabs(left[i] - (i % (m + 1) == 0)));
  blas_gemm('N', 'N', m, m, m, 1.0, t->p, m, t->inner, m, 0.0, left, m);
  blas_gemm('N', 'T', m, m, m, 1.0, left, m, t->p, m, 0.0, right, m);
  blas_gemm('N', 'T', m, m, m, -1.0, r, m, r, m, 1.0, right, m);
  for (size_t i = 0; i < m * m; i++)
    most = larger(most, fabs(right[i]));
  free(left);
  free(right);
  return most;
}

/* Below, at and beyond the size from which panels are used; also with one and two columns left. */
static void factors_become_bidiagonal_by_an_orthogonal_matrix(void)
{
  const size_t sizes[] = {1, 2, 33, 128, 129, 161, 300};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const size_t m = sizes[s];
    double *r = draw_many(m * m, 5 + s);
    for (size_t j = 0; j < m; j++)
      for (size_t i = j + 1; i < m; i++)
        r[i + j * m] = 0.0;
    const turned one = turn(r, m, 1, 1.0), two = turn(r, m, 2, 1.0);
    const double off = gap(&one, r, m);
    const int same = memcmp(one.p, two.p, m * m * sizeof(double)) == 0 &&
                     memcmp(one.inner, two.inner, m * m * sizeof(double)) == 0;
    double *arrays[] = {r, one.p, one.inner, two.p, two.inner};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
      free(arrays[i]);
    mu_assert(off < 1e-11 * (double)m);
    mu_assert(same);
  }
}

/* Nothing to reflect, factors whose columns shrink by 1e-12 in all, those of one direction, tiny
 * and huge ones, and tiny numbers right of the diagonal. The gap is that of R in units of its size.
 */
static void odd_factors_become_bidiagonal(void)
{
  enum { M = 200, KINDS = 7 };
  for (size_t kind = 0; kind < KINDS; kind++) {
    double *r = draw_many(M * M, 40 + kind);
    for (size_t j = 0; j < M; j++)
      for (size_t i = 0; i < M; i++) {
        double *at = r + i + j * M;
        if (i > j || kind == 0)
          *at = 0.0;
        else if (kind == 1)
          *at = i == j ? (double)(j % 7) : 0.0;
        else if (kind == 2)
          *at *= pow(10.0, -12.0 * (double)i / M);
        else if (kind == 3)
          *at = i == 0 ? 1.0 + (double)j : 0.0;
        else if (kind == 6)
          *at = i == j ? 1.0 + 0.5 * *at : 1e-316 * *at;
      }
    const double unit = kind == 4 ? 0x1p-660 : kind == 5 ? 0x1p660 : 1.0;
    for (size_t i = 0; i < M * M; i++)
      r[i] *= unit;
    const turned t = turn(r, M, 1, unit);
    for (size_t i = 0; i < M * M; i++)
      r[i] /= unit;
    double most = 0.0;
    for (size_t i = 0; i < M * M; i++)
      most = fmax(most, r[i] * r[i] * M);
    const double off = gap(&t, r, M);
    free(r);
    free(t.p);
    free(t.inner);
    mu_assert(off <= 1e-13 * fmax(most, (double)M));
  }
}

int main(void)
{
  mu_run(factors_become_bidiagonal_by_an_orthogonal_matrix);
  mu_run(odd_factors_become_bidiagonal);
  return mu_report();
}
