# What the package answers, on record, and a comparison with it:
#   Rscript tools/golden.R record [file]     Rscript tools/golden.R compare [file]
# Ten data sets, every fit with its arguments spelt out: defaults may improve, but the answer to the
# same question may not change behind a user's back. Record before a redesign (with R_LIBS pointing
# to the package as it is), compare after every step. Picks and rankings are to be identical,
# numbers equal to 1e-12 of the largest, or 1e-9 where they come from a solve or an iteration.
args <- commandArgs(TRUE)
file <- if (length(args) > 1L) args[2L] else file.path("out", "golden.rds")
suppressMessages(library(kernelect))

from <- function(name, package) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

# `x`, classes `y` and numbers `v`.
data_sets <- function() {
  circles <- simulate_circles(120, seed = 3)
  weston <- simulate_weston(60, seed = 2, type = "nonlinear")
  sonar <- from("Sonar", "mlbench")
  glass <- from("Glass", "mlbench")
  list(
    iris = list(x = iris[1:4], y = iris$Species, v = iris$Sepal.Length),
    sonar = list(x = sonar[1:60], y = sonar$Class, v = sonar$V11 + sonar$V12),
    pima = list(x = MASS::Pima.tr[1:7], y = MASS::Pima.tr$type, v = MASS::Pima.tr$bmi),
    glass = list(x = glass[1:9], y = glass$Type, v = glass$RI),
    crabs = list(x = MASS::crabs[4:8], y = MASS::crabs$sex, v = MASS::crabs$FL),
    cars = list(x = mtcars[-1], y = factor(mtcars$cyl), v = mtcars$mpg),
    factors = list(x = warpbreaks[c("wool", "tension")], y = factor(warpbreaks$breaks > 26),
                   v = warpbreaks$breaks),
    circles = list(x = circles[c("x1", "x2")], y = factor(circles$y), v = circles$x1),
    weston = list(x = weston[setdiff(names(weston), "y")][1:20], y = factor(weston$y),
                  v = weston[[1L]]),
    swiss = list(x = swiss[-1L], y = factor(swiss$Fertility > 70), v = swiss$Fertility)
  )
}

# The value of an expression, or the class of its error.
quietly <- function(expr) {
  suppressWarnings(suppressMessages(tryCatch(expr, error = function(e) class(e)[1L])))
}

numbers <- function(v) if (is.character(v)) v else as.numeric(unlist(unclass(v)))

fields <- function(fit, ...) {
  if (is.character(fit)) return(fit)
  lapply(stats::setNames(nm = c(...)), function(name) numbers(fit[[name]]))
}

gram_answers <- function(d) {
  x <- scale(data.matrix(d$x))
  kernels <- list(
    rbf = rbf_kernel(), median = rbf_kernel("median"), laplace = laplace_kernel(),
    linear = linear_kernel(), polynomial = polynomial_kernel(2), sigmoid = sigmoid_kernel(0.01)
  )
  lapply(kernels, function(kernel) {
    K <- gram(x, kernel)
    list(K = numbers(K), criteria = quietly(c(
      kernel_alignment(K, d$y), kernel_alignment(K, d$y, "plain"), kernel_separability(K, d$y),
      kernel_hsic(K, d$y)
    )))
  })
}

basis_answers <- function(d, new) {
  one <- function(...) {
    basis <- quietly(kernel_basis(d$x, ..., size = 15, tol = 0.001))
    if (is.character(basis)) return(basis)
    found <- fields(basis, "index", "path", "center_index")
    # residuals are differences of kernel values: compared beside those
    found$kernel <- numbers(predict(basis, new, type = "kernel"))
    found$residual <- c(max(basis$path$pivot), numbers(predict(basis, new, type = "residual")))
    found
  }
  list(
    fvs = one(method = "fvs"), cholesky = one(laplace_kernel(), method = "cholesky"),
    kobl = one(polynomial_kernel(2), method = "kobl"), kgs = one(method = "kgs"),
    centred = one(method = "fvs", center = "nearest", neighbours = 3)
  )
}

model_answers <- function(d, new) {
  pca <- kernel_pca(d$x, ncomp = 3)
  answers <- list(pca = fields(pca, "values", "sdev"))
  for (ridge in c(0, 0.1)) {
    for (y in list(d$y, d$v)) {
      fit <- quietly(kernel_lm(d$x, y, size = 12, ridge = ridge, tol = 0.001))
      answers[[length(answers) + 1L]] <- list(
        fields(fit, "fitted.values"), quietly(numbers(predict(fit, new, type = "response")))
      )
    }
  }
  fit <- quietly(kernel_lda(d$x, d$y, size = 12, ridge = 1e-6))
  answers$lda <- list(fields(fit, "values", "prior"), quietly(as.character(predict(fit, new))))
  answers
}

rank_answers <- function(d) {
  kernel <- rbf_kernel(sigma = 1.5)
  one <- function(method, ...) {
    fields(quietly(kernel_rank(d$x, d$y, method = method, ...)), "score", "ranking")
  }
  list(
    kfds = one("kfds"), fisher = one("fisher"), rfe = one("rfe"), arom = one("arom"),
    bahsic = one("bahsic", kernel = kernel), forward = one("forward", kernel = kernel),
    fusion = fields(quietly(kernel_fusion(d$x, d$v, max_iter = 3)), "weights", "intercept")
  )
}

answers <- function(d) {
  new <- d$x[seq(1L, nrow(d$x), by = 7L), , drop = FALSE]
  list(gram = gram_answers(d), basis = basis_answers(d, new), model = model_answers(d, new),
       rank = rank_answers(d))
}

# The largest difference, relative to the largest number of its vector; Inf where shapes differ.
apart <- function(a, b) {
  if (is.list(a) && is.list(b) && length(a) == length(b)) {
    return(max(0, unlist(Map(apart, a, b))))
  }
  if (is.character(a) || is.character(b)) return(if (identical(a, b)) 0 else Inf)
  if (length(a) != length(b) || !identical(is.na(a), is.na(b))) return(Inf)
  max(0, abs(a - b), na.rm = TRUE) / max(abs(a), 1e-300, na.rm = TRUE)
}

now <- lapply(data_sets(), answers)
if (args[1L] == "record") {
  dir.create(dirname(file), showWarnings = FALSE)
  saveRDS(now, file)
  cat("golden:", length(unlist(now)), "values recorded\n")
} else {
  then <- readRDS(file)
  limits <- c(gram = 1e-12, basis = 1e-10, model = 1e-9, rank = 1e-9)
  bad <- 0L
  count <- 0L
  for (set in names(then)) {
    for (part in names(limits)) {
      for (name in seq_along(then[[set]][[part]])) {
        count <- count + 1L
        far <- apart(then[[set]][[part]][[name]], now[[set]][[part]][[name]])
        if (far <= limits[[part]]) next
        bad <- bad + 1L
        cat(sprintf("%-8s %-6s %-10s %.2g\n", set, part,
          c(names(then[[set]][[part]])[name], name)[1L],
                    far))
      }
    }
  }
  cat(sprintf("golden: %d of %d answers differ\n", bad, count))
  quit(status = bad > 0L)
}
