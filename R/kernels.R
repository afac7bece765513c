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
#' Kernels add and multiply: `k1 + k2`, `k1 * k2` and `2 * k` are kernels again, and every function
#' takes them. Each part keeps its own weights and its own `sigma`. A sum looks for any of several
#' kinds of likeness, a product for all of them at once.
#'
#' Wherever a `kernel` is asked for, the name of one with its defaults will do: `"rbf"`,
#' `"laplace"`, `"linear"`, `"polynomial"`, `"sigmoid"` or `"spline"`.
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
#'   the arguments above, and `weights`; of a sum or product a list with `type`, `scale` (a
#'   factor), `parts` (the kernels) and `weights`.
#' @examples
#' rbf_kernel(sigma = 2)
#' rbf_kernel(gamma = 1 / 8)
#' gram(as.matrix(iris[1:3, 1:4]), polynomial_kernel(degree = 2))
#' function_kernel(function(x, z) 1 + tcrossprod(x, z))
#' rbf_kernel(sigma = 1) + 0.1 * linear_kernel()
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

# ---- the table of kernels ------------------------------------------------------------

# A kernel is one entry of `kernel_table`, below, and one row of the table in src/kernel.c. All
# functions get the kernel object `k`.
#   label     what it is called, and `parameter` what follows that name (its `sigma`)
#   formula   k(x, z) with its numbers, and `detail` what may be said beside it
#   check     whether the fields are those of such a kernel
#   core      what the core wants to know: the name of its row there, and its numbers
#   definite  TRUE: positive semi-definite, FALSE: in general not, NA: that depends
#   resized   the same kernel with another `sigma`
#   evaluate  the matrix of values of two sets of rows, for what the core cannot evaluate
#   default   the kernel that the name alone stands for
#   sparse    whether it is known from inner products and lengths, so that sparse rows will do
#   c         the core's numbers as an expression in C of rows x and z, scale factors w and the
#             number of columns d, by inner(), squares() and spline() (R/export.R)
# What is left out is the first of kernel_spec()'s defaults.
kernel_spec <- function(label, formula, core = NULL, check = function(k) TRUE,
                        definite = function(k) TRUE, parameter = function(k) sigma_words(k),
                        detail = function(k) NULL, resized = NULL, evaluate = NULL,
                        default = NULL, sparse = TRUE, c = NULL) {
  list(label = label, formula = formula, core = core, check = check, definite = definite,
       parameter = parameter, detail = detail, resized = resized, evaluate = evaluate,
       default = default, sparse = sparse, c = c)
}

# Kernels made of kernels: how values combine, in words and in numbers.
combinations <- list(
  sum = list(sign = " + ", combine = `+`),
  product = list(sign = " * ", combine = `*`)
)

spec_of <- function(kernel) kernel_types()[[kernel$type]]

is_combined <- function(kernel) !is.null(kernel$parts)

# The answer of f() for every kernel without parts.
over_leaves <- function(kernel, f) {
  if (is_combined(kernel)) unlist(lapply(kernel$parts, over_leaves, f), recursive = FALSE)
  else list(f(kernel))
}

# The kernel with f() done to every kernel without parts; `outer`: scale factors above it.
edit_leaves <- function(kernel, f) {
  if (!is_combined(kernel)) return(f(kernel))
  kernel$parts <- lapply(kernel$parts, edit_leaves, f)
  kernel
}

is_finite <- function(v) is_number(v) && is.finite(v)

is_sigma <- function(v) {
  (is_finite(v) && v > 0) || identical(v, "mean") || identical(v, "median")
}

six_digits <- function(v) format(v, digits = 6)

# Nothing for a kernel without `sigma`.
sigma_words <- function(kernel) {
  if (is.null(kernel$sigma)) return(NULL)
  if (is.numeric(kernel$sigma)) return(paste0("sigma = ", format(kernel$sigma, digits = 4)))
  factor <- if (!is.null(kernel$factor)) paste(format(kernel$factor, digits = 4), "x ")
  paste0("sigma = ", factor, "\"", kernel$sigma, "\" of the data")
}

# ---- conversion and checks -------------------------------------------------------------

#' Convert to a kernel
#'
#' Use it when you have a kernel object of the kernlab package, or the name of a kernel; functions
#' that take a `kernel` call it for you.
#' @param x a kernel of this package, the name of one (`"rbf"`, `"laplace"`, `"linear"`,
#'   `"polynomial"`, `"sigmoid"`, `"spline"`) for its defaults, or a kernlab kernel: `rbfdot`,
#'   `laplacedot`, `vanilladot`, `polydot`, `tanhdot` or `splinedot`. Note that kernlab's `sigma`
#'   is our `gamma` (`rbfdot`) or 1 / sigma (`laplacedot`). Its other kernels are refused with the
#'   [function_kernel()] that does the same.
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
  kernel_from(x)
}

# The same of what the user gave as `arg`.
kernel_from <- function(x, arg = "kernel") {
  if (inherits(x, "kernelect_kernel")) return(check_kernel(x))
  if (is.character(x) && length(x) == 1L && x %in% kernel_choices()) {
    return(kernel_types()[[x]]$default())
  }
  par <- if (isS4(x)) attr(x, "kpar", exact = TRUE)
  switch(class(x)[1L],
    rbfkernel = rbf_kernel(gamma = par$sigma),
    laplacekernel = laplace_kernel(sigma = 1 / par$sigma),
    vanillakernel = linear_kernel(),
    polykernel = polynomial_kernel(degree = par$degree, scale = par$scale, offset = par$offset),
    tanhkernel = sigmoid_kernel(scale = par$scale, offset = par$offset),
    splinekernel = spline_kernel(),
    besselkernel = kernlab_values(x),
    anovakernel = kernlab_values(x),
    fourierkernel = kernlab_values(x),
    stringkernel = abort("argument", "`", arg, "`: kernlab's `stringdot` compares strings. ",
                         "Give its `kernlab::kernelMatrix()` as `K`."),
    must_be(arg, paste(c(
      "a kernel such as `rbf_kernel()`", if (is.function(x)) " or `function_kernel(f)`",
      if (is.character(x)) c(" or one of ", toString(dQuote(kernel_choices(), FALSE)))
    ), collapse = ""), x)
  )
}

# Kernels that go by their name alone.
kernel_choices <- function() {
  types <- kernel_types()
  names(types)[!vapply(types, function(spec) is.null(spec$default), NA)]
}

# What to write where a parameter of a kernel was given to a function that takes a kernel.
kernel_hint <- function(names, values = NULL) {
  for (type in kernel_choices()) {
    make <- kernel_types()[[type]]$default
    at <- which(names %in% setdiff(names(formals(make)), "weights"))
    if (!length(at)) next
    given <- vapply(at, function(i) {
      value <- if (i <= length(values)) values[[i]]
      paste(c(names[i], if (is_number(value) || is_text(value)) deparse(value)), collapse = " = ")
    }, "")
    return(paste0("It belongs to the kernel: use `kernel = ", type, "_kernel(", toString(given),
                  ")`."))
  }
}

is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

# Kernels that kernlab alone has.
kernlab_values <- function(theirs) {
  force(theirs)
  function_kernel(function(x, z) {
    needs_package("kernlab")
    unclass(kernlab::kernelMatrix(theirs, x, z))
  })
}

# A kernel object may come from a file: its fields are checked whenever it is used.
check_kernel <- function(kernel) {
  if (!isTRUE(is_kernel(kernel))) {
    abort("argument", "`kernel` is damaged: its type or parameters are not those of a kernel. ",
          "Make it anew, for example with `rbf_kernel()`.")
  }
  if (kernel_depth(kernel) > most_levels) {
    abort("kernel", "`kernel` has more than ", most_levels, " sums and products within each other.")
  }
  check_all_weights(kernel)
  kernel
}

most_levels <- 20 # KE_DEPTH

is_kernel <- function(kernel, level = 0) {
  named <- is.list(kernel) && is.character(kernel$type) && length(kernel$type) == 1L
  if (!named || level > 100) return(FALSE)
  if (kernel$type %in% names(combinations)) {
    return(is_finite(kernel$scale) && kernel$scale > 0 && is.list(kernel$parts) &&
      length(kernel$parts) > 0L && all(vapply(kernel$parts, is_kernel, NA, level + 1)))
  }
  factor <- kernel[["factor"]]
  kernel$type %in% names(kernel_types()) && is.null(kernel$parts) &&
    isTRUE(spec_of(kernel)$check(kernel)) && (is.null(factor) || (is_finite(factor) && factor > 0))
}

check_all_weights <- function(kernel) {
  check_weights(kernel$weights)
  for (part in kernel$parts) check_all_weights(part)
}

# Whether the weights of a kernel and its parts fit data of that width.
valid_width <- function(kernel, width) {
  length(kernel$weights) %in% c(0L, width) &&
    all(vapply(kernel$parts, valid_width, NA, width))
}

# The kernel on some of its columns.
kernel_columns <- function(kernel, columns) {
  if (!is.null(kernel$weights)) kernel$weights <- kernel$weights[columns]
  if (is_combined(kernel)) kernel$parts <- lapply(kernel$parts, kernel_columns, columns)
  kernel
}

same_kernel <- function(a, b) {
  fields <- c("type", "sigma", "degree", "scale", "offset", "f", "weights")
  all(vapply(fields, function(field) isTRUE(all.equal(a[[field]], b[[field]])), NA)) &&
    length(a$parts) == length(b$parts) && all(mapply(same_kernel, a$parts, b$parts))
}

# ---- the table ---------------------------------------------------------------------------

# At the end, where all that it names is known.
kernel_table <- list(
  rbf = kernel_spec(
    "RBF",
    formula = function(k) {
      if (is.character(k$sigma)) "exp(-|x - z|^2 / (2 sigma^2))"
      else sprintf("exp(-|x - z|^2 / (2 * %s^2))", six_digits(k$sigma))
    },
    detail = function(k) {
      if (is.numeric(k$sigma)) {
        sprintf("gamma = %s, width = %s", six_digits(k$gamma), six_digits(k$width))
      }
    },
    core = function(k) list(type = "rbf", scale = k$gamma),
    check = function(k) {
      is_sigma(k$sigma) && (is.character(k$sigma) || (is_finite(k$gamma) && k$gamma > 0))
    },
    resized = function(k, sigma) rbf_kernel(sigma = sigma, weights = k$weights),
    default = rbf_kernel,
    c = function(core, w, d) {
      sprintf("exp(-%s * squares(x, z, %s, %d))", c_number(core$scale), w, d)
    }
  ),
  laplace = kernel_spec(
    "Laplace",
    formula = function(k) {
      paste0("exp(-|x - z| / ", if (is.character(k$sigma)) "sigma" else six_digits(k$sigma), ")")
    },
    core = function(k) {
      list(type = "laplace", scale = if (is.numeric(k$sigma)) 1 / k$sigma)
    },
    check = function(k) is_sigma(k$sigma),
    resized = function(k, sigma) laplace_kernel(sigma = sigma, weights = k$weights),
    default = laplace_kernel,
    c = function(core, w, d) {
      sprintf("exp(-%s * sqrt(squares(x, z, %s, %d)))", c_number(core$scale), w, d)
    }
  ),
  linear = kernel_spec(
    "linear",
    formula = function(k) "<x, z>",
    core = function(k) list(type = "linear"),
    default = linear_kernel,
    c = function(core, w, d) sprintf("inner(x, z, %s, %d)", w, d)
  ),
  polynomial = kernel_spec(
    "polynomial",
    formula = function(k) {
      sprintf("(%s <x, z> + %s)^%s", six_digits(k$scale), six_digits(k$offset),
              six_digits(k$degree))
    },
    core = function(k) {
      list(type = "polynomial", scale = k$scale, offset = k$offset, degree = k$degree)
    },
    check = function(k) {
      is_finite(k$degree) && k$degree == trunc(k$degree) && k$degree >= 1 && k$degree <= 1000 &&
        is_finite(k$scale) && is_finite(k$offset)
    },
    definite = function(k) if (k$offset >= 0) TRUE else NA,
    parameter = function(k) paste("degree", k$degree),
    default = polynomial_kernel,
    c = function(core, w, d) {
      sprintf("pow(%s * inner(x, z, %s, %d) + %s, %s)", c_number(core$scale), w, d,
              c_number(core$offset), c_number(core$degree))
    }
  ),
  sigmoid = kernel_spec(
    "sigmoid",
    formula = function(k) {
      sprintf("tanh(%s <x, z> + %s)", six_digits(k$scale), six_digits(k$offset))
    },
    core = function(k) list(type = "sigmoid", scale = k$scale, offset = k$offset),
    check = function(k) is_finite(k$scale) && is_finite(k$offset),
    definite = function(k) FALSE,
    default = sigmoid_kernel,
    c = function(core, w, d) {
      sprintf("tanh(%s * inner(x, z, %s, %d) + %s)", c_number(core$scale), w, d,
              c_number(core$offset))
    }
  ),
  spline = kernel_spec(
    "spline",
    formula = function(k) "prod(1 + xz + xz m - (x + z) m^2 / 2 + m^3 / 3), m = min(x, z)",
    core = function(k) list(type = "spline"),
    definite = function(k) NA,
    default = spline_kernel, sparse = FALSE,
    c = function(core, w, d) sprintf("spline(x, z, %s, %d)", w, d)
  ),
  `function` = kernel_spec(
    "user function",
    formula = function(k) "f(x, z)",
    check = function(k) is.function(k$f),
    definite = function(k) NA,
    evaluate = function(k, x, z) k$f(x, z), sparse = FALSE
  )
)

kernel_types <- function() kernel_table
