# Models on a basis, one thread: full and greedy kernel PCA, prediction, leave-one-out.
source(file.path("bench", "harness.R"))

normal_rows <- function(n, d = 20) {
  set.seed(1)
  matrix(rnorm(n * d), n)
}

# 10 components of full kernel PCA. The value compared is the sum of the eigenvalues.
contest("kpca-2000", data = list(x = normal_rows(2000)), list(
  kernelect = contestant(
    setup = "library(kernelect); k <- rbf_kernel(gamma = 1 / 40)",
    job = "kernel_pca(x, k, ncomp = 10, basis = NULL, scale = FALSE)", value = "sum(result$values)"
  ),
  kernlab = contestant(
    setup = "library(kernlab)",
    job = "kpca(x, kernel = 'rbfdot', kpar = list(sigma = 1 / 40), features = 10)",
    value = "sum(eig(result)) * nrow(x)" # it gives eigenvalues / n
  ),
  "scikit-learn arpack" = contestant(
    lang = "python", setup = "from sklearn.decomposition import KernelPCA",
    job = "KernelPCA(10, kernel='rbf', gamma=1/40, eigen_solver='arpack').fit(x)",
    value = "result.eigenvalues_.sum()"
  ),
  "scikit-learn randomized" = contestant(
    lang = "python", setup = "from sklearn.decomposition import KernelPCA",
    job = "KernelPCA(10, kernel='rbf', gamma=1/40, eigen_solver='randomized', random_state=1).fit(x)", # nolint: line_length_linter.
    value = "result.eigenvalues_.sum()"
  )
))

# Scores of 100 new rows, model of 2000 rows, twenty times, since clocks are coarse.
scored <- list(x = normal_rows(2000), new = normal_rows(100))
contest("kpca-predict", rounds = 3, data = scored, list(
  kernelect = contestant(
    setup = "library(kernelect); m <- kernel_pca(x, rbf_kernel(gamma = 1 / 40), ncomp = 10, basis = NULL, scale = FALSE)", # nolint: line_length_linter.
    job = "for (i in 1:20) result <- predict(m, new)", value = "sum(abs(predict(m, new)))"
  ),
  kernlab = contestant(
    setup = "library(kernlab); m <- kpca(x, kernel = 'rbfdot', kpar = list(sigma = 1 / 40), features = 10)", # nolint: line_length_linter.
    job = "for (i in 1:20) result <- predict(m, new)",
    value = "NaN" # eigenvectors are scaled otherwise
  ),
  "scikit-learn" = contestant(
    lang = "python",
    setup = "from sklearn.decomposition import KernelPCA\nm = KernelPCA(10, kernel='rbf', gamma=1/40, eigen_solver='arpack').fit(x)", # nolint: line_length_linter.
    job = "[m.transform(new) for i in range(20)][-1]", value = "abs(result).sum()"
  )
))

# Greedy kernel PCA of 100,000 rows beside the basis it stands on.
contest("kpca-100000", rounds = 5, data = list(x = normal_rows(1e5)), list(
  basis = contestant(
    setup = "library(kernelect)", job = "kernel_basis(x, method = 'cholesky', size = 200)",
    value = "NaN"
  ),
  kernel_pca = contestant(
    setup = "library(kernelect)", job = "kernel_pca(x, ncomp = 10, size = 200)", value = "NaN"
  )
))

# 10 components of 20,000 rows on a basis of 500 of them; scikit-learn's rows are drawn at random.
# The limit is that of the basis alone.
contest("kpca-20000", rounds = 5, data = list(x = normal_rows(20000)), list(
  kernelect = contestant(
    setup = "library(kernelect); k <- rbf_kernel(gamma = 1 / 40)",
    job = "kernel_pca(x, k, ncomp = 10, size = 500, tol = 0, scale = FALSE)", value = "NaN"
  ),
  "scikit-learn" = contestant(
    lang = "python", setup = paste(
      "from sklearn.kernel_approximation import Nystroem", "from sklearn.decomposition import PCA",
      "from sklearn.pipeline import make_pipeline", sep = "\n"
    ),
    job = "make_pipeline(Nystroem(gamma=1/40, n_components=500, random_state=1), PCA(10)).fit(x)",
    value = "float('nan')"
  ),
  "limit: basis" = contestant(lang = "c", job = "limit_basis.c", args = "500")
))

# Exact leave-one-out errors of 200 sizes beside the basis alone, and beside refitting by lm's
# influence measures at each of 20 sizes.
contest("lm-loo-20000", data = list(x = normal_rows(20000)), list(
  basis = contestant(
    setup = "library(kernelect)", job = "kernel_basis(x[, -1], method = 'cholesky', size = 200)",
    value = "NaN"
  ),
  kernel_lm = contestant(
    setup = "library(kernelect)",
    job = "kernel_lm(x[, -1], x[, 1], basis = 'cholesky', size = 200)", value = "NaN"
  )
))

# A wide formula: reading 5000 columns beside what model.frame() takes to read them.
contest("wide-formula", rounds = 5, data = list(x = normal_rows(100, 5000)), list(
  "model.frame" = contestant(
    setup = "d <- data.frame(x, y = x[, 1])", job = "model.frame(y ~ ., d)", value = "NaN"
  ),
  kernel_lm = contestant(
    setup = "library(kernelect); d <- data.frame(x, y = x[, 1])",
    job = "kernel_lm(y ~ ., d, size = 5)",
    value = "NaN"
  )
))
