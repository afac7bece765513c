# Properties that hold for any data: each is a function of a random case that returns TRUE, or
# anything else when it is broken. test-properties.R tries a few cases of each, tools/properties.R
# hundreds.

near <- function(a, b, tol = 1e-10) {
  a <- as.double(a)
  b <- as.double(b)
  length(a) == length(b) && all(is.finite(a) & is.finite(b)) &&
    all(abs(a - b) <= tol * max(1, abs(b)))
}

random_kernel <- function(d) {
  switch(sample.int(6L, 1L),
    rbf_kernel(stats::runif(1, 0.5, 3)), rbf_kernel("mean"),
    laplace_kernel(stats::runif(1, 0.5, 5)), linear_kernel(),
    polynomial_kernel(sample.int(3L, 1L), scale = stats::runif(1, 0.1, 1),
      offset = stats::runif(1)),
    rbf_kernel(2, weights = stats::runif(d, 0.2, 2))
  )
}

# Rows that are sometimes rounded, offset or repeated; two or three classes, each with two rows
# or more.
random_case <- function(seed) {
  set.seed(seed)
  n <- sample(8:50, 1L)
  d <- sample.int(5L, 1L)
  x <- matrix(stats::rnorm(n * d), n, d, dimnames = list(NULL, paste0("v", seq_len(d))))
  if (stats::runif(1) < 0.2) x <- x + 100
  classes <- sample(2:3, 1L)
  y <- rep(seq_len(classes), length.out = n)
  number <- sin(x[, 1L]) + stats::rnorm(n, 0, 0.3)
  list(
    x = x, n = n, d = d, kernel = random_kernel(d), number = number,
    class = factor(letters[ifelse(stats::runif(n) < 0.8,
      1 + (y + (x[, 1L] > mean(x[, 1L]))) %% classes, y)], levels = letters[seq_len(classes)])
  )
}

fixed_kernel <- function(case) {
  if (is.character(case$kernel$sigma)) rbf_kernel(2) else case$kernel
}

sizes_of <- function(case) min(case$n, sample(2:12, 1L))

# A response that every class model takes: classes of at least two rows.
sound_classes <- function(case) {
  if (all(table(case$class) >= 3)) case$class else factor(rep(c("a", "b"), length.out = case$n))
}

quietly <- function(expr) suppressMessages(suppressWarnings(expr))

properties <- list()

# ---- Gram matrices and criteria ---------------------------------------------------------

properties$gram <- list(
  "a Gram matrix is exactly symmetric" = function(case) {
    K <- gram(case$x, case$kernel)
    identical(K, t(K))
  },
  "rows in another order permute the Gram matrix" = function(case) {
    p <- sample(case$n)
    near(gram(case$x[p, , drop = FALSE], case$kernel), gram(case$x, case$kernel)[p, p], 1e-11)
  },
  "columns in another order leave the Gram matrix" = function(case) {
    p <- sample(case$d)
    kernel <- case$kernel
    if (!is.null(kernel$weights)) {
      kernel <- rbf_kernel(2, weights = stats::setNames(kernel$weights, colnames(case$x)))
    }
    near(gram(case$x[, p, drop = FALSE], kernel), gram(case$x, kernel), 1e-11)
  },
  "equal rows have equal Gram columns, at distance zero" = function(case) {
    x <- rbind(case$x, case$x[1:2, , drop = FALSE])
    K <- gram(x, fixed_kernel(case))
    same <- identical(K[, 1L], K[, case$n + 1L]) && identical(K[, 2L], K[, case$n + 2L])
    same && (!fixed_kernel(case)$type %in% c("rbf", "laplace") || K[1L, case$n + 1L] == 1)
  },
  "a Gram matrix is positive semi-definite" = function(case) {
    values <- eigen(gram(case$x, case$kernel), TRUE, only.values = TRUE)$values
    min(values) >= -1e-12 * case$n * max(values)
  },
  "a cross-Gram matrix is a block of the Gram matrix" = function(case) {
    rows <- sample(case$n, 3L)
    near(gram(case$x, fixed_kernel(case), z = case$x[rows, , drop = FALSE]),
      gram(case$x, fixed_kernel(case))[, rows], 1e-11)
  },
  "a distance kernel does not see a common offset" = function(case) {
    kernel <- if (stats::runif(1) < 0.5) rbf_kernel(1.5) else laplace_kernel(1.5)
    near(gram(case$x + 1000, kernel), gram(case$x, kernel), 1e-8)
  },
  "weights are columns times weights" = function(case) {
    w <- stats::runif(case$d, 0, 2)
    near(gram(case$x, rbf_kernel(1.2, weights = w)),
      gram(case$x * rep(w, each = case$n), rbf_kernel(1.2)), 1e-11)
  },
  "sigma, gamma and width say the same" = function(case) {
    s <- stats::runif(1, 0.3, 3)
    K <- gram(case$x, rbf_kernel(s))
    near(gram(case$x, rbf_kernel(gamma = 1 / (2 * s^2))), K, 1e-12) &&
      near(gram(case$x, rbf_kernel(width = 2 * s^2)), K, 1e-12)
  },
  "threads leave every bit" = function(case) {
    identical(gram(case$x, case$kernel, threads = 2), gram(case$x, case$kernel, threads = 1))
  },
  "data frame and matrix have one Gram matrix" = function(case) {
    identical(gram(as.data.frame(case$x), case$kernel), gram(case$x, case$kernel))
  },
  "alignment lies in [-1, 1] and ignores scale" = function(case) {
    K <- gram(case$x, case$kernel)
    a <- kernel_alignment(K, case$class)
    abs(a) <= 1 + 1e-12 && near(kernel_alignment(K * 17, case$class), a, 1e-12)
  },
  "the target itself has alignment one" = function(case) {
    y <- factor(rep(c("a", "b"), length.out = case$n))
    side <- ifelse(y == "a", 1, -1)
    near(kernel_alignment(tcrossprod(side), y, "plain"), 1, 1e-12)
  },
  "criteria do not see the order of rows or names of classes" = function(case) {
    K <- gram(case$x, case$kernel)
    p <- sample(case$n)
    y <- case$class[p]
    levels(y) <- rev(paste0("c", seq_len(nlevels(y))))
    all(vapply(list(kernel_alignment, kernel_hsic, function(K, y) kernel_separability(K, y, 1e-3)),
               function(f) near(f(K[p, p], y), f(K, case$class), 1e-9), NA))
  },
  "HSIC does not see a constant added to the kernel" = function(case) {
    K <- gram(case$x, rbf_kernel(1))
    near(kernel_hsic(K + 5, case$class), kernel_hsic(K, case$class), 1e-10)
  }
)

# ---- bases --------------------------------------------------------------------------------

properties$basis <- list(
  "the residual trace falls and the fitness rises with every pick" = function(case) {
    b <- quietly(kernel_basis(case$x, case$kernel, sample(c("fvs", "cholesky", "kobl", "kgs"), 1L),
      tol = 0))
    all(diff(b$path$trace) <= 1e-10) && (all(diff(b$path$fitness) >= -1e-10)) &&
      !anyDuplicated(b$index)
  },
  "pivots of the greedy rule fall" = function(case) {
    b <- quietly(kernel_basis(case$x, case$kernel, "cholesky", tol = 0))
    all(diff(b$path$pivot) <= 1e-8 * b$path$pivot[1L])
  },
  "bases are nested" = function(case) {
    method <- sample(c("fvs", "cholesky", "kgs"), 1L)
    long <- quietly(kernel_basis(case$x, case$kernel, method, size = Inf, tol = 0))
    m <- sample.int(length(long$index), 1L)
    short <- quietly(kernel_basis(case$x, case$kernel, method, size = m, tol = 0))
    identical(short$index, long$index[seq_len(m)]) &&
      near(predict(head(long, m), case$x), predict(short, case$x), 1e-7)
  },
  "a basis of full rank leaves nothing" = function(case) {
    b <- quietly(kernel_basis(case$x, fixed_kernel(case), "cholesky", size = Inf, tol = 0))
    r <- predict(b, case$x, "residual")
    max(r) <= 1e-7 * max(b$path$pivot)
  },
  "the path tells the residuals that predict gives" = function(case) {
    b <- quietly(kernel_basis(case$x, rbf_kernel(1), "cholesky", size = sizes_of(case), tol = 0))
    near(sum(predict(b, case$x, "residual")) / case$n, utils::tail(b$path$trace, 1L), 1e-9)
  },
  "coordinates of basis rows give their Gram matrix" = function(case) {
    b <- quietly(kernel_basis(case$x, rbf_kernel(1), size = sizes_of(case), tol = 0, scale = FALSE))
    rows <- case$x[b$index, , drop = FALSE]
    near(tcrossprod(predict(b, rows)), gram(rows, rbf_kernel(1)), 1e-9)
  },
  "equal rows are picked once" = function(case) {
    x <- rbind(case$x, case$x[sample(case$n, 3L), , drop = FALSE])
    b <- quietly(kernel_basis(x, fixed_kernel(case), "cholesky", size = Inf, tol = 0,
      scale = FALSE))
    !anyDuplicated(x[b$index, , drop = FALSE])
  },
  "repeated rows at the end change no pick" = function(case) {
    kernel <- fixed_kernel(case)
    x <- rbind(case$x, case$x)
    m <- sizes_of(case)
    a <- quietly(kernel_basis(case$x, kernel, "cholesky", size = m, tol = 1e-3, scale = FALSE))
    b <- quietly(kernel_basis(x, kernel, "cholesky", size = m, tol = 1e-3, scale = FALSE))
    identical(a$index, b$index)
  },
  "rows in another order give the same basis" = function(case) {
    p <- sample(case$n)
    m <- min(4L, case$n)
    a <- quietly(kernel_basis(case$x, rbf_kernel(1), size = m, first = Inf))
    b <- quietly(kernel_basis(case$x[p, , drop = FALSE], rbf_kernel(1), size = m, first = Inf))
    setequal(a$index, p[b$index])
  },
  "columns times and plus a constant change no basis" = function(case) {
    z <- case$x * rep(stats::runif(case$d, 0.1, 10), each = case$n) +
      rep(stats::runif(case$d), each = case$n)
    m <- min(5L, case$n)
    a <- quietly(kernel_basis(case$x, rbf_kernel(2), size = m))
    b <- quietly(kernel_basis(z, rbf_kernel(2), size = m))
    identical(a$index, b$index) && near(predict(a, case$x), predict(b, z), 1e-7)
  },
  "columns far too small or large for squares change no basis" = function(case) {
    m <- min(5L, case$n)
    a <- quietly(kernel_basis(case$x, rbf_kernel(2), size = m))
    near(predict(quietly(kernel_basis(case$x * 1e-200, rbf_kernel(2), size = m)), case$x * 1e-200),
      predict(a, case$x), 1e-7) &&
      near(predict(quietly(kernel_basis(case$x * 1e200, rbf_kernel(2), size = m)), case$x * 1e200),
        predict(a, case$x), 1e-7)
  },
  "a basis from the Gram matrix is the basis from the data" = function(case) {
    kernel <- fixed_kernel(case)
    K <- gram(case$x, kernel)
    m <- min(6L, case$n)
    centre <- sample(c("none", "nearest"), 1L)
    a <- attempt(kernel_basis(case$x, kernel, "cholesky", size = m, tol = 1e-6, scale = FALSE,
      center = centre))
    b <- attempt(kernel_basis(K = K, method = "cholesky", size = m, tol = 1e-6, center = centre))
    if (!is.null(a$error)) return(is_classed(a$error) && is_classed(b$error))
    identical(a$value$index, b$value$index) &&
      near(predict(a$value, case$x), predict(b$value, K), 1e-7)
  },
  "matrix, data frame and formula routes are one" = function(case) {
    m <- sizes_of(case)
    a <- quietly(kernel_basis(case$x, case$kernel, size = m))
    b <- quietly(kernel_basis(as.data.frame(case$x), case$kernel, size = m))
    c <- quietly(kernel_basis(~., as.data.frame(case$x), kernel = case$kernel, size = m))
    identical(a$index, b$index) && identical(a$index, c$index) &&
      identical(predict(a, case$x), predict(c, as.data.frame(case$x)))
  },
  "how many candidates the engine takes changes nothing" = function(case) {
    run <- function(k) {
      old <- options(kernelect.candidates = k)
      on.exit(options(old))
      quietly(kernel_basis(case$x, case$kernel, sample(c("fvs", "cholesky"), 1L), tol = 1e-6))
    }
    set.seed(case$n)
    a <- run(sample(2:5, 1L))
    set.seed(case$n)
    sample(2:5, 1L)
    b <- run(0)
    identical(a$index, b$index)
  },
  "threads change no basis" = function(case) {
    a <- quietly(kernel_basis(case$x, case$kernel, threads = 1))
    b <- quietly(kernel_basis(case$x, case$kernel, threads = 2))
    identical(a$index, b$index) && near(a$path$trace, b$path$trace, 1e-12)
  },
  "a seed repeats a random basis" = function(case) {
    set.seed(3)
    a <- quietly(kernel_basis(case$x, case$kernel, "random"))
    set.seed(3)
    identical(a, quietly(kernel_basis(case$x, case$kernel, "random")))
  }
)

# ---- every model ----------------------------------------------------------------------------

random_fit <- function(case) {
  name <- sample(names(fits()), 1L)
  entry <- fits()[[name]]
  y <- switch(entry$y, class = sound_classes(case), number = case$number)
  tried <- attempt(entry$call(case$x, y))
  list(name = name, entry = entry, y = y, model = tried$value, error = tried$error)
}

# A fit that was refused with a classed error is no case; any other error breaks the property.
with_fit <- function(case, f) {
  fit <- random_fit(case)
  if (!is.null(fit$error)) return(is_classed(fit$error))
  f(fit, case$x)
}

answers_near <- function(a, b, tol = 1e-8) {
  if (is.numeric(a)) near(a, b, tol) else identical(as.character(unlist(a)),
    as.character(unlist(b)))
}

rows_of_answer <- function(a, i) {
  if (is.data.frame(a) || is.matrix(a)) a[i, , drop = FALSE] else a[i]
}

# What kernel_rank predicts are columns of its input, not one answer a row.
properties$models <- list(
  "a saved and loaded model answers the same" = function(case) {
    with_fit(case, function(fit, x) identical(predict(unserialize(serialize(fit$model, NULL)), x),
      predict(fit$model, x)))
  },
  "rows predicted alone or together are the same" = function(case) {
    with_fit(case, function(fit, x) {
      whole <- predict(fit$model, x)
      i <- sample.int(nrow(x), 2L)
      answers_near(predict(fit$model, x[i, , drop = FALSE]), rows_of_answer(whole, i))
    })
  },
  "the order of new columns and more of them change nothing" = function(case) {
    with_fit(case, function(fit, x) {
      more <- cbind(other = 1, x[, sample(ncol(x)), drop = FALSE])
      answers_near(predict(fit$model, more), predict(fit$model, x), 1e-12)
    })
  },
  "a row with NA predicts NA and touches no other row" = function(case) {
    with_fit(case, function(fit, x) {
      if (fit$name == "kernel_rank") return(TRUE)
      whole <- predict(fit$model, x)
      with_na <- predict(fit$model, replace(x, 2L, NA))
      all(is.na(unlist(rows_of_answer(with_na, 2L)))) &&
        answers_near(rows_of_answer(with_na, -2L), rows_of_answer(whole, -2L), 1e-12)
    })
  },
  "no rows in, no rows out" = function(case) {
    with_fit(case, function(fit, x) NROW(predict(fit$model, x[0L, , drop = FALSE])) == 0L)
  },
  "a matrix and a data frame fit the same model" = function(case) {
    with_fit(case, function(fit, x) {
      other <- quietly(fit$entry$call(as.data.frame(x), fit$y))
      answers_near(predict(other, as.data.frame(x)), predict(fit$model, x), 1e-12)
    })
  },
  "a formula fits the same model" = function(case) {
    with_fit(case, function(fit, x) {
      frame <- as.data.frame(x)
      other <- quietly(
        if (is.null(fit$y)) fit$entry$formula(~., frame) else fit$entry$formula(y ~ .,
          data.frame(frame, y = fit$y)))
      answers_near(predict(other, frame), predict(fit$model, x), 1e-12)
    })
  },
  "fitted values are predictions of the training rows" = function(case) {
    with_fit(case, function(fit, x) is.null(fit$model$fitted.values) ||
      answers_near(fit$model$fitted.values, predict(fit$model, x)))
  },
  "fitting and predicting leave the generator, options and graphics alone" = function(case) {
    set.seed(9)
    before <- list(.Random.seed, options(), grDevices::dev.list())
    with_fit(c(case, list()), function(fit, x) {
      set.seed(9)
      quietly(fit$entry$call(x, fit$y))
      predict(fit$model, x)
      identical(list(.Random.seed, options(), grDevices::dev.list()), before)
    })
  }
)

# ---- other ways in and out ------------------------------------------------------------------

properties$routes <- list(
  "rows in chunks have the basis of rows in memory" = function(case) {
    method <- sample(c("fvs", "cholesky", "kobl", "kgs"), 1L)
    m <- sizes_of(case)
    a <- attempt(kernel_basis(case$x, fixed_kernel(case), method, size = m))
    b <- attempt(kernel_basis(as_row_source(case$x, rows = sample.int(case$n, 1L)),
      fixed_kernel(case), method, size = m))
    if (!is.null(a$error)) return(is_classed(a$error) && is_classed(b$error))
    identical(a$value$index, b$value$index) && near(a$value$path$trace, b$value$path$trace, 1e-9)
  },
  "predictions written by the part are those of all rows" = function(case) {
    fit <- quietly(kernel_lm(case$x, case$number, size = sizes_of(case)))
    parts <- list()
    predict(fit, as_row_source(case$x, rows = sample.int(case$n, 1L)),
      write = function(i, value) parts[[i]] <<- value)
    near(unlist(parts), predict(fit, case$x), 1e-10)
  },
  "sparse rows are those of the filled matrix" = function(case) {
    x <- unname(replace(case$x, abs(case$x) < 0.5, 0))
    sparse <- kernelect:::as_sparse(x)
    kernel <- rbf_kernel(2)
    index <- function(x) kernel_basis(x, kernel, "cholesky", size = 4, tol = 1e-6,
      scale = FALSE)$index
    near(gram(sparse, kernel), gram(x, kernel), 1e-10) && identical(index(sparse), index(x))
  },
  "a model written as text and read back answers the same" = function(case) {
    file <- tempfile()
    on.exit(unlink(file))
    with_fit(case, function(fit, x) {
      write_model(fit$model, file)
      identical(predict(read_model(file), x), predict(fit$model, x))
    })
  },
  "fusion on a basis of all rows is fusion" = function(case) {
    kernels <- list(rbf_kernel(1), rbf_kernel(3))
    whole <- attempt(kernel_fusion(case$x, case$number, kernels, adaptive = FALSE, noise = 0.5))
    based <- attempt(kernel_fusion(case$x, case$number, kernels, adaptive = FALSE, noise = 0.5,
      basis = "cholesky", size = Inf, tol = 0))
    if (!is.null(whole$error)) return(is_classed(whole$error) && is_classed(based$error))
    near(predict(based$value, case$x), predict(whole$value, case$x), 1e-5)
  },
  "an effect is the mean of predictions with the column held" = function(case) {
    frame <- as.data.frame(case$x)
    fit <- quietly(kernel_lm(frame, case$number, size = sizes_of(case)))
    effect <- plot_effect(fit, frame, "v1", draw = FALSE)
    i <- sample.int(nrow(effect), 1L)
    near(effect$mean[i], mean(predict(fit, replace(frame, "v1", effect$v1[i]))), 1e-10)
  }
)
