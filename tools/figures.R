# The pictures of the README: Rscript tools/figures.R writes them to man/figures/.
library(kernelect)

picture <- function(name, draw) {
  grDevices::png(file.path("man", "figures", paste0(name, ".png")), width = 1000, height = 720,
    res = 190)
  graphics::par(mar = c(4.1, 4.1, 2.6, 1.1))
  draw()
  invisible(grDevices::dev.off())
}

circles <- simulate_circles(300, seed = 1, radius = c(1, 0.6), sd = 0.15)
picture("rows", function() plot(kernel_basis(~ x1 + x2, circles)))
fit <- kernel_lm(y ~ x1 + x2, circles)
picture("boundary", function() plot_boundary(fit, circles))
picture("columns", function() {
  plot(kernel_rank(y ~ ., simulate_weston(100, seed = 1, type = "nonlinear"), method = "sas"),
    n = 12)
})
picture("kernels",
  function() plot(kernel_fusion(y ~ ., simulate_fusion(60, seed = 1, columns = 30))))
picture("directions", function() plot(kernel_takes(iris[1:4], iris$Species)))
