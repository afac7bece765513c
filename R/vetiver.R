# Models behind a web service or in a store of versions, by the vetiver package. Its methods are
# registered when it is loaded; it is never needed otherwise.

#' Models for vetiver
#'
#' `vetiver::vetiver_model(fit, "name")` takes every model here that predicts. Use it to keep
#' versions of a model in a pins board and to serve predictions over the web.
#'
#' @details
#' What is kept of the model is what predictions need: fitted values, residuals and scores of the
#' training rows go. The prototype of new data, which a service checks its input by, is made
#' from the columns or the formula that the model was fitted with; `prototype_data = `, a data
#' frame, tells it where a formula hides what it needs (in `as.numeric(group)`, say). A
#' service answers with columns `.pred` for numbers, `.pred_class` for classes, and one
#' `.pred_` column a class with `type = "prob"`, which is passed on from
#' `vetiver::vetiver_api()`.
#' @name vetiver
#' @examples
#' if (requireNamespace("vetiver", quietly = TRUE)) {
#'   v <- vetiver::vetiver_model(kernel_lm(mpg ~ wt + hp, mtcars), "mileage")
#'   v
#'   v$prototype
#' }
#' @family exports
NULL

#' @exportS3Method vetiver::vetiver_create_description
vetiver_create_description.kernelect_model <- function(model) { # nolint: object_length_linter.
  fitted <- if (inherits(model, "kernel_tune")) model$model else model
  kind <- if (inherits(fitted, c("kernel_lm", "kernel_fusion"))) {
    if (is.null(fitted$levels)) " regression" else " classification"
  }
  paste0("A ", own_class(model), kind, " model")
}

#' @exportS3Method vetiver::vetiver_create_meta
vetiver_create_meta.kernelect_model <- function(model, metadata) {
  vetiver::vetiver_meta(metadata, required_pkgs = "kernelect")
}

# Fields of the training rows that no prediction for new ones needs.
#' @exportS3Method vetiver::vetiver_prepare_model
vetiver_prepare_model.kernelect_model <- function(model) {
  validate_model(model, "model")
  if (inherits(model, "kernel_tune")) {
    model$model <- vetiver_prepare_model.kernelect_model(model$model)
    return(model)
  }
  rows <- c("fitted.values", "residuals", "leverage", "outside", "na.action")
  if (inherits(model, c("kernel_lm", "kernel_lda"))) rows <- c(rows, "weights")
  if (inherits(model, c("kernel_pca", "kernel_lda"))) rows <- c(rows, "scores", "observed")
  model[rows] <- NULL
  model
}

#' @exportS3Method vetiver::vetiver_ptype
vetiver_ptype.kernelect_model <- function(model, ...) {
  given <- list(...)$prototype_data
  if (!is.null(given)) {
    if (!is.data.frame(given)) must_be("prototype_data", "a data frame", given)
    return(as_tidy(given[0L, , drop = FALSE]))
  }
  input <- model_input(model)
  if (is.null(input)) {
    abort("argument", "A model of Gram matrices has no columns to check new data by: use ",
          "`save_prototype = FALSE`.")
  }
  names <- input_variables(input)
  as_tidy(as.data.frame(
    lapply(stats::setNames(names, names), empty_column, input = input), check.names = FALSE,
    optional = TRUE
  ))
}

input_variables <- function(input) {
  known <- list(input$needed, input$variables, input$columns, paste0("V", seq_len(input$width)))
  Filter(length, known)[[1L]]
}

# A column of no rows as it was among the training data.
empty_column <- function(name, input) {
  if (!is.null(input$levels[[name]])) return(factor(character(), input$levels[[name]]))
  switch(c(input$times[[name]], "")[1L],
    Date = structure(numeric(), class = "Date"),
    POSIXct = structure(numeric(), class = c("POSIXct", "POSIXt")),
    difftime = structure(numeric(), class = "difftime", units = input$times[[name]][2L]),
    numeric()
  )
}

#' @exportS3Method vetiver::handler_startup
handler_startup.kernelect_model <- function(vetiver_model) {
  loadNamespace("kernelect")
  invisible()
}

#' @exportS3Method vetiver::handler_predict
handler_predict.kernelect_model <- function(vetiver_model, ...) {
  prototype <- vetiver_model$prototype
  model <- vetiver_model$model
  function(req) {
    rows <- req$body
    if (!is.null(prototype)) {
      rows <- vetiver::vetiver_type_convert(rows, prototype)[names(prototype)]
      rows <- hardhat::scream(rows, prototype)
    }
    served_columns(stats::predict(model, served_rows(rows, model_input(model)), ...))
  }
}

# Columns without names were taken by position.
served_rows <- function(rows, input) {
  named <- is.null(input) || length(c(input$columns, input$variables))
  if (named) as.data.frame(rows) else unname(as.matrix(rows))
}

served_columns <- function(value) {
  if (is.factor(value)) return(list(.pred_class = as.character(value)))
  if (!is.matrix(value)) return(list(.pred = unname(value)))
  rownames(value) <- NULL
  stats::setNames(as.data.frame(value), paste0(".pred_", colnames_or(value, "")))
}
