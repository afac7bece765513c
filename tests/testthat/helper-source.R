# Rows in chunks: a table cut into `count` chunks, and the comparison of models that must be equal.

in_chunks <- function(data, count) {
  rows <- NROW(data)
  as_row_source(data, rows = ceiling(rows / count))
}

# Parts of a model that differ from those of another by more than `tolerance` of their largest
# value, or in anything else; calls and counts of updates are nobody's concern.
unlike <- function(a, b, tolerance = 1e-10, at = "") {
  if (sub(".*/", "", at) %in% c("call", "updates", "source")) return(character())
  if (is.list(a) && is.list(b)) {
    a <- unclass(a)
    b <- unclass(b)
    parts <- union(names(a), names(b))
    return(unlist(lapply(parts, function(p) unlike(a[[p]], b[[p]], tolerance, paste0(at, "/", p)))))
  }
  if (!is.double(a) || !is.double(b)) return(if (!identical(a, b)) paste(at, "differs"))
  if (length(a) != length(b) || !identical(attributes(a), attributes(b))) {
    return(paste(at, "has another shape"))
  }
  off <- max(0, abs(a - b), na.rm = TRUE) / max(abs(b), 1e-3, na.rm = TRUE)
  if (!identical(is.na(a), is.na(b)) || off > tolerance) paste(at, "is off by", format(off))
}

expect_same_model <- function(a, b, tolerance = 1e-10) {
  testthat::expect_identical(class(a), class(b))
  testthat::expect_identical(as.character(unlike(a, b, tolerance)), character())
}

message_of <- function(code) tryCatch({
  code
  "none"
}, error = function(e) paste(class(e)[1L], conditionMessage(e)))

# Files that go with the test that asked for them.
temporary_file <- function(ending, envir = parent.frame()) {
  file <- tempfile(fileext = ending)
  do.call(on.exit, list(call("unlink", file, recursive = TRUE), add = TRUE), envir = envir)
  file
}

temporary_directory <- function(envir = parent.frame()) {
  path <- temporary_file("", envir)
  dir.create(path)
  path
}

written_file <- function(text, envir = parent.frame()) {
  file <- temporary_file(".csv", envir)
  writeBin(charToRaw(text), file)
  file
}

# A source of `chunks` chunks of uneven sizes, ready for the engine.
ready_source <- function(x, chunks) {
  sizes <- diff(round(seq(0, sqrt(nrow(x)), length.out = chunks + 1)^2))
  at <- cumsum(c(0, sizes))
  list(
    read_matrix = function(i) x[at[i] + seq_len(sizes[i]), , drop = FALSE], sizes = sizes,
    width = ncol(x)
  )
}
