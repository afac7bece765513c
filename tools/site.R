# The site of the package into docs/, without the network, then what pkgdown leaves to be done on
# its pages, so that they need nothing from elsewhere: formulas as MathML, no script, style or font
# of another server (pkgdown/assets/pkgdown.js does their work), the index of the search as a
# script, which pages in a folder may load; a text in place of every picture of an example, and no
# empty picture where a logo would be.
options(pkgdown.internet = FALSE)
pkgdown::build_site(preview = FALSE, install = FALSE)

system2("tools/cheatsheet", "docs", stdout = FALSE)
unlink("docs/pull_request_template.html") # for those who open one, not for readers

# Entries point at pages from the root of the site.
index <- jsonlite::read_json("docs/search.json")
index <- Filter(function(entry) !grepl("pull_request_template", entry$path), index)
index <- lapply(index, function(entry) {
  if (!is.character(entry$id)) entry$id <- NULL
  entry$path <- sub("^.*?((articles/|reference/|news/)?[^/]*)$", "\\1", entry$path)
  entry
})
json <- jsonlite::toJSON(index, auto_unbox = TRUE)
writeLines(c("window.searchIndex =", json, ";"), "docs/search.js", useBytes = TRUE)

# "Plot a ranking: drawn by plot(fit)", from the page's title and the line above the picture.
picture_text <- function(image, title) {
  before <- xml2::xml_find_first(image, "(preceding::span[contains(@class, 'r-in')])[last()]")
  code <- gsub("[[:space:]]+", " ", trimws(xml2::xml_text(before)))
  paste0(title, if (!is.na(code) && nzchar(code)) paste0(": drawn by ", code))
}

# Formulas of a page by one call of pandoc.
as_mathml <- function(nodes) {
  text <- gsub("^\\\\[(\\[]|\\\\[])]$", "", trimws(xml2::xml_text(nodes)))
  display <- grepl("display", xml2::xml_attr(nodes, "class"))
  mark <- ifelse(display, "$$", "$")
  source <- tempfile(fileext = ".md")
  writeLines(paste0(mark, text, mark, "\n"), source)
  html <- system2("pandoc", c("-f", "markdown", "-t", "html", "--mathml", source), stdout = TRUE)
  made <- xml2::xml_find_all(xml2::read_html(paste(html, collapse = "\n")), "//math")
  stopifnot(length(made) == length(nodes))
  for (i in seq_along(nodes)) {
    xml2::xml_set_text(nodes[[i]], "")
    xml2::xml_add_child(nodes[[i]], made[[i]])
  }
}

finish_page <- function(file) {
  page <- xml2::read_html(file)
  formulas <- xml2::xml_find_all(page, "//span[contains(@class, 'math ')]")
  if (length(formulas)) as_mathml(formulas)
  empty <- xml2::xml_find_all(page, "//img[@src = '' or not(@src)]")
  dumb <- xml2::xml_find_all(page, "//span[contains(@class, 'r-plt')]/img[@alt = '' or not(@alt)]")
  away <- "starts-with(., 'http') or starts-with(., '//') or starts-with(., 'file:')"
  foreign <- xml2::xml_find_all(page, sprintf(
    "//script[@src[%s]] | //link[@rel = 'stylesheet'][@href[%s]] | //head/comment()", away, away))
  title <- trimws(xml2::xml_text(xml2::xml_find_first(page, "//h1")))
  for (image in dumb) xml2::xml_set_attr(image, "alt", picture_text(image, title))
  xml2::xml_remove(empty)
  xml2::xml_remove(foreign)
  xml2::write_html(page, file, format = FALSE)
}

for (file in list.files("docs", "[.]html$", recursive = TRUE, full.names = TRUE)) finish_page(file)
