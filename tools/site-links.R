# What the site points at is there: every link and picture within docs/, every anchor, and a text in
# place of every picture; nothing that a page needs comes from elsewhere.
#   Rscript tools/site-links.R [docs]
root <- normalizePath(c(commandArgs(TRUE), "docs")[1L])
pages <- list.files(root, "[.]html$", recursive = TRUE)
parsed <- lapply(stats::setNames(file.path(root, pages), pages), xml2::read_html)
anchors <- lapply(parsed, function(page) {
  xml2::xml_text(xml2::xml_find_all(page, "//@id | //a/@name"))
})

of_page <- function(name) {
  page <- parsed[[name]]
  where <- "//a/@href | //img/@src | //link/@href | //script/@src"
  found <- xml2::xml_text(xml2::xml_find_all(page, where))
  found <- unique(found[!grepl("^([a-z]+:|//|data:)", found)])
  bad <- Filter(function(target) !is_there(target, name), found)
  images <- xml2::xml_find_all(page, "//img")
  alt <- xml2::xml_attr(images, "alt")
  dumb <- xml2::xml_attr(images, "src")[is.na(alt) | !nzchar(trimws(alt))]
  needed <- "//img/@src | //script/@src | //link[@rel = 'stylesheet']/@href"
  outside <- xml2::xml_text(xml2::xml_find_all(page, needed))
  outside <- outside[grepl("^([a-z]+:)?//", outside)]
  c(sprintf("%s: broken link %s", name, bad),
    sprintf("%s: no alternative text for %s", name, substr(dumb, 1L, 60L)),
    sprintf("%s: from elsewhere: %s", name, outside))
}

is_there <- function(target, from) {
  parts <- strsplit(utils::URLdecode(target), "#", fixed = TRUE)[[1L]]
  path <- sub("[?].*", "", c(parts, "")[1L])
  file <- if (path == "") from else file.path(dirname(from), path)
  full <- normalizePath(file.path(root, file), mustWork = FALSE)
  if (dir.exists(full)) full <- file.path(full, "index.html")
  if (!file.exists(full)) return(FALSE)
  whole <- length(parts) < 2L || parts[2L] %in% c("", "main", "top")
  if (whole || !grepl("[.]html$", full)) return(TRUE)
  parts[2L] %in% anchors[[substring(full, nchar(root) + 2L)]]
}

findings <- unlist(lapply(pages, of_page))
writeLines(findings)
cat("site: ", length(pages), " pages, ", length(findings), " findings\n", sep = "")
if (length(findings)) quit(status = 1L)
