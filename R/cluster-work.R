# Work other than bases on a cluster: pairs of rows shared out, and long loops.

# A criterion maximised with the pairs of rows shared among workers: they are sent the problem once,
# then scale factors, and give back 2 d + 2 sums.
maximise_on <- function(cluster, problem, start, control) {
  greet_workers(cluster)
  id <- job_id()
  on.exit(try(cluster_call(cluster, worker_stop, id), silent = TRUE))
  cluster_call(cluster, worker_keep, id, problem, control$threads)
  shares <- lapply(seq_along(cluster), function(k) c(k - 1, length(cluster)))
  value <- function(w) {
    forms <- Reduce(`+`, cluster_call(cluster, worker_forms, id, w, x = shares))
    found <- .Call(ffi_criterion_finish, problem$x, problem$u, problem$spec, problem$kernel, w,
                   forms)
    c(found$value, found$gradient)
  }
  .Call(ffi_maximise_function, value, environment(), start, search_control(control))
}

worker_keep <- function(id, problem, threads) {
  problem$threads <- threads
  crews[[id]] <- problem
  Sys.sleep(cluster_pause) # every process takes one, also where nodes are not pinned to them
  NULL
}

worker_forms <- function(share, id, w) {
  in_worker({
    problem <- crews[[id]]
    if (is.null(problem)) abort("worker", "A worker was not told of the problem.")
    spec <- c(problem$spec, share = share[1L], shares = share[2L])
    .Call(ffi_criterion_forms, problem$x, problem$u, spec, problem$kernel, w, problem$threads)
  })
}

# f(x[[1]]), f(x[[2]]), ... by the workers; what f needs is sent once to each.
cluster_lapply <- function(cluster, x, f) {
  greet_workers(check_cluster(cluster))
  workers <- min(length(cluster), length(x))
  deal <- split(seq_along(x), (seq_along(x) - 1L) %% workers)
  parts <- lapply(unname(deal), function(k) x[k])
  replies <- cluster_call(some_nodes(cluster, seq_len(workers)), worker_lapply, f, x = parts)
  out <- vector("list", length(x))
  for (k in seq_along(deal)) out[deal[[k]]] <- replies[[k]]
  out
}

worker_lapply <- function(part, f) in_worker(lapply(part, f))
