# Machines and regressions at given weights of the kernels.

# lambda (n x C), a = signed lambda, intercepts, decision values, the forms a'K_i a (summed over the
# decisions) at weights r, the `objective` and what the machines `lack` of their optimum.
solve_fused <- function(set, r, response, control, last) {
  if (!is.null(set$z)) return(solve_factors(set, r, response, control, last))
  if (response$type == "recognition") return(solve_machines(set, r, response, control, last))
  solve <- if (is.null(set$x)) solve_regression else solve_columns
  solve(set, r, response, control)
}

# K at weights r: a matrix, or the sum of kernels on rows that it is.
fused_matrix <- function(set, r, control) {
  held <- if (is.null(set$x)) {
    is.null(set$data)
  } else {
    holds_matrices(set$n, NULL, FALSE)
  }
  if (held) fused_gram(set, r, control$threads) else fused_rows(set, r)
}

fused_gram <- function(set, r, threads) {
  live <- r > 0
  if (is.null(set$x)) {
    if (sum(live) == 1L && r[live] == 1) return(set$grams[live][[1L]])
    return(.Call(ffi_fuse, set$grams[live], r[live]))
  }
  gram_matrix(set$x[, live, drop = FALSE], linear_kernel(weights = sqrt(r[live])), NULL,
              threads)
}

fused_rows <- function(set, r) {
  live <- r > 0
  if (!is.null(set$x)) {
    line <- new_kernel("linear", weights = sqrt(r[live]))
    return(row_sum(list(kernel_source(set$x[, live, drop = FALSE], line))))
  }
  noise <- vapply(set$kernels, is_noise, NA)
  terms <- lapply(set$kernels[live & !noise], block_source, set$data)
  if (!length(terms)) { # noise alone: with zero times a column
    column <- kernel_source(set$data[, 1L, drop = FALSE], linear_kernel())
    return(row_sum(list(column), 0, sum(r)))
  }
  row_sum(terms, r[live & !noise], sum(r[noise]))
}

block_source <- function(spec, x) kernel_source(x[, spec$columns, drop = FALSE], spec$kernel)

# a'K_i a, zero for kernels that do not count: those without weight never gain any by the paper's
# rule, on the simplex they may.
forms_of <- function(set, r, a, control) {
  count <- if (control$rule == "simplex") set$mean_diagonal > 0 else r > 0
  forms <- numeric(length(r))
  forms[count] <- if (!is.null(set$x)) {
    rowSums(crossprod(set$x[, count, drop = FALSE], a)^2)
  } else if (is.null(set$data)) {
    .Call(ffi_forms, set$grams[count], a)
  } else {
    row_forms(set$kernels[count], set$data, a, control$threads)
  }
  forms
}

# The same from the rows that have a part in it.
row_forms <- function(specs, x, a, threads) {
  support <- rowSums(a != 0) > 0
  x <- x[support, , drop = FALSE]
  a <- a[support, , drop = FALSE]
  vapply(specs, function(spec) {
    if (is_noise(spec) || !length(a)) return(sum(a^2))
    .Call(ffi_source_form, block_source(spec, x), a, threads)
  }, 0)
}

solve_machines <- function(set, r, response, control, last) {
  g <- response$g
  K <- fused_matrix(set, r, control)
  # ten and a hundred times below the gap that is told (1e-5), or more: a column made anew for each
  # use is made some ten times less often than to 1e-10
  tol <- if (is.matrix(K)) 1e-10 else 1e-7
  cost <- ifelse(response$w > 0, control$cost * response$w, 0)
  fits <- lapply(seq_len(ncol(g)), function(c) {
    fit <- svm_dual(K, g[, c], cost, last$lambda[, c], tol = tol, threads = control$threads)
    if (fit$status == "infeasible") fail_inseparable(colnames(g)[c])
    fit
  })
  lambda <- vapply(fits, function(fit) drop_dust(fit$lambda), numeric(nrow(g)))
  a <- g * lambda
  gap <- max(vapply(fits, function(fit) fit$gap / max(fit$scale, .Machine$double.xmin), 0))
  list(
    lambda = lambda, a = a, intercept = vapply(fits, `[[`, 0, "intercept"), gap = gap,
    decision = vapply(fits, `[[`, numeric(nrow(g)), "decision") - own_noise(set, r, a),
    forms = if (control$adaptive) forms_of(set, r, a, control),
    objective = -sum(vapply(fits, `[[`, 0, "value")), lack = sum(vapply(fits, `[[`, 0, "gap"))
  )
}

drop_dust <- function(lambda) ifelse(lambda > 1e-12 * max(lambda), lambda, 0)

fail_inseparable <- function(class) {
  abort("infeasible", "The classes cannot be separated",
        if (!is.null(class)) paste0(" (\"", class, "\" from the rest)"),
        ": with `cost = Inf` (a hard margin) there is no solution. ",
        "Use a finite `cost`, such as `cost = 1`.")
}

# System (19) with case weights w: (K + nu / w) a + b = y, sum(a) = 0. With a = sqrt(w) alpha and
# weighted means taken out on both sides, A alpha = sqrt(w) (y - mean), A = sqrt(w_i w_j)
# (K_ij - m_i - m_j + c) + nu I, which is system (19) of repeated rows for whole weights.
solve_regression <- function(set, r, response, control) {
  y <- response$y
  w <- response$w
  K <- fused_gram(set, r, control$threads)
  means <- drop(.Call(ffi_gram_product, K, matrix(w), FALSE)) / sum(w)
  nu <- control$noise * sum(r * set$mean_diagonal)
  middle <- sum(w * y) / sum(w)
  A <- .Call(ffi_centred_system, K, w, means, nu)
  alpha <- solve_centred(A, sqrt(w) * (y - middle), nu, sqrt(w / sum(w)))
  a <- sqrt(w) * alpha
  a <- a - w * sum(a) / sum(w)
  intercept <- middle - sum(means * a)
  smooth <- drop(.Call(ffi_gram_product, K, matrix(a), FALSE)) - own_noise(set, r, a)
  regression_fit(a, intercept, smooth + intercept, forms_of(set, r, matrix(a), control), y)
}

# A noise kernel is part of K among the training rows, not of the rule.
own_noise <- function(set, r, a) {
  own <- if (is.null(set$cases)) 1 else ifelse(set$cases > 0, 1 / set$cases, 1)
  sum(r[vapply(set$kernels, is_noise, NA)]) * own * a
}

# Columns as kernels: with fewer live columns than rows the system of the columns is smaller.
# theta = sqrt(r) x'lambda solves (Z'Z + nu I) theta = Z'y, Z = centred columns times sqrt(r), its
# rows and those of y times the roots of the case weights.
solve_columns <- function(set, r, response, control) {
  live <- r > 0
  x <- if (all(live)) set$x else set$x[, live, drop = FALSE]
  w <- response$w
  root <- sqrt(r[live])
  means <- colSums(w * x) / sum(w)
  nu <- control$noise * sum((r * set$mean_diagonal)[live])
  middle <- sum(w * response$y) / sum(w)
  centred <- sqrt(w) * (response$y - middle)
  z <- sqrt(w) * (x - rep(means, each = set$n)) * rep(root, each = set$n)
  if (nu > 0 && ncol(x) < set$n) {
    A <- gram_matrix(t(z), linear_kernel(), NULL, control$threads)
    diag(A) <- diag(A) + nu
    theta <- solve_centred(A, crossprod(z, centred), nu)
    alpha <- (centred - z %*% theta) / nu
  } else {
    A <- gram_matrix(z, linear_kernel(), NULL, control$threads)
    if (nu > 0) diag(A) <- diag(A) + nu
    alpha <- solve_centred(A, centred, nu, sqrt(w / sum(w)))
    theta <- crossprod(z, alpha)
  }
  a <- sqrt(w) * drop(alpha)
  a <- a - w * sum(a) / sum(w)
  beta <- drop(theta) * root
  intercept <- middle - sum(beta * means)
  slopes <- replace(numeric(length(r)), live, beta)
  forms <- numeric(length(r))
  forms[live] <- drop(theta)^2 / r[live]
  if (control$rule == "simplex") forms <- drop(crossprod(set$x, a))^2
  c(regression_fit(a, intercept, x %*% beta + intercept, forms, response$y),
    list(slopes = slopes))
}

regression_fit <- function(a, intercept, decision, forms, y) {
  a <- matrix(a)
  list(
    lambda = a, a = a, intercept = intercept, decision = matrix(decision), forms = forms,
    objective = sum(a * y) / 2, lack = 0
  )
}

# A x = b for a positive semi-definite A that holds nu on its diagonal. Where nu is 0, as a centred
# matrix always is singular, its null vector `flat` (of length 1) is filled in; if more is missing,
# least squares. With little noise the factor is pivoted, which is slower and shows the rank: no
# more noise than that needs it.
solve_centred <- function(A, b, nu, flat = NULL) {
  n <- nrow(A)
  size <- mean(diag(A)) - nu
  if (!(size > 0)) return(if (nu > 0) drop(b) / nu else numeric(n))
  filled <- if (nu > 0) A else A + size * tcrossprod(flat)
  R <- if (nu > 1e-10 * size) tryCatch(chol(filled), error = function(e) NULL)
  if (!is.null(R)) {
    return(backsolve(R, forwardsolve(R, drop(b), upper.tri = TRUE, transpose = TRUE)))
  }
  R <- suppressWarnings(chol(filled, pivot = TRUE))
  if (attr(R, "rank") < n) return(least_squares(A, b))
  at <- attr(R, "pivot")
  x <- numeric(n)
  x[at] <- backsolve(R, forwardsolve(R, b[at], upper.tri = TRUE, transpose = TRUE))
  x
}

least_squares <- function(A, b) {
  e <- eigen(A, symmetric = TRUE)
  keep <- e$values > nrow(A) * .Machine$double.eps * e$values[1L]
  V <- e$vectors[, keep, drop = FALSE]
  drop(V %*% (crossprod(V, b) / e$values[keep]))
}
