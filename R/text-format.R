#' The format of models as text
#'
#' What [write_model()] writes, field by field, and how predictions follow from it. Use it to read
#' models in another language; `kernelect_model.py` in `system.file("python", package =
#' "kernelect")` does so in Python with its standard library alone, and R's tests compare the two.
#'
#' @section The file:
#' JSON, one object:
#'
#' | key | holds |
#' |---|---|
#' | `format` | `"kernelect-model"` |
#' | `format_version` | 1; raised when an old reader would misread a file |
#' | `package` | the version of kernelect that wrote it |
#' | `model` | a value |
#'
#' A value is `null` (R's NULL) or an object with exactly one of these keys, and `attributes` (an
#' object of values) where it has any:
#'
#' | key | holds |
#' |---|---|
#' | `logical` | an array of `true`, `false`, `null` (NA) |
#' | `integer` | an array of whole numbers, `null` for NA |
#' | `double` | an array: whole numbers below 2^53 as numbers, all others as strings, hexadecimal (`"0x1.8p+1"`) or `"NA"`, `"NaN"`, `"Inf"`, `"-Inf"` |
#' | `character` | an array of strings, `null` for NA |
#' | `fields` | an object of values: a list whose elements have names |
#' | `list` | an array of values: any other list |
#' | `symbol` | a name in a formula, a string |
#' | `call` | an array of values: a function (a `symbol`, or the call of `::`) and its arguments, whose names, if any, are the array `names` beside it |
#'
#' Single numbers and strings are arrays of one. Attributes that matter to a reader: `class`, `dim`
#' (of a matrix, whose elements come column by column), `names` (of a vector), `levels` (of a
#' factor, whose integers count them from 1), and of a formula `predvars` and `response`. Fields
#' that a reader does not know can be passed over, and those of the training rows (`fitted.values`,
#' `residuals`, `leverage`, ...) may be absent. The first class of `model` says which model it is.
#'
#' @section From a row to numbers:
#' `input`, the blueprint, is a field of a basis, of `kernel_fusion` and of `kernel_rank`:
#'
#' | field | holds |
#' |---|---|
#' | `columns` | names of the numeric columns, `null` where there were none |
#' | `width` | how many they are |
#' | `variables` | names of the variables they come from, in order |
#' | `levels` | by variable: the levels of a factor, each a column (1 where the row has it, else 0), or `null` |
#' | `matrices` | by variable that is a matrix: names of its columns, or their number |
#' | `logical` | names of the variables that were logical |
#' | `times` | by variable: `"Date"` (days since 1970), `"POSIXct"` (seconds since 1970), or `"difftime"` and its unit |
#' | `terms` | the formula, where there was one: its attribute `predvars` is the call `list(...)` of the variables, the response first if the attribute `response` is 1 |
#' | `needed` | the columns of new data that the formula uses |
#' | `scope` | values that the formula uses beside them |
#'
#' `scaling` is `null`, or `center` and `scale`: number j becomes (x_j - center_j) / scale_j. Where
#' a number is missing the prediction is missing. `vectors` and all kernels are of scaled numbers.
#' Rows of class `"kernelect_sparse"` hold their entries alone: those of row i (from 0) are numbers
#' `start[i]` to `start[i + 1]` - 1 of `column` (from 0) and `value`; `size` is rows and columns.
#'
#' @section Kernels:
#' A kernel has `type`, its parameters and `weights` (`null`, or factors w by column: k(w o x, w o
#' z)):
#'
#' | `type` | k(x, z) |
#' |---|---|
#' | `rbf` | exp(-`gamma` d^2), d the distance |
#' | `laplace` | exp(-d / `sigma`) |
#' | `linear` | <x, z> |
#' | `polynomial` | (`scale` <x, z> + `offset`)^`degree` |
#' | `sigmoid` | tanh(`scale` <x, z> + `offset`) |
#' | `spline` | the product over columns of 1 + x z + x z m - (x + z) m^2 / 2 + m^3 / 3, m = min(x, z) |
#' | `sum`, `product` | `scale` times the sum, or product, of the kernels in the list `parts`; `weights` multiply theirs |
#'
#' @section Models:
#' A **basis** (`kernel_basis`, and the field `basis` of others) of L rows:
#'
#' | field | holds |
#' |---|---|
#' | `vectors` | the L rows v_j, scaled; `null` for a Gram matrix, of which new rows are kernel values against training rows |
#' | `index`, `row_names` | which training rows they are |
#' | `kernel`, `input`, `scaling` | as above |
#' | `cholesky` | L x L, lower triangular |
#' | `center_index`, `center_vectors`, `center_names` | rows whose mean is the centre, or `null` |
#' | `shift` | L + 1 numbers: means of the kernel of each v_j, and of the centre itself, with the centre's rows |
#' | `na.action` | training rows left out, for Gram matrices |
#'
#' The value of v_j is k_j = k(x, v_j); where there is a centre, k(x, v_j) - m - (shift_j -
#' shift_(L+1)), m the mean of k(x, c) over its rows c. Type `"kernel"` is k; `"orthonormal"` the
#' solution z of `cholesky` z = k; `"residual"` k(x, x) - |z|^2, with shift_(L+1) - 2 m added to
#' k(x, x) where there is a centre.
#'
#' **kernel_pca**: scores are k' `loadings` - `offset`.
#'
#' **kernel_lm**: values are k' `dual` + b, with `dual` in `expansion` and b the first row of
#' `coefficients` (a vector where there is one response). `levels`, if not `null`: the class is
#' that of the largest value, and probabilities are softmax(`slope` value + `offset`), both in
#' `calibration`.
#'
#' **kernel_lda**: scores are s = k' `dual` - `center`' `scaling`. With `within` = U diag(l) U', W
#' = U diag(max(l, 1e-10))^(-1/2) and m_c row c of (`means` - `center`) `scaling`, decisions are
#' log(`prior`_c) - |s W - m_c W|^2 / 2; the class has the largest. Probabilities: the same
#' decisions with the shares `counts` / sum(`counts`) in place of `prior`, softmax(`slope` d +
#' `offset`) from `calibration`, times `prior` / shares, divided by their sum.
#'
#' **kernel_takes**: coordinates z of the basis; with `rotation` (z - its `center`)' its `vectors`.
#' Scores are those numbered `directions`, times their `weights`. The class is that of the first
#' row of `scores` (training rows, classes `y`) whose distance is at most the least distance + t,
#' t^2 the sum over `directions` of (`rounding` `weights`)^2. Decisions are minus the distance to
#' the nearest row of each class, probabilities softmax(`slope` decision + `offset`).
#'
#' **kernel_fusion**: with `kernels` `null`, decisions are x' `coefficients` + `intercept`. Else
#' they are the sum over kernels of positive weight of `weights`_i times k_i' `expansion`, +
#' `intercept`, where k_i are values of the kernel `kernel` on the columns `columns` (numbers or
#' names) against the rows `vectors`; one without `kernel` is noise and left out; of Gram matrices
#' values are those against the training rows `support`. Fused on bases, `expansion` is a list of
#' one matrix a kernel. One decision of two classes: positive
#' means the second, and the first has 0 in the softmax of `calibration`.
#'
#' **kernel_rank**: the first `n` of the columns in `ranking`. **kernel_tune**: the field `model`
#' is the model chosen.
#'
#' All other fields are described on the help pages of the models and not needed to predict.
#' @family exports
#' @name model_format
#' @examples
#' # one row by hand: a regression with a linear kernel on one row
#' fit <- kernel_lm(dist ~ speed, cars, kernel = "linear", size = 1)
#' file <- tempfile(fileext = ".json")
#' write_model(fit, file)
#' writeLines(substr(head(readLines(file), 4), 1, 70))
NULL
