# Chunks of a source as plain numbers: encoded, scaled, complete, and kept in a file where reading
# them is slow.

# What engines and models read: `read_matrix(i)` gives chunk i as numbers, encoded and scaled, of
# `sizes[i]` rows and `width` columns; `n` rows in all. Chunks of which no row stays are left out.
source_matrices <- function(rows, scanned, input, scaling) {
  chunks <- which(scanned$sizes > 0)
  rows$y <- rows$weights <- rows$scope <- NULL # not needed to read predictors, and large
  read <- matrix_reader(rows, chunks, scanned$gone_by_chunk[chunks], input, scaling)
  sizes <- scanned$sizes[chunks]
  if (isTRUE(rows$source$slow)) read <- spooled_reader(read, sizes, input)
  structure(
    list(read_matrix = read, sizes = sizes, width = input$width, n = sum(sizes)),
    class = "kernelect_chunks"
  )
}

is_chunks <- function(x) inherits(x, "kernelect_chunks")

matrix_reader <- function(rows, chunks, gone, input, scaling) {
  force(rows)
  force(chunks)
  force(gone)
  force(input)
  force(scaling)
  function(i) {
    x <- chunk_parts(rows, chunks[i])$x
    if (length(gone[[i]])) x <- x[-gone[[i]], , drop = FALSE]
    x <- new_matrix(x, input, scaling, "x")$x
    if (length(gone[[i]])) rownames(x) <- NULL
    x
  }
}

# Keeps what `read` gives as plain numbers in a file of its own, one a process.
spooled_reader <- function(read, sizes, input) {
  spool <- new.env(parent = emptyenv())
  force(read)
  force(sizes)
  force(input)
  function(i) {
    file <- spool_file(spool, i)
    if (file.exists(file)) return(read_spooled(file, sizes[i], input))
    x <- read(i)
    if (is.null(rownames(x))) write_spooled(x, file)
    x
  }
}

# A spool that came from another process starts anew.
spool_file <- function(spool, i) {
  if (!identical(spool$process, Sys.getpid()) || !dir.exists(spool$path)) {
    spool$process <- Sys.getpid()
    spool$path <- tempfile("kernelect-")
    dir.create(spool$path)
    reg.finalizer(spool, function(e) unlink(e$path, recursive = TRUE), onexit = TRUE)
  }
  file.path(spool$path, i)
}

# Under its name only when it is whole: an interrupt leaves nothing that looks like a chunk.
write_spooled <- function(x, file) {
  part <- paste0(file, "-part")
  writeBin(as.vector(x), part)
  file.rename(part, file)
}

read_spooled <- function(file, rows, input) {
  values <- readBin(file, "double", rows * input$width)
  names <- if (!is.null(input$columns)) list(NULL, input$columns)
  matrix(values, rows, input$width, dimnames = names)
}

# Rows of a matrix or of chunks, by their numbers in increasing order.
rows_at <- function(x, index) {
  if (!is_chunks(x)) return(x[index, , drop = FALSE])
  before <- cumsum(x$sizes) - x$sizes
  owner <- findInterval(index, before + 1)
  parts <- lapply(unique(owner), function(i) {
    x$read_matrix(i)[index[owner == i] - before[i], , drop = FALSE]
  })
  do.call(rbind, parts)
}
