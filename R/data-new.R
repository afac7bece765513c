# New data, matched with what the blueprint of a model says of the training data.

# ---- new data -------------------------------------------------------------------

# The numeric, scaled matrix of new rows, with `complete` telling which rows have no NA.
new_matrix <- function(newdata, input, scaling, arg = "newdata") {
  plain <- is.data.frame(newdata) || is_sparse_class(newdata)
  if (!is.null(input$terms) && !(plain && has_plain_terms(input$terms))) {
    newdata <- frame_from_terms(input, newdata)
  }
  x <- match_columns(newdata, input, arg)
  if (is_sparse(x)) return(new_sparse_rows(x, scaling, arg))
  complete <- rep(TRUE, nrow(x))
  if (!all_finite(x)) {
    complete <- unname(rowSums(is.na(x)) == 0)
    check_finite_columns(replace(x, is.nan(x), 0), arg)
  }
  list(x = apply_scaling(x, scaling), complete = complete)
}

new_sparse_rows <- function(x, scaling, arg) {
  complete <- row_counts(x, is.na) == 0L
  check_finite_columns(`[[<-`(x, "value", replace(x$value, is.na(x$value), 0)), arg)
  list(x = apply_scaling(x, scaling), complete = complete)
}

# Nothing is looked up outside `newdata`: a variable of the workspace that happens to have the
# name of a missing column must not stand in for it.
frame_from_terms <- function(input, newdata) {
  terms <- stats::delete.response(input$terms)
  if (is.matrix(newdata) && !is.null(colnames(newdata))) newdata <- as.data.frame(newdata)
  if (!is.data.frame(newdata)) must_be("newdata", "a data frame", newdata)
  check_columns(input$needed, names(newdata), "newdata")
  if (nrow(newdata) == 0L) return(empty_frame(terms))
  attr(terms, ".Environment") <- unpacked_scope(input$scope)
  model_frame(terms, newdata, "newdata")
}

# Variables that are columns as they are need no evaluation.
has_plain_terms <- function(terms) {
  predictors <- as.list(attr(terms, "predvars"))[-c(1L, 1L + attr(terms, "response"))]
  length(predictors) > 0L && all(vapply(predictors, is.name, NA))
}

# Some functions cannot be evaluated on no rows.
empty_frame <- function(terms) {
  variables <- vapply(as.list(attr(terms, "variables"))[-1L], deparse1, "", backtick = FALSE)
  as.data.frame(stats::setNames(rep(list(numeric()), length(variables)), variables),
                optional = TRUE)
}

# Each of `needed` is there, once.
check_columns <- function(needed, names, arg) {
  if (!anyNA(match(needed, names)) && !anyDuplicated(names)) return(invisible())
  missing <- setdiff(needed, names)
  if (length(missing)) {
    abort("columns", "`", arg, "` lacks ", if (length(missing) > 1L) "columns " else "column ",
          backticked(missing), ".")
  }
  twice <- intersect(needed, names[duplicated(names)])
  if (length(twice)) {
    abort("columns", "`", arg, "` has column ", backticked(twice), " more than once.")
  }
}

# What new rows are matched with, in the user's words.
other_side <- function(arg) if (arg == "z") "`x`" else "the training data"

match_columns <- function(newdata, input, arg = "newdata") {
  match <- if (is.data.frame(newdata)) match_frame else match_matrix
  match(newdata, input, arg)
}

match_frame <- function(newdata, input, arg = "newdata") {
  variables <- if (is.null(input$variables)) input$columns else input$variables
  if (is.null(variables)) {
    abort("columns", "Columns are matched by name, and ", other_side(arg), " has no names: `", arg,
          "` must be a matrix without names too. Name both sides or neither.")
  }
  check_columns(variables, names(newdata), arg)
  names <- list(frame_row_names(newdata), input$columns)
  if (nrow(newdata) == 0L) return(matrix(0, 0L, input$width, dimnames = list(NULL, input$columns)))
  plain <- plain_columns(newdata, variables, input)
  if (!is.null(plain)) return(matrix(plain, nrow(newdata), dimnames = names))
  levels <- lapply(variables, function(v) input$levels[[v]])
  values <- lapply(seq_along(variables), function(i) {
    matched_variable(newdata[[variables[i]]], variables[i], levels[[i]], input, arg)
  })
  x <- expand_variables(values, variables, levels, nrow(newdata), arg)
  if (ncol(x) != input$width) fail_damaged("object", "input")
  dimnames(x) <- names
  x
}

# The numbers of a frame whose variables are plain numeric columns here and were so in training, the
# common case and not worth a loop; else NULL.
plain_columns <- function(newdata, variables, input) {
  if (length(variables) != input$width || length(unlist(input$levels)) || length(input$times) ||
      length(input$matrices)) {
    return(NULL)
  }
  values <- .subset(newdata, variables)
  plain <- function(v) is.numeric(v) && is.null(attributes(v))
  if (all(vapply(values, plain, NA))) as.double(unlist(values, use.names = FALSE))
}

# A variable of new data, in the shape and the unit of the training data.
matched_variable <- function(v, name, levels, input, arg) {
  if (!is.null(levels)) {
    check_new_levels(v, name, levels, arg)
    return(v)
  }
  where <- paste0(arg, "$", name)
  kind <- input$times[[name]]
  if (!identical(time_kind(v)[1L], kind[1L])) {
    must_be(where, paste0(if (is.null(kind)) "numeric" else paste("of class", kind[1L]),
                          ", as in the training data"), v)
  }
  if (!is.null(kind)) return(time_numbers(v, kind))
  if (is.factor(v) || is.character(v)) {
    kind <- if (name %in% input$logical) "logical" else "numeric"
    must_be(where, paste0(kind, ", as in the training data"), v)
  }
  matched_matrix(v, where, input$matrices[[name]])
}

# `shape` as matrix_shape() found it.
matched_matrix <- function(v, where, shape) {
  if (is.null(shape)) {
    if (is.matrix(v) && ncol(v) != 1L) {
      abort("columns", "`", where, "` must be a single column as in the training data, not ",
            describe(v), ".")
    }
    return(v)
  }
  named <- is.character(shape)
  width <- if (named) length(shape) else shape
  if (!is.matrix(v) || (!named && ncol(v) != width)) {
    abort("columns", "`", where, "` must be a matrix of ", width,
          if (width > 1L) " columns" else " column", " as in the training data, not ",
          describe(v), ".")
  }
  if (named != !is.null(colnames(v))) {
    abort("columns", "Columns are matched by name: ",
          if (named) paste0("`", where, "`") else "the training data",
          " has none. Name both sides or neither.")
  }
  if (!named) return(v)
  check_columns(shape, colnames(v), where)
  v[, shape, drop = FALSE]
}

check_new_levels <- function(v, name, levels, arg) {
  unknown <- setdiff(unique(as.character(v)), c(levels, NA))
  if (length(unknown)) {
    abort("levels", "Column `", name, "` of `", arg, "` has levels unknown to the model: ",
          paste0("\"", utils::head(unknown, 5L), "\"", collapse = ", "), ".")
  }
}

match_matrix <- function(newdata, input, arg = "newdata") {
  x <- design_matrix(newdata, arg)$x
  if (is.null(input$columns) && is.null(colnames(x))) {
    if (ncol(x) != input$width) {
      abort("columns", "`", arg, "` must have ", input$width, " columns like ", other_side(arg),
            ", not ", ncol(x), ".")
    }
    return(x)
  }
  if (is.null(colnames(x)) || is.null(input$columns)) {
    abort("columns", "Columns are matched by name: ",
          if (is.null(input$columns)) other_side(arg) else paste0("`", arg, "`"),
          " has none. Name both sides or neither.")
  }
  if (identical(input$columns, colnames(x))) return(x)
  check_columns(input$columns, colnames(x), arg)
  x[, input$columns, drop = FALSE]
}

# Spread rows computed for complete cases over all rows, NA elsewhere; `rows` names all of them.
fill_rows <- function(value, complete, rows = NULL) {
  old <- if (is.matrix(value)) rownames(value) else names(value)
  if (all(complete) && identical(old, rows)) return(value)
  from <- rep(NA_integer_, length(complete))
  from[complete] <- seq_len(sum(complete))
  if (is.matrix(value)) {
    out <- if (all(complete)) value else value[from, , drop = FALSE]
    if (!identical(rownames(out), rows)) rownames(out) <- rows
  } else {
    out <- if (all(complete)) value else value[from]
    names(out) <- rows
  }
  out
}
