# The first stage of TAKES: coordinates of the rows in an orthonormal basis of the kernel space.

# Coordinates z of the training rows (identical rows have identical ones), labels, rotation, cost
# and bound. `threshold` is NULL for a basis that was given.
stage_one <- function(parts, method, threshold) {
  z <- copy_rows(parts$z, parts$x)
  rotation <- if (method == "kpca") principal_directions(z)
  list(
    basis = parts$basis, z = if (is.null(rotation)) z else rotate(z, rotation), y = parts$y,
    rotation = rotation, rounding = score_rounding(parts$basis, z, rotation),
    cost = last_cost(parts$basis),
    bound = theorem_bound(parts$basis, threshold)
  )
}

# The basis that the threshold ended, or one that goes on until distances in it are those in the
# kernel space, where the nearest neighbour among the rows left out is right more often in that.
# `seen`, where rows looked around in it.
stage_that_suffices <- function(stage, learn, control) {
  if (stage$basis$stop != "threshold") return(stage)
  control$threshold <- nearly_whole
  # what is said of the arguments was said once
  whole <- suppressMessages(suppressWarnings(learn(control), classes = "kernelect_warning_kernel"))
  whole$seen <- look_around(whole$z, whole$y, whole$rounding, control$threads)
  stage$seen <- look_around(stage$z, stage$y, stage$rounding, control$threads)
  if (whole$seen$left$error < stage$seen$left$error) whole else stage
}

nearly_whole <- function(t) 0 * t + 1e-4

# How far rounding moves the coordinates, direction by direction: some units (as many as the engine
# grants a tie) of the longest row, magnified where a pivot is small. Distances in them that are
# closer than that are equal.
score_rounding <- function(basis, z, rotation = NULL) {
  pivot <- basis$path$pivot
  largest <- max(pivot, rowSums(z^2))
  moved <- 16 * .Machine$double.eps * largest / sqrt(pivot)
  if (is.null(rotation)) moved else sqrt(drop(moved^2 %*% rotation$vectors^2))
}

# Of distances in directions of these weights.
distance_rounding <- function(rounding, weights = 1) sqrt(cumsum((rounding * weights)^2))

last_cost <- function(basis) basis$path$cost[nrow(basis$path)]

# Theorem 1: E(M) < r11 threshold(dim / n), when it was the threshold that ended the basis.
theorem_bound <- function(basis, threshold) {
  if (is.null(threshold) || basis$method != "kobl" || basis$stop != "threshold") return(NA_real_)
  L <- length(basis$index)
  sqrt(basis$path$pivot[1L]) * threshold_values(threshold, L, basis$n)[L + 1L]
}

# For each row of m the number of the first row identical to it: the arithmetic of a BLAS may
# round equal rows differently, and a tie of neighbours must stay one. Column by column: groups of
# rows that are equal so far, until each is alone.
first_copies <- function(m) {
  n <- nrow(m)
  if (n < 2L) return(seq_len(n))
  if (is_sparse(m)) return(sparse_copies(m))
  group <- rep(1L, n)
  for (j in seq_len(ncol(m))) {
    value <- m[, j]
    sorted <- order(group, value)
    new <- group[sorted[-1L]] != group[sorted[-n]] | value[sorted[-1L]] != value[sorted[-n]]
    group[sorted] <- cumsum(c(TRUE, new))
    if (all(new)) return(seq_len(n))
  }
  match(group, group)
}

# Coordinates z of the rows of m, the same for rows that are the same.
copy_rows <- function(z, m) {
  first <- first_copies(m)
  copies <- which(first != seq_along(first))
  if (length(copies)) z[copies, ] <- z[first[copies], ]
  rownames(z) <- rownames(m)
  z
}

# Kernel principal directions in coordinates z; those without variance are dropped. Signs: the
# largest absolute score is positive.
principal_directions <- function(z) {
  center <- colMeans(z)
  centred <- z - rep(center, each = nrow(z))
  parts <- symmetric_eigen(inner_product(centred))
  good <- parts$values > nrow(z) * .Machine$double.eps * max(parts$values, 0)
  if (!any(good)) {
    abort("data", "All rows are identical in the kernel space: there is no direction to choose.")
  }
  vectors <- parts$vectors[, good, drop = FALSE]
  scores <- product(centred, vectors)
  signs <- apply(scores, 2L, function(s) if (s[which.max(abs(s))] < 0) -1 else 1)
  list(center = center, vectors = vectors * rep(signs, each = nrow(vectors)))
}

rotate <- function(z, rotation) {
  product(z - rep(rotation$center, each = nrow(z)), rotation$vectors)
}
