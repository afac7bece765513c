test_that("iris inertia is what is known to be right, and what the eigenproblem gives", {
  fit <- kernel_lda(iris[1:4], iris$Species, rbf_kernel(width = 1), size = 10, scale = FALSE, ridge = 0)
  expect_equal(fit$values, c(0.9775771078, 0.7898683527), tolerance = 1e-9)
  z <- predict(fit$basis, iris[1:4])
  expect_equal(fit$values, reference_inertia(z, iris$Species), tolerance = 1e-9)
})

test_that("a linear kernel on all rows is linear discriminant analysis", {
  skip_if_not_installed("MASS")
  twin <- MASS::lda(iris[1:4], iris$Species)
  fit <- kernel_lda(iris[1:4], iris$Species, linear_kernel(), basis = NULL, ridge = 0)
  expect_equal(unname(abs(diag(cor(predict(twin)$x, fit$scores)))), c(1, 1), tolerance = 1e-10)
  expect_equal(predict(fit, iris, type = "posterior"), unname_rows(predict(twin)$posterior), tolerance = 1e-8)
  expect_identical(predict(fit, iris), predict(twin)$class)
  prior <- c(0.5, 0.3, 0.2)
  uneven <- kernel_lda(iris[1:4], iris$Species, linear_kernel(), basis = NULL, ridge = 0, prior = prior)
  expect_equal(
    predict(uneven, iris, type = "posterior"),
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
  fit <- kernel_lda(x, y, basis = NULL)
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
  expect_error(kernel_lda(matrix(1, 6, 2), rep(c("a", "b"), 3), linear_kernel(), scale = FALSE), "no variance",
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
