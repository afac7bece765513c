#' Kernels
#'
#' A kernel is a similarity of two rows that is an inner product in some larger space. Use
#' `rbf_kernel()` when nothing else is known about the data (standardised columns, smooth
#' dependence), `linear_kernel()` to get the classical linear method, `polynomial_kernel()`
#' for interactions up to a degree, `laplace_kernel()` for rough dependence, and
#' `function_kernel()` for a kernel of your own.
#'
#' @details
#' | constructor | k(x, z) |
#' |---|---|
#' | `rbf_kernel()` | exp(-d^2 / (2 sigma^2)) = exp(-gamma d^2) = exp(-d^2 / width) |
#' | `laplace_kernel()` | exp(-d / sigma) |
#' | `linear_kernel()` | <x, z> |
#' | `polynomial_kernel()` | (scale <x, z> + offset)^degree |
#' | `sigmoid_kernel()` | tanh(scale <x, z> + offset); not positive semi-definite in general |
#' | `spline_kernel()` | product of 1 + xz + xz m - (x + z) m^2 / 2 + m^3 / 3 |
#' | `function_kernel()` | `f(x, z)` |
#'
#' Here d is the Euclidean distance of two rows; the spline kernel is a product over columns
#' with m = min(x, z), and positive semi-definite for x >= 0 only. `sigma = "mean"` stands for
#' the root of the mean squared distance to the centroid and `"median"` for the median distance
#' of two rows (of at most 1000 evenly spaced rows); both are worked out on the training data
#' when a model is fitted, after scaling and weights.
#'
#' @param sigma a positive number, `"mean"` or `"median"`.
#' @param gamma,width other ways to give the width of a radial basis function: one of the three.
#' @param weights scale factors w, one per column, giving k(w o x, w o z). Named weights are
#'   matched to columns by name.
#' @param degree a positive whole number.
#' @param scale,offset numbers; for the polynomial kernel `scale` must be positive, and with a
#'   negative `offset` it is not positive semi-definite.
#' @param f a function of two matrices `x` and `z` that returns the `nrow(x)` by `nrow(z)`
#'   matrix of kernel values.
#' @returns An object of class `"kernelect_kernel"`: a list with `type`, the parameters named as
#'   the arguments above, and `weights`.
#' @examples
#' rbf_kernel(sigma = 2)
#' rbf_kernel(gamma = 1 / 8)
#' gram(as.matrix(iris[1:3, 1:4]), polynomial_kernel(degree = 2))
#' function_kernel(function(x, z) 1 + tcrossprod(x, z))
#' @family kernels
#' @name kernels
NULL

new_kernel <- function(type, ..., weights = NULL) {
  structure(list(type = type, ..., weights = check_weights(weights)), class = "kernelect_kernel")
}

check_weights <- function(weights) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || !length(weights)) {
    must_be("weights", "a numeric vector, one scale factor per column", weights)
  }
  if (!all_finite(weights)) {
    abort("not_finite", "`weights` must be finite: ", sum(!is.finite(weights)), " are not.")
  }
  if (!is.null(names(weights)) && anyDuplicated(names(weights))) {
    abort("argument", "`weights` must have unique names.")
  }
  stats::setNames(as.double(weights), names(weights))
}

#' @rdname kernels
#' @export
rbf_kernel <- function(sigma = "mean", gamma = NULL, width = NULL, weights = NULL) {
  others <- c(gamma = !is.null(gamma), width = !is.null(width))
  given <- c(sigma = !missing(sigma) && !(is.null(sigma) && any(others)), others)
  if (sum(given) > 1L) {
    abort("argument", "Give one of `sigma`, `gamma` and `width`, not ",
          paste0("`", names(given)[given], "`", collapse = " and "), " together.")
  }
  if (!any(others)) {
    sigma <- check_sigma(sigma)
    if (is.character(sigma)) return(new_kernel("rbf", sigma = sigma, weights = weights))
    gamma <- 1 / (2 * sigma^2)
  } else if (others["gamma"]) {
    gamma <- check_number(gamma, "gamma", above = 0)
  } else {
    width <- check_number(width, "width", above = 0)
    gamma <- 1 / width
  }
  # all three stay as they were given, and none may be beyond what a double holds
  if (is.null(width)) width <- 1 / gamma
  if (any(others)) sigma <- sqrt(width / 2)
  if (!all(is.finite(c(gamma, width)))) { # one is infinite where the other is zero
    arg <- names(given)[given]
    must_be(arg, "neither extremely small nor extremely large",
            c(sigma = sigma, gamma = gamma, width = width)[[arg]])
  }
  new_kernel("rbf", sigma = sigma, gamma = gamma, width = width, weights = weights)
}

check_sigma <- function(sigma) {
  if (is.character(sigma) && length(sigma) == 1L && sigma %in% c("mean", "median")) return(sigma)
  if (is_number(sigma) && is.finite(sigma) && sigma > 0) return(as.double(sigma))
  must_be("sigma", "a positive number, \"mean\" or \"median\"", sigma)
}

#' @rdname kernels
#' @export
laplace_kernel <- function(sigma = "mean", weights = NULL) {
  new_kernel("laplace", sigma = check_sigma(sigma), weights = weights)
}

#' @rdname kernels
#' @export
linear_kernel <- function(weights = NULL) new_kernel("linear", weights = weights)

#' @rdname kernels
#' @export
polynomial_kernel <- function(degree = 3, scale = 1, offset = 1, weights = NULL) {
  new_kernel("polynomial",
    degree = check_whole(degree, "degree", min = 1, max = 1000),
    scale = check_number(scale, "scale", above = 0),
    offset = check_number(offset, "offset"),
    weights = weights
  )
}

#' @rdname kernels
#' @export
sigmoid_kernel <- function(scale = 1, offset = 0, weights = NULL) {
  new_kernel("sigmoid", scale = check_number(scale, "scale"),
             offset = check_number(offset, "offset"), weights = weights)
}

#' @rdname kernels
#' @export
spline_kernel <- function(weights = NULL) new_kernel("spline", weights = weights)

#' @rdname kernels
#' @export
function_kernel <- function(f, weights = NULL) {
  check_given("f")
  new_kernel("function", f = check_function(f, "f"), weights = weights)
}

#' Convert to a kernel
#'
#' Use it when you have a kernel object of the kernlab package; functions that take a `kernel`
#' call it for you.
#' @param x a kernel of this package, or a kernlab kernel: `rbfdot`, `laplacedot`, `vanilladot`,
#'   `polydot`, `tanhdot` or `splinedot`. Note that kernlab's `sigma` is our `gamma`
#'   (`rbfdot`) or 1 / sigma (`laplacedot`).
#' @returns A kernel object, see [kernels].
#' @examples
#' as_kernel(linear_kernel())
#' if (requireNamespace("kernlab", quietly = TRUE)) {
#'   as_kernel(kernlab::rbfdot(sigma = 0.5))
#' }
#' @family kernels
#' @export
as_kernel <- function(x) {
  check_given("x")
  if (inherits(x, "kernelect_kernel")) return(check_kernel(x))
  par <- if (isS4(x)) attr(x, "kpar", exact = TRUE)
  switch(class(x)[1L],
    rbfkernel = rbf_kernel(gamma = par$sigma),
    laplacekernel = laplace_kernel(sigma = 1 / par$sigma),
    vanillakernel = linear_kernel(),
    polykernel = polynomial_kernel(degree = par$degree, scale = par$scale, offset = par$offset),
    tanhkernel = sigmoid_kernel(scale = par$scale, offset = par$offset),
    splinekernel = spline_kernel(),
    must_be("kernel", paste0(
      "a kernel such as `rbf_kernel()`", if (is.function(x)) " or `function_kernel(f)`"
    ), x)
  )
}

# A kernel object may come from a file: its fields are checked whenever it is used.
check_kernel <- function(kernel) {
  number <- function(v) is_number(v) && is.finite(v)
  sigma_ok <- function(v) (number(v) && v > 0) || identical(v, "mean") || identical(v, "median")
  good <- is.list(kernel) && is.character(kernel$type) && length(kernel$type) == 1L &&
    switch(kernel$type,
      rbf = sigma_ok(kernel$sigma) &&
        (is.character(kernel$sigma) || (number(kernel$gamma) && kernel$gamma > 0)),
      laplace = sigma_ok(kernel$sigma),
      polynomial = number(kernel$degree) && kernel$degree == trunc(kernel$degree) &&
        kernel$degree >= 1 &&
        kernel$degree <= 1000 && number(kernel$scale) && number(kernel$offset),
      sigmoid = number(kernel$scale) && number(kernel$offset),
      `function` = is.function(kernel$f),
      linear = , spline = TRUE, FALSE
    )
  factor <- if (is.list(kernel)) kernel[["factor"]]
  if (!isTRUE(good) || !(is.null(factor) || (number(factor) && factor > 0))) {
    abort("argument", "`kernel` is damaged: its type or parameters are not those of a kernel. ",
          "Make it anew, for example with `rbf_kernel()`.")
  }
  check_weights(kernel$weights)
  kernel
}

# "mean" and "median" times a factor, before the data are known.
scaled_sigma <- function(kernel, factor) {
  if (is.character(kernel$sigma)) {
    kernel$factor <- factor * (if (is.null(kernel$factor)) 1 else kernel$factor)
    return(kernel)
  }
  with_sigma(kernel, kernel$sigma * factor)
}

with_sigma <- function(kernel, sigma) {
  switch(kernel$type,
    rbf = rbf_kernel(sigma = sigma, weights = kernel$weights),
    laplace = laplace_kernel(sigma = sigma, weights = kernel$weights)
  )
}

# The kernel with numbers in place of words: weights matched to the columns of x, sigma worked
# out on the weighted data.
resolve_kernel <- function(kernel, x) {
  kernel <- as_kernel(kernel)
  kernel$weights <- match_weights(kernel$weights, x)
  if (!is.character(kernel$sigma)) return(kernel)
  spread <- switch(kernel$sigma,
    mean = mean_spread(x, kernel$weights),
    median = median_distance(x, kernel$weights)
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
  .Call(ffi_column_sd, x, colMeans(x))^2 * (max(nrow(x) - 1, 0) / nrow(x))
}

mean_spread <- function(x, weights) {
  sqrt(sum(column_variance(x) * (if (is.null(weights)) 1 else weights^2)))
}

median_distance <- function(x, weights) {
  x <- x[evenly_spaced(nrow(x), 1000), , drop = FALSE]
  if (nrow(x) < 2L) return(0)
  if (!is.null(weights)) x <- x * rep(weights, each = nrow(x))
  stats::median(stats::dist(x))
}

evenly_spaced <- function(n, count) {
  if (n <= count) seq_len(n) else as.integer(round(seq(1, n, length.out = count)))
}

# What the core wants of a kernel: type number, scale, offset, degree.
core_kernel <- function(kernel) {
  switch(kernel$type,
    linear = c(0, 0, 0, 0),
    rbf = c(1, kernel$gamma, 0, 0),
    laplace = c(2, 1 / kernel$sigma, 0, 0),
    polynomial = c(3, kernel$scale, kernel$offset, kernel$degree),
    sigmoid = c(4, kernel$scale, kernel$offset, 0),
    spline = c(5, 0, 0, 0)
  )
}

# Distance kernels lose digits to a common offset: centring costs nothing and keeps them.
core_shift <- function(kernel, x) if (kernel$type %in% c("rbf", "laplace")) colMeans(x)

#' @export
print.kernelect_kernel <- function(x, ...) {
  cat("<", kernel_label(x), ">\n", sep = "")
  cat("k(x, z) = ", kernel_formula(x), "\n", sep = "")
  w <- x$weights
  if (!is.null(w)) {
    shown <- utils::head(w, 5L)
    text <- trimws(paste(names(shown), format(shown, digits = 4)))
    more <- if (length(w) > 5L) sprintf(", ... (%d)", length(w))
    cat("weights: ", paste(text, collapse = ", "), more, "\n", sep = "")
  }
  invisible(x)
}

kernel_label <- function(kernel) {
  name <- switch(kernel$type, rbf = "RBF", laplace = "Laplace", `function` = "user function",
                 kernel$type)
  parameter <- if (is.character(kernel$sigma)) sigma_words(kernel)
    else if (is.numeric(kernel$sigma)) paste0("sigma = ", format(kernel$sigma, digits = 4))
    else if (kernel$type == "polynomial") paste("degree", kernel$degree)
  paste(c(paste(name, "kernel"), parameter), collapse = ", ")
}

sigma_words <- function(kernel) {
  factor <- if (!is.null(kernel$factor)) paste(format(kernel$factor, digits = 4), "x ")
  paste0("sigma = ", factor, "\"", kernel$sigma, "\" of the data")
}

kernel_formula <- function(kernel) {
  f <- function(v) format(v, digits = 6)
  switch(kernel$type,
    linear = "<x, z>",
    rbf = if (is.character(kernel$sigma)) "exp(-|x - z|^2 / (2 sigma^2))" else
      sprintf("exp(-|x - z|^2 / (2 * %s^2)), gamma = %s, width = %s", f(kernel$sigma),
              f(kernel$gamma), f(kernel$width)),
    laplace = paste0(
      "exp(-|x - z| / ", if (is.character(kernel$sigma)) "sigma" else f(kernel$sigma), ")"
    ),
    polynomial = sprintf("(%s <x, z> + %s)^%s", f(kernel$scale), f(kernel$offset),
                         f(kernel$degree)),
    sigmoid = sprintf("tanh(%s <x, z> + %s)", f(kernel$scale), f(kernel$offset)),
    spline = "prod(1 + xz + xz m - (x + z) m^2 / 2 + m^3 / 3), m = min(x, z)",
    `function` = "f(x, z)"
  )
}
