# Models as text: JSON, written and read without a package, every number exact, nothing in it
# that can run. The grammar of a value (see ?write_model):
#
#   null | {"logical": [...]} | {"integer": [...]} | {"double": [...]} | {"character": [...]}
#        | {"fields": {name: value}} | {"list": [value]} | {"symbol": name}
#        | {"call": [value], "names": [...]}
#
# each with its "attributes" (an object of values) where it has any. A double is a JSON number
# where it is whole and below 2^53, else a string: hexadecimal ("0x1.8p+1") or NA, NaN, Inf,
# -Inf. Decimal fractions would be shorter to read, but not every reader rounds them correctly.

text_format <- "kernelect-model"
text_version <- 1L

# Functions that the terms of a formula may call; anything else would be a program in a file.
text_functions <- c(
  "~", "+", "-", "*", "/", "^", "(", ":", "%%", "%/%", "<", "<=", ">", ">=", "==", "!=", "!", "&",
  "|", "[", "c", "list", "cbind", "I", "abs", "sqrt", "exp", "expm1", "log", "log10", "log1p",
  "log2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sign", "floor",
  "ceiling", "round", "trunc", "pmin", "pmax", "ifelse", "is.na", "as.numeric", "as.integer",
  "as.character", "factor", "ordered", "cut", "poly", "scale", "ns", "bs", "::", "offset"
)

text_packages <- c("base", "stats", "splines") # that they may be looked up in

text_attributes <- c(
  "names", "dim", "dimnames", "class", "levels", "row.names", "variables", "factors",
  "term.labels", "order", "intercept", "response", "predvars", "dataClasses", "coefs", "degree",
  "knots", "Boundary.knots", "scaled:center", "scaled:scale", "offset"
)

# Classes a value may have: no other may choose which methods see what was read.
text_classes <- c(
  "data.frame", "factor", "ordered", "table", "terms", "formula", "matrix", "poly", "basis",
  "Date", "difftime", "AsIs", "omit", "exclude"
)

is_text_class <- function(class) class %in% text_classes | grepl("^kernel(ect)?_[a-z]+$", class)

text_depth <- 60L # of nesting: what a model needs is far less

#' Models as text
#'
#' Write a fitted model to a file of JSON text, and read it back. Use it to keep a model where it
#' must outlive this package, this version of R, or R itself: the text can be read by any language
#' (a reader for Python is installed with the package: `system.file("python", package =
#' "kernelect")`), compared line by line, and sent without fear, for nothing in it can run.
#'
#' @details
#' The text is one object with `format` (always `"kernelect-model"`), `format_version`, `package`
#' (the version that wrote it) and `model`, a value. A value is `null` or an object with one of
#'
#' | key | holds |
#' |---|---|
#' | `logical` | an array of `true`, `false`, `null` (NA) |
#' | `integer` | an array of whole numbers, `null` for NA |
#' | `double` | an array: whole numbers below 2^53 as numbers, all others as strings, hexadecimal (`"0x1.8p+1"`, C's `%a`) or `"NA"`, `"NaN"`, `"Inf"`, `"-Inf"` |
#' | `character` | an array of strings, `null` for NA |
#' | `fields` | an object: a list whose elements all have names |
#' | `list` | an array of values: any other list |
#' | `symbol`, `call` | parts of a formula's terms: a name; a function's name and its arguments |
#'
#' and, where it has any, `attributes`: an object of values (`dim`, `dimnames`, `names`, `levels`,
#' `class`, ...). Matrices are stored column by column. [model_format] lists the fields of each
#' model and how predictions follow from them. A model read back predicts bit for bit the same.
#'
#' Functions cannot be written: a model with a [function_kernel()] is refused, as is a formula that
#' calls anything but arithmetic and the usual transformations. Reading checks everything: text that
#' is not such a model is an error of class `"kernelect_error_text"`, and a model whose fields do
#' not fit together one of class `"kernelect_error_model"`.
#'
#' @param fit a model of this package.
#' @param file the file's path, or a connection.
#' @returns `write_model()`: `file`, invisibly. `read_model()`: the model.
#' @examples
#' fit <- kernel_lm(Species ~ ., iris)
#' file <- tempfile(fileext = ".json")
#' write_model(fit, file)
#' again <- read_model(file)
#' identical(predict(again, iris), predict(fit, iris))
#' @family exports
#' @export
write_model <- function(fit, file) {
  check_given("fit", "file")
  validate_model(fit, "fit")
  if (!inherits(file, "connection")) check_output(file, "file")
  fit$call <- NULL # what the user typed is no part of what the model computes
  text <- paste0(
    "{\"format\": \"", text_format, "\", \"format_version\": ", text_version,
    ", \"package\": ", json_string(package_version_text()), ",\n\"model\": ",
    encode_value(fit, ""), "}"
  )
  writeLines(enc2utf8(text), file, useBytes = TRUE)
  invisible(file)
}

#' @rdname write_model
#' @export
read_model <- function(file) {
  check_given("file")
  readable <- inherits(file, "connection") ||
    (is_text(file) && file.exists(file) && !dir.exists(file))
  if (!readable) {
    abort("text", "`file` must be the path of a file that exists, not ", describe(file), ".")
  }
  lines <- tryCatch(readLines(file, warn = FALSE, encoding = "UTF-8"), error = function(e) {
    abort("text", "`file` cannot be read: ", conditionMessage(e), ".")
  })
  whole <- parse_json(paste(lines, collapse = "\n"))
  if (!is_object(whole) || !identical(whole$format, text_format)) {
    fail_text("it is no model written by `write_model()`")
  }
  if (!identical(as.double(whole$format_version), as.double(text_version))) {
    fail_text("its format version is not ", text_version, ": a newer kernelect may read it")
  }
  fit <- tryCatch(decode_value(whole$model), kernelect_error = stop, error = function(e) {
    fail_text("its values do not fit together (", conditionMessage(e), ")")
  })
  validate_model(fit, "file")
}

fail_text <- function(...) abort("text", "`file` cannot be read as a model: ", ..., ".")

# ---- reading: JSON ---------------------------------------------------------------------

# Objects become named lists of class "json_object", arrays plain lists or (where all elements are
# scalars) vectors of class "json_array" that hold the tokens; numbers, strings and words scalars.
parse_json <- function(text) {
  if (length(text) != 1L || !validUTF8(text)) fail_text("it is no text in UTF-8")
  Encoding(text) <- "UTF-8"
  state <- new.env(parent = emptyenv())
  state$tokens <- json_tokens(text)
  state$is_bracket <- state$tokens %in% c("[", "]", "{", "}")
  state$next_bracket <- next_true(state$is_bracket)
  state$at <- 1L
  value <- read_json_value(state, 0L)
  if (state$at <= length(state$tokens)) fail_text("there is text after its end")
  value
}

# No token goes over the end of a line, so that lines are taken one by one: R looks for interrupts
# between them.
json_tokens <- function(text) {
  tokens <- unlist(lapply(strsplit(text, "\n", fixed = TRUE)[[1L]], line_tokens))
  if (!length(tokens)) fail_text("it is no JSON")
  tokens
}

# Found by bytes: to find the millionth sign of a text in UTF-8, all before it would be counted.
line_tokens <- function(text) {
  pattern <- paste0(
    "\"(?:[^\"\\\\\\x00-\\x1f]++|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})*+\"",
    "|-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?",
    "|true|false|null|[][{},:]"
  )
  Encoding(text) <- "latin1" # a sign a byte
  # (a string of millions of escapes meets a limit of the matcher, which warns)
  found <- suppressWarnings(gregexpr(pattern, text, perl = TRUE, useBytes = TRUE)[[1L]])
  if (found[1L] < 0L) found <- structure(integer(), match.length = integer())
  last <- found + attr(found, "match.length")
  between <- substring(text, c(1L, last), c(found - 1L, nchar(text, "bytes")))
  if (any(grepl("[^ \t\r\n]", between, useBytes = TRUE))) fail_text("it is no JSON")
  if (!length(found)) return(character())
  tokens <- substring(text, found, last - 1L)
  Encoding(tokens) <- "UTF-8"
  tokens
}

# For each place the next place at or after it where x is TRUE, else NA.
next_true <- function(x) {
  at <- which(x)
  at[findInterval(seq_along(x) - 1L, at) + 1L]
}

read_json_value <- function(state, depth) {
  if (depth > text_depth) fail_text("it is nested too deeply")
  token <- take_token(state)
  switch(substr(token, 1L, 1L),
    "{" = read_json_object(state, depth),
    "[" = read_json_array(state, depth),
    "]" = , "}" = , "," = , ":" = fail_text("it is no JSON: unexpected `", token, "`"),
    json_scalar(token)
  )
}

take_token <- function(state) {
  if (state$at > length(state$tokens)) fail_text("it ends too early")
  state$at <- state$at + 1L
  state$tokens[state$at - 1L]
}

expect_token <- function(state, wanted) {
  token <- take_token(state)
  if (!token %in% wanted) fail_text("it is no JSON: unexpected `", substr(token, 1L, 20L), "`")
  token
}

read_json_object <- function(state, depth) {
  out <- list()
  names <- character()
  if (identical(state$tokens[state$at], "}")) {
    state$at <- state$at + 1L
    return(structure(list(), names = character(), class = "json_object"))
  }
  repeat {
    key <- take_token(state)
    if (substr(key, 1L, 1L) != "\"") fail_text("it is no JSON: a key must be a string")
    expect_token(state, ":")
    out[length(out) + 1L] <- list(read_json_value(state, depth + 1L))
    names[length(names) + 1L] <- key
    if (expect_token(state, c(",", "}")) == "}") break
  }
  names <- unescape(names)
  if (anyDuplicated(names)) fail_text("a key occurs twice")
  structure(out, names = names, class = "json_object")
}

read_json_array <- function(state, depth) {
  end <- state$next_bracket[state$at]
  if (is.na(end)) fail_text("it ends too early")
  if (state$tokens[end] == "]") {
    tokens <- state$tokens[seq_len(end - state$at) + state$at - 1L]
    state$at <- end + 1L
    return(scalar_array(tokens))
  }
  out <- list()
  repeat {
    out[length(out) + 1L] <- list(read_json_value(state, depth + 1L))
    if (expect_token(state, c(",", "]")) == "]") break
  }
  out
}

# Elements and commas in turn, all of them scalars.
scalar_array <- function(tokens) {
  if (!length(tokens)) return(structure(character(), class = "json_array"))
  odd <- seq_along(tokens) %% 2L == 1L
  good <- length(tokens) %% 2L == 1L && all(tokens[!odd] == ",") &&
    !any(tokens[odd] %in% c(",", ":"))
  if (!good) fail_text("it is no JSON: an array is damaged")
  structure(tokens[odd], class = "json_array")
}

json_scalar <- function(token) {
  switch(token, true = TRUE, false = FALSE, null = NULL,
         if (substr(token, 1L, 1L) == "\"") unescape(token) else as.double(token))
}

# Strings without their quotes and escapes.
unescape <- function(x) {
  x <- substr(x, 2L, nchar(x) - 1L)
  escaped <- grepl("\\", x, fixed = TRUE)
  x[escaped] <- vapply(x[escaped], unescape_one, "", USE.NAMES = FALSE)
  x
}

# Escapes and what is between them; characters beyond 16 bits come as two halves.
unescape_one <- function(x) {
  half <- function(range) paste0("\\\\u[dD][", range, "][0-9a-fA-F]{2}")
  pattern <- paste0(half("89abAB"), half("c-fC-F"), "|\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+")
  parts <- regmatches(x, gregexpr(pattern, x, perl = TRUE))[[1L]]
  paste(vapply(parts, unescape_part, ""), collapse = "")
}

unescape_part <- function(part) {
  if (!startsWith(part, "\\")) return(part)
  kind <- substr(part, 2L, 2L)
  if (kind != "u") {
    return(switch(kind, b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", kind))
  }
  code <- strtoi(substring(part, c(3L, 9L), c(6L, 12L)), 16L)
  if (nchar(part) == 12L) {
    return(intToUtf8(0x10000 + (code[1L] - 0xD800) * 0x400 + code[2L] - 0xDC00))
  }
  if (code[1L] == 0L || (code[1L] >= 0xD800 && code[1L] <= 0xDFFF)) {
    fail_text("a character is damaged")
  }
  intToUtf8(code[1L])
}

is_object <- function(x) inherits(x, "json_object")

# ---- reading: values -------------------------------------------------------------------

# Nested no deeper than the JSON it comes from.
decode_value <- function(x) {
  if (is.null(x)) return(NULL)
  kinds <- c("logical", "integer", "double", "character", "fields", "list", "symbol", "call")
  kind <- if (is_object(x)) intersect(names(x), kinds)
  if (length(kind) != 1L || !all(names(x) %in% c(kind, "attributes", "names"))) {
    fail_text("a value is of no known kind")
  }
  value <- switch(kind,
    fields = decode_fields(x$fields),
    list = decode_list(x$list),
    symbol = decode_symbol(x$symbol),
    call = decode_call(x),
    decode_vector(x[[kind]], kind)
  )
  decode_attributes(value, x[["attributes", exact = TRUE]])
}

decode_vector <- function(tokens, kind) {
  if (!inherits(tokens, "json_array")) fail_text("a vector is no array of its kind")
  tokens <- unclass(tokens)
  switch(kind,
    logical = decode_words(tokens, c(true = TRUE, false = FALSE)),
    integer = decode_integers(tokens),
    double = decode_doubles(tokens),
    character = decode_strings(tokens)
  )
}

decode_words <- function(tokens, words) {
  if (!all(tokens %in% c(names(words), "null"))) {
    fail_text("a logical value is neither true nor false")
  }
  unname(words[match(tokens, names(words))])
}

decode_integers <- function(tokens) {
  known <- tokens != "null"
  out <- rep(NA_integer_, length(tokens))
  if (!all(grepl("^-?[0-9]{1,10}$", tokens[known]))) fail_text("a whole number is none")
  value <- as.double(tokens[known])
  if (any(abs(value) > .Machine$integer.max)) fail_text("a whole number is too large")
  out[known] <- as.integer(value)
  out
}

decode_doubles <- function(tokens) {
  quoted <- substr(tokens, 1L, 1L) == "\""
  text <- tokens
  text[quoted] <- substr(tokens[quoted], 2L, nchar(tokens[quoted]) - 1L)
  good <- ifelse(quoted,
    text %in% c("NA", "NaN", "Inf", "-Inf") |
      grepl("^-?0x[01]([.][0-9a-f]{1,13})?p[+-][0-9]{1,4}$", text),
    grepl("^-?[0-9]", text)
  )
  if (!all(good)) fail_text("a number is none")
  out <- suppressWarnings(as.double(text))
  out[text == "NaN"] <- NaN
  out
}

decode_strings <- function(tokens) {
  known <- tokens != "null"
  if (!all(substr(tokens[known], 1L, 1L) == "\"")) fail_text("a string is none")
  out <- rep(NA_character_, length(tokens))
  out[known] <- unescape(tokens[known])
  out
}

decode_fields <- function(x) {
  if (!is_object(x)) fail_text("named fields are no object")
  stats::setNames(lapply(unclass(x), decode_value), names(x))
}

decode_list <- function(x) {
  if (inherits(x, "json_array")) {
    if (!all(unclass(x) == "null")) fail_text("a list holds bare values")
    return(rep(list(NULL), length(x)))
  }
  if (!is.list(x) || is_object(x)) fail_text("a list is no array")
  lapply(x, decode_value)
}

decode_symbol <- function(x) {
  if (!is.character(x) || length(x) != 1L || !nzchar(x)) fail_text("a name is none")
  as.name(x)
}

decode_call <- function(x) {
  parts <- decode_list(x$call)
  if (!length(parts)) fail_text("a call is empty")
  out <- as.call(parts)
  check_callable(out, function(head) {
    fail_text("its formula calls `", deparse1(head),
      "()`, which is not among the functions allowed")
  })
  if (!is.null(x$names)) {
    names <- decode_strings(unclass(x$names))
    if (length(names) != length(out) || anyNA(names)) fail_text("names of a call are damaged")
    names(out) <- names
  }
  out
}

decode_attributes <- function(value, x) {
  if (is.null(x)) return(value)
  if (!is_object(x) || !all(names(x) %in% text_attributes)) fail_text("an attribute is not known")
  all <- lapply(unclass(x), decode_value)
  if (!is.null(all$dim) && !(is.numeric(all$dim) && prod(all$dim) == length(value))) {
    fail_text("dimensions do not fit the values")
  }
  for (n in setdiff(in_turn(names(all)), "class")) attr(value, n) <- all[[n]]
  if (is.null(all$class)) return(value)
  if (!is.character(all$class) || !all(is_text_class(all$class))) fail_text("a class is not known")
  if ("terms" %in% all$class) attr(value, ".Environment") <- NULL
  class(value) <- all$class
  value
}
