test_that("a bar is drawn at once when asked for, never unasked where nobody looks", {
  expect_identical(show_progress(TRUE), TRUE)
  expect_identical(show_progress(FALSE), if (interactive()) NA else FALSE)
  asked <- capture.output(type = "message", {
    tick <- progress(TRUE, 2)
    tick()
    tick()
    tick(close = TRUE)
  })
  expect_match(paste(asked, collapse = ""), "100%", fixed = TRUE)
  unasked <- capture.output(type = "message", {
    tick <- progress(FALSE, 2, show = FALSE)
    tick()
    tick(close = TRUE)
  })
  expect_identical(unasked, character())
})

test_that("a patient bar stays away from a quick job", {
  quick <- capture.output(type = "message", {
    tick <- progress(FALSE, 2, show = NA)
    tick()
    tick()
    tick(close = TRUE)
  })
  expect_identical(quick, character())
  slow <- capture.output(type = "message", {
    tick <- progress(FALSE, 2, show = NA)
    environment(tick)$start <- environment(tick)$start - 3
    tick()
    tick()
    tick(close = TRUE)
  })
  expect_match(paste(slow, collapse = ""), "100%", fixed = TRUE)
})

test_that("a loop answers in order and draws its bar on a line of its own", {
  if (requireNamespace("future.apply", quietly = TRUE)) {
    plan <- future::plan("sequential")
    on.exit(future::plan(plan))
  }
  expect_false(parallel_plan())
  drawn <- capture.output(type = "message", {
    values <- parallel_lapply(c(a = 2, b = 5), function(v) v^2, verbose = TRUE)
    cat("after", file = stderr())
  })
  expect_identical(values, list(a = 4, b = 25))
  expect_match(paste(drawn, collapse = "\n"), "50%.*100%\nafter$")
  expect_identical(parallel_lapply(list(), identity, verbose = TRUE), list())
})

test_that("one step has a bar, none has not", {
  bar_of <- function(count) {
    capture.output(type = "message", {
      tick <- progress(TRUE, count)
      for (i in seq_len(count)) tick()
      tick(close = TRUE)
    })
  }
  expect_match(paste(bar_of(1), collapse = ""), "100%", fixed = TRUE)
  expect_identical(bar_of(0), character())
})
