# The reader in Python shows that the text of a model is enough: it predicts what R predicts.

# Numbers with 17 digits are the same numbers again.
exact_text <- function(v) if (is.double(v) && !is.object(v)) sprintf("%.17g", v) else v

by_python <- function(fit, rows, type = NULL, stderr = "") {
  skip_if(!nzchar(Sys.which("python3")), "no python3")
  json <- tempfile(fileext = ".json")
  table <- tempfile(fileext = ".csv")
  on.exit(unlink(c(json, table)))
  write_model(fit, json)
  rows <- as.data.frame(lapply(rows, exact_text), optional = TRUE)
  utils::write.csv(rows, table, row.names = FALSE)
  reader <- system.file("python", "kernelect_model.py", package = "kernelect")
  out <- system2("python3", c(shQuote(reader), json, table, type), stdout = TRUE,
    stderr = stderr)
  if (length(out) != nrow(rows)) stop("the reader gave ", length(out), " lines")
  do.call(rbind, strsplit(out, ",", fixed = TRUE))
}

expect_same_in_python <- function(fit, rows, types = list(NULL), tolerance = 1e-12) {
  for (type in types) {
    ours <- if (is.null(type)) predict(fit, rows) else predict(fit, rows, type = type)
    theirs <- by_python(fit, rows, type)
    label <- paste(class(fit)[1], type)
    if (is.factor(ours)) {
      expect_identical(as.vector(theirs), as.character(ours), label = label)
    } else {
      ours <- unname(as.matrix(ours))
      gap <- abs(as.double(theirs) - ours) / pmax(1, abs(ours))
      expect_lte(max(gap), tolerance, label = label)
      expect_identical(dim(theirs), dim(ours), label = label)
    }
  }
}

new_flowers <- function() {
  new <- iris[seq(1, 150, 7), ]
  new[1:4] <- new[1:4] * 1.01 + 0.013
  new
}

classifier_types <- c("class", "prob", "decision")

test_that("classifiers give the same classes, probabilities and decisions in Python", {
  new <- new_flowers()
  two <- droplevels(iris[51:150, ])
  expect_same_in_python(kernel_lm(Species ~ ., iris), new, c(classifier_types, "response"))
  expect_same_in_python(kernel_lm(Species ~ ., two), new, classifier_types)
  for (prior in list(c(1, 1, 1) / 3, c(0.5, 0.2, 0.3))) {
    fit <- kernel_lda(Species ~ ., iris, size = 12, prior = prior)
    expect_same_in_python(fit, new, c(classifier_types, "scores"))
  }
  expect_same_in_python(kernel_takes(Species ~ ., iris), new, c(classifier_types, "scores"))
  turned <- kernel_takes(Species ~ ., iris, basis = "kpca", size = 5)
  expect_same_in_python(turned, new, classifier_types)
  parts <- list(rbf_kernel(), kernel_on(laplace_kernel(), c("Sepal.Width", "Petal.Width")),
    kernel_on(linear_kernel(), 1), noise_kernel())
  expect_same_in_python(kernel_fusion(iris[1:4], iris$Species, parts), new, classifier_types)
  expect_same_in_python(kernel_fusion(Species ~ ., two), new, classifier_types)
  on_bases <- kernel_fusion(Species ~ ., two, list(rbf_kernel(), linear_kernel()), basis = "fvs")
  expect_same_in_python(on_bases, new, classifier_types)
  tuned <- kernel_tune(Species ~ ., iris, grid = list(size = c(4, 8)), folds = 3)
  expect_same_in_python(tuned, new, classifier_types)
})

test_that("every kernel, centring and scaling gives the same numbers in Python", {
  x <- mtcars[c("wt", "hp", "qsec")]
  new <- x[seq(1, 32, 5), ] * 1.02
  for (kernel in kernels_of_three()) {
    for (center in c("none", "nearest")) {
      fit <- suppressWarnings(
        kernel_lm(x, mtcars$mpg, kernel, size = 5, center = center, neighbours = 2))
      expect_same_in_python(fit, new)
    }
  }
  fit <- kernel_lm(x / 100, mtcars$mpg, spline_kernel(), size = 4, scale = FALSE)
  expect_same_in_python(fit, new / 100)
  several <- kernel_lm(x, cbind(a = mtcars$mpg, b = mtcars$disp), size = 4)
  expect_same_in_python(several, new)
})

test_that("coordinates, components, columns and fused regressions are the same in Python", {
  new <- new_flowers()[1:4]
  for (center in c("none", "nearest")) {
    basis <- kernel_basis(iris[1:4], size = 7, center = center, neighbours = 3)
    expect_same_in_python(basis, new, c("orthonormal", "kernel", "residual"))
  }
  expect_same_in_python(kernel_pca(iris[1:4], ncomp = 3), new)
  expect_same_in_python(kernel_pca(iris[1:4], ncomp = 2, center = FALSE), new)
  expect_same_in_python(kernel_rank(iris[1:4], iris$Species), new)
  x <- mtcars[c("wt", "hp", "qsec", "drat")]
  expect_same_in_python(kernel_fusion(x, mtcars$mpg), x * 1.01)
  product <- list(rbf_kernel() * linear_kernel(), polynomial_kernel(2))
  expect_same_in_python(kernel_fusion(x, mtcars$mpg, product), x * 1.01)
})

test_that("formulas, factors, truth values, dates and missing values are read in Python", {
  k <- 0.3
  d <- transform(iris, wide = Petal.Width > 1, group = paste0("g", as.integer(Species)))
  fit <- kernel_lm(Sepal.Length ~ log(Sepal.Width) + poly(Petal.Length, 3) + I(Petal.Width^k) +
    Species + scale(Petal.Width) + wide + group + pmax(Petal.Width, 1) + (Petal.Width > 1), d,
    size = 9)
  expect_same_in_python(fit, d[seq(3, 150, 11), ])
  days <- data.frame(day = as.Date("2024-01-01") + 1:20, y = sin(1:20))
  timed <- suppressMessages(kernel_lm(y ~ day, days, size = 4))
  expect_same_in_python(timed, transform(days, day = day + 3))
  ordered <- kernel_lm(breaks ~ wool + tension, warpbreaks, size = 4)
  expect_same_in_python(ordered, warpbreaks[c(1, 20, 50), ])
  gaps <- iris[c(1, 60, 120), ]
  gaps$Petal.Width[2] <- NA
  expect_identical(by_python(kernel_lm(Species ~ ., iris, size = 5), gaps)[, 1],
    c("setosa", "NA", "virginica"))
  expect_identical(dim(by_python(kernel_pca(iris[1:4], ncomp = 1), gaps[1:4])), c(3L, 1L))
})

test_that("Gram matrices and columns without names are read in Python", {
  skip_if(!nzchar(Sys.which("python3")), "no python3")
  # as a module: rows are lists, or dictionaries of lists
  script <- function(fit, rows) {
    json <- tempfile(fileext = ".json")
    on.exit(unlink(json))
    write_model(fit, json)
    code <- paste0(
      "import sys; sys.path.insert(0, '", system.file("python", package = "kernelect"), "'); ",
      "sys.dont_write_bytecode = True; import kernelect_model as k; ",
      "print(*map(repr, k.read_model('", json, "').predict([", paste(rows, collapse = ", "), "])))"
    )
    as.double(strsplit(system2("python3", c("-c", shQuote(code)), stdout = TRUE), " ")[[1]])
  }
  list_of <- function(m) apply(m, 1, function(v) paste0("[", toString(exact_text(v)), "]"))
  x <- unname(as.matrix(mtcars[c("wt", "hp")]))
  fit <- kernel_lm(x, mtcars$mpg, size = 4)
  expect_equal(script(fit, list_of(x[1:3, ])), predict(fit, x[1:3, ]), tolerance = 1e-13)
  K <- gram(scale(x))
  for (center in c("none", "nearest")) {
    fit <- kernel_lm(K = K, y = mtcars$mpg, size = 4, center = center)
    expect_equal(script(fit, list_of(K[1:3, ])), predict(fit, K[1:3, ]), tolerance = 1e-12)
  }
  L <- gram(scale(x), linear_kernel())
  fit <- kernel_fusion(y = mtcars$mpg, kernels = list(a = K, b = L))
  rows <- sprintf("{'a': %s, 'b': %s}", list_of(K[1:3, ]), list_of(L[1:3, ]))
  expect_equal(script(fit, rows), predict(fit, list(a = K[1:3, ], b = L[1:3, ])),
    tolerance = 1e-12)
})

test_that("what the reader cannot do it refuses", {
  skip_if(!nzchar(Sys.which("python3")), "no python3")
  refused <- function(...) {
    suppressWarnings(tryCatch(by_python(..., stderr = FALSE), error = identity))
  }
  fit <- kernel_lm(Species ~ ., iris, size = 4)
  expect_s3_class(refused(fit, iris[1:2, 1:3]), "error")
  expect_s3_class(refused(fit, iris[1:2, ], "nonsense"), "error")
  levels <- kernel_lm(breaks ~ wool, warpbreaks, size = 2)
  expect_s3_class(refused(levels, data.frame(wool = "C")), "error")
  file <- tempfile()
  writeLines("{\"format\": \"other\"}", file)
  reader <- system.file("python", "kernelect_model.py", package = "kernelect")
  expect_false(suppressWarnings(system2("python3", c(shQuote(reader), file, file),
    stdout = FALSE, stderr = FALSE)) == 0)
})

test_that("rows that a model keeps sparse are read in Python", {
  set.seed(4)
  m <- matrix(0, 40, 4500, dimnames = list(NULL, paste0("v", 1:4500)))
  m[cbind(rep(1:40, 30), sample(4500, 1200))] <- rnorm(1200)
  fit <- kernel_lm(kernelect:::as_sparse(m), rowSums(m), polynomial_kernel(2), size = 30)
  expect_s3_class(fit$basis$vectors, "kernelect_sparse")
  expect_same_in_python(fit, as.data.frame(m[1:5, ]), tolerance = 1e-10)
})
