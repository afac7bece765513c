#include "ffi.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

/* Tables, an entry a line. */
/* clang-format off */

/* What works, with threads and loans of its own; within an R function that another calls, too. */
#define AT_WORK(ENTRY) \
  ENTRY(ffi_add_columns, 2) \
  ENTRY(ffi_all_finite, 1) \
  ENTRY(ffi_basis, 4) \
  ENTRY(ffi_bidiagonalise, 2) \
  ENTRY(ffi_bodies, 4) \
  ENTRY(ffi_body_find, 4) \
  ENTRY(ffi_body_fitness, 5) \
  ENTRY(ffi_body_propose, 3) \
  ENTRY(ffi_body_rows, 5) \
  ENTRY(ffi_body_start, 3) \
  ENTRY(ffi_body_update, 7) \
  ENTRY(ffi_body_weigh, 3) \
  ENTRY(ffi_centred_crossprod, 3) \
  ENTRY(ffi_centred_system, 4) \
  ENTRY(ffi_cholesky, 2) \
  ENTRY(ffi_column_moments, 1) \
  ENTRY(ffi_column_sd, 2) \
  ENTRY(ffi_copy_columns, 2) \
  ENTRY(ffi_criterion, 6) \
  ENTRY(ffi_criterion_finish, 6) \
  ENTRY(ffi_criterion_forms, 6) \
  ENTRY(ffi_descend, 4) \
  ENTRY(ffi_diagonal, 2) \
  ENTRY(ffi_distances, 1) \
  ENTRY(ffi_divide_upper, 3) \
  ENTRY(ffi_dual, 3) \
  ENTRY(ffi_eigen, 2) \
  ENTRY(ffi_exact_shift, 1) \
  ENTRY(ffi_expand, 4) \
  ENTRY(ffi_extremes, 3) \
  ENTRY(ffi_factor_file, 4) \
  ENTRY(ffi_factor_rows, 2) \
  ENTRY(ffi_flip_sums, 6) \
  ENTRY(ffi_forms, 2) \
  ENTRY(ffi_fuse, 2) \
  ENTRY(ffi_gram, 2) \
  ENTRY(ffi_gram_product, 3) \
  ENTRY(ffi_has_parts, 2) \
  ENTRY(ffi_join_moments, 2) \
  ENTRY(ffi_kernel_traits, 1) \
  ENTRY(ffi_kffs, 5) \
  ENTRY(ffi_maximise, 7) \
  ENTRY(ffi_maximise_function, 4) \
  ENTRY(ffi_mean_and_sd, 1) \
  ENTRY(ffi_nearest, 6) \
  ENTRY(ffi_nested_errors, 6) \
  ENTRY(ffi_nested_loo, 4) \
  ENTRY(ffi_product, 3) \
  ENTRY(ffi_qr_append, 2) \
  ENTRY(ffi_qr_regression, 4) \
  ENTRY(ffi_regress, 6) \
  ENTRY(ffi_regress_over, 6) \
  ENTRY(ffi_ridge_loo, 5) \
  ENTRY(ffi_ridge_sizes, 4) \
  ENTRY(ffi_ridge_turn, 2) \
  ENTRY(ffi_row_squares, 2) \
  ENTRY(ffi_scale_columns, 3) \
  ENTRY(ffi_scale_gradient, 5) \
  ENTRY(ffi_shift_of, 2) \
  ENTRY(ffi_shifts_exactly, 2) \
  ENTRY(ffi_softmax, 6) \
  ENTRY(ffi_solve, 2) \
  ENTRY(ffi_solve_upper, 3) \
  ENTRY(ffi_source_form, 3) \
  ENTRY(ffi_sparse_sums, 2) \
  ENTRY(ffi_subset_extend, 5) \
  ENTRY(ffi_subset_pairs, 4) \
  ENTRY(ffi_subset_reduce, 5) \
  ENTRY(ffi_symmetry, 1) \
  ENTRY(ffi_weighted_columns, 3) \
  ENTRY(ffi_without_folds, 3) \
  ENTRY(ffi_working, 3) \
  ENTRY(ffi_zeros, 2)

#define SENT_1 SEXP a
#define SENT_2 SENT_1, SEXP b
#define SENT_3 SENT_2, SEXP c
#define SENT_4 SENT_3, SEXP d
#define SENT_5 SENT_4, SEXP e
#define SENT_6 SENT_5, SEXP f
#define SENT_7 SENT_6, SEXP g
#define NAMED_1 a
#define NAMED_2 NAMED_1, b
#define NAMED_3 NAMED_2, c
#define NAMED_4 NAMED_3, d
#define NAMED_5 NAMED_4, e
#define NAMED_6 NAMED_5, f
#define NAMED_7 NAMED_6, g
#define PACKED_1 s[0]
#define PACKED_2 PACKED_1, s[1]
#define PACKED_3 PACKED_2, s[2]
#define PACKED_4 PACKED_3, s[3]
#define PACKED_5 PACKED_4, s[4]
#define PACKED_6 PACKED_5, s[5]
#define PACKED_7 PACKED_6, s[6]

/* name##_at_work(): name() with what lasts until it ends. */
#define DEFINE_AT_WORK(name, count) \
  static SEXP name##_packed(void *sent) \
  { \
    const SEXP *s = (const SEXP *)sent; \
    return name(PACKED_##count); \
  } \
  static SEXP name##_at_work(SENT_##count) \
  { \
    SEXP sent[] = {NAMED_##count}; \
    return ffi_at_work(name##_packed, sent); \
  }

AT_WORK(DEFINE_AT_WORK)

#define ENTRY_AT_WORK(name, count) {#name, (DL_FUNC)&name##_at_work, count},
#define ENTRY(name, count) {#name, (DL_FUNC)&name, count}

static const R_CallMethodDef entries[] = {
    AT_WORK(ENTRY_AT_WORK)
    ENTRY(ffi_borrowed, 0),
    ENTRY(ffi_check, 0),
    ENTRY(ffi_memory_limit, 0),
    ENTRY(ffi_processors, 0),
    ENTRY(ffi_threads_born, 0),
    {NULL, NULL, 0}};
/* clang-format on */

attribute_visible void R_init_kernelect(DllInfo *dll)
{
  ffi_note_process();
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
