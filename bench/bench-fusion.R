# Kernel fusion and its dual solver, one thread: adaptive regression by columns beside an R loop
# that sums Gram matrices of rank one; a soft-margin machine on a precomputed Gram matrix beside
# kernlab's ksvm; and ten adaptive iterations beside cold solves of the same matrices.
source(file.path("bench", "harness.R"))

columns_data <- function(n, d) {
  set.seed(1)
  x <- scale(matrix(rnorm(n * d), n))
  list(x = x, y = matrix(x[, 1] + x[, 2] + rnorm(n, 0, 0.174)))
}

# The iteration with the weighted Gram matrix formed kernel by kernel, idle ones left out.
r_loop <- "
adaptive <- function(iterations, noise = 0.1) {
  n <- nrow(x); r <- 1 / colMeans(x^2)
  for (k in seq_len(iterations)) {
    K <- matrix(0, n, n)
    for (i in which(r > 0)) K <- K + r[i] * tcrossprod(x[, i])
    A <- rbind(cbind(K + noise * mean(diag(K)) * diag(n), 1), c(rep(1, n), 0))
    lambda <- solve(A, c(y, 0))[seq_len(n)]
    used <- r
    r <- r^2 * drop(crossprod(x, lambda))^2
    r[r < 1e-12 * max(r)] <- 0
  }
  used
}"

columns_contest <- function(name, n, d, blas, rounds) {
  data <- columns_data(n, d)
  count <- kernelect::kernel_fusion(data$x, drop(data$y), scale = FALSE)$iterations
  contest(name, rounds = rounds, data = data, list(
    kernelect = contestant("kernel_fusion(x, drop(y), scale = FALSE)$weights", "library(kernelect)",
      blas = blas),
    "R loop over kernels" = contestant(sprintf("adaptive(%d)", count), r_loop, blas = blas)
  ))
}

machine_data <- function(n) {
  set.seed(2)
  x <- matrix(rnorm(n * 10), n)
  K <- exp(-as.matrix(dist(x))^2 / 20)
  list(K = unname(K), y = matrix(sign(x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n))))
}

machine_contest <- function(name, n, rounds, cost = 1) {
  decisions <- "round(mean(abs(result)), 2)" # ksvm stops earlier than we do
  contest(name, rounds = rounds, data = machine_data(n), list(
    kernelect = contestant(
      sprintf("kernel_fusion(y = g, kernels = list(K = K), adaptive = FALSE, cost = %g)$fitted.values", cost), # nolint: line_length_linter.
      "library(kernelect); g <- factor(y)", value = decisions
    ),
    "kernelect, solver alone" = contestant(
      sprintf("kernelect:::svm_dual(K, drop(y), %g)$decision", cost), "library(kernelect)",
      value = decisions
    ),
    "kernelect, solver alone, gap 1e-4" = contestant(
      sprintf("kernelect:::svm_dual(K, drop(y), %g, tol = 1e-4)$decision", cost),
      "library(kernelect)", value = decisions
    ),
    "kernlab ksvm" = contestant(
      sprintf("ksvm(G, g, type = 'C-svc', C = %g)", cost),
      "library(kernlab); g <- factor(y); G <- as.kernelMatrix(K)",
      value = "round(mean(abs(predict(result, as.kernelMatrix(K[, SVindex(result)]), type = 'decision'))), 2)" # nolint: line_length_linter.
    )
  ))
}

# Ten adaptive iterations of recognition by 100 columns, each solve started from the last, beside
# solves of the same ten matrices and of the first of them, all from nothing. `value` is the
# function reached.
warm_setup <- "
library(kernelect)
g <- sign(drop(y))
path <- suppressWarnings(kernel_fusion(x, factor(g), scale = FALSE, max_iter = 10, tol = 0))$path[-1] # nolint: line_length_linter.
fused <- lapply(1:10, function(k) gram(x, linear_kernel(weights = sqrt(unlist(path[k, ])))))
solve <- function(K, start = NULL) kernelect:::svm_dual(K, g, 1, start, tol = 1e-10)
warm <- function() {
  fit <- list()
  for (K in fused) fit <- solve(K, fit$lambda)
  fit$value
}
cold <- function(matrices) {
  for (K in matrices) fit <- solve(K)
  fit$value
}"

warm_contest <- function(name, n, d, rounds) {
  contest(name, rounds = rounds, data = columns_data(n, d), list(
    "ten warm solves" = contestant("warm()", warm_setup),
    "ten cold solves" = contestant("cold(fused)", warm_setup),
    "three cold solves of the first" = contestant("cold(fused[c(1, 1, 1)])", warm_setup,
      value = "NaN")
  ))
}

columns_contest("fusion-columns", 500, 1000, "openblas", 3)
columns_contest("fusion-columns-reference", 500, 1000, "reference", 3)
machine_contest("fusion-machine-1000", 1000, 7)
machine_contest("fusion-machine-2000", 2000, 5)
warm_contest("fusion-warm", 1000, 100, 5)
