# A model may come from a file or from a script that changed it. Its numbers are the user's to edit,
# fields may be dropped where nothing needs them and others added; but nothing inconsistent may
# reach the arithmetic. Each class of model has a validator of what its methods rely on: types,
# lengths, finite numbers.

# A fitted model: a plain list that says who wrote it.
new_model <- function(class, fields) {
  fields$version <- package_version_text()
  structure(fields, class = c(class, "kernelect_model"))
}

package_version_text <- function() getNamespaceInfo("kernelect", "spec")[["version"]]

# Conditions on the parts of a model, each under the name of the part. A condition that cannot be
# worked out is false; those after it are not looked at.
must_hold <- function(.arg, ...) {
  sound <- tryCatch({
    for (part in seq_len(...length())) if (!identical(...elt(part), TRUE)) stop()
    TRUE
  }, error = function(e) FALSE)
  if (!sound) fail_damaged(.arg, ...names()[part])
}

fail_damaged <- function(arg, part) {
  abort("model", "`", arg, "` is damaged: its `", part, "` is missing, or not of the type, length ",
        "and values that a fitted model has. Fit the model again.")
}

# Any fitted model by the validator of its class; the model itself comes back.
validate_model <- function(fit, arg) {
  validators <- list(
    kernel_basis = validate_basis, kernel_pca = validate_pca, kernel_lm = validate_lm,
    kernel_lda = validate_lda, kernel_takes = validate_takes, kernel_fusion = validate_fusion,
    kernel_rank = validate_rank, kernel_tune = validate_tune
  )
  known <- intersect(class(fit), names(validators))
  if (!length(known) || !is.list(fit)) must_be(arg, "a model fitted by this package", fit)
  validators[[known[1L]]](fit, arg)
  fit
}

# One row at a time is predicted again and again by the same model: parts that passed are held here,
# and as long as a model has these very objects they need no second look. R copies what is held by
# others before it changes it, so an edited part is another object.
sound <- new.env(parent = emptyenv())

# The basis of what may be no model at all.
basis_of <- function(model) if (is.list(model)) model$basis

is_sound <- function(model) .Call(ffi_has_parts, model, sound$parts)

remember_sound <- function(model, fields) {
  sound$parts <- stats::setNames(lapply(fields, function(field) model[[field]]), fields)
}

# The shift of the rows that a model keeps, held likewise: it takes a pass over them.
kept_shift <- function(vectors) {
  if (!.Call(ffi_has_parts, list(vectors = vectors), sound$shifted)) {
    sound$shift <- core_shift(vectors)
    sound$shifted <- list(vectors = vectors)
  }
  sound$shift
}

# For methods that show a model: what they look at beyond what validators know may be damaged too.
guard_model <- function(arg, code) {
  withCallingHandlers(code, error = function(e) {
    if (inherits(e, "kernelect_error")) return()
    abort("model", "`", arg, "` cannot be shown: ", conditionMessage(e),
          ". Is a graphical parameter wrong? Else the model is damaged: fit it again.")
  })
}

# ---- what the validators of the models ask ----------------------------------------

is_matrix_of <- function(m, rows, columns) {
  is.matrix(m) && is.double(m) && nrow(m) == rows && ncol(m) == columns && all_finite(m)
}

# A matrix or sparse rows.
is_rows_of <- function(m, rows, columns) {
  if (is_sparse(m)) valid_sparse(m, rows, columns) else is_matrix_of(m, rows, columns)
}

is_numbers <- function(v, length) is.double(v) && length(v) == length && all_finite(v)

is_index <- function(v, n) is.numeric(v) && all(v >= 1 & v <= n)

# Rows left out of all those of which n were kept.
valid_omitted <- function(omitted, n) {
  is.null(omitted) ||
    (inherits(omitted, c("omit", "exclude")) && is_index(omitted, n + length(omitted)))
}

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
    are_shapes(input$matrices, input$width) && is_null_or(input$times, is_named_list) &&
    is_null_or(input$terms, function(terms) is.call(terms) && inherits(terms, "terms")) &&
    is_null_or(input$logical, is.character) &&
    is_null_or(input$needed, is.character) && is_null_or(input$scope, is_named_list)
}

# Rows of the training data, scaled, with what new rows need to become like them.
valid_rows <- function(model, count) {
  width <- model$input$width
  valid_input(model$input) && is_rows_of(model$vectors, count, width) &&
    identical(colnames(model$vectors), model$input$columns) && valid_scaling(model$scaling, width)
}

is_list_of_levels <- function(levels) {
  is.list(levels) && all(vapply(levels, typeof, "") %in% c("NULL", "character"))
}

# Of variables that are matrices: names of columns, or how many of all there are.
are_shapes <- function(shapes, width) {
  is.null(shapes) || (is_named_list(shapes) && all(vapply(shapes, function(shape) {
    is.character(shape) || (is_number(shape) && shape >= 1 && shape <= width)
  }, NA)))
}

is_named_list <- function(x) is.list(x) && length(names(x)) == length(x)

is_null_or <- function(x, is) is.null(x) || is(x)
