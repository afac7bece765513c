# The data of the papers: files of the directory KERNELECT_DATA (default ../shared/data), and what
# comes with packages mlbench and kernlab. A set is a list of a matrix `x` and a factor `y`, with
# the training rows of its published splits, a row a split, where there are any.

data_file <- function(name) {
  file.path(Sys.getenv("KERNELECT_DATA", file.path("..", "shared", "data")),
    paste0(name, ".csv.gz"))
}

stored <- function(name) utils::read.csv(gzfile(data_file(name)))

from_package <- function(name, package) {
  home <- new.env()
  utils::data(list = name, package = package, envir = home)
  home[[name]]
}

labelled <- function(frame, label) {
  x <- frame[setdiff(names(frame), label)]
  list(x = vapply(x, function(v) as.numeric(as.character(v)), numeric(nrow(x))),
    y = factor(frame[[label]]))
}

with_splits <- function(name) {
  set <- labelled(stored(name), "y")
  splits <- data_file(paste0(name, ".splits"))
  if (file.exists(splits)) {
    set$splits <- unname(as.matrix(utils::read.csv(gzfile(splits), header = FALSE)))
  }
  set
}

read_set <- function(name) {
  switch(name,
    Liver = labelled(stored("liver_bupa"), "y"),
    Cleveland = {
      d <- stats::na.omit(stored("heart_cleveland"))
      d$y <- d$y > 0
      labelled(d, "y")
    },
    Ionosphere = labelled(from_package("Ionosphere", "mlbench")[-2], "Class"), # V2 is constant
    Pima = with_splits("diabetis"), # the same rows, standardised; mlbench has it no more
    BCW = labelled(stats::na.omit(from_package("BreastCancer", "mlbench")[-1]), "Class"),
    Sonar = labelled(from_package("Sonar", "mlbench"), "Class"),
    Musk = labelled(from_package("musk", "kernlab"), "Class"),
    Parkinsons = labelled(stored("parkinsons"), "y"),
    Spambase = labelled(from_package("spam", "kernlab"), "type"),
    USPS = labelled(stored("usps"), "y"),
    # The sets at hand in place of the paper's: see the page.
    Lymphoma = {
      d <- stored("lymphoma_discrete")
      d$y <- d$y == 1
      labelled(d, "y")
    },
    Yeast = {
      set <- labelled(stored("brown_yeast3"), "y")
      set$x[is.na(set$x)] <- 0
      set
    },
    with_splits(name)
  )
}

# Read once a session, when first asked for.
loaded <- new.env()
the_set <- function(name) {
  if (is.null(loaded[[name]])) loaded[[name]] <- read_set(name)
  loaded[[name]]
}

# Training and test rows of the published split i.
published_split <- function(name, i) {
  set <- the_set(name)
  rows <- set$splits[i, ]
  list(x = set$x[rows, , drop = FALSE], y = set$y[rows], new = set$x[-rows, , drop = FALSE],
    truth = set$y[-rows])
}

error_rate <- function(predicted, truth) 100 * mean(predicted != truth)
