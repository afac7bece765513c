/* The contract of the core: plain C99 and a little LAPACK, no R objects.
 *
 * The core never allocates: the caller lends every array, its size noted beside it.
 * Matrices are column-major. Products of dimensions are size_t. Inputs are trusted
 * (the R side checks them); what can go wrong numerically comes back as a ke_status.
 */
#ifndef KERNELECT_H
#define KERNELECT_H

#include "ascent.h"
#include "basis.h"
#include "bidiagonal.h"
#include "bodies.h"
#include "body.h"
#include "columns.h"
#include "conquer.h"
#include "criterion.h"
#include "dense.h"
#include "descent.h"
#include "dual.h"
#include "eigen.h"
#include "env.h"
#include "exp.h"
#include "expansion.h"
#include "flip.h"
#include "folds.h"
#include "fusion.h"
#include "gradient.h"
#include "gram.h"
#include "kernel.h"
#include "loo.h"
#include "moments.h"
#include "nearest.h"
#include "nested.h"
#include "pieces.h"
#include "propose.h"
#include "qr.h"
#include "reflect.h"
#include "regress.h"
#include "ridges.h"
#include "rows.h"
#include "selection.h"
#include "softmax.h"
#include "source.h"
#include "sparse.h"
#include "spectrum.h"
#include "stream.h"
#include "subset.h"
#include "sums.h"
#include "threads.h"
#include "votes.h"
#include "working.h"

#endif
