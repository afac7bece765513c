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

#include <float.h>
#include <math.h>
#include <string.h>

#define PANEL KE_REFLECTIONS /* rows and columns made bidiagonal at once */
#define WORTH_PANELS 64      /* of what is left */
#define FROM_MEMORY 4.0      /* times as long as the same flops on numbers at hand */

/* A power of two near the largest number, in whose units nothing overflows. */
static double unit_of(const ke_regression *g, size_t m)
{
  double largest = 0.0;
  for (size_t l = 0; l < m; l++)
    for (size_t i = 0; i < l + !g->dependent[l]; i++)
      largest = fmax(largest, fabs(g->r[i + l * g->L]));
  return largest > 0.0 && largest <= DBL_MAX ? ldexp(1.0, ilogb(largest)) : 1.0;
}

static void transposed_factor(const ke_regression *g, double unit, ke_bidiagonal *b)
{
  const size_t m = b->size;
  memset(b->a, 0, m * m * sizeof(double));
  for (size_t l = 0; l < m; l++) {
    const int dependent = g->dependent[l];
    for (size_t i = 0; i <= l; i++)
      b->a[l + i * m] = dependent && i == l ? 0.0 : g->r[i + l * g->L] / unit;
  }
}

#define COLUMNS KE_SIDE /* that a panel of reflections is applied to at once */

size_t ke_bidiagonal_work(size_t size)
{
  const size_t sums = (size / COLUMNS + 1) * size;
  return 2 * size + (2 * size + PANEL + COLUMNS) * PANEL + sums;
}

double ke_bidiagonal_flops(size_t size)
{
  const double side = (double)size;
  return (FROM_MEMORY * 4.0 + 8.0) / 3.0 * side * side * side;
}

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
  double *row;  /* row i of that right of the diagonal, without gaps */
  double *sums; /* products with it, a column of A.rows for every COLUMNS columns */
  size_t i;
  double tau; /* of column i */
} panel;

/* out -= A b */
static void take_off(ke_dense a, const double *b, size_t apart, double *out)
{
  ke_gemv('N', -1.0, a, b, apart, 1.0, out);
}

/* out -= A'b */
static void take_off_turned(ke_dense a, const double *b, size_t apart, double *out)
{
  ke_gemv('T', -1.0, a, b, apart, 1.0, out);
}

static void multiply(double by, double *x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i] *= by;
}

static double *column_of(const panel *p) { return p->a.at + p->i * (p->a.ld + 1); }

static double *first_of(ke_dense a, size_t i) { return a.at + i + 1 + i * a.ld; }

/* Column i brought up to date and made a reflection; what earlier reflections give column i of y.
 */
static void start_column(panel *p, double *value)
{
  const size_t i = p->i, high = p->a.rows - i, rest = high - 1;
  const ke_dense a = ke_part(p->a, i, 0, high, i), x = ke_part(p->x, i, 0, high, i);
  double *v = column_of(p), *y = first_of(p->y, i), along[PANEL];
  take_off(a, p->y.at + i, p->y.ld, v);
  take_off(x, p->a.at + i * p->a.ld, 1, v);
  p->tau = ke_reflection(high, v, v + 1, 1, value);
  ke_clear(y, rest);
  ke_gemv('T', 1.0, a, v, 1, 0.0, along);
  take_off(ke_part(p->y, i + 1, 0, rest, i), along, 1, y);
  ke_gemv('T', 1.0, x, v, 1, 0.0, along);
  take_off_turned(ke_part(p->a, 0, i + 1, i, rest), along, 1, y);
  multiply(p->tau, y, rest);
}

/* Row i brought up to date but for reflection i of the columns. */
static void start_row(const panel *p)
{
  const size_t i = p->i, rest = p->a.rows - i - 1;
  const double *row = p->a.at + i + (i + 1) * p->a.ld;
  for (size_t k = 0; k < rest; k++)
    p->row[k] = row[k * p->a.ld];
  take_off(ke_part(p->y, i + 1, 0, rest, i), p->a.at + i, p->a.ld, p->row);
  take_off_turned(ke_part(p->a, 0, i + 1, i, rest), p->x.at + i, p->x.ld, p->row);
}

#define AT_ONCE 4 /* columns of A that are at hand when they are read again */

/* Some columns of A: what they give column i of y, then row i, then their product with that. One
 * look at A serves both sides (Howell et al. 2008). */
static void pass_columns(void *data, size_t item, size_t worker)
{
  const panel *p = (const panel *)data;
  const size_t i = p->i, high = p->a.rows - i, rest = high - 1, from = item * COLUMNS,
               end = ke_smaller(from + COLUMNS, rest);
  double *y = first_of(p->y, i), *sum = p->sums + item * p->a.rows;
  (void)worker;
  ke_clear(sum, rest);
  for (size_t c = from; c < end; c += AT_ONCE) {
    const size_t few = ke_smaller(AT_ONCE, end - c), j = i + 1 + c;
    ke_gemv('T', p->tau, ke_part(p->a, i, j, high, few), column_of(p), 1, 1.0, y + c);
    for (size_t l = c; l < c + few; l++)
      p->row[l] -= y[l];
    ke_gemv('N', 1.0, ke_part(p->a, i + 1, j, rest, few), p->row + c, 1, 1.0, sum);
  }
}

/* x = A times the vector of the row's reflection, from `sums` with the row itself: they differ by
 * the first element and a factor. */
static void finish_product(const panel *p, double first, double value, double *x)
{
  const size_t rest = p->a.rows - p->i - 1;
  ke_clear(x, rest);
  for (size_t c = 0; c < rest; c += COLUMNS)
    ke_add_scaled(x, rest, 1.0, p->sums + c / COLUMNS * p->a.rows);
  ke_add_scaled(x, rest, -value, p->a.at + (p->i + 1) * (p->a.ld + 1));
  for (size_t k = 0; k < rest; k++)
    x[k] /= first - value;
}

#define NOTHING (DBL_MIN / DBL_EPSILON) /* beside largest numbers of one or two */

/* Row i by a reflection, whose tau is the answer; and column i of x. */
static double finish_row(const panel *p, double *value)
{
  const size_t i = p->i, rest = p->a.rows - i - 1;
  const ke_dense above = ke_part(p->a, 0, i + 1, i, rest);
  double *row = p->a.at + i + (i + 1) * p->a.ld, *u = p->row, *x = first_of(p->x, i), along[PANEL];
  const double first = u[0], tau = ke_reflection(rest, u, u + 1, 1, value);
  for (size_t k = 0; k < rest; k++)
    row[k * p->a.ld] = u[k];
  if (tau == 0.0 || fabs(*value) < NOTHING) {
    ke_clear(x, rest);
    return 0.0;
  }
  finish_product(p, first, *value, x);
  ke_gemv('T', 1.0, ke_part(p->y, i + 1, 0, rest, i + 1), u, 1, 0.0, along);
  take_off(ke_part(p->a, i + 1, 0, rest, i + 1), along, 1, x);
  ke_gemv('N', 1.0, above, u, 1, 0.0, along);
  take_off(ke_part(p->x, i + 1, 0, rest, i), along, 1, x);
  multiply(tau, x, rest);
  return tau;
}

/* Column and row i of a panel. */
static double reduce_both(panel *p, double *diagonal, double *over, const ke_env *env)
{
  const size_t high = p->a.rows - p->i, groups = (high - 1 + COLUMNS - 1) / COLUMNS;
  start_column(p, diagonal);
  start_row(p);
  ke_share(env, groups, FROM_MEMORY * 4.0 * COLUMNS * (double)high, pass_columns, p);
  return finish_row(p, over);
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
             work,
             x + 2 * left * PANEL,
             0,
             0.0};
  for (; p.i < PANEL; p.i++) {
    tau[j + p.i] = reduce_both(&p, b->diagonal + j + p.i, b->over + j + p.i, env);
    ke_check(env);
  }
  ke_share(env, (rest + COLUMNS - 1) / COLUMNS, 4.0 * COLUMNS * PANEL * (double)rest,
           update_columns, &p);
}

void ke_bidiagonalise(const ke_regression *g, ke_bidiagonal *b, const ke_env *env)
{
  const size_t m = b->size;
  double *tau = b->work, *work = b->work + m;
  const double unit = unit_of(g, m);
  size_t j = 0;
  transposed_factor(g, unit, b);
  for (; m - j > WORTH_PANELS; j += PANEL) {
    reduce_panel(b, j, tau, work, env);
    ke_check(env);
  }
  for (; j < m; j++) {
    reduce_one(b, j, tau, work);
    ke_check(env);
  }
  multiply(unit, b->diagonal, m);
  multiply(unit, b->over, m);
  form_p(b, tau, env);
}
