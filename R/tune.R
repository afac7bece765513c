#' Choose kernel, size, ridge or cost of a model by cross-validation
#'
#' Fits a model with every candidate of a grid on parts of the data, measures it on the rows left
#' out, and refits the best on all rows. Use it when the width of the kernel matters, when you want
#' another measure than the model's own, or (`nested = TRUE`) an honest estimate of the error of the
#' whole procedure.
#'
#' @details
#' All candidates see the same folds; folds are stratified for a factor. Scaling, kernel width and
#' basis are worked out anew within each fold, unless they are `shared` (below). As bases are
#' nested, one factorisation per fold and
#' kernel serves all sizes and ridges ([kernel_lm()], [kernel_lda()]), one fit all sizes of
#' [kernel_takes()]; any other function of `(x, y, kernel =, ...)` with a `predict()` method is
#' fitted once per candidate. What is not in the grid stays at the model's default: [kernel_lm()]
#' and [kernel_lda()] then choose ridge or size by leave-one-out in each fit. Only their `tol`,
#' unless it is
#' given, is another: 0.001, and 0 where the grid has sizes, which decide. Where a basis stops
#' before a size (by rank, or a `tol` given), the size gives the same model as the largest it has.
#'
#' With `shared = TRUE` ([kernel_lm()] and [kernel_lda()] with a positive ridge) scaling, kernel
#' width and basis are worked out once, on all rows: none of them looks at the response. One
#' factorisation then serves all folds: each is left out of the regression exactly, at the size and
#' ridge that leave-one-out on all rows chose where the grid has none. The axes of [kernel_lda()]
#' are such a regression too, of the classes' indicators; only how its values are turned into
#' scores is taken from all rows. Probabilities are calibrated on the rows of the other folds. It is
#' many times faster, and what the default grid and more than 2000 rows get. To take
#' seconds, the bases that candidates are compared on are limited: `n * size^2` summed over kernels
#' to 4e9, half of it from 2000 rows on; the model in the end has what it gives itself.
#' `nested = TRUE` still leaves the outer folds out of everything.
#'
#' Probabilities of [kernel_fusion()] and [kernel_takes()] in a fold are calibrated on the decisions
#' in the other folds, as those of shared bases are; the model in the end has its own.
#'
#' | `metric` | for | what it is |
#' |---|---|---|
#' | `"error"` | a factor | share of rows misclassified |
#' | `"brier"` | a factor | mean squared distance of probabilities and indicators, summed over classes |
#' | `"logloss"` | a factor | mean of -log(probability of the true class), that at least 1e-15 |
#' | `"auc"` | a factor | area under the ROC curve; beyond two classes the mean over pairs (Hand and Till 2001); larger is better |
#' | `"mse"` | numbers | mean squared error (the default), over all responses |
#' | `"mae"` | numbers | mean absolute error |
#'
#' Each is the mean over folds, weighted by their rows (or case weights), and over repetitions. `se`
#' is its standard error from the differences between folds; repetitions see the same rows, so they
#' steady the mean but do not shrink `se`.
#'
#' `rule = "best"` takes the candidate of least error (largest area); of several the smallest, then
#' that of the largest ridge and the lowest cost, then the first. `"one_se"` takes the first in that
#' order among all within one standard error of the best.
#'
#' @section How the default grid was chosen:
#' By 2-fold cross-validation within one half of each of 51 sets (`bench/choose-tune.R`, kept in
#' `results/choose-tune.csv` of the installed package; the other halves, on which
#' `vignette("defaults")` compares it with other methods, were not looked at). Mean ranks of the
#' squared loss (Brier score) among twelve settings, the kernel taken by the loss left out: six RBF
#' widths with `tol = 0.01` 5.95, this grid 6.01, [kernel_lm()] as it is 7.38; of the first two this
#' one misclassified fewer rows. Kernels taken by the error left out did worse.
#'
#' @section The least of many estimates:
#' It is too low. With labels of pure noise the least error over the
#' former default grid was 0.427 in 20 runs where 0.5 is true. `print()` calls the figure what it
#' is; `nested = TRUE` repeats the whole procedure, choice included, without each fold in turn and
#' measures on that fold. It takes about as many times longer as there are folds.
#'
#' Everything random comes from `seed`; the generator of the session is left as it was. Folds run
#' in parallel when the future.apply package is installed and a plan other than sequential is set.
#'
#' @inheritParams kernel_lm
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a
#'   formula such as `y ~ .`.
#' @param y a numeric vector, a numeric matrix (several responses on one basis), or a factor.
#' @param formula,data a formula with response and the data frame with its variables.
#' @param fit the model to fit: [kernel_lm()], [kernel_lda()], [kernel_takes()],
#'   [kernel_fusion()], or
#'   a function like them, which gets rows of `x` as they are, `y`, `kernel` and what is in `grid`.
#' @param grid a list of any of
#'   * `kernel`: a list of kernels (its names serve as labels); for [kernel_fusion()] each a
#'     kernel or a list of kernels to fuse;
#'   * `sigma`: widths, numbers or multiples of `"mean"` such as `"x0.5"`, for every kernel that
#'     has one (without `kernel`: RBF kernels);
#'   * `size`, `ridge`, `cost`: vectors of numbers, for models that have them (`ridge` is the
#'     `noise` of [kernel_fusion()]).
#'
#'   Without `kernel` and `sigma`: RBF kernels with `sigma = "mean"` times 0.7, 1, 2, 4 and Laplace
#'   kernels with twice and four times that, for [kernel_fusion()] its columns. NULL means these,
#'   for
#'   [kernel_takes()] and functions of yours with
#'   sizes from 5 to 200, for [kernel_fusion()] with `cost` 0.01 to 100 or `ridge` 0.001 to 10.
#' @param metric what is measured, see Details; NULL: `"mse"` for numbers, `"error"` for a factor,
#'   but `"brier"` where `grid` is NULL: an error rate is too coarse to choose among kernels by.
#' @param folds number of folds, from 2 to the number of rows (left out: 10, or all rows where there
#'   are fewer); or a vector with the fold of each row.
#' @param repeats how often to cross-validate, with other folds each time.
#' @param rule which candidate is taken, see Details.
#' @param nested estimate the error of the whole procedure by an outer cross-validation?
#' @param seed a whole number.
#' @param cluster a cluster of the package parallel, whose workers share the folds (or, with one
#'   factorisation for all folds, the kernels); the results do not depend on it.
#' @param shared share scaling, kernel width and basis among folds? See Details; NULL: with
#'   [kernel_lm()] and [kernel_lda()] where `grid` is NULL or there are more than 2000 rows.
#' @param fit_args a list of further arguments for `fit`, for those whose names are also arguments
#'   here: `fit_args = list(rule = "simplex", folds = 3)` for [kernel_fusion()].
#' @param ... arguments for `fit`, such as `basis`, `ridge`, `tol` or `scale`; for `predict()`
#'   those of the model's own `predict()`, such as `type`.
#' @returns A list of class `"kernel_tune"`:
#' * `results`: data frame with a row per candidate: `kernel` (label), `sigma` (number, of the
#'   training rows as the model scales them; NA where the kernel has none), `size`, `ridge`, `cost`
#'   (from the grid,
#'   else what the model has on all rows; NA where it has none), `error` (the metric; NA where
#'   [kernel_fusion()] keeps no kernel in some fold), `se`;
#' * `best`: the row of the candidate taken;
#' * `model`: that candidate, fitted to all rows;
#' * `nested`: error of the outer cross-validation, and `nested_se` its standard error; NULL without
#'   `nested`;
#' * `edge`: parameters whose best value is at an end of the grid, such as `c(sigma = "smallest")`;
#' * `kernels`: the kernels, named by label; `gridded`: the other parameters in the grid;
#'   `metric`; `measure`: the metric in words; `rule`;
#'   `folds`: number of folds; `repeats`; `seed`; `n`.
#'
#' `predict()` gives what `model` predicts.
#' @references Hand and Till (2001), A simple generalisation of the area under the ROC curve for
#'   multiple class classification problems, Machine Learning 45, \doi{10.1023/A:1010920819831}.
#' @examples
#' tuned <- kernel_tune(Species ~ ., iris, folds = 5, grid = list(sigma = c("x0.5", "x1", "x2")))
#' tuned
#' plot(tuned)
#' predict(tuned, iris[c(1, 51, 101), ])
#' kernel_tune(dist ~ speed, cars, grid = list(size = 2:4, ridge = c(0, 0.1)), metric = "mae")
#' @family models
#' @export
kernel_tune <- function(x, ...) UseMethod("kernel_tune")

#' @rdname kernel_tune
#' @export
kernel_tune.default <- function(x, y, fit = kernel_lm, grid = NULL, metric = NULL, folds = 10,
                                repeats = 1, rule = c("best", "one_se"), nested = FALSE, seed = 1,
                                ..., shared = NULL, fit_args = NULL, weights = NULL,
                                na_action = c("fail", "omit", "exclude"), verbose = FALSE,
                                cluster = NULL) {
  plan <- tune_plan(check_function(fit, "fit"))
  dots <- check_tune_dots(c(list(...), check_fit_args(fit_args)), grid)
  if (!missing(x) && is_kernel_matrix(x)) fail_tuning_gram("x")
  if (missing(y)) abort("argument", "`y` is missing: give the response.")
  na_action <- check_choice(na_action, "na_action", na_actions)
  rule <- check_choice(rule, "rule", c("best", "one_se"))
  verbose <- check_flag(verbose, "verbose")
  if (!is.null(cluster)) check_cluster(cluster)
  nested <- check_flag(nested, "nested")
  repeats <- check_whole(repeats, "repeats", min = 1)
  data <- tune_rows(x, y, weights, plan, na_action)
  own_folds <- length(folds) > 1L
  folds <- make_folds(if (missing(folds)) default_folds(data$n) else folds, repeats, data, seed)
  if (nested && own_folds && max(folds[[1L]]) < 3L) {
    abort("argument", "`nested` needs three folds at least: without one, two must be left.")
  }
  count <- max(folds[[1L]])
  if (is.null(metric) && is.null(grid) && !is.null(data$classes)) metric <- "brier"
  metric <- check_metric(metric, !is.null(data$classes))
  problem <- c(data, list(
    plan = plan, metric = tune_metrics[[metric]],
    grid = check_grid(grid, plan, data$n - ceiling(data$n / count), !is.null(data$classes)),
    folds = folds, own_folds = own_folds, rule = rule, seed = seed, dots = dots,
    shared = check_shared(shared, plan, grid, data$n, dots)
  ))
  tuned <- tune_problem(problem, verbose, cluster)
  outer <- if (nested) nested_error(problem, verbose, cluster)
  kernel <- problem$grid$kernels[[tuned$best$kernel]]
  model <- preserve_seed(seed, function() {
    if (!plan$own) return(fit_best(problem, tuned))
    more <- c(with_weights(dots, weights), list(na_action = na_action))
    suppress_omission(plan$whole(x, y, kernel, tuned$setting, more))
  })
  if (inherits(model, "kernelect_model")) model$call <- NULL # it is this call that can be repeated
  result <- new_model("kernel_tune", list(
    results = tuned$results, best = tuned$best, model = model, nested = outer$error,
    nested_se = outer$se, edge = at_edge(tuned$results, tuned$best, problem$grid,
                                         reached_size(model, tuned$best$size)),
    kernels = problem$grid$kernels, gridded = names(problem$grid$settings), metric = metric,
    measure = problem$metric$words, rule = rule, folds = count, repeats = repeats, seed = seed,
    n = data$n
  ))
  finish_model(result, data, match.call(), y)
}

#' @rdname kernel_tune
#' @export
kernel_tune.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_tune.default, formula, data, match.call(), ...)
}

# ---- arguments -----------------------------------------------------------------------------------

check_fit_args <- function(fit_args) {
  if (is.null(fit_args)) return(NULL)
  if (!is.list(fit_args) || length(names(fit_args)) != length(fit_args) ||
        any(names(fit_args) == "")) {
    must_be("fit_args", "a named list of arguments for `fit`", fit_args)
  }
  fit_args
}

fail_tuning_gram <- function(arg) {
  abort("argument", "`", arg, "` is a Gram matrix, which has its kernel in it: none is left to ",
        "choose. Use `kernel_lm(K = )`, whose leave-one-out chooses size and ridge.")
}

check_tune_dots <- function(dots, grid) {
  if ("K" %in% names(dots)) fail_tuning_gram("K")
  taken <- intersect(names(dots), c("kernel", "sigma", "size"))
  again <- unique(names(dots)[duplicated(names(dots))])
  if (length(again)) {
    abort("argument", backticked(again), " is given twice: by itself and in `fit_args`.")
  }
  if (length(taken)) {
    abort("argument", backticked(taken),
          " belongs in `grid`: grid = list(kernel = list(...), size = c(...)).")
  }
  twice <- intersect(names(dots), names(grid))
  if (length(twice)) {
    abort("argument", backticked(twice), " is given twice: by itself and in `grid`.")
  }
  if (inherits(dots$basis, "kernel_basis")) {
    abort("argument", "`basis` must be the name of a method here: each fold chooses its own basis.")
  }
  dots
}

# The rows as the fits get them, without those of missing values or no weight; `kept` are their
# numbers among the rows given.
tune_rows <- function(x, y, weights, plan, na_action) {
  data <- model_data(x, y, scale = FALSE, na_action = na_action, weights = weights)
  if (!is.null(data$weights) && any(data$weights == 0)) {
    positive <- data$weights > 0
    kept <- if (is.null(data$kept)) seq_len(data$n) else seq_len(NROW(x))[data$kept]
    data$kept <- kept[positive]
    data[c("x", "y", "weights")] <- lapply(data[c("x", "y", "weights")], take_rows, positive)
    data$n <- sum(positive)
  }
  if (plan$classes) data$y <- check_classes(data$y, min_rows = 2L)
  classes <- response_matrix(data$y)$classes
  list(
    # a user's function gets what the user gave
    x = if (plan$own) data$x else take_rows(x, data$kept), matrix = data$x, y = data$y,
    classes = classes, weights = data$weights, n = data$n, kept = data$kept, given = NROW(x),
    na.action = data$na.action
  )
}

# Rows omitted and dates taken as numbers, which were already told of.
suppress_omission <- function(expr) {
  withCallingHandlers(expr, kernelect_message = function(m) {
    if (grepl("omitted|^Taken as numbers", conditionMessage(m))) tryInvokeRestart("muffleMessage")
  })
}

# FALSE where a basis ended before the size asked for.
reached_size <- function(model, size) {
  is.null(model$basis$index) || is.na(size) || length(model$basis$index) >= size
}

# ---- the procedure -------------------------------------------------------------------------------

# Results of all candidates, the best of them, its row of `settings`.
tune_problem <- function(problem, verbose = FALSE, cluster = NULL) {
  check_fold_classes(problem)
  found <- if (problem$shared) {
    shared_candidates(problem, verbose, cluster)
  } else {
    list(chosen = chosen_on_all(problem), values = values_by_fold(problem, verbose, cluster))
  }
  table <- fill_chosen(candidates(problem), found$chosen, problem)
  weight <- if (is.null(problem$weights)) rep(1, problem$n) else problem$weights
  share <- unlist(lapply(problem$folds, function(f) tapply(weight, f, sum)))
  repetition <- rep(seq_along(problem$folds), vapply(problem$folds, max, 0))
  results <- cbind(table, combine_folds(check_values(found$values), share, repetition))
  at <- best_candidate(results, problem$rule, problem$metric$larger)
  count <- nrow(problem$grid$settings)
  list(
    results = results, best = results[at, , drop = FALSE],
    setting = problem$grid$settings[(at - 1L) %% count + 1L, , drop = FALSE]
  )
}

# Every candidate fitted without each fold and measured on it: candidates by folds of all
# repetitions.
values_by_fold <- function(problem, verbose, cluster) {
  repetition <- rep(seq_along(problem$folds), vapply(problem$folds, max, 0))
  fold <- sequence(vapply(problem$folds, max, 0))
  later <- problem$plan$decides && problem$metric$needs == "prob"
  values <- parallel_lapply(seq_along(fold), function(i) {
    out <- problem$folds[[repetition[i]]] == fold[i]
    preserve_seed(piece_seed(problem$seed, i), function() {
      if (later) fold_predictions(problem, out) else fold_values(problem, out)
    })
  }, verbose, cluster)
  if (later) return(decided_values(problem, split(values, repetition)))
  matrix(unlist(values), ncol = length(fold))
}

# The metric from decisions: of each repetition a list of folds, of each of them one of candidates.
# Probabilities of rows in a fold come from the decisions on those in the others.
decided_values <- function(problem, decisions) {
  response <- list(matrix = indicators(problem$classes), classes = problem$classes)
  of_candidate <- function(candidate, by_fold, fold) {
    parts <- lapply(by_fold, `[[`, candidate)
    if (any(lengths(parts) == 0L)) return(rep(NaN, max(fold)))
    values <- 0 * response$matrix
    for (f in seq_along(parts)) {
      values[fold == f, ] <- every_class(parts[[f]], colnames(response$matrix))
    }
    fold_metrics(problem, response, values, fold, 1L)
  }
  do.call(cbind, Map(function(by_fold, fold) {
    t(vapply(seq_along(by_fold[[1L]]), of_candidate, numeric(max(fold)), by_fold, fold))
  }, decisions, problem$folds))
}

# A class that the training rows lacked is as little likely as any.
every_class <- function(decisions, levels) {
  known <- match(levels, colnames(decisions))
  out <- decisions[, known, drop = FALSE]
  out[, is.na(known)] <- min(decisions)
  out
}

# Candidates by folds: NA where a fold has no value, NaN where a candidate has no model.
check_values <- function(values) {
  if (any(rowSums(is.na(values) & !is.nan(values)) > ncol(values) - 2L)) {
    abort("argument", "`metric = \"auc\"` needs rows of two classes in at least two folds. ",
          "Use fewer, larger folds.")
  }
  lost <- rowSums(is.nan(values)) > 0
  if (all(lost)) {
    abort("vanished",
      "With every candidate all weights vanish in some fold. Use a larger `cost` or ",
          "`ridge` in `grid`, or other kernels.")
  }
  values[lost, ] <- NaN
  values
}

# What every candidate says of the rows `out`, settings within kernels; NULL without a model.
fold_predictions <- function(problem, out) {
  train <- take_problem(problem, training_rows(problem, !out))
  newx <- take_rows(problem$x, out)
  unlist(lapply(unname(problem$grid$kernels), function(kernel) {
    problem$plan$predictions(train, newx, kernel, problem$grid$settings, problem$metric,
                             problem$dots)
  }), recursive = FALSE)
}

# The metric of each.
fold_values <- function(problem, out) {
  truth <- take_rows(if (is.null(problem$classes)) problem$y else problem$classes, out)
  weights <- take_rows(problem$weights, out)
  vapply(fold_predictions(problem, out), function(one) {
    if (is.null(one)) return(NaN)
    if (!problem$plan$own) check_predicted(one, truth, problem$metric)
    metric_value(problem$metric, one, truth, weights)
  }, 0)
}

# A class with one row left cannot be learned from it.
training_rows <- function(problem, rows) {
  if (!problem$plan$own || is.null(problem$classes)) return(rows)
  left <- table(problem$classes[rows])
  rows & problem$classes %in% names(left)[left > 1L]
}

take_problem <- function(problem, rows) {
  parts <- intersect(c("x", "y", "matrix", "classes", "weights"), names(problem))
  problem[parts] <- lapply(problem[parts], function(v) if (!is.null(v)) take_rows(v, rows))
  problem$n <- sum(rows)
  problem
}

# Kernel, sigma, size, ridge and cost of every candidate; NA what is not in the grid.
candidates <- function(problem) {
  grid <- problem$grid
  count <- nrow(grid$settings)
  scale <- !isFALSE(problem$dots$scale)
  scaled <- scaled_rows(problem$matrix, fit_scaling(problem$matrix, scale, problem$weights))
  sigma <- vapply(grid$kernels, kernel_sigma, 0, scaled, problem$weights, USE.NAMES = FALSE)
  table <- data.frame(kernel = rep(names(grid$kernels), each = count),
    sigma = rep(sigma, each = count))
  for (name in c("size", "ridge", "cost")) {
    given <- grid$settings[[name]]
    if (is.null(given) && is_number(problem$dots[[name]])) given <- problem$dots[[name]]
    table[[name]] <- if (is.null(given)) NA_real_ else as.double(given)
  }
  table
}

# Parameters that the grid leaves to the model.
open_parameters <- function(problem) {
  if (!problem$plan$own) return(character())
  given <- c("kernel", "sigma", names(problem$grid$settings),
             names(Filter(is_number, problem$dots)))
  setdiff(problem$plan$parameters, given)
}

# What each candidate settles for on all rows.
chosen_on_all <- function(problem) {
  if (!length(open_parameters(problem))) return(NULL)
  preserve_seed(problem$seed, function() {
    chosen <- lapply(problem$grid$kernels, function(kernel) {
      problem$plan$settled(problem, kernel, problem$grid$settings, problem$dots)
    })
    unlist(chosen, recursive = FALSE, use.names = FALSE)
  })
}

fill_chosen <- function(table, chosen, problem) {
  for (name in open_parameters(problem)) {
    table[[name]] <- vapply(chosen, function(one) {
      if (is.null(one[[name]])) NA_real_ else as.double(one[[name]])
    }, 0)
  }
  table
}

kernel_sigma <- function(kernel, x, weights) {
  if (!inherits(kernel, "kernelect_kernel") || is.null(kernel$sigma)) return(NA_real_)
  resolve_for_cases(kernel, x, weights)$sigma
}

# The candidate taken, on the rows of the problem.
fit_best <- function(problem, tuned) {
  kernel <- problem$grid$kernels[[tuned$best$kernel]]
  problem$plan$whole(problem$x, problem$y, kernel, tuned$setting,
                     with_weights(problem$dots, problem$weights))
}

# ---- the outer cross-validation ----------------------------------------------------------------

# The whole procedure without each fold of the first repetition in turn, measured on that fold.
# Folds that were given stay the folds of the inner cross-validation.
nested_error <- function(problem, verbose, cluster) {
  fold <- problem$folds[[1L]]
  run <- function(i) {
    inner <- inner_problem(problem, fold, i)
    preserve_seed(piece_seed(problem$seed, i), function() {
      tuned <- tune_problem(inner)
      model <- fit_best(inner, tuned)
      out <- fold == i
      predicted <- predict_for(model, take_rows(problem$x, out), problem$metric, problem$plan)
      truth <- take_rows(if (is.null(problem$classes)) problem$y else problem$classes, out)
      metric_value(problem$metric, predicted, truth, take_rows(problem$weights, out))
    })
  }
  values <- unlist(parallel_lapply(seq_len(max(fold)), run, verbose, cluster))
  weight <- if (is.null(problem$weights)) rep(1, problem$n) else problem$weights
  combine_folds(matrix(values, 1L), as.vector(tapply(weight, fold, sum)), rep(1, max(fold)))
}

inner_problem <- function(problem, fold, i) {
  rows <- training_rows(problem, fold != i)
  inner <- take_problem(problem, rows)
  inner$folds <- if (problem$own_folds) {
    list(as.integer(factor(fold[rows])))
  } else {
    make_folds(min(max(fold), inner$n), length(problem$folds), inner, problem$seed)
  }
  inner
}

#' @rdname kernel_tune
#' @param object a `kernel_tune`.
#' @param newdata new rows, as the model wants them.
#' @export
predict.kernel_tune <- function(object, newdata, ...) {
  stats::predict(validate_tune(object)$model, newdata, ...)
}
