# How kernel_takes() should weigh directions when left alone: mean test error in per cent over ten
# halves a set, of the nearest neighbour of the standardised columns (equally near rows vote), of
# kernel_takes() left alone and of each rule in the small basis of the paper. `worse`: by how much
# the default is above the nearest neighbour, and `t`, that over its standard error (of the five
# repetitions, the two halves of each taken together). The default's rule was settled on
# leave-one-out figures of the training halves of the first twelve sets; candidates were compared
# with the test errors of all sets in view.
#   Rscript bench/takes-default.R [set ...]
# Data: the directory named by KERNELECT_DATA, default ../shared/data, and packages mlbench,
# kernlab and MASS.
library(kernelect)

data_dir <- Sys.getenv("KERNELECT_DATA", file.path("..", "shared", "data"))

read_file <- function(name, rows = NULL) {
  d <- utils::read.csv(gzfile(file.path(data_dir, paste0(name, ".csv.gz"))))
  if (!is.null(rows)) d <- d[rows, ]
  list(x = as.matrix(d[-ncol(d)]), y = factor(d$y))
}

read_mlbench <- function(name, class = "Class", rows = NULL) {
  home <- new.env()
  utils::data(list = name, package = "mlbench", envir = home)
  d <- stats::na.omit(home[[name]])
  if (!is.null(rows)) d <- d[rows, ]
  numbers <- function(v) as.numeric(as.character(v))
  list(x = vapply(d[names(d) != class], numbers, numeric(nrow(d))), y = factor(d[[class]]))
}

sets <- list(
  australian = function() read_file("australian"), diabetes = function() read_file("diabetis"),
  heart = function() read_file("heart"), thyroid = function() read_file("thyroid"),
  german = function() read_file("german"), waveform = function() read_file("waveform", 1:800),
  ionosphere = function() read_mlbench("Ionosphere"), sonar = function() read_mlbench("Sonar"),
  vehicle = function() read_mlbench("Vehicle"), glass = function() read_mlbench("Glass", "Type"),
  letters = function() read_mlbench("LetterRecognition", "lettr", 1:1500),
  iris = function() list(x = as.matrix(iris[1:4]), y = iris$Species)
)

spread_rows <- function(n, most = 1000) unique(round(seq(1, n, length.out = min(n, most))))

# Those with many rows give evenly spaced ones.
read_evenly <- function(name) {
  all <- read_file(name)
  rows <- spread_rows(length(all$y))
  list(x = all$x[rows, ], y = all$y[rows])
}

from_package <- function(package, name, class, columns) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  d <- stats::na.omit(home[[name]])
  d <- d[spread_rows(nrow(d)), ]
  list(x = as.matrix(d[columns(d)]), y = factor(class(d)))
}

in_directory <- c(
  "banana", "breast_cancer", "flare_solar", "image", "liver_bupa", "parkinsons", "splice",
  "titanic", "usps"
)

others <- c(stats::setNames(lapply(in_directory, function(name) function() read_evenly(name)),
                            in_directory), list(
  vowel = function() from_package("mlbench", "Vowel", function(d) d$Class, function(d) 2:10),
  satellite = function() {
    from_package("mlbench", "Satellite", function(d) d$classes, function(d) 1:36)
  },
  spam = function() from_package("kernlab", "spam", function(d) d$type, function(d) 1:57),
  musk = function() from_package("kernlab", "musk", function(d) d$Class, function(d) 1:166),
  crabs = function() {
    from_package("MASS", "crabs", function(d) interaction(d$sp, d$sex), function(d) 4:8)
  }
))

rules <- c("none", "relief", "kffs")

nearest <- function(x, y, new) {
  center <- colMeans(x)
  spread <- apply(x, 2, stats::sd)
  spread[spread == 0] <- 1
  class::knn(scale(x, center, spread), scale(new, center, spread), y)
}

errors_of_half <- function(data, train) {
  x <- data$x[train, ]
  y <- droplevels(data$y[train])
  new <- data$x[-train, ]
  truth <- as.character(data$y[-train])
  error <- function(...) {
    fit <- suppressWarnings(suppressMessages(kernel_takes(x, y, ...)))
    mean(as.character(predict(fit, new)) != truth)
  }
  by_rule <- vapply(rules, function(rule) error(select = rule, threshold = identity), 0)
  100 * c(nearest = mean(as.character(nearest(x, y, new)) != truth), default = error(), by_rule)
}

errors_of_set <- function(name) {
  data <- c(sets, others)[[name]]()
  runs <- vapply(1:5, function(repetition) {
    set.seed(repetition)
    half <- sample(length(data$y), length(data$y) %/% 2)
    rest <- setdiff(seq_along(data$y), half)
    (errors_of_half(data, half) + errors_of_half(data, rest)) / 2
  }, numeric(2 + length(rules)))
  worse <- runs["default", ] - runs["nearest", ]
  found <- c(rowMeans(runs), worse = mean(worse), t = mean(worse) * sqrt(5) / stats::sd(worse))
  message(name, ": ", paste(names(found), round(found, 1), collapse = ", "))
  found
}

show <- function(names) {
  if (!length(names)) return(invisible())
  table <- t(vapply(names, errors_of_set, numeric(4 + length(rules))))
  print(round(rbind(table, mean = c(colMeans(table)[-ncol(table)], NA)), 1))
}

wanted <- commandArgs(TRUE)
if (!length(wanted)) wanted <- c(names(sets), names(others))
show(intersect(names(sets), wanted))
show(intersect(names(others), wanted))
