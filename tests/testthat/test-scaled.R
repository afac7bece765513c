# A stand-in for scaled numbers, and the fits that pack from it.

raw_rows <- function(n = 40, d = 5, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * d, mean = 100, sd = rep(10^(1:d - 2), each = n)), n)
  dimnames(x) <- list(paste0("row", 1:n), letters[1:d])
  x
}

stand_in <- function(x) {
  scaling <- kernelect:::fit_scaling(x, TRUE)
  list(rows = kernelect:::scaled_rows(x, scaling),
       numbers = (x - rep(scaling$center, each = nrow(x))) / rep(scaling$scale, each = nrow(x)))
}

test_that("rows to be scaled have the size, names and parts of the scaled matrix", {
  x <- raw_rows()
  s <- stand_in(x)
  expect_s3_class(s$rows, "kernelect_scaled")
  expect_identical(dim(s$rows), dim(x))
  expect_identical(dimnames(s$rows), dimnames(x))
  expect_identical(as.matrix(s$rows), s$numbers)
  expect_identical(s$rows[c(3, 1), , drop = FALSE], s$numbers[c(3, 1), , drop = FALSE])
  expect_identical(s$rows[, c("d", "a")], s$numbers[, c("d", "a")])
  expect_identical(s$rows[2:4, -1], s$numbers[2:4, -1])
  expect_identical(s$rows[, 2], s$numbers[, 2])
  expect_identical(s$rows[x[, 1] > 100, , drop = FALSE], s$numbers[x[, 1] > 100, , drop = FALSE])
})

test_that("rows without a scaling, and sparse ones, are what they were", {
  x <- raw_rows()
  expect_identical(kernelect:::scaled_rows(x, NULL), x)
  sparse <- kernelect:::as_sparse(x)
  expect_identical(kernelect:::scaled_rows(sparse, NULL), sparse)
})

test_that("the core packs them to the same bits as scaled numbers", {
  s <- stand_in(raw_rows(101, 7))
  kernels <- list(
    rbf_kernel(1.3), linear_kernel(), polynomial_kernel(2),
    rbf_kernel(2) * linear_kernel(weights = 1:7) + laplace_kernel(0.7),
    function_kernel(function(x, z) tcrossprod(x, z))
  )
  for (kernel in kernels) {
    for (threads in 1:2) {
      expect_identical(kernelect:::gram_matrix(s$rows, kernel, NULL, threads),
                       kernelect:::gram_matrix(s$numbers, kernel, NULL, threads))
    }
    some <- s$numbers[1:6, ]
    expect_identical(kernelect:::gram_matrix(some, kernel, s$rows),
                     kernelect:::gram_matrix(some, kernel, s$numbers))
    expect_identical(kernelect:::kernel_diagonal(kernel, s$rows),
                     kernelect:::kernel_diagonal(kernel, s$numbers))
  }
  expect_identical(kernelect:::core_shift(s$rows), kernelect:::core_shift(s$numbers))
  expect_identical(unname(kernelect:::column_variance(s$rows)),
                   unname(kernelect:::column_variance(s$numbers)))
})

test_that("columns times factors, and copies of rows, are those of scaled numbers", {
  x <- raw_rows()
  x[c(7, 30), ] <- x[c(2, 2), ]
  x[12, 1:4] <- x[2, 1:4]
  s <- stand_in(x)
  w <- c(2, 0, 0.3, 1, 7)
  expect_identical(kernelect:::times_columns(s$rows, w > 0, w),
                   unname(s$numbers[, w > 0] * rep(w[w > 0], each = nrow(x))))
  expect_identical(kernelect:::first_copies(s$rows), replace(1:40, c(7, 30), 2L))
})

test_that("columns are worked out a few at a time where there are many rows", {
  s <- stand_in(raw_rows(6e5, 3))
  widths <- integer()
  means <- kernelect:::for_columns(s$rows, function(part) {
    widths <<- c(widths, ncol(part))
    colMeans(part)
  })
  expect_identical(widths, rep(1L, 3))
  expect_identical(means, colMeans(s$numbers))
})

test_that("every fit on rows scaled while packed is the fit on numbers scaled before", {
  x <- raw_rows(90, 5)
  numbers <- stand_in(x)$numbers
  y <- factor(ifelse(x[, 1] + x[, 2] > 200, "up", "down"))
  v <- numbers[, 1] + numbers[, 2]^2
  same <- function(a, b, fields) {
    for (f in fields) expect_equal(a[[!!f]], b[[!!f]], tolerance = 1e-9)
  }
  same(kernel_basis(x, size = 20), kernel_basis(numbers, size = 20, scale = FALSE),
       c("index", "path", "vectors", "cholesky", "kernel"))
  same(kernel_basis(x, size = 9, center = "nearest", neighbours = 3),
       kernel_basis(numbers, size = 9, center = "nearest", neighbours = 3, scale = FALSE),
       c("index", "center_index", "center_vectors", "shift"))
  w <- rep(c(1, 2, 0.5), 30)
  same(kernel_lm(x, v, size = 15), kernel_lm(numbers, v, size = 15, scale = FALSE),
       c("coefficients", "fitted.values", "ridge"))
  basis <- kernel_basis(x, size = 12)
  same(kernel_lm(x, v, basis = basis, weights = w),
       kernel_lm(numbers, v, basis = kernel_basis(numbers, size = 12, scale = FALSE), weights = w),
       c("coefficients", "fitted.values"))
  same(kernel_lda(x, y, size = 15), kernel_lda(numbers, y, size = 15, scale = FALSE),
       c("values", "scaling"))
  same(kernel_pca(x), kernel_pca(numbers, scale = FALSE), c("values", "scores"))
  same(kernel_takes(x, y), kernel_takes(numbers, y, scale = FALSE), c("weights", "cost"))
  for (method in names(kernelect:::rank_methods)) {
    same(kernel_rank(x, y, method = method),
         kernel_rank(numbers, y, method = method, scale = FALSE), c("ranking", "score"))
  }
  same(kernel_rank(x, y, linear_kernel()), kernel_rank(numbers, y, linear_kernel(), scale = FALSE),
       c("ranking", "score"))
  same(kernel_fusion(x, v), kernel_fusion(numbers, v, scale = FALSE), c("weights", "intercept"))
  kernels <- list(rbf_kernel(2), kernel_on(linear_kernel(), c("a", "c")))
  for (basis in list(NULL, "cholesky")) {
    same(kernel_fusion(x, y, kernels, basis = basis, size = 10),
         kernel_fusion(numbers, y, kernels, basis = basis, size = 10, scale = FALSE),
         c("weights", "vectors"))
  }
})

test_that("no copy of a scaled matrix is made on the way to a basis", {
  skip_if_not(capabilities("profmem"))
  x <- matrix(rnorm(5e4 * 40, 3), 5e4)
  kernel_basis(x[1:100, ], size = 2)
  file <- tempfile()
  on.exit(unlink(file))
  before <- .Call(ffi_borrowed)[1L]
  utils::Rprofmem(file, threshold = 8 * length(x) - 1)
  basis <- kernel_basis(x, size = 2, first = 10)
  utils::Rprofmem(NULL)
  taken <- as.numeric(sub(" :.*", "", grep("^[0-9]+ :", readLines(file), value = TRUE)))
  # nothing of that size from R, and from the system the rows packed and a few numbers a row
  borrowed <- (.Call(ffi_borrowed)[1L] - before) / (8 * length(x))
  expect_length(taken, 0L)
  expect_gt(borrowed, 1)
  expect_lt(borrowed, 1.6)
})
