/* qr.c: R'R is the sum of the rows' products whatever the pieces, also where columns depend. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

/* R of n x p rows, `step` of them at a time. */
static double *factor(const double *x, size_t n, size_t p, size_t step, tally *seen)
{
  const ke_env env = counting(seen, 1);
  double *r = calloc(p * p, sizeof *r), *part = malloc(step * p * sizeof *part),
         *work = malloc(ke_qr_work(p) * sizeof *work);
  for (size_t i = 0; i < n; i += step) {
    const size_t m = ke_smaller(step, n - i);
    for (size_t j = 0; j < p; j++)
      memcpy(part + j * m, x + i + j * n, m * sizeof *part);
    const ke_qr q = {p, m, r, part, work};
    ke_qr_append(&q, &env);
  }
  free(part);
  free(work);
  return r;
}

/* Largest difference between R'R and x'x, and below the diagonal of R. */
static double off_products(const double *r, const double *x, size_t n, size_t p)
{
  double worst = 0.0;
  for (size_t a = 0; a < p; a++)
    for (size_t b = 0; b < p; b++) {
      double rr = 0.0, xx = 0.0;
      for (size_t i = 0; i <= (a < b ? a : b); i++)
        rr += r[i + a * p] * r[i + b * p];
      for (size_t i = 0; i < n; i++)
        xx += x[i + a * n] * x[i + b * n];
      worst = fmax(worst, fabs(rr - xx));
      worst = a < b ? fmax(worst, fabs(r[b + a * p])) : worst;
    }
  return worst;
}

static void pieces_do_not_matter(void)
{
  const size_t sizes[][2] = {{1, 1}, {7, 3}, {40, 31}, {90, 32}, {100, 33}, {200, 70}, {20, 50}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const size_t n = sizes[s][0], p = sizes[s][1];
    double *x = draw_many(n * p, 5 + s);
    for (size_t step = 1; step <= n; step = 3 * step + 1) {
      tally seen;
      double *r = factor(x, n, p, step, &seen);
      mu_assert(off_products(r, x, n, p) < 1e-11);
      free(r);
    }
    free(x);
  }
}

static void dependent_columns_leave_nothing(void)
{
  const size_t n = 60, p = 5;
  double *x = draw_many(n * p, 11);
  tally seen;
  for (size_t i = 0; i < n; i++) {
    x[i + 2 * n] = x[i] - 2.0 * x[i + n];
    x[i + 4 * n] = 0.0;
  }
  double *r = factor(x, n, p, 9, &seen);
  mu_assert(off_products(r, x, n, p) < 1e-11);
  mu_assert(fabs(r[2 + 2 * p]) < 1e-12);
  mu_assert(r[4 + 4 * p] == 0.0);
  free(r);
  free(x);
}

static void panels_and_strips_look_for_interrupts(void)
{
  double *x = draw_many(10 * 70, 3);
  tally seen;
  free(factor(x, 10, 70, 10, &seen));
  free(x);
  mu_assert(seen.checks == 3 + 2); /* a panel each, and a strip right of the first two */
}

int main(void)
{
  mu_run(pieces_do_not_matter);
  mu_run(dependent_columns_leave_nothing);
  mu_run(panels_and_strips_look_for_interrupts);
  return mu_report();
}
