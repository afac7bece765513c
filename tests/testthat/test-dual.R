test_that("solutions satisfy the optimality conditions for any bounds and sum", {
  for (seed in 1:12) {
    n <- 10 + 9 * seed
    K <- tcrossprod(random_matrix(n, 1 + seed, seed))
    draws <- random_matrix(n, 3, seed + 50)
    lower <- -abs(draws[, 1]) * 2
    upper <- abs(draws[, 2]) * 3
    total <- if (seed %% 2) 0 else 0.3 * sum(upper)
    fit <- solve_dual(K, draws[, 3], lower, upper, total)
    expect_identical(fit$status, "ok")
    expect_lt(reference_breach(K, draws[, 3], lower, upper, total, fit$solution), 1e-7)
    expect_equal(fit$value,
      sum(fit$solution * (K %*% fit$solution)) / 2 - sum(draws[, 3] * fit$solution))
    expect_equal(fit$gradient, drop(draws[, 3] - K %*% fit$solution))
    # no other feasible point is lower than the gap allows
    other <- solve_dual(K, draws[, 3], lower, upper, total, tol = 1e-2)
    expect_gte(other$value, fit$value - 1e-9)
    expect_lte(other$value - fit$value, other$gap + 1e-9)
  }
})

test_that("two rows have the margin of the formula", {
  fit <- svm_dual(tcrossprod(c(-1, 3)), c(-1, 1), Inf)
  expect_equal(fit$lambda, c(1, 1) / 8)
  expect_equal(fit$intercept, -1 / 2)
  expect_equal(fit$decision, c(-1, 1))
})

test_that("decision values are those of kernlab and e1071", {
  skip_if_not_installed("kernlab")
  skip_if_not_installed("e1071")
  data <- overlapping(200, 5)
  K <- gram(data$x, rbf_kernel(gamma = 0.1))
  y <- factor(data$g)
  # both keep kernel values in single precision, which a larger cost would show
  for (cost in c(0.5, 1)) {
    ours <- svm_dual(K, data$g, cost)$decision
    for (tol in c(1e-3, 1e-10)) {
      fit <- kernlab::ksvm(kernlab::as.kernelMatrix(K), y, type = "C-svc", C = cost, tol = tol)
      theirs <- drop(kernlab::predict(fit, kernlab::as.kernelMatrix(K[, kernlab::SVindex(fit)]),
        type = "decision"))
      expect_lt(max(abs(theirs - ours)), if (tol == 1e-3) 1e-3 else 1e-6)
      fit <- e1071::svm(data$x, y, scale = FALSE, kernel = "radial", gamma = 0.1, cost = cost,
        tolerance = tol)
      theirs <- fit$decision.values[, 1] * if (fit$labels[1] == 2) 1 else -1
      expect_lt(max(abs(theirs - ours)), if (tol == 1e-3) 2e-3 else 1e-6)
    }
  }
})

test_that("columns made as needed give what the matrix gives, whatever is kept of them", {
  data <- overlapping(120, 4)
  x <- data$x
  one <- rbf_kernel(1.2)
  two <- linear_kernel(weights = 1:4)
  K <- 0.7 * gram(x, one) + 2 * gram(x, two) + 0.1 * diag(120)
  rows <- row_sum(list(kernel_source(x, one), kernel_source(x, two)), c(0.7, 2), 0.1)
  wanted <- svm_dual(K, data$g, 2)
  for (cache in c(8, 8 * 120 * 30, 1e8)) {
    for (size in c(2, 30, 1000)) { # a set has 16 variables or more, and no fewer columns are kept
      fit <- svm_dual(rows, data$g, 2, cache = cache, size = size, tol = 1e-9)
      expect_identical(fit$status, "ok")
      expect_equal(fit$value, wanted$value, tolerance = 1e-8)
      expect_equal(fit$decision, wanted$decision, tolerance = 1e-4)
      expect_lte(fit$gap, 1e-8 * fit$scale)
      q <- data$g
      expect_lt(reference_breach(K, q, pmin(0, 2 * q), pmax(0, 2 * q), 0, fit$solution), 1e-3)
    }
  }
  fine <- svm_dual(rows, data$g, 2, size = 60, tol = 1e-12)
  expect_equal(fine$decision, wanted$decision, tolerance = 1e-6)
  warm <- svm_dual(rows, data$g, 2, start = wanted$lambda, tol = 1e-9)
  expect_equal(warm$faces, 0)
})

test_that("a warm start ends at the same place sooner", {
  data <- overlapping(300, 6)
  K <- gram(data$x, rbf_kernel(1.5))
  cold <- svm_dual(K, data$g, 10, tol = 1e-7)
  warm <- svm_dual(1.01 * K, data$g, 10, start = cold$lambda, tol = 1e-7)
  again <- svm_dual(1.01 * K, data$g, 10, tol = 1e-7)
  expect_equal(warm$value, again$value, tolerance = 1e-6)
  expect_lt(warm$iterations, again$iterations / 2)
  # on the solution itself there is at most one round of pairs to do
  expect_lte(svm_dual(K, data$g, 10, start = cold$lambda, tol = 1e-7)$iterations, 300)
  # any start will do: it is made feasible first
  odd <- svm_dual(K, data$g, 10, start = random_matrix(300, 1)[, 1] * 100)
  expect_equal(odd$value, svm_dual(K, data$g, 10)$value, tolerance = 1e-10)
})

test_that("a hard margin that cannot be had is infeasible, and ends", {
  for (d in c(1, 3, 10, 40)) {
    data <- overlapping(200, d)
    expect_identical(svm_dual(tcrossprod(data$x), data$g, Inf)$status, "infeasible")
  }
  x <- random_matrix(20, 2)[rep(1:20, 2), ] # the same rows in both classes
  fit <- svm_dual(gram(x, rbf_kernel(1)), rep(c(-1, 1), each = 20), Inf)
  expect_identical(fit$status, "infeasible")
})

test_that("a hard margin that can be had is found, be it narrow", {
  for (gap in c(1, 1e-2, 1e-4)) {
    x <- random_matrix(80, 2)
    g <- ifelse(x[, 1] > 0, 1, -1)
    x[, 1] <- x[, 1] + gap * g
    fit <- svm_dual(tcrossprod(x), g, Inf)
    expect_identical(fit$status, "ok")
    expect_gt(min(g * fit$decision), 1 - 1e-6)
    expect_equal(sum(fit$lambda), -2 * fit$value, tolerance = 1e-6) # |w|^2 both ways
  }
})

test_that("the enclosing sphere touches its farthest rows and holds the others", {
  x <- random_matrix(60, 3)
  K <- tcrossprod(x)
  sphere <- enclosing_sphere(K)
  centre <- colSums(x * sphere$solution)
  distance <- rowSums(sweep(x, 2, centre)^2)
  expect_equal(max(distance), sphere$radius2, tolerance = 1e-8)
  expect_equal(distance[sphere$solution > 1e-9], rep(sphere$radius2, sum(sphere$solution > 1e-9)),
    tolerance = 1e-7)
  expect_equal(enclosing_sphere(tcrossprod(c(2, 5)))$radius2, 2.25)
  expect_equal(enclosing_sphere(matrix(4))$radius2, 0)
})

test_that("rows that overflow are no solution where the matrix is not held either", {
  x <- random_matrix(40, 2)
  x[1:2, ] <- c(1e200, 3e200)
  source <- kernel_source(x, rbf_kernel(sigma = 1))
  expect_error(svm_dual(row_sum(list(source)), rep(c(-1, 1), 20)),
    class = "kernelect_error_not_finite")
  expect_identical(.Call(ffi_source_form, source, diag(40)[, 1:2], 1L), NaN)
})

test_that("no solution within the bounds, and no numbers, are told apart", {
  expect_identical(solve_dual(diag(3), rep(1, 3), 0, 1, total = 4)$status, "infeasible")
  expect_error(solve_dual(matrix(NaN, 3, 3), rep(1, 3), 0, 1, total = 1),
    class = "kernelect_error_not_finite")
  data <- overlapping(100, 3)
  stopped <- svm_dual(tcrossprod(data$x), data$g, 100, max_iter = 1)
  expect_identical(stopped$status, "not_converged")
  expect_gt(stopped$gap, 0)
})

test_that("cost may differ by row", {
  data <- overlapping(60, 2)
  cost <- ifelse(data$g > 0, 3, 0.5)
  fit <- svm_dual(tcrossprod(data$x), data$g, cost)
  expect_lte(max(fit$lambda - cost), 0)
  expect_lt(reference_breach(tcrossprod(data$x), data$g, ifelse(data$g > 0, 0, -cost),
    ifelse(data$g > 0, cost, 0), 0, fit$solution), 1e-7)
})

test_that("the unit of the problem changes nothing but the unit of the answer", {
  K <- tcrossprod(random_matrix(40, 6)) + diag(40)
  q <- random_matrix(40, 1, 2)[, 1]
  plain <- solve_dual(K, q, -0.05, 0.05)
  for (unit in c(1e-9, 1e9)) {
    other <- solve_dual(K, q * unit, -0.05 * unit, 0.05 * unit)
    expect_identical(other$status, "ok")
    expect_equal(other$solution / unit, plain$solution, tolerance = 1e-9)
    expect_equal(other$value / unit^2, plain$value, tolerance = 1e-12)
    expect_equal(other$scale / unit^2, plain$scale, tolerance = 1e-9)
  }
})

test_that("left alone, a dual is solved to a gap of 1e-12 of its terms, and not to rounding", {
  x <- random_matrix(200, 4)
  g <- ifelse(x[, 1] + x[, 2]^2 + random_matrix(200, 1, 2)[, 1] > 0.5, 1, -1)
  fit <- svm_dual(gram(x, rbf_kernel(0.3)), g, 10)
  expect_lte(fit$gap / fit$scale, 1e-12)
  expect_gt(fit$gap / fit$scale, 1e-13)
})
