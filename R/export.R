# Models as C: one file of C99 without dependencies. Every model is brought to one form, a sum of
# expansions,
#   f_q(x) = offset_q + sum over parts of sum_j dual_jq k_part(v_j, x),
# and then to what is made of it (classes, probabilities, the nearest of stored scores), and that
# form is written out. Numbers are hexadecimal, so that none loses a bit.

#' A model as a C file
#'
#' Writes one C99 file without dependencies that predicts as the model does. Use it to take a model
#' where there is no R: a device, a database, a service. The file has one function,
#' `void <name>_predict(const double *x, double *out)`.
#'
#' @details
#' `x` holds the numeric columns of one new row as they come (scaling is done in C), in the order
#' the comment at the head of the file lists: a factor is a column a level, 1 where the row has it,
#' else
#' 0; a term of a formula such as `log(a)` is its value. `out` receives, as the comment says too,
#'
#' | model | `out` |
#' |---|---|
#' | [kernel_lm()], [kernel_fusion()] of numbers | the responses |
#' | a classifier | the decisions, then the probabilities where the model has them, a value a class each, then the number of the class, from 1 |
#' | [kernel_takes()] | the scores, then decisions, probabilities and the number of the class as above |
#' | [kernel_pca()] | the scores |
#' | [kernel_basis()] | the orthonormal coordinates |
#'
#' The file also defines `<NAME>_INPUTS` and `<NAME>_OUTPUTS`, the lengths of both. A missing value
#' (NaN) in `x` makes every output NaN. A model with a [function_kernel()], or of a Gram matrix,
#' cannot be written.
#' @param fit a fitted model: [kernel_lm()], [kernel_lda()], [kernel_pca()], [kernel_basis()],
#'   [kernel_fusion()], [kernel_takes()] or a tuned one.
#' @param file path of the file.
#' @param name how the function's name begins: a name of C.
#' @returns `file`, invisibly.
#' @examples
#' fit <- kernel_lm(mpg ~ wt + hp, mtcars, size = 4)
#' file <- tempfile(fileext = ".c")
#' export_c(fit, file, name = "mileage")
#' writeLines(head(readLines(file), 12))
#'
#' # main.c, to be compiled with it: cc -std=c99 main.c mileage.c -lm
#' main <- r"(
#' #include <stdio.h>
#' void mileage_predict(const double *x, double *out);
#' int main(void)
#' {
#'   const double x[2] = {2.62, 110};
#'   double out[1];
#'   mileage_predict(x, out);
#'   printf("%.3f miles a gallon\n", out[0]);
#'   return 0;
#' })"
#' @family exports
#' @export
export_c <- function(fit, file, name = "model") {
  check_given("fit", "file")
  check_output(file, "file")
  if (!is.character(name) || length(name) != 1L || !grepl("^[A-Za-z_][A-Za-z0-9_]*$", name)) {
    must_be("name", "a name as C allows: letters, digits and _, no digit first", name)
  }
  validate_model(fit, "fit")
  if (inherits(fit, "kernel_tune")) fit <- validate_model(fit$model, "fit$model")
  writeLines(c_file(exported_form(fit), name), file, useBytes = TRUE)
  invisible(file)
}

# ---- one form for all models ---------------------------------------------------------------

# columns (names, in order), scaling, parts (each: kernel, columns, vectors, dual and, for a centred
# basis, centre), offset, outputs (names), and what follows: `levels` with `calibration` and
# `gauss`, or `stored` scores.
exported_form <- function(fit) UseMethod("exported_form")

exported_form.default <- function(fit) {
  must_be("fit", paste("a model of rows: kernel_lm, kernel_lda, kernel_pca, kernel_basis,",
                       "kernel_fusion or kernel_takes"), fit)
}

# Linear functions of the kernel values of a basis.
basis_form <- function(basis, dual, offset, outputs) {
  if (is.null(basis$kernel)) {
    abort("argument", "`fit` was fitted to a Gram matrix: only the rows themselves can be written.")
  }
  refuse_sparse_export(basis$vectors)
  L <- length(basis$index)
  centred <- length(basis$center_index) > 0L
  part <- list(
    kernel = basis$kernel, columns = seq_len(basis$input$width), vectors = basis$vectors,
    dual = dual,
    centre = if (centred) basis$center_vectors,
    shift = if (centred) basis$shift[seq_len(L)] - basis$shift[L + 1L]
  )
  list(input = basis$input, scaling = basis$scaling, parts = list(part), offset = offset,
       outputs = outputs)
}

refuse_sparse_export <- function(vectors) {
  if (!is_sparse(vectors)) return(invisible())
  abort("argument", "`fit` keeps ", nrow(vectors), " sparse rows of ", ncol(vectors), " columns, ",
        "and C source would have to spell out all of them. Fit a model of fewer columns, or use ",
        "`write_model()`.")
}

exported_form.kernel_basis <- function(fit) {
  L <- length(fit$index)
  basis_form(fit, dual_coefficients(fit, diag(L)), numeric(L), paste("coordinate", seq_len(L)))
}

exported_form.kernel_pca <- function(fit) {
  basis_form(fit$basis, fit$loadings, -unname(fit$offset), colnames(fit$loadings))
}

exported_form.kernel_lm <- function(fit) {
  a <- as.matrix(fit$coefficients)
  dual <- dual_of(fit$expansion, fit$basis, slopes(fit$coefficients))
  form <- basis_form(fit$basis, dual, as.vector(a[1L, ]),
                     if (ncol(a) == 1L) "response" else colnames_or(a, "response "))
  form$levels <- fit$levels
  form$calibration <- kept_calibration(fit)
  form
}

# Probabilities may be dropped from a model; those that are there must be whole.
kept_calibration <- function(fit) {
  if (!is.null(fit$calibration)) validate_calibration(fit$calibration, fit$levels)
}

exported_form.kernel_lda <- function(fit) {
  dual <- dual_of(fit$expansion, fit$basis, fit$scaling)
  form <- basis_form(fit$basis, dual, -as.vector(fit$center %*% fit$scaling), NULL)
  means <- (fit$means - rep(fit$center, each = nrow(fit$means))) %*% fit$scaling
  white <- whitening(fit$within)
  shares <- fit$counts / sum(fit$counts)
  calibration <- validate_calibration(fit$calibration, fit$levels)
  form$levels <- fit$levels
  form$gauss <- list(white = white, means = means %*% white, log_prior = log(fit$prior))
  # probabilities are calibrated with the shares of the training rows, then moved to the prior; a
  # class of prior 0 has the decision -Inf, of which a slope of 0 would make NaN
  form$calibration <- list(
    slope = max(calibration$slope, .Machine$double.xmin),
    offset = calibration$offset +
      ifelse(fit$prior > 0, (1 - calibration$slope) * log(fit$prior / shares), -Inf)
  )
  form
}

exported_form.kernel_takes <- function(fit) {
  kept <- fit$directions
  if (!length(kept)) abort("argument", "`fit` keeps no direction: there is nothing to write.")
  basis <- if (is.null(fit$rotation)) head(fit$basis, max(kept, 1L)) else fit$basis
  a <- if (is.null(fit$rotation)) diag(length(basis$index)) else fit$rotation$vectors
  a <- weighted_columns(a, kept, fit$weights)
  offset <- numeric(ncol(a))
  if (!is.null(fit$rotation)) offset <- -as.vector(fit$rotation$center %*% a)
  form <- basis_form(basis, dual_coefficients(basis, a), offset, paste("score", seq_along(kept)))
  form$stored <- list(
    scores = fit$scores, class = as.integer(fit$y),
    tolerance = score_tolerance(fit)[fit$size]
  )
  form$levels <- levels(fit$y)
  form$calibration <- fit$calibration
  form
}

exported_form.kernel_fusion <- function(fit) {
  if (is.null(fit$input)) {
    abort("argument", "`fit` was fitted to Gram matrices: only the rows themselves can be written.")
  }
  refuse_sparse_export(fit$vectors)
  parts <- if (is.null(fit$kernels)) {
    list(list(
      kernel = linear_kernel(), columns = seq_len(fit$input$width),
      vectors = diag(fit$input$width), dual = as.matrix(fit$coefficients)
    ))
  } else {
    lapply(Filter(function(i) !is_noise(fit$kernels[[i]]), which(fit$weights > 0)), function(i) {
      spec <- fit$kernels[[i]]
      list(
        kernel = spec$kernel, columns = match_part_columns(spec$columns, fit$vectors),
        vectors = fit$vectors[, spec$columns, drop = FALSE],
        dual = fit$weights[[i]] * kernel_coefficients(fit, i)
      )
    })
  }
  decisions <- length(fit$intercept) # a single one for two classes: positive is the second
  list(
    input = fit$input, scaling = fit$scaling, parts = parts, offset = unname(fit$intercept),
    outputs = if (is.null(fit$levels)) "response" else utils::tail(fit$levels, decisions),
    levels = fit$levels, calibration = fit$calibration
  )
}

match_part_columns <- function(columns, vectors) {
  if (is.character(columns)) match(columns, colnames(vectors)) else columns
}

# ---- C -------------------------------------------------------------------------------------

c_number <- function(v) {
  text <- sprintf("%a", v)
  text[which(v == Inf)] <- "INFINITY"
  text[which(v == -Inf)] <- "-INFINITY"
  text
}

# `static const double name[n] = {...};`, rows of a matrix one after the other.
c_array <- function(name, v) {
  v <- if (is.matrix(v)) as.vector(t(v)) else as.vector(v)
  text <- matrix(c(paste0(c_number(v), ","), rep("", -length(v) %% 4L)), 4L)
  lines <- trimws(paste(" ", text[1L, ], text[2L, ], text[3L, ], text[4L, ]), "right")
  c(sprintf("static const double %s[%d] = {", name, length(v)), lines, "};")
}

# Names within a comment, which they must not end or carry on: no line ends, signs that turn the
# text around or trigraphs; what is left out is named by number.
c_comment <- function(text) {
  text <- iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "byte")
  text <- vapply(strsplit(text, ""), function(signs) {
    odd <- !grepl("^[\\p{L}\\p{M}\\p{N} -~]+$", signs, perl = TRUE) | signs == "\\"
    signs[odd] <- sprintf("<U+%04X>", vapply(signs[odd], utf8ToInt, 1L))
    paste(signs, collapse = "")
  }, "")
  text <- gsub("\\?(?=\\?)", "? ", text, perl = TRUE)
  gsub("*/", "* /", gsub("/*", "/ *", text, fixed = TRUE), fixed = TRUE)
}

c_columns <- function(input) {
  if (is.null(input$columns)) return(sprintf(" *   x[%d]", seq_len(input$width) - 1L))
  sprintf(" *   x[%d]  %s", seq_along(input$columns) - 1L,
          c_comment(paste0(input$columns, c_codes(input))))
}

# What the numbers of a column stand for, where it is a level of a factor.
c_codes <- function(input) {
  codes <- lapply(input$variables, function(v) {
    levels <- input$levels[[v]]
    shape <- input$matrices[[v]]
    if (is.null(levels)) return(rep("", if (is.character(shape)) length(shape) else max(1L, shape)))
    sprintf("  (1 where %s is %s, else 0)", v, levels)
  })
  codes <- unlist(codes)
  if (length(codes) == length(input$columns)) codes else ""
}

# Names of the outputs, in order.
c_outputs <- function(form) {
  if (is.null(form$levels)) return(form$outputs)
  own <- is.null(form$gauss) && is.null(form$stored) # what is expanded are the decisions
  decisions <- if (own) form$outputs else form$levels
  c(
    if (!is.null(form$stored)) form$outputs,
    paste("decision:", decisions),
    if (!is.null(form$calibration)) paste("probability:", form$levels),
    paste0("class (", c_classes(form$levels), ")")
  )
}

c_classes <- function(levels) paste0(seq_along(levels), " = ", levels, collapse = ", ")

c_file <- function(form, name) {
  outputs <- c_outputs(form)
  kernels <- lapply(seq_along(form$parts), function(p) c_part(form$parts[[p]], p))
  body <- unlist(lapply(kernels, `[[`, "code"))
  head <- c(
    sprintf("/* Written by kernelect %s. Nothing but <math.h> is needed:", package_version_text()),
    sprintf(" *   void %s_predict(const double *x, double *out);", name),
    " * Inputs, as they come; scaling is done here:", c_columns(form$input),
    " * Outputs (all NaN where an input is NaN):",
    sprintf(" *   out[%d]  %s", seq_along(outputs) - 1L, c_comment(outputs)), " */",
    "#include <math.h>", "#include <stddef.h>", "",
    sprintf("#define %s_INPUTS %d", toupper(name), form$input$width),
    sprintf("#define %s_OUTPUTS %d", toupper(name), length(outputs)), "",
    sprintf("void %s_predict(const double *x, double *out);", name), ""
  )
  c(head, c_scaling(form), c_products(body), body, c_array("offset", form$offset), "",
    c_after(form), c_predict(form, name, length(outputs)))
}

c_scaling <- function(form) {
  if (is.null(form$scaling)) return(NULL)
  c(c_array("center", form$scaling$center), c_array("scale", form$scaling$scale), "")
}

# Only what is used: an unused function is a warning.
c_products <- function(body) {
  used <- function(f) any(grepl(paste0("\\b", f, "\\("), body))
  signature <- "(const double *x, const double *z, const double *w, size_t d)"
  reduce <- function(name, start, step) {
    c(sprintf("static double %s%s", name, signature), "{", sprintf("  double s = %s;", start),
      "  for (size_t i = 0; i < d; i++) {", "    const double v = w ? w[i] : 1.0;", step, "  }",
      "  return s;", "}", "")
  }
  c(
    if (used("inner")) reduce("inner", "0.0", "    s += v * x[i] * (v * z[i]);"),
    if (used("squares")) {
      reduce("squares", "0.0", "    s += v * (x[i] - z[i]) * (v * (x[i] - z[i]));")
    },
    if (used("spline")) {
      reduce("spline", "1.0", c(
        "    const double a = v * x[i], b = v * z[i], m = a < b ? a : b;",
        "    s *= 1.0 + a * b + a * b * m - (a + b) / 2.0 * m * m + m * m * m / 3.0;"
      ))
    }
  )
}

# Arrays and functions of a part: its kernel, and its share of every output.
c_part <- function(part, p) {
  d <- ncol(part$vectors)
  kernel <- c_kernel(exported_kernel(part$kernel), p, d)
  K <- ncol(part$dual)
  centre <- if (!is.null(part$centre)) {
    c(c_array(paste0("centre", p), part$centre), c_array(paste0("shift", p), part$shift))
  }
  code <- c(
    kernel$arrays, c_array(paste0("rows", p), part$vectors), c_array(paste0("dual", p), part$dual),
    centre, "",
    sprintf("static double kernel%d(const double *x, const double *z)", p), "{",
    sprintf("  return %s;", kernel$expression), "}", "",
    sprintf("static void add%d(const double *x, double *f)", p), "{",
    if (!is.null(centre)) {
      c("  double mean = 0.0;",
        sprintf("  for (size_t c = 0; c < %d; c++)", nrow(part$centre)),
        sprintf("    mean += kernel%d(x, centre%d + c * %d) / %d.0;", p, p, d, nrow(part$centre)))
    },
    sprintf("  for (size_t j = 0; j < %d; j++) {", nrow(part$vectors)),
    sprintf("    const double k = kernel%d(x, rows%d + j * %d)%s;", p, p, d,
            if (is.null(centre)) "" else sprintf(" - mean - shift%d[j]", p)),
    sprintf("    for (size_t q = 0; q < %d; q++)", K),
    sprintf("      f[q] += dual%d[j * %d + q] * k;", p, K), "  }", "}", ""
  )
  list(code = code)
}

exported_kernel <- function(kernel) {
  if (in_r(kernel)) {
    abort("argument", "`fit` has a `function_kernel()`: a function of R cannot be written in C.")
  }
  core_kernel(kernel)
}

# A kernel as an expression of x and z, and the arrays of weights it needs.
c_kernel <- function(core, p, d) {
  arrays <- character()
  walk <- function(core) {
    if (!is.null(core$parts)) {
      inside <- vapply(core$parts, walk, "")
      sign <- combinations[[core$type]]$sign
      return(sprintf("%s * (%s)", c_number(core$scale), paste(inside, collapse = sign)))
    }
    weights <- "NULL"
    if (!is.null(core$weights)) {
      weights <- sprintf("weights%d_%d", p, length(arrays))
      arrays[[length(arrays) + 1L]] <<- paste(c_array(weights, core$weights), collapse = "\n")
    }
    kernel_types()[[core$type]]$c(core, weights, d)
  }
  expression <- walk(core)
  list(arrays = arrays, expression = expression)
}

# ---- from values to classes ----------------------------------------------------------------

c_after <- function(form) {
  c(
    if (!is.null(form$stored)) {
      c(c_array("stored", form$stored$scores),
        sprintf("static const int class_of[%d] = {", length(form$stored$class)),
        strwrap(paste(form$stored$class, collapse = ", "), 96, prefix = "  "), "};", "",
        c_gap(ncol(form$stored$scores)))
    },
    if (!is.null(form$gauss)) {
      c(c_array("white", form$gauss$white), c_array("means", form$gauss$means),
        c_array("log_prior", form$gauss$log_prior), "")
    },
    if (!is.null(form$calibration)) c(c_array("calibration", form$calibration$offset), "")
  )
}

c_predict <- function(form, name, outputs) {
  d <- form$input$width
  K <- length(form$offset)
  scaled <- if (is.null(form$scaling)) "x[i]" else "(x[i] - center[i]) / scale[i]"
  c(
    sprintf("void %s_predict(const double *x, double *out)", name), "{",
    sprintf("  double s[%d], f[%d];", d, K),
    sprintf("  for (size_t i = 0; i < %d; i++) {", d),
    "    if (isnan(x[i])) {",
    sprintf("      for (size_t q = 0; q < %d; q++)", outputs), "        out[q] = NAN;",
    "      return;", "    }", sprintf("    s[i] = %s;", scaled), "  }",
    sprintf("  for (size_t q = 0; q < %d; q++)", K), "    f[q] = offset[q];",
    unlist(lapply(seq_along(form$parts), function(p) c_add(form$parts[[p]], p, d))),
    c_finish(form, K), "}"
  )
}

# A part on some of the columns gets those.
c_add <- function(part, p, d) {
  if (identical(as.integer(part$columns), seq_len(d))) return(sprintf("  add%d(s, f);", p))
  chosen <- sprintf("s[%d]", part$columns - 1L)
  c(sprintf("  const double s%d[%d] = {%s};", p, length(chosen), paste(chosen, collapse = ", ")),
    sprintf("  add%d(s%d, f);", p, p))
}

c_copy <- function(K) c(sprintf("  for (size_t q = 0; q < %d; q++)", K), "    out[q] = f[q];")

c_finish <- function(form, K) {
  if (is.null(form$levels)) return(c_copy(K))
  k <- length(form$levels)
  calibrated <- !is.null(form$calibration)
  if (!is.null(form$stored)) {
    return(c(c_copy(K), c_nearest(form$stored, K, k), c_softmax(form$calibration, k, k, K),
             sprintf("  out[%d] = (double)(best + 1);", K + k + calibrated * k)))
  }
  count <- if (is.null(form$gauss)) K else k
  c(if (is.null(form$gauss)) c_copy(K) else c_gauss(form$gauss, K),
    c_softmax(form$calibration, count, k), c_largest(count, count + calibrated * k))
}

# The classes' decisions from scores whose spread within classes is made round.
c_gauss <- function(gauss, p) {
  k <- nrow(gauss$means)
  c(
    sprintf("  for (size_t c = 0; c < %d; c++) {", k), "    double distance = 0.0;",
    sprintf("    for (size_t a = 0; a < %d; a++) {", p), "      double t = 0.0;",
    sprintf("      for (size_t q = 0; q < %d; q++)", p),
    sprintf("        t += f[q] * white[q * %d + a];", p),
    sprintf("      t -= means[c * %d + a];", p), "      distance += t * t;", "    }",
    "    out[c] = log_prior[c] - distance / 2.0;", "  }"
  )
}

# From `count` decisions, which begin at out[first]; of a single one the first class has zero.
c_softmax <- function(calibration, count, k, first = 0L) {
  if (is.null(calibration)) return(NULL)
  decision <- if (count == 1L) "(c ? d[0] : 0.0)" else "d[c]"
  c(
    sprintf("  const double *d = out + %d;", first),
    sprintf("  double *p = out + %d, top = -INFINITY, sum = 0.0;", first + count),
    sprintf("  for (size_t c = 0; c < %d; c++) {", k),
    sprintf("    p[c] = %s * %s + calibration[c];", c_number(calibration$slope), decision),
    "    top = p[c] > top ? p[c] : top;", "  }",
    sprintf("  for (size_t c = 0; c < %d; c++) {", k),
    "    p[c] = exp(p[c] - top);", "    sum += p[c];", "  }",
    sprintf("  for (size_t c = 0; c < %d; c++)", k), "    p[c] /= sum;"
  )
}

# The class of the largest decision, the first of equal ones.
c_largest <- function(count, at) {
  if (count == 1L) return(sprintf("  out[%d] = out[0] > 0.0 ? 2.0 : 1.0;", at))
  c("  size_t best = 0;", sprintf("  for (size_t c = 1; c < %d; c++)", count),
    "    best = out[c] > out[best] ? c : best;", sprintf("  out[%d] = (double)(best + 1);", at))
}

# Decisions, minus the distance to the nearest stored row of each class; `best` is the class of most
# of the rows that are as near as the nearest, up to rounding, then that of the lowest.
c_nearest <- function(stored, p, k) {
  n <- nrow(stored$scores)
  c(
    "  double least = INFINITY;", sprintf("  size_t votes[%d] = {0}, first[%d], best = 0;", k, k),
    sprintf("  for (size_t c = 0; c < %d; c++)", k), sprintf("    out[%d + c] = -INFINITY;", p),
    sprintf("  for (size_t i = 0; i < %d; i++) {", n),
    "    const double g = gap(f, i);", sprintf("    double *own = out + %d + class_of[i];", p - 1L),
    "    least = g < least ? g : least;", "    *own = -g > *own ? -g : *own;", "  }",
    sprintf("  for (size_t i = %d; i-- > 0;)", n),
    sprintf("    if (gap(f, i) <= least + %s) {", c_number(stored$tolerance)),
    "      votes[class_of[i] - 1]++;", "      first[class_of[i] - 1] = i;", "    }",
    sprintf("  for (size_t c = 1; c < %d; c++)", k),
    "    if (votes[c] > votes[best] ||",
    "        (votes[c] && votes[c] == votes[best] && first[c] < first[best]))",
    "      best = c;"
  )
}

c_gap <- function(p) {
  c(
    "static double gap(const double *f, size_t i)", "{", "  double s = 0.0;",
    sprintf("  for (size_t q = 0; q < %d; q++)", p),
    sprintf("    s += (f[q] - stored[i * %d + q]) * (f[q] - stored[i * %d + q]);", p, p),
    "  return sqrt(s);", "}", ""
  )
}
