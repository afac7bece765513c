# Try every property on many random cases:  Rscript tools/properties.R [cases] [sentence pattern]
# Prints a line a property and fails when one is broken.
args <- commandArgs(TRUE)
cases <- if (length(args)) as.integer(args[1L]) else 500L
library(kernelect)
for (file in c("helper-catalogue.R", "helper-properties.R")) {
  source(file.path("tests", "testthat", file))
}

all_properties <- do.call(c, unname(properties))
if (length(args) > 1L) all_properties <- all_properties[grep(args[2L], names(all_properties))]
broken <- 0L
started <- proc.time()[["elapsed"]]
for (sentence in names(all_properties)) {
  holds <- vapply(seq_len(cases), function(seed) {
    case <- random_case(1000L + seed)
    isTRUE(tryCatch(all_properties[[sentence]](case), error = function(e) FALSE))
  }, NA)
  broken <- broken + sum(!holds)
  cat(sprintf("%4d of %d  %s%s\n", sum(holds), cases, sentence,
    if (all(holds)) "" else paste0("  BROKEN at seeds ",
      paste(utils::head(1000L + which(!holds), 5L), collapse = " "))))
}
cat(sprintf("properties: %d properties x %d cases, %d broken, %.0f s\n", length(all_properties),
  cases, broken, proc.time()[["elapsed"]] - started))
quit(status = as.integer(broken > 0L))
