takes_sets <- function() {
  circles <- random_matrix(70, 3, seed = 7)
  list(
    iris = list(x = iris_matrix(), y = iris$Species),
    flowers = list(x = iris_matrix(51:150), y = droplevels(iris$Species[51:150])),
    circles = list(x = circles, y = factor(rowSums(circles^2) > 2.4))
  )
}

directions_of <- function(fit, x) predict(fit$basis, x)

# ---- stage one ---------------------------------------------------------------------------

test_that("iris has 18 directions and the known reconstruction cost", {
  fit <- kernel_takes(iris_matrix(), iris$Species, rbf_kernel("mean"), threshold = identity,
    scale = FALSE)
  expect_length(fit$weights, 18)
  expect_length(fit$basis$index, 18)
  expect_equal(fit$cost, 0.04449178, tolerance = 1e-6)
  expect_equal(summary(fit)$cost, fit$cost)
})

test_that("the KOBL basis is orthonormal in the kernel metric and obeys Theorem 1", {
  for (set in takes_sets()) {
    for (threshold in list(identity, sqrt, function(t) t^2,
      function(t) if (t < 0.5) t / 2 else 0.9)) {
      fit <- kernel_takes(set$x, set$y, threshold = threshold)
      basis <- fit$basis
      K <- gram(basis$vectors, basis$kernel)
      alpha <- solve(basis$cholesky)
      expect_lt(max(abs(alpha %*% K %*% t(alpha) - diag(nrow(K)))), 1e-10)
      expect_identical(basis$stop, "threshold")
      expect_lt(fit$cost, fit$bound)
      expect_equal(fit$bound, threshold(length(basis$index) / nrow(set$x)), tolerance = 1e-12)
      expect_equal(fit$cost, mean(sqrt(predict(basis, set$x, type = "residual"))), tolerance = 1e-6)
    }
  }
})

test_that("on a full basis distances of scores are distances in the kernel space", {
  x <- unique(iris_matrix())
  y <- iris$Species[!duplicated(iris_matrix())]
  K <- gram(scale(x), rbf_kernel(0.5))
  wanted <- sqrt(pmax(outer(diag(K), diag(K), `+`) - 2 * K, 0))
  for (basis in list("kgs", "kpca", NULL)) {
    fit <- kernel_takes(x, y, rbf_kernel(0.5), basis = basis)
    z <- directions_of(fit, x)
    if (!is.null(fit$rotation)) {
      z <- (z - rep(fit$rotation$center, each = nrow(z))) %*% fit$rotation$vectors
    }
    expect_lt(max(abs(as.matrix(dist(z)) - wanted)), 1e-8)
  }
})

test_that("principal directions are those of the centred Gram matrix", {
  x <- scale(iris_matrix(1:60))
  y <- rep(c("a", "b"), 30)
  fit <- kernel_takes(x, y, rbf_kernel(2), basis = "kpca", select = "relief", scale = FALSE)
  centring <- diag(60) - 1 / 60
  parts <- eigen(centring %*% gram(x, rbf_kernel(2)) %*% centring, symmetric = TRUE)
  scores <- sweep(fit$scores, 2, fit$weights[fit$directions], "/")
  for (i in which(fit$directions <= 6)) {
    j <- fit$directions[i]
    expect_equal(abs(scores[, i]), abs(parts$vectors[, j]) * sqrt(parts$values[j]),
      tolerance = 1e-7, ignore_attr = TRUE)
    expect_gt(scores[which.max(abs(scores[, i])), i], 0)
  }
})

# ---- stage two ---------------------------------------------------------------------------

test_that("forward selection is that of the naive twin, two classes and three", {
  for (set in takes_sets()) {
    fit <- kernel_takes(set$x, set$y, select = "kffs")
    wanted <- reference_kffs(directions_of(fit, set$x), set$y)
    expect_equal(fit$path, wanted, tolerance = 1e-12)
    expect_equal(fit$weights[wanted$direction], wanted$gamma, tolerance = 1e-12)
    expect_identical(fit$directions, wanted$direction[wanted$gamma > 0])
    expect_identical(coef(fit), fit$weights)
  }
})

test_that("forward selection does not depend on the order of the levels", {
  set <- takes_sets()$circles
  fit <- kernel_takes(set$x, set$y, select = "kffs")
  turned <- kernel_takes(set$x, factor(set$y, rev(levels(set$y))), select = "kffs")
  expect_identical(turned$path, fit$path)
})

test_that("bit sets count right across word boundaries and many classes", {
  for (n in c(64, 65, 256, 257)) {
    x <- random_matrix(n, 2, seed = n)
    y <- factor(letters[cut(x[, 1] + x[, 2], 4)])
    fit <- kernel_takes(x, y, rbf_kernel(1), basis_size = 5, select = "kffs")
    expect_equal(fit$path, reference_kffs(directions_of(fit, x), y), tolerance = 1e-12)
  }
})

test_that("the printed algorithm is that of its twin, and stalls", {
  for (set in takes_sets()) {
    fit <- kernel_takes(set$x, set$y, variant = "printed")
    wanted <- reference_kffs_printed(directions_of(fit, set$x), set$y)
    expect_equal(fit$path, wanted, tolerance = 1e-8)
    # the second and third vote can at best leave the ensemble's own error, which is 1/2 now
    expect_gt(fit$path$gamma[1], 0)
    expect_identical(fit$path$error[2:3], c(0.5, 0.5))
    expect_identical(fit$path$gamma[2:3], c(0, 0))
    expect_lt(mean(fit$path$gamma != 0), 0.12)
    expect_lte(fit$size, 2)
  }
  fit <- kernel_takes(iris_matrix(), iris$Species, variant = "printed")
  expect_identical(fit$path$gamma[-1], rep(0, 22))
  expect_identical(fit$weights[-fit$path$direction[1]], rep(0, 22))
})

test_that("Relief is that of the naive twin", {
  for (set in takes_sets()) {
    for (basis in c("kobl", "kgs")) {
      fit <- kernel_takes(set$x, set$y, basis = basis, select = "relief")
      expect_equal(fit$weights, reference_relief(directions_of(fit, set$x), set$y),
        tolerance = 1e-8)
      expect_false(is.unsorted(-fit$path$gamma))
    }
  }
})

test_that("the training errors along a Relief path are those of the ensemble", {
  set <- takes_sets()$flowers
  fit <- kernel_takes(set$x, set$y, select = "relief")
  votes <- reference_takes_votes(directions_of(fit, set$x), set$y)[, fit$path$direction]
  wanted <- vapply(seq_len(ncol(votes)),
    function(k) mean(reference_takes_loss(votes[, 1:k, drop = FALSE], set$y)), 0)
  expect_equal(fit$path$error, wanted)
})

test_that("a class of one row has no nearest hit and does no harm", {
  x <- random_matrix(30, 2)
  y <- factor(c("single", rep(c("a", "b"), length.out = 29)))
  fit <- suppressWarnings(kernel_takes(x, y, rbf_kernel(1), select = "relief", size = "loo"))
  expect_true(all(is.finite(fit$weights)))
  expect_s3_class(kernel_takes(x, y), "kernel_takes")
})

# ---- nearest neighbours ------------------------------------------------------------------

test_that("new rows get the class of the nearest weighted training row", {
  for (set in takes_sets()) {
    odd <- seq(1, nrow(set$x), by = 2)
    for (basis in c("kobl", "kpca")) {
      fit <- kernel_takes(set$x[odd, ], set$y[odd], basis = basis, select = "relief")
      scores <- predict(fit, set$x[-odd, ], type = "scores")
      expect_identical(dim(scores), c(length(set$y[-odd]), fit$size))
      expect_identical(predict(fit, set$x[-odd, ]),
        reference_takes_nearest(fit$scores, set$y[odd], scores))
    }
  }
})

test_that("scores are coordinates times weights, and those of the training rows are kept", {
  fit <- kernel_takes(iris_matrix(), iris$Species, size = 5)
  z <- directions_of(fit, iris_matrix())
  expect_equal(fit$scores, sweep(z[, fit$directions], 2, fit$weights[fit$directions], "*"),
    tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(predict(fit, iris_matrix(), type = "scores"), fit$scores, tolerance = 1e-9)
})

test_that("among identical training rows the lowest decides", {
  x <- random_matrix(40, 3, seed = 3)
  y <- ifelse(x[, 1] > 0, "a", "b")
  twice <- c(2, 3, 5, 7, 11, 13)
  for (basis in c("kobl", "kgs", "kpca")) {
    after <- kernel_takes(rbind(x, x[twice, ]), c(y, rep("c", 6)), basis = basis)
    expect_identical(after$scores[twice, ], after$scores[41:46, ])
    expect_identical(as.character(predict(after, x[twice, ])), y[twice])
    before <- kernel_takes(rbind(x[twice, ], x), c(rep("c", 6), y), basis = basis)
    expect_identical(as.character(predict(before, x[twice, ])), rep("c", 6))
  }
})

test_that("rows that are equally near vote, in prediction and when left out", {
  cells <- as.matrix(expand.grid(a = 1:3, b = 1:2, c = 0:1))
  with_seed(2, {
    x <- cells[sample.int(12, 150, replace = TRUE), ]
    y <- factor(c("u", "v", "w")[pmin(x[, 1] + sample(0:1, 150, TRUE), 3)])
  })
  for (select in c("none", "relief")) {
    fit <- suppressWarnings(kernel_takes(x, y, select = select, basis = "kgs"))
    tolerance <- score_tolerance(fit)
    expect_identical(predict(fit, cells + 0),
      reference_takes_nearest(fit$scores, y, predict(fit, cells + 0, type = "scores"),
        tolerance[fit$size]))
    expect_identical(fitted(fit), predict(fit, x))
    expect_equal(fit$left_out_error, reference_takes_loo(fit$scores, y, tolerance)[fit$size])
    loo <- suppressWarnings(kernel_takes(x, y, select = select, basis = "kgs", size = "loo"))
    expect_equal(loo$path$loo[match(fit$directions, loo$path$direction)],
      reference_takes_loo(fit$scores, y, tolerance))
  }
  # one cell: three votes of five
  few <- kernel_takes(rbind(0, 0, 0, 0, 0, 4, 5), factor(c("a", "b", "b", "a", "b", "a", "a")),
    select = "none")
  expect_identical(as.character(predict(few, rbind(0, 4.1))), c("b", "a"))
})

test_that("votes are counted as one by one, over pieces and copies", {
  with_seed(5, {
    rows <- matrix(sample(0:2, 240, TRUE), 80)
    new <- matrix(sample(0:2, 60, TRUE), 20)
    y <- factor(sample(letters[1:3], 80, TRUE))
  })
  limit <- rep(c(0, 1, 2.5, 4), length.out = 80)
  count <- function(x, self) {
    t(vapply(seq_len(nrow(x)), function(i) {
      near <- colSums((t(rows) - x[i, ])^2) <= limit[i]
      if (self) near[i] <- FALSE
      as.numeric(table(y[near]))
    }, numeric(3)))
  }
  queries <- c(3, 7, 20)
  expect_equal(votes_near(new, rows, y, limit, queries), count(new, FALSE)[queries, ])
  own <- seq_len(80)
  # rows that are alike share a limit where classes agree, as those of a search do
  limit <- stats::ave(limit, do.call(paste, data.frame(rows, y)), FUN = max)
  expect_equal(votes_near(rows, NULL, y, limit, own), count(rows, TRUE))
  limit[] <- 100
  expect_equal(votes_near(rows, NULL, y, limit, own), count(rows, TRUE))
})

test_that("without selection 1-NN in an RBF space is plain 1-NN", {
  odd <- seq(1, 150, by = 2)
  x <- scale(unique(iris_matrix()))
  y <- iris$Species[!duplicated(iris_matrix())]
  fit <- kernel_takes(x[odd[odd < 149], ], y[odd[odd < 149]], rbf_kernel(1), basis = "kgs",
    scale = FALSE)
  fit$weights[] <- 1
  fit$directions <- seq_along(fit$weights)
  fit$scores <- directions_of(fit, x[odd[odd < 149], ])
  rest <- x[-odd[odd < 149], ]
  # the residual outside the basis is the same for all training rows, so it decides nothing
  expect_identical(predict(fit, rest),
    reference_takes_nearest(x[odd[odd < 149], ], y[odd[odd < 149]], rest))
})

test_that("leave-one-out errors are those of the naive twin, and the best size is kept", {
  for (set in takes_sets()) {
    all <- kernel_takes(set$x, set$y)
    fit <- kernel_takes(set$x, set$y, size = "loo")
    wanted <- reference_takes_loo(all$scores, set$y, score_tolerance(all))
    expect_equal(fit$path$loo[match(all$directions, fit$path$direction)], wanted)
    expect_identical(fit$size, which.min(wanted))
    expect_equal(head(all, fit$size)[c("weights", "scores", "directions")],
      fit[c("weights", "scores", "directions")])
  }
})

test_that("leave-one-out counts an identical row of another class, lowest first", {
  x <- rbind(c(0, 0), c(0, 0), c(0, 0), c(3, 3), c(3, 3.5), c(-3, 4))
  y <- factor(c("b", "a", "a", "b", "b", "a"))
  fit <- kernel_takes(x, y, rbf_kernel(1), basis = "kgs", size = "loo", scale = FALSE)
  all <- kernel_takes(x, y, rbf_kernel(1), basis = "kgs", scale = FALSE)
  expect_equal(fit$path$loo[match(all$directions, fit$path$direction)],
    reference_takes_loo(all$scores, y, score_tolerance(all)))
})

test_that("scores that rounding tells apart are equal: the lowest row decides", {
  # rows far from all others have kernel values of 0 with them, and scores of mere rounding
  far <- diag(30, 24)
  x <- rbind(random_matrix(40, 24, seed = 5), far)
  y <- factor(rep(c("a", "b"), length.out = nrow(x)))
  fit <- kernel_takes(x, y, rbf_kernel(2), basis = "kobl", select = "relief", basis_size = 20,
    scale = FALSE)
  new <- -diag(30, 24)
  scores <- predict(fit, new, type = "scores")
  known <- predict(fit, new)
  first <- which(rowSums(fit$scores^2) <= score_tolerance(fit)[fit$size]^2)[1]
  expect_identical(as.character(known), rep(as.character(y[first]), 24))
  size <- .Machine$double.eps * max(abs(fit$scores))
  for (seed in 1:5) {
    moved <- fit
    moved$scores <- fit$scores + size * random_matrix(nrow(x), fit$size, seed)
    expect_identical(
      nearest_class(moved, scores + size * random_matrix(24, fit$size, seed + 9), 1L), known)
    expect_identical(nested_errors(moved, list(threads = 1L, verbose = FALSE)),
      nested_errors(fit, list(threads = 1L, verbose = FALSE)))
  }
  # a distance that is no rounding decides
  moved <- fit
  moved$scores[first, ] <- moved$scores[first, ] + 10 * score_tolerance(fit)[fit$size]
  second <- which(rowSums(fit$scores^2) <= score_tolerance(fit)[fit$size]^2)[2]
  expect_identical(as.character(nearest_class(moved, scores, 1L)), rep(as.character(y[second]), 24))
})

test_that("rounding of coordinates grows where pivots are small, and turns with the directions", {
  basis <- list(path = data.frame(pivot = c(1, 0.25, 1e-10)))
  z <- diag(c(1, 0.5, 1e-5))
  eps <- 16 * .Machine$double.eps
  expect_equal(score_rounding(basis, z), eps * c(1, 2, 1e5))
  expect_equal(score_rounding(basis, 3 * z), 9 * eps * c(1, 2, 1e5))
  expect_equal(score_rounding(basis, z, list(vectors = diag(3)[, 3:2])), eps * c(1e5, 2))
  expect_equal(distance_rounding(c(3, 4), c(1, 2)), c(3, sqrt(73)))
})

test_that(paste(
  "a direction without spread beyond rounding votes for the largest class, any other by its values"
), {
  y <- factor(rep(c("a", "b", "c"), c(10, 25, 15)))
  votes <- function(z) ensemble_path(matrix(z), y, "given", 1L, list(verbose = FALSE))$error
  wrong <- mean(y != "b")
  for (value in c(0, 0.1, -1e8)) expect_equal(votes(rep(value, 50)), wrong)
  up <- rep(c(1, 2, 3), c(10, 25, 15))
  spread <- function(share) votes(1 + share * up)
  expect_equal(spread(10 * .Machine$double.eps), wrong) # within 50 eps
  expect_equal(spread(1e-9), votes(up))
  expect_lt(votes(up), wrong)
})

test_that("fits that rounding tells apart are equal: the vote goes to the first class", {
  y <- factor(rep(c("a", "b"), each = 4))
  votes <- function(z) ensemble_path(matrix(z), y, "given", 1L, list(verbose = FALSE))$error
  # rows 1 and 5 at the middle, where both classes fit equally well, up to rounding or clearly not
  at <- function(middle) c(middle, -1, -1, -1, middle, 1, 1, 1)
  expect_equal(votes(at(0)), 1 / 8)
  expect_equal(votes(at(1e-12)), 1 / 8)
  expect_equal(votes(c(-1e-12, -1, -1, -1, 1e-12, 1, 1, 1)), 1 / 8)
  expect_equal(votes(c(-1e-6, -1, -1, -1, 1e-6, 1, 1, 1)), 0)
})

test_that("threads do not change the result", {
  set <- takes_sets()$circles
  for (select in c("kffs", "relief")) {
    one <- kernel_takes(set$x, set$y, select = select, size = "loo")
    expect_identical(
      without_call(kernel_takes(set$x, set$y, select = select, size = "loo", threads = 2)),
      without_call(one))
    expect_identical(predict(one, set$x, threads = 2), predict(one, set$x))
  }
})

# ---- size, routes, new data -----------------------------------------------------------------

test_that("size keeps the best directions, as head() does", {
  fit <- kernel_takes(iris_matrix(), iris$Species)
  for (k in c(1, 4, fit$size)) {
    small <- kernel_takes(iris_matrix(), iris$Species, size = k)
    expect_identical(without_call(small), without_call(head(fit, k)))
    expect_identical(sum(small$weights > 0), as.integer(k))
    expect_identical(small$directions, fit$directions[1:k])
  }
  expect_message(large <- kernel_takes(iris_matrix(), iris$Species, size = 1000), "more than the")
  expect_identical(without_call(large), without_call(fit))
  expect_identical(without_call(kernel_takes(iris_matrix(), iris$Species, size = Inf)),
    without_call(fit))
  expect_identical(head(fit, 1000), fit)
})

test_that("all routes give the same model", {
  fit <- kernel_takes(iris_matrix(), iris$Species)
  frame <- kernel_takes(iris[1:4], iris$Species)
  formula <- kernel_takes(Species ~ ., iris)
  same <- setdiff(names(fit), c("basis", "call"))
  expect_identical(frame[same], fit[same])
  expect_identical(formula[same], fit[same])
  expect_identical(predict(formula, iris), predict(fit, iris_matrix()))
  expect_identical(predict(frame, iris[4:1]), predict(fit, iris_matrix()))
  expect_identical(kernel_takes(iris_matrix(), as.character(iris$Species))$weights, fit$weights)
  extra <- factor(iris$Species, c("none", levels(iris$Species)))
  expect_identical(kernel_takes(iris_matrix(), extra)$y, fit$y)
})

test_that("a given basis gives the model of its method", {
  fit <- kernel_takes(iris_matrix(), iris$Species)
  basis <- kernel_basis(iris_matrix(), method = "kobl")
  given <- kernel_takes(iris_matrix(), iris$Species, basis = basis)
  expect_equal(given[c("weights", "path", "scores", "y")], fit[c("weights", "path", "scores", "y")],
    tolerance = 1e-9)
  by_formula <- kernel_takes(Species ~ ., iris,
    basis = kernel_basis(~ . - Species, iris, method = "kobl"))
  expect_equal(by_formula$path, fit$path)
  expect_identical(predict(by_formula, iris), predict(given, iris_matrix()))
  K <- gram(scale(iris_matrix()))
  on_gram <- kernel_takes(K, iris$Species, basis = kernel_basis(K = K, method = "kobl"))
  expect_equal(on_gram$path, fit$path)
  expect_identical(predict(on_gram, K), predict(fit, iris_matrix()))
  expect_identical(kernel_takes(iris_matrix(), iris$Species, basis = "fvs", tol = 0.1)$method,
    "fvs")
})

test_that("a kernel other than that of a given basis warns", {
  basis <- kernel_basis(iris_matrix(), rbf_kernel(2), method = "kobl")
  expect_warning(kernel_takes(iris_matrix(), iris$Species, linear_kernel(), basis = basis),
    class = "kernelect_warning_kernel")
})

test_that("tuning takes all sizes from one fit and finds what single fits find", {
  grid <- list(kernel = list(rbf_kernel(1), rbf_kernel(3)), size = c(2, 6, 12))
  tuned <- kernel_tune(Species ~ ., iris, fit = kernel_takes, grid = grid, folds = 3)
  single <- function(x, y, ...) kernel_takes(x, y, ...)
  slow <- kernel_tune(Species ~ ., iris, fit = single, grid = grid, folds = 3)
  expect_identical(tuned$results, slow$results)
  expect_identical(tuned$model$size, as.integer(tuned$best$size))
  expect_identical(predict(tuned, iris), predict(slow, iris))
})

test_that("new rows: missing values, one row, none, other columns", {
  fit <- kernel_takes(Species ~ ., iris)
  new <- iris[c(1, 60, 120), ]
  new$Sepal.Width[2] <- NA
  expect_identical(is.na(predict(fit, new)), c(FALSE, TRUE, FALSE))
  expect_equal(is.na(rowSums(predict(fit, new, type = "scores"))), c(FALSE, TRUE, FALSE),
    ignore_attr = TRUE)
  expect_identical(predict(fit, iris[7, ]), predict(fit, iris)[7])
  expect_identical(predict(fit, iris[0, ]), iris$Species[0])
  expect_identical(dim(predict(fit, iris[0, ], type = "scores")), c(0L, fit$size))
  expect_error(predict(fit, iris[-1]), class = "kernelect_error_columns")
})

test_that("missing values in training rows fail or are omitted", {
  x <- iris_matrix()
  x[3, 2] <- NA
  y <- iris$Species
  y[5] <- NA
  expect_error(kernel_takes(x, y), class = "kernelect_error_missing_values")
  expect_message(fit <- kernel_takes(x, y, na_action = "omit"), "2 of 150")
  expect_equal(fit$weights, kernel_takes(x[-c(3, 5), ], y[-c(3, 5)])$weights)
  basis <- kernel_basis(iris_matrix())
  expect_error(kernel_takes(x, y, basis = basis), class = "kernelect_error_missing_values")
  expect_message(fit <- kernel_takes(x, y, basis = basis, na_action = "omit"), "2 of 150")
  expect_identical(nobs(fit), 148L)
})

test_that("a model is plain data and survives a file", {
  fit <- kernel_takes(Species ~ ., iris, size = "loo")
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), iris), predict(fit, iris))
  has_environment <- function(v) {
    if (is.function(v) || is.environment(v)) return(TRUE)
    inner <- c(if (is.list(v)) unclass(v), attributes(v)[setdiff(names(attributes(v)), "names")])
    any(vapply(inner, has_environment, NA))
  }
  expect_false(has_environment(fit))
})

# ---- bad input -------------------------------------------------------------------------------

test_that("a threshold that is not increasing or leaves [0, 1] is a classed error", {
  wrong <- list(function(t) 1 - t, function(t) 2 * t, function(t) t - 0.5, function(t) NA,
    function(t) "a", function(t) stop("no"), function(t) NULL, "identity", 0.5)
  for (threshold in wrong) {
    for (basis in c("kobl", "kgs")) {
      expect_error(kernel_takes(iris_matrix(), iris$Species, basis = basis, threshold = threshold),
        class = "kernelect_error_argument")
    }
  }
})

test_that("bad input fails with its class", {
  x <- iris_matrix()
  y <- iris$Species
  bad <- function(..., kind) expect_error(kernel_takes(...),
    class = paste0("kernelect_error_", kind))
  bad(x, y, Size = 3, kind = "dots")
  bad(x, kind = "argument")
  bad(x, y[-1], kind = "argument")
  bad(x, rnorm(150), kind = "argument")
  bad(x, rep("a", 150), kind = "classes")
  bad(x, y, basis = "pca", kind = "argument")
  bad(x, y, select = "boost", kind = "argument")
  bad(x, y, variant = "fixed", kind = "argument")
  for (size in list(0, 1.5, "best", NA, c(1, 2), TRUE, -1)) {
    bad(x, y, size = size, kind = "argument")
  }
  bad(x, y, basis_size = 0, kind = "argument")
  expect_error(kernel_takes(x, y, basis_size = 0), "`basis_size`",
               class = "kernelect_error_argument")
  bad(replace(x, 7, Inf), y, kind = "not_finite")
  bad(replace(x, 7, NaN), y, kind = "not_finite")
  bad(matrix(1, 10, 2), rep(1:2, 5) == 1, kind = "data")
  bad("a", y, kind = "argument")
  bad(x[0, ], y[0], kind = "data")
  bad(~., iris, kind = "formula")
  fit <- kernel_takes(x, y)
  expect_error(predict(fit, x, type = "posterior"), class = "kernelect_error_argument")
  expect_error(predict(fit, x, Type = "class"), class = "kernelect_error_dots")
  expect_error(head(fit, 0), class = "kernelect_error_argument")
  expect_error(plot(fit, "path"), class = "kernelect_error_argument")
})

test_that("rows without any variance have no principal direction", {
  expect_error(kernel_takes(matrix(1, 6, 2), rep(c("a", "b"), 3), linear_kernel(), basis = "kpca",
    scale = FALSE),
               "no direction", class = "kernelect_error_data")
})

test_that("copies of a row are known by the first of them", {
  m <- rbind(c(1, 2), c(3, 4), c(1, 2), c(3, 5), c(3, 4), c(1, 2))
  expect_identical(first_copies(m), c(1L, 2L, 1L, 4L, 2L, 1L))
  expect_identical(first_copies(m[1, , drop = FALSE]), 1L)
})

test_that("errors read well", {
  expect_snapshot(error = TRUE, kernel_takes(iris[1:4], iris$Species, size = "best"))
  expect_snapshot(error = TRUE,
    kernel_takes(iris[1:4], iris$Species, threshold = function(t) 1 - t))
  expect_snapshot(error = TRUE, kernel_takes(iris[1:4], iris$Sepal.Length))
})

test_that("a tampered model is refused", {
  fit <- kernel_takes(iris_matrix(), iris$Species, basis = "kpca", size = 5)
  tamper <- list(
    weights = fit$weights[-1], weights = -fit$weights, weights = NULL,
    directions = c(1L, 1L, 2L, 3L, 4L),
    directions = fit$directions + 1000L, scores = fit$scores[, -1], scores = fit$scores[-1, ],
    scores = replace(fit$scores, 3, NaN), y = fit$y[-1], y = as.character(fit$y),
    y = replace(fit$y, 2, NA),
    basis = NULL, path = NULL, rotation = NULL, rotation = list(center = 1, vectors = diag(3))
  )
  for (i in seq_along(tamper)) {
    broken <- fit
    broken[names(tamper)[i]] <- tamper[i]
    expect_error(predict(broken, iris_matrix()), class = "kernelect_error_model")
  }
})

test_that("no direction of positive weight: a warning, and the largest class", {
  x <- rbind(diag(4), diag(4))
  y <- factor(rep(c("b", "a"), each = 4))
  expect_warning(fit <- kernel_takes(x, y, linear_kernel(), select = "kffs", scale = FALSE),
    class = "kernelect_warning_no_direction")
  expect_identical(fit$size, 0L)
  expect_identical(as.character(predict(fit, x)), rep("a", 8))
  expect_output(print(fit), "0 of")
  expect_error(plot(fit, "scores"), class = "kernelect_error_argument")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit)$gamma, numeric(nrow(fit$path)))
})

test_that("where many classes leave no vote a weight, the warning points to relief", {
  centres <- expand.grid(a = 1:6, b = 1:6)
  x <- as.matrix(centres[rep(1:36, each = 4), ]) + 0.1 * random_matrix(144, 2)
  y <- factor(rep(1:36, each = 4))
  expect_warning(fit <- kernel_takes(x, y, linear_kernel(), select = "kffs"),
    "36 classes.*`select = \"relief\"`", class = "kernelect_warning_no_direction")
  expect_identical(fit$size, 0L)
  expect_gt(expect_no_warning(kernel_takes(x, y, linear_kernel(), select = "relief"))$size, 0L)
  expect_warning(kernel_takes(rbind(diag(4), diag(4)), rep(1:2, each = 4) > 1, linear_kernel(),
    scale = FALSE, select = "kffs"), "width.$")
  none <- rbind(diag(4), diag(4), diag(4))
  expect_warning(kernel_takes(none, factor(rep(1:3, each = 4)), linear_kernel(), select = "relief",
    scale = FALSE), "width.$")
})

test_that("the basis says when its default limit binds", {
  x <- random_matrix(1200, 12)
  y <- factor(x[, 1] > 0)
  expect_message(fit <- kernel_takes(x, y, rbf_kernel(0.5)), "basis_size")
  expect_length(fit$weights, 1000)
  expect_true(is.na(fit$bound))
  expect_silent(small <- kernel_takes(x, y, rbf_kernel(0.5), basis_size = 20))
  expect_length(small$weights, 20)
})

# ---- methods ---------------------------------------------------------------------------------

test_that("printing is short and says what was found", {
  fit <- kernel_takes(Species ~ ., iris, scale = FALSE, size = "loo", select = "kffs")
  expect_snapshot(fit)
  expect_snapshot(summary(fit))
  expect_snapshot(kernel_takes(Species ~ ., iris, select = "relief", size = 3))
  expect_lte(length(capture.output(print(fit))), 12)
  capture.output(expect_invisible(print(fit)))
})

test_that("plots return their data and leave par alone", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  settings <- c("mar", "mgp", "las", "tcl", "cex.main", "font.main", "mfrow")
  old <- graphics::par(settings)
  fit <- kernel_takes(Species ~ ., iris, size = "loo")
  expect_invisible(plot(fit))
  expect_identical(plot(fit, main = "own title"), fit$path)
  points <- plot(fit, "scores")
  expect_equal(as.matrix(points[1:2]), fit$scores[, 1:2], ignore_attr = TRUE)
  expect_identical(points$y, iris$Species)
  expect_identical(dim(plot(head(fit, 1), "scores")), c(150L, 2L))
  expect_identical(plot(kernel_takes(Species ~ ., iris, variant = "printed"))$gamma[2], 0)
  expect_identical(graphics::par(settings), old)
})

test_that("a progress bar is drawn when asked for", {
  for (select in c("kffs", "relief")) {
    bar <- capture.output(type = "message", {
      fit <- kernel_takes(iris[1:4], iris$Species, select = select, size = 3, verbose = TRUE)
    })
    expect_gte(lengths(
      regmatches(paste(bar, collapse = ""), gregexpr("100%", paste(bar, collapse = "")))),
        if (select == "kffs") 2 else 1)
  }
})

test_that("weights are drawn as wide as there is room for them", {
  x <- random_matrix(60, 2)
  y <- factor(x[, 1]^2 + x[, 2]^2 > 1)
  widths <- function(size) {
    fit <- kernel_takes(x, y, rbf_kernel(0.5), basis = "cholesky", basis_size = size, tol = 0)
    lines <- plot_lines(plot(fit, type = "weights"))
    as.numeric(sub(" w$", "", grep("^[0-9.]+ w$", lines, value = TRUE))) / 0.75
  }
  expect_equal(max(widths(4)), 8)
  expect_equal(max(widths(50)), 3)
})

# ---- parts ---------------------------------------------------------------------------------------

test_that(paste(
  "Theorem 1 is about the length of the first row, and about a KOBL basis ended by its threshold"
), {
  x <- iris_matrix() # unscaled rows under a linear kernel: r11 is the length of the longest
  fit <- kernel_takes(x, iris$Species, linear_kernel(), threshold = sqrt, scale = FALSE)
  expect_identical(fit$basis$stop, "threshold")
  expect_equal(fit$bound, sqrt(max(rowSums(x^2))) * sqrt(length(fit$basis$index) / 150),
    tolerance = 1e-12)
  expect_output(print(summary(fit)), paste("Theorem 1's bound:", format(fit$bound, digits = 4)),
    fixed = TRUE)
  kobl <- kernel_basis(x, method = "kobl")
  expect_identical(kobl$stop, "threshold")
  given <- kernel_takes(x, iris$Species, basis = kobl)
  short <- kernel_takes(x, iris$Species, basis_size = 3)
  other <- kernel_takes(x, iris$Species, basis = "kgs", basis_size = 5)
  for (without in list(given, short, other)) expect_identical(without$bound, NA_real_)
  expect_output(print(summary(short)), "Theorem 1 does not apply (basis stopped by size)",
    fixed = TRUE)
  expect_identical(theorem_bound(replace(kobl, "method", "cholesky"), identity), NA_real_)
  expect_equal(theorem_bound(kobl, identity), length(kobl$index) / 150)
})

test_that("two rows may be copies, and no rows have none", {
  expect_identical(first_copies(rbind(1:2, 1:2)), c(1L, 1L))
  expect_identical(first_copies(rbind(1:2, c(1, 3))), 1:2)
  expect_identical(first_copies(matrix(0, 0, 2)), integer())
})

test_that("principal directions end at the rounding of as many terms as there are rows", {
  # of four rows; the second column has `units` eps of the sum of squares of the first
  directions <- function(units) {
    principal_directions(
      cbind(c(1, -1, 1, -1), sqrt(units * .Machine$double.eps) * c(1, 1, -1, -1)))$vectors
  }
  expect_identical(dim(directions(0)), c(2L, 1L))
  expect_identical(dim(directions(3)), c(2L, 1L))
  expect_identical(dim(directions(6)), c(2L, 2L))
})

test_that("an error of none or all of the rows counts as half a row", {
  expect_equal(log_odds(c(0, 0.25, 0.5, 1), 10), log(c(0.95 / 0.05, 3, 1, 0.05 / 0.95)))
  expect_equal(log_odds(0.04, 10), log(0.95 / 0.05))
})

test_that("a direction picked twice has the sum of its weights, and none below zero", {
  run <- list(order = c(2L, 1L, 2L, 3L), error = c(0.3, 0.6, 0.4, 0.5))
  found <- selection_path(run, c(1, -2, 0.5, 0), 4)
  expect_identical(found$weights, c(0, 1.5, 0, 0))
  expect_identical(found$directions, 2L)
  expect_identical(found$path,
    data.frame(size = 1:4, direction = run$order, gamma = c(1, -2, 0.5, 0), error = run$error))
})

test_that("rows that all are alone in their class leave Relief without an opinion", {
  expect_warning(fit <-
    kernel_takes(diag(3), c("a", "b", "c"), linear_kernel(), select = "relief", scale = FALSE),
                 class = "kernelect_warning_no_direction")
  expect_identical(fit$weights, numeric(3))
  expect_identical(fit$size, 0L)
})

test_that("without a direction the largest class is predicted, wherever it stands among the levels",
  {
  fit <- kernel_takes(iris_matrix(31:120), iris$Species[31:120])
  none <- within_list(fit, weights = 0 * fit$weights, directions = integer(),
    scores = fit$scores[, 0], size = 0L)
  expect_identical(as.character(predict(none, iris_matrix(1:5))), rep("versicolor", 5))
  expect_output(print(none), "0 of")
})

test_that("a size is spoken of only where it is too large, in the right number", {
  fit <- kernel_takes(iris_matrix(), iris$Species)
  for (size in list(fit$size, Inf)) {
    expect_identical(
      capture.output(type = "message",
        same <- kernel_takes(iris_matrix(), iris$Species, size = size)), character())
    expect_identical(without_call(same), without_call(fit))
  }
  expect_message(kernel_takes(iris_matrix(), iris$Species, size = fit$size + 1),
                 paste0("`size` = ", fit$size + 1, " is more than the ", fit$size,
                   " directions of positive weight: ", fit$size, " are used."),
                 fixed = TRUE)
  expect_message(kernel_takes(iris_matrix(), iris$Species, variant = "printed", size = 2),
                 "`size` = 2 is more than the 1 direction of positive weight: 1 is used.",
                 fixed = TRUE)
  expect_message(settle_size(head(fit, 2), 3, list()),
    "more than the 2 directions of positive weight: 2 are used.", fixed = TRUE)
  with_option("kernelect.threads", NULL, {
    expect_identical(eval(formals(kernel_takes.default)$threads), 1L)
    expect_identical(eval(formals(predict.kernel_takes)$threads), 1L)
  })
})

test_that("tuning beyond the directions there are repeats the largest size", {
  grid <- list(kernel = rbf_kernel(1), size = c(2, 500, 1000))
  tuned <- suppressMessages(
    kernel_tune(iris[1:4], iris$Species, fit = kernel_takes, grid = grid, folds = 3))
  slow <- suppressMessages(
    kernel_tune(iris[1:4], iris$Species, fit = function(...) kernel_takes(...), grid = grid,
      folds = 3))
  expect_identical(tuned$results, slow$results)
  expect_identical(tuned$results$error[2], tuned$results$error[3])
})

test_that("a size by leave-one-out or a number is checked, NULL keeps all", {
  for (size in list(NULL, "loo", 3, Inf)) expect_identical(check_takes_size(size), size)
  for (basis in list("kgs", "kpca", "fvs")) expect_identical(takes_method(basis), basis)
  expect_identical(takes_method(NULL), "cholesky")
  expect_identical(takes_method(takes_bases), "kobl")
})

test_that("principal components take a basis to the rank, the others to a tolerance", {
  deep <- kernel_takes(iris_matrix(1:100), iris$Species[1:100], rbf_kernel(2), basis = "kpca")
  expect_identical(deep$basis$stop, "rank")
  expect_identical(deep$basis$method, "cholesky")
  shallow <- kernel_takes(iris_matrix(1:100), iris$Species[1:100], rbf_kernel(2),
    basis = "cholesky")
  expect_identical(shallow$basis$stop, "tol")
  expect_lte(shallow$basis$path$trace[length(shallow$basis$index)], 0.01)
  expect_gt(shallow$basis$path$trace[length(shallow$basis$index) - 1], 0.01)
})

test_that("each thing that directions need is looked at", {
  for (basis in c("kobl", "kpca")) {
    fit <- kernel_takes(iris_matrix(), iris$Species, basis = basis, size = 5)
    idle <- setdiff(seq_along(fit$weights), fit$directions)[1]
    broken <- list(
      within_list(fit, weights = replace(fit$weights, idle, NA)),
      within_list(fit, weights = replace(fit$weights, idle, -1)),
      within_list(fit, directions = as.double(fit$directions)),
      within_list(fit, directions = fit$directions[-1], scores = fit$scores[, -1]),
      within_list(fit, directions = fit$directions[c(1:5, 1)], scores = fit$scores[, c(1:5, 1)]),
      within_list(fit, y = unclass(fit$y)),
      within_list(fit, y = fit$y[0], scores = fit$scores[0, ]),
      within_list(fit, y = structure(as.integer(fit$y), levels = character(), class = "factor")),
      within_list(fit, y = replace(fit$y, 2, NA)), within_list(fit, scores = fit$scores * NA),
      within_list(fit, path = as.list(fit$path)),
      if (basis == "kpca") within_list(fit, rotation = within_list(fit$rotation, center = 1)),
      if (basis == "kpca") {
        within_list(fit, rotation = within_list(fit$rotation, vectors = fit$rotation$vectors * NA))
      }
    )
    broken <- Filter(Negate(is.null), broken)
    for (i in seq_along(broken)) {
      expect_error(print(broken[[i]]), class = "kernelect_error_model", info = paste(basis, i))
    }
    expect_output(print(fit), "5 of")
  }
})

test_that("what is printed: six directions in full, the variant, and the errors there are", {
  fit <- kernel_takes(iris_matrix(), iris$Species, select = "kffs")
  best <- function(n) grep("^best", capture.output(print(head(fit, n))), value = TRUE)
  expect_match(best(6), "^best:       ([0-9]+ \\([0-9.]+\\)(, |$)){6}$")
  expect_match(best(7), "^best:       ([0-9]+ \\([0-9.]+\\), ){6}[.]{3}$")
  words <- function(...) grep("^weights by",
    capture.output(print(kernel_takes(iris_matrix(), iris$Species, ...))), value = TRUE)
  expect_identical(words(variant = "printed"), "weights by: kffs, as printed")
  expect_identical(words(select = "relief", variant = "printed"), "weights by: relief")
  expect_identical(words(select = "kffs"), "weights by: kffs")
  expect_identical(words(), "weights by: none")
  three <- head(fit, 3)
  expect_identical(takes_error_words(three),
    sprintf("%.3g %% by nearest neighbour, leaving one out", 100 * three$left_out_error))
  loo <- kernel_takes(iris_matrix(), iris$Species, size = "loo", select = "kffs")
  expect_equal(loo$left_out_error, min(loo$path$loo, na.rm = TRUE))
})

test_that("a summary shows up to eight positive weights, the first and the last among them", {
  fit <- kernel_takes(iris_matrix(), iris$Species)
  positive <- fit$path[fit$path$gamma > 0, ]
  shown <- summary(fit)$path
  expect_identical(shown$size,
    positive$size[unique(round(exp(seq(0, log(nrow(positive)), length.out = 8))))])
  expect_identical(shown$size[c(1, nrow(shown))], positive$size[c(1, nrow(positive))])
  none <- suppressWarnings(
    kernel_takes(rbind(diag(4), diag(4)), rep(c("b", "a"), each = 4), linear_kernel(),
      select = "kffs", scale = FALSE))
  expect_identical(nrow(summary(none)$path), 0L)
  expect_identical(summary(none)$positive, 0L)
})

test_that("left alone, weights are Relief's where they clearly help, and else none", {
  data <- {
    skip_if_not_installed("mlbench")
    home <- new.env()
    utils::data("Ionosphere", package = "mlbench", envir = home)
    home$Ionosphere
  }
  x <- vapply(data[-35], function(v) as.numeric(as.character(v)), numeric(nrow(data)))
  helped <- kernel_takes(x, data$Class)
  expect_identical(helped$select, "relief")
  expect_equal(helped$weights, kernel_takes(x, data$Class, select = "relief")$weights)
  plain <- kernel_takes(iris[1:4], iris$Species)
  expect_identical(plain$select, "none")
  expect_true(all(plain$weights == 1))
  expect_equal(plain$scores, predict(plain$basis, iris[1:4]), tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("left alone, the basis goes on where neighbours left out are then found better", {
  went_on <- c()
  for (seed in 1:6) {
    x <- random_matrix(60, 5, seed)
    y <- factor(x[, 1] * x[, 2] > 0)
    small <- kernel_takes(x, y, select = "none", threshold = identity)
    whole <- kernel_takes(x, y, select = "none", threshold = function(t) 1e-4)
    expect_gt(whole$size, small$size)
    last <- function(fit) reference_takes_loo(fit$scores, y, score_tolerance(fit))[fit$size]
    fit <- kernel_takes(x, y)
    better <- last(whole) < last(small)
    went_on[seed] <- better
    expect_identical(fit$basis$index, (if (better) whole else small)$basis$index)
    if (better) {
      # and there a radial kernel has the neighbours of the columns
      z <- scale(x)
      expect_equal(whole$left_out_error, reference_takes_loo(z, y)[5])
    }
    # none of it where the user has said what he wants
    expect_identical(kernel_takes(x, y, basis = "kobl")$basis$index, small$basis$index)
    expect_identical(kernel_takes(x, y, select = "relief")$basis$index, small$basis$index)
  }
  expect_setequal(went_on, c(TRUE, FALSE))
})

test_that("weights are taken where they are right of more rows by two standard errors", {
  control <- list(threads = 1L, verbose = FALSE)
  taken <- c()
  for (seed in 1:8) {
    z <- random_matrix(80, 4, seed) %*% diag(c(0.5, 1, 1, 1))
    y <- factor(z[, 1] + 0.3 * random_matrix(80, 1, seed + 50)[, 1] > 0)
    wrong <- function(scores) {
      distance <- as.matrix(stats::dist(scores))
      diag(distance) <- Inf
      y[apply(distance, 1, which.min)] != y
    }
    plain <- wrong(z)
    weighted <- wrong(sweep(z, 2, reference_relief(z, y), "*"))
    clear <- sum(plain) - sum(weighted) > 2 * sqrt(sum(plain != weighted))
    taken[seed] <- clear
    expect_identical(weigh_by_left_out(z, y, numeric(4), control)$select,
      if (clear) "relief" else "none")
  }
  expect_setequal(taken, c(TRUE, FALSE))
})

test_that("with many classes the default is as good as the nearest neighbour", {
  centre <- as.matrix(expand.grid(1:5, 1:5, 1:2))
  x <- centre[rep(1:50, each = 6), ] + 0.15 * random_matrix(300, 3, 4)
  y <- factor(rep(1:50, each = 6))
  fit <- kernel_takes(x, y)
  expect_gt(fit$size, 0)
  expect_lte(fit$left_out_error,
    mean(y[apply(as.matrix(dist(scale(x))) + diag(Inf, 300), 1, which.min)] != y) + 0.05)
})

test_that("weights that leave no direction are not taken, though the largest class errs less", {
  z <- matrix(c(1, 2, 3, 4, 5, 6, 7, 8))
  y <- factor(c("a", "b", "a", "b", "a", "a", "b", "a"))
  control <- list(threads = 1L, verbose = FALSE)
  expect_length(relief(z, y, 0, control)$directions, 0)
  chosen <- weigh_by_left_out(z, y, 0, control)
  expect_identical(chosen$select, "none")
  expect_identical(chosen$weights, 1)
})

test_that("a variant asks for KFFS", {
  expect_identical(kernel_takes(iris[1:4], iris$Species, variant = "corrected")$select, "kffs")
  expect_identical(takes_selection("none", FALSE), "none")
  expect_error(kernel_takes(iris[1:4], iris$Species, select = "best"), "`select`",
    class = "kernelect_error_argument")
})

test_that("the error printed is that of rows left out, and decisions are distances", {
  set <- takes_sets()$circles
  for (select in c("kffs", "relief", "none")) {
    fit <- kernel_takes(set$x, set$y, select = select)
    expect_equal(fit$left_out_error,
      utils::tail(reference_takes_loo(fit$scores, set$y, score_tolerance(fit)), 1))
    expect_output(print(fit),
      sprintf("%.3g %% by nearest neighbour, leaving one out", 100 * fit$left_out_error))
    scores <- predict(fit, set$x[1:9, ] + 0.1, type = "scores")
    far <- as.matrix(dist(rbind(scores, fit$scores)))[1:9, -(1:9)]
    wanted <- sapply(levels(set$y), function(k) -apply(far[, set$y == k], 1, min))
    decision <- predict(fit, set$x[1:9, ] + 0.1, type = "decision")
    expect_equal(decision, wanted, ignore_attr = TRUE)
    expect_identical(colnames(decision), levels(set$y))
    expect_identical(levels(set$y)[max.col(decision)],
      as.character(predict(fit, set$x[1:9, ] + 0.1)))
    p <- predict(fit, rbind(set$x[1:9, ] + 0.1, NA), type = "prob")
    expect_equal(unname(rowSums(p)), c(rep(1, 9), NA))
    expect_equal(p[1:9, ], calibrated_probabilities(fit$calibration, wanted), ignore_attr = TRUE)
    expect_identical(dim(predict(fit, set$x[0, ], type = "prob")), c(0L, nlevels(set$y)))
  }
})

test_that("probabilities are fitted to distances of rows left out", {
  fit <- kernel_takes(iris[1:4], iris$Species, select = "relief")
  far <- as.matrix(dist(fit$scores))
  diag(far) <- Inf
  wanted <- sapply(levels(iris$Species), function(k) -apply(far[, iris$Species == k], 1, min))
  twin <- calibrate_softmax(wanted, iris$Species)
  expect_equal(fit$calibration[c("slope", "offset")], twin[c("slope", "offset")], tolerance = 1e-6)
  few <- head(fit, 2)
  expect_equal(few$left_out_error,
    utils::tail(reference_takes_loo(few$scores, iris$Species, score_tolerance(few)), 1))
  # a class of one row is at no distance from itself: it counts as far
  lone <- left_out(matrix(c(0, 1, 3)), factor(c("a", "a", "b")), 0, 1L)
  expect_equal(lone$decision, rbind(c(-1, -3), c(-1, -2), c(-2, -6)))
  expect_equal(lone$error, 1 / 3)
})

test_that("a margin of Relief within the rounding of coordinates is no weight", {
  # one row of mtcars has two misses at the same distance, and a direction whose margins cancel
  fit <- suppressMessages(
    kernel_takes(mtcars[-1], factor(mtcars$cyl), basis = "kgs", select = "relief")
  )
  expect_true(all(fit$weights == 0 | fit$weights > 1e-12))
  expect_setequal(fit$directions, which(fit$weights > 0))
})

test_that("margins count from the rounding on", {
  z <- cbind(c(0, 1, 0, 1), c(0, 0, 1, 1) * 2)
  y <- factor(c("a", "b", "a", "b"))
  control <- list(threads = 1L, verbose = FALSE)
  # hits differ in the second column by 2, misses in the first by 1
  above <- relief(z, y, c(0.99, 0), control)
  below <- relief(z, y, c(1.01, 0), control)
  expect_identical(above$weights, c(1, 0))
  expect_identical(below$weights, c(0, 0))
})

test_that("rounding of scores is sixteen units of the longest row, magnified by small pivots", {
  basis <- list(path = data.frame(pivot = c(4, 1e-4)))
  z <- cbind(c(3, 0), c(0, 1))
  expect_equal(score_rounding(basis, z) / .Machine$double.eps, 16 * 9 / c(2, 1e-2))
})

test_that("directions count from the rounding of n terms on", {
  directions <- function(share) { # variances 1 and share n eps
    s <- sqrt(share * 4 * .Machine$double.eps)
    ncol(principal_directions(cbind(c(1, -1, 1, -1), s * c(1, 1, -1, -1)))$vectors)
  }
  expect_identical(c(directions(1.1), directions(0.9)), 2:1)
})

test_that("training rows have the decisions and probabilities of the same rows given anew", {
  holed <- iris
  holed[7, 2] <- NA
  fit <- suppressMessages(kernel_takes(Species ~ ., holed, na_action = "exclude"))
  for (type in c("decision", "prob", "scores")) {
    expect_equal(predict(fit, type = type), predict(fit, holed, type = type))
  }
  expect_true(all(is.na(predict(fit, type = "prob")[7, ])))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit, "calibration"), fit$calibration$reliability)
})
