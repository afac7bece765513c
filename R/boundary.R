#' Plot the decision boundary of a classifier
#'
#' Classes that a model assigns over the plane of two columns, with rows on top and a ring around
#' those it gets wrong. Use it to see what a classifier has learned from two columns.
#'
#' @details
#' A model of more than two columns is shown on a slice: the line below the plot says at which
#' values the other columns are held, and no rows are counted, for rows do not lie in the slice. The
#' ring around a row tells of the prediction for the row itself.
#'
#' Where the model knows the error of rows left out, the title leads with that. Boundaries are drawn
#' where decisions (or probabilities) of two classes are equal, or, where a model has none that
#' agree with its classes, halfway between points of the grid.
#'
#' @param object a fitted classifier of this package: [kernel_lm()] with a factor response,
#'   [kernel_lda()], [kernel_takes()], [kernel_fusion()], [kernel_tune()]; or one of another package
#'   whose `predict()` gives classes for new data, such as those of `kernlab::ksvm()`,
#'   `e1071::svm()` and `MASS::lda()`.
#' @param data a data frame with the columns the model was fitted on, and its response to colour the
#'   points by (see `y`).
#' @param columns names of two numeric columns; the other columns are held at their median, or first
#'   level. Default: of the numeric ones the model uses the two that change most classes when rows
#'   swap their values (of more than 50, the first two).
#' @param y classes of the rows of `data`, or the name of their column. Default: the response of the
#'   model's formula, else column `y`, else the only factor column, if `data` has it and it holds
#'   classes of the model.
#' @param grid number of grid points per axis.
#' @param asp units of the second axis in those of the first, as in [plot.window()]; NA: each axis
#'   fills the plot. Default: 1, which keeps circles round, where the ranges of the two columns
#'   differ by less than a factor of two, else NA.
#' @param draw FALSE: draw nothing, for `ggplot2::autoplot()` of what is returned.
#' @param ... graphical parameters for [plot()].
#' @returns The grid with the predicted `class`, a data frame of class `kernel_boundary`, invisibly.
#'   Its attribute `held` has the values of the other columns.
#' @examples
#' circles <- simulate_circles(100, seed = 1)
#' fit <- kernel_lm(y ~ x1 + x2, circles)
#' plot_boundary(fit, circles, grid = 40)
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   ggplot2::autoplot(plot_boundary(fit, circles, grid = 40, draw = FALSE))
#' }
#' @family models
#' @family fusion
#' @export
plot_boundary <- function(object, data, columns = NULL, y = NULL, grid = 120, asp = NULL,
                          draw = TRUE, ...) {
  data <- check_rows_to_show(object, data, "a fitted classifier")
  grid <- check_whole(grid, "grid", min = 2, max = 2000)
  draw <- check_flag(draw, "draw")
  columns <- boundary_columns(object, data, columns)
  scene <- boundary_scene(object, data, columns, y)
  ends <- lapply(data[columns], axis_limits)
  asp <- check_asp(asp, ends)
  if (!draw) {
    check_dots(...)
    return(invisible(boundary_grid(object, scene, ends, grid, asp)))
  }
  ends <- open_boundary(scene, ends, asp, ...)
  found <- boundary_grid(object, scene, ends, grid, asp)
  draw_boundary(found)
  invisible(found)
}

# ---- what is asked ----------------------------------------------------------------------------

# `data` as a data frame that a model can be shown on.
check_rows_to_show <- function(object, data, what) {
  check_given("object")
  if (missing(data)) {
    abort("argument", "`data` is missing: give a data frame with the columns of the model.")
  }
  model <- isS4(object) || (is.list(object) && is.object(object))
  if (!model || is.data.frame(object)) must_be("object", what, object)
  if (!is.data.frame(data) && !is.matrix(data)) must_be("data", "a data frame", data)
  data <- as.data.frame(data)
  if (nrow(data) == 0L) abort("data", "`data` has no rows.")
  data
}

# What is shown beside the grid: rows with their classes and errors, titles.
boundary_scene <- function(object, data, columns, y) {
  middle <- middle_row(data)
  found <- predicted_factor(object, middle)
  classes <- boundary_classes(object, data, y, levels(found))
  rows <- data.frame(u = data[[columns[1L]]], v = data[[columns[2L]]])
  if (!is.null(classes)) {
    rows$class <- classes
    rows$wrong <- as.character(predicted_factor(object, data)) != as.character(classes)
  }
  others <- setdiff(model_variables(object, data), columns)
  list(
    columns = columns, middle = middle, rows = rows, held = middle[others],
    levels = union(levels(found), levels(classes)),
    title = boundary_title(left_out_error(object), rows, slice = length(others) > 0L)
  )
}

boundary_title <- function(error, rows, slice) {
  left_out <- if (!is.null(error)) sprintf("%.1f %% misclassified when left out", 100 * error)
  here <- if (!slice && !is.null(rows$wrong)) {
    sprintf("%d of %d rows on the wrong side", sum(rows$wrong, na.rm = TRUE), nrow(rows))
  }
  all <- c(if (slice) "A slice", left_out, here)
  if (identical(all, "A slice")) all <- "A slice of the classes assigned"
  if (is.null(all)) "Classes assigned" else paste(all, collapse = "; ")
}

boundary_classes <- function(object, data, y, levels) {
  if (is.null(y)) {
    factors <- names(data)[vapply(data, is.factor, NA)]
    known <- c(response_name(model_terms(object)), "y", if (length(factors) == 1L) factors)
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

boundary_columns <- function(object, data, columns) {
  numeric <- names(data)[vapply(data, is.numeric, NA)]
  if (is.null(columns)) {
    used <- model_variables(object, data)
    columns <- moving_columns(object, data, if (length(used)) intersect(used, numeric) else numeric)
    if (length(columns) < 2L) fail_no_plane(object, data, columns)
  }
  if (!is.character(columns) || length(columns) != 2L || anyDuplicated(columns) ||
      !all(columns %in% numeric)) {
    must_be("columns", "the names of two numeric columns of `data`", columns)
  }
  columns
}

fail_no_plane <- function(object, data, columns) {
  predicted_factor(object, middle_row(data)) # tells of columns that `data` lacks
  abort("argument", "A boundary is drawn over two numeric columns, and the model uses ",
        if (length(columns)) paste0("one of `data`, ", backticked(columns)) else "none of `data`",
        ": see `plot_effect()`.")
}

check_asp <- function(asp, ends) {
  if (is.null(asp)) {
    spans <- vapply(ends, diff, 0)
    return(if (max(spans) < 2 * min(spans)) 1 else NA)
  }
  if (length(asp) == 1L && is.na(asp)) return(NA)
  check_number(asp, "asp", above = 0)
}

# ---- what a model uses ------------------------------------------------------------------------

# The terms of a model of this package or another one, NULL where there are none.
model_terms <- function(object) {
  if (inherits(object, "kernelect_model")) return(model_input(object)$terms)
  found <- tryCatch(stats::terms(object), error = function(e) NULL)
  if (is.null(found) && isS4(object)) found <- attr(object, "kterms", exact = TRUE) # of kernlab
  if (inherits(found, "terms")) found
}


# The columns of `data` that the model is known to use.
model_variables <- function(object, data) {
  terms <- model_terms(object)
  input <- if (inherits(object, "kernelect_model")) model_input(object)
  used <- if (!is.null(terms)) {
    all.vars(stats::delete.response(terms))
  } else if (!is.null(input$variables)) {
    input$variables
  } else if (!is.null(input)) {
    input$columns
  } else {
    foreign_columns(object)
  }
  intersect(used, names(data))
}

# The two columns that matter most to the classes of some rows, in their order in the model: most of
# these change where rows have the value of another, a quarter, half and three quarters further on.
moving_columns <- function(object, data, columns) {
  if (length(columns) < 3L || length(columns) > 50L || nrow(data) < 4L) {
    return(utils::head(columns, 2L))
  }
  rows <- data[evenly_spaced(nrow(data), 100L), , drop = FALSE]
  classes <- tryCatch(as.character(predicted_factor(object, rows)), error = function(e) NULL)
  if (is.null(classes)) return(utils::head(columns, 2L)) # the error comes when it is drawn
  further <- function(by) (seq_len(nrow(rows)) + floor(by * nrow(rows)) - 1L) %% nrow(rows) + 1L
  changed <- vapply(columns, function(name) {
    sum(vapply(c(0.25, 0.5, 0.75), function(by) {
      swapped <- rows
      swapped[[name]] <- rows[[name]][further(by)]
      sum(as.character(predicted_factor(object, swapped)) != classes, na.rm = TRUE)
    }, 0))
  }, 0)
  columns[sort(order(-changed)[1:2])]
}

# Names of the columns of support vectors, as e1071 and kernlab keep them.
foreign_columns <- function(object) {
  rows <- if (isS4(object)) attr(object, "xmatrix", exact = TRUE) else object$SV
  while (is.list(rows) && length(rows)) rows <- rows[[1L]]
  colnames(rows)
}

response_name <- function(terms) {
  if (length(terms) == 3L && is.name(terms[[2L]])) as.character(terms[[2L]])
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

# ---- what it says -----------------------------------------------------------------------------

# Models of other packages were made for the columns they know, in that order.
ask_model <- function(object, data, ...) {
  if (!inherits(object, "kernelect_model") && is.null(model_terms(object))) {
    known <- foreign_columns(object)
    if (length(known) && all(known %in% names(data))) data <- as.matrix(data[known])
  }
  # a formal class is asked by the generic of its package
  home <- if (isS4(object)) attr(class(object), "package")
  formal <- !is.null(home) && "predict" %in% getNamespaceExports(home)
  ask <- if (formal) getExportedValue(home, "predict") else stats::predict
  blame_data(ask(object, data, ...))
}

# What predict() calls `newdata` the user gave as `data`.
blame_data <- function(code) {
  withCallingHandlers(code, kernelect_error = function(e) {
    e$message <- gsub("`newdata", "`data", conditionMessage(e), fixed = TRUE)
    stop(e)
  })
}

# Classes as a factor, as `predict()` gives them or in field `class` of what it gives.
predicted_factor <- function(object, data) {
  found <- ask_model(object, data)
  if (is.list(found) && is.factor(found$class)) found <- found$class
  if (is.factor(found)) return(found)
  abort("argument", "`object` must be a classifier: its predictions are of class \"",
        class(found)[1L], "\", not a factor.")
}

# Numbers by which a model compares classes, a column a level: the first of what models offer whose
# largest is the class `found`, else the share of the class among neighbours on the grid.
class_values <- function(object, mesh, found, sides) {
  offers <- list(
    function() ask_model(object, mesh, type = "decision"),
    function() ask_model(object, mesh, type = "prob"),
    function() ask_model(object, mesh, type = "probabilities"),
    function() ask_model(object, mesh)$posterior,
    function() attr(ask_model(object, mesh, decision.values = TRUE), "decision.values")
  )
  code <- as.integer(found)
  for (offer in offers) {
    values <- tryCatch(suppressWarnings(offer()), error = function(e) NULL)
    if (!is.numeric(values) || NROW(values) != length(code)) next
    values <- decision_matrix(unname(values))
    if (ncol(values) != nlevels(found)) next
    # the largest value says the class, but for rows on the boundary; what is drawn is between
    for (turned in list(values, -values)) {
      if (mean(max.col(turned, "first") == code, na.rm = TRUE) > 0.995) return(turned)
    }
  }
  vapply(seq_len(nlevels(found)), function(k) {
    as.vector(blur(blur(matrix((code == k) + 0, sides[1L]))))
  }, numeric(length(code)))
}

# Each number with its neighbours along both sides of a matrix.
blur <- function(m) {
  along <- function(m) {
    n <- nrow(m)
    before <- m[c(1L, seq_len(n - 1L)), , drop = FALSE]
    after <- m[c(seq_len(n)[-1L], n), , drop = FALSE]
    (before + 2 * m + after) / 4
  }
  t(along(t(along(m))))
}

# How far a class is ahead of the best other one: the boundary is where that is zero.
class_margins <- function(values) {
  if (ncol(values) == 1L) return(0 * values + 1)
  vapply(seq_len(ncol(values)), function(k) {
    values[, k] - do.call(pmax, as.data.frame(values[, -k, drop = FALSE]))
  }, numeric(nrow(values)))
}

# A little beyond the finite values, also where there is only one.
axis_limits <- function(v) {
  v <- v[is.finite(v)]
  if (!length(v)) abort("data", "`columns` of `data` have no finite values to draw.")
  ends <- range(v)
  spread <- diff(ends)
  margin <- if (spread > max(1e-300, 1e-12 * abs(v[1L]))) {
    0.06 * spread
  } else if (abs(v[1L]) > 1e-300) {
    0.5 * abs(v[1L])
  } else {
    1
  }
  ends + c(-margin, margin)
}

# Classes over the rectangle `ends`.
boundary_grid <- function(object, scene, ends, grid, asp) {
  points <- do.call(expand.grid, lapply(ends, function(e) seq(e[1L], e[2L], length.out = grid)))
  mesh <- scene$middle[rep(1L, nrow(points)), , drop = FALSE]
  rownames(mesh) <- NULL
  mesh[scene$columns] <- points
  found <- predicted_factor(object, mesh)
  margins <- class_margins(class_values(object, mesh, found, c(grid, grid)))
  structure(
    cbind(mesh[scene$columns], class = found), class = c("kernel_boundary", "data.frame"),
    held = scene$held, margins = margins, scene = scene, asp = asp
  )
}

# ---- drawing ----------------------------------------------------------------------------------

# Labels, colours and symbols of the classes, and of rings around errors if there are any.
boundary_key <- function(scene) {
  k <- length(scene$levels)
  wrong <- any(scene$rows$wrong, na.rm = TRUE)
  list(
    labels = c(shorten(scene$levels, 20L), if (wrong) "misclassified"),
    col = c(class_colours(k), if (wrong) "grey10"), pch = c(class_symbols(k), if (wrong) 1L)
  )
}

# Axes and titles; where the legend does not fit above the plot there is room for it at the right.
open_boundary <- function(scene, ends, asp, ..., frame = parent.frame()) {
  slice <- length(scene$held) > 0L
  labels <- if (!is.null(scene$rows$class)) boundary_key(scene)$labels
  ends[[1L]] <- limits_with_key(ends[[1L]], labels)
  local_par(las = upright(ends[[2L]]), mgp = c(if (slice) 2 else 2.5, 0.6, 0), frame = frame)
  draw(graphics::plot, list(
    x = ends[[1L]], y = ends[[2L]], type = "n", xaxs = "i", yaxs = "i", asp = asp,
    xlab = shorten(scene$columns[1L], 24L), ylab = shorten(scene$columns[2L], 24L),
    main = scene$title
  ), ..., title_line = title_over(labels))
  if (slice) note_below(held_words(scene$held))
  usr <- graphics::par("usr")
  list(usr[1:2], usr[3:4])
}

# "at a = 1.5, b = 2 and 3 more": what fits below the plot.
held_words <- function(held, room = graphics::par("fin")[1L] / (0.8 * graphics::par("csi"))) {
  values <- vapply(held, function(v) {
    if (is.numeric(v)) format(v, digits = 3) else as.character(v)
  }, "")
  parts <- paste(shorten(names(held), 20L), "=", values)
  for (shown in rev(seq_along(parts))) {
    rest <- length(parts) - shown
    words <- paste0(
      "at ", paste(parts[seq_len(shown)], collapse = ", "),
      if (rest) sprintf(" and %d more at their medians or first levels", rest)
    )
    if (nchar(words) * lines_a_letter < room) break
  }
  words
}

note_below <- function(words, line = 3) {
  room <- graphics::par("fin")[1L] / graphics::strwidth(words, "inches", cex = 0.8)
  graphics::mtext(words, 1, line = line, cex = 0.8 * min(1, 0.97 * room) * graphics::par("cex"),
                  col = "grey30", at = graphics::grconvertX(0.5, "nfc", "user"))
}

draw_boundary <- function(found) {
  scene <- attr(found, "scene")
  u <- unique(found[[1L]])
  v <- unique(found[[2L]])
  margins <- attr(found, "margins")
  colours <- class_colours(length(scene$levels))
  code <- matrix(match(found$class, scene$levels), length(u))
  shades <- tint(colours, 0.25)
  graphics::image(u, v, code, col = shades, breaks = seq(0.5, length(shades) + 0.5), add = TRUE)
  for (k in which(colSums(margins > 0, na.rm = TRUE) > 0)) {
    ahead <- matrix(margins[, k], length(u))
    if (all(ahead > 0, na.rm = TRUE)) next # no boundary
    graphics::.filled.contour(u, v, ahead, c(0, max(ahead, na.rm = TRUE)), shades[k])
    graphics::contour(u, v, ahead, levels = 0, drawlabels = FALSE, add = TRUE, col = "grey30",
                      lwd = 1.2)
  }
  rows <- scene$rows
  if (is.null(rows$class)) return(graphics::box())
  key <- boundary_key(scene)
  at <- match(rows$class, scene$levels)
  graphics::points(rows$u, rows$v, pch = key$pch[at], col = colours[at], cex = 0.7)
  wrong <- which(rows$wrong)
  graphics::points(rows$u[wrong], rows$v[wrong], pch = 1, col = "grey10", cex = 1.2, lwd = 0.7)
  graphics::box()
  add_key(key$labels, key$col, key$pch)
}
