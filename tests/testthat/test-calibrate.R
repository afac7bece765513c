# The penalised log loss by optim(), from several starts.
reference_softmax <-
  function(d, classes, weights = rep(1, nrow(d)), penalty = 0.05) {
  d <- d - rowMeans(d)
  spread <- sqrt(sum(weights * d^2) / sum(weights))
  d <- d / spread
  own <- cbind(seq_along(classes), as.integer(classes))
  loss <- function(b) {
    v <- sweep(b[1] * d, 2, b[-1], `+`)
    sum(weights * (log(rowSums(exp(v))) - v[own])) + penalty * sum(b^2) / 2
  }
  b <- optim(numeric(ncol(d) + 1), loss, method = "BFGS",
    control = list(reltol = 1e-15, maxit = 1000))$par
  list(slope = b[1] / spread, offset = b[-1])
}

random_decisions <- function(n, k, pull, seed = 1) {
  classes <- factor(rep_len(letters[seq_len(k)], n))
  list(classes = classes, d = 0.3 * (random_matrix(n, k, seed) + pull * indicators(classes)))
}

# Loss and derivatives by matrices of all rows.
naive_softmax <- function(d, labels, weights, b, penalty) {
  values <- sweep(b[1] * d, 2, b[-1], `+`)
  p <- exp(values - apply(values, 1, max))
  p <- p / rowSums(p)
  target <- 1 * outer(labels, seq_len(ncol(d)), `==`)
  slopes <- lapply(seq_len(nrow(d)), function(i) rbind(d[i, ], diag(ncol(d))))
  list(
    loss = sum(weights * (log(rowSums(exp(values))) - rowSums(values * target))) +
      penalty * sum(b^2) / 2,
    gradient = Reduce(`+`, Map(function(s, i) weights[i] * c(s %*% (p[i, ] - target[i, ])),
                               slopes, seq_along(slopes))) + penalty * b,
    hessian = Reduce(`+`, Map(function(s, i) {
      weights[i] * s %*% (diag(p[i, ]) - tcrossprod(p[i, ])) %*% t(s)
    }, slopes, seq_along(slopes))) + diag(penalty, length(b))
  )
}

test_that("loss, gradient and Hessian are those of all rows at once, a row without a class too", {
  for (k in 2:4) {
    set <- random_decisions(150, k, 1, k)
    labels <- replace(as.integer(set$classes), c(3, 149), 0L)
    weights <- seq(0, 2, length.out = 150)
    b <- seq(-1, 2, length.out = k + 1)
    expect_equal(.Call(ffi_softmax, set$d, labels, weights, b, 0.05, 1L),
                 naive_softmax(set$d, labels, weights, b, 0.05), tolerance = 1e-12)
  }
})

test_that("slope and offsets minimise the penalised log loss, with weights and more classes", {
  for (k in 2:4) {
    set <- random_decisions(60, k, 1.2, k)
    weights <- seq(0.5, 2, length.out = 60)
    fit <- calibrate_softmax(set$d, set$classes, weights)
    twin <- reference_softmax(set$d, set$classes, weights)
    expect_equal(fit$slope, twin$slope, tolerance = 1e-5)
    expect_equal(unname(fit$offset), twin$offset, tolerance = 1e-4)
    expect_named(fit$offset, levels(set$classes))
  }
})

test_that("probabilities are rows that sum to one, a column a level, in the order of the decisions",
  {
  set <- random_decisions(50, 3, 1)
  rownames(set$d) <- paste0("r", 1:50)
  p <- calibrated_probabilities(calibrate_softmax(set$d, set$classes), set$d)
  expect_equal(unname(rowSums(p)), rep(1, 50), tolerance = 1e-12)
  expect_identical(dimnames(p), list(paste0("r", 1:50), letters[1:3]))
  expect_identical(dim(calibrated_probabilities(calibrate_softmax(set$d, set$classes), set$d[0, ])),
    c(0L, 3L))
})

test_that("a vector of decisions speaks for the second class, on any scale", {
  set <- random_decisions(80, 2, 1)
  d <- set$d[, 2] - set$d[, 1]
  p <- calibrated_probabilities(calibrate_softmax(d, set$classes), d)
  expect_gt(cor(p[, "b"], d), 0.9)
  scaled <- calibrated_probabilities(calibrate_softmax(1e6 * d, set$classes), 1e6 * d)
  expect_equal(scaled, p, tolerance = 1e-8)
  both <- calibrated_probabilities(calibrate_softmax(cbind(-d, d) / 2, set$classes),
    cbind(-d, d) / 2)
  expect_equal(both, p, tolerance = 1e-8)
})

test_that("where the search starts does not matter", {
  for (classes in 2:3) {
    set <- random_decisions(60, classes, 1.2, classes)
    fit <- calibrate_softmax(set$d, set$classes)
    near <- calibrate_softmax(set$d[-1, ], set$classes[-1])
    expect_equal(calibrate_softmax(set$d, set$classes, start = near), fit, tolerance = 1e-10)
    expect_false(isTRUE(all.equal(near, fit, tolerance = 1e-4)))
  }
  # a start without a class that has rows now is none
  fit <- calibrate_softmax(set$d, set$classes)
  none <- list(slope = 1, offset = replace(fit$offset, 2, never))
  expect_identical(calibrate_softmax(set$d, set$classes, start = none), fit)
})

test_that("whole weights are repeated rows", {
  set <- random_decisions(40, 3, 1)
  weights <- rep_len(c(1, 3, 2, 1), 40)
  again <- rep(1:40, weights)
  expect_equal(calibrate_softmax(set$d, set$classes, weights),
    calibrate_softmax(set$d[again, ], set$classes[again]), tolerance = 1e-8)
})

test_that("classes that never mix stay below certainty, and decisions that mislead give the shares",
  {
  classes <- factor(rep(c("a", "b"), c(30, 10)))
  apart <- ifelse(classes == "b", 1, -1)
  p <- calibrated_probabilities(calibrate_softmax(apart, classes), apart)
  expect_true(all(p > 1e-4 & p < 1 - 1e-4))
  wrong <- calibrate_softmax(-apart, classes)
  expect_identical(wrong$slope, 0)
  shares <- calibrated_probabilities(wrong, c(-5, 5))
  expect_equal(unname(shares[, "b"]), c(0.25, 0.25), tolerance = 0.02)
  none <- calibrate_softmax(matrix(1, 40, 2), classes)
  expect_equal(unname(calibrated_probabilities(none, matrix(1, 1, 2))[, "b"]), 0.25,
    tolerance = 0.02)
})

test_that("reliability counts what was said and what came true", {
  classes <- factor(c("a", "a", "b", "b"))
  p <- cbind(a = c(0.95, 0.55, 0.45, 0.15), b = c(0.05, 0.45, 0.55, 0.85))
  table <- reliability(p, classes)
  expect_equal(table$probability, c(0.05, 0.15, 0.45, 0.55, 0.85, 0.95))
  expect_equal(table$frequency, c(0, 0, 0, 1, 1, 1))
  expect_equal(table$weight, c(1, 1, 2, 2, 1, 1))
})

test_that("a class without rows, or decisions that are no numbers, leave probabilities that are", {
  set <- random_decisions(40, 3, 1)
  classes <- factor(set$classes, c("a", "b", "c", "none"))
  d <- cbind(set$d, -Inf)
  fit <- calibrate_softmax(d, classes)
  expect_equal(fit$offset[1:3], calibrate_softmax(set$d, set$classes)$offset, tolerance = 1e-10)
  p <- calibrated_probabilities(fit, d)
  expect_equal(rowSums(p), rep(1, 40), tolerance = 1e-12)
  expect_true(all(p[, "none"] < 1e-300))
  nothing <- calibrate_softmax(set$d * NaN, set$classes)
  expect_identical(nothing$slope, 0)
  expect_equal(unname(rowSums(calibrated_probabilities(nothing, set$d))), rep(1, 40),
    tolerance = 1e-12)
})

test_that("rows of any weight are calibrated, heavy ones as by shares", {
  model <- function(by) kernel_lda(iris[1:4], iris$Species, weights = rep(by, 150), ridge = 1e-6)
  heavy <- model(1e9)$calibration
  for (by in c(1e14, 1e30, 1e100)) {
    now <- model(by)$calibration
    expect_equal(now$slope, heavy$slope, tolerance = 1e-6)
    expect_equal(now$offset, heavy$offset, tolerance = 1e-5)
  }
})

test_that("a class that is far away leaves the others their probabilities", {
  n <- 300
  classes <- factor(rep(c("a", "b", "c"), each = n / 3))
  near <- with_seed(1, stats::rnorm(n, c(-1, 1, 0)[classes]))
  for (far in c(10, 1e3, 1e6)) {
    # of the first two classes d tells by its sign, as its true log odds 2 d
    d <- cbind(a = -near, b = near, c = ifelse(classes == "c", far, -far))
    p <- calibrated_probabilities(calibrate_softmax(d, classes), d)
    two <- classes != "c"
    expect_gt(min(p[!two, "c"]), 0.99)
    expect_equal(unname(p[two, "b"]), stats::plogis(2 * near[two]), tolerance = 0.1)
  }
})

test_that("the middle of weighted values and what the largest lead by are as they are said to be", {
  v <- c(3, 1, 2, 10)
  expect_identical(weighted_median(v, rep(1, 4)), 2)
  for (w in list(c(1, 5, 2, 1), c(4, 1, 1, 3), c(0, 0, 0, 2))) {
    all <- sort(rep(v, w))
    expect_identical(weighted_median(v, w), all[ceiling(length(all) / 2)])
  }
  d <- random_matrix(40, 4)
  sorted <- t(apply(d, 1, sort, decreasing = TRUE))
  expect_equal(leads(d), sorted[, 1] - sorted[, 2])
  expect_equal(leads(d[, 1:2]), abs(d[, 1] - d[, 2]))
  expect_identical(leads(cbind(1, 1, 0)), 0)
})

test_that("Newton's steps end where they are told to, each with a smaller loss", {
  set <- list(d = random_matrix(90, 3), labels = rep_len(1:3, 90))
  loss <- vapply(c(0:3, 100), function(most) {
    b <- newton_softmax(set$d, set$labels, rep(1, 90), numeric(4), 1L, most)
    naive_softmax(set$d, set$labels, rep(1, 90), b, calibration_penalty)$loss
  }, 0)
  expect_true(all(diff(loss) <= 0) && loss[2] < loss[1])
})

test_that("one class alone that decisions know has a spread, too", {
  classes <- factor(rep(c("a", "b"), c(5, 1)))
  one <- calibrate_softmax(cbind(a = 1:6, b = -Inf), classes)
  expect_identical(unname(one$offset[["b"]]), never)
  expect_identical(spread_of(matrix(c(3, 4)), c(1, 1)), sqrt(12.5))
})
