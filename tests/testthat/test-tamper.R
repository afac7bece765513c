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

test_that("a seal knows every field, the class, and what may change", {
  model <- seal(structure(list(a = pi, scores = 1:3), class = "mine"))
  damaged <- function(model) expect_error(check_seal(model, "m"), "`m` is damaged", class = "kernelect_error_model")
  expect_identical(check_seal(model), model)
  expect_identical(check_seal(seal(structure(list(a = 1), class = "mine")))$a, 1)
  damaged(within_list(model, a = 3))
  damaged(within_list(model, scores = 3:1))
  damaged(within_list(model, a = NULL))
  damaged(structure(model, class = "other"))
  expect_identical(check_seal(within_list(model, note = 1))$note, 1)
  expect_s3_class(check_seal(structure(model, class = c("other", "mine"))), "other")
  dropped <- model
  dropped$scores <- NULL
  expect_null(check_seal(dropped)$scores)
  for (forged in list(NULL, "text", c(a = "x", class = "y"), c(a = 1L, class = 2L), 1, c(a = NA_real_, class = 1))) {
    damaged(`attr<-`(model, "seal", forged))
  }
  damaged(structure(1, class = "mine", seal = attr(model, "seal")))
})

test_that("a condition that is not plainly true is damage", {
  expect_silent(must_hold(TRUE, "m"))
  for (bad in expression(FALSE, NA, NULL, c(TRUE, TRUE), stop("no"), 1)) {
    expect_error(must_hold(eval(bad), "m"), "`m` is damaged", class = "kernelect_error_model")
  }
})

test_that("validators take what a model holds and nothing else", {
  holds <- function(is, good, bad) {
    for (v in good) expect_true(is(v), info = utils::capture.output(dput(v)))
    # an error is as good as FALSE: see must_hold()
    for (v in bad) expect_false(isTRUE(tryCatch(is(v), error = function(e) FALSE)), info = utils::capture.output(dput(v)))
  }
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  holds(function(v) is_matrix_of(v, 2, 3), list(m), list(
    t(m), m[, 1:2], m[1, , drop = FALSE], m > 0, as.vector(m), m * NA, replace(m, 2, Inf), NULL
  ))
  holds(function(v) is_numbers(v, 2), list(c(1, 2)), list(1, c(1, 2, 3), 1:2, c("a", "b"), c(1, NA), c(1, Inf), list(1, 2), NULL))
  holds(function(v) is_index(v, 3), list(1, 3, 1:3, c(2, 2)), list(0, 4, c(1, 4), c(0, 3), NA, "1", TRUE, c(1, NA), NULL))
  holds(is_levels, list(c("a", "b"), c("a", "b", "c")), list("a", c("a", "a"), c("a", NA, "b"), 1:2, factor(c("a", "b")), NULL))
  scaling <- list(center = c(0, 1), scale = c(1, -2))
  holds(function(v) valid_scaling(v, 2), list(NULL, scaling), list(
    within_list(scaling, scale = c(1, 0)), within_list(scaling, scale = c(0, 0)), within_list(scaling, scale = 1),
    within_list(scaling, center = 1), within_list(scaling, center = c(NA, 1)), within_list(scaling, scale = c(1, NaN)),
    within_list(scaling, center = NULL), c(1, 2), list(), "a"
  ))
  holds(function(v) valid_names(v, 2), list(NULL, c("a", "b")), list("a", letters[1:3], 1:2, list("a", "b")))
  holds(function(v) valid_width(list(weights = v), 2), list(NULL, c(1, 2)), list(1, c(1, 2, 3)))
  holds(is_list_of_levels, list(list(), list(a = NULL, b = "u"), list(c("u", "v"))), list("u", list(1), list("u", 1), list(NULL, TRUE)))
  input <- list(width = 2, columns = c("a", "b"), variables = "v", levels = list(v = c("a", "b")), terms = stats::terms(y ~ a))
  holds(valid_input, list(input, input["width"], input[c("width", "columns")]), list(
    within_list(input, width = NULL), within_list(input, width = "2"), within_list(input, width = 3), within_list(input, columns = 1:2),
    within_list(input, variables = 1), within_list(input, levels = "a"), within_list(input, levels = list(1)),
    within_list(input, terms = y ~ a), within_list(input, terms = new.env()),
    within_list(input, terms = structure(1, class = "terms")), 1, NULL
  ))
  model <- list(input = input, vectors = `colnames<-`(m[, 1:2], c("a", "b")), scaling = scaling)
  holds(function(v) valid_rows(v, 2), list(model, within_list(model, scaling = NULL)), list(
    within_list(model, vectors = m[, 1:2]), within_list(model, vectors = model$vectors[1, , drop = FALSE]),
    within_list(model, vectors = model$vectors[, 2:1]), within_list(model, scaling = list(center = 0, scale = 1)),
    within_list(model, input = within_list(input, columns = "a")), within_list(model, input = NULL)
  ))
})
