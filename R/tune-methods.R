# What a tuned model answers: predictions, its words and its curves.

validate_tune <- function(object, arg = "object") {
  columns <- c("kernel", "sigma", "size", "ridge", "cost", "error", "se")
  must_hold(arg,
    results = is.data.frame(object$results) && nrow(object$results) > 0L &&
      all(columns %in% names(object$results)),
    best = is.data.frame(object$best) && nrow(object$best) == 1L,
    model = is.object(object$model) && is.list(object$model),
    metric = is.character(object$metric) && object$metric %in% names(tune_metrics)
  )
  object
}

#' @export
print.kernel_tune <- function(x, ...) guard_model("x", {
  validate_tune(x, "x")
  count <- nrow(x$results)
  lost <- sum(is.na(x$results$error))
  cat("<kernel_tune> ", count, " candidate", if (count > 1L) "s",
      if (lost) paste0(" (", lost, " without a model in some fold)"), ", ", x$folds, " folds of ",
      x$n, " rows", if (x$repeats > 1) paste(",", x$repeats, "times"), "\n", sep = "")
  cat("best:    ", candidate_words(x$best), "\n", sep = "")
  cat(x$measure, ": ", error_words(x$best$error, x$best$se), chosen_words(x), "\n", sep = "")
  if (!is.null(x$nested)) {
    cat("of the whole procedure: ", error_words(x$nested, x$nested_se),
      ", nested cross-validation\n",
        sep = "")
  }
  if (length(x$edge)) {
    cat("at the edge of the grid: ", paste(x$edge, names(x$edge), collapse = ", "),
        "; a wider grid may do better\n", sep = "")
  }
  invisible(x)
})

error_words <- function(error, se) {
  paste0(format(error, digits = 4), " (standard error ", format(se, digits = 2), ")")
}

# A candidate by what it has: "RBF kernel, sigma = 2, size 20, ridge 0.1".
candidate_words <- function(row) {
  parts <- vapply(c("size", "ridge", "cost"), function(name) {
    if (is.na(row[[name]])) "" else paste(name, format(row[[name]], digits = 3))
  }, "")
  paste(c(row$kernel, parts[parts != ""]), collapse = ", ")
}

# The least of several estimates is not one itself.
chosen_words <- function(x) {
  count <- nrow(x$results)
  if (count == 1L) return("")
  larger <- tune_metrics[[x$metric]]$larger
  end <- if (larger) "largest" else "least"
  if (x$rule == "one_se") {
    extreme <- (if (larger) max else min)(x$results$error, na.rm = TRUE)
    return(paste0(",\n         the simplest within a standard error of the ", end, ", ",
                  format(extreme, digits = 4)))
  }
  paste0(",\n         the ", end, " of ", count, ", so too good",
         if (is.null(x$nested)) ": `nested = TRUE` for an estimate")
}

#' @export
summary.kernel_tune <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_tune(object)
  structure(
    list(tune = object,
      best = best_by_kernel(object$results, tune_metrics[[object$metric]]$larger)),
    class = "summary.kernel_tune"
  )
})

# Candidates that have a model in every fold.
with_error <- function(results) results[!is.na(results$error), , drop = FALSE]

best_by_kernel <- function(results, larger = FALSE) {
  results <- with_error(results)
  parts <- split(results, factor(results$kernel, unique(results$kernel)))
  out <- do.call(rbind, lapply(parts, function(part) part[best_candidate(part, larger = larger), ]))
  rownames(out) <- NULL
  out
}

#' @export
print.summary.kernel_tune <- function(x, ...) guard_model("x", {
  print(x$tune)
  cat("best for each kernel:\n")
  shown <- vapply(x$best, function(v) !all(is.na(v)), NA)
  print(x$best[shown], row.names = FALSE, digits = 4)
  invisible(x)
})

#' Plot the results of tuning
#'
#' Cross-validated error with its standard error against the parameter that was tuned, a line per
#' kernel. Use it to see whether the best candidate stands out, and whether the grid should be
#' wider.
#'
#' The parameter is the first of size, ridge, cost and sigma of which the grid has several values;
#' of the others the best value is taken at each point. Where errors differ by more than a factor of
#' ten, their axis is logarithmic.
#' @param x a [kernel_tune()].
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly: the rows of `results` drawn.
#' @examples
#' plot(kernel_tune(Species ~ ., iris, folds = 5, grid = list(size = c(5, 10, 20))))
#' @family models
#' @export
plot.kernel_tune <- function(x, ...) guard_model("x", {
  validate_tune(x, "x")
  shown <- tune_curves(x)
  labels <- unique(shown$line)
  colours <- class_colours(length(labels))
  at <- spread_lines(shown$at, match(shown$line, labels), length(labels), shown$log_x)
  drawn <- shown$rows
  log_y <- far_apart(drawn$error)
  low <- least_drawn(drawn, log_y)
  names <- line_names(labels)
  local_par(las = upright(drawn$error))
  draw(graphics::plot, list(
    x = limits_with_key(at, names, shown$log_x), y = range(low, drawn$error + drawn$se), type = "n",
    log = paste(c(if (shown$log_x) "x", if (log_y) "y"), collapse = ""),
    xaxt = if (shown$log_x) "n" else "s", yaxt = if (log_y) "n" else "s", xlab = shown$xlab,
    ylab = paste("cross-validated", x$measure), main = tune_title(x)
  ), ..., title_line = title_over(names))
  if (shown$log_x) log_axis(1, range(shown$at)) # not where only the key is
  if (log_y) log_axis(2)
  for (i in seq_along(labels)) {
    part <- which(shown$line == labels[i])
    graphics::segments(at[part], low[part], at[part], drawn$error[part] + drawn$se[part],
                       col = grDevices::adjustcolor(colours[i], 0.5))
    graphics::lines(at[part], drawn$error[part], type = "o", pch = 16, cex = 0.6, col = colours[i])
  }
  best <- which(rownames(drawn) == rownames(x$best))
  graphics::points(at[best], drawn$error[best], cex = 2, lwd = 2,
                   col = colours[match(shown$line[best], labels)])
  if (length(labels) > 1L) add_key(names, colours, pch = 16, lty = 1)
  invisible(drawn)
})

# The least error decides the axis, not the largest.
far_apart <- function(error) min(error) > 0 && max(error) > 10 * min(error)

least_drawn <- function(rows, log) {
  if (log) pmax(rows$error - rows$se, min(rows$error) / 2) else rows$error - rows$se
}

tune_title <- function(x) {
  end <- if (tune_metrics[[x$metric]]$larger) "Largest" else "Least"
  if (x$rule == "one_se") end <- "Chosen:"
  name <- if (x$metric == "error") "error" else x$measure
  value <- format(x$best$error, digits = 3)
  axis <- tune_axis(x)
  where <- if (!is.na(x$best[[axis]])) paste0(" at ", axis, " ", format(x$best[[axis]], digits = 3))
  paste0(end, " ", name, " ", value, where)
}

# The parameter along the axis.
tune_axis <- function(x) {
  several <- function(name) name %in% x$gridded && length(unique(x$results[[name]])) > 1L
  axis <- Find(several, c("size", "ridge", "cost"))
  if (!is.null(axis)) return(axis)
  if (length(unique(stats::na.omit(x$results$sigma))) > 1L) "sigma" else "size"
}

# What is drawn: rows of the results, the best over all other parameters at each value `at` of one
# parameter on each `line`.
tune_curves <- function(x) {
  axis <- tune_axis(x)
  x$results <- results <- with_error(x$results)
  line <- if (axis == "sigma") kernel_families(x) else results$kernel
  at <- results[[axis]]
  if (anyNA(at)) at[is.na(at)] <- if (all(is.na(at))) 1 else stats::median(at, na.rm = TRUE)
  groups <- split(seq_along(at), list(factor(at), factor(line, unique(line))), drop = TRUE)
  rows <- vapply(groups, function(group) {
    chosen <- match(rownames(x$best), rownames(results))
    if (chosen %in% group) return(chosen)
    group[best_candidate(results[group, ], larger = tune_metrics[[x$metric]]$larger)]
  }, 0L, USE.NAMES = FALSE)
  positive <- all(at > 0)
  list(
    rows = results[rows, ], at = at[rows], line = line[rows],
    log_x = positive && (axis %in% c("ridge", "cost", "sigma") || max(at) > 10 * min(at)) &&
      max(at) > min(at),
    xlab = if (axis == "size") "basis size" else axis
  )
}

# Kernels without their width: "RBF kernel".
kernel_families <- function(x) {
  label <- x$results$kernel
  ifelse(is.na(x$results$sigma), label, trimws(sub(",? *sigma = .*$", "", label)))
}

# Points of different lines side by side, not on top of each other.
spread_lines <- function(at, line, count, log) {
  value <- if (log) log(at) else at
  value <- value + (line - (count + 1) / 2) * diff(range(value)) / 150
  if (log) exp(value) else value
}

# Labels of the legend: without what all of them say, and not too long.
line_names <- function(labels) {
  labels <- sub(" of the data", "", labels, fixed = TRUE)
  labels <- sub(" kernel, sigma = ", ", sigma ", labels, fixed = TRUE) # what tells them apart stays
  kernel <- sub(", .*", "", labels)
  if (length(labels) > 1L && all(startsWith(labels, paste0(kernel[1L], ", ")))) {
    labels <- substring(labels, nchar(kernel[1L]) + 3L)
  }
  shorten(labels, 28L)
}
