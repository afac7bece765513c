/* regress.c, nested.c, ridges.c: Q R, leverages and leave-one-out errors against refitting by the
 * normal equations. */
#include "count.h"
#include "draw.h"
#include "kernelect.h"
#include "minunit.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  ke_regression g;
  double *z, *y, *loss, *error; /* z and y as they were */
  tally fitting, leaving_out;
} problem;

static problem solve(size_t n, size_t L, size_t k, double ridge, double *z, const int *label,
                     double *y)
{
  problem p;
  memset(&p, 0, sizeof p);
  p.z = z;
  p.y = y;
  p.loss = malloc(L * sizeof(double));
  p.error = malloc(L * sizeof(double));
  p.g.n = n;
  p.g.L = L;
  p.g.k = k;
  p.g.ridge = ridge;
  p.g.intercept = 1;
  p.g.z = malloc(n * L * sizeof(double));
  p.g.mean = malloc(L * sizeof(double));
  p.g.y = malloc(n * k * sizeof(double));
  p.g.y_mean = malloc(k * sizeof(double));
  p.g.r = malloc(L * L * sizeof(double));
  p.g.c = malloc(L * k * sizeof(double));
  p.g.extra = malloc(L * L * sizeof(double));
  p.g.work = malloc(L * (L + 1) * sizeof(double));
  p.g.dependent = malloc(L * sizeof(int));
  p.g.from = z;
  memcpy(p.g.y, y, n * k * sizeof(double));
  ke_env env = counting(&p.fitting, 1);
  ke_regress(&p.g, &env);
  env = counting(&p.leaving_out, 1);
  const ke_loo o = {&p.g,   L,       label,
                    p.loss, p.error, {NULL, NULL, NULL},
                    NULL,   0,       malloc(ke_nested_work(L, k, 1) * sizeof(double))};
  double *inverse = NULL;
  if (ke_leverage_one(&o, &env)) {
    inverse = malloc(L * L * sizeof(double));
    ke_nested_inverse(&p.g, L, inverse, &env);
  }
  env = counting(&p.leaving_out, 1);
  ke_nested_loo(&o, inverse, &env);
  free(inverse);
  free(o.work);
  return p;
}

static void release(problem *p)
{
  double *arrays[] = {p->g.z,     p->g.mean, p->g.y, p->g.y_mean, p->g.r,  p->g.c,
                      p->g.extra, p->g.work, p->z,   p->y,        p->loss, p->error};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
  free(p->g.dependent);
}

/* Gaussian elimination with row exchanges: a (m x m, overwritten) x = b (overwritten). */
static void eliminate(double *a, double *b, size_t m)
{
  for (size_t c = 0; c < m; c++) {
    size_t best = c;
    for (size_t i = c; i < m; i++)
      best = fabs(a[i + c * m]) > fabs(a[best + c * m]) ? i : best;
    for (size_t j = 0; j < m; j++) {
      const double t = a[c + j * m];
      a[c + j * m] = a[best + j * m];
      a[best + j * m] = t;
    }
    const double t = b[c];
    b[c] = b[best];
    b[best] = t;
    for (size_t i = c + 1; i < m; i++) {
      const double f = a[i + c * m] / a[c + c * m];
      for (size_t j = c; j < m; j++)
        a[i + j * m] -= f * a[c + j * m];
      b[i] -= f * b[c];
    }
  }
  for (size_t c = m; c-- > 0;) {
    for (size_t j = c + 1; j < m; j++)
      b[c] -= a[c + j * m] * b[j];
    b[c] /= a[c + c * m];
  }
}

/* Prediction of row i by the fit on the other rows, with the first l columns. */
static double left_out(const problem *p, size_t l, size_t i, size_t response)
{
  const size_t n = p->g.n, m = l + 1;
  double *a = calloc(m * m, sizeof *a), *b = calloc(m, sizeof *b), value = 0.0;
  for (size_t r = 0; r < n; r++)
    for (size_t s = 0; r != i && s < m; s++) {
      const double left = s == 0 ? 1.0 : p->z[r + (s - 1) * n];
      b[s] += left * p->y[r + response * n];
      for (size_t t = 0; t < m; t++)
        a[s + t * m] += left * (t == 0 ? 1.0 : p->z[r + (t - 1) * n]);
    }
  for (size_t s = 1; s < m; s++)
    a[s + s * m] += p->g.ridge;
  eliminate(a, b, m);
  for (size_t s = 0; s < m; s++)
    value += b[s] * (s == 0 ? 1.0 : p->z[i + (s - 1) * n]);
  free(a);
  free(b);
  return value;
}

static double refitted_error(const problem *p, size_t l, const int *label)
{
  const size_t n = p->g.n, k = p->g.k;
  double total = 0.0;
  for (size_t i = 0; i < n; i++) {
    size_t best = 0;
    double most = -1e300;
    for (size_t j = 0; j < k; j++) {
      const double value = left_out(p, l, i, j), gap = p->y[i + j * n] - value;
      total += label ? 0.0 : gap * gap / (double)k;
      best = value > most ? j : best;
      most = fmax(most, value);
    }
    total += label && best != (size_t)label[i] ? 1.0 : 0.0;
  }
  return total / (double)n;
}

static double off_orthonormal(const problem *p)
{
  const size_t n = p->g.n, L = p->g.L;
  double worst = 0.0;
  for (size_t s = 0; s < L; s++)
    for (size_t t = 0; t < L; t++) {
      double total = s == t ? -1.0 : 0.0;
      for (size_t i = 0; i < n; i++)
        total += p->g.z[i + s * n] * p->g.z[i + t * n];
      worst = fmax(worst, fabs(total));
    }
  return worst;
}

/* |Q R - (Z - mean)| */
static double off_product(const problem *p)
{
  const size_t n = p->g.n, L = p->g.L;
  double worst = 0.0;
  for (size_t l = 0; l < L; l++)
    for (size_t i = 0; i < n; i++) {
      double total = p->g.mean[l] - p->z[i + l * n];
      for (size_t s = 0; s <= l; s++)
        total += p->g.z[i + s * n] * p->g.r[s + l * L];
      worst = fmax(worst, fabs(total));
    }
  return worst;
}

static void errors_are_those_of_refitting(void)
{
  const double ridges[] = {0.0, 1e-3, 5.0};
  for (size_t c = 0; c < 3; c++) {
    problem p = solve(40, 12, 2, ridges[c], draw_many(480, 7), NULL, draw_many(80, 8));
    for (size_t l = 1; l <= 12; l++)
      mu_near(p.error[l - 1], refitted_error(&p, l, NULL), 1e-9);
    mu_assert(off_product(&p) < 1e-13);
    release(&p);
  }
}

static void wrong_classes_are_counted(void)
{
  int label[50];
  double *y = calloc(150, sizeof *y);
  uint64_t state = 3;
  for (size_t i = 0; i < 50; i++) {
    label[i] = (int)((draw(&state) + 1.0) * 1.4999);
    y[i + 50 * (size_t)label[i]] = 1.0;
  }
  problem p = solve(50, 9, 3, 0.0, draw_many(450, 5), label, y);
  for (size_t l = 1; l <= 9; l++)
    mu_near(p.error[l - 1], refitted_error(&p, l, label), 1e-12);
  release(&p);
}

static void many_rows_go_through_several_chunks(void)
{
  problem p = solve(1300, 3, 1, 0.1, draw_many(3900, 11), NULL, draw_many(1300, 12));
  mu_near(p.error[2], refitted_error(&p, 3, NULL), 1e-10);
  release(&p);
}

/* Columns nearly dependent on those before: the Cholesky way is not good enough. */
static void near_dependence_is_resolved(void)
{
  const size_t n = 200, L = 70;
  double *z = draw_many(n * L, 21), *noise = draw_many(n * L, 22);
  for (size_t l = 1; l < L; l++)
    for (size_t i = 0; i < n; i++)
      z[i + l * n] = z[i + (l - 1) * n] + 1e-7 * noise[i + l * n];
  free(noise);
  problem p = solve(n, L, 1, 0.0, z, NULL, draw_many(n, 23));
  mu_assert(off_orthonormal(&p) < 1e-12);
  mu_assert(off_product(&p) < 1e-13);
  release(&p);
}

/* Cholesky is trusted here, and its first pass leaves 1e-11; of 600 columns it goes by blocks. */
static void a_second_pass_makes_columns_orthonormal(void)
{
  const size_t rows[] = {200, 700}, columns[] = {20, 600};
  for (size_t s = 0; s < 2; s++) {
    const size_t n = rows[s], L = columns[s];
    double *z = draw_many(n * L, 24), *noise = draw_many(n * L, 25);
    for (size_t l = 1; l < L; l++)
      for (size_t i = 0; i < n; i++)
        z[i + l * n] = z[i] + 1e-2 * noise[i + l * n];
    free(noise);
    problem p = solve(n, L, 1, 0.0, z, NULL, draw_many(n, 26));
    mu_assert(off_orthonormal(&p) < 1e-13);
    mu_assert(off_product(&p) < 1e-13);
    release(&p);
  }
}

/* What is left of column 36 beside its neighbour in the panel is shorter than the rounding of the
 * columns before the panel, taken out of it earlier. */
static void a_panel_is_orthogonal_to_those_before_it(void)
{
  const size_t n = 100, L = 40;
  double *z = draw_many(n * L, 27), *noise = draw_many(n, 28);
  for (size_t i = 0; i < n; i++)
    z[i + 36 * n] = z[i + 35 * n] + 1e-9 * noise[i];
  free(noise);
  problem p = solve(n, L, 1, 0.0, z, NULL, draw_many(n, 29));
  mu_assert(off_orthonormal(&p) < 1e-12);
  release(&p);
}

/* Of length 1e-10 of its own a column is dependent, on both sides of that. */
static void a_column_is_dependent_below_1e10_of_its_length(void)
{
  const double share[] = {1e-11, 1e-9};
  for (int s = 0; s < 2; s++) {
    const size_t n = 30, L = 4;
    double *z = draw_many(n * L, 33), *noise = draw_many(n, 34);
    for (size_t i = 0; i < n; i++)
      z[i + 3 * n] = z[i] + share[s] * noise[i];
    free(noise);
    problem p = solve(n, L, 1, 0.0, z, NULL, draw_many(n, 35));
    mu_assert((p.g.c[3] == 0.0) == (s == 0));
    mu_assert((p.g.r[3 + 3 * L] == 1.0) == (s == 0));
    release(&p);
  }
}

/* One row at 1, two at +-d, the others at 0: what is left of 1 less the leverage of the first is
 * about 2 d^2. Above 1e-10 that row is predicted by the line through the others, below it by their
 * mean, the limit of a vanishing ridge. */
static void leverage_one_begins_at_1e10(void)
{
  const double apart[] = {1e-4, 1e-6};
  for (int s = 0; s < 2; s++) {
    double *z = calloc(8, sizeof *z);
    z[0] = 1.0;
    z[1] = apart[s];
    z[2] = -apart[s];
    problem p = solve(8, 1, 1, 0.0, z, NULL, draw_many(8, 43));
    const double *y = p.y;
    double slope = (y[1] - y[2]) / (2.0 * apart[s]), mean = 0.0;
    for (size_t i = 1; i < 8; i++)
      mean += y[i] / 7.0;
    const double off = y[0] - mean - (s == 0 ? slope : 0.0);
    /* the other rows are off by less than 2 each */
    mu_assert(fabs(8.0 * p.error[0] - off * off) < (s == 0 ? 1e-6 * off * off : 28.0));
    release(&p);
  }
}

static void a_dependent_column_changes_nothing(void)
{
  const size_t n = 30, L = 6;
  double *z = draw_many(n * L, 31);
  for (size_t i = 0; i < n; i++) {
    z[i + 3 * n] = 2.0 * z[i] - z[i + n];
    z[i + 5 * n] = 4.0; /* the intercept already has it */
  }
  problem p = solve(n, L, 1, 0.0, z, NULL, draw_many(n, 32));
  mu_near(p.error[3], p.error[2], 1e-12);
  mu_near(p.error[5], p.error[4], 1e-12);
  mu_assert(p.g.c[3] == 0.0 && p.g.c[5] == 0.0);
  mu_assert(p.g.r[3 + 3 * L] == 1.0);
  release(&p);
}

/* Rows with leverage 1: what small ridges lead to. */
static void leverage_one_has_the_limit_of_a_vanishing_ridge(void)
{
  problem p = solve(8, 7, 1, 0.0, draw_many(56, 41), NULL, draw_many(8, 42));
  problem q = solve(8, 7, 1, 1e-7, draw_many(56, 41), NULL, draw_many(8, 42));
  mu_near(p.error[6] / refitted_error(&q, 7, NULL), 1.0, 1e-4);
  mu_near(p.error[3], refitted_error(&p, 4, NULL), 1e-9);
  release(&p);
  release(&q);
}

/* All ridges at one size, on a fit without ridge, against fits with each ridge. Responses are taken
 * in pairs, rows in eights: neither comes out even. */
static void ridges_are_those_of_refitting(void)
{
  const double ridges[] = {1e-6, 0.1, 100.0};
  const size_t n = 301, L = 9, k = 3;
  problem p = solve(n, L, k, 0.0, draw_many(n * L, 71), NULL, draw_many(n * k, 72));
  for (size_t size = 1; size <= L; size += 4) {
    double loss[3], error[3];
    tally t;
    const ke_env env = counting(&t, 1);
    ke_bidiagonal b = {size,
                       malloc(size * size * sizeof(double)),
                       malloc(size * size * sizeof(double)),
                       malloc(size * sizeof(double)),
                       malloc(size * sizeof(double)),
                       malloc(ke_bidiagonal_work(size) * sizeof(double))};
    ke_loo o = {&p.g, size, NULL, loss, error, {NULL, NULL, NULL}, malloc(n * size * sizeof *loss),
                0,    NULL};
    o.work = malloc(ke_ridge_work(&o, 3, 1) * sizeof(double));
    ke_bidiagonalise(&p.g, &b, &env);
    ke_ridge_loo(&o, &b, ridges, 3, NULL, &env);
    mu_assert(t.checks == size + steps(size - 1, 32) + 1); /* so few rows are one step */
    for (size_t r = 0; r < 3; r++) {
      p.g.ridge = ridges[r];
      mu_near(loss[r], refitted_error(&p, size, NULL), 1e-9);
    }
    double again[3];
    o.loss = again, o.known = 1; /* rows that were turned */
    ke_ridge_loo(&o, &b, ridges, 3, NULL, &env);
    mu_assert(memcmp(again, loss, sizeof loss) == 0);
    double *arrays[] = {b.a, b.p, b.diagonal, b.over, b.work, o.work, o.turned};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
      free(arrays[i]);
  }
  release(&p);
}

/* ---- threads ------------------------------------------------------------------------------- */

typedef struct {
  double *q, *r, *c, *p, *beside, loss[3], nested[150];
} answers;

static answers with_threads(const double *z, const double *y, size_t n, size_t L, int threads)
{
  const double ridges[] = {1e-3, 1.0, 30.0};
  double error[150], mean[150], y_mean[1], diagonal[150], over[150];
  int dependent[150];
  const ke_env env = {.threads = threads};
  answers out = {malloc(n * L * sizeof(double)),
                 calloc(L * L, sizeof(double)),
                 malloc(L * sizeof(double)),
                 malloc(L * L * sizeof(double)),
                 malloc((L * L + 2 * L) * sizeof(double)),
                 {0},
                 {0}};
  double *extra = malloc(L * L * sizeof(double)), *work = malloc(L * (L + 1) * sizeof(double)),
         *response = malloc(n * sizeof(double));
  memcpy(response, y, n * sizeof(double));
  ke_regression g = {.n = n,
                     .L = L,
                     .k = 1,
                     .intercept = 1,
                     .from = z,
                     .z = out.q,
                     .mean = mean,
                     .y = response,
                     .y_mean = y_mean,
                     .r = out.r,
                     .c = out.c,
                     .dependent = dependent,
                     .extra = extra,
                     .work = work};
  ke_loo ridged = {&g, L, NULL, out.loss, error, {NULL, NULL, NULL}, NULL, 0, NULL};
  double *own = malloc(
      (ke_ridge_work(&ridged, 3, threads) + ke_nested_work(L, 1, threads) + ke_bidiagonal_work(L)) *
      sizeof(double));
  double *factors = out.beside, *more = malloc((L * L + ke_bidiagonal_work(L)) * sizeof(double));
  ridged.work = own;
  ke_regress(&g, &env);
  ke_bidiagonal b = {L, extra, out.p, diagonal, over, own},
                next = {L - 20, more, factors, factors + L * L, factors + L * L + L, more + L * L};
  ke_bidiagonalise(&g, &b, &env);
  memset(factors, 0, (L * L + 2 * L) * sizeof(double));
  ke_ridge_loo(&ridged, &b, ridges, 3, &next, &env);
  free(more);
  const ke_loo nested = {&g, L, NULL, out.nested, error, {NULL, NULL, NULL}, NULL, 0, own};
  ke_nested_loo(&nested, NULL, &env);
  free(extra);
  free(work);
  free(own);
  free(response);
  return out;
}

/* Panels, blocks and rows enough for several of each. */
static void threads_change_no_bit(void)
{
  const size_t n = 4500, L = 150;
  double *z = draw_many(n * L, 81), *y = draw_many(n, 82);
  const answers one = with_threads(z, y, n, L, 1), three = with_threads(z, y, n, L, 3);
  const int same = memcmp(one.q, three.q, n * L * sizeof(double)) == 0 &&
                   memcmp(one.r, three.r, L * L * sizeof(double)) == 0 &&
                   memcmp(one.c, three.c, L * sizeof(double)) == 0 &&
                   memcmp(one.p, three.p, L * L * sizeof(double)) == 0 &&
                   memcmp(one.beside, three.beside, (L * L + 2 * L) * sizeof(double)) == 0 &&
                   one.beside[0] != 0.0 && one.beside[L * L] != 0.0 &&
                   memcmp(one.loss, three.loss, sizeof one.loss) == 0 &&
                   memcmp(one.nested, three.nested, sizeof one.nested) == 0;
  double *arrays[] = {z,          y,       one.q,   one.r,   one.c,   one.p,
                      one.beside, three.q, three.r, three.c, three.p, three.beside};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
  mu_assert(same && one.loss[0] > 0.0);
}

/* ---- looks for an interrupt ------------------------------------------------------------------ */

/* All zero, to be quick: the ridge makes columns independent. Inner products twice, 28 blocks of
 * them, five at a time, and one division by R. */
static void a_fit_looks_for_interrupts(void)
{
  const size_t n = 513, L = 724, k = 2;
  problem p = solve(n, L, k, 1.0, calloc(n * L, sizeof(double)), NULL, draw_many(n * k, 51));
  const size_t checks = p.fitting.checks, last = p.leaving_out.checks;
  release(&p);
  mu_assert(checks > k + 2 * (steps(28, 5) - 1)); /* and between pieces: see test_pieces.c */
  mu_assert(last == 1);
}

/* Equal columns: inner products once, in vain, with a look after them, and then one a panel. */
static void panels_look_for_interrupts(void)
{
  const size_t n = 100, L = 70, k = 1, panel = 32;
  double *z = draw_many(n * L, 61);
  for (size_t l = 1; l < L; l++)
    memcpy(z + l * n, z, n * sizeof(double));
  problem p = solve(n, L, k, 0.0, z, NULL, draw_many(n, 62));
  const size_t checks = p.fitting.checks;
  release(&p);
  mu_assert(checks == k + 1 + steps(L, panel));
}

/* Zeros have no leverage, so that all rows are looked at. */
static void the_search_for_leverage_one_looks_for_interrupts(void)
{
  const size_t L = 2000, step = ke_batch(16.0 * (double)L), n = 2 * step;
  double *z = calloc(n * L, sizeof(double));
  tally searching;
  const ke_env env = counting(&searching, 1);
  ke_regression g = {0};
  g.n = n, g.L = L, g.z = z, g.intercept = 1, g.total = (double)n;
  const ke_loo o = {&g, L, NULL, NULL, NULL, {NULL, NULL, NULL}, NULL, 0, NULL};
  const int found = ke_leverage_one(&o, &env);
  free(z);
  mu_assert(!found);
  mu_assert(searching.checks == 2);
}

int main(void)
{
  mu_run(errors_are_those_of_refitting);
  mu_run(wrong_classes_are_counted);
  mu_run(many_rows_go_through_several_chunks);
  mu_run(a_second_pass_makes_columns_orthonormal);
  mu_run(a_panel_is_orthogonal_to_those_before_it);
  mu_run(a_column_is_dependent_below_1e10_of_its_length);
  mu_run(leverage_one_begins_at_1e10);
  mu_run(near_dependence_is_resolved);
  mu_run(a_dependent_column_changes_nothing);
  mu_run(leverage_one_has_the_limit_of_a_vanishing_ridge);
  mu_run(ridges_are_those_of_refitting);
  mu_run(threads_change_no_bit);
  mu_run(a_fit_looks_for_interrupts);
  mu_run(panels_look_for_interrupts);
  mu_run(the_search_for_leverage_one_looks_for_interrupts);
  return mu_report();
}
