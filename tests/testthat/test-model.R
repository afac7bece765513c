test_that("a formula model on a given basis predicts from the variables of that basis", {
  fits <- list(
    lm = function(basis) kernel_lm(Species ~ ., iris, basis = basis),
    lda = function(basis) kernel_lda(Species ~ ., iris, basis = basis),
    takes = function(basis) kernel_takes(Species ~ ., iris, basis = basis)
  )
  logs <- transform(iris[1:2], Sepal.Length = log(Sepal.Length))
  bases <- list(
    formula = kernel_basis(~ log(Sepal.Length) + Sepal.Width, iris, size = 8),
    frame = kernel_basis(iris[1:2], size = 8),
    matrix = kernel_basis(as.matrix(iris[1:2]), size = 8)
  )
  for (basis in names(bases)) {
    x <- if (basis == "formula") iris else iris[1:2]
    for (fit in names(fits)) {
      model <- fits[[fit]](bases[[basis]])
      plain <- get(paste0("kernel_", fit))(x, iris$Species, basis = bases[[basis]])
      expect_identical(predict(model, iris[1:2]), predict(plain, iris[1:2]),
        info = paste(basis, fit))
    }
  }
  whole <- kernel_pca(~ ., iris[1:4], basis = bases$formula)
  expect_identical(predict(whole, iris[1:2]),
    predict(kernel_pca(iris, basis = bases$formula), iris[1:2]))
  own <- kernel_basis(logs, size = 8)
  names <- c("log(Sepal.Length)", "Sepal.Width")
  by_name <- kernel_basis(stats::setNames(logs, names), size = 8)
  model <- kernel_lm(Species ~ log(Sepal.Length) + Sepal.Width, iris, basis = by_name)
  expect_identical(predict(model, iris), predict(kernel_lm(logs, iris$Species, basis = own), logs))
})

test_that("a basis of nearly dependent rows warns where predictions suffer", {
  x <- iris[2:4]
  y <- iris$Sepal.Length
  expect_warning(fit <- kernel_lm(x, y, basis = "kgs", size = NULL, ridge = 0),
    class = "kernelect_warning_conditioning")
  expect_gt(max(abs(predict(fit, x) - fitted(fit))), 1e-3)
  # pivots count beside the largest one, whatever the unit of the kernel
  large <- function_kernel(function(x, z) 1e9 *
    gram(x, rbf_kernel(sigma = fit$basis$kernel$sigma), z))
  expect_warning(kernel_lm(x, y, large, basis = "kgs", size = NULL, ridge = 0),
    class = "kernelect_warning_conditioning")
  for (basis in c("fvs", "cholesky", "kobl")) {
    expect_silent(fit <- kernel_lm(x, y, basis = basis, size = NULL))
    expect_equal(predict(fit, x), fitted(fit), tolerance = 1e-6)
  }
  expect_silent(fit <- kernel_lm(x, y, basis = "kgs", size = 40))
  expect_equal(predict(fit, x), fitted(fit), tolerance = 1e-3)
})

test_that("a basis is NULL, one name of a method or a kernel_basis", {
  for (bad in list(c("fvs", "kgs"), "qr", NA_character_, character(), 1, TRUE, iris)) {
    expect_error(kernel_lm(iris[1:4], iris$Species, basis = bad),
      "`basis` must be NULL, a kernel_basis, or one of \"",
                 class = "kernelect_error_argument")
  }
  expect_identical(length(kernel_pca(iris[1:4], basis = NULL, size = 7)$basis$index), 7L)
})

test_that("of a given basis the first rows are taken, and its kernel", {
  x <- iris[1:4]
  basis <- kernel_basis(x, rbf_kernel(2), size = 9, tol = 0)
  fit <- kernel_lm(x, iris$Species, basis = basis, size = 4)
  expect_identical(fit$basis$index, basis$index[1:4])
  expect_identical(predict(fit, x),
    predict(kernel_lm(x, iris$Species, basis = head(basis, 4), size = Inf), x))
  expect_identical(kernel_lm(x, iris$Species, basis = basis, size = Inf)$basis$index, basis$index)
  widths <- kernel_lm(x, iris$Petal.Width, basis = basis, size = 4)
  expect_equal(predict(widths, x), fitted(widths), tolerance = 1e-10)
  expect_silent(same <- kernel_lm(x, iris$Species, rbf_kernel(2), basis = basis, size = 4))
  expect_identical(coef(same), coef(fit))
  others <- list(rbf_kernel(3), laplace_kernel(2), rbf_kernel(2, weights = 1:4), rbf_kernel())
  for (kernel in others) {
    expect_warning(other <- kernel_lm(x, iris$Species, kernel, basis = basis, size = 4),
                   "which is used: RBF kernel, sigma = 2.", fixed = TRUE,
                   class = "kernelect_warning_kernel")
    expect_identical(coef(other), coef(fit))
  }
})

test_that("a model on a basis of a Gram matrix takes the matrix as it is", {
  K <- gram(scale(iris[1:4]))
  basis <- kernel_basis(K = K, size = 6)
  expect_silent(fit <- kernel_lm(K, iris$Petal.Width, basis = basis))
  expect_equal(predict(fit, K), fitted(fit), tolerance = 1e-10)
  expect_equal(mean((iris$Petal.Width - predict(fit, K))^2), fit$error, tolerance = 1e-10)
  same <- kernel_lm(K = K, y = iris$Petal.Width, basis = basis)
  expect_identical(fitted(fit), fitted(same))
  expect_silent(kernel_lda(K, iris$Species, basis = basis))
  expect_silent(kernel_pca(K, basis = basis))
  expect_silent(kernel_takes(K, iris$Species, basis = basis))
  # on a basis of rows it is columns
  named <- `dimnames<-`(K, list(NULL, paste0("k", 1:150)))
  expect_message(kernel_lm(named, iris$Petal.Width, basis = kernel_basis(as.data.frame(named),
    size = 6)), "is taken for columns of data")
})

test_that("a formula on a given basis finds evaluated variables, or evaluates them", {
  basis <- kernel_basis(~ log(Sepal.Length) + Sepal.Width, iris, size = 5)
  by_formula <- kernel_lm(Species ~ log(Sepal.Length) + Sepal.Width, iris, basis = basis)
  plain <- kernel_lm(iris, iris$Species, basis = basis)
  expect_identical(fitted(by_formula), fitted(plain))
  expect_identical(predict(by_formula, iris), predict(plain, iris))
})

test_that(paste(
  "a formula with more terms than the basis has columns evaluates those that are its columns"
), {
  logs <- stats::setNames(transform(iris[1:2], Sepal.Length = log(Sepal.Length)),
    c("log(Sepal.Length)", "Sepal.Width"))
  basis <- kernel_basis(logs, size = 5)
  model <- kernel_lm(Species ~ log(Sepal.Length) + Sepal.Width + Petal.Width, iris, basis = basis)
  expect_identical(predict(model, iris),
    predict(kernel_lm(logs, iris$Species, basis = basis), logs))
})

test_that("kernels are the same where all their parameters are", {
  expect_true(same_kernel(rbf_kernel(2), rbf_kernel(gamma = 1 / 8)))
  expect_true(same_kernel(linear_kernel(), linear_kernel()))
  a <- polynomial_kernel(2, 0.5, 1)
  expect_true(same_kernel(a, a))
  others <- list(
    polynomial_kernel(3, 0.5, 1), polynomial_kernel(2, 0.4, 1), polynomial_kernel(2, 0.5, 0),
    polynomial_kernel(2, 0.5, 1, weights = 1)
  )
  for (b in others) expect_false(same_kernel(a, b))
  expect_false(same_kernel(function_kernel(function(x, z) 1), function_kernel(function(x, z) 2)))
})

test_that("how far predictions are off is told beside the spread of the fit", {
  x <- scale(iris_matrix())
  basis <- kernel_basis(x, rbf_kernel(2), size = 4, tol = 0, scale = FALSE)
  a <- cbind(c(1, -2, 3, 4), c(0, 1, 0, 5))
  offset <- c(10, -20)
  exact <- predict(basis, x) %*% a + rep(offset, each = 150)
  spread <- function(values) max(abs(sweep(values, 2, colMeans(values))))
  dependent <- basis
  dependent$path$pivot[4] <- 1e-10 * max(basis$path$pivot)
  told <- function(values, basis = dependent) warn_if_dependent(basis, x, values, a, offset)
  expect_silent(told(exact))
  bent <- exact
  bent[150, 2] <- bent[150, 2] + 0.05 * spread(exact) # the last row is among those looked at
  expect_warning(told(bent),
    paste0("least pivot ", format(min(dependent$path$pivot), digits = 2),
      "): `predict()` differs from the fit by ",
                                    format(0.05 * spread(exact) / spread(bent), digits = 2),
                                    " of its spread."),
                 fixed = TRUE, class = "kernelect_warning_conditioning")
  expect_silent(told(bent, basis))
  slight <- exact
  slight[1, 1] <- slight[1, 1] - 0.0009 * spread(exact)
  expect_silent(told(slight))
  expect_silent(warn_if_dependent(within_list(dependent, kernel = NULL), x, bent, a, offset))
})

test_that("a response is turned into numbers or indicators", {
  expect_identical(response_matrix(c(1L, 2L)),
    list(matrix = matrix(c(1, 2)), classes = NULL, vector = TRUE))
  expect_identical(response_matrix(cbind(a = 1:2, b = 2:1))[-2],
    list(matrix = cbind(a = c(1, 2), b = c(2, 1)), vector = FALSE))
  y <- c("v", "u", "u", "v")
  expect_identical(response_matrix(y),
    list(matrix = cbind(u = c(0, 1, 1, 0), v = c(1, 0, 0, 1)), classes = factor(y), vector = FALSE))
  expect_identical(response_matrix(c(TRUE, FALSE, FALSE, TRUE))$matrix[, "TRUE"], c(1, 0, 0, 1))
  expect_error(response_matrix(c("u", "v", "v")), "at least 2 rows: \"u\" .1. has fewer",
    class = "kernelect_error_classes")
  for (bad in list(Sys.Date() + 0:1, structure(c(1, 2), class = "mine"), 1i, list(1, 2))) {
    expect_error(response_matrix(bad), "`y` must be a factor, a numeric vector or a numeric matrix",
      class = "kernelect_error_argument")
  }
  expect_error(response_matrix(matrix(0, 2, 0)), "`y` has no columns",
    class = "kernelect_error_argument")
  expect_error(response_matrix(c(3, 3)), "^`y` is constant \\(3\\): there is nothing",
    class = "kernelect_error_response")
  expect_error(response_matrix(4), "`y` is constant (4)", fixed = TRUE,
    class = "kernelect_error_response")
  expect_error(response_matrix(cbind(1:2, 5, 7)), "^Column 2 of `y` is constant \\(5\\)",
    class = "kernelect_error_response")
  expect_error(response_matrix(c(1, 2e150)), "too large", class = "kernelect_error_not_finite")
})

test_that("classes go to the largest value, ties to the first, and none to no row", {
  levels <- c("u", "v", "w")
  expect_identical(classes_of(rbind(c(1, 3, 2), c(2, 1, 2)), levels),
    factor(c("v", "u"), levels = levels))
  expect_identical(classes_of(matrix(0, 0, 3), levels), factor(character(), levels = levels))
})

test_that("rows are kept up to ten thousand unless told", {
  expect_true(check_keep(NULL, 10000))
  expect_false(check_keep(NULL, 10001))
  expect_true(check_keep(TRUE, 10001))
  expect_false(check_keep(FALSE, 1))
  expect_error(check_keep("yes", 1), "`keep`", class = "kernelect_error_argument")
})

test_that("many new rows are predicted in chunks as if one by one", {
  fit <- kernel_lm(cbind(mpg, hp) ~ wt + disp, mtcars, size = 5)
  new <- mtcars[rep_len(seq_len(32), 200003), c("wt", "disp")]
  expect_gt(length(row_chunks(nrow(new), 5)), 1)
  some <- c(1, 200000, 200001, 200003)
  expect_equal(unname(predict(fit, new)[some, ]), unname(predict(fit, new[some, ])),
    tolerance = 1e-12)
  expect_equal(predict(fit, mtcars[3, ]), fitted(fit)[3, , drop = FALSE], tolerance = 1e-10)
})

test_that("every predict() looks at its number of threads", {
  y <- iris$Species
  models <- list(
    kernel_basis(iris[1:4], size = 3), kernel_pca(iris[1:4], ncomp = 2),
    kernel_lm(iris[1:4], y, size = 3),
    kernel_lda(iris[1:4], y, size = 3), kernel_takes(iris[1:4], y, size = 2)
  )
  for (model in models) {
    for (bad in list(0, 1.5, "two", NA)) {
      expect_error(predict(model, iris[1:2, 1:4], threads = bad), "`threads`",
        class = "kernelect_error_argument")
    }
  }
})

test_that("on a given basis a Gram matrix may be `x` or `K`", {
  K <- gram(scale(iris[1:4]))
  basis <- kernel_basis(K = K, size = 6)
  one <- suppressMessages(kernel_lm(K, iris$Petal.Width, basis = basis))
  other <- kernel_lm(K = K, y = iris$Petal.Width, basis = basis)
  expect_identical(coef(other), coef(one))
  expect_identical(predict(other, K), predict(one, K))
})
