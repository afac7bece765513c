# The bodies of one process: they read their rows, keep what memory allows, and answer messages.

tile_rows <- 240 # KE_TILE in src/source.h: bodies begin at its multiples

# First rows (from 0) and lengths of `parts` runs of n rows.
cut_at_tiles <- function(n, parts) {
  tiles <- ceiling(n / tile_rows)
  at <- unique(c(round(seq(0, tiles, length.out = min(parts, tiles) + 1))))
  first <- at[-length(at)] * tile_rows
  list(first = first, n = pmin(at[-1L] * tile_rows, n) - first)
}

# The crew of this process alone.
local_crew <- function(job) {
  crew <- NULL
  list(
    start = function(job, rounds) crew <<- new_crew(job, plan_bodies(job, 0, job$n), rounds),
    ask = function(message) crew_answer(crew, message),
    stop = function(job) {
      unlink(crew$files)
      crew <<- NULL
    },
    cluster = NULL
  )
}

# ---- memory ------------------------------------------------------------------------------------

vectors_per_row <- 4 # inverse, weight, residual, explained: what a body keeps in any case

# Bytes that a crew may use: half of what the machine has, shared with the other crews there,
# unless told.
memory_budget <- function(job) {
  if (!is.null(job$memory)) return(job$memory * 1e6)
  .Call(ffi_memory_limit) / 2 / max(1, job$together)
}

# Bodies for rows first ... first + n: one where all of it fits, else so many that one of them, at
# work with its rows twice and its factor, takes an eighth of the memory: R may not have cleared
# away the one before.
plan_bodies <- function(job, first, n) {
  width <- job$source$width
  budget <- memory_budget(job)
  row <- 8 * (2 * width + job$limit + 8)
  fits <- n * (8 * vectors_per_row + row) <= budget
  parts <- if (fits) 1 else max(1, ceiling(n * row / (budget / 8)))
  cut <- cut_at_tiles(n, parts)
  data.frame(first = first + cut$first, n = cut$n)
}

# ---- the crew ----------------------------------------------------------------------------------

# With `rounds`, bodies that have been through these rounds already.
new_crew <- function(job, plan, rounds = NULL, numbers = seq_len(nrow(plan))) {
  crew <- list2env(list(
    job = job, rounds = as.list(rounds), reader = new_reader(job$source),
    room = memory_budget(job) / 2 - 8 * vectors_per_row * sum(plan$n)
  ), parent = emptyenv())
  crew$bodies <- Map(new_body, numbers, plan$first, plan$n)
  if (!is.null(rounds)) for (body in crew$bodies) restore_body(crew, body)
  crew
}

new_body <- function(number, first, n) {
  list2env(list(
    number = number, first = first, n = n, size = 0, round = 0, state = NULL, factor = NULL,
    x = NULL, stash = NULL, file = NULL, stored = 0
  ), parent = emptyenv())
}

crew_answer <- function(crew, message, bodies = crew$bodies) {
  if (message$kind == "update" && length(crew$rounds) < message$round) {
    crew$rounds <- c(crew$rounds, list(message[c("size", "index", "panel", "x")]))
  }
  lapply(bodies, body_answer, crew = crew, message = message)
}

body_answer <- function(body, crew, message) {
  switch(message$kind,
    start = body_start(crew, body),
    first = body_first(crew, body, message),
    propose = body_propose(crew, body, message$wish),
    weigh = .Call(ffi_body_weigh, body$state, body_where(crew, body), message$wish),
    find = body_find(crew, body, message),
    rows = body_rows(crew, body, message),
    update = body_update(crew, body, message)
  )
}

# ---- rows of a body ----------------------------------------------------------------------------

# Rows first ... first + n of a source; the last chunk read is kept, for the next body may begin in
# the midst of it.
new_reader <- function(source) {
  at <- cumsum(c(0, as.double(source$sizes)))
  last <- 0L
  chunk <- NULL
  read <- function(i) {
    if (i != last) {
      chunk <<- NULL
      chunk <<- read_chunk(source, i)
      last <<- i
    }
    chunk
  }
  function(first, n) {
    from <- findInterval(first, at)
    if (first == at[from] && n == source$sizes[from]) return(read(from))
    x <- matrix(0, n, source$width, dimnames = list(NULL, colnames(read(from))))
    done <- 0
    for (i in from:findInterval(first + n - 1, at)) {
      inside <- seq.int(max(first - at[i], 0) + 1, min(first + n, at[i + 1]) - at[i])
      if (!source$sizes[i]) next
      x[done + seq_along(inside), ] <- read(i)[inside, ]
      done <- done + length(inside)
    }
    x
  }
}

read_chunk <- function(source, i) {
  x <- source$read_matrix(i)
  if (!is.matrix(x) || !is.double(x) || nrow(x) != source$sizes[i] || ncol(x) != source$width) {
    abort("source", "Chunk ", i, " of the source must be ", source$sizes[i], " rows of ",
          source$width, " columns, not ", describe(x), ". Does the data change while it is read?")
  }
  x
}

body_where <- function(crew, body) list(first = body$first, whole = crew$job$n)

body_x <- function(crew, body) {
  if (!is.null(body$x)) return(body$x)
  x <- crew$reader(body$first, body$n)
  if (8 * length(x) <= crew$room) {
    crew$room <- crew$room - 8 * length(x)
    body$x <- x
  }
  x
}

# ---- answers -----------------------------------------------------------------------------------

# Which of these rows (from 0) are the body's, as places from 0.
own_places <- function(body, index) {
  which(index >= body$first & index < body$first + body$n) - 1
}

local_rows <- function(body, index) index - body$first + 1

body_start <- function(crew, body) {
  x <- body_x(crew, body)
  where <- body_where(crew, body)
  begun <- .Call(ffi_body_start, job_source(crew$job, x), where, crew$job$normalised)
  if (is_status(begun)) return(list(status = begun))
  body$state <- begun$state
  begun$state <- NULL
  begun$which <- own_places(body, crew$job$first)
  begun$x <- x[local_rows(body, crew$job$first[begun$which + 1]), , drop = FALSE]
  begun
}

body_first <- function(crew, body, message) {
  x <- body_x(crew, body)
  which <- own_places(body, message$index)
  sums <- .Call(ffi_body_fitness, job_source(crew$job, x, message$x), body$state,
                body_where(crew, body), message$x, crew$job$threads)
  list(
    sums = sums, which = which,
    inverse = body$state$inverse[local_rows(body, message$index[which + 1])]
  )
}

# The rows proposed are kept at hand where the body's rows or factor will be gone.
body_propose <- function(crew, body, wish, x = NULL, factor = body$factor) {
  proposal <- .Call(ffi_body_propose, body$state, body_where(crew, body), wish)
  body$stash <- NULL
  if (!is.null(x) || !is.null(body$x)) {
    if (is.null(x)) x <- body$x
    if (!is.null(factor) || body$size == 0) {
      body$stash <- some_rows(crew, body, proposal$row, x, factor)
    }
  }
  proposal
}

body_find <- function(crew, body, message) {
  tile <- body$first / tile_rows
  which <- which(message$start >= tile & message$start < tile + body$n / tile_rows)
  nodes <- lapply(message[c("start", "tiles", "target")], `[`, which)
  row <- .Call(ffi_body_find, body$state, body_where(crew, body), message$wish, nodes)
  list(which = which - 1, row = row)
}

some_rows <- function(crew, body, index, x, factor) {
  if (is.null(factor)) factor <- matrix(0, body$n, 0)
  rows <- .Call(ffi_body_rows, body$state, factor, body_where(crew, body), index, body$size)
  c(list(index = index, x = x[local_rows(body, index), , drop = FALSE]), rows)
}

body_rows <- function(crew, body, message) {
  which <- own_places(body, message$index)
  index <- message$index[which + 1]
  stash <- body$stash
  body$stash <- NULL
  if (!length(which)) return(list(which = which))
  if (!all(index %in% stash$index)) {
    x <- body_x(crew, body)
    stash <- some_rows(crew, body, index, x, body_factor(crew, body, x))
  }
  at <- match(index, stash$index)
  list(
    which = which, x = stash$x[at, , drop = FALSE], panel = stash$panel[at, , drop = FALSE],
    left = stash$left[at], gained = stash$gained[at], weight = stash$weight[at]
  )
}

# ---- update ------------------------------------------------------------------------------------

body_update <- function(crew, body, message) {
  x <- body_x(crew, body)
  factor <- body_factor(crew, body, x, nrow(message$panel))
  told <- apply_rounds(crew, body, x, factor, list(message))
  body$size <- body$size + nrow(message$panel)
  body$round <- message$round
  told$proposal <- if (message$weigh) {
    .Call(ffi_body_weigh, body$state, body_where(crew, body), message$wish)
  } else {
    body_propose(crew, body, message$wish, x, factor)
  }
  keep_factor(crew, body, factor)
  told
}

# A user's function sees the picks of one round at a time.
apply_rounds <- function(crew, body, x, factor, rounds, again = FALSE) {
  job <- crew$job
  each <- if (in_r(job$kernel)) lapply(rounds, list) else list(rounds)
  for (some in each) {
    told <- .Call(ffi_body_update, job_source(job, x, some[[1L]]$x), body$state, factor,
                  body_where(crew, body), some, again, job$threads)
  }
  told
}

# The factor with room for so many more columns: as it was kept, or made again from the rounds.
body_factor <- function(crew, body, x, more = 0) {
  columns <- body$size + more
  factor <- body$factor
  if (!is.null(factor) && ncol(factor) >= columns) return(factor)
  if (!is.null(factor)) crew$room <- crew$room + 8 * length(factor)
  larger <- .Call(ffi_zeros, as.integer(body$n), as.integer(room_for(crew, body, columns)))
  if (body$size > 0) {
    if (!is.null(factor)) {
      .Call(ffi_copy_columns, factor, larger)
    } else if (!read_factor(body, larger)) {
      made <- vapply(crew$rounds, `[[`, 0, "size") < body$size
      apply_rounds(crew, body, x, larger, crew$rounds[made], again = TRUE)
    }
  }
  body$factor <- NULL
  larger
}

# A body that has its process for itself leaves room to grow.
room_for <- function(crew, body, columns) {
  if (length(crew$bodies) > 1L) return(columns)
  min(crew$job$limit, max(columns, 2 * body$size, 256))
}

# In memory while there is room, else in a file. Where there is no file, or no room for it either, a
# factor is made again.
keep_factor <- function(crew, body, factor) {
  if (!is.null(body$factor)) return()
  if (8 * length(factor) <= crew$room) {
    crew$room <- crew$room - 8 * length(factor)
    body$factor <- factor
  } else {
    write_factor(crew, body, factor)
  }
}

# A file belongs to its crew, and goes with it; `stored` columns are in it, NA once it has failed.
write_factor <- function(crew, body, factor) {
  if (is.na(body$stored) || !isTRUE(getOption("kernelect.scratch", TRUE))) return()
  if (is.null(body$file)) body$file <- scratch_file(crew)
  good <- .Call(ffi_factor_file, body$file, factor, c(body$stored, body$size), TRUE)
  if (!good) unlink(body$file)
  body$stored <- if (good) body$size else NA_real_
}

read_factor <- function(body, factor) {
  if (is.na(body$stored) || body$stored != body$size) return(FALSE)
  .Call(ffi_factor_file, body$file, factor, c(0, body$size), FALSE)
}

scratch_file <- function(crew) {
  if (is.null(crew$files)) {
    crew$files <- character()
    reg.finalizer(crew, function(crew) unlink(crew$files), onexit = TRUE)
  }
  file <- tempfile("kernelect-factor-")
  crew$files <- c(crew$files, file)
  file
}

# Rounds that were before this crew.
restore_body <- function(crew, body) {
  body_start(crew, body)
  if (!length(crew$rounds)) return()
  x <- body_x(crew, body)
  last <- crew$rounds[[length(crew$rounds)]]
  factor <- body_factor(crew, body, x, last$size + nrow(last$panel))
  apply_rounds(crew, body, x, factor, crew$rounds)
  body$size <- last$size + nrow(last$panel)
  body$round <- length(crew$rounds)
  keep_factor(crew, body, factor)
}
