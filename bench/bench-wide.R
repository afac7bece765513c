# Wide tables (genes), 200 rows of 20,000 columns, of which 30 tell two classes apart, one thread:
# every method that claims them, beside peers. The value of a ranking is how many of the 30 come
# among its first 30, so the note that contestants "computed something else" is no alarm.
source(file.path("bench", "harness.R"))

wide_rows <- function() {
  set.seed(1)
  y <- rep(1:2, each = 100)
  x <- matrix(rnorm(200 * 20000), 200)
  x[, 1:30] <- x[, 1:30] + 0.8 * (y - 1.5)
  list(x = x, y = matrix(y))
}

in_r <- function(job, value = "NaN", package = "kernelect") {
  contestant(setup = sprintf("library(%s); g <- factor(y)", package),
             job = paste0("suppressWarnings(suppressMessages(", job, "))"), value = value)
}

in_python <- function(import, job, value = "float('nan')") {
  contestant(lang = "python", setup = paste0("import numpy as np\n", import, "\ng = y.ravel()"),
             job = job, value = value)
}

methods <- c("fisher", "sas", "scss", "sfs", "kfds", "rfe", "arom", "r2w2", "bahsic", "forward",
             "gmkl")
rankings <- lapply(methods, function(method) {
  in_r(sprintf("kernel_rank(x, g, method = '%s', n = 30)", method),
       "sum(head(result$ranking, 30) %in% 1:30)")
})
names(rankings) <- paste("kernelect,", methods)

contest("wide-rank", rounds = 1, patience = 2, data = wide_rows(), c(rankings, list(
  "scikit-learn mutual information" = in_python(
    "from sklearn.feature_selection import mutual_info_classif",
    "mutual_info_classif(x, g, random_state=1)", "(np.argsort(-result)[:30] < 30).sum()"
  ),
  "scikit-learn RFE, linear SVC" = in_python(
    "from sklearn.feature_selection import RFE\nfrom sklearn.svm import SVC",
    "RFE(SVC(kernel='linear'), n_features_to_select=30, step=0.1).fit(x, g)",
    "result.support_[:30].sum()"
  )
)))

contest("wide-fit", rounds = 1, data = wide_rows(), list(
  "kernelect, kernel_basis" = in_r("kernel_basis(x)"),
  "kernelect, kernel_lm" = in_r("kernel_lm(x, g)"),
  "kernelect, kernel_lda" = in_r("kernel_lda(x, g)"),
  "kernelect, kernel_pca" = in_r("kernel_pca(x, ncomp = 10)"),
  "kernelect, kernel_takes" = in_r("kernel_takes(x, g)"),
  "kernelect, kernel_tune" = in_r("kernel_tune(x, g)"),
  "kernelect, kernel_fusion of two kernels" = in_r(
    "kernel_fusion(x, g, list(rbf_kernel(100), linear_kernel()), folds = 0)"
  ),
  e1071 = in_r("svm(x, g)", package = "e1071"),
  "kernlab ksvm" = in_r("ksvm(x, g, kernel = 'rbfdot')", package = "kernlab"),
  "scikit-learn SVC" = in_python("from sklearn.svm import SVC", "SVC().fit(x, g)")
))
