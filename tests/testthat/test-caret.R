trained <- function(...) {
  skip_if_not_installed("caret")
  with_seed(1, suppressWarnings(caret::train(..., method = kernel_caret())))
}

folds <- function(...) caret::trainControl("cv", number = 3, ...)

test_that("the list has all that caret asks of a model", {
  skip_if_not_installed("caret")
  model <- kernel_caret()
  theirs <- caret::getModelInfo("svmRadial", regex = FALSE)[[1]]
  needed <- c("library", "type", "parameters", "grid", "fit", "predict", "prob", "sort", "levels")
  expect_true(all(needed %in% names(model)))
  expect_identical(names(model$parameters), names(theirs$parameters))
  for (part in c("grid", "fit", "predict", "prob")) {
    expect_true(all(names(formals(theirs[[part]])) %in% names(formals(model[[part]]))))
  }
})

test_that("train() fits the model that kernel_lm() fits, and predicts it", {
  grid <- data.frame(sigma = 2, size = c(4, 9), ridge = 0.1)
  fit <- trained(Species ~ ., iris, trControl = folds(classProbs = TRUE), tuneGrid = grid)
  best <- fit$bestTune
  ours <- kernel_lm(iris[1:4], iris$Species, kernel = rbf_kernel(sigma = 2), size = best$size,
    ridge = 0.1)
  expect_identical(predict(fit, iris), unname(predict(ours, iris[1:4])))
  expect_equal(as.matrix(predict(fit, iris, type = "prob")),
    predict(ours, iris[1:4], type = "prob"), ignore_attr = TRUE)
  reg <- trained(mtcars[-1], mtcars$mpg, trControl = folds(), tuneLength = 2)
  expect_identical(nrow(reg$results), 2L)
  expect_equal(unname(predict(reg, mtcars[1:3, ])),
    unname(predict(reg$finalModel, mtcars[1:3, -1])))
  expect_identical(unlist(reg$bestTune[c("size", "ridge")], use.names = FALSE), c("loo", "loo"))
})

test_that("one fit serves all sizes: resampled figures are those of separate fits", {
  skip_if_not_installed("caret")
  grid <- data.frame(sigma = 3, size = c(3, 12, 6), ridge = 0.1)
  together <- trained(mtcars[-1], mtcars$mpg, trControl = folds(), tuneGrid = grid)
  for (size in grid$size) {
    apart <- trained(mtcars[-1], mtcars$mpg, trControl = folds(),
      tuneGrid = data.frame(sigma = 3, size = size, ridge = 0.1))
    expect_equal(together$results$RMSE[together$results$size == size], apart$results$RMSE,
      tolerance = 1e-8)
  }
  loop <- kernel_caret()$loop(
    rbind(grid, data.frame(sigma = 3, size = c(3, "loo"), ridge = "loo")))
  expect_identical(loop$loop$size, c("12", "3", "loo"))
  expect_identical(loop$submodels[[1]]$size, c("6", "3"))
  expect_identical(vapply(loop$submodels, nrow, 0L), c(2L, 0L, 0L))
})

test_that("a grid may leave any setting to the model, by its word or NA", {
  skip_if_not_installed("caret")
  silent <- function(grid) {
    with_seed(1, expect_silent(caret::train(Species ~ ., iris, method = kernel_caret(),
      tuneGrid = grid, trControl = folds())))
  }
  for (grid in list(
    data.frame(sigma = "mean", size = c(5, 10), ridge = 0.1),
    expand.grid(sigma = c("median", 2), size = c("loo", 5, 12), ridge = c(0.1, "loo"))
  )) {
    fit <- silent(grid)
    expect_identical(nrow(fit$results), nrow(grid))
    expect_false(anyNA(fit$results$Accuracy))
    word <- function(v) if (is.na(suppressWarnings(as.numeric(v)))) v else as.numeric(v)
    best <- lapply(lapply(fit$bestTune, as.character), word)
    ours <- kernel_lm(iris[1:4], iris$Species, kernel = rbf_kernel(sigma = best$sigma),
      size = best$size, ridge = best$ridge)
    expect_identical(predict(fit, iris), unname(predict(ours, iris[1:4])))
  }
  missing <- trained(Species ~ ., iris, trControl = folds(),
    tuneGrid = data.frame(sigma = NA, size = c(5, 10), ridge = 0.1))
  named <- silent(data.frame(sigma = "mean", size = c(5, 10), ridge = 0.1))
  expect_identical(missing$results$Accuracy, named$results$Accuracy)
  expect_error(
    kernel_caret()$fit(iris[1:4], iris$Species, NULL,
      data.frame(sigma = "wide", size = 5, ridge = 1)), "`sigma`",
    class = "kernelect_error_argument")
})

test_that("case weights and random search are taken", {
  skip_if_not_installed("caret")
  weights <- rep(1:4, 8)
  grid <- data.frame(sigma = 3, size = 6, ridge = 0.1)
  fit <- trained(mtcars[-1], mtcars$mpg, trControl = caret::trainControl("none"), tuneGrid = grid,
    weights = weights)
  ours <- kernel_lm(mtcars[-1], mtcars$mpg, rbf_kernel(sigma = 3), size = 6, ridge = 0.1,
    weights = weights)
  expect_equal(unname(predict(fit, mtcars[-1])), unname(predict(ours, mtcars[-1])))
  found <- kernel_caret()$grid(mtcars[-1], mtcars$mpg, 4, "random")
  expect_identical(dim(found), c(4L, 3L))
  expect_true(all(found$sigma > sqrt(10) / 4.01 & found$sigma < sqrt(10) * 4.01))
})

test_that("a grid of a single row has the width in the middle of a longer one", {
  one <- kernel_caret()$grid(mtcars[-1], mtcars$mpg, 1)
  expect_identical(one, data.frame(sigma = sqrt(10), size = "loo", ridge = "loo"))
  expect_equal(one$sigma, kernel_caret()$grid(mtcars[-1], mtcars$mpg, 3)$sigma[2])
})
