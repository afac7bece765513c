/* Threads from the system for the time of one call (threads.h), to which items are handed out. */
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "threads.h"

#ifndef _WIN32
#include <signal.h>
#endif

typedef struct ke_job {
  ke_task task;
  ke_errand errand; /* or NULL */
  void *data;
  size_t count; /* the end of the items */
  size_t next;  /* the first item that nobody has taken */
  const ke_env *env;
  ke_crew *crew;
  size_t between;         /* items of the caller between two looks at an interrupt */
  size_t wanted, helpers; /* threads beside the caller */
} job;

static int take_item(job *j, size_t *item)
{
  *item = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
  return *item < j->count;
}

/* ---- waiting ------------------------------------------------------------------------------- */

static job *job_of(const ke_worker *w) { return __atomic_load_n(&w->job, __ATOMIC_ACQUIRE); }

static int is_busy(const ke_worker *w) { return job_of(w) != NULL; }

#if defined(__x86_64__) || defined(__i386__)
#define REST() __builtin_ia32_pause() /* lets the other half of the processor work */
#else
#define REST() ((void)0)
#endif

#define RESTS 1000 /* some tens of microseconds at most: as long as it takes to wake a sleeper */

/* Until the worker is busy, or is not: what comes soon comes before one falls asleep. Nothing here
 * yields the processor otherwise: where it is wanted by others too, the system lets a sleeper have
 * it as soon as it wakes, but one that yielded waits for its turn. */
static void await(ke_worker *w, int busy, pthread_cond_t *change)
{
  for (int i = 0; i < RESTS && is_busy(w) != busy; i++)
    REST();
  if (is_busy(w) == busy)
    return;
  pthread_mutex_lock(&w->crew->lock);
  while (is_busy(w) != busy)
    pthread_cond_wait(change, &w->crew->lock);
  pthread_mutex_unlock(&w->crew->lock);
}

static void set_job(ke_worker *w, job *j) { __atomic_store_n(&w->job, j, __ATOMIC_RELEASE); }

/* A job, or none, for so many workers from w on; whoever sleeps for it is woken. */
static void announce(ke_worker *w, size_t count, job *j, pthread_cond_t *change)
{
  pthread_mutex_lock(&w->crew->lock);
  for (size_t k = 0; k < count; k++)
    set_job(w + k, j);
  pthread_cond_broadcast(change);
  pthread_mutex_unlock(&w->crew->lock);
}

/* ---- a crew -------------------------------------------------------------------------------- */

static void *help(void *data)
{
  ke_worker *w = (ke_worker *)data;
  for (;;) {
    await(w, 1, &w->crew->job_given);
    job *j = job_of(w);
    if (!j->task) /* the last one of everyone */
      return NULL;
    for (size_t item; take_item(j, &item);)
      j->task(j->data, item, w->number);
    announce(w, 1, NULL, &w->crew->job_done);
  }
}

/* Systems differ in the stack that a thread has by itself, from 128 kB (musl) to 8 MB; kernels of
 * kernels hold KE_DEPTH pieces of a tile there, half a megabyte. */
#define STACK ((size_t)2 << 20)

/* Up to `wanted` workers, as many as the system gives. They inherit a mask that leaves all signals
 * to the caller. */
static void give_birth(ke_crew *crew, size_t wanted)
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
  for (; crew->count < wanted; crew->count++) {
    ke_worker *w = &crew->worker[crew->count];
    w->crew = crew;
    w->number = crew->count + 1;
    w->job = NULL;
    if (pthread_create(&w->thread, sized ? &ours : NULL, help, w) != 0)
      break;
  }
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  if (sized)
    pthread_attr_destroy(&ours);
}

void ke_crew_open(ke_crew *crew)
{
  crew->count = 0;
  crew->at_work = 0;
  pthread_mutex_init(&crew->lock, NULL);
  pthread_cond_init(&crew->job_given, NULL);
  pthread_cond_init(&crew->job_done, NULL);
}

void ke_crew_close(ke_crew *crew)
{
  job leave = {.task = NULL};
  if (crew->count > 0)
    announce(crew->worker, crew->count, &leave, &crew->job_given);
  for (; crew->count > 0; crew->count--)
    pthread_join(crew->worker[crew->count - 1].thread, NULL);
  pthread_cond_destroy(&crew->job_given);
  pthread_cond_destroy(&crew->job_done);
  pthread_mutex_destroy(&crew->lock);
}

/* ---- a piece of work ----------------------------------------------------------------------- */

size_t ke_workers(const ke_env *env, size_t count, double flops)
{
  const size_t most = ke_smaller(ke_smaller((size_t)env->threads, count), KE_THREADS_MAX);
  const double worth = (double)count * flops / KE_WORTH;
  return worth < 2.0 || most < 2 ? 1 : worth < (double)most ? (size_t)worth : most;
}

static void call_together(job *j)
{
  const size_t before = j->crew->count;
  if (before < j->wanted)
    give_birth(j->crew, j->wanted);
  if (j->env->born)
    *j->env->born += j->crew->count - before;
  j->crew->at_work = 1;
  j->helpers = ke_smaller(j->wanted, j->crew->count);
  if (j->helpers > 0)
    announce(j->crew->worker, j->helpers, j, &j->crew->job_given);
}

static void work_and_look(void *data)
{
  job *j = (job *)data;
  if (j->wanted > 0)
    call_together(j);
  if (j->errand)
    j->errand(j->data, j->env);
  for (size_t item, done = 1; take_item(j, &item); done++) {
    j->task(j->data, item, 0);
    if (done % j->between == 0)
      ke_check(j->env);
  }
}

/* Where an interrupt jumps out there are items left, which nobody is to take. */
static void call_off(void *data)
{
  job *j = (job *)data;
  __atomic_store_n(&j->next, j->count, __ATOMIC_RELAXED);
  for (size_t k = 0; k < j->helpers; k++)
    await(&j->crew->worker[k], 0, &j->crew->job_done);
  if (j->wanted > 0)
    j->crew->at_work = 0;
}

/* The crew was for this piece of work alone. */
static void call_off_and_close(void *data)
{
  call_off(data);
  ke_crew_close(((job *)data)->crew);
}

/* What is left to fill in of j: who does it. */
static void share(const ke_env *env, double flops, job j)
{
  ke_crew own, *lent = env->crew;
  j.next = j.helpers = 0;
  j.env = env;
  j.crew = lent;
  j.wanted = lent && lent->at_work ? 0 : ke_workers(env, j.count, flops) - 1;
  void (*end)(void *job) = call_off;
  if (j.wanted > 0 && !lent) {
    ke_crew_open(&own);
    j.crew = &own;
    end = call_off_and_close;
  }
  if (j.wanted > 0 && env->guard) {
    env->guard(work_and_look, end, &j);
  } else {
    work_and_look(&j);
    end(&j);
  }
}

void ke_share(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  const job j = {.task = task, .data = data, .count = count, .between = ke_batch(flops)};
  share(env, flops, j);
}

void ke_share_often(const ke_env *env, size_t count, double flops, ke_task task, void *data)
{
  const job j = {.task = task, .data = data, .count = count, .between = ke_batch(4.0 * flops)};
  share(env, flops, j);
}

void ke_share_beside(const ke_env *env, size_t count, double flops, ke_task task, ke_errand errand,
                     void *data)
{
  const job j = {
      .task = task, .errand = errand, .data = data, .count = count, .between = ke_batch(flops)};
  share(env, flops, j);
}
