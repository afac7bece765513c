# What all plots share: a colour-blind-safe palette (Okabe and Ito, whose yellow is lost on white,
# with a grey in its place), defaults that `...` overrides, titles and legends that fit, and
# graphical parameters put back as they were.

palette_classes <- c(
  "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F"
)

class_colours <- function(k) {
  if (k > length(palette_classes)) return(grDevices::hcl.colors(k, "Dark 3"))
  palette_classes[seq_len(k)]
}

class_symbols <- function(k) rep_len(c(16, 17, 15, 18, 1, 2, 0, 5), k)

# A colour on its way to white, opaque: translucent tiles show their seams.
tint <- function(colours, share) {
  grDevices::rgb(t(255 - share * (255 - grDevices::col2rgb(colours))), maxColorValue = 255)
}

# ---- room ---------------------------------------------------------------------------

# Text settings for the duration of the caller. Margins stay the user's unless `mar` is among
# them, for whoever puts other margins back moves what the user adds to the plot.
local_par <- function(..., frame = parent.frame()) {
  settings <- utils::modifyList(
    list(mgp = c(2.5, 0.7, 0), las = 1, tcl = -0.3, cex.main = 1.05, font.main = 1), list(...)
  )
  old <- graphics::par(settings)
  do.call(on.exit, list(substitute(graphics::par(old), list(old = old)), add = TRUE), envir = frame)
}

# The user's margins, wider where `lines` are needed.
wider <- function(side, lines) {
  mar <- graphics::par("mar")
  replace(mar, side, pmax(mar[side], lines))
}

# Tick labels upright while they leave the label of the axis its place, else along the axis.
upright <- function(values) {
  values <- values[is.finite(values)]
  if (length(values) && nchar(format(pretty(values))[1L]) > 4L) 0 else 1
}

# Long names keep both ends: the numbers that tell them apart are often last.
shorten <- function(names, most) {
  long <- nchar(names) > most
  end <- (most - 2L) %/% 3L
  names[long] <- paste0(substr(names[long], 1L, most - 2L - end), "..",
                        substring(names[long], nchar(names[long]) - end + 1L))
  names
}

lines_a_letter <- 0.46
lines_across <- function() graphics::par("fin")[1L] / (graphics::par("csi") * graphics::par("mex"))

# Names for the left margin and the lines they take there, at most `share` of the figure.
side_names <- function(names, most = 24L, share = 0.45) {
  room <- share * lines_across() - 1.5
  names <- shorten(names, max(6L, min(most, floor(room / lines_a_letter))))
  list(names = names, lines = 1.5 + lines_a_letter * max(nchar(names)))
}

# ---- drawing ------------------------------------------------------------------------

# Draw with `defaults`, each of which the user's `...` may replace.
draw <- function(f, defaults, ...) {
  given <- list(...)
  taken <- intersect(c("x", "y", "height"), names(given))
  if (length(taken)) {
    abort("dots", "Unknown argument: `", taken[1L],
          "`. What is drawn comes from the model; see its help page.")
  }
  settings <- c(defaults[setdiff(names(defaults), names(given))], given)
  title <- settings$main
  if (!is.null(title)) settings$main <- ""
  do.call(f, settings)
  if (is.null(title) || identical(settings$ann, FALSE)) return(invisible())
  look <- c("cex.main", "font.main", "col.main")
  add_title(title,
    utils::modifyList(graphics::par(look), settings[intersect(look, names(settings))]))
}

# Above the middle of the plot, or of the figure, where there is more room.
add_title <- function(title, look) {
  width <- graphics::strwidth(title, "inches", cex = look$cex.main, font = look$font.main)
  above <- width < graphics::par("pin")[1L] + 2 * min(graphics::par("mai")[c(2L, 4L)])
  shrink <- min(1, 0.94 * graphics::par("fin")[1L] / width)
  middle <- graphics::grconvertX(0.5, if (above) "npc" else "nfc", "user")
  graphics::mtext(title, 3, line = 0.9, at = middle, font = look$font.main, col = look$col.main,
                  cex = look$cex.main * shrink * graphics::par("cex"))
}

# A legend in the corner where it covers the fewest of the points x, y; the frame is drawn again.
add_legend <- function(x, y, labels, ...) {
  settings <- list(legend = labels, ..., bg = "#FFFFFFCC", box.col = NA, cex = 0.85, inset = 0.005)
  corners <- c("topright", "topleft", "bottomright", "bottomleft")
  covered <- vapply(corners, function(corner) {
    box <- do.call(graphics::legend, c(corner, settings, plot = FALSE))$rect
    sum(x >= box$left & x <= box$left + box$w & y <= box$top & y >= box$top - box$h, na.rm = TRUE)
  }, 0)
  drawn <- do.call(graphics::legend, c(corners[which.min(covered)], settings))
  graphics::box()
  invisible(drawn)
}

# Limits with room at the right for the legend of many classes.
limits_for <- function(x, classes) {
  ends <- range(x, finite = TRUE)
  if (classes > 5L) ends[2L] <- ends[2L] + 0.25 * diff(ends)
  ends
}

# Two columns of points, by class where classes are given. Returns the data frame drawn.
plot_groups <- function(points, classes = NULL, labels = list(), ...) {
  data <- as.data.frame(points)
  group <- if (is.null(classes)) rep(1L, nrow(points)) else as.integer(factor(classes))
  if (!is.null(classes)) {
    check_response_length(classes, nrow(points), "classes")
    data$class <- factor(classes)
  }
  k <- max(group, 1L, na.rm = TRUE)
  local_par(las = upright(points[, 2L]))
  draw(graphics::plot, c(labels, list(
    x = points[, 1L], y = points[, 2L], col = grDevices::adjustcolor(class_colours(k)[group], 0.75),
    pch = class_symbols(k)[group], cex = 0.8, xlim = limits_for(points[, 1L], k)
  )), ...)
  if (nlevels(data$class)) {
    add_legend(points[, 1L], points[, 2L], shorten(levels(data$class), 20L),
               col = class_colours(k), pch = class_symbols(k))
  }
  invisible(data)
}

# Rows by class and fitted class: shade by share of the class, counts in the cells.
plot_confusion <- function(confusion, title, ..., xlab = "fitted class", ylab = "class") {
  k <- nrow(confusion)
  share <- confusion / pmax(rowSums(confusion), 1)
  side <- side_names(rownames(confusion), share = 0.35)
  # turned, if side by side is too wide
  mar <- wider(2L, side$lines + 1.2)
  wide <- k * lines_a_letter * max(nchar(side$names)) > lines_across() - mar[2L] - mar[4L]
  below <- if (wide) side$lines + 1.5 else 0
  local_par(mar = pmax(mar, c(below, 0, 0, 0)))
  shades <- grDevices::colorRampPalette(c("#FFFFFF", palette_classes[1L]))(64L)
  draw(graphics::image, list(
    x = seq_len(k), y = seq_len(k), z = t(unclass(share)[k:1L, , drop = FALSE]),
    zlim = c(0, 1), col = shades, axes = FALSE, xlab = "", ylab = "", main = title
  ), ...)
  cex <- graphics::par("cex")
  graphics::mtext(side$names, 1, at = seq_len(k), line = 0.4, las = if (below) 2 else 1, cex = cex)
  graphics::mtext(rev(side$names), 2, at = seq_len(k), line = 0.4, cex = cex)
  graphics::mtext(xlab, 1, line = if (below) side$lines else 2.4, cex = cex)
  graphics::mtext(ylab, 2, line = side$lines, las = 0, cex = cex)
  counts <- confusion[k:1L, , drop = FALSE]
  graphics::text(col(counts), row(counts), counts,
                 col = ifelse(share[k:1L, , drop = FALSE] > 0.5, "white", "black"))
  graphics::box()
  invisible(confusion)
}

# Two axes of a plot, by number.
check_components <- function(components, most, arg = "components") {
  good <- is.numeric(components) && length(components) == 2L && !anyNA(components) &&
    all(components >= 1 & components <= most & components == trunc(components))
  if (!good) must_be(arg, paste("two whole numbers from 1 to", most), components)
  components
}
