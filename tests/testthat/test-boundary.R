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
  expect_words(c(title(from_matrix), "a", "b"),
    plot_words(plot_boundary(from_matrix, d[-4], grid = 6)))
  d$class <- as.character(d$class)
  expect_words(c(title(lm), "a", "b"), plot_words(plot_boundary(lm, d, grid = 6)))
})

test_that("a slice through more than two columns says so", {
  fit <- kernel_lda(Species ~ ., iris, size = 10)
  right <- sum(predict(fit, iris) == iris$Species)
  expect_words(sprintf("%d of 150 rows classified rightly; other columns held at their medians",
    right),
               plot_words(plot_boundary(fit, iris, grid = 6)))
  logs <- kernel_lda(Species ~ log(Sepal.Length) + Sepal.Width, iris, size = 10)
  expect_words(sprintf("%d of 150 rows on their side of the boundary",
    sum(predict(logs, iris) == iris$Species)),
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
    # boundaries are half way between neighbours of different classes
    across <- which(code[-9, ] != code[-1, ], arr.ind = TRUE)
    up <- which(code[, -9] != code[, -1], arr.ind = TRUE)
    wanted <- rbind(across + rep(c(0.5, 0), each = nrow(across)),
      up + rep(c(0, 0.5), each = nrow(up)))
    lines <- lines_in(d, "#4D4D4D")
    drawn <- cbind((unlist(lapply(lines, `[[`, "u")) - u[1]) / diff(u)[1] + 1,
      (unlist(lapply(lines, `[[`, "v")) - v[1]) / diff(v)[1] + 1)
    expect_setequal(unique(paste(round(2 * drawn[, 1]), round(2 * drawn[, 2]))),
      paste(2 * wanted[, 1], 2 * wanted[, 2]))
    marks <- data_marks(d, classes)
    shape <- c("circle", "triangle", "square")
    expect_equal(marks$u, data[[1]], tolerance = 1e-3)
    expect_equal(marks$v, data[[2]], tolerance = 1e-3)
    expect_identical(marks$colour, palette_classes[as.integer(data$y)])
    expect_identical(marks$shape, shape[as.integer(data$y)])
    beside <- legend_marks(d, classes)
    expect_identical(beside$colour, palette_classes[seq_along(classes)])
    expect_identical(beside$shape, shape[seq_along(classes)])
  }
  # the legend leaves the corner of the points
  corner <- data.frame(u = c(0, 3, 3, 2.9), v = c(1e5, 2e5, 1.98e5, 1.97e5),
    y = factor(c("low", "high", "high", "high")))
  legend <- text_of(drawing(plot_boundary(fit, corner, grid = 4)), "low")
  expect_lt(legend$u, 1.5)
  expect_gt(legend$v, 1.5e5)
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
  expect_setequal(d$tiles$colour, c(tint(palette_classes[1], 0.25), "#FFFFFF"))
  circles <- simulate_circles(60, seed = 2)
  fit <- kernel_lm(y ~ ., circles)
  other <- replace(as.character(circles$y), 1:10, "other")
  other[11] <- NA
  d <- drawing(plot_boundary(fit, circles, y = other, grid = 5))
  expect_words(sprintf("%d of 60 rows on their side of the boundary",
    sum(predict(fit, circles)[12:60] == circles$y[12:60])), d$text$text)
  marks <- data_marks(d, c("a", "b", "other"))
  expect_identical(marks$colour, palette_classes[match(other[-11], c("a", "b", "other"))])
  expect_identical(legend_marks(d, c("a", "b", "other"))$colour, palette_classes[1:3])
  bare <- drawing(plot_boundary(fit, circles[1:2], grid = 5))
  expect_identical(nrow(bare$marks), 0L)
  expect_gt(length(lines_in(bare, "#4D4D4D")), 0)
})

test_that("the grid reaches a little beyond the data, also where a column is constant", {
  ends <- function(v, classes = 2L, w = c(0, 1)) {
    data <- data.frame(v = v, w = rep_len(w, length(v)), k = 7)
    mesh <- boundary_mesh(data, data[1, ], c("v", "w"), 4L, classes)
    expect_identical(mesh$k, rep(7, 16))
    expect_equal(as.matrix(mesh[1:2]),
      as.matrix(expand.grid(v = unique(mesh$v), w = unique(mesh$w))), ignore_attr = TRUE)
    expect_equal(diff(unique(mesh$v)), rep(diff(range(mesh$v)) / 3, 3), tolerance = 1e-3)
    list(v = range(mesh$v), w = range(mesh$w))
  }
  expect_equal(ends(c(2, 12, NA, Inf)), list(v = c(1.4, 12.6), w = c(-0.06, 1.06)))
  # many classes get room for their legend at the right, not above
  expect_equal(ends(c(2, 12), 6L), list(v = c(2 - 0.75, 14.5 + 0.75), w = c(-0.06, 1.06)))
  expect_equal(ends(4)$v, c(2, 6))
  expect_equal(ends(c(-4, -4))$v, c(-6, -2))
  expect_equal(ends(c(0, 0))$v, c(-1, 1))
  # what differs by rounding alone is constant
  expect_equal(ends(c(4, 4 + 2e-12))$v, c(2, 6))
  expect_equal(ends(c(4, 4 + 1e-10))$v - 4, c(-0.06e-10, 1.06e-10), tolerance = 1e-3)
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
  "the first two numeric columns that the model uses are shown, unless two others are named"
), {
  d <- data.frame(g = factor(rep(c("u", "v"), 10)), a = 1:20, b = rep(1:4, 5), c = (1:20)^2,
    y = factor(1:20 > 10))
  fit <- kernel_lda(y ~ g + log(c) + b + a, d)
  expect_identical(boundary_columns(fit, d, NULL), c("c", "b"))
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
