# Methods that judge single columns or sets of columns: Fisher, forward selection, BAHSIC.

# Two classes: eq 1 of Ramona et al.; more: between over within scatter.
rank_fisher <- function(x, y, control) {
  method_result(unname(for_columns(x, function(part) fisher_scores(part, as.integer(y)))))
}

fisher_scores <- function(x, y) {
  counts <- tabulate(y)
  moments <- class_moments(x, y, counts)
  means <- moments$means
  within <- moments$within
  if (length(counts) == 2L) {
    return((means[1L, ] - means[2L, ])^2 / colSums(within / (counts - 1)))
  }
  overall <- colSums(counts * means) / sum(counts)
  colSums(counts * (means - rep(overall, each = length(counts)))^2) / colSums(within)
}

# Means and sums of squared deviations from them, a row a class.
class_moments <- function(x, y, counts) {
  if (is_sparse(x)) {
    parts <- lapply(seq_along(counts), function(k) sparse_moments(x[y == k, , drop = FALSE]))
    return(list(means = do.call(rbind, lapply(parts, `[[`, "mean")),
                within = do.call(rbind, lapply(parts, `[[`, "squares"))))
  }
  means <- rowsum(x, y, reorder = TRUE) / counts
  list(means = means, within = rowsum((x - means[y, , drop = FALSE])^2, y, reorder = TRUE))
}

# ---- forward selection by alignment of the product kernel -----------------------------

# The first `n` columns one by one; the others by their value as the next one.
rank_forward <- function(x, y, control) {
  space <- set_space(x, y, control, "alignment")
  columns <- ncol(x)
  wanted <- min(control$n, columns)
  tick <- progress(control$verbose, wanted - 2L) # the first two come together
  first <- best_pair(space, columns)
  order <- first$order
  values <- first$values
  while (length(order) < wanted) {
    tick()
    best <- space$best(order)
    order <- c(order, best$column)
    values <- c(values, best$value)
  }
  tick(close = TRUE)
  rest <- setdiff(seq_len(columns), order)
  if (length(rest)) rest <- rest[order(-space$extended(order)[rest], rest)]
  ordinal_result(c(order, rest), values, order)
}

# The pair of columns whose product kernel aligns best, the better single column first.
best_pair <- function(space, columns) {
  if (columns == 1L) return(list(order = 1L, values = space$single(1L)))
  pair <- space$pair()
  single <- space$single(pair$columns)
  first <- order(-single, pair$columns)
  list(order = pair$columns[first], values = c(max(single), pair$value))
}

# The best entry below the diagonal of a matrix of values; of equals that of the lowest columns.
best_entry <- function(value) {
  value[upper.tri(value, diag = TRUE)] <- -Inf
  list(columns = arrayInd(which.max(value), dim(value))[2:1], value = max(value))
}

# What a search needs to know of sets of columns, all as functions: the criterion of a set with
# each column added (`extended`; -Inf for members) or taken out (`reduced`), the `best` column to
# add, the criterion of single columns, and the best pair.
set_space <- function(x, y, control, criterion) {
  make <- if (control$follows) following_space else fixed_space
  make(subset_problem(x, y, control, criterion), control)
}

alignment_of <- function(sums, problem) {
  value <- sums$target / (problem$spec$constant * sqrt(sums$self))
  value[is.nan(value)] <- -Inf # a product kernel that is zero throughout
  value
}

# Weights of the kernel go into the columns: a search over sets knows none.
subset_problem <- function(x, y, control, criterion) {
  kernel <- control$kernel
  if (!is.null(kernel$weights)) x <- weigh_columns(row_numbers(x), kernel$weights)
  criterion_problem(x, y, kernel, criterion, control$target)
}

# One kernel for all sets.
fixed_space <- function(problem, control) {
  columns <- ncol(problem$x)
  chosen <- function(set) replace(numeric(columns), set, 1)
  single <- function(set) {
    sums <- .Call(ffi_subset_extend, problem$x[, set, drop = FALSE], problem$u,
                  core_columns(problem$kernel, set), numeric(length(set)), control$threads)
    alignment_of(sums, problem)
  }
  extended <- function(set) {
    sums <- .Call(ffi_subset_extend, problem$x, problem$u, problem$kernel, chosen(set),
                  control$threads)
    replace(alignment_of(sums, problem), set, -Inf)
  }
  list(
    extended = extended,
    best = function(set) best_column(extended(set)),
    single = single,
    pair = function() {
      best_of_pairs(problem, single, control, all_pairs, function(e, others) {
        sums <- .Call(ffi_subset_extend, problem$x[, c(e, others), drop = FALSE], problem$u,
                      core_columns(problem$kernel, c(e, others)), c(1, numeric(length(others))),
                      control$threads)
        alignment_of(sums, problem)[-1L]
      })
    },
    reduced = function(set) {
      .Call(ffi_subset_reduce, problem$x, problem$u, problem$kernel, chosen(set),
            control$threads)[set]
    }
  )
}

# An RBF kernel with sigma half of "mean" of the columns in the set: gamma = 2 / their variances.
following_space <- function(problem, control) {
  variance <- control$variance
  flip <- function(x, set, gamma, rough = FALSE) {
    chosen <- replace(numeric(ncol(x)), set, 1)
    .Call(ffi_flip_sums, x, problem$u, chosen, gamma, rough, control$threads)
  }
  added <- function(set) replace(2 / (sum(variance[set]) + variance), set, 0)
  extended <- function(set) {
    replace(alignment_of(flip(problem$x, set, added(set)), problem), set, -Inf)
  }
  far <- NULL # largest absolute value of every column
  likely <- function(set) {
    if (is.null(far)) far <<- apply(problem$x, 2L, function(x) max(abs(x)))
    gamma <- added(set)
    others <- setdiff(seq_along(gamma), set)
    sums <- lapply(flip(problem$x, set, gamma, rough = TRUE), `[`, others)
    value <- alignment_of(sums, problem)
    off <- rough_error(far[others] * sqrt(gamma[others]), nrow(problem$x), sums$self)
    off[!(far[others] * sqrt(max(gamma)) < 1e15)] <- Inf # beyond what floats can tell
    others[value + off >= max(value - off)]
  }
  single <- function(set) {
    alignment_of(flip(problem$x[, set, drop = FALSE], integer(), 2 / variance[set]), problem)
  }
  pairs_of <- function(e, others) {
    gamma <- c(0, 2 / (variance[e] + variance[others]))
    alignment_of(flip(problem$x[, c(e, others), drop = FALSE], 1L, gamma), problem)[-1L]
  }
  list(
    extended = extended,
    best = function(set) {
      if (length(variance) - length(set) < rank_many) return(best_column(extended(set)))
      those <- likely(set)
      columns <- c(set, those)
      sums <- flip(problem$x[, columns, drop = FALSE], seq_along(set), added(set)[columns])
      best <- best_column(alignment_of(sums, problem)[-seq_along(set)])
      list(column = those[best$column], value = best$value)
    },
    single = single,
    pair = function() {
      even <- are_even(variance, nrow(problem$x)) # then one width serves all pairs
      problem$kernel <- core_kernel(rbf_kernel(gamma = 1 / max(variance)))
      best_of_pairs(problem, single, control, if (even) all_pairs, pairs_of)
    },
    reduced = function(set) {
      left <- sum(variance[set]) - variance[set]
      flip(problem$x[, set, drop = FALSE], seq_along(set), 2 / left)$target # not the columns gone
    }
  )
}

best_column <- function(value) list(column = which.max(value), value = max(value))

# Most that alignments from sums in single precision are off by, where a kernel value is off by at
# most 1e-6 (1 + far) (src/flip.c): by that times n over the length of the n x n kernel matrix in
# the product with the target, by as much again in that length; and by the rounding of sums.
rough_error <- function(far, n, self) 2.5e-6 * (1 + far) * n / sqrt(self) + 1e-5

# Variances that differ by the rounding of n rows, as those of standardised columns do.
are_even <- function(variance, n) diff(range(variance)) <= 1e-13 * n * max(variance)

# ---- the best of all pairs ------------------------------------------------------------------

# Work that is worth every pair on every row, in pairs of rows times pairs of columns; and what is
# done beyond: so many columns stay, those best alone, and so many pairs of theirs, those best on so
# many rows, evenly spaced, are judged on all.
rank_pairs <- list(work = 2e10, columns = 1500L, finalists = 200L, rows = 300L)

# `single(columns)` gives values of single columns, `scan(problem, threads)` those of all pairs at
# once, `some(e, others)` those of column e with others.
best_of_pairs <- function(problem, single, control, scan, some) {
  columns <- seq_len(ncol(problem$x))
  if (nrow(problem$x)^2 / 2 * length(columns)^2 / 2 <= rank_pairs$work) {
    if (!is.null(scan)) return(best_entry(scan(problem, control$threads)))
    return(best_entry(pairs_one_by_one(columns, some)))
  }
  screen_pairs(problem, single(columns), control, some)
}

all_pairs <- function(problem, threads) {
  columns <- seq_len(ncol(problem$x))
  sums <- .Call(ffi_subset_pairs, problem$x, problem$u, problem$kernel, threads)
  alignment_of(sums, problem)[columns, columns]
}

pairs_one_by_one <- function(columns, some) {
  value <- matrix(-Inf, length(columns), length(columns))
  for (e in columns[-length(columns)]) {
    others <- columns[columns > e]
    value[others, e] <- some(e, others)
  }
  value
}

screen_pairs <- function(problem, single, control, some) {
  kept <- sort(utils::head(order(-single, seq_along(single)), rank_pairs$columns))
  rows <- sample_rows(problem$u, rank_pairs$rows)
  part <- problem
  part$x <- problem$x[rows, kept, drop = FALSE]
  part$u <- problem$u[rows, , drop = FALSE]
  part$kernel <- core_columns(problem$kernel, kept)
  part$spec$constant <- norm(crossprod(part$u), "F")
  value <- all_pairs(part, control$threads)
  value[upper.tri(value, diag = TRUE)] <- -Inf
  finalists <- utils::head(order(value, decreasing = TRUE), rank_pairs$finalists)
  at <- arrayInd(finalists, dim(value))
  pairs <- cbind(kept[at[, 2L]], kept[at[, 1L]])
  final <- numeric(nrow(pairs))
  for (e in unique(pairs[, 1L])) {
    mine <- pairs[, 1L] == e
    final[mine] <- some(e, pairs[mine, 2L])
  }
  winner <- order(-final, pairs[, 1L], pairs[, 2L])[1L]
  list(columns = pairs[winner, ], value = final[winner])
}

# Evenly spaced rows in the order of the target, so that classes keep their shares.
sample_rows <- function(u, count) {
  sort(do.call(order, as.data.frame(u))[evenly_spaced(nrow(u), count)])
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
  space <- set_space(x, y, control, "hsic")
  traits <- kernel_traits(control$kernel)
  by_gram <- !(traits[["whole"]] && traits[["smooth"]])
  reduced <- if (by_gram) reduced_by_gram(x, y, control) else space$reduced
  eliminate(ncol(x), control, function(left) {
    value <- reduced(left)
    list(loss = -value, value = value)
  })
}

# Again and again the columns of least loss go, of equals the last: one at a time, a tenth of them
# while many are left. `judge(left)` gives for every column left the loss if it went, and the value
# that the path shows: that of the last one of the step.
eliminate <- function(columns, control, judge) {
  left <- seq_len(columns)
  removed <- values <- NULL
  tick <- progress(control$verbose, columns - 1L)
  while (length(left) > 1L) {
    found <- judge(left)
    count <- if (length(left) > rank_many) floor(length(left) / 10) else 1L
    worst <- order(found$loss, -left)[seq_len(count)]
    for (i in worst) tick()
    removed <- c(removed, left[worst])
    values <- c(values, rep_len(found$value, length(left))[worst])
    left <- left[-worst]
  }
  tick(close = TRUE)
  if (is.null(removed)) return(method_result(1, ordinal = TRUE))
  ordinal_result(c(left, rev(removed)), values, removed)
}

# More columns than this are left out a tenth at a time, as Guyon et al. and Song et al. do: one by
# one the work would grow with the square of the columns.
rank_many <- 500L

# HSIC of the kernel on the columns left but one, for each of them, from Gram matrices.
reduced_by_gram <- function(x, y, control) {
  problem <- subset_problem(x, y, control, "hsic")
  kernel <- control$kernel
  kernel$weights <- NULL
  target <- tcrossprod(problem$u)
  function(left) {
    vapply(left, function(d) {
      rest <- setdiff(left, d)
      part <- kernel_columns(kernel, rest)
      sum(gram_matrix(problem$x[, rest, drop = FALSE], part, threads = control$threads) * target)
    }, 0)
  }
}
