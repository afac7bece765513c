# Rows that do not fit: memory and time of bases and regressions of rows in files beside the same in
# memory, two workers beside one, and what moves per round.
#   Rscript bench/bench-scale.R [part ...]          results: inst/results/scale.csv
# Parts: basis (2,000,000 x 20 rows), lm (500,000 rows in memory and in a file, and all in a file),
# workers (1,000,000 rows; wants idle cores); none: all. A part takes the place of its lines in the
# results. Each run is a process of its own: `peak_mb` is its peak (VmHWM), `processor` the seconds
# of all its processes, `load` the machine's at its end.

parts <- intersect(commandArgs(TRUE), c("basis", "lm", "workers"))
if (!length(parts)) parts <- c("basis", "lm", "workers")
n <- as.numeric(Sys.getenv("ROWS", "2e6"))
size <- as.numeric(Sys.getenv("SIZE", "200"))
results <- "inst/results/scale.csv"
folder <- file.path(tempdir(), "rows")
dir.create(folder)
chunks <- 40
rows <- n / chunks

# Twenty columns that depend on six, and a response: as files of doubles and as Parquet.
made <- lapply(seq_len(chunks), function(i) {
  set.seed(i)
  z <- matrix(stats::rnorm(rows * 6), rows)
  x <- cbind(z, z %*% matrix(sin(1:84), 6) + 0.3 * stats::rnorm(rows * 14))
  colnames(x) <- paste0("v", 1:20)
  writeBin(as.vector(x), file.path(folder, paste0(i, ".bin")))
  data.frame(x, y = sin(x[, 1]) + 0.2 * x[, 2] * x[, 3] + 0.3 * stats::rnorm(rows))
})
groups <- nanoparquet::parquet_options(num_rows_per_row_group = as.integer(rows))
nanoparquet::write_parquet(do.call(rbind, made), file.path(folder, "all.parquet"),
                           options = groups)
nanoparquet::write_parquet(do.call(rbind, made[seq_len(chunks / 4)]),
                           file.path(folder, "quarter.parquet"), options = groups)
rm(made)

common <- sprintf("
  library(kernelect)
  folder <- '%s'; rows <- %d; size <- %d
  read <- eval(bquote(function(i) {
    matrix(readBin(file.path(.(folder), paste0(i, '.bin')), 0, .(rows) * 20), .(rows))
  }))
  environment(read) <- baseenv()
  raw <- function(chunks) row_source(read, rep(rows, chunks), paste0('v', 1:20))
  parquet <- function(name) file.path(folder, paste0(name, '.parquet'))
  frame <- function(name) as.data.frame(nanoparquet::read_parquet(parquet(name)))
  basis <- function(x, ...) kernel_basis(x, method = 'cholesky', size = size, tol = 0, ...)
  of_formula <- function(data, ...) basis(~ . - y, data = data, ...)
  lm <- function(data, ...) kernel_lm(y ~ ., data, basis = 'cholesky', size = size, tol = 0, ...)
  peak <- function() {
    as.numeric(gsub('\\\\D', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1e3
  }
  report <- function(time, fit, extra = NA) {
    force(time)
    chosen <- if (inherits(fit, 'kernel_lm')) fit$basis else fit
    load <- scan('/proc/loadavg', 0, n = 1, quiet = TRUE)
    cat('\\n@', sum(time[c(1, 2, 4, 5)]), time[3], peak(), chosen$updates, sum(chosen$index), extra,
        load, '\\n')
  }
", folder, as.integer(rows), as.integer(size))

measure <- function(part, run, rows, code) {
  script <- tempfile(fileext = ".R")
  writeLines(c(common, code), script)
  said <- system2("Rscript", script, stdout = TRUE, stderr = TRUE)
  line <- grep("^@", said, value = TRUE)
  if (!length(line)) stop(paste(said, collapse = "\n"))
  v <- scan(text = sub("@", "", line), quiet = TRUE)
  out <- data.frame(
    part = part, run = run, rows = rows, size = size, processor = v[1], wall = v[2],
    peak_mb = v[3], rounds = v[4], checksum = v[5], bytes = v[6], load = v[7]
  )
  print(out)
  out
}

timed <- function(call) paste0("report(system.time(f <- ", call, "), f)")

basis_runs <- function() {
  rbind(
    measure("basis", "in memory", n, c(
      "x <- frame('all'); x$y <- NULL; x <- as.matrix(x)", timed("basis(x)")
    )),
    measure("basis", "raw files, memory = 200", n, timed("basis(raw(40), memory = 200)")),
    measure("basis", "Parquet, memory = 200", n,
            timed("of_formula(as_row_source(parquet('all')), memory = 200)")),
    measure("basis", "Parquet, memory = 100", n,
            timed("of_formula(as_row_source(parquet('all')), memory = 100)"))
  )
}

lm_runs <- function() {
  rbind(
    measure("lm", "kernel_lm in memory", n / 4, c("d <- frame('quarter')", timed("lm(d)"))),
    measure("lm", "kernel_lm, Parquet, memory = 100", n / 4,
            timed("lm(as_row_source(parquet('quarter')), memory = 100)")),
    measure("lm", "kernel_lm, Parquet, memory = 200", n,
            timed("lm(as_row_source(parquet('all')), memory = 200)"))
  )
}

# Bytes: all messages of updates and rows, as they are serialized.
worker_code <- "
  engine <- asNamespace('kernelect')
  cluster <- parallel::makePSOCKcluster(%d)
  used <- function() Reduce(`+`, parallel::clusterCall(cluster, proc.time))
  bytes <- 0
  plain <- engine$ask_bodies
  utils::assignInNamespace('ask_bodies', function(cluster, id, message, count) {
    answer <- plain(cluster, id, message, count)
    if (message$kind %%in%% c('update', 'rows')) {
      bytes <<- bytes + length(serialize(answer, NULL)) +
        length(cluster) * length(serialize(message, NULL))
    }
    answer
  }, 'kernelect')
  before <- used()
  time <- system.time(f <- basis(raw(20), cluster = cluster))
  time[1:2] <- time[1:2] + (used() - before)[1:2]
  parallel::stopCluster(cluster)
  report(time, f, bytes / f$updates)"

worker_runs <- function() {
  rbind(measure("workers", "1 worker", n / 2, sprintf(worker_code, 1L)),
        measure("workers", "2 workers", n / 2, sprintf(worker_code, 2L)))
}

for (part in parts) {
  now <- switch(part, basis = basis_runs(), lm = lm_runs(), workers = worker_runs())
  same <- split(now$checksum, now$rows)
  stopifnot(lengths(lapply(same, unique)) == 1) # the same rows are picked
  old <- if (file.exists(results)) utils::read.csv(results)
  old <- if (all(names(now) %in% names(old))) old[!old$part %in% part, names(now)]
  both <- rbind(old, now)
  utils::write.csv(both[order(match(both$part, c("basis", "lm", "workers"))), ], results,
                   row.names = FALSE)
}
print(utils::read.csv(results))
unlink(folder, recursive = TRUE)
