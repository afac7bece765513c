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
  draw(function(...) seen <<- list(...), list(x = 1:2, col = "black", lty = 1), lty = 2, lwd = 2)
  expect_identical(seen, list(x = 1:2, col = "black", lty = 2, lwd = 2))
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

test_that("classes are drawn in as many colours, those of the legend", {
  points <- cbind(u = 1:6, v = 6:1)
  seen <- plot_colours(plot_groups(points, rep(c("a", "b", "c"), 2)))
  expect_words(pdf_colour(palette_classes[1:3]), seen)
  expect_false(pdf_colour(palette_classes[4]) %in% seen)
})

test_that("at most six kernels are named on a path", {
  fit <- kernel_fusion(y ~ ., simulate_fusion(20, seed = 1), noise = 0)
  size <- sort(fit$weights * fit$mean_diagonal, decreasing = TRUE)
  expect_gt(sum(size > 0), 6)
  expect_setequal(intersect(plot_words(plot(fit)), names(size)), names(size)[1:6])
  expect_setequal(intersect(plot_words(plot(fit, n = 3)), names(size)), names(size)[1:3])
})

test_that("titles and labels of bases tell the path's own numbers", {
  basis <- kernel_basis(iris[1:4], size = 12)
  words <- plot_words(plot(basis))
  reached <- floor(1000 * basis$path$fitness[12]) / 1000
  expect_words(c(sprintf("12 of 150 rows reach fitness %.3f", reached), "rows picked", "share of the whole"), words)
  expect_words(sprintf("12 rows leave %.2g of the trace", basis$path$trace[12]), plot_words(plot(basis, log = "y")))
  whole <- kernel_basis(diag(4), linear_kernel(), scale = FALSE, method = "cholesky", tol = 0)
  expect_words("4 rows leave nothing of the trace", plot_words(plot(whole, log = "y")))
})

test_that("a short logarithmic axis has numbers, a long one powers of ten", {
  words <- plot_words(plot(kernel_basis(iris[1:4], size = 4), log = "y"))
  expect_gte(sum(grepl("^0[.][0-9]+$", words)), 2L)
  words <- plot_words(plot(kernel_basis(iris[1:4], linear_kernel(), size = 4, method = "cholesky", tol = 0), log = "y"))
  expect_false(any(grepl("^0[.]", words)))
})

test_that("every plot takes titles and labels, and leaves its coordinates for additions", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(5, 4, 4, 3))
  before <- graphics::par(no.readonly = TRUE)
  circles <- simulate_circles(60, seed = 1)
  lm <- kernel_lm(mpg ~ ., mtcars)
  takes <- kernel_takes(Species ~ ., iris)
  fused <- kernel_fusion(y ~ ., simulate_fusion(20, seed = 1))
  rank <- kernel_rank(iris[1:4], iris$Species)
  plots <- list(
    basis = function(...) plot(kernel_basis(iris[1:4], size = 5), ...), pca = function(...) plot(kernel_pca(iris[1:4]), ...),
    variance = function(...) plot(kernel_pca(iris[1:4]), type = "variance", ...), lm = function(...) plot(lm, ...),
    loo = function(...) plot(lm, type = "loo", ...), lda = function(...) plot(kernel_lda(Species ~ ., iris), ...),
    two = function(...) plot(kernel_lda(y ~ ., circles), ...), scores = function(...) plot(takes, type = "scores", ...),
    tune = function(...) plot(kernel_tune(mpg ~ ., mtcars, folds = 3, grid = list(size = 2:3)), ...),
    boundary = function(...) plot_boundary(kernel_lda(y ~ ., circles), circles, grid = 5, ...),
    confusion = function(...) plot(kernel_lm(Species ~ ., iris), ...), takes = function(...) plot(takes, ...),
    path = function(...) plot(fused, ...), weights = function(...) plot(fused, type = "weights", ...),
    rank = function(...) plot(rank, ...), search = function(...) plot(rank, type = "path", ...)
  )
  own_margins <- c("confusion", "takes", "path", "weights", "rank")
  for (name in names(plots)) {
    expect_true(all(c("mine", "across", "up") %in% plot_words(plots[[name]](main = "mine", xlab = "across", ylab = "up"))), info = name)
    if (name %in% own_margins) next
    plots[[name]](panel.first = inside <- graphics::par("plt"))
    expect_identical(graphics::par("plt"), inside, info = name)
    expect_identical(graphics::par(no.readonly = TRUE)[c("mar", "las", "mgp")], before[c("mar", "las", "mgp")], info = name)
  }
})

test_that("long names keep both ends, long titles shrink to the figure", {
  long <- paste0("a_rather_long_column_name_", 1:12)
  expect_identical(shorten(c("short", long[12]), 12), c("short", "a_rathe.._12"))
  expect_identical(nchar(shorten(long, 20)), rep(20L, 12))
  expect_identical(anyDuplicated(shorten(long, 20)), 0L)
  grDevices::pdf(NULL, width = 4, height = 4)
  on.exit(grDevices::dev.off())
  x <- stats::setNames(iris[1:4], long[1:4])
  expect_identical(plot(kernel_rank(x, iris$Species))$name, long[kernel_rank(x, iris$Species)$ranking])
  title_size <- function(title) {
    lines <- plot_lines(draw(graphics::plot, list(x = 1, y = 1, main = title)))
    drawn <- grep(title, lines, value = TRUE, fixed = TRUE, useBytes = TRUE)
    as.numeric(sub(".* Tf ([0-9.]+) .*", "\\1", drawn, useBytes = TRUE))
  }
  expect_lt(title_size(strrep("word ", 40)), title_size("word"))
})

test_that("a title can be styled or left out", {
  fit <- kernel_basis(iris[1:4], size = 5)
  expect_words(pdf_colour("#FF0000"), plot_colours(plot(fit, col.main = "#FF0000")))
  words <- plot_words(plot(fit, ann = FALSE))
  expect_false(any(grepl("rows", words)))
  expect_false(any(grepl("fitness 0", plot_words(plot(fit, main = NULL)))))
  expect_identical(c(upright(c(NA, Inf)), upright(c(0, 1)), upright(c(0, 1e6))), c(1, 1, 0))
})

test_that("a legend stands where it covers the fewest points", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot(0:1, 0:1)
  usr <- graphics::par("usr")
  box <- function(x, y) add_legend(x, y, c("a", "b"), pch = 1:2)$rect
  expect_gt(box(0, 0)$left, 0.5)
  expect_lt(box(1, 1)$left, 0.5)
  expect_lt(box(c(0, 1), c(1, 1))$top, 0.5)
  expect_lte(box(c(0, 1, 1), c(1, 1, 0))$left + 0.5, usr[2])
})

test_that("titles and labels of components tell shares of the total", {
  pca <- kernel_pca(iris[1:4], rbf_kernel(2), ncomp = 3)
  share <- round(100 * pca$values / pca$total, 1)
  words <- plot_words(plot(pca, components = c(1, 3)))
  expect_words(c(paste("Components 1 and 3 hold", format(sum(share[c(1, 3)])), "% of the variance"),
              paste0("component 1 (", format(share[1]), " %)"), paste0("component 3 (", format(share[3]), " %)")), words)
  one <- kernel_pca(iris[1:4], rbf_kernel(2), ncomp = 1)
  expect_words(c(paste("The component holds", format(share[1]), "% of the variance"), "row"), plot_words(plot(one)))
  expect_words(sprintf("3 components hold %.0f %% of the variance", 100 * sum(pca$values) / pca$total),
            plot_words(plot(pca, type = "variance")))
  linear <- kernel_pca(iris[1:4], linear_kernel(), scale = FALSE)
  expect_gt(linear$values[1] / linear$total, 0.9)
  expect_words(sprintf("1 component holds %.0f %% of the variance", 100 * linear$values[1] / linear$total), plot_words(plot(linear, type = "variance")))
  scaled <- kernel_pca(iris[1:4], linear_kernel())
  expect_words(sprintf("2 components hold %.0f %% of the variance", 100 * sum(scaled$values[1:2]) / scaled$total), plot_words(plot(scaled, type = "variance")))
})

test_that("titles and labels of models tell the model's own numbers", {
  reg <- kernel_lm(mpg ~ wt + hp, mtcars, size = 6)
  explained <- 1 - sum(residuals(reg)^2) / sum((mtcars$mpg - mean(mtcars$mpg))^2)
  expect_words(c(sprintf("The fit explains %.1f %% of the variance", 100 * explained), "fitted", "observed"), plot_words(plot(reg)))
  expect_words(c(sprintf("Least leave-one-out error at size %d; the model has 6", which.min(reg$loo$error)),
              "leave-one-out mean squared error"), plot_words(plot(reg, type = "loo")))
  classes <- kernel_lm(iris[1:4], iris$Species, size = 5)
  wrong <- mean(predict(classes, iris[1:4]) != iris$Species)
  words <- plot_words(plot(classes))
  expect_words(c(sprintf("%.1f %% of the training rows are misclassified", 100 * wrong), levels(iris$Species)), words)
  counts <- table(iris$Species, predict(classes, iris[1:4]))
  expect_identical(sort(as.integer(grep("^[0-9]+$", words, value = TRUE))), sort(as.integer(counts)))
  expect_words("leave-one-out error rate", plot_words(plot(classes, type = "loo")))
  lda <- kernel_lda(iris[1:4], iris$Species, size = 6)
  expect_words(c(sprintf("Classes make up %.0f and %.0f %% of the inertia on axes 2 and 1", 100 * lda$values[2], 100 * lda$values[1]),
              "discriminant axis 2", "discriminant axis 1"), plot_words(plot(lda, axes = 2:1)))
  two <- kernel_lda(factor(am) ~ mpg + wt, mtcars, size = 4)
  wrong <- mean(predict(two, mtcars) != mtcars$am)
  expect_words(sprintf("Classes make up %.0f %% of the inertia; %.1f %% of rows misclassified", 100 * two$values, 100 * wrong),
            plot_words(plot(two)))
})

test_that("titles and labels of rankings, fusions and tuning tell their numbers", {
  fit <- kernel_rank(iris[1:4], iris$Species, resample = 3, n = 2)
  best <- names(fit$score)[fit$ranking]
  expect_words(c(paste(best[1], "and", best[2], "matter most"), best, "scale factor"),
            sub(", [0-9]+ of 4 do not$", "", plot_words(plot(fit, type = "score"))))
  expect_words(best[1], plot_words(plot(fit, type = "score", n = 1)))
  expect_words(paste(best[1], "matters most"), sub(", [0-9]+ of 4 do not$", "", plot_words(plot(fit, type = "score", n = 1))))
  sure <- sum(fit$frequency >= 0.9)
  expect_words(c(paste0(sure, " column", if (sure > 1) "s", " among the best 2 in at least 90% of resamples"),
              "share of resamples in the best 2"), plot_words(plot(fit)))
  path <- fit$path
  expect_gt(path$value[nrow(path)], path$value[1])
  expect_words(c(paste("Alignment rose to", format(path$value[nrow(path)], digits = 3), "in", max(path$iteration), "steps"),
              "alignment", "iteration"), plot_words(plot(fit, type = "path")))
  rfe <- kernel_rank(iris[51:150, 1:4], droplevels(iris$Species[51:150]), method = "rfe")
  expect_words("step", plot_words(plot(rfe, type = "path")))
  fused <- kernel_fusion(iris[1:4], iris$Species)
  size <- fused$weights * fused$mean_diagonal
  expect_words(c(sprintf("%d of 4 kernels keep a weight", sum(size > 0)), names(size)[size > 0]), plot_words(plot(fused)))
  expect_words(c(sprintf("%s carries %.0f%% of the fused kernel", names(which.max(size)), 100 * max(size) / sum(size)), names(size)),
            plot_words(plot(fused, type = "weights")))
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = list(size = c(3, 6)), folds = 3)
  expect_words(c(sprintf("Least error %s at size %s", format(min(tuned$results$error), digits = 3), tuned$best$size),
              "cross-validated error rate"), plot_words(plot(tuned)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(tuned)
  expect_lte(graphics::par("usr")[3], min(tuned$results$error - tuned$results$se))
  expect_gte(graphics::par("usr")[4], max(tuned$results$error + tuned$results$se))
})

test_that("titles and labels of kernel_takes() and of boundaries tell errors counted anew", {
  fit <- kernel_takes(Species ~ ., iris, size = "loo")
  loo <- 100 * reference_takes_loo(fit$scores, fit$y)[fit$size]
  words <- plot_words(plot(fit))
  expect_words(c(sprintf("%d of %d directions kept: 1-NN errs on %.3g %% (leave one out)", fit$size, length(fit$weights), loo),
              "directions, in order of selection", "error in %", "1-NN, leave one out", "weight "), words)
  expect_false("/" %in% words)
  loo <- 100 * reference_takes_loo(fit$scores[, 1:2], fit$y)
  expect_words(c(sprintf("The best two directions: 1-NN errs on %.3g %% (leave one out)", loo[2]),
              paste("direction", fit$directions[1:2])), plot_words(plot(fit, "scores")))
  expect_words(sprintf("The best direction: 1-NN errs on %.3g %% (leave one out)", loo[1]), plot_words(plot(head(fit, 1), "scores")))
  vote <- kernel_takes(Species ~ ., iris)
  least <- which.min(vote$path$error)
  expect_words(sprintf("The vote errs least, on %.3g %%, with %d of %d directions", 100 * vote$path$error[least], least, length(vote$weights)),
            plot_words(plot(vote)))
  d <- simulate_circles(60, seed = 2)
  lda <- kernel_lda(y ~ ., d)
  expect_words(c(sprintf("%d of 60 rows on their side of the boundary", sum(predict(lda, d) == d$y)), "x1", "x2", levels(d$y)),
            plot_words(plot_boundary(lda, d, grid = 6)))
  expect_words("Classes assigned", plot_words(plot_boundary(lda, d[1:2], grid = 6)))
  heights <- jitter_rows(factor(c("a", "b", "b")))
  expect_true(all(abs(heights - c(1, 2, 2)) <= 0.15))
  expect_identical(anyDuplicated(heights), 0L)
})

test_that("weights that do not move, and responses without names, are drawn all the same", {
  preset <- kernel_fusion(iris[2:4], iris$Sepal.Length, adaptive = FALSE)
  expect_words("3 of 3 kernels keep a weight", plot_words(plot(preset, type = "path")))
  expect_words("weight x mean diagonal", plot_words(plot(preset)))
  both <- kernel_lm(iris[3:4], unname(as.matrix(iris[1:2])))
  expect_words(c("y1", "y2"), plot_words(plot(both)))
})

test_that("names of classes are turned where they would not fit side by side", {
  names <- function(classes, letters) {
    level <- sprintf(paste0("%0", letters, "d"), seq_len(classes))
    confusion <- table(class = level, fitted = level)
    lines <- plot_lines(plot_confusion(confusion, "all right"))
    upright <- grep("^/F2 1 Tf 0[.]00 [0-9.]+ -[0-9.]+ 0[.]00 .*Tj", lines, value = TRUE)
    sum(vapply(level, function(l) any(grepl(paste0("(", l, ")"), upright, fixed = TRUE)), NA))
  }
  expect_identical(names(5, 10), 0L)
  expect_identical(names(5, 11), 5L)
})

test_that("counts are white on dark cells only", {
  half <- matrix(1, 2, 2, dimnames = list(class = c("a", "b"), fitted = c("a", "b")))
  white <- function(confusion) {
    lines <- plot_lines(plot_confusion(confusion, "halves"))
    text <- grep("Tj", lines)
    sum(grepl("1.000 1.000 1.000 scn", lines[text - 1L], fixed = TRUE) | grepl("1.000 1.000 1.000 scn", lines[text], fixed = TRUE))
  }
  expect_identical(white(half), 0L)
  expect_gt(white(half + diag(2)), 0)
})

test_that("labels at the end of paths keep a line between them and stay inside", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(1, 1, log = "y", ylim = c(1e-3, 1))
  top <- graphics::par("usr")[4]
  at <- log10(spread_labels(c(1, 1, 1, 1e-2)))
  expect_equal(max(at), top)
  line <- graphics::par("cin")[2] / graphics::par("pin")[2] * diff(graphics::par("usr")[3:4])
  expect_equal(diff(at), c(0.8, 0.8, (-2 - 0 - 2 * 0.8 * line) / line) * line, tolerance = 1e-6)
})

test_that("a title is made smaller where it does not fit, never larger", {
  size <- function(title) {
    line <- grep("Tj", plot_lines(draw(graphics::plot.default, list(x = 1, y = 1, main = title))), value = TRUE)
    line <- line[grepl(substr(title, 1, 5), line, fixed = TRUE)]
    as.numeric(sub("^/F. 1 Tf ([0-9.]+) .*", "\\1", line))
  }
  whole <- size("short")
  expect_identical(size("title"), whole)
  expect_lt(size(strrep("long title ", 20)), whole / 2)
})
