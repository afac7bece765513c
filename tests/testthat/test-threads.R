# Threads: born for a piece of work, never more than processors, none in a forked child.

births <- function(code) {
  before <- .Call(ffi_threads_born)
  force(code)
  .Call(ffi_threads_born) - before
}

processors <- function() .Call(ffi_processors)

# What `code` gives in a forked child, or NULL where it has not come back after a minute.
in_a_child <- function(code) {
  job <- parallel::mcparallel(code)
  on.exit(tools::pskill(job$pid))
  parallel::mccollect(job, wait = FALSE, timeout = 60)[[1L]]
}

test_that("a forked child comes back after threads were used, and runs alone", {
  skip_on_os("windows")
  skip_if(processors() < 2L, "there is one processor")
  x <- random_matrix(1500, 5)
  expect_gt(births(K <- gram(x, threads = 2)), 0)
  found <- in_a_child({
    born <- births(K <- gram(x, threads = 2))
    list(born = born, sum = sum(K))
  })
  expect_identical(found, list(born = 0, sum = sum(K)))
})

test_that("kernel_tune() comes back from forked workers after threads were used", {
  skip_on_os("windows")
  skip_if_not_installed("future.apply")
  skip_if_not(future::supportsMulticore(), "no forked workers here")
  old <- options(kernelect.threads = min(2L, processors()))
  on.exit(options(old))
  d <- data.frame(random_matrix(600, 4), y = factor(rep(1:2, 300)))
  gram(random_matrix(1500, 5))
  kernel_lm(y ~ ., d, size = 20)
  tune <- function() kernel_tune(y ~ ., d, grid = list(size = c(5, 10)), folds = 3)$results
  alone <- tune()
  found <- in_a_child({
    future::plan("multicore", workers = 2)
    tune()
  })
  expect_identical(found, alone)
})

test_that("there are never more threads than processors, which is said once", {
  most <- processors()
  expect_gte(most, 1L)
  said <- session$threads
  on.exit(assign("threads", said, envir = session))
  session$threads <- NULL
  expect_message(asked <- check_threads(1024), "`threads` = 1024 is more than the")
  expect_identical(asked, most)
  expect_message(again <- check_threads(1e6), NA)
  expect_identical(again, most)
  expect_identical(check_threads(1), 1L)
  x <- random_matrix(2000, 5)
  expect_identical(gram(x, threads = 1024), gram(x, threads = 1))
  expect_identical(births(.Call(ffi_gram, kernel_source(x, rbf_kernel(1)), 1024L)) == 0, most == 1L)
  for (bad in list(0, -1, 1.5, NA, "2", c(1, 2))) {
    expect_error(check_threads(bad), class = "kernelect_error_argument")
  }
})

test_that("small work starts no thread, large work does", {
  skip_if(processors() < 2L, "there is one processor")
  expect_identical(births(kernel_rank(iris[, 1:4], iris$Species, threads = 2)), 0)
  expect_identical(births(kernel_lm(Species ~ ., iris, threads = 2)), 0)
  expect_identical(births(gram(random_matrix(50, 3), threads = 2)), 0)
  x <- random_matrix(1500, 5)
  y <- factor(rep(1:2, 750))
  expect_gt(births(suppressWarnings(kernel_rank(x, y, max_iter = 1, threads = 2))), 0)
  expect_gt(births(kernel_basis(x, size = 100, tol = 0, threads = 2)), 0)
  expect_identical(births(kernel_basis(x, size = 100, tol = 0, threads = 1)), 0)
})

test_that("models on a basis share their regression, and do not depend on the threads", {
  skip_if(processors() < 2L, "there is one processor")
  x <- random_matrix(3000, 5)
  y <- factor(x[, 1] * x[, 2] > 0)
  fits <- list(
    lm = function(t) kernel_lm(x, y, size = 150, tol = 0, threads = t),
    nested = function(t) kernel_lm(x, y, size = 150, tol = 0, ridge = 0.1, threads = t),
    lda = function(t) kernel_lda(x, y, size = 150, tol = 0, threads = t),
    tune = function(t) kernel_tune(x, y, grid = list(size = 150, ridge = c(0.1, 1)), threads = t)
  )
  for (name in names(fits)) {
    one <- fits[[name]](1)
    two <- fits[[name]](2)
    parts <- setdiff(names(one), c("call", "model"))
    expect_identical(unclass(two)[parts], unclass(one)[parts], info = name)
  }
  z <- random_matrix(4000, 150)
  fit <- NULL
  expect_gt(births(fit <- regress(z, list(matrix = z[, 1:2]), 0, NULL, 2L)), 0)
  turned <- .Call(ffi_bidiagonalise, fit, 150)
  expect_gt(births(.Call(ffi_ridge_loo, fit, turned, NULL, FALSE, 1)), 0)
  expect_gt(births(.Call(ffi_nested_loo, fit, 150, NULL, FALSE)), 0)
})

test_that("a kernel that is an R function is called by one thread only", {
  f <- function_kernel(
    function(x, z) exp(-outer(rowSums(x^2), rowSums(z^2), "+") + tcrossprod(x, z)))
  expect_identical(births(kernel_basis(random_matrix(600, 5), f, size = 20, threads = 2)), 0)
})

test_that("internal options are checked", {
  x <- random_matrix(300, 2)
  fit <- function(...) {
    old <- options(...)
    on.exit(options(old))
    kernel_basis(x, size = 10)
  }
  for (bad in list(0.5, -1, NA, "a", c(1, 2), Inf)) {
    expect_error(fit(kernelect.columns = bad), "`options(kernelect.columns)` must be", fixed = TRUE,
                 class = "kernelect_error_argument")
    expect_error(fit(kernelect.candidates = bad), "`options(kernelect.candidates)` must be",
      fixed = TRUE,
                 class = "kernelect_error_argument")
    expect_error(fit(kernelect.threads = bad), "`threads` must be",
      class = "kernelect_error_argument")
  }
  expect_identical(fit(kernelect.columns = 1, kernelect.candidates = 2)$index, fit()$index)
})
