# kernel_takes() on 5000 rows of 20 columns and two classes, one thread: both stages beside the
# basis alone; and the prediction of 1000 rows in 100 directions beside a loop over outer().
source(file.path("bench", "harness.R"))

takes_data <- function(n = 5000, d = 20, new = 1000) {
  set.seed(1)
  x <- matrix(rnorm(n * d), n)
  list(x = x, labels = x[, 1] * x[, 2] + 0.3 * rnorm(n) > 0, new = matrix(rnorm(new * d), new))
}

setup <- "library(kernelect); y <- factor(labels)"
contest("takes-fit", rounds = 3, data = takes_data(), list(
  "kernel_basis, kobl" = contestant(
    setup = setup, job = "suppressMessages(kernel_basis(x, method = 'kobl'))",
    value = "length(result$index)"
  ),
  "kernel_takes, kobl + kffs" = contestant(
    setup = setup, job = "suppressMessages(kernel_takes(x, y))", value = "length(result$weights)"
  ),
  "kernel_takes, kobl + relief" = contestant(
    setup = setup, job = "suppressMessages(kernel_takes(x, y, select = 'relief'))",
    value = "length(result$weights)"
  )
))

fitted <- paste0(setup, "; fit <- kernel_takes(x, y, basis_size = 100)")
contest("takes-predict", data = takes_data(), rounds = 3, list(
  kernel_takes = contestant(
    setup = fitted, job = "predict(fit, new)", value = "sum(as.integer(result))"
  ),
  "outer, direction by direction" = contestant(
    setup = fitted,
    job = "{
      scores <- predict(fit, new, type = 'scores')
      distance <- matrix(0, nrow(new), nrow(x))
      for (k in seq_len(ncol(scores))) {
        distance <- distance + outer(scores[, k], fit$scores[, k], '-')^2
      }
      y[max.col(-distance, 'first')]
    }",
    value = "sum(as.integer(result))"
  )
))
