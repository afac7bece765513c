# How far the basis of kernel_lm() goes for one or two columns, where neither its size nor its
# tolerance is given.
#
# A tolerance of 0.01 is enough of a basis for most tables, but not for a curve or a surface. Where
# leave-one-out takes all of the basis, this goes on to a tenth of the tolerance, and again, as long
# as each step lowers the loss by a fiftieth, to at most a third of the rows: of more,
# leave-one-out says too little (bench/choose-defaults.R).

growing_methods <- c("fvs", "cholesky")
growing_columns <- 2
grown_share <- 1 / 3
grown_loss <- 0.98
least_tol <- 1e-4

# The regression on the basis that `learn(control)` finds. Fields: `parts`, what it found, without
# coordinates; `fit`; `rows`, their number.
fit_on <- function(learn, control, loo, ridge) {
  parts <- learn(control)
  on.exit(let_go(parts$z))
  z <- parts$z
  parts$z <- NULL # no longer coordinates
  parts$threads <- control$threads
  rows <- coordinate_rows(z)
  fit <- fit_over(z, parts$y, loo, ridge, parts$weights, parts$threads)
  let_go(z)
  list(parts = parts, fit = fit, rows = rows)
}

# The same on a basis that may go on.
fit_growing <- function(learn, control, ridge) {
  resume <- control$where$resume
  at <- function(control) {
    control$where$resume <- resume_at(resume, control$tol)
    fit_on(learn, control, TRUE, ridge)
  }
  best <- at(control)
  if (!isTRUE(best$parts$basis$input$width <= growing_columns)) return(best)
  first_tol <- control$tol
  most <- floor(grown_share * total_of(best$parts$weights, best$rows))
  control$size <- min(most, default_limit(control, best$rows), best$rows)
  while (wants_growth(best, control)) {
    control$tol <- control$tol / 10
    # what is said of the arguments was said once
    new <- suppressMessages(suppressWarnings(at(control), classes = "kernelect_warning"))
    longer <- basis_length(new) > basis_length(best)
    if (longer && least_loss(new) > grown_loss * least_loss(best)) break
    best <- new
  }
  best$parts$grown <- best$parts$basis$tol < first_tol
  best
}

wants_growth <- function(found, control) {
  found$parts$basis$stop == "tol" && control$tol > 1.5 * least_tol &&
    found$fit$size == basis_length(found) && basis_length(found) < control$size
}

basis_length <- function(found) length(found$parts$basis$index)

least_loss <- function(found) min(found$fit$loo$loss)

# The log of an earlier call goes with the tolerance that it was at.
resume_at <- function(resume, tol) {
  if (!is.null(resume) && identical(as_log(resume)$job$rule$tol, tol)) resume
}
