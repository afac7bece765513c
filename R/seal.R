# A model may come from a file, or from a script that changed it. Its seal, an attribute with a
# number per field, shows any edit, so that a changed model is refused rather than answering
# something else. Fields that tell of the training rows may be dropped where no prediction needs
# them, other fields may be added, and a class may be put before ours.

of_training_rows <- c("fitted.values", "residuals", "scores", "observed")

seal <- function(model) {
  attr(model, "seal") <- c(
    fingerprint(model, names(model)), fingerprint(list(class = own_class(model)), "class")
  )
  model
}

check_seal <- function(model, arg = "object") {
  given <- if (is.list(model)) attr(model, "seal", exact = TRUE)
  fields <- setdiff(names(given), setdiff(of_training_rows, names(model)))
  now <- function() fingerprint(c(unclass(model), list(class = own_class(model))), fields)
  good <- is.double(given) && length(fields) > 1L &&
    all(abs(now() - given[fields]) <= 1e-9 + 1e-12 * abs(given[fields]))
  if (!isTRUE(good)) fail_damaged(arg)
  model
}

own_class <- function(model) utils::tail(class(model), 1L)

fingerprint <- function(values, fields) {
  stats::setNames(.Call(ffi_fingerprint, lapply(fields, function(f) unclass(values)[[f]])), fields)
}

fail_damaged <- function(arg) {
  abort("model", "`", arg, "` is damaged: it was changed after it was fitted. Fit the model again.")
}

# Each class of model has a validator for what prediction relies on: a seal can be forged, and
# nothing inconsistent may reach the arithmetic. A condition that cannot be worked out is false.
must_hold <- function(condition, arg) {
  if (!isTRUE(tryCatch(condition, error = function(e) FALSE))) fail_damaged(arg)
}

# ---- what the validators of the models ask ----------------------------------------

is_matrix_of <- function(m, rows, columns) {
  is.matrix(m) && is.double(m) && nrow(m) == rows && ncol(m) == columns && all_finite(m)
}

is_numbers <- function(v, length) is.double(v) && length(v) == length && all_finite(v)

is_index <- function(v, n) is.numeric(v) && all(v >= 1 & v <= n)

is_levels <- function(v) is.character(v) && length(v) >= 2L && !anyNA(v) && !anyDuplicated(v)

valid_scaling <- function(scaling, width) {
  is.null(scaling) ||
    (is.list(scaling) && is_numbers(scaling$center, width) && is_numbers(scaling$scale, width) &&
      all(scaling$scale != 0))
}

valid_names <- function(names, length) {
  is.null(names) || (is.character(names) && length(names) == length)
}

# What a model says of its columns. Terms must be a formula: an environment in their place would
# be given an attribute where it stands, in the user's session.
valid_input <- function(input) {
  is.list(input) && is_number(input$width) && valid_names(input$columns, input$width) &&
    is_null_or(input$variables, is.character) && is_null_or(input$levels, is_list_of_levels) &&
    is_null_or(input$matrices, is_named_list) && is_null_or(input$times, is_named_list) &&
    is_null_or(input$terms, function(terms) is.call(terms) && inherits(terms, "terms")) &&
    is_null_or(input$needed, is.character) && is_null_or(input$scope, is_named_list)
}

# Rows of the training data, scaled, with what new rows need to become like them.
valid_rows <- function(model, count) {
  width <- model$input$width
  valid_input(model$input) && is_matrix_of(model$vectors, count, width) &&
    identical(colnames(model$vectors), model$input$columns) && valid_scaling(model$scaling, width)
}

# check_kernel() knows the values of weights, not the width of the data.
valid_width <- function(kernel, width) length(kernel$weights) %in% c(0L, width)

is_list_of_levels <- function(levels) {
  is.list(levels) && all(vapply(levels, is_null_or, NA, is.character))
}

is_named_list <- function(x) is.list(x) && length(names(x)) == length(x)

is_null_or <- function(x, is) is.null(x) || is(x)
