# A model may come from a file, or from a script that changed it. Its seal, a number per field,
# shows any edit, so that a changed model is refused rather than answering something else.
# `fitted.values` and `residuals`, which nothing is computed from, may be dropped freely.

seal <- function(model) {
  sealed <- setdiff(names(model), c("seal", "fitted.values", "residuals"))
  model$seal <- c(fingerprint(model, sealed), fingerprint(list(class = class(model)), "class"))
  model
}

check_seal <- function(model, arg = "object") {
  given <- if (is.list(model)) unclass(model)[["seal"]]
  fields <- names(given)
  good <- is.double(given) && length(given) > 1L && !is.null(fields) &&
    all(abs(fingerprint(c(unclass(model), list(class = class(model))), fields) - given) <= 1e-9)
  if (!isTRUE(good)) fail_damaged(arg)
  model
}

fingerprint <- function(values, fields) {
  stats::setNames(.Call(ffi_fingerprint, lapply(fields, function(f) unclass(values)[[f]])), fields)
}

fail_damaged <- function(arg) {
  abort("model", "`", arg, "` is damaged: it was changed after it was fitted. Fit the model again.")
}
