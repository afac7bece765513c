# Random edits of a model, and the question whether it then answers (as before, or something else
# where a number was edited), refuses, or does what it must never do: fail without a class.

# Paths to everything inside a nested list, as lists of positions.
inner_paths <- function(x, at = integer()) {
  if (!is.list(x) || !length(x)) return(list())
  here <- lapply(seq_along(x), function(i) c(at, i))
  deeper <- lapply(seq_along(x), function(i) inner_paths(unclass(x)[[i]], c(at, i)))
  c(here, do.call(c, deeper))
}

get_at <- function(x, path) {
  for (i in path) x <- unclass(x)[[i]]
  x
}

# `value` is a function of what is there; its answer is put there, or dropped when it is `gone`.
gone <- structure(list(), class = "gone")

change_at <- function(x, path, value) {
  kept <- attributes(x)
  x <- unclass(x)
  i <- path[1L]
  new <- if (length(path) == 1L) value(x[[i]]) else change_at(x[[i]], path[-1L], value)
  if (inherits(new, "gone")) {
    x <- x[-i]
    kept$names <- kept$names[-i]
    if (!is.null(kept$row.names) && !length(x)) kept$row.names <- NULL
  } else {
    x[i] <- list(new)
  }
  if (is.integer(kept$row.names)) {
    kept$row.names <- .set_row_names(length(kept$row.names)) # as it was stored
  }
  attributes(x) <- kept
  x
}

one_element <- function(v, to) {
  if (length(v)) {
    suppressWarnings(v[[sample.int(length(v), 1L)]] <- to) # a factor takes no new level
  }
  v
}

model_edits <- list(
  "drop" = function(v) gone,
  "to NULL" = function(v) NULL,
  "to text" = function(v) if (is.list(v)) "text" else as.character(v),
  "to list" = function(v) as.list(v),
  "to function" = function(v) function(...) 1,
  "to environment" = function(v) globalenv(),
  "to complex" = function(v) if (is.numeric(v)) v + 0i else 1i,
  "to factor" = function(v) factor("a"),
  "to logical" = function(v) if (is.numeric(v)) v > 0 else NA,
  "to integer" = function(v) if (is.double(v)) suppressWarnings(as.integer(v)) else 7L,
  "bare" = function(v) if (is.null(attributes(v))) 1 else as.vector(v),
  "shorter" = function(v) if (is.matrix(v)) v[-1L, , drop = FALSE] else v[-1L],
  "longer" = function(v) if (is.matrix(v)) rbind(v, v) else c(v, v),
  "empty" = function(v) v[0L],
  "narrower" = function(v) if (is.matrix(v)) v[, -1L, drop = FALSE] else v[0L],
  "turned" = function(v) if (is.matrix(v)) t(v) else rev(v),
  "NA" = function(v) if (is.list(v)) NA else one_element(v, NA),
  "all NA" = function(v) if (is.list(v)) NA else replace(v, TRUE, NA),
  "NaN" = function(v) if (is.numeric(v)) one_element(v, NaN) else NaN,
  "Inf" = function(v) if (is.numeric(v)) one_element(v, Inf) else Inf,
  "huge" = function(v) if (is.numeric(v)) one_element(v, 2^31) else 2^31,
  "huge integer" = function(v) if (is.numeric(v)) one_element(v,
    .Machine$integer.max) else .Machine$integer.max,
  "negative" = function(v) if (is.numeric(v)) one_element(v, -1L) else -1L,
  "zero" = function(v) if (is.numeric(v)) one_element(v, 0L) else 0L,
  "denormal" = function(v) if (is.numeric(v)) one_element(v, 1e-320) else 1e-320,
  "other number" = function(v) if (is.numeric(v)) one_element(v, stats::runif(1)) else 0.5,
  "class off" = function(v) unclass(v),
  "class on" = function(v) structure(if (is.null(v)) list() else v, class = "other"),
  "names off" = function(v) unname(v),
  "names turned" = function(v) if (is.null(names(v))) v else stats::setNames(v, rev(names(v)))
)

# One random edit, of a random place inside or of the class; drawn with R's generator.
edit_model <- function(model, classes) {
  others <- setdiff(classes, class(model)[1L])
  if (length(others) && stats::runif(1) < 0.03) {
    to <- sample(others, 1L)
    return(list(label = paste("class to", to),
      model = structure(model, class = c(to, "kernelect_model"))))
  }
  paths <- inner_paths(model)
  path <- paths[[sample.int(length(paths), 1L)]]
  edit <- sample(names(model_edits), 1L)
  label <- paste0(edit, " at ", paste(path_names(model, path), collapse = "$"))
  list(label = label, model = change_at(model, path, model_edits[[edit]]))
}

path_names <- function(x, path) {
  out <- character()
  for (i in path) {
    out <- c(out, if (is.null(names(x))) i else names(x)[i])
    x <- unclass(x)[[i]]
  }
  out
}

# Everything a user asks of a model, each as a function of it and new rows.
model_questions <- list(
  predict = function(m, new) predict(m, new),
  print = function(m, new) utils::capture.output(print(m)),
  summary = function(m, new) utils::capture.output(print(summary(m))),
  plot = function(m, new) plot(m),
  coef = function(m, new) if (!inherits(m, c("kernel_basis", "kernel_tune"))) coef(m),
  nobs = function(m, new) nobs(m),
  fitted = function(m, new) if (inherits(m, c("kernel_lm", "kernel_lda"))) fitted(m),
  residuals = function(m, new) if (inherits(m, "kernel_lm")) residuals(m),
  head = function(m, new) if (inherits(m, "kernel_basis")) unclass(head(m, 2))["index"],
  write_model = function(m, new) written(write_model, m),
  export_c = function(m, new) if (!inherits(m, "kernel_rank")) written(export_c, m)
)

# The text that a function writes of a model.
written <- function(write, m) {
  file <- tempfile()
  on.exit(unlink(file))
  write(m, file)
  readLines(file, warn = FALSE)
}

# "refused", "same", "other", or what must not be: "UNCLASSED ...".
judge_model <- function(model, new, question, expected) {
  result <- attempt(model_questions[[question]](model, new))
  if (is_classed(result$error)) return("refused")
  if (!is.null(result$error)) return(paste("UNCLASSED", conditionMessage(result$error)))
  if (is.null(result$value) || identical(result$value, expected)) "same" else "other"
}

# `count` edits of one example, each asked what the model as it was has an answer to; returns a
# data frame of label, question and verdict.
tamper <- function(example, count, classes, before = function(label) NULL, through = identity) {
  expected <- lapply(model_questions, function(q) attempt(q(example[[1L]], example[[2L]]))$value)
  asked <- names(Filter(Negate(is.null), expected))
  rows <- lapply(seq_len(count), function(k) {
    edited <- edit_model(example[[1L]], classes)
    before(edited$label)
    model <- through(edited$model)
    verdict <- vapply(asked, function(q) judge_model(model, example[[2L]], q, expected[[q]]), "")
    data.frame(label = edited$label, question = asked, verdict = verdict)
  })
  do.call(rbind, rows)
}

within_list <- function(x, ...) {
  new <- list(...)
  for (field in names(new)) x[field] <- new[field]
  x
}
