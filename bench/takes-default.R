# How kernel_takes() should weigh directions when left alone: mean test error in per cent over ten
# halves a set, of the nearest neighbour of the standardised columns, of no weights, and of each
# rule.
#   Rscript bench/takes-default.R [set ...]
# Data: the directory named by KERNELECT_DATA, default ../shared/data, and package mlbench.
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

rules <- c("auto", "none", "relief", "kffs")

nearest <- function(x, y, new) {
  center <- colMeans(x)
  spread <- apply(x, 2, stats::sd)
  spread[spread == 0] <- 1
  class::knn1(scale(x, center, spread), scale(new, center, spread), y)
}

errors_of_half <- function(data, train) {
  x <- data$x[train, ]
  y <- droplevels(data$y[train])
  new <- data$x[-train, ]
  truth <- as.character(data$y[-train])
  by_rule <- vapply(rules, function(rule) {
    fit <- suppressWarnings(suppressMessages(kernel_takes(x, y, select = rule)))
    mean(as.character(predict(fit, new)) != truth)
  }, 0)
  100 * c(nearest = mean(as.character(nearest(x, y, new)) != truth), by_rule)
}

errors_of_set <- function(name) {
  data <- sets[[name]]()
  halves <- lapply(1:5, function(repetition) {
    set.seed(repetition)
    half <- sample(length(data$y), length(data$y) %/% 2)
    list(half, setdiff(seq_along(data$y), half))
  })
  rowMeans(vapply(unlist(halves, FALSE), function(train) errors_of_half(data, train), numeric(5)))
}

wanted <- commandArgs(TRUE)
table <- t(vapply(if (length(wanted)) wanted else names(sets), errors_of_set, numeric(5)))
print(round(rbind(table, mean = colMeans(table)), 1))
