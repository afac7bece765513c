# Methods that judge single columns or sets of columns: Fisher, forward selection, BAHSIC.

# Two classes: eq 1 of Ramona et al.; more: between over within scatter.
rank_fisher <- function(x, y, control) {
  counts <- tabulate(y)
  means <- rowsum(x, as.integer(y), reorder = TRUE) / counts
  within <- rowsum((x - means[as.integer(y), , drop = FALSE])^2, as.integer(y), reorder = TRUE)
  score <- if (length(counts) == 2L) {
    (means[1L, ] - means[2L, ])^2 / colSums(within / (counts - 1))
  } else {
    colSums(counts * (means - rep(colMeans(x), each = length(counts)))^2) / colSums(within)
  }
  method_result(unname(score))
}

# ---- forward selection by alignment of the product kernel -----------------------------

rank_forward <- function(x, y, control) {
  problem <- subset_problem(x, y, control, "alignment")
  columns <- ncol(x)
  tick <- progress(control$verbose, columns - 2L) # the first two come together
  first <- best_pair(problem, columns, control$threads)
  order <- first$order
  values <- first$values
  while (length(order) < columns) {
    tick()
    chosen <- replace(numeric(columns), order, 1)
    sums <- subset_extend(problem, chosen, control$threads)
    value <- alignment_of(sums, problem)
    value[order] <- -Inf
    order <- c(order, which.max(value))
    values <- c(values, max(value))
  }
  tick(close = TRUE)
  ordinal_result(order, values, order)
}

# The pair of columns whose product kernel aligns best, the better single column first.
best_pair <- function(problem, columns, threads) {
  sums <- .Call(ffi_subset_pairs, problem$x, problem$u, problem$kernel, threads)
  value <- alignment_of(sums, problem)
  single <- value[seq_len(columns), columns + 1L]
  if (columns == 1L) return(list(order = 1L, values = single))
  pairs <- value[seq_len(columns), seq_len(columns)]
  pairs[upper.tri(pairs, diag = TRUE)] <- -Inf
  at <- arrayInd(which.max(pairs), dim(pairs))[2:1] # column-major below the diagonal: lowest first
  at <- at[order(-single[at], at)]
  list(order = at, values = c(single[at[1L]], max(pairs)))
}

subset_extend <- function(problem, chosen, threads) {
  .Call(ffi_subset_extend, problem$x, problem$u, problem$kernel, chosen, threads)
}

alignment_of <- function(sums, problem) {
  value <- sums$target / (problem$spec$constant * sqrt(sums$self))
  value[is.nan(value)] <- -Inf # a product kernel that is zero throughout
  value
}

# Weights of the kernel go into the columns: a search over sets knows none.
subset_problem <- function(x, y, control, criterion) {
  kernel <- control$kernel
  if (!is.null(kernel$weights)) x <- x * rep(unname(kernel$weights), each = nrow(x))
  criterion_problem(x, y, kernel, criterion, control$target)
}

# `order`: best column first; `taken`: the column of each step of the path.
ordinal_result <- function(order, values, taken) {
  method_result(
    score = length(order) + 1 - order(order), value = max(values), ordinal = TRUE,
    path = data.frame(iteration = seq_along(taken), value = values, step = taken)
  )
}

# ---- backward elimination by HSIC ------------------------------------------------------

rank_bahsic <- function(x, y, control) {
  control$target <- "balanced"
  problem <- subset_problem(x, y, control, "hsic")
  by_gram <- control$kernel$type %in% c("spline", "function")
  without <- if (by_gram) hsic_without_by_gram else hsic_without
  left <- seq_len(ncol(x))
  removed <- values <- NULL
  tick <- progress(control$verbose, ncol(x) - 1L)
  while (length(left) > 1L) {
    tick()
    value <- without(problem, left, control)
    worst <- length(left) + 1L - which.max(rev(value)) # of equals the last goes, the first stays
    removed <- c(removed, left[worst])
    values <- c(values, value[worst])
    left <- left[-worst]
  }
  tick(close = TRUE)
  if (is.null(removed)) return(method_result(1, ordinal = TRUE))
  ordinal_result(c(left, rev(removed)), values, removed)
}

# HSIC of the kernel on the columns left but one, for each of them.
hsic_without <- function(problem, left, control) {
  chosen <- replace(numeric(ncol(problem$x)), left, 1)
  .Call(ffi_subset_reduce, problem$x, problem$u, problem$kernel, chosen, control$threads)[left]
}

hsic_without_by_gram <- function(problem, left, control) {
  kernel <- control$kernel
  kernel$weights <- NULL
  target <- tcrossprod(problem$u)
  vapply(left, function(d) {
    x <- problem$x[, setdiff(left, d), drop = FALSE]
    sum(gram_matrix(x, kernel, threads = control$threads) * target)
  }, 0)
}
