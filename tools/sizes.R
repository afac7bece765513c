# Large data:  Rscript tools/sizes.R
# n = 50,000 for Gram tiles, bases, models and rankings, and 500 x 25,000 wide data. Each call has
# a process of its own; prints time and peak memory, and whether the answer holds up.
args <- commandArgs(TRUE)

tall <- function(n = 50000, d = 10) vapply(seq_len(d), function(k) sin(seq_len(n) * sqrt(k + 1)),
  numeric(n))
two <- function(x) factor(c("no", "yes")[1 + (x[, 1] + x[, 2]^2 > 0.5)])
quiet <- function(expr) suppressMessages(suppressWarnings(expr))

large_calls <- list(
  "gram, 50,000 x 500" = function() {
    x <- tall()
    K <- gram(x, rbf_kernel(2), z = x[1:500, ])
    isSymmetric(K[1:500, ]) && all(diag(K) == 1)
  },
  "gram, 500 x 25,000" = function() {
    x <- tall(500, 25000)
    K <- gram(x, rbf_kernel(150))
    all(abs(K - exp(-as.matrix(dist(x))^2 / (2 * 150^2))) < 1e-9)
  },
  "kernel_basis, fvs, n = 50,000" = function() all(
    diff(quiet(kernel_basis(tall(), rbf_kernel(2), size = 300))$path$fitness) >= 0),
  "kernel_basis, cholesky, n = 50,000" = function() all(
    diff(quiet(kernel_basis(tall(), rbf_kernel(2), "cholesky", size = 300))$path$trace) <= 0),
  "kernel_basis, kobl, n = 50,000" = function() length(
    quiet(kernel_basis(tall(), rbf_kernel(2), "kobl", size = 300,
      threshold = function(t) 0 * t))$index) == 300L,
  "kernel_basis, kgs, n = 50,000" = function() !is.unsorted(
    quiet(kernel_basis(tall(), rbf_kernel(2), "kgs", size = 300))$index),
  "kernel_basis, random, n = 50,000" = function() all(
    diff(quiet(kernel_basis(tall(), rbf_kernel(2), "random", size = 300))$path$trace) <= 0),
  "kernel_basis, centred, n = 50,000" = function() length(
    quiet(kernel_basis(tall(d = 4), rbf_kernel(2), "cholesky", size = 50,
      center = "nearest"))$center_index) == 1L,
  "kernel_basis, 500 x 25,000" = function() length(
    quiet(kernel_basis(tall(500, 25000), size = 100))$index) == 100L,
  "kernel_lm, n = 50,000" = function() {
    x <- tall()
    cor(predict(quiet(kernel_lm(x, x[, 1] * x[, 2], size = 200)), x), x[, 1] * x[, 2]) > 0.5
  },
  "kernel_pca, n = 50,000" = function() !is.unsorted(
    rev(quiet(kernel_pca(tall(), ncomp = 5, size = 200))$values)),
  "kernel_rank, sas, n = 50,000" = function() {
    x <- tall()
    all(quiet(kernel_rank(x, two(x), max_iter = 2))$ranking[1:2] %in% 1:10)
  },
  "kernel_rank, scss, n = 50,000" = function() {
    x <- tall()
    setequal(quiet(kernel_rank(x, two(x), method = "scss", max_iter = 2))$ranking, 1:10)
  },
  "row source, n = 50,000" = function() {
    x <- tall()
    identical(quiet(kernel_basis(as_row_source(x, rows = 9000), rbf_kernel(2), size = 200))$index,
      quiet(kernel_basis(x, rbf_kernel(2), size = 200))$index)
  },
  "row source of 3e9 rows" = function() { # numbers of rows beyond 32 bits, asked for one by one
    source <- row_source(function(i) if (i > 1L) stop("read on") else tall(1000, 2), rep(1e3, 3e6))
    answer <- tryCatch(kernel_basis(source, rbf_kernel(2), size = 5), error = conditionMessage)
    identical(answer, "read on") || grepl("read on", answer, fixed = TRUE)
  },
  "predict, written, n = 50,000" = function() {
    x <- tall()
    fit <- quiet(kernel_lm(x[1:5000, ], x[1:5000, 1] * x[1:5000, 2], size = 200))
    parts <- list()
    predict(fit, as_row_source(x, rows = 9000), write = function(i, v) parts[[i]] <<- v)
    max(abs(unlist(parts) - predict(fit, x))) < 1e-10
  },
  "sparse, 50,000 x 100,000" = function() { # 5e9 cells, of which a few are filled
    i <- rep(as.double(1:50000), each = 4L)
    x <- Matrix::sparseMatrix(i, (i * i + 7919 * seq_along(i)) %% 1e5 + 1, x = sin(seq_along(i)),
      dims = c(50000, 1e5))
    b <- quiet(kernel_basis(x, rbf_kernel(2), size = 100, scale = FALSE))
    rows <- as.matrix(x[b$index[1:3], ])
    max(abs(gram(rows, rbf_kernel(2)) - gram(x[b$index[1:3], ], rbf_kernel(2)))) < 1e-12 &&
      length(b$index) == 100L
  },
  "kernel_fusion on bases, n = 50,000" = function() {
    x <- tall()
    fit <- quiet(kernel_fusion(x, two(x), list(rbf_kernel(1), rbf_kernel(4)), basis = "fvs",
      size = 50, max_iter = 2))
    mean(predict(fit, x) == two(x)) > 0.8
  },
  "kernel_rank, sas, 500 x 25,000" = function() {
    x <- tall(500, 25000)
    setequal(quiet(kernel_rank(x, two(x), max_iter = 2))$ranking, 1:25000)
  }
)

child <- function(name) {
  library(kernelect)
  started <- proc.time()[["elapsed"]]
  right <- large_calls[[name]]()
  took <- proc.time()[["elapsed"]] - started
  peak <- as.numeric(
    gsub("[^0-9]", "", grep("^VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
  cat(sprintf("%-36s %6.1f s %7.0f MB  %s\n", name, took, peak,
    if (isTRUE(right)) "right" else "WRONG"))
  quit(status = as.integer(!isTRUE(right)))
}

if (length(args) && args[1L] == "child") {
  child(args[2L])
} else {
  status <- vapply(names(large_calls), function(name) {
    as.integer(system2(file.path(R.home("bin"), "Rscript"),
      c("--no-init-file", "tools/sizes.R", "child", shQuote(name))))
  }, 0L)
  cat(sprintf("sizes: %d large calls, %d wrong or failed\n", length(status), sum(status != 0L)))
  quit(status = as.integer(any(status != 0L)))
}
