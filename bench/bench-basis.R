# The basis engine: 200 columns of an RBF kernel on 20 numeric columns, one thread. Greedy
# pivoting against other software and against what the arithmetic alone must cost; random pivoting;
# and the first pick of fvs over all rows against one pass over half of the Gram matrix.
source(file.path("bench", "harness.R"))

size <- 200
d <- 20
gamma <- 1 / (2 * d)

basis_contest <- function(n, rounds) {
  set.seed(1)
  python <- sprintf(
    "import sys; sys.path.insert(0, 'bench'); import basis_peers, numpy as np; g, L = %s, %d",
    gamma, size
  )
  ours <- sprintf(
    "kernel_basis(x, rbf_kernel(gamma = %s), method = '%%s', size = %d, tol = 0, scale = FALSE)",
    gamma, size
  )
  trace <- sprintf("result$path$trace[%d]", size)
  contestants <- list(
    kernelect = contestant(setup = "library(kernelect)", job = sprintf(ours, "cholesky"),
      value = trace),
    "kernelect random" = contestant(setup = "library(kernelect)", job = sprintf(ours, "random"),
      value = "NaN"),
    inchol = contestant(
      setup = "library(kernlab)",
      job = sprintf("inchol(x, 'rbfdot', list(sigma = %s), tol = 1e-12, maxiter = %d)", gamma,
        size),
      value = "1 - sum(result@.Data^2) / nrow(x)"
    ),
    "numpy greedy" = contestant(
      lang = "python", setup = python, job = "basis_peers.greedy(x, g, L)", value = "result.mean()"
    ),
    "numpy random" = contestant(
      lang = "python", setup = python, job = "basis_peers.random(x, g, L)", value = "float('nan')"
    ),
    "sklearn Nystroem" = contestant(
      lang = "python",
      setup = paste0(python, "; from sklearn.kernel_approximation import Nystroem"),
      job = "Nystroem(gamma=g, n_components=L, random_state=1).fit_transform(x)",
      value = "float('nan')"
    ),
    limit = contestant(lang = "c", job = "limit_basis.c", args = as.character(size))
  )
  contest(sprintf("basis-n%d", n), contestants, list(x = matrix(rnorm(n * d), n)), rounds)
}

runs <- list(
  basis_contest(2000, rounds = 5),
  basis_contest(20000, rounds = 5),
  basis_contest(100000, rounds = 5)
)
seconds <- vapply(runs, function(r) r$cpu[1], 0)
growth <- diff(log(seconds)) / diff(log(c(2000, 20000, 100000)))
cat(sprintf("\ngrowth of processor time in n at %d columns: exponent %.2f (2000 to 20,000), %.2f (20,000 to 100,000)\n", size, growth[1], growth[2])) # nolint: line_length_linter.

library(kernelect)
for (n in c(2000, 20000, 100000)) {
  set.seed(1)
  basis <- kernel_basis(matrix(rnorm(n * d), n), rbf_kernel(gamma = gamma), "cholesky", size, 0,
    scale = FALSE)
  cat(sprintf("n = %d: %d block updates for %d picks\n", n, basis$updates, size))
}

set.seed(1)
contest("basis-first", list(
  kernelect = contestant(
    setup = "library(kernelect)", value = "NaN",
    job = sprintf("kernel_basis(x, rbf_kernel(gamma = %s), size = 1, first = Inf, scale = FALSE)",
      gamma)
  ),
  limit = contestant(lang = "c", job = "limit_first.c")
), list(x = matrix(rnorm(20000 * d), 20000)), rounds = 5)
