/* A body of rows whose arrays R holds: a list of vectors, and the factor. They belong to one body
 * alone and are changed in place. Row numbers are doubles from 0. */
#include "ffi.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers and nodes ------------------------------------------------------------------ */

SEXP ffi_big_numbers(const size_t *from, size_t count)
{
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)count);
  for (size_t i = 0; i < count; i++)
    REAL(out)[i] = (double)from[i];
  return out;
}

size_t *ffi_big_sizes(SEXP from, size_t *count)
{
  ffi_assert(TYPEOF(from) == REALSXP, "numbers");
  *count = (size_t)XLENGTH(from);
  size_t *out = ffi_sizes(*count);
  for (size_t i = 0; i < *count; i++)
    out[i] = ffi_size(REAL(from)[i], "numbers");
  return out;
}

static ke_ladder new_ladder(size_t width)
{
  return ke_new_ladder(width, ffi_doubles(KE_RUNGS * width));
}

/* start, tiles and the sums, a column a node. */
static SEXP nodes_to_r(const ke_ladder *l)
{
  const char *names[] = {"start", "tiles", "value", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_big_numbers(l->start, l->count));
  SET_VECTOR_ELT(out, 1, ffi_big_numbers(l->tiles, l->count));
  SEXP value = Rf_allocMatrix(REALSXP, (int)l->width, (int)l->count);
  SET_VECTOR_ELT(out, 2, value);
  memcpy(REAL(value), l->value, l->width * l->count * sizeof(double));
  UNPROTECT(1);
  return out;
}

/* ---- the body ------------------------------------------------------------------------------ */

static double *part_of(SEXP state, const char *name, size_t n)
{
  SEXP part = ffi_element(state, name);
  if (part == R_NilValue)
    return NULL;
  ffi_assert(TYPEOF(part) == REALSXP && (size_t)XLENGTH(part) == n, name);
  return REAL(part);
}

/* A body of `n` rows; `where` says which rows of how many, and how often they count. */
static ke_body body_at(size_t n, SEXP where)
{
  ke_body b;
  memset(&b, 0, sizeof b);
  b.n = n;
  b.first = ffi_count(where, "first");
  b.whole = ffi_count(where, "whole");
  b.times = ffi_optional(ffi_element(where, "times"), n, "times");
  ffi_assert(b.first % KE_TILE == 0 && b.first + n <= b.whole, "rows of a body");
  b.keys = ffi_doubles(n);
  b.sorted = ffi_doubles(n);
  return b;
}

static ke_body body_of(SEXP state, SEXP where)
{
  const size_t n = (size_t)Rf_xlength(ffi_element(state, "residual"));
  ke_body b = body_at(n, where);
  b.inverse = part_of(state, "inverse", n);
  b.weight = part_of(state, "weight", n);
  b.residual = part_of(state, "residual", n);
  b.explained = part_of(state, "explained", n);
  ffi_assert(b.inverse && b.weight && b.residual, "state");
  return b;
}

/* A factor is n x capacity in numbers that may be more: bodies take turns with them. */
static void attach_factor(ke_body *b, SEXP factor)
{
  if (factor == R_NilValue)
    return;
  ffi_assert(TYPEOF(factor) == REALSXP && b->n > 0, "factor");
  b->factor = REAL(factor);
  b->capacity = (size_t)XLENGTH(factor) / b->n;
}

/* Rows of other bodies, ready to be a set of this one's source: packed, or known to its function
 * by the numbers that follow those of its own. */
typedef struct {
  int packed;
  ke_rows rows;
  size_t *number;
} guests;

static guests guests_of(SEXP source, SEXP x, size_t n)
{
  size_t count, d;
  guests g;
  memset(&g, 0, sizeof g);
  ffi_matrix(x, &count, &d, "x");
  g.packed = ffi_element(source, "f") == R_NilValue;
  SEXP own = ffi_element(source, "x");
  ffi_assert(!g.packed || (!ffi_is_sparse(own) && ffi_width(own) == d), "columns of guests");
  g.number = ffi_sizes(count);
  for (size_t i = 0; i < count; i++)
    g.number[i] = g.packed ? i : n + i;
  if (g.packed) {
    const ke_kernel kernel = ffi_kernel(ffi_element(source, "kernel"), d);
    g.rows = ffi_rows_for(x, ffi_element(source, "shift"), &kernel);
  }
  return g;
}

static void host(ke_source *s, const guests *g, size_t from, size_t m)
{
  if (g->packed)
    ke_source_host(s, KE_PICKS, &g->rows, g->number + from, m);
  else
    s->does->gather(s->self, KE_PICKS, g->number + from, m);
}

/* ---- start --------------------------------------------------------------------------------- */

static double *add_vector(SEXP state, int at, size_t n)
{
  SEXP v = Rf_allocVector(REALSXP, (R_xlen_t)n);
  SET_VECTOR_ELT(state, at, v);
  return REAL(v);
}

static SEXP begun(const ke_beginning *begin, const ke_source *s, SEXP state)
{
  const char *names[] = {"state", "top",     "bottom", "counted", "rows",
                         "cost",  "cancels", "sums",   ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, state);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(begin->top));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(begin->bottom));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(begin->counted));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal(begin->rows));
  SET_VECTOR_ELT(out, 5, Rf_ScalarReal(s->cost));
  SET_VECTOR_ELT(out, 6, Rf_ScalarReal(s->cancels));
  SET_VECTOR_ELT(out, 7, nodes_to_r(&begin->trace));
  UNPROTECT(1);
  return out;
}

/* The state of a new body and what it tells of its rows, or the name of a status. */
SEXP ffi_body_start(SEXP source, SEXP where, SEXP normalised)
{
  const char *names[] = {"inverse", "weight", "residual", "explained", ""};
  ke_source s;
  ke_status status = ffi_source(source, &s);
  if (status != KE_OK)
    return ffi_status(status);
  ke_body b = body_at(s.n, where);
  SEXP state = PROTECT(Rf_mkNamed(VECSXP, names));
  b.source = &s;
  b.diagonal = ffi_doubles(s.n);
  b.inverse = add_vector(state, 0, s.n);
  b.weight = add_vector(state, 1, s.n);
  b.residual = add_vector(state, 2, s.n);
  b.explained = Rf_asLogical(normalised) ? add_vector(state, 3, s.n) : NULL;
  ke_beginning begin = {.trace = new_ladder(1)};
  status = ke_body_start(&b, Rf_asLogical(normalised), &begin);
  SEXP out = status == KE_OK ? begun(&begin, &s, state) : ffi_status(status);
  UNPROTECT(1);
  return out;
}

/* Sums of squared kernel values with the rows x, as the first pick of fvs wants them: a list of
 * nodes for each KE_BLOCK of them. */
SEXP ffi_body_fitness(SEXP source, SEXP state, SEXP where, SEXP x, SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_source s;
  const ke_status status = ffi_source(source, &s);
  ffi_assert(status == KE_OK, "rows of a body");
  ke_body b = body_of(state, where);
  ffi_assert(s.symmetric && s.n == b.n, "rows of a body");
  b.source = &s;
  const guests g = guests_of(source, x, b.n);
  const size_t count = (size_t)Rf_nrows(x), blocks = (count + KE_BLOCK - 1) / KE_BLOCK;
  double *work = ffi_doubles(ke_fitness_work(env.threads));
  SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)blocks));
  for (size_t q = 0; q < blocks; q++) {
    const size_t m = ke_smaller(KE_BLOCK, count - q * KE_BLOCK);
    ke_ladder sums = new_ladder(m);
    host(&s, &g, q * KE_BLOCK, m);
    ke_body_fitness(&b, m, KE_TILE, &sums, NULL, work, &env);
    SET_VECTOR_ELT(out, (R_xlen_t)q, nodes_to_r(&sums));
  }
  UNPROTECT(1);
  return out;
}

/* ---- proposals ------------------------------------------------------------------------------ */

static ke_judge judge_of(SEXP wish)
{
  const ke_judge judge = {(int)ffi_number(wish, "normalised"), ffi_number(wish, "floor"),
                          ffi_number(wish, "slack"), ffi_number(wish, "noise")};
  return judge;
}

static SEXP proposal_to_r(const ke_proposal *p)
{
  const char *names[] = {"row", "key", "step_row", "step_key", "outside", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_big_numbers(p->row, p->count));
  SET_VECTOR_ELT(out, 1, ffi_vector(p->key, p->count));
  SET_VECTOR_ELT(out, 2, ffi_big_numbers(p->row + p->count, p->steps));
  SET_VECTOR_ELT(out, 3, ffi_vector(p->key + p->count, p->steps));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal(p->outside));
  UNPROTECT(1);
  return out;
}

SEXP ffi_body_propose(SEXP state, SEXP where, SEXP wish)
{
  const ke_body b = body_of(state, where);
  const ke_wish w = {judge_of(wish), (int)ffi_number(wish, "in_order"), ffi_count(wish, "most"),
                     ffi_count(wish, "from"), ffi_count(wish, "forced")};
  ke_proposal p = {.row = ffi_sizes(b.n), .key = b.sorted};
  ke_body_propose(&b, &w, &p);
  return proposal_to_r(&p);
}

/* Nodes of the sum of keys. */
SEXP ffi_body_weigh(SEXP state, SEXP where, SEXP wish)
{
  const ke_body b = body_of(state, where);
  const ke_judge judge = judge_of(wish);
  ke_ladder sums = new_ladder(1);
  ke_body_weigh(&b, &judge, &sums);
  return nodes_to_r(&sums);
}

/* The rows at which the running sums of keys in these nodes exceed the targets. */
SEXP ffi_body_find(SEXP state, SEXP where, SEXP wish, SEXP nodes)
{
  const ke_body b = body_of(state, where);
  const ke_judge judge = judge_of(wish);
  size_t count, same;
  const size_t *start = ffi_big_sizes(ffi_element(nodes, "start"), &count);
  const size_t *tiles = ffi_big_sizes(ffi_element(nodes, "tiles"), &same);
  const double *target = ffi_optional(ffi_element(nodes, "target"), count, "target");
  ffi_assert(count == same && (count == 0 || target), "nodes");
  ke_ladder sums = new_ladder(1);
  ke_body_weigh(&b, &judge, &sums);
  size_t *row = ffi_sizes(count);
  for (size_t k = 0; k < count; k++) {
    const size_t origin = b.first / KE_TILE;
    ffi_assert(start[k] >= origin && start[k] - origin + tiles[k] <= ke_body_tiles(&b), "nodes");
    row[k] = ke_body_find(&b, &judge, start[k], tiles[k], target[k]);
  }
  return ffi_big_numbers(row, count);
}

/* Rows of a body: their rows of the factor, residuals, what is explained, weights. */
SEXP ffi_body_rows(SEXP state, SEXP factor, SEXP where, SEXP index, SEXP size)
{
  const char *names[] = {"panel", "left", "gained", "weight", ""};
  size_t count;
  ke_body b = body_of(state, where);
  const size_t *row = ffi_big_sizes(index, &count), L = ffi_size(Rf_asReal(size), "size");
  attach_factor(&b, factor);
  ffi_assert(b.weight && L <= b.capacity, "weight and size");
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP panel = Rf_allocMatrix(REALSXP, (int)count, (int)L);
  SET_VECTOR_ELT(out, 0, panel);
  double *left = add_vector(out, 1, count), *gained = add_vector(out, 2, count);
  double *weight = add_vector(out, 3, count);
  for (size_t c = 0; c < count; c++) {
    ffi_assert(row[c] >= b.first && row[c] - b.first < b.n, "rows");
    weight[c] = b.weight[row[c] - b.first];
  }
  ke_body_rows(&b, row, count, L, REAL(panel), count, left, gained);
  UNPROTECT(1);
  return out;
}

/* ---- update ---------------------------------------------------------------------------------- */

/* Entries of the picks that are here in the new columns: their places among the picks, and a row
 * of entries each. */
static SEXP own_entries(const ke_body *b, const ke_round *r)
{
  const char *names[] = {"pick", "entries", ""};
  size_t *here = ffi_sizes(r->picks), count = 0;
  for (size_t p = 0; p < r->picks; p++)
    if (r->index[p] - b->first < b->n)
      here[count++] = p;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, ffi_big_numbers(here, count));
  SEXP entries = Rf_allocMatrix(REALSXP, (int)count, (int)r->picks);
  SET_VECTOR_ELT(out, 1, entries);
  for (size_t l = 0; l < r->picks; l++)
    for (size_t c = 0; c < count; c++)
      REAL(entries)
  [c + l * count] = b->factor[r->index[here[c]] - b->first + (r->size + l) * b->n];
  UNPROTECT(1);
  return out;
}

static SEXP totals_to_r(const ke_totals *totals, const ke_body *b, const ke_round *r)
{
  const char *names[] = {"sums", "best", "lowest", "own", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 0, nodes_to_r(&totals->sums));
  double *best = add_vector(out, 1, r->picks), *lowest = add_vector(out, 2, r->picks);
  for (size_t l = 0; l < r->picks; l++) {
    best[l] = totals->extreme[l].best;
    lowest[l] = totals->extreme[l].lowest;
  }
  SET_VECTOR_ELT(out, 3, own_entries(b, r));
  UNPROTECT(1);
  return out;
}

static ke_round round_of(SEXP round)
{
  size_t picks, columns, count;
  ke_round r;
  memset(&r, 0, sizeof r);
  r.size = ffi_count(round, "size");
  r.panel = ffi_matrix(ffi_element(round, "panel"), &picks, &columns, "panel");
  r.picks = r.ld = picks;
  r.index = ffi_big_sizes(ffi_element(round, "index"), &count);
  ffi_assert(picks >= 1 && picks <= KE_BLOCK && count == picks, "picks");
  ffi_assert(columns == r.size + picks, "panel");
  size_t *chosen = ffi_sizes(picks);
  for (size_t p = 0; p < picks; p++)
    chosen[p] = p;
  r.chosen = chosen;
  return r;
}

static size_t columns_after(SEXP rounds)
{
  size_t most = 0;
  for (R_xlen_t q = 0; q < XLENGTH(rounds); q++) {
    SEXP round = VECTOR_ELT(rounds, q);
    const size_t columns = ffi_count(round, "size") + (size_t)Rf_nrows(ffi_element(round, "panel"));
    most = columns > most ? columns : most;
  }
  return most;
}

/* Bring the body up to date with rounds of picks; `again`: only its factor, residuals being so.
 * What the last round tells of its rows, or NULL. */
SEXP ffi_body_update(SEXP source, SEXP state, SEXP factor, SEXP where, SEXP rounds, SEXP again,
                     SEXP threads)
{
  const ke_env env = ffi_env(threads);
  ke_source s;
  const ke_status status = ffi_source(source, &s);
  ffi_assert(status == KE_OK && TYPEOF(rounds) == VECSXP, "rows of a body");
  ke_body b = body_of(state, where);
  ffi_assert(s.symmetric && s.n == b.n, "rows of a body");
  b.source = &s;
  attach_factor(&b, factor);
  const size_t columns = columns_after(rounds);
  ffi_assert(columns <= b.capacity, "factor");
  b.capacity = columns; /* of a short body a factor lent to all has far more */
  b.work = ffi_doubles(ke_body_work(columns, env.threads));
  double *sums = ffi_doubles(KE_RUNGS * KE_SUMS * KE_BLOCK);
  ke_pick *extreme = (ke_pick *)ffi_alloc(KE_BLOCK, sizeof(ke_pick));
  SEXP out = R_NilValue;
  for (R_xlen_t q = 0; q < XLENGTH(rounds); q++) {
    SEXP round = VECTOR_ELT(rounds, q);
    const ke_round r = round_of(round);
    const guests g = guests_of(source, ffi_element(round, "x"), b.n);
    ffi_assert((size_t)Rf_nrows(ffi_element(round, "x")) == r.picks, "x");
    ke_totals totals = ke_new_totals(r.picks, sums, extreme);
    host(&s, &g, 0, r.picks);
    ke_body_update(&b, &r, Rf_asLogical(again) ? NULL : &totals, &env);
    if (q + 1 == XLENGTH(rounds) && !Rf_asLogical(again))
      out = totals_to_r(&totals, &b, &r);
  }
  return out;
}

/* The columns of a factor into the first of a wider one. */
SEXP ffi_copy_columns(SEXP from, SEXP to)
{
  size_t n, columns, rows, more;
  const double *old = ffi_matrix(from, &n, &columns, "factor");
  ffi_matrix(to, &rows, &more, "factor");
  ffi_assert(n == rows && columns <= more, "factor");
  for (size_t l = 0; l < columns; l++) {
    if (l % 16 == 0)
      R_CheckUserInterrupt();
    memcpy(REAL(to) + l * n, old + l * n, n * sizeof(double));
  }
  return R_NilValue;
}

static int write_column(double *column, size_t n, FILE *file)
{
  return fwrite(column, sizeof(double), n, file) == n;
}

static int read_column(double *column, size_t n, FILE *file)
{
  return fread(column, sizeof(double), n, file) == n;
}

/* Columns from .. to (from 0) of a factor of n rows onto the end of a file, or all columns up to
 * `to` back, `from` being 0 then; range: n, from, to. Whether all of them were written or read. */
SEXP ffi_factor_file(SEXP path, SEXP factor, SEXP range, SEXP write)
{
  size_t three;
  ffi_assert(TYPEOF(path) == STRSXP && XLENGTH(path) == 1, "path");
  const size_t *at = ffi_big_sizes(range, &three);
  ffi_assert(three == 3 && at[1] <= at[2], "columns");
  ffi_assert(TYPEOF(factor) == REALSXP && at[0] * at[2] <= (size_t)XLENGTH(factor), "factor");
  const size_t n = at[0];
  const int out = Rf_asLogical(write) == TRUE;
  ffi_assert(out || at[1] == 0, "columns");
  FILE *file = fopen(R_ExpandFileName(CHAR(STRING_ELT(path, 0))), out ? "ab" : "rb");
  if (!file)
    return Rf_ScalarLogical(FALSE);
  int good = 1; /* no look at an interrupt here: it would leave the file open */
  for (size_t l = at[1]; good && l < at[2]; l++)
    good = (out ? write_column : read_column)(REAL(factor) + l * n, n, file);
  good = fclose(file) == 0 && good;
  return Rf_ScalarLogical(good);
}

/* Rows of the first columns of a factor as a matrix; range: its n, the first row (from 0), how
 * many, and how many columns. */
SEXP ffi_factor_rows(SEXP factor, SEXP range)
{
  size_t four;
  const size_t *at = ffi_big_sizes(range, &four);
  ffi_assert(four == 4 && at[1] <= at[0] && at[2] <= at[0] - at[1], "rows");
  ffi_assert(TYPEOF(factor) == REALSXP && at[0] * at[3] <= (size_t)XLENGTH(factor), "factor");
  SEXP out = Rf_allocMatrix(REALSXP, (int)at[2], (int)at[3]);
  for (size_t l = 0; l < at[3]; l++)
    memcpy(REAL(out) + l * at[2], REAL(factor) + l * at[0] + at[1], at[2] * sizeof(double));
  return out;
}
