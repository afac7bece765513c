# Naive twins: each quantity from its formula, one pair of rows at a time or with explicit
# matrices, and nothing shared with the package.

reference_spline <- function(x, z) {
  m <- pmin(x, z)
  prod(1 + x * z + x * z * m - (x + z) / 2 * m^2 + m^3 / 3)
}

# k(x, z) of two rows for the parameters of a kernel object.
reference_value <- function(kernel, x, z) {
  switch(kernel$type,
    linear = sum(x * z),
    rbf = exp(-kernel$gamma * sum((x - z)^2)),
    laplace = exp(-sqrt(sum((x - z)^2)) / kernel$sigma),
    polynomial = (kernel$scale * sum(x * z) + kernel$offset)^kernel$degree,
    sigmoid = tanh(kernel$scale * sum(x * z) + kernel$offset),
    spline = reference_spline(x, z)
  )
}

reference_gram <- function(x, kernel, z = x) {
  w <- if (is.null(kernel$weights)) rep(1, ncol(x)) else kernel$weights
  K <- matrix(0, nrow(x), nrow(z))
  for (i in seq_len(nrow(x))) {
    for (j in seq_len(nrow(z))) K[i, j] <- reference_value(kernel, w * x[i, ], w * z[j, ])
  }
  K
}

# sigma = "mean": root of the mean squared distance to the centroid.
reference_sigma_mean <- function(x, w = rep(1, ncol(x))) {
  x <- sweep(x, 2, w, "*")
  centroid <- apply(x, 2, mean)
  sqrt(mean(apply(x, 1, function(row) sum((row - centroid)^2))))
}

# sigma = "median": median distance of two different rows.
reference_sigma_median <- function(x, w = rep(1, ncol(x))) {
  x <- sweep(x, 2, w, "*")
  pairs <- utils::combn(nrow(x), 2)
  stats::median(apply(pairs, 2, function(p) sqrt(sum((x[p[1], ] - x[p[2], ])^2))))
}

reference_target <- function(y, target) {
  classes <- levels(y)
  if (length(classes) > 2) {
    return(ifelse(outer(y, y, `==`), 1, -1 / (length(classes) - 1)))
  }
  first <- y == classes[1]
  size <- if (target == "plain") 1 else ifelse(first, sum(first), sum(!first))
  sign <- ifelse(first, 1, -1) / size
  outer(sign, sign)
}

reference_alignment <- function(K, y, target = "balanced") {
  L <- reference_target(y, target)
  sum(K * L) / sqrt(sum(K^2) * sum(L^2))
}

# Scatter traces by class means in the kernel space: |phi_i - m|^2 from K alone.
reference_separability <- function(K, y, eps = 0) {
  n <- nrow(K)
  distance2 <- function(a, b) drop(crossprod(a - b, K %*% (a - b)))
  mean_of <- function(rows) replace(numeric(n), rows, 1 / length(rows))
  rows <- split(seq_len(n), y)
  between <- sum(vapply(rows, function(r) {
    length(r) * distance2(mean_of(r), mean_of(seq_len(n)))
  }, 0))
  within <- sum(vapply(rows, function(r) {
    sum(vapply(r, function(i) distance2(mean_of(i), mean_of(r)), 0))
  }, 0))
  between / (within + eps)
}

reference_hsic <- function(K, y) {
  n <- nrow(K)
  H <- diag(n) - 1 / n
  sum(diag(K %*% H %*% reference_target(y, "balanced") %*% H)) / (n - 1)^2
}
