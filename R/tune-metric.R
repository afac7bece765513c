# What kernel_tune() measures on rows left out, and how the figures of folds become one.

# Each metric: `of` "classes" or "numbers"; `needs` what predict() must give; `words`; `larger`
# where more is better; `value(predicted, truth, weights)`. All but the area under the curve are
# weighted means over rows.
tune_metrics <- list(
  error = list(of = "classes", needs = "class", words = "error rate", larger = FALSE,
               value = function(predicted, truth, weights) {
                 row_mean(as.character(predicted) != as.character(truth), weights)
               }),
  brier = list(of = "classes", needs = "prob", words = "Brier score", larger = FALSE,
               value = function(predicted, truth, weights) {
                 row_mean(rowSums((predicted - indicators(truth))^2), weights)
               }),
  logloss = list(of = "classes", needs = "prob", words = "log loss", larger = FALSE,
                 value = function(predicted, truth, weights) {
                   own <- predicted[cbind(seq_along(truth), as.integer(truth))]
                   row_mean(-log(pmax(own, 1e-15)), weights)
                 }),
  auc = list(of = "classes", needs = "prob", words = "area under the ROC curve", larger = TRUE,
             value = function(predicted, truth, weights) pairwise_auc(predicted, truth, weights)),
  mse = list(of = "numbers", needs = "numbers", words = "mean squared error", larger = FALSE,
             value = function(predicted, truth, weights) {
               row_mean(rowMeans((as.matrix(predicted) - as.matrix(truth))^2), weights)
             }),
  mae = list(of = "numbers", needs = "numbers", words = "mean absolute error", larger = FALSE,
             value = function(predicted, truth, weights) {
               row_mean(rowMeans(abs(as.matrix(predicted) - as.matrix(truth))), weights)
             })
)

check_metric <- function(metric, classify) {
  of <- vapply(tune_metrics, `[[`, "", "of")
  possible <- names(of)[of == (if (classify) "classes" else "numbers")]
  if (is.null(metric)) return(possible[1L])
  if (is.character(metric) && length(metric) == 1L && metric %in% setdiff(names(of), possible)) {
    abort("argument", "`metric = \"", metric, "\"` is for ",
          if (classify) "a numeric response" else "a factor", "; here it must be one of ",
          paste0("\"", possible, "\"", collapse = ", "), ".")
  }
  check_choice(metric, "metric", possible)
}

row_mean <- function(values, weights) {
  if (is.null(weights)) mean(values) else sum(values * weights) / sum(weights)
}

# Two classes: the chance that a row of the second class has a larger probability of it than a row
# of the first, a tie counting half. More (Hand and Till 2001): for each pair of classes the mean of
# both directions, and the mean over the pairs that have rows. NA without such a pair.
pairwise_auc <- function(probabilities, truth, weights = NULL) {
  if (is.null(weights)) weights <- rep(1, length(truth))
  present <- which(tapply(weights, truth, sum, default = 0) > 0)
  if (length(present) < 2L) return(NA_real_)
  pairs <- utils::combn(present, 2L)
  mean(apply(pairs, 2L, function(pair) {
    rows <- as.integer(truth) %in% pair
    both <- vapply(pair, function(class) {
      auc(probabilities[rows, class], as.integer(truth)[rows] == class, weights[rows])
    }, 0)
    mean(both)
  }))
}

auc <- function(score, positive, weights) {
  order <- order(score)
  tie <- cumsum(c(TRUE, diff(score[order]) > 0))
  up <- rowsum(weights[order] * positive[order], tie)
  down <- rowsum(weights[order] * !positive[order], tie)
  below <- cumsum(down) - down
  sum(up * (below + down / 2)) / (sum(up) * sum(down))
}

# Predictions of one candidate as the metric wants them: a column a level of `truth` for
# probabilities, zero where the training rows lacked the class.
metric_value <- function(metric, predicted, truth, weights) {
  if (metric$needs == "prob") {
    known <- match(levels(truth), colnames(predicted))
    predicted <- predicted[, known, drop = FALSE]
    predicted[, is.na(known)] <- 0
  }
  metric$value(predicted, truth, weights)
}

# ---- folds -----------------------------------------------------------------------------------

# A list of fold numbers for every repetition.
make_folds <- function(folds, repeats, data, seed) {
  if (length(folds) > 1L) return(list(check_own_folds(folds, repeats, data)))
  folds <- check_whole(folds, "folds", min = 2, max = data$n)
  preserve_seed(seed, function() {
    lapply(seq_len(repeats), function(i) assign_folds(data$classes, data$n, folds))
  })
}

# Ten, or as many as there are rows.
default_folds <- function(n) {
  if (n < 10L) inform("There are ", n, " rows, so `folds` is ", n, " in place of 10.")
  min(10, max(n, 2))
}

# Two classes at least must be left to learn from, whichever fold is out.
check_fold_classes <- function(problem) {
  if (is.null(problem$classes)) return(invisible())
  least <- if (problem$plan$own) 2L else 1L # rows a class is learned from, see training_rows()
  for (fold in problem$folds) {
    inside <- unclass(table(problem$classes, fold))
    left <- rowSums(inside) - inside
    few <- colSums(left >= least) < 2L
    if (any(few)) {
      abort("argument", "`folds` leave fewer than two classes with ",
            if (least > 1L) "two rows or more" else "a row", " to learn from where fold ",
            which(few)[1L], " is out. Use more folds, or more rows of each class.")
    }
    gone <- which(left == 0, arr.ind = TRUE)
    if (nrow(gone)) {
      class <- rownames(left)[gone[1L, 1L]]
      warn("folds", "Fold ", gone[1L, 2L], " has all rows of class \"", class, "\": what is ",
           "measured there is a model that never saw it. Spread classes over `folds`.")
    }
  }
}

# A vector of fold numbers, a value a row; returns 1, 2, ... in their place.
check_own_folds <- function(folds, repeats, data) {
  if (!is.atomic(folds) || length(folds) != data$given || anyNA(folds)) {
    must_be("folds", paste("a whole number, or a vector with a fold number for each of the",
                           data$given, "rows"), folds)
  }
  if (repeats > 1) {
    abort("argument", "`repeats` must be 1 where `folds` gives the folds: they would be the same.")
  }
  folds <- as.integer(factor(take_rows(as.vector(folds), data$kept)))
  if (max(folds) < 2L) abort("argument", "`folds` must name at least two folds, not one.")
  folds
}

# Fold numbers: dealt class by class, so that each fold has its share of every class.
assign_folds <- function(classes, n, folds) {
  groups <- if (is.null(classes)) list(seq_len(n)) else split(seq_len(n), classes)
  shuffle <- function(rows) rows[sample.int(length(rows))]
  shuffled <- unlist(lapply(groups, shuffle), use.names = FALSE)
  fold <- integer(n)
  fold[shuffled] <- rep_len(sample.int(folds), n)
  fold
}

# The seed of the i-th piece of work; beyond the largest whole number it starts from the least.
piece_seed <- function(seed, i) {
  most <- as.double(.Machine$integer.max)
  value <- as.double(seed) + i
  if (value > most) value - 2 * most - 1 else value
}

# `values`: candidates by pieces (folds of all repetitions), NA where a fold has no value and does
# not count, NaN where there is no model, so that the candidate has no error (NA); `share`:
# rows (or their weight) in each; `repetition` of each. The standard error comes from the
# differences between folds; repetitions see the same rows, so they do not make it smaller.
combine_folds <- function(values, share, repetition) {
  per_repeat <- lapply(split(seq_along(share), repetition), function(at) {
    v <- values[, at, drop = FALSE]
    counts <- !is.na(v) | is.nan(v)
    w <- matrix(share[at], nrow(v), length(at), byrow = TRUE) * counts
    w <- w / rowSums(w)
    v[!counts] <- 0
    error <- rowSums(v * w)
    count <- rowSums(w > 0)
    cbind(error, rowSums((v - error)^2 * w) / (count - 1))
  })
  all <- Reduce(`+`, per_repeat) / length(per_repeat)
  all[is.nan(all[, 1L]), ] <- NA
  list(error = unname(all[, 1L]), se = unname(sqrt(all[, 2L])))
}
