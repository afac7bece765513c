small_grid <- list(kernel = list(narrow = rbf_kernel(sigma = 0.5), wide = rbf_kernel(sigma = 2)),
  size = c(3, 8, 15))

# Cross-validation by hand: every candidate fitted from scratch in every fold, losses of rows
# pooled.
reference_tune <- function(x, y, fit, grid, fold, loss, type = NULL, weights = NULL, ...) {
  settings <- expand.grid(
    c(rev(grid[names(grid) != "kernel"]), list(kernel = seq_along(grid$kernel))))
  w <- if (is.null(weights)) rep(1, NROW(x)) else weights
  runs <- lapply(seq_len(nrow(settings)), function(i) {
    setting <- as.list(settings[i, , drop = FALSE])
    setting$kernel <- grid$kernel[[setting$kernel]]
    row_loss <- numeric(NROW(x))
    for (f in unique(fold)) {
      train <- fold != f
      more <- if (!is.null(weights)) list(weights = weights[train])
      model <- do.call(fit, c(list(x[train, ], y[train]), setting, more, list(...)))
      p <- if (is.null(type)) predict(model, x[!train, ]) else predict(model, x[!train, ],
        type = type)
      row_loss[!train] <- loss(p, y[!train])
    }
    by_fold <- tapply(row_loss * w, fold, sum) / tapply(w, fold, sum)
    share <- tapply(w, fold, sum) / sum(w)
    error <- sum(row_loss * w) / sum(w)
    c(error = error, se = sqrt(sum(share * (by_fold - error)^2) / (length(share) - 1)))
  })
  as.data.frame(do.call(rbind, runs))
}

folds_of <- function(y, folds, seed) {
  preserve_seed(seed, function() assign_folds(if (is.factor(y)) y, NROW(y), folds))
}

wrong <- function(p, y) p != y
squared <- function(p, y) (p - y)^2

test_that("one factorisation per fold and kernel gives what refitting each candidate gives", {
  x <- iris_matrix()
  grid <- c(small_grid, list(ridge = c(0.001, 0.1, 10)))
  for (fit in list(kernel_lm, kernel_lda)) {
    for (candidates in list(small_grid, grid)) {
      tuned <- kernel_tune(x, iris$Species, fit = fit, grid = candidates, folds = 5, seed = 3)
      twin <- reference_tune(x, iris$Species, fit, candidates, folds_of(iris$Species, 5, 3), wrong,
        tol = 0)
      expect_equal(tuned$results[c("error", "se")], twin)
    }
  }
  grid <- c(small_grid, list(ridge = c(0, 0.1)))
  tuned <- kernel_tune(x[, 1:3], x[, 4], grid = grid, folds = 4, scale = FALSE, center = "nearest")
  twin <- reference_tune(x[, 1:3], x[, 4], kernel_lm, grid, folds_of(x[, 4], 4, 1), squared,
    scale = FALSE, center = "nearest", tol = 0
  )
  expect_equal(tuned$results[c("error", "se")], twin, tolerance = 1e-8)
  fixed <- kernel_tune(x[, 1:3], x[, 4], grid = small_grid, folds = 4, ridge = 0.1, scale = FALSE,
    center = "nearest")
  expect_equal(fixed$results$error, twin$error[grid$ridge == 0.1], tolerance = 1e-8)
  expect_true(all(fixed$results$ridge == 0.1))
})

test_that("what is not in the grid the model chooses in every fold, and on all rows for the table",
  {
  x <- iris_matrix()
  kernels <- list(kernel = small_grid$kernel)
  for (grid in list(kernels, c(kernels, list(ridge = c(0.01, 1))))) {
    for (fit in list(kernel_lm, kernel_lda)) {
      tuned <- kernel_tune(x, iris$Species, fit = fit, grid = grid, folds = 3)
      twin <- reference_tune(x, iris$Species, fit, grid, folds_of(iris$Species, 3, 1), wrong,
        tol = 0.001)
      expect_equal(tuned$results[c("error", "se")], twin)
      whole <- lapply(grid$kernel, function(kernel) {
        lapply(if (is.null(grid$ridge)) list(NULL) else grid$ridge, function(ridge) {
          do.call(fit, c(list(x, iris$Species, kernel = kernel, tol = 0.001),
            if (!is.null(ridge)) list(ridge = ridge)))
        })
      })
      whole <- unlist(whole, recursive = FALSE)
      expect_equal(tuned$results$size,
        vapply(whole, function(m) as.double(length(m$basis$index)), 0), ignore_attr = TRUE)
      expect_equal(tuned$results$ridge, vapply(whole, `[[`, 0, "ridge"), ignore_attr = TRUE)
      expect_identical(as.double(length(tuned$model$basis$index)), tuned$best$size)
    }
  }
})

# Folds left out of the regression alone: the basis of all rows is given to every fit.
reference_shared <- function(x, y, basis, fold, size, ridge, weights = NULL) {
  out <- NULL
  for (f in seq_len(max(fold))) {
    train <- fold != f
    fit <- kernel_lm(x[train, ], y[train], basis = basis, size = size, ridge = ridge,
                     weights = weights[train])
    p <- as.matrix(predict(fit, x[!train, ], type = "response"))
    if (is.null(out)) out <- matrix(0, nrow(x), ncol(p), dimnames = list(NULL, colnames(p)))
    out[!train, ] <- p
  }
  out
}

test_that("folds that share a basis are left out of the regression exactly", {
  x <- iris_matrix()
  kernels <- list(narrow = rbf_kernel(0.7), wide = laplace_kernel(2))
  for (folds in c(3, 30)) { # folds of more and of fewer rows than the basis has
    fold <- folds_of(x[, 4], folds, 1)
    tuned <- kernel_tune(x[, 1:3], x[, 4], grid = list(kernel = kernels), folds = folds,
      shared = TRUE)
    for (i in 1:2) {
      best <- tuned$results[i, ]
      own <- kernel_lm(x[, 1:3], x[, 4], kernels[[i]], tol = 0.001)
      expect_equal(c(best$size, best$ridge), c(own$size, own$ridge))
      twin <- reference_shared(x[, 1:3], x[, 4], own$basis, fold, own$size, own$ridge)
      expect_equal(best$error, mean((twin - x[, 4])^2), tolerance = 1e-8)
    }
  }
  expect_identical(tuned$model$size, as.integer(tuned$best$size))
  # given sizes and ridges, case weights, classes and their probabilities
  grid <- list(kernel = kernels["narrow"], size = c(4, 11), ridge = c(0.01, 1))
  w <- rep_len(c(1, 2, 0.5), 150)
  fold <- folds_of(iris$Species, 4, 1)
  basis <- kernel_lm(x, iris$Species, kernels$narrow, size = 11, ridge = 1, weights = w)$basis
  for (metric in c("error", "brier")) {
    tuned <- kernel_tune(x, iris$Species, grid = grid, folds = 4, weights = w, metric = metric,
      shared = TRUE, tol = 0.001)
    twin <- mapply(function(size, ridge) {
      v <- reference_shared(x, iris$Species, basis, fold, size, ridge, w)
      loss <- numeric(150)
      for (f in 1:4) {
        out <- fold == f
        calibration <- calibrate_softmax(v[!out, ], iris$Species[!out], w[!out])
        p <- calibrated_probabilities(calibration, v[out, ])
        loss[out] <- if (metric == "error") {
          max.col(v[out, ], "first") != as.integer(iris$Species[out])
        } else {
          rowSums((p - indicators(iris$Species[out]))^2)
        }
      }
      sum(w * loss) / sum(w)
    }, tuned$results$size, tuned$results$ridge)
    expect_equal(tuned$results$error, twin, tolerance = 1e-7)
  }
})

# Decisions of a discriminant analysis on rows of which the regression of indicators, `a` on all
# rows, gives `values` without them.
reference_decisions <- function(model, values, a, mean) {
  s <- svd(a)
  used <- s$d > 1e-10 * s$d[1]
  inverse <- s$v[, used, drop = FALSE] %*% (t(s$u[, used, drop = FALSE]) / s$d[used])
  scores <- sweep(values, 2, mean) %*% inverse %*% model$scaling
  centres <- sweep(model$means, 2, model$center) %*% model$scaling
  shares <- model$counts / sum(model$counts)
  vapply(seq_along(shares), function(k) {
    gap <- sweep(scores, 2, centres[k, ])
    log(shares[k]) - rowSums((gap %*% solve(model$within)) * gap) / 2
  }, numeric(nrow(values)))
}

test_that("folds are left out of a discriminant analysis on a shared basis as of its regression", {
  x <- iris_matrix()
  y <- iris$Species
  kernel <- rbf_kernel(1.2)
  w <- rep_len(c(1, 2, 0.5), 150)
  fold <- folds_of(y, 4, 1)
  grid <- list(kernel = list(kernel), size = c(6, 12), ridge = c(0.001, 0.1))
  prior <- c(0.2, 0.3, 0.5)
  for (metric in c("error", "brier")) {
    tuned <- kernel_tune(x, y, kernel_lda, grid = grid, folds = 4, weights = w, metric = metric,
                         shared = TRUE, prior = prior)
    twin <- mapply(function(size, ridge) {
      model <- kernel_lda(x, y, kernel, size = size, ridge = ridge, tol = 0, weights = w)
      moved <- matrix(log(prior / (model$counts / sum(w))), 150, 3, byrow = TRUE)
      z <- sweep(predict(model$basis, x), 2, model$center)
      total <- crossprod(z * sqrt(w))
      penalty <- ridge * mean(diag(total))
      mean <- model$counts / sum(w)
      a <- solve(total + diag(penalty, size), crossprod(z * w, sweep(indicators(y), 2, mean)))
      left <- reference_shared(x, y, model$basis, fold, size, penalty, w)
      v <- reference_decisions(model, left, a, mean)
      loss <- numeric(150)
      for (f in 1:4) {
        out <- fold == f
        p <- calibrated_probabilities(calibrate_softmax(v[!out, ], y[!out], w[!out]), v[out, ])
        p <- p * exp(moved[out, ])
        p <- p / rowSums(p)
        loss[out] <- if (metric == "error") {
          max.col((v + moved)[out, ], "first") != as.integer(y[out])
        } else {
          rowSums((p - indicators(y[out]))^2)
        }
      }
      sum(w * loss) / sum(w)
    }, tuned$results$size, tuned$results$ridge)
    expect_equal(tuned$results$error, twin, tolerance = 1e-6)
  }
  # what the grid leaves open is that of the model on all rows, and the error near that of refitting
  open <- kernel_tune(x, y, kernel_lda, grid = list(kernel = list(kernel)), tol = 0.01,
                      metric = "brier", shared = TRUE)
  own <- kernel_lda(x, y, kernel)
  expect_equal(open$results$ridge, own$ridge)
  expect_equal(open$results$size, length(own$basis$index))
  again <- kernel_tune(x, y, kernel_lda, grid = list(kernel = list(kernel)), tol = 0.01,
                       metric = "brier")
  expect_false(identical(again$results$error, open$results$error))
  expect_equal(again$results$error, open$results$error, tolerance = 0.1)
})

test_that("probabilities of support vector machines come from decisions in the other folds", {
  kernel <- list(rbf_kernel(1.5), linear_kernel())
  of_folds <- function(x, y, fold, cost, w) {
    decisions <- matrix(0, length(y), nlevels(y))
    for (f in seq_len(max(fold))) {
      train <- fold != f
      fit <- kernel_fusion(x[train, ], y[train], kernel, cost = cost, weights = w[train], folds = 0)
      d <- predict(fit, x[!train, ], type = "decision")
      decisions[!train, ] <- if (is.matrix(d)) d else cbind(0, d)
    }
    p <- 0 * decisions
    for (f in seq_len(max(fold))) {
      out <- fold == f
      calibration <- calibrate_softmax(decisions[!out, ], y[!out], w[!out])
      p[out, ] <- calibrated_probabilities(calibration, decisions[out, ])
    }
    p
  }
  x <- iris_matrix()
  w <- rep_len(c(1, 2, 0.5), 150)
  for (rows in list(1:150, 51:150)) {
    y <- droplevels(iris$Species[rows])
    fold <- rep_len(c(2, 1, 3, 3), length(y))
    tuned <- kernel_tune(x[rows, ], y, kernel_fusion, weights = w[rows], folds = fold,
                         grid = list(kernel = list(kernel), cost = c(0.1, 5)), metric = "brier")
    twin <- vapply(c(0.1, 5), function(cost) {
      p <- of_folds(x[rows, ], y, fold, cost, w[rows])
      sum(w[rows] * rowSums((p - indicators(y))^2)) / sum(w[rows])
    }, 0)
    expect_equal(tuned$results$error, twin, tolerance = 1e-8)
    expect_false(is.null(tuned$model$calibration))
  }
  # a class that one fold has all of is as little likely there as any
  d <- every_class(cbind(a = c(1, 0), c = c(-1, 2)), c("a", "b", "c"))
  expect_identical(unname(d), cbind(c(1, 0), -1, c(-1, 2)))
  fold <- ifelse(iris$Species == "setosa", 1, rep_len(1:3, 150))
  tuned <- suppressWarnings(kernel_tune(x, iris$Species, kernel_fusion, folds = fold,
    grid = list(kernel = list(kernel)), metric = "logloss"), classes = "kernelect_warning_folds")
  expect_true(is.finite(tuned$results$error))
  # what the grid leaves open is what the model has
  expect_identical(tuned$results[c("ridge", "cost")], data.frame(ridge = NA_real_, cost = 1))
  open <- kernel_tune(x[, 1:3], x[, 4], kernel_fusion, grid = list(kernel = list(kernel)),
                      fit_args = list(noise = 0.3), folds = 3)
  expect_identical(open$results[c("ridge", "cost")], data.frame(ridge = 0.3, cost = NA_real_))
})

test_that("bases are shared with the default grid or many rows, where that can be done", {
  plan <- tune_plan(kernel_lm)
  expect_true(check_shared(NULL, plan, NULL, 10, list()))
  expect_false(check_shared(NULL, plan, list(size = 2), 2000, list()))
  expect_true(check_shared(NULL, plan, list(size = 2), 2001, list()))
  expect_false(check_shared(NULL, plan, list(ridge = c(0, 1)), 2001, list()))
  expect_false(check_shared(NULL, plan, NULL, 10, list(ridge = 0)))
  expect_true(check_shared(TRUE, plan, list(size = 2), 10, list()))
  expect_false(check_shared(FALSE, plan, NULL, 10, list()))
  expect_true(check_shared(NULL, tune_plan(kernel_lda), NULL, 10, list()))
  expect_false(check_shared(NULL, tune_plan(kernel_takes), NULL, 1e5, list()))
  expect_error(check_shared(TRUE, tune_plan(kernel_takes), NULL, 10, list()), "positive `ridge`",
    class = "kernelect_error_argument")
  tuned <- kernel_tune(iris[1:4], iris$Species, folds = 3)
  expect_identical(tuned$metric, "brier")
  by_fold <- kernel_tune(iris[1:4], iris$Species, folds = 3, shared = FALSE)
  expect_identical(by_fold$results$size, tuned$results$size)
  expect_equal(by_fold$results$error, tuned$results$error, tolerance = 0.2)
})

test_that("arguments of the model that are also those of tuning go by their own list", {
  kernels <- list(list(rbf_kernel(1), rbf_kernel(3)))
  args <- list(grid = list(kernel = kernels, cost = c(0.1, 1)), fit = kernel_fusion, folds = 3)
  binary <- droplevels(iris[51:150, ])
  tune <- function(...) do.call(kernel_tune, c(list(binary[1:4], binary$Species, ...), args))
  simplex <- tune(fit_args = list(rule = "simplex", folds = 2))
  expect_identical(simplex$model$rule, "simplex")
  expect_identical(tune(fit_args = list(rule = "adaptive"))$model$rule, "adaptive")
  expect_error(tune(fit_args = list("simplex")), "`fit_args` must be a named list",
    class = "kernelect_error_argument")
  expect_error(tune(tol = 1e-4, fit_args = list(tol = 1e-5)), "`tol` is given twice",
    class = "kernelect_error_argument")
})

test_that("each metric is what its formula gives on rows left out", {
  x <- iris_matrix()
  y <- iris$Species
  grid <- list(kernel = small_grid$kernel, size = c(3, 12), ridge = c(0.01, 1))
  fold <- folds_of(y, 4, 1)
  row <- function(y) cbind(seq_along(y), as.integer(y))
  losses <- list(
    brier = function(p, y) rowSums((p - outer(as.integer(y), 1:3, `==`))^2),
    logloss = function(p, y) -log(p[row(y)])
  )
  for (metric in names(losses)) {
    tuned <- kernel_tune(x, y, grid = grid, folds = 4, metric = metric)
    twin <- reference_tune(x, y, kernel_lm, grid, fold, losses[[metric]], "prob", tol = 0)
    expect_equal(tuned$results[c("error", "se")], twin, tolerance = 1e-6)
    expect_identical(tuned$metric, metric)
  }
  tuned <- kernel_tune(x[, 1:3], x[, 4], grid = grid, folds = 4, metric = "mae")
  twin <- reference_tune(x[, 1:3], x[, 4], kernel_lm, grid, folds_of(x[, 4], 4, 1),
    function(p, y) abs(p - y), tol = 0)
  expect_equal(tuned$results[c("error", "se")], twin, tolerance = 1e-8)
})

test_that("the area under the curve counts pairs of rows, classes by pairs, the largest is best", {
  by_pairs <- function(p, y, w = rep(1, length(y))) {
    a <- function(i, j) {
      up <- which(as.integer(y) == i)
      down <- which(as.integer(y) == j)
      wins <- outer(p[up, i], p[down, i], function(u, v) (u > v) + (u == v) / 2)
      sum(wins * outer(w[up], w[down])) / (sum(w[up]) * sum(w[down]))
    }
    pairs <- combn(length(levels(y)), 2)
    mean(apply(pairs, 2, function(ij) (a(ij[1], ij[2]) + a(ij[2], ij[1])) / 2))
  }
  with_seed(1, {
    y <- factor(sample(letters[1:3], 60, TRUE))
    p <- matrix(sample(1:9, 180, TRUE), 60)
    p <- p / rowSums(p)
    w <- sample(0:3, 60, TRUE)
  })
  expect_equal(pairwise_auc(p, y), by_pairs(p, y))
  expect_equal(pairwise_auc(p, y, w), by_pairs(p, y, w))
  expect_identical(pairwise_auc(p[y == "a", ], y[y == "a"]), NA_real_)
  two <- factor(y == "a")
  q <- cbind(1 - p[, 1], p[, 1])
  expect_equal(pairwise_auc(q, two),
    mean(outer(q[two == "TRUE", 2], q[two == "FALSE", 2], function(u, v) (u > v) + (u == v) / 2)))

  grid <- list(kernel = small_grid$kernel, size = c(2, 12))
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 3, metric = "auc")
  expect_equal(tuned$best$error, max(tuned$results$error))
  fold <- folds_of(iris$Species, 3, 1)
  hand <- vapply(1:3, function(f) {
    m <- kernel_lm(iris[fold != f, 1:4], iris$Species[fold != f], small_grid$kernel$wide, size = 12,
      tol = 0)
    by_pairs(predict(m, iris[fold == f, ], type = "prob"), iris$Species[fold == f])
  }, 0)
  expect_equal(tuned$results$error[4], mean(hand), tolerance = 1e-6)
  expect_error(kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 150, metric = "auc"),
    "two classes", class = "kernelect_error_argument")
})

test_that("folds may be given, and repetitions average over folds of their own", {
  x <- iris_matrix()
  fold <- rep(c("b", "a", "c"), 50)
  tuned <- kernel_tune(x, iris$Species, grid = small_grid, folds = fold)
  twin <- reference_tune(x, iris$Species, kernel_lm, small_grid, fold, wrong, tol = 0)
  expect_equal(tuned$results[c("error", "se")], twin)
  expect_identical(tuned$folds, 3L)
  thrice <- kernel_tune(x, iris$Species, grid = small_grid, folds = 4, repeats = 3, seed = 2)
  all <- preserve_seed(2, function() lapply(1:3, function(i) assign_folds(iris$Species, 150, 4)))
  twins <- lapply(all,
    function(fold) reference_tune(x, iris$Species, kernel_lm, small_grid, fold, wrong, tol = 0))
  expect_equal(thrice$results$error, rowMeans(vapply(twins, `[[`, numeric(6), "error")))
  expect_equal(thrice$results$se, sqrt(rowMeans(vapply(twins, `[[`, numeric(6), "se")^2)))
  expect_equal(kernel_tune(x, iris$Species, grid = small_grid, folds = 4, seed = 2)$results$error,
    twins[[1]]$error)
  for (bad in list(rep(1, 150), 1:3, rep(NA, 150), list(1, 2))) {
    expect_error(kernel_tune(x, iris$Species, folds = bad), "`folds`",
      class = "kernelect_error_argument")
  }
  expect_error(kernel_tune(x, iris$Species, folds = fold, repeats = 2), "`repeats`",
    class = "kernelect_error_argument")
})

test_that("case weights are repeated rows, where the folds are given", {
  rows <- c(1:20, 51:70, 101:120)
  x <- iris_matrix()[rows, ]
  y <- iris$Species[rows]
  w <- rep(c(1, 3, 2, 0, 1), 12)
  fold <- rep(1:3, 20)
  again <- rep(seq_along(w), w)
  grid <- list(sigma = c("x0.5", "2"), size = c(3, 6), ridge = c(0.1, 1))
  for (metric in c("error", "brier", "logloss", "auc")) {
    a <- kernel_tune(x, y, grid = grid, folds = fold, metric = metric, weights = w)
    b <- kernel_tune(x[again, ], y[again], grid = grid, folds = fold[again], metric = metric)
    expect_equal(a$results, b$results, tolerance = 1e-6, info = metric)
  }
  expect_equal(predict(a, x, type = "prob"), predict(b, x, type = "prob"), tolerance = 1e-6)
  number <- iris_matrix()[rows, 4]
  a <- kernel_tune(x[, 1:3], number, grid = grid, folds = fold, metric = "mae", weights = w,
    nested = TRUE)
  b <- kernel_tune(x[again, 1:3], number[again], grid = grid, folds = fold[again], metric = "mae",
    nested = TRUE)
  expect_equal(a$results, b$results, tolerance = 1e-8)
  expect_equal(a$nested, b$nested, tolerance = 1e-8)
})

test_that("the one-standard-error rule takes the simplest candidate near the best", {
  results <- data.frame(
    kernel = "k", sigma = 1, size = c(2, 4, 4, 8, 8), ridge = c(1, 0.1, 1, 1, 0.1), cost = NA,
    error = c(0.5, 0.24, 0.25, 0.2, 0.21), se = c(0.3, 0.1, 0.1, 0.05, 0.2)
  )
  expect_identical(best_candidate(results, "one_se"), 3L)
  expect_identical(best_candidate(results, "best"), 4L)
  # larger is better: 0.5 alone is within 0.3 of itself, then the smallest of those
  expect_identical(best_candidate(results, "one_se", larger = TRUE), 1L)
  results$error[1] <- NaN
  expect_identical(best_candidate(results, "one_se"), 3L)
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 5, rule = "one_se")
  r <- tuned$results
  near <- r[r$error <= min(r$error) + r$se[best_candidate(r)], ]
  expect_identical(tuned$best$size, min(near$size))
  expect_identical(length(tuned$model$basis$index), as.integer(tuned$best$size))
  expect_output(print(tuned), "the simplest within a standard error of the least")
})

test_that("the nested estimate is that of the whole procedure on rows it has not seen", {
  x <- iris_matrix()
  y <- iris$Species
  fold <- folds_of(y, 3, 1)
  for (metric in c("error", "logloss")) {
    tuned <- kernel_tune(x, y, grid = small_grid, folds = 3, metric = metric, nested = TRUE)
    by_hand <- vapply(1:3, function(f) {
      inner <- kernel_tune(x[fold != f, ], y[fold != f], grid = small_grid, folds = 3,
        metric = metric)
      if (metric == "error") return(mean(predict(inner, x[fold == f, ]) != y[fold == f]))
      p <- predict(inner, x[fold == f, ], type = "prob")
      -mean(log(p[cbind(seq_len(nrow(p)), as.integer(y[fold == f]))]))
    }, 0)
    expect_equal(tuned$nested, mean(by_hand))
    expect_equal(tuned$nested_se, sd(by_hand) / sqrt(3))
  }
  expect_output(print(tuned), "of the whole procedure: ", fixed = TRUE)
  expect_null(kernel_tune(x, y, grid = small_grid, folds = 3)$nested)
  # folds that were given stay together within
  given <- rep(1:3, 50)
  own <- kernel_tune(x, y, grid = small_grid, folds = given, nested = TRUE)
  by_hand <- vapply(1:3, function(f) {
    inner <- kernel_tune(x[given != f, ], y[given != f], grid = small_grid,
      folds = given[given != f])
    mean(predict(inner, x[given == f, ]) != y[given == f])
  }, 0)
  expect_equal(own$nested, mean(by_hand))
  expect_error(kernel_tune(x, y, folds = rep(1:2, 75), nested = TRUE), "three folds",
    class = "kernelect_error_argument")
})

test_that("the least of many estimates on noise is below one half, the nested one is not biased", {
  runs <- vapply(1:6, function(i) {
    with_seed(i, {
      x <- matrix(rnorm(120), 40)
      y <- factor(sample(rep(c("a", "b"), 20)))
    })
    tuned <- kernel_tune(x, y, grid = list(sigma = c("x0.5", "x1", "x2"), size = c(2, 5, 10)),
      folds = 4, nested = TRUE)
    c(tuned$best$error, tuned$nested)
  }, c(0, 0))
  expect_lt(mean(runs[1, ]), 0.45)
  expect_gt(mean(runs[2, ]), mean(runs[1, ]))
})

test_that("the largest seed there is will do", {
  grid <- list(kernel = rbf_kernel(1), size = 3)
  a <- kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 3, seed = .Machine$integer.max,
    basis = "random")
  expect_s3_class(a, "kernel_tune")
  expect_identical(piece_seed(5, 3), 8)
  expect_identical(piece_seed(.Machine$integer.max, 1), -as.double(.Machine$integer.max))
  expect_identical(piece_seed(.Machine$integer.max, 0), as.double(.Machine$integer.max))
})

test_that("widths are numbers or multiples of the mean, for every kernel that has one", {
  x <- iris_matrix()
  mean_sigma <- resolve_kernel(rbf_kernel(), scale(x))$sigma
  tuned <- kernel_tune(x, iris$Species, folds = 2,
    grid = list(sigma = c("x0.5", "mean", "3"), size = 5))
  expect_equal(tuned$results$sigma, c(0.5 * mean_sigma, mean_sigma, 3))
  tuned <- kernel_tune(x, iris$Species, folds = 2,
    grid = list(sigma = c(1, 2), size = 5,
      kernel = list(lap = laplace_kernel(), linear_kernel(), rbf_kernel())))
  expect_equal(tuned$results$sigma, c(1, 2, NA, 1, 2))
  expect_identical(tuned$results$kernel[1:3],
    c("lap, sigma = 1", "lap, sigma = 2", "linear kernel"))
  expect_identical(unname(vapply(tuned$kernels, `[[`, "", "type")),
    c("laplace", "laplace", "linear", "rbf", "rbf"))
  unscaled <- kernel_tune(x, iris$Species, folds = 2, grid = list(sigma = "mean", size = 5),
    scale = FALSE)
  expect_equal(unscaled$results$sigma, resolve_kernel(rbf_kernel(), x)$sigma)
  expect_equal(unscaled$model$basis$kernel$sigma, unscaled$best$sigma)
  for (bad in list(0, -1, "x", "xx2", NA, Inf, list(c(1, 2)), "wide")) {
    expect_error(kernel_tune(x, iris$Species, grid = list(sigma = bad)), "`grid$sigma` must be",
      fixed = TRUE, class = "kernelect_error_argument")
  }
  expect_error(kernel_tune(x, iris$Species, grid = list(sigma = numeric())), "at least one width",
    class = "kernelect_error_argument")
})

test_that("kernel_fusion() is tuned over cost, noise and kernels", {
  x <- iris_matrix()[51:150, ]
  y <- droplevels(iris$Species[51:150])
  costs <- list(cost = c(0.5, 5))
  tuned <- kernel_tune(x, y, fit = kernel_fusion, grid = costs, folds = 3)
  fold <- folds_of(y, 3, 1)
  twin <- vapply(costs$cost, function(cost) {
    wrong <- vapply(1:3,
      function(f) sum(
        predict(kernel_fusion(x[fold != f, ], y[fold != f], cost = cost),
          x[fold == f, ]) != y[fold == f]), 0)
    sum(wrong) / 100
  }, 0)
  expect_equal(tuned$results$error, twin)
  expect_identical(tuned$results$cost, costs$cost)
  expect_true(all(is.na(tuned$results$size)))
  expect_identical(tuned$model$cost, tuned$best$cost)
  kernels <- list(both = list(linear_kernel(), rbf_kernel()), one = rbf_kernel())
  fused <- kernel_tune(mpg ~ wt + hp, mtcars, fit = kernel_fusion,
    grid = list(kernel = kernels, ridge = c(0.1, 1)), folds = 3)
  expect_identical(fused$results$kernel, rep(c("both", "one"), each = 2))
  expect_identical(fused$results$ridge, c(0.1, 1, 0.1, 1))
  expect_identical(fused$model$noise, fused$best$ridge)
  expect_length(predict(fused, mtcars[1:3, ]), 3)
  # candidates that keep no kernel are told by NA, and an error where there is no other
  few <- kernel_tune(iris[1:4], iris$Species, fit = kernel_fusion, grid = list(cost = c(1e-4, 1)),
    folds = 3)
  expect_identical(is.na(few$results$error), c(TRUE, FALSE))
  expect_false(any(is.nan(few$results$error), is.nan(few$results$se)))
  expect_error(kernel_tune(iris[1:4], iris$Species, fit = kernel_fusion, grid = list(cost = 1e-4),
    folds = 3), class = "kernelect_error_vanished")
})

test_that("candidates without a model are counted, and neither summed up nor drawn", {
  data <- data.frame(mtcars[c("wt", "hp")], am = factor(mtcars$am))
  # 7 and 6 rows are left of the smaller class: 2 * 0.01 * 7 < 1, so no weight can stand still
  for (rule in c("best", "one_se")) {
    tuned <- suppressWarnings(kernel_tune(am ~ wt + hp, data, fit = kernel_fusion, folds = 2,
      rule = rule))
    expect_identical(tuned$results$cost, 10^(-2:2))
    expect_identical(which(is.na(tuned$results$error)), 1L)
    expect_false(any(is.nan(tuned$results$error), is.nan(tuned$results$se)))
    expect_output(print(tuned), "5 candidates (1 without a model in some fold), 2 folds of 32 rows",
      fixed = TRUE)
    expect_no_match(capture.output(print(tuned)), "NaN|NA")
    plot_lines(drawn <- plot(tuned))
    expect_identical(drawn$cost, 10^(-1:2))
  }
  results <- data.frame(kernel = c("a", "a", "b"), size = NA_real_, ridge = NA_real_,
    cost = c(0.1, 1, 1), error = c(NA, 0.2, NA))
  expect_identical(best_by_kernel(results), data.frame(results[2, ], row.names = 1L))
})

test_that("a grid may only have what the model has, given once", {
  expect_error(kernel_tune(Species ~ ., iris, grid = list(cost = 1)),
    "`cost`, which kernel_lm does not", class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., iris, fit = kernel_takes, grid = list(ridge = 1)),
    "`ridge`", class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., iris, grid = list(ridge = 1), ridge = 2), "twice",
    class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., iris, grid = list(ridge = -1)), "`grid$ridge`",
    fixed = TRUE, class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., iris, grid = list(ridge = c(1, Inf))), "`grid$ridge`",
    fixed = TRUE, class = "kernelect_error_argument")
  expect_identical(check_grid_numbers(c(Inf, 1), "cost", above = 0), c(1, Inf)) # a hard margin
  expect_error(kernel_tune(Species ~ ., iris, fit = kernel_fusion, grid = list(cost = 0)),
    "`grid$cost`", fixed = TRUE, class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., iris, metric = "mse"), "numeric response",
    class = "kernelect_error_argument")
  expect_error(kernel_tune(mpg ~ ., mtcars, metric = "auc"), "a factor",
    class = "kernelect_error_argument")
  expect_error(kernel_tune(mpg ~ ., mtcars, metric = "rmse"), "`metric`",
    class = "kernelect_error_argument")
  no_prob <- function(...) structure(list(kernel_lm(...)), class = "stubborn")
  registerS3method("predict", "stubborn",
    function(object, newdata, ...) predict(object[[1]], newdata), envir = asNamespace("stats"))
  expect_error(kernel_tune(iris[1:4], iris$Species, fit = no_prob, grid = small_grid,
    metric = "brier"), "probabilities", class = "kernelect_error_argument")
})

test_that("a best at the end of its grid is said, one inside is not", {
  results <- data.frame(kernel = rep(c("a", "b", "l"), each = 4),
    sigma = rep(c(1, 2, NA), each = 4), size = rep(c(3, 5), 6),
                        ridge = rep(c(0, 0, 1, 1), 3), cost = NA_real_, error = 1, se = 0)
  grid <- list(kernels = list(a = rbf_kernel(1), b = rbf_kernel(2), l = linear_kernel()),
    settings = results[1:4, c("size", "ridge")])
  expect_identical(at_edge(results, results[1, ], grid, TRUE),
    c(sigma = "smallest", size = "smallest"))
  expect_identical(at_edge(results, results[8, ], grid, TRUE),
    c(sigma = "largest", size = "largest", ridge = "largest"))
  expect_identical(at_edge(results, results[8, ], grid, FALSE),
    c(sigma = "largest", ridge = "largest"))
  expect_identical(at_edge(results, results[9, ], grid, TRUE), c(size = "smallest"))
  inside <- kernel_tune(iris[1:4], iris$Species, grid = list(kernel = rbf_kernel(2), size = 8),
    folds = 3)
  expect_null(inside$edge)
  edge <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = linear_kernel(), ridge = c(1e3, 1e4)),
    folds = 3)
  expect_identical(edge$edge, c(ridge = "smallest"))
  expect_output(print(edge), "at the edge of the grid: smallest ridge; a wider grid may do better",
    fixed = TRUE)
})

test_that("classes with two rows are no obstacle", {
  x <- iris_matrix()[c(1:30, 51:80, 101:102), ]
  y <- iris$Species[c(1:30, 51:80, 101:102)]
  for (metric in c("error", "logloss")) {
    tuned <- kernel_tune(x, y, grid = list(kernel = rbf_kernel(), size = 5), folds = 5,
      metric = metric)
    expect_true(is.finite(tuned$best$error))
  }
})

test_that("any function with a predict method can be tuned", {
  wrapped <- function(...) kernel_lm(...)
  a <- kernel_tune(iris[1:4], iris$Species, fit = wrapped, grid = small_grid, folds = 3, tol = 0)
  b <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 3)
  known <- setdiff(names(a$results), "ridge") # what a user's model chooses is not known
  expect_equal(a$results[known], b$results[known])
  expect_identical(a$model, b$model)
})

test_that("the function tuned is given the rows as they are", {
  seen <- NULL
  recorder <- function(x, y, ...) {
    seen <<- c(seen, range(x))
    kernel_lm(x, y, ...)
  }
  x <- iris_matrix() + 100
  kernel_tune(x, iris$Species, fit = recorder, grid = list(kernel = rbf_kernel(1), size = 3),
    folds = 3, seed = 1)
  expect_identical(range(seen), range(x))
})

test_that("results, best and model belong together", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 5)
  expect_named(tuned$results, c("kernel", "sigma", "size", "ridge", "cost", "error", "se"))
  expect_identical(nrow(tuned$results), 6L)
  expect_identical(tuned$results$kernel, rep(c("narrow", "wide"), each = 3))
  expect_identical(nrow(tuned$best), 1L)
  expect_equal(tuned$best$error, min(tuned$results$error))
  refit <- kernel_lm(iris[1:4], iris$Species, small_grid$kernel[[tuned$best$kernel]],
    size = tuned$best$size, tol = 0)
  expect_identical(tuned$model, without_call(refit))
  expect_identical(predict(tuned, iris), predict(refit, iris))
})

test_that("ties go to the smallest size, then to the first kernel", {
  results <- data.frame(kernel = c("a", "a", "b", "b"), size = c(5, 9, 5, 9), ridge = NA, cost = NA,
    error = c(2, 1, 1, 1), se = 0)
  expect_identical(best_candidate(results), 3L)
  expect_identical(best_candidate(results[c(3, 1, 2), ]), 1L)
})

test_that("folds are stratified, of equal size and cover all rows", {
  fold <- preserve_seed(1, function() assign_folds(iris$Species, 150, 10))
  expect_true(all(table(fold, iris$Species) == 5))
  uneven <- factor(rep(c("a", "b"), c(33, 7)))
  fold <- preserve_seed(1, function() assign_folds(uneven, 40, 6))
  expect_true(all(table(fold[uneven == "b"]) %in% 1:2))
  expect_lte(diff(range(table(fold))), 1)
})

test_that("the seed decides, and the generator of the session is left alone", {
  run <- function(seed) kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 5,
    seed = seed, basis = "random")$results
  with_seed(1, {
    before <- .Random.seed
    a <- run(1)
    expect_identical(.Random.seed, before)
    runif(3)
    expect_identical(run(1), a)
    expect_false(identical(run(2)$error, a$error))
  })
  rm_seed <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (!is.null(rm_seed)) assign(".Random.seed", rm_seed, globalenv()))
  suppressWarnings(rm(".Random.seed", envir = globalenv()))
  run(1)
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("formula, data frame and matrix give the same", {
  a <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 3)
  b <- kernel_tune(Species ~ ., iris, grid = small_grid, folds = 3)
  expect_identical(b$results, a$results)
  expect_identical(predict(b, iris), predict(a, iris))
  mixed <- data.frame(iris[1:3], f = rep(c("u", "v", "w"), 50))
  c <- kernel_tune(mixed, iris$Petal.Width, grid = small_grid, folds = 3)
  expect_equal(predict(c, mixed[1:4, ]), fitted(c$model)[1:4], tolerance = 1e-8)
})

test_that("matrix responses, missing rows and the default grid work", {
  tuned <- kernel_tune(iris[1:2], iris_matrix()[, 3:4], folds = 3, grid = small_grid)
  expect_identical(tuned$measure, "mean squared error")
  expect_identical(dim(predict(tuned, iris)), c(150L, 2L))
  x <- iris_matrix()
  x[5, 1] <- NA
  expect_message(tuned <- kernel_tune(x, iris$Species, folds = 3, na_action = "omit"), "omitted")
  expect_identical(tuned$n, 149L)
  expect_identical(nrow(tuned$results), length(default_kernels()))
  tiny <- kernel_tune(matrix(1:8), (1:8)^2, folds = 2)
  expect_true(all(tiny$results$size <= 8))
})

test_that("sizes beyond the basis repeat its largest", {
  tuned <- kernel_tune(iris[1:4], iris$Species,
    grid = list(kernel = linear_kernel(), size = c(4, 50)), folds = 3)
  expect_equal(tuned$results$error[1], tuned$results$error[2])
  expect_identical(tuned$best$size, 4)
})

test_that("sizes decide, unless a tolerance is given", {
  grid <- list(kernel = rbf_kernel(sigma = 8), size = 20)
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 3)
  expect_length(tuned$model$basis$index, 20)
  early <- kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 3, tol = 0.01)
  expect_lt(length(early$model$basis$index), 20)
})

test_that("kernel_takes() can be tuned", {
  tuned <- kernel_tune(iris[1:4], iris$Species, fit = kernel_takes,
    grid = list(kernel = rbf_kernel(), size = c(2, 5)), folds = 3)
  expect_s3_class(tuned$model, "kernel_takes")
  expect_lt(tuned$best$error, 0.2)
})

test_that("kernel_takes() is tuned by what its models of each size say of every fold", {
  x <- scale(iris_matrix()) + outer(sin(1:150), 1:4)
  y <- iris$Species
  fold <- rep_len(1:3, 150)
  sizes <- c(3, 8, 200)
  arguments <- list(threshold = function(t) 0.02 + 0 * t, select = "relief")
  tuned <- function(metric) {
    kernel_tune(x, y, kernel_takes, grid = list(kernel = rbf_kernel(2), size = sizes),
      folds = fold, metric = metric, fit_args = arguments)$results$error
  }
  said <- function(size, type) {
    lapply(1:3, function(f) {
      fit <- do.call(kernel_takes, c(list(x[fold != f, ], y[fold != f], rbf_kernel(2)), arguments))
      predict(head(fit, size), x[fold == f, ], type = type)
    })
  }
  expect_equal(tuned("error"), vapply(sizes, function(size) {
    mean(unlist(lapply(said(size, "class"), as.character)) != unlist(split(y, fold)))
  }, 0))
  expect_equal(tuned("brier"), vapply(sizes, function(size) {
    decision <- matrix(0, 150, 3)
    for (f in 1:3) decision[fold == f, ] <- said(size, "decision")[[f]]
    colnames(decision) <- levels(y)
    mean(vapply(1:3, function(f) {
      out <- fold == f
      fit <- calibrate_softmax(decision[!out, ], y[!out])
      p <- calibrated_probabilities(fit, decision[out, ])
      mean(rowSums((p - indicators(y)[out, ])^2))
    }, 0))
  }, 0), tolerance = 1e-6)
})

test_that("folds run in parallel where a plan is set, with the same result", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  skip_if_not_installed("kernelect") # workers load the installed package
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  parallel <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2)
  future::plan(future::sequential)
  expect_identical(parallel, kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2))
})

test_that("bad input is refused in words", {
  x <- iris_matrix()
  y <- iris$Species
  expect_snapshot(error = TRUE, {
    kernel_tune(x, y, fit = "lm")
    kernel_tune(x, y, folds = 1)
    kernel_tune(x, y, folds = 151)
    kernel_tune(x, y, size = 3)
    kernel_tune(x, y, Size = 3)
    kernel_tune(x, y, grid = list(sizes = 3))
    kernel_tune(x, y, grid = list(size = 0))
    kernel_tune(x, y, grid = list(kernel = list(1)))
    kernel_tune(x, y, basis = kernel_basis(x))
    kernel_tune(x, rep(1, 150))
    kernel_tune(x)
  })
  expect_error(kernel_tune(x, y, grid = list(kernel = list())), "at least one kernel",
    class = "kernelect_error_argument")
  # what a user's function fails with is passed on when it is ours, else wrapped
  expect_error(kernel_tune(x, y, fit = function(...) kernel_pca(x, ncomp = 0),
    grid = list(size = 2)), "`ncomp`",
               class = "kernelect_error_argument")
  expect_error(kernel_tune(x, y, fit = function(...) stop("out of luck"), grid = list(size = 2)),
    "failed with: out of luck",
               class = "kernelect_error_argument")
  broken <- kernel_tune(x, y, folds = 2, grid = small_grid)
  broken$model <- NULL
  expect_error(predict(broken, x), class = "kernelect_error_model")
})

test_that("methods print, summarise and draw", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 3)
  expect_snapshot({
    tuned
    summary(tuned)
  })
  expect_output(kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2, verbose = FALSE),
    NA)
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(tuned), tuned$results)
  expect_identical(nobs(tuned), 150L)
})

test_that("kernel_lda wants classes before the work", {
  expect_error(kernel_tune(mpg ~ ., mtcars, fit = kernel_lda), "`y`",
    class = "kernelect_error_argument")
})

test_that("a user's function gets the user's rows, in the folds and at the end", {
  cars <- transform(mtcars, cyl = factor(cyl))
  cars$hp[3] <- NA
  seen <- list()
  fit <- function(x, y, kernel, size) {
    seen <<- c(seen, list(vapply(x, function(v) class(v)[1], "")))
    expect_false(anyNA(x))
    kernel_lm(x, y, kernel = kernel, size = size)
  }
  tuned <- suppressMessages(
    kernel_tune(cars[c("cyl", "hp")], cars$mpg, fit, grid = list(kernel = rbf_kernel(), size = 3),
      folds = 3, na_action = "omit"))
  expect_identical(unique(seen), list(c(cyl = "factor", hp = "numeric")))
  expect_length(seen, 4)
  expect_identical(nobs(tuned$model), 31L)
})

test_that("an argument that the model does not have is refused by name", {
  expect_error(kernel_tune(Species ~ ., iris, fit = kernel_lda, folds = 2, ridgee = 1), "`ridge`",
    class = "kernelect_error_dots")
  expect_error(kernel_tune(Species ~ ., iris, folds = 2, ridgee = 1), "`ridge`",
    class = "kernelect_error_dots")
})

test_that("the default sizes are those up to the training rows of a fold, at least one", {
  expect_identical(default_sizes(400), c(5, 10, 20, 35, 50, 75, 100, 150, 200))
  expect_identical(default_sizes(199), c(5, 10, 20, 35, 50, 75, 100, 150))
  expect_identical(default_sizes(5), 5)
  expect_identical(default_sizes(4), 4)
  expect_identical(default_sizes(1), 1)
  takes <- suppressMessages(
    kernel_tune(iris[1:4], iris$Species, fit = kernel_takes, folds = 3, grid = NULL))
  expect_identical(sort(unique(takes$results$size)), c(5, 10, 20, 35, 50, 75, 100))
})

test_that("sizes are whole numbers from one, put in order", {
  expect_identical(check_grid_sizes(c(8, 1, 8, 3L)), c(1, 3, 8))
  for (size in list("a", numeric(), NA_real_, c(3, 0), c(3, 2.5), 0.5, -1, TRUE)) {
    expect_error(kernel_tune(iris[1:4], iris$Species, grid = list(size = size)),
      "`grid$size` must be a vector of whole numbers, at least 1",
                 fixed = TRUE, class = "kernelect_error_argument")
  }
})

test_that("a grid is a list of these names and no other", {
  for (grid in list(c(size = 3), list(3), list(size = 3, more = 1), list(size = 3, 4), rbf_kernel(),
    "rbf")) {
    expect_error(kernel_tune(iris[1:4], iris$Species, grid = grid),
      "`grid` must be a list with any of `kernel`, `sigma`, `size`, `ridge`, `cost`", fixed = TRUE,
                 class = "kernelect_error_argument")
  }
  expect_named(check_grid(list(), tune_plan(kernel_lm), 100, TRUE), c("kernels", "settings"))
})

test_that("the default kernels are RBF of 0.7 to 4 times the mean distance, and Laplace", {
  x <- scale(iris_matrix())
  widths <- vapply(default_kernels(), function(kernel) resolve_kernel(kernel, x)$sigma, 0)
  expect_equal(unname(widths) / resolve_kernel(rbf_kernel("mean"), x)$sigma,
    c(0.7, 1, 2, 4, 2, 4))
  expect_identical(unname(vapply(default_kernels(), `[[`, "", "type")),
    rep(c("rbf", "laplace"), c(4, 2)))
})

test_that("kernels without a name are named by what they are, equal ones by number", {
  read <- function(kernels) check_grid_kernels(kernels, NULL, tune_plan(kernel_lm))
  kernels <- read(list(a = rbf_kernel(1), rbf_kernel(2), linear_kernel()))
  expect_named(kernels, c("a", kernel_label(rbf_kernel(2)), kernel_label(linear_kernel())))
  expect_named(read(list(linear_kernel(), linear_kernel())),
    paste0(kernel_label(linear_kernel()), c("", " #1")))
  expect_named(read(rbf_kernel(2)), kernel_label(rbf_kernel(2)))
  expect_error(read(3), class = "kernelect_error_argument")
})

test_that("errors that differ by rounding alone tie, also at zero, and each kernel has its best", {
  results <- data.frame(kernel = rep(c("b", "a"), each = 3), size = rep(c(2, 5, 9), 2), ridge = NA,
    cost = NA, error = c(3, 1 + 5e-13, 1, 4, 1 + 5e-12, 2), se = 0)
  expect_identical(best_candidate(results), 2L)
  expect_identical(best_candidate(results[c(1, 3, 5), ]), 2L)
  expect_identical(best_candidate(replace(results, "error", list(c(1, 0, 0, 2, 0, 0)))), 2L)
  best <- best_by_kernel(results)
  expect_identical(best,
    data.frame(kernel = c("b", "a"), size = c(5, 5), ridge = NA, cost = NA,
      error = c(1 + 5e-13, 1 + 5e-12), se = 0))
})

test_that("error and standard error weigh folds by their rows", {
  values <- cbind(c(1, 2, 3, 4), c(2, 2, 5, 0), c(6, 2, 1, 1))
  rows <- c(2, 2, 1)
  combined <- combine_folds(values, rows, c(1, 1, 1))
  for (i in 1:4) {
    mean <- sum(rows * values[i, ]) / 5
    expect_equal(combined$error[i], mean)
    expect_equal(combined$se[i], sqrt(sum(rows * (values[i, ] - mean)^2) / 5 / 2))
  }
  values[1, 2] <- NA
  expect_equal(combine_folds(values, rows, c(1, 1, 1))$error[1], (2 * 1 + 6) / 3)
  values[1, 2] <- NaN
  expect_identical(lapply(combine_folds(values, rows, c(1, 1, 1)), `[`, 1L),
    list(error = NA_real_, se = NA_real_))
  expect_identical(is.nan(combine_folds(values, rows, c(1, 1, 1))$error), rep(FALSE, 4))
})

test_that("rows left out are told of once, other messages are not lost", {
  x <- iris_matrix()
  x[c(5, 70), 1] <- NA
  told <- capture_messages(
    kernel_tune(x, iris$Species, grid = list(kernel = rbf_kernel(1), size = 3), folds = 2,
      na_action = "omit"))
  expect_length(told, 1)
  expect_match(told, "2 of 150")
  expect_message(kernel_tune(iris[1:4], iris$Species,
    grid = list(kernel = rbf_kernel(1), size = 151), folds = 2), "more than the 150 rows")
})

test_that("sizes beyond the rows of a fold need no word, and nothing else does unasked", {
  grid <- list(kernel = linear_kernel(), size = c(4, 500))
  for (fit in list(kernel_lm, kernel_lda)) {
    said <- capture.output(type = "message",
      tuned <- kernel_tune(iris[1:4], iris$Species, fit = fit, grid = grid, folds = 3))
    expect_identical(said, character())
    expect_identical(tuned$best$size, 4)
  }
})

test_that("each thing that a tuned model needs is looked at", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2)
  broken <- list(
    within_list(tuned, results = as.matrix(tuned$results)),
    within_list(tuned, results = tuned$results[0, ]),
    within_list(tuned, results = tuned$results[-4]),
    within_list(tuned, results = tuned$results["size"]),
    within_list(tuned, best = as.matrix(tuned$best)),
    within_list(tuned, best = tuned$results[1:2, ]),
    within_list(tuned, best = tuned$best[0, ]), within_list(tuned, model = unclass(tuned$model)),
    within_list(tuned, model = factor("a"))
  )
  for (i in seq_along(broken)) {
    expect_error(print(broken[[i]]), class = "kernelect_error_model", info = i)
  }
  expect_output(print(tuned), "6 candidates, 2 folds of 150 rows", fixed = TRUE)
})

test_that("one candidate is not called several, and what was measured is named", {
  one <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1), folds = 2,
    ridge = 0)
  shown <- capture.output(print(one))
  expect_identical(shown[1:2],
    c("<kernel_tune> 1 candidate, 2 folds of 32 rows", "best:    linear kernel, size 1, ridge 0"))
  two <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = rbf_kernel(1), size = 1:2), folds = 2)
  expect_output(print(two), "<kernel_tune> 2 candidates, ", fixed = TRUE)
  expect_match(shown[3], "^mean squared error: [0-9.]+ \\(standard error [0-9.]+\\)$")
  expect_identical(
    kernel_tune(am == 1 ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1),
      folds = 2)$measure, "error rate")
})

test_that("a log loss is bounded by that of 1e-15, and errors that differ by rounding tie", {
  loss <- function(p) tune_metrics$logloss$value(cbind(a = p, b = 1 - p), factor("a", c("a", "b")),
    NULL)
  expect_equal(c(loss(1.1e-15), loss(0.9e-15), loss(0)), -log(1e-15 * c(1.1, 1, 1)))
  best <- function(more) best_candidate(data.frame(error = c(1, 1 + more), size = c(5, 2),
    ridge = 0, cost = NA, se = 0))
  expect_identical(c(best(0.9e-12), best(1.1e-12)), 2:1)
})

test_that("fusion has a grid of its own, and kernels fused without a name are called by theirs", {
  x <- as.matrix(mtcars[c("wt", "hp")])
  numbers <- kernel_tune(x, mtcars$mpg, kernel_fusion, folds = 2)
  expect_equal(numbers$results$ridge, 10^(-3:1))
  classes <- suppressWarnings(kernel_tune(x, factor(mtcars$am), kernel_fusion, folds = 2))
  expect_equal(classes$results$cost, 10^(-2:2))
  fused <- list(kernel = list(
    list(rbf_kernel(2), "linear"), list(kernel_on("linear", 2:1), noise_kernel())
  ))
  tuned <- kernel_tune(x, mtcars$mpg, kernel_fusion, folds = 2, grid = fused)
  expect_setequal(tuned$results$kernel,
    c("RBF kernel, sigma = 2 + linear kernel", "linear kernel on columns 2, 1 + noise"))
})

test_that("a grid without sizes leaves them to the model, and kernels may be words", {
  takes <- kernel_tune(iris[1:4], iris$Species, kernel_takes, folds = 2,
    grid = list(sigma = c(1, 2)))
  own <- kernel_takes(iris[1:4], iris$Species, rbf_kernel(takes$best$sigma))
  expect_equal(takes$best$size, own$size)
  words <- kernel_tune(iris[1:4], iris$Species, folds = 2,
    grid = list(kernel = c("rbf", "laplace"), size = 5))
  kernels <- list(rbf_kernel(), laplace_kernel())
  spoken <- kernel_tune(iris[1:4], iris$Species, folds = 2, grid = list(kernel = kernels, size = 5))
  expect_equal(words$results$error, spoken$results$error)
})

test_that("without a basis every row of the other folds serves", {
  x <- as.matrix(iris[1:30, 1:3])
  y <- iris[1:30, 4]
  fold <- rep(1:3, 10)
  tuned <- kernel_tune(x, y, folds = fold, grid = list(kernel = rbf_kernel(2), ridge = c(0.1, 1)),
    basis = NULL, scale = FALSE)
  twin <- vapply(c(0.1, 1), function(ridge) {
    mean(vapply(1:3, function(k) {
      fit <- kernel_lm(x[fold != k, ], y[fold != k], rbf_kernel(2), basis = NULL, ridge = ridge,
        scale = FALSE)
      mean((predict(fit, x[fold == k, ]) - y[fold == k])^2)
    }, 0))
  }, 0)
  expect_equal(tuned$results$error, twin)
})

test_that("folds that share a basis are left out whatever the ridge", {
  x <- cbind(0:5, c(1, 0, 1, 0, 2, 1))
  grid <- list(kernel = rbf_kernel(0.001), ridge = 1e-17, size = 6) # no row knows of another
  tuned <- kernel_tune(x, x[, 1], folds = 6, grid = grid, shared = TRUE)
  expect_equal(tuned$results$error, mean((0:5 - (15 - 0:5) / 5)^2))
})

test_that("the title of a choice within one standard error says so", {
  tuned <- kernel_tune(iris[1:4], iris$Species, folds = 2, grid = list(size = c(4, 8)),
    rule = "one_se")
  expect_words(sprintf("Chosen: error %s at size %s", format(tuned$best$error, digits = 3),
    tuned$best$size), plot_words(plot(tuned)))
})

# A dummy of one row has all there is of a direction in the fold of that row. With as many basis
# rows as columns the penalty of a linear kernel is that of coefficients.
test_that("folds that hold a direction alone are left out by refitting", {
  x <- cbind(random_matrix(60, 2, 3), 0)
  y <- x[, 1] + random_matrix(60, 1, 4)[, 1]
  w <- rep(1:2, 30)
  refitted <- function(out, ridge) {
    mean_of <- function(v) colSums(w[!out] * v) / sum(w[!out])
    center <- mean_of(x[!out, ])
    root <- sqrt(w[!out])
    rows <- rbind(root * (x[!out, ] - rep(center, each = sum(!out))), sqrt(ridge) * diag(3))
    b <- qr.coef(qr(rows), c(root * (y[!out] - mean_of(cbind(y[!out]))), 0, 0, 0))
    away <- x[out, , drop = FALSE] - rep(center, each = sum(out))
    gap <- y[out] - mean_of(cbind(y[!out])) - away %*% b
    sum(w[out] * gap^2)
  }
  for (s in c(1e3, 1e5)) {
    x[7, 3] <- s
    for (ridge in c(1e-6, 1e-4)) {
      for (fold in list(1:60, rep(1:10, 6))) {
        tuned <- kernel_tune(x, y, grid = list(kernel = list(linear_kernel()), size = 3,
                                               ridge = ridge), folds = fold, shared = TRUE,
                             basis = "cholesky", tol = 0, scale = FALSE, weights = w)
        left <- vapply(seq_len(max(fold)), function(f) refitted(fold == f, ridge), 0)
        expect_equal(tuned$results$error, sum(left) / sum(w), tolerance = 1e-6)
      }
    }
  }
})

# ---- what goes wrong ----------------------------------------------------------------------------

test_that("predictions of a function of the user must be of the kind and length asked for", {
  tune <- function(answer, ...) {
    fit <- function(x, y, ...) structure(list(), class = "answers_anything")
    registerS3method("predict", "answers_anything", function(object, newdata, ...) answer(newdata),
                     envir = asNamespace("stats"))
    kernel_tune(iris[1:4], iris$Species, fit = fit, grid = list(size = 1), folds = 3, ...)
  }
  bad <- list(function(x) list(class = 1), function(x) rep(1, nrow(x)), function(x) "setosa")
  for (answer in bad) {
    expect_error(tune(answer), "`fit` must give a class of `y` a row (50 of them)", fixed = TRUE,
                 class = "kernelect_error_argument")
  }
  expect_error(tune(function(x) matrix(0.5, nrow(x), 2), metric = "brier"), "a column a class",
               class = "kernelect_error_argument")
  expect_equal(tune(function(x) rep("setosa", nrow(x)))$best$error, 2 / 3)
  for (fit in list(kernel_basis, kernel_pca, kernel_rank)) {
    expect_error(kernel_tune(mpg ~ wt, mtcars, fit = fit), "`fit` must predict `y`",
                 class = "kernelect_error_argument")
  }
})

test_that("folds that leave too little to learn from are blamed for it", {
  few <- iris[c(1:2, 51:52), ]
  for (fit in list(kernel_lm, kernel_lda)) {
    expect_error(kernel_tune(Species ~ ., few, fit = fit, grid = list(sigma = 1:2), folds = 2),
                 "`folds` leave fewer than two classes", class = "kernelect_error_argument")
  }
  more <- iris[c(1:4, 51:54), ]
  expect_error(kernel_tune(Species ~ ., more, fit = kernel_lda, grid = list(sigma = 1:2), folds = 2,
                           nested = TRUE),
               "`folds` leave fewer than two classes", class = "kernelect_error_argument")
  expect_warning(kernel_tune(iris[1:4], iris$Species, folds = rep(1:3, each = 50)),
                 "Fold 1 has all rows of class \"setosa\"", class = "kernelect_warning_folds")
  expect_message(tuned <- kernel_tune(mpg ~ wt, mtcars[1:5, ], grid = list(sigma = 1)),
                 "`folds` is 5 in place of 10")
  expect_identical(tuned$folds, 5L)
})

test_that("names of other packages in the grid are answered with ours", {
  grid <- function(...) kernel_tune(mpg ~ wt, mtcars, grid = list(...))
  expect_error(grid(lambda = 1), "has `lambda`. Here it is `ridge`",
               class = "kernelect_error_argument")
  expect_error(grid(gamma = 1), "has `gamma`. Give `sigma`", class = "kernelect_error_argument")
  expect_error(grid(sizes = 1), "and has `sizes`", class = "kernelect_error_argument")
})

test_that("a Gram matrix cannot be tuned or ranked, and the way out is named", {
  K <- structure(gram(scale(iris_matrix())), class = "kernelMatrix")
  y <- iris$Species
  expect_error(kernel_tune(K, y), "^`x` is a Gram matrix.*`kernel_lm\\(K = \\)`.*size and ridge",
    class = "kernelect_error_argument")
  expect_error(kernel_tune(K = K, y = y), "^`K` is a Gram matrix",
    class = "kernelect_error_argument")
  expect_error(kernel_rank(K, y), "^`x` is a Gram matrix.*Give the rows themselves",
    class = "kernelect_error_argument")
  expect_error(kernel_rank(K = K, y = y), "columns of the data are needed here, as `x`",
    class = "kernelect_error_dots")
  expect_error(kernel_fusion(K = K, y = y), "in a list, as `kernels`",
    class = "kernelect_error_dots")
})
