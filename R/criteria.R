#' Criteria that compare a Gram matrix with classes
#'
#' Numbers that say how well a kernel fits a classification problem, from the Gram matrix alone.
#' Use them to compare a few kernels quickly; [kernel_rank()] maximises them over scale factors.
#'
#' @param K a Gram matrix: square, symmetric, finite.
#' @param y class labels, one per row of `K`: a factor (or character, logical).
#' @param target for two classes the target matrix: `"balanced"` weighs the classes by their
#'   sizes (eq 4 of Ramona et al.), `"plain"` is yy'. With more than two classes both mean eq 10:
#'   1 within a class, -1/(C - 1) between classes.
#' @param eps added to the within-class scatter.
#' @returns A single number. `kernel_alignment()`: the cosine between `K` and the target,
#'   `<K, T> / (|K| |T|)`. `kernel_separability()`: `tr S_b / (tr S_w + eps)`, between-class over
#'   within-class scatter in the kernel space. `kernel_hsic()`: `tr(K H L H) / (n - 1)^2` with L
#'   the balanced target and H the centring matrix.
#' @references Ramona, Richard and David (2012), Multiclass feature selection with kernel
#'   Gram-matrix-based criteria, IEEE Transactions on Neural Networks and Learning Systems 23.
#' @examples
#' K <- gram(scale(iris[, 1:4]))
#' kernel_alignment(K, iris$Species)
#' kernel_separability(K, iris$Species)
#' kernel_hsic(K, iris$Species)
#' @family kernels
#' @family feature ranking
#' @name criteria
NULL

#' @rdname criteria
#' @export
kernel_alignment <- function(K, y, target = c("balanced", "plain")) {
  check_given("K", "y")
  target <- check_choice(target, "target", c("balanced", "plain"))
  data <- check_criterion(K, y)
  norm <- norm(data$K, "F")
  if (norm == 0) abort("data", "`K` is zero: its alignment is not defined.")
  values <- target_values(data$y, target)
  blocks <- class_sums(data$K, data$y)
  counts <- tabulate(data$y)
  sum(blocks * values) / (norm * sqrt(sum(tcrossprod(counts) * values^2)))
}

#' @rdname criteria
#' @export
kernel_separability <- function(K, y, eps = 0) {
  check_given("K", "y")
  eps <- check_number(eps, "eps", min = 0)
  data <- check_criterion(K, y)
  blocks <- class_sums(data$K, data$y)
  within_sum <- sum(diag(blocks) / tabulate(data$y))
  between <- within_sum - sum(blocks) / nrow(data$K)
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
  data <- check_criterion(K, y)
  n <- nrow(data$K)
  values <- target_values(data$y, "balanced")
  blocks <- class_sums(data$K, data$y)
  share <- tabulate(data$y) / n
  # sums of H K H over pairs of classes, from those of K alone
  centred <- blocks - outer(share, colSums(blocks)) - outer(rowSums(blocks), share) +
    outer(share, share) * sum(blocks)
  sum(centred * values) / (n - 1)^2
}

check_criterion <- function(K, y) {
  K <- check_gram(K)
  y <- check_classes(y, remedy = "Remove those rows and columns of `K`, and those labels.")
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

# The target matrix has one value per pair of classes: a C x C matrix says it all.
target_values <- function(y, target) {
  counts <- tabulate(y)
  classes <- length(counts)
  if (classes > 2L) {
    values <- matrix(-1 / (classes - 1), classes, classes)
    diag(values) <- 1
    return(values)
  }
  side <- if (target == "balanced") c(1 / counts[1L], -1 / counts[2L]) else c(1, -1)
  tcrossprod(side)
}

# Sums of K over pairs of classes.
class_sums <- function(K, y) {
  y <- as.integer(y)
  sums <- lapply(pieces(ncol(K), 4 * nrow(K)), function(columns) {
    .Call(ffi_check)
    rowsum(if (length(columns) < ncol(K)) K[, columns, drop = FALSE] else K, y, reorder = TRUE)
  })
  rowsum(t(do.call(cbind, sums)), y, reorder = TRUE)
}
