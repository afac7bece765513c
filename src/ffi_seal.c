/* Fingerprints of R values, by which a model tells that nobody edited it.
 *
 * A number that any edit moves, but that writing as text (15 digits) and reading back leaves
 * within 1e-12 of its size: numbers enter by their logarithm, and everything discrete (signs,
 * NA, lengths, types, texts, names) as exact terms, each with a weight of its place.
 */
#include "ffi.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Weights in [1, 2) that differ from place to place: a swap shows. */
#define GOLDEN 1.3819660112501051

static double place(R_xlen_t i)
{
  const double golden = (2.0 - GOLDEN) * (double)(i + 1);
  return 1.0 + golden - floor(golden);
}

static double text_print(SEXP s)
{
  if (s == NA_STRING)
    return 0.25;
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
  for (const char *c = Rf_translateCharUTF8(s); *c; c++)
    hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
  return 1.0 + (double)(hash >> 11) * 0x1p-53;
}

/* The bits of a double, read as a whole number, are a continuous stand-in for its logarithm. */
static double number_print(double v)
{
  if (v == 0.0 || !isfinite(v))
    return v == 0.0 ? 0.37 : isnan(v) ? 1379.0 : v > 0.0 ? 1523.0 : 1667.0;
  const double size = fabs(v);
  int64_t bits;
  memcpy(&bits, &size, sizeof bits);
  return (double)(bits - INT64_C(0x3ff0000000000000)) * 0x1p-52 + (v < 0.0 ? 0.71 : 0.0);
}

static double doubles_print(const double *v, R_xlen_t n)
{
  double total = 0.0, weight = 1.0;
  for (R_xlen_t i = 0; i < n; i++) {
    weight += weight < GOLDEN ? 2.0 - GOLDEN : 1.0 - GOLDEN; /* as place(), only faster */
    total += weight * number_print(v[i]);
  }
  return total;
}

static double integers_print(const int *v, R_xlen_t n)
{
  double total = 0.0;
  for (R_xlen_t i = 0; i < n; i++)
    total += place(i) * number_print(v[i] == NA_INTEGER ? NA_REAL : v[i]);
  return total;
}

static double value_print(SEXP x);

static double language_print(SEXP x)
{
  double total = 0.0;
  R_xlen_t i = 0;
  for (; x != R_NilValue; x = CDR(x), i++)
    total += place(i) *
             (value_print(CAR(x)) + (TAG(x) == R_NilValue ? 0.0 : text_print(PRINTNAME(TAG(x)))));
  return total;
}

static double body_print(SEXP x)
{
  double total = 0.0;
  switch (TYPEOF(x)) {
  case LGLSXP: return integers_print(LOGICAL(x), XLENGTH(x));
  case INTSXP: return integers_print(INTEGER(x), XLENGTH(x));
  case REALSXP: return doubles_print(REAL(x), XLENGTH(x));
  case SYMSXP: return text_print(PRINTNAME(x));
  case LISTSXP:
  case LANGSXP: return language_print(x);
  case STRSXP:
    for (R_xlen_t i = 0; i < XLENGTH(x); i++)
      total += place(i) * text_print(STRING_ELT(x, i));
    return total;
  case VECSXP:
    for (R_xlen_t i = 0; i < XLENGTH(x); i++)
      total += place(i) * value_print(VECTOR_ELT(x, i));
    return total;
  default: return 0.0; /* functions and the like have no lasting content to compare */
  }
}

static double value_print(SEXP x)
{
  SEXP known[] = {R_NamesSymbol,  R_DimSymbol,      R_DimNamesSymbol,      R_ClassSymbol,
                  R_LevelsSymbol, R_RowNamesSymbol, Rf_install("predvars")};
  double total = 0.1 * TYPEOF(x) + log1p((double)Rf_xlength(x)) + body_print(x);
  for (int i = 0; i < 7; i++) {
    SEXP attribute = PROTECT(TYPEOF(x) == SYMSXP ? R_NilValue : Rf_getAttrib(x, known[i]));
    if (attribute != R_NilValue)
      total += (i + 2) * value_print(attribute);
    UNPROTECT(1);
  }
  return total;
}

/* One number per element of a list. */
SEXP ffi_fingerprint(SEXP list)
{
  ffi_assert(TYPEOF(list) == VECSXP, "list");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(list)));
  for (R_xlen_t i = 0; i < XLENGTH(list); i++)
    REAL(out)[i] = value_print(VECTOR_ELT(list, i));
  UNPROTECT(1);
  return out;
}
