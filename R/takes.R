#' Which directions of the kernel space discriminate?
#'
#' Learns an orthogonal basis of the kernel space, weighs its directions by how well they tell
#' the classes apart, and classifies by the nearest neighbour in the weighted directions that
#' remain. Use it when classes are separable by a kernel but most directions of its space are
#' noise to the question, and a nearest-neighbour rule in few coordinates is wanted.
#'
#' @details
#' **Stage one** learns the basis. `"kobl"` picks the row farthest from the span of the rows
#' picked before, until its distance, relative to the first one's, falls below
#' `threshold(dim / n)`; `"kgs"` is Gram-Schmidt over the rows in their order; `"kpca"` are the
#' kernel principal directions. The other methods of [kernel_basis()] and a basis made by it
#' will do as well; NULL means all rows that are linearly independent.
#'
#' **Stage two** weighs the directions. `"auto"`, the default: by `"relief"` where its weights lower
#' the leave-one-out error of the nearest-neighbour rule by more than its standard error, else
#' `"none"`, all weights one, which with a radial kernel is nearly the nearest neighbour of the
#' data.
#' Measured on twelve sets (`bench/takes-default.R`; ten halves each, mean error in per cent):
#' nearest neighbour of the data 21.2, no weights 21.4, `"relief"` 20.7, `"auto"` 20.7, never more
#' than 0.8 above the nearest neighbour of the data; `"kffs"` 28.8, and with many classes far more.
#'
#' `"kffs"`: each direction is a weak learner, the
#' least-squares fit of class indicators on that one coordinate, with a vote for the class of
#' highest fit. Directions enter an ensemble one by one, each time the one whose vote leaves the
#' ensemble with the lowest training error e (a tie with the true class is half an error; equal
#' errors go to the lowest direction), and get gamma = max(0, log((1 - e) / e)), e kept within
#' \[1 / (2 n), 1 / 2\]. A direction whose ensemble errs on half of the rows or more has no weight;
#' with many classes that may be all of them, and `"relief"`, which does without votes, the way out.
#' `variant = "printed"` is the algorithm as the paper prints it: directions may be picked again
#' (their gammas add up), ties count as errors, and rows are reweighted by whether the ensemble is
#' right, which makes its own error exactly 1/2: from the second round on hardly any direction
#' gains a weight.
#'
#' `"relief"`: gamma is the mean of |s_i - s_miss| - |s_i - s_hit| over the rows i, with the
#' nearest row of another class and of the same class in the kernel space, negative values set to
#' zero, scaled to length one. Rows alone in their class have no hit and are left out.
#'
#' "kgs" with "relief" is the method FSKGS, "kpca" with "relief" is FSKPCA.
#'
#' The order of `path` is that of selection (relief: of decreasing weight) and the first
#' directions are the best: `size = k` and `head(model, k)` keep the first k of positive weight.
#' `size = "loo"` keeps the number of directions with the lowest leave-one-out error of the
#' nearest-neighbour rule (the smallest such number), with basis and weights taken as given. It
#' takes time of order n^2 times the number of directions, and no n x n memory.
#'
#' Without selection a nearest neighbour in the space of a radial kernel is the nearest neighbour
#' of the data themselves, so compare with that before believing in any selection.
#'
#' @inheritParams kernel_basis
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a
#'   formula such as `y ~ .`; for `head()` a `kernel_takes`.
#' @param y class labels: a factor, or a character or logical vector.
#' @param kernel a kernel, see [kernels]; of no use when `basis` is a `kernel_basis`, which has
#'   one (a different one warns).
#' @param basis how the basis is learned, or a [kernel_basis()]; see Details.
#' @param select how directions are weighed, see Details.
#' @param threshold an increasing function from \[0, 1\] to \[0, 1\], for `"kobl"`.
#' @param size number of directions kept: NULL keeps all with positive weight, a number the best
#'   so many, `"loo"` as many as leave-one-out finds best.
#' @param variant `"corrected"`, or `"printed"` for the literal algorithm; for `"kffs"`, which it
#'   asks for where `select` is left alone.
#' @param basis_size largest number of basis rows. NULL: at most 1000, with a message when that
#'   binds; `Inf`: no limit.
#' @param tol,first see [kernel_basis()]: without effect on `"kobl"` and `"kgs"`. NULL means 0.01,
#'   and 0 for `"kpca"`.
#' @param formula a formula with the class labels on its left-hand side.
#' @returns A list of class `"kernel_takes"`:
#' * `weights`: gamma, one per direction of the basis, 0 where not kept;
#' * `basis`: the [kernel_basis()] beneath;
#' * `path`: data frame with a row per round of selection: `size` (its number), `direction`,
#'   `gamma`, `error` (training error of the ensemble of weak learners so far), and with
#'   `size = "loo"` `loo` (leave-one-out error of the nearest-neighbour rule so far);
#' * `directions`: those kept, best first;
#' * `scores`: weighted coordinates of the training rows, a column per direction kept;
#' * `y`: their labels;
#' * `size`: the number of directions kept;
#' * `cost`: mean reconstruction cost E(M) of the basis; `bound`: what Theorem 1 allows it, NA
#'   unless the threshold ended the basis;
#' * `rotation`: for `"kpca"` a list with the `center` and the `vectors` that turn coordinates
#'   into principal directions, else NULL; `rounding`: how far rounding moves the coordinates:
#'   distances that differ by no more are equal, and go to the lowest row;
#' * `left_out_error`: share of training rows that the nearest-neighbour rule gets wrong without
#'   them, basis and weights taken as given (of more than 3000 rows, among 3000 of them);
#'   `calibration`: slope and offsets of the probabilities, fitted to the same rows;
#' * `method` (of the basis), `select` (the one taken), `variant`, `n`.
#' @references Xu, Shen, Ping and Zhao (2011), TAKES: a fast method to select features in the
#'   kernel space, CIKM 2011.
#'
#'   Cao, Shen, Sun, Yang and Chen (2007), Feature selection in a kernel space, ICML 2007.
#' @examples
#' fit <- kernel_takes(Species ~ ., iris, size = "loo")
#' fit
#' predict(fit, iris[c(1, 51, 101), ])
#' plot(fit)
#' plot(fit, "scores")
#' @family models
#' @export
kernel_takes <- function(x, ...) UseMethod("kernel_takes")

#' @rdname kernel_takes
#' @export
kernel_takes.default <- function(x, y, kernel = rbf_kernel(), basis = c("kobl", "kgs", "kpca"),
                                 select = c("auto", "kffs", "relief", "none"), threshold = identity,
                                 size = NULL,
                                 variant = c("corrected", "printed"), scale = TRUE, ...,
                                 basis_size = NULL, tol = NULL, center = c("none", "nearest"),
                                 neighbours = 1, first = 1000, K = NULL,
                                 na_action = c("fail", "omit", "exclude"),
                                 threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  x <- rows_or_gram(x, K)
  if (missing(y)) abort("argument", "`y` is missing: give the class labels of the rows of `x`.")
  method <- takes_method(basis)
  select <- takes_selection(select, missing(variant))
  variant <- check_choice(variant, "variant", c("corrected", "printed"))
  size <- check_takes_size(size)
  check_threshold(threshold)
  if (is.null(tol)) tol <- if (method == "kpca") 0 else 0.01
  control <- model_control(if (is.character(basis)) engine_method(method) else basis,
    basis_size, tol,
    center = center, neighbours = neighbours, threshold = threshold, first = first,
    threads = threads, verbose = verbose
  )
  control$limit_name <- "basis_size"
  parts <- fit_basis(x, y, basis, kernel, control, scale, na_action, missing(kernel),
    respond = check_classes
  )
  stage <- stage_one(parts, method, if (!inherits(basis, "kernel_basis")) control$threshold)
  chosen <- weigh_directions(stage$z, stage$y, select, variant, stage$rounding, control)
  fit <- new_takes(stage, chosen, method, if (select == "auto") chosen$select else select, variant)
  finish_model(judge_left_out(settle_size(fit, size, control), control$threads), parts,
    match.call(), y)
}

#' @rdname kernel_takes
#' @export
kernel_takes.formula <- function(formula, data, ..., subset) {
  fit_formula(kernel_takes.default, formula, data, match.call(), ...)
}

# ---- arguments -------------------------------------------------------------------

takes_bases <- c("kobl", "kgs", "kpca")

takes_method <- function(basis) {
  if (is.null(basis)) return("cholesky")
  if (inherits(basis, "kernel_basis")) return(validate_basis(basis, "basis")$method)
  if (identical(basis, takes_bases)) return("kobl")
  check_choice(basis, "basis", union(takes_bases, basis_methods))
}

# Left alone, the weights are chosen by leaving rows out; a variant is one of KFFS.
takes_selection <- function(select, no_variant) {
  select <- check_choice(select, "select", c("auto", "kffs", "relief", "none"))
  if (select == "auto" && !no_variant) "kffs" else select
}

engine_method <- function(method) if (method == "kpca") "cholesky" else method

check_takes_size <- function(size) {
  if (is.null(size) || identical(size, "loo")) return(size)
  if (!is.numeric(size)) must_be("size", "NULL, \"loo\" or a single whole number at least 1", size)
  check_whole(size, "size", min = 1, infinite = TRUE)
}

# Whatever the basis, a threshold that is none is an error.
check_threshold <- function(threshold) {
  threshold <- check_function(threshold, "threshold")
  threshold_values(threshold, 1, 1)
}

# ---- stage one: coordinates --------------------------------------------------------

# Coordinates z of the training rows (identical rows have identical ones), labels, rotation, cost
# and bound. `threshold` is NULL for a basis that was given.
stage_one <- function(parts, method, threshold) {
  z <- copy_rows(parts$z, parts$x)
  rotation <- if (method == "kpca") principal_directions(z)
  list(
    basis = parts$basis, z = if (is.null(rotation)) z else rotate(z, rotation), y = parts$y,
    rotation = rotation, rounding = score_rounding(parts$basis, z, rotation),
    cost = last_cost(parts$basis),
    bound = theorem_bound(parts$basis, threshold)
  )
}

# How far rounding moves the coordinates, direction by direction: some units (as many as the engine
# grants a tie) of the longest row, magnified where a pivot is small. Distances in them that are
# closer than that are equal.
score_rounding <- function(basis, z, rotation = NULL) {
  pivot <- basis$path$pivot
  largest <- max(pivot, rowSums(z^2))
  moved <- 16 * .Machine$double.eps * largest / sqrt(pivot)
  if (is.null(rotation)) moved else sqrt(drop(moved^2 %*% rotation$vectors^2))
}

# Of distances in directions of these weights.
distance_rounding <- function(rounding, weights = 1) sqrt(cumsum((rounding * weights)^2))

last_cost <- function(basis) basis$path$cost[nrow(basis$path)]

# Theorem 1: E(M) < r11 threshold(dim / n), when it was the threshold that ended the basis.
theorem_bound <- function(basis, threshold) {
  if (is.null(threshold) || basis$method != "kobl" || basis$stop != "threshold") return(NA_real_)
  L <- length(basis$index)
  sqrt(basis$path$pivot[1L]) * threshold_values(threshold, L, basis$n)[L + 1L]
}

# For each row of m the number of the first row identical to it: the arithmetic of a BLAS may
# round equal rows differently, and a tie of neighbours must stay one.
first_copies <- function(m) {
  n <- nrow(m)
  if (n < 2L) return(seq_len(n))
  sorted <- do.call(order, lapply(seq_len(ncol(m)), function(j) m[, j]))
  new <- rowSums(m[sorted[-1L], , drop = FALSE] != m[sorted[-n], , drop = FALSE]) > 0
  group <- cumsum(c(TRUE, new))
  first <- integer(n)
  first[sorted] <- sorted[!duplicated(group)][group]
  first
}

# Coordinates z of the rows of m, the same for rows that are the same.
copy_rows <- function(z, m) {
  first <- first_copies(m)
  copies <- which(first != seq_along(first))
  if (length(copies)) z[copies, ] <- z[first[copies], ]
  rownames(z) <- rownames(m)
  z
}

# Kernel principal directions in coordinates z; those without variance are dropped. Signs: the
# largest absolute score is positive.
principal_directions <- function(z) {
  center <- colMeans(z)
  centred <- z - rep(center, each = nrow(z))
  parts <- symmetric_eigen(crossprod(centred))
  good <- parts$values > nrow(z) * .Machine$double.eps * max(parts$values, 0)
  if (!any(good)) {
    abort("data", "All rows are identical in the kernel space: there is no direction to choose.")
  }
  vectors <- parts$vectors[, good, drop = FALSE]
  scores <- centred %*% vectors
  signs <- apply(scores, 2L, function(s) if (s[which.max(abs(s))] < 0) -1 else 1)
  list(center = center, vectors = vectors * rep(signs, each = nrow(vectors)))
}

rotate <- function(z, rotation) {
  out <- (z - rep(rotation$center, each = nrow(z))) %*% rotation$vectors
  rownames(out) <- rownames(z)
  out
}

# ---- stage two: weights ------------------------------------------------------------

weigh_directions <- function(z, y, select, variant, rounding, control) {
  if (select == "auto") return(weigh_by_left_out(z, y, rounding, control))
  if (select == "relief") return(relief(z, y, rounding, control))
  if (select == "none") return(unweighted(z, y, control))
  run <- ensemble_path(z, y, if (variant == "printed") "printed" else "forward", NULL, control)
  gamma <- log_odds(run$error, nrow(z))
  if (variant == "corrected") gamma <- pmax(gamma, 0)
  selection_path(run, gamma, ncol(z))
}

unweighted <- function(z, y, control) {
  d <- ncol(z)
  selection_path(ensemble_path(z, y, "given", seq_len(d), control), rep(1, d), d)
}

# Relief's weights where they lower the leave-one-out error of the nearest-neighbour rule by more
# than its standard error, else no weights: the weights have seen the rows left out, and an equal
# error is no reason for them.
weigh_by_left_out <- function(z, y, rounding, control) {
  plain <- unweighted(z, y, control)
  weighted <- relief(z, y, rounding, control)
  error <- vapply(list(plain, weighted), function(chosen) {
    at <- chosen$directions
    scores <- weighted_columns(z, at, chosen$weights)
    left_out(scores, y, rounding[at] * chosen$weights[at], control$threads)$error
  }, 0)
  standard <- sqrt(error[1L] * (1 - error[1L]) / min(length(y), most_left_out))
  better <- length(weighted$directions) > 0L && error[2L] < error[1L] - standard
  if (better) c(weighted, select = "relief") else c(plain, select = "none")
}

# Of more rows, evenly spaced ones stand for all.
most_left_out <- 3000L

# What the nearest-neighbour rule says of each row without it: the share of errors, and decisions,
# minus the distance to the nearest row of each class; where there is none, twice the farthest.
left_out <- function(scores, y, rounding, threads) {
  rows <- evenly_spaced(length(y), most_left_out)
  y <- y[rows]
  decision <- matrix(0, length(y), nlevels(y))
  largest <- which.max(tabulate(y, nlevels(y)))
  if (!ncol(scores)) {
    return(list(error = mean(as.integer(y) != largest), decision = decision, y = y))
  }
  tolerance <- sqrt(sum(rounding^2))
  near <- nearest_by_class(scores[rows, , drop = FALSE], NULL, y, tolerance, threads)
  found <- y[nearest_of_all(near, tolerance)$row]
  decision[] <- NA
  decision[, seq_len(ncol(near$distance))] <- -sqrt(near$distance)
  list(error = mean(is.na(found) | found != y), decision = without_gaps(decision), y = y)
}

without_gaps <- function(decision) {
  known <- is.finite(decision)
  decision[!known] <- 2 * min(decision[known], 0)
  decision
}

# The error that a user can rely on, and probabilities.
judge_left_out <- function(fit, threads) {
  at <- fit$directions
  left <- left_out(fit$scores, fit$y, fit$rounding[at] * fit$weights[at], threads)
  fit$left_out_error <- left$error
  fit$calibration <- calibrate_softmax(left$decision, left$y)
  fit
}

# log((1 - e) / e), an error of 0 or 1 counted as half a row.
log_odds <- function(error, n) {
  error <- pmin(pmax(error, 1 / (2 * n)), 1 - 1 / (2 * n))
  log((1 - error) / error)
}

# how: "forward" selection, as "printed", or the errors along the "given" order.
ensemble_path <- function(z, y, how, order, control) {
  .Call(ffi_kffs, z, as.integer(y), how, order, show_progress(control$verbose))
}

relief <- function(z, y, rounding, control) {
  near <- hits_and_misses(z, y, rev(distance_rounding(rounding))[1L], control$threads)
  rows <- which(!is.na(near$hit))
  margin <- numeric(ncol(z))
  if (length(rows)) {
    at <- z[rows, , drop = FALSE]
    margin <- colMeans(
      abs(at - z[near$miss[rows], , drop = FALSE]) - abs(at - z[near$hit[rows], , drop = FALSE])
    )
  }
  run <- ensemble_path(z, y, "given", order(-margin), control)
  gamma <- pmax(margin, 0)
  if (any(gamma > 0)) gamma <- gamma / sqrt(sum(gamma^2))
  selection_path(run, gamma[run$order], ncol(z))
}

# For each row the nearest other row of its own class (NA: it is alone) and of the other classes.
hits_and_misses <- function(z, y, rounding, threads) {
  near <- nearest_by_class(z, NULL, y, rounding, threads)
  own <- cbind(seq_along(y), as.integer(y))
  hit <- near$row[own]
  near$distance[own] <- Inf
  list(hit = hit, miss = nearest_of_all(near, rounding)$row)
}

# In each class the nearest row of z (NULL: the nearest other row of x) and its squared distance;
# without classes, of all rows.
nearest_by_class <- function(x, z, y, rounding, threads) {
  .Call(ffi_nearest, unname(x), if (!is.null(z)) unname(z), if (!is.null(y)) as.integer(y),
        unname(colMeans(if (is.null(z)) x else z)), rounding, threads)
}

# Over the classes: equally near ones give way to the lowest row.
nearest_of_all <- function(near, rounding) {
  least <- do.call(pmin, lapply(seq_len(ncol(near$distance)), function(k) near$distance[, k]))
  near$row[near$distance > (sqrt(least) + rounding)^2] <- NA
  list(
    row = do.call(pmin,
      c(lapply(seq_len(ncol(near$row)), function(k) near$row[, k]), na.rm = TRUE)),
    distance = least
  )
}

# A direction picked more than once (printed variant) has the sum of its gammas.
selection_path <- function(run, gamma, d) {
  path <- data.frame(
    size = seq_along(gamma), direction = run$order, gamma = gamma, error = run$error
  )
  sums <- rowsum(gamma, run$order)
  weights <- numeric(d)
  weights[as.integer(rownames(sums))] <- pmax(sums, 0)
  order <- unique(run$order)
  list(path = path, weights = weights, directions = order[weights[order] > 0])
}

# ---- the model ---------------------------------------------------------------------

new_takes <- function(stage, chosen, method, select, variant) {
  if (!length(chosen$directions)) {
    many <- select == "kffs" && nlevels(stage$y) > 2L
    warn("no_direction", "No direction of the basis tells the classes apart: ",
         "predictions will be the largest class. Try another kernel or width.",
         if (many) {
           paste0(" With ", nlevels(stage$y), " classes a vote easily errs on half of the rows, ",
                  "and then has weight 0: `select = \"relief\"` judges directions without votes.")
         })
  }
  new_model("kernel_takes", list(
    weights = chosen$weights, basis = stage$basis, path = chosen$path,
    directions = chosen$directions,
    scores = weighted_columns(stage$z, chosen$directions, chosen$weights),
    y = stage$y, size = length(chosen$directions), cost = stage$cost, bound = stage$bound,
    rotation = stage$rotation, rounding = stage$rounding, method = method, select = select,
    variant = variant, n = nrow(stage$z)
  ))
}

# Columns `directions` of z, each times its weight.
weighted_columns <- function(z, directions, weights) {
  out <- .Call(ffi_weighted_columns, z, directions, weights[directions])
  dimnames(out) <- list(rownames(z), if (length(directions)) paste0("w", directions))
  out
}

settle_size <- function(fit, size, control) {
  if (is.null(size) || !fit$size) return(fit)
  if (identical(size, "loo")) {
    error <- nested_errors(fit, control) / fit$n
    fit$path$loo <- NA_real_
    fit$path$loo[match(fit$directions, fit$path$direction)] <- error
    return(keep_directions(fit, which.min(error)))
  }
  if (size > fit$size && is.finite(size)) {
    inform("`size` = ", format(size), " is more than the ", fit$size,
           if (fit$size > 1L) " directions" else " direction", " of positive weight: ", fit$size,
           if (fit$size > 1L) " are used." else " is used.")
  }
  keep_directions(fit, size)
}

keep_directions <- function(fit, n) {
  if (n >= fit$size) return(fit)
  kept <- seq_len(n)
  fit$weights[fit$directions[-kept]] <- 0
  fit$directions <- fit$directions[kept]
  fit$scores <- fit$scores[, kept, drop = FALSE]
  fit$size <- as.integer(n)
  fit
}

# How many training rows, each left out in turn, the nearest-neighbour rule gets wrong in the
# first 1, 2, ... directions.
nested_errors <- function(fit, control) {
  sorted <- order(fit$y)
  .Call(ffi_nested_errors, fit$scores[sorted, , drop = FALSE], as.integer(fit$y)[sorted], sorted,
        score_tolerance(fit), control$threads, show_progress(control$verbose))
}

# Distances of scores that are equal, in the first 1, 2, ... directions.
score_tolerance <- function(fit) {
  distance_rounding(fit$rounding[fit$directions], fit$weights[fit$directions])
}

validate_takes <- function(fit, arg = "object") {
  validate_basis(fit$basis, arg)
  L <- length(fit$basis$index)
  turn <- fit$rotation
  D <- if (is.list(turn)) NCOL(turn$vectors) else L
  must_hold(arg,
    rotation = is.null(turn) || (is_matrix_of(turn$vectors, L, D) && is_numbers(turn$center, L)),
    weights = is_numbers(fit$weights, D) && all(fit$weights >= 0),
    rounding = is_numbers(fit$rounding, D) && all(fit$rounding >= 0),
    directions = is.integer(fit$directions) && !anyDuplicated(fit$directions) &&
      setequal(fit$directions, which(fit$weights > 0)),
    y = is.factor(fit$y) && length(fit$y) > 0L && nlevels(fit$y) > 0L && !anyNA(fit$y),
    scores = is_matrix_of(fit$scores, length(fit$y), length(fit$directions)),
    calibration = is_numbers(fit$calibration$slope, 1L) &&
      is_numbers(unname(fit$calibration$offset), nlevels(fit$y)),
    left_out_error = is_number(fit$left_out_error), path = is.data.frame(fit$path),
    size = is_number(fit$size) && fit$size >= 0
  )
  fit
}

# ---- prediction --------------------------------------------------------------------

#' Predict by directions that discriminate
#'
#' Use it to classify rows that the model has not seen, or to take the weighted directions as
#' columns for another method (`"scores"`).
#'
#' @param object a [kernel_takes()] model.
#' @param newdata new rows: matrix or data frame with the training columns (matched by name); for
#'   a model of a Gram matrix the cross-Gram matrix, new rows by training rows. Missing: the
#'   training rows.
#' @param type `"class"`: the label of the nearest training row in the weighted directions, ties
#'   to the lowest row; `"prob"`: probabilities, a column a class, by a softmax fitted to the
#'   decisions of training rows left out; `"decision"`: minus the distance to the nearest row of
#'   each class; `"scores"`: the weighted coordinates.
#' @param threads number of threads.
#' @param ... nothing else is accepted.
#' @returns A factor with a label per row of `newdata`, or a matrix with a column per direction
#'   kept (best first). Rows with missing values give NA.
#' @examples
#' odd <- seq(1, 150, by = 2)
#' fit <- kernel_takes(Species ~ ., iris[odd, ])
#' table(predict(fit, iris[-odd, ]), iris$Species[-odd])
#' head(predict(fit, iris[-odd, ], type = "scores")[, 1:2])
#' @family models
#' @export
predict.kernel_takes <- function(object, newdata,
                                 type = c("class", "prob", "decision", "scores"),
                                 threads = getOption("kernelect.threads", 1L), ...) {
  check_dots(...)
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

# Each training row is its own nearest neighbour, or one just like it.
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
  scores <- expand_basis(basis, new$x, what, threads)
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
  near <- nearest_by_class(scores, fit$scores, NULL, score_tolerance(fit)[ncol(fit$scores)],
    threads)
  fit$y[near$row]
}

# ---- methods -----------------------------------------------------------------------

#' @rdname kernel_takes
#' @param n number of directions to keep, the best first.
#' @export
head.kernel_takes <- function(x, n = 6L, ...) {
  check_dots(...)
  validate_takes(x, "x")
  judge_left_out(keep_directions(x, check_whole(n, "n", min = 1)), 1L)
}

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
  kept <- match(fit$directions, fit$path$direction)
  loo <- fit$path$loo[kept]
  if (length(loo)) {
    return(sprintf("%d of %s kept: 1-NN errs on %.3g %% (leave one out)", fit$size, of,
                   100 * loo[fit$size]))
  }
  best <- which.min(fit$path$error)
  sprintf("The vote errs least, on %.3g %%, with %d of %s", 100 * fit$path$error[best], best, of)
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
#' classes.
#' @param x a [kernel_takes()] model.
#' @param type `"weights"` or `"scores"`.
#' @param ... graphical parameters for [plot()].
#' @returns What is plotted, invisibly: the path, or the first two columns of the scores with the
#'   labels, as a data frame.
#' @examples
#' fit <- kernel_takes(Species ~ ., iris)
#' plot(fit)
#' plot(fit, "scores")
#' @family models
#' @export
plot.kernel_takes <- function(x, type = c("weights", "scores"), ...) guard_model("x", {
  type <- check_choice(type, "type", c("weights", "scores"))
  validate_takes(x, "x")
  if (type == "weights") plot_takes_weights(x, ...) else plot_takes_scores(x, ...)
})

plot_takes_weights <- function(x, ...) {
  path <- x$path
  kept <- path$direction %in% x$directions
  top <- max(path$gamma, 0)
  if (top == 0) top <- 1
  local_par(mar = wider(4L, 4.1))
  draw(graphics::plot, list(
    x = path$size, y = path$gamma, type = "h", lwd = max(1, min(8, 150 / nrow(path))), lend = 1,
    col = ifelse(kept, palette_classes[6L], "grey80"),
    ylim = c(min(path$gamma, 0), 1.12 * top), # room for the legend
    xlab = "directions, in order of selection", ylab = expression("weight " * gamma),
    main = takes_finding(x)
  ), ...)
  curves <- cbind(path$error, path$loo)
  right <- max(curves, 0.01, na.rm = TRUE)
  for (i in seq_len(ncol(curves))) {
    seen <- !is.na(curves[, i])
    graphics::lines(path$size[seen], curves[seen, i] / right * top, type = "o", pch = 15 + i,
                    cex = 0.5, col = palette_classes[c(2L, 8L)[i]])
  }
  at <- pretty(c(0, right), 5L)
  graphics::axis(4, at = at / right * top, labels = 100 * at)
  graphics::mtext("error in %", 4, line = 2.4, las = 0, cex = graphics::par("cex"))
  graphics::legend("top", c("vote, training rows", "1-NN, leave one out")[seq_len(ncol(curves))],
                   col = palette_classes[c(2L, 8L)], pch = 16:17, lty = 1, bty = "n", cex = 0.9,
                   horiz = TRUE)
  invisible(path)
}

plot_takes_scores <- function(x, ...) {
  if (!x$size) {
    abort("argument", "`x` has no direction of positive weight: there are no scores to plot.")
  }
  one <- x$size == 1L
  points <- data.frame(x$scores[, seq_len(min(x$size, 2L)), drop = FALSE], y = x$y)
  colours <- class_colours(nlevels(x$y))
  symbols <- class_symbols(nlevels(x$y))
  height <- if (one) jitter_rows(x$y) else points[[2L]]
  rows <- evenly_spaced(x$n, 2000L)
  few <- keep_directions(x, 2L)
  few[c("scores", "y")] <- list(few$scores[rows, , drop = FALSE], x$y[rows])
  error <- rev(nested_errors(few, list(threads = 1L, verbose = FALSE)))[1L] / length(rows)
  local_par(las = upright(height))
  draw(graphics::plot, list(
    x = points[[1L]], y = height,
    col = colours[as.integer(x$y)], pch = symbols[as.integer(x$y)], cex = 0.8,
    xlim = limits_for(points[[1L]], nlevels(x$y)),
    xlab = paste("direction", x$directions[1L]),
    ylab = if (one) "" else paste("direction", x$directions[2L]),
    yaxt = if (one) "n" else "s",
    main = sprintf("The best %s: 1-NN errs on %.3g %% (leave one out)",
                   if (one) "direction" else "two directions", 100 * error)
  ), ...)
  add_legend(points[[1L]], height, shorten(levels(x$y), 20L), col = colours, pch = symbols)
  invisible(points)
}

# Classes as heights, spread so that points do not cover each other, without random numbers.
jitter_rows <- function(y) as.integer(y) + 0.3 * ((seq_along(y) * 0.618034) %% 1 - 0.5)
