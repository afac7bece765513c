# Quadratic programs with boxes and one sum, solved by src/dual.c:
#   minimise 1/2 b'Kb - linear'b,   sum(b) = total,   lower <= b <= upper.
# `K` is a Gram matrix, or a sum of kernels on rows, see row_sum(): its columns are then made as
# needed and kept in a cache of `cache` bytes (src/working.c). Returns a list:
#   solution, gradient (linear - K b), value, gap (proven distance from the optimum), scale (what
#   `tol` times makes a small gap), violation of the optimality conditions,
#   intercept (multiplier of the sum), iterations, faces (working sets, where K is not held),
#   status: "ok", "infeasible" (unbounded, or no b has that sum) or "not_converged".
solve_dual <- function(K, linear, lower, upper, total = 0, start = NULL, tol = 1e-12,
                       max_iter = 1e6, cache = 3e8, size = 512, threads = 1L) {
  n <- length(linear)
  problem <- list(
    linear = as.double(linear), lower = rep_len(as.double(lower), n),
    upper = rep_len(as.double(upper), n), total = total,
    start = if (is.null(start)) numeric(n) else as.double(start)
  )
  control <- list(tol = tol, max_iter = max_iter, cache = cache, size = size, threads = threads)
  fit <- if (is.matrix(K)) .Call(ffi_dual, K, problem, control)
    else .Call(ffi_working, K, problem, control)
  if (fit$status == "not_finite") fail_dual_overflow()
  fit
}

# The matrix sum_i weights_i k_i(x_i, x_i) + noise I, not held: `terms` by kernel_source().
row_sum <- function(terms, weights = rep(1, length(terms)), noise = 0) {
  list(terms = terms, weights = as.double(weights), noise = noise)
}

fail_dual_overflow <- function() {
  raise_status("not_finite", "Numbers overflow in the dual problem: use a smaller `cost`, ",
               "or rescale the data or the kernel.")
}

# Two-class support vector machine. `g` in {-1, 1}; `cost` may be Inf (hard margin) or differ by
# row; `start` is a lambda to begin with. Adds lambda >= 0 and the decision values of the rows.
svm_dual <- function(K, g, cost = 1, start = NULL, ...) {
  fit <- solve_dual(K, g, ifelse(g > 0, 0, -cost), ifelse(g > 0, cost, 0), 0,
                    if (!is.null(start)) g * start, ...)
  fit$lambda <- abs(fit$solution)
  fit$decision <- g - fit$gradient + fit$intercept
  fit
}

# Smallest sphere around the rows in the kernel space: weights of its centre, squared radius.
enclosing_sphere <- function(K, ...) {
  fit <- solve_dual(K, diag(K) / 2, 0, 1, total = 1, ...)
  fit$radius2 <- max(0, -2 * fit$value)
  fit
}
