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

# Tick labels upright while they leave the label of the axis its place in the margin, else along
# the axis.
upright <- function(values) {
  values <- values[is.finite(values)]
  letters <- if (length(values)) nchar(format(pretty(values))[1L]) else 0L
  if (0.5 * letters > graphics::par("mar")[2L] - 1.8) 0 else 1
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

# Are names below the plot too long to stand side by side between these margins?
crowded <- function(names, mar = graphics::par("mar")) {
  length(names) * lines_a_letter * max(nchar(names)) > lines_across() - mar[2L] - mar[4L]
}

# The least that letters are made smaller to.
least_cex <- 0.45

# Names in the margin, as large as their places `at` allow: an axis would leave out every other one.
# Some of the names, rather than all of them too small to read.
add_names <- function(names, side, at, turned = FALSE, most = 1, col = "black") {
  usr <- graphics::par("usr")
  place <- graphics::par("pin")[side] / diff(usr[if (side == 1L) 1:2 else 3:4])
  needed <- if (side == 1L && !turned) widest_pair(names) else graphics::par("csi")
  fits <- place / needed
  step <- ceiling(least_cex / fits)
  named <- seq(1, length(names), by = step)
  if (step > 1) most <- min(most, 0.6)
  graphics::mtext(names[named], side, at = at[named], line = 0.4,
                  las = if (side == 1L && !turned) 1 else 2,
                  col = rep_len(col, length(names))[named],
                  cex = graphics::par("cex") * min(most, step * fits))
}

# From the middle of a name to that of the next one, with a gap.
widest_pair <- function(names) {
  half <- graphics::strwidth(names, "inches") / 2
  max(half[-1L] + half[-length(half)], half) + graphics::strwidth("n", "inches")
}

# ---- drawing ------------------------------------------------------------------------

# Draw with `defaults`, each of which the user's `...` may replace. A strip below the title takes
# `title_line = above_strip`, names below the plot `foot`, the line of the label below them.
draw <- function(f, defaults, ..., title_line = 0.9, foot = NULL) {
  given <- list(...)
  taken <- intersect(c("x", "y", "height"), names(given))
  if (length(taken)) {
    abort("dots", "Unknown argument: `", taken[1L],
          "`. What is drawn comes from the model; see its help page.")
  }
  check_graphical(given, f)
  settings <- c(defaults[setdiff(names(defaults), names(given))], given)
  title <- settings$main
  labels <- list(ylab = settings$ylab, xlab = if (!is.null(foot)) settings$xlab)
  if (!is.null(title)) settings$main <- ""
  settings[names(Filter(Negate(is.null), labels))] <- ""
  do.call(f, settings)
  if (identical(settings$ann, FALSE)) return(invisible())
  add_label(labels["ylab"], settings, label_line(settings), fitting_label(labels$ylab))
  add_label(labels["xlab"], settings, foot)
  if (is.null(title)) return(invisible())
  look <- c("cex.main", "font.main", "col.main")
  look <- utils::modifyList(graphics::par(look), settings[intersect(look, names(settings))])
  add_title(title, look, title_line)
}

# R would only warn of them, once for every part of a plot.
check_graphical <- function(given, f) {
  known <- c(graphical_parameters, names(formals(graphics::plot.default)), names(formals(f)))
  unknown <- !names(given) %in% known
  if (is.null(names(given))) unknown <- rep(TRUE, length(given))
  if (any(unknown)) refuse_dots(names(given)[unknown], sum(unknown), known = setdiff(known, "..."))
}

# Those of par(), which would open a device to tell them.
graphical_parameters <- c(
  "xlog", "ylog", "adj", "ann", "ask", "bg", "bty", "cex", "cex.axis", "cex.lab", "cex.main",
  "cex.sub", "cin", "col", "col.axis", "col.lab", "col.main", "col.sub", "cra", "crt", "csi",
  "cxy", "din", "err", "family", "fg", "fig", "fin", "font", "font.axis", "font.lab", "font.main",
  "font.sub", "lab", "las", "lend", "lheight", "ljoin", "lmitre", "lty", "lwd", "mai", "mar",
  "mex", "mfcol", "mfg", "mfrow", "mgp", "mkh", "new", "oma", "omd", "omi", "page", "pch", "pin",
  "plt", "ps", "pty", "smo", "srt", "tck", "tcl", "usr", "xaxp", "xaxs", "xaxt", "xpd", "yaxp",
  "yaxs", "yaxt", "ylbias"
)

# By how much labels are made smaller where the one beside the plot would not fit.
fitting_label <- function(label) {
  long <- if (is.character(label)) max(nchar(label)) * lines_a_letter * graphics::par("cex") else 0
  max(0.65, min(1, lines_up() / max(long, 1)))
}

# Room for the label beside the plot, a little more than the plot is high.
lines_up <- function() graphics::par("pin")[2L] / graphics::par("csi") + 2.5

# `label`: a list of one, `xlab` or `ylab`.
add_label <- function(label, settings, line, shrink = 1) {
  if (is.null(label[[1L]])) return(invisible())
  look <- settings[intersect(c("cex.lab", "col.lab", "font.lab", "family"), names(settings))]
  if (is.null(look$cex.lab)) look$cex.lab <- shrink * graphics::par("cex.lab")
  do.call(graphics::title, c(label, list(line = line), look))
}

# The line of the label beside the plot: where the user says it, else beyond the widest number,
# whose width depends on the font, as long as the margin is wide enough.
label_line <- function(settings) {
  if (!is.null(settings$mgp)) return(settings$mgp[1L])
  setting <- function(name) {
    if (is.null(settings[[name]])) graphics::par(name) else settings[[name]]
  }
  line <- graphics::par("csi") * graphics::par("mex")
  room <- graphics::par("plt")[1L] * graphics::par("fin")[1L] / line - 0.9
  mgp <- graphics::par("mgp")
  if (room < mgp[2L]) return(mgp[1L]) # no margin, no label
  long <- if (setting("las") %in% 1:2) {
    max(0, graphics::strwidth(tick_labels(settings), "inches", cex = setting("cex.axis"),
                              family = setting("family"))) / line
  } else {
    0.75
  }
  min(room, max(mgp[1L], mgp[2L] + long + 0.4))
}

# The numbers of the axis on the left; log_axis() draws those of a logarithmic one.
tick_labels <- function(settings) {
  if (graphics::par("ylog")) return(log_ticks(10^graphics::par("usr")[3:4])$labels)
  drawn <- !identical(settings$yaxt, "n") && !identical(settings$axes, FALSE)
  if (drawn) format(graphics::axTicks(2L), trim = TRUE) else character()
}

# Above the middle of the plot, or of the figure, where there is more room.
add_title <- function(title, look, line) {
  width <- graphics::strwidth(title, "inches", cex = look$cex.main, font = look$font.main)
  above <- width < graphics::par("pin")[1L] + 2 * min(graphics::par("mai")[c(2L, 4L)])
  shrink <- min(1, 0.94 * graphics::par("fin")[1L] / width)
  middle <- graphics::grconvertX(0.5, if (above) "npc" else "nfc", "user")
  graphics::mtext(title, 3, line = line, at = middle, font = look$font.main, col = look$col.main,
                  cex = look$cex.main * shrink * graphics::par("cex"))
}

# Ticks of a logarithmic axis between `ends`: whole decades, every few of them where there are many;
# within one decade plain numbers.
log_ticks <- function(ends) {
  from <- ceiling(log10(ends[1L]) - 1e-9)
  to <- floor(log10(ends[2L]) + 1e-9)
  if (to - from < 1) {
    numbers <- as.vector(outer(c(1, 2, 5), 10^(floor(log10(ends[1L])):ceiling(log10(ends[2L])))))
    numbers <- numbers[numbers >= ends[1L] * (1 - 1e-9) & numbers <= ends[2L] * (1 + 1e-9)]
    if (length(numbers) < 2L) numbers <- pretty(ends, 3L)
    numbers <- numbers[numbers > 0]
    return(list(at = numbers, labels = log_labels(numbers)))
  }
  at <- 10^seq(from, to, by = max(1, ceiling((to - from) / 6)))
  list(at = at, labels = log_labels(at))
}

# Plain numbers, powers of ten where decades are far from 1. An NA, a tick outside, has a label too.
log_labels <- function(at) {
  decades <- round(log10(at))
  if (any(abs(log10(at) - decades) > 1e-9, na.rm = TRUE)) {
    return(format(at, trim = TRUE, digits = 3, drop0trailing = TRUE))
  }
  if (all(abs(decades) <= 3, na.rm = TRUE)) {
    return(format(at, trim = TRUE, scientific = FALSE, drop0trailing = TRUE))
  }
  parse(text = paste0("10^", decades))
}

log_axis <- function(side, ends = 10^graphics::par("usr")[if (side == 1) 1:2 else 3:4]) {
  ticks <- log_ticks(ends)
  graphics::axis(side, ticks$at, ticks$labels)
}

# Colours of numbers, from dark to light; yellow, lost on white, is left out.
number_colours <- function(values, shades = 64L) {
  colours <- utils::head(grDevices::hcl.colors(shades + 8L, "viridis"), shades)
  ends <- range(values, finite = TRUE)
  width <- if (diff(ends) > 0) diff(ends) else 1
  colours[1L + round((shades - 1L) * (values - ends[1L]) / width)]
}

# Two columns of points, by class where classes are given, by a scale of colours where these are
# numbers. Returns the data frame drawn.
plot_groups <- function(points, classes = NULL, labels = list(), ...) {
  if (is.numeric(classes) && any(is.finite(classes))) {
    return(plot_numbers(points, classes, labels, ...))
  }
  data <- as.data.frame(points)
  group <- if (is.null(classes)) rep(1L, nrow(points)) else as.integer(factor(classes))
  if (!is.null(classes)) {
    check_response_length(classes, nrow(points), "classes")
    data$class <- factor(classes)
  }
  k <- max(group, 1L, na.rm = TRUE)
  names <- shorten(c(levels(data$class)), 20L)
  local_par(las = upright(points[, 2L]))
  draw(graphics::plot, c(labels, list(
    x = points[, 1L], y = points[, 2L], col = grDevices::adjustcolor(class_colours(k)[group], 0.75),
    pch = class_symbols(k)[group], cex = 0.8, xlim = limits_with_key(points[, 1L], names)
  )), ..., title_line = title_over(names))
  if (length(names)) add_key(names, class_colours(k), class_symbols(k))
  invisible(data)
}

plot_numbers <- function(points, values, labels, ...) {
  check_response_length(values, nrow(points), "classes")
  local_par(las = upright(points[, 2L]))
  draw(graphics::plot, c(labels, list(
    x = points[, 1L], y = points[, 2L], pch = 16, cex = 0.8, col = number_colours(values)
  )), ..., title_line = above_strip)
  add_scale(values)
  invisible(cbind(as.data.frame(points), class = values))
}

# Rows by class and fitted class: shade by share of the class, counts in the cells.
plot_confusion <- function(confusion, title, ..., xlab = "predicted class", ylab = "class") {
  k <- nrow(confusion)
  share <- confusion / pmax(rowSums(confusion), 1)
  side <- side_names(rownames(confusion), share = 0.35)
  mar <- wider(2L, side$lines + 1.2)
  turned <- crowded(side$names, mar)
  below <- if (turned) side$lines + 1.5 else 0
  local_par(mar = pmax(mar, c(below, 0, 0, 0)))
  shades <- grDevices::colorRampPalette(c("#FFFFFF", palette_classes[1L]))(64L)
  draw(graphics::image, list(
    x = seq_len(k), y = seq_len(k), z = t(unclass(share)[k:1L, , drop = FALSE]),
    zlim = c(0, 1), col = shades, axes = FALSE, xlab = "", ylab = "", main = title
  ), ...)
  cex <- graphics::par("cex")
  add_names(side$names, 1L, seq_len(k), turned)
  add_names(side$names, 2L, rev(seq_len(k)))
  graphics::mtext(xlab, 1, line = if (turned) side$lines else 2.4, cex = cex)
  graphics::mtext(ylab, 2, line = side$lines, las = 0, cex = cex)
  add_counts(confusion[k:1L, , drop = FALSE], share[k:1L, , drop = FALSE])
  graphics::box()
  invisible(confusion)
}

# Counts as large as their cells allow; where they could not be read the shades must do.
add_counts <- function(counts, share) {
  shown <- which(shows_count(counts))
  words <- counts_words(counts[shown])
  cell <- graphics::par("pin") / dim(counts)
  wide <- max(graphics::strwidth(c(words, "0"), "inches")) + graphics::strwidth("i", "inches")
  cex <- min(1, cell[1L] / wide, cell[2L] / (0.75 * graphics::par("csi")))
  if (cex < 0.35) return(invisible())
  graphics::text(col(counts)[shown], row(counts)[shown], words, cex = cex,
                 col = ifelse(share[shown] > 0.5, "white", "black"))
}

# Among many classes zeros say nothing.
shows_count <- function(counts) counts > 0 | nrow(counts) <= 8L

# Those of weighted rows are no whole numbers.
counts_words <- function(counts) as.character(round(counts, 1))

# Values from the first downwards: bars from zero, with a name each.
plot_dots <- function(value, names, col, defaults, ...) {
  place <- rev(seq_along(value))
  side <- side_names(names)
  local_par(mar = wider(2L, side$lines))
  draw(graphics::plot, c(list(
    x = value, y = place, type = "n", yaxt = "n", ylab = ""
  ), defaults), ...)
  add_names(side$names, 2L, place, most = 0.9, col = col$names)
  graphics::segments(0, place, value, place, col = "grey75")
  graphics::points(value, place, pch = 19, col = col$points)
}

# The share of rows that a classifier of this package gets wrong without them, where it knows.
left_out_error <- function(object) {
  if (inherits(object, "kernel_tune")) return(left_out_error(object$model))
  if (inherits(object, "kernel_lm")) return(chosen_loo(object)$error)
  if (inherits(object, "kernelect_model")) object$left_out_error
}

# Rows left out come first: those of the fit flatter the model.
misclassified_title <- function(x) {
  error <- left_out_error(x)
  if (is.null(error)) return(sprintf("%.1f %% misclassified when fitted", 100 * x$error))
  sprintf("%.1f %% misclassified when left out (%.1f %% when fitted)", 100 * error, 100 * x$error)
}

# What rows may be coloured by.
check_labels <- function(classes) {
  if (!is.null(classes) && !(is.atomic(classes) && is.null(dim(classes)))) {
    must_be("classes", "NULL, or a vector of class labels or numbers, one a training row", classes)
  }
}

# Two axes of a plot, by number.
check_components <- function(components, most, arg = "components") {
  good <- is.numeric(components) && length(components) == 2L && !anyNA(components) &&
    all(components >= 1 & components <= most & components == trunc(components))
  if (!good) must_be(arg, paste("two whole numbers from 1 to", most), components)
  components
}
