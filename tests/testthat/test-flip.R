half_mean <- function(x, columns) {
  part <- x[, columns, drop = FALSE]
  gram(part, rbf_kernel(sigma = 0.5 *
    sqrt(mean(rowSums((part - rep(colMeans(part), each = nrow(part)))^2)))))
}

naive_forward <- function(x, y, n) {
  align <- function(columns) kernel_alignment(half_mean(x, columns), y)
  pairs <- combn(ncol(x), 2)
  order <- pairs[, which.max(apply(pairs, 2, align))]
  order <- order[order(-vapply(order, align, 0))]
  while (length(order) < n) {
    rest <- setdiff(seq_len(ncol(x)), order)
    order <- c(order, rest[which.max(vapply(rest, function(d) align(c(order, d)), 0))])
  }
  rest <- setdiff(seq_len(ncol(x)), order)
  gain <- vapply(rest, function(d) align(c(order, d)), 0)
  list(ranking = c(order, rest[order(-gain)]),
    values = vapply(seq_len(n), function(k) align(order[seq_len(k)]), 0))
}

flip_responses <- function(x) {
  list(two = factor(x[, 2] * x[, 4] > 0), three = cut(x[, 1] + x[, 2]^2, 3),
    numbers = x[, 3] * x[, 1] + x[, 2])
}

test_that("the sums of flipped sets are those of Gram matrices", {
  x <- random_matrix(150, 6)
  x[9, ] <- x[4, ]
  gamma <- c(0.3, 0.1, 0, 0.7, 0.2, 1)
  set <- c(2L, 5L, 6L)
  for (u in list(matrix(sin(1:150)), cbind(cos(1:150), 1:150 / 100))) {
    for (threads in 1:2) {
      got <- .Call(ffi_flip_sums, x, u, replace(numeric(6), set, 1), gamma, FALSE, threads)
      for (e in 1:6) {
        flipped <- if (e %in% set) setdiff(set, e) else c(set, e)
        K <- exp(-gamma[e] * as.matrix(dist(x[, flipped]))^2)
        expect_equal(got$target[e], if (e == 3) 0 else sum(K * tcrossprod(u)), tolerance = 1e-12)
        expect_equal(got$self[e], if (e == 3) 0 else sum(K^2), tolerance = 1e-12)
      }
    }
  }
})

test_that(paste(
  "forward selection takes the width from the set at hand, stops after n and ranks the rest by gain"
), {
  x <- random_matrix(60, 7)
  for (y in flip_responses(x)) {
    want <- naive_forward(scale(x), y, 3)
    fit <- kernel_rank(x, y, method = "forward", n = 3)
    expect_identical(fit$ranking, want$ranking)
    expect_equal(fit$path$value, want$values, tolerance = 1e-12)
    expect_identical(fit$path$step, fit$ranking[1:3])
    expect_identical(unname(fit$score[fit$ranking]), c(7, 6, 5, 4, 3, 2, 1))
    uneven <- x * rep(c(1, 3, 0.2, 1, 2, 1, 0.5), each = 60) + 100 # pairs of different widths
    want <- naive_forward(uneven, y, 7)
    fit <- kernel_rank(uneven, y, method = "forward", n = 7, scale = FALSE)
    expect_identical(fit$ranking, want$ranking)
    expect_equal(fit$path$value, want$values, tolerance = 1e-10)
  }
})

# Columns of which the best are equal, or nearly; odd widths, and rows far from the others.
many_columns <- function(n, d) {
  x <- random_matrix(n, d)
  x[, c(d - 1, d)] <- x[, 7]
  x[, 20] <- x[, 19] + 1e-9 * x[, 1]
  x[3, 30:40] <- 1e3
  x * rep(c(1, 1e-3, 40), length.out = d)[rep(seq_len(d), each = n)]
}

test_that("of many columns those that single precision rules out are never the best", {
  x <- many_columns(90, rank_many + 60)
  for (y in flip_responses(x)) {
    control <- list(follows = TRUE, kernel = rbf_kernel(1), target = "balanced", threads = 1L)
    for (at in list(x, scale(x), scale(x) * 1e20, scale(x) * 3e-20)) {
      at <- at - rep(colMeans(at), each = nrow(at))
      control$variance <- colMeans(at^2)
      space <- set_space(at, y, control, "alignment")
      set <- order(-space$extended(integer()))[1:2]
      for (step in 1:6) {
        all <- best_column(space$extended(set))
        best <- space$best(set)
        expect_identical(best$column, all$column)
        expect_equal(best$value, all$value, tolerance = 1e-12)
        set <- c(set, best$column)
      }
    }
  }
})

test_that("sums in single precision are as near as the bound says", {
  x <- many_columns(150, 40)
  x <- x - rep(colMeans(x), each = nrow(x))
  for (by in c(1e-4, 0.1, 3, 1e-22, 4e18)) {
    u <- cbind(cos(1:150), 1:150 / 100)
    if (abs(log10(by)) > 10) { # of targets: squared, they are beyond what floats hold
      u <- u * by
      by <- 0.1
    }
    gamma <- replace(by / colMeans(x^2), c(2, 5), 0)
    sums <- lapply(c(FALSE, TRUE), function(rough) {
      .Call(ffi_flip_sums, x, u, replace(numeric(40), c(2, 5), 1), gamma, rough, 2L)
    })
    problem <- list(spec = list(constant = norm(crossprod(u), "F")))
    wanted <- gamma > 0
    off <- rough_error(apply(abs(x), 2, max) * sqrt(gamma), 150, sums[[1]]$self)[wanted]
    gap <- abs(alignment_of(sums[[1]], problem) - alignment_of(sums[[2]], problem))[wanted]
    expect_true(all(gap <= off))
    expect_gt(max(gap), 0)
    expect_true(all(off < 0.02))
    expect_identical(sums[[2]]$self[!wanted], c(0, 0))
  }
})

test_that("BAHSIC takes the width from the set at hand", {
  x <- random_matrix(60, 5)
  for (scale in c(TRUE, FALSE)) {
    at <- if (scale) scale(x) else x <- x * rep(c(1, 3, 0.2, 1, 2), each = 60)
    for (y in flip_responses(x)) {
      fit <- kernel_rank(x, y, method = "bahsic", scale = scale)
      left <- 1:5
      for (step in 1:4) {
        hsic <- vapply(left, function(d) kernel_hsic(half_mean(at, setdiff(left, d)), y), 0)
        expect_equal(fit$path$value[step], max(hsic), tolerance = 1e-10)
        expect_identical(fit$path$step[step], left[which.max(hsic)])
        left <- setdiff(left, fit$path$step[step])
      }
    }
  }
})

test_that("a kernel that is given stays as it is, whatever the set", {
  x <- random_matrix(60, 4)
  y <- factor(x[, 1] > 0)
  fixed <- kernel_rank(x, y, rbf_kernel(1.3), "forward")
  expect_equal(fixed$path$value[4], kernel_alignment(gram(scale(x), rbf_kernel(1.3)), y),
    tolerance = 1e-12)
  word <- kernel_rank(x, y, rbf_kernel("mean"), "forward")
  expect_equal(word$path$value[1], kernel_alignment(gram(scale(x)[, word$ranking[1], drop = FALSE],
                                                         rbf_kernel(sqrt(4 * 59 / 60))), y),
                                                           tolerance = 1e-12)
})

test_that("columns that act together only are found among many", {
  weston <- vapply(1:5, function(seed) {
    d <- simulate_weston(50, seed, "nonlinear")
    setequal(kernel_rank(d[names(d) != "y"], d$y, method = "forward", n = 2)$ranking[1:2], 1:2)
  }, NA)
  expect_true(all(weston))
  for (seed in 1:3) {
    set.seed(seed)
    x <- matrix(rnorm(300 * 100), 300)
    y <- list(factor(x[, 7] * x[, 60] > 0), x[, 7] * x[, 60])
    for (part in list(1:200, 1:300)) { # elimination begins with all columns and needs more rows
      expect_setequal(kernel_rank(x[part, ], y[[1]][part], method = "forward", n = 2)$ranking[1:2],
        c(7, 60))
    }
    expect_setequal(kernel_rank(x, y[[2]], method = "forward", n = 2)$ranking[1:2], c(7, 60))
    expect_setequal(kernel_rank(x, y[[1]], method = "bahsic")$ranking[1:2], c(7, 60))
  }
})

test_that("pairs are screened on a sample of rows where all of them cannot be afforded", {
  x <- random_matrix(200, 30)
  y <- factor(x[, 3] * x[, 8] + 0.2 * x[, 1] > 0)
  for (kernel in list(NULL, rbf_kernel(1))) {
    control <- list(follows = is.null(kernel),
      kernel = if (is.null(kernel)) rbf_kernel(1) else kernel, target = "balanced",
                    threads = 1L, n = 4L, verbose = FALSE, variance = colMeans(scale(x)^2))
    space <- set_space(scale(x), y, control, "alignment")
    problem <- subset_problem(scale(x), y, control, "alignment")
    exact <- best_pair(space, 30L)
    some <- function(e, others) vapply(others, function(f) space$extended(e)[f], 0)
    screened <- screen_pairs(problem, space$extended(integer()), control, some)
    expect_setequal(screened$columns, exact$order)
    expect_equal(screened$value, exact$values[2], tolerance = 1e-12)
  }
  rows <- sample_rows(target_factor(y, "plain"), 40)
  expect_length(rows, 40)
  expect_equal(mean(y[rows] == "TRUE"), mean(y == "TRUE"), tolerance = 0.1)
  # the limit itself: work at it is done in full, beyond it is not
  judge <- function(n, d) {
    problem <- list(x = matrix(0, n, d))
    tryCatch(best_of_pairs(problem, function(columns) stop("some"), list(threads = 1L),
      function(...) stop("all"), NULL),
             error = function(e) conditionMessage(e))
  }
  at <- sqrt(rank_pairs$work * 4)
  expect_identical(judge(1000, floor(at / 1000)), "all")
  expect_identical(judge(1000, ceiling(at / 1000)), "some")
})

test_that("many columns leave a tenth at a time, down to the last few hundred", {
  left <- NULL
  fit <- eliminate(1000L, list(verbose = FALSE), function(set) {
    left <<- c(left, length(set))
    list(loss = as.double(set), value = set)
  })
  want <- 1000
  while (tail(want, 1) > 500) want <- c(want, tail(want, 1) - floor(tail(want, 1) / 10))
  expect_identical(left[seq_along(want)], as.integer(want))
  expect_true(all(diff(left[-seq_len(length(want) - 1)]) == -1))
  expect_identical(fit$path$step, 1:999)
  expect_identical(unname(order(-fit$score)), 1000:1)
  equal <- eliminate(4L, list(verbose = FALSE),
    function(set) list(loss = numeric(length(set)), value = 1))
  expect_identical(equal$path$step, 4:2)
})

test_that("a ranking with screened pairs is the exact one where the best pair stands out", {
  x <- random_matrix(120, 12)
  y <- list(factor(x[, 3] * x[, 8] > 0), x[, 3] * x[, 8])
  exact <- lapply(y, function(y) kernel_rank(x, y, method = "forward", n = 4))
  fixed <- kernel_rank(x, y[[1]], laplace_kernel(1), "forward", n = 4)
  before <- rank_pairs
  on.exit(utils::assignInNamespace("rank_pairs", before, "kernelect"))
  utils::assignInNamespace("rank_pairs", within_list(before, work = 1, finalists = 5L, rows = 60L),
    "kernelect")
  for (k in 1:2) {
    screened <- kernel_rank(x, y[[k]], method = "forward", n = 4)
    expect_identical(screened$ranking, exact[[k]]$ranking)
    expect_equal(screened$path$value, exact[[k]]$path$value, tolerance = 1e-12)
  }
  expect_identical(kernel_rank(x, y[[1]], laplace_kernel(1), "forward", n = 4)$ranking,
    fixed$ranking)
})
