# The first pass over a source: what model_data() learns of rows that are all there. Every chunk is
# summed up by itself (levels, missing values, moments of its columns), the summaries are joined,
# and what comes out is a reader of plain numeric chunks, encoded, scaled and without rows that have
# missing values.
# Moments join without a trace of where the chunks were cut (moments.c).

# ---- one chunk ----------------------------------------------------------------------------------

# A chunk summed up. With `input` its columns are matched with that blueprint, and moments are not
# needed.
chunk_summary <- function(rows, i, input = NULL) {
  parts <- chunk_parts(rows, i)
  y <- if (is.null(rows$y)) parts$y else take_rows(rows$y, rows_of_chunk(rows$source, i))
  frame <- is.data.frame(parts$x)
  if (is.null(input)) {
    check_duplicated_names(colnames(parts$x))
    design <- if (frame) frame_design(parts$x, "x") else design_matrix(parts$x)
  } else {
    design <- list(x = new_matrix(parts$x, input, NULL, "x")$x)
  }
  x <- design$x
  missing <- missing_by_owner(x, design$owner)
  gone <- which(missing$rows | missing_rows(y))
  kept <- if (length(gone)) x[-gone, , drop = FALSE] else x
  list(
    chunk = i, frame = frame, size = nrow(x), gone = gone, row_names = rownames(x),
    missing = missing$counts, y_missing = sum(missing_rows(y)), y = y, weights = parts$weights,
    variables = if (is.null(input) && frame) frame_variables(parts$x),
    width = ncol(x), names = colnames(x),
    moments = chunk_moments(kept, if (is.null(input)) moment_keys(parts$x, design, frame),
                            is.null(input))
  )
}

rows_of_chunk <- function(source, i) sum(source$sizes[seq_len(i - 1L)]) + seq_len(source$sizes[i])

missing_rows <- function(y) {
  if (is.null(y) || !anyNA(y)) return(FALSE)
  missing <- is_missing(y)
  if (is.matrix(missing)) rowSums(missing) > 0 else unname(missing)
}

missing_by_owner <- function(x, owner) {
  count <- if (is.null(owner)) colnames(x) else unique(owner)
  none <- stats::setNames(numeric(if (is.null(owner)) ncol(x) else length(count)), count)
  if (!anyNA(x)) return(list(rows = logical(nrow(x)), counts = none))
  missing <- is_missing(x)
  list(rows = unname(rowSums(missing) > 0), counts = none + missing_counts(x, owner))
}

# Columns are told apart by variable and level until all levels are known.
moment_keys <- function(x, design, frame) {
  if (!frame) return(as.character(seq_len(ncol(design$x))))
  values <- as.list(x)
  unlist(Map(variable_columns, values, names(values), design$input$levels, "\r"),
         use.names = FALSE)
}

chunk_moments <- function(x, keys, wanted) {
  n <- nrow(x)
  finite <- all_finite(x)
  out <- list(
    n = n, keys = keys, nan = if (!finite) colSums(is.nan(x)) else numeric(ncol(x)),
    inf = if (!finite) colSums(is.infinite(x)) else numeric(ncol(x))
  )
  if (wanted) out$sums <- .Call(ffi_column_moments, x)
  out
}

# Of every variable of a frame its kind in words, its shape (no rows), and levels: `all` in their
# order and those `used`.
frame_variables <- function(x) {
  lapply(as.list(x), function(v) {
    kind <- variable_kind(v)
    list(kind = kind, shape = take_rows(v, 0L), times = time_kind(v), used = variable_levels(v),
         all = if (is.factor(v)) setdiff(levels(v), NA))
  })
}

# Missing values alone are of any kind.
variable_kind <- function(v) {
  time <- time_kind(v)
  if (is.logical(v) && !is.matrix(v) && all(is.na(v))) return("empty")
  if (!is.null(time)) return(paste(time, collapse = " in "))
  if (is.factor(v)) return("a factor")
  if (is.character(v)) return("character")
  if (is.matrix(v)) return(paste("a matrix of", ncol(v), "columns", toString(colnames(v))))
  if (is.numeric(v) || is.logical(v)) "numeric" else describe(v)
}

# ---- joining chunks -----------------------------------------------------------------------------

join_summaries <- function(known, new) {
  if (is.null(known)) return(new)
  if (new$frame != known$frame) {
    kinds <- c("a matrix", "a data frame")
    fail_chunk(new$chunk, "is ", kinds[new$frame + 1L], ", and the chunks before it are ",
               if (known$frame) "data frames" else "matrices")
  }
  if (is.null(new$variables) && new$width != known$width) {
    fail_chunk(new$chunk, "has ", new$width, " columns, and those before it have ", known$width)
  }
  known$variables <- join_variables(known$variables, new$variables, new$chunk)
  known$moments <- join_moments(known$moments, new$moments)
  known$missing <- known$missing + new$missing
  known$y_missing <- known$y_missing + new$y_missing
  known
}

join_variables <- function(known, new, chunk) {
  for (name in names(new)) {
    old <- known[[name]]
    now <- new[[name]]
    if (now$kind == "empty") next
    if (old$kind == "empty") {
      known[[name]] <- now
      next
    }
    if (old$kind != now$kind) {
      fail_chunk(chunk, "has other types: column `", name, "` is ", now$kind,
                 ", and in the chunks before it ", old$kind)
    }
    known[[name]]$all <- union(old$all, now$all)
    known[[name]]$used <- union(old$used, now$used)
  }
  known
}

join_moments <- function(a, b) {
  keys <- union(a$keys, b$keys)
  a <- spread_moments(a, keys)
  b <- spread_moments(b, keys)
  list(
    n = a$n + b$n, keys = keys, nan = a$nan + b$nan, inf = a$inf + b$inf,
    sums = if (!is.null(a$sums)) .Call(ffi_join_moments, a$sums, b$sums)
  )
}

# A level that a chunk does not have is a column of zeros there.
spread_moments <- function(m, keys) {
  if (identical(m$keys, keys)) return(m)
  at <- match(m$keys, keys)
  m$nan <- replace(numeric(length(keys)), at, m$nan)
  m$inf <- replace(numeric(length(keys)), at, m$inf)
  sums <- .Call(ffi_column_moments, matrix(0, 1L, length(keys)))
  sums[1L, ] <- m$n
  sums[, at] <- m$sums
  m$sums <- sums
  m$keys <- keys
  m
}

# Levels of all chunks: those of a factor in the order that rbind() gives them, of text sorted.
final_levels <- function(variables) {
  lapply(variables, function(v) {
    if (is.null(v$used)) return(NULL)
    if (v$kind == "a factor") v$all[v$all %in% v$used] else levels(factor(v$used))
  })
}

# ---- the pass -----------------------------------------------------------------------------------

# As model_data(), but `x` is what source_matrices() gives, and `variance` holds the variances of
# the scaled columns. With `input` (and `scaling`) the blueprint and the scaling are given.
source_data <- function(rows, scale = TRUE, na_action = "fail", control = NULL, input = NULL,
                        scaling = NULL) {
  check_flag(scale, "scale")
  na_action <- check_choice(na_action, "na_action", na_actions)
  total <- sum(rows$source$sizes)
  if (!is.language(rows$weights)) rows$weights <- check_case_weights(rows$weights, total, "x")
  check_response(rows$y, total, "x")
  scanned <- scan_chunks(rows, input, control)
  known <- scanned$known
  if (known$width == 0L) abort("data", "`x` has no columns.")
  if (is.null(input)) input <- scanned_input(known)
  check_duplicated_names(input$columns)
  check_missing_counts(known, scanned$incomplete, total, na_action)
  fail_not_finite(known$moments$nan, known$moments$inf, input$columns)
  check_finite_response(scanned$y)
  n <- known$moments$n - (length(scanned$gone) - scanned$incomplete)
  moments <- final_moments(known, input)
  share <- (n - 1) / n # of the variance that divides by n in that of `spread`
  if (!is.null(moments) && !is.null(scanned$weights)) {
    plain <- source_matrices(rows, scanned, input, NULL)
    moments <- weighted_chunk_moments(plain, scanned$weights, control$where$cluster)
    share <- weights_divisor(scanned$weights) / sum(scanned$weights)
  }
  if (is.null(scaling) && scale) scaling <- scaling_by(moments)
  omitted <- if (n < total) {
    structure(as_index(scanned$gone), names = if (is.null(scanned$row_names)) scanned$gone
              else scanned$row_names[scanned$gone],
              class = if (na_action == "exclude") "exclude" else "omit")
  }
  list(
    x = source_matrices(rows, scanned, input, scaling), y = scanned$y, weights = scanned$weights,
    input = input, scaling = scaling, n = n, na.action = omitted,
    rows = source_row_names(scanned, known$frame && na_action == "omit" && n < total),
    ordered = scanned$ordered,
    variance = if (!is.null(moments)) {
      (if (scale) moments$spread > 0 else moments$spread^2) * share
    }
  )
}

# All chunks summed up. `gone`: rows with missing values or without weight, by their number in the
# source; `gone_by_chunk`: within every chunk; `incomplete`: how many of them have missing values;
# y and weights of the rows that stay.
scan_chunks <- function(rows, input, control) {
  sizes <- rows$source$sizes
  chunks <- filled_chunks(rows$source)
  if (!length(chunks)) abort("data", "`x` has no rows.")
  before <- cumsum(sizes) - sizes
  known <- NULL
  incomplete <- 0L
  gone <- y <- weights <- row_names <- vector("list", length(sizes))
  summary_of <- chunk_summaries(rows, chunks, input, control$where$cluster)
  tick <- progress(isTRUE(control$verbose), length(chunks))
  on.exit(tick(close = TRUE))
  for (i in chunks) {
    new <- summary_of(i)
    known <- join_summaries(known, new)
    gone[i] <- list(new$gone)
    y[i] <- list(new$y)
    if (is.null(rows$y)) check_same_kind(y[[chunks[1L]]], new$y, i)
    weights[i] <- list(if (is.language(rows$weights)) new$weights
                       else rows$weights[rows_of_chunk(rows$source, i)])
    incomplete <- incomplete + length(new$gone)
    light <- which(weights[[i]] == 0)
    if (length(light)) gone[[i]] <- sort(union(gone[[i]], light))
    row_names[i] <- list(new$row_names)
    gc(full = FALSE) # R would let chunks that are done with lie about
    tick()
  }
  check_case_weights(unlist(weights), sum(sizes), "x")
  stay <- function(v, i) if (length(gone[[i]])) take_rows(v, -gone[[i]]) else v
  all_gone <- unlist(Map(function(g, b) g + b, gone, before))
  y <- if (is.null(rows$y)) {
    bind_values(lapply(chunks, function(i) stay(y[[i]], i)))
  } else {
    take_rows(rows$y, if (length(all_gone)) -all_gone)
  }
  list(
    known = known, gone = all_gone, incomplete = incomplete, gone_by_chunk = gone,
    sizes = sizes - lengths(gone),
    y = plain_response(y), ordered = is.ordered(y),
    weights = check_case_weights(unlist(lapply(chunks, function(i) stay(weights[[i]], i))),
                                 sum(sizes) - length(all_gone), "x"),
    row_names = all_row_names(row_names, sizes)
  )
}

# A function that gives the summary of a chunk; workers of a cluster sum up chunks of their own.
chunk_summaries <- function(rows, chunks, input, cluster) {
  if (is.null(cluster)) return(function(i) chunk_summary(rows, i, input))
  greet_workers(check_cluster(cluster))
  found <- do.call(c, share_chunks(chunks, cluster, worker_summaries, rows, input))
  function(i) found[[match(i, chunks)]]
}

worker_summaries <- function(chunks, rows, input) {
  in_worker(lapply(chunks, function(i) chunk_summary(rows, i, input)))
}

# Rows of a chunk without names go by their number where another chunk has names; numbers alone, as
# pieces of a data frame have them, are no names.
all_row_names <- function(names, sizes) {
  if (!any(lengths(names))) return(NULL)
  numbers <- split(as.character(seq_len(sum(sizes))), rep(seq_along(sizes), sizes))
  unnamed <- !lengths(names) & sizes > 0
  names[unnamed] <- numbers[as.character(which(unnamed))]
  names <- unlist(names)
  if (!identical(names, unlist(numbers, use.names = FALSE))) names
}

# Values of all chunks, as rbind() puts them together.
bind_values <- function(values) {
  first <- values[[1L]]
  if (is.null(first)) return(NULL)
  if (length(dim(first)) == 2L) return(do.call(rbind, values))
  if (!is.factor(first)) return(do.call(c, values))
  levels <- unique(unlist(lapply(values, levels)))
  factor(unlist(lapply(values, as.character)), levels = levels, ordered = is.ordered(first))
}

check_same_kind <- function(first, now, i) {
  if (is.null(now)) return(invisible())
  kinds <- c(variable_kind(first), variable_kind(now))
  if (kinds[1L] != kinds[2L] && !"empty" %in% kinds) {
    fail_chunk(i, "has other types: the response is ", kinds[2L],
               ", and in the chunks before it ", kinds[1L])
  }
}

scanned_input <- function(known) {
  if (!known$frame) return(list(columns = known$names, width = known$width))
  variables <- known$variables
  times <- Filter(length, lapply(variables, `[[`, "times"))
  if (length(times)) inform_times(times)
  frame_input(lapply(variables, `[[`, "shape"), final_levels(variables), times, "x")
}

check_missing_counts <- function(known, incomplete, total, na_action) {
  if (!any(known$missing > 0) && known$y_missing == 0) return(invisible())
  if (na_action == "fail") {
    fail_missing(known$missing, known$y_missing, remedy = ", or use `na_action = \"omit\"`")
  }
  if (incomplete == total) abort("missing_values", "Every row of `x` has missing values.")
  inform(incomplete, " of ", total, " rows with missing values omitted.")
}

# Means and standard deviations in the order of the blueprint's columns.
final_moments <- function(known, input) {
  m <- known$moments
  if (is.null(m$sums)) return(NULL)
  if (known$frame) {
    shapes <- lapply(known$variables, `[[`, "shape")
    keys <- unlist(Map(variable_columns, shapes, names(shapes), input$levels, "\r"),
                   use.names = FALSE)
    m <- spread_moments(m, union(m$keys, keys))
    m$sums <- m$sums[, match(keys, m$keys), drop = FALSE]
  }
  named_moments(m$sums, input$columns)
}

# As weighted_moments() has them, in two passes over all chunks.
weighted_chunk_moments <- function(x, weights, cluster) {
  sums_about <- function(center) {
    parts <- source_apply(x, weighted_sums, cluster, weights, cumsum(x$sizes) - x$sizes, center)
    list(
      first = Reduce(`+`, lapply(parts, `[[`, "first")),
      second = Reduce(`+`, lapply(parts, `[[`, "second")),
      least = do.call(pmin, lapply(parts, `[[`, "least")),
      most = do.call(pmax, lapply(parts, `[[`, "most"))
    )
  }
  total <- sum(weights)
  center <- sums_about(numeric(x$width))$first / total
  about <- sums_about(center)
  spread <- sqrt(pmax(about$second - about$first^2 / total, 0) / weights_divisor(weights))
  list(center = center, spread = ifelse(about$least == about$most, 0, spread))
}

weighted_sums <- function(i, x, weights, before, center) {
  w <- weights[before[i] + seq_len(nrow(x))]
  d <- x - rep(center, each = nrow(x))
  list(first = colSums(d * w), second = colSums(d^2 * w), least = apply(x, 2L, min),
       most = apply(x, 2L, max))
}

# Names of the rows that stay: their own or, where some of a data frame went for good, numbers.
source_row_names <- function(scanned, numbered) {
  names <- scanned$row_names
  if (is.null(names) && numbered) names <- as.character(seq_len(sum(lengths_of(scanned))))
  if (length(scanned$gone)) names[-scanned$gone] else names
}

as_index <- function(v) if (max(v) <= .Machine$integer.max) as.integer(v) else v

lengths_of <- function(scanned) scanned$sizes + lengths(scanned$gone_by_chunk)
