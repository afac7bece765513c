/* source.c: a source between two sets of rows; test_basis.c has the views of the others. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"
#include "pack.h"

#include <string.h>

static void a_cross_source_has_the_tiles_of_two_sets(void)
{
  enum { N = 37, M = 21, D = 3 };
  double *x = draw_many(N * D, 1), *z = draw_many(M * D, 2);
  ke_rows a = packed(x, N, D), b = packed(z, M, D);
  double whole[N * M], tile[8 * 5], *state = malloc(ke_source_cross_state() * sizeof(double));
  const ke_kernel kernel = {.type = ke_kernel_named("linear")};
  const ke_source s = ke_source_cross(&kernel, &a, &b, state);
  ke_tile(&kernel, (ke_range){&a, 0, N}, (ke_range){&b, 0, M}, whole, N);
  s.does->tile(s.self, 4, 8, 12, 5, tile, 8);
  int same = s.n == N && s.columns == M && !s.symmetric;
  for (size_t j = 0; j < 5; j++)
    same = same && memcmp(tile + 8 * j, whole + 4 + (12 + j) * N, 8 * sizeof(double)) == 0;
  free(x), free(z), free(state);
  release(&a), release(&b);
  mu_assert(same);
}

int main(void)
{
  mu_run(a_cross_source_has_the_tiles_of_two_sets);
  return mu_report();
}
