# A first look: how well do three kernels see the species of iris?
# Plots go to the directory given as first argument, or to a temporary one.
library(kernelect)

out <- c(commandArgs(trailingOnly = TRUE), tempfile("kernelect-demo-"))[1]
dir.create(out, showWarnings = FALSE, recursive = TRUE)

x <- scale(as.matrix(iris[1:4]))
y <- iris$Species
kernels <- list(
  linear = linear_kernel(),
  polynomial = polynomial_kernel(degree = 2),
  rbf = rbf_kernel(sigma = "mean")
)
grams <- lapply(kernels, function(kernel) gram(x, kernel))
print(data.frame(
  alignment = vapply(grams, kernel_alignment, 0, y = y),
  separability = vapply(grams, kernel_separability, 0, y = y)
), digits = 3)

file <- file.path(out, "gram.png")
png(file, width = 600, height = 600)
image(
  grams$rbf[, rev(seq_len(nrow(x)))],
  col = hcl.colors(64, "viridis"), axes = FALSE, asp = 1,
  main = "RBF kernel on iris, rows ordered by species"
)
invisible(dev.off())
cat("\nplot written to", normalizePath(file), "\n")
