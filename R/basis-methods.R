# ---- prediction --------------------------------------------------------------------

#' Coordinates of new rows in a kernel basis
#'
#' Use it when a method outside this package is to work on the kernel space: the coordinates are
#' ordinary columns. `type = "residual"` shows new rows that are unlike all training rows.
#'
#' @param object a [kernel_basis()].
#' @param newdata new rows: matrix, data frame or [row_source()] with the training columns (matched
#'   by name); for
#'   a basis from a Gram matrix the cross-Gram matrix, new rows by training rows (columns matched
#'   by name where both matrices have names).
#' @param type `"orthonormal"`: coordinates in the orthonormal (Cholesky) basis; `"kernel"`:
#'   (centred) kernel values against the basis rows; `"residual"`: squared distance to the
#'   subspace.
#' @param diag for `type = "residual"` of a basis from a Gram matrix: k(x, x) of the new rows.
#' @param threads number of threads.
#' @param write with a [row_source()] as `newdata`: a function of a chunk's number and its
#'   predictions, called chunk by chunk, or the path of a CSV file for them. NULL: all predictions
#'   are collected.
#' @param ... nothing else is accepted.
#' @returns A matrix with a row per row of `newdata` and a column per basis vector; a vector for
#'   `type = "residual"`. Rows with missing values give NA.
#' @examples
#' basis <- kernel_basis(iris[, 1:4], size = 5)
#' predict(basis, iris[c(1, 51, 101), 1:4])
#' predict(basis, iris[c(1, 51, 101), 1:4], type = "residual")
#' @family bases
#' @export
predict.kernel_basis <- function(object, newdata, type = c("orthonormal", "kernel", "residual"),
                                 diag = NULL, threads = getOption("kernelect.threads", 1L),
                                 write = NULL, ...) {
  check_dots(...)
  if (by_chunks(newdata, write)) {
    return(predict_source(object, newdata, write, match.call(), parent.frame()))
  }
  type <- check_choice(type, "type", c("orthonormal", "kernel", "residual"))
  if (missing(newdata)) {
    abort("argument", "`newdata` is missing: a basis does not keep the training rows.")
  }
  threads <- check_threads(threads)
  validate_basis(object)
  new <- new_rows(object, newdata)
  own <- if (type == "residual" && is.null(object$kernel)) {
    checked_diagonal(diag, newdata)[new$complete]
  }
  value <- expand_complete(object, new$x, expansion(object, type, diagonal = own), threads)
  fill_rows(if (type == "residual") value[, 1L] else value, new$complete, new$rows)
}

# Coordinates of scaled rows.
basis_coordinates <- function(basis, x, threads) {
  expand_basis(basis, x, expansion(basis, "orthonormal"), threads, scaling = NULL)
}

checked_diagonal <- function(diag, newdata) {
  if (!is.numeric(diag) || length(diag) != NROW(newdata)) {
    abort("argument", "`diag` must give k(x, x) for each of the ", NROW(newdata), " new rows.")
  }
  as.double(diag)
}

# ---- methods -----------------------------------------------------------------------

# How models speak of their basis and its kernel.
basis_words <- function(basis) {
  L <- length(basis$index)
  if (!inherits(basis, "kernel_basis")) return("all rows")
  paste0("a basis of ", L, " row", if (L > 1L) "s", " (\"", basis$method, "\")")
}

kernel_words <- function(basis) {
  if (is.null(basis$kernel)) "given Gram matrix" else kernel_label(basis$kernel)
}

#' @export
print.kernel_basis <- function(x, ...) guard_model("x", {
  validate_basis(x, "x")
  last <- x$path[nrow(x$path), ]
  cat("<kernel_basis> ", length(x$index), " of ", x$n, " rows by \"", x$method,
      "\", stopped by ", x$stop, "\n", sep = "")
  cat("kernel:  ", kernel_words(x), "\n", sep = "")
  if (!is.null(x$center_index)) {
    cat("centre:  row", if (length(x$center_index) > 1L) "s", " ",
        paste(head(x$center_index, 8L), collapse = " "), "\n", sep = "")
  }
  cat("rows:    ", paste(head(x$index, 12L), collapse = " "),
      if (length(x$index) > 12L) " ...", "\n", sep = "")
  cat(sprintf("fitness: %.4f   residual trace: %.3g of the whole   E(M): %.3g\n",
              last$fitness, last$trace, last$cost))
  invisible(x)
})

#' @export
summary.kernel_basis <- function(object, ...) guard_model("object", {
  check_dots(...)
  validate_basis(object)
  L <- nrow(object$path)
  at <- unique(pmin(L, round(exp(seq(0, log(L), length.out = 8)))))
  structure(
    list(
      basis = object, path = object$path[at, ],
      condition = max(object$path$pivot) / min(object$path$pivot)
    ),
    class = "summary.kernel_basis"
  )
})

#' @export
print.summary.kernel_basis <- function(x, ...) guard_model("x", {
  print(x$basis)
  cat("pivots span a factor of ", format(x$condition, digits = 3), "; ",
      x$basis$updates, " block update", if (x$basis$updates != 1L) "s", "\n", sep = "")
  print(x$path, row.names = FALSE, digits = 4)
  invisible(x)
})

#' Plot the path of a kernel basis
#'
#' Fitness and residual trace against the number of rows picked: where the curves flatten, more
#' rows add little. Use it when a `size` is to be chosen.
#' @param x a [kernel_basis()].
#' @param log `"y"` for a logarithmic axis of the residual trace alone, `""` for both curves.
#' @param ... graphical parameters for [plot()].
#' @returns The path, invisibly.
#' @examples
#' plot(kernel_basis(iris[, 1:4], size = 30, tol = 0))
#' @family bases
#' @export
plot.kernel_basis <- function(x, log = "", ...) guard_model("x", {
  validate_basis(x, "x")
  log <- check_choice(log, "log", c("", "y"))
  path <- x$path
  L <- nrow(path)
  local_par()
  if (log == "y") plot_decay(path, ...) else plot_fitness(path, x$n, ...)
  at <- unique(pmax(round(pretty(c(1, L))), 1))
  graphics::axis(1, at[at <= L])
  invisible(path)
})

plot_fitness <- function(path, n, ...) {
  draw(graphics::plot, list(
    x = path$size, y = path$fitness, type = "o", pch = 16, cex = 0.5, col = palette_classes[1L],
    ylim = c(0, 1), xaxt = "n", xlab = "rows picked", ylab = "share of the whole",
    main = fitness_title(path, n)
  ), ...)
  graphics::lines(path$size, path$trace, type = "o", pch = 17, cex = 0.5, col = palette_classes[2L])
  graphics::legend("right", c("fitness J", "residual trace"), col = palette_classes[1:2],
                   pch = 16:17, lty = 1, bty = "n", cex = 0.9)
}

fitness_title <- function(path, n) {
  L <- nrow(path)
  reached <- floor(1000 * path$fitness[L]) / 1000 # 1 is reserved for those who get there
  sprintf("%d of %d rows reach fitness %.3f", L, n, reached)
}

# What is left below the rounding of 1 is nothing, and drawn there.
trace_left <- function(path) pmax(path$trace, .Machine$double.eps)

decay_title <- function(path) {
  left <- path$trace[nrow(path)]
  sprintf("%d rows leave %s of the trace", nrow(path),
          if (left > .Machine$double.eps) sprintf("%.2g", left) else "nothing")
}

plot_decay <- function(path, ...) {
  draw(graphics::plot, list(
    x = path$size, y = trace_left(path), log = "y", type = "o", pch = 16, cex = 0.5,
    col = palette_classes[2L],
    xaxt = "n", yaxt = "n", xlab = "rows picked", ylab = "residual trace / trace",
    main = decay_title(path)
  ), ...)
  log_axis(2)
}
