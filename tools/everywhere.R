# The same answer everywhere:  Rscript tools/everywhere.R
# Every model is fitted in fresh processes on OpenBLAS and on the reference BLAS, with 1 and 2
# threads, in the C and a UTF-8 locale, and with several block sizes of the engine. Selections
# (row and column numbers, classes, sizes) must be identical and numbers agree to 1e-10.
args <- commandArgs(TRUE)

everything <- function(threads) {
  library(kernelect)
  options(kernelect.threads = threads)
  quiet <- function(expr) suppressMessages(suppressWarnings(expr))
  x <- as.matrix(iris[1:4])
  colnames(x) <- c("\u00e9tamine", "b", "c", "d")
  y <- iris$Species
  two <- droplevels(y[51:150])
  big <- vapply(1:6, function(k) sin(1:3000 * sqrt(k + 1)), numeric(3000))
  out <- list(gram = gram(x),
    criteria = c(kernel_alignment(gram(x), y), kernel_hsic(gram(x), y),
      kernel_separability(gram(x), y)))
  for (method in c("fvs", "cholesky", "kobl", "kgs")) {
    out[[paste("basis", method)]] <-
      use(quiet(kernel_basis(big, rbf_kernel(1), method, size = 200)), big[1:50, ])
  }
  set.seed(1)
  out$random <- use(quiet(kernel_basis(big, rbf_kernel(1), "random", size = 100)), big[1:50, ])
  out$centred <- use(quiet(kernel_basis(x, size = 20, center = "nearest", neighbours = 3)), x)
  out$pca <- use(kernel_pca(x, ncomp = 3), x)
  out$lm <- use(kernel_lm(x[, -1], x[, 1]), x)
  out$classes <- use(kernel_lm(x, y), x)
  out$lda <- use(kernel_lda(x, y), x)
  out$takes <- use(kernel_takes(x, y), x)
  out[paste("spam", c("kobl", "kgs", "kpca"))] <- spam_classes()
  out$tune <- use(quiet(kernel_tune(x[, -1], x[, 1], folds = 4)), x)
  for (method in c("sas", "scss", "sfs", "kfds", "fisher", "rfe", "arom", "r2w2", "bahsic",
    "forward", "fusion")) {
    out[[paste("rank", method)]] <-
      quiet(kernel_rank(x[51:150, ], two, method = method))[c("ranking", "score")]
  }
  out$fusion <- use(quiet(kernel_fusion(x[, -1], x[, 1])), x)
  out$fusion_classes <- use(quiet(kernel_fusion(x[51:150, ], two)), x)
  out$source <- use(quiet(kernel_basis(as_row_source(big, rows = 700), rbf_kernel(1), size = 200)),
    big[1:50, ])
  out$sparse <- use(quiet(kernel_basis(Matrix::Matrix(replace(big, big < 0.3, 0), sparse = TRUE),
    rbf_kernel(1), size = 100, scale = FALSE)), big[1:50, ])
  out$fusion_basis <- use(quiet(kernel_fusion(x[51:150, ], two, list(rbf_kernel(1), rbf_kernel(4)),
    basis = "cholesky", size = 20)), x)
  out$fusion_tuned <- use(quiet(kernel_tune(x[51:150, ], two, fit = kernel_fusion,
    grid = list(cost = c(0.1, 1)), folds = 3)), x)
  out$effect <- plot_effect(kernel_lm(Sepal.Length ~ ., iris, size = 20), iris, "Petal.Width",
    draw = FALSE)$mean
  rapply(out, function(v) if (is.factor(v)) as.character(v) else v, how = "replace")
}

# Real rows, many of them nearly equal in the kernel space: scores at rounding level once let the
# BLAS choose the nearest one. Classes of 920 rows, for each basis.
spam_classes <- function() {
  if (!requireNamespace("kernlab", quietly = TRUE)) return(list(NULL, NULL, NULL))
  utils::data("spam", package = "kernlab", envir = environment())
  test <- seq(5, nrow(spam), by = 5)[1:920]
  train <- setdiff(seq(1, nrow(spam), by = 3), test)
  lapply(c("kobl", "kgs", "kpca"), function(basis) {
    fit <- suppressMessages(suppressWarnings(
      kernel_takes(spam[train, -58], spam$type[train], basis = basis)
    ))
    list(directions = fit$directions, classes = predict(fit, spam[test, -58]))
  })
}

use <- function(model, new) list(index = model$index,
  size = if (is.list(model$basis)) length(model$basis$index), # of a fusion only its name
  answer = unname(predict(model, new)))

# The largest difference of numbers; Inf where whole numbers or texts differ.
largest_difference <- function(a, b) {
  if (is.list(a)) return(max(0, unlist(Map(largest_difference, a, b))))
  if (is.null(a)) return(if (is.null(b)) 0 else Inf)
  if (is.double(a) && length(a) == length(b)) return(max(0, abs(a - b) / pmax(1, abs(b))))
  if (identical(a, b)) 0 else Inf
}

child <- function(file, threads) saveRDS(everything(threads), file)

settings <- list(
  list(name = "reference BLAS, 1 thread, C", blas = "reference", threads = 1, locale = "C"),
  list(name = "reference BLAS, 2 threads, C", blas = "reference", threads = 2, locale = "C"),
  list(name = "reference BLAS, 1 thread, UTF-8", blas = "reference", threads = 1,
    locale = "C.UTF-8"),
  list(name = "OpenBLAS, 1 thread, C", blas = "openblas", threads = 1, locale = "C"),
  list(name = "OpenBLAS, 2 threads, UTF-8", blas = "openblas", threads = 2, locale = "C.UTF-8"),
  list(name = "7 candidates", blas = "reference", threads = 1, locale = "C", candidates = 7),
  list(name = "100 candidates", blas = "openblas", threads = 1, locale = "C", candidates = 100)
)

run <- function(s) {
  file <- tempfile()
  start <- if (is.null(s$candidates)) "" else sprintf("options(kernelect.candidates = %d)",
    s$candidates)
  profile <- tempfile()
  writeLines(start, profile)
  status <- system2("tools/with-blas",
    c(s$blas, file.path(R.home("bin"), "Rscript"), "--no-init-file", "tools/everywhere.R", "child",
      file, s$threads),
    env = c(paste0("LC_ALL=", s$locale), paste0("R_PROFILE=", profile)))
  if (status != 0) stop("the process for '", s$name, "' failed", call. = FALSE)
  readRDS(file)
}

if (length(args) && args[1L] == "child") {
  child(args[2L], as.integer(args[3L]))
} else {
  answers <- lapply(settings, run)
  base <- answers[[1L]]
  allowed <- 1e-10
  table <- vapply(names(base),
    function(part) vapply(answers[-1L], function(a) largest_difference(a[[part]], base[[part]]), 0),
    numeric(length(answers) - 1L))
  for (i in seq_len(nrow(table))) {
    off <- colnames(table)[table[i, ] > allowed]
    cat(sprintf("%-34s largest difference %.1e%s\n", settings[[i + 1L]]$name, max(table[i, ]),
      if (length(off)) paste0("  TOO FAR: ", paste(off, collapse = ", ")) else ""))
  }
  beyond <- sum(table > allowed)
  cat(sprintf("everywhere: %d results in %d settings, %d too far\n", ncol(table), nrow(table) + 1L,
    beyond))
  quit(status = as.integer(beyond > 0L))
}
