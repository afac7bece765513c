# Two threads beside one: wall clock, so on idle processors only, and in turns; and beside them two
# processes that do the same at once, which is what the machine gives: its second processor may be
# less than a whole one. Processor time is kept too: threads must not cost much more of it, nor on a
# machine that is busy with four other things (bench threads-busy).
source(file.path("bench", "harness.R"))
suppressMessages(library(kernelect))

spent <- function(code) {
  time <- system.time(suppressMessages(code))
  c(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
}

# The same job in two workers at once; each counts half of the time.
two_processes <- function(workers, name) {
  begin <- proc.time()[["elapsed"]]
  spent <- parallel::clusterCall(workers, function(name) {
    sum(system.time(suppressMessages(jobs[[name]](1)))[1:2])
  }, name)
  c((proc.time()[["elapsed"]] - begin) / 2, mean(unlist(spent)))
}

contestants <- c("kernelect, one thread, wall clock", "kernelect, two threads, wall clock",
                 "two processes at once, half their wall clock")

# Medians of wall clock and processor time, a column a contestant; first runs do not count.
in_turns <- function(name, workers, rounds = 5) {
  turn <- function() {
    job <- jobs[[name]]
    c(spent(job(1)), spent(job(2)), two_processes(workers, name))
  }
  turn()
  matrix(apply(replicate(rounds, turn()), 1L, median), 2L)
}

keep <- function(name, contestants, time) {
  save_results(data.frame(
    bench = name, contestant = contestants, blas = "default", seconds = signif(time[1L, ], 4),
    ratio = round(time[1L, ] / time[1L, 1L], 2), processor_seconds = signif(time[2L, ], 4),
    state = "ready", date = format(Sys.Date()), processor = cpu_model()
  ), name)
}

set_up <- quote({
  set.seed(1)
  wide <- matrix(rnorm(8000 * 200), 8000)
  long <- matrix(rnorm(200000 * 20), 200000)
  kernel <- rbf_kernel(sigma = 5)
  classes <- factor(long[, 1] * long[, 2] > 0)
  fit <- kernel_lm(long[1:5000, ], long[1:5000, 1] * long[1:5000, 2], size = 200)
  jobs <- list(
    gram = function(threads) gram(wide, kernel, threads = threads),
    basis = function(threads) kernel_basis(long, kernel, size = 200, threads = threads),
    rank = function(threads) kernel_rank(long[1:3000, ], classes[1:3000], threads = threads),
    predict = function(threads) predict(fit, long, threads = threads),
    lm = function(threads) kernel_lm(long, classes, kernel, size = 200, threads = threads),
    tune = function(threads) kernel_tune(long[1:5000, ], classes[1:5000], threads = threads)
  )
})
eval(set_up)
workers <- parallel::makeCluster(2)
invisible(parallel::clusterCall(workers, function(set_up) {
  suppressMessages(library(kernelect))
  eval(set_up, globalenv())
  NULL
}, set_up))

for (name in names(jobs)) {
  time <- in_turns(name, workers)
  keep(paste0("threads-", name), contestants, time)
  cat(name, ": two threads are ", format(time[1L, 1L] / time[1L, 2L], digits = 3),
      " times as fast, two processes ", format(time[1L, 1L] / time[1L, 3L], digits = 3),
      "; they take ", format(time[2L, 2L] / time[2L, 1L], digits = 3), " and ",
      format(time[2L, 3L] / time[2L, 1L], digits = 3), " times the processor time\n", sep = "")
}

parallel::stopCluster(workers)

# Beside four processes that never rest: what is compared is processor time.
load <- lapply(1:4, function(i) parallel::mcparallel(repeat NULL))
runs <- replicate(5, c(spent(jobs$rank(1)), spent(jobs$rank(2))))
for (process in load) tools::pskill(process$pid, tools::SIGKILL)
invisible(suppressWarnings(parallel::mccollect(load)))
time <- matrix(apply(runs, 1L, median), 2L)
keep("threads-busy", paste0("kernelect, kernel_rank(), ", c("one", "two"), " threads"), time[2:1, ])
cat("rank on a busy machine: two threads take ", format(time[2L, 2L] / time[2L, 1L], digits = 3),
    " times the processor time of one, and ", format(time[1L, 1L] / time[1L, 2L], digits = 3),
    " times as fast by the clock\n", sep = "")
