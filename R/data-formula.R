# From a formula to a data frame of variables, and what of it new data will need.

# ---- formulas -------------------------------------------------------------------

# The body of every formula method: `.fit` is the default method, `.call` the user's call, in which
# `subset` and `weights` wait to be worked out. Dots, since `...` may have a `fit` of its own.
fit_formula <- function(.fit, formula, data, .call, ..., .response = TRUE) {
  if (missing(formula)) {
    abort("argument", "`formula` is missing: give it by that name, or first and without a name.")
  }
  if ("weights" %in% names(.call) && !"weights" %in% names(formals(.fit))) {
    abort("dots", "Unknown argument: `weights`. This function takes no case weights.")
  }
  by_chunks <- !missing(data) && is_source(data)
  if (by_chunks && !"memory" %in% names(formals(.fit))) refuse_source("data")
  parts <- if (by_chunks) {
    formula_source(formula, data, .response, .call$subset, .call$weights)
  } else {
    formula_data(formula, data, .response, .call$subset, .call$weights)
  }
  model <- if (!.response) {
    .fit(parts$x, ...)
  } else if (is.null(parts$weights)) {
    .fit(parts$x, parts$y, ...)
  } else {
    .fit(parts$x, parts$y, ..., weights = parts$weights)
  }
  model$call <- portable_call(.call, model)
  with_origin(model, parts$origin)
}

# Predictors as a data frame, response, case weights, and terms stripped of their environment (a
# model must not carry the caller's workspace along). `subset` and `weights` are expressions,
# worked out among the data and then where the formula was written, as `lm()` does.
formula_data <- function(formula, data, response = TRUE, subset = NULL, weights = NULL) {
  if (missing(data)) data <- NULL
  check_formula(formula, response)
  if (!(is.null(data) || is.data.frame(data) || is.environment(data))) {
    must_be("data", "a data frame", data)
  }
  if (is.data.frame(data)) check_variables(formula, data, "data")
  frame <- model_frame(simple_terms(formula, data), data)
  terms <- attr(frame, "terms")
  found <- function(expr, arg) found_in_data(expr, data, environment(formula), arg)
  weights <- check_case_weights(found(weights, "weights"), nrow(frame), "data")
  rows <- chosen_rows(found(subset, "subset"), frame)
  origin <- portable_terms(terms, c(names(data), names(frame)), nrow(frame))
  if (!is.null(rows)) frame <- frame[rows, , drop = FALSE]
  at <- attr(terms, "response")
  x <- if (at) frame[-at] else frame
  if (!ncol(x)) abort("formula", "`formula` names no predictor.")
  attr(x, "terms") <- NULL
  list(
    x = x, y = if (at) frame[[at]], weights = take_rows(weights, rows),
    origin = origin
  )
}

check_formula <- function(formula, response) {
  if (!inherits(formula, "formula")) must_be("formula", "a formula such as `y ~ .`", formula)
  if (response && length(formula) < 3L) {
    abort("formula", "`formula` must have a response on its left-hand side, such as `y ~ .`.")
  }
  if (!response && length(formula) == 3L) {
    abort("formula", "`formula` must not have a response here: write `~ .` or `~ a + b`.")
  }
  check_bars(formula[[length(formula)]])
}

# What stands beside `|` is a group in formulas of other packages.
check_bars <- function(term) {
  if (!is.call(term)) return(invisible())
  head <- as.character(term[[1L]])[1L]
  if (head %in% c("|", "||")) {
    abort("formula", "`formula` has a `|` (", deparse1(term), "), which means \"or\" here, not ",
          "groups of rows: list the columns with `+`, or write `I(", deparse1(term), ")`.")
  }
  if (head %in% formula_operators) lapply(as.list(term)[-1L], check_bars)
}

found_in_data <- function(expr, data, scope, arg) {
  tryCatch(
    eval(expr, data, scope),
    error = function(e) {
      abort("argument", "`", arg, "` cannot be worked out: ", conditionMessage(e), ".")
    }
  )
}

# Row numbers of a subset, given as `[` takes them; NULL means all. NA chooses no row.
chosen_rows <- function(subset, frame) {
  if (is.null(subset)) return(NULL)
  n <- nrow(frame)
  if (!(is.logical(subset) || is.numeric(subset) || is.character(subset)) || is.object(subset)) {
    must_be("subset", "a logical vector, row numbers or row names", subset)
  }
  if (is.logical(subset) && !length(subset) %in% c(1L, n)) {
    abort("argument", "`subset` must have one value per row of `data` (", n, "), not ",
          length(subset), ".")
  }
  rows <- stats::setNames(seq_len(n), row.names(frame))[subset]
  lost <- !is.logical(subset) & is.na(rows)
  if (any(lost)) {
    abort("argument", "`subset` names rows that `data` does not have: ",
          backticked(if (is.character(subset)) subset[lost] else setdiff(subset, seq_len(n))), ".")
  }
  rows <- unname(rows[!is.na(rows)])
  if (!length(rows)) abort("data", "`subset` leaves no rows.")
  rows
}

# Terms with `.` spelt out. What is subtracted goes: model.frame() would keep it as a column.
# Worked out once: R takes seconds to read a formula of thousands of terms.
simple_terms <- function(formula, data) {
  if (!is.data.frame(data)) {
    if ("." %in% all.vars(formula)) {
      abort("formula", "`formula` has a `.`, which needs `data` to be a data frame.")
    }
    data <- NULL
  }
  terms <- read_terms(formula, data)
  check_terms(terms)
  terms <- without_response(terms)
  used <- rowSums(as.matrix(attr(terms, "factors"))) > 0
  if (!length(used)) used <- logical(length(attr(terms, "variables")) - 1L)
  used[attr(terms, "response")] <- TRUE
  attr(terms, "variables") <- attr(terms, "variables")[c(TRUE, used)]
  attr(terms, "factors") <- NULL # of a size with the square of the columns
  terms
}

# R warns of what is subtracted and not in the formula otherwise, though it reads it well.
read_terms <- function(formula, data) {
  withCallingHandlers(
    tryCatch(
      stats::terms(formula, data = data),
      error = function(e) abort("formula", "`formula` cannot be read: ", conditionMessage(e), ".")
    ),
    warning = function(w) {
      if (grepl("'varlist'", conditionMessage(w), fixed = TRUE)) tryInvokeRestart("muffleWarning")
    }
  )
}

# The response is no term: lm() too drops it from among the predictors with a warning.
without_response <- function(terms) {
  if (!attr(terms, "response")) return(terms)
  name <- deparse1(attr(terms, "variables")[[2L]], backtick = TRUE)
  again <- attr(terms, "term.labels") == name
  if (!any(again)) return(terms)
  warn("formula", "`formula` has the response among the predictors: ", name, " is dropped there.")
  for (part in c("term.labels", "order")) attr(terms, part) <- attr(terms, part)[!again]
  terms
}

# The evaluated variables, with the terms as an attribute. Columns that are taken as they are need
# no evaluation.
model_frame <- function(terms, data, arg = "data") {
  variables <- as.list(attr(terms, "variables"))[-1L]
  plain <- is.data.frame(data) && all(vapply(variables, is.name, NA))
  names <- if (plain) vapply(variables, as.character, "")
  if (plain && all(names %in% names(data)) && !anyDuplicated(names)) {
    attr(terms, "predvars") <- attr(terms, "variables")
    frame <- as.data.frame(data)[names]
    return(structure(frame, terms = terms))
  }
  tryCatch(
    stats::model.frame(terms, data, na.action = stats::na.pass),
    error = function(e) {
      abort("formula", "`formula` cannot be worked out on `", arg, "`: ", conditionMessage(e), ".")
    }
  )
}

# What the blueprint keeps of a formula: its terms without their environment, the columns they
# need, and of what else they use as much as new data call for, `n` rows having been there. Single
# values, such as the degree in `poly(x, degree)`, are written into the terms; functions and values
# that are not one a row go into `scope`.
portable_terms <- function(terms, columns, n) {
  home <- attr(terms, ".Environment")
  for (name in setdiff(all.vars(attr(terms, "predvars")), columns)) {
    value <- get0(name, home, mode = "any")
    if (is.atomic(value) && length(value) == 1L) {
      attr(terms, "predvars") <- do.call(
        substitute, list(attr(terms, "predvars"), stats::setNames(list(value), name))
      )
    }
  }
  attr(terms, ".Environment") <- NULL
  wanted <- attr(stats::delete.response(terms), "predvars")
  variables <- all.vars(wanted)
  values <- Filter(function(name) is_parameter(get0(name, home), n), setdiff(variables, columns))
  list(
    terms = terms, needed = setdiff(variables, values),
    scope = packed_scope(setdiff(c(values, all.names(wanted)), columns), home)
  )
}

is_parameter <- function(value, n) !is.null(value) && (is.function(value) || NROW(value) != n)

# ---- what a formula uses from where it was written ---------------------------------

# The values of `names`, and of the names their functions use in turn, as far as they are found
# before the global environment and packages: those will be there when new data come, and the
# environments between, with all they hold, need not be kept. Functions leave theirs behind.
packed_scope <- function(names, home, scope = list()) {
  for (name in setdiff(unique(names), "")) {
    found <- local_value(name, home)
    if (is.null(found) || is.environment(found$value)) next
    value <- found$value
    bare <- if (is_local_function(value)) without_home(value) else value
    if (name %in% names(scope)) {
      if (identical(scope[[name]], bare)) next
      abort("formula", "`formula` uses functions that know two different things by the name `",
            name, "`. Rename one of them.")
    }
    scope[[name]] <- bare
    if (is_local_function(value)) {
      scope <- packed_scope(free_names(value), environment(value), scope)
    }
  }
  scope
}

local_value <- function(name, home) {
  while (!is_lasting(home)) {
    if (exists(name, home, inherits = FALSE)) {
      return(list(value = get(name, home, inherits = FALSE)))
    }
    home <- parent.env(home)
  }
  # what a package keeps to itself is found by its own code alone
  if (isNamespace(home) && exists(name, home, inherits = FALSE)) list(value = get(name, home))
}

is_lasting <- function(home) {
  identical(home, globalenv()) || identical(home, emptyenv()) || identical(home, baseenv()) ||
    isNamespace(home) || !is.null(attr(home, "name"))
}

is_local_function <- function(f) {
  is.function(f) && !is.primitive(f) && !is_lasting(environment(f))
}

without_home <- function(f) {
  f <- utils::removeSource(f)
  environment(f) <- emptyenv()
  f
}

# Names in a function that are neither its arguments nor assigned in it.
free_names <- function(f) {
  inside <- as.call(c(as.name("{"), as.list(formals(f)), body(f)))
  setdiff(all.names(inside), c(names(formals(f)), assigned_names(body(f))))
}

assigned_names <- function(expr) {
  if (!is.call(expr)) return(character())
  assigns <- as.character(expr[[1L]])[1L] %in% c("<-", "=", "for") && is.name(expr[[2L]])
  c(if (assigns) as.character(expr[[2L]]), unlist(lapply(as.list(expr)[-1L], assigned_names)))
}

# An environment with what packed_scope() kept.
unpacked_scope <- function(scope, parent = globalenv()) {
  if (!length(scope)) return(parent)
  home <- list2env(scope, parent = parent)
  for (name in names(scope)) {
    f <- scope[[name]]
    if (is.function(f) && identical(environment(f), emptyenv())) {
      assign(name, `environment<-`(f, home), home)
    }
  }
  home
}

# A name that is neither a column nor a variable the user can see is most likely misspelt. A
# function may be handed to another, as in `sapply(x, f)`, but is no variable by itself.
check_variables <- function(formula, data, arg) {
  unknown <- setdiff(all.vars(formula), c(names(data), "."))
  alone <- names_alone(formula)
  visible <- function(name) {
    value <- get0(name, environment(formula))
    !is.null(value) && !(is.function(value) && name %in% alone)
  }
  unknown <- unknown[!vapply(unknown, visible, NA)]
  if (!length(unknown)) return(invisible())
  near <- unique(unlist(lapply(unknown, nearest_name, names(data))))
  verb <- if (length(unknown) > 1L) " are not columns of `" else " is not a column of `"
  abort("columns", backticked(unknown), verb, arg, "`.",
        if (length(near)) paste0(" Did you mean ", backticked(near), "?"))
}

# Names that are terms of a formula by themselves.
names_alone <- function(expr) {
  if (is.name(expr)) return(as.character(expr))
  if (!is.call(expr) || !as.character(expr[[1L]])[1L] %in% formula_operators) return(character())
  unlist(lapply(as.list(expr)[-1L], names_alone))
}

formula_operators <- c("~", "+", "-", "*", ":", "/", "^", "%in%", "(")

nearest_name <- function(name, names) {
  if (!length(names)) return(character())
  edits <- as.vector(utils::adist(name, names, ignore.case = TRUE))
  names[edits == min(edits) & edits <= nchar(name) / 3]
}

check_terms <- function(terms) {
  if (any(attr(terms, "order") > 1L)) {
    abort("formula", "`formula` has an interaction (",
          attr(terms, "term.labels")[attr(terms, "order") > 1L][1L],
          "). A kernel models interactions by itself: list the variables with `+`.")
  }
  offset <- attr(terms, "offset")
  if (!is.null(offset)) {
    abort("formula", "`formula` must not have an offset (",
          deparse1(attr(terms, "variables")[[offset[1L] + 1L]]),
          "): fit `y - offset`, and add it to predictions.")
  }
}
