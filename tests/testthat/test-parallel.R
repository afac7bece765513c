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
