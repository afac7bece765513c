/* reflect.c: many reflections at once do what they do one after the other. */
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

/* C = (I - tau v v') C, from row `first` on of a column with v = (1, x). */
static void naive_reflect(const double *x, size_t count, double tau, double *c)
{
  double along = c[0];
  for (size_t i = 1; i < count; i++)
    along += x[i - 1] * c[i];
  c[0] -= tau * along;
  for (size_t i = 1; i < count; i++)
    c[i] -= tau * along * x[i - 1];
}

static void a_reflection_leaves_one_number(void)
{
  for (size_t n = 1; n < 9; n++) {
    double *x = draw_many(n, n), *v = draw_many(n, n), value, length = 0.0;
    for (size_t i = 0; i < n; i++)
      length += x[i] * x[i];
    const double tau = ke_reflection(n, v, v + 1, 1, &value);
    naive_reflect(v + 1, n, tau, x);
    double rest = fabs(x[0] - value);
    for (size_t i = 1; i < n; i++)
      rest = fmax(rest, fabs(x[i]));
    const double first = v[0];
    free(x), free(v);
    mu_assert(first == 1.0 && rest < 1e-14);
    mu_near(fabs(value), sqrt(length), 1e-14);
  }
}

/* k reflections of n rows on c columns; the vectors lie in columns, or in rows. */
static double panel_gap(size_t n, size_t k, size_t columns, int turned)
{
  double *from = draw_many(n * n, 1), *tau = draw_many(k, 2), *c = draw_many(n * columns, 3);
  double *slow = draw_many(n * columns, 3), *work = draw_many(k * columns, 4);
  double *v = draw_many(n * k, 5), *t = draw_many(k * k, 6), gap = 0.0;
  const ke_reflections h = {{v, n, k, n}, t};
  ke_collect_reflections(&h, from, n, turned, tau);
  ke_reflect(&h, (ke_dense){c, n, columns, n}, work);
  for (size_t q = k; q-- > 0;)
    for (size_t j = 0; j < columns; j++) {
      double *x = draw_many(n, 7);
      for (size_t i = q + 1; i < n; i++)
        x[i - q - 1] = turned ? from[q + i * n] : from[i + q * n];
      naive_reflect(x, n - q, tau[q], slow + q + j * n);
      free(x);
    }
  for (size_t i = 0; i < n * columns; i++)
    gap = fmax(gap, fabs(c[i] - slow[i]) / (1.0 + fabs(slow[i])));
  free(from), free(tau), free(c), free(slow), free(work), free(v), free(t);
  return gap;
}

static void a_panel_reflects_as_its_reflections_do(void)
{
  for (int turned = 0; turned < 2; turned++) {
    mu_assert(panel_gap(1, 1, 1, turned) < 1e-13);
    mu_assert(panel_gap(9, 4, 3, turned) < 1e-13);
    mu_assert(panel_gap(40, 32, 5, turned) < 1e-9);
    mu_assert(panel_gap(20, 17, 100, turned) < 1e-10);
  }
}

int main(void)
{
  mu_run(a_reflection_leaves_one_number);
  mu_run(a_panel_reflects_as_its_reflections_do);
  return mu_report();
}
