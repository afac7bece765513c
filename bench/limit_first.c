/* One streamed pass over half of an RBF Gram matrix: a matrix product and an exp for every tile
 * on or below the diagonal. Distances are not formed and nothing is summed. */
#include <math.h>
#include "../tests/core/one_call.h"
#include "kernelect.h"
#include "probe.h"

static double *x, tile[KE_TILE * KE_TILE];
static int n, d;

static void probe_setup(const char *dir, char **args)
{
  (void)args;
  x = probe_matrix(dir, "x", &n, &d);
}

static size_t extent(size_t i) { return (size_t)n - i < KE_TILE ? (size_t)n - i : KE_TILE; }

static void probe_run(void)
{
  const size_t rows = (size_t)n;
  for (size_t j = 0; j < rows; j += KE_TILE)
    for (size_t i = j; i < rows; i += KE_TILE) {
      blas_gemm('N', 'T', extent(i), extent(j), (size_t)d, -1.0 / d, x + i, rows, x + j, rows, 0.0,
                tile, KE_TILE);
      ke_exp(tile, tile, extent(j) * KE_TILE);
    }
}

static double probe_value(void) { return NAN; }
