# Naive twins of the models on a basis: explicit matrices, refitting in place of formulas.

centred_gram <- function(K) {
  h <- diag(nrow(K)) - 1 / nrow(K)
  h %*% K %*% h
}

# Full kernel PCA by eigen() of the centred Gram matrix, signs as documented.
reference_kpca <- function(K, count) {
  e <- eigen(centred_gram(K), symmetric = TRUE)
  scores <- e$vectors[, seq_len(count)] %*% diag(sqrt(e$values[seq_len(count)]), count)
  signs <- apply(scores, 2, function(s) sign(s[which.max(abs(s))]))
  list(values = e$values[seq_len(count)], scores = scores %*% diag(signs, count))
}

# Ridge regression of the columns of y with a free intercept, by the normal equations.
reference_ridge <- function(z, y, ridge) {
  design <- cbind(1, z)
  penalty <- diag(c(0, rep(ridge, ncol(z))), ncol(z) + 1)
  b <- qr.coef(qr(rbind(design, sqrt(penalty)), tol = 1e-14),
    rbind(y, matrix(0, ncol(z) + 1, ncol(y))))
  b[is.na(b)] <- 0
  b
}

# Leave-one-out by refitting, for every number of leading columns.
refitted_loo <- function(z, y, ridge = 0, classes = NULL) {
  vapply(seq_len(ncol(z)), function(l) {
    errors <- vapply(seq_len(nrow(z)), function(i) {
      b <- reference_ridge(z[-i, seq_len(l), drop = FALSE], y[-i, , drop = FALSE], ridge)
      value <- c(1, z[i, seq_len(l)]) %*% b
      if (is.null(classes)) mean((y[i, ] - value)^2) else which.max(value) != as.integer(classes)[i]
    }, 0)
    mean(errors)
  }, 0)
}

# Between / total inertia by the generalised eigenproblem, solved without symmetry.
reference_inertia <- function(z, classes) {
  z <- scale(z, scale = FALSE)
  means <- apply(z, 2, function(v) ave(v, classes))
  values <- eigen(solve(crossprod(z), crossprod(means)), only.values = TRUE)$values
  sort(Re(values), decreasing = TRUE)[seq_len(nlevels(classes) - 1)]
}

same_up_to_sign <- function(a, b, tolerance) {
  testthat::expect_equal(unname(abs(a)), unname(abs(b)), tolerance = tolerance)
}

without_rows <- function(model) {
  model$scores <- model$fitted.values <- model$residuals <- NULL
  model
}

# A model in a file that goes away with the session.
saved_model <- function(model) {
  file <- tempfile(fileext = ".rds")
  saveRDS(model, file)
  file
}

unname_rows <- function(m) {
  rownames(m) <- NULL
  m
}
