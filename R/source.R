#' Rows in chunks, for tables that do not fit in memory
#'
#' A row source says how to read a table a chunk at a time. Use one in place of the data when the
#' table is larger than memory, or lives in files or a database: [kernel_basis()], [kernel_pca()],
#' [kernel_lm()] and [kernel_lda()] fit the same models from it as from the whole table, and
#' `predict(fit, source)` works chunk by chunk.
#'
#' @details
#' `row_source()` takes any function that reads; `as_row_source()` makes a source of
#' * a data frame or a matrix, cut into chunks;
#' * the path of a CSV (.csv, .txt, .tsv with tabs) or Parquet (.parquet) file, or of a directory
#'   of .csv or .parquet files, which are taken in the order of their names. A CSV file is looked
#'   through once to find where rows start and which type every column has (`colClasses` saves half
#'   of that); text that looks like numbers in one chunk and not in another is text. A row of too
#'   few fields is filled up, as by [utils::read.csv()]; one of too many is an error. A compressed
#'   file (.csv.gz, .csv.xz) is unpacked into the session's temporary directory first. A chunk of a
#'   Parquet file is one of its row groups, read by the package nanoparquet: write files in groups
#'   of some 100,000 rows;
#' * a table of a database, by a DBI connection and the name of the table. Rows come in the order
#'   of `order_by`, columns that tell all rows apart; SQLite and DuckDB tables have an order of
#'   their own;
#' * a matrix on disk: a `big.matrix` of the package bigmemory, or a `filematrix`.
#'
#' Fitting reads every chunk several times, so that a source must give the same rows each time:
#' once for means, deviations, levels and missing values, once in every round of the search for a
#' basis, and two or three times for a model. What is read slowly (CSV, databases) is kept as plain
#' numbers in a file of the session's temporary directory after the first time.
#'
#' Factor levels are those of all chunks, in the order that [rbind()] would give them.
#'
#' @param read a function of a chunk's number that gives the chunk, as a matrix or a data frame;
#'   always the same one for a number.
#' @param sizes number of rows of every chunk; chunks may be empty.
#' @param columns names of the columns: others are left out, and a chunk without names gets them.
#'   NULL: those of the first chunk.
#' @param x what rows are read from.
#' @param rows number of rows a chunk; NULL: at most 65,536, fewer of wide tables.
#' @param ... for CSV files passed to [utils::read.csv()], such as `sep`, `dec`, `na.strings` or
#'   `colClasses`.
#' @returns A list of class `"row_source"`: `read`, `sizes`, `columns`, and `label`, what is read in
#'   words.
#' @examples
#' # a function that reads: here it makes up rows
#' made_up <- function(i) data.frame(a = sin(1:50 + i), b = cos(i / 1:50))
#' kernel_basis(row_source(made_up, sizes = rep(50, 4)), size = 5)
#'
#' # a CSV file, 40 rows at a time
#' file <- tempfile(fileext = ".csv")
#' write.csv(iris, file, row.names = FALSE)
#' source <- as_row_source(file, rows = 40)
#' source
#' fit <- kernel_lm(Species ~ ., source, size = 10)
#' predict(fit, source, write = function(i, value) cat("chunk", i, ":", table(value), "\n"))
#' @family row sources
#' @export
row_source <- function(read, sizes, columns = NULL) {
  check_given("read", "sizes")
  check_function(read, "read")
  if (!is.numeric(sizes) || is.object(sizes) || !is.null(dim(sizes)) || !length(sizes)) {
    must_be("sizes", "a vector with the number of rows of every chunk", sizes)
  }
  bad <- which(!is.finite(sizes) | sizes < 0 | sizes != trunc(sizes))
  if (length(bad)) {
    abort("argument", "`sizes` must be whole numbers of at least 0: that of chunk ", bad[1L],
          " is ", format(sizes[bad[1L]]), ".")
  }
  columns <- check_source_columns(columns)
  new_source(read, sizes, columns, "a function")
}

check_source_columns <- function(columns) {
  if (is.null(columns)) return(NULL)
  if (!is.character(columns) || !length(columns) || anyNA(columns) || any(columns == "")) {
    must_be("columns", "NULL or names of columns", columns)
  }
  twice <- unique(columns[duplicated(columns)])
  if (length(twice)) {
    abort("columns", "`columns` must be unique: ", backticked(twice), " occurs more than once.")
  }
  columns
}

# `slow`: what is read is worth keeping as plain numbers.
new_source <- function(read, sizes, columns, label, slow = FALSE) {
  structure(
    list(read = read, sizes = as.double(unname(sizes)), columns = columns, label = label,
         slow = slow),
    class = "row_source"
  )
}

is_source <- function(x) inherits(x, "row_source")

refuse_source <- function(arg) {
  abort("argument", "`", arg, "` is a row source, and all rows are needed here: sources are for ",
        "`kernel_basis()`, `kernel_pca()`, `kernel_lm()`, `kernel_lda()` and `predict()`.")
}

# A source may come from a script that made or changed it.
validate_source <- function(source, arg) {
  sound <- is.list(source) && is.function(source$read) && is.numeric(source$sizes) &&
    length(source$sizes) > 0L && all(is.finite(source$sizes)) && all(source$sizes >= 0) &&
    is_null_or(source$columns, is.character)
  if (!sound) {
    abort("argument", "`", arg, "` is damaged: `read`, `sizes` or `columns` are not those of a ",
          "row source. Make it anew with `row_source()`.")
  }
  source
}

#' @rdname row_source
#' @export
as_row_source <- function(x, ...) {
  check_given("x")
  UseMethod("as_row_source")
}

#' @rdname row_source
#' @export
as_row_source.default <- function(x, ...) {
  must_be("x", paste("a row source, a matrix, a data frame, the path of CSV or Parquet files, a",
                     "DBI connection or a matrix on disk"), x)
}

#' @rdname row_source
#' @export
as_row_source.row_source <- function(x, ...) {
  check_dots(...)
  validate_source(x, "x")
}

#' @rdname row_source
#' @export
as_row_source.data.frame <- function(x, rows = NULL, ...) {
  check_dots(...)
  at <- chunk_starts(nrow(x), check_chunk_rows(rows, ncol(x)))
  if (is.null(frame_row_names(x))) attr(x, "row.names") <- .set_row_names(nrow(x))
  new_source(frame_reader(x, at), at$sizes, names(x), "a data frame")
}

#' @rdname row_source
#' @export
as_row_source.matrix <- function(x, rows = NULL, ...) {
  check_dots(...)
  if (is_kernel_matrix(x)) {
    abort("argument", "`x` is a Gram matrix: a row source has the rows themselves.")
  }
  at <- chunk_starts(nrow(x), check_chunk_rows(rows, ncol(x)))
  new_source(matrix_rows_reader(x, at), at$sizes, colnames(x), "a matrix")
}

# Readers are made where nothing but what they need is seen: they travel to workers.
frame_reader <- function(x, at) {
  force(x)
  force(at)
  plain <- is.null(frame_row_names(x))
  function(i) {
    rows <- chunk_rows(at, i)
    part <- x[rows, , drop = FALSE]
    if (plain) attr(part, "row.names") <- .set_row_names(length(rows))
    part
  }
}

matrix_rows_reader <- function(x, at) {
  force(x)
  force(at)
  function(i) x[chunk_rows(at, i), , drop = FALSE]
}

check_chunk_rows <- function(rows, width) {
  if (!is.null(rows)) return(check_whole(rows, "rows", min = 1))
  max(1024, min(65536, floor(2^22 / max(width, 1))))
}

# n rows cut into chunks of `rows`: where each starts (less one) and its size.
chunk_starts <- function(n, rows) {
  if (n == 0) return(list(before = 0, sizes = 0))
  before <- seq(0, n - 1, by = rows)
  list(before = before, sizes = pmin(rows, n - before))
}

chunk_rows <- function(at, i) at$before[i] + seq_len(at$sizes[i])

#' @export
print.row_source <- function(x, ...) {
  validate_source(x, "x")
  count <- function(v) format(v, big.mark = ",", scientific = FALSE, trim = TRUE)
  chunks <- length(x$sizes)
  cat("<row_source> ", count(sum(x$sizes)), " rows in ", count(chunks), " chunk",
      if (chunks != 1L) "s", " of ", x$label, "\n", sep = "")
  sizes <- count(range(x$sizes))
  cat("rows a chunk: ", sizes[1L], if (sizes[1L] != sizes[2L]) paste0(" to ", sizes[2L]), "\n",
      sep = "")
  if (!is.null(x$columns)) {
    shown <- utils::head(x$columns, 8L)
    cat("columns: ", paste(shown, collapse = " "),
        if (length(x$columns) > 8L) sprintf(" ... (%d)", length(x$columns)), "\n", sep = "")
  }
  invisible(x)
}

# ---- reading ----------------------------------------------------------------------------------

# Chunk i with the rows and columns that the source promises.
source_chunk <- function(source, i) {
  .Call(ffi_check)
  chunk <- tryCatch(source$read(i), error = function(e) {
    if (inherits(e, "kernelect_error")) stop(e)
    fail_chunk(i, "cannot be read: ", conditionMessage(e))
  })
  if (!is.data.frame(chunk) && !is.matrix(chunk)) {
    fail_chunk(i, "must be a matrix or a data frame, not ", describe(chunk))
  }
  if (nrow(chunk) != source$sizes[i]) {
    fail_chunk(i, "has ", nrow(chunk), if (nrow(chunk) == 1L) " row" else " rows",
               ", and `sizes` says ", source$sizes[i])
  }
  with_columns(chunk, source$columns, i)
}

fail_chunk <- function(i, ...) abort("source", "Chunk ", i, " of the source ", ..., ".")

with_columns <- function(chunk, columns, i) {
  if (is.null(columns) || identical(colnames(chunk), columns)) return(chunk)
  if (is.null(colnames(chunk))) {
    if (ncol(chunk) != length(columns)) {
      fail_chunk(i, "has ", ncol(chunk), " columns without names, and there should be ",
                 length(columns))
    }
    colnames(chunk) <- columns
    return(chunk)
  }
  lost <- setdiff(columns, colnames(chunk))
  if (length(lost)) {
    fail_chunk(i, "lacks column", if (length(lost) > 1L) "s", " ", backticked(lost))
  }
  chunk[, columns, drop = FALSE]
}

# Chunks that have rows.
filled_chunks <- function(source) which(source$sizes > 0)
