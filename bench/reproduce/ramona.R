# Ramona, Richard and David (2012), SAS, SCSS and KFDS: Figures 1 to 6 and Tables II to IX.
#
# Unstated in the paper, and our choice: columns standardised on the training rows, RBF start with
# sigma half of "mean", weights of one to start from, final RBF with 2 sigma^2 = S (S columns).
# As stated: C = 1/R^2 (footnote 4). "10 iterations" is said where times are given: methods ending
# in 10 take ten steps of gradient ascent, the others go on until they converge.
# kernlab's ksvm is the final machine, as any SVM would be.

# ---- ranking and the final machine -------------------------------------------------------

linear_only <- c("kfds", "arom", "rfe", "fisher")

# "sas10": ten steps of ascent; "sas-plain": target yy'; "sas-restarts": five further starts.
rank_by <- function(label, data, kernel, ...) {
  method <- sub("-.*|(?<=sas|scss)[0-9]+$", "", label, perl = TRUE)
  steps <- as.integer(substring(sub("-.*", "", label), nchar(method) + 1))
  given <- if (kernel != "rbf" && !method %in% linear_only) ranking_kernel(kernel, ncol(data$x))
  args <- list(data$x, data$y, given, method, ...)
  if (!is.na(steps)) args[c("optimizer", "max_iter")] <- list("ascent", steps)
  if (grepl("plain", label)) args$target <- "plain"
  if (grepl("restarts", label)) args$restarts <- 5
  do.call(kernel_rank, args)$ranking
}

ranking_kernel <- function(kernel, columns) {
  if (kernel == "linear") linear_kernel() else polynomial_kernel(3, scale = 1 / columns)
}

# What an SVM needs on the columns given: standardised rows, kernel and cost.
machine_on <- function(train, columns, kernel, ...) {
  a <- train$x[, columns, drop = FALSE]
  center <- colMeans(a)
  spread <- apply(a, 2, stats::sd)
  spread[spread == 0] <- 1
  prepare <- function(x) scale(x[, columns, drop = FALSE], center, spread)
  a <- prepare(train$x)
  lengths <- rowSums(a^2)
  size <- length(columns)
  R <- mean(sqrt(switch(kernel, linear = lengths, rbf = 2 - 2 * exp(-lengths / size),
    polynomial = (lengths / size + 1)^3 - 1)))
  dot <- switch(kernel, linear = vanilladot(), rbf = rbfdot(1 / size),
    polynomial = polydot(3, 1 / size, 1))
  utils::capture.output(machine <- ksvm(a, train$y, kernel = dot, C = 1 / R^2, scaled = FALSE, ...))
  list(machine = machine, prepare = prepare, spread = spread)
}

svm_error <- function(train, test, columns, kernel) {
  fit <- machine_on(train, columns, kernel)
  error_rate(predict(fit$machine, fit$prepare(test$x)), test$y)
}

pick <- function(data, rows) list(x = data$x[rows, , drop = FALSE], y = droplevels(data$y[rows]))

# Errors of every method at every size, named "method@size".
errors_by <- function(train, test, sizes, methods, kernel, ranking_rows = train) {
  figures <- lapply(methods, function(m) {
    ranking <- rank_by(m, ranking_rows, kernel)
    lapply(sizes, function(s) svm_error(train, test, ranking[seq_len(s)], kernel))
  })
  stats::setNames(unlist(figures, recursive = FALSE),
    paste0(rep(methods, each = length(sizes)), "@", sizes))
}

# A random split of a set: n_train rows to rank and train on, the others (or some) to test.
random_split <- function(name, n_train, n_test = Inf) {
  data <- the_set(name)
  order <- sample.int(nrow(data$x))
  parts <- list(order[seq_len(n_train)], utils::head(order[-seq_len(n_train)], n_test))
  lapply(parts, function(rows) list(x = data$x[rows, , drop = FALSE], y = data$y[rows]))
}

split_run <- function(name, n_train, sizes, methods, kernel, n_test = Inf) {
  function(i) {
    parts <- random_split(name, n_train, n_test)
    errors_by(parts[[1]], parts[[2]], sizes, methods, kernel)
  }
}

# ---- Figure 1: toys ----------------------------------------------------------------------

toy_run <- function(type, kernel, methods) {
  as_data <- function(d) list(x = as.matrix(d[names(d) != "y"]), y = d$y)
  function(i) {
    test <- as_data(simulate_weston(500, 10000 + i, type))
    unlist(lapply(seq(10, 100, 10), function(n) {
      train <- as_data(simulate_weston(n, i, type))
      figures <- lapply(methods, function(m) {
        best <- if (m == "all") seq_len(ncol(train$x)) else rank_by(m, train, kernel)[1:2]
        svm_error(train, test, best, kernel)
      })
      stats::setNames(figures, paste0(methods, "@", n))
    }), recursive = FALSE)
  }
}

# ---- Tables II and V: digits -------------------------------------------------------------

# Preferences r (a column per pair of k classes, in the order of combn) coupled to classes: the
# largest 1 / (sum_j 1/r_ij - (k - 2)).
coupled_class <- function(r, k) {
  r <- pmin(pmax(r, 1e-7), 1 - 1e-7)
  pairs <- utils::combn(k, 2)
  total <- matrix(0, nrow(r), k)
  for (p in seq_len(ncol(pairs))) {
    total[, pairs[1, p]] <- total[, pairs[1, p]] + 1 / r[, p]
    total[, pairs[2, p]] <- total[, pairs[2, p]] + 1 / (1 - r[, p])
  }
  max.col(-total, "first")
}

# Probability of the first of two classes by the machine's sigmoid; our gram() is much faster here
# than its own prediction, and needs no standardised copy of the new rows: an RBF kernel does not
# see where the origin is.
preference <- function(train, columns, x) {
  fit <- machine_on(train, columns, "rbf", prob.model = TRUE)
  support <- unname(train$x[alphaindex(fit$machine)[[1]], columns, drop = FALSE])
  kernel <- rbf_kernel(gamma = 1 / length(columns), weights = 1 / fit$spread)
  sigmoid <- prob.model(fit$machine)[[1]]
  chance <- function(rows) {
    values <- gram(unname(rows[, columns, drop = FALSE]), kernel, z = support) %*%
      coef(fit$machine)[[1]]
    drop(1 / (1 + exp(sigmoid$A * (values - b(fit$machine)) + sigmoid$B)))
  }
  own <- chance(train$x)
  first <- train$y == levels(train$y)[1]
  new <- chance(x)
  if (mean(own[first]) > mean(own[!first])) new else 1 - new
}

# Errors of 45 machines at all sizes, each on the pixels that rank best for its own two digits.
pairwise_errors <- function(data, rows, test, sizes, method) {
  pairs <- utils::combn(nlevels(data$y), 2)
  preferences <- array(0, c(nrow(test$x), ncol(pairs), length(sizes)))
  for (p in seq_len(ncol(pairs))) {
    train <- pick(data, unlist(rows[pairs[, p]]))
    ranking <- rank_by(method, train, "rbf")
    for (s in seq_along(sizes)) {
      preferences[, p, s] <- preference(train, ranking[seq_len(sizes[s])], test$x)
    }
  }
  lapply(seq_along(sizes), function(s) {
    100 * mean(coupled_class(preferences[, , s], nlevels(data$y)) != as.integer(test$y))
  })
}

# Table II: 100 rows a digit for ranking and training. No machine tells ten digits by the same
# five pixels as well as the print, so we read its pairwise scheme as 45 rankings, and its "rest
# for testing" as the rest of the 7291 rows (Table I has 2007, which are known to be harder).
table2_sizes <- c(200, 150, 100, 50, 30, 10, 5)

table2_run <- function(methods) {
  function(i) {
    data <- the_set("USPS")
    rows <- lapply(split(1:7291, data$y[1:7291]), sample, 100)
    test <- pick(data, setdiff(1:7291, unlist(rows)))
    unlist(lapply(methods, function(m) {
      stats::setNames(pairwise_errors(data, rows, test, table2_sizes, m),
        paste0(m, "@", table2_sizes))
    }), recursive = FALSE)
  }
}

# Table V: digits 0-4 against 5-9, ranked on 7 rows a digit, trained on 1000 rows.
table5_run <- function(i) {
  data <- the_set("USPS")
  digit <- data$y
  data$y <- factor(as.integer(as.character(digit)) > 4)
  few <- unlist(lapply(split(1:7291, digit[1:7291]), sample, 7), use.names = FALSE)
  many <- pick(data, sample.int(7291, 1000))
  errors_by(many, pick(data, 7292:9298), c(50, 40, 20, 10, 5, 3, 1),
    c("sas", "scss", "kfds", "r2w2", "sas10", "scss10", "sas-restarts", "gmkl"), "rbf",
    ranking_rows = pick(data, few))
}

# ---- Table III: yeast, 8-fold cross-validation -------------------------------------------

yeast_run <- function(i) {
  data <- the_set("Yeast")
  fold <- sample(rep_len(1:8, nrow(data$x)))
  folds <- vapply(1:8, function(f) {
    part <- function(at) list(x = data$x[at, ], y = data$y[at])
    unlist(errors_by(part(fold != f), part(fold == f), c(79, 40, 30, 20, 10, 5),
      c("arom", "sas", "scss", "sas10", "scss10"), "rbf"))
  }, numeric(30))
  as.list(rowMeans(folds))
}

# ---- Tables VIII and IX: processor time --------------------------------------------------

timed_methods <- c("arom", "r2w2", "rfe", "sas", "kfds")

# Processor seconds of ten iterations, a call repeated until a tenth of a second is spent.
seconds_of <- function(method, x, y) {
  call <- function() {
    switch(method,
      rfe = kernel_rank(x, y, method = "rfe"),
      sas = kernel_rank(x, y, method = "sas", optimizer = "ascent", max_iter = 10),
      kernel_rank(x, y, method = method, max_iter = 10)
    )
  }
  call()
  count <- 0
  spent <- 0
  while (spent < 0.1) {
    spent <- spent + sum(system.time(call(), gcFirst = FALSE)[c("user.self", "sys.self")])
    count <- count + 1
  }
  spent / count
}

time_run <- function(rows, columns) {
  function(i) {
    figures <- unlist(lapply(seq_along(rows), function(k) {
      x <- matrix(stats::rnorm(rows[k] * columns[k]), rows[k])
      y <- factor(rep_len(1:2, rows[k]))
      x[, 1] <- x[, 1] + as.integer(y)
      lapply(timed_methods, seconds_of, x, y)
    }), recursive = FALSE)
    at <- if (length(unique(rows)) > 1) rows else columns
    stats::setNames(figures, paste0(timed_methods, "@", rep(at, each = length(timed_methods))))
  }
}

# ---- not in the paper: interactions among 50 columns, 1000 rows ---------------------------

interaction_run <- function(i) {
  x <- matrix(stats::rnorm(50000), 1000)
  mixed <- factor(sign(x[, 1] * x[, 2] + x[, 3] / 2 + stats::rnorm(1000, sd = 0.3)))
  pure <- factor(sign(x[, 1] * x[, 2]))
  list(
    "x1 x2 + x3/2 + noise: sas, 5 restarts" =
      all(1:3 %in% kernel_rank(x, mixed, restarts = 5)$ranking[1:5]) + 0,
    "x1 x2 + x3/2 + noise: forward" =
      all(1:3 %in% kernel_rank(x, mixed, method = "forward")$ranking[1:5]) + 0,
    "x1 x2: forward" = all(1:2 %in% kernel_rank(x, pure, method = "forward")$ranking[1:2]) + 0
  )
}

# ---- printed figures ---------------------------------------------------------------------

ramona_table4 <- utils::read.table(header = TRUE, text = "
data       train kernel size  sas sas_sd scss scss_sd kfds kfds_sd other
Liver      240   linear 6    34.0 2.0    34.0 2.0     34.0 2.0     35.1
Cleveland  150   linear 9    17.2 2.4    17.1 2.5     24.1 3.9     16.5
Ionosphere 250   linear 25   12.9 2.4    13.4 2.6     12.2 2.3     13.4
Pima       500   linear 7    24.2 2.0    24.2 1.9     24.4 1.8     25.1
BCW        340   linear 9     3.5 0.9     3.5 0.9      3.5 0.9      3.2
Sonar      145   linear 50   23.3 1.8    23.1 1.6     21.9 1.9     22.6
Musk       300   linear 125  20.7 2.5    20.0 2.4     21.4 2.6     18.3
Liver      240   rbf    2    36.2 1.0    34.9 2.6     40.4 2.3     35.4
Cleveland  150   rbf    3    22.1 3.0    23.0 2.8     27.8 3.1     23.6
Ionosphere 250   rbf    7     7.0 2.2     7.0 2.4      8.0 2.8      7.7
Pima       500   rbf    1    27.0 2.6    26.1 1.2     32.7 3.2     27.0
BCW        340   rbf    3     4.5 1.1     4.3 1.0      6.1 1.3      4.2
Sonar      145   rbf    10   24.9 3.1    22.2 3.3     31.6 2.9     27.4
Musk       300   rbf    41   13.8 3.0    14.4 3.3     15.9 2.7     15.5")

# Accuracies.
ramona_table6 <- utils::read.table(header = TRUE, text = "
data       train size bahsic bahsic_sd sas  sas_sd scss scss_sd kfds kfds_sd gmkl gmkl_sd
Ionosphere 246   5    87.1   3.1       92.0 2.3    91.1 2.8     88.7 3.1     90.9 1.9
Ionosphere 246   10   90.2   3.5       93.6 2.1    93.2 2.1     93.1 2.8     93.7 2.1
Ionosphere 246   15   92.6   2.0       94.6 2.0    94.5 2.0     93.6 2.2     94.1 2.1
Parkinsons 136   3    85.2   3.8       88.6 4.1    84.9 3.8     85.1 7.7     86.3 4.1
Parkinsons 136   7    88.5   3.6       88.7 3.7    84.2 4.5     85.6 6.0     92.6 2.9
Sonar      145   5    61.1   6.2       74.1 4.4    71.6 3.8     65.3 7.7     74.4 5.1
Sonar      145   10   73.1   5.9       75.1 3.1    77.8 3.3     68.4 8.9     80.2 4.9
Sonar      145   15   74.7   4.5       77.4 4.5    79.5 3.8     73.9 7.9     80.7 5.5")

ramona_table2 <- utils::read.table(header = TRUE, text = "
size fisher fisher_sd fspp fspp_sd arom arom_sd sas  sas_sd scss scss_sd
200  6.7    1.0       6.6  0.8     6.2  0.8     6.9  1.0    6.6  1.0
150  6.4    1.0       6.9  0.7     6.0  0.8     6.6  1.1    6.7  1.0
100  6.3    1.0       7.1  0.7     5.8  0.8     6.2  1.0    6.6  1.0
50   6.7    1.0       8.0  0.7     5.6  0.8     6.2  1.0    6.5  1.1
30   7.5    1.2       9.1  0.9     5.5  0.8     6.5  1.0    6.9  1.0
10   10.1   1.6       12.4 1.3     6.3  0.7     8.3  1.3    8.9  1.3
5    12.2   1.5       13.8 1.1     8.5  0.7     10.6 1.4    10.8 1.4")

ramona_table3 <- utils::read.table(header = TRUE, text = "
size fspp fspp_sd arom arom_sd sas sas_sd scss scss_sd
79   5.6  3.0     5.6  3.0     5.6 3.0    5.6  3.0
40   8.3  3.7     4.6  2.7     3.6 2.5    3.8  2.3
30   8.4  3.6     4.3  2.7     3.3 2.4    3.6  2.2
20   8.7  3.5     3.8  2.8     3.2 2.2    3.0  2.0
10   10.8 4.2     3.8  2.7     3.6 2.3    2.4  2.2
5    13.1 4.0     3.4  2.3     3.8 2.3    2.9  1.9")

ramona_table5 <- utils::read.table(header = TRUE, text = "
size r2w2 kcs  sas  sas_sd scss scss_sd kfds kfds_sd
50   10.0 11.5 10.0 2.5    14.7 4.0     12.7 3.5
40   10.0 12.5 11.4 2.2    16.3 3.9     13.3 3.3
20   15.5 17.0 14.3 1.1    21.4 4.7     17.0 2.9
10   25.0 23.0 20.7 2.5    24.4 4.1     24.5 2.1
5    34.0 31.5 26.6 2.9    27.5 3.3     29.5 2.8
3    39.5 36.5 30.4 2.4    29.0 2.6     33.3 3.6
1    41.0 41.5 37.6 4.8    36.9 5.1     40.2 3.4")

ramona_table7 <- utils::read.table(header = TRUE, text = "
section method first second
V-B     sas    23.8  23.8
V-B     scss   6.0   16.7
V-B     kfds   14.3  11.7
V-B     r2w2   27.4  15.5
V-C     sas    37.9  34.5
V-C     scss   17.2  44.8
V-C     kfds   6.9   0.0")

ramona_table8 <- utils::read.table(header = TRUE, text = "
at   arom r2w2  rfe  sas  kfds
5    6    14    65   42   2
10   7    17    55   29   1
20   8    20    63   34   1
50   14   32    68   41   2
200  23   292   127  67   3
500  38   2710  353  270  23
1000 88   17764 1021 1153 169")

ramona_table9 <- utils::read.table(header = TRUE, text = "
at   arom r2w2 rfe   sas  kfds
5    78   83   28    110  1
20   83   100  98    150  3
50   88   138  265   208  4
200  105  260  1503  455  25
500  133  498  5715  880  248
1000 153  890  19388 1600 1801
2000 210  1748 80083 3143 14037")

# ---- the list ----------------------------------------------------------------------------

# Sets from files; the others come with packages.
file_of <- c(Liver = "liver_bupa", Pima = "diabetis",
  Cleveland = "heart_cleveland", Parkinsons = "parkinsons",
  USPS = "usps", Lymphoma = "lymphoma_discrete", Yeast = "brown_yeast3")

ramona <- function(label, item, set, runs, run, ...) {
  needs <- unname(file_of[set])
  experiment(paste0("ramona-", label), "Ramona", item, set, runs, run,
    needs = if (!is.na(needs)) needs, ...)
}

table4_experiments <- function() {
  lapply(seq_len(nrow(ramona_table4)), function(i) {
    row <- ramona_table4[i, ]
    e <- ramona(paste0("table4-", row$kernel, "-", row$data), "Table IV", row$data, 30,
      split_run(row$data, row$train, row$size,
        c("sas", "scss", "kfds", "sas10", "scss10",
          if (row$kernel == "rbf") c("sas-restarts", "gmkl")), row$kernel))
    e$set <- paste0(row$data, ", ", row$kernel)
    e
  })
}

table6_experiments <- function() {
  lapply(unique(ramona_table6$data), function(name) {
    row <- ramona_table6[ramona_table6$data == name, ]
    ramona(paste0("table6-", name), "Table VI", name, 30, split_run(name, row$train[1], row$size,
      c("bahsic", "sas", "sas-plain", "scss", "kfds", "gmkl", "sas10", "scss10",
        "sas-restarts"), "rbf"))
  })
}

figure_experiments <- function() {
  linear <- c("fisher", "arom", "r2w2", "rfe", "sas", "scss", "kfds", "sas10", "scss10")
  rbf <- c(linear, "sfs")
  figure <- function(label, item, name, train, sizes, methods, kernel, test) {
    e <- ramona(paste0("figure", label), item, name, 30,
      split_run(name, train, sizes, methods, kernel, test))
    e$set <- paste0(name, ", ", kernel)
    e
  }
  spam <- c(5, 10, 15, 20, 30, 40, 50, 57)
  iono <- c(2, 4, 6, 8, 10, 15, 20, 25, 30, 33)
  park <- c(1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22)
  list(
    figure("3-linear", "Figure 3", "Ionosphere", 250, iono, linear, "linear", 101),
    figure("3-rbf", "Figure 3", "Ionosphere", 250, iono, c(rbf, "gmkl"), "rbf", 101),
    figure("6", "Figure 6", "Parkinsons", 136, park,
      c("fisher", "arom", "r2w2", "rfe", "sas", "scss", "kfds", "sas10", "scss10", "gmkl"),
      "polynomial", 59),
    figure("2-linear", "Figure 2", "Spambase", 500, spam, linear, "linear", 1000),
    figure("2-rbf", "Figure 2", "Spambase", 500, spam, c(rbf, "gmkl"), "rbf", 1000)
  )
}

ramona_experiments <- function() {
  toys <- list(
    linear = c("fisher", "rfe", "arom", "r2w2", "sas", "scss", "kfds", "sas10", "sas1", "gmkl",
      "all"),
    nonlinear = c("fisher", "rfe", "arom", "r2w2", "sas", "scss", "sfs", "kfds", "sas10",
      "scss10", "forward", "bahsic", "gmkl", "all")
  )
  many <- c(10, 20, 50, 100, 200, 500, 1000, 2000, 4026)
  lymphoma <- ramona("figure4", "Figure 4", "Lymphoma", 30, split_run("Lymphoma", 60, many,
    c("fisher", "arom", "r2w2", "sas", "scss", "kfds", "sas10", "scss10"), "linear", 36))
  rows <- ramona_table8$at
  columns <- ramona_table9$at
  list(
    tables = c(
      list(ramona("table5", "Table V", "USPS", 7, table5_run)),
      table4_experiments(), table6_experiments()
    ),
    figures = c(list(
      ramona("table8", "Table VIII", "N", 1, time_run(rows, rep(30, length(rows))),
        paper_runs = NA),
      ramona("table9", "Table IX", "D", 1, time_run(rep(30, length(columns)), columns),
        paper_runs = NA),
      ramona("figure1-linear", "Figure 1", "linear", 40,
        toy_run("linear", "linear", toys$linear)),
      ramona("figure1-nonlinear", "Figure 1", "nonlinear", 40,
        toy_run("nonlinear", "rbf", toys$nonlinear)),
      ramona("table3", "Table III", "Yeast", 30, yeast_run),
      ramona("interaction", "now", "interactions", 20, interaction_run, paper_runs = NA)
    ), figure_experiments(), list(lymphoma)),
    digits = list(ramona("table2", "Table II", "USPS", 30,
      table2_run(c("fisher", "arom", "sas", "scss", "sas10", "scss10", "gmkl"))))
  )
}

# ---- tables ------------------------------------------------------------------------------

# The print of a table in long form; ten steps of ascent stand beside the same print.
long_print <- function(item, set, size, table, methods) {
  do.call(rbind, lapply(methods, function(m) {
    sd <- table[[paste0(m, "_sd")]]
    labels <- c(m, if (m %in% c("sas", "scss")) paste0(m, "10"))
    do.call(rbind, lapply(labels, function(label) {
      data.frame(item = item, set = set, method = label, setting = as.character(size),
        print = table[[m]], print_sd = if (is.null(sd)) NA else sd)
    }))
  }))
}

ramona_print <- function() {
  table6 <- ramona_table6
  means <- c("bahsic", "sas", "scss", "kfds", "gmkl")
  table6[means] <- 100 - table6[means]
  rbind(
    long_print("Table II", "USPS", ramona_table2$size, ramona_table2,
      c("fisher", "arom", "sas", "scss")),
    long_print("Table III", "Yeast", ramona_table3$size, ramona_table3, c("arom", "sas", "scss")),
    long_print("Table IV", paste0(ramona_table4$data, ", ", ramona_table4$kernel),
      ramona_table4$size, ramona_table4, c("sas", "scss", "kfds")),
    long_print("Table V", "USPS", ramona_table5$size, ramona_table5,
      c("sas", "scss", "kfds", "r2w2")),
    long_print("Table VI", table6$data, table6$size, table6, means)
  )
}

# Where the text says a number of a figure: 15 % of the linear toy; Spambase with ten columns.
ramona_figure_print <- function() {
  rbind(
    data.frame(item = "Figure 1", set = "linear",
      method = c("fisher", "sas", "scss", "sas10", "sas1"), setting = "100", print = 15,
      print_sd = NA),
    data.frame(item = "Figure 2", set = "Spambase, linear",
      method = c("r2w2", "sas", "scss", "kfds", "sas10", "scss10"), setting = "10",
      print = c(15, 12.3, 12.3, 12.3, 12.3, 12.3), print_sd = NA)
  )
}

# Table VII: how often each method has the least or second least mean error of a row, among ours
# and, where we have no such method, the printed figures.
ramona_ranks <- function(results) {
  section <- list(
    "V-B" = c("Figure 2", "Figure 3", "Figure 6", "Table II"),
    "V-C" = c("Table IV", "Table V", "Table VI")
  )
  quoted <- rbind(
    data.frame(row = paste("Table IV", paste0(ramona_table4$data, ", ", ramona_table4$kernel),
      ramona_table4$size), method = "neumann", ours = ramona_table4$other),
    data.frame(row = paste("Table V USPS", ramona_table5$size), method = "kcs",
      ours = ramona_table5$kcs)
  )
  own <- c("fisher", "arom", "r2w2", "rfe", "sas", "scss", "kfds", "bahsic", "gmkl")
  in_print <- function(d) { # GMKL stands in Table VI only
    d$method %in% own & (d$method != "gmkl" | d$item == "Table VI")
  }
  do.call(rbind, lapply(names(section), function(s) {
    d <- results[results$item %in% section[[s]] & in_print(results), ]
    if (!nrow(d)) return(NULL)
    d <- data.frame(row = paste(d$item, d$set, d$setting), method = d$method, ours = d$ours)
    d <- rbind(d, quoted[quoted$row %in% d$row, ])
    # with all columns every method is the same
    d <- d[stats::ave(d$ours, d$row, FUN = function(v) diff(range(v))) > 0, ]
    place <- stats::ave(d$ours, d$row, FUN = function(v) rank(v, ties.method = "min"))
    methods <- ramona_table7$method[ramona_table7$section == s]
    share <- function(m, p) 100 * mean(place[d$method == m] == p)
    data.frame(item = "Table VII", set = s, method = rep(methods, 2),
      setting = rep(c("first", "second"), each = length(methods)),
      ours = round(c(vapply(methods, share, 0, 1), vapply(methods, share, 0, 2)), 1))
  }))
}

ramona_table7_rows <- function(results) {
  ranks <- ramona_ranks(results)
  if (is.null(ranks)) return(NULL)
  printed <- rbind(
    data.frame(set = ramona_table7$section, method = ramona_table7$method, setting = "first",
      print = ramona_table7$first),
    data.frame(set = ramona_table7$section, method = ramona_table7$method, setting = "second",
      print = ramona_table7$second)
  )
  key <- function(d) paste(d$set, d$method, d$setting)
  data.frame(paper = "Ramona", ranks[c("item", "set", "method", "setting", "ours")], ours_sd = NA,
    runs = NA, paper_runs = NA, commit = results$commit[1],
    print = printed$print[match(key(ranks), key(printed))], print_sd = NA, inside = NA)
}

# Tables VIII and IX are in units of their least time.
relative_times <- function(results) {
  for (item in c("Table VIII", "Table IX")) {
    at <- results$item == item
    results$ours[at] <- signif(results$ours[at] / min(results$ours[at]), 3)
  }
  table <- function(item, set, d) long_print(item, set, d$at, d, timed_methods)
  printed <- rbind(table("Table VIII", "N", ramona_table8), table("Table IX", "D", ramona_table9))
  times <- results$item %in% c("Table VIII", "Table IX")
  results[times, ] <- beside_print(results[times, ], printed)
  results$inside[times] <- NA
  results
}

ramona_tables <- function(experiments) {
  results <- do.call(rbind, lapply(experiments, summarise_experiment))
  results <- beside_print(results, rbind(ramona_print(), ramona_figure_print()))
  results <- rbind(relative_times(results), ramona_table7_rows(results))
  add_reasons(results, ramona_reasons)
}

ramona_reasons <- read_reasons("
item|set|method|reason
Table II|*|*|one ranking a pair, and the rows to test on, are our reading
Table III|*|*|three of the five classes at hand
Table V|*|sas|to convergence; the paper stops after ten steps
Table V|*|scss|to convergence; the paper stops after ten steps
Table V|*|r2w2|quoted from Wang, without sd
*|*|kfds|corrected update; the printed one does not settle
Table VI|*|bahsic|our width follows the number of columns left
Table VI|*|gmkl|settings of GMKL are not stated
Table VI|Parkinsons|sas|our target is balanced by class; with the plain one it is in
*|*|sas10|scaling, start and step of the ascent are not stated
*|*|scss10|scaling, start and step of the ascent are not stated
*|*|*|scaling, start and stop are not stated
")
