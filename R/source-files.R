# Sources that read files: CSV in pieces found by looking for the ends of rows, Parquet by row
# groups. A file that changed since it was looked at is refused: what is known of it is wrong.

#' @rdname row_source
#' @export
as_row_source.character <- function(x, rows = NULL, ...) {
  if (length(x) != 1L || is.na(x)) must_be("x", "a single path", x)
  if (!is.null(rows)) rows <- check_whole(rows, "rows", min = 1)
  files <- source_files(x)
  if (all(is_parquet(files))) {
    check_dots(...)
    if (!is.null(rows)) {
      abort("argument", "`rows` is of no use with Parquet files: a chunk is a row group of theirs.")
    }
    return(parquet_source(files))
  }
  csv_source(files, rows, csv_options(files, list(...)))
}

# Tabs between the values of files that end in .tsv.
csv_options <- function(files, options) {
  if (is.null(options$sep) && all(is_ending("tsv", files))) options$sep <- "\t"
  options
}

source_files <- function(path) {
  if (!file.exists(path)) abort("argument", "`x`: there is no file or directory \"", path, "\".")
  if (!dir.exists(path)) return(normalizePath(check_ending(path)))
  files <- list.files(path, full.names = TRUE)
  files <- files[is_ending("csv", files) | is_parquet(files)]
  if (!length(files)) {
    abort("argument", "`x`: the directory \"", path, "\" has no files that end in .csv or ",
          ".parquet (or .csv.gz, .csv.xz).")
  }
  if (length(unique(is_parquet(files))) > 1L) {
    abort("argument", "`x`: the directory \"", path, "\" has CSV and Parquet files: which are ",
          "meant? Give a directory of one kind.")
  }
  normalizePath(sort(files, method = "radix"))
}

# A file of another kind would be taken for text, and its bytes for numbers.
check_ending <- function(path) {
  known <- is_ending("csv|tsv|txt", path) || is_parquet(path)
  if (grepl("[.](bz2|zip|zst|7z|tgz|tar|parquet[.](gz|xz))$", path, ignore.case = TRUE)) {
    abort("argument", "`x`: \"", basename(path), "\" is compressed in a way that is not read here ",
          "(.csv.gz and .csv.xz are). Unpack it first.")
  }
  if (!known) {
    abort("argument", "`x`: \"", basename(path), "\" does not end in .csv, .tsv or .txt (rows of ",
          "text) or .parquet. Rename it if it is one of them, or read other files by ",
          "`row_source()`.")
  }
  path
}

is_parquet <- function(files) grepl("[.]parquet$", files, ignore.case = TRUE)

# Text may be compressed, in ways of which a cut is noticed (not so with bz2).
packed_ending <- "[.](gz|xz)"

is_ending <- function(endings, files) {
  grepl(paste0("[.](", endings, ")(", packed_ending, ")?$"), files, ignore.case = TRUE)
}

file_state <- function(file) file.info(file, extra_cols = FALSE)[c("size", "mtime")]

check_unchanged <- function(file, state) {
  if (!file.exists(file)) abort("source", "The file \"", file, "\" is no longer there.")
  if (!identical(file_state(file), state)) {
    abort("source", "The file \"", file, "\" has changed since the source was made. ",
          "Call `as_row_source()` again.")
  }
}

file_label <- function(files, kind) {
  if (length(files) == 1L) return(paste0(kind, " file \"", basename(files), "\""))
  paste0(length(files), " ", kind, " files")
}

# Reader `read(piece)` of a table of pieces: `file` and what else tells one piece of it.
piece_source <- function(pieces, read, columns, label, slow) {
  new_source(piece_reader(pieces, read), pieces$rows, columns, label, slow)
}

piece_reader <- function(pieces, read) {
  force(read)
  state <- lapply(stats::setNames(nm = unique(pieces$file)), file_state)
  function(i) {
    piece <- pieces[i, ]
    check_unchanged(piece$file, state[[piece$file]])
    read(piece)
  }
}

# ---- CSV --------------------------------------------------------------------------------------

csv_source <- function(files, rows, options) {
  check_csv_options(options)
  headers <- lapply(stats::setNames(nm = files), csv_header, options)
  columns <- headers[[1L]]
  for (file in files) same_columns(columns, headers[[file]], file)
  if (is.null(rows)) rows <- check_chunk_rows(NULL, length(columns))
  pieces <- do.call(rbind, lapply(files, csv_pieces, rows, options))
  check_fields(pieces, headers, options)
  classes <- options$colClasses
  options$colClasses <- NULL
  if (is.null(classes)) classes <- csv_classes(pieces, headers, options)
  reader <- csv_reader(headers, classes, options)
  piece_source(pieces, reader, columns, file_label(files, "CSV"), slow = TRUE)
}

check_csv_options <- function(options) {
  known <- setdiff(names(formals(utils::read.table)), "")
  if (length(options) && !all(names(options) %in% known)) {
    refuse_dots(names(options), length(options), utils::read.table)
  }
  mine <- intersect(names(options), c("file", "text", "nrows", "skip", "row.names", "col.names",
                                      "fileEncoding", "comment.char", "blank.lines.skip"))
  if (length(mine)) {
    abort("argument", backticked(mine), " cannot be given: a source reads all rows of a file as ",
          "it is, in chunks.")
  }
}

# What is compressed cannot be read from the middle. A copy that is not is made once a process, in
# the session's temporary directory.
plain_file <- function(file) {
  if (!grepl(paste0(packed_ending, "$"), file, ignore.case = TRUE)) return(file)
  known <- unpacked_files[[file]]
  state <- file_state(file)
  if (is.null(known) || !identical(known$state, state) || !file.exists(known$copy)) {
    unlink(known$copy)
    known <- list(state = state, copy = unpack_file(file))
    unpacked_files[[file]] <- known
  }
  known$copy
}

unpacked_files <- new.env(parent = emptyenv())

unpack_file <- function(file, block = 2^22) {
  copy <- tempfile("kernelect-unpacked-", fileext = ".csv")
  whole <- FALSE
  on.exit(if (!whole) unlink(copy))
  broken <- function(e) {
    abort("source", "The file \"", file, "\" cannot be unpacked: ", conditionMessage(e), ".")
  }
  tryCatch(copy_unpacked(file, copy, block), error = broken, warning = broken)
  if (grepl("gz$", file, ignore.case = TRUE)) check_gzip_size(file, copy)
  whole <- TRUE
  copy
}

# R says nothing of a gzip file that is cut off. Its last four bytes have the size of what was
# packed (modulo 2^32), the lowest first.
check_gzip_size <- function(file, copy) {
  con <- file(file, "rb")
  on.exit(close(con))
  seek(con, max(0, file.size(file) - 4))
  size <- sum(as.integer(readBin(con, "raw", 4L)) * 256^(0:3))
  if (size == file.size(copy) %% 2^32) return(invisible())
  abort("source", "The file \"", file, "\" cannot be unpacked: it is cut off, or put together of ",
        "several compressed parts. Unpack it first.")
}

copy_unpacked <- function(file, copy, block) {
  from <- gzfile(file, "rb")
  on.exit(close(from))
  to <- file(copy, "wb")
  on.exit(close(to), add = TRUE)
  while (length(now <- readBin(from, "raw", block))) {
    .Call(ffi_check)
    writeBin(now, to)
  }
}

csv_header <- function(file, options) {
  options$colClasses <- NULL
  plain <- plain_file(file)
  first <- tryCatch(
    suppressWarnings(do.call(utils::read.csv, c( # of a last line that has no end
      list(plain, nrows = if (isFALSE(options$header)) 5L else 1L, # as many as it counts fields of
           fileEncoding = if (has_mark(plain)) "UTF-8-BOM" else ""), options
    ))),
    error = function(e) {
      fields <- count_fields(readBin(plain, "raw", 2^16), options)
      if (isTRUE(fields[2L] > fields[1L])) fail_fields(file, 1L, NULL, fields[2L], fields[1L])
      abort("source", "The file \"", file, "\" cannot be read: ", conditionMessage(e), ".")
    }
  )
  names(first)
}

# Some programs begin a file with three bytes that say UTF-8.
has_mark <- function(file) {
  identical(readBin(file, "raw", 3L), as.raw(c(0xef, 0xbb, 0xbf)))
}

same_columns <- function(columns, found, file) {
  if (setequal(columns, found)) return(invisible())
  abort("source", "The file \"", basename(file), "\" has other columns than the first: ",
        backticked(c(setdiff(columns, found), setdiff(found, columns))), ".")
}

# Where every chunk of rows of a file starts and how many bytes it has.
csv_pieces <- function(file, rows, options) {
  quote <- if (is.null(options$quote)) "\"" else substr(options$quote, 1L, 1L)
  plain <- plain_file(file)
  starts <- line_starts(plain, rows, if (isFALSE(options$header)) 0 else 1, quote)
  at <- starts$offset
  if (!length(at)) return(data.frame(file = file, from = 0, bytes = 0, rows = 0))
  if (at[1L] == 0 && has_mark(plain)) at[1L] <- 3
  data.frame(file = file, from = at, bytes = diff(c(at, file.size(plain))),
             rows = pmin(rows, starts$lines - rows * (seq_along(at) - 1)))
}

# The offsets of the lines skip + 1, skip + 1 + rows, ... and the number of lines after `skip`. A
# line ends outside of quotes, and one that is empty is none, as for read.csv().
line_starts <- function(file, rows, skip, quote, block = 2^22) {
  con <- file(file, "rb")
  on.exit(close(con))
  bytes <- lines <- line <- 0 # bytes read, lines that ended, where the line at hand started
  quoted <- FALSE
  offset <- numeric()
  repeat {
    .Call(ffi_check)
    now <- readBin(con, "raw", block)
    if (!length(now)) break
    found <- line_ends(now, quote, quoted)
    from <- c(line, bytes + found$ends)
    filled <- !is_blank(now, found$ends, line - bytes)
    number <- lines + cumsum(filled) - skip
    offset <- c(offset, from[which(filled & number > 0 & (number - 1) %% rows == 0)])
    lines <- lines + sum(filled)
    line <- from[length(from)]
    quoted <- found$quoted
    bytes <- bytes + length(now)
  }
  if (line < bytes) { # no line end after the last row
    lines <- lines + 1
    if (lines > skip && (lines - skip - 1) %% rows == 0) offset <- c(offset, line)
  }
  list(offset = offset, lines = max(0, lines - skip))
}

# Line ends outside of quotes, and whether the last byte is within.
line_ends <- function(bytes, quote, quoted) {
  ends <- which(bytes == as.raw(10L))
  if (!nzchar(quote)) return(list(ends = ends, quoted = FALSE))
  quotes <- which(bytes == charToRaw(quote))
  inside <- (findInterval(ends, quotes) + quoted) %% 2 == 1
  list(ends = ends[!inside], quoted = (length(quotes) + quoted) %% 2 == 1)
}

# Lines with nothing in them but a carriage return; the first starts after byte `from`.
is_blank <- function(bytes, ends, from) {
  length <- diff(c(from, ends)) - 1
  returns <- which(length == 1 & ends > 1)
  length[returns[bytes[ends[returns] - 1L] == as.raw(13L)]] <- 0
  length == 0
}

# A row of too many fields is several rows for read.csv(), unless it is among the first five of what
# it reads: then it is an error, or the first column has names of rows. Here it is an error always,
# as chunks must not matter. A row of too few is filled up, as read.csv() does.
check_fields <- function(pieces, headers, options) {
  for (i in which(pieces$rows > 0)) {
    file <- pieces$file[i]
    fields <- count_fields(piece_bytes(pieces[i, ]), options)
    most <- length(headers[[file]])
    bad <- which(fields > most)[1L]
    if (is.na(bad)) next
    row <- bad + sum(pieces$rows[seq_len(i - 1L)][pieces$file[seq_len(i - 1L)] == file])
    fail_fields(file, row, i, fields[bad], most)
  }
}

fail_fields <- function(file, row, chunk, fields, most) {
  abort("source", "The file \"", file, "\" cannot be read: row ", format(row, scientific = FALSE),
        if (!is.null(chunk)) paste(" (in chunk", chunk, "of the source)"), " has ", fields,
        " fields, and there are ", most, " columns. Text that has the separator in it must be in ",
        "quotes.")
}

# Of every row: one over several lines is counted at its last.
count_fields <- function(bytes, options) {
  .Call(ffi_check)
  con <- rawConnection(bytes)
  on.exit(close(con))
  given <- function(name, default) if (is.null(options[[name]])) default else options[[name]]
  count <- utils::count.fields(con, given("sep", ","), given("quote", "\""), comment.char = "")
  count[!is.na(count)]
}

piece_bytes <- function(piece) {
  con <- file(plain_file(piece$file), "rb")
  on.exit(close(con))
  seek(con, piece$from)
  readBin(con, "raw", piece$bytes)
}

csv_reader <- function(headers, classes, options) {
  force(headers)
  force(classes)
  force(options)
  function(piece) csv_table(piece, headers, classes, options)
}

csv_table <- function(piece, headers, classes, options) {
  names <- headers[[piece$file]]
  text <- rawToChar(piece_bytes(piece))
  options$header <- FALSE
  read <- function(classes) {
    do.call(utils::read.csv, c(list(text = text, col.names = names, colClasses = classes), options))
  }
  frame <- if (is.null(classes)) read(NA) else {
    tryCatch(read(classes), error = function(e) read_quoted(read, classes, names, e))
  }
  names(frame) <- names
  frame[headers[[1L]]]
}

# Numbers in quotes are found by read.csv() only where it is not told to expect them. `failed` is
# the error it stopped with when it was.
read_quoted <- function(read, classes, names, failed) {
  if (!setequal(names(classes), names)) stop(failed)
  plain <- classes[classes %in% c("logical", "integer", "numeric")]
  frame <- stats::setNames(read(replace(classes, names(plain), NA)), names)
  for (name in names(plain)) {
    v <- frame[[name]]
    fits <- all(is.na(v)) || wider_type(class(v)[1L], plain[[name]]) == plain[[name]]
    if (!fits) stop(failed)
    storage.mode(frame[[name]]) <- plain[[name]]
  }
  frame
}

# The type of every column that suits all chunks: read.csv() says it of each. A column of nothing
# but NA is logical, but that says nothing of other chunks.
csv_classes <- function(pieces, headers, options) {
  columns <- headers[[1L]]
  known <- rep("unknown", length(columns))
  for (i in which(pieces$rows > 0)) {
    chunk <- tryCatch(csv_table(pieces[i, ], headers, NULL, options), error = function(e) {
      fail_chunk(i, "cannot be read: ", conditionMessage(e))
    })
    types <- vapply(chunk, function(v) class(v)[1L], "")
    types[types == "logical" & vapply(chunk, function(v) all(is.na(v)), NA)] <- "unknown"
    known <- mapply(wider_type, known, types)
  }
  known[known == "unknown"] <- "logical"
  if (isTRUE(options$stringsAsFactors) && is.null(options$as.is)) {
    known[known == "character"] <- "factor"
  }
  stats::setNames(known, columns)
}

# The type of values of both types: numbers of several kinds are the widest of them, and TRUE beside
# 1 is text, as it is for read.csv() on the whole file.
wider_type <- function(a, b) {
  order <- c("unknown", "logical", "integer", "numeric", "complex", "character", "factor")
  wider <- order[max(match(c(a, b), order))]
  mixed <- "logical" %in% c(a, b) && wider %in% c("integer", "numeric", "complex")
  if (mixed) "character" else wider
}

# ---- Parquet ----------------------------------------------------------------------------------

parquet_source <- function(files) {
  need_package("nanoparquet", "Parquet files")
  parts <- lapply(files, parquet_groups)
  columns <- parts[[1L]]$columns
  for (i in seq_along(files)) same_columns(columns, parts[[i]]$columns, files[i])
  pieces <- do.call(rbind, Map(function(file, part) {
    data.frame(file = rep(file, length(part$rows)), group = seq_along(part$rows), rows = part$rows)
  }, files, parts))
  piece_source(pieces, parquet_read, columns, file_label(files, "Parquet"), slow = FALSE)
}

parquet_groups <- function(file) {
  found <- parquet_call(file, nanoparquet::read_parquet_metadata(file))
  leaves <- is.na(found$schema$num_children) | found$schema$num_children == 0
  list(columns = found$schema$name[leaves], rows = as.double(found$row_groups$num_rows))
}

# The function for a row group is not among those that nanoparquet exports: without it the file is
# read as a whole.
parquet_read <- function(piece) {
  read <- get0("read_parquet_row_group", asNamespace("nanoparquet"))
  plain_frame(parquet_call(piece$file, if (is.null(read)) {
    part_of_file(piece)
  } else {
    read(piece$file, as.integer(piece$group - 1L))
  }))
}

part_of_file <- function(piece) {
  groups <- parquet_groups(piece$file)$rows
  rows <- sum(groups[seq_len(piece$group - 1L)]) + seq_len(groups[piece$group])
  nanoparquet::read_parquet(piece$file)[rows, , drop = FALSE]
}

parquet_call <- function(file, code) {
  tryCatch(code, error = function(e) {
    abort("source", "The file \"", file, "\" cannot be read: ", conditionMessage(e), ".")
  })
}

# A data frame without the class that a reader gave it; whole numbers of 64 bits as doubles.
plain_frame <- function(frame) {
  frame <- as.data.frame(frame)
  class(frame) <- "data.frame"
  long <- vapply(frame, is_integer64, NA)
  frame[long] <- lapply(frame[long], as.numeric)
  attr(frame, "row.names") <- .set_row_names(nrow(frame))
  frame
}
