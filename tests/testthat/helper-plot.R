plot_lines <- function(expr) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(expr, finally = grDevices::dev.off())
  readLines(file, warn = FALSE)
}

# Every colour used, as a PDF writes it.
plot_colours <- function(expr) {
  lines <- grep("scn$", plot_lines(expr), value = TRUE, ignore.case = TRUE)
  unique(sub(".*?([0-9.]+ [0-9.]+ [0-9.]+) scn$", "\\1", lines, ignore.case = TRUE))
}

pdf_colour <- function(colours) apply(grDevices::col2rgb(colours) / 255, 2L, function(v) paste(sprintf("%.3f", v), collapse = " "))

# Every text that an expression draws, read back from an uncompressed PDF.
plot_words <- function(expr) {
  lines <- plot_lines(expr)
  text <- regmatches(lines, regexpr("\\((\\\\.|[^)\\\\])*\\) Tj", lines))
  gsub("\\\\(.)", "\\1", substr(text, 2L, nchar(text) - 4L))
}

expect_words <- function(wanted, words) {
  lacking <- setdiff(wanted, words)
  testthat::expect_identical(lacking, wanted[0L], info = paste(words, collapse = " | "))
}
