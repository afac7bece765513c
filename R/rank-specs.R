# The methods of kernel_rank(), one entry each; no other file asks for a method by its name.
#   fit      name of the function(x, y, control) that ranks columns that vary, see method_result()
#   numbers  whether `y` may be numbers
#   kernels  what it can use, see method_takes()
#   default  its kernel: "half" (RBF, sigma half of "mean"), "set" (the same of the columns in the
#            set at hand) or "linear"
#   value, score   words for the criterion it reaches and for the score of a column
#   criterion      what src/criterion.c calls the criterion
#   ordinal  it orders columns one by one: the score is made from the ranks, and a path has steps
#   ridge    its default `ridge`
#   updates  it has the paper's update as printed beside the corrected one
#   remedy   what to give where its normal vector vanishes
#   sparse   whether it can do with sparse rows
rank_spec <- function(fit, value, kernels = "smooth", default = "half", numbers = FALSE,
                      score = "scale factor", criterion = NULL, ordinal = FALSE, ridge = NULL,
                      updates = FALSE, remedy = "another `cost`", sparse = FALSE) {
  if (ordinal) score <- "score (columns + 1 - rank)"
  list(fit = fit, value = value, kernels = kernels, default = default, numbers = numbers,
       score = score, criterion = criterion, ordinal = ordinal, ridge = ridge, updates = updates,
       remedy = remedy, sparse = sparse)
}

rank_methods <- list(
  sas = rank_spec("rank_by_criterion", "alignment", criterion = "alignment", numbers = TRUE),
  scss = rank_spec("rank_by_criterion", "separability", criterion = "separability"),
  sfs = rank_spec("rank_by_criterion", "Frobenius product", "bounded", criterion = "product",
                  numbers = TRUE),
  kfds = rank_spec("rank_kfds", "Fisher ratio", "linear", "linear", ridge = 1e-2, updates = TRUE,
                   remedy = "a larger `ridge`"),
  fisher = rank_spec("rank_fisher", "value", "any", score = "Fisher score", sparse = TRUE),
  rfe = rank_spec("rank_rfe", "squared norm", "linear", "linear", ordinal = TRUE, sparse = TRUE),
  arom = rank_spec("rank_arom", "squared norm", "linear", "linear", sparse = TRUE),
  r2w2 = rank_spec("rank_r2w2", "radius-margin bound"),
  bahsic = rank_spec("rank_bahsic", "HSIC", "any", "set", numbers = TRUE, ordinal = TRUE),
  forward = rank_spec("rank_forward", "alignment", "core", "set", numbers = TRUE, ordinal = TRUE),
  fusion = rank_spec("rank_fusion", "columns left", "linear", "linear", numbers = TRUE),
  gmkl = rank_spec("rank_gmkl", "regularised dual", ridge = 0.1)
)

# Whether a method can use a kernel. Scale factors are learned through slopes ("smooth"); a
# criterion that grows with them without bound needs a kernel that does not ("bounded"); sets of
# columns are searched in the core ("core").
method_takes <- function(kernel, method) {
  traits <- kernel_traits(kernel)
  switch(rank_methods[[method]]$kernels,
    smooth = traits[["smooth"]] && !isFALSE(is_definite(kernel)),
    bounded = traits[["smooth"]] && traits[["distance"]],
    linear = traits[["linear"]],
    core = !in_r(kernel),
    any = TRUE
  )
}

rank_kernel <- function(kernel, method) {
  spec <- rank_methods[[method]]
  if (is.null(kernel)) {
    return(if (spec$default == "linear") linear_kernel() else scaled_sigma(rbf_kernel(), 0.5))
  }
  kernel <- as_kernel(kernel)
  if (!method_takes(kernel, method)) {
    choices <- kernel_choices()
    usable <- choices[vapply(choices, function(name) method_takes(as_kernel(name), method), NA)]
    why <- if (spec$kernels == "bounded") {
      " (its criterion grows without bound with the scale factors)"
    }
    abort("kernel", "`kernel`: method \"", method, "\" cannot use a ", kernel_name(kernel),
          " kernel", if (is_combined(kernel)) " of such parts", why, "; it works with ",
          paste(usable, collapse = ", "), ".")
  }
  kernel
}

check_sparse_method <- function(x, method) {
  if (!is_sparse(x) || rank_methods[[method]]$sparse) return(invisible())
  able <- names(Filter(function(spec) spec$sparse, rank_methods))
  abort("argument", "Method \"", method, "\" needs every column of a row, and `x` is sparse. Use ",
        "one of ", paste0("\"", able, "\"", collapse = ", "), ", or give it the columns that one ",
        "of these finds best: `predict(kernel_rank(x, y, method = \"fisher\"), x, n = 500)`.")
}

# Classes, or numbers where the method can use them.
rank_response <- function(y, method) {
  if (!is_quantity(y)) return(check_classes(y, min_rows = 2L))
  if (rank_methods[[method]]$numbers) return(check_target(y))
  able <- names(Filter(function(spec) spec$numbers, rank_methods))
  must_be("y", paste0("a factor: method \"", method, "\" needs classes"), y, remedy = paste0(
    " For classes use `factor(y)`; for numbers one of the methods ",
    paste0("\"", able, "\"", collapse = ", "), "."
  ))
}
