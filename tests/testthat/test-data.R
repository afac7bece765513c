# The blueprint and scaling of a model, as they come back from a file.
# As the fits get them, scaled.
model_data <- function(...) {
  data <- kernelect:::model_data(...)
  data$x <- kernelect:::row_numbers(data$x)
  data
}

reloaded <- function(data) {
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(data[c("input", "scaling")], file)
  readRDS(file)
}

new_rows <- function(newdata, data) {
  saved <- reloaded(data)
  new_matrix(newdata, saved$input, saved$scaling)
}

fit_formula <- function(formula, data, ...) {
  parts <- formula_data(formula, data, ...)
  fit <- model_data(parts$x, parts$y)
  fit$input[names(parts$origin)] <- parts$origin
  fit
}

# The classes that a classifier gives its training rows.
fitted_classes <- function(fit) classes_of(fit$fitted.values, fit$levels)

# The class of a tibble, whose own methods are at work where that package is loaded.
as_tbl <- function(data) structure(data, class = c("tbl_df", "tbl", "data.frame"))

test_that("columns are standardised with n - 1, constant ones with 1", {
  x <- cbind(iris_matrix(), constant = 0.1)
  data <- model_data(x)
  expect_equal(data$x[, 1:4], unclass(scale(x[, 1:4])), tolerance = 1e-13, ignore_attr = TRUE)
  expect_equal(unname(data$scaling$scale["constant"]), 1)
  expect_lt(max(abs(data$x[, "constant"])), 1e-15)
  expect_equal(data$scaling$center, colMeans(x))
  expect_null(model_data(x, scale = FALSE)$scaling)
  expect_identical(model_data(x, scale = FALSE)$x, x)
  expect_identical(unname(model_data(matrix(5, 1, 2))$x), matrix(0, 1, 2))
})

test_that("an offset of a million does not spoil the standard deviation", {
  x <- iris_matrix()
  expect_equal(model_data(x + 1e6)$scaling$scale, apply(x, 2, sd), tolerance = 1e-8)
})

test_that("the standard deviation does not depend on the centre it is computed from", {
  x <- random_matrix(20, 3)
  for (centre in list(colMeans(x), c(0, 1, -2), colMeans(x) + 1e-7)) {
    expect_equal(.Call(ffi_column_sd, x, centre), apply(x, 2, sd), tolerance = 1e-12)
  }
})

test_that("every route to the same columns gives the same matrix", {
  frame <- model_data(iris)
  text <- iris
  text$Species <- as.character(text$Species)
  expect_identical(model_data(text)[c("x", "scaling")], frame[c("x", "scaling")])
  expect_identical(fit_formula(~., iris, response = FALSE)[c("x", "scaling")],
                   frame[c("x", "scaling")])
  matrix_route <- model_data(as.matrix(iris[1:4]))
  expect_identical(model_data(iris[1:4])$x, matrix_route$x)
  expect_identical(fit_formula(Species ~ ., iris)$x, matrix_route$x)
  expect_identical(fit_formula(Species ~ ., iris)$y, iris$Species)
  expect_identical(model_data(as_tbl(iris))$x, frame$x)
})

test_that("factors become an indicator for each used level", {
  data <- data.frame(a = 1:3, f = factor(c("u", "w", "u"), levels = c("u", "v", "w")),
                     l = c(TRUE, FALSE, TRUE))
  x <- model_data(data, scale = FALSE)$x
  expect_identical(x, cbind(a = c(1, 2, 3), fu = c(1, 0, 1), fw = c(0, 1, 0), l = c(1, 0, 1)))
  data$f <- ordered(data$f)
  expect_identical(model_data(data, scale = FALSE)$x, x)
})

test_that("indicator names that clash are set off", {
  data <- data.frame(V1 = factor(c("0", "1", "0")), V10 = 1:3)
  expect_identical(colnames(model_data(data)$x), c("V1=0", "V1=1", "V10"))
  ionosphere <- package_data("Ionosphere", "mlbench")
  x <- model_data(ionosphere[-35])$x
  expect_identical(anyDuplicated(colnames(x)), 0L)
  expect_identical(new_rows(ionosphere[1:5, ], model_data(ionosphere[-35]))$x, x[1:5, ],
                   ignore_attr = TRUE)
})

test_that("matrix columns and numeric classes are spread out", {
  data <- data.frame(t = ts(1:4))
  data$m <- matrix(1:8, 4, dimnames = list(NULL, c("p", "q")))
  data$one <- matrix(1:4)
  data$i <- I(c(2, 4, 6, 8))
  x <- model_data(data, scale = FALSE)$x
  expect_identical(x, cbind(t = c(1, 2, 3, 4), mp = c(1, 2, 3, 4), mq = c(5, 6, 7, 8),
                            one = c(1, 2, 3, 4), i = c(2, 4, 6, 8)))
})

test_that("columns that are not numbers are refused by name", {
  frame <- data.frame(a = 1:3)
  with_column <- function(v) {
    frame$b <- v
    model_data(frame)
  }
  expect_snapshot(error = TRUE, {
    with_column(list(1, 2, 3))
    with_column(1:3 + 1i)
    with_column(frame)
    with_column(structure(c(1, 2, 3), class = "integer64"))
  })
})

test_that("a formula given as `x` is told where it belongs", {
  for (fit in list(kernel_lm, kernel_lda, kernel_takes, kernel_fusion, kernel_tune, kernel_rank)) {
    expect_error(fit(x = Species ~ ., data = iris), "`formula`", class = "kernelect_error_argument")
  }
  for (fit in list(kernel_basis, kernel_pca)) {
    expect_error(fit(x = ~ ., data = iris), "`formula`", class = "kernelect_error_argument")
  }
})

test_that("names must be unique and complete", {
  expect_snapshot(error = TRUE, {
    model_data(cbind(a = 1:2, a = 3:4))
    model_data(stats::setNames(data.frame(1:2, 3:4), c("a", "a")))
    model_data(stats::setNames(data.frame(1:2, 3:4), c("a", NA)))
  })
})

test_that("columns without a name among named ones are named by their place, on both sides", {
  x <- cbind(iris_matrix(), 1)
  expect_identical(model_data(x)$input$columns, names(as.data.frame(x)))
  fit <- kernel_lm(x, iris$Petal.Width, size = 5, ridge = 0.1)
  expect_equal(predict(fit, x[1:3, ]), predict(fit)[1:3], tolerance = 1e-12)
  expect_identical(predict(fit, as.data.frame(x)[1:3, 5:1]), predict(fit, x[1:3, ]))
  expect_error(predict(fit, x[, 1:4]), "lacks column `V5`", class = "kernelect_error_columns")
})

test_that("of many names five are told, and how many more", {
  wide <- matrix(1:18, 2, 9, dimnames = list(NULL, letters[1:9]))
  expect_error(match_columns(wide[, 8:9], list(columns = letters[1:9], width = 9)),
               "`a`, `b`, `c`, `d`, `e` and 2 more.", fixed = TRUE,
               class = "kernelect_error_columns")
  expect_identical(backticked(letters[1:5]), "`a`, `b`, `c`, `d`, `e`")
})

test_that("missing values fail with columns and counts, or are omitted with a message", {
  x <- replace(iris_matrix(), c(1, 2, 151), NA)
  y <- replace(iris$Species, 150, NA)
  expect_snapshot(error = TRUE, {
    model_data(x)
    model_data(unname(x))
    model_data(x, y)
    model_data(iris_matrix(), y)
    model_data(matrix(NA_real_, 2, 9))
    model_data(x, na_action = "drop")
    model_data(x * NA, na_action = "omit")
  })
  expect_message(data <- model_data(x, y, na_action = "omit"),
                 "3 of 150 rows with missing values omitted")
  expect_identical(data$n, 147L)
  expect_identical(data$y, y[3:149])
  expect_identical(data$x, model_data(x[3:149, ])$x)
  both <- cbind(replace(1:150, 7, NA), 1)
  expect_message(data <- model_data(iris_matrix(), both, na_action = "omit"), "1 of 150")
  expect_identical(data$y, both[-7, ])
  expect_silent(model_data(iris_matrix(), na_action = "omit"))
})

test_that("a factor without any value is missing, not gone", {
  data <- data.frame(a = 1:3, f = factor(c(NA, NA, NA)))
  expect_error(model_data(data), "`f` (3)", fixed = TRUE, class = "kernelect_error_missing_values")
  data$f <- factor(c("u", NA, "u"), exclude = NULL)
  expect_error(model_data(data), "(1)", fixed = TRUE, class = "kernelect_error_missing_values")
})

test_that("NaN and infinite values have their own words", {
  x <- iris_matrix()
  expect_snapshot(error = TRUE, {
    model_data(replace(x, 3, NaN))
    model_data(replace(x, c(3, 200), Inf), na_action = "omit")
    model_data(x, replace(1:150 + 0, 2, NaN))
    model_data(x, replace(1:150 + 0, 2, -Inf))
    model_data(cbind(c(-1.7e308, 1.7e308)))
  })
})

test_that("a response fits the rows", {
  x <- iris_matrix()
  expect_snapshot(error = TRUE, {
    model_data(x, 1:3)
    model_data(x, iris)
    model_data(x, as.list(1:150))
    model_data(x, mean)
    model_data(x, scale = "yes")
  })
})

test_that("formulas are taken apart", {
  parts <- formula_data(Species ~ . - Sepal.Width, iris)
  expect_named(parts$x, c("Sepal.Length", "Petal.Length", "Petal.Width"))
  expect_named(formula_data(log(Sepal.Length) ~ ., iris)$x, names(iris)[-1])
  expect_identical(formula_data(cbind(Sepal.Length, Sepal.Width) ~ Petal.Length, iris)$y[, 2],
                   iris$Sepal.Width, ignore_attr = TRUE)
  expect_null(formula_data(~., iris, response = FALSE)$y)
  a <- c(1, 2, 4)
  b <- c("u", "v", "u")
  expect_identical(formula_data(b ~ a)$x, data.frame(a = a), ignore_attr = TRUE)
})

test_that("formulas that cannot be used say why", {
  visible_to_all <- 1:150
  expect_snapshot(error = TRUE, {
    formula_data(Species ~ Sepal.Lenth, iris)
    formula_data(Species ~ alpha + beta, iris)
    formula_data(~., iris)
    formula_data(Species ~ ., iris, response = FALSE)
    formula_data(Species ~ 1, iris)
    formula_data(Species ~ Sepal.Length:Sepal.Width, iris)
    formula_data(Species ~ Sepal.Length + offset(Sepal.Width), iris)
    formula_data(Species ~ .)
    formula_data(Species ~ no_such_function(Sepal.Length), iris)
    formula_data(Species ~ poly(Sepal.Length, 2), replace(iris, 1, NA))
    formula_data(Species ~ ., as.list(iris))
    formula_data("Species ~ .", iris)
  })
  expect_named(formula_data(Species ~ visible_to_all, iris)$x, "visible_to_all")
})

test_that("a formula model carries no environment and needs none", {
  fit <- local({
    ballast <- stats::rnorm(1e5)
    degree <- 2
    fit_formula(Species ~ poly(Sepal.Length, degree) + log(Sepal.Width) + I(Petal.Width^2), iris)
  })
  expect_lt(length(serialize(fit$input, NULL)), 5000)
  expect_equal(new_rows(iris, fit)$x, fit$x, tolerance = 1e-13)
  expect_identical(new_rows(iris[7, 1:4], fit)$x, new_rows(iris[1:9, ], fit)$x[7, , drop = FALSE],
                   ignore_attr = TRUE)
  expect_identical(dim(new_rows(iris[0, ], fit)$x), c(0L, 4L))
  expect_equal(new_rows(iris_matrix(), fit)$x, fit$x, tolerance = 1e-13)
})

test_that("a variable of the workspace does not stand in for a missing column", {
  assign("Sepal.Width", iris$Sepal.Width, globalenv())
  on.exit(rm("Sepal.Width", envir = globalenv()))
  fit <- fit_formula(Species ~ ., iris)
  expect_error(new_rows(iris[-2], fit), "`Sepal.Width`", class = "kernelect_error_columns")
})

test_that("new rows go the way of the training rows", {
  fit <- model_data(iris)
  expect_identical(new_rows(iris, fit)$x, fit$x)
  shuffled <- cbind(extra = "a", iris[5:1])
  expect_identical(new_rows(shuffled, fit)$x, fit$x)
  text <- transform(iris, Species = as.character(Species))
  expect_identical(new_rows(text, fit)$x, fit$x)
  one_level <- new_rows(iris[101, ], fit) # its factor column alone would give one indicator
  expect_identical(one_level$x, fit$x[101, , drop = FALSE], ignore_attr = TRUE)
  expect_identical(dim(new_rows(iris[0, ], fit)$x), c(0L, 7L))
  empty <- frame_from_terms(list(terms = stats::terms(y ~ log(Sepal.Length) + `Sepal.Width`)),
    iris[0, ])
  expect_identical(names(empty), c("log(Sepal.Length)", "Sepal.Width"))

  by_matrix <- model_data(iris_matrix())
  expect_identical(new_rows(iris_matrix()[, 4:1], by_matrix)$x, by_matrix$x)
  expect_identical(new_rows(iris, by_matrix)$x, by_matrix$x)
  expect_identical(dim(new_rows(iris_matrix()[0, ], by_matrix)$x), c(0L, 4L))
  unnamed <- model_data(unname(iris_matrix()))
  expect_identical(new_rows(unname(iris_matrix())[3, , drop = FALSE], unnamed)$x,
                   unnamed$x[3, , drop = FALSE])
  expect_identical(new_rows(as_tbl(iris), fit)$x, fit$x)
})

test_that("new rows with NA are marked, not dropped", {
  fit <- model_data(iris)
  holes <- iris[1:5, ]
  holes[2, 3] <- NA
  holes[4, "Species"] <- NA
  holes[5, 1] <- NaN
  expect_identical(new_rows(holes, fit)$complete, c(TRUE, FALSE, TRUE, FALSE, FALSE))
  expect_identical(new_rows(iris[1:5, ], fit)$complete, rep(TRUE, 5))
  by_formula <- fit_formula(Sepal.Length ~ poly(Petal.Length, 2) + Species, iris)
  expect_identical(new_rows(holes, by_formula)$complete, c(TRUE, FALSE, TRUE, FALSE, TRUE))
})

test_that("new rows that do not fit are refused", {
  fit <- model_data(iris)
  by_matrix <- model_data(iris_matrix())
  unnamed <- model_data(unname(iris_matrix()))
  by_formula <- fit_formula(Species ~ log(Petal.Width), iris)
  rose <- transform(iris, Species = "rose")
  wide <- data.frame(a = 1:3)
  wide$m <- diag(3)
  narrow <- wide
  narrow$m <- narrow$m[, 1:2]
  expect_snapshot(error = TRUE, {
    new_rows(iris[-2], fit)
    new_rows(iris[3:4], fit)
    new_rows(rose, fit)
    new_rows(iris[1:4] > 3, fit)
    new_rows(transform(iris, Sepal.Width = factor(Sepal.Width)), fit)
    new_rows(replace(iris, 1, Inf), fit)
    new_rows(cbind(iris, Sepal.Width = 1), fit)
    new_rows(iris_matrix()[, 1:3], by_matrix)
    new_rows(unname(iris_matrix()), by_matrix)
    new_rows(transform(iris, Sepal.Width = "a"), by_matrix)
    new_rows(cbind(iris_matrix(), iris_matrix()), by_matrix)
    new_rows(iris_matrix(), unnamed)
    new_rows(iris, unnamed)
    new_rows(unname(iris_matrix())[, 1:2], unnamed)
    new_rows(NULL, by_matrix)
    new_rows(1:4, by_matrix)
    new_rows(iris[1:3], by_formula)
    new_rows(unname(iris_matrix()), by_formula)
    new_rows(transform(iris, Petal.Width = "a"), by_formula)
    new_rows(narrow, model_data(wide))
  })
})

test_that("values of complete rows are spread over all rows", {
  complete <- c(TRUE, FALSE, TRUE)
  expect_identical(fill_rows(c(1, 2), complete), c(1, NA, 2))
  expect_identical(fill_rows(c(1, 2), complete, c("a", "n", "b")), c(a = 1, n = NA, b = 2))
  expect_identical(fill_rows(factor(c("u", "v")), complete), factor(c("u", NA, "v")))
  expect_identical(fill_rows(matrix(1:4, 2), complete), rbind(c(1L, 3L), NA, c(2L, 4L)))
  named <- matrix(1:2, 2, dimnames = list(NULL, "k"))
  expect_identical(fill_rows(named, complete, c("a", "n", "b")),
                   matrix(c(1L, NA, 2L), 3, dimnames = list(c("a", "n", "b"), "k")))
  expect_identical(fill_rows(numeric(), c(FALSE, FALSE)), c(NA_real_, NA_real_))
  expect_identical(fill_rows(1:2, c(TRUE, TRUE)), 1:2)
})

test_that("a matrix of doubles is not copied before it is scaled", {
  x <- random_matrix(20000, 50)
  gc(reset = TRUE)
  before <- sum(gc()[, 6])
  data <- model_data(x, scale = FALSE)
  expect_lt(sum(gc()[, 6]) - before, 0.9 * as.numeric(utils::object.size(x)) / 2^20)
  expect_identical(data$x, x)
})

test_that("I() around a response or a predictor changes nothing", {
  y <- mtcars$mpg * 2
  plain <- kernel_lm(mtcars[c("wt", "hp")], y)
  expect_equal(fitted(kernel_lm(I(mpg * 2) ~ wt + hp, mtcars)), fitted(plain), ignore_attr = TRUE)
  expect_equal(fitted(kernel_lm(mtcars[c("wt", "hp")], I(y))), fitted(plain), ignore_attr = TRUE)
  expect_identical(fitted(kernel_lm(iris[1:4], I(iris$Species))),
    fitted(kernel_lm(iris[1:4], iris$Species)))
  K <- gram(mtcars[c("wt", "hp")])
  expect_identical(kernel_fusion(y = I(y), kernels = list(K))$weights,
    kernel_fusion(y = y, kernels = list(K))$weights)
})

test_that("one column stays a column where rows are omitted", {
  x <- data.frame(a = c(NA, 1:9))
  y <- (0:9)^2
  fit <- suppressMessages(kernel_lm(x, y, na_action = "omit"))
  expect_identical(fitted(fit),
    stats::setNames(fitted(kernel_lm(x[-1, , drop = FALSE], y[-1])), names(fitted(fit))))
})

test_that("rows of every kind of response are taken as they are", {
  expect_identical(take_rows(matrix(1:3), 2:3), matrix(2:3))
  expect_identical(take_rows(data.frame(a = 1:3), 3L), data.frame(a = 3L, row.names = 3L))
  expect_identical(take_rows(factor(c("u", "v")), 2L), factor("v", levels = c("u", "v")))
  expect_identical(take_rows(1:3, NULL), 1:3)
  x <- cbind(a = c(1, NA, 3), b = 4:6)
  expect_message(data <- model_data(x, matrix(7:9), na_action = "omit", scale = FALSE),
    "^1 of 3 rows with missing values omitted.\n$")
  expect_identical(data[c("x", "y", "n", "kept")],
    list(x = x[-2, ], y = matrix(c(7L, 9L)), n = 2L, kept = c(1L, 3L)))
  expect_null(model_data(x[-2, ])$kept)
})

test_that("matrix columns without names are numbered", {
  data <- data.frame(a = 1:2)
  data$m <- matrix(1:4, 2)
  data$n <- matrix(5:6, 2, dimnames = list(NULL, "p"))
  expect_identical(model_data(data, scale = FALSE)$x,
    cbind(a = c(1, 2), m1 = c(1, 2), m2 = c(3, 4), np = c(5, 6)))
})

test_that("row names stay unless they are a plain count", {
  rows <- function(data) rownames(model_data(data, scale = FALSE)$x)
  expect_null(rows(iris[1:2, ]))
  expect_null(rows(iris[1, ]))
  expect_identical(rows(iris[c(3, 5), ]), c("3", "5"))
  expect_identical(rows(iris[2:1, ]), c("2", "1"))
  expect_identical(rows(mtcars[1, ]), "Mazda RX4")
  fit <- model_data(mtcars)
  expect_identical(rownames(new_rows(mtcars[2, ], fit)$x), "Mazda RX4 Wag")
  expect_null(rownames(new_rows(`rownames<-`(mtcars[2:3, ], NULL), fit)$x))
})

test_that("five columns with missing values are all named, of six one is more", {
  some <- function(count) model_data(matrix(NA_real_, 2, count))
  expect_error(some(5),
    "column 1 (2), column 2 (2), column 3 (2), column 4 (2), column 5 (2). Remove", fixed = TRUE)
  expect_error(some(6), "column 5 (2), 1 more. Remove", fixed = TRUE)
  expect_error(model_data(diag(2), cbind(c(NA, 1), c(NA, 2))),
    "^`y` has missing values \\(1\\). Remove or impute them, or use")
  expect_error(model_data(diag(2), na_action = NULL, c(NA, 1)), "Remove or impute them.",
    fixed = TRUE)
})

test_that("NaN beside infinite values in one column is seen", {
  x <- cbind(a = c(NaN, Inf, 1), b = 1:3)
  expect_error(model_data(x), "`x` has NaN (1) and infinite (1) values, in `a`.", fixed = TRUE,
    class = "kernelect_error_not_finite")
  expect_error(model_data(diag(3), c(NaN, Inf, 1)), "`y` has NaN (1) and infinite (1) values.",
    fixed = TRUE)
  # in new rows NaN marks a row, and infinite values are refused
  fit <- model_data(cbind(a = 1:3, b = 3:5))
  expect_identical(new_rows(replace(x, 2, NA), fit)$complete, c(FALSE, FALSE, TRUE))
  expect_error(new_rows(x, fit), "`newdata` has infinite (1) values, in `a`.", fixed = TRUE,
    class = "kernelect_error_not_finite")
})

test_that("a response has one value per row, in at most two dimensions", {
  argument <- "kernelect_error_argument"
  expect_error(model_data(diag(2), array(1, c(2, 1, 1))),
    "`y` must be a vector, a factor or a matrix", class = argument)
  expect_error(model_data(diag(2), quote(a)), "`y` must be a vector", class = argument)
  expect_error(model_data(diag(2), 1:3), "one value per row of `x` (2), not 3.", fixed = TRUE,
    class = argument)
  expect_identical(model_data(diag(2), c("u", "v"))$y, c("u", "v"))
  expect_identical(model_data(diag(2), I(c(1, 2)))$y, c(1, 2))
})

test_that("formulas find their variables in an environment, and a function is no variable", {
  home <- list2env(list(a = c(1, 2, 4), b = c("u", "v", "u")))
  expect_identical(formula_data(b ~ a, home)$x, data.frame(a = c(1, 2, 4)), ignore_attr = TRUE)
  expect_error(formula_data(b ~ ., home), "needs `data` to be a data frame",
    class = "kernelect_error_formula")
  expect_error(formula_data(Species ~ mean, iris), "`mean` is not a column of `data`",
    class = "kernelect_error_columns")
  expect_error(formula_data(Species ~ one_a + one_b, iris),
    "`one_a`, `one_b` are not columns of `data`", class = "kernelect_error_columns")
  expect_error(formula_data(Species ~ Petal.Width + Sepal.Length * Sepal.Width, iris),
    "an interaction (Sepal.Length:Sepal.Width)",
               fixed = TRUE, class = "kernelect_error_formula")
})

test_that("a formula leaves a plain frame, also of no rows and names that are no words", {
  expect_null(attr(formula_data(~., iris, response = FALSE)$x, "terms"))
  data <- data.frame(`a b` = c(1, 2), y = c(3, 5), check.names = FALSE)
  parts <- formula_data(y ~ `a b`, data)
  expect_identical(names(parts$x), "a b")
  expect_identical(names(frame_from_terms(parts$origin, data[0, ])), "a b")
  fit <- fit_formula(y ~ `a b`, data)
  expect_identical(dim(new_rows(data[0, ], fit)$x), c(0L, 1L))
})

test_that("what a formula takes from elsewhere goes along, unless it is a value a row", {
  fit <- local({
    power <- 2
    fit_formula(Species ~ I(Sepal.Length^power) + Sepal.Width, iris)
  })
  expect_identical(all.vars(attr(fit$input$terms, "predvars")),
    c("Species", "Sepal.Length", "Sepal.Width"))
  expect_equal(new_rows(iris, fit)$x, fit$x)
  fit <- local({
    cuts <- c(5, 6)
    fit_formula(Species ~ findInterval(Sepal.Length, cuts), iris)
  })
  expect_equal(new_rows(iris, fit)$x, fit$x)
  fit <- local({
    mine <- rev(iris$Sepal.Length)
    fit_formula(Species ~ log(mine), iris)
  })
  expect_error(new_rows(iris, fit), "`newdata` lacks column `mine`.", fixed = TRUE,
    class = "kernelect_error_columns")
})

test_that("a formula that calls functions of its caller predicts, and carries nothing else of it", {
  fit <- local({
    ballast <- stats::rnorm(1e5)
    power <- c(1, 2)
    root <- function(v) {
      power <- 7 # its own: that of the caller is not used here
      if (length(v) > 1e9) return(root(v)) # it knows itself
      sqrt(v)
    }
    shape <- function(v, ...) root(v) + sum(power)
    kernel_lm(Species ~ shape(Sepal.Length) + sapply(Sepal.Width, root) + Petal.Width, iris,
      size = 5)
  })
  expect_lt(length(serialize(fit, NULL)), 50000)
  expect_identical(predict(fit, iris), fitted_classes(fit))
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), iris[-5]), fitted_classes(fit))
  expect_error(predict(fit, iris[-2]), "`newdata` lacks column `Sepal.Width`",
    class = "kernelect_error_columns")
})

test_that("two things of one name in the functions of a formula are refused", {
  make <- function(k) function(v) v * k
  twice <- make(2)
  thrice <- make(3)
  expect_error(formula_data(Species ~ twice(Sepal.Length) + thrice(Sepal.Width), iris),
               "two different things by the name `k`", class = "kernelect_error_formula")
  fit <- fit_formula(Species ~ twice(Sepal.Length) + twice(Sepal.Width), iris)
  expect_equal(new_rows(iris, fit)$x, fit$x)
})

test_that("a function that is given to another is no column", {
  f <- function(v) v^2
  expect_identical(formula_data(Species ~ sapply(Sepal.Length, f), iris)$x[[1]],
    iris$Sepal.Length^2)
  fit <- fit_formula(Species ~ sapply(Sepal.Length, f) + sapply(Petal.Width, sqrt), iris)
  expect_equal(new_rows(iris, fit)$x, fit$x)
  expect_error(formula_data(Species ~ f, iris), "`f` is not a column of `data`",
    class = "kernelect_error_columns")
  expect_error(formula_data(Species ~ Sepal.Width + (f), iris), "`f` is not a column of `data`",
    class = "kernelect_error_columns")
})

test_that("matrix columns of new data are matched by name and by variable", {
  d <- data.frame(y = (1:20)^2, c = rep(1:4, 5))
  d$a <- cbind(p = sin(1:20), q = cos(1:20))
  d$b <- cbind(sqrt(1:20), 20:1)
  fit <- kernel_lm(y ~ a + b + c, d, size = 6)
  turned <- d
  turned$a <- cbind(d$a[, c("q", "p")], more = 1)
  expect_identical(predict(fit, turned), predict(fit, d))
  direct <- kernel_lm(d[-1], d$y, size = 6)
  expect_identical(predict(direct, turned), predict(direct, d))
  moved <- d
  moved$a <- d$a[, "p", drop = FALSE]
  moved$b <- cbind(d$b, 1) # the total width is the same
  expect_error(predict(fit, moved), "`newdata$a` lacks column `q`.", fixed = TRUE,
    class = "kernelect_error_columns")
  moved$a <- d$a
  expect_error(predict(fit, moved),
    "`newdata$b` must be a matrix of 2 columns as in the training data", fixed = TRUE,
               class = "kernelect_error_columns")
  moved$b <- `colnames<-`(d$b, c("u", "v"))
  expect_error(predict(fit, moved), "Columns are matched by name: the training data has none",
    class = "kernelect_error_columns")
  moved <- replace(d, "c", list(d$b))
  expect_error(predict(fit, moved), "`newdata$c` must be a single column as in the training data",
    fixed = TRUE,
               class = "kernelect_error_columns")
  moved <- d
  moved$a <- unname(d$a)
  expect_error(predict(fit, moved), "`newdata$a` has none. Name both sides or neither.",
    fixed = TRUE, class = "kernelect_error_columns")
  d$a <- cbind(p = 1:20, p = 20:1)
  expect_error(model_data(d),
    "Column `a` of `x` is a matrix with column names that are missing or not unique",
    class = "kernelect_error_columns")
})

test_that("whole numbers of 64 bits are refused in every place, since their bits are no doubles", {
  x <- structure(matrix(c(1, 2, 4, 8), 2), class = "integer64")
  expect_error(model_data(x),
    "`x` must be a numeric matrix or a data frame, not an object of class \"integer64\"",
    class = "kernelect_error_argument")
  expect_error(match_columns(x, list(width = 2)), "`newdata` must be a numeric matrix",
    class = "kernelect_error_argument")
  expect_error(check_gram(x), "`K` must be a numeric matrix", class = "kernelect_error_argument")
})

test_that("a time series is a response like any other", {
  y <- stats::ts(mtcars$mpg, start = 1973)
  expect_identical(fitted(kernel_lm(mtcars["wt"], y)), fitted(kernel_lm(mtcars["wt"], mtcars$mpg)))
  both <- stats::ts(as.matrix(mtcars[c("mpg", "hp")]))
  expect_equal(fitted(kernel_lm(mtcars["wt"], both)),
    fitted(kernel_lm(mtcars["wt"], as.matrix(mtcars[c("mpg", "hp")]))),
               ignore_attr = TRUE)
  expect_identical(kernel_fusion(mtcars[c("wt", "hp")], y)$weights,
    kernel_fusion(mtcars[c("wt", "hp")], mtcars$mpg)$weights)
})

test_that("dates, times and differences become numbers, with a message and in their unit", {
  days <- as.Date("2020-01-01") + c(0, 3, 9, 20)
  d <- data.frame(day = days, at = as.POSIXct(days),
    gap = as.difftime(c(1, 2, 4, 8), units = "days"), a = 1:4)
  expect_message(data <- model_data(d, scale = FALSE),
                 "Taken as numbers: `day` (days since 1970-01-01), `at` (seconds since 1970-01-01), `gap` (days).", fixed = TRUE) # nolint: line_length_linter.
  expect_identical(data$x[, "day"], as.numeric(days))
  expect_identical(data$x[, "gap"], c(1, 2, 4, 8))
  new <- d
  units(new$gap) <- "hours"
  new$at <- as.POSIXlt(new$at)
  expect_silent(matched <- new_rows(new, data)$x)
  expect_identical(matched, data$x)
  expect_error(new_rows(transform(d, day = 1), data),
    "`newdata$day` must be of class Date, as in the training data", fixed = TRUE,
               class = "kernelect_error_argument")
  expect_error(new_rows(transform(d, a = days), data),
    "`newdata$a` must be numeric, as in the training data", fixed = TRUE,
               class = "kernelect_error_argument")
  expect_message(fit <- kernel_lm(a ~ day, d, size = 2), "Taken as numbers: `day`")
  expect_silent(predict(fit, d))
  said <- capture.output(type = "message",
    kernel_tune(a ~ day, d, folds = 2, grid = list(size = 2)))
  expect_identical(said, "Taken as numbers: `day` (days since 1970-01-01).")
})

test_that("the nearest name differs in at most a third of its letters", {
  expect_identical(nearest_name("abc", c("xyz", "abd")), "abd")
  expect_identical(nearest_name("ab", "ac"), character())
  expect_identical(nearest_name("abc", c("ABC", "abd")), "ABC")
  expect_identical(nearest_name("abcdef", c("abcd", "abcde", "bcdef")), c("abcde", "bcdef"))
  expect_identical(nearest_name("abc", character()), character())
})

test_that("one and two missing columns are told in their grammar", {
  input <- list(columns = c("a", "b", "c"), width = 3)
  expect_error(match_columns(cbind(a = 1, b = 2), input), "`newdata` lacks column `c`.",
    fixed = TRUE)
  expect_error(match_columns(data.frame(b = 2), input), "`newdata` lacks columns `a`, `c`.",
    fixed = TRUE)
  one <- list(columns = "a", width = 1)
  expect_identical(match_columns(cbind(b = 1:2, a = 3:4), one), cbind(a = c(3, 4)))
  expect_identical(match_columns(data.frame(b = 1:2, a = 3:4), one), cbind(a = c(3, 4)))
})

test_that("case weights are one finite number per row, not negative and not all zero", {
  x <- diag(3)
  argument <- "kernelect_error_argument"
  expect_identical(model_data(x, weights = 1:3)$weights, c(1, 2, 3))
  expect_null(model_data(x)$weights)
  expect_error(model_data(x, weights = 1:2),
    "`weights` must have one value per row of `x` (3), not 2.", fixed = TRUE, class = argument)
  expect_error(model_data(x, weights = c(1, -1, 1)), "`weights` must not be negative: 1 is.",
    fixed = TRUE, class = argument)
  expect_error(model_data(x, weights = c(0, 0, 0)), "`weights` are all zero", class = argument)
  expect_error(model_data(x, weights = c("1", "2", "3")),
    "`weights` must be NULL or a numeric vector", class = argument)
  expect_error(model_data(x, weights = matrix(1:3)), "`weights` must be NULL or a numeric vector",
    class = argument)
  for (bad in c(NA, NaN, Inf)) {
    expect_error(model_data(x, weights = c(1, bad, 1)), "`weights` must be finite numbers: 1 is",
      class = "kernelect_error_not_finite")
  }
})

test_that("case weights follow the rows that are kept", {
  x <- cbind(a = c(1, NA, 3, 5), b = 4:7)
  expect_message(data <- model_data(x, weights = c(2, 5, 0, 1), na_action = "omit"), "1 of 4")
  expect_identical(data$weights, c(2, 0, 1))
  expect_error(suppressMessages(model_data(x, weights = c(0, 5, 0, 0), na_action = "omit")),
    "all zero", class = "kernelect_error_argument")
})

test_that("whole weights scale columns as repeated rows do, and all of them alike", {
  x <- cbind(`colnames<-`(random_matrix(12, 3), c("a", "b", "c")), constant = 0.1)
  w <- rep(c(0, 1, 2, 4), 3)
  repeated <- model_data(x[rep(1:12, w), ])
  weighted <- model_data(x, weights = w)
  expect_equal(weighted$scaling, repeated$scaling, tolerance = 1e-13)
  expect_identical(unname(weighted$scaling$scale["constant"]), 1)
  expect_equal(weighted$x[rep(1:12, w), ], repeated$x, tolerance = 1e-12)
  expect_equal(model_data(x + 1e6, weights = w)$scaling$scale, repeated$scaling$scale,
    tolerance = 1e-8)
  # relative weights: their size is of no matter, and equal ones are none
  expect_equal(model_data(x, weights = rep(1 / 12, 12))$scaling, model_data(x)$scaling,
    tolerance = 1e-13)
  expect_equal(model_data(x, weights = w / 100)$scaling, model_data(x, weights = w / 1000)$scaling,
    tolerance = 1e-13)
})

test_that(paste(
  "subset and weights of a formula are found among the data, then where the formula was written"
), {
  keep <- iris$Sepal.Length > 6
  direct <- formula_data(Species ~ ., iris[keep, ])
  expect_identical(formula_data(Species ~ ., iris, subset = quote(Sepal.Length > 6))[c("x", "y")],
    direct[c("x", "y")])
  expect_identical(formula_data(Species ~ ., iris, subset = quote(keep))$x, direct$x)
  expect_identical(formula_data(Species ~ ., iris, subset = quote(-which(!keep)))$x, direct$x)
  expect_identical(formula_data(mpg ~ wt, mtcars, subset = c("Fiat 128", "Mazda RX4"))$y,
    mtcars[c("Fiat 128", "Mazda RX4"), "mpg"])
  w <- seq_len(150)
  expect_identical(
    formula_data(Species ~ ., iris, weights = quote(w), subset = quote(keep))$weights,
    as.double(which(keep)))
  expect_identical(formula_data(Species ~ ., iris, weights = quote(Petal.Width))$weights,
    iris$Petal.Width)
  # log() is worked out on all rows, as in lm()
  expect_identical(formula_data(Species ~ log(Petal.Width), iris, subset = quote(keep))$x[[1]],
    log(iris$Petal.Width[keep]))
  expect_identical(
    nrow(formula_data(mpg ~ wt, mtcars, subset = quote(ifelse(cyl == 4, NA, cyl == 6)))$x), 7L)
})

test_that("a subset that cannot be taken says why", {
  parts <- function(subset) formula_data(Species ~ ., iris, subset = subset)
  argument <- "kernelect_error_argument"
  expect_error(parts(quote(no_such_thing)),
    "`subset` cannot be worked out: object 'no_such_thing' not found", class = argument)
  expect_error(parts(c(TRUE, FALSE, TRUE)),
    "`subset` must have one value per row of `data` (150), not 3.", fixed = TRUE, class = argument)
  expect_error(parts(c(1, 151)), "`subset` names rows that `data` does not have: `151`",
    class = argument)
  expect_error(parts("a"), "does not have: `a`", class = argument)
  expect_error(parts(quote(Sepal.Length > 100)), "`subset` leaves no rows",
    class = "kernelect_error_data")
  expect_error(parts(factor("a")), "`subset` must be a logical vector, row numbers or row names",
    class = argument)
  expect_error(formula_data(Species ~ ., iris, weights = quote(nowhere)),
    "`weights` cannot be worked out", class = argument)
})

test_that("every formula method takes a subset, and says so where it takes no weights", {
  some <- seq(1, 150, by = 2)
  expect_identical(kernel_basis(~ . - Species, iris, size = 5, subset = some)$path,
    kernel_basis(iris[some, 1:4], size = 5)$path)
  expect_identical(kernel_pca(~ . - Species, iris, subset = some)$values,
    kernel_pca(iris[some, 1:4])$values)
  two <- iris$Species != "setosa"
  for (fit in list(kernel_lm, kernel_lda, kernel_takes, kernel_fusion)) {
    expect_identical(predict(fit(Species ~ ., iris, subset = Species != "setosa"), iris),
      predict(fit(iris[two, 1:4], iris$Species[two]), iris))
  }
  expect_identical(kernel_rank(Species ~ ., iris, subset = two)$score,
    kernel_rank(iris[two, 1:4], iris$Species[two])$score)
  small <- list(size = c(3, 6))
  expect_identical(kernel_tune(Species ~ ., iris, subset = two, grid = small)$results,
    kernel_tune(iris[two, 1:4], iris$Species[two], grid = small)$results)
  for (fit in list(kernel_takes, kernel_rank)) {
    expect_error(fit(Species ~ ., iris, weights = Petal.Width), "`weights`.*no case weights",
      class = "kernelect_error_dots")
  }
  for (fit in list(kernel_basis, kernel_pca)) {
    expect_error(fit(~ ., iris, weights = Petal.Width), "`weights`.*no case weights",
      class = "kernelect_error_dots")
  }
})

test_that("a formula of thousands of columns is read once", {
  wide <- data.frame(matrix(seq_len(6000) %% 7, 2))
  terms <- formula_data(~ . - X1, wide, response = FALSE)$origin$terms
  expect_identical(length(attr(terms, "term.labels")), 2999L)
  expect_lt(length(serialize(terms, NULL)), 2e6) # a table of factors would have 36 MB
})

test_that("a function of a formula may use what a package keeps to itself", {
  own <- new.env(parent = asNamespace("kernelect"))
  rounded <- eval(quote(function(v) as.numeric(six_digits(v))), own)
  fit <- fit_formula(Species ~ rounded(Sepal.Length), iris)
  expect_equal(fit$x, fit_formula(Species ~ Sepal.Length, iris)$x, ignore_attr = TRUE)
  expect_equal(new_rows(iris, fit)$x, fit$x)
})

test_that("variables that make another number of columns than the model has are a damage", {
  input <- list(columns = c("va", "vb", "vc"), variables = "v", levels = list(v = c("a", "b")),
                width = 3L)
  expect_error(match_columns(data.frame(v = c("a", "b")), input),
    "`object` is damaged: its `input`", class = "kernelect_error_model")
})

test_that("what R reads in a formula and is not meant is refused or told of", {
  expect_error(kernel_lm(mpg ~ wt | hp, mtcars), "has a `\\|` \\(wt \\| hp\\).*`I\\(wt \\| hp\\)`",
    class = "kernelect_error_formula")
  expect_error(kernel_lm(mpg ~ wt + (1 | cyl), mtcars), class = "kernelect_error_formula")
  expect_identical(nobs(kernel_lm(mpg ~ wt + I(am | vs), mtcars)), 32L)
  expect_error(kernel_lm(mpg ~ wt + offset(hp), mtcars), "offset\\(hp\\)\\): fit `y - offset`",
    class = "kernelect_error_formula")
  expect_error(kernel_lm(mpg ~ wt * hp, mtcars), "interaction \\(wt:hp\\)",
    class = "kernelect_error_formula")
})

test_that("a response among the predictors is dropped with a warning", {
  plain <- kernel_lm(mpg ~ wt, mtcars)
  expect_warning(fit <- kernel_lm(mpg ~ mpg + wt, mtcars), "predictors: mpg is dropped",
    class = "kernelect_warning_formula")
  expect_identical(coef(fit), coef(plain))
  expect_identical(attr(terms(fit), "term.labels"), "wt")
  expect_warning(kernel_lm(log(mpg) ~ log(mpg) + wt, mtcars), "log\\(mpg\\) is dropped")
  expect_no_warning(kernel_lm(log(mpg) ~ mpg + wt, mtcars))
})

test_that("what is subtracted is taken out without a word of R's own", {
  expect_no_warning(fit <- kernel_lm(log(mpg) ~ . - mpg, mtcars))
  by_hand <- kernel_lm(mtcars[-1], log(mtcars$mpg))
  expect_identical(unname(fitted(fit)), unname(fitted(by_hand)))
})

test_that("a column that was logical is asked for as such", {
  d <- data.frame(y = sin(1:20), a = rep(c(TRUE, FALSE), 10), b = cos(1:20))
  fit <- kernel_lm(y ~ a + b, d)
  expect_error(predict(fit, data.frame(a = "x", b = 1)), "`newdata\\$a` must be logical, as",
    class = "kernelect_error_argument")
  expect_error(predict(fit, data.frame(a = TRUE, b = "x")), "`newdata\\$b` must be numeric, as",
    class = "kernelect_error_argument")
  fit$basis$input$logical <- NULL # as of older versions
  expect_error(predict(fit, data.frame(a = "x", b = 1)), "must be numeric, as")
})
