/* The dual solver: any bounds, start, sum and (in)definite matrix, held or by working sets.
 * Whatever comes back is within its bounds and has its sum. */
#include "fuzz.h"
#include "../core/whole.h"

/* b within its bounds, and its sum the one asked for. */
static void check_feasible(const ke_dual *p, const double *b)
{
  double sum = 0.0, size = fabs(p->total) + 1.0;
  for (size_t i = 0; i < p->n; i++) {
    fuzz_promise(b[i] >= p->lower[i] && b[i] <= p->upper[i]);
    sum += b[i];
    size += fabs(b[i]);
  }
  fuzz_promise(fabs(sum - p->total) <= 1e-9 * size);
}

static ke_status solve_held(const ke_dual *p, size_t face, double *b, double *gradient,
                            ke_dual_result *result)
{
  const ke_env env = {.threads = 1};
  ke_dual_control c = {.tol = 1e-6, .max_iter = 2000, .face = face};
  c.doubles = fuzz_doubles(ke_dual_doubles(p->n, face));
  c.indices = fuzz_indices(ke_dual_indices(p->n));
  const ke_status status = ke_dual_solve(p, &c, b, gradient, result, &env);
  free(c.doubles), free(c.indices);
  return status;
}

static ke_status solve_by_sets(const ke_dual *p, size_t size, double *b, double *gradient,
                               ke_dual_result *result)
{
  const ke_env env = {.threads = 1};
  const double one = 1.0;
  double *state = fuzz_doubles(ke_source_matrix_state());
  const ke_source source = ke_source_matrix(p->k, p->n, state);
  const ke_working w = {*p, &source, &one, 1, 0.0};
  ke_working_control c = {.tol = 1e-6, .max_iter = 200, .size = size, .columns = size};
  c.doubles = fuzz_doubles(ke_working_doubles(p->n, &c));
  c.indices = fuzz_indices(ke_working_indices(p->n, &c));
  const ke_status status = ke_working_solve(&w, &c, b, gradient, result, &env);
  free(c.doubles), free(c.indices), free(state);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_bytes f = {data, size};
  const ke_env env = {.threads = 1};
  const size_t n = fuzz_size(&f, 2, 60), d = fuzz_size(&f, 1, 4);
  const int hostile = fuzz_byte(&f) % 4 == 0, held = fuzz_byte(&f) % 2;
  const ke_kernel kernel = fuzz_kernel(&f, 5); /* sigmoid: not positive semi-definite */
  const double cost = fuzz_byte(&f) % 4 ? (double)(1 + fuzz_byte(&f)) / 16.0 : INFINITY;
  double *x = fuzz_fill(&f, n * d, hostile), *K = fuzz_doubles(n * n);
  ke_rows rows = fuzz_lend(n, d);
  ke_pack(x, n, NULL, &rows);
  whole_gram(&kernel, &rows, K, &env);
  double *linear = fuzz_doubles(n), *lower = fuzz_doubles(n), *upper = fuzz_doubles(n);
  double *b = fuzz_fill(&f, n, 0), *gradient = fuzz_doubles(n);
  for (size_t i = 0; i < n; i++) {
    const int positive = fuzz_byte(&f) % 2;
    linear[i] = positive ? 1.0 : -1.0;
    lower[i] = positive ? 0.0 : -cost;
    upper[i] = positive ? cost : 0.0;
  }
  ke_dual p = {n, K, n, linear, lower, upper, 0.0};
  p.total = fuzz_byte(&f) % 4 ? 0.0 : fuzz_double(&f, 0);
  ke_dual_result result;
  memset(&result, 0, sizeof result);
  const size_t most = fuzz_size(&f, 2, n), face = fuzz_size(&f, 0, n);
  const ke_status status = held ? solve_held(&p, face, b, gradient, &result)
                                : solve_by_sets(&p, most, b, gradient, &result);
  if (status == KE_OK || status == KE_NOT_CONVERGED)
    check_feasible(&p, b);
  fuzz_free_rows(&rows);
  free(x), free(K), free(linear), free(lower), free(upper), free(b), free(gradient);
  return 0;
}
