# Two threads beside one: wall clock, so on idle processors only, and in turns. Processor time is
# kept too: threads must not cost much more of it.
source(file.path("bench", "harness.R"))
suppressMessages(library(kernelect))

# Medians of wall clock and processor time, a column a number of threads; first runs do not count.
in_turns <- function(job, rounds = 5) {
  spent <- function(threads) {
    time <- system.time(suppressMessages(job(threads)))
    c(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
  }
  spent(1)
  spent(2)
  runs <- replicate(rounds, c(spent(1), spent(2)))
  matrix(apply(runs, 1L, median), 2L)
}

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

for (name in names(jobs)) {
  time <- in_turns(jobs[[name]], if (name == "tune") 3 else 5)
  results <- data.frame(
    bench = paste0("threads-", name),
    contestant = c("kernelect, one thread, wall clock", "kernelect, two threads, wall clock"),
    blas = "default", seconds = signif(time[1L, ], 4), ratio = round(time[1L, ] / time[1L, 1L], 2),
    processor_seconds = signif(time[2L, ], 4), state = "ready", date = format(Sys.Date()),
    processor = cpu_model()
  )
  save_results(results, results$bench[1L])
  cat(name, ": two threads are ", format(time[1L, 1L] / time[1L, 2L], digits = 3),
      " times as fast, and take ", format(time[2L, 2L] / time[2L, 1L], digits = 3),
      " times the processor time\n", sep = "")
}
