# Every plot there is, for ggplot2: autoplot() methods, registered when ggplot2 is loaded. Each is
# a data frame with columns x, y and (where there are groups) group, drawn by one of three
# functions: points, lines and bars from the side.

utils::globalVariables(c("x", "y", "group", "low", "high"))

#' Plots for ggplot2
#'
#' `ggplot2::autoplot()` for every model: the same pictures as [plot()], as objects that can be
#' added to. Use it where a report is made with ggplot2.
#'
#' @param object a fitted model.
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
  plot <- ggplot2::ggplot(data, aes) + ggplot2::theme_minimal() +
    ggplot2::labs(x = labels$x, y = labels$y, title = labels$title, colour = labels$group)
  if (is.null(data$group)) return(plot)
  if (is.numeric(data$group)) return(plot + ggplot2::scale_colour_viridis_c())
  plot + ggplot2::scale_colour_manual(values = class_colours(length(unique(data$group))))
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

# Names from best to worst, downwards.
gg_dots <- function(names, value, labels) {
  data <- data.frame(x = value, y = factor(names, rev(unique(names))))
  gg(data, labels) +
    ggplot2::geom_segment(ggplot2::aes(x = 0, xend = x, yend = y), colour = "grey75") +
    ggplot2::geom_point(colour = palette_classes[1L])
}

# Scores on two directions; of a single one against the row.
gg_scores <- function(scores, components, classes, stem, title) {
  if (is.null(scores)) fail_not_kept("scores")
  if (ncol(scores) == 1L) components <- c(1L, 1L)
  components <- check_components(components, ncol(scores))
  alone <- components[1L] == components[2L]
  data <- data.frame(
    x = scores[, components[1L]],
    y = if (alone) seq_len(nrow(scores)) else scores[, components[2L]]
  )
  if (!is.null(classes)) {
    check_response_length(classes, nrow(scores), "classes")
    data$group <- if (is.numeric(classes)) as.double(classes) else factor(classes)
  }
  gg_points(data, list(
    x = paste(stem, components[1L]), y = if (alone) "row" else paste(stem, components[2L]),
    title = title, group = if (!is.null(classes)) "class"
  ))
}

gg_confusion <- function(confusion, title) {
  table <- as.data.frame(as.table(confusion), stringsAsFactors = TRUE)
  names(table) <- c("y", "x", "count")
  share <- table$count / pmax(rowSums(confusion)[as.character(table$y)], 1)
  table$y <- factor(table$y, rev(levels(table$y)))
  shades <- grDevices::colorRampPalette(c("#FFFFFF", palette_classes[1L]))(64L)
  ggplot2::ggplot(table, ggplot2::aes(x = x, y = y)) +
    ggplot2::geom_tile(fill = shades[1L + round(63 * share)]) +
    ggplot2::geom_text(label = table$count, colour = ifelse(share > 0.5, "white", "black")) +
    ggplot2::theme_minimal() + ggplot2::labs(x = "fitted class", y = "class", title = title)
}

gg_calibration <- function(object) {
  table <- object$calibration$reliability
  if (!is.data.frame(table)) {
    abort("argument", "`type = \"calibration\"` needs a model of a factor with probabilities.")
  }
  gg_lines(data.frame(x = table$probability, y = table$frequency), list(
    x = "probability given (rows left out)", y = "share that came true",
    title = calibration_title(table)
  )) + ggplot2::geom_abline(linetype = 3, colour = "grey50") +
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
  plot <- gg_lines(data.frame(x = path$size, y = path[[type]]), list(
    x = "rows picked", y = if (type == "fitness") "mean fitness" else "residual trace / trace",
    title = sprintf("%d of %d rows: %s %.3g", nrow(path), object$n, type,
                    path[[type]][nrow(path)])
  ))
  if (type == "trace") plot + ggplot2::scale_y_log10() else plot
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_pca <- function(object, type = c("scores", "variance"), components = 1:2,
                                classes = NULL, ...) {
  check_dots(...)
  validate_model(object, "object")
  if (check_choice(type, "type", c("scores", "variance")) == "scores") {
    return(gg_scores(object$scores, components, classes, "component", NULL))
  }
  share <- cumsum(object$values) / object$total
  gg_lines(data.frame(x = seq_along(share), y = share), list(
    x = "component", y = "cumulative share of variance",
    title = sprintf("%d components hold %.0f %% of the variance", length(share),
                    100 * share[length(share)])
  )) + ggplot2::ylim(0, 1)
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
    return(gg_lines(data.frame(x = loo$size, y = loo$loss), list(
      x = "basis size", y = "leave-one-out loss",
      title = sprintf("The model has %d rows", length(object$basis$index))
    )))
  }
  if (!is.null(object$confusion)) {
    return(gg_confusion(object$confusion, sprintf(
      "Training rows; %.1f %% are misclassified when left out", 100 * chosen_loo(object)$error
    )))
  }
  fitted <- as.matrix(stats::fitted(object))
  observed <- fitted + as.matrix(stats::residuals(object))
  data <- data.frame(x = c(fitted), y = c(observed))
  if (ncol(fitted) > 1L) {
    data$group <- factor(rep(colnames_or(fitted, "y"), each = nrow(fitted)))
  }
  gg_points(data, list(x = "fitted", y = "observed", group = "response")) +
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
  gg_scores(object$scores, components, object$observed, "axis", sprintf(
    "Classes make up %.0f %% of the inertia on the first axis", 100 * object$values[1L]
  ))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_takes <- function(object, type = c("weights", "scores"), components = 1:2, ...) {
  check_dots(...)
  validate_model(object, "object")
  if (check_choice(type, "type", c("weights", "scores")) == "scores") {
    return(gg_scores(object$scores, components, object$labels, "direction", NULL))
  }
  path <- object$path
  gg(data.frame(x = path$size, y = path$gamma), list(
    x = "directions, in order of selection", y = "weight",
    title = sprintf("%d of %d directions kept", object$size, nrow(path))
  )) + ggplot2::geom_col(fill = ifelse(path$direction %in% object$directions, palette_classes[6L],
                                       "grey80"))
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
    return(gg_lines(data.frame(x = object$path$iteration, y = object$path$value),
                    list(x = "iteration", y = "value of the criterion")))
  }
  best <- utils::head(object$ranking, n)
  gg_dots(names(object$score)[best], unname(object[[type]][best]), list(
    x = if (type == "score") "score" else paste("share of resamples in the best", object$n)
  ))
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_fusion <- function(object, type = c("path", "weights"), n = 10, ...) {
  check_dots(...)
  validate_model(object, "object")
  type <- check_choice(type, "type", c("path", "weights"))
  n <- check_whole(n, "n", min = 1)
  title <- sprintf("%d of %d kernels keep a weight", sum(object$active), length(object$active))
  best <- utils::head(order(-object$weights * object$mean_diagonal), n)
  if (type == "weights") {
    return(gg_dots(names(object$weights)[best], unname(object$weights * object$mean_diagonal)[best],
                   list(x = "weight x mean diagonal", title = title)))
  }
  size <- as.matrix(object$path[-1L]) * rep(object$mean_diagonal, each = nrow(object$path))
  size[size <= 0] <- NA
  data <- data.frame(
    x = rep(object$path$iteration, length(best)), y = c(size[, best]),
    group = factor(rep(colnames(size)[best], each = nrow(size)), colnames(size)[best])
  )
  gg_lines(data[!is.na(data$y), ], list(
    x = "iteration", y = "weight x mean diagonal", title = title, group = "kernel"
  )) + ggplot2::scale_y_log10()
}

#' @rdname autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.kernel_tune <- function(object, ...) {
  check_dots(...)
  validate_model(object, "object")
  results <- object$results
  data <- data.frame(
    x = results$size, y = results$error, group = factor(results$kernel, unique(results$kernel)),
    low = results$error - results$se, high = results$error + results$se
  )
  gg_lines(data, list(
    x = "basis size", y = "cross-validated error", group = "kernel",
    title = sprintf("Least error %s", format(object$best$error, digits = 3))
  )) + ggplot2::geom_linerange(ggplot2::aes(ymin = low, ymax = high), alpha = 0.4)
}
