/* Gram matrices by tiles of TILE x TILE: K(a, b), and K(a, a) of which only the tiles
 * on and below the diagonal are computed and the rest mirrored. Cost: n m (2 d flops + one
 * kernel value), half of that when symmetric; memory: the result. Tiles of one block column
 * run in parallel; entries do not depend on the tile, so neither on the threads. */
#include "gram.h"

/* A tile and its mirror image, both far apart in memory, share the second cache; and only
 * half of what is computed in tiles on the diagonal is needed. */
#define TILE 96
#define MIRROR 8

static size_t tiles(size_t n) { return (n + TILE - 1) / TILE; }

static size_t extent(size_t n, size_t start) { return ke_smaller(TILE, n - start); }

/* Tiles between two looks at an interrupt: some tens of milliseconds of work. */
static size_t batch(const ke_kernel *kernel, size_t d, const ke_env *env)
{
  const size_t column = kernel->type == KE_SPLINE ? 32 : 2;
  const size_t flops = TILE * TILE * (column * d + 64), count = (size_t)250000000 / flops;
  return count > (size_t)env->threads ? count : (size_t)env->threads;
}

void ke_gram_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b, double *out,
                   const ke_env *env)
{
  const size_t n = a->n, step = batch(kernel, a->d, env);
  for (size_t j = 0; j < b->n; j += TILE) {
    const size_t k = extent(b->n, j);
    for (size_t first = 0; first < tiles(n); first += step) {
      ke_check(env);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(env->threads) if (env->threads > 1)
#endif
      for (size_t t = first; t < ke_smaller(first + step, tiles(n)); t++) {
        const size_t i = t * TILE;
        ke_tile(kernel, a, i, extent(n, i), b, j, k, out + i + j * n, n);
      }
    }
  }
}

/* upper (k x m) = lower (m x k) transposed, in squares of cache lines. The columns of `upper`
 * are too short for the hardware to see them coming: the next square is asked for in time. */
static void mirror(const double *lower, double *upper, size_t m, size_t k, size_t ld)
{
  for (size_t i0 = 0; i0 < m; i0 += MIRROR)
    for (size_t j0 = 0; j0 < k; j0 += MIRROR) {
      const size_t i1 = ke_smaller(i0 + MIRROR, m), j1 = ke_smaller(j0 + MIRROR, k);
      for (size_t i = i0; i < i1; i++) {
        if (i + MIRROR < m)
          __builtin_prefetch(upper + j0 + (i + MIRROR) * ld, 1);
        for (size_t j = j0; j < j1; j++)
          upper[j + i * ld] = lower[i + j * ld];
      }
    }
}

void ke_gram(const ke_kernel *kernel, const ke_rows *a, double *out, const ke_env *env)
{
  const size_t n = a->n, step = batch(kernel, a->d, env);
  for (size_t j = 0; j < n; j += TILE) {
    const size_t k = extent(n, j);
    for (size_t first = j / TILE; first < tiles(n); first += step) {
      ke_check(env);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(env->threads) if (env->threads > 1)
#endif
      for (size_t t = first; t < ke_smaller(first + step, tiles(n)); t++) {
        const size_t i = t * TILE, m = extent(n, i);
        double *here = out + i + j * n;
        ke_tile(kernel, a, i, m, a, j, k, here, n);
        if (i > j)
          mirror(here, out + j + i * n, m, k, n);
      }
    }
  }
}
