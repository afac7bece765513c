# A small call of every native entry point, for runs under valgrind and gctorture:
#   Rscript tools/entries.R            (R -d valgrind -f tools/entries.R)
#   Rscript tools/entries.R torture    (each call again with a collection at every allocation)
# Fails when an entry point is registered that nothing here reaches.
library(kernelect)
source(file.path("tests", "testthat", "helper-catalogue.R"))

# A copy of the package's R code whose .Call remembers what it was called with.
entries <- names(getDLLRegisteredRoutines("kernelect")$.Call)
recorded <- stats::setNames(vector("list", length(entries)), entries)
home <- new.env(parent = asNamespace("kernelect"))
home$.Call <- function(entry, ...) {
  name <- entry$name
  if (length(recorded[[name]]) < 12L) {
    recorded[[name]] <<- c(recorded[[name]], list(list(entry, ...)))
  }
  base::.Call(entry, ...)
}
for (file in list.files("R", full.names = TRUE)) sys.source(file, home)
package_home <- function() home
for (method in ls(home, pattern = "[.](default|formula)$")) {
  assign(method, home[[method]]) # dispatch looks here first
}

calls <- quote({
  data <- small_table(12)
  x <- data$x
  K <- gram(x)
  gram(x, laplace_kernel(1), z = x[1:3, ], threads = 2)
  gram(abs(x), spline_kernel())
  gram(x, polynomial_kernel(2))
  gram(x, sigmoid_kernel())
  kernel_alignment(K, data$class)
  for (method in basis_methods) {
    basis <- kernel_basis(x, method = method, size = 4, center = "nearest")
  }
  kernel_basis(K = K, size = 4, first = Inf)
  kernel_basis(x, function_kernel(tcrossprod), size = 2)
  predict.kernel_basis(basis, x, "residual")
  for (entry in fits()) entry$call(x, response_for(entry, data))
  if (exists("kernel_rank")) {
    for (method in eval(formals(kernel_rank.default)$method)) {
      kernel_rank(x, data$class, method = method, max_iter = 2)
    }
  }
  if (exists("kernel_fusion")) {
    kernel_fusion(x, data$class, max_iter = 2)
    kernel_fusion(y = data$number, kernels = list(a = K, b = K^2), max_iter = 2)
  }
  if (exists("kernel_pca")) kernel_pca(x, basis = NULL, ncomp = 2)
  if (exists("kernel_lm")) kernel_lm(x, data$class)
  if (exists("kernel_takes")) {
    for (select in c("kffs", "relief")) {
      predict.kernel_takes(kernel_takes(x, data$class, select = select, size = "loo"), x)
    }
  }
})
suppressWarnings(suppressMessages(eval(calls, new.env(parent = home))))

# The calls that the tests of the glue make: they reach what small data do not.
tests <- new.env(parent = home)
for (stem in c("data", "tamper", "glue")) {
  sys.source(file.path("tests", "testthat", sprintf("helper-%s.R", stem)), tests)
}
for (name in c("glue_calls", "body_calls")) {
  calls <- tests[[name]]()
  for (entry in names(calls)) {
    do.call(home$.Call, c(list(get(entry, home)), calls[[entry]][[1L]]))
  }
}
for (entry in c("ffi_threads_born", "ffi_borrowed")) home$.Call(get(entry, home))
basis <- kernel_basis(as_row_source(small_table(12)$x, rows = 5), size = 4)

missed <- entries[!lengths(recorded)]

# The same must come out when every allocation collects what is not protected. Some entries
# work in place: each replay has arguments of its own.
fresh <- function(a) if (is.function(a) ||
  inherits(a, "NativeSymbolInfo")) a else unserialize(serialize(a, NULL))

replay <- function(arguments, step) {
  set.seed(1)
  arguments <- lapply(arguments, fresh)
  gctorture2(step)
  on.exit(gctorture2(0L))
  tryCatch(do.call(.Call, arguments), error = conditionMessage)
}
again <- if ("torture" %in% commandArgs(TRUE)) unlist(recorded, recursive = FALSE)
same <- vapply(again, function(a) isTRUE(all.equal(replay(a, 0L), replay(a, 1L), tolerance = 1e-7)),
  NA)
differ <- sum(!same)
if (differ) cat("differ:", vapply(again[!same], function(a) a[[1L]]$name, ""), "\n")
cat(sprintf("entries: %d of %d entry points called, %d calls again under gctorture, %d differ%s\n",
  length(entries) - length(missed),
  length(entries), length(again), differ,
  if (length(missed)) paste0("; not reached: ", paste(missed, collapse = ", ")) else ""))
quit(status = as.integer(length(missed) > 0 || differ > 0))
