# Every plot there is, for ggplot2: autoplot() methods, registered when ggplot2 is loaded. Each is
# a data frame with columns x, y and (where there are groups) group, drawn by one of three
# functions: points, lines and bars from the side.

utils::globalVariables(c("x", "y", "group", "low", "high", "z", "weight"))

#' Plots for ggplot2
#'
#' `ggplot2::autoplot()` for every model: what [plot()] shows, as objects that can be added to. Use
#' it where a report is made with ggplot2.
#'
#' @details
#' Numbers, titles and marks are those of `plot()`. What differs is the layout, with keys at the
#' right and lines of notes below, and a few pictures: fitness and trace of a [kernel_basis()] have
#' one each, and [kernel_takes()] shows any two `components`, a single one against the row.
#'
#' [plot_boundary()] and [plot_effect()] return what they show, with `draw = FALSE` without showing
#' it: `autoplot()` of that is their picture.
#'
#' @param object a fitted model, or what [plot_boundary()] or [plot_effect()] return.
#' @param type which picture, as for the `plot()` method of the model.
#' @param classes class labels, or numbers, of the training rows, for colours.
#' @param components two numbers of components, axes or directions.
#' @param n at most this many columns or kernels.
#' @param ... nothing else is accepted.
#' @returns A ggplot object.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   ggplot2::autoplot(kernel_pca(iris[, 1:4]), classes = iris$Species)
#' }
#' @family exports
#' @name autoplot
NULL

# ---- three ways to draw --------------------------------------------------------------------

gg <- function(data, labels) {
  aes <- if (is.null(data$group)) {
    ggplot2::aes(x = x, y = y)
  } else {
    ggplot2::aes(x = x, y = y, colour = group)
  }
  plot <- ggplot2::ggplot(data, aes) + gg_theme() +
    ggplot2::labs(x = labels$x, y = folded(labels$y, 36L), title = folded(labels$title),
                  colour = labels$group)
  if (is.null(data$group)) return(plot)
  if (is.numeric(data$group)) return(plot + ggplot2::scale_colour_viridis_c())
  groups <- levels(factor(data$group)) # a layer of a few of them would change their order
  plot + ggplot2::scale_colour_manual(values = class_colours(length(groups)), limits = groups,
                                      labels = key_names)
}

# Names in a key, which stands beside the plot.
key_names <- function(names) shorten(as.character(names), 16L)

# Names along an axis: shorter, of many smaller, below the plot turned where they are long. Those
# that would still cover each other are left out.
gg_names <- function(axis, names, most = 24L) {
  below <- axis == "x"
  turned <- below && length(names) * min(most, max(nchar(as.character(names)))) > 50L
  guide <- list(check.overlap = TRUE)
  if (turned) guide$angle <- 90
  scale <- if (below) ggplot2::scale_x_discrete else ggplot2::scale_y_discrete
  text <- ggplot2::element_text(size = 8.8 * max(0.6, min(1, 20 / length(names))))
  list(
    scale(labels = function(shown) shorten(as.character(shown), most),
          guide = do.call(ggplot2::guide_axis, guide)),
    if (below) ggplot2::theme(axis.text.x = text) else ggplot2::theme(axis.text.y = text)
  )
}

gg_theme <- function() {
  ggplot2::theme_minimal() + ggplot2::theme(
    plot.title = ggplot2::element_text(size = 11), plot.title.position = "plot",
    plot.caption = ggplot2::element_text(size = 8)
  )
}

# Titles in lines that fit a small picture too.
folded <- function(words, letters = 44L) {
  if (!is.null(words)) paste(strwrap(words, letters), collapse = "\n")
}

gg_points <- function(data, labels) {
  if (is.null(data$group)) {
    gg(data, labels) + ggplot2::geom_point(colour = palette_classes[1L], alpha = 0.75)
  } else {
    gg(data, labels) + ggplot2::geom_point(alpha = 0.75)
  }
}

gg_lines <- function(data, labels) {
  line <- if (is.null(data$group)) list(colour = palette_classes[1L]) else list()
  gg(data, labels) + do.call(ggplot2::geom_line, line) +
    do.call(ggplot2::geom_point, c(line, list(size = 0.8)))
}

# A logarithmic axis with ticks at whole decades.
gg_decades <- function(axis) {
  scale <- if (axis == "x") ggplot2::scale_x_log10 else ggplot2::scale_y_log10
  scale(breaks = function(ends) log_ticks(ends)$at, labels = log_labels)
}

# Names from best to worst, downwards.
gg_dots <- function(names, value, labels) {
  data <- data.frame(x = value, y = factor(names, rev(unique(names))))
  gg(data, labels) + gg_names("y", levels(data$y)) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = x, yend = y), colour = "grey75",
                          na.rm = TRUE) +
    ggplot2::geom_point(colour = palette_classes[1L], na.rm = TRUE)
}

# Scores on two directions; of a single one against the row. `describe`: from the components to
# `xlab`, `ylab` and `main`.
gg_scores <- function(scores, components, classes, describe) {
  if (is.null(scores)) fail_not_kept("scores")
  if (ncol(scores) == 1L) components <- c(1L, 1L)
  components <- check_components(components, ncol(scores))
  alone <- components[1L] == components[2L]
  data <- data.frame(
    x = scores[, components[1L]],
    y = if (alone) seq_len(nrow(scores)) else scores[, components[2L]]
  )
  check_labels(classes)
  if (!is.null(classes)) {
    check_response_length(classes, nrow(scores), "classes")
    data$group <- if (is.numeric(classes)) as.double(classes) else factor(classes)
  }
  labels <- describe(components)
  gg_points(data, list(
    x = labels$xlab, y = if (alone) "row" else labels$ylab, title = labels$main,
    group = if (!is.null(classes)) "class"
  ))
}

gg_confusion <- function(confusion, title) {
  table <- as.data.frame(as.table(confusion), stringsAsFactors = TRUE)
  names(table) <- c("y", "x", "count")
  share <- table$count / pmax(rowSums(confusion)[as.character(table$y)], 1)
  table$y <- factor(table$y, rev(levels(table$y)))
  shades <- grDevices::colorRampPalette(c("#FFFFFF", palette_classes[1L]))(64L)
  k <- nrow(confusion)
  words <- ifelse(c(shows_count(confusion)), counts_words(table$count), "")
  plot <- ggplot2::ggplot(table, ggplot2::aes(x = x, y = y)) +
    ggplot2::geom_tile(fill = shades[1L + round(63 * share)]) +
    gg_theme() + gg_names("x", colnames(confusion)) + gg_names("y", rownames(confusion)) +
    ggplot2::labs(x = "predicted class", y = "class", title = folded(title))
  if (k > 40L) return(plot) # counts could not be read
  plot + ggplot2::geom_text(label = words, colour = ifelse(share > 0.5, "white", "black"),
                            size = 3.88 * min(1, 12 / k))
}

gg_calibration <- function(object) {
  table <- object$calibration$reliability
  if (!is.data.frame(table)) {
    abort("argument", "`type = \"calibration\"` needs a model of a factor with probabilities.")
  }
  data <- data.frame(x = table$probability, y = table$frequency, weight = table$weight)
  labels <- list(x = "probability given (rows left out)", y = "share that came true",
                 title = calibration_title(table))
  gg(data, labels) + ggplot2::geom_line(colour = palette_classes[1L]) +
    ggplot2::geom_point(ggplot2::aes(size = weight), colour = palette_classes[1L]) +
    ggplot2::scale_size_area(max_size = 4) + ggplot2::labs(size = "rows") +
    ggplot2::geom_abline(linetype = 3, colour = "grey50") +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1))
}

# ---- methods -------------------------------------------------------------------------------

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_basis <- function(object, type = c("fitness", "trace"), ...) {
  check_dots(...)
  validate_model(object, "object")
  type <- check_choice(type, "type", c("fitness", "trace"))
  path <- object$path
  if (type == "trace") {
    return(gg_lines(data.frame(x = path$size, y = trace_left(path)), list(
      x = "rows picked", y = "residual trace / trace", title = decay_title(path)
    )) + gg_decades("y"))
  }
  gg_lines(data.frame(x = path$size, y = path$fitness), list(
    x = "rows picked", y = "fitness J", title = fitness_title(path, object$n)
  )) + ggplot2::expand_limits(y = 0:1)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_pca <- function(object, type = c("scores", "variance"), components = 1:2,
                                classes = NULL, ...) {
  check_dots(...)
  validate_model(object, "object")
  if (check_choice(type, "type", c("scores", "variance")) == "scores") {
    return(gg_scores(object$scores, components, classes, function(components) {
      component_labels(object, components)
    }))
  }
  share <- object$values / object$total
  needed <- components_needed(share)
  plot <- gg_lines(data.frame(x = seq_along(share), y = cumsum(share)), list(
    x = "component", y = "cumulative share of variance", title = variance_title(share)
  )) + ggplot2::expand_limits(y = 0:1)
  if (is.na(needed)) return(plot)
  plot + ggplot2::geom_hline(yintercept = 0.9, linetype = 3, colour = "grey50") +
    ggplot2::geom_vline(xintercept = needed, linetype = 3, colour = "grey50")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_lm <- function(object, type = c("fit", "loo", "calibration"), ...) {
  check_dots(...)
  validate_model(object, "object")
  type <- check_choice(type, "type", c("fit", "loo", "calibration"))
  if (type == "calibration") return(gg_calibration(object))
  if (type == "loo") {
    loo <- loo_by_size(object$loo)
    model <- data.frame(x = length(object$basis$index), y = chosen_loo(object)$loss)
    return(gg_lines(data.frame(x = loo$size, y = loo$loss), list(
      x = "basis size", y = loo_label(object), title = loo_title(object, loo)
    )) + ggplot2::geom_point(data = model, colour = palette_classes[2L], size = 2.5))
  }
  if (!is.null(object$confusion)) {
    return(gg_confusion(shown_confusion(object), misclassified_title(object)))
  }
  fitted <- as.matrix(stats::fitted(object))
  observed <- fitted + as.matrix(stats::residuals(object))
  data <- data.frame(x = c(fitted), y = c(observed))
  if (ncol(fitted) > 1L) {
    data$group <- factor(rep(colnames_or(fitted, "y"), each = nrow(fitted)))
  }
  gg_points(data, list(
    x = "fitted", y = "observed", group = "response", title = explained_title(object, observed)
  )) +
    ggplot2::geom_abline(linetype = 3, colour = "grey50")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_lda <- function(object, type = c("scores", "calibration"), components = 1:2, ...) {
  check_dots(...)
  validate_model(object, "object")
  if (check_choice(type, "type", c("scores", "calibration")) == "calibration") {
    return(gg_calibration(object))
  }
  title <- misclassified_title(object)
  if (length(object$values) > 1L || is.null(object$scores)) {
    return(gg_scores(object$scores, components, object$observed, function(components) {
      list(xlab = axis_label(object, components[1L]), ylab = axis_label(object, components[2L]),
           main = title)
    }))
  }
  data <- data.frame(x = object$scores[, 1L], y = 0, group = object$observed)
  gg(data, list(x = axis_label(object, 1L), y = "density", title = title, group = "class")) +
    ggplot2::geom_density(ggplot2::aes(x = x, colour = group), inherit.aes = FALSE) +
    ggplot2::geom_rug(sides = "b", alpha = 0.4)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_takes <- function(object, type = c("weights", "scores", "calibration"),
                                  components = 1:2, ...) {
  check_dots(...)
  validate_model(object, "object")
  type <- check_choice(type, "type", c("weights", "scores", "calibration"))
  if (type == "calibration") return(gg_calibration(object))
  if (type == "weights") return(gg_takes_weights(object))
  check_some_direction(object, "object")
  gg_scores(object$scores, components, object$y, function(components) {
    label <- paste("direction", object$directions[components])
    list(xlab = label[1L], ylab = label[2L],
         main = directions_title(object, unique(components)))
  })
}

# Weights as bars, errors as lines with an axis of their own.
gg_takes_weights <- function(object) {
  path <- object$path
  errors <- takes_errors(path)
  curves <- data.frame(
    x = path$size, y = c(errors$curves) * errors$scale,
    group = factor(rep(colnames(errors$curves), each = nrow(path)), colnames(errors$curves))
  )
  curves <- curves[!is.na(curves$y), ]
  kept <- path$direction %in% object$directions
  gg(data.frame(x = path$size, y = path$gamma), list(
    x = "directions, in order of selection", y = "weight", title = takes_finding(object)
  )) + ggplot2::geom_col(fill = ifelse(kept, palette_classes[6L], "grey80")) +
    ggplot2::geom_line(ggplot2::aes(colour = group), data = curves) +
    ggplot2::geom_point(ggplot2::aes(colour = group), data = curves, size = 0.8) +
    ggplot2::scale_colour_manual(values = takes_colours, limits = levels(curves$group),
                                 name = NULL) +
    ggplot2::scale_y_continuous(
      sec.axis = ggplot2::sec_axis(~ . * 100 / errors$scale, name = "error in %")
    ) + ggplot2::theme(legend.position = "top")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_rank <- function(object, type = NULL, n = 25, ...) {
  check_dots(...)
  validate_model(object, "object")
  if (is.null(type)) type <- if (is.null(object$frequency)) "score" else "frequency"
  type <- check_choice(type, "type", c("score", "path", "frequency"))
  n <- check_whole(n, "n", min = 1)
  if (is.null(object[[type]]) || NROW(object[[type]]) == 0L) {
    abort("argument", "`type = \"", type, "\"`: this ranking has none.")
  }
  if (type == "path") {
    labels <- rank_path_labels(object)
    return(gg_lines(data.frame(x = object$path$iteration, y = object$path$value),
                    list(x = labels$xlab, y = labels$ylab, title = labels$main)))
  }
  data <- rank_table(object, type, n)
  value <- replace(data[[3L]], !is.finite(data[[3L]]), NA)
  plot <- gg_dots(data$name, value, list(
    x = rank_label(object, type), title = rank_title(object, type, data)
  ))
  if (type == "score") return(plot)
  plot <- plot + ggplot2::expand_limits(x = 0:1)
  if (is.null(object$null)) return(plot)
  plot + ggplot2::labs(caption = "dotted: chance; dashed: 95 % of permuted responses") +
    ggplot2::geom_vline(xintercept = object$null, linetype = c(3L, 2L), colour = "grey40")
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_fusion <- function(object, type = c("path", "weights", "calibration"), n = 10,
                                   ...) {
  check_dots(...)
  validate_model(object, "object")
  type <- check_choice(type, "type", c("path", "weights", "calibration"))
  if (type == "calibration") return(gg_calibration(object))
  n <- check_whole(n, "n", min = 1)
  if (type == "weights") {
    size <- final_weights(object, n)
    return(gg_dots(names(size), unname(size), list(
      x = "weight x mean diagonal", title = share_title(object)
    )))
  }
  size <- as.matrix(object$path[-1L]) * rep(object$mean_diagonal, each = nrow(object$path))
  best <- named_kernels(object, n)
  gg_lines(weight_lines(object, size, best), list(
    x = "iteration", y = "weight x mean diagonal", title = kept_title(object), group = "kernel"
  )) + gg_decades("y") +
    ggplot2::geom_line(ggplot2::aes(x = x, y = y, group = group),
                       data = weight_lines(object, size, setdiff(seq_len(ncol(size)), best)),
                       colour = "grey75", linewidth = 0.3, inherit.aes = FALSE)
}

# Weights by iteration, as long as they are above the floor.
weight_lines <- function(object, size, kernels) {
  data <- data.frame(
    x = rep(object$path$iteration, length(kernels)), y = c(size[, kernels]),
    group = factor(rep(colnames(size)[kernels], each = nrow(size)), colnames(size)[kernels])
  )
  data[data$y > 0, ]
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_tune <- function(object, ...) {
  check_dots(...)
  validate_model(object, "object")
  shown <- tune_curves(object)
  rows <- shown$rows
  log_y <- far_apart(rows$error)
  names <- line_names(unique(shown$line))
  line <- match(shown$line, unique(shown$line))
  data <- data.frame(
    x = spread_lines(shown$at, line, length(names), shown$log_x), y = rows$error,
    group = factor(names[line], names),
    low = least_drawn(rows, log_y), high = rows$error + rows$se
  )
  plot <- gg_lines(data, list(
    x = shown$xlab, y = paste("cross-validated", object$measure), group = "kernel",
    title = tune_title(object)
  )) + ggplot2::geom_linerange(ggplot2::aes(ymin = low, ymax = high), alpha = 0.4) +
    ggplot2::geom_point(data = data[rownames(rows) == rownames(object$best), ], shape = 1, size = 4,
                        stroke = 1, show.legend = FALSE)
  if (shown$log_x) plot <- plot + gg_decades("x")
  if (log_y) plot + gg_decades("y") else plot
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_boundary <- function(object, ...) {
  check_dots(...)
  scene <- attr(object, "scene")
  must_hold("object", scene = is.list(scene) && is.character(scene$levels))
  colours <- stats::setNames(class_colours(length(scene$levels)), scene$levels)
  rows <- scene$rows
  plot <- ggplot2::ggplot(data.frame(x = object[[1L]], y = object[[2L]]), ggplot2::aes(x, y)) +
    gg_theme() + gg_regions(object, tint(colours, 0.25)) + ggplot2::labs(
      x = shorten(scene$columns[1L], 24L), y = shorten(scene$columns[2L], 24L),
      title = folded(scene$title), colour = NULL,
      shape = NULL, caption = folded(paste(c(
        if (length(scene$held)) held_words(scene$held, Inf),
        if (any(rows$wrong, na.rm = TRUE)) "rings: misclassified"
      ), collapse = "; "), 60L)
    )
  if (!is.null(rows$class)) {
    rows <- data.frame(x = rows$u, y = rows$v, wrong = rows$wrong,
                       group = factor(rows$class, scene$levels))
    wrong <- rows[which(rows$wrong), ]
    plot <- plot +
      ggplot2::geom_point(ggplot2::aes(colour = group, shape = group), data = rows, size = 1.3) +
      ggplot2::geom_point(data = wrong, shape = 1, size = 2.8, colour = "grey10") +
      ggplot2::scale_colour_manual(values = colours, labels = key_names) +
      ggplot2::scale_shape_manual(values = class_symbols(length(colours)), labels = key_names)
  }
  asp <- attr(object, "asp")
  plot + if (is.na(asp)) {
    ggplot2::coord_cartesian(expand = FALSE)
  } else {
    ggplot2::coord_fixed(asp, expand = FALSE)
  }
}

# A shade where a class leads, a line where it begins to.
gg_regions <- function(object, shades) {
  margins <- attr(object, "margins")
  classes <- which(colSums(margins > 0, na.rm = TRUE) > 0)
  unlist(lapply(classes, function(k) {
    data <- data.frame(x = object[[1L]], y = object[[2L]], z = margins[, k])
    if (all(data$z > 0, na.rm = TRUE)) {
      return(list(ggplot2::geom_raster(data = data, fill = shades[k])))
    }
    list(
      ggplot2::geom_contour_filled(ggplot2::aes(z = z), data = data, breaks = c(0, Inf),
                                   fill = shades[k], show.legend = FALSE),
      ggplot2::geom_contour(ggplot2::aes(z = z), data = data, breaks = 0, colour = "grey30")
    )
  }), recursive = FALSE)
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_effect <- function(object, ...) {
  check_dots(...)
  must_hold("object", columns = all(attr(object, "columns") %in% names(object)))
  columns <- attr(object, "columns")
  if (is_surface(object)) return(gg_surface(object))
  group <- effect_curves(object)
  one <- nlevels(group) == 1L
  data <- data.frame(x = object[[columns[1L]]], y = object$mean, object[c("low", "high")])
  if (!one) data$group <- group
  labels <- list(x = shorten(columns[1L], 24L), y = effect_label(object),
                 title = effect_title(object),
                 group = if (length(columns) == 2L) shorten(columns[2L], 16L) else "")
  plot <- gg(data, labels) + ggplot2::labs(caption = effect_note(object, one))
  line <- if (one) list(colour = palette_classes[1L]) else list()
  if (!is.numeric(data$x)) {
    plot <- plot + gg_names("x", unique(data$x), 20L)
    if (one) {
      plot <- plot + ggplot2::geom_linerange(ggplot2::aes(ymin = low, ymax = high), linewidth = 2,
                                             colour = tint(palette_classes[1L], 0.4))
    }
    return(plot + do.call(ggplot2::geom_point, c(line, list(size = 2))))
  }
  if (one) {
    plot <- plot + ggplot2::geom_ribbon(ggplot2::aes(ymin = low, ymax = high),
                                        fill = tint(palette_classes[1L], 0.2))
  }
  rows <- data.frame(x = attr(object, "rows")[[1L]])
  plot + do.call(ggplot2::geom_line, c(line, list(linewidth = 0.8))) +
    ggplot2::geom_rug(ggplot2::aes(x = x), data = rows, sides = "b", inherit.aes = FALSE,
                      alpha = 0.4)
}

gg_surface <- function(object) {
  columns <- attr(object, "columns")
  rows <- attr(object, "rows")
  levels <- pretty(range(object$mean, na.rm = TRUE), 7L)
  data <- data.frame(x = object[[columns[1L]]], y = object[[columns[2L]]], z = object$mean)
  ggplot2::ggplot(data, ggplot2::aes(x, y)) + gg_theme() +
    ggplot2::geom_contour_filled(ggplot2::aes(z = z), breaks = levels) +
    ggplot2::geom_point(data = stats::setNames(rows, c("x", "y")), size = 0.6, alpha = 0.6) +
    ggplot2::coord_cartesian(expand = FALSE) +
    ggplot2::labs(x = shorten(columns[1L], 24L), y = shorten(columns[2L], 24L),
                  title = folded(effect_title(object)), fill = NULL,
                  caption = effect_note(object, one = FALSE))
}
