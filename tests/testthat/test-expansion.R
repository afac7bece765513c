# The naive twin: all kernel values at once, then what was asked for.
reference_expansion <- function(basis, x, type, dual = NULL, offset = NULL) {
  L <- length(basis$index)
  if (!is.null(basis$scaling)) {
    x <- sweep(sweep(x, 2, basis$scaling$center), 2, basis$scaling$scale, `/`)
  }
  k <- gram(x, basis$kernel, z = basis$vectors)
  own <- vapply(seq_len(nrow(x)), function(i) gram(x[i, , drop = FALSE], basis$kernel)[1], 0)
  if (!is.null(basis$shift)) {
    u <- rowMeans(gram(x, basis$kernel, z = basis$center_vectors))
    k <- k - u - rep(basis$shift[1:L] - basis$shift[L + 1], each = nrow(k))
    own <- own - 2 * u + basis$shift[L + 1]
  }
  z <- if (type == "kernel") k else t(forwardsolve(basis$cholesky, t(k)))
  if (type == "residual") return(matrix(pmax(own - rowSums(z^2), 0)))
  if (is.null(dual)) z else z %*% dual + rep(offset, each = nrow(z))
}

test_that(paste(
  "values, coordinates, residuals and functions are those of the naive twin, centred or",
  "not, for every kernel"
), {
  x <- random_matrix(300, 5)
  colnames(x) <- letters[1:5]
  new <- random_matrix(70, 5)
  colnames(new) <- letters[1:5]
  kernels <- list(
    rbf_kernel(), laplace_kernel(2), polynomial_kernel(2, weights = c(1, 2, 0.5, 1, 1)),
    linear_kernel(),
    function_kernel(
      function(x, z) exp(-
        as.matrix(dist(rbind(x, z)))[seq_len(nrow(x)), nrow(x) + seq_len(nrow(z)), drop = FALSE]))
  )
  for (kernel in kernels) for (center in c("none", "nearest")) for (scale in c(TRUE, FALSE)) {
    basis <- kernel_basis(x, kernel, method = "cholesky", size = 40, tol = 0, center = center,
      neighbours = 3, scale = scale)
    L <- length(basis$index)
    dual <- matrix(cos(seq_len(3 * L)), L, 3)
    for (type in c("kernel", "orthonormal", "residual")) {
      mine <- expand_basis(basis, new, expansion(basis, type))
      expect_equal(mine, unname(reference_expansion(basis, new, type)), tolerance = 1e-9)
      if (type == "residual") next
      mine <- expand_basis(basis, new, expansion(basis, type, dual, c(1, -2, 0.5)))
      expect_equal(mine, unname(reference_expansion(basis, new, type, dual, c(1, -2, 0.5))),
        tolerance = 1e-9)
    }
  }
})

test_that("no answer depends on the tile a row is in, on the other rows, or on the threads", {
  x <- random_matrix(900, 3)
  basis <- kernel_basis(x, size = 70, tol = 0)
  what <- expansion(basis, "orthonormal", dual = matrix(sin(1:140), 70, 2), offset = c(0.1, 0.2))
  all <- expand_basis(basis, x, what)
  expect_identical(expand_basis(basis, x, what, threads = 2L), all)
  for (rows in list(1, 239:242, 899:900, integer())) {
    expect_identical(expand_basis(basis, x[rows, , drop = FALSE], what), all[rows, , drop = FALSE])
  }
})

test_that("an answer of several large pages is that of its rows", {
  x <- random_matrix(6000, 2)
  basis <- kernel_basis(x[1:200, ], size = 100, tol = 0)
  all <- predict(basis, x, threads = 2)
  expect_gt(8 * length(all), 2 * 2^21)
  expect_identical(all[5001:5003, ], predict(basis, x[5001:5003, ]))
})

test_that("values that overflow are an error, not an answer", {
  basis <- kernel_basis(random_matrix(20, 2), polynomial_kernel(9), size = 5, scale = FALSE)
  expect_error(predict(basis, matrix(1e60, 1, 2)), "overflow", class = "kernelect_error_not_finite")
  basis <- kernel_basis(random_matrix(20, 2), size = 5, scale = FALSE)
  expect_error(predict(basis, matrix(c(0, 1e200), 1, 2)), "overflow",
    class = "kernelect_error_not_finite")
})

test_that(paste(
  "a model predicts by the coefficients it has, edited or not, with or without what it",
  "keeps of them"
), {
  y <- iris$Sepal.Length
  lm <- kernel_lm(iris[2:4], y, size = 12, ridge = 0.1)
  lda <- kernel_lda(iris[1:4], iris$Species, size = 12, ridge = 0.1)
  z <- predict(lm$basis, iris[2:4])
  edited <- lm
  edited$coefficients[3] <- edited$coefficients[3] + 1
  expect_equal(predict(edited, iris), predict(lm, iris) + z[, 2])
  lm$expansion <- NULL
  expect_equal(predict(lm, iris), drop(cbind(1, z) %*% lm$coefficients))
  scores <- predict(lda, iris, type = "scores")
  twice <- within_list(lda, scaling = 2 * lda$scaling)
  expect_equal(predict(twice, iris, type = "scores"), 2 * scores)
  lda$expansion$dual <- lda$expansion$dual[-1, ]
  expect_equal(predict(lda, iris, type = "scores"), scores)
})

test_that("a model without a Cholesky factor predicts, and says so where it needs one", {
  fit <- kernel_lm(iris[1:4], iris$Species, size = 12, ridge = 0.1)
  expected <- predict(fit, iris)
  fit$basis$cholesky <- NULL
  expect_identical(predict(fit, iris), expected)
  fit$coefficients[2, 1] <- 0
  expect_error(predict(fit, iris), "`cholesky`", class = "kernelect_error_model")
})

test_that("new rows whose kernel values overflow are named as the cause", {
  huge <- transform(mtcars, wt = 1e300)
  for (fit in list(kernel_basis(~ wt + hp, mtcars), kernel_lm(mpg ~ wt + hp, mtcars),
                   kernel_lda(factor(am) ~ wt + hp, mtcars),
                   kernel_takes(factor(am) ~ wt + hp, mtcars))) {
    expect_error(predict(fit, huge), "rows of `newdata` are too large",
                 class = "kernelect_error_not_finite")
  }
})
