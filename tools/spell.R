# Spelling of help pages, vignettes, README and NEWS: prints unknown words and fails on any.
# Known words beyond the dictionary are in inst/WORDLIST, one a line.
prose <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  fence <- grepl("^```", lines)
  lines <- lines[cumsum(fence) %% 2 == 0 & !fence]
  if (length(lines) && lines[1] == "---") lines <- lines[-seq_len(which(lines == "---")[2])]
  text <- paste(lines, collapse = "\n")
  gsub("(?s)\\$\\$.*?\\$\\$|\\$[^$]*\\$|`[^`]*`|<[^>]*>|\\]\\([^)]*\\)", " ", text, perl = TRUE)
}
help_page <- function(file) {
  text <- paste(tools::RdTextFilter(file, keepSpacing = FALSE), collapse = "\n")
  gsub("[A-Za-z_.]*[_.][A-Za-z_.]+|\\\\[a-z]+", " ", text) # names of functions and arguments
}
unknown <- function(text) unique(
  system2("aspell", c("list", "--lang=en_GB", "--encoding=utf-8"), input = text, stdout = TRUE))

known <- readLines(file.path("inst", "WORDLIST"))
files <- c(Sys.glob("vignettes/*.Rmd"), "README.md", "NEWS.md", Sys.glob("man/*.Rd"))
found <- lapply(files,
  function(f) setdiff(unknown(if (grepl("Rd$", f)) help_page(f) else prose(f)), known))
names(found) <- files
found <- found[lengths(found) > 0]
for (f in names(found)) cat(f, ": ", paste(found[[f]], collapse = ", "), "\n", sep = "")
cat(length(files), "files,", length(unique(unlist(found))), "unknown words\n")
quit(status = length(found) > 0)
