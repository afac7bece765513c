#' kernelect: kernels that select
#'
#' Four questions about a table of data, answered with kernels:
#' 1. Which rows span the kernel space? [kernel_basis()], and on it [kernel_pca()],
#'    [kernel_lm()], [kernel_lda()], with [kernel_tune()] to choose kernel and size.
#' 2. Which columns matter? [kernel_rank()].
#' 3. Which kernels matter? [kernel_fusion()].
#' 4. Which directions of the kernel space discriminate? [kernel_takes()].
#'
#' Kernels are described on [kernels], their matrices on [gram()], and criteria that compare
#' a Gram matrix with classes on [kernel_alignment()].
#'
#' @section Options:
#' `kernelect.threads`: default number of threads (1). Results do not depend on it.
#' @keywords internal
#' @useDynLib kernelect, .registration = TRUE
"_PACKAGE"
