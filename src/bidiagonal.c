/* The factor R of least squares made bidiagonal: R' = V B P', which all ridges share (ridges.c).
 *
 * Panels of rows and columns at a time, as LAPACK has them, and what is left after each is brought
 * up to date by products that threads share, some columns each. Cost 8/3 size^3 flops, and 4/3
 * size^3 for P. */
#include "bidiagonal.h"

#include "blas.h"
#include "reflect.h"
#include "threads.h"
#include "vector.h"

#include <string.h>

#define PANEL KE_REFLECTIONS /* rows and columns made bidiagonal at once */
#define WORTH_PANELS 128     /* of what is left */

static void transposed_factor(const ke_regression *g, ke_bidiagonal *b)
{
  const size_t m = b->size;
  memset(b->a, 0, m * m * sizeof(double));
  for (size_t l = 0; l < m; l++) {
    const int dependent = g->dependent[l];
    for (size_t i = 0; i <= l; i++)
      b->a[l + i * m] = dependent && i == l ? 0.0 : g->r[i + l * g->L];
  }
}

#define COLUMNS KE_SIDE /* that a panel of reflections is applied to at once */

size_t ke_bidiagonal_work(size_t size) { return 2 * size + (2 * size + PANEL + COLUMNS) * PANEL; }

/* A panel of reflections and what they act on, some columns an item; each has its own part of the
 * work. */
typedef struct {
  ke_reflections h;
  ke_dense c;
  double *work;
} reflecting;

static void reflect_columns(void *data, size_t item, size_t worker)
{
  const reflecting *f = (const reflecting *)data;
  const size_t c = item * COLUMNS;
  (void)worker;
  ke_reflect(&f->h, ke_part(f->c, 0, c, f->c.rows, ke_smaller(COLUMNS, f->c.columns - c)),
             f->work + c * PANEL);
}

/* P is the product of the reflections of rows, whose vectors lie right of the diagonal of a. Panels
 * of them are applied at once, the last first. */
static void form_p(ke_bidiagonal *b, const double *tau, const ke_env *env)
{
  const size_t m = b->size, panels = (m - 1 + PANEL - 1) / PANEL;
  double *t = b->work + 2 * m, *v = t + PANEL * PANEL, *work = v + m * PANEL;
  memset(b->p, 0, m * m * sizeof(double));
  for (size_t i = 0; i < m; i++)
    b->p[i + i * m] = 1.0;
  for (size_t q = panels; q-- > 0;) {
    const size_t j = q * PANEL, rest = m - 1 - j;
    const reflecting f = {{{v, rest, ke_smaller(PANEL, rest), rest}, t},
                          {b->p + (j + 1) * (m + 1), rest, rest, m},
                          work};
    ke_collect_reflections(&f.h, b->a + j + (j + 1) * m, m, 1, tau + j);
    ke_share(env, (rest + COLUMNS - 1) / COLUMNS, 4.0 * COLUMNS * PANEL * (double)rest,
             reflect_columns, (void *)&f);
    ke_check(env);
  }
}

/* Row and column j by reflections of the whole rest. */
static void reduce_one(ke_bidiagonal *b, size_t j, double *tau, double *work)
{
  const size_t m = b->size, rest = m - 1 - j, next = j + 1 < m ? j + 1 : j;
  double *a = b->a, *corner = a + j * (m + 1), *right = a + j + next * m;
  const double t = ke_reflection(m - j, corner, a + next + j * m, 1, b->diagonal + j);
  b->over[j] = tau[j] = 0.0;
  if (rest == 0)
    return;
  ke_larf('L', m - j, rest, corner, 1, t, right, m, work);
  tau[j] = ke_reflection(rest, right, a + j + ke_smaller(j + 2, m - 1) * m, m, b->over + j);
  ke_larf('R', m - next, rest, right, m, tau[j], a + next * (m + 1), m, work);
}

/* A panel of rows and columns of what is left, A; column i of x and y is what reflection i is to be
 * taken off A with: A less V Y' less X U', V the vectors of the columns, U those of the rows. */
typedef struct {
  ke_dense a, x, y;
  double *row; /* a row of A without gaps */
} panel;

/* out -= A b */
static void take_off(ke_dense a, const double *b, size_t apart, double *out)
{
  ke_gemv('N', -1.0, a, b, apart, 1.0, out);
}

/* out -= A (B'v) */
static void take_off_turned(ke_dense a, ke_dense b, const double *v, double *out)
{
  double along[PANEL];
  ke_gemv('T', 1.0, b, v, 1, 0.0, along);
  take_off(a, along, 1, out);
}

static void multiply(double by, double *x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i] *= by;
}

/* Column i of A, brought up to date, by a reflection; and column i of y. */
static void reduce_column(const panel *p, size_t i, double *value)
{
  const size_t n = p->a.rows, high = n - i, rest = high - 1;
  const ke_dense a = ke_part(p->a, i, 0, high, i), x = ke_part(p->x, i, 0, high, i);
  double *v = p->a.at + i * (p->a.ld + 1), *y = p->y.at + i + 1 + i * n, along[PANEL];
  take_off(a, p->y.at + i, n, v);
  take_off(x, p->a.at + i * p->a.ld, 1, v);
  const double tau = ke_reflection(high, v, v + 1, 1, value);
  ke_gemv('T', 1.0, ke_part(p->a, i, i + 1, high, rest), v, 1, 0.0, y);
  take_off_turned(ke_part(p->y, i + 1, 0, rest, i), a, v, y);
  ke_gemv('T', 1.0, x, v, 1, 0.0, along);
  ke_gemv('T', -1.0, ke_part(p->a, 0, i + 1, i, rest), along, 1, 1.0, y);
  multiply(tau, y, rest);
}

/* Row i of A right of the diagonal, brought up to date, by a reflection, whose tau is the answer;
 * and column i of x. */
static double reduce_row(const panel *p, size_t i, double *value)
{
  const size_t n = p->a.rows, ld = p->a.ld, rest = n - i - 1;
  const ke_dense y = ke_part(p->y, i + 1, 0, rest, i + 1), above = ke_part(p->a, 0, i + 1, i, rest);
  double *row = p->a.at + i + (i + 1) * ld, *u = p->row, *x = p->x.at + i + 1 + i * n, along[PANEL];
  for (size_t k = 0; k < rest; k++)
    u[k] = row[k * ld];
  take_off(y, p->a.at + i, ld, u);
  ke_gemv('T', -1.0, above, p->x.at + i, n, 1.0, u);
  const double tau = ke_reflection(rest, u, u + 1, 1, value);
  for (size_t k = 0; k < rest; k++)
    row[k * ld] = u[k];
  ke_gemv('N', 1.0, ke_part(p->a, i + 1, i + 1, rest, rest), u, 1, 0.0, x);
  take_off_turned(ke_part(p->a, i + 1, 0, rest, i + 1), y, u, x);
  ke_gemv('N', 1.0, above, u, 1, 0.0, along);
  take_off(ke_part(p->x, i + 1, 0, rest, i), along, 1, x);
  multiply(tau, x, rest);
  return tau;
}

/* What is right of and below a panel, some columns an item. */
static void update_columns(void *data, size_t item, size_t worker)
{
  const panel *p = (const panel *)data;
  const size_t rest = p->a.rows - PANEL, c = item * COLUMNS, wide = ke_smaller(COLUMNS, rest - c);
  const ke_dense inner = ke_part(p->a, PANEL, PANEL + c, rest, wide);
  (void)worker;
  ke_gemm('N', 'T', -1.0, ke_part(p->a, PANEL, 0, rest, PANEL),
          ke_part(p->y, PANEL + c, 0, wide, PANEL), 1.0, inner);
  ke_gemm('N', 'N', -1.0, ke_part(p->x, PANEL, 0, rest, PANEL),
          ke_part(p->a, 0, PANEL + c, PANEL, wide), 1.0, inner);
}

/* A panel of rows and columns from j on; the rest is brought up to date by two products. */
static void reduce_panel(ke_bidiagonal *b, size_t j, double *tau, double *work, const ke_env *env)
{
  const size_t m = b->size, left = m - j, rest = left - PANEL;
  double *x = work + m;
  panel p = {{b->a + j * (m + 1), left, left, m},
             {x, left, PANEL, left},
             {x + left * PANEL, left, PANEL, left},
             work};
  for (size_t i = 0; i < PANEL; i++) {
    reduce_column(&p, i, b->diagonal + j + i);
    tau[j + i] = reduce_row(&p, i, b->over + j + i);
    ke_check(env);
  }
  ke_share(env, (rest + COLUMNS - 1) / COLUMNS, 4.0 * COLUMNS * PANEL * (double)rest,
           update_columns, &p);
}

void ke_bidiagonalise(const ke_regression *g, ke_bidiagonal *b, const ke_env *env)
{
  const size_t m = b->size;
  double *tau = b->work, *work = b->work + m;
  size_t j = 0;
  transposed_factor(g, b);
  for (; m - j > WORTH_PANELS; j += PANEL) {
    reduce_panel(b, j, tau, work, env);
    ke_check(env);
  }
  for (; j < m; j++) {
    reduce_one(b, j, tau, work);
    ke_check(env);
  }
  form_p(b, tau, env);
}
