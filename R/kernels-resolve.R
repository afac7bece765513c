# A kernel meets data: words become numbers, and the core is told what it needs to know.

# ---- sigma and weights ------------------------------------------------------------------

# Whether `sigma` still waits for the data, in any part.
has_open_sigma <- function(kernel) {
  any(unlist(over_leaves(kernel, function(k) is.character(k$sigma))))
}

# "mean" and "median" times a factor, before the data are known; numbers times it at once.
scaled_sigma <- function(kernel, factor) {
  edit_leaves(kernel, function(k) {
    if (is.numeric(k$sigma)) return(with_sigma(k, k$sigma * factor))
    if (is.character(k$sigma)) k$factor <- factor * (if (is.null(k$factor)) 1 else k$factor)
    k
  })
}

# The same kernel with another `sigma`, which it must have.
with_sigma <- function(kernel, sigma) {
  resized <- spec_of(kernel)$resized
  if (is.null(resized)) {
    abort("kernel", "`sigma`: a ", kernel_label(kernel), " has no `sigma` of its own.")
  }
  resized(kernel, sigma)
}

# The kernel with numbers in place of words: weights matched to the columns of x, sigma worked
# out on the weighted data, `outer` being the scale factors around it. Where x is a sample of the
# rows, `variance` has the variances (divisor n) of the columns of all of them.
resolve_kernel <- function(kernel, x, variance = NULL) {
  kernel <- as_kernel(kernel)
  if (is_sparse(x)) check_sparse_kernel(kernel)
  resolve_part(kernel, x, NULL, variance)
}

resolve_part <- function(kernel, x, outer, variance) {
  kernel$weights <- match_weights(kernel$weights, x)
  weights <- both_weights(outer, kernel$weights)
  if (is_combined(kernel)) {
    kernel$parts <- lapply(kernel$parts, resolve_part, x, weights, variance)
    return(kernel)
  }
  if (!is.character(kernel$sigma)) return(kernel)
  spread <- switch(kernel$sigma,
    mean = mean_spread(if (is.null(variance)) column_variance(x) else variance, weights),
    median = median_distance(x, weights)
  )
  if (!is.finite(spread) || spread <= 0) {
    abort("data", "`sigma = \"", kernel$sigma, "\"` cannot be worked out: ",
          if (!is.finite(spread)) "distances overflow"
          else if (kernel$sigma == "mean") "all rows are (nearly) identical"
          else "most rows are identical",
          ". Give `sigma` as a number.")
  }
  with_sigma(kernel, spread * (if (is.null(kernel$factor)) 1 else kernel$factor))
}

both_weights <- function(outer, own) {
  if (is.null(outer)) own else if (is.null(own)) outer else outer * own
}

match_weights <- function(weights, x) {
  if (is.null(weights)) return(NULL)
  if (!is.null(names(weights)) && !is.null(colnames(x))) {
    missing <- setdiff(colnames(x), names(weights))
    if (length(missing)) {
      abort("columns", "`weights` of the kernel lack column ", backticked(missing), ".")
    }
    return(weights[colnames(x)])
  }
  if (length(weights) != ncol(x)) {
    abort("columns", "`weights` of the kernel must have one value per column (", ncol(x), "), not ",
          length(weights), ".")
  }
  weights
}

column_variance <- function(x) {
  if (is_sparse(x)) return(sparse_moments(x)$squares / nrow(x))
  spread <- for_columns(x, function(part) column_moments(part)$spread)
  spread^2 * (max(nrow(x) - 1, 0) / nrow(x))
}

mean_spread <- function(variance, weights) {
  sqrt(sum(variance * (if (is.null(weights)) 1 else weights^2)))
}

median_distance <- function(x, weights) {
  x <- x[evenly_spaced(nrow(x), 1000), , drop = FALSE]
  if (nrow(x) < 2L) return(0)
  if (is_sparse(x)) return(stats::median(sparse_distances(x, weights)))
  if (!is.null(weights)) x <- x * rep(weights, each = nrow(x))
  stats::median(.Call(ffi_distances, x)) # dist() cannot be interrupted
}

evenly_spaced <- function(n, count) {
  if (n <= count) return(seq_len(n))
  rows <- round(seq(1, n, length.out = count))
  if (n <= .Machine$integer.max) as.integer(rows) else rows
}

# ---- what others ask of a kernel -----------------------------------------------------------

# Whether the core cannot evaluate it, so that R must.
in_r <- function(kernel) {
  any(unlist(over_leaves(kernel, function(k) !is.null(spec_of(k)$evaluate))))
}

# What the core wants of a kernel: a named list, with scale factors where the leaves are.
core_kernel <- function(kernel, outer = NULL) {
  weights <- both_weights(outer, kernel$weights)
  if (!is_combined(kernel)) return(core_weights(spec_of(kernel)$core(kernel), weights))
  list(type = kernel$type, scale = kernel$scale, parts = lapply(kernel$parts, core_kernel, weights))
}

core_weights <- function(core, weights) {
  if (is.null(core$parts)) core$weights <- weights
  else core$parts <- lapply(core$parts, core_weights, weights)
  core
}

core_columns <- function(core, columns) {
  if (!is.null(core$weights)) core$weights <- core$weights[columns]
  if (!is.null(core$parts)) core$parts <- lapply(core$parts, core_columns, columns)
  core
}

# Distance kernels lose digits to a common offset. The core takes this from the rows for them.
# Sparse rows cannot be shifted; where that would lose digits the core takes differences instead.
core_shift <- function(x) {
  if (!is_sparse(x)) for_columns(x, function(part) .Call(ffi_exact_shift, part))
}

# What the core knows of a kernel: `distance` (depends on differences of rows only), `linear`,
# `smooth` (has a derivative by scale factors), `kinked` (which is not bounded), `multiplies` (is a
# product over columns), `whole` (has no parts).
kernel_traits <- function(kernel) {
  if (!in_r(kernel)) return(.Call(ffi_kernel_traits, core_kernel(kernel)))
  c(distance = FALSE, linear = FALSE, smooth = FALSE, kinked = FALSE, multiplies = FALSE,
    whole = FALSE)
}

# TRUE: positive semi-definite whatever the data, FALSE: in general not, NA: that depends. Sums,
# products and positive multiples of such kernels are such kernels.
is_definite <- function(kernel) {
  all(unlist(over_leaves(kernel, function(k) spec_of(k)$definite(k))))
}

# What it is called where a kernel needs a name.
kernel_name <- function(kernel) kernel$type
