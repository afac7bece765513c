#' Rank columns with kernels
#'
#' Which columns of a table separate the classes, or tell a number? Use it when columns may act
#' together rather than one by one (interactions), when there are more than two classes, or when the
#' data are too large for methods that hold an n by n matrix. `"sas"`, the default, learns one scale
#' factor per column so that the kernel aligns best with the response.
#'
#' @details
#' \tabular{llll}{
#'   method \tab what it does \tab kernels \tab response \cr
#'   \code{"sas"} \tab
#'     maximises the kernel's alignment with the response over scale factors
#'     \tab linear, RBF, Laplace, polynomial \tab classes, numbers \cr
#'   \code{"scss"} \tab
#'     the same for class separability, tr S_b / (tr S_w + eps), eps a tenth of tr S_w at the start
#'     \tab the same \tab classes \cr
#'   \code{"sfs"} \tab
#'     the same for the Frobenius product with the target
#'     \tab RBF, Laplace \tab classes, numbers \cr
#'   \code{"kfds"} \tab
#'     multiplies scale factors by the Fisher discriminant's normal vector until they settle
#'     \tab linear \tab one against rest \cr
#'   \code{"fisher"} \tab
#'     Fisher score of each column by itself (two classes: eq 1; more: between over within scatter)
#'     \tab none \tab classes \cr
#'   \code{"rfe"} \tab
#'     leaves out the column with the smallest squared weight of a linear SVM, again and again
#'     \tab linear \tab one against rest \cr
#'   \code{"arom"} \tab
#'     multiplies scale factors by the linear SVM's normal vector until they settle
#'     \tab linear \tab one against rest \cr
#'   \code{"r2w2"} \tab
#'     minimises the radius-margin bound of an SVM over scale factors
#'     \tab linear, RBF, Laplace, polynomial \tab one against rest \cr
#'   \code{"bahsic"} \tab
#'     leaves out the column whose removal costs least HSIC, again and again
#'     \tab any \tab classes, numbers \cr
#'   \code{"forward"} \tab
#'     the pair of columns whose product kernel aligns best, then one column at a time
#'     \tab any but user functions \tab classes, numbers \cr
#'   \code{"fusion"} \tab
#'     weights of \code{\link[=kernel_fusion]{kernel_fusion()}} with one rank-one kernel per column
#'     \tab linear \tab one against rest, numbers \cr
#'   \code{"gmkl"} \tab
#'     minimises the SVM's objective plus an L1 penalty over squared scale factors
#'     \tab linear, RBF, Laplace, polynomial \tab one against rest \cr
#' }
#'
#' With one against rest, weights of the classes are combined by their summed squares. Scale
#' factors of exactly duplicated columns are shared equally, which leaves the kernel as it is.
#' `"forward"` is the method for pure interactions such as y = sign(x1 x2) among many columns, which
#' give a gradient little to start from; `restarts` help `"sas"` with weaker ones. Constant columns
#' get score 0 and rank last.
#'
#' `"forward"` stops after `n` columns and ranks the others by how well the kernel would align
#' with each as the next one; `n = ncol(x)` takes all one by one. All pairs on all rows are compared
#' up to 2e10 products (1000 rows and 280 columns, say); beyond, the 1500 columns that are best
#' alone are paired on 300 evenly spaced rows, and the best 200 pairs compared on all rows. `"rfe"`
#' and `"bahsic"` leave out a tenth of the columns at a time while more than 500 are left.
#'
#' `"sas"`, `"scss"`, `"sfs"` and `"forward"` stream through the Gram matrix in tiles and take
#' O(n D) memory.
#'
#' @section Which method when:
#' The share (%) of the relevant columns that each method put first, with its defaults, among 30
#' columns and 200 rows, mean of 8 draws: a sum of three columns (linear), sign(x1 x2) (pair),
#' sign(x1 x2 x3) (triple), the length of three columns (radial), five classes made by three columns
#' (multiclass), a sum of three with ten followers at a correlation of 0.7 (correlated), and the
#' number x1 x2 + x3 (numbers), all with noise. Eight draws tell 100 from 50, not 100 from 90.
#' The script is `bench/recovery.R` in the sources.
#'
#' \tabular{lrrrrrrr}{
#'   method \tab linear \tab pair \tab triple \tab radial \tab multiclass \tab correlated
#'     \tab numbers \cr
#'   \code{"sas"} \tab 100 \tab 100 \tab 29 \tab 100 \tab 83 \tab 83 \tab 92 \cr
#'   \code{"sas"}, \code{restarts = 5} \tab 100 \tab 100 \tab 50 \tab 100 \tab 83 \tab 83
#'     \tab 92 \cr
#'   \code{"scss"} \tab 100 \tab 100 \tab 0 \tab 100 \tab 100 \tab 92 \tab  \cr
#'   \code{"sfs"} \tab 100 \tab 100 \tab 8 \tab 100 \tab 83 \tab 96 \tab 54 \cr
#'   \code{"kfds"} \tab 100 \tab 12 \tab 0 \tab 4 \tab 100 \tab 100 \tab  \cr
#'   \code{"fisher"} \tab 100 \tab 12 \tab 0 \tab 12 \tab 100 \tab 75 \tab  \cr
#'   \code{"rfe"} \tab 100 \tab 19 \tab 4 \tab 12 \tab 100 \tab 100 \tab  \cr
#'   \code{"arom"} \tab 100 \tab 12 \tab 4 \tab 8 \tab 100 \tab 100 \tab  \cr
#'   \code{"r2w2"} \tab 96 \tab 100 \tab 54 \tab 100 \tab 100 \tab 96 \tab  \cr
#'   \code{"bahsic"} \tab 100 \tab 100 \tab 50 \tab 100 \tab 92 \tab 92 \tab 100 \cr
#'   \code{"forward"} \tab 100 \tab 100 \tab 0 \tab 100 \tab 92 \tab 88 \tab 42 \cr
#'   \code{"fusion"} \tab 100 \tab 19 \tab 4 \tab 8 \tab 100 \tab 100 \tab 54 \cr
#'   \code{"gmkl"} \tab 100 \tab 100 \tab 38 \tab 100 \tab 100 \tab 100 \tab  \cr
#'   ranger, permutation \tab 100 \tab 88 \tab 17 \tab 100 \tab 100 \tab 83 \tab 62 \cr
#' }
#'
#' So: columns that act by themselves are found by any method, and followers are best told from
#' what they follow by the linear ones (`"kfds"`, `"rfe"`, `"arom"`, `"fusion"`) and by `"gmkl"`.
#' Pairs and distances need a kernel, which `"sas"`, `"scss"`, `"sfs"`, `"r2w2"`, `"gmkl"`,
#' `"bahsic"` and `"forward"` have. Interactions of three need more rows than these; `"r2w2"`,
#' `"bahsic"` and `"sas"` with restarts go farthest. For numbers take `"bahsic"` or `"sas"`. Where
#' rows are few and columns many take `"forward"`: it found the two columns of
#' `simulate_weston(30, type = "nonlinear")` among 52 in 20 of 20 draws, where `"sas"` did in 16 and
#' `"bahsic"`, which begins with all columns, in 5.
#'
#' @param x a numeric matrix or data frame (factor columns become indicator columns), or a formula;
#'   for `"fisher"`, `"rfe"` and `"arom"` also a sparse matrix, see [sparse].
#' @param y class labels: a factor (or character, logical) with at least two rows per class; or
#'   numbers, for `"sas"`, `"sfs"`, `"bahsic"`, `"forward"` and `"fusion"`.
#' @param formula,data a formula `y ~ .` and its data frame.
#' @param subset which rows of `data` to use, as in [lm()].
#' @param kernel a kernel, see [kernels]; its weights are the start of the scale factors. NULL: an
#'   RBF kernel with sigma half of `"mean"` for `"sas"`, `"scss"`, `"sfs"`, `"r2w2"` and `"gmkl"`;
#'   the same of the columns in the set at hand for `"bahsic"` and `"forward"`, so that the width
#'   grows with the set; else linear.
#' @param method one of the methods below.
#' @param optimizer for `"sas"`, `"scss"`, `"sfs"`: `"lbfgs"` (bound-constrained, in squared scale
#'   factors) or `"ascent"` (the paper's gradient ascent with backtracking).
#' @param max_iter most iterations of methods that iterate; beyond 2^20 none are made.
#' @param tol stop at a relative change of the criterion below this (of the scale factors for
#'   `"kfds"` and `"arom"`).
#' @param restarts for `"sas"`, `"scss"`, `"sfs"`: number of further, perturbed starts (R's random
#'   numbers); the best value wins. Beyond 600 rows they are tried on 300, and the best two that end
#'   elsewhere than the first go on with all rows.
#' @param ridge for `"kfds"`: added to the diagonal of N, in units of its mean. NULL means 0.01. For
#'   `"gmkl"`: the penalty at the start as a share of the SVM's objective. NULL means 0.1.
#' @param update for `"kfds"`: `"corrected"`, or `"printed"` for the algorithm as in the paper,
#'   which does not settle.
#' @param cost soft-margin constant C of the SVM in `"rfe"`, `"arom"`, `"r2w2"`, `"gmkl"` and
#'   `"fusion"`. NULL means 1/R^2, R the mean length of the rows in the kernel space (1 for
#'   `"fusion"`).
#' @param target `"balanced"` or `"plain"`, see [kernel_alignment()].
#' @param block rows of the data that a tile of the Gram matrix spans; NULL for 240. It changes
#'   memory and speed, not the result beyond rounding.
#' @param resample number B of stratified subsamples of half the rows on which the ranking is
#'   repeated, in parallel when a plan of the future package is set and future.apply is
#'   installed; and the same for 2 to 20 random permutations of `y` (200 over the number of
#'   columns).
#' @param n number of best columns that `predict()` and `resample` speak of, and that `"forward"`
#'   takes. For `resample` it must be below the number of columns to tell anything: otherwise every
#'   frequency is 1.
#' @param scale standardise the columns first.
#' @param na_action `"fail"` on missing values, or `"omit"` (or `"exclude"`) the rows that have
#'   them.
#' @param threads number of threads; the result does not depend on it.
#' @param verbose draw a progress bar over restarts, resamples and eliminations.
#' @param cluster a cluster of the package parallel (such as `parallel::makeCluster(2)`), or NULL.
#'   Its workers share the pairs of rows of `"sas"`, `"scss"` and `"sfs"`, and the resamples of any
#'   method; the ranking is the same, the value to 1e-12. Where there is nothing to share, that is
#'   said.
#' @param ... nothing else is accepted.
#' @returns An object of class `"kernel_rank"`, a list with
#'   * `score`: per column, named, larger is better: the scale factor w, the Fisher score, or
#'     D + 1 - rank for `"rfe"`, `"bahsic"` and `"forward"`.
#'   * `ranking`: column numbers, best first. Columns at zero rank among themselves by the
#'     criterion's gradient (`"sas"`, `"scss"`, `"sfs"`, `"r2w2"`) or last vanished first, then by
#'     number.
#'   * `weights`: scale factors w, and `kernel`: the kernel with those weights, ready for
#'     [kernel_lm()] and friends on data scaled alike (NULL for methods without scale factors).
#'   * `value`: the criterion reached (for `"r2w2"` the bound, NA for `"fisher"` and `"rfe"`).
#'   * `path`: data frame `iteration`, `value`, `step` (length of the move of w; for `"rfe"`,
#'     `"bahsic"` and `"forward"` the column taken).
#'   * `converged`: whether the stopping rule held before `max_iter`. For `"lbfgs"` that the value
#'     changed by less than `tol` (relative) three times in a row and that the projected gradient
#'     promises no scale factor a change of the value beyond 100 `tol`: another order of the rows
#'     then leads to the same value within some `tol`. For `"ascent"` and Laplace kernels, whose
#'     kinks have no gradient, the value alone is judged, and may still rise slowly.
#'   * `frequency`: share of resamples that had the column among the best `n`; NULL without.
#'   * `null`: the same share under permuted `y`, over all columns: its `mean` and its `95%` point.
#'     A frequency below the latter is what chance alone brings.
#'   * `method`, `n` (as given), `nobs`, `classes` (NULL for numbers), `scaling`, `input`.
#' @references Ramona, Richard and David (2012), Multiclass feature selection with kernel
#'   Gram-matrix-based criteria, IEEE Transactions on Neural Networks and Learning Systems 23,
#'   \doi{10.1109/TNNLS.2012.2201748}.
#'
#'   Guyon, Weston, Barnhill and Vapnik (2002), \doi{10.1023/A:1012487302797}, for RFE; Weston,
#'   Elisseeff, Schoelkopf and Tipping (2003) for AROM; Weston et al. (2000) for the radius-margin
#'   bound; Song et al. (2012) for BAHSIC; Varma and Babu (2009), More generality in efficient
#'   multiple kernel learning, for GMKL.
#' @examples
#' fit <- kernel_rank(iris[, 1:4], iris$Species)
#' fit
#' head(fit, 2)
#' head(predict(fit, iris, n = 2))
#'
#' set.seed(1)
#' x <- matrix(rnorm(100 * 6), 100)
#' kernel_rank(x, factor(x[, 2] * x[, 5] > 0), method = "forward")$ranking[1:2]
#' @family feature ranking
#' @export
kernel_rank <- function(x, ...) UseMethod("kernel_rank")

#' @rdname kernel_rank
#' @export
kernel_rank.default <- function(
  x, y, kernel = NULL,
  method = c("sas", "scss", "sfs", "kfds", "fisher", "rfe", "arom", "r2w2", "bahsic", "forward",
             "fusion", "gmkl"),
  optimizer = c("lbfgs", "ascent"), max_iter = 200, tol = 1e-6, restarts = 0, ridge = NULL,
  update = c("corrected", "printed"), cost = NULL, target = "balanced", block = NULL,
  resample = 0, n = 10, scale = TRUE, na_action = c("fail", "omit", "exclude"),
  threads = getOption("kernelect.threads", 1L), verbose = FALSE, ..., cluster = NULL
) {
  check_dots(...)
  control <- list(
    method = check_choice(method, "method", names(rank_methods)),
    cluster = if (!is.null(cluster)) check_cluster(cluster),
    optimizer = check_choice(optimizer, "optimizer", c("lbfgs", "ascent")),
    max_iter = min(check_whole(max_iter, "max_iter", min = 1), 2^20), # the path has room for them
    tol = check_number(tol, "tol", min = 0),
    restarts = check_whole(restarts, "restarts"),
    ridge = if (!is.null(ridge)) check_number(ridge, "ridge", min = 0),
    update = check_choice(update, "update", c("corrected", "printed")),
    cost = if (!is.null(cost)) check_number(cost, "cost", above = 0, finite = FALSE),
    target = check_choice(target, "target", c("balanced", "plain")),
    block = if (is.null(block)) 240 else check_whole(block, "block", min = 1),
    threads = check_threads(threads),
    verbose = check_flag(verbose, "verbose")
  )
  resample <- check_whole(resample, "resample")
  control$n <- check_whole(n, "n", min = 1)
  if (missing(y)) abort("argument", "`y` is missing: class labels or numbers, one per row of `x`.")
  spec <- rank_methods[[control$method]]
  if (is.null(spec$criterion) && !resample) inform_idle(control)
  if (is.null(control$ridge)) control$ridge <- spec$ridge
  control$follows <- is.null(kernel) && spec$default == "set"
  control$kernel <- rank_kernel(kernel, control$method)
  data <- model_data(x, y, scale, na_action)
  check_sparse_method(data$x, control$method)
  data$y <- rank_response(data$y, control$method)
  finish_model(rank_columns(data, control, resample), data, match.call(), y)
}

#' @rdname kernel_rank
#' @export
kernel_rank.formula <- function(formula, data, ..., subset) {
  fit_formula(kernel_rank.default, formula, data, match.call(), ...)
}

# A user who gave workers expects them to work.
inform_idle <- function(control) {
  if (is.null(control$cluster)) return(invisible())
  able <- names(Filter(function(spec) !is.null(spec$criterion), rank_methods))
  inform("`cluster` has nothing to do: method \"", control$method, "\" works in one process (",
         paste0("\"", able, "\"", collapse = ", "), " and `resample` share their work).")
}

# ---- from data to ranking ------------------------------------------------------------

rank_columns <- function(data, control, resample) {
  x <- data$x
  n <- control$n
  varies <- varying_columns(x)
  check_varying(varies, colnames(x))
  if (resample > 0 && n >= ncol(x)) {
    inform("`n` = ", format(n, scientific = FALSE), " is not below the number of columns, ",
           ncol(x), ": every column is among the best in every resample. Give a smaller `n`.")
  }
  draws <- list(real = list(y = data$y, rows = draw_subsamples(data$y, resample)))
  control$starts <- draw_starts(ncol(x), control$restarts)
  draws$null <- draw_null(data$y, resample, ncol(x), n)
  control$kernel <- resolve_kernel(control$kernel, x)
  if (control$follows) control$variance <- column_variance(x)
  fit <- rank_varying(x, data$y, control, varies)
  fit <- c(fit, selection_frequency(x, control, draws))
  if (!fit$converged) warn_rank(control, fit$path)
  new_kernel_rank(fit, data, control)
}

varying_columns <- function(x) {
  if (is_sparse(x)) return(!sparse_constant(x, rep(1, length(x$value)), nrow(x)))
  for_columns(x, function(part) .Call(ffi_column_sd, part, colMeans(part))) > 0
}

check_varying <- function(varies, names) {
  if (!any(varies)) abort("data", "All columns of `x` are constant: there is nothing to rank.")
  if (all(varies)) return(invisible())
  constant <- which(!varies)
  shown <- backticked(if (is.null(names)) constant else names[constant])
  inform(length(constant), if (length(constant) > 1L) " columns are" else " column is",
         " constant and ranked last with score 0: ", shown, ".")
}

# The ranking of the columns that vary, with the others put back at score 0.
rank_varying <- function(x, y, control, varies) {
  if (!all(varies)) {
    x <- x[, varies, drop = FALSE]
    control$kernel <- kernel_columns(control$kernel, varies)
    control$starts <- control$starts[varies, , drop = FALSE]
    control$variance <- control$variance[varies]
  }
  rank <- get(rank_methods[[control$method]]$fit, mode = "function")
  fit <- rank(x, y, control)
  where <- which(varies)
  fit$ranking <- c(where[order(-fit$score, -fit$tie, seq_along(where))], which(!varies))
  fit$score <- replace(numeric(length(varies)), where, fit$score)
  if (fit$ordinal) fit$score[fit$ranking[seq_along(where)]] <- length(varies) + 1 - seq_along(where)
  if (!is.null(fit$weights)) fit$weights <- replace(numeric(length(varies)), where, fit$weights)
  if (fit$ordinal && nrow(fit$path)) fit$path$step <- where[fit$path$step]
  fit
}

# What every method returns. `tie` orders columns of equal score; `ordinal` methods order the
# columns only, and their score is made from the ranks.
method_result <- function(score, tie = numeric(length(score)), weights = NULL, value = NA_real_,
                          path = empty_path(), converged = TRUE, ordinal = FALSE) {
  list(score = score, tie = tie, weights = weights, value = value, path = path,
       converged = converged, ordinal = ordinal)
}

empty_path <- function() data.frame(iteration = integer(), value = numeric(), step = numeric())

warn_rank <- function(control, path) {
  change <- if (nrow(path) > 1L) format(relative_change(path$value), digits = 2)
  printed <- rank_methods[[control$method]]$updates && control$update == "printed"
  warn("convergence", "Method \"", control$method, "\" did not converge in ", control$max_iter,
       " iteration", if (control$max_iter > 1L) "s",
       if (!is.null(change)) paste0(" (last relative change of the value: ", change, ")"),
       ". Raise `max_iter`, or `tol`, if the best columns still change.",
       if (printed) " The update as printed never settles: use `update = \"corrected\"`.")
}

relative_change <- function(values) {
  last <- utils::tail(values, 2L)
  abs(last[2L] - last[1L]) / abs(last[2L])
}

new_kernel_rank <- function(fit, data, control) {
  columns <- data$input$columns
  if (is.null(columns)) columns <- paste0("column", seq_along(fit$score))
  named <- function(v) if (!is.null(v)) stats::setNames(v, columns)
  kernel <- NULL
  if (!is.null(fit$weights)) {
    kernel <- control$kernel
    kernel$weights <- stats::setNames(fit$weights, data$input$columns)
  }
  new_model("kernel_rank", list(
    score = named(fit$score), ranking = fit$ranking, weights = named(fit$weights),
    kernel = kernel, value = fit$value, path = fit$path, converged = fit$converged,
    method = control$method, frequency = named(fit$frequency), null = fit$null,
    n = control$n, nobs = data$n,
    classes = levels(data$y), scaling = data$scaling, input = data$input
  ))
}

# ---- randomness, drawn up front so that parallel and serial runs agree ------------------

draw_subsamples <- function(y, count) {
  strata <- if (is.factor(y)) split(seq_along(y), y) else list(seq_along(y))
  lapply(seq_len(count), function(b) {
    half <- lapply(strata, function(i) i[sample.int(length(i), max(2L, ceiling(length(i) / 2)))])
    sort(unlist(half, use.names = FALSE))
  })
}

# Responses that have nothing to do with the columns, with subsamples of their own: as many as give
# some two hundred shares, between two and twenty.
draw_null <- function(y, count, columns, n) {
  if (!count || n >= columns) return(NULL)
  lapply(seq_len(min(20, max(2, ceiling(200 / columns)))), function(p) {
    permuted <- y[sample.int(length(y))]
    list(y = permuted, rows = draw_subsamples(permuted, count))
  })
}

# Factors on the start: log-normal, a column each.
draw_starts <- function(columns, count) {
  matrix(exp(stats::rnorm(columns * count, sd = 0.5)), columns, count)
}

# ---- how sure is a ranking? --------------------------------------------------------------

# Shares of subsamples with a column among the best n, for the response and, as a measure of what
# chance alone brings, for permuted ones.
selection_frequency <- function(x, control, draws) {
  count <- length(draws$real$rows)
  if (!count) return(NULL)
  verbose <- control$verbose
  cluster <- control$cluster
  control$verbose <- FALSE
  control$cluster <- NULL # a worker works alone
  all <- c(draws["real"], draws$null)
  jobs <- unlist(lapply(all, function(draw) lapply(draw$rows, function(i) list(draw$y, i))),
                 recursive = FALSE, use.names = FALSE)
  best <- parallel_lapply(jobs, function(job) {
    best_of_rows(x, job[[1L]], control, job[[2L]])
  }, verbose, cluster)
  share <- vapply(seq_along(all), function(draw) {
    tabulate(unlist(best[(draw - 1L) * count + seq_len(count)]), ncol(x)) / count
  }, numeric(ncol(x)))
  inform_empty(sum(!lengths(best[seq_len(count)])), count)
  share <- matrix(share, ncol(x))
  by_chance <- if (ncol(share) > 1L) share[, -1L] else share
  null <- c(mean = mean(by_chance), `95%` = stats::quantile(by_chance, 0.95, names = FALSE))
  list(frequency = share[, 1L], null = null)
}

# The best columns of some rows; none where no column, or not the response, varies among them.
best_of_rows <- function(x, y, control, rows) {
  part <- x[rows, , drop = FALSE]
  varies <- varying_columns(part)
  y <- y[rows]
  if (!any(varies) || (is.numeric(y) && max(y) == min(y))) return(integer())
  if (is.factor(y)) y <- droplevels(y)
  utils::head(rank_varying(part, y, control, varies)$ranking, control$n)
}

inform_empty <- function(empty, count) {
  if (!empty) return(invisible())
  inform("In ", empty, " of ", count, " subsamples all columns are constant: ",
         "no column counts as among the best there.")
}
