drawn <- function(plot, layer = 1L) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file)
  print(plot)
  grDevices::dev.off()
  ggplot2::layer_data(plot, layer)
}

test_that("pictures for ggplot2 show the numbers of the model", {
  skip_if_not_installed("ggplot2")
  auto <- ggplot2::autoplot
  basis <- kernel_basis(iris[1:4], size = 6)
  expect_equal(drawn(auto(basis))$y, basis$path$fitness)
  expect_equal(drawn(auto(basis, "trace"))$y, log10(basis$path$trace))
  pca <- kernel_pca(iris[1:4], ncomp = 3)
  both <- drawn(auto(pca, components = c(1, 3), classes = iris$Species))
  expect_equal(both$x, unname(pca$scores[, 1]))
  expect_equal(both$y, unname(pca$scores[, 3]))
  expect_identical(length(unique(both$colour)), 3L)
  expect_gt(length(unique(drawn(auto(pca, classes = iris$Sepal.Length))$colour)), 10L)
  expect_equal(drawn(auto(pca, "variance"))$y, cumsum(pca$values) / pca$total)
  lm <- kernel_lm(mpg ~ wt + hp, mtcars)
  expect_equal(drawn(auto(lm))$x, unname(fitted(lm)))
  expect_equal(drawn(auto(lm))$y, mtcars$mpg)
  rank <- kernel_rank(Species ~ ., iris)
  expect_equal(drawn(auto(rank), 2)$x, unname(rank$score[rank$ranking]))
  fused <- kernel_fusion(mpg ~ ., mtcars)
  best <- order(-fused$weights * fused$mean_diagonal)
  expect_equal(drawn(auto(fused, "weights"), 2)$x,
    unname(fused$weights * fused$mean_diagonal)[best])
  tuned <- kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = c(4, 8)))
  expect_setequal(drawn(auto(tuned))$y, tuned$results$error)
})

test_that("every class and type has its picture", {
  skip_if_not_installed("ggplot2")
  lm <- kernel_lm(Species ~ ., iris)
  plots <- list(
    ggplot2::autoplot(lm), ggplot2::autoplot(lm, "loo"), ggplot2::autoplot(lm, "calibration"),
    ggplot2::autoplot(kernel_lda(Species ~ ., iris)),
    ggplot2::autoplot(kernel_lda(Species ~ ., iris), "calibration"),
    ggplot2::autoplot(kernel_lda(factor(am) ~ wt + hp, mtcars)),
    ggplot2::autoplot(kernel_takes(Species ~ ., iris)),
    ggplot2::autoplot(kernel_takes(Species ~ ., iris), "scores"),
    ggplot2::autoplot(kernel_rank(Species ~ ., iris), "path"),
    ggplot2::autoplot(kernel_rank(Species ~ ., iris, resample = 5, n = 2)),
    ggplot2::autoplot(kernel_fusion(mpg ~ ., mtcars))
  )
  for (plot in plots) expect_gt(nrow(drawn(plot)), 0)
  confusion <- drawn(plots[[1]], 2)
  expect_equal(sum(confusion$label), 150)
  # the whole of a class is full colour, none of it white
  tiles <- drawn(plots[[1]], 1)
  expect_identical(unique(tiles$fill[confusion$label == 50]), "#0072B2")
  expect_identical(unique(tiles$fill[confusion$label == 0]), "#FFFFFF")
})

test_that("pictures that a model cannot give are refused by name", {
  skip_if_not_installed("ggplot2")
  expect_error(ggplot2::autoplot(kernel_rank(Species ~ ., iris), "frequency"), "frequency",
    class = "kernelect_error_argument")
  expect_error(ggplot2::autoplot(kernel_lm(mpg ~ wt, mtcars), "calibration"), "factor",
    class = "kernelect_error_argument")
  expect_error(ggplot2::autoplot(kernel_pca(iris[1:4], ncomp = 2), components = c(1, 5)),
    "components", class = "kernelect_error_argument")
})

test_that("boundaries, effects and calibrations have their picture", {
  skip_if_not_installed("ggplot2")
  auto <- ggplot2::autoplot
  circles <- simulate_circles(80, seed = 1, radius = c(1, 0.7), sd = 0.2)
  fit <- kernel_lm(y ~ ., circles)
  shown <- plot_boundary(fit, circles, grid = 12, draw = FALSE)
  plot <- auto(shown)
  points <- ggplot2::layer_data(plot, 5)
  expect_equal(points$x, circles$x1)
  expect_identical(points$colour, palette_classes[as.integer(circles$y)])
  wrong <- predict(fit, circles) != circles$y
  expect_equal(ggplot2::layer_data(plot, 6)$y, circles$x2[wrong])
  slice <- auto(plot_boundary(kernel_lda(Species ~ ., iris), iris, grid = 12, draw = FALSE))
  expect_match(slice$labels$caption, "Sepal.Length = 5.8")
  expect_gt(nrow(drawn(slice)), 0)
  effect <- plot_effect(kernel_lm(mpg ~ wt + hp, mtcars), mtcars, "wt", draw = FALSE)
  expect_equal(drawn(auto(effect), 2)$y, effect$mean)
  lda <- kernel_lda(Species ~ ., iris)
  several <- plot_effect(lda, iris, "Petal.Width", rows = 20, draw = FALSE)
  expect_setequal(drawn(auto(several))$y, several$mean)
  surface <- plot_effect(fit, circles, c("x1", "x2"), grid = 10, rows = 5, draw = FALSE)
  expect_gt(nrow(drawn(auto(surface))), 0)
  warp <- kernel_lm(breaks ~ wool + tension, warpbreaks)
  levels <- plot_effect(warp, warpbreaks, "tension", draw = FALSE)
  expect_equal(drawn(auto(levels), 2)$y, levels$mean)
  both <- plot_effect(warp, warpbreaks, c("tension", "wool"), draw = FALSE)
  expect_equal(drawn(auto(both))$y, both$mean)
  takes <- kernel_takes(y ~ ., circles)
  fused <- kernel_fusion(y ~ ., circles, kernels = list(rbf_kernel()))
  for (model in list(takes, fused)) {
    expect_equal(drawn(auto(model, "calibration"))$y, model$calibration$reliability$frequency)
  }
})

test_that("a single component is drawn against the rows, and scores not kept are missed by name", {
  skip_if_not_installed("ggplot2")
  pca <- kernel_pca(iris[1:4], ncomp = 1)
  points <- drawn(ggplot2::autoplot(pca))
  expect_equal(points$x, unname(pca$scores[, 1]))
  expect_equal(points$y, 1:150)
  expect_error(ggplot2::autoplot(kernel_pca(iris[1:4], ncomp = 2, keep = FALSE)), "holds no scores",
    class = "kernelect_error_model")
})

test_that("several responses are drawn in a colour each", {
  skip_if_not_installed("ggplot2")
  fit <- kernel_lm(cbind(mpg, qsec) ~ wt + hp, mtcars)
  points <- drawn(ggplot2::autoplot(fit))
  expect_equal(points$x, as.vector(fitted(fit)))
  expect_equal(points$y, c(mtcars$mpg, mtcars$qsec))
  expect_identical(points$colour, rep(palette_classes[1:2], each = 32))
})

test_that("parameters and errors that are far apart are drawn on logarithmic axes", {
  skip_if_not_installed("ggplot2")
  x <- matrix(sin(1:60), 30)
  grid <- list(kernel = linear_kernel(), ridge = c(1e-3, 1, 1e3))
  tuned <- kernel_tune(x, x[, 1] + x[, 2], folds = 3, grid = grid)
  lines <- drawn(ggplot2::autoplot(tuned))
  expect_equal(lines$x, c(-3, 0, 3))
  expect_equal(lines$y, log10(tuned$results$error))
})

test_that("axes of a boundary may have units of their own, and one class fills the picture", {
  skip_if_not_installed("ggplot2")
  fit <- kernel_lda(Species ~ ., iris)
  near <- iris[1:5, ]
  shown <- plot_boundary(fit, near, c("Petal.Length", "Petal.Width"), grid = 4, asp = NA,
    draw = FALSE)
  expect_identical(unique(as.character(shown$class)), "setosa")
  plot <- ggplot2::autoplot(shown)
  expect_null(plot$coordinates$ratio)
  tiles <- drawn(plot)
  expect_identical(nrow(tiles), 16L)
  expect_identical(unique(tiles$fill), unname(tint(class_colours(3), 0.25)[1]))
})
