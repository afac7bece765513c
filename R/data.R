# From what the user gives to a numeric matrix, and back again for new data. One blueprint
# (`input`) is kept in every model:
#   columns   names of the numeric columns, or NULL when the training matrix had none
#   width     number of numeric columns
#   variables names of the variables they come from (data frames and formulas)
#   levels    per variable its factor levels, NULL for numeric ones
#   matrices  for variables that are matrices the names of their columns, or how many
#   logical   names of the logical variables, of a data frame
#   times     for dates, times and differences their class, and the unit of the last
#   terms     terms of the formula without its environment, or NULL
#   needed    names of the columns that the terms want from new data
#   scope     functions and values that the terms take from where the formula was written

# ---- training data ---------------------------------------------------------------

# The common start of every fit: matrix, rows dropped for NA, scaling. Returns the rows `x`, to be
# scaled where they are used (R/scaled.R), the response `y` and the case weights `weights` (rows
# matched, NULL where there are none), the blueprint, the scaling, `n`, the rows `kept` (NULL: all)
# and those left out as `na.action`, as `lm()` keeps them. Where the user has no choice about
# missing values `na_action` is NULL: they fail.
model_data <- function(x, y = NULL, scale = TRUE, na_action = "fail", weights = NULL) {
  if (missing(x)) {
    abort("argument", "`x` is missing: give the rows of the data, in a matrix or a data frame.")
  }
  check_flag(scale, "scale")
  if (!is.null(na_action)) na_action <- check_choice(na_action, "na_action", na_actions)
  design <- design_matrix(x)
  x <- design$x
  if (nrow(x) == 0L) abort("data", "`x` has no rows.")
  if (ncol(x) == 0L) abort("data", "`x` has no columns.")
  check_duplicated_names(colnames(x))
  check_response(y, nrow(x), "x")
  y <- plain_response(y)
  weights <- check_case_weights(weights, nrow(x), "x")
  kept <- complete_rows(x, y, na_action, design$owner)
  omitted <- omitted_rows(kept, x, na_action)
  if (!is.null(kept)) {
    # numbers tell which rows are left, where those left out do not come back as NA
    numbered <- design$frame && is.null(rownames(x)) && na_action == "omit"
    if (numbered) rownames(x) <- seq_len(nrow(x))
    x <- x[kept, , drop = FALSE]
    y <- take_rows(y, kept)
    weights <- check_case_weights(weights[kept], nrow(x), "x")
  }
  check_finite_columns(x)
  check_finite_response(y)
  moments <- if (scale) fit_moments(x, weights)
  scaling <- if (scale) scaling_by(moments)
  list(
    x = scaled_rows(x, scaling), y = y, weights = weights, input = design$input,
    scaling = scaling, n = nrow(x), kept = kept, na.action = omitted,
    variance = if (scale && is.null(weights) && !is_sparse(x)) {
      unit_variance(moments$spread, nrow(x))
    }
  )
}

na_actions <- c("fail", "omit", "exclude")

# The rows that are not kept, by name, as stats::na.omit() and stats::na.exclude() tell of them.
omitted_rows <- function(kept, x, na_action) {
  if (is.null(kept)) return(NULL)
  gone <- seq_len(nrow(x))[-kept]
  structure(gone, names = if (is.null(rownames(x))) gone else rownames(x)[gone], class = na_action)
}

# Case weights as plain doubles, or NULL.
check_case_weights <- function(weights, n, of) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || is.object(weights) || !is.null(dim(weights))) {
    must_be("weights", paste0("NULL or a numeric vector with a case weight per row of `", of, "`"),
            weights)
  }
  check_response_length(weights, n, "weights", of)
  bad <- sum(!is.finite(weights))
  if (bad) {
    abort("not_finite", "`weights` must be finite numbers: ", bad,
          if (bad > 1L) " are" else " is", " missing or infinite.")
  }
  if (any(weights < 0)) {
    abort("argument", "`weights` must not be negative: ", sum(weights < 0),
          if (sum(weights < 0) > 1L) " are." else " is.")
  }
  if (!any(weights > 0)) abort("argument", "`weights` are all zero: no row is left to fit.")
  as.double(weights)
}

# Rows `i` of a matrix, data frame or vector; all of them for NULL.
take_rows <- function(v, i) {
  if (is.null(i)) v else if (length(dim(v)) == 2L) v[i, , drop = FALSE] else v[i]
}

# ---- Gram matrices ------------------------------------------------------------------

# What a model is fitted to: rows `x`, or with `x` missing a Gram matrix `K`, which becomes an
# object that fit_basis() and model_data() know from rows. So does kernlab's class of them. On a
# `basis` of a Gram matrix `x` has kernel values in any case.
rows_or_gram <- function(x, K, basis = NULL) {
  if (missing(x)) {
    if (is.null(K)) abort("argument", "Give `x`, or a Gram matrix as `K`.")
    return(given_gram(K, "K"))
  }
  if (!is.null(K)) abort("argument", "Give `x` or `K`, not both.")
  if (is_kernel_matrix(x)) return(given_gram(x, "x"))
  if (!is_gram_basis(basis) && looks_like_gram(x)) {
    inform("`x` is symmetric with a positive diagonal, as a Gram matrix is, and is taken for ",
           "columns of data. If it is a Gram matrix, give it as `K = `.")
  }
  x
}

# Square, symmetric, and no value beyond what its diagonal allows. A single pass is cheap beside
# any fit.
looks_like_gram <- function(x) {
  if (!is.matrix(x) || !is.double(x) || nrow(x) != ncol(x) || nrow(x) < 3L) return(FALSE)
  own <- diag(x)
  if (anyNA(own) || any(own <= 0) || any(x[1L, ] != x[, 1L], na.rm = TRUE)) return(FALSE)
  isTRUE(all(x == t(x))) && all(abs(x) <= sqrt(own) * rep(sqrt(own), each = nrow(x)) * (1 + 1e-8))
}

given_gram <- function(K, arg) {
  structure(list(K = plain_gram(K), arg = arg), class = "kernelect_gram")
}

is_gram <- function(x) inherits(x, "kernelect_gram")

is_gram_basis <- function(basis) inherits(basis, "kernel_basis") && is.null(basis$kernel)

# A `kernelMatrix` of kernlab, whose class needs not be loaded.
is_kernel_matrix <- function(x) inherits(x, "kernelMatrix")

plain_gram <- function(K) {
  if (is_kernel_matrix(K)) matrix(as.numeric(K), nrow(K), dimnames = dimnames(K)) else K
}

# As model_data(), for a Gram matrix: rows that go take their columns along.
gram_data <- function(gram, y = NULL, na_action = "fail", weights = NULL) {
  na_action <- check_choice(na_action, "na_action", na_actions)
  K <- check_square(gram$K, gram$arg)
  check_response(y, nrow(K), gram$arg)
  y <- plain_response(y)
  weights <- check_case_weights(weights, nrow(K), gram$arg)
  kept <- complete_gram_rows(list(K), y, na_action)
  omitted <- omitted_rows(kept, K, na_action)
  if (!is.null(kept)) {
    K <- K[kept, kept, drop = FALSE]
    y <- take_rows(y, kept)
    weights <- check_case_weights(weights[kept], nrow(K), gram$arg)
  }
  K <- check_gram(K, gram$arg, can_omit = na_action == "fail")
  check_finite_response(y)
  list(x = K, y = y, weights = weights, n = nrow(K), kept = kept, na.action = omitted)
}

# ---- missing and infinite values ------------------------------------------------------

# NULL when all rows stay, else the rows kept. `owner`: the variable that each column comes from,
# where that is known.
complete_rows <- function(x, y, na_action, owner = NULL) {
  if (!anyNA(held_values(x)) && !anyNA(y)) return(NULL)
  rows_left(row_counts(x, is_missing) > 0, y, na_action, function() missing_counts(x, owner))
}

# The same of Gram matrices. Where values are missing and none may go, check_gram() fails.
complete_gram_rows <- function(grams, y, na_action) {
  gone <- lapply(grams, function(K) {
    if (na_action == "fail" || !anyNA(K)) logical(nrow(K)) else incomplete_in_gram(K)
  })
  rows_left(Reduce(`|`, gone), y, na_action, function() 0)
}

# What was never compared is missing in the rows of all others too: it goes first, and these stay.
incomplete_in_gram <- function(K) {
  missing <- is_missing(K)
  count <- rowSums(missing)
  alone <- count > 0 & count >= nrow(K) - 1L
  alone | rowSums(missing[, !alone, drop = FALSE]) > 0
}

# `counts`: missing values by column, asked for where these are told of.
rows_left <- function(gone, y, na_action, counts) {
  y_missing <- is_missing(y)
  if (is.matrix(y_missing)) y_missing <- rowSums(y_missing) > 0
  if (!any(gone) && !any(y_missing)) return(NULL)
  if (!isTRUE(na_action %in% c("omit", "exclude"))) {
    fail_missing(counts(), y_missing,
                 remedy = if (!is.null(na_action)) ", or use `na_action = \"omit\"`")
  }
  if (any(y_missing)) gone <- gone | y_missing
  if (all(gone)) abort("missing_values", "Every row of `x` has missing values.")
  inform(sum(gone), " of ", length(gone), " rows with missing values omitted.")
  which(!gone)
}

# Missing values a column or, where it is known, a variable: rows in which it has one. Under the
# names that the user knows.
missing_counts <- function(x, owner = NULL) {
  if (is.null(owner)) return(stats::setNames(column_counts(x, is_missing), colnames(x)))
  missing <- is_missing(x)
  groups <- split(seq_along(owner), factor(owner, unique(owner)))
  vapply(groups, function(at) sum(rowSums(missing[, at, drop = FALSE]) > 0), 0)
}

# NA but not NaN, which has an error of its own.
is_missing <- function(x) if (is.double(x)) is.na(x) & !is.nan(x) else is.na(x)

fail_missing <- function(counts, y_missing = FALSE, arg = "x", remedy = NULL) {
  bad <- which(counts > 0)
  labels <- paste0(column_labels(names(counts), bad), " (", counts[bad], ")")
  if (length(labels) > 5L) labels <- c(labels[1:5], paste(length(labels) - 5L, "more"))
  abort("missing_values", paste(c(
    if (length(bad)) paste0("`", arg, "` has missing values in ", paste(labels, collapse = ", ")),
    if (sum(y_missing) > 0) paste0("`y` has missing values (", sum(y_missing), ")")
  ), collapse = " and "), ". Remove or impute them", remedy, ".")
}

column_labels <- function(names, at) {
  if (is.null(names)) paste("column", at) else paste0("`", names[at], "`")
}

# What a response may be: anything with a value per row that NA can be looked for in.
check_response <- function(y, n, of) {
  if (is.null(y)) return(invisible())
  if (is.data.frame(y) || !(is.atomic(y) || is.factor(y)) || length(dim(y)) > 2L) {
    must_be("y", paste0("a vector, a factor or a matrix with a value per row of `", of, "`"), y,
            remedy = if (is.data.frame(y)) column_remedy("y"))
  }
  check_response_length(y, n, of = of)
}

# I() in a formula or a data frame is no class of its own, and when a number was taken is of no
# matter here; factors see plain_factor().
plain_response <- function(y) {
  if (inherits(y, "AsIs")) class(y) <- setdiff(class(y), "AsIs")
  if (stats::is.ts(y)) attributes(y)[c("tsp", "class")] <- NULL
  if (is.factor(y)) plain_factor(y) else y
}

check_finite_response <- function(y) {
  if (!is.numeric(y) || all_finite(y)) return(invisible())
  abort("not_finite", "`y` has ", nonfinite_words(sum(is.nan(y)), sum(is.infinite(y))),
        " values. Remove or replace them.")
}

check_squares <- function(y) {
  if (largest_absolute(y) > 1e150) {
    abort("not_finite", "`y` is too large: squared errors overflow. Divide it by a constant.")
  }
  width <- apply(as.matrix(y), 2L, function(v) max(v) - min(v))
  if (any(width > 0 & width < 1e-150)) {
    abort("not_finite", "`y` differs by too little: squared errors vanish. Multiply it by a ",
          "constant.")
  }
}

nonfinite_words <- function(nan, inf) {
  count <- c(`NaN` = nan, infinite = inf)
  count <- count[count > 0]
  paste0(names(count), " (", count, ")", collapse = " and ")
}

check_finite_columns <- function(x, arg = "x") {
  if (all_finite(held_values(x))) return(invisible())
  fail_not_finite(column_counts(x, is.nan), column_counts(x, is.infinite), colnames(x), arg)
}

# `nan`, `inf`: how many such values every column has.
fail_not_finite <- function(nan, inf, names, arg = "x") {
  bad <- which(nan + inf > 0)
  if (!length(bad)) return(invisible())
  abort("not_finite", "`", arg, "` has ", nonfinite_words(sum(nan), sum(inf)), " values, in ",
        paste(utils::head(column_labels(names, bad), 5L), collapse = ", "),
        ". Kernels need finite numbers: remove or replace them.")
}

# ---- scaling --------------------------------------------------------------------

# Sparse rows are divided by the standard deviations and not centred: their centre is 0.
fit_scaling <- function(x, scale, weights = NULL) if (scale) scaling_by(fit_moments(x, weights))

fit_moments <- function(x, weights = NULL) {
  if (is.null(weights)) column_moments(x) else weighted_moments(x, weights)
}

scaling_by <- function(moments) {
  moments$spread[!(moments$spread > 0)] <- 1
  if (!all_finite(moments$center) || !all_finite(moments$spread)) {
    abort("not_finite",
          "`x` is too large to standardise without overflow: divide it by a constant first.")
  }
  list(
    center = moments$center, scale = stats::setNames(moments$spread, names(moments$center))
  )
}

# Variances (divisor n) of columns that were divided by their own deviation.
unit_variance <- function(spread, n) (spread > 0) * ((n - 1) / n)

# Mean and standard deviation of every column: the same bits from rows in any order and pieces.
column_moments <- function(x) {
  if (is_sparse(x)) return(uncentred_moments(x, NULL, max(nrow(x) - 1, 1)))
  named_moments(.Call(ffi_column_moments, x), colnames(x))
}

named_moments <- function(sums, names) {
  moments <- .Call(ffi_mean_and_sd, sums)
  names(moments$center) <- names
  moments
}

# What a weighted variance is divided by. Whole weights count rows, so it is their sum less one;
# weights below one on average are relative, and then it is the share (m - 1) / m of their sum, m
# the rows of positive weight. The larger of the two never vanishes.
weights_divisor <- function(weights) {
  total <- sum(weights)
  max(total - 1, total * (1 - 1 / sum(weights > 0)))
}

# Mean and standard deviation with case weights.
weighted_moments <- function(x, weights) {
  total <- sum(weights)
  divisor <- weights_divisor(weights)
  if (is_sparse(x)) return(uncentred_moments(x, weights, divisor))
  center <- colSums(x * weights) / total
  d <- x - rep(center, each = nrow(x))
  squares <- colSums(d^2 * weights) - colSums(d * weights)^2 / total
  spread <- sqrt(pmax(squares, 0) / divisor)
  constant <- apply(x[weights > 0, , drop = FALSE], 2L, function(v) all(v == v[1L]))
  list(center = center, spread = ifelse(constant, 0, spread))
}

apply_scaling <- function(x, scaling) {
  if (is_sparse(x)) return(scale_sparse(x, scaling))
  if (is.null(scaling)) x else .Call(ffi_scale_columns, x, scaling$center, scaling$scale)
}
