# Keys of plots: what colours and symbols mean, above the plot, where they cover nothing.

above_strip <- 1.25

# From one row of a key to the next, and what title and first row take, in lines.
key_line <- 0.85
title_lines <- 0.75

# How a key stands above the plot: in as few rows of equal columns as hold it, rather in smaller
# letters than not at all. NULL where the margin has no room for it.
key_layout <- function(labels) {
  room <- graphics::par("mar")[3L] - above_strip - title_lines
  most <- 1 + max(0, floor(room / key_line + 1e-9))
  for (cex in c(0.85, 0.75, 0.65)) {
    for (columns in unique(ceiling(length(labels) / seq_len(most)))) {
      column <- (seq_along(labels) - 1L) %% columns + 1L
      letters <- tapply(nchar(labels), column, max)
      if (sum(1.1 * lines_a_letter * letters + 2.1 / 0.85) * cex >= lines_across()) next
      rows <- ceiling(length(labels) / columns)
      return(list(column = column, row = (seq_along(labels) - 1L) %/% columns, rows = rows,
                  cex = cex))
    }
  }
}

# Symbols with their labels. In a wide font all is smaller than planned.
add_strip <- function(labels, col, pch = NULL, lty = NULL, layout = key_layout(labels)) {
  if (is.null(layout)) {
    layout <- list(column = seq_along(labels), row = 0 * nchar(labels), rows = 1, cex = 0.65)
  }
  line <- graphics::par("csi")
  edges <- graphics::grconvertX(0:1, "nfc", "inches") + c(0.3, -0.3) * line
  symbol <- if (is.null(lty)) 0.6 else 1.6
  inches <- function(lines) lines * line * layout$cex / 0.85
  size <- function() {
    wide <- tapply(graphics::strwidth(labels, "inches", cex = layout$cex), layout$column, max)
    inches(symbol + 0.4 + 1) + wide
  }
  total <- function() sum(size()) - inches(1)
  layout$cex <- layout$cex * min(1, diff(edges) / total())
  middle <- graphics::grconvertX(0.5, "npc", "inches")
  start <- max(edges[1L], min(middle - total() / 2, edges[2L] - total()))
  left <- (start + cumsum(c(0, size())))[layout$column]
  user <- function(inches) graphics::grconvertX(inches, "inches", "user")
  height <- graphics::grconvertY(1, "npc", "inches") +
    line * (0.45 + key_line * (layout$rows - 1L - layout$row))
  y <- graphics::grconvertY(height, "inches", "user")
  if (!is.null(lty)) {
    graphics::segments(user(left), y, user(left + inches(symbol)), y, col = col, lty = lty,
                       lwd = 2, xpd = NA)
  }
  if (!is.null(pch)) {
    graphics::points(user(left + inches(symbol / 2)), y, pch = pch, col = col, cex = layout$cex,
                     xpd = NA)
  }
  graphics::text(user(left + inches(symbol + 0.4)), y, labels, adj = c(0, 0.5), cex = layout$cex,
                 xpd = NA)
}

# The strip where it fits, else a legend in the room that limits_with_key() left.
add_key <- function(labels, col, pch = NULL, lty = NULL) {
  layout <- key_layout(labels)
  if (!is.null(layout)) return(add_strip(labels, col, pch, lty, layout))
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
  if (length(labels) > 1L && is.null(key_layout(labels))) {
    inches <- 0.85 * (4 + lines_a_letter * max(nchar(labels))) * graphics::par("csi")
    share <- min(most_for_key, inches / graphics::par("pin")[1L])
    ends[2L] <- ends[2L] + max(diff(ends), 1e-3 * abs(ends[2L])) * share / (1 - share)
  }
  if (log) exp(ends) else ends
}

# The part of the plot's width that a legend may take.
most_for_key <- 0.4

# Where the title goes.
title_over <- function(labels) {
  rows <- if (length(labels) > 1L) key_layout(labels)$rows
  if (is.null(rows)) 0.9 else above_strip + key_line * (rows - 1)
}

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
