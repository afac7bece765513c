/* The rank-th largest of some numbers, in time of order n.
 *
 * Hoare's selection: values above and below that at the place asked for change sides, and the side
 * which that place is on goes on. Each round leaves a part of the values, but in an order made for
 * it only one goes a round, n^2 / 2 looks in all. So after KE_LOOKS n looks, five times what they
 * are on average, what is left is sorted by its heap. */
#include "selection.h"

/* x[at] sinks in the heap x[0..n), whose root is its smallest value, until none below is smaller.
 */
static size_t sink(double *x, size_t n, size_t at)
{
  const double value = x[at];
  size_t looks = 0, child;
  for (; (child = 2 * at + 1) < n; at = child, looks += 2) {
    if (child + 1 < n && x[child + 1] < x[child])
      child++;
    if (!(x[child] < value))
      break;
    x[at] = x[child];
  }
  x[at] = value;
  return looks + 2;
}

/* The largest first. */
static size_t sort_down(double *x, size_t n)
{
  size_t looks = 0;
  for (size_t at = n / 2; at-- > 0;)
    looks += sink(x, n, at);
  for (size_t left = n; left-- > 1;) {
    const double smallest = x[0];
    x[0] = x[left];
    x[left] = smallest;
    looks += sink(x, left, 0);
  }
  return looks;
}

/* Values of at least x[k] into x[low..i), of at most that into x(j..high]. */
static void part(double *x, ptrdiff_t k, ptrdiff_t *i, ptrdiff_t *j)
{
  const double pivot = x[k];
  do {
    while (x[*i] > pivot)
      ++*i;
    while (x[*j] < pivot)
      --*j;
    if (*i <= *j) {
      const double swap = x[*i];
      x[(*i)++] = x[*j];
      x[(*j)--] = swap;
    }
  } while (*i <= *j);
}

ke_selected ke_select_largest(double *x, size_t n, size_t rank)
{
  ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)rank;
  size_t looks = 0;
  while (low < high && looks / KE_LOOKS < n) {
    ptrdiff_t i = low, j = high;
    looks += (size_t)(high - low) + 1;
    part(x, k, &i, &j);
    if (j < k)
      low = i;
    if (k < i)
      high = j;
  }
  if (low < high)
    looks += sort_down(x + low, (size_t)(high - low) + 1);
  const ke_selected found = {x[k], looks};
  return found;
}
