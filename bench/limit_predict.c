/* What predictions by an RBF expansion must cost on this machine: for every block of rows one dgemm
 * against the basis rows, one vectorised exp, and one dgemv with the coefficients. Distances are
 * not formed and nothing is scaled: nothing correct can be expected below this. */
#include <math.h>
#include "../tests/core/one_call.h"
#include "kernelect.h"
#include "probe.h"

enum { BLOCK = 240 };

static double *x, *v, *out, *tile;
static int n, d, L;

static void probe_setup(const char *dir, char **args)
{
  int columns;
  (void)args;
  x = probe_matrix(dir, "x", &n, &d);
  v = probe_matrix(dir, "v", &L, &columns);
  out = malloc((size_t)n * sizeof *out);
  tile = malloc(BLOCK * (size_t)L * sizeof *tile);
}

static void probe_run(void)
{
  const size_t rows = (size_t)n, kept = (size_t)L;
  for (size_t i = 0; i < rows; i += BLOCK) {
    const size_t m = ke_smaller(BLOCK, rows - i);
    blas_gemm('N', 'T', m, kept, (size_t)d, -1.0 / d, x + i, rows, v, kept, 0.0, tile, m);
    for (size_t j = 0; j < kept; j++)
      ke_exp(tile + j * m, tile + j * m, m);
    blas_gemv('N', m, kept, 1.0, tile, m, v, 1, 0.0, out + i);
  }
}

static double probe_value(void) { return NAN; }
