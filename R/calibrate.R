# From decisions to probabilities: p(class c) is proportional to exp(slope d_c + offset_c), one
# slope for all classes. Decisions must come from rows that the model has not seen (left out),
# otherwise the slope is too steep.

# A little of every parameter's size is held against it, in units where decisions spread by one:
# classes that never mix get probabilities near 0 and 1, not at them.
calibration_penalty <- 0.05

# `decisions`: a column a class; or a vector for two classes, positive for the second. `classes`: a
# factor of the rows. Returns `slope` (at least 0: the class of the largest decision is never the
# least likely for it) and `offset`, one a class. `start`: those of nearly the same rows.
calibrate_softmax <- function(decisions, classes, weights = NULL, threads = 1L, start = NULL) {
  decisions <- decision_matrix(decisions)
  weights <- if (is.null(weights)) rep(1, nrow(decisions)) else as.double(weights)
  weights <- weights * min(1, heaviest / sum(weights))
  known <- rep(TRUE, ncol(decisions))
  all_known <- all_finite(decisions)
  if (!all_known) known <- colSums(!is.finite(decisions)) == 0 # not that of a class without rows
  offset <- stats::setNames(rep(never, ncol(decisions)), levels(classes))
  if (!any(known)) known[] <- TRUE
  if (!all(known)) decisions <- decisions[, known, drop = FALSE]
  centred <- decisions - rowMeans(decisions)
  if (!all_known) centred <- replace(centred, !is.finite(decisions), 0)
  spread <- spread_of(centred, weights)
  labels <- match(as.integer(classes), which(known), nomatch = 0L)
  if (!(is.finite(spread) && spread > 0)) spread <- 1
  near <- !is.null(start) && all(start$offset[known] > never)
  from <- numeric(sum(known) + 1L)
  if (near) from[] <- c(start$slope * spread, start$offset[known])
  fit <- newton_softmax(centred / spread, labels, weights, from, threads)
  # worse than no decision at all: the classes' shares remain
  if (fit[1L] <= 0) fit <- newton_softmax(0 * centred, labels, weights, 0 * from, threads)
  offset[known] <- fit[-1L]
  list(slope = fit[1L] / spread, offset = offset)
}

# The offset of a class that cannot be: its probability is below 1e-300.
never <- -700

# Root mean square of the decisions of a row; but where most rows are decided by much less, as
# beside a class that is far away, no more than four times what two classes of that middle lead
# would have.
spread_of <- function(centred, weights) {
  spread <- sqrt(sum(weights * centred^2) / sum(weights))
  if (ncol(centred) < 2L) return(spread)
  lead <- weighted_median(leads(centred), weights)
  if (lead > 0) min(spread, 4 * lead / sqrt(2)) else spread
}

# What the largest value of each row has more than the next.
leads <- function(values) {
  if (ncol(values) == 2L) return(abs(values[, 1L] - values[, 2L]))
  first <- cbind(seq_len(nrow(values)), max.col(values, "first"))
  top <- values[first]
  values[first] <- -Inf
  top - values[cbind(first[, 1L], max.col(values, "first"))]
}

# The least value that half of the weight does not exceed.
weighted_median <- function(v, weights) {
  middle <- ceiling(length(v) / 2)
  if (all(weights == weights[1L])) return(sort.int(v, partial = middle)[middle])
  at <- order(v)
  v[at[which.max(cumsum(weights[at]) >= sum(weights) / 2)]]
}

# Rows weigh no more than that, all together: beyond, the penalty is nothing beside rounding.
heaviest <- 1e7

# The same, with how reliable its probabilities are on the rows it was fitted to.
calibrate_left_out <- function(decisions, classes, weights = NULL, threads = 1L) {
  if (!all_finite(decisions)) {
    abort("not_finite", "Decisions of rows left out overflow. Give another `ridge`.")
  }
  fit <- calibrate_softmax(decisions, classes, weights, threads)
  fit$reliability <- reliability(calibrated_probabilities(fit, decisions), classes, weights)
  fit
}

# Rows that sum to one, a column a level.
calibrated_probabilities <- function(calibration, decisions) {
  decisions <- decision_matrix(decisions)
  values <- calibration$slope * decisions + rep(calibration$offset, each = nrow(decisions))
  out <- softmax_rows(replace(values, is.nan(values), never))
  dimnames(out) <- list(rownames(decisions), names(calibration$offset))
  out
}

decision_matrix <- function(decisions) {
  if (!is.matrix(decisions)) decisions <- matrix(decisions, dimnames = list(names(decisions)))
  if (ncol(decisions) == 1L) cbind(numeric(nrow(decisions)), decisions) else decisions
}

softmax_rows <- function(values) {
  values <- values - values[cbind(seq_len(nrow(values)), max.col(values, "first"))]
  density <- exp(values)
  density / rowSums(density)
}

# Slope and offsets that minimise the weighted log loss and the penalty: strictly convex, so that
# Newton's steps, halved while they lead up, end at the one minimum, whatever share of the promised
# fall (1e-4) a step must bring and after however many halvings (27) rounding has the last word. The
# fall that ends it is quadratic in what is left: about 1e-6 of the parameters, which the last step
# squares, so that where it started from does not matter.
newton_softmax <- function(d, labels, weights, b, threads, most = 100L) {
  at <- function(b) .Call(ffi_softmax, d, labels, weights, b, calibration_penalty, threads)
  now <- at(b)
  for (iteration in seq_len(most)) {
    step <- solve(now$hessian, now$gradient, tol = 0) # positive definite by the penalty
    decrease <- sum(step * now$gradient)
    if (decrease <= 1e-12 * (1 + now$loss)) return(b - step)
    size <- 1
    while ((new <- at(b - size * step))$loss > now$loss - 1e-4 * size * decrease && size > 1e-8) {
      size <- size / 2
    }
    b <- b - size * step
    now <- new
  }
  b
}

# Log loss and Brier score of probabilities, and how often what was said with them came true.
reliability <- function(probabilities, classes, weights = NULL, bins = 10L) {
  weights <- if (is.null(weights)) rep(1, length(classes)) else weights
  happened <- indicators(classes)
  said <- as.vector(probabilities)
  bin <- as.integer(said * bins)
  bin[bin == bins] <- bins - 1L
  w <- rep(weights, ncol(probabilities))
  total <- rowsum(cbind(w, w * said, w * as.vector(happened)), bin)
  data.frame(
    probability = total[, 2L] / total[, 1L], frequency = total[, 3L] / total[, 1L],
    weight = total[, 1L], row.names = NULL
  )
}

# Diagonal: what is said with probability p comes true in a share p of the cases.
plot_reliability <- function(table, title, ...) {
  local_par(las = 1)
  draw(graphics::plot, list(
    x = table$probability, y = table$frequency, type = "b", pch = 16, col = palette_classes[1L],
    cex = 0.6 + 1.4 * sqrt(table$weight / max(table$weight)), xlim = c(0, 1), ylim = c(0, 1),
    xlab = "probability given (rows left out)", ylab = "share that came true", main = title
  ), ...)
  graphics::abline(0, 1, lty = 3, col = "grey50")
  invisible(table)
}

# `x` any classifier with `calibration`.
plot_calibration <- function(x, ...) {
  table <- x$calibration$reliability
  if (!is.data.frame(table)) {
    abort("argument", "`type = \"calibration\"` needs a model of a factor with probabilities.")
  }
  plot_reliability(table, calibration_title(table), ...)
}

calibration_title <- function(table) {
  gap <- sum(table$weight * abs(table$frequency - table$probability)) / sum(table$weight)
  sprintf("Probabilities are off by %.1f %% on average", 100 * gap)
}

# Training rows by class and fitted class; weights are counted.
count_classes <- function(classes, guess, weights = NULL) {
  both <- list(class = levels(classes), fitted = levels(guess))
  pair <- as.integer(classes) + length(both$class) * (as.integer(guess) - 1L)
  sums <- if (is.null(weights)) {
    tabulate(pair, prod(lengths(both)))
  } else {
    tapply(weights, factor(pair, seq_len(prod(lengths(both)))), sum, default = 0)
  }
  structure(array(sums, unname(lengths(both)), both), class = "table")
}
