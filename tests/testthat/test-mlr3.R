rank_filter <- function(...) {
  skip_if_not_installed("mlr3filters")
  mlr3filters::flt("kernel_rank", ...)
}

# What mlr3filters' own tests ask of every filter.
expect_filter <- function(filter, task) {
  expect_s3_class(filter, c("FilterKernelRank", "Filter", "R6"), exact = TRUE)
  expect_true(all(c("packages", "feature_types", "task_types", "param_set", "scores",
    "calculate") %in% names(filter)))
  expect_s3_class(filter$param_set, "ParamSet")
  expect_identical(names(formals(filter$calculate)), c("task", "nfeat"))
  fresh <- filter$clone(deep = TRUE)
  expect_identical(fresh$calculate(task), fresh)
  expect_setequal(names(fresh$scores), task$feature_names)
  expect_false(anyNA(fresh$scores))
  expect_false(is.unsorted(rev(fresh$scores), strictly = TRUE))
}

test_that("the filter is in the dictionary, whichever package is loaded first", {
  filter <- rank_filter()
  expect_true("kernel_rank" %in% mlr3filters::mlr_filters$keys())
  expect_setequal(filter$task_types, c("classif", "regr"))
  known <- "cat(mlr3filters::mlr_filters$has('kernel_rank'))"
  load <- sprintf("loadNamespace('%s')", c("kernelect", "mlr3filters"))
  expect_identical(other_session(load, known), "TRUE")
  expect_identical(other_session(rev(load), known), "TRUE")
})

test_that("its order is that of the ranking, ties included, every time", {
  for (method in c("sas", "rfe", "fisher")) {
    filter <- rank_filter(method = method)
    task <- mlr3::tsk("iris")
    expect_filter(filter, task)
    rank <- kernel_rank(iris[1:4], iris$Species, method = method)
    expect_identical(names(filter$calculate(task)$scores), names(rank$score)[rank$ranking])
    expect_equal(unname(filter$scores), unname(rank$score[rank$ranking]), tolerance = 1e-7)
  }
  # columns of weight zero: mlr3 would shuffle them
  task <- mlr3::tsk("mtcars")
  rank <- kernel_rank(mtcars[task$feature_names], mtcars$mpg)
  expect_gt(sum(rank$score == 0), 2)
  for (i in 1:5) {
    found <- rank_filter()$calculate(task)
    expect_identical(names(found$scores), names(rank$score)[rank$ranking])
  }
  expect_filter(rank_filter(), task)
})

test_that("scores of equal columns are set apart without changing the others", {
  rank <- list(score = c(a = 0, b = 2, c = 0, d = 2, e = 0), ranking = c(4L, 2L, 5L, 1L, 3L))
  found <- kernelect:::distinct_scores(rank)
  expect_identical(names(found), c("d", "b", "e", "a", "c"))
  expect_equal(unname(found), c(2, 2, 0, 0, 0), tolerance = 1e-8)
  expect_true(all(diff(found) < 0))
  # by a billionth of the largest
  expect_equal(unname(diff(found)[-2]), rep(-2e-9, 3), tolerance = 1e-6)
  rank$score[] <- 0
  zero <- kernelect:::distinct_scores(rank)
  expect_equal(unname(diff(zero)) * 1e18, rep(-1, 4), tolerance = 1e-6)
})

test_that("parameters are those of kernel_rank(), and odd tasks are refused", {
  filter <- rank_filter(method = "bahsic", max_iter = 50L)
  expect_identical(filter$param_set$values$method, "bahsic")
  expect_true(all(filter$param_set$ids() %in% names(formals(kernelect:::kernel_rank.default))))
  expect_error(rank_filter(method = "nonsense"), "method")
  task <- mlr3::tsk("mtcars")
  data <- as.data.frame(task$data())
  data$wt[3] <- NA
  missing <- mlr3::as_task_regr(data, target = "mpg")
  expect_error(rank_filter()$calculate(missing), "missing values")
  expect_error(rank_filter()$calculate(mlr3::tsk("german_credit")), "feature")
  numbers <- rank_filter(method = "scss")
  expect_error(numbers$calculate(task), class = "kernelect_error")
})
