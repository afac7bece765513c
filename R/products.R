# Rows in pieces of some tens of milliseconds when a row costs `flops`, for loops that an
# interrupt must be able to end.
pieces <- function(n, flops) cut_rows(n, max(1, floor(2^25 / max(flops, 1))))

# Rows in chunks of which one by `width` columns takes some MB, yet enough rows for threads.
row_chunks <- function(n, width) cut_rows(n, max(512, floor(1e6 / max(width, 1))))

cut_rows <- function(n, size) {
  lapply(seq(1, by = size, length.out = ceiling(n / size)), function(i) i:min(i + size - 1, n))
}

zeros <- function(n, m) .Call(ffi_zeros, as.integer(n), as.integer(m))

# a %*% b, tcrossprod(a, b) and crossprod(a), large ones by the core: in pieces, and fast whatever
# the BLAS. A product with few columns takes as long as memory does: an eighth of the work is
# enough there.
product <- function(a, b) {
  if (length(pieces(nrow(a), 8 * ncol(a) * ncol(b))) < 2L) return(a %*% b)
  .Call(ffi_product, a, b)
}

outer_product <- function(a, b = a) {
  if (length(pieces(nrow(a), ncol(a) * nrow(b))) < 2L) return(tcrossprod(a, b))
  .Call(ffi_product, a, t(b))
}

inner_product <- function(a) {
  if (length(pieces(nrow(a), ncol(a)^2)) < 2L) return(crossprod(a))
  out <- .Call(ffi_centred_crossprod, a, FALSE)$crossprod
  if (!is.null(colnames(a))) dimnames(out) <- list(colnames(a), colnames(a))
  out
}
