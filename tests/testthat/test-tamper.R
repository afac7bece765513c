test_that("an edited model refuses or answers as before, whatever the edit", {
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  on.exit({
    grDevices::dev.off()
    unlink(picture)
  })
  set.seed(20)
  examples <- example_models()
  classes <- unique(vapply(examples, function(e) class(e[[1L]])[1L], ""))
  for (name in names(examples)) {
    ends <- tamper(examples[[name]], 40, classes)
    broken <- ends[!ends$verdict %in% c("refused", "same"), ]
    expect_identical(nrow(broken), 0L, info = paste(name, utils::capture.output(print(broken)), collapse = "\n"))
    expect_gt(mean(ends$verdict == "refused"), 0.5)
  }
})

test_that("a model survives every way of saving it, and new fields", {
  for (example in example_models()) {
    model <- example[[1L]]
    expected <- predict(model, example[[2L]])
    file <- tempfile()
    for (ascii in list(FALSE, TRUE, NA)) {
      saveRDS(model, file, ascii = ascii)
      expect_equal(predict(readRDS(file), example[[2L]]), expected, tolerance = 1e-12)
    }
    expect_identical(predict(unserialize(serialize(model, NULL, version = 2)), example[[2L]]), expected)
    model$note <- "mine"
    model$fitted.values <- NULL
    expect_identical(predict(model, example[[2L]]), expected)
  }
})

test_that("a file without a seal is no model", {
  model <- kernel_basis(iris[1:4], size = 3)
  attr(model, "seal") <- NULL
  expect_error(predict(model, iris), class = "kernelect_error_model")
  expect_error(predict(structure(1:3, class = "kernel_basis"), iris), class = "kernelect_error_model")
})
