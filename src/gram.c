/* Gram matrices by tiles of TILE x TILE: K(a, b), and K(a, a) of which only the tiles
 * on and below the diagonal are computed and the rest mirrored. Cost: n m (2 d flops + one
 * kernel value), half of that when symmetric; memory: the result. Threads share the tiles;
 * entries do not depend on the tile, so neither on the threads. */
#include "gram.h"

#include "threads.h"

/* A tile and its mirror image, both far apart in memory, share the second cache; and only
 * half of what is computed in tiles on the diagonal is needed. */
#define TILE 96
#define MIRROR 8

static size_t tiles(size_t n) { return (n + TILE - 1) / TILE; }

static size_t extent(size_t n, size_t start) { return ke_smaller(TILE, n - start); }

/* A job: tiles first, first + 1, ... of K(a, b). */
typedef struct {
  const ke_kernel *kernel;
  const ke_rows *a, *b;
  double *out;
  size_t first;
} job;

/* `count` tiles in pieces between which an interrupt is looked at. */
static void run(job *j, size_t count, ke_task task, const ke_env *env)
{
  const size_t column = j->kernel->type == KE_SPLINE ? 32 : 2;
  const double flops = TILE * TILE * (double)(column * j->a->d + 64);
  const size_t step = ke_batch(flops);
  for (; j->first < count; j->first += step) {
    ke_check(env);
    ke_share(env, ke_smaller(step, count - j->first), flops, task, j);
  }
}

static void cross_tile(void *data, size_t item, size_t worker)
{
  const job *j = (const job *)data;
  const size_t n = j->a->n, t = j->first + item, row = t % tiles(n) * TILE,
               col = t / tiles(n) * TILE;
  (void)worker;
  ke_tile(j->kernel, j->a, row, extent(n, row), j->b, col, extent(j->b->n, col),
          j->out + row + col * n, n);
}

void ke_gram_cross(const ke_kernel *kernel, const ke_rows *a, const ke_rows *b, double *out,
                   const ke_env *env)
{
  job j = {kernel, a, b, out, 0};
  run(&j, tiles(a->n) * tiles(b->n), cross_tile, env);
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

/* Tile t of those on and below the diagonal, `side` block columns in all. The triangle is folded
 * into a rectangle: block column c, and behind it block column side - 1 - c. */
static void place_in_triangle(size_t t, size_t side, size_t *row, size_t *col)
{
  const size_t c = t / (side + 1), at = t % (side + 1);
  *col = at < side - c ? c : side - 1 - c;
  *row = at < side - c ? c + at : at - 1;
}

static void symmetric_tile(void *data, size_t item, size_t worker)
{
  const job *j = (const job *)data;
  const size_t n = j->a->n;
  size_t row, col;
  (void)worker;
  place_in_triangle(j->first + item, tiles(n), &row, &col);
  row *= TILE, col *= TILE;
  const size_t m = extent(n, row), k = extent(n, col);
  double *here = j->out + row + col * n;
  ke_tile(j->kernel, j->a, row, m, j->a, col, k, here, n);
  if (row > col)
    mirror(here, j->out + col + row * n, m, k, n);
}

void ke_gram(const ke_kernel *kernel, const ke_rows *a, double *out, const ke_env *env)
{
  const size_t side = tiles(a->n);
  job j = {kernel, a, a, out, 0};
  run(&j, side * (side + 1) / 2, symmetric_tile, env);
}
