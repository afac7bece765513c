# Memory: what is known beforehand not to fit is refused before the work; what R cannot allocate on
# the way is an error of ours, too.

gram_remedy <-
  "Use `kernel_basis()` and models on a basis, which never form it, or fewer rows."

# `count`: so many matrices of that size at the same time.
check_memory <- function(rows, columns, remedy = gram_remedy, count = 1) {
  bytes <- 8 * count * as.double(rows) * as.double(columns)
  limit <- .Call(ffi_memory_limit)
  if (bytes > limit) {
    size <- format(c(rows, columns), big.mark = ",", scientific = FALSE, trim = TRUE)
    abort("memory", if (count == 1) "A " else paste0(count, " matrices of "), size[1L], " x ",
          size[2L], if (count == 1) " matrix needs " else " need ", format_bytes(bytes),
          " and this machine has ", format_bytes(limit), ". ", remedy)
  }
}

format_bytes <- function(bytes) {
  units <- c("bytes", "kB", "MB", "GB", "TB", "PB", "EB")
  step <- min(floor(log(max(bytes, 1), 1000)), length(units) - 1)
  paste(format(bytes / 1000^step, digits = 3), units[step + 1])
}

# ---- allocations that fail -----------------------------------------------------------------

# Runs `code`; where R or glue could not allocate memory, the error says so in our words. What else
# goes wrong stays as it is.
within_memory <- function(code) {
  withCallingHandlers(code, error = function(e) {
    if (!inherits(e, "kernelect_error") && is_allocation(conditionMessage(e))) fail_allocation(e)
  })
}

fail_allocation <- function(e) {
  text <- conditionMessage(e)
  asked <- regmatches(text, regexpr("[0-9]+[.,]?[0-9]* [KMGT]b", text))
  abort("memory", "Memory ran out",
        if (length(asked)) paste0(": there are no ", asked, " more to be had"), ". ",
        "Use fewer rows or a smaller `size`, predict in parts, or free memory with `rm()`.")
}

# R gives its failures no class: they are known by their words, in the language of the session.
is_allocation <- function(text) {
  words <- vapply(allocation_words, gettext, "", domain = "R")
  escaped <- gsub("([][(){}^$.|*+?\\\\])", "\\\\\\1", gsub("%(0?[.0-9]*[fu]|lld)", "@", words))
  any(vapply(gsub("@", "[0-9.,]+", escaped), grepl, NA, text))
}

allocation_words <- c(
  "cannot allocate vector of size %0.1f Gb", "cannot allocate vector of size %0.1f Mb",
  "cannot allocate vector of size %0.1f Kb", "cannot allocate vector of length %lld",
  "cannot allocate memory block of size %0.1f Tb", "memory exhausted (limit reached?)",
  "vector memory exhausted (limit reached?)",
  "vector memory limit of %0.1f Gb reached, see mem.maxVSize()"
)

# The functions that work on data, by name: fits, predictions, Gram matrices and their criteria.
is_worker <- function(name) {
  grepl("^kernel_[a-z]+[.](default|formula)$|^predict[.]kernel_[a-z]+$", name) |
    name %in% c("gram", "kernel_alignment", "kernel_hsic", "kernel_separability")
}

# The function with its body within_memory().
guarded <- function(f) {
  body(f) <- call("within_memory", body(f))
  f
}
