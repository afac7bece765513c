# Processors without AVX2: the core as it is built for them, beside plain loops under the same
# compiler and flags. A ratio below 1 would mean that the loops are faster.
source(file.path("bench", "harness.R"))

baseline_contest <- function(kernel, blas) {
  set.seed(1)
  player <- function(way) {
    contestant("baseline.c", lang = "c", blas = blas, args = c(kernel, way), flags = "-DKE_PLAIN")
  }
  contest(paste0("baseline-", kernel, if (blas == "reference") "-reference"),
    rounds = 5, data = list(x = matrix(rnorm(2000 * 20), 2000)),
    list(kernelect = player("core"), "plain loops" = player("loop"))
  )
}

baseline_contest("rbf", "openblas")
baseline_contest("rbf", "reference")
baseline_contest("laplace", "openblas")
