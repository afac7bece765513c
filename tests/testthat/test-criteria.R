test_that("the figures of Sonar are those known to be right", {
  data <- sonar()
  figures <- function(kernel) {
    K <- gram(data$x, kernel)
    c(kernel_alignment(K, data$y, "plain"), kernel_alignment(K, data$y),
      kernel_separability(K, data$y))
  }
  expect_lt(max(abs(figures(linear_kernel()) - c(0.13182347, 0.13242339, 0.04323430))), 1e-7)
  expect_lt(max(abs(figures(rbf_kernel(sqrt(60))) - c(0.03643038, 0.03625293, 0.02965821))), 1e-7)
})

test_that("criteria agree with explicit matrices", {
  x <- iris_matrix()
  rows <- c(1:20, 51:85, 101:110)
  for (kernel in list(linear_kernel(), rbf_kernel(1), polynomial_kernel(2))) {
    for (y in list(iris$Species[rows], factor(iris$Species[rows] == "setosa"))) {
      K <- gram(x[rows, ], kernel)
      expect_equal(kernel_alignment(K, y), reference_alignment(K, droplevels(y)), tolerance = 1e-12)
      expect_equal(kernel_alignment(K, y, "plain"), reference_alignment(K, droplevels(y), "plain"),
                   tolerance = 1e-12)
      expect_equal(kernel_separability(K, y), reference_separability(K, y), tolerance = 1e-10)
      expect_equal(kernel_separability(K, y, eps = 3), reference_separability(K, y, eps = 3),
                   tolerance = 1e-10)
      expect_equal(kernel_hsic(K, y), reference_hsic(K, y), tolerance = 1e-10)
    }
  }
})

test_that("with more than two classes both targets are one", {
  K <- gram(iris[1:4])
  expect_identical(kernel_alignment(K, iris$Species), kernel_alignment(K, iris$Species, "plain"))
})

test_that("criteria do not see the order of rows or the names of classes", {
  K <- gram(iris[1:4])
  y <- factor(iris$Species == "virginica")
  order <- rev(seq_along(y))
  other <- factor(y, levels = c("TRUE", "FALSE"), labels = c("a", "b"))
  for (criterion in list(kernel_alignment, kernel_separability, kernel_hsic)) {
    expect_equal(criterion(K[order, order], y[order]), criterion(K, y), tolerance = 1e-12)
    expect_equal(criterion(K, other), criterion(K, y), tolerance = 1e-12)
    expect_equal(criterion(K, as.character(y)), criterion(K, y), tolerance = 1e-12)
    expect_equal(criterion(K, y == "TRUE"), criterion(K, y), tolerance = 1e-12)
  }
})

test_that("unused levels do not count", {
  K <- gram(iris[1:100, 1:4])
  y <- iris$Species[1:100]
  expect_identical(kernel_alignment(K, y), kernel_alignment(K, droplevels(y)))
  expect_identical(kernel_hsic(K, y), kernel_hsic(K, droplevels(y)))
})

test_that("a kernel equal to the target is aligned to one", {
  y <- factor(rep(c("a", "b"), c(3, 5)))
  expect_equal(kernel_alignment(reference_target(y, "balanced"), y), 1)
  expect_equal(kernel_alignment(reference_target(y, "plain"), y, "plain"), 1)
})

test_that("matrices of kernlab and of whole numbers are taken", {
  K <- matrix(c(2L, 1L, 0L, 1L, 2L, 0L, 0L, 0L, 3L), 3)
  y <- c("a", "a", "b")
  expect_equal(kernel_alignment(K, y), kernel_alignment(K + 0, y))
  skip_if_not_installed("kernlab")
  theirs <- kernlab::kernelMatrix(kernlab::rbfdot(0.1), iris_matrix())
  expect_equal(
    kernel_alignment(theirs, iris$Species),
    kernel_alignment(gram(iris[1:4], rbf_kernel(gamma = 0.1)), iris$Species),
    tolerance = 1e-12
  )
})

test_that("what cannot be compared is refused", {
  K <- gram(iris[1:4])
  y <- iris$Species
  expect_snapshot(error = TRUE, {
    kernel_alignment("K", y)
    kernel_alignment(K[, 1:3], y)
    kernel_alignment(K[0, 0], y)
    kernel_alignment(replace(K, 2, NA), y)
    kernel_alignment(replace(K, 2, 5), y)
    kernel_alignment(K, y[-1])
    kernel_separability(K, iris$Sepal.Length)
    kernel_alignment(K, rep(1, 150))
    kernel_hsic(K, replace(iris$Sepal.Length, 2, Inf))
    kernel_alignment(K, factor(rep("a", 150)))
    kernel_alignment(K, replace(y, 3, NA))
    kernel_alignment(K, y, target = "centred")
    kernel_alignment(K * 0, y)
    kernel_separability(K, y, eps = -1)
    kernel_separability(K, factor(1:150))
    kernel_hsic(K, NULL)
  })
})

test_that("classes of identical rows have no scatter, whatever the rounding", {
  K <- gram(iris[c(1, 1, 1, 51, 51, 51), 1:4], rbf_kernel(0.7))
  y <- rep(c("a", "b"), each = 3)
  expect_error(kernel_separability(K, y), "eps", class = "kernelect_error_data")
  expect_gt(kernel_separability(K, y, eps = 1), 0)
  # a share of 1e-13 of the trace is scatter, one of 1e-15 is rounding
  two <- c("a", "b", "c", "c")
  K <- diag(c(2, 1, 1, 1))
  K[3, 4] <- K[4, 3] <- 1 - 5e-13
  expect_equal(kernel_separability(K, two), (2 + 1 + 2 - 5e-13 - sum(K) / 4) / 5e-13,
    tolerance = 1e-3)
  K[3, 4] <- K[4, 3] <- 1 - 2e-14
  expect_error(kernel_separability(K, two), "within-class scatter is zero",
    class = "kernelect_error_data")
})

test_that("a missing label of a Gram matrix gets a remedy that there is", {
  y <- replace(iris$Species, 3, NA)
  for (criterion in list(kernel_alignment, kernel_separability, kernel_hsic)) {
    expect_error(criterion(gram(iris[1:4]), y), "Remove those rows and columns",
      class = "kernelect_error_missing_values")
  }
})

test_that("the unit of a Gram matrix does not matter, up to the largest numbers", {
  x <- iris_matrix(c(1:5, 51:57))
  K <- gram(x, rbf_kernel(1))
  y <- rep(c("a", "b"), c(5, 7))
  for (unit in c(1e-8, 1e8)) {
    expect_equal(kernel_alignment(unit * K, y), kernel_alignment(K, y), tolerance = 1e-12)
    expect_equal(kernel_separability(unit * K, y), kernel_separability(K, y), tolerance = 1e-12)
    expect_equal(kernel_hsic(unit * K, y), unit * kernel_hsic(K, y), tolerance = 1e-12)
    same <- unit * gram(x[c(1, 1, 1, 8, 8, 8), ], rbf_kernel(0.7))
    expect_error(kernel_separability(same, rep(c("a", "b"), each = 3)), "eps",
      class = "kernelect_error_data")
  }
  ones <- matrix(1, 2, 2) + diag(2)
  expect_equal(kernel_alignment(2e307 * ones, c("a", "b")), kernel_alignment(ones, c("a", "b")))
  for (criterion in list(kernel_alignment, kernel_separability, kernel_hsic)) {
    expect_error(criterion(5e307 * ones, c("a", "b")), "too large to sum",
      class = "kernelect_error_not_finite")
  }
})

test_that("sums over classes do not depend on the pieces they are taken in", {
  n <- 2900
  expect_length(pieces(n, 4 * n), 2)
  a <- sin(seq_len(n))
  y <- rep_len(c(2L, 1L, 3L), n)
  sums <- as.vector(tapply(a, y, sum))
  expect_equal(product_with(tcrossprod(a), class_factor(factor(y))), sum(sums^2 / tabulate(y)),
    tolerance = 1e-9)
})

test_that("numbers are compared as the centred yy', one by one", {
  x <- random_matrix(40, 3)
  K <- gram(x, rbf_kernel(1.2))
  y <- x[, 1]^2 + 7
  a <- h <- norm <- 0
  H <- diag(40) - 1 / 40
  for (i in 1:40) for (j in 1:40) {
    t <- (y[i] - mean(y)) * (y[j] - mean(y))
    a <- a + K[i, j] * t
    norm <- norm + t^2
  }
  expect_equal(kernel_alignment(K, y), a / sqrt(norm * sum(K^2)), tolerance = 1e-12)
  expect_equal(kernel_alignment(K, y, "plain"), kernel_alignment(K, y), tolerance = 1e-15)
  expect_equal(kernel_alignment(K, 3 - 2 * y), kernel_alignment(K, y), tolerance = 1e-12)
  expect_equal(kernel_hsic(K, y), sum(diag(K %*% H %*% tcrossprod(y) %*% H)) / 39^2,
    tolerance = 1e-12)
  expect_equal(kernel_hsic(K, 2 * y), 4 * kernel_hsic(K, y), tolerance = 1e-12)
  expect_equal(kernel_alignment(tcrossprod(y - mean(y)), matrix(y)), 1)
  # 0/1 with classes of one size is the balanced target of two classes, up to its unit
  half <- rep(0:1, 20)
  expect_equal(kernel_alignment(K, half), kernel_alignment(K, factor(half)), tolerance = 1e-12)
  expect_error(kernel_alignment(K, cbind(y, y)), "numeric vector", class = "kernelect_error")
  expect_error(kernel_alignment(K, replace(y, 3, NA)), "missing values .1.. Remove those rows",
               class = "kernelect_error_missing_values")
})

test_that("numbers that are none, one or all equal are refused in words, without warnings", {
  K <- gram(as.matrix(iris[1:4]))
  for (y in list(numeric(), 1, rep(2, 150))) {
    for (criterion in list(kernel_alignment, kernel_hsic)) {
      expect_no_warning(expect_error(criterion(K, y), "`y` is constant",
        class = "kernelect_error_data"))
    }
  }
})
