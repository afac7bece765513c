# Rows that do not fit: the basis engine on bodies of rows.
#
# The head of the engine (src/basis.c) keeps the rule, the candidates and the path. All rows are
# with bodies (src/body.c): runs of rows, cut at multiples of the tile, with their residuals and
# their part of the factor. The head asks through one function of a message; its answer is a list
# with an element for each body, in the order of their rows:
#
#   start    -> largest and lowest diagonal, trace; rows wanted for the first pick
#   first    rows x -> sums of squared kernel values with them
#   propose  wish -> best rows and keys, best key outside, records within a tie
#   weigh    wish -> sums of keys; find  targets -> rows they fall on
#   rows     row numbers -> x, rows of the factor, residuals, weights
#   update   picks -> totals of every pick, fused with the answer to the next wish
#   fold     a step of a model's pass -> what it made of the rows and their factor
#
# A crew (R/bodies-crew.R) is the bodies of one process; a cluster (R/cluster.R) has a crew in every
# worker. Whoever answers, the sums are the same bit for bit (src/sums.h), and so is the path.

# The basis of a source of rows. `source` has read_matrix(i), sizes and width; scaled already. With
# `keep` the bodies stay, under the name that is given as `factor`, for fold_bodies(), until
# dismiss().
basis_from_source <- function(source, kernel, control, scaling, input, cluster = NULL,
                              memory = NULL, resume = NULL, keep = FALSE) {
  refuse_all_pairs(control)
  n <- sum(as.double(source$sizes))
  if (n < 1) abort("data", "The source has no rows.")
  job <- new_job(source, kernel, control, scaling, n, check_megabytes(memory))
  rule <- bodies_rule(control, n)
  job$limit <- rule$limit
  job$first <- rule$first
  job$times <- rule$times
  head <- new_head(job, rule, crew_or_cluster(job, cluster), as_log(resume))
  heads[[job$id]] <- head
  stays <- FALSE
  on.exit(if (!stays) dismiss(job$id))
  fit <- judge_fit(head$run(control$threads), list(), control, rule, n)
  basis <- new_basis(fit, control,
    n = if (n <= .Machine$integer.max) as.integer(n) else n, kernel = kernel, scaling = scaling,
    input = input, vectors = head$vectors(fit$index)
  )
  stays <- keep
  list(basis = basis, factor = if (keep) job$id)
}

# Heads whose bodies are there, by the names of their jobs: a name travels to workers for nothing.
heads <- new.env(parent = emptyenv())

dismiss <- function(id) {
  if (is.null(id) || is.null(heads[[id]])) return(invisible())
  heads[[id]]$stop()
  rm(list = id, envir = heads)
}

# What `step` made of all rows (see body_fold()): a state for all bodies of this process, or one a
# body, in the order of their rows.
fold_bodies <- function(id, step, width, verbose = FALSE) {
  heads[[id]]$fold(list(kind = "fold", step = step, width = width, verbose = verbose))
}

refuse_all_pairs <- function(control) {
  if (control$neighbours > 0) {
    abort("argument", "`center` must be \"none\" for a source of rows: the rows nearest to the ",
          "centre are found from all pairs of rows, which are never together. ",
          "Give the rows as a matrix.")
  }
  if (control$method == "fvs" && is.infinite(control$first)) {
    abort("argument", "`first` must be a number for a source of rows: a search of all rows ",
          "for the first pick needs all pairs of rows, which are never together.")
  }
}

check_megabytes <- function(memory) {
  if (!is.null(memory)) check_number(memory, "memory", above = 0)
}

# The engine's rule; the rows searched for a first pick always by number, from 0.
bodies_rule <- function(control, n) {
  rule <- engine_rule(control, n)
  first <- if (is.null(rule$first)) seq_len(n) else rule$first
  rule$first <- if (control$method == "fvs") first - 1 else numeric()
  rule
}

# All that a crew must know: plain data and read_matrix().
new_job <- function(source, kernel, control, scaling, n, memory) {
  list(
    id = job_id(), source = source[c("read_matrix", "sizes", "width")], kernel = kernel, n = n,
    shift = if (!is.null(scaling)) numeric(source$width), threads = control$threads,
    normalised = control$method == "fvs", memory = memory
  )
}

# Names a fit among those a worker may hold, without a draw from the random numbers.
job_id <- function() {
  counter$jobs <- counter$jobs + 1
  paste(Sys.info()[["nodename"]], Sys.getpid(), format(Sys.time(), "%Y%m%d%H%M%OS6"), counter$jobs)
}

counter <- new.env(parent = emptyenv())
counter$jobs <- 0

# ---- the head ----------------------------------------------------------------------------------

# The head's side of the messages: puts together what bodies answer, keeps a log of the answers of
# workers, which may be lost, and gives those of an earlier log again before it asks anybody.
new_head <- function(job, rule, crew, log) {
  head <- list2env(list(
    job = job, crew = crew, log = log, asked = 0L, started = FALSE, rounds = list(),
    candidates = NULL, picked = list()
  ), parent = emptyenv())
  ask <- function(message) head_ask(head, message)
  list(
    run = function(threads) {
      same_random_numbers(head, rule)
      head$log$job <- job_words(job, rule)
      if (is.null(head$job$shift)) head$job$shift <- find_shift(head)
      .Call(ffi_bodies, rule, job$n, ask, threads)
    },
    vectors = function(index) {
      do.call(rbind, head$picked)[seq_along(index), , drop = FALSE]
    },
    fold = function(message) ask_crew(head, message, "fold"),
    stop = function() crew$stop(job)
  )
}

head_ask <- function(head, message) {
  head$asked <- head$asked + 1L
  message <- complete_message(head, message)
  known <- head$asked <= length(head$log$answers)
  answer <- if (known) {
    head$log$answers[[head$asked]]
  } else {
    put_together(head, message, ask_crew(head, message))
  }
  if (!known && !is.null(head$crew$cluster)) head$log$answers[[head$asked]] <- answer
  remember(head, message, answer)
  answer
}

# Bodies that missed the first messages, given from the log, are brought to where it ends.
ask_crew <- function(head, message, how = "ask") {
  with_log(head, {
    if (!head$started) {
      head$crew$start(head$job, if (message$kind != "start") head$rounds)
      head$started <- TRUE
    }
    message$round <- length(head$rounds) + (message$kind == "update")
    head$crew[[how]](message)
  })
}

# What the core cannot know: the rows themselves.
complete_message <- function(head, message) {
  if (message$kind == "first") message$x <- head$first
  if (message$kind == "update") {
    message$x <- head$candidates[message$chosen, , drop = FALSE]
    message$chosen <- NULL
  }
  message
}

put_together <- function(head, message, answers) {
  if (message$kind == "start") {
    failed <- Filter(is_status, lapply(answers, `[[`, "status"))
    if (length(failed)) fail_engine(failed[[1L]], list())
  }
  if (message$kind != "rows") return(answers)
  x <- join_rows(answers, length(message$index), head$job$source$width)
  list(parts = answers, source = job_source(head$job, x))
}

# What later messages need of this one's.
remember <- function(head, message, answer) {
  if (message$kind == "start") {
    head$first <- join_rows(answer, length(head$job$first), head$job$source$width)
  } else if (message$kind == "rows") {
    head$candidates <- join_rows(answer$parts, length(message$index), head$job$source$width)
  } else if (message$kind == "update") {
    round <- message[c("size", "index", "panel", "x")]
    head$rounds <- c(head$rounds, list(round))
    head$picked <- c(head$picked, list(round$x))
  }
}

# Rows in the order asked for, from the parts that bodies had of them.
join_rows <- function(parts, count, width) {
  x <- matrix(0, count, width)
  for (part in parts) {
    if (length(part$which)) {
      x[part$which + 1, ] <- part$x
      colnames(x) <- colnames(part$x)
    }
  }
  x
}

# The kernel between rows, and with `guests`, which are numbered after them.
job_source <- function(job, x, guests = NULL) {
  kernel <- job$kernel
  if (!in_r(kernel)) return(kernel_source(x, kernel, shift = job$shift))
  own <- nrow(x)
  rows <- function(k) {
    if (length(k) && k[1L] > own) guests[k - own, , drop = FALSE] else x[k, , drop = FALSE]
  }
  list(
    f = function(i, j) gram_in_r(kernel, rows(i), rows(j)), diagonal = kernel_diagonal(kernel, x)
  )
}

# ---- the log -----------------------------------------------------------------------------------

new_log <- function() list(job = NULL, answers = list(), seed = NULL)

# A log, or the error that carries it.
as_log <- function(resume) {
  if (is.null(resume)) return(new_log())
  log <- if (inherits(resume, "condition")) resume$log else resume
  if (!is.list(log) || !all(c("job", "answers") %in% names(log))) {
    abort("argument", "`resume` must be the error that ended an earlier call (or its `log`), not ",
          describe(resume), ".")
  }
  log
}

# What must be the same for a log to be continued.
job_words <- function(job, rule) {
  list(
    n = job$n, width = job$source$width, kernel = job$kernel,
    rule = rule[c("method", "limit", "tol", "threshold", "first", "times")]
  )
}

# The draws of an earlier call are repeated.
same_random_numbers <- function(head, rule) {
  old <- head$log$job
  if (!is.null(old) && !identical(old, job_words(head$job, rule))) {
    abort("argument", "`resume` comes from a call on other data or with other arguments.")
  }
  if (rule$method != "random") return()
  if (!is.null(head$log$seed)) {
    assign(".Random.seed", head$log$seed, globalenv())
  } else {
    if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1)
    head$log$seed <- get(".Random.seed", globalenv(), inherits = FALSE)
  }
}

# An error about a worker takes the log with it.
with_log <- function(head, code) {
  withCallingHandlers(code, kernelect_error_worker = function(e) {
    if (is.null(e$log)) {
      e$log <- head$log
      stop(e)
    }
  })
}

# ---- the shift ---------------------------------------------------------------------------------

# What may be taken from all values of a column without losing a digit, as core_shift() finds it.
find_shift <- function(head) {
  source <- head$job$source
  total <- matrix(0, 2, source$width)
  for (part in source_apply(source, column_sums, head$crew$cluster)) {
    total <- .Call(ffi_add_columns, total, part)
  }
  shift <- .Call(ffi_shift_of, total, head$job$n)
  exact <- source_apply(source, exact_columns, head$crew$cluster, shift = shift)
  shift[!Reduce(`&`, exact)] <- 0
  shift
}

column_sums <- function(i, x) .Call(ffi_add_columns, matrix(0, 2, ncol(x)), x)

exact_columns <- function(i, x, shift) .Call(ffi_shifts_exactly, x, shift)
