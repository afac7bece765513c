# How kernel_tune() fits a model at many settings. A plan has
#   name         of the function
#   own          whether it is one of this package's: it then gets the numeric matrix of the rows
#   classes      whether it is for classes alone
#   parameters   of the grid that it knows
#   grid(rows, classify)    the default grid
#   own_kernel   the kernels where the grid has neither `kernel` nor `sigma`
#   read_kernel(kernel, label)   an entry of `grid$kernel`
#   models(train, kernel, settings, dots) a model for each row of `settings` (NULL: there is none),
#                which shares what it can between them; `train` has `x`, `y` and `weights`
#   predictions(train, newx, kernel, settings, metric, dots)   what the metric needs of each;
#   decides      TRUE: decisions, a column a class, in place of probabilities, which are then
#                calibrated on the other folds
#   whole(x, y, kernel, setting, dots)      the model of one setting, on the user's rows
#   chosen(model)  size, ridge and cost that a model ended with
#   settled(train, kernel, settings, dots)  the same of each, with or without a model
#   shared(train, kernel, settings, dots, share)  where folds can share a basis (tune-shared.R): the
#                basis of all rows and on it the fit of each setting
# A model of the package joins by an entry in tune_plans().

tune_plan <- function(fit) {
  plans <- tune_plans()
  known <- Find(function(plan) identical(plan$fit, fit), plans)
  if (any(vapply(list(kernel_basis, kernel_pca, kernel_rank), identical, NA, fit))) {
    abort("argument", "`fit` must predict `y`, which `kernel_basis()`, `kernel_pca()` and ",
          "`kernel_rank()` do not. Use `kernel_lm()` or one of the others.")
  }
  if (is.null(known)) other_plan(fit) else known
}

tune_plans <- function() {
  list(lm_plan(), lda_plan(), takes_plan(), fusion_plan())
}

new_plan <- function(name, fit, ...) {
  plan <- list(
    name = name, fit = fit, own = TRUE, classes = FALSE, decides = FALSE,
    parameters = c("kernel", "sigma", "size", "ridge"),
    grid = function(rows, classify) list(), own_kernel = default_kernels(),
    read_kernel = read_kernel, models = NULL, whole = NULL,
    chosen = function(model) list(size = length(model$basis$index), ridge = model$ridge)
  )
  given <- list(...)
  plan[names(given)] <- given
  if (is.null(plan$whole)) plan$whole <- function(...) fit_setting(plan, ...)
  if (is.null(plan$settled)) {
    plan$settled <- function(train, kernel, settings, dots) {
      lapply(plan$models(train, kernel, settings, dots), function(model) {
        if (!is.null(model)) plan$chosen(model)
      })
    }
  }
  if (is.null(plan$predictions)) {
    plan$predictions <- function(train, newx, kernel, settings, metric, dots) {
      models <- plan$models(train, kernel, settings, dots)
      lapply(models, function(model) if (!is.null(model)) predict_for(model, newx, metric, plan))
    }
  }
  if (is.null(plan$models)) {
    plan$models <- function(train, kernel, settings, dots) {
      lapply(seq_len(nrow(settings)), function(i) {
        fit_setting(plan, train$x, train$y, kernel, settings[i, , drop = FALSE],
                    with_weights(dots, train$weights))
      })
    }
  }
  plan
}

# Smooth and rough functions, narrower and wider than by default (bench/choose-tune.R).
default_kernels <- function() {
  kernels <- c(
    lapply(c(0.7, 1, 2, 4), function(f) scaled_sigma(rbf_kernel(), f)),
    lapply(c(2, 4), function(f) scaled_sigma(laplace_kernel(), f))
  )
  stats::setNames(kernels, vapply(kernels, kernel_label, ""))
}

default_sizes <- function(rows) {
  sizes <- c(5, 10, 20, 35, 50, 75, 100, 150, 200)
  c(sizes[sizes <= rows], if (rows < 5) rows)
}

with_weights <- function(dots, weights) {
  if (is.null(weights)) dots else c(dots, list(weights = weights))
}

fit_setting <- function(plan, x, y, kernel, setting, dots) {
  do.call(plan$fit, c(list(x, y, kernel = kernel), as.list(setting), dots))
}

# ---- models on a basis ---------------------------------------------------------------------------

# Sizes of the grid decide, so that the basis stops at no tolerance unless one is given. Without
# sizes it is a finer basis than the model's own: tuning may take its time.
basis_plan <- function(name, fit, ...) {
  new_plan(name, fit,
    whole = function(x, y, kernel, setting, dots) {
      fit_setting(list(fit = fit), x, y, kernel, setting, sized_dots(dots, setting))
    },
    ...
  )
}

sized_dots <- function(dots, settings) {
  if ("tol" %in% names(dots)) return(dots)
  c(dots, list(tol = if (is.null(settings$size)) 0.001 else 0))
}

# Bases are nested: one of the largest size serves all sizes and ridges. `method` is the default
# method of the model, the defaults of which hold where `dots` says nothing. `share`: of so many
# bases that together take the time of one.
training_basis <- function(train, kernel, settings, dots, method, respond, share = 1) {
  dots <- sized_dots(dots, settings)
  known <- setdiff(names(formals(method)), c("x", "y", "kernel", "size", "K", "..."))
  unknown <- setdiff(names(dots), known)
  if (length(unknown)) refuse_dots(unknown, length(unknown), method)
  args <- lapply(formals(method)[known], eval, topenv())
  args[names(dots)] <- dots
  n <- nrow(train$x)
  size <- if (!is.null(settings$size)) min(max(settings$size), n)
  if (is.null(size) && !is.null(args$basis)) {
    size <- min(n, default_limit(list(modest = TRUE), share * n))
  }
  control <- model_control(args$basis, size, args$tol, passed_on(args, but = "verbose"))
  parts <- fit_basis(train$x, train$y, args$basis, kernel, control, args$scale, "fail",
                     respond = respond, weights = train$weights)
  c(parts, list(args = args, threads = control$threads))
}

# Orthogonal coordinates of the training rows are worked out and factored once; each size and ridge
# is then a small problem on the factor.
lm_plan <- function() {
  settled <- function(train, kernel, settings, dots, share = 1, whole = FALSE) {
    parts <- training_basis(train, kernel, settings, dots, kernel_lm.default, response_matrix,
                            share)
    ridge <- if (is.null(settings$ridge)) parts$args$ridge else settings$ridge
    again <- is.null(settings$size) && is.numeric(ridge) # on the same coordinates
    parts$plain <- (if (again) regress else regress_over)(parts$z, parts$y, 0, parts$weights,
                                                          parts$threads)
    if (!again) parts$z <- NULL # no longer coordinates
    parts$fits <- lm_fits(parts, settings, whole)
    parts
  }
  basis_plan("kernel_lm", kernel_lm,
    settled = function(train, kernel, settings, dots) {
      lapply(settled(train, kernel, settings, dots)$fits, `[`, c("size", "ridge"))
    },
    predictions = function(train, newx, kernel, settings, metric, dots) {
      parts <- settled(train, kernel, settings, dots, whole = TRUE)
      z <- expand_basis(parts$basis, newx, expansion(parts$basis, "orthonormal"),
                        check_threads(parts$args$threads))
      lapply(parts$fits, lm_answer, z, parts$y, metric, parts$weights)
    },
    shared = settled
  )
}

# Every size, and for each every ridge: `settings` has sizes that change last. Unless the `whole`
# fit is wanted, `size` and `ridge` alone.
lm_fits <- function(parts, settings, whole) {
  ridges <- if (is.null(settings$ridge)) check_ridge(parts$args$ridge) else settings$ridge
  sizes <- settings$size
  most <- ncol(parts$plain$q)
  if (is.null(sizes) && is.null(parts$args$basis)) sizes <- most
  each <- function(values) if (!is.null(values)) rep_len(as.list(values), nrow(settings))
  numbers <- unique(Filter(is.numeric, each(ridges)))
  factors <- list() # of a ridge that is given every size follows
  for (ridge in if (is.null(sizes)) numbers else intersect(numbers, 0)) {
    fit <- if (ridge == 0) {
      parts$plain
    } else {
      regress(parts$z, parts$y, ridge, parts$weights, parts$threads)
    }
    factors[[format(ridge, digits = 17)]] <-
      list(fit = fit, loo = size_losses(fit, ridge, class_numbers(parts$y)))
  }
  one <- function(size, ridge) {
    known <- if (is.numeric(ridge)) factors[[format(ridge, digits = 17)]]
    if (is.null(known)) return(one_by_ridge(size, ridge))
    at <- if (is.null(size)) best_row(known$loo) else size
    if (whole) return(nested_fit(known$fit, parts$y, known$loo, at))
    as.list(known$loo[at, c("size", "ridge")])
  }
  one_by_ridge <- function(size, ridge) {
    if (!whole && !is.null(size) && is.numeric(ridge)) return(list(size = size, ridge = ridge))
    if (is.null(size)) size <- geometric_sizes(most)
    if (is.character(ridge)) ridge <- ridge_grid
    if (whole) return(fit_by_ridge(parts$plain, parts$y, size, ridge, factor = FALSE))
    settled_ridge(parts$plain, parts$y, size, ridge)
  }
  Map(function(size, ridge) one(if (!is.null(size)) min(size, most), ridge),
      if (is.null(sizes)) rep_len(list(NULL), nrow(settings)) else each(sizes), each(ridges))
}

# Values at rows with coordinates z, as classes, probabilities or numbers.
lm_answer <- function(fit, z, response, metric, weights) {
  first <- seq_len(fit$size)
  a <- if (is.null(fit$a)) nested_coefficients(fit, fit$size) else fit$a
  centred <- z[, first, drop = FALSE] - rep(fit$center[first], each = nrow(z))
  values <- centred %*% a + rep(fit$mean, each = nrow(z))
  colnames(values) <- colnames(response$matrix)
  lm_wanted(values, response, metric, function() {
    calibrate_softmax(response$matrix - fit$left_out, response$classes, weights)
  })
}

# What the metric needs of decisions: the values of a regression, or others that prior probabilities
# have `moved` when they decide.
lm_wanted <- function(values, response, metric, calibrate, moved = NULL) {
  priors <- if (is.null(moved)) 0 else rep(moved, each = nrow(values))
  switch(metric$needs,
    class = classes_of(values + priors, levels(response$classes)),
    prob = {
      p <- calibrated_probabilities(calibrate(), values)
      if (is.null(moved)) p else move_probabilities(p, moved)
    },
    values
  )
}

lda_plan <- function() {
  parts_of <- function(train, kernel, settings, dots, share = 1) {
    training_basis(train, kernel, settings, dots, kernel_lda.default,
                   function(y) check_classes(y, min_rows = 2L), share)
  }
  basis_plan("kernel_lda", kernel_lda,
    classes = TRUE,
    models = function(train, kernel, settings, dots) {
      parts <- parts_of(train, kernel, settings, dots)
      lapply(seq_len(nrow(settings)),
        function(i) lda_at(parts, settings$size[i], settings$ridge[i]))
    },
    shared = function(train, kernel, settings, dots, share) {
      shared_lda(parts_of(train, kernel, settings, dots, share), settings)
    }
  )
}

# The regression of the indicators that folds are left out of, and how its values become decisions.
shared_lda <- function(parts, settings) {
  scatter <- class_scatter(parts$z, parts$y, parts$weights, parts$threads)
  prior <- check_prior(parts$args$prior, scatter)
  response <- list(matrix = indicators(parts$y), classes = parts$y)
  plain <- regress_over(scatter$z, response, 0, parts$weights, parts$threads)
  scatter$z <- NULL # no longer coordinates
  one <- function(size, ridge) {
    size <- min(size, ncol(plain$q))
    unit <- ridge_unit(scatter, size)
    ridge <- check_ridge(if (is.null(ridge)) parts$args$ridge else ridge)
    fit <- if (is.numeric(ridge)) list(size = size, ridge = ridge * unit)
           else settled_ridge(plain, response, size)
    c(fit, list(chosen = list(size = size, ridge = fit$ridge / unit)))
  }
  list(
    basis = parts$basis, x = parts$x, plain = plain, y = response, weights = parts$weights,
    threads = parts$threads,
    fits = lapply(seq_len(nrow(settings)), function(i) one(settings$size[i], settings$ridge[i])),
    moved = if (!is.null(parts$args$prior)) log(prior / (scatter$counts / scatter$n)),
    decide = function(values, fit) {
      axes <- discriminant_axes(scatter, fit$chosen$ridge, fit$size)
      a <- ridged(plain, fit$size, fit$ridge)
      scores <- turned_values(values - rep(plain$mean, each = nrow(values)), a, axes$scaling)
      gaussian_decisions(scores, axes$means, axes$within, scatter$counts / scatter$n)
    }
  )
}

# The model on the first rows of the basis; NULL stands for all of them, or the ridge of the model.
lda_at <- function(parts, size, ridge) {
  most <- ncol(parts$z)
  size <- if (is.null(size)) most else min(size, most)
  ridge <- check_ridge(if (is.null(ridge)) parts$args$ridge else ridge)
  parts$z <- parts$z[, seq_len(size), drop = FALSE]
  parts$basis <- head(parts$basis, size)
  scatter <- class_scatter(parts$z, parts$y, parts$weights, parts$threads)
  new_lda(parts, scatter, ridge, check_prior(parts$args$prior, scatter), FALSE)
}

# ---- TAKES, fusion and functions of the user -----------------------------------------------------

# One fit serves all sizes: the directions of least weight go first. So do the scores of new rows.
takes_plan <- function() {
  whole <- function(train, kernel, dots) {
    fit_setting(list(fit = kernel_takes), train$x, train$y, kernel, NULL,
                with_weights(dots, train$weights))
  }
  sizes_of <- function(settings, fit) if (is.null(settings$size)) fit$size else settings$size
  new_plan("kernel_takes", kernel_takes,
    classes = TRUE, decides = TRUE, parameters = c("kernel", "sigma", "size"),
    grid = function(rows, classify) list(size = default_sizes(rows)),
    models = function(train, kernel, settings, dots) {
      fit <- whole(train, kernel, dots)
      lapply(sizes_of(settings, fit), function(size) keep_directions(fit, size))
    },
    chosen = function(model) list(size = model$size),
    predictions = function(train, newx, kernel, settings, metric, dots) {
      fit <- whole(train, kernel, dots)
      threads <- if (is.null(dots$threads)) getOption("kernelect.threads", 1L) else dots$threads
      scores <- takes_scores(fit, newx, check_threads(threads))$scores
      lapply(sizes_of(settings, fit), function(size) {
        first <- keep_directions(fit, size)
        some <- scores[, seq_along(first$directions), drop = FALSE]
        if (metric$needs != "prob") return(nearest_class(first, some, threads))
        without_gaps(takes_decisions(first, some, "decision", threads))
      })
    }
  )
}

# `kernel` in the grid is one kernel or a list of them to fuse, `ridge` is its `noise`. Fits without
# a fold have no probabilities of their own, which would take several more each.
fusion_plan <- function() {
  models <- function(train, kernel, settings, dots) {
    dots$folds <- 0
    lapply(seq_len(nrow(settings)), function(i) {
      tryCatch(
        fuse_setting(train$x, train$y, kernel, settings[i, , drop = FALSE],
                     with_weights(dots, train$weights)),
        kernelect_error_vanished = function(e) NULL
      )
    })
  }
  new_plan("kernel_fusion", kernel_fusion,
    parameters = c("kernel", "sigma", "ridge", "cost"),
    grid = function(rows, classify) {
      if (classify) list(cost = 10^(-2:2)) else list(ridge = 10^(-3:1))
    },
    own_kernel = stats::setNames(list(NULL), "columns"),
    read_kernel = function(kernel, label) {
      if (!is.list(kernel) || inherits(kernel, "kernelect_kernel")) {
        return(read_kernel(kernel, label))
      }
      words <- vapply(kernel, block_label, "")
      list(kernel = kernel, label = if (label == "") paste(words, collapse = " + ") else label,
           named = label != "")
    },
    whole = fuse_setting,
    models = models,
    settled = function(train, kernel, settings, dots) {
      defaults <- formals(kernel_fusion.default)
      given <- function(name) if (is.null(dots[[name]])) defaults[[name]] else dots[[name]]
      numbers <- is.null(train$classes)
      own <- if (numbers) list(ridge = given("noise")) else list(cost = given("cost"))
      rep(list(own), nrow(settings))
    },
    decides = TRUE,
    predictions = function(train, newx, kernel, settings, metric, dots) {
      lapply(models(train, kernel, settings, dots), function(model) {
        if (is.null(model)) return(NULL)
        if (metric$needs != "prob") return(stats::predict(model, newx))
        decisions <- decision_matrix(stats::predict(model, newx, type = "decision"))
        colnames(decisions) <- model$levels
        decisions
      })
    }
  )
}

fuse_setting <- function(x, y, kernel, setting, dots) {
  names(setting)[names(setting) == "ridge"] <- "noise"
  if (inherits(kernel, "kernelect_kernel")) kernel <- list(kernel)
  do.call(kernel_fusion, c(list(x, y), list(kernels = kernel), as.list(setting), dots))
}

# A user's function is not taken on trust: what it fails with is wrapped, unless it is ours.
other_plan <- function(fit) {
  trusted <- function(...) {
    tryCatch(fit(...), error = function(e) fail_fit(e))
  }
  new_plan("`fit`", trusted,
    own = FALSE, parameters = grid_parameters,
    grid = function(rows, classify) list(size = default_sizes(rows))
  )
}

fail_fit <- function(e) {
  if (inherits(e, "kernelect_error")) stop(e)
  abort("argument", "`fit` must be a function that fits a model which `predict()` knows; ",
        "it failed with: ", conditionMessage(e))
}

# ---- predictions ---------------------------------------------------------------------------------

# What the metric needs of a model at new rows: classes, numbers, or probabilities.
predict_for <- function(model, newx, metric, plan) {
  ask <- function() {
    if (metric$needs == "prob") stats::predict(model, newx, type = "prob")
    else stats::predict(model, newx)
  }
  value <- if (plan$own) ask() else tryCatch(ask(), error = function(e) fail_fit(e))
  if (metric$needs == "prob" && !(is.matrix(value) && is.numeric(value))) {
    abort("argument",
      "`metric` needs probabilities: `predict(model, newdata, type = \"prob\")` of ",
          plan$name, " must give a matrix with a column a class.")
  }
  value
}

# What a user's own function predicts must be of the kind, and as long, as what is true.
check_predicted <- function(predicted, truth, metric) {
  rows <- NROW(truth)
  wanted <- switch(metric$needs,
    class = "a class of `y` a row",
    prob = "a matrix with a row a row and a column a class",
    "a number a row for every response"
  )
  good <- is.atomic(predicted) && NROW(predicted) == rows && switch(metric$needs,
    class = all(is.na(predicted) | as.character(predicted) %in% levels(truth)),
    prob = NCOL(predicted) == nlevels(truth),
    is.numeric(predicted) && NCOL(predicted) == NCOL(truth)
  )
  if (!good) {
    abort("argument", "`predict()` of a model made by `fit` must give ", wanted, " (", rows,
          " of them), not ", describe(predicted), ".")
  }
}
