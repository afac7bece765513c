# Printing, summary, plots and prediction for rankings.

#' @export
print.kernel_rank <- function(x, ...) guard_model("x", {
  validate_rank(x, "x")
  cat(rank_headline(x), "\n", sep = "")
  top <- utils::head(x$ranking, 10L)
  cat(rank_lines(x, top), sep = "\n")
  left <- length(x$ranking) - length(top)
  if (left) cat("  and ", left, " more column", if (left > 1L) "s", "\n", sep = "")
  invisible(x)
})

rank_headline <- function(x) {
  paste0(
    "<kernel_rank> ", x$method, ": ", length(x$score), " columns, ", x$nobs, " rows, ",
    if (length(x$classes)) paste(length(x$classes), "classes") else "numbers",
    if (!is.na(x$value)) {
      paste0("; ", rank_methods[[x$method]]$value, " ", format(x$value, digits = 4))
    },
    if (!x$converged) " (not converged)",
    if (!is.null(x$frequency)) {
      paste0("; share of resamples in the best ", x$n, chance_words(x$null))
    }
  )
}

chance_words <- function(null) {
  if (is.null(null)) return(NULL)
  percent <- paste0(round(100 * null), "%")
  paste0(" (by chance ", percent[1L], ", 95% point ", percent[2L], ")")
}

# One line a column: rank, name, score, bar, and frequency where there is one.
rank_lines <- function(x, columns) {
  score <- x$score[columns]
  finite <- score[is.finite(score)]
  longest <- if (length(finite)) max(finite, 0) else 0
  share <- if (longest > 0) pmin(pmax(score / longest, 0), 1) else numeric(length(score))
  bars <- strrep("#", round(20 * share))
  if (!is.null(x$frequency)) {
    percent <- format(paste0(round(100 * x$frequency[columns]), "%"), justify = "right", width = 6)
    bars <- paste0(formatC(bars, width = -20), percent)
  }
  paste0(
    format(seq_along(columns), width = 3), "  ", format(shorten(names(score), 30L)), "  ",
    format(formatC(score, digits = 4, format = "g", flag = "#"), justify = "right"), "  ", bars
  )
}

#' @export
summary.kernel_rank <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_rank(object)
  best <- object$ranking
  table <- data.frame(
    rank = seq_along(best), column = best, name = names(object$score)[best],
    score = unname(object$score[best])
  )
  if (!is.null(object$frequency)) table$frequency <- unname(object$frequency[best])
  structure(
    list(
      table = table, zero = sum(object$score == 0), iterations = max(0L, object$path$iteration),
      kernel = object$kernel, headline = rank_headline(object)
    ),
    class = "summary.kernel_rank"
  )
})

#' @export
print.summary.kernel_rank <- function(x, ...) guard_model("x", {
  cat(x$headline, "\n", sep = "")
  if (!is.null(x$kernel)) {
    cat("learned kernel: ", kernel_label(x$kernel), ", ", x$zero, " of ", nrow(x$table),
        " weights zero, ", x$iterations, " iteration", if (x$iterations != 1L) "s", "\n", sep = "")
  }
  shown <- utils::head(x$table, 8L)
  print(shown, row.names = FALSE, digits = 4)
  if (nrow(x$table) > 8L) cat("and ", nrow(x$table) - 8L, " more in $table\n", sep = "")
  invisible(x)
})

validate_rank <- function(object, arg = "object") {
  must_hold(arg,
    input = valid_input(object$input),
    ranking = is.integer(object$ranking) &&
      setequal(object$ranking, seq_len(object$input$width)),
    score = is.double(object$score) && length(object$score) == object$input$width
  )
}

#' The best columns of new data
#'
#' Use it when a ranking is known and a table is to be reduced to its best columns.
#' @param object a ranking made by [kernel_rank()].
#' @param newdata a matrix or data frame with the columns ranked; more columns do no harm.
#' @param n how many columns.
#' @param ... nothing else is accepted.
#' @returns The `n` best columns of `newdata`, best first, as they are (not scaled): a data frame if
#'   `newdata` is one, else a matrix. Rows keep their order and their missing values. Factor
#'   columns come as the indicator columns that were ranked.
#' @examples
#' fit <- kernel_rank(iris[, 1:4], iris$Species)
#' head(predict(fit, iris, n = 2))
#' @family feature ranking
#' @export
predict.kernel_rank <- function(object, newdata, n = object$n, ...) {
  check_dots(...)
  validate_rank(object)
  n <- check_whole(n, "n", min = 1)
  if (missing(newdata)) {
    abort("argument", "`newdata` is missing: the table whose best columns are wanted.")
  }
  x <- new_matrix(newdata, object$input, NULL)$x
  best <- as.matrix(x[, utils::head(object$ranking, n), drop = FALSE])
  if (is.data.frame(newdata)) as.data.frame(best) else best
}

#' @rdname kernel_rank
#' @export
head.kernel_rank <- function(x, n = 6L, ...) {
  check_dots(...)
  validate_rank(x, "x")
  x$score[utils::head(x$ranking, check_whole(n, "n", min = 1))]
}

#' @export
coef.kernel_rank <- function(object, ...) {
  check_dots(...)
  object$weights
}

#' Plot a ranking
#'
#' Use it to see how far the best columns stand out (`"score"`), whether the search had settled
#' (`"path"`), or how sure the ranking is (`"frequency"`, after `resample`, with lines at the share
#' that permuted responses give, mean and 95 % point). Margins fit the names
#' of the columns and are put back afterwards: what is added to the plot then lands elsewhere.
#' @param x a ranking made by [kernel_rank()].
#' @param type what to show. NULL: frequencies if there are any, else scores.
#' @param n at most this many columns, best first.
#' @param ... graphical parameters that replace the defaults.
#' @returns The data plotted, invisibly: a data frame `name`, `column` and `score` or `frequency`,
#'   or the path.
#' @examples
#' fit <- kernel_rank(iris[, 1:4], iris$Species)
#' plot(fit)
#' plot(fit, type = "path")
#' @family feature ranking
#' @export
plot.kernel_rank <- function(x, type = NULL, n = 25, ...) guard_model("x", {
  validate_rank(x, "x")
  type <- if (is.null(type)) {
    if (is.null(x$frequency)) "score" else "frequency"
  } else {
    check_choice(type, "type", c("score", "path", "frequency"))
  }
  n <- check_whole(n, "n", min = 1)
  if (type == "frequency" && is.null(x$frequency)) {
    abort("argument", "`type = \"frequency\"` needs a ranking made with `resample`.")
  }
  if (type == "path" && !nrow(x$path)) {
    abort("argument", "`type = \"path\"`: method \"", x$method, "\" has no path.")
  }
  if (type == "path") plot_rank_path(x, ...) else plot_rank_dots(x, type, n, ...)
})

plot_rank_dots <- function(x, type, n, ...) {
  data <- rank_table(x, type, n)
  shown <- data[[3L]]
  shown[!is.finite(shown)] <- NA
  top <- max(shown, 0, na.rm = TRUE)
  plot_dots(shown, data$name, list(names = "black", points = palette_classes[1L]), list(
    xlim = c(0, if (type == "frequency" || top == 0) 1 else top), xlab = rank_label(x, type),
    main = rank_title(x, type, data)
  ), ...)
  if (type == "frequency" && !is.null(x$null)) {
    graphics::abline(v = x$null, lty = c(3L, 2L), col = "grey40")
    graphics::mtext(c("chance", "95%"), 3, at = x$null, line = 0, cex = 0.7 * graphics::par("cex"),
                    col = "grey40")
  }
  invisible(data)
}

# The first `n` columns, by their frequency where that is shown.
rank_table <- function(x, type, n) {
  value <- x[[type]]
  by_value <- order(-value, match(seq_along(value), x$ranking))
  columns <- utils::head(if (type == "score") x$ranking else by_value, n)
  data <- data.frame(name = names(value)[columns], column = columns, unname(value[columns]))
  names(data)[3L] <- type
  data
}

rank_label <- function(x, type) {
  if (type == "score") return(rank_methods[[x$method]]$score)
  paste("share of resamples in the best", x$n)
}

rank_title <- function(x, type, data) {
  if (type == "frequency") {
    sure <- sum(data$frequency >= 0.9)
    return(paste0(if (sure) sure else "No", " column", if (sure > 1L) "s", " among the best ", x$n,
                  " in at least 90% of resamples"))
  }
  zero <- sum(x$score == 0)
  best <- paste(shorten(utils::head(data$name, 2L), 24L), collapse = " and ")
  # zero may also mean that another column says the same
  paste0(best, if (nrow(data) > 1L) " lead" else " leads",
         if (zero) paste0(", ", zero, " of ", length(x$score), " at zero"))
}

# Where a path leads, and its top where it `climbs` and that lies on the way.
path_words <- function(path, climbs) {
  value <- path$value
  last <- value[length(value)]
  top <- which.max(value)
  number <- function(v) format(v, digits = 3)
  peak <- climbs && top > 1L && number(value[top]) != number(last)
  paste0(if (last >= value[1L] || peak) " rose to " else " fell to ",
         number(if (peak) value[top] else last), " in ",
         if (peak) path$iteration[top] else max(path$iteration), " steps",
         if (peak) paste0(", ", number(last), " in the end"))
}

plot_rank_path <- function(x, ...) {
  path <- x$path
  local_par(las = upright(path$value))
  draw(graphics::plot, c(list(
    x = path$iteration, y = path$value, type = "o", pch = 19, cex = 0.6, col = palette_classes[1L]
  ), rank_path_labels(x)), ...)
  invisible(path)
}

rank_path_labels <- function(x) {
  method <- rank_methods[[x$method]]
  name <- method$value
  list(
    xlab = if (method$ordinal) "step" else "iteration", ylab = name,
    main = paste0(toupper(substr(name, 1L, 1L)), substring(name, 2L),
                  path_words(x$path, climbs = x$method == "forward"),
                  if (!x$converged) ", not settled")
  )
}
