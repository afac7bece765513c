test_that("without ridge on a linear kernel, all is that of lm()", {
  twin <- lm(mpg ~ wt + hp, mtcars)
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, kernel = linear_kernel(), basis = NULL, ridge = 0)
  new <- mtcars[c(1, 7, 30), ]
  for (interval in c("none", "confidence")) {
    expect_equal(
      predict(fit, new, se.fit = TRUE, interval = interval, level = 0.9),
      predict(twin, new, se.fit = TRUE, interval = interval, level = 0.9),
      tolerance = 1e-8
    )
  }
  expect_equal(predict(fit, new, interval = "confidence"),
    predict(twin, new, interval = "confidence"), tolerance = 1e-8)
  expect_equal(hatvalues(fit), hatvalues(twin), tolerance = 1e-8)
  expect_equal(c(sigma(fit), deviance(fit), df.residual(fit)),
    c(sigma(twin), deviance(twin), df.residual(twin)), tolerance = 1e-8)
  expect_equal(rstandard(fit), rstandard(twin), tolerance = 1e-8)
  expect_equal(rstudent(fit), rstudent(twin), tolerance = 1e-8)
  expect_equal(cooks.distance(fit), cooks.distance(twin), tolerance = 1e-8)
  parts <- c("hat", "sigma", "wt.res")
  expect_equal(influence(fit)[parts], influence(twin)[parts], tolerance = 1e-8)
  expect_equal(extractAIC(fit), extractAIC(twin), tolerance = 1e-8)
  expect_equal(extractAIC(fit, scale = 4, k = 3), extractAIC(twin, scale = 4, k = 3),
    tolerance = 1e-8)
})

test_that("influences of weighted and penalised rows have the formulas of lm()", {
  holes <- replace(mtcars, cbind(c(3, 9), match("wt", names(mtcars))), NA)
  fit <- kernel_lm(mpg ~ wt + hp, holes, size = 6, ridge = 0.1, weights = carb,
    na_action = "exclude")
  w <- mtcars$carb
  h <- hatvalues(fit)
  e <- sqrt(w) * residuals(fit)
  p <- sum(h, na.rm = TRUE)
  expect_equal(rstandard(fit), e / (sigma(fit) * sqrt(1 - h)))
  without <- sqrt((deviance(fit) - e^2 / (1 - h)) / (df.residual(fit) - 1))
  expect_equal(rstudent(fit), e / (without * sqrt(1 - h)))
  expect_equal(cooks.distance(fit), (e / (sigma(fit) * (1 - h)))^2 * h / p)
  expect_equal(influence(fit), list(hat = h, sigma = without, wt.res = e))
  expect_identical(which(is.na(cooks.distance(fit))), which(is.na(holes$wt)), ignore_attr = TRUE)
  n <- sum(w[-c(3, 9)])
  expect_equal(extractAIC(fit), c(p, n * log(deviance(fit) / n) + 2 * p))
  # a row that no other row resembles says nothing of its own error
  alone <- data.frame(x = c(1:9, 1e3), y = c(sin(1:9), 7))
  whole <- kernel_lm(y ~ x, alone, kernel = rbf_kernel(sigma = 1e-2), basis = NULL, ridge = 0)
  expect_true(all(is.nan(rstandard(whole))))
})

test_that("leverages are the diagonal of the penalised fit's matrix, and standard errors follow", {
  x <- random_matrix(40, 2)
  y <- sin(x[, 1]) + 0.1 * random_matrix(40, 1, 3)[, 1]
  fit <- kernel_lm(x, y, size = 9, ridge = 0.2)
  z <- cbind(1, predict(fit$basis, x))
  inverse <- solve(crossprod(z) + diag(c(0, rep(0.2, 9))))
  expect_equal(hatvalues(fit), diag(z %*% inverse %*% t(z)), tolerance = 1e-8)
  expect_equal(df.residual(fit), 40 - sum(hatvalues(fit)))
  expect_equal(sigma(fit), sqrt(sum(residuals(fit)^2) / df.residual(fit)), tolerance = 1e-10)
  new <- random_matrix(5, 2, 9)
  found <- predict(fit, new, se.fit = TRUE)
  z <- cbind(1, predict(fit$basis, new))
  expect_equal(found$se.fit, sigma(fit) * sqrt(diag(z %*% inverse %*% t(z))), tolerance = 1e-8)
  expect_identical(found$fit, predict(fit, new))
})

test_that(paste(
  "prediction intervals are quantiles of leave-one-out residuals in units of what is expected"
), {
  x <- random_matrix(60, 2)
  y <- x[, 1]^2 + random_matrix(60, 1, 3)[, 1]
  new <- random_matrix(20, 2, 8)
  for (center in c("none", "nearest")) {
    for (ridge in c(0, 1e-4, 2)) { # the prior variance is bounded by that of y, or by the ridge
      fit <- kernel_lm(x, y, size = 7, ridge = ridge, center = center)
      own <- predict(kernel_basis(x, size = 7, tol = 0, center = center), x, type = "residual")
      whole <- own + rowSums(predict(fit$basis, x)^2)
      prior <- min(1 / ridge, var(y) / sigma(fit)^2 / mean(whole))
      t <- abs(residuals(fit) / (1 - hatvalues(fit))) / sqrt(1 / (1 - hatvalues(fit)) + prior * own)
      h <- (predict(fit, new, se.fit = TRUE)$se.fit / sigma(fit))^2
      off <- sqrt(1 + h + prior * predict(fit$basis, new, type = "residual"))
      for (level in c(0.5, 0.9)) {
        found <- predict(fit, new, interval = "prediction", level = level)
        half <- unname(quantile(t, level, type = 6)) * off
        expect_equal(found[, "upr"] - found[, "fit"], half, tolerance = 1e-6)
        expect_equal(found[, "fit"] - found[, "lwr"], half, tolerance = 1e-6)
      }
    }
  }
  # more than sixty rows can tell: at least as wide as the widest of them
  wide <- predict(fit, new, interval = "prediction", level = 0.999)
  expect_true(all(wide[, "upr"] - wide[, "fit"] >= max(t) * off - 1e-8))
  expect_gt(min(wide[, "upr"] - wide[, "fit"]), sigma(fit) * 3)
})

test_that("order statistics count weights, and many are thinned", {
  values <- c(3, 1, 2)
  weights <- c(1, 3, 2)
  plain <- weighted_order(rep(values, weights), rep(1, 6))
  at <- seq(0.1, 0.9, by = 0.05)
  quantiles <- function(d) approx(d$probability, d$value, at, rule = 2)$y
  expect_equal(quantiles(weighted_order(values, weights)), quantiles(plain), tolerance = 1e-12)
  expect_equal(quantiles(plain), unname(quantile(rep(values, weights), at, type = 6)),
    tolerance = 1e-12)
  many <- abs(random_matrix(5000, 1)[, 1])
  thin <- weighted_order(many, rep(1, 5000))
  expect_identical(nrow(thin), 200L)
  expect_identical(weighted_order(many), thin)
  expect_equal(max(thin$value), max(many))
  expect_false(is.unsorted(thin$probability, strictly = TRUE))
  expect_equal(approx(thin$probability, thin$value, 0.95)$y, unname(quantile(many, 0.95, type = 6)),
    tolerance = 1e-3)
})

test_that("thinning interpolates among all order statistics, though it looks at few", {
  naive <- function(values, weights) { # every unit of weight has its end, and its begin
    at <- order(values)
    upto <- cumsum(weights[at])
    from <- upto - weights[at] + pmin(1, weights[at])
    probability <- as.vector(rbind(from, upto)) / (sum(weights) + 1)
    first <- !duplicated(probability)
    function(p) approx(probability[first], rep(values[at], each = 2)[first], p, rule = 2)$y
  }
  values <- round(abs(random_matrix(900, 1)[, 1]), 2)
  for (weights in list(rep(1, 900), rep(1:3, 300), rep(c(0.2, 1, 5.5), 300))) {
    thin <- weighted_order(values, weights)
    expect_identical(thin$value, naive(values, weights)(thin$probability))
  }
})

test_that("the training rows are predicted where no others are given", {
  for (weights in list(NULL, rep_len(c(1, 2), 32))) {
    fit <- kernel_lm(mtcars[c("wt", "hp")], mtcars$mpg, weights = weights)
    for (interval in c("confidence", "prediction")) {
      expect_equal(predict(fit, interval = interval), predict(fit, mtcars, interval = interval),
        tolerance = 1e-6)
    }
  }
})

test_that("rows with missing values have no interval, and one row has one", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  new <- mtcars[1:3, ]
  new$wt[2] <- NA
  found <- predict(fit, new, interval = "prediction", se.fit = TRUE)
  expect_identical(unname(is.na(found$fit[, "lwr"])), c(FALSE, TRUE, FALSE))
  expect_identical(names(found$se.fit), rownames(new))
  expect_identical(dim(predict(fit, mtcars[1, ], interval = "confidence")), c(1L, 3L))
  expect_identical(dim(predict(fit, mtcars[0, ], interval = "confidence")), c(0L, 3L))
})

test_that("what has no interval is refused by class", {
  classes <- kernel_lm(Species ~ ., iris)
  several <- kernel_lm(cbind(mpg, qsec) ~ wt, mtcars)
  one <- kernel_lm(mpg ~ wt, mtcars)
  for (fit in list(classes, several)) {
    expect_error(predict(fit, iris, interval = "prediction"), "one response",
      class = "kernelect_error_argument")
  }
  for (bad in list(0, 1, NA, "high")) {
    expect_error(predict(one, mtcars, interval = "prediction", level = bad), "`level`",
      class = "kernelect_error_argument")
  }
  expect_error(predict(one, mtcars, interval = "sure"), "`interval`",
    class = "kernelect_error_argument")
  expect_error(predict(one, mtcars, se.fit = NA), "`se.fit`", class = "kernelect_error_argument")
  expect_error(predict(one, mtcars, se.fit = TRUE, size = 1), "`size`",
    class = "kernelect_error_argument")
  expect_error(sigma(classes), "classes", class = "kernelect_error_argument")
  expect_error(deviance(classes), "classes", class = "kernelect_error_argument")
  expect_error(simulate(classes), "classes", class = "kernelect_error_argument")
  expect_error(simulate(several), "one response", class = "kernelect_error_argument")
  expect_error(hatvalues(kernel_lm(mpg ~ wt, mtcars, keep = FALSE)), "leverages",
    class = "kernelect_error_model")
  expect_length(sigma(several), 2)
  for (verb in list(rstandard, rstudent, cooks.distance, influence, extractAIC)) {
    expect_error(verb(classes), "classes", class = "kernelect_error_argument")
    expect_error(verb(several), "one response", class = "kernelect_error_argument")
    expect_error(verb(one, nope = 1), "`nope`", class = "kernelect_error_dots")
  }
  expect_error(cooks.distance(kernel_lm(mpg ~ wt, mtcars, keep = FALSE)), "leverages",
    class = "kernelect_error_model")
  expect_error(extractAIC(one, scale = -1), "`scale`", class = "kernelect_error_argument")
  for (step in list(drop1, add1, function(fit) stats::step(fit, trace = 0))) {
    expect_error(step(one), "kernel_rank", class = "kernelect_error_argument")
  }
})

test_that("simulated responses scatter about the fit by sigma, and the user's random numbers stay",
  {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  set.seed(5)
  before <- .Random.seed
  draws <- simulate(fit, 200, seed = 1)
  expect_identical(.Random.seed, before)
  expect_identical(draws, simulate(fit, 200, seed = 1))
  expect_identical(dim(draws), c(32L, 200L))
  expect_identical(rownames(draws), rownames(mtcars))
  expect_equal(sd(as.matrix(draws) - fitted(fit)), sigma(fit), tolerance = 0.05)
})

test_that("simulated responses carry what repeats them, as those of lm()", {
  set.seed(5)
  before <- .Random.seed
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  twin <- lm(mpg ~ wt + hp, mtcars)
  expect_identical(attr(simulate(fit, seed = 3), "seed"), attr(simulate(twin, seed = 3), "seed"))
  expect_identical(attr(simulate(fit), "seed"), before)
})

test_that("intervals know the size of the model, and a wrong level is told without them", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  expect_identical(predict(fit, mtcars, size = fit$size, interval = "prediction"),
                   predict(fit, mtcars, interval = "prediction"))
  expect_error(predict(fit, mtcars, size = 1, se.fit = TRUE), "`se.fit` and `interval`",
               class = "kernelect_error_argument")
  expect_error(predict(fit, mtcars, level = 95), "`level`", class = "kernelect_error_argument")
})

test_that("prediction intervals cover fresh rows as often as they say", {
  law <- function(n, seed) with_seed(seed, {
    x <- runif(n, -3, 3)
    data.frame(x, y = sin(2 * x) + rnorm(n, sd = 0.3))
  })
  covered <- vapply(1:20, function(i) {
    fit <- kernel_lm(y ~ x, law(60, i))
    new <- law(500, 100 + i)
    found <- predict(fit, new, interval = "prediction")
    mean(new$y >= found[, "lwr"] & new$y <= found[, "upr"])
  }, 0)
  expect_gt(mean(covered), 0.93)
  expect_lt(mean(covered), 0.97)
})

test_that("a leverage of one, no degrees of freedom or no deviance leave numbers", {
  left <- c(0.5, 1e-6, 1.1e-10, 0.9e-10, 0)
  fit <- list(left = left, left_out = matrix(1, 5, 1), ridge = 1,
    outside = list(residual = numeric(5), diagonal = rep(1, 5)))
  parts <- list(weights = NULL, y = list(vector = TRUE, matrix = matrix(c(1, 3, 2, 5, 4))))
  spread <- residual_summary(fit, matrix(1, 5, 1), parts)$spread
  expect_equal(unique(spread$value), sqrt(c(1e-10, 1.1e-10, 1e-6, 0.5)), tolerance = 1e-12)

  prior <- function(deviance, df) prior_variance(list(deviance = deviance, df.residual = df),
    list(ridge = 0), c(0, 1), c(1, 1), diagonal = 2)
  expect_equal(prior(1, 1.1e-8) * 1e8, 0.25 * 1.1, tolerance = 1e-12) # var(y) df / diagonal
  expect_equal(prior(1, 0.9e-8) * 1e8, 0.25, tolerance = 1e-12)
  expect_equal(prior(1, 0) * 1e8, 0.25, tolerance = 1e-12)
  expect_equal(prior(2e-300, 1) * 1e-300, 0.125, tolerance = 1e-12)
  expect_equal(prior(0, 1) * 1e-300, 0.25, tolerance = 1e-12)

  sd <- function(df) residual_scale(list(deviance = 1, df.residual = df))
  expect_equal(c(sd(1.1e-8), sd(0.9e-8), sd(0)), 1e4 / sqrt(c(1.1, 1, 1)), tolerance = 1e-12)
})

test_that("confidence intervals from a Gram matrix are those from the rows it is of", {
  x <- scale(as.matrix(mtcars[c("wt", "hp")]))
  K <- gram(x, rbf_kernel(2))
  from_gram <- kernel_lm(y = mtcars$mpg, K = K)
  from_rows <- kernel_lm(x, mtcars$mpg, rbf_kernel(2), scale = FALSE)
  expect_equal(predict(from_gram, K[1:3, ], interval = "confidence"),
    predict(from_rows, x[1:3, ], interval = "confidence"), tolerance = 1e-6)
})

test_that("a first simulation begins the user's random numbers", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars)
  set.seed(5)
  before <- .Random.seed
  on.exit(assign(".Random.seed", before, globalenv()))
  rm(".Random.seed", envir = globalenv())
  draws <- simulate(fit)
  assign(".Random.seed", attr(draws, "seed"), globalenv())
  expect_identical(simulate(fit), draws)
})
