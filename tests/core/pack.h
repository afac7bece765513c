/* Packed rows in memory of their own. */
#ifndef PACK_H
#define PACK_H

#include "kernelect.h"

#include <stdlib.h>

static inline ke_rows lend(size_t n, size_t d)
{
  ke_rows rows = {n, d, NULL, NULL, 0, 0};
  rows.panel = malloc((ke_panel_size(n, d) + 1) * sizeof(double));
  rows.norm = malloc((ke_padded(n) + 1) * sizeof(double));
  return rows;
}

static inline ke_rows packed(const double *x, size_t n, size_t d)
{
  ke_rows rows = lend(n, d);
  ke_pack(x, n, NULL, &rows);
  return rows;
}

static inline void release(ke_rows *rows)
{
  free(rows->panel);
  free(rows->norm);
}

static inline double at(const ke_rows *rows, size_t i, size_t k)
{
  return rows->panel[i / KE_PANEL * KE_PANEL * rows->d + k * KE_PANEL + i % KE_PANEL];
}

static inline long double long_inner(const ke_rows *a, size_t i, const ke_rows *b, size_t j)
{
  long double sum = 0.0L;
  for (size_t k = 0; k < a->d; k++)
    sum += (long double)at(a, i, k) * (long double)at(b, j, k);
  return sum;
}

#endif
