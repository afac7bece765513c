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
    fold = function(message) {
      tick <- progress(message$verbose, length(crew$bodies))
      on.exit(tick(close = TRUE))
      state <- NULL
      for (body in crew$bodies) {
        state <- body_fold(crew, body, message, state)
        tick()
      }
      list(state)
    },
    stop = function(job) {
      unlink(crew$files)
      crew <<- NULL
    },
    cluster = NULL
  )
}

# ---- memory ------------------------------------------------------------------------------------

core_bytes <- 3e6 # what an update takes however few the rows are
vectors_per_row <- 4 # inverse, weight, residual, explained: what a body keeps in any case

# Bytes that a crew may use: half of what the machine has, shared with the other crews there,
# unless told.
memory_budget <- function(job) {
  if (!is.null(job$memory)) return(job$memory * 1e6)
  .Call(ffi_memory_limit) / 2 / max(1, job$together)
}

# How n rows share the memory: `parts`, the bodies they are cut into; `work`, what a body takes
# while it is worked on, its rows twice (as R has them and as the core wants them) and its factor;
# `room`, for rows and factors that stay. Of what the residuals leave, a quarter each is for a body
# at work and for what stays, half for what R has not cleared away yet.
share_memory <- function(job, n) {
  budget <- memory_budget(job)
  row <- 8 * (2 * job$source$width + job$limit + 8)
  spare <- max(budget - 8 * vectors_per_row * n, budget / 8)
  if (n * row <= spare) return(list(parts = 1, work = n * row, room = Inf))
  parts <- ceiling(n * row / (spare / 4))
  list(parts = parts, work = spare / 4, room = spare / 4)
}

# Bodies for rows first ... first + n.
plan_bodies <- function(job, first, n) {
  cut <- cut_at_tiles(n, share_memory(job, n)$parts)
  data.frame(first = first + cut$first, n = cut$n)
}

# Where rows come and go, R would let what is gone lie about: up to as much as it has ever seen in
# use. A quick look, when as much as a body takes may be there, finds what is young, a full one the
# rest, where that is more than was agreed. `bytes`: what comes next.
clear_away <- function(crew, bytes) {
  crew$since <- crew$since + bytes
  if (is.null(crew$most) || crew$since < crew$work / 2) return(invisible())
  crew$since <- 0
  if (bytes_used(full = FALSE) > crew$most) {
    crew$most <- max(crew$most, bytes_used() + crew$work)
  }
}

bytes_used <- function(full = TRUE) 8 * gc(full = full)[2L, 1L]

# ---- the crew ----------------------------------------------------------------------------------

# With `rounds`, bodies that have been through these rounds already.
new_crew <- function(job, plan, rounds = NULL, numbers = seq_len(nrow(plan))) {
  share <- share_memory(job, sum(plan$n))
  crew <- list2env(list(
    job = job, rounds = as.list(rounds), work = share$work, room = share$room, since = 0,
    buffer = NULL, most = if (nrow(plan) > 1L) bytes_used() + memory_budget(job)
  ), parent = emptyenv())
  crew$reader <- new_reader(job$source, function(bytes) clear_away(crew, bytes))
  crew$bodies <- Map(new_body, numbers, plan$first, plan$n)
  for (body in crew$bodies) {
    body$times <- job$times[body$first + seq_len(body$n)] # how often its rows count, or NULL
    settle(crew, body)
  }
  if (!is.null(rounds)) for (body in crew$bodies) restore_body(crew, body)
  crew
}

# A body stays in memory with all it has, where there is room.
settle <- function(crew, body) {
  need <- 8 * body$n * (crew$job$source$width + crew$job$limit)
  body$stays <- need <= crew$room
  if (body$stays) crew$room <- crew$room - need
}

new_body <- function(number, first, n) {
  list2env(list(
    number = number, first = first, n = n, size = 0, round = 0, stays = TRUE, state = NULL,
    factor = NULL,
    x = NULL, stash = NULL, file = NULL, stored = 0, rows_file = NULL
  ), parent = emptyenv())
}

crew_answer <- function(crew, message, bodies = crew$bodies) {
  if (message$kind == "update" && length(crew$rounds) < message$round) {
    crew$rounds <- c(crew$rounds, list(message[c("size", "index", "panel", "x")]))
  }
  crew$keys <- numeric()
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
    update = body_update(crew, body, message),
    fold = body_fold(crew, body, message)
  )
}

# ---- rows of a body ----------------------------------------------------------------------------

# Rows first ... first + n of a source; the last chunk read is kept, for the next body may begin in
# the midst of it. `tidy` is told of what each will take.
new_reader <- function(source, tidy) {
  at <- cumsum(c(0, as.double(source$sizes)))
  last <- 0L
  chunk <- NULL
  read <- function(i) {
    if (i != last) {
      chunk <<- NULL
      tidy(32 * source$sizes[i] * source$width)
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

body_where <- function(crew, body) {
  list(first = body$first, whole = crew$job$n, times = body$times)
}

# The rows of a body: kept in memory while there is room, else in a file as plain numbers, else read
# again.
body_x <- function(crew, body) {
  if (!is.null(body$x)) return(body$x)
  clear_away(crew, 24 * body$n * crew$job$source$width)
  x <- stored_rows(crew, body)
  if (!is.null(x)) return(x)
  x <- crew$reader(body$first, body$n)
  crew$columns <- colnames(x)
  if (body$stays || 8 * length(x) <= crew$room) {
    if (!body$stays) crew$room <- crew$room - 8 * length(x)
    body$x <- x
  } else if (is.null(body$rows_file) && use_scratch()) {
    body$rows_file <- scratch_file(crew)
    if (!.Call(ffi_factor_file, body$rows_file, x, c(nrow(x), 0, ncol(x)), TRUE)) {
      unlink(body$rows_file)
    }
  }
  x
}

stored_rows <- function(crew, body) {
  if (is.null(body$rows_file)) return(NULL)
  x <- .Call(ffi_zeros, as.integer(body$n), as.integer(crew$job$source$width))
  if (!.Call(ffi_factor_file, body$rows_file, x, c(nrow(x), 0, ncol(x)), FALSE)) return(NULL)
  colnames(x) <- crew$columns
  x
}

use_scratch <- function() isTRUE(getOption("kernelect.scratch", TRUE))

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
  own <- local_rows(body, message$index[which + 1])
  sums <- .Call(ffi_body_fitness, job_source(crew$job, x, message$x), body$state,
                body_where(crew, body), message$x, crew$job$threads)
  list(
    sums = sums, which = which,
    inverse = body$state$inverse[own] / if (is.null(body$times)) 1 else body$times[own]
  )
}

# The rows proposed are kept at hand where the body's rows or factor will be gone.
body_propose <- function(crew, body, wish, x = NULL, factor = body$factor) {
  proposal <- .Call(ffi_body_propose, body$state, body_where(crew, body), wish)
  body$stash <- NULL
  if (!is.null(x) || !is.null(body$x)) {
    if (is.null(x)) x <- body$x
    if (!is.null(factor) || body$size == 0) {
      body$stash <- some_rows(crew, body, likely_rows(crew, proposal, wish), x, factor)
    }
  }
  proposal
}

# Of the rows that a body proposes those that the head may want, seen from the bodies before it: the
# head takes the rows of the largest keys, the first of equal ones, or the first rows in order.
likely_rows <- function(crew, proposal, wish) {
  known <- length(crew$keys)
  keys <- c(crew$keys, proposal$key)
  best <- if (wish$in_order) seq_along(keys) else order(-keys)
  best <- best[seq_len(min(length(best), wish$most))]
  crew$keys <- keys[best]
  proposal$row[best[best > known] - known]
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

# ---- passes of models ------------------------------------------------------------------------

# state <- step(state, z, rows, x) for the rows of a body, a block at a time: the first `width`
# columns of their factor, their numbers and themselves.
body_fold <- function(crew, body, message, state = NULL) {
  x <- body_x(crew, body)
  factor <- body_factor(crew, body, x)
  for (own in cut_rows(body$n, block_rows(message$width))) {
    .Call(ffi_check)
    clear_away(crew, 32 * length(own) * message$width) # a step makes some more of its kind
    z <- .Call(ffi_factor_rows, factor, c(body$n, own[1L] - 1, length(own), message$width))
    state <- message$step(state, z, body$first + own, x[own, , drop = FALSE])
  }
  state
}

# ---- the factor --------------------------------------------------------------------------------

# A user's function sees the picks of one round at a time.
apply_rounds <- function(crew, body, x, factor, rounds, again = FALSE) {
  job <- crew$job
  clear_away(crew, core_bytes + 8 * body$n * (job$source$width + 3))
  each <- if (in_r(job$kernel)) lapply(rounds, list) else list(rounds)
  for (some in each) {
    told <- .Call(ffi_body_update, job_source(job, x, some[[1L]]$x), body$state, factor,
                  body_where(crew, body), some, again, job$threads)
  }
  told
}

# The factor with room for so many more columns: as it was kept, or in the numbers that bodies
# share, from its file or made again from the rounds.
body_factor <- function(crew, body, x, more = 0) {
  columns <- body$size + more
  if (body$stays) return(kept_factor(crew, body, columns))
  factor <- shared_numbers(crew, columns)
  if (body$size > 0 && !read_factor(body, factor)) {
    made <- vapply(crew$rounds, `[[`, 0, "size") < body$size
    apply_rounds(crew, body, x, factor, crew$rounds[made], again = TRUE)
  }
  factor
}

# A factor that stays grows by doubling.
kept_factor <- function(crew, body, columns) {
  factor <- body$factor
  if (!is.null(factor) && ncol(factor) >= columns) return(factor)
  capacity <- min(crew$job$limit, max(columns, 2 * body$size, 256))
  body$factor <- .Call(ffi_zeros, as.integer(body$n), as.integer(capacity))
  if (!is.null(factor)) .Call(ffi_copy_columns, factor, body$factor)
  body$factor
}

# Numbers for the factor of one body at a time: as many as any has needed.
shared_numbers <- function(crew, columns) {
  rows <- max(vapply(crew$bodies, `[[`, 0, "n"))
  if (length(crew$buffer) < rows * columns) {
    crew$buffer <- NULL
    capacity <- min(crew$job$limit, ceiling(1.5 * columns))
    crew$buffer <- .Call(ffi_zeros, as.integer(rows), as.integer(capacity))
  }
  crew$buffer
}

# What does not stay goes into a file. Where there is no file, or no room for it either, a factor is
# made again.
keep_factor <- function(crew, body, factor) if (!body$stays) write_factor(crew, body, factor)

# A file belongs to its crew, and goes with it; `stored` columns are in it, NA once it has failed.
write_factor <- function(crew, body, factor) {
  if (is.na(body$stored) || !use_scratch()) return()
  if (is.null(body$file)) body$file <- scratch_file(crew)
  good <- .Call(ffi_factor_file, body$file, factor, c(body$n, body$stored, body$size), TRUE)
  if (!good) unlink(body$file)
  body$stored <- if (good) body$size else NA_real_
}

read_factor <- function(body, factor) {
  if (is.na(body$stored) || body$stored != body$size) return(FALSE)
  .Call(ffi_factor_file, body$file, factor, c(body$n, 0, body$size), FALSE)
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
