# Which columns does every method of kernel_rank() find? Problems whose columns are known, all
# defaults, beside the permutation importance of ranger. Writes inst/results/rank-recovery.csv.
#   Rscript bench/recovery.R [runs]
library(kernelect)

problems <- list(
  # y from the columns named in `relevant`; 30 columns, the others noise
  linear = list(relevant = 1:3, y = function(x, noise) {
    factor(x[, 1] + x[, 2] + x[, 3] + noise > 0)
  }),
  pair = list(relevant = 1:2, y = function(x, noise) factor(x[, 1] * x[, 2] + noise / 4 > 0)),
  triple = list(relevant = 1:3, y = function(x, noise) {
    factor(x[, 1] * x[, 2] * x[, 3] + noise / 10 > 0)
  }),
  radial = list(relevant = 1:3, y = function(x, noise) {
    size <- rowSums(x[, 1:3]^2) + noise / 2
    factor(size > stats::median(size))
  }),
  multiclass = list(relevant = 1:3, y = function(x, noise) {
    corner <- 2 * (x[, 1] > 0) + (x[, 2] > 0) # four classes, one of them moved by a third column
    factor(ifelse(corner == 3 & x[, 3] + noise / 4 > 0, 4, corner))
  }),
  correlated = list(relevant = 1:3, y = function(x, noise) {
    factor(x[, 1] + x[, 2] - x[, 3] + noise > 0)
  }, correlated = TRUE),
  numbers = list(relevant = 1:3, y = function(x, noise) x[, 1] * x[, 2] + x[, 3] + noise / 2)
)

draw <- function(problem, n, columns, seed) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * columns), n, dimnames = list(NULL, paste0("x", seq_len(columns))))
  # every noise column of the second ten follows a relevant one at a correlation of 0.7
  if (isTRUE(problem$correlated)) {
    for (d in 11:20) x[, d] <- 0.7 * x[, 1 + d %% 3] + sqrt(1 - 0.7^2) * x[, d]
  }
  list(x = x, y = problem$y(x, stats::rnorm(n)))
}

by_rank <- function(...) function(x, y) suppressWarnings(kernel_rank(x, y, ...))$ranking
contenders <- c(
  stats::setNames(lapply(names(kernelect:::rank_methods), function(m) by_rank(method = m)),
                  names(kernelect:::rank_methods)),
  list(
    `sas with 5 restarts` = by_rank(restarts = 5),
    ranger = function(x, y) {
      fit <- ranger::ranger(x = as.data.frame(x), y = y, importance = "permutation",
                            num.threads = 1)
      order(-fit$variable.importance)
    }
  )
)

measure <- function(problem, contender, n, columns, runs) {
  found <- t(vapply(seq_len(runs), function(seed) {
    data <- draw(problem, n, columns, seed)
    start <- proc.time()[["user.self"]]
    ranking <- tryCatch(contender(data$x, data$y), kernelect_error_argument = function(e) NULL)
    if (is.null(ranking)) return(rep(NA_real_, 3))
    hit <- mean(problem$relevant %in% ranking[seq_along(problem$relevant)])
    c(hit, hit == 1, proc.time()[["user.self"]] - start)
  }, numeric(3)))
  if (anyNA(found)) return(NULL)
  list(recovered = mean(found[, 1]), all = mean(found[, 2]), seconds = stats::median(found[, 3]))
}

runs <- as.integer(c(commandArgs(TRUE), "10")[1])
rows <- list()
n <- 200
for (p in names(problems)) for (m in names(contenders)) {
  result <- measure(problems[[p]], contenders[[m]], n, 30, runs)
  if (is.null(result)) next
  rows[[length(rows) + 1L]] <- data.frame(problem = p, method = m, n = n, columns = 30, runs = runs,
                                          recovered = round(result$recovered, 3),
                                          all = result$all, seconds = round(result$seconds, 3))
}
table <- do.call(rbind, rows)
utils::write.csv(table, "inst/results/rank-recovery.csv", row.names = FALSE, quote = FALSE)
cat("share of the relevant columns among as many best\n")
print(with(table, tapply(recovered, list(factor(method, names(contenders)),
                                         factor(problem, names(problems))), mean)))
