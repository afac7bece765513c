# What is read: every kind of source gives back the rows it was made of, and bad ones are refused.

whole <- function(source) do.call(rbind, lapply(seq_along(source$sizes), source$read))

test_that("a source needs something to read", {
  expect_error(row_source(), "`read` is missing", class = "kernelect_error_argument")
  expect_error(row_source(identity), "`sizes` is missing", class = "kernelect_error_argument")
  expect_error(as_row_source(), "`x` is missing", class = "kernelect_error_argument")
})

test_that("data frames and matrices are cut into chunks", {
  for (rows in c(1, 7, 149, 150, 1000)) {
    source <- as_row_source(iris, rows = rows)
    expect_s3_class(source, "row_source")
    expect_identical(sum(source$sizes), 150)
    expect_identical(whole(source), iris)
  }
  m <- as.matrix(iris[1:4])
  expect_identical(whole(as_row_source(m, rows = 40)), m)
  expect_identical(whole(as_row_source(unname(m), rows = 40)), unname(m))
  expect_identical(as_row_source(as_row_source(m)), as_row_source(m))
  expect_identical(as_row_source(matrix(0, 200000, 2))$sizes, c(65536, 65536, 65536, 3392))
})

test_that("row names of one's own stay, and numbers do not become names", {
  expect_identical(whole(as_row_source(mtcars, rows = 10)), mtcars)
  part <- as_row_source(iris[51:100, ], rows = 20)
  expect_identical(row.names(part$read(2)), as.character(71:90))
  expect_identical(.row_names_info(as_row_source(iris, rows = 50)$read(2)), -50L)
})

test_that("a source prints what it is", {
  expect_snapshot({
    as_row_source(iris, rows = 40)
    row_source(function(i) matrix(0, 2, 2), c(2, 2))
    as_row_source(matrix(0, 3, 20, dimnames = list(NULL, paste0("c", 1:20))))
  })
})

test_that("arguments of a source are checked", {
  expect_snapshot(error = TRUE, row_source("x", 3))
  expect_snapshot(error = TRUE, row_source(identity, "3"))
  expect_snapshot(error = TRUE, row_source(identity, c(3, -1)))
  expect_snapshot(error = TRUE, row_source(identity, c(3, 2.5)))
  expect_snapshot(error = TRUE, row_source(identity, 3, columns = 1))
  expect_snapshot(error = TRUE, row_source(identity, 3, columns = c("a", "a")))
  expect_snapshot(error = TRUE, as_row_source(1:3))
  expect_snapshot(error = TRUE, as_row_source(iris, rows = 0))
  expect_snapshot(error = TRUE, as_row_source(iris, size = 3))
  damaged <- as_row_source(iris)
  damaged$sizes <- "a"
  expect_error(print(damaged), class = "kernelect_error_argument")
  expect_error(kernel_basis(damaged), class = "kernelect_error_argument")
})

test_that("a chunk that is not what the source says is named", {
  bad <- function(read, sizes = c(3, 3), ...) {
    kernel_basis(row_source(function(i) read(i), sizes, ...), linear_kernel())
  }
  frame <- function(...) data.frame(...)
  expect_snapshot(error = TRUE, bad(function(i) matrix(as.double(1:6), 3), c(3, 4)))
  expect_snapshot(error = TRUE, bad(function(i) if (i == 1) matrix(as.double(1:6), 3) else 1:3))
  expect_snapshot(error = TRUE, bad(function(i) if (i == 1) diag(3) else stop("no disk")))
  expect_snapshot(error = TRUE, bad(function(i) {
    if (i == 1) frame(a = 1:3, b = 3:1) else frame(a = 1:3, c = 3:1)
  }))
  expect_snapshot(error = TRUE, bad(function(i) if (i == 1) diag(3) else diag(3)[, 1:2]))
  expect_snapshot(error = TRUE, bad(function(i) {
    if (i == 1) frame(a = c(1, 2, 4)) else frame(a = c("1", "2", "4"))
  }))
  expect_snapshot(error = TRUE, bad(function(i) {
    if (i == 1) frame(a = c(1, 2, 4)) else matrix(1:3, 3, 1, dimnames = list(NULL, "a"))
  }))
  expect_snapshot(error = TRUE, bad(function(i) frame(a = 1:3, b = c(1, 5, 2)), columns = "d"))
  expect_snapshot(error = TRUE, bad(function(i) diag(3), columns = c("a", "b")))
  expect_snapshot(error = TRUE, bad(function(i) diag(3), c(0, 0)))
})

test_that("columns are found by name, left out and named as the source says", {
  read <- function(i) {
    if (i == 1) data.frame(a = 1:3, b = c(5, 1, 2)) else data.frame(b = 4:6, a = 9)
  }
  both <- data.frame(a = c(1:3, 9, 9, 9), b = c(5, 1, 2, 4:6))
  expect_same_model(kernel_basis(row_source(read, c(3, 3))), kernel_basis(both))
  expect_same_model(kernel_basis(row_source(read, c(3, 3), "b")), kernel_basis(both["b"]))
  unnamed <- function(i) unname(as.matrix(both))[3 * i - 2:0, ]
  expect_same_model(kernel_basis(row_source(unnamed, c(3, 3), c("a", "b"))),
                    kernel_basis(as.matrix(both)))
})

test_that("empty chunks are no chunks", {
  m <- as.matrix(iris[1:4])
  read <- function(i) m[list(1:50, 0, 51:149, 0, 150)[[i]], , drop = FALSE]
  source <- row_source(read, c(50, 0, 99, 0, 1))
  expect_same_model(kernel_basis(source), kernel_basis(m))
  fit <- kernel_lm(m[, -1], m[, 1])
  expect_equal(unname(predict(fit, source)), unname(predict(fit, m)), tolerance = 1e-14)
})

test_that("tables without rows are sources without rows, which models refuse", {
  expect_identical(as_row_source(iris[0, ])$sizes, 0)
  expect_identical(whole(as_row_source(iris[0, ])), iris[0, ])
  expect_error(kernel_basis(as_row_source(iris[0, 1:4])), "`x` has no rows",
               class = "kernelect_error_data")
  expect_error(kernel_lm(Species ~ ., as_row_source(iris[0, ])), "`data` has no rows",
               class = "kernelect_error_data")
})

test_that("a Gram matrix is no source", {
  K <- structure(diag(3), class = c("kernelMatrix", "matrix"))
  expect_error(as_row_source(K), "`x` is a Gram matrix", class = "kernelect_error_argument")
})

# ---- files --------------------------------------------------------------------------------------

test_that("a CSV file in chunks is what read.csv() gives, whatever the text", {
  data <- data.frame(
    a = c(1:9, NA), b = c(rep(NA, 4), 0.5, 1:5), c = c("x, y", "two\nlines", "a \"quoted\" word",
                                                        letters[1:7]),
    d = rep(c(TRUE, FALSE), 5), e = c(rep("1", 8), "one", "2")
  )
  file <- temporary_file(".csv")
  write.csv(data, file, row.names = FALSE)
  for (rows in 1:11) {
    expect_identical(whole(as_row_source(file, rows = rows)), read.csv(file))
  }
})

test_that("numbers in quotes are numbers, as for read.csv() on the whole file", {
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  frame <- data.frame(code = c(0:1, NA, 2:6), size = c(1:4, 0.5, NA, 7:8), on = rep(c(TRUE, NA), 4))
  write.csv(lapply(frame, as.character), file, row.names = FALSE)
  source <- as_row_source(file, rows = 3)
  expect_equal(do.call(rbind, lapply(1:3, source$read)), read.csv(file))
  expect_equal(do.call(rbind, lapply(1:3, source$read)), frame)
  typed <- as_row_source(file, rows = 3, colClasses = c(code = "character", size = "numeric",
                                                        on = "character"))
  expect_identical(typed$read(1)$code, c("0", "1", NA))
  expect_identical(typed$read(2)$size, c(4, 0.5, NA))
  wrong <- as_row_source(file, rows = 3, colClasses = c(code = "character", size = "integer",
                                                        on = "character"))
  expect_error(wrong$read(2), "scan")
})

test_that("line ends, marks and blank lines are those of read.csv()", {
  texts <- c(
    "a,b,c\r\n1,2,x\r\n\r\n3,4,\"y\r\nz\"\r\n5,,w", "a,b\n1,2\n\n\n3,4\n", "a,b\n1,2\n3,4",
    "\n\na,b\n1,2\n3,4\n", "a,b\n1,2\n"
  )
  for (text in texts) {
    file <- written_file(text)
    known <- suppressWarnings(read.csv(file)) # of a last line without an end
    for (rows in 1:3) expect_identical(whole(as_row_source(file, rows = rows)), known)
  }
  marked <- written_file("\xef\xbb\xbfa,b\n1,2\n3,4\n")
  expect_identical(whole(as_row_source(marked, rows = 1)), data.frame(a = c(1L, 3L), b = c(2L, 4L)))
})

test_that("options of read.csv() are passed on", {
  file <- written_file("1;2,5\n3;none\n")
  source <- as_row_source(file, rows = 1, sep = ";", dec = ",", header = FALSE, na.strings = "none")
  expect_identical(whole(source), read.csv(file, sep = ";", dec = ",", header = FALSE,
                                           na.strings = "none"))
  text <- as_row_source(written_file("a,b\n1,2\n"), colClasses = c(a = "character", b = "numeric"))
  expect_identical(whole(text), data.frame(a = "1", b = 2))
  expect_snapshot(error = TRUE, as_row_source(file, Sep = ";"))
  expect_snapshot(error = TRUE, as_row_source(file, nrows = 3))
})

test_that("a file may have marks but no header, quotes that are letters, and no rows", {
  marked <- written_file("\xef\xbb\xbf1,2\n3,4\n")
  expect_identical(whole(as_row_source(marked, rows = 1, header = FALSE)),
                   data.frame(V1 = c(1L, 3L), V2 = c(2L, 4L)))
  inches <- written_file("a,b\n1,5\"\n3,4\n")
  expect_identical(whole(as_row_source(inches, rows = 1, quote = "")), read.csv(inches, quote = ""))
  header <- as_row_source(written_file("a,b\n"))
  expect_identical(header$sizes, 0)
  expect_error(kernel_basis(header), "`x` has no rows", class = "kernelect_error_data")
})

test_that("logical values beside numbers make text, as for read.csv() on the whole file", {
  texts <- c(
    "a,b\n1,2\nTRUE,4\n", "a,b\nTRUE,2\n1,4\n", "a,b\nNA,2\nTRUE,4\nNA,6\n0.5,8\n",
    "a,b\nF,2\n01,4\n1i,6\n", "a,b\nTRUE,2\nNA,T\n,F\n", "a,b\n,2\n,4\n"
  )
  for (text in texts) {
    file <- written_file(text)
    for (rows in 1:3) {
      expect_identical(whole(as_row_source(file, rows = rows)), read.csv(file))
    }
  }
  factors <- as_row_source(written_file(texts[2L]), rows = 1, stringsAsFactors = TRUE)
  expect_identical(factors$read(2)$a, factor("1"))
})

test_that("a logical value in quotes is none of the numbers in quotes of other chunks", {
  file <- written_file("a,b\n\"TRUE\",2\n\"1\",4\n")
  expect_identical(whole(as_row_source(file, rows = 1)), read.csv(file))
  typed <- as_row_source(file, rows = 1, colClasses = c(a = "numeric", b = "numeric"))
  expect_error(typed$read(1), "scan")
})

test_that("a row of too many fields is told of by file, row and chunk, whatever the chunks", {
  rows <- c(paste(1:7, 11:17, sep = ","), "\"8\n,\",18")
  for (extra in c("5,6,7", "5,6,7,8", "5,6,")) {
    fields <- nchar(gsub("[^,]", "", extra)) + 1L
    for (at in c(1L, 2L, 7L)) {
      file <- written_file(paste(c("a,b", append(rows, extra, at - 1L), ""), collapse = "\n"))
      for (size in c(1:4, 9L)) {
        chunk <- sprintf(" (in chunk %d of the source)", (at - 1L) %/% size + 1L)
        if (at == 1L && fields == 4L) chunk <- "" # seen with the header, before there are chunks
        told <- sprintf("\"%s\" cannot be read: row %d%s has %d fields, and there are 2 columns",
                        normalizePath(file), at, chunk, fields)
        expect_error(as_row_source(file, rows = size), told, fixed = TRUE,
                     class = "kernelect_error_source")
      }
    }
  }
})

test_that("a row of too few fields is filled up as by read.csv(), whatever the chunks", {
  texts <- c("a,b,c\n1,x,3\n4\n5,y\n6,z,7\n", "a,b\n1\n2\n", "a,b,c\n1\n2,3,4\n\n5,\"6\n\"\n")
  for (text in texts) {
    file <- written_file(text)
    for (rows in 1:4) {
      expect_identical(whole(as_row_source(file, rows = rows)), read.csv(file))
    }
  }
  file <- written_file("1,2\n3,4,5\n6\n")
  for (rows in 1:3) {
    expect_identical(whole(as_row_source(file, rows = rows, header = FALSE)),
                     read.csv(file, header = FALSE))
  }
})

test_that("text that is no table, or not of the types given, is refused", {
  expect_error(as_row_source(written_file("")), "cannot be read: no lines",
               class = "kernelect_error_source")
  typed <- as_row_source(written_file("a,b\n1,x\n"), colClasses = c(b = "integer"))
  expect_error(kernel_basis(typed), "Chunk 1 of the source cannot be read: scan",
               class = "kernelect_error_source")
  short <- written_file("a,b\n1,2\n3\n")
  expect_error(as_row_source(short, rows = 1, fill = FALSE),
               "Chunk 2 of the source cannot be read: line 1", class = "kernelect_error_source")
})

test_that("files that cannot be read so are refused", {
  expect_snapshot(error = TRUE, as_row_source(c("a", "b")))
  expect_snapshot(error = TRUE, as_row_source("no such file.csv"))
  expect_error(as_row_source(temporary_directory()), "no files that end in .csv", class =
                 "kernelect_error_argument")
  for (ending in c(".csv.zip", ".csv.bz2", ".parquet.gz")) {
    packed <- temporary_file(ending)
    writeLines("a,b", packed)
    expect_error(as_row_source(packed), "compressed in a way", class = "kernelect_error_argument")
  }
  file <- written_file("a,b\n1,2\n3,4\n")
  source <- as_row_source(file, rows = 1)
  cat("5,6\n", file = file, append = TRUE)
  expect_error(kernel_basis(source), "has changed", class = "kernelect_error_source")
  unlink(file)
  expect_error(kernel_basis(source), "no longer there", class = "kernelect_error_source")
})

test_that("compressed text is what it is without", {
  plain <- temporary_file(".csv")
  write.csv(iris, plain, row.names = FALSE)
  known <- read.csv(plain)
  ways <- list(gz = gzfile, xz = xzfile)
  for (way in names(ways)) {
    file <- temporary_file(paste0(".csv.", way))
    con <- ways[[way]](file, "wb")
    write.csv(iris, con, row.names = FALSE)
    close(con)
    expect_identical(whole(as_row_source(file, rows = 40)), known)
  }
  source <- as_row_source(file, rows = 40)
  expect_same_model(kernel_lm(Species ~ ., source, size = 10),
                    kernel_lm(Species ~ ., known, size = 10))
  # elsewhere there is no copy yet: it is made again
  elsewhere <- unserialize(serialize(source, NULL))
  unlink(unpacked_files[[normalizePath(file)]]$copy)
  expect_identical(whole(elsewhere), known)

  tabs <- temporary_file(".tsv.gz")
  con <- gzfile(tabs, "wb")
  write.table(iris, con, sep = "\t", row.names = FALSE)
  close(con)
  expect_identical(whole(as_row_source(tabs, rows = 60)), read.delim(tabs))

  dir <- temporary_directory()
  file.copy(c(plain, file), file.path(dir, c("a.csv", "b.csv.xz")))
  expect_identical(whole(as_row_source(dir, rows = 100)), rbind(known, known))
})

test_that("a compressed file that is cut off, put together or changed is refused", {
  ways <- list(gz = gzfile, xz = xzfile)
  for (way in names(ways)) {
    file <- temporary_file(paste0(".csv.", way))
    con <- ways[[way]](file, "wb")
    write.csv(data.frame(a = sin(1:5000), b = cos(1:5000)), con, row.names = FALSE)
    close(con)
    source <- as_row_source(file, rows = 1000)
    bytes <- readBin(file, "raw", file.size(file))
    for (less in c(1, 4, 20, length(bytes) %/% 2)) {
      writeBin(head(bytes, -less), file)
      expect_error(kernel_basis(source), "has changed", class = "kernelect_error_source")
      expect_error(as_row_source(file), "cannot be unpacked", class = "kernelect_error_source")
    }
  }
  file <- temporary_file(".csv.gz")
  writeLines("a,b\n1,2", file)
  expect_error(as_row_source(file), "cannot be unpacked", class = "kernelect_error_source")
})

test_that("a directory of files is read in the order of names", {
  dir <- temporary_directory()
  write.csv(iris[1:70, ], file.path(dir, "a.csv"), row.names = FALSE)
  write.csv(iris[71:150, c(5, 1:4)], file.path(dir, "b.csv"), row.names = FALSE)
  source <- as_row_source(dir, rows = 40)
  expect_identical(source$sizes, c(40, 30, 40, 40))
  expect_identical(whole(source), transform(iris, Species = as.character(Species)))
  write.csv(iris[1:3], file.path(dir, "c.csv"), row.names = FALSE)
  expect_error(as_row_source(dir), "has other columns", class = "kernelect_error_source")
  file.create(file.path(dir, "d.parquet"))
  expect_error(as_row_source(dir), "CSV and Parquet", class = "kernelect_error_argument")
})

test_that("a chunk of a Parquet file is a row group", {
  skip_if_not_installed("nanoparquet")
  data <- iris
  data$note <- rep(c("a", "b", NA), 50)
  data$day <- as.Date("2020-01-01") + 1:150
  data$big <- 2^40 + 1:150
  dir <- temporary_directory()
  file <- file.path(dir, "rows.parquet")
  nanoparquet::write_parquet(data, file, row_groups = c(1L, 61L, 100L))
  source <- as_row_source(file)
  expect_identical(source$sizes, c(60, 39, 51))
  expect_equal(whole(source), data)
  nanoparquet::write_parquet(data, file.path(dir, "more.parquet"))
  expect_identical(as_row_source(dir)$sizes, c(150, 60, 39, 51))
  expect_error(as_row_source(file, rows = 10), "row group", class = "kernelect_error_argument")
})

test_that("a row group can be cut from the whole file, and no Parquet file is refused", {
  skip_if_not_installed("nanoparquet")
  file <- temporary_file(".parquet")
  nanoparquet::write_parquet(iris[1:4], file, row_groups = c(1L, 61L))
  source <- as_row_source(file)
  for (k in 1:2) {
    cut <- part_of_file(list(file = file, group = k))
    expect_identical(plain_frame(cut), source$read(k))
  }
  first <- source$read(1)
  reader <- get0("read_parquet_row_group", asNamespace("nanoparquet"))
  if (!is.null(reader)) {
    on.exit(utils::assignInNamespace("read_parquet_row_group", reader, "nanoparquet"))
    utils::assignInNamespace("read_parquet_row_group", NULL, "nanoparquet")
    expect_identical(source$read(1), first)
  }
  writeLines("a,b", file)
  expect_error(as_row_source(file), "cannot be read", class = "kernelect_error_source")
})

# ---- databases and matrices on disk -------------------------------------------------------------

test_that("a table of a database is read in its own order or in that of its keys", {
  skip_if_not_installed("RSQLite")
  file <- temporary_file(".sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  data <- transform(iris, Species = as.character(Species), id = rev(seq_len(150)))
  DBI::dbWriteTable(con, "flowers of 1936", data)
  source <- as_row_source(con, table = "flowers of 1936", rows = 40)
  expect_identical(whole(source), data)
  by_key <- as_row_source(con, "flowers of 1936", rows = 40, order_by = "id")
  expect_identical(whole(by_key)$id, 1:150)
  some <- as_row_source(con, DBI::SQL("SELECT * FROM \"flowers of 1936\" WHERE id > 100"),
                        order_by = "id", rows = 20)
  expect_identical(some$sizes, c(20, 20, 10))
  expect_snapshot(as_row_source(con, "flowers of 1936"))
  expect_snapshot(error = TRUE, as_row_source(con))
  expect_snapshot(error = TRUE, as_row_source(con, 3))
  expect_snapshot(error = TRUE, as_row_source(con, "none"))
  expect_snapshot(error = TRUE, as_row_source(con, "flowers of 1936", order_by = "Species"))
  DBI::dbExecute(con, "CREATE VIEW seen AS SELECT * FROM \"flowers of 1936\"")
  expect_snapshot(error = TRUE, as_row_source(con, "seen"))
})

test_that("a source that travelled opens its database again", {
  skip_if_not_installed("RSQLite")
  file <- temporary_file(".sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  DBI::dbWriteTable(con, "t", iris[1:4])
  source <- as_row_source(con, "t", rows = 50)
  there <- unserialize(serialize(source, NULL))
  expect_identical(whole(there), iris[1:4])
  DBI::dbDisconnect(con)
  expect_identical(whole(source), iris[1:4])
  memory <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(memory, "t", iris[1:4])
  lost <- as_row_source(memory, "t")
  DBI::dbDisconnect(memory)
  expect_error(kernel_basis(lost), "no `connect`", class = "kernelect_error_source")
})

test_that("a closed connection is opened again by `connect`, which must be a function", {
  skip_if_not_installed("RSQLite")
  opened <- function() {
    con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    DBI::dbWriteTable(con, "t", iris[1:4])
    con
  }
  con <- opened()
  source <- as_row_source(con, "t", rows = 50, connect = opened)
  expect_error(as_row_source(con, "t", connect = 3), "`connect` must be a function",
               class = "kernelect_error_argument")
  expect_error(as_row_source(con, "t", order_by = "none"), "`order_by` must be NULL or names",
               class = "kernelect_error_argument")
  DBI::dbDisconnect(con)
  expect_identical(whole(source), iris[1:4])
})

test_that("a package that is not there is asked for", {
  expect_error(need_package("noSuchPackage", "Such files"),
               "Such files are read by the package noSuchPackage, which is not installed",
               class = "kernelect_error_package")
})

test_that("matrices on disk are read in pieces, here and elsewhere", {
  m <- as.matrix(iris[1:4])
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    big <- bigmemory::filebacked.big.matrix(
      150, 4, backingfile = "big.bin", descriptorfile = "big.desc",
      backingpath = temporary_directory(), dimnames = list(NULL, colnames(m))
    )
    big[, ] <- m
    source <- as_row_source(big, rows = 40)
    expect_identical(whole(source), m)
    expect_identical(whole(unserialize(serialize(source, NULL))), m)
  }
  skip_if_not_installed("filematrix")
  on_disk <- filematrix::fm.create.from.matrix(temporary_file(""), unname(m))
  source <- as_row_source(on_disk, rows = 40)
  expect_identical(whole(source), unname(m))
  expect_identical(whole(unserialize(serialize(source, NULL))), unname(m))
  filematrix::closeAndDeleteFiles(on_disk)
})

test_that("files of other kinds are refused by their endings, tabs are known by theirs", {
  dir <- temporary_directory()
  for (name in c("a.rds", "a.RData", "rows", "a.csv.rds")) {
    saveRDS(iris, file.path(dir, name))
    expect_error(as_row_source(file.path(dir, name)), "does not end in .csv, .tsv or .txt",
                 class = "kernelect_error_argument")
  }
  tabs <- file.path(dir, "a.tsv")
  write.table(iris, tabs, sep = "\t", row.names = FALSE)
  expect_identical(whole(as_row_source(tabs, rows = 60)), read.delim(tabs))
  commas <- file.path(dir, "a.txt")
  write.csv(iris, commas, row.names = FALSE)
  expect_identical(whole(as_row_source(commas, rows = 60)), read.csv(commas))
})
