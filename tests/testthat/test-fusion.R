two_iris <- function() list(x = iris[1:100, 1:4], y = iris$Species[1:100])

toy <- function(n = 30, d = 6, seed = 3) {
  x <- random_matrix(n, d, seed)
  colnames(x) <- paste0("v", seq_len(d))
  list(x = x, y = x[, 1] - 2 * x[, 3] + 0.3 * random_matrix(n, 1, seed + 1)[, 1])
}

blocks <- function() {
  list(a = kernel_on(rbf_kernel(2), c("v1", "v2")), b = kernel_on(linear_kernel(), 3:4),
    c = rbf_kernel())
}

# r_i a'K_i a for the kernels left.
identity_of <- function(fit, grams, g = 1) {
  a <- as.matrix(g * fit$dual)
  live <- names(which(fit$active))
  sapply(live, function(i) fit$weights[[i]] * sum(a * (grams[[i]] %*% a)))
}

test_that("the known figures of iris come out", {
  data <- two_iris()
  fit <- kernel_fusion(data$x, data$y, cost = Inf)
  expect_identical(names(which(fit$active)), c("Petal.Length", "Petal.Width"))
  expect_equal(unname(coef(fit)), c(0, 0, 0.999689, 1.169282), tolerance = 1e-6)
  expect_equal(fit$intercept, 0.254483, tolerance = 1e-5)
  expect_identical(unname(predict(fit, data$x)), droplevels(data$y))
  expect_equal(sum(fit$dual), 2, tolerance = 1e-6)
  expect_equal(unname(
    identity_of(fit, column_grams(scale(data$x)), ifelse(data$y == "setosa", -1, 1))), c(1, 1),
      tolerance = 1e-4)
  # eq 15
  g <- ifelse(data$y == "setosa", -1, 1)
  K <- gram(scale(data$x), linear_kernel(weights = sqrt(fit$weights)))
  expect_equal(fit$intercept, -sum(fit$dual * (K %*% (g * fit$dual))) / sum(fit$dual),
    tolerance = 1e-8)
})

test_that("classes that cannot be separated are an error that suggests a finite cost", {
  expect_error(
    kernel_fusion(iris[51:150, 1:4], iris$Species[51:150], cost = Inf),
    "finite `cost`", class = "kernelect_error_infeasible"
  )
  expect_error(kernel_fusion(iris[1:4], iris$Species, cost = Inf), "\"versicolor\" from the rest",
    class = "kernelect_error_infeasible")
})

test_that("preset regression is system (19)", {
  data <- toy()
  for (noise in c(0, 0.01, 1)) {
    fit <- kernel_fusion(data$x, data$y, adaptive = FALSE, noise = noise)
    x <- scale(data$x)
    K <- tcrossprod(sweep(x, 2, sqrt(fit$weights), "*"))
    twin <- reference_regression(K, data$y, noise * mean(diag(K)))
    expect_equal(unname(fit$weights), unname(1 / colMeans(x^2)))
    expect_equal(fit$intercept, twin$intercept, tolerance = 1e-8)
    expect_equal(fit$dual, twin$lambda, tolerance = 1e-8)
    expect_equal(fitted(fit), drop(K %*% twin$lambda) + twin$intercept, tolerance = 1e-8)
  }
})

test_that("exact equalities interpolate where the rank allows and fit by least squares where not", {
  wide <- toy(15, 40)
  fit <- kernel_fusion(wide$x, wide$y, adaptive = FALSE, noise = 0)
  expect_equal(predict(fit, wide$x), wide$y, tolerance = 1e-8)
  fit <- kernel_fusion(wide$x, wide$y, list(rbf_kernel(3)), adaptive = FALSE, noise = 0)
  expect_equal(predict(fit, wide$x), wide$y, tolerance = 1e-8)
  tall <- toy(40, 5)
  fit <- kernel_fusion(tall$x, tall$y, adaptive = FALSE, noise = 0)
  expect_equal(predict(fit, tall$x), unname(fitted(lm(y ~ x, tall))), tolerance = 1e-8)
})

test_that("adaptive regression follows the iteration of the paper", {
  data <- toy(25, 8)
  grams <- column_grams(scale(data$x))
  for (noise in c(0, 0.1)) {
    fit <- kernel_fusion(data$x, data$y, noise = noise)
    twin <- reference_adaptive(grams, data$y, noise, fit$iterations)
    path <- unname(as.matrix(fit$path[-1]))
    expect_equal(path, twin$path, tolerance = 1e-8)
    expect_equal(fit$dual, twin$lambda, tolerance = 1e-7)
    expect_identical(unname(unlist(fit$path[fit$iterations, -1])), unname(fit$weights))
    expect_identical(fit$path$iteration, seq_len(fit$iterations))
    expect_true(fit$converged)
  }
})

test_that("survivors satisfy the identities, and their number is counted by lambda", {
  for (seed in 1:3) {
    d <- simulate_fusion(20, seed = seed)
    fit <- kernel_fusion(y ~ ., d, noise = 0)
    grams <- column_grams(scale(as.matrix(d[1:100])))
    expect_lt(max(abs(identity_of(fit, grams) - 1)), 1e-4)
    expect_equal(sum(d$y * fit$dual), sum(fit$active), tolerance = 1e-4)
    expect_identical(sum(fit$active), 19L)
    d <- simulate_fusion(20, seed = seed, type = "recognition")
    fit <- kernel_fusion(y ~ ., d, cost = Inf)
    expect_lt(max(abs(
      identity_of(fit, grams <- column_grams(scale(as.matrix(d[1:100]))),
        ifelse(d$y == "b", 1, -1)) - 1)), 1e-4)
    expect_equal(sum(fit$dual), sum(fit$active), tolerance = 1e-4)
  }
})

test_that("columns and the list of their Gram matrices give the same", {
  data <- toy(30, 10)
  grams <- column_grams(scale(data$x))
  classes <- factor(ifelse(data$y > 0, "p", "q"))
  for (y in list(data$y, classes, cut(data$y, 3))) {
    for (noise in c(0, 0.2)) {
      one <- kernel_fusion(data$x, y, noise = noise)
      two <- kernel_fusion(y = y, kernels = grams, noise = noise, rule = "adaptive")
      expect_equal(two$weights, one$weights, tolerance = 1e-8)
      expect_equal(two$intercept, one$intercept, tolerance = 1e-8)
      expect_equal(two$dual, one$dual, tolerance = 1e-7)
      expect_equal(unname(two$fitted.values), unname(one$fitted.values), tolerance = 1e-8)
    }
  }
})

test_that("a kernel times a constant changes no prediction", {
  data <- toy(40, 3)
  K <- list(a = gram(data$x, rbf_kernel(1)), b = gram(data$x, linear_kernel()),
    c = gram(data$x, polynomial_kernel(2)))
  scaled <- K
  scaled$b <- 1e4 * K$b
  classes <- factor(data$y > 0)
  for (adaptive in c(TRUE, FALSE)) {
    for (y in list(data$y, classes)) {
      one <- kernel_fusion(y = y, kernels = K, adaptive = adaptive)
      two <- kernel_fusion(y = y, kernels = scaled, adaptive = adaptive)
      expect_equal(two$fitted.values, one$fitted.values, tolerance = 1e-6)
      expect_equal(two$weights[["b"]], one$weights[["b"]] / 1e4, tolerance = 1e-6)
      expect_identical(two$active, one$active)
    }
  }
})

test_that("recognition satisfies the optimality conditions", {
  data <- toy(60, 4)
  y <- factor(ifelse(data$y + random_matrix(60, 1, 9)[, 1] > 0, "yes", "no"))
  g <- ifelse(y == "yes", 1, -1)
  for (cost in c(0.3, 3, 300)) {
    fit <- kernel_fusion(data$x, y, blocks(), cost = cost)
    margin <- g * predict(fit, data$x, type = "decision")
    expect_lt(abs(sum(g * fit$dual)), 1e-8 * cost)
    expect_true(all(fit$dual >= 0 & fit$dual <= cost))
    expect_true(all(margin[fit$dual == 0] >= 1 - 1e-6))
    expect_true(all(margin[fit$dual == cost] <= 1 + 1e-6))
    expect_equal(margin[fit$dual > 0 & fit$dual < cost],
      rep(1, sum(fit$dual > 0 & fit$dual < cost)), tolerance = 1e-6)
    expect_identical(fit$support, which(fit$dual > 0))
  }
})

test_that("more than two classes share the weights, updated by the sum over classes", {
  fit <- kernel_fusion(iris[1:4], iris$Species)
  x <- scale(iris[1:4])
  G <- 2 * outer(as.character(iris$Species), levels(iris$Species), `==`) - 1
  grams <- column_grams(x)
  expect_equal(dim(fit$dual), c(150L, 3L))
  expect_lt(max(abs(identity_of(fit, grams, G) - 1)), 1e-4)
  expect_named(fit$intercept, levels(iris$Species))
  decision <- predict(fit, iris, type = "decision")
  expect_equal(unname(decision), unname(x %*% coef(fit) + rep(fit$intercept, each = 150)),
    tolerance = 1e-10)
  expect_identical(as.character(predict(fit, iris)), levels(iris$Species)[max.col(decision)])
  expect_lt(mean(predict(fit, iris) != iris$Species), 0.06)
  # each class is the machine it would be alone at those weights
  alone <- kernel_fusion(iris[1:4], factor(iris$Species == "virginica"), adaptive = FALSE,
    start = fit$weights)
  expect_equal(alone$dual, fit$dual[, "virginica"], tolerance = 1e-5)
})

test_that("all routes to a model give the same", {
  frame <- data.frame(a = random_matrix(40, 1)[, 1], f = factor(rep(c("u", "v"), 20)),
    b = random_matrix(40, 1, 2)[, 1])
  frame$y <- frame$a + (frame$f == "u") + 0.1 * random_matrix(40, 1, 3)[, 1]
  by_formula <- kernel_fusion(y ~ a + f + b, frame)
  by_frame <- kernel_fusion(frame[c("a", "f", "b")], frame$y)
  x <- cbind(a = frame$a, fu = frame$f == "u", fv = frame$f == "v", b = frame$b)
  by_matrix <- kernel_fusion(x, frame$y)
  for (field in c("weights", "dual", "intercept", "coefficients", "path", "fitted.values")) {
    expect_identical(by_formula[[field]], by_frame[[field]], label = field)
    expect_identical(by_matrix[[field]], by_frame[[field]], label = field)
  }
  expect_identical(predict(by_formula, frame), predict(by_frame, frame))
  expect_identical(predict(by_frame, frame[c("b", "y", "f", "a")]), predict(by_frame, frame))
  expect_equal(unname(predict(by_matrix, x)), unname(fitted(by_matrix)), tolerance = 1e-10)
  # as in other models: the same numbers for a character or logical response
  two <- two_iris()
  expect_identical(
    kernel_fusion(two$x, as.character(two$y))$weights, kernel_fusion(two$x, two$y)$weights
  )
  expect_identical(kernel_fusion(y ~ ., data.frame(two$x, y = two$y), NULL, FALSE)$weights,
    kernel_fusion(two$x, two$y, NULL, FALSE)$weights)
})

test_that("prediction of training rows is the fit, in one piece or in parts", {
  data <- toy(50, 4)
  for (y in list(data$y, factor(data$y > 0))) {
    for (kernels in list(NULL, blocks(), rbf_kernel(),
      list(laplace_kernel(), polynomial_kernel(2)))) {
      fit <- kernel_fusion(data$x, y, kernels)
      whole <- predict(fit, data$x, type = "response")
      expect_equal(whole, fit$fitted.values, tolerance = 1e-9)
      expect_equal(c(predict(fit, data$x[1:20, ], type = "response"),
        predict(fit, data$x[21:50, ], type = "response")), whole, tolerance = 1e-12)
      expect_length(predict(fit, data$x[0, ]), 0)
      expect_length(predict(fit, data$x[1, , drop = FALSE]), 1)
      holes <- data$x
      holes[c(2, 7), 1] <- NA
      expect_identical(which(is.na(predict(fit, holes))), c(2L, 7L))
      expect_identical(predict(fit, type = "response"), fit$fitted.values)
      again <- unserialize(serialize(fit, NULL))
      expect_identical(predict(again, data$x), predict(fit, data$x))
    }
  }
})

test_that("coefficients on the columns as given make the same prediction", {
  data <- toy(30, 3)
  data$x <- data$x * 7 + 100
  fit <- kernel_fusion(data$x, data$y)
  beta <- coef(fit, original = TRUE)
  expect_equal(drop(cbind(1, data$x) %*% beta), predict(fit, data$x), tolerance = 1e-9)
  plain <- kernel_fusion(data$x, data$y, scale = FALSE)
  expect_equal(unname(coef(plain, original = TRUE)), unname(c(plain$intercept, coef(plain))))
  three <- kernel_fusion(iris[1:4], iris$Species)
  expect_equal(unname(as.matrix(cbind(1, iris[1:4])) %*% coef(three, original = TRUE)),
    unname(predict(three, iris, type = "decision")), tolerance = 1e-9)
})

test_that("Gram matrices predict by cross-Gram matrices, matched by name", {
  data <- toy(50, 4)
  train <- 1:35
  kernels <- list(a = rbf_kernel(2), b = linear_kernel(), noise = noise_kernel())
  by_x <- kernel_fusion(data$x[train, ], data$y[train], kernels, scale = FALSE)
  K <- lapply(kernels[1:2], function(k) gram(data$x[train, ], k))
  cross <- lapply(kernels[1:2], function(k) gram(data$x, k, data$x[train, ]))
  by_gram <- kernel_fusion(y = data$y[train], kernels = c(K, list(noise = noise_kernel())))
  expect_equal(by_gram$weights, by_x$weights, tolerance = 1e-8)
  expect_equal(predict(by_gram, cross), predict(by_x, data$x), tolerance = 1e-8)
  expect_equal(predict(by_gram, rev(cross)), predict(by_gram, cross), tolerance = 1e-12)
  expect_equal(predict(by_gram, unname(cross)), predict(by_gram, cross), tolerance = 1e-12)
  expect_equal(predict(by_gram, cross)[train], fitted(by_gram), tolerance = 1e-8)
  cross$a[3, 5] <- NA
  expect_identical(which(is.na(predict(by_gram, cross))),
    if (by_gram$active[["a"]]) 3L else integer())
  inactive <- names(which(!by_gram$active))
  expect_silent(predict(by_gram, cross[setdiff(names(cross), inactive)]))
})

test_that("a noise kernel learns the noise and is no part of the rule", {
  d <- simulate_fusion(60, seed = 4, columns = 6)
  kernels <- c(lapply(1:6, function(i) kernel_on(linear_kernel(), i)), list(noise_kernel()))
  names(kernels) <- c(names(d)[1:6], "noise")
  fit <- kernel_fusion(d[1:6], d$y, kernels, noise = 0)
  expect_true(all(fit$active[c("x1", "x2", "noise")]))
  expect_identical(predict(fit, d[1:3, ]), predict(fit, d)[1:3])
  expect_equal(unname(predict(fit, d)), unname(fitted(fit)), tolerance = 1e-9)
  expect_lt(sd(residuals(fit)), 0.3)
  expect_gt(sd(residuals(fit)), 0.05)
})

test_that("kernels see the columns they are put on", {
  data <- toy(40, 5)
  fit <- kernel_fusion(data$x, data$y, blocks(), adaptive = FALSE)
  x <- scale(data$x)
  K <- list(gram(x[, 1:2], rbf_kernel(2)), gram(x[, 3:4], linear_kernel()), gram(x, rbf_kernel()))
  expect_equal(unname(fit$weights), sapply(K, function(k) 1 / mean(diag(k))), tolerance = 1e-10)
  by_hand <- kernel_fusion(y = data$y, kernels = K, adaptive = FALSE)
  expect_equal(by_hand$dual, fit$dual, tolerance = 1e-8)
  frame <- data.frame(f = factor(rep(c("u", "v", "w", "u"), 10)), data$x)
  on_factor <- kernel_fusion(frame, data$y,
    list(kernel_on(linear_kernel(), c("f", "v1")), noise_kernel()))
  expect_identical(on_factor$kernels[[1]]$columns, c("fu", "fv", "fw", "v1"))
  expect_named(on_factor$weights, c("linear", "noise"))
  if (requireNamespace("kernlab", quietly = TRUE)) {
    theirs <- kernel_fusion(data$x, data$y, list(kernlab::rbfdot(0.1)))
    expect_equal(theirs$dual, kernel_fusion(data$x, data$y, list(rbf_kernel(gamma = 0.1)))$dual)
  }
})

test_that("weights can be preset", {
  data <- toy(30, 3)
  fit <- kernel_fusion(data$x, data$y, adaptive = FALSE, start = c(v3 = 3, v1 = 1, v2 = 0))
  expect_equal(fit$weights, c(v1 = 1, v2 = 0, v3 = 3))
  expect_identical(fit$active, c(v1 = TRUE, v2 = FALSE, v3 = TRUE))
  expect_equal(coef(fit)[["v2"]], 0)
  for (bad in list(1:2, c(1, NA, 1), c(-1, 1, 1), c(0, 0, 0), "a")) {
    expect_error(kernel_fusion(data$x, data$y, start = bad), "`start`.*one per kernel: 3 numbers",
      class = "kernelect_error_argument")
  }
})

test_that("constant columns have no weight", {
  data <- toy(30, 3)
  data$x[, 2] <- 5
  fit <- kernel_fusion(data$x, data$y)
  expect_identical(fit$weights[["v2"]], 0)
  data$x[] <- 1
  expect_error(kernel_fusion(data$x, data$y), "constant", class = "kernelect_error_data")
})

test_that("weights that do not settle are a warning and a field", {
  data <- toy(30, 6)
  expect_warning(fit <- kernel_fusion(data$x, data$y, max_iter = 2), "max_iter",
    class = "kernelect_warning_convergence")
  expect_false(fit$converged)
  expect_identical(fit$iterations, 2L)
})

test_that("fitted values are kept on request", {
  data <- toy(20, 3)
  fit <- kernel_fusion(data$x, data$y, keep = FALSE)
  expect_null(fit$fitted.values)
  expect_error(predict(fit), "`keep`", class = "kernelect_error_argument")
  expect_identical(nobs(fit), 20L)
})

test_that("the other methods show what there is", {
  fit <- kernel_fusion(iris[1:100, 1:4], iris$Species[1:100], cost = Inf)
  expect_snapshot({
    fit
    summary(fit)
    kernel_fusion(iris[1:4], iris$Species,
      blocks <- list(s = kernel_on(rbf_kernel(2), 1:2), p = kernel_on(rbf_kernel(2), 3:4)),
      tol = 1e-10)
    kernel_fusion(y ~ ., simulate_fusion(20, seed = 1), noise = 0)
    kernel_on(rbf_kernel(2), c("a", "b"))
    noise_kernel()
  })
  expect_lte(length(capture.output(print(fit))), 12L)
  expect_output(expect_invisible(print(fit)), "kernel_fusion")
})

test_that("plots return their data and leave the device as it was", {
  fit <- kernel_fusion(y ~ ., simulate_fusion(25, seed = 1))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  settings <- c("mar", "mgp", "las", "tcl", "cex.main", "mfrow", "col")
  before <- graphics::par(settings)
  path <- withVisible(plot(fit))
  expect_false(path$visible)
  expect_identical(dim(path$value), c(fit$iterations, 100L))
  final <- plot(fit, type = "weights", n = 5)
  expect_equal(final, sort(fit$weights * fit$mean_diagonal, decreasing = TRUE)[1:5],
    tolerance = 1e-12)
  expect_identical(graphics::par(settings), before)
  plot(kernel_fusion(iris[1:4], iris$Species, adaptive = FALSE)) # one iteration, no spread
})

test_that("bad input is named", {
  data <- toy(20, 3)
  K <- list(a = gram(data$x), b = gram(data$x, linear_kernel()))
  lopsided <- replace(K$a, 2, 5)
  indefinite <- K$a
  indefinite[1, 2] <- indefinite[2, 1] <- 3
  expect_snapshot(error = TRUE, {
    kernel_fusion(y = data$y, kernels = list(a = K$a, small = K$b[1:10, 1:10]))
    kernel_fusion(y = data$y, kernels = list(a = K$a, skew = lopsided))
    kernel_fusion(y = data$y, kernels = list(odd = indefinite))
    kernel_fusion(y = data$y, kernels = list(a = K$a, a = K$b))
    kernel_fusion(y = data$y, kernels = list(a = replace(K$a, 3, NA)))
    kernel_fusion(y = data$y[1:5], kernels = K)
    kernel_fusion(y = replace(data$y, 3, NA), kernels = K)
    kernel_fusion(y = replace(data$y, 3, Inf), kernels = K)
    kernel_fusion(y = data$y)
    kernel_fusion(y = data$y, kernels = list(noise_kernel()))
    kernel_fusion(data$x, data$y, K)
    kernel_fusion(data$x, data$y, list())
    kernel_fusion(data$x, data$y, list(3))
    kernel_fusion(data$x, data$y, list(sigmoid_kernel(5, -3)))
    kernel_fusion(data$x, data$y, list(kernel_on(rbf_kernel(), "nope")))
    kernel_fusion(data$x, data$y, list(kernel_on(rbf_kernel(), 4)))
    kernel_on(rbf_kernel(), c(1, 1))
    kernel_on(rbf_kernel(), 0)
    kernel_on(rbf_kernel(), sum)
    kernel_fusion(data$x)
    kernel_fusion(data$x, data$y[-1])
    kernel_fusion(data$x, replace(data$y, 3, NA))
    kernel_fusion(replace(data$x, 4, NA), data$y)
    kernel_fusion(data$x, cbind(data$y, 1))
    kernel_fusion(data$x, factor(rep("a", 20)))
    kernel_fusion(data$x, rep(1, 20))
    kernel_fusion(data$x, factor(data$y > 0), cost = 1e-5)
    kernel_fusion(data$x, data$y, noise = -1)
    kernel_fusion(data$x, data$y, cost = 0)
    kernel_fusion(data$x, data$y, max_iter = 0)
    kernel_fusion(data$x, data$y, tol = -1)
    kernel_fusion(data$x, data$y, adaptive = NA)
    kernel_fusion(data$x, data$y, Cost = 1)
    kernel_fusion(data$x[1, , drop = FALSE], 1)
  })
})

test_that("bad new data are named", {
  data <- toy(20, 3)
  fit <- kernel_fusion(data$x, data$y)
  K <- list(a = gram(data$x), b = gram(data$x, linear_kernel()))
  by_gram <- kernel_fusion(y = data$y, kernels = K, adaptive = FALSE)
  expect_snapshot(error = TRUE, {
    predict(fit, data$x[, 1:2])
    predict(fit, data$x, type = "class")
    predict(fit, data$x, Type = "class")
    predict(by_gram, K$a)
    predict(by_gram, list(K$a))
    predict(by_gram, K["a"])
    predict(by_gram, list(a = K$a, b = K$b[1:3, ]))
    predict(by_gram, list(a = K$a, b = K$b[, 1:3]))
    predict(by_gram, list(a = K$a, b = replace(K$b, 1, Inf)))
    coef(by_gram)
  })
})

test_that("the most negative eigenvalue is found in large matrices too", {
  x <- random_matrix(400, 5)
  K <- gram(x, rbf_kernel(1))
  v <- sin(1:400)
  bent <- K - 9 * outer(v, v) / sum(v^2)
  expect_equal(eigenvalue_range(bent)[1], min(eigen(bent, TRUE, TRUE)$values), tolerance = 1e-3)
  expect_error(kernel_fusion(y = x[, 1], kernels = list(bent = bent)), "`bent`.*eigenvalue is -",
    class = "kernelect_error_indefinite")
  expect_silent(check_definite(K, "K"))
  expect_silent(check_definite(tcrossprod(x), "K"))
})

test_that("a factor whose indicator names clash is still found by its name", {
  data <- data.frame(V1 = factor(rep(0:1, 10)), V10 = 1:20)
  fit <- kernel_fusion(data, sin(1:20),
    list(kernel_on(rbf_kernel(1), "V1"), kernel_on(rbf_kernel(1), "V10")), adaptive = FALSE)
  expect_identical(fit$kernels[[1]]$columns, c("V1=0", "V1=1"))
  expect_identical(fit$kernels[[2]]$columns, "V10")
  expect_error(kernel_on(columns = 1), "`kernel` is missing", class = "kernelect_error_argument")
  expect_error(kernel_on(rbf_kernel()), "`columns` is missing", class = "kernelect_error_argument")
})

test_that("a kernel that is constant explains nothing but the mean", {
  y <- c(1, 2, 4, 8, 16)
  for (noise in c(0, 0.5)) {
    fit <- kernel_fusion(y = y, kernels = list(one = matrix(2, 5, 5)), adaptive = FALSE,
      noise = noise)
    # H K H = 0: lambda is (y - mean) / nu, nu the noise times the mean diagonal of the fused kernel
    expect_equal(fit$dual, if (noise > 0) (y - mean(y)) / noise else numeric(5))
    expect_equal(fitted(fit), rep(mean(y), 5))
  }
})

test_that("one row and numbers beyond squares are refused", {
  expect_error(kernel_fusion(y = 3, kernels = list(matrix(1))), "two rows",
    class = "kernelect_error_data")
  expect_error(kernel_fusion(cbind(1:3, 3:1) * 1e200, 1:3, scale = FALSE), "overflow",
    class = "kernelect_error_not_finite")
})

test_that("a machine that was not solved to the end says so", {
  x <- random_matrix(200, 2)
  y <- factor(random_matrix(200, 1, 2)[, 1] > 0)
  expect_warning(fit <- kernel_fusion(x, y, list(rbf_kernel(5)), cost = 1e12, adaptive = FALSE),
                 "smaller `cost`", class = "kernelect_warning_convergence")
  expect_gt(fit$gap, 1e-6)
  expect_false(fit$converged)
  expect_silent(fit <- kernel_fusion(x, y, list(rbf_kernel(5)), cost = 10, adaptive = FALSE))
  expect_lte(fit$gap, 1e-6)
  expect_true(fit$converged)
})

test_that("cross-Gram matrices that are none are refused", {
  K <- gram(random_matrix(20, 2))
  fit <- kernel_fusion(y = sin(1:20), kernels = list(a = K))
  expect_error(predict(fit, list(a = 1:20)), "newdata$a", fixed = TRUE,
    class = "kernelect_error_argument")
  expect_error(predict(fit, list(a = matrix("a", 2, 20))), "2 x 20 character",
    class = "kernelect_error_argument")
})

test_that("many kernels are told by their number", {
  data <- toy(40, 35)
  fit <- kernel_fusion(data$x, data$y, adaptive = FALSE, start = rep(c(1, 0), c(23, 12)))
  expect_output(print(fit), "weights preset")
  lines <- capture.output(print(summary(fit)))
  expect_match(lines, "^... and 3 more$", all = FALSE)
  expect_match(lines, "^inactive: v24, .*, v33 and 2 more$", all = FALSE)
})

test_that("a kernel alone is a list of one", {
  data <- toy(30, 3)
  expect_equal(kernel_fusion(data$x, data$y, rbf_kernel(2))$dual,
    kernel_fusion(data$x, data$y, list(rbf_kernel(2)))$dual)
})

test_that("the unit of y changes nothing but the unit of the answer", {
  data <- toy(30, 6)
  plain <- kernel_fusion(data$x, data$y)
  for (unit in c(1e-9, 1e9)) {
    other <- kernel_fusion(data$x, data$y * unit)
    expect_identical(other$active, plain$active)
    expect_equal(fitted(other) / unit, fitted(plain), tolerance = 1e-8)
    expect_equal(residuals(other) / unit, data$y - unname(fitted(plain)), tolerance = 1e-6,
      ignore_attr = TRUE)
  }
})

test_that("start weights must be usable, each of them", {
  data <- toy(20, 3)
  for (weights in list(c(1, NA, 1), c(1, -1, 1), c(1, Inf, 1), c(0, 0, 0), c(1, 1), "a",
    c(TRUE, TRUE, TRUE))) {
    expect_error(kernel_fusion(data$x, data$y, start = weights), "`start`",
      class = "kernelect_error_argument")
  }
  expect_error(kernel_fusion(data$x, data$y, start = c(v1 = 1, v2 = 1, w = 1)), "`v3`",
    class = "kernelect_error_columns")
  named <- kernel_fusion(data$x, data$y, start = c(v3 = 3, v1 = 1, v2 = 2), adaptive = FALSE)
  expect_equal(named$weights, c(v1 = 1, v2 = 2, v3 = 3))
})

test_that("a block names six columns and counts more", {
  expect_output(print(kernel_on(rbf_kernel(2), 1:6)), "columns 1, 2, 3, 4, 5, 6$")
  expect_output(print(kernel_on(rbf_kernel(2), letters[1:7])), "a, b, c, d, e, f, ... (7)",
    fixed = TRUE)
})

test_that("noise is no part of the rule for classes either", {
  K <- gram(scale(iris[1:4]))
  for (y in list(factor(iris$Species == "virginica"), iris$Species)) {
    for (adaptive in c(FALSE, TRUE)) {
      fit <- kernel_fusion(iris[1:4], y, list(r = rbf_kernel(), n = noise_kernel()),
        adaptive = adaptive)
      expect_equal(fit$fitted.values, predict(fit, iris[1:4], type = "decision"), tolerance = 1e-8,
        ignore_attr = TRUE)
      expect_identical(fit$training_error, mean(predict(fit, iris[1:4]) != y))
      by_gram <- kernel_fusion(y = y, kernels = list(r = K, n = noise_kernel()),
        adaptive = adaptive)
      expect_equal(predict(by_gram, list(r = K), type = "decision"), by_gram$fitted.values,
        tolerance = 1e-8, ignore_attr = TRUE)
    }
  }
})

test_that("where only noise is left every row gets an answer", {
  K <- gram(scale(iris[1:4]))
  fit <- kernel_fusion(y = factor(iris$Species == "virginica"),
    kernels = list(r = K, n = noise_kernel()), rule = "adaptive")
  expect_identical(unname(fit$weights["r"]), 0)
  expect_identical(predict(fit, list(r = K[1:7, ]), type = "decision"),
    stats::setNames(rep(fit$intercept, 7), rownames(K)[1:7]))
  expect_error(predict(fit, list()), class = "kernelect_error")
})

test_that("fitted values and residuals are there or it is said why not", {
  fit <- kernel_fusion(iris[2:4], iris$Sepal.Length)
  expect_identical(fitted(fit), fit$fitted.values)
  expect_identical(residuals(fit), fit$residuals)
  small <- kernel_fusion(iris[2:4], iris$Sepal.Length, keep = FALSE)
  expect_error(fitted(small), "keep", class = "kernelect_error_model")
  expect_error(residuals(small), "keep", class = "kernelect_error_model")
  expect_error(residuals(kernel_fusion(iris[1:4], iris$Species)), "regression",
    class = "kernelect_error_argument")
})

test_that("a response too large is named", {
  expect_error(kernel_fusion(iris[2:4], iris$Sepal.Length * 1e100), "`y`",
    class = "kernelect_error_not_finite")
  expect_s3_class(kernel_fusion(iris[2:4], iris$Sepal.Length * 1e50), "kernel_fusion")
})

test_that("the ends of a small spectrum are exact, wherever its values crowd", {
  Q <- qr.Q(qr(random_matrix(200, 200)))
  values <- c(-1e-7, seq(0, 1, length.out = 199))
  K <- Q %*% (values * t(Q))
  expect_equal(eigenvalue_range((K + t(K)) / 2), c(-1e-7, 1), tolerance = 1e-12)
  expect_error(kernel_fusion(y = seq_len(200), kernels = list((K + t(K)) / 2)),
    class = "kernelect_error_indefinite")
})

test_that("the gap of a machine is relative to its value", {
  fit <- kernel_fusion(scale(iris[51:150, 1:4]), iris$Species[51:150], list(linear_kernel()),
    cost = 1e4, adaptive = FALSE)
  expect_gt(sum(fit$dual), 1e4)
  expect_lt(fit$gap, 1e-9)
})

test_that("a data frame is no list of kernels", {
  expect_error(kernel_fusion(iris[2:4], iris$Sepal.Length, kernels = data.frame(a = 1)),
    "`kernels` must be NULL", class = "kernelect_error_argument")
})

test_that("a kernel's share is that of the fused diagonal", {
  fit <- kernel_fusion(iris[2:4], iris$Sepal.Length, list(a = linear_kernel(), b = rbf_kernel()),
    scale = FALSE)
  K <- tcrossprod(as.matrix(iris[2:4]))
  expect_equal(fit$mean_diagonal, c(a = mean(diag(K)), b = 1), tolerance = 1e-12)
  size <- fit$weights * fit$mean_diagonal
  table <- summary(fit)$kernels
  expect_equal(table$share, unname(size / sum(size))[match(table$kernel, names(size))],
    tolerance = 1e-12)
})

test_that("two rows are enough for a regression", {
  x <- matrix(c(0, 2, 1, -1), 2, dimnames = list(NULL, c("a", "b")))
  fit <- kernel_fusion(x, c(3, 5), adaptive = FALSE, scale = FALSE)
  twin <- reference_adaptive(column_grams(x), c(3, 5), noise = 0.1, iterations = 1)
  expect_equal(fit$dual, twin$lambda)
  expect_equal(fit$intercept, twin$intercept)
})

test_that("a kernel that may be indefinite is looked at, on data too", {
  x <- matrix(c(1, -1, 2, -2, 0.5, 3), 3)
  for (bent in list(polynomial_kernel(2, 1, -4), sigmoid_kernel(1, 1))) {
    expect_lt(min(eigen(gram(x, bent), symmetric = TRUE, only.values = TRUE)$values), -0.05)
    expect_error(kernel_fusion(x, c(1, 2, 4), kernels = list(bent = bent), scale = FALSE), "`bent`",
      class = "kernelect_error_indefinite")
  }
})

test_that("a damaged model is refused, whatever the part", {
  data <- toy(20, 3)
  K <- gram(data$x)
  dimnames(K) <- list(letters[1:20], letters[1:20])
  columns <- kernel_fusion(data$x, data$y)
  on_columns <- kernel_fusion(data$x, data$y,
    list(a = kernel_on(rbf_kernel(), c("v1", "v2")), n = noise_kernel()), adaptive = FALSE)
  by_gram <- kernel_fusion(y = data$y, kernels = list(a = K, n = noise_kernel()), adaptive = FALSE)
  classes <- kernel_fusion(iris[1:4], iris$Species)
  refused <- function(.model, .new, ...) {
    broken <- structure(within_list(unclass(.model), ...), class = class(.model))
    expect_error(predict(broken, .new), class = "kernelect_error_model", info = names(list(...)))
  }
  for (case in list(list(columns, data$x), list(on_columns, data$x), list(by_gram, list(a = K)))) {
    model <- case[[1]]
    expect_silent(predict(model, case[[2]]))
    refused(model, case[[2]], weights = replace(model$weights, 1, -1))
    refused(model, case[[2]], weights = replace(model$weights, 1, NA))
    refused(model, case[[2]], weights = unname(model$weights))
    refused(model, case[[2]], levels = "a")
    refused(model, case[[2]], intercept = c(model$intercept, 1))
    refused(model, case[[2]], n = "20")
    refused(model, case[[2]], support = c(model$support[-1], 21L))
  }
  refused(classes, iris, intercept = classes$intercept[1:2])
  refused(classes, iris, coefficients = classes$coefficients[, 1:2])
  refused(columns, data$x, coefficients = columns$coefficients[-1])
  refused(columns, data$x, input = NULL)
  refused(columns, data$x, input = within_list(columns$input, width = 4L))
  refused(columns, data$x, scaling = within_list(columns$scaling, center = 0))
  for (case in list(list(on_columns, data$x), list(by_gram, list(a = K)))) {
    model <- case[[1]]
    refused(model, case[[2]], kernels = model$kernels[1])
    refused(model, case[[2]], kernels = within_list(model$kernels, a = 1))
    refused(model, case[[2]], expansion = model$expansion[-1, , drop = FALSE])
    refused(model, case[[2]], support_names = "a")
  }
  refused(on_columns, data$x, vectors = on_columns$vectors[, 1:2])
  block <- on_columns$kernels$a
  change_block <- function(...) within_list(on_columns$kernels, a = within_list(block, ...))
  refused(on_columns, data$x, kernels = change_block(columns = c("v1", "w")))
  refused(on_columns, data$x, kernels = change_block(columns = list("v1", "v2")))
  refused(on_columns, data$x,
    kernels = change_block(kernel = within_list(block$kernel, weights = c(1, 1, 1))))
})

test_that("columns of a block are whole numbers from 1 on or names, all of them", {
  for (bad in list(integer(), character(), c(2, 0), c(1, 1.5), c("a", NA), TRUE)) {
    expect_error(kernel_on(rbf_kernel(), bad), "`columns` must be names or numbers",
      class = "kernelect_error_argument")
  }
  data <- toy(20, 3)
  expect_error(kernel_fusion(data$x, data$y, list(kernel_on(rbf_kernel(), c(5, 1, 4)))),
    "at most 3, the number of columns, not 5.",
               fixed = TRUE, class = "kernelect_error_columns")
  # an RBF kernel's sigma is worked out on the columns of the block, also where it is one
  one <- kernel_fusion(data$x, data$y, list(kernel_on(rbf_kernel("mean"), 2)), scale = FALSE)
  expect_equal(one$kernels[[1]]$kernel$sigma,
    kernel_fusion(data$x[, 2, drop = FALSE], data$y, list(rbf_kernel("mean")),
      scale = FALSE)$kernels[[1]]$kernel$sigma)
  expect_identical(one$kernels[[1]]$columns, "v2")
})

test_that("kernels get names where they have none, and Gram matrices need `x` to be missing", {
  data <- toy(20, 3)
  kernels <- list(a = rbf_kernel(1), linear_kernel(), noise_kernel())
  expect_named(kernel_fusion(data$x, data$y, kernels, adaptive = FALSE)$weights,
    c("a", "linear", "noise"))
  names(kernels)[2] <- NA
  fit <- kernel_fusion(data$x, data$y, kernels, adaptive = FALSE)
  expect_named(fit$weights, c("a", "linear", "noise"))
  expect_identical(names(fit$mean_diagonal), names(fit$weights))
  expect_identical(unname(fit$kernels)[[2]]$kernel$type, "linear")
  expect_error(kernel_fusion(data$x, data$y, list(rbf_kernel(1), gram(data$x))),
    "need `x` to be missing", class = "kernelect_error_argument")
})

test_that("a mean diagonal whose square is no number is named, and the last that has one is not", {
  K <- list(a = diag(3), low = 1e-141 * diag(3), high = 1e141 * diag(3))
  expect_error(kernel_fusion(y = 1:3, kernels = K), "Kernel `low` has a mean diagonal of 1e-141,",
    class = "kernelect_error_not_finite")
  expect_error(kernel_fusion(y = 1:3, kernels = K[c("a", "high")]),
    "Kernel `high` has a mean diagonal of 1e+141,", fixed = TRUE,
               class = "kernelect_error_not_finite")
  set <- list(names = c("a", "b", "c"), mean_diagonal = c(1e-140, 1e140, 0))
  expect_identical(check_kernel_scale(set), set)
})

test_that("Gram matrices that do not fit together are named", {
  K <- diag(3)
  sizes <- list(a = K, b = K, c = diag(2), d = diag(4))
  expect_error(kernel_fusion(y = 1:3, kernels = sizes), "`a` is 3 x 3, `c` is 2 x 2.", fixed = TRUE,
    class = "kernelect_error_argument")
  named <- function(...) `dimnames<-`(K, list(c(...), c(...)))
  rows <- list(a = K, b = named("u", "v", "w"), c = named("u", "w", "v"), d = named("x", "y", "z"))
  expect_error(kernel_fusion(y = 1:3, kernels = rows), "those of `b` and `c` are named differently",
    class = "kernelect_error_argument")
  fit <- kernel_fusion(y = c(1, 2, 4), kernels = rows[1:2], adaptive = FALSE)
  expect_named(fitted(fit), c("u", "v", "w"))
  expect_identical(fit$support_names, c("u", "v", "w")[fit$support])
  # names that are not unique tell no rows apart
  twice <- named("u", "u", "w")
  fit <- kernel_fusion(y = c(1, 2, 4), kernels = list(a = twice), adaptive = FALSE)
  expect_null(fit$support_names)
  expect_equal(unname(predict(fit, list(a = K))), unname(fitted(fit)))
})

test_that("an eigenvalue of -1e-8 of the largest is rounding, more is not", {
  expect_silent(check_definite(diag(c(4, 1, -4e-8)), "K"))
  expect_silent(check_definite(matrix(0, 2, 2), "K"))
  expect_error(check_definite(diag(c(4, 1, -4.1e-8)), "K"), "eigenvalue is -4.1e-08 (largest 4)",
    fixed = TRUE, class = "kernelect_error_indefinite")
  nothing <- kernel_fusion(y = c(1, 2, 4), kernels = list(zero = matrix(0, 3, 3), a = diag(3)),
    adaptive = FALSE)
  expect_identical(nothing$weights, c(zero = 0, a = 1))
})

test_that("three different eigenvalues take three steps, one takes one, at any size", {
  for (n in c(300, 303)) {
    expect_equal(eigenvalue_range(diag(rep(c(-2, 1, 5), n / 3))), c(-2, 5), tolerance = 1e-10)
    expect_equal(eigenvalue_range(2 * diag(n)), c(2, 2), tolerance = 1e-12)
    expect_equal(eigenvalue_range(matrix(0, n, n)), c(0, 0))
  }
  expect_equal(eigenvalue_range(diag(rep(c(-2, 5), 151))), c(-2, 5), tolerance = 1e-10)
  # up to 300 rows every eigenvalue is found, be it not clear of the rest
  crowded <- diag(c(-1e-6, seq(0, 1, length.out = 299)))
  expect_equal(eigenvalue_range(crowded), c(-1e-6, 1), tolerance = 1e-12)
})

test_that("weights stop at a change of exactly `tol`, and the warning tells the change", {
  data <- toy(30, 6)
  stopped <- function(...) suppressWarnings(kernel_fusion(data$x, data$y, ...))
  path <- as.matrix(stopped(max_iter = 12, tol = 0)$path[-1])
  # of the kernels that were left
  change <- apply(abs(path[-1, ] / path[-12, ] - 1), 1, max, na.rm = TRUE)
  at <- which(change == cummin(change))[2] # the second that is the least so far
  fit <- stopped(tol = change[at])
  expect_identical(fit$iterations, unname(at))
  expect_true(fit$converged)
  expect_identical(stopped(tol = change[at] * 0.99)$iterations,
    unname(which(change < change[at])[1]))
  expect_warning(kernel_fusion(data$x, data$y, max_iter = 3, tol = 0),
                 paste0("by a share of ", format(change[[3]], digits = 2),
                   " after `max_iter` = 3 iterations."), fixed = TRUE)
  expect_output(print(stopped(max_iter = 3, tol = 0)),
    "weights adaptive, not converged in 3 iterations", fixed = TRUE)
  expect_warning(once <- kernel_fusion(data$x, data$y, max_iter = 1),
    "after `max_iter` = 1 iteration. Raise", fixed = TRUE)
  expect_output(print(once), "not converged in 1 iteration\n", fixed = TRUE)
  # the last iteration allowed may be the one that settles
  expect_silent(fit <- kernel_fusion(data$x, data$y, max_iter = at, tol = change[at]))
  expect_true(fit$converged)
})

test_that("a weight or a dual value of 1e-12 of the largest is where it counts as none", {
  response <- list(scale = 4, type = "regression")
  set <- list(mean_diagonal = c(1, 2, 1, 2))
  expect_identical(prune_weights(c(8, 2e-12, 4e-12, 8e-12), set, response, list(noise = 0.1)),
    c(8, 0, 0, 8e-12))
  expect_identical(prune_weights(c(1, 0.5e-12, 1e-12, 0), set, response, list(noise = 0.1)),
    c(1, 0.5e-12, 1e-12, 0))
  expect_error(prune_weights(c(4e-12, 0, 0, 2e-12), set, response, list(noise = 0.1)),
    "Try other kernels, or `adaptive = FALSE`", fixed = TRUE,
               class = "kernelect_error_vanished")
  expect_identical(drop_dust(c(2, 2e-12, 3e-12, 0)), c(2, 0, 3e-12, 0))
})

test_that("weights that would all vanish are found from those of a larger cost", {
  for (seed in c(2, 6, 33)) { # equal weights lead to zero on these draws of 20 rows, 100 columns
    train <- simulate_fusion(20, seed, type = "recognition")
    x <- scale(train[names(train) != "y"])
    g <- 2 * (train$y == levels(train$y)[2]) - 1
    expect_silent(fit <- kernel_fusion(y ~ ., train))
    expect_true(fit$converged)
    expect_identical(fit$cost, 1)
    expect_lte(max(fit$dual), 1)
    form <- drop(crossprod(x, g * fit$dual))^2
    expect_equal((fit$weights * form)[fit$active], rep(1, sum(fit$active)), tolerance = 1e-5,
      ignore_attr = TRUE)
    larger <- kernel_fusion(y ~ ., train, cost = 10)
    again <- kernel_fusion(y ~ ., train, start = larger$weights)
    expect_identical(fit$weights, again$weights)
    expect_identical(as.list(fit$path[-1]), as.list(rbind(larger$path, again$path)[-1]))
    expect_identical(fit$path$iteration, seq_len(fit$iterations))
    expect_identical(kernel_rank(y ~ ., train, method = "fusion")$ranking[1],
      unname(which.max(fit$weights)))
  }
})

test_that("weights that stand still at a larger cost only are kept with a warning", {
  x <- random_matrix(50, 1, 5)
  side <- rep(c(1, -1), 25)
  y <- factor(side)
  apart <- function(by) x - side * (mean(side * x) - by) # so far are the means from the middle
  # a slope s gains at most 50 cost s by, and stands still where it gains 1
  expect_warning(kernel_fusion(apart(0), y), class = "kernelect_warning_vanished")
  x <- apart(0.015)
  expect_warning(fit <- kernel_fusion(x, y), "`cost` = 1 all weights vanish",
    class = "kernelect_warning_convergence")
  expect_false(fit$converged)
  expect_true(all(fit$active))
  expect_identical(fit$cost, 1)
  preset <- kernel_fusion(x, y, adaptive = FALSE, start = fit$weights)
  expect_identical(fit$dual, preset$dual)
  expect_identical(fit$fitted.values, preset$fitted.values)
  expect_identical(unlist(fit$path[fit$iterations, -1]), unname(fit$weights))
  expect_length(predict(fit, x), 50)
})

test_that("a rare class amid another gives the same answer for all rows, with a warning", {
  # The mean of the rare rows is one of the others too: with equal sums of lambda on both sides the
  # normal vector is zero, and the bound on the rare ones leaves nothing better, whatever the cost.
  others <- random_matrix(60, 3, 8)
  rare <- others[1:6, ] * 0.1
  x <- rbind(others, rare - rep(colMeans(rare) - colMeans(others), each = 6))
  y <- factor(rep(c("often", "rare"), c(60, 6)))
  for (cost in c(1, 100)) {
    expect_warning(fit <- kernel_fusion(x, y, cost = cost), "Larger `weights` for the rows of rare",
      class = "kernelect_warning_vanished")
    expect_false(fit$converged)
    preset <- kernel_fusion(x, y, adaptive = FALSE, cost = cost)
    expect_identical(fit[c("weights", "dual", "fitted.values")],
      preset[c("weights", "dual", "fitted.values")])
    expect_lt(max(abs(coef(fit))), 1e-6)
    expect_identical(as.character(predict(fit, x)), rep("often", 66))
    expect_equal(unname(predict(fit, x[1:2, ], type = "prob")[, "rare"]), rep(6 / 66, 2),
      tolerance = 0.02)
  }
  expect_error(kernel_rank(x, y, method = "fusion"), "no column tells the classes apart",
    class = "kernelect_error_vanished")
})

test_that("larger weights of a rare class are the remedy that the warning says they may be", {
  skip_if_not_installed("MASS")
  river <- transform(MASS::Boston, chas = factor(chas)) # 35 of 506 rows
  expect_warning(fit <- kernel_fusion(chas ~ ., river, folds = 0),
    class = "kernelect_warning_vanished")
  expect_identical(levels(droplevels(predict(fit))), "0")
  heavy <- 253 / as.vector(table(river$chas)[river$chas])
  expect_no_warning(fit <- kernel_fusion(chas ~ ., river, weights = heavy, folds = 0))
  expect_true(fit$converged)
  expect_gt(sum(predict(fit) == "1" & river$chas == "1"), 25)
})

test_that("where lambda cannot sum to 1, no weight can stand still", {
  response <- fusion_response(factor(rep(1:2, c(4, 16))))
  expect_true(may_survive(response, 0.125))
  expect_false(may_survive(response, 0.124))
  expect_true(may_survive(fusion_response(factor(rep(1:2, c(4, 16))), rep(c(3, 0.01), c(4, 16))),
    1 / (2 * 0.16)))
  expect_false(may_survive(fusion_response(factor(rep(1:2, c(4, 16))), rep(c(3, 0.01), c(4, 16))),
    0.99 / (2 * 0.16)))
  # beyond two classes the decisions count together: 2 + 3 + 5 rows on the smaller sides
  three <- fusion_response(factor(rep(1:3, c(2, 3, 5))))
  expect_true(may_survive(three, 0.05))
  expect_false(may_survive(three, 0.049))
  expect_false(may_survive(response, Inf))
  expect_false(may_survive(fusion_response(rnorm(5)), 1))
  data <- toy(20, 3)
  expect_error(kernel_fusion(data$x, factor(data$y > 0), cost = 0.02),
    class = "kernelect_error_vanished")
})

test_that("a weight that is given to a constant column is none", {
  data <- toy(20, 3)
  data$x[, 2] <- 5
  expect_identical(kernel_fusion(data$x, data$y, adaptive = FALSE, start = c(1, 5, 2))$weights,
    c(v1 = 1, v2 = 0, v3 = 2))
})

test_that("a response of one column is a vector", {
  data <- toy(20, 3)
  expect_identical(kernel_fusion(data$x, matrix(data$y))$dual, kernel_fusion(data$x, data$y)$dual)
  K <- list(a = gram(data$x))
  expect_identical(kernel_fusion(y = matrix(data$y), kernels = K)$dual,
    kernel_fusion(y = data$y, kernels = K)$dual)
  expect_error(kernel_fusion(y = cbind(data$y, 1), kernels = K), class = "kernelect_error_argument")
})

test_that("a centred system is solved whatever its rank and however small the term on its diagonal",
  {
  x <- scale(random_matrix(12, 15), scale = FALSE)
  b <- random_matrix(12, 1, 2)[, 1]
  b <- b - mean(b)
  full <- tcrossprod(x) # of rank 11: centred
  size <- mean(diag(full))
  flat <- rep(sqrt(1 / 12), 12)
  for (share in c(1e-12, 1e-11, 1e-3, 1)) {
    with_noise <- full + share * size * diag(12)
    expect_equal(solve_centred(with_noise, b, share * size), solve(with_noise, b),
      tolerance = 1e-3 * min(1, 1e-3 / share))
  }
  e <- eigen(full, symmetric = TRUE)
  expect_equal(solve_centred(full, b, 0, flat),
    drop(e$vectors[, 1:11] %*% (crossprod(e$vectors[, 1:11], b) / e$values[1:11])),
    tolerance = 1e-8)
  low <- tcrossprod(x[, 1:4])
  e <- eigen(low, symmetric = TRUE)
  expect_equal(solve_centred(low, b, 0, flat),
    drop(e$vectors[, 1:4] %*% (crossprod(e$vectors[, 1:4], b) / e$values[1:4])), tolerance = 1e-8)
})

test_that("print names six kernels and counts rows, classes and shares", {
  data <- toy(40, 30)
  preset <- function(...) kernel_fusion(data$x, data$y, adaptive = FALSE, scale = FALSE, ...)
  lines <- function(fit) capture.output(print(fit))
  diagonal <- colMeans(data$x^2)
  six <- lines(preset(start = rep(1:0, c(6, 24)) / diagonal))
  expect_identical(six[1], "<kernel_fusion> regression on 40 rows: 6 of 30 kernels active")
  expect_identical(six[2], "kernels: columns as kernels of rank one, weights preset")
  expect_match(six[3], "^noise:   0.1 of the mean diagonal; training RMSE ")
  expect_identical(six[4], paste0("share:   ", paste0("v", 1:6, " 16.7%", collapse = ", ")))
  seven <- lines(preset(start = rep(1:0, c(7, 23)) / diagonal))
  expect_identical(seven[4],
    paste0("share:   ", paste0("v", 1:6, " 14.3%", collapse = ", "), ", ..."))
  two <- lines(preset(start = rep(c(3, 1, 0), c(1, 1, 28)) / diagonal))
  expect_identical(two[4], "share:   v1 75%, v2 25%")
  K <- kernel_fusion(y = data$y, kernels = list(gram(data$x)), adaptive = FALSE)
  expect_identical(lines(K)[2], "kernels: Gram matrices, weights preset")
  classes <- kernel_fusion(iris[1:4], iris$Species, adaptive = FALSE, cost = 2)
  expect_identical(lines(classes)[1],
    "<kernel_fusion> recognition, 3 classes on 150 rows: 4 of 4 kernels active")
  expect_identical(lines(classes)[3],
    paste0("cost:    2; ", length(classes$support), " support rows; training error ",
                                             format(mean(predict(classes, iris) != iris$Species),
                                               digits = 3)))
  expect_identical(format_small(1e-10), "1e-10")
  expect_identical(format_small(9.9e-11), "below 1e-10")
})

test_that("a summary lists twenty kernels and ten that are inactive before it counts", {
  data <- toy(40, 31)
  shown <- function(active, inactive) {
    x <- data$x[, seq_len(active + inactive)]
    capture.output(print(
      summary(kernel_fusion(x, data$y, adaptive = FALSE, start = rep(1:0, c(active, inactive))))))
  }
  lines <- shown(20, 10)
  expect_length(lines, 4 + 1 + 20 + 1)
  expect_identical(lines[26], paste("inactive:", paste0("v", 21:30, collapse = ", ")))
  lines <- shown(21, 0)
  expect_length(lines, 4 + 1 + 20 + 1)
  expect_identical(lines[26], "... and 1 more")
  expect_match(shown(1, 11), "v10, v11 and 1 more$", all = FALSE)
  expect_no_match(shown(3, 0), "inactive|gap|more")
  # a table has coefficients where there is one per column
  expect_named(summary(kernel_fusion(data$x, data$y))$kernels,
    c("kernel", "weight", "share", "coefficient"))
  expect_named(summary(kernel_fusion(iris[1:4], iris$Species))$kernels,
    c("kernel", "weight", "share"))
  expect_named(summary(kernel_fusion(data$x, data$y, rbf_kernel()))$kernels,
    c("kernel", "weight", "share"))
})

test_that(paste(
  "cross-Gram matrices may lack all their values, not their numbers, and have equally many rows"
), {
  data <- toy(20, 3)
  K <- list(a = gram(data$x), b = gram(data$x, linear_kernel()), c = gram(data$x, rbf_kernel(3)))
  fit <- kernel_fusion(y = data$y, kernels = K, adaptive = FALSE)
  nothing <- lapply(K, function(k) matrix(NA, 2, 20))
  expect_identical(predict(fit, nothing), c(NA_real_, NA_real_))
  expect_error(predict(fit, within_list(nothing, b = matrix(c(NA, TRUE), 2, 20))),
    "`newdata$b` must be a numeric matrix", fixed = TRUE,
               class = "kernelect_error_argument")
  rows <- list(a = K$a[1:4, ], b = K$b[1:4, ], c = K$c[1:3, ])
  expect_error(predict(fit, rows), "equally many rows, not 4 and 3.", fixed = TRUE,
    class = "kernelect_error_argument")
  expect_error(predict(fit, unname(K[1:2])), "a list of 3 cross-Gram matrices, or name them",
    class = "kernelect_error_argument")
  holes <- list(a = replace(K$a, cbind(2, 5), NA), b = replace(K$b, cbind(7, 1), NaN), c = K$c)
  expect_identical(which(is.na(predict(fit, holes))), c(2L, 7L))
  expect_equal(predict(fit, holes)[-c(2, 7)], fitted(fit)[-c(2, 7)], tolerance = 1e-10)
  expect_equal(predict(fit, lapply(K, function(k) k[3, , drop = FALSE])), fitted(fit)[3],
    tolerance = 1e-10)
})

test_that("the response of Gram matrices may be of any kind, and what is missing is said", {
  K <- list(a = gram(iris[1:4]))
  factor_fit <- kernel_fusion(y = iris$Species, kernels = K, adaptive = FALSE)
  expect_identical(
    kernel_fusion(y = as.character(iris$Species), kernels = K, adaptive = FALSE)$dual,
    factor_fit$dual)
  for (y in list(iris$Species, as.character(iris$Species), iris$Sepal.Length)) {
    y[c(1, 4)] <- NA
    expect_error(kernel_fusion(y = y, kernels = K), "missing",
      class = "kernelect_error_missing_values")
  }
  expect_error(kernel_fusion(y = iris$Sepal.Length[1:2], kernels = K),
    "per row of the Gram matrices (150), not 2.", fixed = TRUE,
               class = "kernelect_error_argument")
  for (bad in list(list(), data.frame(a = 1), K$a, "a")) {
    expect_error(kernel_fusion(y = iris$Species, kernels = bad),
      "Give `x`, or `kernels` as a named list", class = "kernelect_error_argument")
  }
})

test_that("predictions carry the names of the new rows", {
  data <- toy(20, 3)
  new <- data$x[1:3, ]
  rownames(new) <- c("p", "q", "r")
  expect_named(predict(kernel_fusion(data$x, data$y), new), rownames(new))
  expect_named(predict(kernel_fusion(data$x, data$y, rbf_kernel()), new), rownames(new))
  by_gram <- kernel_fusion(y = data$y, kernels = list(a = gram(data$x, rbf_kernel(1))))
  cross <- list(a = gram(new, rbf_kernel(1), data$x))
  expect_named(predict(by_gram, cross), rownames(new))
  three <- predict(kernel_fusion(iris[1:4], iris$Species), iris[c(7, 70), ], type = "decision")
  expect_identical(dimnames(three), list(c("7", "70"), levels(iris$Species)))
  expect_error(predict(by_gram, cross, threads = 0), "`threads`",
    class = "kernelect_error_argument")
})

test_that("a response in I() and a single complete row go with Gram matrices, too", {
  x <- random_matrix(30, 2)
  y <- x[, 1] + 0.1 * x[, 2]
  K <- list(a = tcrossprod(x[, 1]), b = tcrossprod(x[, 2]))
  fit <- kernel_fusion(y = y, kernels = K)
  expect_identical(kernel_fusion(y = I(y), kernels = K)$weights, fit$weights)
  new <- lapply(K, function(k) k[1:3, ])
  whole <- predict(fit, new)
  new$a[c(1, 3), 2] <- NA
  expect_equal(predict(fit, new), c(NA, whole[2], NA))
})

test_that("a cost beyond numbers is named as such, and the last that is one is not", {
  data <- list(x = iris[51:150, 1:2], y = iris$Species[51:150])
  expect_error(kernel_fusion(data$x, data$y, cost = 1e300),
    "`cost` must be at most 1e100, or `Inf`", class = "kernelect_error_argument")
  expect_error(check_cost(1.0001e100), class = "kernelect_error_argument")
  expect_identical(check_cost(1e100), 1e100)
  expect_identical(check_cost(Inf), Inf)
  set <- list(mean_diagonal = c(1, 1))
  expect_error(prune_weights(c(1, Inf), set, list(scale = 1), list()), "smaller `cost`",
    class = "kernelect_error_not_finite")
  expect_error(prune_weights(c(1, NaN), set, list(scale = 1), list()), "smaller `cost`",
    class = "kernelect_error_not_finite")
})

# ---- weights on a simplex -------------------------------------------------------------------

three_widths <- function(x) {
  lapply(c(narrow = 0.7, middle = 2, wide = 6), function(sigma) gram(x, rbf_kernel(sigma)))
}

test_that("weights on the simplex are the best there are, for classes and numbers", {
  data <- toy(60, 4)
  grams <- c(three_widths(data$x), list(line = 3 * tcrossprod(data$x)))
  unit <- vapply(grams, function(K) mean(diag(K)), 0)
  for (y in list(data$y, factor(data$y > 0), cut(data$y, 3))) {
    fit <- kernel_fusion(y = y, kernels = grams, tol = 1e-10)
    share <- fit$weights * unit
    expect_identical(fit$rule, "simplex")
    expect_equal(sum(share), 1)
    expect_true(all(share >= 0) && fit$converged && fit$weights_gap <= 1e-5)
    # the objective at the simplex's other points is no lower
    for (seed in 1:6) {
      other <- abs(random_matrix(4, 1, seed)[, 1])
      for (mix in c(0.02, 0.3, 1)) {
        start <- ((1 - mix) * share + mix * other / sum(other)) / unit
        preset <- kernel_fusion(y = y, kernels = grams, adaptive = FALSE, start = start, folds = 0)
        expect_gte(preset$objective, fit$objective * (1 - 1e-5))
      }
    }
    # a kernel with a share has the largest form, one without no larger (KKT)
    a <- as.matrix(if (is.numeric(y)) fit$dual else fit$dual * reference_sides(y))
    forms <- vapply(grams, function(K) sum(a * (K %*% a)), 0) / unit
    expect_equal(unname(forms[share > 1e-3]), rep(max(forms), sum(share > 1e-3)), tolerance = 1e-2)
    # the gap is that of the formula
    expect_equal(fit$weights_gap, (max(forms) - sum(share * forms)) / 2 / fit$objective,
      tolerance = 0.02)
  }
})

test_that("the objective is that of the primal problem", {
  data <- toy(50, 3)
  grams <- three_widths(data$x)
  y <- factor(data$y > 0)
  fit <- kernel_fusion(y = y, kernels = grams, cost = 2, folds = 0)
  K <- Reduce(`+`, Map(`*`, grams, fit$weights))
  g <- reference_sides(y)[, 1]
  a <- g * fit$dual
  f <- drop(K %*% a) + fit$intercept
  expect_equal(fit$objective, sum(a * (K %*% a)) / 2 + 2 * sum(pmax(0, 1 - g * f)),
    tolerance = 1e-6)
  fit <- kernel_fusion(y = data$y, kernels = grams, noise = 0.3)
  K <- Reduce(`+`, Map(`*`, grams, fit$weights))
  f <- drop(K %*% fit$dual) + fit$intercept
  expect_equal(fit$objective,
    sum(fit$dual * (K %*% fit$dual)) / 2 + sum((data$y - f)^2) / (2 * 0.3), tolerance = 1e-6)
})

test_that("the nearest point of the simplex is found", {
  for (seed in 1:10) {
    v <- random_matrix(5, 1, seed)[, 1]
    s <- project_simplex(v)
    expect_equal(sum(s), 1)
    expect_true(all(s >= 0))
    # v - s is constant where s is positive and no larger elsewhere
    expect_equal(diff(range((v - s)[s > 0])), 0)
    expect_true(all((v - s)[s == 0] <= min((v - s)[s > 0]) + 1e-12))
  }
  expect_equal(project_simplex(c(5, 9, 1), c(TRUE, FALSE, TRUE)), c(1, 0, 0))
})

test_that("columns keep the paper's rule, kernels the simplex, and either can be asked for", {
  data <- toy(40, 3)
  expect_identical(kernel_fusion(data$x, data$y)$rule, "adaptive")
  expect_identical(kernel_fusion(data$x, data$y, list(rbf_kernel()))$rule, "simplex")
  columns <- kernel_fusion(data$x, data$y, rule = "simplex", tol = 1e-10)
  grams <- kernel_fusion(y = data$y, kernels = column_grams(scale(data$x)), tol = 1e-10)
  expect_equal(columns$weights, grams$weights, tolerance = 1e-6)
  expect_equal(unname(columns$fitted.values), unname(grams$fitted.values), tolerance = 1e-6)
  expect_error(kernel_fusion(data$x, data$y, rule = "best"), "`rule`",
    class = "kernelect_error_argument")
  expect_warning(kernel_fusion(data$x, factor(data$y > 0),
    list(rbf_kernel(1), rbf_kernel(3), linear_kernel()), max_iter = 1, tol = 1e-12, folds = 0),
      "duality gap", class = "kernelect_warning_convergence")
})

# ---- case weights ---------------------------------------------------------------------------

test_that("whole case weights give the fit of repeated rows", {
  data <- toy(40, 3)
  w <- rep(c(1, 2, 0, 3), 10)
  at <- rep(1:40, w)
  collect <- function(dual) unname(rowsum(as.matrix(dual), at))
  for (y in list(data$y, factor(data$y > 0), cut(data$y, 3))) {
    for (kernels in list(NULL, list(rbf_kernel(), linear_kernel()),
      list(a = rbf_kernel("median"), noise_kernel()))) {
      for (noise in if (is.numeric(y)) c(0, 0.1) else 0.1) {
        if (noise == 0 && !is.null(kernels)) next # exact equalities have no case weights
        given <- kernel_fusion(data$x, y, kernels, weights = w, noise = noise, folds = 0,
          max_iter = 30, tol = 0.5)
        again <- kernel_fusion(data$x[at, ], y[at], kernels, noise = noise, folds = 0,
          max_iter = 30, tol = 0.5)
        if (any(vapply(kernels, is_noise, NA))) next # a noise kernel tells repeated rows apart
        expect_equal(given$scaling, again$scaling, tolerance = 1e-12)
        expect_equal(given$weights, again$weights, tolerance = 1e-10)
        expect_equal(given$intercept, again$intercept, tolerance = 1e-8)
        expect_equal(given$training_error, again$training_error, tolerance = 1e-8)
        expect_equal(predict(given, data$x, type = "response"),
          predict(again, data$x, type = "response"), tolerance = 1e-8)
        expect_identical(c(NROW(given$dual), nobs(given)), rep(sum(w > 0), 2))
        lm_rows <- NROW(fitted(kernel_lm(data$x, y, weights = w)))
        expect_identical(NROW(fitted(given)), lm_rows) # rows of no weight are no rows in either
      }
    }
  }
})

test_that("case weights are costs by row, by any route", {
  data <- toy(40, 3)
  y <- factor(data$y > 0)
  w <- seq(0.1, 2, length.out = 40)
  fit <- kernel_fusion(data$x, y, list(rbf_kernel(2)), adaptive = FALSE, weights = w, cost = 0.7,
    folds = 0)
  expect_true(all(fit$dual <= 0.7 * w + 1e-12))
  expect_true(any(abs(fit$dual - 0.7 * w) < 1e-12))
  x <- scale_by(data$x, w)
  twin <- svm_dual(gram(x, rbf_kernel(2)), ifelse(y == "TRUE", 1, -1), 0.7 * w)
  expect_equal(fit$dual, twin$lambda, tolerance = 1e-6)
  frame <- data.frame(data$x, y, w)
  by_formula <- kernel_fusion(y ~ v1 + v2 + v3, frame, kernels = list(rbf_kernel(2)),
    adaptive = FALSE, weights = w, cost = 0.7, folds = 0)
  expect_equal(by_formula$dual, fit$dual)
  by_gram <- kernel_fusion(y = y, kernels = list(rbf = gram(x, rbf_kernel(2))), adaptive = FALSE,
    weights = w, cost = 0.7, folds = 0)
  expect_equal(by_gram$dual, fit$dual, tolerance = 1e-6)
  expect_error(kernel_fusion(data$x, y, weights = w[-1]), "`weights`",
    class = "kernelect_error_argument")
})

test_that("a class without weight is none", {
  w <- as.numeric(iris$Species != "setosa")
  fit <- kernel_fusion(iris[1:4], iris$Species, weights = w, folds = 0)
  expect_identical(fit$levels, c("versicolor", "virginica"))
  expect_equal(unname(fit$weights),
    unname(kernel_fusion(iris[51:150, 1:4], iris$Species[51:150], folds = 0)$weights),
    tolerance = 1e-8)
  expect_error(kernel_fusion(iris[1:4], iris$Species,
    weights = as.numeric(iris$Species == "setosa")), class = "kernelect_error_classes")
})

# ---- probabilities --------------------------------------------------------------------------

test_that("probabilities are those of decisions of rows left out", {
  data <- toy(60, 3)
  for (y in list(factor(data$y + random_matrix(60, 1, 8)[, 1] > 0),
    cut(data$y, 3, labels = c("a", "b", "c")))) {
    fit <- kernel_fusion(data$x, y, list(rbf_kernel(2), linear_kernel()), folds = 3)
    p <- predict(fit, rbind(data$x, NA), type = "prob")
    expect_identical(colnames(p), levels(y))
    expect_equal(rowSums(p)[1:60], rep(1, 60), ignore_attr = TRUE)
    expect_true(all(is.na(p[61, ])))
    expect_equal(p[1:60, ],
      calibrated_probabilities(fit$calibration, predict(fit, data$x, type = "decision")),
      ignore_attr = TRUE)
    expect_identical(dim(predict(fit, data$x[0, ], type = "prob")), c(0L, nlevels(y)))
    # the same by fits without the fold, on the same scale
    fold <- spread_folds(y, 3)
    x <- apply_scaling(data$x, fit$scaling)
    left <- matrix(0, 60, max(1, nlevels(y) * (nlevels(y) > 2)))
    for (f in 1:3) {
      keep <- fold != f
      grams <- lapply(list(rbf = rbf_kernel(2), linear = linear_kernel()), function(k) gram(x, k))
      part <- kernel_fusion(y = y[keep], kernels = lapply(grams, function(K) K[keep, keep]),
        folds = 0, tol = 1e-12, max_iter = 300)
      left[!keep, ] <- predict(part, lapply(grams, function(K) K[!keep, keep]), type = "decision")
    }
    twin <- calibrate_softmax(left, y)
    expect_equal(fit$calibration$slope, twin$slope, tolerance = 0.05)
    expect_equal(fit$calibration$offset, twin$offset, tolerance = 0.05)
  }
})

test_that("probabilities can be left out, and are then not to be had", {
  data <- toy(40, 3)
  fit <- kernel_fusion(data$x, factor(data$y > 0), folds = 0)
  expect_null(fit$calibration)
  expect_error(predict(fit, data$x, type = "prob"), "`folds = 0`",
    class = "kernelect_error_argument")
  expect_error(predict(kernel_fusion(data$x, data$y), data$x, type = "prob"), "regression",
    class = "kernelect_error_argument")
  expect_error(kernel_fusion(data$x, factor(data$y > 0), folds = 1), "`folds`",
    class = "kernelect_error_argument")
})

test_that("folds take turns within the classes", {
  y <- factor(c("a", "b", "a", "a", "b", "a"))
  expect_identical(spread_folds(y, 3), c(1L, 1L, 2L, 3L, 2L, 1L))
})

test_that("what fusing takes is counted, and said before it is taken", {
  expect_error(check_fusion_memory(1e6, 2, FALSE), "3 matrices of 1,000,000 x 1,000,000 need 24 TB",
    class = "kernelect_error_memory")
  expect_error(check_fusion_memory(1e6, 2, TRUE), "5 matrices", class = "kernelect_error_memory")
  expect_silent(check_fusion_memory(100, 2, TRUE))
})

test_that("a path is as long as its iterations, whatever `max_iter`", {
  data <- toy(20, 3)
  expect_lt(nrow(kernel_fusion(data$x, data$y, max_iter = 1e9)$path), 1000)
})

# ---- without the n x n matrices -----------------------------------------------------------------

test_that("machines on rows are those on matrices, to their gap", {
  data <- toy(150, 4)
  kernels <- list(a = rbf_kernel(), b = kernel_on(rbf_kernel(1), 1:3), line = linear_kernel(),
    n = noise_kernel())
  for (y in list(factor(data$y > 0), cut(data$y, 3))) {
    for (rule in c("preset", "simplex", "adaptive")) {
      for (on in list(kernels, NULL)) {
        fit <- function() suppressWarnings(
          kernel_fusion(data$x, y, on, adaptive = rule != "preset",
            rule = if (rule != "preset") rule, folds = 2, max_iter = 4))
        held <- fit()
        local({
          old <- options(kernelect.held = 0)
          on.exit(options(old))
          rows <- fit()
          expect_equal(rows$objective, held$objective, tolerance = 1e-6)
          expect_equal(rows$weights, held$weights, tolerance = 1e-5)
          expect_equal(rows$fitted.values, held$fitted.values, tolerance = 1e-4)
          expect_lte(rows$gap, 1e-6)
          expect_equal(predict(rows, data$x, type = "prob"), predict(held, data$x, type = "prob"),
            tolerance = 1e-3)
        })
      }
    }
  }
})

test_that("matrices are held where they are small, must be, or come from a function", {
  one <- list(kernel = rbf_kernel(1))
  expect_true(holds_matrices(5000, list(one), FALSE))
  expect_false(holds_matrices(6000, list(one), FALSE))
  expect_false(holds_matrices(5000, list(one, one), FALSE))
  expect_true(holds_matrices(6000, list(one), TRUE))
  expect_true(holds_matrices(6000,
    list(list(kernel = function_kernel(function(x, z) tcrossprod(x, z)))), FALSE))
})

test_that("an indefinite kernel is found from some of its rows, too", {
  old <- options(kernelect.held = 0)
  on.exit(options(old))
  data <- toy(60, 3)
  expect_error(kernel_fusion(data$x, factor(data$y > 0), list(sigmoid_kernel(1, -1))),
    class = "kernelect_error_indefinite")
})

test_that("a hard margin on rows is found or refused", {
  old <- options(kernelect.held = 0)
  on.exit(options(old))
  fit <- kernel_fusion(iris[1:100, 1:4], iris$Species[1:100], list(rbf_kernel()), adaptive = FALSE,
    cost = Inf)
  expect_equal(fit$training_error, 0)
  expect_error(kernel_fusion(iris[51:150, 1:4], iris$Species[51:150], list(linear_kernel()),
    cost = Inf), class = "kernelect_error_infeasible")
})

test_that("weights, coefficients and gaps count from where the help says, on both sides", {
  set <- list(mean_diagonal = c(1, 2))
  response <- list(type = "classification", scale = 1)
  control <- list(cost = 1)
  expect_identical(prune_weights(c(1, 0.6e-12), set, response, control), c(1, 0.6e-12))
  expect_identical(prune_weights(c(1, 0.4e-12), set, response, control), c(1, 0))
  expect_identical(prune_weights(c(1.1e-12, 0), set, response, control), c(1.1e-12, 0))
  expect_error(prune_weights(c(0.9e-12, 0), set, response, control),
    class = "kernelect_error_vanished")
  expect_identical(drop_dust(c(2, 2.1e-12, 1.9e-12)), c(2, 2.1e-12, 0))
  expect_identical(format_small(1.1e-10), "1.1e-10")
  expect_identical(format_small(0.9e-10), "below 1e-10")
})

test_that("a machine that was not solved to 1e-5 is told, and has not converged", {
  learned <- function(gap) {
    learn <- learn_weights
    environment(learn) <- list2env(list(solve_fused = function(...) list(gap = gap)),
      parent = environment(learn_weights))
    learn(list(names = "a"), 1, NULL, list(adaptive = FALSE))
  }
  expect_true(learned(0.9e-5)$converged)
  expect_warning(found <- learned(1.1e-5), class = "kernelect_warning_convergence")
  expect_false(found$converged)
})

test_that("what is too large to be squared is refused, and nothing smaller", {
  expect_identical(check_cost(1e100), 1e100)
  expect_error(check_cost(1.1e100), "at most 1e100", class = "kernelect_error_argument")
  y <- c(-1, 1)
  expect_identical(fusion_response(0.9e70 * y)$type, "regression") # its variance is the square
  expect_error(fusion_response(1.1e70 * y), class = "kernelect_error_not_finite")
  x <- matrix(c(1, 2, 4, 3))
  expect_error(kernel_fusion(x, 1:4, noise = 1.1e12), "`noise`", class = "kernelect_error_argument")
  expect_s3_class(suppressWarnings(kernel_fusion(x, 1:4, noise = 1e12, adaptive = FALSE)),
    "kernel_fusion")
})

test_that("a singular system is solved where it can be, with little noise and with none", {
  a <- tcrossprod(random_matrix(6, 2)) # of rank two
  b <- drop(a %*% random_matrix(6, 1, 2))
  for (nu in c(1e-6, 2e-10, 0.5e-10) * mean(diag(a))) { # by Cholesky, and by its pivots
    found <- solve_centred(a + diag(nu, 6), b, nu)
    expect_equal(drop(a %*% found) + nu * found, b, tolerance = 1e-8)
  }
  values <- c(1, c(1.1, 0.9) * 6 * .Machine$double.eps, 0, 0, 0)
  expect_equal(least_squares(diag(2 * values), 2 * values), c(1, 1, 0, 0, 0, 0), tolerance = 1e-12)
})

test_that("machines on a matrix of kernel values are solved to a gap of 1e-10, and no further", {
  x <- random_matrix(200, 4)
  y <- factor(x[, 1] + x[, 2]^2 + random_matrix(200, 1, 2)[, 1] > 0.5)
  fit <- kernel_fusion(x, y, list(rbf_kernel(0.3)), cost = 10)
  expect_lte(fit$gap, 1e-10)
  expect_gt(fit$gap, 1e-13) # time that nobody sees the result of
})

test_that("the calibration that is drawn is that of the model", {
  data <- toy(40, 3)
  fit <- kernel_fusion(data$x, factor(data$y > 0), folds = 3)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit, type = "calibration"), fit$calibration$reliability)
})

test_that("a width from the spread of weighted rows is the same of sparse columns", {
  skip_if_not_installed("Matrix")
  x <- pmax(random_matrix(20, 3, 4), 0)
  w <- rep(c(0.5, 1.5), 10)
  spread <- apply(x, 2, function(v) weighted.mean((v - weighted.mean(v, w))^2, w))
  for (data in list(x, Matrix::Matrix(x, sparse = TRUE))) {
    fit <- kernel_fusion(data, x[, 1] + cos(1:20), list(rbf_kernel("mean")), scale = FALSE,
      weights = w)
    expect_equal(fit$kernels[[1]]$kernel$sigma, sqrt(sum(spread)))
  }
})

test_that("a step that never falls is given up after twenty halvings", {
  at <- list(objective = 1, lack = 0, slope = c(1, -1))
  tried <- NULL
  worse <- function(s, last) {
    tried <<- rbind(tried, s)
    list(objective = 2, lack = 0)
  }
  expect_null(simplex_step(c(0.5, 0.5), at, NULL, c(TRUE, TRUE), worse))
  expect_equal(unname(tried[, 2]), 0.5 + 0.5 * 2^-(0:19))
})

test_that("one kernel has its share at once, however small the gap that is asked for", {
  data <- toy(60, 3)
  y <- factor(data$y > 0)
  fit <- function(tol) kernel_fusion(data$x, y, list(rbf_kernel(2)), tol = tol, folds = 0)
  expect_warning(strict <- fit(1e-300), "duality gap", class = "kernelect_warning_convergence")
  expect_false(strict$converged)
  expect_identical(strict$iterations, 1L)
  expect_identical(strict$weights, fit(1e-6)$weights)
})

test_that("noise alone is the identity on rows, too, whether other kernels are there or not", {
  data <- toy(40, 3)
  y <- factor(data$y > 0)
  for (kernels in list(list(noise_kernel(), rbf_kernel(2)), list(noise_kernel()))) {
    fit <- function(held) {
      start <- c(2, 0)[seq_along(kernels)]
      with_option("kernelect.held", held,
        kernel_fusion(data$x, y, kernels, start = start, adaptive = FALSE, folds = 0))
    }
    rows <- fit(0)
    expect_equal(rows$dual, fit(5e8)$dual, tolerance = 1e-6)
    expect_equal(as.vector(predict(rows, data$x, type = "decision")), rep(rows$intercept, 40))
  }
})

# Each of a row's repetitions has noise of its own.
test_that("whole weights give the fit of repeated rows with a noise kernel among the others", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  w <- rep(1:2, 16)
  again <- rep(1:32, w)
  kernels <- list(k = rbf_kernel(sigma = 1.5), l = linear_kernel(), e = noise_kernel())
  for (y in list(mtcars$mpg, factor(mtcars$am))) {
    for (adaptive in c(FALSE, TRUE)) {
      fit <- function(x, y, ...) {
        kernel_fusion(x, y, kernels, noise = 0, adaptive = adaptive, scale = FALSE, folds = 0,
                      tol = 1e-10, max_iter = 500, ...)
      }
      one <- fit(x, y, weights = w)
      two <- fit(x[again, ], y[again])
      expect_equal(one$weights, two$weights, tolerance = 1e-3)
      expect_equal(predict(one, x, type = "decision"), unname(predict(two, x, type = "decision")),
                   tolerance = 1e-3, ignore_attr = TRUE)
    }
  }
  grams <- list(a = gram(x, rbf_kernel(sigma = 1.5)), e = noise_kernel())
  one <- kernel_fusion(y = mtcars$mpg, kernels = grams, noise = 0, adaptive = FALSE, weights = w)
  many <- list(a = grams$a[again, again], e = noise_kernel())
  two <- kernel_fusion(y = mtcars$mpg[again], kernels = many, noise = 0, adaptive = FALSE)
  expect_equal(unname(fitted(one)), unname(fitted(two)[match(1:32, again)]))
})

test_that("coefficients of columns are right with hardly any noise, too", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  line <- lm(mtcars$mpg ~ x)
  for (noise in c(0, 1e-20, 1e-14, 1e-10)) {
    fit <- kernel_fusion(x, mtcars$mpg, noise = noise, adaptive = FALSE)
    expect_equal(unname(predict(fit, x)), unname(fitted(line)), tolerance = 1e-6)
    expect_equal(unname(predict(fit, x)), unname(fitted(fit)), tolerance = 1e-10)
  }
  heavy <- kernel_fusion(x, mtcars$mpg, weights = rep(1e14, 32))
  expect_equal(unname(predict(heavy, x)), unname(fitted(heavy)), tolerance = 1e-8)
})

test_that("kernels are blamed under their place in the list, and not to be joined by c()", {
  x <- iris[1:4]
  y <- iris$Species
  expect_error(kernel_fusion(x, y, kernels = "foo"), "^`kernels\\[\\[1\\]\\]` must be a kernel",
    class = "kernelect_error_argument")
  expect_error(kernel_fusion(x, y, list(rbf_kernel(), 3)), "^`kernels\\[\\[2\\]\\]` must be",
    class = "kernelect_error_argument")
  joined <- list(
    c(rbf_kernel(), linear_kernel()), c(rbf_kernel() + linear_kernel(), linear_kernel()),
    c(kernel_on(rbf_kernel(), 1), kernel_on(rbf_kernel(), 2))
  )
  for (kernels in joined) {
    expect_error(kernel_fusion(x, y, kernels = kernels), "use `list\\(rbf_kernel\\(\\), ",
      class = "kernelect_error_argument")
  }
  named <- list(type = rbf_kernel(), weights = linear_kernel())
  expect_named(kernel_fusion(x, y, kernels = named)$weights, c("type", "weights"))
})

test_that("a constant response is told of as kernel_lm() does", {
  expect_error(kernel_fusion(iris[1:4], rep(5, 150)), "`y` is constant \\(5\\)",
    class = "kernelect_error_response")
  expect_error(kernel_fusion(iris[1:4], rep(5, 150), list(rbf_kernel())), "is constant",
    class = "kernelect_error_response")
  expect_error(
    kernel_fusion(iris[1:4], c(1, rep(5, 149)), weights = rep(0:1, c(1, 149))), "is constant",
    class = "kernelect_error_response"
  )
})

test_that("rows of Gram matrices with missing values are omitted or excluded, columns too", {
  x <- scale(iris_matrix())
  K <- list(a = gram(x[, 2:3]), b = gram(x[, 4, drop = FALSE], linear_kernel()))
  gaps <- K
  gaps$a[3, ] <- gaps$a[, 3] <- NA # never compared with any
  gaps$b[7, 9] <- gaps$b[9, 7] <- NA
  y <- replace(iris$Sepal.Length, 20, NA)
  gone <- c(3L, 7L, 9L, 20L)
  whole <- kernel_fusion(y = y[-gone], kernels = lapply(K, function(k) k[-gone, -gone]))
  for (action in c("omit", "exclude")) {
    expect_message(fit <- kernel_fusion(y = y, kernels = gaps, na_action = action), "4 of 150")
    expect_identical(fit$weights, whole$weights)
    expect_identical(as.vector(fit$na.action), gone)
    expect_s3_class(fit$na.action, action)
    expect_length(fitted(fit), if (action == "omit") 146 else 150)
    new <- lapply(K, function(k) k[1:5, ])
    expect_identical(predict(fit, new), predict(fit, lapply(new, function(k) k[, -gone])))
    expect_identical(predict(fit, new), predict(whole, lapply(new, function(k) k[, -gone])))
  }
  expect_identical(which(is.na(predict(fit))), gone)
  classes <- suppressMessages(kernel_fusion(y = iris$Species, kernels = gaps, weights = 1:150,
    na_action = "exclude"))
  expect_identical(which(is.na(predict(classes, type = "prob")[, 1])), gone[1:3])
  expect_error(kernel_fusion(y = y, kernels = K), "`y` has missing values \\(1\\)",
    class = "kernelect_error_missing_values")
  expect_error(kernel_fusion(y = iris$Sepal.Length, kernels = gaps),
    "`kernels\\$a` has missing .*`na_action = \"omit\"`", class = "kernelect_error_not_finite")
})

test_that("a fit to weighted rows says that its error is weighted", {
  fit <- kernel_fusion(iris[1:4], iris$Species, weights = rep(1:2, 75))
  expect_output(print(fit), "; weighted training error ")
  expect_output(print(kernel_fusion(iris[1:4], iris$Species)), "; training error ")
})
