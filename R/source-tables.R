# Sources that read tables of databases and matrices on disk. What cannot travel to a worker, a
# connection or a pointer, is opened there again.

#' @rdname row_source
#' @param table name of the table, a `DBI::Id()`, or a query as `DBI::SQL()`.
#' @param order_by names of columns that together tell all rows apart: rows come in their order.
#'   NULL: the order that SQLite and DuckDB keep; other databases, views and queries have none.
#' @param connect NULL, or a function that opens a connection like `x`, for workers of a cluster;
#'   not needed for SQLite files.
#' @export
as_row_source.DBIConnection <- function(x, table, rows = NULL, order_by = NULL, connect = NULL,
                                        ...) {
  check_dots(...)
  check_given("table")
  need_package("DBI", "Tables of databases")
  if (!is.null(connect)) check_function(connect, "connect")
  from <- table_sql(x, table)
  columns <- names(source_query(x, paste0("SELECT * FROM ", from, " LIMIT 0")))
  order <- order_sql(x, table, order_by, columns)
  n <- as.double(source_query(x, paste0("SELECT COUNT(*) AS n FROM ", from))$n)
  at <- chunk_starts(n, check_chunk_rows(rows, length(columns)))
  query <- paste0("SELECT ", paste(DBI::dbQuoteIdentifier(x, columns), collapse = ", "), " FROM ",
                  from, " ORDER BY ", order)
  if (is.null(connect)) connect <- reconnection(x)
  new_source(table_reader(x, query, at, connect), at$sizes, columns, table_label(x, table),
             slow = TRUE)
}

need_package <- function(package, what) {
  if (is_installed(package)) return(invisible())
  abort("package", what, " are read by the package ", package, ", which is not installed: ",
        "`install.packages(\"", package, "\")`.")
}

table_sql <- function(con, table) {
  if (inherits(table, "SQL")) return(paste0("(", table, ") AS kernelect_rows"))
  if (!inherits(table, "Id") && !is_text(table)) {
    must_be("table", "the name of a table, a `DBI::Id()` or a `DBI::SQL()` query", table)
  }
  as.character(DBI::dbQuoteIdentifier(con, table))
}

table_label <- function(con, table) {
  kind <- sub("Connection$", "", class(con)[1L])
  if (inherits(table, "SQL")) return(paste("a query of", kind))
  paste("the", kind, "table", table_sql(con, table))
}

source_query <- function(con, query) {
  tryCatch(DBI::dbGetQuery(con, query), error = function(e) {
    abort("source", "The database cannot answer: ", conditionMessage(e), ".")
  })
}

# What puts the rows into an order of which there is only one.
order_sql <- function(con, table, order_by, columns) {
  if (is.null(order_by)) return(own_order(con, table))
  if (!is.character(order_by) || !length(order_by) || !all(order_by %in% columns)) {
    must_be("order_by", "NULL or names of columns of the table", order_by)
  }
  keys <- paste(DBI::dbQuoteIdentifier(con, order_by), collapse = ", ")
  all <- source_query(con, paste0("SELECT COUNT(*) AS n FROM ", table_sql(con, table)))$n
  apart <- source_query(con, paste0("SELECT COUNT(*) AS n FROM (SELECT DISTINCT ", keys, " FROM ",
                                    table_sql(con, table), ") AS kernelect_keys"))$n
  if (as.double(all) != as.double(apart)) {
    abort("argument", "`order_by` must tell all rows apart: ", as.double(all), " rows have ",
          as.double(apart), " different values of ", backticked(order_by), ".")
  }
  keys
}

own_order <- function(con, table) {
  keeps <- inherits(con, c("SQLiteConnection", "duckdb_connection")) && !inherits(table, "SQL")
  known <- keeps && !is.null(tryCatch(
    DBI::dbGetQuery(con, paste0("SELECT rowid FROM ", table_sql(con, table), " LIMIT 0")),
    error = function(e) NULL
  ))
  if (!known) {
    abort("argument", "`order_by` is missing: rows of this table have no order of their own. Give ",
          "columns that tell all rows apart.")
  }
  "rowid"
}

table_reader <- function(con, query, at, connect) {
  force(con)
  force(query)
  force(at)
  force(connect)
  function(i) {
    if (!connection_lives(con)) {
      con <- open_again(connect)
      on.exit(DBI::dbDisconnect(con))
    }
    plain_frame(DBI::dbGetQuery(con, sprintf(
      "%s LIMIT %.0f OFFSET %.0f", query, at$sizes[i], at$before[i]
    )))
  }
}

connection_lives <- function(con) {
  tryCatch(isTRUE(DBI::dbIsValid(con)), error = function(e) FALSE)
}

open_again <- function(connect) {
  if (is.null(connect)) {
    abort("source", "The connection to the database is closed, and there is no `connect` to open ",
          "another: give `as_row_source()` one.")
  }
  connect()
}

# A file of SQLite can be opened anywhere.
reconnection <- function(con) {
  if (!inherits(con, "SQLiteConnection") || !nzchar(con@dbname) || con@dbname == ":memory:") {
    return(NULL)
  }
  sqlite_opener(normalizePath(con@dbname, mustWork = FALSE))
}

sqlite_opener <- function(file) {
  force(file)
  function() DBI::dbConnect(RSQLite::SQLite(), file, flags = RSQLite::SQLITE_RO)
}

# ---- matrices on disk -------------------------------------------------------------------------

#' @rdname row_source
#' @export
as_row_source.big.matrix <- function(x, rows = NULL, ...) {
  check_dots(...)
  need_package("bigmemory", "Objects of class `big.matrix`")
  at <- chunk_starts(nrow(x), check_chunk_rows(rows, ncol(x)))
  new_source(big_reader(x, bigmemory::describe(x), at), at$sizes, colnames(x), "a big.matrix")
}

big_reader <- function(x, description, at) {
  force(x)
  force(description)
  force(at)
  function(i) {
    if (bigmemory::is.nil(x@address)) x <<- bigmemory::attach.big.matrix(description)
    x[chunk_rows(at, i), , drop = FALSE]
  }
}

#' @rdname row_source
#' @export
as_row_source.filematrix <- function(x, rows = NULL, ...) {
  check_dots(...)
  need_package("filematrix", "Objects of class `filematrix`")
  at <- chunk_starts(nrow(x), check_chunk_rows(rows, ncol(x)))
  names <- filematrix::colnames(x)
  flush(getConnection(as.integer(x$fid[[1L]]))) # it is read by its file from here on
  base <- sub("[.]bmat$", "", normalizePath(x$data.filename))
  new_source(filematrix_reader(base, ncol(x), at), at$sizes, if (length(names)) names,
             "a filematrix")
}

# Opened for every chunk: then nothing is held open, here or on a worker.
filematrix_reader <- function(base, width, at) {
  force(base)
  force(width)
  force(at)
  function(i) {
    x <- filematrix::fm.open(base, readonly = TRUE)
    on.exit(filematrix::close(x))
    matrix(as.double(x[chunk_rows(at, i), ]), ncol = width)
  }
}
