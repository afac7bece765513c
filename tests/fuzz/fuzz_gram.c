/* Kernels and Gram tiles: any shape, tile and kernel. Symmetric, and each entry the same in any
 * tile, for rows that the glue lets pass (finite, no overflow); no harm done by any other. */
#include "fuzz.h"
#include "../core/whole.h"

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static int sound(const ke_rows *rows, size_t i) { return isfinite(4.0 * rows->norm[i]); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_bytes f = {data, size};
  const ke_env env = {.threads = 1};
  const size_t n = fuzz_size(&f, 1, 130), m = fuzz_size(&f, 1, 40), d = fuzz_size(&f, 0, 9);
  const ke_kernel kernel = fuzz_kernel(&f, 6);
  const int hostile = fuzz_byte(&f) % 2;
  double *shift = fuzz_byte(&f) % 2 ? fuzz_fill(&f, d, 0) : NULL;
  double *weights = fuzz_byte(&f) % 2 ? fuzz_fill(&f, d, 0) : NULL;
  double *x = fuzz_fill(&f, n * d, hostile), *z = fuzz_fill(&f, m * d, hostile);
  ke_rows a = fuzz_lend(n, d), b = fuzz_lend(m, d);
  const ke_transform how = {.shift = shift, .weights = weights};
  ke_pack(x, n, &how, &a);
  ke_pack(z, m, &how, &b);
  double *K = fuzz_doubles(n * n), *C = fuzz_doubles(n * m), *diagonal = fuzz_doubles(n);
  whole_gram(&kernel, &a, K, &env);
  whole_cross(&kernel, &a, &b, C, &env);
  ke_diagonal(&kernel, &a, diagonal);
  for (size_t j = 0; j < n; j++) {
    fuzz_promise(!sound(&a, j) || same(K[j + j * n], diagonal[j]));
    for (size_t i = 0; i < j; i++)
      fuzz_promise(!sound(&a, i) || !sound(&a, j) || same(K[i + j * n], K[j + i * n]));
  }
  /* any tile repeats the entries */
  const size_t i0 = fuzz_size(&f, 0, (n - 1) / KE_PANEL) * KE_PANEL,
               rows = fuzz_size(&f, 1, n - i0);
  const size_t j0 = fuzz_size(&f, 0, (m - 1) / KE_PANEL) * KE_PANEL,
               cols = fuzz_size(&f, 1, m - j0);
  double *tile = fuzz_doubles(rows * cols);
  ke_tile(&kernel, (ke_range){&a, i0, rows}, (ke_range){&b, j0, cols}, tile, rows);
  for (size_t j = 0; j < cols; j++)
    for (size_t i = 0; i < rows; i++)
      fuzz_promise(!sound(&a, i0 + i) || !sound(&b, j0 + j) ||
                   same(tile[i + j * rows], C[i0 + i + (j0 + j) * n]));
  /* gathered rows repeat them too */
  const size_t count = fuzz_size(&f, 1, n);
  size_t *index = fuzz_indices(count);
  for (size_t i = 0; i < count; i++)
    index[i] = fuzz_size(&f, 0, n - 1);
  ke_rows g = fuzz_lend(count, d);
  ke_gather(&a, index, count, &g);
  double *G = fuzz_doubles(count * m);
  ke_tile(&kernel, (ke_range){&g, 0, count}, (ke_range){&b, 0, m}, G, count);
  for (size_t j = 0; j < m; j++)
    for (size_t i = 0; i < count; i++)
      fuzz_promise(!sound(&a, index[i]) || !sound(&b, j) ||
                   same(G[i + j * count], C[index[i] + j * n]));
  double *e = fuzz_fill(&f, n, 1);
  ke_exp(e, e, n);
  fuzz_free_rows(&a), fuzz_free_rows(&b), fuzz_free_rows(&g);
  free(shift), free(weights), free(x), free(z), free(K), free(C), free(diagonal), free(tile);
  free(index), free(G), free(e);
  return 0;
}
