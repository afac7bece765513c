# Models of rows in chunks. Their coordinates in a basis are worked out chunk by chunk whenever they
# are needed; what comes back from a pass is small: a triangular factor, sums, a few numbers a row.
#
# Pass 1: R of [1 Z Y] by sequential QR (qr.c). Its first row has the means, the rest is R of the
# centred Z and c = Q'Y: least squares for every size, covariance R'R and class means R'c at once.
# Where columns are nearly dependent, once more, of [1 Q Y].
# Pass 2: leave-one-out sums for every size and ridge, a row of Q being (z - mean) R^{-1}.
# Pass 3: what is kept of every row at the size and ridge chosen.

# ---- a basis ------------------------------------------------------------------------------------

# As fit_basis(), for rows of a source.
fit_source_basis <- function(rows, basis, kernel, control, scale, na_action, default_kernel,
                             respond) {
  if (inherits(basis, "kernel_basis")) {
    return(given_source_basis(rows, basis, if (!default_kernel) kernel, control, na_action,
                              respond))
  }
  data <- source_data(rows, scale, na_action, control)
  control$times <- data$weights
  data$y <- respond(data$y) # what is wrong with it is told before the work
  inform_memory(data$n)
  fit <- source_basis(data, kernel, control, keep = TRUE)
  source_parts(fit$basis, data, control, fit$factor)
}

# The basis of what source_data() gave.
source_basis <- function(data, kernel, control, keep = FALSE) {
  at <- control$where
  fit <- basis_from_source(data$x, resolve_source_kernel(kernel, data), control, data$scaling,
                           data$input, cluster = at$cluster, memory = at$memory,
                           resume = at$resume, keep = keep)
  if (!is.null(data$rows)) rownames(fit$basis$vectors) <- data$rows[fit$basis$index]
  fit
}

resolve_source_kernel <- function(kernel, data) {
  kernel <- as_kernel(kernel)
  median <- any(unlist(over_leaves(kernel, function(k) identical(k$sigma, "median"))))
  sample <- if (median) {
    rows_at(data$x, median_rows(data$n, data$weights))
  } else {
    matrix(0, 0L, data$x$width, dimnames = list(NULL, data$input$columns))
  }
  resolve_kernel(kernel, sample, data$variance)
}

# Rows that a median distance is worked out on: those that repeated ones would give.
median_rows <- function(n, weights) {
  if (is.null(weights) || !counts_rows(weights)) return(evenly_spaced(n, 1000))
  findInterval(evenly_spaced(sum(weights), 1000), c(0, cumsum(weights)), left.open = TRUE)
}

given_source_basis <- function(rows, basis, kernel, control, na_action, respond) {
  validate_basis(basis, "basis")
  if (is.null(basis$kernel)) {
    abort("argument", "`basis` comes from a Gram matrix, and a source has rows: the two do not ",
          "go together.")
  }
  if (!is.null(control$size) && is.finite(control$size)) basis <- head(basis, control$size)
  data <- source_data(rows, FALSE, na_action, control, given_input(basis, rows), basis$scaling)
  if (!is.null(kernel)) warn_if_other(kernel, basis, data)
  data$y <- respond(data$y)
  source_parts(basis, data, control)
}

# A kernel that waits for the data is not worked out for a warning alone.
warn_if_other <- function(kernel, basis, data) {
  kernel <- as_kernel(kernel)
  if (has_open_sigma(kernel)) return(invisible())
  if (!same_kernel(resolve_source_kernel(kernel, data), basis$kernel)) warn_other_kernel(basis)
}

# A frame of evaluated variables needs no evaluation.
given_input <- function(basis, rows) {
  input <- basis$input
  columns <- if (is.null(rows$terms)) rows$source$columns else attr(rows$terms, "term.labels")
  if (!is.null(input$terms) && all(input$variables %in% columns)) input$terms <- NULL
  input
}

# What the models get: `z` stands for the coordinates, see each_block(). Bodies that the search for
# the basis left, `held`, have them; else they are worked out from the rows.
source_parts <- function(basis, data, control, held = NULL) {
  z <- structure(
    list(x = data$x, basis = basis, n = data$n, width = length(basis$index), held = held,
         threads = control$threads, verbose = control$verbose, cluster = control$where$cluster),
    class = "kernelect_coordinates"
  )
  list(
    basis = basis, z = z, x = data$x, y = data$y, weights = data$weights, rows = data$rows,
    na.action = data$na.action, ordered = data$ordered
  )
}

is_coordinates <- function(z) inherits(z, "kernelect_coordinates")

# The bodies are not needed any more, if there are any: their memory is for what comes next.
let_go <- function(z) {
  if (!is_coordinates(z) || is.null(z$held) || is.null(heads[[z$held]])) return(invisible())
  dismiss(z$held)
  gc()
}

# Rows of coordinates, whether they are all there or not.
coordinate_rows <- function(z) if (is_coordinates(z)) z$n else nrow(z)

# ---- passes -------------------------------------------------------------------------------------

# state <- step(state, z, rows, x) for every block of rows: their coordinates, their numbers and
# themselves, scaled. Workers of a cluster do so for chunks of their own, and their states are
# joined in the order of the rows.
each_block <- function(z, step, join = function(a, b) NULL) {
  if (!is.null(z$held)) return(Reduce(join, fold_bodies(z$held, step, z$width, z$verbose)))
  if (!is.null(z$cluster)) return(Reduce(join, by_workers(z, step)))
  fold_blocks(seq_along(z$x$sizes), z, step)
}

# take(rows, make(z, rows, x)) for every block, `take` always here.
take_blocks <- function(z, make, take) {
  if (is.null(z$cluster)) {
    return(each_block(z, function(state, part, rows, x) {
      take(rows, make(part, rows, x))
      NULL
    }))
  }
  made <- by_workers(z, function(state, part, rows, x) {
    c(state, list(list(rows = rows, made = make(part, rows, x))))
  })
  for (blocks in made) for (block in blocks) take(block$rows, block$made)
}

fold_blocks <- function(chunks, z, step) {
  before <- cumsum(z$x$sizes) - z$x$sizes
  state <- NULL
  tick <- progress(z$verbose, length(chunks))
  on.exit(tick(close = TRUE))
  for (i in chunks) {
    x <- z$x$read_matrix(i)
    for (own in cut_rows(nrow(x), block_rows(z$width))) {
      .Call(ffi_check)
      part <- x[own, , drop = FALSE]
      state <- step(state, basis_coordinates(z$basis, part, z$threads), before[i] + own, part)
      gc(full = FALSE) # R would let blocks that are done with lie about
    }
    tick()
  }
  state
}

# The state of every worker, in the order of the chunks they had.
by_workers <- function(z, step) {
  if (!is.null(z$held)) return(fold_bodies(z$held, step, z$width))
  cluster <- z$cluster
  z$cluster <- NULL
  z$verbose <- FALSE
  share_chunks(seq_along(z$x$sizes), cluster, worker_blocks, z, step)
}

worker_blocks <- function(chunks, z, step) in_worker(fold_blocks(chunks, z, step))

# Some 4 MB of coordinates.
block_rows <- function(width) max(256, min(16384, floor(2^19 / (width + 1))))

# R of [1 Z Y], rows times the root of their weight; Z may be what `steps` make of it.
triangle_of <- function(z, y, weights = NULL, steps = NULL) {
  each_block(z, function(r, part, rows, x) {
    .Call(ffi_qr_regression, r, block_q(part, steps), y[rows, , drop = FALSE], weights[rows])
  }, join = function(a, b) .Call(ffi_qr_append, a, b))
}

# What regress() gives but for the rows: r, c, center, mean, dependent, and `total`, the sum of
# weights; `raw`, r and c as they come, of which no column counts as dependent; `steps`, how rows
# become rows of Q, see block_q().
regress_blocks <- function(z, response, weights = NULL) {
  once <- regress_once(z, response$matrix, weights)
  fit <- if (is_doubtful(once)) regress_again(z, once, response$matrix, weights) else once
  c(fit, list(
    total = if (is.null(weights)) z$n else sum(weights), raw = once$raw, threads = z$threads
  ))
}

# One pass. Rows are those of `z`, or what `steps` made of them.
regress_once <- function(z, y, weights, steps = NULL) {
  L <- z$width
  r <- triangle_of(z, y, weights, steps)
  r <- r * ifelse(diag(r) < 0, -1, 1)
  left <- seq_len(L + 1L)
  raw <- list(r = r[left, left, drop = FALSE], c = r[left, -left, drop = FALSE])
  length <- colSums(raw$r^2)
  # as the core sees it, by squares (DEPENDENT in src/regress.c), which then judges itself
  fit <- if (any(diag(raw$r)^2 <= 1e-20 * length)) {
    .Call(ffi_regress, raw$r, raw$c, 0, NULL, FALSE, 1L)[c("r", "c", "dependent")]
  } else {
    c(raw, list(dependent = logical(L + 1L)))
  }
  root <- fit$r[1L, 1L]
  own <- list(
    r = fit$r[-1L, -1L, drop = FALSE], center = fit$r[1L, -1L] / root,
    dependent = fit$dependent[-1L]
  )
  c(own, list(c = fit$c[-1L, , drop = FALSE], mean = fit$c[1L, ] / root, raw = raw,
              steps = c(steps, list(own))))
}

# Rows of Q from one division are orthogonal to rounding times the condition of r, columns being of
# length one. From 1e-11 on that shows in leave-one-out figures, and a direction that rounding alone
# made looks like one of the rows'.
is_doubtful <- function(fit) {
  left <- !fit$dependent
  if (!any(left)) return(FALSE)
  r <- fit$r[left, left, drop = FALSE]
  r <- r / rep(sqrt(colSums(r^2)), each = nrow(r))
  rcond(r, triangular = TRUE) < 1e-5
}

# A second pass, over the rows of Q of the first: Q is orthogonal after it, and a column of rounding
# is found to depend on the others (and on the constant) as in memory, where columns are swept
# twice.
regress_again <- function(z, once, y, weights) {
  fit <- regress_once(z, y, weights, once$steps)
  fit$center <- once$center + drop(fit$center %*% once$r)
  r <- fit$r %*% once$r
  r[fit$dependent, ] <- 0
  diag(r)[fit$dependent] <- 1
  fit$r <- r
  fit
}

# Rows of Q (over the root of their weight) of rows z: divided once, or twice, by triangles.
block_q <- function(z, steps, turn = NULL) {
  for (step in steps) {
    z <- .Call(ffi_divide_upper, z, step$center, step$r)
    if (any(step$dependent)) z[, step$dependent] <- 0
  }
  if (is.null(turn)) z else product(z, turn)
}

# The fit as the core reads it, for some of the rows.
block_fit <- function(fit, z, y, weights) {
  list(q = block_q(z, fit$steps, fit$turn), y = y - rep(fit$mean, each = nrow(y)), r = fit$r,
       c = fit$c, weights = weights, intercept = TRUE, dependent = fit$dependent,
       total = fit$total, threads = fit$threads)
}

# The fit at a ridge: its rows of Q by one division, or by way of those without a ridge.
ridge_blocks <- function(fit, ridge) {
  L <- length(fit$center)
  at <- ridge_factor(fit, L, ridge)
  fit[c("r", "c", "dependent")] <- list(at$r, at$c, logical(L))
  if (length(fit$steps) == 1L) {
    fit$steps <- list(fit[c("r", "center", "dependent")])
  } else {
    fit$turn <- at$q
  }
  fit
}

# As fit_by_loo(), for coordinates in chunks; also `outside`, as outside_basis() has it.
fit_blocks_by_loo <- function(z, response, choose, ridge, weights = NULL) {
  plain <- if (is.null(z$triangle)) regress_blocks(z, response, weights) else z$triangle
  fit <- if (!is.character(ridge) && ridge > 0) ridge_blocks(plain, ridge) else plain
  loo <- loo_of_blocks(z, fit, response, weights, if (is.character(ridge)) {
    sort(if (choose) geometric_sizes(z$width) else z$width)
  }, ridge)
  best <- if (is.character(ridge) || choose) best_row(loo) else nrow(loo)
  factor <- if (is.character(ridge)) ridge_factor(fit, loo$size[best], loo$ridge[best]) else fit
  rows <- rows_of_blocks(z, fit, response, weights, loo[best, ], is.character(ridge))
  c(settled_fit(fit, response, loo, best, rows, factor), rows["outside"])
}

# Leave-one-out figures: of every ridge of the grid at `sizes`, or (sizes NULL) of every size at
# the ridge of `fit`.
loo_of_blocks <- function(z, fit, response, weights, sizes, ridge) {
  turned <- lapply(sizes, turned_factor, fit = fit)
  labels <- class_numbers(response)
  each_block(z, function(sums, part, rows, x) {
    now <- block_fit(fit, part, response$matrix[rows, , drop = FALSE], weights[rows])
    found <- if (is.null(sizes)) {
      size_losses(now, ridge, labels[rows])
    } else {
      do.call(rbind, Map(function(t, size) {
        at <- .Call(ffi_ridge_loo, now, t, labels[rows], FALSE, ridge_grid)
        data.frame(size = size, ridge = ridge_grid, loss = at$loss, error = at$error)
      }, turned, sizes))
    }
    if (is.null(sums)) found else add_losses(sums, found)
  }, join = add_losses)
}

add_losses <- function(a, b) {
  a[c("loss", "error")] <- a[c("loss", "error")] + b[c("loss", "error")]
  a
}

# What ridges need of a size: of the factor alone, so any row will do.
turned_factor <- function(size, fit) {
  row <- block_fit(fit, t(fit$center), t(fit$mean), NULL)
  .Call(ffi_bidiagonalise, row, size)
}

# What is known of every row at the size and ridge of `chosen`.
rows_of_blocks <- function(z, fit, response, weights, chosen, ridged) {
  y <- response$matrix
  residual <- left_out <- 0 * y
  left <- numeric(nrow(y))
  alone <- isTRUE(response$vector)
  outside <- numeric(if (alone) nrow(y) else 0L)
  diagonal <- 0
  total <- total_of(weights, nrow(y))
  labels <- class_numbers(response)
  turned <- if (ridged) turned_factor(chosen$size, fit)
  take_blocks(z, function(part, rows, x) {
    now <- block_fit(fit, part, y[rows, , drop = FALSE], weights[rows])
    found <- if (ridged) {
      .Call(ffi_ridge_loo, now, turned, labels[rows], TRUE, chosen$ridge)
    } else {
      .Call(ffi_nested_loo, now, chosen$size, labels[rows], TRUE)
    }
    if (alone) {
      squares <- squares_at(row_squares(part, chosen$size), chosen$size)
      found$outside <- outside_basis(z$basis, x, squares, weights[rows], total)
    }
    found
  }, function(rows, found) {
    residual[rows, ] <<- found$residual
    left_out[rows, ] <<- found$left_out
    left[rows] <<- found$left
    if (alone) {
      outside[rows] <<- found$outside$residual
      diagonal <<- diagonal + found$outside$diagonal
    }
  })
  list(
    residual = residual, left_out = left_out, left = left,
    outside = if (alone) list(residual = outside, diagonal = diagonal)
  )
}

# ---- discriminants and components ---------------------------------------------------------------

# As class_scatter(), from the triangle of the regression on indicators.
triangle_scatter <- function(z, classes, weights = NULL) {
  fit <- regress_blocks(z, list(matrix = indicators(classes)), weights)
  counts <- class_weights(classes, weights)
  r <- fit$raw$r[-1L, -1L, drop = FALSE]
  sums <- crossprod(fit$raw$c[-1L, , drop = FALSE], r)
  rownames(sums) <- levels(classes)
  n <- sum(counts)
  z$triangle <- fit # the regression on the indicators will want it
  list(
    total = inner_product(r) / n, means = sums / ifelse(counts > 0, counts, 1), center = fit$center,
    counts = stats::setNames(counts, levels(classes)), n = n, z = z
  )
}

# As ffi_centred_crossprod has it.
triangle_moments <- function(z, center) {
  r <- triangle_of(z, matrix(0, z$n, 0L))
  mean <- if (center) r[1L, -1L] / r[1L, 1L] else numeric(z$width)
  rest <- if (center) r[-1L, -1L, drop = FALSE] else r[, -1L, drop = FALSE]
  list(mean = mean, crossprod = inner_product(rest))
}

# Largest and smallest value of every column of (z - mean) v.
block_extremes <- function(z, mean, v) {
  each_block(z, function(state, part, rows, x) {
    now <- .Call(ffi_extremes, part, mean, v)
    if (is.null(state)) now else wider_range(state, now)
  }, join = wider_range)
}

wider_range <- function(a, b) cbind(pmax(a[, 1L], b[, 1L]), pmin(a[, 2L], b[, 2L]))

# (z - mean) v, all rows.
coordinate_product <- function(z, v, mean = NULL, threads = 1L) {
  offset <- if (is.null(mean)) 0 else drop(mean %*% v)
  if (!is_coordinates(z)) return(product(z, v, threads) - rep(offset, each = nrow(z)))
  out <- zeros(z$n, ncol(v))
  colnames(out) <- colnames(v)
  take_blocks(z, function(part, rows, x) product(part, v) - rep(offset, each = length(rows)),
              function(rows, found) out[rows, ] <<- found)
  out
}

# ---- memory -------------------------------------------------------------------------------------

# What a fit holds of every row whatever the chunks are, said where the machine has less.
inform_memory <- function(n, values = 12) {
  need <- 8 * values * n
  has <- .Call(ffi_memory_limit)
  if (need > has) {
    inform("About ", format_bytes(need), " will be needed for ", values, " numbers a row, and ",
           "this machine has ", format_bytes(has), ".")
  }
}

# Where the rows are worked on, for functions that take a source.
source_place <- function(cluster, memory, resume = NULL) {
  place <- list(cluster = cluster, memory = memory, resume = resume)
  place[!vapply(place, is.null, NA)]
}

# `x` as the fits take it: rows of a source where it is one, or where the user asks for chunks.
rows_or_source <- function(x, y, weights, place) {
  if (is_rows(x)) return(x)
  if (!is_source(x)) {
    if (!length(place)) return(x)
    if (is_gram(x)) {
      abort("argument", "`", names(place)[1L], "` is for rows, not for a Gram matrix.")
    }
    rows <- if (!is.null(place$cluster)) ceiling(NROW(x) / length(check_cluster(place$cluster)))
    x <- as_row_source(x, rows = min(rows, check_chunk_rows(NULL, NCOL(x))))
  }
  rows_of_source(x, y, weights)
}
