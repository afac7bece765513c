/* sparse.c against packed rows that hold the same numbers. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "kernels.h"
#include "minunit.h"
#include "pack.h"

#include <math.h>
#include <string.h>

enum { N = 53, D = 61 };

/* Numbers of which about one in `of` is not zero; row 5 is empty, rows 7 and 8 are alike. */
static double *mostly_zero(uint64_t seed, int of)
{
  double *x = draw_many(N * D, seed);
  uint64_t state = seed + 17;
  for (size_t e = 0; e < N * D; e++)
    if (e % N == 5 || draw(&state) > 2.0 / of - 1.0)
      x[e] = 0.0;
  for (size_t k = 0; k < D; k++)
    x[8 + k * N] = x[7 + k * N];
  return x;
}

/* The same as sparse rows, in memory of their own. */
static ke_sparse sparse_of(const double *x, const ke_kernel *kernel)
{
  const size_t blocks = ke_kernel_blocks(kernel);
  double *values = malloc(N * D * sizeof(double));
  int count = 0;
  ke_sparse s = {.n = N, .d = D, .blocks = blocks, .apart = N * D};
  s.start = malloc((N + 1) * sizeof(int));
  s.column = malloc(N * D * sizeof(int));
  s.value = malloc(blocks * N * D * sizeof(double));
  s.first = malloc((D + 1) * sizeof(int));
  s.row = malloc(N * D * sizeof(int));
  s.entry = malloc(blocks * N * D * sizeof(double));
  s.norm = malloc(blocks * ke_padded(N) * sizeof(double));
  for (size_t i = 0; i < N; i++) {
    s.start[i] = count;
    for (size_t k = 0; k < D; k++)
      if (x[i + k * N] != 0.0) {
        s.column[count] = (int)k;
        values[count++] = x[i + k * N];
      }
  }
  s.start[N] = count;
  const ke_env env = {.threads = 1};
  ke_sparse_fill(kernel, values, &s, &env);
  free(values);
  return s;
}

static void release_sparse(ke_sparse *s)
{
  free(s->start), free(s->column), free(s->value), free(s->first);
  free(s->row), free(s->entry), free(s->norm);
}

/* Every kind of kernel; the last is a sum of weighted parts that look at two blocks. */
#define KINDS 8
static ke_kernel kind(int which, const double *w)
{
  static ke_kernel part[2];
  static ke_look look[2];
  switch (which) {
  case 0: return kernel_of("linear", 1.0, 0.0, 1.0);
  case 1: return kernel_of("rbf", 0.3, 0.0, 1.0);
  case 2: return kernel_of("rbf", 400.0, 0.0, 1.0); /* distances by differences */
  case 3: return kernel_of("laplace", 0.7, 0.0, 1.0);
  case 4: return kernel_of("laplace", 1e-3, 0.0, 1.0);
  case 5: return kernel_of("polynomial", 0.5, 1.0, 3.0);
  case 6: return kernel_of("sigmoid", 0.2, 0.1, 1.0);
  default:
    part[0] = kernel_of("rbf", 0.2, 0.0, 1.0);
    part[1] = kernel_of("polynomial", 1.0, 0.5, 2.0);
    part[1].block = 1;
    look[0] = (ke_look){w, 1};
    look[1] = (ke_look){NULL, 0};
    return kernel_of_parts("sum", 2.0, part, 2, look, 2);
  }
}

static ke_rows packed_for(const ke_kernel *kernel, const double *x)
{
  ke_rows rows = lend(N, D * ke_kernel_blocks(kernel));
  free(rows.norm);
  rows.norm = malloc(ke_kernel_blocks(kernel) * ke_padded(N) * sizeof(double));
  rows.blocks = ke_kernel_blocks(kernel);
  ke_pack_for(kernel, x, N, (ke_transform){0}, &rows, NULL);
  return rows;
}

static int close_to(const double *a, const double *b, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-12 * (1.0 + fabs(b[i]))))
      return 0;
  return 1;
}

static void values_are_those_of_packed_rows(void)
{
  double *x = mostly_zero(3, 5), *z = mostly_zero(4, 3), *w = draw_many(D, 5);
  double *ours = malloc(N * N * sizeof(double)), *theirs = malloc(N * N * sizeof(double));
  int same = 1;
  for (int which = 0; which < KINDS; which++) {
    const ke_kernel kernel = kind(which, w);
    ke_sparse a = sparse_of(x, &kernel), b = sparse_of(z, &kernel);
    ke_rows pa = packed_for(&kernel, x), pb = packed_for(&kernel, z);
    ke_sparse_tile(&kernel, (ke_sparse_range){&a, 0, N}, (ke_sparse_range){&b, 0, N}, ours, N);
    ke_tile(&kernel, (ke_range){&pa, 0, N}, (ke_range){&pb, 0, N}, theirs, N);
    same = same && close_to(ours, theirs, N * N);
    ke_sparse_diagonal(&kernel, &a, ours);
    ke_diagonal(&kernel, &pa, theirs);
    same = same && close_to(ours, theirs, N);
    same = same && ke_sparse_within_range(&kernel, &a);
    release_sparse(&a), release_sparse(&b), release(&pa), release(&pb);
  }
  free(x), free(z), free(w), free(ours), free(theirs);
  mu_assert(same);
}

static void a_value_is_the_same_in_any_tile_and_either_way_round(void)
{
  double *x = mostly_zero(6, 4), *w = draw_many(D, 7), tile[9 * 7];
  double *whole = malloc(N * N * sizeof(double));
  int same = 1, alike = 1;
  for (int which = 0; which < KINDS; which++) {
    const ke_kernel kernel = kind(which, w);
    ke_sparse a = sparse_of(x, &kernel);
    ke_sparse_tile(&kernel, (ke_sparse_range){&a, 0, N}, (ke_sparse_range){&a, 0, N}, whole, N);
    ke_sparse_tile(&kernel, (ke_sparse_range){&a, 11, 9}, (ke_sparse_range){&a, 3, 7}, tile, 9);
    for (size_t j = 0; j < 7; j++)
      same = same && memcmp(tile + 9 * j, whole + 11 + (3 + j) * N, 9 * sizeof(double)) == 0;
    for (size_t j = 0; j < N; j++)
      for (size_t i = 0; i < N; i++)
        same = same && whole[i + j * N] == whole[j + i * N];
    if (ke_is_distance(&kernel))
      alike = alike && whole[7 + 8 * N] == 1.0 && whole[5 + 5 * N] == 1.0;
    release_sparse(&a);
  }
  free(x), free(w), free(whole);
  mu_assert(same);
  mu_assert(alike);
}

static void sets_of_gathered_rows_have_the_entries_of_the_whole(void)
{
  double *x = mostly_zero(8, 4), *w = draw_many(D, 9);
  double *whole = malloc(N * N * sizeof(double)), against[N * 5], between[4 * 5];
  const size_t picks[] = {40, 5, 8, 7, 0}, others[] = {52, 8, 5, 1};
  int same = 1;
  for (int which = 0; which < KINDS; which++) {
    const ke_kernel kernel = kind(which, w);
    ke_sparse a = sparse_of(x, &kernel);
    double *state = malloc(ke_source_sparse_state(&a) * sizeof(double));
    const ke_source s = ke_source_sparse(&kernel, &a, state);
    s.does->tile(s.self, 0, N, 0, N, whole, N);
    s.does->gather(s.self, KE_CANDIDATES, others, 4);
    s.does->gather(s.self, KE_PICKS, others, 4); /* and again, with others */
    s.does->gather(s.self, KE_PICKS, picks, 5);
    s.does->against(s.self, KE_PICKS, 0, N, against, N);
    s.does->between(s.self, KE_CANDIDATES, KE_PICKS, between, 4);
    for (size_t j = 0; j < 5; j++) {
      same = same && memcmp(against + j * N, whole + picks[j] * N, N * sizeof(double)) == 0;
      for (size_t i = 0; i < 4; i++)
        same = same && between[i + 4 * j] == whole[others[i] + picks[j] * N];
    }
    s.does->diagonal(s.self, against);
    for (size_t i = 0; i < N; i++)
      same = same && fabs(against[i] - whole[i * (N + 1)]) <= 1e-15 * fabs(against[i]);
    free(state);
    release_sparse(&a);
  }
  free(x), free(w), free(whole);
  mu_assert(same);
}

static void making_rows_ready_looks_for_an_interrupt(void)
{
  enum { ROWS = 2000, EACH = 1000 }; /* every entry is gone through four times */
  const ke_kernel kernel = kind(0, NULL);
  const size_t entries = (size_t)ROWS * EACH;
  tally t;
  const ke_env env = counting(&t, 1);
  double *values = calloc(entries, sizeof(double));
  ke_sparse s = {.n = ROWS, .d = EACH, .blocks = 1, .apart = entries};
  s.start = malloc((ROWS + 1) * sizeof(int)), s.first = malloc((EACH + 1) * sizeof(int));
  s.column = malloc(entries * sizeof(int)), s.row = malloc(entries * sizeof(int));
  s.value = malloc(entries * sizeof(double)), s.entry = malloc(entries * sizeof(double));
  s.norm = malloc(ke_padded(ROWS) * sizeof(double));
  for (size_t i = 0; i <= ROWS; i++)
    s.start[i] = (int)(i * EACH);
  for (size_t e = 0; e < entries; e++)
    s.column[e] = (int)(e % EACH);
  ke_sparse_fill(&kernel, values, &s, &env);
  release_sparse(&s);
  free(values);
  mu_assert(t.checks == 4 * entries / ke_batch(KE_FRESH));
}

static void an_expansion_takes_its_values_from_a_source(void)
{
  double *x = mostly_zero(10, 4), *z = mostly_zero(11, 4), *w = draw_many(D, 12);
  double *values = malloc(N * N * sizeof(double)), *out = malloc(N * N * sizeof(double));
  double *state = malloc(ke_source_sparse_cross_state() * sizeof(double));
  const ke_kernel kernel = kind(7, w);
  ke_sparse a = sparse_of(x, &kernel), b = sparse_of(z, &kernel);
  const ke_source s = ke_source_sparse_cross(&kernel, &a, &b, state);
  const ke_env env = {.threads = 1};
  ke_expansion e = {.L = N, .source = &s};
  double *work = malloc(ke_expansion_work(&e, N, &env) * sizeof(double));
  s.does->tile(s.self, 0, N, 0, N, values, N);
  const ke_status status = ke_expand(&e, NULL, N, out, work, &env);
  const int same = status == KE_OK && memcmp(out, values, N * N * sizeof(double)) == 0;
  free(x), free(z), free(w), free(values), free(out), free(state), free(work);
  release_sparse(&a), release_sparse(&b);
  mu_assert(same);
}

static void lengths_that_overflow_are_told(void)
{
  double *x = mostly_zero(13, 4);
  const ke_kernel linear = kind(0, NULL), rbf = kind(1, NULL);
  for (size_t e = 0; e < N * D; e++)
    x[e] *= 1e200;
  ke_sparse a = sparse_of(x, &linear);
  const int within = ke_sparse_within_range(&linear, &a) || ke_sparse_within_range(&rbf, &a);
  free(x);
  release_sparse(&a);
  mu_assert(!within);
}

/* An entry is worth as much as a number in fresh memory. */
static void sums_of_columns_look_for_interrupts(void)
{
  const size_t some = ke_batch(KE_FRESH), count = 2 * some + 5;
  int *column = malloc(count * sizeof(int));
  double *value = malloc(count * sizeof(double)), out[3] = {0.5, 0.0, 0.0};
  for (size_t e = 0; e < count; e++) {
    column[e] = (int)(e % 2);
    value[e] = e % 4 == 0 ? 2.0 : -1.0;
  }
  tally t;
  const ke_env env = counting(&t, 1);
  ke_sparse_sums(column, value, count, out, &env);
  double want[3] = {0.5, 0.0, 0.0};
  for (size_t e = 0; e < count; e++)
    want[column[e]] += value[e];
  free(column), free(value);
  mu_assert(t.checks == 2);
  mu_assert(memcmp(out, want, sizeof out) == 0);
}

int main(void)
{
  mu_run(values_are_those_of_packed_rows);
  mu_run(a_value_is_the_same_in_any_tile_and_either_way_round);
  mu_run(sets_of_gathered_rows_have_the_entries_of_the_whole);
  mu_run(making_rows_ready_looks_for_an_interrupt);
  mu_run(an_expansion_takes_its_values_from_a_source);
  mu_run(lengths_that_overflow_are_told);
  mu_run(sums_of_columns_look_for_interrupts);
  return mu_report();
}
