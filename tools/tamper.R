# Edit saved models at random and ask everything of them:  Rscript tools/tamper.R [edits]
# Each example model is edited in a child process of its own, so that a crash, or an hour without
# an end, is a count. Prints a table; fails on a crash or an unclassed error.
args <- commandArgs(TRUE)
helpers <- file.path("tests", "testthat", c("helper-catalogue.R", "helper-tamper.R"))

child <- function(name, count, seed, log) {
  library(kernelect)
  for (file in helpers) sys.source(file, globalenv())
  set.seed(seed)
  grDevices::pdf(NULL)
  examples <- example_models()
  classes <- unique(vapply(examples, function(e) class(e[[1L]])[1L], ""))
  file <- tempfile()
  ends <- tamper(examples[[name]], count, classes,
    before = function(label) cat(label, "\n", file = log, append = TRUE),
    through = function(model) {
      saveRDS(model, file)
      readRDS(file)
    }
  )
  saveRDS(ends, paste0(log, ".rds"))
}

parent <- function(edits) {
  library(kernelect)
  for (file in helpers) sys.source(file, globalenv())
  names <- names(example_models())
  each <- ceiling(edits / length(names))
  started <- proc.time()[["elapsed"]]
  results <- lapply(seq_along(names), function(i) run_child(names[i], each, i))
  table <- data.frame(model = names, edits = each, do.call(rbind, lapply(results, `[[`, "counts")))
  print(table, row.names = FALSE)
  cat(sprintf("tamper: %d edits of %d models, %d questions, %d crashes, %d unclassed errors, %d other answers, %.0f s\n", # nolint: line_length_linter.
    sum(table$edits), length(names), sum(table$asked), sum(table$crashes), sum(table$unclassed),
    sum(table$other),
    proc.time()[["elapsed"]] - started))
  for (r in results) cat(r$trouble, sep = "")
  quit(status = as.integer(sum(table$crashes, table$unclassed) > 0))
}

run_child <- function(name, count, seed) {
  log <- tempfile()
  status <- system2(file.path(R.home("bin"), "Rscript"),
    c("--no-init-file", "tools/tamper.R", "child", shQuote(name), count, seed, shQuote(log)),
    timeout = 3600)
  done <- file.exists(paste0(log, ".rds"))
  ends <- if (done) readRDS(paste0(log, ".rds")) else data.frame(label = character(),
    question = character(), verdict = character())
  broken <- ends[!ends$verdict %in% c("refused", "same", "other"), ]
  last <- if (!done && file.exists(log)) utils::tail(readLines(log), 1L)
  list(
    counts = data.frame(
      asked = nrow(ends), refused = sum(ends$verdict == "refused"),
      same = sum(ends$verdict == "same"),
      unclassed = sum(grepl("UNCLASSED", ends$verdict)), other = sum(ends$verdict == "other"),
      crashes = as.integer(!done)
    ),
    trouble = c(
      if (!done) sprintf("%s: the process ended with status %d at: %s\n", name, status, last),
      if (nrow(broken)) {
        sprintf("%s: %s: %s: %s\n", name, broken$label, broken$question, broken$verdict)
      }
    )
  )
}

if (length(args) && args[1L] == "child") {
  child(args[2L], as.integer(args[3L]), as.integer(args[4L]), args[5L])
} else {
  parent(if (length(args)) as.integer(args[1L]) else 10000L)
}
