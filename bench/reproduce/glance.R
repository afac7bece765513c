# inst/results/reproduction.csv: every table and figure of the five papers, how many of its printed
# figures are ours within one printed sd (ours where none is printed), and why the rest is not.

# `where`: the vignette that shows it. `cells` beyond the results' own: figures that are not ours to
# compute, said in `reason`.
paper_items <- function() {
  utils::read.csv(file.path("bench", "reproduce", "items.csv"), colClasses = "character",
    na.strings = "")
}

# Readings of one table have lines of their own: one or ten steps of ascent (Ramona's) and
# convergence; the width that Xu et al. do not state, by default ours, and twice that; the noise
# term that Mottl et al. do not have.
reading_of <- function(results) {
  steps <- ifelse(grepl("10$", results$method), "ten steps", "one step")
  reading <- ifelse(grepl("^(sas|scss)(10|1)$", results$method), steps, "")
  wide <- results$paper == "Xu" & results$item == "Table 2" & results$setting != "1"
  reading <- ifelse(wide, paste("width x", results$setting), reading)
  ifelse(grepl("noise 0[.]", results$method), sub(".*, ", "", results$method), reading)
}

count_item <- function(results, paper, item, reading) {
  own <- sub("^width .*", "Figures 2 and 3", results$item)
  d <- results[results$paper == paper & own == item & reading_of(results) == reading, ]
  known <- !is.na(d$inside)
  span <- function(v) {
    v <- v[!is.na(v)]
    if (length(v)) paste(unique(range(v)), collapse = " to ") else ""
  }
  data.frame(
    cells = sum(known), inside = sum(d$inside[known]), runs = span(d$runs),
    paper_runs = span(d$paper_runs)
  )
}

write_glance <- function(results, dir) {
  items <- paper_items()
  items$reading[is.na(items$reading)] <- ""
  counts <- do.call(rbind, Map(function(paper, item, reading) {
    count_item(results, paper, item, reading)
  }, items$paper, items$item, items$reading))
  counts$paper_runs[counts$runs != "" & counts$paper_runs == ""] <- "not said"
  write_result(cbind(items, counts), "reproduction", dir)
}

# The package's own results are replaced only by tables in which every experiment has a part; what a
# few of them give goes beside their records.
write_tables <- function(experiments) {
  papers <- list(Baudat = baudat_tables, Teixeira = teixeira_tables, Ramona = ramona_tables,
    Mottl = mottl_tables, Xu = takes_tables)
  there <- vapply(experiments, function(e) file.exists(record_file(e$name)), NA)
  late <- vapply(experiments, `[[`, NA, "late")
  dir <- if (all(there | late)) file.path("inst", "results") else file.path(records_dir, "tables")
  message("tables: ", dir)
  results <- lapply(names(papers), function(paper) {
    own <- Filter(function(e) e$paper == paper, experiments[there])
    if (!length(own)) return(NULL)
    table <- papers[[paper]](own)
    write_result(table[names(table) != "paper"], paste0("reproduce-", tolower(paper)), dir)
    table
  })
  write_glance(do.call(rbind, results), dir)
}
