# How the defaults of kernel_lm() were chosen: by a rule fixed beforehand.
#
#   Rscript bench/choose-defaults.R
#
# One half of every set of bench/sets.R (the other is never looked at), 2-fold
# cross-validation within it. Candidates: `tol` of the basis 0.01 or 0.001; kernel width "mean", or
# chosen by leave-one-out loss among 3 or 6 multiples of it. Rule: the best mean rank over all sets
# of the cross-validated loss, the mean squared error or, for classes, the Brier score of the
# calibrated probabilities; among settings that differ by less than the standard error of the paired
# difference of ranks the cheaper one. Beside them "grown", the default as it is: 0.01, and finer
# where leave-one-out takes all of the basis (R/lm-grow.R), compared with 0.01 alone; how far it
# goes was chosen in the same way. Kept in inst/results: choose-defaults.csv, a row a set and
# setting, and choose-defaults-ranks.csv.

library(kernelect)
source("bench/sets.R")

tols <- list("0.01" = list(tol = 0.01), "0.001" = list(tol = 0.001), grown = list())
multiples <- c(0.35, 0.5, 0.7, 1, 1.4, 2)
choices <- list(mean = 1, three = c(0.5, 1, 2), six = multiples)

brier <- function(p, y) mean(rowSums((p - outer(as.character(y), colnames(p), `==`))^2))
log_loss <- function(p, y) mean(-log(pmax(p[cbind(seq_along(y), match(y, colnames(p)))], 1e-15)))

judge <- function(fit, test) {
  if (!is.factor(test$y)) {
    loss <- mean((predict(fit, test) - test$y)^2)
    return(c(loss = loss, error = loss, log_loss = NA))
  }
  p <- predict(fit, test, type = "prob")
  c(loss = brier(p, test$y), error = mean(predict(fit, test) != test$y),
    log_loss = log_loss(p, test$y))
}

# One fold: every multiple of the width once; a choice among several takes the least loss left out.
run_fold <- function(train, test, tol) {
  fit_with <- function(kernel) {
    suppressMessages(do.call(kernel_lm, c(list(y ~ ., train, kernel = kernel), tols[[tol]])))
  }
  spread <- fit_with(rbf_kernel())$basis$kernel$sigma
  tried <- lapply(multiples, function(m) {
    time <- system.time(fit <- fit_with(rbf_kernel(m * spread)))[["elapsed"]]
    list(left_out = min(fit$loo$loss), time = time, found = judge(fit, test))
  })
  names(tried) <- multiples
  do.call(rbind, lapply(names(choices), function(choice) {
    among <- tried[as.character(choices[[choice]])]
    best <- which.min(vapply(among, `[[`, 0, "left_out"))
    time <- sum(vapply(among, `[[`, 0, "time"))
    data.frame(tol = tol, width = choice, as.list(among[[best]]$found), time = time)
  }))
}

run_set <- function(name, make) {
  folds <- folds_of(make)
  cells <- do.call(rbind, lapply(names(tols), function(tol) {
    do.call(rbind, lapply(1:2, function(i) {
      run_fold(folds[[i]], folds[[3 - i]], tol)
    }))
  }))
  figures <- c("loss", "error", "log_loss", "time")
  out <- stats::aggregate(cells[figures], cells[c("tol", "width")], mean, na.action = NULL)
  cbind(set = name, rows = sum(vapply(folds, nrow, 0L)), out)
}

sets <- c(classification, regression)
results <- do.call(rbind, lapply(names(sets), function(name) {
  out <- tryCatch(run_set(name, sets[[name]]), error = function(e) {
    message(name, ": ", conditionMessage(e))
    NULL
  })
  message(name)
  out
}))
results$task <- ifelse(is.na(results$log_loss), "regression", "classification")
results$setting <- paste0("tol ", results$tol, ", width ", results$width)

rank_sets <- function(part, figure) {
  table <- tapply(part[[figure]], part[c("set", "setting")], mean)
  ranks <- t(apply(table, 1L, rank))
  data.frame(figure = figure, setting = colnames(ranks), rank = colMeans(ranks), sets = nrow(ranks),
             seconds = tapply(part$time, part$setting, mean)[colnames(ranks)], row.names = NULL)
}
fixed <- results[results$tol != "grown", ]
classes <- fixed[fixed$task == "classification", ]
ranks <- rbind(
  cbind(task = "all", rank_sets(fixed, "loss")),
  cbind(task = "classification", rank_sets(classes, "loss")),
  cbind(task = "classification", rank_sets(classes, "log_loss")),
  cbind(task = "classification", rank_sets(classes, "error")),
  cbind(task = "regression", rank_sets(fixed[fixed$task == "regression", ], "loss"))
)
print(ranks, digits = 3)

# Grown beside 0.01, the width "mean": sets on which the loss is lower and higher; the mean ratio.
beside <- tapply(results$loss, results[c("set", "setting")], mean)
ratio <- beside[, "tol grown, width mean"] / beside[, "tol 0.01, width mean"]
print(signif(sort(ratio[ratio != 1]), 3))
cat("grown: lower on ", sum(ratio < 1), " sets, higher on ", sum(ratio > 1), " of ", length(ratio),
    "; geometric mean ", format(exp(mean(log(ratio))), digits = 3), "\n", sep = "")
number <- vapply(results, is.double, NA)
results[number] <- lapply(results[number], signif, 5)
ranks$rank <- round(ranks$rank, 3)
ranks$seconds <- signif(ranks$seconds, 3)
utils::write.csv(results[setdiff(names(results), "setting")],
                 file.path("inst", "results", "choose-defaults.csv"), row.names = FALSE)
utils::write.csv(ranks, file.path("inst", "results", "choose-defaults-ranks.csv"),
                 row.names = FALSE)
