# Kernels by factors: K_i = Z_i Z_i', Z_i the coordinates of all rows on a basis of kernel i. The
# machines then need no n x n matrix: v = sum_i r_i Z_i'a is all that a gradient needs.

# What `basis` asks for: NULL, or the method of the bases and their size.
fusion_basis <- function(basis, size, x, kernels) {
  size <- check_whole(size, "size", min = 1, infinite = TRUE)
  if (is.null(basis)) return(NULL)
  basis <- check_choice(basis, "basis", basis_methods)
  if (is.null(x) || is.null(kernels)) {
    abort("argument", "`basis` is for a list of kernels on the rows of `x`: ",
          "columns and Gram matrices need none.")
  }
  list(method = basis, size = size)
}

# `z` has a column a row of the data and the coordinates of one kernel after the other; `kernel`
# says of which kernel each is, `squares` (n x kernels) are the diagonals, `bases` what they come
# from.
factor_set <- function(specs, data, wanted, threads) {
  if (any(vapply(specs, is_noise, NA))) {
    abort("argument", "`basis` does not know `noise_kernel()`: use `noise`, or no `basis`.")
  }
  control <- basis_control(wanted$method, min(wanted$size, nrow(data$x)), 0, threads = threads)
  parts <- lapply(specs, function(spec) {
    x <- data$x[, spec$columns, drop = FALSE]
    fit <- basis_from_data(list(x = x), spec$kernel, control, keep = TRUE)
    fit$basis$vectors <- NULL # rows of the model serve all kernels
    squares <- rowSums(fit$factor^2)
    .Call(ffi_check)
    list(basis = fit$basis, z = t(fit$factor), squares = squares)
  })
  .Call(ffi_check)
  squares <- vapply(parts, `[[`, numeric(nrow(data$x)), "squares", USE.NAMES = FALSE)
  check_kernel_scale(list(
    n = nrow(data$x), names = names(specs), rows = rownames(data$x), kernels = specs,
    z = do.call(rbind, lapply(parts, `[[`, "z")), bases = lapply(parts, `[[`, "basis"),
    kernel = rep(seq_along(parts), vapply(parts, function(part) nrow(part$z), 0L)),
    squares = squares, mean_diagonal = weighted_means(squares, data$weights), cases = data$weights
  ))
}

# Z_i'a summed over decisions and squared, a kernel each.
factor_forms <- function(set, u) as.vector(rowsum(rowSums(u^2), set$kernel))

# ---- machines ---------------------------------------------------------------------------------

solve_factors <- function(set, r, response, control, last) {
  if (response$type == "regression") return(regress_factors(set, r, response, control))
  g <- response$g
  cost <- ifelse(response$w > 0, control$cost * response$w, 0)
  fits <- lapply(seq_len(ncol(g)), function(c) {
    start <- if (is.null(last)) numeric(set$n) else last$lambda[, c]
    factor_machine(set, r[set$kernel], drop(set$squares %*% r), g[, c], cost, g[, c] * start)
  })
  pick <- function(name, like) vapply(fits, `[[`, like, name)
  lambda <- abs(pick("b", numeric(set$n)))
  a <- g * lambda
  scale <- pick("scale", 0)
  list(
    lambda = lambda, a = a, intercept = pick("level", 0),
    gap = max(pick("gap", 0) / pmax(scale, .Machine$double.xmin)),
    decision = g - pick("gradient", numeric(set$n)) + rep(pick("level", 0), each = set$n),
    forms = factor_forms(set, set$z %*% a), objective = -sum(pick("value", 0)),
    lack = sum(pick("gap", 0))
  )
}

# A machine is solved to this gap, relative to its value; a smaller one takes more rounds.
factor_gap <- 1e-6

# Coordinate descent finds which rows are at their bounds; the rest, a few more than there are
# coordinates, are then settled together and exactly.
factor_machine <- function(set, scale, diagonal, g, cost, b) {
  if (any(is.infinite(cost))) {
    abort("argument", "`basis` needs a finite `cost`: a hard margin has no bounds to find.")
  }
  p <- list(
    z = set$z, scale = scale, diagonal = diagonal, linear = g, level = 0, spread = mean(diagonal),
    lower = ifelse(g > 0, 0, -cost), upper = ifelse(g > 0, cost, 0)
  )
  b <- pmin(pmax(b, p$lower), p$upper)
  settle_rows(p, balance(p, descend_rows(p, b)))
}

# Rounds of a visit to every row and some to those off their bounds, until a round gains little. How
# little is a matter of time: settle_rows() goes on from wherever this ends.
descend_rows <- function(p, b, rounds = if (any(b != 0)) 4L else 12L) {
  order <- preserve_seed(1, function() sample.int(length(b))) - 1L
  at <- list(b = b, v = p$scale * drop(p$z %*% b), sum = sum(b))
  for (round in seq_len(rounds)) {
    at <- .Call(ffi_descend, p, at, order, 1L)
    first <- at$violation
    some <- order[(at$b > p$lower & at$b < p$upper)[order + 1L]]
    if (length(some)) at <- .Call(ffi_descend, p, at, some, 10L)
    p$level <- p$level + p$spread * at$sum
    if (first <= 0.05) break
  }
  at$b
}

# Feasible: the sum of b made zero, up to rounding (a second pass over it would do no harm), by
# moving rows that are off their bounds; others, where these do not suffice.
balance <- function(p, b) {
  for (inside in c(TRUE, FALSE)) {
    missing <- -sum(b)
    if (abs(missing) <= 1e-13 * sum(abs(b))) break
    room <- if (missing > 0) p$upper - b else b - p$lower
    if (inside) room[b <= p$lower | b >= p$upper] <- 0
    if (sum(room) > 0) b <- b + sign(missing) * room * min(1, abs(missing) / sum(room))
  }
  pmin(pmax(b, p$lower), p$upper)
}

# Working sets: rows off their bounds and those that violate the conditions most, solved exactly
# among themselves (src/dual.c; a thousand times finer than asked of all), until the gap of all rows
# is small.
settle_rows <- function(p, b, rounds = 100L) {
  gradient <- p$linear - factor_product(p, b)
  for (round in seq_len(rounds)) {
    found <- factor_optimum(p, b, gradient)
    if (found$gap <= factor_gap * found$scale) break
    .Call(ffi_check)
    rows <- worst_rows(p, b, gradient - found$level)
    part <- sqrt(p$scale) * p$z[, rows, drop = FALSE]
    K <- inner_product(part)
    fit <- solve_dual(K, gradient[rows] + drop(K %*% b[rows]), p$lower[rows], p$upper[rows],
                      sum(b[rows]), b[rows], tol = 1e-9)
    change <- fit$solution - b[rows]
    b[rows] <- fit$solution
    gradient <- gradient - drop(crossprod(p$z, sqrt(p$scale) * drop(part %*% change)))
  }
  c(found, list(b = b, gradient = gradient))
}

factor_product <- function(p, b) drop(crossprod(p$z, p$scale * drop(p$z %*% b)))

# All that are off their bounds (up to 2000, those that violate most), and some at their bounds.
worst_rows <- function(p, b, slope) {
  free <- b > p$lower & b < p$upper
  violation <- ifelse(slope > 0, (b < p$upper) * slope, -(b > p$lower) * slope)
  inside <- which(free)
  inside <- utils::head(inside[order(-violation[inside])], 2000L)
  outside <- which(!free & violation > 0)
  outside <- utils::head(outside[order(-violation[outside])], max(100L, length(inside)))
  sort(c(inside, outside))
}

# Value, scale and gap at b, see src/dual.c, with the level that makes the gap least (convex, with
# kinks: nine digits of it; gradients that agree to nine digits need none).
factor_optimum <- function(p, b, gradient) {
  qb <- sum(p$linear * b)
  bkb <- max(0, qb - sum(b * gradient))
  gap <- function(level) {
    slope <- gradient - level
    sum(pmax((p$upper - b) * slope, (p$lower - b) * slope))
  }
  best <- stats::optimize(gap, range(gradient), tol = 1e-9 * max(1e-9, diff(range(gradient))))
  list(value = bkb / 2 - qb, scale = sum(abs(p$linear * b)) + bkb / 2, gap = best$objective,
       level = best$minimum)
}

# ---- regression -------------------------------------------------------------------------------

# Z theta with theta = sqrt(r) Z'a solves (A + nu) theta = sqrt(r) Z'y, A from the centred cross
# products, which are worked out once (see solve_columns()).
regress_factors <- function(set, r, response, control) {
  w <- response$w
  y <- response$y - sum(w * response$y) / sum(w)
  root <- sqrt(r)[set$kernel]
  nu <- control$noise * sum(r * set$mean_diagonal)
  system <- set$moments * tcrossprod(root)
  diag(system) <- diag(system) + nu
  r_system <- .Call(ffi_cholesky, system, 1L)
  if (is.null(r_system)) {
    abort("singular", "`noise` = ", format(control$noise, digits = 3), " is too small for kernels ",
          "on a basis: give a larger one.")
  }
  theta <- backsolve(r_system, backsolve(r_system, root * set$toward, transpose = TRUE))
  fitted <- drop(crossprod(set$z, root * theta))
  offset <- sum(w * fitted) / sum(w)
  a <- w * (y - fitted + offset) / nu
  intercept <- sum(w * response$y) / sum(w) - offset
  u <- (set$toward - drop(set$moments %*% (root * theta))) / nu
  regression_fit(a, intercept, fitted + intercept, factor_forms(set, as.matrix(u)), response$y)
}

# Centred cross products of the coordinates among themselves and with the response.
with_moments <- function(set, response, noise) {
  if (response$type != "regression") return(set)
  if (noise == 0) abort("argument", "`basis` needs a positive `noise`.")
  w <- response$w
  means <- drop(set$z %*% w) / sum(w)
  centred <- t(set$z - means) * sqrt(w)
  set$moments <- inner_product(centred)
  set$toward <- drop(crossprod(centred, sqrt(w) * (response$y - sum(w * response$y) / sum(w))))
  set
}

# ---- the model --------------------------------------------------------------------------------

# What predictions need: the rows of all bases, and on them the coefficients of each kernel, a list.
factor_expansion <- function(set, a) {
  index <- sort(unique(unlist(lapply(set$bases, `[[`, "index"))))
  u <- set$z %*% a
  expansion <- lapply(seq_along(set$bases), function(i) {
    out <- matrix(0, length(index), ncol(a))
    out[match(set$bases[[i]]$index, index), ] <-
      dual_coefficients(set$bases[[i]], u[set$kernel == i, , drop = FALSE])
    out
  })
  list(index = index, expansion = stats::setNames(expansion, set$names))
}
