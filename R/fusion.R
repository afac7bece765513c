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
#' `adaptive = TRUE` the weights are learned, by one of two rules:
#' * `"adaptive"`, the paper's, the default for columns: solving for lambda and
#'   r_i <- r_i^2 a'K_i a take turns (eqs 22, 23) until no weight changes by more than a share
#'   `tol`. Then r_i a'K_i a = 1 for every kernel left. Weights are free to grow: rich kernels, such
#'   as `rbf_kernel()`, may gain so much that the classes are separated and `cost` binds no row any
#'   more. With many columns and few rows they may also all fall to zero, as each has little part in
#'   the first machine, although other weights stand still at this `cost`. These are then found from
#'   weights learned at ten times the `cost`, or a hundred times and so on (both iterations are in
#'   `path`). Where none stand still, those of the larger cost are kept, with a warning and
#'   `converged = FALSE`; where no cost keeps any, as with a rare class amid another, they stay as
#'   they start, with a warning: the rule then is the same answer for all rows, and larger case
#'   weights for the rare class the way out. Where none can stand still at this `cost`, the sum of
#'   lambda being bound below 1, it is an error.
#' * `"simplex"`, the default for lists of kernels and of Gram matrices: the shares
#'   r_i mean(diag(K_i)) are not negative and sum to one, and are chosen so that the optimum of the
#'   machine, or of the ridge regression, is lowest (the problem of SimpleMKL), until the duality
#'   gap of the whole problem, relative to its value, is at most the root of `tol`. As the mean
#'   diagonal of K stays 1, `cost` and `noise` keep their meaning.
#'
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
#' Case weights multiply `cost`, and divide `noise`, row by row: whole ones give the fit of repeated
#' rows.
#'
#' Probabilities come from decisions of rows left out: the fit, weights of the kernels included, is
#' repeated without each of `folds` parts of the rows (of more than 1000 rows, without as many of
#' these as have 1000 rows), and a softmax with one slope and an offset a class is fitted to what
#' these fits say about the rows they have not seen.
#'
#' Where the n x n matrices of the kernels and their sum would take more than half a gigabyte,
#' support vector machines work without them: columns are made as needed and the last ones kept, in
#' 300 MB.
#' They then end at a relative duality gap of 1e-7. Regression, and Gram matrices, need the memory.
#'
#' With `basis` every kernel is replaced by what a basis of at most `size` rows makes of it, Z Z'
#' with Z the coordinates of all rows: memory and time grow with the rows, not with their square,
#' and predictions need the rows of the bases alone. Coordinate descent finds the rows at their
#' bounds, and the others are solved for exactly, to a relative duality gap of 1e-6, of the problem
#' with these kernels. Three kernels, 100,000 rows and bases of 500 took 27 seconds of processor and
#' 3 GB (`bench/bench-factors.R`).
#'
#' Beyond two classes (not in the paper) each class is separated from the rest with one common
#' set of weights, updated by the sum over the classes.
#'
#' @param x a numeric matrix, a sparse one (see [sparse]) or a data frame (factor columns become
#'   indicator columns), or a formula such as `y ~ .`; missing when `kernels` are Gram matrices.
#' @param y a numeric vector for regression, a factor for recognition.
#' @param kernels NULL: each column is a kernel x_i z_i of rank one; or a list of [kernels] on all
#'   columns, of `kernel_on()` on some of them, and of `noise_kernel()`; or, with `x` missing, a
#'   named list of Gram matrices (and `noise_kernel()`).
#' @param adaptive learn the weights? FALSE: they stay as they start.
#' @param noise for regression: the diagonal term, as a share of the mean diagonal of K.
#' @param cost for recognition: bound on lambda, the price of a row on the wrong side of the
#'   margin; `Inf` for a hard margin.
#' @param max_iter,tol when the weights stop: after so many iterations (at a larger cost as many
#'   again, see Details), or at this relative change.
#' @param scale standardise columns with their mean and sd?
#' @param data a data frame with the variables of the formula.
#' @param ... nothing else is accepted: a misspelt argument is an error.
#' @param rule how weights are learned: `"simplex"` or `"adaptive"`, see Details. NULL: the paper's
#'   for columns, the simplex for a list of kernels.
#' @param basis NULL, or the name of a method of [kernel_basis()]: each kernel of the list on a
#'   basis of its own, see Details. For many rows.
#' @param size largest number of rows of each basis, `Inf`: up to its rank.
#' @param start weights of the kernels to start from (or, with `adaptive = FALSE`, to stay at),
#'   one a kernel, on the kernels' own scale.
#' @param weights case weights, one a row and not negative; in a formula worked out among the
#'   columns of `data`. A weight of 0 leaves the row out (Gram matrices keep theirs).
#' @param folds into how many parts rows are divided for probabilities; 0: none, the fit is then
#'   faster and `predict(type = "prob")` an error.
#' @param na_action `"fail"` on missing values, `"omit"` the rows that have them, or `"exclude"`
#'   them, which gives NA for them in `fitted()`, `residuals()` and `predict()` without new data.
#'   Rows of Gram matrices take their columns along, those missing throughout going first.
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
#' * `support`: rows with a dual value other than zero; with `basis` the rows of the bases;
#' * `fitted.values` (decision values for recognition), `residuals` (regression): see `keep`;
#' * `training_error`: root mean squared error or share of rows misclassified in training;
#' * `objective`: the value of the problem solved (of the dual, which is that of the primal to the
#'   gap); `gap`: largest relative duality gap of the support vector machines (NULL for regression);
#'   `weights_gap`: that of the whole problem, on the simplex;
#' * `calibration`: slope and offsets of the probabilities, see `folds`;
#' * `type`, `levels`, `kernels` (with numbers worked out), `vectors` (support rows, scaled),
#'   `expansion` (their coefficients a; with `basis` a list of those of each kernel), `basis` (sizes
#'   of the bases, or NULL), `support_names` (their names, for Gram matrices with
#'   names), `mean_diagonal`, `noise`, `cost`, `adaptive`, `rule`, `n`,
#'   `scaling`, `input`: what `predict()` and the other methods need;
#'   `version`: of the package that fitted it.
#' @references Mottl, Krasotkina, Seredin and Muchnik (2005), Kernel fusion and feature selection
#'   in machine learning, Computing Center of the Russian Academy of Sciences and DIMACS, Rutgers
#'   University.
#'
#'   Rakotomamonjy, Bach, Canu and Grandvalet (2008), SimpleMKL, Journal of Machine Learning
#'   Research
#'   9, 2491-2521.
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
                                  max_iter = 50, tol = 1e-6, scale = TRUE, ..., rule = NULL,
                                  basis = NULL, size = 500, start = NULL, weights = NULL, folds = 5,
                                  na_action = c("fail", "omit", "exclude"), keep = NULL,
                                  threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  control <- fusion_control(
    adaptive = adaptive, noise = noise, cost = cost, max_iter = max_iter, tol = tol,
    rule = fusion_rule(rule, kernels), folds = folds, keep = keep, threads = threads,
    verbose = verbose
  )
  if (missing(y) || is.null(y)) {
    abort("argument", "`y` is missing: a numeric vector or a factor of classes.")
  }
  basis <- fusion_basis(basis, size, if (!missing(x)) x, kernels)
  if (missing(x)) {
    data <- gram_cases(kernels, y, weights, na_action)
    set <- gram_set(data, is.numeric(y))
  } else {
    data <- weighted_rows(
      model_data(x, y, scale = scale, na_action = na_action, weights = weights), na_action
    )
    set <- kernel_set(kernels, data, control$threads, basis)
  }
  response <- fusion_response(data$y, set$cases)
  if (!is.null(set$z)) set <- with_moments(set, response, control$noise)
  start <- start_weights(start, set)
  fit <- learn_weights(set, start, response, control)
  fit$calibration <- fusion_calibration(set, start, response, control, fit)
  finish_model(new_fusion(fit, set, response, control, data), data, match.call(), y)
}

#' @rdname kernel_fusion
#' @param formula a formula with the response on its left-hand side.
#' @param subset which rows of `data` to use, as in [lm()].
#' @export
kernel_fusion.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_fusion.default, formula, data, match.call(), ...)
}

# ---- control, response, weights ---------------------------------------------------------

fusion_control <- function(adaptive, noise, cost, max_iter, tol, rule, folds, keep, threads,
                           verbose) {
  list(
    adaptive = check_flag(adaptive, "adaptive"),
    noise = check_number(noise, "noise", min = 0, max = 1e12),
    cost = check_cost(cost),
    max_iter = check_whole(max_iter, "max_iter", min = 1), tol = check_number(tol, "tol", min = 0),
    rule = rule, folds = check_folds(folds), keep = if (!is.null(keep)) check_flag(keep, "keep"),
    threads = check_threads(threads), verbose = check_flag(verbose, "verbose")
  )
}

# Rich kernels can grow without bound under the paper's rule, columns cannot.
fusion_rule <- function(rule, kernels) {
  if (is.null(rule)) return(if (is.null(kernels)) "adaptive" else "simplex")
  check_choice(rule, "rule", c("simplex", "adaptive"))
}

check_folds <- function(folds) {
  folds <- check_whole(folds, "folds", min = 0, max = 1000)
  if (folds == 1L) must_be("folds", "0 (no probabilities) or a whole number at least 2", folds)
  folds
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
# which weights count as vanished. `w`: case weights, ones where there are none. A class without
# weight is none.
fusion_response <- function(y, cases = NULL) {
  w <- if (is.null(cases)) rep(1, NROW(y)) else cases
  if (is.numeric(y)) {
    if (length(dim(y)) > 1L && ncol(y) != 1L) must_be("y", "a numeric vector or a factor", y)
    y <- as.double(y)
    if (sum(w > 0) < 2L) abort("data", "Regression needs at least two rows.")
    if (is_constant(y[w > 0])) fail_constant(y[w > 0][1L])
    variance <- sum(w * (y - sum(w * y) / sum(w))^2) / sum(w)
    if (!is.finite(variance) || variance > 1e140) { # weights grow with it, and are squared
      abort("not_finite", "`y` is too large: its variance overflows. Divide it by a constant.")
    }
    return(list(type = "regression", y = y, w = w, scale = variance))
  }
  known <- check_classes(y[w > 0])
  y <- factor(as.character(y), levels(known))
  sides <- if (nlevels(y) == 2L) levels(y)[2L] else levels(y)
  g <- matrix(2 * (match(y, sides, 0L) == rep(seq_along(sides), each = length(y))) - 1, length(y))
  colnames(g) <- if (nlevels(y) > 2L) levels(y)
  list(type = "recognition", y = y, g = g, w = w, levels = levels(y), scale = 1)
}

start_weights <- function(start, set) {
  D <- length(set$names)
  if (is.null(start)) return(ifelse(set$mean_diagonal > 0, 1 / set$mean_diagonal, 0))
  good <- is.numeric(start) && length(start) == D && all(is.finite(start)) &&
    all(start >= 0) && any(start > 0)
  if (!good) {
    must_be("start", paste("finite, not negative, not all zero, one per kernel:", D, "numbers"),
            start)
  }
  if (!is.null(names(start))) {
    check_columns(set$names, names(start), "start")
    start <- start[set$names]
  }
  ifelse(set$mean_diagonal > 0, as.double(start), 0)
}

# ---- the model ------------------------------------------------------------------------------

new_fusion <- function(fit, set, response, control, data) {
  support <- which(rowSums(fit$a != 0) > 0)
  expansion <- fit$a[support, , drop = FALSE]
  if (!is.null(set$z)) {
    kept <- factor_expansion(set, fit$a)
    support <- kept$index
    expansion <- kept$expansion
  }
  columns <- !is.null(set$x)
  keep <- check_keep(control$keep, set$n)
  single <- ncol(fit$a) == 1L
  model <- list(
    weights = fit$weights, active = fit$weights > 0, dual = named_decisions(fit$lambda, response),
    intercept = if (single) fit$intercept else stats::setNames(fit$intercept, response$levels),
    coefficients = if (columns) named_decisions(fusion_slopes(fit, set), response, set$names),
    path = data.frame(iteration = seq_len(fit$iterations), fit$path, check.names = FALSE),
    iterations = fit$iterations, converged = fit$converged, support = support,
    fitted.values = if (keep) named_decisions(fit$decision, response, set$rows),
    residuals = if (keep && response$type == "regression") {
      named_decisions(response$y - fit$decision, response, set$rows)
    },
    training_error = training_error(fit$decision, response), objective = fit$objective,
    gap = fit$gap, weights_gap = fit$weights_gap, calibration = fit$calibration,
    type = response$type, levels = response$levels, kernels = set$kernels,
    vectors = if (!columns && !is.null(data$x)) storable(data$x[support, , drop = FALSE]),
    expansion = if (!columns) expansion,
    support_names = if (is.null(data$x) && !anyDuplicated(set$rows)) set$rows[support],
    mean_diagonal = stats::setNames(set$mean_diagonal, set$names), noise = control$noise,
    cost = control$cost, adaptive = control$adaptive, rule = control$rule,
    basis = if (!is.null(set$z)) lengths(lapply(set$bases, `[[`, "index")), n = set$n,
    scaling = data$scaling,
    input = data$input
  )
  names(model$path)[-1L] <- set$names
  new_model("kernel_fusion", model)
}

# Coefficients of columns as kernels. With little noise a is large and cancels in the sum over rows:
# a regression knows better.
fusion_slopes <- function(fit, set) {
  if (is.null(fit$slopes)) fit$weights * crossprod(set$x, fit$a) else as.matrix(fit$slopes)
}

# A column per decision: a vector where there is one only.
named_decisions <- function(m, response, rows = NULL) {
  if (ncol(m) == 1L) return(stats::setNames(drop(unname(m)), rows))
  dimnames(m) <- list(rows, response$levels)
  m
}

training_error <- function(decision, response) {
  w <- response$w
  if (response$type == "regression") return(sqrt(sum(w * (response$y - decision)^2) / sum(w)))
  wrong <- as.integer(decided_class(decision, response$levels)) != as.integer(response$y)
  sum((w * wrong)[w > 0]) / sum(w)
}

# A single column of decisions is positive for the second of two classes.
decided_class <- function(decision, levels) {
  if (ncol(decision) > 1L) return(classes_of(decision, levels))
  factor(levels[1L + (decision[, 1L] > 0)], levels)
}
