# The main job in under a minute: rank columns, pick a basis, fit and tune a model, fuse kernels,
# weigh directions; tables on the screen, plots and an HTML report in the directory given as first
# argument (default: a temporary one).
library(kernelect)

out <- c(commandArgs(trailingOnly = TRUE), tempfile("kernelect-demo-"))[1]
dir.create(out, showWarnings = FALSE, recursive = TRUE)
steps <- 5
bar <- utils::txtProgressBar(0, steps, style = 3)
done <- function(i) utils::setTxtProgressBar(bar, i)
r <- list(problem = list(
  rank = paste(
    "100 rows, 52 columns, two of which decide the class: no line separates it, and the second helps only beside the first.", # nolint: line_length_linter.
    "Scale factors learned by kernel alignment find them."
  ),
  basis = "300 rows on two noisy circles. How many of them span the rest?",
  model = "Kernel width and size by cross-validation; the boundary is what the model learned.",
  fusion = "60 rows, 30 columns, two of which carry the response; each column is a kernel with a weight.", # nolint: line_length_linter.
  takes = "Directions of the kernel space weighed by how well they tell the classes apart."
))

toy <- simulate_weston(100, seed = 1, type = "nonlinear")
r$ranking <- kernel_rank(y ~ ., toy, method = "sas")
best <- head(r$ranking$ranking, 5)
r$rank_table <- data.frame(column = names(toy)[best],
  scale_factor = unname(r$ranking$weights[best]))
done(1)

r$circles <- simulate_circles(300, seed = 1, radius = c(1, 0.6), sd = 0.15)
test <- simulate_circles(2000, seed = 2, radius = c(1, 0.6), sd = 0.15)
r$basis <- kernel_basis(~ x1 + x2, r$circles)
done(2)

r$tuned <- kernel_tune(y ~ x1 + x2, r$circles, folds = 5)
discriminant <- kernel_lda(y ~ x1 + x2, r$circles, size = 15, tol = 0)
done(3)

few <- simulate_fusion(60, seed = 1, columns = 30)
r$fused <- kernel_fusion(y ~ ., few)
kept <- which(r$fused$active)
r$fusion_table <-
  data.frame(column = names(r$fused$weights)[kept], weight = unname(r$fused$weights[kept]))
done(4)

r$takes <- kernel_takes(y ~ x1 + x2, r$circles)
error <- function(fit) mean(predict(fit, test) != test$y)
r$model_table <- data.frame(
  model = c("kernel_lm, tuned", "kernel_lda, 15 rows", "kernel_takes"),
  error_on_2000_new_rows = c(error(r$tuned$model), error(discriminant), error(r$takes))
)
done(5)
close(bar)

cat("\nThe five best of 52 columns\n")
print(r$rank_table, row.names = FALSE, digits = 3)
cat("\n", length(r$basis$index), " of 300 rows span the kernel space\n", sep = "")
cat("\nTwo circles\n")
print(r$model_table, row.names = FALSE, digits = 3)
cat("\nColumns that survived fusion\n")
print(r$fusion_table, row.names = FALSE, digits = 3)

save_plot <- function(name, draw) {
  file <- file.path(out, paste0(name, ".png"))
  grDevices::png(file, width = 1500, height = 1000, res = 220)
  on.exit(grDevices::dev.off())
  draw()
  file
}
files <- c(
  save_plot("ranking", function() plot(r$ranking)),
  save_plot("basis", function() plot(r$basis)),
  save_plot("boundary", function() plot_boundary(r$tuned$model, r$circles)),
  save_plot("fusion", function() plot(r$fused)),
  save_plot("takes", function() plot(r$takes))
)
cat("\nplots:  ", paste(basename(files), collapse = ", "), " in ", normalizePath(out), "\n",
  sep = "")

if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) {
  source <- file.path(tempdir(), "report.Rmd")
  file.copy(system.file("report", "report.Rmd", package = "kernelect"), source, overwrite = TRUE)
  # the report is no vignette, it looks like one
  old <- options(rmarkdown.html_vignette.check_title = FALSE)
  report <- rmarkdown::render(source, output_dir = out, params = list(results = r), quiet = TRUE)
  options(old)
  cat("report: ", normalizePath(report), "\n", sep = "")
} else {
  cat("report: not written (it needs the rmarkdown package and pandoc)\n")
}
