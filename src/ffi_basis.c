#include "ffi.h"

#include <stdlib.h>
#include <string.h>

static const char *const stop_names[] = {[KE_GOES_ON] = "none",
                                         [KE_STOP_RANK] = "rank",
                                         [KE_STOP_TOL] = "tol",
                                         [KE_STOP_THRESHOLD] = "threshold",
                                         [KE_STOP_SIZE] = "size"};

static ke_method method_of(SEXP rule)
{
  static const char *const names[] = {
      [KE_FVS] = "fvs", [KE_CHOLESKY] = "cholesky", [KE_KOBL] = "kobl",
      [KE_KGS] = "kgs", [KE_RANDOM] = "random",     NULL};
  return (ke_method)ffi_choice(ffi_element(rule, "method"), names, "method");
}

/* How often each row counts, or NULL. */
static const double *times_of(SEXP rule, size_t n)
{
  return ffi_optional(ffi_element(rule, "times"), n, "times");
}

/* Rows that stand for the centre, and the source centred on them. */
typedef struct {
  size_t count;
  size_t *rows;
  double *shift, constant;
} centre;

static ke_source centred(const ke_source *inner, const double *times, centre *c, const ke_env *env)
{
  const size_t n = inner->n;
  c->shift = ffi_doubles(n);
  double *work = ffi_doubles(2 * n + ke_row_sums_work(n, env->threads) + KE_TILE * c->count);
  ke_nearest_to_centre(inner, times, c->count, c->rows, work, env);
  c->constant = ke_centre_shift(inner, c->rows, c->count, c->shift, work, env);
  return ke_source_centred(inner, c->shift, c->constant, ffi_doubles(ke_source_centred_state()));
}

/* ---- the engine ------------------------------------------------------------------------ */

static void allocate_triangle(ke_basis *b, size_t capacity)
{
  double *triangle = ffi_doubles(capacity * (capacity + 1) / 2);
  if (b->size > 0)
    memcpy(triangle, b->state.triangle, b->size * (b->size + 1) / 2 * sizeof(double));
  b->state.triangle = triangle;
  b->state.solution = ffi_doubles(capacity);
}

/* The columns made so far, into a matrix whose memory is touched for the first time: slow enough
 * to look at an interrupt on the way. */
static void copy_factor(const ke_body *body, size_t size, double *to)
{
  for (size_t l = 0; l < size; l++) {
    if (l % 16 == 0)
      R_CheckUserInterrupt();
    memcpy(to + l * body->n, body->factor + l * body->n, body->n * sizeof(double));
  }
}

/* Where the factor lives. One that will be handed over is an R matrix in `box`, a protected list of
 * one; any other is borrowed. */
typedef struct {
  SEXP box;
  int handed_over;
  void *own;
} factor_home;

#define LINE 64 /* bytes of a line of cache, at which memory begins */

static double *next_line(void *memory)
{
  const size_t beyond = (size_t)memory % LINE;
  return (double *)(void *)((char *)memory + (LINE - beyond) % LINE);
}

/* NULL: R is to be asked, who knows what is too much. */
static void *borrow_columns(size_t n, size_t capacity)
{
  const int few = capacity <= (PTRDIFF_MAX - LINE) / sizeof(double) / n;
  return few ? ffi_borrow(n * capacity * sizeof(double) + LINE) : NULL;
}

/* Space for `capacity` columns. */
static void allocate_columns(ke_basis *b, size_t capacity, factor_home *home, int threads)
{
  ke_body *body = &((ke_one_body *)b->bodies.self)->body;
  const size_t bytes = body->n * capacity * sizeof(double);
  void *own = home->handed_over ? NULL : borrow_columns(body->n, capacity);
  SEXP factor = PROTECT(own ? R_NilValue : Rf_allocMatrix(REALSXP, (int)body->n, (int)capacity));
  double *values = own ? next_line(own) : REAL(factor);
  ffi_large_pages(values, bytes);
  copy_factor(body, b->size, values);
  SET_VECTOR_ELT(home->box, 0, factor);
  UNPROTECT(1);
  ffi_give_back(home->own);
  home->own = own;
  body->factor = values;
  body->capacity = capacity;
  body->work = ffi_doubles(ke_body_work(capacity, threads));
  ffi_head_columns(b, capacity);
}

static void allocate_rows(ke_body *body, int normalised)
{
  const size_t n = body->n;
  body->diagonal = ffi_doubles(n);
  body->inverse = ffi_doubles(n);
  body->weight = ffi_doubles(n);
  body->residual = ffi_doubles(n);
  body->keys = ffi_doubles(n);
  body->sorted = ffi_doubles(n);
  body->explained = normalised ? ffi_doubles(n) : NULL;
}

static ke_one_body *one_body(const ke_source *source, int normalised)
{
  ke_one_body *one = (ke_one_body *)ffi_alloc(1, sizeof *one);
  memset(one, 0, sizeof *one);
  one->body.source = source;
  one->body.n = source->n;
  allocate_rows(&one->body, normalised);
  one->sums = ffi_doubles(KE_RUNGS * KE_SUMS * KE_BLOCK);
  one->extreme = (ke_pick *)ffi_alloc(KE_BLOCK, sizeof(ke_pick));
  return one;
}

/* ---- the head --------------------------------------------------------------------------- */

/* The panel of candidates, and the triangle of a rule that wants one. */
void ffi_head_columns(ke_basis *b, size_t capacity)
{
  b->capacity = capacity;
  b->pool.panel = ffi_doubles(b->pool.most * capacity);
  if (b->rule->unpivoted)
    allocate_triangle(b, capacity);
}

static void allocate_head(ke_basis *b)
{
  const size_t most = b->pool.most > KE_BLOCK ? b->pool.most : KE_BLOCK;
  b->index = ffi_sizes(b->limit);
  b->path = (ke_pick *)ffi_alloc(b->limit, sizeof(ke_pick));
  b->pool.row = ffi_sizes(most);
  b->state.sequence = ffi_sizes(most);
  b->state.before = ffi_doubles(most);
  b->pool.left = ffi_doubles(most);
  b->pool.gained = ffi_doubles(most);
  b->pool.weight = ffi_doubles(most);
  b->pool.chosen = ffi_sizes(KE_BLOCK);
}

/* Whether the system would give as much now. */
static int is_there(size_t bytes)
{
  void *volatile memory = malloc(bytes); /* else compilers take it for granted */
  free(memory);
  return memory != NULL;
}

/* Columns to start with: all that may come, but not more than two gigabytes unasked, nor than there
 * are. What is not used is not touched, and costs nothing; to move columns into a larger factor
 * does. */
static size_t first_capacity(const ke_basis *b, SEXP rule)
{
  const double asked = ffi_number(rule, "columns");
  const size_t n = b->bodies.n, few = ke_smaller(b->limit, 2 * KE_BLOCK);
  size_t columns = ke_smaller(b->limit, ((size_t)1 << 28) / n);
  if (asked > 0)
    return ke_smaller(b->limit, ffi_size(asked, "columns"));
  while (columns > few && !is_there(n * columns * sizeof(double)))
    columns /= 4;
  return columns > few ? columns : few;
}

/* The more candidates, the fewer rounds over all rows: of many rows a hundredth earn their cost. */
static size_t candidates_for(size_t n, SEXP rule)
{
  const double asked = ffi_number(rule, "candidates");
  const size_t least = method_of(rule) == KE_RANDOM ? KE_PROPOSALS : 1;
  const size_t most = asked >= (double)least ? ffi_size(asked, "candidates")
                      : asked > 0            ? least
                      : n < 25600            ? 256
                                             : n / 100;
  return ke_smaller(ke_smaller(n, KE_CANDIDATES_MAX), most);
}

ke_basis ffi_head(ke_bodies bodies, SEXP rule)
{
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.bodies = bodies;
  b.rule = ke_rule_of(method_of(rule));
  b.limit = ffi_count(rule, "limit");
  b.tol = ffi_number(rule, "tol");
  b.threshold = ffi_optional(ffi_element(rule, "threshold"), b.limit + 1, "threshold");
  ffi_assert(b.limit >= 1 && b.limit <= bodies.n, "limit");
  ffi_assert(!b.rule->has_threshold || b.threshold, "threshold");
  b.pool.most = candidates_for(bodies.n, rule);
  b.forced = bodies.n;
  allocate_head(&b);
  return b;
}

/* Proposals of one body are in its own work space, all but the row numbers. */
static ke_basis engine_for(const ke_source *source, SEXP rule)
{
  const ke_rule *of = ke_rule_of(method_of(rule));
  ke_one_body *one = one_body(source, of->normalised);
  one->body.times = times_of(rule, source->n);
  ke_basis b = ffi_head(ke_bodies_one(one), rule);
  b.state.keys = one->body.keys;
  b.state.proposed.key = one->body.sorted;
  b.state.proposed.row = ffi_sizes(source->n);
  return b;
}

/* Among rows[0..count), or all (NULL). */
void ffi_choose_first(ke_basis *b, const size_t *rows, size_t count, const ke_env *env)
{
  const size_t n = b->bodies.n;
  if (!b->rule->normalised || b->stop != KE_GOES_ON)
    return;
  const size_t spent = ke_row_sums_work(rows ? 0 : n, env->threads),
               block = ke_fitness_work(env->threads);
  double *work = ffi_doubles((rows ? count : n) + (spent > block ? spent : block));
  b->forced = ke_first_fvs(b, rows, count, work, env);
}

/* ---- results ------------------------------------------------------------------------------ */

/* Columns pivot, fitness, trace, cost of the path, as documented for users. */
static SEXP path_to_r(const ke_basis *b)
{
  const size_t L = b->size;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)L, 4));
  double *v = REAL(out);
  for (size_t l = 0; l < L; l++) {
    const ke_pick *p = &b->path[l];
    v[l] = p->pivot;
    v[l + L] = 1.0 - p->scaled / b->start.counted;
    v[l + 2 * L] = p->trace / b->start.trace;
    v[l + 3 * L] = p->norm / b->start.rows;
  }
  UNPROTECT(1);
  return out;
}

/* Lower triangular L x L: the rows of the factor that belong to the picks. */
static SEXP cholesky_to_r(const ke_basis *b)
{
  const ke_body *body = &((const ke_one_body *)b->bodies.self)->body;
  const size_t L = b->size;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)L, (int)L));
  for (size_t l = 0; l < L; l++)
    for (size_t i = 0; i < L; i++)
      REAL(out)[i + l * L] = i < l ? 0.0 : body->factor[b->index[i] + l * body->n];
  UNPROTECT(1);
  return out;
}

static SEXP factor_to_r(const ke_basis *b, SEXP factor)
{
  const ke_body *body = &((const ke_one_body *)b->bodies.self)->body;
  if (b->size == body->capacity)
    return factor;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)body->n, (int)b->size));
  ffi_large_pages(REAL(out), body->n * b->size * sizeof(double));
  copy_factor(body, b->size, REAL(out));
  UNPROTECT(1);
  return out;
}

static double lowest_residual(const ke_basis *b)
{
  double low = 0.0;
  for (size_t l = 0; l < b->size; l++)
    low = b->path[l].lowest < low ? b->path[l].lowest : low;
  return b->start.top > 0.0 ? low / b->start.top : low;
}

/* What prediction needs of a centred source: its shift at the picks, then its constant. */
static SEXP shift_to_r(const ke_basis *b, const centre *c)
{
  if (!c->shift)
    return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)b->size + 1);
  for (size_t l = 0; l < b->size; l++)
    REAL(out)[l] = c->shift[b->index[l]];
  REAL(out)[b->size] = c->constant;
  return out;
}

/* What the head alone knows; the other elements are NULL. */
SEXP ffi_head_result(const ke_basis *b)
{
  const char *names[] = {"index",    "path",   "stop",   "updates", "lowest",
                         "cholesky", "factor", "center", "shift",   ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_row_numbers(b->index, b->size, b->bodies.n));
  SET_VECTOR_ELT(out, 1, path_to_r(b));
  SET_VECTOR_ELT(out, 2, Rf_mkString(stop_names[b->stop]));
  SET_VECTOR_ELT(out, 3, Rf_ScalarInteger((int)b->updates));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal(lowest_residual(b)));
  UNPROTECT(1);
  return out;
}

static SEXP result(const ke_basis *b, SEXP factor, const centre *c)
{
  SEXP out = PROTECT(ffi_head_result(b));
  SET_VECTOR_ELT(out, 5, cholesky_to_r(b));
  SET_VECTOR_ELT(out, 6, factor == R_NilValue ? factor : factor_to_r(b, factor));
  SET_VECTOR_ELT(out, 7, ffi_row_numbers(c->rows, c->count, b->bodies.n));
  SET_VECTOR_ELT(out, 8, shift_to_r(b, c));
  UNPROTECT(1);
  return out;
}

static ke_status run(ke_basis *b, SEXP rule, const ke_env *env, factor_home *home)
{
  ke_status status = ke_basis_start(b, env);
  if (status != KE_OK)
    return status;
  SEXP first = ffi_element(rule, "first");
  size_t count = 0;
  const size_t *rows = first == R_NilValue ? NULL : ffi_index(first, b->bodies.n, &count);
  ffi_choose_first(b, rows, count, env);
  allocate_columns(b, first_capacity(b, rule), home, env->threads);
  while ((status = ke_basis_run(b, env)) == KE_FULL)
    allocate_columns(b, ke_smaller(b->limit, 2 * b->capacity), home, env->threads);
  return status;
}

static SEXP basis_in(factor_home *home, SEXP source, SEXP rule, SEXP threads)
{
  ke_env env = ffi_env(threads);
  ffi_show_progress(&env, ffi_element(rule, "verbose"));
  ke_source s;
  ke_status status = ffi_source(source, &s);
  if (status != KE_OK)
    return ffi_status(status);
  centre c = {ffi_count(rule, "neighbours"), NULL, NULL, 0.0};
  ffi_assert(c.count <= ke_smaller(s.n, KE_BLOCK), "neighbours");
  c.rows = ffi_sizes(c.count);
  if (c.count > 0)
    s = centred(&s, times_of(rule, s.n), &c, &env);
  ke_basis b = engine_for(&s, rule);
  const int random = b.rule == ke_rule_of(KE_RANDOM); /* else R's generator is left alone */
  if (random)
    GetRNGstate();
  status = run(&b, rule, &env, home);
  if (random)
    PutRNGstate();
  if (status != KE_OK)
    return ffi_status(status);
  return result(&b, home->handed_over ? VECTOR_ELT(home->box, 0) : R_NilValue, &c);
}

/* A list, or the name of a status. */
SEXP ffi_basis(SEXP source, SEXP rule, SEXP keep, SEXP threads)
{
  factor_home home = {PROTECT(Rf_allocVector(VECSXP, 1)), Rf_asLogical(keep), NULL};
  SEXP out = basis_in(&home, source, rule, threads);
  UNPROTECT(1);
  return out;
}
