/* The head of the basis engine when the bodies live elsewhere: every message is a call of an R
 * function, which answers with a list, an element a body in the order of their rows (R/bodies.R).
 */
#include "ffi.h"

#include <string.h>

typedef struct {
  SEXP ask; /* function of a message */
  SEXP box; /* protected: candidates' source, fused answer to a wish, cholesky */
  size_t n;
  ke_basis *head;
  ke_source candidates;
  ke_wish fused; /* the wish that box has the answer to */
  int answered;  /* whether it has */
  size_t *start; /* nodes of the sum of keys: start, tiles, body */
  double *value;
  size_t nodes;
  ffi_mark mark; /* what is allocated beyond it lasts a round: see new_round() */
} remote;

enum { CANDIDATES, FUSED, CHOLESKY, BOXES };

/* What the last round was lent (candidates packed for their kernel, proposals, sums) is not looked
 * at any more, and with many rounds of wide rows it would be far more than the rows themselves. */
static void new_round(const remote *r) { ffi_return_to(r->mark); }

/* ---- messages ---------------------------------------------------------------------------------
 */

static SEXP send(const remote *r, SEXP message)
{
  PROTECT(message);
  SEXP call = PROTECT(Rf_lang2(r->ask, message));
  SEXP answer = Rf_eval(call, R_BaseEnv);
  ffi_assert(TYPEOF(answer) == VECSXP, "answer of the bodies");
  UNPROTECT(2);
  return answer;
}

static void set_number(SEXP list, int at, double value)
{
  SET_VECTOR_ELT(list, at, Rf_ScalarReal(value));
}

static SEXP wish_to_r(const ke_wish *w)
{
  const char *names[] = {"normalised", "floor", "slack",  "noise", "in_order",
                         "most",       "from",  "forced", ""};
  const double value[] = {w->judge.normalised, w->judge.floor,  w->judge.slack,  w->judge.noise,
                          w->in_order,         (double)w->most, (double)w->from, (double)w->forced};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 8; i++)
    set_number(out, i, value[i]);
  UNPROTECT(1);
  return out;
}

/* Nodes of one body onto those of the bodies before it. */
static void add_nodes(ke_ladder *l, SEXP nodes)
{
  size_t count, same, width, columns;
  const size_t *start = ffi_big_sizes(ffi_element(nodes, "start"), &count);
  const size_t *tiles = ffi_big_sizes(ffi_element(nodes, "tiles"), &same);
  const double *value = ffi_matrix(ffi_element(nodes, "value"), &width, &columns, "sums");
  ffi_assert(count == same && count == columns && width == l->width, "sums");
  for (size_t q = 0; q < count; q++) {
    ffi_assert(tiles[q] > 0 && l->count < KE_RUNGS, "sums");
    ke_ladder_add(l, start[q], tiles[q], value + q * width);
  }
}

/* ---- start ------------------------------------------------------------------------------------
 */

static ke_status far_start(void *self, int normalised, ke_start *out, const ke_env *env)
{
  remote *r = (remote *)self;
  const char *names[] = {"kind", "normalised", ""};
  double value[KE_RUNGS], bottom = 0.0;
  ke_ladder trace = ke_new_ladder(1, value);
  (void)env;
  SEXP message = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(message, 0, Rf_mkString("start"));
  SET_VECTOR_ELT(message, 1, Rf_ScalarLogical(normalised));
  SEXP answer = PROTECT(send(r, message));
  memset(out, 0, sizeof *out);
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    SEXP of = VECTOR_ELT(answer, q);
    const double top = ffi_number(of, "top"), low = ffi_number(of, "bottom");
    out->top = top > out->top ? top : out->top;
    bottom = low < bottom ? low : bottom;
    out->counted += ffi_number(of, "counted");
    out->rows += ffi_number(of, "rows");
    out->cost = ffi_number(of, "cost");
    out->cancels = ffi_number(of, "cancels") != 0.0;
    add_nodes(&trace, ffi_element(of, "sums"));
  }
  ke_ladder_total(&trace, &out->trace);
  UNPROTECT(2);
  return bottom < -KE_NEGATIVE * out->top ? KE_INDEFINITE : KE_OK;
}

/* Sums of each body come in blocks of KE_BLOCK rows; those rows that are its own have their
 * inverse there. */
static void far_first(void *self, const size_t *rows, size_t count, double *fitness, double *work,
                      const ke_env *env)
{
  const remote *r = (const remote *)self;
  const char *names[] = {"kind", "index", ""};
  (void)work;
  (void)env;
  SEXP message = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(message, 0, Rf_mkString("first"));
  SET_VECTOR_ELT(message, 1, ffi_big_numbers(rows, count));
  SEXP answer = PROTECT(send(r, message));
  double *value = ffi_doubles(KE_RUNGS * KE_BLOCK);
  for (size_t j = 0; j < count; j += KE_BLOCK) {
    ke_ladder sums = ke_new_ladder(ke_smaller(KE_BLOCK, count - j), value);
    for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
      SEXP of = ffi_element(VECTOR_ELT(answer, q), "sums");
      ffi_assert(TYPEOF(of) == VECSXP && (size_t)XLENGTH(of) > j / KE_BLOCK, "sums");
      add_nodes(&sums, VECTOR_ELT(of, (R_xlen_t)(j / KE_BLOCK)));
    }
    ke_ladder_total(&sums, fitness + j);
  }
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    size_t here;
    const size_t *which = ffi_big_sizes(ffi_element(VECTOR_ELT(answer, q), "which"), &here);
    const double *inverse = ffi_field(VECTOR_ELT(answer, q), "inverse", here);
    for (size_t k = 0; k < here; k++) {
      ffi_assert(which[k] < count, "first");
      fitness[which[k]] *= inverse[k];
    }
  }
  UNPROTECT(2);
}

/* ---- proposals --------------------------------------------------------------------------------
 */

static int same_wish(const ke_wish *a, const ke_wish *b)
{
  return a->judge.floor == b->judge.floor && a->judge.slack == b->judge.slack &&
         a->judge.noise == b->judge.noise && a->in_order == b->in_order && a->most == b->most &&
         a->from == b->from && a->forced == b->forced;
}

/* The answer to a wish: the one that came with the last update, if that asked for the same. */
static SEXP answer_to(remote *r, const ke_wish *wish, const char *kind)
{
  const char *names[] = {"kind", "wish", ""};
  const int known = r->answered && same_wish(wish, &r->fused);
  r->answered = 0;
  r->fused = *wish; /* what the next update shall ask for, but for where to begin */
  if (known)
    return VECTOR_ELT(r->box, FUSED);
  SEXP message = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(message, 0, Rf_mkString(kind));
  SET_VECTOR_ELT(message, 1, wish_to_r(wish));
  SEXP answer = send(r, message);
  SET_VECTOR_ELT(r->box, FUSED, answer);
  UNPROTECT(1);
  return answer;
}

static size_t length_of(SEXP answer, const char *name)
{
  size_t sum = 0;
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++)
    sum += (size_t)Rf_xlength(ffi_element(VECTOR_ELT(answer, q), name));
  return sum;
}

/* The parts of all bodies one after the other: their rows and keys of these names. */
static void join(SEXP answer, const char *rows, const char *keys, size_t *row, double *key)
{
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    size_t count;
    const size_t *of = ffi_big_sizes(ffi_element(VECTOR_ELT(answer, q), rows), &count);
    const double *k = ffi_field(VECTOR_ELT(answer, q), keys, count);
    memcpy(row, of, count * sizeof *row);
    memcpy(key, k, count * sizeof *key);
    row += count;
    key += count;
  }
}

static void far_propose(void *self, const ke_wish *wish, ke_proposal *out, const ke_env *env)
{
  remote *r = (remote *)self;
  (void)env;
  new_round(r);
  SEXP answer = PROTECT(answer_to(r, wish, "propose"));
  out->count = length_of(answer, "row");
  out->steps = length_of(answer, "step_row");
  out->row = ffi_sizes(out->count + out->steps);
  out->key = ffi_doubles(out->count + out->steps);
  r->head->state.keys = ffi_doubles(out->count);
  join(answer, "row", "key", out->row, out->key);
  join(answer, "step_row", "step_key", out->row + out->count, out->key + out->count);
  for (size_t k = 0; k < out->count + out->steps; k++)
    ffi_assert(out->row[k] < r->n, "proposals");
  out->outside = 0.0;
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    const double outside = ffi_number(VECTOR_ELT(answer, q), "outside");
    out->outside = outside > out->outside ? outside : out->outside;
  }
  UNPROTECT(1);
}

/* ---- draws ------------------------------------------------------------------------------------
 */

static double far_weigh(void *self, const ke_judge *judge, const ke_env *env)
{
  remote *r = (remote *)self;
  const ke_wish wish = {*judge, 0, 0, 0, r->n};
  double value[KE_RUNGS], sum;
  ke_ladder sums = ke_new_ladder(1, value);
  (void)env;
  new_round(r);
  SEXP answer = PROTECT(answer_to(r, &wish, "weigh"));
  r->nodes = 0;
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++)
    r->nodes += (size_t)Rf_xlength(ffi_element(VECTOR_ELT(answer, q), "start"));
  r->start = ffi_sizes(r->nodes + 1);
  r->value = ffi_doubles(r->nodes);
  join(answer, "start", "value", r->start, r->value);
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++)
    add_nodes(&sums, VECTOR_ELT(answer, q));
  r->start[r->nodes] = (r->n + KE_TILE - 1) / KE_TILE;
  ffi_assert(r->nodes > 0, "sums");
  ke_ladder_total(&sums, &sum);
  UNPROTECT(1);
  return sum;
}

static void far_find(void *self, const ke_judge *judge, const double *target, size_t count,
                     size_t *row, const ke_env *env)
{
  const remote *r = (const remote *)self;
  const char *names[] = {"kind", "wish", "start", "tiles", "target", ""};
  const ke_nodes nodes = {r->start, r->value, r->nodes};
  const ke_wish wish = {*judge, 0, 0, 0, r->n};
  (void)env;
  SEXP message = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(message, 0, Rf_mkString("find"));
  SET_VECTOR_ELT(message, 1, wish_to_r(&wish));
  for (int i = 2; i < 5; i++)
    SET_VECTOR_ELT(message, i, Rf_allocVector(REALSXP, (R_xlen_t)count));
  for (size_t k = 0; k < count; k++) {
    double left = target[k];
    const size_t at = ke_locate(&nodes, &left);
    REAL(VECTOR_ELT(message, 2))[k] = (double)r->start[at];
    REAL(VECTOR_ELT(message, 3))[k] = (double)(r->start[at + 1] - r->start[at]);
    REAL(VECTOR_ELT(message, 4))[k] = left;
  }
  SEXP answer = PROTECT(send(r, message));
  size_t known = 0;
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    size_t here, same;
    const size_t *which = ffi_big_sizes(ffi_element(VECTOR_ELT(answer, q), "which"), &here);
    const size_t *found = ffi_big_sizes(ffi_element(VECTOR_ELT(answer, q), "row"), &same);
    ffi_assert(here == same, "draws");
    for (size_t k = 0; k < here; k++) {
      ffi_assert(which[k] < count && found[k] < r->n, "draws");
      row[which[k]] = found[k];
    }
    known += here;
  }
  ffi_assert(known == count, "draws");
  UNPROTECT(2);
}

/* ---- candidates ---------------------------------------------------------------------------------
 */

static size_t take_part(ke_pool *pool, size_t size, SEXP part)
{
  size_t here, rows, columns;
  const size_t *which = ffi_big_sizes(ffi_element(part, "which"), &here);
  const double *panel = ffi_matrix(ffi_element(part, "panel"), &rows, &columns, "panel");
  const double *left = ffi_field(part, "left", here), *gained = ffi_field(part, "gained", here),
               *weight = ffi_field(part, "weight", here);
  ffi_assert(rows == here && columns == size, "panel");
  for (size_t k = 0; k < here; k++) {
    const size_t c = which[k];
    ffi_assert(c < pool->count, "candidates");
    pool->left[c] = left[k];
    pool->gained[c] = gained[k];
    pool->weight[c] = weight[k];
    for (size_t l = 0; l < size; l++)
      pool->panel[c + l * pool->most] = panel[k + l * here];
  }
  return here;
}

/* Each body tells of the candidates that are its own; `source` is the kernel between them all. */
static void far_rows(void *self, size_t size, ke_pool *pool, const ke_env *env)
{
  remote *r = (remote *)self;
  const char *names[] = {"kind", "index", "size", ""};
  size_t *number = ffi_sizes(pool->count);
  (void)env;
  SEXP message = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(message, 0, Rf_mkString("rows"));
  SET_VECTOR_ELT(message, 1, ffi_big_numbers(pool->row, pool->count));
  set_number(message, 2, (double)size);
  SEXP answer = PROTECT(send(r, message)), parts = ffi_element(answer, "parts");
  ffi_assert(TYPEOF(parts) == VECSXP, "candidates");
  size_t known = 0;
  for (R_xlen_t q = 0; q < XLENGTH(parts); q++)
    if (Rf_xlength(ffi_element(VECTOR_ELT(parts, q), "which")) > 0)
      known += take_part(pool, size, VECTOR_ELT(parts, q));
  ffi_assert(known == pool->count, "candidates");
  SET_VECTOR_ELT(r->box, CANDIDATES, ffi_element(answer, "source"));
  const ke_status status = ffi_source(VECTOR_ELT(r->box, CANDIDATES), &r->candidates);
  ffi_assert(status == KE_OK && r->candidates.symmetric && r->candidates.n == pool->count,
             "candidates");
  for (size_t c = 0; c < pool->count; c++)
    number[c] = c;
  r->candidates.does->gather(r->candidates.self, KE_CANDIDATES, number, pool->count);
  if (r->fused.in_order)
    r->fused.from = pool->count < r->fused.most ? r->n : (size_t)pool->row[pool->count - 1] + 1;
  r->fused.forced = r->n;
  UNPROTECT(2);
}

static void far_column(void *self, const ke_pool *pool, size_t c, double *out)
{
  const remote *r = (const remote *)self;
  const ke_source *s = &r->candidates;
  s->does->gather(s->self, KE_SINGLE, &c, 1);
  s->does->between(s->self, KE_CANDIDATES, KE_SINGLE, out, pool->most);
}

/* ---- update -------------------------------------------------------------------------------------
 */

/* The picks' rows of the factor, in pick order. */
static SEXP panel_of(const ke_round *round)
{
  const size_t columns = round->size + round->picks;
  SEXP out = Rf_allocMatrix(REALSXP, (int)round->picks, (int)columns);
  for (size_t l = 0; l < columns; l++)
    for (size_t p = 0; p < round->picks; p++)
      REAL(out)
  [p + l * round->picks] = round->panel[round->chosen[p] + l * round->ld];
  return out;
}

static SEXP round_to_r(const remote *r, const ke_round *round)
{
  const char *names[] = {"kind", "size", "index", "panel", "chosen", "wish", "weigh", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, Rf_mkString("update"));
  set_number(out, 1, (double)round->size);
  SET_VECTOR_ELT(out, 2, ffi_big_numbers(round->index, round->picks));
  SET_VECTOR_ELT(out, 3, panel_of(round));
  SET_VECTOR_ELT(out, 4, ffi_row_numbers(round->chosen, round->picks, SIZE_MAX));
  SET_VECTOR_ELT(out, 5, wish_to_r(&r->fused));
  SET_VECTOR_ELT(out, 6, Rf_ScalarLogical(r->fused.most == 0));
  UNPROTECT(1);
  return out;
}

/* Rows of the picks in the factor: old columns as the candidates had them, new ones as the bodies
 * have made them. */
static void keep_cholesky(const remote *r, const ke_round *round, SEXP answer)
{
  SEXP cholesky = VECTOR_ELT(r->box, CHOLESKY);
  const size_t L = (size_t)Rf_nrows(cholesky);
  double *to = REAL(cholesky) + round->size;
  for (size_t p = 0; p < round->picks; p++)
    for (size_t l = 0; l < round->size; l++)
      to[p + l * L] = round->panel[round->chosen[p] + l * round->ld];
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    SEXP own = ffi_element(VECTOR_ELT(answer, q), "own");
    size_t here, rows, columns;
    const size_t *pick = ffi_big_sizes(ffi_element(own, "pick"), &here);
    const double *entries = ffi_matrix(ffi_element(own, "entries"), &rows, &columns, "own");
    ffi_assert(rows == here && columns == round->picks, "own");
    for (size_t k = 0; k < here; k++) {
      ffi_assert(pick[k] < round->picks, "own");
      for (size_t l = 0; l <= pick[k]; l++)
        to[pick[k] + (round->size + l) * L] = entries[k + l * here];
    }
  }
}

static void far_update(void *self, const ke_round *round, ke_pick *path, const ke_env *env)
{
  remote *r = (remote *)self;
  ke_pick extreme[KE_BLOCK];
  ke_totals totals =
      ke_new_totals(round->picks, ffi_doubles(KE_RUNGS * KE_SUMS * round->picks), extreme);
  (void)env;
  SEXP answer = PROTECT(send(r, round_to_r(r, round)));
  SEXP fused = PROTECT(Rf_allocVector(VECSXP, XLENGTH(answer)));
  for (R_xlen_t q = 0; q < XLENGTH(answer); q++) {
    SEXP of = VECTOR_ELT(answer, q);
    const double *best = ffi_field(of, "best", round->picks),
                 *lowest = ffi_field(of, "lowest", round->picks);
    for (size_t l = 0; l < round->picks; l++) {
      const ke_pick tail = {.best = best[l], .lowest = lowest[l]};
      ke_add_extreme(&extreme[l], &tail);
    }
    add_nodes(&totals.sums, ffi_element(of, "sums"));
    SET_VECTOR_ELT(fused, q, ffi_element(of, "proposal"));
  }
  ke_totals_to_path(&totals, round->picks, path);
  keep_cholesky(r, round, answer);
  SET_VECTOR_ELT(r->box, FUSED, fused);
  r->answered = 1;
  UNPROTECT(2);
}

/* ---- the engine
 * ----------------------------------------------------------------------------------- */

/* Room for so many columns; the triangle of the picks is kept here, for no body has all of it. */
static void enlarge(remote *r, size_t capacity)
{
  ke_basis *b = r->head;
  SEXP larger = PROTECT(Rf_allocMatrix(REALSXP, (int)capacity, (int)capacity)),
       old = VECTOR_ELT(r->box, CHOLESKY);
  new_round(r);
  memset(REAL(larger), 0, capacity * capacity * sizeof(double));
  for (size_t l = 0; l < b->size; l++)
    memcpy(REAL(larger) + l * capacity, REAL(old) + l * (size_t)Rf_nrows(old),
           b->size * sizeof(double));
  SET_VECTOR_ELT(r->box, CHOLESKY, larger);
  ffi_head_columns(b, capacity);
  r->mark = ffi_mark_memory();
  UNPROTECT(1);
}

static ke_status run(remote *r, SEXP rule, const ke_env *env)
{
  ke_basis *b = r->head;
  size_t count;
  const size_t *rows = ffi_big_sizes(ffi_element(rule, "first"), &count);
  ke_status status = ke_basis_start(b, env);
  if (status != KE_OK)
    return status;
  ffi_assert(count > 0 || !b->rule->normalised, "first");
  for (size_t j = 0; j < count; j++)
    ffi_assert(rows[j] < r->n, "first");
  ffi_choose_first(b, rows, count, env);
  enlarge(r, ke_smaller(b->limit, 2 * KE_BLOCK));
  while ((status = ke_basis_run(b, env)) == KE_FULL)
    enlarge(r, ke_smaller(b->limit, 2 * b->capacity));
  return status;
}

static SEXP finish(const remote *r)
{
  const size_t L = r->head->size;
  SEXP out = PROTECT(ffi_head_result(r->head)), all = VECTOR_ELT(r->box, CHOLESKY);
  SEXP cholesky = Rf_allocMatrix(REALSXP, (int)L, (int)L);
  SET_VECTOR_ELT(out, 5, cholesky);
  for (size_t l = 0; l < L; l++)
    memcpy(REAL(cholesky) + l * L, REAL(all) + l * (size_t)Rf_nrows(all), L * sizeof(double));
  UNPROTECT(1);
  return out;
}

/* As ffi_basis(), for n rows that `ask` knows of. */
SEXP ffi_bodies(SEXP rule, SEXP n, SEXP ask, SEXP threads)
{
  static const ke_messages does = {far_start, far_first, far_propose, far_weigh,
                                   far_find,  far_rows,  far_column,  far_update};
  ke_env env = ffi_env(threads);
  ffi_show_progress(&env, ffi_element(rule, "verbose"));
  remote *r = (remote *)ffi_alloc(1, sizeof *r);
  memset(r, 0, sizeof *r);
  r->ask = ask;
  r->n = ffi_size(Rf_asReal(n), "rows");
  r->box = PROTECT(Rf_allocVector(VECSXP, BOXES));
  ffi_assert(Rf_isFunction(ask) && r->n >= 1, "bodies");
  const ke_bodies bodies = {&does, r, r->n};
  ke_basis b = ffi_head(bodies, rule);
  r->head = &b;
  r->mark = ffi_mark_memory();
  const int random = b.rule == ke_rule_of(KE_RANDOM);
  if (random)
    GetRNGstate();
  const ke_status status = run(r, rule, &env);
  if (random)
    PutRNGstate();
  SEXP out = status == KE_OK ? finish(r) : ffi_status(status);
  UNPROTECT(1);
  return out;
}
