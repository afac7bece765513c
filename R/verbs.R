# R's own verbs on fitted models: what a model was fitted with and to. Each is right, or an error
# that says why not; none is a silent NULL.

# ---- what a fit leaves for them -------------------------------------------------------------

# The end of every default method: the user's call, the rows that went for missing values, case
# weights where rows are kept, and whether the classes had an order. `data` is what model_data() or
# fit_basis() gave.
finish_model <- function(model, data, call, y = NULL) {
  model$call <- portable_call(call, model)
  model$na.action <- data$na.action
  if (!is.null(model$fitted.values) && is.null(model$weights)) model$weights <- data$weights
  if (is.ordered(y) || isTRUE(data$ordered)) model$ordered <- TRUE
  model
}

# The call of the generic, which has the name of the class, without data and environments: do.call()
# writes them into it, and a model would carry them along.
portable_call <- function(call, model) {
  call[[1L]] <- as.name(class(model)[1L])
  arguments <- as.list(call)[-1L]
  change <- vapply(arguments, function(v) is_large(v) || inherits(v, "formula"), NA)
  call[c(FALSE, change)] <- lapply(arguments[change], portable_argument)
  call
}

# What stands for data is no name that R can find, and update() looks for it.
portable_argument <- function(value) {
  if (is_large(value)) return(as.name(paste0("<", sub("^an? ", "", describe(value)), ">")))
  attributes(value) <- NULL
  value
}

is_large <- function(value) !is.language(value) && as.numeric(utils::object.size(value)) > 5000

is_placeholder <- function(value) is.name(value) && grepl("^<.*>$", as.character(value))

# The order of the classes, where the response had one.
as_ordered <- function(classes, object) {
  if (isTRUE(object$ordered)) factor(classes, levels(classes), ordered = TRUE) else classes
}

# ---- the training rows ----------------------------------------------------------------------

# The number of training rows; a ranking has another `n`. stats passes `use.fallback`.
#' @importFrom stats nobs
#' @export
nobs.kernelect_model <- function(object, use.fallback = FALSE, ...) { # nolint: object_name_linter.
  check_dots(...)
  field <- if (inherits(object, "kernel_rank")) "nobs" else "n"
  must_hold("object", n = is_number(object[[field]]))
  object[[field]]
}

# Numbers of a regression, classes of a classifier.
#' @importFrom stats fitted
#' @export
fitted.kernelect_model <- function(object, ...) {
  check_dots(...)
  if (inherits(object, "kernel_tune")) return(stats::fitted(validate_tune(object)$model))
  if (inherits(object, "kernel_takes")) return(stats::predict(object))
  check_has(object, "fitted values", c("kernel_lm", "kernel_lda", "kernel_fusion"))
  value <- kept_rows(object, "fitted.values")
  if (is.factor(value)) return(as_ordered(value, object))
  if (is.null(object$levels)) return(value)
  must_hold("object", levels = is_levels(object$levels))
  decide <- if (inherits(object, "kernel_fusion")) decided_class else classes_of
  as_ordered(predicted_classes(as.matrix(value), object$levels, decide), object)
}

#' @importFrom stats residuals
#' @export
residuals.kernelect_model <- function(object, ...) {
  check_dots(...)
  if (inherits(object, "kernel_tune")) return(stats::residuals(validate_tune(object)$model))
  if (!inherits(object, "kernel_lm") && is_classifier(object)) {
    abort("argument", "Only a regression has residuals; this is a model of classes.")
  }
  check_has(object, "residuals", c("kernel_lm", "kernel_fusion"))
  kept_rows(object, "residuals")
}

# A field of the training rows, NA where `na_action = "exclude"` left them out.
kept_rows <- function(object, field) {
  value <- object[[field]]
  if (is.null(value)) fail_not_kept(sub(".", " ", field, fixed = TRUE))
  if (!is.atomic(value)) fail_damaged("object", field)
  omitted <- object$na.action
  must_hold("object", na.action = valid_omitted(omitted, NROW(value)))
  stats::naresid(omitted, value)
}

# The same where predict() got no new rows.
predicted_rows <- function(object, field) {
  if (is.null(object[[field]])) {
    abort("argument", "`newdata` is missing, and the model holds no training rows: it was fitted ",
          "without `keep` (FALSE by default above 10,000 rows). Give the rows to predict.")
  }
  kept_rows(object, field)
}

is_classifier <- function(object) {
  inherits(object, c("kernel_lda", "kernel_takes")) || !is.null(object$levels)
}

check_has <- function(object, what, classes) {
  if (inherits(object, classes)) return(invisible())
  abort("argument", "An object of class \"", class(object)[1L], "\" has no ", what, ".")
}

#' @importFrom stats coef
#' @export
coef.kernelect_model <- function(object, ...) {
  if (inherits(object, "kernel_tune")) return(stats::coef(validate_tune(object)$model, ...))
  abort("argument", "An object of class \"", class(object)[1L], "\" has no coefficients.")
}

# ---- the fit as a call ----------------------------------------------------------------------

#' Ask a fitted model what it was fitted with
#'
#' R's own verbs work on every model of this package: `update()` fits it again with other
#' arguments, `formula()`, `terms()` and `model.frame()` give back what a formula was made of, and
#' `nobs()`, `fitted()`, `residuals()`, `deviance()`, `df.residual()`, `sigma()`, `hatvalues()` and
#' `simulate()` answer where that means something. Where it does not, the error says why.
#'
#' @details
#' A model keeps its call, but neither data nor environments: `update()` and `model.frame()` look
#' for the data where they are called. Functions and values that the formula used are kept.
#' `model.matrix()` gives the numeric columns that the kernel sees, before scaling, and
#' `variable.names()` their names. There is no likelihood (`logLik()`, `AIC()`), `vcov()`, `anova()`
#' or `step()` of a penalised fit on chosen rows; the errors say what to use instead.
#'
#' With `na_action = "exclude"` the values of rows that were left out are NA in `fitted()`,
#' `residuals()` and `predict()` without new data; with `"omit"` they are absent. `na.action` in the
#' model lists them.
#'
#' Of regressions by [kernel_lm()] `deviance()`, `df.residual()`, `sigma()`, `hatvalues()`,
#' `rstandard()`, `rstudent()`, `cooks.distance()`, `influence()`, `extractAIC()` and `simulate()`
#' tell what they tell of [lm()] (see [kernel_lm-spread]). A tuned model answers for the model it
#' chose.
#'
#' @param object,x,formula a fitted model; in `model.frame()` it is called `formula`.
#' @param formula. changes to the formula, as in [update.formula()].
#' @param evaluate FALSE: give the call instead of the new model.
#' @param ... for `update()` arguments to change (NULL takes one away that the call has, and is the
#'   value of one that it does not have, as in [stats::update()]), for `model.frame()` `data`,
#'   `subset` or `weights` instead of those of the call.
#' @returns `update()`: a model of the same class; `formula()`, `terms()` and `model.frame()` what
#'   they give for [lm()].
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 5)
#' formula(fit)
#' update(fit, . ~ . - hp, size = 4)
#' head(model.frame(fit))
#' @name verbs
#' @family models
NULL

#' @rdname verbs
#' @importFrom stats update
#' @export
update.kernelect_model <- function(object, formula., ..., evaluate = TRUE) {
  call <- fitting_call(object)
  here <- parent.frame()
  if (!missing(formula.)) call$formula <- updated_formula(stats::formula(object), formula.)
  if (is.call(call$formula)) {
    call$formula <- structure(
      call$formula, class = "formula", .Environment = formula_home(object, here)
    )
  }
  changes <- match.call(expand.dots = FALSE)$...
  if (length(changes) && (is.null(names(changes)) || any(names(changes) == ""))) {
    abort("argument", "Arguments to change must have names, such as `size = 5`.")
  }
  call <- changed_call(call, changes)
  lost <- Filter(is_placeholder, as.list(call))
  if (length(lost)) {
    abort("model", "The call of the model does not say where its ", backticked(names(lost)),
          " came from: give it again, as in `update(fit, ", names(lost)[1L], " = ...)`.")
  }
  if (!check_flag(evaluate, "evaluate")) return(portable_call(call, object))
  check_in_sight(call, here)
  call[[1L]] <- get(as.character(call[[1L]]), topenv()) # the package need not be attached
  eval(call, here)
}

# As update() of stats has it: NULL takes an argument away, and is given where there was none.
changed_call <- function(call, changes) {
  there <- names(changes) %in% names(call)
  for (name in names(changes)[there]) call[[name]] <- changes[[name]]
  as.call(c(as.list(call), changes[!there]))
}

# What the call names as its data is to be found: a model made inside a function outlives them.
check_in_sight <- function(call, here) {
  named <- Filter(is.name, as.list(call)[c("data", "x", "y", "K")])
  lost <- Filter(function(name) !exists(as.character(name), here), named)
  if (!length(lost)) return(invisible())
  abort("model", "There is no ", backticked(as.character(lost)), " here, which the model was ",
        "fitted to: give it again, as in `update(fit, ", names(lost)[1L], " = ...)`.")
}

# `. ~ . - a` of a formula without a response has none either.
updated_formula <- function(old, changes) {
  force(old) # which fails by itself where there is none
  new <- tryCatch(stats::update.formula(old, changes), error = function(e) {
    must_be("formula.", "a formula such as `. ~ . - a`", changes,
            " Other arguments to change must have names, such as `size = 5`.")
  })
  if (length(old) == 2L && length(new) == 3L && identical(new[[2L]], quote(.))) new[[2L]] <- NULL
  new
}

fitting_call <- function(object) {
  if (is.call(object$call) && identical(object$call[[1L]], as.name(own_class(object)))) {
    return(object$call)
  }
  abort("model", "The model does not know the call it was fitted by, as models inside others do ",
        "not: fit it by a call of your own.")
}

# The class that the package gave, behind those that others may have put before it.
own_class <- function(object) class(object)[match("kernelect_model", class(object)) - 1L]

#' @rdname verbs
#' @importFrom stats formula
#' @export
formula.kernelect_model <- function(x, ...) {
  terms <- fitted_terms(x)
  attributes(terms) <- NULL
  structure(terms, class = "formula", .Environment = formula_home(x))
}

#' @rdname verbs
#' @importFrom stats terms
#' @export
terms.kernelect_model <- function(x, ...) {
  terms <- fitted_terms(x)
  variables <- vapply(as.list(attr(terms, "variables"))[-1L], deparse1, "", backtick = TRUE)
  labels <- attr(terms, "term.labels")
  # each term is one variable, in the same order
  factors <- matrix(0L, length(variables), length(labels), dimnames = list(variables, labels))
  factors[cbind(setdiff(seq_along(variables), attr(terms, "response")), seq_along(labels))] <- 1L
  attr(terms, "factors") <- factors
  attr(terms, ".Environment") <- formula_home(x)
  terms
}

# Where a formula finds what it uses: things that were kept, before what `parent` knows.
formula_home <- function(object, parent = globalenv()) {
  input <- tryCatch(model_input(object), error = function(e) NULL)
  must_hold("object", input = is.null(input) || valid_input(input))
  unpacked_scope(input$scope, parent)
}

fitted_terms <- function(object) {
  if (inherits(object$terms, "terms") && is.call(object$terms)) {
    must_hold("object", terms = {
      variables <- attr(object$terms, "variables")
      response <- attr(object$terms, "response")
      labels <- attr(object$terms, "term.labels")
      is.call(variables) && is.character(labels) && is_number(response) && response %in% 0:1 &&
        length(variables) - 1L - response == length(labels)
    })
    return(object$terms)
  }
  abort("model", "The model was not fitted by a formula: it has no formula, terms or model frame.")
}

#' @rdname verbs
#' @importFrom stats model.frame
#' @export
model.frame.kernelect_model <- function(formula, ...) {
  terms <- stats::terms(formula)
  call <- fitting_call(formula)
  here <- parent.frame()
  given <- list(...)
  unknown <- setdiff(names(given), c("data", "subset", "weights"))
  if (length(unknown)) refuse_dots(unknown, length(unknown), function(data, subset, weights) NULL)
  attr(terms, ".Environment") <- formula_home(formula, here)
  parts <- as.list(call)[c("data", "subset", "weights")]
  parts[names(given)] <- given
  action <- switch(class(formula$na.action)[1L], omit = stats::na.omit, exclude = stats::na.exclude,
                   stats::na.pass)
  wanted <- c(list(quote(stats::model.frame), terms, na.action = action),
              Filter(Negate(is.null), stats::setNames(parts, c("data", "subset", "weights"))))
  tryCatch(eval(as.call(wanted), here), error = function(e) {
    abort("model", "The model frame cannot be made again: ", conditionMessage(e),
          ". A model keeps no data; give them as `data`.")
  })
}

# The numeric columns that the kernel sees, before they are scaled.
#' @rdname verbs
#' @importFrom stats model.matrix
#' @export
model.matrix.kernelect_model <- function(object, ...) { # nolint: object_name_linter.
  frame <- do.call(stats::model.frame, list(object, ...), quote = TRUE, envir = parent.frame())
  match_columns(frame, model_input(object), "data")
}

#' @importFrom stats variable.names
#' @export
variable.names.kernelect_model <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  input <- model_input(object)
  if (!is.null(input$columns)) return(input$columns)
  abort("argument", "The model has no names of columns: it was fitted to ",
        if (is.null(input)) "a Gram matrix." else "columns without names.")
}

#' @importFrom stats case.names
#' @export
case.names.kernelect_model <- function(object, ...) { # nolint: object_name_linter.
  check_dots(...)
  if (inherits(object, "kernel_tune")) return(stats::case.names(validate_tune(object)$model))
  kept <- Filter(length, unclass(object)[c("fitted.values", "scores")])
  if (!length(kept)) abort("argument", "The model keeps no training rows, nor their names.")
  rows <- lapply(kept, function(v) if (is.matrix(v)) rownames(v) else names(v)) # a factor has none
  if (length(unlist(rows))) return(Filter(length, rows)[[1L]])
  count <- NROW(kept[[1L]]) + length(object$na.action)
  as.character(setdiff(seq_len(count), object$na.action))
}

# The blueprint of the columns, wherever a model has it.
model_input <- function(object) {
  if (inherits(object, "kernel_tune")) object <- object$model
  if (is.null(object$input)) object$basis$input else object$input
}

# ---- what only some models can tell -----------------------------------------------------------

# A tuned model answers for the one it chose; of others `why` says what is missing.
answer_for_tuned <- function(object, verb, why, ...) {
  if (inherits(object, "kernel_tune")) return(verb(validate_tune(object)$model, ...))
  abort("argument", "An object of class \"", own_class(object), "\" has no ", why, ".")
}

#' @importFrom stats deviance
#' @export
deviance.kernelect_model <- function(object, ...) {
  answer_for_tuned(object, stats::deviance, "deviance: only regressions by kernel_lm() have one",
                   ...)
}

#' @importFrom stats df.residual
#' @export
df.residual.kernelect_model <- function(object, ...) { # nolint: object_name_linter.
  answer_for_tuned(object, stats::df.residual,
                   "residual degrees of freedom: only models by kernel_lm() have them", ...)
}

#' @importFrom stats sigma
#' @export
sigma.kernelect_model <- function(object, ...) {
  answer_for_tuned(object, stats::sigma,
                   "residual standard deviation: only regressions by kernel_lm() have one", ...)
}

#' @importFrom stats hatvalues
#' @export
hatvalues.kernelect_model <- function(model, ...) {
  answer_for_tuned(model, stats::hatvalues, "leverages: only models by kernel_lm() have them", ...)
}

#' @importFrom stats influence
#' @export
influence.kernelect_model <- function(model, ...) {
  answer_for_tuned(model, stats::influence,
                   "influence of rows: only regressions by kernel_lm() have one", ...)
}

#' @importFrom stats rstandard
#' @export
rstandard.kernelect_model <- function(model, ...) {
  answer_for_tuned(model, stats::rstandard,
                   "standardised residuals: only regressions by kernel_lm() have them", ...)
}

#' @importFrom stats rstudent
#' @export
rstudent.kernelect_model <- function(model, ...) {
  answer_for_tuned(model, stats::rstudent,
                   "studentised residuals: only regressions by kernel_lm() have them", ...)
}

#' @importFrom stats cooks.distance
#' @export
cooks.distance.kernelect_model <- function(model, ...) { # nolint: object_name_linter.
  answer_for_tuned(model, stats::cooks.distance,
                   "Cook's distances: only regressions by kernel_lm() have them", ...)
}

#' @importFrom stats extractAIC
#' @export
extractAIC.kernelect_model <- function(fit, scale = 0, k = 2, ...) { # nolint: object_name_linter.
  answer_for_tuned(fit, stats::extractAIC, paste0(
    "likelihood, and so no AIC: compare models by leave-one-out (`loo` of kernel_lm()) or ",
    "`kernel_tune()`"), scale = scale, k = k, ...)
}

# Each set of columns would have a kernel and a basis of its own: no sequence of nested models.
fail_no_steps <- function(object) {
  abort("argument", "Columns of an object of class \"", own_class(object), "\" cannot be added ",
        "or dropped one by one, nor by step(): each set of them has another kernel and basis, and ",
        "the fits are not nested. Use `kernel_rank()`, such as `method = \"forward\"`, and ",
        "compare models by leave-one-out (`loo` of kernel_lm()) or `kernel_tune()`.")
}

#' @importFrom stats add1
#' @export
add1.kernelect_model <- function(object, scope, ...) fail_no_steps(object)

#' @importFrom stats drop1
#' @export
drop1.kernelect_model <- function(object, scope, ...) fail_no_steps(object)

#' @importFrom stats simulate
#' @export
simulate.kernelect_model <- function(object, nsim = 1, seed = NULL, ...) {
  answer_for_tuned(object, stats::simulate,
                   "distribution to simulate from: only regressions by kernel_lm() have one",
                   nsim = nsim, seed = seed, ...)
}

# A penalised fit on chosen rows has neither likelihood nor the covariance of free coefficients.
#' @importFrom stats logLik
#' @export
logLik.kernelect_model <- function(object, ...) { # nolint: object_name_linter.
  abort("argument", "An object of class \"", own_class(object), "\" has no likelihood, and so no ",
        "AIC or BIC: compare models by leave-one-out (`loo` of kernel_lm()) or `kernel_tune()`.")
}

#' @importFrom stats vcov
#' @export
vcov.kernelect_model <- function(object, ...) {
  abort("argument", "Coefficients of an object of class \"", own_class(object), "\" are penalised ",
        "and have no covariance matrix: see `predict(se.fit, interval)` of kernel_lm().")
}

#' @importFrom stats anova
#' @export
anova.kernelect_model <- function(object, ...) {
  abort("argument", "An object of class \"", own_class(object), "\" has no analysis of variance: ",
        "compare models by leave-one-out (`loo` of kernel_lm()) or `kernel_tune()`.")
}

# Case weights, or what a model calls its weights: of directions, columns or kernels.
#' @importFrom stats weights
#' @export
weights.kernelect_model <- function(object, ...) {
  check_dots(...)
  if (inherits(object, "kernel_tune")) return(stats::weights(validate_tune(object)$model))
  if (!is.null(object$weights)) return(object$weights)
  abort("argument", "The model has no weights: it was fitted without.")
}
