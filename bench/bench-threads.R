# Two threads beside one: wall clock, so on idle processors only, and in turns: ratios are of a
# turn, for the machine is not always as fast, and their median counts. Beside them two processes
# that do the same at once, which is what the machine gives: its second processor may be less than a
# whole one. Processor time is kept too: threads must not cost much more of it, nor on a
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

# A list of wall clock (`seconds`), processor time (`processor`) and wall clock in those of one
# thread (`ratio`), medians, a value a contestant. First runs do not count.
in_turns <- function(turn, rounds = 9) {
  turn()
  runs <- replicate(rounds, matrix(turn(), 2L))
  middle <- function(values) apply(values, 1L, median)
  seconds <- matrix(runs[1L, , ], ncol = rounds)
  processor <- matrix(runs[2L, , ], ncol = rounds)
  own <- function(values) middle(values / rep(values[1L, ], each = nrow(values)))
  list(seconds = middle(seconds), processor = middle(processor), ratio = own(seconds),
       processor_ratio = own(processor))
}

keep <- function(name, contestants, time) {
  save_results(data.frame(
    bench = name, contestant = contestants, blas = "default", seconds = signif(time$seconds, 4),
    ratio = signif(time$ratio, 4), processor_seconds = signif(time$processor, 4),
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
  job <- jobs[[name]]
  time <- in_turns(function() c(spent(job(1)), spent(job(2)), two_processes(workers, name)))
  keep(paste0("threads-", name), contestants, time)
  digits <- function(v) format(v, digits = 3)
  cat(name, ": two threads are ", digits(1 / time$ratio[2L]), " times as fast, two processes ",
      digits(1 / time$ratio[3L]), "; they take ", digits(time$processor_ratio[2L]), " and ",
      digits(time$processor_ratio[3L]), " times the processor time\n", sep = "")
}

parallel::stopCluster(workers)

# Beside four processes that never rest: what is compared is processor time.
load <- lapply(1:4, function(i) parallel::mcparallel(repeat NULL))
time <- in_turns(function() c(spent(jobs$rank(1)), spent(jobs$rank(2))))
for (process in load) tools::pskill(process$pid, tools::SIGKILL)
invisible(suppressWarnings(parallel::mccollect(load)))
busy <- list(seconds = time$processor, processor = time$seconds, ratio = time$processor_ratio)
keep("threads-busy", paste0("kernelect, kernel_rank(), ", c("one", "two"), " threads"), busy)
cat("rank on a busy machine: two threads take ", digits(time$processor_ratio[2L]),
    " times the processor time of one, and ", digits(1 / time$ratio[2L]),
    " times as fast by the clock\n", sep = "")
