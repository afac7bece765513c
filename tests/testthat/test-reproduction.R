# The figures behind vignette("reproduction"), as `make reproduce` writes them.

result <- function(name) {
  utils::read.csv(system.file("results", paste0(name, ".csv"), package = "kernelect"),
    na.strings = "")
}
papers <- c("Baudat", "Teixeira", "Ramona", "Mottl", "Xu")

test_that("every table and figure of the papers is on the page, with a count or a reason", {
  glance <- result("reproduction")
  roman <- c("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
  items <- c(
    paste("Baudat", c("Table 1", "Table 2", paste("Figure", 1:6))),
    paste("Teixeira", c("Table 1", "Table 2")),
    paste("Ramona", c(paste("Table", roman), paste("Figure", 1:6))),
    paste("Mottl", c("Table, regression", "Table, recognition")),
    paste("Xu", c("Table 1", "Table 2", "Figure 1", "Figures 2 and 3"))
  )
  expect_setequal(intersect(items, paste(glance$paper, glance$item)), items)
  all_in <- glance$cells > 0 & glance$inside == glance$cells
  expect_true(all(all_in | !is.na(glance$reason)))
  expect_setequal(glance$paper, papers)
})

test_that("a printed figure is in when ours lies within one sd of it", {
  for (paper in papers) {
    d <- result(paste0("reproduce-", tolower(paper)))
    d <- d[!is.na(d$inside) & !grepl("t-tests", d$item), ]
    yardstick <- ifelse(is.na(d$print_sd), d$ours_sd, d$print_sd)
    expect_identical(d$inside, abs(d$ours - d$print) <= yardstick + 1e-9)
    expect_true(all(d$runs >= 1))
    expect_false(anyNA(d$commit))
  }
})

test_that("the page counts the cells of the papers' tables", {
  glance <- result("reproduction")
  plain <- glance[is.na(glance$reading), ]
  for (i in which(plain$cells > 0)) {
    d <- result(paste0("reproduce-", tolower(plain$paper[i])))
    other <- grepl("^(sas|scss)(10|1)$|noise 0[.]", d$method) |
      plain$paper[i] == "Xu" & d$item == "Table 2" & d$setting != "1"
    d <- d[d$item == plain$item[i] & !is.na(d$inside) & !other %in% TRUE, ]
    expect_identical(c(plain$inside[i], plain$cells[i]), c(sum(d$inside), nrow(d)))
  }
})

test_that("no cell of a table is left out of the page, in whatever reading", {
  glance <- result("reproduction")
  for (paper in papers) {
    d <- result(paste0("reproduce-", tolower(paper)))
    elsewhere <- paper == "Xu" & d$item == "Table 2" & !d$setting %in% c("1", "2")
    expect_identical(sum(glance$cells[glance$paper == paper]), sum(!is.na(d$inside[!elsewhere])))
  }
})

test_that("every figure that is out has a reason beside it", {
  for (paper in papers) {
    d <- result(paste0("reproduce-", tolower(paper)))
    out <- d[d$inside %in% FALSE & !grepl("t-tests", d$item), ]
    expect_false(anyNA(out$reason))
    expect_true(all(is.na(d$reason[!d$inside %in% FALSE])))
  }
})

test_that("no table or figure has fewer runs than in its paper", {
  glance <- result("reproduction")
  most <- function(runs) as.numeric(sub(".* ", "", runs))
  known <- !is.na(glance$runs) & !glance$paper_runs %in% c(NA, "not said")
  expect_true(all(most(glance$runs[known]) >= most(glance$paper_runs[known])))
})
