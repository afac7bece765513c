# What `make lint` asks of the R side and of the layout, beyond clang-format:
#   Rscript tools/lint.R
# * lintr with the project's own rules (.lintr) over R/, tests/, tools/, bench/, demo/ and inst/;
# * lengths: no function of more than 80 lines, in C none of more than 8 parameters, medians of at
#   most 15 lines;
# * stems: a core file has its header and a test program (or those of its family, below), glue has
#   a core file of the same stem, an R file has a test file of its stem or of its family
#   (`rank-search.R` belongs to `rank`);
# * the site: _pkgdown.yml names every vignette and every page of help;
# * the tables of speed in README.md and bench/results.md are those of bench/results/.
# Prints every finding and ends with status 1 if there is one. Files that did not change since the
# last run are not read again (out/lint).

stem <- function(files) sub("[.][^.]*$", "", basename(files))

# ---- lintr -------------------------------------------------------------------------------

lint_files <- function() {
  if (!requireNamespace("lintr", quietly = TRUE)) {
    cat("lint: lintr is not installed: its part is skipped\n")
    return(character())
  }
  files <- list.files(
    c("R", "tests", "tools", "bench", "demo", "inst"), "[.]R$",
    recursive = TRUE, full.names = TRUE
  )
  found <- unlist(lapply(files, lintr::lint, cache = "out/lint"), recursive = FALSE)
  vapply(found, function(l) {
    sprintf("%s:%d:%d: %s", l$filename, l$line_number, l$column_number, l$message)
  }, "")
}

# ---- lengths -----------------------------------------------------------------------------

r_functions <- function(file) {
  code <- parse(file, keep.source = TRUE)
  tokens <- utils::getParseData(code)
  at <- tokens[tokens$token == "FUNCTION", ]
  outer <- tokens[match(at$parent, tokens$id), ]
  top <- vapply(outer$id, function(id) depth_of(id, tokens) <= 2L, NA)
  data.frame(file = rep(file, sum(top)), line = outer$line1[top],
             lines = outer$line2[top] - outer$line1[top] + 1L)
}

depth_of <- function(id, tokens) {
  depth <- 0L
  while (id > 0L && depth < 4L) {
    id <- tokens$parent[match(id, tokens$id)]
    depth <- depth + 1L
  }
  depth
}

# A function of ours starts with a line that has no indent and ends in `)` before a line `{`.
c_functions <- function(file) {
  text <- readLines(file)
  open <- which(text == "{")
  close <- which(text == "}")
  first <- vapply(open, function(o) {
    start <- o - 1L
    while (start > 1L && !grepl("^[A-Za-z_].*[(]", text[start])) start <- start - 1L
    start
  }, 1L)
  last <- vapply(open, function(o) close[close > o][1L], 1L)
  head <- Map(function(f, o) paste(text[f:(o - 1L)], collapse = " "), first, open)
  parameters <- vapply(head, function(h) {
    inside <- sub("[)][^)]*$", "", sub("^[^(]*[(]", "", h))
    if (inside %in% c("void", "")) 0L else lengths(regmatches(inside, gregexpr(",", inside))) + 1L
  }, 1L)
  data.frame(file = rep(file, length(open)), line = first, lines = last - first + 1L,
             parameters = parameters)
}

# A function on one line, `int f(int x) { return x; }`, is short anyway.
check_lengths <- function() {
  r <- do.call(rbind, lapply(list.files("R", full.names = TRUE), r_functions))
  c <- do.call(rbind, lapply(list.files("src", "[.]c$", full.names = TRUE), c_functions))
  show <- function(table, what) if (nrow(table)) sprintf("%s:%d: %s", table$file, table$line, what)
  cat(sprintf("lint: functions, lines by median / 90 %% / longest: C %d / %d / %d, R %d / %d / %d\n", # nolint: line_length_linter.
              stats::median(c$lines), stats::quantile(c$lines, 0.9, type = 1), max(c$lines),
              stats::median(r$lines), stats::quantile(r$lines, 0.9, type = 1), max(r$lines)))
  c(
    show(r[r$lines > 80L, ], "a function of more than 80 lines"),
    show(c[c$lines > 80L, ], "a function of more than 80 lines"),
    show(c[c$parameters > 8L, ], "a function of more than 8 parameters"),
    if (stats::median(c$lines) > 15) "src: the median function has more than 15 lines",
    if (stats::median(r$lines) > 15) "R: the median function has more than 15 lines"
  )
}

# ---- stems -------------------------------------------------------------------------------

# Files that share the contract and the tests of another.
families <- c(
  rules = "basis", body = "basis", start = "basis", face = "dual", pairs = "dual", loo = "regress",
  nested = "regress", ridges = "regress", conquer = "eigen", triangle = "dense",
  ascent = "criterion", gradient = "kernel", tile = "kernel", strips = "criterion",
  stream = "source", validate = "tamper"
)

of_family <- function(stems) ifelse(stems %in% names(families), families[stems], stems)

check_stems <- function() {
  source <- stem(list.files("src", "[.]c$"))
  glue <- sub("^ffi_", "", grep("^ffi_", source, value = TRUE))
  core <- setdiff(source, c(paste0("ffi_", glue), "ffi", "init"))
  headers <- stem(list.files("src", "[.]h$"))
  programs <- sub("^test_", "", stem(list.files(file.path("tests", "core"), "^test_.*[.]c$")))
  r <- setdiff(stem(list.files("R")), c("kernelect-package", "zzz"))
  tests <- sub("^test-", "", stem(list.files(file.path("tests", "testthat"), "^test-")))
  family <- function(s) of_family(s) %in% tests | sub("-.*", "", s) %in% tests
  missing <- function(names, good, pattern) {
    if (!all(good)) sprintf(pattern, names[!good])
  }
  c(
    missing(core, core %in% headers | of_family(core) %in% headers, "src/%s.c: no header"),
    missing(core, of_family(core) %in% programs, "src/%s.c: no test program in tests/core"),
    missing(glue, glue %in% core, "src/ffi_%s.c: no core file of its stem"),
    missing(r, family(r), "R/%s.R: no test file of its stem or family")
  )
}

# ---- the site ----------------------------------------------------------------------------

check_site <- function() {
  named <- unlist(strsplit(readLines("_pkgdown.yml"), "[^A-Za-z0-9_.-]+"))
  pages <- list.files("man", "[.]Rd$", full.names = TRUE)
  hidden <- vapply(pages, function(p) any(grepl("\\keyword{internal}", readLines(p), fixed = TRUE)),
                   NA)
  wanted <- c(list.files("vignettes", "[.]Rmd$"), basename(pages[!hidden]))
  sprintf("_pkgdown.yml: %s is not named", wanted[!stem(wanted) %in% named])
}

# ---- tables of speed ---------------------------------------------------------------------

check_tables <- function() {
  bench <- new.env()
  sys.source(file.path("bench", "table.R"), bench)
  sprintf("%s: not what bench/results/ gives: run Rscript bench/table.R", bench$stale_tables())
}

found <- c(lint_files(), check_lengths(), check_stems(), check_site(), check_tables())
writeLines(found)
cat(sprintf("lint: %d findings\n", length(found)))
quit(status = length(found) > 0L)
