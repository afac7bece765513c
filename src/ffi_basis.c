#include "ffi.h"

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

/* Rows that stand for the centre, and the source centred on them. */
typedef struct {
  size_t count;
  size_t *rows;
  double *shift, constant;
} centre;

static ke_source centred(const ke_source *inner, centre *c, const ke_env *env)
{
  const size_t n = inner->n;
  c->shift = ffi_doubles(n);
  double *work = ffi_doubles(2 * n + ke_row_sums_work(n, env->threads) + KE_TILE * c->count);
  ke_nearest_to_centre(inner, c->count, c->rows, work, env);
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
static void copy_factor(const ke_basis *b, double *to)
{
  for (size_t l = 0; l < b->size; l++) {
    if (l % 16 == 0)
      R_CheckUserInterrupt();
    memcpy(to + l * b->body.n, b->body.factor + l * b->body.n, b->body.n * sizeof(double));
  }
}

/* Space for `capacity` columns: the factor is an R matrix, so that it can be handed over. It
 * lives in `box`, a protected list of one. */
static void allocate_columns(ke_basis *b, size_t capacity, SEXP box, int threads)
{
  SEXP factor = PROTECT(Rf_allocMatrix(REALSXP, (int)b->body.n, (int)capacity));
  ffi_large_pages(REAL(factor), b->body.n * capacity * sizeof(double));
  copy_factor(b, REAL(factor));
  SET_VECTOR_ELT(box, 0, factor);
  UNPROTECT(1);
  b->body.factor = REAL(factor);
  b->body.capacity = capacity;
  b->pool.panel = ffi_doubles(b->pool.most * capacity);
  b->body.work = ffi_doubles(ke_body_work(capacity, threads));
  if (b->rule->unpivoted)
    allocate_triangle(b, capacity);
}

static void allocate_rows(ke_basis *b)
{
  const size_t n = b->body.n, most = b->pool.most > KE_BLOCK ? b->pool.most : KE_BLOCK;
  b->body.diagonal = ffi_doubles(n);
  b->body.inverse = ffi_doubles(n);
  b->body.weight = ffi_doubles(n);
  b->body.residual = ffi_doubles(n);
  b->state.keys = ffi_doubles(n);
  b->state.sorted = ffi_doubles(n);
  b->index = ffi_sizes(b->limit);
  b->path = (ke_pick *)ffi_lend(b->limit, sizeof(ke_pick));
  b->pool.row = ffi_sizes(most);
  b->state.sequence = ffi_sizes(most);
  b->pool.left = ffi_doubles(most);
  b->pool.gained = ffi_doubles(most);
  b->body.explained = b->rule->normalised ? ffi_doubles(n) : NULL;
  b->pool.chosen = ffi_sizes(KE_BLOCK);
}

/* Columns to start with: all that may come, but not more than a quarter gigabyte unasked. */
static size_t first_capacity(const ke_basis *b, SEXP rule)
{
  const double asked = ffi_number(rule, "columns");
  const size_t modest = ((size_t)1 << 25) / b->body.n, few = 2 * KE_BLOCK;
  return ke_smaller(b->limit, asked > 0 ? (size_t)asked : modest > few ? modest : few);
}

static size_t candidates_for(size_t n, SEXP rule)
{
  const double asked = ffi_number(rule, "candidates");
  const size_t least = method_of(rule) == KE_RANDOM ? KE_PROPOSALS : 1;
  const size_t most = asked >= (double)least ? (size_t)asked
                      : asked > 0            ? least
                                             : KE_CANDIDATES_MAX;
  return ke_smaller(ke_smaller(n, KE_CANDIDATES_MAX), most);
}

static ke_basis engine_for(const ke_source *source, SEXP rule)
{
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.body.source = source;
  b.body.n = source->n;
  b.rule = ke_rule_of(method_of(rule));
  b.limit = (size_t)ffi_number(rule, "limit");
  b.tol = ffi_number(rule, "tol");
  b.threshold = ffi_optional(ffi_element(rule, "threshold"), b.limit + 1, "threshold");
  ffi_assert(b.limit >= 1 && b.limit <= b.body.n, "limit");
  ffi_assert(!b.rule->has_threshold || b.threshold, "threshold");
  b.pool.most = candidates_for(b.body.n, rule);
  b.forced = b.body.n;
  allocate_rows(&b);
  return b;
}

static void choose_first(ke_basis *b, SEXP rule, const ke_env *env)
{
  if (!b->rule->normalised || b->stop != KE_GOES_ON)
    return;
  const size_t spent = ke_row_sums_work(b->body.n, env->threads), block = KE_CHUNK * KE_BLOCK;
  double *work = ffi_doubles(b->body.n + (spent > block ? spent : block));
  SEXP first = ffi_element(rule, "first");
  size_t count = 0;
  const size_t *rows = first == R_NilValue ? NULL : ffi_index(first, b->body.n, &count);
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
    v[l + 3 * L] = p->norm / (double)b->body.n;
  }
  UNPROTECT(1);
  return out;
}

/* Lower triangular L x L: the rows of the factor that belong to the picks. */
static SEXP cholesky_to_r(const ke_basis *b)
{
  const size_t L = b->size;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)L, (int)L));
  for (size_t l = 0; l < L; l++)
    for (size_t i = 0; i < L; i++)
      REAL(out)[i + l * L] = i < l ? 0.0 : b->body.factor[b->index[i] + l * b->body.n];
  UNPROTECT(1);
  return out;
}

static SEXP factor_to_r(const ke_basis *b, SEXP factor)
{
  if (b->size == b->body.capacity)
    return factor;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)b->body.n, (int)b->size));
  ffi_large_pages(REAL(out), b->body.n * b->size * sizeof(double));
  copy_factor(b, REAL(out));
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
  if (c->count == 0)
    return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)b->size + 1);
  for (size_t l = 0; l < b->size; l++)
    REAL(out)[l] = c->shift[b->index[l]];
  REAL(out)[b->size] = c->constant;
  return out;
}

static SEXP result(const ke_basis *b, SEXP factor, const centre *c)
{
  const char *names[] = {"index",   "path",   "cholesky", "factor", "stop",
                         "updates", "lowest", "center",   "shift",  ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_row_numbers(b->index, b->size, b->body.n));
  SET_VECTOR_ELT(out, 1, path_to_r(b));
  SET_VECTOR_ELT(out, 2, cholesky_to_r(b));
  SET_VECTOR_ELT(out, 3, factor == R_NilValue ? factor : factor_to_r(b, factor));
  SET_VECTOR_ELT(out, 4, Rf_mkString(stop_names[b->stop]));
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger((int)b->updates));
  SET_VECTOR_ELT(out, 6, Rf_ScalarReal(lowest_residual(b)));
  SET_VECTOR_ELT(out, 7, ffi_row_numbers(c->rows, c->count, b->body.n));
  SET_VECTOR_ELT(out, 8, shift_to_r(b, c));
  UNPROTECT(1);
  return out;
}

static ke_status run(ke_basis *b, SEXP rule, const ke_env *env, SEXP box)
{
  ke_status status = ke_basis_start(b);
  if (status != KE_OK)
    return status;
  choose_first(b, rule, env);
  allocate_columns(b, first_capacity(b, rule), box, env->threads);
  while ((status = ke_basis_run(b, env)) == KE_FULL)
    allocate_columns(b, ke_smaller(b->limit, 2 * b->body.capacity), box, env->threads);
  return status;
}

/* A list, or the name of a status. */
SEXP ffi_basis(SEXP source, SEXP rule, SEXP keep, SEXP threads)
{
  ke_env env = ffi_env(threads);
  ffi_show_progress(&env, ffi_element(rule, "verbose"));
  ke_source s;
  ke_status status = ffi_source(source, &s);
  if (status != KE_OK)
    return ffi_status(status);
  centre c = {(size_t)ffi_number(rule, "neighbours"), NULL, NULL, 0.0};
  ffi_assert(c.count <= ke_smaller(s.n, KE_BLOCK), "neighbours");
  c.rows = ffi_sizes(c.count);
  if (c.count > 0)
    s = centred(&s, &c, &env);
  ke_basis b = engine_for(&s, rule);
  SEXP box = PROTECT(Rf_allocVector(VECSXP, 1));
  const int random = b.rule == ke_rule_of(KE_RANDOM); /* else R's generator is left alone */
  if (random)
    GetRNGstate();
  status = run(&b, rule, &env, box);
  if (random)
    PutRNGstate();
  SEXP out = status != KE_OK ? ffi_status(status)
                             : result(&b, Rf_asLogical(keep) ? VECTOR_ELT(box, 0) : R_NilValue, &c);
  UNPROTECT(1);
  return out;
}
