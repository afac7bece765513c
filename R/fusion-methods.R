# Methods of kernel_fusion: prediction, printing, plots.

# ---- prediction -------------------------------------------------------------------------------

validate_fusion <- function(object, arg = "object") {
  must_hold(arg, levels = is_null_or(object$levels, is_levels))
  levels <- object$levels
  decisions <- if (length(levels) > 2L) length(levels) else 1L
  must_hold(arg,
    weights = is_numbers(object$weights, length(object$weights)) && all(object$weights >= 0) &&
      is.character(names(object$weights)),
    intercept = is_numbers(object$intercept, decisions),
    n = is_number(object$n), na.action = valid_omitted(object$na.action, object$n),
    support = is_index(object$support, object$n),
    calibration = is.null(object$calibration) ||
      (is_numbers(object$calibration$slope, 1L) &&
         is_numbers(unname(object$calibration$offset), length(levels)))
  )
  if (is.null(object$kernels)) {
    must_hold(arg, coefficients = valid_columns(object, decisions))
  } else {
    must_hold(arg, expansion = valid_expansion(object, decisions))
  }
  object
}

# Columns as kernels: the decision is linear in them.
valid_columns <- function(object, decisions) {
  width <- length(object$weights)
  valid_input(object$input) && object$input$width == width &&
    valid_scaling(object$scaling, width) &&
    is_matrix_of(as.matrix(object$coefficients), width, decisions)
}

# Other kernels: the decision is a sum over the support rows.
valid_expansion <- function(object, decisions) {
  support <- length(object$support)
  length(object$kernels) == length(object$weights) &&
    all(vapply(object$kernels, valid_spec, NA, object$input)) &&
    valid_coefficients(object, support, decisions) &&
    valid_names(object$support_names, support) &&
    (is.null(object$input) || valid_rows(object, support))
}

# One matrix for all kernels, or (on bases) one for each.
valid_coefficients <- function(object, support, decisions) {
  given <- object$expansion
  if (!is.list(given)) return(is_matrix_of(given, support, decisions))
  length(given) == length(object$kernels) &&
    all(vapply(given, is_matrix_of, NA, support, decisions))
}

# Coefficients of kernel i on the support rows.
kernel_coefficients <- function(object, i) {
  if (is.list(object$expansion)) object$expansion[[i]] else object$expansion
}

valid_spec <- function(spec, input) {
  if (is_noise(spec)) return(TRUE)
  if (is.null(input)) return(is.character(spec))
  known <- if (is.null(input$columns)) seq_len(input$width) else input$columns
  is.atomic(spec$columns) && all(spec$columns %in% known) &&
    valid_width(spec$kernel, length(spec$columns)) && is.list(check_kernel(spec$kernel))
}

#' Predict by fused kernels
#'
#' Use it to get the number or the class of rows that the model has not seen; `type = "decision"`
#' tells how far a row lies on its side.
#'
#' @param object a [kernel_fusion()].
#' @param newdata new rows: matrix, data frame or [row_source()] with the training columns (matched
#'   by name); for
#'   a model of Gram matrices the named list of cross-Gram matrices, new rows by training rows, all
#'   or those that were kept (matrices of kernels without weight and of noise may be left out).
#'   Missing: the training rows.
#' @param type `"response"`: fitted numbers, for a factor the same as `"decision"`; `"class"`:
#'   predicted classes, the default for a factor; `"decision"`: decision values, positive for the
#'   second of two classes, a column a class beyond two; `"prob"`: probabilities, a column a class,
#'   from the decisions by a softmax that was fitted to decisions of rows left out.
#' @param threads number of threads.
#' @param write with a [row_source()] as `newdata`: a function of a chunk's number and its
#'   predictions, called chunk by chunk, or the path of a CSV file for them. NULL: all predictions
#'   are collected.
#' @param ... nothing else is accepted.
#' @returns A numeric vector, a matrix with a column a class (more than two classes, not
#'   `"class"`), or a factor. Rows with missing values give NA.
#' @examples
#' fit <- kernel_fusion(iris[1:100, 1:4], iris$Species[1:100], cost = Inf)
#' predict(fit, iris[c(1, 51), 1:4])
#' predict(fit, iris[c(1, 51), 1:4], type = "decision")
#' @family fusion
#' @export
predict.kernel_fusion <- function(object, newdata,
                                  type = c("response", "class", "decision", "prob"),
                                  threads = getOption("kernelect.threads", 1L), write = NULL, ...) {
  check_dots(...)
  if (by_chunks(newdata, write)) {
    return(predict_source(object, newdata, write, match.call(), parent.frame()))
  }
  validate_fusion(object)
  classes <- !is.null(object$levels)
  if (missing(type) && classes) type <- "class"
  type <- check_choice(type, "type", c("response", "class", "decision", "prob"))
  if (type %in% c("class", "prob") && !classes) {
    abort("argument", "`type = \"", type, "\"` needs a model of classes; this is a regression.")
  }
  if (type == "prob" && is.null(object$calibration)) {
    abort("argument", "`type = \"prob\"` needs a model with probabilities: ",
          "this one was fitted with `folds = 0`.")
  }
  threads <- check_threads(threads)
  decision <- if (missing(newdata)) {
    predicted_rows(object, "fitted.values")
  } else {
    new_decisions(object, newdata, threads)
  }
  if (type == "prob") return(calibrated_probabilities(object$calibration, decision))
  if (type != "class") return(decision)
  as_ordered(predicted_classes(as.matrix(decision), object$levels, decided_class), object)
}

new_decisions <- function(object, newdata, threads) {
  new <- if (is.null(object$input)) {
    new_grams(object, newdata)
  } else {
    new_matrix(newdata, object$input, NULL)
  }
  rows <- if (is.null(object$input)) new$rows else rownames(new$x)
  value <- if (is.null(object$input)) {
    gram_decisions(object, new)
  } else {
    row_decisions(object, complete_part(new), threads)
  }
  value <- unname(value) + rep(object$intercept, each = nrow(value))
  fill_rows(named_decisions(value, object), new$complete, rows)
}

# Rows as they are given, sparse ones that must be filled chunk by chunk.
row_decisions <- function(object, x, threads) {
  fill <- is_sparse(x) && (is.null(object$kernels) || !is_uncentred(object$scaling))
  if (!fill) return(scaled_decisions(object, apply_scaling(x, object$scaling), threads))
  value <- zeros(nrow(x), length(object$intercept))
  for (rows in row_chunks(nrow(x), ncol(x))) {
    part <- apply_scaling(as.matrix(x[rows, , drop = FALSE]), object$scaling)
    value[rows, ] <- scaled_decisions(object, part, threads)
  }
  value
}

scaled_decisions <- function(object, x, threads) {
  if (is.null(object$kernels)) x %*% object$coefficients else kernel_decisions(object, x, threads)
}

# Noise is new with every row, and has no part in it.
kernel_decisions <- function(object, x, threads) {
  out <- matrix(0, nrow(x), length(object$intercept))
  if (!length(object$support)) return(out)
  for (i in which(object$weights > 0)) {
    spec <- object$kernels[[i]]
    if (is_noise(spec)) next
    dual <- object$weights[[i]] * kernel_coefficients(object, i)
    used <- rowSums(dual != 0) > 0
    if (!any(used)) next
    rows <- list(kernel = spec$kernel, vectors = object$vectors[used, spec$columns, drop = FALSE])
    what <- expansion(rows, dual = dual[used, , drop = FALSE])
    out <- out + expand_basis(rows, x[, spec$columns, drop = FALSE], what, threads)
  }
  out
}

# The cross-Gram matrices that are needed, checked and in the model's order.
new_grams <- function(object, newdata) {
  given <- vapply(object$kernels, is.character, NA)
  needed <- names(object$weights)[given & object$weights > 0]
  if (!length(needed)) needed <- names(object$weights)[given][1L] # of weight 0, but it has the rows
  if (!is.list(newdata) || is.data.frame(newdata)) {
    must_be("newdata", "a named list of cross-Gram matrices, new rows by training rows", newdata)
  }
  if (is.null(names(newdata))) {
    if (length(newdata) != sum(given)) {
      abort("argument", "`newdata` must be a list of ", sum(given),
            " cross-Gram matrices, or name them.")
    }
    names(newdata) <- names(object$weights)[given]
  }
  absent <- setdiff(needed, names(newdata))
  if (length(absent)) {
    abort("columns", "`newdata` lacks the cross-Gram matrix of ", backticked(absent), ".")
  }
  grams <- lapply(needed, function(name) check_cross_gram(newdata[[name]], name, object))
  rows <- vapply(grams, nrow, 0L)
  if (any(rows != rows[1L])) {
    abort("argument", "Matrices in `newdata` must have equally many rows, not ",
          paste(unique(rows), collapse = " and "), ".")
  }
  complete <- Reduce(`&`, lapply(newdata[needed], function(K) rowSums(is.na(K)) == 0))
  list(
    grams = stats::setNames(lapply(grams, function(K) K[complete, , drop = FALSE]), needed),
    complete = unname(complete), rows = rownames(newdata[[needed[1L]]])
  )
}

# Its columns for the support rows.
check_cross_gram <- function(K, name, object) {
  if (!is.matrix(K) || !(is.numeric(K) || all(is.na(K)))) {
    must_be(paste0("newdata$", name), "a numeric matrix", K)
  }
  if (any(is.infinite(K))) abort("not_finite", "`newdata$", name, "` has infinite values.")
  storage.mode(K) <- "double"
  K <- kept_columns(K, object$na.action, object$n)
  cross_columns(K, object$support, object$support_names, object$n, paste0("newdata$", name))
}

gram_decisions <- function(object, new) {
  out <- matrix(0, sum(new$complete), ncol(object$expansion))
  for (name in names(new$grams)) {
    out <- out + object$weights[[name]] * (new$grams[[name]] %*% object$expansion)
  }
  out
}

# ---- methods -------------------------------------------------------------------------------------

#' Coefficients of fused columns
#'
#' Use it when columns were fused and the linear rule itself is wanted: to read it, or to write it
#' down for use elsewhere (`original = TRUE`).
#'
#' @param object a [kernel_fusion()] whose kernels are single columns.
#' @param original FALSE: of the scaled columns, as in `object$coefficients`; TRUE: of the columns
#'   as they were given, with the intercept first.
#' @param ... nothing else is accepted.
#' @returns A named vector, or a matrix with a column a class beyond two classes.
#' @examples
#' fit <- kernel_fusion(iris[1:100, 1:4], iris$Species[1:100], cost = Inf)
#' coef(fit)
#' coef(fit, original = TRUE)
#' @family fusion
#' @export
coef.kernel_fusion <- function(object, original = FALSE, ...) {
  check_dots(...)
  validate_fusion(object)
  check_flag(original, "original")
  if (is.null(object$coefficients)) {
    abort("argument", "Only columns as kernels (`kernels = NULL`) have coefficients; ",
          "see `weights` for the others.")
  }
  if (!original) return(object$coefficients)
  beta <- as.matrix(object$coefficients)
  if (!is.null(object$scaling)) beta <- beta / object$scaling$scale
  center <- if (is.null(object$scaling)) 0 else object$scaling$center
  out <- rbind(`(Intercept)` = object$intercept - colSums(beta * center), beta)
  if (ncol(out) == 1L) drop(out) else out
}

# Kernels by the share of the fused diagonal they make up.
fusion_table <- function(object) {
  size <- object$weights * object$mean_diagonal
  table <- data.frame(kernel = names(object$weights), weight = unname(object$weights),
                      share = unname(size / sum(size)))
  if (!is.null(object$coefficients) && !is.matrix(object$coefficients)) {
    table$coefficient <- unname(object$coefficients)
  }
  table[order(-table$share, seq_len(nrow(table))), ]
}

fusion_kind <- function(x) {
  if (is.null(x$kernels)) return("columns as kernels of rank one")
  if (is.null(x$input)) "Gram matrices" else "kernels on columns"
}

# Digits of mere rounding tell nothing.
format_small <- function(v) if (v < 1e-10) "below 1e-10" else format(v, digits = 3)

#' @export
print.kernel_fusion <- function(x, ...) guard_model("x", {
  validate_fusion(x, "x")
  C <- length(x$levels)
  cat("<kernel_fusion> ", x$type, if (C > 2L) paste0(", ", C, " classes"), " on ", x$n, " rows: ",
      sum(x$active), " of ", length(x$active), " kernels active\n", sep = "")
  cat("kernels: ", fusion_kind(x), if (length(x$basis)) {
    paste(" on bases of", paste(x$basis, collapse = ", "), "rows")
  }, ", weights ", adaptive_words(x), "\n", sep = "")
  cat(training_words(x), "\n", sep = "")
  table <- utils::head(fusion_table(x), min(6L, sum(x$active)))
  cat("share:   ", paste0(table$kernel, sprintf(" %.3g%%", 100 * table$share), collapse = ", "),
      if (sum(x$active) > 6L) ", ...", "\n", sep = "")
  invisible(x)
})

adaptive_words <- function(x) {
  if (!x$adaptive) return("preset")
  paste0(if (identical(x$rule, "simplex")) "on a simplex, " else "adaptive, ",
    if (!x$converged) "not ", "converged in ", x$iterations,
         " iteration", if (x$iterations > 1L) "s")
}

training_words <- function(x) {
  error <- if (x$training_error == 0) "0" else format_small(x$training_error)
  # `weights` of the model are those of kernels
  kind <- if (is.null(x$call$weights)) "training" else "weighted training"
  if (x$type == "regression") {
    share <- format(x$noise, digits = 4)
    return(paste0("noise:   ", share, " of the mean diagonal; ", kind, " RMSE ", error))
  }
  paste0("cost:    ", format(x$cost, digits = 4), "; ", length(x$support),
         " support rows; ", kind, " error ", error)
}

#' @export
summary.kernel_fusion <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_fusion(object)
  table <- fusion_table(object)
  structure(
    list(model = object, kernels = table[table$weight > 0, ],
         inactive = names(object$active)[!object$active]),
    class = "summary.kernel_fusion"
  )
})

#' @export
print.summary.kernel_fusion <- function(x, ...) guard_model("x", {
  print(x$model)
  if (!is.null(x$model$gap)) {
    cat("largest relative duality gap: ", format_small(x$model$gap), "\n", sep = "")
  }
  if (!is.null(x$model$weights_gap)) {
    cat("relative duality gap of the weights: ", format_small(x$model$weights_gap), "\n", sep = "")
  }
  shown <- utils::head(x$kernels, 20L)
  print(shown, row.names = FALSE, digits = 4)
  if (nrow(x$kernels) > 20L) cat("... and", nrow(x$kernels) - 20L, "more\n")
  if (length(x$inactive)) {
    cat("inactive: ", paste(utils::head(x$inactive, 10L), collapse = ", "),
        if (length(x$inactive) > 10L) paste(" and", length(x$inactive) - 10L, "more"), "\n",
        sep = "")
  }
  invisible(x)
})

#' Plot the weights of fused kernels
#'
#' Use it to see which kernels are left and whether the weights had settled (`"path"`), or how the
#' kernels share the rule (`"weights"`), or whether the probabilities of a classifier can be taken
#' at their word (`"calibration"`).
#'
#' @param x a [kernel_fusion()].
#' @param type `"path"`: weights by iteration on a logarithmic axis, which shows how the kernels
#'   that are not needed fall away; `"weights"`: the final weights as a dot chart;
#'   `"calibration"`: as in [plot.kernel_lm()], from the decisions of rows left out (see `folds` of
#'   [kernel_fusion()]).
#' @param n how many kernels are named: those of the largest weights (at most 6 on the path).
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly: a matrix with a row an iteration and a column a kernel, or
#'   a named vector; both are weights times the mean diagonal of their kernel, which makes them
#'   comparable; or the table of probabilities and shares.
#' @examples
#' fit <- kernel_fusion(y ~ ., simulate_fusion(40, seed = 1))
#' plot(fit)
#' plot(fit, type = "weights")
#' @family fusion
#' @export
plot.kernel_fusion <- function(x, type = c("path", "weights", "calibration"), n = 10,
                               ...) guard_model("x", {
  validate_fusion(x, "x")
  if (missing(type) && nrow(x$path) == 1L) type <- "weights" # preset: there is no path
  type <- check_choice(type, "type", c("path", "weights", "calibration"))
  n <- check_whole(n, "n", min = 1)
  switch(type,
    path = plot_weight_path(x, n, ...), weights = plot_final_weights(x, n, ...),
    calibration = plot_calibration(x, ...)
  )
})

# Those that are named on the path, by their last weight.
named_kernels <- function(x, n) {
  last <- unlist(x$path[nrow(x$path), -1L]) * x$mean_diagonal
  utils::head(order(-last), min(n, sum(x$active), 6L))
}

kept_title <- function(x) {
  sprintf("%d of %d kernels keep%s a weight", sum(x$active), length(x$active),
          if (sum(x$active) == 1L) "s" else "")
}

# Below the floor a weight counts as gone and its line ends.
plot_weight_path <- function(x, n, ...) {
  size <- as.matrix(x$path[-1L]) * rep(x$mean_diagonal, each = nrow(x$path))
  shown <- replace(size, size <= 0, NA)
  best <- named_kernels(x, n)
  colour <- rep("grey75", ncol(size))
  colour[best] <- class_colours(length(best))
  names <- shorten(colnames(size)[best], 14L)
  local_par(mar = wider(4L, 1.1 + 0.45 * max(nchar(names))))
  limits <- range(shown, na.rm = TRUE)
  if (limits[2L] < 1.01 * limits[1L]) limits <- limits * c(0.5, 2)
  draw(graphics::matplot, list(
    x = x$path$iteration, y = shown, ylim = limits, type = "l", lty = 1,
    lwd = ifelse(seq_len(ncol(size)) %in% best, 2, 0.7), col = colour,
    log = "y", yaxt = "n", xlab = "iteration", ylab = "weight x mean diagonal",
    main = kept_title(x)
  ), ...)
  log_axis(2)
  graphics::points(rep(nrow(size), length(best)), size[nrow(size), best], pch = 16,
                   col = colour[best], cex = 0.7)
  graphics::mtext(names, 4, line = 0.4,
                  at = spread_labels(size[nrow(size), best]), col = colour[best],
                  cex = 0.8 * graphics::par("cex"))
  invisible(size)
}

# Heights for labels on a logarithmic axis, at least a line apart.
spread_labels <- function(at) {
  line <- graphics::par("cin")[2L] * graphics::par("cex") / graphics::par("pin")[2L]
  gap <- 0.8 * line * diff(graphics::par("usr")[3:4])
  height <- log10(at)
  o <- order(height)
  for (i in seq_along(o)[-1L]) height[o[i]] <- max(height[o[i]], height[o[i - 1L]] + gap)
  10^(height - max(0, max(height) - graphics::par("usr")[4L]))
}

plot_final_weights <- function(x, n, ...) {
  size <- final_weights(x, n)
  kept <- size > 0
  plot_dots(unname(size), names(size), list(
    names = ifelse(kept, "black", "grey50"), points = ifelse(kept, palette_classes[1L], "grey60")
  ), list(xlim = c(0, max(size)), xlab = "weight x mean diagonal", main = share_title(x)), ...)
  invisible(size)
}

# The largest `n`, each times the mean diagonal of its kernel.
final_weights <- function(x, n) {
  kernels <- utils::head(fusion_table(x), n)$kernel
  stats::setNames((x$weights * x$mean_diagonal)[kernels], kernels)
}

share_title <- function(x) {
  first <- fusion_table(x)[1L, ]
  sprintf("%s carries %.0f%% of the fused kernel", shorten(first$kernel, 24L), 100 * first$share)
}
