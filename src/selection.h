/* The rank-th largest of some numbers (selection.c). */
#ifndef KERNELECT_SELECTION_H
#define KERNELECT_SELECTION_H

#include <stddef.h>

typedef struct {
  double value;
  size_t looks; /* at values, to compare them */
} ke_selected;

/* The rank-th largest of x[0..n) (0-based, rank < n); x is reordered. Looks are some 3 n, never
 * more than KE_LOOKS n + 3 n (2 + log2 n). */
enum { KE_LOOKS = 16 };
ke_selected ke_select_largest(double *x, size_t n, size_t rank);

#endif
