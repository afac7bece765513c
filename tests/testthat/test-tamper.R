test_that("a part that passed is looked at again once it was edited", {
  fit <- kernel_lm(iris_matrix(), iris[[1]], rbf_kernel(2), size = 5)
  row <- iris_matrix(7)
  before <- predict(fit, row)
  expect_true(is_sound(fit$basis))
  expect_identical(predict(fit, row), before)
  edited <- fit
  edited$basis$vectors[2, 1] <- NaN
  expect_false(is_sound(edited$basis))
  expect_error(predict(edited, row), "`vectors`", class = "kernelect_error_model")
  attr(fit$basis$vectors, "dim") <- NULL # in place, were it not held
  expect_error(predict(fit, row), "`vectors`", class = "kernelect_error_model")
  edited <- fit
  edited$basis <- new.env()
  expect_error(predict(edited, row), class = "kernelect_error_model")
})

test_that("parts are the same when they are the same objects", {
  a <- c(1, 2)
  expect_true(.Call(ffi_has_parts, list(a = a, b = 2), list(a = a)))
  expect_true(.Call(ffi_has_parts, list(b = 2), list(a = NULL)))
  expect_false(.Call(ffi_has_parts, list(a = a + 0), list(a = a)))
  expect_false(.Call(ffi_has_parts, list(b = a), list(a = a)))
  expect_false(.Call(ffi_has_parts, list(a = a), NULL))
  expect_false(.Call(ffi_has_parts, NULL, list(a = NULL)))
})

test_that("an edited model refuses or answers, and never fails without a class, whatever the edit",
  {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  set.seed(20)
  examples <- example_models()
  classes <- unique(vapply(examples, function(e) class(e[[1L]])[1L], ""))
  for (name in names(examples)) {
    ends <- tamper(examples[[name]], 40, classes)
    broken <- ends[!ends$verdict %in% c("refused", "same", "other"), ]
    expect_identical(nrow(broken), 0L,
      info = paste(name, utils::capture.output(print(broken)), collapse = "\n"))
    expect_true(all(c("refused", "same") %in% ends$verdict))
  }
})

test_that(paste(
  "a model survives every way of saving it, new fields, a class put before it, and parts",
  "that prediction does without"
), {
  for (example in example_models()) {
    model <- example[[1L]]
    expected <- predict(model, example[[2L]])
    file <- tempfile()
    for (ascii in list(FALSE, TRUE, NA)) {
      saveRDS(model, file, ascii = ascii)
      expect_equal(predict(readRDS(file), example[[2L]]), expected, tolerance = 1e-12)
    }
    expect_identical(predict(unserialize(serialize(model, NULL, version = 2)), example[[2L]]),
      expected)
    model$note <- "mine"
    model[c("fitted.values", "residuals",
      if (!inherits(model, "kernel_takes")) c("scores", "observed"))] <- NULL
    model$error <- NULL
    class(model) <- c("mine", class(model), "also mine")
    expect_identical(predict(model, example[[2L]]), expected)
  }
})

test_that("numbers, labels and training rows of a model are the user's to edit", {
  fit <- kernel_lm(Species ~ ., iris, size = 10)
  called <- within_list(fit, levels = c("a", "b", "c"), fitted.values = numeric())
  expect_identical(predict(called, iris), factor(predict(fit, iris), labels = c("a", "b", "c")))
  line <- kernel_lm(dist ~ speed, cars, linear_kernel(), size = 1)
  line$coefficients[1] <- line$coefficients[1] + 1
  expect_equal(predict(line, cars), fitted(line) + 1, ignore_attr = TRUE)
  fused <- kernel_fusion(dist ~ speed, cars)
  fused$intercept <- fused$intercept + 1
  expect_equal(predict(fused, cars), fitted(fused) + 1, ignore_attr = TRUE)
})

test_that("every model says which version wrote it, and is a kernelect_model", {
  version <- as.character(utils::packageVersion("kernelect"))
  for (example in example_models()) {
    model <- example[[1L]]
    expect_identical(model$version, version)
    expect_identical(class(model)[2L], "kernelect_model")
    basis <- model$basis
    if (inherits(basis, "kernel_basis")) expect_identical(basis$version, version)
  }
})

test_that("the number of rows, fitted values and residuals are asked of every model the same way", {
  for (example in example_models()) {
    model <- example[[1L]]
    expect_identical(as.double(nobs(model)), 24)
    expect_identical(nobs(model, use.fallback = TRUE), nobs(model))
    expect_error(nobs(model, Fallback = TRUE), class = "kernelect_error_dots")
    for (ask in list(fitted, residuals)) {
      found <- attempt(ask(model))
      if (is.null(found$error)) expect_identical(NROW(found$value),
        24L) else expect_true(is_classed(found$error))
    }
  }
  tuned <- example_models()$kernel_tune[[1L]]
  expect_identical(fitted(tuned), tuned$model$fitted.values)
  expect_identical(residuals(tuned), tuned$model$residuals)
  expect_error(fitted(kernel_basis(iris[1:4], size = 3)), "has no fitted values",
    class = "kernelect_error_argument")
  expect_error(residuals(kernel_lda(iris[1:4], iris$Species, size = 3)), "residuals",
    class = "kernelect_error_argument")
})

test_that("a formula of 3400 columns makes a model that predicts", {
  d <- data.frame(random_matrix(12, 3400), y = seq_len(12))
  fit <- kernel_lm(y ~ ., d, size = 4)
  expect_equal(predict(fit, d), fitted(fit), ignore_attr = TRUE)
})

test_that("what is no list is no model", {
  expect_error(predict(structure(1:3, class = "kernel_basis"), iris),
    class = "kernelect_error_model")
  for (class in c("kernel_lm", "kernel_lda", "kernel_pca", "kernel_takes", "kernel_tune",
    "kernel_rank", "kernel_fusion")) {
    for (value in list(1:3, list(), "a", NULL)) {
      model <- structure(if (is.null(value)) list(NULL) else value,
        class = c(class, "kernelect_model"))
      for (ask in c("predict", "print", "summary", "plot", "nobs")) {
        found <- attempt(do.call(ask, list(model, if (ask == "predict") iris)))
        expect_true(is_classed(found$error), info = paste(class, ask, in_words(value)))
      }
    }
  }
})

test_that("damage to the structure of a model is refused", {
  examples <- example_models()
  edits <- list(
    "basis" = function(m) within_list(m, cholesky = m$cholesky[-1, ]),
    "basis" = function(m) within_list(m, kernel = within_list(m$kernel, gamma = -1)),
    "kernel_pca" = function(m) within_list(m, loadings = m$loadings[-1, ]),
    "kernel_pca, all rows" = function(m) within_list(m,
      basis = within_list(m$basis, vectors = m$basis$vectors[-1, ])),
    "kernel_lm" = function(m) within_list(m, coefficients = m$coefficients[-1]),
    "kernel_lda" = function(m) within_list(m, scaling = m$scaling * NA),
    "kernel_lda" = function(m) within_list(m, observed = as.list(m$observed)),
    "kernel_takes" = function(m) within_list(m, scores = m$scores[-1, , drop = FALSE]),
    "kernel_tune" = function(m) within_list(m, results = NULL),
    "kernel_rank, formula" = function(m) within_list(m, ranking = m$ranking[-1]),
    "kernel_rank, formula" = function(m) within_list(m,
      input = within_list(m$input, levels = list(1))),
    "kernel_fusion" = function(m) within_list(m, scaling = list(center = 0, scale = 0)),
    "kernel_fusion, classes, kernels" = function(m) within_list(m,
      expansion = m$expansion[-1, , drop = FALSE]),
    "kernel_fusion, classes, kernels" = function(m) within_list(m, support = m$support + m$n),
    "kernel_fusion, Gram matrices" = function(m) within_list(m, weights = -m$weights),
    "kernel_pca, all rows" = function(m) within_list(m, basis = 1)
  )
  for (i in seq_along(edits)) {
    example <- examples[[names(edits)[i]]]
    expect_error(predict(edits[[i]](example[[1]]), example[[2]]), class = "kernelect_error",
      info = names(edits)[i])
  }
})

test_that("an environment in place of terms is refused and left as it was", {
  models <- example_models()
  for (name in grep("formula", names(models), value = TRUE)) {
    model <- models[[name]][[1L]]
    place <- new.env()
    if (is.null(model$basis)) model$input$terms <- place else model$basis$input$terms <- place
    expect_error(predict(model, models[[name]][[2L]]), class = "kernelect_error_model", info = name)
    expect_null(attributes(place), info = name)
  }
})

test_that("a condition that is not plainly true is damage, and the part is named", {
  expect_silent(must_hold("m", a = TRUE, b = TRUE))
  for (bad in expression(FALSE, NA, NULL, c(TRUE, TRUE), stop("no"), 1)) {
    expect_error(must_hold("m", a = TRUE, b = eval(bad), c = stop()), "`m` is damaged: its `b`",
      class = "kernelect_error_model")
  }
})

test_that("what a method trips over is told as damage, and its own errors as they are", {
  expect_identical(guard_model("x", 3), 3)
  expect_error(guard_model("x", stop("no good")), "`x` cannot be shown: no good",
    class = "kernelect_error_model")
  expect_error(guard_model("x", abort("data", "bad rows")), "bad rows",
    class = "kernelect_error_data")
})

test_that("validators take what a model holds and nothing else", {
  holds <- function(is, good, bad) {
    for (v in good) expect_true(is(v), info = utils::capture.output(dput(v)))
    # an error is as good as FALSE: see must_hold()
    for (v in bad) {
      expect_false(isTRUE(tryCatch(is(v), error = function(e) FALSE)),
        info = utils::capture.output(dput(v)))
    }
  }
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  holds(function(v) is_matrix_of(v, 2, 3), list(m), list(
    t(m), m[, 1:2], m[1, , drop = FALSE], m > 0, as.vector(m), m * NA, replace(m, 2, Inf), NULL
  ))
  holds(function(v) is_numbers(v, 2), list(c(1, 2)),
    list(1, c(1, 2, 3), 1:2, c("a", "b"), c(1, NA), c(1, Inf), list(1, 2), NULL))
  holds(function(v) is_index(v, 3), list(1, 3, 1:3, c(2, 2)),
    list(0, 4, c(1, 4), c(0, 3), NA, "1", TRUE, c(1, NA), NULL))
  holds(is_levels, list(c("a", "b"), c("a", "b", "c")),
    list("a", c("a", "a"), c("a", NA, "b"), 1:2, factor(c("a", "b")), NULL))
  scaling <- list(center = c(0, 1), scale = c(1, -2))
  holds(function(v) valid_scaling(v, 2), list(NULL, scaling), list(
    within_list(scaling, scale = c(1, 0)), within_list(scaling, scale = c(0, 0)),
    within_list(scaling, scale = 1),
    within_list(scaling, center = 1), within_list(scaling, center = c(NA, 1)),
    within_list(scaling, scale = c(1, NaN)),
    within_list(scaling, center = NULL), c(1, 2), list(), "a"
  ))
  holds(function(v) valid_names(v, 2), list(NULL, c("a", "b")),
    list("a", letters[1:3], 1:2, list("a", "b")))
  holds(function(v) valid_width(list(weights = v), 2), list(NULL, c(1, 2)), list(1, c(1, 2, 3)))
  holds(is_list_of_levels, list(list(), list(a = NULL, b = "u"), list(c("u", "v"))),
    list("u", list(1), list("u", 1), list(NULL, TRUE)))
  input <- list(width = 2, columns = c("a", "b"), variables = "v", levels = list(v = c("a", "b")),
    terms = stats::terms(y ~ a))
  holds(valid_input, list(input, input["width"], input[c("width", "columns")]), list(
    within_list(input, width = NULL), within_list(input, width = "2"),
    within_list(input, width = 3), within_list(input, columns = 1:2),
    within_list(input, variables = 1), within_list(input, levels = "a"),
    within_list(input, levels = list(1)),
    within_list(input, terms = y ~ a), within_list(input, terms = new.env()),
    within_list(input, terms = structure(1, class = "terms")), 1, NULL
  ))
  model <- list(input = input, vectors = `colnames<-`(m[, 1:2], c("a", "b")), scaling = scaling)
  holds(function(v) valid_rows(v, 2), list(model, within_list(model, scaling = NULL)), list(
    within_list(model, vectors = m[, 1:2]),
    within_list(model, vectors = model$vectors[1, , drop = FALSE]),
    within_list(model, vectors = model$vectors[, 2:1]),
    within_list(model, scaling = list(center = 0, scale = 1)),
    within_list(model, input = within_list(input, columns = "a")), within_list(model, input = NULL)
  ))
})
