/* An environment that counts how often the core looks for an interrupt and what it says of its
 * progress. How many looks there must be follows from the sizes: one a step of each loop. */
#ifndef COUNT_H
#define COUNT_H

#include "kernelect.h"

typedef struct {
  size_t checks, reports;
  double share; /* reported last */
  int astray;   /* a share outside [0, 1], or below the one before */
} tally;

static inline void count_check(void *data) { ((tally *)data)->checks++; }

static inline void count_report(void *data, double share)
{
  tally *t = (tally *)data;
  t->astray = t->astray || !(share >= t->share && share <= 1.0);
  t->share = share;
  t->reports++;
}

/* The tally starts from zero. */
static inline ke_env counting(tally *t, int threads)
{
  const tally none = {0, 0, 0.0, 0};
  const ke_env env = {
      .threads = threads, .check = count_check, .data = t, .progress = count_report};
  *t = none;
  return env;
}

/* Steps of a loop over n things, so many at a time. */
static inline size_t steps(size_t n, size_t at_a_time) { return (n + at_a_time - 1) / at_a_time; }

/* Tiles on and below the diagonal of a matrix of `count` x `count` tiles. */
static inline size_t half_square(size_t count) { return count * (count + 1) / 2; }

#endif
