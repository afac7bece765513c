# A cluster of R's package parallel (sockets, MPI, parallelly, mirai): one code path through
# what its clusterCall() and clusterApply() are made of.
#
# A worker keeps its crew between calls, under the name of the fit. Some clusters do not pin their
# nodes to processes, so a message is for whoever holds the bodies: it goes to all nodes, says
# which bodies and which round it is about, and is answered by the bodies it fits. Bodies that
# nobody has answered for are asked for again, while those who have answered wait a moment.

cluster_tries <- 25L
cluster_pause <- 0.1 # seconds
node_pause <- 0.001

# Seconds after which a worker that does not answer is given up.
cluster_patience <- function() {
  check_number(getOption("kernelect.timeout", 600), "options(kernelect.timeout)", above = 0)
}

check_cluster <- function(cluster) {
  if (!inherits(cluster, "cluster") || length(cluster) < 1L) {
    must_be("cluster", "a cluster of the package parallel, such as `parallel::makeCluster(2)`",
            cluster)
  }
  cluster
}

# Not every kind of cluster stays one when it is subset.
some_nodes <- function(cluster, k) structure(unclass(cluster)[k], class = class(cluster))

# ---- calls -------------------------------------------------------------------------------------

# f(...) in every worker, or f(x[[i]], ...) in worker i. An error of ours in a worker is the error
# here; a worker that is gone or silent is named.
cluster_call <- function(cluster, f, ..., x = NULL) {
  restore <- limit_sockets(cluster, cluster_patience())
  on.exit(restore())
  given <- list(...)
  given <- if (is.null(x)) {
    rep(list(given), length(cluster))
  } else {
    lapply(x, function(v) c(list(v), given))
  }
  replies <- tryCatch(
    call_nodes(unclass(cluster)[seq_along(given)], f, given),
    kernelect_error_worker = stop,
    error = function(e) fail_worker(cluster, conditionMessage(e))
  )
  for (reply in replies) if (inherits(reply, "kernelect_failure")) stop(reply$error)
  replies
}

# f(given[[i]]) by node i, all at once: what parallel's clusterCall() and clusterApply() do, but
# with a time limit for nodes that would be waited for without end.
call_nodes <- function(nodes, f, given) {
  parallel <- asNamespace("parallel")
  for (k in seq_along(nodes)) get("sendCall", parallel)(nodes[[k]], f, given[[k]])
  until <- proc.time()[[3L]] + cluster_patience()
  repeat {
    silent <- which(!vapply(nodes, has_answered, NA))
    if (!length(silent)) break
    if (proc.time()[[3L]] > until) {
      fail_worker(nodes, paste("nothing within", cluster_patience(), "seconds"), silent)
    }
    Sys.sleep(node_pause)
  }
  replies <- lapply(nodes, get("recvResult", parallel))
  for (reply in replies) if (inherits(reply, "try-error")) stop(reply)
  replies
}

# Whether a node can be heard without waiting. Sockets have time limits of their own.
has_answered <- function(node) {
  if (inherits(node, "miraiNode")) return(!mirai::unresolved(node$mirai))
  if (!inherits(node, "MPInode")) return(TRUE)
  getExportedValue("Rmpi", "mpi.iprobe")(node$rank, node$RECVTAG, node$comm) # nocov: mpirun only
}

# What runs in a worker: its errors travel as values, classes and all.
in_worker <- function(code) {
  tryCatch(code, error = function(e) {
    if (inherits(e, "kernelect_error_source")) {
      e$message <- paste(e$message, "Workers read their own chunks: what the source uses must be",
                         "there too (objects by `parallel::clusterExport()`, files on their",
                         "disks).")
    }
    structure(list(error = e), class = "kernelect_failure")
  })
}

# Sockets wait for 30 days; ours for as long as we say.
limit_sockets <- function(cluster, seconds) {
  sockets <- Filter(function(node) inherits(node$con, "sockconn"), unclass(cluster))
  old <- lapply(sockets, function(node) tryCatch(socketTimeout(node$con), error = function(e) NULL))
  set <- function(node, value) {
    if (!is.null(value)) try(socketTimeout(node$con, ceiling(value)), silent = TRUE)
  }
  for (k in seq_along(sockets)) if (!is.null(old[[k]])) set(sockets[[k]], seconds)
  function() Map(set, sockets, old)
}

fail_worker <- function(cluster, words, lost = silent_workers(cluster)) {
  who <- if (length(lost)) {
    paste0("Worker", if (length(lost) > 1L) "s", " ", paste(lost, collapse = ", "), " of ",
           length(cluster), if (length(lost) > 1L) " do" else " does", " not answer")
  } else {
    paste0("One of the ", length(cluster), " workers did not answer")
  }
  abort("worker", who, " (", words, "). Nothing was changed. Stop this cluster, give a new one as ",
        "`cluster`, and the error that you see here as `resume`, to go on from where it was.")
}

# Numbers of the workers that do not answer a word at once. Over sockets an answer to the message
# before may be waiting: it is taken, so that who is well stays in step.
silent_workers <- function(cluster) {
  restore <- limit_sockets(cluster, 2)
  on.exit(restore())
  Sys.sleep(cluster_pause)
  which(!vapply(seq_along(cluster), function(k) {
    con <- cluster[[k]]$con
    if (inherits(con, "sockconn") && is_waiting(con)) return(takes(con))
    token <- paste("kernelect", k)
    reply <- tryCatch(parallel::clusterCall(some_nodes(cluster, k), base::identity, token),
                      error = function(e) NULL)
    if (is.null(reply) || identical(reply, list(token))) return(!is.null(reply))
    inherits(con, "sockconn") && takes(con)
  }, NA))
}

is_waiting <- function(con) {
  tryCatch(socketSelect(list(con), FALSE, 0), error = function(e) TRUE)
}

takes <- function(con) {
  tryCatch({
    unserialize(con)
    TRUE
  }, error = function(e) FALSE)
}

# Every worker has this version of the package, or it is said at once. The function that looks may
# not need the package itself. Gives the number of workers on the machine of each.
greet_workers <- function(cluster, package = "kernelect",
                          here = getNamespaceVersion(package)[[1L]]) {
  look <- function(package) {
    there <- requireNamespace(package, quietly = TRUE)
    list(
      version = if (there) getNamespaceVersion(package)[[1L]], node = Sys.info()[["nodename"]]
    )
  }
  environment(look) <- baseenv()
  replies <- cluster_call(cluster, look, package)
  for (k in seq_along(replies)) {
    version <- replies[[k]]$version
    if (!identical(version, here)) {
      abort("worker", "Worker ", k, " of ", length(replies), " on ", replies[[k]]$node, " has ",
            if (is.null(version)) "no kernelect" else paste("kernelect", version),
            ", and ", here, " is here: install the same version there, or set the library of the ",
            "workers (environment variable R_LIBS).")
    }
  }
  node <- vapply(replies, `[[`, "", "node")
  as.vector(table(node)[node])
}

# ---- the head's side ---------------------------------------------------------------------------

crew_or_cluster <- function(job, cluster) {
  if (is.null(cluster)) local_crew(job) else cluster_crew(job, check_cluster(cluster))
}

cluster_crew <- function(job, cluster) {
  together <- greet_workers(cluster)
  shares <- share_rows(job, together)
  count <- sum(vapply(shares, function(share) nrow(share$plan), 0L))
  broken <- FALSE
  guarded <- function(code) tryCatch(code, kernelect_error_worker = function(e) {
    broken <<- TRUE
    stop(e)
  })
  ask <- function(message) guarded(ask_bodies(cluster, job$id, message, count))
  list(
    start = function(job, rounds) {
      guarded(cluster_call(cluster, worker_start, job, rounds, x = shares))
    },
    ask = ask, fold = ask,
    stop = function(job) {
      if (!broken) try(cluster_call(cluster, worker_stop, job$id), silent = TRUE)
    },
    cluster = cluster
  )
}

# Rows for each worker, cut into bodies by the memory it may use.
share_rows <- function(job, together) {
  cut <- cut_at_tiles(job$n, length(together))
  before <- 0L
  lapply(seq_along(cut$first), function(k) {
    job$together <- together[k]
    plan <- plan_bodies(job, cut$first[k], cut$n[k])
    plan$number <- before + seq_len(nrow(plan))
    before <<- before + nrow(plan)
    list(plan = plan, together = together[k])
  })
}

ask_bodies <- function(cluster, id, message, count) {
  answers <- vector("list", count)
  message$wanted <- seq_len(count)
  for (attempt in seq_len(cluster_tries)) {
    for (reply in cluster_call(cluster, worker_ask, id, message)) {
      answers[as.integer(names(reply))] <- reply
    }
    message$wanted <- which(vapply(answers, is.null, NA))
    if (!length(message$wanted)) return(answers)
  }
  abort("worker", "No worker holds the rows of bod",
        if (length(message$wanted) > 1L) "ies " else "y ", paste(message$wanted, collapse = ", "),
        " of ", count, " any more: a process was lost. ",
        "Give a new cluster as `cluster`, and the error that you see here as `resume`, to go on ",
        "from where it was.")
}

# ---- the worker's side -------------------------------------------------------------------------

crews <- new.env(parent = emptyenv())

worker_start <- function(share, job, rounds) {
  in_worker({
    job$together <- share$together
    fresh <- new_crew(job, share$plan, rounds, share$plan$number)
    old <- crews[[job$id]] # where one process answers for two nodes
    if (!is.null(old)) {
      fresh$bodies <- c(old$bodies, fresh$bodies)
      fresh$files <- c(old$files, fresh$files)
      old$files <- NULL
    }
    crews[[job$id]] <- fresh
    length(fresh$bodies)
  })
}

worker_stop <- function(id) {
  unlink(crews[[id]]$files)
  if (!is.null(crews[[id]])) rm(list = id, envir = crews)
  NULL
}

# Answers of the bodies here that the message is about, by their numbers.
worker_ask <- function(id, message) {
  in_worker({
    crew <- crews[[id]]
    mine <- Filter(function(body) body$number %in% message$wanted, crew$bodies)
    mine <- Filter(function(body) fits_round(body, message), mine)
    if (!length(mine)) Sys.sleep(cluster_pause) # so that another process takes the next message
    answers <- crew_answer(crew, message, mine)
    names(answers) <- vapply(mine, function(body) as.character(body$number), "")
    answers
  })
}

# A body that has been told already is silent; one that has missed a round refuses.
fits_round <- function(body, message) {
  ahead <- message$round - body$round
  if (message$kind == "update") ahead <- ahead - 1L
  if (ahead > 0) {
    abort("worker", "Body ", body$number, " is at round ", body$round, ", and the message \"",
          message$kind, "\" is of round ", message$round, ".")
  }
  ahead == 0
}

# ---- chunks ------------------------------------------------------------------------------------

# f(i, chunk i, ...) for all chunks in their order, each worker reading its own. `f` must not need
# more of its surroundings than can be sent.
source_apply <- function(source, f, cluster = NULL, ...) {
  chunks <- which(source$sizes > 0)
  if (is.null(cluster)) return(chunk_apply(chunks, source, f, ...))
  do.call(c, share_chunks(chunks, cluster, worker_apply, source, f, ...))
}

# f(chunks, ...) in every worker, each with chunks of its own that lie side by side.
share_chunks <- function(.chunks, .cluster, .f, ...) {
  workers <- min(length(check_cluster(.cluster)), length(.chunks))
  deal <- split(.chunks, ceiling(seq_along(.chunks) * workers / length(.chunks)))
  cluster_call(some_nodes(.cluster, seq_len(workers)), .f, ..., x = unname(deal))
}

worker_apply <- function(chunks, source, f, ...) in_worker(chunk_apply(chunks, source, f, ...))

chunk_apply <- function(chunks, source, f, ...) {
  lapply(chunks, function(i) f(i, read_chunk(source, i), ...))
}
