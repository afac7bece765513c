# Case weights in a basis: the picks and the stop of repeated rows, without repeating them. After
# the first pick a greedy rule looks at single rows, which repeating does not change; weights count
# in the first pick of "fvs" (best mean fitness), in stops by means over rows, and in "kobl"'s n.

# Rows of weight zero are no rows, and told of among those left out.
weighted_rows <- function(data, na_action) {
  used <- data$weights > 0
  if (is.null(data$weights) || all(used)) return(data)
  rows <- if (is.null(data$kept)) seq_along(used) else data$kept
  names(rows) <- if (is.null(rownames(data$x))) rows else rownames(data$x)
  gone <- sort(c(unclass(data$na.action), rows[!used]))
  excluded <- check_choice(na_action, "na_action", na_actions) == "exclude"
  data$na.action <- structure(gone, class = if (excluded) "exclude" else "omit")
  data$x <- data$x[used, , drop = FALSE]
  data$y <- take_rows(data$y, used)
  data$weights <- data$weights[used]
  data
}

weighted_basis <- function(data, kernel, control) {
  weights <- data$weights
  if (control$neighbours > 0) {
    abort("argument", "`center = \"nearest\"` does not know case weights. Repeat the rows, or ",
          "give a `kernel_basis` of them as `basis`.")
  }
  control$count <- sum(weights)
  wanted <- control$tol
  diagonal <- kernel_diagonal(kernel, data$x)
  if (control$method == "fvs") {
    control$candidates <- first_weighted(data$x, kernel, weights, diagonal, control)
  }
  repeat { # the engine stops by plain means: ask for more until the weighted ones agree
    fit <- basis_from_data(data, kernel, control, keep = TRUE)
    fit$basis$path[c("fitness", "trace", "cost")] <- weighted_path(fit$factor, diagonal, weights)
    left <- switch(control$method, fvs = 1 - fit$basis$path$fitness, fit$basis$path$trace)
    enough <- if (control$method %in% c("fvs", "cholesky", "random")) {
      which(left <= wanted)[1L]
    } else {
      NA
    }
    if (!is.na(enough) || fit$basis$stop != "tol") break
    # (less than this is rounding, where the engine ends by the rank)
    control$tol <- if (control$tol > 1e-14) control$tol / 8 else 0
  }
  if (is.na(enough)) return(fit)
  fit$basis <- head(fit$basis, enough)
  fit$basis$stop <- "tol"
  fit$factor <- fit$factor[, seq_len(enough), drop = FALSE]
  fit
}

# Columns fitness, trace and cost of the path with weighted rows.
weighted_path <- function(z, diagonal, weights) {
  counted <- weights * (diagonal > 0)
  inverse <- ifelse(diagonal > 0, 1 / diagonal, 0)
  residual <- diagonal
  out <- matrix(0, ncol(z), 3L)
  for (l in seq_len(ncol(z))) {
    residual <- pmax(residual - z[, l]^2, 0)
    out[l, ] <- c(1 - sum(counted * residual * inverse) / sum(counted),
                  sum(weights * residual) / sum(weights * diagonal),
                  sum(weights * sqrt(residual)) / sum(weights))
  }
  as.data.frame(out)
}

# The row of best mean fitness among evenly spaced ones of the repeated rows; ties to the lowest.
first_weighted <- function(x, kernel, weights, diagonal, control) {
  total <- sum(weights)
  rows <- if (control$first < total) {
    at <- round(seq(1, total, length.out = control$first))
    unique(pmin(findInterval(at, c(0, cumsum(weights)), left.open = TRUE), nrow(x)))
  } else {
    seq_len(nrow(x))
  }
  share <- ifelse(diagonal > 0, weights / diagonal, 0)
  fitness <- numeric(length(rows))
  for (part in row_chunks(length(rows), nrow(x))) {
    k <- gram_matrix(x[rows[part], , drop = FALSE], kernel, x, control$threads)
    fitness[part] <- drop(k^2 %*% share)
  }
  fitness <- fitness * ifelse(diagonal[rows] > 0, 1 / diagonal[rows], 0)
  rows[which(fitness >= max(fitness) * (1 - 1e-10))[1L]]
}
