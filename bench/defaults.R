# How good are the defaults? Every classifier and regression of this package and its peers, each
# with the defaults of its own formula (or matrix) interface, on the same halves of the same data:
#   Rscript bench/defaults.R                  everything that is not in the result file yet
#   Rscript bench/defaults.R kernel_lm ...    these methods anew
#   SETS=iris,Boston Rscript bench/defaults.R ...    on these sets only (SETS=none: tables only)
#   QUICK=1 Rscript bench/defaults.R          few sets, 1 x 2-fold, printed and not kept
# Five times 2-fold: half of the rows (stratified for classes) trains, the other half tests, and
# the reverse. Sets beyond 1000 rows give a fixed sample of 1000. Nothing is chosen on the test
# half.
# A cell (set and method) is kept with its seed in inst/results/defaults.csv, as means over the
# ten halves; mean ranks and tests go to inst/results/defaults-ranks.csv. Figures:
#   error    share misclassified; for numbers the mean squared error over the variance of y
#   logloss  mean of -log probability of the true class, probabilities kept within
#            [0.001, 0.999]; for numbers NA
#   seconds  processor time of a fit and its predictions (probabilities not counted)
#   failed   halves on which the method stopped: they count as the answer "none" (class shares,
#            mean), which is a contender too
# Data: bench/sets.R.
library(kernelect)
source("bench/sets.R")

quick <- nzchar(Sys.getenv("QUICK"))
repeats <- if (quick) 1 else 5
only_sets <- strsplit(Sys.getenv("SETS"), ",")[[1]]
cell_file <- file.path("inst", "results", "defaults.csv")
rank_file <- file.path("inst", "results", "defaults-ranks.csv")

quick_sets <- c("iris", "Sonar", "Pima", "Boston", "friedman1", "mtcars")

# ---- contenders -------------------------------------------------------------------------------
# Each has `fit(train)` and `predict(fit, test)`, classes or numbers; `prob(fit, test, train)`, the
# matrix of probabilities with a column a class, where there is one (a second fit where the
# default one has none); `package`, what it needs.

contender <- function(fit, predict = stats::predict, prob = NULL, package = "kernelect") {
  list(fit = fit, predict = predict, prob = prob, package = package)
}

own_prob <- function(fit, test, train) predict(fit, test, type = "prob")

numeric_columns <- function(data) stats::model.matrix(y ~ ., data)[, -1, drop = FALSE]

none <- contender(
  function(train) train$y,
  function(fit, test) {
    if (!is.factor(fit)) return(rep(mean(fit), nrow(test)))
    factor(rep(names(which.max(table(fit))), nrow(test)), levels(fit))
  },
  function(fit, test, train) {
    share <- table(fit) / length(fit)
    matrix(share, nrow(test), length(share), byrow = TRUE, dimnames = list(NULL, names(share)))
  }
)

# One neighbour, columns as they are: the defaults of class::knn.
nearest <- contender(
  identity,
  function(fit, test) class::knn(numeric_columns(fit), numeric_columns(test), fit$y),
  package = "class"
)

logistic <- contender(
  function(train) {
    if (nlevels(train$y) == 2) return(stats::glm(y ~ ., stats::binomial(), train))
    nnet::multinom(y ~ ., train, trace = FALSE, MaxNWts = 1e5)
  },
  function(fit, test) {
    p <- logistic$prob(fit, test)
    factor(colnames(p)[max.col(p, "first")], colnames(p))
  },
  function(fit, test, train) {
    if (!inherits(fit, "glm")) return(predict(fit, test, type = "probs"))
    p <- predict(fit, test, type = "response")
    matrix(c(1 - p, p), ncol = 2, dimnames = list(NULL, levels(fit$model$y)))
  },
  package = "nnet"
)

# gam() has no default formula: a smooth of ten functions (its default) in every column that has
# as many values, fewer where the rows would not suffice, and straight lines below three.
additive <- contender(
  function(train) {
    columns <- setdiff(names(train), "y")
    k <- min(10, floor(0.9 * nrow(train) / length(columns)))
    smooth <- vapply(train[columns], function(v) is.numeric(v) && length(unique(v)) >= 10, NA)
    terms <- ifelse(smooth & k >= 3, sprintf("s(`%s`, k = %d)", columns, k),
      sprintf("`%s`", columns))
    mgcv::gam(stats::as.formula(paste("y ~", paste(terms, collapse = " + "))), data = train)
  },
  function(fit, test) as.numeric(predict(fit, test)),
  package = "mgcv"
)

kernlab_prob <- function(fit, test, train) kernlab::predict(fit, test, type = "probabilities")

classifiers <- list(
  kernel_lm = contender(function(train) kernel_lm(y ~ ., train), prob = own_prob),
  kernel_tune = contender(function(train) kernel_tune(y ~ ., train), prob = own_prob),
  kernel_lda = contender(function(train) kernel_lda(y ~ ., train),
    prob = function(fit, test, train) {
    predict(fit, test, type = "posterior")
  }),
  kernel_takes = contender(function(train) kernel_takes(y ~ ., train), prob = own_prob),
  kernel_fusion = contender(function(train) kernel_fusion(y ~ ., train), prob = own_prob),
  `e1071::svm` = contender(
    function(train) e1071::svm(y ~ ., train),
    prob = function(fit, test, train) {
      fit <- e1071::svm(y ~ ., train, probability = TRUE)
      attr(predict(fit, test, probability = TRUE), "probabilities")
    }, package = "e1071"
  ),
  `kernlab::ksvm` = contender(
    function(train) kernlab::ksvm(y ~ ., train), kernlab::predict,
    function(fit, test, train) kernlab_prob(kernlab::ksvm(y ~ ., train, prob.model = TRUE), test),
    package = "kernlab"
  ),
  `kernlab::gausspr` = contender(
    function(train) kernlab::gausspr(y ~ ., train), kernlab::predict, kernlab_prob,
    package = "kernlab"
  ),
  ranger = contender(
    function(train) ranger::ranger(y ~ ., train),
    function(fit, test) predict(fit, test)$predictions,
    function(fit, test, train) {
      predict(ranger::ranger(y ~ ., train, probability = TRUE), test)$predictions
    }, package = "ranger"
  ),
  `MASS::lda` = contender(
    function(train) MASS::lda(y ~ ., train), function(fit, test) predict(fit, test)$class,
    function(fit, test, train) predict(fit, test)$posterior, package = "MASS"
  ),
  `glm / multinom` = logistic,
  `class::knn` = nearest,
  none = none
)

regressions <- list(
  kernel_lm = classifiers$kernel_lm,
  kernel_tune = classifiers$kernel_tune,
  kernel_fusion = classifiers$kernel_fusion,
  `e1071::svm` = classifiers[["e1071::svm"]],
  `kernlab::ksvm` = classifiers[["kernlab::ksvm"]],
  `kernlab::gausspr` = classifiers[["kernlab::gausspr"]],
  ranger = classifiers$ranger,
  `mgcv::gam` = additive,
  lm = contender(function(train) stats::lm(y ~ ., train)),
  none = none
)

# ---- one cell ---------------------------------------------------------------------------------

processor_time <- function() sum(proc.time()[1:2])

quietly <- function(expr) {
  utils::capture.output(value <- suppressMessages(suppressWarnings(expr)))
  value
}

# The answer of `none` where a method stops.
attempt <- function(expr, otherwise) {
  tryCatch(list(value = quietly(expr), failed = FALSE), error = function(e) {
    list(value = otherwise, failed = TRUE, why = conditionMessage(e))
  })
}

log_loss <- function(p, truth) {
  p <- pmin(pmax(p[, levels(truth), drop = FALSE], 0.001), 0.999)
  p <- p / rowSums(p)
  -mean(log(p[cbind(seq_along(truth), as.integer(truth))]))
}

one_half <- function(method, train, test, spread, seed) {
  dull <- none$fit(train)
  set.seed(seed)
  begin <- processor_time()
  run <- attempt({
    fit <- method$fit(train)
    answer <- method$predict(fit, test)
    stopifnot(length(answer) == nrow(test), !anyNA(answer))
    list(fit = fit, answer = answer)
  }, list(answer = none$predict(dull, test)))
  seconds <- processor_time() - begin
  answer <- run$value$answer
  if (!is.factor(test$y)) {
    error <- mean((as.numeric(answer) - test$y)^2) / spread
    return(c(error = error, logloss = NA, seconds = seconds, failed = run$failed))
  }
  error <- mean(as.character(answer) != as.character(test$y))
  logloss <- NA
  if (!is.null(method$prob)) {
    p <- attempt(method$prob(run$value$fit, test, train), NULL)
    if (run$failed) p$value <- none$prob(dull, test)
    if (!is.null(p$value)) logloss <- log_loss(p$value, test$y)
  }
  c(error = error, logloss = logloss, seconds = seconds, failed = run$failed)
}

# Means over the halves; `error_se` is the standard error over the repetitions, halves of one
# repetition taken together.
one_cell <- function(data, method, seed) {
  spread <- if (!is.factor(data$y)) stats::var(data$y)
  halves <- lapply(seq_len(repeats), function(i) {
    first <- half(data$y, seed + i)
    a <- one_half(method, data[first, ], data[-first, ], spread, seed + i)
    b <- one_half(method, data[-first, ], data[first, ], spread, seed + i + 100)
    (a + b) / 2
  })
  runs <- do.call(rbind, halves)
  data.frame(
    error = signif(mean(runs[, "error"]), 5),
    error_se = signif(stats::sd(runs[, "error"]) / sqrt(repeats), 3),
    logloss = signif(mean(runs[, "logloss"]), 5), seconds = signif(mean(runs[, "seconds"]), 3),
    failed = 2 * sum(runs[, "failed"]), halves = 2 * repeats, seed = seed
  )
}

# ---- all cells ----------------------------------------------------------------------------------

tasks <- list(
  classification = list(sets = classification, methods = classifiers),
  regression = list(sets = regression, methods = regressions)
)

read_cells <- function() {
  if (quick || !file.exists(cell_file)) return(NULL)
  utils::read.csv(cell_file, colClasses = c(method = "character", set = "character"))
}

write_cells <- function(cells) {
  if (!quick) utils::write.csv(cells, cell_file, row.names = FALSE)
}

available <- function(method) requireNamespace(method$package, quietly = TRUE)

run_task <- function(task, cells, wanted) {
  sets <- tasks[[task]]$sets
  methods <- tasks[[task]]$methods
  if (quick) sets <- sets[names(sets) %in% quick_sets]
  if (length(only_sets)) sets <- sets[names(sets) %in% only_sets]
  for (name in names(sets)) {
    data <- tryCatch(quietly(prepare(sets[[name]])), error = function(e) NULL)
    if (is.null(data)) {
      message(name, ": no such data here, left out")
      next
    }
    for (m in names(methods)) {
      known <- any(cells$task == task & cells$set == name & cells$method == m)
      if (known || !(is.null(wanted) || m %in% wanted)) next
      seed <- 1000 * match(name, c(names(classification), names(regression)))
      cell <- cbind(
        task = task, set = name, n = nrow(data), d = ncol(data) - 1L,
        classes = if (is.factor(data$y)) nlevels(data$y) else NA, method = m,
        one_cell(data, methods[[m]], seed), date = format(Sys.Date())
      )
      message(sprintf("%-14s %-18s error %.4f  logloss %.4f  %.2f s%s", name, m, cell$error,
                      cell$logloss, cell$seconds,
                      if (cell$failed) paste("  failed:", cell$failed) else ""))
      cells <- rbind(cells, cell)
      write_cells(cells)
    }
  }
  cells
}

# ---- ranks ---------------------------------------------------------------------------------------

# Sets by methods: methods with a figure on nine sets of ten at least, and sets with all of them.
figures <- function(cells, task, figure) {
  part <- cells[cells$task == task & !is.na(cells[[figure]]), ]
  if (!nrow(part)) return(matrix(0, 0, 0))
  table <- tapply(part[[figure]], list(part$set, part$method), mean)
  table <- table[, colMeans(!is.na(table)) >= 0.9, drop = FALSE]
  table[rowSums(is.na(table)) == 0, , drop = FALSE]
}

# Mean ranks (1 is best), sets on which `against` did better and worse, and the Wilcoxon signed
# rank test of the paired difference over sets.
rank_table <- function(cells, task, figure, against = "kernel_lm") {
  table <- figures(cells, task, figure)
  if (!against %in% colnames(table) || nrow(table) < 3) return(NULL)
  ranks <- t(apply(table, 1, rank))
  own <- table[, against]
  p <- apply(table, 2, function(v) {
    if (all(v == own)) NA else suppressWarnings(stats::wilcox.test(v, own, paired = TRUE)$p.value)
  })
  out <- data.frame(
    task = task, figure = figure, method = colnames(table), sets = nrow(table),
    rank = round(colMeans(ranks), 2), mean = signif(colMeans(table), 4),
    better = colSums(table < own), worse = colSums(table > own), wilcoxon = signif(p, 3),
    friedman = signif(stats::friedman.test(table)$p.value, 3)
  )
  out[order(out$rank), ]
}

show_task <- function(cells, task) {
  cat("\n", task, ": error", if (task == "regression") " (share of the variance)", " by set\n",
    sep = "")
  print(signif(figures(cells, task, "error"), 3))
  if (task == "classification") {
    cat("\nlog loss by set\n")
    print(signif(figures(cells, task, "logloss"), 3))
  }
  part <- cells[cells$task == task, ]
  cat("\nmedian seconds of a fit with its predictions\n")
  print(sort(tapply(part$seconds, part$method, stats::median)))
  ranks <- do.call(rbind, lapply(c("error", "logloss"), rank_table, cells = cells, task = task))
  cat("\nmean ranks; better and worse: sets where the method beats kernel_lm and where it loses\n")
  print(ranks[-1], row.names = FALSE)
  ranks
}

# Methods whose package is missing are left out, and said.
for (task in names(tasks)) {
  here <- vapply(tasks[[task]]$methods, available, NA)
  if (!all(here)) {
    message(task, ": not installed, left out: ", paste(names(here)[!here], collapse = ", "))
  }
  tasks[[task]]$methods <- tasks[[task]]$methods[here]
}

wanted <- commandArgs(trailingOnly = TRUE)
known <- c(names(classifiers), names(regressions))
if (!all(wanted %in% known)) {
  stop("no such method: ", paste(setdiff(wanted, known), collapse = ", "))
}
if (!length(wanted)) wanted <- NULL
dir.create(dirname(cell_file), showWarnings = FALSE, recursive = TRUE)
cells <- read_cells()
if (!is.null(wanted)) {
  anew <- cells$method %in% wanted & (!length(only_sets) | cells$set %in% only_sets)
  cells <- cells[!anew, ]
}
for (task in names(tasks)) cells <- run_task(task, cells, wanted)
ranks <- do.call(rbind, lapply(names(tasks), show_task, cells = cells))
if (!quick) utils::write.csv(ranks, rank_file, row.names = FALSE)
