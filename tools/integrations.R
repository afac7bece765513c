# What `make integrations` runs: the tests of every adapter, those of whole pipelines
# (tests/integrations), and each call of inst/results/integrations.csv, which it fills in with the
# versions there are and whether the call ran. Ends with status 1 if anything failed.
#   Rscript tools/integrations.R
Sys.setenv(NOT_CRAN = "true", R_TESTS = "", TZ = Sys.getenv("TZ", "UTC"))
library(kernelect)

adapters <- c("tidiers", "autoplot", "recipes", "parsnip", "mlr3", "caret", "vetiver", "verbs")
stage <- file.path("out", "integrations")
unlink(stage, recursive = TRUE)
dir.create(stage, recursive = TRUE)
folder <- function(...) file.path("tests", "testthat", ...)
file.copy(c(
  list.files(folder(), "^helper", full.names = TRUE), folder(sprintf("test-%s.R", adapters)),
  list.files(file.path("tests", "integrations"), full.names = TRUE)
), stage)
result <- as.data.frame(testthat::test_dir(
  stage, package = "kernelect", load_package = "installed", reporter = "check",
  stop_on_failure = FALSE
))

file <- file.path("inst", "results", "integrations.csv")
table <- utils::read.csv(file, colClasses = "character")
table$version <- vapply(table$package, function(p) format(utils::packageVersion(p)), "")
table$ran <- vapply(table$call, function(call) {
  set.seed(1)
  tryCatch({
    suppressWarnings(suppressMessages(
      utils::capture.output(eval(parse(text = call), new.env(parent = globalenv())))
    ))
    "yes"
  }, error = function(e) paste("no:", conditionMessage(e)))
}, "")
utils::write.csv(table, file, row.names = FALSE)

failed <- sum(result$failed) + sum(result$error) + sum(table$ran != "yes")
print(table[c("package", "version", "ran")], row.names = FALSE)
cat(sprintf("integrations: %d passed, %d failed, %d skipped; %d of %d calls ran\n",
            sum(result$passed), failed, sum(result$skipped), sum(table$ran == "yes"), nrow(table)))
quit(status = failed > 0)
