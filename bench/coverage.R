# Do 95 % prediction intervals of kernel_lm() cover 95 % of fresh responses?
#
#   Rscript bench/coverage.R
#
# Twenty sets, 20 times two halves: on the first ten and on the simulations the way residuals are
# scaled was settled, the other ten (`fresh`) were not looked at before. Simulations with 40 and
# 200 training rows and 1000 fresh ones:
# smooth, rough, skewed, heavy-tailed and heteroscedastic errors. All defaults. Kept in
# inst/results/coverage.csv.

library(kernelect)
level <- 0.95

from <- function(package, name) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

sets <- list(
  Boston = list(from("MASS", "Boston"), "medv"), cpus = list(from("MASS", "cpus")[2:8], "perf"),
  GAGurine = list(from("MASS", "GAGurine"), "GAG"), mcycle = list(from("MASS", "mcycle"), "accel"),
  UScrime = list(from("MASS", "UScrime"), "y"), birthwt = list(from("MASS", "birthwt")[-1], "bwt"),
  airquality = list(stats::na.omit(airquality), "Ozone"), swiss = list(swiss, "Fertility"),
  faithful = list(faithful, "waiting"), trees = list(trees, "Volume")
)
made <- function(make, ...) {
  set.seed(1)
  parts <- make(...)
  list(data.frame(parts$x, y = parts$y), "y")
}
numbers <- function(data) data[vapply(data, is.numeric, NA)]
fresh <- list(
  quakes = list(quakes, "mag"), mtcars = list(mtcars, "mpg"),
  stackloss = list(stackloss, "stack.loss"),
  Cars93 = list(stats::na.omit(numbers(from("MASS", "Cars93"))[-c(1, 3)]), "Price"),
  CO2 = list(as.data.frame(CO2)[-1], "uptake"), rock = list(rock, "perm"),
  friedman1 = made(mlbench::mlbench.friedman1, 400),
  friedman2 = made(mlbench::mlbench.friedman2, 400),
  friedman3 = made(mlbench::mlbench.friedman3, 400), peak = made(mlbench::mlbench.peak, 400, d = 10)
)

curve <- function(x) sin(2 * x[, 1]) + x[, 2]
noises <- list(
  normal = function(x) stats::rnorm(nrow(x), sd = 0.3),
  skewed = function(x) 0.3 * (stats::rexp(nrow(x)) - 1),
  heavy = function(x) 0.3 * stats::rt(nrow(x), 3),
  heteroscedastic = function(x) stats::rnorm(nrow(x), sd = 0.1 + 0.25 * abs(x[, 1]))
)
draw <- function(n, noise) {
  x <- matrix(stats::runif(2 * n, -2, 2), n)
  data.frame(x, y = curve(x) + noise(x))
}

covered <- function(train, test) {
  fit <- suppressMessages(kernel_lm(y ~ ., train))
  found <- predict(fit, test, interval = "prediction", level = level)
  c(coverage = mean(test$y >= found[, "lwr"] & test$y <= found[, "upr"]),
    width = mean(found[, "upr"] - found[, "lwr"]) / stats::sd(test$y))
}

set.seed(1)
of_set <- function(set) {
  data <- set[[1]]
  names(data)[names(data) == set[[2]]] <- "y"
  rowMeans(replicate(20, {
    half <- sample.int(nrow(data), nrow(data) %/% 2)
    rowMeans(cbind(covered(data[half, ], data[-half, ]), covered(data[-half, ], data[half, ])))
  }))
}
of_law <- function(noise, n) rowMeans(replicate(100, covered(draw(n, noise), draw(1000, noise))))

of_sets <- function(sets, fresh) {
  lapply(names(sets), function(s) {
    data.frame(data = s, rows = nrow(sets[[s]][[1]]) %/% 2, t(of_set(sets[[s]])), fresh = fresh)
  })
}
results <- do.call(rbind, c(
  of_sets(sets, FALSE), of_sets(fresh, TRUE),
  lapply(names(noises), function(s) {
    do.call(rbind, lapply(c(40, 200), function(n) {
      data.frame(data = paste("simulated,", s), rows = n, t(of_law(noises[[s]], n)), fresh = FALSE)
    }))
  })
))
results[c("coverage", "width")] <- round(results[c("coverage", "width")], 3)
print(results)
utils::write.csv(results, file.path("inst", "results", "coverage.csv"), row.names = FALSE)
