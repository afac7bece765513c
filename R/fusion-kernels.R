# What kernel_fusion() fuses: columns, kernels on columns, or Gram matrices, brought into one form.

#' Kernels for some columns, and for noise
#'
#' Use `kernel_on()` when a kernel is to see a block of the columns only, and `noise_kernel()`
#' when each row has its own error, whose size [kernel_fusion()] shall learn: its Gram matrix is
#' the identity on the training rows and zero between those and new rows.
#'
#' @param kernel a kernel, see [kernels].
#' @param columns names or numbers of columns; the name of a factor stands for all its
#'   indicator columns.
#' @returns An object for the list `kernels` of [kernel_fusion()]: of class `"kernelect_block"`
#'   (a list of `kernel` and `columns`) or `"kernelect_noise"`.
#' @examples
#' blocks <- list(
#'   sepal = kernel_on(rbf_kernel(), c("Sepal.Length", "Sepal.Width")),
#'   petal = kernel_on(linear_kernel(), 3:4),
#'   noise = noise_kernel()
#' )
#' blocks$petal
#' kernel_fusion(iris[1:4], as.numeric(iris$Species), kernels = blocks, noise = 0)
#' @family fusion
#' @export
kernel_on <- function(kernel, columns) {
  if (missing(kernel)) abort("argument", "`kernel` is missing: a kernel such as `rbf_kernel()`.")
  if (missing(columns)) abort("argument", "`columns` is missing: names or numbers of columns.")
  good <- (is.character(columns) || is.numeric(columns)) && length(columns) > 0L &&
    !anyNA(columns) && !anyDuplicated(columns) &&
    (is.character(columns) || all(columns >= 1 & columns == trunc(columns)))
  if (!good) must_be("columns", "names or numbers of columns, each once", columns)
  structure(list(kernel = as_kernel(kernel), columns = columns), class = "kernelect_block")
}

#' @rdname kernel_on
#' @export
noise_kernel <- function() structure(list(type = "noise"), class = "kernelect_noise")

#' @export
print.kernelect_block <- function(x, ...) {
  cat("<", kernel_label(x$kernel), "> on ", column_words(x$columns), "\n", sep = "")
  invisible(x)
}

column_words <- function(columns) {
  paste0(if (is.numeric(columns)) "columns ", paste(utils::head(columns, 6L), collapse = ", "),
         if (length(columns) > 6L) sprintf(", ... (%d)", length(columns)))
}

#' @export
print.kernelect_noise <- function(x, ...) {
  cat("<noise kernel>\nk(x, z) = 1 if x and z are the same training row, else 0\n")
  invisible(x)
}

is_noise <- function(kernel) inherits(kernel, "kernelect_noise")

# A set is what the iteration sees: n, names, mean_diagonal and either `x`, whose columns are
# kernels of rank one, or `grams`; `kernels` is what prediction needs of them.
kernel_set <- function(kernels, data, threads, basis = NULL) {
  if (is.null(kernels)) return(column_set(data$x, data$weights))
  if (inherits(kernels, c("kernelect_kernel", "kernelect_block", "kernelect_noise"))) {
    kernels <- list(kernels)
  }
  if (is.character(kernels)) kernels <- as.list(kernels)
  if (!is.list(kernels) || is.data.frame(kernels) || !length(kernels)) {
    must_be("kernels", "NULL, a list of kernels, or (with `x` missing) a list of Gram matrices",
            kernels)
  }
  check_joined(kernels)
  if (any(vapply(kernels, is.matrix, NA))) {
    abort("argument", "Gram matrices in `kernels` need `x` to be missing: ",
          "`kernel_fusion(y = y, kernels = ...)`.")
  }
  specs <- Map(resolve_block, unname(kernels), sprintf("kernels[[%d]]", seq_along(kernels)),
               MoreArgs = list(data))
  names(specs) <- kernel_names(kernels, vapply(specs, block_name, ""))
  if (!is.null(basis)) return(factor_set(specs, data, basis, threads))
  always <- is.numeric(data$y) || own_diagonal(specs, data$weights)
  if (!holds_matrices(nrow(data$x), specs, always)) return(row_set(specs, data, threads))
  check_fusion_memory(nrow(data$x), length(specs), is.numeric(data$y))
  grams <- lapply(specs, block_gram, data$x, threads, data$weights)
  for (name in names(grams)[!vapply(specs, is_safe, NA)]) check_definite(grams[[name]], name)
  gram_list_set(grams, specs, rownames(data$x), data$weights)
}

# c() takes kernels and blocks apart into one list of their fields.
check_joined <- function(kernels) {
  holds <- function(...) all(c(...) %in% names(kernels))
  if ((holds("type", "weights") || holds("kernel", "columns")) &&
      !all(vapply(kernels, is.object, NA))) {
    abort("argument", "`kernels` must be a list of kernels, not kernels joined by `c()`, which ",
          "takes them apart: use `list(rbf_kernel(), linear_kernel())`.")
  }
}

column_set <- function(x, cases) {
  if (is_sparse(x)) {
    abort("argument", "A kernel of each column needs all of them filled, and `x` is sparse. Give ",
          "`kernels`, such as `list(linear_kernel(), rbf_kernel())`, or a dense `x`.")
  }
  names <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x))) else colnames(x)
  check_kernel_scale(list(
    n = nrow(x), names = names, rows = rownames(x), x = row_numbers(x), cases = cases,
    mean_diagonal = for_columns(x, function(part) weighted_means(part^2, cases))
  ))
}

# Kernels on rows whose matrices are not held: the machines make columns as they need them. One that
# may be indefinite is judged by some of its rows: where these are, all are.
row_set <- function(specs, data, threads) {
  some <- data$x[evenly_spaced(nrow(data$x), 1000L), , drop = FALSE]
  for (name in names(specs)[!vapply(specs, is_safe, NA)]) {
    check_definite(block_gram(specs[[name]], some, threads), name)
  }
  diagonals <- vapply(specs, function(spec) {
    if (is_noise(spec)) return(rep(1, nrow(data$x)))
    kernel_diagonal(spec$kernel, data$x[, spec$columns, drop = FALSE])
  }, numeric(nrow(data$x)), USE.NAMES = FALSE)
  check_kernel_scale(list(
    n = nrow(data$x), names = names(specs), rows = rownames(data$x), data = data$x, kernels = specs,
    mean_diagonal = weighted_means(diagonals, data$weights), cases = data$weights
  ))
}

# Whether n x n matrices are worth their memory: by default half a gigabyte for all of them and
# their sum. A system of equations has no other way (`always`), nor has a user's function, which is
# slow.
holds_matrices <- function(n, specs, always) {
  limit <- check_number(getOption("kernelect.held", 5e8), "option kernelect.held", min = 0)
  needed <- 8 * as.double(n)^2 * (length(specs) + 1)
  always || needed <= limit ||
    any(vapply(specs, function(spec) !is_noise(spec) && in_r(spec$kernel), NA))
}

gram_list_set <- function(grams, specs, rows, cases) {
  diagonals <- vapply(grams, diag, numeric(nrow(grams[[1L]])), USE.NAMES = FALSE)
  diagonals <- matrix(diagonals, nrow(grams[[1L]]))
  diagonals[, vapply(specs, is_noise, NA)] <- 1 # of every row that is repeated
  check_kernel_scale(list(
    n = nrow(grams[[1L]]), names = names(grams), rows = rows, grams = grams, kernels = specs,
    mean_diagonal = weighted_means(diagonals, cases), cases = cases
  ))
}

# Means of columns over the cases.
weighted_means <- function(m, cases) {
  unname(if (is.null(cases)) colMeans(m) else colSums(cases * m) / sum(cases))
}

# What fusing takes at its peak: the matrices, their sum, and where a system is solved that system
# and its factor.
check_fusion_memory <- function(n, kernels, regression) {
  check_memory(n, n, gram_remedy, count = kernels + if (regression) 3 else 1)
}

check_kernel_scale <- function(set) {
  if (!all_finite(set$mean_diagonal)) fail_overflow()
  if (all(set$mean_diagonal <= 0)) {
    abort("data", "Every kernel is zero on the rows of `x`: constant columns cannot be fused.")
  }
  extreme <- set$mean_diagonal > 0 & (set$mean_diagonal < 1e-140 | set$mean_diagonal > 1e140)
  if (any(extreme)) {
    abort("not_finite", "Kernel `", set$names[extreme][1L], "` has a mean diagonal of ",
          format(set$mean_diagonal[extreme][1L], digits = 3),
          ", whose square is no number: divide it by a constant first.")
  }
  set
}

kernel_names <- function(kernels, defaults) {
  given <- names(kernels)
  if (is.null(given)) return(make.unique(defaults, sep = ""))
  given[is.na(given) | given == ""] <- defaults[is.na(given) | given == ""]
  if (anyDuplicated(given)) {
    abort("argument", "Names of `kernels` must be unique: ",
          backticked(unique(given[duplicated(given)])), " occurs more than once.")
  }
  given
}

block_name <- function(spec) if (is_noise(spec)) "noise" else kernel_name(spec$kernel)

# A kernel of the list in words, as it was given.
block_label <- function(kernel) {
  if (is_noise(kernel)) return("noise")
  if (!inherits(kernel, "kernelect_block")) return(kernel_label(as_kernel(kernel)))
  paste(kernel_label(kernel$kernel), "on", column_words(kernel$columns))
}

# A kernel of the list with its column numbers and its own numbers worked out.
resolve_block <- function(kernel, arg, data) {
  if (is_noise(kernel)) return(kernel)
  if (!inherits(kernel, "kernelect_block")) {
    kernel <- structure(list(kernel = kernel_from(kernel, arg)), class = "kernelect_block")
  }
  at <- block_columns(kernel$columns, data$x, data$input)
  kernel$kernel <- resolve_for_cases(kernel$kernel, data$x[, at, drop = FALSE], data$weights)
  kernel$columns <- if (is.null(colnames(data$x))) at else colnames(data$x)[at]
  kernel
}

# The numbers of a kernel as repeated rows would give them, and by these rows where that is no more
# than a million (both ways give the same mean). Weights that are no numbers of rows
# count by the mean spread; a median is then that of the rows of positive weight.
resolve_for_cases <- function(kernel, x, cases) {
  if (is.null(cases)) return(resolve_kernel(kernel, x))
  if (counts_rows(cases)) {
    return(resolve_kernel(kernel, x[rep(seq_len(nrow(x)), cases), , drop = FALSE]))
  }
  kernel <- as_kernel(kernel)
  if (identical(kernel$sigma, "mean")) {
    scale <- match_weights(kernel$weights, x)
    spread <- weighted_variance(x, cases) * (if (is.null(scale)) 1 else scale^2)
    factor <- if (is.null(kernel$factor)) 1 else kernel$factor
    if (sum(spread) > 0) kernel <- with_sigma(kernel, sqrt(sum(spread)) * factor)
  }
  resolve_kernel(kernel, x[cases > 0, , drop = FALSE])
}

counts_rows <- function(cases) all(cases == trunc(cases)) && sum(cases) <= 1e6

weighted_variance <- function(x, cases) {
  if (is_sparse(x)) return(sparse_moments(x, cases)$squares / sum(cases))
  for_columns(x, function(part) {
    weighted_means((part - rep(weighted_means(part, cases), each = nrow(part)))^2, cases)
  })
}

block_columns <- function(columns, x, input) {
  if (is.null(columns)) return(seq_len(ncol(x)))
  if (is.character(columns)) {
    levels <- input$levels
    at <- lapply(columns, function(name) {
      if (!name %in% colnames(x)) name <- indicator_names(name, levels[[name]], colnames(x))
      match(name, colnames(x))
    })
    unknown <- columns[vapply(at, function(i) !length(i) || anyNA(i), NA)]
    if (length(unknown)) {
      abort("columns", "`columns` of `kernel_on()` names ", backticked(unknown),
            ", which `x` does not have.")
    }
    return(unique(unlist(at)))
  }
  if (any(columns > ncol(x))) {
    abort("columns", "`columns` of `kernel_on()` must be at most ", ncol(x),
          ", the number of columns, not ", max(columns), ".")
  }
  as.integer(columns)
}

# Indicator columns of a factor, however data.R set off the level.
indicator_names <- function(name, levels, columns) {
  if (!length(levels)) return(NA_character_)
  plain <- paste0(name, levels)
  if (all(plain %in% columns)) plain else paste0(name, "=", levels)
}

block_gram <- function(spec, x, threads, cases = NULL) {
  if (is_noise(spec)) return(noise_gram(nrow(x), cases))
  gram_matrix(x[, spec$columns, drop = FALSE], spec$kernel, NULL, threads)
}

# Every repetition of a row has noise of its own, of which a weighted row has the mean.
noise_gram <- function(n, cases) {
  diag(if (is.null(cases)) rep(1, n) else ifelse(cases > 0, 1 / cases, 1), n)
}

own_diagonal <- function(specs, cases) !is.null(cases) && any(vapply(specs, is_noise, NA))

# Kernels that are positive semi-definite by construction.
is_safe <- function(spec) is_noise(spec) || isTRUE(is_definite(spec$kernel))

# The list of Gram matrices with their names, `noise` kernels among them, and the response and case
# weights, all without the rows that go for missing values.
gram_cases <- function(kernels, y, weights, na_action) {
  na_action <- check_choice(na_action, "na_action", na_actions)
  if (!is.list(kernels) || is.data.frame(kernels) || !length(kernels)) {
    abort("argument", "Give `x`, or `kernels` as a named list of Gram matrices, not ",
          describe(kernels), ".")
  }
  noise <- vapply(kernels, is_noise, NA)
  if (all(noise)) abort("argument", "`kernels` must hold at least one Gram matrix.")
  names(kernels) <- kernel_names(kernels, ifelse(noise, "noise", paste0("K", seq_along(kernels))))
  grams <- kernels[!noise]
  grams[] <- Map(check_square, grams, paste0("kernels$", names(grams)))
  check_equal_sizes(grams)
  rows <- common_row_names(grams)
  n <- nrow(grams[[1L]])
  y <- check_gram_response(y, n)
  weights <- check_case_weights(weights, n, "kernels")
  kept <- complete_gram_rows(grams, y, na_action)
  if (!is.null(kept)) {
    grams[] <- lapply(grams, function(K) K[kept, kept, drop = FALSE])
    weights <- check_case_weights(weights[kept], length(kept), "kernels")
  }
  grams[] <- Map(check_gram, grams, paste0("kernels$", names(grams)), na_action == "fail")
  kernels[!noise] <- lapply(grams, unname)
  y <- take_rows(y, kept)
  check_finite_response(y)
  list(
    kernels = kernels, noise = noise, y = y, weights = weights, rows = take_rows(rows, kept),
    na.action = omitted_rows(kept, matrix(0, n, 0L, dimnames = list(rows, NULL)), na_action)
  )
}

gram_set <- function(cases, regression = FALSE) {
  grams <- cases$kernels
  noise <- cases$noise
  for (name in names(grams)[!noise]) check_definite(grams[[name]], name)
  n <- nrow(grams[!noise][[1L]])
  check_fusion_memory(n, sum(noise), regression)
  grams[noise] <- list(noise_gram(n, cases$weights))
  specs <- lapply(noise, function(is) if (is) noise_kernel() else "gram")
  gram_list_set(grams, specs, cases$rows, cases$weights)
}

# Row names of the Gram matrices, or NULL: those that have names must agree.
common_row_names <- function(grams) {
  names <- Filter(Negate(is.null), lapply(grams, rownames))
  other <- which(!vapply(names, identical, NA, names[1L][[1L]]))
  if (length(other)) {
    abort("argument", "Gram matrices must have the same rows in the same order: those of `",
          names(names)[1L], "` and `", names(names)[other[1L]], "` are named differently.")
  }
  if (length(names)) names[[1L]]
}

check_equal_sizes <- function(grams) {
  sizes <- vapply(grams, nrow, 0L)
  other <- which(sizes != sizes[1L])
  if (length(other)) {
    abort("argument", "Gram matrices must all have the same size: `", names(grams)[1L], "` is ",
          sizes[1L], " x ", sizes[1L],
          ", `", names(grams)[other[1L]], "` is ", sizes[other[1L]], " x ", sizes[other[1L]], ".")
  }
}

check_gram_response <- function(y, n) {
  if (NROW(y) != n) {
    abort("argument", "`y` must have one value per row of the Gram matrices (", n, "), not ",
          NROW(y), ".")
  }
  check_response(y, n)
  plain_response(y)
}

# Rounding leaves eigenvalues of some eps below zero; more than 1e-8 of the largest is no rounding.
check_definite <- function(K, name) {
  ends <- eigenvalue_range(K)
  if (ends[1L] >= -1e-8 * max(abs(ends))) return(invisible())
  abort("indefinite", "Kernel `", name,
        "` is not positive semi-definite: its most negative eigenvalue is ",
        format(ends[1L], digits = 4), " (largest ", format(ends[2L], digits = 4), "). ",
        "Use a positive semi-definite kernel, or add a constant to its diagonal.")
}
