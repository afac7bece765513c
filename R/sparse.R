# Rows that are mostly zero. Whatever class they come in, inside the package they are a list of
# class "kernelect_sparse", which has rows, columns and names like a matrix:
#   start     n + 1 whole numbers: the entries of row i are start[i] + 1 ... start[i + 1]
#   column    of each entry, from 0, ascending within a row, each once
#   value     of each entry
#   size      number of rows and of columns
#   names     list of row and column names
# They are never centred, which would fill them, and never made dense as a whole.

#' Sparse rows
#'
#' A matrix that is mostly zero (words of texts, genes, indicators of many levels) may be given in a
#' sparse form wherever a matrix goes. Use it when the filled matrix would not fit in memory, or
#' would cost time for nothing: work and memory follow the entries that are not zero.
#'
#' @details
#' Taken are the sparse matrices of the Matrix package (`dgCMatrix`, `dgRMatrix`, `dgTMatrix`, their
#' logical and pattern forms, symmetric, triangular, diagonal and permutation matrices, and classes
#' built on them), whose slots are read without that package, and `simple_triplet_matrix` of slam.
#' Entries given twice add up. [gram()], [kernel_basis()], [kernel_pca()], [kernel_lm()],
#' [kernel_lda()], [kernel_takes()], [kernel_tune()], [kernel_fusion()] with a list of kernels and
#' [kernel_rank()] by `"fisher"`, `"rfe"` or `"arom"` take them, and every `predict()`: sparse new
#' rows for a model of a dense matrix, dense ones for a model of a sparse matrix. The linear, RBF,
#' Laplace, polynomial and `tanh` kernels, with weights, and their sums and products do;
#' [spline_kernel()] and [function_kernel()] need filled rows and are refused.
#'
#' `scale = TRUE` divides the columns by their standard deviations (zeros counted, n - 1; 1 for
#' constant columns), and does **not** centre them: that would fill them. So `scaling$center` of
#' such a model is 0. Kernels of distances do not notice; the linear, polynomial and hyperbolic
#' tangent ones do. Apart from that, results are those of the filled matrix up to rounding: with
#' `scale = FALSE` they are the same, row for row.
#'
#' Rows that a model keeps (`vectors`) are a plain matrix up to 131,072 numbers, beyond that a list
#' of class `"kernelect_sparse"`: `start` (the entries of row i are `start[i] + 1` to
#' `start[i + 1]`), `column` (counted from 0), `value`, `size` and `names`; `as.matrix()` fills
#' them.
#' @examples
#' if (requireNamespace("Matrix", quietly = TRUE)) {
#'   words <- Matrix::rsparsematrix(200, 1000, density = 0.01)
#'   kernel_basis(words, linear_kernel(), size = 20)
#' }
#' @family kernels
#' @name sparse
NULL

new_sparse <- function(start, column, value, size, names = list(NULL, NULL)) {
  structure(
    list(start = start, column = column, value = value, size = size, names = names),
    class = "kernelect_sparse"
  )
}

is_sparse <- function(x) inherits(x, "kernelect_sparse")

#' @export
dim.kernelect_sparse <- function(x) x$size

#' @export
dimnames.kernelect_sparse <- function(x) if (any(lengths(x$names) > 0L)) x$names

#' @export
`dimnames<-.kernelect_sparse` <- function(x, value) {
  x$names <- if (is.null(value)) list(NULL, NULL) else value
  x
}

#' @export
`[.kernelect_sparse` <- function(x, i, j, drop = FALSE) {
  if (!missing(i)) x <- sparse_part(x, chosen(i, x$size[1L], x$names[[1L]]))
  if (!missing(j)) x <- sparse_columns(x, chosen(j, x$size[2L], x$names[[2L]]))
  x
}

chosen <- function(i, n, names) if (is.character(i)) match(i, names) else seq_len(n)[i]

sparse_part <- function(x, rows) {
  count <- diff(x$start)[rows]
  at <- sequence(count, from = x$start[rows] + 1L)
  new_sparse(c(0L, cumsum(count)), x$column[at], x$value[at], c(length(rows), x$size[2L]),
             list(x$names[[1L]][rows], x$names[[2L]]))
}

# Distinct columns, in any order.
sparse_columns <- function(x, columns) {
  place <- integer(x$size[2L])
  place[columns] <- seq_along(columns)
  column <- place[x$column + 1L]
  keep <- column > 0L
  sparse_from_entries(row_of_entry(x)[keep] - 1L, column[keep] - 1L, x$value[keep],
                      c(x$size[1L], length(columns)), list(x$names[[1L]], x$names[[2L]][columns]))
}

# The row of each entry, from 1.
row_of_entry <- function(x) rep.int(seq_len(x$size[1L]), diff(x$start))

#' @export
as.matrix.kernelect_sparse <- function(x, ...) {
  check_memory(x$size[1L], x$size[2L], "Keep it sparse.")
  out <- matrix(0, x$size[1L], x$size[2L])
  out[cbind(row_of_entry(x), x$column + 1L)] <- x$value
  dimnames(out) <- dimnames(x)
  out
}

#' @export
rbind.kernelect_sparse <- function(...) {
  parts <- lapply(list(...), as_sparse)
  counts <- unlist(lapply(parts, function(p) diff(p$start)))
  field <- function(name) unlist(lapply(parts, `[[`, name))
  rows <- vapply(parts, nrow, 0L)
  new_sparse(c(0L, cumsum(counts)), field("column"), field("value"),
             c(sum(rows), parts[[1L]]$size[2L]), list(NULL, parts[[1L]]$names[[2L]]))
}

#' @export
print.kernelect_sparse <- function(x, ...) {
  cells <- prod(as.double(x$size))
  cat("<sparse rows> ", x$size[1L], " x ", x$size[2L], ", ", length(x$value), " entries",
      if (cells > 0) sprintf(" (%.3g %%)", 100 * length(x$value) / cells),
      "; `as.matrix()` fills them\n", sep = "")
  invisible(x)
}

# ---- from the classes of others ----------------------------------------------------------------

# Sparse rows from a sparse matrix of the Matrix package, whose slots are read without it, or of
# slam; a matrix from a dense one of Matrix. NULL for what is neither.
from_matrix_class <- function(x, arg = "x") {
  if (is_sparse(x)) return(x)
  parts <- matrix_entries(x)
  if (is.null(parts)) return(dense_slots(x))
  check_entries(parts, arg)
  sparse_from_entries(parts$i, parts$j, parts$value, parts$size, parts$names)
}

is_sparse_class <- function(x) is_sparse(x) || (!is.data.frame(x) && !is.null(matrix_entries(x)))

# The same rows, sparse.
as_sparse <- function(x) {
  if (is_sparse(x)) return(x)
  at <- which(x != 0 | is.na(x), arr.ind = TRUE, useNames = FALSE)
  sparse_from_entries(at[, 1L] - 1L, at[, 2L] - 1L, as.double(x[at]), dim(x),
                      list(rownames(x), colnames(x)))
}

dense_slots <- function(x) {
  size <- slot_of(x, "Dim")
  value <- slot_of(x, "x")
  general <- isS4(x) && length(size) == 2L && length(value) == prod(as.double(size)) &&
    is.null(slot_of(x, "uplo")) && is.null(slot_of(x, "diag"))
  if (!general) return(NULL)
  names <- slot_of(x, "Dimnames")
  matrix(as.double(value), size[1L], size[2L], dimnames = if (any(lengths(names) > 0L)) names)
}

# Row and column (from 0) and value of each entry, as the slots tell, symmetric and triangular
# matrices filled up; NULL where there are no such slots.
matrix_entries <- function(x) {
  if (inherits(x, "simple_triplet_matrix")) {
    names <- if (is.null(x$dimnames)) list(NULL, NULL) else unname(x$dimnames)
    return(list(i = x$i - 1L, j = x$j - 1L, value = as.double(x$v),
                size = c(x$nrow, x$ncol), names = names))
  }
  size <- if (isS4(x)) slot_of(x, "Dim")
  if (length(size) != 2L) return(NULL)
  at <- slot_places(x, size)
  if (is.null(at)) return(NULL)
  value <- slot_of(x, "x")
  unit <- identical(slot_of(x, "diag"), "U") && is.null(slot_of(x, "uplo"))
  at$value <- if (is.null(value) || unit) rep(1, length(at$i)) else as.double(value)
  names <- slot_of(x, "Dimnames")
  if (!is.null(slot_of(x, "uplo"))) {
    at <- filled_up(at, slot_of(x, "diag"), size)
    if (is.null(slot_of(x, "diag"))) names <- names[rep(1L + is.null(names[[1L]]), 2L)]
  }
  c(at, list(size = size, names = if (is.null(names)) list(NULL, NULL) else unname(names)))
}

# NULL where there is none; `attr()` alone would take "perm" for "p".
slot_of <- function(x, name) attr(x, name, exact = TRUE)

# Compressed columns, compressed rows, triplets, a diagonal, a permutation.
slot_places <- function(x, size) {
  p <- slot_of(x, "p")
  i <- slot_of(x, "i")
  j <- slot_of(x, "j")
  if (!is.null(p)) {
    sound <- length(p) == size[1L + is.null(j)] + 1 && p[1L] == 0L && !is.unsorted(p)
    major <- if (isTRUE(sound)) rep.int(seq_along(p[-1L]) - 1L, diff(p)) else integer()
    return(if (is.null(j)) list(i = i, j = major) else list(i = major, j = j))
  }
  if (!is.null(i) && !is.null(j)) return(list(i = i, j = j))
  perm <- slot_of(x, "perm")
  if (is.null(perm) && inherits(x, "diagonalMatrix")) perm <- seq_len(size[1L])
  if (is.null(perm)) return(NULL)
  places <- list(i = seq_along(perm) - 1L, j = as.integer(perm) - 1L)
  if (identical(slot_of(x, "margin"), 2L)) stats::setNames(places[2:1], c("i", "j")) else places
}

# The half of a symmetric matrix that is not stored (it has no slot `diag`), or the ones on the
# diagonal of a triangular one.
filled_up <- function(at, diag, size) {
  if (is.null(diag)) {
    off <- at$i != at$j
    return(list(i = c(at$i, at$j[off]), j = c(at$j, at$i[off]), value = c(at$value, at$value[off])))
  }
  if (diag != "U") return(at)
  own <- seq_len(size[1L]) - 1L
  list(i = c(at$i, own), j = c(at$j, own), value = c(at$value, rep(1, length(own))))
}

check_entries <- function(parts, arg) {
  within <- function(at, most) is.numeric(at) && !anyNA(at) && all(at >= 0 & at < most)
  sound <- is.numeric(parts$size) && !anyNA(parts$size) && within(parts$i, parts$size[1L]) &&
    within(parts$j, parts$size[2L]) && length(parts$i) == length(parts$j) &&
    length(parts$value) == length(parts$i)
  if (!sound) {
    abort("argument", "`", arg, "` is a damaged sparse matrix: its slots do not fit together. ",
          "`validObject()` tells more.")
  }
}

# Entries in any order; those of one place add up, as in triplet matrices.
sparse_from_entries <- function(i, j, value, size, names) {
  # columns in order and rows within them, as most matrices have them: no place comes twice
  tidy <- !is.unsorted(j * as.double(size[1L]) + i, strictly = TRUE)
  order <- if (tidy) order(i, method = "radix") else order(i, j, method = "radix") # stable
  i <- i[order]
  j <- j[order]
  value <- value[order]
  count <- length(i)
  again <- if (!tidy) which(i[-1L] == i[-count] & j[-1L] == j[-count]) + 1L
  if (length(again)) {
    place <- rep.int(1L, count)
    place[again] <- 0L
    value <- as.vector(rowsum(value, cumsum(place), reorder = FALSE))
    i <- i[-again]
    j <- j[-again]
  }
  size <- as.integer(size)
  new_sparse(c(0L, cumsum(tabulate(i + 1L, size[1L]))), as.integer(j), value, size, names)
}

# ---- what is asked of a matrix, dense or sparse --------------------------------------------------

# How many values of each column, or row, have a property.
column_counts <- function(x, has) {
  if (is_sparse(x)) tabulate(x$column[has(x$value)] + 1L, x$size[2L]) else colSums(has(x))
}

row_counts <- function(x, has) {
  if (is_sparse(x)) tabulate(row_of_entry(x)[has(x$value)], x$size[1L]) else rowSums(has(x))
}

# The numbers that are held.
held_values <- function(x) if (is_sparse(x)) x$value else x

# Sums over the entries of each column.
sparse_sums <- function(x, value = x$value) .Call(ffi_sparse_sums, x, as.double(value))

# Means and sums of squared deviations of all columns, zeros included; `weights` of the rows.
sparse_moments <- function(x, weights = NULL) {
  w <- if (is.null(weights)) rep(1, nrow(x)) else weights
  own <- w[row_of_entry(x)]
  mean <- sparse_sums(x, x$value * own) / sum(w)
  here <- sparse_sums(x, own * (x$value - mean[x$column + 1L])^2)
  squares <- here + pmax(sum(w) - sparse_sums(x, own), 0) * mean^2
  squares[sparse_constant(x, own, sum(w > 0))] <- 0
  list(mean = mean, squares = squares)
}

# Columns that hold one value in all rows that count, of which there are `rows`.
sparse_constant <- function(x, own, rows) {
  counts <- own > 0
  column <- x$column[counts] + 1L
  value <- x$value[counts]
  first <- numeric(x$size[2L])
  first[rev(column)] <- rev(value)
  filled <- tabulate(column, x$size[2L])
  same <- tabulate(column[value == first[column]], x$size[2L]) == filled
  same & (filled == rows | first == 0)
}

uncentred_moments <- function(x, weights, divisor) {
  squares <- sparse_moments(x, weights)$squares
  list(center = stats::setNames(numeric(ncol(x)), colnames(x)), spread = sqrt(squares / divisor))
}

# The scaling of sparse rows divides by standard deviations and leaves zeros where they are.
is_uncentred <- function(scaling) is.null(scaling) || all(scaling$center == 0)

scale_sparse <- function(x, scaling) {
  if (is.null(scaling)) return(x)
  if (!is_uncentred(scaling)) return(apply_scaling(as.matrix(x), scaling))
  x$value <- x$value / unname(scaling$scale)[x$column + 1L]
  x
}

# x'a
sparse_crossprod <- function(x, a) {
  row <- row_of_entry(x)
  vapply(seq_len(ncol(a)), function(k) sparse_sums(x, x$value * a[row, k]), numeric(ncol(x)))
}

# For each row, or column, the number of the first that has the same entries.
sparse_copies <- function(x, columns = FALSE) {
  at <- list(row_of_entry(x), x$column + 1L)
  if (columns) at <- rev(at)
  entries <- paste(at[[2L]], sprintf("%a", x$value))
  text <- split(entries, factor(at[[1L]], seq_len(x$size[1L + columns])))
  text <- vapply(text, paste, "", collapse = " ")
  match(text, text)
}

# ---- kernels -------------------------------------------------------------------------------

# Which kernels without parts can do with sparse rows.
sparse_leaves <- function(kernel) unlist(over_leaves(kernel, function(k) spec_of(k)$sparse))

check_sparse_kernel <- function(kernel) {
  if (all(sparse_leaves(kernel))) return(invisible())
  words <- Filter(length, over_leaves(kernel, function(k) if (!spec_of(k)$sparse) leaf_label(k)))
  abort("kernel", "A ", words[[1L]], " needs every column of a row and does not take sparse rows. ",
        "Use another kernel, or `as.matrix()` where the filled matrix fits in memory.")
}

# Distances between all rows, of which there are few.
sparse_distances <- function(x, weights) {
  g <- gram_matrix(x, linear_kernel(weights = weights))
  squares <- diag(g) + rep(diag(g), each = nrow(g)) - 2 * g
  sqrt(pmax(squares[lower.tri(squares)], 0))
}

# ---- in models -----------------------------------------------------------------------------

# Rows that a model keeps: as a plain matrix where that takes no more than a megabyte.
storable <- function(x) {
  if (is_sparse(x) && prod(as.double(dim(x))) <= 2^17) as.matrix(x) else row_numbers(x)
}

# Whether x is sound as `rows` sparse rows of so many columns: the core relies on it.
valid_sparse <- function(x, rows, columns) {
  is_sparse(x) && is.list(x) && identical(as.double(x$size), as.double(c(rows, columns))) &&
    is.integer(x$start) && length(x$start) == rows + 1 && !anyNA(x$start) && x$start[1L] == 0L &&
    !is.unsorted(x$start) && is.integer(x$column) && is.double(x$value) &&
    length(x$column) == x$start[rows + 1] && length(x$value) == length(x$column) &&
    !anyNA(x$column) && all(x$column >= 0L & x$column < columns) && all_finite(x$value) &&
    all(diff(x$column) > 0L | diff(row_of_entry(x)) > 0L)
}
