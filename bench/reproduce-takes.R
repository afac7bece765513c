# Table 2 and Figures 2 and 3 of Xu, Shen, Ping and Zhao (2011), TAKES:
#   Rscript bench/reproduce-takes.R [set ...]
# Data: the directory named by KERNELECT_DATA, default ../shared/data, and package mlbench.
# Training sizes are those of Table 2: published splits where there are any (diabetes, heart,
# thyroid), else rows drawn at random, class by class; 20 splits.
#
# inst/results/takes-table2.csv: number of directions and reconstruction cost E(M) of
# KOBL with threshold f(t) = t, for five widths of the RBF kernel on standardised columns (sigma =
# `factor` times "mean", the root mean squared distance to the centroid), beside the print; the
# same for KGS and KPCA, whose printed costs belong to no basis of all rows. Costs of the KDA
# column are not reproduced: two classes have one discriminant direction.
#
# inst/results/takes-figures.csv: test accuracy in per cent, mean and sd over the
# splits, of every method at several numbers of directions (Inf: all of positive weight), and the
# mean number of directions there is, with sigma = "mean". The figures' numbers are not printed in
# the paper. Beyond its methods: "takes loo" chooses the number of directions by leave-one-out,
# "takes tuned" also the width, by kernel_tune() on the training rows. KNNC is the nearest
# neighbour on the standardised columns, which is the nearest neighbour in the RBF space. KDA is
# kernel_lda(basis = NULL) with `ridge = 1e-6`, then the nearest neighbour on its score.
#
# Found: sigma of twice "mean" comes near the printed Dim and E(M) of diabetes, heart, ionosphere
# and thyroid; australian lies between factors 2 and 4; sonar's Dim needs 8, its cost more. "Better
# than KNNC under all datasets" is not reproduced: TAKES gains on ionosphere (2 points, 4 with
# leave-one-out) and diabetes (0.4), and loses 0.2 to 4 points on the others, within one sd. Relief
# on KGS or KPCA does as well or better on five of six sets. Leave-one-out with weights learned on
# the same rows chooses few directions, at a loss of about a point on the noisy sets. The printed
# KFFS keeps one direction, and is far behind everywhere.
library(kernelect)

data_dir <- Sys.getenv("KERNELECT_DATA", file.path("..", "shared", "data"))
results_dir <- file.path("inst", "results")
splits <- 20L
sizes <- c(1, 2, 5, 10, 20, 40, 80, 160, Inf)

printed <- utils::read.table(header = TRUE, text = "
set        file       n   kobl_cost kobl_dim kgs_cost kgs_dim kpca_cost kpca_dim
australian australian 345 0.044     36       0.063    345     0.412     345
diabetes   diabetis   468 0.062     58       0.082    468     0.392     468
heart      heart      170 0.145     44       0.158    170     0.384     170
ionosphere -          281 0.111     69       0.098    281     0.383     281
sonar      -          104 0.047     12       0.067    104     0.519     104
thyroid    thyroid    140 0.043     20       0.083    140     0.407     140
")

read_file <- function(name) {
  d <- utils::read.csv(gzfile(file.path(data_dir, paste0(name, ".csv.gz"))))
  published <- file.path(data_dir, paste0(name, ".splits.csv.gz"))
  list(
    x = as.matrix(d[-ncol(d)]), y = factor(d$y),
    splits = if (file.exists(published)) as.matrix(
      utils::read.csv(gzfile(published), header = FALSE))
  )
}

read_mlbench <- function(name) {
  home <- new.env()
  utils::data(list = name, package = "mlbench", envir = home)
  d <- home[[name]]
  x <- vapply(d[names(d) != "Class"], function(v) as.numeric(as.character(v)), numeric(nrow(d)))
  list(x = x, y = d$Class)
}

read_set <- function(set) {
  data <- switch(set,
    ionosphere = read_mlbench("Ionosphere"), sonar = read_mlbench("Sonar"),
    read_file(printed$file[printed$set == set])
  )
  if (is.null(data$splits)) data$splits <- draw_splits(data$y, printed$n[printed$set == set])
  data
}

# n rows in the shares of the classes, `splits` times.
draw_splits <- function(y, n) {
  set.seed(1)
  t(vapply(seq_len(splits), function(i) {
    mixed <- sample(length(y))
    place <- ave(seq_along(y), y[mixed], FUN = function(at) (seq_along(at) - 0.5) / length(at))
    mixed[order(place)][seq_len(n)]
  }, integer(n)))
}

accuracy <- function(predicted, truth) 100 * mean(predicted == truth)

nearest <- function(train, y, new) {
  closeness <- 2 * tcrossprod(new, train) - rep(rowSums(train^2), each = nrow(new))
  y[max.col(closeness, "first")]
}

row_of <- function(method, size, directions, value) {
  data.frame(method = method, size = size, directions = directions, accuracy = value)
}

# Accuracy at each size, of one fit.
curve <- function(label, fit, part) {
  do.call(rbind, lapply(sizes[sizes < fit$size | is.infinite(sizes)], function(k) {
    small <- if (is.finite(k)) head(fit, k) else fit
    row_of(label, k, small$size, accuracy(predict(small, part$new), part$truth))
  }))
}

single <- function(label, fit, part) {
  row_of(label, Inf, fit$size, accuracy(predict(fit, part$new), part$truth))
}

tuned <- function(part) {
  best <- kernel_tune(part$x, part$y, fit = kernel_takes, folds = 5, select = "kffs",
    grid = list(size = c(5, 10, 20, 40, 80, 160)))
  kernel_takes(part$x, part$y, best$model$basis$kernel, select = "kffs", size = "loo")
}

split_accuracies <- function(part) {
  fit <- function(..., select = "kffs") kernel_takes(part$x, part$y, ..., select = select)
  scaled <- scale(part$x)
  scaled[is.nan(scaled)] <- 0
  new <- scale(part$new, attr(scaled, "scaled:center"), pmax(attr(scaled, "scaled:scale"), 1e-300))
  new[, attr(scaled, "scaled:scale") == 0] <- 0
  lda <- kernel_lda(part$x, part$y, basis = NULL, ridge = 1e-6)
  own <- predict(lda, part$x, type = "scores")
  rbind(
    curve("takes", fit(), part),
    single("takes printed", fit(variant = "printed"), part),
    single("takes loo", fit(size = "loo"), part),
    single("takes tuned", tuned(part), part),
    curve("kgs + kffs", fit(basis = "kgs"), part),
    curve("fskgs", fit(basis = "kgs", select = "relief"), part),
    curve("fskpca", fit(basis = "kpca", select = "relief"), part),
    row_of("kda", Inf, ncol(own),
      accuracy(nearest(own, part$y, predict(lda, part$new, type = "scores")), part$truth)),
    row_of("knnc", Inf, NA, accuracy(nearest(scaled, part$y, new), part$truth))
  )
}

factors <- c(0.5, 1, 2, 4, 8)

split_costs <- function(x) {
  spread <- sqrt(sum(apply(x, 2, sd) > 0) *
    (nrow(x) - 1) / nrow(x)) # "mean" of standardised columns
  one <- function(method, factor, ...) {
    basis <- kernel_basis(x, rbf_kernel(factor * spread), method = method, size = Inf, ...)
    last <- basis$path[nrow(basis$path), ]
    data.frame(method = method, factor = factor, dim = last$size, cost = last$cost)
  }
  rbind(
    do.call(rbind, lapply(factors, one, method = "kobl")),
    one("kgs", 1), transform(one("cholesky", 1, tol = 0), method = "kpca")
  )
}

mean_sd <- function(values, by) {
  out <- stats::aggregate(values, by, function(v) c(mean = mean(v), sd = stats::sd(v)))
  do.call(data.frame, out)
}

run_set <- function(set) {
  data <- read_set(set)
  parts <- lapply(seq_len(splits), function(i) {
    train <- data$splits[i, ]
    list(x = data$x[train, ], y = data$y[train], new = data$x[-train, ], truth = data$y[-train])
  })
  quietly <- function(e) suppressWarnings(suppressMessages(e))
  costs <- do.call(rbind, lapply(parts, function(p) quietly(split_costs(p$x))))
  figures <- do.call(rbind, lapply(parts, function(p) quietly(split_accuracies(p))))
  list(
    table2 = cbind(set = set, mean_sd(costs[c("dim", "cost")], costs[c("method", "factor")])),
    figures = cbind(set = set,
      mean_sd(figures[c("accuracy", "directions")], figures[c("size", "method")]))
  )
}

beside_print <- function(table2) {
  row <- match(table2$set, printed$set)
  of <- function(what) mapply(function(i, m) printed[i, paste0(m, "_", what)], row, table2$method)
  cbind(table2, n = printed$n[row], printed_dim = of("dim"), printed_cost = of("cost"))
}

save_table <- function(table, name) {
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], signif, 4)
  dir.create(results_dir, showWarnings = FALSE)
  utils::write.csv(table, file.path(results_dir, paste0("takes-", name, ".csv")), row.names = FALSE)
}

asked <- commandArgs(trailingOnly = TRUE)
if (!length(asked)) asked <- printed$set
runs <- list()
for (set in asked) {
  seconds <- system.time(runs[[set]] <- run_set(set))[["elapsed"]]
  cat(sprintf("%s: %.0f s\n", set, seconds))
  figures <- runs[[set]]$figures
  print(figures[is.infinite(figures$size),
    c("method", "accuracy.mean", "accuracy.sd", "directions.mean")], row.names = FALSE, digits = 3)
}
if (setequal(asked, printed$set)) {
  save_table(beside_print(do.call(rbind, lapply(runs, `[[`, "table2"))), "table2")
  save_table(do.call(rbind, lapply(runs, `[[`, "figures")), "figures")
}
