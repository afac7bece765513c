# How the default grid of kernel_tune() was chosen: by a rule fixed beforehand.
#
#   Rscript bench/choose-tune.R          anew (minutes)
#   TABLE=1 Rscript bench/choose-tune.R  the ranks of what is kept
#
# One half of every set of bench/sets.R (the other is never looked at), 2-fold
# cross-validation within it. A grid is a few RBF kernels (r) and Laplace kernels (l) with multiples
# of the width "mean"; of it the kernel of least loss left out is taken. Grids are judged by their
# mean rank over all sets of the cross-validated loss, the mean squared error or, for classes, the
# Brier score. Two were best and as good as equal ("six" with tol 0.01, "wide" with 0.001): the one
# that misclassified fewer rows was taken.
# Kept in inst/results: choose-tune.csv, a row a set, fold, `tol` and kernel, and
# choose-tune-ranks.csv, a row a grid, `tol` and figure; `by` is what the kernel was taken by.

library(kernelect)
source("bench/sets.R")
results_file <- file.path("inst", "results", "choose-tune.csv")
grids <- list(
  one = "r1", three = c("r0.5", "r1", "r2"), six = c("r0.35", "r0.5", "r0.7", "r1", "r1.4", "r2"),
  narrow = c("r0.5", "r1", "r2", "r4", "l1", "l2"), even = c("r0.5", "r1", "r2", "l1", "l2", "l4"),
  wide = c("r0.7", "r1", "r2", "r4", "l2", "l4")
)

# "r0.5": the kernel with half of the width "mean" of scaled columns.
kernel_of <- function(name, columns) {
  make <- if (startsWith(name, "r")) rbf_kernel else laplace_kernel
  spread <- kernel_basis(columns, rbf_kernel(), size = 1)$kernel$sigma
  make(spread * as.numeric(substring(name, 2)))
}

judge <- function(fit, test) {
  if (!is.factor(test$y)) {
    loss <- mean((predict(fit, test) - test$y)^2)
    return(c(loss = loss, error = loss))
  }
  p <- predict(fit, test, type = "prob")
  truth <- outer(as.character(test$y), colnames(p), `==`)
  c(loss = mean(rowSums((p - truth)^2)), error = mean(predict(fit, test) != test$y))
}

run_fold <- function(train, test, tol) {
  columns <- stats::model.matrix(y ~ ., train)[, -1, drop = FALSE]
  do.call(rbind, lapply(unique(unlist(grids)), function(name) {
    begin <- proc.time()
    fit <- suppressMessages(
      kernel_lm(y ~ ., train, kernel = kernel_of(name, columns), tol = tol)
    )
    time <- sum((proc.time() - begin)[1:2])
    best <- which.min(fit$loo$loss)
    data.frame(tol = tol, kernel = name, left_loss = fit$loo$loss[best],
               left_error = fit$loo$error[best], as.list(judge(fit, test)), seconds = time)
  }))
}

run_set <- function(name, make) {
  folds <- folds_of(make)
  runs <- expand.grid(fold = 1:2, tol = c(0.01, 0.001))
  cells <- Map(function(fold, tol) {
    cbind(fold = fold, run_fold(folds[[fold]], folds[[3 - fold]], tol))
  }, runs$fold, runs$tol)
  task <- if (is.factor(folds[[1]]$y)) "classification" else "regression"
  cbind(task = task, set = name, do.call(rbind, cells))
}

# What each grid ends with, its kernel taken by the loss or the error left out.
take <- function(cells, by) {
  parts <- split(cells, cells[c("set", "fold", "tol")], drop = TRUE)
  do.call(rbind, lapply(parts, function(part) {
    do.call(rbind, lapply(names(grids), function(grid) {
      among <- part[part$kernel %in% grids[[grid]], ]
      found <- among[which.min(among[[paste0("left_", by)]]), ]
      data.frame(found[c("task", "set", "tol", "loss", "error")], grid = grid, by = by,
                 seconds = sum(among$seconds))
    }))
  }))
}

ranks_of <- function(taken, task, figure) {
  part <- taken[task == "all" | taken$task == task, ]
  part$setting <- paste(part$grid, part$tol, part$by)
  table <- tapply(part[[figure]], part[c("set", "setting")], mean)
  setting <- do.call(rbind, strsplit(colnames(table), " "))
  data.frame(
    task = task, figure = figure, grid = setting[, 1], tol = setting[, 2], by = setting[, 3],
    rank = round(colMeans(t(apply(table, 1, rank))), 3), sets = nrow(table),
    seconds = signif(as.vector(tapply(part$seconds, part$setting, mean)[colnames(table)]), 3)
  )
}

if (!nzchar(Sys.getenv("TABLE"))) {
  sets <- c(classification, regression)
  cells <- do.call(rbind, lapply(names(sets), function(name) {
    message(name)
    tryCatch(run_set(name, sets[[name]]), error = function(e) message(conditionMessage(e)))
  }))
  number <- vapply(cells, is.double, NA)
  cells[number] <- lapply(cells[number], signif, 5)
  utils::write.csv(cells, results_file, row.names = FALSE)
}
cells <- utils::read.csv(results_file)
by_loss <- take(cells, "loss")
classes <- cells[cells$task == "classification", ]
ranks <- rbind(
  ranks_of(by_loss, "all", "loss"), ranks_of(by_loss, "regression", "loss"),
  ranks_of(rbind(take(classes, "loss"), take(classes, "error")), "classification", "loss"),
  ranks_of(rbind(take(classes, "loss"), take(classes, "error")), "classification", "error")
)
ranks <- ranks[order(ranks$task, ranks$figure, ranks$rank), ]
print(ranks, row.names = FALSE)
utils::write.csv(ranks, file.path("inst", "results", "choose-tune-ranks.csv"), row.names = FALSE)
