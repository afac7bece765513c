/* What all glue shares: unpacking of R objects into the core's structs. */
#ifndef KERNELECT_FFI_H
#define KERNELECT_FFI_H

#include "kernelect.h"

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* Type and shape are checked in R; a failure here is a defect or a tampered model. */
#define ffi_assert(holds, what) ((holds) ? (void)0 : ffi_fail(what))
void ffi_fail(const char *what) __attribute__((noreturn));

/* Memory until the call ends, never NULL: R_alloc(), or where that is much, borrowed. No spare
 * element: a sanitizer shall see who reads one too many. */
void *ffi_alloc(size_t count, size_t size);
double *ffi_doubles(size_t n);
size_t *ffi_sizes(size_t n);

/* Memory of the system until the call ends or it is given back: R would look for garbage before it
 * lent as much. NULL: the system has not as much, or R is to be asked. */
void *ffi_borrow(size_t bytes);
void ffi_give_back(void *memory); /* NULL is nothing */

/* What is allocated between the two is given back early. */
typedef struct {
  void *of_r, *last;
} ffi_mark;
ffi_mark ffi_mark_memory(void);
void ffi_return_to(ffi_mark mark);

/* A double matrix (asserted) and its dimensions. */
const double *ffi_matrix(SEXP x, size_t *n, size_t *d, const char *what);

/* NULL for R's NULL, else a double vector of length n (asserted). */
const double *ffi_optional(SEXP x, size_t n, const char *what);

/* center, scale and shift of a list, each of length d or not there. */
ke_transform ffi_transform(SEXP list, size_t d);

/* A matrix, or rows that are still to be scaled (R/scaled.R): then `how` says by what. */
const double *ffi_scaled(SEXP x, size_t *n, size_t *d, ke_transform *how);

/* body(arguments), whose threads and loans last until it ends, by an error or an interrupt too. */
SEXP ffi_at_work(SEXP (*body)(void *arguments), void *arguments);

/* Never more threads than processors, and a single one in a forked child. */
ke_env ffi_env(SEXP threads);
void ffi_note_process(void);
ke_env ffi_env_serial(void);

/* Adds a progress bar on the message stream: at once when `verbose` is TRUE, after two seconds
 * when it is NA. */
void ffi_show_progress(ke_env *env, SEXP verbose);

/* The element of that name of a list, R's NULL where there is none; and a single number. */
SEXP ffi_element(SEXP list, const char *name);
double ffi_number(SEXP list, const char *name);

/* A number from R that counts something, asserted: not negative, and small enough to be exact. */
size_t ffi_size(double value, const char *what);
size_t ffi_count(SEXP list, const char *name);

/* A double vector of length n (asserted) of a list. */
const double *ffi_field(SEXP list, const char *name, size_t n);

/* A kernel from a named list: type (a name), its numbers, weights (scale factors of the columns)
 * or, of a sum or product, scale and parts. Weights must have length d; with SIZE_MAX they are not
 * read. */
ke_kernel ffi_kernel(SEXP spec, size_t d);

/* Which of `names` (the last NULL) a text is: an enum by its names, in order. */
int ffi_choice(SEXP text, const char *const *names, const char *what);

/* A named list, the values protected by the caller; and a copy of n numbers. */
SEXP ffi_named_list(int count, const char *const names[], const SEXP values[]);
SEXP ffi_vector(const double *from, size_t n);

/* The factor U of a target UU', a row for each of n (ffi_criterion.c); a search from `start` by
 * `control` (ffi_ascent.c). */
const double *ffi_target(SEXP u, size_t n, size_t *rank);
SEXP ffi_search(const ke_objective *f, SEXP start, SEXP control);

/* The name of a status. An entry that has no result returns it in place of one; R/status.R has
 * the words. */
SEXP ffi_status(ke_status status);

/* The matrix that a list tells of: K, a matrix; or f, an R function of two vectors of row numbers,
 * and its diagonal; or x, kernel and shift, and z where it is between two sets of rows.
 * KE_NOT_FINITE when values would overflow. */
ke_status ffi_source(SEXP list, ke_source *s);

/* Packed rows in R_alloc memory: as they are, or for a kernel; and the room for them, with d
 * columns in each block. */
ke_rows ffi_rows(SEXP x, SEXP shift);
ke_rows ffi_rows_for(SEXP x, SEXP shift, const ke_kernel *kernel);
ke_rows ffi_rows_alloc(size_t n, size_t d, size_t blocks);

/* Whether rows are sparse (R/sparse.R), and those made ready for a kernel: to be compared with
 * others, or only to have others compared with them. */
int ffi_is_sparse(SEXP x);
const ke_sparse *ffi_sparse(SEXP x, const ke_kernel *kernel, int compared);

/* Columns of rows, dense or sparse. */
size_t ffi_width(SEXP x);

/* Ask the system for large pages: first touch of a big result costs a fraction. */
void ffi_large_pages(void *memory, size_t bytes);

/* The same, and every page taken now, between looks at an interrupt: for what is written a few rows
 * at a time, of which the first would touch them all. */
void ffi_take_pages(void *memory, size_t bytes, const ke_env *env);

/* Row numbers from R (integers from 1) as 0-based, each asserted below n. */
size_t *ffi_index(SEXP index, size_t n, size_t *count);

/* The other way round, doubles where integers end; `none` becomes NA. */
SEXP ffi_row_numbers(const size_t *row, size_t count, size_t none);

/* Class labels from R, 1 ... classes (asserted), as 0-based, one per row. */
const int *ffi_labels(SEXP label, size_t n, size_t classes);

/* Classes that 0-based labels name. */
size_t ffi_count_classes(const int *label, size_t n);

/* The head of the basis engine (ffi_basis.c): itself without bodies' work space, room for so many
 * columns, the first pick of fvs, and what it has found. */
ke_basis ffi_head(ke_bodies bodies, SEXP rule);
void ffi_head_columns(ke_basis *b, size_t capacity);
void ffi_choose_first(ke_basis *b, const size_t *rows, size_t count, const ke_env *env);
SEXP ffi_head_result(const ke_basis *b);

/* Numbers from 0 that may exceed the integers: doubles in R (ffi_body.c). */
SEXP ffi_big_numbers(const size_t *from, size_t count);
size_t *ffi_big_sizes(SEXP from, size_t *count);

SEXP ffi_bodies(SEXP rule, SEXP n, SEXP ask, SEXP threads);
SEXP ffi_body_start(SEXP source, SEXP where, SEXP normalised);
SEXP ffi_body_fitness(SEXP source, SEXP state, SEXP where, SEXP x, SEXP threads);
SEXP ffi_body_propose(SEXP state, SEXP where, SEXP wish);
SEXP ffi_body_weigh(SEXP state, SEXP where, SEXP wish);
SEXP ffi_body_find(SEXP state, SEXP where, SEXP wish, SEXP nodes);
SEXP ffi_body_rows(SEXP state, SEXP factor, SEXP where, SEXP index, SEXP size);
SEXP ffi_body_update(SEXP source, SEXP state, SEXP factor, SEXP where, SEXP rounds, SEXP again,
                     SEXP threads);
SEXP ffi_copy_columns(SEXP from, SEXP to);
SEXP ffi_factor_file(SEXP path, SEXP factor, SEXP range, SEXP write);
SEXP ffi_factor_rows(SEXP factor, SEXP range);
SEXP ffi_basis(SEXP source, SEXP rule, SEXP keep, SEXP threads);
SEXP ffi_centred_system(SEXP K, SEXP w, SEXP means, SEXP nu);
SEXP ffi_centred_crossprod(SEXP z, SEXP centre, SEXP threads);
SEXP ffi_cholesky(SEXP a, SEXP threads);
SEXP ffi_product(SEXP a, SEXP b, SEXP threads);
SEXP ffi_solve_upper(SEXP r, SEXP b, SEXP threads);
SEXP ffi_solve(SEXP a, SEXP b);
SEXP ffi_distances(SEXP x);
SEXP ffi_divide_upper(SEXP b, SEXP center, SEXP r);
SEXP ffi_eigen(SEXP a, SEXP least);
SEXP ffi_expand(SEXP x, SEXP kept, SEXP what, SEXP threads);
SEXP ffi_extremes(SEXP z, SEXP mean, SEXP v);
SEXP ffi_gram_product(SEXP K, SEXP v, SEXP centre);
SEXP ffi_column_moments(SEXP x);
SEXP ffi_join_moments(SEXP a, SEXP b);
SEXP ffi_mean_and_sd(SEXP moments);
SEXP ffi_qr_append(SEXP r, SEXP rows);
SEXP ffi_qr_regression(SEXP r, SEXP z, SEXP y, SEXP weights);
SEXP ffi_regress(SEXP z, SEXP y, SEXP ridge, SEXP weights, SEXP intercept, SEXP threads);
SEXP ffi_regress_over(SEXP z, SEXP y, SEXP ridge, SEXP weights, SEXP threads, SEXP rest);
ke_regression ffi_regression(SEXP fit);
ke_env ffi_regression_env(SEXP fit);
SEXP ffi_without_folds(SEXP fit, SEXP turn, SEXP folds);
SEXP ffi_nested_loo(SEXP fit, SEXP size, SEXP label, SEXP keep);
SEXP ffi_bidiagonalise(SEXP fit, SEXP size);
SEXP ffi_ridge_loo(SEXP fit, SEXP turned, SEXP label, SEXP keep, SEXP ridges);
SEXP ffi_ridge_turn(SEXP turned, SEXP ridge);
SEXP ffi_ridge_sizes(SEXP fit, SEXP sizes, SEXP label, SEXP ridges);
SEXP ffi_row_squares(SEXP z, SEXP sizes);
SEXP ffi_sparse_sums(SEXP x, SEXP value);
SEXP ffi_descend(SEXP problem, SEXP state, SEXP order, SEXP sweeps);
SEXP ffi_dual(SEXP K, SEXP problem, SEXP control);
SEXP ffi_source_form(SEXP list, SEXP a, SEXP threads);
SEXP ffi_working(SEXP sources, SEXP problem, SEXP control);
SEXP ffi_forms(SEXP grams, SEXP a);
SEXP ffi_fuse(SEXP grams, SEXP weights);
SEXP ffi_gram(SEXP source, SEXP threads);
SEXP ffi_diagonal(SEXP x, SEXP kernel);
SEXP ffi_scale_gradient(SEXP x, SEXP kernel, SEXP weights, SEXP coefficients, SEXP threads);
SEXP ffi_kernel_traits(SEXP kernel);
SEXP ffi_exact_shift(SEXP x);
SEXP ffi_add_columns(SEXP sums, SEXP x);
SEXP ffi_shift_of(SEXP sums, SEXP n);
SEXP ffi_shifts_exactly(SEXP x, SEXP shift);
SEXP ffi_has_parts(SEXP list, SEXP parts);
SEXP ffi_symmetry(SEXP K);
SEXP ffi_all_finite(SEXP x);
SEXP ffi_check(void);
SEXP ffi_processors(void);
SEXP ffi_threads_born(void);
SEXP ffi_borrowed(void);
SEXP ffi_zeros(SEXP rows, SEXP columns);
SEXP ffi_column_sd(SEXP x, SEXP center);
SEXP ffi_scale_columns(SEXP x, SEXP center, SEXP scale);
SEXP ffi_memory_limit(void);
SEXP ffi_softmax(SEXP decisions, SEXP label, SEXP weights, SEXP b, SEXP penalty, SEXP threads);
SEXP ffi_kffs(SEXP z, SEXP label, SEXP how, SEXP order, SEXP verbose);
SEXP ffi_nearest(SEXP x, SEXP z, SEXP label, SEXP shift, SEXP rounding, SEXP threads);
SEXP ffi_weighted_columns(SEXP z, SEXP columns, SEXP weights);
SEXP ffi_nested_errors(SEXP rows, SEXP label, SEXP number, SEXP rounding, SEXP threads,
                       SEXP verbose);

SEXP ffi_criterion(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP threads);
SEXP ffi_criterion_forms(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP threads);
SEXP ffi_criterion_finish(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP weights, SEXP forms);
SEXP ffi_maximise(SEXP x, SEXP u, SEXP spec, SEXP kernel, SEXP start, SEXP control, SEXP threads);
SEXP ffi_maximise_function(SEXP function, SEXP environment, SEXP start, SEXP control);
SEXP ffi_flip_sums(SEXP x, SEXP u, SEXP chosen, SEXP gamma, SEXP rough, SEXP threads);
SEXP ffi_subset_pairs(SEXP x, SEXP u, SEXP kernel, SEXP threads);
SEXP ffi_subset_extend(SEXP x, SEXP u, SEXP kernel, SEXP chosen, SEXP threads);
SEXP ffi_subset_reduce(SEXP x, SEXP u, SEXP kernel, SEXP chosen, SEXP threads);

#endif
