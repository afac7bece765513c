test_that("every status of the core that is no success has a kind and words", {
  for (name in names(status_table)) {
    error <- tryCatch(raise_status(name), error = identity)
    expect_s3_class(error, paste0("kernelect_error_", status_table[[name]]$kind))
    expect_identical(conditionMessage(error), status_table[[name]]$words)
    expect_error(raise_status(name, "a ", "b"), "^a b$",
      class = paste0("kernelect_error_", status_table[[name]]$kind))
  }
})

test_that("entries without a result give the name of a status", {
  huge <- matrix(c(1e200, -1e200, 3), 3)
  expect_identical(.Call(ffi_gram, kernel_source(huge, linear_kernel()), 1L), "not_finite")
  expect_error(gram(huge, linear_kernel()), "Kernel values overflow",
    class = "kernelect_error_not_finite")
  rule <- engine_rule(basis_control("cholesky"), 2)
  expect_identical(.Call(ffi_basis, list(K = diag(c(1, -1))), rule, FALSE, 1L), "indefinite")
  expect_identical(.Call(ffi_basis, list(K = diag(c(1, Inf))), rule, FALSE, 1L), "not_finite")
  expect_error(kernel_basis(K = diag(c(1, -1))), class = "kernelect_error_indefinite")
})

test_that("both sides of the limit for a negative diagonal", {
  expect_error(kernel_basis(K = diag(c(1, -1.1e-8))), class = "kernelect_error_indefinite")
  expect_identical(kernel_basis(K = diag(c(1, -0.9e-8)))$index, 1L)
})

test_that("results that are not the end say so by name", {
  K <- diag(2)
  expect_identical(solve_dual(K, c(1, 1), 0, 1, total = 1)$status, "ok")
  expect_identical(solve_dual(K, c(1, 1), 0, 1, total = 5)$status, "infeasible")
  expect_identical(solve_dual(gram(random_matrix(50, 2)), rnorm(50), -1, 1, max_iter = 0)$status,
    "not_converged")
  expect_error(solve_dual(K * Inf, c(1, 1), 0, 1, total = 1), class = "kernelect_error_not_finite")
})
