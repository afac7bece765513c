# Naive twin of kernel_basis(): the whole (centred) Gram matrix, one column of its Cholesky factor
# at a time, every residual after every pick. Sources: Baudat and Anouar (5)-(7b) and Appendix A;
# Teixeira et al., incomplete Cholesky; Xu et al. (20) and E(M).

# Appendix A: K~ = (I - B)' K (I - B), every column of B holding 1/m at the m rows nearest to the
# mean of all rows in the kernel space.
reference_center <- function(K, neighbours) {
  n <- nrow(K)
  far <- diag(K) - 2 * rowMeans(K) + mean(K)
  index <- integer()
  for (m in seq_len(neighbours)) {
    left <- setdiff(seq_len(n), index)
    index <- c(index, left[which(far[left] <= min(far[left]) + 1e-10 * max(diag(K)))[1]])
  }
  P <- diag(n)
  P[index, ] <- P[index, ] - 1 / neighbours
  list(K = crossprod(P, K %*% P), index = index)
}

# State of a selection: factor G (rows in the orthonormal basis), residuals by (5).
reference_pick <- function(state, row) {
  K <- state$K
  column <- K[, row] - drop(state$G %*% state$G[row, ])
  state$pivot <- state$residual[row]
  g <- column / sqrt(state$pivot)
  g[state$index] <- 0
  state$G <- cbind(state$G, g, deparse.level = 0)
  state$index <- c(state$index, row)
  state$spread <- state$spread +
    max((g^2 / state$size)[state$counts]) / (state$pivot / state$size[row])
  state$explained <- rowSums(state$G^2)
  state$residual <- pmax(diag(K) - state$explained, 0)
  state$residual[state$index] <- 0
  state
}

# One row of the path: a row without length (the centre itself) counts in no mean of angles.
reference_row <- function(state) {
  K <- state$K
  counts <- state$counts
  data.frame(
    size = length(state$index),
    index = state$index[length(state$index)],
    pivot = state$pivot,
    fitness = mean(1 - state$residual[counts] / diag(K)[counts]),
    trace = sum(state$residual[counts]) / sum(diag(K)[counts]),
    cost = sum(sqrt(state$residual[counts])) / nrow(K)
  )
}

# Ties: within 1e-10 of the largest, or within its rounding (`slack`).
reference_largest <- function(x, open, slack) {
  rows <- which(open)
  rows[which(x[rows] >= max(x[rows]) * (1 - 1e-10) - slack)[1]]
}

# The row whose own span explains most: the mean over j of k_ij^2 / (k_ii k_jj). Where no row that
# is searched has a length, the first that has one.
reference_first <- function(state, first) {
  K <- state$K
  n <- nrow(K)
  counts <- state$counts
  rows <- which(state$open)
  if (first < n) rows <- intersect(unique(round(seq(1, n, length.out = first))), rows)
  if (!length(rows)) return(which(state$open)[1])
  J <- vapply(rows, function(i) mean(K[i, counts]^2 / (K[i, i] * diag(K)[counts])), 0)
  rows[which(J >= max(J) * (1 - 1e-10))[1]]
}

# Lowest local fitness J: largest (1 - J) / J. Where kernel values near zero are differences of
# larger numbers (`cancels`), a J at the square of their rounding is none.
reference_next <- function(state, method, first) {
  switch(method,
    cholesky = ,
    kobl = reference_largest(state$residual, state$open, state$slack * max(state$size)),
    kgs = reference_in_order(state),
    fvs = if (!length(state$index)) {
      reference_first(state, first)
    } else {
      explained <- ifelse(state$explained / state$size <= state$blind, 0, state$explained)
      odds <- pmin(state$residual / explained, .Machine$double.xmax)
      reference_largest(odds, state$open, state$slack)
    }
  )
}

# The next row whose residual is more than rounding. Row i is a combination of the picks with
# coefficients a; rounding of the kernel values reaches its residual magnified by 1 + |a|^2.
reference_in_order <- function(state) {
  L <- state$G[state$index, , drop = FALSE]
  for (i in which(state$open)) {
    a <- if (length(state$index)) solve(t(L), state$G[i, ], tol = 0) else 0
    if (state$residual[i] > 8 * .Machine$double.eps * max(state$size) * (1 + sum(a^2))) return(i)
  }
  NA
}

# Sixty-four rows proposed from the residuals as they stand, one uniform each by the inverse of
# their running sum; each then kept with probability residual now / residual when proposed.
reference_propose <- function(state) {
  residual <- ifelse(state$open, state$residual, 0)
  total <- cumsum(residual)
  rows <- vapply(1:64, function(i) which(total > stats::runif(1) * total[length(total)])[1], 1L)
  list(rows = rows, then = residual[rows])
}

reference_draw <- function(state, round) {
  repeat {
    if (!length(round$rows)) round <- reference_propose(state)
    row <- round$rows[1]
    kept <- stats::runif(1) * round$then[1] < if (state$open[row]) state$residual[row] else 0
    round <- lapply(round, `[`, -1)
    if (kept) return(list(row = row, round = round))
  }
}

reference_stop <- function(state, method, last, tol, threshold, size) {
  reached <- length(state$index)
  done <- switch(method, fvs = last$fitness >= 1 - tol, cholesky = , random = last$trace <= tol,
    FALSE)
  r <- sqrt(max(state$residual) / diag(state$K)[state$index[1]])
  if (!any(state$open)) return("rank")
  if (done) return("tol")
  if (method == "kobl" && r < threshold(reached / nrow(state$K))) return("threshold")
  if (reached >= size) return("size")
  NA_character_
}

# What a residual is compared with for the rank: k_ii, and what it is a difference of.
reference_sizes <- function(K, centred) {
  if (is.null(centred$index)) return(diag(K))
  pmax(diag(K), mean(K[centred$index, centred$index]), diag(centred$K))
}

reference_basis <- function(K, method, size = Inf, tol = 0.01, center = "none", neighbours = 1,
                            threshold = identity, first = 1000, cancels = center != "none") {
  n <- nrow(K)
  centred <- if (center == "nearest") reference_center(K, neighbours) else list(K = K, index = NULL)
  sizes <- reference_sizes(K, centred)
  K <- centred$K
  unit <- .Machine$double.eps
  eps <- n * unit
  counts <- diag(K) > eps * sizes
  state <- list(
    K = K, G = matrix(0, n, 0), index = integer(), residual = ifelse(counts, diag(K), 0),
    explained = numeric(n), size = sizes, counts = counts, spread = 0,
    slack = min(16, n / 2) * unit,
    blind = if (cancels) (16 * unit)^2 else 0
  )
  scale <- if (method == "fvs") sizes else max(sizes)
  path <- list()
  draw <- list(round = NULL)
  repeat {
    # rounding of a short pick near the centre is stretched over the rows that are multiples of it
    stretched <- if (method == "fvs" && center != "none") 8 * unit * (1 + state$spread) else 0
    state$open <- state$residual > max(eps, stretched) * scale & counts
    if (length(path)) {
      stop <- reference_stop(state, method, path[[length(path)]], tol, threshold, size)
      if (!is.na(stop)) break
    }
    if (method == "random") draw <- reference_draw(state, draw$round)
    row <- if (method == "random") draw$row else reference_next(state, method, first)
    if (is.na(row)) {
      stop <- "rank"
      break
    }
    state <- reference_pick(state, row)
    path[[length(path) + 1]] <- reference_row(state)
  }
  list(index = state$index, path = do.call(rbind, path), stop = stop, center_index = centred$index)
}

# Kernel values (9), coordinates K_xS R^-1 with R'R = K_SS, squared distances to the span.
# `new`: new rows by training rows, `own`: k(x, x) of the new rows.
reference_predict <- function(K, index, new, own, center_index = NULL) {
  if (length(center_index)) {
    u <- rowMeans(new[, center_index, drop = FALSE])
    v <- rowMeans(K[, center_index, drop = FALSE])
    constant <- mean(K[center_index, center_index])
    own <- own - 2 * u + constant
    new <- new - outer(u, v, `+`) + constant
    K <- K - outer(v, v, `+`) + constant
  }
  kernel <- new[, index, drop = FALSE]
  Z <- t(backsolve(chol(K[index, index, drop = FALSE]), t(kernel), transpose = TRUE))
  list(orthonormal = Z, kernel = kernel, residual = pmax(own - rowSums(Z^2), 0))
}
