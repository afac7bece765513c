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
#' @param y classes of the rows of `data`, or the name of their column. Default: the response of the
#'   model's formula, else column `y`, else the only factor column, if `data` has it and it holds
#'   classes of the model.
#' @param grid number of grid points per axis.
#' @param ... graphical parameters for [plot()].
#' @returns The grid with the predicted class, a data frame, invisibly.
#' @examples
#' circles <- simulate_circles(100, seed = 1)
#' fit <- kernel_lm(y ~ x1 + x2, circles)
#' plot_boundary(fit, circles, grid = 40)
#' @family models
#' @family fusion
#' @export
plot_boundary <- function(object, data, columns = NULL, y = NULL, grid = 120, ...) {
  check_given("object")
  if (missing(data)) {
    abort("argument", "`data` is missing: give a data frame with the columns of the model.")
  }
  if (!is.list(object) || !is.object(object) || is.data.frame(object)) {
    must_be("object", "a fitted classifier", object)
  }
  if (!is.data.frame(data) && !is.matrix(data)) must_be("data", "a data frame", data)
  data <- as.data.frame(data)
  if (nrow(data) == 0L) abort("data", "`data` has no rows.")
  grid <- check_whole(grid, "grid", min = 2, max = 2000)
  columns <- boundary_columns(object, data, columns)
  middle <- middle_row(data)
  found <- stats::predict(object, middle)
  if (!is.factor(found)) {
    abort("argument", "`object` must be a classifier: its predictions are of class \"",
          class(found)[1L], "\", not a factor.")
  }
  classes <- boundary_classes(object, data, y, levels(found))
  right <- if (!is.null(classes)) {
    sum(as.character(stats::predict(object, data)) == as.character(classes), na.rm = TRUE)
  }
  mesh <- boundary_mesh(data, middle, columns, grid, nlevels(classes))
  found <- stats::predict(object, mesh)
  slice <- length(setdiff(model_variables(object, data), columns)) > 0L
  where <- if (slice) {
    "classified rightly; other columns held at their medians"
  } else {
    "on their side of the boundary"
  }
  draw_boundary(mesh, found, data, columns, classes, right, where, ...)
  invisible(cbind(mesh[columns], class = found))
}

boundary_classes <- function(object, data, y, levels) {
  if (is.null(y)) {
    factors <- names(data)[vapply(data, is.factor, NA)]
    known <- c(response_name(model_input(object)$terms), "y", if (length(factors) == 1L) factors)
    fits <- function(name) all(as.character(data[[name]]) %in% c(levels, NA))
    known <- Filter(fits, intersect(known, names(data)))
    if (!length(known)) return(NULL)
    y <- known[1L]
  }
  if (is.character(y) && length(y) == 1L && y %in% names(data)) y <- data[[y]]
  if (length(y) != nrow(data)) {
    abort("argument", "`y` must have one class per row of `data`, or name a column of it.")
  }
  factor(y)
}

# The columns of `data` that the model is known to use.
model_variables <- function(object, data) {
  input <- model_input(object)
  used <- if (!is.null(input$terms)) all.vars(stats::delete.response(input$terms))
    else if (!is.null(input$variables)) input$variables else input$columns
  intersect(used, names(data))
}

response_name <- function(terms) {
  if (length(terms) == 3L && is.name(terms[[2L]])) as.character(terms[[2L]])
}

boundary_columns <- function(object, data, columns) {
  numeric <- names(data)[vapply(data, is.numeric, NA)]
  if (is.null(columns)) {
    used <- model_variables(object, data)
    columns <- utils::head(if (length(used)) intersect(used, numeric) else numeric, 2L)
  }
  if (!is.character(columns) || length(columns) != 2L || anyDuplicated(columns) ||
      !all(columns %in% numeric)) {
    must_be("columns", "the names of two numeric columns of `data`", columns)
  }
  columns
}

# Medians and first levels.
middle_row <- function(data) {
  as.data.frame(optional = TRUE, lapply(data, function(v) {
    if (is.numeric(v)) {
      stats::median(v, na.rm = TRUE)
    } else if (is.factor(v)) {
      factor(levels(v)[1L], levels(v))
    } else {
      v[1L]
    }
  }))
}

boundary_mesh <- function(data, middle, columns, grid, classes) {
  axis <- function(v, classes) {
    v <- v[is.finite(v)]
    if (!length(v)) abort("data", "`columns` of `data` have no finite values to draw.")
    ends <- limits_for(v, classes)
    spread <- diff(ends)
    margin <- if (spread > max(1e-300, 1e-12 * abs(v[1L]))) {
      0.06 * spread
    } else if (abs(v[1L]) > 1e-300) {
      0.5 * abs(v[1L])
    } else {
      1
    }
    seq(ends[1L] - margin, ends[2L] + margin, length.out = grid)
  }
  points <- expand.grid(axis(data[[columns[1L]]], classes), axis(data[[columns[2L]]], 1L))
  mesh <- middle[rep(1L, nrow(points)), , drop = FALSE]
  rownames(mesh) <- NULL
  mesh[columns] <- points
  mesh
}

draw_boundary <- function(mesh, found, data, columns, classes, right, where, ...) {
  u <- unique(mesh[[columns[1L]]])
  v <- unique(mesh[[columns[2L]]])
  levels <- union(levels(found), levels(classes))
  colours <- class_colours(length(levels))
  code <- matrix(match(found, levels), length(u))
  symbol <- class_symbols(length(levels))
  local_par(las = upright(v))
  draw(graphics::plot, list(
    x = range(u), y = range(v), type = "n", xaxs = "i", yaxs = "i",
    xlab = columns[1L], ylab = columns[2L],
    main = if (is.null(right)) {
      "Classes assigned"
    } else {
      sprintf("%d of %d rows %s", right, nrow(data), where)
    }
  ), ...)
  graphics::image(u, v, code, col = tint(colours, 0.25),
                  breaks = seq(0.5, length(levels) + 0.5), add = TRUE)
  for (k in intersect(seq_along(levels), code)) {
    if (all(code == k, na.rm = TRUE)) break # no boundary
    graphics::contour(u, v, (code == k) + 0, levels = 0.5, drawlabels = FALSE, add = TRUE,
                      col = "grey30", lwd = 1.2)
  }
  if (!is.null(classes)) {
    at <- match(classes, levels)
    graphics::points(data[[columns[1L]]], data[[columns[2L]]], pch = symbol[at],
                     col = colours[at], cex = 0.7)
    add_legend(data[[columns[1L]]], data[[columns[2L]]], shorten(levels, 20L),
               col = colours, pch = symbol)
  } else {
    graphics::box()
  }
}
