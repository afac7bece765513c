# Every exported function as a call on a table `x` and a response `y`, so that a test can run
# over all of them. test-hostile.R fails when an exported function is missing here.

exported <- function() sort(getNamespaceExports("kernelect"))

# Where the functions are taken from: tools/entries.R puts a copy here.
package_home <- function() asNamespace("kernelect")

# Deterministic rows without ties: two informative columns and one of noise.
small_table <- function(n = 24) {
  t <- seq_len(n)
  x <- cbind(a = sin(t), b = cos(1.7 * t) + (t %% 2), c = (t * 0.618) %% 1)
  list(x = x, class = factor(c("no", "yes")[1 + t %% 2]), number = sin(t) + 0.3 * cos(5 * t))
}

# Fits: `call` takes x, y and more arguments; `y` says which response it wants. A call on a
# formula and a data frame goes through `formula`.
fit_entry <- function(name, y, ...) {
  more <- list(...)
  run <- function(...) do.call(get(name, package_home()), c(list(...), more))
  list(y = y, formula = run, call = if (y == "none") function(x, y, ...) run(x, ...) else run)
}

all_fits <- list(
  kernel_basis = fit_entry("kernel_basis", "none"),
  kernel_pca = fit_entry("kernel_pca", "none"),
  kernel_lm = fit_entry("kernel_lm", "number"),
  kernel_lda = fit_entry("kernel_lda", "class"),
  kernel_takes = fit_entry("kernel_takes", "class"),
  kernel_tune = fit_entry("kernel_tune", "number", folds = 3),
  kernel_rank = fit_entry("kernel_rank", "class", max_iter = 5),
  kernel_fusion = fit_entry("kernel_fusion", "number")
)

# Functions of a table or a Gram matrix that fit nothing.
all_measures <- list(
  gram = list(y = "none", call = function(x, y, ...) gram(x, ...)),
  kernel_alignment = list(y = "class", call = function(x, y, ...) kernel_alignment(x, y, ...)),
  kernel_separability = list(y = "class",
    call = function(x, y, ...) kernel_separability(x, y, ...)),
  kernel_hsic = list(y = "class", call = function(x, y, ...) kernel_hsic(x, y, ...))
)

# Functions of numbers alone: only their arguments can be hostile.
all_makers <- c(
  "as_kernel", "function_kernel", "kernel_on", "laplace_kernel", "linear_kernel", "noise_kernel",
  "polynomial_kernel", "rbf_kernel", "sigmoid_kernel", "simulate_circles", "simulate_fusion",
  "simulate_sinc", "simulate_two_gaussians", "simulate_weston", "spline_kernel"
)

present <- function(table) table[names(table) %in% exported()]
fits <- function() present(all_fits)
measures <- function() present(all_measures)
makers <- function() intersect(all_makers, exported())

response_for <- function(entry, data) switch(entry$y, class = data$class, number = data$number)

# Run a call to its end and say how it ended: its value, its classed error, or how it broke the
# rules (an error without class). Warnings are kept by class; messages and plots are dropped.
attempt <- function(expr) {
  warnings <- character()
  value <- NULL
  error <- tryCatch(
    withCallingHandlers(
      suppressMessages({
        value <- expr
        NULL
      }),
      warning = function(w) {
        warnings <<- c(warnings,
          if (inherits(w, "kernelect_warning")) class(w)[1L] else paste("UNCLASSED",
            conditionMessage(w)))
        tryInvokeRestart("muffleWarning")
      }
    ),
    error = identity
  )
  list(value = value, error = error, warnings = unique(warnings))
}

is_classed <- function(e) inherits(e, "kernelect_error")

# Non-finite numbers anywhere in a result that must have none.
has_nonfinite <- function(v) {
  numbers <- unlist(if (is.list(v)) rapply(unclass(v), as.double, "numeric", how = "unlist") else v)
  is.numeric(numbers) && !all(is.finite(numbers))
}

in_words <- function(v) {
  if (is.matrix(v)) return(paste(nrow(v), "x", ncol(v), typeof(v)))
  if (is.data.frame(v)) return(paste("data frame of", nrow(v), "rows"))
  if (is.object(v)) return(class(v)[1L])
  if (is.list(v)) return(paste("list of", length(v)))
  paste(typeof(v), length(v))
}

# One model of every class and route, with new rows for it: what a file of saved models may hold.
example_models <- function() {
  data <- small_table()
  frame <- data.frame(data$x, f = factor(rep(c("u", "v", "w"), 8)))
  K <- gram(data$x)
  quiet <- function(expr) suppressMessages(suppressWarnings(expr))
  basis <- list(
    "basis" = list(kernel_basis(data$x, size = 6), data$x),
    "basis, centred, formula" = list(
      kernel_basis(~ log(a + 2) + poly(b, 2) + f, frame, size = 5, center = "nearest",
        neighbours = 2), frame),
    "basis, weights, data frame" = list(
      kernel_basis(frame[1:3], polynomial_kernel(2, weights = c(a = 1, b = 2, c = 0.5)),
        method = "cholesky", size = 4, scale = FALSE), frame),
    "basis, Gram matrix" = list(kernel_basis(K = K, method = "kobl", size = 4, center = "nearest"),
      K[1:5, ])
  )
  plain <- lapply(fits()[setdiff(names(fits()), "kernel_basis")], function(entry) {
    list(quiet(entry$call(data$x, response_for(entry, data))), data$x)
  })
  routes <- lapply(fits()[setdiff(names(fits()), c("kernel_basis", "kernel_tune"))],
    function(entry) {
    y <- response_for(entry, data)
    list(quiet(if (is.null(y)) entry$formula(~ a + b + f, frame) else entry$formula(y ~ a + b + f,
      data.frame(frame, y = y))), frame)
  })
  names(routes) <- paste0(names(routes), rep(", formula", length(routes)))
  more <- list(
    "kernel_pca, all rows" = list(kernel_pca(data$x, basis = NULL), data$x),
    "kernel_lm, classes" = list(quiet(kernel_lm(frame, data$class, size = 5)), frame),
    "kernel_takes, kpca, relief" = list(
      quiet(kernel_takes(data$x, data$class, basis = "kpca", select = "relief")), data$x),
    "kernel_rank, rfe, resamples" = list(
      quiet(kernel_rank(data$x, data$class, method = "rfe", resample = 3)), data$x),
    "kernel_fusion, classes, kernels" = list(
      quiet(kernel_fusion(data$x, data$class,
        list(rbf_kernel(1), kernel_on(linear_kernel(), 1:2)))), data$x),
    "kernel_fusion, Gram matrices" = list(
      quiet(kernel_fusion(y = data$number, kernels = list(a = K, b = K^2))),
      list(a = K[1:5, ], b = K[1:5, ]^2)),
    "kernel_fusion, basis" = list(
      quiet(kernel_fusion(data$x, data$class, list(rbf_kernel(1), rbf_kernel(3)), basis = "fvs",
        size = 8)), data$x),
    "kernel_tune, fusion" = list(
      quiet(kernel_tune(data$x, data$class, fit = kernel_fusion, grid = list(cost = c(0.1, 1)),
        folds = 3)), data$x),
    "kernel_lm, row source" = list(
      quiet(kernel_lm(y ~ ., as_row_source(data.frame(data$x, y = data$number), rows = 7),
        size = 5)), frame)
  )
  c(basis, plain, routes, more)
}
