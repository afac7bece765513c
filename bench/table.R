# One table of what bench/results/ keeps: a line a job, with our processor seconds and memory, and
# for each other contestant its seconds and how many times ours that is. Limits (the same work in
# bare C and BLAS, files limit_*) are marked; a ratio below 1 is what we are above them.
#   Rscript bench/table.R     make bench prints it at its end, and keeps it as bench/results.md

files <- sort(Sys.glob(file.path("bench", "results", "*.csv")))
cells <- do.call(rbind, lapply(files, function(file) {
  table <- utils::read.csv(file)
  if (is.null(table$contestant)) return(NULL)
  wanted <- c("bench", "contestant", "seconds", "cpu", "memory_mb", "state", "date", "processor")
  table[setdiff(wanted, names(table))] <- NA
  numbers <- c("seconds", "cpu", "memory_mb")
  table[numbers] <- lapply(table[numbers], function(v) suppressWarnings(as.numeric(v)))
  table[wanted]
}))
cells <- cells[is.na(cells$state) | cells$state == "ready", ]
cells$spent <- ifelse(is.na(cells$cpu), cells$seconds, cells$cpu)
cells$limit <- grepl("limit", cells$contestant, ignore.case = TRUE)

# The first contestant of a job is what the others are compared with.
job_lines <- function(job) {
  ours <- job[1L, ]
  others <- job[-1L, ]
  data.frame(
    job = c(ours$bench, rep("", nrow(others))),
    contestant = paste0(job$contestant, ifelse(job$limit, " (limit)", "")),
    seconds = signif(job$spent, 3), ratio = round(job$spent / ours$spent, 2),
    memory_mb = round(job$memory_mb), date = job$date
  )
}

table <- do.call(rbind, lapply(split(cells, factor(cells$bench, unique(cells$bench))), job_lines))
rownames(table) <- NULL
options(width = 140)
print(table, right = FALSE, row.names = FALSE)
processors <- unique(stats::na.omit(cells$processor))
cat("\nprocessor seconds, one thread; ratio: times those of the first line of the job\n")
cat("processor:", paste(processors, collapse = ", "), "\n")

cell <- function(value) ifelse(is.na(value), "", format(value, trim = TRUE, drop0trailing = TRUE))
lines <- c(
  "# What `make bench` measured", "",
  paste0("Processor seconds on one thread (", paste(processors, collapse = ", "),
         "); ratio: times those of the first line of the job."), "",
  "| job | contestant | seconds | ratio | memory (MB) | date |", "|---|---|---|---|---|---|",
  sprintf("| %s | %s | %s | %s | %s | %s |", table$job, table$contestant,
          vapply(table$seconds, cell, ""), vapply(table$ratio, cell, ""),
          vapply(table$memory_mb, cell, ""), table$date)
)
writeLines(lines, file.path("bench", "results.md"))
