# The mlr3 filter "kernel_rank". Its class inherits from one of mlr3filters, so it is made when that
# package is loaded, before or after this one, and put among its filters.

utils::globalVariables(c("self", "super")) # in methods of R6 classes

#' The mlr3 filter "kernel_rank"
#'
#' `mlr3filters::flt("kernel_rank")` scores the columns of a task by [kernel_rank()]. Use it in
#' mlr3, alone or in a pipeline: `mlr3pipelines::po("filter", mlr3filters::flt("kernel_rank"))`. The
#' filter is there as soon as kernelect and mlr3filters are loaded.
#'
#' @details
#' It takes tasks of classification and regression with numeric and whole-numbered columns and no
#' missing values (`po("encode")` and `po("imputemean")` before it help). Its parameters are the
#' arguments `kernel`, `method`, `optimizer`, `max_iter`, `tol`, `restarts`, `ridge`, `update`,
#' `cost`, `target`, `block`, `scale` and `threads` of [kernel_rank()]; `nfeat` is its `n`.
#'
#' mlr3 orders columns of equal score at random, where [kernel_rank()] has an order: of columns
#' with weight zero, for instance, by gradient. So equal scores are set apart by a billionth of the
#' largest, and the filter's order is that of `ranking`.
#' @name mlr_filters_kernel_rank
#' @examples
#' if (requireNamespace("mlr3filters", quietly = TRUE)) {
#'   filter <- mlr3filters::flt("kernel_rank", method = "sas")
#'   filter$calculate(mlr3::tsk("iris"))
#'   filter$scores
#' }
#' @family exports
NULL

register_mlr3 <- function() {
  mlr3filters::mlr_filters$add("kernel_rank", kernel_rank_filter())
}

kernel_rank_filter <- function() {
  R6::R6Class("FilterKernelRank",
    inherit = mlr3filters::Filter, parent_env = topenv(),
    public = list(
      initialize = function() {
        super$initialize(
          id = "kernel_rank", task_types = c("classif", "regr"),
          param_set = kernel_rank_parameters(), feature_types = c("integer", "numeric"),
          packages = "kernelect", label = "Kernel ranking",
          man = "kernelect::mlr_filters_kernel_rank"
        )
      }
    ),
    private = list(
      .calculate = function(task, nfeat) {
        x <- as.data.frame(task$data(cols = task$feature_names))
        rank <- do.call(kernel_rank, c(
          list(quote(x), quote(task$truth()), n = max(nfeat, 1L)), self$param_set$values
        ))
        distinct_scores(rank)
      }
    )
  )
}

kernel_rank_parameters <- function() {
  paradox::ps(
    kernel = paradox::p_uty(default = NULL),
    method = paradox::p_fct(names(rank_methods), default = "sas"),
    optimizer = paradox::p_fct(c("lbfgs", "ascent"), default = "lbfgs"),
    max_iter = paradox::p_int(lower = 1L, default = 200L),
    tol = paradox::p_dbl(lower = 0, default = 1e-6),
    restarts = paradox::p_int(lower = 0L, default = 0L),
    ridge = paradox::p_dbl(lower = 0, special_vals = list(NULL), default = NULL),
    update = paradox::p_fct(c("corrected", "printed"), default = "corrected"),
    cost = paradox::p_dbl(lower = 0, special_vals = list(NULL), default = NULL),
    target = paradox::p_fct(c("balanced", "plain"), default = "balanced"),
    block = paradox::p_int(lower = 1L, special_vals = list(NULL), default = NULL),
    scale = paradox::p_lgl(default = TRUE),
    threads = paradox::p_int(lower = 1L, default = 1L, tags = "threads")
  )
}

# Scores in the order of the ranking, each above the next: equal ones rise by a step that does not
# show.
distinct_scores <- function(rank) {
  score <- rank$score[rank$ranking]
  step <- 1e-9 * max(abs(score), 1e-9)
  for (i in rev(seq_along(score)[-1L]) - 1L) score[i] <- max(score[i], score[i + 1L] + step)
  score
}
