/* What L Cholesky columns of an RBF kernel must cost on this machine when nobody has to choose
 * them: kernel columns by one matrix product and one exp, the factor by a product and triangular
 * solves in two halves (n L^2 flops in all), chunk by chunk, into fresh memory. Distances are not
 * formed and no residual is kept, so nothing correct can be much below this. args: L */
#include <math.h>
#include <sys/mman.h>
#include "../tests/core/one_call.h"
#include "kernelect.h"
#include "probe.h"

/* B (m x n) = B L^{-T}, L n x n lower triangular */
static void solve_lower(size_t m, size_t n, const double *l, size_t ldl, double *b, size_t ldb)
{
  int im = (int)m, in = (int)n, il = (int)ldl, ib = (int)ldb;
  double one = 1.0;
  F77_CALL(dtrsm)("R", "L", "T", "N", &im, &in, &one, l, &il, b, &ib FCONE FCONE FCONE FCONE);
}

enum { ROWS = 4800 }; /* of a chunk */

static double *x, *F, *P;
static int n, d;
static size_t L;

static size_t bytes(void) { return (size_t)n * L * sizeof(double); }

static void probe_setup(const char *dir, char **args)
{
  x = probe_matrix(dir, "x", &n, &d);
  L = (size_t)atoi(args[0]);
  P = calloc(L * L, sizeof *P);
  for (size_t i = 0; i < L; i++)
    P[i * (L + 1)] = 1.0;
}

static void chunk(size_t i0, size_t m)
{
  const size_t rows = (size_t)n, half = L / 2;
  double *f = F + i0;
  blas_gemm('N', 'T', m, L, (size_t)d, -1.0 / d, x + i0, rows, x, rows, 0.0, f, rows);
  for (size_t l = 0; l < L; l++)
    ke_exp(f + l * rows, f + l * rows, m);
  solve_lower(m, half, P, L, f, rows);
  blas_gemm('N', 'T', m, L - half, half, -1e-6, f, rows, P + half, L, 1.0, f + half * rows, rows);
  solve_lower(m, L - half, P + half * (L + 1), L, f + half * rows, rows);
}

static void probe_run(void)
{
  F = mmap(NULL, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (F == MAP_FAILED)
    exit(1);
  madvise(F, bytes(), MADV_HUGEPAGE);
  for (size_t i0 = 0; i0 < (size_t)n; i0 += ROWS)
    chunk(i0, (size_t)n - i0 < ROWS ? (size_t)n - i0 : ROWS);
}

static double probe_value(void)
{
  munmap(F, bytes());
  return NAN;
}
