# Eigenvalues and vectors of symmetric matrices: all of them, the largest few of a matrix known by
# its products, and the two ends of a spectrum.

# Decreasing values and their vectors, as eigen() has them; in the core where it takes long, since
# eigen() cannot be interrupted. Vectors of values up to `least` times the largest may be left out.
symmetric_eigen <- function(a, least = -Inf) {
  if (nrow(a) <= 300L) return(eigen(a, symmetric = TRUE))
  found <- .Call(ffi_eigen, a, least)
  if (is_status(found)) raise_status(found)
  found
}

# The `count` largest eigenvalues of a symmetric positive semi-definite matrix A of which only
# the product with a block of vectors is known, with their vectors; NULL when the iteration does
# not settle. Block Lanczos, fully reorthogonalised: A Q = Q T + B R E', Q and the next block B
# orthonormal, E the last columns of the identity. The residual of a Ritz vector Q s is then
# |R E's|, known before the vector itself. Restarted with the best Ritz vectors.
leading_eigen <- function(product, n, count, restarts = 100L) {
  width <- 8L * max(1L, min(4L, as.integer(round(count / 10))))
  room <- max(12L * width, as.integer(1.5 * count) + 4L * width)
  if (room > n / 2) return(NULL)
  space <- list(
    q = matrix(0, n, 0L), t = matrix(0, 0L, 0L),
    next_block = orthonormal_columns(start_block(n, width))
  )
  steps <- 0L
  while (steps < restarts * (room %/% width)) {
    space <- grow_space(space, product)
    steps <- steps + 1L
    full <- ncol(space$q) + width > room
    if (!full && (steps < 6L || steps %% 2L == 1L)) next
    ritz <- ritz_pairs(space, count)
    if (ritz$settled) {
      return(list(values = ritz$values, vectors = space$q %*% ritz$vectors[, seq_len(count)]))
    }
    if (full) space <- shrink_space(space, ritz, count + width)
  }
  NULL
}

# Add the next block to the space and find the one after it.
grow_space <- function(space, product) {
  block <- space$next_block
  q <- cbind(space$q, block)
  w <- product(block)
  h <- crossprod(q, w)
  old <- seq_len(ncol(q) - ncol(block))
  t <- cbind(rbind(space$t, t(h[old, , drop = FALSE])), h)
  rest <- w - q %*% h
  following <- orthonormal_columns(rest)
  for (pass in 1:2) following <- orthonormal_columns(following - q %*% crossprod(q, following))
  list(q = q, t = t, next_block = following, r = crossprod(following, rest))
}

ritz_pairs <- function(space, count) {
  s <- eigen((space$t + t(space$t)) / 2, symmetric = TRUE)
  last <- nrow(s$vectors) - ncol(space$r) + seq_len(ncol(space$r))
  values <- s$values[seq_len(count)]
  residual <- sqrt(colSums((space$r %*% s$vectors[last, seq_len(count), drop = FALSE])^2))
  settled <- all(residual <= pmax(1e-11 * values, 1e-13 * max(values, 0)))
  list(
    values = values, vectors = s$vectors, all_values = s$values, residual = residual,
    settled = settled
  )
}

shrink_space <- function(space, ritz, size) {
  keep <- seq_len(min(size, ncol(space$q) - ncol(space$r)))
  space$q <- space$q %*% ritz$vectors[, keep, drop = FALSE]
  space$t <- diag(ritz$all_values[keep], length(keep))
  space
}

# A start that no data set is orthogonal to by design, and the same every time.
start_block <- function(n, width) {
  i <- as.double(seq_len(n)) # products of integers would overflow
  vapply(seq_len(width), function(j) sin(i * (i + j) * sqrt(j + 0.61803398875)), numeric(n))
}

# Orthonormal columns whose span holds that of `block`. The factor of a product squares its
# condition: columns up to 1e4 apart keep half of their digits, which the passes in grow_space()
# mend; a stricter limit only takes the slower way.
orthonormal_columns <- function(block) {
  r <- tryCatch(chol(crossprod(block)), error = function(e) NULL)
  if (!is.null(r) && min(diag(r)) > 1e-4 * max(diag(r))) {
    return(block %*% backsolve(r, diag(ncol(r))))
  }
  qr.Q(qr(block, LAPACK = TRUE))
}

# Smallest and largest eigenvalue; of a large matrix by Lanczos steps with full
# reorthogonalisation, which see any eigenvalue that stands clear of the rest.
eigenvalue_range <- function(K, steps = 12L) {
  n <- nrow(K)
  if (n <= 300L) return(range(eigen(K, symmetric = TRUE, only.values = TRUE)$values))
  Q <- matrix(0, n, steps)
  diagonal <- numeric(steps)
  off <- numeric(steps)
  q <- sin(seq_len(n)^1.5)
  for (k in seq_len(steps)) {
    Q[, k] <- q / sqrt(sum(q^2))
    q <- drop(.Call(ffi_gram_product, K, Q[, k, drop = FALSE], FALSE))
    diagonal[k] <- sum(q * Q[, k])
    used <- Q[, seq_len(k), drop = FALSE]
    for (twice in 1:2) q <- q - drop(used %*% crossprod(used, q))
    off[k] <- sqrt(sum(q^2))
    # an invariant space; to go on in what rounding leaves would add nothing
    if (off[k] <= 1e-12 * max(abs(diagonal))) break
  }
  small <- diag(diagonal[seq_len(k)], k)
  if (k > 1L) {
    beside <- cbind(seq_len(k - 1L), 2:k)
    small[beside] <- small[beside[, 2:1, drop = FALSE]] <- off[seq_len(k - 1L)]
  }
  range(eigen(small, symmetric = TRUE, only.values = TRUE)$values)
}
