# Workers give the basis of rows in memory, bit for bit, and a lost one costs an error and no more.

# A worker at a time: more than two at once are refused while a package is checked.
socket_cluster <- function(count) {
  nodes <- lapply(seq_len(count), function(k) unclass(parallel::makePSOCKcluster(1)))
  cluster <- structure(do.call(c, nodes), class = c("SOCKcluster", "cluster"))
  version <- unlist(parallel::clusterCall(cluster, getNamespaceVersion, "kernelect"))
  if (!all(version == getNamespaceVersion("kernelect"))) skip("workers have another version")
  cluster
}

stop_quietly <- function(cluster) try(parallel::stopCluster(cluster), silent = TRUE)

three <- socket_cluster(3)
two <- three[1:2]
one <- three[1]

workers <- function(cluster) unlist(parallel::clusterCall(cluster, Sys.getpid))

fit_in_memory <- function(x, control, kernel = rbf_kernel(sigma = 1)) {
  set.seed(3)
  basis_from_data(list(x = x, scaling = NULL, input = list()), kernel, control)$basis
}

fit_on <- function(cluster, x, control, ..., kernel = rbf_kernel(sigma = 1)) {
  set.seed(3)
  basis_from_source(ready_source(x, 4), kernel, control, NULL, list(), cluster, ...)$basis
}

tied <- function(n) {
  x <- round(random_matrix(n, 3), 1)
  x[seq_len(n %/% 3), ] <- x[n + 1 - seq_len(n %/% 3), ]
  x
}

limits <- function(method) {
  basis_control(method, size = 40, tol = 1e-4, first = 30, threshold = function(t) t^2)
}

expect_same_bases <- function(cluster) {
  x <- tied(1100)
  for (method in basis_methods) {
    expected <- fit_in_memory(x, limits(method))
    expect_identical(fit_on(cluster, x, limits(method)), expected)
    expect_identical(fit_on(cluster, x, limits(method), memory = 0.2), expected)
  }
  few <- tied(100) # fewer tiles than workers
  expect_identical(fit_on(cluster, few, limits("fvs")), fit_in_memory(few, limits("fvs")))
}

test_that("workers over sockets pick the rows that one process in memory picks", {
  expect_same_bases(two)
  expect_same_bases(three)
  held <- parallel::clusterEvalQ(three, length(getNamespace("kernelect")$crews))
  expect_true(all(unlist(held) == 0L)) # nothing of a fit stays behind
})

test_that("clusters of mirai, whose nodes are nobody in particular, pick the same rows", {
  skip_if_not_installed("mirai")
  for (count in 2:3) {
    cluster <- mirai::make_cluster(count)
    expect_same_bases(cluster)
    stop_quietly(cluster)
  }
})

test_that("clusters over MPI pick the same rows", {
  skip_if_not(all(nzchar(c(system.file(package = "Rmpi"), system.file(package = "snow")))))
  skip_if_not(nzchar(Sys.which("mpirun")))
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(
    "library(kernelect)", "engine <- asNamespace('kernelect')",
    "cluster <- parallel::makeCluster(2, type = 'MPI')",
    "x <- round(cbind(sin(1:900), cos((1:900)^2)), 1)", # ties and duplicates
    "rows <- local({", "  x <- x",
    "  list(read_matrix = function(i) x[300 * (i - 1) + 1:300, ], sizes = rep(300, 3), width = 2)",
    "})", "same <- function(method) {",
    "  control <- engine$basis_control(method, size = 30, first = 20)", "  set.seed(3)",
    "  a <- engine$basis_from_data(list(x = x), rbf_kernel(sigma = 1), control)$basis",
    "  set.seed(3)",
    "  b <- engine$basis_from_source(rows, rbf_kernel(sigma = 1), control, NULL, NULL, cluster)",
    "  identical(a, b$basis)", "}",
    "cat('same:', vapply(engine$basis_methods, same, NA), '\n')", "options(kernelect.timeout = 2)",
    "sleep <- function(seconds) Sys.sleep(seconds)", "environment(sleep) <- baseenv()",
    "try <- function(code) tryCatch(code, kernelect_error_worker = conditionMessage)",
    "cat('lost:', try(engine$cluster_call(cluster, sleep, x = list(0, 6))), '\n')",
    "flush(stdout())", "Rmpi::mpi.abort()" # what is still to be answered is waited for by nobody
  ), script)
  said <- suppressWarnings(system2(
    "mpirun", c("--allow-run-as-root", "--oversubscribe", "-np", "1", "Rscript", script),
    stdout = TRUE, stderr = TRUE, env = "OMPI_MCA_btl_base_warn_component_unused=0", timeout = 180
  ))
  skip_if(!any(grepl("^same:", said)), "MPI does not start here")
  expect_true("same: TRUE TRUE TRUE TRUE TRUE " %in% said) # of the five rules
  expect_match(grep("^lost:", said, value = TRUE), "Worker 2 of 2 does not answer")
})

test_that("a mirai process that sleeps is given up after the time allowed, and named", {
  skip_if_not_installed("mirai")
  cluster <- mirai::make_cluster(2)
  on.exit(parallel::stopCluster(cluster))
  old <- options(kernelect.timeout = 1)
  on.exit(options(old), add = TRUE, after = FALSE)
  sleep <- function(seconds) Sys.sleep(seconds)
  environment(sleep) <- baseenv()
  expect_error(cluster_call(cluster, sleep, x = list(0, 30)), "Worker 2 of 2 does not answer",
               class = "kernelect_error_worker")
})

replaced <- function(name, value) utils::assignInNamespace(name, value, "kernelect")

# Runs `action` before the k-th update is sent.
before_update <- function(k, action, code) {
  plain <- ask_bodies
  on.exit(replaced("ask_bodies", plain))
  updates <- 0
  replaced("ask_bodies", function(cluster, id, message, count) {
    updates <<- updates + (message$kind == "update")
    if (updates == k && message$kind == "update") action()
    plain(cluster, id, message, count)
  })
  code
}

# code(cluster), the second worker of which is killed before the k-th update.
with_doomed <- function(k, code) {
  doomed <- socket_cluster(1)
  on.exit(suppressWarnings(stop_quietly(doomed)))
  cluster <- structure(c(unclass(one), unclass(doomed)), class = class(one))
  pid <- workers(doomed)
  before_update(k, function() tools::pskill(pid, tools::SIGKILL), {
    expect_error(code(cluster), "Worker 2 of 2", class = "kernelect_error_worker")
  })
}

test_that("a worker killed at any round is named, and another cluster goes on to the same basis", {
  x <- tied(1000)
  for (method in c("random", "fvs")) { # the rule that draws, and the one with a round of its own
    control <- limits(method)
    expected <- fit_in_memory(x, control)
    expect_gt(expected$updates, 1)
    for (k in seq_len(expected$updates)) {
      lost <- with_doomed(k, function(cluster) fit_on(cluster, x, control))
      expect_gt(length(lost$log$answers), k)
      runif(7) # the draws go on from where the log says
      expect_identical(fit_on(two, x, control, resume = lost), expected)
      expect_identical(fit_on(NULL, x, control, resume = lost$log), expected)
    }
  }
})

test_that("a model that lost a worker is taken up again, and is the same", {
  data <- data.frame(tied(1000), y = sin(1:1000))
  fit <- function(...) kernel_lm(y ~ ., as_row_source(data, rows = 300), size = 30, ...)
  lost <- with_doomed(2, function(cluster) fit(cluster = cluster))
  expect_same_model(fit(cluster = two, resume = lost), kernel_lm(y ~ ., data, size = 30))
})

test_that("a silent worker is given up after the time allowed", {
  skip_on_os("windows")
  old <- options(kernelect.timeout = 5)
  on.exit(options(old))
  x <- tied(500)
  stuck <- socket_cluster(1)
  cluster <- structure(c(unclass(stuck), unclass(one)), class = class(one))
  pid <- workers(stuck)
  stop_it <- function() {
    options(kernelect.timeout = 1)
    tools::pskill(pid, tools::SIGSTOP)
  }
  expect_error(before_update(1, stop_it, fit_on(cluster, x, limits("cholesky"))),
               "Worker 1 of 2", class = "kernelect_error_worker")
  tools::pskill(pid, tools::SIGKILL)
  suppressWarnings(stop_quietly(stuck))
  expect_identical(workers(one), workers(one)) # the other one is in step
})

test_that("errors of reading come back from workers with their class", {
  cluster <- one
  source <- ready_source(tied(500), 2)
  source$sizes <- rev(source$sizes)
  expect_error(
    basis_from_source(source, rbf_kernel(sigma = 1), limits("fvs"), NULL, list(), cluster),
    "Chunk 1", class = "kernelect_error_source"
  )
  x <- tied(500)
  expect_identical(fit_on(cluster, x, limits("fvs")), fit_in_memory(x, limits("fvs")))
})

test_that("what only the head has is missed in words that say where it must be", {
  here <- tied(100)
  source <- row_source(function(i) here, nrow(here))
  environment(source$read) <- globalenv() # as of a function typed at the prompt
  on.exit(rm("here", envir = globalenv()))
  assign("here", here, globalenv())
  expect_error(kernel_basis(source, size = 5, cluster = one), "clusterExport",
    class = "kernelect_error_source")
})

test_that("a body refuses a message of another round, and is silent when told twice", {
  body <- list(number = 2, round = 3)
  ask <- function(kind, round) fits_round(body, list(kind = kind, round = round))
  expect_true(ask("update", 4))
  expect_false(ask("update", 3))
  expect_true(ask("rows", 3))
  expect_error(ask("update", 5), "Body 2 is at round 3", class = "kernelect_error_worker")
  expect_error(ask("rows", 4), "round 4", class = "kernelect_error_worker")
})

test_that("bodies that nobody holds are an error", {
  cluster <- one
  on.exit(replaced("cluster_tries", 25L))
  replaced("cluster_tries", 2L)
  message <- list(kind = "propose", round = 0)
  expect_error(ask_bodies(cluster, "none", message, 2), "bodies 1, 2 of 2",
               class = "kernelect_error_worker")
})

test_that("a worker that was not told of the problem says so", {
  answer <- worker_forms(c(1, 2), "none", 1)
  expect_s3_class(answer, "kernelect_failure")
  expect_s3_class(answer$error, "kernelect_error_worker")
  expect_match(conditionMessage(answer$error), "not told of the problem")
})

test_that("a process that answers for two nodes holds the bodies of both", {
  x <- tied(1100)
  job <- new_job(ready_source(x, 4), rbf_kernel(sigma = 1), limits("fvs"), NULL, 1100, NULL)
  job[c("limit", "first")] <- bodies_rule(limits("fvs"), 1100)[c("limit", "first")]
  on.exit(worker_stop(job$id))
  shares <- share_rows(job, c(1, 1))
  counts <- vapply(shares, function(share) nrow(share$plan), 0L)
  held <- lapply(shares, worker_start, job, list())
  expect_identical(unlist(held), cumsum(counts))
  expect_identical(sum(vapply(crews[[job$id]]$bodies, `[[`, 0, "n")), 1100)
})

test_that("workers without the package, or with another version, are refused at once", {
  cluster <- one
  expect_error(greet_workers(cluster, here = "9.9.9"), "Worker 1 of 1 .* has kernelect",
               class = "kernelect_error_worker")
  expect_error(greet_workers(cluster, "kernelectNotThere", "9.9.9"), "has no kernelect",
               class = "kernelect_error_worker")
  expect_equal(greet_workers(cluster), 1)
})

test_that("what is no cluster, and a log of something else, are refused", {
  x <- tied(300)
  expect_error(fit_on(2, x, limits("fvs")), "`cluster`", class = "kernelect_error_argument")
  expect_error(fit_on(NULL, x, limits("fvs"), resume = 1), "`resume`",
               class = "kernelect_error_argument")
  log <- list(job = list(n = 7), answers = list())
  expect_error(fit_on(NULL, x, limits("fvs"), resume = log), "other data",
               class = "kernelect_error_argument")
})

test_that("every chunk is visited once, in order, by any number of workers", {
  x <- tied(700)
  sums <- function(i, x, add) c(i, sum(x) + add)
  environment(sums) <- baseenv()
  expected <- source_apply(ready_source(x, 5), sums, add = 1)
  expect_length(expected, 5)
  cluster <- two
  expect_identical(source_apply(ready_source(x, 5), sums, cluster, add = 1), expected)
  expect_identical(source_apply(ready_source(x, 1), sums, cluster, add = 1),
                   source_apply(ready_source(x, 1), sums, add = 1))
})

test_that("pairs of rows shared among workers give the ranking of one process", {
  x <- random_matrix(620, 5)
  y <- factor(x[, 2] * x[, 4] + 0.1 * x[, 1] > 0)
  for (method in c("sas", "scss", "sfs")) {
    alone <- kernel_rank(x, y, method = method, max_iter = 15)
    shared <- kernel_rank(x, y, method = method, max_iter = 15, cluster = three)
    expect_identical(shared$ranking, alone$ranking)
    expect_equal(shared$value, alone$value, tolerance = 1e-12)
    expect_equal(shared$weights, alone$weights, tolerance = 1e-6)
    expect_null(shared$cluster)
  }
})

test_that("a cluster that has nothing to do is told of, and changes nothing", {
  x <- random_matrix(60, 4)
  y <- factor(x[, 1] > 0)
  for (method in c("bahsic", "forward")) {
    expect_message(shared <- kernel_rank(x, y, method = method, cluster = two), "nothing to do")
    expect_identical(shared$ranking, kernel_rank(x, y, method = method)$ranking)
  }
  expect_message(kernel_rank(x, y, method = "fisher", resample = 2, n = 1, cluster = two), NA)
})

test_that("shares of the pairs of rows add up to the criterion", {
  x <- random_matrix(500, 3)
  y <- factor(rep(1:2, 250))
  for (criterion in c("alignment", "separability", "hsic")) {
    problem <- criterion_problem(x, y, rbf_kernel(sigma = 2), criterion)
    whole <- evaluate_criterion(problem, c(1, 2, 0.5))
    forms <- lapply(0:2, function(share) {
      .Call(ffi_criterion_forms, problem$x, problem$u, c(problem$spec, share = share, shares = 3),
            problem$kernel, c(1, 2, 0.5), 1L)
    })
    expect_gt(min(vapply(forms, `[`, 0, 1L) != 0), 0) # each has its part
    found <- .Call(ffi_criterion_finish, problem$x, problem$u, problem$spec, problem$kernel,
                   c(1, 2, 0.5), Reduce(`+`, forms))
    expect_equal(found, whole, tolerance = 1e-11)
  }
})

test_that("resamples and folds on workers are those of one process", {
  x <- random_matrix(80, 4)
  y <- factor(x[, 1] > 0)
  rank <- function(...) {
    set.seed(2)
    kernel_rank(x, y, method = "fisher", resample = 6, n = 1, ...)
  }
  alone <- rank()
  shared <- rank(cluster = two)
  expect_identical(shared$frequency, alone$frequency)
  expect_identical(shared$null, alone$null)
  tune <- function(...) {
    kernel_tune(x, y, grid = list(sigma = c(1, 2), size = c(5, 10), ridge = 0.1), folds = 3,
                seed = 4, ...)
  }
  expect_identical(tune(cluster = two)$results, tune()$results)
  expect_error(tune(cluster = 1), "`cluster`", class = "kernelect_error_argument")
})

test_that("what goes wrong in a node itself is told", {
  wrong <- function(words) stop(words)
  environment(wrong) <- baseenv()
  expect_error(call_nodes(unclass(one), wrong, list(list("all went wrong"))), "all went wrong")
  expect_error(cluster_call(one, wrong, x = list("all went wrong")), "all went wrong",
               class = "kernelect_error_worker")
})

test_that("a worker whose answer comes late is not silent, and in step again", {
  late <- function(seconds) Sys.sleep(seconds)
  environment(late) <- baseenv()
  get("sendCall", asNamespace("parallel"))(one[[1L]], late, list(1))
  expect_identical(silent_workers(one), integer())
  expect_identical(parallel::clusterCall(one, identity, "next"), list("next"))
})

stop_quietly(three)
