# Naive twins for feature ranking: full Gram matrices and one derivative matrix per column.

reference_rank_kernel <- function(x, w, type, parameter) {
  z <- x * rep(w, each = nrow(x))
  inner <- tcrossprod(z)
  d2 <- as.matrix(stats::dist(z))^2
  switch(type,
    linear = inner,
    rbf = exp(-parameter * d2),
    laplace = exp(-parameter * sqrt(d2)),
    polynomial = (parameter * inner + 1)^3
  )
}

# dK/dv_d with v = w^2, long-hand.
reference_rank_derivative <- function(x, w, type, parameter, d) {
  K <- reference_rank_kernel(x, w, type, parameter)
  z <- x * rep(w, each = nrow(x))
  product <- outer(x[, d], x[, d])
  gap <- outer(x[, d], x[, d], `-`)^2
  switch(type,
    linear = product,
    rbf = -parameter * K * gap,
    laplace = {
      distance <- as.matrix(stats::dist(z))
      ifelse(distance == 0, 0, -parameter * K / (2 * distance) * gap)
    },
    polynomial = 3 * parameter * (parameter * tcrossprod(z) + 1)^2 * product
  )
}

reference_rank_target <- function(y, target = "balanced") {
  if (is.numeric(y)) return(tcrossprod(y - mean(y)))
  y <- as.integer(y)
  classes <- max(y)
  if (classes > 2L) return(ifelse(outer(y, y, `==`), 1, -1 / (classes - 1)))
  side <- if (target == "balanced") ifelse(y == 1, 1 / sum(y == 1),
    -1 / sum(y == 2)) else ifelse(y == 1, 1, -1)
  tcrossprod(side)
}

# Criterion and its derivative by K, as a list of value and matrix G.
reference_rank_criterion <- function(K, y, criterion, eps = 0) {
  n <- nrow(K)
  target <- reference_rank_target(y)
  within <- if (is.factor(y)) outer(as.integer(y), as.integer(y), `==`) / tabulate(y)[as.integer(y)]
  centring <- diag(n) - 1 / n
  switch(criterion,
    alignment = {
      norm <- sqrt(sum(K^2)) * sqrt(sum(target^2))
      value <- sum(K * target) / norm
      list(value = value, G = target / norm - value * K / sum(K^2))
    },
    separability = {
      between <- sum(K * within) - sum(K) / n
      scatter <- sum(diag(K)) - sum(K * within) + eps
      list(value = between / scatter,
        G = (within - 1 / n) / scatter - between / scatter^2 * (diag(n) - within))
    },
    product = list(value = sum(K * target), G = target),
    hsic = {
      G <- centring %*% target %*% centring / (n - 1)^2
      list(value = sum(K * G), G = G)
    }
  )
}

reference_rank_gradient <- function(x, y, w, type, parameter, criterion, eps = 0) {
  G <- reference_rank_criterion(reference_rank_kernel(x, w, type, parameter), y, criterion, eps)$G
  vapply(seq_len(ncol(x)), function(d) sum(G * reference_rank_derivative(x, w, type, parameter, d)),
    0)
}
