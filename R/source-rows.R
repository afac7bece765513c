# What a model takes from every chunk of a source: predictors, response and case weights, by name or
# by a formula.

# ---- rows of a source ---------------------------------------------------------------------------

# What a model takes from every chunk: all columns but the `response`, or what `terms` of a formula
# say. `y` is the response where it is given in full, else NULL; `weights` likewise, or an
# expression to be worked out in every chunk.
source_rows <- function(source, response = NULL, terms = NULL, y = NULL, weights = NULL,
                        scope = NULL) {
  structure(
    list(source = source, response = response, terms = terms, y = y, weights = weights,
         scope = scope),
    class = "kernelect_rows"
  )
}

is_rows <- function(x) inherits(x, "kernelect_rows")

# A source as the default methods take it, `y` being NULL, the name of a column or all values.
rows_of_source <- function(source, y, weights = NULL) {
  source <- validate_source(source, "x")
  if (is.null(source$columns)) source$columns <- first_columns(source)
  if (!is_text(y) || sum(source$sizes) == 1) return(source_rows(source, y = y, weights = weights))
  if (!y %in% source$columns) {
    near <- nearest_name(y, source$columns)
    abort("columns", "`y`: the source has no column `", y, "`.",
          if (length(near)) paste0(" Did you mean ", backticked(near), "?"))
  }
  source_rows(source, response = y, weights = weights)
}

first_columns <- function(source) {
  filled <- filled_chunks(source)
  if (!length(filled)) abort("data", "`x` has no rows.")
  colnames(source_chunk(source, filled[1L]))
}

# Predictors x, response y and case weights of chunk i; NULL where they do not come from it.
chunk_parts <- function(rows, i) {
  chunk <- source_chunk(rows$source, i)
  if (!is.null(rows$terms) && !is.data.frame(chunk)) chunk <- named_frame(chunk)
  weights <- if (is.language(rows$weights)) chunk_weights(rows, chunk, i)
  if (!is.null(rows$terms)) {
    frame <- model_frame(rows$terms, chunk)
    at <- attr(rows$terms, "response")
    x <- if (at) frame[-at] else frame
    attr(x, "terms") <- NULL
    return(list(x = x, y = if (at) frame[[at]], weights = weights))
  }
  if (is.null(rows$response)) return(list(x = chunk, weights = weights))
  others <- colnames(chunk) != rows$response
  y <- if (is.data.frame(chunk)) chunk[[rows$response]] else unname(chunk[, rows$response])
  list(x = chunk[, others, drop = FALSE], y = y, weights = weights)
}

chunk_weights <- function(rows, chunk, i) {
  value <- found_in_data(rows$weights, chunk, rows$scope, "weights")
  sizes <- rows$source$sizes
  if (length(value) == sum(sizes)) value <- value[sum(sizes[seq_len(i - 1L)]) + seq_len(sizes[i])]
  check_case_weights(value, sizes[i], "data")
}

# ---- formulas -----------------------------------------------------------------------------------

# As formula_data(), for a source.
formula_source <- function(formula, source, response, subset = NULL, weights = NULL) {
  check_formula(formula, response)
  if (!is.null(subset)) {
    abort("argument", "`subset` is not known to row sources: let `read` leave the rows out.")
  }
  source <- validate_source(source, "data")
  filled <- filled_chunks(source)
  if (!length(filled)) abort("data", "`data` has no rows.")
  first <- source_chunk(source, filled[1L])
  if (is.null(source$columns)) source$columns <- colnames(first)
  if (!is.data.frame(first)) first <- named_frame(first)
  check_variables(formula, first, "data")
  terms <- attr(model_frame(simple_terms(formula, first), first), "terms")
  check_by_row(terms, first)
  origin <- portable_terms(terms, names(first), sum(source$sizes))
  attr(terms, "predvars") <- attr(origin$terms, "predvars")
  attr(terms, ".Environment") <- unpacked_scope(origin$scope, topmost(environment(formula)))
  list(
    x = source_rows(source, terms = terms, weights = weights, scope = environment(formula)),
    origin = origin
  )
}

named_frame <- function(chunk) {
  if (is.null(colnames(chunk))) {
    abort("columns", "`data`: a formula needs names, and the columns of the source have none. ",
          "Give `columns` to `row_source()`.")
  }
  as.data.frame(chunk)
}

# The global environment, or the package that the formula was written in.
topmost <- function(home) {
  while (!is_lasting(home)) home <- parent.env(home)
  home
}

# A term must have the same value in a row whatever the other rows are.
check_by_row <- function(terms, frame) {
  variables <- as.list(attr(terms, "variables"))[-1L]
  if (all(vapply(variables, is.name, NA))) return(invisible())
  home <- attr(terms, ".Environment")
  kept <- seq_len(ceiling(nrow(frame) / 2))
  learned <- !mapply(identical, variables, as.list(attr(terms, "predvars"))[-1L])
  for (i in which(!vapply(variables, is.name, NA))) {
    whole <- tryCatch(take_rows(eval(variables[[i]], frame, home), kept), error = function(e) NULL)
    half <- tryCatch(eval(variables[[i]], frame[kept, , drop = FALSE], home),
                     error = function(e) NULL)
    same <- isTRUE(all.equal(unclass(whole), unclass(half), check.attributes = FALSE))
    if (learned[i] || !same) {
      abort("formula", "`formula`: `", deparse1(variables[[i]]), "` is worked out from all rows, ",
            "and a source has them in chunks. Work it out beforehand.")
    }
  }
}
