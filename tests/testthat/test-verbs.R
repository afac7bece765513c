# R's own verbs on every class of model. The table inst/results/verbs.csv, which a vignette shows,
# says what each gives; here every line of it is run.

verb_models <- function() {
  list(
    kernel_basis = kernel_basis(~ wt + hp, mtcars, size = 5),
    kernel_pca = kernel_pca(~ wt + hp, mtcars, ncomp = 3),
    kernel_lm = kernel_lm(mpg ~ wt + hp, mtcars, size = 5, weights = cyl),
    kernel_lda = kernel_lda(Species ~ ., iris, size = 5),
    kernel_takes = kernel_takes(Species ~ ., iris, size = 3),
    kernel_fusion = kernel_fusion(mpg ~ wt + hp, mtcars),
    kernel_rank = kernel_rank(Species ~ ., iris),
    kernel_tune = kernel_tune(mpg ~ wt + hp, mtcars, grid = list(size = c(3, 5)), folds = 3,
      weights = cyl)
  )
}

# Regressions and classifiers by every model that is one.
regressions <- function(...) {
  list(kernel_lm(mpg ~ wt + hp, mtcars, size = 5, ...), kernel_fusion(mpg ~ wt + hp, mtcars, ...))
}

classifiers <- function(data = iris, ...) {
  list(
    lm = kernel_lm(Species ~ ., data, size = 6, ...),
    lda = kernel_lda(Species ~ ., data, size = 6, ...),
    takes = kernel_takes(Species ~ ., data, ...), fusion = kernel_fusion(Species ~ ., data, ...),
    tune = kernel_tune(Species ~ ., data, grid = list(size = c(4, 8)), folds = 3, ...)
  )
}

test_that("every verb gives a value, or a classed error that says why", {
  table <- utils::read.csv(system.file("results", "verbs.csv", package = "kernelect"))
  models <- verb_models()
  expect_setequal(table$class, names(models))
  for (i in seq_len(nrow(table))) {
    verb <- get(table$verb[i],
      if (table$verb[i] == "head") asNamespace("utils") else asNamespace("stats"))
    if (table$verb[i] == "summary") verb <- summary
    found <- tryCatch(verb(models[[table$class[i]]]), error = identity)
    label <- paste(table$verb[i], table$class[i])
    if (table$answer[i] == "error") {
      expect_s3_class(found, "kernelect_error")
      expect_gt(nchar(conditionMessage(found)), 20)
    } else {
      expect_false(inherits(found, "error"),
        label = paste0(label, ": ", if (inherits(found, "error")) conditionMessage(found)))
      expect_gt(length(found), 0, label = label)
    }
  }
})

test_that("update() changes arguments, formula, data and subset, and fits again", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 5)
  expect_identical(fit$call, quote(kernel_lm(formula = mpg ~ wt + hp, data = mtcars, size = 5)))
  expect_identical(update(fit), fit)
  expect_equal(without_call(update(fit, size = 3)),
    without_call(kernel_lm(mpg ~ wt + hp, mtcars, size = 3)))
  smaller <- update(fit, . ~ . - hp)
  expect_equal(predict(smaller, mtcars), predict(kernel_lm(mpg ~ wt, mtcars, size = 5), mtcars))
  expect_equal(fitted(update(fit, subset = cyl != 4)),
    fitted(kernel_lm(mpg ~ wt + hp, mtcars[mtcars$cyl != 4, ], size = 5)))
  expect_identical(update(fit, size = 3, evaluate = FALSE)$size, 3)
  x <- as.matrix(mtcars[c("wt", "hp")])
  by_matrix <- kernel_lm(x, mtcars$mpg)
  expect_identical(update(by_matrix, size = 2)$size, 2L)
  expect_error(update(by_matrix, y ~ x), "not fitted by a formula", class = "kernelect_error_model")
  for (wrong in list(3, "foo")) {
    expect_error(update(fit, wrong), "`formula.` must be a formula .*`size = 5`",
      class = "kernelect_error_argument")
  }
  expect_error(update(fit, . ~ ., 3), "must have names", class = "kernelect_error_argument")
})

test_that("update() takes NULL as that of stats does: away, or given", {
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 5)
  without <- update(fit, size = NULL)
  expect_identical(without$call, quote(kernel_lm(formula = mpg ~ wt + hp, data = mtcars)))
  given <- update(without, size = NULL)
  expect_equal(without_call(given), without_call(kernel_lm(mpg ~ wt + hp, mtcars, size = NULL)))
  expect_equal(without_call(update(fit, subset = NULL)), without_call(fit))
})

test_that("update() works where the model was fitted, on data that only it knows", {
  inside <- function() {
    d <- mtcars
    square <- function(v) v^2
    fit <- kernel_lm(mpg ~ square(wt), d, size = 4)
    list(fit = fit, other = update(fit, . ~ . + hp))
  }
  found <- inside()
  expect_identical(attr(stats::terms(found$other), "term.labels"), c("square(wt)", "hp"))
  # elsewhere the data must be given, the function is known
  expect_error(update(found$fit, size = 3), "no `d` here.*`update\\(fit, data = ...\\)`",
               class = "kernelect_error_model")
  expect_identical(update(found$fit, data = mtcars, size = 3)$basis$index,
    head(found$fit$basis, 3)$index)
  expect_identical(eval(quote(square(3)), environment(stats::formula(found$fit))), 9)
})

test_that("a call does not carry the data that do.call() wrote into it", {
  big <- iris[rep(1:150, 20), ]
  fit <- do.call(kernel_lm, list(Species ~ ., big, size = 4, keep = FALSE))
  expect_lt(length(serialize(fit, NULL)), 30000)
  expect_identical(fit$call[[1]], as.name("kernel_lm"))
  expect_error(update(fit, size = 3), "does not say where its `data` came from",
    class = "kernelect_error_model")
  expect_identical(update(fit, size = 3, data = big)$size, 3L)
  expect_error(update(kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = 3))$model),
    "does not know the call", class = "kernelect_error_model")
})

test_that("formula, terms and model frame are those of lm()", {
  d <- transform(mtcars, group = factor(cyl))
  for (formula in list(mpg ~ wt + hp, log(mpg) ~ ., mpg ~ poly(wt, 2) + group,
    cbind(mpg, qsec) ~ wt + I(hp / 100))) {
    ours <- kernel_lm(formula, d, size = 4)
    theirs <- stats::lm(formula, d)
    expect_equal(stats::formula(ours), stats::formula(theirs), ignore_attr = TRUE)
    for (part in c("variables", "factors", "term.labels", "order", "intercept", "response")) {
      expect_equal(attr(stats::terms(ours), part), attr(stats::terms(theirs), part), info = part)
    }
    expect_equal(stats::model.frame(ours), stats::model.frame(theirs), ignore_attr = TRUE)
  }
  without <- kernel_lm(mpg ~ . - hp, mtcars, size = 4)
  expect_false("hp" %in% rownames(attr(stats::terms(without), "factors")))
  basis <- kernel_basis(~ log(wt) + hp, mtcars, size = 5)
  expect_equal(stats::formula(basis), ~ log(wt) + hp, ignore_attr = TRUE)
  # a model on a basis that was given knows its own formula
  expect_equal(stats::formula(kernel_lm(mpg ~ log(wt) + hp, mtcars, basis = basis)),
    mpg ~ log(wt) + hp, ignore_attr = TRUE)
})

test_that("a model frame has the rows that were fitted, or those asked for", {
  d <- mtcars
  d$wt[3] <- NA
  fit <- suppressMessages(kernel_lm(mpg ~ wt, d, size = 4, subset = cyl == 4, na_action = "omit"))
  frame <- stats::model.frame(fit)
  expect_identical(rownames(frame), names(fitted(fit)))
  expect_identical(nrow(stats::model.frame(fit, data = mtcars)), 11L)
  expect_error(stats::model.frame(fit, datta = mtcars), "`datta`", class = "kernelect_error_dots")
  expect_error(stats::model.frame(fit, data = iris), "cannot be made again",
    class = "kernelect_error_model")
})

test_that("predict() without new data gives the training rows", {
  for (fit in regressions()) {
    expect_equal(predict(fit), predict(fit, mtcars))
    expect_identical(predict(fit), fitted(fit))
  }
  for (fit in classifiers()) expect_identical(predict(fit), predict(fit, iris))
  fit <- kernel_lm(Species ~ ., iris, size = 6)
  for (type in c("response", "prob", "decision")) {
    expect_equal(predict(fit, type = type), predict(fit, iris, type = type))
  }
  fit <- kernel_lda(Species ~ ., iris, size = 6)
  for (type in c("scores", "prob", "decision")) {
    expect_equal(predict(fit, type = type), predict(fit, iris, type = type))
  }
  fit <- kernel_takes(Species ~ ., iris)
  expect_equal(predict(fit, type = "scores"), predict(fit, iris, type = "scores"), tolerance = 1e-7)
  fit <- kernel_pca(~ wt + hp, mtcars)
  expect_equal(predict(fit), predict(fit, mtcars), tolerance = 1e-9)
  for (fit in regressions(keep = FALSE)) {
    expect_error(predict(fit), "`newdata` is missing, and the model holds no training rows",
      class = "kernelect_error_argument")
    expect_error(fitted(fit), "holds no fitted values", class = "kernelect_error_model")
  }
  expect_error(predict(kernel_lm(Species ~ ., iris), size = 2), "fitted values of its own size",
    class = "kernelect_error_argument")
})

test_that("rows left out are told as lm() tells them, and padded on request", {
  d <- mtcars
  d$wt[c(3, 10)] <- NA
  d$mpg[5] <- NA
  theirs <- stats::lm(mpg ~ wt + hp, d, na.action = stats::na.exclude)
  expect_message(padded <- regressions(), NA)
  for (action in c("omit", "exclude")) {
    messages <- capture.output(type = "message", models <- list(
      kernel_lm(mpg ~ wt + hp, d, size = 5, na_action = action),
      kernel_fusion(mpg ~ wt + hp, d, na_action = action)
    ))
    expect_identical(messages, rep("3 of 32 rows with missing values omitted.", 2))
    direct <- list(kernel_lm(mpg ~ wt + hp, d[-c(3, 5, 10), ], size = 5),
      kernel_fusion(mpg ~ wt + hp, d[-c(3, 5, 10), ]))
    for (i in seq_along(models)) {
      fit <- models[[i]]
      expect_identical(unclass(fit$na.action), unclass(theirs$na.action), ignore_attr = "class")
      expect_s3_class(fit$na.action, action)
      expect_identical(nobs(fit), 29L)
      for (verb in list(fitted, residuals, predict)) {
        plain <- verb(direct[[i]])
        value <- verb(fit)
        expect_identical(value[names(plain)], plain)
        expect_identical(names(value), if (action == "exclude") rownames(d) else names(plain))
        if (action == "exclude") expect_identical(which(is.na(unname(value))), c(3L, 5L, 10L))
      }
    }
  }
})

test_that("classes, probabilities and scores of rows left out are NA on request", {
  d <- iris
  d$Sepal.Length[7] <- NA
  d$Species[60] <- NA
  gone <- c(7L, 60L)
  models <- suppressMessages(classifiers(d, na_action = "exclude"))
  direct <- classifiers(d[-gone, ])
  for (name in names(models)) {
    fit <- models[[name]]
    expect_identical(which(is.na(fitted(fit))), gone, info = name)
    expect_identical(fitted(fit)[-gone], fitted(direct[[name]]), info = name)
    expect_identical(predict(fit), fitted(fit), info = name)
    expect_identical(unname(unclass(fit$na.action)), gone, ignore_attr = TRUE, info = name)
  }
  expect_identical(which(is.na(predict(models$lm, type = "prob")[, 1])), gone, ignore_attr = TRUE)
  expect_identical(which(is.na(predict(models$lda, type = "scores")[, 1])), gone,
    ignore_attr = TRUE)
  pca <- suppressMessages(kernel_pca(~ ., d, ncomp = 2, na_action = "exclude"))
  expect_identical(which(is.na(predict(pca)[, 1])), gone, ignore_attr = TRUE)
  basis <- suppressMessages(kernel_basis(~ ., d, size = 3, na_action = "omit"))
  expect_identical(class(basis$na.action), "omit")
})

test_that("rows that come back as NA are named as the same rows given anew", {
  holed <- iris
  holed$Sepal.Length[7] <- NA
  named <- `rownames<-`(holed, paste0("r", 150:1))
  names_of <- function(value) if (is.matrix(value)) rownames(value) else names(value)
  for (d in list(holed, named)) {
    suppressMessages({
      models <- classifiers(d, na_action = "exclude")
      models$source <- kernel_lm(Species ~ ., as_row_source(d, rows = 40), na_action = "exclude")
      omitted <- classifiers(d, na_action = "omit")
      widths <- kernel_lm(Petal.Width ~ Sepal.Length, d, na_action = "exclude")
      pca <- kernel_pca(~ Sepal.Length + Sepal.Width, d, ncomp = 1, na_action = "exclude")
    })
    for (type in c("class", "prob", "decision")) {
      for (name in names(models)) {
        expect_identical(names_of(predict(models[[name]], type = type)),
          names_of(predict(models[[name]], d, type = type)), info = paste(name, type))
      }
    }
    for (fit in list(widths, pca)) {
      expect_identical(names_of(predict(fit)), names_of(predict(fit, d)))
    }
    expect_identical(names(residuals(widths)), names(predict(widths)))
    # rows that are gone for good leave their numbers to the others, as in lm()
    kept <- rownames(d)[-7]
    for (fit in omitted) expect_identical(rownames(predict(fit, type = "prob")), kept)
    for (fit in c(models, omitted)) expect_identical(case.names(fit), kept)
  }
})

test_that("the classes of every classifier come back as a factor, ordered where they were", {
  grade <- c("setosa", "virginica", "versicolor")
  d <- transform(iris, Species = factor(Species, grade, ordered = TRUE))
  for (fit in classifiers(d)) {
    expect_s3_class(fitted(fit), "ordered")
    expect_s3_class(predict(fit, d), "ordered")
    expect_identical(levels(predict(fit, d)), grade)
    expect_identical(predict(fit), fitted(fit))
  }
  for (fit in classifiers()) expect_identical(class(fitted(fit)), "factor")
})

test_that("e1071::tune() takes kernel_lm(), by a formula and by a matrix", {
  skip_if_not_installed("e1071")
  control <- e1071::tune.control(cross = 3)
  by_formula <- with_seed(1,
    e1071::tune(kernel_lm, Species ~ ., data = iris, ranges = list(size = c(3, 8)),
      tunecontrol = control))
  expect_identical(by_formula$best.parameters$size, 8)
  expect_lt(by_formula$best.performance, 0.2)
  by_matrix <- with_seed(1,
    e1071::tune(kernel_lm, as.matrix(mtcars[c("wt", "hp")]), mtcars$mpg, tunecontrol = control))
  expect_lt(by_matrix$best.performance, var(mtcars$mpg))
})

test_that("a Gram matrix in place of rows gives the same model, whatever its class", {
  x <- scale(iris_matrix())
  K <- gram(x, rbf_kernel(2))
  for (fit in list(kernel_lm, kernel_lda, kernel_takes)) {
    by_rows <- fit(x, iris$Species, rbf_kernel(2), scale = FALSE)
    by_gram <- fit(K = K, y = iris$Species)
    expect_identical(by_gram$basis$index, by_rows$basis$index)
    expect_identical(predict(by_gram, K[7:1, ]), predict(by_rows, x[7:1, ]))
    expect_identical(fitted(by_gram), fitted(by_rows))
    expect_error(fit(x, iris$Species, K = K), "Give `x` or `K`, not both",
      class = "kernelect_error_argument")
    expect_error(fit(y = iris$Species), "Give `x`, or a Gram matrix as `K`",
      class = "kernelect_error_argument")
    expect_error(fit(K = K, y = 1:3), "one value per row of `K` (150), not 3", fixed = TRUE,
      class = "kernelect_error_argument")
    expect_error(fit(K = K[, 1:9], y = iris$Species), "`K` must be a square Gram matrix",
      class = "kernelect_error_argument")
    expect_warning(fit(K = K, y = iris$Species, kernel = rbf_kernel(2)),
      "of no use with a Gram matrix", class = "kernelect_warning_kernel")
  }
  for (basis in list("cholesky", NULL)) {
    by_rows <- kernel_pca(x, rbf_kernel(2), basis = basis, ncomp = 4, scale = FALSE)
    by_gram <- kernel_pca(K = K, basis = basis, ncomp = 4)
    expect_equal(by_gram$values, by_rows$values, tolerance = 1e-10)
    expect_equal(predict(by_gram, K[1:5, ]), predict(by_rows, x[1:5, ]), tolerance = 1e-8)
    expect_output(print(by_gram), "given Gram matrix")
  }
})

test_that("a class that is missing takes its row and its column of a Gram matrix along", {
  x <- scale(iris_matrix())
  rownames(x) <- NULL
  K <- gram(x, rbf_kernel(2))
  y <- replace(iris$Species, c(2, 77), NA)
  for (fit in list(kernel_lm, kernel_lda, kernel_takes)) {
    expect_error(fit(K = K, y = y), "`y` has missing values (2)", fixed = TRUE,
      class = "kernelect_error_missing_values")
    expect_message(by_gram <- fit(K = K, y = y, na_action = "exclude"), "2 of 150 rows")
    by_rows <- fit(x[-c(2, 77), ], y[-c(2, 77)], rbf_kernel(2), scale = FALSE)
    # new rows against all rows there were, or against those that were kept
    expect_identical(predict(by_gram, K), predict(by_rows, x))
    expect_identical(predict(by_gram, K[, -c(2, 77)]), predict(by_rows, x))
    expect_identical(fitted(by_gram)[-c(2, 77)], fitted(by_rows))
    expect_error(predict(by_gram, K[, 1:9]), "one column per training row",
      class = "kernelect_error_columns")
  }
})

test_that("kernlab's kernel matrices are known for what they are, everywhere", {
  skip_if_not_installed("kernlab")
  x <- scale(iris_matrix())
  K <- kernlab::kernelMatrix(kernlab::rbfdot(0.1), x)
  plain <- gram(x, rbf_kernel(gamma = 0.1))
  for (fit in list(kernel_lm, kernel_lda, kernel_takes)) {
    model <- fit(K, iris$Species)
    expect_null(model$basis$kernel)
    expect_identical(predict(model, K),
      predict(fit(x, iris$Species, rbf_kernel(gamma = 0.1), scale = FALSE), x))
  }
  expect_identical(kernel_basis(K, size = 5)$index,
    kernel_basis(x, rbf_kernel(gamma = 0.1), size = 5, scale = FALSE)$index)
  expect_equal(kernel_pca(K, ncomp = 3)$values, kernel_pca(K = plain, ncomp = 3)$values,
    tolerance = 1e-9)
  expect_equal(kernel_alignment(K, iris$Species), kernel_alignment(plain, iris$Species),
    tolerance = 1e-12)
  expect_equal(kernel_fusion(y = iris$Sepal.Length, kernels = list(a = K))$weights,
               kernel_fusion(y = iris$Sepal.Length, kernels = list(a = plain))$weights,
               tolerance = 1e-6)
  needs_rows <- "is a Gram matrix, and the columns of the data are needed here"
  for (fit in list(kernel_rank, kernel_fusion)) {
    expect_error(fit(K, iris$Species), needs_rows, class = "kernelect_error_argument")
  }
  for (fit in list(kernel_rank, kernel_tune)) {
    expect_error(fit(y = iris$Species), "`x` is missing: give the rows",
      class = "kernelect_error_argument")
  }
  expect_error(kernel_tune(K, iris$Species), "none is left to choose. Use `kernel_lm",
    class = "kernelect_error_argument")
  expect_error(kernel_tune(y = iris$Species, K = plain), "`K` is a Gram matrix",
    class = "kernelect_error_argument")
  expect_error(gram(K), needs_rows, class = "kernelect_error_argument")
  expect_error(predict(kernel_lm(x, iris$Species), K), needs_rows,
    class = "kernelect_error_argument")
})

test_that("the head of a ranking are its best columns", {
  rank <- kernel_rank(Species ~ ., iris)
  best <- names(rank$score)[rank$ranking]
  expect_identical(names(head(rank)), best)
  expect_identical(head(rank, 2), rank$score[best[1:2]])
  expect_error(head(rank, 0), "`n` must be", class = "kernelect_error_argument")
})

test_that("a dot in a formula is read anew by update(), and models carry no environment", {
  fit <- kernel_lm(mpg ~ ., mtcars[c("mpg", "wt", "hp")], size = 4)
  wider <- update(fit, data = mtcars[c("mpg", "wt", "hp", "qsec")])
  expect_identical(attr(stats::terms(wider), "term.labels"), c("wt", "hp", "qsec"))
  changed <- update(fit, . ~ . - hp, data = mtcars)
  expect_null(attributes(changed$call$formula))
  expect_identical(changed$call$formula, quote(mpg ~ wt))
})

test_that("a model that no longer holds together is told so by every verb", {
  fit <- kernel_lm(Species ~ log(Petal.Width) + Sepal.Length, iris, size = 4)
  verbs <- list(fitted, stats::formula, stats::terms, stats::model.frame, update, predict)
  spoilt <- list(
    within_list(fit, basis = "text", terms = 1, fitted.values = globalenv(), call = 1),
    within_list(fit, terms = structure(fit$terms, variables = NULL), na.action = "a",
      basis = list(input = 1), call = NULL)
  )
  for (model in spoilt) {
    for (verb in verbs) expect_error(verb(model), class = "kernelect_error_model")
  }
})

test_that("rows of weight zero are left out of a model on a basis, and NA where asked for", {
  w <- replace(mtcars$cyl, c(1, 9), 0)
  d <- mtcars
  d$wt[c(1, 4)] <- NA
  fit <- kernel_lm(mpg ~ wt + hp, mtcars, weights = w)
  expect_identical(nobs(fit), 30L)
  expect_identical(names(fitted(fit)), rownames(mtcars)[-c(1, 9)])
  expect_identical(weights(fit), w[-c(1, 9)])
  padded <- kernel_lm(mpg ~ wt + hp, mtcars, weights = w, na_action = "exclude")
  expect_identical(which(is.na(fitted(padded))),
    stats::setNames(c(1L, 9L), rownames(mtcars)[c(1, 9)]))
  expect_equal(fitted(padded)[-c(1, 9)], predict(fit, mtcars)[-c(1, 9)])
  expect_message(holes <- kernel_lm(mpg ~ wt + hp, d, weights = w, na_action = "exclude"),
    "2 of 32")
  expect_identical(unname(which(is.na(residuals(holes)))), c(1L, 4L, 9L))
  expect_identical(nobs(holes), 29L)
})

test_that("every call of the table of integrations runs where its package is there", {
  table <- utils::read.csv(system.file("results", "integrations.csv", package = "kernelect"))
  absent <- unique(Filter(Negate(function(p) nzchar(system.file(package = p))), table$package))
  home <- environment()
  for (call in table$call[!table$package %in% absent]) {
    found <- with_seed(1, tryCatch(suppressWarnings(suppressMessages(
      eval(parse(text = call), new.env(parent = home))
    )), error = identity))
    expect_false(inherits(found, "error"),
      label = paste0(call, ": ", if (inherits(found, "error")) conditionMessage(found)))
    expect_gt(length(found), 0, label = call)
  }
  if (length(absent)) skip(paste("not installed:", paste(absent, collapse = ", ")))
})

test_that("a square symmetric matrix as rows gets a hint that it may be a Gram matrix", {
  x <- scale(as.matrix(mtcars[c("wt", "hp")]))
  K <- unname(gram(x))
  for (fit in list(kernel_basis, kernel_pca)) expect_message(fit(K), "give it as `K = `")
  expect_message(kernel_lm(K, mtcars$mpg, size = 3), "give it as `K = `")
  for (other in list(K[, -1], replace(K, 2, 5), -K, as.matrix(stats::dist(x)), x)) {
    expect_no_hint <- tryCatch(kernel_basis(other, size = 2), kernelect_message = identity)
    expect_false(inherits(expect_no_hint, "kernelect_message"))
  }
  beyond <- replace(K, c(2, 33), 3) # symmetric, but not positive
  expect_false(kernelect:::looks_like_gram(beyond))
  expect_true(kernelect:::looks_like_gram(K))
  # equal rows: 1e-8 beyond what the diagonal allows is rounding, 1e-7 is not
  twins <- matrix(1, 3, 3)
  expect_true(kernelect:::looks_like_gram(replace(twins, c(2, 4), 1 + 5e-9)))
  expect_false(kernelect:::looks_like_gram(replace(twins, c(2, 4), 1 + 5e-8)))
})

test_that("names that other packages use point to ours", {
  x <- iris[1:4]
  expect_error(kernel_lm(x, iris$Species, lambda = 1), "Here it is `ridge`",
    class = "kernelect_error_dots")
  expect_error(kernel_lm(x, iris$Species, C = 1), "Here it is `ridge`")
  expect_error(kernel_fusion(x, iris$Species, C = 1), "Here it is `cost`")
  expect_error(kernel_lm(x, iris$Species, method = "fvs"), "Here it is `basis`")
  expect_error(kernel_lm(x, iris$Species, kpar = list(sigma = 1)), "Here it is `kernel`")
  expect_error(kernel_pca(x, features = 2), "Here it is `ncomp`")
  expect_error(kernel_lm(Sys.Date() + 1:5 ~ I(1:5)), "as.numeric", class = "kernelect_error")
})

test_that("a formula without a response is updated, and a model matrix is what the kernel sees", {
  basis <- kernel_basis(~ wt + hp + qsec, mtcars, size = 4)
  expect_identical(update(basis, . ~ . - hp)$vectors,
    kernel_basis(~ wt + qsec, mtcars, size = 4)$vectors)
  expect_identical(update(basis, ~ . - hp)$index, update(basis, . ~ . - hp)$index)
  d <- transform(iris, group = factor(Petal.Width > 1, labels = c("no", "yes")))
  fit <- kernel_lm(Sepal.Length ~ log(Sepal.Width) + group, d, size = 4)
  wanted <- cbind(log(d$Sepal.Width), d$group == "no", d$group == "yes")
  expect_equal(stats::model.matrix(fit), wanted, ignore_attr = TRUE)
  expect_identical(colnames(stats::model.matrix(fit)), stats::variable.names(fit))
  expect_identical(stats::case.names(fit), rownames(d))
  expect_error(stats::AIC(fit), "no likelihood", class = "kernelect_error")
  expect_error(stats::confint(fit), "covariance", class = "kernelect_error")
  given <- kernel_lm(K = unname(gram(iris[1:4])), y = iris$Species, size = 3)
  expect_error(stats::variable.names(given), "Gram matrix", class = "kernelect_error_argument")
})
