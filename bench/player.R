# A contestant in R: see harness.R.
stem <- commandArgs(trailingOnly = TRUE)
part <- function(name) parse(paste0(stem, ".", name), keep.source = FALSE)
job <- part("job")
value <- part("value")

read_matrix <- function(file) {
  con <- file(file, "rb")
  on.exit(close(con))
  size <- readBin(con, "integer", 2)
  matrix(readBin(con, "double", prod(size)), size[1])
}

resident <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) * 1024
}

# Make the peak start again from what is resident now (Linux; harmless where refused).
reset_peak <- function() {
  invisible(gc())
  try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
  resident("VmRSS")
}

processor <- function() sum(proc.time()[c("user.self", "sys.self")])

answer <- function(...) {
  cat(..., "\n", sep = "")
  flush(stdout())
}

play <- function() {
  for (file in Sys.glob(file.path(dirname(stem), "*.bin"))) {
    assign(sub("[.]bin$", "", basename(file)), read_matrix(file), globalenv())
  }
  eval(part("setup"), globalenv())
}

state <- tryCatch(
  {
    suppressMessages(play())
    "ready"
  },
  packageNotFoundError = function(e) "not installed",
  error = function(e) gsub("\n", " ", conditionMessage(e))
)
answer(state)
questions <- file("stdin", "r")
while (state == "ready" && length(readLines(questions, 1))) {
  before <- reset_peak()
  spent <- processor()
  begin <- Sys.time()
  result <- eval(job, globalenv())
  seconds <- as.numeric(Sys.time() - begin, units = "secs")
  spent <- processor() - spent
  peak <- resident("VmHWM")
  number <- eval(value, globalenv())
  # Tidy up before answering: the next contestant is to have the machine to itself.
  result <- NULL
  invisible(gc())
  answer(paste(seconds, peak - before, format(number, digits = 15), spent))
}
