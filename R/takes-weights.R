# The second stage of TAKES: weights of the directions, by Relief or an ensemble of them.

weigh_directions <- function(z, y, select, variant, rounding, control) {
  if (select == "auto") return(weigh_by_left_out(z, y, rounding, control))
  if (select == "relief") return(relief(z, y, rounding, control))
  if (select == "none") return(unweighted(z, y, control))
  run <- ensemble_path(z, y, if (variant == "printed") "printed" else "forward", NULL, control)
  gamma <- log_odds(run$error, nrow(z))
  if (variant == "corrected") gamma <- pmax(gamma, 0)
  selection_path(run, gamma, ncol(z))
}

unweighted <- function(z, y, control) {
  d <- ncol(z)
  selection_path(ensemble_path(z, y, "given", seq_len(d), control), rep(1, d), d)
}

# Relief's weights where they lower the leave-one-out error of the nearest-neighbour rule by more
# than its standard error, else no weights: the weights have seen the rows left out, and an equal
# error is no reason for them.
weigh_by_left_out <- function(z, y, rounding, control) {
  plain <- unweighted(z, y, control)
  weighted <- relief(z, y, rounding, control)
  error <- vapply(list(plain, weighted), function(chosen) {
    at <- chosen$directions
    scores <- weighted_columns(z, at, chosen$weights)
    left_out(scores, y, rounding[at] * chosen$weights[at], control$threads)$error
  }, 0)
  standard <- sqrt(error[1L] * (1 - error[1L]) / min(length(y), most_left_out))
  better <- length(weighted$directions) > 0L && error[2L] < error[1L] - standard
  if (better) c(weighted, select = "relief") else c(plain, select = "none")
}

# Of more rows, evenly spaced ones stand for all.
most_left_out <- 3000L

# What the nearest-neighbour rule says of each row without it: the share of errors, and decisions,
# minus the distance to the nearest row of each class; where there is none, twice the farthest.
left_out <- function(scores, y, rounding, threads) {
  rows <- evenly_spaced(length(y), most_left_out)
  y <- y[rows]
  decision <- matrix(0, length(y), nlevels(y))
  largest <- which.max(tabulate(y, nlevels(y)))
  if (!ncol(scores)) {
    return(list(error = mean(as.integer(y) != largest), decision = decision, y = y))
  }
  tolerance <- sqrt(sum(rounding^2))
  near <- nearest_by_class(scores[rows, , drop = FALSE], NULL, y, tolerance, threads)
  found <- y[nearest_of_all(near, tolerance)$row]
  decision[] <- NA
  decision[, seq_len(ncol(near$distance))] <- -sqrt(near$distance)
  list(error = mean(is.na(found) | found != y), decision = without_gaps(decision), y = y)
}

without_gaps <- function(decision) {
  known <- is.finite(decision)
  decision[!known] <- 2 * min(decision[known], 0)
  decision
}

# The error that a user can rely on, and probabilities.
judge_left_out <- function(fit, threads) {
  at <- fit$directions
  left <- left_out(fit$scores, fit$y, fit$rounding[at] * fit$weights[at], threads)
  fit$left_out_error <- left$error
  fit$calibration <- calibrate_left_out(left$decision, left$y)
  fit
}

# log((1 - e) / e), an error of 0 or 1 counted as half a row.
log_odds <- function(error, n) {
  error <- pmin(pmax(error, 1 / (2 * n)), 1 - 1 / (2 * n))
  log((1 - error) / error)
}

# how: "forward" selection, as "printed", or the errors along the "given" order.
ensemble_path <- function(z, y, how, order, control) {
  .Call(ffi_kffs, z, as.integer(y), how, order, show_progress(control$verbose))
}

relief <- function(z, y, rounding, control) {
  near <- hits_and_misses(z, y, rev(distance_rounding(rounding))[1L], control$threads)
  rows <- which(!is.na(near$hit))
  margin <- numeric(ncol(z))
  if (length(rows)) {
    at <- z[rows, , drop = FALSE]
    margin <- colMeans(
      abs(at - z[near$miss[rows], , drop = FALSE]) - abs(at - z[near$hit[rows], , drop = FALSE])
    )
  }
  margin[abs(margin) <= rounding] <- 0 # no direction stands out by the rounding of coordinates
  run <- ensemble_path(z, y, "given", order(-margin), control)
  gamma <- pmax(margin, 0)
  if (any(gamma > 0)) gamma <- gamma / sqrt(sum(gamma^2))
  selection_path(run, gamma[run$order], ncol(z))
}

# For each row the nearest other row of its own class (NA: it is alone) and of the other classes.
hits_and_misses <- function(z, y, rounding, threads) {
  near <- nearest_by_class(z, NULL, y, rounding, threads)
  own <- cbind(seq_along(y), as.integer(y))
  hit <- near$row[own]
  near$distance[own] <- Inf
  list(hit = hit, miss = nearest_of_all(near, rounding)$row)
}

# In each class the nearest row of z (NULL: the nearest other row of x) and its squared distance;
# without classes, of all rows.
nearest_by_class <- function(x, z, y, rounding, threads) {
  .Call(ffi_nearest, unname(x), if (!is.null(z)) unname(z), if (!is.null(y)) as.integer(y),
        unname(colMeans(if (is.null(z)) x else z)), rounding, threads)
}

# Over the classes: equally near ones give way to the lowest row.
nearest_of_all <- function(near, rounding) {
  least <- do.call(pmin, lapply(seq_len(ncol(near$distance)), function(k) near$distance[, k]))
  near$row[near$distance > (sqrt(least) + rounding)^2] <- NA
  list(
    row = do.call(pmin,
      c(lapply(seq_len(ncol(near$row)), function(k) near$row[, k]), na.rm = TRUE)),
    distance = least
  )
}

# A direction picked more than once (printed variant) has the sum of its gammas.
selection_path <- function(run, gamma, d) {
  path <- data.frame(
    size = seq_along(gamma), direction = run$order, gamma = gamma, error = run$error
  )
  sums <- rowsum(gamma, run$order)
  weights <- numeric(d)
  weights[as.integer(rownames(sums))] <- pmax(sums, 0)
  order <- unique(run$order)
  list(path = path, weights = weights, directions = order[weights[order] > 0])
}
