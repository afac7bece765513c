served <- function(fit, ...) {
  skip_if_not_installed("vetiver")
  vetiver::vetiver_model(fit, "mine", ...)
}

# What a request with these rows gets.
answer <- function(v, rows, ...) as.data.frame(vetiver::handler_predict(v, ...)(list(body = rows)))

test_that("every model that predicts is taken, loses its training rows and predicts the same", {
  skip_if_not_installed("vetiver")
  y <- iris$Species
  models <- list(
    kernel_basis(iris[1:4], size = 5), kernel_pca(iris[1:4], ncomp = 2),
    kernel_lm(iris[1:4], y, size = 6), kernel_lm(iris[2:4], iris[[1]], size = 6),
    kernel_lda(iris[1:4], y, size = 6), kernel_takes(iris[1:4], y),
    kernel_fusion(iris[1:4], y), kernel_rank(iris[1:4], y),
    kernel_tune(iris[1:4], y, grid = list(size = c(4, 6)), folds = 3)
  )
  for (fit in models) {
    v <- served(fit)
    expect_s3_class(v, "vetiver_model")
    expect_identical(v$metadata$required_pkgs, "kernelect")
    expect_match(v$description, class(fit)[1])
    expect_true(all(names(v$prototype) %in% names(iris)))
    expect_identical(nrow(v$prototype), 0L)
    expect_null(v$model$fitted.values)
    expect_identical(predict(v, iris), predict(fit, iris))
    expect_lte(length(serialize(v$model, NULL)), length(serialize(fit, NULL)))
    found <- answer(v, iris[c(1, 51), names(v$prototype)])
    expect_identical(nrow(found), 2L)
    expect_equal(unname(as.matrix(found)), unname(as.matrix(predict(fit, iris[c(1, 51), ]))),
      ignore_attr = TRUE)
  }
})

test_that("answers of a service have the usual names, and numbers that came as text are read", {
  d <- transform(iris, wide = factor(Petal.Width > 1, labels = c("no", "yes")))
  fit <- kernel_lm(Species ~ log(Sepal.Length) + wide, d, size = 5)
  v <- served(fit)
  expect_identical(names(v$prototype), c("Sepal.Length", "wide"))
  expect_identical(levels(v$prototype$wide), c("no", "yes"))
  new <- d[c(3, 60), ]
  expect_identical(answer(v, new)$.pred_class, as.character(predict(fit, new)))
  text <- data.frame(Sepal.Length = as.character(new$Sepal.Length), wide = as.character(new$wide))
  expect_equal(answer(v, text, type = "prob"), answer(v, new, type = "prob"))
  expect_identical(names(answer(v, new, type = "prob")), paste0(".pred_", levels(d$Species)))
  expect_equal(rowSums(answer(v, new, type = "prob")), c(1, 1), ignore_attr = TRUE)
  expect_error(answer(v, new["wide"]), "Sepal.Length")
  reg <- served(kernel_lm(mpg ~ wt, mtcars, size = 4))
  expect_identical(names(answer(reg, mtcars[1:2, ])), ".pred")
  expect_identical(reg$description, "A kernel_lm regression model")
})

test_that("columns without names, dates and prototypes of one's own are served", {
  x <- unname(as.matrix(iris[1:4]))
  fit <- kernel_lm(x, iris$Species, size = 5)
  v <- served(fit)
  expect_identical(names(v$prototype), paste0("V", 1:4))
  expect_identical(answer(v, as.data.frame(x[1:3, ]))$.pred_class,
    as.character(predict(fit, x[1:3, ])))
  days <- data.frame(day = as.Date("2024-01-01") + 1:20, y = sin(1:20))
  timed <- suppressMessages(kernel_lm(y ~ day, days, size = 4))
  expect_s3_class(served(timed)$prototype$day, "Date")
  expect_equal(answer(served(timed), days["day"])$.pred, unname(predict(timed, days)))
  d <- transform(iris, g = factor(Species))
  hidden <- kernel_lm(Sepal.Length ~ as.numeric(g), d, size = 3)
  v <- served(hidden, prototype_data = d["g"])
  expect_equal(answer(v, d[1:2, ])$.pred, unname(predict(hidden, d[1:2, ])))
  K <- gram(x)
  expect_error(served(kernel_lm(K = K, y = iris[[1]])), "Gram", class = "kernelect_error_argument")
  expect_null(served(kernel_lm(K = K, y = iris[[1]]), save_prototype = FALSE)$prototype)
})

test_that("times and differences are columns of the prototype, in the units they were fitted", {
  skip_if_not_installed("vetiver")
  start <- as.POSIXct("2024-01-01", tz = "UTC")
  d <- data.frame(when = start + 3600 * 1:20, wait = as.difftime(sqrt(1:20), units = "hours"),
    y = cos(1:20))
  v <- served(suppressMessages(kernel_lm(y ~ when + wait, d, size = 4)))
  expect_s3_class(v$prototype$when, "POSIXct")
  expect_s3_class(v$prototype$wait, "difftime")
  expect_identical(units(v$prototype$wait), "hours")
  expect_identical(nrow(v$prototype), 0L)
})

test_that("a prototype must be a data frame, and a service starts without a word", {
  skip_if_not_installed("vetiver")
  fit <- kernel_lm(mpg ~ wt, mtcars, size = 3)
  expect_error(served(fit, prototype_data = "wt"), "`prototype_data` must be a data frame",
    class = "kernelect_error_argument")
  expect_null(expect_invisible(vetiver::handler_startup(served(fit))))
})
