# From what the user gives to a numeric matrix, and back again for new data. One blueprint
# (`input`) is kept in every model:
#   columns   names of the numeric columns, or NULL when the training matrix had none
#   width     number of numeric columns
#   variables names of the variables they come from (data frames and formulas)
#   levels    per variable its factor levels, NULL for numeric ones
#   matrices  for variables that are matrices the names of their columns, or how many
#   times     for dates, times and differences their class, and the unit of the last
#   terms     terms of the formula without its environment, or NULL
#   needed    names of the columns that the terms want from new data
#   scope     functions and values that the terms take from where the formula was written

# ---- training data ---------------------------------------------------------------

# The common start of every fit: matrix, rows dropped for NA, scaling. Returns the scaled
# matrix `x`, the response `y` and the case weights `weights` (rows matched, NULL where there are
# none), the blueprint, the scaling, `n`, the rows `kept` (NULL: all) and those left out as
# `na.action`, as `lm()` keeps them. Where the user has no choice about missing values `na_action`
# is NULL: they fail.
model_data <- function(x, y = NULL, scale = TRUE, na_action = "fail", weights = NULL) {
  check_flag(scale, "scale")
  if (!is.null(na_action)) na_action <- check_choice(na_action, "na_action", na_actions)
  design <- design_matrix(x)
  x <- design$x
  if (nrow(x) == 0L) abort("data", "`x` has no rows.")
  if (ncol(x) == 0L) abort("data", "`x` has no columns.")
  check_duplicated_names(colnames(x))
  check_response(y, nrow(x), "x")
  y <- plain_response(y)
  weights <- check_case_weights(weights, nrow(x), "x")
  kept <- complete_rows(x, y, na_action, design$owner)
  omitted <- omitted_rows(kept, x, na_action)
  if (!is.null(kept)) {
    if (design$frame && is.null(rownames(x))) rownames(x) <- seq_len(nrow(x))
    x <- x[kept, , drop = FALSE]
    y <- take_rows(y, kept)
    weights <- check_case_weights(weights[kept], nrow(x), "x")
  }
  check_finite_columns(x)
  check_finite_response(y)
  scaling <- fit_scaling(x, scale, weights)
  list(
    x = apply_scaling(x, scaling), y = y, weights = weights, input = design$input,
    scaling = scaling, n = nrow(x), kept = kept, na.action = omitted
  )
}

na_actions <- c("fail", "omit", "exclude")

# The rows that are not kept, by name, as stats::na.omit() and stats::na.exclude() tell of them.
omitted_rows <- function(kept, x, na_action) {
  if (is.null(kept)) return(NULL)
  gone <- seq_len(nrow(x))[-kept]
  structure(gone, names = if (is.null(rownames(x))) gone else rownames(x)[gone], class = na_action)
}

# Case weights as plain doubles, or NULL.
check_case_weights <- function(weights, n, of) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || is.object(weights) || !is.null(dim(weights))) {
    must_be("weights", paste0("NULL or a numeric vector with a case weight per row of `", of, "`"),
            weights)
  }
  check_response_length(weights, n, "weights", of)
  bad <- sum(!is.finite(weights))
  if (bad) {
    abort("not_finite", "`weights` must be finite numbers: ", bad,
          if (bad > 1L) " are" else " is", " missing or infinite.")
  }
  if (any(weights < 0)) {
    abort("argument", "`weights` must not be negative: ", sum(weights < 0),
          if (sum(weights < 0) > 1L) " are." else " is.")
  }
  if (!any(weights > 0)) abort("argument", "`weights` are all zero: no row is left to fit.")
  as.double(weights)
}

# Rows `i` of a matrix, data frame or vector; all of them for NULL.
take_rows <- function(v, i) {
  if (is.null(i)) v else if (length(dim(v)) == 2L) v[i, , drop = FALSE] else v[i]
}

# ---- Gram matrices ------------------------------------------------------------------

# What a model is fitted to: rows `x`, or with `x` missing a Gram matrix `K`, which becomes an
# object that fit_basis() and model_data() know from rows. So does kernlab's class of them.
rows_or_gram <- function(x, K) {
  if (missing(x)) {
    if (is.null(K)) abort("argument", "Give `x`, or a Gram matrix as `K`.")
    return(given_gram(K, "K"))
  }
  if (!is.null(K)) abort("argument", "Give `x` or `K`, not both.")
  if (is_kernel_matrix(x)) given_gram(x, "x") else x
}

given_gram <- function(K, arg) {
  structure(list(K = plain_gram(K), arg = arg), class = "kernelect_gram")
}

is_gram <- function(x) inherits(x, "kernelect_gram")

# A `kernelMatrix` of kernlab, whose class needs not be loaded.
is_kernel_matrix <- function(x) inherits(x, "kernelMatrix")

plain_gram <- function(K) {
  if (is_kernel_matrix(K)) matrix(as.numeric(K), nrow(K), dimnames = dimnames(K)) else K
}

# As model_data(), for a Gram matrix: rows that go take their columns along.
gram_data <- function(gram, y = NULL, na_action = "fail", weights = NULL) {
  na_action <- check_choice(na_action, "na_action", na_actions)
  K <- check_gram(gram$K, gram$arg)
  check_response(y, nrow(K), gram$arg)
  y <- plain_response(y)
  weights <- check_case_weights(weights, nrow(K), gram$arg)
  kept <- complete_rows(K, y, na_action)
  omitted <- omitted_rows(kept, K, na_action)
  if (!is.null(kept)) {
    K <- K[kept, kept, drop = FALSE]
    y <- take_rows(y, kept)
    weights <- check_case_weights(weights[kept], nrow(K), gram$arg)
  }
  check_finite_response(y)
  list(x = K, y = y, weights = weights, n = nrow(K), kept = kept, na.action = omitted)
}

# ---- rows -----------------------------------------------------------------------------

# A numeric matrix and its blueprint from a matrix or a data frame.
design_matrix <- function(x, arg = "x") {
  if (is_gram(x) || is_kernel_matrix(x)) {
    abort("argument", "`", if (is_gram(x)) x$arg else arg, "` is a Gram matrix, and the columns ",
          "of the data are needed here. Give the rows themselves.")
  }
  if (is.data.frame(x)) {
    return(design_from_frame(x, arg))
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x)) || is_integer64(x)) {
    remedy <- if (is_integer64(x)) {
      " Convert it with `matrix(as.numeric(x), nrow(x))`."
    } else if (isS4(x)) {
      " Convert it with `as.matrix()`."
    } else if (is.numeric(x) && is.null(dim(x))) {
      " One column? Use `matrix(x)` or `data.frame(x)`."
    }
    abort("argument", "`", arg, "` must be a numeric matrix or a data frame, not ", describe(x),
          ".", remedy)
  }
  if (is.object(x)) x <- unclass(x)
  x <- as_doubles(x)
  list(x = x, input = list(columns = colnames(x), width = ncol(x)), frame = FALSE)
}

# Whole numbers of the bit64 package, stored in the bits of doubles.
is_integer64 <- function(x) inherits(x, "integer64")

design_from_frame <- function(data, arg) {
  values <- as.list(data)
  levels <- lapply(values, variable_levels)
  times <- Filter(length, lapply(values, time_kind))
  if (length(times)) inform_times(times)
  values[names(times)] <- Map(time_numbers, values[names(times)], times)
  columns <- column_names(values, names(data), levels)
  x <- expand_variables(values, names(data), levels, nrow(data), arg)
  dimnames(x) <- list(frame_row_names(data), columns)
  input <- list(
    columns = columns, width = ncol(x), variables = names(data), levels = levels,
    matrices = Filter(length, Map(matrix_shape, values, names(data), arg)), times = times
  )
  owner <- rep(names(data), unlist(Map(variable_width, values, levels)))
  list(x = x, input = input, frame = TRUE, owner = owner)
}

# ---- variables of a frame ---------------------------------------------------------

# Dates and times become numbers; new ones must be of the same class, and in the same unit.
time_kind <- function(v) {
  if (inherits(v, "Date")) return("Date")
  if (inherits(v, "POSIXt")) return("POSIXct")
  if (inherits(v, "difftime")) c("difftime", units(v))
}

time_numbers <- function(v, kind) {
  if (kind[1L] == "difftime") return(as.numeric(v, units = kind[2L]))
  as.numeric(if (kind == "POSIXct") as.POSIXct(v) else v)
}

inform_times <- function(times) {
  meaning <- function(kind) {
    switch(kind[1L],
      Date = "days since 1970-01-01", POSIXct = "seconds since 1970-01-01", kind[2L]
    )
  }
  inform("Taken as numbers: ",
         paste0("`", names(times), "` (", vapply(times, meaning, ""), ")", collapse = ", "), ".")
}

# What is to be found again in new data of a variable that is a matrix: the names of its columns,
# or how many they are. A single column without a name is a vector.
matrix_shape <- function(v, name, arg) {
  if (!is.matrix(v) || (ncol(v) == 1L && is.null(colnames(v)))) return(NULL)
  names <- colnames(v)
  if (is.null(names)) return(ncol(v))
  if (anyNA(names) || any(names == "") || anyDuplicated(names)) {
    abort("columns", "Column `", name, "` of `", arg, "` is a matrix with column names that are ",
          "missing or not unique: name all of them, or none.")
  }
  names
}

# A factor `V1` with level "0" beside a column `V10` would make two columns of one name: then
# the level is set off, as `V1=0`.
column_names <- function(values, names, levels) {
  all_names <- function(sep) {
    unlist(Map(variable_columns, values, names, levels, sep), use.names = FALSE)
  }
  plain <- all_names("")
  if (anyDuplicated(plain)) all_names("=") else plain
}

variable_columns <- function(v, name, levels, sep) {
  if (length(levels)) return(paste0(name, sep, levels))
  if (is.matrix(v) && !is.null(colnames(v))) return(paste0(name, sep, colnames(v)))
  if (is.matrix(v) && ncol(v) != 1L) return(paste0(name, sep, seq_len(ncol(v))))
  name
}

variable_width <- function(v, levels) {
  if (!is.null(levels)) max(length(levels), 1L) else if (is.matrix(v)) ncol(v) else 1L
}

# The numeric matrix of a list of variables, n rows each, filled column by column.
expand_variables <- function(values, names, levels, n, arg) {
  width <- as.double(unlist(Map(variable_width, values, levels)))
  check_memory(n, sum(width),
               "Does a text column hold a different value in each row? Leave it out.")
  x <- matrix(0, n, sum(width))
  before <- cumsum(width) - width
  for (i in seq_along(values)) {
    x[, before[i] + seq_len(width[i])] <- expand_variable(values[[i]], names[i], levels[[i]], arg)
  }
  x
}

# Row names other than 1, 2, ...: those carry no information, and not every route makes them.
frame_row_names <- function(data) {
  plain <- .row_names_info(data) <= 0L || identical(attr(data, "row.names"), seq_len(nrow(data)))
  if (!plain) row.names(data)
}

variable_levels <- function(v) {
  if (is.character(v)) v <- factor(v)
  if (is.factor(v)) setdiff(levels(droplevels(v)), NA)
}

# One variable as numbers: itself, or an indicator for each of `levels`. A row without a level
# is NA in all of them.
expand_variable <- function(v, name, levels, arg) {
  if (!is.null(levels)) {
    if (!length(levels)) return(rep(NA_real_, length(v)))
    return(outer(as.character(v), levels, `==`) + 0)
  }
  if (!(is.numeric(v) || is.logical(v)) || is_integer64(v)) {
    abort("argument", "Column `", name, "` of `", arg,
          "` must be numeric, logical, a factor or character, not ",
          describe(v), ".", if (is_integer64(v)) " Convert it with `as.numeric()`.")
  }
  as.double(v)
}

check_duplicated_names <- function(names) {
  twice <- unique(names[duplicated(names)])
  if (length(twice)) {
    abort("columns", "Column names of `x` must be unique: ", backticked(twice),
          " occurs more than once. ",
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

# NULL when all rows stay, else the rows kept. `owner`: the variable that each column comes from,
# where that is known.
complete_rows <- function(x, y, na_action, owner = NULL) {
  if (!anyNA(x) && !anyNA(y)) return(NULL)
  missing <- is_missing(x)
  y_missing <- is_missing(y)
  if (is.matrix(y_missing)) y_missing <- rowSums(y_missing) > 0
  if (!any(missing) && !any(y_missing)) return(NULL)
  if (!isTRUE(na_action %in% c("omit", "exclude"))) {
    fail_missing(by_owner(missing, owner), y_missing,
                 remedy = if (!is.null(na_action)) ", or use `na_action = \"omit\"`")
  }
  gone <- rowSums(missing) > 0
  if (any(y_missing)) gone <- gone | y_missing
  if (all(gone)) abort("missing_values", "Every row of `x` has missing values.")
  inform(sum(gone), " of ", nrow(x), " rows with missing values omitted.")
  which(!gone)
}

# Missing values by the variables that the user knows.
by_owner <- function(missing, owner) {
  if (is.null(owner)) return(missing)
  groups <- split(seq_along(owner), factor(owner, unique(owner)))
  do.call(cbind, lapply(groups, function(at) rowSums(missing[, at, drop = FALSE]) > 0))
}

# NA but not NaN, which has an error of its own.
is_missing <- function(x) if (is.double(x)) is.na(x) & !is.nan(x) else is.na(x)

fail_missing <- function(missing, y_missing = FALSE, arg = "x", remedy = NULL) {
  counts <- colSums(missing)
  bad <- which(counts > 0)
  labels <- paste0(column_labels(missing, bad), " (", counts[bad], ")")
  if (length(labels) > 5L) labels <- c(labels[1:5], paste(length(labels) - 5L, "more"))
  abort("missing_values", paste(c(
    if (length(bad)) paste0("`", arg, "` has missing values in ", paste(labels, collapse = ", ")),
    if (any(y_missing)) paste0("`y` has missing values (", sum(y_missing), ")")
  ), collapse = " and "), ". Remove or impute them", remedy, ".")
}

column_labels <- function(x, at) {
  if (is.null(colnames(x))) paste("column", at) else paste0("`", colnames(x)[at], "`")
}

# What a response may be: anything with a value per row that NA can be looked for in.
check_response <- function(y, n, of) {
  if (is.null(y)) return(invisible())
  if (is.data.frame(y) || !(is.atomic(y) || is.factor(y)) || length(dim(y)) > 2L) {
    must_be("y", paste0("a vector, a factor or a matrix with a value per row of `", of, "`"), y,
            remedy = if (is.data.frame(y)) column_remedy("y"))
  }
  check_response_length(y, n, of = of)
}

# I() in a formula or a data frame is no class of its own, and when a number was taken is of no
# matter here; factors see plain_factor().
plain_response <- function(y) {
  if (inherits(y, "AsIs")) class(y) <- setdiff(class(y), "AsIs")
  if (stats::is.ts(y)) attributes(y)[c("tsp", "class")] <- NULL
  if (is.factor(y)) plain_factor(y) else y
}

check_finite_response <- function(y) {
  if (!is.numeric(y) || all_finite(y)) return(invisible())
  abort("not_finite", "`y` has ", nonfinite_words(sum(is.nan(y)), sum(is.infinite(y))),
        " values. Remove or replace them.")
}

check_squares <- function(y) {
  if (largest_absolute(y) > 1e150) {
    abort("not_finite", "`y` is too large: squared errors overflow. Divide it by a constant.")
  }
}

nonfinite_words <- function(nan, inf) {
  count <- c(`NaN` = nan, infinite = inf)
  count <- count[count > 0]
  paste0(names(count), " (", count, ")", collapse = " and ")
}

check_finite_columns <- function(x, arg = "x") {
  if (all_finite(x)) return(invisible())
  nan <- colSums(is.nan(x))
  inf <- colSums(is.infinite(x))
  bad <- which(nan + inf > 0)
  if (!length(bad)) return(invisible())
  abort("not_finite", "`", arg, "` has ", nonfinite_words(sum(nan), sum(inf)), " values, in ",
        paste(utils::head(column_labels(x, bad), 5L), collapse = ", "),
        ". Kernels need finite numbers: remove or replace them.")
}

# ---- scaling --------------------------------------------------------------------

fit_scaling <- function(x, scale, weights = NULL) {
  if (!scale) return(NULL)
  moments <- if (is.null(weights)) column_moments(x) else weighted_moments(x, weights)
  moments$spread[!(moments$spread > 0)] <- 1
  if (!all_finite(moments$center) || !all_finite(moments$spread)) {
    abort("not_finite",
          "`x` is too large to standardise without overflow: divide it by a constant first.")
  }
  list(
    center = moments$center, scale = stats::setNames(moments$spread, names(moments$center))
  )
}

column_moments <- function(x) {
  center <- colMeans(x)
  list(center = center, spread = .Call(ffi_column_sd, x, center))
}

# Mean and standard deviation with case weights. Whole weights count rows, so the divisor is
# their sum less one; weights below one on average are relative, and then it is the share
# (m - 1) / m of their sum, m the rows of positive weight. The larger of the two never vanishes.
weighted_moments <- function(x, weights) {
  total <- sum(weights)
  center <- colSums(x * weights) / total
  d <- x - rep(center, each = nrow(x))
  squares <- colSums(d^2 * weights) - colSums(d * weights)^2 / total
  positive <- sum(weights > 0)
  spread <- sqrt(pmax(squares, 0) / max(total - 1, total * (1 - 1 / positive)))
  constant <- apply(x[weights > 0, , drop = FALSE], 2L, function(v) all(v == v[1L]))
  list(center = center, spread = ifelse(constant, 0, spread))
}

apply_scaling <- function(x, scaling) {
  if (is.null(scaling)) x else .Call(ffi_scale_columns, x, scaling$center, scaling$scale)
}

# ---- formulas -------------------------------------------------------------------

# The body of every formula method: `.fit` is the default method, `.call` the user's call, in which
# `subset` and `weights` wait to be worked out. Dots, since `...` may have a `fit` of its own.
fit_formula <- function(.fit, formula, data, .call, ..., .response = TRUE) {
  if ("weights" %in% names(.call) && !"weights" %in% names(formals(.fit))) {
    abort("dots", "Unknown argument: `weights`. This function takes no case weights.")
  }
  parts <- formula_data(formula, data, .response, .call$subset, .call$weights)
  model <- if (!.response) {
    .fit(parts$x, ...)
  } else if (is.null(parts$weights)) {
    .fit(parts$x, parts$y, ...)
  } else {
    .fit(parts$x, parts$y, ..., weights = parts$weights)
  }
  model$call <- portable_call(.call, model)
  with_origin(model, parts$origin)
}

# Predictors as a data frame, response, case weights, and terms stripped of their environment (a
# model must not carry the caller's workspace along). `subset` and `weights` are expressions,
# worked out among the data and then where the formula was written, as `lm()` does.
formula_data <- function(formula, data, response = TRUE, subset = NULL, weights = NULL) {
  if (missing(data)) data <- NULL
  if (!inherits(formula, "formula")) must_be("formula", "a formula such as `y ~ .`", formula)
  if (!(is.null(data) || is.data.frame(data) || is.environment(data))) {
    must_be("data", "a data frame", data)
  }
  if (response && length(formula) < 3L) {
    abort("formula", "`formula` must have a response on its left-hand side, such as `y ~ .`.")
  }
  if (!response && length(formula) == 3L) {
    abort("formula", "`formula` must not have a response here: write `~ .` or `~ a + b`.")
  }
  if (is.data.frame(data)) check_variables(formula, data, "data")
  frame <- model_frame(simple_terms(formula, data), data)
  terms <- attr(frame, "terms")
  found <- function(expr, arg) found_in_data(expr, data, environment(formula), arg)
  weights <- check_case_weights(found(weights, "weights"), nrow(frame), "data")
  rows <- chosen_rows(found(subset, "subset"), frame)
  origin <- portable_terms(terms, c(names(data), names(frame)), nrow(frame))
  if (!is.null(rows)) frame <- frame[rows, , drop = FALSE]
  at <- attr(terms, "response")
  x <- if (at) frame[-at] else frame
  if (!ncol(x)) abort("formula", "`formula` names no predictor.")
  attr(x, "terms") <- NULL
  list(
    x = x, y = if (at) frame[[at]], weights = take_rows(weights, rows),
    origin = origin
  )
}

found_in_data <- function(expr, data, scope, arg) {
  tryCatch(
    eval(expr, data, scope),
    error = function(e) {
      abort("argument", "`", arg, "` cannot be worked out: ", conditionMessage(e), ".")
    }
  )
}

# Row numbers of a subset, given as `[` takes them; NULL means all. NA chooses no row.
chosen_rows <- function(subset, frame) {
  if (is.null(subset)) return(NULL)
  n <- nrow(frame)
  if (!(is.logical(subset) || is.numeric(subset) || is.character(subset)) || is.object(subset)) {
    must_be("subset", "a logical vector, row numbers or row names", subset)
  }
  if (is.logical(subset) && !length(subset) %in% c(1L, n)) {
    abort("argument", "`subset` must have one value per row of `data` (", n, "), not ",
          length(subset), ".")
  }
  rows <- stats::setNames(seq_len(n), row.names(frame))[subset]
  lost <- !is.logical(subset) & is.na(rows)
  if (any(lost)) {
    abort("argument", "`subset` names rows that `data` does not have: ",
          backticked(if (is.character(subset)) subset[lost] else setdiff(subset, seq_len(n))), ".")
  }
  rows <- unname(rows[!is.na(rows)])
  if (!length(rows)) abort("data", "`subset` leaves no rows.")
  rows
}

# Terms with `.` spelt out. What is subtracted goes: model.frame() would keep it as a column.
# Worked out once: R takes seconds to read a formula of thousands of terms.
simple_terms <- function(formula, data) {
  if (!is.data.frame(data)) {
    if ("." %in% all.vars(formula)) {
      abort("formula", "`formula` has a `.`, which needs `data` to be a data frame.")
    }
    data <- NULL
  }
  terms <- tryCatch(
    stats::terms(formula, data = data),
    error = function(e) abort("formula", "`formula` cannot be read: ", conditionMessage(e), ".")
  )
  check_terms(terms)
  used <- rowSums(as.matrix(attr(terms, "factors"))) > 0
  if (!length(used)) used <- logical(length(attr(terms, "variables")) - 1L)
  used[attr(terms, "response")] <- TRUE
  attr(terms, "variables") <- attr(terms, "variables")[c(TRUE, used)]
  attr(terms, "factors") <- NULL # of a size with the square of the columns
  terms
}

# The evaluated variables, with the terms as an attribute. Columns that are taken as they are need
# no evaluation.
model_frame <- function(terms, data, arg = "data") {
  variables <- as.list(attr(terms, "variables"))[-1L]
  plain <- is.data.frame(data) && all(vapply(variables, is.name, NA))
  names <- if (plain) vapply(variables, as.character, "")
  if (plain && all(names %in% names(data)) && !anyDuplicated(names)) {
    attr(terms, "predvars") <- attr(terms, "variables")
    frame <- as.data.frame(data)[names]
    return(structure(frame, terms = terms))
  }
  tryCatch(
    stats::model.frame(terms, data, na.action = stats::na.pass),
    error = function(e) {
      abort("formula", "`formula` cannot be worked out on `", arg, "`: ", conditionMessage(e), ".")
    }
  )
}

# What the blueprint keeps of a formula: its terms without their environment, the columns they
# need, and of what else they use as much as new data call for, `n` rows having been there. Single
# values, such as the degree in `poly(x, degree)`, are written into the terms; functions and values
# that are not one a row go into `scope`.
portable_terms <- function(terms, columns, n) {
  home <- attr(terms, ".Environment")
  for (name in setdiff(all.vars(attr(terms, "predvars")), columns)) {
    value <- get0(name, home, mode = "any")
    if (is.atomic(value) && length(value) == 1L) {
      attr(terms, "predvars") <- do.call(
        substitute, list(attr(terms, "predvars"), stats::setNames(list(value), name))
      )
    }
  }
  attr(terms, ".Environment") <- NULL
  wanted <- attr(stats::delete.response(terms), "predvars")
  variables <- all.vars(wanted)
  values <- Filter(function(name) is_parameter(get0(name, home), n), setdiff(variables, columns))
  list(
    terms = terms, needed = setdiff(variables, values),
    scope = packed_scope(setdiff(c(values, all.names(wanted)), columns), home)
  )
}

is_parameter <- function(value, n) !is.null(value) && (is.function(value) || NROW(value) != n)

# ---- what a formula uses from where it was written ---------------------------------

# The values of `names`, and of the names their functions use in turn, as far as they are found
# before the global environment and packages: those will be there when new data come, and the
# environments between, with all they hold, need not be kept. Functions leave theirs behind.
packed_scope <- function(names, home, scope = list()) {
  for (name in setdiff(unique(names), "")) {
    found <- local_value(name, home)
    if (is.null(found) || is.environment(found$value)) next
    value <- found$value
    bare <- if (is_local_function(value)) without_home(value) else value
    if (name %in% names(scope)) {
      if (identical(scope[[name]], bare)) next
      abort("formula", "`formula` uses functions that know two different things by the name `",
            name, "`. Rename one of them.")
    }
    scope[[name]] <- bare
    if (is_local_function(value)) {
      scope <- packed_scope(free_names(value), environment(value), scope)
    }
  }
  scope
}

local_value <- function(name, home) {
  while (!is_lasting(home)) {
    if (exists(name, home, inherits = FALSE)) {
      return(list(value = get(name, home, inherits = FALSE)))
    }
    home <- parent.env(home)
  }
  # what a package keeps to itself is found by its own code alone
  if (isNamespace(home) && exists(name, home, inherits = FALSE)) list(value = get(name, home))
}

is_lasting <- function(home) {
  identical(home, globalenv()) || identical(home, emptyenv()) || identical(home, baseenv()) ||
    isNamespace(home) || !is.null(attr(home, "name"))
}

is_local_function <- function(f) {
  is.function(f) && !is.primitive(f) && !is_lasting(environment(f))
}

without_home <- function(f) {
  f <- utils::removeSource(f)
  environment(f) <- emptyenv()
  f
}

# Names in a function that are neither its arguments nor assigned in it.
free_names <- function(f) {
  inside <- as.call(c(as.name("{"), as.list(formals(f)), body(f)))
  setdiff(all.names(inside), c(names(formals(f)), assigned_names(body(f))))
}

assigned_names <- function(expr) {
  if (!is.call(expr)) return(character())
  assigns <- as.character(expr[[1L]])[1L] %in% c("<-", "=", "for") && is.name(expr[[2L]])
  c(if (assigns) as.character(expr[[2L]]), unlist(lapply(as.list(expr)[-1L], assigned_names)))
}

# An environment with what packed_scope() kept.
unpacked_scope <- function(scope, parent = globalenv()) {
  if (!length(scope)) return(parent)
  home <- list2env(scope, parent = parent)
  for (name in names(scope)) {
    f <- scope[[name]]
    if (is.function(f) && identical(environment(f), emptyenv())) {
      assign(name, `environment<-`(f, home), home)
    }
  }
  home
}

# A name that is neither a column nor a variable the user can see is most likely misspelt. A
# function may be handed to another, as in `sapply(x, f)`, but is no variable by itself.
check_variables <- function(formula, data, arg) {
  unknown <- setdiff(all.vars(formula), c(names(data), "."))
  alone <- names_alone(formula)
  visible <- function(name) {
    value <- get0(name, environment(formula))
    !is.null(value) && !(is.function(value) && name %in% alone)
  }
  unknown <- unknown[!vapply(unknown, visible, NA)]
  if (!length(unknown)) return(invisible())
  near <- unique(unlist(lapply(unknown, nearest_name, names(data))))
  verb <- if (length(unknown) > 1L) " are not columns of `" else " is not a column of `"
  abort("columns", backticked(unknown), verb, arg, "`.",
        if (length(near)) paste0(" Did you mean ", backticked(near), "?"))
}

# Names that are terms of a formula by themselves.
names_alone <- function(expr) {
  if (is.name(expr)) return(as.character(expr))
  operators <- c("~", "+", "-", "*", ":", "/", "^", "%in%", "(")
  if (!is.call(expr) || !as.character(expr[[1L]])[1L] %in% operators) return(character())
  unlist(lapply(as.list(expr)[-1L], names_alone))
}

nearest_name <- function(name, names) {
  if (!length(names)) return(character())
  edits <- as.vector(utils::adist(name, names, ignore.case = TRUE))
  names[edits == min(edits) & edits <= nchar(name) / 3]
}

check_terms <- function(terms) {
  if (any(attr(terms, "order") > 1L)) {
    abort("formula", "`formula` has an interaction (",
          attr(terms, "term.labels")[attr(terms, "order") > 1L][1L],
          "). A kernel models interactions by itself: list the variables with `+`.")
  }
  if (!is.null(attr(terms, "offset"))) abort("formula", "`formula` must not have an offset.")
}

# ---- new data -------------------------------------------------------------------

# The numeric, scaled matrix of new rows, with `complete` telling which rows have no NA.
new_matrix <- function(newdata, input, scaling, arg = "newdata") {
  if (!is.null(input$terms) && !(is.data.frame(newdata) && has_plain_terms(input$terms))) {
    newdata <- frame_from_terms(input, newdata)
  }
  x <- match_columns(newdata, input, arg)
  complete <- unname(!is.na(rowSums(x)))
  if (!all(complete)) complete <- unname(rowSums(is.na(x)) == 0)
  if (!all_finite(x)) check_finite_columns(replace(x, is.nan(x), 0), arg)
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
    must_be(where, "numeric, as in the training data", v)
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
