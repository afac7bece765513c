text_models <- function() {
  circles <- simulate_circles(60, seed = 1)
  circles$y <- factor(circles$y)
  list(
    lm = list(kernel_lm(Species ~ ., iris, size = 8), iris),
    "lm of terms" = list(kernel_lm(log(mpg) ~ poly(wt, 2) + factor(cyl), mtcars, size = 5), mtcars),
    "lm centred" = list(
      kernel_lm(mpg ~ ., mtcars, size = 6, center = "nearest", neighbours = 2), mtcars
    ),
    lda = list(kernel_lda(Species ~ ., iris, polynomial_kernel(2), size = 8), iris),
    pca = list(kernel_pca(iris[1:4], laplace_kernel(), ncomp = 3), iris[1:4]),
    "pca of all rows" = list(kernel_pca(mtcars, ncomp = 2, basis = NULL), mtcars),
    basis = list(kernel_basis(as.matrix(iris[1:4]), size = 5, scale = FALSE), as.matrix(iris[1:4])),
    fusion = list(kernel_fusion(y ~ ., circles, list(linear_kernel(), rbf_kernel())), circles),
    columns = list(kernel_fusion(mpg ~ ., mtcars), mtcars),
    takes = list(kernel_takes(Species ~ ., iris), iris),
    rank = list(kernel_rank(Species ~ ., iris, max_iter = 5), iris),
    tune = list(kernel_tune(Species ~ ., iris, folds = 2, grid = list(size = 5)), iris)
  )
}

written <- function(fit) {
  file <- json_file()
  write_model(fit, file)
  paste(readLines(file), collapse = "\n")
}

json_file <- function() tempfile(fileext = ".json")

read_text <- function(text) {
  file <- json_file()
  on.exit(unlink(file))
  writeLines(text, file, useBytes = TRUE)
  read_model(file)
}

without_call <- function(fit) {
  fit$call <- NULL
  if (!is.null(fit$model)) fit$model$call <- NULL
  if (!is.null(fit$basis)) fit$basis$call <- NULL
  fit
}

test_that("a model read back predicts the same bit for bit", {
  models <- suppressWarnings(suppressMessages(text_models()))
  for (name in names(models)) {
    fit <- models[[name]][[1]]
    again <- read_text(written(fit))
    new <- utils::head(models[[name]][[2]], 20)
    expect_identical(predict(again, new), predict(fit, new), info = name)
    expect_identical(class(again), class(fit), info = name)
    expect_identical(again$version, fit$version, info = name)
  }
})

test_that("weighted models can be written, and what was read is written again the same", {
  w <- rep(c(1, 2, 0.5), 50)
  weighted <- list(
    lm = kernel_lm(Species ~ ., iris, weights = w, size = 8),
    lda = kernel_lda(Species ~ ., iris, weights = w, size = 8),
    fusion = kernel_fusion(Species ~ ., iris, list(rbf_kernel()), weights = w)
  )
  models <- c(weighted, lapply(suppressWarnings(example_models()), `[[`, 1L))
  for (name in names(models)) {
    text <- written(models[[name]])
    expect_identical(written(read_text(text)), text, info = name)
  }
  again <- read_text(written(weighted$lda))
  expect_identical(again$confusion, weighted$lda$confusion)
  expect_equal(sum(again$confusion), sum(w))
})

test_that("rows that went for missing values are known to the model read back", {
  for (action in c("omit", "exclude")) {
    fit <- suppressMessages(kernel_lm(Ozone ~ Wind + Temp, airquality, na_action = action))
    file <- json_file()
    write_model(fit, file)
    again <- read_model(file)
    expect_identical(again$na.action, fit$na.action)
    expect_identical(fitted(again), fitted(fit))
  }
})

test_that("every double survives, as do NA, NaN, infinities and minus zero", {
  v <- c(0, -0, 1, -1, 0.1, pi, 1e-300, 4.9e-324, 1.797693134862315708e308, 2^53, 2^53 + 2, 1 / 3,
         NA, NaN, Inf, -Inf)
  again <- decode_value(parse_json(encode_value(v, "")))
  expect_identical(again, v)
  expect_identical(1 / again[2], -Inf)
  with_seed(3, r <- stats::rnorm(500) * 10^stats::runif(500, -300, 300))
  expect_identical(decode_value(parse_json(encode_value(r, ""))), r)
})

test_that("lists without elements keep what names they have", {
  for (none in list(list(), stats::setNames(list(), character()))) {
    expect_identical(decode_value(parse_json(encode_value(none, ""))), none)
  }
  fit <- kernel_lm(mpg ~ wt + am, mtcars, size = 5)
  file <- json_file()
  write_model(fit, file)
  expect_identical(read_model(file)$basis$input$levels, fit$basis$input$levels)
})

test_that("names of any script survive, in a long text too", {
  x <- random_matrix(300, 3, 5)
  colnames(x) <- c("\U1F600\u00e9", "a\"\\\n\t\u0001", "\u2028 \u00df")
  classes <- c("\u00e9\n", "\\u00e9", "\U10FFFF")
  y <- factor(classes[1 + (x[, 1] > 0) + (x[, 2] > 0)], classes)
  fit <- kernel_lm(x, y, size = 150, ridge = 1)
  again <- read_text(written(fit))
  expect_identical(predict(again, x), predict(fit, x))
  expect_identical(again$basis$input, fit$basis$input)
})

test_that("vectors of every kind and their attributes survive", {
  values <- list(
    c(TRUE, NA, FALSE), c(1L, NA, -5L), c("a", NA, "\u00e9 \"quoted\" \\ \n\t\u0001 \U0001F600"),
    list(),
    list(1, NULL, list(a = 1)), structure(list(1, 2), names = c("a", "a")), character(), NULL,
    matrix(1:6 / 7, 2, dimnames = list(NULL, letters[1:3])), factor(c("b", NA, "a"), c("b", "a")),
    data.frame(x = 1:2, y = c("u", "v")), table(c("a", "b", "a"))
  )
  for (v in values) expect_identical(decode_value(parse_json(encode_value(v, ""))), v)
})

test_that("escapes of other writers are understood", {
  read <- function(s) decode_value(parse_json(paste0("{\"character\": [\"", s, "\"]}")))
  expect_identical(read("\\u00e9\\/\\b\\f\\n\\r\\t\\\"\\\\"), "\u00e9/\b\f\n\r\t\"\\")
  expect_identical(read("\\ud83d\\ude00"), "\U0001F600")
  for (bad in c("\\ud83d", "\\ude00", "\\u0000")) {
    expect_error(read(bad), class = "kernelect_error_text")
  }
})

test_that("what could run is not written", {
  f <- kernel_lm(mpg ~ wt, mtcars, function_kernel(tcrossprod), size = 2)
  expect_error(write_model(f, json_file()), "function", class = "kernelect_error_argument")
  twice <- function(v) 2 * v
  expect_error(write_model(kernel_lm(mpg ~ twice(wt), mtcars, size = 3), json_file()),
    "twice", class = "kernelect_error_argument")
  expect_error(write_model(lm(mpg ~ wt, mtcars), json_file()), "`fit` must be a model",
    class = "kernelect_error_argument")
})

# Merely to look into a package loads it.
test_that("a formula may look up functions in packages of R alone", {
  fit <- kernel_lm(mpg ~ splines::ns(wt, 3) + hp, mtcars, size = 5)
  text <- written(fit)
  expect_identical(predict(read_text(text), mtcars[1:2, ]), predict(fit, mtcars[1:2, ]))
  for (bad in c("MASS", "base::system", "no")) {
    expect_error(read_text(gsub("\"splines\"", paste0("\"", bad, "\""), text, fixed = TRUE)),
                 "not among the functions allowed", class = "kernelect_error_text")
  }
  expect_error(read_text(sub("{\"symbol\": \"hp\"}", paste0(
    "{\"call\": [{\"symbol\": \"::\"}, {\"symbol\": \"MASS\"}, {\"symbol\": \"log\"}]}"
  ), text, fixed = TRUE)), "not among the functions allowed", class = "kernelect_error_text")
  expect_error(check_callable(quote(MASS::log(wt))), "cannot hold",
               class = "kernelect_error_argument")
})

test_that("a formula that calls another function is refused on reading", {
  text <- written(kernel_lm(mpg ~ sqrt(wt), mtcars, size = 3))
  expect_match(text, "\"symbol\": \"sqrt\"", fixed = TRUE)
  expect_error(read_text(
    gsub("\"symbol\": \"sqrt\"", "\"symbol\": \"system\"", text, fixed = TRUE)),
    "system", class = "kernelect_error_text")
})

test_that("text that is no model is an error that says so", {
  for (bad in c("", "{", "[]", "null", "1", "{\"format\": 3}", "{\"a\": 1} x", "{\"a\" 1}",
    "{a: 1}",
    "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": null}",
    "{\"format\": \"kernelect-model\", \"format_version\": 9, \"model\": null}",
    "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": {\"double\": [1, 2,]}}",
    "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": {\"double\": [\"2+2\"]}}",
    "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": {\"function\": []}}",
    strrep("[", 1e5), paste0(strrep("{\"list\": [", 1e4), strrep("]}", 1e4)))) {
    expect_error(read_text(bad), class = "kernelect_error", info = substr(bad, 1, 60))
  }
  for (bad in list("no such file", tempdir(), 1, NULL, NA_character_, c("a", "b"))) {
    expect_error(read_model(bad), "`file` must be the path of a file that exists",
      class = "kernelect_error_text")
  }
})

test_that("text that is long and senseless is refused without a warning", {
  texts <- c(
    paste0("{\"format\": \"", strrep("\\\\", 3e6), "\"}"), strrep("[", 1e5),
    strrep("{\"a\":", 1e5), strrep("\"", 1e5), strrep("1", 1e6), paste0("1", strrep(" ", 1e6)),
    paste0("{", paste0("\"k", 1:2e4, "\": 1", collapse = ","), "}"),
    paste0("{\"format\": \"", strrep("\u00e9", 1e5), "\"}")
  )
  for (text in texts) {
    expect_no_warning(expect_error(read_text(text), class = "kernelect_error_text"))
  }
})

test_that("dimensions and counts that do not fit are refused", {
  head <- "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": "
  huge <- "{\"double\": [1], \"attributes\": {\"dim\": {\"integer\": [100000, 100000]}}}}"
  expect_error(read_text(paste0(head, huge)), "dimensions", class = "kernelect_error_text")
  expect_error(read_text(paste0(head, "{\"integer\": [99999999999]}}")),
    class = "kernelect_error_text")
  class <- "{\"list\": [], \"attributes\": {\"class\": {\"character\": [\"lm\"]}}}}"
  expect_error(read_text(paste0(head, class)), "class", class = "kernelect_error_text")
})

test_that("damaged text never does anything but raise a classed error or give a model", {
  text <- written(kernel_lm(Species ~ ., iris[c(1:8, 51:58, 101:108), ], size = 3))
  marks <- utf8ToInt("{}[]\",:0x.5-aN ")
  outcome <- function(bytes) {
    tryCatch(
      {
        fit <- read_text(rawToChar(bytes))
        suppressWarnings(predict(fit, iris[1:2, ]))
        "model"
      },
      kernelect_error = function(e) "refused"
    )
  }
  bytes <- charToRaw(text)
  ends <- with_seed(5, {
    cut <- vapply(1:40, function(i) outcome(bytes[seq_len(sample(length(bytes) - 2L, 1L))]), "")
    edited <- vapply(1:120, function(i) {
      at <- sample(length(bytes), sample(3L, 1L))
      outcome(replace(bytes, at, as.raw(sample(marks, length(at), TRUE))))
    }, "")
    c(cut, edited)
  })
  expect_true(all(ends[1:40] == "refused"))
  expect_true(all(ends %in% c("model", "refused")))
  expect_true("model" %in% ends)
})

test_that("vectors are written 200 values a line, and read whatever the lines are", {
  for (n in c(1, 199, 200, 201, 450)) {
    lines <- strsplit(in_lines(as.character(seq_len(n))), "\n", fixed = TRUE)[[1L]]
    expect_length(lines, ceiling(n / 200))
    expect_identical(as.integer(unlist(strsplit(lines, ", ?"))), seq_len(n))
  }
  fit <- kernel_lm(mpg ~ wt, mtcars[rep(1:32, 8), ], size = 5)
  file <- tempfile()
  write_model(fit, file)
  read <- function(gap) parse_json(paste(readLines(file), collapse = gap))
  expect_identical(read(" "), read("\n"))
  expect_identical(read("\n \n\n"), read("\n")) # lines of spaces say nothing
  expect_error(read_text(" \n"), "it is no JSON", class = "kernelect_error_text")
  expect_equal(predict(read_model(file), mtcars), predict(fit, mtcars), tolerance = 1e-12)
})

test_that("text that is JSON of no use is refused for what is wrong with it", {
  words <- c(
    "{\"a\": }" = "unexpected `}`", "{\"a\": 1, \"a\": 2}" = "a key occurs twice",
    "abc" = "it is no JSON", "{}" = "no model written by", "true" = "no model written by",
    "false" = "no model written by"
  )
  for (text in names(words)) {
    expect_error(read_text(text), words[[text]], class = "kernelect_error_text")
  }
  expect_error(read_text(rawToChar(as.raw(0xff))), "it is no text in UTF-8",
    class = "kernelect_error_text")
})

test_that("values that are not what they are called are refused for what is wrong with them", {
  head <- "{\"format\": \"kernelect-model\", \"format_version\": 1, \"model\": "
  words <- c(
    "\"double\": 1" = "a vector is no array of its kind",
    "\"logical\": [1]" = "a logical value is neither true nor false",
    "\"integer\": [9999999999]" = "a whole number is too large",
    "\"character\": [1]" = "a string is none",
    "\"fields\": [1]" = "named fields are no object",
    "\"list\": [1]" = "a list holds bare values",
    "\"list\": {\"a\": null}" = "a list is no array",
    "\"symbol\": \"\"" = "a name is none",
    "\"call\": []" = "a call is empty",
    "\"call\": [{\"symbol\": \"sqrt\"}, {\"symbol\": \"x\"}], \"names\": [\"a\"]" =
      "names of a call are damaged"
  )
  for (value in names(words)) {
    expect_error(read_text(paste0(head, "{", value, "}}")), words[[value]],
      class = "kernelect_error_text", info = value)
  }
})

test_that("a connection that cannot be read is refused, as is an attribute text cannot hold", {
  con <- file(json_file(), "w")
  on.exit(close(con))
  expect_error(read_model(con), "`file` cannot be read: ", class = "kernelect_error_text")
  fit <- kernel_lm(mpg ~ wt, mtcars, size = 3)
  attr(fit$coefficients, "remark") <- "mine"
  expect_error(write_model(fit, json_file()), "has an attribute `remark` \\(in `.*coefficients`\\)",
    class = "kernelect_error_argument")
})
