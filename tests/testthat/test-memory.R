test_that("a size that cannot be had is refused with the bytes it needs", {
  skip_if(is.infinite(.Call(ffi_memory_limit)), "the memory of this machine is not known")
  x <- matrix(1, 2e6, 1)
  error <- expect_error(gram(x, linear_kernel()), class = "kernelect_error_memory")
  expect_match(conditionMessage(error), "2,000,000 x 2,000,000 matrix needs 32 TB", fixed = TRUE)
  expect_error(check_memory(1e7, 1e6, "Buy more."),
    "A 10,000,000 x 1,000,000 matrix needs 80 TB.*Buy more.",
               class = "kernelect_error_memory")
})

test_that("bytes are written for people", {
  expect_identical(format_bytes(0), "0 bytes")
  expect_identical(format_bytes(8), "8 bytes")
  expect_identical(format_bytes(3.2e10), "32 GB")
})

# ---- allocations that fail -----------------------------------------------------------------

test_that("what R cannot allocate is an error of ours that says how much was asked for", {
  error <- expect_error(within_memory(numeric(2^45)), class = "kernelect_error_memory")
  expect_match(conditionMessage(error), "no 262144.0 Gb more", fixed = TRUE)
  expect_match(conditionMessage(error), "fewer rows", fixed = TRUE)
  glue <- quote(.Call(ffi_zeros, 2000000L, 1000000L))
  expect_error(within_memory(eval(glue)), class = "kernelect_error_memory")
})

test_that("only failed allocations are taken for such", {
  expect_true(is_allocation("cannot allocate vector of size 7.6 Mb"))
  expect_true(is_allocation("memory exhausted (limit reached?)"))
  expect_true(is_allocation("vector memory limit of 16.0 Gb reached, see mem.maxVSize()"))
  expect_true(is_allocation("cannot allocate vector of length 1073741824"))
  expect_false(is_allocation("cannot allocate vector of size"))
  expect_false(is_allocation("memory exhausted"))
  error <- expect_error(within_memory(stop("something else")), "^something else$")
  expect_s3_class(error, "simpleError")
  kept <- expect_error(within_memory(abort("memory", "known beforehand")), "^known beforehand$")
  expect_s3_class(kept, "kernelect_error_memory")
  expect_match(conditionMessage(expect_error(
    within_memory(stop("memory exhausted (limit reached?)")), class = "kernelect_error_memory"
  )), "^Memory ran out[.] Use")
})

test_that("every function that works on data tells of memory in our words", {
  home <- environment(kernel_lm)
  workers <- Filter(is_worker, ls(home))
  methods <- as.vector(outer(
    c("basis", "pca", "lm", "lda", "takes", "fusion", "rank", "tune"), c("default", "formula"),
    function(verb, method) paste0("kernel_", verb, ".", method)
  ))
  expect_true(all(c(methods, "gram", "predict.kernel_lm") %in% workers))
  for (name in workers) expect_identical(body(home[[name]])[[1L]], quote(within_memory))
})

# In a process whose address space is limited; answers are the classes of what it met.
with_little_memory <- function(kilobytes, code) {
  skip_on_os("windows")
  skip_on_os("mac") # which takes no notice of the limit
  skip_if(nzchar(Sys.getenv("LD_PRELOAD")), "a sanitizer takes terabytes of addresses")
  file <- script_with(code)
  on.exit(unlink(file))
  command <- sprintf("ulimit -v %d && exec '%s' --no-init-file '%s'", kilobytes,
                     file.path(R.home("bin"), "Rscript"), file)
  said <- suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE))
  utils::tail(said, 1L)
}

script_with <- function(code) {
  file <- tempfile(fileext = ".R")
  home <- dirname(system.file(package = "kernelect"))
  writeLines(c(sprintf("library(kernelect, lib.loc = %s)", deparse(home)), code), file)
  file
}

test_that("fits and predictions beyond a limit on memory fail with our class, and R goes on", {
  skip_on_cran()
  said <- with_little_memory(1500000, c(
    "class_of <- function(code) tryCatch({code; 'none'}, error = function(e) class(e)[1L])",
    "x <- matrix(sin(seq_len(3e6)^2), 3e5)",
    "y <- x[, 1L] * x[, 2L]",
    "small <- kernel_basis(x[1:1000, ], rbf_kernel(1), size = 300, tol = 0)",
    "met <- c(class_of(gram(x[1:20000, ], rbf_kernel(1))),",
    "  class_of(kernel_lm(x, y, rbf_kernel(1), size = 1000, tol = 0)),",
    "  class_of(predict(small, rbind(x, x, x))))",
    "cat(met, kernel_lm(x[1:50, ], y[1:50], rbf_kernel(1), size = 5, ridge = 1)$size, '\n')"
  ))
  expect_identical(trimws(said), paste(paste(rep("kernelect_error_memory", 3), collapse = " "), 5))
})

# A factor starts with all columns that may come, as far as there is memory for them.
test_that("a basis of few rows does not need memory for many", {
  skip_on_cran()
  said <- with_little_memory(1500000, c(
    "x <- matrix(sin(seq_len(3e5)^2), 1e5)",
    "for (fit in list(kernel_basis, kernel_pca)) fit <- fit(x, rbf_kernel(10), size = Inf)",
    "cat(class(fit)[1L], length(fit$basis$index), '\n')"
  ))
  expect_match(said, "^kernel_pca [1-9]")
})

test_that("a guarded function is itself but for memory that runs out", {
  f <- guarded(function(size, add = 1) numeric(size) + add)
  expect_identical(f(2), c(1, 1))
  expect_identical(f(add = 3, size = 1), 3)
  expect_error(f(2^45), "no 262144.0 Gb more", class = "kernelect_error_memory")
})

test_that("what a call borrows goes back with it, after an error too", {
  x <- random_matrix(20000, 3)
  lent <- numeric()
  value <- function(x, z) {
    if (nrow(x) > 1L) { # not of the diagonal, which comes before
      lent[length(lent) + 1L] <<- .Call(ffi_borrowed)[2L]
      gram(x, linear_kernel(), z) # a call within a call, with loans of its own
      lent[length(lent) + 1L] <<- .Call(ffi_borrowed)[2L]
      if (length(lent) > 6L) stop("enough")
    }
    exp(-0.1 * (outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z)))
  }
  expect_error(kernel_basis(x, function_kernel(value), size = 40), "enough")
  expect_gt(min(lent), 8 * nrow(x))
  expect_identical(lent[c(TRUE, FALSE)], lent[c(FALSE, TRUE)])
  expect_identical(.Call(ffi_borrowed)[2L], 0)
  before <- .Call(ffi_borrowed)[1L]
  kernel_basis(x, size = 5)
  expect_gt(.Call(ffi_borrowed)[1L], before)
  expect_identical(.Call(ffi_borrowed)[2L], 0)
})

test_that("rows of a source that are packed for a body go back before the next is packed", {
  seen <- new.env()
  seen$lent <- numeric()
  home <- asNamespace("kernelect")
  note <- bquote({
    seen <- .(seen)
    seen$lent[length(seen$lent) + 1L] <- .Call(ffi_borrowed)[2L]
  })
  suppressMessages(trace("own_places", note, where = home, print = FALSE)) # after each of them
  on.exit(suppressMessages(untrace("own_places", where = home)))
  read <- function(i) {
    set.seed(i)
    matrix(rnorm(20000 * 20), 20000, dimnames = list(NULL, letters[1:20]))
  }
  source <- row_source(read, rep(20000, 12))
  before <- .Call(ffi_borrowed)[1L]
  kernel_basis(source, rbf_kernel(5), size = 5, memory = 40, tol = 0, scale = FALSE)
  chunk <- 20000 * 20 * 8
  expect_gte(length(seen$lent), 12L)
  expect_gt(.Call(ffi_borrowed)[1L] - before, 12 * chunk) # all rows were packed,
  expect_lt(max(seen$lent), 2 * chunk) # but not at the same time
})
