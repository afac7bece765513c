# Every message a user can meet starts here: classed conditions that carry the user's own
# call, name the argument in backticks, say what was expected and what came.

abort <- function(kind, ..., call = user_call()) {
  stop(new_condition("error", kind, paste0(...), call))
}

warn <- function(kind, ...) {
  warning(new_condition("warning", kind, paste0(...), user_call()))
}

inform <- function(...) {
  message(structure(
    class = c("kernelect_message", "message", "condition"),
    list(message = paste0(..., "\n"), call = NULL)
  ))
}

new_condition <- function(type, kind, text, call) {
  structure(
    class = c(
      paste0("kernelect_", type, "_", kind), paste0("kernelect_", type), type, "condition"
    ),
    list(message = text, call = call)
  )
}

# The outermost call of a function of this package: what the user typed, so with the name of the
# generic and not of the method.
user_call <- function() {
  home <- topenv()
  for (i in seq_len(sys.nframe())) {
    if (identical(topenv(environment(sys.function(i))), home)) {
      call <- sys.call(i)
      if (is.name(call[[1L]])) {
        name <- sub("[.](summary[.])?kernel[a-z]*_[a-z]+$", "", call[[1L]])
        if (name == "Ops") name <- get(".Generic", sys.frame(i)) # of a group of them
        call[[1L]] <- as.name(name)
      }
      return(call)
    }
  }
}

is_installed <- function(package) requireNamespace(package, quietly = TRUE)

# A suggested package, or an error that says how to get it.
needs_package <- function(package) {
  if (is_installed(package)) return(invisible())
  abort("package", "This needs the ", package, " package: install.packages(\"", package, "\").")
}

# "a character vector of length 2": what came, in words.
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.data.frame(x)) return(sprintf("a data frame with %d rows", nrow(x)))
  if (is.function(x)) return("a function")
  if (is.object(x)) return(paste0("an object of class \"", class(x)[1L], "\""))
  if (is.matrix(x)) return(sprintf("a %d x %d %s matrix", nrow(x), ncol(x), typeof(x)))
  if (is.list(x)) return(sprintf("a list of length %d", length(x)))
  if (is.array(x) && length(dim(x)) > 2L) {
    return(paste("an array of dimension", paste(dim(x), collapse = " x ")))
  }
  if (is.atomic(x) && length(x) == 1L) {
    return(if (is.character(x)) paste0("\"", x, "\"") else format(x, digits = 8))
  }
  if (is.atomic(x)) return(sprintf("a %s vector of length %d", mode(x), length(x)))
  paste0("an object of type \"", typeof(x), "\"")
}

must_be <- function(arg, expected, x, remedy = NULL, call = user_call()) {
  abort("argument", "`", arg, "` must be ", expected, ", not ", describe(x), ".", remedy,
        call = call)
}

is_number <- function(x) is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x)

check_number <- function(x, arg, min = -Inf, max = Inf, above = NULL, finite = TRUE) {
  good <- is_number(x) && x >= min && x <= max && (is.null(above) || x > above) &&
    (!finite || is.finite(x))
  if (!good) {
    range <- range_words(min, max, above)
    must_be(arg, paste0("a single ", if (finite) "finite ", "number", range), x)
  }
  as.double(x)
}

check_whole <- function(x, arg, min = 0, max = .Machine$integer.max, infinite = FALSE) {
  good <- is_number(x) && x >= min &&
    ((infinite && is.infinite(x)) || (x <= max && x == trunc(x)))
  if (!good) {
    top <- if (max < .Machine$integer.max) max else Inf
    must_be(arg, paste0("a single whole number", range_words(min, top, NULL),
                        if (infinite) " (or Inf)"), x)
  }
  as.double(x)
}

range_words <- function(min, max, above) {
  parts <- c(
    if (!is.null(above)) paste("above", format(above)),
    if (is.null(above) && is.finite(min)) paste("at least", format(min)),
    if (is.finite(max)) paste("at most", format(max))
  )
  if (length(parts)) paste0(" ", paste(parts, collapse = " and ")) else ""
}

check_flag <- function(x, arg) {
  if (!(is.logical(x) && length(x) == 1L && !is.na(x))) must_be(arg, "TRUE or FALSE", x)
  x
}

# `choices` is the formal's default vector: an argument left alone means its first element.
check_choice <- function(x, arg, choices) {
  if (identical(x, choices)) return(choices[1L])
  if (!(is.character(x) && length(x) == 1L && x %in% choices)) {
    must_be(arg, paste0("one of ", paste0("\"", choices, "\"", collapse = ", ")), x)
  }
  x
}

check_function <- function(x, arg) {
  if (!is.function(x)) must_be(arg, "a function", x)
  x
}

# Arguments, by name, that the calling function cannot do without.
check_given <- function(...) {
  for (arg in c(...)) {
    if (eval(call("missing", as.name(arg)), parent.frame())) {
      abort("argument", "`", arg, "` is missing.")
    }
  }
}

may_write <- function(path) file.access(path, 2L) == 0L

# The path of a file that can be written: told before the work it is for.
check_output <- function(file, arg) {
  if (!is_text(file) || file == "") must_be(arg, "the path of a file", file)
  if (dir.exists(file)) {
    abort("argument", "`", arg, "` must be the path of a file: \"", file, "\" is a directory.")
  }
  home <- dirname(path.expand(file))
  if (!dir.exists(home)) {
    abort("argument", "`", arg, "`: there is no directory \"", home, "\". Create it first.")
  }
  if (!may_write(if (file.exists(file)) file else home)) {
    abort("argument", "`", arg, "`: \"", file, "\" may not be written. Choose another path.")
  }
  file
}

# A misspelt argument must not vanish in `...`.
check_dots <- function(...) {
  if (...length() == 0L) return(invisible())
  refuse_dots(...names(), ...length(), sys.function(sys.parent()), list(...))
}

# `f` is the function whose arguments, those `known`, the unknown ones may stand for.
refuse_dots <- function(names, count, f, values = NULL, known = names(formals(f))) {
  if (is.null(names)) names <- character(count)
  unnamed <- is.na(names) | names == ""
  near <- unique(unlist(lapply(names[!unnamed], nearest_name, setdiff(known, "..."))))
  shown <- ifelse(unnamed, "an unnamed argument", paste0("`", names, "`"))
  hint <- if ("kernel" %in% known) kernel_hint(names, values)
  if (is.null(hint)) hint <- foreign_hint(names[!unnamed], known)
  abort("dots", "Unknown argument: ", paste(shown, collapse = ", "), ". ",
        if (!is.null(hint)) hint
        else if (length(near)) paste0("Did you mean ", backticked(near), "?")
        else "Check the spelling: argument names are case-sensitive and listed on the help page.")
}

# What arguments of other packages are called here, where there is such an argument.
foreign_arguments <- c(
  lambda = "ridge", C = "cost", features = "ncomp", kpar = "kernel", na.action = "na_action"
)

foreign_hint <- function(names, known) {
  if ("weights" %in% names) return("This function takes no case weights.")
  if ("K" %in% names && "x" %in% known) {
    if ("kernels" %in% known) return("Give Gram matrices in a list, as `kernels`.")
    return("The columns of the data are needed here, as `x`, not a Gram matrix.")
  }
  ours <- stats::na.omit(foreign_arguments[names])
  if ("method" %in% names && "basis" %in% known) ours <- c(ours, method = "basis")
  if (any(c("C", "cost") %in% names) && !"cost" %in% known) {
    ours <- c(ours, C = "ridge")
  }
  ours <- unique(ours[ours %in% known])
  if (length(ours)) paste0("Here it is ", backticked(ours), ".")
}

# Never more than there are processors; that is said once a session.
check_threads <- function(threads) {
  threads <- check_whole(threads, "threads", min = 1)
  most <- .Call(ffi_processors)
  if (threads > most && is.null(session$threads)) {
    session$threads <- most
    inform("`threads` = ", format(threads, scientific = FALSE), " is more than the ", most,
           if (most > 1L) " processors" else " processor", " there ",
           if (most > 1L) "are: " else "is: ", most, if (most > 1L) " are used." else " is used.")
  }
  as.integer(min(threads, most))
}

# What was said already in this session.
session <- new.env(parent = emptyenv())

check_response_length <- function(y, n, arg = "y", of = "x") {
  rows <- NROW(y)
  if (rows != n) {
    abort("argument", "`", arg, "` must have one value per row of `", of, "` (", n, "), not ",
          rows, ".")
  }
}

# Class labels as a factor with at least two used levels and at least `min_rows` rows each.
check_classes <- function(y, arg = "y", min_rows = 1L,
                          remedy = "Remove those rows or use `na_action = \"omit\"`.") {
  if (is.character(y) || is.logical(y)) y <- factor(y)
  if (!is.factor(y)) {
    must_be(arg, "a factor of class labels", y, remedy = if (is.data.frame(y)) {
      column_remedy(arg)
    } else if (is.numeric(y)) {
      paste0(" For classes use `factor(", arg, ")`, also in a formula.")
    })
  }
  y <- plain_factor(y)
  if (anyNA(y)) {
    abort("missing_values", "`", arg, "` has ", sum(is.na(y)), " missing label",
          if (sum(is.na(y)) > 1L) "s", ". ", remedy)
  }
  rows <- tabulate(y, nlevels(y))
  y <- label_factor(cumsum(rows > 0L)[y], levels(y)[rows > 0L])
  if (nlevels(y) < 2L) {
    abort("classes", "`", arg, "` must have at least two classes, not ", nlevels(y),
          if (nlevels(y) == 1L) paste0(" (\"", levels(y), "\")"), ".")
  }
  rows <- rows[rows > 0L]
  small <- rows < min_rows
  if (any(small)) fail_small_classes(levels(y)[small], rows[small], arg, min_rows)
  y
}

fail_small_classes <- function(labels, rows, arg, min_rows) {
  several <- length(labels) > 1L
  shown <- utils::head(paste0("\"", labels, "\" (", rows, ")"), 5L)
  if (length(labels) > 5L) shown <- c(shown, paste(length(labels) - 5L, "more"))
  abort("classes", "Each class of `", arg, "` must have at least ", min_rows, " rows: ",
        paste(shown, collapse = ", "), if (several) " have" else " has", " fewer. ",
        if (several) "Drop or merge them." else "Drop it, or merge it with another class.")
}

column_remedy <- function(arg) paste0(" Give a column of it, such as `", arg, "[[1]]`.")

# Classes have no order and no names, and a level NA is a missing value like any other.
plain_factor <- function(y) {
  known <- as.character(setdiff(levels(y), NA))
  label_factor(match(levels(y), known)[as.integer(y)], known)
}

# The factor of what already are numbers of its levels; factor() would compare labels.
label_factor <- function(numbers, levels) structure(numbers, levels = levels, class = "factor")

# A square, symmetric, finite matrix: what every `K` must be.
# `can_omit`: an `na_action` would leave out rows that have missing values.
check_gram <- function(K, arg = "K", can_omit = FALSE) {
  K <- check_square(K, arg)
  found <- symmetry(K)
  if (found$largest == Inf) {
    abort("not_finite", "`", arg, "` has missing or infinite values.",
          if (can_omit && anyNA(K)) " `na_action = \"omit\"` leaves out rows with missing ones.")
  }
  if (found$gap > 1e-8 * found$largest) {
    abort("argument", "`", arg, "` must be symmetric: the largest difference between K[i, j] ",
          "and K[j, i] is ", format(found$gap, digits = 3), ". Use `(K + t(K)) / 2`.")
  }
  K
}

check_square <- function(K, arg) {
  K <- plain_gram(K)
  if (!is.matrix(K) || !is.numeric(K) || is_integer64(K)) must_be(arg, "a numeric matrix", K)
  if (nrow(K) != ncol(K) || nrow(K) == 0L) {
    must_be(arg, "a square Gram matrix with at least one row", K)
  }
  as_doubles(K)
}

all_finite <- function(x) {
  if (is.double(x)) .Call(ffi_all_finite, x) else all(is.finite(x))
}

# The largest difference across the diagonal and the largest absolute value, Inf for NA.
symmetry <- function(K) .Call(ffi_symmetry, K)

# Assigning the mode of a matrix that has it already would still end in a copy.
as_doubles <- function(x) {
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

largest_absolute <- function(x) max(max(x), -min(x)) # range() would copy

backticked <- function(names, most = 5L) {
  shown <- paste0("`", utils::head(names, most), "`", collapse = ", ")
  if (length(names) > most) paste0(shown, " and ", length(names) - most, " more") else shown
}
