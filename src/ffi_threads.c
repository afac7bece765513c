#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "ffi.h"

#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <sched.h>
#include <unistd.h>
#endif

/* Memory of the system that a call has borrowed. */
typedef struct loan {
  struct loan *before;
  size_t bytes;
  double values[]; /* numbers fit there */
} loan;

/* What a call of R has until it ends; calls lie within each other. */
typedef struct call {
  ke_crew crew;
  loan *last;
  struct call *outer;
} call;

/* What the process remembers: who it was when the package was loaded, the call that R has made,
 * threads so far, and bytes borrowed and given back. */
static call *current = NULL;
static size_t born = 0;
static double borrowed = 0.0, returned = 0.0;
#ifndef _WIN32
static pid_t parent = 0;
#endif

void ffi_note_process(void)
{
#ifndef _WIN32
  parent = getpid();
#endif
}

/* A forked child shares the processors with its siblings, and the locks that it inherits may be
 * held by threads that it does not. */
static int is_forked(void)
{
#ifndef _WIN32
  return getpid() != parent;
#else
  return 0;
#endif
}

/* Processors that this process may use; at least 1. */
static int processors(void)
{
  long count = 1;
#ifdef _WIN32
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  count = (long)info.dwNumberOfProcessors;
#else
#ifdef CPU_COUNT
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    count = CPU_COUNT(&set);
  else
#endif
    count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return count < 1 ? 1 : count > KE_THREADS_MAX ? KE_THREADS_MAX : (int)count;
}

ke_env ffi_env(SEXP threads)
{
  ke_env env = ffi_env_serial();
  const int asked = Rf_asInteger(threads), most = processors();
  ffi_assert(asked >= 1, "threads");
  env.threads = is_forked() ? 1 : asked < most ? asked : most;
  env.born = &born;
  env.crew = current ? &current->crew : NULL;
  return env;
}

/* ---- loans ----------------------------------------------------------------------------------- */

/* The last of some loans ends. */
static void end_loan(loan **last)
{
  loan *ended = *last;
  *last = ended->before;
  returned += (double)ended->bytes;
  free(ended);
}

static void give_back_until(call *c, const loan *stays)
{
  while (c->last && c->last != stays)
    end_loan(&c->last);
}

void *ffi_borrow(size_t bytes)
{
  loan *l = current ? malloc(sizeof *l + bytes) : NULL;
  if (!l)
    return NULL;
  l->before = current->last;
  l->bytes = bytes;
  current->last = l;
  borrowed += (double)bytes;
  return l->values;
}

void ffi_give_back(void *memory)
{
  for (loan **l = current ? &current->last : NULL; memory && l && *l; l = &(*l)->before)
    if ((*l)->values == memory) {
      end_loan(l);
      return;
    }
}

ffi_mark ffi_mark_memory(void)
{
  const ffi_mark mark = {vmaxget(), current ? current->last : NULL};
  return mark;
}

void ffi_return_to(ffi_mark mark)
{
  if (current)
    give_back_until(current, mark.last);
  vmaxset(mark.of_r);
}

/* Bytes so far, and those that are still lent. */
SEXP ffi_borrowed(void)
{
  const double both[] = {borrowed, borrowed - returned};
  return ffi_vector(both, 2);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void end_call(void *data)
{
  call *c = (call *)data;
  current = c->outer;
  ke_crew_close(&c->crew);
  give_back_until(c, NULL);
}

SEXP ffi_at_work(SEXP (*body)(void *arguments), void *arguments)
{
  call c;
  ke_crew_open(&c.crew);
  c.last = NULL;
  c.outer = current;
  current = &c;
  SEXP out = R_ExecWithCleanup(body, arguments, end_call, &c);
  current = c.outer; /* as it is already, but analysers do not see that */
  return out;
}

SEXP ffi_processors(void) { return Rf_ScalarInteger(processors()); }

/* Threads that were started since the package was loaded. */
SEXP ffi_threads_born(void) { return Rf_ScalarReal((double)born); }
