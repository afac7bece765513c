#include "ffi.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

void ffi_fail(const char *what) { Rf_error("internal error: %s", what); }

#define MUCH ((size_t)1 << 17) /* bytes */

void *ffi_alloc(size_t count, size_t size)
{
  const int much = count >= MUCH / size && count <= PTRDIFF_MAX / size; /* R refuses what is more */
  void *memory = much ? ffi_borrow(count * size) : NULL;
  return memory ? memory : R_alloc(count > 0 ? count : 1, (int)size);
}

double *ffi_doubles(size_t n) { return (double *)ffi_alloc(n, sizeof(double)); }

size_t *ffi_sizes(size_t n) { return (size_t *)ffi_alloc(n, sizeof(size_t)); }

const double *ffi_matrix(SEXP x, size_t *n, size_t *d, const char *what)
{
  ffi_assert(TYPEOF(x) == REALSXP && Rf_isMatrix(x), what);
  *n = (size_t)Rf_nrows(x);
  *d = (size_t)Rf_ncols(x);
  return REAL_RO(x);
}

const double *ffi_optional(SEXP x, size_t n, const char *what)
{
  if (x == R_NilValue)
    return NULL;
  ffi_assert(TYPEOF(x) == REALSXP && (size_t)XLENGTH(x) == n, what);
  return REAL_RO(x);
}

ke_transform ffi_transform(SEXP list, size_t d)
{
  const ke_transform how = {
      .center = ffi_optional(ffi_element(list, "center"), d, "center"),
      .scale = ffi_optional(ffi_element(list, "scale"), d, "scale"),
      .shift = ffi_optional(ffi_element(list, "shift"), d, "shift"),
  };
  ffi_assert((how.center == NULL) == (how.scale == NULL), "scaling");
  return how;
}

const double *ffi_scaled(SEXP x, size_t *n, size_t *d, ke_transform *how)
{
  const int later = Rf_inherits(x, "kernelect_scaled");
  const double *values = ffi_matrix(later ? ffi_element(x, "x") : x, n, d, "x");
  *how = later ? ffi_transform(x, *d) : (ke_transform){0};
  return values;
}

SEXP ffi_element(SEXP list, const char *name)
{
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(list) != VECSXP || TYPEOF(names) != STRSXP)
    return R_NilValue;
  for (R_xlen_t i = 0; i < XLENGTH(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return VECTOR_ELT(list, i);
  return R_NilValue;
}

/* Whether the named elements of `parts` (a list, or NULL: then not) are, as objects in memory,
 * those of `list`. */
SEXP ffi_has_parts(SEXP list, SEXP parts)
{
  SEXP names = Rf_getAttrib(parts, R_NamesSymbol);
  int same = TYPEOF(list) == VECSXP && TYPEOF(parts) == VECSXP && TYPEOF(names) == STRSXP;
  for (R_xlen_t i = 0; same && i < XLENGTH(parts); i++)
    same = ffi_element(list, CHAR(STRING_ELT(names, i))) == VECTOR_ELT(parts, i);
  return Rf_ScalarLogical(same);
}

double ffi_number(SEXP list, const char *name)
{
  SEXP value = ffi_element(list, name);
  ffi_assert(Rf_isNumeric(value) && XLENGTH(value) == 1, name);
  return Rf_asReal(value);
}

size_t ffi_size(double value, const char *what)
{
  const double most = 9007199254740992.0; /* 2^53 */
  ffi_assert(value >= 0.0 && value <= most && value < (double)SIZE_MAX, what);
  return (size_t)value;
}

size_t ffi_count(SEXP list, const char *name) { return ffi_size(ffi_number(list, name), name); }

const double *ffi_field(SEXP list, const char *name, size_t n)
{
  const double *v = ffi_optional(ffi_element(list, name), n, name);
  ffi_assert(v != NULL, name);
  return v;
}

int ffi_choice(SEXP text, const char *const *names, const char *what)
{
  ffi_assert(TYPEOF(text) == STRSXP && XLENGTH(text) == 1, what);
  int at = 0;
  while (names[at] && strcmp(names[at], CHAR(STRING_ELT(text, 0))) != 0)
    at++;
  ffi_assert(names[at] != NULL, what);
  return at;
}

SEXP ffi_status(ke_status status)
{
  static const char *const names[] = {
      [KE_OK] = "ok",
      [KE_FULL] = "full",
      [KE_INDEFINITE] = "indefinite",
      [KE_NOT_CONVERGED] = "not_converged",
      [KE_INFEASIBLE] = "infeasible",
      [KE_NOT_FINITE] = "not_finite",
  };
  return Rf_mkString(names[status]);
}

/* A named list; the values are protected by the caller. */
SEXP ffi_named_list(int count, const char *const names[], const SEXP values[])
{
  SEXP list = PROTECT(Rf_allocVector(VECSXP, count)),
       labels = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++) {
    SET_VECTOR_ELT(list, i, values[i]);
    SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
  }
  Rf_setAttrib(list, R_NamesSymbol, labels);
  UNPROTECT(2);
  return list;
}

SEXP ffi_vector(const double *from, size_t n)
{
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
  memcpy(REAL(out), from, n * sizeof(double));
  return out;
}

static void check_interrupt(void *data)
{
  (void)data;
  R_CheckUserInterrupt();
}

typedef struct {
  void (*work)(void *job);
  void *job;
} guarded;

static SEXP work_guarded(void *data)
{
  const guarded *g = (const guarded *)data;
  g->work(g->job);
  return R_NilValue;
}

static void guard(void (*work)(void *job), void (*tidy)(void *job), void *job)
{
  guarded g = {work, job};
  R_ExecWithCleanup(work_guarded, &g, tidy, job);
}

static double draw_uniform(void *data)
{
  (void)data;
  return unif_rand();
}

ke_env ffi_env_serial(void)
{
  const ke_env env = {1, check_interrupt, draw_uniform, NULL, NULL, NULL, guard, NULL};
  return env;
}

#define BAR 50

typedef struct {
  int marks;    /* drawn so far */
  time_t start; /* nothing is drawn before this has passed by `patience` seconds */
  double patience;
} bar;

static void draw_progress(void *data, double share)
{
  bar *b = (bar *)data;
  const int marks = (int)(share * BAR);
  if (b->marks < 0 && difftime(time(NULL), b->start) < b->patience)
    return;
  if (marks <= b->marks && share < 1.0)
    return;
  b->marks = marks;
  REprintf("\r|");
  for (int i = 0; i < BAR; i++)
    REprintf(i < marks ? "=" : " ");
  REprintf("| %3d%%%s", (int)(100.0 * share), share < 1.0 ? "" : "\n");
}

void ffi_show_progress(ke_env *env, SEXP verbose)
{
  const int show = Rf_asLogical(verbose);
  if (show == FALSE)
    return;
  bar *b = (bar *)R_alloc(1, sizeof(bar));
  b->marks = -1;
  b->start = time(NULL);
  b->patience = show == TRUE ? 0.0 : 2.0;
  env->data = b;
  env->progress = draw_progress;
}

ke_rows ffi_rows_alloc(size_t n, size_t d, size_t blocks)
{
  ke_rows rows = {n, blocks * d, NULL, NULL, 0, blocks};
  rows.panel = ffi_doubles(ke_panel_size(n, rows.d));
  rows.norm = ffi_doubles(blocks * ke_padded(n));
  return rows;
}

ke_rows ffi_rows(SEXP x, SEXP shift)
{
  size_t n, d;
  const double *values = ffi_matrix(x, &n, &d, "x");
  ke_rows rows = ffi_rows_alloc(n, d, 1);
  ke_pack(values, n, &(ke_transform){.shift = ffi_optional(shift, d, "shift")}, &rows);
  return rows;
}

#define LARGE_PAGE ((size_t)1 << 21)

void ffi_large_pages(void *memory, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const size_t start = ((size_t)memory + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  const size_t end = ((size_t)memory + bytes) / LARGE_PAGE * LARGE_PAGE;
  if (end > start)
    (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

static void touch_page(void *data, size_t item, size_t worker)
{
  volatile char *memory = (volatile char *)data;
  (void)worker;
  memory[item * LARGE_PAGE] = 0;
}

void ffi_take_pages(void *memory, size_t bytes, const ke_env *env)
{
  const double flops = 2.5e7; /* that the system could do while it clears one */
  ffi_large_pages(memory, bytes);
  ke_share_often(env, bytes / LARGE_PAGE, flops, touch_page, memory);
}

size_t *ffi_index(SEXP index, size_t n, size_t *count)
{
  ffi_assert(TYPEOF(index) == INTSXP, "index");
  *count = (size_t)XLENGTH(index);
  size_t *out = ffi_sizes(*count);
  for (size_t i = 0; i < *count; i++) {
    const int row = INTEGER(index)[i];
    ffi_assert(row >= 1 && (size_t)row <= n, "index out of range");
    out[i] = (size_t)row - 1;
  }
  return out;
}

SEXP ffi_row_numbers(const size_t *row, size_t count, size_t none)
{
  size_t highest = 0;
  for (size_t i = 0; i < count; i++)
    highest = row[i] != none && row[i] > highest ? row[i] : highest;
  SEXP out = Rf_allocVector(highest < INT_MAX ? INTSXP : REALSXP, (R_xlen_t)count);
  for (size_t i = 0; i < count; i++)
    if (TYPEOF(out) == INTSXP)
      INTEGER(out)[i] = row[i] == none ? NA_INTEGER : (int)row[i] + 1;
    else
      REAL(out)[i] = row[i] == none ? NA_REAL : (double)row[i] + 1.0;
  return out;
}

const int *ffi_labels(SEXP label, size_t n, size_t classes)
{
  ffi_assert(TYPEOF(label) == INTSXP && (size_t)XLENGTH(label) == n, "labels");
  int *out = (int *)ffi_alloc(n, sizeof(int));
  for (size_t i = 0; i < n; i++) {
    const int from_one = INTEGER(label)[i];
    ffi_assert(from_one >= 1 && (size_t)from_one <= classes, "label out of range");
    out[i] = from_one - 1;
  }
  return out;
}

size_t ffi_count_classes(const int *label, size_t n)
{
  int last = -1;
  for (size_t j = 0; j < n; j++)
    last = label[j] > last ? label[j] : last;
  return (size_t)(last + 1);
}

/* A matrix of zeros: the first touch of a large one takes a while. */
SEXP ffi_zeros(SEXP rows, SEXP columns)
{
  const size_t piece = (size_t)1 << 20;
  ffi_assert(Rf_asInteger(rows) >= 0 && Rf_asInteger(columns) >= 0, "dimensions");
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, Rf_asInteger(rows), Rf_asInteger(columns)));
  const size_t n = (size_t)XLENGTH(out);
  ffi_large_pages(REAL(out), n * sizeof(double));
  for (size_t i = 0; i < n; i += piece) {
    R_CheckUserInterrupt();
    memset(REAL(out) + i, 0, ke_smaller(piece, n - i) * sizeof(double));
  }
  UNPROTECT(1);
  return out;
}

/* For loops in R, which looks at an interrupt only now and then. */
SEXP ffi_check(void)
{
  R_CheckUserInterrupt();
  return R_NilValue;
}

/* Physical memory in bytes, Inf where it cannot be told. */
SEXP ffi_memory_limit(void)
{
  double bytes = R_PosInf;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGE_SIZE)
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && size > 0)
    bytes = (double)pages * (double)size;
#endif
  return Rf_ScalarReal(bytes);
}
