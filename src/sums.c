/* Sums over tiles in the order of a binary tree, and the way down it. */
#include "sums.h"

#include <string.h>

ke_ladder ke_new_ladder(size_t width, double *value)
{
  ke_ladder l = {.width = width, .count = 0, .value = value};
  return l;
}

/* Whether the last two nodes are the halves of a larger one. */
static int siblings(const ke_ladder *l)
{
  if (l->count < 2)
    return 0;
  const size_t a = l->count - 2, b = l->count - 1;
  return l->tiles[a] == l->tiles[b] && l->start[a] % (2 * l->tiles[a]) == 0;
}

void ke_ladder_add(ke_ladder *l, size_t start, size_t tiles, const double *value)
{
  l->start[l->count] = start;
  l->tiles[l->count] = tiles;
  memcpy(l->value + l->count * l->width, value, l->width * sizeof(double));
  l->count++;
  while (siblings(l)) {
    double *a = l->value + (l->count - 2) * l->width, *b = a + l->width;
    for (size_t k = 0; k < l->width; k++)
      a[k] += b[k];
    l->tiles[l->count - 2] *= 2;
    l->count--;
  }
}

/* From the last and smallest node up. */
void ke_ladder_total(const ke_ladder *l, double *out)
{
  memset(out, 0, l->width * sizeof(double));
  for (size_t q = l->count; q-- > 0;)
    for (size_t k = 0; k < l->width; k++)
      out[k] = l->value[q * l->width + k] + out[k];
}

static size_t start_of(const ke_nodes *nodes, size_t q)
{
  return nodes->start ? nodes->start[q] : q;
}

static double sum_between(const ke_nodes *nodes, size_t low, size_t high)
{
  double value[KE_RUNGS], sum;
  ke_ladder l = ke_new_ladder(1, value);
  for (size_t q = low; q < high; q++)
    ke_ladder_add(&l, start_of(nodes, q), start_of(nodes, q + 1) - start_of(nodes, q),
                  &nodes->value[q]);
  ke_ladder_total(&l, &sum);
  return sum;
}

/* The first node of the right branch: what lies beyond the largest power of two tiles. */
static size_t right_branch(const ke_nodes *nodes, size_t low, size_t high)
{
  const size_t from = start_of(nodes, low), tiles = start_of(nodes, high) - from;
  size_t half = 1;
  while (2 * half < tiles)
    half *= 2;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (start_of(nodes, middle) - from <= half)
      low = middle;
    else
      high = middle;
  }
  return low;
}

size_t ke_locate(const ke_nodes *nodes, double *target)
{
  size_t low = 0, high = nodes->count;
  while (high - low > 1) {
    const size_t middle = right_branch(nodes, low, high);
    const double left = sum_between(nodes, low, middle), right = sum_between(nodes, middle, high);
    if (right <= 0.0 || (left > 0.0 && *target < left)) {
      high = middle;
    } else {
      *target -= left;
      low = middle;
    }
  }
  return low;
}
