# Every text that an expression draws, read back from an uncompressed PDF.
plot_words <- function(expr) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(expr, finally = grDevices::dev.off())
  lines <- readLines(file, warn = FALSE)
  text <- regmatches(lines, regexpr("\\((\\\\.|[^)\\\\])*\\) Tj", lines))
  gsub("\\\\(.)", "\\1", substr(text, 2L, nchar(text) - 4L))
}

expect_words <- function(wanted, words) {
  lacking <- setdiff(wanted, words)
  testthat::expect_identical(lacking, wanted[0L], info = paste(words, collapse = " | "))
}
