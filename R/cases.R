# Case weights in a basis: the picks and the stop of repeated rows, without repeating them. The
# engine knows how often each row counts (`times` of its rule): in sums over rows, such as the mean
# fitness that makes the first pick of "fvs", in draws, in the centre, and in the n of "kobl".

# Whether what a model says of its rows is weighted; without `keep` the call alone tells.
is_weighted <- function(x) {
  !is.null(if (is.null(x$fitted.values)) x$call$weights else x$weights)
}

# Rows of weight zero are no rows, and told of among those left out. Those of a Gram matrix take
# their columns along.
weighted_rows <- function(data, na_action, gram = FALSE) {
  used <- data$weights > 0
  if (is.null(data$weights) || all(used)) return(data)
  rows <- if (is.null(data$kept)) seq_along(used) else data$kept
  names(rows) <- if (is.null(rownames(data$x))) rows else rownames(data$x)
  gone <- sort(c(unclass(data$na.action), rows[!used]))
  excluded <- check_choice(na_action, "na_action", na_actions) == "exclude"
  data$na.action <- structure(gone, class = if (excluded) "exclude" else "omit")
  data$x <- if (gram) data$x[used, used, drop = FALSE] else data$x[used, , drop = FALSE]
  data$n <- sum(used)
  data$y <- take_rows(data$y, used)
  data$weights <- data$weights[used]
  data
}
