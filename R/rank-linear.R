# Methods on the normal vector of a linear machine: KFDS (Fisher discriminant), AROM and RFE
# (SVM); R2W2, the radius-margin bound, on any kernel with a gradient; and kernel fusion.

# One side (+1, -1) per machine: the second class for two classes, else one against rest.
rank_sides <- function(y) {
  classes <- if (nlevels(y) == 2L) 2L else seq_len(nlevels(y))
  lapply(classes, function(k) ifelse(as.integer(y) == k, 1, -1))
}

# Scale factors below this share of the largest have vanished: a product of factors goes on falling,
# so that where the line is drawn moves none across it for good.
rank_vanished <- 1e-12

# w <- w o h(w) until it settles; `normal(x, w)` gives the combined |h| and a value, for the
# columns still there, already times w. Columns that vanish are ordered by when they did.
multiply_weights <- function(x, start, normal, control) {
  w <- start / max(start)
  gone <- rep(Inf, length(w))
  path <- empty_path()
  tick <- progress(control$verbose, control$max_iter)
  for (iteration in seq_len(control$max_iter)) {
    .Call(ffi_check)
    tick()
    live <- w > 0
    h <- normal(times_columns(x, live, w), w[live])
    new <- replace(numeric(length(w)), live, w[live] * h$size)
    if (!all(is.finite(new)) || max(new) <= 0) fail_normal(control$method)
    new <- new / max(new)
    new[new < rank_vanished] <- 0
    gone[live & new == 0] <- iteration
    path[iteration, ] <- list(iteration, h$value, sqrt(sum((new - w)^2)))
    change <- max(abs(new - w))
    w <- new
    if (change <= control$tol) break
  }
  tick(close = TRUE)
  w <- share_duplicates(w, x)
  method_result(w, tie = gone, weights = w, value = path$value[iteration], path = path,
                converged = change <= control$tol)
}

# Columns of x that are wanted, each times its w; scaled on the way where x stands for scaled rows.
times_columns <- function(x, wanted, w) {
  if (is_sparse(x)) return(weigh_columns(x[, wanted, drop = FALSE], w[wanted]))
  .Call(ffi_weighted_columns, x, which(wanted), w[wanted])
}

fail_normal <- function(method) {
  abort("data", "Method \"", method, "\" met a normal vector that is zero or not finite",
        ": give ", rank_methods[[method]]$remedy, ".")
}

rank_start <- function(x, control) {
  if (is.null(control$kernel$weights)) rep(1, ncol(x)) else abs(unname(control$kernel$weights))
}

# ---- Fisher discriminant ---------------------------------------------------------------

rank_kfds <- function(x, y, control) {
  sides <- rank_sides(y)
  printed <- control$update == "printed"
  normal <- function(x, w) {
    fits <- lapply(sides, function(side) fisher_normal(x, side, control$ridge))
    size <- sqrt(Reduce(`+`, lapply(fits, function(f) (f$normal / (if (printed) w else 1))^2)))
    list(size = size, value = sum(vapply(fits, `[[`, 0, "value")))
  }
  multiply_weights(x, rank_start(x, control), normal, control)
}

# Normal vector x'a, (N + mu I) a = K e, N = K P K, with e the difference of class means and P
# taking class means out; mu is `ridge` times the mean diagonal of N. With fewer columns than
# rows the same vector comes from input space, (C S + mu I) h = C delta, S = x'P x, C = x'x: N
# squares the condition number of K, S is the matrix itself. Passes over a wide table follow each
# other: an interrupt is looked for between them.
fisher_normal <- function(x, side, ridge) {
  .Call(ffi_check)
  group <- (side > 0) + 1L
  counts <- tabulate(group, 2L)
  means <- rowsum(x, group, reorder = TRUE) / counts
  .Call(ffi_check)
  inner <- x - means[group, , drop = FALSE]
  .Call(ffi_check)
  delta <- means[2L, ] - means[1L, ]
  if (ridge == 0) {
    h <- solve_scatter(inner, delta)
  } else if (ncol(x) < nrow(x)) {
    C <- inner_product(x)
    CS <- product(C, inner_product(inner))
    diag(CS) <- diag(CS) + ridge * sum(diag(CS)) / nrow(x)
    h <- solve_ridged(CS, C %*% delta)
  } else {
    N <- outer_product(outer_product(x, inner))
    diag(N) <- diag(N) + ridge * mean(diag(N))
    h <- crossprod(x, solve_ridged(N, x %*% delta))
  }
  h <- drop(h)
  .Call(ffi_check)
  list(normal = h, value = sum(h * delta)^2 / sum((inner %*% h)^2))
}

solve_ridged <- function(A, b) {
  h <- .Call(ffi_solve, A, drop(b)) # solve() cannot be interrupted
  if (!is.null(h)) return(h)
  abort("singular", "The within-class scatter of the columns is singular in spite of `ridge`: ",
        "give a larger one, or leave out columns that are constant within each class ",
        "(they tell the classes apart exactly).")
}

# By an orthogonal factor of the columns, as qr() finds it: one is dependent that keeps less than
# 1e-7 of its length beside those before it.
solve_scatter <- function(inner, delta) {
  fit <- .Call(ffi_regress, inner, matrix(0, nrow(inner), 1L), 0, NULL, FALSE, 1L)
  R <- fit$r
  rank <- sum(!fit$dependent & abs(diag(R)) > 1e-7 * sqrt(colSums(inner^2)))
  if (rank < ncol(inner)) {
    abort("singular", "`ridge = 0`: the within-class scatter of the columns is singular (",
          ncol(inner), " columns, rank ", rank, "). Give a positive `ridge`.")
  }
  backsolve(R, backsolve(R, delta, transpose = TRUE))
}

# ---- linear support vector machine ------------------------------------------------------

# Signed dual variables (side * lambda), a column per machine, on a Gram matrix. `start`: those
# of a similar problem. `tol`: a ranking needs the normals to some digits; gradients, which are
# differences of what is optimal, ask for more below.
svm_duals <- function(K, sides, cost, start = NULL, tol = 1e-6) {
  if (is.null(cost)) cost <- 1 / mean(sqrt(pmax(diag(K), 0)))^2
  vapply(seq_along(sides), function(k) {
    side <- sides[[k]]
    fit <- svm_dual(K, side, cost, if (!is.null(start)) pmin(abs(start[, k]), cost), tol = tol)
    if (fit$status == "infeasible") {
      abort("infeasible", "`cost = Inf`: the classes cannot be separated without error. ",
            "Give a finite `cost`.")
    }
    fit$solution
  }, numeric(nrow(K)))
}

linear_gram <- function(x, threads) gram_matrix(x, linear_kernel(), threads = threads)

# The same of a few columns.
plain_gram_of <- function(x, threads) if (is_sparse(x)) linear_gram(x, threads) else tcrossprod(x)

# x'a
column_products <- function(x, a) if (is_sparse(x)) sparse_crossprod(x, a) else crossprod(x, a)

# Again and again the column with the smallest squared weight goes.
rank_rfe <- function(x, y, control) {
  x <- weigh_columns(row_numbers(x), control$kernel$weights)
  sides <- rank_sides(y)
  K <- linear_gram(x, control$threads)
  there <- seq_len(ncol(x))
  duals <- NULL
  fit <- eliminate(ncol(x), control, function(left) {
    gone <- setdiff(there, left)
    if (length(gone)) K <<- K - plain_gram_of(x[, gone, drop = FALSE], control$threads)
    there <<- left
    duals <<- svm_duals(K, sides, control$cost, duals)
    squared <- rowSums(column_products(x[, left, drop = FALSE], duals)^2)
    list(loss = squared, value = sum(squared))
  })
  replace(fit, "value", NA_real_)
}

rank_arom <- function(x, y, control) {
  sides <- rank_sides(y)
  duals <- NULL
  normal <- function(x, w) {
    duals <<- svm_duals(linear_gram(x, control$threads), sides, control$cost, duals)
    squared <- rowSums(column_products(x, duals)^2)
    list(size = sqrt(squared), value = sum(squared))
  }
  multiply_weights(x, rank_start(x, control), normal, control)
}

# ---- radius-margin bound --------------------------------------------------------------------

rank_r2w2 <- function(x, y, control) {
  minimise_bound(x, control, function(x, cost, start) {
    radius_margin(x, control$kernel, rank_sides(y), cost, control$threads)
  })
}

# Weights that minimise a function of scale factors, which `make` gives for rows, the cost of a
# slack and the start.
minimise_bound <- function(x, control, make) {
  start <- rank_start(x, control)
  x <- centre_for(x, control$kernel, "bound")
  cost <- control$cost
  if (is.null(cost)) cost <- 1 / mean_length(x, control$kernel, control$threads)^2
  bound <- make(x, cost, start)
  run <- .Call(ffi_maximise_function, function(w) -bound(w), environment(), start,
               search_control(control))
  w <- share_duplicates(run$weights, x)
  method_result(
    w, tie = run$gradient, weights = w, value = -run$value,
    path = search_path(-run$values, run$steps), converged = run$status == "ok"
  )
}

# A function of scale factors that gives the bound R^2 sum_c |w_c|^2 and its gradient by their
# squares, for the kernel K + I/C (the squared-slack soft margin, whose bound is smooth). With b
# the signed duals and a those of the enclosing sphere,
#   d|w|^2 = -b' dK b,   dR^2 = sum a_i dk_ii - a' dK a.
# Each call starts the solvers where the last one ended; they go to the last digits, or where that
# start was would show in the answer.
radius_margin <- function(x, kernel, sides, cost, threads, tol = 1e-12) {
  duals <- centre <- NULL
  parts <- kernel
  parts$weights <- NULL # what the scale factors come on top of
  function(w) {
    K <- live_gram(x, kernel, w, threads)
    soft <- K + diag(1 / cost, nrow(K))
    duals <<- svm_duals(soft, sides, Inf, duals, tol)
    sphere <- enclosing_sphere(soft, start = centre, tol = tol)
    centre <<- sphere$solution
    norm <- sum(duals * (soft %*% duals))
    slopes <- -norm * tcrossprod(centre) - sphere$radius2 * tcrossprod(duals)
    diag(slopes) <- diag(slopes) + norm * centre
    c(norm * sphere$radius2, .Call(ffi_scale_gradient, x, core_kernel(parts), w, slopes, threads))
  }
}

# The Gram matrix under scale factors w; columns that they take away are not looked at.
live_gram <- function(x, kernel, w, threads) {
  kernel$weights <- w
  live <- w != 0
  if (!all(live) && any(live)) {
    x <- x[, live, drop = FALSE]
    kernel <- kernel_columns(kernel, live)
  }
  gram_matrix(x, kernel, threads = threads)
}

# Mean distance of the rows from the image of zero (footnote 4 of Ramona et al.).
mean_length <- function(x, kernel, threads) {
  zero <- matrix(0, 1L, ncol(x))
  to_zero <- gram_matrix(x, kernel, zero, threads, shift = NULL)
  squared <- kernel_diagonal(kernel, x) - 2 * drop(to_zero) + kernel_diagonal(kernel, zero)
  mean(sqrt(pmax(squared, 0)))
}

# ---- generalised multiple kernel learning -----------------------------------------------------

# Varma and Babu (2009): scale factors that minimise the value of the support vector machine, its
# dual, plus an L1 penalty on their squares. The penalty at the start is `ridge` times the dual.
#   d dual / dv = -1/2 sum_c b_c' dK b_c,   b the signed duals, on the rows that support.
rank_gmkl <- function(x, y, control) {
  minimise_bound(x, control, function(x, cost, start) {
    dual <- regularised_dual(x, control$kernel, rank_sides(y), cost, control$threads)
    penalty <- control$ridge * dual(start, 0)[1L] / sum(start^2)
    function(w) dual(w, penalty)
  })
}

# A function of scale factors and a penalty that gives the value and its gradient by their squares.
regularised_dual <- function(x, kernel, sides, cost, threads, tol = 1e-10) {
  duals <- NULL
  kernel$weights <- NULL
  function(w, penalty) {
    K <- live_gram(x, kernel, w, threads)
    duals <<- svm_duals(K, sides, cost, duals, tol)
    support <- rowSums(duals != 0) > 0
    slope <- .Call(ffi_scale_gradient, x[support, , drop = FALSE], core_kernel(kernel), w,
                   tcrossprod(duals[support, , drop = FALSE]), threads)
    value <- sum(abs(duals)) - sum(duals * (K %*% duals)) / 2
    c(value + penalty * sum(w^2), penalty - slope / 2)
  }
}

# ---- kernel fusion ------------------------------------------------------------------------------

# Scale factors are the roots of the weights of the columns as kernels of rank one.
rank_fusion <- function(x, y, control) {
  cost <- if (is.null(control$cost)) 1 else control$cost
  start <- if (!is.null(control$kernel$weights)) control$kernel$weights^2
  x <- row_numbers(x)
  fit <- without_convergence_warning(kernel_fusion(
    x, y, cost = cost, max_iter = control$max_iter, tol = control$tol, scale = FALSE,
    start = start, folds = 0, keep = FALSE, threads = control$threads, verbose = control$verbose
  ))
  w <- share_duplicates(sqrt(unname(fit$weights)), x)
  by_step <- sqrt(unname(as.matrix(fit$path[-1L])))
  change <- by_step[-1L, , drop = FALSE] - by_step[-nrow(by_step), , drop = FALSE]
  moves <- c(0, sqrt(rowSums(change^2)))
  gone <- apply(by_step > 0, 2L, function(there) if (all(there)) Inf else which(!there)[1L])
  method_result(
    w, tie = gone, weights = w, value = sum(w > 0), path = search_path(rowSums(by_step > 0), moves),
    converged = fit$converged
  )
}

# The ranking warns by itself, in its own words; columns that all vanish have no order.
without_convergence_warning <- function(expr) {
  withCallingHandlers(
    expr,
    kernelect_warning_vanished = function(w) {
      abort("vanished", "All weights vanish: no column tells the classes apart in a linear rule. ",
            "Use another `method`, such as \"sas\".")
    },
    kernelect_warning_convergence = function(w) tryInvokeRestart("muffleWarning")
  )
}
