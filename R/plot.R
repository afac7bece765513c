# What all plots share: a colour-blind-safe palette (Okabe and Ito), margins that suit a report,
# defaults that `...` overrides, and graphical parameters put back as they were.

palette_classes <- c(
  "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000"
)

class_colours <- function(k) {
  if (k > length(palette_classes)) return(grDevices::hcl.colors(k, "Dark 3"))
  palette_classes[seq_len(k)]
}

# Report margins for the duration of the caller.
local_par <- function(..., frame = parent.frame()) {
  settings <- utils::modifyList(
    list(mar = c(4.1, 4.1, 2.6, 1.1), mgp = c(2.4, 0.7, 0), las = 1, tcl = -0.3, cex.main = 1.05,
         font.main = 1),
    list(...)
  )
  old <- graphics::par(settings)
  do.call(on.exit, list(substitute(graphics::par(old), list(old = old)), add = TRUE), envir = frame)
}

# Draw with `defaults`, each of which the user's `...` may replace.
draw <- function(f, defaults, ...) {
  given <- list(...)
  do.call(f, c(defaults[setdiff(names(defaults), names(given))], given))
}
