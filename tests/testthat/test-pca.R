test_that("iris eigenvalues are those known to be right", {
  full <- kernel_pca(iris[1:4], basis = NULL, scale = FALSE)
  expect_equal(full$values[1:4], c(46.17484102, 12.96913866, 2.870971696, 2.301084563),
    tolerance = 1e-8)
  greedy <- kernel_pca(iris[1:4], scale = FALSE, tol = 0.01)
  expect_equal(greedy$values[1:4], c(46.09130898, 12.91685989, 2.80976804, 2.250602924),
    tolerance = 1e-8)
})

test_that("full kernel PCA is the eigenproblem of the centred Gram matrix", {
  x <- random_matrix(90, 3)
  K <- gram(scale(x))
  twin <- reference_kpca(K, 20)
  pca <- kernel_pca(x, basis = NULL, ncomp = 20)
  expect_equal(pca$values, twin$values, tolerance = 1e-10)
  expect_equal(unname(pca$scores), twin$scores, tolerance = 1e-8)
  expect_equal(pca$sdev, unname(apply(pca$scores, 2, sd)), tolerance = 1e-8)
  expect_equal(pca$total, sum(diag(centred_gram(K))), tolerance = 1e-12)
})

test_that("the iteration for few components agrees with eigen() and settles", {
  x <- random_matrix(500, 6)
  for (kernel in list(rbf_kernel(), rbf_kernel(sigma = 0.5), polynomial_kernel(degree = 2),
    laplace_kernel())) {
    K <- gram(scale(x), kernel)
    pca <- kernel_pca(x, kernel, basis = NULL, ncomp = 8)
    twin <- reference_kpca(K, 8)
    expect_equal(pca$values, twin$values, tolerance = 1e-12)
    expect_equal(unname(pca$scores), twin$scores, tolerance = 1e-7)
    u <- pca$scores / rep(sqrt(pca$values), each = 500)
    residual <- centred_gram(K) %*% u - u * rep(pca$values, each = 500)
    expect_lt(max(sqrt(colSums(residual^2)) / pca$values), 1e-10)
  }
  expect_equal(
    kernel_pca(x, basis = NULL, ncomp = 5, center = FALSE)$values,
    eigen(gram(scale(x)), symmetric = TRUE)$values[1:5], tolerance = 1e-12
  )
})

test_that(paste(
  "where the iteration has no room or does not settle it says so, and all values are computed"
), {
  expect_null(leading_eigen(function(v) stop("not to be called"), 150, 5))
  # a thousand eigenvalues within a thousandth: one round of the iteration cannot tell them apart
  expect_null(leading_eigen(function(v) v * (1 + 1:1000 / 1e6), 1000, 5, restarts = 1L))
  expect_equal(leading_eigen(function(v) v * (1:1000)^2, 1000, 2)$values, c(1e6, 999^2),
    tolerance = 1e-10)
  x <- random_matrix(210, 4)
  pca <- kernel_pca(x, basis = NULL, ncomp = 21)
  expect_equal(pca$values, reference_kpca(gram(scale(x)), 21)$values, tolerance = 1e-10)
})

test_that("the iteration copes with duplicated rows, low rank and clusters of eigenvalues", {
  cases <- list(
    list(random_matrix(20, 3)[rep(1:20, 20), ], rbf_kernel()),
    list(random_matrix(400, 30), polynomial_kernel(degree = 1)),
    list(random_matrix(400, 3), rbf_kernel(sigma = 0.01))
  )
  for (case in cases) {
    K <- gram(scale(case[[1]]), case[[2]])
    pca <- kernel_pca(case[[1]], case[[2]], basis = NULL, ncomp = 6)
    expect_equal(pca$values, reference_kpca(K, 6)$values, tolerance = 1e-10)
  }
})

test_that("a greedy basis to full rank, and any basis of all rows, give full kernel PCA", {
  x <- iris_matrix()[!duplicated(iris_matrix()), ]
  full <- kernel_pca(x, rbf_kernel(sigma = 1), basis = NULL)
  for (basis in c("cholesky", "fvs", "kgs")) {
    greedy <- kernel_pca(x, rbf_kernel(sigma = 1), basis = basis, tol = 0, size = Inf)
    expect_equal(greedy$values[1:60], full$values[1:60], tolerance = 1e-8)
    expect_equal(greedy$scores[, 1:20], full$scores[, 1:20], tolerance = 1e-7)
  }
})

test_that("greedy values are the eigenvalues of the centred approximate Gram matrix", {
  x <- random_matrix(80, 4)
  basis <- kernel_basis(x, method = "cholesky", size = 12)
  z <- predict(basis, x)
  pca <- kernel_pca(x, size = 12)
  expect_equal(pca$values, eigen(centred_gram(tcrossprod(z)), symmetric = TRUE)$values[1:12],
    tolerance = 1e-10)
  expect_equal(kernel_pca(x, basis = basis)$values, pca$values, tolerance = 1e-10)
  k <- predict(basis, x, type = "kernel")
  expect_equal(unname(scale(k %*% pca$loadings, scale = FALSE)[, ]), unname(pca$scores),
    tolerance = 1e-8)
  inner <- gram(basis$vectors, basis$kernel)
  expect_equal(unname(t(pca$loadings) %*% inner %*% pca$loadings), diag(12), tolerance = 1e-8)
})

test_that("a linear kernel gives principal components", {
  twin <- prcomp(iris[1:4], scale. = TRUE)
  for (basis in list(NULL, "cholesky")) {
    pca <- kernel_pca(iris[1:4], linear_kernel(), basis = basis, tol = 0)
    expect_equal(pca$sdev, twin$sdev, tolerance = 1e-10)
    same_up_to_sign(pca$scores, twin$x, 1e-8)
  }
  wide <- random_matrix(10, 30)
  expect_equal(kernel_pca(wide, linear_kernel(), basis = NULL, scale = FALSE)$sdev,
    prcomp(wide)$sdev[1:9], tolerance = 1e-10)
})

test_that("a linear kernel gives principal components also where columns are nearly dependent", {
  for (scale in c(TRUE, FALSE)) {
    twin <- prcomp(mtcars, scale. = scale)
    pca <- kernel_pca(mtcars, "linear", scale = scale)
    expect_equal(pca$sdev, twin$sdev, tolerance = 1e-8)
    same_up_to_sign(pca$scores[, 1:4], twin$x[, 1:4], 1e-6)
    expect_identical(kernel_pca(~ ., mtcars, kernel = "linear", scale = scale)$sdev, pca$sdev)
  }
  expect_lt(kernel_pca(mtcars, "linear", tol = 0.01)$ncomp, 11)
})

test_that("the largest absolute score is positive", {
  for (seed in 1:5) {
    scores <- kernel_pca(random_matrix(60, 3, seed))$scores
    expect_true(all(apply(scores, 2, function(s) s[which.max(abs(s))]) > 0))
  }
})

test_that("predict() gives the scores of the training rows, whatever the route", {
  frame <- data.frame(iris[1:4], f = iris$Species)
  design <- cbind(iris_matrix(), outer(iris$Species, levels(iris$Species), `==`) + 0)
  for (basis in list("cholesky", "fvs", NULL)) {
    a <- kernel_pca(frame, ncomp = 5, basis = basis)
    b <- kernel_pca(~., frame, ncomp = 5, basis = basis)
    c <- kernel_pca(unname(design), ncomp = 5, basis = basis)
    expect_identical(b$values, a$values)
    expect_identical(b$scores, a$scores)
    expect_identical(unname(c$scores), unname(a$scores))
    expect_equal(predict(a, frame), a$scores, tolerance = 1e-8)
    expect_identical(predict(b, frame), predict(a, frame))
    expect_identical(predict(a, frame[5:1]), predict(a, frame))
    expect_identical(predict(a), a$scores)
  }
})

test_that("new rows: one, none, with missing values, with row names", {
  for (basis in list("cholesky", NULL)) {
    pca <- kernel_pca(iris[1:4], ncomp = 3, basis = basis)
    whole <- predict(pca, iris[1:4])
    expect_equal(predict(pca, iris[7, 1:4])[1, ], whole[7, ], tolerance = 1e-12)
    expect_identical(dim(predict(pca, iris[0, 1:4])), c(0L, 3L))
    gap <- iris_matrix()[1:3, ]
    gap[2, 3] <- NA
    expect_identical(which(is.na(predict(pca, gap)[, 1])), 2L)
    rownames(gap) <- c("a", "b", "c")
    expect_identical(rownames(predict(pca, gap)), c("a", "b", "c"))
  }
})

test_that("a Gram matrix basis is served by cross-Gram matrices", {
  K <- gram(scale(iris_matrix()))
  pca <- kernel_pca(K, basis = kernel_basis(K = K, method = "cholesky", size = 15))
  expect_equal(pca$values, kernel_pca(iris_matrix(), size = 15)$values, tolerance = 1e-8)
  expect_equal(predict(pca, K[1:5, ]), pca$scores[1:5, ], tolerance = 1e-8)
})

test_that("a basis with another kernel warns, with the same one it does not", {
  basis <- kernel_basis(iris[1:4], size = 10)
  expect_warning(kernel_pca(iris[1:4], rbf_kernel(sigma = 9), basis = basis),
    class = "kernelect_warning_kernel")
  expect_no_warning(kernel_pca(iris[1:4], rbf_kernel(), basis = basis))
})

test_that("more components than there are is capped with a message", {
  expect_message(pca <- kernel_pca(iris[1:4], linear_kernel(), ncomp = 10), "rank: 4")
  expect_identical(pca$ncomp, 4L)
  expect_message(full <- kernel_pca(iris[1:4], ncomp = 500, basis = NULL), "more than the rank")
  expect_message(kernel_pca(iris[1:2], linear_kernel(), ncomp = 3), "rank: 2 components are given")
  expect_message(kernel_pca(iris[1], linear_kernel(), ncomp = 2), "rank: 1 component is given")
  expect_lt(full$ncomp, 150)
})

test_that("scores are kept below 10,000 rows or on demand, and the model stays small", {
  bytes <- function(n, ...) length(serialize(kernel_pca(random_matrix(n, 3), size = 8, ...), NULL))
  expect_lt(abs(bytes(12000) / bytes(300, keep = FALSE) - 1), 0.05)
  small <- kernel_pca(random_matrix(50, 2), keep = FALSE)
  expect_null(small$scores)
  expect_error(predict(small), class = "kernelect_error_model")
  expect_error(plot(small), class = "kernelect_error_model")
})

test_that("bad input is refused in words", {
  x <- iris_matrix()
  expect_snapshot(error = TRUE, {
    kernel_pca(x, ncomp = 0)
    kernel_pca(x, center = "nearest")
    kernel_pca(x, basis = "pca")
    kernel_pca(x, Size = 3)
    kernel_pca(x[rep(1, 9), ], rbf_kernel(sigma = 1))
    kernel_pca(Species ~ ., iris)
    predict(kernel_pca(x), x[, 1:3])
    plot(kernel_pca(x), components = c(1, 99))
  })
})

test_that("a damaged model is refused", {
  for (basis in list("cholesky", NULL)) {
    pca <- kernel_pca(iris[1:4], ncomp = 3, basis = basis)
    for (field in c("values", "loadings", "offset", "basis", "n")) {
      broken <- pca
      broken[[field]] <- if (field == "basis") list() else pca[[field]][-1]
      expect_error(predict(broken, iris), class = "kernelect_error_model")
    }
  }
})

test_that("methods print, summarise and draw", {
  pca <- kernel_pca(iris[1:4], rbf_kernel(sigma = 2))
  expect_snapshot({
    pca
    summary(pca)
    kernel_pca(iris[1:4], rbf_kernel(sigma = 2), ncomp = 2, basis = NULL, center = FALSE)
  })
  expect_identical(nobs(pca), 150L)
  expect_identical(coef(pca), pca$loadings)
  pdf(NULL)
  on.exit(dev.off())
  before <- par(no.readonly = TRUE)
  expect_named(plot(pca, classes = iris$Species), c("KPC1", "KPC2", "class"))
  expect_equal(plot(pca, type = "variance")$cumulative, cumsum(pca$values) / pca$total)
  expect_silent(plot(kernel_pca(iris[1:4], ncomp = 1)))
  expect_identical(par(no.readonly = TRUE)[c("mar", "mgp", "las")], before[c("mar", "mgp", "las")])
  expect_error(plot(pca, classes = 1:3), class = "kernelect_error_argument")
})

test_that("one component is not called several", {
  expect_output(print(kernel_pca(iris[1:4], ncomp = 1)), "1 component of 150 rows", fixed = TRUE)
  expect_output(print(kernel_pca(iris[1:4], ncomp = 2)), "2 components of 150 rows", fixed = TRUE)
})

test_that("components are counted down to the rounding of 2 n terms, at least 64", {
  eps <- .Machine$double.eps
  count <- function(units, n,
    first = 1) length(choose_components(first * c(1, units * eps, 0, -units * eps), NULL, n))
  expect_identical(vapply(c(60, 64, 65), count, 0L, n = 10), c(1L, 1L, 2L))
  expect_identical(vapply(c(190, 200, 201), count, 0L, n = 100), c(1L, 1L, 2L))
  expect_identical(vapply(c(190, 200, 201), count, 0L, n = 100, first = 2^40), c(1L, 1L, 2L))
  for (none in list(c(0, 0), c(-1e-3, -1))) {
    expect_error(choose_components(none, NULL, 10), "no variance", class = "kernelect_error_data")
  }
})

test_that("as many components as there are, or infinitely many, are given without a word", {
  for (ncomp in list(4, Inf)) {
    expect_silent(pca <- kernel_pca(iris[1:4], linear_kernel(), ncomp = ncomp, tol = 0))
    expect_identical(pca$ncomp, 4L)
  }
  expect_identical(capture.output(type = "message", few <- kernel_pca(iris[1:4], ncomp = 3)),
    character())
  expect_identical(few$ncomp, 3L)
  with_option("kernelect.threads", NULL, {
    expect_identical(eval(formals(kernel_pca.default)$threads), 1L)
    expect_identical(eval(formals(predict.kernel_pca)$threads), 1L)
  })
})

test_that("a sign is turned where the largest absolute value is negative, and only there", {
  expect_identical(score_signs(cbind(c(-2, 1), c(-1, 2), c(-1, 1)), diag(3)), c(-1, 1, 1))
  full <- kernel_pca(random_matrix(40, 3), basis = NULL)
  expect_true(all(apply(full$scores, 2, max) >= -apply(full$scores, 2, min)))
})

test_that(paste(
  "all rows under a linear kernel are kept as a basis where columns are fewer, else as they are"
), {
  kept <- function(n, d) kernel_pca(random_matrix(n, d), linear_kernel(), basis = NULL)$basis
  expect_s3_class(kept(12, 5), "kernel_basis")
  expect_length(kept(12, 5)$index, 5)
  expect_false(inherits(kept(6, 6), "kernel_basis"))
  expect_false(inherits(kept(6, 9), "kernel_basis"))
  expect_identical(kept(6, 9)$index, 1:6)
  # a size is a wish for a basis
  expect_s3_class(kernel_pca(random_matrix(12, 5), basis = NULL, size = 4)$basis, "kernel_basis")
})

test_that("without centring all rows give the eigenvalues and the scores of the Gram matrix", {
  x <- random_matrix(30, 3)
  K <- gram(scale(x))
  pca <- kernel_pca(x, basis = NULL, center = FALSE, ncomp = 4)
  twin <- eigen(K, symmetric = TRUE)
  expect_equal(pca$values, twin$values[1:4], tolerance = 1e-10)
  expect_equal(pca$total, 30)
  expect_equal(unname(abs(pca$scores)),
    abs(twin$vectors[, 1:4]) * rep(sqrt(twin$values[1:4]), each = 30), tolerance = 1e-8)
  expect_equal(unname(predict(pca, x)), unname(pca$scores), tolerance = 1e-8)
  expect_identical(unname(pca$offset), numeric(4))
})

test_that(paste(
  "the iteration works in blocks of eight columns for every ten components, at most 32,",
  "given twice their room"
), {
  first_block <- function(n, count) {
    tryCatch(leading_eigen(function(v) stop(ncol(v)), n, count),
      error = function(e) as.integer(conditionMessage(e)))
  }
  expect_identical(vapply(c(1, 5, 20, 31, 40, 90), first_block, 0L, n = 2000),
    c(8L, 8L, 16L, 24L, 32L, 32L))
  # room: twelve blocks, or half more than the components and four blocks
  expect_null(first_block(191, 5))
  expect_identical(first_block(192, 5), 8L)
  expect_null(first_block(1155, 300))
  expect_identical(first_block(1156, 300), 32L)
})

test_that("the iteration ends once it has settled, and after its restarts when it does not", {
  calls <- 0
  product <- function(values) {
    calls <<- 0
    function(v) {
      calls <<- calls + 1
      v * values
    }
  }
  easy <- leading_eigen(product(c(3, 2, 1, numeric(297))), 300, 3)
  expect_equal(easy$values, c(3, 2, 1), tolerance = 1e-12)
  expect_lte(calls, 6)
  for (restarts in 1:2) { # each of twelve blocks
    expect_null(leading_eigen(product(1 + 1:1000 / 1e6), 1000, 5, restarts = restarts))
    expect_identical(calls, 12 * restarts)
  }
})

test_that(paste(
  "residuals decide whether the iteration has settled: 1e-11 of a value, or 1e-13 of the largest"
), {
  settled <- function(first,
    second) ritz_pairs(list(t = diag(c(1, 1e-4)), r = diag(c(first, second))), 2)$settled
  expect_true(settled(9e-12, 9e-14))
  expect_false(settled(2e-11, 0))
  expect_false(settled(0, 2e-13))
  pairs <- ritz_pairs(list(t = diag(c(5, 3, 2, 1)), r = diag(c(0.1, 0.2))), 3)
  expect_equal(pairs$values, c(5, 3, 2))
  expect_equal(pairs$residual, c(0, 0, 0.1)) # what the last block still lacks
})

test_that("a space that is full is cut to its best directions, with room for another block", {
  q <- qr.Q(qr(random_matrix(40, 6)))
  t <- crossprod(random_matrix(6, 6, 2))
  space <- list(q = q, t = t, r = matrix(0, 2, 2))
  s <- eigen(t, symmetric = TRUE)
  ritz <- list(vectors = s$vectors, all_values = s$values)
  for (size in c(1, 3, 4, 9)) {
    kept <- seq_len(min(size, 4))
    small <- shrink_space(space, ritz, size)
    expect_equal(small$q, q %*% s$vectors[, kept, drop = FALSE])
    expect_equal(small$t, diag(s$values[kept], length(kept)))
  }
})

test_that("each thing that components need is looked at", {
  for (basis in list("cholesky", NULL)) {
    pca <- kernel_pca(iris[1:4], ncomp = 3, basis = basis)
    none <- within_list(pca, values = numeric(), loadings = pca$loadings[, 0], offset = numeric())
    broken <- list(
      within_list(pca, values = c(1, NA, 1)), within_list(pca, loadings = pca$loadings * NA),
      within_list(pca, offset = c(1, NA, 1)),
      within_list(pca, n = NA), none,
      within_list(pca, basis = within_list(pca$basis, vectors = pca$basis$vectors * NA)),
      within_list(pca,
        basis = within_list(pca$basis, kernel = within_list(pca$basis$kernel, weights = c(1, 2))))
    )
    for (i in seq_along(broken)) {
      expect_error(print(broken[[i]]), class = "kernelect_error_model", info = i)
    }
    expect_output(print(pca), "3 components")
  }
})

test_that("six components are printed in full and ten summarised, more are cut", {
  shown <- function(ncomp) capture.output(print(kernel_pca(iris[1:4], ncomp = ncomp, tol = 0.001)))
  expect_false(any(grepl("...", shown(6), fixed = TRUE)))
  expect_identical(grepl(" ...", shown(7), fixed = TRUE), c(FALSE, FALSE, TRUE, TRUE))
  expect_false(any(grepl("not centred", shown(6))))
  summarised <- function(ncomp) capture.output(
    summary(kernel_pca(iris[1:4], ncomp = ncomp, tol = 0.001)))
  expect_false(any(grepl("more", summarised(10))))
  expect_true("... and 1 more" %in% summarised(11))
  expect_true(any(grepl("^10 ", summarised(11))))
  expect_output(print(kernel_pca(iris[1:4], size = 1)),
    "1 component of 150 rows on a basis of 1 row (\"cholesky\")", fixed = TRUE)
  expect_output(print(kernel_pca(iris[1:4], size = 2)), "on a basis of 2 rows (\"cholesky\")",
    fixed = TRUE)
})

test_that("the table of components has their values, deviations and shares", {
  pca <- kernel_pca(iris[1:4], ncomp = 3)
  table <- summary(pca)$importance
  expect_equal(table$sdev, sqrt(pca$values / 149))
  expect_equal(table$share, pca$values / pca$total)
  expect_equal(table$cumulative, cumsum(pca$values) / pca$total)
})

test_that("a start of a Krylov space is finite beyond the rows whose squares are integers", {
  block <- start_block(50000L, 2L)
  expect_true(all(is.finite(block)))
  expect_equal(block[50000, 2], sin(50000 * 50002 * sqrt(2.61803398875)))
})

test_that("what rows are coloured by is labels or numbers", {
  fit <- kernel_pca(iris[1:4], ncomp = 2)
  for (wrong in list(mean, iris, as.matrix(iris[1:4]))) {
    expect_error(plot(fit, classes = wrong), "^`classes` must be NULL, or a vector of class labels",
      class = "kernelect_error_argument")
  }
})
