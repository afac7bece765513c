#include "ffi.h"

static ke_ensemble lend_ensemble(const ke_votes *v)
{
  const size_t sets = v->classes * v->words;
  ke_ensemble e = {v, KE_FORWARD, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  e.count = (int *)R_alloc(v->n * v->classes, sizeof(int));
  e.half = (uint64_t *)R_alloc(sets, sizeof(uint64_t));
  e.whole = (uint64_t *)R_alloc(sets, sizeof(uint64_t));
  e.weight = ffi_doubles(v->n);
  e.used = (unsigned char *)R_alloc(v->d, 1);
  return e;
}

/* list(order, error): `how` "forward", "printed", or "given": the errors along `order`. */
SEXP ffi_kffs(SEXP z, SEXP label, SEXP how, SEXP order, SEXP verbose)
{
  ke_env env = ffi_env_serial();
  ffi_show_progress(&env, verbose);
  ke_votes v = {0, 0, 0, 0, NULL, NULL};
  const double *values = ffi_matrix(z, &v.n, &v.d, "z");
  v.words = ke_words(v.n);
  v.label = ffi_labels(label, v.n, SIZE_MAX);
  v.classes = ffi_count_classes(v.label, v.n);
  ffi_assert(v.n > 0 && v.d > 0 && v.classes > 0, "z");
  v.bits = (uint64_t *)R_alloc(v.d * v.classes * v.words, sizeof(uint64_t));
  double *work = ffi_doubles(2 * v.classes);
  ke_weak_votes(values, &v, work, &env);

  static const char *const selections[] = {
      [KE_FORWARD] = "forward", [KE_PRINTED] = "printed", [KE_GIVEN] = "given", NULL};
  ke_ensemble e = lend_ensemble(&v);
  e.how = (ke_selection)ffi_choice(how, selections, "how");
  size_t given = v.d;
  e.order = e.how == KE_GIVEN ? ffi_index(order, v.d, &given) : ffi_sizes(v.d);
  ffi_assert(given == v.d, "order");
  const char *names[] = {"order", "error", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, (R_xlen_t)v.d));
  e.error = REAL(VECTOR_ELT(out, 1));
  ke_kffs(&e, &env);
  SET_VECTOR_ELT(out, 0, ffi_row_numbers(e.order, v.d, v.d));
  UNPROTECT(1);
  return out;
}
