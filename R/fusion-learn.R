# How kernel_fusion() learns weights: the paper's iteration, or the best point of a simplex.

# Weights by the rule asked for, with the fit that belongs to them: the weights returned are those
# that lambda was solved with. `last`: a fit at weights r, or near, to begin with.
learn_weights <- function(set, r, response, control, last = NULL) {
  found <- if (!control$adaptive) {
    list(fit = solve_fused(set, r, response, control, last), r = r, path = rbind(r),
      converged = TRUE)
  } else if (control$rule == "simplex") {
    simplex_weights(set, r, response, control, last)
  } else {
    adapt_weights(set, r, response, control)
  }
  solved <- is.null(found$fit$gap) || found$fit$gap <= 1e-5
  if (!solved) {
    warn("convergence", "The support vector machine was not solved to the end ",
         "(relative duality gap ", format(found$fit$gap, digits = 2),
         "). Use a smaller `cost`, or a narrower kernel.")
  }
  c(found$fit, list(
    weights = stats::setNames(found$r, set$names), path = found$path,
    iterations = nrow(found$path), converged = found$converged && solved,
    weights_gap = found$weights_gap
  ))
}

# ---- the paper's iteration ------------------------------------------------------------------

# The iteration from weights r on, or, where all of them vanish, see regain_weights().
adapt_weights <- function(set, r, response, control) {
  found <- tryCatch(
    iterate_weights(set, r, response, control),
    kernelect_error_vanished = function(e) regain_weights(set, r, response, control, e)
  )
  found$converged <- found$change <= control$tol
  if (!found$converged && is.finite(found$change)) {
    warn("convergence", "Weights still change by a share of ", format(found$change, digits = 2),
         " after `max_iter` = ", control$max_iter, " iteration", if (control$max_iter > 1L) "s",
         ". Raise `max_iter` or `tol`.")
  }
  found
}

# Solve for lambda at weights r, then r <- r^2 a'K a, until r stands still.
iterate_weights <- function(set, r, response, control) {
  path <- list()
  fit <- NULL
  tick <- progress(control$verbose, control$max_iter)
  on.exit(tick(close = TRUE))
  for (k in seq_len(control$max_iter)) {
    fit <- solve_fused(set, r, response, control, fit)
    path[[k]] <- r
    tick()
    new <- prune_weights(r^2 * fit$forms, set, response, control)
    change <- max(abs(new[r > 0] / r[r > 0] - 1))
    if (change <= control$tol || k == control$max_iter) break
    r <- new
  }
  list(fit = fit, r = r, path = do.call(rbind, path), change = change)
}

# Zero attracts under a bound on lambda. The machine at the start spreads its normal vector over all
# kernels; where these are many, each gets so little that at the next weights `cost` binds all rows,
# and lambda cannot grow as the weights fall. Other weights may stand still at that cost: they are
# sought from those learned at a larger one, the first of ten times, a hundred times ... that keeps
# any. Where from there too all vanish, these are the weights, and their `change` is Inf. Where no
# cost keeps any, as where a rare class lies amid another and the best rule is the same answer for
# all rows whatever the cost, the weights stay as they start.
regain_weights <- function(set, r, response, control, vanished) {
  if (!may_survive(response, control$cost)) stop(vanished)
  attempt <- function(r, control) {
    tryCatch(iterate_weights(set, r, response, control), kernelect_error = function(e) NULL)
  }
  for (cost in control$cost * 10^(1:8)) {
    larger <- attempt(r, replace(control, "cost", cost))
    if (!is.null(larger)) break
  }
  if (is.null(larger)) {
    warn("vanished", "All weights vanish, with `cost` = ", format(control$cost), " as with larger ",
         "ones: no kernel tells classes apart better than the same answer for all rows does. The ",
         "weights are left as they start. Larger `weights` for the rows of rare classes may help, ",
         "or other kernels.")
    return(list(fit = solve_fused(set, r, response, control, NULL), r = r, path = rbind(r),
                change = Inf))
  }
  found <- attempt(larger$r, control)
  if (is.null(found)) {
    warn("convergence", "With `cost` = ", format(control$cost), " all weights vanish: the kernels ",
         "explain little of `y`. Those learned with `cost` = ", format(cost), " are kept. Try a ",
         "larger `cost`, other kernels, or `adaptive = FALSE`.")
    found <- list(fit = solve_fused(set, larger$r, response, control, NULL), r = larger$r,
                  change = Inf)
  }
  found$path <- rbind(larger$path, found$path)
  found
}

# Weights that stand still have r_i a'K_i a = 1, and the sum of these is at most that of lambda, of
# which both sides of a decision have the same: with less than 1 in all, no kernel is left.
may_survive <- function(response, cost) {
  if (response$type == "regression" || is.infinite(cost)) return(FALSE)
  sides <- rbind(colSums(response$w * (response$g > 0)), colSums(response$w * (response$g < 0)))
  2 * cost * sum(apply(sides, 2, min)) >= 1
}

prune_weights <- function(r, set, response, control) {
  share <- r * set$mean_diagonal
  if (!all_finite(share)) fail_dual_overflow()
  if (!(max(share) > 1e-12 * response$scale)) fail_vanished(response$type, control)
  ifelse(share < 1e-12 * max(share), 0, r)
}

# Neither `noise`, a share of K, nor a noise kernel, whose weight is bound as all are, helps.
fail_vanished <- function(type, control) {
  abort("vanished", "All weights vanish: no kernel explains `y`. Try ",
        if (type != "regression") paste0("a larger `cost` (now ", format(control$cost), "), "),
        "other kernels, or `adaptive = FALSE`.")
}

# ---- the simplex ----------------------------------------------------------------------------

# Shares s_i = r_i mean(diag(K_i)) >= 0 with sum 1 that minimise the optimum J(s) of the machine (or
# the ridge regression) with K = sum_i r_i K_i, a convex function of slope
# -1/2 a'K_i a / mean(diag(K_i)) (Rakotomamonjy, Bach, Canu and Grandvalet, SimpleMKL, JMLR 9,
# 2008). Projected gradients with the step of Barzilai and Borwein, shortened until J falls. With
# S_i = a'K_i a / mean(diag(K_i)) the dual of the whole problem bounds J(s) from below by
# 1/2 (max_i S_i - sum_i s_i S_i), and what the machines lack, less: the gap. Relative to J it is to
# fall to the root of `tol`: J is flat at its minimum.
simplex_weights <- function(set, r, response, control, last) {
  unit <- ifelse(set$mean_diagonal > 0, 1 / set$mean_diagonal, 0)
  usable <- set$mean_diagonal > 0
  evaluate <- function(s, last) {
    fit <- solve_fused(set, s * unit, response, control, last)
    fit$slope <- ifelse(usable, -fit$forms * unit / 2, 0)
    fit
  }
  enough <- sqrt(control$tol)
  s <- r * set$mean_diagonal / sum(r * set$mean_diagonal)
  at <- evaluate(s, last)
  step <- NULL
  path <- list(s * unit)
  tick <- progress(control$verbose, control$max_iter)
  for (k in seq_len(control$max_iter)) {
    gap <- simplex_gap(s, at, usable)
    if (gap <= enough || k == control$max_iter) break
    moved <- simplex_step(s, at, step, usable, evaluate)
    if (is.null(moved)) break
    step <- barzilai_borwein(moved$s - s, moved$at$slope - at$slope)
    s <- moved$s
    at <- moved$at
    path[[k + 1L]] <- s * unit
    tick()
  }
  tick(close = TRUE)
  if (gap > enough) {
    warn("convergence", "The weights are within ", format(gap, digits = 2),
         " of the best (relative duality gap) after ", length(path) - 1L, " iterations. ",
         "Raise `max_iter` or `tol`.")
  }
  list(fit = at, r = s * unit, path = do.call(rbind, path), converged = gap <= enough,
       weights_gap = gap)
}

# Proven distance from the optimum, relative to the objective.
simplex_gap <- function(s, at, usable) {
  lack <- sum(s * at$slope) - min(at$slope[usable])
  (max(lack, 0) + at$lack) / max(abs(at$objective), .Machine$double.xmin)
}

# The next point, or NULL where rounding allows none that is better. Warm starts make a halved step
# cheap; a fall by a ten-thousandth of what the slope promises will do, and twenty halvings: by then
# the fall is below what the machines lack, which counts as one.
simplex_step <- function(s, at, step, usable, evaluate) {
  steeper <- at$slope - min(at$slope[usable]) # what all have in common moves no share
  if (is.null(step)) step <- 1 / max(steeper[usable], .Machine$double.xmin)
  direction <- project_simplex(s - step * steeper, usable) - s
  fall <- sum(direction * at$slope)
  size <- 1
  while (size > 1e-6 && fall < 0) {
    new <- evaluate(s + size * direction, at)
    if (new$objective <= at$objective + 1e-4 * size * fall + at$lack + new$lack) {
      return(list(s = s + size * direction, at = new))
    }
    size <- size / 2
  }
  NULL
}

# Length of a step along the slope from the last change of point and slope.
barzilai_borwein <- function(moved, turned) {
  curvature <- sum(moved * turned)
  if (curvature > 0) sum(moved^2) / curvature
}

# The nearest point of the simplex on the usable coordinates.
project_simplex <- function(v, usable = rep(TRUE, length(v))) {
  sorted <- sort(v[usable], decreasing = TRUE)
  excess <- (cumsum(sorted) - 1) / seq_along(sorted)
  ifelse(usable, pmax(v - excess[max(which(sorted > excess))], 0), 0)
}

# ---- probabilities --------------------------------------------------------------------------

# Softmax fitted to decisions of rows left out: the whole fit is repeated without each fold (with
# case weight zero), as many folds as give some thousand such decisions. Folds are of copies of
# rows, where weights count them.
fusion_calibration <- function(set, r, response, control, fit) {
  if (response$type == "regression" || control$folds == 0L) return(NULL)
  row <- copied_rows(response$w)
  y <- response$y[row]
  share <- (response$w / tabulate(row, set$n))[row]
  fold <- spread_folds(y, control$folds)
  run <- seq_len(ceiling(control$folds * min(1, 1000 / length(row))))
  if (control$rule == "simplex") r <- fit$weights # the best point does not depend on the start
  decision <- matrix(NA_real_, length(row), ncol(response$g))
  for (f in run) {
    out <- fold == f
    kept <- response
    kept$w <- response$w - total_by_row(share[out], row[out], set$n)
    found <- tryCatch(
      suppressWarnings(learn_weights(set, r, kept, control, fit)),
      kernelect_error = function(e) NULL # such as all weights vanished: no decision
    )
    decision[out, ] <- if (is.null(found)) 0 else found$decision[row[out], ]
  }
  seen <- fold %in% run & share > 0
  calibrate_left_out(decision[seen, , drop = FALSE], y[seen], share[seen], control$threads)
}

# Rows as often as their weights count them; weights that are no counts are those of single rows.
copied_rows <- function(weights) {
  rows <- seq_along(weights)
  if (counts_rows(weights)) rep(rows, weights) else rows
}

total_by_row <- function(values, row, n) {
  total <- numeric(n)
  sums <- rowsum(values, row)
  total[as.integer(rownames(sums))] <- sums
  total
}

# Folds by turns within each class, without random numbers.
spread_folds <- function(y, count) {
  fold <- integer(length(y))
  for (rows in split(seq_along(y), y)) {
    fold[rows] <- (seq_along(rows) - 1L) %% as.integer(count) + 1L
  }
  fold
}
