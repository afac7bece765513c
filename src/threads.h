/* Work shared among threads.
 *
 * Threads are born for a piece of work and joined at its end: between two pieces there are none,
 * so nothing spins while the caller works alone, on a busy machine none takes a processor for
 * waiting, and a fork finds nothing to lose. Birth costs some tens of microseconds, so a thread
 * must be worth its while: see KE_WORTH. For the same reason a piece of work is all there is to
 * do: the caller looks at interrupts on the way, while the others go on. */
#ifndef KERNELECT_THREADS_H
#define KERNELECT_THREADS_H

#include "env.h"

#include <stddef.h>

#ifndef KE_WORTH     /* tests share smaller work */
#define KE_WORTH 4e6 /* flops worth a thread: one or two milliseconds; no value depends on it */
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

#endif
