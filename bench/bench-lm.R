# Regressions that a user waits for, one thread: 100,000 rows with all defaults, 1,000,000 rows on a
# basis of 200 beside that basis alone, and a kernel chosen by kernel_tune() on 20,000 rows. The
# peers are as small: rows at random and a ridge by scikit-learn, fifty trees, smooth terms.
source(file.path("bench", "harness.R"))

score_rows <- function(n, d) {
  set.seed(1)
  x <- matrix(rnorm(n * d), n)
  list(x = x, y = matrix(x[, 1] * x[, 2] + x[, 3] + 0.5 * rnorm(n)))
}

ours <- function(job, blas = "openblas") {
  contestant(setup = "library(kernelect); r <- drop(y); g <- factor(r > 0)",
             job = paste0("suppressMessages(", job, ")"), value = "NaN", blas = blas)
}

nystroem <- function(job) {
  contestant(
    lang = "python", setup = paste(
      "import numpy as np", "from sklearn.kernel_approximation import Nystroem",
      "from sklearn.linear_model import Ridge, RidgeCV", "from sklearn.pipeline import Pipeline",
      "from sklearn.model_selection import GridSearchCV",
      "def on_rows(size, last):",
      "    rows = Nystroem(gamma=0.5 / x.shape[1], n_components=size, random_state=1)",
      "    return Pipeline([('rows', rows), ('ridge', last)])",
      "ridges, r = np.logspace(-6, 2, 9), y.ravel()", sep = "\n"
    ),
    job = job, value = "float('nan')"
  )
}

frame <- "d <- data.frame(x, y = drop(y))"

contest("lm-100000", rounds = 3, data = score_rows(1e5, 10), list(
  kernelect = ours("kernel_lm(x, r)"),
  ranger = contestant(
    setup = paste("library(ranger)", frame, sep = "\n"),
    job = "ranger(y ~ ., d, num.trees = 50, num.threads = 1, verbose = FALSE)", value = "NaN"
  ),
  "mgcv::bam" = contestant(
    setup = paste("library(mgcv)", frame,
                  "f <- reformulate(paste0('s(X', 1:10, ')'), 'y')", sep = "\n"),
    job = "bam(f, data = d, discrete = TRUE)", value = "NaN"
  ),
  "scikit-learn" = nystroem("on_rows(200, RidgeCV(ridges)).fit(x, r)")
))

# The BLAS that R comes with, and one that is tuned.
for (blas in c("openblas", "reference")) {
  contest(paste0("lm-5000", if (blas == "reference") "-reference"), rounds = 3,
    data = score_rows(5000, 10), list(
      kernelect = ours("kernel_lm(x, r)", blas),
      "kernelect, kernel_lda()" = ours("kernel_lda(x, g)", blas),
      "kernelect, kernel_tune()" = ours("kernel_tune(x, r)", blas),
      "kernlab gausspr" = contestant(
        setup = "library(kernlab); r <- drop(y)", # it says on the way what it does
        job = "{ capture.output(fit <- gausspr(x, r)); fit }", value = "NaN", blas = blas
      ),
      e1071 = contestant(
        setup = "library(e1071); r <- drop(y)", job = "svm(x, r)", value = "NaN", blas = blas
      )
    ))
}

contest("lm-million", rounds = 1, data = score_rows(1e6, 20), list(
  kernelect = ours("kernel_lm(x, r, size = 200)"),
  "kernelect, basis alone" = ours("kernel_basis(x, size = 200)"),
  "scikit-learn" = nystroem("on_rows(200, Ridge(1e-3)).fit(x, r)"),
  "limit: basis" = contestant(lang = "c", job = "limit_basis.c", args = "200")
))

contest("tune-20000", rounds = 1, data = score_rows(20000, 10), list(
  kernelect = ours("kernel_tune(x, r)"),
  "kernelect, two classes" = ours("kernel_tune(x, g)"),
  "scikit-learn" = nystroem(
    "GridSearchCV(on_rows(200, RidgeCV(ridges)), {'rows__gamma': 0.05 * np.array([0.06, 0.25, 0.5, 1, 2, 4])}, cv=5).fit(x, r)" # nolint: line_length_linter.
  )
))
