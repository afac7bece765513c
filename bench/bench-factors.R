# Fusion on bases: three kernels, each on a basis of 500 rows, learned weights, one thread; and one
# kernel beside the linear machine of scikit-learn on as many Nystroem features (its squared hinge
# and penalised intercept are an easier problem).
source(file.path("bench", "harness.R"))

factor_rows <- function(n) {
  set.seed(1)
  x <- matrix(rnorm(n * 10), n)
  list(x = x, y = matrix(sign(x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n))))
}

setup <- "library(kernelect); g <- factor(y)
three <- list(a = rbf_kernel(2), b = rbf_kernel(5), c = laplace_kernel(5))
one <- list(a = rbf_kernel(2))"

contest("factors-100000", rounds = 1, data = factor_rows(1e5), list(
  "kernelect, three kernels" = contestant(
    setup = setup,
    job = "kernel_fusion(x, g, three, basis = 'cholesky', size = 500, folds = 0, scale = FALSE)",
    value = "NaN"
  ),
  "kernelect, one kernel" = contestant(
    setup = setup,
    job = "kernel_fusion(x, g, one, basis = 'cholesky', size = 500, folds = 0, scale = FALSE)",
    value = "NaN"
  ),
  "scikit-learn Nystroem + LinearSVC, one kernel" = contestant(
    lang = "python", setup = paste(
      "from sklearn.kernel_approximation import Nystroem", "from sklearn.svm import LinearSVC",
      "from sklearn.pipeline import make_pipeline", "g = y.ravel()", sep = "\n"
    ),
    job = "make_pipeline(Nystroem(gamma=1/8, n_components=500, random_state=1), LinearSVC(C=1.0)).fit(x, g)", # nolint: line_length_linter.
    value = "float('nan')"
  )
))
