# Kernels in words: their labels and formulas.

#' @export
print.kernelect_kernel <- function(x, ...) {
  cat("<", kernel_label(x), ">\n", sep = "")
  detail <- if (!is_combined(x)) spec_of(x)$detail(x)
  cat("k(x, z) = ", paste(c(kernel_formula(x), detail), collapse = ", "), "\n", sep = "")
  print_weights(x$weights, "weights: ")
  if (is_combined(x)) {
    leaves <- over_leaves(x, identity)
    weighted <- which(!vapply(leaves, function(k) is.null(k$weights), NA))
    for (i in utils::head(weighted, 6L)) {
      print_weights(leaves[[i]]$weights, paste0("weights of the ", leaf_label(leaves[[i]]), ": "))
    }
  }
  invisible(x)
}

print_weights <- function(w, title) {
  if (is.null(w)) return(invisible())
  shown <- utils::head(w, 5L)
  text <- trimws(paste(names(shown), format(shown, digits = 4)))
  more <- if (length(w) > 5L) sprintf(", ... (%d)", length(w))
  cat(title, paste(text, collapse = ", "), more, "\n", sep = "")
}

kernel_label <- function(kernel) {
  if (is_combined(kernel)) return(combined_words(kernel, leaf_label))
  spec <- spec_of(kernel)
  paste(c(paste(spec$label, "kernel"), spec$parameter(kernel)), collapse = ", ")
}

leaf_label <- function(kernel) {
  spec <- spec_of(kernel)
  parameter <- spec$parameter(kernel)
  paste0(spec$label, " kernel", if (!is.null(parameter)) paste0(" (", parameter, ")"))
}

kernel_formula <- function(kernel) combined_words(kernel, function(k) spec_of(k)$formula(k))

# Words of the leaves with the signs between them, in brackets where these are needed.
combined_words <- function(kernel, words) {
  if (!is_combined(kernel)) return(words(kernel))
  parts <- vapply(kernel$parts, function(part) {
    text <- combined_words(part, words)
    inner <- is_combined(part) && length(part$parts) > 1L && part$type != kernel$type
    if (inner && part$scale == 1 && needs_brackets(part, kernel)) paste0("(", text, ")") else text
  }, "")
  text <- paste(parts, collapse = combinations[[kernel$type]]$sign)
  if (kernel$scale == 1) return(text)
  several <- length(parts) > 1L && kernel$type == "sum"
  paste(six_digits(kernel$scale), if (several) paste0("* (", text, ")") else paste("*", text))
}

needs_brackets <- function(part, whole) part$type == "sum" && whole$type == "product"
