# From what the user gives to a numeric matrix, and back again for new data. One blueprint
# (`input`) is kept in every model:
#   columns   names of the numeric columns, or NULL when the training matrix had none
#   width     number of numeric columns
#   variables names of the variables they come from (data frames and formulas)
#   levels    per variable its factor levels, NULL for numeric ones
#   terms     terms of the formula without its environment, or NULL

# ---- training data ---------------------------------------------------------------

# The common start of every fit: matrix, rows dropped for NA, scaling. Returns the scaled
# matrix `x`, the response `y` (rows matched), the blueprint, the scaling and `n`.
model_data <- function(x, y = NULL, scale = TRUE, na_action = "fail", terms = NULL) {
  check_flag(scale, "scale")
  na_action <- check_choice(na_action, "na_action", c("fail", "omit"))
  design <- design_matrix(x)
  x <- design$x
  if (nrow(x) == 0L) abort("data", "`x` has no rows.")
  if (ncol(x) == 0L) abort("data", "`x` has no columns.")
  check_duplicated_names(colnames(x))
  if (!is.null(y)) check_response_length(y, nrow(x))
  kept <- complete_rows(x, y, na_action)
  if (!is.null(kept)) {
    x <- x[kept, , drop = FALSE]
    y <- if (is.matrix(y)) y[kept, , drop = FALSE] else y[kept]
  }
  check_finite_columns(x)
  design$input$terms <- terms
  scaling <- fit_scaling(x, scale)
  list(x = apply_scaling(x, scaling), y = y, input = design$input, scaling = scaling, n = nrow(x))
}

# A numeric matrix and its blueprint from a matrix or a data frame.
design_matrix <- function(x, arg = "x") {
  if (is.data.frame(x)) {
    return(design_from_frame(x, arg))
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    remedy <- if (isS4(x)) " Convert it with `as.matrix()`."
      else if (is.atomic(x) && is.null(dim(x)) && is.numeric(x)) " One column? Use `matrix(x)` or `data.frame(x)`."
      else ""
    abort("argument", "`", arg, "` must be a numeric matrix or a data frame, not ", describe(x), ".", remedy)
  }
  if (is.object(x)) x <- unclass(x)
  storage.mode(x) <- "double"
  list(x = x, input = list(columns = colnames(x), width = ncol(x)))
}

design_from_frame <- function(data, arg) {
  levels <- lapply(data, variable_levels)
  parts <- Map(expand_variable, data, names(data), levels, MoreArgs = list(arg = arg))
  widths <- vapply(parts, ncol, 0L)
  x <- matrix(as.double(unlist(parts, use.names = FALSE)), nrow(data), sum(widths))
  columns <- unlist(lapply(parts, colnames), use.names = FALSE)
  dimnames(x) <- list(frame_row_names(data), columns)
  list(x = x, input = list(columns = columns, width = ncol(x), variables = names(data), levels = levels))
}

frame_row_names <- function(data) {
  if (.row_names_info(data) > 0L) row.names(data) # automatic ones carry no information
}

variable_levels <- function(v) {
  if (is.character(v)) v <- factor(v)
  if (is.factor(v)) levels(droplevels(v))
}

# One variable as numeric columns: itself, or an indicator for each of `levels`.
expand_variable <- function(v, name, levels, arg) {
  if (!is.null(levels)) {
    out <- outer(as.character(v), levels, `==`) + 0
    colnames(out) <- paste0(name, levels)
    return(out)
  }
  if (!(is.numeric(v) || is.logical(v)) || (is.object(v) && !inherits(v, c("AsIs", "integer64", "scale", "poly")))) {
    abort("argument", "Column `", name, "` of `", arg, "` must be numeric, logical, a factor or character, not ",
          describe(v), ".", if (inherits(v, c("Date", "POSIXt", "difftime"))) " Convert it with `as.numeric()`.")
  }
  if (is.matrix(v)) {
    suffix <- if (is.null(colnames(v))) seq_len(ncol(v)) else colnames(v)
    return(matrix(as.double(v), nrow(v), dimnames = list(NULL, paste0(name, suffix))))
  }
  matrix(as.double(v), dimnames = list(NULL, name))
}

check_duplicated_names <- function(names) {
  twice <- unique(names[duplicated(names)])
  if (length(twice)) {
    abort("columns", "Column names of `x` must be unique: ", backticked(twice), " occurs more than once. ",
          "Use `make.unique()`, or drop the names.")
  }
  if (!is.null(names) && (anyNA(names) || any(names == ""))) {
    abort("columns", "`x` has columns without a name among named ones: name all of them or none.")
  }
}

backticked <- function(names, most = 5L) {
  shown <- paste0("`", utils::head(names, most), "`", collapse = ", ")
  if (length(names) > most) paste0(shown, " and ", length(names) - most, " more") else shown
}

# NULL when all rows stay, else the rows kept.
complete_rows <- function(x, y, na_action) {
  y_missing <- if (is.null(y)) FALSE else if (is.matrix(y)) rowSums(is.na(y)) > 0 else is.na(y) & !is.nan_safe(y)
  if (!anyNA(x) && !any(y_missing)) return(NULL)
  missing <- is.na(x) & !is.nan(x)
  if (!any(missing) && !any(y_missing)) return(NULL)
  if (na_action == "fail") fail_missing(missing, y_missing)
  kept <- which(rowSums(missing) == 0 & !y_missing)
  inform(nrow(x) - length(kept), " of ", nrow(x), " rows with missing values omitted.")
  if (!length(kept)) abort("missing_values", "No row of `x` is without missing values.")
  kept
}

is.nan_safe <- function(y) if (is.numeric(y)) is.nan(y) else FALSE

fail_missing <- function(missing, y_missing) {
  counts <- colSums(missing)
  bad <- which(counts > 0)
  labels <- if (is.null(colnames(missing))) paste0("column ", bad) else paste0("`", colnames(missing)[bad], "`")
  text <- c(paste0(labels, " (", counts[bad], ")"), if (any(y_missing)) paste0("`y` (", sum(y_missing), ")"))
  if (length(text) > 6L) text <- c(text[1:5], paste(length(text) - 5L, "more"))
  abort("missing_values", "Missing values in ", paste(text, collapse = ", "),
        ". Remove or impute them, or use `na_action = \"omit\"`.")
}

check_finite_columns <- function(x, arg = "x") {
  if (all_finite(x)) return(invisible())
  nan <- colSums(is.nan(x))
  inf <- colSums(is.infinite(x))
  bad <- which(nan + inf > 0)
  if (!length(bad)) return(invisible())
  labels <- if (is.null(colnames(x))) paste("column", bad) else paste0("`", colnames(x)[bad], "`")
  what <- c(if (any(nan > 0)) paste(sum(nan), "NaN"), if (any(inf > 0)) paste(sum(inf), "infinite"))
  abort("not_finite", "`", arg, "` has ", paste(what, collapse = " and "), " values, in ",
        paste(utils::head(labels, 5L), collapse = ", "), ". Kernels need finite numbers: remove or replace them.")
}

# ---- scaling --------------------------------------------------------------------

fit_scaling <- function(x, scale) {
  if (!scale) return(NULL)
  center <- colMeans(x)
  spread <- .Call(ffi_column_sd, x, center)
  spread[!(spread > 0)] <- 1
  if (!all_finite(center) || !all_finite(spread)) {
    abort("not_finite", "`x` is too large to standardise without overflow: divide it by a constant first.")
  }
  list(center = center, scale = stats::setNames(spread, names(center)))
}

apply_scaling <- function(x, scaling) {
  if (is.null(scaling)) x else .Call(ffi_scale_columns, x, scaling$center, scaling$scale)
}

# ---- formulas -------------------------------------------------------------------

# Predictors as a data frame, response, and terms stripped of their environment (a model
# must not carry the caller's workspace along).
formula_data <- function(formula, data, response = TRUE) {
  if (missing(data) || is.null(data)) data <- environment(formula)
  if (!is.data.frame(data) && !is.environment(data) && !is.list(data)) must_be("data", "a data frame", data)
  if (response && length(formula) < 3L) {
    abort("formula", "`formula` must have a response on its left-hand side, such as `y ~ .`.")
  }
  if (!response && length(formula) == 3L) {
    abort("formula", "`formula` must not have a response here: write `~ .` or `~ a + b`.")
  }
  if (is.data.frame(data)) check_variables(formula, data, "data")
  frame <- stats::model.frame(formula, data, na.action = stats::na.pass)
  terms <- attr(frame, "terms")
  check_terms(terms)
  at <- attr(terms, "response")
  x <- if (at) frame[-at] else frame
  if (!ncol(x)) abort("formula", "`formula` names no predictor.")
  attr(x, "terms") <- NULL
  attr(terms, ".Environment") <- NULL
  list(x = x, y = if (at) frame[[at]], terms = terms)
}

check_variables <- function(formula, data, arg, where = parent.frame()) {
  unknown <- setdiff(all.vars(formula), c(names(data), "."))
  scope <- environment(formula)
  if (is.null(scope)) scope <- globalenv()
  unknown <- unknown[!vapply(unknown, exists, NA, envir = scope, mode = "numeric")]
  if (length(unknown)) {
    near <- unlist(lapply(unknown, function(u) names(data)[agrepl(u, names(data), max.distance = 0.3)]))
    abort("columns", backticked(unknown), if (length(unknown) > 1L) " are not columns of `" else " is not a column of `",
          arg, "`.", if (length(near)) paste0(" Did you mean ", backticked(unique(near)), "?"))
  }
}

check_terms <- function(terms) {
  if (any(attr(terms, "order") > 1L)) {
    abort("formula", "`formula` has an interaction (", attr(terms, "term.labels")[attr(terms, "order") > 1L][1L],
          "). A kernel models interactions by itself: list the variables with `+`.")
  }
  if (!is.null(attr(terms, "offset"))) abort("formula", "`formula` must not have an offset.")
}

# ---- new data -------------------------------------------------------------------

# The numeric, scaled matrix of new rows, with `complete` telling which rows have no NA.
new_matrix <- function(newdata, input, scaling) {
  if (!is.null(input$terms)) newdata <- frame_from_terms(input$terms, newdata)
  x <- if (is.data.frame(newdata)) match_frame(newdata, input) else match_matrix(newdata, input)
  complete <- !is.na(rowSums(x))
  if (any(is.infinite(x))) check_finite_columns(replace(x, is.nan(x), 0), "newdata")
  if (!all(complete)) complete <- rowSums(is.na(x)) == 0
  list(x = apply_scaling(x, scaling), complete = complete)
}

frame_from_terms <- function(terms, newdata) {
  terms <- stats::delete.response(terms)
  if (is.matrix(newdata) && !is.null(colnames(newdata))) newdata <- as.data.frame(newdata)
  if (!is.data.frame(newdata)) must_be("newdata", "a data frame", newdata)
  attr(terms, ".Environment") <- globalenv()
  missing <- setdiff(all.vars(terms), names(newdata))
  missing <- missing[!vapply(missing, exists, NA, envir = globalenv(), mode = "numeric")]
  if (length(missing)) fail_missing_columns(missing)
  stats::model.frame(terms, newdata, na.action = stats::na.pass)
}

fail_missing_columns <- function(missing) {
  abort("columns", "`newdata` lacks ", if (length(missing) > 1L) "columns " else "column ", backticked(missing), ".")
}

match_frame <- function(newdata, input) {
  if (is.null(input$variables)) { # trained on a matrix
    if (is.null(input$columns)) {
      abort("columns", "`newdata` must be a matrix without column names, like the training data, or refit with names.")
    }
    missing <- setdiff(input$columns, names(newdata))
    if (length(missing)) fail_missing_columns(missing)
    return(design_from_frame(newdata[input$columns], "newdata")$x)
  }
  missing <- setdiff(input$variables, names(newdata))
  if (length(missing)) fail_missing_columns(missing)
  parts <- lapply(input$variables, function(v) expand_new(newdata[[v]], v, input$levels[[v]]))
  x <- matrix(as.double(unlist(parts, use.names = FALSE)), nrow(newdata), dimnames = list(frame_row_names(newdata), NULL))
  if (ncol(x) != input$width) abort("columns", "`newdata` gives ", ncol(x), " columns where the model has ", input$width, ".")
  colnames(x) <- input$columns
  x
}


expand_new <- function(v, name, levels) {
  if (is.null(levels)) {
    if (is.factor(v) || is.character(v)) must_be(paste0("newdata$", name), "numeric, as in the training data", v)
    return(expand_variable(v, name, NULL, "newdata"))
  }
  unknown <- setdiff(unique(as.character(v)), c(levels, NA))
  if (length(unknown)) {
    abort("levels", "Column `", name, "` of `newdata` has levels unknown to the model: ",
          paste0("\"", utils::head(unknown, 5L), "\"", collapse = ", "), ".")
  }
  expand_variable(v, name, levels, "newdata")
}

match_matrix <- function(newdata, input) {
  x <- design_matrix(newdata, "newdata")$x
  if (is.null(input$columns) && is.null(colnames(x))) {
    if (ncol(x) != input$width) {
      abort("columns", "`newdata` must have ", input$width, " columns like the training data, not ", ncol(x), ".")
    }
    return(x)
  }
  if (is.null(colnames(x)) || is.null(input$columns)) {
    abort("columns", "Columns are matched by name: ", if (is.null(input$columns)) "the training data" else "`newdata`",
          " has none. Name both sides or neither.")
  }
  missing <- setdiff(input$columns, colnames(x))
  if (length(missing)) fail_missing_columns(missing)
  if (identical(input$columns, colnames(x))) x else x[, input$columns, drop = FALSE]
}

# Spread rows computed for complete cases over all rows, NA elsewhere.
fill_rows <- function(value, complete) {
  if (all(complete)) return(value)
  if (is.matrix(value)) {
    out <- value[rep(NA_integer_, length(complete)), , drop = FALSE]
    out[complete, ] <- value
    return(out)
  }
  out <- value[rep(NA_integer_, length(complete))]
  out[complete] <- value
  out
}
