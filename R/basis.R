#' Which rows span the kernel space?
#'
#' Picks the rows of a table whose images span the kernel space of all rows, as well as so few
#' rows can. Use it when a kernel method is too slow or too large on all rows, or to see how many
#' dimensions the data really have under a kernel; the models [kernel_pca()], [kernel_lm()],
#' [kernel_lda()] and [kernel_takes()] do it for you.
#'
#' @details
#' All methods are rules of one pivoted Cholesky engine; every pick is the one that
#' column-by-column pivoting would make, and ties go to the lowest row.
#'
#' | method | picks next | stops (besides `size` and rank) |
#' |---|---|---|
#' | `"fvs"` | row of best global fitness, then lowest local fitness | fitness >= 1 - `tol` |
#' | `"cholesky"` | largest residual | residual trace <= `tol` * trace |
#' | `"kobl"` | largest residual | r / r11 < `threshold(dim / n)`, r the root of the residual |
#' | `"kgs"` | next row in order, dependent rows skipped | - |
#' | `"random"` | row with probability proportional to its residual | as cholesky |
#'
#' The residual of a row is its squared distance to the span of the rows picked. A residual of at
#' most n * eps * (largest diagonal, before or after centring; for `"fvs"` the row's own) counts as
#' zero: that ends every path ("rank"). Rows within a relative 1e-10 of the best, or within its
#' rounding, tie. `"kgs"` also skips a row whose residual is no more than rounding magnified by the
#' near-dependence of the rows before it.
#' Memory is the n x size factor; the n x n matrix is never formed.
#'
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a
#'   formula such as `~ .`; for `head()` a `kernel_basis`.
#' @param kernel a kernel, see [kernels].
#' @param method how rows are picked, see Details.
#' @param size largest number of rows to pick. NULL: at most 1000, with a message when that
#'   binds; `Inf`: no limit.
#' @param tol when to stop, see Details; in \[0, 1\].
#' @param center `"none"`, or `"nearest"`: centre the kernel space at the row(s) nearest to its
#'   centre.
#' @param neighbours number of rows whose mean stands for the centre.
#' @param threshold an increasing function from \[0, 1\] to \[0, 1\], for `"kobl"`.
#' @param first number of evenly spaced rows searched for the first pick of `"fvs"`; `Inf`: all.
#' @param scale standardise columns with their mean and sd?
#' @param data a data frame with the variables of the formula.
#' @param ... nothing else is accepted: a misspelt argument is an error.
#' @param K a Gram matrix, with `x` missing. New data are then cross-Gram matrices, new rows by
#'   training rows. Objects of kernlab's class `kernelMatrix` are taken for Gram matrices also as
#'   `x` and as new data.
#' @param na_action `"fail"` on missing values, `"omit"` the rows that have them, or `"exclude"`
#'   them, which gives NA for them in `fitted()`, `residuals()` and `predict()` without new data.
#' @param threads number of threads; the result does not depend on it.
#' @param verbose draw a progress bar? In an interactive session one appears by itself after two
#'   seconds.
#' @returns A list of class `"kernel_basis"`:
#' * `index`: the rows picked, in order;
#' * `vectors`: these rows, scaled (NULL for a Gram matrix);
#' * `kernel`: the kernel with its numbers worked out;
#' * `path`: data frame with a row per pick: `size`, `index`, `pivot` (residual of the row before
#'   it was picked), `fitness` (mean local fitness J), `trace` (residual trace / trace), `cost`
#'   (mean residual norm E(M));
#' * `stop`: what ended the path: `"rank"`, `"tol"`, `"threshold"` or `"size"`;
#' * `center_index`: rows that stand for the centre, or NULL;
#' * `method`, `n` (training rows), `scaling` (column means and sds, or NULL);
#' * `row_names`, `center_names`: names of the rows picked and of those that stand for the centre,
#'   by which columns of a cross-Gram matrix are found (NULL unless from a Gram matrix with names);
#' * `cholesky` (size x size), `center_vectors`, `shift`, `input`, `updates`: what `predict()`
#'   and the models need, and the number of block updates.
#'
#' `head(basis, n)` is the basis of the first `n` rows picked, again of class `"kernel_basis"`.
#'
#' The parts of a model may be read, edited, dropped where nothing needs them, and added to; what
#' no longer fits together is an error of class `kernelect_error_model`. Its field `version` says
#' which version of the package wrote it.
#' @references Baudat and Anouar (2003), Feature vector selection and projection using kernels,
#'   Neurocomputing 55.
#'
#'   Teixeira, Tome and Lang (2009), Feature extraction using linear and non-linear subspace
#'   techniques, ICANN 2009.
#'
#'   Xu, Shen, Ping and Zhao (2011), TAKES: a fast method to select features in the kernel space,
#'   CIKM 2011.
#' @examples
#' basis <- kernel_basis(iris[, 1:4], rbf_kernel(), size = 10)
#' basis
#' plot(basis)
#' z <- predict(basis, iris[1:3, 1:4])
#' kernel_basis(~ Sepal.Length + Petal.Length, iris, method = "cholesky")$index
#' head(basis, 3)
#' @family bases
#' @export
kernel_basis <- function(x, ...) UseMethod("kernel_basis")

#' @rdname kernel_basis
#' @export
kernel_basis.default <- function(x, kernel = rbf_kernel(),
                                 method = c("fvs", "cholesky", "kobl", "kgs", "random"),
                                 size = NULL, tol = 0.01, center = c("none", "nearest"),
                                 neighbours = 1, threshold = identity, first = 1000, scale = TRUE,
                                 ..., K = NULL, na_action = c("fail", "omit", "exclude"),
                                 threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  control <- basis_control(
    method, size, tol, center, neighbours, threshold, first, threads, verbose
  )
  x <- rows_or_gram(x, K)
  if (is_gram(x)) {
    if (!missing(kernel)) warn_kernel_unused()
    data <- gram_data(x, na_action = na_action)
    basis <- basis_from_gram(data, control)$basis
  } else {
    data <- model_data(x, scale = scale, na_action = na_action)
    basis <- basis_from_data(data, resolve_kernel(kernel, data$x), control)$basis
  }
  finish_model(basis, data, match.call())
}

#' @rdname kernel_basis
#' @param formula a formula without response, such as `~ .`.
#' @param subset which rows of `data` to use: a logical vector, row numbers or row names, worked
#'   out among the columns of `data`, as in [lm()].
#' @export
kernel_basis.formula <- function(formula, data, ..., subset) {
  fit_formula(kernel_basis.default, formula, data, match.call(), ..., .response = FALSE)
}

# ---- control ---------------------------------------------------------------------

basis_methods <- c("fvs", "cholesky", "kobl", "kgs", "random")

# Checked arguments of a basis, before the number of rows is known.
basis_control <- function(method = "fvs", size = NULL, tol = 0.01, center = "none", neighbours = 1,
                          threshold = identity, first = 1000, threads = 1L, verbose = FALSE) {
  list(
    method = check_choice(method, "method", basis_methods),
    size = if (!is.null(size)) check_whole(size, "size", min = 1, infinite = TRUE),
    tol = check_number(tol, "tol", min = 0, max = 1),
    neighbours = check_whole(neighbours, "neighbours", min = 1, max = 128) *
      (check_choice(center, "center", c("none", "nearest")) == "nearest"),
    threshold = check_function(threshold, "threshold"),
    first = check_whole(first, "first", min = 1, infinite = TRUE),
    threads = check_threads(threads),
    verbose = check_flag(verbose, "verbose")
  )
}

# What the engine wants to know, for n rows.
engine_rule <- function(control, n) {
  limit <- min(n, if (is.null(control$size)) default_limit(control, n) else control$size)
  if (!is.null(control$size) && is.finite(control$size) && control$size > n) {
    inform("`size` = ", format(control$size, scientific = FALSE), " is more than the ", n,
           if (n > 1L) " rows: " else " row: ", n, " is used.")
  }
  if (control$neighbours > n) {
    abort("argument", "`neighbours` must be at most the number of rows, ", n, ".")
  }
  list(
    method = control$method, limit = limit, tol = control$tol,
    threshold = if (control$method == "kobl") {
      threshold_values(control$threshold, limit, if (is.null(control$count)) n else control$count)
    },
    first = if (!is.null(control$candidates)) {
      control$candidates
    } else if (control$first < n) {
      evenly_spaced(n, control$first)
    },
    neighbours = control$neighbours, verbose = show_progress(control$verbose),
    candidates = engine_option("candidates"), columns = engine_option("columns")
  )
}

# A model that is not told its size takes seconds, not minutes: work grows with n size^2.
default_limit <- function(control, n) {
  if (isTRUE(control$modest)) max(100, min(1000, floor(sqrt(4e9 / n)))) else 1000
}

inform_limit <- function(control, limit) {
  name <- if (is.null(control$limit_name)) "size" else control$limit_name
  inform("The basis stopped at ", limit, " rows",
         if (limit < 1000) " to take seconds rather than minutes", "; give `", name,
         "` (or `", name,
         " = Inf`) for more",
         if (limit < 1000) {
           paste0(": 1000 rows take about ", round((1000 / limit)^2), " times as long")
         }, ".")
}

# How many rows the engine pivots among, and how many columns it has room for at first: of no
# influence on the result, so only tests set them. 0: the engine decides.
engine_option <- function(name) {
  name <- paste0("kernelect.", name)
  check_whole(getOption(name, 0), paste0("options(", name, ")"), min = 0)
}

# threshold(dim / n) for dim = 0 ... limit.
threshold_values <- function(threshold, limit, n) {
  at <- function(t) {
    v <- tryCatch(threshold(t), error = function(e) NULL, warning = function(w) NULL)
    if (length(v) != length(t)) v <- vapply(t, threshold_at, 0, threshold = threshold)
    if (!is.numeric(v) || anyNA(v) || any(v < 0 | v > 1)) {
      abort("argument", "`threshold` must be a function from [0, 1] to [0, 1]; ",
            "it leaves that range.")
    }
    as.double(v)
  }
  if (is.unsorted(at(seq(0, 1, length.out = 101)))) {
    abort("argument", "`threshold` must be an increasing function on [0, 1]; it falls somewhere.")
  }
  at(seq(0, limit) / n)
}

# For functions of a single number; what is no number becomes NA.
threshold_at <- function(t, threshold) {
  v <- tryCatch(threshold(t), error = function(e) {
    abort("argument", "`threshold` must be a function from [0, 1] to [0, 1]; at ", t,
          " it fails: ", conditionMessage(e))
  })
  if (is.numeric(v) && length(v) == 1L) as.double(v) else NA_real_
}

# ---- fitting --------------------------------------------------------------------

# The basis and, with `keep`, the n x size factor: the orthonormal coordinates of the training
# rows.
basis_from_data <- function(data, kernel, control, keep = FALSE) {
  x <- data$x
  source <- if (in_r(kernel)) {
    list(
      f = function(i, j) gram_in_r(kernel, x[i, , drop = FALSE], x[j, , drop = FALSE]),
      diagonal = kernel_diagonal(kernel, x)
    )
  } else {
    kernel_source(x, kernel)
  }
  fit <- run_engine(source, control, nrow(x), keep)
  basis <- new_basis(fit, control,
    n = nrow(x), kernel = kernel, scaling = data$scaling, input = data$input,
    vectors = x[fit$index, , drop = FALSE],
    center_vectors = if (length(fit$center)) x[fit$center, , drop = FALSE]
  )
  list(basis = basis, factor = fit$factor)
}

# The same from a Gram matrix. New data may be given by all rows it had, or by those that were kept.
basis_from_gram <- function(data, control, keep = FALSE) {
  K <- data$x
  fit <- run_engine(list(K = K), control, nrow(K), keep)
  names <- gram_names(K)
  basis <- new_basis(fit, control,
    n = nrow(K), row_names = names[fit$index],
    center_names = if (length(fit$center)) names[fit$center]
  )
  basis$na.action <- data$na.action
  list(basis = basis, factor = fit$factor)
}

# Labels that occur twice are no names: columns go by position.
gram_names <- function(K) if (!anyDuplicated(rownames(K))) rownames(K)

run_engine <- function(source, control, n, keep) {
  rule <- engine_rule(control, n)
  fit <- .Call(ffi_basis, source, rule, keep, control$threads)
  if (is_status(fit)) fail_engine(fit, source)
  if (!length(fit$index)) fail_empty(source, control)
  if (fit$lowest < -1e-8) warn_negative(fit$lowest, control$method, source)
  if (is.null(control$size) && rule$limit < n && fit$stop == "size") {
    inform_limit(control, rule$limit)
  }
  fit
}

fail_empty <- function(source, control) {
  if (any(source$K != 0)) fail_engine("indefinite", source)
  abort("data", "No row of `", if (is.null(source$K)) "x" else "K",
        "` spans anything: every row has length zero in the kernel space",
        if (control$neighbours) " once centred", ". Check the data for identical rows.")
}

fail_engine <- function(status, source) {
  if (status != "indefinite") raise_status(status)
  raise_status(status,
    if (is.null(source$K)) "The kernel has negative values k(x, x): it" else "`K`",
               " is not positive semi-definite", if (is.null(source$K)) " on these data", ". ",
               psd_remedy(source))
}

# Rows taken in order may be so close to dependent that rounding alone does this.
warn_negative <- function(lowest, method, source) {
  what <- if (is.null(source$K)) {
    "the kernel is not positive semi-definite on these data"
  } else {
    "`K` is not positive semi-definite"
  }
  if (method == "kgs") {
    what <- paste0("rows taken in order depend on each other too closely, or ", what)
  }
  warn("indefinite", toupper(substr(what, 1L, 1L)), substring(what, 2L),
       " (residual ", format(lowest, digits = 3),
       " of the largest diagonal): results are approximate. ",
       if (method == "kgs") {
         "Use `method = \"cholesky\"`, which tells the two apart."
       } else {
         psd_remedy(source)
       })
}

psd_remedy <- function(source) {
  if (!is.null(source$K)) {
    return("Check how it was made; a constant added to its diagonal can make up for little.")
  }
  paste(
    "Use a positive semi-definite kernel such as `rbf_kernel()`;",
    "for `spline_kernel()` shift the data to start at 0 (`scale = FALSE`)."
  )
}

new_basis <- function(fit, control, n, kernel = NULL, vectors = NULL, center_vectors = NULL,
                      scaling = NULL, input = NULL, row_names = NULL, center_names = NULL) {
  path <- data.frame(seq_along(fit$index), fit$index, fit$path)
  names(path) <- c("size", "index", "pivot", "fitness", "trace", "cost")
  new_model("kernel_basis", list(
    index = fit$index, vectors = vectors, kernel = kernel, path = path, stop = fit$stop,
    center_index = if (length(fit$center)) fit$center, method = control$method, n = n,
    scaling = scaling, cholesky = fit$cholesky, center_vectors = center_vectors, shift = fit$shift,
    input = input, updates = fit$updates, row_names = row_names, center_names = center_names
  ))
}

validate_basis <- function(basis, arg = "object") {
  L <- length(validate_kept(basis, arg)$index)
  must_hold(arg,
    cholesky = is_matrix_of(basis$cholesky, L, L) && all(diag(basis$cholesky) > 0),
    path = is.data.frame(basis$path) && nrow(basis$path) == L &&
      all(vapply(basis$path, is.numeric, NA)),
    method = basis$method %in% basis_methods
  )
  basis
}

# What kernel values against the rows of a basis need.
validate_kept <- function(basis, arg = "object") {
  must_hold(arg, basis = is.list(basis))
  L <- length(basis$index)
  centers <- length(basis$center_index)
  must_hold(arg,
    n = is_number(basis$n),
    index = L > 0L && is_index(basis$index, basis$n),
    center_index = if (is.null(basis$shift)) !centers else is_index(basis$center_index, basis$n),
    shift = is_null_or(basis$shift, function(v) centers > 0L && is_numbers(v, L + 1L)),
    row_names = valid_names(basis$row_names, L),
    center_names = valid_names(basis$center_names, centers),
    vectors = if (is.null(basis$kernel)) is.null(basis$vectors) else valid_rows(basis, L),
    center_vectors = is.null(basis$kernel) || is.null(basis$shift) ||
      is_matrix_of(basis$center_vectors, centers, basis$input$width),
    kernel = is.null(basis$kernel) || valid_width(basis$kernel, basis$input$width)
  )
  if (!is.null(basis$kernel)) check_kernel(basis$kernel)
  basis
}

# ---- prediction --------------------------------------------------------------------

#' Coordinates of new rows in a kernel basis
#'
#' Use it when a method outside this package is to work on the kernel space: the coordinates are
#' ordinary columns. `type = "residual"` shows new rows that are unlike all training rows.
#'
#' @param object a [kernel_basis()].
#' @param newdata new rows: matrix or data frame with the training columns (matched by name); for
#'   a basis from a Gram matrix the cross-Gram matrix, new rows by training rows (columns matched
#'   by name where both matrices have names).
#' @param type `"orthonormal"`: coordinates in the orthonormal (Cholesky) basis; `"kernel"`:
#'   (centred) kernel values against the basis rows; `"residual"`: squared distance to the
#'   subspace.
#' @param diag for `type = "residual"` of a basis from a Gram matrix: k(x, x) of the new rows.
#' @param threads number of threads.
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
                                 diag = NULL, threads = getOption("kernelect.threads", 1L), ...) {
  check_dots(...)
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
  value <- expand_basis(object, new$x, expansion(object, type, diagonal = own), threads)
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

#' @rdname kernel_basis
#' @param n number of rows of the basis to keep: bases are nested, so the first `n` rows are the
#'   basis of that size.
#' @importFrom utils head
#' @export
head.kernel_basis <- function(x, n = 6L, ...) {
  check_dots(...)
  validate_basis(x, "x")
  n <- check_whole(n, "n", min = 1)
  L <- length(x$index)
  if (n >= L) return(x)
  keep <- seq_len(n)
  x$index <- x$index[keep]
  if (!is.null(x$vectors)) x$vectors <- x$vectors[keep, , drop = FALSE]
  x$path <- x$path[keep, , drop = FALSE]
  x$cholesky <- x$cholesky[keep, keep, drop = FALSE]
  if (!is.null(x$row_names)) x$row_names <- x$row_names[keep]
  if (!is.null(x$shift)) x$shift <- x$shift[c(keep, L + 1L)]
  x$stop <- "size"
  x
}

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
  local_par(mgp = c(if (log == "y") 2.8 else 2.5, 0.7, 0))
  if (log == "y") plot_decay(path, ...) else plot_fitness(path, x$n, ...)
  at <- unique(pmax(round(pretty(c(1, L))), 1))
  graphics::axis(1, at[at <= L])
  invisible(path)
})

plot_fitness <- function(path, n, ...) {
  L <- nrow(path)
  reached <- floor(1000 * path$fitness[L]) / 1000 # 1 is reserved for those who get there
  draw(graphics::plot, list(
    x = path$size, y = path$fitness, type = "o", pch = 16, cex = 0.5, col = palette_classes[1L],
    ylim = c(0, 1), xaxt = "n", xlab = "rows picked", ylab = "share of the whole",
    main = sprintf("%d of %d rows reach fitness %.3f", L, n, reached)
  ), ...)
  graphics::lines(path$size, path$trace, type = "o", pch = 17, cex = 0.5, col = palette_classes[2L])
  graphics::legend("right", c("fitness J", "residual trace"), col = palette_classes[1:2],
                   pch = 16:17, lty = 1, bty = "n", cex = 0.9)
}

# What is left below the rounding of 1 is nothing, and drawn there.
plot_decay <- function(path, ...) {
  L <- nrow(path)
  least <- .Machine$double.eps
  left <- pmax(path$trace, least)
  draw(graphics::plot, list(
    x = path$size, y = left, log = "y", type = "o", pch = 16, cex = 0.5, col = palette_classes[2L],
    xaxt = "n", yaxt = "n", xlab = "rows picked", ylab = "residual trace / trace",
    main = sprintf("%d rows leave %s of the trace", L,
                   if (left[L] > least) sprintf("%.2g", left[L]) else "nothing")
  ), ...)
  powers <- diff(log10(range(left))) > 2
  ticks <- if (powers) 10^unique(round(pretty(log10(left), 5))) else graphics::axTicks(2)
  labels <- if (powers) {
    parse(text = paste0("10^", log10(ticks)))
  } else {
    format(ticks, trim = TRUE)
  }
  graphics::axis(2, ticks, labels)
}
