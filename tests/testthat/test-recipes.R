kernel_recipe <- function(step, ..., data = iris) {
  skip_if_not_installed("recipes")
  skip_if_not_installed("rlang")
  step(recipes::recipe(Species ~ ., data), recipes::all_numeric_predictors(), ...)
}

baked <- function(rec, new) as.data.frame(recipes::bake(recipes::prep(rec), new))

test_that("baked columns are what the models predict for new rows", {
  new <- iris[c(2, 52, 102), ]
  rec <- kernel_recipe(step_kernel_pca, num_comp = 2)
  pca <- kernel_pca(iris[1:4], ncomp = 2)
  out <- baked(rec, new)
  expect_identical(names(out), c("Species", "KPC01", "KPC02"))
  expect_equal(as.matrix(out[2:3]), predict(pca, new[1:4]), ignore_attr = TRUE)

  rec <- kernel_recipe(step_kernel_basis, size = 4, keep_original_cols = TRUE, prefix = "B")
  basis <- kernel_basis(iris[1:4], size = 4)
  out <- baked(rec, new)
  expect_identical(names(out), c(names(iris), paste0("B0", 1:4)))
  expect_equal(as.matrix(out[6:9]), predict(basis, new[1:4]), ignore_attr = TRUE)

  rec <- kernel_recipe(step_kernel_rank, top_n = 2, options = list(max_iter = 20))
  rank <- suppressWarnings(kernel_rank(iris[1:4], iris$Species, max_iter = 20))
  out <- suppressWarnings(baked(rec, new))
  expect_setequal(names(out), c(names(rank$score)[rank$ranking[1:2]], "Species"))
})

test_that("a ranking takes the outcome it is given", {
  skip_if_not_installed("recipes")
  cars <- transform(mtcars, am = factor(am), vs = factor(vs))
  rec <- recipes::recipe(am + vs ~ ., cars)
  step <- function(...) {
    step_kernel_rank(rec, recipes::all_predictors(), method = "bahsic", top_n = 2, ...)
  }
  expect_error(recipes::prep(step()), "several outcomes")
  x <- cars[setdiff(names(cars), c("am", "vs"))]
  for (outcome in c("am", "vs")) {
    rank <- kernel_rank(x, cars[[outcome]], method = "bahsic")
    expect_setequal(names(baked(step(outcome = outcome), cars)),
      c(names(rank$score)[rank$ranking[1:2]], "am", "vs"))
  }
})

test_that("columns that are not numeric are refused with the remedy", {
  skip_if_not_installed("recipes")
  rec <- recipes::recipe(Sepal.Length ~ ., iris)
  expect_error(recipes::prep(step_kernel_pca(rec, recipes::all_predictors())), "step_dummy")
  expect_error(step_kernel_pca(iris), "`recipe` must be a recipe",
    class = "kernelect_error_argument")
})

test_that("a step that chooses no column changes nothing", {
  skip_if_not_installed("recipes")
  rec <- step_kernel_pca(recipes::recipe(Species ~ ., iris), recipes::has_role("no such role"))
  expect_equal(baked(rec, iris), baked(recipes::recipe(Species ~ ., iris), iris))
})

test_that("steps print, tidy, name their package and say what may be tuned", {
  rec <- kernel_recipe(step_kernel_pca, num_comp = 2, id = "mine")
  prepped <- recipes::prep(rec)
  expect_match(paste(utils::capture.output(print(prepped$steps[[1]])), collapse = " "),
    "Kernel principal components|^ *$")
  tidy <- as.data.frame(recipes::tidy(prepped, number = 1))
  expect_identical(tidy$component, 1:2)
  expect_identical(tidy$id, rep("mine", 2))
  expect_identical(nrow(as.data.frame(recipes::tidy(rec, number = 1))), 1L)
  expect_identical(generics::required_pkgs(rec$steps[[1]]), "kernelect")
  tunable <- generics::tunable(rec$steps[[1]])
  expect_identical(tunable$name, "num_comp")
  expect_identical(tunable$call_info[[1]]$fun, "num_comp")
  kept <- recipes::tidy(recipes::prep(kernel_recipe(step_kernel_rank, top_n = 1)), number = 1)
  expect_identical(kept$kept, c(TRUE, FALSE, FALSE, FALSE))
})

test_that("a recipe of steps works end to end with a linear model", {
  skip_if_not_installed("recipes")
  circles <- simulate_circles(200, seed = 1)
  circles$y <- factor(circles$y)
  rec <- step_kernel_pca(recipes::recipe(y ~ ., circles), recipes::all_predictors(), num_comp = 4)
  prepped <- recipes::prep(rec)
  train <- as.data.frame(recipes::bake(prepped, NULL))
  # separated classes have no finite maximum: the warning of glm() is about that
  fit <- suppressWarnings(stats::glm(y ~ ., "binomial", train))
  new <- simulate_circles(500, seed = 2)
  p <- stats::predict(fit, as.data.frame(recipes::bake(prepped, new)), type = "response")
  wrong <- mean((p > 0.5) != (factor(new$y) == levels(circles$y)[2]))
  plain <- stats::glm(y ~ ., "binomial", circles)
  wrong_plain <- mean((stats::predict(plain, new) > 0) != (factor(new$y) == levels(circles$y)[2]))
  expect_lt(wrong, wrong_plain / 2)
})
