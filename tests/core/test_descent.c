/* Coordinate descent beside minimising each row's quadratic by hand. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <math.h>
#include <stdlib.h>

enum { N = 9, D = 11 };

typedef struct {
  double *z;
  double scale[D], diagonal[N], linear[N], lower[N], upper[N];
} data;

static ke_descent small(data *s)
{
  s->z = draw_many(N * D, 3);
  for (size_t l = 0; l < D; l++)
    s->scale[l] = 0.5 + (double)l / D;
  for (size_t i = 0; i < N; i++) {
    const double side = i % 2 ? 1.0 : -1.0;
    s->linear[i] = side;
    s->lower[i] = side > 0.0 ? 0.0 : -0.2;
    s->upper[i] = side > 0.0 ? 0.2 : 0.0;
    s->diagonal[i] = 0.0;
    for (size_t l = 0; l < D; l++)
      s->diagonal[i] += s->scale[l] * s->z[l + i * D] * s->z[l + i * D];
  }
  const ke_descent p = {N, D, s->z, s->scale, s->diagonal, s->linear, s->lower, s->upper, 0.1, 0.7};
  return p;
}

/* Gradient of row i from nothing but b. */
static double slope_at(const ke_descent *p, const double *b, size_t i)
{
  double g = p->linear[i] - p->level;
  for (size_t j = 0; j < N; j++) {
    double k = p->spread;
    for (size_t l = 0; l < D; l++)
      k += p->scale[l] * p->z[l + i * D] * p->z[l + j * D];
    g -= k * b[j];
  }
  return g;
}

static void each_row_goes_to_its_minimum(void)
{
  data s;
  tally t;
  const ke_env env = counting(&t, 1);
  const ke_descent p = small(&s);
  const int order[] = {4, 0, 8, 2};
  double b[N] = {0}, twin[N] = {0}, v[D] = {0}, slope[N] = {0}, sum = 0.0, worst = 0.0;
  for (size_t i = 0; i < 4; i++) {
    const size_t j = (size_t)order[i];
    const double g = slope_at(&p, twin, j);
    const int stuck = (g > 0.0 && twin[j] >= p.upper[j]) || (g < 0.0 && twin[j] <= p.lower[j]);
    worst = fmax(worst, stuck ? 0.0 : fabs(g));
    twin[j] = fmin(fmax(twin[j] + g / (p.diagonal[j] + p.spread), p.lower[j]), p.upper[j]);
  }
  mu_near(ke_descend(&p, order, 4, b, v, &sum, slope, &env), worst, 1e-12);
  double total = 0.0;
  for (size_t i = 0; i < N; i++) {
    mu_near(b[i], twin[i], 1e-12);
    total += twin[i];
  }
  mu_near(sum, total, 1e-12);
  for (size_t l = 0; l < D; l++) {
    double expected = 0.0;
    for (size_t i = 0; i < N; i++)
      expected += p.scale[l] * p.z[l + i * D] * twin[i];
    mu_near(v[l], expected, 1e-12);
  }
  free(s.z);
}

static void many_visits_end_at_the_optimum(void)
{
  data s;
  tally t;
  const ke_env env = counting(&t, 1);
  const ke_descent p = small(&s);
  const int order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  double b[N] = {0}, v[D] = {0}, slope[N], sum = 0.0, worst = 1.0;
  for (size_t i = 0; i < 2000; i++)
    worst = ke_descend(&p, order, N, b, v, &sum, slope, &env);
  mu_assert(worst < 1e-10);
  for (size_t i = 0; i < N; i++) {
    const double g = slope_at(&p, b, i);
    mu_assert(b[i] < p.upper[i] ? g < 1e-9 : 1);
    mu_assert(b[i] > p.lower[i] ? g > -1e-9 : 1);
  }
  free(s.z);
}

int main(void)
{
  mu_run(each_row_goes_to_its_minimum);
  mu_run(many_visits_end_at_the_optimum);
  return mu_report();
}
