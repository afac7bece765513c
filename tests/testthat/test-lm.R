test_that("leave-one-out equals refitting without the row, for every size, response and ridge", {
  rows <- seq(1, 150, by = 4)
  x <- iris_matrix(rows)
  y <- cbind(a = x[, 1]^2, b = with_seed(2, rnorm(nrow(x))))
  classes <- iris$Species[rows]
  basis <- kernel_basis(x, tol = 1e-6, size = 25)
  z <- predict(basis, x)
  for (ridge in c(0, 1e-6, 0.3)) {
    fit <- kernel_lm(x, y, basis = basis, size = NULL, ridge = ridge)
    expect_identical(fit$loo$size, 1:25)
    expect_lt(max(abs(fit$loo$error / refitted_loo(z, y, ridge) - 1)), 1e-8)
    expect_identical(fit$loo$loss, fit$loo$error)
    fit <- kernel_lm(x, classes, basis = basis, size = NULL, ridge = ridge)
    expect_equal(fit$loo$error, refitted_loo(z, indicators(classes), ridge, classes))
    expect_equal(fit$loo$loss, 3 * refitted_loo(z, indicators(classes), ridge), tolerance = 1e-8)
  }
})

test_that("leave-one-out is right where columns depend on each other", {
  # an intercept, and twelve duplicated coordinates: half of the columns add nothing
  z <- random_matrix(30, 12)
  z <- cbind(z, z %*% random_matrix(12, 4, 2), 1)
  y <- random_matrix(30, 2, 3)
  fit <- regress(z, list(matrix = y, classes = NULL), 0)
  twin <- refitted_loo(z[, 1:12], y)
  expect_lt(max(abs(size_losses(fit, 0, NULL)$loss / twin[c(1:12, rep(12, 5))] - 1)), 1e-8)
  expect_identical(fit$dependent, rep(c(FALSE, TRUE), c(12, 5)))
  expect_equal(nested_coefficients(fit, 17)[13:17, ], matrix(0, 5, 2))
})

test_that("a ridge too small for Cholesky is still the ridge asked for, beyond one panel", {
  z <- random_matrix(45, 34)
  z <- cbind(z, z %*% random_matrix(34, 2, 2))
  y <- random_matrix(45, 1, 3)
  ridge <- 1e-9
  fit <- regress(z, list(matrix = y, classes = NULL), ridge)
  expect_equal(nested_coefficients(fit, 36), reference_ridge(z, y, ridge)[-1, , drop = FALSE],
    tolerance = 1e-3)
  expect_lt(max(abs(size_losses(fit, ridge, NULL)$loss / refitted_loo(z, y, ridge) - 1)), 1e-6)
  expect_equal(z %*% nested_coefficients(fit, 36),
    z %*% reference_ridge(z, y, ridge)[-1, , drop = FALSE], tolerance = 1e-8)
})

test_that("size = \"loo\" keeps the smallest size of least loss", {
  fit <- kernel_lm(iris[1:4], iris$Species, ridge = 0)
  expect_identical(length(fit$basis$index), which.min(fit$loo$loss))
  expect_identical(nrow(fit$loo), length(kernel_basis(iris[1:4])$index))
  whole <- kernel_lm(iris[1:4], iris$Species, size = NULL, ridge = 0)
  expect_identical(whole$loo, fit$loo)
  expect_identical(whole$size, nrow(fit$loo))
  expect_identical(c(fit$ridge, whole$ridge), c(0, 0))
})

test_that("the fit minimises the penalised squares on the orthonormal coordinates", {
  x <- random_matrix(60, 3)
  y <- random_matrix(60, 2, 5)
  for (center in c("none", "nearest")) {
    for (ridge in c(0, 0.5)) {
      fit <- kernel_lm(x, y, size = 9, ridge = ridge, center = center)
      b <- reference_ridge(predict(fit$basis, x), y, ridge)
      expect_equal(unname(coef(fit)), unname(b), tolerance = 1e-8)
      expect_equal(unname(fitted(fit)), unname(cbind(1, predict(fit$basis, x)) %*% b),
        tolerance = 1e-8)
      expect_equal(residuals(fit), y - fitted(fit), tolerance = 1e-12)
      expect_equal(fit$error, mean((y - fitted(fit))^2))
    }
  }
})

test_that("all rows and a ridge give kernel ridge regression", {
  x <- random_matrix(50, 2)
  y <- sin(x[, 1]) + x[, 2]
  K <- centred_gram(gram(scale(x), rbf_kernel(sigma = 1)))
  for (ridge in c(1e-3, 1)) {
    fit <- kernel_lm(x, y, rbf_kernel(sigma = 1), basis = NULL, ridge = ridge)
    twin <- mean(y) + K %*% solve(K + ridge * diag(50), y - mean(y))
    expect_equal(unname(fitted(fit)), twin[, 1], tolerance = 1e-8)
  }
})

test_that("a linear kernel gives linear regression and its leave-one-out error", {
  twin <- lm(mpg ~ wt + hp + qsec, mtcars)
  fit <- kernel_lm(mpg ~ wt + hp + qsec, mtcars, kernel = linear_kernel(), basis = NULL, ridge = 0)
  expect_equal(fitted(fit), fitted(twin), tolerance = 1e-10)
  expect_equal(fit$loo$error[3], mean((residuals(twin) / (1 - hatvalues(twin)))^2),
    tolerance = 1e-10)
  expect_equal(predict(fit, mtcars[1:3, ]), predict(twin, mtcars[1:3, ]), tolerance = 1e-10)
})

test_that("raw linear regression on the banana data errs as printed", {
  banana <- shared_data("banana")
  error <- vapply(1:10, function(i) {
    rows <- banana$splits[i, ]
    fit <- kernel_lm(banana$x[rows, ], banana$y[rows], linear_kernel(), basis = NULL, scale = FALSE,
      ridge = 0)
    100 * mean(predict(fit, banana$x[-rows, ]) != banana$y[-rows])
  }, 0)
  expect_lt(abs(mean(error) - 47.0), 4.5)
})

test_that("FVS regression on the thyroid data errs as printed", {
  thyroid <- shared_data("thyroid")
  error <- vapply(1:20, function(i) {
    rows <- thyroid$splits[i, ]
    fit <- kernel_lm(thyroid$x[rows, ], thyroid$y[rows], rbf_kernel(width = 7),
      size = 40, tol = 0, center = "nearest", scale = FALSE, ridge = 0
    )
    100 * mean(predict(fit, thyroid$x[-rows, ]) != thyroid$y[-rows])
  }, 0)
  expect_lt(abs(mean(error) - 4.1), 2.0)
})

test_that("predictions of the training rows are the fitted values, whatever the route", {
  frame <- data.frame(iris[2:4], f = iris$Species)
  design <- cbind(iris_matrix()[, 2:4], outer(iris$Species, levels(iris$Species), `==`) + 0)
  y <- iris$Sepal.Length
  a <- kernel_lm(frame, y)
  b <- kernel_lm(Sepal.Length ~ ., data.frame(frame, Sepal.Length = y))
  c <- kernel_lm(unname(design), y)
  expect_identical(coef(b), coef(a))
  expect_identical(coef(c), coef(a))
  expect_equal(predict(a, frame), fitted(a), tolerance = 1e-8)
  expect_identical(predict(b, frame), predict(a, frame))
  expect_identical(predict(a, frame[4:1]), predict(a, frame))
  expect_identical(predict(c, unname(design)), predict(a, frame))
})

test_that("a transformed formula predicts from raw columns, also on a basis given", {
  fit <- kernel_lm(mpg ~ log(wt) + hp, mtcars, size = 6)
  expect_equal(predict(fit, mtcars), fitted(fit), tolerance = 1e-8)
  basis <- kernel_basis(~ log(wt) + hp, mtcars, size = 6)
  on_basis <- kernel_lm(mpg ~ log(wt) + hp, mtcars, basis = basis, size = NULL)
  expect_equal(predict(on_basis, mtcars), fitted(fit), tolerance = 1e-8)
  expect_equal(predict(kernel_lm(mtcars, mtcars$mpg, basis = basis, size = NULL), mtcars),
    fitted(fit), tolerance = 1e-8)
})

test_that("classes: default prediction, regression values, character and logical labels", {
  fit <- kernel_lm(iris[1:4], iris$Species)
  values <- predict(fit, iris, type = "response")
  expect_identical(colnames(values), levels(iris$Species))
  expect_equal(rowSums(values), rep(1, 150), tolerance = 1e-8)
  expect_identical(predict(fit, iris),
    factor(levels(iris$Species)[max.col(values)], levels(iris$Species)))
  expect_equal(fit$error, mean(predict(fit, iris) != iris$Species))
  expect_identical(coef(kernel_lm(iris[1:4], as.character(iris$Species))), coef(fit))
  expect_s3_class(predict(kernel_lm(iris[1:4], iris$Species == "setosa"), iris), "factor")
  dropped <- kernel_lm(iris[1:100, 1:4], iris$Species[1:100])
  expect_identical(dropped$levels, levels(iris$Species)[1:2])
})

test_that("new rows: one, none, with missing values, with unknown levels", {
  fit <- kernel_lm(iris[1:4], iris$Species)
  gap <- iris_matrix()[1:3, ]
  gap[2, 1] <- NA
  expect_identical(is.na(predict(fit, gap)), c(FALSE, TRUE, FALSE))
  expect_identical(is.na(predict(fit, gap, type = "response")[, 1]), c(FALSE, TRUE, FALSE))
  expect_length(predict(fit, iris[0, 1:4]), 0)
  expect_identical(unname(predict(fit, iris[51, 1:4])), predict(fit, iris)[51])
  reg <- kernel_lm(Sepal.Length ~ ., iris, size = 5)
  new <- iris[1:2, ]
  new$Species <- c("setosa", "unknown")
  expect_error(predict(reg, new), class = "kernelect_error_levels")
})

test_that("training rows with missing values fail or are omitted", {
  x <- iris_matrix()
  x[3, 2] <- NA
  expect_error(kernel_lm(x, iris$Species), class = "kernelect_error_missing_values")
  expect_message(fit <- kernel_lm(x, iris$Species, na_action = "omit"), "1 of 150")
  expect_identical(coef(fit), coef(kernel_lm(x[-3, ], iris$Species[-3])))
  y <- replace(iris$Sepal.Length, 7, NA)
  expect_message(fit <- kernel_lm(iris[2:4], y, na_action = "omit"), "1 of 150")
  expect_identical(nobs(fit), 149L)
})

test_that("bad input is refused in words", {
  x <- iris_matrix()
  y <- iris$Species
  lonely <- factor(c("z", rep(c("a", "b"), length.out = 149)))
  expect_snapshot(error = TRUE, {
    kernel_lm(x, factor(rep("a", 150)))
    kernel_lm(x, lonely)
    kernel_lm(x, factor(c("v", "w", rep("a", 148))))
    kernel_lm(1:150 + x, factor(c(letters[1:7], rep("z", 143))))
    kernel_lm(x, rep(1, 150))
    kernel_lm(x, cbind(1:150, 2))
    kernel_lm(x, 1:10)
    kernel_lm(x)
    kernel_lm(x, y, size = "best")
    kernel_lm(x, y, size = 0)
    kernel_lm(x, y, ridge = -1)
    kernel_lm(x, y, basis = 3)
    kernel_lm(Species ~ ., iris, Size = 3)
    predict(kernel_lm(x, x[, 1]), x, type = "class")
    fitted(kernel_lm(x, y, keep = FALSE))
  })
})

test_that("what a model does not hold or know is refused by class", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 4, keep = FALSE)
  expect_error(residuals(fit), "holds no residuals", class = "kernelect_error_model")
  expect_error(predict(fit), "`newdata` is missing", class = "kernelect_error_argument")
  expect_error(kernel_lm(iris_matrix(), matrix(0, 150, 0)), "no columns",
    class = "kernelect_error_argument")
})

test_that("a basis given may be cut to a size, and a Gram matrix may come by formula", {
  basis <- kernel_basis(iris_matrix(), size = 8)
  cut <- kernel_lm(iris_matrix(), iris$Species, basis = basis, size = 3)
  expect_identical(cut$basis$index, basis$index[1:3])
  expect_equal(cut$coefficients,
    kernel_lm(iris_matrix(), iris$Species, basis = head(basis, 3))$coefficients)
  K <- gram(scale(iris_matrix(1:20)))
  by_gram <- kernel_basis(K = K, size = 5)
  y <- sin(1:20)
  formula <- kernel_lm(y ~ ., data.frame(unname(K), y = y), basis = by_gram)
  expect_identical(formula$coefficients, kernel_lm(unname(K), y, basis = by_gram)$coefficients)
  expect_equal(predict(formula, unname(K)), unname(fitted(formula)), tolerance = 1e-10)
})

test_that("a damaged model is refused", {
  fit <- kernel_lm(iris[1:4], iris$Species)
  broken <- list(
    replace(fit, "coefficients", list(fit$coefficients[-1, ])),
    replace(fit, "levels", list(c("a", "b"))),
    replace(fit, "coefficients", list(fit$coefficients * NA)), replace(fit, "basis", list(NULL))
  )
  for (model in broken) {
    expect_error(predict(structure(model, class = "kernel_lm"), iris),
      class = "kernelect_error_model")
  }
})

test_that("the model stays small, holds no environment and survives a file", {
  big <- kernel_lm(random_matrix(12000, 3), random_matrix(12000, 1, 2)[, 1], size = 10)
  small <- kernel_lm(random_matrix(300, 3), random_matrix(300, 1, 2)[, 1], size = 10, keep = FALSE)
  expect_lt(abs(length(serialize(big, NULL)) / length(serialize(small, NULL)) - 1), 0.05)
  expect_null(big$fitted.values)
  fit <- kernel_lm(Species ~ ., iris)
  expect_false(any(rapply(fit, is.environment, how = "unlist")))
  file <- saved_model(fit)
  expect_identical(predict(readRDS(file), iris), predict(fit, iris))
})

test_that("methods print, summarise and draw", {
  classes <- kernel_lm(iris[1:4], iris$Species, rbf_kernel(sigma = 2), size = 8)
  reg <- kernel_lm(mpg ~ wt + hp, mtcars, kernel = rbf_kernel(sigma = 2), ridge = 0.1)
  expect_snapshot({
    classes
    summary(classes)
    reg
    summary(reg)
  })
  pdf(NULL)
  on.exit(dev.off())
  expect_identical(plot(classes), classes$left_out_confusion)
  expect_equal(plot(reg)$observed, mtcars$mpg)
  expect_named(plot(classes, type = "loo"), c("size", "ridge", "loss", "error"))
  expect_named(plot(kernel_lm(iris[1:2], iris[3:4] |> as.matrix(), size = 5)),
    c("fitted", "observed", "class"))
  expect_identical(nobs(reg), 32L)
})

test_that("the table of classes is shown up to twelve of them", {
  shown <- function(classes) {
    y <- factor(rep(sprintf("c%02d", seq_len(classes)), each = 2))
    capture.output(summary(kernel_lm(matrix(seq_along(y)), y, rbf_kernel(1), size = 5)))
  }
  expect_true(any(grepl("^ *c12( +[0-9]+){12}$", shown(12))))
  expect_false(any(grepl("^ *c12( +[0-9]+){13}$", shown(13))))
})

test_that("many rows are worked on in steps", {
  n <- 1200 # with 520 columns a step has about 990 rows
  x <- random_matrix(n, 6)
  y <- sin(x[, 1]) + x[, 2]
  fit <- kernel_lm(x, y, rbf_kernel(1), basis = "cholesky", size = 520, tol = 0, scale = FALSE,
    ridge = 0)
  z <- cbind(1, predict(fit$basis, x))
  expect_equal(unname(fitted(fit)), unname(drop(qr.fitted(qr(z), y))), tolerance = 1e-8)
})

test_that("each thing that a regression needs is looked at", {
  fit <- kernel_lm(iris[1:4], iris$Species, size = 5)
  broken <- list(
    within_list(fit, coefficients = fit$coefficients * NA),
    within_list(fit, coefficients = fit$coefficients[-1, ]),
    within_list(fit, n = NA), within_list(fit, levels = c("a", "a", "b")),
    within_list(fit, levels = c("a", "b")),
    within_list(fit, levels = 1:3), within_list(fit, basis = NULL)
  )
  for (i in seq_along(broken)) {
    expect_error(print(broken[[i]]), class = "kernelect_error_model", info = i)
  }
  expect_output(print(within_list(fit, levels = c("a", "b", "c"))), "3 classes")
})

test_that("what is printed: one row, and a ridge only where there is one", {
  one <- kernel_lm(mpg ~ wt, mtcars, size = 1, ridge = 0)
  expect_output(print(one), "32 rows on a basis of 1 row (\"fvs\")", fixed = TRUE)
  expect_false(any(grepl("ridge", capture.output(print(one)))))
  expect_output(print(kernel_lm(mpg ~ wt, mtcars, size = 2, ridge = 0.25)), ", ridge 0.25\n",
    fixed = TRUE)
})

test_that("a summary shows seven sizes, evenly spaced on a log scale, and the one chosen", {
  fit <- kernel_lm(iris[1:4], iris$Species, size = 64, tol = 0, ridge = 0)
  expect_identical(summary(fit)$loo, fit$loo[c(1, 2, 4, 8, 16, 32, 64), ])
  twelve <- kernel_lm(iris[1:4], iris$Species, size = 12, ridge = 0)
  expect_identical(summary(twelve)$loo$size, 1:12)
  expect_lt(nrow(summary(kernel_lm(iris[1:4], iris$Species, size = 13, ridge = 0))$loo), 13)
  best <- kernel_lm(iris[1:4], iris$Species)
  expect_true(length(best$basis$index) %in% summary(best)$loo$size)
  expect_output(print(summary(best)), paste0("by size (chosen: ", length(best$basis$index), "):"),
    fixed = TRUE)
  expect_false(any(grepl("fitted", capture.output(summary(kernel_lm(mpg ~ wt, mtcars, size = 2))))))
})

test_that("one response keeps its column when it came as a matrix, and rows their names", {
  y <- as.matrix(mtcars["mpg"])
  wide <- kernel_lm(mtcars[c("wt", "hp")], y, size = 3)
  plain <- kernel_lm(mtcars[c("wt", "hp")], y[, 1], size = 3)
  expect_identical(dimnames(coef(wide)), list(c("(Intercept)", "z1", "z2", "z3"), "mpg"))
  expect_identical(names(coef(plain)), rownames(coef(wide)))
  expect_identical(wide$coefficients[, 1], plain$coefficients)
  expect_identical(dimnames(predict(wide, mtcars[1:2, ])), list(rownames(mtcars)[1:2], "mpg"))
  expect_identical(names(predict(plain, mtcars[1:2, ])), rownames(mtcars)[1:2])
  expect_equal(residuals(plain), mtcars$mpg - fitted(plain))
  expect_identical(names(residuals(plain)), rownames(mtcars))
})

test_that("nothing is said unasked, and one thread works", {
  expect_identical(
    capture.output(type = "message", fit <- kernel_lm(iris[1:4], iris$Species, size = 5)),
    character())
  with_option("kernelect.threads", NULL, {
    expect_identical(eval(formals(kernel_lm.default)$threads), 1L)
    expect_identical(eval(formals(predict.kernel_lm)$threads), 1L)
  })
})

test_that("responses whose squares leave the range of numbers are refused", {
  x <- as.matrix(mtcars[c("wt", "hp")])
  for (by in c(1e-163, 1e-300)) {
    for (ask in list(kernel_lm, kernel_rank, function(x, y) kernel_alignment(gram(x), y))) {
      expect_error(ask(x, mtcars$mpg * by), "`y` differs by too little",
                   class = "kernelect_error_not_finite")
    }
  }
  expect_error(check_squares(c(0, 0.9e-150)), class = "kernelect_error_not_finite")
  expect_silent(check_squares(c(0, 1.1e-150)))
  small <- kernel_lm(x, mtcars$mpg * 1e-145, size = 5, ridge = 0.1)
  expect_equal(fitted(small) * 1e145, fitted(kernel_lm(x, mtcars$mpg, size = 5, ridge = 0.1)))
})

test_that("weights that sum to less than the coefficients are warned of", {
  shares <- rep(1 / 32, 32)
  for (ask in list(function(w) kernel_lm(mpg ~ wt + hp, mtcars, weights = w),
                   function(w) kernel_lda(factor(am) ~ wt + hp, mtcars, weights = w))) {
    expect_warning(ask(shares), "`weights` sum to 1, as if", class = "kernelect_warning_weights")
    expect_no_warning(ask(shares * 32))
  }
  few <- function(by) kernel_lm(mpg ~ wt, mtcars, size = 4, ridge = 1, weights = rep(by, 32))
  expect_no_warning(few(5.01 / 32))
  expect_warning(few(5 / 32), class = "kernelect_warning_weights")
})

# As fit_growing() has it, by bases that are given.
reference_grown <- function(x, y, method) {
  fit_at <- function(tol, size) {
    kernel_lm(x, y, basis = kernel_basis(x, method = method, tol = tol, size = size))
  }
  best <- fit_at(0.01, 1000)
  for (tol in c(1e-3, 1e-4)) {
    if (best$basis$stop != "tol" || best$size < max(best$loo$size)) break
    new <- fit_at(tol, floor(nrow(x) / 3))
    longer <- max(new$loo$size) > max(best$loo$size)
    if (longer && min(new$loo$loss) > 0.98 * min(best$loo$loss)) break
    best <- new
  }
  best
}

test_that("the basis of a curve goes on where leave-one-out takes all of it", {
  x <- matrix(seq(0, 1, length.out = 90))
  noise <- random_matrix(90, 1)[, 1]
  curves <- list(
    sin(12 * x[, 1]) + 0.05 * noise, sin(25 * x[, 1]) + 0.05 * noise, x[, 1] + noise, noise
  )
  grown <- list()
  for (y in curves) {
    for (method in c("fvs", "cholesky")) {
      fit <- kernel_lm(x, y, basis = method)
      known <- reference_grown(x, y, method)
      expect_identical(fit$basis$index, known$basis$index)
      expect_equal(fit$loo, known$loo, tolerance = 1e-8)
      expect_equal(coef(fit), coef(known), tolerance = 1e-6)
      grown <- c(grown, fit$grown)
    }
  }
  expect_identical(range(unlist(grown)), 0:1) # some do, some do not
  weights <- rep_len(1:3, 90)
  rows <- rep(1:90, weights)
  a <- kernel_lm(x, curves[[2]], weights = weights)
  b <- kernel_lm(x[rows, , drop = FALSE], curves[[2]][rows])
  expect_identical(c(a$grown, rows[b$basis$index]), c(b$grown, a$basis$index))
  expect_lte(max(a$loo$size), 60)
})

test_that("a basis does not go on beyond what was asked for, nor of many columns", {
  x <- matrix(seq(0, 1, length.out = 90))
  y <- sin(25 * x[, 1])
  expect_null(kernel_lm(x, y, tol = 0.01)$grown)
  expect_null(kernel_lm(x, y, size = 5)$grown)
  expect_null(kernel_lm(x, y, basis = "random")$grown)
  expect_null(kernel_lm(x, y, basis = kernel_basis(x))$grown)
  expect_null(kernel_lm(cbind(x, x^2, x^3), y)$grown)
  expect_null(kernel_lm(K = gram(x), y = y)$grown)
  expect_false(is.null(kernel_lm(cbind(x, x^2), y)$grown))
  source <- row_source(function(i) x[30 * i - 29:0, , drop = FALSE], c(30, 30, 30))
  expect_same_model(kernel_lm(source, y), kernel_lm(x, y))
})

test_that("the log of a lost worker goes with the tolerance that it was at", {
  log <- list(job = list(rule = list(tol = 1e-3)), answers = list())
  expect_null(resume_at(NULL, 0.01))
  expect_null(resume_at(log, 0.01))
  expect_identical(resume_at(log, 1e-3), log)
})

test_that("a basis at whose end leave-one-out still falls is said to want more rows", {
  words <- function(fit) paste(capture.output(print(fit)), collapse = "\n")
  hint <- function(fit) grepl("still falling at the end of the basis: try", words(fit))
  bent <- data.frame(x = seq(0, 1, length.out = 60))
  bent$y <- sin(12 * bent$x)
  fit <- kernel_lm(y ~ x, bent, tol = 0.01)
  loss <- function(size) min(fit$loo$loss[fit$loo$size == size])
  expect_lt(loss(5), 0.8 * loss(3))
  expect_true(hint(fit))
  expect_match(words(fit), "try `tol = 0.001`, or `kernel_tune()`", fixed = TRUE)
  expect_match(words(update(fit, tol = 0.02)), "try `tol = 0.002`, or", fixed = TRUE)
  fit$basis$tol <- NULL # as of older versions
  expect_match(words(fit), "try a smaller `tol`, or", fixed = TRUE)
  wide <- kernel_lm(y ~ x + I(0 * x) + I(0 * x + 1), bent)
  expect_match(words(wide), "try `tol = 0.001`$")
  grown <- kernel_lm(y ~ x, bent)
  expect_identical(c(grown$grown, hint(grown)), c(TRUE, FALSE))
  bent$y <- bent$y + 0.3 * random_matrix(60, 1)[, 1]
  expect_false(hint(kernel_lm(y ~ x, bent, tol = 1e-8)))
  expect_false(hint(kernel_lm(y ~ x, bent, size = 3))) # as asked for
  expect_false(hint(kernel_lm(dist ~ speed, cars))) # a hundredth better
})

test_that("rows with missing values leave a Gram matrix, never compared ones first", {
  K <- gram(scale(iris_matrix()))
  gaps <- K
  gaps[3, ] <- gaps[, 3] <- NA
  gaps[7, 9] <- gaps[9, 7] <- NA
  gone <- c(3L, 7L, 9L)
  expect_message(fit <- kernel_lm(K = gaps, y = iris$Sepal.Length, na_action = "omit"), "3 of 150")
  expect_identical(as.vector(fit$na.action), gone)
  whole <- kernel_lm(K = K[-gone, -gone], y = iris$Sepal.Length[-gone])
  expect_identical(coef(fit), coef(whole))
  expect_equal(predict(fit, K)[-gone], unname(fitted(whole)), tolerance = 1e-8)
  expect_error(kernel_lm(K = gaps, y = iris$Sepal.Length), "`na_action = \"omit\"`",
    class = "kernelect_error_not_finite")
  alone <- kernel_basis(K = matrix(1))
  expect_identical(alone$index, 1L)
})

test_that("R-squared is that of rows left out, weighted where rows are", {
  x <- mtcars[c("wt", "hp")]
  y <- mtcars$mpg
  for (w in list(rep(1, 32), rep(c(0.5, 2), 16))) {
    fit <- kernel_lm(x, y, weights = if (any(w != 1)) w, keep = FALSE)
    variance <- weighted.mean((y - weighted.mean(y, w))^2, w)
    at <- fit$loo$size == fit$size & fit$loo$ridge == fit$ridge
    expect_equal(summary(fit)$r.squared, 1 - fit$loo$loss[at] / variance)
  }
  expect_output(print(summary(fit)), "R-squared of rows left out: 0.")
  expect_null(summary(kernel_lm(Species ~ ., iris))$r.squared)
})

test_that("several responses are printed one by one, in at most twelve lines", {
  y <- as.matrix(iris[3:4])
  fit <- kernel_lm(iris[1:2], y, size = 5)
  rows <- fit$responses
  expect_equal(rows$error, unname(colMeans((y - fitted(fit))^2)))
  expect_equal(rows$variance, unname(apply(y, 2, var)) * 149 / 150)
  expect_equal(mean(rows$left_out), min(fit$loo$loss))
  alone <- kernel_lm(iris[1:2], y[, 2], size = 5, ridge = fit$ridge)
  at <- which(alone$loo$size == fit$size)
  expect_equal(rows$left_out[2], alone$loo$loss[at])
  out <- capture.output(print(fit))
  for (i in 1:2) {
    expect_match(out[3 + i], paste0("^  ", colnames(y)[i], " +", signif(rows$error[i], 4)))
  }
  expect_equal(summary(fit)$responses$r.squared, 1 - rows$left_out / rows$variance)
  expect_output(print(summary(fit)), "of all responses together\n +response r.squared\n")
  bent <- matrix(seq(0, 1, length.out = 60))
  many <- kernel_lm(bent, sapply(1:9, function(i) i * sin(12 * bent[, 1])), tol = 0.01)
  out <- capture.output(print(many))
  expect_length(out, 11)
  expect_match(out[10:11], "and 3 more$|still falling")
  expect_output(print(within_list(many, responses = NULL)), "mean squared error: .* leave-one-out")
  expect_error(print(within_list(many, responses = 3)), class = "kernelect_error_model")
})

test_that("errors of a fit to weighted rows are called weighted, kept or not", {
  w <- rep(1:2, 75)
  for (keep in c(TRUE, FALSE)) {
    expect_output(print(kernel_lm(iris[1:4], iris$Species, weights = w, keep = keep)),
      "\nweighted error rate: ")
    expect_output(print(kernel_lm(iris[1:4], iris$Species, keep = keep)), "\nerror rate: ")
  }
  expect_output(print(kernel_lm(mpg ~ wt, mtcars, weights = hp)), "\nweighted mean squared error: ")
})
