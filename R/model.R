# What the models on a basis share: from the user's `basis` argument to coordinates of the
# training rows, and from a fitted linear function on the basis to values at new rows.

# ---- fitting --------------------------------------------------------------------------

# Training data under the `basis` argument: NULL (all rows), the name of a method, or a
# kernel_basis. Returns `basis`, the coordinates `z` of the training rows in it (n x size,
# belonging to the caller alone), the (scaled) rows `x`, what `respond` makes of the response,
# `y`, the case weights `weights` (or NULL), and row names `rows`.
fit_basis <- function(x, y, basis, kernel, control, scale, na_action, default_kernel = FALSE,
                      respond = identity, weights = NULL) {
  if (is_rows(x)) {
    return(fit_source_basis(x, basis, kernel, control, scale, na_action, default_kernel, respond))
  }
  if (inherits(basis, "kernel_basis")) {
    return(given_basis(x, y, basis, if (!default_kernel) kernel, control, na_action, respond,
                       weights))
  }
  data <- if (is_gram(x)) {
    gram_data(x, y, na_action, weights)
  } else {
    model_data(x, y, scale = scale, na_action = na_action, weights = weights)
  }
  data <- weighted_rows(data, na_action, gram = is_gram(x))
  data$y <- respond(data$y) # what is wrong with it is told before the work
  control$times <- data$weights
  fit <- if (is_gram(x)) {
    if (!default_kernel) warn_kernel_unused()
    basis_from_gram(data, control, keep = TRUE)
  } else {
    kernel <- if (is.null(data$weights)) {
      resolve_kernel(kernel, data$x, data$variance)
    } else {
      resolve_for_cases(kernel, data$x, data$weights)
    }
    basis_from_data(data, kernel, control, keep = TRUE)
  }
  basis_parts(fit$basis, fit$factor, data)
}

basis_parts <- function(basis, z, data) {
  list(
    basis = basis, z = z, x = data$x, y = data$y, weights = data$weights, rows = rownames(data$x),
    na.action = data$na.action
  )
}

warn_kernel_unused <- function() {
  warn("kernel", "`kernel` is of no use with a Gram matrix, which has its kernel in it.")
}

# The arguments of a basis as a model takes them; `basis` NULL means pivoting to the numerical
# rank, which keeps the span of all rows.
model_control <- function(basis, size, tol, arguments) {
  control <- function(method, size, tol) {
    do.call(basis_control, c(list(method, size = size, tol = tol), arguments))
  }
  if (is.null(basis)) return(control("cholesky", if (is.null(size)) Inf else size, 0))
  if (inherits(basis, "kernel_basis")) return(control(basis$method, size, tol))
  if (!(is.character(basis) && length(basis) == 1L && basis %in% basis_methods)) {
    methods <- paste0("\"", basis_methods, "\"", collapse = ", ")
    must_be("basis", paste0("NULL, a kernel_basis, or one of ", methods), basis)
  }
  control(basis, size, tol)
}

# What every model takes for its basis and passes on as it is: from the frame of its method, or from
# a list of its arguments; `but` those that mean something else there.
passed_on <- function(from, but = NULL) {
  names <- setdiff(intersect(basis_arguments, names(from)), but)
  if (is.environment(from)) mget(names, envir = from) else from[names]
}

basis_arguments <- c("center", "neighbours", "threshold", "first", "threads", "verbose")

given_basis <- function(x, y, basis, kernel, control, na_action, respond, weights) {
  validate_basis(basis, "basis")
  na_action <- check_choice(na_action, "na_action", na_actions)
  if (!is.null(control$size) && is.finite(control$size)) basis <- head(basis, control$size)
  if (is_gram_basis(basis)) return(given_gram_basis(x, y, basis, na_action, respond, weights))
  input <- basis$input
  # a frame of evaluated variables (from a formula) needs no evaluation
  if (!is.null(input$terms) && all(input$variables %in% colnames(x))) input$terms <- NULL
  data <- model_data(new_matrix(x, input, NULL, "x")$x, y, scale = FALSE, na_action = na_action,
                     weights = weights)
  data <- weighted_rows(data, na_action)
  data$x <- scaled_rows(data$x, basis$scaling)
  if (!is.null(kernel) && !same_kernel(resolve_kernel(kernel, data$x), basis$kernel)) {
    warn_other_kernel(basis)
  }
  data$y <- respond(data$y)
  basis_parts(basis, basis_coordinates(basis, data$x, control$threads), data)
}

warn_other_kernel <- function(basis) {
  warn("kernel", "`kernel` is not the kernel of `basis`, which is used: ",
       kernel_label(basis$kernel), ".")
}

# `x` has the rows to fit by the rows that the basis was chosen from.
given_gram_basis <- function(x, y, basis, na_action, respond, weights) {
  if (is_gram(x)) x <- x$K
  data <- model_data(x, y, scale = FALSE, na_action = na_action, weights = weights)
  data <- weighted_rows(data, na_action)
  data$y <- respond(data$y)
  basis_parts(basis, basis_coordinates(basis, cross_values(basis, data$x, "x")$x, 1L), data)
}

# A prediction is z a + offset with coordinates z worked out anew from the basis. Where its rows are
# nearly dependent, as "kgs" permits, rounding makes these others than those of the fit, and large
# coefficients make that a wrong answer: a few training rows tell (and are asked only where pivots
# are that far apart, to save their time).
warn_if_dependent <- function(basis, x, values, a, offset) {
  pivot <- basis$path$pivot
  if (is.null(basis$kernel) || min(pivot) > 1e-10 * max(pivot)) return(invisible())
  rows <- evenly_spaced(nrow(values), 50L)
  again <- basis_coordinates(basis, rows_at(x, rows), 1L) %*% a +
    rep(offset, each = length(rows))
  off <- max(abs(again - values[rows, ])) /
    max(abs(values - rep(colMeans(values), each = nrow(values))))
  if (off <= 1e-3) return(invisible())
  warn("conditioning", "Rows of the basis are nearly dependent (least pivot ",
       format(min(pivot), digits = 2), "): `predict()` differs from the fit by ",
       format(off, digits = 2), " of its spread. ",
       "Give a smaller `size`, a larger `ridge`, or another `basis`.")
}

# ---- responses --------------------------------------------------------------------------

# A response of a regression or classification as a matrix: numbers, or indicators of classes.
response_matrix <- function(y) {
  if (is.factor(y) || is.character(y) || is.logical(y)) {
    y <- check_classes(y, min_rows = 2L)
    return(list(matrix = indicators(y), classes = y, vector = FALSE))
  }
  if (!is.numeric(y) || is.object(y)) {
    must_be("y", "a factor, a numeric vector or a numeric matrix", y,
            if (length(time_kind(y))) " Convert it with `as.numeric()`.")
  }
  values <- if (is.matrix(y)) y else matrix(y)
  storage.mode(values) <- "double"
  if (!ncol(values)) abort("argument", "`y` has no columns.")
  check_finite_columns(values, "y")
  check_squares(values)
  constant <- which(apply(values, 2L, is_constant))
  if (length(constant)) {
    fail_constant(values[1L, constant[1L]], if (is.matrix(y)) constant[1L])
  }
  list(matrix = values, classes = NULL, vector = !is.matrix(y))
}

is_constant <- function(v) all(v == v[1L])

fail_constant <- function(value, column = NULL) {
  abort("response", if (!is.null(column)) paste("Column", column, "of "), "`y` is constant (",
        format(value, digits = 6), "): there is nothing to explain.")
}

indicators <- function(y) {
  out <- outer(as.integer(y), seq_len(nlevels(y)), `==`) + 0
  colnames(out) <- levels(y)
  out
}

classes_of <- function(values, levels) {
  best <- if (nrow(values)) max.col(values, ties.method = "first") else integer()
  label_factor(best, levels)
}

# NA where a row has missing values; `decide` is classes_of() or like it.
predicted_classes <- function(values, levels, decide = classes_of) {
  complete <- !is.na(values[, 1L])
  fill_rows(decide(values[complete, , drop = FALSE], levels), complete)
}

# Whether fields of n training rows are kept.
check_keep <- function(keep, n) if (is.null(keep)) n <= 10000 else check_flag(keep, "keep")

fail_not_kept <- function(what) {
  abort("model", "The model holds no ", what, ": it was fitted with `keep = FALSE` ",
        "(the default above 10,000 rows). Fit it with `keep = TRUE`, or use `predict()`.")
}

# What portable_terms() kept of a formula goes where prediction looks for it: into the blueprint of
# the model, of its basis, or of the model that was tuned.
with_origin <- function(model, origin) {
  model$terms <- origin$terms
  if (!is.null(model$input)) {
    model$input[names(origin)] <- origin
  } else if (inherits(model, "kernel_tune")) {
    if (inherits(model$model, "kernelect_model")) model$model <- with_origin(model$model, origin)
  } else if (!is.null(model$basis$input) && !knows_variables(model$basis$input, origin$terms)) {
    model$basis$input[names(origin)] <- origin
  }
  model
}

# A basis that was given knows its own variables: by its own formula, or as columns among those
# of this one.
knows_variables <- function(input, terms) {
  variables <- if (is.null(input$variables)) input$columns else input$variables
  !is.null(input$terms) ||
    (length(variables) < length(attr(terms, "term.labels")) &&
      all(variables %in% all.vars(terms)))
}
