# Leave-one-out over sizes and ridges: least squares on coordinates of a basis, what its exact
# leave-one-out says, and the choice by it.

ridge_grid <- 10^seq(-6, 3, by = 0.5)

# Least squares on the first 1, 2, ... columns of z at once, with an intercept. Fields: q (its rows
# divided by the root of their weight), y (centred), r, c, center, mean, weights, dependent.
regress <- function(z, response, ridge = 0, weights = NULL) {
  .Call(ffi_regress, z, response$matrix, ridge, weights, TRUE)
}

# Coefficients of the first `size` coordinates, without intercept.
nested_coefficients <- function(fit, size) backsolve(fit$r, fit$c, k = size)

# The whole basis, two thirds of it, and so on down to a single row.
geometric_sizes <- function(most) {
  unique(pmax(1L, as.integer(round(most / 1.5^(0:floor(log(most) / log(1.5) + 1e-9))))))
}

# Regression of `response` on the columns of z: its size (`choose`, or all columns) and `ridge`
# ("loo", or a number) settled. Fields: loo (size, ridge, loss, error), size, ridge; r, c, center,
# mean of that ridge; of the training rows: fitted, left_out (response less the prediction without
# the row), left (1 - leverage).
fit_by_loo <- function(z, response, choose, ridge, weights = NULL) {
  if (is.character(ridge)) {
    sizes <- if (choose) geometric_sizes(ncol(z)) else ncol(z)
    return(fit_by_ridge(regress(z, response, 0, weights), response, sizes))
  }
  fit <- regress(z, response, ridge, weights)
  loo <- size_losses(fit, ridge, class_numbers(response))
  settled_fit(fit, response, loo, if (choose) best_row(loo) else nrow(loo), fit)
}

# The same from a `fit` without ridge: the best of positive `ridges` at the best of `sizes`.
fit_by_ridge <- function(fit, response, sizes, ridges = ridge_grid) {
  loo <- ridge_losses(fit, sizes, class_numbers(response), ridges)
  best <- best_row(loo)
  settled_fit(fit, response, loo, best, ridge_factor(fit, loo$size[best], loo$ridge[best]))
}

# Row `best` of `loo`; `factor` has r and c of its ridge, `fit` itself where that is its own.
settled_fit <- function(fit, response, loo, best, factor) {
  size <- loo$size[best]
  labels <- class_numbers(response)
  rows <- if (identical(factor, fit)) {
    .Call(ffi_nested_loo, fit, size, labels, TRUE)
  } else {
    .Call(ffi_ridge_loo, fit, size, labels, TRUE, loo$ridge[best])
  }
  list(
    loo = loo, size = size, ridge = loo$ridge[best], r = factor$r, c = factor$c,
    center = fit$center, mean = fit$mean, fitted = response$matrix - rows$residual,
    left_out = rows$left_out, left = rows$left
  )
}

class_numbers <- function(response) if (!is.null(response$classes)) as.integer(response$classes)

size_losses <- function(fit, ridge, labels) {
  size <- ncol(fit$q)
  path <- .Call(ffi_nested_loo, fit, size, labels, FALSE)
  data.frame(size = seq_len(size), ridge = ridge, loss = path$loss, error = path$error)
}

# `fit` has no ridge.
ridge_losses <- function(fit, sizes, labels, ridges = ridge_grid) {
  sizes <- sort(sizes)
  at <- lapply(sizes, function(size) .Call(ffi_ridge_loo, fit, size, labels, FALSE, ridges))
  data.frame(
    size = rep(sizes, each = length(ridges)), ridge = rep(ridges, length(sizes)),
    loss = unlist(lapply(at, `[[`, "loss")), error = unlist(lapply(at, `[[`, "error"))
  )
}

# Least loss; if several have it (to rounding) the smallest size, then the largest ridge.
best_row <- function(loo) {
  least <- which(loo$loss <= min(loo$loss) * (1 + 1e-12))
  least[order(loo$size[least], -loo$ridge[least])[1L]]
}

# r and c of a ridge from those without: least squares of c on the (far fewer) rows of r.
ridge_factor <- function(fit, size, ridge) {
  first <- seq_len(size)
  r <- fit$r[first, first, drop = FALSE]
  diag(r)[fit$dependent[first]] <- 0
  .Call(ffi_regress, r, fit$c[first, , drop = FALSE], ridge, NULL, FALSE)[c("r", "c")]
}
