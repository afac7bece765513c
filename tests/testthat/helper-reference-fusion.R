# Naive twins of the dual solver and of kernel fusion.

# Largest breach of the conditions that make b the solution of
# min 1/2 b'Kb - q'b, sum(b) = total, lower <= b <= upper.
reference_breach <- function(K, q, lower, upper, total, b) {
  g <- drop(q - K %*% b)
  rise <- max(g[b < upper], -Inf)
  fall <- min(g[b > lower], Inf)
  max(lower - b, b - upper, abs(sum(b) - total), rise - fall)
}

# System (19) as printed, (N + 1) x (N + 1), by a pseudo-inverse.
reference_regression <- function(K, y, nu = 0) {
  n <- nrow(K)
  A <- rbind(cbind(K + nu * diag(n), 1), c(rep(1, n), 0))
  s <- svd(A)
  keep <- s$d > 1e-13 * s$d[1]
  solution <- s$v[, keep] %*% (crossprod(s$u[, keep], c(y, 0)) / s$d[keep])
  list(lambda = solution[1:n], intercept = solution[n + 1])
}

# Iteration (22)-(23) of regression on a list of Gram matrices, one matrix at a time.
reference_adaptive <- function(grams, y, noise, iterations) {
  diagonal <- sapply(grams, function(K) mean(diag(K)))
  r <- 1 / diagonal
  path <- NULL
  for (k in seq_len(iterations)) {
    K <- matrix(0, length(y), length(y))
    for (i in seq_along(grams)) K <- K + r[i] * grams[[i]]
    fit <- reference_regression(K, y, noise * mean(diag(K)))
    path <- rbind(path, r)
    r <- sapply(seq_along(grams),
      function(i) r[i]^2 * sum(fit$lambda * (grams[[i]] %*% fit$lambda)))
    r[r * diagonal < 1e-12 * max(r * diagonal)] <- 0
  }
  list(path = unname(path), lambda = fit$lambda, intercept = fit$intercept)
}

column_grams <- function(x) {
  grams <- lapply(seq_len(ncol(x)), function(i) tcrossprod(x[, i]))
  stats::setNames(grams, colnames(x))
}

# Two classes that overlap, in d columns.
overlapping <- function(n, d, seed = 1, noise = 0.7) {
  x <- random_matrix(n, d, seed)
  e <- random_matrix(n, 1, seed + 1000)
  list(x = x, g = ifelse(x[, 1] + noise * e[, 1] > 0, 1, -1))
}

# A column of -1 and 1 a decision.
reference_sides <- function(y) {
  sides <- if (nlevels(y) == 2) levels(y)[2] else levels(y)
  sapply(sides, function(side) ifelse(y == side, 1, -1))
}

# Columns standardised with case weights, as repeated rows would be for whole ones.
scale_by <- function(x, w) {
  apply(x, 2, function(v) {
    middle <- sum(w * v) / sum(w)
    (v - middle) / sqrt(sum(w * (v - middle)^2) / (sum(w) - 1))
  })
}
