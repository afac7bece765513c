/* A body that holds a part of the rows and is told of the picks does to them what the body of all
 * rows does, bit for bit. */
#include "draw.h"
#include "kernels.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 3 * KE_TILE + 50, D = 3, L = 5, CUT = 2 * KE_TILE };

static const ke_env env = {.threads = 1};
static double x[N * D];

static double *lend(size_t n) { return calloc(n, sizeof(double)); }

/* Rows first .. first + n as a body. */
typedef struct {
  ke_rows rows;
  ke_source source;
  double *state;
  ke_body body;
} part;

static void make(part *p, const ke_kernel *kernel, size_t first, size_t n)
{
  memset(p, 0, sizeof *p);
  p->rows.n = n, p->rows.d = D;
  p->rows.panel = lend(ke_panel_size(n, D)), p->rows.norm = lend(ke_padded(n));
  ke_pack(x + first, N, NULL, &p->rows);
  p->state = lend(ke_source_rows_state(&p->rows));
  p->source = ke_source_rows(kernel, &p->rows, p->state);
  ke_body *b = &p->body;
  b->source = &p->source, b->n = n, b->first = first, b->whole = N, b->capacity = L;
  b->diagonal = lend(n), b->inverse = lend(n), b->weight = lend(n), b->residual = lend(n);
  b->explained = lend(n), b->keys = lend(n), b->sorted = lend(n), b->factor = lend(n * L);
  b->work = lend(ke_body_work(L, 1));
}

static void unmake(part *p)
{
  ke_body *b = &p->body;
  free(p->rows.panel), free(p->rows.norm), free(p->state);
  free(b->diagonal), free(b->inverse), free(b->weight), free(b->residual), free(b->explained);
  free(b->keys), free(b->sorted), free(b->factor), free(b->work);
}

static void add(ke_ladder *to, const ke_ladder *from)
{
  for (size_t q = 0; q < from->count; q++)
    ke_ladder_add(to, from->start[q], from->tiles[q], from->value + q * from->width);
}

/* Five picks at once, their triangle from the kernel between them. */
static const size_t picks[L] = {7, CUT + 3, 500, 0, N - 1};

static void triangle(const part *whole, double *panel)
{
  double K[L * L];
  const ke_source *s = &whole->source;
  s->does->gather(s->self, KE_CANDIDATES, picks, L);
  s->does->gather(s->self, KE_PICKS, picks, L);
  s->does->between(s->self, KE_CANDIDATES, KE_PICKS, K, L);
  for (size_t l = 0; l < L; l++)
    for (size_t p = l; p < L; p++) {
      double sum = K[p + l * L];
      for (size_t k = 0; k < l; k++)
        sum -= panel[p + k * L] * panel[l + k * L];
      panel[p + l * L] = p == l ? sqrt(sum) : sum / panel[l + l * L];
    }
}

static void test_parts_do_what_the_whole_does(void)
{
  const ke_kernel kernel = kernel_of("rbf", 1.5, 0.0, 0.0);
  const size_t chosen[L] = {0, 1, 2, 3, 4};
  double panel[L * L] = {0.0}, sums[3][KE_RUNGS * KE_SUMS * L], traces[3][KE_RUNGS];
  ke_pick extreme[3][L], path[2][L];
  part whole, parts[2];
  for (size_t i = 0; i < N * D; i++)
    x[i] = sin((double)(i * i % 1013));
  make(&whole, &kernel, 0, N), make(&parts[0], &kernel, 0, CUT);
  make(&parts[1], &kernel, CUT, N - CUT);
  part *all[3] = {&whole, &parts[0], &parts[1]};
  ke_beginning begin[3];
  for (int q = 0; q < 3; q++) {
    begin[q].trace = ke_new_ladder(1, traces[q]);
    mu_assert(ke_body_start(&all[q]->body, 1, &begin[q]) == KE_OK);
  }
  add(&begin[1].trace, &begin[2].trace);
  mu_assert(begin[0].trace.count == begin[1].trace.count);
  mu_assert(memcmp(traces[0], traces[1], begin[0].trace.count * sizeof(double)) == 0);
  triangle(&whole, panel);
  const ke_round round = {0, L, picks, panel, L, chosen, 0};
  ke_totals totals[3];
  for (int q = 0; q < 3; q++) {
    totals[q] = ke_new_totals(L, sums[q], extreme[q]);
    ke_source_host(&all[q]->source, KE_PICKS, &whole.rows, picks, L);
    ke_body_update(&all[q]->body, &round, &totals[q], &env);
  }
  add(&totals[1].sums, &totals[2].sums);
  for (size_t l = 0; l < L; l++)
    ke_add_extreme(&extreme[1][l], &extreme[2][l]);
  memset(path, 0, sizeof path);
  ke_totals_to_path(&totals[0], L, path[0]);
  ke_totals_to_path(&totals[1], L, path[1]);
  mu_assert(memcmp(path[0], path[1], sizeof path[0]) == 0);
  mu_assert(path[0][L - 1].trace > 0.0 && path[0][L - 1].trace < (double)N);
  for (size_t i = 0; i < N; i++) {
    const ke_body *b = &parts[i >= CUT].body;
    const size_t at = i - b->first;
    mu_assert(b->residual[at] == whole.body.residual[i]);
    mu_assert(b->explained[at] == whole.body.explained[i]);
    for (size_t l = 0; l < L; l++)
      mu_assert(b->factor[at + l * b->n] == whole.body.factor[i + l * N]);
  }
  for (size_t l = 0; l < L; l++)
    mu_assert(whole.body.residual[picks[l]] == 0.0);
  unmake(&whole), unmake(&parts[0]), unmake(&parts[1]);
}

static void test_a_factor_can_be_made_again(void)
{
  const ke_kernel kernel = kernel_of("rbf", 1.5, 0.0, 0.0);
  const size_t chosen[L] = {0, 1, 2, 3, 4};
  double panel[L * L] = {0.0}, *sums = lend(KE_RUNGS * KE_SUMS * L), *factor = lend(N * L),
                   *left = lend(N), trace[KE_RUNGS];
  ke_pick extreme[L];
  part p;
  make(&p, &kernel, 0, N);
  ke_beginning begin = {.trace = ke_new_ladder(1, trace)};
  ke_body_start(&p.body, 1, &begin);
  triangle(&p, panel);
  const ke_round round = {0, L, picks, panel, L, chosen, 0};
  ke_totals totals = ke_new_totals(L, sums, extreme);
  ke_source_host(&p.source, KE_PICKS, &p.rows, picks, L);
  ke_body_update(&p.body, &round, &totals, &env);
  memcpy(factor, p.body.factor, N * L * sizeof(double));
  memcpy(left, p.body.residual, N * sizeof(double));
  memset(p.body.factor, 0, N * L * sizeof(double));
  ke_body_update(&p.body, &round, NULL, &env);
  mu_assert(memcmp(factor, p.body.factor, N * L * sizeof(double)) == 0);
  mu_assert(memcmp(left, p.body.residual, N * sizeof(double)) == 0);
  unmake(&p);
  free(sums), free(factor), free(left);
}

int main(void)
{
  mu_run(test_parts_do_what_the_whole_does);
  mu_run(test_a_factor_can_be_made_again);
  return mu_report();
}
