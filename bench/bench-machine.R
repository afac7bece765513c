# Support vector machines whose n x n matrix is not held: n = 20,000, d = 50, two classes, one
# thread, beside e1071 and scikit-learn (both libsvm). The value compared is that of the dual
# problem, to the digits that libsvm's stop (1e-3) leaves.
source(file.path("bench", "harness.R"))

machine_rows <- function(n, d = 50) {
  set.seed(3)
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = matrix(sign(x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n))))
}

contest("machine-20000", rounds = 1, data = machine_rows(20000), list(
  kernelect = contestant(
    setup = "library(kernelect); g <- factor(y); k <- list(rbf_kernel(gamma = 0.02))",
    job = "kernel_fusion(x, g, k, adaptive = FALSE, folds = 0, scale = FALSE)",
    value = "-result$objective"
  ),
  "kernelect, with probabilities" = contestant(
    setup = "library(kernelect); g <- factor(y); k <- list(rbf_kernel(gamma = 0.02))",
    job = "kernel_fusion(x, g, k, adaptive = FALSE, scale = FALSE)", value = "-result$objective"
  ),
  e1071 = contestant(
    setup = "library(e1071); g <- factor(y)",
    job = "svm(x, g, gamma = 0.02, scale = FALSE, cachesize = 300)", value = "NaN"
  ),
  "scikit-learn SVC" = contestant(
    lang = "python", setup = "from sklearn.svm import SVC\ng = y.ravel()",
    job = "SVC(gamma=0.02, cache_size=300).fit(x, g)", value = "float('nan')"
  )
))
