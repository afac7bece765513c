# ---- prediction --------------------------------------------------------------------

#' Predict by directions that discriminate
#'
#' Use it to classify rows that the model has not seen, or to take the weighted directions as
#' columns for another method (`"scores"`).
#'
#' @param object a [kernel_takes()] model.
#' @param newdata new rows: matrix, data frame or [row_source()] with the training columns (matched
#'   by name); for
#'   a model of a Gram matrix the cross-Gram matrix, new rows by training rows. Missing: the
#'   training rows.
#' @param type `"class"`: the label of the nearest training row in the weighted directions, of
#'   equally near ones the label of most, then of the lowest row; `"prob"`: probabilities, a column
#'   a class, by a softmax fitted to the decisions of training rows left out; `"decision"`: minus
#'   the distance to the nearest row of each class; `"scores"`: the weighted coordinates.
#' @param threads number of threads.
#' @param write with a [row_source()] as `newdata`: a function of a chunk's number and its
#'   predictions, called chunk by chunk, or the path of a CSV file for them. NULL: all predictions
#'   are collected.
#' @param ... nothing else is accepted.
#' @returns A factor with a label per row of `newdata`; for `"prob"` and `"decision"` a matrix with
#'   a column per class, for `"scores"` one with a column per direction kept (best first). Rows with
#'   missing values give NA.
#' @examples
#' odd <- seq(1, 150, by = 2)
#' fit <- kernel_takes(Species ~ ., iris[odd, ])
#' table(predict(fit, iris[-odd, ]), iris$Species[-odd])
#' head(predict(fit, iris[-odd, ], type = "scores")[, 1:2])
#' @family models
#' @export
predict.kernel_takes <- function(object, newdata,
                                 type = c("class", "prob", "decision", "scores"),
                                 threads = getOption("kernelect.threads", 1L), write = NULL, ...) {
  check_dots(...)
  if (by_chunks(newdata, write)) {
    return(predict_source(object, newdata, write, match.call(), parent.frame()))
  }
  type <- check_choice(type, "type", c("class", "prob", "decision", "scores"))
  threads <- check_threads(threads)
  validate_takes(object)
  if (missing(newdata)) return(takes_training(object, type, threads))
  new <- takes_scores(object, newdata, threads)
  if (type == "scores") return(fill_rows(new$scores, new$complete, new$rows))
  if (type != "class") {
    return(fill_rows(takes_decisions(object, new$scores, type, threads), new$complete, new$rows))
  }
  as_ordered(fill_rows(nearest_class(object, new$scores, threads), new$complete), object)
}

# Each training row is its own nearest neighbour, with those just like it.
takes_training <- function(object, type, threads) {
  if (type == "scores") return(predicted_rows(object, "scores"))
  if (type != "class") {
    return(stats::napredict(object$na.action,
      takes_decisions(object, object$scores, type, threads)))
  }
  classes <- nearest_class(object, object$scores, threads)
  as_ordered(stats::napredict(object$na.action, classes), object)
}

# Weighted scores of the complete new rows; only basis rows that matter are evaluated.
takes_scores <- function(fit, newdata, threads) {
  kept <- fit$directions
  basis <- if (is.null(fit$rotation)) head(fit$basis, max(kept, 1L)) else fit$basis
  new <- new_rows(basis, newdata)
  dual <- if (is.null(fit$rotation)) diag(length(basis$index)) else fit$rotation$vectors
  dual <- weighted_columns(dual, kept, fit$weights)
  offset <- if (!is.null(fit$rotation)) -as.vector(fit$rotation$center %*% dual)
  what <- expansion(basis, "orthonormal", dual = dual, offset = offset)
  scores <- expand_complete(basis, new$x, what, threads)
  dimnames(scores) <- list(new$rows[new$complete], colnames(dual))
  list(scores = scores, complete = new$complete, rows = new$rows)
}

# Minus the distances to the nearest row of each class, or the probabilities made of them.
takes_decisions <- function(fit, scores, type, threads) {
  decision <- matrix(0, nrow(scores), nlevels(fit$y))
  if (length(scores)) {
    tolerance <- score_tolerance(fit)[ncol(fit$scores)]
    near <- nearest_by_class(scores, fit$scores, fit$y, tolerance, threads)
    decision <- -sqrt(near$distance)
  }
  dimnames(decision) <- list(rownames(scores), levels(fit$y))
  if (type == "prob") calibrated_probabilities(fit$calibration, decision) else decision
}

nearest_class <- function(fit, scores, threads) {
  if (!ncol(scores)) {
    largest <- which.max(tabulate(fit$y, nlevels(fit$y)))
    return(factor(rep(levels(fit$y)[largest], nrow(scores)), levels(fit$y)))
  }
  nearest_vote(scores, fit$scores, fit$y, score_tolerance(fit)[ncol(fit$scores)], threads)$class
}

# ---- methods -----------------------------------------------------------------------

#' @export
coef.kernel_takes <- function(object, ...) {
  check_dots(...)
  validate_takes(object)$weights
}

#' @importFrom stats coef
NULL

#' @export
print.kernel_takes <- function(x, ...) guard_model("x", {
  validate_takes(x, "x")
  d <- length(x$weights)
  cat("<kernel_takes> ", x$size, " of ", d, " directions kept, ", x$n, " rows, ",
      nlevels(x$y), " classes\n", sep = "")
  cat("kernel:     ", kernel_words(x$basis), "\n", sep = "")
  cat("basis:      ", x$method, ", ", length(x$basis$index), " rows, E(M) = ",
      format(x$cost, digits = 4), "\n", sep = "")
  cat("weights by: ", x$select,
      if (x$select == "kffs" && x$variant == "printed") ", as printed", "\n", sep = "")
  if (x$size) {
    shown <- head(x$directions, 6L)
    weights <- format(x$weights[shown], digits = 3, trim = TRUE)
    cat("best:       ", paste0(shown, " (", weights, ")", collapse = ", "),
        if (x$size > 6L) ", ...", "\n", sep = "")
  }
  cat("error:      ", takes_error_words(x), "\n", sep = "")
  invisible(x)
})

takes_error_words <- function(fit) {
  sprintf("%.3g %% by nearest neighbour, leaving one out", 100 * fit$left_out_error)
}

# What the plot of the weights shows.
takes_finding <- function(fit) {
  of <- paste(length(fit$weights), "directions")
  sprintf("%d of %s kept: 1-NN errs on %.3g %% (leave one out)", fit$size, of,
          100 * fit$left_out_error)
}

#' @export
summary.kernel_takes <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_takes(object)
  path <- object$path[object$path$gamma > 0, ]
  at <- unique(round(exp(seq(0, log(max(nrow(path), 1L)), length.out = 8))))
  structure(class = "summary.kernel_takes", list(
    model = object, cost = object$cost, bound = object$bound, dim = length(object$weights),
    positive = object$size, path = path[at[at <= nrow(path)], ]
  ))
})

#' @export
print.summary.kernel_takes <- function(x, ...) guard_model("x", {
  print(x$model)
  cat("reconstruction cost E(M) = ", format(x$cost, digits = 4), " with ", x$dim,
      " directions; ", sep = "")
  if (is.na(x$bound)) {
    cat("Theorem 1 does not apply (basis stopped by ", x$model$basis$stop, ")\n", sep = "")
  } else {
    cat("Theorem 1's bound: ", format(x$bound, digits = 4), "\n", sep = "")
  }
  print(x$path, row.names = FALSE, digits = 4)
  invisible(x)
})

#' Plot directions that discriminate
#'
#' `"weights"` answers how many directions are needed: their weights in the order of selection
#' (grey where not kept) with the training error of the ensemble so far, and the leave-one-out
#' error where there is one. `"scores"` answers how well the best two directions separate the
#' classes, `"calibration"` whether the probabilities can be taken at their word.
#' @param x a [kernel_takes()] model.
#' @param type `"weights"`, `"scores"`, or `"calibration"` as in [plot.kernel_lm()].
#' @param ... graphical parameters for [plot()].
#' @returns What is plotted, invisibly: the path, the first two columns of the scores with the
#'   labels, as a data frame, or the table of probabilities and shares.
#' @examples
#' fit <- kernel_takes(Species ~ ., iris)
#' plot(fit)
#' plot(fit, "scores")
#' @family models
#' @export
plot.kernel_takes <- function(x, type = c("weights", "scores", "calibration"),
                              ...) guard_model("x", {
  type <- check_choice(type, "type", c("weights", "scores", "calibration"))
  validate_takes(x, "x")
  switch(type,
    weights = plot_takes_weights(x, ...), scores = plot_takes_scores(x, ...),
    calibration = plot_calibration(x, ...)
  )
})

plot_takes_weights <- function(x, ...) {
  path <- x$path
  kept <- path$direction %in% x$directions
  errors <- takes_errors(path)
  labels <- colnames(errors$curves)
  local_par(mar = wider(4L, 4.1))
  draw(graphics::plot, list(
    x = path$size, y = path$gamma, type = "h", lwd = max(1, min(8, 150 / nrow(path))), lend = 1,
    col = ifelse(kept, palette_classes[6L], "grey80"),
    ylim = c(min(path$gamma, 0), errors$top),
    xlab = "directions, in order of selection", ylab = expression("weight " * gamma),
    main = takes_finding(x)
  ), ..., title_line = max(above_strip, title_over(labels)))
  for (i in seq_len(ncol(errors$curves))) {
    seen <- !is.na(errors$curves[, i])
    graphics::lines(path$size[seen], errors$curves[seen, i] * errors$scale, type = "o",
                    pch = 15 + i, cex = 0.5, col = takes_colours[i])
  }
  at <- pretty(c(0, errors$right), 5L)
  graphics::axis(4, at = at * errors$scale, labels = 100 * at)
  graphics::mtext("error in %", 4, line = 2.4, las = 0, cex = graphics::par("cex"))
  seen <- seq_len(ncol(errors$curves))
  add_strip(labels, takes_colours[seen], pch = (16:17)[seen], lty = 1)
  invisible(path)
}

takes_colours <- palette_classes[c(2L, 8L)]

# Errors along the path, and what they are multiplied by to be as high as the weights.
takes_errors <- function(path) {
  curves <- cbind("vote, training rows" = path$error, "1-NN, leave one out" = path$loo)
  right <- max(curves, 0.01, na.rm = TRUE)
  top <- max(path$gamma, 0)
  if (top == 0) top <- 1
  list(curves = curves, right = right, top = top, scale = top / right)
}

plot_takes_scores <- function(x, ...) {
  check_some_direction(x, "x")
  one <- x$size == 1L
  points <- data.frame(x$scores[, seq_len(min(x$size, 2L)), drop = FALSE], y = x$y)
  colours <- class_colours(nlevels(x$y))
  symbols <- class_symbols(nlevels(x$y))
  height <- if (one) jitter_rows(x$y) else points[[2L]]
  names <- shorten(levels(x$y), 20L)
  local_par(las = upright(height))
  draw(graphics::plot, list(
    x = points[[1L]], y = height,
    col = colours[as.integer(x$y)], pch = symbols[as.integer(x$y)], cex = 0.8,
    xlim = limits_with_key(points[[1L]], names),
    xlab = paste("direction", x$directions[1L]),
    ylab = if (one) "" else paste("direction", x$directions[2L]),
    yaxt = if (one) "n" else "s",
    main = directions_title(x, if (one) 1L else 1:2)
  ), ..., title_line = title_over(names))
  add_key(names, colours, symbols)
  invisible(points)
}

check_some_direction <- function(x, arg) {
  if (x$size) return(invisible())
  abort("argument", "`", arg, "` has no direction of positive weight: there are no scores to plot.")
}

# Tells of nearest neighbours by the directions shown, not by all of them.
directions_title <- function(x, shown) {
  rows <- evenly_spaced(x$n, 2000L)
  directions <- x$directions[shown]
  few <- x
  few$directions <- directions
  few[c("scores", "y")] <- list(x$scores[rows, shown, drop = FALSE], x$y[rows])
  error <- rev(nested_errors(few, list(threads = 1L, verbose = FALSE)))[1L] / length(rows)
  what <- if (!all(shown == seq_along(shown))) {
    paste0("Direction", if (length(shown) > 1L) "s", " ", paste(directions, collapse = " and "))
  } else if (length(shown) > 1L) {
    "The best two directions"
  } else {
    "The best direction"
  }
  sprintf("%s: 1-NN errs on %.3g %% (leave one out)", what, 100 * error)
}

# Classes as heights, spread so that points do not cover each other, without random numbers.
jitter_rows <- function(y) as.integer(y) + 0.3 * ((seq_along(y) * 0.618034) %% 1 - 0.5)
