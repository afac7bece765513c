# Whole weights and the rows they stand for.
repeated <- function(weights) rep(seq_along(weights), weights)
some_weights <- function(n) rep_len(c(1, 2, 0, 3, 1), n)

expect_same_fit <- function(a, b, new, types) {
  expect_equal(unname(a$basis$vectors), unname(b$basis$vectors), tolerance = 1e-10)
  expect_equal(a$basis$path[-2], b$basis$path[-2], tolerance = 1e-6)
  expect_equal(list(a$size, a$ridge), list(b$size, b$ridge), tolerance = 1e-10)
  expect_equal(a$error, b$error, tolerance = 1e-10)
  for (type in types) {
    expect_equal(unname(unclass(predict(a, new, type = type))),
      unname(unclass(predict(b, new, type = type))), tolerance = 1e-9)
  }
}

test_that(paste(
  "whole weights give the classifiers of repeated rows: basis, size, ridge and probabilities"
), {
  x <- iris_matrix()
  y <- iris$Species
  weights <- some_weights(150)
  rows <- repeated(weights)
  kernels <- list(rbf_kernel(), rbf_kernel("median"), laplace_kernel(), polynomial_kernel(2))
  for (basis in list("fvs", "cholesky", "kobl")) {
    for (kernel in kernels) {
      a <- kernel_lm(x, y, kernel, basis = basis, weights = weights)
      b <- kernel_lm(x[rows, ], y[rows], kernel, basis = basis)
      expect_same_fit(a, b, x, c("class", "prob", "decision"))
      expect_equal(a$loo$loss, b$loo$loss, tolerance = 1e-6)
      a <- kernel_lda(x, y, kernel, basis = basis, weights = weights)
      b <- kernel_lda(x[rows, ], y[rows], kernel, basis = basis)
      expect_same_fit(a, b, x, c("class", "prob", "scores"))
    }
  }
  a <- kernel_lm(x, y, laplace_kernel(), basis = NULL, weights = weights)
  b <- kernel_lm(x[rows, ], y[rows], laplace_kernel(), basis = NULL)
  expect_equal(predict(a, x, type = "prob"), predict(b, x, type = "prob"), tolerance = 1e-6)
})

test_that("whole weights give the regression of repeated rows, intervals and leverages included", {
  weights <- some_weights(32)
  rows <- repeated(weights)
  for (ridge in list("loo", 0, 0.1)) {
    a <- kernel_lm(mpg ~ wt + hp, mtcars, weights = weights, ridge = ridge)
    b <- kernel_lm(mpg ~ wt + hp, mtcars[rows, ], ridge = ridge)
    expect_same_fit(a, b, mtcars, "response")
    expect_equal(a$loo, b$loo, tolerance = 1e-8)
    expect_equal(c(sigma(a), df.residual(a), deviance(a)), c(sigma(b), df.residual(b), deviance(b)),
      tolerance = 1e-9)
    for (interval in c("confidence", "prediction")) {
      expect_equal(predict(a, mtcars, interval = interval), predict(b, mtcars, interval = interval),
        tolerance = 1e-6)
    }
    expect_equal(sum(hatvalues(a)), sum(hatvalues(b)), tolerance = 1e-9)
  }
})

predict_scaled <- function(fit, data) {
  x <- sweep(as.matrix(data[c("wt", "hp")]), 2, fit$basis$scaling$center)
  sweep(x, 2, fit$basis$scaling$scale, `/`)
}

test_that("weights that are no counts minimise the weighted squares", {
  weights <- seq(0.2, 2, length.out = 32)
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, weights = weights, size = 5, ridge = 0.1)
  z <- predict(fit$basis, mtcars)
  design <- cbind(1, z)
  b <- solve(crossprod(design, weights * design) + diag(c(0, rep(0.1, 5))),
    crossprod(design, weights * mtcars$mpg))
  expect_equal(unname(coef(fit)), unname(b[, 1]), tolerance = 1e-8)
  expect_equal(hatvalues(fit),
    weights * diag(design %*% solve(crossprod(design, weights * design) + diag(c(0, rep(0.1, 5))),
      t(design))), tolerance = 1e-8)
  expect_equal(fit$basis$kernel$sigma,
    sqrt(sum(colSums(weights * predict_scaled(fit, mtcars)^2) / sum(weights))), tolerance = 1e-8)
})

test_that("equal weights of one change nothing, and class weights move the boundary", {
  plain <- kernel_lm(Species ~ ., iris)
  expect_equal(coef(kernel_lm(Species ~ ., iris, weights = rep(1, 150))), coef(plain),
    tolerance = 1e-10)
  heavy <- kernel_lm(Species ~ ., iris, weights = ifelse(Species == "virginica", 20, 1))
  expect_gte(sum(predict(heavy, iris) == "virginica"), sum(predict(plain, iris) == "virginica"))
  lda <- kernel_lda(Species ~ ., iris, weights = rep(1, 150))
  expect_equal(lda$values, kernel_lda(Species ~ ., iris)$values, tolerance = 1e-10)
})

test_that("whole weights are repeated rows on a Gram matrix, around a centre, in draws", {
  x <- scale(iris_matrix())
  y <- iris$Species
  weights <- some_weights(150)
  rows <- repeated(weights)
  same <- function(a, b, rows) {
    expect_identical(rows[b$basis$index], as.integer(names(weights_of(weights))[a$basis$index]))
    expect_equal(a$basis$path[-2], b$basis$path[-2], tolerance = 1e-6)
    expect_equal(a$loo$loss, b$loo$loss, tolerance = 1e-6)
  }
  weights_of <- function(w) stats::setNames(w, seq_along(w))[w > 0]
  K <- gram(x)
  for (basis in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    for (center in c("none", "nearest")) {
      arguments <- list(basis = basis, center = center, neighbours = 4, first = 60)
      fit <- function(...) {
        set.seed(7)
        do.call(kernel_lm, c(list(...), arguments))
      }
      a <- fit(K = K, y = y, weights = weights)
      b <- fit(K = K[rows, rows], y = y[rows])
      same(a, b, rows)
      expect_equal(predict(a, K, type = "prob"), predict(b, K[, rows], type = "prob"),
        tolerance = 1e-8)
      a <- fit(x, y, rbf_kernel(2), scale = FALSE, weights = weights)
      b <- fit(x[rows, ], y[rows], rbf_kernel(2), scale = FALSE)
      same(a, b, rows)
      expect_equal(predict(a, x, type = "prob"), predict(b, x, type = "prob"), tolerance = 1e-8)
    }
  }
  a <- kernel_lda(K = K, y = y, weights = weights, center = "nearest")
  b <- kernel_lda(K = K[rows, rows], y = y[rows], center = "nearest")
  expect_equal(predict(a, K[1:9, ], type = "scores"), predict(b, K[1:9, rows], type = "scores"),
    tolerance = 1e-8)
  expect_identical(as.vector(a$na.action), which(weights == 0))
})

test_that("whole weights give the intervals of repeated rows where lengths differ", {
  weights <- some_weights(32)
  rows <- repeated(weights)
  for (more in list(list(), list(center = "nearest"))) {
    fit <- function(...) {
      do.call(kernel_lm, c(list(..., kernel = polynomial_kernel(3), size = 4, ridge = 0.1), more))
    }
    a <- fit(mpg ~ wt + hp + qsec, mtcars, weights = weights)
    b <- fit(mpg ~ wt + hp + qsec, mtcars[rows, ])
    expect_equal(a$prior, b$prior, tolerance = 1e-8)
    expect_equal(predict(a, mtcars, interval = "prediction"),
      predict(b, mtcars, interval = "prediction"), tolerance = 1e-6)
  }
  source <- row_source(function(i) mtcars[16 * i - 15:0, c("mpg", "wt", "hp", "qsec")], c(16, 16))
  c <- kernel_lm(mpg ~ wt + hp + qsec, source, kernel = polynomial_kernel(3), size = 4, ridge = 0.1,
    weights = weights)
  a <- kernel_lm(mpg ~ wt + hp + qsec, mtcars, kernel = polynomial_kernel(3), size = 4,
    ridge = 0.1, weights = weights)
  expect_equal(c$prior, a$prior, tolerance = 1e-8)
})

test_that("whole weights give the machine of repeated rows, probabilities included", {
  x <- iris_matrix() + outer(sin(1:150), 1:4) / 5
  weights <- some_weights(150)
  rows <- repeated(weights)
  kernels <- list(rbf_kernel(1), linear_kernel())
  for (y in list(iris$Species, factor(iris$Species == "virginica"))) {
    a <- kernel_fusion(x, y, kernels, adaptive = FALSE, weights = weights)
    b <- kernel_fusion(x[rows, ], y[rows], kernels, adaptive = FALSE)
    for (type in c("decision", "prob")) {
      expect_equal(predict(a, x, type = type), predict(b, x, type = type), tolerance = 1e-4)
    }
  }
})

test_that("rows that count several times stand for the centre as often", {
  x <- matrix(c(0, 1, 10))
  fit <- kernel_lm(x, c(1, 2, 4), linear_kernel(), scale = FALSE, center = "nearest",
    neighbours = 3, weights = c(1, 2.9, 1), basis = "cholesky")
  # the weighted mean is 2.63: the nearest row is 1, which counts twice; then 0
  expect_identical(fit$basis$center_index, c(2L, 2L, 1L))
})

test_that("weights that are no weights are refused by class, and rows of none go with any basis", {
  expect_error(kernel_lm(iris[1:4], iris$Species, weights = -1), "`weights`",
    class = "kernelect_error_argument")
  on_basis <- kernel_lm(iris[1:4], iris$Species, weights = rep(1:2, 75),
    basis = kernel_basis(iris[1:4], size = 5))
  expect_identical(on_basis$size <= 5, TRUE)
  K <- gram(scale(iris_matrix()))
  weights <- some_weights(150)
  basis <- kernel_basis(K = K, size = 8)
  expect_equal(
    coef(kernel_lm(K = K, y = iris$Species, basis = basis, weights = weights)),
    coef(kernel_lm(K = K[repeated(weights), ], y = iris$Species[repeated(weights)], basis = basis)),
    tolerance = 1e-8)
})

test_that("the constant does not come back as a column where rows leave no other direction", {
  x <- scale(iris_matrix(seq(1, 150, by = 3)))
  weights <- rep_len(c(1, 2, 3), 50)
  basis <- suppressMessages(
    kernel_basis(x, rbf_kernel(4), method = "cholesky", size = Inf, tol = 0, scale = FALSE))
  z <- predict(basis, x)
  for (w in list(NULL, weights)) {
    fit <- regress(z, list(matrix = matrix(sin(1:50))), 0, w)
    root <- if (is.null(w)) rep(1, 50) else w
    expect_lt(max(abs(colSums(root * fit$q))), 1e-8)
  }
})

test_that("of first rows whose fitness differs by rounding the lowest is taken", {
  x <- matrix(c(0, 100)) # far apart: the fitness of each is its weight
  first <- function(more, ...) {
    kernel_lm(x, c(1, 2), rbf_kernel(1), size = 1, scale = FALSE, weights = c(1, 1 + more),
      ridge = 1, ...)$basis$index
  }
  expect_identical(c(first(0), first(0.9e-10), first(1.1e-10)), c(1L, 1L, 2L))
  expect_identical(c(first(0.9e-10, first = 1), first(1.1e-10, first = 2)), c(1L, 2L))
})
