/* Work shared among threads: every item is done once, by a worker that has a number, and small
 * work is left to the caller. */
#include "minunit.h"
#include "threads.h"

#include <setjmp.h>
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

static void tick(void *data, size_t item, size_t worker)
{
  (void)item;
  ((size_t *)data)[worker]++;
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

/* Kernels of kernels hold a piece of a tile a level on the stack: half a megabyte, where some
 * systems (musl, macOS) give a thread no more than that by themselves. */
typedef struct {
  int arrived, deep[THREADS];
} dig_log;

static void dig(void *data, size_t item, size_t worker)
{
  dig_log *l = (dig_log *)data;
  volatile char room[1 << 20];
  (void)worker;
  __atomic_fetch_add(&l->arrived, 1, __ATOMIC_RELAXED);
  for (long wait = 0; wait < 100000000; wait++) /* an item each, but not for ever */
    if (__atomic_load_n(&l->arrived, __ATOMIC_RELAXED) == THREADS)
      break;
  for (size_t at = 0; at < sizeof room; at += 512)
    room[at] = (char)item;
  l->deep[item] = room[512] == (char)item;
}

static void a_thread_has_room_on_its_stack(void)
{
  dig_log l;
  const ke_env env = {.threads = THREADS};
  memset(&l, 0, sizeof l);
  ke_share(&env, THREADS, KE_WORTH, dig, &l);
  for (int t = 0; t < THREADS; t++)
    mu_assert(l.deep[t]);
}

/* ---- interrupts --------------------------------------------------------------------------------
 */

/* Surroundings that jump out at the look with this number. */
static jmp_buf outside;
static size_t looks, last_look;

static void look(void *data)
{
  (void)data;
  if (++looks == last_look)
    longjmp(outside, 1);
}

static void guard(void (*work)(void *job), void (*tidy)(void *job), void *job)
{
  if (setjmp(outside) == 0)
    work(job);
  tidy(job);
}

static void the_caller_looks_after_every_batch(void)
{
  log_book l;
  const ke_env alone = {.threads = 1, .check = look}, several = {.threads = 3, .check = look};
  memset(&l, 0, sizeof l);
  last_look = SIZE_MAX;
  looks = 0;
  ke_share(&alone, 100, KE_PATIENCE / 7.5, note, &l);
  mu_assert(looks == 100 / 7);
  looks = 0;
  ke_share_often(&alone, 100, KE_PATIENCE / 30.0, note, &l); /* counts four times as much */
  mu_assert(looks == 100 / 7);
  looks = l.of_worker[0] = 0;
  ke_share(&several, 100, KE_PATIENCE / 7.5, note, &l);
  mu_assert(looks == l.of_worker[0] / 7);
}

/* Whoever is at work when the caller jumps out comes home first, and takes no further item. */
static void a_jump_leaves_nobody_behind(void)
{
  enum { MANY = 200000000 };
  static size_t done[THREADS];
  size_t born = 0, sum = 0, after = 0;
  const ke_env env = {.threads = THREADS, .check = look, .born = &born, .guard = guard};
  memset(done, 0, sizeof done);
  looks = 0;
  last_look = 3;
  ke_share(&env, MANY, KE_PATIENCE / 100.5, tick, done);
  for (int w = 0; w < THREADS; w++)
    sum += done[w];
  mu_assert(looks == 3 && done[0] == 300 && born == THREADS - 1 && sum < MANY);
  last_look = SIZE_MAX; /* nobody counts on */
  ke_share(&env, THREADS, KE_WORTH, note, &(log_book){{0}, {0}, 0});
  for (int w = 0; w < THREADS; w++)
    after += done[w];
  mu_assert(after == sum);
}

/* ---- an errand ---------------------------------------------------------------------------------
 */

typedef struct {
  log_book items, own;
  size_t errands, before; /* items of the caller before the last errand */
} busy_log;

static void note_busy(void *data, size_t item, size_t worker)
{
  note(&((busy_log *)data)->items, item, worker);
}

static void run_errand(void *data, const ke_env *env)
{
  busy_log *l = (busy_log *)data;
  l->errands++;
  l->before = l->items.of_worker[0];
  ke_share(env, ITEMS, KE_WORTH, note, &l->own);
}

/* Within it the crew is at work elsewhere. */
static void the_caller_runs_an_errand_first(void)
{
  for (int threads = 1; threads <= THREADS; threads++) {
    ke_crew crew;
    busy_log l;
    const ke_env env = {.threads = threads, .crew = &crew};
    memset(&l, 0, sizeof l);
    ke_crew_open(&crew);
    ke_share_beside(&env, ITEMS, KE_WORTH, note_busy, run_errand, &l);
    mu_assert(each_once(&l.items, ITEMS) && l.errands == 1 && l.before == 0);
    mu_assert(each_once(&l.own, ITEMS) && l.own.of_worker[0] == ITEMS);
    mu_assert(crew.count == (size_t)threads - 1);
    ke_crew_close(&crew);
  }
}

static void jump_out(void *data, const ke_env *env)
{
  ((busy_log *)data)->errands++;
  ke_check(env);
  ((busy_log *)data)->errands++;
}

static void an_errand_may_end_in_a_jump(void)
{
  busy_log l;
  size_t born = 0;
  const ke_env env = {.threads = THREADS, .check = look, .born = &born, .guard = guard};
  memset(&l, 0, sizeof l);
  looks = 0;
  last_look = 1;
  ke_share_beside(&env, ITEMS, KE_WORTH, note_busy, jump_out, &l);
  mu_assert(l.errands == 1 && born == THREADS - 1 && l.items.of_worker[0] == 0);
  last_look = SIZE_MAX;
}

/* ---- a crew ------------------------------------------------------------------------------------
 */

static void a_crew_stays_for_the_next_piece(void)
{
  ke_crew crew;
  size_t born = 0;
  const ke_env env = {.threads = THREADS, .born = &born, .crew = &crew},
               two = {.threads = 2, .born = &born, .crew = &crew};
  ke_crew_open(&crew);
  for (int piece = 0; piece < 2000; piece++) {
    log_book l;
    memset(&l, 0, sizeof l);
    ke_share(piece < 10 ? &two : &env, ITEMS, KE_WORTH, note, &l);
    mu_assert(each_once(&l, ITEMS));
    if (piece == 9)
      mu_assert(born == 1 && crew.count == 1);
  }
  mu_assert(born == THREADS - 1 && crew.count == THREADS - 1);
  ke_crew_close(&crew);
  mu_assert(crew.count == 0);
}

/* Long enough for those who wait to fall asleep. */
static void sleepers_are_woken(void)
{
  ke_crew crew;
  const ke_env env = {.threads = 2, .crew = &crew};
  ke_crew_open(&crew);
  for (int piece = 0; piece < 5; piece++) {
    dig_log l;
    volatile size_t idle = 0;
    memset(&l, 0, sizeof l);
    l.arrived = THREADS - 2; /* two items, a worker each */
    ke_share(&env, 2, KE_WORTH, dig, &l);
    mu_assert(l.deep[0] && l.deep[1]);
    for (size_t k = 0; k < 20000000; k++)
      idle += k;
  }
  ke_crew_close(&crew);
}

typedef struct {
  const ke_env *env;
  log_book inner[THREADS];
} nest;

static void share_within(void *data, size_t item, size_t worker)
{
  nest *w = (nest *)data;
  (void)worker;
  ke_share(w->env, ITEMS, KE_WORTH, note, &w->inner[item]);
}

/* A piece within a piece is done by whoever has the item. */
static void a_crew_at_work_is_left_alone(void)
{
  ke_crew crew;
  const ke_env env = {.threads = THREADS, .crew = &crew};
  nest w;
  memset(&w, 0, sizeof w);
  w.env = &env;
  ke_crew_open(&crew);
  ke_share(&env, THREADS, KE_WORTH, share_within, &w);
  ke_crew_close(&crew);
  for (int item = 0; item < THREADS; item++)
    mu_assert(each_once(&w.inner[item], ITEMS) && w.inner[item].of_worker[0] == ITEMS);
}

static void a_crew_outlives_a_jump(void)
{
  enum { MANY = 200000000 };
  static size_t done[THREADS];
  ke_crew crew;
  size_t born = 0, sum = 0;
  log_book l;
  const ke_env env = {
      .threads = THREADS, .check = look, .born = &born, .guard = guard, .crew = &crew};
  memset(done, 0, sizeof done);
  ke_crew_open(&crew);
  looks = 0;
  last_look = 3;
  ke_share(&env, MANY, KE_PATIENCE / 100.5, tick, done);
  for (int w = 0; w < THREADS; w++)
    sum += done[w];
  mu_assert(looks == 3 && sum < MANY && crew.count == THREADS - 1);
  last_look = SIZE_MAX;
  memset(&l, 0, sizeof l);
  ke_share(&env, ITEMS, KE_WORTH, note, &l);
  mu_assert(each_once(&l, ITEMS) && born == THREADS - 1);
  ke_crew_close(&crew);
}

int main(void)
{
  mu_run(the_caller_runs_an_errand_first);
  mu_run(an_errand_may_end_in_a_jump);
  mu_run(a_crew_stays_for_the_next_piece);
  mu_run(sleepers_are_woken);
  mu_run(a_crew_at_work_is_left_alone);
  mu_run(a_crew_outlives_a_jump);
  mu_run(a_thread_has_room_on_its_stack);
  mu_run(every_item_is_done_once);
  mu_run(a_thread_must_be_worth_its_while);
  mu_run(there_is_an_end_to_threads);
  mu_run(the_caller_looks_after_every_batch);
  mu_run(a_jump_leaves_nobody_behind);
  return mu_report();
}
