interaction_data <- function(n, d, seed) {
  set.seed(seed)
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = factor(sign(x[, 1] * x[, 2])),
    mixed = factor(sign(x[, 1] * x[, 2] + x[, 3] / 2 + rnorm(n, sd = 0.3))))
}

# The Fisher discriminant's normal vector long-hand: (N + mu I) a = K (e2 - e1), h = x'a.
naive_fisher_normal <- function(x, side, ridge) {
  K <- tcrossprod(x)
  up <- side > 0
  inner <- diag(nrow(x)) - outer(up, up) / sum(up) - outer(!up, !up) / sum(!up)
  N <- K %*% inner %*% K
  a <- solve(N + ridge * mean(diag(N)) * diag(nrow(x)), K %*% (up / sum(up) - (!up) / sum(!up)))
  h <- drop(crossprod(x, a))
  delta <- colMeans(x[up, , drop = FALSE]) - colMeans(x[!up, , drop = FALSE])
  z <- drop(x %*% h)
  list(normal = h, value = sum(h * delta)^2 / sum((z - ave(z, up))^2))
}

test_that("linear SAS reaches the optimum on Sonar", {
  skip_if_not_installed("mlbench")
  data("Sonar", package = "mlbench", envir = environment())
  for (optimizer in c("lbfgs", "ascent")) {
    fit <- kernel_rank(Sonar[-61], Sonar$Class, linear_kernel(), optimizer = optimizer)
    expect_gte(fit$value, 0.262)
    expect_identical(fit$ranking[1:3], c(11L, 49L, 12L))
    expect_true(fit$converged)
  }
})

test_that("linear SCSS by ascent ranks as between over within scatter", {
  skip_if_not_installed("mlbench")
  data("Sonar", package = "mlbench", envir = environment())
  fit <- suppressWarnings(
    kernel_rank(Sonar[-61], Sonar$Class, linear_kernel(), method = "scss", optimizer = "ascent"))
  x <- scale(as.matrix(Sonar[-61]))
  ratio <- apply(x, 2, function(v) {
    fitted <- ave(v, Sonar$Class)
    sum((fitted - mean(v))^2) / sum((v - fitted)^2)
  })
  expect_identical(fit$ranking, unname(order(-ratio)))
})

test_that("without ridge a column that keeps less than 1e-7 of its length is dependent", {
  x <- random_matrix(40, 4, 3)
  delta <- c(1, -1, 2, 0.5)
  expect_equal(solve_scatter(x, delta), drop(solve(crossprod(x), delta)), tolerance = 1e-10)
  apart <- qr.resid(qr(x[, 1:3]), x[, 4])
  near <- function(share) {
    cbind(x[, 1:3], x[, 1] + apart * share * sqrt(sum(x[, 1]^2) / sum(apart^2)))
  }
  expect_length(solve_scatter(near(1.1e-7), delta), 4)
  expect_error(solve_scatter(near(0.9e-7), delta), "4 columns, rank 3",
    class = "kernelect_error_singular")
  expect_error(solve_scatter(near(0), delta), "rank 3", class = "kernelect_error_singular")
  A <- crossprod(x)
  expect_equal(solve_ridged(A, delta), solve(A, delta), tolerance = 1e-12)
  expect_error(solve_ridged(cbind(A[, 1:3], A[, 1]), delta), class = "kernelect_error_singular")
})

test_that("corrected KFDS without ridge gives the LDA coefficients on Pima", {
  skip_if_not_installed("MASS")
  pima <- MASS::Pima.te
  fit <- kernel_rank(pima[-8], pima$type, method = "kfds", ridge = 0)
  lda <- abs(MASS::lda(scale(pima[-8]), pima$type)$scaling[, 1])
  expect_identical(fit$ranking, order(lda, decreasing = TRUE))
  expect_lte(max(abs(fit$weights / sum(fit$weights) - lda / sum(lda))), 1e-4)
})

test_that("KFDS gives the same in input space and through the Gram matrix", {
  set.seed(4)
  x <- matrix(rnorm(30 * 12), 30)
  side <- rep(c(1, -1), 15)
  wide <- cbind(x, matrix(0, 30, 20)) # zero columns force the other route
  expect_equal(fisher_normal(x, side, 0.1)$normal, fisher_normal(wide, side, 0.1)$normal[1:12],
    tolerance = 1e-8)
})

test_that("KFDS as printed does not settle and says so", {
  expect_warning(
    fit <- kernel_rank(iris[51:150, 1:4], iris$Species[51:150], method = "kfds", update = "printed",
      max_iter = 30),
    "update as printed", class = "kernelect_warning_convergence"
  )
  expect_false(fit$converged)
})

test_that("vanished columns rank by when they vanished", {
  set.seed(8)
  x <- matrix(rnorm(60 * 8), 60)
  fit <- kernel_rank(x, factor(x[, 3] + x[, 5] > 0), method = "kfds", ridge = 0.1)
  expect_setequal(fit$ranking[1:2], c(3L, 5L))
  expect_gt(sum(fit$score == 0), 0)
  expect_false(is.unsorted(-fit$score[fit$ranking]))
})

test_that("Fisher scores follow eq 1, and between over within beyond two classes", {
  two <- droplevels(iris[51:150, ])
  fit <- kernel_rank(two[1:4], two$Species, method = "fisher")
  want <- vapply(two[1:4],
    function(v) diff(tapply(v, two$Species, mean))^2 / sum(tapply(v, two$Species, var)), 0)
  expect_equal(fit$score, want, tolerance = 1e-12)
  fit <- kernel_rank(iris[1:4], iris$Species, method = "fisher", scale = FALSE)
  want <- vapply(iris[1:4], function(v) {
    table <- anova(lm(v ~ iris$Species))
    table[1, "Sum Sq"] / table[2, "Sum Sq"]
  }, 0)
  expect_equal(fit$score, want, tolerance = 1e-12)
})

test_that("RFE leaves out what kernlab's linear machines give the smallest weight", {
  skip_if_not_installed("kernlab")
  two <- droplevels(iris[51:150, ])
  x <- scale(as.matrix(two[1:4]))
  fit <- kernel_rank(two[1:4], two$Species, method = "rfe", cost = 0.5)
  left <- 1:4
  for (step in 1:3) {
    machine <- kernlab::ksvm(x[, left], two$Species, kernel = "vanilladot", kpar = list(), C = 0.5,
      scaled = FALSE, tol = 1e-6)
    w <- colSums(kernlab::coef(machine)[[1]] *
      x[kernlab::alphaindex(machine)[[1]], left, drop = FALSE])
    expect_equal(fit$path$value[step], sum(w^2), tolerance = 1e-4)
    expect_identical(fit$path$step[step], left[which.min(w^2)])
    left <- left[-which.min(w^2)]
  }
  expect_identical(fit$ranking, c(left, rev(fit$path$step)))
  expect_identical(unname(fit$score[fit$ranking]), c(4, 3, 2, 1))
})

test_that("AROM ends where another round of the linear machine changes nothing", {
  two <- droplevels(iris[51:150, ])
  x <- scale(as.matrix(two[1:4]))
  fit <- kernel_rank(two[1:4], two$Species, method = "arom", cost = 1)
  z <- x * rep(fit$weights, each = 100)
  side <- ifelse(two$Species == "virginica", 1, -1)
  normal <- abs(crossprod(z, svm_dual(tcrossprod(z), side, 1)$solution))
  again <- fit$weights * drop(normal)
  expect_equal(unname(again / max(again)), unname(fit$weights), tolerance = 1e-4)
  expect_true(fit$converged)
})

test_that("the gradient of the radius-margin bound equals differences for every kernel", {
  set.seed(3)
  x <- scale(matrix(rnorm(40 * 3), 40))
  sides <- list(rep(c(1, -1), 20), rep(c(1, 1, -1, -1), 10))
  w <- c(1, 0.6, 1.4)
  for (kernel in list(linear_kernel(), rbf_kernel(sigma = 1), laplace_kernel(sigma = 2),
    polynomial_kernel(2, 0.5, 1))) {
    bound <- radius_margin(x, kernel, sides, cost = 0.8, threads = 1L, tol = 1e-12)
    slope <- vapply(1:3, function(d) {
      h <- 1e-4
      (bound(sqrt(replace(w^2, d, w[d]^2 + h)))[1] -
        bound(sqrt(replace(w^2, d, w[d]^2 - h)))[1]) / (2 * h)
    }, 0)
    expect_equal(bound(w)[-1], slope, tolerance = 1e-5)
  }
})

test_that("fusion takes the roots of the weights of kernel_fusion()", {
  two <- droplevels(iris[51:150, ])
  fit <- kernel_rank(two[1:4], two$Species, method = "fusion", cost = 2)
  fusion <- kernel_fusion(two[1:4], two$Species, cost = 2, max_iter = 200)
  expect_equal(fit$weights, sqrt(fusion$weights), tolerance = 1e-10)
  expect_identical(fit$value, sum(fusion$active))
  expect_identical(fit$kernel$type, "linear")
  expect_warning(kernel_rank(two[1:4], two$Species, method = "fusion", max_iter = 2), "\"fusion\"",
                 class = "kernelect_warning_convergence")
})

test_that("linear machines and the bound find the complementary pair of the linear toy", {
  toy <- simulate_weston(100, 1)
  for (method in c("rfe", "arom", "kfds")) {
    expect_setequal(kernel_rank(toy[-203], toy$y, method = method)$ranking[1:2], c(3L, 6L))
  }
  expect_setequal(kernel_rank(toy[-203], toy$y, linear_kernel(), "r2w2")$ranking[1:2], c(3L, 6L))
  toy <- simulate_weston(100, 1, "nonlinear")
  for (method in c("sas", "scss", "sfs", "r2w2")) {
    expect_setequal(kernel_rank(toy[-53], toy$y, method = method)$ranking[1:2], 1:2)
  }
})

test_that("SAS with restarts and forward selection find an interaction", {
  for (seed in 1:3) {
    data <- interaction_data(400, 15, seed)
    expect_true(all(1:3 %in% kernel_rank(data$x, data$mixed, restarts = 2)$ranking[1:5]))
    expect_true(all(1:3 %in% kernel_rank(data$x, data$mixed, method = "forward")$ranking[1:5]))
    expect_setequal(kernel_rank(data$x, data$y, method = "forward")$ranking[1:2], 1:2)
  }
})

test_that("forward selection equals the naive search for every kernel", {
  x <- scale(as.matrix(iris[seq(1, 150, 2), 1:4]))
  y <- iris$Species[seq(1, 150, 2)]
  kernels <- list(rbf_kernel(sigma = 1), laplace_kernel(sigma = 2), linear_kernel(),
    polynomial_kernel(2),
                  sigmoid_kernel(0.1), spline_kernel(),
                  rbf_kernel(sigma = 1, weights = c(1, 2, 0.5, 1)))
  for (kernel in kernels) {
    align <- function(columns) {
      parts <- lapply(columns, function(d) {
        one <- kernel
        if (!is.null(kernel$weights)) one$weights <- kernel$weights[d]
        gram(x[, d, drop = FALSE], one)
      })
      kernel_alignment(Reduce(`*`, parts), y)
    }
    fit <- kernel_rank(x, y, kernel, method = "forward", scale = FALSE)
    pairs <- combn(4, 2)
    best <- pairs[, which.max(apply(pairs, 2, align))]
    expect_setequal(fit$ranking[1:2], best)
    third <- setdiff(1:4, best)
    third <- third[which.max(vapply(third, function(d) align(c(best, d)), 0))]
    expect_identical(fit$ranking[3], third)
    values <- vapply(1:4, function(k) align(fit$ranking[seq_len(k)]), 0)
    expect_equal(fit$path$value, values, tolerance = 1e-12)
    expect_identical(unname(fit$score[fit$ranking]), c(4, 3, 2, 1))
  }
})

test_that("a thousand columns are searched in smaller tiles with the same sums", {
  x <- random_matrix(10, 1000)
  y <- factor(rep(c("a", "b"), 5))
  problem <- criterion_problem(x, y, linear_kernel(), "alignment", "balanced")
  found <- best_pair(fixed_space(problem, list(threads = 1L)), 1000L)
  # the product of linear kernels of two columns is that of their product u: u'Tu / (|T| |u|^2)
  target <- reference_rank_target(y)
  pairs <- vapply(1:1000, function(d) {
    u <- x * x[, d]
    colSums(u * (target %*% u)) / colSums(u^2) / sqrt(sum(target^2))
  }, numeric(1000))
  diag(pairs) <- -Inf
  expect_setequal(found$order, arrayInd(which.max(pairs), dim(pairs)))
  expect_equal(found$values[2], max(pairs), tolerance = 1e-12)
})

test_that("BAHSIC equals the naive elimination for every kernel", {
  x <- scale(as.matrix(iris[seq(1, 150, 2), 1:4]))
  x[5, ] <- x[9, ]
  y <- iris$Species[seq(1, 150, 2)]
  kernels <- list(rbf_kernel(sigma = 1), laplace_kernel(sigma = 2), linear_kernel(),
    polynomial_kernel(2),
                  sigmoid_kernel(0.1), spline_kernel(),
                  function_kernel(function(x, z) exp(-abs(outer(rowSums(x), rowSums(z), `-`)))))
  for (kernel in kernels) {
    fit <- kernel_rank(x, y, kernel, method = "bahsic", scale = FALSE)
    left <- 1:4
    for (step in 1:3) {
      hsic <- vapply(left,
        function(d) kernel_hsic(gram(x[, setdiff(left, d), drop = FALSE], kernel), y), 0)
      expect_equal(fit$path$value[step], max(hsic), tolerance = 1e-10)
      expect_identical(fit$path$step[step], left[which.max(hsic)])
      left <- setdiff(left, fit$path$step[step])
    }
    expect_identical(fit$ranking, c(left, rev(fit$path$step)))
  }
})

test_that("all routes give the identical result", {
  same <- setdiff(names(kernel_rank(iris[1:4], iris$Species)), c("input", "call"))
  by_matrix <- kernel_rank(as.matrix(iris[1:4]), iris$Species)
  by_frame <- kernel_rank(iris[1:4], as.character(iris$Species))
  by_formula <- kernel_rank(Species ~ ., iris)
  expect_identical(by_frame[same], by_matrix[same])
  expect_identical(by_formula[same], by_matrix[same])
  expect_identical(kernel_rank(Species ~ ., iris, linear_kernel(), "scss")$score,
                   kernel_rank(iris[1:4], iris$Species, linear_kernel(), "scss")$score)
})

test_that("the learned kernel and predict() are ready for use", {
  fit <- kernel_rank(iris[1:4], iris$Species)
  expect_identical(fit$kernel$weights, fit$weights)
  expect_equal(kernel_alignment(gram(scale(iris[1:4]), fit$kernel), iris$Species), fit$value,
    tolerance = 1e-10)
  model <- kernel_lm(iris[1:4], iris$Species, fit$kernel)
  expect_gt(mean(predict(model, iris) == iris$Species), 0.9)
  best <- names(fit$score)[fit$ranking[1:2]]
  expect_equal(predict(fit, iris, n = 2), iris[best])
  shuffled <- as.matrix(iris[3:1, c(5, 4, 3, 2, 1)[-1]])
  expect_identical(colnames(predict(fit, shuffled, n = 2)), best)
  expect_identical(dim(predict(fit, iris[0, ], n = 3)), c(0L, 3L))
  expect_identical(is.na(predict(fit, replace(iris, cbind(2, fit$ranking[1]), NA), n = 1)[1:3, 1]),
    c(FALSE, TRUE, FALSE))
  expect_error(predict(fit, iris[1:3]), class = "kernelect_error_columns")
  expect_error(predict(fit, iris, N = 2), class = "kernelect_error_dots")
  bare <- kernel_rank(unname(as.matrix(iris[1:4])), iris$Species)
  expect_identical(predict(bare, unname(as.matrix(iris[1:4])), n = 1)[, 1], iris[[bare$ranking[1]]])
})

test_that("factor columns are ranked as indicators and come back as such", {
  set.seed(2)
  d <- data.frame(g = factor(sample(c("a", "b"), 60, TRUE)), z = rnorm(60))
  fit <- kernel_rank(d, factor(d$g == "a"), method = "fisher")
  expect_identical(names(fit$score), c("ga", "gb", "z"))
  expect_named(predict(fit, d, n = 1), "ga")
})

test_that("constant columns come last with score 0 and duplicated ones share their score", {
  x <- cbind(flat = 3, as.matrix(iris[1:4]), again = iris$Petal.Length)
  for (method in names(rank_methods)) {
    expect_message(fit <- kernel_rank(x, iris$Species, method = method), "`flat`")
    expect_identical(fit$ranking[6], 1L)
    expect_identical(fit$score[["flat"]], 0)
    if (!method %in% c("rfe", "bahsic", "forward")) {
      expect_identical(fit$score[["again"]], fit$score[["Petal.Length"]])
    }
  }
  set.seed(1)
  fit <- suppressMessages(kernel_rank(x, iris$Species, restarts = 3))
  expect_identical(fit$score[["again"]], fit$score[["Petal.Length"]])
  K <- gram(scale(x[, -1]), fit$kernel)
  expect_equal(kernel_alignment(K, iris$Species), fit$value, tolerance = 1e-10)
})

test_that("a single column that varies is ranked among constant ones", {
  x <- cbind(a = 1, b = as.matrix(iris[51:150, 3]), c = 2)
  colnames(x) <- c("a", "b", "c")
  for (method in names(rank_methods)) {
    fit <- suppressMessages(
      suppressWarnings(kernel_rank(x, droplevels(iris$Species[51:150]), method = method)))
    expect_identical(fit$ranking, c(2L, 1L, 3L), label = method)
    expect_identical(unname(fit$score[c(1, 3)]), c(0, 0), label = method)
    if (method %in% c("rfe", "bahsic", "forward")) {
      expect_identical(fit$score[["b"]], 3, label = method) # columns + 1 - rank
    }
  }
})

test_that("more columns than rows is no obstacle", {
  set.seed(6)
  x <- matrix(rnorm(20 * 50), 20)
  y <- factor(rep(1:2, 10))
  x[, 9] <- x[, 9] + 3 * (y == 2)
  for (method in names(rank_methods)) {
    expect_true(9 %in% kernel_rank(x, y, method = method)$ranking[1:3], label = method)
  }
})

test_that("subsamples tell how sure a ranking is, the same serially and in parallel", {
  data <- interaction_data(80, 6, 3)
  y <- factor(data$x[, 2] > 0)
  set.seed(5)
  fit <- kernel_rank(data$x, y, resample = 8, n = 2, restarts = 1)
  expect_length(fit$frequency, 6)
  expect_equal(sum(fit$frequency), 2)
  expect_identical(fit$frequency[[2]], 1)
  expect_null(kernel_rank(data$x, y)$frequency)
  skip_if_not_installed("future.apply")
  skip_on_cran()
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  set.seed(5)
  skip_if_not(nzchar(system.file(package = "kernelect")), "the package is not installed")
  expect_identical(kernel_rank(data$x, y, resample = 8, n = 2, restarts = 1)$frequency,
    fit$frequency)
})

test_that("a share of resamples among all columns is no news, and said to be none", {
  expect_message(fit <- kernel_rank(iris[1:4], iris$Species, method = "fisher", resample = 2),
    "`n` = 10 .* columns, 4:",
                 class = "kernelect_message")
  expect_identical(unname(fit$frequency), rep(1, 4))
  expect_message(kernel_rank(iris[1:4], iris$Species, method = "fisher", resample = 2, n = 4),
    "smaller `n`")
  expect_message(kernel_rank(iris[1:4], iris$Species, method = "fisher", resample = 2, n = 3), NA)
  expect_message(kernel_rank(iris[1:4], iris$Species, method = "fisher"), NA)
})

test_that("restarts use R's random numbers and never lower the value", {
  data <- interaction_data(120, 8, 2)
  plain <- kernel_rank(data$x, data$mixed)
  set.seed(1)
  one <- kernel_rank(data$x, data$mixed, restarts = 2)
  set.seed(1)
  two <- kernel_rank(data$x, data$mixed, restarts = 2)
  expect_identical(one$score, two$score)
  expect_gte(one$value, plain$value)
})

test_that("a ranking is a plain list whose size does not depend on the rows", {
  d <- iris[rep(1:150, 20), ]
  small <- kernel_rank(Species ~ ., iris)
  large <- do.call(kernel_rank, list(as.matrix(d[1:4]), d$Species))
  expect_lt(length(serialize(large, NULL)), 2 * length(serialize(small, NULL)))
  expect_identical(nobs(large), 3000L)
  expect_identical(coef(small), small$weights)
})

test_that("a progress bar is drawn on request, on the message stream", {
  shown <- capture.output(type = "message", {
    fit <- kernel_rank(iris[1:4], iris$Species, restarts = 1, resample = 2, n = 2, verbose = TRUE)
  })
  expect_true(any(grepl("100%", shown)))
  for (method in c("rfe", "bahsic", "forward")) {
    shown <- capture.output(type = "message", {
      fit <- kernel_rank(iris[51:150, 1:4], droplevels(iris$Species[51:150]), method = method,
        verbose = TRUE)
    })
    expect_match(paste(shown, collapse = ""), "100%", fixed = TRUE, label = method)
  }
  # one bar for the ranking, one for all resamples
  shown <- capture.output(type = "message", {
    fit <- kernel_rank(iris[51:150, 1:4], droplevels(iris$Species[51:150]), method = "rfe",
      resample = 3, n = 2, verbose = TRUE)
  })
  expect_length(gregexpr("|   0%", paste(shown, collapse = ""), fixed = TRUE)[[1]], 2)
})

test_that("threads change nothing", {
  for (method in c("sas", "forward", "bahsic")) {
    one <- kernel_rank(iris[1:4], iris$Species, method = method, threads = 1)
    two <- kernel_rank(iris[1:4], iris$Species, method = method, threads = 2)
    expect_identical(one$score, two$score)
    expect_identical(one$path, two$path)
  }
})

test_that("bad input meets a classed error that names the argument", {
  x <- as.matrix(iris[1:4])
  y <- iris$Species
  expect_error(kernel_rank(x[1:50, ], y[1:50]), class = "kernelect_error_classes")
  expect_error(kernel_rank(x[1:51, ], y[1:51]), "versicolor", class = "kernelect_error_classes")
  expect_error(kernel_rank(x, rep(1, 150)), "`y` is constant", class = "kernelect_error_data")
  expect_error(kernel_rank(x), class = "kernelect_error_argument")
  expect_error(kernel_rank(x, y, linear_kernel(), "sfs"), "linear",
    class = "kernelect_error_kernel")
  expect_error(kernel_rank(x, y, rbf_kernel(), "kfds"), "rbf", class = "kernelect_error_kernel")
  expect_error(kernel_rank(x, y, function_kernel(tcrossprod), "forward"), "function",
    class = "kernelect_error_kernel")
  expect_error(kernel_rank(x, y, spline_kernel()), "spline", class = "kernelect_error_kernel")
  expect_error(kernel_rank(x, y, method = "sass"), "`method`", class = "kernelect_error_argument")
  expect_error(kernel_rank(x, y, Method = "sas"), "`Method`", class = "kernelect_error_dots")
  expect_error(kernel_rank(x, y, max_iter = 0), "`max_iter`", class = "kernelect_error_argument")
  expect_error(kernel_rank(x, y, block = 0), "`block`", class = "kernelect_error_argument")
  expect_error(kernel_rank(matrix(1, 6, 2), factor(rep(1:2, 3))), "constant",
    class = "kernelect_error_data")
  twice <- cbind(x, again = x[, 1])
  expect_error(kernel_rank(twice, y, method = "kfds", ridge = 0), "5 columns, rank 4",
    class = "kernelect_error_singular")
  expect_error(kernel_rank(x[51:150, 1:2], y[51:150], method = "arom", cost = Inf), "finite `cost`",
               class = "kernelect_error_infeasible")
  expect_error(kernel_rank(replace(x, 3, NA), y), class = "kernelect_error_missing_values")
  expect_message(kernel_rank(replace(x, 3, NA), y, na_action = "omit"), "1 of 150")
  expect_warning(kernel_rank(x, y, max_iter = 2), "`max_iter`",
    class = "kernelect_warning_convergence")
  expect_error(plot(kernel_rank(x, y), type = "frequency"), "`resample`",
    class = "kernelect_error_argument")
  expect_error(plot(kernel_rank(x, y, method = "fisher"), type = "path"), "has no path",
    class = "kernelect_error_argument")
  expect_error(predict(kernel_rank(x, y)), "`newdata` is missing",
    class = "kernelect_error_argument")
})

test_that("columns that a linear machine cannot use are refused by class", {
  y <- factor(c("a", "a", "b", "b"))
  nothing <- matrix(c(1, -1, 1, -1)) # equal class means
  expect_error(kernel_rank(nothing, y, method = "kfds"), "`ridge`", class = "kernelect_error_data")
  expect_error(kernel_rank(nothing, y, method = "arom"), "`cost`", class = "kernelect_error_data")
  exact <- matrix(c(0, 0, 1, 1)) # no scatter within the classes
  expect_error(kernel_rank(exact, y, method = "kfds"), "constant within each class",
    class = "kernelect_error_singular")
  wide <- cbind(exact, exact, exact, exact)
  expect_error(kernel_rank(wide, y, method = "kfds"), "constant within each class",
    class = "kernelect_error_singular")
})

test_that("a criterion without a finite value at the start is refused", {
  x <- matrix(c(1, -1, 1, -1, 2, 3, 4, 6), 4)
  y <- factor(c("a", "a", "b", "b"))
  for (size in c(1e200, 1e-200)) {
    expect_error(kernel_rank(x * size, y, linear_kernel(), scale = FALSE),
      "not finite at the start", class = "kernelect_error_not_finite")
  }
})

test_that("the weights of the kernel are where a search starts", {
  two <- droplevels(iris[51:150, ])
  w <- c(2, 0.5, 1, 3)
  x <- scale(as.matrix(two[1:4]))
  fit <- kernel_rank(two[1:4], two$Species, linear_kernel(weights = w), method = "rfe", cost = 1)
  scaled <- kernel_rank(x * rep(w, each = 100), two$Species, linear_kernel(), method = "rfe",
    cost = 1, scale = FALSE)
  expect_identical(fit$ranking, scaled$ranking)
  expect_equal(fit$path$value, scaled$path$value, tolerance = 1e-6)
})

test_that("every method names its value and its score", {
  expect_identical(
    vapply(rank_methods, `[[`, "", "value"),
    c(sas = "alignment", scss = "separability", sfs = "Frobenius product", kfds = "Fisher ratio",
      fisher = "value",
      rfe = "squared norm", arom = "squared norm", r2w2 = "radius-margin bound", bahsic = "HSIC",
      forward = "alignment",
      fusion = "columns left", gmkl = "regularised dual")
  )
  ordinal <- c("rfe", "bahsic", "forward")
  scores <- vapply(rank_methods, `[[`, "", "score")
  expect_identical(unique(unname(scores[ordinal])), "score (columns + 1 - rank)")
  expect_identical(unique(unname(scores[setdiff(names(scores), c(ordinal, "fisher"))])),
    "scale factor")
  expect_identical(scores[["fisher"]], "Fisher score")
  expect_identical(eval(formals(kernel_rank.default)$method), names(rank_methods))
  expect_identical(rank_spec("rank_rfe", "value", ordinal = TRUE)$score, scores[["rfe"]])
  expect_identical(rank_spec("rank_arom", "value")$score, scores[["arom"]])
})

test_that("one column can be ranked by every method", {
  x <- as.matrix(iris[51:150, 3, drop = FALSE])
  for (method in names(rank_methods)) {
    expect_identical(
      suppressWarnings(kernel_rank(x, droplevels(iris$Species[51:150]), method = method))$ranking,
      1L)
  }
})

test_that("printing is short and says the essential", {
  fit <- kernel_rank(iris[1:4], iris$Species, method = "kfds")
  expect_snapshot(print(fit))
  expect_snapshot(print(summary(fit)))
  expect_output(print(summary(kernel_rank(mtcars[-8], factor(mtcars$vs), method = "fisher"))),
    "and 2 more in $table", fixed = TRUE)
  set.seed(1)
  expect_snapshot(
    print(kernel_rank(
      cbind(as.matrix(iris[1:4]),
        matrix(rnorm(150 * 12), 150, dimnames = list(NULL, letters[1:12]))),
                                    iris$Species, method = "fisher", resample = 4, n = 3)))
  expect_snapshot(kernel_rank(iris[1:4], iris$Species, linear_kernel(), "sfs"), error = TRUE)
})

test_that("plots return their data and restore the graphical parameters", {
  fit <- kernel_rank(iris[1:4], iris$Species, resample = 3, n = 2)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  before <- graphics::par("mar")
  expect_identical(plot(fit, type = "score")$column, fit$ranking)
  expect_identical(plot(fit, type = "path", col = "red"), fit$path)
  expect_named(plot(fit), c("name", "column", "frequency"))
  expect_identical(graphics::par("mar"), before)
})

test_that("a laplace kernel's kinks do not end a search away from the top", {
  skip_if_not_installed("mlbench")
  sonar <- new.env()
  utils::data("Sonar", package = "mlbench", envir = sonar)
  x <- scale(as.matrix(sonar$Sonar[c(1:5, 10:14)]))
  class <- sonar$Sonar$Class
  y <- ifelse(class == levels(class)[1], 1, -1)
  for (kernel in list(laplace_kernel(), laplace_kernel(2))) {
    fit <- kernel_rank(x, class, kernel, "sfs", target = "plain")
    value <- function(v) sum(gram(x, within_list(fit$kernel, weights = sqrt(v))) * outer(y, y))
    v <- unname(fit$weights)^2
    expect_equal(fit$value, value(v), tolerance = 1e-10)
    for (column in which(v > 1e-4 * max(v))) {
      nudge <- replace(numeric(10), column, 1e-4)
      expect_lt(abs(log(value(v * (1 + nudge)) / value(v * (1 - nudge))) / 2e-4), 1e-4)
    }
  }
  fast <- kernel_rank(x, class, laplace_kernel(), "scss")
  expect_gt(fast$value, kernel_rank(x, class, laplace_kernel(), "scss", optimizer = "ascent")$value)
})

test_that("a step is how far the scale factors moved, and an ordinal score counts from the last", {
  for (optimizer in c("lbfgs", "ascent")) {
    once <- suppressWarnings(
      kernel_rank(iris[1:4], iris$Species, optimizer = optimizer, max_iter = 1))
    expect_equal(once$path$step, c(0, sqrt(sum((once$weights - 1)^2))), tolerance = 1e-12)
  }
  for (method in c("forward", "bahsic", "rfe")) {
    fit <- kernel_rank(iris[1:4], iris$Species, method = method)
    expect_identical(unname(fit$score[fit$ranking]), c(4, 3, 2, 1), info = method)
  }
})

test_that("a single column is ranked by every search", {
  for (method in c("forward", "bahsic", "sas")) {
    fit <- kernel_rank(iris[51:150, 3, drop = FALSE], droplevels(iris$Species[51:150]),
      method = method)
    expect_identical(fit$ranking, 1L, label = method)
    again <- suppressMessages(
      kernel_rank(iris[51:150, 3, drop = FALSE], iris$Species[51:150], method = method,
        resample = 2, n = 1))
    expect_identical(again$frequency, c(Petal.Length = 1), label = method)
  }
})

test_that("the bound's default cost is that of footnote 4 at the kernel it starts from", {
  x <- scale(as.matrix(iris[51:150, 1:4]))
  y <- droplevels(iris$Species[51:150])
  start <- c(2, 0.5, 1, 3)
  kernel <- rbf_kernel(sigma = 2, weights = start)
  distance <- sqrt(2 - 2 * exp(-drop(sweep(x, 2, start, `*`)^2 %*% rep(1, 4)) / (2 * 2^2)))
  given <- kernel_rank(x, y, kernel, "r2w2", cost = 1 / mean(distance)^2, scale = FALSE, tol = 0.1)
  own <- kernel_rank(x, y, kernel, "r2w2", scale = FALSE, tol = 0.1)
  expect_equal(own$weights, given$weights, tolerance = 1e-8)
})

test_that(paste(
  "weights that multiply stop at a change of exactly `tol` and remember when a column vanished"
), {
  # a machine whose answers are known: factors by column and call, told apart by the first row,
  # which comes times w
  machine <- function(factors) {
    call <- 0
    function(x, w) {
      call <<- call + 1
      list(size = factors[[call]][round(x[1, ] / w)], value = 10 * call)
    }
  }
  x <- rbind(1:4, c(2, 3, 5, 7), c(3, 1, 4, 1))
  control <- list(max_iter = 5, tol = 0.25, verbose = FALSE, method = "arom")
  fit <- multiply_weights(x, c(2, 2, 2, 4),
    machine(list(c(2, 2, 0, 1), c(1, 1e-12, 1, 1), c(1, 0.5, 1, 1), c(1, 1, 1, 1))), control)
  # starts at 1/2 1/2 1/2 1; then 1 1 0 1; 1 1e-12 0 1 (still there); 1 0 0 1, no change of more
  # than 1e-12
  expect_identical(fit$weights, c(1, 0, 0, 1))
  expect_identical(fit$tie, c(Inf, 3, 1, Inf))
  expect_identical(fit$path$iteration, 1:3)
  expect_equal(fit$path$step, c(sqrt(0.75), 1, 0), tolerance = 1e-10)
  expect_identical(fit$value, 30)
  expect_true(fit$converged)
  at <- multiply_weights(x, rep(1, 4), machine(list(c(1, 1, 0.75, 1), rep(1, 4))), control)
  expect_identical(nrow(at$path), 1L)
  expect_true(at$converged)
  beyond <- multiply_weights(x, rep(1, 4), machine(list(c(1, 1, 0.5, 1))),
    within_list(control, max_iter = 1))
  expect_false(beyond$converged)
  expect_identical(beyond$weights, c(1, 1, 0.5, 1))
  for (bad in list(c(1, NaN, 1, 1), rep(0, 4), c(1, 1, Inf, 1))) {
    expect_error(multiply_weights(x, rep(1, 4), machine(list(bad)), control),
      "zero or not finite: give another `cost`",
                 class = "kernelect_error_data")
  }
})

test_that("a ranking by weights that multiply puts the column that vanished last before the others",
  {
  x <- random_matrix(60, 8, 8)
  fit <- kernel_rank(x, factor(x[, 3] + x[, 5] > 0), method = "kfds", ridge = 0.1)
  # the same rounds by hand; a column is gone in the round that leaves it below 1e-12 of the largest
  z <- scale(x)
  side <- ifelse(x[, 3] + x[, 5] > 0, 1, -1)
  w <- rep(1, 8)
  gone <- rep(Inf, 8)
  for (round in seq_len(nrow(fit$path))) {
    live <- which(w > 0)
    new <- replace(numeric(8), live,
      w[live] * abs(naive_fisher_normal(z[, live, drop = FALSE] %*% diag(w[live], length(live)),
        side, 0.1)$normal))
    new <- new / max(new)
    new[new < 1e-12] <- 0
    gone[w > 0 & new == 0] <- round
    w <- new
  }
  expect_equal(unname(fit$weights), w, tolerance = 1e-6)
  expect_gt(length(unique(gone)), 2)
  expect_identical(fit$ranking, order(-w, -gone, 1:8))
  expect_identical(summary(fit)$iterations, nrow(fit$path))
  expect_identical(summary(fit)$zero, sum(w == 0))
})

test_that(paste(
  "KFDS is the formula of the paper in its first round, corrected and as printed, for any classes"
), {
  start <- c(1, 0.5, 2, 1)
  for (rows in list(1:150, 51:150)) {
    x <- scale(as.matrix(iris[rows, 1:4]))
    y <- droplevels(iris$Species[rows])
    sides <- lapply(if (nlevels(y) == 2) 2 else 1:3, function(k) ifelse(as.integer(y) == k, 1, -1))
    w <- start / max(start)
    for (update in c("corrected", "printed")) {
      fit <- suppressWarnings(
        kernel_rank(x, y, linear_kernel(weights = start), "kfds", update = update, max_iter = 1,
          scale = FALSE, ridge = 0.3))
      parts <- lapply(sides,
        function(side) naive_fisher_normal(x * rep(w, each = nrow(x)), side, 0.3))
      h <- sqrt(rowSums(vapply(parts, function(p) p$normal^2, numeric(4))))
      want <- if (update == "printed") h else w * h
      expect_equal(fit$weights, want / max(want), tolerance = 1e-8)
      expect_equal(fit$value, sum(vapply(parts, `[[`, 0, "value")), tolerance = 1e-8)
      expect_equal(fit$path$step, sqrt(sum((fit$weights - w)^2)), tolerance = 1e-10)
    }
  }
})

test_that("what does not converge says by how much the value changed, where it can be known", {
  two <- droplevels(iris[51:150, ])
  caught <- function(...) {
    text <- NULL
    fit <- withCallingHandlers(kernel_rank(two[1:4], two$Species, ...), warning = function(w) {
      text <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
    list(text = text, value = fit$path$value, fit = fit)
  }
  said <- caught(max_iter = 2)
  last <- utils::tail(said$value, 2)
  expect_identical(said$text, paste0(
    "Method \"sas\" did not converge in 2 iterations (last relative change of the value: ",
    format(abs(last[2] - last[1]) / abs(last[2]), digits = 2),
    "). Raise `max_iter`, or `tol`, if the best columns still change."
  ))
  expect_match(rank_headline(said$fit), " (not converged)", fixed = TRUE)
  expect_output(print(summary(said$fit)), " of 4 weights zero, 2 iterations\n")
  for (method in c("arom", "kfds")) {
    once <- caught(method = method, max_iter = 1,
      update = if (method == "arom") "printed" else "corrected")
    expect_identical(once$text, paste0("Method \"", method, "\" did not converge in 1 iteration. ",
                                       "Raise `max_iter`, or `tol`, if the best columns still change.")) # nolint: line_length_linter.
    expect_output(print(summary(once$fit)), "weights zero, 1 iteration\n", fixed = TRUE)
  }
})

test_that("constant columns are counted, named, and leave the others as they were", {
  x <- as.matrix(iris[1:4])
  y <- iris$Species
  w <- c(2, 0.5, 1, 3)
  flat <- cbind(x[, 1:2], one = 1, x[, 3:4], two = 2)
  keep <- c(1L, 2L, 4L, 5L)
  expect_message(kernel_rank(flat[, 1:4], y, method = "fisher"),
    "^1 column is constant and ranked last with score 0: `one`.\n$")
  expect_message(kernel_rank(flat, y, method = "fisher"),
    "^2 columns are constant and ranked last with score 0: `one`, `two`.\n$")
  expect_message(kernel_rank(unname(flat), y, method = "fisher"), "`3`, `6`.", fixed = TRUE)
  for (method in names(rank_methods)) {
    kernel <- function(w) {
      if (method == "fisher") NULL else if (method_takes(rbf_kernel(), method)) rbf_kernel(2,
        weights = w) else linear_kernel(weights = w)
    }
    plain <- kernel_rank(x, y, kernel(w), method)
    fit <- suppressMessages(kernel_rank(flat, y, kernel(c(w[1:2], 9, w[3:4], 9)), method))
    expect_identical(fit$ranking, c(keep[plain$ranking], 3L, 6L), label = method)
    expect_identical(unname(fit$score[c(3, 6)]), c(0, 0), label = method)
    if (method %in% c("rfe", "bahsic", "forward")) {
      expect_identical(fit$path$step, keep[plain$path$step], label = method)
      expect_identical(unname(fit$score[fit$ranking]), c(6, 5, 4, 3, 0, 0), label = method)
    } else {
      expect_equal(fit$score[keep], plain$score, tolerance = 1e-6, label = method)
      expect_identical(fit$weights, if (method != "fisher") fit$score, label = method)
    }
  }
})

test_that("a subsample takes half the rows of every class, at least two", {
  y <- factor(rep(c("a", "b", "c"), c(2, 3, 7)))
  with_seed(1, drawn <- draw_subsamples(y, 20))
  expect_length(drawn, 20)
  for (rows in drawn) {
    expect_identical(c(table(y[rows])), c(a = 2L, b = 2L, c = 4L))
    expect_false(is.unsorted(rows, strictly = TRUE))
  }
  expect_identical(draw_subsamples(y, 0), list())
  # a column that is constant in a subsample counts as such there
  x <- cbind(iris_matrix(51:150), rare = rep(c(1, 0), c(1, 99)))
  with_seed(1, fit <-
    kernel_rank(x, factor(iris$Species[51:150]), method = "kfds", ridge = 0, resample = 4, n = 4))
  expect_lt(fit$frequency[["rare"]], 1)
  expect_equal(sum(fit$frequency), 4)
})

test_that("a start is a scale: SCSS begins with a tenth of the scatter, in row 0 of the path", {
  x <- scale(as.matrix(iris[1:4]))
  w <- c(2, 0.5, 1, 3)
  same <- outer(iris$Species, iris$Species, `==`) / 50
  for (kernel in list(linear_kernel(weights = w), rbf_kernel(2, weights = w))) {
    K <- gram(x, kernel)
    scatter <- sum(diag(K)) - sum(K * same)
    fit <- kernel_rank(x, iris$Species, kernel, "scss", scale = FALSE)
    expect_equal(fit$path$value[1],
      reference_rank_criterion(K, iris$Species, "separability", 0.1 * scatter)$value,
      tolerance = 1e-10)
    at_end <- gram(x, fit$kernel)
    expect_equal(fit$value,
      reference_rank_criterion(at_end, iris$Species, "separability", 0.1 * scatter)$value,
      tolerance = 1e-10)
    expect_identical(fit$path$iteration, seq_len(nrow(fit$path)) - 1L)
    expect_identical(summary(fit)$iterations, nrow(fit$path) - 1L)
  }
})

test_that("of equal columns the first stays, and a chosen target is none of BAHSIC's", {
  two <- droplevels(iris[51:130, ])
  x <- scale(as.matrix(two[c(3, 2, 3, 4)]))
  for (method in c("bahsic", "rfe")) {
    ranking <- kernel_rank(x, two$Species, linear_kernel(), method)$ranking
    expect_lt(match(1L, ranking), match(3L, ranking), label = method)
  }
  balanced <- kernel_rank(x, two$Species, method = "bahsic")
  plain <- kernel_rank(x, two$Species, method = "bahsic", target = "plain")
  expect_identical(plain$path, balanced$path)
  expect_false(identical(kernel_rank(x, two$Species, method = "forward", target = "plain")$value,
                         kernel_rank(x, two$Species, method = "forward")$value))
  # weights of the kernel are those of the columns
  w <- c(2, 0.5, 1, 3)
  for (kernel in list(rbf_kernel(2), spline_kernel(), linear_kernel())) {
    weighted <- kernel_rank(x, two$Species, within_list(kernel, weights = w), "bahsic",
      scale = FALSE)
    by_columns <- kernel_rank(x * rep(w, each = 80), two$Species, kernel, "bahsic", scale = FALSE)
    expect_identical(weighted$ranking, by_columns$ranking)
    expect_equal(weighted$path, by_columns$path, tolerance = 1e-10)
  }
})

test_that("machines add up the squares over the classes, at the documented cost", {
  x <- scale(as.matrix(iris[1:4]))
  y <- iris$Species
  squares <- function(z, cost) {
    duals <- vapply(levels(y),
      function(k) svm_dual(tcrossprod(z), ifelse(y == k, 1, -1), cost)$solution, numeric(150))
    rowSums(crossprod(z, duals)^2)
  }
  cost <- 1 / mean(sqrt(rowSums(x^2)))^2
  all_columns <- squares(x, cost)
  rfe <- kernel_rank(x, y, method = "rfe", scale = FALSE)
  expect_equal(rfe$path$value[1], sum(all_columns), tolerance = 1e-4)
  expect_identical(rfe$path$step[1], unname(which.min(all_columns)))
  expect_identical(rfe$path$iteration, 1:3)
  expect_true(is.na(rfe$value))
  arom <- suppressWarnings(kernel_rank(x, y, method = "arom", scale = FALSE, max_iter = 1))
  expect_equal(arom$value, sum(all_columns), tolerance = 1e-4)
  expect_equal(unname(arom$weights), unname(sqrt(all_columns / max(all_columns))), tolerance = 1e-4)
})

test_that(paste(
  "the radius-margin bound ends at R^2 times the sum of the squared norms, and fell on its way"
), {
  x <- scale(as.matrix(iris[1:4]))
  fit <- kernel_rank(x, iris$Species, rbf_kernel(2), "r2w2", cost = 0.7, scale = FALSE, tol = 1e-3)
  soft <- gram(x, fit$kernel) + diag(1 / 0.7, 150)
  norms <- vapply(levels(iris$Species), function(k) {
    b <- svm_dual(soft, ifelse(iris$Species == k, 1, -1), Inf)$solution
    sum(b * (soft %*% b))
  }, 0)
  expect_equal(fit$value, sum(norms) * enclosing_sphere(soft)$radius2, tolerance = 1e-6)
  expect_true(all(diff(fit$path$value) <= 0))
  expect_identical(fit$path$value[nrow(fit$path)], fit$value)
  expect_identical(fit$path$iteration[1], 0L)
})

test_that("fusion starts from the kernel's weights, and its path is that of the roots", {
  x <- as.matrix(iris[1:4])
  x <- cbind(x, random_matrix(150, 3))
  colnames(x) <- letters[1:7]
  w <- c(2, 0.5, 1, 3, 1, 1, 1)
  kernel <- linear_kernel(weights = w)
  expect_equal(unname(
    kernel_rank(x, iris$Species, kernel, "fusion", scale = FALSE, tol = 1e12)$weights), w,
      tolerance = 1e-12)
  fit <- kernel_rank(x, iris$Species, kernel, "fusion", scale = FALSE)
  fusion <- kernel_fusion(x, iris$Species, scale = FALSE, start = w^2, max_iter = 200)
  steps <- sqrt(unname(as.matrix(fusion$path[-1])))
  expect_identical(fit$path$iteration, seq_len(nrow(steps)) - 1L)
  expect_identical(fit$path$value, rowSums(steps > 0))
  expect_identical(fit$value, sum(fusion$active))
  expect_equal(fit$path$step, c(0, sqrt(rowSums(diff(steps)^2))), tolerance = 1e-10)
  gone <- apply(steps, 2, function(s) if (all(s > 0)) Inf else match(0, s))
  expect_gt(length(unique(gone)), 2)
  expect_identical(fit$ranking, order(-steps[nrow(steps), ], -gone))
})

test_that("ten columns are printed and eight are summarised before the rest is counted", {
  x <- random_matrix(30, 12)
  colnames(x) <- letters[1:12]
  y <- factor(rep(1:2, 15))
  fit <- function(d) kernel_rank(x[, seq_len(d), drop = FALSE], y, method = "fisher")
  printed <- function(d) capture.output(print(fit(d)))
  expect_length(printed(10), 11)
  expect_identical(printed(11)[12], "  and 1 more column")
  expect_identical(printed(12)[12], "  and 2 more columns")
  expect_identical(printed(11)[1], "<kernel_rank> fisher: 11 columns, 30 rows, 2 classes")
  summarised <- function(d) capture.output(print(summary(fit(d))))
  expect_length(summarised(8), 1 + 1 + 8)
  expect_identical(summarised(9)[11], "and 1 more in $table")
  expect_identical(summary(fit(9))$iterations, 0L)
  expect_identical(summary(fit(9))$zero, 0L)
  expect_identical(summary(fit(9))$table$name, letters[fit(9)$ranking])
})

test_that("bars are twenty for the best score, and none where nothing scores", {
  bars <- function(score, frequency = NULL) rank_lines(list(score = score, frequency = frequency),
    seq_along(score))
  expect_identical(nchar(gsub("[^#]", "", bars(c(a = 4, b = 2, c = 1, d = 0)))),
    c(20L, 10L, 5L, 0L))
  expect_identical(nchar(gsub("[^#]", "", bars(c(a = Inf, b = 2, c = 1)))), c(20L, 20L, 10L))
  expect_identical(nchar(gsub("[^#]", "", bars(c(a = 0, b = 0)))), c(0L, 0L))
  expect_identical(nchar(gsub("[^#]", "", bars(c(a = Inf)))), 0L)
  expect_identical(bars(c(a = 4, bb = 2), c(1, 0.336)), c(
    paste0("  1  a   4.000  ", strrep("#", 20), "  100%"),
    paste0("  2  bb  2.000  ", strrep("#", 10), strrep(" ", 10), "   34%")
  ))
})

test_that("a damaged ranking is refused", {
  fit <- kernel_rank(iris[1:4], iris$Species, method = "fisher")
  expect_silent(predict(fit, iris, n = 2))
  refused <- function(...) {
    broken <- structure(within_list(unclass(fit), ...), class = "kernel_rank")
    expect_error(predict(broken, iris, n = 2), class = "kernelect_error_model",
      info = names(list(...)))
  }
  refused(input = NULL)
  refused(input = within_list(fit$input, columns = letters[1:3]))
  refused(input = within_list(fit$input, variables = 1))
  refused(ranking = as.double(fit$ranking))
  refused(ranking = fit$ranking[-1])
  refused(ranking = c(fit$ranking, 5L))
})

test_that("columns are duplicates when all their rows agree, not some", {
  x <- random_matrix(100, 3)
  expect_null(duplicate_groups(x))
  expect_identical(duplicate_groups(x[, c(1, 2, 1, 3, 2, 1)]), c(1L, 2L, 1L, 4L, 2L, 1L))
  almost <- cbind(x, replace(x[, 2], 50, 9))
  expect_null(duplicate_groups(almost))
  expect_identical(duplicate_groups(cbind(almost, x[, 3])), c(1L, 2L, 3L, 4L, 3L))
  expect_equal(share_duplicates(c(3, 1, 4), x[, c(1, 2, 1)]), c(sqrt(12.5), 1, sqrt(12.5)))
  # columns of one key that differ: keys that overflow, and those that a small difference leaves
  # alike
  same_key <- cbind(c(1e308, 1e308), c(1.5e308, 1e308), c(1e308, 1e308), c(1.5e308, 1e308))
  expect_identical(duplicate_groups(same_key), c(1L, 2L, 1L, 2L))
  expect_identical(duplicate_groups(cbind(c(1, 1e-30), c(1, 0), c(1, 1e-30), c(1, -0))),
    c(1L, 2L, 1L, 2L))
})

test_that("equal columns of sparse 0/1 tables are found as by comparing all", {
  set.seed(1)
  x <- matrix(as.double(runif(60 * 3000) < 0.02), 60)
  groups <- duplicate_groups(x)
  text <- apply(x, 2, paste, collapse = "")
  expect_identical(groups, match(text, text))
  expect_gt(anyDuplicated(groups), 0)
})

test_that("a subsample of constant columns only chooses none, by every method, and it is said", {
  y <- factor(rep(1:2, each = 8))
  x <- cbind(a = replace(numeric(16), c(1, 9), c(1, 2)), b = replace(numeric(16), c(1, 9), c(3, 1)))
  for (method in names(rank_methods)) {
    set.seed(3)
    rows <- draw_subsamples(y, 10)
    empty <- sum(vapply(rows, function(i) all(apply(x[i, ], 2, sd) == 0), NA))
    expect_gt(empty, 0)
    set.seed(3)
    expect_message(fit <-
      suppressWarnings(kernel_rank(x, y, method = method, resample = 10, n = 1)),
                   paste("In", empty, "of 10 subsamples all columns are constant"),
                   class = "kernelect_message")
    expect_equal(sum(fit$frequency), (10 - empty) / 10, label = method)
  }
})

test_that("a converged search ends at one value whatever the order of the rows", {
  skip_if_not_installed("kernlab")
  spam <- new.env()
  utils::data("spam", package = "kernlab", envir = spam)
  set.seed(1)
  part <- spam$spam[sample(nrow(spam$spam), 300), ]
  fits <- lapply(1:3, function(seed) {
    set.seed(seed)
    kernel_rank(type ~ ., part[sample(nrow(part)), ], max_iter = 500)
  })
  exact <- kernel_rank(type ~ ., part, max_iter = 2000, tol = 1e-10)
  expect_true(exact$converged)
  for (fit in fits) {
    expect_true(fit$converged)
    expect_equal(fit$value, exact$value, tolerance = 1e-5)
    expect_setequal(fit$ranking[1:5], exact$ranking[1:5])
  }
})

test_that("Fisher scores do not depend on which class comes first", {
  for (last in c(90, 140)) { # two classes, and three of different sizes
    x <- as.matrix(iris[last:11, 1:4])
    y <- droplevels(iris$Species[last:11])
    within <- Reduce(`+`, lapply(levels(y), function(k) {
      part <- x[y == k, ]
      apply(part, 2, var) * if (nlevels(y) == 2) 1 else nrow(part) - 1
    }))
    means <- sapply(levels(y), function(k) colMeans(x[y == k, ]))
    between <- if (nlevels(y) == 2) (means[, 1] -
      means[, 2])^2 else drop((means - colMeans(x))^2 %*% table(y))
    expect_equal(kernel_rank(x, y, method = "fisher", scale = FALSE)$score, between / within,
      tolerance = 1e-12)
  }
})

test_that("numbers are ranked by the methods that can use them, the others name these", {
  x <- random_matrix(120, 8, 3)
  y <- 2 * x[, 4] + x[, 4]^2 / 2 - x[, 7] + 10
  able <- c("sas", "sfs", "bahsic", "forward", "fusion")
  for (method in able) {
    fit <- suppressWarnings(kernel_rank(x, y, method = method))
    expect_identical(fit$ranking[1], 4L, label = method)
    expect_null(fit$classes)
    expect_output(print(fit), "120 rows, numbers")
    # rows in another order, numbers in another unit
    order <- 120:1
    again <- suppressWarnings(kernel_rank(x[order, ], 5 - 3 * y[order], method = method))
    expect_identical(again$ranking[1:2], fit$ranking[1:2], label = method)
  }
  for (method in setdiff(names(rank_methods), able)) {
    expect_error(kernel_rank(x, y, method = method),
      paste0("method \"", method, "\" needs classes.*\"sas\", \"sfs\""),
                 class = "kernelect_error_argument")
  }
  expect_equal(kernel_rank(x, y)$value,
    kernel_alignment(gram(scale(x), kernel_rank(x, y)$kernel), y), tolerance = 1e-10)
  by_formula <- kernel_rank(y ~ ., data.frame(x, y))
  expect_identical(unname(by_formula$score), unname(kernel_rank(x, y)$score))
})

test_that("the gradient of the regularised dual equals differences, and GMKL goes down it", {
  x <- random_matrix(50, 4)
  for (y in list(factor(x[, 1] * x[, 2] + x[, 3] > 0), cut(x[, 1], 3))) {
    for (kernel in list(rbf_kernel(1.5), linear_kernel(), polynomial_kernel(2))) {
      f <- regularised_dual(x, kernel, rank_sides(y), 2, 1L, tol = 1e-13)
      v <- c(1, 0.5, 2, 0.8)
      got <- f(sqrt(v), 0.3)
      # the dual as a program of its own: the largest value over what the solver may choose
      K <- gram(x, within_list(kernel, weights = sqrt(v)))
      dual <- sum(vapply(rank_sides(y), function(g) {
        fit <- svm_dual(K, g, 2, tol = 1e-13)
        sum(fit$lambda) - 0.5 * sum(fit$solution * (K %*% fit$solution))
      }, 0))
      expect_equal(got[1], dual + 0.3 * sum(v), tolerance = 1e-9)
      slope <- vapply(1:4, function(d) {
        h <- replace(numeric(4), d, 1e-4)
        (f(sqrt(v + h), 0.3)[1] - f(sqrt(v - h), 0.3)[1]) / 2e-4
      }, 0)
      expect_equal(got[-1], slope, tolerance = 1e-4)
    }
  }
  fit <- kernel_rank(x, factor(x[, 2] > 0), method = "gmkl")
  expect_true(all(diff(fit$path$value) <= 0))
  expect_identical(fit$ranking[1], 2L)
  expect_equal(unname(fit$kernel$weights), unname(fit$weights))
  harder <- kernel_rank(x, factor(x[, 2] > 0), method = "gmkl", ridge = 1)
  expect_lt(sum(harder$weights^2), sum(fit$weights^2))
})

test_that("a null line says what chance alone would bring", {
  set.seed(4)
  x <- matrix(rnorm(60 * 20), 60)
  y <- factor(rep(1:2, 30))
  set.seed(1)
  fit <- kernel_rank(x, y, method = "fisher", resample = 20, n = 2)
  expect_named(fit$null, c("mean", "95%"))
  expect_equal(fit$null[["mean"]], 2 / 20)
  expect_gt(fit$null[["95%"]], fit$null[["mean"]])
  # by hand, with the random numbers in the order of their drawing
  set.seed(1)
  rows <- draw_subsamples(y, 20)
  shares <- replicate(10, {
    permuted <- y[sample.int(60)]
    mine <- draw_subsamples(permuted, 20)
    best <- lapply(mine,
      function(i) order(-
        kernel_rank(scale(x)[i, ], permuted[i], method = "fisher", scale = FALSE)$score)[1:2])
    tabulate(unlist(best), 20) / 20
  })
  expect_equal(fit$null[["95%"]], quantile(shares, 0.95, names = FALSE))
  best <- lapply(rows,
    function(i) order(-
      kernel_rank(scale(x)[i, ], y[i], method = "fisher", scale = FALSE)$score)[1:2])
  expect_equal(unname(fit$frequency), tabulate(unlist(best), 20) / 20)
  expect_null(kernel_rank(x, y)$null)
  expect_identical(
    unname(suppressMessages(kernel_rank(x, y, method = "fisher", resample = 2, n = 20))$null),
    c(1, 1))
  numbers <- kernel_rank(x, x[, 3], resample = 3, n = 1)
  expect_identical(numbers$frequency[[3]], 1)
  expect_equal(numbers$null[["mean"]], 1 / 20)
})

test_that("restarts tried on a sample of rows find the optimum of those run on all", {
  set.seed(3)
  x <- matrix(rnorm(700 * 12), 700)
  mixed <- factor(x[, 1] * x[, 2] + x[, 3] / 2 > 0)
  for (method in c("sas", "scss", "sfs")) {
    set.seed(1)
    fit <- kernel_rank(x, mixed, method = method, restarts = 3)
    set.seed(1)
    factors <- draw_starts(12, 3)
    kernel <- kernel_rank(x, mixed, method = method)$kernel
    full <- vapply(1:3, function(k) {
      kernel$weights <- factors[, k]
      suppressWarnings(kernel_rank(x, mixed, kernel, method))$value
    }, 0)
    alone <- kernel_rank(x, mixed, method = method)$value
    expect_gte(fit$value, alone)
    # SCSS's own constant belongs to its start: only the others' values can be compared
    if (method != "scss") expect_gte(fit$value, max(full) * (1 - 1e-5))
  }
})

test_that("variances are even up to the rounding of their rows, and pairs then share a width", {
  expect_true(are_even(c(2, 2 * (1 + 0.9e-10)), 1000))
  expect_false(are_even(c(2, 2 * (1 + 1.1e-10)), 1000))
  expect_true(are_even(c(1, 1 + 0.9e-12, 1), 10))
  expect_false(are_even(c(1, 1 + 1.1e-12, 1), 10))
  expect_true(are_even(c(3, 3), 1))
  # one width or a width a pair: the same pair either way
  data <- random_matrix(80, 5)
  mixed <- factor(data[, 2] * data[, 4] > 0)
  expect_setequal(kernel_rank(data, mixed, method = "forward")$ranking[1:2], c(2, 4))
  expect_setequal(kernel_rank(scale(data) * rep(1 + (1:5) * 1e-9, each = 80), mixed,
    method = "forward", scale = FALSE)$ranking[1:2], c(2, 4))
})

test_that("restarts are tried on 300 rows, to a ten-thousandth or what was asked for", {
  x <- random_matrix(700, 3)
  y <- factor(x[, 1] * x[, 2] > 0)
  for (tol in c(1e-6, 1e-3)) {
    control <- list(method = "sas", kernel = rbf_kernel(1), target = "balanced", block = 240,
      threads = 1L, tol = tol, optimizer = "lbfgs", max_iter = 50,
      starts = matrix(exp(sin(1:12)), 3))
    problem <- rank_problem(x, y, rep(1, 3), control)
    rows <- sample_rows(problem$u, 300)
    expect_length(rows, 300)
    sample <- rank_problem(x[rows, ], y[rows], rep(1, 3), control)
    ends_at <- function(tol) {
      lapply(1:4, function(k) maximise(sample, control$starts[, k], replace(control, "tol",
        tol))$weights)
    }
    points <- restart_points(x, y, rep(1, 3), problem, list(weights = c(0, 0, 1)), control,
      function() NULL)
    expect_gt(length(points), 0)
    expect_true(all(points %in% ends_at(max(tol, 1e-4))))
    for (other in c(1e-7, 0.1)) expect_false(any(points %in% ends_at(other)))
  }
})

test_that("ends of restarts that point the same way count once", {
  known <- c(1, 2, 0)
  ends <- list(3 * known, c(0, 0, 1), c(0, 0.01, 2), c(5, 0, 0), c(1, 2, 0.01))
  expect_identical(differing(ends, known), ends[c(2, 4)])
  # squares at that cosine from the first axis
  at <- function(angle) sqrt(c(angle, sqrt(1 - angle^2)))
  expect_length(differing(list(at(0.9901)), c(1, 0)), 0)
  expect_length(differing(list(at(0.9899)), c(1, 0)), 1)
  # up to 600 rows every start goes on itself; beyond, at most two ends do
  for (n in c(600, 601)) {
    x <- random_matrix(n, 3)
    control <- list(method = "sas", kernel = rbf_kernel(1), target = "balanced", block = 240,
      threads = 1L, tol = 1e-6,
                    optimizer = "lbfgs", max_iter = 50, starts = matrix(exp(sin(1:12)), 3))
    y <- factor(x[, 1] > 0)
    problem <- rank_problem(x, y, rep(1, 3), control)
    points <- restart_points(x, y, rep(1, 3), problem, list(weights = c(0, 0, 1)), control,
      function() NULL)
    if (n == 600) expect_identical(points,
      lapply(1:4, function(k) control$starts[, k])) else expect_lte(length(points), 2)
  }
})

test_that("a limit of a thousand million iterations needs no room for their path", {
  before <- gc(reset = TRUE)
  fit <- kernel_rank(iris[1:4], iris$Species, max_iter = 1e9)
  expect_identical(fit$ranking, kernel_rank(iris[1:4], iris$Species)$ranking)
  expect_lt(sum(gc()[, 6]) - sum(before[, 2]), 200) # megabytes at the peak
})
