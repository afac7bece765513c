/* The factor R of least squares made bidiagonal: R' = V B P', which all ridges share (ridges.c).
 *
 * Panels of rows and columns at a time, as LAPACK has them, and what is left after each is brought
 * up to date by products that threads share, some columns each. Cost 8/3 size^3 flops, and 4/3
 * size^3 for P. */
#include "bidiagonal.h"

#include "blas.h"
#include "threads.h"

#include <string.h>

#define PANEL 32         /* rows and columns made bidiagonal at once */
#define WORTH_PANELS 128 /* of what is left */

/* A reflection I - tau v v' with v = (1, x / scale) that makes (alpha, x) a multiple of the first
 * unit vector, which goes to *value; x (count - 1 values, inc apart) becomes the rest of v. */
static double reflection(size_t count, double *alpha, double *x, size_t inc, double *value)
{
  double tau = 0.0;
  ke_larfg(count, alpha, x, inc, &tau);
  *value = *alpha;
  *alpha = 1.0;
  return tau;
}

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

size_t ke_bidiagonal_work(size_t size) { return 2 * size + (2 * size + PANEL) * PANEL; }

#define COLUMNS 64 /* that a panel of reflections is applied to at once */

/* Reflections from j on, some columns of P an item; each has its own part of the work. */
typedef struct {
  const ke_bidiagonal *b;
  size_t j;
  const double *t;
  double *work;
} reflections;

static void reflect_columns(void *data, size_t item, size_t worker)
{
  const reflections *f = (const reflections *)data;
  const size_t m = f->b->size, rest = m - 1 - f->j, c = item * COLUMNS;
  (void)worker;
  ke_larfb_rows(rest, ke_smaller(COLUMNS, rest - c), ke_smaller(PANEL, rest),
                f->b->a + f->j + (f->j + 1) * m, m, f->t, f->b->p + (f->j + 1) * (m + 1) + c * m, m,
                f->work + c * PANEL);
}

/* P is the product of the reflections of rows, whose vectors lie right of the diagonal of a. Panels
 * of them are applied at once, the last first. */
static void form_p(ke_bidiagonal *b, const double *tau, const ke_env *env)
{
  const size_t m = b->size, panels = (m - 1 + PANEL - 1) / PANEL;
  double *t = b->work + 2 * m, *work = t + PANEL * PANEL;
  memset(b->p, 0, m * m * sizeof(double));
  for (size_t i = 0; i < m; i++)
    b->p[i + i * m] = 1.0;
  for (size_t q = panels; q-- > 0;) {
    const size_t j = q * PANEL, rest = m - 1 - j;
    const reflections f = {b, j, t, work};
    ke_larft_rows(rest, ke_smaller(PANEL, rest), b->a + j + (j + 1) * m, m, tau + j, t);
    ke_share_blas(env, (rest + COLUMNS - 1) / COLUMNS, 4.0 * COLUMNS * PANEL * (double)rest,
                  reflect_columns, (void *)&f);
    ke_check(env);
  }
}

/* Row and column j by reflections of the whole rest. */
static void reduce_one(ke_bidiagonal *b, size_t j, double *tau, double *work)
{
  const size_t m = b->size, rest = m - 1 - j, next = j + 1 < m ? j + 1 : j;
  double *a = b->a, *corner = a + j * (m + 1), *right = a + j + next * m;
  const double t = reflection(m - j, corner, a + next + j * m, 1, b->diagonal + j);
  b->over[j] = tau[j] = 0.0;
  if (rest == 0)
    return;
  ke_larf('L', m - j, rest, corner, 1, t, right, m, work);
  tau[j] = reflection(rest, right, a + j + ke_smaller(j + 2, m - 1) * m, m, b->over + j);
  ke_larf('R', m - next, rest, right, m, tau[j], a + next * (m + 1), m, work);
}

/* What is left after a panel, some columns an item. */
typedef struct {
  size_t m, left;
  double *corner; /* of the panel */
  const double *x, *y;
} after_panel;

static void update_columns(void *data, size_t item, size_t worker)
{
  const after_panel *r = (const after_panel *)data;
  const size_t m = r->m, rest = r->left - PANEL, c = item * COLUMNS;
  const size_t wide = ke_smaller(COLUMNS, rest - c);
  double *inner = r->corner + PANEL * (m + 1) + c * m, *above = r->corner + (PANEL + c) * m;
  (void)worker;
  ke_gemm('N', 'T', rest, wide, PANEL, -1.0, r->corner + PANEL, m, r->y + PANEL + c, r->left, 1.0,
          inner, m);
  ke_gemm('N', 'N', rest, wide, PANEL, -1.0, r->x + PANEL, r->left, above, m, 1.0, inner, m);
}

/* A panel of rows and columns from j on; the rest is brought up to date by two products. */
static void reduce_panel(ke_bidiagonal *b, size_t j, double *tau, double *work, const ke_env *env)
{
  const size_t m = b->size, left = m - j, rest = left - PANEL;
  double *corner = b->a + j * (m + 1), *x = work, *y = x + left * PANEL, other[PANEL];
  after_panel r = {m, left, corner, x, y};
  ke_labrd(left, PANEL, corner, m, b->diagonal + j, b->over + j, other, tau + j, x, y);
  ke_share_blas(env, (rest + COLUMNS - 1) / COLUMNS, 4.0 * COLUMNS * PANEL * (double)rest,
                update_columns, &r);
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
