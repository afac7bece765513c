test_that("a formula model on a given basis predicts from the variables of that basis", {
  fits <- list(
    lm = function(basis) kernel_lm(Species ~ ., iris, basis = basis), lda = function(basis) kernel_lda(Species ~ ., iris, basis = basis),
    takes = function(basis) kernel_takes(Species ~ ., iris, basis = basis)
  )
  logs <- transform(iris[1:2], Sepal.Length = log(Sepal.Length))
  bases <- list(
    formula = kernel_basis(~ log(Sepal.Length) + Sepal.Width, iris, size = 8), frame = kernel_basis(iris[1:2], size = 8),
    matrix = kernel_basis(as.matrix(iris[1:2]), size = 8)
  )
  for (basis in names(bases)) {
    x <- if (basis == "formula") iris else iris[1:2]
    for (fit in names(fits)) {
      model <- fits[[fit]](bases[[basis]])
      plain <- get(paste0("kernel_", fit))(x, iris$Species, basis = bases[[basis]])
      expect_identical(predict(model, iris[1:2]), predict(plain, iris[1:2]), info = paste(basis, fit))
    }
  }
  whole <- kernel_pca(~ ., iris[1:4], basis = bases$formula)
  expect_identical(predict(whole, iris[1:2]), predict(kernel_pca(iris, basis = bases$formula), iris[1:2]))
  own <- kernel_basis(logs, size = 8)
  names <- c("log(Sepal.Length)", "Sepal.Width")
  by_name <- kernel_basis(stats::setNames(logs, names), size = 8)
  model <- kernel_lm(Species ~ log(Sepal.Length) + Sepal.Width, iris, basis = by_name)
  expect_identical(predict(model, iris), predict(kernel_lm(logs, iris$Species, basis = own), logs))
})

test_that("a basis of nearly dependent rows warns where predictions suffer", {
  x <- iris[2:4]
  y <- iris$Sepal.Length
  expect_warning(fit <- kernel_lm(x, y, basis = "kgs", size = NULL), class = "kernelect_warning_conditioning")
  expect_gt(max(abs(predict(fit, x) - fitted(fit))), 1e-3)
  # pivots count beside the largest one, whatever the unit of the kernel
  large <- function_kernel(function(x, z) 1e9 * gram(x, rbf_kernel(sigma = fit$basis$kernel$sigma), z))
  expect_warning(kernel_lm(x, y, large, basis = "kgs", size = NULL), class = "kernelect_warning_conditioning")
  for (basis in c("fvs", "cholesky", "kobl")) {
    expect_silent(fit <- kernel_lm(x, y, basis = basis, size = NULL))
    expect_equal(predict(fit, x), fitted(fit), tolerance = 1e-6)
  }
  expect_silent(fit <- kernel_lm(x, y, basis = "kgs", size = 40))
  expect_equal(predict(fit, x), fitted(fit), tolerance = 1e-3)
})
