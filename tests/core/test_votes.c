#include "classes.h"
#include "count.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- looks for an interrupt and progress --------------------------------------------------- */

enum { FEW = 40 /* rows, */, MANY = 70 /* and directions: little enough for one look a loop */ };

typedef struct {
  tally voting, selecting, given;
} selection_tallies;

/* Votes of many learners, their selection, and the errors along the order found. */
static selection_tallies count_selection(void)
{
  enum { WORDS = 4 }; /* ke_words(FEW) */
  static uint64_t bits[MANY * CLASSES * WORDS], half[CLASSES * WORDS], whole[CLASSES * WORDS];
  double *rows = draw_many(FEW * MANY, 2), work[2 * CLASSES], error[MANY], weight[FEW];
  int classes[FEW], count[FEW * CLASSES];
  unsigned char used[MANY];
  size_t order[MANY];
  for (size_t i = 0; i < FEW; i++)
    classes[i] = (int)(i % CLASSES);
  ke_votes v = {FEW, MANY, CLASSES, ke_words(FEW), classes, bits};
  ke_ensemble e = {&v, KE_FORWARD, count, half, whole, weight, used, order, error};
  selection_tallies t;
  ke_env counted = counting(&t.voting, 1);
  ke_weak_votes(rows, &v, work, &counted);
  counted = counting(&t.selecting, 1);
  ke_kffs(&e, &counted);
  e.how = KE_GIVEN;
  counted = counting(&t.given, 1);
  ke_kffs(&e, &counted);
  free(rows);
  return t;
}

static void selection_looks_for_interrupts_and_reports(void)
{
  const selection_tallies t = count_selection();
  mu_assert(t.voting.checks == 1);
  mu_assert(t.selecting.checks == MANY * 2);
  mu_assert(t.given.checks == MANY);
  /* at the start of every round, and at the end */
  mu_assert(t.selecting.reports == MANY + 1 && t.given.reports == MANY + 1);
  mu_assert(t.selecting.share == 1.0 && t.given.share == 1.0);
  mu_assert(!t.selecting.astray && !t.given.astray);
}

/* The vote of row `row` of one direction. */
static size_t vote_of(const double *z, const int *label, size_t n, size_t row)
{
  uint64_t bits[2 * 4] = {0};
  double work[4];
  ke_votes v = {n, 1, 2, ke_words(n), label, bits};
  const ke_env alone = {.threads = 1};
  ke_weak_votes(z, &v, work, &alone);
  return (bits[v.words + row / 64] >> (row % 64)) & 1;
}

/* n eps of the size of its values. */
static void a_direction_without_spread_votes_for_the_larger_class(void)
{
  const double eps = 0x1p-52;
  const int label[] = {0, 0, 0, 1};
  const double constant[] = {1.0, 1.0, 1.0, 1.0 + 8.0 * eps},
               spread[] = {1.0, 1.0, 1.0, 1.0 + 16.0 * eps};
  mu_assert(vote_of(constant, label, 4, 3) == 0);
  mu_assert(vote_of(spread, label, 4, 3) == 1);
}

static void fits_this_close_are_equal(void)
{
  const int label[] = {0, 1, 0, 1, 0, 1};
  for (int apart = 0; apart <= 1; apart++) {
    const double tiny = apart ? 1.1e-10 : 0.9e-10;
    const double z[] = {-1.0, 1.0, -1.0, 1.0, tiny, -tiny};
    mu_assert(vote_of(z, label, 6, 4) == (size_t)apart);
    mu_assert(vote_of(z, label, 6, 1) == 1);
  }
}

int main(void)
{
  mu_run(a_direction_without_spread_votes_for_the_larger_class);
  mu_run(fits_this_close_are_equal);
  fill();
  mu_run(forward_selection_is_greedy);
  mu_run(selection_looks_for_interrupts_and_reports);
  return mu_report();
}
