/* env.c: work between two looks at an interrupt, and surroundings without callbacks. */
#include "count.h"
#include "minunit.h"

static void a_batch_is_what_patience_allows(void)
{
  mu_assert(ke_batch(KE_PATIENCE) == 1);
  mu_assert(ke_batch(10.0 * KE_PATIENCE) == 1); /* never nothing */
  mu_assert(ke_batch(KE_PATIENCE / 7.5) == 7);
  mu_assert(ke_batch(1e-300) > 1000000); /* no overflow */
}

static void callbacks_may_be_missing(void)
{
  const ke_env bare = {.threads = 1};
  tally t;
  const ke_env counted = counting(&t, 1);
  ke_check(&bare), ke_progress(&bare, 0.5);
  ke_check(&counted), ke_progress(&counted, 0.5);
  mu_assert(t.checks == 1 && t.reports == 1 && t.share == 0.5);
}

int main(void)
{
  mu_run(a_batch_is_what_patience_allows);
  mu_run(callbacks_may_be_missing);
  return mu_report();
}
