#' Gram matrix
#'
#' The matrix of kernel values between the rows of `x` and those of `z`. Use it when a method
#' outside this package wants a kernel matrix; the models here never need you to form one.
#'
#' @param x a numeric matrix, a sparse one (see [sparse]) or a data frame (factor columns become
#'   indicator columns).
#' @param kernel a kernel, see [kernels]; `sigma = "mean"` or `"median"` is worked out on `x`.
#' @param z another set of rows with the same columns, or NULL for `x` itself.
#' @param threads number of threads; the result is the same bit for bit.
#' @returns A numeric matrix, `nrow(x)` by `nrow(z)` (or `nrow(x)`): exactly symmetric when `z` is
#'   NULL, with ones on the diagonal for distance kernels. Row names are kept.
#' @examples
#' K <- gram(scale(iris[, 1:4]))
#' isSymmetric(K)
#' gram(iris[1:2, 1:4], linear_kernel(), z = iris[3:5, 1:4])
#' @family kernels
#' @export
gram <- function(x, kernel = rbf_kernel(), z = NULL, threads = getOption("kernelect.threads", 1L)) {
  check_given("x")
  threads <- check_threads(threads)
  data <- model_data(x, scale = FALSE, na_action = NULL)
  x <- data$x
  kernel <- resolve_kernel(kernel, x)
  if (!is.null(z)) z <- new_matrix_for_gram(z, data$input)
  K <- if (is.null(z) || nrow(z)) gram_matrix(x, kernel, z, threads) else matrix(0, nrow(x), 0L)
  # here and not in a helper, where the matrix would have two owners and be copied
  names <- list(rownames(x), rownames(if (is.null(z)) x else z))
  if (!all(vapply(names, is.null, NA))) dimnames(K) <- names
  K
}

new_matrix_for_gram <- function(z, input) {
  z <- match_columns(z, input, "z")
  missing <- if (anyNA(held_values(z))) missing_counts(z) else 0
  if (any(missing > 0)) fail_missing(missing, arg = "z")
  check_finite_columns(z, "z")
  z
}

# The engine's entry for prepared matrices and a resolved kernel; z NULL means x.
gram_matrix <- function(x, kernel, z = NULL, threads = 1L, shift = core_shift(x)) {
  check_memory(nrow(x), if (is.null(z)) nrow(x) else nrow(z))
  if (in_r(kernel)) return(gram_in_r(kernel, x, z, threads))
  K <- .Call(ffi_gram, kernel_source(x, kernel, z, shift), threads)
  if (is_status(K)) raise_status(K)
  K
}

# The matrix of a kernel between rows, as the core reads it (ffi_source() in src/ffi_source.c).
kernel_source <- function(x, kernel, z = NULL, shift = core_shift(x)) {
  if (is_sparse(x) || is_sparse(z)) {
    check_sparse_kernel(kernel)
    x <- as_sparse(x)
    if (!is.null(z)) z <- as_sparse(z)
    shift <- NULL
  }
  list(x = x, z = z, kernel = core_kernel(kernel), shift = shift)
}

weigh_columns <- function(x, weights) {
  if (is.null(weights) || is.null(x)) return(x)
  if (is_sparse(x)) {
    x$value <- x$value * unname(weights)[x$column + 1L]
    return(x)
  }
  x * rep(unname(weights), each = nrow(x))
}

# A kernel that has a function of the user in it, or is one.
gram_in_r <- function(kernel, x, z = NULL, threads = 1L) {
  x <- row_numbers(x)
  z <- row_numbers(z)
  if (!is_combined(kernel)) return(function_gram(kernel, x, z))
  x <- weigh_columns(x, kernel$weights)
  z <- weigh_columns(z, kernel$weights)
  combine_parts(kernel, function(part) gram_matrix(x, part, z, threads))
}

# The values of a sum or product from those of its parts.
combine_parts <- function(kernel, values) {
  kernel$scale * Reduce(combinations[[kernel$type]]$combine, lapply(kernel$parts, values))
}

# What a user's function returns is not taken on trust.
function_gram <- function(kernel, x, z = NULL) {
  symmetric <- is.null(z)
  x <- weigh_columns(x, kernel$weights)
  z <- if (symmetric) x else weigh_columns(z, kernel$weights)
  K <- tryCatch(spec_of(kernel)$evaluate(kernel, x, z), error = function(e) {
    abort("kernel", "`f` of `function_kernel()` failed: ", conditionMessage(e))
  })
  if (!is.matrix(K) || !is.numeric(K) || nrow(K) != nrow(x) || ncol(K) != nrow(z)) {
    abort("kernel", "`f` of `function_kernel()` must return a numeric ", nrow(x), " x ", nrow(z),
          " matrix, not ", describe(K), ".")
  }
  if (!all_finite(K)) {
    abort("not_finite", "`f` of `function_kernel()` returned missing or infinite values.")
  }
  K <- if (is.object(K)) matrix(as.double(K), nrow(K)) else as_doubles(K)
  dimnames(K) <- NULL
  if (!symmetric) return(K)
  found <- symmetry(K)
  if (found$gap > 1e-8 * found$largest) {
    abort("kernel", "`f` of `function_kernel()` must be symmetric: ",
          "f(x, x) is not a symmetric matrix.")
  }
  (K + t(K)) / 2
}

# k(x, x) of every row.
kernel_diagonal <- function(kernel, x) {
  if (!in_r(kernel)) return(.Call(ffi_diagonal, x, core_kernel(kernel)))
  x <- row_numbers(x)
  if (!is_combined(kernel)) return(function_diagonal(kernel, x))
  x <- weigh_columns(x, kernel$weights)
  combine_parts(kernel, function(part) kernel_diagonal(part, x))
}

# Row by row: a block of rows would ask for far more values of what may be an expensive function.
function_diagonal <- function(kernel, x) {
  vapply(seq_len(nrow(x)), function(i) {
    row <- x[i, , drop = FALSE]
    function_gram(kernel, row, row)[1L]
  }, 0)
}
