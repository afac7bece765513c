# Predictions for rows in chunks: each chunk goes through the same predict() as any new rows, and
# its answer to a function, to a file, or into one result.

# Whether predict() is asked for rows in chunks.
by_chunks <- function(newdata, write) {
  source <- !missing(newdata) && is_source(newdata)
  if (!source && !is.null(write)) {
    abort("argument", "`write` is for rows in chunks: give a `row_source()` as `newdata`.")
  }
  source
}

# `call` is that of a method of predict(), its arguments seen from `home`.
predict_source <- function(object, source, write, call, home) {
  given <- as.list(call)[-1L]
  given <- lapply(given[!names(given) %in% c("object", "newdata", "write")], eval, home)
  again <- function(chunk) do.call(stats::predict, c(list(object, chunk), given))
  predict_chunks(source, write, again)
}

# predict(object, chunk, ...) of every chunk of `source`. `again` predicts one chunk.
predict_chunks <- function(source, write, again, verbose = FALSE) {
  source <- validate_source(source, "newdata")
  if (is.null(source$columns) && length(filled_chunks(source))) {
    source$columns <- first_columns(source)
  }
  write <- check_write(write, source)
  values <- vector("list", if (is.null(write)) length(source$sizes) else 0L)
  tick <- progress(verbose, length(source$sizes))
  on.exit(tick(close = TRUE))
  for (i in filled_chunks(source)) {
    value <- again(source_chunk(source, i))
    if (is.null(write)) values[[i]] <- value else write(i, value)
    tick()
  }
  if (is.null(write)) return(bind_predictions(values[filled_chunks(source)]))
  invisible(source)
}

# Where answers go: nowhere (NULL), to the user's function, or to a CSV file that grows.
check_write <- function(write, source) {
  if (is.null(write) || is.function(write)) return(write)
  if (!is_text(write)) {
    must_be("write", paste("NULL, a function of a chunk's number and its predictions, or the path",
                           "of a file"), write)
  }
  csv_writer(check_output(write, "write"), filled_chunks(source)[1L])
}

csv_writer <- function(file, first) {
  force(file)
  force(first)
  function(i, value) {
    table <- prediction_table(value)
    utils::write.table(table, file, append = i != first, sep = ",", row.names = FALSE,
                       col.names = i == first, qmethod = "double")
  }
}

prediction_table <- function(value) {
  if (is.list(value)) {
    return(data.frame(prediction_table(value$fit), se.fit = unname(value$se.fit)))
  }
  if (!is.matrix(value)) return(data.frame(prediction = unname(value)))
  out <- as.data.frame(value, optional = TRUE)
  names(out) <- colnames_or(value, "prediction")
  out
}

# The answers of all chunks as one, in the shape that all rows at once would have.
bind_predictions <- function(values) {
  first <- values[[1L]]
  if (is.data.frame(first) || is.matrix(first)) return(do.call(rbind, values))
  if (is.list(first)) {
    rows <- intersect(c("fit", "se.fit"), names(first))
    first[rows] <- lapply(rows, function(field) bind_predictions(lapply(values, `[[`, field)))
    return(first)
  }
  if (!is.factor(first)) return(do.call(c, values))
  out <- factor(unlist(lapply(values, as.character)), levels(first), ordered = is.ordered(first))
  names(out) <- unlist(lapply(values, names))
  out
}
