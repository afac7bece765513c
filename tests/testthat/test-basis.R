# Six data sets, small enough for the twin: real measurements, noise, few distinct rows, a grid
# full of ties, orthogonal indicators, and points on a circle.
basis_sets <- function() {
  turn <- 2 * pi * (7 * seq_len(30) %% 30) / 30
  list(
    iris = unname(iris_matrix(seq(1, 150, 3))),
    noise = random_matrix(45, 5, 3),
    repeated = random_matrix(9, 3, 4)[rep(1:9, 5), ],
    grid = unname(as.matrix(expand.grid(1:4, 1:4, 1:3))) + 0,
    indicators = diag(8)[rep(1:8, 4), ],
    circle = cbind(cos(turn), sin(turn))
  )
}

basis_kernels <- function(x) {
  sigma <- reference_sigma_mean(x)
  list(
    rbf = rbf_kernel(sigma = sigma), narrow = rbf_kernel(sigma = sigma / 6),
    laplace = laplace_kernel(sigma = sigma),
    polynomial = polynomial_kernel(2, 1, 1), linear = linear_kernel(), spline = spline_kernel()
  )
}

# Splines want rows from 0 up.
rows_for <- function(x, kernel) {
  if (kernel$type == "spline") sweep(x, 2, apply(x, 2, min)) / diff(range(x)) else x
}

centrings <- list(list("none", 1), list("nearest", 1), list("nearest", 3))

# What tells a basis from its twin, or nothing. Where a pivot comes down to its own rounding
# nobody's choice is right: compare up to there.
basis_differences <- function(basis, twin, least = if (basis$method == "kgs") 1e-6 else 1e-10) {
  top <- max(twin$path$pivot)
  sound <- cumall(twin$path$pivot > least * top)
  keep <- which(sound)
  near <- function(field, unit, tolerance) {
    isTRUE(max(abs(basis$path[[field]][keep] - twin$path[[field]][keep])) <= tolerance * unit)
  }
  same <- c(
    index = identical(basis$index[keep], as.integer(twin$index)[keep]),
    center_index = identical(basis$center_index, twin$center_index),
    size = !all(sound) || length(basis$index) == length(twin$index),
    # rows taken without pivoting may leave rounding just above or below the rank
    stop = !all(sound) || basis$stop == twin$stop ||
      (basis$method %in% c("kgs", "random") && "rank" %in% c(basis$stop, twin$stop)),
    pivot = near("pivot", top, 1e-8), fitness = near("fitness", 1, 1e-8),
    trace = near("trace", 1, 1e-8), cost = near("cost", sqrt(top), 1e-6)
  )
  names(same)[!same]
}

cumall <- function(x) cumsum(!x) == 0

expect_twins <- function(method) {
  sets <- basis_sets()
  differences <- list()
  for (set in names(sets)) {
    kernels <- basis_kernels(sets[[set]])
    for (k in names(kernels)) {
      x <- rows_for(sets[[set]], kernels[[k]])
      K <- reference_gram(x, kernels[[k]])
      for (centring in centrings) {
        cancels <- centring[[1]] != "none" || !k %in% c("rbf", "narrow", "laplace")
        for (size in c(7, Inf)) {
          tol <- if (is.finite(size)) 0 else 0.01
          twin <- with_seed(8, reference_basis(
            K, method, size, tol, centring[[1]], centring[[2]], cancels = cancels
          ))
          basis <- with_seed(8, suppressWarnings(kernel_basis(
            x, kernels[[k]], method, size, tol, centring[[1]], centring[[2]], scale = FALSE
          )))
          case <- paste(method, set, k, centring[[1]], centring[[2]], size)
          differences[[case]] <- basis_differences(basis, twin)
        }
      }
    }
  }
  expect_length(differences, 6 * 6 * 3 * 2)
  expect_identical(Filter(length, differences), stats::setNames(list(), character()))
}

test_that("fvs picks what the naive twin picks", {
  expect_twins("fvs")
})

test_that("cholesky picks what the naive twin picks", {
  expect_twins("cholesky")
})

test_that("kobl picks what the naive twin picks", {
  expect_twins("kobl")
})

test_that("kgs picks what the naive twin picks", {
  expect_twins("kgs")
})

test_that("random picks what the naive twin picks from the same random numbers", {
  expect_twins("random")
})


test_that("real data with few distinct rows and real measurements match the twin", {
  for (name in c("heart", "thyroid", "titanic", "flare_solar")) {
    data <- shared_data(name)
    x <- unname(data$x[utils::head(data$splits[1, ], 100), ])
    kernel <- rbf_kernel(sigma = reference_sigma_mean(x))
    K <- reference_gram(x, kernel)
    for (method in c("fvs", "cholesky", "kobl", "kgs")) {
      basis <- kernel_basis(x, kernel, method, size = Inf, tol = 1e-3, scale = FALSE)
      expect_identical(basis_differences(basis, reference_basis(K, method, tol = 1e-3)),
        character(), info = paste(name, method))
    }
  }
})

# ---- figures known to be right ----------------------------------------------------

test_that("the known figures of iris are met", {
  x <- iris_matrix()
  fvs <- kernel_basis(x, rbf_kernel(width = 1), size = 10, scale = FALSE)
  expect_identical(fvs$index, c(8L, 119L, 107L, 51L, 101L, 99L, 132L, 63L, 135L, 16L))
  expect_lt(abs(fvs$path$fitness[10] - 0.573826358), 1e-9)
  centred <- kernel_basis(x, rbf_kernel(width = 1), size = 10, center = "nearest", scale = FALSE)
  expect_identical(centred$center_index, 127L)
  expect_identical(centred$index, c(8L, 124L, 102L, 74L, 111L, 119L, 65L, 66L, 69L, 132L))
  expect_lt(abs(centred$path$fitness[10] - 0.7773518665), 1e-9)
  cholesky <- kernel_basis(x, method = "cholesky", tol = 0.01, scale = FALSE)
  expect_length(cholesky$index, 13)
  expect_identical(cholesky$index[1:8], c(1L, 119L, 107L, 51L, 42L, 101L, 132L, 99L))
  expect_lt(abs(150 * cholesky$path$trace[13] - 1.222675029), 1e-8)
  kobl <- kernel_basis(x, method = "kobl", scale = FALSE)
  expect_length(kobl$index, 18)
  expect_identical(kobl$stop, "threshold")
  expect_lt(abs(kobl$path$cost[18] - 0.04449178), 1e-8)
  all <- kernel_basis(x, rbf_kernel(width = 1), size = Inf, tol = 0, scale = FALSE)
  expect_length(all$index, 149)
  expect_identical(all$stop, "rank")
})

test_that("a homogeneous polynomial of degree 2 in the plane has three dimensions", {
  for (method in c("fvs", "cholesky", "kgs", "random")) {
    basis <- with_seed(1,
      kernel_basis(random_matrix(80, 2), polynomial_kernel(2, 1, 0), method, tol = 0,
        scale = FALSE))
    expect_length(basis$index, 3)
    expect_identical(basis$stop, "rank")
    expect_lt(abs(basis$path$fitness[3] - 1), 1e-12)
  }
})

test_that("kernels of finite dimension give that dimension, in any order and however centred", {
  x <- random_matrix(150, 4, 9) + 5
  for (method in c("fvs", "cholesky", "kgs")) {
    expect_length(kernel_basis(x, linear_kernel(), method, tol = 0, scale = FALSE)$index, 4)
    expect_length(kernel_basis(x, polynomial_kernel(2), method, tol = 0, scale = FALSE)$index, 15)
    expect_length(kernel_basis(x, linear_kernel(), method, tol = 0, center = "nearest",
      scale = FALSE)$index, 4)
    expect_length(kernel_basis(x, polynomial_kernel(2), method, tol = 0, center = "nearest",
      neighbours = 3, scale = FALSE)$index, 14)
  }
})

test_that("rounding of a short row near the centre is never picked", {
  x <- unname(iris_matrix(seq(1, 150, 3)))
  turned <- function(angle) {
    turn <- diag(4)
    turn[1:2, 1:2] <- c(cos(angle), sin(angle), -sin(angle), cos(angle))
    x %*% turn[c(1, 3, 2, 4), c(1, 3, 2, 4)] %*% turn[c(3, 1, 4, 2), c(3, 1, 4, 2)]
  }
  bases <- lapply(1:60,
    function(a) kernel_basis(turned(a), linear_kernel(), tol = 0, center = "nearest",
      scale = FALSE))
  expect_identical(lengths(lapply(bases, `[[`, "index")), rep(4L, 60))
  expect_identical(unique(vapply(bases, `[[`, "", "stop")), "rank")
})

test_that("fvs with no tolerance finds exactly the distinct rows", {
  titanic <- shared_data("titanic")
  expect_length(kernel_basis(titanic$x[titanic$splits[1, ], ], size = Inf, tol = 0,
    scale = FALSE)$index, 12)
  flare <- shared_data("flare_solar")
  x <- flare$x[flare$splits[1, ], ]
  index <- kernel_basis(x, size = Inf, tol = 0, scale = FALSE)$index
  expect_length(index, 88)
  expect_setequal(index, which(!duplicated(x)))
})

test_that("the Hilbert matrix of order 100 has numerical rank 18", {
  H <- 1 / outer(1:100, 1:100, function(i, j) i + j - 1)
  expect_length(kernel_basis(K = H, method = "cholesky", size = Inf, tol = 0)$index, 18)
})

# ---- the same basis by every route --------------------------------------------------

test_that("the number of candidates and of threads changes nothing", {
  x <- rbind(random_matrix(300, 4, 5), random_matrix(20, 4, 5))
  for (method in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    for (center in c("none", "nearest")) {
      fit <- function(threads = 1L) {
        basis <- with_seed(3,
          kernel_basis(x, method = method, size = 120, tol = 0, center = center, threads = threads))
        basis$updates <- NULL
        basis
      }
      plain <- fit()
      expect_identical(fit(2L), plain)
      for (count in c(1, 2, 5, 16)) {
        few <- with_option("kernelect.candidates", count, fit())
        expect_identical(few$index, plain$index)
        expect_equal(few$path, plain$path, tolerance = 1e-7)
      }
    }
  }
})

test_that("data, a Gram matrix and a kernel function give the same basis", {
  x <- random_matrix(90, 4, 6)
  kernel <- rbf_kernel(sigma = 1.5)
  f <- function_kernel(function(x, z) reference_gram(x, kernel, z))
  for (method in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    for (centring in centrings) {
      fit <- function(...) {
        with_seed(4, kernel_basis(..., method = method, size = 25, tol = 0, center = centring[[1]],
          neighbours = centring[[2]]))
      }
      data <- fit(x, kernel, scale = FALSE)
      given <- fit(K = gram(x, kernel))
      called <- fit(x, f, scale = FALSE)
      expect_identical(given$index, data$index)
      expect_identical(called$index, data$index)
      expect_identical(given$center_index, data$center_index)
      expect_equal(given$path, data$path, tolerance = 1e-9)
      expect_equal(called$path, data$path, tolerance = 1e-9)
      expect_null(given$kernel)
      expect_null(given$vectors)
    }
  }
})

test_that("matrix, data frame and formula give the identical basis", {
  frame <- iris[c(1:4)]
  expect_identical(kernel_basis(frame, size = 9)$path,
    kernel_basis(as.matrix(frame), size = 9)$path)
  by_formula <- kernel_basis(~., frame, size = 9)
  expect_identical(by_formula$path, kernel_basis(frame, size = 9)$path)
  expect_identical(by_formula$vectors, kernel_basis(frame, size = 9)$vectors)
  expect_identical(
    predict(by_formula, iris[3:7, ]), predict(kernel_basis(frame, size = 9), iris[3:7, ])
  )
  expect_identical(kernel_basis(~., frame, rbf_kernel(), "kgs", 3)$index, 1:3)
  mixed <- kernel_basis(iris, method = "cholesky", size = 5)
  expect_identical(dim(mixed$vectors), c(5L, 7L))
  expect_identical(kernel_basis(~., iris, method = "cholesky", size = 5)$index, mixed$index)
})

test_that("a kernlab kernel is taken as our own", {
  skip_if_not_installed("kernlab")
  x <- random_matrix(40, 3)
  expect_identical(
    kernel_basis(x, kernlab::rbfdot(sigma = 0.3), size = 6)$index,
    kernel_basis(x, rbf_kernel(gamma = 0.3), size = 6)$index
  )
})

test_that("the first fvs pick looks at `first` evenly spaced rows", {
  x <- random_matrix(130, 3, 2)
  kernel <- rbf_kernel(sigma = 1)
  K <- reference_gram(x, kernel)
  for (first in c(1, 2, 7, 129, 130, Inf)) {
    basis <- kernel_basis(x, kernel, size = 5, first = first, scale = FALSE)
    expect_identical(basis$index, as.integer(reference_basis(K, "fvs", 5, first = first)$index))
  }
})

# As long as rows are few enough, all of them judge each that is searched; here a sample does first.
# They come in periods, in order and in runs, as rows of designs and of panels do.
test_that("the first fvs pick of very many rows is that of all of them", {
  n <- 530001
  set.seed(16)
  wave <- cbind(sin(2 * pi * seq_len(n) / 24) + rnorm(n) / 4, rnorm(n))
  few <- matrix(rnorm(40), 20)
  runs <- few[rep(sample(20, ceiling(n / 120), TRUE), each = 120)[1:n], ]
  orders <- list(periods = wave, sorted = wave[order(wave[, 1] + wave[, 2]), ], runs = runs)
  for (x in orders) {
    searched <- unique(round(seq(1, n, length.out = 60)))
    distance <- function(i) (x[, 1] - x[i, 1])^2 + (x[, 2] - x[i, 2])^2
    fitness <- vapply(searched, function(i) sum(exp(-2 * distance(i))), 0)
    for (threads in 1:2) {
      basis <- kernel_basis(x, rbf_kernel(gamma = 1), size = 1, first = 60, scale = FALSE,
                            threads = threads)
      expect_identical(basis$index, as.integer(searched[which.max(fitness)]))
    }
  }
})

test_that("the first fvs pick is free where no row that is searched has a length", {
  x <- rbind(matrix(0, 300, 3), c(1, 2, 3), c(3, 1, 1), c(0, 1, 0), matrix(0, 5, 3))
  K <- tcrossprod(x)
  for (first in c(1, 10)) {
    basis <- kernel_basis(x, linear_kernel(), first = first, scale = FALSE)
    expect_identical(
      basis$index, as.integer(reference_basis(K, "fvs", first = first, cancels = TRUE)$index)
    )
  }
})

test_that("the first fvs pick is that of rows whose squared kernel values leave the range", {
  x <- random_matrix(130, 4, 2)
  for (first in c(20, Inf)) {
    pick <- function(by) kernel_basis(x * by, linear_kernel(), first = first, scale = FALSE)$index
    for (by in 2^c(260, -290)) expect_identical(pick(by), pick(1))
  }
})

test_that("random pivoting follows its law", {
  K <- crossprod(matrix(c(2, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1), 3))
  n <- nrow(K)
  picks <- with_seed(1,
    replicate(4000, kernel_basis(K = K, method = "random", size = 2, tol = 0)$index))
  law <- matrix(0, n, n)
  for (i in seq_len(n)) {
    left <- pmax(diag(K) - K[, i]^2 / K[i, i], 0)
    law[i, ] <- diag(K)[i] / sum(diag(K)) * left / sum(left)
  }
  seen <- table(factor(picks[1, ], 1:n), factor(picks[2, ], 1:n))
  possible <- law > 1e-12
  expect_true(all(seen[!possible] == 0))
  expect_gt(stats::chisq.test(seen[possible], p = law[possible])$p.value, 1e-3)
})

test_that("random pivoting obeys set.seed() and the other methods leave the generator alone", {
  x <- random_matrix(50, 3)
  one <- with_seed(2, kernel_basis(x, method = "random", size = 9)$index)
  expect_identical(with_seed(2, kernel_basis(x, method = "random", size = 9)$index), one)
  set.seed(5)
  before <- .Random.seed
  for (method in c("fvs", "cholesky", "kobl", "kgs")) kernel_basis(x, method = method, size = 4)
  expect_identical(.Random.seed, before)
})

# ---- invariants --------------------------------------------------------------------

test_that("permuting the rows permutes the selection", {
  x <- random_matrix(120, 4, 7)
  order <- with_seed(1, sample(120))
  fit <- function(x, method, kernel) kernel_basis(x, kernel, method, size = 15, tol = 0)
  expect_identical(order[fit(x[order, ], "fvs", rbf_kernel())$index],
    fit(x, "fvs", rbf_kernel())$index)
  for (method in c("fvs", "cholesky", "kobl")) { # no tie of all rows at the start
    kernel <- polynomial_kernel(2)
    expect_identical(order[fit(x[order, ], method, kernel)$index], fit(x, method, kernel)$index)
  }
})

test_that("duplicated rows never enlarge the basis, and the first of them is taken", {
  x <- random_matrix(40, 3, 11)
  twice <- x[rep(1:40, each = 2), ]
  for (method in c("fvs", "cholesky", "kgs", "random")) {
    basis <- with_seed(1,
      kernel_basis(twice, rbf_kernel(sigma = 1), method, size = Inf, tol = 0, scale = FALSE))
    expect_length(basis$index, 40)
    expect_identical(basis$stop, "rank")
    expect_identical(anyDuplicated((basis$index + 1L) %/% 2L), 0L)
    if (method != "random") expect_true(all(basis$index %% 2 == 1))
  }
})

test_that("bases are nested, fitness rises, the trace and the cost fall", {
  x <- random_matrix(200, 5, 12)
  for (method in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    long <- with_seed(1,
      kernel_basis(x, method = method, size = 150, tol = 0, threshold = function(t) 0 * t))
    short <- with_seed(1,
      kernel_basis(x, method = method, size = 40, tol = 0, threshold = function(t) 0 * t))
    expect_identical(short$index, long$index[1:40])
    expect_equal(short$path, long$path[1:40, ], tolerance = 1e-10)
    expect_true(all(diff(long$path$fitness) >= 0))
    expect_true(all(diff(long$path$trace) <= 0))
    expect_true(all(diff(long$path$cost) <= 0))
    if (method %in% c("cholesky", "kobl")) expect_true(all(diff(long$path$pivot) <= 0))
    expect_identical(anyDuplicated(long$index), 0L)
  }
})

test_that("a full basis reproduces the Gram matrix and is orthonormal", {
  x <- random_matrix(70, 6, 13)
  kernel <- rbf_kernel(sigma = 2)
  for (method in c("fvs", "cholesky", "kgs", "random")) {
    for (center in c("none", "nearest")) {
      basis <- with_seed(1, kernel_basis(x, kernel, method, Inf, 0, center, scale = FALSE))
      Z <- predict(basis, x)
      K <- if (center == "none") gram(x, kernel) else reference_center(gram(x, kernel), 1)$K
      expect_lt(max(abs(tcrossprod(Z) - K)), 1e-8)
      condition <- kappa(K[basis$index, basis$index], exact = TRUE)
      gap <- forwardsolve(basis$cholesky,
        t(forwardsolve(basis$cholesky, K[basis$index, basis$index])))
      expect_lt(max(abs(gap - diag(nrow(gap)))), max(1e-10, 10 * .Machine$double.eps * condition))
    }
  }
})

test_that("shifting the data does not change a distance kernel's basis", {
  x <- random_matrix(60, 3, 14)
  expect_identical(
    kernel_basis(x + 1e6, rbf_kernel(sigma = 1), size = 20, scale = FALSE)$index,
    kernel_basis(x, rbf_kernel(sigma = 1), size = 20, scale = FALSE)$index
  )
})

# ---- sizes -----------------------------------------------------------------------------

test_that("one row, two rows and all rows work", {
  for (method in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    one <- kernel_basis(matrix(c(1, 2), 1), method = method, scale = FALSE,
      kernel = rbf_kernel(sigma = 1))
    expect_identical(one$index, 1L)
    expect_identical(one$stop, "rank")
    expect_identical(one$path$trace, 0)
    two <- kernel_basis(matrix(c(1, 2, 5, 7), 2), linear_kernel(), method, tol = 0,
      threshold = function(t) 0 * t, scale = FALSE)
    expect_setequal(two$index, 1:2)
    whole <- kernel_basis(random_matrix(7, 9), rbf_kernel(sigma = 3), method, 7, 0,
      threshold = function(t) 0 * t)
    expect_setequal(whole$index, 1:7)
    expect_identical(whole$stop, "rank")
  }
})

test_that("paths longer than a block and than the first factor are whole", {
  x <- random_matrix(700, 8, 15)
  long <- kernel_basis(x, rbf_kernel(sigma = 3), "cholesky", size = 600, tol = 0, scale = FALSE)
  expect_length(long$index, 600)
  given <- with_option("kernelect.columns", 50, {
    kernel_basis(x, rbf_kernel(sigma = 3), "cholesky", size = 600, tol = 0, scale = FALSE)
  })
  expect_identical(given, long)
  ordered <- function() kernel_basis(x, rbf_kernel(sigma = 3), "kgs", size = 400, scale = FALSE)
  expect_identical(with_option("kernelect.columns", 50, ordered()), ordered())
  Z <- predict(long, x)
  expect_equal(1 - sum(Z^2) / 700, long$path$trace[600], tolerance = 1e-8)
})

test_that("a kernel so narrow that all rows tie takes them in order, in few updates", {
  x <- random_matrix(3000, 5, 16)
  for (method in c("fvs", "cholesky", "kobl")) {
    basis <- kernel_basis(x, rbf_kernel(gamma = 1e8), method, size = 200, tol = 0,
      threshold = function(t) 0 * t)
    expect_identical(basis$index, 1:200)
    expect_lte(basis$updates, 4)
  }
  indicators <- kernel_basis(diag(300)[rep(1:300, 4), ], linear_kernel(), size = 250, tol = 0,
    scale = FALSE)
  expect_identical(indicators$index, 1:250)
  expect_lte(indicators$updates, 4)
})

test_that("a row that the engine did not collect wins a tie it has come to", {
  # rows 401.. share one direction: after k picks among them the rest keep (1 + 1 / (k + 1)) / 2,
  # for
  # k = 3 as much as the first 400 rows had from the start
  K <- diag(rep(c(0.625, 0.5), each = 400))
  K[401:800, 401:800] <- K[401:800, 401:800] + 0.5
  basis <- kernel_basis(K = K, method = "cholesky", size = 8, tol = 0)
  expect_identical(basis$index, c(401:403, 1:5))
  expect_identical(basis$index, as.integer(reference_basis(K, "cholesky", size = 8, tol = 0)$index))
})

test_that("no size means at most 1000, with a message when that binds", {
  x <- random_matrix(1100, 12, 17)
  expect_message(basis <- kernel_basis(x, rbf_kernel(sigma = 1), "cholesky"),
    "stopped at 1000 rows; give `size` ", class = "kernelect_message")
  expect_length(basis$index, 1000)
  expect_identical(basis$stop, "size")
  expect_message(small <- kernel_basis(x[1:30, ], size = 50, tol = 0), "more than the 30 rows")
  expect_length(small$index, 30)
})

test_that("of several stops the first of rank, tol, threshold, size is told", {
  x <- diag(6)
  expect_identical(kernel_basis(x, linear_kernel(), "cholesky", 6, 0, scale = FALSE)$stop, "rank")
  expect_identical(kernel_basis(x, linear_kernel(), "cholesky", 5, 1 / 6, scale = FALSE)$stop,
    "tol")
  expect_identical(kernel_basis(x, linear_kernel(), "cholesky", 5, 0.1, scale = FALSE)$stop, "size")
  expect_identical(kernel_basis(x, linear_kernel(), "fvs", 3, 0.5, scale = FALSE)$stop, "tol")
  expect_identical(
    kernel_basis(x, linear_kernel(), "kobl", 3, threshold = function(t) 0 * t + 1,
      scale = FALSE)$stop, "size")
  skewed <- diag(c(3, 2, 2, 1))
  expect_identical(
    kernel_basis(skewed, linear_kernel(), "kobl", 1, threshold = sqrt, scale = FALSE)$stop, "size")
  expect_identical(
    kernel_basis(skewed, linear_kernel(), "kobl", 3, threshold = sqrt, scale = FALSE)$stop,
    "threshold")
})

# ---- prediction ----------------------------------------------------------------------------

test_that("the three predictions are those of the formulas", {
  x <- random_matrix(60, 4, 18)
  new <- random_matrix(11, 4, 19)
  for (kernel in list(rbf_kernel(sigma = 1.5), polynomial_kernel(2), linear_kernel(),
    laplace_kernel(sigma = 2))) {
    K <- reference_gram(x, kernel)
    cross <- reference_gram(new, kernel, x)
    own <- diag(reference_gram(new, kernel))
    for (centring in centrings) {
      basis <- kernel_basis(x, kernel, size = 4, tol = 0, center = centring[[1]],
        neighbours = centring[[2]], scale = FALSE)
      given <- kernel_basis(K = K, size = 4, tol = 0, center = centring[[1]],
        neighbours = centring[[2]])
      twin <- reference_predict(K, basis$index, cross, own, basis$center_index)
      expect_identical(given$index, basis$index)
      for (type in c("orthonormal", "kernel", "residual")) {
        expect_equal(predict(basis, new, type), twin[[type]], tolerance = 1e-9)
        expect_equal(predict(given, cross, type, diag = own), twin[[type]], tolerance = 1e-9)
      }
    }
  }
})

test_that("the residual of basis rows is zero and never negative elsewhere", {
  basis <- kernel_basis(iris[1:4], size = 20, tol = 0)
  left <- predict(basis, iris[1:4], "residual")
  expect_true(all(left >= 0))
  expect_lt(max(left[basis$index]), 1e-13)
  expect_equal(sum(left) / 150, basis$path$trace[20], tolerance = 1e-10)
})

test_that("new rows come back in order, with NA where a value is missing", {
  basis <- kernel_basis(iris[1:4], size = 5)
  new <- iris[c(9, 80, 120), 1:4]
  new[2, 3] <- NA
  for (type in c("orthonormal", "kernel")) {
    value <- predict(basis, new, type)
    expect_identical(dim(value), c(3L, 5L))
    expect_true(all(is.na(value[2, ])))
    expect_equal(value[3, ], drop(predict(basis, new[3, ], type)), ignore_attr = TRUE)
    expect_identical(dim(predict(basis, new[0, ], type)), c(0L, 5L))
    expect_identical(dim(predict(basis, new[1, ], type)), c(1L, 5L))
  }
  left <- predict(basis, new, "residual")
  expect_identical(is.na(unname(left)), c(FALSE, TRUE, FALSE))
  expect_length(predict(basis, new[0, ], "residual"), 0)
  expect_equal(predict(basis, new[c(1, 3), 4:1]), predict(basis, cbind(new, extra = 1)[c(1, 3), ]))
  expect_error(predict(basis, new[1:3]), class = "kernelect_error_columns")
})

test_that("a cross-Gram matrix may have NA rows, one row or none", {
  K <- gram(random_matrix(20, 3), rbf_kernel(sigma = 1))
  basis <- kernel_basis(K = K, size = 4)
  cross <- K[1:3, ]
  cross[2, 5] <- NA
  expect_identical(is.na(predict(basis, cross)[, 1]), c(FALSE, TRUE, FALSE))
  expect_identical(dim(predict(basis, cross[1, , drop = FALSE])), c(1L, 4L))
  expect_identical(dim(predict(basis, cross[0, ])), c(0L, 4L))
  expect_error(predict(basis, cross[, 1:5]), class = "kernelect_error_columns")
  expect_error(predict(basis, cross, "residual"), class = "kernelect_error_argument")
  expect_error(predict(basis, cross, "residual", diag = 1), class = "kernelect_error_argument")
})

test_that("head() gives the basis that a smaller size gives", {
  x <- random_matrix(80, 3, 20)
  for (center in c("none", "nearest")) {
    long <- kernel_basis(x, size = 20, tol = 0, center = center)
    short <- kernel_basis(x, size = 6, tol = 0, center = center)
    cut <- head(long, 6)
    same <- setdiff(names(cut), c("updates", "call"))
    expect_equal(cut[same], short[same], tolerance = 1e-12)
    expect_equal(predict(cut, x[1:5, ]), predict(long, x[1:5, ])[, 1:6])
    expect_identical(head(long, 100), long)
  }
  expect_error(head(long, 0), class = "kernelect_error_argument")
})

test_that("a basis is small, plain and survives a file", {
  basis <- kernel_basis(random_matrix(5000, 4), size = 10)
  expect_lt(length(serialize(basis, NULL)), 20000)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(basis, file)
  new <- random_matrix(3, 4, 2)
  expect_identical(predict(readRDS(file), new), predict(basis, new))
})

# ---- interrupts and progress ------------------------------------------------------------------

test_that("a progress bar is drawn when asked for", {
  bar <- capture.output(type = "message", {
    basis <- kernel_basis(random_matrix(400, 3), rbf_kernel(sigma = 0.1), "cholesky", 300, 0,
      verbose = TRUE)
  })
  expect_match(paste(bar, collapse = ""), "100%")
  expect_silent(kernel_basis(random_matrix(40, 3), size = 5))
})

test_that("a long fit can be stopped, and the next one works", {
  x <- random_matrix(100000, 10) # pairs of rows that keep any processor busy for longer
  expect_error(
    {
      setTimeLimit(elapsed = 0.2, transient = TRUE)
      kernel_basis(x, rbf_kernel(sigma = 1), size = 5, first = Inf)
    },
    "elapsed time limit"
  )
  setTimeLimit()
  expect_length(kernel_basis(x[1:50, ], size = 5)$index, 5)
})

test_that("a kernel function that fails stops the fit with its own message", {
  broken <- function_kernel(
    function(x, z) if (nrow(x) > 1 && nrow(z) > 1) stop("no such value") else matrix(1, nrow(x),
      nrow(z)))
  expect_error(kernel_basis(random_matrix(30, 2), broken), "no such value")
})

# ---- bad input ----------------------------------------------------------------------------------

test_that("every bad argument is a classed error that says what was wanted", {
  x <- iris_matrix()
  expect_snapshot(error = TRUE, {
    kernel_basis(x, size = 0)
    kernel_basis(x, size = 2.5)
    kernel_basis(x, size = "ten")
    kernel_basis(x, tol = -0.1)
    kernel_basis(x, tol = 2)
    kernel_basis(x, tol = NA)
    kernel_basis(x, method = "FVS")
    kernel_basis(x, center = TRUE)
    kernel_basis(x, center = "nearest", neighbours = 0)
    kernel_basis(x[1:3, ], center = "nearest", neighbours = 4)
    kernel_basis(x, first = 0)
    kernel_basis(x, threshold = 1, method = "kobl")
    kernel_basis(x, threshold = function(t) 1 - t, method = "kobl")
    kernel_basis(x, threshold = function(t) 2 * t, method = "kobl")
    kernel_basis(x, Size = 3)
    kernel_basis(x, kernel = "rbg")
    kernel_basis()
    kernel_basis(x, K = diag(3))
    kernel_basis(~., iris, K = diag(3))
    kernel_basis(Species ~ ., iris)
    kernel_basis(replace(x, 5, NA))
    kernel_basis(x, threads = 0)
    kernel_basis(x, verbose = "yes")
  })
})

test_that("a bad Gram matrix is refused", {
  K <- gram(random_matrix(5, 2), rbf_kernel(sigma = 1))
  expect_snapshot(error = TRUE, {
    kernel_basis(K = K[, 1:4])
    kernel_basis(K = replace(K, 2, 7))
    kernel_basis(K = replace(K, 2, NA))
    kernel_basis(K = "K")
    kernel_basis(K = -diag(3))
    kernel_basis(K = matrix(0, 3, 3))
    kernel_basis(K = 1 - diag(3))
  })
})

test_that("rows that span nothing are an error", {
  same <- matrix(1, 20, 3)
  expect_snapshot(error = TRUE, {
    kernel_basis(same, rbf_kernel(sigma = 1), center = "nearest", scale = FALSE)
    kernel_basis(same * 0, linear_kernel(), scale = FALSE)
    kernel_basis(same, polynomial_kernel(3, 1, 0.3), center = "nearest", neighbours = 3,
      scale = FALSE)
  })
  one <- kernel_basis(same, rbf_kernel(sigma = 1))
  expect_identical(one$index, 1L)
  expect_identical(one$stop, "rank")
  expect_lt(abs(one$path$fitness - 1), 1e-12)
})

test_that("kernels that are not positive semi-definite say so, and nothing is NaN", {
  x <- random_matrix(50, 3, 21)
  whole <- function(basis) all(is.finite(as.matrix(basis$path)), is.finite(basis$cholesky))
  expect_error(kernel_basis(x, sigmoid_kernel(1, -1), scale = FALSE),
    class = "kernelect_error_indefinite")
  for (method in c("fvs", "cholesky", "kobl", "kgs", "random")) {
    expect_warning(
      basis <- with_seed(1,
        kernel_basis(x, sigmoid_kernel(2, 1), method, Inf, 0, threshold = function(t) 0 * t,
          scale = FALSE)),
      class = "kernelect_warning_indefinite"
    )
    expect_true(whole(basis))
    expect_false(anyNA(predict(basis, x)))
    given <- diag(6)
    given[1, 2] <- given[2, 1] <- 3
    expect_warning(basis <-
      with_seed(1, kernel_basis(K = given, method = method, size = Inf, tol = 0)),
      class = "kernelect_warning_indefinite")
    expect_true(whole(basis))
  }
  expect_warning(kernel_basis(x, sigmoid_kernel(2, 1), "cholesky", tol = 0, scale = FALSE),
    "The kernel is not .* such as `rbf_kernel")
  expect_warning(kernel_basis(x, sigmoid_kernel(2, 1), "kgs", tol = 0, scale = FALSE),
    "Rows taken in order depend .* `method = \"cholesky")
  expect_warning(kernel_basis(K = given, size = Inf, tol = 0),
    "`K` is not .* Check how it was made")
  expect_snapshot(error = TRUE, kernel_basis(x * 3, spline_kernel(), scale = FALSE))
})

test_that("the unit of a Gram matrix does not decide whether it is indefinite", {
  given <- diag(6)
  given[1, 2] <- given[2, 1] <- 3
  x <- random_matrix(30, 2)
  for (unit in c(1e-12, 1e12)) {
    expect_warning(kernel_basis(K = given * unit, method = "cholesky", size = Inf, tol = 0),
      "residual -8 ", class = "kernelect_warning_indefinite")
    expect_silent(kernel_basis(K = tcrossprod(x) * unit, method = "cholesky", size = Inf, tol = 0))
  }
})

test_that("an ordered smooth curve is not called indefinite by a method that pivots", {
  turn <- 2 * pi * seq_len(360) / 360
  x <- cbind(cos(turn), sin(turn))
  for (method in c("fvs", "cholesky", "random")) {
    expect_silent(kernel_basis(x, method = method, size = Inf, tol = 0))
  }
})

test_that("values beyond the range of numbers are an error, not NaN", {
  expect_error(kernel_basis(random_matrix(20, 2) * 1e160, linear_kernel(), scale = FALSE),
    class = "kernelect_error")
})

test_that("a damaged basis is refused before any arithmetic", {
  basis <- kernel_basis(iris[1:4], size = 6, center = "nearest")
  damage <- list(
    function(b) replace(b, "index", list(1:5)), function(b) replace(b, "index", list(c(0L, 2:6))),
    function(b) replace(b, "index", list(c(1:5, 999L))),
    function(b) replace(b, "index", list(letters[1:6])),
    function(b) replace(b, "cholesky", list(b$cholesky[1:5, ])),
    function(b) replace(b, "cholesky", list(-b$cholesky)),
    function(b) replace(b, "cholesky", list(b$cholesky * NA)),
    function(b) replace(b, "vectors", list(b$vectors[, 1:3])),
    function(b) replace(b, "vectors", list("x")), function(b) replace(b, "shift", list(NULL)),
    function(b) replace(b, "shift", list(1)),
    function(b) replace(b, "center_vectors", list(b$vectors)),
    function(b) replace(b, "center_index", list(NULL)),
    function(b) replace(b, "scaling", list(list(center = 1, scale = 1))),
    function(b) replace(b, "kernel", list("rbf")), function(b) replace(b, "path", list(NULL)),
    function(b) replace(b, "n", list(NULL)), function(b) replace(b, "method", list("best")),
    function(b) replace(b, "input", list(NULL))
  )
  for (harm in damage) {
    broken <- structure(harm(unclass(basis)), class = "kernel_basis")
    expect_error(predict(broken, iris[1:4]), class = "kernelect_error", info = deparse(harm))
  }
})

# ---- printing and plotting ---------------------------------------------------------------------

test_that("printing and summary say what was found", {
  basis <- kernel_basis(iris_matrix(), rbf_kernel(width = 1), size = 15, scale = FALSE)
  expect_snapshot({
    basis
    summary(basis)
    kernel_basis(iris_matrix(), size = 4, center = "nearest", neighbours = 2)
    kernel_basis(K = diag(4), method = "kgs")
  })
  expect_lte(length(capture.output(print(basis))), 12)
  capture.output(expect_invisible(print(basis)))
  expect_s3_class(summary(basis), "summary.kernel_basis")
})

test_that("plots return what they show and leave the device's settings alone", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  basis <- kernel_basis(iris[1:4], size = 20)
  settings <- c("mar", "mgp", "las", "tcl", "cex.main", "font.main", "mfrow")
  before <- graphics::par(settings)
  expect_identical(plot(basis), basis$path)
  expect_identical(plot(basis, log = "y", main = "mine", col = "black"), basis$path)
  expect_invisible(plot(basis))
  expect_identical(graphics::par(settings), before)
  expect_silent(plot(kernel_basis(diag(c(1, 1, -1)), linear_kernel(), size = 1), log = "y"))
  expect_silent(plot(kernel_basis(matrix(1, 3, 2), rbf_kernel(sigma = 1)), log = "y"))
  expect_error(plot(basis, log = "x"), class = "kernelect_error_argument")
})

test_that("new data that cannot be used are refused by class", {
  basis <- kernel_basis(iris_matrix(), size = 3)
  expect_error(predict(basis), "does not keep the training rows",
    class = "kernelect_error_argument")
  K <- gram(iris_matrix(1:20))
  by_gram <- kernel_basis(K = K, size = 3)
  expect_error(predict(by_gram, as.data.frame(K)), "new rows by training rows",
    class = "kernelect_error_argument")
  expect_error(predict(by_gram, K[, 1:5]), "(20), not 5", fixed = TRUE,
    class = "kernelect_error_columns")
  expect_error(predict(by_gram, replace(K, 4, Inf)), "infinite",
    class = "kernelect_error_not_finite")
  expect_error(predict(by_gram, K, type = "residual"), "`diag`", class = "kernelect_error_argument")
})

test_that("a threshold that takes or gives one number is asked size by size", {
  constant <- kernel_basis(iris[1:4], rbf_kernel(1), "kobl", threshold = function(t) 0.3)
  expect_identical(constant$index,
    kernel_basis(iris[1:4], rbf_kernel(1), "kobl", threshold = function(t) 0 * t + 0.3)$index)
  stepped <- function(share) if (share > 0.05) 0.6 else 0.1
  whole <- function(share) ifelse(share > 0.05, 0.6, 0.1)
  expect_identical(
    suppressWarnings(kernel_basis(iris[1:4], rbf_kernel(1), "kobl", threshold = stepped))$index,
                   kernel_basis(iris[1:4], rbf_kernel(1), "kobl", threshold = whole)$index)
})

test_that("nobs() of a basis counts the rows it was chosen from", {
  basis <- kernel_basis(iris[1:4], size = 5)
  expect_identical(nobs(basis), basis$n)
  expect_equal(nobs(basis), 150)
  expect_error(nobs(basis, more = 1), class = "kernelect_error_dots")
})

# ---- edges --------------------------------------------------------------------------------------

test_that("a size is spoken of only where it is larger than the rows", {
  x <- random_matrix(12, 3)
  for (size in list(11, 12, Inf, NULL)) {
    expect_identical(
      capture.output(type = "message", basis <- kernel_basis(x, size = size, tol = 0)), character())
  }
  expect_message(kernel_basis(x, size = 13), "`size` = 13 is more than the 12 rows: 12 is used.",
    fixed = TRUE)
  expect_message(kernel_basis(x[1, , drop = FALSE], linear_kernel(), size = 100000, scale = FALSE),
                 "`size` = 100000 is more than the 1 row: 1 is used.", fixed = TRUE)
  expect_message(kernel_basis(x[1:2, ], size = 3), "more than the 2 rows: 2 is used.", fixed = TRUE)
  with_option("kernelect.threads", NULL, {
    for (f in list(kernel_basis.default, predict.kernel_basis)) {
      expect_identical(eval(formals(f)$threads), 1L)
    }
  })
})

test_that("as many neighbours as rows are their mean, more are refused", {
  x <- random_matrix(6, 2)
  basis <- kernel_basis(x, linear_kernel(), center = "nearest", neighbours = 6, tol = 0,
    scale = FALSE)
  expect_setequal(basis$center_index, 1:6)
  expect_equal(unname(predict(basis, x, "residual")), numeric(6))
  centred <- sweep(x, 2, colMeans(x))
  expect_equal(unname(predict(basis, x, "kernel")), tcrossprod(centred, centred[basis$index, ]))
  expect_error(kernel_basis(x, linear_kernel(), center = "nearest", neighbours = 7),
    "at most the number of rows, 6",
               class = "kernelect_error_argument")
})

test_that("a threshold gives numbers from 0 to 1, one for each share", {
  fits <- function(threshold) kernel_basis(iris[1:4], rbf_kernel(1), "kobl", threshold = threshold,
    size = 5)
  for (good in list(function(t) 0 * t, function(t) 0 * t + 1, function(t) as.integer(t > 0.5),
    function(t) if (t < 0.5) 0 else 1)) {
    expect_s3_class(fits(good), "kernel_basis")
  }
  bad <- list(
    function(t) t > 0.5, function(t) as.character(t), function(t) "0.5", function(t) c(t, t),
    function(t) -0.001 + 0 * t,
    function(t) ifelse(t < 0.5, NA, 1), function(t) pmin(t, 1) + 1e-9, function(t) numeric()
  )
  for (i in seq_along(bad)) {
    expect_error(fits(bad[[i]]), "it leaves that range", class = "kernelect_error_argument",
      info = i)
  }
  expect_error(fits(function(t) if (t > 0.005) stop("too far") else t), "at 0.01 it fails: too far",
    class = "kernelect_error_argument")
  expect_equal(threshold_values(sqrt, 3, 12), sqrt(0:3 / 12))
})

test_that("columns of a cross-Gram matrix go by name where both sides have names, else by position",
  {
  K <- gram(random_matrix(9, 3), rbf_kernel(1))
  named <- K
  dimnames(named) <- list(letters[1:9], letters[1:9])
  for (center in c("none", "nearest")) {
    plain <- kernel_basis(K = K, size = 4, center = center, tol = 0)
    basis <- kernel_basis(K = named, size = 4, center = center, tol = 0)
    expect_identical(basis$row_names, letters[basis$index])
    expect_identical(basis$center_names, if (center == "nearest") letters[basis$center_index])
    expect_identical(head(basis, 2)$row_names, letters[basis$index[1:2]])
    wanted <- predict(plain, K[1:3, ])
    expect_identical(predict(basis, unname(K[1:3, ])), wanted)
    expect_identical(unname(predict(basis, named[1:3, 9:1])), wanted)
    expect_identical(unname(predict(plain, named[1:3, ])), wanted)
    needed <- union(basis$row_names, basis$center_names)
    expect_identical(unname(predict(basis, named[1:3, needed])), wanted)
    expect_error(predict(basis, named[1:3, needed[-1]]), class = "kernelect_error_columns")
    # labels that repeat are no names
    rownames(named)[1] <- colnames(named)[1] <- "b"
    expect_null(kernel_basis(K = named, size = 4, center = center)$row_names)
    expect_null(kernel_basis(K = named, size = 4, center = center)$center_names)
    dimnames(named) <- list(letters[1:9], letters[1:9])
  }
})

test_that("new rows of a Gram matrix are a numeric matrix, and their own values one number each", {
  K <- gram(random_matrix(9, 3), rbf_kernel(1))
  basis <- kernel_basis(K = K, size = 4)
  for (new in list(K[1, ], matrix("a", 2, 9), K > 0.5)) {
    expect_error(predict(basis, new), "new rows by training rows",
      class = "kernelect_error_argument")
  }
  for (diag in list(NULL, rep("1", 3), rep(1, 2))) {
    expect_error(predict(basis, K[1:3, ], "residual", diag = diag), "for each of the 3 new rows",
      class = "kernelect_error_argument")
  }
  gap <- replace(K[1:3, ], 2, NA)
  expect_equal(predict(basis, gap, "residual", diag = rep(1, 3)),
    replace(predict(basis, K[1:3, ], "residual", diag = rep(1, 3)), 2, NA))
})

test_that("head() of as many rows as there are is the basis itself", {
  basis <- kernel_basis(random_matrix(12, 2), linear_kernel(), tol = 0)
  expect_identical(basis$stop, "rank")
  expect_identical(head(basis, 2), basis)
  expect_identical(head(basis, 1)$stop, "size")
  expect_length(head(kernel_basis(iris[1:4], size = 9, tol = 0))$index, 6)
})

test_that("rows of the basis keep their names, where they have any", {
  x <- random_matrix(12, 2)
  expect_null(rownames(kernel_basis(x, size = 3)$vectors))
  rownames(x) <- letters[1:12]
  basis <- kernel_basis(x, size = 3, center = "nearest", neighbours = 2)
  expect_identical(rownames(basis$vectors), letters[basis$index])
  expect_identical(rownames(basis$center_vectors), letters[basis$center_index])
  expect_identical(rownames(predict(basis, x[4:5, ])), c("d", "e"))
})

test_that("a residual below -1e-8 of the largest diagonal is told of, one of just that is not", {
  # the second row keeps 2^-26 - below - (2^-13)^2, without rounding
  given <- function(below) matrix(c(1, 2^-13, 2^-13, 2^-26 - below), 2)
  expect_silent(kernel_basis(K = given(1e-8), method = "cholesky", size = Inf, tol = 0))
  expect_warning(kernel_basis(K = given(1e-8 + 1e-20), method = "cholesky", size = Inf, tol = 0),
    "residual -1e-08 ",
                 class = "kernelect_warning_indefinite")
})

test_that("each thing that a basis needs is looked at", {
  K <- gram(random_matrix(9, 3), rbf_kernel(1))
  dimnames(K) <- list(letters[1:9], letters[1:9])
  refused <- function(basis, ...) {
    expect_error(print(within_list(basis, ...)), class = "kernelect_error_model",
      info = toString(...names()))
  }
  examples <- list(
    kernel_basis(iris[1:4], size = 4),
    kernel_basis(iris[1:4], size = 4, center = "nearest", neighbours = 2),
    kernel_basis(K = K, size = 4), kernel_basis(K = K, size = 4, center = "nearest", neighbours = 2)
  )
  for (basis in examples) {
    expect_output(print(basis), "<kernel_basis> 4 of")
    refused(basis, index = integer(), cholesky = basis$cholesky[0, 0], path = basis$path[0, ],
      vectors = basis$vectors[0, ],
            shift = if (!is.null(basis$shift)) basis$shift[5], row_names = basis$row_names[0])
    refused(basis, n = structure(basis$n, class = "count"))
    refused(basis, index = replace(basis$index, 2, 0L))
    refused(basis, index = replace(basis$index, 2, 1000L))
    refused(basis, cholesky = basis$cholesky * NA)
    refused(basis, cholesky = basis$cholesky * (1 - diag(c(1, 0, 0, 0))))
    refused(basis, path = as.matrix(basis$path))
    refused(basis, path = basis$path[-1, ])
    refused(basis, method = "best")
    if (is.null(basis$shift)) {
      refused(basis, center_index = 1L, center_names = NULL)
    } else {
      refused(basis, center_index = c(0L, 1L))
      refused(basis, shift = basis$shift * NA)
      refused(basis, shift = basis$shift[-1])
    }
    if (is.null(basis$kernel)) {
      refused(basis, row_names = "a")
      refused(basis, row_names = 1:4)
      refused(basis, center_names = c("a", "b", "c"))
    } else {
      refused(basis, vectors = basis$vectors * NA)
      refused(basis, kernel = within_list(basis$kernel, weights = c(1, 2)))
      if (!is.null(basis$shift)) {
        refused(basis, center_vectors = basis$center_vectors[1, , drop = FALSE])
      }
    }
  }
})

test_that(paste(
  "what is printed: twelve rows in full, one row of the centre or several, and a given",
  "matrix by its name"
), {
  basis <- kernel_basis(iris_matrix(), size = 14, tol = 0)
  rows <- function(n) grep("^rows", capture.output(print(head(basis, n))), value = TRUE)
  first <- paste("rows:   ", paste(basis$index[1:12], collapse = " "))
  expect_identical(c(rows(12), rows(13)), paste0(first, c("", " ...")))
  centre <- function(k) {
    basis <- kernel_basis(iris_matrix(), size = 4, center = "nearest", neighbours = k)
    list(grep("^centre", capture.output(print(basis)), value = TRUE),
      paste(head(basis$center_index, 8), collapse = " "))
  }
  expect_identical(centre(1)[[1]], paste("centre:  row", centre(1)[[2]]))
  expect_identical(centre(2)[[1]], paste("centre:  rows", centre(2)[[2]]))
  expect_identical(centre(9)[[1]], paste("centre:  rows", centre(9)[[2]]))
  expect_false(any(grepl("^centre", capture.output(print(basis)))))
  expect_output(print(kernel_basis(K = diag(4), method = "kgs")), "kernel:  given Gram matrix",
    fixed = TRUE)
})

test_that("a summary shows eight sizes, evenly spaced on a log scale, and what the pivots span", {
  long <- kernel_basis(iris_matrix(), method = "cholesky", size = 128, tol = 0)
  shown <- summary(long)
  expect_identical(shown$path, long$path[2^(0:7), ])
  expect_equal(shown$condition, long$path$pivot[1] / long$path$pivot[128])
  words <- function(updates) {
    fit <- within_list(long, updates = updates)
    grep("block update", capture.output(print(summary(fit))), value = TRUE)
  }
  span <- paste0("pivots span a factor of ", format(shown$condition, digits = 3), "; ")
  expect_identical(c(words(1), words(2), words(0)),
    paste0(span, c("1 block update", "2 block updates", "0 block updates")))
  expect_identical(nrow(summary(kernel_basis(iris_matrix(), size = 1))$path), 1L)
})

test_that("a kernel beside a Gram matrix is told to be of no use, and changes nothing", {
  K <- gram(iris_matrix(1:30))
  expect_warning(told <- kernel_basis(K = K, kernel = linear_kernel(), size = 4),
    "`kernel` is of no use with a Gram matrix", class = "kernelect_warning_kernel")
  expect_identical(told$index, kernel_basis(K = K, size = 4)$index)
})

test_that("a factor too large to ask R for is the same, also when it grows", {
  skip_on_cran()
  x <- matrix(sin(1:84000 * sqrt(2)), 42000) # 200 columns of so many rows are 64 MB
  fit <- function(size) {
    kernel_basis(x, rbf_kernel(0.05), "cholesky", size = size, tol = 0, scale = FALSE)
  }
  whole <- fit(260)
  grown <- with_option("kernelect.columns", 200, fit(260))
  expect_identical(grown, whole)
  few <- fit(20) # that many R is asked for
  expect_identical(few$index, whole$index[1:20])
  expect_identical(few$path$trace, whole$path$trace[1:20])
})
