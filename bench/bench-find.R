# Which columns matter, beside two published selections by kernels, written out here from their
# formulas: time, and how many of the three columns that make the classes come first (the column
# `value` of the result, so the note that contestants "computed something else" is no alarm); one
# thread.
source(file.path("bench", "harness.R"))

find_data <- function(n, d) {
  set.seed(1)
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = matrix(1 + (x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n) > 0)))
}

# HSIC lasso (Yamada, Jitkrittum, Sigal, Xing and Sugiyama 2014): least squares with weights of at
# least 0 and an L1 penalty of the centred kernel of the classes on those of single columns, all of
# unit length. Columns in the order in which they join as the penalty falls.
hsic_lasso <- "
centred <- function(K) {
  K <- K - rowMeans(K); K <- t(K) - colMeans(K)
  c(K / sqrt(sum(K^2)))
}
hsic_lasso <- function() {
  z <- scale(x)
  G <- vapply(seq_len(ncol(z)), function(j) {
    centred(exp(-outer(z[, j], z[, j], `-`)^2 / 2))
  }, numeric(nrow(z)^2))
  share <- 1 / table(y)[as.character(y)]
  target <- centred(outer(c(y), c(y), `==`) * c(share))
  cross <- crossprod(G); b <- drop(crossprod(G, target))
  w <- numeric(length(b)); joined <- integer()
  for (penalty in max(b) * 0.97^(1:200)) {
    repeat {
      before <- w
      for (j in seq_along(w)) w[j] <- max(0, b[j] - penalty - sum(cross[j, -j] * w[-j]))
      if (max(abs(w - before)) < 1e-8) break
    }
    fresh <- setdiff(which(w > 0), joined)
    joined <- c(joined, fresh[order(-w[fresh])])
    if (length(joined) >= 10) break
  }
  joined
}"

# Kernel partial correlation, forward (Huang, Deb and Sen 2022): the column joins with which nearest
# neighbours agree most in their class; it ends where none makes them agree more. The kernel of
# classes is 1 for equal ones.
kpc <- "
kpc <- function() {
  z <- scale(x); far <- matrix(0, nrow(z), nrow(z)); diag(far) <- Inf
  chosen <- integer(); best <- 0
  repeat {
    left <- setdiff(seq_len(ncol(z)), chosen)
    agree <- vapply(left, function(j) {
      nearest <- max.col(-(far + outer(z[, j], z[, j], `-`)^2), 'first')
      mean(y[nearest] == y)
    }, 0)
    if (max(agree) <= best || length(chosen) == 10) return(chosen)
    best <- max(agree); add <- left[which.max(agree)]
    chosen <- c(chosen, add); far <- far + outer(z[, add], z[, add], `-`)^2
  }
}"

found <- "sum(head(result, 3) %in% 1:3)"
ours <- function(call) {
  contestant(
    setup = "library(kernelect); label <- factor(y)",
    job = paste0("result <- ", call, "$ranking"), value = found
  )
}

find_contest <- function(name, n, d, rounds = 3) {
  contest(name, rounds = rounds, data = find_data(n, d), list(
    "kernelect, forward" = ours("kernel_rank(x, label, method = 'forward', n = 10)"),
    "kernelect, SAS, five restarts" = ours("kernel_rank(x, label, restarts = 5)"),
    "HSIC lasso in R" = contestant(setup = hsic_lasso, job = "hsic_lasso()", value = found),
    "kernel partial correlation in R" = contestant(setup = kpc, job = "kpc()", value = found)
  ))
}

find_contest("find-1000-50", 1000, 50)
find_contest("find-1000-200", 1000, 200, rounds = 1)
