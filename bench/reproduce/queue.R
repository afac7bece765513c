# The queue behind `make reproduce`: experiments, their records, progress and time left.
#
# An experiment is a function of a run's number, which is also its seed, that gives named
# figures; a table's cell is the mean over runs. Each run is written to
# out/reproduce/<experiment>.csv as soon as it is there, with its seed, seconds and commit, and is
# never computed again: an interrupted queue goes on where it stopped. To have one anew, remove
# its file.
#
# Names of figures: "method", "method@setting", or with another table or figure of the same paper
# than the experiment's own, "Table 1|method@setting". A figure of several numbers is a curve
# over the settings 1, 2, ...

records_dir <- file.path("out", "reproduce")

# `runs` is what the paper has (or what we take where it has one or does not say: `paper_runs`),
# `needs` the data files without which there is nothing to run.
experiment <- function(name, paper, item, set, runs, run, paper_runs = runs, needs = NULL) {
  list(
    name = name, paper = paper, item = item, set = set, runs = runs, run = run,
    paper_runs = paper_runs, needs = needs, late = FALSE
  )
}

# Long, and of less interest: after everything else.
later <- function(experiments) {
  lapply(experiments, function(e) {
    e$late <- TRUE
    e
  })
}

# ---- records -----------------------------------------------------------------------------

record_file <- function(name) file.path(records_dir, paste0(name, ".csv"))

read_records <- function(name) {
  file <- record_file(name)
  if (!file.exists(file)) return(NULL)
  utils::read.csv(file, colClasses = c(commit = "character", cell = "character",
    value = "character"))
}

finished_runs <- function(name) unique(read_records(name)$run)

commit_now <- function() {
  run <- function(...) {
    tryCatch(system2("git", c(...), stdout = TRUE, stderr = FALSE), error = function(e) NULL,
      warning = function(w) NULL)
  }
  commit <- run("rev-parse", "--short=10", "HEAD")
  if (!length(commit)) return("unknown")
  paste0(commit, if (length(run("status", "--porcelain", "--", "R", "src", "bench"))) "+")
}

# Beside the old file, then in its place: whatever ends the queue, a record is whole or not there.
write_record <- function(name, run, seconds, figures, commit) {
  file <- record_file(name)
  new <- paste0(file, ".new")
  unlink(new)
  if (file.exists(file)) file.copy(file, new)
  rows <- data.frame(
    run = run, seed = run, commit = commit, seconds = round(seconds, 3), cell = names(figures),
    value = vapply(figures, function(v) paste(signif(v, 8), collapse = " "), "")
  )
  utils::write.table(rows, new, sep = ",", row.names = FALSE, append = file.exists(new),
    col.names = !file.exists(new), qmethod = "double")
  file.rename(new, file)
}

# ---- the queue ---------------------------------------------------------------------------

# Those go first that need least to be complete.
plan_queue <- function(experiments, most = Inf) {
  seconds <- mean_seconds(experiments)
  todo <- do.call(rbind, lapply(seq_along(experiments), function(i) {
    e <- experiments[[i]]
    runs <- setdiff(seq_len(min(e$runs, most)), finished_runs(e$name))
    if (!length(runs)) return(NULL)
    cost <- if (is.na(seconds[i])) Inf else seconds[i] * length(runs)
    data.frame(at = i, run = runs, late = e$late, cost = cost)
  }))
  if (is.null(todo)) return(data.frame(at = integer(), run = integer(), late = logical()))
  todo[order(todo$late, todo$cost, todo$at, todo$run), ]
}

mean_seconds <- function(experiments) {
  vapply(experiments, function(e) {
    records <- read_records(e$name)
    if (is.null(records)) NA else mean(records$seconds[!duplicated(records$run)])
  }, 0)
}

# Time left is that of all runs still to do, by the mean processor time that each experiment took;
# `pace` is the time that goes by in one second of it.
progress_text <- function(e, run, rest, total, seconds, pace) {
  cost <- seconds[rest]
  cost[is.na(cost)] <- mean(seconds, na.rm = TRUE)
  sprintf("%4.0f %%  %-24s run %d of %d, about %.0f min left",
    100 * (1 - length(rest) / total), e$name, run, e$runs, pace * sum(cost) / 60)
}

# On a terminal the line is renewed after every run, in a log there is one every half minute.
# Returns the time of the last line.
tell_progress <- function(text, last, end) {
  now <- as.numeric(Sys.time())
  if (isatty(stderr())) cat("\r", formatC(text, width = -78), sep = "", file = stderr())
  else if (end || now > last + 30) message(text)
  else return(last)
  now
}

# NULL for a run that fails: it is told, left out, and tried again by the next queue.
run_once <- function(e, run) {
  tryCatch(suppressMessages(suppressWarnings(as.list(e$run(run)))), error = function(problem) {
    cat(sprintf("%s, run %d: %s\n", e$name, run, conditionMessage(problem)), file = stderr())
    NULL
  })
}

# In rounds: three runs of every experiment but the late ones come before the tenth of any, and so
# on, so that a queue cut short leaves tables of even quality, and the time left is known early.
run_queue <- function(experiments, most = Inf) {
  dir.create(records_dir, showWarnings = FALSE, recursive = TRUE)
  total <- nrow(plan_queue(experiments, most))
  for (round in c(3, 10, 20, Inf)) {
    queue <- plan_queue(experiments, most)
    now <- queue$run <= round & (!queue$late | round == Inf)
    run_planned(experiments, queue[order(!now), ], sum(now), total)
  }
  if (total && isatty(stderr())) cat("\n", file = stderr())
}

# The first `count` runs of the queue; the others are there for the time left.
run_planned <- function(experiments, queue, count, total) {
  seconds <- mean_seconds(experiments)
  done <- lengths(lapply(experiments, function(e) finished_runs(e$name)))
  commit <- commit_now()
  start <- told <- as.numeric(Sys.time())
  worked <- 0
  for (place in seq_len(count)) {
    i <- queue$at[place]
    e <- experiments[[i]]
    run <- queue$run[place]
    set.seed(run)
    spent <- system.time(figures <- run_once(e, run))
    spent <- sum(spent[c("user.self", "sys.self")])
    worked <- worked + spent
    if (!is.null(figures)) write_record(e$name, run, spent, figures, commit)
    seconds[i] <- if (done[i]) (seconds[i] * done[i] + spent) / (done[i] + 1) else spent
    done[i] <- done[i] + 1
    rest <- queue$at[seq_len(nrow(queue)) > place]
    pace <- (as.numeric(Sys.time()) - start) / max(worked, 0.01)
    text <- progress_text(e, run, rest, total, seconds, pace)
    told <- tell_progress(text, told, end = !length(rest))
  }
}

# ---- tables ------------------------------------------------------------------------------

# Curves are cut to the shortest of the runs.
numbers <- function(values) {
  parts <- lapply(strsplit(values, " "), as.numeric)
  shortest <- min(lengths(parts))
  matrix(vapply(parts, function(v) v[seq_len(shortest)], numeric(shortest)), shortest)
}

split_cell <- function(cell, item) {
  own <- !grepl("|", cell, fixed = TRUE)
  rest <- sub("^[^|]*[|]", "", cell)
  data.frame(
    item = ifelse(own, item, sub("[|].*", "", cell)), method = sub("@.*", "", rest),
    setting = ifelse(grepl("@", rest), sub(".*@", "", rest), NA)
  )
}

# The runs of one experiment as values: a matrix, a row a figure (item, method, setting in `key`).
run_values <- function(e) {
  records <- read_records(e$name)
  if (is.null(records)) return(NULL)
  records <- records[records$run %in% finished_runs(e$name) & records$run <= e$runs, ]
  records <- records[order(records$run), ]
  blocks <- split(records$value, factor(records$cell, unique(records$cell)))
  values <- lapply(blocks, numbers)
  key <- split_cell(names(blocks), e$item)
  key <- key[rep(seq_along(values), vapply(values, nrow, 0L)), ]
  curve <- unlist(lapply(values, function(v) if (nrow(v) > 1) seq_len(nrow(v)) else NA))
  key$setting <- ifelse(is.na(curve), key$setting, curve)
  list(key = key, values = do.call(rbind, values), commit = records$commit[1])
}

# One row a figure: mean and sd over the runs there are.
summarise_experiment <- function(e) {
  runs <- run_values(e)
  if (is.null(runs)) return(NULL)
  data.frame(
    paper = e$paper, item = runs$key$item, set = e$set, method = runs$key$method,
    setting = runs$key$setting, ours = signif(rowMeans(runs$values), 5),
    ours_sd = signif(apply(runs$values, 1, stats::sd), 4), runs = ncol(runs$values),
    paper_runs = e$paper_runs, commit = runs$commit, row.names = NULL
  )
}

# Beside the print: inside when within one printed sd, or one of ours where none is printed.
beside_print <- function(results, printed) {
  same <- function(d) paste(d$item, d$set, d$method, ifelse(is.na(d$setting), "", d$setting))
  at <- match(same(results), same(printed))
  results$print <- printed$print[at]
  results$print_sd <- printed$print_sd[at]
  yardstick <- ifelse(is.na(results$print_sd), results$ours_sd, results$print_sd)
  # Printed figures are rounded to a tenth of a unit or so: half of the last digit is no miss.
  results$inside <- abs(results$ours - results$print) <= yardstick + 1e-9
  results
}

# Beside what is not inside. `reasons`: data frame item, set, method (each may be "*") and reason;
# the first that fits.
add_reasons <- function(results, reasons) {
  fits <- function(want, have) want == "*" | want == have
  results$reason <- vapply(seq_len(nrow(results)), function(i) {
    r <- results[i, ]
    if (!r$inside %in% FALSE) return("")
    hit <- fits(reasons$item, r$item) & fits(reasons$set, r$set) & fits(reasons$method, r$method)
    if (any(hit)) return(reasons$reason[which(hit)[1]])
    if (!is.na(r$paper_runs) && r$runs < r$paper_runs) "too few runs yet to tell" else ""
  }, "")
  results
}

read_reasons <- function(text) {
  utils::read.table(header = TRUE, sep = "|", strip.white = TRUE, quote = "", text = text,
    colClasses = "character")
}

write_result <- function(table, name, dir) {
  dir.create(dir, showWarnings = FALSE, recursive = TRUE)
  utils::write.csv(table, file.path(dir, paste0(name, ".csv")), row.names = FALSE, na = "")
}
