# Sums, products and positive multiples of kernels.

#' @export
Ops.kernelect_kernel <- function(e1, e2) {
  operands <- if (missing(e2)) list(e1) else list(e1, e2)
  number <- vapply(operands, is.numeric, NA)
  if (.Generic == "*" && length(operands) == 2L && any(number)) {
    return(scaled_kernel(operands[[which(!number)]], operands[[which(number)]]))
  }
  if (length(operands) == 1L || any(number) || !.Generic %in% c("+", "*")) {
    refuse_operation(.Generic, any(number))
  }
  combined_kernel(if (.Generic == "+") "sum" else "product", lapply(operands, as_kernel))
}

refuse_operation <- function(sign, number) {
  why <- switch(sign,
    "-" = "a difference of kernels is in general no kernel",
    "/" = "divide by a number as in `(1 / 2) * k`",
    "+" = if (number) "add a constant as in `k + polynomial_kernel(degree = 1, offset = 1)`"
  )
  abort("kernel", "Kernels cannot take part in `", sign, "`",
        if (!is.null(why)) paste0(": ", why), ". They add (`k1 + k2`), multiply (`k1 * k2`) and ",
        "take a positive factor (`2 * k`).")
}

scaled_kernel <- function(kernel, factor) {
  if (!is_number(factor) || !is.finite(factor) || factor <= 0) {
    abort("argument", "A kernel can be multiplied by a single positive finite number, not ",
          describe(factor), ".")
  }
  kernel <- as_kernel(kernel)
  if (!is_combined(kernel)) kernel <- combined_kernel("product", list(kernel))
  kernel$scale <- kernel$scale * factor
  check_kernel(kernel)
}

# Sums within sums and products within products are taken apart, where nothing lies between.
combined_kernel <- function(type, parts) {
  scale <- 1
  flat <- list()
  for (part in parts) {
    apart <- identical(part$type, type) && is.null(part$weights) &&
      (type == "product" || part$scale == 1)
    if (apart) scale <- scale * part$scale
    flat <- c(flat, if (apart) part$parts else list(part))
  }
  kernel <- list(type = type, scale = scale, parts = flat, weights = NULL)
  check_kernel(structure(kernel, class = "kernelect_kernel"))
}

kernel_depth <- function(kernel) {
  if (is_combined(kernel)) 1 + max(vapply(kernel$parts, kernel_depth, 0)) else 0
}
