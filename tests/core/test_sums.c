/* Sums over tiles: the same bits however the tiles are dealt out, and the way down to one. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <math.h>
#include <string.h>

enum { MOST = 70, WIDTH = 2 };

static double values[MOST * WIDTH];

static void fill(void)
{
  for (size_t i = 0; i < MOST * WIDTH; i++)
    values[i] = 1.0 / (double)(i * i % 97 + 3);
}

/* The tree written out: halves of a power of two, else the largest power first. */
static double naive(size_t from, size_t count, size_t k)
{
  size_t half = 1;
  if (count == 1)
    return values[from * WIDTH + k];
  while (2 * half < count)
    half *= 2;
  return naive(from, half, k) + naive(from + half, count - half, k);
}

/* Tiles 0 .. count, those from `cut` on added up by another ladder first. */
static void in_two(size_t count, size_t cut, double *out)
{
  double mine[KE_RUNGS * WIDTH], other[KE_RUNGS * WIDTH];
  ke_ladder a = ke_new_ladder(WIDTH, mine), b = ke_new_ladder(WIDTH, other);
  for (size_t t = 0; t < count; t++)
    ke_ladder_add(t < cut ? &a : &b, t, 1, values + t * WIDTH);
  for (size_t q = 0; q < b.count; q++)
    ke_ladder_add(&a, b.start[q], b.tiles[q], b.value + q * WIDTH);
  ke_ladder_total(&a, out);
}

static void test_sums_do_not_depend_on_the_cut(void)
{
  double out[WIDTH];
  fill();
  for (size_t count = 1; count <= MOST; count++)
    for (size_t cut = 0; cut <= count; cut++) {
      in_two(count, cut, out);
      for (size_t k = 0; k < WIDTH; k++)
        mu_assert(out[k] == naive(0, count, k));
    }
}

static void test_few_nodes_are_left(void)
{
  double value[KE_RUNGS], one = 1.0, sum;
  for (size_t first = 0; first < 200; first += 7) {
    ke_ladder l = ke_new_ladder(1, value);
    for (size_t t = first; t < 5000; t++)
      ke_ladder_add(&l, t, 1, &one);
    mu_assert(l.count <= 2 * 13);
    ke_ladder_total(&l, &sum);
    mu_assert(sum == (double)(5000 - first));
  }
}

/* By running sum over nodes of one tile, or of runs of tiles: the same tile. */
static void test_a_target_is_found_where_the_running_sum_passes_it(void)
{
  double value[MOST], running = 0.0;
  const ke_nodes tiles = {NULL, value, MOST};
  for (size_t t = 0; t < MOST; t++)
    value[t] = t % 5 == 0 ? 0.0 : (double)(t % 7 + 1); /* whole numbers: no rounding */
  for (size_t t = 0; t < MOST; t++) {
    for (double in = 0.0; in < value[t]; in += 0.5) {
      double target = running + in;
      mu_assert(ke_locate(&tiles, &target) == t);
      mu_assert(target == in);
    }
    running += value[t];
  }
  double beyond = running + 1.0;
  mu_assert(ke_locate(&tiles, &beyond) == MOST - 1);
}

static void test_nodes_of_several_tiles_are_found_alike(void)
{
  const size_t start[] = {0, 8, 12, 14, 15, 16};
  const double value[] = {4.0, 2.0, 0.0, 1.0, 0.0};
  const ke_nodes nodes = {start, value, 5};
  const double target[] = {0.0, 3.5, 4.0, 5.5, 6.0, 6.5, 7.0};
  const size_t expected[] = {0, 0, 1, 1, 3, 3, 3};
  for (size_t k = 0; k < 7; k++) {
    double left = target[k];
    mu_assert(ke_locate(&nodes, &left) == expected[k]);
  }
}

int main(void)
{
  mu_run(test_sums_do_not_depend_on_the_cut);
  mu_run(test_few_nodes_are_left);
  mu_run(test_a_target_is_found_where_the_running_sum_passes_it);
  mu_run(test_nodes_of_several_tiles_are_found_alike);
  return mu_report();
}
