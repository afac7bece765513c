# The filter in pipelines of mlr3: tuned, resampled and benchmarked.

graph <- function(...) {
  filter <- mlr3pipelines::po("filter", mlr3filters::flt("kernel_rank"), ...)
  mlr3::as_learner(mlr3pipelines::`%>>%`(filter, mlr3::lrn("classif.rpart")))
}

test_that("a pipeline keeps the best columns of the ranking", {
  task <- mlr3::tsk("iris")
  learner <- graph(filter.nfeat = 2)
  learner$train(task)
  rank <- kernel_rank(iris[task$feature_names], iris$Species)
  expect_setequal(learner$model$classif.rpart$train_task$feature_names,
    names(rank$score)[rank$ranking[1:2]])
  expect_s3_class(learner$predict(task), "PredictionClassif")
})

test_that("resampling chooses columns within every fold", {
  task <- mlr3::tsk("sonar")
  learner <- graph(filter.nfeat = 5)
  result <- with_seed(1, mlr3::resample(task, learner, mlr3::rsmp("cv", folds = 3),
    store_models = TRUE))
  expect_identical(nrow(result$errors), 0L)
  expect_lt(result$aggregate(mlr3::msr("classif.ce")), 0.45)
  for (i in 1:3) {
    train <- task$clone()$filter(result$resampling$train_set(i))
    data <- as.data.frame(train$data())
    rank <- kernel_rank(data[train$feature_names], data$Class)
    scores <- result$learners[[i]]$model$kernel_rank$scores
    expect_identical(names(scores), names(rank$score)[rank$ranking])
  }
})

test_that("columns of weight zero keep their order in a pipeline that asks for many", {
  task <- mlr3::tsk("mtcars")
  rank <- kernel_rank(mtcars[task$feature_names], mtcars$mpg)
  for (n in c(4, 6, 8)) {
    filter <- mlr3pipelines::po("filter", mlr3filters::flt("kernel_rank"), filter.nfeat = n)
    kept <- filter$train(list(task))[[1]]$feature_names
    expect_setequal(kept, names(rank$score)[rank$ranking[seq_len(n)]])
  }
})
