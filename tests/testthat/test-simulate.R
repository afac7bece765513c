test_that("simulations return n rows, a response y, and leave the generator alone", {
  set.seed(42)
  before <- .Random.seed
  makers <- list(
    simulate_two_gaussians, simulate_sinc, simulate_circles, simulate_weston,
    function(...) simulate_weston(..., type = "nonlinear"), simulate_fusion,
    function(...) simulate_fusion(..., type = "recognition")
  )
  for (make in makers) {
    d <- make(21, seed = 3)
    expect_equal(nrow(d), 21)
    expect_true("y" %in% names(d))
    expect_identical(d, make(21, seed = 3))
    expect_false(identical(d, make(21, seed = 4)))
  }
  expect_identical(.Random.seed, before)
})

test_that("a session without a generator state stays without one", {
  old <- get(".Random.seed", globalenv())
  on.exit(assign(".Random.seed", old, globalenv()))
  rm(".Random.seed", envir = globalenv())
  simulate_sinc(5, seed = 1)
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("the kind of generator the user chose does not matter and is kept", {
  here <- simulate_two_gaussians(10, seed = 1)
  old <- RNGkind("Wichmann-Hill")
  on.exit(RNGkind(old[1]))
  expect_identical(simulate_two_gaussians(10, seed = 1), here)
  expect_identical(RNGkind()[1], "Wichmann-Hill")
})

test_that("large samples have the moments of the papers", {
  n <- 40000
  d <- simulate_two_gaussians(n, seed = 1)
  by_class <- function(f, v) as.vector(tapply(v, d$y, f))
  expect_equal(by_class(mean, d$x1), c(-1, 1), tolerance = 0.03)
  expect_equal(by_class(sd, d$x2), c(1, sqrt(0.1)), tolerance = 0.03)

  circles <- simulate_circles(n, seed = 1)
  r <- sqrt(circles$x1^2 + circles$x2^2)
  expect_equal(as.vector(tapply(r, circles$y, max)), c(1, 0.5))
  expect_equal(as.vector(tapply(r, circles$y, min)), c(1, 0.5))

  d <- simulate_weston(n, seed = 1)
  expect_equal(dim(d), c(n, 203L))
  side <- ifelse(d$y == "b", 1, -1)
  # E[y x_i] is 0.7 i for the first three columns and 0.3 (i - 3) for the next
  expect_equal(unname(colMeans(d[1:6] * side)), c(0.7 * 1:3, 0.3 * 1:3), tolerance = 0.05)
  expect_equal(sd(d$x200), 20, tolerance = 0.03)

  d <- simulate_weston(n, seed = 1, type = "nonlinear")
  expect_equal(dim(d), c(n, 53L))
  # classes differ in the product of the two columns: means 3/4 * 3 and -9
  expect_equal(as.vector(tapply(d$x1 * d$x2, d$y, mean)), c(2.25, -9), tolerance = 0.03)

  d <- simulate_fusion(n, seed = 1, columns = 3)
  expect_equal(unname(coef(lm(y ~ ., d))), c(0, 1, 1, 0), tolerance = 0.01)
  expect_equal(summary(lm(y ~ ., d))$sigma, 0.174, tolerance = 0.02)
})

test_that("wrong arguments of simulations get classed errors", {
  expect_error(simulate_fusion(10, sd = -1), "`sd`", class = "kernelect_error_argument")
  expect_error(simulate_circles(10, radius = c(1, -1)), "`radius`", class = "kernelect_error_argument")
  expect_error(simulate_circles(10, sd = -1), "`sd`", class = "kernelect_error_argument")
  expect_error(simulate_fusion(10, columns = 2.5), "`columns`", class = "kernelect_error_argument")
  expect_snapshot(error = TRUE, {
    simulate_sinc(0)
    simulate_sinc(10, seed = "a")
    simulate_sinc(10, sd = -1)
    simulate_circles(10, radius = 1)
    simulate_weston(10, type = "round")
    simulate_fusion(10, columns = 1)
  })
})

test_that("a generator chosen but not yet used is left as it was", {
  kind <- RNGkind()
  seed <- get0(".Random.seed", globalenv())
  on.exit({
    do.call(RNGkind, as.list(kind))
    if (!is.null(seed)) assign(".Random.seed", seed, globalenv())
  })
  RNGkind("Wichmann-Hill", "Box-Muller")
  rm(".Random.seed", envir = globalenv())
  simulate_sinc(3, 1)
  expect_identical(RNGkind()[1:2], c("Wichmann-Hill", "Box-Muller"))
  expect_false(exists(".Random.seed", globalenv(), inherits = FALSE))
})

test_that("sinc is sin(pi x) / (pi x) without noise, and 1 at zero", {
  data <- simulate_sinc(50, seed = 1, sd = 0)
  expect_equal(data$y, sin(pi * data$x) / (pi * data$x), tolerance = 1e-12)
})
