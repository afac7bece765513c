#' Kernel regression and classification on a basis
#'
#' Least squares on the coordinates of a few well chosen rows in the kernel space (FVS-LR): a
#' nonlinear regression or classifier whose size is chosen by exact leave-one-out and which
#' predicts without the training data. Use it when you want a fast, small nonlinear model with
#' few settings to choose.
#'
#' @details
#' With Z the orthonormal coordinates of the rows in the basis, b and a minimise
#' |y - b - Z a|^2 + `ridge` |a|^2; the intercept b is free. A factor is fitted by its indicator
#' columns, and the largest value is the class; the values are no probabilities.
#'
#' Bases are nested, so one orthogonal factorisation of Z serves every size: adding a vector
#' takes one column q off the residuals, and adds q^2 to the leverages h. The leave-one-out
#' residual is r / (1 - h), exactly what refitting without the row would give, also with a ridge.
#' Scaling, kernel width, centre and basis are taken as given: they have seen the row left out, so
#' the error is that of the regression, not of the whole procedure; [kernel_tune()]
#' cross-validates all of it. `size = "loo"` keeps the size of least error, the smallest one if
#' several have it.
#'
#' @inheritParams kernel_pca
#' @inheritParams kernel_basis
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a
#'   formula such as `y ~ .`.
#' @param y a numeric vector, a numeric matrix (several responses on one basis), or a factor.
#' @param basis the name of a method of [kernel_basis()], a `kernel_basis` (its scaling and kernel
#'   are used), or NULL for all rows (with `size` left alone, none is dropped).
#' @param size `"loo"`: the best by leave-one-out, among all sizes up to where [kernel_basis()]
#'   stops; or the largest number of rows, NULL and `Inf` as in [kernel_basis()].
#' @param ridge penalty on the squared coefficients, at least 0.
#' @param tol,center,neighbours,threshold,first passed to [kernel_basis()].
#' @param formula,data a formula with response and the data frame with its variables.
#' @param weights case weights, one a row and not negative, worked out among the columns of `data`;
#'   whole weights give the fit of repeated rows.
#' @param keep keep fitted values and residuals of the training rows? NULL: if there are at most
#'   10,000.
#' @returns A list of class `"kernel_lm"`:
#' * `coefficients`: intercept and coefficients per orthonormal coordinate of the basis
#'   (`predict(basis, x)`), size + 1 values; a column per response or class, if there are several;
#' * `fitted.values`, `residuals`: of the training rows (for a factor: of its indicators, a column
#'   per class), NULL without `keep`;
#' * `basis`: the [kernel_basis()] of the size chosen;
#' * `loo`: data frame with `size` and `error`, the exact leave-one-out mean squared error (over
#'   all responses) or misclassification rate for every size; NA where a leverage is 1;
#' * `levels`: class labels, NULL for regression;
#' * `error`: mean squared error or misclassification rate on the training rows; `confusion`: for
#'   a factor, the training rows by class and fitted class;
#' * `ridge`, `n`.
#' @references Baudat and Anouar (2003), Feature vector selection and projection using kernels,
#'   Neurocomputing 55, \doi{10.1016/S0925-2312(03)00429-6}.
#' @examples
#' fit <- kernel_lm(Species ~ ., iris)
#' fit
#' predict(fit, iris[c(1, 51, 101), ])
#' plot(fit)
#' reg <- kernel_lm(dist ~ speed, cars, size = 5, ridge = 0.1)
#' reg$loo
#' @family models
#' @export
kernel_lm <- function(x, ...) UseMethod("kernel_lm")

#' @rdname kernel_lm
#' @export
kernel_lm.default <- function(x, y, kernel = rbf_kernel(), basis = "fvs", size = "loo", ridge = 0,
                              tol = 0.01, center = c("none", "nearest"), neighbours = 1,
                              threshold = identity, first = 1000, scale = TRUE, keep = NULL, ...,
                              na_action = c("fail", "omit"),
                              threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  if (missing(y)) abort("argument", "`y` is missing: give the response.")
  ridge <- check_number(ridge, "ridge", min = 0)
  if (is.null(basis) && missing(size)) size <- Inf
  loo <- identical(size, "loo")
  if (is.character(size) && !loo) must_be("size", "a whole number, NULL, Inf or \"loo\"", size)
  control <- model_control(basis, if (!loo) size, tol,
    center = center, neighbours = neighbours, threshold = threshold, first = first,
    threads = threads, verbose = verbose
  )
  parts <- fit_basis(x, y, basis, kernel, control, scale, na_action, missing(kernel),
    respond = response_matrix
  )
  response <- parts$y
  fit <- regress(parts$z, response, ridge)
  size <- if (loo) best_size(fit$error) else length(fit$error)
  new_lm(fit, size, parts, response, ridge, check_keep(keep, nrow(parts$z)))
}

#' @rdname kernel_lm
#' @export
kernel_lm.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_lm.default, formula, data, match.call(), ...)
}

# ---- fitting --------------------------------------------------------------------------------

# Least squares for every size at once; z is overwritten by Q with orthonormal columns
# (up to the ridge). Fields: center, mean (of y), r, c, error.
regress <- function(z, response, ridge, loo = TRUE) {
  labels <- if (!is.null(response$classes)) as.integer(response$classes)
  fit <- .Call(ffi_regress, z, response$matrix, ridge, labels, loo)
  fit$error[is.nan(fit$error)] <- NA
  fit
}

best_size <- function(error) {
  if (all(is.na(error))) {
    abort("data", "Leave-one-out cannot choose a size: with every size some row has leverage 1. ",
          "Give `size` as a number, or a positive `ridge`.")
  }
  which(error <= min(error, na.rm = TRUE) * (1 + 1e-12))[1L]
}

# Coefficients of the first `size` coordinates, without intercept.
nested_coefficients <- function(fit, size) {
  backsolve(fit$r, fit$c, k = size)
}

new_lm <- function(fit, size, parts, response, ridge, keep) {
  keep_columns <- seq_len(size)
  a <- nested_coefficients(fit, size)
  intercept <- fit$mean - drop(fit$center[keep_columns] %*% a)
  coefficients <- rbind(intercept, a)
  dimnames(coefficients) <- list(
    c("(Intercept)", paste0("z", keep_columns)), colnames(response$matrix)
  )
  fitted <- fitted_rows(parts$z, fit, size, response$matrix, parts$rows)
  basis <- head(parts$basis, size)
  warn_if_dependent(basis, parts$x, fitted, a, intercept)
  classes <- response$classes
  guess <- if (!is.null(classes)) classes_of(fitted, levels(classes))
  shape <- function(m) if (response$vector) drop_column(m) else m
  new_model("kernel_lm", list(
    coefficients = shape(coefficients),
    fitted.values = if (keep) shape(fitted),
    residuals = if (keep) shape(replace(fitted, TRUE, response$matrix - fitted)),
    basis = basis, loo = data.frame(size = seq_along(fit$error), error = fit$error),
    levels = levels(classes), ridge = ridge, n = nrow(fitted),
    error = if (is.null(classes)) mean((response$matrix - fitted)^2) else mean(guess != classes),
    confusion = if (!is.null(classes)) table(class = classes, fitted = guess)
  ))
}

# Q c + mean with the first `size` columns of Q; zeros in c spare a copy of them.
fitted_rows <- function(q, fit, size, y, rows) {
  c <- fit$c
  c[-seq_len(size), ] <- 0
  value <- q %*% c + rep(fit$mean, each = nrow(q))
  dimnames(value) <- list(rows, colnames(y))
  value
}

drop_column <- function(m) {
  out <- as.vector(m)
  names(out) <- rownames(m)
  out
}

# ---- prediction ------------------------------------------------------------------------------

validate_lm <- function(object, arg = "object") {
  validate_basis(object$basis, arg)
  decisions <- NCOL(object$coefficients)
  must_hold(arg,
    coefficients =
      is_matrix_of(as.matrix(object$coefficients), length(object$basis$index) + 1L, decisions),
    n = is_number(object$n),
    levels = is.null(object$levels) ||
      (is_levels(object$levels) && length(object$levels) == decisions)
  )
  object
}

#' Predictions of a kernel regression or classification
#'
#' Use it to get the number or the class of rows that the model has not seen; `type = "response"`
#' of a classifier tells how close the decision was.
#'
#' @param object a [kernel_lm()].
#' @param newdata new rows: matrix or data frame with the training columns (matched by name).
#' @param type `"response"`: values of the regression; `"class"`: the class of largest value.
#'   The default is `"class"` for a factor.
#' @param threads number of threads.
#' @param ... nothing else is accepted.
#' @returns A factor for classes; a vector, or a matrix with a column per response or class, for
#'   the regression values. Rows with missing values give NA.
#' @examples
#' fit <- kernel_lm(Species ~ ., iris)
#' predict(fit, iris[c(1, 51, 101), ])
#' predict(fit, iris[c(1, 51, 101), ], type = "response")
#' @family models
#' @export
predict.kernel_lm <- function(object, newdata, type = c("response", "class"),
                              threads = getOption("kernelect.threads", 1L), ...) {
  check_dots(...)
  validate_lm(object)
  classify <- !is.null(object$levels)
  types <- c("response", "class")
  type <- if (missing(type)) types[1L + classify] else check_choice(type, "type", types)
  if (type == "class" && !classify) {
    abort("argument", "`type = \"class\"` needs a model of a factor; this one is a regression.")
  }
  coefficients <- as.matrix(object$coefficients)
  dual <- dual_coefficients(object$basis, coefficients[-1L, , drop = FALSE])
  colnames(dual) <- colnames(object$coefficients)
  values <- expand_rows(object$basis, newdata, dual, -coefficients[1L, ], threads)
  if (type == "class") return(predicted_classes(values, object$levels))
  if (is.matrix(object$coefficients)) values else drop_column(values)
}

# NA where a row has missing values; `decide` is classes_of() or like it.
predicted_classes <- function(values, levels, decide = classes_of) {
  complete <- !is.na(values[, 1L])
  fill_rows(decide(values[complete, , drop = FALSE], levels), complete)
}

# ---- methods ---------------------------------------------------------------------------------

#' @export
print.kernel_lm <- function(x, ...) guard_model("x", {
  validate_lm(x, "x")
  what <- if (is.null(x$levels)) {
    "regression"
  } else {
    paste("classification,", length(x$levels), "classes")
  }
  cat("<kernel_lm> ", what, ": ", x$n, " rows on ", basis_words(x$basis), "\n", sep = "")
  cat("kernel:  ", kernel_words(x$basis),
      if (x$ridge > 0) paste0(", ridge ", format(x$ridge, digits = 3)), "\n", sep = "")
  left_out <- x$loo$error[length(x$basis$index)]
  name <- if (is.null(x$levels)) "mean squared error" else "error rate"
  cat(name, ": ", format(x$error, digits = 4), " on the training rows, ",
      if (is.na(left_out)) "unknown (leverage 1)" else format(left_out, digits = 4),
      " leave-one-out\n", sep = "")
  invisible(x)
})

#' @export
summary.kernel_lm <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_lm(object)
  L <- nrow(object$loo)
  spaced <- pmin(L, round(exp(seq(0, log(L), length.out = 7))))
  at <- sort(unique(c(spaced, length(object$basis$index))))
  structure(
    list(model = object, loo = object$loo[at, ], confusion = object$confusion),
    class = "summary.kernel_lm"
  )
})

#' @export
print.summary.kernel_lm <- function(x, ...) guard_model("x", {
  print(x$model)
  cat("leave-one-out error by size (chosen: ", length(x$model$basis$index), "):\n", sep = "")
  print(x$loo, row.names = FALSE, digits = 4)
  if (!is.null(x$confusion) && nrow(x$confusion) <= 12L) print(x$confusion)
  invisible(x)
})

#' @export
coef.kernel_lm <- function(object, ...) {
  check_dots(...)
  object$coefficients
}

#' Plot a kernel regression or classification
#'
#' Use it to see how well the model fits (`"fit"`), or whether another number of rows would do as
#' well (`"loo"`).
#'
#' @param x a [kernel_lm()].
#' @param type `"fit"`: observed against fitted values, or for a factor the confusion matrix of
#'   the training rows; `"loo"`: leave-one-out error against size.
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly.
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp, mtcars)
#' plot(fit)
#' plot(fit, type = "loo")
#' @family models
#' @export
plot.kernel_lm <- function(x, type = c("fit", "loo"), ...) guard_model("x", {
  validate_lm(x, "x")
  if (check_choice(type, "type", c("fit", "loo")) == "loo") return(plot_loo(x, ...))
  if (!is.null(x$confusion)) {
    title <- sprintf("%.1f %% of the training rows are misclassified", 100 * x$error)
    return(plot_confusion(x$confusion, title, ...))
  }
  fitted <- as.matrix(stats::fitted(x))
  observed <- fitted + as.matrix(stats::residuals(x))
  explained <- 1 - sum((observed - fitted)^2) /
    sum((observed - rep(colMeans(observed), each = nrow(observed)))^2)
  group <- if (ncol(fitted) > 1L) rep(colnames_or(fitted, "y"), each = nrow(fitted))
  labels <- list(
    xlab = "fitted", ylab = "observed",
    main = sprintf("The fit explains %.1f %% of the variance", 100 * explained)
  )
  data <- plot_groups(cbind(fitted = c(fitted), observed = c(observed)), group, labels, ...)
  graphics::abline(0, 1, lty = 3, col = "grey50")
  invisible(data)
})

colnames_or <- function(m, stem) {
  if (is.null(colnames(m))) paste0(stem, seq_len(ncol(m))) else colnames(m)
}

plot_loo <- function(x, ...) {
  known <- x$loo[!is.na(x$loo$error), ]
  if (!nrow(known)) {
    abort("model", "No leave-one-out error is known: with every size some row has leverage 1.")
  }
  chosen <- length(x$basis$index)
  local_par(las = upright(known$error))
  draw(graphics::plot, list(
    x = known$size, y = known$error, type = "l", col = palette_classes[1L], lwd = 1.5,
    xlab = "basis size",
    ylab = if (is.null(x$levels)) {
      "leave-one-out mean squared error"
    } else {
      "leave-one-out error rate"
    },
    main = sprintf("Least leave-one-out error at size %d; the model has %d",
                   known$size[which.min(known$error)], chosen)
  ), ...)
  graphics::points(chosen, x$loo$error[chosen], pch = 16, col = palette_classes[2L])
  invisible(known)
}
