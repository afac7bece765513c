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
#' Where `basis`, `threshold` and `select` are left alone, the basis goes on to
#' `threshold = function(t) 1e-4` if the nearest neighbour in it, leaving one out, errs less than in
#' the smaller one: what `identity` leaves out may be what tells neighbours apart. With a radial
#' kernel that is the nearest neighbour of the (scaled) columns.
#'
#' **Stage two** weighs the directions. `"auto"`, the default: by `"relief"` where its weights lower
#' the leave-one-out error of the nearest-neighbour rule by more than twice the standard error of
#' the difference, else `"none"`, all weights one. So the default is the nearest neighbour of the
#' columns, or a rule that did as well or clearly better on the training rows.
#' Measured (`bench/takes-default.R`; halves, mean error in per cent): on the twelve sets whose
#' training halves it was settled on 20.5, the nearest neighbour of the scaled columns 21.2, in the
#' small basis no weights 21.4, `"relief"` 20.7 and `"kffs"` 28.8, with many classes far more.
#' Candidates for the rule were compared on these and on fourteen other sets, so it was judged once
#' more, as it then was, on 42 sets of new rows or new halves: 16.9 against 18.1. On none of them it
#' was above the nearest neighbour by more than one per cent and two standard errors, the bound set
#' beforehand; at most by 0.7 (`sonar`, 0.8 standard errors), while the largest gain was 30
#' (`ringnorm`). By less than 0.3 but more than two standard errors it was above on three
#' (`australian`, `image`, `shuttle`). Columns that are alike, such as pixels, may be better left
#' unscaled: on `usps` `scale = FALSE` has 9.7, the default 11.7.
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
#' of the data themselves, so compare with that before believing in any selection. Rows that are
#' equally near vote; of classes with as many votes that of the lowest row wins.
#'
#' @inheritParams kernel_basis
#' @param x a numeric matrix, a sparse one (see [sparse]) or a data frame (factor columns become
#'   indicator columns), or a formula such as `y ~ .`; for `head()` a `kernel_takes`.
#' @param y class labels: a factor, or a character or logical vector.
#' @param kernel a kernel, see [kernels]; of no use when `basis` is a `kernel_basis`, which has
#'   one (a different one warns).
#' @param basis how the basis is learned, or a [kernel_basis()]; see Details.
#' @param select how directions are weighed, see Details.
#' @param threshold an increasing function from \[0, 1\] to \[0, 1\], for `"kobl"`; left alone,
#'   leaving rows out may ask for more directions, see Details.
#' @param size number of directions kept: NULL keeps all with positive weight, a number the best
#'   so many, `"loo"` as many as leave-one-out finds best.
#' @param variant `"corrected"`, or `"printed"` for the literal algorithm; for `"kffs"`, which it
#'   asks for where `select` is left alone.
#' @param basis_size largest number of basis rows. NULL: at most 1000, with a message when that
#'   binds; `Inf`: no limit.
#' @param tol,first see [kernel_basis()]: without effect on `"kobl"` and `"kgs"`. NULL means 0.01,
#'   and 0 for `"kpca"`.
#' @param formula a formula with the class labels on its left-hand side.
#' @param data a data frame with the variables of the formula.
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
#'   distances that differ by no more are equal;
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
  x <- rows_or_gram(x, K, basis)
  if (missing(y)) abort("argument", "`y` is missing: give the class labels of the rows of `x`.")
  method <- takes_method(basis)
  select <- takes_selection(select, missing(variant))
  left_alone <- select == "auto" && missing(basis) && missing(threshold)
  variant <- check_choice(variant, "variant", c("corrected", "printed"))
  size <- check_takes_size(size)
  check_threshold(threshold)
  if (is.null(tol)) tol <- if (method == "kpca") 0 else 0.01
  if (!is.null(basis_size)) check_whole(basis_size, "basis_size", min = 1, infinite = TRUE)
  control <- model_control(if (is.character(basis)) engine_method(method) else basis,
    basis_size, tol, passed_on(environment())
  )
  control$limit_name <- "basis_size"
  plain <- missing(kernel)
  learn <- function(control) {
    parts <- fit_basis(x, y, basis, kernel, control, scale, na_action, plain,
      respond = check_classes
    )
    c(stage_one(parts, method, if (!inherits(basis, "kernel_basis")) control$threshold),
      list(parts = parts))
  }
  stage <- learn(control)
  if (left_alone) stage <- stage_that_suffices(stage, learn, control)
  chosen <- weigh_directions(stage$z, stage$y, select, variant, stage$rounding, control, stage$seen)
  fit <- new_takes(stage, chosen, method, if (select == "auto") chosen$select else select, variant)
  settled <- settle_size(fit, size, control)
  judged <- judge_left_out(settled, control$threads, if (settled$size == fit$size) chosen$left)
  finish_model(judged, stage$parts, match.call(), y)
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
  validate_basis(basis_of(fit), arg)
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

#' @rdname kernel_takes
#' @param n number of directions to keep, the best first.
#' @export
head.kernel_takes <- function(x, n = 6L, ...) {
  check_dots(...)
  validate_takes(x, "x")
  judge_left_out(keep_directions(x, check_whole(n, "n", min = 1)), 1L)
}
