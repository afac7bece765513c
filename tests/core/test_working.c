/* working.c: the dual program without its matrix, against dual.c with it. */
#include "count.h"
#include "draw.h"
#include "kernels.h"
#include "minunit.h"
#include "pack.h"

#include <string.h>

enum { N = 300, D = 3, TERMS = 2 };

typedef struct {
  double *k, *linear, *lower, *upper, *b, *g, *state[TERMS];
  ke_rows rows[TERMS];
  ke_source source[TERMS];
  double weight[TERMS], noise;
  tally tally;
  ke_dual_result result;
} task;

/* Two kernels on random rows, weighted, and noise; classes by the first column and chance. */
static void make_task(task *t, double cost)
{
  const task empty = {.weight = {0.5, 1.5}, .noise = 0.01};
  *t = empty;
  uint64_t seed = 4;
  const ke_kernel kernels[TERMS] = {kernel_of("rbf", 0.5, 0.0, 0.0),
                                    kernel_of("linear", 0.0, 0.0, 0.0)};
  t->k = calloc(N * N, sizeof(double));
  t->linear = calloc(5 * N, sizeof(double));
  t->lower = t->linear + N, t->upper = t->lower + N, t->b = t->upper + N, t->g = t->b + N;
  double *one = malloc(N * N * sizeof(double)), *x = NULL;
  for (size_t m = 0; m < TERMS; m++) {
    double *values = draw_many(N * D, m + 7);
    t->rows[m] = packed(values, N, D);
    t->state[m] = malloc(ke_source_rows_state(&t->rows[m]) * sizeof(double));
    t->source[m] = ke_source_rows(&kernels[m], &t->rows[m], t->state[m]);
    ke_tile(&kernels[m], (ke_range){&t->rows[m], 0, N}, (ke_range){&t->rows[m], 0, N}, one, N);
    for (size_t i = 0; i < N * N; i++)
      t->k[i] += t->weight[m] * one[i];
    if (m == 0)
      x = values;
    else
      free(values);
  }
  for (size_t i = 0; i < N; i++) {
    const int up = x[i] + 0.4 * draw(&seed) > 0.0;
    t->k[i * (N + 1)] += t->noise;
    t->linear[i] = up ? 1.0 : -1.0;
    t->lower[i] = up ? 0.0 : -cost;
    t->upper[i] = up ? cost : 0.0;
  }
  free(one), free(x);
}

static void drop_task(task *t)
{
  for (size_t m = 0; m < TERMS; m++) {
    release(&t->rows[m]);
    free(t->state[m]);
  }
  free(t->k), free(t->linear);
}

static ke_dual problem_of(const task *t, double total)
{
  const ke_dual p = {N, t->k, N, t->linear, t->lower, t->upper, total};
  return p;
}

static ke_status solve_held(task *t, double tol)
{
  const ke_env env = {.threads = 1};
  const ke_dual p = problem_of(t, 0.0);
  ke_dual_control c = {.tol = tol, .max_iter = 1000000, .face = N};
  c.doubles = malloc(ke_dual_doubles(N, N) * sizeof(double));
  c.indices = malloc(ke_dual_indices(N) * sizeof(size_t));
  const ke_status status = ke_dual_solve(&p, &c, t->b, t->g, &t->result, &env);
  free(c.doubles), free(c.indices);
  return status;
}

static ke_status solve_by_sets(task *t, size_t size, size_t columns, size_t sets, double total)
{
  const ke_env env = counting(&t->tally, 1);
  ke_working w = {problem_of(t, total), t->source, t->weight, TERMS, t->noise};
  w.problem.k = NULL;
  ke_working_control c = {.tol = 1e-9, .max_iter = sets, .size = size, .columns = columns};
  c.doubles = malloc(ke_working_doubles(N, &c) * sizeof(double));
  c.indices = malloc(ke_working_indices(N, &c) * sizeof(size_t));
  const ke_status status = ke_working_solve(&w, &c, t->b, t->g, &t->result, &env);
  free(c.doubles), free(c.indices);
  return status;
}

/* Largest difference between the gradient at hand and linear - K b. */
static double drift(const task *t)
{
  double worst = 0.0;
  for (size_t i = 0; i < N; i++) {
    double g = t->linear[i];
    for (size_t j = 0; j < N; j++)
      g -= t->k[i + j * N] * t->b[j];
    worst = fmax(worst, fabs(g - t->g[i]));
  }
  return worst;
}

/* Whatever the size of the sets and of the cache. */
static void the_solution_is_that_of_the_matrix(void)
{
  const size_t sizes[] = {16, 20, 130, N}, columns[] = {16, 25, 200, N};
  task t;
  make_task(&t, 2.0);
  mu_assert(solve_held(&t, 1e-12) == KE_OK);
  const double value = t.result.value, intercept = t.result.intercept;
  for (int i = 0; i < 4; i++) {
    memset(t.b, 0, N * sizeof(double));
    mu_assert(solve_by_sets(&t, sizes[i], columns[i], 1000000, 0.0) == KE_OK);
    mu_near(t.result.value, value, 1e-7 * fabs(value));
    mu_assert(fabs(t.result.intercept - intercept) < 1e-2);
    mu_assert(t.result.gap <= 1e-9 * t.result.scale);
    mu_assert(drift(&t) < 1e-10);
  }
  const size_t cold = t.result.faces;
  mu_assert(solve_by_sets(&t, 20, 25, 1000000, 0.0) == KE_OK); /* from the solution */
  mu_assert(t.result.faces <= cold);
  mu_assert(drift(&t) < 1e-10);
  drop_task(&t);
}

static void a_hard_margin_is_found_or_refused(void)
{
  task t;
  make_task(&t, INFINITY); /* the noise makes any classes separable */
  mu_assert(solve_held(&t, 1e-10) == KE_OK);
  const double value = t.result.value;
  memset(t.b, 0, N * sizeof(double));
  mu_assert(solve_by_sets(&t, 150, N, 1000000, 0.0) == KE_OK);
  mu_near(t.result.value, value, 1e-6 * fabs(value));
  t.noise = 0.0, t.weight[0] = 0.0; /* the line alone cannot tell the classes apart */
  memset(t.b, 0, N * sizeof(double));
  mu_assert(solve_by_sets(&t, 150, N, 1000000, 0.0) == KE_INFEASIBLE);
  drop_task(&t);
}

static void limits_and_sums_that_cannot_be_are_told(void)
{
  task t;
  make_task(&t, 2.0);
  mu_assert(solve_by_sets(&t, 20, 25, 3, 0.0) == KE_NOT_CONVERGED);
  mu_assert(t.result.faces == 3);
  mu_assert(solve_by_sets(&t, 20, 25, 3, 1e6) == KE_INFEASIBLE);
  t.weight[0] = NAN;
  memset(t.b, 0, N * sizeof(double));
  mu_assert(solve_by_sets(&t, 20, 25, 1000, 0.0) == KE_NOT_FINITE);
  drop_task(&t);
}

/* Once a set, and for every block of columns of either kernel. */
static void sets_look_for_interrupts(void)
{
  task t;
  make_task(&t, 2.0);
  solve_by_sets(&t, 20, N, 5, 0.0);
  mu_assert(t.tally.checks >= 5 * (1 + TERMS));
  drop_task(&t);
}

int main(void)
{
  mu_run(the_solution_is_that_of_the_matrix);
  mu_run(a_hard_margin_is_found_or_refused);
  mu_run(limits_and_sums_that_cannot_be_are_told);
  mu_run(sets_look_for_interrupts);
  return mu_report();
}
