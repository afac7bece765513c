# Run every bench/bench-*.R, or those named:  Rscript bench/run.R [gram ...]
# from the root of the repository (make bench does), and end with one table of all results kept.
names <- commandArgs(trailingOnly = TRUE)
files <- if (length(names)) sprintf("bench/bench-%s.R", names) else Sys.glob("bench/bench-*.R")
for (file in files) source(file)
source(file.path("bench", "table.R"))
write_tables()
