/* rows.c: packing and inner products against long-hand sums. */
#include "draw.h"
#include "minunit.h"
#include "pack.h"

static void sizes_are_whole_panels(void)
{
  mu_assert(ke_padded(0) == 0 && ke_padded(1) == 4 && ke_padded(4) == 4 && ke_padded(5) == 8);
  mu_assert(ke_panel_size(5, 3) == 24 && ke_panel_size(5, 0) == 0);
  /* the largest matrices R can hold: beyond 32 bits, within size_t */
  mu_assert(ke_panel_size(2147483647u, 2147483647u) == (size_t)2147483648u * (size_t)2147483647u);
}

static void packing_scales_shifts_and_weighs(void)
{
  enum { N = 6, D = 3, LD = 8 };
  double *x = draw_many(LD * D, 1);
  const double center[D] = {0.3, 0.0, -7.0}, scale[D] = {3.0, 1.0, 0.7};
  const double shift[D] = {1.0, -2.0, 0.5}, weights[D] = {2.0, 0.0, -3.0};
  const ke_transform how = {center, scale, shift, weights};
  ke_rows rows = lend(N, D);
  ke_pack(x, LD, &how, &rows);
  for (size_t i = 0; i < ke_padded(N); i++) {
    double norm = 0.0;
    for (size_t k = 0; k < D; k++) {
      const double scaled = (x[i + k * LD] - center[k]) / scale[k];
      const double value = i < N ? (scaled - shift[k]) * weights[k] : 0.0;
      mu_assert(at(&rows, i, k) == value);
      norm += value * value;
    }
    mu_near(rows.norm[i], norm, 1e-15);
  }
  release(&rows);
  free(x);
}

static void packing_leaves_columns_as_they_are(void)
{
  enum { LD = 14, D = 21 };
  double *x = draw_many(LD * D, 3);
  for (size_t n = 1; n < LD; n++)
    for (size_t d = 1; d <= D; d++) {
      ke_rows rows = lend(n, d);
      ke_panels(x, LD, NULL, &rows);
      for (size_t i = 0; i < ke_padded(n); i++)
        for (size_t k = 0; k < d; k++)
          mu_assert(at(&rows, i, k) == (i < n ? x[i + k * LD] : 0.0));
      release(&rows);
    }
  free(x);
}

static void gathered_rows_are_the_rows(void)
{
  enum { N = 11, D = 5, M = 6 };
  const size_t index[M] = {10, 0, 3, 3, 7, 4};
  double *x = draw_many(N * D, 2);
  ke_rows from = packed(x, N, D), to = lend(M, D);
  ke_gather(&from, index, M, &to);
  for (size_t i = 0; i < ke_padded(M); i++)
    for (size_t k = 0; k < D; k++)
      mu_assert(at(&to, i, k) == (i < M ? at(&from, index[i], k) : 0.0));
  for (size_t i = 0; i < M; i++)
    mu_assert(to.norm[i] == from.norm[index[i]]);
  release(&from);
  release(&to);
  free(x);
}

static void inner_products_are_accurate(void)
{
  enum { N = 9 };
  const size_t columns[] = {1, 20, 300, 5000};
  for (size_t c = 0; c < 4; c++) {
    const size_t d = columns[c];
    double *x = draw_many(N * d, c), out[N * N];
    ke_rows a = packed(x, N, d);
    ke_inner(&a, 0, N, &a, 0, N, out, N);
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++) {
        const double size = sqrt(a.norm[i] * a.norm[j]);
        mu_assert(fabs(out[i + j * N] - (double)long_inner(&a, i, &a, j)) <= 1e-14 * size);
        mu_assert(out[i + j * N] == out[j + i * N]);
      }
    for (size_t i = 0; i < N; i++)
      mu_assert(out[i * (N + 1)] == a.norm[i]);
    release(&a);
    free(x);
  }
}

/* Whatever is asked for meanwhile, and however it falls into shares. */
static void looking_ahead_changes_no_product(void)
{
  enum { N = 53, K = 14, D = 300 };
  double *x = draw_many(N * D, 4), plain[N * K], looked[N * K];
  ke_rows a = packed(x, N, D), b = packed(x, K, D);
  const size_t columns[] = {1, 7, D};
  for (size_t c = 0; c < 3; c++) {
    const ke_ahead ahead[] = {{x, N, N, columns[c]}, {x, 0, 1, 1}, {NULL, 0, 0, 0}};
    for (size_t i = 0; i < N * K; i++)
      plain[i] = looked[i] = x[i];
    ke_add_product(&a, &b, D, plain, N, NULL);
    ke_add_product(&a, &b, D, looked, N, ahead);
    for (size_t i = 0; i < N * K; i++) {
      mu_assert(looked[i] == plain[i]);
      mu_near(plain[i] - x[i], (double)long_inner(&a, i % N, &b, i / N), 1e-12);
    }
  }
  release(&a);
  release(&b);
  free(x);
}

/* Whole blocks, what is left beside and below them, and sums in two parts: an entry alone is the
 * same number. */
static void an_entry_does_not_depend_on_its_tile(void)
{
  const size_t n = 61, m = 27, d = 301;
  double *x = draw_many(n * d, 21), *z = draw_many(m * d, 22), *out = draw_many(n * m, 23), alone;
  ke_rows a = packed(x, n, d), b = packed(z, m, d);
  size_t differ = 0;
  ke_inner(&a, 0, n, &b, 0, m, out, n);
  for (size_t j = 0; j < m; j += KE_PANEL)
    for (size_t i = 0; i < n; i += KE_PANEL) {
      ke_inner(&a, i, 1, &b, j, 1, &alone, 1);
      differ += alone != out[i + j * n];
    }
  release(&a), release(&b);
  free(x), free(z), free(out);
  mu_assert(differ == 0);
}

static void no_columns_mean_zero(void)
{
  double none = 0.0, out[4] = {9.0, 9.0, 9.0, 9.0};
  ke_rows a = packed(&none, 2, 0);
  ke_inner(&a, 0, 2, &a, 0, 2, out, 2);
  for (size_t i = 0; i < 4; i++)
    mu_assert(out[i] == 0.0);
  ke_inner(&a, 0, 0, &a, 0, 2, out, 2);
  ke_inner(&a, 0, 2, &a, 0, 0, out, 2);
  release(&a);
}

int main(void)
{
  mu_run(sizes_are_whole_panels);
  mu_run(packing_scales_shifts_and_weighs);
  mu_run(packing_leaves_columns_as_they_are);
  mu_run(gathered_rows_are_the_rows);
  mu_run(inner_products_are_accurate);
  mu_run(looking_ahead_changes_no_product);
  mu_run(an_entry_does_not_depend_on_its_tile);
  mu_run(no_columns_mean_zero);
  return mu_report();
}
