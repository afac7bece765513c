# Long loops: in parallel where the user has set a plan, with a progress bar where asked for.

parallel_plan <- function() {
  requireNamespace("future.apply", quietly = TRUE) && !inherits(future::plan(), "sequential")
}

parallel_lapply <- function(x, f) {
  if (!parallel_plan()) return(lapply(x, f))
  future.apply::future_lapply(x, f, future.packages = "kernelect")
}

# A function that moves a progress bar on by one, or does nothing.
progress <- function(show, count) {
  if (!show || count < 1L) return(function(close = FALSE) invisible())
  bar <- utils::txtProgressBar(max = count, style = 3, file = stderr())
  done <- 0
  function(close = FALSE) {
    if (close) return(invisible(close(bar)))
    done <<- done + 1
    utils::setTxtProgressBar(bar, done)
  }
}
