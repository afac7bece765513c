/* Selection against sorting, in any order of the values, and how often it looks at them. */
#include "kernelect.h"
#include "draw.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 5000 };

static uint64_t state = 17;
static double values[N], scratch[N], sorted[N];

static int down(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* For selection at place k, which pivots on what is there: always the largest value left. */
static void fill_adverse(size_t n, size_t k)
{
  for (size_t i = 0; i < n; i++)
    values[i] = (double)(n - i);
  values[k] = (double)(n + 1);
}

enum { RISING, FALLING, EQUAL, FEW, RANDOM, INFINITE, KINDS };

static void fill(int kind, size_t n)
{
  for (size_t i = 0; i < n; i++)
    switch (kind) {
    case RISING: values[i] = (double)i; break;
    case FALLING: values[i] = -(double)i; break;
    case EQUAL: values[i] = 2.5; break;
    case FEW: values[i] = (double)(i * 7 % 3); break;
    case RANDOM: values[i] = draw(&state); break;
    default: values[i] = i % 3 ? HUGE_VAL : draw(&state);
    }
}

static ke_selected chosen(size_t n, size_t rank)
{
  memcpy(scratch, values, n * sizeof(double));
  return ke_select_largest(scratch, n, rank);
}

/* As sorting says, and no value is lost. */
static int is_right(size_t n, size_t rank)
{
  memcpy(sorted, values, n * sizeof(double));
  qsort(sorted, n, sizeof(double), down);
  if (chosen(n, rank).value != sorted[rank] || scratch[rank] != sorted[rank])
    return 0;
  qsort(scratch, n, sizeof(double), down);
  return memcmp(scratch, sorted, n * sizeof(double)) == 0;
}

static void test_selection_is_what_sorting_says(void)
{
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t n = 1; n <= 40; n++)
      for (size_t rank = 0; rank < n; rank++) {
        fill(kind, n);
        mu_assert(is_right(n, rank));
      }
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t rank = 0; rank < N; rank += N / 7) {
      fill(kind, N);
      mu_assert(is_right(N, rank));
    }
}

static double most_looks(size_t n)
{
  return (double)n * (KE_LOOKS + 3.0 * (2.0 + log2((double)n)));
}

/* One value a round: (n - i) looks in round i of k, if nothing stopped it. */
static void test_an_order_made_for_it_does_not_make_it_quadratic(void)
{
  for (size_t n = 1000; n <= N; n += 800)
    for (size_t part = 1; part <= 3; part++) {
      const size_t k = n * part / 4;
      fill_adverse(n, k);
      const double looks = (double)chosen(n, k).looks;
      mu_assert(looks > KE_LOOKS * (double)n); /* it is an order made for it */
      mu_assert(looks <= most_looks(n));
      mu_assert((double)k * (double)(n - k / 2) > 2.0 * looks);
      mu_assert(is_right(n, k));
    }
}

static void test_other_orders_are_looked_at_a_few_times(void)
{
  for (int kind = 0; kind < KINDS; kind++)
    for (size_t rank = 0; rank < N; rank += N / 7) {
      fill(kind, N);
      mu_assert(chosen(N, rank).looks <= 8 * N);
    }
}

int main(void)
{
  mu_run(test_selection_is_what_sorting_says);
  mu_run(test_an_order_made_for_it_does_not_make_it_quadratic);
  mu_run(test_other_orders_are_looked_at_a_few_times);
  return mu_report();
}
