# Predictions: one row at a time (latency of 200 calls) and a million rows (throughput), one thread.
source(file.path("bench", "harness.R"))

fit_setup <- function(size) {
  paste0(
    "library(kernelect); ",
    "fit <- kernel_lm(train[, -1], train[, 1], rbf_kernel(sigma = 4), basis = 'random', ",
    "size = ", size, ", tol = 0, ridge = 0.1, scale = TRUE)"
  )
}

calls <- function(call) paste0("for (i in 1:200) result <- ", call)

latency_contest <- function(name, size) {
  set.seed(1)
  train <- matrix(rnorm(3000 * 21), 3000)
  contest(name, data = list(train = train), list(
    kernelect = contestant(
      setup = paste(fit_setup(size), "; one <- train[1, -1, drop = FALSE]"),
      job = calls("predict(fit, one)"), value = "NaN"
    ),
    e1071 = contestant(
      setup = paste0("library(e1071); fit <- svm(train[1:", size, ", -1], train[1:", size,
                     ", 1], epsilon = 1e-3); one <- train[1, -1, drop = FALSE]"),
      job = calls("predict(fit, one)"), value = "NaN"
    ),
    "predict.lm" = contestant(
      setup = "d <- data.frame(y = train[, 1], train[, -1]); fit <- lm(y ~ ., d); one <- d[1, ]",
      job = calls("predict(fit, one)"), value = "NaN"
    )
  ))
}

throughput_contest <- function(name, n, size) {
  set.seed(1)
  train <- matrix(rnorm(3000 * 21), 3000)
  x <- matrix(rnorm(n * 20), n)
  contest(name, rounds = 3, data = list(train = train, x = x, v = train[1:size, -1]), list(
    kernelect = contestant(setup = fit_setup(size), job = "result <- predict(fit, x)",
                           value = "NaN"),
    e1071 = contestant(
      setup = paste0("library(e1071); fit <- svm(train[1:", size, ", -1], train[1:", size,
                     ", 1], epsilon = 1e-3)"),
      job = "result <- predict(fit, x)", value = "NaN"
    ),
    "predict.lm" = contestant(
      setup = paste0("d <- data.frame(y = train[, 1], train[, -1]); fit <- lm(y ~ ., d); ",
                     "new <- as.data.frame(x); names(new) <- names(d)[-1]"),
      job = "result <- predict(fit, new)", value = "NaN"
    ),
    limit = contestant(lang = "c", job = "limit_predict.c")
  ))
}

latency_contest("predict-one-100", size = 100)
latency_contest("predict-one-1000", size = 1000)
throughput_contest("predict-million", n = 1e6, size = 200)
