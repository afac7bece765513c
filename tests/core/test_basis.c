/* The basis engine without R: sources agree, picks are those of plain pivoting, every lent array
 * is just as long as the contract says (the sanitizers watch), growth of the factor is seamless. */
#include "count.h"
#include "kernels.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

static unsigned state = 1;

static double uniform(void *data)
{
  (void)data;
  state = state * 1664525u + 1013904223u;
  return ((double)(state >> 8) + 0.5) / 16777216.0;
}

enum { THREADS = 3 };

static const ke_env env = {.threads = 1, .uniform = uniform},
                    several = {.threads = THREADS, .uniform = uniform};

static double *lend(size_t n) { return calloc(n ? n : 1, sizeof(double)); }

static size_t *lend_sizes(size_t n) { return calloc(n ? n : 1, sizeof(size_t)); }

static ke_rows lend_rows(size_t n, size_t d)
{
  ke_rows rows = {n, d, lend(ke_panel_size(n, d)), lend(ke_padded(n)), 0, 0};
  return rows;
}

static void drop_rows(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

static double *random_matrix(size_t n, size_t d)
{
  double *x = lend(n * d);
  for (size_t i = 0; i < n * d; i++)
    x[i] = uniform(NULL);
  return x;
}

/* ---- an engine with exact room ------------------------------------------------------- */

static ke_body *body_of(const ke_basis *b) { return &((ke_one_body *)b->bodies.self)->body; }

static void lend_columns(ke_basis *b, size_t capacity)
{
  ke_body *body = body_of(b);
  double *factor = lend(body->n * capacity), *triangle = lend(capacity * (capacity + 1) / 2);
  if (b->size > 0) {
    memcpy(factor, body->factor, body->n * b->size * sizeof(double));
    memcpy(triangle, b->state.triangle, b->size * (b->size + 1) / 2 * sizeof(double));
  }
  free(body->factor), free(b->pool.panel), free(body->work), free(b->state.triangle),
      free(b->state.solution);
  body->factor = factor;
  body->capacity = b->capacity = capacity;
  body->work = lend(ke_body_work(capacity, THREADS));
  b->pool.panel = lend(b->pool.most * capacity);
  b->state.triangle = triangle;
  b->state.solution = lend(capacity);
}

static ke_one_body *body_on(const ke_source *s, int normalised)
{
  ke_one_body *one = calloc(1, sizeof *one);
  ke_body *body = &one->body;
  body->source = s;
  body->n = s->n;
  body->diagonal = lend(s->n), body->inverse = lend(s->n), body->weight = lend(s->n);
  body->residual = lend(s->n), body->keys = lend(s->n), body->sorted = lend(s->n);
  body->explained = normalised ? lend(s->n) : NULL;
  one->sums = lend(KE_RUNGS * KE_SUMS * KE_BLOCK);
  one->extreme = calloc(KE_BLOCK, sizeof(ke_pick));
  return one;
}

static ke_basis engine(const ke_source *s, ke_method method, size_t limit, size_t most)
{
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.rule = ke_rule_of(method);
  b.bodies = ke_bodies_one(body_on(s, b.rule->normalised));
  b.forced = s->n;
  b.limit = limit;
  b.pool.most = most;
  const size_t room = most > KE_BLOCK ? most : KE_BLOCK;
  b.state.keys = body_of(&b)->keys;
  b.state.proposed.key = body_of(&b)->sorted;
  b.state.proposed.row = lend_sizes(s->n);
  b.index = lend_sizes(limit);
  b.path = calloc(limit, sizeof(ke_pick));
  b.pool.row = lend_sizes(room), b.state.sequence = lend_sizes(room);
  b.pool.left = lend(room), b.pool.gained = lend(room), b.pool.weight = lend(room);
  b.state.before = lend(room);
  b.pool.chosen = lend_sizes(KE_BLOCK);
  b.threshold = lend(limit + 1);
  return b;
}

static void drop_body(ke_one_body *one)
{
  ke_body *body = &one->body;
  free(body->diagonal), free(body->inverse), free(body->weight), free(body->residual);
  free(body->keys), free(body->sorted), free(body->explained), free(body->factor);
  free(body->work), free(one->sums), free(one->extreme), free(one);
}

static void drop(ke_basis *b)
{
  drop_body((ke_one_body *)b->bodies.self);
  free(b->index), free(b->path), free(b->pool.row), free(b->state.sequence);
  free(b->pool.left), free(b->pool.gained), free(b->pool.weight), free(b->pool.chosen);
  free(b->state.before), free(b->state.proposed.row), free((void *)b->threshold);
  free(b->pool.panel), free(b->state.triangle), free(b->state.solution);
}

/* Runs to the end from `columns` columns on; returns how often the factor had to grow. */
static int run_in(ke_basis *b, size_t columns, const ke_env *around)
{
  int grown = 0;
  state = 7;
  if (ke_basis_start(b, around) != KE_OK)
    return -1;
  lend_columns(b, columns < b->limit ? columns : b->limit);
  while (ke_basis_run(b, around) == KE_FULL) {
    lend_columns(b, 2 * b->capacity < b->limit ? 2 * b->capacity : b->limit);
    grown++;
  }
  return grown;
}

static int run(ke_basis *b, size_t columns) { return run_in(b, columns, &env); }

/* Plain pivoted Cholesky with the largest residual first. */
static void naive(const double *K, size_t n, size_t size, size_t *index)
{
  double *F = lend(n * size), *r = lend(n);
  for (size_t i = 0; i < n; i++)
    r[i] = K[i * (n + 1)];
  for (size_t l = 0; l < size; l++) {
    size_t p = 0;
    for (size_t i = 1; i < n; i++)
      p = r[i] > r[p] * (1.0 + KE_TIE) ? i : p;
    index[l] = p;
    const double root = sqrt(r[p]);
    for (size_t i = 0; i < n; i++) {
      double f = K[i + p * n];
      for (size_t k = 0; k < l; k++)
        f -= F[i + k * n] * F[p + k * n];
      F[i + l * n] = f / root;
    }
    for (size_t i = 0; i < n; i++)
      r[i] = i == p ? 0.0 : r[i] - F[i + l * n] * F[i + l * n];
  }
  free(F);
  free(r);
}

/* ---- a small problem ----------------------------------------------------------------------- */

typedef struct {
  double *x, *K, *states[2];
  ke_rows rows;
  ke_source data, matrix;
} problem;

static problem make(size_t n, size_t d, ke_kernel kernel)
{
  static ke_rows rows; /* the source keeps a pointer to it: one problem at a time */
  problem p;
  state = 3;
  p.x = random_matrix(n, d);
  p.K = lend(n * n);
  rows = lend_rows(n, d);
  ke_pack(p.x, n, NULL, &rows);
  p.rows = rows;
  p.states[0] = lend(ke_source_rows_state(&rows));
  p.states[1] = lend(ke_source_matrix_state());
  p.data = ke_source_rows(&kernel, &rows, p.states[0]);
  ke_gram(&p.data, p.K, &env);
  p.matrix = ke_source_matrix(p.K, n, p.states[1]);
  return p;
}

static void unmake(problem *p)
{
  free(p->x), free(p->K), free(p->states[0]), free(p->states[1]);
  drop_rows(&p->rows);
}

/* Sum of w[j] K[i, j], or of w[j] K[i, j]^2, over all j. */
static double row_sum(const problem *p, size_t i, int square, const double *w)
{
  const size_t n = p->matrix.n;
  double sum = 0.0;
  for (size_t j = 0; j < n; j++)
    sum += w[j] * p->K[i + j * n] * (square ? p->K[i + j * n] : 1.0);
  return sum;
}

static ke_kernel rbf, quadratic;

static void test_greedy_picks_are_those_of_plain_pivoting(void)
{
  problem p = make(301, 3, rbf);
  size_t expected[60];
  naive(p.K, 301, 60, expected);
  for (size_t most = 1; most <= 40; most += 13) {
    ke_basis b = engine(&p.data, KE_CHOLESKY, 60, most);
    mu_assert(run(&b, 60) == 0);
    mu_assert(b.stop == KE_STOP_SIZE && b.size == 60);
    mu_assert(memcmp(b.index, expected, sizeof expected) == 0);
    drop(&b);
  }
  unmake(&p);
}

static void test_data_and_matrix_sources_agree(void)
{
  const ke_method methods[] = {KE_FVS, KE_CHOLESKY, KE_KOBL, KE_KGS, KE_RANDOM};
  problem p = make(131, 4, quadratic);
  for (int m = 0; m < 5; m++) {
    ke_basis a = engine(&p.data, methods[m], 20, 131), b = engine(&p.matrix, methods[m], 20, 131);
    run(&a, 20);
    run(&b, 20);
    mu_assert(a.size == b.size && a.size > 5 && a.stop == b.stop);
    for (size_t l = 0; l < a.size; l++) {
      mu_assert(a.index[l] == b.index[l]);
      mu_near(a.path[l].pivot, b.path[l].pivot, 1e-12);
      mu_near(a.path[l].trace, b.path[l].trace, 1e-10);
    }
    drop(&a);
    drop(&b);
  }
  unmake(&p);
}

static void test_rank_ends_the_path(void)
{
  problem p = make(90, 3, quadratic); /* ten monomials of degree up to 2 in 3 variables */
  const ke_method methods[] = {KE_FVS, KE_CHOLESKY, KE_KGS, KE_RANDOM};
  for (int m = 0; m < 4; m++) {
    ke_basis b = engine(&p.data, methods[m], 90, 90);
    run(&b, 90);
    mu_assert(b.stop == KE_STOP_RANK);
    mu_assert(b.size == 10);
    drop(&b);
  }
  unmake(&p);
}

static void test_growth_of_the_factor_changes_nothing(void)
{
  const ke_method methods[] = {KE_CHOLESKY, KE_KGS, KE_RANDOM};
  problem p = make(420, 6, rbf);
  for (int m = 0; m < 3; m++) {
    ke_basis a = engine(&p.data, methods[m], 300, 256), b = engine(&p.data, methods[m], 300, 256);
    mu_assert(run(&a, 300) == 0);
    mu_assert(run(&b, 130) > 0);
    mu_assert(a.size == b.size && a.size > KE_BLOCK);
    mu_assert(memcmp(a.index, b.index, a.size * sizeof(size_t)) == 0);
    mu_assert(memcmp(body_of(&a)->factor, body_of(&b)->factor,
                     body_of(&a)->n * a.size * sizeof(double)) == 0);
    drop(&a);
    drop(&b);
  }
  unmake(&p);
}

static void test_threads_do_not_change_a_bit(void)
{
  const ke_method methods[] = {KE_FVS, KE_CHOLESKY, KE_KGS, KE_RANDOM};
  const size_t n = 5 * KE_TILE + 7;
  problem p = make(n, 5, rbf);
  double *w = random_matrix(n, 1), *sums[] = {lend(n), lend(n)};
  double *work = lend(ke_row_sums_work(n, THREADS));
  for (int m = 0; m < 4; m++) {
    ke_basis a = engine(&p.data, methods[m], 150, 200), b = engine(&p.data, methods[m], 150, 200);
    run_in(&a, 150, &env);
    run_in(&b, 150, &several);
    mu_assert(a.size == b.size && a.size > KE_BLOCK);
    mu_assert(memcmp(a.index, b.index, a.size * sizeof(size_t)) == 0);
    mu_assert(memcmp(body_of(&a)->factor, body_of(&b)->factor, n * a.size * sizeof(double)) == 0);
    mu_assert(memcmp(a.path, b.path, a.size * sizeof(ke_pick)) == 0);
    drop(&a);
    drop(&b);
  }
  ke_row_sums(&p.data, 1, w, sums[0], work, &env);
  ke_row_sums(&p.data, 1, w, sums[1], work, &several);
  mu_assert(memcmp(sums[0], sums[1], n * sizeof(double)) == 0);
  free(w), free(sums[0]), free(sums[1]), free(work);
  unmake(&p);
}

/* What lies behind the weights, the last tile and the work is not zero, and no part of a sum. */
static void test_row_sums_are_those_of_the_entries(void)
{
  const size_t n = KE_TILE + 7, room = ke_row_sums_work(n, 1);
  problem p = make(n, 5, rbf);
  double *w = random_matrix(n + 1, 1), *work = random_matrix(room, 1), *sums = lend(n);
  w[n] = 1e6;
  for (int square = 0; square <= 1; square++) {
    ke_row_sums(&p.data, square, w, sums, work, &env);
    for (size_t i = 0; i < n; i++)
      mu_near(sums[i], row_sum(&p, i, square, w), 1e-12);
  }
  free(w), free(work), free(sums);
  unmake(&p);
}

static void test_one_and_two_rows_work(void)
{
  const ke_method methods[] = {KE_FVS, KE_CHOLESKY, KE_KOBL, KE_KGS, KE_RANDOM};
  for (size_t n = 1; n <= 2; n++) {
    problem p = make(n, 2, rbf);
    for (int m = 0; m < 5; m++) {
      ke_basis b = engine(&p.data, methods[m], n, n);
      mu_assert(run(&b, n) == 0);
      mu_assert(b.size == n && b.stop == KE_STOP_RANK);
      mu_near(b.path[n - 1].trace, 0.0, 1e-15);
      drop(&b);
    }
    unmake(&p);
  }
}

static void test_the_centre_has_no_length_and_is_never_picked(void)
{
  problem p = make(77, 3, quadratic);
  const size_t n = 77;
  size_t rows[3];
  double *shift = lend(n), *work = lend(2 * n + ke_row_sums_work(n, 1) + 3 * KE_TILE);
  for (size_t count = 1; count <= 3; count += 2) {
    ke_nearest_to_centre(&p.data, NULL, count, rows, work, &env);
    const double constant = ke_centre_shift(&p.data, rows, count, shift, work, &env);
    double *state = lend(ke_source_centred_state());
    ke_source centred = ke_source_centred(&p.data, shift, constant, state);
    ke_basis b = engine(&centred, KE_FVS, n, n);
    run(&b, n);
    free(state);
    mu_assert(b.size == 9 && b.stop == KE_STOP_RANK);
    for (size_t l = 0; l < b.size; l++)
      mu_assert(count > 1 || b.index[l] != rows[0]);
    drop(&b);
  }
  free(shift);
  free(work);
  unmake(&p);
}

enum {
  EVERY_PICKS = 8, /* between two looks within a round, at the cost below */
  COSTLY = 2000000 /* flops of an entry: work goes in the smallest pieces */
};

/* Every view of a source against the whole matrix, whose entry i, j is full[i + 30 j]. */
static int views_agree(ke_source *s, const double *full)
{
  enum { N = 30, LD = 40 };
  const size_t rows[] = {3, 17, 4, 29}, cols[] = {0, 29, 11};
  double out[LD * 7], diagonal[N], worst = 0.0;
  s->does->gather(s->self, 0, rows, 4);
  s->does->gather(s->self, 1, cols, 3);
  s->does->diagonal(s->self, diagonal);
  for (size_t i = 0; i < N; i++)
    worst = fmax(worst, fabs(diagonal[i] - full[i * (N + 1)]));
  s->does->between(s->self, 0, 1, out, LD);
  for (size_t j = 0; j < 3; j++)
    for (size_t i = 0; i < 4; i++)
      worst = fmax(worst, fabs(out[i + j * LD] - full[rows[i] + cols[j] * N]));
  s->does->against(s->self, 1, 4, 20, out, LD);
  for (size_t j = 0; j < 3; j++)
    for (size_t i = 0; i < 20; i++)
      worst = fmax(worst, fabs(out[i + j * LD] - full[4 + i + cols[j] * N]));
  s->does->tile(s->self, 8, 9, 4, 7, out, LD);
  for (size_t j = 0; j < 7; j++)
    for (size_t i = 0; i < 9; i++)
      worst = fmax(worst, fabs(out[i + j * LD] - full[8 + i + (4 + j) * N]));
  return worst < 1e-12;
}

static void test_all_views_of_a_source_agree(void)
{
  enum { N = 30 };
  problem p = make(N, 3, quadratic);
  double shift[N], full[N * N];
  const double constant = 0.7;
  for (size_t i = 0; i < N; i++)
    shift[i] = sin((double)i);
  mu_assert(views_agree(&p.data, p.K));
  mu_assert(views_agree(&p.matrix, p.K));
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      full[i + j * N] = p.K[i + j * N] - shift[i] - shift[j] + constant;
  double *states[] = {lend(ke_source_centred_state()), lend(ke_source_centred_state())};
  ke_source of_data = ke_source_centred(&p.data, shift, constant, states[0]),
            of_matrix = ke_source_centred(&p.matrix, shift, constant, states[1]);
  mu_assert(views_agree(&of_data, full));
  mu_assert(views_agree(&of_matrix, full));
  free(states[0]), free(states[1]);
  unmake(&p);
}

/* Columns on demand are those of the matrix, however many threads make them; costly ones in many
 * pieces. */
static void test_columns_are_those_of_the_matrix(void)
{
  const size_t n = 3 * KE_TILE + 11, index[] = {5, 700, 0, 5};
  problem p = make(n, 3, rbf);
  double *out = lend(4 * n);
  for (int threads = 1; threads <= 2; threads++) {
    tally t;
    const ke_env counted = counting(&t, threads);
    p.data.cost = threads == 1 ? 70.0 : COSTLY;
    ke_source_columns(&p.data, index, 4, out, n, &counted);
    mu_assert(threads == 1 ? t.checks == 1 : t.checks >= 1 && t.checks <= 1 + steps(n, KE_TILE));
    for (size_t j = 0; j < 4; j++)
      mu_assert(memcmp(out + j * n, p.K + index[j] * n, n * sizeof(double)) == 0);
  }
  free(out);
  unmake(&p);
}

/* A callback is asked for row numbers, by one thread only. */
typedef struct {
  const double *K;
  size_t n;
} table;

static void copy_entries(void *data, const size_t *i, size_t m, const size_t *j, size_t k,
                         double *out, size_t ldo)
{
  const table *t = (const table *)data;
  for (size_t q = 0; q < k; q++)
    for (size_t p = 0; p < m; p++)
      out[p + q * ldo] = t->K[i[p] + j[q] * t->n];
}

static void test_a_callback_is_a_source(void)
{
  enum { N = 30 };
  problem p = make(N, 3, quadratic);
  table t = {p.K, N};
  double diagonal[N], *state = lend(ke_source_callback_state(N));
  for (size_t i = 0; i < N; i++)
    diagonal[i] = p.K[i * (N + 1)];
  ke_source s = ke_source_callback(copy_entries, &t, diagonal, N, state);
  mu_assert(views_agree(&s, p.K));
  mu_assert(ke_source_env(&s, &several).threads == 1);
  mu_assert(ke_source_env(&p.data, &several).threads == THREADS);
  free(state);
  unmake(&p);
}

/* The largest number that a centred diagonal entry is a difference of. */
static void test_magnitudes_are_those_behind_the_diagonal(void)
{
  enum { N = 4 };
  const double K[N * N] = {4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0, 2};
  const double shift[N] = {1.0, -3.0, 4.0, 0.5};
  double *states[] = {lend(ke_source_matrix_state()), lend(ke_source_centred_state())}, h[N];
  const ke_source plain = ke_source_matrix(K, N, states[0]),
                  centred = ke_source_centred(&plain, shift, 2.5, states[1]);
  mu_assert(!plain.centred && !plain.cancels && centred.centred && centred.cancels);
  plain.does->magnitude(plain.self, h);
  for (size_t i = 0; i < N; i++)
    mu_assert(h[i] == K[i * (N + 1)]);
  centred.does->magnitude(centred.self, h);
  mu_assert(h[0] == 4.5); /* 4 + 2.5 - 2: itself */
  mu_assert(h[1] == 9.5); /* 1 + 2.5 + 6: itself */
  mu_assert(h[2] == 9.0); /* the entry before */
  mu_assert(h[3] == 3.5); /* 2 + 2.5 - 1: itself */
  free(states[0]), free(states[1]);
}

/* Row sums go by block columns of tiles, the shift by tiles: each asks before it goes on. */
static void test_centring_looks_for_interrupts(void)
{
  const size_t n = 2 * KE_TILE + 37;
  problem p = make(n, 3, rbf);
  size_t rows[2];
  double *shift = lend(n), *work = lend(2 * n + ke_row_sums_work(n, 1) + 2 * KE_TILE);
  tally nearest, shifted;
  ke_env counted = counting(&nearest, 1);
  ke_nearest_to_centre(&p.data, NULL, 2, rows, work, &counted);
  mu_assert(nearest.checks == steps(n, KE_TILE));
  counted = counting(&shifted, 1);
  ke_centre_shift(&p.data, rows, 2, shift, work, &counted);
  mu_assert(shifted.checks == steps(n, KE_TILE));
  for (size_t i = 0; i < n; i += 7)
    mu_near(shift[i], 0.5 * (p.K[i + rows[0] * n] + p.K[i + rows[1] * n]), 1e-14);
  free(shift), free(work);
  unmake(&p);
}

static void test_row_sums_are_those_of_the_matrix(void)
{
  const size_t n = 517;
  problem p = make(n, 3, rbf);
  double *w = random_matrix(n, 1), *sums = lend(n), *work = lend(ke_row_sums_work(n, 1));
  for (int square = 0; square <= 1; square++) {
    ke_row_sums(&p.data, square, w, sums, work, &env);
    for (size_t i = 0; i < n; i += 11)
      mu_near(sums[i], row_sum(&p, i, square, w), 1e-13);
  }
  free(w), free(sums), free(work);
  unmake(&p);
}

static void test_a_negative_or_infinite_diagonal_is_told(void)
{
  double K[4] = {1.0, 0.0, 0.0, -1.0};
  double *state = lend(ke_source_matrix_state());
  ke_source s = ke_source_matrix(K, 2, state);
  ke_basis b = engine(&s, KE_CHOLESKY, 2, 2);
  mu_assert(ke_basis_start(&b, &env) == KE_INDEFINITE);
  K[3] = -1.01 * KE_NEGATIVE; /* beyond rounding, */
  mu_assert(ke_basis_start(&b, &env) == KE_INDEFINITE);
  K[3] = -0.99 * KE_NEGATIVE; /* and within */
  mu_assert(ke_basis_start(&b, &env) == KE_OK);
  mu_assert(KE_NEGATIVE == 1e-8);
  K[3] = HUGE_VAL;
  mu_assert(ke_basis_start(&b, &env) == KE_NOT_FINITE);
  K[3] = 0.0;
  mu_assert(run(&b, 2) == 0 && b.size == 1 && b.stop == KE_STOP_RANK);
  drop(&b);
  free(state);
}

static void test_first_fvs_pick_by_blocks_and_by_the_half_pass_agree(void)
{
  const size_t n = 333;
  problem p = make(n, 3, rbf);
  const size_t spent = ke_row_sums_work(n, 1), block = ke_fitness_work(1);
  double *work = lend(n + (spent > block ? spent : block));
  size_t *rows = lend_sizes(n);
  for (size_t i = 0; i < n; i++)
    rows[i] = i;
  ke_basis b = engine(&p.data, KE_FVS, 5, 64);
  mu_assert(ke_basis_start(&b, &env) == KE_OK);
  mu_assert(ke_first_fvs(&b, NULL, 0, work, &env) == ke_first_fvs(&b, rows, n, work, &env));
  free(work), free(rows);
  drop(&b);
  unmake(&p);
}

/* sum_j k_ij^2 / (k_ii k_jj), left at the front of the work space, for either route. */
static void test_fitness_of_single_rows_is_that_of_the_matrix(void)
{
  const size_t n = 123;
  problem p = make(n, 3, quadratic);
  const size_t spent = ke_row_sums_work(n, 1), block = ke_fitness_work(1);
  double *work = lend(n + (spent > block ? spent : block));
  size_t rows[41];
  for (size_t j = 0; j < 41; j++)
    rows[j] = 3 * j;
  ke_basis b = engine(&p.data, KE_FVS, 5, 64);
  mu_assert(ke_basis_start(&b, &env) == KE_OK);
  for (int some = 0; some <= 1; some++) {
    const size_t best = ke_first_fvs(&b, some ? rows : NULL, some ? 41 : 0, work, &env);
    double highest = 0.0, found = 0.0;
    for (size_t q = 0; q < (some ? 41 : n); q++) {
      const size_t i = some ? rows[q] : q;
      double fitness = 0.0;
      for (size_t j = 0; j < n; j++)
        fitness += p.K[i + j * n] * p.K[i + j * n] / (p.K[i * (n + 1)] * p.K[j * (n + 1)]);
      mu_near(work[q], fitness, 1e-12);
      highest = fmax(highest, fitness);
      found = i == best ? fitness : found;
    }
    mu_near(found, highest, 1e-12);
  }
  free(work);
  drop(&b);
  unmake(&p);
}

static void test_an_engine_can_be_started_again(void)
{
  problem p = make(80, 3, rbf);
  ke_basis b = engine(&p.data, KE_CHOLESKY, 30, 40);
  size_t before[30];
  mu_assert(run(&b, 30) == 0 && b.size == 30);
  const size_t updates = b.updates;
  memcpy(before, b.index, sizeof before);
  mu_assert(run(&b, 30) == 0 && b.size == 30 && b.updates == updates);
  mu_assert(memcmp(before, b.index, sizeof before) == 0);
  drop(&b);
  unmake(&p);
}

/* ---- thresholds, on both sides ----------------------------------------------------------------
 */

/* A basis of all rows of a diagonal matrix (some entries off it may follow), its rows in `index`.
 */
static size_t basis_of(double *K, size_t n, ke_method method, int cancels, size_t *index)
{
  double *state_of = lend(ke_source_matrix_state());
  ke_source s = ke_source_matrix(K, n, state_of);
  s.cancels = cancels;
  ke_basis b = engine(&s, method, n, n);
  b.forced = method == KE_FVS ? 0 : n;
  const int grown = run(&b, n);
  const size_t size = grown < 0 ? SIZE_MAX : b.size;
  memcpy(index, b.index, (grown < 0 ? 0 : size) * sizeof *index);
  drop(&b);
  free(state_of);
  return size;
}

static size_t size_of_two(double second, ke_method method)
{
  double K[4] = {1.0, 0.0, 0.0, second};
  size_t index[2];
  return basis_of(K, 2, method, 0, index);
}

/* n eps of the largest diagonal, and for rows in order the rounding magnified. */
static void test_what_is_left_at_rounding_is_no_direction(void)
{
  const double eps = 0x1p-52;
  mu_assert(size_of_two(2.1 * eps, KE_CHOLESKY) == 2);
  mu_assert(size_of_two(1.9 * eps, KE_CHOLESKY) == 1);
  mu_assert(size_of_two(8.1 * eps, KE_KGS) == 2);
  mu_assert(size_of_two(7.9 * eps, KE_KGS) == 1);
}

static void test_keys_closer_than_a_tie_go_to_the_lowest_row(void)
{
  size_t index[2];
  double near[4] = {1.0, 0.0, 0.0, 1.0 + 0.9e-10}, far[4] = {1.0, 0.0, 0.0, 1.0 + 1.1e-10};
  mu_assert(basis_of(near, 2, KE_CHOLESKY, 0, index) == 2 && index[0] == 0);
  mu_assert(basis_of(far, 2, KE_CHOLESKY, 0, index) == 2 && index[0] == 1);
}

/* Small keys tie within the rounding of the largest diagonal: 16 units of it. */
static void test_small_keys_tie_within_rounding(void)
{
  enum { N = 40 };
  const double eps = 0x1p-52;
  for (int apart = 0; apart <= 1; apart++) {
    double K[N * N] = {0.0};
    size_t index[N];
    K[0] = 1.0;
    K[5 * (N + 1)] = 1e-12;
    K[9 * (N + 1)] = 1e-12 + (apart ? 17.0 : 15.0) * eps;
    mu_assert(basis_of(K, N, KE_CHOLESKY, 0, index) == 3);
    mu_assert(index[0] == 0 && index[1] == (apart ? 9 : 5));
  }
}

/* Row 1 is orthogonal to row 0 but for rounding, row 2 exactly: equal where zero is not exact. */
static void test_what_is_explained_at_rounding_is_nothing(void)
{
  const double eps = 0x1p-52;
  for (int cancels = 0; cancels <= 1; cancels++)
    for (int large = 0; large <= 1; large++) {
      const double tiny = (large ? 17.0 : 15.0) * eps;
      double K[9] = {1.0, tiny, 0.0, tiny, 1.0, 0.0, 0.0, 0.0, 1.0};
      size_t index[3];
      mu_assert(basis_of(K, 3, KE_FVS, cancels, index) == 3 && index[0] == 0);
      mu_assert(index[1] == (cancels && !large ? 1 : 2));
    }
}

/* A centred row is the centre itself where n eps of what it is a difference of is left. */
static void test_a_row_at_the_centre_has_no_length(void)
{
  const double eps = 0x1p-52, K[4] = {1.0, 0.0, 0.0, 1.0};
  double *states[] = {lend(ke_source_matrix_state()), lend(ke_source_centred_state())};
  for (int far = 0; far <= 1; far++) {
    const double shift[2] = {0.0, 1.0 - (far ? 1.5 : 0.5) * eps}; /* leaves 3 eps, or 1 */
    const ke_source plain = ke_source_matrix(K, 2, states[0]),
                    centred = ke_source_centred(&plain, shift, 1.0, states[1]);
    ke_basis b = engine(&centred, KE_FVS, 2, 2);
    mu_assert(ke_basis_start(&b, &env) == KE_OK);
    mu_assert(b.start.counted == (far ? 2.0 : 1.0));
    drop(&b);
  }
  free(states[0]), free(states[1]);
}

/* ---- looks for an interrupt and progress --------------------------------------------------- */

/* Flops of an entry at which EVERY_PICKS picks among so many candidates take all patience. */
static double cost_of_picks(size_t candidates)
{
  return KE_PATIENCE / ((EVERY_PICKS + 0.5) * (double)candidates);
}

/* A round asks at its start, every few picks, and so often while all rows follow. */
static size_t checks_of_round(size_t picks, size_t looks)
{
  return 1 + picks / EVERY_PICKS + looks;
}

/* With all rows as candidates a round takes KE_BLOCK picks, and the last one what is left. */
static void test_rounds_and_picks_look_for_interrupts(void)
{
  const size_t rest = 2 * EVERY_PICKS + 3, limit = KE_BLOCK + rest, n = limit + 20;
  problem p = make(n, 6, rbf);
  p.data.cost = cost_of_picks(n);
  ke_basis greedy = engine(&p.data, KE_CHOLESKY, limit, n), kgs = engine(&p.data, KE_KGS, limit, n);
  tally t;
  ke_env counted = counting(&t, 1);
  run_in(&greedy, limit, &counted);
  /* the second round has few candidates left, so its picks are cheap; the one tile of rows is
   * not, and followed by a look */
  const size_t checks = checks_of_round(KE_BLOCK, 2) + checks_of_round(0, 2);
  mu_assert(greedy.size == limit && greedy.updates == 2);
  mu_assert(t.checks == checks);
  counted = counting(&t, 1);
  run_in(&kgs, limit, &counted);
  mu_assert(kgs.size == limit && kgs.updates == 2);
  mu_assert(t.checks > checks); /* so many candidates a round, each of them judged */
  p.data.cost = 1.0;
  counted = counting(&t, 1);
  run_in(&greedy, limit, &counted);
  mu_assert(t.checks == checks_of_round(0, 1) + checks_of_round(0, 1));
  drop(&greedy);
  drop(&kgs);
  unmake(&p);
}

/* Rows that kgs considers but does not take cost as much as those it takes. What rounding leaves
 * of them may ask for a round more, in vain. */
static void test_rows_passed_over_look_for_interrupts(void)
{
  const size_t n = KE_BLOCK, rank = 10; /* monomials of degree up to 2 in 3 variables */
  problem p = make(n, 3, quadratic);
  p.data.cost = cost_of_picks(n);
  ke_basis b = engine(&p.data, KE_KGS, n, n);
  tally t;
  const ke_env counted = counting(&t, 1);
  run_in(&b, n, &counted);
  mu_assert(b.size == rank && b.updates == 1 && b.stop == KE_STOP_RANK);
  mu_assert(t.checks >= checks_of_round(rank, 1) + steps(n, EVERY_PICKS));
  drop(&b);
  unmake(&p);
}

static void test_tiles_of_rows_look_for_interrupts(void)
{
  const size_t n = 4 * KE_TILE + 37, limit = EVERY_PICKS;
  problem p = make(n, 3, rbf);
  p.matrix.cost = COSTLY; /* this source takes all rows as candidates */
  ke_basis b = engine(&p.matrix, KE_CHOLESKY, limit, n);
  tally t;
  const ke_env counted = counting(&t, 1);
  run_in(&b, limit, &counted);
  mu_assert(b.size == limit && b.updates == 1);
  mu_assert(t.checks == 2 + limit + steps(n, KE_TILE)); /* every pick is worth a look here */
  drop(&b);
  unmake(&p);
}

static void test_the_first_fvs_pick_looks_for_interrupts(void)
{
  const size_t n = 2 * KE_TILE + 37, some = KE_BLOCK + 5;
  problem p = make(n, 3, rbf);
  p.data.cost = COSTLY;
  const size_t spent = ke_row_sums_work(n, 1), block = ke_fitness_work(1);
  double *work = lend(n + (spent > block ? spent : block));
  size_t *rows = lend_sizes(some);
  for (size_t i = 0; i < some; i++)
    rows[i] = i;
  ke_basis b = engine(&p.data, KE_FVS, 1, 1);
  mu_assert(ke_basis_start(&b, &env) == KE_OK);
  tally t;
  ke_env counted = counting(&t, 1);
  ke_first_fvs(&b, rows, some, work, &counted);
  mu_assert(t.checks == steps(some, KE_BLOCK) * (1 + steps(n, KE_TILE)));
  counted = counting(&t, 1);
  ke_first_fvs(&b, NULL, 0, work, &counted); /* half of the matrix, tile by tile */
  mu_assert(t.checks == steps(n, KE_TILE) + half_square(steps(n, KE_TILE)));
  free(work), free(rows);
  drop(&b);
  unmake(&p);
}

static void test_progress_is_the_share_of_the_limit(void)
{
  const size_t rest = 9, limit = KE_BLOCK + rest, n = limit + 20;
  problem p = make(n, 6, rbf);
  ke_basis b = engine(&p.data, KE_CHOLESKY, limit, n);
  tally t;
  const ke_env counted = counting(&t, 1);
  mu_assert(ke_basis_start(&b, &env) == KE_OK);
  lend_columns(&b, KE_BLOCK); /* room for one round */
  mu_assert(ke_basis_run(&b, &counted) == KE_FULL);
  mu_assert(t.reports == 1 && t.share == (double)KE_BLOCK / (double)limit);
  lend_columns(&b, limit);
  mu_assert(ke_basis_run(&b, &counted) == KE_OK);
  mu_assert(t.reports == 2 && t.share == 1.0 && !t.astray);
  drop(&b);
  unmake(&p);
}

static void test_a_path_that_ends_early_is_all_of_the_work(void)
{
  problem p = make(90, 3, quadratic);
  ke_basis b = engine(&p.data, KE_CHOLESKY, 90, 90);
  tally t;
  const ke_env counted = counting(&t, 1);
  run_in(&b, 90, &counted);
  mu_assert(b.stop == KE_STOP_RANK && b.size < b.limit);
  mu_assert(t.reports == b.updates && t.share == 1.0 && !t.astray);
  drop(&b);
  unmake(&p);
}

int main(void)
{
  rbf = kernel_of("rbf", 3.0, 0.0, 0.0);
  quadratic = kernel_of("polynomial", 1.0, 1.0, 2.0);
  mu_run(test_greedy_picks_are_those_of_plain_pivoting);
  mu_run(test_data_and_matrix_sources_agree);
  mu_run(test_rank_ends_the_path);
  mu_run(test_growth_of_the_factor_changes_nothing);
  mu_run(test_threads_do_not_change_a_bit);
  mu_run(test_row_sums_are_those_of_the_entries);
  mu_run(test_one_and_two_rows_work);
  mu_run(test_the_centre_has_no_length_and_is_never_picked);
  mu_run(test_all_views_of_a_source_agree);
  mu_run(test_columns_are_those_of_the_matrix);
  mu_run(test_a_callback_is_a_source);
  mu_run(test_magnitudes_are_those_behind_the_diagonal);
  mu_run(test_centring_looks_for_interrupts);
  mu_run(test_row_sums_are_those_of_the_matrix);
  mu_run(test_a_negative_or_infinite_diagonal_is_told);
  mu_run(test_first_fvs_pick_by_blocks_and_by_the_half_pass_agree);
  mu_run(test_fitness_of_single_rows_is_that_of_the_matrix);
  mu_run(test_an_engine_can_be_started_again);
  mu_run(test_rounds_and_picks_look_for_interrupts);
  mu_run(test_rows_passed_over_look_for_interrupts);
  mu_run(test_tiles_of_rows_look_for_interrupts);
  mu_run(test_the_first_fvs_pick_looks_for_interrupts);
  mu_run(test_progress_is_the_share_of_the_limit);
  mu_run(test_a_path_that_ends_early_is_all_of_the_work);
  mu_run(test_what_is_left_at_rounding_is_no_direction);
  mu_run(test_keys_closer_than_a_tie_go_to_the_lowest_row);
  mu_run(test_small_keys_tie_within_rounding);
  mu_run(test_what_is_explained_at_rounding_is_nothing);
  mu_run(test_a_row_at_the_centre_has_no_length);
  return mu_report();
}
