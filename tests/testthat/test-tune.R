small_grid <- list(kernel = list(narrow = rbf_kernel(sigma = 0.5), wide = rbf_kernel(sigma = 2)), size = c(3, 8, 15))

# Cross-validation with a fit per size, on the folds of the package.
reference_tune <- function(x, y, fit, grid, folds, seed, ...) {
  classes <- if (is.factor(y)) y
  fold <- preserve_seed(seed, function() assign_folds(classes, nrow(x), folds))
  rows <- expand.grid(size = grid$size, kernel = seq_along(grid$kernel))
  apply(rows, 1, function(candidate) {
    errors <- lapply(seq_len(folds), function(i) {
      model <- fit(x[fold != i, ], y[fold != i], kernel = grid$kernel[[candidate[["kernel"]]]], size = candidate[["size"]], ...)
      p <- predict(model, x[fold == i, ])
      if (is.factor(y)) p != y[fold == i] else (p - y[fold == i])^2
    })
    mean(unlist(errors))
  })
}

test_that("one factorisation per fold and kernel gives what refitting at each size gives", {
  x <- iris_matrix()
  for (fit in list(kernel_lm, kernel_lda)) {
    tuned <- kernel_tune(x, iris$Species, fit = fit, grid = small_grid, folds = 5, seed = 3)
    expect_equal(tuned$results$error, reference_tune(x, iris$Species, fit, small_grid, 5, 3, tol = 0))
  }
  tuned <- kernel_tune(x[, 1:3], x[, 4], grid = small_grid, folds = 4, ridge = 0.1, scale = FALSE, center = "nearest")
  twin <- reference_tune(x[, 1:3], x[, 4], kernel_lm, small_grid, 4, 1,
    ridge = 0.1, scale = FALSE, center = "nearest", tol = 0
  )
  expect_equal(tuned$results$error, twin, tolerance = 1e-8)
})

test_that("any function with a predict method can be tuned", {
  wrapped <- function(...) kernel_lm(...)
  a <- kernel_tune(iris[1:4], iris$Species, fit = wrapped, grid = small_grid, folds = 3, tol = 0)
  b <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 3)
  expect_equal(a$results, b$results)
  expect_identical(a$model, b$model)
})

test_that("the function tuned is given the rows as they are", {
  seen <- NULL
  recorder <- function(x, y, ...) {
    seen <<- c(seen, range(x))
    kernel_lm(x, y, ...)
  }
  x <- iris_matrix() + 100
  kernel_tune(x, iris$Species, fit = recorder, grid = list(kernel = rbf_kernel(1), size = 3), folds = 3, seed = 1)
  expect_identical(range(seen), range(x))
})

test_that("results, best and model belong together", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 5)
  expect_named(tuned$results, c("kernel", "size", "error", "se"))
  expect_identical(nrow(tuned$results), 6L)
  expect_identical(tuned$results$kernel, rep(c("narrow", "wide"), each = 3))
  expect_identical(nrow(tuned$best), 1L)
  expect_equal(tuned$best$error, min(tuned$results$error))
  refit <- kernel_lm(iris[1:4], iris$Species, small_grid$kernel[[tuned$best$kernel]], size = tuned$best$size, tol = 0)
  expect_identical(tuned$model, refit)
  expect_identical(predict(tuned, iris), predict(refit, iris))
})

test_that("ties go to the smallest size, then to the first kernel", {
  results <- data.frame(kernel = c("a", "a", "b", "b"), size = c(5, 9, 5, 9), error = c(2, 1, 1, 1), se = 0)
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
  run <- function(seed) kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 5, seed = seed, basis = "random")$results
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
  expect_identical(nrow(tuned$results), 20L)
  expect_identical(sort(unique(tuned$results$size)), c(5, 10, 20, 35))
  tiny <- kernel_tune(matrix(1:8), (1:8)^2, folds = 2)
  expect_identical(unique(tiny$results$size), 2)
})

test_that("sizes beyond the basis repeat its largest", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = list(kernel = linear_kernel(), size = c(4, 50)), folds = 3)
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
  tuned <- kernel_tune(iris[1:4], iris$Species, fit = kernel_takes, grid = list(kernel = rbf_kernel(), size = c(2, 5)), folds = 3)
  expect_s3_class(tuned$model, "kernel_takes")
  expect_lt(tuned$best$error, 0.2)
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
  expect_error(kernel_tune(x, y, grid = list(kernel = list())), "at least one kernel", class = "kernelect_error_argument")
  # what a user's function fails with is passed on when it is ours, else wrapped
  expect_error(kernel_tune(x, y, fit = function(...) kernel_pca(x, ncomp = 0), grid = list(size = 2)), "`ncomp`",
               class = "kernelect_error_argument")
  expect_error(kernel_tune(x, y, fit = function(...) stop("out of luck"), grid = list(size = 2)), "failed with: out of luck",
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
  expect_output(kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2, verbose = FALSE), NA)
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(tuned), tuned$results)
  expect_identical(nobs(tuned), 150L)
})

test_that("kernel_lda wants classes before the work", {
  expect_error(kernel_tune(mpg ~ ., mtcars, fit = kernel_lda), "`y`", class = "kernelect_error_argument")
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
  tuned <- suppressMessages(kernel_tune(cars[c("cyl", "hp")], cars$mpg, fit, grid = list(kernel = rbf_kernel(), size = 3), folds = 3, na_action = "omit"))
  expect_identical(unique(seen), list(c(cyl = "factor", hp = "numeric")))
  expect_length(seen, 4)
  expect_identical(nobs(tuned$model), 31L)
})

test_that("an argument that the model does not have is refused by name", {
  expect_error(kernel_tune(Species ~ ., iris, fit = kernel_lda, folds = 2, ridgee = 1), "`ridge`", class = "kernelect_error_dots")
  expect_error(kernel_tune(Species ~ ., iris, folds = 2, ridgee = 1), "`ridge`", class = "kernelect_error_dots")
})

test_that("one candidate is not called several, and what was measured is named", {
  one <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1), folds = 2)
  shown <- capture.output(print(one))
  expect_identical(shown[1:2], c("<kernel_tune> 1 candidate, 2 folds of 32 rows", "best:    linear kernel, size 1"))
  expect_match(shown[3], "^mean squared error: [0-9.]+ \\(standard error [0-9.]+\\)$")
  expect_identical(kernel_tune(am == 1 ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1), folds = 2)$measure, "error rate")
})
