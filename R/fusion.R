#' Which kernels matter?
#'
#' Fuses several kernels, or several columns as the simplest kernels, into one regression or
#' decision rule, and learns which of them are needed: the weights of the others fall to zero.
#' Use it when measurements of different kinds (clinical and genomic columns, strings, graphs)
#' must be combined, or when few of many columns are thought to matter in a linear rule.
#'
#' @details
#' The rule is f(x) = sum_j a_j sum_i r_i K_i(x_j, x) + b with one weight r_i >= 0 a kernel.
#' For given weights it is ridge regression with the kernel K = sum_i r_i K_i (system 19 of the
#' paper, `noise * mean(diag(K))` added to the diagonal), or a support vector machine with that
#' kernel, for a = g lambda with g = 1 for the second class and -1 for the first. With
#' `adaptive = TRUE` solving for lambda and r_i <- r_i^2 a'K_i a take turns (eqs 22, 23) until
#' no weight changes by more than a share `tol`. Then r_i a'K_i a = 1 for every kernel left.
#' The weights returned are those lambda was solved with.
#'
#' Kernels start on one scale, r_i = 1 / mean(diag(K_i)), so a kernel times a constant changes
#' no prediction. A weight below 1e-12 of the largest, on that scale, is set to zero for good.
#'
#' With `noise = 0` regression asks for exact equalities, as the paper prints it; where the rank
#' of K does not allow them, for least squares. Then N - 1 kernels can survive on N rows, and
#' noise in `y` is fitted too: a positive `noise`, or `noise = 0` and a `noise_kernel()` in the
#' list whose weight is learned, is what selects.
#'
#' Weights are free to grow: rich kernels, such as `rbf_kernel()`, may gain so much that the
#' classes are separated and `cost` binds no row any more.
#'
#' Beyond two classes (not in the paper) each class is separated from the rest with one common
#' set of weights, updated by the sum over the classes.
#'
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a
#'   formula such as `y ~ .`; missing when `kernels` are Gram matrices.
#' @param y a numeric vector for regression, a factor for recognition.
#' @param kernels NULL: each column is a kernel x_i z_i of rank one; or a list of [kernels] on all
#'   columns, of `kernel_on()` on some of them, and of `noise_kernel()`; or, with `x` missing, a
#'   named list of Gram matrices (and `noise_kernel()`).
#' @param adaptive learn the weights? FALSE: they stay as they start.
#' @param noise for regression: the diagonal term, as a share of the mean diagonal of K.
#' @param cost for recognition: bound on lambda, the price of a row on the wrong side of the
#'   margin; `Inf` for a hard margin.
#' @param max_iter,tol when the weights stop: after so many iterations, or at this relative change.
#' @param scale standardise columns with their mean and sd?
#' @param data a data frame with the variables of the formula.
#' @param ... nothing else is accepted: a misspelt argument is an error.
#' @param weights weights to start from (or to stay at), one a kernel, on the kernels' own scale.
#' @param na_action `"fail"` on missing values, or `"omit"` the rows that have them.
#' @param keep keep fitted values and residuals? NULL: up to 10,000 rows.
#' @param threads number of threads for Gram matrices; the result does not depend on it.
#' @param verbose draw a progress bar? In an interactive session one appears by itself after two
#'   seconds.
#' @returns A list of class `"kernel_fusion"`; n rows, D kernels, C = 1 decision (regression, two
#'   classes) or one a class:
#' * `weights`: r, named, of the kernels on their own scale; zero where a kernel is not needed;
#' * `active`: logical, whether the weight is positive;
#' * `dual`: lambda, length n (n x C beyond two classes); never negative for recognition;
#' * `intercept`: b, of length C;
#' * `coefficients`: for columns as kernels, of the scaled columns (a matrix beyond two classes),
#'   else NULL;
#' * `path`: data frame, a row an iteration: `iteration` and the weights it was solved with;
#' * `iterations`, `converged`;
#' * `support`: rows with a dual value other than zero;
#' * `fitted.values` (decision values for recognition), `residuals` (regression): see `keep`;
#' * `training_error`: root mean squared error or share of rows misclassified in training;
#' * `gap`: largest relative duality gap of the support vector machines (NULL for regression);
#' * `type`, `levels`, `kernels` (with numbers worked out), `vectors` (support rows, scaled),
#'   `expansion` (their coefficients a), `support_names` (their names, for Gram matrices with
#'   names), `mean_diagonal`, `noise`, `cost`, `adaptive`, `n`,
#'   `scaling`, `input`: what `predict()` and the other methods need;
#'   `version`: of the package that fitted it.
#' @references Mottl, Krasotkina, Seredin and Muchnik (2005), Kernel fusion and feature selection
#'   in machine learning, Computing Center of the Russian Academy of Sciences and DIMACS, Rutgers
#'   University.
#' @examples
#' train <- simulate_fusion(20, seed = 1)
#' fit <- kernel_fusion(y ~ ., train)
#' fit
#' plot(fit)
#' predict(fit, simulate_fusion(3, seed = 2))
#'
#' # blocks of columns: the petals tell the species apart, the sepals add little
#' kernel_fusion(iris[1:4], iris$Species, kernels = list(
#'   sepal = kernel_on(linear_kernel(), c("Sepal.Length", "Sepal.Width")),
#'   petal = kernel_on(linear_kernel(), c("Petal.Length", "Petal.Width"))
#' ))
#' @family fusion
#' @export
kernel_fusion <- function(x, ...) UseMethod("kernel_fusion")

#' @rdname kernel_fusion
#' @export
kernel_fusion.default <- function(x, y, kernels = NULL, adaptive = TRUE, noise = 0.1, cost = 1,
                                  max_iter = 50, tol = 1e-6, scale = TRUE, ..., weights = NULL,
                                  na_action = c("fail", "omit"), keep = NULL,
                                  threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  control <- fusion_control(adaptive, noise, cost, max_iter, tol, keep, threads, verbose)
  if (missing(y) || is.null(y)) {
    abort("argument", "`y` is missing: a numeric vector or a factor of classes.")
  }
  if (missing(x)) {
    set <- gram_set(kernels)
    data <- list(y = check_gram_response(y, set$n))
  } else {
    data <- model_data(x, y, scale = scale, na_action = na_action)
    set <- kernel_set(kernels, data, control$threads)
  }
  response <- fusion_response(data$y)
  start <- start_weights(weights, set)
  fit <- adapt_weights(set, start, response, control)
  new_fusion(fit, set, response, control, data)
}

#' @rdname kernel_fusion
#' @param formula a formula with the response on its left-hand side.
#' @param subset which rows of `data` to use, as in [lm()].
#' @export
kernel_fusion.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_fusion.default, formula, data, match.call(), ...)
}

# ---- control, response, weights ---------------------------------------------------------

fusion_control <- function(adaptive, noise, cost, max_iter, tol, keep, threads, verbose) {
  list(
    adaptive = check_flag(adaptive, "adaptive"),
    noise = check_number(noise, "noise", min = 0, max = 1e12),
    cost = check_cost(cost),
    max_iter = check_whole(max_iter, "max_iter", min = 1), tol = check_number(tol, "tol", min = 0),
    keep = if (!is.null(keep)) check_flag(keep, "keep"),
    threads = check_threads(threads), verbose = check_flag(verbose, "verbose")
  )
}

# Squares of dual values, which `cost` bounds, must be numbers.
check_cost <- function(cost) {
  cost <- check_number(cost, "cost", above = 0, finite = FALSE)
  if (is.finite(cost) && cost > 1e100) {
    must_be("cost", "at most 1e100, or `Inf` for a hard margin", cost)
  }
  cost
}

# Regression: `y`. Recognition: `g`, a column of -1 and 1 for each decision. `scale`: that on
# which weights count as vanished.
fusion_response <- function(y) {
  if (is.numeric(y)) {
    if (length(dim(y)) > 1L && ncol(y) != 1L) must_be("y", "a numeric vector or a factor", y)
    y <- as.double(y)
    if (length(y) < 2L) abort("data", "Regression needs at least two rows.")
    variance <- mean((y - mean(y))^2)
    if (!is.finite(variance) || variance > 1e140) { # weights grow with it, and are squared
      abort("not_finite", "`y` is too large: its variance overflows. Divide it by a constant.")
    }
    return(list(type = "regression", y = y, scale = variance))
  }
  y <- check_classes(y)
  sides <- if (nlevels(y) == 2L) levels(y)[2L] else levels(y)
  g <- 2 * outer(as.character(y), sides, `==`) - 1
  colnames(g) <- if (nlevels(y) > 2L) levels(y)
  list(type = "recognition", y = y, g = g, levels = levels(y), scale = 1)
}

start_weights <- function(weights, set) {
  D <- length(set$names)
  if (is.null(weights)) return(ifelse(set$mean_diagonal > 0, 1 / set$mean_diagonal, 0))
  good <- is.numeric(weights) && length(weights) == D && all(is.finite(weights)) &&
    all(weights >= 0) && any(weights > 0)
  if (!good) {
    must_be("weights", paste("finite, not negative, not all zero, one per kernel:", D, "numbers"),
            weights)
  }
  if (!is.null(names(weights))) {
    check_columns(set$names, names(weights), "weights")
    weights <- weights[set$names]
  }
  ifelse(set$mean_diagonal > 0, as.double(weights), 0)
}

# ---- the iteration ------------------------------------------------------------------------

# Solve for lambda at weights r, then r <- r^2 a'K a, until r stands still. The pair returned
# belongs together: the weights are those that lambda was solved with.
adapt_weights <- function(set, r, response, control) {
  path <- list()
  fit <- NULL
  tick <- progress(control$verbose, control$max_iter)
  for (k in seq_len(control$max_iter)) {
    fit <- solve_fused(set, r, response, control, fit)
    path[[k]] <- r
    tick()
    if (!control$adaptive) break
    new <- prune_weights(r^2 * fit$forms, set, response, control)
    change <- max(abs(new[r > 0] / r[r > 0] - 1))
    if (change <= control$tol || k == control$max_iter) break
    r <- new
  }
  tick(close = TRUE)
  converged <- !control$adaptive || change <= control$tol
  if (!converged) {
    warn("convergence", "Weights still change by a share of ", format(change, digits = 2),
         " after `max_iter` = ", control$max_iter, " iteration", if (control$max_iter > 1L) "s",
         ". Raise `max_iter` or `tol`.")
  }
  solved <- is.null(fit$gap) || fit$gap <= 1e-6
  if (!solved) {
    warn("convergence", "The support vector machine was not solved to the end ",
         "(relative duality gap ", format(fit$gap, digits = 2),
         "). Use a smaller `cost`, or a narrower kernel.")
  }
  c(fit,
    list(weights = stats::setNames(r, set$names), path = do.call(rbind, path), iterations = k,
         converged = converged && solved))
}

prune_weights <- function(r, set, response, control) {
  share <- r * set$mean_diagonal
  if (!all_finite(share)) fail_dual_overflow()
  if (!(max(share) > 1e-12 * response$scale)) fail_vanished(response$type, control)
  ifelse(share < 1e-12 * max(share), 0, r)
}

fail_vanished <- function(type, control) {
  remedy <- if (type == "regression") {
    paste0("more `noise` (now ", format(control$noise), ")")
  } else {
    paste0("a larger `cost` (now ", format(control$cost), "), or more noise by a `noise_kernel()`")
  }
  abort("vanished", "All weights vanish: no kernel explains `y`. Try ", remedy,
        ", other kernels, or `adaptive = FALSE`.")
}

# lambda (n x C), a = signed lambda, intercepts, decision values and the forms a'K_i a (summed
# over the decisions) at weights r.
solve_fused <- function(set, r, response, control, last) {
  if (response$type == "recognition") return(solve_machines(set, r, response$g, control, last))
  solve <- if (is.null(set$x)) solve_regression else solve_columns
  solve(set, r, response$y, control)
}

fused_gram <- function(set, r, threads) {
  live <- r > 0
  if (is.null(set$x)) {
    if (sum(live) == 1L && r[live] == 1) return(set$grams[live][[1L]])
    return(.Call(ffi_fuse, set$grams[live], r[live]))
  }
  gram_matrix(set$x[, live, drop = FALSE], new_kernel("linear", weights = sqrt(r[live])), NULL,
              threads)
}

# a'K_i a for the live kernels, zero for the others.
forms_of <- function(set, r, a) {
  live <- r > 0
  forms <- numeric(length(r))
  forms[live] <- if (is.null(set$x)) {
    .Call(ffi_forms, set$grams[live], a)
  } else {
    rowSums(crossprod(set$x[, live, drop = FALSE], a)^2)
  }
  forms
}

solve_machines <- function(set, r, g, control, last) {
  K <- fused_gram(set, r, control$threads)
  fits <- lapply(seq_len(ncol(g)), function(c) {
    fit <- svm_dual(K, g[, c], control$cost, last$lambda[, c], tol = 1e-10)
    if (fit$status == "infeasible") fail_inseparable(colnames(g)[c])
    fit
  })
  lambda <- vapply(fits, function(fit) drop_dust(fit$lambda), numeric(nrow(g)))
  a <- g * lambda
  gap <- max(vapply(fits, function(fit) fit$gap / max(fit$scale, .Machine$double.xmin), 0))
  list(
    lambda = lambda, a = a, intercept = vapply(fits, `[[`, 0, "intercept"), gap = gap,
    decision = vapply(fits, `[[`, numeric(nrow(g)), "decision") - own_noise(set, r, a),
    forms = if (control$adaptive) forms_of(set, r, a)
  )
}

drop_dust <- function(lambda) ifelse(lambda > 1e-12 * max(lambda), lambda, 0)

fail_inseparable <- function(class) {
  abort("infeasible", "The classes cannot be separated",
        if (!is.null(class)) paste0(" (\"", class, "\" from the rest)"),
        ": with `cost = Inf` (a hard margin) there is no solution. ",
        "Use a finite `cost`, such as `cost = 1`.")
}

# System (19). Centring both sides takes the intercept out: (HKH + nu I) lambda = H y.
solve_regression <- function(set, r, y, control) {
  K <- fused_gram(set, r, control$threads)
  means <- rowMeans(K)
  nu <- control$noise * mean(diag(K))
  lambda <- solve_centred(K - means - rep(means, each = set$n) + mean(means), y - mean(y), nu)
  lambda <- lambda - mean(lambda)
  intercept <- mean(y) - sum(means * lambda)
  smooth <- K %*% lambda - own_noise(set, r, lambda)
  regression_fit(set, r, lambda, intercept, smooth + intercept)
}

# A noise kernel is part of K among the training rows, not of the rule.
own_noise <- function(set, r, a) {
  sum(r[vapply(set$kernels, is_noise, NA)]) * a
}

# Columns as kernels: with fewer live columns than rows the system of the columns is smaller.
# theta = sqrt(r) x'lambda solves (Z'Z + nu I) theta = Z'y, Z = centred columns times sqrt(r).
solve_columns <- function(set, r, y, control) {
  live <- r > 0
  x <- if (all(live)) set$x else set$x[, live, drop = FALSE]
  root <- sqrt(r[live])
  means <- colMeans(x)
  nu <- control$noise * sum((r * set$mean_diagonal)[live])
  centred <- y - mean(y)
  if (nu > 0 && ncol(x) < set$n) {
    z <- (x - rep(means, each = set$n)) * rep(root, each = set$n)
    theta <- solve_centred(gram_matrix(t(z), linear_kernel(), NULL, control$threads),
                           crossprod(z, centred), nu)
    lambda <- (centred - z %*% theta) / nu
  } else {
    K <- gram_matrix(x, new_kernel("linear", weights = root), NULL, control$threads, shift = means)
    lambda <- solve_centred(K, centred, nu)
    theta <- root * crossprod(x, lambda - mean(lambda))
  }
  beta <- drop(theta) * root
  intercept <- mean(y) - sum(beta * means)
  fit <- regression_fit(NULL, r, lambda - mean(lambda), intercept, x %*% beta + intercept)
  fit$forms <- numeric(length(r))
  fit$forms[live] <- drop(theta)^2 / r[live]
  fit
}

regression_fit <- function(set, r, lambda, intercept, decision) {
  lambda <- matrix(lambda)
  list(
    lambda = lambda, a = lambda, intercept = intercept, decision = matrix(decision),
    forms = if (!is.null(set)) forms_of(set, r, lambda)
  )
}

# (A + nu I) x = b for a positive semi-definite A. A singular one, as every centred matrix is,
# has its null space filled by the constant vector; if more is missing, least squares.
solve_centred <- function(A, b, nu) {
  n <- nrow(A)
  size <- mean(diag(A))
  if (!(size > 0)) return(if (nu > 0) drop(b) / nu else numeric(n))
  if (nu > 0) diag(A) <- diag(A) + nu else A <- A + size / n
  R <- if (nu > 1e-10 * size) tryCatch(chol(A), error = function(e) NULL)
  if (!is.null(R)) {
    return(backsolve(R, forwardsolve(R, drop(b), upper.tri = TRUE, transpose = TRUE)))
  }
  R <- suppressWarnings(chol(A, pivot = TRUE))
  if (attr(R, "rank") < n) return(least_squares(if (nu > 0) A else A - size / n, b))
  at <- attr(R, "pivot")
  x <- numeric(n)
  x[at] <- backsolve(R, forwardsolve(R, b[at], upper.tri = TRUE, transpose = TRUE))
  x
}

least_squares <- function(A, b) {
  e <- eigen(A, symmetric = TRUE)
  keep <- e$values > nrow(A) * .Machine$double.eps * e$values[1L]
  V <- e$vectors[, keep, drop = FALSE]
  drop(V %*% (crossprod(V, b) / e$values[keep]))
}

# ---- the model ------------------------------------------------------------------------------

new_fusion <- function(fit, set, response, control, data) {
  support <- which(rowSums(fit$a != 0) > 0)
  columns <- !is.null(set$x)
  keep <- check_keep(control$keep, set$n)
  single <- ncol(fit$a) == 1L
  model <- list(
    weights = fit$weights, active = fit$weights > 0, dual = named_decisions(fit$lambda, response),
    intercept = if (single) fit$intercept else stats::setNames(fit$intercept, response$levels),
    coefficients = if (columns) named_decisions(fit$weights * crossprod(set$x, fit$a), response,
                                                set$names),
    path = data.frame(iteration = seq_len(fit$iterations), fit$path, check.names = FALSE),
    iterations = fit$iterations, converged = fit$converged, support = support,
    fitted.values = if (keep) named_decisions(fit$decision, response, set$rows),
    residuals = if (keep && response$type == "regression") {
      named_decisions(response$y - fit$decision, response, set$rows)
    },
    training_error = training_error(fit$decision, response), gap = fit$gap,
    type = response$type, levels = response$levels, kernels = set$kernels,
    vectors = if (!columns && !is.null(data$x)) data$x[support, , drop = FALSE],
    expansion = if (!columns) fit$a[support, , drop = FALSE],
    support_names = if (is.null(data$x) && !anyDuplicated(set$rows)) set$rows[support],
    mean_diagonal = stats::setNames(set$mean_diagonal, set$names), noise = control$noise,
    cost = control$cost, adaptive = control$adaptive, n = set$n, scaling = data$scaling,
    input = data$input
  )
  names(model$path)[-1L] <- set$names
  new_model("kernel_fusion", model)
}

# A column per decision: a vector where there is one only.
named_decisions <- function(m, response, rows = NULL) {
  if (ncol(m) == 1L) return(stats::setNames(drop(unname(m)), rows))
  dimnames(m) <- list(rows, response$levels)
  m
}

training_error <- function(decision, response) {
  if (response$type == "regression") return(sqrt(mean((response$y - decision)^2)))
  mean(decided_class(decision, response$levels) != response$y)
}

# A single column of decisions is positive for the second of two classes.
decided_class <- function(decision, levels) {
  if (ncol(decision) > 1L) return(classes_of(decision, levels))
  factor(levels[1L + (decision[, 1L] > 0)], levels)
}
