/* Divide and conquer on a symmetric tridiagonal matrix (Cuppen 1981; Gu and Eisenstat 1995), in
 * pieces between which an interrupt is answered: one call of LAPACK for it takes seconds.
 *
 * Cut in two, T = diag(T1, T2) + rho u u'. With T1 = Q1 D1 Q1', T2 = Q2 D2 Q2' it is
 * Q (D + rho z z') Q', Q = diag(Q1, Q2), z = Q'u. What z hardly touches and what is equal in D
 * (after a rotation) is settled already; of the rest the values are the roots of
 *
 *   1 + rho sum_i z_i^2 / (d_i - x) = 0,   vectors (z_i / (d_i - x))_i,
 *
 * z worked out again from the roots, so that vectors are orthogonal to rounding. Columns of Q that
 * live in one half only are multiplied there only. Cost at most 4/3 n^3, O(n^2) where much is
 * settled, as with kernels, whose values fall fast.
 */
#include "conquer.h"

#include "blas.h"
#include "dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LEAF 32  /* what is not cut any more */
#define WIDTH 32 /* columns multiplied at a time */

enum { TOP, MIXED, BOTTOM };

typedef struct {
  size_t n;
  double *d, *e, *q;
  double *z, *pole, *weight, *root, *column; /* n each */
  double *strip;                             /* n x WIDTH */
  double *room;                              /* n x n */
  int *order;                                /* n: columns of each solved block, by value */
  int *merged, *kept, *type, *place, *gone;  /* n each */
  const ke_env *env;
} problem;

/* Two halves: rows and columns first .. first + m, cut after `top` of them. */
typedef struct {
  size_t top, m, ld;
  double *d, *q, rho;
  int *order;
  size_t kept, gone;        /* how many columns there are of each kind */
  size_t count[BOTTOM + 1]; /* of those kept, by type */
} pair;

size_t ke_tridiagonal_work(size_t n) { return n * (n + WIDTH + 5); }

size_t ke_tridiagonal_whole(size_t n) { return 6 * n; }

/* Two ascending lists of positions in `value` become one. */
static void merge_lists(const double *value, const int *a, size_t na, const int *b, size_t nb,
                        int *out)
{
  size_t i = 0, j = 0;
  while (i < na || j < nb)
    if (j == nb || (i < na && value[a[i]] <= value[b[j]]))
      out[i + j] = a[i], i++;
    else
      out[i + j] = b[j], j++;
}

/* z of length 1, and rho for it. */
static void find_z(const problem *p, pair *c)
{
  const double share = sqrt(0.5), side = c->rho < 0.0 ? -share : share;
  for (size_t j = 0; j < c->m; j++) {
    const double *q = c->q + c->top + j * c->ld; /* the first row below the cut */
    p->z[j] = j < c->top ? q[-1] * share : q[0] * side;
  }
  c->rho = 2.0 * fabs(c->rho);
}

/* Columns a and b turned so that z has nothing at a; both values lie within the tolerance. */
static void turn(const problem *p, const pair *c, int a, int b, double cosine, double sine)
{
  double *qa = c->q + (size_t)a * c->ld, *qb = c->q + (size_t)b * c->ld;
  for (size_t i = 0; i < c->m; i++) {
    const double old = qa[i];
    qa[i] = cosine * old + sine * qb[i];
    qb[i] = cosine * qb[i] - sine * old;
  }
  const double da = c->d[a], db = c->d[b];
  c->d[a] = da * cosine * cosine + db * sine * sine;
  c->d[b] = da * sine * sine + db * cosine * cosine;
  p->z[b] = hypot(p->z[a], p->z[b]);
  p->z[a] = 0.0;
  if (p->type[a] != p->type[b])
    p->type[b] = MIXED;
}

static double largest(const double *x, size_t n)
{
  double most = 0.0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, fabs(x[i]));
  return most;
}

/* Which columns are kept for the secular equation, ascending, and which are settled. */
static void settle(const problem *p, pair *c)
{
  const double tol = 8.0 * DBL_EPSILON * fmax(largest(c->d, c->m), largest(p->z, c->m));
  int last = -1;
  c->kept = c->gone = 0;
  for (size_t t = 0; t < c->m; t++) {
    const int j = p->merged[t];
    if (c->rho * fabs(p->z[j]) <= tol) {
      p->gone[c->gone++] = j;
      continue;
    }
    if (last >= 0) {
      const double length = hypot(p->z[last], p->z[j]);
      const double cosine = p->z[j] / length, sine = -p->z[last] / length;
      if (fabs((c->d[j] - c->d[last]) * cosine * sine) <= tol) {
        turn(p, c, last, j, cosine, sine);
        p->gone[c->gone++] = last;
      } else {
        p->kept[c->kept++] = last;
      }
    }
    last = j;
  }
  if (last >= 0)
    p->kept[c->kept++] = last;
}

/* Where each kept column goes: those of the top first, those of the bottom last. */
static void place_by_type(const problem *p, pair *c)
{
  size_t r = 0;
  for (int type = TOP; type <= BOTTOM; type++) {
    const size_t before = r;
    for (size_t i = 0; i < c->kept; i++)
      if (p->type[p->kept[i]] == type)
        p->place[r++] = (int)i;
    c->count[type] = r - before;
  }
}

/* Columns out of the way: of the kept ones what is not zero, the settled ones whole. */
static double *save_columns(const problem *p, const pair *c)
{
  const size_t bottom = c->m - c->top, first = c->count[TOP], upper = first + c->count[MIXED];
  double *to = p->room;
  for (size_t r = 0; r < upper; r++, to += c->top)
    memcpy(to, c->q + (size_t)p->kept[p->place[r]] * c->ld, c->top * sizeof(double));
  for (size_t r = first; r < c->kept; r++, to += bottom)
    memcpy(to, c->q + (size_t)p->kept[p->place[r]] * c->ld + c->top, bottom * sizeof(double));
  for (size_t g = 0; g < c->gone; g++)
    memcpy(to + g * c->m, c->q + (size_t)p->gone[g] * c->ld, c->m * sizeof(double));
  return to;
}

/* The roots; column j of q becomes d_i - root_j, exact in its digits. */
static int find_roots(const problem *p, const pair *c)
{
  const size_t k = c->kept, step = ke_batch(200.0 * (double)k);
  double square = 0.0;
  for (size_t i = 0; i < k; i++)
    square += p->weight[i] * p->weight[i];
  for (size_t i = 0; i < k; i++)
    p->weight[i] /= sqrt(square);
  for (size_t j = 0; j < k; j++) {
    if (j % step == 0)
      ke_check(p->env);
    if (!ke_laed4(k, j, p->pole, p->weight, c->q + j * c->ld, c->rho * square, p->root + j))
      return 0;
  }
  return 1;
}

/* The z that has these roots exactly, in place of the weights. */
static void weights_of_roots(const problem *p, const pair *c)
{
  const size_t k = c->kept, step = ke_batch(10.0 * (double)k);
  double *z = p->column;
  for (size_t i = 0; i < k; i++)
    z[i] = c->q[i * (c->ld + 1)];
  for (size_t j = 0; j < k; j++) {
    const double *gap = c->q + j * c->ld;
    if (j % step == 0)
      ke_check(p->env);
    for (size_t i = 0; i < k; i++)
      if (i != j)
        z[i] *= gap[i] / (p->pole[i] - p->pole[j]);
  }
  for (size_t i = 0; i < k; i++)
    p->weight[i] = copysign(sqrt(fabs(z[i])), p->weight[i]);
}

/* Column j of q from gaps to a vector of length 1, its rows in the order of the saved columns. One
 * or two roots come with their vectors. */
static void make_vector(const problem *p, const pair *c, size_t j)
{
  double *q = c->q + j * c->ld, *v = p->column, square = 0.0;
  for (size_t i = 0; i < c->kept; i++) {
    v[i] = c->kept > 2 ? p->weight[i] / q[i] : q[i];
    square += v[i] * v[i];
  }
  for (size_t r = 0; r < c->kept; r++)
    q[r] = v[p->place[r]] / sqrt(square);
}

/* Columns j .. j + width of the product of saved columns with vectors. */
static void multiply(const problem *p, const pair *c, size_t j, size_t width)
{
  const size_t k = c->kept, first = c->count[TOP], upper = first + c->count[MIXED];
  const size_t bottom = c->m - c->top;
  double *q = c->q + j * c->ld;
  for (size_t w = 0; w < width; w++) {
    memcpy(p->strip + w * k, q + w * c->ld, k * sizeof(double));
    memset(q + w * c->ld, 0, c->m * sizeof(double));
  }
  const ke_dense strip = {p->strip, k, width, k}, out = {q, c->m, width, c->ld};
  if (upper > 0)
    ke_gemm('N', 'N', 1.0, (ke_dense){p->room, c->top, upper, c->top},
            ke_part(strip, 0, 0, upper, width), 0.0, ke_part(out, 0, 0, c->top, width));
  ke_check(p->env);
  if (k > first)
    ke_gemm('N', 'N', 1.0, (ke_dense){p->room + upper * c->top, bottom, k - first, bottom},
            ke_part(strip, first, 0, k - first, width), 0.0,
            ke_part(out, c->top, 0, bottom, width));
}

/* Values and columns of the pair: those kept, then those settled; and their order. */
static void collect(const problem *p, const pair *c, const double *settled)
{
  const size_t k = c->kept;
  for (size_t g = 0; g < c->gone; g++) {
    memcpy(c->q + (k + g) * c->ld, settled + g * c->m, c->m * sizeof(double));
    p->root[k + g] = c->d[p->gone[g]];
  }
  memcpy(c->d, p->root, c->m * sizeof(double));
  for (size_t i = 0; i < k; i++)
    p->kept[i] = (int)i;
  for (size_t g = 0; g < c->gone; g++) { /* nearly sorted */
    size_t at = g;
    for (; at > 0 && c->d[p->gone[at - 1]] > c->d[k + g]; at--)
      p->gone[at] = p->gone[at - 1];
    p->gone[at] = (int)(k + g);
  }
  merge_lists(c->d, p->kept, k, p->gone, c->gone, c->order);
}

static int merge(const problem *p, pair *c)
{
  for (size_t j = 0; j < c->m; j++) {
    p->type[j] = j < c->top ? TOP : BOTTOM;
    p->place[j] = c->order[j] + (j < c->top ? 0 : (int)c->top);
  }
  merge_lists(c->d, p->place, c->top, p->place + c->top, c->m - c->top, p->merged);
  find_z(p, c);
  settle(p, c);
  place_by_type(p, c);
  const double *settled = save_columns(p, c);
  for (size_t i = 0; i < c->kept; i++) {
    p->pole[i] = c->d[p->kept[i]];
    p->weight[i] = p->z[p->kept[i]];
  }
  if (c->kept > 0 && !find_roots(p, c))
    return 0;
  if (c->kept > 2)
    weights_of_roots(p, c);
  for (size_t j = 0; j < c->kept; j += WIDTH) {
    const size_t width = ke_smaller(WIDTH, c->kept - j);
    ke_check(p->env);
    for (size_t w = 0; w < width; w++)
      make_vector(p, c, j + w);
    multiply(p, c, j, width);
  }
  collect(p, c, settled);
  return 1;
}

static int solve(const problem *p, size_t first, size_t m)
{
  double *q = p->q + first * (p->n + 1);
  if (m <= LEAF) {
    for (size_t i = 0; i < m; i++)
      p->order[first + i] = (int)i;
    return ke_steqr(m, p->d + first, p->e + first, q, p->n, p->strip);
  }
  pair c = {.top = m / 2, .m = m, .ld = p->n, .d = p->d + first, .q = q, .order = p->order + first};
  c.rho = p->e[first + c.top - 1];
  c.d[c.top - 1] -= fabs(c.rho);
  c.d[c.top] -= fabs(c.rho);
  return solve(p, first, c.top) && solve(p, first + c.top, m - c.top) && merge(p, &c);
}

/* Columns and values into their order. */
static void arrange(const problem *p)
{
  for (size_t j = 0; j < p->n; j++) {
    memcpy(p->room + j * p->n, p->q + (size_t)p->order[j] * p->n, p->n * sizeof(double));
    p->root[j] = p->d[p->order[j]];
  }
  memcpy(p->q, p->room, p->n * p->n * sizeof(double));
  memcpy(p->d, p->root, p->n * sizeof(double));
}

static void scale(double *x, size_t n, double by)
{
  for (size_t i = 0; i < n; i++)
    x[i] *= by;
}

int ke_tridiagonal_eigen(size_t n, double *d, double *e, double *q, double *work, int *whole,
                         const ke_env *env)
{
  const problem p = {.n = n,
                     .d = d,
                     .e = e,
                     .q = q,
                     .z = work,
                     .pole = work + n,
                     .weight = work + 2 * n,
                     .root = work + 3 * n,
                     .column = work + 4 * n,
                     .strip = work + 5 * n,
                     .room = work + (5 + WIDTH) * n,
                     .order = whole,
                     .merged = whole + n,
                     .kept = whole + 2 * n,
                     .type = whole + 3 * n,
                     .place = whole + 4 * n,
                     .gone = whole + 5 * n,
                     .env = env};
  const double size = fmax(largest(d, n), largest(e, n - 1));
  double odd = 0.0;
  for (size_t i = 0; i < n; i++)
    odd += (d[i] - d[i]) + (i + 1 < n ? e[i] - e[i] : 0.0);
  if (odd != 0.0)
    return 0;
  memset(q, 0, n * n * sizeof(double));
  if (size > 0.0) {
    scale(d, n, 1.0 / size);
    scale(e, n - 1, 1.0 / size);
  }
  if (!solve(&p, 0, n))
    return 0;
  arrange(&p);
  scale(d, n, size > 0.0 ? size : 1.0);
  return 1;
}
