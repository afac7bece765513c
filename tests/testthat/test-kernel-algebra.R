# Sums, products and multiples of kernels: everywhere what the same operations on Gram matrices
# give.

weights_of <- function(d) seq(0.5, 1.5, length.out = d)

combined_kernels <- function(d = 3) {
  rbf <- rbf_kernel(sigma = 1.3)
  list(
    sum = rbf + linear_kernel(),
    product = rbf * polynomial_kernel(degree = 2),
    multiple = 2.5 * laplace_kernel(sigma = 2),
    weighted = rbf_kernel(sigma = 1, weights = weights_of(d)) + 0.5 *
      linear_kernel(weights = rev(weights_of(d))),
    nested = (rbf + linear_kernel()) *
      (laplace_kernel(sigma = 3, weights = weights_of(d)) + 3 * polynomial_kernel(degree = 2))
  )
}

# The same by hand: matrices of the parts, put together.
naive_gram <- function(kernel, x, z = x) {
  force(z)
  w <- if (is.null(kernel$weights)) rep(1, ncol(x)) else kernel$weights
  if (is.null(kernel$parts)) return(reference_gram(x, kernel, z))
  x <- x * rep(w, each = nrow(x))
  z <- z * rep(w, each = nrow(z))
  kernel$scale * Reduce(if (kernel$type == "sum") `+` else `*`,
    lapply(kernel$parts, naive_gram, x, z))
}

test_that("Gram matrices of sums and products are those of their parts, put together", {
  x <- random_matrix(215, 3)
  z <- random_matrix(20, 3)
  for (name in names(combined_kernels())) {
    kernel <- combined_kernels()[[name]]
    K <- gram(x, kernel)
    expect_equal(K, naive_gram(kernel, x), tolerance = 1e-12, label = name)
    expect_equal(gram(x, kernel, z), naive_gram(kernel, x, z), tolerance = 1e-12, label = name)
    expect_identical(K, t(K), label = name)
    expect_identical(gram(x, kernel, threads = 2L), K, label = name)
    expect_identical(kernel_diagonal(kernel, x), diag(K), label = name)
    some <- c(1, 4, 95, 98, 215)
    expect_identical(gram_matrix(x[some, ], kernel, x, shift = core_shift(x)), K[some, ],
      label = name)
  }
})

test_that("weights of a sum come on top of those of its parts", {
  x <- random_matrix(30, 3)
  kernel <- combined_kernels()$weighted
  kernel$weights <- c(2, 0, 1)
  expect_equal(gram(x, kernel), naive_gram(kernel, x), tolerance = 1e-12)
  expect_equal(gram(x, kernel), gram(x * rep(c(2, 0, 1), each = 30), combined_kernels()$weighted),
    tolerance = 1e-12)
})

test_that("every part works out its own sigma, after the weights around it", {
  x <- random_matrix(40, 2)
  kernel <- rbf_kernel() + laplace_kernel("median", weights = c(1, 3))
  kernel$weights <- c(2, 1)
  found <- resolve_kernel(kernel, x)
  inner <- x * rep(c(2, 1), each = 40)
  expect_equal(found$parts[[1]]$sigma, resolve_kernel(rbf_kernel(), inner)$sigma)
  expect_equal(found$parts[[2]]$sigma,
    resolve_kernel(laplace_kernel("median", weights = c(1, 3)), inner)$sigma)
  expect_true(has_open_sigma(kernel))
  expect_false(has_open_sigma(found))
  twice <- resolve_kernel(scaled_sigma(kernel, 2), x)
  expect_equal(twice$parts[[2]]$sigma, 2 * found$parts[[2]]$sigma)
  expect_equal(scaled_sigma(found, 2)$parts[[1]]$gamma, found$parts[[1]]$gamma / 4)
})

test_that("a kernel goes by its name", {
  x <- iris_matrix()
  for (name in c("rbf", "laplace", "linear", "polynomial", "sigmoid", "spline")) {
    expect_identical(as_kernel(name), get(paste0(name, "_kernel"))(), label = name)
    expect_identical(gram(x, name), gram(x, as_kernel(name)), label = name)
  }
  expect_identical(rbf_kernel() + "linear", rbf_kernel() + linear_kernel())
  fit <- kernel_lm(x, iris$Species, "laplace")
  expect_identical(fit$basis$kernel$type, "laplace")
  expect_identical(names(kernel_fusion(x, iris$Species, kernels = c("rbf", "linear"))$weights),
    c("rbf", "linear"))
})

test_that("sums within sums are one sum, and factors multiply", {
  a <- linear_kernel()
  b <- rbf_kernel(1)
  expect_identical((a + b) + a, a + (b + a))
  expect_length((a + b + a)$parts, 3)
  expect_length((a * (b * a))$parts, 3)
  expect_identical(2 * (3 * a), 6 * a)
  expect_identical(a * 2, 2 * a)
  expect_identical((2 * a) * (3 * b), 6 * (a * b))
  expect_identical((2 * (a + b))$scale, 2)
  expect_length((2 * (a + b) + a)$parts, 2)
  expect_true(same_kernel(a + b, a + b))
  expect_false(same_kernel(a + b, b + a))
  expect_false(same_kernel(a + b, a * b))
  expect_false(same_kernel(2 * a, 3 * a))
  expect_false(same_kernel(a + rbf_kernel(1), a + rbf_kernel(2)))
})

test_that("what is no kernel is refused with a remedy", {
  k <- rbf_kernel(1)
  expect_error(k - k, "a difference of kernels is in general no kernel",
    class = "kernelect_error_kernel")
  expect_error(-k, "no kernel", class = "kernelect_error_kernel")
  expect_error(k / 2, "`(1 / 2) * k`", fixed = TRUE, class = "kernelect_error_kernel")
  expect_error(k + 1, "polynomial_kernel", class = "kernelect_error_kernel")
  expect_error(k^2, "cannot take part in `^`", fixed = TRUE, class = "kernelect_error_kernel")
  expect_error(k == k, "cannot take part", class = "kernelect_error_kernel")
  for (bad in list(-1, 0, NA_real_, Inf, 1:2)) {
    expect_error(bad * k, "by a single positive finite number", class = "kernelect_error_argument")
  }
  expect_identical(conditionCall(tryCatch(k - k, error = identity)), quote(k - k))
  expect_error(k + "rbg", "one of \"rbf\"", class = "kernelect_error_argument")
  deep <- k
  expect_error(for (i in 1:15) deep <- 2 * (deep + k) * k, "more than 20 sums and products",
    class = "kernelect_error_kernel")
})

test_that("a damaged sum is refused wherever it is used", {
  good <- rbf_kernel(1) + 2 * linear_kernel()
  spoil <- function(f) f(good)
  damaged <- list(
    function(k) within_list(k, scale = -1), function(k) within_list(k, scale = "a"),
    function(k) within_list(k, parts = list()),
    function(k) within_list(k, parts = 1), function(k) within_list(k, type = "rbf"),
    function(k) within_list(k, type = c("sum", "sum")),
    function(k) {
      k$parts[[1]]$gamma <- NA
      k
    },
    function(k) {
      k$parts[[2]]$parts[[1]]$type <- "none"
      k
    },
    function(k) {
      k$parts[[1]]$parts <- list(linear_kernel())
      k
    }
  )
  for (f in damaged) {
    expect_error(gram(iris_matrix(), f(good)), "`kernel` is damaged",
      class = "kernelect_error_argument")
  }
  bad <- good
  bad$parts[[1]]$weights <- c(1, NA)
  expect_error(gram(iris_matrix(), bad), "`weights` must be finite",
    class = "kernelect_error_not_finite")
  bad$parts[[1]]$weights <- c(1, 2)
  expect_error(gram(iris_matrix(), bad), "one value per column", class = "kernelect_error_columns")
})

test_that("print shows the formula, and a label says what is put together", {
  expect_snapshot({
    rbf_kernel(sigma = 2) + linear_kernel()
    2 * rbf_kernel() * (laplace_kernel(3) + 0.5 * polynomial_kernel(2, weights = c(a = 1, b = 2)))
    0.5 * (linear_kernel() + spline_kernel()) + function_kernel(tcrossprod)
  })
})

test_that("a sum serves every model as the fused Gram matrix does", {
  x <- scale(iris_matrix())
  y <- iris$Species
  attributes(x) <- attributes(x)[c("dim", "dimnames")]
  kernel <- rbf_kernel(sigma = 1.5) + 0.25 * linear_kernel()
  K <- gram(x, kernel)
  whole <- kernel_basis(x, kernel, "cholesky", size = 20, scale = FALSE)
  given <- kernel_basis(K = K, method = "cholesky", size = 20)
  expect_identical(whole$index, given$index)
  expect_equal(whole$path, given$path, tolerance = 1e-9)
  expect_equal(predict(whole, x[1:9, ], "residual"),
    predict(given, K[1:9, ], "residual", diag = diag(K)[1:9]), tolerance = 1e-8, ignore_attr = TRUE)
  pca <- kernel_pca(x, kernel, ncomp = 3, basis = NULL, scale = FALSE)
  H <- diag(150) - 1 / 150
  expect_equal(pca$values, eigen(H %*% K %*% H, symmetric = TRUE)$values[1:3], tolerance = 1e-9)
  lm <- kernel_lm(x, y, kernel, size = 20, ridge = 0.01, scale = FALSE)
  expect_equal(predict(lm, x, "decision"), predict(lm, type = "decision"), tolerance = 1e-9,
    ignore_attr = TRUE)
  expect_gt(mean(predict(kernel_lda(x, y, kernel), x) == y), 0.9)
  expect_gt(mean(predict(kernel_takes(x, y, kernel), x) == y), 0.9)
  fusion <- kernel_fusion(x, y, list(both = kernel, petal = kernel_on(kernel, 3:4)))
  expect_named(fusion$weights, c("both", "petal"))
  expect_gt(mean(predict(fusion, x) == y), 0.9)
  tuned <- kernel_tune(x, y, grid = list(kernel = list(kernel, "linear")), folds = 3)
  expect_lt(tuned$best$error, 0.2)
})

test_that("a function of the user may be a part", {
  x <- iris_matrix()
  own <- function_kernel(function(x, z) tcrossprod(x, z), weights = c(1, 2, 1, 1))
  same <- linear_kernel(weights = c(1, 2, 1, 1))
  for (make in list(function(k) rbf_kernel(1) + k, function(k) 2 * k * laplace_kernel(2),
    function(k) (k + k) * rbf_kernel(1))) {
    mine <- make(own)
    theirs <- make(same)
    mine$weights <- theirs$weights <- c(1, 1, 2, 0.5)
    expect_equal(gram(x, mine), gram(x, theirs), tolerance = 1e-12, ignore_attr = TRUE)
    expect_equal(kernel_diagonal(mine, x[1:5, ]), kernel_diagonal(theirs, x[1:5, ]),
      tolerance = 1e-12)
    a <- kernel_basis(x, mine, size = 8)
    b <- kernel_basis(x, theirs, size = 8)
    expect_identical(a$index, b$index)
    expect_equal(predict(a, x[1:4, ]), predict(b, x[1:4, ]), tolerance = 1e-8)
  }
  for (method in c("sas", "forward")) {
    expect_error(kernel_rank(x, iris$Species, rbf_kernel() + own, method), "of such parts",
      class = "kernelect_error_kernel")
  }
})

test_that("a kernel's parameter in the wrong place is sent to the kernel", {
  x <- iris_matrix()
  expect_error(kernel_lm(x, iris$Species, sigma = 2), "use `kernel = rbf_kernel(sigma = 2)`",
    fixed = TRUE, class = "kernelect_error_dots")
  expect_error(kernel_basis(x, gamma = 0.5), "rbf_kernel(gamma = 0.5)", fixed = TRUE,
    class = "kernelect_error_dots")
  expect_error(kernel_pca(x, degree = 2), "polynomial_kernel(degree = 2)", fixed = TRUE,
    class = "kernelect_error_dots")
  expect_error(kernel_lda(Species ~ ., iris, sigma = "median"), "rbf_kernel(sigma = \"median\")",
    fixed = TRUE, class = "kernelect_error_dots")
  expect_error(kernel_takes(x, iris$Species, sigma = x), "rbf_kernel(sigma)", fixed = TRUE,
    class = "kernelect_error_dots")
  expect_error(kernel_lm(x, iris$Species, Size = 2), "Did you mean `size`?", fixed = TRUE,
    class = "kernelect_error_dots")
})

# ---- gradients -----------------------------------------------------------------------------

test_that("gradients of criteria by scale factors match differences", {
  x <- random_matrix(70, 3)
  y <- factor(rep(1:2, 35))
  w <- c(1.2, 0.7, 0.9)
  for (name in names(combined_kernels())) {
    for (criterion in c("alignment", "separability", "product")) {
      problem <- criterion_problem(x, y, combined_kernels()[[name]], criterion, block = 48)
      problem$spec$constant <- if (criterion == "alignment") problem$spec$constant else 1
      at <- function(v) evaluate_criterion(problem, sqrt(v))$value
      found <- evaluate_criterion(problem, w)
      h <- 1e-5
      by_difference <- vapply(1:3, function(d) {
        step <- replace(numeric(3), d, h)
        (at(w^2 + step) - at(w^2 - step)) / (2 * h)
      }, 0)
      expect_equal(found$gradient, by_difference, tolerance = 1e-6, label = paste(name, criterion))
      kernel <- combined_kernels()[[name]]
      kernel$weights <- w
      K <- naive_gram(kernel, x)
      if (criterion == "product") {
        expect_equal(found$value, sum(K * tcrossprod(problem$u)), tolerance = 1e-10, label = name)
      }
    }
  }
})

test_that("gradients of any sum of kernel values match differences", {
  x <- random_matrix(60, 3)
  G <- crossprod(random_matrix(60, 60)) / 60
  w <- c(1.2, 0.7, 0.9)
  kernels <- c(combined_kernels(),
    list(linear = linear_kernel(), rbf = rbf_kernel(1), laplace = laplace_kernel(1),
      polynomial = polynomial_kernel(3)))
  for (name in names(kernels)) {
    kernel <- kernels[[name]]
    value <- function(v) {
      kernel$weights <- sqrt(v)
      sum(G * gram(x, kernel))
    }
    h <- 1e-5
    by_difference <- vapply(1:3, function(d) {
      step <- replace(numeric(3), d, h)
      (value(w^2 + step) - value(w^2 - step)) / (2 * h)
    }, 0)
    expect_equal(.Call(ffi_scale_gradient, x, core_kernel(kernel), w, G, 1L), by_difference,
      tolerance = 1e-6, label = name)
  }
})

test_that("scale factors of zero have a slope, on one thread as on two", {
  x <- random_matrix(230, 70)
  G <- random_matrix(230, 230) # pairs of rows may weigh differently either way
  w <- replace(rep(1, 70), c(2, 69), 0)
  part <- rbf_kernel(4)
  part$weights <- rep(c(1, 2), 35) # two blocks of columns
  for (kernel in list(rbf_kernel(3), polynomial_kernel(2), linear_kernel() + part * 0.5)) {
    slope <- .Call(ffi_scale_gradient, x, core_kernel(kernel), w, G, 1L)
    value <- function(v) {
      kernel$weights <- sqrt(v)
      sum(G * gram(x, kernel))
    }
    h <- 1e-5
    for (d in c(2, 69, 70)) { # at the bound one side is all there is
      step <- replace(numeric(70), d, h)
      start <- value(w^2)
      by_difference <- (-3 * start + 4 * value(w^2 + step) - value(w^2 + 2 * step)) / (2 * h)
      expect_equal(slope[d], by_difference, tolerance = 1e-5)
    }
    expect_identical(.Call(ffi_scale_gradient, x, core_kernel(kernel), w, G, 2L), slope)
  }
})

test_that("rankings take sums and products, and refuse what grows without bound", {
  d <- simulate_weston(60, seed = 2, type = "linear")
  x <- as.matrix(d[1:8])
  kernel <- rbf_kernel() + 0.1 * linear_kernel()
  for (method in c("sas", "scss", "r2w2", "gmkl", "bahsic", "forward")) {
    fit <- suppressWarnings(kernel_rank(x, d$y, kernel, method, max_iter = 30))
    expect_setequal(fit$ranking, 1:8)
    if (!is.null(fit$kernel)) expect_equal(fit$kernel$weights, fit$weights)
  }
  expect_error(kernel_rank(x, d$y, kernel, "sfs"), "grows without bound",
    class = "kernelect_error_kernel")
  expect_s3_class(
    suppressWarnings(kernel_rank(x, d$y, rbf_kernel() * laplace_kernel(), "sfs", max_iter = 5)),
    "kernel_rank")
  expect_error(kernel_rank(x, d$y, kernel, "rfe"), "it works with linear",
    class = "kernelect_error_kernel")
})

test_that("BAHSIC and forward selection judge sums on the columns in question", {
  x <- random_matrix(40, 4)
  y <- factor(x[, 2] + x[, 4]^2 > 1)
  kernel <- rbf_kernel(1, weights = c(1, 2, 1, 1)) + 0.5 * linear_kernel()
  target <- function(K) kernel_hsic(K, y)
  left <- 1:4
  order <- NULL
  while (length(left) > 1) {
    value <- vapply(left, function(d) {
      rest <- setdiff(left, d)
      target(naive_gram(kernel_columns(kernel, rest), x[, rest, drop = FALSE]))
    }, 0)
    order <- c(left[which.max(value)], order)
    left <- left[-which.max(value)]
  }
  expect_identical(kernel_rank(x, y, kernel, "bahsic", scale = FALSE)$ranking,
    as.integer(c(left, order)))
  one <- function(d) naive_gram(kernel_columns(kernel, d), x[, d, drop = FALSE])
  pairs <- utils::combn(4, 2)
  best <- pairs[, which.max(
    apply(pairs, 2, function(p) kernel_alignment(one(p[1]) * one(p[2]), y)))]
  expect_setequal(kernel_rank(x, y, kernel, "forward", scale = FALSE)$ranking[1:2], best)
})

# ---- the table ---------------------------------------------------------------------------------

# The table with one more entry while `code` runs.
with_kernel_type <- function(type, code) {
  known <- kernel_types()
  with_function("kernel_types", function() c(known, type), code)
}

test_that("a new kernel is one entry of the table", {
  bias_kernel <- function(bias = 1, weights = NULL) new_kernel("bias", bias = bias,
    weights = weights)
  entry <- kernel_spec(
    "bias",
    formula = function(k) sprintf("<x, z> + %s", six_digits(k$bias)),
    core = function(k) list(type = "polynomial", scale = 1, offset = k$bias, degree = 1),
    check = function(k) is_finite(k$bias) && k$bias >= 0,
    parameter = function(k) paste("bias", k$bias),
    default = bias_kernel
  )
  x <- iris_matrix()
  with_kernel_type(list(bias = entry), {
    expect_identical(as_kernel("bias"), bias_kernel())
    expect_equal(gram(x, bias_kernel(2)), tcrossprod(x) + 2, tolerance = 1e-12)
    expect_output(print(bias_kernel(2)), "<bias kernel, bias 2>\nk(x, z) = <x, z> + 2",
      fixed = TRUE)
    expect_error(gram(x, within_list(bias_kernel(), bias = -1)), "`kernel` is damaged",
      class = "kernelect_error_argument")
    fit <- kernel_lm(x, iris$Species, rbf_kernel() + 2 * bias_kernel(3))
    expect_gt(mean(predict(fit, x) == iris$Species), 0.9)
    expect_setequal(kernel_rank(x, iris$Species, "bias", "sas")$ranking, 1:4)
    expect_error(kernel_rank(x, iris$Species, "bias", "rfe"), "cannot use a bias kernel",
      class = "kernelect_error_kernel")
  })
  expect_error(as_kernel("bias"), class = "kernelect_error_argument")
})

test_that("weights of a new kernel reach the parts it is made of", {
  entry <- kernel_spec(
    "mixed",
    formula = function(k) "<x, z> + exp(-|x - z|^2 / 2)",
    core = function(k) core_kernel(linear_kernel() + rbf_kernel(1))
  )
  x <- iris_matrix(1:40)
  w <- c(1, 0.5, 2, 0)
  weighted <- sweep(x, 2, w, "*")
  with_kernel_type(list(mixed = entry), {
    expect_equal(gram(x, new_kernel("mixed", weights = w)),
      tcrossprod(weighted) + exp(-as.matrix(dist(weighted))^2 / 2),
      tolerance = 1e-12, ignore_attr = TRUE)
  })
})
