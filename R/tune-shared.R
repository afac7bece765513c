# Cross-validation of kernel_lm() and kernel_lda() on one basis: scaling, width and basis, none of
# which looks at the response, are worked out on all rows, and a fold is left out of the regression
# alone, exactly. The axes of kernel_lda() are that regression, turned by what all rows say.

# Beyond so many rows what a fold would do to the basis is nothing beside what it costs.
many_rows <- 2000

# `shared` NULL: where the grid is the default one, or there are many rows.
check_shared <- function(shared, plan, grid, n, dots) {
  possible <- !is.null(plan$shared) && !0 %in% c(grid$ridge, dots$ridge)
  if (is.null(shared)) return(possible && (is.null(grid) || n > many_rows))
  if (check_flag(shared, "shared") && !possible) {
    abort("argument", "`shared = TRUE` is for `kernel_lm()` and `kernel_lda()` with a positive ",
          "`ridge`; leave it at FALSE here.")
  }
  shared
}

# What the candidates settled for, and their values: candidates by folds of all repetitions. Where
# bases are limited by time, all candidates together take that of the model in the end, of many rows
# half of it.
shared_candidates <- function(problem, verbose, cluster) {
  share <- length(problem$grid$kernels) * (1 + (problem$n > many_rows))
  found <- parallel_lapply(problem$grid$kernels, function(kernel) {
    preserve_seed(problem$seed, function() shared_kernel(problem, kernel, share))
  }, verbose, cluster)
  list(
    chosen = unlist(lapply(found, `[[`, "chosen"), recursive = FALSE, use.names = FALSE),
    values = do.call(rbind, lapply(found, `[[`, "values"))
  )
}

# The parts of a plan: `plain`, the regression of `y` on the coordinates in `basis` of all rows `x`,
# without ridge; `fits`, of each setting `size` and `ridge` of the regression, `turned` where its
# factor was made bidiagonal, and `chosen` where the model has other settings; where decisions are
# not the values of the regression, `decide(values, fit)`, and `moved`, what prior probabilities add
# to them.
shared_kernel <- function(problem, kernel, share) {
  parts <- problem$plan$shared(problem, kernel, problem$grid$settings, problem$dots, share)
  values <- lapply(parts$fits, function(fit) {
    left <- fold_residuals(parts, fit, problem$folds)
    unlist(Map(function(fold, residual) {
      values <- parts$y$matrix - residual
      if (!is.null(parts$decide)) values <- parts$decide(values, fit)
      fold_metrics(problem, parts$y, values, fold, parts$threads, parts$moved)
    }, problem$folds, left))
  })
  chosen <- lapply(parts$fits, function(fit) {
    if (is.null(fit$chosen)) fit[c("size", "ridge")] else fit$chosen
  })
  list(chosen = chosen, values = do.call(rbind, values))
}

# Residuals of every row from the fit without its fold, a matrix for each assignment of folds.
# Where a fold holds nearly all there is of some direction it is left out by another regression.
fold_residuals <- function(parts, fit, folds) {
  turned <- fit$turned
  if (is.null(turned)) turned <- .Call(ffi_bidiagonalise, parts$plain, fit$size)
  turn <- .Call(ffi_ridge_turn, turned, fit$ridge)
  left <- .Call(ffi_without_folds, parts$plain, turn, lapply(folds, as.integer))
  Map(function(left, fold) {
    for (f in unique(fold[is.nan(left[, 1L])])) {
      out <- fold == f
      left[out, ] <- refitted_residuals(parts, fit$size, fit$ridge, out)
    }
    left
  }, left, folds)
}

# Of the rows `out`, from the regression on the others: rare, so that coordinates are worked out
# again for it.
refitted_residuals <- function(parts, size, ridge, out) {
  z <- basis_coordinates(parts$basis, parts$x, parts$threads)[, seq_len(size), drop = FALSE]
  y <- parts$y$matrix
  fit <- regress(z[!out, , drop = FALSE], list(matrix = y[!out, , drop = FALSE]), ridge,
                 take_rows(parts$weights, !out), parts$threads)
  gap <- z[out, , drop = FALSE] - rep(fit$center, each = sum(out))
  y[out, , drop = FALSE] - rep(fit$mean, each = sum(out)) -
    product(gap, nested_coefficients(fit, size), parts$threads)
}

# The metric on each fold, of decisions on rows left out. Probabilities come from those of rows in
# the other folds, `moved` to the prior probabilities.
fold_metrics <- function(problem, response, values, fold, threads, moved = NULL) {
  truth <- if (is.null(problem$classes)) problem$y else problem$classes
  colnames(values) <- colnames(response$matrix)
  calibrate <- function(rows, start = NULL) {
    calibrate_softmax(values[rows, , drop = FALSE], response$classes[rows],
                      take_rows(problem$weights, rows), threads, start)
  }
  all_rows <- if (problem$metric$needs == "prob") calibrate(rep(TRUE, length(fold)))
  vapply(seq_len(max(fold)), function(f) {
    out <- fold == f
    predicted <- lm_wanted(values[out, , drop = FALSE], response, problem$metric,
                           function() calibrate(!out, all_rows), moved)
    metric_value(problem$metric, predicted, take_rows(truth, out), take_rows(problem$weights, out))
  }, 0)
}
