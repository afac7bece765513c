#' Kernel principal components
#'
#' Principal components in a kernel space: curved directions of largest variance, as scores
#' ready for plots, clustering or another model. Use it when a scatter plot of ordinary principal
#' components misses structure, or to feed nonlinear features into a linear method.
#'
#' @details
#' The default is greedy kernel PCA: a pivoted Cholesky basis explains all but `tol` of the trace
#' of the Gram matrix, and the eigenproblem is solved in its few coordinates. With C the n x L
#' coordinates less their means, the eigenvalues are those of C'C; they are exactly the non-zero
#' eigenvalues of the centred approximate Gram matrix. `basis = NULL` is full kernel PCA on all
#' rows: for few components a block Krylov iteration on the Gram matrix, which is held once and
#' centred implicitly, until each residual is below 1e-12 of the largest eigenvalue; otherwise,
#' and for few rows, [eigen()]. With [linear_kernel()] both are ordinary principal components.
#'
#' Each axis is the combination `loadings` of the basis rows in the kernel space, of length one;
#' the scores of a row are its (centred) kernel values against the basis rows, times `loadings`,
#' less the column means over the training rows. Signs are such that the largest absolute score
#' is positive.
#'
#' @inheritParams kernel_basis
#' @param x a numeric matrix, a sparse one (see [sparse]) or a data frame (factor columns become
#'   indicator columns), a [row_source()], or a formula such as `~ .`.
#' @param kernel a kernel, see [kernels]; of no use when `basis` is a `kernel_basis`, which has
#'   one (a different one warns).
#' @param ncomp number of components; NULL: all with a positive eigenvalue.
#' @param basis the name of a method of [kernel_basis()], a `kernel_basis` (its scaling is used),
#'   or NULL for all rows.
#' @param center centre the kernel space at the mean of the rows? (The basis itself is not
#'   centred, unless a centred one is given.)
#' @param size,tol,threshold,first passed to [kernel_basis()]; left alone, `tol` is 0 for a linear
#'   kernel, whose basis need not be larger than there are columns.
#' @param keep keep the scores of the training rows? NULL: if there are at most 10,000.
#' @returns A list of class `"kernel_pca"`:
#' * `values`: eigenvalues of the centred (approximate) Gram matrix, in decreasing order;
#' * `sdev`: standard deviations of the scores, `sqrt(values / (n - 1))`;
#' * `scores`: n x ncomp scores of the training rows, or NULL without `keep`;
#' * `loadings`: L x ncomp coefficients of the axes on the basis rows;
#' * `basis`: the [kernel_basis()]; for full kernel PCA a list with `index`, `vectors`, `kernel`,
#'   `scaling`, `input` and `n` alone;
#' * `offset`: the training mean of the uncentred scores, taken off by `predict()`;
#' * `total`: trace of the centred (approximate) Gram matrix;
#' * `center` (logical), `n`, `ncomp`.
#' @references Teixeira, Tome and Lang (2009), Feature extraction using linear and non-linear
#'   subspace techniques, ICANN 2009.
#' @examples
#' pca <- kernel_pca(iris[, 1:4], rbf_kernel(), ncomp = 4)
#' pca
#' plot(pca, classes = iris$Species)
#' predict(pca, iris[c(1, 51), 1:4])
#' full <- kernel_pca(~ . - Species, iris, ncomp = 4, basis = NULL)
#' full$values
#' @family models
#' @export
kernel_pca <- function(x, ...) UseMethod("kernel_pca")

#' @rdname kernel_pca
#' @export
kernel_pca.default <- function(x, kernel = rbf_kernel(), ncomp = NULL, basis = "cholesky",
                               center = TRUE, size = NULL, tol = 0.01, threshold = identity,
                               first = 1000, scale = TRUE, keep = NULL, ..., K = NULL,
                               cluster = NULL, memory = NULL, resume = NULL,
                               na_action = c("fail", "omit", "exclude"),
                               threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  place <- source_place(cluster, memory, resume)
  x <- rows_or_source(rows_or_gram(x, K, basis), NULL, NULL, place)
  center <- check_flag(center, "center")
  if (!is.null(ncomp)) ncomp <- check_whole(ncomp, "ncomp", min = 1, infinite = TRUE)
  if (missing(tol) && is_linear(kernel)) tol <- 0
  control <- model_control(basis, size, tol, passed_on(environment(), but = "center"))
  control$where <- place
  if (is.null(basis) && is_rows(x)) check_linear(kernel)
  whole <- is.null(basis) && is.null(size) && !is_rows(x)
  parts <- if (whole && is_gram(x)) {
    gram_data(x, na_action = na_action)
  } else if (whole) {
    all_rows(model_data(x, scale = scale, na_action = na_action), kernel, control)
  } else {
    fit_basis(x, NULL, basis, kernel, control, scale, na_action, missing(kernel))
  }
  on.exit(let_go(parts$z))
  keep <- check_keep(keep, if (is.null(parts$z)) nrow(parts$x) else coordinate_rows(parts$z))
  model <- if (is.null(parts$z)) {
    full_pca(parts, ncomp, center, keep, control$threads)
  } else {
    greedy_pca(parts, ncomp, center, keep, control$threads)
  }
  finish_model(model, parts, match.call())
}

#' @rdname kernel_pca
#' @export
kernel_pca.formula <- function(formula, data, ..., subset) {
  fit_formula(kernel_pca.default, formula, data, match.call(), ..., .response = FALSE)
}

# Data and kernel; a linear kernel of few columns has a basis that is no approximation.
all_rows <- function(data, kernel, control) {
  data$kernel <- resolve_kernel(kernel, data$x, data$variance)
  if (!kernel_traits(data$kernel)[["linear"]] || ncol(data$x) >= nrow(data$x)) return(data)
  fit <- basis_from_data(data, data$kernel, control, keep = TRUE)
  basis_parts(fit$basis, fit$factor, data)
}

is_linear <- function(kernel) kernel_traits(as_kernel(kernel))[["linear"]]

# All rows of a source have no Gram matrix that could be held.
check_linear <- function(kernel) {
  if (is_linear(kernel)) return(invisible())
  abort("argument", "`basis = NULL` needs all pairs of rows, which a source has too many of. Name ",
        "a method, such as `basis = \"cholesky\"`.")
}

# ---- on a basis ---------------------------------------------------------------------------

# The eigenproblem of the small side: z'z of the (centred) coordinates.
greedy_pca <- function(parts, ncomp, center, keep, threads) {
  z <- parts$z
  n <- coordinate_rows(z)
  moments <- if (is_coordinates(z)) {
    triangle_moments(z, center)
  } else {
    .Call(ffi_centred_crossprod, z, center, threads)
  }
  spectrum <- symmetric_eigen(moments$crossprod)
  chosen <- choose_components(spectrum$values, ncomp, n)
  v <- spectrum$vectors[, chosen, drop = FALSE]
  scores <- if (keep) coordinate_product(z, v, moments$mean, threads)
  signs <- if (keep) signs_of(scores) else score_signs(z, v, moments$mean)
  turn <- function(m) m * rep(signs, each = nrow(m))
  v <- turn(v)
  new_pca(
    values = spectrum$values[chosen], total = sum(spectrum$values),
    loadings = dual_coefficients(parts$basis, v, threads), offset = drop(moments$mean %*% v),
    scores = if (keep) turn(scores), basis = parts$basis,
    rows = parts$rows, center = center, n = n
  )
}

# Eigenvalues up to this share of the largest are rounding.
rank_tolerance <- function(n) max(2 * n, 64) * .Machine$double.eps

choose_components <- function(values, ncomp, n) {
  rank <- sum(values > max(values[1L], 0) * rank_tolerance(n))
  if (rank == 0L) {
    abort("data", "There is no variance in the kernel space: all rows are the same there.")
  }
  if (!is.null(ncomp) && is.finite(ncomp) && ncomp > rank) {
    inform("`ncomp` = ", format(ncomp), " is more than the rank: ", rank,
           if (rank > 1L) " components are" else " component is", " given.")
  }
  seq_len(min(rank, ncomp))
}

# 1 or -1 for each column of (z - mean) %*% v, so that its largest absolute value becomes positive.
score_signs <- function(z, v, mean = NULL) {
  range <- if (is_coordinates(z)) block_extremes(z, mean, v) else .Call(ffi_extremes, z, mean, v)
  ifelse(range[, 1L] >= -range[, 2L], 1, -1)
}

# The same of scores that are there.
signs_of <- function(scores) apply(scores, 2L, function(s) if (max(s) >= -min(s)) 1 else -1)

new_pca <- function(values, total, loadings, offset, scores, basis, rows, center, n) {
  labels <- paste0("KPC", seq_along(values))
  colnames(loadings) <- labels
  if (!is.null(scores)) dimnames(scores) <- list(rows, labels)
  new_model("kernel_pca", list(
    values = values, sdev = sqrt(values / (n - 1)), scores = scores, loadings = loadings,
    basis = basis, offset = stats::setNames(offset, labels), total = total, center = center,
    n = n, ncomp = length(values)
  ))
}

# ---- on all rows --------------------------------------------------------------------------

# `data` has rows and a kernel, or a Gram matrix in place of the rows.
full_pca <- function(data, ncomp, center, keep, threads) {
  K <- if (is.null(data$kernel)) data$x else gram_matrix(data$x, data$kernel, NULL, threads)
  means <- if (center) {
    drop(.Call(ffi_gram_product, K, matrix(1 / data$n, data$n), FALSE))
  } else {
    numeric(data$n)
  }
  total <- sum(diag(K)) - sum(means)
  few <- !is.null(ncomp) && ncomp <= data$n / 10 && data$n > 200
  spectrum <- if (few) {
    leading_eigen(function(v) .Call(ffi_gram_product, K, v, center), data$n, ncomp)
  }
  if (is.null(spectrum)) {
    spectrum <- symmetric_eigen(
      if (center) K - means - rep(means - mean(means), each = data$n) else K,
      least = rank_tolerance(data$n)
    )
  }
  chosen <- choose_components(spectrum$values, ncomp, data$n)
  values <- spectrum$values[chosen]
  u <- spectrum$vectors[, chosen, drop = FALSE]
  u <- u * rep(signs_of(u), each = nrow(u))
  if (center) u <- u - rep(colMeans(u), each = nrow(u))
  loadings <- u / rep(sqrt(values), each = nrow(u))
  basis <- c(list(index = seq_len(data$n), n = data$n), if (is.null(data$kernel)) {
    list(row_names = gram_names(K), na.action = data$na.action)
  } else {
    list(vectors = storable(data$x), kernel = data$kernel, scaling = data$scaling,
         input = data$input)
  })
  new_pca(
    values = values, total = total, loadings = loadings, offset = drop(means %*% loadings),
    scores = if (keep) u * rep(sqrt(values), each = nrow(u)), basis = basis,
    rows = rownames(data$x), center = center, n = data$n
  )
}

# ---- methods ------------------------------------------------------------------------------

validate_pca <- function(object, arg = "object", check_basis = validate_basis) {
  must_hold(arg, basis = is.list(object$basis))
  if (inherits(object$basis, "kernel_basis")) {
    check_basis(object$basis, arg)
  } else {
    validate_rows(object$basis, arg)
  }
  p <- length(object$values)
  L <- length(object$basis$index)
  must_hold(arg,
    values = p > 0L && is_numbers(object$values, p),
    loadings = is_matrix_of(object$loadings, L, p),
    offset = is_numbers(object$offset, p),
    n = is_number(object$n)
  )
  object
}

# All rows in place of a basis, as full kernel PCA keeps them.
validate_rows <- function(rows, arg) {
  if (is.null(rows$kernel)) {
    must_hold(arg,
      n = is_number(rows$n),
      index = is_index(rows$index, rows$n),
      row_names = valid_names(rows$row_names, length(rows$index))
    )
    return(rows)
  }
  must_hold(arg,
    vectors = valid_rows(rows, length(rows$index)),
    kernel = valid_width(rows$kernel, rows$input$width)
  )
  check_kernel(rows$kernel)
}

#' Scores of new rows on kernel principal components
#'
#' Use it to put new rows beside the training rows, in a plot or in a model that was fitted to the
#' scores.
#'
#' @param object a [kernel_pca()].
#' @param newdata new rows: matrix, data frame or [row_source()] with the training columns (matched
#'   by name);
#'   missing: the scores of the training rows.
#' @param threads number of threads.
#' @param write with a [row_source()] as `newdata`: a function of a chunk's number and its
#'   predictions, called chunk by chunk, or the path of a CSV file for them. NULL: all predictions
#'   are collected.
#' @param ... nothing else is accepted.
#' @returns A matrix with a row per row of `newdata` and a column per component. Rows with
#'   missing values give NA.
#' @examples
#' pca <- kernel_pca(iris[-1, 1:4], ncomp = 2)
#' predict(pca, iris[1, 1:4])
#' @family models
#' @export
predict.kernel_pca <- function(object, newdata, threads = getOption("kernelect.threads", 1L),
                               write = NULL, ...) {
  check_dots(...)
  if (by_chunks(newdata, write)) {
    return(predict_source(object, newdata, write, match.call(), parent.frame()))
  }
  validate_pca(object, check_basis = validate_kept)
  if (missing(newdata)) return(kept_rows(object, "scores"))
  what <- expansion(object$basis, dual = object$loadings, offset = -unname(object$offset))
  expand_new(object$basis, newdata, what, check_threads(threads))
}

#' @export
print.kernel_pca <- function(x, ...) guard_model("x", {
  validate_pca(x, "x")
  cat("<kernel_pca> ", x$ncomp, " component", if (x$ncomp > 1L) "s", " of ", x$n, " rows on ",
      basis_words(x$basis), "\n", sep = "")
  cat("kernel:  ", kernel_words(x$basis), if (!x$center) ", not centred", "\n", sep = "")
  shown <- seq_len(min(6L, x$ncomp))
  more <- if (x$ncomp > 6L) " ..."
  cat("values:  ", paste(format(x$values[shown], digits = 4), collapse = " "), more, "\n", sep = "")
  cat("share:   ", paste(sprintf("%.3f", x$values[shown] / x$total), collapse = " "), more,
      "  (all: ", sprintf("%.3f", sum(x$values) / x$total), ")\n", sep = "")
  invisible(x)
})

#' @export
summary.kernel_pca <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_pca(object)
  share <- object$values / object$total
  table <- data.frame(
    value = object$values, sdev = object$sdev, share = share, cumulative = cumsum(share)
  )
  structure(list(pca = object, importance = table), class = "summary.kernel_pca")
})

#' @export
print.summary.kernel_pca <- function(x, ...) guard_model("x", {
  print(x$pca)
  print(utils::head(x$importance, 10L), digits = 4)
  if (nrow(x$importance) > 10L) cat("... and ", nrow(x$importance) - 10L, " more\n", sep = "")
  invisible(x)
})

#' @export
coef.kernel_pca <- function(object, ...) {
  check_dots(...)
  object$loadings
}

#' Plot kernel principal components
#'
#' Scores of the training rows on two components, coloured by class if given; or the share of
#' variance per component. Use it to look for groups and outliers (`"scores"`), or to choose how
#' many components to keep (`"variance"`).
#' @param x a [kernel_pca()].
#' @param components two component numbers.
#' @param classes class labels of the training rows, for colours and symbols; or numbers, for a
#'   scale of colours.
#' @param type `"scores"`, or `"variance"` for the share of each component.
#' @param ... graphical parameters for [plot()].
#' @returns The plotted data, invisibly.
#' @examples
#' pca <- kernel_pca(iris[, 1:4])
#' plot(pca, classes = iris$Species)
#' plot(pca, type = "variance")
#' @family models
#' @export
plot.kernel_pca <- function(x, components = 1:2, classes = NULL, type = c("scores", "variance"),
                            ...) guard_model("x", {
  validate_pca(x, "x")
  type <- check_choice(type, "type", c("scores", "variance"))
  check_labels(classes)
  if (type == "variance") return(plot_variance(x, ...))
  if (is.null(x$scores)) fail_not_kept("scores")
  if (x$ncomp == 1L) components <- c(1L, 1L)
  components <- check_components(components, x$ncomp)
  scores <- x$scores[, unique(components), drop = FALSE]
  if (ncol(scores) == 1L) scores <- cbind(scores, row = seq_len(nrow(scores)))
  plot_groups(scores, classes, component_labels(x, components), ...)
})

# Labels and title of two components, or of one against the row.
component_labels <- function(x, components) {
  share <- round(100 * x$values[components] / x$total, 1)
  alone <- components[1L] == components[2L]
  label <- function(i) sprintf("component %d (%s %%)", components[i], format(share[i]))
  title <- if (x$ncomp == 1L) {
    sprintf("The component holds %s %% of the variance", format(share[1L]))
  } else if (alone) {
    sprintf("Component %d holds %s %% of the variance", components[1L], format(share[1L]))
  } else {
    sprintf("Components %d and %d hold %s %% of the variance", components[1L], components[2L],
            format(sum(share)))
  }
  list(xlab = label(1L), ylab = if (alone) "row" else label(2L), main = title)
}

plot_variance <- function(x, ...) {
  share <- x$values / x$total
  needed <- components_needed(share)
  local_par()
  draw(graphics::plot, list(
    x = seq_along(share), y = cumsum(share), type = "o", pch = 16, cex = 0.6, ylim = c(0, 1),
    col = palette_classes[1L], xlab = "component", ylab = "cumulative share of variance",
    main = variance_title(share)
  ), ...)
  if (!is.na(needed)) graphics::abline(h = 0.9, v = needed, lty = 3, col = "grey50")
  invisible(data.frame(component = seq_along(share), share = share, cumulative = cumsum(share)))
}

# How many components hold 90 % of the variance; NA: not all of them do.
components_needed <- function(share) which(cumsum(share) >= 0.9)[1L]

variance_title <- function(share) {
  needed <- components_needed(share)
  if (is.na(needed)) needed <- length(share)
  sprintf("%d component%s hold%s %.0f %% of the variance", needed, if (needed > 1L) "s" else "",
          if (needed > 1L) "" else "s", 100 * sum(share[seq_len(needed)]))
}
