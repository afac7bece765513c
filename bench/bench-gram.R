# The Gram matrix of an RBF kernel on 5000 rows, one thread.
source(file.path("bench", "harness.R"))

gram_contest <- function(name, d, blas, rounds = 7) {
  set.seed(1)
  n <- 5000
  gamma <- format(1 / (2 * d))
  on_blas <- function(...) contestant(..., blas = blas)
  contest(name, rounds = rounds, data = list(x = matrix(rnorm(n * d), n)), list(
    kernelect = on_blas(
      setup = sprintf("library(kernelect); k <- rbf_kernel(gamma = %s)", gamma),
      job = "gram(x, k)"
    ),
    kernlab = on_blas(
      setup = sprintf("library(kernlab); k <- rbfdot(%s)", gamma),
      job = "kernelMatrix(k, x)"
    ),
    "tcrossprod + exp" = on_blas(
      job = sprintf(
        "{ s <- rowSums(x^2); exp(-%s * pmax(outer(s, s, `+`) - 2 * tcrossprod(x), 0)) }", gamma
      )
    ),
    "scikit-learn" = on_blas(
      lang = "python",
      setup = "from sklearn.metrics.pairwise import rbf_kernel",
      job = sprintf("rbf_kernel(x, gamma=%s)", gamma)
    ),
    limit = on_blas(lang = "c", job = "limit_gram.c")
  ))
}

gram_contest("gram-d20", d = 20, blas = "openblas")
gram_contest("gram-d200", d = 200, blas = "openblas")
gram_contest("gram-d200-reference", d = 200, blas = "reference", rounds = 3)
