# The parsnip model kernel_machine(): kernel_lm() under the names tidymodels uses. The specification
# is registered when parsnip is loaded, before or after this package; parsnip is never needed
# otherwise.

#' A kernel machine for tidymodels
#'
#' `kernel_machine()` specifies a [kernel_lm()], a regression or classification on a basis of few
#' rows, as a model of the parsnip package. Use it where a model goes into a workflow, is tuned with
#' `tune::tune_grid()`, or compared with other models of tidymodels.
#'
#' @details
#' The arguments, all of which may be `tune()`:
#'
#' | argument | what it is | left alone | tuned with |
#' |---|---|---|---|
#' | `rbf_sigma` | `gamma` of [rbf_kernel()] | `rbf_kernel()` | `dials::rbf_sigma()`, 1e-4 to 10 |
#' | `size` | rows of the basis, at most | by leave-one-out | `basis_size()` |
#' | `penalty` | `ridge` of [kernel_lm()] | by leave-one-out | `dials::penalty()`, 1e-6 to 1e3 |
#'
#' `rbf_sigma` means what it means in `parsnip::svm_rbf()`: the kernel is
#' exp(-`rbf_sigma` d^2) for columns that were scaled.
#'
#' So without any tuning the model chooses `size` and `penalty` itself, exactly and in one fit.
#' Other arguments of [kernel_lm()], `kernel` among them, are given to
#' `set_engine("kernelect", ...)`. Factor predictors become indicator columns, one a level; columns
#' are scaled.
#'
#' Predictions are of type `"numeric"`, `"conf_int"` and `"pred_int"` for numbers, `"class"` and
#' `"prob"` for classes, and `"raw"`. Case weights are taken. Bases are nested, so
#' `parsnip::multi_predict()` gives predictions of many sizes from one fit, and
#' `tune::tune_grid()` fits only the largest size for each `rbf_sigma` and `penalty`. Where
#' `penalty` is left alone, what was chosen for the largest size serves the smaller ones there,
#' while a fit of a smaller size would choose anew: give or tune both, or leave both alone.
#'
#' Tested with parsnip 1.6, tune 2.1.0 and workflows 1.3.0.
#' @param mode `"regression"` or `"classification"`; `"unknown"` until `parsnip::set_mode()` says.
#' @param engine the only one is `"kernelect"`.
#' @param rbf_sigma,size,penalty see the details.
#' @returns `kernel_machine()`: a model specification of class `"kernel_machine"`. `basis_size()`: a
#'   parameter of the dials package. `kernel_machine_fit()`, what parsnip calls: a [kernel_lm()].
#' @examples
#' if (requireNamespace("parsnip", quietly = TRUE)) {
#'   spec <- kernel_machine("classification", size = 10)
#'   fitted <- parsnip::fit(spec, Species ~ ., iris)
#'   predict(fitted, iris[c(1, 51, 101), ], type = "prob")
#'   parsnip::multi_predict(fitted, iris[1, ], size = c(3, 10))$.pred[[1]]
#' }
#' @family exports
#' @export
kernel_machine <- function(mode = "unknown", engine = "kernelect", rbf_sigma = NULL, size = NULL,
                           penalty = NULL) {
  needs_package("parsnip")
  parsnip::new_model_spec(
    "kernel_machine",
    args = list(
      rbf_sigma = rlang::enquo(rbf_sigma), size = rlang::enquo(size),
      penalty = rlang::enquo(penalty)
    ),
    eng_args = NULL, mode = mode, user_specified_mode = !missing(mode), method = NULL,
    engine = engine, user_specified_engine = !missing(engine)
  )
}

#' @rdname kernel_machine
#' @param range the smallest and largest size to try.
#' @param trans a transformation of the scales package, or NULL.
#' @export
basis_size <- function(range = c(5L, 200L), trans = NULL) {
  needs_package("dials")
  dials::new_quant_param(
    type = "integer", range = range, inclusive = c(TRUE, TRUE), trans = trans,
    label = c(size = "# Basis Rows"), finalize = NULL
  )
}

#' @rdname kernel_machine
#' @param x,y,weights predictors, response and case weights, as for [kernel_lm()].
#' @param kernel instead of `rbf_sigma`, any other kernel, see [kernels].
#' @param ... other arguments of [kernel_lm()].
#' @export
kernel_machine_fit <- function(x, y, rbf_sigma = NULL, size = NULL, penalty = NULL,
                               weights = NULL, kernel = NULL, ...) {
  check_given("x", "y")
  if (!is.null(rbf_sigma)) {
    if (!is.null(kernel)) {
      abort("argument", "Give `rbf_sigma` or `kernel`, not both: `rbf_sigma` is the parameter of ",
            "`rbf_kernel(gamma = )`.")
    }
    kernel <- rbf_kernel(gamma = check_number(rbf_sigma, "rbf_sigma", above = 0))
  }
  if (!is.null(size)) size <- min(check_whole(size, "size", min = 1), NROW(x))
  if (!is.null(penalty)) penalty <- check_number(penalty, "penalty", min = 0)
  given <- list(size = size, ridge = penalty, kernel = kernel, weights = weights)
  do.call(kernel_lm, c(list(quote(x), quote(y)), Filter(Negate(is.null), given), list(...)))
}

# ---- registration ------------------------------------------------------------------------

register_parsnip <- function() {
  model <- "kernel_machine"
  if (model %in% parsnip::get_from_env("models")) return(invisible())
  parsnip::set_new_model(model)
  for (mode in c("regression", "classification")) register_parsnip_mode(model, mode)
  arguments <- list(
    rbf_sigma = list(pkg = "dials", fun = "rbf_sigma", range = c(-4, 1)),
    size = list(pkg = "kernelect", fun = "basis_size"),
    penalty = list(pkg = "dials", fun = "penalty", range = c(-6, 3))
  )
  for (name in names(arguments)) {
    parsnip::set_model_arg(model, "kernelect", parsnip = name, original = name,
                           func = arguments[[name]], has_submodel = name == "size")
  }
}

register_parsnip_mode <- function(model, mode) {
  engine <- "kernelect"
  parsnip::set_model_mode(model, mode)
  parsnip::set_model_engine(model, mode, engine)
  parsnip::set_dependency(model, engine, pkg = "kernelect", mode = mode)
  parsnip::set_fit(model, engine, mode = mode, value = list(
    interface = "data.frame", protect = c("x", "y", "weights"),
    func = c(pkg = "kernelect", fun = "kernel_machine_fit"), defaults = list()
  ))
  parsnip::set_encoding(model, mode, engine, options = list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  types <- parsnip_predictions(mode)
  for (type in names(types)) {
    args <- c(list(object = quote(object$fit), newdata = quote(new_data)), types[[type]]$args)
    parsnip::set_pred(model, mode, engine, type, value = list(
      pre = NULL, post = types[[type]]$post, func = c(fun = "predict"), args = args
    ))
  }
}

bounds_of_interval <- function(type) {
  function(results, object) {
    out <- data.frame(.pred_lower = results$fit[, "lwr"], .pred_upper = results$fit[, "upr"],
                      row.names = NULL)
    wanted <- object$spec$method$pred[[type]]$extras$std_error
    if (isTRUE(wanted)) out$.std_error <- unname(results$se.fit)
    as_tidy(out)
  }
}

interval_prediction <- function(interval, type) {
  list(
    args = list(interval = interval, level = quote(level), se.fit = TRUE),
    post = bounds_of_interval(type)
  )
}

# What predict() is asked for each type of prediction, and how parsnip wants the answer.
parsnip_predictions <- function(mode) {
  switch(mode,
    regression = list(
      numeric = list(post = function(results, object) unname(results)),
      conf_int = interval_prediction("confidence", "conf_int"),
      pred_int = interval_prediction("prediction", "pred_int"),
      raw = list()
    ),
    classification = list(
      class = list(args = list(type = "class")),
      prob = list(args = list(type = "prob"), post = function(results, object) {
        rownames(results) <- NULL
        as_tidy(as.data.frame(results, check.names = FALSE))
      }),
      raw = list(args = list(type = "decision"))
    )
  )
}

# ---- methods -----------------------------------------------------------------------------

#' @rdname kernel_machine
#' @param object a specification, or a fitted model of parsnip.
#' @param parameters a one-row data frame of arguments, such as `tune::select_best()` gives.
#' @param fresh forget all arguments that are not given?
#' @export
update.kernel_machine <- function(object, parameters = NULL, rbf_sigma = NULL, size = NULL,
                                  penalty = NULL, fresh = FALSE, ...) {
  args <- list(
    rbf_sigma = rlang::enquo(rbf_sigma), size = rlang::enquo(size),
    penalty = rlang::enquo(penalty)
  )
  parsnip::update_spec(object, parameters = parameters, args_enquo_list = args, fresh = fresh,
                       cls = "kernel_machine", ...)
}

#' @rdname kernel_machine
#' @param new_data rows to predict.
#' @param type `"numeric"`, `"class"` or `"prob"`; NULL: numbers or classes, as the model has them.
#' @rawNamespace S3method(parsnip::multi_predict, "_kernel_lm")
multi_predict._kernel_lm <- function(object, new_data,
                                     type = NULL, size = NULL, ...) {
  most <- length(object$fit$basis$index)
  size <- if (is.null(size)) most else sort(size)
  if (is.null(type)) type <- if (is.null(object$fit$levels)) "numeric" else "class"
  # a fit stops at fewer rows than asked for where these span the rest
  tables <- lapply(size, function(s) {
    at <- min(check_whole(s, "size", min = 1), most)
    predictions <- predict_at_size(object, new_data, type, at)
    data.frame(size = rep(s, nrow(predictions)), predictions, check.names = FALSE)
  })
  all <- do.call(rbind, tables)
  by_row <- split(all, rep(seq_len(nrow(new_data)), length(size)))
  as_tidy(data.frame(.pred = I(unname(lapply(by_row, as_tidy)))))
}

# The predictions of parsnip with the model cut to its first rows: the argument joins those that
# are registered.
predict_at_size <- function(object, new_data, type, size) {
  object$spec$method$pred[[type]]$args$size <- size
  as.data.frame(stats::predict(object, new_data = new_data, type = type), check.names = FALSE)
}

# What has to be fitted to predict every row of a grid: the largest size of each setting, which
# serves the others. `.submodels` lists these.
#' @exportS3Method generics::min_grid
min_grid.kernel_machine <- function(x, grid, ...) {
  size <- tuned_name(x$args$size, "size")
  if (!size %in% names(grid)) {
    grid$.submodels <- rep(list(list()), nrow(grid))
    return(grid)
  }
  others <- grid[setdiff(names(grid), size)]
  key <- if (length(others)) do.call(paste, c(others, list(sep = "\r"))) else rep("", nrow(grid))
  rows <- split(seq_len(nrow(grid)), factor(key, unique(key)))
  rows <- unname(lapply(rows, function(i) i[order(-grid[[size]][i])]))
  out <- grid[vapply(rows, `[`, 0L, 1L), ]
  out$.submodels <- lapply(rows, function(i) {
    if (length(i) == 1L) list() else stats::setNames(list(grid[[size]][i[-1L]]), size)
  })
  out
}

# The column of a grid that holds an argument: `tune()` goes by its name, `tune("id")` by the other.
tuned_name <- function(argument, name) {
  value <- rlang::quo_get_expr(argument)
  if (is.call(value) && length(value) > 1L && is.character(value[[2L]])) value[[2L]] else name
}
