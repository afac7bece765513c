# Interrupt every long call and measure the answer:  Rscript tools/interrupt.R [interrupts] [name]
# A call is started, a shell process sends SIGINT after a while, and the time until R's handler
# runs is taken: elapsed, and as processor time of the R process, which other load on the machine
# does not stretch. Then `interrupts` more of them for the memory. Every call has a process of its
# own; THREADS sets how many threads it uses. Limits: answer within 0.25 s of processor time,
# resident growth under 5 MB, the next call
# right. The processes give large arrays back to the system at once (a fixed threshold of the C
# library's allocator, which else moves to 32 MB): growth is what is held, not holes in a heap.
args <- commandArgs(TRUE)
limit_seconds <- 0.25
limit_megabytes <- 5

long_table <- function(n, d) {
  t <- seq_len(n)
  x <- vapply(seq_len(d), function(k) sin(t * sqrt(k + 1)) + cos(t * k / 7), numeric(n))
  list(x = x, class = factor(c("no", "yes")[1 + (x[, 1] + x[, 2] > 0)]),
    number = x[, 1] + sin(3 * x[, 2]))
}

# Five values other than zero in a row.
sparse_table <- function(n, d) {
  i <- rep(as.double(seq_len(n)), each = 5L)
  Matrix::sparseMatrix(i, (i * i + 7919 * seq_along(i)) %% d + 1, x = sin(seq_along(i)),
    dims = c(n, d))
}

# Long calls: at least five seconds each, or n = 50,000. Names of functions not (yet) there are
# skipped.
long_calls <- list(
  "gram" = function() {
    x <- long_table(50000, 60)$x
    function() gram(x, z = x[1:10000, ], kernel = rbf_kernel(3))
  },
  "gram, wide" = function() {
    x <- long_table(500, 25000)$x
    function() for (i in 1:20) gram(x, kernel = rbf_kernel(100))
  },
  "gram, laplace" = function() {
    x <- long_table(20000, 20)$x
    function() gram(x, kernel = laplace_kernel(3), z = x)
  },
  "gram, spline" = function() {
    x <- abs(long_table(5000, 100)$x)
    function() gram(x, kernel = spline_kernel())
  },
  "kernel_basis, fvs" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), size = 2000, tol = 0, first = Inf)
  },
  "kernel_basis, cholesky" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), "cholesky", size = 2000, tol = 0)
  },
  "kernel_basis, kobl" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), "kobl", size = 2000, threshold = function(t) 0 * t)
  },
  "kernel_basis, kgs" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), "kgs", size = 2000)
  },
  "kernel_basis, random" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), "random", size = 2000, tol = 0)
  },
  "kernel_basis, centred" = function() {
    x <- long_table(50000, 20)$x
    function() kernel_basis(x, rbf_kernel(1), size = 500, tol = 0, center = "nearest",
      neighbours = 5)
  },
  "kernel_basis, wide" = function() {
    x <- long_table(500, 25000)$x
    function() for (i in 1:20) kernel_basis(x, rbf_kernel(50), "cholesky", size = 500, tol = 0)
  },
  "kernel_basis, function" = function() {
    x <- long_table(20000, 20)$x
    f <- function(x, z) tcrossprod(x, z)^2
    function() kernel_basis(x, function_kernel(f), "cholesky", size = 200, tol = 0)
  },
  "kernel_basis, Gram matrix" = function() {
    K <- gram(long_table(8000, 10)$x, rbf_kernel(1))
    function() for (i in 1:20) kernel_basis(K = K, size = 1000, tol = 0, first = Inf)
  },
  "predict kernel_basis" = function() {
    x <- long_table(50000, 20)$x
    basis <- kernel_basis(x[1:2000, ], rbf_kernel(1), size = 1000, tol = 0)
    function() for (i in 1:20) predict(basis, x)
  },
  "kernel_pca" = function() {
    x <- long_table(50000, 20)$x
    function() for (i in 1:20) kernel_pca(x, rbf_kernel(1), ncomp = 10, size = 500, tol = 0)
  },
  "kernel_pca, all rows" = function() {
    x <- long_table(3000, 10)$x
    function() kernel_pca(x, rbf_kernel(1), basis = NULL)
  },
  "kernel_lm, large basis" = function() {
    data <- long_table(4000, 10)
    basis <- kernel_basis(data$x, rbf_kernel(0.5), size = 3000, tol = 0)
    function() for (i in 1:20) kernel_lm(data$x, data$number, basis = basis, size = Inf,
      ridge = 0.1)
  },
  "kernel_lda, large basis" = function() {
    data <- long_table(4000, 10)
    basis <- kernel_basis(data$x, rbf_kernel(0.5), size = 2000, tol = 0)
    function() for (i in 1:20) kernel_lda(data$x, data$class, basis = basis, ridge = 0.01)
  },
  "kernel_lda, weights" = function() {
    data <- long_table(4000, 10)
    basis <- kernel_basis(data$x, rbf_kernel(0.5), size = 1500, tol = 0)
    function() for (i in 1:20) kernel_lda(data$x, data$class, basis = basis, ridge = 0.01,
      weights = rep(1:2, 2000))
  },
  "kernel_lm" = function() {
    data <- long_table(50000, 20)
    function() for (i in 1:20) kernel_lm(data$x, data$number, rbf_kernel(1), tol = 0)
  },
  "kernel_lda" = function() {
    data <- long_table(50000, 20)
    function() for (i in 1:20) kernel_lda(data$x, data$class, rbf_kernel(1), size = 500, tol = 0)
  },
  "kernel_takes" = function() {
    data <- long_table(20000, 20)
    function() for (i in 1:20) kernel_takes(data$x, data$class, rbf_kernel(1), size = 200)
  },
  "kernel_takes, loo" = function() {
    data <- long_table(10000, 20)
    function() for (i in 1:20) kernel_takes(data$x, data$class, rbf_kernel(1), size = "loo")
  },
  "kernel_tune" = function() {
    data <- long_table(5000, 10)
    function() for (i in 1:20) kernel_tune(data$x, data$number)
  },
  "predict kernel_lm" = function() {
    data <- long_table(50000, 20)
    fit <- kernel_lm(data$x[1:2000, ], data$number[1:2000], rbf_kernel(1), size = 500, tol = 0)
    function() for (i in 1:20) predict(fit, data$x)
  },
  "kernel_hsic" = function() {
    data <- long_table(6000, 5)
    K <- gram(data$x)
    function() for (i in 1:50) kernel_hsic(K, data$class)
  },
  "kernel_rank, sas" = function() {
    data <- long_table(50000, 20)
    function() kernel_rank(data$x, data$class, max_iter = 2)
  },
  "kernel_rank, scss" = function() {
    data <- long_table(50000, 20)
    function() kernel_rank(data$x, data$class, method = "scss", max_iter = 2)
  },
  "kernel_rank, kfds" = function() {
    data <- long_table(2000, 300)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "kfds")
  },
  "kernel_rank, kfds, wide" = function() {
    data <- long_table(500, 10000)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "kfds")
  },
  "kernel_rank, kfds, no ridge" = function() {
    data <- long_table(4000, 1500)
    x <- sin(1e3 * data$x) # independent columns
    function() for (i in 1:20) kernel_rank(x, data$class, method = "kfds", ridge = 0)
  },
  "kernel_rank, kfds, many columns" = function() {
    data <- long_table(3000, 2500)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "kfds", ridge = 1)
  },
  "gram, median width" = function() {
    x <- long_table(1000, 3000)$x
    function() for (i in 1:40) gram(x, rbf_kernel("median"), z = x[1:2, ])
  },
  "kernel_rank, arom" = function() {
    data <- long_table(2000, 100)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "arom")
  },
  "kernel_rank, r2w2" = function() {
    data <- long_table(1500, 60)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "r2w2")
  },
  "kernel_rank, sfs" = function() {
    data <- long_table(3000, 60)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "sfs")
  },
  "kernel_rank, rfe" = function() {
    data <- long_table(2000, 100)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "rfe")
  },
  "kernel_rank, bahsic" = function() {
    data <- long_table(3000, 60)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "bahsic")
  },
  "kernel_rank, forward" = function() {
    data <- long_table(3000, 60)
    function() for (i in 1:20) kernel_rank(data$x, data$class, method = "forward")
  },
  "kernel_fusion, numbers" = function() {
    data <- long_table(2000, 100)
    function() for (i in 1:20) kernel_fusion(data$x, data$number, tol = 0)
  },
  "kernel_fusion, classes" = function() {
    data <- long_table(2000, 100)
    function() for (i in 1:20) kernel_fusion(data$x, data$class, tol = 0)
  },
  "kernel_fusion, basis" = function() {
    data <- long_table(20000, 10)
    kernels <- list(rbf_kernel(0.5), rbf_kernel(2), rbf_kernel(8))
    function() for (i in 1:20) kernel_fusion(data$x, data$class, kernels, basis = "fvs", size = 200,
      tol = 0)
  },
  "kernel_tune, fusion" = function() {
    data <- long_table(1000, 10)
    function() for (i in 1:20) kernel_tune(data$x, data$class, fit = kernel_fusion,
      grid = list(cost = c(0.1, 1, 10)))
  },
  "kernel_basis, row source" = function() {
    source <- as_row_source(long_table(50000, 20)$x, rows = 7000)
    function() kernel_basis(source, rbf_kernel(1), size = 2000, tol = 0)
  },
  "kernel_lm, row source" = function() {
    data <- long_table(50000, 20)
    source <- as_row_source(data.frame(data$x, y = data$number), rows = 7000)
    function() for (i in 1:20) kernel_lm(y ~ ., source, kernel = rbf_kernel(1), size = 300, tol = 0)
  },
  "kernel_basis, sparse" = function() {
    x <- sparse_table(20000, 5000)
    function() for (i in 1:20) kernel_basis(x, rbf_kernel(3), size = 1000, tol = 0, scale = FALSE)
  },
  "predict kernel_lm, written" = function() {
    data <- long_table(50000, 20)
    fit <- kernel_lm(data$x[1:2000, ], data$number[1:2000], rbf_kernel(1), size = 500, tol = 0)
    source <- as_row_source(data$x, rows = 7000)
    function() for (i in 1:50) predict(fit, source, write = function(i, value) NULL)
  },
  "read_model" = function() {
    data <- long_table(4000, 50)
    file <- tempfile()
    write_model(kernel_lm(data$x, data$number, rbf_kernel(3), size = 200, tol = 0), file)
    function() for (i in 1:20) read_model(file)
  },
  "plot_effect" = function() {
    data <- long_table(20000, 20)
    frame <- as.data.frame(data$x)
    fit <- kernel_lm(frame, data$number, rbf_kernel(2), size = 500, tol = 0)
    function() for (i in 1:50) plot_effect(fit, frame, c("V1", "V2"), draw = FALSE)
  }
)

resident <- function() { # megabytes
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("^VmRSS", status, value = TRUE))) / 1024
}

processor_seconds <-
  function(stat) sum(as.numeric(strsplit(sub(".*\\) ", "", stat), " ")[[1L]][12:13])) / 100

# Run `call`, interrupted after `delay` seconds; the seconds until the answer, elapsed and of the
# processor, or NA when the call was over before.
interrupted <- function(call, delay) {
  stamp <- tempfile()
  on.exit(unlink(stamp))
  system(sprintf("(sleep %.3f; cat /proc/%d/stat > %s; date +%%s.%%N >> %s; kill -INT %d) &",
    delay, Sys.getpid(), stamp, stamp, Sys.getpid()))
  answer <- tryCatch(
    {
      call()
      Sys.sleep(delay + 2) # the interrupt comes here when the call was too short
      c(NA, NA)
    },
    interrupt = function(e) c(as.numeric(Sys.time()),
      processor_seconds(readLines("/proc/self/stat")))
  )
  before <- readLines(stamp)
  answer - c(as.numeric(before[2L]), processor_seconds(before[1L]))
}

child <- function(name, times) {
  library(kernelect)
  options(kernelect.threads = as.integer(Sys.getenv("THREADS", "1")))
  call <- long_calls[[name]]()
  quiet <- function() suppressMessages(suppressWarnings(call()))
  expected <- gram(iris[1:4])
  started <- proc.time()[["elapsed"]]
  late <- if (times >= 100L) c(0.1, 0.3, 0.7, 1.5, 3, 4.5) else c(0.5, 1.5, 4)
  delays <- vapply(late, function(d) interrupted(quiet, d), c(0, 0))
  memory <- numeric(times)
  short <- vapply(seq_len(times), function(i) {
    answer <- interrupted(quiet, 0.02 + 0.2 * (i * 0.618) %% 1)
    gc()
    memory[i] <<- resident()
    answer
  }, c(0, 0))
  # what the allocator holds settles at first and varies then: the least of some samples stays
  growth <- min(utils::tail(memory, times / 5)) -
    min(memory[seq(ceiling(times / 5), ceiling(2 * times / 5))])
  answers <- cbind(delays, short)
  worst <- apply(answers, 1L, max, na.rm = TRUE)
  cat(sprintf("%s;%d;%.3f;%.3f;%.2f;%.1f;%s;%.0f\n", name, sum(!is.na(answers[1L, ])),
    stats::median(answers[1L, ], na.rm = TRUE),
    worst[1L], worst[2L], growth, identical(gram(iris[1:4]), expected),
    proc.time()[["elapsed"]] - started))
}

parent <- function(times, only) {
  there <- function(name) sub("^predict ", "",
    sub(",.*", "", name)) %in% getNamespaceExports("kernelect")
  names <- Filter(there, names(long_calls))
  if (length(only)) names <- grep(only, names, value = TRUE)
  lines <- vapply(names, function(name) {
    out <- system2(file.path(R.home("bin"), "Rscript"),
      c("--no-init-file", "tools/interrupt.R", "child", shQuote(name), times),
      stdout = TRUE, env = "MALLOC_MMAP_THRESHOLD_=131072")
    if (length(out)) utils::tail(out, 1L) else paste0(name, ";0;NA;NA;NA;NA;FALSE;NA")
  }, "")
  table <- utils::read.table(text = lines, sep = ";",
    col.names = c("call", "interrupts", "median_s", "worst_s", "worst_cpu_s", "growth_MB",
      "next_right", "took_s"))
  print(table, row.names = FALSE)
  bad <- !(table$worst_cpu_s <= limit_seconds & table$growth_MB <= limit_megabytes & table$next_right) # nolint: line_length_linter.
  cat(sprintf("interrupt: %d calls, %d interrupts, worst answer %.3f s (%.2f s of processor), worst growth %.1f MB, %d calls beyond a limit\n", # nolint: line_length_linter.
    nrow(table), sum(table$interrupts), max(table$worst_s), max(table$worst_cpu_s),
    max(table$growth_MB), sum(is.na(bad) | bad)))
  quit(status = as.integer(anyNA(bad) || any(bad)))
}

if (length(args) && args[1L] == "child") {
  child(args[2L], as.integer(args[3L]))
} else {
  parent(if (length(args)) as.integer(args[1L]) else 200L, args[-1L])
}
