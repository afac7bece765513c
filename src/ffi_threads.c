#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "ffi.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sched.h>
#include <unistd.h>
#endif

/* What the process remembers: who it was when the package was loaded, threads so far, and those
 * of the call that R has made. */
static size_t born = 0;
static ke_crew *current = NULL;
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
  env.crew = current;
  return env;
}

typedef struct {
  ke_crew crew, *outer;
  ffi_loans loans;
} crew_of_call;

static void go_home(void *data)
{
  crew_of_call *c = (crew_of_call *)data;
  current = c->outer;
  ke_crew_close(&c->crew);
  ffi_close_loans(&c->loans);
}

SEXP ffi_at_work(SEXP (*body)(void *arguments), void *arguments)
{
  crew_of_call c;
  ke_crew_open(&c.crew);
  c.outer = current;
  current = &c.crew;
  ffi_open_loans(&c.loans);
  return R_ExecWithCleanup(body, arguments, go_home, &c);
}

SEXP ffi_processors(void) { return Rf_ScalarInteger(processors()); }

/* Threads that were started since the package was loaded. */
SEXP ffi_threads_born(void) { return Rf_ScalarReal((double)born); }
