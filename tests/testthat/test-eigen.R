test_that("a large matrix is taken apart as by eigen(), a small one by it", {
  for (n in c(20, 300, 301, 420)) {
    x <- random_matrix(n, n)
    for (a in list(crossprod(x), x + t(x), diag(n) + tcrossprod(x[, 1:5]))) {
      mine <- symmetric_eigen(a)
      expect_equal(mine$values, eigen(a, symmetric = TRUE, only.values = TRUE)$values,
        tolerance = 1e-11)
      expect_equal(crossprod(mine$vectors), diag(n), tolerance = 1e-11)
      expect_equal(mine$vectors %*% (mine$values * t(mine$vectors)), a, tolerance = 1e-11)
    }
  }
})

test_that("nothing has the vectors of any basis", {
  mine <- symmetric_eigen(matrix(0, 301, 301))
  expect_identical(mine$values, numeric(301))
  expect_equal(crossprod(mine$vectors), diag(301))
})

test_that("vectors of values that are rounding may be left out", {
  a <- tcrossprod(random_matrix(350, 7))
  some <- symmetric_eigen(a, least = 1e-12)
  expect_identical(dim(some$vectors), c(350L, 7L))
  expect_length(some$values, 350)
  expect_equal(some$vectors %*% (some$values[1:7] * t(some$vectors)), a)
})

test_that("a residual of 1e-11 of its value, or of 1e-13 of the largest, is settled", {
  settled <- function(value, residual) ritz_pairs(list(t = diag(c(1, value)), r = matrix(residual)),
    2L)$settled
  for (value in c(0.5, 0.02, 1e-6, 0)) { # vectors of a diagonal matrix are those of the identity
    limit <- max(1e-11 * value, 1e-13)
    expect_true(settled(value, 0.9 * limit))
    expect_false(settled(value, 1.1 * limit))
  }
})

test_that("columns are made orthonormal however nearly they depend on each other", {
  a <- random_matrix(60, 3)
  for (close in c(1, 1e-6, 1e-10)) {
    block <- cbind(a, a[, 1] + close * random_matrix(60, 1, 2))
    q <- orthonormal_columns(block)
    expect_equal(crossprod(q), diag(4), tolerance = 1e-12)
    expect_equal(q %*% crossprod(q, block), block, tolerance = 1e-12)
  }
})

test_that("the ends of a spectrum are told apart beyond the eighth digit", {
  near <- diag(1 + seq(-1e-7, 1e-7, length.out = 400))
  expect_gt(diff(eigenvalue_range(near)), 1.5e-7)
})

test_that("a large matrix that is not finite is refused by class", {
  for (bad in c(Inf, NaN)) {
    expect_error(symmetric_eigen(diag(c(bad, rep(1, 300)))), "overflow",
      class = "kernelect_error_not_finite")
  }
})
