/* Gram matrices on a processor without AVX2: the core, built for the baseline (KE_PLAIN), or loops
 * that anybody would write and the compiler makes vectors of. Arguments: "rbf" or "laplace", then
 * "core" or "loop". */
#include <math.h>
#include "kernelect.h"
#include "probe.h"

static double *x, *K;
static int n, d, rooted, loop;
static ke_rows rows;

static void probe_setup(const char *dir, char **args)
{
  x = probe_matrix(dir, "x", &n, &d);
  K = malloc((size_t)n * (size_t)n * sizeof *K);
  rooted = !strcmp(args[0], "laplace");
  loop = !strcmp(args[1], "loop");
  rows = (ke_rows){.n = (size_t)n, .d = (size_t)d};
  rows.panel = malloc((ke_panel_size(rows.n, rows.d) + 1) * sizeof(double));
  rows.norm = malloc((ke_padded(rows.n) + 1) * sizeof(double));
}

static void by_core(void)
{
  const ke_kernel kernel = {.type = ke_kernel_named(rooted ? "laplace" : "rbf"), .scale = 1.0 / d};
  const ke_env env = {.threads = 1};
  ke_pack(x, rows.n, NULL, &rows);
  double *state = malloc(ke_source_rows_state(&rows) * sizeof *state);
  const ke_source s = ke_source_rows(&kernel, &rows, state);
  ke_gram(&s, K, &env);
  free(state);
}

/* Squared distances of the rows from j on to row j. */
static void add_distances(double *to, size_t j)
{
  const size_t size = (size_t)n;
  for (size_t k = 0; k < (size_t)d; k++) {
    const double *column = x + k * size, own = column[j];
    for (size_t i = j; i < size; i++)
      to[i] += (column[i] - own) * (column[i] - own);
  }
}

static void by_loop(void)
{
  const size_t size = (size_t)n;
  for (size_t j = 0; j < size; j++) {
    double *to = K + j * size;
    memset(to + j, 0, (size - j) * sizeof *to);
    add_distances(to, j);
    for (size_t i = j; i < size; i++)
      to[i] = K[j + i * size] = exp(-(rooted ? sqrt(to[i]) : to[i]) / d);
  }
}

static void probe_run(void)
{
  if (loop)
    by_loop();
  else
    by_core();
}

static double probe_value(void)
{
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
    sum += K[i];
  return sum;
}
