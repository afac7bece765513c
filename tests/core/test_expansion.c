/* expansion.c: values, coordinates and functions against plain loops, on any number of threads. */
#include "draw.h"
#include "kernels.h"
#include "minunit.h"
#include "pack.h"

#include <math.h>
#include <string.h>

enum { D = 3, K = 2 };

typedef struct {
  size_t L, centres, n;
  double *x, *kept, *values, *factor, *dual, *column;
  ke_rows rows, factor_rows, dual_rows;
} problem;

static double positive(size_t i) { return 1.0 + 0.1 * (double)(i % 7); }

/* A well-conditioned lower triangular factor. */
static void fill_factor(problem *p)
{
  const size_t L = p->L;
  for (size_t j = 0; j < L; j++)
    for (size_t i = 0; i < L; i++)
      p->factor[i + j * L] = i < j ? 0.0 : i == j ? positive(i) : p->factor[i + j * L] / (double)L;
}

static problem make(size_t L, size_t centres, size_t n)
{
  problem p = {.L = L, .centres = centres, .n = n};
  p.x = draw_many(n * D, 1);
  p.kept = draw_many((L + centres) * D, 2);
  p.factor = draw_many(L * L, 3);
  p.dual = draw_many(K * L, 4);
  p.column = draw_many(L, 5);
  fill_factor(&p);
  p.rows = packed(p.kept, L + centres, D);
  p.factor_rows = packed(p.factor, L, L);
  p.dual_rows = packed(p.dual, K, L);
  return p;
}

static void end(problem *p)
{
  release(&p->rows);
  release(&p->factor_rows);
  release(&p->dual_rows);
  free(p->x);
  free(p->kept);
  free(p->factor);
  free(p->dual);
  free(p->column);
}

static double kernel_value(const double *a, size_t na, size_t i, const double *b, size_t nb,
                           size_t j)
{
  double d2 = 0.0;
  for (size_t k = 0; k < D; k++)
    d2 += (a[i + k * na] - b[j + k * nb]) * (a[i + k * na] - b[j + k * nb]);
  return exp(-0.5 * d2);
}

/* Coordinates of row i into z, by the book. */
static void coordinates(const problem *p, size_t i, double *z)
{
  const size_t all = p->L + p->centres;
  double mean = 0.0;
  for (size_t j = p->L; j < all; j++)
    mean += kernel_value(p->x, p->n, i, p->kept, all, j) / (double)p->centres;
  for (size_t j = 0; j < p->L; j++) {
    z[j] = kernel_value(p->x, p->n, i, p->kept, all, j);
    if (p->centres)
      z[j] -= mean + p->column[j];
    for (size_t l = 0; l < j; l++)
      z[j] -= p->factor[j + l * p->L] * z[l];
    z[j] /= p->factor[j + j * p->L];
  }
}

static double worst_error(const problem *p, const double *out, int functions)
{
  double worst = 0.0, *z = malloc(p->L * sizeof *z);
  for (size_t i = 0; i < p->n; i++) {
    coordinates(p, i, z);
    for (size_t c = 0; c < (functions ? K : p->L); c++) {
      double expected = functions ? 0.25 : z[c];
      for (size_t j = 0; functions && j < p->L; j++)
        expected += p->dual[c + j * K] * z[j];
      worst = fmax(worst, fabs(out[i + c * p->n] - expected));
    }
  }
  free(z);
  return worst;
}

static double run(const problem *p, int functions, int threads, double *out)
{
  const ke_kernel kernel = kernel_of("rbf", 0.5, 0.0, 0.0);
  const double offset[K] = {0.25, 0.25};
  ke_expansion e = {.L = p->L, .centres = p->centres, .kernel = &kernel, .kept = &p->rows, .d = D};
  ke_env env = {0};
  env.threads = threads;
  e.factor = &p->factor_rows;
  e.column = p->column;
  e.dual = functions ? &p->dual_rows : NULL;
  e.offset = functions ? offset : NULL;
  double *work = malloc(ke_expansion_work(&e, p->n, &env) * sizeof *work);
  const ke_status status = ke_expand(&e, p->x, p->n, out, work, &env);
  free(work);
  return status == KE_OK ? worst_error(p, out, functions) : INFINITY;
}

static void answers_are_those_of_plain_loops(void)
{
  const size_t sizes[][3] = {{1, 0, 1},  {3, 0, 5},    {31, 1, 7},  {32, 0, 4},
                             {33, 2, 9}, {70, 3, 250}, {97, 0, 241}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int functions = 0; functions < 2; functions++) {
      problem p = make(sizes[s][0], sizes[s][1], sizes[s][2]);
      const size_t count = p.n * (p.L > K ? p.L : K);
      double *one = malloc(count * sizeof *one), *two = malloc(count * sizeof *two);
      mu_assert(run(&p, functions, 1, one) < 1e-12);
      run(&p, functions, 3, two);
      mu_assert(memcmp(one, two, p.n * (functions ? K : p.L) * sizeof *one) == 0);
      free(one);
      free(two);
      end(&p);
    }
}

/* `functions` of the given kernel values, six of them drawn. */
static void expand_given(const double *values, size_t n, size_t L, size_t functions, double *out)
{
  double *dual = draw_many(6 * L, 4), *few = malloc(6 * L * sizeof *few);
  for (size_t j = 0; j < L; j++)
    memcpy(few + j * functions, dual + 6 * j, functions * sizeof *few);
  ke_rows rows = packed(few, functions, L);
  const ke_expansion e = {.L = L, .given = values, .dual = &rows};
  const ke_env env = {.threads = 1};
  double *work = malloc(ke_expansion_work(&e, n, &env) * sizeof *work);
  ke_expand(&e, NULL, n, out, work, &env);
  free(work);
  release(&rows);
  free(few);
  free(dual);
}

static void one_function_alone_has_the_bits_it_has_among_many(void)
{
  const size_t n = 67;
  for (size_t L = 255; L <= 520; L += 53) {
    double *values = draw_many(n * L, 6), *all = malloc(6 * n * sizeof *all);
    double *few = malloc(6 * n * sizeof *few);
    expand_given(values, n, L, 6, all);
    for (size_t functions = 1; functions < 6; functions++) {
      expand_given(values, n, L, functions, few);
      mu_assert(memcmp(few, all, functions * n * sizeof *all) == 0);
    }
    free(few);
    free(all);
    free(values);
  }
}

static void what_overflows_is_told(void)
{
  problem p = make(5, 0, 6);
  double *out = malloc(30 * sizeof *out);
  p.x[7] = 1e200;
  mu_assert(run(&p, 0, 1, out) == INFINITY);
  free(out);
  end(&p);
}

int main(void)
{
  mu_run(answers_are_those_of_plain_loops);
  mu_run(one_function_alone_has_the_bits_it_has_among_many);
  mu_run(what_overflows_is_told);
  return mu_report();
}
