# The exported file, compiled with every warning an error, as a function of a row.
compiled <- function(fit, name = "model") {
  cc <- Sys.which("cc")
  if (!nzchar(cc)) skip("no C compiler")
  dir <- tempfile("export")
  dir.create(dir)
  source <- file.path(dir, paste0(name, ".c"))
  library <- file.path(dir, paste0(name, basename(dir), .Platform$dynlib.ext))
  export_c(fit, source, name)
  flags <- c("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC")
  said <- system2(cc, c(flags, shQuote(source), "-o", shQuote(library), "-lm"), TRUE, TRUE)
  expect_identical(as.character(said), character(), info = name)
  dll <- dyn.load(library)
  outputs <- as.integer(sub(".* ", "", grep("_OUTPUTS", readLines(source), value = TRUE)[1L]))
  entry <- getNativeSymbolInfo(paste0(name, "_predict"), dll)
  function(x) {
    x <- as.matrix(x)
    storage.mode(x) <- "double"
    out <- lapply(seq_len(nrow(x)), function(i) {
      .C(entry, x[i, ], double(outputs), NAOK = TRUE)[[2L]]
    })
    matrix(unlist(out), nrow(x), byrow = TRUE)
  }
}

expect_near <- function(a, b, label = NULL) {
  far <- max(abs(unname(as.matrix(a)) - unname(as.matrix(b)))) / max(abs(as.matrix(b)), 1e-300)
  expect_lt(far, 1e-12, label = label)
}

expect_classes <- function(fit, new, x = new) {
  out <- compiled(fit)(x)
  decision <- as.matrix(predict(fit, new, type = "decision"))
  k <- ncol(decision)
  prob <- predict(fit, new, type = "prob")
  expect_near(out[, seq_len(k)], decision)
  expect_near(out[, k + seq_len(ncol(prob))], prob)
  expect_identical(out[, ncol(out)], as.double(predict(fit, new)))
}

new_rows_of <- function(x, n = 25) {
  with_seed(7, as.matrix(x)[sample(nrow(x), n, TRUE), ] + 0.3 * random_matrix(n, ncol(x), 3))
}

test_that("regression in C is that of R for every kernel, centring and weights", {
  x <- as.matrix(mtcars[c("wt", "hp", "qsec")])
  new <- new_rows_of(x)
  for (kernel in kernels_of_three()) {
    for (center in c("none", "nearest")) {
      fit <- suppressWarnings(
        kernel_lm(x, mtcars$mpg, kernel, size = 5, center = center, neighbours = 2))
      expect_near(compiled(fit)(new), predict(fit, new), kernel_label(kernel))
    }
  }
  fit <- kernel_lm(x / 100, mtcars$mpg, spline_kernel(), size = 4, scale = FALSE)
  expect_near(compiled(fit)(new / 100), predict(fit, new / 100))
  fit <- kernel_lm(unname(x), cbind(a = mtcars$mpg, b = mtcars$disp), size = 4, scale = FALSE)
  expect_near(compiled(fit)(unname(new)), predict(fit, unname(new)))
})

test_that("classes, decisions and probabilities in C are those of R", {
  new <- as.data.frame(new_rows_of(iris[1:4]))
  expect_classes(kernel_lm(Species ~ ., iris), new)
  expect_classes(kernel_lda(Species ~ ., iris, size = 12), new)
  expect_classes(kernel_lda(Species ~ ., iris, size = 12, prior = c(0.5, 0.2, 0.3)), new)
  two <- droplevels(iris[1:100, ])
  expect_classes(kernel_lm(Species ~ ., two), new)
  expect_classes(kernel_fusion(Species ~ ., two, list(rbf_kernel(), linear_kernel())), new)
  expect_classes(kernel_fusion(Species ~ ., iris, list(rbf_kernel())), new)
  expect_classes(kernel_fusion(Species ~ ., two), new)
  parts <- list(kernel_on(rbf_kernel(), 3:4), kernel_on(linear_kernel(), 1:2), noise_kernel())
  expect_classes(kernel_fusion(iris[51:150, 1:4], droplevels(iris$Species[51:150]), parts), new)
})

test_that("scores, coordinates and fused regressions in C are those of R", {
  new <- new_rows_of(iris[1:4])
  pca <- kernel_pca(iris[1:4], ncomp = 3)
  expect_near(compiled(pca)(new), predict(pca, new))
  all <- kernel_pca(iris[1:4], ncomp = 2, basis = NULL)
  expect_near(compiled(all)(new), predict(all, new))
  basis <- kernel_basis(iris[1:4], size = 5, center = "nearest")
  expect_near(compiled(basis)(new), predict(basis, new))
  x <- mtcars[c("wt", "hp", "qsec", "drat")]
  fused <- kernel_fusion(x, mtcars$mpg)
  expect_near(compiled(fused)(new_rows_of(x)), predict(fused, new_rows_of(x)))
  takes <- kernel_takes(Species ~ ., iris)
  for (takes in list(takes, kernel_takes(Species ~ ., iris, basis = "kpca", size = 4))) {
    out <- compiled(takes)(new)
    parts <- lapply(c("scores", "decision", "prob"), function(type) {
      predict(takes, as.data.frame(new), type = type)
    })
    expect_near(out[, -ncol(out)], do.call(cbind, parts))
    expect_identical(out[, ncol(out)], as.double(predict(takes, as.data.frame(new))))
  }
})

test_that("factors are indicator columns, listed in the head of the file", {
  fit <- kernel_lm(breaks ~ wool + tension, warpbreaks, size = 4)
  x <- cbind(outer(warpbreaks$wool, levels(warpbreaks$wool), `==`),
    outer(warpbreaks$tension, levels(warpbreaks$tension), `==`)) + 0
  expect_near(compiled(fit)(x), predict(fit, warpbreaks))
  file <- tempfile(fileext = ".c")
  export_c(fit, file)
  level <- c("A", "B", "L", "M", "H")
  factor <- rep(c("wool", "tension"), 2:3)
  expect_true(all(
    sprintf(" *   x[%d]  %s%s  (1 where %s is %s, else 0)", 0:4, factor, level, factor, level)
    %in% readLines(file)))
})

test_that("names of columns, levels and responses cannot leave the comment they stand in", {
  x <- random_matrix(40, 3, 8)
  new <- random_matrix(6, 3, 9)
  y <- x[, 1] + x[, 2]^2
  odd <- list(
    c("*/ int evil = 1; /*", "a\\", "*\\\n/ evil"), c("a\nb", "**//", "*??/\n/ evil"),
    c("\u00e9t\u00e9", "\u202eabc", "%s%n"), c("a\r*/", "/*/", "???/"),
    c("x\u0001", "\"q\"", "bad\xff")
  )
  for (names in odd) {
    colnames(x) <- colnames(new) <- names
    several <- kernel_lm(x, matrix(cbind(y, y^2, y^3), 40, dimnames = list(NULL, names)), size = 4)
    expect_near(compiled(several)(new), predict(several, new))
    if (!all(validUTF8(names))) next
    expect_classes(kernel_lm(x, factor(names[1 + (y > 0) + (y > 1)], names), size = 4), new)
  }
})

test_that("a class of prior zero is never predicted in C either", {
  new <- as.data.frame(new_rows_of(iris[1:4]))
  fit <- kernel_lda(Species ~ ., iris, size = 12, prior = c(0.5, 0, 0.5))
  expect_identical(compiled(fit)(new)[, 2], rep(-Inf, nrow(new)))
  out <- compiled(fit)(new)
  expect_near(out[, 4:6], predict(fit, new, type = "prob"))
  expect_identical(out[, 7], as.double(predict(fit, new)))
})

test_that("a missing value makes every output missing", {
  f <- compiled(kernel_lm(Species ~ ., iris, size = 5))
  out <- f(rbind(c(5, NA, 1, 1), c(5, 3, 1, 1)))
  expect_true(all(is.na(out[1, ])))
  expect_false(anyNA(out[2, ]))
})

test_that("what cannot be written is refused by name", {
  file <- tempfile(fileext = ".c")
  f <- kernel_lm(mpg ~ wt, mtcars, function_kernel(tcrossprod), size = 2)
  expect_error(export_c(f, file), "function_kernel", class = "kernelect_error_argument")
  g <- kernel_basis(K = gram(iris[1:20, 1:4]), size = 3)
  expect_error(export_c(g, file), "Gram", class = "kernelect_error_argument")
  expect_error(export_c(kernel_rank(Species ~ ., iris), file), "`fit`",
    class = "kernelect_error_argument")
  expect_error(export_c(lm(mpg ~ wt, mtcars), file), "`fit`", class = "kernelect_error_argument")
  fit <- kernel_lm(mpg ~ wt, mtcars, size = 2)
  expect_error(export_c(fit, file, name = "2x"), "`name`", class = "kernelect_error_argument")
  expect_error(export_c(fit), "`file` is missing", class = "kernelect_error_argument")
})

test_that("the main() of the help page compiles with the file and prints the prediction", {
  cc <- Sys.which("cc")
  if (!nzchar(cc)) skip("no C compiler")
  page <- tools::Rd_db("kernelect")[["export_c.Rd"]]
  skip_if(is.null(page), "installed without help")
  example <- tempfile(fileext = ".R")
  tools::Rd2ex(page, example)
  home <- new.env()
  utils::capture.output(source(example, home))
  main <- file.path(dirname(home$file), "main.c")
  program <- tempfile("mileage")
  writeLines(home$main, main)
  expect_lte(length(strsplit(trimws(home$main), "\n")[[1]]), 11)
  flags <- c("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
  said <- system2(cc, c(flags, shQuote(c(main, home$file)), "-o", shQuote(program), "-lm"), TRUE,
    TRUE)
  expect_identical(as.character(said), character())
  wanted <- predict(home$fit, data.frame(wt = 2.62, hp = 110))
  expect_identical(system2(program, stdout = TRUE), sprintf("%.3f miles a gallon", wanted))
})

test_that("columns that are matrices are listed one by one, with names or without", {
  d <- data.frame(y = mtcars$mpg)
  d$named <- cbind(p = mtcars$wt, q = mtcars$hp)
  d$plain <- unname(as.matrix(mtcars[3:5]))
  fit <- kernel_lm(y ~ named + plain, d, size = 4)
  export_c(fit, file <- tempfile())
  expect_identical(sum(grepl("^ \\*   x\\[[0-4]\\]", readLines(file))), 5L)
  fit$basis$input$matrices$plain <- 2^31
  expect_error(export_c(fit, tempfile()), class = "kernelect_error_model")
})

test_that("damaged probabilities are refused by class, dropped ones are left out", {
  fits <- list(kernel_lm(Species ~ ., iris, size = 5), kernel_lda(Species ~ ., iris, size = 5))
  for (fit in fits) {
    fit$calibration <- 1
    expect_error(export_c(fit, tempfile()), "calibration", class = "kernelect_error_model")
  }
  fits[[1]]$calibration <- NULL
  export_c(fits[[1]], file <- tempfile())
  expect_false(any(grepl("calibration", readLines(file))))
})

test_that("a tuned model whose winner was edited is refused by class", {
  data <- small_table()
  tuned <- suppressWarnings(kernel_tune(data$x, data$class, fit = kernel_fusion,
    grid = list(cost = 1), folds = 2))
  tuned$model$kernels <- mean
  expect_error(export_c(tuned, tempfile()), class = "kernelect_error")
})

test_that("kernels on columns without names, by place, are written with those columns", {
  x <- unname(as.matrix(iris[1:100, 1:4]))
  y <- droplevels(iris$Species[1:100])
  parts <- list(kernel_on(rbf_kernel(), 3:4), kernel_on(linear_kernel(), 1:2))
  expect_classes(kernel_fusion(x, y, parts), unname(new_rows_of(x)))
})

test_that("a model that keeps no direction is not written", {
  x <- rbind(diag(4), diag(4))
  y <- factor(rep(c("b", "a"), each = 4))
  fit <- suppressWarnings(kernel_takes(x, y, linear_kernel(), select = "kffs", scale = FALSE))
  expect_identical(fit$size, 0L)
  expect_error(export_c(fit, tempfile(fileext = ".c")), "`fit` keeps no direction",
    class = "kernelect_error_argument")
})
