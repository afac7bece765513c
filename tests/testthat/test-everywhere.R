# What must not change an answer. (Other BLAS libraries and locales: tools/everywhere.R.)

test_that("equal rows in another order give the same selection", {
  x <- as.matrix(iris[1:4])
  twice <- rbind(x, x[1:20, ])
  p <- c(1:150, 150 + 20:1)
  for (method in c("fvs", "cholesky", "kobl", "kgs")) {
    a <- kernel_basis(twice, rbf_kernel(1), method, size = 15)
    b <- kernel_basis(twice[p, ], rbf_kernel(1), method, size = 15)
    expect_identical(a$index, b$index)
  }
})

test_that("one and two threads give the same models", {
  data <- small_table(500) # more than two tiles of rows
  for (name in setdiff(names(fits()), "kernel_tune")) {
    entry <- fits()[[name]]
    fit <- function(threads) quietly(
      entry$call(data$x, response_for(entry, data), threads = threads))
    expect_equal(predict(fit(2), data$x), predict(fit(1), data$x), tolerance = 1e-12, info = name)
  }
})

test_that("block sizes of the engine change no basis", {
  x <- vapply(1:4, function(k) sin(1:600 * sqrt(k + 1)), numeric(600))
  run <- function(candidates) {
    old <- options(kernelect.candidates = candidates)
    on.exit(options(old))
    kernel_basis(x, rbf_kernel(0.5), size = 150, tol = 0)
  }
  whole <- run(0)
  for (candidates in c(2, 17, 300)) {
    part <- run(candidates)
    expect_identical(part$index, whole$index)
    expect_equal(part$path, whole$path, tolerance = 1e-10)
  }
})

test_that("sizes that no machine holds are refused before memory is asked for", {
  expect_error(check_memory(2^31, 2^31), class = "kernelect_error_memory")
  expect_error(kernel_basis(iris[1:4], size = 2^31), class = "kernelect_error_argument")
  expect_error(kernel_basis(iris[1:4], size = 1e300), class = "kernelect_error_argument")
  big <- structure(list(), class = "data.frame", row.names = .set_row_names(2e9))
  expect_error(gram(big), class = "kernelect_error_data")
})

test_that("fitting leaves options and the generator alone unless a draw is asked for", {
  data <- small_table()
  had <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (!is.null(had)) assign(".Random.seed", had, globalenv()))
  before <- options()
  calls <- c(
    lapply(fits(), function(entry) function() entry$call(data$x, response_for(entry, data))),
    lapply(stats::setNames(names(rank_methods), names(rank_methods)), function(method) {
      function() kernel_rank(data$x, data$class, method = method, max_iter = 3)
    }),
    lapply(stats::setNames(nm = setdiff(basis_methods, "random")),
      function(method) function() kernel_basis(data$x, method = method)),
    list(gram = function() gram(data$x), hsic = function() kernel_hsic(gram(data$x), data$class))
  )
  for (name in names(calls)) {
    suppressWarnings(rm(".Random.seed", envir = globalenv()))
    quietly(calls[[name]]())
    expect_false(exists(".Random.seed", globalenv(), inherits = FALSE), info = name)
    set.seed(4)
    seed <- .Random.seed
    quietly(calls[[name]]())
    expect_identical(.Random.seed, seed, info = name)
  }
  expect_identical(options(), before)
})

test_that("predicting, printing and plotting leave options, graphics and the generator alone", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot(1)
  examples <- example_models() # resamples of a ranking are drawn: asked for
  set.seed(5)
  invisible(stats::runif(1))
  before <- list(options(), graphics::par(no.readonly = TRUE), .Random.seed, Sys.getlocale(),
    getwd())
  for (example in examples) {
    utils::capture.output(print(example[[1L]]), print(summary(example[[1L]])))
    predict(example[[1L]], example[[2L]])
    old <- graphics::par(no.readonly = TRUE)
    plot(example[[1L]])
    # set by any plot
    same <- setdiff(names(old), c("usr", "xaxp", "yaxp", "pin", "plt", "fin", "xlog", "ylog"))
    expect_identical(graphics::par(no.readonly = TRUE)[same], old[same])
  }
  graphics::plot(1)
  after <- list(options(), graphics::par(no.readonly = TRUE), .Random.seed, Sys.getlocale(),
    getwd())
  expect_identical(after, before)
})

test_that("coef(), nobs() and their like refuse unknown arguments", {
  home <- asNamespace("kernelect")
  methods <- grep("^(coef|nobs|fitted|residuals|summary|head)[.]kernel[a-z]*_", ls(home),
    value = TRUE)
  methods <- setdiff(methods, "coef.kernelect_model") # which has no coefficients, whatever is asked
  expect_gt(length(methods), 16)
  for (name in methods) {
    expect_error(get(name, home)(NULL, unknown = 1), "`unknown`", class = "kernelect_error_dots",
      info = name)
  }
  fit <- kernel_lm(mpg ~ wt, mtcars)
  expect_error(coef(fit, 2), class = "kernelect_error_dots")
  expect_error(nobs(fit, Use = 2), class = "kernelect_error_dots")
})

test_that("one thread and no progress bar unless asked for", {
  home <- asNamespace("kernelect")
  functions <- Filter(is.function, mget(ls(home), home))
  for (argument in c("threads", "verbose")) {
    taking <- Filter(function(f) is.call(formals(f)[[argument]]) ||
      is.logical(formals(f)[[argument]]), functions)
    expect_gt(length(taking), 5)
    for (name in names(taking)) {
      expect_identical(eval(formals(taking[[name]])[[argument]]),
        if (argument == "threads") 1L else FALSE, label = name)
    }
  }
})

test_that("adapters register when their package is loaded, or at once where it is", {
  events <- lapply(c("no such package", "stats", "parsnip", "mlr3filters"), packageEvent, "onLoad")
  before <- lapply(events, getHook)
  on.exit(Map(setHook, events, before, "replace"))
  count <- 0
  register <- function() count <<- count + 1
  when_loaded("no such package", register)
  expect_identical(count, 0)
  getHook(events[[1L]])[[1L]]("no such package", tempdir())
  expect_identical(count, 1)
  when_loaded("stats", register)
  expect_identical(count, 2)
  .onLoad(NULL, "kernelect")
  added <- lengths(lapply(events, getHook)) - lengths(before)
  expect_identical(added, rep(1L, 4L))
})
