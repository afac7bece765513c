# What comes back under which name: rows, columns, classes.

two_species <- droplevels(iris[51:150, ])

models_of <- function(y, x = iris[, 1:4]) {
  list(
    lm = kernel_lm(x, y, size = 5), lda = kernel_lda(x, y, size = 5),
    takes = kernel_takes(x, y, size = 3), fusion = kernel_fusion(x, y)
  )
}

test_that("the order of a factor comes back and changes nothing else, a level NA is no class", {
  ordered <- factor(iris$Species, ordered = TRUE)
  plain <- models_of(iris$Species)
  other <- models_of(ordered)
  for (name in names(plain)) {
    expect_identical(predict(other[[name]], iris),
      factor(predict(plain[[name]], iris), ordered = TRUE), info = name)
    expect_identical(fitted(other[[name]]), factor(fitted(plain[[name]]), ordered = TRUE),
      info = name)
  }
  for (method in c("sas", "fusion", "fisher")) {
    expect_identical(kernel_rank(iris[1:4], ordered, method = method)$score,
                     kernel_rank(iris[1:4], iris$Species, method = method)$score)
  }
  tuned <- kernel_tune(iris[1:4], ordered)
  expect_identical(tuned$results, kernel_tune(iris[1:4], iris$Species)$results)
  expect_s3_class(predict(tuned, iris), "ordered")

  some <- iris$Species
  some[c(3, 70)] <- NA
  for (fit in list(kernel_lm, kernel_lda, kernel_takes, kernel_fusion, kernel_rank, kernel_tune)) {
    expect_error(fit(iris[1:4], addNA(some)), "`y` has missing values (2)", fixed = TRUE,
      class = "kernelect_error_missing_values")
  }
  expect_message(fit <- kernel_lda(iris[1:4], addNA(some), na_action = "omit"), "2 of 150")
  expect_identical(fit$levels, levels(iris$Species))
  expect_error(kernel_alignment(gram(iris[1:4]), addNA(some)),
    class = "kernelect_error_missing_values")
})

test_that("missing values are counted by the variable that the user knows", {
  d <- iris
  d$Species[c(1, 60)] <- NA
  d$Petal.Width[1] <- NA
  wording <- "`x` has missing values in `Petal.Width` (1), `Species` (2)."
  expect_error(gram(d), wording, fixed = TRUE)
  expect_error(kernel_lm(Sepal.Length ~ ., d), wording, fixed = TRUE)
  expect_error(kernel_basis(d), wording, fixed = TRUE)
})

test_that("fitted values, residuals and predictions have the rows' names", {
  fit <- kernel_lm(mpg ~ ., mtcars)
  expect_identical(names(residuals(fit)), rownames(mtcars))
  expect_equal(residuals(fit), stats::setNames(mtcars$mpg, rownames(mtcars)) - fitted(fit))
  expect_equal(predict(fit, mtcars), fitted(fit))
  named <- stats::setNames(mtcars$mpg, letters[(seq_len(32) - 1) %% 26 + 1])
  fit <- kernel_lm(unname(as.matrix(mtcars[-1])), named)
  expect_null(names(residuals(fit)))
  expect_null(names(fitted(fit)))

  by_class <- kernel_lm(two_species[1:4], two_species$Species)
  expect_identical(dimnames(residuals(by_class)), dimnames(by_class$fitted.values))
  fused <- kernel_fusion(mpg ~ ., mtcars)
  expect_identical(names(residuals(fused)), rownames(mtcars))
  expect_identical(names(fitted(fused)), rownames(mtcars))
})

test_that("classes come back as plain factors, whatever the names", {
  for (fit in models_of(stats::setNames(two_species$Species, paste0("n", 1:100)),
    two_species[1:4])) {
    guess <- predict(fit, two_species)
    expect_null(names(guess))
    expect_identical(levels(guess), c("versicolor", "virginica"))
  }
})

test_that("columns of a cross-Gram matrix are matched by name where both sides have names", {
  x <- `rownames<-`(scale(as.matrix(iris[1:40, 1:4])), paste0("r", 1:40))
  K <- gram(x)
  new <- K[c(3, 9), ]
  for (center in c("none", "nearest")) {
    basis <- kernel_basis(K = K, size = 6, tol = 0, center = center)
    expect_identical(predict(basis, new[, 40:1]), predict(basis, new))
    expect_identical(predict(head(basis, 3), new[, 40:1]), predict(basis, new)[, 1:3])
    expect_equal(predict(basis, unname(new)), unname(predict(basis, new)))
    expect_error(predict(basis, new[, -basis$index[1]]), "`newdata` lacks column",
      class = "kernelect_error_columns")
    new_missing <- new
    new_missing[1, 5] <- NA
    expect_identical(rownames(predict(basis, new_missing)), c("r3", "r9"))
  }
  y <- iris[1:40, 1]
  fused <- kernel_fusion(y = y, kernels = list(a = K, b = K^2))
  expect_equal(predict(fused, list(a = new[, 40:1], b = (new^2)[, 40:1])),
    predict(fused, list(a = new, b = new^2)))
  expect_identical(names(fitted(fused)), rownames(x))
  expect_error(kernel_fusion(y = y, kernels = list(a = K, b = K[40:1, 40:1])), "`a` and `b`",
    class = "kernelect_error_argument")
  expect_error(predict(kernel_basis(K = unname(K)), unname(new)[, -1]),
    "one column per training row", class = "kernelect_error_columns")
})

test_that("an error carries what the user typed, not the method", {
  fit <- kernel_lm(iris[1:4], iris$Species)
  failed <- function(code) conditionCall(tryCatch(code, error = identity))
  expect_identical(failed(predict(fit, iris[1:2]))[[1]], quote(predict))
  expect_identical(failed(head(kernel_basis(iris[1:4]), 0))[[1]], quote(head))
  expect_identical(failed(kernel_lm(iris[1:4], 1))[[1]], quote(kernel_lm))
})

test_that("what is wrong with `x` under a given basis is told of `x`", {
  basis <- kernel_basis(iris[1:4])
  expect_error(kernel_pca(iris[1:3], basis = basis), "`x` lacks column `Petal.Width`",
    class = "kernelect_error_columns")
  expect_error(kernel_lm(iris[1:4], iris$Species, basis = kernel_basis(K = gram(iris[1:4]))),
    "`x` must have one column per training row",
               class = "kernelect_error_columns")
})

test_that("the formula method takes arguments by position like the other", {
  by_formula <- kernel_basis(~., iris[1:4], rbf_kernel(1), "cholesky", 10, 0.001, "none", 1,
    identity, 500, FALSE)
  by_matrix <- kernel_basis(iris[1:4], rbf_kernel(1), "cholesky", 10, 0.001, "none", 1, identity,
    500, FALSE)
  expect_identical(by_formula$index, by_matrix$index)
  expect_null(by_formula$scaling)
})

test_that("labels that repeat are no names: a cross-Gram matrix then goes by position", {
  x <- as.matrix(scale(iris[1:100, 1:4]))
  plain <- unname(gram(x))
  K <- plain
  dimnames(K) <- rep(list(rep(c("s", "v"), 50)), 2)
  expect_identical(unname(predict(kernel_basis(K = K, size = 5), K)),
    unname(predict(kernel_basis(K = plain, size = 5), plain)))
  y <- iris$Sepal.Length[1:100]
  fits <- list(kernel_fusion(y = y, kernels = list(a = K)),
    kernel_fusion(y = y, kernels = list(a = plain)))
  expect_identical(unname(predict(fits[[1]], list(a = K))),
    unname(predict(fits[[2]], list(a = plain))))
})
