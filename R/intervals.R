# How far a regression may be off: leverages, residual spread, and intervals for new rows.

# What a fit leaves for them. `leverage`: of every training row, with its weight; `df.residual`:
# the weight of all rows less the sum of leverages; `deviance`: weighted squares of residuals, one a
# response; `total`: the weight of all rows. With one response also `prior`, the variance of the
# fitted function outside the basis in units of sigma^2 and of the kernel, and `spread`, the
# distribution of absolute leave-one-out residuals, each divided by how far it is expected to be
# off: sigma times the root of 1 / (1 - leverage) + prior * outside.
residual_summary <- function(fit, residuals, parts) {
  w <- parts$weights
  leverage <- if (is.null(w)) 1 - fit$left else w * (1 - fit$left) / pmin(1, w)
  total <- total_of(w, nrow(residuals))
  out <- list(
    leverage = leverage, df.residual = total - sum(leverage),
    deviance = unname(colSums(times(w, residuals^2))), total = total
  )
  if (!parts$y$vector) return(out)
  outside <- fit$outside
  if (is.null(outside)) {
    outside <- outside_basis(parts$basis, parts$x, fit$squares, w, total)
  }
  out$outside <- outside$residual
  out$prior <- prior_variance(out, fit, parts$y$matrix[, 1L], w, outside$diagonal)
  out$spread <- weighted_order(abs(fit$left_out[, 1L]) / expected_off(fit$left, out), w)
  out
}

# In units of sigma; a leverage of 1 says nothing of the spread.
expected_off <- function(left, rest) sqrt(1 / pmax(left, 1e-10) + rest$prior * rest$outside)

# Case weights may be NULL, for ones that nobody has to hold.
times <- function(weights, values) if (is.null(weights)) values else weights * values

total_of <- function(weights, n) if (is.null(weights)) as.double(n) else sum(weights)

# Squared distances of training rows `x` to the span of the basis rows, of at most `diagonal` in the
# mean; not known of rows that come as a Gram matrix. `squares` of their coordinates, see
# squares_at(); `weights` of the rows, and `total`, the sum of those of all rows.
outside_basis <- function(basis, x, squares, weights, total) {
  if (is.null(basis$kernel)) return(list(residual = numeric(length(squares$first)), diagonal = 1))
  diagonal <- if (is.null(basis$shift)) {
    kernel_diagonal(basis$kernel, x)
  } else { # of the centred kernel
    expand_basis(basis, x, expansion(basis, "residual"), scaling = NULL)[, 1L] + squares$all
  }
  list(residual = pmax(diagonal - squares$first, 0),
       diagonal = sum(times(weights, diagonal)) / total)
}

# No degrees of freedom, or no deviance, would be a variance of no number: least values stand in.
# A ridge takes coefficients for normal with variance sigma^2 / ridge; but what no basis row
# explains cannot vary more than the response does.
prior_variance <- function(rest, fit, y, w, diagonal) {
  total <- total_of(w, length(y))
  variance <- sum(times(w, (y - sum(times(w, y)) / total)^2)) / max(total - 1, 1)
  sigma2 <- rest$deviance / max(rest$df.residual, 1e-8)
  min(1 / fit$ridge, variance / (max(sigma2, 1e-300) * diagonal))
}

# Order statistics with their probabilities i / (n + 1), thinned to 200 that are dense towards the
# largest; a row of weight 3 counts as three equal ones.
weighted_order <- function(values, weights = NULL, most = 200L) {
  at <- order(values)
  upto <- if (is.null(weights)) seq_along(at) else cumsum(weights[at])
  n <- length(at)
  knots <- function(rows) {
    w <- if (is.null(weights)) 1 else weights[at[rows]]
    from <- upto[rows] - w + pmin(1, w)
    probability <- as.vector(rbind(from, upto[rows])) / (upto[n] + 1)
    once <- !duplicated(probability)
    data.frame(probability = probability[once],
               value = rep(values[at[rows]], each = 2L)[once])
  }
  if (n <= most) {
    all <- knots(seq_len(n))
    if (nrow(all) <= most) return(all)
  }
  ends <- range(knots(unique(c(1L, n)))$probability)
  tail <- 10^seq(-1, log10(1 - ends[2L]), length.out = most / 2)
  even <- c(seq(ends[1L], 0.9, length.out = most / 2 + 1L)[seq_len(most / 2)], 1 - tail)
  known <- knots(rows_near(even * (upto[n] + 1), upto))
  data.frame(
    probability = even,
    value = stats::approx(known$probability, known$value, even, rule = 2)$y
  )
}

# Numbers of increasing values around each of `at`, two to either side: enough to interpolate.
rows_near <- function(at, values) {
  last <- length(values)
  near <- outer(findInterval(at, values), -1:2, `+`)
  sort(unique(c(1L, near[near >= 1L & near <= last], last)))
}

# Half the width of a prediction interval in units of how far a row is expected to be off. Beyond
# the n / (n + 1) that n rows can tell, Student's distribution stands in if it is wider.
prediction_factor <- function(object, level) {
  spread <- object$spread
  known <- max(spread$probability)
  value <- stats::approx(spread$probability, spread$value, level, rule = 2, ties = "ordered")$y
  if (level <= known) return(value)
  max(value, residual_scale(object) * stats::qt((1 + level) / 2, max(object$df.residual, 1)))
}

residual_scale <- function(object) sqrt(object$deviance / max(object$df.residual, 1e-8))

validate_spread <- function(object) {
  if (is.null(object$spread)) {
    abort("argument", "`se.fit` and `interval` are for a regression with one response.")
  }
  must_hold("object",
    spread = is.data.frame(object$spread) && nrow(object$spread) > 0L &&
      is_numbers(object$spread$probability, nrow(object$spread)) &&
      is_numbers(object$spread$value, nrow(object$spread)),
    df.residual = is_numbers(object$df.residual, 1L), prior = is_numbers(object$prior, 1L),
    deviance = is_numbers(object$deviance, 1L), total = is_numbers(object$total, 1L)
  )
}

# How uncertain the fit is at new rows: `leverage`, 1 / sum(w) + |R^{-T} (z - center)|^2, and
# `outside`, the squared distance to the span of the basis (not known of a Gram matrix).
new_off <- function(object, newdata, threads) {
  basis <- object$basis
  nested <- validate_nested(object$nested, length(basis$index), 1L)
  z <- stats::predict(basis, newdata, type = "orthonormal", threads = threads)
  known <- !is.na(z[, 1L])
  q <- .Call(ffi_divide_upper, z[known, , drop = FALSE], nested$center, nested$r)
  leverage <- rep(NA_real_, nrow(z))
  leverage[known] <- 1 / object$total + rowSums(q^2)
  outside <- if (is.null(basis$kernel)) {
    0
  } else {
    pmax(stats::predict(basis, newdata, type = "residual", threads = threads), 0)
  }
  list(leverage = leverage, outside = outside)
}

# The same at the training rows.
training_off <- function(object) {
  leverage <- object$leverage / (if (is.null(object$weights)) 1 else object$weights)
  must_hold("object", outside = is.double(object$outside), leverage = is.double(leverage))
  lapply(list(leverage = leverage, outside = object$outside), stats::naresid,
         omit = object$na.action)
}

# In the shape of predict.lm().
with_interval <- function(object, fit, off, se_fit, interval, level) {
  scale <- unname(residual_scale(object))
  se <- stats::setNames(scale * sqrt(off$leverage), names(fit))
  half <- switch(interval,
    confidence = se * stats::qt((1 + level) / 2, max(object$df.residual, 1)),
    prediction = prediction_factor(object, level) *
      sqrt(1 + off$leverage + object$prior * off$outside)
  )
  value <- if (interval == "none") fit else cbind(fit = fit, lwr = fit - half, upr = fit + half)
  if (!se_fit) return(value)
  list(fit = value, se.fit = se, df = object$df.residual, residual.scale = scale)
}

# ---- R's own verbs ------------------------------------------------------------------------------

regression_only <- function(object, what) {
  if (!is.null(object$levels)) {
    abort("argument", what, " is for regressions; this is a model of classes.")
  }
}

#' Leverages, residual spread and simulated responses of a kernel regression
#'
#' What R's own verbs for [lm()] tell of a [kernel_lm()]: use `hatvalues()` to find rows that the
#' fit leans on, `sigma()` for the spread of the residuals, `simulate()` for responses as the model
#' thinks they might have come out.
#'
#' @details
#' Leverages are those of the penalised fit (the diagonal of the matrix that turns responses into
#' fitted values), `df.residual()` is the number of rows (sum of weights) less their sum, `sigma()`
#' the root of `deviance()`, the weighted sum of squared residuals, over that.
#'
#' `rstandard()`, `rstudent()`, `cooks.distance()` and `influence()` have the formulas of [lm()]
#' with these leverages, and their sum as the number of coefficients: without a penalty they are
#' those of [lm()] on the coordinates of the basis, with one an approximation. A row of leverage 1
#' has NaN. `extractAIC()` likewise is n log(deviance / n) + k times the sum of leverages; it
#' compares penalties and sizes on the same rows, but the figures in `loo` do so better.
#' @param object,model,fit a [kernel_lm()].
#' @param scale,k as in [extractAIC()]: the known variance of the residuals, or 0; the price of a
#'   degree of freedom.
#' @param nsim number of responses to simulate.
#' @param seed NULL, or a seed for R's random numbers, which are put back after.
#' @param ... nothing else is accepted.
#' @returns `hatvalues()`: a vector, a value a training row; `df.residual()`, `deviance()`,
#'   `sigma()`: a number, the last two one a response; `simulate()`: a data frame with `nsim`
#'   columns; `rstandard()`, `rstudent()`, `cooks.distance()`: a value a training row;
#'   `influence()`: a list of the leverages `hat`, `sigma` without each row, and weighted residuals
#'   `wt.res`; `extractAIC()`: the degrees of freedom of the fit and the criterion.
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp, mtcars)
#' head(sort(hatvalues(fit), decreasing = TRUE))
#' sigma(fit)
#' head(sort(cooks.distance(fit), decreasing = TRUE))
#' @name kernel_lm-spread
#' @family models
NULL

#' @rdname kernel_lm-spread
#' @importFrom stats hatvalues
#' @export
hatvalues.kernel_lm <- function(model, ...) {
  check_dots(...)
  validate_lm(model, "model")
  if (is.null(model$leverage)) fail_not_kept("leverages")
  kept_rows(model, "leverage")
}

#' @rdname kernel_lm-spread
#' @importFrom stats df.residual
#' @export
df.residual.kernel_lm <- function(object, ...) {
  check_dots(...)
  validate_lm(object)$df.residual
}

#' @rdname kernel_lm-spread
#' @importFrom stats deviance
#' @export
deviance.kernel_lm <- function(object, ...) {
  check_dots(...)
  regression_only(validate_lm(object), "`deviance()`")
  object$deviance
}

#' @rdname kernel_lm-spread
#' @importFrom stats sigma
#' @export
sigma.kernel_lm <- function(object, ...) {
  check_dots(...)
  regression_only(validate_lm(object), "`sigma()`")
  residual_scale(object)
}

#' @rdname kernel_lm-spread
#' @importFrom stats simulate
#' @export
simulate.kernel_lm <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(...)
  regression_only(validate_lm(object), "`simulate()`")
  nsim <- check_whole(nsim, "nsim", min = 1)
  middle <- stats::fitted(object)
  if (is.matrix(middle)) abort("argument", "`simulate()` is for a regression with one response.")
  draw <- function() {
    noise <- matrix(stats::rnorm(length(middle) * nsim, sd = sigma.kernel_lm(object)), ncol = nsim)
    as.data.frame(middle + noise)
  }
  origin <- simulation_seed(seed)
  out <- if (is.null(seed)) draw() else preserve_seed(seed, draw)
  names(out) <- paste0("sim_", seq_len(nsim))
  if (!is.null(names(middle))) row.names(out) <- names(middle)
  structure(out, seed = origin)
}

# What repeats a simulation, as of lm(): the seed and the generators preserve_seed() takes, or the
# state of the user's own.
simulation_seed <- function(seed) {
  if (!is.null(seed)) {
    kind <- list("Mersenne-Twister", "Inversion", "Rejection")
    return(structure(check_whole(seed, "seed", min = -.Machine$integer.max), kind = kind))
  }
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
  get(".Random.seed", globalenv(), inherits = FALSE)
}

# ---- single rows --------------------------------------------------------------------------------

#' @rdname kernel_lm-spread
#' @importFrom stats influence
#' @export
influence.kernel_lm <- function(model, ...) {
  check_dots(...)
  parts <- influence_parts(model, "`influence()`")
  pad <- function(v) stats::naresid(model$na.action, v)
  list(hat = pad(parts$hat), sigma = pad(parts$sigma), wt.res = pad(parts$residual))
}

#' @rdname kernel_lm-spread
#' @importFrom stats rstandard
#' @export
rstandard.kernel_lm <- function(model, ...) {
  check_dots(...)
  parts <- influence_parts(model, "`rstandard()`")
  scaled_residuals(model, parts, residual_scale(model))
}

#' @rdname kernel_lm-spread
#' @importFrom stats rstudent
#' @export
rstudent.kernel_lm <- function(model, ...) {
  check_dots(...)
  parts <- influence_parts(model, "`rstudent()`")
  scaled_residuals(model, parts, parts$sigma)
}

#' @rdname kernel_lm-spread
#' @importFrom stats cooks.distance
#' @export
cooks.distance.kernel_lm <- function(model, ...) {
  check_dots(...)
  parts <- influence_parts(model, "`cooks.distance()`")
  free <- model$total - model$df.residual
  off <- parts$residual / (residual_scale(model) * (1 - parts$hat))
  finite_or_nan(model, parts, off^2 * parts$hat / free)
}

#' @rdname kernel_lm-spread
#' @importFrom stats extractAIC
#' @export
extractAIC.kernel_lm <- function(fit, scale = 0, k = 2, ...) { # nolint: object_name_linter.
  check_dots(...)
  scale <- check_number(scale, "scale", min = 0)
  k <- check_number(k, "k")
  deviance <- check_one_response(fit, "`extractAIC()`", "fit")$deviance
  free <- fit$total - fit$df.residual
  off <- if (scale > 0) deviance / scale - fit$total else fit$total * log(deviance / fit$total)
  c(free, off + k * free)
}

check_one_response <- function(object, what, arg = "model") {
  regression_only(validate_lm(object, arg), what)
  if (length(object$deviance) > 1L) {
    abort("argument", what, " is for a regression with one response; this one has ",
          length(object$deviance), ".")
  }
  object
}

# Leverages and weighted residuals of the rows that were fitted, and sigma without each of them.
influence_parts <- function(model, what) {
  check_one_response(model, what)
  if (is.null(model$leverage) || is.null(model$residuals)) fail_not_kept("residuals and leverages")
  hat <- model$leverage
  must_hold("model", leverage = is_numbers(unname(hat), length(model$residuals)))
  residual <- model$residuals * (if (is.null(model$weights)) 1 else sqrt(model$weights))
  # a row of leverage 1 takes nothing of the deviance with it
  left <- ifelse(is_whole_leverage(hat), Inf, 1 - hat)
  others <- pmax(model$deviance - residual^2 / left, 0) / max(model$df.residual - 1, 1e-8)
  names(hat) <- names(residual)
  list(hat = hat, residual = residual, sigma = stats::setNames(sqrt(others), names(residual)))
}

is_whole_leverage <- function(hat) hat > 1 - 1e-10

scaled_residuals <- function(model, parts, sigma) {
  finite_or_nan(model, parts, parts$residual / (sigma * sqrt(pmax(1 - parts$hat, 0))))
}

finite_or_nan <- function(model, parts, value) {
  value[is_whole_leverage(parts$hat) | !is.finite(value)] <- NaN
  stats::naresid(model$na.action, value)
}
