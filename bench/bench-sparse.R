# Sparse rows, 20,000 x 50,000 with 0.1 % filled (text, genomics): kernel values of all rows against
# 200 of them beside Matrix and scikit-learn, and a basis of 200 rows beside those values alone.
# Filled, the matrix would take 8 GB.
source(file.path("bench", "harness.R"))

set.seed(1)
entries <- 1e6
triplets <- cbind(sample(20000, entries, TRUE), sample(50000, entries, TRUE), rnorm(entries))
in_r <- "suppressMessages(library(Matrix))
  X <- sparseMatrix(i = t[, 1], j = t[, 2], x = t[, 3], dims = c(20000, 50000))
  Z <- X[seq(1, 20000, by = 100), ]"

contest("sparse-values", rounds = 5, data = list(t = triplets), list(
  kernelect = contestant(
    setup = paste(in_r, "library(kernelect)", sep = "\n"),
    job = "gram(X, rbf_kernel(gamma = 0.01), Z)"
  ),
  Matrix = contestant(
    setup = in_r,
    job = "exp(-0.01 * pmax(outer(rowSums(X^2), rowSums(Z^2), `+`) -
                            2 * as.matrix(tcrossprod(X, Z)), 0))"
  ),
  "scikit-learn" = contestant(
    lang = "python",
    setup = "from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import rbf_kernel
i, j = t[:, 0].astype(int) - 1, t[:, 1].astype(int) - 1
X = csr_matrix((t[:, 2], (i, j)), shape=(20000, 50000))
Z = X[::100]",
    job = "rbf_kernel(X, Z, gamma=0.01)"
  )
))

contest("sparse-basis", rounds = 5, data = list(t = triplets), list(
  kernelect = contestant(
    setup = paste(in_r, "library(kernelect)", sep = "\n"),
    job = "kernel_basis(X, method = \"cholesky\", size = 200, tol = 0)",
    value = "NaN"
  ),
  "values by Matrix" = contestant(
    setup = in_r,
    job = "exp(-0.01 * pmax(outer(rowSums(X^2), rowSums(Z^2), `+`) -
                            2 * as.matrix(tcrossprod(X, Z)), 0))",
    value = "NaN"
  )
))
