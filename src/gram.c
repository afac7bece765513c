/* Gram matrices by tiles of TILE x TILE of a source; of a symmetric one only the tiles on and
 * below the diagonal are computed and the rest mirrored. Cost: n m (2 d flops + one kernel value),
 * half of that when symmetric; memory: the result. Threads share the tiles; entries do not depend
 * on the tile, so neither on the threads. */
#include "gram.h"

#include "threads.h"

/* A tile and its mirror image, both far apart in memory, share the second cache; and only
 * half of what is computed in tiles on the diagonal is needed. */
#define TILE 96
#define MIRROR 8

static size_t tiles(size_t n) { return (n + TILE - 1) / TILE; }

static size_t extent(size_t n, size_t start) { return ke_smaller(TILE, n - start); }

typedef struct {
  const ke_source *s;
  double *out;
} job;

static double *fill_tile(const job *j, size_t row, size_t col)
{
  double *here = j->out + row + col * j->s->n;
  j->s->does->tile(j->s->self, row, extent(j->s->n, row), col, extent(j->s->columns, col), here,
                   j->s->n);
  return here;
}

static void any_tile(void *data, size_t item, size_t worker)
{
  const job *j = (const job *)data;
  const size_t high = tiles(j->s->n);
  (void)worker;
  fill_tile(j, item % high * TILE, item / high * TILE);
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
  const size_t n = j->s->n;
  size_t row, col;
  (void)worker;
  place_in_triangle(item, tiles(n), &row, &col);
  row *= TILE, col *= TILE;
  const double *here = fill_tile(j, row, col);
  if (row > col)
    mirror(here, j->out + col + row * n, extent(n, row), extent(n, col), n);
}

void ke_gram(const ke_source *s, double *out, const ke_env *env)
{
  const size_t high = tiles(s->n), wide = tiles(s->columns);
  const size_t count = s->symmetric ? high * (high + 1) / 2 : high * wide;
  const double flops = TILE * TILE * s->cost, fresh = TILE * TILE * (s->symmetric ? 2.0 : 1.0);
  const ke_env crew = ke_source_env(s, env);
  job j = {s, out};
  ke_check(env);
  ke_share(&crew, count, flops + KE_FRESH * fresh, s->symmetric ? symmetric_tile : any_tile, &j);
}
