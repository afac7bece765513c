/* QR of rows that come in pieces (sequential TSQR; Demmel, Grigori, Hoemmen and Langou 2012).
 *
 * [R; rows] = Q [R'; 0] by Householder reflections I - tau v v', v = (e_j; b): a reflection touches
 * row j of R and all new rows, nothing else, so the zeros below the diagonal of R cost nothing. A
 * panel's reflections act on the columns right of it at once, as I - V T'V' with V = [I; B] and T
 * upper triangular: T_jj = tau_j, T_{<j, j} = -tau_j T (B'b_j). The error is that of Householder QR
 * of all rows together: no squares of the condition as in normal equations. Cost 2 m p^2, mostly in
 * matrix products. */
#include "qr.h"

#include "blas.h"
#include "dense.h"

#include <string.h>

#define PANEL 32
#define STRIP (2 * KE_SIDE) /* columns that a panel is applied to at a time */

size_t ke_qr_work(size_t p) { return PANEL * (PANEL + 1 + p); }

/* Columns (j, end) lose their part along reflection j, v of which is column j of the rows; w: room
 * for a number a column. */
static void reflect_rest(const ke_qr *q, size_t j, size_t end, double tau, double *w)
{
  const size_t m = q->m, rest = end - j - 1;
  const double *v = q->rows + j * m;
  const ke_dense columns = {q->rows + (j + 1) * m, m, rest, m};
  if (rest == 0)
    return;
  ke_gemv('T', 1.0, columns, v, 1, 0.0, w);
  for (size_t k = 0; k < rest; k++) {
    double *column = columns.at + k * m, *top = q->r + j + (j + 1 + k) * q->p;
    const double along = tau * (*top + w[k]);
    *top -= along;
    for (size_t i = 0; i < m; i++)
      column[i] -= along * v[i];
  }
}

/* Column j of T; t is PANEL x PANEL, b the columns of the panel, w a column of work. */
static void extend_t(const ke_qr *q, double *b, size_t j, double tau, double *t, double *w)
{
  for (size_t i = 0; i < j; i++)
    w[i] = 0.0;
  if (j > 0)
    ke_gemv('T', -tau, (ke_dense){b, q->m, j, q->m}, b + j * q->m, 1, 0.0, w);
  for (size_t i = 0; i < j; i++) {
    double sum = 0.0;
    for (size_t k = i; k < j; k++)
      sum += t[i + k * PANEL] * w[k];
    t[i + j * PANEL] = sum;
  }
  t[j + j * PANEL] = tau;
}

/* w (count x rest) = T' w, from the last row up since T' is lower triangular. */
static void multiply_t(const double *t, size_t count, double *w, size_t rest)
{
  for (size_t k = 0; k < rest; k++)
    for (size_t i = count; i-- > 0;) {
      double sum = 0.0;
      for (size_t j = 0; j <= i; j++)
        sum += t[j + i * PANEL] * w[j + k * count];
      w[i + k * count] = sum;
    }
}

/* The reflections of a panel, columns [from, from + count), on some columns right of it. */
typedef struct {
  const ke_qr *q;
  size_t from, count;
  const double *t;
  double *w;
} panel;

static void reflect_trailing(const panel *p, size_t first, size_t columns)
{
  const size_t count = p->count, m = p->q->m;
  const ke_dense b = {p->q->rows + p->from * m, m, count, m},
                 trailing = {p->q->rows + first * m, m, columns, m},
                 along = {p->w, count, columns, count};
  double *top = p->q->r + p->from + first * p->q->p;
  for (size_t k = 0; k < columns; k++)
    memcpy(p->w + k * count, top + k * p->q->p, count * sizeof(double));
  ke_gemm('T', 'N', 1.0, b, trailing, 1.0, along);
  multiply_t(p->t, count, p->w, columns);
  for (size_t k = 0; k < columns; k++)
    for (size_t i = 0; i < count; i++)
      top[i + k * p->q->p] -= p->w[i + k * count];
  ke_gemm('N', 'N', -1.0, b, along, 1.0, trailing);
}

void ke_qr_append(const ke_qr *q, const ke_env *env)
{
  double *t = q->work, *column = t + PANEL * PANEL, *w = column + PANEL;
  for (size_t from = 0; from < q->p; from += PANEL) {
    const size_t end = ke_smaller(from + PANEL, q->p);
    for (size_t j = from; j < end; j++) {
      double tau = 0.0;
      ke_larfg(q->m + 1, q->r + j * (q->p + 1), q->rows + j * q->m, 1, &tau);
      reflect_rest(q, j, end, tau, column);
      extend_t(q, q->rows + from * q->m, j - from, tau, t, column);
    }
    ke_check(env);
    const panel p = {q, from, end - from, t, w};
    for (size_t j = end; j < q->p; j += STRIP) {
      reflect_trailing(&p, j, ke_smaller(STRIP, q->p - j));
      ke_check(env);
    }
  }
}
