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
#' @param x a numeric matrix, a sparse one (see [sparse]) or a data frame (factor columns become
#'   indicator columns), a [row_source()] of rows that do not fit in memory, or a formula such as
#'   `~ .`; for `head()` a `kernel_basis`.
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
#'   With 262,144 rows in memory or more, those that a sample of some 65,000 rows shows to be more
#'   than six standard errors behind the best are not looked at again.
#' @param scale standardise columns with their mean and sd?
#' @param data a data frame or a [row_source()] with the variables of the formula.
#' @param ... nothing else is accepted: a misspelt argument is an error.
#' @param K a Gram matrix, with `x` missing. New data are then cross-Gram matrices, new rows by
#'   training rows. Objects of kernlab's class `kernelMatrix` are taken for Gram matrices also as
#'   `x` and as new data.
#' @param cluster NULL, or a cluster of the package parallel (or one that behaves like it): its
#'   workers read chunks of a [row_source()] themselves and share the work. Rows that are not a
#'   source are cut into chunks.
#' @param memory how many MB of the rows of a [row_source()], of their factor and residuals a call
#'   (each worker of a `cluster`) may hold, with what R has not cleared away of them; the rest is
#'   kept in files of the session's temporary directory. On top come the R session, one chunk on its
#'   way from the source to plain numbers, 5 to 20 MB whatever the rows, and of models the response
#'   and some 12 numbers a row. 32 bytes a row are held in any case. NULL: half of the machine's.
#' @param resume NULL, or the error of an earlier call that lost a worker: its work is taken up
#'   where it ended.
#' @param na_action `"fail"` on missing values, `"omit"` the rows that have them, or `"exclude"`
#'   them, which gives NA for them in `fitted()`, `residuals()` and `predict()` without new data.
#' @param threads number of threads; the result does not depend on it.
#' @param verbose draw a progress bar? In an interactive session one appears by itself after two
#'   seconds.
#' @returns A list of class `"kernel_basis"`:
#' * `index`: the rows picked, in order, by their number among the training rows (those left out by
#'   `subset` or `na_action` are not counted);
#' * `vectors`: these rows, scaled (NULL for a Gram matrix);
#' * `kernel`: the kernel with its numbers worked out;
#' * `path`: data frame with a row per pick: `size`, `index`, `pivot` (residual of the row before
#'   it was picked), `fitness` (mean local fitness J), `trace` (residual trace / trace), `cost`
#'   (mean residual norm E(M));
#' * `stop`: what ended the path: `"rank"`, `"tol"`, `"threshold"` or `"size"`;
#' * `center_index`: rows that stand for the centre, or NULL;
#' * `method`, `tol` (as given), `n` (training rows), `scaling` (column means and sds, or NULL);
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
                                 ..., K = NULL, cluster = NULL, memory = NULL, resume = NULL,
                                 na_action = c("fail", "omit", "exclude"),
                                 threads = getOption("kernelect.threads", 1L), verbose = FALSE) {
  check_dots(...)
  control <- basis_control(
    method, size, tol, center, neighbours, threshold, first, threads, verbose
  )
  control$where <- source_place(cluster, memory, resume)
  x <- rows_or_source(rows_or_gram(x, K), NULL, NULL, control$where)
  if (is_rows(x)) {
    data <- source_data(x, scale, na_action, control)
    basis <- source_basis(data, kernel, control)$basis
  } else if (is_gram(x)) {
    if (!missing(kernel)) warn_kernel_unused()
    data <- gram_data(x, na_action = na_action)
    basis <- basis_from_gram(data, control)$basis
  } else {
    data <- model_data(x, scale = scale, na_action = na_action)
    basis <- basis_from_data(data, resolve_kernel(kernel, data$x, data$variance), control)$basis
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

# The user's name of the limit on the number of rows.
limit_name <- function(control) if (is.null(control$limit_name)) "size" else control$limit_name

# What the engine wants to know, for n rows.
engine_rule <- function(control, n) {
  limit <- min(n, if (is.null(control$size)) default_limit(control, n) else control$size)
  if (!is.null(control$size) && is.finite(control$size) && control$size > n) {
    inform("`", limit_name(control), "` = ", format(control$size, scientific = FALSE),
           " is more than the ", n,
           if (n > 1L) " rows: " else " row: ", n, " is used.")
  }
  if (control$neighbours > n) {
    abort("argument", "`neighbours` must be at most the number of rows, ", n, ".")
  }
  list(
    method = control$method, limit = limit, tol = control$tol,
    threshold = if (control$method == "kobl") {
      threshold_values(control$threshold, limit, if (is.null(control$times)) n
                       else sum(control$times))
    },
    first = first_rows(n, control$first, control$times), times = control$times,
    neighbours = control$neighbours, verbose = show_progress(control$verbose),
    candidates = engine_option("candidates"), columns = engine_option("columns")
  )
}

# Evenly spaced rows that are searched for the first pick, each as often as it counts; NULL: all.
first_rows <- function(n, most, times) {
  if (is.null(times)) return(if (most < n) evenly_spaced(n, most))
  total <- sum(times)
  if (most >= total) return(NULL)
  at <- round(seq(1, total, length.out = most))
  unique(pmin(findInterval(at, c(0, cumsum(times)), left.open = TRUE), n))
}

# A model that is not told its size takes seconds, not minutes: work grows with n size^2, and 4e9 of
# it is some seconds.
default_limit <- function(control, n) {
  if (isTRUE(control$modest)) max(100, min(1000, floor(sqrt(4e9 / n)))) else 1000
}

inform_limit <- function(control, limit) {
  name <- limit_name(control)
  inform("The basis stopped at ", limit, " rows",
         if (limit < 1000) " to take seconds rather than minutes", "; give `", name,
         "` (or `", name,
         " = Inf`) for more",
         if (limit < 1000) {
           paste0(": 1000 rows take about ", signif((1000 / limit)^2, 2), " times as long")
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
  x <- if (in_r(kernel)) row_numbers(data$x) else data$x
  source <- if (in_r(kernel)) {
    list(
      f = function(i, j) gram_in_r(kernel, x[i, , drop = FALSE], x[j, , drop = FALSE]),
      diagonal = kernel_diagonal(kernel, x)
    )
  } else {
    kernel_source(x, kernel, shift = row_shift(x, data$scaling))
  }
  fit <- run_engine(source, control, nrow(x), keep)
  basis <- new_basis(fit, control,
    n = nrow(x), kernel = kernel, scaling = data$scaling, input = data$input,
    vectors = storable(x[fit$index, , drop = FALSE]),
    center_vectors = if (length(fit$center)) storable(x[fit$center, , drop = FALSE])
  )
  list(basis = basis, factor = fit$factor)
}

# Columns that were centred need no further shift.
row_shift <- function(x, scaling) if (is.null(scaling)) core_shift(x) else numeric(ncol(x))

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
  judge_fit(fit, source, control, rule, n)
}

# What the engine found, or the error or warning that belongs to it.
judge_fit <- function(fit, source, control, rule, n) {
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
    input = input, updates = fit$updates, row_names = row_names, center_names = center_names,
    tol = control$tol
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
  if (is_sound(basis)) return(basis)
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
      is_rows_of(basis$center_vectors, centers, basis$input$width),
    kernel = is.null(basis$kernel) || valid_width(basis$kernel, basis$input$width)
  )
  if (!is.null(basis$kernel)) check_kernel(basis$kernel)
  remember_sound(basis, kept_fields)
  basis
}

# All that the validator looks at.
kept_fields <- c(
  "n", "index", "center_index", "shift", "row_names", "center_names", "vectors", "center_vectors",
  "kernel", "input", "scaling"
)

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
