#' Criteria that compare a Gram matrix with a response
#'
#' Numbers that say how well a kernel fits a problem, from the Gram matrix alone.
#' Use them to compare a few kernels quickly; [kernel_rank()] maximises them over scale factors.
#'
#' @param K a Gram matrix: square, symmetric, finite.
#' @param y class labels, one per row of `K`: a factor (or character, logical); or, for alignment
#'   and HSIC, numbers, whose target is yy' of the centred values.
#' @param target for two classes the target matrix: `"balanced"` weighs the classes by their
#'   sizes (eq 4 of Ramona et al.), `"plain"` is yy'. With more than two classes both mean eq 10:
#'   1 within a class, -1/(C - 1) between classes.
#' @param eps added to the within-class scatter.
#' @returns A single number. `kernel_alignment()`: the cosine between `K` and the target,
#'   `<K, T> / (|K| |T|)`. `kernel_separability()`: `tr S_b / (tr S_w + eps)`, between-class over
#'   within-class scatter in the kernel space. `kernel_hsic()`: `tr(K H L H) / (n - 1)^2` with L
#'   the balanced target (for numbers yy') and H the centring matrix.
#' @references Ramona, Richard and David (2012), Multiclass feature selection with kernel
#'   Gram-matrix-based criteria, IEEE Transactions on Neural Networks and Learning Systems 23,
#'   \doi{10.1109/TNNLS.2012.2201748}.
#' @examples
#' K <- gram(scale(iris[, 1:4]))
#' kernel_alignment(K, iris$Species)
#' kernel_separability(K, iris$Species)
#' kernel_hsic(K, iris$Species)
#' kernel_alignment(gram(scale(mtcars[-1])), mtcars$mpg)
#' @family kernels
#' @family feature ranking
#' @name criteria
NULL

#' @rdname criteria
#' @export
kernel_alignment <- function(K, y, target = c("balanced", "plain")) {
  check_given("K", "y")
  target <- check_choice(target, "target", c("balanced", "plain"))
  data <- check_criterion(K, y, numbers = TRUE)
  norm <- norm(data$K, "F")
  if (norm == 0) abort("data", "`K` is zero: its alignment is not defined.")
  u <- target_factor(data$y, target)
  product_with(data$K, u) / (norm * norm(crossprod(u), "F"))
}

#' @rdname criteria
#' @export
kernel_separability <- function(K, y, eps = 0) {
  check_given("K", "y")
  eps <- check_number(eps, "eps", min = 0)
  data <- check_criterion(K, y)
  within_sum <- product_with(data$K, class_factor(data$y))
  between <- within_sum - sum(data$K) / nrow(data$K)
  trace <- sum(diag(data$K))
  within <- trace - within_sum
  if (within <= 1e-14 * trace) within <- 0 # what rounding leaves of identical rows
  if (within + eps <= 0) abort("data", "The within-class scatter is zero: give a positive `eps`.")
  between / (within + eps)
}

#' @rdname criteria
#' @export
kernel_hsic <- function(K, y) {
  check_given("K", "y")
  data <- check_criterion(K, y, numbers = TRUE)
  u <- centred_factor(target_factor(data$y, "balanced")) / (nrow(data$K) - 1)
  product_with(data$K, u)
}

check_criterion <- function(K, y, numbers = FALSE) {
  K <- check_gram(K)
  remedy <- "Remove those rows and columns of `K`, and those labels."
  y <- if (numbers && is_quantity(y)) check_target(y, remedy) else check_classes(y, remedy = remedy)
  .Call(ffi_check)
  if (length(y) != nrow(K)) {
    abort("argument", "`y` must have one label per row of `K` (", nrow(K), "), not ",
          length(y), ".")
  }
  if (!is.finite(nrow(K)^2 * symmetry(K)$largest)) {
    abort("not_finite", "`K` has entries too large to sum without overflow: ",
          "divide it by a constant first.")
  }
  list(K = K, y = y)
}

# A response that is compared as numbers, not as classes.
is_quantity <- function(y) is.numeric(y) && !is.factor(y)

check_target <- function(y, remedy = NULL) {
  if (length(dim(y)) > 1L && ncol(y) != 1L) {
    must_be("y", "a numeric vector, one value per row", y)
  }
  y <- as.double(y)
  if (any(is_missing(y))) {
    abort("missing_values", "`y` has missing values (", sum(is_missing(y)), "). ", remedy)
  }
  check_finite_response(y)
  if (length(y) < 2L || !(max(y) > min(y))) {
    abort("data", "`y` is constant: there is nothing that a kernel could agree with.")
  }
  check_squares(y)
  y
}

# ---- targets T = UU' ----------------------------------------------------------------

# Numbers: the centred values. Two classes: eq 4 or yy'. More: eq 10, 1 within a class and
# -1/(C - 1) between classes, whose rows are the corners of a simplex with C - 1 coordinates.
target_factor <- function(y, target) {
  if (is.numeric(y)) return(matrix(y - mean(y)))
  counts <- tabulate(y)
  classes <- length(counts)
  corners <- if (classes > 2L) {
    axes <- stats::contr.helmert(classes)
    sqrt(classes / (classes - 1)) * axes / rep(sqrt(colSums(axes^2)), each = classes)
  } else {
    matrix(if (target == "balanced") c(1 / counts[1L], -1 / counts[2L]) else c(1, -1))
  }
  unname(corners[as.integer(y), , drop = FALSE])
}

# T is 1/n_c within class c, else 0.
class_factor <- function(y) {
  counts <- tabulate(y)
  unname(diag(1 / sqrt(counts), length(counts))[as.integer(y), , drop = FALSE])
}

# H U, which makes T into H T H.
centred_factor <- function(u) u - rep(colMeans(u), each = nrow(u))

# <K, UU'>
product_with <- function(K, u) sum(u * product(K, u))
