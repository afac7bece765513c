# Small data sets, and what tests ask of them.

# The random numbers of a test must neither come from nor disturb the session's stream.
with_seed <- function(seed, code) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(
    if (is.null(old)) {
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", old, globalenv())
    }
  )
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  code
}

random_matrix <- function(n, d, seed = 1) with_seed(seed, matrix(stats::rnorm(n * d), n, d))

# A model apart from the words that it was asked for by.
without_call <- function(model) {
  model$call <- NULL
  model
}

iris_matrix <- function(rows = 1:150) as.matrix(iris[1:4])[rows, , drop = FALSE]

# A data set of a suggested package.
package_data <- function(name, package) {
  testthat::skip_if_not_installed(package)
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

# Sonar standardised: `x` and `y`.
sonar <- function() {
  data <- package_data("Sonar", "mlbench")
  list(x = scale(as.matrix(data[1:60])), y = data$Class)
}

# A data set of the shared collection: `x`, `y` and, where there are published ones, `splits`
# (a row of training rows each). The tests skip where the collection is absent.
shared_data <- function(name) {
  file <- shared_file(paste0(name, ".csv.gz"))
  data <- utils::read.csv(file)
  splits <- file.path(dirname(file), paste0(name, ".splits.csv.gz"))
  list(
    x = as.matrix(data[-ncol(data)]),
    y = factor(data$y),
    splits = if (file.exists(splits)) unname(as.matrix(utils::read.csv(splits, header = FALSE)))
  )
}

shared_file <- function(name) {
  folder <- Sys.getenv("KERNELECT_DATA", testthat::test_path("..", "..", "..", "shared", "data"))
  file <- file.path(folder, name)
  if (!file.exists(file)) {
    testthat::skip(paste0("no ", name, " in KERNELECT_DATA (", folder, ")"))
  }
  file
}

# Largest relative error of entries that are not themselves negligible.
relative_error <- function(K, reference, least = 1e-290) {
  seen <- reference > least
  max(abs(K[seen] / reference[seen] - 1))
}

# Code under an option of the session.
with_option <- function(name, value, code) {
  old <- options(stats::setNames(list(value), name))
  on.exit(options(old))
  code
}

# Code while a function of the package is another one.
with_function <- function(name, value, code) {
  own <- get(name, asNamespace("kernelect"))
  on.exit(utils::assignInNamespace(name, own, "kernelect"))
  utils::assignInNamespace(name, value, "kernelect")
  code
}

# What a fresh R prints that runs these lines.
other_session <- function(...) {
  code <- paste0("invisible({", paste(c(...), collapse = "; "), "})")
  system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", "-e", shQuote(code)),
    stdout = TRUE, stderr = FALSE)
}

# Every kernel of the core, weighted ones, sums and products, for three columns.
kernels_of_three <- function() {
  list(
    rbf_kernel(), laplace_kernel(), linear_kernel(), polynomial_kernel(2), sigmoid_kernel(0.01),
    rbf_kernel(weights = c(1, 0.5, 2)), 2 * rbf_kernel() + linear_kernel(),
    (rbf_kernel() + laplace_kernel(weights = c(0, 1, 1))) * polynomial_kernel(2)
  )
}
