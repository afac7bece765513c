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
  for (plots in list(
    function(...) plot(fit, ...), function(...) plot(kernel_basis(iris[1:4], size = 3), ...),
    function(...) plot(kernel_lm(Species ~ ., iris, size = 5), ...),
    function(...) plot(kernel_fusion(mpg ~ ., mtcars), ...),
    function(...) plot(kernel_fusion(mpg ~ ., mtcars), type = "weights", ...),
    function(...) plot_effect(kernel_lm(mpg ~ wt + hp, mtcars), mtcars, c("wt", "hp"), ...),
    function(...) plot_effect(kernel_lm(mpg ~ wt + hp, mtcars), mtcars, ...)
  )) {
    expect_error(plots(colour = 2), "Unknown argument: `colour`", class = "kernelect_error_dots")
    expect_silent(plots(col.axis = "grey30", sub = "below"))
  }
  expect_error(plot(fit, cexmain = 2), "Did you mean `cex.main`", class = "kernelect_error_dots")
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
  expect_identical(plot_groups(points, c("b", "a", "b")),
    data.frame(points, class = factor(c("b", "a", "b"))))
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
  expect_words(c(sprintf("12 of 150 rows reach fitness %.3f", reached), "rows picked",
    "share of the whole"), words)
  expect_words(sprintf("12 rows leave %.2g of the trace", basis$path$trace[12]),
    plot_words(plot(basis, log = "y")))
  whole <- kernel_basis(diag(4), linear_kernel(), scale = FALSE, method = "cholesky", tol = 0)
  expect_words("4 rows leave nothing of the trace", plot_words(plot(whole, log = "y")))
})

test_that("a short logarithmic axis has numbers, a long one powers of ten", {
  words <- plot_words(plot(kernel_basis(iris[1:4], size = 4), log = "y"))
  expect_gte(sum(grepl("^0[.][0-9]+$", words)), 2L)
  words <- plot_words(
    plot(kernel_basis(iris[1:4], linear_kernel(), size = 4, method = "cholesky", tol = 0),
      log = "y"))
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
    basis = function(...) plot(kernel_basis(iris[1:4], size = 5), ...),
    pca = function(...) plot(kernel_pca(iris[1:4]), ...),
    variance = function(...) plot(kernel_pca(iris[1:4]), type = "variance", ...),
    lm = function(...) plot(lm, ...),
    loo = function(...) plot(lm, type = "loo", ...),
    lda = function(...) plot(kernel_lda(Species ~ ., iris), ...),
    two = function(...) plot(kernel_lda(y ~ ., circles), ...),
    scores = function(...) plot(takes, type = "scores", ...),
    tune = function(...) plot(kernel_tune(mpg ~ ., mtcars, folds = 3, grid = list(size = 2:3)),
      ...),
    boundary = function(...) plot_boundary(kernel_lda(y ~ ., circles), circles, grid = 5, ...),
    confusion = function(...) plot(kernel_lm(Species ~ ., iris), ...),
    takes = function(...) plot(takes, ...),
    path = function(...) plot(fused, ...),
    weights = function(...) plot(fused, type = "weights", ...),
    rank = function(...) plot(rank, ...), search = function(...) plot(rank, type = "path", ...)
  )
  own_margins <- c("confusion", "takes", "path", "weights", "rank")
  for (name in names(plots)) {
    expect_true(all(
      c("mine", "across",
        "up") %in% plot_words(plots[[name]](main = "mine", xlab = "across", ylab = "up"))),
          info = name)
    if (name %in% own_margins) next
    plots[[name]](panel.first = inside <- graphics::par("plt"))
    expect_identical(graphics::par("plt"), inside, info = name)
    expect_identical(graphics::par(no.readonly = TRUE)[c("mar", "las", "mgp")],
      before[c("mar", "las", "mgp")], info = name)
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
  expect_identical(plot(kernel_rank(x, iris$Species))$name,
    long[kernel_rank(x, iris$Species)$ranking])
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
})

test_that("a key stands above the plot in rows that fit, else in room made for it at the right", {
  key <- function(labels, width = 7, ...) {
    points <- cbind(seq_len(40), rep(1:8, 5))
    classes <- factor(rep_len(labels, 40), labels)
    d <- drawing(plot_groups(points, classes, list(xlab = "u", ylab = "v", main = "title"), ...),
                 width = width)
    expect_on_page(d)
    list(text = text_of(d, labels), marks = legend_marks(d, labels), frame = d$frame, d = d)
  }
  few <- key(c("a", "b", "c"))
  expect_true(all(few$text$y > few$frame[4]))
  expect_equal(few$d$usr[1:2], c(1, 40) + c(-0.04, 0.04) * 39)
  # the title is above the key
  expect_gt(text_of(few$d, "title")$y, max(few$text$y) + 8)
  # in rows of equal columns, none of which touches the next, and the axis is not widened
  for (width in c(4, 5, 7)) for (labels in list(sprintf("class number %d", 1:8), LETTERS)) {
    rows <- key(labels, width)
    expect_true(all(rows$text$y > rows$frame[4]))
    expect_identical(rows$d$usr[1:2], few$d$usr[1:2])
    heights <- sort(unique(round(rows$text$y, 1)))
    expect_gt(length(heights), 1)
    expect_gt(min(diff(heights)), max(rows$text$size) - 1)
    expect_gt(text_of(rows$d, "title")$y, max(heights) + 0.9 * max(rows$text$size))
    for (row in split(rows$text, round(rows$text$y, 1))) {
      expect_gt(min(diff(row$start_x) - row$width[-nrow(row)]), 5)
    }
    expect_gt(min(rows$text$size), 7)
  }
  # a margin without room for rows
  grDevices::pdf(NULL)
  graphics::par(mar = c(5, 4, 2, 2))
  expect_identical(key_layout(letters[1:3])$rows, 1)
  expect_null(key_layout(letters))
  grDevices::dev.off()
  many <- key(sprintf("a class of number %d", 1:24))
  points <- data_marks(many$d, many$text$text)
  expect_gt(min(many$marks$x), max(points$x))
  expect_true(all(many$text$y < many$frame[4] & many$text$y > many$frame[3]))
  expect_gt(many$d$usr[2], 45)
  # a small picture has small letters, all of them inside
  small <- key(sprintf("a class of number %d", 1:24), width = 4)
  points <- data_marks(small$d, small$text$text)
  expect_gt(min(small$marks$x), max(points$x))
  expect_lt(small$text$size[1], many$text$size[1])
  expect_true(all(small$text$y > small$frame[3]))
})

test_that("a key that must stand above the plot is made as small as it takes", {
  fit <- kernel_takes(Species ~ ., iris, size = "loo")
  labels <- c("vote, training rows", "1-NN, leave one out")
  for (width in c(2.5, 3.5, 7)) for (top in c(2, 4)) {
    d <- drawing({
      graphics::par(mar = c(5, 4, top, 2))
      plot(fit)
    }, width = width)
    key <- text_of(d, labels)
    expect_true(all(key$y > d$frame[4]))
    expect_gte(min(key$start_x), 0)
    expect_lte(max(key$start_x + key$width), d$page[1])
    rows <- length(unique(round(key$y)))
    expect_identical(rows, if (width < 5 && top == 4) 2L else 1L)
    title <- d$text[grepl("directions kept", d$text$text), ]
    expect_gt(title$y, max(key$y) + 5)
  }
})

test_that("a key does not widen a logarithmic axis, nor are there ticks beyond what is tuned", {
  kernels <- list(rbf_kernel(1), rbf_kernel(2), laplace_kernel(1), laplace_kernel(2),
    linear_kernel(), polynomial_kernel(2))
  tuned <- kernel_tune(Species ~ ., iris, folds = 2,
    grid = list(kernel = kernels, ridge = 10^(-4:2)))
  for (width in c(4, 7)) {
    d <- drawing(plot(tuned), width = width)
    expect_on_page(d)
    expect_lt(d$usr[2], 2.5)
    expect_true(all(text_of(d, line_names(unique(tuned$results$kernel)))$y > d$frame[4]))
  }
  # no room above: the key is in the plot, at its right
  d <- drawing({
    graphics::par(mar = c(5, 4, 1, 1))
    plot(tuned)
  })
  expect_gt(d$usr[2], 3)
  powers <- d$text[d$text$size == 8 & d$text$y < d$frame[3] & grepl("^[0-9]+$", d$text$text), ]
  expect_lt(max(powers$u), 1e3)
})

test_that("ticks of logarithmic axes are whole decades, within a decade plain numbers", {
  at <- function(...) log_ticks(c(...))$at
  expect_equal(at(0.5, 2000), c(1, 10, 100, 1000))
  expect_identical(log_ticks(c(0.5, 2000))$labels, c("1", "10", "100", "1000"))
  expect_equal(at(1e-12, 1), 10^seq(-12, 0, by = 2))
  expect_identical(as.character(log_ticks(c(1e-12, 1))$labels)[1], "10^-12")
  expect_equal(at(1.5, 30), c(2, 5, 10, 20))
  expect_equal(at(0.1, 1), c(0.1, 1))
  expect_gte(length(at(3, 4)), 2)
  # a decade at the very edge counts in spite of rounding
  expect_true(1e-3 %in% at(10^log10(1e-3), 5))
  expect_equal(at(1 + 1e-10, 1000 - 1e-7), c(1, 10, 100, 1000))
  expect_equal(at(1 + 1e-8, 1000 - 1e-5), c(10, 100))
  expect_equal(at(2 + 1e-9, 20 - 1e-8), c(2, 5, 10, 20))
  expect_equal(at(2 + 1e-8, 20 - 1e-7), c(5, 10))
})

test_that("every tick of a logarithmic axis has its label, those outside too", {
  expect_identical(log_labels(c(NA, 0.1, 10)), c("NA", "0.1", "10"))
  expect_identical(log_labels(c(2, 50)), c("2", "50"))
  expect_identical(as.character(log_labels(10^c(-6, NA, -4))), c("10^-6", "10^NA", "10^-4"))
})

test_that("a legend beside points that are all equal has room of its own", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(1:2)
  labels <- strrep(letters[1:9], 40)
  share <- most_for_key
  expect_equal(limits_with_key(c(5, 5), labels), c(5, 5 + 1e-3 * 5 * share / (1 - share)))
  expect_equal(limits_with_key(c(4, 5), labels), c(4, 5 + share / (1 - share)))
})

test_that("numbers as groups get a scale of colours and its ends", {
  pca <- kernel_pca(iris[1:4], ncomp = 2)
  d <- drawing(shown <- plot(pca, classes = iris$Sepal.Length))
  expect_identical(shown$class, iris$Sepal.Length)
  inside <- d$marks$y < d$frame[4]
  expect_identical(d$marks$colour[inside], number_colours(iris$Sepal.Length))
  expect_words(format(range(iris$Sepal.Length)), d$text$text)
  # the strip goes through the same colours, from least to largest, above the plot
  strip <- d$marks[!inside, ]
  expect_identical(strip$colour[order(strip$x)], number_colours(1:64))
  expect_identical(number_colours(c(2, 2)), rep(number_colours(1:64)[1], 2))
  expect_identical(number_colours(c(1, NA, 2))[2], NA_character_)
})

test_that("titles and labels of components tell shares of the total", {
  pca <- kernel_pca(iris[1:4], rbf_kernel(2), ncomp = 3)
  share <- round(100 * pca$values / pca$total, 1)
  words <- plot_words(plot(pca, components = c(1, 3)))
  expect_words(c(paste("Components 1 and 3 hold", format(sum(share[c(1, 3)])), "% of the variance"),
              paste0("component 1 (", format(share[1]), " %)"),
              paste0("component 3 (", format(share[3]), " %)")), words)
  one <- kernel_pca(iris[1:4], rbf_kernel(2), ncomp = 1)
  expect_words(c(paste("The component holds", format(share[1]), "% of the variance"), "row"),
    plot_words(plot(one)))
  expect_words(sprintf("3 components hold %.0f %% of the variance",
    100 * sum(pca$values) / pca$total),
            plot_words(plot(pca, type = "variance")))
  linear <- kernel_pca(iris[1:4], linear_kernel(), scale = FALSE)
  expect_gt(linear$values[1] / linear$total, 0.9)
  expect_words(sprintf("1 component holds %.0f %% of the variance",
    100 * linear$values[1] / linear$total), plot_words(plot(linear, type = "variance")))
  scaled <- kernel_pca(iris[1:4], linear_kernel())
  expect_words(sprintf("2 components hold %.0f %% of the variance",
    100 * sum(scaled$values[1:2]) / scaled$total), plot_words(plot(scaled, type = "variance")))
})

test_that("titles and labels of models tell the model's own numbers", {
  reg <- kernel_lm(mpg ~ wt + hp, mtcars, size = 6, ridge = 0)
  explained <- 1 - sum(residuals(reg)^2) / sum((mtcars$mpg - mean(mtcars$mpg))^2)
  left_out <- vapply(1:32, function(i) { # with the same basis, ridge 0
    z <- cbind(1, predict(reg$basis, mtcars))
    drop(z[i, ] %*% qr.coef(qr(z[-i, ]), mtcars$mpg[-i]))
  }, 0)
  without <- 1 - sum((mtcars$mpg - left_out)^2) / sum((mtcars$mpg - mean(mtcars$mpg))^2)
  expect_words(c(sprintf("%.1f %% of the variance explained when left out (%.1f %% when fitted)",
    100 * without, 100 * explained), "fitted", "observed"), plot_words(plot(reg)))
  expect_words(c(sprintf("Least leave-one-out loss at size %d; the model has 6",
    which.min(reg$loo$loss)),
              "leave-one-out mean squared error"), plot_words(plot(reg, type = "loo")))
  classes <- kernel_lm(iris[1:4], iris$Species, size = 5)
  wrong <- mean(predict(classes, iris[1:4]) != iris$Species)
  words <- plot_words(plot(classes))
  title <- "%.1f %% misclassified when left out (%.1f %% when fitted)"
  expect_words(c(sprintf(title, 100 * chosen_loo(classes)$error, 100 * wrong),
    levels(iris$Species)), words)
  counts <- classes$left_out_confusion
  expect_equal(1 - sum(diag(counts)) / 150, chosen_loo(classes)$error)
  expect_identical(sort(as.integer(grep("^[0-9]+$", words, value = TRUE))),
    sort(as.integer(counts)))
  expect_words("leave-one-out Brier score", plot_words(plot(classes, type = "loo")))
  lda <- kernel_lda(iris[1:4], iris$Species, size = 6)
  expect_words(c(sprintf(title, 100 * lda$left_out_error, 100 * lda$error),
    sprintf("axis %d (classes: %.0f %% of inertia)", 2:1, 100 * lda$values[2:1])),
    plot_words(plot(lda, axes = 2:1)))
  two <- kernel_lda(factor(am) ~ mpg + wt, mtcars, size = 4)
  wrong <- mean(predict(two, mtcars) != mtcars$am)
  expect_words(c(sprintf(title, 100 * two$left_out_error, 100 * wrong),
    sprintf("axis 1 (classes: %.0f %% of inertia)", 100 * two$values)), plot_words(plot(two)))
})

test_that("titles and labels of rankings, fusions and tuning tell their numbers", {
  fit <- kernel_rank(iris[1:4], iris$Species, resample = 3, n = 2)
  best <- names(fit$score)[fit$ranking]
  expect_words(c(paste(best[1], "and", best[2], "lead"), best, "scale factor"),
            sub(", [0-9]+ of 4 at zero$", "", plot_words(plot(fit, type = "score"))))
  expect_words(best[1], plot_words(plot(fit, type = "score", n = 1)))
  expect_words(paste(best[1], "leads"),
    sub(", [0-9]+ of 4 at zero$", "", plot_words(plot(fit, type = "score", n = 1))))
  sure <- sum(fit$frequency >= 0.9)
  expect_words(c(paste0(sure, " column", if (sure > 1) "s",
    " among the best 2 in at least 90% of resamples"),
              "share of resamples in the best 2"), plot_words(plot(fit)))
  path <- fit$path
  expect_gt(path$value[nrow(path)], path$value[1])
  expect_words(c(paste("Alignment rose to", format(path$value[nrow(path)], digits = 3), "in",
    max(path$iteration), "steps"),
              "alignment", "iteration"), plot_words(plot(fit, type = "path")))
  rfe <- kernel_rank(iris[51:150, 1:4], droplevels(iris$Species[51:150]), method = "rfe")
  expect_words("step", plot_words(plot(rfe, type = "path")))
  fused <- kernel_fusion(iris[1:4], iris$Species)
  size <- fused$weights * fused$mean_diagonal
  expect_words(c(sprintf("%d of 4 kernels keep a weight", sum(size > 0)), names(size)[size > 0]),
    plot_words(plot(fused)))
  expect_words(c(sprintf("%s carries %.0f%% of the fused kernel", names(which.max(size)),
    100 * max(size) / sum(size)), names(size)),
            plot_words(plot(fused, type = "weights")))
  tuned <- kernel_tune(iris[1:4], iris$Species, grid = list(size = c(3, 6)), folds = 3)
  expect_words(c(sprintf("Least error %s at size %s", format(min(tuned$results$error), digits = 3),
    tuned$best$size),
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
  expect_words(c(sprintf("%d of %d directions kept: 1-NN errs on %.3g %% (leave one out)", fit$size,
    length(fit$weights), loo),
              "directions, in order of selection", "error in %", "1-NN, leave one out", "weight "),
                words)
  expect_false("/" %in% words)
  loo <- 100 * reference_takes_loo(fit$scores[, 1:2], fit$y)
  expect_words(c(sprintf("The best two directions: 1-NN errs on %.3g %% (leave one out)", loo[2]),
              paste("direction", fit$directions[1:2])), plot_words(plot(fit, "scores")))
  expect_words(sprintf("The best direction: 1-NN errs on %.3g %% (leave one out)", loo[1]),
    plot_words(plot(head(fit, 1), "scores")))
  vote <- kernel_takes(Species ~ ., iris)
  expect_words(sprintf("%d of %d directions kept: 1-NN errs on %.3g %% (leave one out)", vote$size,
    length(vote$weights), 100 * vote$left_out_error), plot_words(plot(vote)))
  d <- simulate_circles(60, seed = 2)
  lda <- kernel_lda(y ~ ., d)
  left_out <- sprintf("%.1f %% misclassified when left out", 100 * lda$left_out_error)
  expect_words(c(sprintf("%s; %d of 60 rows on the wrong side", left_out,
    sum(predict(lda, d) != d$y)), "x1", "x2", levels(d$y)),
            plot_words(plot_boundary(lda, d, grid = 6)))
  expect_words(left_out, plot_words(plot_boundary(lda, d[1:2], grid = 6)))
  heights <- jitter_rows(factor(c("a", "b", "b")))
  expect_true(all(abs(heights - c(1, 2, 2)) <= 0.15))
  expect_identical(anyDuplicated(heights), 0L)
})

test_that("weights that do not move, and responses without names, are drawn all the same", {
  preset <- kernel_fusion(iris[2:4], iris$Sepal.Length, adaptive = FALSE)
  d <- drawing(plot(preset, type = "path"))
  expect_words("3 of 3 kernels keep a weight", d$text$text)
  limits <- log10(range(preset$weights * preset$mean_diagonal) * c(0.5, 2))
  expect_equal(d$usr[3:4], limits + c(-0.04, 0.04) * diff(limits))
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
    sum(grepl("1.000 1.000 1.000 scn", lines[text - 1L],
      fixed = TRUE) | grepl("1.000 1.000 1.000 scn", lines[text], fixed = TRUE))
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
  # with four plots a page letters are smaller
  graphics::par(mfrow = c(2, 2))
  plot(1, 1, log = "y", ylim = c(1e-3, 1))
  line <- graphics::par("cin")[2] * 0.83 / graphics::par("pin")[2] * diff(graphics::par("usr")[3:4])
  expect_equal(diff(log10(spread_labels(c(1, 1)))), 0.8 * line)
})

test_that("a title is made smaller where it does not fit, never larger", {
  size <- function(title) {
    line <- grep("Tj", plot_lines(draw(graphics::plot.default, list(x = 1, y = 1, main = title))),
      value = TRUE)
    line <- line[grepl(substr(title, 1, 5), line, fixed = TRUE)]
    as.numeric(sub("^/F. 1 Tf ([0-9.]+) .*", "\\1", line))
  }
  whole <- size("short")
  expect_identical(size("title"), whole)
  expect_lt(size(strrep("long title ", 20)), whole / 2)
})

# ---- what is drawn where ------------------------------------------------------------

test_that("tints go to white, short tick labels stay upright, room is never taken from the user", {
  expect_identical(tint(c("#0072B2", "#000000"), 0), c("#FFFFFF", "#FFFFFF"))
  expect_identical(tint(c("#0072B2", "#000000"), 1), c("#0072B2", "#000000"))
  expect_identical(tint("#64C800", 0.25),
    grDevices::rgb(t(0.25 * c(100, 200, 0) + 0.75 * 255), maxColorValue = 255))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(c(upright(c(0, 5000, NA, Inf)), upright(c(0, 50000, Inf)), upright(numeric())),
    c(1, 0, 1))
  expect_identical(c(upright(c(NA, Inf)), upright(c(0, 1)), upright(c(0, 1e6))), c(1, 1, 0))
  # a narrow margin has no room for numbers and label side by side, a wide one has for longer ones
  graphics::par(mar = c(5, 3, 3, 2))
  expect_identical(c(upright(c(0, 5)), upright(c(0, 5000))), c(1, 0))
  graphics::par(mar = c(5, 6, 3, 2))
  expect_identical(c(upright(c(0, 5e4)), upright(c(0, 1e9 + 1))), c(1, 1))
  graphics::par(mar = c(5, 4, 3, 2))
  expect_identical(wider(c(2L, 4L), c(3, 3)), c(5, 4, 3, 3))
  ended <- character()
  (function() {
    on.exit(ended <<- c(ended, "own"))
    local_par(mar = c(1, 1, 1, 1))
  })()
  expect_identical(ended, "own")
  expect_identical(graphics::par("mar"), c(5, 4, 3, 2))
})

test_that("names are cut to the letters that fit into their share of the figure", {
  twin <- function(name, most) {
    end <- floor((most - 2) / 3)
    letters <- strsplit(name, "")[[1]]
    if (length(letters) <= most) name else paste(
      c(head(letters, most - 2 - end), "..", tail(letters, end)), collapse = "")
  }
  name <- "abcdefghijklmnopqrstuvwxyz0123456789"
  cases <- expand.grid(most = 6:24, more = c(-1, 0, 1, 9))
  each <- function(f) mapply(function(most, more) f(substr(name, 1, most + more), most), cases$most,
    cases$more)
  expect_identical(each(shorten), each(twin))
  side <- function(width, share, mex = 1) {
    grDevices::pdf(NULL, width = width, height = 5)
    on.exit(grDevices::dev.off())
    graphics::par(mex = mex)
    c(side_names(c("ab", name), share = share), line = graphics::par("csi") * mex)
  }
  cases <- expand.grid(width = c(2, 4, 5, 9), share = c(0.3, 0.45), mex = c(1, 1.5))
  got <- Map(side, cases$width, cases$share, cases$mex)
  line <- vapply(got, `[[`, 0, "line")
  letters <- pmax(6, pmin(24, floor((cases$share * cases$width / line - 1.5) / 0.46)))
  expect_identical(lapply(got, `[[`, "names"),
    lapply(letters, function(most) c("ab", twin(name, most))))
  expect_equal(vapply(got, `[[`, 0, "lines"), 1.5 + 0.46 * letters)
})

test_that(paste(
  "a title stands above the middle of the plot, or of the figure where it needs the margins"
), {
  title <- function(letters, mar, ...) {
    words <- strrep("m", letters)
    d <- drawing({
      graphics::par(mar = mar, ...)
      draw(graphics::plot, list(x = 1, y = 1, main = words, xlab = "", ylab = ""), cex.main = 1)
    }, width = 6)
    c(text_of(d, words)[c("x", "width", "size")], list(frame = d$frame, page = d$page[1]))
  }
  for (mar in list(c(5, 8, 4, 2), c(5, 2, 4, 8))) {
    letter <- title(1, mar)$width
    for (letters in c(28, 31, 35)) {
      t <- title(letters, mar)
      reach <- t$frame[2] - t$frame[1] + 2 * 2 * 14.4
      expect_equal(t$x, if (letters * letter < reach) mean(t$frame[1:2]) else t$page / 2,
        tolerance = 1e-3)
      expect_identical(t$size, 12)
    }
    long <- title(90, mar)
    expect_equal(long$x, long$page / 2, tolerance = 1e-2)
    expect_equal(long$size, 12 * 0.94 * long$page / (90 * letter), tolerance = 0.1)
    expect_lt(long$width, long$page)
  }
  # with four plots a page text is smaller
  expect_identical(title(1, c(5, 4, 4, 2), mfrow = c(2, 2))$size, round(12 * 0.83))
})

# Marks at the rows of `at`, in the colour and shape of their class, those of the legend.
expect_points <-
  function(d, at, classes = factor(rep("", nrow(at))), labels = levels(classes), legend = TRUE) {
  marks <- data_marks(d, if (legend) labels else character())
  testthat::expect_identical(nrow(marks), nrow(at))
  usr <- d$usr
  testthat::expect_lt(
    max(abs(marks$u - at[, 1]) / (usr[2] - usr[1]), abs(marks$v - at[, 2]) / (usr[4] - usr[3])),
    1e-3)
  shape <- c("circle", "triangle", "square", "diamond", "open circle", "open triangle",
    "open square", "open diamond")
  testthat::expect_identical(marks$colour, class_colours(length(labels))[as.integer(classes)])
  testthat::expect_identical(marks$shape, rep_len(shape, length(labels))[as.integer(classes)])
  if (legend) {
    beside <- legend_marks(d, labels)
    testthat::expect_identical(beside$colour, class_colours(length(labels)))
    testthat::expect_identical(beside$shape, rep_len(shape, length(labels)))
  }
  expect_on_page(d)
}

test_that("points are drawn at their coordinates, in the colour and symbol their legend tells", {
  labels <- list(xlab = "u", ylab = "v")
  for (k in c(2, 5, 6)) {
    points <- cbind(u = seq_len(24)^2, v = 100 * (1:24 %% 7))
    classes <- factor(sprintf("class %d", rep_len(k:1, 24)))
    d <- drawing(plot_groups(points, classes, labels))
    expect_points(d, points, classes)
    expect_equal(d$usr[1:2], c(1 - 0.04 * 575, 1 + 1.04 * 575))
  }
  expect_points(drawing(plot_groups(points, labels = labels)), points, legend = FALSE)
  expect_identical(class_symbols(9), c(16, 17, 15, 18, 1, 2, 0, 5, 16))
  # a row without a class is not drawn, and changes no colour
  lacking <- replace(classes, c(3, 24), NA)
  expect_points(drawing(plot_groups(points, lacking, labels)), points[-c(3, 24), ],
    lacking[-c(3, 24)])
  expect_identical(nrow(drawing(plot_groups(points, rep(NA, 24), labels))$marks), 0L)
})

test_that(paste(
  "a table of classes shows each count in its cell, rows from the top, shaded by share of the class"
), {
  level <- c("first", "second", "third")
  confusion <- matrix(c(11, 0, 0, 12, 6, 0, 21, 2, 0), 3,
    dimnames = list(class = level, fitted = level))
  d <- drawing(shown <- withVisible(plot_confusion(confusion, "counts")))
  expect_identical(shown, list(value = confusion, visible = FALSE))
  expect_on_page(d)
  cells <- d$text[grepl("^[0-9]+$", d$text$text), ]
  expect_identical(nrow(cells), 9L)
  expect_identical(as.numeric(cells$text), confusion[cbind(4 - round(cells$v), round(cells$u))])
  expect_lt(max(abs(cells$u - round(cells$u)), abs(cells$v - round(cells$v))), 0.05)
  share <- function(column, row) confusion[4 - row, column] / max(sum(confusion[4 - row, ]), 1)
  expect_identical(cells$colour,
    ifelse(mapply(share, round(cells$u), round(cells$v)) > 0.5, "#FFFFFF", "#000000"))
  tiles <- d$tiles[abs(d$tiles$u2 - d$tiles$u1 - 1) < 0.01 & abs(d$tiles$v2 - d$tiles$v1 -
    1) < 0.01, ]
  expect_identical(nrow(tiles), 9L)
  # 64 shades from white to the first colour
  ends <- grDevices::col2rgb(c("white", palette_classes[1]))
  part <- pmin(floor(64 * mapply(share, round(tiles$u1 + 0.5), round(tiles$v1 + 0.5))), 63) / 63
  expect_lt(max(abs(grDevices::col2rgb(tiles$colour) - ends %*% rbind(1 - part, part))), 6)
  names <- d$text[d$text$text %in% level, ]
  below <- names[names$v < 0.5, ]
  left <- names[names$u < 0.5, ]
  expect_identical(below$text[order(below$u)], level)
  expect_equal(sort(below$u), 1:3, tolerance = 1e-2)
  expect_identical(left$text[order(-left$v)], level)
  expect_equal(sort(left$v), 1:3, tolerance = 0.05)
  # the labels of the axes are outside the names
  expect_lt(text_of(d, "predicted class")$y, min(below$y) - 12)
  expect_lt(text_of(d, "class")$x, min(left$start_x) - 2)
  expect_lte(max(left$start_x + left$width), d$frame[1])
})

test_that("long names of classes have room below and beside the table, at any size of the figure", {
  level <- c("a r 1", sprintf("a rather long name of class %d", 2:4))
  for (width in c(4, 7)) {
    d <- drawing(plot_confusion(table(class = level, fitted = level), "all right"), width = width)
    expect_on_page(d)
    names <- d$text[grepl("^a r.*[1-4]$", d$text$text), ]
    expect_identical(nrow(names), 8L)
    turned <- names$angle == 90
    expect_identical(sum(turned), 4L)
    expect_lte(max((names$start_x + names$width)[!turned]), d$frame[1])
    expect_lte(max((names$start_y + names$width)[turned]), d$frame[3])
    expect_lt(text_of(d, "predicted class")$y, min(names$start_y[turned]))
    expect_lt(text_of(d, "class")$x, min(names$start_x[!turned]))
    expect_gte(d$frame[2] - d$frame[1], 0.5 * d$page[1])
  }
  # where the user's margins are wider they stay
  d <- drawing({
    graphics::par(mar = c(15, 16, 4, 2))
    plot_confusion(table(class = level, fitted = level), "all right")
  })
  expect_equal(d$frame[c(1, 3)], 14.4 * c(16, 15))
})

test_that("scores of components are drawn at their place, one component against the rows", {
  pca <- kernel_pca(iris[1:4], rbf_kernel(2), ncomp = 3)
  expect_points(drawing(plot(pca, components = c(3, 1), classes = iris$Species)),
    pca$scores[, c(3, 1)], iris$Species)
  share <- format(round(100 * pca$values[2] / pca$total, 1))
  d <- drawing(shown <- plot(pca, components = c(2, 2)))
  expect_points(d, cbind(pca$scores[, 2], 1:150), legend = FALSE)
  expect_words(c(sprintf("Component 2 holds %s %% of the variance", share),
    sprintf("component 2 (%s %%)", share), "row"), d$text$text)
  expect_identical(unname(as.matrix(shown)), unname(cbind(pca$scores[, 2], 1:150)))
  for (bad in list(c(0, 1), c(1, 4), c(1, 1.5), c(1, NA), 1, 1:3, c("1", "2"), c(-1, 1))) {
    expect_error(plot(pca, components = bad), "two whole numbers from 1 to 3",
      class = "kernelect_error_argument")
  }
  one <- kernel_pca(iris["Sepal.Length"], linear_kernel(), ncomp = 1)
  expect_points(drawing(plot(one)), cbind(one$scores, 1:150), legend = FALSE)
})

test_that("shares of variance add up, with a mark at the components that hold 90 %", {
  pca <- kernel_pca(iris[1:4], linear_kernel())
  share <- cumsum(pca$values) / pca$total
  d <- drawing(shown <- withVisible(plot(pca, type = "variance")))
  expect_points(d, cbind(seq_along(share), share), legend = FALSE)
  expect_equal(d$usr[3:4], c(-0.04, 1.04))
  expect_line(lines_in(d, palette_classes[1])[[1]], seq_along(share), share, d)
  dotted <- lines_in(d, "#7F7F7F", 2)
  expect_identical(length(dotted), 2L)
  expect_line(dotted[[1]], d$usr[1:2], c(0.9, 0.9), d)
  expect_line(dotted[[2]], rep(which(share >= 0.9)[1], 2), d$usr[3:4], d)
  expect_identical(shown$visible, FALSE)
  expect_equal(shown$value,
    data.frame(component = seq_along(share), share = pca$values / pca$total, cumulative = share),
    ignore_attr = TRUE)
  few <- kernel_pca(iris[1:4], rbf_kernel(0.3), ncomp = 2)
  expect_lt(sum(few$values) / few$total, 0.9)
  expect_identical(length(lines_in(drawing(plot(few, type = "variance")), "#7F7F7F")), 0L)
})

test_that("fitted and observed values meet on the diagonal, a colour a response", {
  fit <- kernel_lm(cbind(mpg, qsec) ~ wt + hp, mtcars, size = 5)
  observed <- as.matrix(mtcars[c("mpg", "qsec")])
  fitted <- observed - residuals(fit)
  d <- drawing(shown <- withVisible(plot(fit)))
  response <- factor(rep(c("mpg", "qsec"), each = 32))
  expect_points(d, cbind(c(fitted), c(observed)), response)
  explained <- 1 - sum(residuals(fit)^2) / sum(scale(observed, scale = FALSE)^2)
  expect_match(grep("variance", d$text$text, value = TRUE),
    sprintf("left out (%.1f %% when fitted)", 100 * explained), fixed = TRUE)
  diagonal <- lines_in(d, "#7F7F7F", 2)[[1]]
  expect_equal(diagonal$u, diagonal$v, tolerance = 1e-3)
  expect_identical(shown$visible, FALSE)
  expect_equal(shown$value,
    data.frame(fitted = c(fitted), observed = c(observed), class = response))
  one <- kernel_lm(mpg ~ wt, mtcars, size = 3)
  expect_points(drawing(plot(one)), cbind(mtcars$mpg - residuals(one), mtcars$mpg), legend = FALSE)
})

test_that("leave-one-out errors are drawn by size, with a mark at the size of the model", {
  for (size in c(2, 5)) {
    fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = size, ridge = 0)
    d <- drawing(shown <- withVisible(plot(fit, type = "loo")))
    expect_line(lines_in(d, palette_classes[1])[[1]], fit$loo$size, fit$loo$error, d)
    expect_identical(nrow(d$marks), 1L)
    expect_identical(d$marks$colour, palette_classes[2])
    expect_equal(c(d$marks$u, d$marks$v), c(size, fit$loo$error[size]), tolerance = 1e-3)
    expect_identical(shown, list(value = fit$loo, visible = FALSE))
    expect_on_page(d)
  }
})

test_that("axes of a discriminant analysis are drawn at their scores, one axis as densities", {
  lda <- kernel_lda(iris[1:4], iris$Species, size = 6)
  expect_points(drawing(plot(lda)), lda$scores[, 1:2], iris$Species)
  expect_error(plot(lda, axes = c(1, 3)), "two whole numbers from 1 to 2",
    class = "kernelect_error_argument")
  two <- kernel_lda(factor(am) ~ mpg + wt, mtcars, size = 4)
  d <- drawing(shown <- withVisible(plot(two)))
  expect_equal(shown,
    list(value = data.frame(score = two$scores[, 1], class = factor(mtcars$am)), visible = FALSE),
    ignore_attr = TRUE)
  expect_on_page(d)
  scores <- split(two$scores[, 1], mtcars$am)
  highest <- 0
  for (i in 1:2) {
    curve <- stats::density(scores[[i]])
    highest <- max(highest, curve$y)
    drawn <- lines_in(d, palette_classes[i], 512)
    expect_identical(length(drawn), 1L)
    expect_line(drawn[[1]], curve$x, curve$y, d)
    expect_identical(drawn[[1]]$width, 2)
    ticks <- Filter(function(p) all(p$y <= d$frame[3] + 0.05 * diff(d$frame[3:4])),
      lines_in(d, palette_classes[i], 2))
    expect_equal(sort(vapply(ticks, function(p) p$u[1], 0)), sort(unname(scores[[i]])),
      tolerance = 1e-3)
    # solid, then dashed: in the legend as in the plot
    beside <- d$text[d$text$text == c("0", "1")[i] & d$text$x > d$frame[1] & d$text$y > d$frame[3],
      ]
    key <- Filter(function(p) abs(p$y[1] - beside$y) < 6 && p$width == 2,
      lines_in(d, palette_classes[i], 2))
    expect_identical(key[[1]]$dash, drawn[[1]]$dash)
  }
  expect_equal(d$usr[3:4], highest * c(-0.04, 1.04))
  expect_false(identical(lines_in(d, palette_classes[1], 512)[[1]]$dash,
    lines_in(d, palette_classes[2], 512)[[1]]$dash))
})

test_that("weights of directions are bars, errors lines by their own axis", {
  some <- iris[c(1:20, 51:70, 101:120), ]
  # of most directions of the last one no leave-one-out error is known
  fits <- list(
    kernel_takes(Species ~ ., some, size = "loo"), kernel_takes(Species ~ ., iris),
    kernel_takes(random_matrix(30, 3), factor(rep(c("a", "b", "c"), 10)), select = "relief",
      size = "loo")
  )
  expect_gt(sum(is.na(fits[[3]]$path$loo)), 5)
  for (fit in fits) {
    path <- fit$path
    d <- drawing(shown <- withVisible(plot(fit)))
    expect_identical(shown, list(value = path, visible = FALSE))
    expect_on_page(d)
    bars <- Filter(function(p) p$colour %in% c(palette_classes[6], "#CCCCCC"), d$paths)
    expect_segments(bars, path$size, 0, path$size, path$gamma, d)
    expect_identical(vapply(bars, `[[`, "", "colour"),
      ifelse(path$direction %in% fit$directions, palette_classes[6], "#CCCCCC"))
    expect_equal(unique(vapply(bars, `[[`, 0, "width")), max(1, min(8, 150 / nrow(path))),
      tolerance = 0.01)
    low <- min(0, path$gamma)
    high <- max(path$gamma)
    expect_equal(d$usr[3:4], c(low, high) + c(-0.04, 0.04) * (high - low))
    # a tick of the right axis tells the error of the lines at its height
    errors <- cbind(path$error, path$loo)
    right <- axis_numbers(d, 4)
    colours <- palette_classes[c(2, 8)]
    labels <- c("vote, training rows", "1-NN, leave one out")[seq_len(ncol(errors))]
    highest <- max(errors, na.rm = TRUE)
    for (i in seq_along(labels)) {
      seen <- !is.na(errors[, i])
      marks <- data_marks(d, labels)
      marks <- marks[marks$colour == colours[i], ]
      expect_equal(marks$u, path$size[seen], tolerance = 1e-3)
      expect_equal(marks$v, errors[seen, i] / highest * max(path$gamma), tolerance = 0.01)
      expect_identical(unique(marks$shape), c("circle", "triangle")[i])
      expect_identical(legend_marks(d, labels[i])[c("colour", "shape")],
        marks[1, c("colour", "shape")], ignore_attr = TRUE)
      if (all(seen)) expect_line(lines_in(d, colours[i], nrow(path))[[1]], marks$u, marks$v, d)
    }
    expect_equal(right$at - right$at[1], right$number / 100 / highest * max(path$gamma),
      tolerance = 0.01)
    expect_identical("1-NN, leave one out" %in% d$text$text, ncol(errors) == 2L)
    # the Greek letter follows its word
    word <- d$text[d$text$text == "weight ", ]
    expect_lt(abs(word$start_y + word$width - d$text$start_y[d$text$text == "g"]), 0.5)
  }
  # without any weight the axis still has a length
  x <- rbind(diag(4), diag(4))
  none <- suppressWarnings(
    kernel_takes(x, factor(rep(c("b", "a"), each = 4)), linear_kernel(), scale = FALSE))
  d <- drawing(plot(none))
  expect_equal(d$usr[3:4], c(-0.04, 1.04))
})

test_that("the best two directions are drawn by class, one direction by class and spread", {
  some <- iris[c(1:20, 51:70, 101:120), ]
  fit <- kernel_takes(Species ~ ., some)
  d <- drawing(shown <- withVisible(plot(fit, "scores")))
  expect_points(d, fit$scores[, 1:2], some$Species)
  expect_identical(shown$visible, FALSE)
  expect_equal(shown$value, data.frame(fit$scores[, 1:2], y = some$Species), ignore_attr = TRUE)
  d <- drawing(shown <- plot(head(fit, 1), "scores"))
  heights <- as.integer(some$Species) + 0.3 * ((1:60 * 0.618034) %% 1 - 0.5)
  expect_points(d, cbind(fit$scores[, 1], heights), some$Species)
  expect_identical(names(shown), c(names(data.frame(fit$scores))[1], "y"))
  # heights are no numbers to read
  expect_identical(nrow(axis_numbers(d, 2)), 0L)
  expect_gt(nrow(axis_numbers(drawing(plot(fit, "scores")), 2)), 2L)
})

test_that(paste(
  "weights by iteration end at their mark and their name, kernels that are not named are",
  "thin and grey"
), {
  fit <- kernel_fusion(y ~ ., simulate_fusion(20, seed = 1), noise = 0)
  size <- as.matrix(fit$path[-1]) %*% diag(fit$mean_diagonal)
  last <- size[nrow(size), ]
  for (n in c(2, 10)) {
    best <- order(-last)[seq_len(min(n, 6))]
    d <- drawing(shown <- withVisible(plot(fit, n = n)))
    expect_identical(shown$visible, FALSE)
    expect_equal(unname(shown$value), size, ignore_attr = TRUE)
    expect_on_page(d)
    names <- text_of(d, names(fit$weights)[best])
    expect_identical(names$colour, class_colours(length(best)))
    expect_identical(d$marks$colour, names$colour)
    expect_equal(d$marks$u, rep(nrow(size), length(best)), tolerance = 1e-3)
    expect_equal(log10(d$marks$v), log10(last[best]), tolerance = 0.01)
    # right of the plot, a line apart, in the order of their lines
    expect_true(all(names$start_x > d$frame[2]))
    expect_identical(order(-names$y), seq_along(best))
    expect_gte(min(-diff(names$y)), 0.8 * 14.3)
    lines <- lapply(names$colour, function(colour) lines_in(d, colour, nrow(size))[[1]])
    expect_equal(unlist(lapply(lines, `[[`, "u")), rep(fit$path$iteration, length(best)),
      tolerance = 1e-3)
    expect_equal(log10(unlist(lapply(lines, `[[`, "v"))), log10(c(size[, best])), tolerance = 0.02)
    expect_equal(vapply(lines, `[[`, 0, "width"), rep(2, length(best)))
    grey <- lines_in(d, "#BFBFBF")
    expect_gt(length(grey), 0)
    expect_equal(vapply(grey, `[[`, 0, "width"), rep(0.7, length(grey)), tolerance = 0.02)
    whole <- range(log10(size[size > 0]))
    expect_equal(d$usr[3:4], whole + c(-0.04, 0.04) * diff(whole))
    ticks <- d$text[d$text$text == "10" & d$text$size == 12 & d$text$x < d$frame[1], ]
    powers <- d$text[d$text$size == 8 & grepl("^[0-9]+$", d$text$text), ]
    minus <- vapply(powers$y, function(y) any(d$text$text == "-" & d$text$y == y), NA)
    expect_equal(log10(ticks$v), ifelse(minus, -1, 1) * as.numeric(powers$text), tolerance = 0.2)
  }
})

test_that("final weights are dots with their names from the top, grey where there is none", {
  fit <- kernel_fusion(iris[1:4], iris$Species)
  size <- sort(fit$weights * fit$mean_diagonal, decreasing = TRUE)
  expect_identical(sum(size == 0), 1L)
  for (n in c(3, 10)) {
    some <- head(size, n)
    d <- drawing(shown <- withVisible(plot(fit, type = "weights", n = n)))
    expect_equal(shown, list(value = some, visible = FALSE))
    expect_on_page(d)
    marks <- d$marks[order(-d$marks$v), ]
    expect_equal(marks$u, unname(some), tolerance = 1e-3)
    expect_equal(marks$v, rev(seq_along(some)), tolerance = 1e-3)
    expect_identical(marks$colour, unname(ifelse(some > 0, palette_classes[1], "#999999")))
    names <- text_of(d, names(some))
    expect_lt(max(abs(names$y + 0.36 * names$size - marks$y)), 2)
    expect_identical(names$colour, unname(ifelse(some > 0, "#000000", "#7F7F7F")))
    expect_equal(d$usr[1:2], max(size) * c(-0.04, 1.04))
    expect_words(sprintf("%s carries %.0f%% of the fused kernel", names(size)[1],
      100 * size[1] / sum(size)), d$text$text)
  }
  # names of different lengths all have room
  expect_on_page(drawing(
    plot(kernel_fusion(stats::setNames(iris[1:4], c("a", "b", "a rather long name", "d")),
      iris$Species))))
  # of many kernels the names are smaller, nothing else is, and all of them have their place
  many <- kernel_fusion(y ~ ., simulate_fusion(20, seed = 1))
  for (n in c(20, 40)) {
    d <- drawing(plot(many, type = "weights", n = n))
    names <- d$text[grepl("^x[0-9]+$", d$text$text), ]
    expect_identical(nrow(names), as.integer(n))
    expect_lt(names$size[1], min(12 * 0.9 + 0.5, diff(d$frame[3:4]) / n + 1))
    expect_identical(text_of(d, "weight x mean diagonal")$size, 12)
    expect_gte(names$size[1], floor(12 * least_cex))
  }
})

test_that("every class of many has a name off the next one, and counts fit their cells", {
  level <- sprintf("c%02d", 1:26)
  confusion <- matrix(0, 26, 26, dimnames = list(class = level, fitted = level))
  diag(confusion) <- 1:26
  for (width in c(5, 7)) {
    d <- drawing(plot_confusion(confusion, "many"), width = width, height = width)
    names <- d$text[d$text$text %in% level, ]
    expect_setequal(names$text, level)
    # classes of one count only, so no zero is written
    counts <- d$text[grepl("^[0-9]+$", d$text$text), ]
    expect_identical(sort(as.numeric(counts$text)), as.numeric(1:26))
    expect_lt(max(counts$width), diff(d$frame[1:2]) / 26)
    expect_lt(max(counts$size), diff(d$frame[3:4]) / 26)
    expect_on_page(d)
  }
  # too small to be read: shades alone
  d <- drawing(plot_confusion(confusion, "many"), width = 3, height = 3)
  expect_identical(d$text$text[grepl("^[0-9]+$", d$text$text)], character())
})

test_that("a ranking is drawn as bars from zero with a name each, the best on top", {
  for (columns in c(2, 40)) {
    x <- as.data.frame(random_matrix(30, columns))
    names(x) <- sprintf("column %d with a rather long name", seq_len(columns))
    x[[2]] <- x[[2]] + 5 * (1:30 > 15)
    fit <- kernel_rank(x, factor(1:30 > 15), method = "fisher")
    for (n in unique(c(1, min(columns, 25)))) {
      d <- drawing(shown <- withVisible(plot(fit, n = n)), width = 5)
      best <- head(fit$ranking, n)
      expect_equal(shown,
        list(value = data.frame(name = names(x)[best], column = best,
          score = unname(fit$score[best])), visible = FALSE))
      expect_on_page(d)
      expect_equal(d$marks$u, unname(fit$score[best]), tolerance = 1e-3)
      expect_equal(d$marks$v, rev(seq_len(n)), tolerance = 1e-3)
      expect_segments(lines_in(d, "#BFBFBF", 2), 0, rev(seq_len(n)), fit$score[best],
        rev(seq_len(n)), d)
      expect_equal(d$usr[1:2], max(fit$score[best]) * c(-0.04, 1.04))
      names <- d$text[grepl("^colu.*name$",
        d$text$text) & d$text$angle == 0 & d$text$x < d$frame[1], ]
      expect_lt(max(abs(names$y + 0.36 * names$size - d$marks$y)), 2)
      expect_true(all(names$start_x + names$width < d$frame[1]))
      expect_lte(names$size[1], round(12 * 0.9))
      # letters are as high as the rows allow
      expect_lte(n * names$size[1], diff(d$frame[3:4]) + n)
      expect_words("Fisher score", d$text$text)
    }
  }
})

test_that("frequencies go from the surest column, on an axis from none to all resamples", {
  x <- random_matrix(30, 5)
  fit <- kernel_rank(x, rep(c("a", "b"), 15), resample = 6, n = 2)
  d <- drawing(shown <- plot(fit))
  order <- order(-fit$frequency, match(1:5, fit$ranking))
  expect_equal(shown,
    data.frame(name = paste0("column", order), column = order,
      frequency = unname(fit$frequency[order])))
  expect_equal(d$marks$u, shown$frequency, tolerance = 1e-3)
  expect_equal(d$usr[1:2], c(-0.04, 1.04))
  title <- function(frequency) rank_title(list(n = 2), "frequency",
    data.frame(frequency = frequency))
  expect_identical(title(c(0.89, 0)), "No column among the best 2 in at least 90% of resamples")
  expect_identical(title(c(0.9, 0.5)), "1 column among the best 2 in at least 90% of resamples")
  expect_identical(title(c(1, 0.9, 0)), "2 columns among the best 2 in at least 90% of resamples")
  score <- function(score, n) rank_title(list(score = score), "score",
    data.frame(name = head(c("u", "v", "w"), n)))
  expect_identical(score(c(3, 2, 1), 1), "u leads")
  expect_identical(score(c(3, 2, 0), 2), "u and v lead, 1 of 3 at zero")
  expect_identical(score(c(3, 0, 0), 3), "u and v lead, 2 of 3 at zero")
})

test_that("a search is drawn by its steps, and its title tells where it went", {
  x <- random_matrix(30, 4)
  y <- rep(c("a", "b"), 15)
  fit <- kernel_rank(x, y)
  d <- drawing(shown <- withVisible(plot(fit, type = "path")))
  expect_identical(shown, list(value = fit$path, visible = FALSE))
  expect_points(d, as.matrix(fit$path[1:2]), legend = FALSE)
  short <- suppressWarnings(kernel_rank(x, y, max_iter = 2))
  expect_false(short$converged)
  value <- function(fit) format(fit$path$value[nrow(fit$path)], digits = 3)
  expect_words(paste("Alignment rose to", value(short), "in 2 steps, not settled"),
    plot_words(plot(short, type = "path")))
  bound <- kernel_rank(x, y, method = "r2w2")
  expect_lt(bound$path$value[nrow(bound$path)], bound$path$value[1])
  expect_words(paste("Radius-margin bound fell to", value(bound), "in", max(bound$path$iteration),
    "steps"),
               sub(", not settled", "", plot_words(plot(bound, type = "path"))))
  steps <- kernel_rank(x, y, method = "rfe")
  ends <- steps$path$value
  expect_true(ends[1] < ends[3] && ends[3] < ends[2])
  expect_words(paste("Squared norm rose to", value(steps), "in 3 steps"),
    plot_words(plot(steps, type = "path")))
  plain <- kernel_rank(x, y, method = "fisher")
  expect_error(plot(plain, type = "path"), "has no path", class = "kernelect_error_argument")
  expect_error(plot(plain, type = "frequency"), "resample", class = "kernelect_error_argument")
})

test_that("a basis is drawn by its path, with whole numbers of rows on the axis", {
  for (size in c(2, 7, 30)) {
    basis <- kernel_basis(iris[1:4], size = size, tol = 0)
    path <- basis$path
    d <- drawing(shown <- withVisible(plot(basis)))
    expect_identical(shown, list(value = path, visible = FALSE))
    expect_on_page(d)
    labels <- c("fitness J", "residual trace")
    expect_points(d, cbind(rep(path$size, 2), c(path$fitness, path$trace)),
      factor(rep(labels, each = size)), labels)
    expect_equal(d$usr[3:4], c(-0.04, 1.04))
    ticks <- axis_numbers(d, 1)
    expect_equal(ticks$at, ticks$number, tolerance = 1e-3)
    expect_identical(ticks$number,
      unique(c(1, round(pretty(c(1, size)))[round(pretty(c(1, size))) %in% 1:size])))
    d <- drawing(plot(basis, log = "y"))
    expect_equal(log10(d$marks$v), log10(path$trace), tolerance = 0.01)
    expect_equal(axis_numbers(d, 1), ticks, tolerance = 1e-3)
    expect_on_page(d)
  }
  expect_error(plot(basis, log = "x"), "log", class = "kernelect_error_argument")
})

test_that("the logarithmic axis of a basis is right at every tick", {
  short <- drawing(plot(kernel_basis(iris[1:4], size = 4), log = "y"))
  numbers <- axis_numbers(short, 2)
  expect_gte(nrow(numbers), 2L)
  expect_equal(log10(numbers$at), log10(numbers$number), tolerance = 0.05)
  basis <- kernel_basis(iris[1:4], linear_kernel(), size = 4, method = "cholesky", tol = 0)
  expect_gt(diff(log10(range(pmax(basis$path$trace, .Machine$double.eps)))), 2)
  long <- drawing(plot(basis, log = "y"))
  ticks <- long$text[long$text$text == "10" & long$text$size == 12, ]
  powers <- long$text[long$text$size == 8 & grepl("^[0-9]+$", long$text$text), ]
  expect_identical(nrow(ticks), nrow(powers))
  at <- log10(ticks$v) + 0.36 * 12 / diff(long$frame[3:4]) * diff(long$usr[3:4])
  expect_lt(max(abs(at + as.numeric(powers$text))), 0.2)
  # the label of the axis is left of the powers
  expect_lt(text_of(long, "residual trace / trace")$x, min(ticks$start_x))
})

test_that(paste(
  "errors of tuning stand at their size with a bar of their standard error, the best in a ring"
), {
  grids <- list(
    list(size = c(3, 6, 9), kernel = list(rbf_kernel(1), rbf_kernel(2), linear_kernel())),
    list(size = c(3, 6))
  )
  for (grid in grids) {
    tuned <- kernel_tune(iris[1:4], iris$Species, grid = grid, folds = 3)
    results <- tuned$results
    kernels <- unique(results$kernel)
    d <- drawing(shown <- withVisible(plot(tuned)))
    expect_identical(shown, list(value = results, visible = FALSE))
    expect_on_page(d)
    # side by side around their size, a 150th of the axis apart
    shift <- (match(results$kernel, kernels) - mean(seq_along(kernels))) *
      diff(range(results$size)) / 150
    colours <- class_colours(length(kernels))[match(results$kernel, kernels)]
    rings <- d$marks$shape == "open circle"
    dots <- data_marks(d, line_names(kernels))
    dots <- dots[dots$shape == "circle", ]
    expect_equal(dots$u, results$size + shift, tolerance = 1e-3)
    expect_equal(dots$v, results$error, tolerance = 1e-3)
    expect_identical(dots$colour, colours)
    expect_identical(sum(rings), 1L)
    best <- which(results$kernel == tuned$best$kernel & results$size == tuned$best$size)
    expect_equal(unlist(d$marks[rings, c("u", "v")]),
      c(u = results$size[best] + shift[best], v = min(results$error)), tolerance = 1e-3)
    expect_identical(d$marks$colour[rings], colours[best])
    bars <- Filter(function(p) length(p$u) == 2L && p$u[1] == p$u[2] && min(p$y) >= d$frame[3] &&
      p$colour != "#000000", d$paths)
    expect_segments(bars, results$size + shift, results$error - results$se, results$size + shift,
      results$error + results$se, d)
    expect_identical(vapply(bars, `[[`, "", "colour"), colours)
    expect_identical(legend_marks(d, line_names(kernels))$colour, class_colours(length(kernels)))
  }
})

test_that("a legend of tuned kernels is off the curves, and large errors do not hide the least", {
  tuned <- kernel_tune(medv ~ ., data.frame(medv = c(1:20, 1e3), x = c(1:20, 500)), folds = 3,
                       grid = list(sigma = c("x0.1", "x1"), size = 1:3, ridge = 0))
  tuned$results$error <- c(900, 12.4, 20, 30, 40, 50)
  tuned$results$se <- 1
  tuned$best <- tuned$results[2, ]
  d <- drawing(plot(tuned))
  words <- line_names(unique(tuned$results$kernel))
  dots <- data_marks(d, words)
  dots <- dots[dots$shape == "circle", ]
  expect_gt(min(legend_marks(d, words)$y), max(dots$y))
  expect_equal(dots$v, tuned$results$error, tolerance = 1e-3)
  # on an axis to 900 a difference of 7.6 would be less than one hundredth
  expect_gt(diff(sort(dots$y)[1:2]), 0.05 * diff(d$frame[3:4]))
})

test_that("tuned widths and ridges are drawn on their own axes, the best of the rest at each", {
  tuned <- kernel_tune(iris[1:4], iris$Species, folds = 3,
    grid = list(sigma = c("x0.5", "x1", "x2"), kernel = list(rbf_kernel(), laplace_kernel())))
  expect_words(c("sigma", "RBF kernel", "Laplace kernel"), plot_words(shown <- plot(tuned)))
  expect_setequal(rownames(shown), rownames(tuned$results))
  both <- kernel_tune(iris[1:4], iris$Species, folds = 3,
    grid = list(kernel = rbf_kernel(2), size = c(4, 12), ridge = c(0.01, 1)))
  shown <- plot_words(drawn <- plot(both))
  expect_equal(drawn$size, c(4, 12))
  for (size in c(4, 12)) {
    expect_equal(drawn$error[drawn$size == size],
      min(both$results$error[both$results$size == size]))
  }
  ridges <- kernel_tune(iris[1:4], iris$Species, folds = 3,
    grid = list(kernel = rbf_kernel(2), ridge = c(0.01, 1)))
  expect_words("ridge", plot_words(plot(ridges)))
})

test_that("a label longer than its axis is drawn smaller, unless its size is given", {
  label <- strrep("long ", 15)
  sizes <- function(...) {
    d <- drawing(draw(graphics::plot, list(x = 1, y = 1, ylab = label, xlab = "u"), ...),
                 width = 4, height = 4)
    text_of(d, c(label, "u"))$size
  }
  expect_identical(sizes(), c(round(12 * 0.65), 12))
  expect_identical(sizes(cex.lab = 2), c(24, 24))
})

test_that("the label of an axis stands off the numbers at its ticks, whatever the font", {
  thousands <- transform(mtcars, mpg = 100 * mpg, hp = 10 * hp)
  fit <- kernel_lm(mpg ~ wt + hp, thousands, size = 6)
  flowers <- transform(iris, Sepal.Width = 1000 * Sepal.Width)
  lda <- kernel_lda(Species ~ ., flowers)
  plots <- list(
    observed = function() plot(fit),
    hp = function() plot_effect(fit, thousands, c("wt", "hp"), grid = 5),
    "mean prediction of mpg" = function() plot_effect(fit, thousands, "wt", grid = 5),
    "Sepal.Width" = function(...) {
      plot_boundary(lda, flowers, c("Petal.Width", "Sepal.Width"), grid = 5)
    },
    "residual trace / trace" = function() plot(kernel_basis(iris[1:4], size = 30), log = "y"),
    density = function() plot(kernel_lda(factor(am) ~ wt + hp, mtcars, size = 5))
  )
  for (label in names(plots)) for (family in c("sans", "mono")) for (mar in c(4.1, 3)) {
    if (mar == 3 && label == "residual trace / trace") next # powers are not turned
    d <- drawing({
      graphics::par(family = family, mar = c(5, mar, 4, 2))
      plots[[label]]()
    })
    beside <- text_of(d, label)
    # letters such as g reach to the right of the line
    end <- beside$x + 0.22 * beside$size
    number <- suppressWarnings(as.numeric(d$text$text))
    ticks <- d$text[!is.na(number) & d$text$x < d$frame[1] & d$text$y > d$frame[3] - 5, ]
    left <- ifelse(ticks$angle == 90, ticks$x - 0.72 * ticks$size, ticks$start_x)
    expect_gt(min(left) - end, 0, label = paste(label, family, mar))
    expect_gte(beside$x - 0.75 * beside$size, 0)
  }
  # without a margin it is not in the plot instead
  d <- drawing({
    graphics::par(mar = c(1, 0.2, 1, 1))
    plot(fit)
  })
  expect_lt(text_of(d, "observed")$x, 0)
  d <- drawing(plot(fit, mgp = c(1, 0.7, 0)))
  expect_equal(text_of(d, "observed")$x, d$frame[1] - 14.4 * 1.2, tolerance = 0.02)
})

test_that("without rows left out a title has the share misclassified when fitted", {
  fit <- kernel_lda(Species ~ ., iris)
  fit$left_out_error <- NULL
  expect_identical(misclassified_title(fit),
    sprintf("%.1f %% misclassified when fitted", 100 * mean(predict(fit) != iris$Species)))
})

test_that("the path of forward selection tells of its top where that is on the way", {
  up <- data.frame(iteration = 1:3, value = c(0.1, 0.2, 0.15))
  expect_identical(path_words(up, TRUE), " rose to 0.2 in 2 steps, 0.15 in the end")
  expect_identical(path_words(up, FALSE), " rose to 0.15 in 3 steps")
  expect_identical(path_words(up[1:2, ], TRUE), " rose to 0.2 in 2 steps")
  expect_identical(path_words(up[c(2, 3), ], TRUE), " fell to 0.15 in 3 steps")
})
