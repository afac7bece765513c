#include "ffi.h"

#include <string.h>

static SEXP element(SEXP list, const char *name)
{
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < XLENGTH(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return VECTOR_ELT(list, i);
  return R_NilValue;
}

static double number(SEXP list, const char *name)
{
  SEXP value = element(list, name);
  ffi_assert(Rf_isNumeric(value) && XLENGTH(value) == 1, name);
  return Rf_asReal(value);
}

/* ---- sources --------------------------------------------------------------------------- */

/* data is an R function of two vectors of row numbers that returns a checked matrix */
static void call_block(void *data, const size_t *i, size_t m, const size_t *j, size_t k,
                       double *out, size_t ldo)
{
  SEXP rows = PROTECT(ffi_row_numbers(i, m, SIZE_MAX));
  SEXP cols = PROTECT(ffi_row_numbers(j, k, SIZE_MAX));
  SEXP call = PROTECT(Rf_lang3((SEXP)data, rows, cols));
  SEXP value = PROTECT(Rf_eval(call, R_BaseEnv));
  ffi_assert(TYPEOF(value) == REALSXP && (size_t)XLENGTH(value) == m * k, "kernel block");
  for (size_t q = 0; q < k; q++)
    memcpy(out + q * ldo, REAL(value) + q * m, m * sizeof(double));
  UNPROTECT(4);
}

static ke_source source_from_function(SEXP list)
{
  SEXP f = element(list, "f"), diagonal = element(list, "diagonal");
  ffi_assert(Rf_isFunction(f) && TYPEOF(diagonal) == REALSXP, "kernel function");
  const size_t n = (size_t)XLENGTH(diagonal);
  ke_source s = ke_source_callback(n);
  s.block = call_block;
  s.data = f;
  s.given_diagonal = REAL(diagonal);
  s.row_numbers = ffi_sizes(n);
  for (size_t i = 0; i < n; i++)
    s.row_numbers[i] = i;
  return s;
}

static ke_source source_from_list(SEXP list)
{
  size_t n, m;
  if (element(list, "K") != R_NilValue) {
    const double *K = ffi_matrix(element(list, "K"), &n, &m, "K");
    ffi_assert(n == m, "K");
    return ke_source_matrix(K, n);
  }
  if (element(list, "f") != R_NilValue)
    return source_from_function(list);
  const ke_kernel kernel = ffi_kernel(element(list, "kernel"));
  ke_rows *rows = (ke_rows *)R_alloc(1, sizeof(ke_rows));
  *rows = ffi_rows(element(list, "x"), element(list, "shift"), element(list, "weights"));
  ke_source s = ke_source_data(&kernel, rows);
  s.set[KE_CANDIDATES] = ffi_rows_lend(KE_CANDIDATES_MAX, rows->d);
  s.set[KE_PICKS] = ffi_rows_lend(KE_BLOCK, rows->d);
  s.set[KE_SINGLE] = ffi_rows_lend(1, rows->d);
  return s;
}

/* Rows that stand for the centre, and the source centred on them. */
static ke_source centred(ke_source *inner, size_t neighbours, size_t *rows, const ke_env *env)
{
  const size_t n = inner->n;
  double *shift = ffi_doubles(n);
  double *work = ffi_doubles(2 * n + ke_row_sums_work(n, env->threads) + KE_TILE * neighbours);
  ke_nearest_to_centre(inner, neighbours, rows, work, env);
  const double constant = ke_centre_shift(inner, rows, neighbours, shift, work, env);
  return ke_source_centred(inner, shift, constant);
}

/* ---- the engine ------------------------------------------------------------------------ */

static void lend_triangle(ke_basis *b, size_t capacity)
{
  double *triangle = ffi_doubles(capacity * (capacity + 1) / 2);
  if (b->size > 0)
    memcpy(triangle, b->triangle, b->size * (b->size + 1) / 2 * sizeof(double));
  b->triangle = triangle;
  b->solution = ffi_doubles(capacity);
}

/* The columns made so far, into a matrix whose memory is touched for the first time: slow enough
 * to look at an interrupt on the way. */
static void copy_factor(const ke_basis *b, double *to)
{
  for (size_t l = 0; l < b->size; l++) {
    if (l % 16 == 0)
      R_CheckUserInterrupt();
    memcpy(to + l * b->n, b->factor + l * b->n, b->n * sizeof(double));
  }
}

/* Room for `capacity` columns: the factor is an R matrix, so that it can be handed over. It
 * lives in `box`, a protected list of one. */
static void lend_columns(ke_basis *b, size_t capacity, SEXP box, int threads)
{
  SEXP factor = PROTECT(Rf_allocMatrix(REALSXP, (int)b->n, (int)capacity));
  ffi_large_pages(REAL(factor), b->n * capacity * sizeof(double));
  copy_factor(b, REAL(factor));
  SET_VECTOR_ELT(box, 0, factor);
  UNPROTECT(1);
  b->factor = REAL(factor);
  b->capacity = capacity;
  b->panel = ffi_doubles(b->most * capacity);
  b->work = ffi_doubles(ke_update_work(capacity, threads));
  if (b->rule->unpivoted)
    lend_triangle(b, capacity);
}

static void lend_rows(ke_basis *b)
{
  const size_t n = b->n, most = b->most > KE_BLOCK ? b->most : KE_BLOCK;
  b->diagonal = ffi_doubles(n);
  b->inverse = ffi_doubles(n);
  b->weight = ffi_doubles(n);
  b->residual = ffi_doubles(n);
  b->keys = ffi_doubles(n);
  b->sorted = ffi_doubles(n);
  b->index = ffi_sizes(b->limit);
  b->path = (ke_pick *)ffi_lend(b->limit, sizeof(ke_pick));
  b->candidate = ffi_sizes(most);
  b->sequence = ffi_sizes(most);
  b->left = ffi_doubles(most);
  b->gained = ffi_doubles(most);
  b->explained = b->rule->normalised ? ffi_doubles(n) : NULL;
  b->chosen = ffi_sizes(KE_BLOCK);
}

/* Columns to start with: all that may come, but not more than a quarter gigabyte unasked. */
static size_t first_capacity(const ke_basis *b, SEXP rule)
{
  const double asked = number(rule, "columns");
  const size_t modest = ((size_t)1 << 25) / b->n, few = 2 * KE_BLOCK;
  return ke_smaller(b->limit, asked > 0 ? (size_t)asked : modest > few ? modest : few);
}

static size_t candidates_for(size_t n, SEXP rule)
{
  const double asked = number(rule, "candidates");
  const size_t least = (ke_method)number(rule, "method") == KE_RANDOM ? KE_PROPOSALS : 1;
  const size_t most = asked >= (double)least ? (size_t)asked
                      : asked > 0            ? least
                                             : KE_CANDIDATES_MAX;
  return ke_smaller(ke_smaller(n, KE_CANDIDATES_MAX), most);
}

static ke_basis engine_for(ke_source *source, SEXP rule)
{
  ke_basis b;
  memset(&b, 0, sizeof b);
  b.source = source;
  b.n = source->n;
  b.rule = ke_rule_of((ke_method)number(rule, "method"));
  b.limit = (size_t)number(rule, "limit");
  b.tol = number(rule, "tol");
  b.threshold = ffi_optional(element(rule, "threshold"), b.limit + 1, "threshold");
  ffi_assert(b.limit >= 1 && b.limit <= b.n, "limit");
  ffi_assert(!b.rule->has_threshold || b.threshold, "threshold");
  b.most = candidates_for(b.n, rule);
  b.forced = b.n;
  lend_rows(&b);
  return b;
}

static void choose_first(ke_basis *b, SEXP rule, const ke_env *env)
{
  if (!b->rule->normalised || b->stop != KE_GOES_ON)
    return;
  const size_t spent = ke_row_sums_work(b->n, env->threads), block = KE_CHUNK * KE_BLOCK;
  double *work = ffi_doubles(b->n + (spent > block ? spent : block));
  SEXP first = element(rule, "first");
  size_t count = 0;
  const size_t *rows = first == R_NilValue ? NULL : ffi_index(first, b->n, &count);
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
    v[l + L] = 1.0 - p->scaled / b->counted;
    v[l + 2 * L] = p->trace / b->trace;
    v[l + 3 * L] = p->norm / (double)b->n;
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
      REAL(out)[i + l * L] = i < l ? 0.0 : b->factor[b->index[i] + l * b->n];
  UNPROTECT(1);
  return out;
}

static SEXP factor_to_r(const ke_basis *b, SEXP factor)
{
  if (b->size == b->capacity)
    return factor;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)b->n, (int)b->size));
  ffi_large_pages(REAL(out), b->n * b->size * sizeof(double));
  copy_factor(b, REAL(out));
  UNPROTECT(1);
  return out;
}

static double lowest_residual(const ke_basis *b)
{
  double low = 0.0;
  for (size_t l = 0; l < b->size; l++)
    low = b->path[l].lowest < low ? b->path[l].lowest : low;
  return b->top > 0.0 ? low / b->top : low;
}

/* What prediction needs of a centred source: its shift at the picks, then its constant. */
static SEXP shift_to_r(const ke_basis *b)
{
  const ke_source *s = b->source;
  if (!s->shift)
    return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)b->size + 1);
  for (size_t l = 0; l < b->size; l++)
    REAL(out)[l] = s->shift[b->index[l]];
  REAL(out)[b->size] = s->constant;
  return out;
}

static SEXP result(const ke_basis *b, SEXP factor, const size_t *centre, size_t neighbours)
{
  const char *names[] = {"index",   "path",   "cholesky", "factor", "stop",
                         "updates", "lowest", "center",   "shift",  ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_row_numbers(b->index, b->size, b->n));
  SET_VECTOR_ELT(out, 1, path_to_r(b));
  SET_VECTOR_ELT(out, 2, cholesky_to_r(b));
  SET_VECTOR_ELT(out, 3, factor == R_NilValue ? factor : factor_to_r(b, factor));
  SET_VECTOR_ELT(out, 4, Rf_ScalarInteger(b->stop));
  SET_VECTOR_ELT(out, 5, Rf_ScalarInteger((int)b->updates));
  SET_VECTOR_ELT(out, 6, Rf_ScalarReal(lowest_residual(b)));
  SET_VECTOR_ELT(out, 7, ffi_row_numbers(centre, neighbours, b->n));
  SET_VECTOR_ELT(out, 8, shift_to_r(b));
  UNPROTECT(1);
  return out;
}

static ke_status run(ke_basis *b, SEXP rule, const ke_env *env, SEXP box)
{
  ke_status status = ke_basis_start(b);
  if (status != KE_OK)
    return status;
  choose_first(b, rule, env);
  lend_columns(b, first_capacity(b, rule), box, env->threads);
  while ((status = ke_basis_run(b, env)) == KE_FULL)
    lend_columns(b, ke_smaller(b->limit, 2 * b->capacity), box, env->threads);
  return status;
}

/* A list, or the status as a number when there is no basis: the R side has the words. */
SEXP ffi_basis(SEXP source, SEXP rule, SEXP keep, SEXP threads)
{
  ke_env env = ffi_env(threads);
  ffi_show_progress(&env, element(rule, "verbose"));
  ke_source plain = source_from_list(source), shifted;
  if (plain.rows && !ffi_within_range(&plain.kernel, plain.rows))
    return Rf_ScalarInteger(KE_NOT_FINITE);
  const size_t neighbours = (size_t)number(rule, "neighbours");
  ffi_assert(neighbours <= ke_smaller(plain.n, KE_BLOCK), "neighbours");
  size_t *centre = ffi_sizes(neighbours);
  if (neighbours > 0)
    shifted = centred(&plain, neighbours, centre, &env);
  ke_basis b = engine_for(neighbours > 0 ? &shifted : &plain, rule);
  SEXP box = PROTECT(Rf_allocVector(VECSXP, 1));
  const int random = b.rule == ke_rule_of(KE_RANDOM); /* else R's generator is left alone */
  if (random)
    GetRNGstate();
  const ke_status status = run(&b, rule, &env, box);
  if (random)
    PutRNGstate();
  SEXP out = status != KE_OK ? Rf_ScalarInteger(status)
                             : result(&b, Rf_asLogical(keep) ? VECTOR_ELT(box, 0) : R_NilValue,
                                      centre, neighbours);
  UNPROTECT(1);
  return out;
}
