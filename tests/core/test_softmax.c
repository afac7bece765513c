/* softmax.c: loss and derivatives against plain sums and against differences. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 150, K = 3, SIZE = K + 1 };

typedef struct {
  ke_softmax s;
  double *d, *weights, b[SIZE];
  int label[N];
} problem;

/* A row in seven is of no class. */
static void make(problem *p)
{
  p->d = draw_many(N * K, 3);
  p->weights = draw_many(N, 4);
  for (int i = 0; i < N; i++) {
    p->weights[i] = fabs(p->weights[i]);
    p->label[i] = i % 7 == 0 ? -1 : i % K;
  }
  const double b[SIZE] = {1.7, 0.3, -0.4, 0.2};
  for (int q = 0; q < SIZE; q++)
    p->b[q] = b[q];
  p->s = (ke_softmax){N, K, p->d, p->weights, p->label, 0.05};
}

static void discard(problem *p)
{
  free(p->d);
  free(p->weights);
}

static double plain_loss(const problem *p, const double *b)
{
  double loss = 0.0;
  for (int q = 0; q < SIZE; q++)
    loss += 0.05 * b[q] * b[q] / 2.0;
  for (int i = 0; i < N; i++) {
    double sum = 0.0;
    for (int c = 0; c < K; c++)
      sum += exp(b[0] * p->d[i + c * N] + b[1 + c]);
    const int y = p->label[i];
    loss += p->weights[i] * (log(sum) - (y < 0 ? 0.0 : b[0] * p->d[i + y * N] + b[1 + y]));
  }
  return loss;
}

static ke_bend at(const problem *p, const double *b, double *derivatives, const ke_env *env)
{
  ke_bend out = {0.0, derivatives, derivatives + p->s.k + 1};
  double *work = malloc(ke_softmax_work(p->s.n, p->s.k, env->threads) * sizeof *work);
  ke_softmax_at(&p->s, b, work, &out, env);
  free(work);
  return out;
}

static void the_loss_is_a_plain_sum(void)
{
  problem p;
  double derivatives[SIZE * (SIZE + 1)];
  const ke_env env = {.threads = 1};
  make(&p);
  mu_near(at(&p, p.b, derivatives, &env).loss, plain_loss(&p, p.b), 1e-12);
  discard(&p);
}

/* Central differences: the error is of the order of the step squared. */
static void derivatives_are_limits_of_differences(void)
{
  problem p;
  double here[SIZE * (SIZE + 1)], up[SIZE * (SIZE + 1)], down[SIZE * (SIZE + 1)];
  const ke_env env = {.threads = 1};
  const double step = 1e-4;
  make(&p);
  at(&p, p.b, here, &env);
  for (int q = 0; q < SIZE; q++) {
    double b[SIZE];
    for (int e = 0; e < SIZE; e++)
      b[e] = p.b[e] + (e == q ? step : 0.0);
    const double above = at(&p, b, up, &env).loss;
    b[q] = p.b[q] - step;
    const double below = at(&p, b, down, &env).loss;
    mu_near(here[q], (above - below) / (2.0 * step), 1e-6);
    for (int e = 0; e < SIZE; e++) {
      mu_near(here[SIZE + e + q * SIZE], (up[e] - down[e]) / (2.0 * step), 1e-6);
      mu_assert(here[SIZE + e + q * SIZE] == here[SIZE + q + e * SIZE]);
    }
  }
  discard(&p);
}

static void large_values_do_not_overflow(void)
{
  const double d[4] = {1.0, -1.0, -1.0, 1.0}, weights[2] = {1.0, 1.0}, b[3] = {1e4, 0.0, 0.0};
  const int label[2] = {0, 1};
  double derivatives[12], work[1000];
  const ke_softmax s = {2, 2, d, weights, label, 0.0};
  ke_bend out = {0.0, derivatives, derivatives + 3};
  const ke_env env = {.threads = 1};
  mu_assert(ke_softmax_work(2, 2, 1) <= 1000);
  ke_softmax_at(&s, b, work, &out, &env);
  mu_assert(out.loss == 0.0 && out.gradient[0] == 0.0);
}

/* Rows of several blocks, the last of them not whole. */
static void threads_share_blocks_and_change_nothing(void)
{
  enum { rows = 3 * 64 * 32 + 70 };
  double *d = draw_many(rows * 2, 8), *weights = draw_many(rows, 9), one[3 * 4], two[3 * 4],
         sum = 0.0;
  const double b[3] = {0.7, 0.1, -0.2};
  int *label = malloc(rows * sizeof *label);
  for (int i = 0; i < rows; i++) {
    label[i] = i % 3 - 1;
    weights[i] = fabs(weights[i]);
    const double v[2] = {b[0] * d[i] + b[1], b[0] * d[i + rows] + b[2]};
    sum += weights[i] * (log(exp(v[0]) + exp(v[1])) - (label[i] < 0 ? 0.0 : v[label[i]]));
  }
  const problem p = {{rows, 2, d, weights, label, 0.0}, d, weights, {0.7, 0.1, -0.2}, {0}};
  const ke_env alone = {.threads = 1}, both = {.threads = 2};
  const double loss = at(&p, p.b, one, &alone).loss;
  mu_near(loss, sum, 1e-12 * sum);
  mu_assert(at(&p, p.b, two, &both).loss == loss && memcmp(one, two, sizeof one) == 0);
  free(d);
  free(weights);
  free(label);
}

/* Many classes: a tile is a batch of work, and a block; so are its sums all that is at hand. */
static void it_looks_for_interrupts(void)
{
  enum { rows = 64 * 9, classes = 1400 };
  double *d = draw_many((size_t)rows * classes, 5), *b = draw_many(classes + 1, 6);
  double *room =
      malloc(((classes + 1) * (classes + 2) + ke_softmax_work(rows, classes, 1)) * sizeof *room);
  double *weights = draw_many(rows, 7);
  int label[rows];
  for (int i = 0; i < rows; i++)
    label[i] = i;
  const ke_softmax s = {rows, classes, d, weights, label, 0.1};
  ke_bend out = {0.0, room, room + classes + 1};
  tally t;
  const ke_env env = counting(&t, 1);
  ke_softmax_at(&s, b, room + (classes + 1) * (classes + 2), &out, &env);
  mu_assert(ke_batch(64.0 * classes * (30.0 + classes)) == 1 && t.checks == 2 * 9);
  free(d);
  free(b);
  free(room);
  free(weights);
}

int main(void)
{
  mu_run(the_loss_is_a_plain_sum);
  mu_run(derivatives_are_limits_of_differences);
  mu_run(large_values_do_not_overflow);
  mu_run(threads_share_blocks_and_change_nothing);
  mu_run(it_looks_for_interrupts);
  return mu_report();
}
