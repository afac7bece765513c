# Leave-one-out over sizes and ridges: least squares on coordinates of a basis, what its exact
# leave-one-out says, and the choice by it.

ridge_grid <- 10^seq(-6, 3, by = 0.5)

# Least squares on the first 1, 2, ... columns of z at once, with an intercept. Fields: q (its rows
# divided by the root of their weight), y (centred), r, c, center, mean, weights, dependent, threads
# (those of all that is worked out from it).
regress <- function(z, response, ridge = 0, weights = NULL, threads = 1L) {
  .Call(ffi_regress, z, response$matrix, ridge, weights, TRUE, threads)
}

# The same with q in the place of z in memory, which must belong to the caller alone and is lost.
# With `rest`, for figures by ridge, q is still to be divided by that.
regress_over <- function(z, response, ridge = 0, weights = NULL, threads = 1L, rest = FALSE) {
  .Call(ffi_regress_over, z, response$matrix, ridge, weights, threads, rest)
}

# Coefficients of the first `size` coordinates, without intercept.
nested_coefficients <- function(fit, size) backsolve(fit$r, fit$c, k = size)

# The whole basis, two thirds of it, and so on down to a single row.
geometric_sizes <- function(most) {
  unique(pmax(1L, as.integer(round(most / 1.5^(0:floor(log(most) / log(1.5)))))))
}

# Regression of `response` on the columns of z: its size (`choose`, or all columns) and `ridge`
# ("loo", or a number) settled. Fields: loo (size, ridge, loss, error), size, ridge; r, c, center,
# mean of that ridge; of the training rows: fitted, left_out (response less the prediction without
# the row), left (1 - leverage).
fit_by_loo <- function(z, response, choose, ridge, weights = NULL, threads = 1L, over = FALSE) {
  if (is_coordinates(z)) return(fit_blocks_by_loo(z, response, choose, ridge, weights))
  if (is.character(ridge)) {
    sizes <- if (choose) geometric_sizes(ncol(z)) else ncol(z)
    fit <- if (over) {
      regress_over(z, response, 0, weights, threads, rest = TRUE)
    } else {
      regress(z, response, 0, weights, threads)
    }
    return(fit_by_ridge(fit, response, sizes, over = over))
  }
  fit <- (if (over) regress_over else regress)(z, response, ridge, weights, threads)
  loo <- size_losses(fit, ridge, class_numbers(response))
  nested_fit(fit, response, loo, if (choose) best_row(loo) else nrow(loo))
}

# The same over z, with `squares` of its rows at the size settled on and of all columns, which
# intervals need. Where any size may win they are worked out after, and z stays.
fit_over <- function(z, response, choose, ridge, weights = NULL, threads = 1L) {
  alone <- isTRUE(response$vector) && !is_coordinates(z)
  known <- !choose || is.character(ridge)
  squares <- if (alone && known) row_squares(z, if (choose) geometric_sizes(ncol(z)))
  fit <- fit_by_loo(z, response, choose, ridge, weights, threads, over = known || !alone)
  if (alone) fit$squares <- squares_at(if (known) squares else row_squares(z, fit$size), fit$size)
  fit
}

# Squared lengths of rows, in the first columns and in all of them.
row_squares <- function(z, sizes = NULL) {
  sizes <- sort(unique(as.double(c(sizes, ncol(z)))))
  list(sizes = sizes, values = .Call(ffi_row_squares, z, sizes))
}

squares_at <- function(squares, size) {
  list(
    first = squares$values[, match(size, squares$sizes)],
    all = squares$values[, length(squares$sizes)]
  )
}

# The first columns of `fit`, at its own ridge.
nested_fit <- function(fit, response, loo, best) {
  rows <- .Call(ffi_nested_loo, fit, loo$size[best], class_numbers(response), TRUE)
  settled_fit(fit, response, loo, best, rows, fit)
}

# The same from a `fit` without ridge: the best of positive `ridges` at the best of `sizes`.
# `factor` FALSE: without r and c, where only `a`, the coefficients of the size chosen, are wanted.
# `over`: q of `fit` is of no use to others.
fit_by_ridge <- function(fit, response, sizes, ridges = ridge_grid, factor = TRUE, over = FALSE) {
  found <- best_ridge(fit, response, sizes, ridges, over)
  size <- found$size
  ridge <- found$ridge
  rows <- if (is.null(found$rows)) {
    turned <- if (found$kept == size) found$turned else .Call(ffi_bidiagonalise, fit, size)
    .Call(ffi_ridge_loo, fit, turned, class_numbers(response), TRUE, ridge)
  } else {
    rows_of_ridge(found$rows, match(ridge, ridges), ncol(fit$y))
  }
  chosen <- if (factor) ridge_factor(fit, size, ridge) else list(a = ridged(fit, size, ridge))
  settled_fit(fit, response, found$loo, found$best, rows, chosen)
}

# What ridge_losses() found, and `size` and `ridge` of its row `best`.
best_ridge <- function(fit, response, sizes, ridges = ridge_grid, over = FALSE) {
  found <- ridge_losses(fit, sizes, class_numbers(response), ridges, over)
  best <- best_row(found$loo)
  c(found, list(best = best, size = found$loo$size[best], ridge = found$loo$ridge[best]))
}

# The size and ridge alone, and what the factor of that size was turned into, if it is kept.
settled_ridge <- function(fit, response, sizes, ridges = ridge_grid) {
  found <- best_ridge(fit, response, sizes, ridges)
  list(size = found$size, ridge = found$ridge,
       turned = if (found$kept == found$size) found$turned)
}

# Row `best` of `loo`; `rows`: what is known of the training rows there; `factor` has r and c of its
# ridge, or `a`.
settled_fit <- function(fit, response, loo, best, rows, factor) {
  list(
    loo = loo, size = loo$size[best], ridge = loo$ridge[best], r = factor$r, c = factor$c,
    a = factor$a, center = fit$center, mean = fit$mean, fitted = response$matrix - rows$residual,
    left_out = rows$left_out, left = rows$left
  )
}

class_numbers <- function(response) if (!is.null(response$classes)) as.integer(response$classes)

size_losses <- function(fit, ridge, labels) {
  size <- ncol(fit$q)
  path <- .Call(ffi_nested_loo, fit, size, labels, FALSE)
  data.frame(size = seq_len(size), ridge = ridge, loss = path$loss, error = path$error)
}

# `fit` has no ridge. Fields: `loo`; `turned`, what ffi_bidiagonalise() made of the size of least
# loss, to be used again, and `kept`, that size; `rows`, of every ridge, where there is one size
# and they take less memory than `fit`: a second pass over it would cost more.
ridge_losses <- function(fit, sizes, labels, ridges = ridge_grid, over = FALSE) {
  sizes <- sort(sizes)
  found <- if (length(sizes) == 1L) {
    one_size_losses(fit, sizes, labels, ridges, over)
  } else {
    .Call(ffi_ridge_sizes, fit, as.double(sizes), labels, ridges)
  }
  loo <- data.frame(size = rep(sizes, each = length(ridges)), ridge = rep(ridges, length(sizes)),
                    loss = c(found$loss), error = c(found$error))
  c(list(loo = loo), found[setdiff(names(found), c("loss", "error"))])
}

# With `over`, where all columns are used, rows are not kept: turned by the first pass, they take
# the place of q.
one_size_losses <- function(fit, size, labels, ridges, over) {
  over <- over && size == ncol(fit$q)
  keep <- !over && length(ridges) * (2 * ncol(fit$y) + 1) <= size
  turned <- .Call(ffi_bidiagonalise, fit, size)
  if (over) turned$rows <- fit$q
  at <- .Call(ffi_ridge_loo, fit, turned, labels, keep, ridges)
  turned$known <- over
  list(loss = at$loss, error = at$error, turned = turned, kept = size, rows = if (keep) at)
}

# Of the rows that ffi_ridge_loo() kept for every ridge and each of k responses: ridge `at`.
rows_of_ridge <- function(rows, at, k) {
  n <- nrow(rows$residual)
  columns <- (at - 1L) * k + seq_len(k)
  list(
    residual = rows$residual[, columns, drop = FALSE],
    left_out = rows$left_out[, columns, drop = FALSE],
    left = rows$left[(at - 1L) * n + seq_len(n)]
  )
}

# Least loss; if several have it (to rounding) the smallest size, then the largest ridge.
best_row <- function(loo) {
  least <- which(loo$loss <= min(loo$loss) * (1 + 1e-12))
  least[order(loo$size[least], -loo$ridge[least])[1L]]
}

# r and c of a ridge from those without: least squares of c on the (far fewer) rows of r.
ridge_factor <- function(fit, size, ridge) {
  .Call(ffi_regress, independent_factor(fit, size), fit$c[seq_len(size), , drop = FALSE], ridge,
        NULL, FALSE, fit_threads(fit))[c("r", "c", "q")]
}

# Coefficients of the first `size` columns at a ridge, nothing else: the normal equations of c on r.
ridged <- function(fit, size, ridge) {
  first <- seq_len(size)
  r <- independent_factor(fit, size)
  normal <- inner_product(r, fit_threads(fit))
  diag(normal) <- diag(normal) + ridge
  root <- .Call(ffi_cholesky, normal, fit_threads(fit))
  if (is.null(root)) { # to rounding: the squares lost what little there is
    factor <- ridge_factor(fit, size, ridge)
    return(backsolve(factor$r, factor$c))
  }
  right <- crossprod(r, fit$c[first, , drop = FALSE])
  backsolve(root, backsolve(root, right, transpose = TRUE))
}

# r of the first `size` columns; one that depends on those before it has no length of its own.
independent_factor <- function(fit, size) {
  first <- seq_len(size)
  r <- fit$r[first, first, drop = FALSE]
  diag(r)[fit$dependent[first]] <- 0
  r
}

fit_threads <- function(fit) if (is.null(fit$threads)) 1L else fit$threads
