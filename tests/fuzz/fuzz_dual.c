/* The dual solver: any bounds, start, sum and (in)definite matrix, held or by a cache of columns.
 * Whatever comes back is within its bounds and has its sum. */
#include "fuzz.h"
#include "../core/whole.h"

typedef struct {
  const double *k;
  size_t n;
} matrix;

static void copy_column(void *data, size_t j, double *out)
{
  const matrix *m = (const matrix *)data;
  memcpy(out, m->k + j * m->n, m->n * sizeof(double));
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_bytes f = {data, size};
  const ke_env env = {.threads = 1};
  const size_t n = fuzz_size(&f, 2, 60), d = fuzz_size(&f, 1, 4);
  const int hostile = fuzz_byte(&f) % 4 == 0, held = fuzz_byte(&f) % 2;
  const ke_kernel kernel = fuzz_kernel(&f, 5); /* sigmoid: not positive semi-definite */
  const double cost = fuzz_byte(&f) % 4 ? (double)(1 + fuzz_byte(&f)) / 16.0 : INFINITY;
  double *x = fuzz_fill(&f, n * d, hostile), *K = fuzz_doubles(n * n), *diagonal = fuzz_doubles(n);
  ke_rows rows = fuzz_lend(n, d);
  ke_pack(x, n, NULL, NULL, &rows);
  whole_gram(&kernel, &rows, K, &env);
  ke_diagonal(&kernel, &rows, diagonal);
  double *linear = fuzz_doubles(n), *lower = fuzz_doubles(n), *upper = fuzz_doubles(n);
  double *b = fuzz_fill(&f, n, 0), *gradient = fuzz_doubles(n);
  for (size_t i = 0; i < n; i++) {
    const int positive = fuzz_byte(&f) % 2;
    linear[i] = positive ? 1.0 : -1.0;
    lower[i] = positive ? 0.0 : -cost;
    upper[i] = positive ? cost : 0.0;
  }
  matrix m = {K, n};
  ke_dual p;
  memset(&p, 0, sizeof p);
  p.n = n, p.ldk = n, p.k = held ? K : NULL, p.column = copy_column, p.data = &m;
  p.diagonal = held ? NULL : diagonal, p.linear = linear, p.lower = lower, p.upper = upper;
  p.total = fuzz_byte(&f) % 4 ? 0.0 : fuzz_double(&f, 0);
  ke_dual_control c;
  memset(&c, 0, sizeof c);
  c.tol = 1e-6, c.max_iter = 2000, c.columns = held ? 0 : fuzz_size(&f, 2, n),
  c.face = fuzz_size(&f, 0, n);
  c.doubles = fuzz_doubles(ke_dual_doubles(n, c.columns, c.face));
  c.indices = fuzz_indices(ke_dual_indices(n, c.columns));
  ke_dual_result result;
  memset(&result, 0, sizeof result);
  const ke_status status = ke_dual_solve(&p, &c, b, gradient, &result, &env);
  if (status == KE_OK || status == KE_NOT_CONVERGED)
    check_feasible(&p, b);
  fuzz_free_rows(&rows);
  free(x), free(K), free(diagonal), free(linear), free(lower), free(upper), free(b), free(gradient);
  free(c.doubles), free(c.indices);
  return 0;
}
