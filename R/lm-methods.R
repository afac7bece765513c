# Methods of kernel_lm() that print, sum up and plot it.

#' @export
print.kernel_lm <- function(x, ...) guard_model("x", {
  validate_lm(x, "x")
  what <- if (is.null(x$levels)) {
    "regression"
  } else {
    paste("classification,", length(x$levels), "classes")
  }
  cat("<kernel_lm> ", what, ": ", x$n, " rows on ", basis_words(x$basis), "\n", sep = "")
  cat("kernel:  ", kernel_words(x$basis),
      if (x$ridge > 0) paste0(", ridge ", format(x$ridge, digits = 3)), "\n", sep = "")
  responses <- response_table(x)
  if (NROW(responses) > 1L) {
    print_responses(x, responses)
  } else {
    cat(training_error_words(x), "\n", sep = "")
  }
  if (wants_more_rows(x)) {
    cat("         still falling at the end of the basis: try ", more_rows_words(x$basis), "\n",
        sep = "")
  }
  invisible(x)
})

error_name <- function(x) {
  paste0(if (is_weighted(x)) "weighted ",
         if (is.null(x$levels)) "mean squared error" else "error rate")
}

training_error_words <- function(x) {
  paste0(error_name(x), ": ", format(x$error, digits = 4), " on the training rows, ",
         format(chosen_loo(x)$error, digits = 4), " leave-one-out")
}

# A line a response: their units may differ, and no figure of all of them means anything then.
print_responses <- function(x, responses, most = 6L) {
  shown <- utils::head(responses, most)
  number <- function(v) format(vapply(v, format, "", digits = 4), justify = "right")
  cat(error_name(x), " on the training rows, leave-one-out:\n", sep = "")
  cat(paste0("  ", format(shorten(shown$response, 24L)), "  ", number(shown$error), "  ",
             number(shown$left_out), "\n"), sep = "")
  if (nrow(responses) > most) cat("  ... and ", nrow(responses) - most, " more\n", sep = "")
}

# What is known of every response; NULL for a factor, and of models by older versions.
response_table <- function(x, arg = "x") {
  table <- x$responses
  must_hold(arg, responses = is.null(table) || (is.data.frame(table) && nrow(table) > 0L &&
    all(vapply(c("error", "left_out", "variance"), function(name) {
      is_numbers(table[[name]], nrow(table))
    }, NA))))
  table
}

# R-squared of rows left out: the share of the variance, of all responses together, that is
# explained without having seen the row.
left_out_share <- function(responses) {
  if (!is.null(responses)) 1 - sum(responses$left_out) / sum(responses$variance)
}

# The narrower kernels that kernel_tune() tries do as well where columns are few.
more_rows_words <- function(basis) {
  known <- is_number(basis$tol)
  paste0(if (known) paste0("`tol = ", format(basis$tol / 10, digits = 3), "`") else
           "a smaller `tol`",
         if (isTRUE(basis$input$width <= 2)) ", or `kernel_tune()`")
}

# All of a basis that its tolerance cut is better by a fifth than the size tried before it.
wants_more_rows <- function(x) {
  sizes <- sort(unique(x$loo$size), decreasing = TRUE)
  tried <- !is.null(x$grown) && isTRUE(x$basis$tol > 1.5 * least_tol)
  if (tried || !identical(x$basis$stop, "tol") || length(sizes) < 2L) return(FALSE)
  least <- vapply(sizes[1:2], function(size) min(x$loo$loss[x$loo$size == size]), 0)
  length(x$basis$index) == sizes[1L] && least[1L] < 0.8 * least[2L]
}

chosen_loo <- function(x) {
  x$loo[which(x$loo$size == length(x$basis$index) & x$loo$ridge == x$ridge)[1L], ]
}

# The best ridge of every size.
loo_by_size <- function(loo) {
  best <- vapply(split(seq_len(nrow(loo)), loo$size), function(rows) {
    rows[best_row(loo[rows, ])]
  }, 0L)
  loo[unname(best), ]
}

#' @export
summary.kernel_lm <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_lm(object)
  by_size <- loo_by_size(object$loo)
  L <- nrow(by_size)
  spaced <- if (L > 12L) pmin(L, round(exp(seq(0, log(L), length.out = 7)))) else seq_len(L)
  at <- sort(unique(c(spaced, which(by_size$size == length(object$basis$index)))))
  responses <- response_table(object, "object")
  structure(
    list(model = object, loo = by_size[at, ], confusion = object$confusion,
         r.squared = left_out_share(responses),
         responses = if (NROW(responses) > 1L) {
           cbind(responses, r.squared = 1 - responses$left_out / responses$variance)
         }),
    class = "summary.kernel_lm"
  )
})

#' @export
print.summary.kernel_lm <- function(x, ...) guard_model("x", {
  print(x$model)
  if (!is.null(x$r.squared)) {
    cat("R-squared of rows left out: ", format(x$r.squared, digits = 4),
        if (!is.null(x$responses)) ", of all responses together", "\n", sep = "")
  }
  if (!is.null(x$responses)) {
    print(utils::head(x$responses[c("response", "r.squared")], 12L), row.names = FALSE, digits = 4)
  }
  cat("leave-one-out by size (chosen: ", length(x$model$basis$index), "):\n", sep = "")
  print(x$loo, row.names = FALSE, digits = 4)
  if (!is.null(x$confusion) && nrow(x$confusion) <= 12L) print(x$confusion)
  invisible(x)
})

#' @export
coef.kernel_lm <- function(object, ...) {
  check_dots(...)
  object$coefficients
}

#' Plot a kernel regression or classification
#'
#' Use it to see how well the model fits (`"fit"`), whether another number of rows would do as
#' well (`"loo"`), or whether its probabilities can be taken at their word (`"calibration"`).
#'
#' @param x a [kernel_lm()].
#' @param type `"fit"`: observed against fitted values, or for a factor the confusion matrix of
#'   the training rows, each predicted without itself; `"loo"`: leave-one-out loss against size,
#'   each with its best ridge;
#'   `"calibration"`: for a factor, how often what was said with some probability of rows left out
#'   came true, in ten classes of probability, larger points for more rows.
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly.
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp, mtcars)
#' plot(fit)
#' plot(fit, type = "loo")
#' plot(kernel_lm(Species ~ ., iris), type = "calibration")
#' @family models
#' @export
plot.kernel_lm <- function(x, type = c("fit", "loo", "calibration"), ...) guard_model("x", {
  validate_lm(x, "x")
  type <- check_choice(type, "type", c("fit", "loo", "calibration"))
  if (type == "loo") return(plot_loo(x, ...))
  if (type == "calibration") return(plot_calibration(x, ...))
  if (!is.null(x$confusion)) {
    return(plot_confusion(shown_confusion(x), misclassified_title(x), ...))
  }
  fitted <- as.matrix(stats::fitted(x))
  observed <- fitted + as.matrix(stats::residuals(x))
  group <- if (ncol(fitted) > 1L) rep(colnames_or(fitted, "y"), each = nrow(fitted))
  labels <- list(
    xlab = "fitted", ylab = "observed",
    main = explained_title(x, observed)
  )
  data <- plot_groups(cbind(fitted = c(fitted), observed = c(observed)), group, labels, ...)
  graphics::abline(0, 1, lty = 3, col = "grey50")
  invisible(data)
})

# Of rows that were left out where that is known: those of the fit flatter the model.
shown_confusion <- function(x) {
  if (is.null(x$left_out_confusion)) x$confusion else x$left_out_confusion
}

# Shares of the variance, all responses together; those of fits to weighted rows are weighted.
explained_title <- function(x, observed) {
  middle <- apply(observed, 2L, weighted_mean, x$weights)
  variance <- weighted_mean(rowMeans((observed - rep(middle, each = nrow(observed)))^2), x$weights)
  sprintf("%.1f %% of the variance explained when left out (%.1f %% when fitted)",
          100 * (1 - chosen_loo(x)$loss / variance), 100 * (1 - x$error / variance))
}

colnames_or <- function(m, stem) {
  if (is.null(colnames(m))) paste0(stem, seq_len(ncol(m))) else colnames(m)
}

plot_loo <- function(x, ...) {
  known <- loo_by_size(x$loo)
  local_par(las = upright(known$loss))
  draw(graphics::plot, list(
    x = known$size, y = known$loss, type = if (nrow(known) > 1L) "l" else "n",
    col = palette_classes[1L], lwd = 1.5,
    xlab = "basis size", ylab = loo_label(x), main = loo_title(x, known)
  ), ...)
  graphics::points(length(x$basis$index), chosen_loo(x)$loss, pch = 16, col = palette_classes[2L])
  invisible(known)
}

loo_label <- function(x) {
  paste("leave-one-out", if (is.null(x$levels)) "mean squared error" else "Brier score")
}

loo_title <- function(x, known) {
  sprintf("Least leave-one-out loss at size %d; the model has %d", known$size[best_row(known)],
          length(x$basis$index))
}
