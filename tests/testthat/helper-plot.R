plot_lines <- function(expr) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  before <- grDevices::dev.cur()
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(expr, finally = close_device(before))
  readLines(file, warn = FALSE)
}

# Closing a device makes the next one current, which need not be the one before.
close_device <- function(before, device = grDevices::dev.cur()) {
  grDevices::dev.off(device)
  if (before > 1L) grDevices::dev.set(before)
}

# Every colour used, as a PDF writes it.
plot_colours <- function(expr) {
  lines <- grep("scn$", plot_lines(expr), value = TRUE, ignore.case = TRUE)
  unique(sub(".*?([0-9.]+ [0-9.]+ [0-9.]+) scn$", "\\1", lines, ignore.case = TRUE))
}

pdf_colour <- function(colours) apply(grDevices::col2rgb(colours) / 255, 2L,
  function(v) paste(sprintf("%.3f", v), collapse = " "))

# Every text that an expression draws, read back from an uncompressed PDF.
plot_words <- function(expr) {
  lines <- plot_lines(expr)
  text <- regmatches(lines, regexpr("\\((\\\\.|[^)\\\\])*\\) Tj", lines))
  gsub("\\\\(.)", "\\1", substr(text, 2L, nchar(text) - 4L))
}

expect_words <- function(wanted, words) {
  lacking <- setdiff(wanted, words)
  testthat::expect_identical(lacking, wanted[0L], info = paste(words, collapse = " | "))
}

# What an expression draws, read back from an uncompressed PDF. `text`: start and middle of each
# text, its width, size and angle
# (points on the page); `marks`: circles and small polygons by their middle; `paths`: lines and
# polygons; `tiles`: rectangles.
# u and v are the coordinates of the plot, `frame` its region (left, right, bottom, top), `usr` its
# limits.
drawing <- function(expr, width = 7, height = 7) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  before <- grDevices::dev.cur()
  grDevices::pdf(file, width, height, compress = FALSE, useKerning = FALSE, useDingbats = FALSE)
  device <- grDevices::dev.cur()
  settings <- tryCatch({
    expr
    graphics::par("usr", "xlog", "ylog")
  }, finally = close_device(before, device))
  lines <- readLines(file, warn = FALSE)
  stream <- lines[(which(lines == "stream")[1L] + 1L):(which(lines == "endstream")[1L] - 1L)]
  shapes <- read_shapes(regmatches(stream, gregexpr("\\((\\\\.|[^)\\\\])*\\)|[^ ]+", stream)))
  frame <- Find(function(s) s$kind == "clip", shapes, nomatch = list(x = c(0, 1), y = c(0, 1)))
  place <- function(at, ends, usr, log) {
    at <- usr[1L] + (at - ends[1L]) / diff(ends) * diff(usr)
    if (log) 10^at else at
  }
  u <- function(x) place(x, frame$x, settings$usr[1:2], settings$xlog)
  v <- function(y) place(y, frame$y, settings$usr[3:4], settings$ylog)
  of <- function(kind) Filter(function(s) s$kind == kind, shapes)
  table <- function(kind, extra) {
    columns <- c("x", "y", "colour", "size", extra)
    found <- as.data.frame(
      lapply(stats::setNames(columns, columns),
        function(name) unlist(lapply(of(kind), `[[`, name))))
    if (nrow(found)) cbind(found, u = u(found$x), v = v(found$y)) else found
  }
  text <- table("text", c("text", "angle", "start_x", "start_y", "width"))
  paths <- lapply(of("path"), function(s) c(s, list(u = u(s$x), v = v(s$y))))
  tiles <- lapply(of("tile"),
    function(s) data.frame(u1 = u(s$x[1L]), u2 = u(s$x[2L]), v1 = v(s$y[1L]), v2 = v(s$y[2L]),
      colour = s$colour))
  list(text = text, marks = table("mark", "shape"), paths = paths, tiles = do.call(rbind, tiles),
    frame = c(frame$x, frame$y),
       usr = settings$usr, page = 72 * c(width, height))
}

read_shapes <- function(words) {
  shapes <- list()
  stack <- numeric()
  x <- y <- m <- numeric()
  curved <- FALSE
  rect <- NULL
  colour <- c(fill = "", line = "")
  wide <- 1
  dash <- ""
  add <- function(kind, x, y, ...) shapes[[length(shapes) + 1L]] <<-
    list(kind = kind, x = x, y = y, ...)
  grDevices::pdf(NULL)
  graphics::plot.new()
  on.exit(grDevices::dev.off())
  paint <- function(filled, closed) {
    shown <- colour[[if (filled) "fill" else "line"]]
    whole <- if (is.null(rect)) list(x = x, y = y) else list(x = rect[1L] + c(0, rect[3L]),
      y = rect[2L] + c(0, rect[4L]))
    size <- max(diff(range(whole$x)), diff(range(whole$y)))
    middle <- if (curved || !is.null(rect)) c(mean(range(whole$x)),
      mean(range(whole$y))) else c(mean(x), mean(y))
    if (curved || (size < 12 && (closed || !is.null(rect)))) {
      corners <- if (curved) "circle" else if (length(x) == 3L) "triangle" else if (
        length(unique(round(whole$x, 1))) == 3L) "diamond" else "square"
      add("mark", middle[1L], middle[2L], colour = shown, size = size,
        shape = paste0(if (!filled) "open ", corners))
    } else if (!is.null(rect)) {
      add("tile", sort(whole$x), sort(whole$y), colour = shown)
    } else {
      add("path", x, y, colour = shown, width = wide, dash = dash, closed = closed, filled = filled)
    }
    x <<- y <<- numeric()
    curved <<- FALSE
    rect <<- NULL
  }
  last <- function(n) stack[length(stack) - n + seq_len(n)]
  for (line in words) {
    number <- rep(NA_real_, length(line))
    numeric <- grepl("^-?[0-9.]+$", line)
    number[numeric] <- as.numeric(line[numeric])
    for (i in seq_along(line)) {
      if (!is.na(number[i])) {
        stack <- c(stack, number[i])
        next
      }
      word <- line[i]
      if (grepl("^/F[0-9]$", word)) font <- as.integer(substring(word, 3L)) - 1L
      if (word == "m" || word == "l") {
        if (word == "m") x <- y <- numeric()
        x <- c(x, last(2L)[1L])
        y <- c(y, last(2L)[2L])
      } else if (word == "c") {
        curved <- TRUE
        x <- c(x, last(2L)[1L])
        y <- c(y, last(2L)[2L])
      } else if (word == "re") {
        rect <- last(4L)
      } else if (word == "W") {
        add("clip", rect[1L] + c(0, rect[3L]), rect[2L] + c(0, rect[4L]))
        rect <- NULL
      } else if (word %in% c("S", "f", "f*", "B", "B*")) {
        paint(word != "S", i > 1L && line[i - 1L] == "h")
      } else if (word == "scn") {
        colour["fill"] <- grDevices::rgb(t(round(255 * last(3L))), maxColorValue = 255)
      } else if (word == "SCN") {
        colour["line"] <- grDevices::rgb(t(round(255 * last(3L))), maxColorValue = 255)
      } else if (word == "w") {
        wide <- last(1L) / 0.75
      } else if (word == "d") {
        dash <- paste(line[seq_len(i - 1L)], collapse = " ")
      } else if (word == "Tm") {
        m <- last(6L)
      } else if (word == "Tj") {
        string <- gsub("\\\\(.)", "\\1", gsub("^\\(|\\)$", "", line[i - 1L]))
        size <- sqrt(m[1L]^2 + m[2L]^2)
        long <- graphics::strwidth(string, "inches", cex = 1, font = font) * 72 * size / 12
        add("text", m[5L] + m[1L] / size * long / 2, m[6L] + m[2L] / size * long / 2,
          colour = colour[["fill"]], size = size, text = string,
            angle = round(atan2(m[2L], m[1L]) * 180 / pi), start_x = m[5L], start_y = m[6L],
            width = long)
      }
      stack <- numeric()
    }
  }
  shapes
}

# The rows of `text` that are one of `words`, in their order.
text_of <- function(d, words) d$text[match(words, d$text$text), ]

# The mark beside each entry of a legend: on its line, to its left.
legend_marks <- function(d, labels) {
  rows <- lapply(labels, function(label) {
    entry <- text_of(d, label)
    near <- d$marks[abs(d$marks$y - entry$y - 0.36 * entry$size) < 0.25 *
      entry$size & d$marks$x < entry$start_x & entry$start_x - d$marks$x < 30, ]
    near[which.max(near$x), ]
  })
  do.call(rbind, rows)
}

# Marks that are not those of the legend.
data_marks <- function(d, labels = character()) {
  d$marks[!rownames(d$marks) %in% rownames(legend_marks(d, labels)), ]
}

expect_on_page <- function(d, info = NULL) {
  half <- d$text$width / 2
  turned <- d$text$angle != 0
  reach <- function(turned) ifelse(turned, half, 0)
  inside <- d$text$x - reach(!turned) >= 0 & d$text$x + reach(!turned) <= d$page[1L] &
    d$text$y - reach(turned) >= 0 & d$text$y + reach(turned) <= d$page[2L]
  testthat::expect_identical(d$text$text[!inside], character(), info = info)
}

# Lines of one colour: those of `points` points.
lines_in <- function(d, colour, points = NULL) {
  Filter(function(p) p$colour == colour && (is.null(points) || length(p$u) == points), d$paths)
}

# A line drawn through x and y, in a thousandth of the plot.
expect_line <- function(path, x, y, d) {
  testthat::expect_identical(length(path$u), length(x))
  testthat::expect_lt(
    max(abs(path$u - x) / (d$usr[2L] - d$usr[1L]), abs(path$v - y) / (d$usr[4L] - d$usr[3L])), 1e-3)
}

# A line each from (u1, v1) to (u2, v2), in their order.
expect_segments <- function(paths, u1, v1, u2, v2, d) {
  testthat::expect_identical(unique(lengths(lapply(paths, `[[`, "u"))), 2L)
  drawn <- vapply(paths, function(p) c(p$u[1L], p$v[1L], p$u[2L], p$v[2L]), numeric(4L))
  scale <- rep(c(d$usr[2L] - d$usr[1L], d$usr[4L] - d$usr[3L]), 2L)
  testthat::expect_identical(ncol(drawn), max(length(u1), length(v2)))
  testthat::expect_lt(max(abs(drawn - rbind(u1, v1, u2, v2)) / scale), 1e-3)
}

# Numbers at the ticks of an axis (1 below, 2 left, 4 right) and where they stand.
axis_numbers <- function(d, side) {
  number <- suppressWarnings(as.numeric(d$text$text))
  there <- switch(as.character(side), "1" = d$text$y < d$frame[3L], "2" = d$text$x < d$frame[1L],
    "4" = d$text$x > d$frame[2L])
  there <- which(!is.na(number) & there)
  data.frame(number = number[there], at = if (side == 1) d$text$u[there] else d$text$v[there])
}
