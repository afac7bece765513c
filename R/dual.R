# Quadratic programs with boxes and one sum, solved by src/dual.c:
#   minimise 1/2 b'Kb - linear'b,   sum(b) = total,   lower <= b <= upper.
# `K` is a Gram matrix, or list(x =, kernel =) with a matrix and a resolved kernel, whose columns
# are then made as needed and kept in a cache of `cache` bytes. Returns a list:
#   solution, gradient (linear - K b), value, gap (proven distance from the optimum), scale (what
#   `tol` times makes a small gap), violation of the optimality conditions,
#   intercept (multiplier of the sum), iterations, faces,
#   status: "ok", "infeasible" (unbounded, or no b has that sum) or "not_converged".
solve_dual <- function(K, linear, lower, upper, total = 0, start = NULL, tol = 1e-12,
                       max_iter = 1e6, cache = 1e8) {
  n <- length(linear)
  problem <- list(
    linear = as.double(linear), lower = rep_len(as.double(lower), n),
    upper = rep_len(as.double(upper), n), total = total,
    start = if (is.null(start)) numeric(n) else as.double(start)
  )
  fit <- .Call(ffi_dual, dual_source(K), problem,
               list(tol = tol, max_iter = max_iter, cache = cache))
  if (fit$status == "not_finite") fail_dual_overflow()
  fit
}

fail_dual_overflow <- function() {
  raise_status("not_finite", "Numbers overflow in the dual problem: use a smaller `cost`, ",
               "or rescale the data or the kernel.")
}

dual_source <- function(K) {
  if (is.matrix(K)) return(K)
  if (in_r(K$kernel)) return(gram_in_r(K$kernel, K$x))
  kernel_source(K$x, K$kernel)
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
