#' Plot the decision boundary of a classifier
#'
#' Classes that a model assigns over the plane of two columns, with the training rows on top. Use
#' it to see what a classifier of this package has learned from two columns.
#'
#' @param object a fitted classifier of this package: [kernel_lm()] with a factor response,
#'   [kernel_lda()], [kernel_takes()], [kernel_fusion()], or anything whose `predict()` gives a
#'   factor for new data.
#' @param data a data frame with the columns the model was fitted on, and its response to colour the
#'   points by (see `y`).
#' @param columns names of two numeric columns; the other columns are held at their median, or first
#'   level. Default: the first two numeric ones the model uses.
#' @param y classes of the rows of `data`, or the name of their column. Default: column `y` of `data`
#'   if there is one, else the only factor column.
#' @param grid number of grid points per axis.
#' @param ... graphical parameters for [plot()].
#' @returns The grid with the predicted class, a data frame, invisibly.
#' @examples
#' circles <- simulate_circles(100, seed = 1)
#' fit <- kernel_lm(y ~ x1 + x2, circles)
#' plot_boundary(fit, circles, grid = 40)
#' @family plots
#' @export
plot_boundary <- function(object, data, columns = NULL, y = NULL, grid = 120, ...) {
  if (!is.list(object) || !is.object(object) || is.data.frame(object)) must_be("object", "a fitted classifier", object)
  if (!is.data.frame(data) && !is.matrix(data)) must_be("data", "a data frame", data)
  data <- as.data.frame(data)
  if (nrow(data) == 0L) abort("data", "`data` has no rows.")
  grid <- check_whole(grid, "grid", min = 2, max = 2000)
  classes <- boundary_classes(data, y)
  columns <- boundary_columns(object, data, columns)
  mesh <- boundary_mesh(data, columns, grid)
  found <- stats::predict(object, mesh)
  if (!is.factor(found)) {
    abort("argument", "`object` must be a classifier: its predictions are ", describe(found), ", not classes.")
  }
  right <- if (!is.null(classes)) sum(as.character(stats::predict(object, data)) == as.character(classes), na.rm = TRUE)
  draw_boundary(mesh, found, data, columns, classes, right, ...)
  invisible(cbind(mesh[columns], class = found))
}

boundary_classes <- function(data, y) {
  if (is.null(y)) {
    factors <- names(data)[vapply(data, is.factor, NA)]
    y <- if ("y" %in% names(data)) "y" else if (length(factors) == 1L) factors
  }
  if (is.null(y)) return(NULL)
  if (is.character(y) && length(y) == 1L && y %in% names(data)) y <- data[[y]]
  if (length(y) != nrow(data)) abort("argument", "`y` must have one class per row of `data`, or name a column of it.")
  factor(y)
}

boundary_columns <- function(object, data, columns) {
  numeric <- names(data)[vapply(data, is.numeric, NA)]
  if (is.null(columns)) {
    input <- if (is.null(object$input)) object$basis$input else object$input
    used <- if (!is.null(input$variables)) input$variables else input$columns
    columns <- utils::head(if (is.null(used)) numeric else intersect(used, numeric), 2L)
  }
  if (!is.character(columns) || length(columns) != 2L || anyDuplicated(columns) || !all(columns %in% numeric)) {
    must_be("columns", "the names of two numeric columns of `data`", columns)
  }
  columns
}

boundary_mesh <- function(data, columns, grid) {
  middle <- lapply(data, function(v) {
    if (is.numeric(v)) stats::median(v, na.rm = TRUE) else if (is.factor(v)) factor(levels(v)[1L], levels(v)) else v[1L]
  })
  axis <- function(v) {
    v <- v[is.finite(v)]
    if (!length(v)) abort("data", "`columns` of `data` have no finite values to draw.")
    spread <- max(v) - min(v)
    margin <- if (spread > max(1e-300, 1e-12 * abs(v[1L]))) 0.06 * spread else if (abs(v[1L]) > 1e-300) 0.5 * abs(v[1L]) else 1
    seq(min(v) - margin, max(v) + margin, length.out = grid)
  }
  points <- expand.grid(axis(data[[columns[1L]]]), axis(data[[columns[2L]]]))
  mesh <- as.data.frame(lapply(middle, rep, length.out = nrow(points)), optional = TRUE)
  mesh[columns] <- points
  mesh
}

draw_boundary <- function(mesh, found, data, columns, classes, right, ...) {
  u <- unique(mesh[[columns[1L]]])
  v <- unique(mesh[[columns[2L]]])
  levels <- union(levels(found), levels(classes))
  colours <- class_colours(length(levels))
  code <- matrix(match(found, levels), length(u))
  symbol <- c(16, 17, 15, 18, 3, 4, 8, 1)[(seq_along(levels) - 1L) %% 8L + 1L]
  local_par()
  draw(graphics::plot, list(
    x = range(u), y = range(v), type = "n", xaxs = "i", yaxs = "i", xlab = columns[1L], ylab = columns[2L],
    main = if (is.null(right)) "Classes assigned" else sprintf("%d of %d rows on their side of the boundary", right, nrow(data))
  ), ...)
  graphics::image(u, v, code, col = grDevices::adjustcolor(colours, 0.25), breaks = seq(0.5, length(levels) + 0.5), add = TRUE)
  for (k in intersect(seq_along(levels), code)) {
    if (all(code == k, na.rm = TRUE)) break # no boundary
    graphics::contour(u, v, (code == k) + 0, levels = 0.5, drawlabels = FALSE, add = TRUE, col = "grey30", lwd = 1.2)
  }
  if (!is.null(classes)) {
    at <- match(classes, levels)
    graphics::points(data[[columns[1L]]], data[[columns[2L]]], pch = symbol[at], col = colours[at], cex = 0.7)
    graphics::legend("topright", levels, col = colours, pch = symbol, bg = "#FFFFFFCC", box.col = NA, cex = 0.85)
  }
  graphics::box()
}

