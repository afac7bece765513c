/* Threads from the system, for the time of one piece of work; items are handed out one by one. */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "threads.h"

#include <math.h>
#include <pthread.h>
#ifndef _WIN32
#include <signal.h>
#endif

typedef struct {
  ke_task task;
  void *data;
  size_t count; /* the end of the items */
  size_t next;  /* the first item that nobody has taken */
} job;

typedef struct {
  job *job;
  size_t number;
  pthread_t thread;
} worker;

static void work(job *j, size_t number)
{
  size_t item;
  while ((item = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < j->count)
    j->task(j->data, item, number);
}

static void *start_worker(void *data)
{
  const worker *w = (const worker *)data;
  work(w->job, w->number);
  return NULL;
}

/* Systems differ in the stack that a thread has by itself, from 128 kB (musl) to 8 MB; kernels of
 * kernels hold KE_DEPTH pieces of a tile there, half a megabyte. */
#define STACK ((size_t)2 << 20)

/* As many as the system gives. They inherit a mask that leaves all signals to the caller. */
static size_t give_birth(worker *crew, job *j, size_t wanted)
{
  size_t born = 0;
  pthread_attr_t ours;
  const int sized = pthread_attr_init(&ours) == 0;
  if (sized)
    pthread_attr_setstacksize(&ours, STACK);
#ifndef _WIN32
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
  for (; born < wanted; born++) {
    crew[born].job = j;
    crew[born].number = born + 1;
    if (pthread_create(&crew[born].thread, sized ? &ours : NULL, start_worker, &crew[born]) != 0)
      break;
  }
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  if (sized)
    pthread_attr_destroy(&ours);
  return born;
}

size_t ke_workers(const ke_env *env, size_t count, double flops)
{
  const size_t most = ke_smaller(ke_smaller((size_t)env->threads, count), KE_THREADS_MAX);
  const double worth = (double)count * flops / KE_WORTH;
  return worth < 2.0 || most < 2 ? 1 : worth < (double)most ? (size_t)worth : most;
}

/* Items first .. end. */
static void share_range(const ke_env *env, size_t first, size_t end, double flops, job j)
{
  worker crew[KE_THREADS_MAX];
  const size_t workers = ke_workers(env, end - first, flops);
  j.next = first;
  j.count = end;
  const size_t born = workers > 1 ? give_birth(crew, &j, workers - 1) : 0;
  if (env->born)
    *env->born += born;
  work(&j, 0);
  for (size_t i = 0; i < born; i++)
    pthread_join(crew[i].thread, NULL);
}

void ke_share(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  const job j = {task, data, count, 0};
  share_range(env, 0, count, flops, j);
}

size_t ke_portion(const ke_env *env, double flops)
{
  const size_t batch = ke_batch(flops), workers = ke_workers(env, SIZE_MAX, INFINITY);
  return batch < SIZE_MAX / workers ? batch * workers : batch;
}

/* The reference BLAS is ten times slower than what KE_PATIENCE reckons with. */
void ke_share_portions(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  const job j = {task, data, count, 0};
  const size_t portion = ke_smaller(ke_batch(4.0 * flops), count) * (size_t)env->threads;
  for (size_t i = 0; i < count; i += portion) {
    if (i > 0)
      ke_check(env);
    share_range(env, i, ke_smaller(i + portion, count), flops, j);
  }
}
