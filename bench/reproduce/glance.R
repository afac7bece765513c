write_tables <- function(experiments) invisible()
