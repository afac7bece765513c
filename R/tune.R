#' Choose kernel and size of a model by cross-validation
#'
#' Fits a model with every kernel of a grid on parts of the data, at every size of the basis, and
#' refits the best on all rows. Use it when the width of the kernel matters, or when you want an
#' honest estimate of the error of kernel, basis and size together.
#'
#' @details
#' All candidates see the same folds; folds are stratified for a factor. Scaling, kernel width and
#' basis are worked out anew within each fold. As bases are nested, one factorisation per fold and
#' kernel serves all sizes ([kernel_lm()], [kernel_lda()], [kernel_takes()]); any other function of
#' `(x, y, kernel =, size =, ...)` with a `predict()` method is fitted once per size. The sizes of
#' the grid decide: [kernel_lm()] and [kernel_lda()] get `tol = 0` unless it is given. Where a basis
#' stops before a size (by rank, or a `tol` given), the size gives the same model as the largest
#' it has.
#'
#' The error is the misclassification rate or the mean squared error over all rows, `se` its
#' standard error from the differences between folds. The best has the least error; of several the
#' smallest, then the first kernel.
#'
#' Everything random comes from `seed`; the generator of the session is left as it was. Folds run
#' in parallel when the future.apply package is installed and a plan other than sequential is set.
#'
#' @inheritParams kernel_lm
#' @param fit the model to fit: [kernel_lm()], [kernel_lda()], [kernel_takes()], or a function like
#'   them, which gets rows of `x` as they are, `y`, `kernel` and `size`.
#' @param grid a list with `kernel`, a list of kernels (its names serve as labels), and `size`, a
#'   vector of sizes; either may be left out. Default: RBF kernels with `sigma = "mean"` times
#'   1/4, 1/2, 1, 2, 4; sizes from 5 to 200, at most half of the rows.
#' @param folds number of folds, from 2 to the number of rows.
#' @param seed a whole number.
#' @param ... arguments for `fit`, such as `basis`, `ridge`, `tol` or `scale`; for `predict()`
#'   those of the model's own `predict()`, such as `type`.
#' @returns A list of class `"kernel_tune"`:
#' * `results`: data frame with a row per candidate: `kernel` (label), `size`, `error`, `se`;
#' * `best`: the row of the best candidate;
#' * `model`: the best candidate, fitted to all rows;
#' * `kernels`: the kernels, named by label; `folds`: number of folds; `seed`; `measure`: what
#'   `error` is; `n`.
#'
#' `predict()` gives what `model` predicts.
#' @examples
#' tuned <- kernel_tune(Species ~ ., iris, folds = 5, grid = list(size = c(5, 10, 20)))
#' tuned
#' plot(tuned)
#' predict(tuned, iris[c(1, 51, 101), ])
#' @family models
#' @export
kernel_tune <- function(x, ...) UseMethod("kernel_tune")

#' @rdname kernel_tune
#' @export
kernel_tune.default <- function(x, y, fit = kernel_lm, grid = NULL, folds = 10, seed = 1, ...,
                                na_action = c("fail", "omit", "exclude"), verbose = FALSE) {
  check_function(fit, "fit")
  check_tune_dots(...)
  verbose <- check_flag(verbose, "verbose")
  if (missing(y)) abort("argument", "`y` is missing: give the response.")
  na_action <- check_choice(na_action, "na_action", na_actions)
  data <- model_data(x, y, scale = FALSE, na_action = na_action)
  if (identical(fit, kernel_lda)) data$y <- check_classes(data$y, min_rows = 2L)
  response <- response_matrix(data$y)
  folds <- check_whole(folds, "folds", min = 2, max = data$n)
  grid <- check_grid(grid, data$n - ceiling(data$n / folds))
  fold <- preserve_seed(seed, function() assign_folds(response$classes, data$n, folds))
  fit <- sized_fit(fit, ...)
  # a user's function gets what the user gave
  rows <- if (fit$own) data$x else take_rows(x, data$kept)
  run <- function(i) {
    preserve_seed(seed + i, function() fold_errors(rows, data$y, fold == i, fit$path, grid, ...))
  }
  errors <- parallel_lapply(seq_len(folds), run, verbose)
  results <- tabulate_errors(errors, tabulate(fold, folds), grid)
  best <- results[best_candidate(results), , drop = FALSE]
  model <- preserve_seed(seed, function() {
    refit <- function(x, y, ...) {
      suppress_omission(
        fit$whole(x, y, kernel = grid$kernel[[best$kernel]], size = best$size, ...)
      )
    }
    if (fit$own) refit(x, y, ..., na_action = na_action) else refit(rows, data$y, ...)
  })
  if (inherits(model, "kernelect_model")) model$call <- NULL # it is this call that can be repeated
  tuned <- new_model("kernel_tune", list(
    results = results, best = best, model = model, kernels = grid$kernel, folds = folds,
    seed = seed,
    measure = if (is.null(response$classes)) "mean squared error" else "error rate", n = data$n
  ))
  finish_model(tuned, data, match.call(), y)
}

#' @rdname kernel_tune
#' @export
kernel_tune.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_tune.default, formula, data, match.call(), ...)
}

# ---- grid and folds ----------------------------------------------------------------------------

check_tune_dots <- function(...) {
  names <- ...names()
  taken <- intersect(names, c("kernel", "size"))
  if (length(taken)) {
    abort("argument", backticked(taken),
          " belongs in `grid`: grid = list(kernel = list(...), size = c(...)).")
  }
  if (inherits(list(...)$basis, "kernel_basis")) {
    abort("argument", "`basis` must be the name of a method here: each fold chooses its own basis.")
  }
}

# Rows the omission of which was already told.
suppress_omission <- function(expr) {
  withCallingHandlers(expr, kernelect_message = function(m) {
    if (grepl("omitted", conditionMessage(m), fixed = TRUE)) tryInvokeRestart("muffleMessage")
  })
}

check_grid <- function(grid, rows) {
  if (is.null(grid)) grid <- list()
  if (!is.list(grid) || inherits(grid, "kernelect_kernel") ||
      !all(names(grid) %in% c("kernel", "size")) || length(names(grid)) != length(grid)) {
    must_be("grid", "a list with elements `kernel` and `size`", grid)
  }
  list(kernel = check_grid_kernels(grid$kernel), size = check_grid_sizes(grid$size, rows))
}

check_grid_kernels <- function(kernels) {
  if (is.null(kernels)) {
    kernels <- lapply(c(1 / 4, 1 / 2, 1, 2, 4), function(f) scaled_sigma(rbf_kernel(), f))
  }
  if (inherits(kernels, "kernelect_kernel") || !is.list(kernels)) kernels <- list(kernels)
  if (!length(kernels)) abort("argument", "`grid$kernel` must have at least one kernel.")
  labels <- names(kernels)
  kernels <- lapply(kernels, as_kernel)
  plain <- vapply(kernels, kernel_label, "")
  if (is.null(labels)) labels <- plain
  labels[labels == ""] <- plain[labels == ""]
  stats::setNames(kernels, make.unique(labels, sep = " #"))
}

check_grid_sizes <- function(sizes, rows) {
  if (is.null(sizes)) {
    sizes <- c(5, 10, 20, 35, 50, 75, 100, 150, 200)
    return(c(sizes[sizes <= rows / 2], if (rows < 10) max(1, rows %/% 2)))
  }
  good <- is.numeric(sizes) && length(sizes) > 0L && !anyNA(sizes) &&
    all(sizes >= 1 & sizes == trunc(sizes))
  if (!good) must_be("grid$size", "a vector of whole numbers, at least 1", sizes)
  sort(unique(as.double(sizes)))
}

# Fold numbers: dealt class by class, so that each fold has its share of every class.
assign_folds <- function(classes, n, folds) {
  groups <- if (is.null(classes)) list(seq_len(n)) else split(seq_len(n), classes)
  shuffle <- function(rows) rows[sample.int(length(rows))]
  shuffled <- unlist(lapply(groups, shuffle), use.names = FALSE)
  fold <- integer(n)
  fold[shuffled] <- rep_len(sample.int(folds), n)
  fold
}

# ---- one fold ------------------------------------------------------------------------------------

# Errors on the rows `out`, sizes by kernels.
fold_errors <- function(x, y, out, path, grid, ...) {
  train <- list(x = take_rows(x, !out), y = take_rows(y, !out))
  truth <- take_rows(y, out)
  vapply(grid$kernel, function(kernel) {
    predicted <- path(train, take_rows(x, out), kernel, grid$size, ...)
    vapply(predicted, prediction_error, 0, truth = truth)
  }, numeric(length(grid$size)))
}

prediction_error <- function(predicted, truth) {
  if (is.numeric(truth)) {
    return(mean((as.matrix(predicted) - as.matrix(truth))^2))
  }
  mean(as.character(predicted) != as.character(truth))
}

# `path`, a function of (train, newx, kernel, sizes, ...) that returns the predictions for every
# size, and `whole`, the function to fit all rows with.
sized_fit <- function(fit, ...) {
  if (identical(fit, kernel_takes)) return(list(path = takes_predictions, whole = fit, own = TRUE))
  nested <- if (identical(fit, kernel_lm)) lm_path else if (identical(fit, kernel_lda)) lda_path
  if (!is.null(nested)) {
    whole <- if ("tol" %in% ...names()) fit else function(...) fit(..., tol = 0)
    return(list(path = nested, whole = whole, own = TRUE))
  }
  path <- function(train, newx, kernel, sizes, ...) {
    lapply(sizes, function(size) {
      predict_by(fit, newx, train$x, train$y, kernel = kernel, size = size, ...)
    })
  }
  list(path = path, whole = fit, own = FALSE)
}

# A user's `fit` is not taken on trust.
predict_by <- function(fit, newx, ...) {
  tryCatch(stats::predict(fit(...), newx), error = function(e) {
    if (inherits(e, "kernelect_error")) stop(e)
    abort("argument", "`fit` must be a function that fits a model which `predict()` knows; ",
          "it failed with: ", conditionMessage(e))
  })
}

# One factorisation of the training rows, with the largest size.
path_basis <- function(train, kernel, sizes, basis, tol, scale, ...) {
  most <- min(max(sizes), nrow(train$x))
  fit_basis(train$x, train$y, basis, kernel, model_control(basis, most, tol, ...), scale, "fail")
}

lm_path <- function(train, newx, kernel, sizes, basis = "fvs", ridge = "loo", tol = 0,
                    center = "none", neighbours = 1, threshold = identity, first = 1000,
                    scale = TRUE, keep = NULL, ...,
                    threads = getOption("kernelect.threads", 1L)) {
  if (...length()) refuse_dots(...names(), ...length(), kernel_lm.default)
  parts <- path_basis(train, kernel, sizes, basis, tol, scale,
    center = center, neighbours = neighbours, threshold = threshold, first = first,
    threads = threads
  )
  response <- training_response(parts$y)
  ridge <- check_ridge(ridge)
  labels <- if (!is.null(response$classes)) as.integer(response$classes)
  fit <- regress(parts$z, response, if (is.character(ridge)) 0 else ridge)
  z <- expand_basis(parts$basis, newx, expansion(parts$basis, "orthonormal"), threads)
  z <- z - rep(fit$center, each = nrow(z))
  lapply(pmin(sizes, ncol(z)), function(size) {
    a <- nested_coefficients(if (is.character(ridge)) best_ridge(fit, size, labels) else fit, size)
    values <- z[, seq_len(size), drop = FALSE] %*% a + rep(fit$mean, each = nrow(z))
    if (is.null(response$classes)) values else classes_of(values, levels(response$classes))
  })
}

# As response_matrix(), for part of a response that was checked: a class may have lost its rows.
training_response <- function(y) {
  if (is.numeric(y)) {
    values <- as.matrix(y)
    storage.mode(values) <- "double"
    return(list(matrix = values, classes = NULL))
  }
  y <- droplevels(as.factor(y))
  list(matrix = indicators(y), classes = y)
}

lda_path <- function(train, newx, kernel, sizes, basis = "fvs", ridge = "loo", tol = 0,
                     center = "none", neighbours = 1, threshold = identity, first = 1000,
                     scale = TRUE, prior = NULL, keep = NULL, ...,
                     threads = getOption("kernelect.threads", 1L)) {
  if (...length()) refuse_dots(...names(), ...length(), kernel_lda.default)
  ridge <- check_ridge(ridge)
  parts <- path_basis(train, kernel, sizes, basis, tol, scale,
    center = center, neighbours = neighbours, threshold = threshold, first = first,
    threads = threads
  )
  classes <- as.factor(parts$y)
  scatter <- class_scatter(parts$z, classes)
  fit <- if (is.character(ridge)) regress(scatter$z, list(matrix = indicators(classes)))
  prior <- check_prior(prior, scatter)
  z <- expand_basis(parts$basis, newx, expansion(parts$basis, "orthonormal"), threads)
  z <- z - rep(scatter$center, each = nrow(z))
  lapply(pmin(sizes, ncol(z)), function(size) {
    if (is.character(ridge)) {
      loo <- ridge_losses(fit, size, as.integer(classes))
      ridge <- loo$ridge[best_row(loo)] / ridge_unit(scatter, size)
    }
    axes <- discriminant_axes(scatter, ridge, size)
    scores <- z[, seq_len(size), drop = FALSE] %*% axes$scaling
    classes_of(gaussian_decisions(scores, axes$means, axes$within, prior), names(prior))
  })
}

# ---- results -----------------------------------------------------------------------------------

tabulate_errors <- function(errors, weights, grid) {
  table <- expand.grid(size = grid$size, kernel = names(grid$kernel), stringsAsFactors = FALSE)[2:1]
  by_fold <- vapply(errors, as.vector, numeric(nrow(table)))
  by_fold <- matrix(by_fold, nrow(table))
  share <- weights / sum(weights)
  table$error <- drop(by_fold %*% share)
  table$se <- sqrt(drop((by_fold - table$error)^2 %*% share) / (length(weights) - 1))
  table
}

best_candidate <- function(results) {
  least <- which(results$error <= min(results$error) * (1 + 1e-12))
  least[order(results$size[least])][1L]
}

# ---- methods -------------------------------------------------------------------------------------

validate_tune <- function(object, arg = "object") {
  must_hold(arg,
    results = is.data.frame(object$results) && nrow(object$results) > 0L &&
      all(c("kernel", "size", "error", "se") %in% names(object$results)),
    best = is.data.frame(object$best) && nrow(object$best) == 1L,
    model = is.object(object$model) && is.list(object$model)
  )
  object
}

#' @rdname kernel_tune
#' @param object a `kernel_tune`.
#' @param newdata new rows, as the model wants them.
#' @export
predict.kernel_tune <- function(object, newdata, ...) {
  stats::predict(validate_tune(object)$model, newdata, ...)
}

#' @export
print.kernel_tune <- function(x, ...) guard_model("x", {
  validate_tune(x, "x")
  cat("<kernel_tune> ", nrow(x$results), " candidate", if (nrow(x$results) > 1L) "s", ", ", x$folds,
      " folds of ", x$n, " rows\n", sep = "")
  cat("best:    ", x$best$kernel, ", size ", x$best$size, "\n", sep = "")
  cat(x$measure, ": ", format(x$best$error, digits = 4), " (standard error ",
      format(x$best$se, digits = 2), ")\n", sep = "")
  invisible(x)
})

#' @export
summary.kernel_tune <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_tune(object)
  structure(
    list(tune = object, best = best_by_kernel(object$results)),
    class = "summary.kernel_tune"
  )
})

best_by_kernel <- function(results) {
  parts <- split(results, factor(results$kernel, unique(results$kernel)))
  out <- do.call(rbind, lapply(parts, function(part) part[best_candidate(part), ]))
  rownames(out) <- NULL
  out
}

#' @export
print.summary.kernel_tune <- function(x, ...) guard_model("x", {
  print(x$tune)
  cat("best size for each kernel:\n")
  print(x$best, row.names = FALSE, digits = 4)
  invisible(x)
})

#' Plot the results of tuning
#'
#' Cross-validated error with its standard error against basis size, a line per kernel. Use it to
#' see whether the best candidate stands out, and whether the grid should be wider.
#' @param x a [kernel_tune()].
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly.
#' @examples
#' plot(kernel_tune(Species ~ ., iris, folds = 5, grid = list(size = c(5, 10, 20))))
#' @family models
#' @export
plot.kernel_tune <- function(x, ...) guard_model("x", {
  validate_tune(x, "x")
  results <- x$results
  labels <- unique(results$kernel)
  colours <- class_colours(length(labels))
  spread <- diff(range(results$size)) / 150 # bars side by side, not on top of each other
  local_par(las = upright(results$error))
  draw(graphics::plot, list(
    x = limits_for(results$size, length(labels)),
    y = range(results$error - results$se, results$error + results$se), type = "n",
    xlab = "basis size", ylab = paste("cross-validated", x$measure),
    main = sprintf("Least error %s at size %s", format(x$best$error, digits = 3), x$best$size)
  ), ...)
  for (i in seq_along(labels)) {
    part <- results[results$kernel == labels[i], ]
    at <- part$size + (i - (length(labels) + 1) / 2) * spread
    graphics::segments(at, part$error - part$se, at, part$error + part$se,
                       col = grDevices::adjustcolor(colours[i], 0.5))
    graphics::lines(at, part$error, type = "o", pch = 16, cex = 0.6, col = colours[i])
  }
  chosen <- match(x$best$kernel, labels)
  graphics::points(x$best$size + (chosen - (length(labels) + 1) / 2) * spread, x$best$error,
                   cex = 2, lwd = 2, col = colours[chosen])
  add_legend(results$size, results$error, sub(" of the data", "", labels, fixed = TRUE),
             col = colours, lty = 1, pch = 16)
  invisible(results)
})
