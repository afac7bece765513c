/* Threads from the system, for the time of one piece of work; items are handed out one by one. */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "threads.h"

#include <pthread.h>
#ifndef _WIN32
#include <signal.h>
#endif

typedef struct job job;

typedef struct {
  job *job;
  size_t number;
  pthread_t thread;
} worker;

struct job {
  ke_task task;
  void *data;
  size_t count; /* the end of the items */
  size_t next;  /* the first item that nobody has taken */
  const ke_env *env;
  size_t between;         /* items of the caller between two looks at an interrupt */
  size_t wanted, helpers; /* threads beside the caller */
  worker crew[KE_THREADS_MAX];
};

static int take_item(job *j, size_t *item)
{
  *item = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
  return *item < j->count;
}

static void *help(void *data)
{
  const worker *w = (const worker *)data;
  for (size_t item; take_item(w->job, &item);)
    w->job->task(w->job->data, item, w->number);
  return NULL;
}

/* Systems differ in the stack that a thread has by itself, from 128 kB (musl) to 8 MB; kernels of
 * kernels hold KE_DEPTH pieces of a tile there, half a megabyte. */
#define STACK ((size_t)2 << 20)

/* As many as the system gives. They inherit a mask that leaves all signals to the caller. */
static void give_birth(job *j)
{
  pthread_attr_t ours;
  const int sized = pthread_attr_init(&ours) == 0;
  if (sized)
    pthread_attr_setstacksize(&ours, STACK);
#ifndef _WIN32
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
  for (; j->helpers < j->wanted; j->helpers++) {
    worker *w = &j->crew[j->helpers];
    w->job = j;
    w->number = j->helpers + 1;
    if (pthread_create(&w->thread, sized ? &ours : NULL, help, w) != 0)
      break;
  }
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  if (sized)
    pthread_attr_destroy(&ours);
}

size_t ke_workers(const ke_env *env, size_t count, double flops)
{
  const size_t most = ke_smaller(ke_smaller((size_t)env->threads, count), KE_THREADS_MAX);
  const double worth = (double)count * flops / KE_WORTH;
  return worth < 2.0 || most < 2 ? 1 : worth < (double)most ? (size_t)worth : most;
}

static void work_and_look(void *data)
{
  job *j = (job *)data;
  if (j->wanted > 0)
    give_birth(j);
  if (j->env->born)
    *j->env->born += j->helpers;
  for (size_t item, done = 1; take_item(j, &item); done++) {
    j->task(j->data, item, 0);
    if (done % j->between == 0)
      ke_check(j->env);
  }
}

/* Where an interrupt jumps out there are items left, which nobody is to take. */
static void call_home(void *data)
{
  job *j = (job *)data;
  __atomic_store_n(&j->next, j->count, __ATOMIC_RELAXED);
  for (; j->helpers > 0; j->helpers--)
    pthread_join(j->crew[j->helpers - 1].thread, NULL);
}

static void share(const ke_env *env, size_t count, double flops, size_t between, ke_task task,
                  void *data)
{
  job j;
  j.task = task;
  j.data = data;
  j.count = count;
  j.next = j.helpers = 0;
  j.env = env;
  j.between = between;
  j.wanted = ke_workers(env, count, flops) - 1;
  if (j.wanted > 0 && env->guard) {
    env->guard(work_and_look, call_home, &j);
  } else {
    work_and_look(&j);
    call_home(&j);
  }
}

void ke_share(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  share(env, count, flops, ke_batch(flops), task, data);
}

void ke_share_often(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  share(env, count, flops, ke_batch(4.0 * flops), task, data);
}
