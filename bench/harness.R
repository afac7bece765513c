# Side-by-side measurements. Every contestant is a process of its own, in its own language,
# on a chosen BLAS with one thread; all are set up first, run once to warm up, and then take
# turns, so that a slow spell of the machine falls on everybody. Time is taken inside the
# process. A process answers "run" with: seconds, peak memory of the run beyond what was
# resident before it (bytes), a number computed from the result, by which the contestants are
# seen to have done the same work, and seconds of processor time, which a busy machine
# disturbs less.

# A contestant: `setup` and `job` are code in `lang` ("R" or "python"), where the data are
# known by their names and `value` turns the job's `result` into the number compared (NaN:
# do not compare). lang = "c": `job` is a file in bench/ built on probe.h, with `args`, the core
# and it compiled with `flags`.
contestant <- function(job, setup = "", lang = c("R", "python", "c"), blas = "openblas",
                       value = NULL, args = character(), flags = character()) {
  lang <- match.arg(lang)
  if (is.null(value)) value <- c(R = "sum(result)", python = "result.sum()", c = "")[[lang]]
  list(job = job, setup = setup, lang = lang, blas = blas, value = value, args = args,
    flags = flags)
}

# Run a contest and write bench/results/<name>.csv. `data` is a named list of numeric
# matrices; `contestants` a named list, the first being the one others are compared with. First runs
# do not count, except of a contestant whose first takes more than `patience` seconds of processor:
# it is the only one (`runs` in the result).
contest <- function(name, contestants, data = list(), rounds = 7, patience = 10) {
  dir <- tempfile("contest-")
  dir.create(dir)
  on.exit(unlink(dir, recursive = TRUE))
  for (v in names(data)) write_matrix(as.matrix(data[[v]]), file.path(dir, v))

  players <- Map(start, contestants, seq_along(contestants), MoreArgs = list(dir = dir))
  on.exit(lapply(players, stop_player), add = TRUE, after = FALSE)
  players <- lapply(players, warm_up)
  runs <- lapply(players, function(p) if (isTRUE(p$first[4] > patience)) rbind(p$first))
  again <- vapply(players, function(p) p$state == "ready", NA) & lengths(runs) == 0
  for (round in seq_len(rounds)) {
    for (i in which(again)) runs[[i]] <- rbind(runs[[i]], ask(players[[i]]))
  }
  results <- tabulate_runs(name, contestants, players, runs)
  save_results(results, name)
  show_results(results)
  invisible(results)
}

# Matrices travel as raw doubles, column by column, after two integers.
write_matrix <- function(x, stem) {
  con <- file(paste0(stem, ".bin"), "wb")
  on.exit(close(con))
  writeBin(dim(x), con)
  writeBin(as.double(x), con)
}

start <- function(contestant, id, dir) {
  job <- file.path(dir, paste0("job", id))
  for (part in c("setup", "job", "value")) {
    writeLines(contestant[[part]], paste0(job, ".", part))
  }
  program <- switch(contestant$lang,
    R = c("Rscript", "--no-init-file", file.path("bench", "player.R"), job),
    python = c("/usr/bin/python3", file.path("bench", "player.py"), job),
    c = c(compile(contestant$job, job, contestant$flags), dir, contestant$args)
  )
  answers <- paste0(job, ".fifo")
  system2("mkfifo", shQuote(answers))
  command <- paste(
    paste(shQuote(c(file.path("tools", "with-blas"), contestant$blas, program)), collapse = " "),
    ">", shQuote(answers), "2>", shQuote(paste0(job, ".err"))
  )
  questions <- pipe(command, "w")
  list(questions = questions, answers = fifo(answers, "r", blocking = TRUE), errors = job)
}

compile <- function(source, program, flags) {
  include <- system2("R", c("CMD", "config", "--cppflags"), stdout = TRUE)
  core <- grep("/(ffi.*|init)[.]c$", Sys.glob("src/*.c"), value = TRUE, invert = TRUE)
  system2("gcc", c(
    "-std=gnu99 -O3 -fopenmp -Isrc", flags, include, file.path("bench", source), core,
    "-o", shQuote(program), "-llapack -lblas -lm"
  ))
  program
}

# The first answer tells whether set-up worked, the second whether the job does.
warm_up <- function(player) {
  said <- readLines(player$answers, 1)
  complaint <- readLines(paste0(player$errors, ".err"))
  player$state <- c(said, rev(complaint), "failed to start")[1]
  if (player$state != "ready") return(player)
  tryCatch(player$first <- ask(player), error = function(e) {
    player$state <<- gsub("\n", " ", conditionMessage(e))
  })
  player
}

ask <- function(player) {
  writeLines("run", player$questions)
  flush(player$questions)
  answer <- readLines(player$answers, 1)
  if (!length(answer)) {
    stop("a contestant died: ", paste(readLines(paste0(player$errors, ".err")), collapse = "\n"))
  }
  as.numeric(strsplit(answer, " ")[[1]])
}

# Closing the question pipe is the signal to end.
stop_player <- function(player) {
  close(player$questions)
  close(player$answers)
}

tabulate_runs <- function(name, contestants, players, runs) {
  column <- function(i, f) {
    vapply(runs, function(r) if (is.null(r)) NA_real_ else f(r[, i]), 0, USE.NAMES = FALSE)
  }
  seconds <- column(1, median)
  data.frame(
    bench = name,
    contestant = names(contestants),
    blas = vapply(contestants, `[[`, "", "blas"),
    seconds = signif(seconds, 4),
    fastest = signif(column(1, min), 4),
    ratio = round(seconds / seconds[1], 2),
    cpu = signif(column(4, min), 4),
    cpu_ratio = round(column(4, min) / column(4, min)[1], 2),
    memory_mb = round(column(2, max) / 2^20, 1),
    value = signif(column(3, median), 12),
    runs = vapply(runs, NROW, 0L),
    state = vapply(players, `[[`, "", "state"),
    date = format(Sys.Date()),
    processor = cpu_model(),
    load = scan("/proc/loadavg", 0, n = 1, quiet = TRUE),
    row.names = NULL
  )
}

cpu_model <- function() {
  line <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)
  c(sub("^[^:]*: *", "", line), "unknown")[1]
}

save_results <- function(results, name) {
  dir.create(file.path("bench", "results"), showWarnings = FALSE)
  utils::write.csv(results, file.path("bench", "results", paste0(name, ".csv")), row.names = FALSE)
}

show_results <- function(results) {
  cat("\n", results$bench[1], " (", results$processor[1], ")\n", sep = "")
  ran <- results$state == "ready"
  print(results[ran,
    c("contestant", "blas", "seconds", "ratio", "cpu", "cpu_ratio", "memory_mb", "value")],
    row.names = FALSE
  )
  for (i in which(!ran)) cat(results$contestant[i], ": ", results$state[i], "\n", sep = "")
  first <- results$value[1]
  off <- abs(results$value - first) > 1e-6 * abs(first)
  for (i in which(off)) cat("note:", results$contestant[i], "computed something else\n")
}
