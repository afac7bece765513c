# The data sets of bench/defaults.R, bench/choose-defaults.R and bench/choose-tune.R: lists
# `classification` and `regression` of functions that give a data frame with the response `y`.
# From packages datasets, MASS, mlbench, kernlab, mclust, and the directory KERNELECT_DATA (default
# ../shared/data), without which its sets are left out.

most_rows <- 1000
data_dir <- Sys.getenv("KERNELECT_DATA", file.path("..", "shared", "data"))

from <- function(package, name) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

with_response <- function(data, y, drop = NULL) {
  data$y <- data[[y]]
  stats::na.omit(data[setdiff(names(data), c(if (y != "y") y, drop))])
}

generated <- function(make, ...) {
  set.seed(1)
  parts <- make(...)
  data.frame(parts$x, y = if (is.null(parts$classes)) parts$y else parts$classes)
}

as_numbers <- function(data) {
  data[] <- lapply(data, function(v) if (is.factor(v)) as.numeric(as.character(v)) else v)
  data
}

stored <- function(name) {
  d <- utils::read.csv(gzfile(file.path(data_dir, paste0(name, ".csv.gz"))))
  d$y <- factor(d$y)
  stats::na.omit(d)
}

in_directory <- c(
  "australian", "banana", "breast_cancer", "flare_solar", "german", "heart", "image", "liver_bupa",
  "parkinsons", "splice", "titanic", "usps"
)

classification <- c(list(
  iris = function() with_response(iris, "Species"),
  Sonar = function() with_response(from("mlbench", "Sonar"), "Class"),
  Pima = function() stored("diabetis"), # mlbench has it no more
  Glass = function() with_response(from("mlbench", "Glass"), "Type"),
  Vehicle = function() with_response(from("mlbench", "Vehicle"), "Class"),
  Ionosphere = function() with_response(from("mlbench", "Ionosphere"), "Class", "V2"),
  BreastCancer = function() {
    d <- from("mlbench", "BreastCancer")
    stats::na.omit(data.frame(as_numbers(d[2:10]), y = d$Class))
  },
  Vowel = function() with_response(from("mlbench", "Vowel"), "Class", "V1"),
  Satellite = function() with_response(from("mlbench", "Satellite"), "classes"),
  Letter = function() with_response(from("mlbench", "LetterRecognition"), "lettr"),
  HouseVotes = function() with_response(from("mlbench", "HouseVotes84"), "Class"),
  spirals = function() generated(mlbench::mlbench.spirals, 400, sd = 0.1),
  threenorm = function() generated(mlbench::mlbench.threenorm, 400),
  ringnorm = function() generated(mlbench::mlbench.ringnorm, 400),
  twonorm = function() generated(mlbench::mlbench.twonorm, 400),
  waveform = function() generated(mlbench::mlbench.waveform, 400),
  spam = function() with_response(from("kernlab", "spam"), "type"),
  musk = function() with_response(from("kernlab", "musk"), "Class"),
  crabs = function() {
    d <- from("MASS", "crabs")
    data.frame(d[4:8], y = interaction(d$sp, d$sex))
  },
  thyroid = function() with_response(from("mclust", "thyroid"), "Diagnosis")
), stats::setNames(lapply(in_directory, function(name) function() stored(name)), in_directory))

regression <- list(
  Boston = function() with_response(from("MASS", "Boston"), "medv"),
  cpus = function() with_response(from("MASS", "cpus"), "perf", c("name", "estperf")),
  Cars93 = function() {
    d <- from("MASS", "Cars93")
    numbers <- vapply(d, is.numeric, NA)
    with_response(d[numbers], "Price", c("Min.Price", "Max.Price"))
  },
  UScrime = function() with_response(from("MASS", "UScrime"), "y"),
  GAGurine = function() with_response(from("MASS", "GAGurine"), "GAG"),
  mcycle = function() with_response(from("MASS", "mcycle"), "accel"),
  birthwt = function() with_response(from("MASS", "birthwt"), "bwt", "low"),
  Ozone = function() with_response(as_numbers(from("mlbench", "Ozone")), "V4"),
  Servo = function() {
    d <- from("mlbench", "Servo")
    d$Class <- as.numeric(as.character(d$Class))
    with_response(d, "Class")
  },
  friedman1 = function() generated(mlbench::mlbench.friedman1, 400),
  friedman2 = function() generated(mlbench::mlbench.friedman2, 400),
  friedman3 = function() generated(mlbench::mlbench.friedman3, 400),
  peak = function() generated(mlbench::mlbench.peak, 400, d = 10),
  sinc = function() simulate_sinc(200, seed = 1, sd = 0.1),
  airquality = function() with_response(airquality, "Ozone"),
  quakes = function() with_response(quakes, "mag"),
  CO2 = function() with_response(as.data.frame(CO2), "uptake", "Plant"),
  swiss = function() with_response(swiss, "Fertility"),
  mtcars = function() with_response(mtcars, "mpg"),
  faithful = function() with_response(faithful, "waiting")
)

# A set is the same on every machine: a sample of its rows where there are many, classes of fewer
# than ten rows left out, columns without spread too.
prepare <- function(make) {
  data <- make()
  row.names(data) <- NULL
  set.seed(2)
  if (nrow(data) > most_rows) data <- data[sort(sample.int(nrow(data), most_rows)), ]
  if (is.factor(data$y)) {
    data <- data[data$y %in% names(which(table(data$y) >= 10)), ]
    data$y <- droplevels(factor(data$y, ordered = FALSE))
  } else {
    data$y <- as.numeric(data$y)
  }
  data[vapply(data, function(v) length(unique(v)) > 1, NA)]
}

# Row numbers of one half, classes shared out evenly.
half <- function(y, seed) {
  set.seed(seed)
  groups <- if (is.factor(y)) split(seq_along(y), y) else list(seq_along(y))
  sort(unlist(lapply(groups,
    function(rows) rows[sample.int(length(rows),
      length(rows) %/% 2 + stats::rbinom(1, 1, 0.5) * length(rows) %% 2)])))
}

# What defaults are chosen on: two folds of one half of a set; the other half is never looked at.
folds_of <- function(make) {
  data <- prepare(make)
  data <- data[half(data$y, 101), ]
  if (is.factor(data$y)) {
    data <- data[data$y %in% names(which(table(data$y) >= 6)), ]
    data$y <- droplevels(data$y)
  }
  data <- data[vapply(data, function(v) length(unique(v)) > 1, NA)]
  first <- half(data$y, 102)
  list(data[first, ], data[-first, ])
}
