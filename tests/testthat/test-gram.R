all_kernels <- function(weights = NULL) {
  list(
    linear_kernel(weights),
    rbf_kernel(1.5, weights = weights),
    laplace_kernel(0.8, weights = weights),
    polynomial_kernel(3, 0.5, 1, weights = weights),
    polynomial_kernel(6, 0.1, -0.2, weights = weights),
    sigmoid_kernel(0.2, 0.1, weights = weights),
    spline_kernel(weights = weights)
  )
}

test_that("every kernel agrees with its formula", {
  # sizes on both sides of panels (4), register blocks (12) and partial sums (256 columns)
  for (size in list(c(1, 1), c(2, 5), c(5, 3), c(13, 1), c(12, 8), c(30, 7), c(9, 300))) {
    x <- random_matrix(size[1], size[2]) / sqrt(size[2])
    z <- random_matrix(size[1] + 3, size[2], seed = 2) / sqrt(size[2])
    for (kernel in c(all_kernels(), all_kernels(seq(0, 2, length.out = size[2])))) {
      label <- paste(kernel$type, paste(size, collapse = " x "))
      expect_equal(gram(x, kernel), reference_gram(x, kernel), tolerance = 1e-12, label = label)
      expect_equal(gram(x, kernel, z), reference_gram(x, kernel, z), tolerance = 1e-12,
                   label = label)
    }
  }
})

test_that("entries do not depend on the tile they fall in", {
  x <- random_matrix(215, 3) # two full tiles and a bit
  some <- c(1, 4, 95, 96, 97, 98, 191, 193, 215)
  for (kernel in all_kernels()) {
    K <- gram(x, kernel)
    expect_equal(K[some, some], reference_gram(x[some, ], kernel), tolerance = 1e-12,
                 label = kernel$type)
    expect_identical(K, t(K), label = kernel$type)
    # the same shift: a subset has another centroid, and with it other rounding
    expect_identical(
      gram_matrix(x[some, ], kernel, x, shift = core_shift(x)), K[some, ],
      label = kernel$type
    )
  }
})

test_that("the cross-Gram matrix of a set with itself is its Gram matrix", {
  x <- random_matrix(250, 6)
  for (kernel in all_kernels()) {
    expect_identical(gram(x, kernel, x), gram(x, kernel), label = kernel$type)
  }
})

test_that("threads do not change a bit", {
  x <- random_matrix(733, 11)
  z <- random_matrix(301, 11, seed = 2)
  for (kernel in all_kernels()) {
    expect_identical(gram(x, kernel, threads = 2), gram(x, kernel), label = kernel$type)
    expect_identical(gram(x, kernel, z, threads = 2), gram(x, kernel, z), label = kernel$type)
  }
  old <- options(kernelect.threads = 2)
  on.exit(options(old))
  expect_identical(gram(x), gram(x, threads = 1))
})

test_that("identical rows give exactly one, wherever they are", {
  for (d in c(1, 4, 20, 300)) {
    x <- random_matrix(490, d, seed = d) * 10 + 100
    copies <- c(1, 6, 239, 250, 489)
    x[copies, ] <- rep(x[1, ], each = length(copies))
    for (kernel in list(rbf_kernel(0.3), rbf_kernel(), laplace_kernel(1e-3), laplace_kernel())) {
      K <- gram(x, kernel)
      expect_true(all(diag(K) == 1), label = paste(kernel$type, d))
      expect_true(all(K[copies, copies] == 1), label = paste(kernel$type, d))
      expect_true(all(gram(x, kernel, x[copies, , drop = FALSE])[copies, ] == 1),
                  label = paste(kernel$type, d))
      expect_true(all(K <= 1), label = paste(kernel$type, d))
    }
  }
})

test_that("a common offset of a million costs no digits", {
  for (d in c(1, 5, 40)) {
    x <- random_matrix(30, d, seed = d)
    x[2, ] <- x[1, ] + 1e-5 * x[3, ]
    for (offset in c(0, 1e6, -1e6)) {
      y <- x + offset # rounding of the sum is part of the data
      for (sigma in c(0.05, 1, 30)) {
        for (kernel in list(rbf_kernel(sigma), laplace_kernel(sigma))) {
          error <- relative_error(gram(y, kernel), reference_gram(y, kernel))
          expect_lt(error, 1e-12, label = paste(kernel$type, d, offset, sigma))
        }
      }
    }
  }
})

test_that("narrow kernels and near-duplicates keep twelve digits", {
  for (d in c(1, 20, 600)) {
    x <- random_matrix(24, d, seed = d)
    steps <- 10^-(1:12)
    for (i in seq_along(steps)) x[i + 1, ] <- x[1, ] + steps[i] * x[24, ]
    longest <- max(rowSums(x^2))
    for (exponent in c(1, 100, 240, 260, 1e3, 1e6)) { # gamma |x|^2
      gamma <- exponent / longest
      rbf <- rbf_kernel(gamma = gamma)
      laplace <- laplace_kernel(1 / sqrt(gamma))
      expect_lt(relative_error(gram(x, rbf), reference_gram(x, rbf)), 1e-12,
                label = paste("rbf", d, exponent))
      expect_lt(relative_error(gram(x, laplace), reference_gram(x, laplace)), 1e-12,
                label = paste("laplace", d, exponent))
    }
  }
})

test_that("many columns of equal size do not pile up rounding", {
  signs <- with_seed(1, matrix(sample(c(-0.1, 0.1), 4 * 8000, replace = TRUE), 4))
  kernel <- rbf_kernel(gamma = 2.5)
  expect_lt(relative_error(gram(signs, kernel), reference_gram(signs, kernel)), 1e-12)
})

test_that("kernlab has the same matrices", {
  skip_if_not_installed("kernlab")
  x <- scale(iris_matrix())
  expect_equal(
    unname(gram(x, rbf_kernel(gamma = 0.4))),
    kernlab::kernelMatrix(kernlab::rbfdot(0.4), unname(x))@.Data,
    tolerance = 1e-12
  )
})

test_that("50,000 rows against 20 work", {
  x <- random_matrix(50000, 2)
  z <- x[c(1:19, 50000), ]
  K <- gram(x, rbf_kernel(1), z)
  expect_identical(dim(K), c(50000L, 20L))
  expect_identical(K[cbind(c(1:19, 50000), 1:20)], rep(1, 20))
  some <- c(1, 777, 25001, 49999)
  expect_equal(K[some, ], reference_gram(x[some, ], rbf_kernel(1), z), tolerance = 1e-12)
})

test_that("nothing as large as the result is made beside it", {
  x <- random_matrix(1500, 40)
  rownames(x) <- seq_len(1500)
  kernel <- rbf_kernel(3)
  gc(reset = TRUE)
  before <- sum(gc()[, 6])
  K <- gram(x, kernel)
  size <- as.numeric(utils::object.size(K)) / 2^20
  expect_lt(sum(gc()[, 6]) - before, 1.2 * size)
  gc(reset = TRUE)
  before <- sum(gc()[, 6])
  kernel_separability(K, rep(1:2, 750) == 1)
  expect_lt(sum(gc()[, 6]) - before, 0.5 * size)
})

test_that("row names are kept", {
  x <- iris_matrix(1:5)
  rownames(x) <- letters[1:5]
  expect_identical(dimnames(gram(x)), list(letters[1:5], letters[1:5]))
  expect_identical(dimnames(gram(x, z = `rownames<-`(x, NULL))), list(letters[1:5], NULL))
  expect_null(dimnames(gram(`rownames<-`(x, NULL))))
  expect_identical(rownames(gram(mtcars[1:3, ])), rownames(mtcars)[1:3])
  expect_null(dimnames(gram(iris[1:4])))
})

test_that("columns are matched by name", {
  x <- iris_matrix()
  expect_identical(gram(x, z = x[1:9, 4:1]), gram(x, z = x[1:9, ]))
  expect_identical(gram(x, z = data.frame(other = "a", x[1:9, 4:1])), gram(x, z = x[1:9, ]))
})

test_that("matrices, integer matrices and data frames are one", {
  counts <- matrix(c(1:11, 7L), 4, dimnames = list(NULL, c("a", "b", "c")))
  expected <- gram(counts + 0, linear_kernel())
  expect_identical(gram(counts, linear_kernel()), expected)
  expect_identical(gram(as.data.frame(counts), linear_kernel()), expected)
  expect_identical(gram(counts > 5, linear_kernel()), gram((counts > 5) + 0, linear_kernel()))
  expect_identical(gram(as.table(counts), linear_kernel()),
                   gram(`rownames<-`(counts, LETTERS[1:4]), linear_kernel()))
})

test_that("a function kernel gets weighted matrices and its result is checked", {
  x <- iris_matrix(1:6)
  kernel <- function_kernel(function(x, z) 1 + tcrossprod(x, z), weights = 1:4)
  expect_equal(gram(x, kernel), gram(x, polynomial_kernel(1, weights = 1:4)), tolerance = 1e-14)
  expect_identical(gram(x, kernel), t(gram(x, kernel)))
  expect_identical(dim(gram(x, kernel, x[1:2, ])), c(6L, 2L))
  bad <- list(
    function(x, z) 1, function(x, z) t(tcrossprod(x, z)[1, ]),
    function(x, z) matrix("a", nrow(x), nrow(z)), function(x, z) NULL,
    function(x, z) outer(seq_len(nrow(x)), seq_len(nrow(z)), "-")
  )
  for (f in bad) {
    expect_error(
      gram(x, function_kernel(f)), "`f` of `function_kernel\\(\\)` must",
      class = "kernelect_error_kernel"
    )
  }
  expect_error(
    gram(x, function_kernel(function(x, z) tcrossprod(x, z) * NA)), "`f` of",
    class = "kernelect_error_not_finite"
  )
})

test_that("bad input is refused with the argument's name", {
  x <- iris_matrix(1:5)
  hole <- replace(x, 7, NA)
  expect_snapshot(error = TRUE, {
    gram(NULL)
    gram(1:3)
    gram("a")
    gram(matrix("a", 2, 2))
    gram(list(1, 2))
    gram(x[0, ])
    gram(x[, 0])
    gram(iris[0, ])
    gram(iris[, 0])
    gram(hole)
    gram(unname(hole))
    gram(replace(x, 2, NaN))
    gram(replace(x, c(2, 9), c(NaN, -Inf)))
    gram(x, z = hole)
    gram(x, z = replace(x, 1, Inf))
    gram(x, z = x[, 1:3])
    gram(x, z = unname(x))
    gram(unname(x), z = x)
    gram(unname(x), z = unname(x)[, 1:2])
    gram(unname(x), z = iris)
    gram(x, z = cbind(x, x))
    gram(x, z = "a")
    gram(x, kernel = 3)
    gram(x, threads = 0)
    gram(x, threads = NA)
    gram(x * 1e200, linear_kernel())
    gram(x * 1e110, polynomial_kernel())
    gram(x * 1e100, spline_kernel())
    gram(cbind(a = 1:2, a = 3:4))
  })
  sparse <- asS4(structure(1, class = "dgCMatrix")) # what there is to see of one
  expect_error(gram(sparse), "as.matrix", class = "kernelect_error_argument")
})

test_that("an error within a kernel function is told as one of ours", {
  f <- function(x, z) stop("no such thing")
  expect_error(gram(random_matrix(4, 2), function_kernel(f)), "`f` .*: no such thing",
    class = "kernelect_error_kernel")
})

test_that("the diagonal alone is that of the Gram matrix", {
  x <- random_matrix(70, 3)
  for (kernel in c(all_kernels(), all_kernels(c(0.5, 2, 1)),
    list(function_kernel(function(x, z) (2 + tcrossprod(x, z))^2)))) {
    expect_equal(kernel_diagonal(kernel, x), diag(gram(x, kernel)), tolerance = 1e-12,
      label = kernel$type)
  }
})

test_that("a function kernel is asked for no more values than a prediction needs", {
  asked <- 0
  f <- function(x, z) {
    asked <<- asked + nrow(x) * nrow(z)
    (1 + tcrossprod(x, z))^2
  }
  x <- random_matrix(60, 3)
  basis <- kernel_basis(x, function_kernel(f), size = 6, tol = 0)
  for (type in c("orthonormal", "residual")) {
    asked <- 0
    predict(basis, x, type = type)
    expect_equal(asked, 60 * (6 + (type == "residual")))
  }
})

test_that("a spline kernel is refused where its bound leaves the numbers, and only there", {
  # k(x, x) = (1 + x^2 + x^3 / 3)^d for x >= 0
  own <- log(1 + 4 + 8 / 3)
  d <- floor(709 / own)
  x <- matrix(2, 2, d)
  expect_equal(log(gram(x, spline_kernel())), matrix(d * own, 2, 2), tolerance = 1e-12)
  expect_error(gram(cbind(x, 2), spline_kernel()), class = "kernelect_error_not_finite")
  # below zero: the square of the product of 1 + r^2 + 7/3 r^3
  d <- floor(709 / 2 / log(1 + 4 + 7 / 3 * 8))
  x <- matrix(-2, 2, d)
  expect_true(all(is.finite(gram(x, spline_kernel()))))
  expect_error(gram(cbind(x, -2), spline_kernel()), class = "kernelect_error_not_finite")
})

test_that("the memory of the machine is known on Linux", {
  skip_if_not(file.exists("/proc/meminfo"), "no /proc/meminfo on this system")
  total <- grep("^MemTotal", readLines("/proc/meminfo"), value = TRUE)
  expect_equal(.Call(ffi_memory_limit), 1024 * as.numeric(gsub("[^0-9]", "", total)),
    tolerance = 0.01)
})

test_that("a function kernel answers for both sets of rows, in its own unit", {
  x <- random_matrix(6, 3)
  z <- random_matrix(4, 3, seed = 2)
  w <- c(2, 0.5, -1)
  squared <- function(x, z) (1 + tcrossprod(x, z))^2
  ours <- polynomial_kernel(2, weights = w)
  expect_equal(gram(x, function_kernel(squared, weights = w), z), reference_gram(x, ours, z),
    tolerance = 1e-13)
  expect_equal(kernel_diagonal(function_kernel(squared, weights = w), x),
    diag(reference_gram(x, ours)), tolerance = 1e-13)
  wrong <- list(
    function(x, z) tcrossprod(x, z)[, -1], function(x, z) tcrossprod(x, z)[-1, ],
    function(x, z) tcrossprod(z, x),
    function(x, z) rep(1, nrow(x) * nrow(z)), function(x, z) tcrossprod(x, z) > 0
  )
  for (f in wrong) {
    expect_error(gram(x, function_kernel(f), z), "must return a numeric 6 x 4 matrix, not",
      class = "kernelect_error_kernel")
  }
  labelled <- function(x, z) matrix(1L, nrow(x), nrow(z),
    dimnames = list(letters[seq_len(nrow(x))], NULL))
  expect_identical(gram(x, function_kernel(labelled)), matrix(1, 6, 6))
  expect_identical(gram(x, function_kernel(labelled), z), matrix(1, 6, 4))
  expect_identical(gram(x, function_kernel(function(x, z) 0 * tcrossprod(x, z))), matrix(0, 6, 6))
  bent <- function(unit, gap) function(x, z) unit *
    (tcrossprod(x, z) + replace(matrix(0, nrow(x), nrow(z)), 2, gap))
  for (unit in c(1e-6, 1, 1e6)) {
    K <- bent(unit, 1e-9)(x, x)
    expect_identical(gram(x, function_kernel(bent(unit, 1e-9))), (K + t(K)) / 2)
    expect_error(gram(x, function_kernel(bent(unit, 1e-6))), "must be symmetric",
      class = "kernelect_error_kernel")
  }
})

test_that("bytes have three digits and the largest unit that fits", {
  expect_identical(format_bytes(999), "999 bytes")
  for (i in 1:6) {
    expect_identical(format_bytes(1000^i), paste(1, c("kB", "MB", "GB", "TB", "PB", "EB")[i]))
  }
  expect_identical(format_bytes(1.23456e21), "1235 EB")
  expect_identical(format_bytes(16461e6), "16.5 GB")
})

test_that("one row keeps its name, and rows of `z` are looked at", {
  expect_identical(dimnames(gram(mtcars[1, ], linear_kernel())), rep(list("Mazda RX4"), 2))
  x <- random_matrix(3, 2)
  expect_identical(gram(x, linear_kernel(), x[2, , drop = FALSE]),
    tcrossprod(x, x[2, , drop = FALSE]))
  z <- rbind(c(NaN, 1), c(NA, 2))
  expect_error(gram(x, z = z), "`z` has missing values in column 1 (1).", fixed = TRUE,
    class = "kernelect_error_missing_values")
  expect_error(gram(x, z = z[1, , drop = FALSE]), "`z` has NaN (1)", fixed = TRUE,
    class = "kernelect_error_not_finite")
})

# Differences, squared and summed.
naive_distances <- function(x) {
  Reduce(`+`, lapply(seq_len(ncol(x)), function(k) outer(x[, k], x[, k], "-")^2))
}

test_that("far outliers and distant clusters cost no digits", {
  set.seed(1)
  for (d in c(1, 3)) {
    small <- function(n, size) size * matrix(stats::rnorm(n * d), n)
    cases <- list(
      list(rbind(small(50, 1e-3), 1e8), 1e-3),
      list(rbind(small(30, 1e-4), 1e8 + small(30, 1e-4)), 1e-4),
      list(1e6 + small(100, 1), 1),
      list(rbind(1e5 + small(100, 1), 0.123), 1)
    )
    for (case in cases) {
      D <- naive_distances(case[[1]])
      expect_lt(max(abs(gram(case[[1]], rbf_kernel(case[[2]])) - exp(-D / (2 * case[[2]]^2)))),
        1e-12)
      expect_lt(max(abs(gram(case[[1]], laplace_kernel(case[[2]])) - exp(-sqrt(D) / case[[2]]))),
        1e-12)
    }
  }
})

test_that("a common offset is taken from a column only where that rounds nothing", {
  expect_identical(core_shift(cbind(1e6 + 0:9, c(1e-3, 1e6))), c(1000004.5, 0))
  expect_identical(core_shift(matrix(c(1e8, 1e8 + 1e-4))), 1e8)
  shifted <- core_shift(iris_matrix())
  x <- iris_matrix()
  for (k in which(shifted != 0)) expect_identical((x[, k] - shifted[k]) + shifted[k], x[, k])
  expect_identical(core_shift(matrix(c(1e300, 1e308))), 0) # beyond what few digits can hold
  expect_identical(core_shift(matrix(0, 0, 2)), c(0, 0))
})

test_that("no rows of z are no columns", {
  x <- iris_matrix(1:3)
  rownames(x) <- c("a", "b", "c")
  for (kernel in list(rbf_kernel(1), function_kernel(tcrossprod))) {
    none <- gram(x, kernel, x[0, ])
    expect_identical(dim(none), c(3L, 0L))
    expect_identical(rownames(none), rownames(x))
  }
})
