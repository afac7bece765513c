# The site of the package into docs/, without the network, then what pkgdown leaves to be done on
# its pages: a text in place of every picture of an example, no empty picture where a logo would be,
# and formulas as MathML, which needs no script from elsewhere.
options(pkgdown.internet = FALSE)
pkgdown::build_site(preview = FALSE, install = FALSE)

system2("tools/cheatsheet", "docs", stdout = FALSE)

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
  if (length(empty) + length(dumb) + length(formulas) == 0L) return(invisible())
  title <- trimws(xml2::xml_text(xml2::xml_find_first(page, "//h1")))
  for (image in dumb) xml2::xml_set_attr(image, "alt", picture_text(image, title))
  xml2::xml_remove(empty)
  xml2::write_html(page, file, format = FALSE)
}

for (file in list.files("docs", "[.]html$", recursive = TRUE, full.names = TRUE)) finish_page(file)
