#include "count.h"
#include "kernels.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 45, D = 6, RANK = 2 };

static double x[N * D], kt[(D + 1) * (D + 1)], kk[(D + 1) * (D + 1)];
static double u[N * RANK];
static const ke_env env = {.threads = 1};

static ke_rows lend(size_t n, size_t d)
{
  const ke_rows rows = {n,
                        d,
                        malloc((ke_panel_size(n, d) + 1) * sizeof(double)),
                        malloc((ke_padded(n) + 1) * sizeof(double)),
                        0,
                        0};
  return rows;
}

static void give_back(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

typedef struct {
  ke_subset s;
  ke_rows column[D];
  double *work;
} fixture;

static void open_fixture(fixture *f, const char *type)
{
  for (size_t i = 0; i < N * D; i++)
    x[i] = sin(1.7 * (double)i + 0.3 * (double)(i % 7));
  for (size_t i = 0; i < N * RANK; i++)
    u[i] = cos(2.3 * (double)i);
  memset(&f->s, 0, sizeof f->s);
  f->s.kernel = kernel_of(type, 0.4, 1.0, 2.0);
  f->s.n = N, f->s.d = D;
  f->s.x = x;
  f->s.target = lend(N, RANK);
  ke_panels(u, N, NULL, &f->s.target);
  for (size_t e = 0; e < D; e++) {
    f->column[e] = lend(N, 1);
    ke_pack(x + e * N, N, NULL, &f->column[e]);
  }
  f->s.column = f->column;
  f->s.rows = lend(N, D);
  f->work = malloc(ke_subset_work(D, &env) * sizeof(double));
}

static void close_fixture(fixture *f)
{
  for (size_t e = 0; e < D; e++)
    give_back(&f->column[e]);
  give_back(&f->s.rows);
  give_back(&f->s.target);
  free(f->work);
}

/* <K,T> and <K,K> of the product of the column kernels chosen, from single values. */
static void naive(const fixture *f, const double *chosen, double sums[2])
{
  sums[0] = sums[1] = 0.0;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      double k = 1.0;
      for (size_t e = 0; e < D; e++) {
        const double a = x[i + e * N], b = x[j + e * N];
        if (chosen[e] == 0.0)
          continue;
        k *= strcmp(f->s.kernel.type->name, "rbf") == 0 ? exp(-0.4 * (a - b) * (a - b))
                                                        : pow(0.4 * a * b + 1.0, 2.0);
      }
      for (size_t r = 0; r < RANK; r++)
        sums[0] += u[i + r * N] * u[j + r * N] * k;
      sums[1] += k * k;
    }
}

static void pairs_and_extensions_match(void)
{
  const char *types[2] = {"rbf", "polynomial"};
  for (int t = 0; t < 2; t++) {
    fixture f;
    double sums[2], chosen[D] = {0}, more_kt[D], more_kk[D];
    open_fixture(&f, types[t]);
    ke_subset_pairs(&f.s, kt, kk, f.work, &env);
    chosen[1] = chosen[4] = 1.0;
    naive(&f, chosen, sums);
    mu_near(kt[1 + 4 * (D + 1)], sums[0], 1e-11);
    mu_near(kk[4 + 1 * (D + 1)], sums[1], 1e-11);
    ke_subset_extend(&f.s, chosen, more_kt, more_kk, f.work, &env);
    chosen[2] = 1.0;
    naive(&f, chosen, sums);
    mu_near(more_kt[2], sums[0], 1e-11);
    mu_near(more_kk[2], sums[1], 1e-11);
    chosen[2] = chosen[4] = 0.0;
    naive(&f, chosen, sums);
    mu_near(kt[1 + D * (D + 1)], sums[0], 1e-11);
    close_fixture(&f);
  }
}

static void leaving_out_matches(void)
{
  fixture f;
  double sums[2], chosen[D] = {1.0, 1.0, 0.0, 1.0, 1.0, 0.0}, left[D];
  open_fixture(&f, "rbf");
  ke_subset_reduce(&f.s, chosen, left, f.work, &env);
  chosen[3] = 0.0;
  naive(&f, chosen, sums);
  mu_near(left[3], sums[0], 1e-11);
  mu_near(left[2], 0.0, 0.0);
  close_fixture(&f);
}

static void tiles_look_for_interrupts(void)
{
  const size_t tiles = half_square(steps(N, KE_SUBSET_TILE));
  const double chosen[D] = {1.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  double one[D], two[D];
  tally pairs, more, less;
  fixture f;
  open_fixture(&f, "rbf");
  ke_env counted = counting(&pairs, 1);
  ke_subset_pairs(&f.s, kt, kk, f.work, &counted);
  counted = counting(&more, 1);
  ke_subset_extend(&f.s, chosen, one, two, f.work, &counted);
  counted = counting(&less, 1);
  ke_subset_reduce(&f.s, chosen, one, f.work, &counted);
  close_fixture(&f);
  mu_assert(tiles > 1);
  mu_assert(pairs.checks == tiles);
  mu_assert(more.checks == tiles);
  mu_assert(less.checks == tiles);
}

/* At the start of a tile, and while groups of columns are multiplied with all, twice. */
static size_t looks_of_tile(size_t cells, size_t d)
{
  enum { GROUP = 24 };
  const double product = 2.0 * GROUP * (double)(d + 1) * (double)cells;
  return 1 + 2 * (steps(d + 1, GROUP) / ke_batch(product));
}

static void many_columns_are_multiplied_in_portions(void)
{
  enum { ROWS = 20, MANY = 1000 };
  const double at[ROWS] = {0.0};
  double ones[ROWS];
  for (size_t i = 0; i < ROWS; i++)
    ones[i] = 1.0;
  ke_rows column[MANY], packed = lend(ROWS, 1), target = lend(ROWS, 1);
  ke_panels(ones, ROWS, NULL, &target);
  ke_pack(at, ROWS, NULL, &packed);
  for (size_t e = 0; e < MANY; e++)
    column[e] = packed;
  const ke_subset s = {.kernel = kernel_of("rbf", 1.0, 0.0, 0.0),
                       .n = ROWS,
                       .d = MANY,
                       .target = target,
                       .column = column};
  double *sums = malloc(2 * (MANY + 1) * (MANY + 1) * sizeof(double));
  double *work = malloc(ke_subset_work(MANY, &env) * sizeof(double));
  tally t;
  const ke_env counted = counting(&t, 1);
  ke_subset_pairs(&s, sums, sums + (MANY + 1) * (MANY + 1), work, &counted);
  const double last = sums[(MANY + 1) * (MANY + 1) - 2]; /* of equal rows: all kernels are 1 */
  free(sums), free(work);
  give_back(&packed);
  give_back(&target);
  mu_assert(t.checks == looks_of_tile(ROWS * ROWS, MANY) && t.checks > 5);
  mu_near(last, (double)(ROWS * ROWS), 1e-9);
}

int main(void)
{
  mu_run(pairs_and_extensions_match);
  mu_run(leaving_out_matches);
  mu_run(tiles_look_for_interrupts);
  mu_run(many_columns_are_multiplied_in_portions);
  return mu_report();
}
