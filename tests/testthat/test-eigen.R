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

test_that("vectors of values that are rounding may be left out", {
  a <- tcrossprod(random_matrix(350, 7))
  some <- symmetric_eigen(a, least = 1e-12)
  expect_identical(dim(some$vectors), c(350L, 7L))
  expect_length(some$values, 350)
  expect_equal(some$vectors %*% (some$values[1:7] * t(some$vectors)), a)
})
