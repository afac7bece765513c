# Mutation testing: Rscript tools/mutate.R [mutants] [seed] [R|C|RC] [workers]
# [again|whole|constants]
# Samples small changes of the sources (a comparison turned, a constant moved, a sign, a condition
# negated, a statement dropped), builds each mutant in a copy under out/mutants and runs the tests
# that know the file, until one fails: those of the core without R, testthat, and for survivors
# those of the core again under sanitizers. A mutant is killed when a test fails or the time allowed
# is
# spent, else it survived. Not counted, and replaced by the next of the sample: what does not build,
# and what is the same program (equal parse tree, equal object code).
# Every end is appended to out/mutants/log.tsv at once: a run that was interrupted goes on where it
# was, as long as the mutated file is the same. With "again" the survivors meet the tests anew
# (write
# one, and see), with "whole" they meet every test there is; with "constants" only thresholds are
# moved.
args <- commandArgs(TRUE)
argument <- function(i, default) if (length(args) >= i) args[i] else default
wanted <- as.integer(argument(1L, "300"))
seed <- as.integer(argument(2L, "1"))
kinds <- argument(3L, "RC")
workers <- as.integer(argument(4L, "1"))
mode <- argument(5L, "")
again <- mode %in% c("again", "whole")
constants_only <- mode == "constants"
home <- file.path(getwd(), "out", "mutants")
log_file <- file.path(home, "log.tsv")
r_binary <- function(name) file.path(R.home("bin"), name)

# ---- what is changed -------------------------------------------------------------------

# Perl patterns on code without strings and comments, and what replaces the match.
swaps <- c(
  "(?<![<>=!])<=" = "<", "(?<![<>=!])>=" = ">", " < " = " <= ", " > " = " >= ", "==" = "!=",
  "!=" = "==",
  "\\+=" = "-=", "-=" = "+=", "\\*=" = "/=", " \\+ " = " - ", " - " = " + ", " \\* " = " / ",
  " / " = " * ",
  "&&" = "||", "\\|\\|" = "&&", " & " = " | ", " \\| " = " & ", "(?<=[+-] )1\\b(?![.eL])" = "2",
  "\\b1L\\b" = "2L", "\\b0L\\b" = "1L", "\\b0\\.0\\b" = "1.0", "\\b1\\.0\\b" = "2.0",
  "\\bTRUE\\b" = "FALSE", "\\bFALSE\\b" = "TRUE", "\\bmin\\(" = "max(", "\\bmax\\(" = "min(",
  "\\bpmin\\(" = "pmax(", "\\bpmax\\(" = "pmin(", "\\bany\\(" = "all(", "\\ball\\(" = "any("
)

# Mutants known to compute the same for every input: a pattern of the file, a part of the line,
# what is replaced (by anything, or "from to to"), and the reason.
equivalent <- list(
  c("src/dual.c", "m.total += fabs(s->b[i]);", "+=", "only its square is used"),
  c("src/basis.c", "double best = 0.0;", "0.0", "a fitness is at least 1: a row spans itself"),
  c("src/ffi", "  ffi_large_pages(", "*", "a hint about pages changes no value"),
  c("src/ffi", "  ffi_large_pages(", "whole line", "a hint about pages changes no value"),
  c("src/nearest.c", "SELECT(*distance < *low, *distance, *low)", "<",
    "of equal values either is the least"),
  c("src/ascent.c", "m->trial[i] = m->v[i] > m->hold", "1.0", "a mark: only zero or not is asked"),
  c("R/parallel.R", "return(function(close = FALSE) invisible())", "FALSE",
    "the argument is not used"),
  # thresholds that decide how much time is spent, not where it ends: see the comments beside them
  c("R/calibrate.R", "1e-4 * size * decrease", "1e-4", "one minimum, whatever the way"),
  c("R/calibrate.R", "1e-4 * size * decrease", "1e-8", "one minimum, whatever the way"),
  c("R/fusion-learn.R", "1e-4 * size * fall", "1e-4", "one minimum, whatever the way"),
  c("R/fusion-learn.R", "while (size > 1e-6", "1e-6", "one minimum, whatever the way"),
  c("R/fusion-factors.R", "sum(b[rows]), b[rows], tol = 1e-9", "1e-9", "judged on all rows"),
  c("R/fusion-factors.R", "stats::optimize(gap", "1e-9", "digits of a level that is convex"),
  c("R/lda.R", "used <- decomposed$d > 1e-10", "1e-10", "residuals of the constant are zero"),
  c("R/source-fit.R", "1e-20 * length", "1e-20", "the core judges itself"),
  c("R/rank-linear.R", "rank_vanished <- 1e-12", "1e-12", "what falls goes on falling"),
  c("src/ascent.c", "#define CURVED", "1e-10", "the way, not its end"),
  c("src/ascent.c", "#define KINKS", "1e-4", "the way, not its end"),
  c("R/fusion-factors.R", "if (abs(missing) <= 1e-13", "1e-13 to 1e-16",
    "a second pass over a sum that is zero"),
  c("src/regress.c", "#define EXACT", "1e-13 to 1e-16", "a pass more that changes nothing")
)
is_equivalent <- function(found, file) {
  same <- function(known) {
    whole <- known[3L] == "whole line" & trimws(found$from) == trimws(found$text)
    grepl(known[1L], file) & grepl(known[2L], found$text,
      fixed = TRUE) & (whole | trimws(found$from) == known[3L] |
                         paste(found$from, "to", found$to) == known[3L])
  }
  Reduce(`|`, lapply(equivalent, same)) | is_extreme(found)
}

# In `a < b ? a : b` and its like it does not matter which of equal values is taken.
is_extreme <- function(found) {
  left <- substr(found$text, 1L, found$first - 1L)
  right <- substring(found$text, found$last + 1L)
  parts <- regmatches(right, regexec("^([^?]+) [?] ([^?:]+) : \\1[;),]", right, perl = TRUE))
  first <- vapply(parts, function(p) if (length(p)) p[3L] else NA_character_, "")
  trimws(found$from) %in% c("<", ">") & !is.na(first) & endsWith(left, first) &
    !grepl("[[:alnum:]_>.-]$", substr(left, 1L, nchar(left) - nchar(first)))
}

blank <- function(line, from, to) {
  substr(line, from, to) <- strrep(" ", to - from + 1L)
  line
}

# The lines of a file with its strings and comments blanked out, columns unmoved.
bare_r <- function(file, lines) {
  tokens <- utils::getParseData(parse(file, keep.source = TRUE))
  tokens <- tokens[tokens$token %in% c("STR_CONST", "COMMENT"), ]
  for (i in seq_len(nrow(tokens))) {
    for (l in tokens$line1[i]:tokens$line2[i]) {
      first <- if (l == tokens$line1[i]) tokens$col1[i] else 1L
      last <- if (l == tokens$line2[i]) tokens$col2[i] else nchar(lines[l])
      lines[l] <- blank(lines[l], first, last)
    }
  }
  lines
}

# Definitions are what thresholds are often given by: these are left where only they are moved.
bare_c <- function(file, lines) {
  text <- paste0(paste(lines, collapse = "\n"), "\n")
  pattern <- "/\\*(?s:.*?)\\*/|//[^\n]*|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)+'" # nolint: line_length_linter.
  directives <- "|(?m:^#(?:[^\n\\\\]|\\\\\n)*$)"
  hits <- gregexpr(paste0(pattern, if (!constants_only) directives), text, perl = TRUE)
  regmatches(text, hits) <- list(gsub("[^\n]", " ", regmatches(text, hits)[[1L]]))
  strsplit(text, "\n", fixed = TRUE)[[1L]]
}

# The closing bracket of the one at `start`, or NA when it is on another line.
closing <- function(line, start) {
  chars <- strsplit(substring(line, start), "")[[1L]]
  depth <- cumsum((chars == "(") - (chars == ")"))
  start + match(0L, depth) - 1L
}

# Thresholds: a number with a negative power of ten, made a thousand times larger or smaller. A
# tolerance that no test sees on both sides is a promise nobody keeps.
constant_places <- function(code) {
  hits <- gregexpr("\\b[0-9]+(?:[.][0-9]+)?e-[0-9]+\\b", code, perl = TRUE)
  lines <- which(vapply(hits, function(h) h[1L] > 0L, NA))
  do.call(rbind, lapply(lines, function(l) {
    number <- as.double(regmatches(code[l], hits[l])[[1L]])
    first <- as.integer(hits[[l]])
    last <- first + attr(hits[[l]], "match.length") - 1L
    data.frame(line = l, first = rep(first, 2L), last = rep(last, 2L),
               to = format(c(1e3 * number, 1e-3 * number), digits = 3, scientific = TRUE))
  }))
}

# One row per place: line, columns replaced, new text.
swap_places <- function(code) {
  rows <- lapply(names(swaps), function(pattern) {
    hits <- gregexpr(pattern, code, perl = TRUE)
    lines <- which(vapply(hits, function(h) h[1L] > 0L, NA))
    do.call(rbind, lapply(lines, function(l) {
      data.frame(line = l, first = as.integer(hits[[l]]),
        last = as.integer(hits[[l]]) + attr(hits[[l]], "match.length") - 1L,
                 to = swaps[[pattern]])
    }))
  })
  do.call(rbind, rows)
}

condition_places <- function(code, text) {
  lines <- grep("\\bif \\(", code, perl = TRUE)
  first <- as.integer(regexpr("(?<=\\bif )\\(", code[lines], perl = TRUE))
  last <- as.integer(mapply(closing, code[lines], first, USE.NAMES = FALSE))
  keep <- !is.na(last)
  inner <- substr(text[lines], first, last)
  data.frame(line = lines, first = first, last = last, to = sprintf("(!%s)", inner))[keep, ]
}

# A line that is a whole statement: in C a call or an assignment, in R an assignment to a part of
# a variable or from its own value (without any other the name is unknown, and every test fails).
statement_places <- function(code, is_r) {
  lines <- which(if (is_r) vapply(code, updates, NA) else is_statement(code))
  first <- as.integer(regexpr("\\S", code[lines]))
  data.frame(line = lines, first = first, last = nchar(code[lines]),
    to = rep(if (is_r) "" else ";", length(lines)))
}

updates <- function(line) {
  if (!grepl("^\\s.* <- ", line)) return(FALSE)
  parsed <- tryCatch(parse(text = line, keep.source = FALSE), error = function(e) NULL)
  if (length(parsed) != 1L || !identical(parsed[[1L]][[1L]], as.name("<-"))) return(FALSE)
  is.call(parsed[[1L]][[2L]]) || as.character(parsed[[1L]][[2L]]) %in% all.vars(parsed[[1L]][[3L]])
}

is_statement <- function(code) {
  words <- "^\\s+(const|static|double|size_t|int|char|SEXP|return|break|continue|case|default|for|while|if|else|do)\\b" # nolint: line_length_linter.
  declared <- "^\\s+[a-z_0-9]+ \\*?[a-z_0-9]+( =|;|,|\\[)"
  grepl("^\\s+[a-z(*][^{}]*;$", code) & !grepl(words, code) & !grepl(declared, code)
}

places <- function(file) {
  is_r <- grepl("[.]R$", file)
  lines <- readLines(file)
  code <- if (is_r) bare_r(file, lines) else bare_c(file, lines)
  found <- rbind(swap_places(code), constant_places(code), condition_places(code, lines),
                 statement_places(code, is_r))
  if (constants_only) found <- constant_places(code)
  if (is.null(found)) return(NULL)
  found$text <- lines[found$line]
  found$from <- substr(found$text, found$first, found$last)
  found <- found[!(found$to == "" & !nzchar(trimws(found$from))), ]
  found <- found[!is_equivalent(found, file), ]
  if (nrow(found)) data.frame(file = file, state = unname(tools::md5sum(file)), found)
}

# A number for a string that does not depend on other places: an edit of one file leaves the
# sample of the others as it is.
draw_number <- function(s) {
  mix <- function(h, c) (bitwXor(as.integer(h), as.integer(c)) * 65599) %% 2147483647
  h <- Reduce(mix, utf8ToInt(s), seed)
  for (i in 1:4) h <- mix(h, h %/% 32768)
  h
}

mutant_key <- function(m) paste(m$file, m$state, m$line, m$first, m$to, sep = "|")

mutate_line <- function(m) paste0(substr(m$text, 1L, m$first - 1L), m$to,
  substring(m$text, m$last + 1L))

# ---- which tests know a file -----------------------------------------------------------

# In the order they are run; the first pattern that matches the file's path decides. Tests that
# see everything a little (hostile, and tamper for C) are left to "whole", except where they know
# most. A file that no pattern knows has the tests of its own stem, or all of them.
tests_for <- c(
  "^R/basis" = "properties basis plot tamper hostile",
  "/(basis|update|rules|source|ffi_basis)[.]c" = "properties basis",
  "^R/rank" = "criterion criteria rank plot properties everywhere tamper",
  "/(ffi_)?(subset|ascent|criterion)[.]" = "criterion criteria rank properties",
  "/(kernel|kernels|gram|ffi_gram)[.]" = "kernels gram criterion properties fusion",
  "^R/lm" = "lm tune plot properties everywhere tamper",
  "/regress[.]" = "lm tune properties",
  "^R/pca" = "pca plot properties everywhere tamper",
  "/(ffi_)?spectrum[.]" = "pca lda properties",
  "/lda[.]" = "lda tune plot boundary properties tamper",
  "/(model|ffi_models)[.]" = "model lm lda pca tune data labels",
  "/tune[.]" = "tune plot parallel tamper",
  "^R/takes" = "takes plot properties everywhere tamper",
  "/(takes|ffi_takes)[.]" = "takes properties",
  "^R/fusion-factors" = "fusion-factors fusion",
  "^R/fusion" = "fusion plot boundary properties everywhere tamper",
  "/(fusion|ffi_fusion)[.]" = "fusion properties",
  "/(dual|face|ffi_dual)[.]" = "dual fusion rank",
  "/(descent|ffi_descent)[.]" = "fusion-factors",
  "/validate[.]" = "tamper",
  "/simulate[.]" = "simulate",
  "/criteria[.]" = "criteria properties",
  "/boundary[.]" = "boundary plot",
  "/products[.]" = "products criteria rank",
  "/parallel[.]" = "parallel tune rank",
  "/plot[.]" = "plot boundary pca lda lm takes",
  "/(data|checks|ffi)[.]" = "data checks labels gram kernels lm rank hostile",
  "/data-" = "data labels lm hostile",
  "^R/(bodies|cluster)" = "bodies cluster source",
  "/(ffi_)?(body|bodies|propose|selection|stream|sums|pieces)[.]" = "bodies cluster source basis",
  "^R/source" = "source source-fit checks",
  "/(ffi_)?sparse[.]" = "sparse",
  "/(ffi_)?(conquer|eigen)[.]" = "eigen pca lda",
  "/(ffi_)?(loo|ridges|folds|regress|qr|bidiagonal)[.]" = "loo lm lda intervals source-fit",
  "/(calibrate|intervals|softmax|ffi_softmax)[.]" = "calibrate intervals lm lda",
  "/working[.]" = "dual fusion",
  "/(votes|nearest|ffi_votes|ffi_nearest)[.]" = "takes properties",
  "/(rows|exp|tile|strips|gradient|flip|ffi_kernel)[.]" = "gram kernels criterion flip rank",
  "/(columns|moments|ffi_columns|ffi_moments)[.]" = "data gram source lm",
  "/kernels" = "kernels kernel-algebra gram fusion",
  "^R/text" = "text vetiver python",
  "^R/tune" = "tune plot parallel tamper",
  "/(ffi_)?(threads|env)[.]" = "threads gram",
  "/expansion[.]" = "expansion model lm takes fusion",
  "/dual[.]" = "dual fusion rank"
)

tests_of <- function(file) {
  all <- basename(Sys.glob("tests/testthat/test-*.R"))
  known <- tests_for[vapply(names(tests_for), grepl, NA, x = file)][1L]
  stem <- sub("^ffi_", "", sub("[.][Rc]$", "", basename(file)))
  own <- paste0("test-", c(stem, sub("-.*", "", stem)), ".R") # a topic has one stem
  if (is.na(known) && any(own %in% all)) {
    known <- paste(unique(sub("^test-(.*)[.]R$", "\\1", intersect(own, all))), collapse = " ")
  }
  stems <- c(if (grepl("/ffi", file)) "glue", if (!is.na(known)) strsplit(known, " ")[[1L]])
  first <- if (length(stems)) paste0("test-", stems, ".R")
  if (mode == "whole" || is.na(known)) c(first, setdiff(all, first)) else first
}

# ---- building and testing a copy -------------------------------------------------------

quietly <- function(command, args, ...) system2(command, args, stdout = FALSE, stderr = FALSE, ...)

in_folder <- function(folder, code) {
  old <- setwd(folder)
  on.exit(setwd(old))
  code
}

core_sources <- function() Sys.glob("src/*.c")[!grepl("/(ffi.*|init)[.]c$", Sys.glob("src/*.c"))]
core_object <- function(source, folder = "core") file.path(folder,
  sub("[.]c$", ".o", basename(source)))
compiler <- function(...) quietly(Sys.getenv("CC", "gcc"), c("-O2 -pthread", ...)) == 0L
sanitizers <- "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"

compile_core <- function(source, object = core_object(source), flags = NULL) {
  headers <- sub("-I", "-isystem",
    system2(r_binary("R"), c("CMD", "config", "--cppflags"), stdout = TRUE))
  compiler("-std=c99 -Isrc -Itests/core -Itests/fuzz", headers, flags, "-c", source, "-o", object)
}

last_words <- "" # of a test that failed
core_tests <- function(objects = core_object(core_sources()), folder = "core", flags = NULL,
  seconds = 20) {
  for (test in Sys.glob("tests/core/test_*.c")) {
    linked <- compiler(flags, core_object(test, folder), objects,
      "-o core/program -llapack -lblas -lm")
    # a broken heap can leave threads waiting for each other: no processor time is spent then
    run <- sprintf("ulimit -t %d; ASAN_OPTIONS=detect_leaks=0 timeout -s KILL %d core/program 2>/dev/null", seconds, 3L * seconds) # nolint: line_length_linter.
    said <- if (linked) suppressWarnings(system(run, intern = TRUE))
    if (!any(grepl("^mu: [0-9]+ 0$", said))) {
      last_words <<- paste(
        c(basename(test), if (linked) utils::tail(said, 3L) else "is not linked"), collapse = ": ")
      return(FALSE)
    }
  }
  TRUE
}

# The same under AddressSanitizer and UBSan, as in SAN=1 tests/core/run; the objects of all but the
# mutated file are shared.
build_sanitized <- function(folder) {
  dir.create(folder, showWarnings = FALSE)
  for (source in c(core_sources(), Sys.glob("tests/core/test_*.c"))) {
    if (!compile_core(source, core_object(source, folder), sanitizers)) {
      stop("the core does not build with sanitizers", call. = FALSE)
    }
  }
}

sanitized_tests <- function(source, folder) {
  objects <- core_object(core_sources(), folder)
  if (!is.null(source)) {
    if (!compile_core(source, "core/sanitized.o", sanitizers)) return(FALSE)
    objects <- c(setdiff(objects, core_object(source, folder)), "core/sanitized.o")
  }
  core_tests(objects, folder, sanitizers, 60)
}

install <- function(work) {
  quietly(r_binary("R"),
    c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
      paste0("--library=", file.path(work, "lib")), work)) == 0L
}

# Objects are kept beside their sources: make builds again only what changed.
build_library <- function(work) {
  in_folder(file.path(work, "src"),
    quietly(r_binary("R"),
      c("CMD", "SHLIB", "-o", "kernelect.so", basename(Sys.glob("*.c"))))) == 0L &&
    file.copy(file.path(work, "src", "kernelect.so"), file.path(work, "lib", "kernelect", "libs"),
      overwrite = TRUE)
}

# Exit status of the tests, one file after the other up to the first failure (1); 137 or 152 when
# the processor time allowed was spent.
run_tests <- function(work, files, seconds) {
  script <- file.path(work, "tests.R")
  writeLines(c(
    sprintf(".libPaths(c('%s', .libPaths()))", file.path(work, "lib")),
    sprintf("files <- file.path('%s', c(%s))", file.path(work, "tests", "testthat"),
      paste0("'", files, "'", collapse = ", ")),
    sprintf("times <- '%s'", file.path(work, "cpu.rds")),
    test_script
  ), script)
  limited <- sprintf("ulimit -t %d; exec timeout 3600 '%s' --no-init-file '%s'",
    as.integer(ceiling(seconds)), r_binary("Rscript"), script)
  quietly("bash", c("-c", shQuote(limited)))
}

test_script <- "
Sys.setenv(NOT_CRAN = 'true', R_TESTS = '')
first_failure_ends <- R6::R6Class(inherit = testthat::Reporter, public = list(
  add_result = function(context, test, result) {
    if (inherits(result, c('expectation_failure', 'expectation_error'))) quit('no', 1L)
  }
))
cpu <- numeric()
for (file in files) {
  start <- sum(proc.time()[-3L])
  testthat::test_file(file, package = 'kernelect', load_package = 'installed',
    reporter = first_failure_ends$new(), stop_on_failure = TRUE)
  cpu[basename(file)] <- sum(proc.time()[-3L]) - start
}
saveRDS(cpu, times)
"

prepare <- function(work) {
  unlink(work, recursive = TRUE)
  dir.create(file.path(work, "lib"), recursive = TRUE)
  keep <- c("DESCRIPTION", "NAMESPACE", "LICENSE", "R", "src", "man", "inst", "demo", "tests")
  invisible(file.copy(keep[file.exists(keep)], work, recursive = TRUE))
  unlink(Sys.glob(file.path(work, "src", "*.[os]*")))
  dir.create(file.path(work, "core"))
  if (!install(work) || !build_library(work)) stop("the package does not build", call. = FALSE)
  built <- in_folder(work,
    all(vapply(c(core_sources(), Sys.glob("tests/core/test_*.c")), compile_core, NA)) &&
      core_tests())
  if (!built) stop("the core's tests fail without any mutation: ", last_words, call. = FALSE)
}

# ---- one mutant ------------------------------------------------------------------------

code_bytes <- function(work, source) {
  headers <- system2(r_binary("R"), c("CMD", "config", "--cppflags"), stdout = TRUE)
  object <- tempfile(fileext = ".o")
  on.exit(unlink(object))
  status <- quietly(Sys.getenv("CC", "gcc"),
    c("-O2 -g0 -pthread", headers, "-c", file.path(work, source), "-o", object))
  if (status == 0L) readBin(object, "raw", file.size(object))
}

known <- new.env()
pristine <- function(file) {
  if (is.null(known[[file]])) known[[file]] <- code_bytes(getwd(), file)
  known[[file]]
}

try_r <- function(m, work, seconds) {
  target <- file.path(work, m$file)
  was <- parse(m$file, keep.source = FALSE)
  now <- tryCatch(parse(target, keep.source = FALSE), error = function(e) NULL)
  if (is.null(now)) return("no program")
  if (identical(was, now)) return("same program")
  if (!install(work)) return("killed at load")
  judge(run_tests(work, tests_of(m$file), seconds))
}

try_c <- function(m, work, seconds) {
  was <- pristine(m$file)
  now <- code_bytes(work, m$file)
  if (is.null(now)) return("no program")
  if (identical(was, now)) return("same program")
  core <- m$file %in% core_sources()
  if (core && !in_folder(work, compile_core(m$file) && core_tests())) {
    return("killed by the core's tests")
  }
  if (!build_library(work)) return("no program")
  end <- judge(run_tests(work, tests_of(m$file), seconds))
  sound <- end != "SURVIVED" || !core ||
    in_folder(work, sanitized_tests(m$file, file.path(home, "sanitized")))
  if (sound) end else "killed by a sanitizer"
}

judge <- function(status) if (status == 0L) "SURVIVED" else if (
  status %in% c(124L, 137L, 152L)) "killed by the clock" else "killed"

# Everything as it was: the source, and in C its objects (newer than the source).
put_back <- function(m, work) {
  file.copy(m$file, file.path(work, m$file), overwrite = TRUE)
  if (grepl("[.]R$", m$file)) return(invisible())
  Sys.setFileTime(file.path(work, m$file), Sys.time() + 1)
  if (m$file %in% core_sources()) in_folder(work, compile_core(m$file))
}

try_mutant <- function(m, work, cpu) {
  on.exit(put_back(m, work))
  lines <- readLines(m$file)
  lines[m$line] <- mutate_line(m)
  writeLines(lines, file.path(work, m$file))
  seconds <- 10 + 3 * sum(cpu[tests_of(m$file)])
  if (grepl("[.]R$", m$file)) try_r(m, work, seconds) else try_c(m, work, seconds)
}

# ---- the run ---------------------------------------------------------------------------

read_log <- function() {
  if (!file.exists(log_file)) return(data.frame(key = character(), end = character()))
  log <- utils::read.delim(log_file, header = FALSE, quote = "",
    col.names = c("end", "file", "line", "from", "to", "key"), colClasses = "character")
  log[!duplicated(log$key, fromLast = TRUE), ]
}

write_end <- function(m, end) {
  row <- paste(end, m$file, m$line, trimws(m$from), trimws(m$to), mutant_key(m), sep = "\t")
  cat(row, "\n", sep = "", file = log_file, append = TRUE)
  cat(sprintf("%s  %s:%d  '%s' to '%s'\n", end, m$file, m$line, trimws(m$from), trimws(m$to)))
}

# Processor seconds of every test file without any mutation, all of which must pass; known from
# the last run if nothing has changed since.
time_tests <- function(work) {
  kept <- file.path(home, "cpu.rds")
  state <- tools::md5sum(
    list.files(c("R", "src", "tests"), "[.](R|c|h|md)$", recursive = TRUE, full.names = TRUE))
  if (file.exists(kept) && identical(readRDS(kept)$state, state)) return(readRDS(kept)$cpu)
  if (run_tests(work, basename(Sys.glob("tests/testthat/test-*.R")), 3600) != 0L) {
    stop("the tests fail without any mutation", call. = FALSE)
  }
  cpu <- readRDS(file.path(work, "cpu.rds"))
  saveRDS(list(state = state, cpu = cpu), kept)
  cpu
}

run_mutants <- function(chosen, cpu) {
  share <- split(seq_len(nrow(chosen)), rep_len(seq_len(workers), nrow(chosen)))
  run_share <- function(w) {
    for (i in share[[w]]) {
      write_end(chosen[i, ], try_mutant(chosen[i, ], file.path(home, paste0("work", w)), cpu))
    }
  }
  done <- if (workers == 1L) lapply(seq_along(share),
    run_share) else parallel::mclapply(seq_along(share), run_share, mc.cores = workers)
  bad <- Filter(function(d) inherits(d, "try-error"), done)
  if (length(bad)) stop(bad[[1L]], call. = FALSE)
}

files <- c(if (grepl("R", kinds)) Sys.glob("R/*.R"),
  if (grepl("C", kinds)) setdiff(Sys.glob("src/*.c"), "src/init.c"))
all_places <- do.call(rbind, lapply(files, places))
label <- paste(all_places$first, all_places$to, all_places$text, all_places$file)
copy <- stats::ave(seq_along(label), label, FUN = seq_along) # of equal lines in a file
all_places <- all_places[order(vapply(paste(copy, label), draw_number, 0)), ]
all_places$key <- mutant_key(all_places)

# The sample so far: the first `wanted` in order that count.
tally <- function() {
  log <- read_log()
  all_places$end <- log$end[match(all_places$key, log$key)]
  skipped <- all_places$end %in% c("no program", "same program")
  sample <- all_places[!skipped, ]
  sample[seq_len(min(wanted, nrow(sample))), ]
}

if (anyNA(tally()$end) || (again && "SURVIVED" %in% tally()$end)) {
  dir.create(home, recursive = TRUE, showWarnings = FALSE)
  for (w in seq_len(workers)) prepare(file.path(home, paste0("work", w)))
  build_sanitized(file.path(home, "sanitized"))
  if (!in_folder(file.path(home, "work1"), sanitized_tests(NULL, file.path(home, "sanitized")))) {
    stop("the core's tests fail under sanitizers without any mutation: ", last_words, call. = FALSE)
  }
  cpu <- time_tests(file.path(home, "work1"))
  if (again) run_mutants(subset(tally(), end == "SURVIVED"), cpu)
  while (anyNA(tally()$end)) run_mutants(subset(tally(), is.na(end)), cpu)
}

sample <- tally()
killed <- grepl("^killed", sample$end)
for (kind in c("R", "src")) {
  part <- grepl(paste0("^", kind, "/"), sample$file)
  if (any(part)) cat(
    sprintf("mutate %s: %d mutants, %d killed (%.1f %%)\n", if (kind == "R") "R" else "C",
      sum(part), sum(killed[part]), 100 * mean(killed[part])))
}
cat(sprintf("mutate: %d mutants, %d killed (%.1f %%), %d survived\n", nrow(sample), sum(killed),
  100 * mean(killed), sum(!killed)))
quit(status = as.integer(mean(killed) < 0.85))
