/* Which directions of the kernel space discriminate (Xu, Shen, Ping and Zhao 2011, TAKES).
 *
 * Weak learners: direction z of n coordinates votes, row by row, for the class whose indicator
 * has the largest least-squares fit p_k + b_k (z - mean), b_k = cov(z, 1_k) / var(z).
 *
 * KFFS: the ensemble adds one vote a round; the class with most votes wins, and a tie with the
 * true class is half an error. For each class k the rows that would err, or err by half, if the
 * next vote went to k are two bit sets (n bits each); a candidate's error is then a count of
 * common bits with its own votes, n K / 64 words, so all rounds cost O(d^2 n K / 64) and nothing
 * is refitted. */
#include "votes.h"

#include "simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- votes ------------------------------------------------------------------------ */

#define LANES 4 /* words taken at a time */

size_t ke_words(size_t n) { return (n + 64 * LANES - 1) / (64 * LANES) * LANES; }

static uint64_t *votes_of(const ke_votes *v, size_t direction, size_t class)
{
  return v->bits + (direction * v->classes + class) * v->words;
}

/* Least-squares fit share_k + slope_k z of each class's indicator. A direction whose values differ
 * by no more than the rounding of their mean, n eps of their size, is constant. */
static void fit_learner(const double *z, const ke_votes *v, double *share, double *slope)
{
  const size_t n = v->n, classes = v->classes;
  const double rounding = (double)n * DBL_EPSILON;
  double mean = 0.0, spread = 0.0, size = 0.0;
  for (size_t j = 0; j < n; j++) {
    mean += z[j];
    size += z[j] * z[j];
  }
  mean /= (double)n;
  memset(share, 0, classes * sizeof(double));
  memset(slope, 0, classes * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    const double centred = z[j] - mean;
    share[v->label[j]] += 1.0 / (double)n;
    slope[v->label[j]] += centred;
    spread += centred * centred;
  }
  for (size_t k = 0; k < classes; k++) {
    slope[k] = spread > rounding * rounding * size ? slope[k] / spread : 0.0;
    share[k] -= slope[k] * mean;
  }
}

#define ROUNDING 1e-10 /* fits of indicators, and weighted errors, this close are equal */

/* The class of highest fit, the lowest of those that are equal. */
static size_t vote(double z, const double *share, const double *slope, size_t classes)
{
  double highest = share[0] + slope[0] * z;
  for (size_t k = 1; k < classes; k++)
    highest = fmax(highest, share[k] + slope[k] * z);
  size_t best = 0;
  while (best + 1 < classes && share[best] + slope[best] * z < highest - ROUNDING)
    best++;
  return best;
}

void ke_weak_votes(const double *z, ke_votes *v, double *work, const ke_env *env)
{
  double *share = work, *slope = work + v->classes;
  memset(v->bits, 0, v->d * v->classes * v->words * sizeof(uint64_t));
  const size_t step = ke_batch(8.0 * (double)v->n * (double)v->classes);
  for (size_t i = 0; i < v->d; i++) {
    if (i % step == 0)
      ke_check(env);
    const double *column = z + i * v->n;
    fit_learner(column, v, share, slope);
    for (size_t j = 0; j < v->n; j++) {
      const size_t k = vote(column[j], share, slope, v->classes);
      votes_of(v, i, k)[j / 64] |= (uint64_t)1 << (j % 64);
    }
  }
}

/* ---- forward selection -------------------------------------------------------------- */

/* 2 for an error, 1 for a tie with the true class. */
static int loss(int own, int others) { return (own < others) + (own <= others); }

/* Most votes that a class other than the true one has. */
static int rival(const ke_ensemble *e, size_t j)
{
  const int *count = e->count + j * e->votes->classes;
  int most = 0;
  for (size_t k = 0; k < e->votes->classes; k++)
    if (k != (size_t)e->votes->label[j] && count[k] > most)
      most = count[k];
  return most;
}

/* Bit sets of the rows that err by half and wholly if the next vote goes to class k. */
static void foresee(ke_ensemble *e)
{
  const ke_votes *v = e->votes;
  const size_t bytes = v->classes * v->words * sizeof(uint64_t);
  memset(e->half, 0, bytes);
  memset(e->whole, 0, bytes);
  for (size_t j = 0; j < v->n; j++) {
    const int *count = e->count + j * v->classes;
    const size_t truth = (size_t)v->label[j];
    const int most = rival(e, j);
    for (size_t k = 0; k < v->classes; k++) {
      const int next = k != truth && count[k] + 1 > most ? count[k] + 1 : most;
      const int lost = loss(count[truth] + (k == truth), next);
      uint64_t *set = lost == 2 ? e->whole : e->half;
      if (lost)
        set[k * v->words + j / 64] |= (uint64_t)1 << (j % 64);
    }
  }
}

typedef uint64_t u4_loose __attribute__((vector_size(32), aligned(8), may_alias));
#define LOAD_WORDS(p) ((u4)(*(const u4_loose *)(p)))

#define ODD 0x5555555555555555u
#define PAIRS 0x3333333333333333u
#define NIBBLES 0x0f0f0f0f0f0f0f0fu
#define BYTES 0x00ff00ff00ff00ffu
#define HOLDS 4096 /* words until lanes of 16 bits could run over */

/* Bits counted within each group of four. */
INLINE void count_nibbles(u4 *x)
{
  *x -= (*x >> 1) & ODD;
  *x = (*x & PAIRS) + ((*x >> 2) & PAIRS);
}

/* total += bits in votes & half, plus twice those in votes & whole */
INLINE void add_loss_body(const uint64_t *votes, const uint64_t *half, const uint64_t *whole,
                          size_t words, size_t *total)
{
  for (size_t w0 = 0; w0 < words; w0 += HOLDS) {
    const size_t end = ke_smaller(words, w0 + HOLDS);
    u4 lanes = {0};
    for (size_t w = w0; w < end; w += LANES) {
      u4 one = LOAD_WORDS(votes + w) & LOAD_WORDS(half + w);
      u4 two = LOAD_WORDS(votes + w) & LOAD_WORDS(whole + w);
      count_nibbles(&one);
      count_nibbles(&two);
      one += two + two;
      one = (one & NIBBLES) + ((one >> 4) & NIBBLES);
      lanes += (one & BYTES) + ((one >> 8) & BYTES);
    }
    for (int lane = 0; lane < LANES; lane++)
      for (int shift = 0; shift < 64; shift += 16)
        *total += (lanes[lane] >> shift) & 0xffff;
  }
}

DEFINE_DISPATCHED(static, add_loss,
                  (const uint64_t *votes, const uint64_t *half, const uint64_t *whole, size_t words,
                   size_t *total),
                  (votes, half, whole, words, total))

/* Share of rows that err once `direction` has voted too. */
static double plain_error(const ke_ensemble *e, size_t direction)
{
  const ke_votes *v = e->votes;
  size_t lost = 0;
  for (size_t k = 0; k < v->classes; k++)
    add_loss(votes_of(v, direction, k), e->half + k * v->words, e->whole + k * v->words, v->words,
             &lost);
  return (double)lost / (2.0 * (double)v->n);
}

static double sum_weights(const double *weight, uint64_t set, size_t first)
{
  double sum = 0.0;
  for (size_t j = first; set; set >>= 1, j++)
    if (set & 1)
      sum += weight[j];
  return sum;
}

/* The printed rule: weighted, and a tie is not a correct classification. */
static double weighted_error(const ke_ensemble *e, size_t direction)
{
  const ke_votes *v = e->votes;
  double lost = 0.0;
  for (size_t w = 0; w < v->words; w++) {
    uint64_t wrong = 0;
    for (size_t k = 0; k < v->classes; k++) {
      const size_t at = k * v->words + w;
      wrong |= votes_of(v, direction, k)[w] & (e->half[at] | e->whole[at]);
    }
    lost += sum_weights(e->weight, wrong, 64 * w);
  }
  return lost;
}

/* The candidate of least error; ties go to the lowest direction. */
static size_t best_candidate(const ke_ensemble *e, double *error, const ke_env *env)
{
  const size_t d = e->votes->d;
  const int weighted = e->how == KE_PRINTED;
  const size_t step = ke_batch(4.0 * (double)e->votes->n * (double)e->votes->classes);
  size_t best = d;
  for (size_t i = 0; i < d; i++) {
    if (i % step == 0)
      ke_check(env);
    if (e->used[i] && !weighted)
      continue;
    const double here = weighted ? weighted_error(e, i) : plain_error(e, i);
    if (best == d || here < *error - (weighted ? ROUNDING : 0.0)) {
      *error = here;
      best = i;
    }
  }
  return best;
}

static void add_vote(ke_ensemble *e, size_t direction)
{
  const ke_votes *v = e->votes;
  for (size_t k = 0; k < v->classes; k++) {
    const uint64_t *set = votes_of(v, direction, k);
    for (size_t j = 0; j < v->n; j++)
      e->count[j * v->classes + k] += (int)((set[j / 64] >> (j % 64)) & 1);
  }
  e->used[direction] = 1;
}

/* Step 14 of the printed algorithm, and step 7 of its next round. */
static void reweigh(ke_ensemble *e, double error)
{
  const size_t n = e->votes->n, classes = e->votes->classes;
  const double least = 1.0 / (2.0 * (double)n), clamped = fmin(fmax(error, least), 1.0 - least);
  const double factor = clamped / (1.0 - clamped);
  double total = 0.0;
  for (size_t j = 0; j < n; j++) {
    const int own = e->count[j * classes + (size_t)e->votes->label[j]];
    if (own > rival(e, j))
      e->weight[j] *= factor;
    total += e->weight[j];
  }
  for (size_t j = 0; j < n; j++)
    e->weight[j] /= total;
}

void ke_kffs(ke_ensemble *e, const ke_env *env)
{
  const ke_votes *v = e->votes;
  memset(e->count, 0, v->n * v->classes * sizeof(int));
  memset(e->used, 0, v->d);
  if (e->how == KE_PRINTED)
    for (size_t j = 0; j < v->n; j++)
      e->weight[j] = 1.0 / (double)v->n;
  for (size_t round = 0; round < v->d; round++) {
    ke_check(env);
    ke_progress(env, (double)round / (double)v->d);
    foresee(e);
    double error = 0.0;
    if (e->how == KE_GIVEN)
      error = plain_error(e, e->order[round]);
    else
      e->order[round] = best_candidate(e, &error, env);
    if (e->how == KE_PRINTED && fabs(error - 0.5) < ROUNDING)
      error = 0.5;
    e->error[round] = error;
    add_vote(e, e->order[round]);
    if (e->how == KE_PRINTED)
      reweigh(e, error);
  }
  ke_progress(env, 1.0);
}
