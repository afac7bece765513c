# Rows in pieces of some tens of milliseconds when a row costs `flops`, for loops that an
# interrupt must be able to end.
pieces <- function(n, flops) cut_rows(n, max(1, floor(2^25 / max(flops, 1))))

# Rows in chunks of which one by `width` columns takes some MB, yet enough rows for threads.
row_chunks <- function(n, width) cut_rows(n, max(512, floor(1e6 / max(width, 1))))

cut_rows <- function(n, size) {
  lapply(seq(1, by = size, length.out = ceiling(n / size)), function(i) i:min(i + size - 1, n))
}

zeros <- function(n, m) .Call(ffi_zeros, as.integer(n), as.integer(m))

# Products and triangular solutions: by the core, in pieces, and fast whatever the BLAS, where they
# are worth its packing. One with few columns takes as long as memory does: an eighth of the work is
# enough there.
is_large_product <- function(n, flops) as.double(n) * flops > 1e6

# a %*% b
product <- function(a, b, threads = 1L) {
  if (!is_large_product(nrow(a), 8 * ncol(a) * ncol(b))) return(a %*% b)
  out <- .Call(ffi_product, a, b, threads)
  names <- list(rownames(a), colnames(b))
  if (any(lengths(names) > 0L)) dimnames(out) <- names
  out
}

outer_product <- function(a, b = a) {
  if (!is_large_product(nrow(a), as.double(ncol(a)) * nrow(b))) return(tcrossprod(a, b))
  .Call(ffi_product, a, t(b), 1L)
}

inner_product <- function(a, threads = 1L) {
  if (!is_large_product(nrow(a), ncol(a)^2)) return(crossprod(a))
  out <- .Call(ffi_centred_crossprod, a, FALSE, threads)$crossprod
  if (!is.null(colnames(a))) dimnames(out) <- list(colnames(a), colnames(a))
  out
}

# r^{-1} b, r upper triangular.
solve_upper <- function(r, b, threads = 1L) {
  if (!is_large_product(ncol(b), 8 * ncol(r)^2)) return(backsolve(r, b))
  .Call(ffi_solve_upper, r, b, threads)
}
