# Keys of plots: what colours and symbols mean, above the plot, where they cover nothing.

above_strip <- 1.25

# One line above the plot, where it covers nothing: symbols with their labels.
strip_lines <- function(labels) {
  list(symbol = 1.1, gap = 1, text = 0.85 * lines_a_letter * 1.1 * nchar(labels))
}

strip_fits <- function(labels) {
  lines <- strip_lines(labels)
  sum(lines$text) + length(labels) * (lines$symbol + lines$gap) < lines_across()
}

add_strip <- function(labels, col, pch = NULL, lty = NULL) {
  line <- graphics::par("csi")
  wide <- graphics::strwidth(labels, "inches", cex = 0.85)
  symbol <- line * if (is.null(lty)) 0.6 else 1.6
  step <- symbol + 0.4 * line + wide + line
  total <- sum(step) - line
  middle <- graphics::grconvertX(0.5, "npc", "inches")
  most <- graphics::grconvertX(1, "nfc", "inches") - 0.3 * line
  start <- max(graphics::grconvertX(0, "nfc", "inches") + 0.3 * line,
               min(middle - total / 2, most - total))
  left <- start + cumsum(c(0, step[-length(step)]))
  user <- function(inches) graphics::grconvertX(inches, "inches", "user")
  top <- graphics::grconvertY(1, "npc", "inches")
  y <- graphics::grconvertY(top + 0.45 * line, "inches", "user")
  if (!is.null(lty)) {
    graphics::segments(user(left), y, user(left + symbol), y, col = col, lty = lty, lwd = 2,
                       xpd = NA)
  }
  if (!is.null(pch)) {
    graphics::points(user(left + symbol / 2), rep(y, length(labels)), pch = pch, col = col,
                     cex = 0.85, xpd = NA)
  }
  graphics::text(user(left + symbol + 0.4 * line), y, labels, adj = c(0, 0.5), cex = 0.85, xpd = NA)
}

# The strip where it fits, else a legend in the room that limits_with_key() left.
add_key <- function(labels, col, pch = NULL, lty = NULL) {
  if (strip_fits(labels)) return(add_strip(labels, col, pch, lty))
  look <- c(if (!is.null(pch)) list(pch = pch), if (!is.null(lty)) list(lty = lty, lwd = 2))
  key <- function(cex, ...) {
    do.call(graphics::legend, c(list("topright", labels, col = col, cex = cex, bg = "#FFFFFFCC",
                                     box.col = NA, inset = 0.005, ...), look))$rect
  }
  box <- key(0.85, plot = FALSE)
  usr <- graphics::par("usr")
  key(0.85 * min(1, most_for_key * (usr[2L] - usr[1L]) / box$w, (usr[4L] - usr[3L]) / box$h))
  graphics::box()
}

# Limits of an axis, with room at its right for a legend that does not fit above the plot.
limits_with_key <- function(at, labels, log = FALSE) {
  at <- at[is.finite(at)]
  ends <- range(if (log) log(at) else at)
  if (length(labels) > 1L && !strip_fits(labels)) {
    inches <- 0.85 * (4 + lines_a_letter * max(nchar(labels))) * graphics::par("csi")
    share <- min(most_for_key, inches / graphics::par("pin")[1L])
    ends[2L] <- ends[2L] + max(diff(ends), 1e-3 * abs(ends[2L])) * share / (1 - share)
  }
  if (log) exp(ends) else ends
}

# The part of the plot's width that a legend may take.
most_for_key <- 0.4

# Where the title goes.
title_over <- function(labels) if (length(labels) > 1L && strip_fits(labels)) above_strip else 0.9

# The colours of numbers as a strip above the plot, with the numbers at its ends.
add_scale <- function(values, shades = 64L) {
  ends <- range(values, finite = TRUE)
  edge <- function(share) graphics::grconvertX(share, "npc", "user")
  height <- function(lines) {
    graphics::grconvertY(graphics::grconvertY(1, "npc", "inches") + lines * graphics::par("csi"),
                         "inches", "user")
  }
  at <- edge(seq(0.3, 0.7, length.out = shades + 1L))
  graphics::rect(at[-length(at)], height(0.25), at[-1L], height(0.65), xpd = NA, border = NA,
                 col = number_colours(seq(0, 1, length.out = shades), shades))
  ends <- format(ends, digits = 3, trim = TRUE)
  graphics::text(edge(0.28), height(0.45), ends[1L], adj = c(1, 0.5), cex = 0.85, xpd = NA)
  graphics::text(edge(0.72), height(0.45), ends[2L], adj = c(0, 0.5), cex = 0.85, xpd = NA)
}
