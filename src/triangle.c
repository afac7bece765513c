/* Triangular factors by halves: all but small triangles on the diagonal is one product (dense.c).
 * Division and elimination are those of the textbook, so as accurate (Higham 2002, section 13.2).
 */
#include "dense.h"

#include "simd.h"
#include "vector.h"

#include <math.h>
#include <string.h>

#define EIGHT 8 /* rows that a triangle divides at a time */
#define EDGE 16 /* a triangle of so many columns is taken apart no further */

/* The first part of n; so that the larger triangles are made of whole ones. */
static size_t half(size_t n) { return (n / 2 + EDGE - 1) / EDGE * EDGE; }

/* A triangle in four: the upper one, the lower one and the square between them. */
typedef struct {
  size_t first, second;
  ke_dense upper, lower, between;
} quarters;

static quarters cut(ke_dense r)
{
  const size_t n = r.columns, m = half(n);
  const quarters q = {m, n - m, ke_part(r, 0, 0, m, m), ke_part(r, m, m, n - m, n - m),
                      ke_part(r, 0, m, m, n - m)};
  return q;
}

static ke_dense left(ke_dense b, const quarters *q) { return ke_part(b, 0, 0, b.rows, q->first); }

static ke_dense right(ke_dense b, const quarters *q)
{
  return ke_part(b, 0, q->first, b.rows, q->second);
}

static ke_dense top(ke_dense b, const quarters *q) { return ke_part(b, 0, 0, q->first, b.columns); }

static ke_dense bottom(ke_dense b, const quarters *q)
{
  return ke_part(b, q->first, 0, q->second, b.columns);
}

/* ---- B R^{-1} and B R --------------------------------------------------------------------------
 */

/* Column j of b less what the columns before it take off, divided. */
INLINE void divide_column(ke_dense r, ke_dense b, size_t j)
{
  double *own = b.at + j * b.ld;
  const double *by = r.at + j * r.ld;
  for (size_t l = 0; l < j; l++)
    ke_add_scaled(own, b.rows, -by[l], b.at + l * b.ld);
  for (size_t i = 0; i < b.rows; i++)
    own[i] /= by[j];
}

/* Rows i .. i + 8 of columns j .. j + 4, in registers; `inverse`: of the diagonal there. */
INLINE void divide_eight(ke_dense r, ke_dense b, size_t i, size_t j, const double inverse[4])
{
  const double *c0 = r.at + j * r.ld, *c1 = c0 + r.ld, *c2 = c1 + r.ld, *c3 = c2 + r.ld;
  double *b0 = b.at + i + j * b.ld, *b1 = b0 + b.ld, *b2 = b1 + b.ld, *b3 = b2 + b.ld;
  v4 x0 = LOAD(b0), x1 = LOAD(b1), x2 = LOAD(b2), x3 = LOAD(b3);
  v4 y0 = LOAD(b0 + 4), y1 = LOAD(b1 + 4), y2 = LOAD(b2 + 4), y3 = LOAD(b3 + 4);
  for (size_t l = 0; l < j; l++) {
    const v4 x = LOAD(b.at + i + l * b.ld), y = LOAD(b.at + i + 4 + l * b.ld);
    x0 -= x * c0[l], x1 -= x * c1[l], x2 -= x * c2[l], x3 -= x * c3[l];
    y0 -= y * c0[l], y1 -= y * c1[l], y2 -= y * c2[l], y3 -= y * c3[l];
  }
  x0 *= inverse[0], y0 *= inverse[0];
  x1 = (x1 - x0 * c1[j]) * inverse[1], y1 = (y1 - y0 * c1[j]) * inverse[1];
  x2 = (x2 - x0 * c2[j] - x1 * c2[j + 1]) * inverse[2];
  y2 = (y2 - y0 * c2[j] - y1 * c2[j + 1]) * inverse[2];
  x3 = (x3 - x0 * c3[j] - x1 * c3[j + 1] - x2 * c3[j + 2]) * inverse[3];
  y3 = (y3 - y0 * c3[j] - y1 * c3[j + 1] - y2 * c3[j + 2]) * inverse[3];
  STORE(b0, x0), STORE(b1, x1), STORE(b2, x2), STORE(b3, x3);
  STORE(b0 + 4, y0), STORE(b1 + 4, y1), STORE(b2 + 4, y2), STORE(b3 + 4, y3);
}

/* Whole eights of rows. */
INLINE void divide_eights(ke_dense r, ke_dense b)
{
  const size_t fours = b.columns / 4 * 4;
  for (size_t j = 0; j < fours; j += 4) {
    double inverse[4];
    for (size_t l = 0; l < 4; l++)
      inverse[l] = 1.0 / r.at[(j + l) * (r.ld + 1)];
    for (size_t i = 0; i < b.rows; i += EIGHT)
      divide_eight(r, b, i, j, inverse);
  }
  for (size_t j = fours; j < b.columns; j++)
    divide_column(r, b, j);
}

/* The last rows among rows of zeros: equal rows have equal answers wherever they stand. */
INLINE void divide_small_body(ke_dense r, ke_dense b)
{
  const size_t eights = b.rows / EIGHT * EIGHT, few = b.rows - eights;
  double padded[EIGHT * EDGE] = {0.0};
  divide_eights(r, ke_part(b, 0, 0, eights, b.columns));
  for (size_t j = 0; j < b.columns; j++)
    memcpy(padded + j * EIGHT, b.at + eights + j * b.ld, few * sizeof(double));
  if (few > 0)
    divide_eights(r, (ke_dense){padded, EIGHT, b.columns, EIGHT});
  for (size_t j = 0; j < b.columns; j++)
    memcpy(b.at + eights + j * b.ld, padded + j * EIGHT, few * sizeof(double));
}

DEFINE_DISPATCHED(static, divide_small, (ke_dense r, ke_dense b), (r, b))

void ke_trsm_right_upper(ke_dense r, ke_dense b)
{
  if (r.columns <= EDGE) {
    divide_small(r, b);
    return;
  }
  const quarters q = cut(r);
  ke_trsm_right_upper(q.upper, left(b, &q));
  ke_gemm('N', 'N', -1.0, left(b, &q), q.between, 1.0, right(b, &q));
  ke_trsm_right_upper(q.lower, right(b, &q));
}

/* From the last column on, as the others still want those before it. */
static void multiply_small(ke_dense r, ke_dense b)
{
  for (size_t j = b.columns; j-- > 0;) {
    double *own = b.at + j * b.ld;
    const double *by = r.at + j * r.ld;
    for (size_t i = 0; i < b.rows; i++)
      own[i] *= by[j];
    for (size_t l = 0; l < j; l++)
      ke_add_scaled(own, b.rows, by[l], b.at + l * b.ld);
  }
}

void ke_trmm_right_upper(ke_dense r, ke_dense b)
{
  if (r.columns <= EDGE) {
    multiply_small(r, b);
    return;
  }
  const quarters q = cut(r);
  ke_trmm_right_upper(q.lower, right(b, &q));
  ke_gemm('N', 'N', 1.0, left(b, &q), q.between, 1.0, right(b, &q));
  ke_trmm_right_upper(q.upper, left(b, &q));
}

/* ---- R^{-1} B, R'^{-1} B, R B and L^{-1} B
 * ------------------------------------------------------- */

static void solve_small(ke_dense r, ke_dense b)
{
  for (size_t k = 0; k < b.columns; k++)
    for (size_t i = r.columns; i-- > 0;) {
      double *x = b.at + k * b.ld;
      x[i] /= r.at[i + i * r.ld];
      ke_add_scaled(x, i, -x[i], r.at + i * r.ld);
    }
}

/* B' R^{-1}, some columns of B at a time. */
static void solve_small_turned(ke_dense r, ke_dense b)
{
  double turned[KE_SIDE * EDGE];
  const size_t n = r.columns;
  for (size_t j = 0; j < b.columns; j += KE_SIDE) {
    const ke_dense some = ke_part(b, 0, j, n, ke_smaller(KE_SIDE, b.columns - j)),
                   rows = {turned, some.columns, n, KE_SIDE};
    for (size_t k = 0; k < some.columns; k++)
      for (size_t i = 0; i < n; i++)
        turned[k + i * KE_SIDE] = some.at[i + k * some.ld];
    divide_small(r, rows);
    for (size_t k = 0; k < some.columns; k++)
      for (size_t i = 0; i < n; i++)
        some.at[i + k * some.ld] = turned[k + i * KE_SIDE];
  }
}

void ke_trsm_left_upper(char t, ke_dense r, ke_dense b)
{
  if (r.columns <= EDGE) {
    (t == 'T' ? solve_small_turned : solve_small)(r, b);
    return;
  }
  const quarters q = cut(r);
  if (t == 'T') {
    ke_trsm_left_upper('T', q.upper, top(b, &q));
    ke_gemm('T', 'N', -1.0, q.between, top(b, &q), 1.0, bottom(b, &q));
    ke_trsm_left_upper('T', q.lower, bottom(b, &q));
  } else {
    ke_trsm_left_upper('N', q.lower, bottom(b, &q));
    ke_gemm('N', 'N', -1.0, q.between, bottom(b, &q), 1.0, top(b, &q));
    ke_trsm_left_upper('N', q.upper, top(b, &q));
  }
}

static void multiply_small_left(ke_dense r, ke_dense b)
{
  for (size_t k = 0; k < b.columns; k++)
    for (size_t j = 0; j < r.columns; j++) {
      double *x = b.at + k * b.ld;
      ke_add_scaled(x, j, x[j], r.at + j * r.ld);
      x[j] *= r.at[j + j * r.ld];
    }
}

void ke_trmm_left_upper(ke_dense r, ke_dense b)
{
  if (r.columns <= EDGE) {
    multiply_small_left(r, b);
    return;
  }
  const quarters q = cut(r);
  ke_trmm_left_upper(q.upper, top(b, &q));
  ke_gemm('N', 'N', 1.0, q.between, bottom(b, &q), 1.0, top(b, &q));
  ke_trmm_left_upper(q.lower, bottom(b, &q));
}

static void solve_small_unit(ke_dense l, ke_dense b)
{
  for (size_t k = 0; k < b.columns; k++)
    for (size_t j = 0; j < l.columns; j++) {
      double *x = b.at + k * b.ld;
      ke_add_scaled(x + j + 1, l.columns - j - 1, -x[j], l.at + j + 1 + j * l.ld);
    }
}

void ke_trsm_left_unit_lower(ke_dense l, ke_dense b)
{
  if (l.columns <= EDGE) {
    solve_small_unit(l, b);
    return;
  }
  const quarters q = cut(l);
  const ke_dense below = ke_part(l, q.first, 0, q.second, q.first);
  ke_trsm_left_unit_lower(q.upper, top(b, &q));
  ke_gemm('N', 'N', -1.0, below, top(b, &q), 1.0, bottom(b, &q));
  ke_trsm_left_unit_lower(q.lower, bottom(b, &q));
}

/* ---- Cholesky
 * ------------------------------------------------------------------------------------ */

static int factor_small(ke_dense a)
{
  for (size_t j = 0; j < a.columns; j++) {
    double *own = a.at + j * a.ld;
    for (size_t i = 0; i < j; i++)
      own[i] = (own[i] - ke_dot(own, a.at + i * a.ld, i)) / a.at[i + i * a.ld];
    const double rest = own[j] - ke_dot(own, own, j);
    if (!(rest > 0.0))
      return 0;
    own[j] = sqrt(rest);
  }
  return 1;
}

int ke_potrf_upper(ke_dense a)
{
  if (a.columns <= EDGE)
    return factor_small(a);
  const quarters q = cut(a);
  if (!ke_potrf_upper(q.upper))
    return 0;
  ke_trsm_left_upper('T', q.upper, q.between);
  ke_syrk_upper(-1.0, q.between, 1.0, q.lower);
  return ke_potrf_upper(q.lower);
}
