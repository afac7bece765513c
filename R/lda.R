#' Kernel discriminant analysis on a basis
#'
#' Linear discriminant analysis of the coordinates of the rows in a kernel basis (FVS-LDA): the
#' few curved axes along which classes differ most, with class probabilities. Use it when you
#' want to see how classes separate; with `basis = NULL` it is generalised discriminant analysis
#' (GDA) on all rows.
#'
#' @details
#' With Z the orthonormal coordinates of the rows, T their covariance about the mean and B that of
#' their class means, both divided by n, the axes v solve B v = lambda (T + r I) v, where
#' r is `ridge` times the mean diagonal of T. `values` is the between/total inertia v'Bv / v'Tv of
#' each axis: the eigenvalue itself when `ridge` is 0. There are at most as many axes as classes
#' less one.
#'
#' Rows are classified by the largest posterior probability of Gaussian classes on these axes
#' with a common covariance (the pooled within-class one, divisor n less the number of classes).
#' That knows nothing of the search for the axes and is far too sure; so probabilities are
#' calibrated: the same discriminant analysis is a regression of the classes' indicators with the
#' ridge n r, turned, whose exact leave-one-out values are turned into scores of rows left out (see
#' [kernel_lm()]), and a softmax of slope and class offsets is fitted to their log densities.
#' `ridge = "loo"` takes the ridge of least leave-one-out Brier score of that regression, among 19
#' from 1e-6 to 1e3 (of the regression).
#'
#' @inheritParams kernel_lm
#' @inheritParams kernel_basis
#' @param y a factor of class labels, at least two rows each; of a [row_source()] also the name of a
#'   column.
#' @param size largest number of rows in the basis; NULL and `Inf` as in [kernel_basis()]. Left out:
#'   at most 1000, less from 4000 rows on (200 of 100,000), with a message when that binds.
#' @param ridge added to the covariance, in units of its mean diagonal: at least 0, or `"loo"` for
#'   the best by leave-one-out.
#' @param prior prior probabilities of the classes, in the order of the levels or named by them;
#'   NULL: their shares among the training rows.
#' @param keep keep scores and fitted classes of the training rows? NULL: if there are at most
#'   10,000.
#' @returns A list of class `"kernel_lda"`:
#' * `values`: between/total inertia per axis, in \[0, 1\];
#' * `scaling`: size x axes matrix from orthonormal coordinates (`predict(basis, x)`, less
#'   `center`) to scores of unit variance; signs as in [kernel_pca()];
#' * `means`: class means of the coordinates, a row per class; `center`: their overall mean;
#' * `prior`, `counts`: prior probabilities and rows per class;
#' * `within`: pooled within-class covariance of the scores;
#' * `scores` (n x axes), `fitted.values` (classes assigned) and `observed` (classes given) of the
#'   training rows, NULL without `keep`;
#' * `basis`: the [kernel_basis()]; `expansion`: the coefficients on kernel values against its rows,
#'   `dual`, with the `scaling` they are `of`;
#' * `error`: share of training rows misclassified; `left_out_error`: the same of rows left out,
#'   with scaling, kernel width, basis and turn of the axes taken as given; `confusion`: training
#'   rows by class and fitted class;
#' * `ridge`: as chosen or given; `loo`: data frame `size`, `ridge`, `loss`, `error` as in
#'   [kernel_lm()], of the regression of indicators, the ridge in the units of this model;
#' * `calibration`: slope, offsets and reliability of the probabilities, see [kernel_lm()];
#' * `levels`, `n`.
#' @references Baudat and Anouar (2003), Feature vector selection and projection using kernels,
#'   Neurocomputing 55.
#' @examples
#' fit <- kernel_lda(Species ~ ., iris, size = 10)
#' fit
#' plot(fit)
#' predict(fit, iris[c(1, 51, 101), ], type = "prob")
#' @family models
#' @export
kernel_lda <- function(x, ...) UseMethod("kernel_lda")

#' @rdname kernel_lda
#' @export
kernel_lda.default <- function(x, y, kernel = rbf_kernel(), basis = "fvs", size = NULL,
                               ridge = "loo", tol = 0.01, center = c("none", "nearest"),
                               neighbours = 1, threshold = identity, first = 1000, scale = TRUE,
                               prior = NULL, keep = NULL, weights = NULL, ..., K = NULL,
                               cluster = NULL, memory = NULL, resume = NULL,
                               na_action = c("fail", "omit", "exclude"),
                               threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  x <- rows_or_gram(x, K, basis)
  if (missing(y)) abort("argument", "`y` is missing: give the classes.")
  place <- source_place(cluster, memory, resume)
  x <- rows_or_source(x, y, weights, place)
  ridge <- check_ridge(ridge)
  control <- model_control(basis, size, tol, passed_on(environment()))
  control$modest <- missing(size)
  control$where <- place
  parts <- fit_basis(x, y, basis, kernel, control, scale, na_action, missing(kernel),
    respond = function(y) check_classes(y, min_rows = 2L), weights = weights
  )
  parts$threads <- control$threads
  on.exit(let_go(parts$z))
  scatter <- class_scatter(parts$z, parts$y, parts$weights, parts$threads)
  model <- new_lda(parts, scatter, ridge, check_prior(prior, scatter),
                   check_keep(keep, coordinate_rows(parts$z)))
  finish_model(model, parts, match.call(), y)
}

#' @rdname kernel_lda
#' @export
kernel_lda.formula <- function(formula, data, ..., subset, weights) {
  fit_formula(kernel_lda.default, formula, data, match.call(), ...)
}

# ---- fitting --------------------------------------------------------------------------------

# Covariance and class means of the coordinates, in units of weight; and the coordinates, centred.
class_scatter <- function(z, classes, weights = NULL, threads = 1L) {
  if (is_coordinates(z)) return(triangle_scatter(z, classes, weights))
  counts <- class_weights(classes, weights)
  if (is.null(weights)) {
    moments <- .Call(ffi_centred_crossprod, z, TRUE, threads)
    z <- .Call(ffi_scale_columns, z, moments$mean, rep(1, ncol(z)))
    weighted <- z
  } else {
    center <- colSums(z * weights) / sum(weights)
    z <- z - rep(center, each = nrow(z))
    weighted <- z * weights
    moments <- list(mean = center, crossprod = inner_product(z * sqrt(weights), threads))
  }
  sums <- matrix(0, nlevels(classes), ncol(z), dimnames = list(levels(classes), NULL))
  sums[sort(unique(as.integer(classes))), ] <- rowsum(weighted, as.integer(classes), reorder = TRUE)
  n <- sum(counts)
  list(
    total = moments$crossprod / n, means = sums / ifelse(counts > 0, counts, 1),
    center = moments$mean, counts = stats::setNames(counts, levels(classes)), n = n, z = z
  )
}

# Rows of every class, or their weight.
class_weights <- function(classes, weights) {
  k <- nlevels(classes)
  if (is.null(weights)) return(tabulate(classes, k))
  as.vector(rowsum(c(weights, numeric(k)), c(as.integer(classes), seq_len(k))))
}

check_prior <- function(prior, scatter) {
  if (is.null(prior)) return(scatter$counts / scatter$n)
  k <- length(scatter$counts)
  good <- is.numeric(prior) && length(prior) == k && all(is.finite(prior)) && all(prior >= 0)
  if (!good) must_be("prior", paste("a numeric vector of", k, "probabilities that sum to 1"), prior)
  prior <- in_class_order(prior, names(scatter$counts))
  if (abs(sum(prior) - 1) >= 1e-8) {
    abort("argument", "`prior` must sum to 1, not ", format(sum(prior), digits = 10),
          ". Use `prior / sum(prior)`.")
  }
  stats::setNames(as.double(prior), names(scatter$counts))
}

# Values that have names belong to the classes they name.
in_class_order <- function(prior, levels) {
  if (is.null(names(prior))) return(prior)
  if (!setequal(names(prior), levels) || anyDuplicated(names(prior))) {
    abort("argument", "`prior` must be named by the classes, ", backticked(levels), ", or have no ",
          "names; its names are ", backticked(names(prior)), ".")
  }
  prior[levels]
}

# Axes of the first `size` coordinates: `scaling` (unit total variance), `values`, and the class
# means and within-class covariance of the scores.
discriminant_axes <- function(scatter, ridge, size = ncol(scatter$total)) {
  first <- seq_len(size)
  total <- scatter$total[first, first, drop = FALSE]
  share <- scatter$counts / scatter$n
  root_means <- sqrt(share) * scatter$means[, first, drop = FALSE]
  v <- ridged_axes(root_means, total, ridge, sum(share > 0) - 1L)
  if (is.null(v)) v <- spectral_axes(root_means, total, ridge, sum(share > 0) - 1L)
  v <- v / rep(sqrt(colSums(v * (total %*% v))), each = size)
  between <- crossprod(root_means %*% v)
  within <- (crossprod(v, total %*% v) - between) * (scatter$n / max(scatter$n - length(share), 1L))
  list(
    scaling = v, values = pmin(pmax(diag(between), 0), 1), within = (within + t(within)) / 2,
    means = scatter$means[, first, drop = FALSE] %*% v
  )
}

# Axes by whitening with the Cholesky factor, which can be interrupted; NULL where the basis is
# small, or may be so nearly singular that its rank must be looked at. The spectrum gives the same
# axes: what is larger, or has a ridge, and goes there only takes longer.
ridged_axes <- function(root_means, total, ridge, count) {
  size <- ncol(total)
  if (size <= 200L || ridge < 1e-10) return(NULL)
  r <- .Call(ffi_cholesky, total + diag(ridge * mean(diag(total)), size), 1L)
  if (is.null(r)) return(NULL)
  white_means <- t(backsolve(r, t(root_means), transpose = TRUE))
  backsolve(r, svd(white_means, nu = 0L, nv = count)$v)
}

spectral_axes <- function(root_means, total, ridge, count) {
  size <- ncol(total)
  spectrum <- symmetric_eigen(total)
  used <- spectrum$values > max(spectrum$values[1L], 0) * max(size, 10L) * 10 * .Machine$double.eps
  if (!any(used)) {
    abort("data", "There is no variance in the kernel space: all rows are the same there.")
  }
  white <- spectrum$vectors[, used, drop = FALSE] /
    rep(sqrt(spectrum$values[used] + ridge * mean(diag(total))), each = size)
  white %*% svd(root_means %*% white, nu = 0L, nv = min(count, sum(used)))$v
}

# The ridge as a penalty of least squares: LDA is the regression of the classes' indicators, turned.
ridge_unit <- function(scatter, size = ncol(scatter$total)) {
  scatter$n * mean(diag(scatter$total)[seq_len(size)])
}

new_lda <- function(parts, scatter, ridge, prior, keep) {
  response <- list(matrix = indicators(parts$y), classes = parts$y)
  unit <- ridge_unit(scatter)
  fit <- fit_by_loo(scatter$z, response, FALSE, if (is.numeric(ridge)) ridge * unit else ridge,
                    parts$weights, parts$threads)
  fit$loo$ridge <- fit$loo$ridge / unit
  if (!is.numeric(ridge)) ridge <- fit$ridge / unit
  warn_if_light(parts$weights, ncol(scatter$total))
  axes <- discriminant_axes(scatter, ridge)
  signs <- score_signs(scatter$z, axes$scaling, scatter_mean(scatter))
  axes$scaling <- axes$scaling * rep(signs, each = nrow(axes$scaling))
  labels <- paste0("LD", seq_along(axes$values))
  colnames(axes$scaling) <- labels
  within <- axes$within * tcrossprod(signs)
  dimnames(within) <- list(labels, labels)
  scores <- coordinate_product(scatter$z, axes$scaling, scatter_mean(scatter))
  rownames(scores) <- parts$rows
  warn_if_dependent(parts$basis, parts$x, scores, axes$scaling,
                    -drop(scatter$center %*% axes$scaling))
  model <- new_model("kernel_lda", list(
    values = axes$values, scaling = axes$scaling,
    means = scatter$means + rep(scatter$center, each = nrow(scatter$means)),
    prior = prior, counts = scatter$counts, center = scatter$center, within = within,
    basis = parts$basis, expansion = kept_dual(parts$basis, axes$scaling),
    levels = levels(parts$y), ridge = ridge, loo = fit$loo,
    n = length(parts$y)
  ))
  weights <- if (is.null(parts$weights)) rep(1, model$n) else parts$weights
  guess <- classes_of(lda_decisions(model, scores, prior), model$levels)
  model$error <- sum(weights[guess != parts$y]) / sum(weights)
  model$confusion <- count_classes(parts$y, guess, parts$weights)
  left_scores <- left_out_scores(fit, axes$scaling, response)
  left_out <- lda_decisions(model, left_scores)
  model$calibration <- calibrate_left_out(left_out, parts$y, parts$weights, parts$threads)
  guess_left_out <- classes_of(lda_decisions(model, left_scores, prior), model$levels)
  model$left_out_error <- sum(weights[guess_left_out != parts$y]) / sum(weights)
  if (keep) {
    model$scores <- scores
    model$fitted.values <- guess
    model$observed <- parts$y
  }
  model
}

# Coordinates that are all there were centred already.
scatter_mean <- function(scatter) if (is_coordinates(scatter$z)) scatter$center

# Axes are the coefficients a of the regression of indicators, turned; so scores of rows left out
# are its values for them, turned the same way. Only the turn has seen the rows.
left_out_scores <- function(fit, scaling, response) {
  values <- response$matrix - fit$left_out - rep(fit$mean, each = nrow(response$matrix))
  turned_values(values, nested_coefficients(fit, nrow(scaling)), scaling)
}

# Values (less their mean) of a regression of indicators with coefficients `a` as scores on axes.
turned_values <- function(values, a, scaling) {
  decomposed <- svd(a)
  # not the sum of all indicators, which is constant: its residuals are rounding, with a weight of
  # 1 / 1e-16 if it were kept; axes so much weaker than the first are none of the data
  used <- decomposed$d > 1e-10 * decomposed$d[1L]
  turn <- decomposed$v[, used, drop = FALSE] %*%
    (crossprod(decomposed$u[, used, drop = FALSE], scaling) / decomposed$d[used])
  values %*% turn
}

# Log densities of Gaussian classes with one covariance, times their shares of the training rows (or
# their prior probabilities). A within-class variance below 1e-10 of the total one counts as that:
# separation without end has no density.
lda_decisions <- function(model, scores, prior = model$counts / sum(model$counts)) {
  means <- (model$means - rep(model$center, each = nrow(model$means))) %*% model$scaling
  gaussian_decisions(scores, means, model$within, prior)
}

# Turns scores so that their covariance within the classes is the identity.
whitening <- function(within) {
  spectrum <- eigen(within, symmetric = TRUE)
  spectrum$vectors / rep(sqrt(pmax(spectrum$values, 1e-10)), each = nrow(within))
}

gaussian_decisions <- function(scores, means, within, prior) {
  white <- whitening(within)
  s <- scores %*% white
  m <- means %*% white
  squares_to <- function(c) rowSums((s - rep(m[c, ], each = nrow(s)))^2)
  distance <- vapply(seq_len(nrow(m)), squares_to, numeric(nrow(s)))
  out <- rep(log(prior), each = nrow(s)) - matrix(distance, nrow(s), nrow(m)) / 2
  dimnames(out) <- list(rownames(scores), rownames(means))
  out
}

# Calibrated for the shares of the training rows, then moved to the prior probabilities.
lda_probabilities <- function(model, scores) {
  calibration <- validate_calibration(model$calibration, model$levels)
  shares <- model$counts / sum(model$counts)
  p <- calibrated_probabilities(calibration, lda_decisions(model, scores))
  move_probabilities(p, log(model$prior / shares))
}

move_probabilities <- function(p, moved) {
  out <- softmax_rows(log(p) + rep(moved, each = nrow(p)))
  dimnames(out) <- dimnames(p)
  out
}

# ---- prediction ------------------------------------------------------------------------------

validate_lda <- function(object, arg = "object", check_basis = validate_basis) {
  check_basis(basis_of(object), arg)
  L <- length(object$basis$index)
  p <- length(object$values)
  k <- length(object$levels)
  must_hold(arg,
    levels = is_levels(object$levels),
    values = p >= 1L && p < k && is_numbers(object$values, p),
    scaling = is_matrix_of(object$scaling, L, p),
    means = is_matrix_of(object$means, k, L),
    center = is_numbers(object$center, L),
    within = is_matrix_of(object$within, p, p),
    prior = is_numbers(object$prior, k) && all(object$prior >= 0),
    counts = is.numeric(object$counts) && length(object$counts) == k && all(object$counts > 0),
    n = is_number(object$n), ridge = is_number(object$ridge),
    observed = is_null_or(object$observed, function(v) is.factor(v) && length(v) == object$n),
    scores = is_null_or(object$scores, function(v) is_matrix_of(v, object$n, p))
  )
  object
}

#' Classes, probabilities or scores of a kernel discriminant analysis
#'
#' Use it to classify rows that the model has not seen, to know how sure a class is (`"prob"`), or
#' to draw new rows among the training rows (`"scores"`).
#'
#' @param object a [kernel_lda()].
#' @param newdata new rows: matrix, data frame or [row_source()] with the training columns (matched
#'   by name); for
#'   a model of a Gram matrix the cross-Gram matrix, new rows by training rows. Missing: the
#'   training rows.
#' @param type `"class"`; `"prob"` (or `"posterior"`): probabilities, a column per class,
#'   calibrated on rows left out; `"decision"`: what both are made from, the log of prior
#'   probability times Gaussian density on the axes, up to a constant; `"scores"`: a column per
#'   axis.
#' @param threads number of threads.
#' @param write with a [row_source()] as `newdata`: a function of a chunk's number and its
#'   predictions, called chunk by chunk, or the path of a CSV file for them. NULL: all predictions
#'   are collected.
#' @param ... nothing else is accepted.
#' @returns A factor, or a matrix with a row per row of `newdata`. Rows with missing values give NA.
#' @examples
#' fit <- kernel_lda(Species ~ ., iris, size = 10)
#' predict(fit, iris[c(1, 51, 101), ])
#' predict(fit, iris[c(1, 51, 101), ], type = "prob")
#' @family models
#' @export
predict.kernel_lda <- function(object, newdata,
                               type = c("class", "prob", "decision", "scores", "posterior"),
                               threads = getOption("kernelect.threads", 1L), write = NULL, ...) {
  check_dots(...)
  if (by_chunks(newdata, write)) {
    return(predict_source(object, newdata, write, match.call(), parent.frame()))
  }
  type <- check_choice(type, "type", c("class", "prob", "decision", "scores", "posterior"))
  validate_lda(object, check_basis = validate_kept)
  dual <- dual_of(object$expansion, object$basis, object$scaling)
  what <- expansion(object$basis, dual = dual,
                    offset = -as.vector(object$center %*% object$scaling))
  threads <- check_threads(threads)
  scores <- if (missing(newdata)) {
    predicted_rows(object, "scores")
  } else {
    expand_new(object$basis, newdata, what, threads)
  }
  if (type == "scores") return(scores)
  complete <- !is.na(scores[, 1L])
  value <- if (type %in% c("prob", "posterior")) {
    lda_probabilities(object, scores[complete, , drop = FALSE])
  } else {
    lda_decisions(object, scores[complete, , drop = FALSE], object$prior)
  }
  value <- fill_rows(value, complete, rownames(scores))
  if (type != "class") return(value)
  as_ordered(predicted_classes(value, object$levels), object)
}

# ---- methods ---------------------------------------------------------------------------------

#' @export
print.kernel_lda <- function(x, ...) guard_model("x", {
  validate_lda(x, "x")
  cat("<kernel_lda> ", length(x$levels), " classes, ", x$n, " rows on ", basis_words(x$basis),
      "\n", sep = "")
  cat("kernel:  ", kernel_words(x$basis),
      if (x$ridge > 0) paste0(", ridge ", format(x$ridge, digits = 3)), "\n", sep = "")
  shown <- utils::head(x$values, 6L)
  cat("inertia: ", paste(sprintf("%.4f", shown), collapse = " "),
      if (length(x$values) > 6L) " ...", "  (between / total)\n", sep = "")
  left_out <- if (is_number(x$left_out_error)) {
    paste0(", ", format(x$left_out_error, digits = 4), " leave-one-out")
  }
  cat(if (is_weighted(x)) "weighted ", "error rate: ", format(x$error, digits = 4),
      " on the training rows", left_out, "\n", sep = "")
  invisible(x)
})

#' @export
summary.kernel_lda <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_lda(object)
  classes <- data.frame(
    rows = as.integer(object$counts), prior = as.double(object$prior), row.names = object$levels
  )
  structure(
    list(model = object, classes = classes, confusion = object$confusion),
    class = "summary.kernel_lda"
  )
})

#' @export
print.summary.kernel_lda <- function(x, ...) guard_model("x", {
  print(x$model)
  print(utils::head(x$classes, 12L), digits = 4)
  if (nrow(x$confusion) <= 12L) print(x$confusion)
  invisible(x)
})

#' @export
coef.kernel_lda <- function(object, ...) {
  check_dots(...)
  object$scaling
}

#' Plot the axes of a kernel discriminant analysis
#'
#' Scores of the training rows on two axes by class; with two classes, which have one axis, the
#' distribution of the scores of each class. Use it to see which classes are apart and which
#' overlap, or (`type = "calibration"`) whether the probabilities can be taken at their word.
#' @param x a [kernel_lda()].
#' @param axes two axis numbers.
#' @param type `"axes"`, or `"calibration"` as in [plot.kernel_lm()].
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly.
#' @examples
#' plot(kernel_lda(Species ~ ., iris, size = 10))
#' plot(kernel_lda(factor(am) ~ mpg + wt, mtcars, size = 5))
#' @family models
#' @export
plot.kernel_lda <- function(x, axes = 1:2, type = c("axes", "calibration"), ...) {
  guard_model("x", {
    validate_lda(x, "x")
    type <- check_choice(type, "type", c("axes", "calibration"))
    if (type == "axes") plot_axes(x, axes, ...) else plot_calibration(x, ...)
  })
}

plot_axes <- function(x, axes, ...) {
  if (is.null(x$scores) || is.null(x$observed)) fail_not_kept("scores")
  if (length(x$values) == 1L) return(plot_one_axis(x, ...))
  axes <- check_components(axes, length(x$values), "axes")
  labels <- list(xlab = axis_label(x, axes[1L]), ylab = axis_label(x, axes[2L]),
                 main = misclassified_title(x))
  plot_groups(x$scores[, axes, drop = FALSE], x$observed, labels, ...)
}

axis_label <- function(x, i) {
  sprintf("axis %d (classes: %.0f %% of inertia)", i, 100 * x$values[i])
}

plot_one_axis <- function(x, ...) {
  scores <- split(x$scores[, 1L], x$observed)
  curves <- lapply(scores, stats::density)
  colours <- class_colours(length(curves))
  names <- shorten(names(curves), 20L)
  height <- c(0, max(unlist(lapply(curves, `[[`, "y"))))
  local_par(las = upright(height))
  draw(graphics::plot, list(
    x = limits_with_key(unlist(lapply(curves, `[[`, "x")), names), y = height,
    type = "n", xlab = axis_label(x, 1L), ylab = "density", main = misclassified_title(x)
  ), ..., title_line = title_over(names))
  for (i in seq_along(curves)) {
    graphics::lines(curves[[i]], col = colours[i], lwd = 2, lty = i)
    graphics::rug(scores[[i]], col = colours[i])
  }
  add_key(names, colours, lty = seq_along(curves))
  invisible(data.frame(score = x$scores[, 1L], class = x$observed))
}
