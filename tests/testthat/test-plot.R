test_that("beyond eight classes colours are still all different", {
  expect_identical(class_colours(8), palette_classes)
  expect_identical(class_colours(3), palette_classes[1:3])
  expect_identical(anyDuplicated(class_colours(12)), 0L)
  expect_length(class_colours(12), 12)
})

test_that("what is drawn cannot be replaced, how it is drawn can", {
  fit <- kernel_pca(iris[1:4], ncomp = 2)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_error(plot(fit, y = 1:150), "`y`", class = "kernelect_error_dots")
  seen <- NULL
  draw(function(...) seen <<- list(...), list(x = 1:2, col = "black", main = "ours"), main = "yours", lwd = 2)
  expect_identical(seen, list(x = 1:2, col = "black", main = "yours", lwd = 2))
})

test_that("margins are put back when the drawing function ends", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  before <- graphics::par("mar", "las")
  inside <- (function() {
    local_par(mar = c(1, 2, 3, 4))
    graphics::par("mar", "las")
  })()
  expect_identical(inside, list(mar = c(1, 2, 3, 4), las = 1L))
  expect_identical(graphics::par("mar", "las"), before)
})

test_that("points by class come back with their class", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  points <- cbind(u = 1:3, v = 4:6)
  expect_identical(plot_groups(points), data.frame(points))
  expect_identical(plot_groups(points, c("b", "a", "b")), data.frame(points, class = factor(c("b", "a", "b"))))
  expect_error(plot_groups(points, c("a", "b")), class = "kernelect_error_argument")
})
