#include "count.h"
#include "draw.h"
#include "kernels.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 101, D = 5, RANK = 3 };

static double x[N * D], u[N * RANK];
static const ke_env env = {.threads = 1};

static void fill(void)
{
  uint64_t state = 1;
  for (size_t i = 0; i < N * D; i++)
    x[i] = draw(&state);
  for (size_t i = 0; i < N * RANK; i++)
    u[i] = draw(&state);
}

static ke_criterion make(ke_criterion_type type, const char *kernel, size_t block, double **work)
{
  ke_criterion c;
  memset(&c, 0, sizeof c);
  c.type = type;
  c.kernel = kernel_of(kernel, 0.3, 1.0, 3.0);
  c.n = N, c.d = D, c.rank = RANK, c.block = block;
  c.x = x, c.u = u;
  c.constant = 2.0;
  *work = malloc(ke_criterion_work(&c, &env) * sizeof(double));
  ke_criterion_open(&c, *work, &env);
  return c;
}

static double value_at(ke_criterion *c, const double *v)
{
  double w[D], gradient[D], value;
  for (size_t d = 0; d < D; d++)
    w[d] = sqrt(v[d]);
  ke_criterion_evaluate(c, w, &value, gradient, &env);
  return value;
}

static void gradient_matches_differences(void)
{
  const char *kernels[] = {"linear", "rbf", "laplace", "polynomial", "sigmoid"};
  const ke_criterion_type types[] = {KE_PRODUCT, KE_ALIGNMENT, KE_SEPARABILITY};
  for (size_t a = 0; a < 15; a++) {
    double *work, w[D] = {1.0, 0.5, 2.0, 1.2, 0.8}, v[D], gradient[D], value;
    ke_criterion c = make(types[a / 5], kernels[a % 5], 96, &work);
    mu_assert(ke_criterion_evaluate(&c, w, &value, gradient, &env) == KE_OK);
    for (size_t d = 0; d < D; d++) {
      const double h = 1e-5;
      for (size_t e = 0; e < D; e++)
        v[e] = w[e] * w[e];
      v[d] += h;
      const double up = value_at(&c, v);
      v[d] -= 2.0 * h;
      const double down = value_at(&c, v);
      mu_near(gradient[d], (up - down) / (2.0 * h), 1e-7);
    }
    free(work);
  }
}

/* The forms of one share of the pairs of rows, worked out by so many threads. */
static void forms_of(ke_criterion c, size_t share, size_t shares, int threads, double *forms)
{
  const ke_env crew = {.threads = threads};
  double *w = malloc(c.d * sizeof *w), *work;
  for (size_t e = 0; e < c.d; e++)
    w[e] = 0.1;
  c.share = share;
  c.shares = shares;
  work = malloc(ke_criterion_work(&c, &crew) * sizeof *work);
  ke_criterion_open(&c, work, &crew);
  ke_criterion_forms(&c, w, forms, &crew);
  free(work);
  free(w);
}

/* So wide that a thread has no second strip between two looks at an interrupt: those who share the
 * pairs of rows need not have as many threads as each other. */
static void shares_add_up_whatever_the_threads_of_each(void)
{
  const size_t n = 300, d = 1500, size = 2 + 2 * d;
  ke_criterion c;
  double *wide = draw_many(n * d, 5), *target = draw_many(n, 6), *sum = malloc(3 * size * 8);
  double *whole = sum + size, *part = whole + size, off = 0.0;
  memset(&c, 0, sizeof c);
  c.type = KE_ALIGNMENT;
  c.kernel = kernel_of("rbf", 0.1, 0.0, 0.0);
  c.n = n, c.d = d, c.rank = 1, c.block = 7 * KE_STRIP;
  c.x = wide, c.u = target;
  forms_of(c, 0, 0, 1, whole);
  memset(sum, 0, size * sizeof *sum);
  for (size_t share = 0; share < 3; share++) {
    forms_of(c, share, 3, 1 + (int)share, part);
    for (size_t i = 0; i < size; i++)
      sum[i] += part[i];
  }
  for (size_t i = 0; i < size; i++)
    off = fmax(off, fabs(sum[i] - whole[i]) / (1.0 + fabs(whole[i])));
  free(wide);
  free(target);
  free(sum);
  mu_assert(off < 1e-10);
}

static void blocks_do_not_matter(void)
{
  double *work, w[D] = {1.0, 0.5, 2.0, 0.0, 0.8}, one[D], two[D], first, second;
  ke_criterion c = make(KE_ALIGNMENT, "rbf", KE_STRIP, &work);
  ke_criterion_evaluate(&c, w, &first, one, &env);
  free(work);
  c = make(KE_ALIGNMENT, "rbf", 3 * KE_STRIP, &work);
  ke_criterion_evaluate(&c, w, &second, two, &env);
  free(work);
  mu_near(first, second, 1e-13);
  for (size_t d = 0; d < D; d++)
    mu_near(one[d], two[d], 1e-13);
}

/* -(v - centre)^2 with a centre partly outside the bound; badly scaled unless `tenfold` is 1. */
static const double centre[D] = {2.0, 0.5, -1.0, 3.0, 0.25};
static double tenfold = 10.0;

static ke_status bowl(void *data, const double *w, double *value, double *gradient)
{
  (void)data;
  *value = 100.0;
  for (size_t d = 0; d < D; d++) {
    const double gap = w[d] * w[d] - centre[d], steep = pow(tenfold, (double)d - 2.0);
    *value -= steep * gap * gap;
    gradient[d] = -2.0 * steep * gap;
  }
  return KE_OK;
}

/* |v|^2, which bends upwards everywhere; with `uphill` -1 the bowl that it is upside down. */
static double uphill = 1.0;

static ke_status funnel(void *data, const double *w, double *value, double *gradient)
{
  (void)data;
  *value = 0.0;
  for (size_t d = 0; d < D; d++) {
    *value += uphill * pow(w[d], 4.0);
    gradient[d] = uphill * 2.0 * w[d] * w[d];
  }
  return KE_OK;
}

typedef ke_status (*searching)(const ke_objective *, ke_search *, double *, double *);
typedef ke_status (*evaluating)(void *, const double *, double *, double *);

static ke_status search_on(evaluating evaluate, searching method, size_t max_iter, double *w,
                           ke_search *s)
{
  static double gradient[D], values[1001], steps[1001];
  double *work = malloc(ke_search_work(D) * sizeof(double));
  const ke_search start = {
      .max_iter = max_iter, .tol = 1e-12, .gradient = gradient, .values = values, .steps = steps};
  const ke_objective f = {D, evaluate, NULL};
  *s = start;
  for (size_t d = 0; d < D; d++)
    w[d] = 1.0;
  const ke_status status = method(&f, s, w, work);
  free(work);
  return status;
}

static ke_status search(searching method, size_t max_iter, double *w, ke_search *s)
{
  return search_on(bowl, method, max_iter, w, s);
}

static void lbfgs_reaches_the_bounded_optimum(void)
{
  double w[D];
  ke_search s;
  mu_assert(search(ke_lbfgs, 1000, w, &s) == KE_OK);
  for (size_t d = 0; d < D; d++)
    mu_near(w[d] * w[d], centre[d] > 0.0 ? centre[d] : 0.0, 1e-4);
  mu_near(s.values[s.iterations], s.value, 0.0);
}

/* All slopes alike: the first step goes a tenth of the largest v along the gradient, from which the
 * second knows the bend, and arrives where no bound is in the way. */
static void lbfgs_takes_the_steps_of_its_rule(void)
{
  double w[D], v[D];
  ke_search s;
  tenfold = 1.0;
  mu_assert(search(ke_lbfgs, 1, w, &s) == KE_NOT_CONVERGED);
  for (size_t d = 0; d < D; d++) {
    v[d] = w[d] * w[d];
    mu_near(v[d], 1.0 + 0.1 * (centre[d] - 1.0) / 2.0, 1e-14);
  }
  mu_assert(search(ke_lbfgs, 2, w, &s) == KE_NOT_CONVERGED);
  for (size_t d = 0; d < D; d++)
    mu_near(w[d] * w[d], fmax(centre[d], 0.0), 1e-12);
  tenfold = 10.0;
}

/* Where no bend is of use, the gradient is followed: twice as far each time, up to eight tenths. */
static void lbfgs_doubles_its_reach_along_the_gradient(void)
{
  const double reach[] = {0.1, 0.2, 0.4, 0.8, 0.8};
  double w[D], v = 1.0;
  ke_search s;
  for (size_t k = 0; k < sizeof reach / sizeof *reach; k++) {
    v *= 1.0 + reach[k];
    mu_assert(search_on(funnel, ke_lbfgs, k + 1, w, &s) == KE_NOT_CONVERGED);
    mu_near(w[0] * w[0], v, 1e-13 * v);
    mu_near(w[D - 1] * w[D - 1], v, 1e-13 * v);
    mu_near(s.value, D * v * v, 1e-12 * v * v);
  }
}

/* A plain step takes no factor beyond ten times its value, or below a tenth of it, and is twice as
 * long as the last one at most. The slope by w is 4 w^3. */
static void plain_ascent_takes_the_steps_of_its_rule(void)
{
  double w[D];
  ke_search s;
  mu_assert(search_on(funnel, ke_ascend, 1, w, &s) == KE_NOT_CONVERGED);
  mu_near(w[0], 10.0, 1e-13);
  mu_assert(search_on(funnel, ke_ascend, 2, w, &s) == KE_NOT_CONVERGED);
  mu_near(w[0], 100.0, 1e-12);
  mu_near(s.steps[2], sqrt((double)D) * 90.0, 1e-11);
  uphill = -1.0;
  mu_assert(search_on(funnel, ke_ascend, 1, w, &s) == KE_NOT_CONVERGED);
  mu_near(w[0], 0.1, 1e-15);
  const double first = 0.9 / 4.0; /* step that went from 1 to a tenth */
  mu_assert(search_on(funnel, ke_ascend, 2, w, &s) == KE_NOT_CONVERGED);
  mu_near(w[0], 0.1 - 2.0 * first * 4.0 * 0.1 * 0.1 * 0.1, 1e-14);
  uphill = 1.0;
}

static void searches_never_fall_and_say_when_cut_short(void)
{
  double w[D];
  ke_search s;
  mu_assert(search(ke_ascend, 20, w, &s) == KE_NOT_CONVERGED);
  mu_assert(s.iterations == 20);
  for (size_t i = 1; i <= s.iterations; i++)
    mu_assert(s.values[i] >= s.values[i - 1]);
  mu_assert(search(ke_lbfgs, 2, w, &s) == KE_NOT_CONVERGED);
}

/* Brings the share `rise` of what its slopes promise, and `creep` more at every look. */
static struct {
  double value, slope, rise, creep;
  size_t looks;
} said;

static ke_status rumour(void *data, const double *w, double *value, double *gradient)
{
  (void)data;
  *value = said.value + said.creep * (double)said.looks++;
  for (size_t d = 0; d < D; d++) {
    *value += said.rise * said.slope * (w[d] * w[d] - 1.0);
    gradient[d] = said.slope;
  }
  return KE_OK;
}

static ke_status search_rumour(searching method, size_t max_iter, ke_search *s)
{
  double w[D];
  said.looks = 0;
  return search_on(rumour, method, max_iter, w, s);
}

static void a_step_must_bring_its_share_of_the_promised_rise(void)
{
  ke_search s;
  said.value = 0.0, said.slope = 1.0, said.creep = 0.0;
  said.rise = 2e-4;
  mu_assert(search_rumour(ke_lbfgs, 1, &s) == KE_NOT_CONVERGED);
  said.rise = 0.5e-4;
  mu_assert(search_rumour(ke_lbfgs, 1, &s) == KE_OK);
  mu_assert(s.iterations == 0);
}

/* Three changes below the tolerance of 1e-12 end a search, but the limited-memory one only where a
 * coordinate promises no more than a hundred times that by moving its size, v + 0.003 max(v). */
static void small_changes_end_a_search_unless_the_gradient_promises_more(void)
{
  const double v = 1.1 * 1.2 * 1.4, enough = 100.0 * 1e-12 / (1.003 * v);
  ke_search s;
  said.value = 1.0, said.rise = 0.0, said.creep = 1e-13;
  said.slope = 0.999 * enough;
  mu_assert(search_rumour(ke_lbfgs, 20, &s) == KE_OK);
  mu_assert(s.iterations == 3);
  mu_assert(search_rumour(ke_ascend, 20, &s) == KE_OK);
  mu_assert(s.iterations == 3);
  said.slope = 1.001 * enough;
  mu_assert(search_rumour(ke_lbfgs, 20, &s) == KE_NOT_CONVERGED);
}

/* What never rises is halved 46 times, to above 1e-14 of the first step; or until it promises no
 * more than 1e-15 of the value: here a millionth of a millionth at first, a tenth of every slope.
 */
static void backtracking_gives_up_where_rounding_begins(void)
{
  ke_search s;
  said.value = 0.0, said.rise = -1.0, said.creep = 0.0, said.slope = 1.0;
  mu_assert(search_rumour(ke_lbfgs, 20, &s) == KE_OK);
  mu_assert(said.looks == 1 + 47);
  mu_assert(search_rumour(ke_ascend, 20, &s) == KE_OK);
  mu_assert(said.looks == 1 + 47);
  said.value = 1.0, said.slope = 1e-12 / (0.1 * D);
  mu_assert(search_rumour(ke_lbfgs, 20, &s) == KE_OK);
  mu_assert(said.looks == 1 + 11);
}

/* Strips are counted whatever the blocks, each of which has fewer than the one before. */
static void strips_look_for_interrupts(void)
{
  enum { BATCH = 3, ROWS = 9 * KE_STRIP + 5, STRIPS = 10, WIDE = 1000 };
  double *many = draw_many(ROWS * WIDE, 3), *work, value, gradient[WIDE];
  size_t strips = 0;
  ke_criterion c;
  memset(&c, 0, sizeof c);
  c.kernel = kernel_of("rbf", 0.3, 0.0, 0.0);
  c.n = ROWS, c.d = WIDE, c.rank = 1, c.block = 2 * KE_STRIP;
  c.x = many, c.u = many;
  for (size_t first = 0; first < STRIPS; first += 2)
    strips += STRIPS - first;
  tally t;
  const ke_env counted = counting(&t, 1);
  work = malloc(ke_criterion_work(&c, &counted) * sizeof(double));
  ke_criterion_open(&c, work, &counted);
  const size_t opened = t.checks;
  ke_criterion_evaluate(&c, many, &value, gradient, &counted);
  free(many), free(work);
  mu_assert(t.checks - opened == 1 + strips / BATCH);
}

int main(void)
{
  fill();
  mu_run(gradient_matches_differences);
  mu_run(blocks_do_not_matter);
  mu_run(shares_add_up_whatever_the_threads_of_each);
  mu_run(lbfgs_reaches_the_bounded_optimum);
  mu_run(lbfgs_takes_the_steps_of_its_rule);
  mu_run(lbfgs_doubles_its_reach_along_the_gradient);
  mu_run(plain_ascent_takes_the_steps_of_its_rule);
  mu_run(searches_never_fall_and_say_when_cut_short);
  mu_run(a_step_must_bring_its_share_of_the_promised_rise);
  mu_run(small_changes_end_a_search_unless_the_gradient_promises_more);
  mu_run(backtracking_gives_up_where_rounding_begins);
  mu_run(strips_look_for_interrupts);
  return mu_report();
}
