# A numeric matrix from a matrix or a data frame, variable by variable, and the blueprint of it.

# ---- rows -----------------------------------------------------------------------------

# A numeric matrix (or sparse rows) and its blueprint from a matrix, a sparse matrix or a data
# frame.
design_matrix <- function(x, arg = "x") {
  if (is_gram(x) || is_kernel_matrix(x)) {
    abort("argument", "`", if (is_gram(x)) x$arg else arg, "` is a Gram matrix, and the columns ",
          "of the data are needed here. Give the rows themselves.")
  }
  if (is_source(x)) refuse_source(arg)
  if (is.data.frame(x)) {
    return(design_from_frame(x, arg))
  }
  if (isS4(x) || is.list(x)) {
    other <- from_matrix_class(x, arg)
    if (!is.null(other)) return(plain_design(other))
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x)) || is_integer64(x)) {
    remedy <- if (is_integer64(x)) {
      " Convert it with `matrix(as.numeric(x), nrow(x))`."
    } else if (isS4(x)) {
      " Convert it with `as.matrix()`."
    } else if (is.numeric(x) && is.null(dim(x))) {
      " One column? Use `matrix(x)` or `data.frame(x)`."
    }
    abort("argument", "`", arg, "` must be a numeric matrix or a data frame, not ", describe(x),
          ".", remedy)
  }
  if (is.object(x)) x <- unclass(x)
  plain_design(as_doubles(x))
}

# Unnamed columns among named ones, as of `cbind(x, 1)`, are named as as.data.frame() does.
plain_design <- function(x) {
  blank <- which(colnames(x) == "")
  if (length(blank)) colnames(x)[blank] <- paste0("V", blank)
  list(x = x, input = list(columns = colnames(x), width = ncol(x)), frame = FALSE)
}

# Whole numbers of the bit64 package, stored in the bits of doubles.
is_integer64 <- function(x) inherits(x, "integer64")

design_from_frame <- function(data, arg) {
  design <- frame_design(data, arg)
  if (length(design$input$times)) inform_times(design$input$times)
  design
}

frame_design <- function(data, arg) {
  values <- as.list(data)
  levels <- lapply(values, variable_levels)
  times <- Filter(length, lapply(values, time_kind))
  values[names(times)] <- Map(time_numbers, values[names(times)], times)
  input <- frame_input(values, levels, times, arg)
  x <- expand_variables(values, names(data), levels, nrow(data), arg)
  dimnames(x) <- list(frame_row_names(data), input$columns)
  owner <- rep(names(data), unlist(Map(variable_width, values, levels)))
  list(x = x, input = input, frame = TRUE, owner = owner)
}

# The blueprint of a list of variables, of which only the shapes are looked at.
frame_input <- function(values, levels, times, arg) {
  columns <- column_names(values, names(values), levels)
  list(
    columns = columns, width = length(columns), variables = names(values), levels = levels,
    matrices = Filter(length, Map(matrix_shape, values, names(values), arg)), times = times,
    logical = names(Filter(is.logical, values))
  )
}

# ---- variables of a frame ---------------------------------------------------------

# Dates and times become numbers; new ones must be of the same class, and in the same unit.
time_kind <- function(v) {
  if (inherits(v, "Date")) return("Date")
  if (inherits(v, "POSIXt")) return("POSIXct")
  if (inherits(v, "difftime")) c("difftime", units(v))
}

time_numbers <- function(v, kind) {
  if (kind[1L] == "difftime") return(as.numeric(v, units = kind[2L]))
  as.numeric(if (kind == "POSIXct") as.POSIXct(v) else v)
}

inform_times <- function(times) {
  meaning <- function(kind) {
    switch(kind[1L],
      Date = "days since 1970-01-01", POSIXct = "seconds since 1970-01-01", kind[2L]
    )
  }
  inform("Taken as numbers: ",
         paste0("`", names(times), "` (", vapply(times, meaning, ""), ")", collapse = ", "), ".")
}

# What is to be found again in new data of a variable that is a matrix: the names of its columns,
# or how many they are. A single column without a name is a vector.
matrix_shape <- function(v, name, arg) {
  if (!is.matrix(v) || (ncol(v) == 1L && is.null(colnames(v)))) return(NULL)
  names <- colnames(v)
  if (is.null(names)) return(ncol(v))
  if (anyNA(names) || any(names == "") || anyDuplicated(names)) {
    abort("columns", "Column `", name, "` of `", arg, "` is a matrix with column names that are ",
          "missing or not unique: name all of them, or none.")
  }
  names
}

# A factor `V1` with level "0" beside a column `V10` would make two columns of one name: then
# the level is set off, as `V1=0`.
column_names <- function(values, names, levels) {
  all_names <- function(sep) {
    unlist(Map(variable_columns, values, names, levels, sep), use.names = FALSE)
  }
  plain <- all_names("")
  if (anyDuplicated(plain)) all_names("=") else plain
}

variable_columns <- function(v, name, levels, sep) {
  if (length(levels)) return(paste0(name, sep, levels))
  if (is.matrix(v) && !is.null(colnames(v))) return(paste0(name, sep, colnames(v)))
  if (is.matrix(v) && ncol(v) != 1L) return(paste0(name, sep, seq_len(ncol(v))))
  name
}

variable_width <- function(v, levels) {
  if (!is.null(levels)) max(length(levels), 1L) else if (is.matrix(v)) ncol(v) else 1L
}

# The numeric matrix of a list of variables, n rows each, filled column by column.
expand_variables <- function(values, names, levels, n, arg) {
  width <- as.double(unlist(Map(variable_width, values, levels)))
  check_memory(n, sum(width),
               "Does a text column hold a different value in each row? Leave it out.")
  x <- matrix(0, n, sum(width))
  before <- cumsum(width) - width
  for (i in seq_along(values)) {
    x[, before[i] + seq_len(width[i])] <- expand_variable(values[[i]], names[i], levels[[i]], arg)
  }
  x
}

# Row names other than 1, 2, ...: those carry no information, and not every route makes them.
frame_row_names <- function(data) {
  plain <- .row_names_info(data) <= 0L || identical(attr(data, "row.names"), seq_len(nrow(data)))
  if (!plain) row.names(data)
}

variable_levels <- function(v) {
  if (is.character(v)) v <- factor(v)
  if (is.factor(v)) setdiff(levels(droplevels(v)), NA)
}

# One variable as numbers: itself, or an indicator for each of `levels`. A row without a level
# is NA in all of them.
expand_variable <- function(v, name, levels, arg) {
  if (!is.null(levels)) {
    if (!length(levels)) return(rep(NA_real_, length(v)))
    return(outer(as.character(v), levels, `==`) + 0)
  }
  if (!(is.numeric(v) || is.logical(v)) || is_integer64(v)) {
    abort("argument", "Column `", name, "` of `", arg,
          "` must be numeric, logical, a factor or character, not ",
          describe(v), ".", if (is_integer64(v)) " Convert it with `as.numeric()`.")
  }
  as.double(v)
}

check_duplicated_names <- function(names) {
  twice <- unique(names[duplicated(names)])
  if (length(twice)) {
    abort("columns", "Column names of `x` must be unique: ", backticked(twice),
          " occurs more than once. ",
          "Use `make.unique()`, or drop the names.")
  }
  if (!is.null(names) && (anyNA(names) || any(names == ""))) {
    abort("columns", "`x` has columns without a name among named ones: name all of them.")
  }
}
