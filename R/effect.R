# How predictions of a model move with one or two of its columns, averaged over rows.

#' Plot the effect of one or two columns on the predictions of a model
#'
#' Predictions of any model, averaged over rows of `data`, as one or two columns are moved through
#' their range: the partial dependence. Use it to see what a model of several columns has learned
#' about one of them, or about two together.
#'
#' @details
#' Every row of `data` is predicted with the columns set to each point of a grid, its other columns
#' as they are; the curve is the mean over rows, the band holds the middle 80 % of them. A band as
#' wide as the curve is high says that the effect depends on other columns: try two at once.
#' Combinations that no row comes near are predicted all the same; ticks (or points) show where rows
#' are. Where names of levels are turned the lower margin fits them; it is put back afterwards, and
#' what is added to the plot then lands elsewhere.
#'
#' Classifiers are shown by their probabilities, where they have none by the share of rows given to
#' a class; of more than six classes those are drawn that the column moves most, and the line below
#' the plot says how many there are. Models of several numbers, such as [kernel_pca()], are shown by
#' the first six of them.
#'
#' @param object a fitted model with `predict()`: any of this package that was fitted to columns, or
#'   of another one.
#' @param data a data frame with the columns of the model, such as the training rows.
#' @param columns names of one or two columns, numbers or factors. Default: the first one the model
#'   uses.
#' @param class for a classifier, the class whose probability is shown. Default: for one column all
#'   classes (of two the second, of more than six the six that it moves most), for two columns the
#'   class that they move most.
#' @param rows at most this many rows of `data`, evenly spaced, are averaged over.
#' @param grid number of grid points along a column of numbers. Default: 50 for one column, 25 for
#'   two.
#' @inheritParams plot_boundary
#' @returns A data frame of class `kernel_effect`, invisibly: the columns, `response` (which class
#'   or number), `mean`, and `low` and `high`, the ends of the band.
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp + qsec, mtcars)
#' plot_effect(fit, mtcars, "wt")
#' plot_effect(fit, mtcars, c("wt", "hp"), grid = 12)
#' plot_effect(kernel_lda(Species ~ ., iris), iris, "Petal.Length", rows = 50)
#' @family models
#' @export
plot_effect <- function(object, data, columns = NULL, class = NULL, rows = 200, grid = NULL,
                        draw = TRUE, ...) {
  data <- check_rows_to_show(object, data, "a fitted model")
  columns <- effect_columns(object, data, columns)
  rows <- check_whole(rows, "rows", min = 1)
  if (is.null(grid)) grid <- if (length(columns) == 1L) 50 else 25
  grid <- check_whole(grid, "grid", min = 2, max = 500)
  if (!check_flag(draw, "draw")) check_dots(...)
  effect <- effect_of(object, data, columns, class, rows, grid)
  if (draw && is_surface(effect)) draw_surface(effect, ...)
  if (draw && !is_surface(effect)) draw_effect(effect, ...)
  invisible(effect)
}

# ---- what is asked ----------------------------------------------------------------------------

effect_columns <- function(object, data, columns) {
  used <- model_variables(object, data)
  possible <- names(data)[vapply(data, function(v) {
    is.factor(v) || is.character(v) || is.logical(v) || is.numeric(v)
  }, NA)]
  if (is.null(columns)) columns <- utils::head(intersect(used, possible), 1L)
  if (!is.character(columns) || !length(columns) %in% 1:2 || anyDuplicated(columns) ||
      !all(columns %in% possible)) {
    must_be("columns", "the names of one or two columns of `data`, numbers or factors", columns)
  }
  unused <- setdiff(columns, used)
  if (length(used) && length(unused)) {
    abort("argument", "`columns`: the model does not use ", backticked(unused), ".")
  }
  # numbers go along the axis
  columns[order(!vapply(data[columns], is.numeric, NA))]
}

# The points at which a column is set.
effect_grid <- function(v, grid) {
  if (!is.numeric(v)) {
    levels <- if (is.factor(v)) levels(factor(v)) else sort(unique(v))
    if (!length(levels)) fail_nothing_to_draw()
    return(if (is.factor(v)) factor(levels, levels(v)) else levels)
  }
  known <- sort(unique(v[is.finite(v)]))
  if (!length(known)) fail_nothing_to_draw()
  if (length(known) <= 12L) known else seq(known[1L], known[length(known)], length.out = grid)
}

fail_nothing_to_draw <- function() {
  abort("data", "`columns` of `data` have no finite values to draw.")
}

# ---- what the model says ------------------------------------------------------------------------

# Numbers to average, a column each: probabilities, shares of classes, or the predictions.
effect_values <- function(object, mesh) {
  if (inherits(object, "kernel_rank")) {
    abort("argument", "`object` is a ranking: it predicts nothing that could be drawn.")
  }
  found <- if (inherits(object, "kernelect_model") && gives_classes(object)) {
    tryCatch(ask_model(object, mesh, type = "prob"),
             kernelect_error_argument = function(e) ask_model(object, mesh))
  } else {
    ask_model(object, mesh)
  }
  if (is.list(found) && is.factor(found$class)) found <- found$class
  if (is.factor(found)) return(structure(indicators(found), classes = TRUE))
  if (!is.numeric(found)) must_be("object", "a model that predicts numbers or classes", object)
  found <- as.matrix(found)
  if (ncol(found) > 1L && is.null(colnames(found))) colnames(found) <- colnames_or(found, "y")
  attr(found, "classes") <- inherits(object, "kernelect_model") && gives_classes(object)
  found
}

gives_classes <- function(object) {
  if (inherits(object, "kernel_tune")) object <- object$model
  is_classifier(object)
}

most_curves <- 6L

effect_of <- function(object, data, columns, class, rows, grid) {
  data <- data[evenly_spaced(nrow(data), rows), , drop = FALSE]
  rownames(data) <- NULL
  points <- do.call(expand.grid, c(
    lapply(data[columns], effect_grid, grid), list(stringsAsFactors = FALSE, KEEP.OUT.ATTRS = FALSE)
  ))
  n <- nrow(data)
  mesh <- data[rep(seq_len(n), nrow(points)), , drop = FALSE]
  rownames(mesh) <- NULL
  mesh[columns] <- points[rep(seq_len(nrow(points)), each = n), , drop = FALSE]
  values <- effect_values(object, mesh)
  classes <- isTRUE(attr(values, "classes"))
  shown <- effect_responses(values, class, n, classes, alone = length(columns) == 1L)
  response <- if (classes) NULL else response_name(model_terms(object))
  table <- do.call(rbind, lapply(shown, function(j) {
    name <- if (is.null(colnames(values))) "prediction" else colnames(values)[j]
    cbind(points, response = name, effect_summary(matrix(values[, j], n)))
  }))
  structure(table, class = c("kernel_effect", "data.frame"), columns = columns, classes = classes,
            name = response, n = complete_count(values, n), rows = data[columns],
            of = if (is.null(class)) ncol(values))
}

# Rows that have a value at some point.
complete_count <- function(values, n) {
  sum(rowSums(!is.na(matrix(values[, 1L], n))) > 0)
}

effect_summary <- function(values) {
  ends <- apply(values, 2L, stats::quantile, c(0.1, 0.9), na.rm = TRUE, names = FALSE)
  data.frame(mean = colMeans(values, na.rm = TRUE), low = ends[1L, ], high = ends[2L, ])
}

# Which columns of the predictions are drawn.
effect_responses <- function(values, class, n, classes, alone) {
  if (!is.null(class)) {
    if (!classes || !is.character(class) || length(class) != 1L || !class %in% colnames(values)) {
      must_be("class", if (classes) {
        paste("one of", paste0("\"", colnames(values), "\"", collapse = ", "))
      } else {
        "NULL for a model of numbers"
      }, class)
    }
    return(match(class, colnames(values)))
  }
  if (classes && ncol(values) == 2L) return(2L)
  if (alone && !classes) return(utils::head(seq_len(ncol(values)), most_curves))
  moved <- apply(values, 2L, function(v) {
    diff(range(colMeans(matrix(v, n), na.rm = TRUE), na.rm = TRUE))
  })
  # in the order of the classes
  sort(utils::head(order(-moved), if (alone) most_curves else 1L))
}

# ---- drawing ------------------------------------------------------------------------------------

is_surface <- function(effect) {
  columns <- attr(effect, "columns")
  length(columns) == 2L && is.numeric(effect[[columns[2L]]])
}

# What the height is: "mean of mpg", "mean probability of b", with names of at most `most` letters.
effect_label <- function(effect, most = 24L) {
  several <- length(unique(effect$response)) > 1L
  first <- shorten(effect$response[1L], most)
  if (attr(effect, "classes")) {
    return(if (several) "mean probability" else paste("mean probability of", first))
  }
  name <- attr(effect, "name")
  if (several || is.null(name)) {
    return(if (several || first == "prediction") "mean prediction" else paste("mean of", first))
  }
  paste("mean prediction of", shorten(name, most))
}

effect_title <- function(effect, most = 24L) {
  columns <- shorten(attr(effect, "columns"), most)
  moved <- vapply(split(effect$mean, effect$response), function(v) diff(range(v, na.rm = TRUE)), 0)
  widest <- names(moved)[which.max(moved)]
  ends <- range(effect$mean[effect$response == widest], na.rm = TRUE)
  classes <- attr(effect, "classes")
  what <- if (classes) {
    paste("Probability of", shorten(widest, most))
  } else if (length(moved) > 1L) {
    shorten(widest, most)
  } else {
    sub("^mean p", "P", effect_label(effect, most))
  }
  number <- function(v) if (classes) sprintf("%.2f", v) else format(v, digits = 3)
  sprintf("%s from %s to %s over %s", what, number(ends[1L]), number(ends[2L]),
          paste(columns, collapse = " and "))
}

# Curves: a response or a level of the second column each.
effect_curves <- function(effect) {
  columns <- attr(effect, "columns")
  group <- if (length(columns) == 2L) effect[[columns[2L]]] else effect$response
  factor(group, unique(as.character(group)))
}

effect_note <- function(effect, one) {
  paste0(left_out_note(effect), "mean over ", attr(effect, "n"), " rows",
         if (one) "; band: the middle 80 %")
}

# Says which responses are drawn where these are not all.
left_out_note <- function(effect) {
  shown <- length(unique(effect$response))
  of <- attr(effect, "of")
  if (is.null(of) || shown < most_curves || of == shown) return(NULL)
  if (!attr(effect, "classes")) return(sprintf("the first %d of %d; ", shown, of))
  sprintf("%d of %d classes, which move most; ", shown, of)
}

# Words that take less than `room` lines by shorter names; what is longer still is drawn smaller.
fitting <- function(words, effect, room) {
  for (most in c(24L, 20L, 16L, 13L, 10L, 8L)) {
    found <- words(effect, most)
    if (nchar(found) * lines_a_letter <= room) break
  }
  found
}

fitting_title <- function(effect) {
  fitting(effect_title, effect, lines_across() / graphics::par("cex.main"))
}

draw_effect <- function(effect, ...) {
  column <- attr(effect, "columns")[1L]
  x <- effect[[column]]
  labels <- if (!is.numeric(x)) unique(as.character(x))
  at <- if (is.null(labels)) x else match(as.character(x), labels)
  group <- effect_curves(effect)
  k <- nlevels(group)
  colours <- class_colours(k)
  names <- if (k > 1L) shorten(levels(group), 20L)
  height <- range(if (k == 1L) effect[c("low", "high")] else effect$mean, na.rm = TRUE)
  wide <- range(at) + if (is.null(labels)) 0 else c(-0.4, 0.4)
  below <- level_names(labels)
  local_par(las = upright(height), mgp = c(2, 0.6, 0), mar = wider(1L, below$lines))
  draw(graphics::plot, list(
    x = limits_with_key(wide, names), y = height, type = "n", xlab = shorten(column, 24L),
    ylab = fitting(effect_label, effect, lines_up()), main = fitting_title(effect),
    xaxt = if (is.null(labels)) "s" else "n"
  ), ..., title_line = title_over(names), foot = below$foot)
  if (!is.null(labels)) {
    graphics::axis(1, seq_along(labels), labels = FALSE)
    add_names(below$names, 1L, seq_along(labels), below$turned)
  }
  for (i in seq_len(k)) {
    part <- group == levels(group)[i]
    effect_line(at[part], effect[part, ], colours[i], i, labels, band = k == 1L)
  }
  if (is.null(labels)) graphics::rug(attr(effect, "rows")[[column]], col = "grey40", quiet = TRUE)
  look <- if (is.null(labels)) list(lty = seq_len(k)) else list(pch = class_symbols(k))
  if (k > 1L) do.call(add_key, c(list(names, colours), look))
  note_below(effect_note(effect, k == 1L), below$foot + 1)
}

# Names of levels for the axis below, turned where they do not fit side by side, the line of the
# label below them, and the lines that all of it takes where the margin must be wider.
level_names <- function(labels) {
  if (is.null(labels)) return(list(foot = 2, lines = 0))
  names <- shorten(labels, 14L)
  if (!crowded(names)) return(list(names = names, turned = FALSE, foot = 2, lines = 0))
  room <- 0.35 * graphics::par("fin")[2L] / (graphics::par("csi") * graphics::par("mex"))
  names <- shorten(labels, max(6L, min(24L, floor(room / lines_a_letter))))
  foot <- 1 + 1.1 * lines_a_letter * max(nchar(names))
  list(names = names, turned = TRUE, foot = foot, lines = foot + 2.1)
}

effect_line <- function(at, part, colour, lty, labels, band) {
  if (band && is.null(labels)) {
    graphics::polygon(c(at, rev(at)), c(part$low, rev(part$high)), col = tint(colour, 0.2),
                      border = NA)
    graphics::box()
  } else if (band) {
    graphics::segments(at, part$low, at, part$high, col = tint(colour, 0.4), lwd = 6, lend = 1)
  }
  if (is.null(labels)) {
    graphics::lines(at, part$mean, col = colour, lwd = 2, lty = lty)
  } else {
    graphics::points(at, part$mean, col = colour, pch = class_symbols(lty)[lty])
  }
}

draw_surface <- function(effect, ...) {
  columns <- attr(effect, "columns")
  labels <- shorten(columns, 24L)
  u <- unique(effect[[columns[1L]]])
  v <- unique(effect[[columns[2L]]])
  z <- matrix(effect$mean, length(u))
  levels <- pretty(range(z, na.rm = TRUE), 12L)
  local_par(las = upright(v), mgp = c(2, 0.6, 0))
  draw(graphics::plot, list(
    x = range(u), y = range(v), type = "n", xaxs = "i", yaxs = "i", xlab = labels[1L],
    ylab = labels[2L], main = fitting_title(effect)
  ), ...)
  shades <- tint(grDevices::hcl.colors(length(levels) - 1L, "viridis"), 0.7)
  graphics::.filled.contour(u, v, z, levels, shades)
  graphics::contour(u, v, z, levels = levels, add = TRUE, col = "grey20", labcex = 0.8)
  rows <- attr(effect, "rows")
  graphics::points(rows[[1L]], rows[[2L]], pch = 16, cex = 0.4, col = "#00000099")
  graphics::box()
  note_below(effect_note(effect, one = FALSE))
}
