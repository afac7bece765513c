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
  expect_identical(tuned$model, without_call(refit))
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

test_that("the default sizes are those up to half of the training rows of a fold, at least one", {
  sizes <- function(rows) check_grid_sizes(NULL, rows)
  expect_identical(sizes(400), c(5, 10, 20, 35, 50, 75, 100, 150, 200))
  expect_identical(sizes(399), c(5, 10, 20, 35, 50, 75, 100, 150))
  expect_identical(sizes(10), 5)
  expect_identical(sizes(9), 4)
  expect_identical(sizes(2), 1)
  expect_identical(sizes(1), 1)
  # 21 rows in two folds leave 10 or 11 to train on, 19 leave 9 or 10
  seen <- function(n) unique(kernel_tune(matrix(seq_len(n)), sqrt(seq_len(n)), folds = 2)$results$size)
  expect_identical(seen(21), 5)
  expect_identical(seen(19), 4)
})

test_that("sizes are whole numbers from one, put in order", {
  expect_identical(check_grid_sizes(c(8, 1, 8, 3L), 20), c(1, 3, 8))
  for (size in list("a", numeric(), NA_real_, c(3, 0), c(3, 2.5), 0.5, -1, TRUE)) {
    expect_error(kernel_tune(iris[1:4], iris$Species, grid = list(size = size)), "`grid$size` must be a vector of whole numbers, at least 1",
                 fixed = TRUE, class = "kernelect_error_argument")
  }
})

test_that("a grid is a list of these names and no other", {
  for (grid in list(c(size = 3), list(3), list(size = 3, more = 1), list(size = 3, 4), rbf_kernel(), "rbf")) {
    expect_error(kernel_tune(iris[1:4], iris$Species, grid = grid), "`grid` must be a list with elements `kernel` and `size`", fixed = TRUE,
                 class = "kernelect_error_argument")
  }
  expect_named(check_grid(list(), 100), c("kernel", "size"))
})

test_that("the default kernels are a quarter to four times the mean distance", {
  x <- scale(iris_matrix())
  widths <- vapply(check_grid_kernels(NULL), function(kernel) resolve_kernel(kernel, x)$sigma, 0)
  expect_equal(unname(widths) / resolve_kernel(rbf_kernel("mean"), x)$sigma, c(1 / 4, 1 / 2, 1, 2, 4))
})

test_that("kernels without a name are named by what they are, equal ones by number", {
  kernels <- check_grid_kernels(list(a = rbf_kernel(1), rbf_kernel(2), linear_kernel()))
  expect_named(kernels, c("a", kernel_label(rbf_kernel(2)), kernel_label(linear_kernel())))
  expect_named(check_grid_kernels(list(linear_kernel(), linear_kernel())), paste0(kernel_label(linear_kernel()), c("", " #1")))
  expect_named(check_grid_kernels(rbf_kernel(2)), kernel_label(rbf_kernel(2)))
  expect_error(check_grid_kernels("rbf"), class = "kernelect_error_argument")
})

test_that("errors that differ by rounding alone tie, also at zero, and each kernel has its best", {
  results <- data.frame(kernel = rep(c("b", "a"), each = 3), size = rep(c(2, 5, 9), 2), error = c(3, 1 + 5e-13, 1, 4, 1 + 5e-12, 2), se = 0)
  expect_identical(best_candidate(results), 2L)
  expect_identical(best_candidate(results[c(1, 3, 5), ]), 2L)
  expect_identical(best_candidate(replace(results, "error", list(c(1, 0, 0, 2, 0, 0)))), 2L)
  best <- best_by_kernel(results)
  expect_identical(best, data.frame(kernel = c("b", "a"), size = c(5, 5), error = c(1 + 5e-13, 1 + 5e-12), se = 0))
})

test_that("error and standard error weigh folds by their rows", {
  grid <- list(kernel = list(k = 1, l = 2), size = c(3, 6))
  errors <- list(matrix(c(1, 2, 3, 4), 2), matrix(c(2, 2, 5, 0), 2), matrix(c(6, 2, 1, 1), 2))
  rows <- c(2, 2, 1)
  table <- tabulate_errors(errors, rows, grid)
  expect_identical(table[c("kernel", "size")], data.frame(kernel = rep(c("k", "l"), each = 2), size = c(3, 6, 3, 6)))
  for (i in 1:4) {
    fold <- vapply(errors, function(e) e[i], 0)
    mean <- sum(rows * fold) / 5
    expect_equal(table$error[i], mean)
    expect_equal(table$se[i], sqrt(sum(rows * (fold - mean)^2) / 5 / 2))
  }
})

test_that("rows left out are told of once, other messages are not lost", {
  x <- iris_matrix()
  x[c(5, 70), 1] <- NA
  told <- capture_messages(kernel_tune(x, iris$Species, grid = list(kernel = rbf_kernel(1), size = 3), folds = 2, na_action = "omit"))
  expect_length(told, 1)
  expect_match(told, "2 of 150")
  expect_message(kernel_tune(iris[1:4], iris$Species, grid = list(kernel = rbf_kernel(1), size = 151), folds = 2), "more than the 150 rows")
})

test_that("sizes beyond the rows of a fold need no word, and nothing else does unasked", {
  grid <- list(kernel = linear_kernel(), size = c(4, 500))
  for (fit in list(kernel_lm, kernel_lda)) {
    said <- capture.output(type = "message", tuned <- kernel_tune(iris[1:4], iris$Species, fit = fit, grid = grid, folds = 3))
    expect_identical(said, character())
    expect_identical(tuned$best$size, 4)
  }
  for (path in list(lm_path, lda_path)) with_option("kernelect.threads", NULL, expect_identical(eval(formals(path)$threads), 1L))
})

test_that("the defaults of a model are those of its own function", {
  for (pair in list(list(lm_path, kernel_lm.default), list(lda_path, kernel_lda.default))) {
    mine <- formals(pair[[1]])
    own <- formals(pair[[2]])
    same <- setdiff(intersect(names(mine), names(own)), c("x", "kernel", "tol", "...", "center"))
    expect_identical(mine[same], own[same])
    expect_identical(mine$center, eval(own$center)[1])
  }
})

test_that("each thing that a tuned model needs is looked at", {
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = small_grid, folds = 2)
  broken <- list(
    within_list(tuned, results = as.matrix(tuned$results)), within_list(tuned, results = tuned$results[0, ]),
    within_list(tuned, results = tuned$results[-4]), within_list(tuned, results = tuned$results["size"]),
    within_list(tuned, best = as.matrix(tuned$best)), within_list(tuned, best = tuned$results[1:2, ]),
    within_list(tuned, best = tuned$best[0, ]), within_list(tuned, model = unclass(tuned$model)), within_list(tuned, model = factor("a"))
  )
  for (i in seq_along(broken)) expect_error(print(broken[[i]]), class = "kernelect_error_model", info = i)
  expect_output(print(tuned), "6 candidates, 2 folds of 150 rows", fixed = TRUE)
})

test_that("one candidate is not called several, and what was measured is named", {
  one <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1), folds = 2)
  shown <- capture.output(print(one))
  expect_identical(shown[1:2], c("<kernel_tune> 1 candidate, 2 folds of 32 rows", "best:    linear kernel, size 1"))
  two <- kernel_tune(mpg ~ wt, mtcars, grid = list(kernel = rbf_kernel(1), size = 1:2), folds = 2)
  expect_output(print(two), "<kernel_tune> 2 candidates, ", fixed = TRUE)
  expect_match(shown[3], "^mean squared error: [0-9.]+ \\(standard error [0-9.]+\\)$")
  expect_identical(kernel_tune(am == 1 ~ wt, mtcars, grid = list(kernel = linear_kernel(), size = 1), folds = 2)$measure, "error rate")
})
