# Run the testthat suite once on the installed package and save its counts as
# "passed failed skipped" (expectations; an error counts as a failure):
#   Rscript tools/test.R [file for the counts]
counts_file <- commandArgs(trailingOnly = TRUE)
Sys.setenv(NOT_CRAN = "true", R_TESTS = "")

# On a copy, so that a failing run leaves nothing behind in the source tree.
unlink(file.path("out", "testthat"), recursive = TRUE)
dir.create("out", showWarnings = FALSE)
invisible(file.copy(file.path("tests", "testthat"), "out", recursive = TRUE))

result <- as.data.frame(testthat::test_dir(
  file.path("out", "testthat"),
  package = "kernelect",
  load_package = "installed",
  reporter = "check",
  stop_on_failure = FALSE
))
counts <- c(
  sum(result$passed),
  sum(result$failed) + sum(result$error),
  sum(result$skipped)
)
cat(sprintf("testthat: %d passed, %d failed, %d skipped\n", counts[1], counts[2], counts[3]))
if (length(counts_file)) {
  dir.create(dirname(counts_file), showWarnings = FALSE, recursive = TRUE)
  cat(counts, "\n", file = counts_file)
}
quit(status = counts[2] > 0)
