# Long loops: in parallel where the user has set a plan, with a progress bar where asked for, and
# with random numbers of their own.

parallel_plan <- function() {
  is_installed("future.apply") && !inherits(future::plan(), "sequential")
}

# f(x[[1]]), f(x[[2]]), ...; it must not depend on the state of the random numbers.
parallel_lapply <- function(x, f, verbose, cluster = NULL) {
  if (!is.null(cluster)) return(cluster_lapply(cluster, x, f))
  if (parallel_plan()) {
    return(future.apply::future_lapply(x, f, future.packages = "kernelect", future.seed = NULL))
  }
  tick <- progress(verbose, length(x))
  on.exit(tick(close = TRUE))
  lapply(x, function(element) {
    out <- f(element)
    tick()
    out
  })
}

# A bar is drawn when `verbose` asks for it and, where a person is looking, once a job has taken
# two seconds: NA means the latter.
show_progress <- function(verbose) if (verbose) TRUE else if (interactive()) NA else FALSE

# A function that moves a progress bar on by one, or does nothing.
progress <- function(verbose, count, show = show_progress(verbose)) {
  if (isFALSE(show) || count < 1L) return(function(close = FALSE) invisible())
  new_bar <- function() utils::txtProgressBar(max = count, style = 3, file = stderr())
  bar <- if (isTRUE(show)) new_bar()
  start <- proc.time()[["elapsed"]]
  done <- 0
  function(close = FALSE) {
    if (close) return(invisible(if (!is.null(bar)) close(bar)))
    done <<- done + 1
    if (is.null(bar) && proc.time()[["elapsed"]] - start >= 2) bar <<- new_bar()
    if (!is.null(bar)) utils::setTxtProgressBar(bar, done)
    invisible()
  }
}

# run() with a generator of its own: the user's is put back, also where there was none yet.
preserve_seed <- function(seed, run) {
  seed <- check_whole(seed, "seed", min = -.Machine$integer.max)
  had <- exists(".Random.seed", globalenv(), inherits = FALSE)
  old <- if (had) get(".Random.seed", globalenv(), inherits = FALSE)
  kind <- as.list(RNGkind())
  on.exit(if (had) {
    assign(".Random.seed", old, globalenv())
  } else {
    suppressWarnings(do.call(RNGkind, kind)) # "Rounding" warns
    rm(".Random.seed", envir = globalenv())
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  run()
}
