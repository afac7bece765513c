# Mutation testing:  Rscript tools/mutate.R [mutants] [seed] [R|C]
# Samples small changes of the sources (a comparison turned, a constant moved, a sign, a condition
# negated, a statement dropped), installs each mutant in a library of its own and runs the tests
# that belong to the file. A mutant is killed when a test fails, or the build does, or it does not
# end in time. Survivors are listed. Needs out/ only; the sources are not touched.
args <- commandArgs(TRUE)
mutants <- if (length(args)) as.integer(args[1L]) else 300L
seed <- if (length(args) > 1L) as.integer(args[2L]) else 1L
kinds <- if (length(args) > 2L) args[3L] else c("R", "C")

swaps <- list(
  c("<=", "<"), c(">=", ">"), c(" < ", " <= "), c(" > ", " >= "), c(" == ", " != "), c(" != ", " == "),
  c(" + ", " - "), c(" - ", " + "), c(" * ", " / "), c(" && ", " || "), c(" || ", " && "),
  c("if (", "if (!("), c("1L", "2L"), c("0.0", "1.0"), c("1.0", "2.0"), c("TRUE", "FALSE"), c("FALSE", "TRUE"),
  c("drop = FALSE", "drop = TRUE"), c("min(", "max("), c("max(", "min("), c("+ 1", "+ 2"), c("- 1", "- 0"), c("any(", "all("), c("all(", "any(")
)

# Which tests know about a source file. The first pattern that matches decides.
tests_for <- c(
  "^basis|^rules|^source|^ffi_basis" = "basis|properties", "^rank|^criterion|^ascent|^subset|^ffi_criterion" = "rank",
  "^kernel|^gram|^ffi_gram" = "kernels|gram|properties", "^lm|^regress" = "lm|tune", "^pca|^spectrum" = "pca", "^lda" = "lda",
  "^model|^ffi_models" = "lm|lda|pca", "^tune" = "tune", "^takes|^ffi_takes" = "takes", "^fusion|^ffi_fusion" = "fusion", "^dual|^ffi_dual" = "dual|fusion",
  "^seal|^ffi_seal" = "tamper", "^simulate" = "simulate", "^criteria" = "criteria", "^plot" = "basis|pca|rank|everywhere", "^data|^checks|^ffi" = "data|checks|gram"
)

# Every place in a file where a swap fits, outside comments and messages.
places <- function(file) {
  lines <- readLines(file)
  code <- !grepl("^\\s*(#|/\\*|\\*|//)", lines) & !grepl("abort\\(|must_be\\(|warn\\(|inform\\(|cat\\(|sprintf\\(|^#include|omp ", lines)
  rows <- lapply(swaps, function(s) {
    at <- which(code & grepl(s[1L], lines, fixed = TRUE))
    if (length(at)) data.frame(file = file, line = at, from = s[1L], to = s[2L])
  })
  do.call(rbind, rows)
}

# The mutated line: the first fit of `from`; a negated condition gets its closing bracket.
mutated <- function(line, from, to) {
  if (to == "if (!(") {
    start <- regexpr("if (", line, fixed = TRUE) + 3L
    depth <- 0L
    for (i in start:nchar(line)) {
      ch <- substr(line, i, i)
      depth <- depth + (ch == "(") - (ch == ")")
      if (depth == 0L) return(paste0(substr(line, 1L, start - 1L), "(!", substr(line, start, i), ")", substr(line, i + 1L, nchar(line))))
    }
    return(line)
  }
  sub(from, to, line, fixed = TRUE)
}

prepare <- function(work) {
  unlink(work, recursive = TRUE)
  dir.create(file.path(work, "lib"), recursive = TRUE)
  keep <- c("DESCRIPTION", "NAMESPACE", "LICENSE", "R", "src", "man", "inst", "tests")
  invisible(file.copy(keep[file.exists(keep)], work, recursive = TRUE))
  unlink(Sys.glob(file.path(work, "src", "*.[os]*")))
}

install <- function(work) {
  system2(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile", paste0("--library=", file.path(work, "lib")), work),
    stdout = FALSE, stderr = FALSE, env = "MAKEFLAGS=") == 0
}

run_tests <- function(work, pattern) {
  code <- sprintf(paste0("Sys.setenv(NOT_CRAN = 'true'); r <- as.data.frame(testthat::test_dir('%s', package = 'kernelect', load_package = 'installed', ",
    "filter = '%s', reporter = 'silent', stop_on_failure = FALSE)); quit(status = sum(r$failed) + sum(r$error) > 0)"),
    file.path(work, "tests", "testthat"), pattern)
  system2("timeout", c("300", file.path(R.home("bin"), "Rscript"), "--no-init-file", "-e", shQuote(code)), stdout = FALSE, stderr = FALSE,
    env = paste0("R_LIBS=", normalizePath(file.path(work, "lib")), ":", Sys.getenv("R_LIBS")))
}

core_tests <- function(work) {
  file.copy("tests/core", file.path(work, "tests"), recursive = TRUE)
  system2("timeout", c("300", file.path(work, "tests", "core", "run")), stdout = FALSE, stderr = FALSE)
}

try_mutant <- function(m, work) {
  target <- file.path(work, m$file)
  original <- readLines(target)
  on.exit(writeLines(original, target))
  new <- original
  new[m$line] <- mutated(original[m$line], m$from, m$to)
  if (identical(new, original)) return("unchanged")
  writeLines(new, target)
  if (!install(work)) return("killed by the build")
  name <- sub("[.][RcC]$", "", basename(m$file))
  pattern <- tests_for[vapply(names(tests_for), grepl, NA, x = name)][1L]
  status <- run_tests(work, if (is.na(pattern)) "." else pattern)
  if (status == 0L && grepl("^src/", m$file) && !grepl("ffi", m$file)) status <- core_tests(work)
  if (status == 124L) "killed by the clock" else if (status != 0L) "killed" else "SURVIVED"
}

set.seed(seed)
files <- c(if ("R" %in% kinds) Sys.glob("R/*.R"), if ("C" %in% kinds) setdiff(Sys.glob("src/*.c"), "src/init.c"))
all_places <- do.call(rbind, lapply(files, places))
chosen <- all_places[sample.int(nrow(all_places), min(mutants, nrow(all_places))), ]
work <- normalizePath(file.path("out", "mutants"), mustWork = FALSE)
prepare(work)
if (!install(work) || run_tests(work, "gram") != 0L) stop("the tests fail without any mutation", call. = FALSE)
ends <- character()
for (i in seq_len(nrow(chosen))) {
  m <- chosen[i, ]
  ends[i] <- try_mutant(m, work)
  cat(sprintf("%s  %s:%d  '%s' to '%s'\n", ends[i], m$file, m$line, m$from, m$to))
}
counted <- ends != "unchanged"
cat(sprintf("mutate: %d mutants, %d killed (%.0f %%), %d survived\n", sum(counted), sum(grepl("^killed", ends)),
  100 * mean(grepl("^killed", ends[counted])), sum(ends == "SURVIVED")))
quit(status = as.integer(mean(grepl("^killed", ends[counted])) < 0.85))
