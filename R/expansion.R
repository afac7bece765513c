# A fitted function on the rows of a basis: sum_j dual_j k(v_j, x) + offset, or what it is made of:
# kernel values, coordinates, residuals. New rows are scaled, compared with the kept rows and
# multiplied in the core, tile by tile; models keep `dual` beside the coefficients it comes from.

# What the core is to work out from (centred) kernel values against the rows of a basis: the values
# themselves ("kernel"), coordinates ("orthonormal"), the squared distance to the subspace
# ("residual"), or with `dual` linear functions of the first two, a column each.
expansion <- function(basis, type = "kernel", dual = NULL, offset = NULL, diagonal = NULL) {
  L <- length(basis$index)
  constant <- if (is.null(basis$shift)) 0 else basis$shift[L + 1L]
  list(
    centres = length(basis$center_index),
    column = if (!is.null(basis$shift)) basis$shift[seq_len(L)] - constant, constant = constant,
    factor = if (type != "kernel") basis$cholesky, residual = type == "residual",
    dual = dual, offset = offset, diagonal = diagonal
  )
}

# The answer for all of x: rows that were checked and have no missing values, scaled already where
# `scaling` is NULL, or with a scaling of their own (R/scaled.R); for a basis from a Gram matrix the
# columns that cross_values() finds.
expand_basis <- function(basis, x, what, threads = 1L, scaling = basis$scaling) {
  if (is.null(basis$kernel)) return(expand_values(x, NULL, what, threads))
  if (is_scaled(x)) {
    scaling <- scaling_of(x)
    x <- x$x
  }
  vectors <- basis$vectors
  if (length(basis$center_index)) vectors <- rbind(vectors, basis$center_vectors)
  if (is_sparse(x) || is_sparse(vectors)) {
    return(expand_sparse(basis, vectors, x, what, threads, scaling))
  }
  if (in_r(basis$kernel)) return(expand_by_function(basis, vectors, x, what, scaling))
  kept <- list(
    vectors = vectors, kernel = core_kernel(basis$kernel), shift = kept_shift(basis$vectors),
    center = scaling$center, scale = scaling$scale
  )
  expand_values(x, kept, what, threads)
}

# New rows or kept ones are sparse: then all of them are taken so, unless new rows must be centred
# or the kernel cannot; then they are filled chunk by chunk.
expand_sparse <- function(basis, vectors, x, what, threads, scaling) {
  fill <- !is_uncentred(scaling) || !all(sparse_leaves(basis$kernel))
  kept <- list(
    vectors = if (!fill) as_sparse(vectors), kernel = if (!fill) core_kernel(basis$kernel)
  )
  value <- zeros(nrow(x), expansion_width(basis, what))
  for (rows in row_chunks(nrow(x), if (is_sparse(x) && !fill) 1 else ncol(x))) {
    part <- x[rows, , drop = FALSE]
    value[rows, ] <- if (fill) {
      expand_basis(basis, as.matrix(part), what, threads, scaling)
    } else {
      expand_values(scale_sparse(as_sparse(part), scaling), kept, what, threads)
    }
  }
  value
}

expand_values <- function(x, kept, what, threads) {
  value <- .Call(ffi_expand, x, kept, what, threads)
  if (is_status(value)) raise_status(value)
  value
}

expansion_width <- function(basis, what) {
  if (what$residual) 1L else if (is.null(what$dual)) nrow(basis$vectors) else ncol(what$dual)
}

# A user's function is asked for chunks of values.
expand_by_function <- function(basis, vectors, x, what, scaling) {
  x <- apply_scaling(x, scaling)
  value <- zeros(nrow(x), expansion_width(basis, what))
  for (rows in row_chunks(nrow(x), nrow(vectors))) {
    part <- x[rows, , drop = FALSE]
    if (what$residual) what$diagonal <- kernel_diagonal(basis$kernel, part)
    value[rows, ] <- expand_values(gram_matrix(part, basis$kernel, vectors), NULL, what, 1L)
  }
  value
}

# The same for what a user gives as new data: NA in rows with missing values, rows named.
expand_new <- function(basis, newdata, what, threads) {
  new <- new_rows(basis, newdata)
  value <- expand_complete(basis, new$x, what, threads)
  colnames(value) <- colnames(what$dual)
  fill_rows(value, new$complete, new$rows)
}

# expand_basis() of new rows, which are to blame where numbers end.
expand_complete <- function(basis, x, what, threads) {
  tryCatch(expand_basis(basis, x, what, threads), kernelect_error_not_finite = function(e) {
    raise_status("not_finite", "Kernel values overflow: rows of `newdata` are too large. Leave ",
                 "them out, or give them in the units of the training rows.")
  })
}

# Complete rows of new data as expand_basis() takes them, which rows those are, and all their names.
new_rows <- function(basis, newdata, arg = "newdata") {
  if (is.null(basis$kernel)) return(cross_values(basis, newdata, arg))
  new <- new_matrix(newdata, basis$input, NULL, arg)
  list(x = complete_part(new), complete = new$complete, rows = rownames(new$x))
}

complete_part <- function(new) if (all(new$complete)) new$x else new$x[new$complete, , drop = FALSE]

# The columns of a cross-Gram matrix that belong to the rows of a basis and those of its centre.
cross_values <- function(basis, newdata, arg = "newdata") {
  newdata <- plain_gram(newdata)
  if (!is.matrix(newdata) || !is.numeric(newdata) || is_integer64(newdata)) {
    must_be(arg, "a cross-Gram matrix, new rows by training rows", newdata)
  }
  storage.mode(newdata) <- "double"
  newdata <- kept_columns(newdata, basis$na.action, basis$n)
  complete <- unname(rowSums(is.na(newdata)) == 0)
  if (any(is.infinite(newdata))) abort("not_finite", "`", arg, "` has infinite values.")
  columns <- function(index, names) cross_columns(newdata, index, names, basis$n, arg)
  x <- columns(basis$index, basis$row_names)
  if (length(basis$center_index)) x <- cbind(x, columns(basis$center_index, basis$center_names))
  if (!all(complete)) x <- x[complete, , drop = FALSE]
  list(x = x, complete = complete, rows = rownames(newdata))
}

# All training rows may be there, or the n that were kept.
kept_columns <- function(m, omitted, n) {
  if (length(omitted) && ncol(m) == n + length(omitted)) m[, -omitted, drop = FALSE] else m
}

# Columns of a cross-Gram matrix that belong to training rows `index`: by name where both sides
# have names, else by position.
cross_columns <- function(m, index, names, n, arg) {
  if (!is.null(names) && !is.null(colnames(m))) {
    check_columns(names, colnames(m), arg)
    index <- match(names, colnames(m))
  } else if (ncol(m) != n) {
    abort("columns", "`", arg, "` must have one column per training row (", n, "), not ",
          ncol(m), ".")
  }
  unname(m[, index, drop = FALSE])
}

# ---- dual coefficients ------------------------------------------------------------------------

# Coefficients per basis row (on kernel values) from coefficients per orthonormal coordinate.
dual_coefficients <- function(basis, a, threads = 1L) {
  solve_upper(t(basis$cholesky), a, threads)
}

# What a model keeps of them: with the coefficients `a` they belong to.
kept_dual <- function(basis, a) {
  dual <- dual_coefficients(basis, a)
  colnames(dual) <- colnames(a)
  list(dual = dual, of = a)
}

# Those of a model: as kept, or worked out again where `a` was edited since.
dual_of <- function(kept, basis, a, arg = "object") {
  if (is.list(kept) && identical(kept$of, a) &&
      is_matrix_of(kept$dual, length(basis$index), ncol(a))) {
    return(kept$dual)
  }
  kept_dual(validate_basis(basis, arg), a)$dual
}
