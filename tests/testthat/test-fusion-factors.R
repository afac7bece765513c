two_classes <- function(n, seed = 1) {
  with_seed(seed, {
    x <- matrix(rnorm(n * 4), n, dimnames = list(NULL, letters[1:4]))
    score <- x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n)
  })
  list(x = x, y = factor(ifelse(score > 0, "yes", "no")), score = score,
       three = cut(score, c(-Inf, -0.7, 0.7, Inf), c("low", "mid", "high")))
}

fused <- list(narrow = rbf_kernel(1.5), wide = rbf_kernel(4), rough = laplace_kernel(3))

# The Gram matrices that the factors stand for.
factor_grams <- function(x, size, method = "cholesky") {
  x <- scale(x)
  lapply(fused, function(kernel) {
    basis <- kernel_basis(x, kernel, method = method, size = size, tol = 0, scale = FALSE)
    tcrossprod(predict(basis, x))
  })
}

test_that("on bases the solution is that of the matrices of the factors, to the gap", {
  d <- two_classes(300)
  grams <- factor_grams(d$x, 40)
  for (adaptive in c(FALSE, TRUE)) {
    for (y in list(d$y, d$three)) {
      fit <- kernel_fusion(d$x, y, fused, adaptive = adaptive, basis = "cholesky", size = 40)
      twin <- kernel_fusion(y = y, kernels = grams, adaptive = adaptive)
      expect_lt(fit$gap, 1e-6)
      expect_lt(abs(fit$objective - twin$objective),
        (2 * fit$gap + max(0, fit$weights_gap)) * twin$objective)
      expect_equal(fit$weights * fit$mean_diagonal, twin$weights * twin$mean_diagonal,
        tolerance = 0.02)
      expect_lt(mean(abs(fit$fitted.values - twin$fitted.values)), 0.01)
      expect_true(all(fit$dual >= 0 & fit$dual <= 1))
      expect_lt(max(abs(colSums(as.matrix(fit$dual) * (if (nlevels(y) == 2) {
        2 * (y == "yes") - 1
      } else {
        2 * indicators(y) - 1
      })))), 1e-8)
    }
  }
})

test_that("regression on bases is the ridge regression of the factors", {
  d <- two_classes(200)
  grams <- factor_grams(d$x, 30, "fvs")
  for (adaptive in c(FALSE, TRUE)) {
    fit <- kernel_fusion(d$x, d$score, fused, adaptive = adaptive, basis = "fvs", size = 30)
    twin <- kernel_fusion(y = d$score, kernels = grams, adaptive = adaptive)
    expect_equal(fit$objective, twin$objective, tolerance = 1e-8)
    expect_equal(fit$weights, twin$weights, tolerance = 1e-6)
    expect_equal(fit$fitted.values, twin$fitted.values, tolerance = 1e-6)
    expect_equal(fit$dual, twin$dual, tolerance = 1e-6)
  }
})

test_that("a basis of all rows gives the machine of the whole kernel, and predicts alike", {
  d <- two_classes(80)
  new <- two_classes(30, 2)$x
  for (y in list(d$y, d$score, d$three)) {
    fit <- kernel_fusion(d$x, y, fused, basis = "cholesky", size = Inf, folds = 0)
    twin <- kernel_fusion(d$x, y, fused, folds = 0)
    expect_equal(fit$objective, twin$objective, tolerance = 1e-4)
    expect_equal(predict(fit, d$x, type = "response"), fit$fitted.values, tolerance = 1e-6)
    expect_lt(mean(abs(predict(fit, new, type = "response") -
                         predict(twin, new, type = "response"))), 0.01)
  }
})

test_that("only rows of the bases are kept, blocks of columns and case weights work", {
  d <- two_classes(150)
  blocks <- list(left = kernel_on(rbf_kernel(1), c("a", "b")), right = kernel_on("linear", "c"))
  fit <- kernel_fusion(d$x, d$y, blocks, basis = "fvs", size = 12, adaptive = FALSE)
  expect_identical(fit$basis, c(left = 12L, right = 1L))
  expect_lte(nrow(fit$vectors), 13L)
  expect_identical(nrow(fit$vectors), length(fit$support))
  expect_named(fit$expansion, c("left", "right"))
  expect_equal(rowSums(predict(fit, d$x, type = "prob")), rep(1, 150))
  expect_output(print(fit), "bases of 12, 1 rows")
  # whole weights are repeated rows, on the same basis rows
  w <- rep_len(c(1, 3, 2), 150)
  line <- list(kernel_on("linear", c("a", "c")))
  for (y in list(d$y, d$score)) {
    weighted <- kernel_fusion(d$x, y, line, basis = "cholesky", weights = w, folds = 0)
    again <- rep(1:150, w)
    repeated <- kernel_fusion(d$x[again, ], y[again], line, basis = "cholesky", folds = 0)
    expect_equal(weighted$objective, repeated$objective, tolerance = 1e-5)
    expect_equal(predict(weighted, d$x, type = "response"),
      predict(repeated, d$x, type = "response"), tolerance = 1e-3)
  }
})

test_that("a model on bases travels as text and as C source like any other", {
  d <- two_classes(100)
  fit <- kernel_fusion(d$x, d$y, fused, basis = "cholesky", size = 10)
  file <- tempfile(fileext = ".json")
  on.exit(unlink(file))
  write_model(fit, file)
  expect_equal(predict(read_model(file), d$x, type = "decision"),
    predict(fit, d$x, type = "decision"))
  fit$expansion$wide <- fit$expansion$wide[-1, , drop = FALSE]
  expect_error(predict(fit, d$x), class = "kernelect_error_model")
})

test_that("what bases cannot do is refused in words", {
  d <- two_classes(40)
  tries <- list(
    list(y = d$y, kernels = NULL), list(y = d$y, kernels = c(fused, list(noise = noise_kernel()))),
    list(y = d$y, kernels = fused, cost = Inf), list(y = d$score, kernels = fused, noise = 0),
    list(y = d$y, kernels = fused, basis = "best"), list(y = d$y, kernels = fused, size = 0)
  )
  for (args in tries) {
    args <- utils::modifyList(list(basis = "fvs"), args)
    expect_error(do.call(kernel_fusion, c(list(d$x), args)), class = "kernelect_error_argument")
  }
  twice <- list(wide = fused$wide, again = fused$wide)
  expect_error(kernel_fusion(d$x, d$score, twice, basis = "cholesky", noise = 1e-300),
    class = "kernelect_error_singular")
  K <- gram(scale(d$x))
  expect_error(kernel_fusion(y = d$y, kernels = list(K = K), basis = "fvs"),
    class = "kernelect_error_argument")
})

test_that("a level that makes the gap least, and a gap that bounds the distance from the optimum", {
  d <- two_classes(60)
  set <- factor_set(lapply(fused, function(k) list(kernel = k, columns = letters[1:4])),
    list(x = scale(d$x)), list(method = "cholesky", size = 20), 1L)
  g <- 2 * (d$y == "yes") - 1
  p <- list(z = set$z, scale = rep(1, nrow(set$z)), linear = g, lower = pmin(g, 0),
    upper = pmax(g, 0))
  best <- solve_dual(crossprod(set$z), g, p$lower, p$upper)
  b <- balance(p, 0.3 * g)
  expect_lt(abs(sum(b)), 1e-12)
  expect_true(all(b >= p$lower & b <= p$upper))
  found <- factor_optimum(p, b, g - factor_product(p, b))
  expect_equal(found$value, sum(b * (crossprod(set$z) %*% b)) / 2 - sum(g * b))
  expect_gte(found$gap, found$value - best$value)
  others <- vapply(found$level + c(-0.1, 0.1), function(level) {
    slope <- g - factor_product(p, b) - level
    sum(pmax((p$upper - b) * slope, (p$lower - b) * slope))
  }, 0)
  expect_true(all(others >= found$gap))
})

test_that("coefficients are balanced to rounding, inside their bounds", {
  p <- list(lower = c(0, 0, -1, -1), upper = c(1, 1, 0, 0))
  for (off in c(1e-2, 1e-9, 1e-12, 0)) {
    b <- balance(p, c(0.5 + off, 1, -0.5, -1))
    expect_lte(abs(sum(b)), 4e-16)
    expect_true(all(b >= p$lower & b <= p$upper))
  }
  # rows off their bounds do not suffice: one leaves its bound
  expect_equal(sum(balance(p, c(1, 1, -0.5, 0))), 0, tolerance = 1e-15)
})

test_that("a kernel without coefficients has no part in a prediction", {
  d <- two_classes(80)
  blocks <- list(a = kernel_on(rbf_kernel(1), c("a", "b")), b = kernel_on("linear", "c"))
  fit <- kernel_fusion(d$x, d$y, blocks, basis = "cholesky", size = 10, adaptive = FALSE,
    scale = FALSE, folds = 0)
  fit$expansion$a[] <- 0
  decision <- fit$intercept +
    fit$weights[["b"]] * d$x[, "c"] %*% crossprod(fit$vectors[, "c"], fit$expansion$b)
  expect_equal(as.vector(predict(fit, d$x, type = "decision")), as.vector(decision))
})
