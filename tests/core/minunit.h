/* Minimal unit tests: a test is a void function of mu_assert()s; main() runs each with
 * mu_run() and ends with `return mu_report();`. The first failing assertion ends its test. */
#ifndef MINUNIT_H
#define MINUNIT_H

#include <math.h>
#include <stdio.h>

static int mu_passed, mu_failed, mu_bad;

#define mu_assert(cond)                                                                            \
  do {                                                                                             \
    if (!(cond)) {                                                                                 \
      printf("%s:%d: %s: not true: %s\n", __FILE__, __LINE__, __func__, #cond);                    \
      mu_bad = 1;                                                                                  \
      return;                                                                                      \
    }                                                                                              \
  } while (0)

/* |a - b| <= tol * max(1, |b|); false for NaN */
#define mu_near(a, b, tol) mu_assert(fabs((a) - (b)) <= (tol)*fmax(1.0, fabs(b)))

#define mu_run(test) (mu_bad = 0, test(), mu_bad ? mu_failed++ : mu_passed++)

static int mu_report(void)
{
  printf("mu: %d %d\n", mu_passed, mu_failed);
  return mu_failed != 0;
}

#endif
