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
  d <- data.frame(a = 1:40, b = rep(c(0, 1), 20), c = c(rep(5, 39), 100),
    g = factor(rep(c("u", "v"), each = 20)))
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
  settings <- function() graphics::par("mar", "mgp", "las", "tcl", "cex.main", "font.main", "xpd",
    "mfrow")
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
    plot_boundary(kernel_lm(y ~ x1, d), d)
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
  title <- function(fit) {
    paste0(sprintf("%.1f %% misclassified when left out; ", 100 * left_out_error(fit)),
      sprintf("%d of 40 rows on the wrong side", sum(predict(fit, d) != d$class)))
  }
  lm <- kernel_lm(class ~ x + y, d)
  expect_words(c(title(lm), "a", "b"), plot_words(plot_boundary(lm, d, grid = 6)))
  fused <- kernel_fusion(class ~ x + y, d, kernels = list(rbf_kernel()))
  expect_words("0 of 40 rows on the wrong side", plot_words(plot_boundary(fused, d, grid = 6)))
  from_matrix <- kernel_lm(as.matrix(d[1:2]), d$class)
  expect_words(sub(";.*", "", title(from_matrix)),
    plot_words(plot_boundary(from_matrix, d, grid = 6)))
  expect_words("Classes assigned", plot_words(plot_boundary(fused, d[c("x", "y")], grid = 6)))
  expect_words(c(title(from_matrix), "a", "b"),
    plot_words(plot_boundary(from_matrix, d[-4], grid = 6)))
  d$class <- as.character(d$class)
  expect_words(c(title(lm), "a", "b"), plot_words(plot_boundary(lm, d, grid = 6)))
})

test_that("a slice through more than two columns says where it is, and counts no rows", {
  fit <- kernel_lda(Species ~ ., iris, size = 10)
  words <- plot_words(shown <- plot_boundary(fit, iris, grid = 6))
  expect_words(c(sprintf("A slice; %.1f %% misclassified when left out", 100 * fit$left_out_error),
    "at Sepal.Length = 5.8, Sepal.Width = 3"), words)
  expect_false(any(grepl("wrong side", words)))
  expect_equal(attr(shown, "held"), data.frame(Sepal.Length = 5.8, Sepal.Width = 3))
  logs <- kernel_lda(Species ~ log(Sepal.Length) + Sepal.Width, iris, size = 10)
  words <- plot_words(plot_boundary(logs, iris, grid = 6))
  expect_words(sprintf("%.1f %% misclassified when left out; %d of 150 rows on the wrong side",
    100 * logs$left_out_error, sum(predict(logs, iris) != iris$Species)), words)
  # as many values as there is room for
  held <- as.data.frame(as.list(stats::setNames(1:9 + 0.5, paste0("column", 1:9))))
  expect_identical(held_words(held, 30),
    "at column1 = 1.5 and 8 more at their medians or first levels")
  expect_match(held_words(held, Inf), "^at column1 = 1.5, .*, column9 = 9.5$")
  expect_identical(held_words(data.frame(f = factor("u")), Inf), "at f = u")
})

test_that("circles stay round where columns have like ranges, else axes fill the plot", {
  ratio <- function(d) {
    diff(d$frame[3:4]) / diff(d$usr[3:4]) / (diff(d$frame[1:2]) / diff(d$usr[1:2]))
  }
  circles <- simulate_circles(60, seed = 2)
  fit <- kernel_lm(y ~ ., circles)
  for (width in c(5, 9)) {
    d <- drawing(shown <- plot_boundary(fit, circles, grid = 5), width = width)
    expect_equal(ratio(d), 1, tolerance = 1e-3)
    expect_equal(d$usr, c(range(shown[[1]]), range(shown[[2]])))
  }
  expect_equal(ratio(drawing(plot_boundary(fit, circles, grid = 5, asp = 2))), 2, tolerance = 1e-3)
  expect_equal(check_asp(NULL, list(c(0, 1), c(0, 1.99))), 1)
  expect_equal(check_asp(NULL, list(c(0, 2), c(0, 1))), NA)
  expect_equal(check_asp(NA, list(c(0, 1), c(0, 1))), NA)
  expect_error(plot_boundary(fit, circles, asp = -1), "`asp`", class = "kernelect_error_argument")
})

test_that("models of other packages are shown on the columns they use", {
  skip_if_not_installed("kernlab")
  skip_if_not_installed("e1071")
  data <- with_seed(1, data.frame(a = stats::rnorm(60), b = stats::rnorm(60), c = stats::rnorm(60)))
  data$side <- factor(ifelse(data$b * data$c > 0, "like", "unlike"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fits <- list(
    e1071::svm(side ~ b + c, data), kernlab::ksvm(side ~ b + c, data, kpar = list(sigma = 1)),
    e1071::svm(data[c("b", "c")], data$side), MASS::lda(side ~ b + c, data),
    kernlab::ksvm(as.matrix(data[c("b", "c")]), data$side, kpar = list(sigma = 1))
  )
  for (fit in fits) {
    shown <- plot_boundary(fit, data, y = "side", grid = 20)
    expect_identical(names(shown), c("b", "c", "class"))
    expect_identical(levels(shown$class), c("like", "unlike"))
    # what is ahead is the class, also where the sign of a decision means the first of two
    margins <- attr(shown, "margins")
    expect_gt(mean(max.col(margins) == as.integer(shown$class)), 0.99)
    expect_gt(length(unique(margins[, 1])), 100) # decisions, no steps
  }
  three <- kernlab::ksvm(Species ~ Petal.Length + Petal.Width, iris)
  margins <- attr(plot_boundary(three, iris, grid = 20), "margins")
  expect_identical(ncol(margins), 3L)
})

test_that("rows that a model gets wrong have a ring, which the key explains", {
  data <- simulate_circles(80, seed = 3, radius = c(1, 0.7), sd = 0.2)
  fit <- kernel_lm(y ~ ., data)
  wrong <- which(predict(fit, data) != data$y)
  expect_gt(length(wrong), 2)
  d <- drawing(plot_boundary(fit, data, grid = 10))
  rings <- d$marks[d$marks$colour == "#1A1A1A" & d$marks$y < d$frame[4], ]
  expect_equal(rings$u, data$x1[wrong], tolerance = 0.01)
  expect_equal(rings$v, data$x2[wrong], tolerance = 0.01)
  expect_words("misclassified", d$text$text)
  expect_identical(legend_marks(d, "misclassified")$shape, "open circle")
})

test_that(paste(
  "tiles show the class predicted at their middle, lines where it changes, points and",
  "legend their class"
), {
  circles <- simulate_circles(60, seed = 2)
  rings <- with_seed(3, data.frame(u = stats::runif(60, 0, 3), v = stats::runif(60, 1e5, 2e5)))
  rings$y <- factor(c("low", "middle", "high")[1 + (rings$u > 1) + (rings$u > 2)],
    levels = c("low", "middle", "high"))
  for (data in list(circles, rings)) {
    fit <- kernel_lda(y ~ ., data)
    classes <- levels(data$y)
    d <- drawing(shown <- plot_boundary(fit, data, grid = 9))
    expect_on_page(d)
    expect_equal(d$usr, c(range(shown[[1]]), range(shown[[2]])))
    u <- unique(shown[[1]])
    v <- unique(shown[[2]])
    middle <- function(a, b) (a + b) / 2
    cells <- d$tiles[abs(d$tiles$u2 - d$tiles$u1 - diff(u)[1]) < 0.01 * diff(u)[1], ]
    expect_identical(nrow(cells), 81L)
    column <- round((middle(cells$u1, cells$u2) - u[1]) / diff(u)[1]) + 1
    row <- round((middle(cells$v1, cells$v2) - v[1]) / diff(v)[1]) + 1
    code <- matrix(as.integer(predict(fit, stats::setNames(expand.grid(u, v), names(data)[1:2]))),
      9)
    expect_identical(cells$colour, tint(palette_classes, 0.25)[code[cbind(column, row)]])
    # boundaries are where the decisions of two classes are equal, between points of the grid
    margins <- class_margins(decision_matrix(predict(fit, shown[1:2], type = "decision")))
    wanted <- do.call(rbind, lapply(seq_along(classes), function(k) {
      lines <- grDevices::contourLines(u, v, matrix(margins[, k], 9), levels = 0)
      do.call(rbind, lapply(lines, function(l) cbind(l$x, l$y)))
    }))
    lines <- lines_in(d, "#4D4D4D")
    drawn <- cbind(unlist(lapply(lines, `[[`, "u")), unlist(lapply(lines, `[[`, "v")))
    round_to <- function(m) {
      unique(paste(round((m[, 1] - u[1]) / diff(range(u)), 2),
        round((m[, 2] - v[1]) / diff(range(v)), 2)))
    }
    expect_gt(mean(round_to(drawn) %in% round_to(wanted)), 0.9)
    expect_gt(mean(round_to(wanted) %in% round_to(drawn)), 0.9)
    marks <- data_marks(d, classes)
    marks <- marks[marks$colour != "#1A1A1A", ]
    shape <- c("circle", "triangle", "square")
    expect_equal(marks$u, data[[1]], tolerance = 1e-3)
    expect_equal(marks$v, data[[2]], tolerance = 1e-3)
    expect_identical(marks$colour, palette_classes[as.integer(data$y)])
    expect_identical(marks$shape, shape[as.integer(data$y)])
    beside <- legend_marks(d, classes)
    expect_identical(beside$colour, palette_classes[seq_along(classes)])
    expect_identical(beside$shape, shape[seq_along(classes)])
  }
})

test_that(paste(
  "one class everywhere has no boundary, and classes the model does not know get their own colour"
), {
  x <- as.data.frame(rbind(diag(4), diag(4)))
  y <- factor(rep(c("b", "a"), each = 4))
  none <- suppressWarnings(kernel_takes(x, y, linear_kernel(), select = "kffs", scale = FALSE))
  d <- drawing(shown <- plot_boundary(none, x, columns = c("V1", "V2"), y = y, grid = 3))
  expect_identical(as.character(shown$class), rep("a", 9))
  expect_identical(length(lines_in(d, "#4D4D4D")), 0L)
  expect_identical(unique(d$tiles$colour), tint(palette_classes[1], 0.25))
  circles <- simulate_circles(60, seed = 2)
  fit <- kernel_lm(y ~ ., circles)
  other <- replace(as.character(circles$y), 1:10, "other")
  other[11] <- NA
  d <- drawing(plot_boundary(fit, circles, y = other, grid = 5))
  expect_match(paste(d$text$text, collapse = " "), sprintf("%d of 60 rows on the wrong side",
    10 + sum(predict(fit, circles)[12:60] != circles$y[12:60])))
  marks <- data_marks(d, c("a", "b", "other"))
  marks <- marks[marks$colour != "#1A1A1A", ]
  expect_identical(marks$colour, palette_classes[match(other[-11], c("a", "b", "other"))])
  expect_identical(legend_marks(d, c("a", "b", "other"))$colour, palette_classes[1:3])
  bare <- drawing(plot_boundary(fit, circles[1:2], grid = 5))
  expect_identical(nrow(bare$marks), 0L)
  expect_gt(length(lines_in(bare, "#4D4D4D")), 0)
})

test_that("axes reach a little beyond the data, also where a column is constant", {
  expect_equal(axis_limits(c(2, 12, NA, Inf)), c(1.4, 12.6))
  expect_equal(axis_limits(4), c(2, 6))
  expect_equal(axis_limits(c(-4, -4)), c(-6, -2))
  expect_equal(axis_limits(c(0, 0)), c(-1, 1))
  # what differs by rounding alone is constant
  expect_equal(axis_limits(c(4, 4 + 2e-12)), c(2, 6))
  expect_equal(axis_limits(c(4, 4 + 1e-10)) - 4, c(-0.06e-10, 1.06e-10), tolerance = 1e-3)
})

test_that("without decisions the share of a class among neighbours smooths the steps", {
  step <- matrix(rep(c(0, 1), c(3, 3)), 6, 4)
  expect_equal(blur(step)[, 2], c(0, 0, 0.25, 0.75, 1, 1))
  expect_equal(blur(t(step)), t(blur(step)))
  expect_equal(blur(matrix(1, 1, 3)), matrix(1, 1, 3))
  margins <- class_margins(cbind(c(0.2, 0.5), c(0.7, 0.1), c(0.1, 0.4)))
  expect_equal(margins, cbind(c(-0.5, 0.1), c(0.5, -0.4), c(-0.6, -0.1)))
})

test_that(paste(
  "columns that are not shown are held at medians of what is known, first levels, first values"
), {
  data <- data.frame(a = c(1, NA, 3, 9), `b c` = c(4, 2, 8, 6),
    f = factor(c("z", "b", "z", "b"), levels = c("z", "b")),
                     t = c("t", "s", "u", "v"), check.names = FALSE)
  expect_equal(middle_row(data),
    data.frame(a = 3, `b c` = 5, f = factor("z", levels = c("z", "b")), t = "t",
      check.names = FALSE))
})

test_that(paste(
  "classes come from the response, else column y, else the only factor, if the model knows them"
), {
  d <- simulate_circles(20, seed = 1)
  d$side <- factor(ifelse(d$x1 > 0, "r", "l"))
  from_formula <- kernel_lda(side ~ x1 + x2, d)
  from_matrix <- kernel_lda(as.matrix(d[1:2]), d$side)
  classes <- function(fit, data, y = NULL) boundary_classes(fit, data, y, c("l", "r"))
  expect_identical(classes(from_formula, d), d$side)
  # two factors, and y is of other classes
  expect_null(classes(from_matrix, d))
  expect_identical(classes(from_matrix, d[c("x1", "side")]), d$side)
  expect_identical(classes(from_matrix, transform(d, y = side)), d$side)
  expect_null(classes(from_matrix, d["x1"]))
  expect_identical(classes(from_matrix, transform(d["x1"], y = as.character(d$side))), d$side)
  some <- transform(d["x1"], y = replace(d$side, 3, NA))
  expect_identical(classes(from_matrix, some), some$y)
  expect_identical(classes(from_matrix, d, "side"), d$side)
  expect_identical(classes(from_matrix, d, d$side), d$side)
  expect_identical(classes(from_matrix, d[1, ], "l"), factor("l"))
  expect_error(classes(from_matrix, d, "l"), "one class per row",
    class = "kernelect_error_argument")
  expect_error(classes(from_matrix, d, d$side[-1]), "one class per row",
    class = "kernelect_error_argument")
})

test_that(paste(
  "the two numeric columns that matter most to the model are shown, unless two others are named"
), {
  d <- data.frame(g = factor(rep(c("u", "v"), 10)), a = 1:20, b = rep(1:4, 5), c = (1:20)^2,
    y = factor(1:20 > 10))
  fit <- kernel_lda(y ~ g + log(c) + b + a, d)
  expect_identical(boundary_columns(fit, d, NULL), c("c", "a")) # b says nothing
  expect_identical(moving_columns(fit, d, c("b", "c", "a")), c("c", "a"))
  expect_identical(moving_columns(fit, d, c("b", "c")), c("b", "c"))
  expect_identical(moving_columns(fit, d[1:3, ], c("b", "c", "a")), c("b", "c"))
  expect_identical(boundary_columns(fit, d, c("b", "a")), c("b", "a"))
  expect_identical(model_variables(fit, d), c("g", "c", "b", "a"))
  from_frame <- kernel_lda(d[c("c", "a")], d$y)
  expect_identical(boundary_columns(from_frame, d, NULL), c("c", "a"))
  expect_identical(boundary_columns(kernel_lda(as.matrix(d[c("c", "a")]), d$y), d, NULL),
    c("c", "a"))
  expect_identical(boundary_columns(kernel_lda(unname(as.matrix(d[c("c", "a")])), d$y), d, NULL),
    c("a", "b"))
  for (bad in list("a", c("a", "a"), c("a", "b", "c"), c("a", "g"), c("a", "other"), 2:3)) {
    expect_error(boundary_columns(fit, d, bad), "the names of two numeric columns",
      class = "kernelect_error_argument")
  }
})

test_that("two grid points an axis are enough, and a matrix is data", {
  d <- simulate_circles(30, seed = 1)
  fit <- kernel_lm(as.matrix(d[1:2]), d$y)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(nrow(plot_boundary(fit, as.matrix(d[1:2]), grid = 2)), 4L)
  expect_error(plot_boundary(fit, d, grid = 2001), "grid", class = "kernelect_error_argument")
  expect_error(plot_boundary(fit, d[0, ]), "no rows", class = "kernelect_error_data")
  expect_identical(nrow(plot_boundary(fit, d[1, ], grid = 3)), 9L)
})

test_that("a column called y is no response unless all its values are classes of the model", {
  fit <- kernel_lda(iris[1:2], iris$Species)
  d <- cbind(iris[1:2], y = as.character(iris$Species))
  colours <- function(d) setdiff(pdf_colour(palette_classes[1:3]),
    plot_colours(plot_boundary(fit, d, grid = 10)))
  expect_identical(colours(d), character())
  d$y[7] <- "rose"
  words <- plot_words(plot_boundary(fit, d, grid = 10))
  expect_identical(words, plot_words(plot_boundary(fit, iris[1:2], grid = 10)))
})

test_that("axes go a little beyond the values, and around a single one", {
  one <- 1 + c(0, 1.1e-12)
  expect_equal(diff(axis_limits(one)), 1.12 * diff(one), tolerance = 1e-3)
  expect_equal(axis_limits(1 + c(0, 0.9e-12)), c(0.5, 1.5), tolerance = 1e-6)
  expect_equal(axis_limits(c(1, 1) * 1.1e-300), c(0.5, 1.5) * 1.1e-300)
  expect_equal(axis_limits(c(0, 0)), c(-1, 1))
})

test_that("decisions that are not one a class are passed over, and one class is everywhere", {
  register <- function(class, f) registerS3method("predict", class, f, envir = asNamespace("stats"))
  register("three_numbers", function(object, newdata, type = "class", ...) {
    if (type == "decision") return(matrix(0, nrow(newdata), 3))
    factor(ifelse(newdata$x1 > 0, "b", "a"))
  })
  d <- simulate_circles(30, seed = 1)
  shown <- plot_boundary(structure(list(), class = "three_numbers"), d[1:2], c("x1", "x2"),
    grid = 8, draw = FALSE)
  margins <- attr(shown, "margins")
  expect_identical(max.col(margins), ifelse(shown$x1 > 0, 2L, 1L))
  register("one_class", function(object, newdata, ...) factor(rep("a", nrow(newdata))))
  shown <- plot_boundary(structure(list(), class = "one_class"), d[1:2], c("x1", "x2"), grid = 4,
    draw = FALSE)
  expect_equal(attr(shown, "margins"), matrix(1, 16, 1))
})

test_that("a tuned model has the boundary and the title of the model it chose", {
  d <- simulate_circles(40, seed = 1)
  tuned <- kernel_tune(d[1:2], d$y, kernel_lda, folds = 2, grid = list(size = c(4, 8)))
  expect_identical(attr(plot_boundary(tuned, d, grid = 5, draw = FALSE), "scene")$title,
    attr(plot_boundary(tuned$model, d, grid = 5, draw = FALSE), "scene")$title)
})

test_that("a slice whose errors are not known says that it is one", {
  expect_identical(boundary_title(NULL, data.frame(u = 1), TRUE), "A slice of the classes assigned")
  expect_identical(boundary_title(NULL, data.frame(u = 1), FALSE), "Classes assigned")
})

test_that("what predict() calls `newdata` is `data` here", {
  fit <- kernel_lm(Species ~ Sepal.Length + Sepal.Width, iris)
  for (draw in list(plot_boundary, plot_effect)) {
    expect_error(draw(fit, iris[-1], draw = FALSE), "^`data` lacks column `Sepal.Length`",
      class = "kernelect_error_columns")
  }
})
