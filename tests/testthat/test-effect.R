# Partial dependence as it is defined: one row and one point of the grid at a time.
reference_effect <- function(fit, data, column, at, answer) {
  vapply(at, function(value) {
    mean(vapply(seq_len(nrow(data)), function(i) {
      row <- data[i, ]
      row[[column]] <- value
      answer(predict(fit, row))
    }, 0))
  }, 0)
}

quietly_drawn <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot_effect(...)
}

test_that("the effect of a column is the mean prediction with the column set", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 6)
  shown <- quietly_drawn(fit, mtcars, "wt", grid = 5)
  expect_s3_class(shown, "kernel_effect")
  at <- seq(min(mtcars$wt), max(mtcars$wt), length.out = 5)
  expect_equal(shown$wt, at)
  expect_equal(shown$mean, reference_effect(fit, mtcars, "wt", at, identity))
  one <- vapply(seq_len(32), function(i) predict(fit, transform(mtcars[i, ], wt = at[2])), 0)
  expect_equal(c(shown$low[2], shown$high[2]), unname(stats::quantile(one, c(0.1, 0.9))))
  # few values are taken as they are, factors by level
  few <- kernel_lm(mpg ~ cyl + wt, mtcars)
  expect_equal(quietly_drawn(few, mtcars, "cyl")$cyl, c(4, 6, 8))
  warp <- kernel_lm(breaks ~ wool + tension, warpbreaks)
  shown <- quietly_drawn(warp, warpbreaks, "tension")
  expect_identical(as.character(shown$tension), c("L", "M", "H"))
  expect_equal(shown$mean,
    unname(reference_effect(warp, warpbreaks, "tension", c("L", "M", "H"), identity)))
  expect_identical(attr(quietly_drawn(fit, mtcars, rows = 10), "n"), 10L)
})

test_that("classifiers are shown by probabilities, others by the share of a class", {
  fit <- kernel_lda(Species ~ ., iris, size = 8)
  shown <- quietly_drawn(fit, iris, "Petal.Length", grid = 4, rows = 30)
  expect_identical(unique(shown$response), levels(iris$Species))
  expect_equal(as.vector(tapply(shown$mean, shown$Petal.Length, sum)), rep(1, 4))
  only <- quietly_drawn(fit, iris, "Petal.Length", grid = 4, rows = 30, class = "setosa")
  expect_equal(only$mean, shown$mean[shown$response == "setosa"])
  two <- kernel_lm(y ~ x1 + x2, simulate_circles(60, seed = 1))
  expect_identical(unique(quietly_drawn(two, simulate_circles(60, seed = 1), "x1")$response), "b")
  # the class that two columns move most
  pair <- quietly_drawn(fit, iris, c("Petal.Length", "Petal.Width"), grid = 4, rows = 30)
  expect_identical(length(unique(pair$response)), 1L)
  expect_identical(nrow(pair), 16L)
  skip_if_not_installed("e1071")
  svm <- e1071::svm(Species ~ Petal.Length + Petal.Width, iris)
  shown <- quietly_drawn(svm, iris, "Petal.Length", grid = 4, rows = 20)
  rows <- iris[evenly_spaced(150, 20), ]
  rows$Petal.Length <- shown$Petal.Length[4]
  expect_equal(shown$mean[shown$Petal.Length == shown$Petal.Length[4]],
    as.vector(table(predict(svm, rows))) / 20)
})

test_that("every model with predict() has an effect, and two columns a surface or curves", {
  models <- list(
    kernel_lm(Species ~ ., iris), kernel_lda(Species ~ ., iris), kernel_takes(Species ~ ., iris),
    kernel_fusion(Species ~ ., iris, kernels = list(rbf_kernel())),
    kernel_pca(iris[1:4], ncomp = 3), kernel_basis(iris[1:4], size = 4),
    kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = c(3, 6))),
    kernel_lm(Sepal.Length ~ Petal.Length + Species, iris),
    stats::lm(Sepal.Length ~ Petal.Length, iris),
    kernel_fusion(Sepal.Length ~ Petal.Length + Petal.Width, iris)
  )
  for (model in models) {
    shown <- quietly_drawn(model, iris, "Petal.Length", grid = 4, rows = 15)
    expect_true(all(is.finite(shown$mean)), info = class(model)[1])
  }
  both <- quietly_drawn(models[[8]], iris, c("Species", "Petal.Length"), grid = 4, rows = 10)
  expect_identical(attr(both, "columns"), c("Petal.Length", "Species"))
  expect_false(is_surface(both))
  d <- drawing(plot_effect(models[[8]], iris, c("Petal.Length", "Species"), grid = 4))
  expect_words(c(levels(iris$Species), "mean prediction of Sepal.Length", "mean over 150 rows"),
    d$text$text)
  expect_on_page(d)
})

test_that("curves are drawn through the means, the title tells how far they go", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  d <- drawing(shown <- withVisible(plot_effect(fit, mtcars, "wt", grid = 6)))
  expect_identical(shown$visible, FALSE)
  effect <- shown$value
  expect_line(lines_in(d, palette_classes[1], 6)[[1]], effect$wt, effect$mean, d)
  ends <- vapply(range(effect$mean), format, "", digits = 3)
  expect_words(c(sprintf("Prediction of mpg from %s to %s over wt", ends[1], ends[2]), "wt",
    "mean over 32 rows; band: the middle 80 %"),
    d$text$text)
  expect_on_page(d)
  surface <- drawing(plot_effect(fit, mtcars, c("wt", "hp"), grid = 8))
  expect_words(c("wt", "hp"), surface$text$text)
  rows <- surface$marks[surface$marks$colour == "#000000", ]
  expect_equal(rows$u, mtcars$wt, tolerance = 1e-2)
})

test_that("what cannot be shown is refused by name", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 4)
  expect_snapshot(error = TRUE, {
    plot_effect()
    plot_effect(fit)
    plot_effect(fit, mtcars, "cyl")
    plot_effect(fit, mtcars, c("wt", "wt"))
    plot_effect(fit, mtcars, "none")
    plot_effect(fit, mtcars, class = "a")
    plot_effect(kernel_lda(Species ~ ., iris), iris, class = "a")
    plot_effect(kernel_rank(Species ~ ., iris), iris)
    plot_effect(fit, mtcars, grid = 1)
    plot_effect(fit, mtcars, draw = FALSE, lwd = 2)
    plot_effect(fit, transform(mtcars, wt = NA_real_))
    plot_effect(fit, transform(mtcars, wt = NA), "wt")
  })
})

test_that("classes in a list are counted by their share", {
  skip_if_not_installed("MASS")
  fit <- MASS::lda(Species ~ Petal.Length + Petal.Width, iris)
  shown <- quietly_drawn(fit, iris, "Petal.Length", grid = 3, rows = 150)
  rows <- transform(iris, Petal.Length = min(Petal.Length))
  expect_equal(shown$mean[shown$Petal.Length == min(iris$Petal.Length)],
    as.vector(table(predict(fit, rows)$class)) / 150)
})

test_that("a model that predicts words has no effect to draw", {
  registerS3method("predict", "speaker",
    function(object, newdata, ...) rep("word", nrow(newdata)), envir = asNamespace("stats"))
  expect_error(quietly_drawn(structure(list(), class = "speaker"), mtcars, "wt"),
    "a model that predicts numbers or classes", class = "kernelect_error_argument")
})

test_that("the mean is over the rows that have a prediction", {
  cars <- mtcars
  cars$hp[1:20] <- NA
  shown <- plot_effect(kernel_lm(mpg ~ wt + hp, mtcars), cars, "wt", draw = FALSE)
  expect_identical(attr(shown, "n"), 12L)
  expect_identical(attr(plot_effect(kernel_lm(mpg ~ wt + hp, mtcars), mtcars, "wt", draw = FALSE),
                        "n"), 32L)
})

# Names below a plot, from left to right.
expect_names_apart <- function(d, labels) {
  names <- text_of(d, labels)
  expect_false(anyNA(names$text))
  turned <- names$angle == 90
  if (all(turned)) {
    expect_gt(min(diff(names$x)), 0.85 * max(names$size))
    expect_lte(max(names$start_y + names$width), d$frame[3])
  } else {
    expect_false(any(turned))
    n <- nrow(names)
    expect_gt(min(names$start_x[-1] - (names$start_x + names$width)[-n]), 1)
  }
  all(turned)
}

test_that("every level of a factor has its name, turned where names do not fit side by side", {
  effect <- plot_effect(kernel_lm(weight ~ feed, chickwts), chickwts, "feed", draw = FALSE)
  show <- function(width, levels = effect$feed) {
    effect$feed <- levels
    d <- drawing(draw_effect(effect), width = width, height = 5)
    expect_on_page(d)
    # the note below the label, the label below the names
    note <- d$text$text[grepl("^mean over", d$text$text)]
    expect_lt(text_of(d, note)$y, text_of(d, "feed")$y - 10)
    names <- text_of(d, as.character(levels))
    expect_lt(text_of(d, "feed")$y, min(names$start_y))
    expect_names_apart(d, names$text)
  }
  before <- c(3, 4, 4, 2)
  margins <- function(column) {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    graphics::par(mar = before)
    fit <- kernel_lm(weight ~ feed + row, transform(chickwts, row = seq_along(weight)), size = 8)
    seen <- NULL
    plot_effect(fit, transform(chickwts, row = seq_along(weight)), column, grid = 3, rows = 5,
      panel.first = seen <- graphics::par("mar"))
    list(seen, graphics::par("mar"))
  }
  # a margin is wider for turned names only, and the user's again afterwards
  expect_identical(margins("row"), list(before, before))
  expect_identical(margins("feed"), list(before, before))
  expect_false(show(7))
  expect_true(show(4))
  expect_true(show(7, paste("feed of", effect$feed)))
  many <- effect[rep(1, 26), ]
  attributes(many)[c("columns", "classes", "rows", "n")] <-
    attributes(effect)[c("columns", "classes", "rows", "n")]
  many$feed <- sprintf("level %d", 1:26)
  expect_true(expect_names_apart(drawing(draw_effect(many)), many$feed))
})

test_that("of many classes those are drawn that move most, and the note says of how many", {
  # the last classes are apart on u, the first ones only on v
  number <- rep(1:9, each = 6)
  data <- with_seed(1, data.frame(u = 5 * pmax(number - 4, 0) + stats::rnorm(54, sd = 0.3),
    v = number %% 5 + stats::rnorm(54, sd = 0.3)))
  data$y <- factor(paste0("c", number))
  fit <- kernel_lda(y ~ u + v, data)
  d <- drawing(shown <- plot_effect(fit, data, "u", grid = 8))
  moved <- apply(vapply(unique(shown$u), function(at) {
    colMeans(predict(fit, transform(data, u = at), type = "prob"))
  }, numeric(9)), 1, function(v) diff(range(v)))
  most <- levels(data$y)[rank(-moved) <= 6]
  expect_false(identical(most, levels(data$y)[1:6]))
  expect_identical(unique(shown$response), most)
  expect_words(c("6 of 9 classes, which move most; mean over 54 rows", most), d$text$text)
  expect_on_page(d)
  # of six classes, or of one that is asked for, there is nothing to say
  few <- kernel_lda(y ~ u + v, droplevels(data[number > 3, ]))
  expect_words("mean over 54 rows", plot_words(plot_effect(few, data, "u", grid = 8)))
  expect_words("mean over 54 rows; band: the middle 80 %",
    plot_words(plot_effect(fit, data, "u", class = "c1", grid = 8)))
  pca <- kernel_pca(data[1:2], ncomp = 7)
  expect_words("the first 6 of 7; mean over 54 rows",
    plot_words(plot_effect(pca, data, "u", grid = 4)))
})

test_that("long names are shortened, so that title and labels stay large enough to read", {
  long <- stats::setNames(mtcars[c("mpg", "wt", "hp")],
    paste0(c("mpg", "wt", "hp"), "_by_a_very_long_name_of_a_column_", 1:3))
  fit <- kernel_lm(stats::reformulate(names(long)[2:3], names(long)[1]), long, size = 6)
  for (columns in list(names(long)[2], names(long)[2:3])) for (width in c(5, 7, 10)) {
    d <- drawing(plot_effect(fit, long, columns, grid = 5), width = width)
    expect_on_page(d)
    title <- d$text[grepl(" from .* to .* over ", d$text$text), ]
    expect_gte(title$size, 10)
    expect_match(title$text, "_1 from")
    expect_identical(text_of(d, shorten(columns, 24)[1])$size, 12)
    beside <- d$text[d$text$angle == 90 & grepl("_[13]$", d$text$text), ]
    expect_identical(beside$size, 12)
  }
})
