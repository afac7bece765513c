tidied <- function(name, fit, ...) getExportedValue("generics", name)(fit, ...)

test_that("tidy gives a row for each part of a model, with its numbers", {
  skip_if_not_installed("generics")
  tidy <- function(fit) as.data.frame(tidied("tidy", fit))
  basis <- kernel_basis(iris[1:4], size = 6)
  expect_equal(tidy(basis), basis$path, ignore_attr = "row.names")
  pca <- kernel_pca(iris[1:4], ncomp = 3)
  expect_identical(tidy(pca)$value, pca$values)
  expect_equal(tidy(pca)$share, pca$values / pca$total)
  one <- kernel_lm(mpg ~ wt + hp, mtcars, size = 4)
  expect_identical(tidy(one)$estimate, unname(coef(one)))
  expect_identical(tidy(one)$term, names(coef(one)))
  many <- kernel_lm(Species ~ ., iris, size = 4)
  expect_identical(tidy(many)$estimate, c(coef(many)))
  expect_identical(unique(tidy(many)$response), levels(iris$Species))
  lda <- kernel_lda(Species ~ ., iris, size = 5)
  expect_equal(tidy(lda)$value, unname(lda$values))
  rank <- kernel_rank(Species ~ ., iris)
  expect_identical(tidy(rank)$name, names(rank$score)[rank$ranking])
  expect_identical(tidy(rank)$score, unname(rank$score[rank$ranking]))
  fused <- kernel_fusion(mpg ~ ., mtcars)
  expect_identical(tidy(fused)$weight, unname(fused$weights))
  takes <- kernel_takes(Species ~ ., iris)
  expect_identical(tidy(takes)$weight, unname(takes$weights))
  tuned <- kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = c(4, 8)))
  expect_equal(tidy(tuned), tuned$results, ignore_attr = "row.names")
})

test_that("glance gives one row that tells the size and the rows", {
  skip_if_not_installed("generics")
  fits <- list(
    kernel_basis(iris[1:4], size = 6), kernel_pca(iris[1:4], ncomp = 3),
    kernel_lm(Species ~ ., iris), kernel_lda(Species ~ ., iris, size = 5),
    kernel_takes(Species ~ ., iris), kernel_rank(Species ~ ., iris),
    kernel_fusion(Sepal.Length ~ ., iris),
    kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = c(4, 8)))
  )
  for (fit in fits) {
    row <- as.data.frame(tidied("glance", fit))
    expect_identical(nrow(row), 1L, info = class(fit)[1])
    expect_equal(row$nobs, 150, info = class(fit)[1])
    expect_false(anyNA(row), info = class(fit)[1])
  }
  lm <- as.data.frame(tidied("glance", fits[[3]]))
  at <- fits[[3]]$loo$size == fits[[3]]$size & fits[[3]]$loo$ridge == fits[[3]]$ridge
  expect_identical(lm$loo_loss, fits[[3]]$loo$loss[at])
  one <- kernel_lm(mpg ~ wt + hp, mtcars)
  row <- as.data.frame(tidied("glance", one))
  expect_identical(row$r.squared, summary(one)$r.squared)
  for (fit in fits[4:5]) {
    row <- as.data.frame(tidied("glance", fit))
    expect_identical(row$classes, 3L)
    expect_identical(row$loo_error, fit$left_out_error)
  }
})

test_that("augment puts predictions beside the rows", {
  skip_if_not_installed("generics")
  fit <- kernel_lm(Species ~ ., iris)
  new <- iris[c(1, 51, 101), ]
  out <- as.data.frame(tidied("augment", fit, newdata = new))
  expect_equal(out[names(iris)], new, ignore_attr = "row.names")
  expect_identical(out$.pred_class, unname(predict(fit, new)))
  prob <- predict(fit, new, type = "prob")
  expect_equal(as.matrix(out[paste0(".pred_", levels(iris$Species))]), prob, ignore_attr = TRUE)
  numbers <- kernel_lm(mpg ~ wt + hp, mtcars)
  out <- as.data.frame(tidied("augment", numbers, mtcars))
  expect_equal(out$.fitted + out$.resid, mtcars$mpg)
  scores <- as.data.frame(tidied("augment", kernel_pca(iris[1:4], ncomp = 2), newdata = new[1:4]))
  expect_equal(as.matrix(scores[c(".KPC1", ".KPC2")]),
    predict(kernel_pca(iris[1:4], ncomp = 2), new[1:4]), ignore_attr = TRUE)
})

test_that("tidiers refuse what they do not know", {
  skip_if_not_installed("generics")
  expect_error(tidied("tidy", kernel_basis(iris[1:4], size = 3), conf.int = TRUE),
    class = "kernelect_error_dots")
})

test_that("frequencies of a resampled ranking are tidied in its order", {
  skip_if_not_installed("generics")
  fit <- with_seed(1, kernel_rank(iris[1:4], iris$Species, method = "bahsic", resample = 4, n = 2))
  out <- as.data.frame(tidied("tidy", fit))
  expect_identical(out$frequency, unname(fit$frequency[fit$ranking]))
  expect_equal(sum(out$frequency), 2)
})

test_that("augment without data gives what a regression keeps of its rows", {
  skip_if_not_installed("generics")
  augment <- function(...) as.data.frame(tidied("augment", ...))
  gaps <- mtcars
  gaps$wt[3] <- NA
  fit <- suppressMessages(kernel_lm(mpg ~ wt + hp, gaps, na_action = "exclude"))
  out <- augment(fit)
  expect_identical(out, data.frame(.fitted = unname(fitted(fit)), .resid = unname(residuals(fit)),
    .hat = unname(hatvalues(fit))))
  expect_true(all(is.na(out[3, ])))
  two <- kernel_lm(cbind(mpg, qsec) ~ wt, mtcars)
  out <- augment(two)
  expect_named(out, c(".fitted_mpg", ".fitted_qsec", ".resid_mpg", ".resid_qsec", ".hat"))
  expect_equal(out$.fitted_qsec + out$.resid_qsec, mtcars$qsec)
  fused <- kernel_fusion(mpg ~ wt + hp, mtcars)
  expect_identical(augment(fused)$.resid, unname(residuals(fused)))
  tuned <- kernel_tune(dist ~ speed, cars, folds = 2, grid = list(size = 2:3))
  expect_identical(augment(tuned), augment(tuned$model))
  expect_false(any(grepl("resid", names(augment(kernel_lm(Species ~ ., iris))))))
})

test_that("residuals are left out where no formula tells the response", {
  skip_if_not_installed("generics")
  x <- mtcars[c("wt", "hp")]
  fit <- kernel_lm(x, mtcars$mpg, size = 4)
  out <- as.data.frame(tidied("augment", fit, x))
  expect_identical(names(out), c("wt", "hp", ".fitted"))
  expect_equal(out$.fitted, unname(predict(fit, x)))
})

test_that("without tibble tables are data frames, rows numbered", {
  table <- data.frame(a = 1:2, row.names = c("x", "y"))
  expect_identical(with_function("is_installed", function(package) FALSE, as_tidy(table)),
    data.frame(a = 1:2))
})
