# A model may come from a file, or from a script that changed it. Its seal, an attribute with a
# number per field, shows any edit, so that a changed model is refused rather than answering
# something else. Fields that no prediction needs may be dropped, and others added.

seal <- function(model) {
  attr(model, "seal") <- c(fingerprint(model, names(model)), fingerprint(list(class = class(model)), "class"))
  model
}

check_seal <- function(model, arg = "object") {
  given <- if (is.list(model)) attr(model, "seal", exact = TRUE)
  fields <- setdiff(names(given), setdiff(c("fitted.values", "residuals"), names(model)))
  good <- is.double(given) && length(fields) > 1L &&
    all(abs(fingerprint(c(unclass(model), list(class = class(model))), fields) - given[fields]) <= 1e-9 + 1e-12 * abs(given[fields]))
  if (!isTRUE(good)) fail_damaged(arg)
  model
}

fingerprint <- function(values, fields) {
  stats::setNames(.Call(ffi_fingerprint, lapply(fields, function(f) unclass(values)[[f]])), fields)
}

fail_damaged <- function(arg) {
  abort("model", "`", arg, "` is damaged: it was changed after it was fitted. Fit the model again.")
}
