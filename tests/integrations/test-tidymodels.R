# A recipe, the model, a workflow and a grid, end to end, against what the same steps give by hand.

folds_of <- function(data, v = 3) with_seed(1, rsample::vfold_cv(data, v))

test_that("tune_grid() over sizes and penalties gives the figures of separate fits", {
  spec <- kernel_machine("regression", rbf_sigma = 0.05, size = parsnip::tune(),
    penalty = parsnip::tune())
  flow <- workflows::workflow(mpg ~ ., spec)
  folds <- folds_of(mtcars)
  grid <- expand.grid(size = c(4L, 9L), penalty = c(0.01, 1))
  found <- tune::tune_grid(flow, folds, grid = tibble::as_tibble(grid),
    metrics = yardstick::metric_set(yardstick::rmse))
  expect_identical(nrow(tune::collect_notes(found)), 0L)
  figures <- tune::collect_metrics(found)
  expect_identical(nrow(figures), 4L)
  for (i in seq_len(nrow(figures))) {
    by_hand <- vapply(folds$splits, function(split) {
      train <- rsample::analysis(split)
      test <- rsample::assessment(split)
      fit <- kernel_lm(train[-1], train$mpg, kernel = rbf_kernel(gamma = 0.05),
        size = figures$size[i], ridge = figures$penalty[i])
      sqrt(mean((predict(fit, test) - test$mpg)^2))
    }, 0)
    expect_equal(figures$mean[i], mean(by_hand), tolerance = 1e-7)
  }
  best <- tune::select_best(found, metric = "rmse")
  last <- generics::fit(tune::finalize_workflow(flow, best), mtcars)
  expect_s3_class(hardhat::extract_fit_engine(last), "kernel_lm")
  expect_equal(dim(predict(last, mtcars, type = "pred_int")), c(32L, 2L))
})

test_that("a recipe with kernel steps is tuned together with the model", {
  rec <- recipes::recipe(Species ~ ., iris)
  rec <- step_kernel_rank(rec, recipes::all_predictors(), top_n = parsnip::tune("columns"))
  rec <- step_kernel_pca(rec, recipes::all_predictors(), num_comp = parsnip::tune())
  flow <- workflows::workflow(rec, kernel_machine("classification", size = parsnip::tune("rows")))
  set <- hardhat::extract_parameter_set_dials(flow)
  expect_setequal(set$id, c("columns", "num_comp", "rows"))
  grid <- tibble::tibble(columns = c(2L, 4L), num_comp = c(1L, 2L), rows = c(5L, 20L))
  found <- tune::tune_grid(flow, folds_of(iris), grid = grid)
  expect_identical(nrow(tune::collect_notes(found)), 0L)
  figures <- tune::collect_metrics(found)
  expect_setequal(figures$.metric, c("accuracy", "brier_class", "roc_auc"))
  expect_gt(max(figures$mean[figures$.metric == "accuracy"]), 0.9)
  automatic <- with_seed(1, tune::tune_grid(flow, folds_of(iris), grid = 4))
  expect_identical(nrow(tune::collect_notes(automatic)), 0L)
  best <- tune::select_best(found, metric = "accuracy")
  last <- generics::fit(tune::finalize_workflow(flow, best), iris)
  expect_gt(mean(predict(last, iris)$.pred_class == iris$Species), 0.9)
  # the recipe by hand
  prepped <- recipes::prep(tune::finalize_recipe(rec, best))
  baked <- as.data.frame(recipes::bake(prepped, iris))
  ours <- kernel_lm(baked[setdiff(names(baked), "Species")], iris$Species, size = best$rows)
  expect_identical(predict(last, iris)$.pred_class, unname(predict(ours, baked)))
})

test_that("case weights go through a workflow, and the steps serve other models", {
  d <- mtcars
  d$times <- hardhat::importance_weights(rep(1:4, 8))
  flow <- workflows::add_case_weights(
    workflows::workflow(mpg ~ wt + hp, kernel_machine("regression", size = 8)), times
  )
  fit <- generics::fit(flow, d)
  ours <- kernel_lm(mpg ~ wt + hp, mtcars, size = 8, weights = rep(1:4, 8))
  expect_equal(predict(fit, mtcars)$.pred, unname(predict(ours, mtcars)))
  rec <- step_kernel_basis(recipes::recipe(mpg ~ ., mtcars), recipes::all_predictors(), size = 5)
  linear <- generics::fit(workflows::workflow(rec, parsnip::linear_reg()), mtcars)
  basis <- predict(kernel_basis(mtcars[-1], size = 5), mtcars)
  expect_equal(predict(linear, mtcars)$.pred, unname(fitted(lm(mtcars$mpg ~ basis))))
})

test_that("a workflow is served by vetiver", {
  flow <- workflows::workflow(Species ~ ., kernel_machine("classification", size = 8))
  fit <- generics::fit(flow, iris)
  v <- vetiver::vetiver_model(fit, "flowers")
  expect_true("kernelect" %in% v$metadata$required_pkgs)
  expect_identical(predict(v, iris[1:3, ]), predict(fit, iris[1:3, ]))
  board <- pins::board_temp()
  plain <- vetiver::vetiver_model(kernel_lm(mpg ~ wt, mtcars, size = 4), "mileage")
  suppressMessages(vetiver::vetiver_pin_write(board, plain))
  again <- vetiver::vetiver_pin_read(board, "mileage")
  expect_identical(predict(again, mtcars), predict(plain, mtcars))
  api <- vetiver::vetiver_api(plumber::pr(), plain)
  route <- Filter(function(e) "POST" %in% e$verbs, unlist(api$endpoints))[[1]]
  answer <- route$exec(list(body = mtcars["wt"]), NULL)
  expect_equal(answer$.pred, unname(predict(plain, mtcars)))
})
