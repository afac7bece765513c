# Naive twins of kernel_takes(): votes from lm.fit(), ensembles counted anew for every candidate,
# neighbours from full distance matrices.

# Votes of the one-direction least-squares learners, a column each.
reference_takes_votes <- function(z, y) {
  indicators <- outer(as.integer(y), seq_len(nlevels(y)), `==`) + 0
  apply(z, 2, function(s) {
    fit <- stats::lm.fit(cbind(1, s), indicators)$fitted.values
    max.col(fit, ties.method = "first")
  })
}

# For each row 0 (right), 1/2 (tie with the true class) or 1, given votes in columns.
reference_takes_loss <- function(votes, y) {
  count <- vapply(seq_len(nlevels(y)), function(k) rowSums(votes == k), numeric(length(y)))
  truth <- cbind(seq_along(y), as.integer(y))
  own <- count[truth]
  count[truth] <- -1
  others <- apply(count, 1, max)
  ifelse(own > others, 0, ifelse(own == others, 0.5, 1))
}

reference_kffs <- function(z, y) {
  votes <- reference_takes_votes(z, y)
  n <- nrow(z)
  chosen <- integer()
  error <- numeric()
  while (length(chosen) < ncol(z)) {
    left <- setdiff(seq_len(ncol(z)), chosen)
    errors <- vapply(left,
      function(i) mean(reference_takes_loss(votes[, c(chosen, i), drop = FALSE], y)), 0)
    chosen <- c(chosen, left[which.min(errors)])
    error <- c(error, min(errors))
  }
  e <- pmin(pmax(error, 1 / (2 * n)), 1 / 2)
  data.frame(size = seq_along(chosen), direction = chosen, gamma = log((1 - e) / e), error = error)
}

# Algorithm 2 to the letter; a tie is not a correct classification.
reference_kffs_printed <- function(z, y, rounds = ncol(z)) {
  votes <- reference_takes_votes(z, y)
  n <- nrow(z)
  weight <- rep(1, n)
  chosen <- integer()
  error <- numeric()
  for (t in seq_len(rounds)) {
    weight <- weight / sum(weight)
    wrong <- vapply(seq_len(ncol(z)),
      function(i) reference_takes_loss(votes[, c(chosen, i), drop = FALSE], y) > 0, logical(n))
    errors <- round(colSums(weight * wrong), 10)
    best <- which.min(errors)
    chosen <- c(chosen, best)
    error <- c(error, errors[best])
    weight <- weight * (errors[best] / (1 - errors[best]))^(1 - wrong[, best])
  }
  data.frame(size = seq_along(chosen), direction = chosen, gamma = log((1 - error) / error),
    error = error)
}

reference_relief <- function(z, y) {
  distance <- as.matrix(stats::dist(z))
  diag(distance) <- Inf
  margin <- 0
  for (i in seq_len(nrow(z))) {
    same <- y == y[i]
    hit <- which(same)[which.min(distance[i, same])]
    miss <- which(!same)[which.min(distance[i, !same])]
    margin <- margin + abs(z[i, ] - z[miss, ]) - abs(z[i, ] - z[hit, ])
  }
  gamma <- pmax(margin, 0)
  gamma / sqrt(sum(gamma^2))
}

# The label of most, of as many that of the first.
reference_vote <- function(labels) {
  count <- table(labels)[as.character(labels)]
  labels[which(count == max(count))[1]]
}

# Class of the nearest row; rows no farther than the nearest by `rounding` are equally near, and
# vote.
reference_takes_nearest <- function(scores, y, new, rounding = 0) {
  at <- apply(new, 1, function(s) {
    distance <- sqrt(colSums((t(scores) - s)^2))
    as.integer(reference_vote(y[distance <= min(distance) + rounding]))
  })
  factor(levels(y)[at], levels(y))
}

# `rounding`: one a number of coordinates.
reference_takes_loo <- function(scores, y, rounding = numeric(ncol(scores))) {
  vapply(seq_len(ncol(scores)), function(k) {
    distance <- as.matrix(stats::dist(scores[, seq_len(k), drop = FALSE]))
    diag(distance) <- Inf
    mean(vapply(seq_along(y), function(i) {
      d <- distance[i, ]
      reference_vote(y[d <= min(d) + rounding[k]]) != y[i]
    }, NA))
  }, 0)
}
