#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

enum { N = 301, D = 7, CLASSES = 3 };

static double z[N * D];
static int label[N];
static const ke_env env = {1, NULL, NULL, NULL, NULL};

/* Rows sorted by class, a few of them repeated in other classes. */
static void fill(void)
{
  uint64_t state = 1;
  for (size_t i = 0; i < N; i++) {
    label[i] = (int)(i * CLASSES / N);
    for (size_t k = 0; k < D; k++)
      z[i + k * N] = draw(&state) + (k == 2 ? label[i] : 0.0);
  }
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < D; k++)
      z[150 + i + k * N] = z[280 + i + k * N] = z[i + k * N];
}

static double distance2(size_t i, size_t j, size_t d)
{
  double sum = 0.0;
  for (size_t k = 0; k < d; k++)
    sum += (z[i + k * N] - z[j + k * N]) * (z[i + k * N] - z[j + k * N]);
  return sum;
}

/* Nearest other row by the plain loop: 0 any, 1 same class, 2 another. */
static size_t plain_nearest(size_t i, size_t d, int which)
{
  size_t best = N;
  double low = INFINITY;
  for (size_t j = 0; j < N; j++) {
    const int same = label[i] == label[j];
    if (j != i && !(which == 1 && !same) && !(which == 2 && same) && distance2(i, j, d) < low) {
      low = distance2(i, j, d);
      best = j;
    }
  }
  return best;
}

static ke_rows pack(void)
{
  ke_rows rows = {N, D, NULL, NULL};
  rows.panel = malloc(ke_panel_size(N, D) * sizeof(double));
  rows.norm = malloc(ke_padded(N) * sizeof(double));
  ke_pack(z, N, NULL, NULL, &rows);
  return rows;
}

static void nearest_rows_match_the_plain_loop(void)
{
  ke_rows rows = pack();
  double *distance = malloc(2 * N * sizeof(double));
  size_t nearest[2 * N], wrong = 0;
  for (int threads = 1; threads <= 2; threads++) {
    const ke_env several = {threads, NULL, NULL, NULL, NULL};
    double *work = malloc((size_t)threads * KE_TILE * KE_TILE * sizeof(double));
    ke_nearest p = {&rows, &rows, label, 1, distance, nearest};
    ke_find_nearest(&p, work, &several);
    for (size_t i = 0; i < N; i++)
      wrong += nearest[i] != plain_nearest(i, D, 1) || nearest[i + N] != plain_nearest(i, D, 2);
    p.label = NULL;
    ke_find_nearest(&p, work, &several);
    for (size_t i = 0; i < N; i++)
      wrong += nearest[i] != plain_nearest(i, D, 0);
    free(work);
  }
  free(rows.panel), free(rows.norm), free(distance);
  mu_assert(wrong == 0);
}

/* Far from the origin inner products say little about distances: the nearest are exact still. */
static void nearest_rows_are_exact_far_from_the_origin(void)
{
  enum { M = 60 };
  double far[M], distance[M], *work = malloc(KE_TILE * KE_TILE * sizeof(double));
  size_t nearest[M], wrong = 0;
  uint64_t state = 3;
  for (size_t i = 0; i < M; i++)
    far[i] = 1e6 + 1e-4 * draw(&state);
  ke_rows rows = {M, 1, malloc(ke_panel_size(M, 1) * sizeof(double)),
                  malloc(ke_padded(M) * sizeof(double))};
  ke_pack(far, M, NULL, NULL, &rows);
  ke_nearest p = {&rows, &rows, NULL, 1, distance, nearest};
  ke_find_nearest(&p, work, &env);
  for (size_t i = 0; i < M; i++)
    for (size_t j = 0; j < M; j++)
      wrong += j != i && fabs(far[j] - far[i]) < fabs(far[nearest[i]] - far[i]);
  free(rows.panel), free(rows.norm), free(work);
  mu_assert(wrong == 0);
}

static void nested_errors_match_the_plain_loop(void)
{
  size_t start[CLASSES + 1] = {0, 0, 0, N}, number[N], errors[D];
  for (size_t i = 0; i < N; i++)
    number[i] = i;
  for (size_t i = N; i-- > 0;)
    start[label[i]] = i;
  const ke_nested p = {N, D, z, label, start, number};
  double *distance = malloc(KE_QUERIES * N * sizeof(double));
  ke_nested_errors(&p, distance, errors, &env);
  free(distance);
  for (size_t d = 1; d <= D; d++) {
    size_t wrong = 0;
    for (size_t i = 0; i < N; i++)
      wrong += label[plain_nearest(i, d, 0)] != label[i];
    mu_assert(errors[d - 1] == wrong);
  }
}

static int votes_for(const ke_votes *v, size_t i, size_t k, size_t j)
{
  return (int)((v->bits[(i * CLASSES + k) * v->words + j / 64] >> (j % 64)) & 1);
}

/* Error of the ensemble of order[0..count), counted anew. */
static double plain_error(const ke_votes *v, const size_t *order, size_t count)
{
  double lost = 0.0;
  for (size_t j = 0; j < N; j++) {
    int total[CLASSES] = {0}, most = 0;
    for (size_t t = 0; t < count; t++)
      for (size_t k = 0; k < CLASSES; k++)
        total[k] += votes_for(v, order[t], k, j);
    for (int k = 0; k < CLASSES; k++)
      most = k != label[j] && total[k] > most ? total[k] : most;
    lost += total[label[j]] < most ? 1.0 : total[label[j]] == most ? 0.5 : 0.0;
  }
  return lost / N;
}

static void forward_selection_is_greedy(void)
{
  const size_t words = ke_words(N), sets = CLASSES * words;
  ke_votes v = {N, D, CLASSES, words, label, malloc(D * sets * sizeof(uint64_t))};
  double work[2 * CLASSES], error[D], weight[N];
  size_t order[D], once = 0, bad = 0;
  int count[N * CLASSES];
  unsigned char used[D];
  ke_weak_votes(z, &v, work, &env);
  for (size_t i = 0; i < D; i++)
    for (size_t j = 0; j < N; j++)
      once += votes_for(&v, i, 0, j) + votes_for(&v, i, 1, j) + votes_for(&v, i, 2, j) == 1;

  uint64_t *half = malloc(sets * sizeof(uint64_t)), *whole = malloc(sets * sizeof(uint64_t));
  ke_ensemble e = {&v, KE_FORWARD, count, half, whole, weight, used, order, error};
  ke_kffs(&e, &env);
  for (size_t t = 0; t < D; t++) {
    size_t trial[D];
    memcpy(trial, order, t * sizeof(size_t));
    bad += fabs(plain_error(&v, order, t + 1) - error[t]) > 1e-12;
    for (size_t later = t + 1; later < D; later++) {
      trial[t] = order[later];
      bad += plain_error(&v, trial, t + 1) < error[t] - 1e-12;
    }
  }
  free(v.bits), free(half), free(whole);
  mu_assert(once == N * D);
  mu_assert(order[0] == 2);
  mu_assert(bad == 0);
}

int main(void)
{
  fill();
  mu_run(nearest_rows_match_the_plain_loop);
  mu_run(nearest_rows_are_exact_far_from_the_origin);
  mu_run(nested_errors_match_the_plain_loop);
  mu_run(forward_selection_is_greedy);
  return mu_report();
}
