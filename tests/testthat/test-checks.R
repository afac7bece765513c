test_that("errors and warnings are classed and carry the user's call", {
  error <- expect_error(gram("a"), class = "kernelect_error_argument")
  expect_s3_class(error, "kernelect_error")
  expect_identical(conditionCall(error), quote(gram("a")))
  outer <- function(data) gram(data)
  expect_identical(conditionCall(tryCatch(outer("a"), error = identity)), quote(gram(data)))
  warning <- tryCatch(warn("size", "small"), warning = identity)
  expect_s3_class(warning, c("kernelect_warning_size", "kernelect_warning"), exact = FALSE)
  expect_message(inform("a", 1), "^a1\n$", class = "kernelect_message")
})

test_that("what came is described in words", {
  expect_snapshot({
    things <- list(
      NULL, 1, NA, "a", 1:3, letters, TRUE, diag(2), matrix("a", 1, 2), array(0, c(1, 2, 3)),
      list(1, 2), iris, mean, factor("a"), Sys.Date(), quote(a), 1i
    )
    cat(vapply(things, describe, ""), sep = "\n")
  })
})

test_that("numbers are checked for kind and range", {
  expect_identical(check_number(2L, "a"), 2)
  expect_identical(check_number(Inf, "a", finite = FALSE), Inf)
  expect_identical(check_whole(3, "a"), 3)
  expect_identical(check_whole(Inf, "a", infinite = TRUE), Inf)
  expect_snapshot(error = TRUE, {
    check_number("1", "a")
    check_number(c(1, 2), "a")
    check_number(NA_real_, "a")
    check_number(NaN, "a")
    check_number(Inf, "a")
    check_number(-1, "a", min = 0)
    check_number(2, "a", min = 0, max = 1)
    check_number(0, "a", above = 0)
    check_number(factor(1), "a")
    check_whole(1.5, "a")
    check_whole(-1, "a", min = 1)
    check_whole(9, "a", max = 8)
    check_whole(Inf, "a")
    check_whole(NULL, "a", infinite = TRUE)
  })
})

test_that("flags, choices and functions are checked", {
  choices <- c("one", "two")
  expect_identical(check_choice(choices, "a", choices), "one")
  expect_identical(check_choice("two", "a", choices), "two")
  expect_true(check_flag(TRUE, "a"))
  expect_snapshot(error = TRUE, {
    check_flag(NA, "a")
    check_flag("yes", "a")
    check_flag(c(TRUE, FALSE), "a")
    check_choice("o", "a", choices)
    check_choice(c("two", "one"), "a", choices)
    check_choice(1, "a", choices)
    check_function("mean", "a")
  })
})

test_that("a misspelt argument does not vanish", {
  f <- function(...) check_dots(...)
  expect_silent(f())
  expect_snapshot(error = TRUE, {
    f(Size = 3)
    f(3)
    f(a = 1, 2, stop("never evaluated"))
  })
})

test_that("an unknown argument brings up the nearest of the caller's", {
  f <- function(x, na_action, threads, ...) check_dots(...)
  g <- function(...) refuse_dots(...names(), ...length(), f)
  expect_snapshot(error = TRUE, {
    f(na.action = 1)
    f(Threads = 1, na.Action = 2)
    f(weights = 1)
    g(thread = 2, 3)
    kernel_lm(Species ~ ., iris, na.action = "omit")
    kernel_basis(iris[1:4], neighbors = 2)
    predict(kernel_basis(iris[1:4]), iris, Type = "residual")
  })
})

test_that("class labels become a factor of used levels", {
  expect_identical(check_classes(c("b", "a")), factor(c("b", "a")))
  expect_identical(levels(check_classes(factor(c("a", "c"), levels = c("a", "b", "c")))),
                   c("a", "c"))
  expect_identical(check_classes(c(TRUE, FALSE)), factor(c(TRUE, FALSE)))
  expect_snapshot(error = TRUE, {
    check_classes(1:3)
    check_classes(iris["Species"])
    check_classes(c("a", NA, "b"))
    check_classes(factor(c("a", "a")))
    check_classes(character())
    check_classes(c("a", "b", "b"), min_rows = 2)
  })
})

test_that("a Gram matrix may be asymmetric by rounding only", {
  K <- gram(iris[1:4])
  K[2, 1] <- K[2, 1] * (1 + 1e-12)
  expect_identical(check_gram(K), K)
  K[2, 1] <- K[2, 1] * (1 + 1e-6)
  expect_error(check_gram(K), "symmetric", class = "kernelect_error_argument")
})

test_that("asymmetry and what is not finite are seen in every corner of a large matrix", {
  K <- tcrossprod(random_matrix(150, 2))
  expect_identical(symmetry(K), list(gap = 0, largest = max(abs(K))))
  for (at in list(c(150, 149), c(150, 1), c(65, 64), c(70, 2), c(130, 70))) {
    bent <- K
    bent[at[1], at[2]] <- bent[at[1], at[2]] + 0.25
    expect_equal(symmetry(bent)$gap, 0.25)
    expect_equal(symmetry(t(bent))$gap, 0.25)
    for (odd in c(NA, NaN, Inf, -Inf)) {
      bent[at[1], at[2]] <- odd
      expect_identical(symmetry(bent)$largest, Inf)
      expect_error(check_gram(bent), "infinite", class = "kernelect_error_not_finite")
    }
  }
  K[150, 149] <- K[149, 150] <- -99
  expect_identical(symmetry(K)$largest, 99)
})

test_that("finite totals are not needed for finite values", {
  expect_true(all_finite(c(1e308, 1e308, 1e308)))
  expect_true(all_finite(numeric()))
  expect_false(all_finite(c(1, NA)))
  expect_false(all_finite(c(Inf, -Inf)))
})

test_that("the citation names the package and five papers", {
  expect_length(citation("kernelect"), 6)
})

test_that("both ends of a range belong to it", {
  expect_identical(check_whole(5, "a", min = 5, max = 5), 5)
  expect_identical(check_number(5, "a", min = 5, max = 5), 5)
  expect_error(check_number(5, "a", above = 5), class = "kernelect_error_argument")
  expect_silent(check_squares(c(1, -1e150)))
  expect_error(check_squares(-2e150), class = "kernelect_error_not_finite")
})

test_that("the asymmetry and size of a matrix are those of its entries", {
  for (n in c(1, 2, 64, 65, 130)) {
    K <- 1e-3 * random_matrix(n, n, seed = n)
    expect_identical(symmetry(K), list(gap = max(abs(K - t(K))), largest = max(abs(K))))
    expect_identical(symmetry(replace(K, n * n, NaN))$largest, Inf)
  }
})

test_that("numbers are plain single values, and the message says what is wanted", {
  argument <- "kernelect_error_argument"
  for (bad in list(structure(1, class = "mine"), NA, NaN, numeric(), "1", 1:2, NULL, TRUE)) {
    expect_false(is_number(bad))
    expect_error(check_number(bad, "a", finite = FALSE), "`a` must be a single number, not",
      class = argument)
    expect_error(check_whole(bad, "a", infinite = TRUE),
      "`a` must be a single whole number at least 0 (or Inf), not", fixed = TRUE,
                 class = argument)
  }
  expect_error(check_number(-1, "a", min = 0, finite = FALSE),
    "a single number at least 0, not -1.", fixed = TRUE)
  expect_error(check_number(2, "a", max = 1), "a single finite number at most 1, not 2.",
    fixed = TRUE)
  expect_error(check_number(3, "a", max = 1, above = 0), "number above 0 and at most 1, not 3.",
    fixed = TRUE)
  expect_error(check_whole(-Inf, "a", infinite = TRUE), class = argument)
  expect_error(check_whole(1.5, "a", infinite = TRUE), class = argument)
  expect_identical(check_whole(.Machine$integer.max, "a"), .Machine$integer.max + 0)
  expect_error(check_whole(2^31, "a"), "whole number at least 0, not", class = argument)
  for (bad in list(NULL, NA_character_, character(), c("one", "one"), 1)) {
    expect_error(check_choice(bad, "a", c("one", "two")), "one of \"one\", \"two\", not",
      fixed = TRUE, class = argument)
  }
  for (bad in list(NULL, logical(), 1, "TRUE")) {
    expect_error(check_flag(bad, "a"), "TRUE or FALSE", class = argument)
  }
})

test_that("vectors of none, one and many are told apart from arrays", {
  expect_identical(describe(array(1:3)), "a numeric vector of length 3")
  expect_identical(describe(character()), "a character vector of length 0")
  expect_identical(describe(array("a", 1)), "\"a\"")
  expect_identical(describe(array(0, c(1, 1, 2))), "an array of dimension 1 x 1 x 2")
  expect_identical(describe(1 / 3), "0.33333333")
})

test_that("one and several missing labels are counted", {
  expect_error(check_classes(c("a", NA, "b")), "`y` has 1 missing label. Remove", fixed = TRUE)
  expect_error(check_classes(c("a", NA, NA, "b")), "`y` has 2 missing labels. Remove", fixed = TRUE)
  expect_identical(check_classes(c("a", "b", "b", "a"), min_rows = 2),
    factor(c("a", "b", "b", "a")))
  expect_identical(check_classes(stats::setNames(factor(c("b", "a"), ordered = TRUE), 1:2)),
    factor(c("b", "a")))
})

test_that("asymmetry is measured beside the largest entry", {
  bent <- function(gap) matrix(c(1, 0, gap, 1), 2)
  for (unit in c(1e-6, 1, 1e6)) {
    expect_identical(check_gram(unit * bent(1e-9)), unit * bent(1e-9))
    expect_error(check_gram(unit * bent(1e-7)), "K[i, j]", fixed = TRUE,
      class = "kernelect_error_argument")
  }
  expect_identical(check_gram(matrix(0L, 2, 2)), matrix(0, 2, 2))
  expect_identical(check_gram(matrix(3)), matrix(3))
  expect_error(check_gram(matrix(0, 2, 3)), "square", class = "kernelect_error_argument")
  expect_error(check_gram(matrix(TRUE)), "a numeric matrix", class = "kernelect_error_argument")
  expect_identical(largest_absolute(c(-1, 3)), 3)
  expect_identical(largest_absolute(c(-3, 1)), 3)
})

test_that("a suggested package that is absent is asked for by name", {
  expect_error(kernelect:::needs_package("noSuchPackage"),
    "This needs the noSuchPackage package: install.packages(\"noSuchPackage\").",
    fixed = TRUE, class = "kernelect_error_package")
  expect_null(kernelect:::needs_package("stats"))
})

test_that("a path that cannot be written is refused before the work", {
  fit <- kernel_lm(mpg ~ wt, mtcars, size = 2)
  writers <- list(
    file = function(path) write_model(fit, path),
    file = function(path) export_c(fit, path),
    write = function(path) predict(fit, as_row_source(mtcars), write = path)
  )
  lost <- file.path(tempfile(), "a")
  for (i in seq_along(writers)) {
    arg <- names(writers)[i]
    expect_refused <- function(path, words) {
      expect_error(expect_no_warning(writers[[i]](path)), paste0("`", arg, "`", words),
        fixed = TRUE, class = "kernelect_error_argument")
    }
    for (bad in list("", NA_character_, 1, c("a", "b"))) expect_refused(bad, " must be")
    expect_refused(tempdir(), " must be the path of a file: \"")
    expect_refused(lost, paste0(": there is no directory \"", dirname(lost), "\""))
  }
  closed <- tempfile()
  file.create(closed)
  on.exit(unlink(closed))
  Sys.chmod(closed, "0444")
  expect_closed <- function() {
    for (write in writers) {
      expect_error(write(closed), "may not be written", class = "kernelect_error_argument")
    }
  }
  with_function("may_write", function(path) path != closed, expect_closed())
  skip_if(may_write(closed), "every file may be written")
  expect_closed()
})
