# Models of rows in chunks beside the same models of rows that are all there: picks identical,
# numbers to 1e-10.

counts <- c(1, 2, 3, 7)

flowers <- function() {
  data <- iris[c(1:150, 150:1), ]
  row.names(data) <- NULL
  data$f <- factor(rep(c("u", "v", "w"), 100), levels = c("w", "unused", "u", "v"))
  data$t <- rep(c("b", "a"), 150)
  data$t[1:60] <- "q"
  data
}

test_that("a basis does not depend on chunks", {
  data <- flowers()[-5]
  for (method in c("fvs", "cholesky", "kobl", "kgs")) {
    known <- kernel_basis(data, method = method, size = 15)
    for (k in counts) {
      expect_same_model(kernel_basis(in_chunks(data, k), method = method, size = 15), known)
    }
  }
})

test_that("random picks are those of the same seed", {
  set.seed(7)
  known <- kernel_basis(iris[1:4], method = "random", size = 8)
  set.seed(7)
  expect_same_model(kernel_basis(in_chunks(iris[1:4], 4), method = "random", size = 8), known)
})

test_that("formula and default interface agree, with factors and text", {
  data <- flowers()
  known <- kernel_lm(Species ~ ., data)
  for (k in counts) {
    source <- in_chunks(data, k)
    expect_same_model(kernel_lm(Species ~ ., source), known)
    expect_same_model(kernel_lm(source, "Species"),
                      kernel_lm(data[names(data) != "Species"], data$Species))
    expect_same_model(kernel_lm(in_chunks(data[names(data) != "Species"], k), data$Species),
                      kernel_lm(data[names(data) != "Species"], data$Species))
  }
})

test_that("regressions are those of all rows, for given and chosen sizes and ridges", {
  data <- flowers()
  for (k in c(1, 4)) {
    source <- in_chunks(data, k)
    same <- function(...) {
      expect_same_model(kernel_lm(Sepal.Length ~ ., source, ...),
                        kernel_lm(Sepal.Length ~ ., data, ...))
    }
    same()
    same(size = 10, ridge = 0)
    same(size = 20)
    same(ridge = 0.1)
    same(basis = "cholesky", keep = FALSE)
    same(scale = FALSE, kernel = laplace_kernel())
    same(kernel = rbf_kernel("median"), size = 10)
    same(kernel = polynomial_kernel(2) + rbf_kernel(), size = 10)
    expect_same_model(
      kernel_lm(cbind(Sepal.Length, Sepal.Width) ~ f + log(Petal.Width), source),
      kernel_lm(cbind(Sepal.Length, Sepal.Width) ~ f + log(Petal.Width), data)
    )
  }
})

test_that("discriminant analysis and components are those of all rows", {
  data <- flowers()
  for (k in counts) {
    source <- in_chunks(data, k)
    expect_same_model(kernel_lda(Species ~ ., source, size = 15),
                      kernel_lda(Species ~ ., data, size = 15))
    expect_same_model(kernel_lda(source, "Species", size = 15, ridge = 0.01),
                      kernel_lda(data[names(data) != "Species"], data$Species, size = 15,
                                 ridge = 0.01))
    expect_same_model(kernel_pca(~ . - Species, source, ncomp = 5),
                      kernel_pca(~ . - Species, data, ncomp = 5))
    expect_same_model(kernel_pca(in_chunks(data[1:4], k), ncomp = 3, center = FALSE),
                      kernel_pca(data[1:4], ncomp = 3, center = FALSE))
  }
  expect_same_model(kernel_pca(in_chunks(data[1:4], 3), linear_kernel(), basis = NULL),
                    kernel_pca(data[1:4], linear_kernel(), basis = NULL))
  expect_error(kernel_pca(in_chunks(data[1:4], 3), basis = NULL), "all pairs",
               class = "kernelect_error_argument")
})

test_that("rows with missing values go, and are told of, as from all rows", {
  data <- flowers()
  data$Sepal.Width[c(3, 77, 299)] <- NA
  data$f[20] <- NA
  data$t[21] <- NA
  data$Species[100] <- NA
  source <- in_chunks(data, 4)
  for (action in c("omit", "exclude")) {
    expect_message(kernel_lm(Species ~ ., source, na_action = action),
                   "6 of 300 rows with missing values omitted")
    suppressMessages({
      fit <- kernel_lm(Species ~ ., source, na_action = action)
      known <- kernel_lm(Species ~ ., data, na_action = action)
      expect_same_model(fit, known)
      expect_identical(fitted(fit), fitted(known))
      expect_same_model(kernel_lda(Species ~ ., source, na_action = action, size = 10),
                        kernel_lda(Species ~ ., data, na_action = action, size = 10))
      expect_same_model(kernel_basis(~ ., source, na_action = action),
                        kernel_basis(~ ., data, na_action = action))
    })
  }
  gone <- data
  gone$Sepal.Length[76:150] <- NA # a whole chunk
  suppressMessages(expect_same_model(
    kernel_lm(Species ~ ., in_chunks(gone, 4), na_action = "omit"),
    kernel_lm(Species ~ ., gone, na_action = "omit")
  ))
})

test_that("a column that a chunk has no values of is of the kind that it is elsewhere", {
  for (at in 1:2) {
    data <- iris
    data$Sepal.Width[50 * at - 49:0] <- NA
    source <- row_source(function(i) {
      chunk <- data.frame(as.list(data[50 * i - 49:0, ]))
      if (i == at) chunk$Sepal.Width <- NA # logical, as read.csv() would have it
      chunk
    }, c(50, 50, 50))
    suppressMessages(expect_same_model(
      kernel_lm(Petal.Width ~ ., source, na_action = "omit", size = 10),
      kernel_lm(Petal.Width ~ ., data, na_action = "omit", size = 10)
    ))
  }
})

test_that("rows go where any of several responses is missing", {
  y <- as.matrix(iris[1:2])
  y[c(3, 80), 1] <- NA
  y[5, 2] <- NA
  suppressMessages(expect_same_model(
    kernel_lm(in_chunks(iris[3:4], 4), y, na_action = "omit", size = 10),
    kernel_lm(iris[3:4], y, na_action = "omit", size = 10)
  ))
})

test_that("responses of other types, and sources of nothing else, are refused", {
  mixed <- row_source(function(i) {
    data.frame(a = 1:3 / i, y = if (i == 1) 1:3 else letters[1:3])
  }, c(3, 3))
  expect_error(kernel_lm(mixed, "y"), "Chunk 2 .* the response is character, .* numeric",
               class = "kernelect_error_source")
  alone <- in_chunks(iris["Species"], 3)
  expect_error(kernel_lm(alone, "Species"), "`x` has no columns", class = "kernelect_error_data")
  data <- data.frame(a = sin(1:20), y = complex(real = 1:20, imaginary = 1))
  expect_identical(message_of(kernel_lm(in_chunks(data, 2), "y")),
                   message_of(kernel_lm(data["a"], data$y)))
  expect_error(kernel_lm(in_chunks(data, 2), "y"), "`y` must be", class =
                 "kernelect_error_argument")
})

test_that("a formula needs a source whose columns have names", {
  unnamed <- in_chunks(unname(as.matrix(iris[1:4])), 3)
  expect_error(kernel_lm(a ~ ., unnamed), "a formula needs names",
               class = "kernelect_error_columns")
})

test_that("what is wrong with all rows is said in the same words", {
  data <- flowers()
  same <- function(data, fit) {
    expect_identical(message_of(fit(in_chunks(data, 4))), message_of(fit(data)))
    expect_match(message_of(fit(data)), "^kernelect_error")
  }
  missing <- data
  missing$Sepal.Width[c(3, 77)] <- NA
  missing$Species[9] <- NA
  same(missing, function(d) kernel_lm(Species ~ ., d))
  same(missing, function(d) kernel_basis(~ ., d))
  odd <- data
  odd$Sepal.Width[c(3, 200)] <- c(NaN, Inf)
  same(odd, function(d) kernel_lm(Species ~ ., d))
  same(replace(data, "Sepal.Width", NA_real_), function(d) kernel_basis(~ ., d, na_action = "omit"))
  same(replace(data, "Sepal.Length", c(Inf, 1:299)), function(d) kernel_lm(Sepal.Length ~ ., d))
  same(replace(data, "Sepal.Length", 3), function(d) kernel_lm(Sepal.Length ~ ., d))
  same(data, function(d) kernel_lm(Speces ~ ., d))
  same(data, function(d) kernel_lm(~ Species, d))
  same(data, function(d) kernel_lm(Species ~ ., d, Size = 3))
  same(as.matrix(data[1:4]), function(d) kernel_lm(d, 1:7))
  same(as.matrix(data[1:4]), function(d) kernel_basis(d, rbf_kernel(weights = 1:3)))
  same(cbind(a = data[[1]], a = data[[2]]), function(d) kernel_basis(d))
  same(matrix(1, 20, 2), function(d) kernel_basis(d))
})

test_that("terms that look at all rows are refused, others are not", {
  source <- in_chunks(iris, 4)
  expect_snapshot(error = TRUE, kernel_lm(Sepal.Length ~ poly(Sepal.Width, 2), source))
  expect_snapshot(error = TRUE, {
    kernel_lm(Sepal.Length ~ I(Sepal.Width - mean(Sepal.Width)), source)
  })
  expect_snapshot(error = TRUE, kernel_lm(Sepal.Length ~ ., source, subset = 1:10))
  expect_snapshot(error = TRUE, kernel_lm(source, "Speces"))
  power <- 2
  fit <- kernel_lm(log(Sepal.Length) ~ I(Sepal.Width^power) + Species, source)
  known <- kernel_lm(log(Sepal.Length) ~ I(Sepal.Width^power) + Species, iris)
  expect_same_model(fit, known)
  expect_equal(predict(fit, source), predict(known, iris), tolerance = 1e-10)
})

test_that("case weights go with a basis that is given and with one that is sought", {
  m <- as.matrix(iris[1:4]) + outer(sin(1:150), 1:4) / 50 # no two rows are alike
  w <- rep(c(1, 2, 0.5), 50)
  basis <- kernel_basis(m[, -1], size = 10)
  source <- in_chunks(m[, -1], 3)
  expect_same_model(kernel_lm(source, m[, 1], basis = basis),
                    kernel_lm(m[, -1], m[, 1], basis = basis))
  expect_same_model(kernel_lm(source, m[, 1], basis = basis, weights = w),
                    kernel_lm(m[, -1], m[, 1], basis = basis, weights = w))
  expect_same_model(kernel_lda(source, iris$Species, basis = basis, weights = w),
                    kernel_lda(m[, -1], iris$Species, basis = basis, weights = w))
  data <- transform(iris, w = w)
  by_formula <- kernel_basis(~ Sepal.Width + Petal.Width, data)
  expect_same_model(
    kernel_lm(Species ~ Sepal.Width + Petal.Width, in_chunks(data, 4), basis = by_formula,
              weights = w),
    kernel_lm(Species ~ Sepal.Width + Petal.Width, data, basis = by_formula, weights = w)
  )
  for (v in list(w, rep(c(0, 3, 1, 2, 1), 30))) {
    for (kernel in list(rbf_kernel(), rbf_kernel("median"), polynomial_kernel(2))) {
      for (how in c("fvs", "cholesky", "kobl")) {
        expect_same_model(kernel_lm(source, m[, 1], kernel, basis = how, weights = v),
                          kernel_lm(m[, -1], m[, 1], kernel, basis = how, weights = v))
      }
    }
    expect_same_model(kernel_lda(source, iris$Species, weights = v, scale = FALSE),
                      kernel_lda(m[, -1], iris$Species, weights = v, scale = FALSE))
    expect_same_model(kernel_lm(source, m[, 1], basis = basis, weights = v),
                      kernel_lm(m[, -1], m[, 1], basis = basis, weights = v))
    data[1:4] <- m
    data$v <- v
    expect_same_model(kernel_lm(Sepal.Length ~ . - w - v, in_chunks(data, 4), weights = v),
                      kernel_lm(Sepal.Length ~ . - w - v, data, weights = v))
  }
  holes <- replace(m[, -1], cbind(c(3, 6, 99), c(1, 2, 2)), NA)
  fit <- function(x) {
    suppressMessages(kernel_lm(x, m[, 1], weights = v, na_action = "exclude"))
  }
  expect_same_model(fit(in_chunks(holes, 3)), fit(holes))
  expect_error(kernel_lm(source, m[, 1], weights = 0 * w), "`weights` are all zero",
    class = "kernelect_error_argument")
  set.seed(3)
  a <- kernel_lm(source, m[, 1], basis = "random", weights = w, memory = 0.01)
  set.seed(3)
  expect_same_model(a, kernel_lm(m[, -1], m[, 1], basis = "random", weights = w))
  expect_snapshot(error = TRUE, kernel_lm(source, m[, 1], basis = kernel_basis(K = gram(m))))
  expect_warning(kernel_lm(source, m[, 1], linear_kernel(), basis = basis),
                 class = "kernelect_warning_kernel")
})

test_that("weights of all rows may be beside the source", {
  w <- rep(c(1, 2, 0.5), 50)
  basis <- kernel_basis(~ Sepal.Width + Petal.Width, iris, size = 10)
  fit <- function(data) {
    kernel_lm(Species ~ Sepal.Width + Petal.Width, data, basis = basis, weights = w)
  }
  expect_same_model(fit(in_chunks(iris, 4)), fit(iris))
})

test_that("a basis that is given is cut to `size`, and a kernel yet to be worked out is no other", {
  m <- as.matrix(iris[1:4])
  basis <- kernel_basis(m[, -1], size = 10)
  source <- in_chunks(m[, -1], 3)
  expect_same_model(kernel_lm(source, m[, 1], basis = basis, size = 5),
                    kernel_lm(m[, -1], m[, 1], basis = basis, size = 5))
  fit <- expect_silent(kernel_lm(source, m[, 1], rbf_kernel("median"), basis = basis))
  expect_same_model(fit, kernel_lm(m[, -1], m[, 1], basis = basis))
})

test_that("coordinates that are all constant leave the mean", {
  y <- sin(1:20)
  fit <- kernel_lm(in_chunks(matrix(1, 20, 1), 2), y, linear_kernel(), scale = FALSE)
  expect_equal(unname(fitted(fit)), rep(mean(y), 20), tolerance = 1e-12)
  expect_same_model(fit, kernel_lm(matrix(1, 20, 1), y, linear_kernel(), scale = FALSE))
})

test_that("a Gram matrix has no rows to be worked on in chunks", {
  expect_error(kernel_lm(K = gram(as.matrix(iris[1:4])), y = iris$Species, memory = 1),
               "`memory` is for rows, not for a Gram matrix", class = "kernelect_error_argument")
})

test_that("every kind of source gives the model of its rows", {
  data <- transform(iris, Species = as.character(Species))
  known <- kernel_lm(Species ~ ., data, size = 12)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file), add = TRUE)
  write.csv(data, file, row.names = FALSE)
  for (rows in c(150, 75, 50, 22)) {
    expect_same_model(kernel_lm(Species ~ ., as_row_source(file, rows = rows), size = 12), known)
  }
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    parquet <- tempfile(fileext = ".parquet")
    on.exit(unlink(parquet), add = TRUE)
    nanoparquet::write_parquet(data, parquet, row_groups = c(1L, 30L, 140L))
    expect_same_model(kernel_lm(Species ~ ., as_row_source(parquet), size = 12), known)
  }
  if (requireNamespace("RSQLite", quietly = TRUE)) {
    con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    on.exit(DBI::dbDisconnect(con), add = TRUE)
    DBI::dbWriteTable(con, "flowers", data)
    expect_same_model(kernel_lm(Species ~ ., as_row_source(con, "flowers", rows = 60), size = 12),
                      known)
  }
  m <- as.matrix(iris[1:4])
  components <- kernel_pca(unname(m), ncomp = 3)
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    big <- bigmemory::as.big.matrix(unname(m))
    expect_same_model(kernel_pca(as_row_source(big, rows = 40), ncomp = 3), components)
  }
  if (requireNamespace("filematrix", quietly = TRUE)) {
    disk <- filematrix::fm.create.from.matrix(tempfile(), unname(m))
    expect_same_model(kernel_pca(as_row_source(disk, rows = 40), ncomp = 3), components)
    filematrix::closeAndDeleteFiles(disk)
  }
})

test_that("every rule picks the same rows from every kind of source, ties and duplicates too", {
  set.seed(3)
  m <- round(matrix(rnorm(600), 200), 1)
  m[151:200, ] <- m[50:1, ]
  colnames(m) <- c("a", "b", "c")
  frame <- as.data.frame(m)
  sources <- list(
    matrix = as_row_source(m, rows = 70), frame = as_row_source(frame, rows = 70),
    read = row_source(function(i) m[list(1:90, 91:200)[[i]], ], c(90, 110), colnames(m))
  )
  file <- temporary_file(".csv")
  write.csv(frame, file, row.names = FALSE)
  sources$csv <- as_row_source(file, rows = 70)
  packed <- temporary_file(".csv.gz")
  con <- gzfile(packed, "wb")
  write.csv(frame, con, row.names = FALSE)
  close(con)
  sources$gz <- as_row_source(packed, rows = 70)
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    parquet <- temporary_file(".parquet")
    nanoparquet::write_parquet(frame, parquet, row_groups = c(1L, 30L, 140L))
    sources$parquet <- as_row_source(parquet)
  }
  if (requireNamespace("RSQLite", quietly = TRUE)) {
    con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
    on.exit(DBI::dbDisconnect(con), add = TRUE)
    DBI::dbWriteTable(con, "rows", frame)
    sources$sqlite <- as_row_source(con, "rows", rows = 60)
  }
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    sources$big <- as_row_source(bigmemory::as.big.matrix(m), rows = 70)
  }
  if (requireNamespace("filematrix", quietly = TRUE)) {
    disk <- filematrix::fm.create.from.matrix(temporary_file(""), m)
    on.exit(filematrix::closeAndDeleteFiles(disk), add = TRUE)
    sources$disk <- as_row_source(disk, rows = 70)
  }
  for (method in basis_methods) {
    pick <- function(x) {
      set.seed(4)
      unname(kernel_basis(x, method = method, size = 25, tol = 0, first = 30)$index)
    }
    known <- pick(m)
    for (kind in names(sources)) expect_identical(pick(sources[[kind]]), known, label = kind)
  }
})

test_that("models see the very coordinates that the search for the basis left", {
  m <- as.matrix(iris[1:4])
  for (basis in list("kgs", NULL)) { # nearly dependent rows: worked out anew they lose digits
    fit <- kernel_lm(in_chunks(m, 4), iris$Species, basis = basis, size = 40)
    known <- kernel_lm(m, iris$Species, basis = basis, size = 40)
    expect_identical(fit$basis$index, known$basis$index)
    expect_equal(fit$loo, known$loo, tolerance = 1e-10)
    expect_equal(fit$fitted.values, known$fitted.values, tolerance = 1e-10)
    lda <- kernel_lda(in_chunks(m, 4), iris$Species, basis = basis, size = 40)
    twin <- kernel_lda(m, iris$Species, basis = basis, size = 40)
    expect_equal(lda$scores, twin$scores, tolerance = 1e-10)
  }
})

test_that("leave-one-out at full rank is that of all rows, at the smallest ridges too", {
  # all rows span the constant as well: the last column is rounding, which must count for nothing
  m <- as.matrix(iris[1:4])
  once <- !duplicated(m)
  weights <- rep(1:3, 50)
  check <- function(rows, tolerance = 1e-10, weights = NULL, ...) {
    x <- m[rows, ]
    y <- iris$Species[rows]
    known <- kernel_lm(x, y, weights = weights, ...)
    for (k in c(1, 4)) {
      fit <- kernel_lm(in_chunks(x, k), y, weights = weights, ...)
      expect_identical(fit$size, known$size)
      expect_identical(fit$ridge, known$ridge)
      expect_equal(fit$loo, known$loo, tolerance = tolerance)
      expect_equal(fit$leverage, known$leverage, tolerance = tolerance)
      expect_equal(fit$fitted.values, known$fitted.values, tolerance = 1e-10)
      expect_equal(fit$calibration, known$calibration, tolerance = tolerance)
    }
  }
  check(1:150, basis = NULL)
  check(once, basis = NULL)
  check(1:150, basis = NULL, ridge = 1e-6)
  # without a ridge a leverage of nearly 1 leaves eps / (1 - h) of the digits
  check(1:150, basis = "cholesky", size = "loo", tol = 0, ridge = 0, tolerance = 1e-6)
  all <- kernel_basis(m, method = "cholesky", size = Inf, tol = 0)
  check(1:150, basis = all, weights = weights)
})

test_that("bodies that models have used are gone afterwards, files and all", {
  source <- in_chunks(as.matrix(iris[1:4]), 4)
  kernel_lm(source, iris$Species, size = 20, memory = 0.02)
  kernel_lda(source, iris$Species, size = 20, memory = 0.02)
  kernel_pca(source, size = 20, memory = 0.02)
  expect_error(kernel_lda(source, iris$Species, size = 20, memory = 0.02, prior = 1))
  expect_length(ls(heads), 0)
  expect_length(list.files(tempdir(), "kernelect-factor"), 0)
})

test_that("an order of classes and times are kept", {
  data <- data.frame(x = 1:60 / 7, day = as.Date("2020-01-01") + 1:60,
                     y = factor(rep(c("low", "high"), 30), c("low", "high"), ordered = TRUE))
  expect_message(fit <- kernel_lm(y ~ ., in_chunks(data, 3)), "Taken as numbers")
  suppressMessages(expect_same_model(fit, kernel_lm(y ~ ., data)))
  expect_s3_class(predict(fit, in_chunks(data, 3)), "ordered")
})

test_that("slow sources are read once and kept as numbers", {
  reads <- 0
  m <- as.matrix(iris[1:4])
  source <- as_row_source(m, rows = 50)
  read <- source$read
  source$read <- function(i) {
    reads <<- reads + 1
    read(i)
  }
  source$slow <- TRUE
  fit <- kernel_lm(source, iris$Species, size = 10)
  expect_lte(reads, 3 * 2)
  expect_same_model(fit, kernel_lm(m, iris$Species, size = 10))
})

test_that("a chunk that is kept as numbers is the one that was read", {
  m <- as.matrix(iris[1:4])
  for (columns in list(colnames(m), NULL)) {
    reads <- 0
    read <- spooled_reader(function(i) {
      reads <<- reads + 1
      matrix(m[75 * i - 74:0, ], 75, dimnames = if (!is.null(columns)) list(NULL, columns))
    }, c(75, 75), list(width = 4L, columns = columns))
    first <- lapply(1:2, read)
    expect_identical(lapply(1:2, read), first)
    expect_identical(unname(do.call(rbind, first)), unname(m))
    expect_identical(reads, 2)
  }
})

test_that("memory that the machine has not is told of", {
  expect_message(inform_memory(1e15), "will be needed", class = "kernelect_message")
  expect_silent(inform_memory(1e3))
})

test_that("sources are refused where all rows are needed", {
  source <- in_chunks(iris, 3)
  expect_snapshot(error = TRUE, kernel_takes(Species ~ ., source))
  expect_error(kernel_rank(source, iris$Species), "row source", class = "kernelect_error_argument")
  expect_error(kernel_tune(Species ~ ., source), "row source", class = "kernelect_error_argument")
})

test_that("workers of a cluster make the same models", {
  skip_on_cran()
  cluster <- tryCatch(parallel::makeCluster(2), error = function(e) NULL)
  skip_if(is.null(cluster), "no cluster can be made")
  on.exit(parallel::stopCluster(cluster))
  data <- flowers()
  source <- in_chunks(data, 5)
  expect_same_model(kernel_lm(Species ~ ., source, cluster = cluster), kernel_lm(Species ~ ., data))
  expect_same_model(kernel_lm(Sepal.Length ~ ., source, cluster = cluster, ridge = 0.1),
                    kernel_lm(Sepal.Length ~ ., data, ridge = 0.1))
  expect_same_model(kernel_lda(Species ~ ., source, cluster = cluster, size = 12),
                    kernel_lda(Species ~ ., data, size = 12))
  expect_same_model(kernel_pca(~ . - Species, source, cluster = cluster, ncomp = 4),
                    kernel_pca(~ . - Species, data, ncomp = 4))
  expect_same_model(kernel_pca(data[1:4], cluster = cluster, ncomp = 4),
                    kernel_pca(data[1:4], ncomp = 4))
  basis <- kernel_basis(data[2:4], size = 10)
  expect_same_model(kernel_lm(in_chunks(data[2:4], 5), data$Species, basis = basis,
                              cluster = cluster),
                    kernel_lm(data[2:4], data$Species, basis = basis))
  data$Sepal.Width[c(3, 290)] <- NA
  expect_identical(message_of(kernel_lm(Species ~ ., in_chunks(data, 5), cluster = cluster)),
                   message_of(kernel_lm(Species ~ ., data)))
  data <- data[-c(3, 290), ]
  file <- temporary_file(".csv")
  write.csv(data, file, row.names = FALSE)
  expect_same_model(kernel_lm(Species ~ ., as_row_source(file, rows = 70), cluster = cluster),
                    kernel_lm(Species ~ ., read.csv(file)))
})

test_that("predictions come chunk by chunk, or all together", {
  fit <- kernel_lm(Sepal.Length ~ ., iris, size = 10)
  source <- in_chunks(iris, 4)
  expect_identical(predict(fit, source), predict(fit, iris))
  expect_equal(predict(fit, source, interval = "prediction", se.fit = TRUE),
               predict(fit, iris, interval = "prediction", se.fit = TRUE))
  seen <- list()
  out <- expect_invisible(predict(fit, source, write = function(i, value) seen[[i]] <<- value))
  expect_s3_class(out, "row_source")
  expect_identical(unlist(seen), predict(fit, iris))
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  predict(fit, source, interval = "confidence", se.fit = TRUE, write = file)
  expect_identical(names(read.csv(file)), c("fit", "lwr", "upr", "se.fit"))
  expect_equal(read.csv(file)$fit, unname(predict(fit, iris)))
  classes <- kernel_lda(Species ~ ., iris, size = 10)
  for (type in c("class", "prob", "scores")) {
    expect_identical(predict(classes, source, type = type), predict(classes, iris, type = type))
  }
  predict(classes, source, write = file)
  expect_identical(read.csv(file)$prediction, as.character(predict(classes, iris)))
  pca <- kernel_pca(iris[1:4], ncomp = 2)
  expect_identical(predict(pca, source), predict(pca, iris))
  basis <- kernel_basis(iris[1:4], size = 5)
  expect_identical(predict(basis, source, type = "residual"),
                   predict(basis, iris, type = "residual"))
  fused <- kernel_fusion(iris[1:100, 1:4], iris$Species[1:100])
  expect_identical(predict(fused, source), predict(fused, iris))
  taken <- kernel_takes(Species ~ ., iris)
  expect_identical(predict(taken, source), predict(taken, iris))
  expect_snapshot(error = TRUE, predict(fit, iris, write = print))
  expect_snapshot(error = TRUE, predict(fit, source, write = 3))
})

test_that("chunks cut from one data frame have the row names that it has", {
  data <- data.frame(a = sin(1:30), b = cos(2 * (1:30)))
  data$y <- data$a + data$b^2
  cut <- function(data) row_source(function(i) data[(i - 1) * 10 + 1:10, ], rep(10, 3))
  fits <- function(data) {
    lapply(list(cut(data), data), function(d) fitted(kernel_lm(y ~ a + b, d, size = 8)))
  }
  plain <- fits(data)
  expect_equal(plain[[1L]], plain[[2L]], tolerance = 1e-10)
  rownames(data)[25] <- "late"
  named <- fits(data)
  expect_named(named[[1L]], rownames(data))
  expect_equal(named[[1L]], named[[2L]], tolerance = 1e-10)
})

test_that("a formula finds its columns in a source of named matrices", {
  x <- as.matrix(mtcars[c("mpg", "wt", "hp")])
  source <- row_source(function(i) x[16 * (i - 1) + 1:16, ], c(16, 16), colnames(x))
  of_source <- kernel_lm(mpg ~ wt + log(hp), source, size = 5)
  in_memory <- kernel_lm(mpg ~ wt + log(hp), mtcars, size = 5)
  expect_equal(predict(of_source, mtcars), predict(in_memory, mtcars), tolerance = 1e-10)
})

test_that("a worker gives the state after its chunks, and what goes wrong there as a value", {
  x <- random_matrix(40, 3)
  basis <- kernel_basis(x, rbf_kernel(1), size = 6, scale = FALSE)
  sizes <- c(15, 15, 10)
  rows <- list(sizes = sizes, read_matrix = function(i) x[15 * (i - 1) + seq_len(sizes[i]), ])
  z <- source_parts(basis, list(x = rows, n = 40), list(threads = 1L, verbose = FALSE))$z
  keep <- function(state, part, rows, x) rbind(state, cbind(rows, part, x))
  found <- worker_blocks(2:3, z, keep)
  expect_equal(unname(found), unname(cbind(16:40, predict(basis, x[16:40, ]), x[16:40, ])))
  failed <- worker_blocks(1, z, function(...) abort("data", "No such rows."))
  expect_s3_class(failed, "kernelect_failure")
  expect_s3_class(failed$error, "kernelect_error_data")
})
