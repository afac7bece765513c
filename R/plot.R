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
  taken <- intersect(c("x", "y", "height"), names(given))
  if (length(taken)) abort("dots", "Unknown argument: `", taken[1L], "`. What is drawn comes from the model; see its help page.")
  do.call(f, c(defaults[setdiff(names(defaults), names(given))], given))
}

# Two columns of points, by class where classes are given. Returns the data frame drawn.
plot_groups <- function(points, classes = NULL, ...) {
  data <- as.data.frame(points)
  group <- if (is.null(classes)) rep(1L, nrow(points)) else as.integer(factor(classes))
  if (!is.null(classes)) {
    check_response_length(classes, nrow(points), "classes")
    data$class <- factor(classes)
  }
  k <- max(group, 1L, na.rm = TRUE)
  symbols <- rep(c(16, 17, 15, 18, 1, 2, 0, 5), length.out = k)
  local_par()
  draw(graphics::plot, list(
    x = points[, 1L], y = points[, 2L], col = grDevices::adjustcolor(class_colours(k)[group], 0.75),
    pch = symbols[group], cex = 0.8
  ), ...)
  if (!is.null(classes)) {
    graphics::legend("topright", levels(data$class), col = class_colours(k), pch = symbols, bg = "#FFFFFFCC",
                     box.col = NA, cex = 0.85)
  }
  invisible(data)
}

# Rows by class and fitted class: shade by share of the class, counts in the cells.
plot_confusion <- function(confusion, title, ...) {
  k <- nrow(confusion)
  share <- confusion / pmax(rowSums(confusion), 1)
  local_par(mar = c(4.1, 6.1, 2.6, 1.1))
  shades <- grDevices::colorRampPalette(c("#FFFFFF", palette_classes[1L]))(64L)
  draw(graphics::image, list(
    x = seq_len(k), y = seq_len(k), z = t(unclass(share)[k:1L, , drop = FALSE]), zlim = c(0, 1), col = shades, axes = FALSE,
    xlab = "fitted class", ylab = "", main = title
  ), ...)
  graphics::axis(1, seq_len(k), colnames(confusion), tick = FALSE)
  graphics::axis(2, seq_len(k), rev(rownames(confusion)), tick = FALSE)
  graphics::mtext("class", 2, line = 5, las = 0, cex = graphics::par("cex"))
  counts <- confusion[k:1L, , drop = FALSE]
  graphics::text(col(counts), row(counts), counts, col = ifelse(share[k:1L, , drop = FALSE] > 0.5, "white", "black"))
  graphics::box()
  invisible(confusion)
}
