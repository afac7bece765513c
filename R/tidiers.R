# Models as data frames, for generics::tidy(), glance() and augment(). The methods are registered
# when the generics package is loaded; it is never needed.

#' Models as data frames
#'
#' `tidy()`, `glance()` and `augment()` of the generics package (and so of broom and tidymodels) for
#' every model here. Use them to collect what many models found in one table, or to plot it with
#' other tools.
#'
#' @details
#' `tidy()`, a row for each
#'
#' | model | row | columns |
#' |---|---|---|
#' | [kernel_basis()] | row picked | those of `path` |
#' | [kernel_pca()] | component | `component`, `value`, `sdev`, `share`, `cumulative` |
#' | [kernel_lm()] | coefficient | `term`, `estimate`, and `response` where there are several |
#' | [kernel_lda()] | axis | `axis`, `value`, `share` |
#' | [kernel_takes()] | direction | `direction`, `weight` |
#' | [kernel_rank()] | column | `rank`, `column`, `name`, `score`, and `weight`, `frequency` |
#' | [kernel_fusion()] | kernel | `kernel`, `weight`, `active` |
#' | [kernel_tune()] | candidate | those of `results` |
#'
#' `glance()` gives one row: the number of rows, what was chosen, and how well it does on rows left
#' out where that is known; for [kernel_lm()] of numbers `r.squared` is that of rows left out, see
#' there. `augment()` puts predictions beside the rows: `.fitted` and `.resid` for
#' numbers (without `data` also `.hat`, the leverage, where the model keeps it); `.pred_class`
#' and a `.pred_` column a class, with its probability, for classes; scores or coordinates
#' (`.KPC1`, ...) for the others.
#'
#' Each is a tibble where the tibble package is installed, else a data frame.
#' @param x a fitted model.
#' @param data the training data; `augment()` then takes what the model kept of them, as far as it
#'   did.
#' @param newdata other rows, to be predicted.
#' @param ... nothing else is accepted.
#' @returns A data frame.
#' @examples
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   fit <- kernel_lm(Species ~ ., iris)
#'   generics::glance(fit)
#'   generics::augment(fit, newdata = iris[c(1, 51, 101), ])
#' }
#' @family exports
#' @name tidiers
NULL

as_tidy <- function(table) {
  rownames(table) <- NULL
  if (is_installed("tibble")) tibble::as_tibble(table) else table
}

# ---- tidy --------------------------------------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_basis <- function(x, ...) {
  check_dots(...)
  as_tidy(validate_model(x, "x")$path)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_pca <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  share <- x$values / x$total
  as_tidy(data.frame(
    component = seq_along(x$values), value = x$values, sdev = x$sdev, share = share,
    cumulative = cumsum(share)
  ))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_lm <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  a <- as.matrix(x$coefficients)
  terms <- if (is.null(rownames(a))) names(x$coefficients) else rownames(a)
  table <- data.frame(term = rep(terms, ncol(a)), estimate = c(a))
  if (ncol(a) > 1L) table$response <- rep(colnames_or(a, "y"), each = nrow(a))
  as_tidy(table)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_lda <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  as_tidy(data.frame(
    axis = seq_along(x$values), value = unname(x$values), share = unname(x$values / sum(x$values))
  ))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_takes <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  as_tidy(data.frame(direction = seq_along(x$weights), weight = unname(x$weights)))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_rank <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  best <- x$ranking
  table <- data.frame(
    rank = seq_along(best), column = best, name = names(x$score)[best],
    score = unname(x$score[best])
  )
  if (!is.null(x$weights)) table$weight <- unname(x$weights[best])
  if (!is.null(x$frequency)) table$frequency <- unname(x$frequency[best])
  as_tidy(table)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_fusion <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  as_tidy(data.frame(
    kernel = names(x$weights), weight = unname(x$weights), active = unname(x$active)
  ))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.kernel_tune <- function(x, ...) {
  check_dots(...)
  as_tidy(validate_model(x, "x")$results)
}

# ---- glance ------------------------------------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.kernelect_model <- function(x, ...) {
  check_dots(...)
  validate_model(x, "x")
  as_tidy(do.call(data.frame, c(Filter(length, glanced(x)), list(nobs = stats::nobs(x)))))
}

# What one row tells of a model, besides the number of rows.
glanced <- function(x) UseMethod("glanced")

basis_glance <- function(basis) {
  list(
    kernel = kernel_words(basis), size = length(basis$index),
    basis = if (inherits(basis, "kernel_basis")) basis$method else "all rows"
  )
}

glanced.kernel_basis <- function(x) {
  last <- x$path[nrow(x$path), ]
  c(basis_glance(x), list(stop = x$stop, fitness = last$fitness, trace = last$trace))
}

glanced.kernel_pca <- function(x) {
  c(basis_glance(x$basis), list(components = x$ncomp, share = sum(x$values) / x$total))
}

glanced.kernel_lm <- function(x) {
  chosen <- x$loo[x$loo$size == x$size & x$loo$ridge == x$ridge, ]
  c(basis_glance(x$basis), list(
    ridge = x$ridge, error = x$error, loo_loss = chosen$loss[1L], loo_error = chosen$error[1L],
    r.squared = left_out_share(response_table(x))
  ))
}

glanced.kernel_lda <- function(x) {
  c(basis_glance(x$basis), list(
    axes = length(x$values), classes = length(x$levels), ridge = x$ridge, inertia = sum(x$values),
    error = x$error, loo_error = x$left_out_error
  ))
}

glanced.kernel_takes <- function(x) {
  list(
    directions = sum(x$weights > 0), classes = nlevels(x$y), loo_error = x$left_out_error
  )
}

glanced.kernel_rank <- function(x) {
  list(method = x$method, columns = length(x$score), value = x$value, converged = x$converged)
}

glanced.kernel_fusion <- function(x) {
  list(
    kernels = length(x$weights), active = sum(x$active), iterations = x$iterations,
    converged = x$converged
  )
}

glanced.kernel_tune <- function(x) {
  c(Filter(Negate(anyNA), as.list(x$best)), list(candidates = nrow(x$results)))
}

# ---- augment -----------------------------------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.kernelect_model <- function(x, data = NULL, newdata = NULL, ...) {
  check_dots(...)
  validate_model(x, "x")
  if (!is.null(newdata)) return(as_tidy(data.frame(newdata, predicted_columns(x, newdata),
                                                   check.names = FALSE)))
  if (is.null(data)) return(as_tidy(training_columns(x)))
  columns <- predicted_columns(x, data)
  response <- if (!is.null(columns$.fitted)) observed_response(x, data)
  if (is.numeric(response)) columns$.resid <- response - columns$.fitted
  as_tidy(data.frame(data, columns, check.names = FALSE))
}

# Of a regression also what it keeps of the training rows beside fitted values.
training_columns <- function(x) {
  columns <- predicted_columns(x)
  fit <- if (inherits(x, "kernel_tune")) x$model else x
  if (is.null(fit$residuals) || is_classifier(fit)) return(columns)
  residuals <- as.data.frame(stats::residuals(fit), optional = TRUE)
  names(residuals) <- sub("^.fitted", ".resid", names(columns))
  columns <- cbind(columns, residuals)
  if (!is.null(fit$leverage)) columns$.hat <- unname(stats::hatvalues(fit))
  columns
}

# The response among the training data, where a formula tells it.
observed_response <- function(x, data) {
  terms <- x$basis$input$terms
  if (is.null(terms) || attr(terms, "response") != 1L) return(NULL)
  tryCatch(eval(attr(terms, "variables")[[2L]], data, globalenv()), error = function(e) NULL)
}

# Predictions as columns; without rows, of the training data.
predicted_columns <- function(x, ...) {
  value <- stats::predict(x, ...)
  if (is.factor(value)) {
    out <- data.frame(.pred_class = value)
    prob <- as.data.frame(stats::predict(x, ..., type = "prob"))
    return(cbind(out, stats::setNames(prob, paste0(".pred_", names(prob)))))
  }
  if (!is.matrix(value) && !is.data.frame(value)) return(data.frame(.fitted = unname(value)))
  out <- as.data.frame(value)
  stem <- if (inherits(x, "kernel_lm")) ".fitted_" else "."
  stats::setNames(out, paste0(stem, colnames_or(value, "Z")))
}
