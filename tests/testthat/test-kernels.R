test_that("sigma, gamma and width say the same", {
  by_sigma <- rbf_kernel(sigma = 3)
  by_gamma <- rbf_kernel(gamma = 1 / 18)
  by_width <- rbf_kernel(width = 18)
  fields <- c("sigma", "gamma", "width")
  expect_equal(by_gamma[fields], by_sigma[fields], tolerance = 1e-15)
  expect_equal(by_width[fields], by_sigma[fields], tolerance = 1e-15)
  expect_identical(by_gamma$gamma, 1 / 18)
  expect_identical(by_width$width, 18)
  expect_identical(rbf_kernel(sigma = NULL, gamma = 2), rbf_kernel(gamma = 2))
})

test_that("kernels print their formula with its numbers", {
  expect_snapshot({
    rbf_kernel()
    rbf_kernel(sigma = 2)
    rbf_kernel("median", weights = c(a = 1, b = 0.5))
    laplace_kernel()
    laplace_kernel(sigma = 0.25, weights = 1:7)
    linear_kernel()
    polynomial_kernel(degree = 2, scale = 0.5, offset = 0)
    sigmoid_kernel(scale = 0.1, offset = -1)
    spline_kernel()
    function_kernel(tcrossprod)
  })
  expect_invisible(print(linear_kernel()))
})

test_that("mean and median widths are those of the weighted training rows", {
  x <- random_matrix(40, 3) + 5
  w <- c(1, 0, 2.5)
  resolved <- function(sigma, weights = NULL) {
    resolve_kernel(rbf_kernel(sigma, weights = weights), x)$sigma
  }
  expect_equal(resolved("mean"), reference_sigma_mean(x), tolerance = 1e-13)
  expect_equal(resolved("median"), reference_sigma_median(x), tolerance = 1e-13)
  expect_equal(resolved("mean", w), reference_sigma_mean(x, w), tolerance = 1e-13)
  expect_equal(resolved("median", w), reference_sigma_median(x, w), tolerance = 1e-13)
  laplace <- resolve_kernel(laplace_kernel("median", weights = w), x)
  expect_equal(laplace$sigma, reference_sigma_median(x, w), tolerance = 1e-13)
})

test_that("the median of many rows is that of 1000 evenly spaced ones", {
  x <- random_matrix(2500, 2)
  rows <- round(seq(1, 2500, length.out = 1000))
  expect_equal(
    resolve_kernel(rbf_kernel("median"), x)$sigma,
    stats::median(stats::dist(x[rows, ])),
    tolerance = 1e-13
  )
  expect_identical(resolve_kernel(rbf_kernel("median"), x), resolve_kernel(rbf_kernel("median"), x))
})

test_that("a factor scales a width that is not yet known", {
  x <- random_matrix(20, 3)
  half <- scaled_sigma(rbf_kernel(), 0.5)
  expect_equal(resolve_kernel(half, x)$sigma, reference_sigma_mean(x) / 2, tolerance = 1e-13)
  expect_equal(scaled_sigma(rbf_kernel(sigma = 3), 2)$sigma, 6)
  expect_output(print(half), "0.5 x \"mean\"", fixed = TRUE)
})

test_that("named weights find their columns", {
  x <- iris_matrix()
  w <- c(Petal.Width = 4, Petal.Length = 3, Sepal.Width = 2, Sepal.Length = 1)
  expect_identical(gram(x, linear_kernel(weights = w)), gram(x, linear_kernel(weights = 1:4)))
  expect_identical(
    gram(x, linear_kernel(weights = c(w, other = 9))),
    gram(x, linear_kernel(weights = w))
  )
  expect_identical(
    gram(unname(x), linear_kernel(weights = unname(rev(w)))),
    unname(gram(x, linear_kernel(weights = w)))
  )
})

test_that("kernlab kernels become ours with the same values", {
  skip_if_not_installed("kernlab")
  x <- abs(random_matrix(12, 3))
  z <- abs(random_matrix(7, 3, seed = 2))
  kernels <- list(
    kernlab::rbfdot(sigma = 0.3), kernlab::laplacedot(sigma = 0.7), kernlab::vanilladot(),
    kernlab::polydot(degree = 3, scale = 0.5, offset = 2),
    kernlab::tanhdot(scale = 0.2, offset = 0.1),
    kernlab::splinedot()
  )
  for (theirs in kernels) {
    expected <- matrix(0, nrow(x), nrow(z))
    for (i in seq_len(nrow(x))) for (j in seq_len(nrow(z))) expected[i, j] <- theirs(x[i, ], z[j, ])
    # kernlab rounds the squared distance of a Laplace kernel to nine decimals
    tolerance <- if (inherits(theirs, "laplacekernel")) 1e-8 else 1e-12
    expect_equal(gram(x, theirs, z), expected, tolerance = tolerance, label = class(theirs))
    expect_s3_class(as_kernel(theirs), "kernelect_kernel")
  }
  for (theirs in list(kernlab::besseldot(), kernlab::anovadot(sigma = 0.5, degree = 2))) {
    expect_equal(gram(x, theirs, z), unclass(kernlab::kernelMatrix(theirs, x, z)),
      ignore_attr = TRUE)
  }
  fit <- kernel_lm(x, seq_len(nrow(x)), kernlab::anovadot(sigma = 0.5))
  expect_equal(predict(fit, x), fitted(fit), tolerance = 1e-8)
})

test_that("a kernel survives a file", {
  file <- tempfile()
  kernel <- rbf_kernel(2, weights = c(1, 2))
  saveRDS(kernel, file)
  expect_identical(as_kernel(readRDS(file)), kernel)
})

test_that("wrong parameters are named", {
  expect_snapshot(error = TRUE, {
    rbf_kernel(sigma = 0)
    rbf_kernel(sigma = -1)
    rbf_kernel(sigma = NA)
    rbf_kernel(sigma = Inf)
    rbf_kernel(sigma = "men")
    rbf_kernel(sigma = c(1, 2))
    rbf_kernel(sigma = NULL)
    rbf_kernel(gamma = 0)
    rbf_kernel(width = "a")
    rbf_kernel(gamma = 1e-320)
    rbf_kernel(sigma = 1, gamma = 2)
    rbf_kernel(gamma = 1, width = 2)
    laplace_kernel(sigma = 0)
    polynomial_kernel(degree = 1.5)
    polynomial_kernel(degree = 0)
    polynomial_kernel(scale = 0)
    sigmoid_kernel(offset = NA)
    function_kernel("f")
    linear_kernel(weights = "a")
    linear_kernel(weights = c(1, NA))
    linear_kernel(weights = c(a = 1, a = 2))
    as_kernel("rbg")
    as_kernel(tcrossprod)
  })
})

test_that("a damaged kernel is refused", {
  kernel <- rbf_kernel(2)
  damaged <- list(
    replace(unclass(kernel), "type", "cubic"), replace(unclass(kernel), "gamma", -1),
    replace(unclass(kernel), "sigma", list(NULL)), list(), list(type = 1),
    list(type = "polynomial", degree = 2.5, scale = 1, offset = 0), list(type = "function", f = 1),
    c(unclass(rbf_kernel("mean")), factor = -1), c(unclass(rbf_kernel("mean")), factor = NA)
  )
  for (fields in damaged) {
    expect_error(as_kernel(structure(fields, class = "kernelect_kernel")), "damaged",
                 class = "kernelect_error_argument")
  }
})

test_that("a width that the data do not give is an error", {
  expect_snapshot(error = TRUE, {
    gram(matrix(1, 3, 2))
    gram(matrix(c(1, 1, 1, 1, 5), 5, 2), rbf_kernel("median"))
    gram(matrix(c(1, 2), 2, 2) * 1e200)
    gram(matrix(1:3, 1), rbf_kernel("median"))
    gram(iris_matrix(), linear_kernel(weights = 1:3))
    gram(iris_matrix(), linear_kernel(weights = c(Sepal.Length = 1, b = 2)))
  })
})

test_that("parameters of the wrong length or kind are refused, at their limits accepted", {
  argument <- "kernelect_error_argument"
  expect_error(rbf_kernel(c("mean", "median")),
    "`sigma` must be .* not a character vector of length 2", class = argument)
  expect_error(laplace_kernel(NA_character_), "`sigma`", class = argument)
  expect_error(linear_kernel(weights = numeric()), "`weights` must be", class = argument)
  expect_error(linear_kernel(weights = c(1, NA, Inf)), "2 are not",
    class = "kernelect_error_not_finite")
  expect_error(rbf_kernel(sigma = 1e-200),
    "`sigma` must be neither extremely small nor extremely large", class = argument)
  expect_error(rbf_kernel(width = 1e-320), "`width` must be neither", class = argument)
  expect_identical(as_kernel(polynomial_kernel(1000))$degree, 1000)
  expect_identical(as_kernel(polynomial_kernel(1))$degree, 1)
  expect_error(polynomial_kernel(1001), "at most 1000", class = argument)
})

test_that("every field of a kernel is looked at before it is used", {
  damaged <- function(kernel, ...) {
    fields <- list(...)
    for (field in names(fields)) kernel[field] <- fields[field]
    expect_error(as_kernel(kernel), "`kernel` is damaged", class = "kernelect_error_argument",
                 info = paste(kernel$type[1], names(fields), utils::capture.output(dput(fields))))
  }
  for (bad in list(NA, Inf, "a", c(1, 2), NULL)) {
    damaged(rbf_kernel(2), sigma = bad)
    damaged(rbf_kernel(2), gamma = bad)
    damaged(laplace_kernel(2), sigma = bad)
    damaged(polynomial_kernel(), degree = bad)
    damaged(polynomial_kernel(), scale = bad)
    damaged(polynomial_kernel(), offset = bad)
    damaged(sigmoid_kernel(), scale = bad)
    damaged(sigmoid_kernel(), offset = bad)
    if (!is.null(bad)) damaged(rbf_kernel(), factor = bad)
  }
  for (bad in list(0, -1)) {
    damaged(rbf_kernel(2), sigma = bad)
    damaged(rbf_kernel(2), gamma = bad)
    damaged(laplace_kernel(2), sigma = bad)
    damaged(polynomial_kernel(), degree = bad)
    damaged(rbf_kernel(), factor = bad)
  }
  damaged(polynomial_kernel(), degree = 1001)
  damaged(linear_kernel(), type = c("linear", "linear"))
  damaged(linear_kernel(), type = character())
  expect_error(as_kernel(structure(1, class = "kernelect_kernel")), "damaged",
    class = "kernelect_error_argument")
})

test_that("factors of an unknown width multiply", {
  x <- random_matrix(20, 3)
  eighth <- scaled_sigma(scaled_sigma(laplace_kernel("median"), 0.5), 0.25)
  expect_equal(resolve_kernel(eighth, x)$sigma, stats::median(stats::dist(x)) / 8,
    tolerance = 1e-13)
})

test_that("the median of two rows is their distance", {
  expect_equal(resolve_kernel(rbf_kernel("median"), rbind(c(0, 0), c(3, 4)))$sigma, 5)
  # n = 2: each row is half the distance away from the centroid
  expect_equal(resolve_kernel(rbf_kernel("mean"), rbind(c(0, 0), c(3, 4)))$sigma, 2.5)
  expect_error(resolve_kernel(rbf_kernel("mean"), rbind(c(1, 2))), "identical",
    class = "kernelect_error_data")
})

test_that("named weights go by position where the columns have no names", {
  x <- unname(iris_matrix(1:9))
  named <- c(a = 1, b = 2, c = 3, d = 4)
  expect_identical(gram(x, linear_kernel(weights = named)), gram(x, linear_kernel(weights = 1:4)))
})

test_that("five weights are printed, and of more how many there are", {
  expect_output(print(linear_kernel(weights = 1:5)), "weights: 1, 2, 3, 4, 5$")
  expect_output(print(linear_kernel(weights = 1:6)), "weights: 1, 2, 3, 4, 5, ... (6)",
    fixed = TRUE)
})

test_that("evenly spaced rows are whole numbers where integers end", {
  expect_identical(evenly_spaced(9, 3), c(1L, 5L, 9L))
  expect_identical(evenly_spaced(2^31 + 1, 3), c(1, 2^30 + 1, 2^31 + 1))
})

test_that("a kernel without a width is not given one", {
  expect_error(with_sigma(linear_kernel(), 2), "`sigma`: a linear kernel has no `sigma`",
    class = "kernelect_error_kernel")
  expect_identical(with_sigma(laplace_kernel(1), 2), laplace_kernel(2))
})

test_that("a width that waits for the data is printed with its factor", {
  expect_output(print(scaled_sigma(rbf_kernel(), 0.5)), "sigma = 0.5 x \"mean\" of the data")
})

test_that("kernlab's kernel of strings is sent to its matrix", {
  skip_if_not_installed("kernlab")
  expect_error(as_kernel(kernlab::stringdot()), "Give its `kernlab::kernelMatrix()` as `K`",
    fixed = TRUE, class = "kernelect_error_argument")
})
