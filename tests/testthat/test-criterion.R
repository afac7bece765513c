rank_kernels <- function() {
  list(linear = linear_kernel(), rbf = rbf_kernel(gamma = 0.1),
    laplace = laplace_kernel(sigma = 10),
       polynomial = polynomial_kernel(degree = 3, scale = 0.1, offset = 1))
}

rank_criteria <- c("alignment", "separability", "product", "hsic")

draw_rank_data <- function(n = 101, d = 5, classes = 2) {
  set.seed(11)
  x <- matrix(rnorm(n * d), n)
  x[7, ] <- x[3, ] # a duplicated row: distance exactly zero
  y <- if (classes) factor(rep_len(seq_len(classes), n)) else x[, 1] * x[, 2] + 5
  list(x = x, y = y, w = c(0.5, 1, 2, 0, 1.3)[seq_len(d)])
}

test_that("value and gradient equal the long-hand derivative matrices", {
  for (classes in c(0, 2, 3, 7)) { # 0: numbers
    data <- draw_rank_data(classes = classes)
    for (type in names(rank_kernels())) {
      for (criterion in if (classes) rank_criteria else setdiff(rank_criteria, "separability")) {
        problem <- criterion_problem(data$x, data$y, rank_kernels()[[type]], criterion, block = 48)
        problem$spec$constant <- if (criterion == "separability") 0.7 else problem$spec$constant
        got <- evaluate_criterion(problem, data$w)
        K <- reference_rank_kernel(data$x, data$w, type, 0.1)
        want <- reference_rank_gradient(data$x, data$y, data$w, type, 0.1, criterion, 0.7)
        value <- reference_rank_criterion(K, data$y, criterion, 0.7)$value
        label <- paste(classes, type, criterion)
        expect_lte(abs(got$value - value), 1e-12 * abs(value), label = label)
        expect_lte(max(abs(got$gradient - want)), 1e-12 * max(abs(want)), label = label)
      }
    }
  }
})

test_that("gradients equal central differences, also with an offset of 1e6 on a column", {
  data <- draw_rank_data()
  shifted <- data$x
  shifted[, 2] <- shifted[, 2] + 1e6
  standardised <- apply_scaling(shifted, fit_scaling(shifted, TRUE))
  w <- c(0.5, 1, 2, 0.7, 1.3)
  for (type in names(rank_kernels())) {
    for (criterion in rank_criteria) {
      kernel <- rank_kernels()[[type]]
      # an offset moves no distance and no scatter of the linear kernel; others need scaling first
      free <- type %in% c("rbf", "laplace") ||
        (type == "linear" && criterion %in% c("separability", "hsic"))
      for (x in list(data$x, if (free) shifted else standardised)) {
        problem <- criterion_problem(x, data$y, kernel, criterion)
        got <- evaluate_criterion(problem, w)$gradient
        slope <- vapply(seq_along(w), function(d) {
          # two step lengths, Richardson: the truncation error is out of the way
          by <- function(h) {
            up <- sqrt(replace(w^2, d, w[d]^2 + h))
            down <- sqrt(replace(w^2, d, w[d]^2 - h))
            (evaluate_criterion(problem, up)$value - evaluate_criterion(problem, down)$value) / (2 *
              h)
          }
          (4 * by(5e-4) - by(1e-3)) / 3
        }, 0)
        expect_lte(max(abs(got - slope)), 1e-7 * max(abs(got)), label = paste(type, criterion))
      }
    }
  }
})

test_that("an offset of 1e6 changes no gradient of a distance kernel beyond the data's own digits",
  {
  data <- draw_rank_data()
  shifted <- data$x
  shifted[, 2] <- shifted[, 2] + 1e6
  for (type in c("rbf", "laplace")) {
    plain <- evaluate_criterion(
      criterion_problem(data$x, data$y, rank_kernels()[[type]], "alignment"), data$w)
    offset <- evaluate_criterion(
      criterion_problem(shifted, data$y, rank_kernels()[[type]], "alignment"), data$w)
    expect_equal(offset$gradient, plain$gradient, tolerance = 1e-8)
  }
})

test_that("neither blocks nor threads change the result", {
  data <- draw_rank_data(n = 333)
  evaluate <- function(block, threads) {
    evaluate_criterion(
      criterion_problem(data$x, data$y, rbf_kernel(sigma = 2), "alignment", block = block), data$w,
      threads)
  }
  expect_identical(evaluate(96, 1L), evaluate(96, 2L))
  expect_equal(evaluate(96, 1L), evaluate(1e9, 1L), tolerance = 1e-13)
  expect_equal(evaluate(1, 1L), evaluate(240, 1L), tolerance = 1e-13)
})

test_that("criteria agree with the exported functions on a Gram matrix", {
  data <- draw_rank_data(classes = 3)
  kernel <- rbf_kernel(sigma = 2, weights = data$w)
  K <- gram(data$x, kernel)
  value <- function(criterion, eps = NULL) {
    problem <- criterion_problem(data$x, data$y, kernel, criterion)
    if (!is.null(eps)) problem$spec$constant <- eps
    evaluate_criterion(problem, data$w)$value
  }
  expect_equal(value("alignment"), kernel_alignment(K, data$y), tolerance = 1e-12)
  expect_equal(value("separability", 0.3), kernel_separability(K, data$y, eps = 0.3),
    tolerance = 1e-10)
  expect_equal(value("hsic"), kernel_hsic(K, data$y), tolerance = 1e-10)
})

test_that("the learned scale factors are at least as good as those of optim()", {
  data <- draw_rank_data(n = 80)
  problem <- criterion_problem(data$x, data$y, rbf_kernel(sigma = 1), "alignment")
  control <- list(optimizer = "lbfgs", max_iter = 500, tol = 1e-10, threads = 1L,
    kernel = rbf_kernel())
  ours <- maximise(problem, rep(1, 5), control)
  theirs <- optim(rep(1, 5), function(v) evaluate_criterion(problem, sqrt(v))$value,
                  function(v) evaluate_criterion(problem, sqrt(v))$gradient, method = "L-BFGS-B",
                  lower = 0,
                  control = list(fnscale = -1, factr = 10, maxit = 1000))
  expect_gte(ours$value, theirs$value - 1e-6 * abs(theirs$value))
  expect_true(all(diff(ours$values) >= 0))
})

test_that("distances are taken from the mean wherever the columns lie", {
  data <- draw_rank_data()
  centred <- scale(data$x, scale = FALSE)
  attr(centred, "scaled:center") <- NULL
  shifted <- centred
  shifted[, 2] <- shifted[, 2] + 2^20
  for (kernel in list(rbf_kernel(2), laplace_kernel(2))) {
    expect_equal(centre_for(shifted, kernel, "alignment"), centred, tolerance = 1e-9)
    expect_equal(centre_for(centred, kernel, "alignment"), centred, tolerance = 1e-15)
  }
  # the linear kernel is free of it for scatters and HSIC only, others never
  for (criterion in c("separability", "hsic")) {
    expect_equal(centre_for(shifted, linear_kernel(), criterion), centred, tolerance = 1e-9)
    expect_identical(centre_for(shifted, polynomial_kernel(2), criterion), shifted)
  }
  expect_identical(centre_for(shifted, linear_kernel(), "alignment"), shifted)
})

test_that("an offset of 1e7 changes no score of a ranking", {
  data <- draw_rank_data()
  x <- round(data$x * 2^10) / 2^10 # whole steps, which the offset leaves exact
  for (method in c("sas", "scss", "sfs")) {
    far <- x + rep(c(1e7, 0, -1e7), length.out = ncol(x))[col(x)]
    here <- kernel_rank(x, data$y, rbf_kernel(1.5), method, scale = FALSE)
    there <- kernel_rank(far, data$y, rbf_kernel(1.5), method, scale = FALSE)
    expect_equal(there$score, here$score, tolerance = 1e-3)
  }
})
