# The second stage of TAKES: weights of the directions, by Relief or an ensemble of them.

# `seen`: what look_around() found, where that is known.
weigh_directions <- function(z, y, select, variant, rounding, control, seen = NULL) {
  if (select == "auto") return(weigh_by_left_out(z, y, rounding, control, seen))
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
# than twice the standard error of the difference (the root of the number of rows that one of the
# rules gets right and the other wrong), else no weights: the weights have seen the rows left out.
# `left`: what the rule taken says of the rows without them.
weigh_by_left_out <- function(z, y, rounding, control, seen = NULL) {
  if (is.null(seen)) seen <- look_around(z, y, rounding, control$threads)
  plain <- c(unweighted(z, y, control), list(left = seen$left))
  weighted <- relief(z, y, rounding, control, seen$near)
  at <- weighted$directions
  scores <- weighted_columns(z, at, weighted$weights)
  weighted$left <- left_out(scores, y, rounding[at] * weighted$weights[at], control$threads)
  gain <- sum(plain$left$wrong) - sum(weighted$left$wrong)
  differ <- sum(plain$left$wrong != weighted$left$wrong)
  better <- length(at) > 0L && gain > 2 * sqrt(differ)
  if (better) c(weighted, select = "relief") else c(plain, select = "none")
}

# Neighbours of the rows in all directions, unless only some rows are asked; and what they say.
look_around <- function(z, y, rounding, threads) {
  near <- if (length(y) <= most_left_out) nearest_by_class(z, NULL, y, last_of(rounding), threads)
  list(near = near, left = left_out(z, y, rounding, threads, near))
}

# Of distances in all directions.
last_of <- function(rounding) sqrt(sum(rounding^2))

# Of more rows, evenly spaced ones stand for all.
most_left_out <- 3000L

# What the nearest-neighbour rule says of each row without it: the share of errors, and decisions,
# minus the distance to the nearest row of each class; where there is none, twice the farthest.
# `near`: what nearest_by_class() says of all rows, where that is known.
left_out <- function(scores, y, rounding, threads, near = NULL) {
  rows <- evenly_spaced(length(y), most_left_out)
  y <- y[rows]
  decision <- matrix(0, length(y), nlevels(y))
  largest <- which.max(tabulate(y, nlevels(y)))
  if (!ncol(scores)) {
    wrong <- as.integer(y) != largest
    return(list(error = mean(wrong), wrong = wrong, decision = decision, y = y))
  }
  near <- nearest_vote(scores[rows, , drop = FALSE], NULL, y, last_of(rounding), threads, near)
  decision[] <- NA
  decision[, seq_len(ncol(near$distance))] <- -sqrt(near$distance)
  wrong <- is.na(near$class) | near$class != y
  list(error = mean(wrong), wrong = wrong, decision = without_gaps(decision), y = y)
}

without_gaps <- function(decision) {
  known <- is.finite(decision)
  decision[!known] <- 2 * min(decision[known], 0)
  decision
}

# The error that a user can rely on, and probabilities.
judge_left_out <- function(fit, threads, left = NULL) {
  at <- fit$directions
  if (is.null(left)) {
    left <- left_out(fit$scores, fit$y, fit$rounding[at] * fit$weights[at], threads)
  }
  fit$left_out_error <- left$error
  fit$calibration <- calibrate_left_out(left$decision, left$y, threads = threads)
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

relief <- function(z, y, rounding, control, near = NULL) {
  near <- hits_and_misses(z, y, last_of(rounding), control$threads, near)
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
hits_and_misses <- function(z, y, rounding, threads, near = NULL) {
  if (is.null(near)) near <- nearest_by_class(z, NULL, y, rounding, threads)
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

# The class of the nearest row of z (NULL: of the other rows of x), beside the distances to all
# classes: of rows that are equally near the class of most, then that of the lowest row.
nearest_vote <- function(x, z, y, rounding, threads, near = NULL) {
  if (is.null(near)) near <- nearest_by_class(x, z, y, rounding, threads)
  least <- do.call(pmin, lapply(seq_len(ncol(near$distance)), function(k) near$distance[, k]))
  limit <- pmax(least, (sqrt(least) + rounding)^2)
  close <- near$distance <= limit & is.finite(near$distance)
  winner <- max.col(close, "first")
  tied <- which(rowSums(close) > 1)
  if (length(tied)) {
    votes <- votes_near(x, z, y, limit, tied)
    ahead <- votes == do.call(pmax, lapply(seq_len(ncol(votes)), function(k) votes[, k]))
    row <- near$row[tied, , drop = FALSE]
    row[!ahead] <- NA
    winner[tied] <- apply(row, 1L, which.min)
  }
  near$class <- factor(levels(y)[winner], levels(y))
  near$class[!rowSums(close)] <- NA
  near
}

# How many rows of each class (columns) are within the squared distance `limit` of rows `queries` of
# x. Copies are counted once: ties are copies most often. Inner products say which rows may be near,
# distances coordinate by coordinate which are.
votes_near <- function(x, z, y, limit, queries) {
  rows <- if (is.null(z)) x else z
  first <- first_copies(unname(rows))
  once <- unique(first)
  count <- unclass(table(factor(first, once), y))
  own <- if (is.null(z)) as.integer(y)[queries] else 0L
  alike <- match(first_copies(unname(x))[queries], queries)
  key <- paste(alike, own)
  asked <- which(!duplicated(key))
  pieces <- split(asked, (seq_along(asked) - 1L) %/% max(1, 4e6 %/% length(once)))
  votes <- matrix(0, length(queries), ncol(count))
  for (piece in pieces) {
    at <- queries[piece]
    votes[piece, ] <- within_limit(x[at, , drop = FALSE], rows[once, , drop = FALSE], limit[at]) %*%
      count
  }
  votes <- votes[asked[match(key, key[asked])], , drop = FALSE]
  if (is.null(z)) {
    left <- cbind(seq_along(queries), own)
    votes[left] <- votes[left] - 1
  }
  votes
}

# 1 where a row of z (a column) is within `limit` of a row of x, else 0.
within_limit <- function(x, z, limit) {
  lengths <- outer(rowSums(x^2), rowSums(z^2), `+`)
  slack <- (ncol(x) + 8) * .Machine$double.eps
  near <- lengths - 2 * tcrossprod(x, z) <= limit + slack * lengths
  at <- which(near, arr.ind = TRUE)
  gap <- x[at[, 1L], , drop = FALSE] - z[at[, 2L], , drop = FALSE]
  near[at] <- rowSums(gap^2) <= limit[at[, 1L]]
  near + 0
}

# Over the classes: equally near ones give way to the lowest row.
nearest_of_all <- function(near, rounding) {
  least <- do.call(pmin, lapply(seq_len(ncol(near$distance)), function(k) near$distance[, k]))
  near$row[near$distance > pmax(least, (sqrt(least) + rounding)^2)] <- NA
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
