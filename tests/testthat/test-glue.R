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

test_that("every entry point is called here, but for those without arguments", {
  entries <- getDLLRegisteredRoutines("kernelect")$.Call
  takes <- vapply(entries, function(e) e$numParameters, 0L)
  called <- c(names(glue_calls()), names(body_calls()), "ffi_basis", "ffi_bodies")
  expect_setequal(names(entries)[takes > 0L], called)
})
