# SAS, SCSS and SFS: scale factors that maximise a criterion of the kernel.

rank_by_criterion <- function(x, y, control) {
  start <- rank_start(x, control)
  problem <- rank_problem(x, y, start, control)
  tick <- progress(control$verbose, 1L + ncol(control$starts))
  runs <- list(maximise(problem, start, control))
  tick()
  for (from in restart_points(x, y, start, problem, runs[[1L]], control, tick)) {
    runs <- c(runs, list(maximise(problem, from, control)))
  }
  tick(close = TRUE)
  best <- runs[[which.max(vapply(runs, `[[`, 0, "value"))]]
  w <- share_duplicates(best$weights, x)
  method_result(
    w, tie = best$gradient, weights = w, value = best$value,
    path = search_path(best$values, best$steps), converged = best$status == "ok"
  )
}

# SCSS adds a tenth of the within-class scatter at the start.
rank_problem <- function(x, y, start, control) {
  criterion <- rank_methods[[control$method]]$criterion
  problem <- criterion_problem(x, y, control$kernel, criterion, control$target, control$block)
  if (criterion == "separability") {
    scatter <- within_scatter(problem, control$kernel, start, control$threads)
    problem$spec$constant <- 0.1 * scatter
  }
  problem
}

# ---- restarts ---------------------------------------------------------------------------------

# Restarts are tried on `rows` rows, to a tolerance of `tol`; where they end is judged on all rows,
# and the `polished` best of those that differ from each other, and from the first run, go on there.
# Two ends agree where their squared scale factors point the same way, up to `angle`.
rank_restarts <- list(rows = 300L, tol = 1e-4, polished = 2L, angle = 0.99)

# Points from which a search on all rows goes on: with few rows every start.
restart_points <- function(x, y, start, problem, first, control, tick) {
  starts <- control$starts * start
  if (!ncol(starts)) return(list())
  if (nrow(x) <= 2 * rank_restarts$rows) {
    return(lapply(seq_len(ncol(starts)), function(k) {
      tick()
      starts[, k]
    }))
  }
  rows <- sample_rows(problem$u, rank_restarts$rows)
  part <- if (is.factor(y)) droplevels(y[rows]) else y[rows]
  sample <- rank_problem(x[rows, , drop = FALSE], part, start, control)
  rough <- replace(control, "tol", max(control$tol, rank_restarts$tol))
  ends <- lapply(seq_len(ncol(starts)), function(k) {
    tick()
    maximise(sample, starts[, k], rough)$weights
  })
  value <- vapply(ends, function(w) evaluate_criterion(problem, w, control$threads)$value, 0)
  utils::head(differing(ends[order(-value)], first$weights), rank_restarts$polished)
}

# Those that agree neither with `known` nor with one before them.
differing <- function(ends, known) {
  kept <- list()
  for (w in ends) {
    others <- c(list(known), kept)
    if (!any(vapply(others, function(o) cosine(o^2, w^2), 0) >= rank_restarts$angle)) {
      kept <- c(kept, list(w))
    }
  }
  kept
}

cosine <- function(a, b) sum(a * b) / sqrt(sum(a^2) * sum(b^2))

search_path <- function(values, steps) {
  data.frame(iteration = seq_along(values) - 1L, value = values, step = steps)
}

# What the core needs to know of a criterion: rows, the factor U of the target UU', and `spec`:
# type, constant, block.
criterion_problem <- function(x, y, kernel, criterion, target = "balanced", block = 240) {
  type <- if (criterion == "hsic") "product" else criterion
  u <- switch(criterion,
    separability = class_factor(y),
    hsic = centred_factor(target_factor(y, target)) / (length(y) - 1),
    target_factor(y, target)
  )
  kernel$weights <- NULL # scale factors come with every evaluation
  constant <- if (criterion == "alignment") norm(crossprod(u), "F") else 0
  list(x = centre_for(x, kernel, criterion), u = u,
       spec = list(type = type, constant = constant, block = block),
       kernel = if (!in_r(kernel)) core_kernel(kernel))
}

# Centring changes no distance, and neither scatters nor HSIC of the linear kernel; it keeps
# the digits that a large offset would take.
centre_for <- function(x, kernel, criterion) {
  traits <- kernel_traits(kernel)
  free <- traits[["distance"]] || (traits[["linear"]] && criterion %in% c("separability", "hsic"))
  if (!free) return(row_numbers(x))
  .Call(ffi_scale_columns, x, for_columns(x, colMeans), rep(1, ncol(x)))
}

# Value and gradient (by v = w^2) of a criterion.
evaluate_criterion <- function(problem, w, threads = 1L) {
  .Call(ffi_criterion, problem$x, problem$u, problem$spec, problem$kernel, as.double(w), threads)
}

# tr S_w of the kernel with scale factors w; what is below rounding of tr K counts as that.
within_scatter <- function(problem, kernel, w, threads) {
  problem$spec$type <- "product"
  kernel$weights <- w
  trace <- sum(kernel_diagonal(kernel, problem$x))
  max(trace - evaluate_criterion(problem, w, threads)$value, .Machine$double.eps * trace)
}

maximise <- function(problem, start, control) {
  run <- if (is.null(control$cluster)) {
    .Call(ffi_maximise, problem$x, problem$u, problem$spec, problem$kernel, as.double(start),
          search_control(control), control$threads)
  } else {
    maximise_on(control$cluster, problem, as.double(start), control)
  }
  if (!is.finite(run$value)) {
    abort("not_finite", "The criterion is not finite at the start: the data in `x` are too large ",
          "or the kernel is zero. Use `scale = TRUE`, or another kernel.")
  }
  run
}

search_control <- function(control) {
  list(optimizer = control$optimizer, max_iter = control$max_iter, tol = control$tol,
       kinked = as.double(kernel_traits(control$kernel)[["kinked"]]))
}

# Kernels here depend on equal columns through the sum of their w^2 only: any split is as good,
# so the equal one is taken.
share_duplicates <- function(w, x) {
  same <- duplicate_groups(x)
  if (is.null(same)) return(w)
  sqrt(stats::ave(w^2, same))
}

# Group numbers of equal columns, or NULL when there are none. Equal columns have equal keys; those
# of equal keys are compared with the first of them, so that no key is trusted.
duplicate_groups <- function(x) {
  if (is_sparse(x)) {
    groups <- sparse_copies(x, columns = TRUE)
    return(if (anyDuplicated(groups)) groups)
  }
  key <- column_keys(x)
  again <- unique(key[duplicated(key)])
  if (!length(again)) return(NULL)
  groups <- seq_len(ncol(x))
  alike <- which(key %in% again)
  for (columns in split(alike, match(key[alike], again))) {
    while (length(columns) > 1L) {
      .Call(ffi_check)
      rest <- x[, columns[-1L], drop = FALSE]
      same <- c(TRUE, colSums(rest != x[, columns[1L]]) == 0)
      groups[columns[same]] <- columns[1L]
      columns <- columns[!same]
    }
  }
  if (anyDuplicated(groups)) groups
}

# A sum of every column with its own irrational share of every row, always taken in one order.
column_keys <- function(x) {
  share <- sqrt(seq_len(nrow(x)) + 1) %% 1 + 1
  parts <- pieces(ncol(x), 4 * nrow(x))
  unlist(lapply(parts, function(columns) {
    .Call(ffi_check)
    colSums(x[, columns, drop = FALSE] * share)
  }), use.names = FALSE)
}
