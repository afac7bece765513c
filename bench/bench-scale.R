# Rows that do not fit: memory and time of bases of 2,000,000 x 20 rows beside the engine in memory,
# two workers beside one, and what moves per round.
#   Rscript bench/bench-scale.R [rows] [size]      results: inst/results/scale.csv
# Each run is a process of its own; memory is its peak (VmHWM), time that of the processor.

arguments <- as.numeric(commandArgs(TRUE))
n <- if (length(arguments) > 0) arguments[1] else 2e6
size <- if (length(arguments) > 1) arguments[2] else 200
folder <- file.path(tempdir(), "rows")
dir.create(folder)
chunks <- 40
rows <- n / chunks

# Chunks of doubles on disk: twenty columns that depend on six.
for (i in seq_len(chunks)) {
  set.seed(i)
  z <- matrix(stats::rnorm(rows * 6), rows)
  x <- cbind(z, z %*% matrix(sin(1:84), 6) + 0.3 * stats::rnorm(rows * 14))
  writeBin(as.vector(x), file.path(folder, paste0(i, ".bin")))
}

common <- sprintf("
  library(kernelect)
  engine <- asNamespace('kernelect')
  folder <- '%s'; rows <- %d; chunks <- %d
  source <- list(width = 20, sizes = rep(rows, chunks))
  source$read_matrix <- eval(bquote(function(i) {
    matrix(readBin(file.path(.(folder), paste0(i, '.bin')), 0, .(rows) * 20), .(rows))
  }))
  environment(source$read_matrix) <- baseenv()
  control <- engine$basis_control('cholesky', size = %d, tol = 0)
  kernel <- rbf_kernel(sigma = 6)
  scaling <- list() # centred columns: no shift
  fit <- function(...) {
    engine$basis_from_source(source, kernel, control, scaling, list(), ...)$basis
  }
  peak <- function() {
    as.numeric(gsub('\\\\D', '', grep('VmHWM', readLines('/proc/self/status'), value = TRUE))) / 1e3
  }
  report <- function(time, fit, extra = '') {
    cat('\n@', sum(time[c(1, 2, 4, 5)]), time[3], peak(), fit$updates, sum(fit$index), extra, '\n')
  }
", folder, as.integer(rows), as.integer(chunks), as.integer(size))

measure <- function(what, code) {
  script <- tempfile(fileext = ".R")
  writeLines(c(common, code), script)
  said <- system2("Rscript", script, stdout = TRUE, stderr = TRUE)
  line <- grep("^@", said, value = TRUE)
  if (!length(line)) stop(paste(said, collapse = "\n"))
  v <- scan(text = sub("@", "", line), quiet = TRUE)
  out <- data.frame(
    run = what, rows = n, size = size, processor = v[1], wall = v[2], peak_mb = v[3],
    rounds = v[4], checksum = v[5], bytes = v[6]
  )
  print(out)
  out
}

results <- list(
  measure("in memory", "
    x <- do.call(rbind, lapply(seq_len(chunks), source$read_matrix))
    data <- list(x = x, scaling = scaling, input = list())
    report(system.time(f <- engine$basis_from_data(data, kernel, control)$basis), f)"),
  measure("file, memory = 200", "report(system.time(f <- fit(memory = 200)), f)"),
  measure("file, memory = 200, factor made again", "
    options(kernelect.scratch = FALSE)
    report(system.time(f <- fit(memory = 200)), f)"),
  measure("file, all kept", "report(system.time(f <- fit()), f)")
)
for (workers in 1:2) {
  name <- paste(workers, if (workers > 1) "workers" else "worker")
  results <- c(results, list(measure(name, sprintf("
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
    time <- system.time(f <- fit(cluster = cluster))
    time[1:2] <- time[1:2] + (used() - before)[1:2]
    parallel::stopCluster(cluster)
    report(time, f, bytes / f$updates)", workers))))
}
results <- do.call(rbind, results)
stopifnot(length(unique(results$checksum)) == 1)
print(results)
utils::write.csv(results, "inst/results/scale.csv", row.names = FALSE)
unlink(folder, recursive = TRUE)
