test_that("the boundary plot returns what the model predicts on its grid", {
  d <- simulate_circles(80, seed = 1)
  fit <- kernel_lm(y ~ x1 + x2, d)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  shown <- plot_boundary(fit, d, grid = 15)
  expect_equal(nrow(shown), 15^2)
  expect_identical(shown$class, predict(fit, shown[c("x1", "x2")]))
  expect_identical(withVisible(plot_boundary(fit, d, grid = 5))$visible, FALSE)
})

test_that("columns that are not shown stay at their median or first level", {
  d <- data.frame(a = 1:40, b = rep(c(0, 1), 20), c = c(rep(5, 39), 100), g = factor(rep(c("u", "v"), each = 20)))
  d$y <- factor(d$a > 20)
  fit <- kernel_lda(y ~ a + b + c + g, d)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  shown <- plot_boundary(fit, d, columns = c("a", "c"), y = "y", grid = 4)
  held <- data.frame(a = shown$a, b = 0.5, c = shown$c, g = factor("u", levels = c("u", "v")))
  expect_identical(shown$class, predict(fit, held))
  # text has no median and no levels: its first value is held
  d$g <- rep(c("v", "u"), each = 20)
  fit <- kernel_lda(y ~ a + c + g, d)
  shown <- plot_boundary(fit, d, columns = c("a", "c"), y = "y", grid = 4)
  expect_identical(shown$class, predict(fit, data.frame(shown[c("a", "c")], g = "v")))
})

test_that("every classifier of the package has a boundary, and graphical parameters stay", {
  d <- simulate_circles(60, seed = 2)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  settings <- function() graphics::par("mar", "mgp", "las", "tcl", "cex.main", "font.main", "xpd", "mfrow")
  before <- settings()
  fits <- list(
    kernel_lda(y ~ ., d), kernel_takes(y ~ ., d), kernel_fusion(d[1:2], d$y, list(rbf_kernel())),
    kernel_lm(as.matrix(d[1:2]), d$y)
  )
  for (fit in fits) expect_s3_class(plot_boundary(fit, d, grid = 6)$class, "factor")
  expect_identical(settings(), before)
})

test_that("neither a plain list nor an object without parts is a classifier", {
  d <- simulate_circles(40, seed = 1)
  for (object in list(list(a = 1), factor("a"), d)) {
    expect_error(plot_boundary(object, d), "`object`", class = "kernelect_error_argument")
  }
})

test_that("what cannot be drawn is refused", {
  d <- simulate_circles(40, seed = 1)
  fit <- kernel_lm(y ~ x1 + x2, d)
  regression <- kernel_lm(d["x1"], d$x2)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_snapshot(error = TRUE, {
    plot_boundary()
    plot_boundary(fit)
    plot_boundary(1, d)
    plot_boundary(fit, 1:3)
    plot_boundary(fit, d[0, ])
    plot_boundary(fit, transform(d, x1 = NA_real_))
    plot_boundary(fit, d["x1"])
    plot_boundary(fit, d, columns = "x1")
    plot_boundary(fit, d, columns = c("x1", "y"))
    plot_boundary(fit, d, y = 1:3)
    plot_boundary(fit, d, grid = 1)
    plot_boundary(regression, d, columns = c("x1", "x2"))
  })
})

test_that("points are coloured by the model's response, whatever other columns there are", {
  circles <- simulate_circles(40, seed = 1)
  d <- data.frame(x = circles$x1, y = circles$x2, class = circles$y, other = factor(rep(1:4, 10)))
  right <- function(fit) sum(predict(fit, d) == d$class)
  title <- function(fit) sprintf("%d of 40 rows on their side of the boundary", right(fit))
  lm <- kernel_lm(class ~ x + y, d)
  expect_words(c(title(lm), "a", "b"), plot_words(plot_boundary(lm, d, grid = 6)))
  fused <- kernel_fusion(class ~ x + y, d, kernels = list(rbf_kernel()))
  expect_words(title(fused), plot_words(plot_boundary(fused, d, grid = 6)))
  from_matrix <- kernel_lm(as.matrix(d[1:2]), d$class)
  expect_words("Classes assigned", plot_words(plot_boundary(from_matrix, d, grid = 6)))
  expect_words(c(title(from_matrix), "a", "b"), plot_words(plot_boundary(from_matrix, d[-4], grid = 6)))
  d$class <- as.character(d$class)
  expect_words(c(title(lm), "a", "b"), plot_words(plot_boundary(lm, d, grid = 6)))
})

test_that("a slice through more than two columns says so", {
  fit <- kernel_lda(Species ~ ., iris, size = 10)
  right <- sum(predict(fit, iris) == iris$Species)
  expect_words(sprintf("%d of 150 rows classified rightly; other columns held at their medians", right),
               plot_words(plot_boundary(fit, iris, grid = 6)))
  logs <- kernel_lda(Species ~ log(Sepal.Length) + Sepal.Width, iris, size = 10)
  expect_words(sprintf("%d of 150 rows on their side of the boundary", sum(predict(logs, iris) == iris$Species)),
               plot_words(plot_boundary(logs, iris, grid = 6)))
})

test_that("many classes get room for their legend", {
  d <- data.frame(u = rep(1:8, 5), v = rep(1:5, each = 8), y = factor(rep(1:8, 5)))
  fit <- kernel_lm(y ~ ., d)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_gt(max(plot_boundary(fit, d, grid = 6)$u), 9)
  two <- transform(d, y = factor(u > 4))
  expect_lt(max(plot_boundary(kernel_lm(y ~ ., two), two, grid = 6)$u), 9)
})
