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

# What recipes' own tests ask of every step.
kernel_steps <- list(
  list(step_kernel_basis, "size", list(size = 4), "Kernel basis"),
  list(step_kernel_pca, "num_comp", list(num_comp = 2), "Kernel principal components"),
  list(step_kernel_rank, "top_n", list(top_n = 2), "Kernel ranking")
)

test_that("every step preps, bakes, prints, tidies and names what it needs", {
  skip_if_not_installed("recipes")
  printed <- function(step) {
    paste(utils::capture.output(print(step), type = "output"),
      paste(utils::capture.output(print(step), type = "message"), collapse = " "), collapse = " ")
  }
  for (s in kernel_steps) {
    rec <- do.call(kernel_recipe, c(list(s[[1]], id = "mine"), s[[3]]))
    step <- rec$steps[[1]]
    expect_match(printed(step), s[[4]])
    tidied <- as.data.frame(recipes::tidy(rec, number = 1))
    expect_identical(names(tidied), c("terms", "id"))
    expect_match(tidied$terms, "all_numeric_predictors()", fixed = TRUE)
    expect_identical(generics::required_pkgs(step), "kernelect")
    tunable <- generics::tunable(step)
    expect_identical(names(tunable),
      c("name", "call_info", "source", "component", "component_id"))
    expect_identical(tunable$name, s[[2]])
    expect_true(tunable$name %in% names(formals(s[[1]])))
    if (requireNamespace("dials", quietly = TRUE)) {
      info <- tunable$call_info[[1]]
      parameter <- do.call(getExportedValue(info$pkg, info$fun), info[setdiff(names(info),
        c("pkg", "fun"))])
      expect_s3_class(parameter, "quant_param")
    }
    prepped <- recipes::prep(rec)
    expect_true(prepped$steps[[1]]$trained)
    expect_match(printed(prepped$steps[[1]]), s[[4]])
    expect_s3_class(recipes::bake(prepped, iris), "tbl_df")
    expect_equal(recipes::bake(prepped, NULL), recipes::bake(prepped, iris))
    expect_identical(nrow(recipes::bake(prepped, iris[0, ])), 0L)
    expect_identical(names(recipes::bake(prepped, iris[0, ])), names(recipes::bake(prepped, iris)))
    tidied <- recipes::tidy(prepped, number = 1)
    expect_true(all(tidied$id == "mine") && nrow(tidied) > 0)
    # a column that the step needs is not there
    expect_error(recipes::bake(prepped, iris[-1]))
  }
})

test_that("every step that chooses no column preps, bakes and prints all the same", {
  skip_if_not_installed("recipes")
  for (s in kernel_steps) {
    rec <- s[[1]](recipes::recipe(Species ~ ., iris), recipes::has_role("no such role"))
    prepped <- recipes::prep(rec)
    expect_equal(recipes::bake(prepped, iris), tibble::as_tibble(iris), ignore_attr = TRUE)
    expect_identical(nrow(recipes::tidy(prepped, number = 1)), 0L)
    expect_error(utils::capture.output(print(prepped), type = "message"), NA)
  }
})

test_that("sizes beyond the rows and settings that cannot be are answered", {
  rec <- kernel_recipe(step_kernel_basis, size = 1e5, options = list(tol = 0))
  expect_silent(prepped <- recipes::prep(rec))
  for (bad in list(0, 2.5, "a")) {
    expect_error(recipes::prep(kernel_recipe(step_kernel_basis, size = bad)), "size")
    expect_error(recipes::prep(kernel_recipe(step_kernel_pca, num_comp = bad)), "ncomp|num_comp")
    expect_error(recipes::prep(kernel_recipe(step_kernel_rank, top_n = bad)), "top_n")
  }
})

test_that("a setting that is to be tuned stays a call until then", {
  rec <- kernel_recipe(step_kernel_rank, top_n = quote(tune("columns")))
  expect_identical(rec$steps[[1]]$top_n, quote(tune("columns")))
})

test_that("new columns never take the place of others", {
  skip_if_not_installed("recipes")
  d <- data.frame(KPC01 = letters[1:20], a = sin(1:20), b = cos(1:20), stringsAsFactors = TRUE)
  rec <- recipes::recipe(KPC01 ~ ., d)
  step <- function(...) step_kernel_pca(rec, recipes::all_predictors(), num_comp = 1, ...)
  expect_error(recipes::prep(step()), "has column `KPC01` already: give another `prefix`")
  expect_identical(names(baked(step(prefix = "P"), d)), c("KPC01", "P01"))
})

test_that("a step is blamed under its own names, and points to steps before it", {
  skip_if_not_installed("recipes")
  skip_if_not_installed("rlang")
  message_of <- function(rec) {
    paste(conditionMessage(tryCatch(recipes::prep(rec), error = function(e) e$parent)))
  }
  expect_match(message_of(kernel_recipe(step_kernel_pca, num_comp = "a")), "^`num_comp` must be")
  gaps <- iris
  gaps[1:2, 1] <- NA
  words <- "^`training` has missing values in `Sepal.Length` \\(2\\).*before this step, by `recipes"
  for (step in list(step_kernel_basis, step_kernel_pca, step_kernel_rank)) {
    expect_match(message_of(kernel_recipe(step, data = gaps)), words)
  }
  left <- kernel_recipe(step_kernel_pca, data = gaps, options = list(na_action = "omit"))
  expect_message(recipes::prep(left), "2 of 150 rows")
})
