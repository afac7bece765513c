# Rows in parts give the basis of rows in memory, bit for bit.

in_memory <- function(x, kernel, control, scaling = NULL) {
  set.seed(5)
  basis_from_data(list(x = x, scaling = scaling, input = list()), kernel, control)$basis
}

in_parts <- function(x, kernel, control, chunks = 3, scaling = NULL, ...) {
  set.seed(5)
  basis_from_source(ready_source(x, chunks), kernel, control, scaling, list(), ...)$basis
}

# Rows of which many occur twice or more, and many distances tie.
tied_rows <- function(n, d = 3) {
  x <- round(random_matrix(n, d), 1)
  x[seq_len(n %/% 3), ] <- x[n + 1 - seq_len(n %/% 3), ]
  x
}

control_for <- function(method, ...) {
  basis_control(method, size = 60, tol = 1e-4, first = 40, threshold = function(t) t^2, ...)
}

test_that("all rules pick the same rows from any number of chunks, ties and duplicates too", {
  for (x in list(random_matrix(1300, 4), tied_rows(1300))) {
    for (method in basis_methods) {
      control <- control_for(method)
      expected <- in_memory(x, rbf_kernel(sigma = 1), control)
      for (chunks in 1:7) {
        expect_identical(in_parts(x, rbf_kernel(sigma = 1), control, chunks), expected)
      }
    }
  }
})

test_that("memory for a few rows at a time changes nothing", {
  x <- tied_rows(2000)
  for (method in basis_methods) {
    control <- control_for(method)
    expected <- in_memory(x, laplace_kernel(sigma = 1), control)
    for (memory in c(0.1, 0.5, 3)) {
      expect_identical(in_parts(x, laplace_kernel(sigma = 1), control, memory = memory), expected)
    }
    old <- options(kernelect.scratch = FALSE) # factors are made again rather than read
    expect_identical(in_parts(x, laplace_kernel(sigma = 1), control, memory = 0.5), expected)
    options(old)
    expect_length(list.files(tempdir(), "kernelect-factor"), 0)
  }
})

test_that("where no file can be written, rows are read and factors made again", {
  plain <- scratch_file
  on.exit(utils::assignInNamespace("scratch_file", plain, "kernelect"))
  asked <- 0
  nowhere <- file.path(tempdir(), "no such directory", "factor")
  utils::assignInNamespace("scratch_file", function(crew) {
    asked <<- asked + 1
    nowhere
  }, "kernelect")
  x <- tied_rows(600)
  kernel <- rbf_kernel(sigma = 1)
  expect_identical(in_parts(x, kernel, control_for("fvs"), memory = 0.01),
                   in_memory(x, kernel, control_for("fvs")))
  expect_gt(asked, 0)
})

test_that("random picks need no random number before them", {
  set.seed(1)
  seed <- .GlobalEnv$.Random.seed
  on.exit(assign(".Random.seed", seed, globalenv()))
  rm(".Random.seed", envir = globalenv())
  basis <- kernel_basis(in_chunks(iris[1:4], 3), method = "random", size = 8)
  expect_length(unique(basis$index), 8)
  expect_true(all(basis$index %in% 1:150))
})

test_that("bodies that are gone are dismissed without a word", {
  expect_silent(dismiss(NULL))
  expect_silent(dismiss("no such job"))
})

test_that("kernels of inner products, of parts and of users are the same in parts", {
  x <- random_matrix(900, 3)
  own <- function_kernel(function(x, z) (1 + tcrossprod(x, z))^2)
  kernels <- list(
    polynomial_kernel(2), linear_kernel(), rbf_kernel(sigma = 2) + linear_kernel(),
    rbf_kernel(sigma = 1, weights = c(1, 2, 0))
  )
  for (kernel in kernels) {
    for (method in c("fvs", "cholesky", "kgs")) {
      control <- control_for(method)
      expect_identical(
        in_parts(x, kernel, control, memory = 0.5), in_memory(x, kernel, control)
      )
    }
  }
  a <- in_parts(x, own, control_for("cholesky"), memory = 0.5)
  b <- in_memory(x, own, control_for("cholesky"))
  expect_identical(a$index, b$index)
  expect_equal(a$path, b$path, tolerance = 1e-10)
})

test_that("a common offset is taken off as in memory, and only where no digit is lost", {
  x <- cbind(round(random_matrix(700, 2), 2) + 1e6, runif(700), sample(2, 700, TRUE))
  control <- control_for("cholesky")
  expect_identical(in_parts(x, rbf_kernel(sigma = 1), control, 4),
                   in_memory(x, rbf_kernel(sigma = 1), control))
  whole <- matrix(as.double(sample(100, 1400, TRUE)) + 4096, 700)
  expect_identical(in_parts(whole, rbf_kernel(sigma = 20), control, 4),
                   in_memory(whole, rbf_kernel(sigma = 20), control))
})

test_that("one row, few rows and empty chunks work", {
  kernel <- rbf_kernel(sigma = 1)
  for (n in c(1, 2, 239, 240, 241)) {
    x <- random_matrix(n, 2)
    for (method in c("fvs", "cholesky", "random")) {
      suppressMessages({
        control <- control_for(method)
        a <- in_parts(x, kernel, control, chunks = 1)
        b <- in_memory(x, kernel, control)
      })
      expect_identical(a, b)
    }
  }
  x <- random_matrix(500, 2)
  source <- ready_source(x, 2)
  holes <- list(
    read_matrix = function(i) if (i %in% c(2, 4)) source$read_matrix(i / 2) else x[0, ],
    sizes = c(0, source$sizes[1], 0, source$sizes[2], 0), width = 2
  )
  expect_identical(
    basis_from_source(holes, kernel, control_for("fvs"), NULL, list())$basis,
    in_memory(x, kernel, control_for("fvs"))
  )
})

test_that("what needs all pairs of rows is refused, and says so", {
  x <- random_matrix(50, 2)
  expect_error(in_parts(x, rbf_kernel(sigma = 1), basis_control("fvs", center = "nearest")),
               "all pairs", class = "kernelect_error_argument")
  expect_error(in_parts(x, rbf_kernel(sigma = 1), basis_control("fvs", first = Inf)),
               "all pairs", class = "kernelect_error_argument")
  expect_error(in_parts(x, rbf_kernel(sigma = 1), control_for("fvs"), memory = 0),
               "`memory`", class = "kernelect_error_argument")
})

test_that("no rows have no basis", {
  source <- list(read_matrix = function(i) matrix(0, 0L, 2L), sizes = 0, width = 2)
  expect_error(basis_from_source(source, linear_kernel(), control_for("fvs"), NULL, list()),
               "no rows", class = "kernelect_error_data")
})

test_that("rows that change while they are read, overflow or span nothing are errors", {
  x <- random_matrix(50, 2)
  control <- basis_control("cholesky", size = 10)
  source <- ready_source(x, 2)
  source$sizes <- rev(source$sizes)
  expect_error(basis_from_source(source, rbf_kernel(sigma = 1), control, NULL, list()),
               "Chunk 1 of the source", class = "kernelect_error_source")
  expect_error(in_parts(x * 1e200, polynomial_kernel(2), control),
               class = "kernelect_error_not_finite")
  expect_error(in_parts(x * 0, linear_kernel(), control), class = "kernelect_error_data")
  expect_error(in_parts(x, sigmoid_kernel(1, -2), control), class = "kernelect_error_indefinite")
})

# Most bytes that R had in use at a time while it did `code`, beyond those before.
most_bytes <- function(code) {
  before <- gc(reset = TRUE)[2L, 1L]
  force(code)
  8 * (gc()[2L, 6L] * 2^20 / 8 - before)
}

test_that("no more than `memory` is held at a time", {
  read <- function(i) sin(outer(1:4800 + 4800 * i, 1:8, function(a, b) a * (1 + b / 7)))
  source <- list(read_matrix = read, sizes = rep(4800, 10), width = 8)
  control <- basis_control("cholesky", size = 100, tol = 0)
  run <- function(memory) {
    basis_from_source(source, rbf_kernel(sigma = 2), control, list(), list(), memory = memory)
  }
  chunk <- 5 * 8 * 8 * 4800 # as read() makes it
  expect_lt(most_bytes(run(32)), 32e6 + chunk + 8e6) # and the little that does not go by rows
  expect_gt(most_bytes(run(200)), 8 * 48000 * 100) # the factor alone
})

test_that("what a round was lent is freed with it", {
  old <- options(kernelect.candidates = 1) # a pick a round
  on.exit(options(old))
  x <- random_matrix(480, 1000)
  control <- basis_control("cholesky", size = 150, tol = 0)
  before <- gc(reset = TRUE)[2L, 6L]
  basis <- in_parts(x, rbf_kernel(sigma = 30), control)
  expect_identical(basis$updates, 150L)
  # candidates packed and gathered take 3 MB a round, 150 times as much at the end
  expect_lt(gc()[2L, 6L] - before, 250)
})

test_that("a short body that takes its turn with a long one's numbers needs no more work space", {
  x <- random_matrix(241, 5)
  before <- gc(reset = TRUE)[2L, 6L]
  basis <- in_parts(x, rbf_kernel(sigma = 0.5), basis_control("cholesky", size = 200, tol = 0),
                    memory = 0.01)
  expect_length(basis$index, 200)
  # 368 times the columns that 240 rows of 200 numbers would be of a single row are 140 MB
  expect_lt(gc()[2L, 6L] - before, 100)
})
