# How cost grows: processor seconds of every fit, and of peers, at n = 2000 to 200,000 rows.
#   Rscript bench/growth.R            everything, into inst/results/growth.csv
#   Rscript bench/growth.R kernel_lm  these fits anew
# One thread, ten columns, two classes or a number as response, bases of 100 rows. A fit is not
# tried at more rows where the last one took over `patience` seconds.
library(kernelect)

file <- file.path("inst", "results", "growth.csv")
rows <- c(2000, 6000, 20000, 60000, 200000)
patience <- 12

draw_rows <- function(n) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * 10), n)
  score <- x[, 1] * x[, 2] + x[, 3] + 0.5 * stats::rnorm(n)
  list(x = x, y = score, g = factor(score > 0))
}

fits <- list(
  kernel_basis = function(d) kernel_basis(d$x, size = 100),
  kernel_pca = function(d) kernel_pca(d$x, ncomp = 10, size = 100),
  kernel_lm = function(d) kernel_lm(d$x, d$y, size = 100),
  kernel_lda = function(d) kernel_lda(d$x, d$g, size = 100),
  kernel_tune = function(d) kernel_tune(d$x, d$y, grid = list(sigma = c("x1", "x2"), size = 100)),
  kernel_takes = function(d) kernel_takes(d$x, d$g, size = 100),
  `kernel_fusion, columns` = function(d) kernel_fusion(d$x, d$y),
  `kernel_fusion, basis` = function(d) {
    kernel_fusion(d$x, d$g, list(rbf_kernel(2), rbf_kernel(5)), basis = "cholesky", size = 100,
                  folds = 0)
  },
  `kernel_fusion, machine` = function(d) {
    kernel_fusion(d$x, d$g, list(rbf_kernel(3)), adaptive = FALSE, folds = 0)
  },
  `kernel_rank, sas` = function(d) kernel_rank(d$x, d$g, max_iter = 20),
  `kernel_rank, kfds` = function(d) kernel_rank(d$x, d$g, method = "kfds"),
  `predict, 100 basis rows` = function(d) predict(small, d$x),
  `e1071::svm` = function(d) e1071::svm(d$x, d$g),
  `kernlab::inchol` = function(d) {
    kernlab::inchol(d$x, kernel = "rbfdot", kpar = list(sigma = 0.05), maxiter = 100)
  },
  `mgcv::bam` = function(d) {
    frame <- data.frame(d$x, y = d$y)
    terms <- paste0("s(X", 1:10, ")", collapse = " + ")
    mgcv::bam(stats::as.formula(paste("y ~", terms)), data = frame, discrete = TRUE)
  },
  ranger = function(d) {
    ranger::ranger(y ~ ., data.frame(d$x, y = d$y), num.trees = 50, num.threads = 1)
  }
)
first <- draw_rows(2000)
small <- kernel_lm(first$x, first$y, size = 100)

seconds <- function(f, d) {
  invisible(gc())
  begin <- proc.time()
  suppressWarnings(suppressMessages(f(d)))
  sum((proc.time() - begin)[1:2])
}

wanted <- commandArgs(trailingOnly = TRUE)
if (!length(wanted)) wanted <- names(fits)
known <- if (file.exists(file)) utils::read.csv(file)
known <- known[!known$fit %in% wanted, ]
processor <- sub("^[^:]*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
stopped <- character()
# packages are loaded before anything is measured
for (name in wanted) tryCatch(seconds(fits[[name]], draw_rows(300)), error = function(e) NULL)
for (n in rows) {
  d <- draw_rows(n)
  for (name in setdiff(wanted, stopped)) {
    time <- tryCatch(seconds(fits[[name]], d), error = function(e) NA_real_)
    message(sprintf("%-24s %7d %8.3f", name, n, time))
    if (is.na(time) || time > patience) stopped <- c(stopped, name)
    if (is.na(time)) next
    known <- rbind(known, data.frame(fit = name, n = n, seconds = signif(time, 3),
                                     date = format(Sys.Date()), processor = processor))
    utils::write.csv(known, file, row.names = FALSE)
  }
}
