/* Criteria with gradients and the searches over them: any shape, rank, block and kernel. What
 * counts as found is finite, and a search never ends below its start. */
#include "fuzz.h"

typedef struct {
  ke_criterion *criterion;
  const ke_env *env;
} task;

static ke_status evaluate(void *data, const double *w, double *value, double *gradient)
{
  task *t = (task *)data;
  return ke_criterion_evaluate(t->criterion, w, value, gradient, t->env);
}

static void search(ke_criterion *c, fuzz_bytes *f, const ke_env *env)
{
  task t = {c, env};
  const ke_objective objective = {c->d, evaluate, &t};
  ke_search s = {.max_iter = fuzz_size(f, 0, 6), .tol = 1e-6, .kinked = ke_is_kinked(&c->kernel)};
  double *w = fuzz_doubles(c->d), *work = fuzz_doubles(ke_search_work(c->d));
  for (size_t k = 0; k < c->d; k++)
    w[k] = (double)fuzz_byte(f) / 64.0;
  s.gradient = fuzz_doubles(c->d), s.values = fuzz_doubles(s.max_iter + 1),
  s.steps = fuzz_doubles(s.max_iter + 1);
  const ke_status status =
      fuzz_byte(f) % 2 ? ke_lbfgs(&objective, &s, w, work) : ke_ascend(&objective, &s, w, work);
  if (status != KE_NOT_FINITE) {
    fuzz_promise(s.iterations <= s.max_iter);
    fuzz_promise(isfinite(s.value));
    fuzz_promise(s.value >= s.values[0] - 1e-9 * fabs(s.values[0]));
    for (size_t k = 0; k < c->d; k++)
      fuzz_promise(w[k] >= 0.0);
  }
  free(w), free(work), free(s.gradient), free(s.values), free(s.steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_bytes f = {data, size};
  const ke_env env = {.threads = 1};
  ke_criterion c;
  memset(&c, 0, sizeof c);
  c.type = (ke_criterion_type)(fuzz_byte(&f) % 3);
  c.kernel = fuzz_kernel(&f, 4); /* linear, rbf, laplace, polynomial */
  c.n = fuzz_size(&f, 2, 150), c.d = fuzz_size(&f, 1, 6), c.rank = fuzz_size(&f, 1, 4);
  c.block = KE_STRIP * fuzz_size(&f, 1, 3);
  c.constant = 0.1 + (double)fuzz_byte(&f) / 32.0;
  double *u = fuzz_fill(&f, c.n * c.rank, 0);
  double *x = fuzz_fill(&f, c.n * c.d, fuzz_byte(&f) % 4 == 0);
  c.x = x, c.u = u;
  double *work = fuzz_doubles(ke_criterion_work(&c, &env));
  ke_criterion_open(&c, work, &env);
  search(&c, &f, &env);
  free(u), free(x), free(work);
  return 0;
}
