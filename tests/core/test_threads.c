/* Work shared among threads: every item is done once, by a worker that has a number, and small
 * work is left to the caller. */
#include "minunit.h"
#include "threads.h"

#include <string.h>

enum { ITEMS = 1000, THREADS = 5 };

typedef struct {
  int done[ITEMS];
  size_t of_worker[THREADS];
  int astray; /* a worker beyond those asked for */
} log_book;

static void note(void *data, size_t item, size_t worker)
{
  log_book *l = (log_book *)data;
  l->done[item]++;
  if (worker < THREADS)
    l->of_worker[worker]++;
  else
    l->astray = 1;
}

static int each_once(const log_book *l, size_t count)
{
  for (size_t i = 0; i < ITEMS; i++)
    if (l->done[i] != (i < count))
      return 0;
  return !l->astray;
}

static void every_item_is_done_once(void)
{
  for (int threads = 1; threads <= THREADS; threads++)
    for (size_t count = 0; count <= ITEMS; count += 100) {
      log_book l;
      size_t born = 0, sum = 0;
      const ke_env env = {.threads = threads, .born = &born};
      memset(&l, 0, sizeof l);
      ke_share(&env, count, KE_WORTH, note, &l);
      mu_assert(each_once(&l, count));
      for (int w = 0; w < THREADS; w++)
        sum += l.of_worker[w];
      mu_assert(sum == count);
      mu_assert(born == (count ? (size_t)threads - 1 : 0));
    }
}

static void a_thread_must_be_worth_its_while(void)
{
  const ke_env env = {.threads = 4}, alone = {.threads = 1};
  mu_assert(ke_workers(&env, 100, KE_WORTH) == 4);
  mu_assert(ke_workers(&env, 3, KE_WORTH) == 3); /* no more workers than items */
  mu_assert(ke_workers(&env, 1, 100.0 * KE_WORTH) == 1);
  mu_assert(ke_workers(&env, 0, KE_WORTH) == 1);
  mu_assert(ke_workers(&alone, 100, KE_WORTH) == 1);
  mu_assert(ke_workers(&env, 64, 2.0 * KE_WORTH / 64.0) == 2); /* just worth two */
  mu_assert(ke_workers(&env, 64, 1.99 * KE_WORTH / 64.0) == 1);
  mu_assert(ke_workers(&env, 64, 3.99 * KE_WORTH / 64.0) == 3);
}

static void there_is_an_end_to_threads(void)
{
  const ke_env env = {.threads = 100000};
  mu_assert(ke_workers(&env, 1000000, KE_WORTH) == KE_THREADS_MAX);
}

int main(void)
{
  mu_run(every_item_is_done_once);
  mu_run(a_thread_must_be_worth_its_while);
  mu_run(there_is_an_end_to_threads);
  return mu_report();
}
