# Hostile and degenerate input x every exported function. Each call must end in a right answer
# or a classed error that names an argument: that is asserted. Which of the two, and of what
# kind, is kept as a snapshot (the wording of errors is tested beside each function).

hostile_tables <- list(
  "as it should be" = function(x) x,
  "nothing" = function(x) NULL,
  "no rows" = function(x) x[0, ],
  "no columns" = function(x) x[, 0],
  "one row" = function(x) x[1, , drop = FALSE],
  "one column" = function(x) x[, 1, drop = FALSE],
  "a vector" = function(x) x[, 1],
  "all rows equal" = function(x) x[rep(1, nrow(x)), ],
  "two distinct rows" = function(x) x[rep(1:2, nrow(x) / 2), ],
  "one constant column" = function(x) cbind(x[, 1:2], k = 7),
  "all zero" = function(x) x * 0,
  "all NA" = function(x) x * NA,
  "one NA" = function(x) replace(x, 5, NA),
  "one NaN" = function(x) replace(x, 5, NaN),
  "one Inf" = function(x) replace(x, 5, Inf),
  "up to 1e308" = function(x) x / max(abs(x)) * 1e308,
  "one 1e308" = function(x) replace(x, 5, 1e308),
  "up to 1e154" = function(x) x * 1e154,
  "denormals" = function(x) x * 1e-310,
  "offset 1e9" = function(x) x + 1e9,
  "integers" = function(x) matrix(as.integer(x * 100), nrow(x), dimnames = dimnames(x)),
  "logical" = function(x) x > 0.5,
  "complex" = function(x) x + 0i,
  "text" = function(x) matrix(as.character(x), nrow(x)),
  "three-way array" = function(x) array(x, c(nrow(x) / 2, 2, ncol(x))),
  "a list" = function(x) list(x),
  "a function" = function(x) function() x,
  "an environment" = function(x) new.env(),
  "data frame" = function(x) as.data.frame(x),
  "data frame, no rows" = function(x) as.data.frame(x)[0, ],
  "data frame, no columns" = function(x) as.data.frame(x)[, 0],
  "factor with unused levels" = function(x) data.frame(x,
    f = factor(rep(c("u", "v"), nrow(x) / 2), levels = c("u", "v", "w"))),
  "factor all NA" = function(x) data.frame(x, f = factor(rep(NA, nrow(x)))),
  "text column" = function(x) data.frame(x, f = rep(c("u", "v"), nrow(x) / 2)),
  "list column" = function(x) data.frame(x, l = I(as.list(seq_len(nrow(x))))),
  "date column" = function(x) data.frame(x, when = as.Date("2020-01-01") + seq_len(nrow(x))),
  "time column" = function(x) data.frame(x,
    when = as.POSIXct(seq_len(nrow(x)), origin = "1970-01-01", tz = "UTC")),
  "matrix column" = function(x) data.frame(m = I(x[, 1:2]), c = x[, 3]),
  "complex column" = function(x) data.frame(x, z = seq_len(nrow(x)) + 1i),
  "sparse Matrix" = function(x) Matrix::Matrix(x, sparse = TRUE),
  "no names" = function(x) unname(x),
  "one name twice" = function(x) `colnames<-`(x, c("a", "a", "b")),
  "one name empty" = function(x) `colnames<-`(x, c("a", "", "b")),
  "one name NA" = function(x) `colnames<-`(x, c("a", NA, "b")),
  "names twice in a data frame" = function(x) `names<-`(as.data.frame(x), c("a", "a", "b")),
  "Unicode names" = function(x) `colnames<-`(x, c("\u00e9", "\u4e2d", "\U1F600")),
  "names that need quotes" = function(x) `colnames<-`(x, c("a b", "`", "if")),
  "row names twice" = function(x) `rownames<-`(x, rep("r", nrow(x))),
  "a table" = function(x) table(x[, 1] > 0, x[, 2] > 0),
  "a time series" = function(x) stats::ts(x)
)

not_a_matrix <- c(
  "nothing", "no rows", "no columns", "one column", "a vector", "complex", "text",
  "three-way array", "a list",
  "a function", "an environment", "data frame", "sparse Matrix"
)

hostile_classes <- list(
  "one class" = function(y) factor(rep("yes", length(y))),
  "unused levels" = function(y) factor(y, levels = c("maybe", levels(y), "never")),
  "a class of one row" = function(y) factor(c("rare", as.character(y[-1]))),
  "as many classes as rows" = function(y) factor(seq_along(y)),
  "one NA" = function(y) replace(y, 3, NA),
  "all NA" = function(y) replace(y, TRUE, NA),
  "too short" = function(y) y[-1],
  "empty" = function(y) y[0],
  "NULL" = function(y) NULL,
  "text" = function(y) as.character(y),
  "logical" = function(y) y == "yes",
  "whole numbers" = function(y) as.integer(y),
  "a list" = function(y) as.list(y),
  "a data frame" = function(y) data.frame(y),
  "dates" = function(y) as.Date("2020-01-01") + seq_along(y),
  "Unicode levels" = function(y) factor(y, labels = c("\u00e9", "\u4e2d"))
)

hostile_grams <- list(
  "not symmetric" = function(K) replace(K, 2, 5),
  "equal entries" = function(K) K * 0 + 1,
  "zero" = function(K) K * 0,
  "a missing entry" = function(K) replace(K, 1, NA),
  "an infinite entry" = function(K) replace(K, 1, Inf),
  "entries of 1e308" = function(K) K * 1e308,
  "entries of 1e-310" = function(K) K * 1e-310,
  "negative" = function(K) -K,
  "whole numbers" = function(K) `storage.mode<-`(round(K), "integer"),
  "one by one" = function(K) K[1, 1, drop = FALSE]
)

hostile_numbers <- list(
  "constant" = function(y) rep(1, length(y)),
  "one NA" = function(y) replace(y, 3, NA),
  "one NaN" = function(y) replace(y, 3, NaN),
  "one Inf" = function(y) replace(y, 3, Inf),
  "up to 1e308" = function(y) y / max(abs(y)) * 1e308,
  "too short" = function(y) y[-1],
  "empty" = function(y) y[0],
  "NULL" = function(y) NULL,
  "text" = function(y) as.character(y),
  "complex" = function(y) y + 0i,
  "a list" = function(y) as.list(y),
  "a data frame" = function(y) data.frame(y),
  "dates" = function(y) as.Date("2020-01-01") + seq_along(y)
)

# What a single argument may be given. Values that no argument takes as they are must be
# refused by name; the snapshot shows which are taken.
hostile_values <- list(
  "NULL" = NULL, "NA" = NA, "NaN" = NaN, "Inf" = Inf, "-Inf" = -Inf, "-1" = -1, "0" = 0,
  "0.5" = 0.5, "2" = 2,
  "1e308" = 1e308, "2^31" = 2^31, "1e-320" = 1e-320, "two numbers" = c(2, 3),
  "no number" = numeric(),
  "TRUE" = TRUE, "text" = "nonsense", "no text" = character(), "list" = list(),
  "function" = function(...) stop("called"),
  "NULL function" = function(...) NULL, "factor" = factor("a"), "date" = as.Date("2020-01-01"),
  "complex" = 1i, "matrix" = diag(2), "environment" = globalenv(), "formula" = ~a
)

# ---- how a cell is told ----------------------------------------------------------------

tell <- function(result, words = in_words(result$value)) {
  if (!is.null(result$error)) return(tell_error(result$error))
  paste(c("ok", words, result$warnings), collapse = ", ")
}

tell_error <- function(e) {
  text <- conditionMessage(e)
  if (!is_classed(e)) return(paste("UNCLASSED", text))
  if (!grepl("`[^`]+`|kernel function|Kernel values", text)) {
    return(paste("NAMES NO ARGUMENT", text))
  }
  paste("error", sub("kernelect_error_", "", class(e)[1L]))
}

# A fit is used at once: what it predicts for its own rows belongs to the answer.
use <- function(model, x) {
  tried <- attempt(predict(model, x))
  if (!is.null(tried$error)) return(paste("predict", tell(tried)))
  values <- if (isS4(x)) Matrix::as.matrix(x) else unclass(x)
  whole <- if (is.data.frame(x)) stats::complete.cases(x) else rowSums(is.na(values)) == 0
  rows <- as.matrix(as.data.frame(unclass(tried$value)))
  bad <- if (is.numeric(rows)) !is.finite(rows) else is.na(rows)
  paste0(in_words(tried$value), if (nrow(rows) == length(whole) && any(bad[whole, ])) " NOT FINITE")
}

use_gram <- function(model, K) {
  tried <- attempt(predict(model, K))
  if (!is.null(tried$error)) return(paste("predict", tell(tried)))
  paste0(in_words(tried$value), if (has_nonfinite(tried$value)) " NOT FINITE")
}

run_fit <- function(entry, x, y, ...) {
  result <- attempt(entry$call(x, y, ...))
  if (!is.null(result$error)) return(tell(result))
  tell(result, use(result$value, x))
}

run_measure <- function(entry, x, y, ...) {
  result <- attempt(entry$call(x, y, ...))
  if (!is.null(result$error)) return(tell(result))
  tell(result, paste0(in_words(result$value), if (has_nonfinite(result$value)) " NOT FINITE"))
}

# Cases that end alike on one line.
show_table <- function(rows) {
  for (end in unique(rows)) {
    cases <- paste(names(rows)[rows == end], collapse = "; ")
    cat(end, strwrap(cases, width = 100, prefix = "    "), sep = "\n")
  }
}

# No cell may be an error or warning without class, or a number that is none.
expect_no_broken <- function(rows) {
  broken <- rows[grepl("UNCLASSED|NOT FINITE|NAMES NO", rows)]
  expect_identical(unname(broken), character(),
    info = paste(names(broken), broken, collapse = "\n"))
}

rows_of <- function(cases, f) vapply(cases, f, "")

# ---- the tables ------------------------------------------------------------------------

test_that("every exported function is in the catalogue", {
  elsewhere <- c( # in the tests of their own files
    "export_c", "plot_boundary", "plot_effect", "read_model", "write_model",
    "as_row_source", "basis_size", "kernel_caret", "kernel_machine", "kernel_machine_fit",
    "row_source",
    grep("^step_", exported(), value = TRUE)
  )
  expect_identical(
    setdiff(exported(), c(names(all_fits), names(all_measures), all_makers, elsewhere)),
    character())
})

for (name in names(fits())) {
  test_that(paste(name, "answers hostile tables"), {
    skip_if_not_installed("Matrix")
    entry <- fits()[[name]]
    data <- small_table()
    y <- response_for(entry, data)
    rows <- rows_of(hostile_tables, function(make) {
      x <- make(data$x)
      run_fit(entry, x, if (length(y) == NROW(x)) y else y[seq_len(NROW(x))])
    })
    expect_no_broken(rows)
    expect_snapshot(show_table(rows))
  })
}

for (name in names(Filter(function(e) e$y != "none", fits()))) {
  test_that(paste(name, "answers hostile responses"), {
    entry <- fits()[[name]]
    data <- small_table()
    cases <- if (entry$y == "class") hostile_classes else hostile_numbers
    rows <- rows_of(cases, function(make) run_fit(entry, data$x, make(response_for(entry, data))))
    expect_no_broken(rows)
    expect_snapshot(show_table(rows))
  })
}

test_that("gram answers hostile tables", {
  skip_if_not_installed("Matrix")
  rows <- rows_of(hostile_tables,
    function(make) run_measure(measures()$gram, make(small_table()$x)))
  expect_no_broken(rows)
  expect_snapshot(show_table(rows))
})

test_that("gram answers hostile tables as second argument", {
  skip_if_not_installed("Matrix")
  data <- small_table()
  rows <- rows_of(hostile_tables, function(make) {
    z <- make(data$x)
    if (is.null(z)) return("is x itself")
    run_measure(list(call = function(x, y) gram(data$x, z = z)), NULL, NULL)
  })
  expect_no_broken(rows)
  expect_snapshot(show_table(rows))
})

for (name in names(Filter(function(e) e$y == "class", measures()))) {
  test_that(paste(name, "answers hostile Gram matrices and classes"), {
    skip_if_not_installed("Matrix")
    entry <- measures()[[name]]
    data <- small_table()
    K <- gram(data$x)
    rows <- c(
      rows_of(hostile_tables[not_a_matrix],
        function(make) run_measure(entry, make(K[, 1:3]), data$class)),
      rows_of(hostile_grams, function(make) run_measure(entry, make(K), data$class)),
      rows_of(hostile_classes, function(make) run_measure(entry, K, make(data$class)))
    )
    expect_no_broken(rows)
    expect_snapshot(show_table(rows))
  })
}

# Fits that take numbers and classes alike get both.
for (name in intersect(c("kernel_lm", "kernel_tune", "kernel_fusion"), names(fits()))) {
  test_that(paste(name, "answers hostile classes"), {
    data <- small_table()
    rows <- rows_of(hostile_classes,
      function(make) run_fit(fits()[[name]], data$x, make(data$class)))
    expect_no_broken(rows)
    expect_snapshot(show_table(rows))
  })
}

# Fits on a Gram matrix: new rows are its own.
gram_fits <- list(
  kernel_basis = function(K) kernel_basis(K = K, size = 4),
  kernel_fusion = function(K) kernel_fusion(y = small_table()$number, kernels = list(k = K))
)

test_that("every fit that takes a Gram matrix answers hostile ones", {
  skip_if_not_installed("Matrix")
  K <- gram(small_table()$x)
  for (name in names(gram_fits)) {
    try <- function(K) {
      result <- attempt(gram_fits[[name]](K))
      new <- if (name == "kernel_fusion") list(k = K) else K
      tell(result, if (is.null(result$error)) use_gram(result$value, new))
    }
    rows <- c(
      rows_of(hostile_tables[not_a_matrix], function(make) try(make(K[, 1:3]))),
      rows_of(hostile_grams, function(make) try(make(K)))
    )
    expect_no_broken(rows)
    expect_snapshot({
      cat(name, "\n")
      show_table(rows)
    })
  }
})

test_that("a boundary plot answers hostile tables", {
  skip_if_not_installed("Matrix")
  data <- small_table()
  fit <- kernel_lda(data$x, data$class)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  rows <- rows_of(hostile_tables, function(make) {
    tell(attempt(plot_boundary(fit, make(data$x), columns = c("a", "b"), grid = 5)))
  })
  expect_no_broken(rows)
  expect_snapshot(show_table(rows))
})

test_that("prediction answers hostile tables", {
  skip_if_not_installed("Matrix")
  data <- small_table()
  for (name in names(fits())) {
    entry <- fits()[[name]]
    model <- suppressMessages(suppressWarnings(entry$call(data$x, response_for(entry, data))))
    rows <- rows_of(hostile_tables, function(make) {
      x <- make(data$x)
      result <- attempt(predict(model, x))
      tell(result)
    })
    expect_no_broken(rows)
    expect_snapshot({
      cat(name, "\n")
      show_table(rows)
    })
  }
})

# For every argument of every function: which of the hostile values are taken.
argument_rows <- function(f, given) {
  arguments <- setdiff(names(formals(f)), c("...", names(given)))
  rows <- lapply(arguments, function(arg) {
    ends <- rows_of(hostile_values, function(value) {
      tell(attempt(do.call(f, c(given, stats::setNames(list(value), arg)))))
    })
    taken <- grepl("^ok", ends)
    broken <- grepl("UNCLASSED", ends)
    c(paste(names(ends)[taken], collapse = ", "), paste(names(ends), ends)[broken])
  })
  stats::setNames(vapply(rows, paste, "", collapse = "; "), arguments)
}

show_arguments <- function(rows) cat(paste0(formatC(names(rows), width = -12), rows), sep = "\n")

method_of <- function(name) {
  method <- getS3method(name, "default", optional = TRUE, envir = asNamespace("kernelect"))
  if (is.null(method)) get(name, asNamespace("kernelect")) else method
}

# Arguments of a good call of each function.
good_call <- function(name) {
  data <- small_table()
  given <- switch(name,
    gram = list(x = data$x),
    function_kernel = list(f = tcrossprod),
    kernel_on = list(kernel = linear_kernel(), columns = 1:2),
    if (name %in% names(measures())) list(K = gram(data$x), y = data$class)
  )
  if (!name %in% names(fits())) return(given)
  y <- response_for(fits()[[name]], data)
  c(list(x = data$x), if (!is.null(y)) list(y = y), if (name == "kernel_tune") list(folds = 3),
    if (name == "kernel_rank") list(max_iter = 5))
}

for (name in c(names(fits()), names(measures()), makers())) {
  test_that(paste(name, "takes no hostile argument in silence"), {
    rows <- argument_rows(method_of(name), good_call(name))
    expect_no_broken(rows)
    expect_snapshot(show_arguments(rows))
  })
}

test_that("each function names the argument that is missing", {
  for (name in c(names(fits()), names(measures()),
    intersect(c("as_kernel", "function_kernel", "kernel_on"), exported()))) {
    result <- attempt(get(name, asNamespace("kernelect"))())
    expect_true(is_classed(result$error), info = name)
  }
})

for (name in names(fits())) {
  test_that(paste(name, "refuses an argument it does not know"), {
    entry <- fits()[[name]]
    data <- small_table()
    expect_error(entry$call(data$x, response_for(entry, data), Size = 3),
      class = "kernelect_error_dots")
    expect_error(entry$call(data$x, response_for(entry, data), Size = 3), "`Size`")
  })
}
