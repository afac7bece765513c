# The five papers again: every table and figure, beside the print.
#   Rscript bench/reproduce.R [name ...]      `make reproduce ONLY="teixeira-banana mottl"`
# runs what is not there yet of the experiments whose names begin so (all by default), then writes
# inst/results/reproduce-<paper>.csv, a row a figure, and inst/results/reproduction.csv, a row a
# table or figure of a paper: what vignette("reproduction") and the vignettes of the papers show.
#   RUNS=5 Rscript bench/reproduce.R          at most five runs of each
#   RUNS=0 Rscript bench/reproduce.R          tables only, of the records there are
# Tables in which some experiment has no run yet go to out/reproduce/tables instead.
# See reproduce/queue.R for how runs are kept, and the head of each paper's file for its settings.
suppressMessages({
  library(kernelect)
  library(kernlab)
})
home <- file.path("bench", "reproduce")
for (file in c("queue", "sets", "teixeira", "baudat", "mottl", "ramona", "takes", "glance")) {
  source(file.path(home, paste0(file, ".R")))
}

# The papers' tables first, short ones before long ones; then what was tried beside them.
teixeira <- teixeira_experiments()
baudat <- baudat_experiments()
ramona_all <- ramona_experiments()
experiments <- c(
  mottl_experiments(), baudat$tables, ramona_all$tables, teixeira$tables, takes_experiments(),
  ramona_all$figures, teixeira$tried,
  later(c(ramona_all$digits, teixeira$more, baudat$tuned))
)

asked <- commandArgs(trailingOnly = TRUE)
most <- as.numeric(Sys.getenv("RUNS", "Inf"))
at_hand <- function(e) is.null(e$needs) || file.exists(data_file(e$needs))
wanted <- function(e) !length(asked) || any(startsWith(e$name, asked))
queue <- Filter(wanted, experiments)
missing <- Filter(Negate(at_hand), queue)
if (length(missing)) {
  message("no data for: ", paste(vapply(missing, `[[`, "", "name"), collapse = ", "))
}
run_queue(Filter(at_hand, queue), most)
write_tables(experiments)
