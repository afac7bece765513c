test_that("iris inertia is what is known to be right, and what the eigenproblem gives", {
  fit <- kernel_lda(iris[1:4], iris$Species, rbf_kernel(width = 1), size = 10, scale = FALSE,
    ridge = 0)
  expect_equal(fit$values, c(0.9775771078, 0.7898683527), tolerance = 1e-9)
  z <- predict(fit$basis, iris[1:4])
  expect_equal(fit$values, reference_inertia(z, iris$Species), tolerance = 1e-9)
})

test_that("a linear kernel on all rows is linear discriminant analysis", {
  skip_if_not_installed("MASS")
  twin <- MASS::lda(iris[1:4], iris$Species)
  fit <- kernel_lda(iris[1:4], iris$Species, linear_kernel(), basis = NULL, ridge = 0)
  expect_equal(unname(abs(diag(cor(predict(twin)$x, fit$scores)))), c(1, 1), tolerance = 1e-10)
  expect_equal(softmax_rows(predict(fit, iris, type = "decision")),
    unname_rows(predict(twin)$posterior), tolerance = 1e-8)
  expect_identical(predict(fit, iris), predict(twin)$class)
  prior <- c(0.5, 0.3, 0.2)
  uneven <- kernel_lda(iris[1:4], iris$Species, linear_kernel(), basis = NULL, ridge = 0,
    prior = prior)
  expect_equal(
    softmax_rows(predict(uneven, iris, type = "decision")),
    unname_rows(predict(twin, iris[1:4], prior = prior, dimen = 2)$posterior), tolerance = 1e-3
  )
  expect_identical(unname(uneven$prior), prior)
})

test_that("scores have unit variance and inertia between zero and one", {
  fit <- kernel_lda(iris[1:4], iris$Species, size = 12)
  expect_equal(unname(apply(fit$scores, 2, function(s) mean(s^2))), c(1, 1), tolerance = 1e-8)
  expect_equal(unname(colMeans(fit$scores)), c(0, 0), tolerance = 1e-10)
  between <- apply(fit$scores, 2, function(s) mean(ave(s, iris$Species)^2))
  expect_equal(unname(between), fit$values, tolerance = 1e-8)
  expect_true(all(apply(fit$scores, 2, function(s) s[which.max(abs(s))]) > 0))
  means <- apply(predict(fit$basis, iris[1:4]), 2, function(v) tapply(v, iris$Species, mean))
  expect_equal(unname(fit$means), unname(means), tolerance = 1e-8)
})

test_that("all rows give generalised discriminant analysis, bounded even when separable", {
  x <- random_matrix(40, 2)
  y <- factor(x[, 1]^2 + x[, 2]^2 > 1)
  fit <- kernel_lda(x, y, basis = NULL, ridge = 1e-6)
  expect_gt(fit$values, 0.97)
  expect_lte(fit$values, 1)
  expect_identical(predict(fit, x), factor(y))
  expect_true(all(is.finite(predict(fit, random_matrix(5, 2, 9), type = "posterior"))))
  ridged <- kernel_lda(x, y, basis = NULL, ridge = 1)
  expect_lt(ridged$values, fit$values)
})

test_that("predictions of the training rows are the fitted ones, whatever the route", {
  a <- kernel_lda(iris[1:4], iris$Species)
  b <- kernel_lda(Species ~ ., iris)
  c <- kernel_lda(unname(iris_matrix()), as.character(iris$Species))
  expect_identical(b$values, a$values)
  expect_identical(c$values, a$values)
  expect_identical(b$scores, a$scores)
  expect_equal(predict(a, iris, type = "scores"), a$scores, tolerance = 1e-8)
  expect_identical(predict(a, iris[5:1], type = "scores"), predict(b, iris, type = "scores"))
  expect_identical(predict(a, iris), fitted(a))
  expect_equal(a$error, mean(fitted(a) != iris$Species))
})

test_that("new rows: one, none, with missing values", {
  fit <- kernel_lda(iris[1:4], iris$Species, size = 8)
  gap <- iris_matrix()[c(1, 60, 120), ]
  gap[2, 4] <- NA
  rownames(gap) <- c("u", "v", "w")
  posterior <- predict(fit, gap, type = "posterior")
  expect_identical(rownames(posterior), c("u", "v", "w"))
  expect_identical(unname(is.na(posterior[, 1])), c(FALSE, TRUE, FALSE))
  expect_equal(unname(rowSums(posterior[-2, ])), c(1, 1))
  expect_identical(unname(is.na(predict(fit, gap))), c(FALSE, TRUE, FALSE))
  expect_identical(dim(predict(fit, iris[0, ], type = "posterior")), c(0L, 3L))
  expect_length(predict(fit, iris[0, ]), 0)
})

test_that("bad input is refused in words", {
  x <- iris_matrix()
  lonely <- factor(c("z", rep(c("a", "b"), length.out = 149)))
  expect_snapshot(error = TRUE, {
    kernel_lda(x, rep("a", 150))
    kernel_lda(x, lonely)
    kernel_lda(x, 1:150)
    kernel_lda(x)
    kernel_lda(x, iris$Species, ridge = NA)
    kernel_lda(cyl ~ ., mtcars)
    kernel_lda(x, iris["Species"])
    kernel_lda(x, iris$Species, prior = c(1, 1, 1))
    kernel_lda(x, iris$Species, prior = c(1, 0))
    kernel_lda(x, iris$Species, prior = c(2, -1, 0))
    kernel_lda(x, iris$Species, Prior = 1)
    fitted(kernel_lda(x, iris$Species, keep = FALSE))
  })
})

test_that("rows that are one point, and scores that were not kept, are refused by class", {
  expect_error(kernel_lda(matrix(1, 6, 2), rep(c("a", "b"), 3), linear_kernel(), scale = FALSE),
    "no variance",
               class = "kernelect_error_data")
  fit <- kernel_lda(iris[1:4], iris$Species, size = 5, keep = FALSE)
  expect_error(plot(fit), "holds no scores", class = "kernelect_error_model")
  expect_error(predict(fit), "`newdata` is missing", class = "kernelect_error_argument")
})

test_that("a damaged model is refused", {
  fit <- kernel_lda(iris[1:4], iris$Species, size = 5)
  for (field in c("values", "scaling", "means", "prior", "center", "within", "basis", "levels")) {
    broken <- fit
    broken[field] <- list(NULL)
    expect_error(predict(broken, iris), class = "kernelect_error_model")
  }
})

test_that("the model stays small", {
  y <- function(n) factor(random_matrix(n, 1, 2) > 0)
  big <- kernel_lda(random_matrix(12000, 3), y(12000), size = 10)
  small <- kernel_lda(random_matrix(300, 3), y(300), size = 10, keep = FALSE)
  expect_lt(abs(length(serialize(big, NULL)) / length(serialize(small, NULL)) - 1), 0.05)
})

test_that("methods print, summarise and draw", {
  fit <- kernel_lda(iris[1:4], iris$Species, rbf_kernel(sigma = 2), size = 8)
  expect_snapshot({
    fit
    summary(fit)
  })
  pdf(NULL)
  on.exit(dev.off())
  expect_named(plot(fit), c("LD1", "LD2", "class"))
  expect_named(plot(kernel_lda(factor(am) ~ mpg + wt, mtcars, size = 4)), c("score", "class"))
  expect_error(plot(fit, axes = 1:3), class = "kernelect_error_argument")
  expect_identical(coef(fit), fit$scaling)
  expect_identical(nobs(fit), 150L)
})

test_that(paste(
  "class means and covariance are the plain ones, in any order of the rows and with a",
  "class of one row or none"
), {
  z <- random_matrix(9, 3)
  classes <- factor(c("c", "a", "c", "a", "c", "b", "a", "c", "a"), c("a", "none", "b", "c"))
  scatter <- class_scatter(z + 0, classes)
  middle <- colMeans(z)
  expect_equal(scatter$center, middle)
  expect_equal(scatter$total, crossprod(sweep(z, 2, middle)) / 9)
  for (class in c("a", "b", "c")) {
    expect_equal(unname(scatter$means[class, ]),
      colMeans(z[classes == class, , drop = FALSE]) - middle)
  }
  expect_identical(unname(scatter$means["none", ]), c(0, 0, 0))
  expect_identical(scatter$counts, c(a = 4L, none = 0L, b = 1L, c = 4L))
})

# Axes of the eigenproblem between x = value (total + ridge * mean variance) x, and the pooled
# covariance on them.
reference_axes <- function(z, classes, ridge) {
  n <- nrow(z)
  z <- sweep(z, 2, colMeans(z))
  means <- apply(z, 2, ave, classes)
  total <- crossprod(z) / n
  axes <- nlevels(droplevels(classes)) - 1
  v <- Re(eigen(solve(total + ridge * mean(diag(total)) * diag(ncol(z)),
    crossprod(means) / n))$vectors[, seq_len(axes), drop = FALSE])
  v <- v / rep(sqrt(colSums(v * (total %*% v))), each = nrow(v))
  list(v = v, values = colMeans((means %*% v)^2),
    within = crossprod((z - means) %*% v) / max(n - nlevels(classes), 1))
}

test_that(paste(
  "the axes are those of the penalised eigenproblem, one fewer than there are classes with rows"
), {
  z <- random_matrix(20, 4) %*% diag(c(3, 2, 1, 0.5))
  classes <- factor(rep(c("a", "b", "c"), length.out = 20), c("a", "b", "none", "c"))
  z[classes == "b", 1:2] <- z[classes == "b", 1:2] + 2
  for (ridge in c(0, 0.1, 3)) {
    axes <- discriminant_axes(class_scatter(z + 0, classes), ridge)
    twin <- reference_axes(z, classes, ridge)
    signs <- sign(diag(crossprod(axes$scaling, twin$v)))
    expect_identical(dim(axes$scaling), c(4L, 2L))
    expect_equal(axes$scaling, twin$v * rep(signs, each = 4), tolerance = 1e-8)
    expect_equal(axes$values, twin$values, tolerance = 1e-8)
    expect_equal(axes$within, twin$within * tcrossprod(signs), tolerance = 1e-8)
  }
})

test_that("as many rows as classes, and one more, leave a finite covariance within classes", {
  for (n in 3:4) {
    z <- random_matrix(n, 2, 5)
    classes <- factor(c("a", "b", "c", "a")[seq_len(n)])
    axes <- discriminant_axes(class_scatter(z + 0, classes), 0)
    expect_equal(sum(diag(axes$within)), sum(diag(reference_axes(z, classes, 0)$within)),
      tolerance = 1e-8)
  }
})

test_that("a coordinate counts from ten units of rounding per coordinate, of at least ten", {
  # three classes: two axes, or one when a single coordinate varies
  axes <- function(size, units) {
    total <- diag(c(1, units * .Machine$double.eps, numeric(size - 2)))
    means <- matrix(c(-0.5, 0, 0.5), 3, size)
    means[, -1] <- 0
    counts <- c(a = 4L, b = 4L, c = 4L)
    ncol(discriminant_axes(list(total = total, means = means, counts = counts, n = 12L), 0)$scaling)
  }
  expect_identical(c(axes(2, 50), axes(2, 200)), 1:2)
  expect_identical(c(axes(20, 150), axes(20, 300)), 1:2)
})

test_that("posterior probabilities are those of Gaussian densities", {
  within <- matrix(c(2, 0.5, 0.5, 1), 2)
  means <- rbind(a = c(0, 0), b = c(2, 1), c = c(-1, 3))
  scores <- random_matrix(6, 2)
  prior <- c(0.5, 0.2, 0.3)
  density <- vapply(1:3,
    function(k) prior[k] * exp(-stats::mahalanobis(scores, means[k, ], within) / 2), numeric(6))
  gaussian_posterior <- function(...) softmax_rows(gaussian_decisions(...))
  found <- gaussian_posterior(scores, means, within, prior)
  expect_equal(unname(found), density / rowSums(density), tolerance = 1e-10)
  expect_identical(colnames(found), c("a", "b", "c"))
  # a class of prior 0 is never chosen, and far from all classes nothing overflows
  expect_identical(
    unname(gaussian_posterior(matrix(c(2, 1), 1), means, within, c(0.5, 0, 0.5))[, 2]), 0)
  expect_equal(sum(gaussian_posterior(matrix(1e6, 1, 2), means, within, prior)), 1)
})

test_that("a prior may have zeros, and must be finite numbers", {
  fit <- kernel_lda(iris[1:4], iris$Species, size = 5, prior = c(0.5, 0.5, 0))
  expect_identical(fit$prior, c(setosa = 0.5, versicolor = 0.5, virginica = 0))
  expect_false("virginica" %in% predict(fit, iris))
  for (prior in list(c(NA, 0.5, 0.5), c(Inf, 0, 0), c("1", "0", "0"))) {
    expect_error(kernel_lda(iris[1:4], iris$Species, prior = prior), "3 probabilities",
      class = "kernelect_error_argument")
  }
})

test_that("each thing that a discriminant analysis needs is looked at", {
  fit <- kernel_lda(iris[1:4], iris$Species, size = 5)
  resized <- function(p) {
    within_list(fit, values = numeric(p), scaling = matrix(0, 5, p), within = diag(1, p),
      scores = matrix(0, 150, p))
  }
  broken <- list(
    within_list(fit, levels = c("a", "a", "b")), within_list(fit, values = c(NA, 0.5)),
    within_list(fit, scaling = fit$scaling * NA),
    within_list(fit, means = fit$means * NA), within_list(fit, center = fit$center * NA),
    within_list(fit, within = fit$within * NA),
    within_list(fit, prior = fit$prior * NA), within_list(fit, prior = c(0.6, 0.6, -0.2)),
    within_list(fit, n = "150"),
    within_list(fit, observed = as.integer(fit$observed)),
    within_list(fit, observed = fit$observed[-1]),
    within_list(fit, scores = fit$scores * NA), resized(0), resized(3)
  )
  for (i in seq_along(broken)) {
    expect_error(print(broken[[i]]), class = "kernelect_error_model", info = i)
  }
  expect_output(print(resized(2)), "3 classes, 150 rows")
  expect_output(print(kernel_lda(iris[1:4], iris$Species, size = 5, keep = FALSE)),
    "3 classes, 150 rows")
})

test_that("six axes and twelve classes are shown in full, more are cut", {
  fit_of <- function(classes) {
    y <- factor(rep(sprintf("c%02d", seq_len(classes)), each = 3))
    kernel_lda(matrix(seq_along(y)), y, rbf_kernel(2), basis = NULL, scale = FALSE)
  }
  inertia <- function(classes) grep("^inertia", capture.output(print(fit_of(classes))),
    value = TRUE)
  expect_match(inertia(7), "^inertia:( 0[.][0-9]{4}| 1[.]0000){6}  \\(between / total\\)$")
  expect_match(inertia(8), "^inertia:( 0[.][0-9]{4}| 1[.]0000){6} [.]{3}  \\(between / total\\)$")
  twelve <- capture.output(summary(fit_of(12)))
  expect_true(any(grepl("^ *c12( +[0-9]+){12}$", twelve)))
  thirteen <- capture.output(summary(fit_of(13)))
  expect_false(any(grepl("^ *c12( +[0-9]+){13}$", thirteen)))
  expect_identical(c(any(grepl("^c12 ", thirteen)), any(grepl("^c13 ", thirteen))), c(TRUE, FALSE))
})

test_that("one row as a basis, one new row and the names of rows are served", {
  x <- iris_matrix(51:150)
  rownames(x) <- paste0("r", 51:150)
  y <- droplevels(iris$Species[51:150])
  fit <- kernel_lda(x, y, size = 1)
  z <- predict(fit$basis, x)[, 1]
  expect_equal(fit$values, mean((ave(z, y) - mean(z))^2) / mean((z - mean(z))^2), tolerance = 1e-8)
  expect_identical(dimnames(fit$scores), list(rownames(x), "LD1"))
  expect_identical(dimnames(fit$within), list("LD1", "LD1"))
  whole <- predict(fit, x, type = "posterior")
  expect_equal(predict(fit, x[7, , drop = FALSE], type = "posterior"), whole[7, , drop = FALSE],
    tolerance = 1e-10)
  expect_output(print(fit), "2 classes, 100 rows on a basis of 1 row (\"fvs\")", fixed = TRUE)
})

test_that("nothing is said unasked, and one thread works", {
  expect_identical(
    capture.output(type = "message", fit <- kernel_lda(iris[1:4], iris$Species, size = 5)),
    character())
  with_option("kernelect.threads", NULL, {
    expect_identical(eval(formals(kernel_lda.default)$threads), 1L)
    expect_identical(eval(formals(predict.kernel_lda)$threads), 1L)
  })
})

# Coefficients of the regression of indicators with one row fewer, turned to the axes of all rows.
left_out_by_lda <- function(fit, z, y, penalty) {
  t(vapply(seq_len(nrow(z)), function(i) {
    whole <- reference_ridge(z, indicators(y), penalty)[-1, ]
    turn <- MASS::ginv(whole) %*% fit$scaling
    b <- reference_ridge(z[-i, ], indicators(y)[-i, ], penalty)
    drop((c(1, z[i, ]) %*% b - colMeans(indicators(y))) %*% turn)
  }, numeric(ncol(fit$scaling))))
}

test_that("probabilities are calibrated on rows left out of the same analysis", {
  skip_if_not_installed("MASS")
  fit <- kernel_lda(iris[1:4], iris$Species, size = 8, ridge = 0.01)
  z <- predict(fit$basis, iris[1:4])
  penalty <- 0.01 * 150 * mean(apply(z, 2, function(v) mean((v - mean(v))^2)))
  left_out <- lda_decisions(fit, left_out_by_lda(fit, z, iris$Species, penalty))
  expect_equal(fit$left_out_error, mean(max.col(left_out) != as.integer(iris$Species)))
  twin <- calibrate_softmax(lda_decisions(fit, left_out_by_lda(fit, z, iris$Species, penalty)),
    iris$Species)
  expect_equal(fit$calibration[c("slope", "offset")], twin, tolerance = 1e-5)
  p <- predict(fit, iris, type = "prob")
  expect_equal(p, calibrated_probabilities(twin, predict(fit, iris, type = "decision")),
    tolerance = 1e-5)
  expect_identical(predict(fit, iris, type = "posterior"), p)
  expect_equal(rowSums(p), rep(1, 150), tolerance = 1e-12)
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(fit, type = "calibration"), fit$calibration$reliability)
})

test_that("another prior moves the odds of two classes by its ratio, and a prior of zero is never",
  {
  shares <- kernel_lda(iris[1:4], iris$Species, size = 8)
  moved <- kernel_lda(iris[1:4], iris$Species, size = 8, prior = c(0.5, 0.5, 0))
  p <- predict(shares, iris[60:80, ], type = "prob")
  q <- predict(moved, iris[60:80, ], type = "prob")
  expect_equal(q[, 1] / q[, 2], p[, 1] / p[, 2], tolerance = 1e-8)
  expect_identical(unname(q[, 3]), numeric(21))
})

test_that("the ridge is that of least leave-one-out loss of the regression of indicators", {
  x <- simulate_circles(80, seed = 3)
  fit <- kernel_lda(y ~ ., x, basis = NULL)
  best <- which.min(fit$loo$loss)
  expect_equal(fit$ridge, fit$loo$ridge[best])
  twin <- kernel_lm(y ~ ., x, basis = NULL)
  expect_equal(fit$loo$loss, twin$loo$loss, tolerance = 1e-8)
  expect_identical(fit$loo$error, twin$loo$error)
  given <- kernel_lda(y ~ ., x, basis = NULL, ridge = fit$ridge)
  expect_equal(given$values, fit$values, tolerance = 1e-8)
  expect_equal(given$calibration$slope, fit$calibration$slope, tolerance = 1e-5)
})

test_that("a large basis is whitened by Cholesky to the same axes as by the spectrum", {
  x <- random_matrix(260, 210)
  total <- crossprod(x) / 260
  means <- random_matrix(4, 210)
  by_cholesky <- ridged_axes(means, total, 1e-3, 3L)
  by_spectrum <- spectral_axes(means, total, 1e-3, 3L)
  expect_equal(abs(by_cholesky), abs(by_spectrum), tolerance = 1e-8)
  expect_null(ridged_axes(means, total, 0, 3L))
  expect_null(ridged_axes(means[, 1:200], total[1:200, 1:200], 1e-3, 3L))
})

test_that("variances within classes count down to 1e-10 of the total ones", {
  found <- whitening(diag(c(1, 1e-8, 1.1e-10, 0.9e-10, 0)))
  expect_equal(sort(colSums(found^2)), c(1, 1e8, 1 / 1.1e-10, 1e10, 1e10), tolerance = 1e-12)
})

test_that("a prior may miss the sum of one by rounding only", {
  fit <- function(more) kernel_lda(Species ~ ., iris, size = 5, prior = c(0.5, 0.3, 0.2 + more))
  expect_equal(sum(fit(0.9e-8)$prior), 1 + 0.9e-8, tolerance = 1e-12)
  expect_error(fit(1.1e-8), "sum to 1", class = "kernelect_error_argument")
})

test_that("axes are looked for by their rank without a ridge, and by a factor with the least one", {
  total <- crossprod(random_matrix(500, 201)) / 500
  means <- random_matrix(3, 201)
  expect_null(ridged_axes(means, total, 0.9e-10, 2L))
  expect_identical(dim(ridged_axes(means, total, 1.1e-10, 2L)), c(201L, 2L))
})

test_that("a matrix that has no Cholesky factor has no axes by it", {
  expect_null(ridged_axes(matrix(1, 2, 201), -diag(201), 0.1, 1L))
})

test_that("a prior with names is that of the classes named", {
  prior <- c(virginica = 0.8, setosa = 0.15, versicolor = 0.05)
  one <- kernel_lda(Species ~ ., iris, prior = prior)
  expect_identical(one$prior, prior[levels(iris$Species)])
  expect_equal(predict(one), predict(kernel_lda(Species ~ ., iris, prior = c(0.15, 0.05, 0.8))))
  expect_error(kernel_lda(Species ~ ., iris, prior = c(a = 0.8, setosa = 0.1, versicolor = 0.1)),
               "`prior` must be named by the classes", class = "kernelect_error_argument")
})

test_that("a fit to weighted rows says that its error rate is weighted", {
  fit <- kernel_lda(iris[1:4], iris$Species, weights = rep(1:2, 75))
  expect_output(print(fit), "\nweighted error rate: ")
})
