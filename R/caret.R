# A model for caret::train(): a list of functions, as caret wants it; caret is not needed for it.

#' A kernel machine for caret
#'
#' `kernel_caret()` gives the list that `caret::train(method = )` takes for a model of one's own:
#' [kernel_lm()], for numbers and classes, with class probabilities, case weights and one fit for
#' all sizes. Use it to compare a kernel machine with other models of caret under the same
#' resampling.
#'
#' @details
#' Its tuning parameters are `sigma`, the width of the RBF kernel on scaled columns, `size`, the
#' number of rows of the basis, and `ridge`. Each may also be a word of [kernel_lm()]: `"mean"` or
#' `"median"` for `sigma`, `"loo"` for `size` and `ridge`, so that a `tuneGrid` can leave them to
#' the model (NA does so as well, but caret then warns of missing values). The grid that caret makes
#' (as long as `tuneLength`) varies `sigma` alone, around the mean distance. Where `tuneGrid` has
#' several sizes, and numbers for `ridge`, one fit serves all sizes. Other arguments of
#' [kernel_lm()] are passed on from `train()`, but for `kernel`, which follows from `sigma`.
#'
#' caret turns factors into contrasts where `train()` gets a formula; `train(x, y)` leaves them to
#' [kernel_lm()].
#' @returns A list with what caret wants to know of a model: `label`, `library`, `type`,
#'   `parameters`, and the functions `grid`, `loop`, `fit`, `predict`, `prob`, `levels`, `sort`.
#' @examples
#' if (requireNamespace("caret", quietly = TRUE)) {
#'   control <- caret::trainControl("cv", number = 3, classProbs = TRUE)
#'   fitted <- caret::train(Species ~ ., iris, method = kernel_caret(), trControl = control,
#'                          tuneGrid = data.frame(sigma = 2, size = c(5, 10), ridge = 0.1))
#'   fitted$results
#'   predict(fitted, iris[c(1, 51, 101), ], type = "prob")
#' }
#' @family exports
#' @export
kernel_caret <- function() {
  list(
    label = "Kernel machine on a basis of few rows", library = "kernelect",
    type = c("Regression", "Classification"),
    parameters = data.frame(
      parameter = c("sigma", "size", "ridge"), class = "numeric",
      label = c("Kernel Width", "Rows of the Basis", "Ridge Penalty")
    ),
    grid = caret_grid, loop = caret_loop, fit = caret_fit,
    predict = caret_predict("response", "class"), prob = caret_predict(NULL, "prob"),
    levels = function(x) x$levels, sort = caret_sort,
    tags = c("Kernel Method", "Accepts Case Weights")
  )
}

# On scaled columns the mean distance to the centroid is about the root of their number.
caret_grid <- function(x, y, len = NULL, search = "grid") {
  steps <- if (search == "random") {
    stats::runif(len, -2, 2)
  } else if (len == 1L) {
    0
  } else {
    seq(-1, 1, length.out = len)
  }
  data.frame(sigma = sqrt(ncol(x)) * 2^steps, size = "loo", ridge = "loo")
}

# Numbers that may have become text beside words; NA for the words.
caret_numbers <- function(values) suppressWarnings(as.numeric(as.character(values)))

# One setting: its number, or its word, the first one for NA.
caret_setting <- function(value, name, words) {
  number <- caret_numbers(value)
  if (!is.na(number)) return(number)
  if (is.na(value)) return(words[1L])
  check_choice(as.character(value), name, words)
}

# Simpler models first: fewer rows, wider kernels; what the model chooses comes last.
caret_sort <- function(x) x[order(caret_numbers(x$size), -caret_numbers(x$sigma)), ]

# The largest size of each setting is fitted and serves the smaller ones, where size and ridge are
# given: what the model chooses itself it would choose for each size anew.
caret_loop <- function(grid) {
  sizes <- caret_numbers(grid$size)
  alone <- is.na(grid$sigma) | is.na(sizes) | is.na(caret_numbers(grid$ridge))
  key <- paste(grid$sigma, grid$ridge, ifelse(alone, seq_len(nrow(grid)), 0))
  rows <- lapply(split(seq_len(nrow(grid)), factor(key, unique(key))), function(i) {
    i[order(-sizes[i])]
  })
  list(
    loop = grid[vapply(rows, `[`, 0L, 1L), , drop = FALSE],
    submodels = unname(lapply(rows, function(i) data.frame(size = grid$size[i[-1L]])))
  )
}

caret_fit <- function(x, y, wts, param, lev, last, classProbs, ...) {
  given <- list(
    kernel = rbf_kernel(sigma = caret_setting(param$sigma, "sigma", c("mean", "median"))),
    size = caret_setting(param$size, "size", "loo"),
    ridge = caret_setting(param$ridge, "ridge", "loo"), weights = wts
  )
  do.call(kernel_lm, c(list(quote(x), quote(y)), Filter(Negate(is.null), given), list(...)))
}

# A function that predicts, for the largest size and for those of `submodels`.
caret_predict <- function(numbers, classes) {
  function(modelFit, newdata, preProc = NULL,
           submodels = NULL) {
    type <- if (is.null(modelFit$levels)) numbers else classes
    most <- length(modelFit$basis$index)
    at <- function(size) {
      value <- stats::predict(modelFit, newdata, type = type, size = size)
      if (is.matrix(value)) as.data.frame(value) else value
    }
    if (is.null(submodels)) return(at(NULL))
    c(list(at(NULL)), lapply(pmin(caret_numbers(submodels$size), most), at))
  }
}
