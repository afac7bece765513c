test_that("the model is registered with its modes, arguments and predictions", {
  skip_if_not_installed("parsnip")
  expect_true("kernel_machine" %in% parsnip::get_from_env("models"))
  expect_setequal(parsnip::get_from_env("kernel_machine_modes"),
    c("unknown", "regression", "classification"))
  arguments <- parsnip::get_from_env("kernel_machine_args")
  expect_identical(arguments$parsnip, c("rbf_sigma", "size", "penalty"))
  expect_identical(arguments$has_submodel, c(FALSE, TRUE, FALSE))
  types <- parsnip::get_from_env("kernel_machine_predict")
  expect_setequal(types$type[types$mode == "regression"],
    c("numeric", "conf_int", "pred_int", "raw"))
  expect_setequal(types$type[types$mode == "classification"], c("class", "prob", "raw"))
  # a second time changes nothing
  expect_silent(kernelect:::register_parsnip())
  expect_identical(parsnip::get_from_env("kernel_machine_args"), arguments)
  # parsnip's own look at what was registered
  expect_output(parsnip::show_model_info("kernel_machine"), "can use case weights")
  expect_true(parsnip::case_weights_allowed(kernel_machine("regression")))
  expect_identical(generics::required_pkgs(kernel_machine("regression")), c("parsnip", "kernelect"))
})

test_that("hooks register the model whichever package is loaded first", {
  skip_if_not_installed("parsnip")
  known <- "cat('kernel_machine' %in% parsnip::get_from_env('models'))"
  expect_identical(other_session("loadNamespace('kernelect')", "loadNamespace('parsnip')", known),
    "TRUE")
  expect_identical(other_session("loadNamespace('parsnip')", "loadNamespace('kernelect')", known),
    "TRUE")
  expect_identical(
    other_session("loadNamespace('kernelect')", "cat(isNamespaceLoaded('parsnip'))"), "FALSE"
  )
})

test_that("a specification fits what kernel_lm() fits, by formula and by columns", {
  skip_if_not_installed("parsnip")
  spec <- kernel_machine("regression", rbf_sigma = 0.05, size = 12, penalty = 0.2)
  ours <- kernel_lm(mtcars[-1], mtcars$mpg, kernel = rbf_kernel(gamma = 0.05), size = 12,
    ridge = 0.2)
  for (fit in list(
    parsnip::fit(spec, mpg ~ ., mtcars), parsnip::fit_xy(spec, mtcars[-1], mtcars$mpg)
  )) {
    expect_s3_class(fit$fit, "kernel_lm")
    expect_equal(coef(fit$fit), coef(ours))
    expect_equal(predict(fit, mtcars)$.pred, unname(predict(ours, mtcars)))
    expect_equal(predict(fit, mtcars, type = "raw"), predict(ours, mtcars))
    found <- predict(fit, mtcars, type = "conf_int", level = 0.9, std_error = TRUE)
    wanted <- predict(ours, mtcars, interval = "confidence", level = 0.9, se.fit = TRUE)
    expect_identical(names(found), c(".pred_lower", ".pred_upper", ".std_error"))
    expect_equal(as.matrix(found[1:2]), wanted$fit[, 2:3], ignore_attr = TRUE)
    expect_equal(found$.std_error, unname(wanted$se.fit))
    expect_equal(as.matrix(predict(fit, mtcars, type = "pred_int")),
      predict(ours, mtcars, interval = "prediction")[, 2:3], ignore_attr = TRUE)
  }
  # what is left alone is chosen by leave-one-out
  alone <- parsnip::fit(kernel_machine("regression"), mpg ~ ., mtcars)$fit
  expect_equal(coef(alone), coef(kernel_lm(mpg ~ ., mtcars)))
})

test_that("classes, probabilities, factors, one row and missing values go through", {
  skip_if_not_installed("parsnip")
  d <- transform(iris, wide = factor(Petal.Width > 1, labels = c("no", "yes")))
  spec <- parsnip::set_engine(kernel_machine("classification", size = 9), "kernelect",
    kernel = laplace_kernel(), basis = "cholesky")
  fit <- parsnip::fit(spec, Species ~ ., d)
  ours <- kernel_lm(Species ~ ., d, size = 9, kernel = laplace_kernel(), basis = "cholesky")
  expect_identical(predict(fit, d)$.pred_class, predict(ours, d), ignore_attr = TRUE)
  found <- predict(fit, d, type = "prob")
  expect_identical(names(found), paste0(".pred_", levels(d$Species)))
  expect_equal(as.matrix(found), predict(ours, d, type = "prob"), ignore_attr = TRUE)
  expect_identical(nrow(predict(fit, d[1, ], type = "prob")), 1L)
  d$Sepal.Width[2] <- NA
  expect_identical(is.na(predict(fit, d[1:3, ])$.pred_class), c(FALSE, TRUE, FALSE))
  ordered <- transform(d[-2, ], Species = factor(Species, ordered = TRUE))
  few <- parsnip::fit(kernel_machine("classification", size = 5), Species ~ ., ordered)
  expect_true(is.ordered(predict(few, d[1:2, ])[[1]]))
})

test_that("many sizes come from one fit, and are those of separate fits", {
  skip_if_not_installed("parsnip")
  sizes <- c(7, 3, 1, 12, 500)
  one <- parsnip::fit(kernel_machine("regression", size = 12, penalty = 0.1), mpg ~ ., mtcars)
  found <- parsnip::multi_predict(one, mtcars[1:4, ], size = sizes)
  expect_identical(dim(found), c(4L, 1L))
  expect_identical(found$.pred[[1]]$size, sort(sizes))
  for (size in sizes) {
    spec <- kernel_machine("regression", size = min(size, 12), penalty = 0.1)
    apart <- parsnip::fit(spec, mpg ~ ., mtcars)
    at <- vapply(found$.pred, function(t) t$.pred[t$size == size], 0)
    expect_equal(at, predict(apart, mtcars[1:4, ])$.pred, tolerance = 1e-8)
  }
  spec <- kernel_machine("classification", size = 8, penalty = 0.1)
  classes <- parsnip::fit(spec, Species ~ ., iris)
  expect_identical(
    parsnip::multi_predict(classes, iris[51, ], size = 8)$.pred[[1]]$.pred_class,
    predict(classes, iris[51, ])$.pred_class
  )
  found <- parsnip::multi_predict(classes, iris[c(1, 60), ], type = "prob", size = c(2, 8))
  expect_identical(names(found$.pred[[2]]), c("size", paste0(".pred_", levels(iris$Species))))
  expect_equal(unlist(found$.pred[[2]][2, -1]),
    unlist(predict(classes, iris[60, ], type = "prob")))
  expect_identical(parsnip::multi_predict(one, mtcars[1, ])$.pred[[1]]$size, 12L)
  expect_true(parsnip::has_multi_predict(one))
  expect_identical(parsnip::multi_predict_args(one), "size")
  expect_error(parsnip::multi_predict(one, mtcars[1, ], size = 0), "`size`",
    class = "kernelect_error_argument")
})

test_that("case weights are those of kernel_lm()", {
  skip_if_not_installed("parsnip")
  skip_if_not_installed("hardhat")
  times <- rep(1:4, 8)
  fit <- parsnip::fit(kernel_machine("regression", size = 8), mpg ~ wt + hp, mtcars,
    case_weights = hardhat::frequency_weights(times))
  repeated <- kernel_lm(mpg ~ wt + hp, mtcars[rep(1:32, times), ], size = 8)
  expect_equal(predict(fit, mtcars)$.pred, unname(predict(repeated, mtcars)), tolerance = 1e-6)
  important <- parsnip::fit(kernel_machine("regression", size = 8), mpg ~ wt + hp, mtcars,
    case_weights = hardhat::importance_weights(times / 2))
  expect_equal(predict(important, mtcars)$.pred,
    unname(predict(kernel_lm(mpg ~ wt + hp, mtcars, size = 8, weights = times / 2), mtcars)))
})

test_that("update() changes arguments of a specification, and forgets them when told", {
  skip_if_not_installed("parsnip")
  spec <- kernel_machine("regression", size = 4, penalty = 1)
  changed <- update(spec, penalty = 2, rbf_sigma = 0.1)
  value <- function(spec) lapply(spec$args, rlang::eval_tidy)
  expect_identical(value(changed), list(rbf_sigma = 0.1, size = 4, penalty = 2))
  expect_identical(value(update(spec, size = 9, fresh = TRUE)),
    list(rbf_sigma = NULL, size = 9, penalty = NULL))
  expect_identical(value(update(spec, data.frame(size = 3, penalty = 5)))$size, 3)
  expect_s3_class(changed, c("kernel_machine", "model_spec"), exact = TRUE)
  expect_output(print(changed), "kernel machine Model Specification (regression)", fixed = TRUE)
  expect_output(print(parsnip::translate(changed)), "kernelect::kernel_machine_fit", fixed = TRUE)
})

test_that("every argument has its parameter, and a grid needs the largest sizes only", {
  skip_if_not_installed("parsnip")
  skip_if_not_installed("dials")
  spec <- kernel_machine("regression", rbf_sigma = parsnip::tune(), size = parsnip::tune("rows"),
    penalty = parsnip::tune())
  skip_if_not_installed("hardhat")
  found <- hardhat::extract_parameter_set_dials(spec)
  expect_setequal(found$id, c("rbf_sigma", "rows", "penalty"))
  expect_true(all(vapply(found$object, inherits, NA, "quant_param")))
  expect_equal(dials::range_get(found$object[[which(found$id == "rows")]]),
    list(lower = 5L, upper = 200L))
  expect_equal(dials::range_get(found$object[[which(found$id == "penalty")]]),
    list(lower = 1e-6, upper = 1e3))
  grid <- tibble::tibble(penalty = c(1, 1, 2), rows = c(5, 9, 4))
  least <- generics::min_grid(spec, grid)
  expect_equal(as.data.frame(least[1:2]), data.frame(penalty = c(1, 2), rows = c(9, 4)))
  expect_identical(least$.submodels, list(list(rows = 5), list()))
  expect_identical(generics::min_grid(spec, grid["rows"])$.submodels, list(list(rows = c(5, 4))))
  expect_identical(generics::min_grid(spec, grid["penalty"])$.submodels, rep(list(list()), 3))
})

test_that("arguments that cannot be are refused by the names the user gave", {
  fit <- function(..., kernel = NULL) {
    kernel_machine_fit(mtcars[-1], mtcars$mpg, ..., kernel = kernel)
  }
  expect_error(fit(rbf_sigma = -1), "`rbf_sigma`", class = "kernelect_error_argument")
  expect_error(fit(size = 1.5), "`size`", class = "kernelect_error_argument")
  expect_error(fit(penalty = -2), "`penalty`", class = "kernelect_error_argument")
  expect_error(fit(rbf_sigma = 1, kernel = "linear"), "not both",
    class = "kernelect_error_argument")
  expect_error(fit(sizes = 3), "`sizes`", class = "kernelect_error_dots")
  expect_silent(fit(size = 1000, penalty = 1))
})

test_that("tidiers see the model inside", {
  skip_if_not_installed("parsnip")
  fit <- parsnip::fit(kernel_machine("regression", size = 4), mpg ~ wt, mtcars)
  expect_identical(generics::tidy(fit)$term, c("(Intercept)", paste0("z", 1:4)))
  expect_identical(generics::glance(fit)$nobs, 32L)
  expect_equal(generics::augment(fit, mtcars)$.pred, predict(fit, mtcars)$.pred)
})

test_that("the column of a grid is named by tune() or by the argument", {
  skip_if_not_installed("rlang")
  expect_identical(tuned_name(rlang::quo(tune("rows")), "size"), "rows")
  expect_identical(tuned_name(rlang::quo(tune()), "size"), "size")
  expect_identical(tuned_name(rlang::quo(sqrt(16)), "size"), "size")
  expect_identical(tuned_name(rlang::quo(5), "size"), "size")
})
