# Residual of row i by a fit in which it has a unit of weight less (or none), coordinate by
# coordinate; the smallest coefficients
# where `ridge` is 0 and rows do not settle them.
left_out_by_refit <- function(z, y, ridge = 0, weights = rep(1, nrow(z))) {
  t(vapply(seq_len(nrow(z)), function(i) {
    weights[i] <- weights[i] - min(1, weights[i])
    middle <- colSums(weights * z) / sum(weights)
    level <- colSums(weights * y) / sum(weights)
    zc <- sqrt(weights) * sweep(z, 2, middle)
    s <- svd(zc)
    used <- s$d > 1e-9 * s$d[1]
    a <- s$v[, used, drop = FALSE] %*%
      (s$d[used] / (s$d[used]^2 + ridge) *
        crossprod(s$u[, used, drop = FALSE], sqrt(weights) * sweep(y, 2, level)))
    drop(y[i, ] - level - (z[i, ] - middle) %*% a)
  }, numeric(ncol(y))))
}

uneven <- function(n, L, seed = 1) random_matrix(n, L, seed) %*% diag(10^seq(0, -3, length.out = L),
  L)
response_of <- function(y) list(matrix = y, classes = NULL)
ridge_rows <- function(fit, size, ridge) {
  .Call(ffi_ridge_loo, fit, .Call(ffi_bidiagonalise, fit, size), NULL, TRUE, ridge)
}
as_rows <- function(m, n) matrix(m, n)

test_that("every ridge at every size is what refitting without the row gives, with weights too", {
  z <- uneven(40, 12)
  y <- random_matrix(40, 2, 2)
  for (weights in list(NULL, rep_len(c(1, 3, 2, 0.5), 40))) {
    w <- if (is.null(weights)) rep(1, 40) else weights
    fit <- regress(z, response_of(y), 0, weights)
    for (size in c(1L, 2L, 3L, 12L)) {
      for (ridge in c(1e-6, 1e-2, 10)) {
        found <- ridge_rows(fit, size, ridge)
        twin <- left_out_by_refit(z[, seq_len(size), drop = FALSE], y, ridge, w)
        expect_equal(found$left_out, as_rows(twin, 40), tolerance = 1e-9)
        expect_equal(found$loss, sum(w * twin^2) / sum(w) / 2, tolerance = 1e-9)
      }
    }
    nested <- .Call(ffi_nested_loo, regress(z, response_of(y), 0.01, weights), 12, NULL, TRUE)
    expect_equal(nested$left_out, as_rows(left_out_by_refit(z, y, 0.01, w), 40), tolerance = 1e-9)
  }
})

test_that("all ridges come out as one at a time, in several blocks of rows and with classes", {
  n <- 700
  z <- uneven(n, 9)
  classes <- factor(rep_len(letters[1:3], n))
  fit <- regress(z, list(matrix = indicators(classes)), 0)
  table <- ridge_losses(fit, c(9, 4), as.integer(classes))$loo
  expect_identical(table$size, rep(c(4, 9), each = 19))
  expect_identical(table$ridge, rep(10^seq(-6, 3, by = 0.5), 2))
  at <- which(table$size == 4)[c(1, 10, 19)]
  for (i in at) {
    twin <- left_out_by_refit(z[, 1:4], indicators(classes), table$ridge[i])
    expect_equal(table$loss[i], mean(rowSums(twin^2)), tolerance = 1e-9)
    expect_identical(table$error[i],
      mean(max.col(indicators(classes) - twin, "first") != as.integer(classes)))
  }
})

test_that("the factor is turned into an upper bidiagonal one, in panels where it is large", {
  for (size in c(1, 2, 33, 130, 200)) {
    fit <- regress(uneven(250, 200), response_of(random_matrix(250, 1, 2)), 0)
    turned <- .Call(ffi_bidiagonalise, fit, size)
    b <- diag(turned$diagonal, size)
    b[cbind(seq_len(size - 1), seq_len(size - 1) + 1)] <- turned$over[seq_len(size - 1)]
    m <- tcrossprod(fit$r[seq_len(size), seq_len(size)])
    expect_equal(turned$p %*% crossprod(b) %*% t(turned$p), m, tolerance = 1e-12)
    expect_equal(crossprod(turned$p), diag(size), tolerance = 1e-12)
  }
  # 1 - h and residuals of a few of 250 rows, by the hat matrix of the ridge
  z <- scale(uneven(250, 200), scale = FALSE)
  y <- random_matrix(250, 1, 2)
  for (ridge in c(1e-3, 10)) {
    hat <- 1 / 250 + z %*% solve(crossprod(z) + diag(ridge, 200), t(z))
    twin <- (y - hat %*% y) / (1 - diag(hat))
    expect_equal(ridge_rows(fit, 200, ridge)$left_out, twin, tolerance = 1e-7)
  }
})

test_that("several sizes at once are each by itself, whatever the threads", {
  # of many rows a factor is made while others turn rows, of few before
  for (n in c(150, 3000)) {
    z <- uneven(n, 130)
    y <- random_matrix(n, 1, 2)
    sizes <- c(130, 87, 58, 3)
    for (threads in 1:2) {
      fit <- regress(z, response_of(y), 0, threads = threads)
      all <- ridge_losses(fit, sizes, NULL)
      single <- lapply(sort(sizes), function(size) ridge_losses(fit, size, NULL))
      expect_identical(all$loo, do.call(rbind, lapply(single, `[[`, "loo")))
      least <- which.min(vapply(single, function(one) min(one$loo$loss), 0))
      expect_identical(all$kept, sort(sizes)[least])
      expect_identical(all$turned, .Call(ffi_bidiagonalise, fit, all$kept))
    }
  }
})

test_that("rows are turned into those of the hat matrix of a ridge", {
  for (size in c(1, 2, 3, 34, 130)) {
    z <- uneven(250, 130)
    if (size == 34) z[, 5] <- z[, 1] - z[, 2]
    fit <- regress(z, response_of(random_matrix(250, 1, 2)), 0)
    m <- tcrossprod(independent_factor(fit, size))
    turned <- .Call(ffi_bidiagonalise, fit, size)
    for (ridge in c(1e-6, 0.1, 1e3)) {
      turn <- .Call(ffi_ridge_turn, turned, ridge)
      expect_equal(tcrossprod(turn), m %*% solve(m + diag(ridge, size)), tolerance = 1e-9)
    }
  }
})

test_that("coefficients by the normal equations are those of the factor with the ridge", {
  z <- uneven(60, 12)
  z[, 5] <- z[, 1] - z[, 2]
  fit <- regress(z, response_of(random_matrix(60, 2, 2)), 0)
  for (ridge in c(1e-4, 1)) {
    factor <- ridge_factor(fit, 9, ridge)
    expect_equal(ridged(fit, 9, ridge), backsolve(factor$r, factor$c), tolerance = 1e-7)
  }
})

test_that("a ridge that is nothing beside equal columns leaves one fit to both", {
  z <- cbind(c(1, 1, -1, -1), c(1, 1, -1, -1)) # whose squares are whole: their Cholesky factor ends
  y <- matrix(c(1, 2, 3, 5.5))
  fit <- regress(z, response_of(y), 0)
  for (ridge in c(1e-300, 1e-20)) {
    expect_equal(sum(ridged(fit, 2, ridge)), -5.5 / 4, tolerance = 1e-10)
  }
})

test_that("a leverage of one gets the residual of the smallest coefficients without the row", {
  # more coordinates than rows: all rows fix a direction from 11 coordinates on, and some
  # coordinates depend on others
  z <- random_matrix(12, 15)
  y <- random_matrix(12, 2, 2)
  fit <- regress(z, response_of(y), 0)
  for (size in 9:15) {
    found <- .Call(ffi_nested_loo, fit, size, NULL, TRUE)
    expect_equal(found$left_out, as_rows(left_out_by_refit(z[, 1:size], y), 12), tolerance = 1e-8)
    if (size > 10) expect_lt(max(abs(found$left)), 1e-10)
  }
  # it is where small ridges lead to
  small <- ridge_rows(fit, 15L, 1e-6)
  expect_equal(small$left_out, found$left_out, tolerance = 1e-5)
  # a single outlier, in several blocks
  z <- rbind(cbind(random_matrix(600, 3), 0), c(0, 0, 0, 1))
  y <- random_matrix(601, 1, 4)
  fit <- regress(z, response_of(y), 0)
  expect_equal(.Call(ffi_nested_loo, fit, 4, NULL, TRUE)$left_out[601],
    left_out_by_refit(z, y)[601], tolerance = 1e-8)
})

test_that("a column that rounding alone keeps apart counts as dependent", {
  # all rows of a table with repeated ones: centring takes a dimension, and Cholesky alone does not
  # see it
  x <- scale(iris_matrix(rep(seq(1, 150, by = 2), rep_len(1:3, 75))))
  z <- predict(kernel_basis(x, laplace_kernel(), method = "cholesky", size = Inf, tol = 0,
    scale = FALSE), x)
  y <- indicators(iris$Species[rep(seq(1, 150, by = 2), rep_len(1:3, 75))])
  fit <- regress(z, response_of(y), 0)
  expect_identical(sum(!fit$dependent), qr(scale(z, scale = FALSE))$rank)
  expect_lt(max(abs(crossprod(fit$q) - diag(as.numeric(!fit$dependent)))), 1e-10)
  found <- ridge_rows(fit, ncol(z), 1e-3)
  expect_equal(found$left_out, as_rows(left_out_by_refit(z, y, 1e-3), nrow(z)), tolerance = 1e-7)
})

test_that("no leave-one-out figure is missing, whatever the leverages", {
  x <- random_matrix(12, 2)
  for (ridge in list(0, "loo")) {
    fit <- kernel_lm(x, random_matrix(12, 1, 2)[, 1], basis = NULL, ridge = ridge)
    expect_false(anyNA(fit$loo))
  }
  # rows so far apart that each is its own: left out, a row is predicted by the mean of the others
  y <- c(1, 5, 2)
  alone <- kernel_lm(matrix(1:3), y, rbf_kernel(1e-3), basis = NULL, ridge = 0)
  expect_equal(alone$loo$loss[3], mean((y - c(3.5, 1.5, 3))^2), tolerance = 1e-10)
  expect_s3_class(kernel_lm(x[1:2, ], c(0, 1)), "kernel_lm")
})

test_that("one outlier does not cut a model to one row", {
  far <- rbind(iris, transform(iris[1, ], Sepal.Length = 50))
  for (ridge in list("loo", 0)) {
    fit <- kernel_lm(Species ~ ., far, ridge = ridge)
    expect_gt(fit$size, 5)
    expect_lt(mean(predict(fit, iris) != iris$Species), 0.06)
  }
})

test_that("size and ridge have the least loss among those tried", {
  fit <- kernel_lm(Species ~ ., iris)
  L <- length(kernel_basis(iris[1:4])$index)
  expect_identical(sort(unique(fit$loo$size)), sort(geometric_sizes(L)))
  best <- which.min(fit$loo$loss)
  expect_identical(list(fit$size, fit$ridge), list(fit$loo$size[best], fit$loo$ridge[best]))
  expect_identical(fit$size, length(fit$basis$index))
  given <- kernel_lm(Species ~ ., iris, size = 9)
  expect_identical(unique(given$loo$size), 9L)
  expect_identical(given$ridge, given$loo$ridge[which.min(given$loo$loss)])
  same <- kernel_lm(Species ~ ., iris, size = 9, ridge = given$ridge)
  expect_equal(coef(same), coef(given), tolerance = 1e-9)
  expect_equal(fitted(same), fitted(given), tolerance = 1e-9)
  expect_equal(same$loo$loss[9], min(given$loo$loss), tolerance = 1e-10)
})

test_that("sizes fall by a third, to one, each once", {
  expect_identical(geometric_sizes(100L), c(100L, 67L, 44L, 30L, 20L, 13L, 9L, 6L, 4L, 3L, 2L, 1L))
  expect_identical(geometric_sizes(1L), 1L)
  expect_identical(geometric_sizes(2L), 2:1)
})

test_that("losses that differ by rounding tie: the smaller size wins, then the larger ridge", {
  table <- function(loss) data.frame(size = c(1, 1, 2, 2), ridge = c(1, 10, 1, 10), loss = loss)
  expect_identical(best_row(table(c(3, 1 + 5e-13, 1, 2))), 2L)
  expect_identical(best_row(table(c(3, 1 + 5e-12, 1, 2))), 3L)
  expect_identical(best_row(table(c(1, 1, 1, 1))), 2L)
  expect_identical(best_row(table(c(2, 1, 0, 0))), 4L)
})

test_that(paste(
  "a ridge added to the factor gives the coefficients of that ridge, for every smaller size too"
), {
  z <- cbind(uneven(30, 6), 1)
  z <- cbind(z, z[, 1] + z[, 2])
  y <- random_matrix(30, 2, 3)
  fit <- regress(z, response_of(y), 0)
  for (ridge in c(1e-6, 0.1)) {
    factor <- ridge_factor(fit, 8, ridge)
    for (size in c(1, 5, 8)) {
      twin <- reference_ridge(z[, seq_len(size), drop = FALSE], y, ridge)[-1, , drop = FALSE]
      expect_equal(nested_coefficients(factor, size), unname(twin), tolerance = 1e-7)
    }
  }
})

test_that("coordinates and responses are left as they were", {
  z <- random_matrix(20, 3)
  y <- random_matrix(20, 1, 2)
  before <- list(z + 0, y + 0)
  regress(z, response_of(y), 0.1, rep(2, 20))
  expect_identical(list(z, y), before)
})

test_that("predictions of a smaller size are those of a model of that size", {
  fit <- kernel_lm(Species ~ ., iris, ridge = 0.1, size = 12)
  small <- kernel_lm(Species ~ ., iris, ridge = 0.1, size = 5)
  for (type in c("response", "class", "decision")) {
    expect_equal(predict(fit, iris, type = type, size = 5), predict(small, iris, type = type),
      tolerance = 1e-9)
  }
  reg <- kernel_lm(mpg ~ wt + hp, mtcars, size = 6)
  expect_equal(predict(reg, mtcars, size = 6), predict(reg, mtcars), tolerance = 1e-9)
  expect_error(predict(reg, mtcars, size = 7), "`size`", class = "kernelect_error_argument")
})

test_that("probabilities are calibrated on exact leave-one-out values", {
  fit <- kernel_lm(Species ~ ., iris, size = 8, ridge = 0.1)
  p <- predict(fit, iris[c(1, 60, 120), ], type = "prob")
  expect_identical(colnames(p), levels(iris$Species))
  expect_equal(unname(rowSums(p)), rep(1, 3), tolerance = 1e-12)
  z <- predict(fit$basis, iris)
  values <- indicators(iris$Species) - left_out_by_refit(z, indicators(iris$Species), 0.1)
  twin <- calibrate_softmax(values, iris$Species)
  expect_equal(fit$calibration[c("slope", "offset")], twin, tolerance = 1e-6)
  expect_equal(p, calibrated_probabilities(twin,
    predict(fit, iris[c(1, 60, 120), ], type = "decision")), tolerance = 1e-6)
  gap <- iris[1:2, ]
  gap[2, 1] <- NA
  expect_identical(unname(is.na(predict(fit, gap, type = "prob")[, 1])), c(FALSE, TRUE))
  expect_error(predict(kernel_lm(mpg ~ wt, mtcars), mtcars, type = "prob"), "regression",
    class = "kernelect_error_argument")
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(fit, type = "calibration"), fit$calibration$reliability)
  expect_error(plot(kernel_lm(mpg ~ wt, mtcars), type = "calibration"),
    class = "kernelect_error_argument")
})

test_that("`ridge` is \"loo\" or a number", {
  for (bad in list("best", -1, NA, c(1, 2))) {
    expect_error(kernel_lm(iris[1:4], iris$Species, ridge = bad), "`ridge`",
      class = "kernelect_error_argument")
  }
})

test_that("a size that is left alone falls with the number of rows, and is said when it binds", {
  limit <- function(n, ...) default_limit(list(...), n)
  expect_identical(limit(4000, modest = TRUE), 1000)
  expect_identical(limit(4400, modest = TRUE), floor(sqrt(4e9 / 4400)))
  expect_identical(limit(1e5, modest = TRUE), 200)
  expect_identical(limit(1e8, modest = TRUE), 100)
  expect_identical(limit(1e5), 1000)
  expect_message(inform_limit(list(), 200),
    "stopped at 200 rows.*`size`.*1000 rows take about 25 times as long")
  expect_message(inform_limit(list(limit_name = "most"), 1000),
    "stopped at 1000 rows; give `most` \\(or `most = Inf`\\) for more[.]")
})

test_that("rows kept for every ridge at once are those of each ridge by itself", {
  z <- uneven(90, 60)
  for (k in 1:2) {
    response <- response_of(random_matrix(90, k, 2))
    fit <- regress(z, response, 0)
    ridges <- c(1e-3, 0.1, 10)
    kept <- ridge_losses(fit, 60, NULL, ridges)$rows
    for (at in seq_along(ridges)) {
      alone <- ridge_rows(fit, 60, ridges[at])
      expect_identical(rows_of_ridge(kept, at, k), alone[c("residual", "left_out", "left")])
    }
  }
  expect_null(ridge_losses(fit, c(60, 40), NULL, ridges)$rows)
  expect_null(ridge_losses(fit, 14, NULL, ridges)$rows)
})

test_that("a regression in the place of its coordinates is that beside them", {
  z <- uneven(90, 12)
  close <- z
  close[, 7] <- z[, 1:3] %*% c(1, -2, 0.5) + 1e-6 * z[, 7] # too close for normal equations
  same <- z
  same[, 9] <- z[, 2]
  response <- response_of(random_matrix(90, 2, 2))
  for (rows in list(random_matrix(90, 12), z, close, same)) { # the first so even that none divides
    for (weights in list(NULL, rep_len(1:3 + 0, 90))) {
      own <- rows + 0
      over <- regress_over(own, response, 0, weights)
      plain <- regress(rows, response, 0, weights)
      expect_equal(over, plain, tolerance = 1e-9)
      expect_identical(over$q, own)
      for (sizes in list(12L, c(12L, 8L))) {
        put_off <- regress_over(rows + 0, response, 0, weights, rest = TRUE)
        expect_equal(put_off$q %*% solve(put_off$rest), plain$q, tolerance = 1e-9)
        put_off <- fit_by_ridge(put_off, response, sizes, over = TRUE)
        expect_equal(put_off, fit_by_ridge(plain, response, sizes), tolerance = 1e-8)
      }
    }
  }
})

test_that("squared lengths of rows are sums over the columns asked for", {
  z <- random_matrix(3000, 5, 1)
  expect_equal(.Call(ffi_row_squares, z, 3), matrix(rowSums(z[, 1:3]^2)))
  expect_equal(.Call(ffi_row_squares, z, c(0, 1, 4)), cbind(0, z[, 1]^2, rowSums(z[, 1:4]^2)))
  expect_equal(squares_at(row_squares(z, c(4, 2)), 2),
    list(first = rowSums(z[, 1:2]^2), all = rowSums(z^2)))
})
