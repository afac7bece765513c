# Calls in forked children of a session that has used threads:  Rscript tools/fork.R [seconds]
# A thread pool does not survive a fork, and waiting for it would never end: a child must run
# serially. Every call runs in the parent on two threads, then in a child that asks for two as
# well, and must come back within `seconds`, with the same value.
args <- commandArgs(TRUE)
patience <- if (length(args)) as.numeric(args[1L]) else 60
library(kernelect)
options(kernelect.threads = 2L)

t <- seq_len(3000)
x <- vapply(1:20, function(k) sin(t * sqrt(k + 1)) + cos(t * k / 7), numeric(3000))
class <- factor(c("no", "yes")[1 + (x[, 1] * x[, 2] > 0)])
number <- x[, 1] + sin(3 * x[, 2])
small <- 1:600
sparse <- Matrix::Matrix(replace(x, x < 1, 0), sparse = TRUE)

calls <- list(
  gram = function() gram(x[1:1500, ], rbf_kernel(3)),
  kernel_basis = function() kernel_basis(x, size = 100)$index,
  "predict kernel_basis" = function() predict(kernel_basis(x[1:1000, ], size = 50), x),
  kernel_pca = function() kernel_pca(x, ncomp = 3, size = 50)$values,
  kernel_lm = function() kernel_lm(x, number, size = 50)$coefficients,
  kernel_lda = function() kernel_lda(x, class, size = 50)$values,
  kernel_rank = function() kernel_rank(x[small, ], class[small], max_iter = 3)$score,
  kernel_takes = function() kernel_takes(x[small, ], class[small], select = "relief")$weights,
  kernel_fusion = function() kernel_fusion(x[small, ], number[small], max_iter = 3)$weights,
  kernel_tune = function() kernel_tune(x[small, ], class[small], folds = 2)$results$error,
  "kernel_tune, fusion" = function() kernel_tune(x[small, ], class[small], fit = kernel_fusion,
    grid = list(cost = c(0.1, 1)), folds = 2)$results$error,
  "kernel_fusion, basis" = function() kernel_fusion(x, class, list(rbf_kernel(2), rbf_kernel(8)),
    basis = "fvs", size = 50, max_iter = 3)$weights,
  "row source" = function() kernel_basis(as_row_source(x, rows = 1100), size = 100)$index,
  "row source, written" = function() {
    seen <- list()
    predict(kernel_lm(x, number, size = 50), as_row_source(x, rows = 1100),
      write = function(i, value) seen[[i]] <<- value)
    unlist(seen)
  },
  sparse = function() kernel_basis(sparse, scale = FALSE, size = 100)$index,
  "written and read" = function() {
    file <- tempfile()
    write_model(kernel_lm(x, number, size = 50), file)
    predict(read_model(file), x)
  },
  plot_effect = function() {
    frame <- as.data.frame(x[small, ])
    plot_effect(kernel_lm(frame, number[small], size = 50), frame, "V1", draw = FALSE)
  }
)

quiet <- function(f) suppressMessages(suppressWarnings(f()))
in_child <- function(f) {
  job <- parallel::mcparallel(quiet(f))
  value <- parallel::mccollect(job, wait = FALSE, timeout = patience)
  if (is.null(value)) {
    tools::pskill(job$pid, tools::SIGKILL)
    parallel::mccollect(job)
    return("no answer")
  }
  parallel::mccollect(job)
  value[[1L]]
}

verdicts <- vapply(calls, function(f) {
  value <- in_child(f) # before the parent's own call and after it: both must answer
  expected <- quiet(f)
  again <- in_child(f)
  if (identical(value, "no answer") || identical(again, "no answer")) return("no answer")
  if (isTRUE(all.equal(value, expected)) && identical(again, value)) "same" else "differs"
}, "")
print(data.frame(call = names(calls), verdict = verdicts, row.names = NULL))
cat(sprintf("fork: %d calls in forked children, %d without an answer or with another\n",
            length(calls), sum(verdicts != "same")))
quit(status = any(verdicts != "same"))
