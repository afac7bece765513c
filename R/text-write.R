# Values as JSON text, for write_model(): see text.R for what the text looks like.

encode_value <- function(x, field) {
  if (is.null(x)) return("null")
  body <- switch(typeof(x),
    logical = , integer = , double = , character = encode_vector(x),
    list = encode_list(x, field),
    symbol = paste0("\"symbol\": ", json_string(as.character(x))),
    language = encode_call(x, field),
    fail_unwritable(x, field)
  )
  paste0("{", body, encode_attributes(x, field), "}")
}

fail_unwritable <- function(x, field) {
  what <- if (is.function(x)) "a function" else paste0("an object of type \"", typeof(x), "\"")
  abort("argument", "`fit` holds ", what, " (`", field, "`), which text cannot: ",
        "a model written to a file must not be able to run anything.")
}

encode_vector <- function(x) {
  text <- switch(typeof(x),
    logical = ifelse(is.na(x), "null", ifelse(x, "true", "false")),
    integer = ifelse(is.na(x), "null", format(unclass(x), scientific = FALSE, trim = TRUE)),
    double = encode_doubles(as.vector(unclass(x))),
    character = ifelse(is.na(x), "null", json_string(x))
  )
  paste0("\"", typeof(x), "\": [", in_lines(text), "]")
}

# Values with commas between them, 200 a line: lines are what reading takes at a time.
in_lines <- function(text) {
  gap <- rep(", ", length(text))
  gap[seq_along(gap) %% 200L == 0L] <- ",\n"
  gap[length(gap)] <- ""
  paste0(text, gap[seq_along(text)], collapse = "")
}

encode_doubles <- function(v) {
  whole <- is.finite(v) & v == trunc(v) & abs(v) < 2^53 & !(v == 0 & 1 / v < 0)
  out <- character(length(v))
  out[whole] <- sprintf("%.0f", v[whole])
  odd <- !is.finite(v)
  out[odd] <- paste0("\"", ifelse(is.nan(v[odd]), "NaN", as.character(v[odd])), "\"")
  rest <- !whole & !odd
  out[rest] <- sprintf("\"%a\"", v[rest])
  out
}

encode_list <- function(x, field) {
  names <- names(x)
  plain <- unclass(x)
  named <- !is.null(names) && !anyNA(names) && all(nzchar(names)) &&
    !anyDuplicated(names)
  values <- vapply(seq_along(plain), function(i) {
    encode_value(plain[[i]], paste0(field, if (nzchar(field)) "$", if (named) names[i] else i))
  }, "")
  if (!named) return(paste0("\"list\": [", paste(values, collapse = ", "), "]"))
  fields <- if (length(x)) paste0("\n", json_string(names), ": ", values, collapse = ",")
  paste0("\"fields\": {", fields, "}")
}

encode_call <- function(x, field) {
  check_callable(x)
  parts <- vapply(as.list(x), encode_value, "", field = field)
  names <- if (!is.null(names(x))) {
    paste0(", \"names\": [", paste(json_string(names(x)), collapse = ", "), "]")
  }
  paste0("\"call\": [", paste(parts, collapse = ", "), "]", names)
}

# A call of a known function, by its name or `package::name`.
check_callable <- function(call, fail = fail_function) {
  head <- call[[1L]]
  known <- if (identical(head, as.name("::"))) is_qualified(call) else is_known(head)
  if (!known && !is_qualified(head)) fail(head)
}

is_known <- function(f) is.name(f) && as.character(f) %in% text_functions

# To look into a package loads it, and loading runs what is in it.
is_qualified <- function(f) {
  is.call(f) && length(f) == 3L && identical(f[[1L]], as.name("::")) && is.name(f[[2L]]) &&
    as.character(f[[2L]]) %in% text_packages && is_known(f[[3L]])
}

fail_function <- function(head) {
  abort("argument", "The formula of `fit` calls `", deparse1(head), "()`, which text cannot hold: ",
        "compute that column before the fit, or use another way to keep the model (`saveRDS()`).")
}

encode_attributes <- function(x, field) {
  all <- attributes(x)
  if (typeof(x) == "language") all$names <- NULL
  if (typeof(x) == "list" && !is.null(names(x)) && !anyDuplicated(names(x)) &&
      all(nzchar(names(x)))) {
    all$names <- NULL
  }
  all <- all[setdiff(names(all), c("srcref", ".Environment"))]
  if (!length(all)) return("")
  unknown <- setdiff(names(all), text_attributes)
  if (length(unknown)) {
    abort("argument", "`fit` has an attribute ", backticked(unknown), " (in `", field,
          "`), which text cannot hold.")
  }
  if (is.data.frame(x)) all$row.names <- attr(x, "row.names")
  all <- all[in_turn(names(all))]
  values <- vapply(names(all), function(n) encode_value(all[[n]], paste0(field, "@", n)), "")
  paste0(", \"attributes\": {", paste0(json_string(names(all)), ": ", values, collapse = ", "), "}")
}

# The turn in which attributes are written and set: others rely on the first, the class on all.
in_turn <- function(names) {
  first <- intersect(c("dim", "names", "levels"), names)
  c(first, setdiff(names, c(first, "class")), intersect("class", names))
}

# Strings with what JSON wants escaped; control characters by number.
json_string <- function(x) {
  x <- enc2utf8(x)
  x <- gsub("\\", "\\\\", x, fixed = TRUE)
  x <- gsub("\"", "\\\"", x, fixed = TRUE)
  for (code in c(1:31, 127L)) {
    mark <- intToUtf8(code)
    if (any(grepl(mark, x, fixed = TRUE))) {
      x <- gsub(mark, sprintf("\\u%04x", code), x, fixed = TRUE)
    }
  }
  paste0("\"", x, "\"")
}
