/* What an RBF Gram matrix must cost on this machine: one dsyrk, one vectorised exp over the
 * half that is computed, and one write of every other cell of a fresh result, in huge pages
 * where the system grants them. Distances are not formed and the other half is filled with
 * zeros, not mirrored: nothing correct can be expected below this. */
#include <math.h>
#include <sys/mman.h>
#include "blas.h"
#include "kernelect.h"
#include "probe.h"

static double *x, *K;
static int n, d;

static size_t cells(void) { return (size_t)n * (size_t)n; }

static void probe_setup(const char *dir, char **args)
{
  (void)args;
  x = probe_matrix(dir, "x", &n, &d);
}

static void probe_run(void)
{
  double alpha = -1.0 / d, beta = 0.0;
  K = mmap(NULL, cells() * sizeof *K, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (K == MAP_FAILED)
    exit(1);
  madvise(K, cells() * sizeof *K, MADV_HUGEPAGE);
  F77_CALL(dsyrk)("L", "N", &n, &d, &alpha, x, &n, &beta, K, &n FCONE FCONE);
  for (size_t j = 0; j < (size_t)n; j++) {
    double *column = K + j * (size_t)n;
    ke_exp(column + j, column + j, (size_t)n - j);
    memset(column, 0, j * sizeof *column);
  }
}

static double probe_value(void)
{
  munmap(K, cells() * sizeof *K);
  return NAN;
}
