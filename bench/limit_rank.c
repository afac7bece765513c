/* What one alignment gradient of an RBF kernel must cost on this machine: over half the tiles
 * one dgemm for the inner products, one vectorised exp, and one dgemm with the columns. No
 * distance, target, weight or sum is formed, and the second family of products that one pass
 * needs (the alignment's norm is known only at its end) is left out: nothing correct can be
 * expected below this. Arguments: how many gradients; "gemm" to leave out the exp as well. */
#include <math.h>
#include "../tests/core/one_call.h"
#include "kernelect.h"
#include "probe.h"

#define TILE 240

static double *x, tile[TILE * TILE], *product;
static size_t n, d;
static int only_gemm, times = 1;

static void probe_setup(const char *dir, char **args)
{
  int rows, columns;
  x = probe_matrix(dir, "x", &rows, &columns);
  n = (size_t)rows, d = (size_t)columns;
  product = malloc(TILE * d * sizeof *product);
  if (args[0])
    times = atoi(args[0]);
  only_gemm = args[0] && args[1] && !strcmp(args[1], "gemm");
}

static size_t extent(size_t i) { return n - i < TILE ? n - i : TILE; }

static void gradient(void)
{
  for (size_t i = 0; i < n; i += TILE)
    for (size_t j = 0; j <= i; j += TILE) {
      const size_t m = extent(i), k = extent(j);
      blas_gemm('N', 'T', m, k, d, -1e-3, x + i, n, x + j, n, 0.0, tile, TILE);
      for (size_t c = 0; c < k && !only_gemm; c++)
        ke_exp(tile + c * TILE, tile + c * TILE, m);
      blas_gemm('N', 'N', m, d, k, 1.0, tile, TILE, x + j, n, 0.0, product, TILE);
    }
}

static void probe_run(void)
{
  for (int t = 0; t < times; t++)
    gradient();
}

static double probe_value(void) { return NAN; }
