#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed;

typedef struct {
  size_t n;
  double *k, *linear, *lower, *upper, *b, *g;
  double total;
  size_t max_iter;
  double share; /* of the first gap that will do */
  tally tally;
  ke_dual_result result;
} task;

static task make_task(size_t n)
{
  task t = {0};
  t.n = n;
  t.max_iter = 1000000;
  t.k = (double *)calloc(n * n, sizeof(double));
  t.linear = (double *)calloc(5 * n, sizeof(double));
  t.lower = t.linear + n, t.upper = t.linear + 2 * n, t.b = t.linear + 3 * n,
  t.g = t.linear + 4 * n;
  return t;
}

static void drop_task(task *t)
{
  free(t->k);
  free(t->linear);
}

static ke_status solve(task *t, size_t face, double tol)
{
  const size_t n = t->n;
  const ke_env env = counting(&t->tally, 1);
  const ke_dual p = {n, t->k, n, t->linear, t->lower, t->upper, t->total};
  ke_dual_control c = {.tol = tol, .share = t->share, .max_iter = t->max_iter, .face = face};
  c.doubles = (double *)malloc(ke_dual_doubles(n, face) * sizeof(double));
  c.indices = (size_t *)malloc(ke_dual_indices(n) * sizeof(size_t));
  const ke_status status = ke_dual_solve(&p, &c, t->b, t->g, &t->result, &env);
  free(c.doubles);
  free(c.indices);
  return status;
}

/* Linear kernel of random points, classes by the first coordinate plus noise. */
static task random_machine(size_t n, size_t d, double cost, double noise)
{
  task t = make_task(n);
  double *x = (double *)malloc(n * d * sizeof(double));
  for (size_t i = 0; i < n * d; i++)
    x[i] = draw(&seed);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t c = 0; c < d; c++)
        t.k[i + j * n] += x[i + c * n] * x[j + c * n];
  for (size_t i = 0; i < n; i++) {
    const int up = x[i] + noise * draw(&seed) > 0.0;
    t.linear[i] = up ? 1.0 : -1.0;
    t.lower[i] = up ? 0.0 : -cost;
    t.upper[i] = up ? cost : 0.0;
  }
  free(x);
  return t;
}

/* Largest breach of the bounds, the sum and the optimality conditions. */
static double breach(const task *t)
{
  double sum = -t->total, worst = 0.0, up = -INFINITY, down = INFINITY;
  for (size_t i = 0; i < t->n; i++) {
    double g = t->linear[i];
    for (size_t j = 0; j < t->n; j++)
      g -= t->k[i + j * t->n] * t->b[j];
    sum += t->b[i];
    worst = fmax(worst, fmax(t->lower[i] - t->b[i], t->b[i] - t->upper[i]));
    if (t->b[i] < t->upper[i])
      up = fmax(up, g);
    if (t->b[i] > t->lower[i])
      down = fmin(down, g);
  }
  return fmax(fmax(worst, fabs(sum)), up - down);
}

static void two_points_have_a_margin_by_formula(void)
{
  /* points -1 and 3: f(x) = (x - 1) / 2, lambda = 1/8 */
  task t = make_task(2);
  const double k[] = {1.0, -3.0, -3.0, 9.0};
  memcpy(t.k, k, sizeof k);
  t.linear[0] = -1.0, t.linear[1] = 1.0;
  t.lower[0] = -INFINITY, t.upper[1] = INFINITY;
  mu_assert(solve(&t, 2, 1e-12) == KE_OK);
  mu_near(t.b[1], 0.125, 1e-14);
  mu_near(t.b[0], -0.125, 1e-14);
  mu_near(t.result.intercept, -0.5, 1e-14);
  mu_near(t.result.value, -0.125, 1e-14);
  drop_task(&t);
}

static void sphere_around_a_triangle_has_its_circumradius(void)
{
  const double x[] = {0.0, 4.0, 2.0}, y[] = {0.0, 0.0, 3.0};
  task t = make_task(3);
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++)
      t.k[i + 3 * j] = x[i] * x[j] + y[i] * y[j];
    t.linear[i] = t.k[i * 4] / 2.0;
    t.upper[i] = 1.0;
  }
  t.total = 1.0;
  mu_assert(solve(&t, 3, 1e-12) == KE_OK);
  mu_near(-2.0 * t.result.value, 13.0 * 13.0 / 36.0, 1e-12); /* R = abc / (4 area) */
  drop_task(&t);
}

static void random_machines_are_solved_to_the_gap_they_report(void)
{
  const double costs[] = {0.1, 1.0, 1e3, 1e6};
  seed = 7;
  for (size_t c = 0; c < 4; c++)
    for (size_t d = 1; d < 12; d += 5) {
      task t = random_machine(60 + 7 * d, d, costs[c], 0.5);
      mu_assert(solve(&t, t.n, 1e-10) == KE_OK);
      mu_assert(breach(&t) <= 1e-8 * fmax(1.0, costs[c]));
      mu_assert(t.result.gap >= 0.0 && t.result.gap <= 2e-10 * fabs(3.0 * t.result.value) + 1e-12);
      drop_task(&t);
    }
}

static void faces_and_warm_start_change_no_result(void)
{
  seed = 11;
  task t = random_machine(90, 4, 10.0, 0.4);
  double value[3];
  mu_assert(solve(&t, 90, 1e-11) == KE_OK);
  value[0] = t.result.value;
  const size_t cold = t.result.iterations;
  mu_assert(solve(&t, 90, 1e-9) == KE_OK); /* from the solution */
  value[1] = t.result.value;
  mu_assert(t.result.iterations < cold / 4);
  memset(t.b, 0, 90 * sizeof(double));
  mu_assert(solve(&t, 0, 1e-11) == KE_OK);
  value[2] = t.result.value;
  for (int i = 1; i < 3; i++)
    mu_near(value[i], value[0], 1e-8);
  drop_task(&t);
}

/* Thousands of steps, each adding its rounding: what is returned is worked out anew. */
static void the_gradient_is_that_of_the_answer(void)
{
  seed = 13;
  task t = random_machine(60, 3, 1e4, 0.5);
  mu_assert(solve(&t, 0, 1e-9) == KE_OK);
  mu_assert(t.result.iterations > 10000);
  for (size_t i = 0; i < t.n; i++) {
    long double g = t.linear[i], size = 0.0L;
    for (size_t j = 0; j < t.n; j++) {
      const long double term = (long double)t.k[i + j * t.n] * t.b[j];
      g -= term;
      size += fabsl(term);
    }
    mu_near(t.g[i], (double)g, (double)size * 2.0 * 2.220446e-16);
  }
  drop_task(&t);
}

static void a_margin_that_does_not_exist_is_infeasible(void)
{
  seed = 3;
  for (size_t d = 1; d < 30; d += 7) {
    task t = random_machine(150, d, INFINITY, 1.5);
    mu_assert(solve(&t, t.n, 1e-8) == KE_INFEASIBLE);
    drop_task(&t);
  }
  task t = random_machine(6, 2, INFINITY, 0.0); /* equal points of both classes */
  for (size_t i = 0; i < 36; i++)
    t.k[i] = 1.0;
  t.linear[0] = 1.0, t.lower[0] = 0.0, t.upper[0] = INFINITY;
  t.linear[1] = -1.0, t.lower[1] = -INFINITY, t.upper[1] = 0.0;
  mu_assert(solve(&t, 6, 1e-8) == KE_INFEASIBLE);
  drop_task(&t);
}

static void a_margin_that_exists_is_found(void)
{
  seed = 5;
  for (size_t d = 1; d < 60; d += 11) {
    task t = random_machine(100, d, INFINITY, 0.0);
    mu_assert(solve(&t, t.n, 1e-10) == KE_OK);
    for (size_t i = 0; i < t.n; i++) /* g (f + intercept) >= 1 */
      mu_assert(t.linear[i] * (t.linear[i] - t.g[i] + t.result.intercept) >= 1.0 - 1e-7);
    mu_assert(breach(&t) <= 1e-7);
    drop_task(&t);
  }
}

static void an_impossible_sum_is_infeasible(void)
{
  task t = make_task(3);
  for (size_t i = 0; i < 3; i++)
    t.k[i * 4] = 1.0, t.upper[i] = 1.0;
  t.total = 4.0;
  mu_assert(solve(&t, 3, 1e-8) == KE_INFEASIBLE);
  t.total = 3.0;
  mu_assert(solve(&t, 3, 1e-8) == KE_OK);
  mu_near(t.b[2], 1.0, 0.0);
  drop_task(&t);
}

/* A sum is right to n eps times its size, 4 eps in the first case and 8 in the second. */
static void a_sum_that_is_right_to_rounding_is_right(void)
{
  const double eps = 0x1p-52;
  for (int k = 2; k <= 16; k += 14) {
    task t = make_task(2);
    t.k[0] = t.k[3] = t.upper[0] = t.upper[1] = t.total = 1.0;
    t.b[0] = 0.5;
    t.b[1] = 0.5 + k * eps;
    t.max_iter = 0;
    solve(&t, 2, 1e-12);
    mu_assert((t.b[1] == 0.5 + k * eps && t.b[0] == 0.5) == (k == 2));
    mu_near(t.b[0] + t.b[1], 1.0, 4.0 * eps);
    t.total = 2.0 + 2.0 * k * eps;
    mu_assert((solve(&t, 2, 1e-12) == KE_INFEASIBLE) == (k == 16));
    drop_task(&t);
  }
}

static void what_is_not_finite_is_reported(void)
{
  seed = 9;
  task t = random_machine(30, 3, 1.0, 0.3);
  t.k[4 * 31] = NAN;
  t.k[5 + 4 * 30] = t.k[4 + 5 * 30] = NAN;
  const ke_status status = solve(&t, 30, 1e-8);
  mu_assert(status == KE_NOT_FINITE || status == KE_NOT_CONVERGED);
  for (size_t i = 0; i < 900; i++)
    t.k[i] = NAN;
  mu_assert(solve(&t, 30, 1e-8) == KE_NOT_FINITE);
  drop_task(&t);
}

static void one_variable_and_constant_kernels_are_solved(void)
{
  task t = make_task(1);
  t.k[0] = 2.0, t.linear[0] = 1.0, t.upper[0] = 1.0, t.total = 1.0;
  mu_assert(solve(&t, 1, 1e-10) == KE_OK);
  mu_near(t.b[0], 1.0, 0.0);
  drop_task(&t);
  task flat = random_machine(12, 2, 2.0, 0.2);
  memset(flat.k, 0, 144 * sizeof(double)); /* linear program: as much as the bounds allow */
  mu_assert(solve(&flat, 12, 1e-10) == KE_OK);
  mu_assert(breach(&flat) <= 1e-12);
  drop_task(&flat);
}

static void no_iteration_allowed_leaves_the_start_as_it_is(void)
{
  task t = random_machine(40, 3, 1.0, 0.3);
  t.max_iter = 0;
  mu_assert(solve(&t, 40, 1e-10) == KE_NOT_CONVERGED);
  mu_assert(t.result.iterations == 0);
  for (size_t i = 0; i < t.n; i++)
    mu_near(t.b[i], 0.0, 0.0);
  drop_task(&t);
}

/* A start of the right shape is made as long as it should be before anything else. */
static void a_start_is_right_but_for_its_size(void)
{
  task t = random_machine(30, 3, INFINITY, 0.0);
  double answer[30];
  mu_assert(solve(&t, 30, 1e-12) == KE_OK);
  memcpy(answer, t.b, sizeof answer);
  for (size_t i = 0; i < t.n; i++)
    t.b[i] *= 0.25;
  t.max_iter = 0;
  mu_assert(solve(&t, 30, 1e-9) == KE_OK);
  for (size_t i = 0; i < t.n; i++)
    mu_near(t.b[i], answer[i], 1e-8 * fabs(answer[i]));
  double longest = 0.0; /* and no longer than the bounds allow */
  for (size_t i = 0; i < t.n; i++) {
    longest = fmax(longest, fabs(answer[i]));
    t.b[i] *= 0.25;
  }
  for (size_t i = 0; i < t.n; i++) {
    t.upper[i] = t.upper[i] > 0.0 ? longest / 2.0 : 0.0;
    t.lower[i] = t.lower[i] < 0.0 ? -longest / 2.0 : 0.0;
  }
  mu_assert(solve(&t, 30, 1e-9) == KE_NOT_CONVERGED);
  for (size_t i = 0; i < t.n; i++)
    mu_near(t.b[i], answer[i] / 2.0, 1e-8 * fabs(answer[i]));
  drop_task(&t);
}

/* Where zero is outside a bound a multiple would leave it: the start stays as it is. */
static void a_start_among_bounds_without_zero_keeps_its_size(void)
{
  for (int side = 0; side < 2; side++) {
    task t = make_task(2);
    t.k[0] = t.k[3] = 1.0;
    t.linear[0] = 4.0, t.linear[1] = -4.0;
    t.b[0] = 0.5, t.b[1] = -0.5;
    t.lower[0] = side ? 0.0 : 0.25, t.upper[0] = 8.0;
    t.lower[1] = -8.0, t.upper[1] = side ? -0.25 : 0.0;
    t.max_iter = 0;
    mu_assert(solve(&t, 2, 1e-9) == KE_NOT_CONVERGED);
    mu_near(t.b[0], 0.5, 0.0);
    mu_near(t.b[1], -0.5, 0.0);
    drop_task(&t);
  }
}

/* Half of the first gap is soon reached, and no more is done. */
static void a_share_of_the_first_gap_will_do(void)
{
  seed = 11;
  task t = random_machine(90, 4, 10.0, 0.4);
  double gap[3];
  for (int i = 0; i < 3; i++) {
    t.share = i == 0 ? 1.0 : i == 1 ? 0.5 : 0.0;
    memset(t.b, 0, 90 * sizeof(double));
    mu_assert(solve(&t, 90, 1e-9) == KE_OK);
    gap[i] = t.result.gap;
    mu_assert(i > 0 || t.result.iterations == 0);
  }
  drop_task(&t);
  mu_assert(gap[1] <= 0.5 * gap[0] && gap[1] > 1e-3 * gap[0] && gap[2] < 1e-6 * gap[0]);
}

/* ---- looks for an interrupt ------------------------------------------------------------------ */

enum {
  EVERY_COLUMNS = 64, /* that a fresh gradient reads between two looks, */
  EVERY_RANKS = 64    /* and columns that the factor of a face gains */
};

/* Pairs that a task takes between two looks. */
static size_t pairs_in_batch(size_t n) { return 32 + n / 8; }

static void batches_of_pairs_look_for_interrupts(void)
{
  const size_t batches = 5;
  seed = 13;
  task t = random_machine(60, 3, 1e4, 0.5);
  t.max_iter = batches * pairs_in_batch(t.n);
  const ke_status status = solve(&t, 0, 1e-9);
  const size_t iterations = t.result.iterations, checks = t.tally.checks;
  drop_task(&t);
  mu_assert(status == KE_NOT_CONVERGED && iterations == batches * pairs_in_batch(60));
  mu_assert(checks == batches);
}

/* A sphere around points far from each other, from a start in which every variable is free. */
static task free_sphere(size_t n)
{
  task t = make_task(n);
  for (size_t i = 0; i < n; i++) {
    t.k[i * (n + 1)] = 1.0 + (double)i / (double)n;
    t.linear[i] = t.k[i * (n + 1)] / 2.0;
    t.upper[i] = 1.0;
    t.b[i] = 1.0 / (double)n;
  }
  t.total = 1.0;
  return t;
}

static void a_fresh_gradient_looks_for_interrupts(void)
{
  const size_t n = 3 * EVERY_COLUMNS + 8;
  task t = free_sphere(n);
  t.max_iter = 0; /* the start is judged, no more */
  solve(&t, 0, 0.0);
  const size_t checks = t.tally.checks;
  drop_task(&t);
  mu_assert(checks == n / EVERY_COLUMNS);
}

/* One batch of pairs, and then one face, given up when its rank is beyond what was lent. */
static void faces_look_for_interrupts(void)
{
  const size_t n = 300, face = EVERY_RANKS + 1;
  task t = free_sphere(n);
  t.max_iter = 1;
  solve(&t, face, 0.0);
  const ke_dual_result result = t.result;
  const size_t checks = t.tally.checks;
  drop_task(&t);
  mu_assert(result.iterations == pairs_in_batch(n) && result.faces == 1);
  mu_assert(checks == n / EVERY_COLUMNS + 1 + result.faces + steps(face, EVERY_RANKS));
}

/* No tolerance: the solver goes on until rounding lets no step lower the value, and a constant in
 * all of K (which changes no solution) coarsens that. Gaps up to 1e-8 of the scale are then
 * solutions, larger ones are not. */
static void where_rounding_ends_the_search_the_gap_decides(void)
{
  int near = 0, far = 0;
  for (int step = 0; step < 40; step++) {
    seed = 6;
    task t = random_machine(30, 13, step % 2 ? 1e6 : 1e3, 0.3);
    double top = 0.0, total = 0.0;
    for (size_t i = 0; i < t.n * t.n; i++)
      t.k[i] += pow(2.0, step / 2);
    const ke_status status = solve(&t, t.n, 0.0);
    for (size_t i = 0; i < t.n; i++) {
      top = fmax(top, t.k[i + i * t.n]);
      total += fabs(t.b[i]);
    }
    const double gap = t.result.gap / t.result.scale,
                 blur = DBL_EPSILON / 4.0 * top * total * total / t.result.scale;
    drop_task(&t);
    mu_assert(status == (gap <= 1e-8 || gap <= blur ? KE_OK : KE_NOT_CONVERGED));
    near += gap > fmax(blur, 1e-11) && gap <= 1e-8;
    far += gap > fmax(blur, 1e-8) && gap <= 1e-5;
  }
  mu_assert(near >= 3 && far >= 3);
}

int main(void)
{
  mu_run(two_points_have_a_margin_by_formula);
  mu_run(sphere_around_a_triangle_has_its_circumradius);
  mu_run(random_machines_are_solved_to_the_gap_they_report);
  mu_run(faces_and_warm_start_change_no_result);
  mu_run(a_share_of_the_first_gap_will_do);
  mu_run(the_gradient_is_that_of_the_answer);
  mu_run(a_margin_that_does_not_exist_is_infeasible);
  mu_run(a_margin_that_exists_is_found);
  mu_run(an_impossible_sum_is_infeasible);
  mu_run(a_sum_that_is_right_to_rounding_is_right);
  mu_run(what_is_not_finite_is_reported);
  mu_run(one_variable_and_constant_kernels_are_solved);
  mu_run(a_start_is_right_but_for_its_size);
  mu_run(a_start_among_bounds_without_zero_keeps_its_size);
  mu_run(no_iteration_allowed_leaves_the_start_as_it_is);
  mu_run(batches_of_pairs_look_for_interrupts);
  mu_run(a_fresh_gradient_looks_for_interrupts);
  mu_run(faces_look_for_interrupts);
  mu_run(where_rounding_ends_the_search_the_gap_decides);
  return mu_report();
}
