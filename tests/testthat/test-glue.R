# Glue looks again at type, length and range of everything it is given, whoever calls it: each
# entry point works as called here, and with any one argument spoilt it is an error, not a crash.

test_that("every entry point refuses what does not fit", {
  calls <- c(glue_calls(), body_calls())
  for (name in names(calls)) {
    entry <- get(name, asNamespace("kernelect"))
    arguments <- calls[[name]][[1L]]
    spoilt <- calls[[name]][[2L]]
    # some entries work in place: each call has arguments of its own
    run <- function(arguments) do.call(.Call,
      c(list(entry), unserialize(serialize(arguments, NULL))))
    expect_error(run(arguments), NA)
    for (i in seq_along(spoilt)) {
      for (bad in spoilt[[i]]) {
        arguments_now <- arguments
        arguments_now[i] <- list(bad)
        expect_error(run(arguments_now), "internal error",
          info = paste(name, "argument", i, paste(deparse(bad), collapse = "")))
      }
    }
  }
})

test_that("the engine of bases refuses a source or a rule that does not fit", {
  x <- random_matrix(6, 2)
  K <- tcrossprod(x) + diag(6)
  rule <- list(method = "kobl", limit = 3, tol = 0, threshold = numeric(4), first = NULL,
    neighbours = 0, verbose = FALSE,
               candidates = 0, columns = 0)
  run <- function(source, rule, threads = 1L) .Call(ffi_basis, source, rule, FALSE, threads)
  changed <- function(...) utils::modifyList(rule, list(...), keep.null = TRUE)
  refused <- function(expr, words = "internal error") expect_error(expr, words)
  data <- list(x = x, kernel = list(type = "rbf", scale = 0.5), shift = NULL)
  f <- function(i, j) K[i, j, drop = FALSE]
  for (source in list(list(K = K), data, list(f = f, diagonal = diag(K)))) {
    expect_length(run(source, rule)$index, 3)
  }
  for (source in list(list(K = K[, -1]), list(K = 1), list(f = 1, diagonal = diag(K)),
    list(f = f, diagonal = 1:6), list(),
                      list(f = function(i, j) 1, diagonal = diag(K)),
                      list(f = function(i, j) "a", diagonal = diag(K)),
                      c(data[1], kernel = list(1:4)), utils::modifyList(data, list(shift = 1)),
                      c(data[1], list(kernel = list(type = "rbf", weights = 1))))) {
    refused(run(source, rule))
  }
  for (bad in list(changed(limit = 0), changed(limit = 7, threshold = numeric(8)),
    changed(threshold = numeric(3)), changed(threshold = numeric(5)),
                   changed(threshold = NULL), changed(neighbours = 7), changed(tol = "a"),
                   changed(tol = c(1, 2)), changed(limit = NULL), changed(method = "a"),
                   changed(method = 2),
                   changed(method = "fvs", first = 7L), changed(method = "fvs", first = 0L),
                   changed(method = "fvs", first = 1))) {
    refused(run(list(K = K), bad))
  }
  refused(run(list(K = K), rule, 0L))
})

test_that("kernels nested without end are refused before they are walked", {
  kernel <- list(type = "rbf", scale = 1)
  for (i in 1:3000) kernel <- list(type = "sum", parts = list(kernel))
  expect_error(.Call(ffi_kernel_traits, kernel), "internal error")
})

# Every leaf and every list of an answer, as paths; and the answer with one of them changed.
paths_of <- function(x, path = integer()) {
  if (!is.list(x)) return(list(path))
  inside <- lapply(seq_along(x), function(i) paths_of(x[[i]], c(path, i)))
  c(if (length(path)) list(path), unlist(inside, recursive = FALSE))
}

# Runs `code` while answers that head_ask() gets pass through another function.
with_head_ask <- function(other, code) {
  own <- head_ask
  asked <- function(head, message) other(message, own(head, message))
  with_function("head_ask", asked, suppressWarnings(code))
}

test_that("no answer of a body, nor of a log of them, makes the head crash", {
  x <- random_matrix(150, 3)
  spoils <- list(NULL, numeric(), -1, NaN, 1e300, 1e9, "a", list(), matrix(0, 0, 0))
  tried <- refused <- 0L
  for (method in c("fvs", "random", "kgs")) {
    fit <- function() {
      set.seed(1)
      kernel_basis(as_row_source(x, rows = 80), method = method, size = 4)
    }
    seen <- list()
    whole <- with_head_ask(function(message, answer) {
      if (is.null(seen[[message$kind]])) seen[[message$kind]] <<- answer
      answer
    }, fit())
    expect_length(whole$index, 4)
    for (kind in names(seen)) {
      paths <- paths_of(seen[[kind]])
      for (path in paths[round(seq(1, length(paths), length.out = min(length(paths), 25)))]) {
        tried <- tried + 1L
        value <- spoils[[tried %% length(spoils) + 1L]]
        outcome <- try(with_head_ask(function(message, answer) {
          if (message$kind == kind) answer[[path]] <- value
          answer
        }, fit()), silent = TRUE)
        refused <- refused + inherits(outcome, "try-error")
        expect_true(inherits(outcome, c("kernel_basis", "try-error")))
      }
    }
  }
  expect_gt(refused, tried / 2)
})

test_that("every entry point is called here, but for those without arguments", {
  entries <- getDLLRegisteredRoutines("kernelect")$.Call
  takes <- vapply(entries, function(e) e$numParameters, 0L)
  called <- c(names(glue_calls()), names(body_calls()), "ffi_basis", "ffi_bodies")
  expect_setequal(names(entries)[takes > 0L], called)
})
