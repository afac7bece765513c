/* Work shared among threads.
 *
 * Threads are born for the first piece of work of a call that is worth them, wait between pieces,
 * and are joined at its end: between two calls there are none, so a fork finds nothing to lose.
 * Whoever waits soon sleeps: on a busy machine none takes the processor for waiting. Waking costs
 * some tens of microseconds, so a thread must be worth its while: see KE_WORTH. For the same reason
 * a piece of work is all there is to do: the caller looks at interrupts on the way, while the
 * others go on. */
#ifndef KERNELECT_THREADS_H
#define KERNELECT_THREADS_H

#include "env.h"

#include <pthread.h>
#include <stddef.h>

#ifndef KE_WORTH /* tests share smaller work */
#define KE_WORTH                                                                                   \
  2e6 /* flops worth a thread: some tenths of a millisecond; no value depends on it */
#endif
#define KE_THREADS_MAX 256 /* most threads of a piece of work */

/* Item number `item` by worker number `worker`, below env->threads: which of the lent buffers is
 * its own. Called from several threads at once: it may write only to what belongs to the item or
 * the worker, so that the result does not depend on who does what. */
typedef void (*ke_task)(void *data, size_t item, size_t worker);

/* How many workers, the caller among them, `count` items of `flops` each are given. */
size_t ke_workers(const ke_env *env, size_t count, double flops);

/* task(data, 0 .. count - 1), in any order, items of `flops` each; the caller works too, and
 * answers an interrupt after every batch of its own (see ke_batch). Where the system has no thread
 * to give, those there are do all the work. */
void ke_share(const ke_env *env, size_t count, double flops, ke_task task, void *data);

/* The same for items that wait for memory: interrupts are looked at more often. */
void ke_share_often(const ke_env *env, size_t count, double flops, ke_task task, void *data);

/* The same, and first of all the caller does errand(data, env) while the others begin with the
 * items: what only one thread can do, and what looks at interrupts itself. */
typedef void (*ke_errand)(void *data, const ke_env *env);
void ke_share_beside(const ke_env *env, size_t count, double flops, ke_task task, ke_errand errand,
                     void *data);

/* ---- threads that stay for several pieces of work ---------------------------------------------
 */

struct ke_job;

typedef struct {
  struct ke_crew *crew;
  struct ke_job *job; /* what to do, or NULL: read and written as a whole */
  size_t number;
  pthread_t thread;
} ke_worker;

/* Threads beside the caller. */
typedef struct ke_crew {
  size_t count;
  int at_work;          /* a piece of work within another is left to its worker */
  pthread_mutex_t lock; /* for falling asleep and being woken alone */
  pthread_cond_t job_given, job_done;
  ke_worker worker[KE_THREADS_MAX];
} ke_crew;

/* Nobody yet, for the `crew` of an environment; and all of them joined, none being at work. */
void ke_crew_open(ke_crew *crew);
void ke_crew_close(ke_crew *crew);

#endif
