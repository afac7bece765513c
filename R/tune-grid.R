# The candidates of kernel_tune(): from the user's `grid` to a table with a row a candidate.

grid_parameters <- c("kernel", "sigma", "size", "ridge", "cost")

# `kernels`, named by label, and `settings`, a data frame of the other parameters in the grid (no
# column for those that are not): every row with every kernel is a candidate.
check_grid <- function(grid, plan, rows, classify) {
  if (is.null(grid)) grid <- plan$grid(rows, classify)
  check_grid_names(grid)
  named <- is.list(grid) && !inherits(grid, "kernelect_kernel") &&
    length(names(grid)) == length(grid) && all(names(grid) %in% grid_parameters)
  if (!named || anyDuplicated(names(grid))) {
    must_be("grid", paste("a list with any of", backticked(grid_parameters)), grid)
  }
  grid <- grid[!vapply(grid, is.null, NA)]
  unknown <- setdiff(names(grid), plan$parameters)
  if (length(unknown)) {
    abort("argument", "`grid` has ", backticked(unknown), ", which ", plan$name,
          " does not: it has ", backticked(plan$parameters), ".")
  }
  settings <- list(
    cost = if (!is.null(grid$cost)) check_grid_numbers(grid$cost, "cost", above = 0),
    ridge = if (!is.null(grid$ridge)) check_grid_numbers(grid$ridge, "ridge", min = 0),
    size = if (!is.null(grid$size)) check_grid_sizes(grid$size)
  )
  settings <- settings[!vapply(settings, is.null, NA)]
  table <- if (length(settings)) rev(expand.grid(settings)) else data.frame(row.names = 1L)
  list(kernels = check_grid_kernels(grid$kernel, grid$sigma, plan), settings = table)
}

check_grid_names <- function(grid) {
  unknown <- if (is.list(grid) && !is.object(grid)) setdiff(names(grid), c(grid_parameters, ""))
  if (!length(unknown)) return(invisible())
  hint <- foreign_hint(unknown, grid_parameters)
  if ("gamma" %in% unknown) hint <- "Give `sigma`, or `kernel = list(rbf_kernel(gamma = 1))`."
  abort("argument", "`grid` must be a list with any of ", backticked(grid_parameters), ", and has ",
        backticked(unknown), ".", if (!is.null(hint)) paste0(" ", hint))
}

check_grid_numbers <- function(values, arg, min = -Inf, above = NULL) {
  good <- is.numeric(values) && length(values) > 0L && !anyNA(values) && all(values >= min) &&
    (is.null(above) || all(values > above)) && (arg == "cost" || all(is.finite(values)))
  if (!good) {
    must_be(paste0("grid$", arg), paste0("a vector of numbers", range_words(min, Inf, above)),
      values)
  }
  sort(unique(as.double(values)))
}

check_grid_sizes <- function(sizes) {
  good <- is.numeric(sizes) && length(sizes) > 0L && !anyNA(sizes) &&
    all(sizes >= 1 & sizes == trunc(sizes))
  if (!good) must_be("grid$size", "a vector of whole numbers, at least 1", sizes)
  sort(unique(as.double(sizes)))
}

# ---- kernels ---------------------------------------------------------------------------------

# Kernels crossed with widths, where they have one. Without both: the kernel the model has by
# itself.
check_grid_kernels <- function(kernels, sigma, plan) {
  if (is.null(kernels) && is.null(sigma)) return(plan$own_kernel)
  if (is.null(kernels)) kernels <- list(rbf_kernel())
  if (inherits(kernels, "kernelect_kernel") || isS4(kernels)) kernels <- list(kernels)
  if (is.character(kernels)) kernels <- as.list(kernels)
  if (!is.list(kernels)) must_be("grid$kernel", "a kernel or a list of kernels", kernels)
  if (!length(kernels)) abort("argument", "`grid$kernel` must have at least one kernel.")
  labels <- names(kernels)
  if (is.null(labels)) labels <- character(length(kernels))
  out <- Map(plan$read_kernel, kernels, labels)
  if (!is.null(sigma)) {
    sigma <- check_grid_sigma(sigma)
    out <- unlist(lapply(out, cross_sigma, sigma), recursive = FALSE, use.names = FALSE)
  }
  stats::setNames(lapply(out, `[[`, "kernel"),
                  make.unique(vapply(out, `[[`, "", "label"), sep = " #"))
}

# A kernel and what it is called in the results.
read_kernel <- function(kernel, label) {
  kernel <- as_kernel(kernel)
  list(kernel = kernel, label = if (label == "") kernel_label(kernel) else label,
    named = label != "")
}

cross_sigma <- function(entry, sigma) {
  if (is.null(entry$kernel$sigma)) return(list(entry))
  lapply(sigma, function(s) {
    kernel <- set_sigma(entry$kernel, s)
    words <- sub("^[^,]*, ", "", kernel_label(kernel))
    list(kernel = kernel, label = if (entry$named) paste(entry$label, words, sep = ", ")
         else kernel_label(kernel))
  })
}

# A list of widths: a number, or a list with `word` ("mean", "median") and `factor`.
check_grid_sigma <- function(sigma) {
  if (!length(sigma)) abort("argument", "`grid$sigma` must have at least one width.")
  lapply(unique(as.list(sigma)), function(s) {
    if (is_number(s) && is.finite(s) && s > 0) return(as.double(s))
    if (is.character(s) && length(s) == 1L && !is.na(s)) {
      if (s %in% c("mean", "median")) return(list(word = s, factor = 1))
      value <- suppressWarnings(as.numeric(sub("^x", "", s)))
      if (!is.na(value) && is.finite(value) && value > 0) {
        return(if (startsWith(s, "x")) list(word = "mean", factor = value) else value)
      }
    }
    must_be("grid$sigma", "positive numbers, or multiples of \"mean\" such as \"x0.5\"", s)
  })
}

set_sigma <- function(kernel, sigma) {
  if (is.numeric(sigma)) return(with_sigma(kernel, sigma))
  kernel <- with_sigma(kernel, sigma$word)
  if (sigma$factor == 1) kernel else scaled_sigma(kernel, sigma$factor)
}

# ---- which is best -------------------------------------------------------------------------------

# Of equal ones the smallest, then the one of larger ridge, of lower cost, the first.
simplest <- function(results, among) {
  among[order(results$size[among], -results$ridge[among], results$cost[among])][1L]
}

# `larger`: whether more is better. With "one_se" the simplest that is within a standard error of
# the best.
best_candidate <- function(results, rule = "best", larger = FALSE) {
  loss <- if (larger) -results$error else results$error
  top <- min(loss, na.rm = TRUE)
  least <- which(loss <= top + 1e-12 * abs(top))
  best <- simplest(results, least)
  if (rule == "best") return(best)
  simplest(results, which(loss <= loss[best] + results$se[best]))
}

# Parameters of the grid whose best value is its smallest or largest one: c(sigma = "smallest").
# A ridge of 0 and a size that no basis reaches are no edge.
at_edge <- function(results, best, grid, reached) {
  edge <- function(values, at) {
    values <- unique(values[!is.na(values)])
    if (length(values) < 2L || is.na(at)) return(NULL)
    if (at == min(values)) "smallest" else if (at == max(values)) "largest"
  }
  type <- function(label) kernel_name(grid$kernels[[label]])
  alike <- vapply(results$kernel, function(label) identical(type(label), type(best$kernel)), NA)
  found <- list(sigma = edge(results$sigma[alike], best$sigma))
  for (name in names(grid$settings)) found[[name]] <- edge(grid$settings[[name]], best[[name]])
  if (identical(found$ridge, "smallest") && best$ridge == 0) found$ridge <- NULL
  if (identical(found$size, "largest") && isFALSE(reached)) found$size <- NULL
  unlist(found)
}
