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
  confusion$label <- as.numeric(confusion$label)
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

test_that("titles and labels are those of plot()", {
  skip_if_not_installed("ggplot2")
  auto <- ggplot2::autoplot
  said <- function(plot) {
    gsub("\n", " ", unlist(plot$labels[c("title", "x", "y")], use.names = FALSE), fixed = TRUE)
  }
  takes <- kernel_takes(Species ~ ., iris)
  rank <- kernel_rank(Species ~ ., iris, resample = 4, n = 2)
  fused <- kernel_fusion(mpg ~ ., mtcars)
  pca <- kernel_pca(iris[1:4], ncomp = 3)
  lm <- kernel_lm(mpg ~ wt + hp, mtcars)
  lda <- kernel_lda(Species ~ ., iris)
  basis <- kernel_basis(iris[1:4], size = 6)
  pairs <- list(
    list(said(auto(takes, "scores")), plot_words(plot(takes, "scores"))),
    list(said(auto(takes))[1:2], plot_words(plot(takes))),
    list(said(auto(rank))[1:2], plot_words(plot(rank))),
    list(said(auto(rank, "score"))[1:2], plot_words(plot(rank, "score"))),
    list(said(auto(rank, "path")), plot_words(plot(rank, "path"))),
    list(said(auto(fused)), plot_words(plot(fused))),
    list(said(auto(fused, "weights"))[1:2], plot_words(plot(fused, "weights"))),
    list(said(auto(pca, components = 3:2)), plot_words(plot(pca, components = 3:2))),
    list(said(auto(pca, "variance")), plot_words(plot(pca, type = "variance"))),
    list(said(auto(lm, "loo")), plot_words(plot(lm, "loo"))),
    list(said(auto(lda)), plot_words(plot(lda))),
    list(said(auto(basis))[1:2], plot_words(plot(basis))),
    list(said(auto(basis, "trace")), plot_words(plot(basis, log = "y")))
  )
  for (pair in pairs) expect_words(pair[[1]], pair[[2]])
  # other directions have an error of their own
  expect_match(said(auto(takes, "scores", components = 3:4))[1],
    sprintf("Directions %d and %d: ", takes$directions[3], takes$directions[4]))
})

test_that("the best is marked, and what chance gives", {
  skip_if_not_installed("ggplot2")
  auto <- ggplot2::autoplot
  layers <- function(plot, geom) {
    which(vapply(plot$layers, function(l) inherits(l$geom, geom), NA))
  }
  lm <- kernel_lm(mpg ~ ., mtcars)
  mark <- drawn(auto(lm, "loo"), 3)
  expect_equal(c(mark$x, mark$y), c(length(lm$basis$index), chosen_loo(lm)$loss))
  tuned <- kernel_tune(Species ~ ., iris, folds = 2,
    grid = list(size = c(4, 8), kernel = list(rbf_kernel(1), linear_kernel(), laplace_kernel(1))))
  plot <- auto(tuned)
  ring <- drawn(plot, 4)
  expect_identical(nrow(ring), 1L)
  expect_equal(ring$y, tuned$best$error)
  expect_equal(ring$x, tuned$best$size, tolerance = 0.02)
  # kernels keep the order and colours of plot()
  lines <- drawn(plot)
  first <- tuned$results$error[tuned$results$kernel == tuned$results$kernel[1]]
  expect_setequal(lines$y[lines$colour == palette_classes[1]], first)
  rank <- kernel_rank(Species ~ ., iris, resample = 4, n = 2)
  plot <- auto(rank)
  expect_equal(sort(drawn(plot, layers(plot, "GeomVline"))$xintercept), sort(unname(rank$null)))
  expect_equal(drawn(plot, 2)$x, sort(unname(rank$frequency), decreasing = TRUE))
  takes <- kernel_takes(Species ~ ., iris, size = "loo")
  plot <- auto(takes)
  lines <- drawn(plot, layers(plot, "GeomLine"))
  scale <- max(takes$path$gamma) / max(takes$path$error, takes$path$loo, na.rm = TRUE)
  expect_equal(lines$y[lines$group == 1], takes$path$error * scale)
  expect_identical(unique(lines$colour), takes_colours)
  fused <- kernel_fusion(y ~ ., simulate_fusion(20, seed = 1), noise = 0)
  expect_identical(length(unique(drawn(auto(fused, n = 3))$colour)), 3L)
  expect_identical(unique(drawn(auto(fused, n = 3), 3)$colour), "grey75")
})

test_that("many classes have small counts and no zeros, long names are shortened and turned", {
  skip_if_not_installed("ggplot2")
  confusion <- function(level) {
    table <- diag(seq_along(level))
    dimnames(table) <- list(class = level, fitted = level)
    gg_confusion(table, "all right")
  }
  few <- drawn(confusion(letters[1:5]), 2)
  expect_identical(sum(few$label == "0"), 20L)
  many <- drawn(confusion(letters), 2)
  expect_identical(sum(many$label != ""), 26L)
  expect_lt(many$size[1], 0.5 * few$size[1])
  expect_identical(length(confusion(sprintf("c%d", 1:41))$layers), 1L)
  long <- sprintf("a rather long name of class number %d", 1:4)
  words <- plot_words(print(confusion(long)))
  expect_identical(sum(words %in% shorten(long, 24)), 8L)
  d <- drawing(print(confusion(long)), width = 5, height = 4)
  names <- d$text[d$text$text %in% shorten(long, 24), ]
  expect_identical(sort(names$angle), rep(c(0, 90), each = 4))
  # a key takes the smaller part of the picture
  scores <- data.frame(u = 1:40, v = sin(1:40))
  d <- drawing(print(ggplot2::autoplot(kernel_pca(scores, ncomp = 2),
    classes = factor(rep(long, 10)))), width = 5, height = 4)
  expect_gt(min(text_of(d, shorten(long, 16))$start_x), 0.6 * d$page[1])
})

test_that("without a direction there are no scores to show", {
  skip_if_not_installed("ggplot2")
  x <- rbind(diag(4), diag(4))
  none <- suppressWarnings(
    kernel_takes(x, factor(rep(c("b", "a"), each = 4)), linear_kernel(), select = "kffs",
      scale = FALSE))
  expect_error(ggplot2::autoplot(none, "scores"), "no direction of positive weight",
    class = "kernelect_error_argument")
})
