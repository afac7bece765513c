/* Sizes beyond 2^31 elements, without the memory for them: pages of a reserved matrix that
 * nobody wrote to are all one page of zeros. */
#define _GNU_SOURCE
#include "../fuzz/fuzz_basis.c"
#include "minunit.h"

#include <sys/mman.h>

static void products_of_sizes_do_not_wrap(void)
{
  if (SIZE_MAX <= UINT32_MAX)
    return; /* no memory is that large */
  const size_t n = 70000, d = 70000;
  mu_assert(ke_padded(n) >= n);
  mu_assert(ke_panel_size(n, d) >= n * d && n * d > UINT32_MAX);
  mu_assert(ke_row_sums_work(n, 64) >= 64 * (size_t)KE_TILE * KE_TILE + n);
  mu_assert(ke_dual_doubles(n, 60000) >= n * 60000);
  mu_assert(ke_dual_indices(n) >= n);
  mu_assert(ke_search_work(d) >= 2 * KE_MEMORY * d);
  const ke_env env = {.threads = 2};
  mu_assert(ke_subset_work(d, &env) >= d);
  mu_assert(ke_words(n) * 64 >= n);
}

/* Rows n-1, n-2 and n-3 of a huge matrix are all it holds. */
static void a_basis_of_a_huge_matrix_reads_the_right_entries(void)
{
  if (SIZE_MAX <= UINT32_MAX)
    return;
  const size_t n = 50000, bytes = n * n * sizeof(double);
  double *K = (double *)mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (K == MAP_FAILED)
    return; /* a system that promises no more memory than it has */
  for (size_t k = 1; k <= 3; k++)
    K[(n - k) * (n + 1)] = (double)(4 - k);
  K[(n - 1) + (n - 2) * n] = K[(n - 2) + (n - 1) * n] = 1.0;
  const ke_env env = {.threads = 1};
  double *state = fuzz_doubles(ke_source_matrix_state());
  ke_source source = ke_source_matrix(K, n, state);
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.rule = ke_rule_of(KE_CHOLESKY);
  b.forced = n, b.limit = 5, b.pool.most = 200;
  lend_rows(&b, &source);
  const ke_status started = ke_basis_start(&b, &env);
  lend_columns(&b, b.limit);
  const ke_status ended = ke_basis_run(&b, &env);
  const size_t size = b.size, first = b.index[0], second = b.index[1], third = b.index[2];
  const double pivot = b.path[1].pivot, left = b.path[2].trace;
  give_back(&b);
  free(state);
  munmap(K, bytes);
  mu_assert(started == KE_OK && ended == KE_OK);
  mu_assert(size == 3 && first == n - 1 && second == n - 2 && third == n - 3);
  mu_near(pivot, 2.0 - 1.0 / 3.0, 1e-14);
  mu_near(left, 0.0, 1e-14);
}

int main(void)
{
  mu_run(products_of_sizes_do_not_wrap);
  mu_run(a_basis_of_a_huge_matrix_reads_the_right_entries);
  return mu_report();
}
