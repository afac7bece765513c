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
  expect_error(simulate_circles(10, radius = c(1, -1)), "`radius`",
    class = "kernelect_error_argument")
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

test_that("classes take turns, the first begins", {
  makers <- list(simulate_two_gaussians, simulate_circles, simulate_weston,
    function(n) simulate_weston(n, type = "nonlinear"))
  for (make in makers) {
    for (n in c(1, 2, 5)) {
      expect_identical(make(n)$y, factor(rep_len(c("a", "b"), n), levels = c("a", "b")))
    }
  }
})

test_that("circles have their radii, distance and noise", {
  n <- 6000
  exact <- simulate_circles(n, seed = 2, radius = c(2, 3), offset = 5)
  second <- exact$y == "b"
  expect_equal(sqrt((exact$x1 - 5 * second)^2 + exact$x2^2), ifelse(second, 3, 2),
    tolerance = 1e-12)
  angle <- atan2(exact$x2, exact$x1 - 5 * second)
  expect_gt(stats::ks.test(angle, "punif", -pi, pi)$p.value, 0.01)
  noise <- simulate_circles(n, seed = 2, radius = c(2, 3), offset = 5, sd = 0.1)[1:2] - exact[1:2]
  expect_equal(unname(vapply(noise, sd, 0)), c(0.1, 0.1), tolerance = 0.05)
  expect_lt(max(abs(colMeans(noise))), 5 * 0.1 / sqrt(n))
  for (radius in list("a", 1:3, c(1, NA), c(1, Inf), c(0, 1), c(1, 0), c(-1, -1))) {
    expect_error(simulate_circles(10, radius = radius), "`radius` must be two positive numbers",
      class = "kernelect_error_argument")
  }
  expect_error(simulate_circles(10, offset = NA), "`offset`", class = "kernelect_error_argument")
})

test_that("the columns of Weston's problems have the variances of their mixtures", {
  n <- 20000
  d <- simulate_weston(n, seed = 5)
  side <- ifelse(d$y == "b", 1, -1)
  # i with probability p and 0 else, plus N(0, 1): variance 1 + p (1 - p) i^2
  expect_equal(unname(vapply(d[1:6] * side, stats::var, 0)), 1 + 0.21 * c(1, 4, 9, 1, 4, 9),
    tolerance = 0.05)
  # never both informative: E[x_1 x_4] is 0, E[x_1 x_2] 0.7 * 1 * 2, E[x_4 x_5] 0.3 * 1 * 2
  expect_equal(c(mean(d$x1 * d$x2), mean(d$x4 * d$x5)), c(1.4, 0.6), tolerance = 0.1)
  expect_lt(abs(mean(d$x1 * d$x4)), 0.05)
  expect_equal(unname(vapply(d[c(7, 202)], sd, 0)), c(20, 20), tolerance = 0.03)

  d <- simulate_weston(n, seed = 5, type = "nonlinear")
  for (class in c("a", "b")) {
    own <- d[d$y == class, 1:2]
    expect_lt(max(abs(colMeans(own))), 0.15)
    expect_equal(unname(vapply(own, stats::var, 0)), 1 + c(if (class == "a") 9 / 16 else 9, 9),
      tolerance = 0.05)
  }
  expect_equal(unname(vapply(d[c(3, 52)], sd, 0)), c(20, 20), tolerance = 0.03)
})

test_that("recognition has the sign of the regression's response", {
  numbers <- simulate_fusion(50, seed = 3, columns = 2, sd = 0.5)
  classes <- simulate_fusion(50, seed = 3, columns = 2, sd = 0.5, type = "recognition")
  expect_identical(classes[1:2], numbers[1:2])
  expect_identical(classes$y, factor(ifelse(numbers$y >= 0, "b", "a")))
})

test_that("a seed gives the data of the formula on R's default generator, in every version", {
  twins <- with_seed(9, {
    second <- c(FALSE, TRUE, FALSE, TRUE, FALSE)
    angle <- stats::runif(5, 0, 2 * pi)
    x1 <- ifelse(second, 3 * cos(angle) + 5, 2 * cos(angle)) + stats::rnorm(5, 0, 0.1)
    data.frame(x1 = x1, x2 = ifelse(second, 3, 2) * sin(angle) + stats::rnorm(5, 0, 0.1),
      y = factor(ifelse(second, "b", "a")))
  })
  expect_equal(simulate_circles(5, 9, radius = c(2, 3), offset = 5, sd = 0.1), twins,
    tolerance = 1e-14)
  twins <- with_seed(9, {
    x <- stats::runif(5, -3, 3)
    data.frame(x = x, y = sin(pi * x) / (pi * x) + stats::rnorm(5, 0, 0.5))
  })
  expect_equal(simulate_sinc(5, 9), twins, tolerance = 1e-14)
  twins <- with_seed(9, {
    x <- matrix(stats::rnorm(15), 5)
    data.frame(x1 = x[, 1], x2 = x[, 2], x3 = x[, 3],
      y = x[, 1] + x[, 2] + stats::rnorm(5, 0, 0.174))
  })
  expect_equal(simulate_fusion(5, 9, columns = 3), twins, tolerance = 1e-14)
  twins <- with_seed(9, {
    flip <- ifelse(stats::runif(5) < 0.5, -1, 1)
    cbind(c(0.75, 3, 0.75, 3, 0.75), c(3, -3, 3, -3, 3)) * flip + matrix(stats::rnorm(10), 5)
  })
  expect_equal(unname(as.matrix(simulate_weston(5, 9, type = "nonlinear")[1:2])), twins,
    tolerance = 1e-14)
})
