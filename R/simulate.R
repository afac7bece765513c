#' Simulations of the papers
#'
#' The data of the experiments that the methods were published with. Use them to try a method
#' where the truth is known, or to repeat a published figure.
#'
#' @details
#' * `simulate_two_gaussians()`: two classes in the plane, N((-1, 0), I) and
#'   N((1, 0), diag(1, 0.1)) (Baudat and Anouar, section 5.1); best possible accuracy 88.8 %.
#' * `simulate_sinc()`: y = sin(pi x) / (pi x) plus normal noise, x uniform on \[-3, 3\]
#'   (section 5.2 of the same).
#' * `simulate_circles()`: two classes along circles (section 5.3); the defaults give the
#'   separable pair of radius 1 and 0.5, and for example `radius = c(1, 1), offset = 1, sd = 0.1`
#'   an overlapping one.
#' * `simulate_weston()`: the toy problems of Weston et al. that Ramona et al. use. Linear: 202
#'   columns; in 70 % of the rows columns 1 to 3 are y N(i, 1) and 4 to 6 are N(0, 1), in the other
#'   rows 1 to 3 are N(0, 1) and 4 to 6 are y N(i - 3, 1); the rest is N(0, 20) noise.
#'   Non-linear: 52 columns; the first two are drawn around (-3/4, -3) or (3/4, 3) for one class and
#'   (3, -3) or (-3, 3) for the other, with unit variance; the rest is N(0, 20) noise. (20 is the
#'   standard deviation.)
#' * `simulate_fusion()`: y = x1 + x2 + noise among `columns` standard normal columns (Mottl et
#'   al., section 9), as numbers or, with `type = "recognition"`, the sign of y as classes.
#'
#' @param n number of rows.
#' @param seed a whole number; the same seed gives the same data in every session, and the state
#'   of R's random number generator is left as it was.
#' @param sd standard deviation of the noise.
#' @param radius,offset radii of the two circles, and the distance between their centres.
#' @param type which of the two problems.
#' @param columns number of columns, two of which matter.
#' @returns A data frame with `n` rows, numeric columns `x1`, `x2`, ... (`x` for the sinc function)
#'   and the response `y`, a factor or a number. Classes have equal sizes (the first one row more
#'   when `n` is odd), in alternating rows; those of `simulate_fusion(type = "recognition")` come as
#'   the sign of y falls.
#' @examples
#' circles <- simulate_circles(200, seed = 1)
#' plot(circles$x1, circles$x2, col = circles$y, asp = 1)
#' dim(simulate_weston(10, seed = 1, type = "nonlinear"))
#' @seealso The methods they were made for: [kernel_basis()], [kernel_lm()] and [kernel_lda()] (two
#'   clouds, sinc, circles), [kernel_rank()] (Weston), [kernel_fusion()].
#' @name simulations
NULL

#' @rdname simulations
#' @export
simulate_two_gaussians <- function(n = 200, seed = 1) {
  with_seed(n, seed, function(n) {
    second <- alternate(n)
    data.frame(
      x1 = stats::rnorm(n, ifelse(second, 1, -1)),
      x2 = stats::rnorm(n, 0, ifelse(second, sqrt(0.1), 1)),
      y = two_classes(second)
    )
  })
}

#' @rdname simulations
#' @export
simulate_sinc <- function(n = 100, seed = 1, sd = 0.5) {
  sd <- check_number(sd, "sd", min = 0)
  with_seed(n, seed, function(n) {
    x <- stats::runif(n, -3, 3)
    data.frame(x = x, y = ifelse(x == 0, 1, sin(pi * x) / (pi * x)) + stats::rnorm(n, 0, sd))
  })
}

#' @rdname simulations
#' @export
simulate_circles <- function(n = 200, seed = 1, radius = c(1, 0.5), offset = 0, sd = 0) {
  if (!is.numeric(radius) || length(radius) != 2L || !all_finite(radius) || any(radius <= 0)) {
    must_be("radius", "two positive numbers", radius)
  }
  offset <- check_number(offset, "offset")
  sd <- check_number(sd, "sd", min = 0)
  with_seed(n, seed, function(n) {
    second <- alternate(n)
    angle <- stats::runif(n, 0, 2 * pi)
    r <- radius[second + 1L]
    data.frame(
      x1 = r * cos(angle) + offset * second + stats::rnorm(n, 0, sd),
      x2 = r * sin(angle) + stats::rnorm(n, 0, sd),
      y = two_classes(second)
    )
  })
}

#' @rdname simulations
#' @export
simulate_weston <- function(n = 100, seed = 1, type = c("linear", "nonlinear")) {
  type <- check_choice(type, "type", c("linear", "nonlinear"))
  with_seed(n, seed, function(n) {
    second <- alternate(n)
    signal <- if (type == "linear") weston_linear(second) else weston_nonlinear(second)
    noise <- matrix(stats::rnorm(n * (if (type == "linear") 196L else 50L), 0, 20), n)
    x <- cbind(signal, noise)
    colnames(x) <- paste0("x", seq_len(ncol(x)))
    data.frame(x, y = two_classes(second))
  })
}

weston_linear <- function(second) {
  n <- length(second)
  side <- ifelse(second, 1, -1)
  first_kind <- stats::runif(n) < 0.7
  informative <- matrix(stats::rnorm(3L * n, rep(1:3, each = n)), n) * side
  idle <- matrix(stats::rnorm(3L * n), n)
  swap <- !first_kind
  x <- cbind(informative, idle)
  x[swap, ] <- cbind(idle, informative)[swap, ]
  x
}

weston_nonlinear <- function(second) {
  n <- length(second)
  flip <- ifelse(stats::runif(n) < 0.5, -1, 1)
  centre <- cbind(ifelse(second, 3, 3 / 4), ifelse(second, -3, 3)) * flip
  centre + stats::rnorm(2L * n)
}

#' @rdname simulations
#' @export
simulate_fusion <- function(n = 300, seed = 1, columns = 100, sd = 0.174,
                            type = c("regression", "recognition")) {
  type <- check_choice(type, "type", c("regression", "recognition"))
  columns <- check_whole(columns, "columns", min = 2)
  sd <- check_number(sd, "sd", min = 0)
  with_seed(n, seed, function(n) {
    x <- matrix(stats::rnorm(n * columns), n, dimnames = list(NULL, paste0("x", seq_len(columns))))
    y <- x[, 1L] + x[, 2L] + stats::rnorm(n, 0, sd)
    data.frame(x, y = if (type == "regression") y else two_classes(y >= 0))
  })
}

alternate <- function(n) seq_len(n) %% 2L == 0L

two_classes <- function(second) factor(ifelse(second, "b", "a"), levels = c("a", "b"))

# make(n) with a generator of its own.
with_seed <- function(n, seed, make) {
  n <- check_whole(n, "n", min = 1)
  preserve_seed(seed, function() make(n))
}
