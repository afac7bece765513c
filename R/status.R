# What the core says of a computation: names as in src/ffi.c, kinds of condition and words here.
#   ok, not_converged: there is a result;  the others: there is none, or none to rely on.

status_table <- list(
  indefinite = list(kind = "indefinite", words = "The matrix is not positive semi-definite."),
  not_converged = list(kind = "convergence", words = "The iteration limit came first."),
  infeasible = list(kind = "infeasible", words = "There is no solution within the bounds."),
  not_finite = list(
    kind = "not_finite",
    words = paste0("Kernel values overflow: the data in `x` are too large. ",
                   "Standardise them, or divide them by a constant.")
  )
)

# Ends with the error that belongs to a status; `...` are words that fit the place better.
raise_status <- function(status, ...) {
  known <- status_table[[status]]
  abort(known$kind, if (...length()) paste0(...) else known$words)
}

# An entry of the core that has no result gives the name of a status in its place.
is_status <- function(answer) is.character(answer)

fail_overflow <- function() raise_status("not_finite")
