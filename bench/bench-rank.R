# Feature ranking: one alignment gradient by the squared scale factors, a full ranking, memory
# and growth; one thread.
source(file.path("bench", "harness.R"))

rank_data <- function(n, d) {
  set.seed(1)
  x <- scale(matrix(rnorm(n * d), n))
  list(x = x, y = matrix(ifelse(x[, 1] * x[, 2] > 0, 1, 2)))
}

ours_setup <- paste(
  "library(kernelect); label <- factor(y);",
  "k <- rbf_kernel(sigma = sqrt(ncol(x)) / 2);",
  "problem <- kernelect:::criterion_problem(x, label, k, \"alignment\"); w <- rep(1, ncol(x))"
)
ours_job <- "kernelect:::evaluate_criterion(problem, w)$gradient"

# The same gradient long-hand (D derivative matrices) and with one matrix product.
r_setup <- "
gamma <- 2 / ncol(x)
side <- drop(ifelse(y == 1, 1 / sum(y == 1), -1 / sum(y == 2)))
kernel <- function() {
  s <- rowSums(x^2)
  exp(-gamma * pmax(outer(s, s, `+`) - 2 * tcrossprod(x), 0))
}
slope <- function(K) {
  target <- tcrossprod(side)
  norm <- sqrt(sum(K^2)) * sqrt(sum(target^2))
  target / norm - sum(K * target) / norm * K / sum(K^2)
}
long_hand <- function() {
  K <- kernel(); G <- slope(K)
  vapply(seq_len(ncol(x)), function(d) {
    dK <- -gamma * K * outer(x[, d], x[, d], `-`)^2
    sum(G * dK)
  }, 0)
}
one_product <- function() {
  K <- kernel(); P <- slope(K) * K
  -2 * gamma * (colSums(rowSums(P) * x^2) - colSums(x * (P %*% x)))
}"

numpy_setup <- "
gamma = 2 / x.shape[1]
lab = y[:, 0] == 1
side = np.where(lab, 1 / lab.sum(), -1 / (~lab).sum())
def one_product():
    s = (x * x).sum(1)
    K = np.exp(-gamma * np.maximum(s[:, None] + s[None, :] - 2 * x @ x.T, 0))
    T = np.outer(side, side)
    kt, kk, tt = (K * T).sum(), (K * K).sum(), (T * T).sum()
    norm = np.sqrt(kk * tt)
    P = (T / norm - kt / norm * K / kk) * K
    return -2 * gamma * ((P.sum(1)[:, None] * x * x).sum(0) - (x * (P @ x)).sum(0))"

gradient_contest <- function(name, blas, rounds) {
  on_blas <- function(...) contestant(..., blas = blas)
  contest(name, rounds = rounds, data = rank_data(1000, 50), list(
    kernelect = on_blas(setup = ours_setup, job = ours_job),
    "R, D derivative matrices" = on_blas(setup = r_setup, job = "long_hand()"),
    "R, one product" = on_blas(setup = r_setup, job = "one_product()"),
    "numpy, one product" = on_blas(lang = "python", setup = numpy_setup, job = "one_product()"),
    "limit: two gemm and exp" = on_blas(lang = "c", job = "limit_rank.c"),
    "limit: two gemm" = on_blas(lang = "c", job = "limit_rank.c", args = c("1", "gemm"))
  ))
}

gradient_contest("rank-gradient", "openblas", rounds = 7)
gradient_contest("rank-gradient-reference", "reference", rounds = 3)

# A search takes many gradients in a row: twenty, with caches warm.
contest("rank-gradient-20", rounds = 7, data = rank_data(1000, 50), list(
  kernelect = contestant(setup = ours_setup, job = paste("for (i in 1:20) result <-", ours_job),
    value = "NaN"),
  "limit: two gemm and exp" = contestant(lang = "c", job = "limit_rank.c", args = "20"),
  "limit: two gemm" = contestant(lang = "c", job = "limit_rank.c", args = c("20", "gemm"))
))

contest("rank-full", rounds = 3, data = rank_data(1000, 50), list(
  kernelect = contestant(
    setup = "library(kernelect); label <- factor(y)",
    job = "kernel_rank(x, label)", value = "NaN"
  ),
  "RFE by kernlab, 49 fits" = contestant(
    setup = "
library(kernlab); label <- factor(y)
rfe <- function() {
  left <- seq_len(ncol(x)); gone <- NULL
  while (length(left) > 1) {
    m <- ksvm(x[, left], label, kernel = rbfdot(2 / ncol(x)), C = 1, scaled = FALSE)
    b <- numeric(nrow(x)); b[alphaindex(m)[[1]]] <- coef(m)[[1]]
    K <- kernelMatrix(rbfdot(2 / ncol(x)), x[, left]); P <- outer(b, b) * K
    size <- colSums(rowSums(P) * x[, left]^2) - colSums(x[, left] * (P %*% x[, left]))
    worst <- which.min(abs(size)); gone <- c(gone, left[worst]); left <- left[-worst]
  }
  c(left, rev(gone))
}",
    job = "rfe()", value = "NaN"
  )
))

# Two iterations show the memory of any number.
contest("rank-memory", rounds = 1, data = rank_data(20000, 100), list(
  kernelect = contestant(
    setup = "library(kernelect); label <- factor(y)",
    job = "suppressWarnings(kernel_rank(x, label, max_iter = 1))", value = "NaN"
  )
))

growth <- function(sizes = c(2000, 4000, 8000, 16000)) {
  runs <- do.call(rbind, lapply(sizes, function(n) {
    run <- contest(paste0("rank-growth-", n), rounds = 3, data = rank_data(n, 50),
                   list(kernelect = contestant(setup = ours_setup, job = ours_job)))
    cbind(n = n, run)
  }))
  unlink(file.path("bench", "results", paste0("rank-growth-", sizes, ".csv")))
  runs$exponent <- round(coef(lm(log(cpu) ~ log(n), runs))[[2]], 3)
  save_results(runs[c("bench", "n", "seconds", "cpu", "exponent", "date", "processor")],
    "rank-growth")
  cat("growth in n: exponent", runs$exponent[1], "\n")
}
growth()
