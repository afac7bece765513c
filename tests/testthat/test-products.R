test_that("products in pieces are the products", {
  a <- random_matrix(400, 390, 1)
  b <- random_matrix(390, 380, 2)
  expect_true(is_large_product(400, 390 * 380))
  expect_equal(product(a, b), a %*% b)
  expect_equal(outer_product(a, t(b)), a %*% b)
  expect_equal(outer_product(a), tcrossprod(a))
  expect_true(isSymmetric(outer_product(a), tol = 0))
  expect_identical(outer_product(a[1:2, ]), tcrossprod(a[1:2, ]))
  expect_equal(inner_product(a), crossprod(a))
  expect_identical(inner_product(a[, 1:2]), crossprod(a[, 1:2]))
  colnames(a) <- paste0("v", 1:390)
  expect_identical(dimnames(inner_product(a)), dimnames(crossprod(a)))
  expect_identical(zeros(3, 0), matrix(0, 3, 0))
  expect_identical(zeros(1100, 1000), matrix(0, 1100, 1000))
})

test_that("threads share products and triangular solutions and change no bit", {
  a <- random_matrix(400, 390, 1)
  b <- random_matrix(390, 380, 2)
  dimnames(a) <- list(paste0("r", 1:400), NULL)
  colnames(b) <- paste0("c", 1:380)
  expect_identical(product(a, b, 2L), product(a, b))
  expect_equal(product(a, b, 2L), a %*% b)
  expect_identical(inner_product(a, 2L), inner_product(a))
  r <- chol(crossprod(a) + diag(390))
  expect_true(is_large_product(380, 8 * 390^2))
  expect_identical(solve_upper(r, b, 2L), solve_upper(r, b))
  expect_equal(solve_upper(r, b), backsolve(r, b), tolerance = 1e-10)
  few <- 1:100
  expect_identical(solve_upper(r[few, few], b[few, 1:2]), backsolve(r[few, few], b[few, 1:2]))
})

test_that("products with few columns are those of R on both sides of the limit", {
  for (n in c(125, 126)) { # 125,000 products, and more
    a <- random_matrix(n, 500, 3)
    b <- random_matrix(500, 2, 4)
    expect_equal(product(a, b), a %*% b)
    expect_identical(is_large_product(n, 8 * 500 * 2), n > 125)
  }
})

test_that("pieces of one row are still matrices", {
  a <- random_matrix(2, 4100)
  expect_true(is_large_product(nrow(a), ncol(a)^2))
  expect_equal(inner_product(a), crossprod(a), tolerance = 1e-12)
})

test_that("rows are cut into pieces of 2^25 operations and chunks of a million values", {
  expect_identical(lapply(pieces(5, 2^24), as.integer), list(1:2, 3:4, 5L))
  expect_identical(lapply(pieces(4, 2^24), as.integer), list(1:2, 3:4))
  expect_identical(lapply(pieces(3, 2^30), as.integer), list(1L, 2L, 3L))
  expect_identical(lapply(pieces(3, 0), as.integer), list(1:3))
  expect_length(pieces(0, 7), 0)
  expect_length(pieces(2^25, 0.5), 1)
  expect_identical(lengths(row_chunks(2500, 1000)), c(1000L, 1000L, 500L))
  expect_identical(lengths(row_chunks(1025, 1e9)), c(512L, 512L, 1L))
  expect_identical(lengths(row_chunks(1e6, 0)), 1000000L)
  expect_identical(unlist(row_chunks(2500, 1000)), 1:2500)
})

test_that("products beyond the whole numbers are large", {
  expect_true(is_large_product(60000L, 60000L))
})
