# A call of every entry point of the glue that works, and for each of its arguments what must not:
# entry = list(arguments, list(bad values of the first, of the second, ...)).

glue_calls <- function() {
  x <- random_matrix(6, 2)
  K <- tcrossprod(x) + diag(6)
  label <- rep(1:2, each = 3)
  u <- matrix(rep(c(1, -1), each = 3))
  linear <- list(type = "linear")
  spline <- list(type = "spline")
  both <- list(type = "sum", scale = 1,
    parts = list(linear, list(type = "rbf", scale = 1, weights = c(1, 2))))
  spec <- list(type = "alignment", constant = 1, block = 240)
  without <- function(list) lapply(seq_along(list), function(i) list[-i])
  bad_spec <- c(without(spec), list(c(1, 1, 240), unname(spec)),
    lapply(list(list(type = "a"), list(type = 1), list(block = 0), list(constant = "a")),
      function(bad) utils::modifyList(spec, bad)))
  control <- list(optimizer = "lbfgs", max_iter = 3, tol = 1e-6, kinked = 0)
  bad_control <- c(without(control),
    list(c(0, 3, 1e-6, 0), utils::modifyList(control, list(optimizer = "a"))))
  narrow <- x[, 1, drop = FALSE]
  text <- matrix("a", 6, 2)
  short <- c(1, 2, 3)
  bad_x <- list(text, x[, 1], NULL)
  bad_label <- list(label[-1], c(label, 1L), as.double(label), replace(label, 2, 0L),
    replace(label, 2, NA))
  bad_kernel <- list(list(type = "none"), list(type = 1), list("linear"),
    list(type = c("linear", "rbf")), "linear", 1:4, NULL,
                     list(type = "rbf", scale = "a"), list(type = "rbf", scale = 1:2),
                     list(type = "sum", scale = 1),
                     list(type = "linear", weights = 1), list(type = "linear", weights = 1:2),
                     list(type = "linear", parts = list(linear)),
                     list(type = "sum", parts = list()), list(type = "product", parts = linear),
                     list(type = "sum", parts = list(linear, 1)),
                     Reduce(function(inner, i) list(type = c("sum", "product")[i %% 2 + 1],
                       parts = list(inner, linear)), 1:25, linear))
  sparse <- as_sparse(x)
  bad_threads <- list(0L, NA, -1L)
  problem <- list(x, u)
  bad_problem <- list(bad_x, list(u[-1, , drop = FALSE], c(u), NULL, text, u[, 0]))
  regression <- regress(x, list(matrix = narrow))
  turned <- .Call(ffi_bidiagonalise, regression, 2)
  descent <- list(z = t(x), scale = c(1, 1), diagonal = rowSums(x^2), linear = rep(1, 6),
    lower = rep(0, 6), upper = rep(1, 6), level = 0, spread = 1)
  source <- function(...) {
    whole <- list(x = x, z = x[1:3, ], kernel = both, shift = NULL)
    changes <- list(...)
    whole[names(changes)] <- changes
    whole
  }
  bad_sources <- c(
    lapply(bad_x, function(bad) source(x = bad)),
    lapply(list(narrow, text), function(bad) source(z = bad)),
    lapply(bad_kernel, function(bad) source(kernel = bad)),
    lapply(list(1, short, 1:2), function(bad) source(shift = bad)),
    list(list(), x, list(K = K[, -1]), unname(source()))
  )
  dual <- list(linear = rep(1, 6), lower = numeric(6), upper = rep(1, 6), start = numeric(6),
    total = 1)
  kept <- list(vectors = x[1:3, ], kernel = both, shift = NULL, center = NULL, scale = NULL)
  what <- list(centres = 0L, column = NULL, constant = 0, factor = NULL, residual = FALSE,
    dual = NULL, offset = NULL, diagonal = NULL)
  objective <- function(w) c(-sum(w^2), rep(-1, length(w)))
  list(
    ffi_symmetry = list(list(K), list(list(K[, -1], text))),
    ffi_all_finite = list(list(x), list(list(1L, text, NULL))),
    ffi_centred_crossprod = list(list(x + 0, TRUE, 1L), list(bad_x, NULL, bad_threads)),
    ffi_cholesky = list(list(K, 1L), list(list(K[, -1], text, K[0, 0]), bad_threads)),
    ffi_has_parts = list(list(list(a = 1), list(a = 1)), list(NULL, NULL)), # takes anything
    ffi_product = list(list(K, x, 1L),
      list(list(K[, -1], text, K[0, 0]), list(x[-1, ], 1:6, x[, 0]), bad_threads)),
    ffi_solve_upper = list(list(K, x, 1L),
      list(list(K[, -1], text, K[0, 0]), list(x[-1, ], 1:6, x[, 0]), bad_threads)),
    ffi_solve = list(list(K, rep(1, 6)), list(list(K[, -1], text, K[0, 0]), list(1, NULL, 1:6))),
    ffi_distances = list(list(x), list(c(list(x[0, ]), bad_x))),
    ffi_column_moments = list(list(x), list(bad_x)),
    ffi_join_moments = list(list(diag(7), diag(7)), list(list(x), list(diag(7)[, -1]))),
    ffi_mean_and_sd = list(list(diag(7)), list(list(x))),
    ffi_divide_upper = list(list(x, c(0, 0), diag(2)), list(bad_x, list(0, NULL), list(K))),
    ffi_qr_append = list(list(NULL, x), list(list(K, text), bad_x)),
    ffi_qr_regression = list(list(NULL, x, x, NULL),
      list(list(K, text), bad_x, list(text, x[-1, ]), list(1, text))),
    ffi_column_sd = list(list(x, c(0, 0)), list(bad_x, list(0, NULL, 1:2))),
    ffi_scale_columns = list(list(x, c(0, 0), c(1, 1)), list(bad_x, list(0, NULL), list(1, NULL))),
    ffi_criterion = list(
      c(problem, list(spec, linear, c(1, 1), 1L)),
      c(bad_problem, list(bad_spec, c(bad_kernel, list(spline)), list(1, NULL, 1:2), bad_threads))
    ),
    ffi_criterion_forms = list(
      c(problem, list(spec, linear, c(1, 1), 1L)),
      c(bad_problem, list(bad_spec, c(bad_kernel, list(spline)), list(1, NULL, 1:2), bad_threads))
    ),
    ffi_criterion_finish = list(
      c(problem, list(spec, linear, c(1, 1), numeric(6))),
      c(bad_problem, list(bad_spec, c(bad_kernel, list(spline)), list(1, NULL, 1:2),
        list(1, NULL, 1:6)))
    ),
    ffi_maximise = list(
      c(problem, list(spec, linear, c(1, 1), control, 1L)),
      c(bad_problem, list(bad_spec, bad_kernel, list(1, NULL, 1:2), bad_control, bad_threads))
    ),
    ffi_maximise_function = list(
      list(objective, environment(), c(1, 1), control),
      list(list(1, function(w) 1, function(w) "a", function(w) 1:3), list(1), list(1:2),
        bad_control)
    ),
    ffi_flip_sums = list(c(problem, list(c(1, 0), c(0, 1), FALSE, 1L)),
      c(bad_problem, list(list(1, NULL), list(1, NULL, 1:2), NULL, bad_threads))),
    ffi_subset_pairs = list(c(problem, list(linear, 1L)),
      c(bad_problem, list(bad_kernel, bad_threads))),
    ffi_subset_extend = list(c(problem, list(linear, c(1, 0), 1L)),
      c(bad_problem, list(bad_kernel, list(1, NULL, 1:2), bad_threads))),
    ffi_subset_reduce = list(c(problem, list(linear, c(1, 1), 1L)),
      c(bad_problem, list(bad_kernel, list(1, NULL, 1:2), bad_threads))),
    ffi_descend = list(
      list(descent, list(b = numeric(6), v = numeric(2), sum = 0), 0:5, 1L),
      list(c(without(descent[1:6]), list(utils::modifyList(descent, list(scale = 1)))),
        list(list(b = numeric(6)), list(b = 1, v = numeric(2), sum = 0)), list(6L, -1L, c(0, 1)),
        NULL)
    ),
    ffi_dual = list(
      list(K, dual, list(tol = 1e-8, max_iter = 100)),
      list(list(K[, -1], text),
        c(without(dual),
          list(1, utils::modifyList(dual, list(upper = 1:6)),
            utils::modifyList(dual, list(linear = 1)))),
           c(without(list(tol = 1e-8, max_iter = 100)), list(c(1, 1, 1))))
    ),
    ffi_eigen = list(list(K, 0), list(list(K[, -1], text, K[0, 0]), NULL)),
    ffi_expand = list(
      list(x, kept, what, 1L),
      list(bad_x, c(lapply(list(narrow, text),
        function(bad) utils::modifyList(kept, list(vectors = bad))),
                    lapply(bad_kernel, function(bad) replace(kept, "kernel", list(bad))),
                    list(utils::modifyList(kept, list(scale = c(1, 1))),
                      utils::modifyList(kept, list(center = 1)))),
           lapply(list(list(factor = diag(2)), list(dual = narrow[1:2, , drop = FALSE]),
             list(column = 1), list(centres = 1L)),
                  function(bad) utils::modifyList(what, bad)), bad_threads)
    ),
    ffi_extremes = list(list(x, c(0, 0), diag(2)), list(bad_x, list(1, 1:2), list(diag(3), 1))),
    ffi_working = list(
      list(row_sum(list(kernel_source(x, linear_kernel()))), dual,
        list(tol = 1e-8, max_iter = 100, size = 4, cache = 1e6, threads = 1L)),
      list(list(list(), row_sum(list()), row_sum(list(kernel_source(x, linear_kernel())), c(1, 2)),
        row_sum(list(kernel_source(x[-1, ], linear_kernel())))),
           without(dual), without(
             list(tol = 1e-8, max_iter = 100, size = 4, cache = 1e6, threads = 1L)))
    ),
    ffi_source_form = list(list(kernel_source(x, linear_kernel()), x, 1L),
      list(list(list()), list(x[-1, ], text), bad_threads)),
    ffi_gram_product = list(list(K, x, TRUE),
      list(list(K[, -1], K[-1, -1], 1), list(x[-1, ], 1:6), NULL)),
    ffi_regress = list(
      list(x, narrow, 0, NULL, TRUE, 1L),
      list(list(text, x[-1, ], x[, 0]), list(narrow[-1, , drop = FALSE], x[, 1]), NULL,
        list(1, short), NULL, list(0L))
    ),
    ffi_regress_over = list(
      list(x + 0, narrow, 0, NULL, 1L, TRUE),
      list(list(text, x[-1, ], x[, 0]), list(narrow[-1, , drop = FALSE], x[, 1]), NULL,
        list(1, short), list(0L), NULL)
    ),
    ffi_nested_loo = list(
      list(regression, 2, NULL, TRUE),
      list(list(within_list(regression, q = x[-1, ]), within_list(regression, r = diag(3)),
        within_list(regression, c = diag(3)), within_list(regression, dependent = NULL),
        within_list(regression, dependent = TRUE), within_list(regression, rest = diag(3)),
        within_list(regression, rest = diag(2))), list(0, 3),
           list(label[-1], as.double(label), label, label - 2L), NULL)
    ),
    ffi_bidiagonalise = list(list(regression, 2),
      list(list(within_list(regression, y = x[-1, ])), list(0, 3))),
    ffi_ridge_loo = list(
      list(regression, turned, NULL, TRUE, 1),
      list(list(within_list(regression, y = x[-1, ])),
        list(within_list(turned, p = diag(3)), within_list(turned, p = x),
          within_list(turned, over = 1), within_list(turned, diagonal = NULL),
          within_list(turned, rows = x[-1, ]), within_list(turned, rows = narrow)),
        list(label[-1], as.double(label)), NULL, list(1L, "a", numeric()))
    ),
    ffi_ridge_turn = list(
      list(turned, 0.1),
      list(list(within_list(turned, p = diag(3)), within_list(turned, over = 1), list()),
        list(0, -1, NA_real_))
    ),
    ffi_ridge_sizes = list(
      list(regression, c(1, 2), NULL, 1),
      list(list(within_list(regression, y = x[-1, ])),
        list(0, 3, 1:2, numeric(), c(2, 1), c(1, 3), c(1, NA)),
        list(label[-1], as.double(label)), list(1L, "a", numeric()))
    ),
    ffi_without_folds = list(
      list(regression, diag(2), list(rep_len(1:2, nrow(x)))),
      list(list(within_list(regression, y = x[-1, ]), within_list(regression, rest = diag(2))),
        list(diag(3), diag(2)[, 1, drop = FALSE], diag(0), 1:4),
        list(1:2, list(1:2), list(rep(0L, nrow(x))), list(rep(1, nrow(x)))))
    ),
    ffi_row_squares = list(list(x, 2),
      list(bad_x, list(-1, 3, NA_real_, 1L, c(2, 1), c(1, 1)))),
    ffi_sparse_sums = list(list(sparse, sparse$value),
      list(list(x, within_list(sparse, column = 0:1), within_list(sparse, size = c(6L, 1L))),
        list(1:3, sparse$value[-1], NULL))),
    ffi_fuse = list(list(list(K, K), c(1, 2)),
      list(list(list(), K, list(K, K[-1, -1]), list(K[, -1])), list(1, NULL, 1:2))),
    ffi_centred_system = list(list(K, rep(1, 6), rep(0, 6), 1),
      list(list(K[, -1], text), list(1, NULL), list(1, NULL), NULL)),
    ffi_forms = list(list(list(K), x), list(list(list(), K, list(K[, -1])), list(x[-1, ], 1:6))),
    ffi_gram = list(list(source(), 1L), list(bad_sources, bad_threads)),
    ffi_diagonal = list(list(x, both), list(bad_x, bad_kernel)),
    ffi_exact_shift = list(list(x), list(bad_x)),
    ffi_kernel_traits = list(list(both),
      list(Filter(function(bad) is.null(as.list(bad)$weights), bad_kernel))),
    ffi_scale_gradient = list(
      list(x, both, c(1, 0), K, 1L),
      list(bad_x, c(bad_kernel, list(spline)), list(1, short, 1:2),
        list(K[, -1], text, K[-1, -1], c(K)), bad_threads)
    ),
    ffi_softmax = list(list(x, label, rep(1, 6), c(0, 0, 0), 0.1, 1L),
      list(bad_x, list(label[-1], as.double(label), replace(label, 2, 3L), replace(label, 2, NA)),
        list(NULL, short), list(NULL, short[-1]), list(-1, NaN), bad_threads)),
    ffi_kffs = list(
      list(x, label, "given", 1:2, FALSE),
      list(c(bad_x, list(x[0, ], x[, 0])), bad_label, list("a", 1, NULL),
        list(1L, c(1, 2), c(1L, 3L), c(0L, 1L), c(1L, NA)), NULL)
    ),
    ffi_nearest = list(
      list(x, x, label, c(0, 0), 0, 1L),
      list(list(text, narrow), list(x[0, ], narrow), bad_label, list(0, 1:2), NULL, bad_threads)
    ),
    ffi_nested_errors = list(
      list(x, label, 1:6, c(0, 0), 1L, FALSE),
      list(list(text, x[-1, ]), c(bad_label, list(rev(label))),
        list(1:5, 1:7, c(1:5, 7L), 0:5, as.double(1:6)), list(0, NULL, 1:2), bad_threads, NULL)
    ),
    ffi_weighted_columns = list(list(x, 2:1, c(1, 2)),
      list(bad_x, list(c(1L, 3L), 0:1, c(1, 2)), list(1, NULL, 1:2))),
    ffi_add_columns = list(list(matrix(0, 2, 2), x),
      list(list(matrix(0, 1, 2), matrix(0, 2, 3), 0), bad_x)),
    ffi_shift_of = list(list(matrix(0, 2, 2), 6), list(list(matrix(0, 3, 2), text), list(0, -1))),
    ffi_shifts_exactly = list(list(x, c(0, 0)), list(bad_x, list(NULL, 1, 1:2))),
    ffi_copy_columns = list(list(x, cbind(x, x)), list(list(text, x[-1, ]), list(narrow, text))),
    ffi_factor_file = list(list(tempfile(), x, c(nrow(x), 0, 2), TRUE),
      list(list(1, NULL), list(text, 1), list(c(nrow(x), 0, 3), c(nrow(x), 2, 1), 1), NULL)),
    ffi_factor_rows = list(list(x, c(nrow(x), 1, 2, 2)),
      list(list(text, 1), list(c(nrow(x), nrow(x), 1, 2), c(nrow(x), 0, 1, 3), 1))),
    ffi_zeros = list(list(2L, 3L), list(list(-1L, NA, NULL), list(-1L, NA, NULL)))
  )
}

# A body of six rows, and what may be wrong with what it is told.
body_calls <- function() {
  x <- random_matrix(6, 2)
  where <- list(first = 0, whole = 6)
  rows <- list(x = x, kernel = list(type = "rbf", scale = 0.5), shift = NULL)
  state <- list(inverse = rep(1, 6), weight = rep(1, 6), residual = rep(1, 6), explained = NULL)
  wish <- list(normalised = 0, floor = 0, slack = 0, noise = 0, in_order = 0, most = 3, from = 0,
    forced = 6)
  round <- list(size = 0, index = c(0, 1), panel = diag(2), x = x[1:2, ])
  factor <- matrix(0, 6, 2)
  nodes <- list(start = 0, tiles = 1, target = 0.5)
  bad_where <- list(list(first = 1, whole = 7), list(first = 0, whole = 5), list())
  bad_state <- list(utils::modifyList(state, list(weight = 1)),
    utils::modifyList(state, list(inverse = 1:6)), state[-1], state[-2], list())
  short <- lapply(state[1:3], utils::head, 5)
  wide <- cbind(x[1:2, ], 1)
  changed <- function(what, ...) utils::modifyList(what, list(...))
  list(
    ffi_body_start = list(list(rows, where, TRUE), list(list(list(), 1), bad_where, NULL)),
    ffi_body_fitness = list(list(rows, state, where, x[1:2, ], 1L),
      list(list(list()), c(bad_state, list(short)), bad_where, list(1, "a", wide), list(0L))),
    ffi_body_propose = list(list(state, where, wish),
      list(bad_state, bad_where, list(list(), changed(wish, most = "a"), changed(wish, most = -1),
        changed(wish, from = NaN), changed(wish, forced = Inf)))),
    ffi_body_weigh = list(list(state, where, wish), list(bad_state, bad_where, list(list()))),
    ffi_body_find = list(list(state, where, wish, nodes),
      list(bad_state, bad_where, list(list()), list(changed(nodes, start = 1),
        changed(nodes, tiles = 2), changed(nodes, target = 1:2), changed(nodes, start = c(0, 0)),
        changed(nodes, start = -1), changed(nodes, start = 1e300)))),
    ffi_body_rows = list(list(state, factor, where, c(0, 5), 2),
      list(bad_state, list(factor[-1, ], 1), bad_where, list(6, -1, 1L), list(3, -1, NaN))),
    ffi_body_update = list(list(rows, state, factor, where, list(round), FALSE, 1L),
      list(list(list()), c(bad_state, list(short)), list(factor[-1, ], factor[, 1, drop = FALSE]),
        bad_where, list(round, list(changed(round, size = 1)), list(changed(round, index = 0)),
          list(changed(round, panel = 1)), list(changed(round, x = 1)),
          list(changed(round, x = wide)), list(changed(round, x = x[1, , drop = FALSE]))),
        NULL, list(0L)))
  )
}
