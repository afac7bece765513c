#' kernelect: kernels that select
#'
#' Four questions about a table of data, answered with kernels. New here? `vignette("kernelect")`
#' takes an hour through all of them. Every function, by what it is for:
#'
#' **Which rows span the kernel space?**
#' * [kernel_basis()] picks them, [`plot()`][plot.kernel_basis] shows how many are needed,
#'   [`predict()`][predict.kernel_basis] gives coordinates of new rows.
#'
#' **Models on such a basis**
#' * [kernel_lm()]: regression and classification.
#' * [kernel_lda()]: discriminant axes, posterior probabilities.
#' * [kernel_pca()]: principal components.
#' * [kernel_tune()]: kernel and size of a model by cross-validation.
#' * [plot_boundary()]: what a classifier has learned from two columns.
#'
#' **Which columns matter?**
#' * [kernel_rank()] ranks them, [`predict()`][predict.kernel_rank] takes the best of a table.
#'
#' **Which kernels matter?**
#' * [kernel_fusion()] weighs them; [kernel_on()] makes one for some columns, [noise_kernel()] one
#'   for noise.
#'
#' **Which directions of the kernel space discriminate?**
#' * [kernel_takes()] weighs them and classifies by what remains.
#'
#' **Kernels and their matrices**
#' * [rbf_kernel()], [laplace_kernel()], [linear_kernel()], [polynomial_kernel()],
#'   [sigmoid_kernel()], [spline_kernel()], [function_kernel()]: kernels.
#' * [as_kernel()]: kernels of the kernlab package.
#' * [gram()]: the matrix of kernel values.
#' * [kernel_alignment()], [kernel_separability()], [kernel_hsic()]: how well such a matrix fits
#'   classes.
#'
#' **Simulations of the papers**
#' * [simulate_two_gaussians()], [simulate_sinc()], [simulate_circles()], [simulate_weston()],
#'   [simulate_fusion()].
#'
#' Every model has `print()`, `summary()`, `plot()` and `predict()`; `coef()`, `fitted()`,
#' `residuals()` and `nobs()` work where they have a meaning.
#'
#' @section Options:
#' `kernelect.threads`: default number of threads (1). Results do not depend on it. There are never
#' more than processors, none beside the first for small work, and none in a forked child.
#'
#' @section Errors and warnings:
#' Every error is of class `kernelect_error` and of one that names its kind, every warning of
#' class `kernelect_warning` and of one that names its kind, for [tryCatch()].
#'
#' Errors `kernelect_error_` + `argument`, `dots` (an unknown argument), `data`, `columns`,
#' `missing_values`, `not_finite`, `formula`, `classes`, `levels`, `response`, `kernel`,
#' `indefinite` (no positive semi-definite matrix), `infeasible` (classes that no hard margin
#' separates), `singular`, `conditioning`, `vanished` (no kernel explains the response), `memory`,
#' `model` (a damaged model, or one without what is asked for), `text` (no model in it), `source`
#' (rows that cannot be read), `worker` (of a cluster, lost or silent), `package` (one that is not
#' installed).
#'
#' Warnings `kernelect_warning_` + `convergence`, `indefinite`, `conditioning` (rows of a basis so
#' nearly dependent that predictions are not those of the fit), `kernel` (a kernel that a given
#' basis overrules), `no_direction`, `vanished` (a fusion of kernels none of which tells classes
#' apart), `weights` (of cases, too light), `folds` (one that has all rows of a class).
#' @keywords internal
#' @useDynLib kernelect, .registration = TRUE
"_PACKAGE"

# Adapters that are more than S3 methods wait for their package, or find it loaded already.
.onLoad <- function(libname, pkgname) {
  when_loaded("parsnip", register_parsnip)
  when_loaded("mlr3filters", register_mlr3)
}

when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}
