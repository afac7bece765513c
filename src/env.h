/* What the surroundings lend to the core, and what it answers. */
#ifndef KERNELECT_ENV_H
#define KERNELECT_ENV_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

/* Rounding is relied upon: by exp, by exact symmetry, by distances that are exactly zero. */
#ifdef __FAST_MATH__
#error "kernelect must be compiled without -ffast-math: its results would be wrong"
#endif
#if defined(FLT_EVAL_METHOD) && (FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0)
#if defined(__GNUC__) && !defined(__clang__) && (defined(__i386__) || defined(__x86_64__))
/* arithmetic with excess precision rounds twice, and not always: every processor that R runs on
 * has the other kind */
#pragma GCC target("sse2,fpmath=sse")
#else
#error "kernelect needs double arithmetic without excess precision (FLT_EVAL_METHOD 0 or 1)"
#endif
#endif

static inline size_t ke_smaller(size_t a, size_t b) { return a < b ? a : b; }

typedef enum {
  KE_OK = 0,
  KE_FULL,          /* basis engine: factor has no column left; enlarge and call again */
  KE_INDEFINITE,    /* a residual or diagonal fell clearly below zero */
  KE_NOT_CONVERGED, /* iteration limit reached before the stopping rule held */
  KE_INFEASIBLE,    /* hard-margin dual is unbounded: the classes cannot be separated */
  KE_NOT_FINITE     /* NaN or Inf met during the computation */
} ke_status;

/* What the surroundings lend to the core. `check` answers an interrupt and may not return (it may
 * jump out): so only the thread that came from outside calls it, between pieces of work of some
 * tens of milliseconds, and while others work only inside `guard`, which calls work(job) and
 * then, however that ends, tidy(job). All but `threads` may be NULL. */
typedef struct {
  int threads;
  void (*check)(void *data);
  double (*uniform)(void *data); /* a draw from (0, 1) */
  void *data;
  void (*progress)(void *data, double share); /* of the work done, in [0, 1] */
  size_t *born;                               /* counts the threads that were started */
  void (*guard)(void (*work)(void *job), void (*tidy)(void *job), void *job);
  struct ke_crew *crew; /* threads that wait for the next piece of work (threads.h); NULL: every
                         * piece has its own */
} ke_env;

/* Work between two looks at an interrupt, in flops: ten to twenty milliseconds for one thread, or
 * some tens where a machine is slow. */
#define KE_PATIENCE 1e8

/* A number in memory that nobody has touched before takes as long as so many flops: the system
 * finds and clears a page, on a virtual machine twice. */
#define KE_FRESH 64.0

/* How many items of `flops` each that is; at least 1. It does not depend on the threads, so that
 * sums over batches do not either. */
size_t ke_batch(double flops);

void ke_check(const ke_env *env);
void ke_progress(const ke_env *env, double share);

#endif
