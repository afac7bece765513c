# Twins: the same numbers in a filled matrix. Sparse rows are made without the Matrix package; its
# classes are tried where it is there.

sparse_rows <- function(m) kernelect:::as_sparse(m)

# Mostly zero; an empty row, an empty column, a constant one, two rows alike.
mostly_zero <- function(n, d, seed, share = 0.2) {
  set.seed(seed)
  m <- matrix(rnorm(n * d) * (runif(n * d) < share), n, d)
  m[3, ] <- 0
  m[, 4] <- 0
  m[, 5] <- 2
  m[8, ] <- m[7, ]
  dimnames(m) <- list(paste0("r", seq_len(n)), paste0("v", seq_len(d)))
  m
}

x <- mostly_zero(90, 25, 1)
new <- mostly_zero(20, 25, 2)
y <- drop(x[, 1] - x[, 2] + sin(x[, 3]))
classes <- factor(c("low", "middle", "high")[cut(y + rnorm(90, sd = 0.1), 3, labels = FALSE)])
sds <- apply(x, 2, sd)
sds[sds == 0] <- 1

quietly <- function(code) suppressMessages(suppressWarnings(code))

equal <- function(a, b) expect_equal(a, b, tolerance = 1e-10)

kernels <- list(
  rbf = rbf_kernel(), median = rbf_kernel("median"), narrow = rbf_kernel(sigma = 0.01),
  laplace = laplace_kernel(), linear = linear_kernel(), polynomial = polynomial_kernel(2),
  sigmoid = sigmoid_kernel(0.1, 0.2), weighted = rbf_kernel(weights = seq(0, 2, length.out = 25)),
  both = rbf_kernel(2) + 0.5 * polynomial_kernel(2) * laplace_kernel(weights = 25:1 / 5)
)

test_that("Gram matrices of sparse rows are those of filled ones, and exactly symmetric", {
  for (kernel in kernels) {
    K <- gram(x, kernel)
    equal(gram(sparse_rows(x), kernel), K)
    expect_identical(gram(sparse_rows(x), kernel), t(gram(sparse_rows(x), kernel)))
    cross <- gram(x, kernel, new)
    equal(gram(sparse_rows(x), kernel, sparse_rows(new)), cross)
    equal(gram(sparse_rows(x), kernel, new), cross)
    equal(gram(x, kernel, sparse_rows(new)), cross)
  }
  equal(unname(gram(sparse_rows(x), rbf_kernel(2))), reference_gram(x, rbf_kernel(2)))
})

test_that("a value of sparse rows is the same alone, in threads and in any order of columns", {
  K <- gram(sparse_rows(x), kernels$both)
  expect_identical(gram(sparse_rows(x), kernels$both, threads = 2), K)
  alone <- gram(sparse_rows(x), kernels$rbf, sparse_rows(x)[7, ])
  expect_identical(alone["r8", "r7"], 1)
  shuffled <- sparse_rows(new)[, 25:1]
  expect_identical(gram(sparse_rows(x), kernels$linear, shuffled),
                   gram(sparse_rows(x), kernels$linear, sparse_rows(new)))
})

test_that("bases of sparse rows pick the rows that bases of filled ones pick", {
  for (method in c("fvs", "cholesky", "kobl", "kgs")) {
    for (kernel in kernels[c("rbf", "laplace", "linear", "both")]) {
      a <- quietly(kernel_basis(sparse_rows(x), kernel, method, size = 15, scale = FALSE))
      b <- quietly(kernel_basis(x, kernel, method, size = 15, scale = FALSE))
      expect_identical(a$index, b$index)
      equal(a$path[-6], b$path[-6])
      expect_equal(a$path$cost, b$path$cost, tolerance = 1e-7) # roots of residuals that vanish
      equal(a$vectors, b$vectors)
    }
  }
  for (first in c(10, Inf)) {
    a <- kernel_basis(sparse_rows(x), first = first, center = "nearest", neighbours = 3)
    b <- kernel_basis(sweep(x, 2, sds, "/"), first = first, center = "nearest", neighbours = 3,
                      scale = FALSE)
    expect_identical(a$index, b$index)
    expect_identical(a$center_index, b$center_index)
    for (type in c("orthonormal", "kernel", "residual")) {
      equal(predict(a, sparse_rows(new), type), predict(b, sweep(new, 2, sds, "/"), type))
    }
  }
})

test_that("scaling divides sparse columns by their standard deviations and leaves zeros", {
  basis <- kernel_basis(sparse_rows(x), size = 10)
  expect_identical(unname(basis$scaling$center), numeric(25))
  equal(basis$scaling$scale, sds)
  expect_identical(basis$scaling$scale[["v5"]], 1)
  expect_identical(basis$scaling$scale[["v4"]], 1)
  equal(basis$vectors, sweep(x, 2, sds, "/")[basis$index, ])
  # with case weights: those of repeated rows
  w <- rep(1:3, 30)
  fit <- kernel_lm(sparse_rows(x), y, weights = w, size = 8)
  repeated <- x[rep(1:90, w), ]
  equal(unname(fit$basis$scaling$scale[-(4:5)]), unname(apply(repeated, 2, sd)[-(4:5)]))
})

# Every model, fitted to rows `x` that are scaled or not.
models <- list(
  lm = function(x, scale) kernel_lm(x, y, scale = scale),
  classes = function(x, scale) kernel_lm(x, classes, "laplace", scale = scale),
  weighted = function(x, scale) kernel_lm(x, classes, weights = rep(1:2, 45), scale = scale),
  lda = function(x, scale) kernel_lda(x, classes, scale = scale),
  pca = function(x, scale) kernel_pca(x, ncomp = 2, scale = scale),
  all = function(x, scale) kernel_pca(x, ncomp = 2, basis = NULL, scale = scale),
  takes = function(x, scale) kernel_takes(x, classes, scale = scale),
  tune = function(x, scale) kernel_tune(x, classes, folds = 3, grid = list(sigma = c("x0.5", "x1")),
                                        scale = scale),
  fusion = function(x, scale) kernel_fusion(x, y, list(rbf_kernel(), linear_kernel()),
                                            scale = scale),
  machine = function(x, scale) kernel_fusion(x, classes, list(rbf_kernel(), linear_kernel()),
                                             scale = scale),
  blocks = function(x, scale) {
    kernel_fusion(x, y, list(kernel_on(rbf_kernel(), 1:9), kernel_on(linear_kernel(), "v11")),
                  scale = scale)
  }
)

test_that("models of sparse rows predict what models of filled ones do", {
  for (name in setdiff(names(models), "weighted")) {
    sparse <- quietly(models[[name]](sparse_rows(x), FALSE))
    filled <- quietly(models[[name]](x, FALSE))
    expected <- predict(filled, new)
    equal(predict(sparse, sparse_rows(new)), expected)
    equal(predict(sparse, new), expected)
    equal(predict(filled, sparse_rows(new)), expected)
  }
  for (name in setdiff(names(models), c("weighted", "tune"))) {
    sparse <- quietly(models[[name]](sparse_rows(x), TRUE))
    filled <- quietly(models[[name]](sweep(x, 2, sds, "/"), FALSE))
    expected <- predict(filled, sweep(new, 2, sds, "/"))
    equal(predict(sparse, sparse_rows(new)), expected)
    equal(predict(sparse, new), expected)
  }
  equal(predict(quietly(models$weighted(sparse_rows(x), FALSE)), new),
        predict(quietly(models$weighted(x, FALSE)), new))
})

test_that("a model of a filled, centred matrix takes sparse new rows", {
  for (name in names(models)) {
    fit <- quietly(models[[name]](x, TRUE))
    equal(predict(fit, sparse_rows(new)), predict(fit, new))
  }
  fit <- quietly(kernel_lm(x, y, spline_kernel(), scale = FALSE, basis = "kgs", size = 4))
  equal(predict(fit, sparse_rows(abs(new))), predict(fit, abs(new)))
  fit <- kernel_lm(as.data.frame(x), y)
  equal(predict(fit, sparse_rows(new)), predict(fit, new))
  data <- data.frame(y = y, x)
  fit <- kernel_lm(y ~ ., data)
  equal(predict(fit, sparse_rows(new)), predict(fit, as.data.frame(new)))
})

test_that("a basis that is given fits sparse rows", {
  basis <- kernel_basis(x, size = 10)
  equal(predict(kernel_lm(sparse_rows(x), y, basis = basis), new),
        predict(kernel_lm(x, y, basis = basis), new))
})

test_that("large sparse rows stay sparse in a model, which is written and read as it is", {
  wide <- matrix(0, 40, 9000)
  set.seed(3)
  wide[cbind(rep(1:40, 20), sample(9000, 800))] <- rnorm(800)
  fit <- kernel_lm(sparse_rows(wide), rowSums(wide), linear_kernel(), size = 30)
  expect_s3_class(fit$basis$vectors, "kernelect_sparse")
  expect_output(print(fit$basis$vectors), "sparse rows")
  expected <- predict(kernel_lm(sweep(wide, 2, fit$basis$scaling$scale, "/"), rowSums(wide),
                                linear_kernel(), size = 30, scale = FALSE),
                      sweep(wide, 2, fit$basis$scaling$scale, "/"))
  equal(predict(fit, wide), expected)
  equal(predict(fit, sparse_rows(wide)), expected)
  file <- tempfile(fileext = ".json")
  write_model(fit, file)
  expect_identical(predict(read_model(file), sparse_rows(wide)), predict(fit, sparse_rows(wide)))
  expect_error(export_c(fit, file), "sparse rows", class = "kernelect_error_argument")
  damaged <- fit
  damaged$basis$vectors$column[2] <- 9000L
  expect_error(predict(damaged, wide), class = "kernelect_error_model")
  damaged <- fit
  damaged$basis$vectors$start <- rev(damaged$basis$vectors$start)
  expect_error(predict(damaged, wide), class = "kernelect_error_model")
  damaged <- fit
  damaged$basis$vectors$value[1] <- NaN
  expect_error(predict(damaged, wide), class = "kernelect_error_model")
  expect_equal(nrow(head(fit$basis, 5)$vectors), 5L)
})

test_that("columns of sparse rows are ranked as filled ones are", {
  two <- factor(classes == "low", labels = c("other", "low"))
  for (method in c("fisher", "rfe", "arom")) {
    for (labels in list(two, classes)) {
      a <- quietly(kernel_rank(sparse_rows(x), labels, method = method, scale = FALSE))
      b <- quietly(kernel_rank(x, labels, method = method, scale = FALSE))
      equal(a$score, b$score)
      expect_identical(a$ranking, b$ranking)
    }
  }
  best <- predict(a, sparse_rows(new), n = 3)
  expect_identical(best, predict(b, new, n = 3))
  expect_error(kernel_rank(sparse_rows(x), two, method = "sas"), "fisher",
               class = "kernelect_error_argument")
})

test_that("what needs filled rows is refused by name", {
  sparse <- sparse_rows(x)
  expect_error(kernel_basis(sparse, spline_kernel()), "spline", class = "kernelect_error_kernel")
  expect_error(gram(sparse, rbf_kernel(1) + spline_kernel()), "spline",
               class = "kernelect_error_kernel")
  f <- function_kernel(function(x, z) tcrossprod(x, z))
  expect_error(kernel_lm(sparse, y, f), "user function", class = "kernelect_error_kernel")
  expect_error(kernel_fusion(sparse, y), "kernels", class = "kernelect_error_argument")
})

test_that("missing, infinite and no values of sparse rows are met as those of filled ones", {
  holes <- sparse_rows(x)
  holes$value[c(5, 40)] <- NA
  expect_error(kernel_basis(holes), "missing values", class = "kernelect_error_missing_values")
  expect_message(fit <- kernel_lm(holes, y, na_action = "omit"), "omitted")
  gone <- rowSums(is.na(as.matrix(holes))) > 0
  equal(predict(fit, new), predict(kernel_lm(sparse_rows(x[!gone, ]), y[!gone]), new))
  lost <- sparse_rows(new)
  lost$value[1] <- NA
  answer <- predict(fit, lost)
  expect_identical(unname(is.na(answer)), c(TRUE, rep(FALSE, 19)))
  holes$value[c(5, 40)] <- Inf
  expect_error(kernel_basis(holes), "infinite", class = "kernelect_error_not_finite")
  holes$value[c(5, 40)] <- 1e200
  expect_error(gram(holes, linear_kernel()), class = "kernelect_error_not_finite")
  expect_error(kernel_basis(sparse_rows(x)[integer(), ]), "no rows", class = "kernelect_error_data")
  expect_length(predict(fit, sparse_rows(new)[integer(), ]), 0L)
  expect_error(predict(fit, sparse_rows(new)[, 1:5]), "lacks", class = "kernelect_error_columns")
  expect_error(kernel_basis(sparse_rows(0 * x)), class = "kernelect_error_data")
})

test_that("new rows whose lengths overflow are refused, as filled ones are", {
  far <- x
  far[1, 1] <- 1e153
  huge <- new
  huge[1, 1] <- 1e200
  for (rows in list(identity, sparse_rows)) {
    basis <- kernel_basis(rows(far), rbf_kernel(sigma = 1), size = 5, scale = FALSE)
    expect_error(predict(basis, rows(huge)), class = "kernelect_error_not_finite")
  }
})

test_that("every class of sparse matrix gives its rows", {
  skip_if_not_installed("Matrix")
  m <- unname(x[1:20, 1:20])
  filled <- function(s) as.matrix(kernelect:::from_matrix_class(s))
  general <- Matrix::Matrix(m, sparse = TRUE, doDiag = FALSE)
  for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
    expect_equal(filled(methods::as(general, class)), m)
    expect_equal(filled(methods::as(methods::as(general, "lMatrix"), class)), (m != 0) + 0)
    expect_equal(filled(methods::as(methods::as(general, "nMatrix"), class)), (m != 0) + 0)
  }
  symmetric <- methods::as(Matrix::forceSymmetric(general), "CsparseMatrix")
  expect_equal(filled(symmetric), unname(as.matrix(symmetric)))
  upper <- Matrix::triu(general)
  expect_equal(filled(upper), unname(as.matrix(upper)))
  unit <- methods::as(Matrix::sparseMatrix(i = 1:3, j = 2:4, x = 1:3, dims = c(4, 4),
                                           triangular = TRUE), "CsparseMatrix")
  unit@diag <- "U"
  expect_equal(filled(unit), unname(as.matrix(unit)))
  expect_equal(filled(Matrix::Diagonal(4, 1:4)), diag(1:4) + 0)
  expect_equal(filled(Matrix::Diagonal(4)), diag(4))
  expect_equal(filled(methods::as(c(2L, 3L, 1L), "pMatrix")), diag(3)[c(2, 3, 1), ])
  expect_equal(filled(Matrix::Matrix(m, sparse = FALSE)), m)
  twice <- methods::new("dgTMatrix", i = c(0L, 1L, 0L), j = c(1L, 0L, 1L), x = c(1, 5, 2),
                        Dim = c(2L, 2L))
  expect_equal(filled(twice), rbind(c(0, 3), c(5, 0)))
})

test_that("sparse matrices go in by the front door, and damaged ones are refused", {
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  equal(gram(sparse, kernels$both), gram(x, kernels$both))
  fit <- kernel_lm(sparse, y)
  equal(predict(fit, methods::as(sparse, "RsparseMatrix")), predict(fit, x))
  damaged <- sparse
  damaged@i[3] <- 5000L
  expect_error(kernel_basis(damaged), "damaged", class = "kernelect_error_argument")
  damaged <- sparse
  damaged@p <- damaged@p[-2]
  expect_error(kernel_basis(damaged), "damaged", class = "kernelect_error_argument")
})

test_that("triplets as slam has them are taken", {
  triplets <- structure(
    list(i = c(1L, 2L, 3L), j = c(2L, 1L, 2L), v = c(3, 4, 5), nrow = 3L, ncol = 2L,
         dimnames = list(NULL, c("a", "b"))),
    class = "simple_triplet_matrix"
  )
  expect_equal(gram(triplets, linear_kernel()), tcrossprod(rbind(c(0, 3), c(4, 0), c(0, 5))))
})

test_that("sparse rows are put together and named as filled ones are", {
  both <- rbind(sparse_rows(x), sparse_rows(new))
  expect_identical(unname(as.matrix(both)), unname(rbind(x, new)))
  expect_identical(colnames(both), colnames(x))
  dimnames(both) <- list(NULL, toupper(colnames(x)))
  expect_identical(dimnames(both), list(NULL, toupper(colnames(x))))
  dimnames(both) <- NULL
  expect_null(dimnames(both))
  expect_identical(as.matrix(both), unname(rbind(x, new)))
})

test_that("a permutation that is kept by its columns gives its rows", {
  skip_if_not_installed("Matrix")
  by_columns <- methods::as(c(2L, 3L, 1L), "pMatrix")
  attr(by_columns, "margin") <- 2L
  expect_equal(as.matrix(kernelect:::from_matrix_class(by_columns)), diag(3)[, c(2, 3, 1)])
})

test_that("rows of a centre stay sparse beside those of the basis", {
  wide <- matrix(0, 40, 9000)
  set.seed(4)
  wide[cbind(rep(1:40, 20), sample(9000, 800))] <- rnorm(800)
  basis <- kernel_basis(sparse_rows(wide), linear_kernel(), size = 30, center = "nearest",
                        scale = FALSE)
  twin <- kernel_basis(wide, linear_kernel(), size = 30, center = "nearest", scale = FALSE)
  expect_s3_class(basis$vectors, "kernelect_sparse")
  expect_identical(basis$index, twin$index)
  equal(predict(basis, sparse_rows(wide)), predict(twin, wide))
})

test_that("sums over the entries of columns are those of rows grouped by column", {
  x <- random_matrix(40, 9) * (random_matrix(40, 9) > 0.3)
  x[, 4] <- 0
  rows <- as_sparse(x)
  value <- sin(seq_along(rows$value))
  expect_equal(sparse_sums(rows), colSums(x), tolerance = 1e-14)
  naive <- vapply(0:8, function(j) sum(value[rows$column == j]), 0)
  expect_equal(sparse_sums(rows, value), naive, tolerance = 1e-14)
  expect_identical(sparse_sums(as_sparse(x[0, ])), numeric(9))
})
