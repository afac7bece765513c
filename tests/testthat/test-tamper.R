test_that("an edited model refuses or answers as before, whatever the edit", {
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  on.exit({
    grDevices::dev.off()
    unlink(picture)
  })
  set.seed(20)
  examples <- example_models()
  classes <- unique(vapply(examples, function(e) class(e[[1L]])[1L], ""))
  for (name in names(examples)) {
    ends <- tamper(examples[[name]], 40, classes)
    broken <- ends[!ends$verdict %in% c("refused", "same"), ]
    expect_identical(nrow(broken), 0L, info = paste(name, utils::capture.output(print(broken)), collapse = "\n"))
    expect_gt(mean(ends$verdict == "refused"), 0.5)
  }
})

test_that("a model survives every way of saving it, and new fields", {
  for (example in example_models()) {
    model <- example[[1L]]
    expected <- predict(model, example[[2L]])
    file <- tempfile()
    for (ascii in list(FALSE, TRUE, NA)) {
      saveRDS(model, file, ascii = ascii)
      expect_equal(predict(readRDS(file), example[[2L]]), expected, tolerance = 1e-12)
    }
    expect_identical(predict(unserialize(serialize(model, NULL, version = 2)), example[[2L]]), expected)
    model$note <- "mine"
    model[c("fitted.values", "residuals", if (!inherits(model, "kernel_takes")) c("scores", "observed"))] <- NULL
    class(model) <- c("mine", class(model))
    expect_identical(predict(model, example[[2L]]), expected)
  }
})

test_that("a file without a seal is no model", {
  model <- kernel_basis(iris[1:4], size = 3)
  attr(model, "seal") <- NULL
  expect_error(predict(model, iris), class = "kernelect_error_model")
  expect_error(predict(structure(1:3, class = "kernel_basis"), iris), class = "kernelect_error_model")
})

test_that("a forged seal does not get past the validators", {
  examples <- example_models()
  edits <- list(
    "basis" = function(m) within_list(m, cholesky = m$cholesky[-1, ]),
    "basis" = function(m) within_list(m, kernel = within_list(m$kernel, gamma = -1)),
    "kernel_pca" = function(m) within_list(m, loadings = m$loadings[-1, ]),
    "kernel_pca, all rows" = function(m) within_list(m, basis = within_list(m$basis, vectors = m$basis$vectors[-1, ])),
    "kernel_lm" = function(m) within_list(m, coefficients = m$coefficients[-1]),
    "kernel_lda" = function(m) within_list(m, scaling = m$scaling * NA),
    "kernel_lda" = function(m) within_list(m, observed = as.list(m$observed)),
    "kernel_takes" = function(m) within_list(m, scores = m$scores[-1, , drop = FALSE]),
    "kernel_tune" = function(m) within_list(m, results = NULL),
    "kernel_rank, formula" = function(m) within_list(m, ranking = m$ranking[-1]),
    "kernel_rank, formula" = function(m) within_list(m, input = within_list(m$input, levels = list(1))),
    "kernel_fusion" = function(m) within_list(m, scaling = list(center = 0, scale = 0)),
    "kernel_fusion, classes, kernels" = function(m) within_list(m, expansion = m$expansion[-1, , drop = FALSE]),
    "kernel_fusion, classes, kernels" = function(m) within_list(m, support = m$support + m$n),
    "kernel_fusion, Gram matrices" = function(m) within_list(m, weights = -m$weights),
    "kernel_pca, all rows" = function(m) within_list(m, basis = 1)
  )
  for (i in seq_along(edits)) {
    example <- examples[[names(edits)[i]]]
    expect_error(predict(forge(edits[[i]](example[[1]])), example[[2]]), class = "kernelect_error", info = names(edits)[i])
  }
})

test_that("an environment in place of terms is refused and left as it was", {
  models <- example_models()
  for (name in grep("formula", names(models), value = TRUE)) {
    model <- models[[name]][[1L]]
    place <- new.env()
    if (is.null(model$basis)) model$input$terms <- place else model$basis$input$terms <- place
    expect_error(predict(forge(model), models[[name]][[2L]]), class = "kernelect_error_model", info = name)
    expect_null(attributes(place), info = name)
  }
})

test_that("random edits under a forged seal never end in a crash, and predictions in an answer or a classed error", {
  set.seed(21)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  examples <- example_models()
  classes <- unique(vapply(examples, function(e) class(e[[1L]])[1L], ""))
  for (name in names(examples)) {
    ends <- tamper(examples[[name]], 10, classes, through = function(m) tryCatch(forge(m), error = function(e) m))
    expect_gte(nrow(ends), 10L * 4L)
    expect_false(any(grepl("UNCLASSED", ends$verdict[ends$question == "predict"])), info = name)
  }
})

test_that("values of every kind leave different prints, near values near ones", {
  print_of <- function(...) vapply(list(...), function(v) fingerprint(list(a = v), "a"), 0)
  expect_identical(anyDuplicated(print_of(0, 1, -1, NaN, Inf, -Inf, 1e-320, .Machine$double.xmax)), 0L)
  expect_identical(anyDuplicated(print_of(0L, 1L, -1L, NA_integer_)), 0L)
  expect_identical(anyDuplicated(print_of("", "0", "a", NA_character_)), 0L)
  expect_identical(anyDuplicated(print_of(c(0, 1), c(1, 0), c(0, 1, 0), numeric())), 0L)
  expect_lt(abs(diff(print_of(pi, pi * (1 + 1e-15)))), 1e-12)
})

test_that("a seal of the class alone says nothing of the fields", {
  fit <- kernel_lm(mpg ~ wt, mtcars, size = 3)
  attr(fit, "seal") <- attr(fit, "seal")["class"]
  expect_error(predict(fit, mtcars), class = "kernelect_error_model")
})
