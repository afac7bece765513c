# Steps for the recipes package: bases, components and rankings as parts of a preprocessing recipe.
# The functions make plain lists of the classes recipes wants; their methods are registered when it
# is loaded. It is never needed otherwise.

#' Kernel steps in a recipe
#'
#' Steps for the recipes package, and so for tidymodels: `step_kernel_basis()` replaces the columns
#' by coordinates in a basis of few rows ([kernel_basis()]), `step_kernel_pca()` by kernel principal
#' components ([kernel_pca()]), and `step_kernel_rank()` keeps the columns that matter
#' ([kernel_rank()]). Use them to give any linear model the reach of a kernel, or to drop columns
#' before a slow one, with everything learned on the training rows only.
#'
#' @details
#' The steps work on numeric columns: turn factors into indicators first, with
#' `recipes::step_dummy()`. All have `prep()`, `bake()`, `print()`, `tidy()`, `required_pkgs()` and
#' `tunable()` methods: `size`, `num_comp` and `top_n` may be `tune()`. `tidy()` gives a row for
#' each row picked, component or column, with what [tidiers] give for the model.
#' @param recipe a recipe.
#' @param ... selectors of columns, such as `recipes::all_numeric_predictors()`.
#' @param size number of rows of the basis, at most.
#' @param num_comp number of components.
#' @param top_n number of columns that stay.
#' @param outcome name of the column that holds the classes or numbers to rank by; NULL: the
#'   recipe's only outcome.
#' @param kernel a kernel, see [kernels]; for `step_kernel_rank()` NULL is the default of `method`.
#' @param method how rows are picked, or columns ranked.
#' @param options a list of other arguments for [kernel_basis()], [kernel_pca()] or
#'   [kernel_rank()].
#' @param prefix what names of new columns begin with.
#' @param keep_original_cols keep the columns that new ones replace?
#' @param role role of new columns.
#' @param trained,columns,object filled in by `prep()`.
#' @param skip skip the step when new data are baked?
#' @param id a name for the step.
#' @returns The recipe with the step added.
#' @examples
#' if (requireNamespace("recipes", quietly = TRUE)) {
#'   rec <- recipes::recipe(Species ~ ., iris)
#'   rec <- step_kernel_pca(rec, recipes::all_predictors(), num_comp = 2)
#'   recipes::bake(recipes::prep(rec), iris[1:3, ])
#' }
#' @family exports
#' @name recipes
NULL

#' @rdname recipes
#' @export
step_kernel_basis <- function(recipe, ..., role = "predictor", trained = FALSE, size = 50,
                              kernel = rbf_kernel(), method = "fvs", options = list(),
                              prefix = "KB", keep_original_cols = FALSE, columns = NULL,
                              object = NULL, skip = FALSE, id = NULL) {
  add_kernel_step(recipe, "kernel_basis", id, list(
    terms = captured(...), role = role, trained = trained, size = size, kernel = kernel,
    method = method, options = options, prefix = prefix,
    keep_original_cols = keep_original_cols, columns = columns, object = object, skip = skip
  ))
}

#' @rdname recipes
#' @export
step_kernel_pca <- function(recipe, ..., role = "predictor", trained = FALSE, num_comp = 5,
                            kernel = rbf_kernel(), options = list(), prefix = "KPC",
                            keep_original_cols = FALSE, columns = NULL, object = NULL,
                            skip = FALSE, id = NULL) {
  add_kernel_step(recipe, "kernel_pca", id, list(
    terms = captured(...), role = role, trained = trained, num_comp = num_comp, kernel = kernel,
    options = options, prefix = prefix, keep_original_cols = keep_original_cols,
    columns = columns, object = object, skip = skip
  ))
}

#' @rdname recipes
#' @export
step_kernel_rank <- function(recipe, ..., outcome = NULL, role = NA, trained = FALSE, top_n = 10,
                             kernel = NULL, method = "sas", options = list(), columns = NULL,
                             object = NULL, skip = FALSE, id = NULL) {
  add_kernel_step(recipe, "kernel_rank", id, list(
    terms = captured(...), outcome = outcome, role = role, trained = trained, top_n = top_n,
    kernel = kernel, method = method, options = options, columns = columns, object = object,
    skip = skip
  ))
}

needs_recipes <- function() {
  needs_package("recipes")
  needs_package("rlang")
}

captured <- function(...) {
  needs_recipes()
  rlang::enquos(...)
}

add_kernel_step <- function(recipe, name, id, fields) {
  needs_recipes()
  if (!inherits(recipe, "recipe")) must_be("recipe", "a recipe", recipe)
  fields$id <- if (is.null(id)) recipes::rand_id(name) else id
  # quoted: `tune()` stays what it is until a value is put in its place
  step <- do.call(recipes::step, c(list(subclass = name), fields), quote = TRUE)
  recipes::add_step(recipe, step)
}

# ---- prep --------------------------------------------------------------------------------

# The columns that the selectors of a step choose, numeric all of them.
chosen_columns <- function(x, training, info) {
  columns <- unname(recipes::recipes_eval_select(x$terms, training, info))
  odd <- columns[!vapply(training[columns], is.numeric, NA)]
  if (length(odd)) {
    abort("columns", "A kernel step needs numeric columns; ", backticked(odd),
          if (length(odd) > 1L) " are not." else " is not.",
          " Use `recipes::step_dummy()` before it.")
  }
  columns
}

# A step has no `na_action` but among its `options`.
check_complete <- function(x, training, columns) {
  if (!is.null(x$options$na_action)) return(invisible())
  missing <- vapply(training[columns], function(v) sum(is_missing(v)), 0)
  if (!any(missing > 0)) return(invisible())
  fail_missing(missing, arg = "training", remedy = paste0(
    " before this step, by `recipes::step_naomit()` or a step such as ",
    "`recipes::step_impute_mean()`"
  ))
}

trained_step <- function(x, columns, object) {
  x$columns <- columns
  x$object <- object
  x$trained <- TRUE
  x
}

# Nothing chosen: the step does nothing, as recipes' own steps.
fit_step <- function(f, training, columns, ...) {
  if (!length(columns)) return(NULL)
  f(as.data.frame(training[columns]), ...)
}

#' @exportS3Method recipes::prep
prep.step_kernel_basis <- function(x, training, info = NULL, ...) {
  columns <- chosen_columns(x, training, info)
  check_complete(x, training, columns)
  size <- min(check_whole(x$size, "size", min = 1), nrow(training))
  settings <- c(list(kernel = x$kernel, method = x$method, size = size), x$options)
  trained_step(x, columns, do.call(fit_step, c(list(kernel_basis, training, columns), settings)))
}

#' @exportS3Method recipes::prep
prep.step_kernel_pca <- function(x, training, info = NULL, ...) {
  columns <- chosen_columns(x, training, info)
  check_complete(x, training, columns)
  if (!is.null(x$num_comp)) check_whole(x$num_comp, "num_comp", min = 1, infinite = TRUE)
  settings <- c(list(kernel = x$kernel, ncomp = x$num_comp), x$options)
  trained_step(x, columns, do.call(fit_step, c(list(kernel_pca, training, columns), settings)))
}

#' @exportS3Method recipes::prep
prep.step_kernel_rank <- function(x, training, info = NULL, ...) {
  columns <- chosen_columns(x, training, info)
  x$top_n <- check_whole(x$top_n, "top_n", min = 1)
  outcome <- outcome_name(x$outcome, info)
  if (length(columns)) check_complete(x, training, c(columns, outcome))
  y <- training[[outcome]]
  settings <- c(list(y = y, kernel = x$kernel, method = x$method), x$options)
  trained_step(x, columns, do.call(fit_step, c(list(kernel_rank, training, columns), settings)))
}

outcome_name <- function(outcome, info) {
  names <- info$variable[info$role %in% "outcome"]
  if (is.null(outcome) && length(names) == 1L) return(names)
  if (!is.character(outcome) || length(outcome) != 1L || !outcome %in% info$variable) {
    must_be("outcome", paste0("the name of a column of the recipe",
                              if (length(names) > 1L) ", which has several outcomes"), outcome)
  }
  outcome
}

# ---- bake --------------------------------------------------------------------------------

check_baked <- function(columns, new_data) check_columns(columns, names(new_data), "new_data")

# New columns beside or instead of those of the step.
with_new_columns <- function(x, new_data, value, labels) {
  value <- stats::setNames(as.data.frame(value), labels)
  taken <- intersect(labels, setdiff(names(new_data), x$columns))
  if (length(taken)) {
    abort("columns", "`new_data` has column ", backticked(taken),
      " already: give another `prefix`.")
  }
  gone <- if (!isTRUE(x$keep_original_cols)) x$columns
  rest <- new_data[setdiff(names(new_data), gone)]
  rest[labels] <- value
  rest
}

#' @exportS3Method recipes::bake
bake.step_kernel_basis <- function(object, new_data, ...) {
  bake_scores(object, new_data)
}

#' @exportS3Method recipes::bake
bake.step_kernel_pca <- function(object, new_data, ...) {
  bake_scores(object, new_data)
}

bake_scores <- function(step, new_data) {
  check_baked(step$columns, new_data)
  if (is.null(step$object)) return(new_data)
  value <- stats::predict(step$object, as.data.frame(new_data[step$columns]))
  rownames(value) <- NULL
  digits <- max(2L, nchar(ncol(value)))
  labels <- paste0(step$prefix, formatC(seq_len(ncol(value)), width = digits, flag = "0"))
  with_new_columns(step, new_data, value, labels)
}

#' @exportS3Method recipes::bake
bake.step_kernel_rank <- function(object, new_data, ...) {
  if (is.null(object$object)) return(new_data)
  new_data[setdiff(names(new_data), removed_columns(object))]
}

removed_columns <- function(step) {
  names(step$object$score)[utils::tail(step$object$ranking, -step$top_n)]
}

# ---- the rest ------------------------------------------------------------------------------

step_words <- c(
  kernel_basis = "Kernel basis of", kernel_pca = "Kernel principal components of",
  kernel_rank = "Kernel ranking of"
)

print_kernel_step <- function(x, width) {
  name <- sub("^step_", "", class(x)[1L])
  recipes::print_step(x$columns, x$terms, x$trained, paste(step_words[[name]], ""), width)
  invisible(x)
}

#' @export
print.step_kernel_basis <- function(x, width = max(20, getOption("width") - 35), ...) {
  print_kernel_step(x, width)
}

#' @export
print.step_kernel_pca <- print.step_kernel_basis

#' @export
print.step_kernel_rank <- print.step_kernel_basis

tidy_kernel_step <- function(x) {
  table <- if (is.null(x$object)) {
    data.frame(terms = if (x$trained) character() else recipes::sel2char(x$terms))
  } else {
    as.data.frame(generics::tidy(x$object))
  }
  as_tidy(data.frame(table, id = rep(x$id, nrow(table))))
}

#' @exportS3Method generics::tidy
tidy.step_kernel_basis <- function(x, ...) tidy_kernel_step(x)

#' @exportS3Method generics::tidy
tidy.step_kernel_pca <- function(x, ...) tidy_kernel_step(x)

#' @exportS3Method generics::tidy
tidy.step_kernel_rank <- function(x, ...) {
  table <- tidy_kernel_step(x)
  if (!is.null(x$object)) table$kept <- seq_len(nrow(table)) <= x$top_n
  table
}

#' @exportS3Method generics::required_pkgs
required_pkgs.step_kernel_basis <- function(x, ...) "kernelect"

#' @exportS3Method generics::required_pkgs
required_pkgs.step_kernel_pca <- function(x, ...) "kernelect"

#' @exportS3Method generics::required_pkgs
required_pkgs.step_kernel_rank <- function(x, ...) "kernelect"

tunable_number <- function(x, name, info) {
  table <- data.frame(name = name, source = "recipe", component = class(x)[1L], component_id = x$id)
  table$call_info <- list(info)
  as_tidy(table[c("name", "call_info", "source", "component", "component_id")])
}

#' @exportS3Method generics::tunable
tunable.step_kernel_basis <- function(x, ...) {
  tunable_number(x, "size", list(pkg = "kernelect", fun = "basis_size"))
}

#' @exportS3Method generics::tunable
tunable.step_kernel_pca <- function(x, ...) {
  tunable_number(x, "num_comp", list(pkg = "dials", fun = "num_comp", range = c(1L, 20L)))
}

#' @exportS3Method generics::tunable
tunable.step_kernel_rank <- function(x, ...) {
  tunable_number(x, "top_n", list(pkg = "dials", fun = "num_terms", range = c(1L, 20L)))
}
