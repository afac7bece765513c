# Rows that are scaled where they are used. A list of class "kernelect_scaled" stands for the
# numbers (x - center) / scale and has rows, columns and names like a matrix: the core works the
# numbers out while it packs rows (ffi_rows_for() in src/ffi_kernel.c), so that a scaled copy of
# all of x is never held. A part of it, and as.matrix(), are plain numbers.

scaled_rows <- function(x, scaling) {
  if (is.null(scaling) || is_sparse(x)) return(apply_scaling(x, scaling))
  structure(list(x = x, center = scaling$center, scale = scaling$scale), class = "kernelect_scaled")
}

is_scaled <- function(x) inherits(x, "kernelect_scaled")

#' @export
dim.kernelect_scaled <- function(x) dim(x$x)

#' @export
dimnames.kernelect_scaled <- function(x) dimnames(x$x)

#' @export
`[.kernelect_scaled` <- function(x, i, j, drop = TRUE) {
  if (missing(i)) i <- TRUE
  if (missing(j)) j <- TRUE else if (is.character(j)) j <- match(j, colnames(x$x))
  part <- apply_scaling(x$x[i, j, drop = FALSE], list(center = x$center[j], scale = x$scale[j]))
  if (drop) part[, , drop = TRUE] else part
}

#' @export
as.matrix.kernelect_scaled <- function(x, ...) apply_scaling(x$x, scaling_of(x))

scaling_of <- function(x) list(center = x$center, scale = x$scale)

# The numbers of rows in any form; sparse rows stay sparse.
row_numbers <- function(x) if (is_scaled(x)) as.matrix(x) else x

# A number for each column: f(x), from a few columns at a time where they must be worked out.
for_columns <- function(x, f) {
  if (!is_scaled(x)) return(f(x))
  some <- cut_rows(ncol(x), max(1, floor(1e6 / nrow(x))))
  unlist(lapply(some, function(j) f(x[, j, drop = FALSE])))
}
