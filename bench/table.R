# What bench/results/ keeps, as tables: bench/results.md has a line a contestant of every job, with
# its processor seconds, how many times those of the job's first line they are, and memory;
# README.md has the jobs that `readme_jobs` names, between two marks. Limits are the same work in
# bare C and BLAS (files limit_*): a ratio below 1 tells how far above them we are.
#   Rscript bench/table.R     make bench ends with it; make lint finds tables that are out of date

# ---- results -----------------------------------------------------------------------------

kept_results <- function() {
  files <- sort(Sys.glob(file.path("bench", "results", "*.csv")), method = "radix")
  cells <- do.call(rbind, lapply(files, read_result))
  cells <- cells[is.na(cells$state) | cells$state == "ready", ]
  cells$spent <- ifelse(is.na(cells$cpu), cells$seconds, cells$cpu)
  cells$first <- cells$spent[match(cells$bench, cells$bench)]
  cells
}

read_result <- function(file) {
  table <- utils::read.csv(file)
  if (is.null(table$contestant)) return(NULL)
  numbers <- c("seconds", "ratio", "cpu", "memory_mb", "runs", "load")
  wanted <- c("bench", "contestant", numbers, "state", "date", "processor")
  table[setdiff(wanted, names(table))] <- NA
  table[numbers] <- lapply(table[numbers], function(v) suppressWarnings(as.numeric(v)))
  table[wanted]
}

# Two or three digits, and none where nothing was measured.
figure <- function(value, digits = 3) {
  text <- vapply(signif(value, digits), format, "", scientific = FALSE, drop0trailing = TRUE)
  ifelse(is.na(value), "", text)
}

times <- function(spent, ours, digits = 3) figure(spent / ours, digits)

once <- function(runs) ifelse(!is.na(runs) & runs == 1, " (one run)", "")

# "16 and 17 November 2026"
days <- function(dates) {
  dates <- sort(unique(as.Date(dates)))
  months <- paste(month.name[as.integer(format(dates, "%m"))], format(dates, "%Y"))
  of_month <- tapply(format(dates, "%e"), factor(months, unique(months)), and)
  trimws(and(paste(of_month, names(of_month))))
}

and <- function(words) {
  words <- trimws(words)
  last <- length(words)
  if (last == 1L) return(words)
  paste(paste(words[-last], collapse = ", "), "and", words[last])
}

machine <- function(cells) paste(unique(stats::na.omit(cells$processor)), collapse = ", ")

# ---- all of them -------------------------------------------------------------------------

results_page <- function(cells = kept_results()) {
  job <- ifelse(duplicated(cells$bench), "", cells$bench)
  c(
    "# What `make bench` measured", "",
    paste0("Processor seconds on one thread (", machine(cells),
           "); ratio: times those of the first line of the job; load: of the machine at the end."),
    "",
    "| job | contestant | seconds | ratio | memory (MB) | date | load |",
    "|---|---|---|---|---|---|---|",
    sprintf("| %s | %s%s | %s | %s | %s | %s | %s |", job, cells$contestant, once(cells$runs),
            figure(cells$spent), times(cells$spent, cells$first),
            figure(round(cells$memory_mb)), cells$date, figure(cells$load))
  )
}

# ---- those of the README -----------------------------------------------------------------

# A job of the README: the words for the reader, the file in bench/results/, the contestant that is
# ours, and the others to show, with the words for them where the contestant's are too short.
job <- function(words, bench, others, ours = "kernelect") {
  list(words = words, bench = bench, others = others, ours = ours)
}

readme_jobs <- list(
  job("RBF Gram matrix, 5000 rows, 20 columns", "gram-d20",
      c(kernlab = "kernlab", "scikit-learn" = "scikit-learn", limit = "limit")),
  job("the same, 200 columns", "gram-d200",
      c(kernlab = "kernlab", "scikit-learn" = "scikit-learn", limit = "limit")),
  job("the same with R's reference BLAS", "gram-d200-reference", c(kernlab = "kernlab")),
  job("200 of 100,000 rows by pivoted Cholesky", "basis-n100000",
      c(inchol = "kernlab `inchol`", "numpy greedy" = "column by column in numpy",
        "sklearn Nystroem" = "scikit-learn `Nystroem` (rows at random)", limit = "limit")),
  job("10 kernel principal components, 2000 rows", "kpca-2000",
      c(kernlab = "kernlab", "scikit-learn arpack" = "scikit-learn, ARPACK",
        "scikit-learn randomized" = "scikit-learn, randomised")),
  job("their scores for 100 new rows, twenty times", "kpca-predict",
      c(kernlab = "kernlab", "scikit-learn" = "scikit-learn")),
  job("10 components of 20,000 rows on a basis of 500", "kpca-20000",
      c("scikit-learn" = "scikit-learn `Nystroem` and `PCA`")),
  job("regression with defaults, 100,000 rows, 10 columns", "lm-100000",
      c(ranger = "ranger, 50 trees", "mgcv::bam" = "`mgcv::bam`",
        "scikit-learn" = "scikit-learn `Nystroem` and `RidgeCV`")),
  job("the same of 5000 rows with R's reference BLAS", "lm-5000-reference",
      c("kernlab gausspr" = "`kernlab::gausspr`", e1071 = "`e1071::svm`")),
  job("regression on 200 of 1,000,000 rows, ridge by leave-one-out", "lm-million",
      c("scikit-learn" = "scikit-learn `Nystroem` and one `Ridge`")),
  job("its kernel tuned with defaults, 20,000 rows, 10 columns", "tune-20000",
      c("scikit-learn" = "scikit-learn `GridSearchCV`")),
  job("predictions for 1,000,000 rows, 200 basis rows", "predict-million",
      c(e1071 = "`e1071`, 200 support vectors", limit = "limit")),
  job("ranking 50 columns, 1000 rows, by SAS", "rank-full",
      c("RFE by kernlab, 49 fits" = "recursive elimination with `kernlab::ksvm`")),
  job("ten of 50 columns, 1000 rows, by `forward`", "find-1000-50",
      c("HSIC lasso in R" = "HSIC lasso in R",
        "kernel partial correlation in R" = "kernel partial correlation in R"),
      "kernelect, forward"),
  job("support vector machine on a Gram matrix of 2000 rows", "fusion-machine-2000",
      c("kernlab ksvm" = "`kernlab::ksvm`")),
  job("support vector machine, 20,000 rows, 50 columns", "machine-20000",
      c(e1071 = "`e1071::svm`", "scikit-learn SVC" = "scikit-learn `SVC`")),
  job("the same on a basis of 500, 100,000 rows, 10 columns", "factors-100000",
      c("scikit-learn Nystroem + LinearSVC, one kernel" =
          "scikit-learn `Nystroem` and `LinearSVC` (squared hinge)"),
      "kernelect, one kernel"),
  job("kernel values of 20,000 x 50,000 sparse rows against 200", "sparse-values",
      c(Matrix = "Matrix", "scikit-learn" = "scikit-learn"))
)

readme_cells <- function(job, cells) {
  cells <- cells[cells$bench == job$bench, ]
  found <- match(c(job$ours, names(job$others)), cells$contestant)
  if (anyNA(found)) stop("bench/results has no contestant of ", job$bench, " that README names")
  cells[found, ]
}

readme_lines <- function(job, cells) {
  cells <- readme_cells(job, cells)
  ours <- cells[1L, ]
  others <- cells[-1L, ]
  blank <- function(text) c(text, rep("", nrow(others) - 1L))
  sprintf("| %s | %s | %s | %s%s | %s | %s |", blank(job$words), blank(figure(ours$spent, 2)),
          blank(figure(round(ours$memory_mb))), job$others, once(others$runs),
          times(others$spent, ours$spent, 2), figure(round(others$memory_mb)))
}

# By the clock, on idle processors (bench-threads.R).
threads_lines <- function(cells) {
  two <- cells[cells$contestant == "kernelect, two threads, wall clock", ]
  if (!nrow(two)) return(NULL)
  most <- cells[startsWith(cells$contestant, "two processes at once"), ]
  job <- sub("threads-", "", two$bench)
  shown <- sprintf("`%s()` %s of %s",
                   ifelse(job %in% c("gram", "predict"), job, paste0("kernel_", job)),
                   figure(1 / two$ratio, 3),
                   figure(1 / most$ratio, 3)[match(two$bench, most$bench)])
  busy <- cells[cells$bench == "threads-busy", ]
  c("", strwrap(paste0(
    "Two threads beside one, by the clock on idle processors, times as fast, of what two ",
    "processes at once are: ", paste(shown, collapse = ", "), ".",
    if (nrow(busy)) paste0(" On a machine busy with four other things they take ",
                           figure(busy$ratio[2L], 3),
                           " times the processor time of one (`kernel_rank()`).")
  ), 100))
}

readme_block <- function(cells = kept_results()) {
  used <- do.call(rbind, lapply(readme_jobs, readme_cells, cells))
  c(
    strwrap(paste0(
      "Measured on ", days(used$date), ", one thread, OpenBLAS, on a virtual machine (",
      machine(used), ") shared with other work: processor seconds, memory beyond the data, and ",
      "how many times our seconds the others take. `limit` is the same work in bare C and BLAS. ",
      "`make bench` measures again and writes this table and one of everything, ",
      "`bench/results.md`; `bench/results/` keeps every figure."
    ), 100),
    "",
    "| job | seconds | MB | beside | times | MB |", "|---|---|---|---|---|---|",
    unlist(lapply(readme_jobs, readme_lines, cells)), threads_lines(cells)
  )
}

marks <- c("<!-- bench/table.R -->", "<!-- end of bench/table.R -->")

with_block <- function(text, block = readme_block()) {
  at <- match(marks, text)
  c(text[seq_len(at[1L])], "", block, "", text[at[2L]:length(text)])
}

# ---- files -------------------------------------------------------------------------------

tables <- function() {
  cells <- kept_results()
  list(
    "README.md" = with_block(readLines("README.md"), readme_block(cells)),
    "bench/results.md" = results_page(cells)
  )
}

write_tables <- function(pages = tables()) {
  for (file in names(pages)) writeLines(pages[[file]], file)
  writeLines(pages[["bench/results.md"]])
}

# Files whose table is not what the kept results give.
stale_tables <- function(pages = tables()) {
  same <- vapply(names(pages), function(file) identical(readLines(file), pages[[file]]), NA)
  names(pages)[!same]
}

if (sys.nframe() == 0L) write_tables()
